//! What a data race is.
//!
//! Two accesses race where some run orders them by nothing (C11 5.1.2.4). Under sequential consistency that
//! is so exactly where some run comes to a marking in which both could be made at once: two threads, each with
//! a next step that touches the same cell, at least one of which writes it, not both atomic operations.
//!
//! That a thread is in an atomic section keeps the others from moving, but not from racing: a plain access
//! outside of any section is ordered by nothing with one inside. Two threads are never inside at the same time,
//! and a thread that waits to get in touches no memory by that, so that two sections do not race.

use crate::interp::View;
use crate::net::{ArcData, Place};
use crate::{Expr, Firing, Interpreter, Marking};

/// Two steps that race. The thread of the first has the smaller number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Race {
    /// The cell's place.
    pub place: Place,
    /// Which of its cells.
    pub key: Vec<i64>,
    /// One step.
    pub first: Firing,
    /// The other.
    pub second: Firing,
}

/// What a step does to a cell of memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Access {
    /// The cell's place.
    pub place: Place,
    /// Which of its cells.
    pub key: Vec<i64>,
    /// Whether it is written, not only read.
    pub writes: bool,
    /// The bytes of the cell that it is about, both ends included.
    pub bytes: (i64, i64),
}

impl Access {
    const fn overlaps(&self, other: &Self) -> bool {
        self.bytes.0 <= other.bytes.1 && other.bytes.0 <= self.bytes.1
    }
}

/// All bytes of a cell.
const WHOLE: (i64, i64) = (0, i64::MAX);

impl Interpreter<'_> {
    /// All data races of a marking, in order.
    #[must_use]
    pub fn races(&self, marking: &Marking) -> Vec<Race> {
        let mut races = Vec::new();
        if self.ended(marking) {
            return races;
        }
        let steps = self.bound(marking).into_iter().map(|firing| (self.accesses(marking, &firing), firing));
        let steps: Vec<(Vec<Access>, Firing)> = steps.filter(|(accesses, _)| !accesses.is_empty()).collect();
        let is_atomic = |firing: &Firing| self.net.transitions[firing.transition].atomic;
        for (mine, first) in &steps {
            for (theirs, second) in &steps {
                if first.thread() >= second.thread() || (is_atomic(first) && is_atomic(second)) {
                    continue;
                }
                for access in mine {
                    let Access { place, key, writes, .. } = access;
                    let conflicts = |other: &Access| {
                        other.place == *place
                            && other.key == *key
                            && (*writes || other.writes)
                            && access.overlaps(other)
                    };
                    if theirs.iter().any(conflicts) {
                        let (first, second) = (first.clone(), second.clone());
                        races.push(Race { place: *place, key: key.clone(), first, second });
                    }
                }
            }
        }
        races.sort();
        races.dedup();
        races
    }

    /// What a step does to memory, in the order of its arcs.
    #[must_use]
    pub fn accesses(&self, marking: &Marking, firing: &Firing) -> Vec<Access> {
        let view = View { interpreter: self, marking, binding: &firing.binding };
        let counts = |when: &Option<Expr>| when.as_ref().is_none_or(|when| when.eval(&view) != 0);
        let mut accesses = Vec::new();
        if !self.net.transitions[firing.transition].action.is_access() {
            return accesses;
        }
        for arc in &self.net.transitions[firing.transition].arcs {
            let (place, key, writes) = match arc {
                ArcData::Read { place, key, when, .. } if counts(when) => (*place, key, false),
                ArcData::Write { place, key, when, .. } if counts(when) => (*place, key, true),
                _ => continue,
            };
            let key: Vec<i64> = key.iter().map(|part| part.eval(&view)).collect();
            if self.net.places[place].memory && self.is_inside(place, &key) {
                let parts = self.net.transitions[firing.transition].bytes.iter();
                let parts = parts.filter(|part| part.place == place).map(|part| {
                    let first = part.first.eval(&view);
                    (first, first.saturating_add(i64::from(part.count) - 1))
                });
                let mut parts: Vec<(i64, i64)> = parts.collect();
                if parts.is_empty() {
                    parts.push(WHOLE);
                }
                let access = |bytes| Access { place, key: key.clone(), writes, bytes };
                accesses.extend(parts.into_iter().map(access));
            }
        }
        accesses
    }
}
