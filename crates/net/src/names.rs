//! Where the numbers of threads are nothing but names.
//!
//! A net treats the numbers of threads as *names* where it only copies them, compares them for equality, and finds
//! tokens and cells by them. Then to give the threads other numbers changes nothing: with every run there is the run in which
//! they have exchanged their numbers, wherever these occur. Where a number is used in another way (as an index, in arithmetic, in an
//! address), [`Names::new`] finds that the net is not such a one.
//!
//! Cells may hold numbers with something added: handles are numbers plus one, so that 0 is no handle. Which cells hold numbers
//! is found from the uses of their values, backwards and forwards, and then every use is looked at once more.

use pdnet_base::IndexVec;

use crate::frames::is_demanded;
use crate::{ArcData, Base, BinaryOp, Expr, IntType, Net, Pattern, Place, TransitionData, Var};

/// Which cells of a net hold numbers of threads, and which numbers mean something by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// For places whose cells hold numbers of threads, what is added to them. A value that is no number of a thread then
    /// stands for itself.
    pub cells: IndexVec<Place, Option<i64>>,
    /// The global cell with the number that the next thread gets. That number and those above it mean something: they
    /// are given in order.
    pub next: Option<Place>,
    /// The numbers that occur as constants, or as initial values of cells that hold numbers: they stay who they are.
    pub fixed: Vec<bool>,
}

/// What a value is under an exchange of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It stays as it is.
    Plain,
    Const(i64),
    /// The number of a thread, with something added.
    Name(i64),
    /// The number of the next thread, with something added: it stays as it is. The number of any thread to come will be a name.
    Fresh(i64),
}

/// A use that is none of a name.
struct Misuse;

impl Names {
    /// Looks at all arcs and guards of a net, and at atoms over its marking. Nothing where numbers of threads are used as more
    /// than names, or in ways that are not understood.
    #[must_use]
    pub fn new<'e>(net: &Net, atoms: impl IntoIterator<Item = &'e Expr> + Clone) -> Option<Self> {
        // The order of bindings decides how a sequence goes on, and where numbers are given again, they are given in order.
        if net.indivisible.is_some() || net.reuses_threads() {
            return None;
        }
        let next = next_number(net);
        let mut search = Search { net, next, cells: IndexVec::filled(None, net.places.len()), is_open: true };
        if let Some(atomic) = net.atomic {
            search.cells[atomic] = Some(1);
        }
        while std::mem::take(&mut search.is_open) {
            for data in net.transitions.iter() {
                search.infer_transition(data);
            }
            atoms.clone().into_iter().for_each(|atom| search.infer_in(None, atom));
        }
        let Search { cells, .. } = search;
        let mut check = Check { net, next, cells: &cells, fixed: vec![false; net.max_threads as usize] };
        let is_fit = (|| {
            check.initial_values()?;
            net.transitions.iter().try_for_each(|data| check.transition(data))?;
            atoms.into_iter().try_for_each(|atom| check.truth(None, atom))
        })();
        let fixed = check.fixed;
        is_fit.ok().map(|()| Self { cells, next, fixed })
    }
}

/// The cell with the number of the next thread: whoever writes it adds as much as it makes frames of new threads, of the number before
/// and of those that follow it, which are less than the bound.
pub(crate) fn next_number(net: &Net) -> Option<Place> {
    let is_counter = |place: &Place| {
        let Some(cells) = net.places[*place].cells() else { return false };
        let has_room = cells.value.contains(i64::from(net.max_threads));
        let mut writers = net.transitions.iter().filter(|data| writes(data, *place)).peekable();
        has_room
            && cells.length.is_none()
            && matches!(cells.scope, crate::Scope::Global)
            && writers.peek().is_some()
            && writers.all(|data| makes_threads(net, data, *place))
    };
    net.places.indices().find(is_counter)
}

fn writes(data: &TransitionData, wanted: Place) -> bool {
    data.arcs.iter().any(|arc| matches!(arc, ArcData::Write { place, .. } if *place == wanted))
}

