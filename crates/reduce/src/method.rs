//! What methods of slicing have in common.

use std::time::Instant;

use crate::{Kept, Reason, Statement};

/// A method of slicing. What every method must keep for verdicts to be those of the whole net is found by
/// [`crate::on_demand::Closure`]; this is what a method keeps beside.
pub(crate) trait Slicer {
    /// Whether a statement is kept with all that it reads and writes, or only with what matters of that.
    fn keeps_whole_statements(&self) -> bool;

    /// The statements that the method keeps since others are kept. It is asked until there are none.
    fn grow(&mut self, kept: &Kept) -> Vec<(Statement, Reason)>;
}

/// How long the parts of slicing took.
pub(crate) struct Phases {
    list: Vec<(&'static str, f64)>,
    since: Instant,
}

impl Phases {
    /// The first one begins now.
    pub(crate) fn new() -> Self {
        Self { list: Vec::new(), since: Instant::now() }
    }

    /// A part ends now, and the next one begins. The same part may come again.
    pub(crate) fn end(&mut self, name: &'static str) {
        let now = Instant::now();
        let seconds = now.duration_since(self.since).as_secs_f64();
        self.since = now;
        match self.list.iter_mut().find(|(other, _)| *other == name) {
            Some((_, sum)) => *sum += seconds,
            None => self.list.push((name, seconds)),
        }
    }

    pub(crate) fn into_list(self) -> Vec<(&'static str, f64)> {
        self.list
    }
}
