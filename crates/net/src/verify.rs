//! The verifier of nets.
//!
//! A net that breaks one of these rules is a bug of the room that made it, never of the user:
//!
//! *Tables.* 1. Every index (place, colour set, function, variable, file) is in range.
//! 2. Names of special places have the right shape: `done` carries threads, `ended` plain tokens, `atomic`
//!    and `indivisible` are global cells; `done` and `ended` are execution places. Nobody begins in an atomic
//!    section that can be lost, or in an indivisible sequence; a section that can be lost has its cell.
//!
//! *Places.* 3. The colour set of cells is their key followed by their value; 4. initial values are
//!    canonical in their type and listed in increasing order, inside the array; 5. initial tokens fit the
//!    colour set; 6. control places carry no tokens and no cells; 7. execution places have tokens;
//!    memory is cells, and not internal; only cells are shown as something else than integers.
//!
//! *Objects.* 14. Their parts are cells, and as many as the part says in each object; slots are an array.
//!
//! *Transitions.* 8. The first two variables are a thread and a depth, bound by the first arc, which takes
//!    a token from a frame place; 9. arcs fit the form and kind of their place, and the number of their
//!    components its colour set; 10. every variable is bound by one arc or has a choice, before it is used;
//! 11. no expression of a guard or an arc looks at the marking; 12. a choice is not empty, increasing and
//!    within its type; 13. a transition that does not end its frame, thread or process puts the frame's
//!    token somewhere, and one that ends it does not. A later arc may take the token of another thread's frame,
//!    the partner's: it is put somewhere, or that frame is left.

use std::fmt;

use pdnet_base::{Idx as _, IndexVec};

use crate::net::{
    ArcData, Base, CellData, Pattern, Place, PlaceForm, PlaceKind, Transition, TransitionData, Var,
};
use crate::{Action, Effect, Expr, Net, ObjectData, ObjectKind};

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where: `p3`, `t7`.
    pub entity: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.entity, self.message)
    }
}

/// All broken rules; an empty list for a well-formed net.
#[must_use]
pub fn verify_net(net: &Net) -> Vec<Violation> {
    let mut verifier = Verifier { net, violations: Vec::new() };
    verifier.verify_tables();
    net.objects.iter().for_each(|object| verifier.verify_object(object));
    for place in net.places.indices() {
        verifier.verify_place(place);
    }
    for transition in net.transitions.indices() {
        verifier.verify_transition(transition);
    }
    verifier.violations
}

struct Verifier<'a> {
    net: &'a Net,
    violations: Vec<Violation>,
}