/// Whether a step makes a thread of the number in the cell, or several of those from there on, and adds as many to it.
fn makes_threads(net: &Net, data: &TransitionData, count: Place) -> bool {
    let Some(number) = data.arcs.iter().find_map(|arc| match arc {
        ArcData::Read { place, var, .. } if *place == count && always_counts(data, arc) => {
            Some(Expr::Var(*var))
        }
        _ => None,
    }) else {
        return false;
    };
    let mut writes = data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Write { place, value, when, .. } if *place == count => Some((value, when)),
        _ => None,
    });
    let (Some((value, None)), None) = (writes.next(), writes.next()) else { return false };
    let Some(n_made) = added_to(net, &number, value) else { return false };
    let is_made = |wanted: i64| {
        data.arcs.iter().any(|arc| match arc {
            ArcData::Put { place, token } if net.is_frame_place(*place) => {
                token.first().and_then(|first| added_to(net, &number, first)) == Some(wanted)
            }
            _ => false,
        })
    };
    n_made >= 1 && (0..n_made).all(is_made)
}

/// What is added to the number of a thread, in types that have room for it.
fn added_to(net: &Net, number: &Expr, expr: &Expr) -> Option<i64> {
    if expr == number {
        return Some(0);
    }
    let (operand, more, ty) = match expr {
        Expr::Convert(ty, operand) => (&**operand, 0, *ty),
        _ => sum(expr).filter(|&(_, more, _)| more > 0)?,
    };
    let added = added_to(net, number, operand)?.checked_add(more)?;
    let last = i64::from(net.max_threads).checked_add(added)?;
    ty.contains(last).then_some(added)
}

/// Whether an arc that reads counts whenever the step happens.
fn always_counts(data: &TransitionData, arc: &ArcData) -> bool {
    match arc {
        ArcData::Read { when: Some(when), .. } => is_demanded(data, when),
        _ => true,
    }
}

/// From which place a variable is read, if it is.
fn read_from(data: Option<&TransitionData>, var: Var) -> Option<Place> {
    data?.arcs.iter().find_map(|arc| match arc {
        ArcData::Read { place, var: read, .. } if *read == var => Some(*place),
        _ => None,
    })
}

/// Calls `visit` with every expression of a transition, and with the factor of the colour set where it stands for one.
fn for_each_expr<'t>(net: &Net, data: &'t TransitionData, visit: &mut impl FnMut(&'t Expr, Option<Base>)) {
    let mut parts = |place: Place, parts: &mut dyn Iterator<Item = Option<&'t Expr>>| {
        for (part, base) in parts.zip(net.components(place)) {
            if let Some(part) = part {
                visit(part, Some(*base));
            }
        }
    };
    for arc in &data.arcs {
        match arc {
            ArcData::Take { place, token } | ArcData::Test { place, token } => {
                let mut exprs = token.iter().map(|part| match part {
                    Pattern::Is(expr) => Some(expr),
                    Pattern::Bind(_) => None,
                });
                parts(*place, &mut exprs);
            }
            ArcData::Put { place, token } => parts(*place, &mut token.iter().map(Some)),
            ArcData::Inhibit { place, prefix } | ArcData::Drain { place, prefix, .. } => {
                parts(*place, &mut prefix.iter().map(Some));
            }
            ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. } => {
                parts(*place, &mut key.iter().map(Some));
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    for arc in &data.arcs {
        if let ArcData::Read { when: Some(when), .. } | ArcData::Write { when: Some(when), .. } = arc {
            visit(when, None);
        }
    }
    data.guard.iter().for_each(|guard| visit(guard, None));
    data.bytes.iter().for_each(|bytes| visit(&bytes.first, None));
}

/// Whether a variable is bound to the number of a thread by a token.
fn is_thread_var(net: &Net, data: Option<&TransitionData>, var: Var) -> bool {
    let binds = |place: Place, token: &[Pattern]| {
        let mut parts = token.iter().zip(net.components(place));
        parts.any(|(part, base)| *part == Pattern::Bind(var) && *base == Base::Thread)
    };
    data.is_some_and(|data| {
        data.arcs.iter().any(|arc| match arc {
            ArcData::Take { place, token } | ArcData::Test { place, token } => binds(*place, token),
            _ => false,
        })
    })
}

/// The operand and what is added to it, where that is a constant.
fn sum(expr: &Expr) -> Option<(&Expr, i64, IntType)> {
    match expr {
        Expr::Binary(BinaryOp::Add, ty, left, right) => match (&**left, &**right) {
            (operand, Expr::Const(more)) | (Expr::Const(more), operand) => Some((operand, *more, *ty)),
            _ => None,
        },
        Expr::Binary(BinaryOp::Sub, ty, left, right) => match &**right {
            Expr::Const(less) => Some((left, less.wrapping_neg(), *ty)),
            _ => None,
        },
        _ => None,
    }
}

/// The search for the cells that hold numbers of threads. What it finds is checked later, so that it need not be right.
struct Search<'n> {
    net: &'n Net,
    next: Option<Place>,
    cells: IndexVec<Place, Option<i64>>,
    is_open: bool,
}

