//! What methods of slicing have in common.

use std::time::Instant;

use crate::facts::Facts;
use crate::{Kept, Reason, Statement};

/// A method of slicing. What every method must keep for verdicts to be those of the whole net is found by
/// [`crate::on_demand::Closure`]; this is what a method keeps beside.
pub(crate) trait Slicer {
    /// Whether a statement is kept with all that it reads and writes, or only with what matters of that.
    fn keeps_whole_statements(&self) -> bool;

    /// The statements that the method keeps since others are kept. It is asked until there are none.
    fn grow(&mut self, kept: &Kept) -> Vec<(Statement, Reason)>;
}

/// A method that goes from each kept statement to others.
pub(crate) trait Follower {
    /// Notes that a statement is kept; false where that was known.
    fn mark(&mut self, statement: Statement) -> bool;

    /// Adds the statements that are kept since this one is, and marks them.
    fn follow(&mut self, statement: Statement, found: &mut Vec<(Statement, Reason)>);

    /// Follows what is kept, and what is found on the way, until there is nothing new.
    fn close(&mut self, facts: &Facts<'_>, kept: &Kept) -> Vec<(Statement, Reason)> {
        let mut found = Vec::new();
        for statement in facts.statements().filter(|&statement| kept.has(statement)) {
            if self.mark(statement) {
                self.follow(statement, &mut found);
            }
        }
        let mut next = 0;
        while next < found.len() {
            self.follow(found[next].0, &mut found);
            next += 1;
        }
        found.retain(|(statement, _)| !kept.has(*statement));
        found
    }
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