impl Verifier<'_> {
    fn report(&mut self, entity: impl fmt::Display, message: impl Into<String>) {
        self.violations.push(Violation { entity: entity.to_string(), message: message.into() });
    }

    fn verify_tables(&mut self) {
        let net = self.net;
        for (function, data) in net.functions.iter_enumerated() {
            for place in [data.entry, data.exit] {
                if net.places.get(place).is_none() {
                    self.report(function, format!("names {place}, which does not exist"));
                } else if !net.is_frame_place(place) {
                    self.report(function, format!("{place} is no place of frames"));
                }
            }
        }
        let exists = |place: Option<Place>| place.filter(|&place| net.places.get(place).is_some());
        let shapes = [("done", net.done, vec![Base::Thread]), ("ended", net.ended, vec![])];
        for (word, place, shape) in shapes {
            if let Some(place) = exists(place) {
                let kind = net.places[place].kind;
                if kind != PlaceKind::Execution || net.components(place) != shape {
                    self.report(place, format!("has not the shape of `{word}`"));
                }
            }
        }
        for (word, place) in [("atomic", net.atomic), ("indivisible", net.indivisible)] {
            let Some(place) = exists(place) else { continue };
            let cells = net.places[place].cells();
            let is_global =
                |cells: &CellData| matches!(cells.scope, crate::Scope::Global) && cells.length.is_none();
            if !cells.is_some_and(is_global) {
                self.report(place, format!("has not the shape of `{word}`"));
            }
            let is_strict = word == "indivisible" || net.atomic_yields;
            if is_strict && cells.is_some_and(|cells| cells.default != 0) {
                self.report(place, format!("`{word}` is not 0 in the beginning"));
            }
        }
        if net.atomic_yields && net.atomic.is_none() {
            self.report("atomic", "yields without a cell");
        }
        let specials = [
            ("done", net.done),
            ("ended", net.ended),
            ("atomic", net.atomic),
            ("indivisible", net.indivisible),
        ];
        for (word, place) in specials {
            if place.is_some() && exists(place).is_none() {
                self.report(word, "does not exist");
            }
        }
    }

    fn verify_object(&mut self, object: &ObjectData) {
        let net = self.net;
        let cells = |place: Place| net.places.get(place).and_then(|data| data.cells());
        let entity = || format!("object {}", object.name);
        let blocks = match object.kind {
            ObjectKind::Heap(slots) => match cells(slots).and_then(|cells| cells.length) {
                Some(length) => Some(u64::from(length)),
                None => return self.report(entity(), "its slots are no array"),
            },
            _ => None,
        };
        for part in &object.parts {
            let Some(place) = part.place else { continue };
            let Some(cells) = cells(place) else {
                self.report(entity(), format!("{place} has no cells"));
                continue;
            };
            let is_single = part.dimensions.is_empty() && blocks.is_none();
            let expected = (!is_single).then(|| part.count().saturating_mul(blocks.unwrap_or(1)));
            if cells.length.map(u64::from) != expected
                || part.path.matches("[]").count() != part.dimensions.len()
            {
                self.report(entity(), format!("the part `{}` does not fit {place}", part.path));
            }
        }
    }

    fn verify_place(&mut self, place: Place) {
        let net = self.net;
        let data = &net.places[place];
        let Some(color) = net.colors.get(data.color) else {
            return self.report(place, "colour set does not exist");
        };
        if data.function.is_some_and(|function| net.functions.get(function).is_none()) {
            self.report(place, "function does not exist");
        }
        match &data.form {
            PlaceForm::Tokens { initial } => {
                if data.memory {
                    self.report(place, "memory without cells");
                }
                if data.shown != crate::Shown::Integer {
                    self.report(place, "tokens are shown as what they are");
                }
                if data.kind == PlaceKind::Control && !initial.is_empty() {
                    self.report(place, "a control place carries tokens");
                }
                for token in initial {
                    let fits = token.len() == color.components.len()
                        && token.iter().zip(&color.components).all(|(&value, base)| self.fits(*base, value));
                    if !fits {
                        self.report(place, "an initial token does not fit the colour set");
                    }
                }
            }
            PlaceForm::Cells(cells) => {
                if data.kind != PlaceKind::Variable {
                    self.report(place, "only variable places have cells");
                }
                let is_special = self.net.atomic == Some(place) || self.net.indivisible == Some(place);
                if data.memory && (data.internal || is_special) {
                    self.report(place, "what pdnet made for itself is no memory of the program");
                }
                if color.components != Net::cell_components(cells) {
                    self.report(place, "the colour set is not that of its cells");
                }
                let length = cells.length.unwrap_or(0);
                let increasing = cells.listed.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let inside = cells.listed.iter().all(|&(index, _)| index < length);
                let values = cells.listed.iter().map(|&(_, value)| value).chain([cells.default]);
                if !increasing || !inside || !values.into_iter().all(|value| cells.value.contains(value)) {
                    self.report(place, "initial values are not in order, in range or in their type");
                }
                if cells.value.bits == 0 || cells.value.bits > 64 {
                    self.report(place, "values have 1 to 64 bits");
                }
            }
        }
    }

    const fn fits(&self, base: Base, value: i64) -> bool {
        match base {
            Base::Thread => 0 <= value && value < self.net.max_threads as i64,
            Base::Depth => 0 <= value && value < self.net.max_depth as i64,
            Base::Index(length) => 0 <= value && value < length as i64,
            Base::Int(ty) => ty.contains(value),
        }
    }

    fn verify_transition(&mut self, transition: Transition) {
        let net = self.net;
        let data = &net.transitions[transition];
        if net.functions.get(data.function).is_none() {
            self.report(transition, "function does not exist");
        }
        if data.arcs.iter().any(|arc| net.places.get(arc.place()).is_none()) {
            return self.report(transition, "an arc leads to a place that does not exist");
        }
        self.verify_frame(transition, data);
        let mut bound: IndexVec<Var, bool> =
            data.vars.iter().map(|var| var.choice.is_some()).collect::<Vec<_>>().into();
        for (var, var_data) in data.vars.iter_enumerated() {
            if let Some(domain) = &var_data.choice {
                let ordered = domain.ranges.iter().all(|(low, high)| low <= high)
                    && domain.ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
                let typed = domain
                    .ranges
                    .iter()
                    .all(|&(a, b)| self.fits(var_data.base, a) && self.fits(var_data.base, b));
                if domain.ranges.is_empty() || !ordered || !typed {
                    self.report(
                        transition,
                        format!("the choice of {var} is empty, not in order, or not in its type"),
                    );
                }
            }
        }
        for arc in &data.arcs {
            self.verify_arc(transition, data, arc, &mut bound);
        }
        // Puts and writes may use every variable, so they are looked at once all are bound.
        for arc in &data.arcs {
            match arc {
                ArcData::Put { token, .. } => self.verify_exprs(transition, token, &bound),
                ArcData::Write { key, value, when, .. } => {
                    self.verify_exprs(transition, key, &bound);
                    self.verify_exprs(transition, [value], &bound);
                    self.verify_exprs(transition, when, &bound);
                }
                ArcData::Drain { prefix, .. } => self.verify_exprs(transition, prefix, &bound),
                _ => {}
            }
        }
        self.verify_exprs(transition, &data.guard, &bound);
        for bytes in &data.bytes {
            self.verify_exprs(transition, [&bytes.first], &bound);
        }
        if let Some((var, _)) = bound.iter_enumerated().find(|(_, bound)| !**bound) {
            self.report(transition, format!("nothing binds {var}"));
        }
    }

    fn verify_frame(&mut self, transition: Transition, data: &TransitionData) {
        let net = self.net;
        let bases: Vec<Base> = data.vars.iter().take(2).map(|var| var.base).collect();
        let takes_frame = match data.arcs.first() {
            Some(ArcData::Take { place, token }) => {
                let expected =
                    [Pattern::Bind(TransitionData::thread_var()), Pattern::Bind(TransitionData::depth_var())];
                net.is_frame_place(*place) && *token == expected
            }
            _ => false,
        };
        if bases != [Base::Thread, Base::Depth] || !takes_frame {
            self.report(transition, "the first arc does not take the moving frame's token");
        }
        let puts_frame = data.arcs.iter().any(|arc| match arc {
            ArcData::Put { place, .. } => net.is_frame_place(*place),
            _ => false,
        });
        let leaves = !matches!(data.action.effect(), Effect::None);
        if !puts_frame && !leaves {
            self.report(transition, format!("an action {} loses the frame's token", data.action));
        }
        // A partner goes on where the thread that moves ends.
        let own = Expr::Var(TransitionData::thread_var());
        let goes_on = data.arcs.iter().any(|arc| match arc {
            ArcData::Put { place, token } => net.is_frame_place(*place) && token.first() == Some(&own),
            _ => false,
        });
        if goes_on && matches!(data.action, Action::ThreadEnd | Action::ProcessEnd) {
            self.report(transition, "a frame goes on after its end");
        }
    }

    fn verify_arc(
        &mut self,
        transition: Transition,
        data: &TransitionData,
        arc: &ArcData,
        bound: &mut IndexVec<Var, bool>,
    ) {
        let net = self.net;
        let place = arc.place();
        let n = net.components(place).len();
        let has_cells = net.places[place].cells().is_some();
        let is_control = net.places[place].kind == PlaceKind::Control;
        let shape = match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                for pattern in token {
                    match pattern {
                        Pattern::Bind(var) => self.bind(transition, data, *var, bound),
                        Pattern::Is(expr) => self.verify_exprs(transition, [expr], bound),
                    }
                }
                !has_cells && !is_control && token.len() == n
            }
            ArcData::Put { token, .. } => !has_cells && !is_control && token.len() == n,
            ArcData::Inhibit { prefix, .. } => {
                self.verify_exprs(transition, prefix, bound);
                !has_cells && !is_control && prefix.len() <= n
            }
            ArcData::Drain { prefix, to, .. } => {
                let same = net.places.get(*to).is_some_and(|to| to.color == net.places[place].color);
                !has_cells && !is_control && prefix.len() <= n && same
            }
            ArcData::Read { key, var, when, .. } => {
                self.verify_exprs(transition, key, bound);
                self.verify_exprs(transition, when, bound);
                self.bind(transition, data, *var, bound);
                has_cells && key.len() + 1 == n
            }
            ArcData::Write { key, .. } => has_cells && key.len() + 1 == n,
            ArcData::Governed { .. } | ArcData::Governs { .. } => is_control,
        };
        if !shape {
            self.report(transition, format!("an arc does not fit {place}"));
        }
    }

    fn bind(
        &mut self,
        transition: Transition,
        data: &TransitionData,
        var: Var,
        bound: &mut IndexVec<Var, bool>,
    ) {
        if data.vars.get(var).is_none() {
            self.report(transition, format!("{var} does not exist"));
        } else if std::mem::replace(&mut bound[var], true) {
            self.report(transition, format!("{var} is bound twice"));
        }
    }

    fn verify_exprs<'e>(
        &mut self,
        transition: Transition,
        exprs: impl IntoIterator<Item = &'e Expr>,
        bound: &IndexVec<Var, bool>,
    ) {
        for expr in exprs {
            if expr.observes_marking() {
                self.report(transition, "an expression looks at the marking");
            }
            for var in expr.vars() {
                if !bound.get(var).copied().unwrap_or(false) {
                    self.report(transition, format!("x{} is used before it is bound", var.index()));
                }
            }
        }
    }
}
