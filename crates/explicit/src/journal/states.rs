//! States by number, with their marks.
//!
//! Numbers come in blocks ([`SharedStore::BLOCK`]), which are filled from their beginning on. So what was kept is a number for each block.

use std::sync::Arc;

use pdnet_base::Idx as _;
use pdnet_base::varint::put;
use pdnet_check::{Keeper, Progress, StopReason};
use pdnet_space::{Layout, SharedStore, State, StateId, StoreWorker};

use crate::budget::Budget;
use crate::journal::{Contents, Kind, RECORD, put_difference, take_difference, take_u32};
use crate::model::full;

/// What was kept of the states.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateLog {
    /// For each block how many states.
    kept: Vec<u32>,
}

/// How many states each block has where there are so many without a gap.
pub(crate) fn dense(n_states: usize) -> impl Iterator<Item = u32> {
    let block = SharedStore::BLOCK as usize;
    #[expect(clippy::cast_possible_truncation, reason = "at most a block")]
    (0..n_states.div_ceil(block)).map(move |at| (n_states - at * block).min(block) as u32)
}

impl StateLog {
    /// Whether the state of that number was kept.
    pub(crate) fn has(&self, number: u32) -> bool {
        let kept = self.kept.get((number / SharedStore::BLOCK) as usize);
        kept.is_some_and(|&kept| number % SharedStore::BLOCK < kept)
    }

    /// Their numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        let blocks = (0..).zip(&self.kept);
        blocks.flat_map(|(block, &kept)| (0..kept).map(move |row| block * SharedStore::BLOCK + row))
    }

    /// How many states there are, if they have the first numbers without a gap.
    pub(crate) fn n_dense(&self) -> Option<usize> {
        let n_states = self.kept.iter().map(|&kept| kept as usize).sum();
        dense(n_states).eq(self.kept.iter().copied()).then_some(n_states)
    }

    /// Keeps the states that are new, where each block has so many. `load` makes a state the one of that number, and says its
    /// mark; numbers come in their order.
    pub(crate) fn keep(
        &mut self,
        search: u64,
        ends: impl Iterator<Item = u32>,
        (state, layout): (&mut State, &Layout),
        mut load: impl FnMut(StateId, &mut State) -> u32,
        keeper: &mut dyn Keeper,
    ) {
        let (mut last, mut bytes, mut states) = (Vec::new(), Vec::new(), Vec::new());
        // The first number of the record in the making, and the one to come.
        let (mut first, mut next) = (0, 0);
        let mut append = |first: usize, next: usize, states: &mut Vec<u8>| {
            if next > first {
                let mut record = Kind::States.record();
                put(first as u64, &mut record);
                put((next - first) as u64, &mut record);
                record.append(states);
                keeper.append(search, &record);
            }
        };
        for (block, end) in ends.enumerate() {
            if block == self.kept.len() {
                self.kept.push(0);
            }
            let begin = block * SharedStore::BLOCK as usize;
            for number in begin + self.kept[block] as usize..begin + end as usize {
                if next != number || states.len() >= RECORD {
                    append(first, next, &mut states);
                    (first, next) = (number, number);
                    last.clear();
                }
                let mark = load(StateId::new(number), state);
                bytes.clear();
                state.pack(layout, &mut bytes);
                put(u64::from(mark), &mut states);
                put_difference(&last, &bytes, &mut states);
                std::mem::swap(&mut last, &mut bytes);
                next += 1;
            }
            self.kept[block] = self.kept[block].max(end);
        }
        append(first, next, &mut states);
    }

    fn note(&mut self, number: u32) -> Option<()> {
        let (block, row) = ((number / SharedStore::BLOCK) as usize, number % SharedStore::BLOCK);
        if block >= self.kept.len() {
            self.kept.resize(block + 1, 0);
        }
        let is_next = self.kept[block] == row;
        self.kept[block] += 1;
        is_next.then_some(())
    }
}

/// The number of the first state of a record, and how many there are.
pub(crate) fn range_of(mut record: &[u8]) -> Option<(u32, u32)> {
    Some((take_u32(&mut record)?, take_u32(&mut record)?))
}

impl Contents {
    /// How many states were kept, if they have the first numbers without a gap.
    pub(crate) fn n_dense(&self) -> Option<u32> {
        self.states.iter().try_fold(0_u32, |next, &(first, n_states, _)| {
            (first == next).then(|| next.checked_add(n_states)).flatten()
        })
    }

    /// Shows the states that were kept in the order of their numbers, each with its number and mark, until that breaks. What
    /// comes back is what was kept; nothing where that is not right.
    pub(crate) fn for_each_state(
        &self,
        budget: &mut Budget<'_>,
        mut show: impl FnMut(u32, u32, &[u8], &mut Budget<'_>) -> Result<bool, StopReason>,
    ) -> Result<Option<StateLog>, StopReason> {
        let mut log = StateLog::default();
        let (mut record, mut last) = (Vec::new(), Vec::new());
        for &(first, n_states, place) in &self.states {
            if Self::load(place, &mut record, budget).is_none() {
                return Ok(None);
            }
            let mut rest = record.as_slice();
            if range_of(rest) != Some((first, n_states)) {
                return Ok(None);
            }
            let _ = (take_u32(&mut rest), take_u32(&mut rest));
            last.clear();
            for number in (first..).take(n_states as usize) {
                let (Some(mark), Some(())) = (take_u32(&mut rest), take_difference(&mut last, &mut rest))
                else {
                    return Ok(None);
                };
                if log.note(number).is_none() || !show(number, mark, &last, budget)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(log))
    }

    /// Puts the states that were kept into a store for several workers, which is empty. All count as handed out. Nothing comes
    /// back where they are not right.
    pub(crate) fn restore(
        &self,
        (initial, layout): (&State, &Layout),
        worker: &mut StoreWorker,
        budget: &mut Budget<'_>,
    ) -> Result<Option<StateLog>, StopReason> {
        let store = Arc::clone(worker.store());
        let mut states: Vec<(State, u32)> = Vec::new();
        let mut n_states = 0;
        let mut block = 0;
        let mut put_in = |block: u32, states: &[(State, u32)]| {
            let states = states.iter().map(|(state, mark)| (state, *mark));
            worker.restore_block(block, states).map_err(|_| full())
        };
        let mut progress = Progress::default();
        let log = self.for_each_state(budget, |number, mark, bytes, budget| {
            let mut is_right = true;
            if number / SharedStore::BLOCK != block {
                if n_states > 0 {
                    is_right = put_in(block, &states[..n_states])?;
                }
                budget.look(&Progress { memory_bytes: store.bytes() as u64, ..progress })?;
                (block, n_states) = (number / SharedStore::BLOCK, 0);
            }
            if n_states == states.len() {
                states.push((initial.clone(), 0));
            }
            let (state, own_mark) = &mut states[n_states];
            state.unpack(layout, bytes);
            *own_mark = mark;
            n_states += 1;
            progress.states += 1;
            Ok(is_right)
        })?;
        let is_right = n_states > 0 && put_in(block, &states[..n_states])?;
        Ok(log.filter(|_| is_right))
    }
}
