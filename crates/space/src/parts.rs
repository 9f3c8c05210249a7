//! States as the numbers of their parts: what stores of all kinds have in common.

use std::ops::ControlFlow;

use crate::state::copy_words;
use crate::{Compiled, Full, PartStore, State, StateId};

/// Makes the numbers of a state's parts: those of the chunks of its globals and then of its threads, without zeros for threads at
/// the end. `intern` gives the number of the part at a position; parts that did not change keep theirs.
#[inline]
pub(crate) fn make_key(
    key: &mut Vec<u32>,
    state: &State,
    n_chunks: usize,
    mut intern: impl FnMut(usize, &[i64]) -> Result<u32, Full>,
) -> Result<(), Full> {
    key.clear();
    key.extend_from_slice(&state.parts[..n_chunks + state.n_threads]);
    for chunk in state.fresh_chunks() {
        key[chunk] = intern(chunk, state.chunk(chunk))?;
    }
    for thread in state.fresh_threads.iter().take_while(|&thread| thread < state.n_threads) {
        key[n_chunks + thread] = intern(n_chunks + thread, &state.threads[thread])?;
    }
    while key.len() > n_chunks && key.last() == Some(&0) {
        key.pop();
    }
    Ok(())
}

/// Gives numbers to those parts of a state that have none. `intern` is as in [`make_key`].
#[inline]
pub(crate) fn number(
    state: &mut State,
    mut intern: impl FnMut(usize, &[i64]) -> Result<u32, Full>,
) -> Result<(), Full> {
    let n_chunks = state.chunks.len();
    for chunk in state.fresh_chunks() {
        state.parts[chunk] = intern(chunk, state.chunk(chunk))?;
    }
    for thread in state.fresh_threads.iter().take_while(|&thread| thread < state.n_threads) {
        state.parts[n_chunks + thread] = intern(n_chunks + thread, &state.threads[thread])?;
    }
    state.mark_numbered();
    Ok(())
}

/// The numbers of a row without zeros for threads at the end.
#[inline]
pub(crate) fn without_zeros(row: &[u32], n_chunks: usize) -> &[u32] {
    let n_zeros = row[n_chunks..].iter().rev().take_while(|&&number| number == 0).count();
    &row[..row.len() - n_zeros]
}

/// A row without zeros for threads at the end.
pub(crate) fn trimmed<R: Iterator<Item = u32> + Clone>(row: R, n_chunks: usize) -> std::iter::Take<R> {
    let counts = row.clone().enumerate().filter(|(at, number)| *at < n_chunks || *number != 0);
    let n_numbers = counts.last().map_or(0, |(at, _)| at + 1);
    row.take(n_numbers)
}

/// Makes a state of the numbers of its parts. `words` puts the words of the part at a position into a room; it is not asked for
/// parts that the state has already.
#[inline]
pub(crate) fn unpack(
    mut row: impl ExactSizeIterator<Item = u32>,
    state: &mut State,
    n_chunks: usize,
    words: impl Fn(usize, u32, &mut Vec<i64>),
) {
    let mut room = std::mem::take(&mut state.room);
    for chunk in 0..n_chunks {
        let number = row.next().unwrap_or(0);
        if state.parts[chunk] != number || state.is_fresh(chunk) {
            words(chunk, number, &mut room);
            state.set_chunk(chunk, number, &room);
        }
    }
    let mut n_threads = 0;
    let n_row = row.len().min(state.threads.len());
    for thread in 0..n_row.max(state.n_threads) {
        let number = row.next().unwrap_or(0);
        if number != 0 {
            n_threads = thread + 1;
        }
        let position = n_chunks + thread;
        if state.parts[position] != number || state.fresh_threads.contains(thread) {
            words(position, number, &mut room);
            state.set_thread(thread, number, &room);
        }
    }
    state.room = room;
    state.n_threads = n_threads;
    state.mark_unchanged();
    state.mark_numbered();
}

/// A state as the numbers of its parts: of the chunks of the globals, and of the threads up to the last that lives or has lived.
/// There may be zeros behind them, which are threads that do not live yet.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub(crate) numbers: Vec<u32>,
    /// The sum that its hash is made of: a step changes few of the numbers, and only they are added anew.
    pub(crate) sum: u64,
}

impl Row {
    /// The numbers.
    #[inline]
    pub(crate) fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Gives it other numbers.
    #[inline]
    pub(crate) fn set(&mut self, numbers: impl Iterator<Item = u32>) {
        self.numbers.clear();
        self.numbers.extend(numbers);
        self.sum = sum(self.numbers.iter().copied());
    }

    /// Its hash.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        debug_assert_eq!(self.sum, sum(self.numbers.iter().copied()), "{:?}", self.numbers);
        hash_of_sum(self.sum)
    }

    /// Makes it a copy, in place.
    #[inline]
    pub fn copy_from(&mut self, other: &Self) {
        copy_words(&mut self.numbers, &other.numbers);
        self.sum = other.sum;
    }

    /// Whether a thread is in an atomic section.
    #[inline]
    pub fn is_in_section(&self, compiled: &Compiled, store: &impl PartStore) -> bool {
        self.word(compiled.atomic_at, store) != 0
    }

    /// Whether the process has ended.
    #[inline]
    pub fn has_ended(&self, compiled: &Compiled, store: &impl PartStore) -> bool {
        self.word(compiled.ended_at, store) != 0
    }

    /// A global word, by its chunk and its place there; 0 where there is none.
    #[inline]
    fn word(&self, place: Option<(usize, usize)>, store: &impl PartStore) -> i64 {
        place.map_or(0, |(chunk, at)| store.word(chunk, self.numbers[chunk], at))
    }
}