impl Search<'_> {
    fn set(&mut self, place: Place, added: i64) {
        if self.cells[place].is_none() && Some(place) != self.next {
            self.cells[place] = Some(added);
            self.is_open = true;
        }
    }

    fn infer_transition(&mut self, data: &TransitionData) {
        let net = self.net;
        for_each_expr(net, data, &mut |expr, base| {
            if base == Some(Base::Thread) {
                self.demand(Some(data), expr, 0);
            }
            self.infer_in(Some(data), expr);
        });
        for arc in &data.arcs {
            if let ArcData::Write { place, value, .. } = arc {
                self.infer_in(Some(data), value);
                match (self.cells[*place], self.infer(Some(data), value)) {
                    (Some(added), _) => self.demand(Some(data), value, added),
                    (None, Some(added)) => self.set(*place, added),
                    (None, None) => {}
                }
            }
        }
    }

    /// What is added to the number of a thread that the expression is, as far as that is known.
    fn infer(&self, data: Option<&TransitionData>, expr: &Expr) -> Option<i64> {
        if let Some((operand, more, _)) = sum(expr) {
            return self.infer(data, operand)?.checked_add(more);
        }
        match expr {
            Expr::Var(var) if is_thread_var(self.net, data, *var) => Some(0),
            Expr::Var(var) => self.cells[read_from(data, *var)?],
            Expr::Cell(place, _) => self.cells[*place],
            Expr::Convert(_, operand) => self.infer(data, operand),
            Expr::If(_, then, otherwise) => self.infer(data, then).or_else(|| self.infer(data, otherwise)),
            Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Marked(..) | Expr::Deadlock => None,
        }
    }

    /// The expression is used as the number of a thread with this added.
    fn demand(&mut self, data: Option<&TransitionData>, expr: &Expr, added: i64) {
        if let Some((operand, more, _)) = sum(expr) {
            if let Some(added) = added.checked_sub(more) {
                self.demand(data, operand, added);
            }
            return;
        }
        match expr {
            Expr::Var(var) if !is_thread_var(self.net, data, *var) => {
                if let Some(place) = read_from(data, *var) {
                    self.set(place, added);
                }
            }
            Expr::Cell(place, _) => self.set(*place, added),
            Expr::Convert(_, operand) => self.demand(data, operand, added),
            Expr::If(_, then, otherwise) => {
                self.demand(data, then, added);
                self.demand(data, otherwise, added);
            }
            Expr::Var(_)
            | Expr::Const(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Marked(..)
            | Expr::Deadlock => {}
        }
    }

    /// Looks at what is compared in an expression, and at the keys in it.
    fn infer_in(&mut self, data: Option<&TransitionData>, expr: &Expr) {
        let mut pairs = Vec::new();
        let mut threads = Vec::new();
        expr.walk(&mut |part| match part {
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, _, left, right) => {
                pairs.push(((**left).clone(), (**right).clone()));
            }
            Expr::Cell(place, parts) | Expr::Marked(place, parts) => {
                let bases = parts.iter().zip(self.net.components(*place));
                threads
                    .extend(bases.filter(|(_, base)| **base == Base::Thread).map(|(part, _)| part.clone()));
            }
            _ => {}
        });
        for (left, right) in pairs {
            match (self.infer(data, &left), self.infer(data, &right)) {
                (Some(added), _) => self.demand(data, &right, added),
                (None, Some(added)) => self.demand(data, &left, added),
                (None, None) => {}
            }
        }
        threads.iter().for_each(|thread| self.demand(data, thread, 0));
    }
}

/// The look at all uses, with what was found.
struct Check<'n> {
    net: &'n Net,
    next: Option<Place>,
    cells: &'n IndexVec<Place, Option<i64>>,
    fixed: Vec<bool>,
}

