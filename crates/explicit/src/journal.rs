//! What is kept of a search for finite runs, so that it can go on after the process was killed.
//!
//! States are numbered in the order in which they are found and never change, so that it is enough to append those that are new: the
//! state, and the number of the one before it. A record that says how far the search was makes what stands before it
//! count; what comes after the last such record is found again. States are expanded in the order of their numbers, so
//! that the search goes on as if nothing had happened.
//!
//! Goals that are decided are kept by the state in which that was seen: that one is looked at again. Those that a straight run has
//! broken are kept as such, and the straight runs are tried again. Where a goal is not decided again, the search begins anew.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::quality::FixedState;
use pdnet_base::Idx as _;
use pdnet_base::varint::{put, take};
use pdnet_check::{Keeper, Property, StopReason};
use pdnet_net::Transition;
use pdnet_space::{State, StateId};

use crate::Explicit;
use crate::budget::Budget;
use crate::graph::Model;
use crate::visited::{Kept, Visited as _};
use crate::worker::{Counts, Worker};

/// A record of states is written when it has so many bytes.
const RECORD: usize = 1 << 20;

/// The first byte of a record of states, and of one that says how far the search was.
const STATES: u8 = 0;
const POSITION: u8 = 1;

/// A search that is kept.
pub(crate) struct Journal {
    /// What tells it from others.
    search: u64,
    /// How many states were kept.
    n_kept: usize,
    /// The last of them, as bytes.
    last: Vec<u8>,
}

/// How far a search was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Position {
    n_states: u64,
    /// How many states were expanded: the next one has this number.
    next: u64,
    counts: Counts,
    notes: Vec<Transition>,
    cut: Option<Transition>,
    decided: Vec<(usize, Option<StateId>)>,
}

/// What tells a search from others: all that its states and answers depend on.
pub(crate) fn fingerprint(engine: &Explicit, model: &Model<'_>, properties: &[&Property]) -> u64 {
    let Explicit { stubborn, forget, symmetry, through_sections, crew: _, order: _, storage: _, jit: _ } =
        engine;
    let mut hasher = FixedState::with_seed(0).build_hasher();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    (stubborn, forget, symmetry, through_sections).hash(&mut hasher);
    model.net.to_string().hash(&mut hasher);
    // The bytes of a state mean nothing to who lays it out in another way.
    format!("{:?}", model.compiled.layout()).hash(&mut hasher);
    format!("{properties:?}").hash(&mut hasher);
    hasher.finish()
}

impl Journal {
    pub(crate) const fn new(search: u64) -> Self {
        Self { search, n_kept: 0, last: Vec::new() }
    }

    /// Whether something was kept.
    pub(crate) const fn is_begun(&self) -> bool {
        self.n_kept > 0
    }

    /// Keeps what is new. So many states were expanded.
    pub(crate) fn keep(&mut self, worker: &Worker<'_, Kept>, next: usize, keeper: &mut dyn Keeper) {
        let layout = worker.model.compiled.layout();
        let mut state = worker.model.compiled.initial();
        state.detach();
        let (mut record, mut bytes) = (vec![STATES], Vec::new());
        for number in self.n_kept..worker.visited.len() {
            let id = StateId::new(number);
            pdnet_space::States::load(&worker.visited, id, &mut state);
            bytes.clear();
            state.pack(layout, &mut bytes);
            let parent = if number == 0 { 0 } else { worker.visited.parent(id).index() };
            put(parent as u64, &mut record);
            put_difference(&self.last, &bytes, &mut record);
            std::mem::swap(&mut self.last, &mut bytes);
            if record.len() >= RECORD {
                keeper.append(self.search, &record);
                record.truncate(1);
            }
        }
        if record.len() > 1 {
            keeper.append(self.search, &record);
        }
        self.n_kept = worker.visited.len();
        let position = Position {
            n_states: self.n_kept as u64,
            next: next as u64,
            counts: worker.counts,
            notes: worker.goals.notes.transitions().into_iter().flatten().collect(),
            cut: worker.goals.notes.cut(),
            decided: worker.decided.clone(),
        };
        keeper.append(self.search, &position.record());
        keeper.commit();
    }

    /// Goes on with what was kept of this search: the number of states that were expanded comes back. Nothing where nothing was kept, or
    /// where it is not to be read; then the worker is as it was.
    ///
    /// # Errors
    /// Where a limit is met.
    pub(crate) fn resume(
        &mut self,
        worker: &mut Worker<'_, Kept>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<usize>, StopReason> {
        let Some(keeper) = budget.keeper() else { return Ok(None) };
        let mut position = None;
        keeper.records(self.search, &mut |record| {
            if record.first() == Some(&POSITION) {
                position = Position::read(&record[1..]).or(position.take());
            }
        });
        let Some(position) = position else { return Ok(None) };
        let Some(visited) = self.read_states(worker, position.n_states, keeper) else { return Ok(None) };
        worker.visited = visited;
        position.notes.iter().for_each(|&transition| worker.goals.notes.add(worker.model.net, transition));
        position.cut.iter().for_each(|&transition| worker.goals.notes.add_cut(transition));
        for id in position.decided.iter().filter_map(|&(_, id)| id) {
            worker.expand(id, budget)?;
        }
        if position.decided.iter().any(|(_, id)| id.is_none()) {
            worker.send_scouts();
        }
        if position.decided.iter().any(|&(goal, _)| worker.goals.undecided(goal).is_some()) {
            worker.visited = Kept::new(pdnet_space::StateStore::new(worker.model.compiled));
            worker.counts = Counts::default();
            return Ok(None);
        }
        worker.counts = position.counts;
        usize::try_from(position.next).map(Some).map_err(|_| crate::graph::full())
    }

