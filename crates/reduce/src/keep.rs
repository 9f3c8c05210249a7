//! What is kept of a net, and why.

use pdnet_base::IndexVec;
use pdnet_net::{Action, Dependence, Net, Place, Transition};

/// A statement: an execution place of a function, with all steps out of it.
pub type Statement = Place;

/// How much of a run the properties look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Finite prefixes of runs: what a single step or marking can break.
    Prefix,
    /// Whole runs: that something never comes, or comes again and again. What keeps a thread busy or blocked
    /// forever, wherever it is, is part of the answer.
    Run,
}

/// Why a statement is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The property looks at it: what it speaks of, in words.
    Observed(String),
    /// A run may end or be given up there, by such a step (undefined behaviour, a bound of the model, an assumption,
    /// the end of the process).
    MayEnd(Action),
    /// A loop that is not known to end.
    MayLoop,
    /// It decides whether, or when, the other statement is reached.
    Governs(Statement, Dependence),
    /// It writes what the other statement reads.
    Writes(Place, Statement),
    /// It calls, or starts a thread with, a function of which the other statement is a part.
    Calls(Statement),
    /// It is where the other one, a call, goes on.
    Returns(Statement),
    /// It begins or ends a function of which something is kept.
    Frame,
    /// It ends a thread for which the other one waits.
    Ends(Statement),
    /// It decides which of two kept statements comes next.
    Decides(Statement, Statement),
    /// It comes before the other statement in its function, or leads to it from another one.
    Before(Statement),
    /// It is a part of the same line of the program as the other one.
    SameLine(Statement),
    /// The method keeps everything.
    All,
    /// Nothing may be cut of a net with such steps.
    Whole,
}

/// What is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The statements, with the first reason that was found for each.
    pub statements: IndexVec<Place, Option<Reason>>,
    /// The places with cells or tokens that are not frames.
    pub places: IndexVec<Place, bool>,
}

impl Kept {
    /// Nothing, of a net.
    #[must_use]
    pub fn nothing(net: &Net) -> Self {
        Self {
            statements: IndexVec::filled(None, net.places.len()),
            places: IndexVec::filled(false, net.places.len()),
        }
    }

    /// Whether the steps out of a place are kept.
    #[must_use]
    pub fn has(&self, statement: Statement) -> bool {
        self.statements[statement].is_some()
    }

    /// Whether a transition is one of a kept statement.
    #[must_use]
    pub fn has_transition(&self, net: &Net, transition: Transition) -> bool {
        net.transitions[transition].source().is_some_and(|source| self.has(source))
    }
}