/// A word of the globals that is asked for again and again, of rows of one store, with the last answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Glance {
    /// The number of the chunk, and the word there.
    last: Option<(u32, i64)>,
}

impl Glance {
    /// Whether a thread is in an atomic section. A glance must always be asked the same.
    #[inline]
    pub fn is_in_section(&mut self, compiled: &Compiled, row: &Row, store: &impl PartStore) -> bool {
        self.word(compiled.atomic_at, row, store) != 0
    }

    /// A global word, by its chunk and its place there; 0 where there is none.
    #[inline]
    pub(crate) fn word(&mut self, place: Option<(usize, usize)>, row: &Row, store: &impl PartStore) -> i64 {
        let Some((chunk, at)) = place else { return 0 };
        let number = row.numbers[chunk];
        match self.last {
            Some((last, word)) if last == number => word,
            Some(_) | None => {
                let word = store.word(chunk, number, at);
                self.last = Some((number, word));
                word
            }
        }
    }
}

/// The hash of the numbers of a row. Zeros at the end do not count.
#[inline]
pub(crate) fn hash_numbers(numbers: impl Iterator<Item = u32>) -> u64 {
    hash_of_sum(sum(numbers))
}

#[inline]
fn sum(numbers: impl Iterator<Item = u32>) -> u64 {
    let summands = numbers.enumerate().map(|(position, number)| summand(position, number));
    summands.fold(0, u64::wrapping_add)
}

/// What a number at a position adds to the sum of a row; nothing where it is 0.
#[inline]
pub(crate) const fn summand(position: usize, number: u32) -> u64 {
    if number == 0 { 0 } else { fold((position as u64) << 32 | number as u64, 0x9e37_79b9_7f4a_7c15) }
}

#[inline]
const fn hash_of_sum(sum: u64) -> u64 {
    fold(sum, 0xd6e8_feb8_6659_fd93)
}

/// Both halves of a product, so that every bit depends on all.
#[inline]
const fn fold(value: u64, factor: u64) -> u64 {
    let product = (value ^ 0x2545_f491_4f6c_dd1d) as u128 * factor as u128;
    #[expect(clippy::cast_possible_truncation, reason = "halves of a product")]
    let folded = product as u64 ^ (product >> 64) as u64;
    folded
}

/// States that are to be looked for together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    states: Vec<Brought>,
    keys: Vec<u32>,
}

/// A state that was brought.
#[derive(Clone, Copy, Debug)]
struct Brought {
    hash: u64,
    /// Where its numbers end; they begin where those of the one before it end.
    end: usize,
    mark: u32,
    flag: bool,
    /// The state that it may be, if that is there already.
    candidate: Option<u32>,
}

/// Where states of a batch are put in.
pub(crate) trait Taker {
    /// Has what is looked at first for this hash brought close to the processor.
    fn ask(&self, hash: u64);

    /// The number of the first state that may have this hash, which is brought close, too.
    fn candidate(&self, hash: u64) -> Option<u32>;

    /// Puts a state in, with its mark where it is new: its number, and whether it is new. The candidate is looked at first.
    fn take(
        &mut self,
        key: &[u32],
        hash: u64,
        candidate: Option<u32>,
        mark: u32,
    ) -> Result<(StateId, bool), Full>;
}

impl Batch {
    /// Adds a state, and says how many there are now.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u32], hash: u64, mark: u32, flag: bool) -> usize {
        self.keys.extend_from_slice(key);
        self.states.push(Brought { hash, end: self.keys.len(), mark, flag, candidate: None });
        self.states.len()
    }

    /// Puts the states in, in their order, and shows the number of each, whether it is new, its mark and its flag, until that
    /// breaks. Those that are left are dropped.
    ///
    /// A large store does not fit into the caches of the processor, and to wait for its parts one after the other is what it
    /// would cost most. So they are asked for before, for all of the states. One such request behind the other waits less for
    /// the pages than one between two states each: that was tried, and took a fifth more time.
    #[inline]
    pub(crate) fn put_in(
        &mut self,
        taker: &mut impl Taker,
        mut show: impl FnMut(StateId, bool, u32, bool) -> ControlFlow<()>,
    ) -> Result<(), Full> {
        self.states.iter().for_each(|state| taker.ask(state.hash));
        self.states.iter_mut().for_each(|state| state.candidate = taker.candidate(state.hash));
        let (mut start, mut result) = (0, Ok(()));
        for &Brought { hash, end, mark, flag, candidate } in &self.states {
            let key = &self.keys[start..end];
            start = end;
            match taker.take(key, hash, candidate, mark) {
                Ok((id, is_new)) if show(id, is_new, mark, flag).is_continue() => {}
                taken => {
                    result = taken.map(|_| ());
                    break;
                }
            }
        }
        self.states.clear();
        self.keys.clear();
        result
    }
}
