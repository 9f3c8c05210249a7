//! Traditional slicing of Petri nets, the slicing paper's rival *TraPNSlice*: it knows no dependence, only arcs.
//!
//! A place that counts is changed by the transitions that put a token there or take one away; these are kept, and with
//! them all places that they take from, read or write (to write a cell is to take the old value and put the
//! new one), and so on backwards. So whatever comes before a kept statement in its thread is kept, with the calls
//! of its function, and all that changes what any of it looks at. What is never met on the way back is cut.

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Place};

use crate::facts::Facts;
use crate::method::{Follower, Slicer};
use crate::{Kept, Reason, Statement};

/// What was met on the way back.
pub(crate) struct Backward<'f, 'n> {
    facts: &'f Facts<'n>,
    is_kept: IndexVec<Place, bool>,
    /// Places whose changes are kept already.
    is_followed: IndexVec<Place, bool>,
}

impl<'f, 'n> Backward<'f, 'n> {
    pub(crate) fn new(facts: &'f Facts<'n>) -> Self {
        let n_places = facts.net.places.len();
        Self {
            facts,
            is_kept: IndexVec::filled(false, n_places),
            is_followed: IndexVec::filled(false, n_places),
        }
    }

    /// The transitions that change a place at which a statement looks.
    fn follow_place(&mut self, place: Place, statement: Statement, found: &mut Vec<(Statement, Reason)>) {
        if std::mem::replace(&mut self.is_followed[place], true) {
            return;
        }
        let facts = self.facts;
        for &writer in &facts.writers[place] {
            let Some(source) = facts.net.transitions[writer].source() else { continue };
            if !std::mem::replace(&mut self.is_kept[source], true) {
                let is_before = facts.net.is_frame_place(place);
                let reason =
                    if is_before { Reason::Before(statement) } else { Reason::Writes(place, statement) };
                found.push((source, reason));
            }
        }
    }
}

impl Follower for Backward<'_, '_> {
    fn mark(&mut self, statement: Statement) -> bool {
        !std::mem::replace(&mut self.is_kept[statement], true)
    }

    /// The places from which arcs lead to the steps of a kept statement.
    fn follow(&mut self, statement: Statement, found: &mut Vec<(Statement, Reason)>) {
        let facts = self.facts;
        self.follow_place(statement, statement, found);
        for step in &facts.flow.steps[statement] {
            for arc in &facts.net.transitions[step.transition].arcs {
                match arc {
                    ArcData::Take { place, .. }
                    | ArcData::Test { place, .. }
                    | ArcData::Inhibit { place, .. }
                    | ArcData::Drain { place, .. }
                    | ArcData::Read { place, .. }
                    | ArcData::Write { place, .. } => self.follow_place(*place, statement, found),
                    ArcData::Put { .. } | ArcData::Governed { .. } | ArcData::Governs { .. } => {}
                }
            }
        }
    }
}

impl Slicer for Backward<'_, '_> {
    fn keeps_whole_statements(&self) -> bool {
        true
    }

    fn grow(&mut self, kept: &Kept) -> Vec<(Statement, Reason)> {
        let facts = self.facts;
        self.close(facts, kept)
    }
}