    fn read_states(
        &mut self,
        worker: &Worker<'_, Kept>,
        n_states: u64,
        keeper: &mut dyn Keeper,
    ) -> Option<Kept> {
        let compiled = worker.model.compiled;
        let mut visited = Kept::new(pdnet_space::StateStore::new(compiled));
        let mut state: State = compiled.initial();
        let mut last = Vec::new();
        let mut is_right = true;
        keeper.records(self.search, &mut |record| {
            let Some((&STATES, mut rest)) = record.split_first() else { return };
            while is_right && !rest.is_empty() && (visited.len() as u64) < n_states {
                let parent = take(&mut rest).and_then(|parent| u32::try_from(parent).ok());
                let (Some(parent), Some(())) = (parent, take_difference(&mut last, &mut rest)) else {
                    is_right = false;
                    return;
                };
                state.unpack(compiled.layout(), &last);
                is_right = matches!(visited.insert(&state, parent), Ok((_, true)));
            }
        });
        is_right &= visited.len() as u64 == n_states && n_states > 0;
        is_right.then(|| {
            self.n_kept = visited.len();
            self.last = last;
            visited
        })
    }
}

impl Position {
    fn record(&self) -> Vec<u8> {
        let mut record = vec![POSITION];
        let Counts { expanded, transitions, inside, partial } = self.counts;
        for number in [self.n_states, self.next, expanded, transitions, inside, partial] {
            put(number, &mut record);
        }
        put(self.notes.len() as u64, &mut record);
        self.notes.iter().for_each(|transition| put(transition.index() as u64, &mut record));
        put(self.cut.map_or(0, |transition| transition.index() as u64 + 1), &mut record);
        put(self.decided.len() as u64, &mut record);
        for (goal, id) in &self.decided {
            put(*goal as u64, &mut record);
            put(id.map_or(0, |id| id.index() as u64 + 1), &mut record);
        }
        record
    }

    fn read(mut rest: &[u8]) -> Option<Self> {
        let rest = &mut rest;
        let index = |number: u64| usize::try_from(number).ok();
        let (n_states, next) = (take(rest)?, take(rest)?);
        let counts = Counts {
            expanded: take(rest)?,
            transitions: take(rest)?,
            inside: take(rest)?,
            partial: take(rest)?,
        };
        let mut notes = Vec::new();
        for _ in 0..take(rest)? {
            notes.push(Transition::new(index(take(rest)?)?));
        }
        let cut = match take(rest)? {
            0 => None,
            number => Some(Transition::new(index(number - 1)?)),
        };
        let mut decided = Vec::new();
        for _ in 0..take(rest)? {
            let goal = index(take(rest)?)?;
            let id = take(rest)?.checked_sub(1).map(|id| index(id).map(StateId::new));
            decided.push((
                goal,
                match id {
                    None => None,
                    Some(id) => Some(id?),
                },
            ));
        }
        Some(Self { n_states, next, counts, notes, cut, decided })
    }
}

/// A sequence by what it has in common with the one before it at its beginning and its end.
fn put_difference(before: &[u8], bytes: &[u8], record: &mut Vec<u8>) {
    let head = before.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    let tails = before[head..].iter().rev().zip(bytes[head..].iter().rev());
    let tail = tails.take_while(|(one, other)| one == other).count();
    let middle = &bytes[head..bytes.len() - tail];
    for number in [head, tail, middle.len()] {
        put(number as u64, record);
    }
    record.extend_from_slice(middle);
}

fn take_difference(last: &mut Vec<u8>, rest: &mut &[u8]) -> Option<()> {
    let mut number = || take(rest).and_then(|number| usize::try_from(number).ok());
    let (head, tail, length) = (number()?, number()?, number()?);
    let (middle, behind) = rest.split_at_checked(length)?;
    let tail_start = last.len().checked_sub(tail).filter(|&start| start >= head)?;
    let end = last.split_off(tail_start);
    last.truncate(head);
    last.extend_from_slice(middle);
    last.extend_from_slice(&end);
    *rest = behind;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_come_back_by_their_differences() {
        let sequences: [&[u8]; 6] = [b"", b"hello", b"hallo", b"hallo, world", b"hello, world", b"ll"];
        let mut record = Vec::new();
        sequences.windows(2).for_each(|pair| put_difference(pair[0], pair[1], &mut record));
        let (mut last, mut rest) = (Vec::new(), record.as_slice());
        for wanted in &sequences[1..] {
            assert_eq!(take_difference(&mut last, &mut rest), Some(()));
            assert_eq!(last, *wanted);
        }
        assert_eq!(rest, []);
        assert_eq!(take_difference(&mut last, &mut [9, 9, 1].as_slice()), None);
    }

    #[test]
    fn positions_come_back() {
        let position = Position {
            n_states: 1 << 40,
            next: 300,
            counts: Counts { expanded: 299, transitions: 5, inside: 0, partial: 7 },
            notes: vec![Transition::new(3), Transition::new(200)],
            cut: Some(Transition::new(0)),
            decided: vec![(1, Some(StateId::new(77))), (0, None)],
        };
        let record = position.record();
        assert_eq!(Position::read(&record[1..]), Some(position));
        assert_eq!(Position::read(&record[1..record.len() - 1]), None);
    }
}
