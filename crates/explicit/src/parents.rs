//! From which state each state was found.

use pdnet_base::FxHashMap;

/// So many states lie between two whose predecessor is kept as it is.
const INTERVAL: usize = 1 << 10;

/// Stands for a difference that has no room in a byte.
const LARGE: u8 = u8::MAX;

/// The predecessors of states that are found breadth first. Those of states that follow each other follow each other, too, so
/// that the differences are kept, a byte for each.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    differences: Vec<u8>,
    /// The predecessor of each state whose number is a multiple of the interval.
    samples: Vec<u32>,
    /// The predecessors of those with a large difference.
    large: FxHashMap<usize, u32>,
    last: u32,
}

impl Parents {
    /// Adds the next state. Its predecessor has no lower number than the one before.
    pub(crate) fn push(&mut self, parent: u32) {
        let state = self.differences.len();
        if state.is_multiple_of(INTERVAL) {
            self.samples.push(parent);
        }
        let difference = parent.checked_sub(self.last).and_then(|difference| u8::try_from(difference).ok());
        let difference = difference.unwrap_or(LARGE);
        if difference == LARGE {
            self.large.insert(state, parent);
        }
        self.differences.push(difference);
        self.last = parent;
    }

    /// The predecessors of all states, in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.iter_from(0)
    }

    /// The predecessors of the states from this one on.
    pub(crate) fn iter_from(&self, state: usize) -> impl Iterator<Item = u32> {
        let first = state / INTERVAL * INTERVAL;
        let mut parent = self.samples.get(first / INTERVAL).copied().unwrap_or(0);
        let differences = self.differences.iter().enumerate().skip(first);
        let parents = differences.map(move |(at, &difference)| {
            parent = match difference {
                _ if at.is_multiple_of(INTERVAL) => self.samples[at / INTERVAL],
                LARGE => self.large[&at],
                difference => parent + u32::from(difference),
            };
            parent
        });
        parents.skip(state - first)
    }

    /// The predecessor of a state.
    pub(crate) fn get(&self, state: usize) -> u32 {
        let first = state / INTERVAL;
        let mut parent = self.samples[first];
        for at in first * INTERVAL + 1..=state {
            parent = match self.differences[at] {
                LARGE => self.large[&at],
                difference => parent + u32::from(difference),
            };
        }
        parent
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.differences.capacity() + self.samples.capacity() * 4 + self.large.capacity() * 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predecessors_are_those_that_were_put_in() {
        let mut parents = Parents::default();
        let wanted: Vec<u32> =
            (0..5000_u32).map(|state| state / 3 + if state > 2500 { 700 } else { 0 }).collect();
        wanted.iter().for_each(|&parent| parents.push(parent));
        let found: Vec<u32> = (0..wanted.len()).map(|state| parents.get(state)).collect();
        assert_eq!(found, wanted);
        for first in [0, 1, 1023, 1024, 1025, 4999, 5000] {
            assert!(parents.iter_from(first).eq(wanted[first..].iter().copied()), "from {first}");
        }
    }
}
