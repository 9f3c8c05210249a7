//! Memory that was never written: which cells these are, and what reading one means.
//!
//! A local that pointers reach, or that is no scalar, and an allocated block have a note for each cell, which says
//! whether it was ever written. What is read where it was not is an indeterminate value (C11 6.7.9p10), in our
//! terms an arbitrary one. There are two nets for that. In the first, such a read ends the run, so that a program
//! that never does it pays for the notes only. In the second ([`super::LowerOptions::arbitrary_memory`]) a
//! step out of the same place gives the cell a value, with its note, and then the read can go on; such a step writes,
//! which costs reductions, and it is an input, which costs cases of others.

use pdnet_net::{Action, Base, Domain, Expr, Fault, IntType, Place};

use super::Lowerer;
use super::cells::{Object, Target, domain_of};
use super::step::Step;

/// A condition without which the next step cannot be taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub(crate) condition: Expr,
    pub(crate) otherwise: Otherwise,
}

/// What happens where a condition fails.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Otherwise {
    /// Undefined behaviour.
    Fault(Fault),
    /// A cell that was never written gets an arbitrary value; then the condition is true.
    Fill(Box<Fill>),
}

/// A cell that may need a value, and its note.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fill {
    cell: (Place, Vec<Expr>),
    note: (Place, Vec<Expr>),
    ty: IntType,
    domain: Domain,
}

impl Otherwise {
    /// The step that is taken where the condition fails.
    pub(crate) fn step(self, net: &pdnet_net::Net, from: Place) -> Step {
        match self {
            Self::Fault(fault) => Step::new(Action::Fault(fault), fault.to_string(), None),
            Self::Fill(fill) => {
                let Fill { cell, note, ty, domain } = *fill;
                let name = &net.places[cell.0].name;
                let mut step = Step::new(Action::Fill, format!("{name} is not initialised"), Some(from));
                let var = step.binder(name, Base::Int(ty), Some(domain));
                step.write(cell.0, cell.1, Expr::Var(var)).write(note.0, note.1, Expr::Const(1))
            }
        }
    }
}

impl Lowerer<'_> {
    /// Asks that the next step read only what was written. A pointer that was not has no meaning at all.
    pub(crate) fn check_written(&mut self, object: &Object) {
        self.check_all_written(object, Fault::Uninitialised, !object.is_pointer);
    }

    /// The same for a part of a struct, of whose copy nobody notes whether it was written.
    pub(crate) fn check_copied(&mut self, object: &Object) {
        self.check_all_written(object, Fault::UnwrittenCopy, true);
    }

    fn check_all_written(&mut self, object: &Object, fault: Fault, can_fill: bool) {
        for target in &object.targets {
            let Some(note) = self.shadow_of(target.place) else { continue };
            let condition = is_written(target, note);
            if can_fill && self.options.arbitrary_memory {
                let cell = (target.place, target.key.clone());
                self.add_fill(condition, cell, (note, target.key.clone()));
            } else {
                self.add_check(condition, fault);
            }
        }
    }

    /// Asks that the cell get an arbitrary value before the next step, unless the condition is true.
    fn add_fill(&mut self, condition: Expr, cell: (Place, Vec<Expr>), note: (Place, Vec<Expr>)) {
        let Some(ty) = self.net.places[cell.0].cells().map(|cells| cells.value) else { return };
        let domain = domain_of(ty, self.bools.contains(&cell.0));
        let otherwise = Otherwise::Fill(Box::new(Fill { cell, note, ty, domain }));
        self.add_condition(Check { condition, otherwise });
    }

    /// Whether all cells of an object were written.
    pub(crate) fn is_written(&self, object: &Object) -> Expr {
        let noted = object.targets.iter().filter_map(|target| Some((target, self.shadow_of(target.place)?)));
        noted.fold(Expr::TRUE, |all, (target, note)| Expr::both(all, is_written(target, note)))
    }

    /// Notes whether the step, which writes this value, copies one that was ever written. Where nobody notes
    /// that, it must be.
    pub(crate) fn with_copied(
        &mut self,
        mut step: Step,
        object: &Object,
        value: &Expr,
        written: &Expr,
    ) -> Step {
        for target in &object.targets {
            if let Some(place) = self.shadow_of(target.place) {
                step.writes.push((note_of(target, place), written.clone()));
                continue;
            }
            match (value, written) {
                // Both are in temporaries: that of the value is the cell that has none.
                (Expr::Cell(cell, key), Expr::Cell(note, _)) if self.options.arbitrary_memory => {
                    if object.is_bool {
                        self.bools.insert(*cell);
                    }
                    self.add_fill(written.clone(), (*cell, key.clone()), (*note, key.clone()));
                }
                _ => self.add_check(written.clone(), Fault::UnwrittenCopy),
            }
        }
        step
    }

    /// Notes that the step writes the cell.
    pub(crate) fn with_written(&self, mut step: Step, object: &Object) -> Step {
        for target in &object.targets {
            if let Some(place) = self.shadow_of(target.place) {
                step.writes.push((note_of(target, place), Expr::Const(1)));
            }
        }
        step
    }
}

/// Whether the cell was written, or is not meant.
fn is_written(target: &Target, note: Place) -> Expr {
    let is_written = Expr::Cell(note, target.key.clone());
    match &target.when {
        None => is_written,
        Some(when) => Expr::either(Expr::logical_not(when.clone()), is_written),
    }
}

/// The note of a cell.
fn note_of(target: &Target, place: Place) -> Target {
    Target { place, stored: IntType::U8, slice: None, ..target.clone() }
}
