//! States inside of atomic sections, walked through and not stored.
//!
//! While a thread is in an atomic section no other one can move, and most sections are short and without a choice. So the
//! states in them need not be stored to be found again: a search goes through them at once, looks at each of them, and
//! stores the states behind. Another way into the same section walks it again, which costs less than to store it.
//!
//! A section may be long, have many ways, or no end. So only some states are walked through from a stored one;
//! those that come after them are stored as others are, and a loop comes back to one of them.

use pdnet_space::Row;

/// So many states are walked through from one that is stored.
const MOST: usize = 64;

/// The states that are still to be walked through, with room that is used again.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    states: Vec<Row>,
    n_waiting: usize,
    n_taken: usize,
}

impl Inside {
    /// Begins with another stored state.
    pub(crate) const fn start(&mut self) {
        self.n_waiting = 0;
        self.n_taken = 0;
    }

    /// Keeps a state to be walked through; false where it has to be stored.
    pub(crate) fn push(&mut self, state: &Row) -> bool {
        if !self.take() {
            return false;
        }
        match self.states.get_mut(self.n_waiting) {
            Some(room) => room.copy_from(state),
            None => self.states.push(state.clone()),
        }
        self.n_waiting += 1;
        true
    }

    /// Counts a state that somebody else keeps; false where it has to be stored.
    pub(crate) const fn take(&mut self) -> bool {
        if self.n_taken == MOST {
            return false;
        }
        self.n_taken += 1;
        true
    }

    /// The next state, the last one first.
    pub(crate) fn pop(&mut self) -> Option<&Row> {
        self.n_waiting = self.n_waiting.checked_sub(1)?;
        self.states.get(self.n_waiting)
    }
}
