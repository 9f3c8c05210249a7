//! Steps: how a transition is put together while a function is lowered.
//!
//! While it is built, an expression names cells directly ([`Expr::Cell`]). When the step that evaluates it
//! is emitted, each cell becomes a read arc and each mention of it the arc's variable ([`Reader`]): what a step
//! touches is on its arcs and nowhere else.

use pdnet_base::Idx as _;
use pdnet_net::{
    Action, ArcData, Domain, Expr, Function, IntType, Net, Place, Transition, TransitionBuilder, Var, VarData,
};
use pdnet_source::Pos;

use super::cells::{Object, Target};
use super::reads::Reader;

/// A step from the current place, before its cells have become arcs.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) label: String,
    pub(crate) calls: Option<String>,
    /// Variables bound by `arcs` or by choice; they are `x2`, `x3`, ….
    pub(crate) binders: Vec<VarData>,
    pub(crate) guard: Option<Expr>,
    /// Arcs other than the frame's own, reads of cells, and writes.
    pub(crate) arcs: Vec<ArcData>,
    pub(crate) writes: Vec<(Target, Expr)>,
    /// Cells that are read although nothing is made of their value.
    pub(crate) touches: Vec<Expr>,
    /// Whether it is an atomic operation of the program.
    pub(crate) is_atomic: bool,
    /// Where the frame goes; `None` where it ends.
    pub(crate) to: Option<Place>,
}

impl Step {
    pub(crate) fn new(action: Action, label: impl Into<String>, to: Option<Place>) -> Self {
        Self {
            action,
            label: label.into(),
            calls: None,
            binders: Vec::new(),
            guard: None,
            arcs: Vec::new(),
            writes: Vec::new(),
            touches: Vec::new(),
            is_atomic: false,
            to,
        }
    }

    #[must_use]
    pub(crate) fn calling(mut self, name: &str) -> Self {
        self.calls = Some(name.to_owned());
        self
    }

    /// Makes it an atomic operation, which does not race with others.
    #[must_use]
    pub(crate) const fn atomic(mut self) -> Self {
        self.is_atomic = true;
        self
    }

    #[must_use]
    pub(crate) fn when(mut self, condition: Expr) -> Self {
        self.guard = Some(match self.guard.take() {
            None => condition,
            Some(guard) => Expr::both(guard, condition),
        });
        self
    }

    #[must_use]
    pub(crate) fn write(mut self, place: Place, key: Vec<Expr>, value: Expr) -> Self {
        let target = Target { when: None, place, key, stored: IntType::I64, slice: None };
        self.writes.push((target, value));
        self
    }

    /// Writes an object, whichever of its targets it is.
    #[must_use]
    pub(crate) fn write_object(mut self, object: &Object, value: &Expr) -> Self {
        let stored = |target: &Target| (target.clone(), target.stored_value(value));
        if object.targets.iter().any(|target| target.slice.is_some()) {
            // What the value is made of is read in any case, the rest of a cell only where it is the one.
            self.touches.push(value.clone());
        }
        self.writes.extend(object.targets.iter().map(stored));
        self
    }

    #[must_use]
    pub(crate) fn arc(mut self, arc: ArcData) -> Self {
        self.arcs.push(arc);
        self
    }

    /// Adds a variable that one of the arcs binds, or that takes the values of a domain.
    pub(crate) fn binder(&mut self, name: &str, base: pdnet_net::Base, choice: Option<Domain>) -> Var {
        self.binders.push(VarData { name: name.to_owned(), base, choice, note: None });
        Var::new(1 + self.binders.len())
    }

    /// Puts the transition into the net.
    pub(crate) fn emit(self, net: &mut Net, function: Function, from: Place, pos: Option<Pos>) -> Transition {
        let mut builder = TransitionBuilder::new(self.action, function, from, self.label).at(pos);
        if let Some(calls) = self.calls {
            builder = builder.calling(calls);
        }
        if self.is_atomic {
            builder = builder.atomic();
        }
        for binder in self.binders {
            match binder.choice {
                Some(domain) => builder.choose(&binder.name, binder.base, domain),
                None => builder.var(&binder.name, binder.base),
            };
        }
        let mut reader = Reader::new(net, builder);
        let guard = self.guard.map(|guard| reader.guard(&guard));
        for touch in &self.touches {
            reader.expr(touch);
        }
        let arcs: Vec<ArcData> = self.arcs.iter().map(|arc| reader.arc(arc)).collect();
        let writes: Vec<ArcData> = self
            .writes
            .iter()
            .map(|(target, value)| {
                let key = target.key.iter().map(|part| reader.expr(part)).collect();
                let when = target.when.as_ref().map(|when| reader.expr(when));
                match &target.slice {
                    Some(slice) if slice.is_apart => {
                        let shift = reader.expr(&slice.shift);
                        reader.accessed(target.place, &shift, slice.bits);
                    }
                    _ => reader.accessed_whole(target.place),
                }
                let value = match &when {
                    Some(when) if target.slice.is_some() => reader.expr_when(when, value),
                    _ => reader.expr(value),
                };
                ArcData::Write { place: target.place, key, value, when }
            })
            .collect();
        let mut builder = reader.finish();
        for arc in arcs.into_iter().chain(writes) {
            builder.arc(arc);
        }
        if let Some(guard) = guard.filter(|guard| !matches!(guard, Expr::Const(value) if *value != 0)) {
            builder.guard(guard);
        }
        if let Some(to) = self.to {
            builder = builder.to(to);
        }
        builder.finish(net)
    }
}