impl Check<'_> {
    /// A value occurs by itself among numbers with something added: if it is a number, that thread stays who it is.
    fn fix(&mut self, value: i64, added: i64) {
        let number = value.checked_sub(added).and_then(|number| usize::try_from(number).ok());
        if let Some(fixed) = number.and_then(|number| self.fixed.get_mut(number)) {
            *fixed = true;
        }
    }

    /// Whether numbers with this added have room in the type, so that no two become one.
    fn has_room(&self, ty: IntType, added: i64) -> bool {
        let last = added.checked_add(i64::from(self.net.max_threads));
        ty.contains(added) && last.is_some_and(|last| ty.contains(last))
    }

    fn initial_values(&mut self) -> Result<(), Misuse> {
        for (place, added) in self.cells.iter_enumerated() {
            let (Some(added), Some(cells)) = (*added, self.net.places[place].cells()) else { continue };
            if !self.has_room(cells.value, added) {
                return Err(Misuse);
            }
            // What is outside of an array is 0.
            self.fix(0, added);
            self.fix(cells.default, added);
            cells.listed.iter().for_each(|&(_, value)| self.fix(value, added));
        }
        Ok(())
    }

    fn transition(&mut self, data: &TransitionData) -> Result<(), Misuse> {
        let mut result = Ok(());
        let net = self.net;
        for_each_expr(net, data, &mut |expr, base| {
            let found = match base {
                Some(base) => self.part(Some(data), expr, base),
                None => self.truth(Some(data), expr),
            };
            if found.is_err() {
                result = Err(Misuse);
            }
        });
        result?;
        if data.bytes.iter().any(|bytes| self.cells[bytes.place].is_some()) {
            return Err(Misuse);
        }
        for arc in &data.arcs {
            let ArcData::Write { place, value, .. } = arc else { continue };
            match (self.cells[*place], self.kind(Some(data), value)?) {
                (None, Kind::Name(_)) | (Some(_), Kind::Plain) => return Err(Misuse),
                (None, Kind::Plain | Kind::Const(_) | Kind::Fresh(_)) => {}
                (Some(added), Kind::Const(value)) => self.fix(value, added),
                (Some(added), Kind::Name(found)) if added == found => {}
                (Some(added), Kind::Fresh(found)) if added <= found => {}
                (Some(_), Kind::Name(_) | Kind::Fresh(_)) => return Err(Misuse),
            }
        }
        Ok(())
    }

    /// A part of a token or of a key.
    fn part(&mut self, data: Option<&TransitionData>, expr: &Expr, base: Base) -> Result<(), Misuse> {
        match (base, self.kind(data, expr)?) {
            (Base::Thread, Kind::Name(0) | Kind::Fresh(0..)) => Ok(()),
            (Base::Thread, Kind::Const(number)) => {
                self.fix(number, 0);
                Ok(())
            }
            (Base::Thread, Kind::Plain | Kind::Name(_) | Kind::Fresh(_))
            | (Base::Depth | Base::Index(_) | Base::Int(_), Kind::Name(_)) => Err(Misuse),
            (Base::Depth | Base::Index(_) | Base::Int(_), Kind::Plain | Kind::Const(_) | Kind::Fresh(_)) => {
                Ok(())
            }
        }
    }

    /// An expression of which it matters only whether it is 0.
    fn truth(&mut self, data: Option<&TransitionData>, expr: &Expr) -> Result<(), Misuse> {
        if let Kind::Name(added) = self.kind(data, expr)? {
            self.fix(0, added);
        }
        Ok(())
    }

    fn kind(&mut self, data: Option<&TransitionData>, expr: &Expr) -> Result<Kind, Misuse> {
        if let Some((operand, more, ty)) = sum(expr) {
            let added = |added: i64| added.checked_add(more).ok_or(Misuse);
            match self.kind(data, operand)? {
                Kind::Name(found) => {
                    let added = added(found)?;
                    return if self.has_room(ty, added) { Ok(Kind::Name(added)) } else { Err(Misuse) };
                }
                Kind::Fresh(found) => {
                    let added = added(found)?;
                    return Ok(if self.has_room(ty, added) { Kind::Fresh(added) } else { Kind::Plain });
                }
                Kind::Plain | Kind::Const(_) => return Ok(Kind::Plain),
            }
        }
        match expr {
            Expr::Const(value) => Ok(Kind::Const(*value)),
            Expr::Var(var) if is_thread_var(self.net, data, *var) => Ok(Kind::Name(0)),
            Expr::Var(var) => match read_from(data, *var) {
                // Where the arc does not count, it is 0, which is the number of the next thread nowhere.
                Some(place) if Some(place) == self.next => {
                    let counts = data.is_some_and(|data| {
                        let mut reads = data
                            .arcs
                            .iter()
                            .filter(|arc| matches!(arc, ArcData::Read { var: read, .. } if read == var));
                        reads.all(|arc| always_counts(data, arc))
                    });
                    Ok(if counts { Kind::Fresh(0) } else { Kind::Plain })
                }
                // It is 0 where the arc does not count, which was looked at with the initial values.
                Some(place) => Ok(self.cells[place].map_or(Kind::Plain, Kind::Name)),
                None => Ok(Kind::Plain),
            },
            Expr::Convert(ty, operand) => match self.kind(data, operand)? {
                Kind::Name(added) if self.has_room(*ty, added) => Ok(Kind::Name(added)),
                Kind::Name(_) => Err(Misuse),
                Kind::Fresh(added) if self.has_room(*ty, added) => Ok(Kind::Fresh(added)),
                Kind::Fresh(_) | Kind::Plain => Ok(Kind::Plain),
                Kind::Const(value) => Ok(Kind::Const(ty.wrap(value))),
            },
            Expr::If(condition, then, otherwise) => {
                self.truth(data, condition)?;
                let (then, otherwise) = (self.kind(data, then)?, self.kind(data, otherwise)?);
                self.either(then, otherwise)
            }
            Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, _, left, right) => {
                let (left, right) = (self.kind(data, left)?, self.kind(data, right)?);
                self.either(left, right).map(|_| Kind::Plain)
            }
            Expr::Binary(_, _, left, right) => {
                self.plain(data, left)?;
                self.plain(data, right)?;
                Ok(Kind::Plain)
            }
            Expr::Unary(_, _, operand) => {
                self.plain(data, operand)?;
                Ok(Kind::Plain)
            }
            Expr::Cell(place, key) => {
                self.parts(data, *place, key)?;
                Ok(self.cells[*place].map_or(Kind::Plain, Kind::Name))
            }
            Expr::Marked(place, prefix) => {
                self.parts(data, *place, prefix)?;
                Ok(Kind::Plain)
            }
            Expr::Deadlock => Ok(Kind::Plain),
        }
    }

    fn parts(&mut self, data: Option<&TransitionData>, place: Place, parts: &[Expr]) -> Result<(), Misuse> {
        let net = self.net;
        parts.iter().zip(net.components(place)).try_for_each(|(part, base)| self.part(data, part, *base))
    }

    fn plain(&mut self, data: Option<&TransitionData>, expr: &Expr) -> Result<(), Misuse> {
        if let Kind::Name(_) = self.kind(data, expr)? { Err(Misuse) } else { Ok(()) }
    }

    /// What is one of two values, or comes of whether they are equal.
    fn either(&mut self, left: Kind, right: Kind) -> Result<Kind, Misuse> {
        match (left, right) {
            (Kind::Name(added), Kind::Const(value)) | (Kind::Const(value), Kind::Name(added)) => {
                self.fix(value, added);
                Ok(Kind::Name(added))
            }
            (Kind::Name(added), Kind::Name(other)) if added == other => Ok(Kind::Name(added)),
            (Kind::Name(added), Kind::Fresh(other)) | (Kind::Fresh(other), Kind::Name(added))
                if added <= other =>
            {
                Ok(Kind::Name(added))
            }
            (Kind::Name(_), Kind::Name(_) | Kind::Fresh(_)) | (Kind::Fresh(_), Kind::Name(_)) => Err(Misuse),
            (Kind::Name(_), Kind::Plain) | (Kind::Plain, Kind::Name(_)) => Err(Misuse),
            (
                Kind::Plain | Kind::Const(_) | Kind::Fresh(_),
                Kind::Plain | Kind::Const(_) | Kind::Fresh(_),
            ) => Ok(Kind::Plain),
        }
    }
}
