//! The visited set.
//!
//! A state is a vector of the numbers of its parts: the chunks of its global words and the words of each
//! thread. This is the collapse compression of Holzmann, *State compression in SPIN: recursive indexing and
//! compression training runs* (SPIN workshop 1997): a step changes one thread and a few global
//! words, so that most parts were seen before, and a state is a handful of numbers, which take as many bytes as
//! there are different parts ([`Rows`]).
//!
//! To store the vector as a tree of pairs (Laarman, van de Pol and Weber, *Parallel recursive state compression for free*, SPIN
//! 2011) was tried: it took about as much memory and up to twice the time, for each step looks for a pair on every level.

use std::fmt;
use std::ops::ControlFlow;

use pdnet_base::{Idx as _, index_type};

use crate::index::Index;
use crate::layout::CHUNK;
use crate::pool::{Pool, hash_numbers};
use crate::rows::{Format, Rows, width};
use crate::state::copy_words;
use crate::{Compiled, State};

index_type! {
    /// A state of a store. States are numbered from 0 in the order in which they were found.
    pub struct StateId = "s";
}

/// A store has room for fewer than 2^32 states, and for as many different parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("more than 2^32 states")
    }
}

impl std::error::Error for Full {}

/// A state that was brought.
#[derive(Clone, Copy, Debug)]
struct Brought {
    hash: u64,
    /// Where its numbers end; they begin where those of the one before it end.
    end: usize,
    mark: bool,
}

/// The visited set: states without repetition, each with a number.
#[derive(Clone, Debug)]
pub struct StateStore {
    /// The different values of each chunk of the globals.
    chunks: Vec<Pool>,
    threads: Pool,
    /// A row has the numbers of the chunks and then of the threads, up to the last that lives or has lived: the number 0 of
    /// a thread is the one that does not live yet.
    rows: Rows,
    index: Index,
    /// The state that is being put in.
    key: Vec<u32>,
    /// Those that were brought and not yet looked for.
    brought: Vec<Brought>,
    keys: Vec<u32>,
    /// Some number has become too large for the format of the rows.
    is_narrow: bool,
}

impl StateStore {
    /// An empty store for states of this net.
    #[must_use]
    pub fn new(compiled: &Compiled) -> Self {
        let mut threads = Pool::new();
        // Number 0 is the thread that does not live yet; an empty pool has room for it.
        let _ = threads.intern(&compiled.layout.thread_template);
        Self {
            chunks: vec![Pool::new(); compiled.layout.n_chunks()],
            threads,
            rows: Rows::default(),
            index: Index::new(),
            key: Vec::new(),
            brought: Vec::new(),
            keys: Vec::new(),
            is_narrow: true,
        }
    }

    /// How many states there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no state.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// The bytes that it takes, capacity included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let chunks: usize = self.chunks.iter().map(Pool::bytes).sum();
        self.rows.bytes() + self.index.bytes() + chunks + self.threads.bytes()
    }

    /// The number of a state, and whether it is new. A state that was loaded from this store and changed by
    /// steps since is looked at only where it was changed.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert(&mut self, state: &State) -> Result<(StateId, bool), Full> {
        self.make_key(state)?;
        let hash = hash_numbers(self.key.iter().copied());
        self.insert_key(hash)
    }

    /// Brings a state that is to be put in with others, and says how many there are now. The mark comes back with it.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn bring(&mut self, state: &State, mark: bool) -> Result<usize, Full> {
        self.make_key(state)?;
        let hash = hash_numbers(self.key.iter().copied());
        self.keys.extend_from_slice(&self.key);
        self.brought.push(Brought { hash, end: self.keys.len(), mark });
        Ok(self.brought.len())
    }

    /// Puts the states in that were brought, in their order, and calls `found` with the number of each, whether it is new, and
    /// its mark, until that breaks; those that are left are dropped.
    ///
    /// A large store does not fit into the caches of the processor. So what is needed to find the states is looked at first,
    /// for all of them: these looks do not wait for each other.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert_brought(
        &mut self,
        mut found: impl FnMut(StateId, bool, bool) -> ControlFlow<()>,
    ) -> Result<(), Full> {
        let (brought, keys) = (std::mem::take(&mut self.brought), std::mem::take(&mut self.keys));
        let touched = brought.iter().fold(0, |sum: u8, one| sum.wrapping_add(self.index.touch(one.hash)));
        let candidates = brought.iter().filter_map(|one| self.index.candidate(one.hash));
        std::hint::black_box(candidates.fold(touched, |sum, row| sum.wrapping_add(self.rows.touch(row))));
        let mut start = 0;
        let mut result = Ok(());
        for one in &brought {
            self.key.clear();
            self.key.extend_from_slice(&keys[start..one.end]);
            start = one.end;
            match self.insert_key(one.hash) {
                Ok((id, is_new)) => {
                    if found(id, is_new, one.mark).is_break() {
                        break;
                    }
                }
                Err(full) => {
                    result = Err(full);
                    break;
                }
            }
        }
        (self.brought, self.keys) = (brought, keys);
        self.brought.clear();
        self.keys.clear();
        result
    }

    fn insert_key(&mut self, hash: u64) -> Result<(StateId, bool), Full> {
        let Self { rows, index, key, .. } = self;
        if let Some(id) = index.find(hash, |id| rows.is(id, key)) {
            return Ok((StateId::new(id as usize), false));
        }
        let id = u32::try_from(rows.len()).map_err(|_| Full)?;
        if self.is_narrow || rows.n_numbers() < key.len() {
            self.widen();
        }
        let Self { rows, index, key, chunks, .. } = self;
        rows.push(key);
        let n_chunks = chunks.len();
        index.insert(hash, id, |id| hash_row(rows.get(id), n_chunks));
        Ok((StateId::new(id as usize), true))
    }

    /// Unpacks a state. What it holds must come from this store or be detached: parts that it has already are not
    /// unpacked again.
    pub fn load(&self, id: StateId, state: &mut State) {
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
        let mut row = self.rows.get(id.index() as u32);
        for (chunk, pool) in self.chunks.iter().enumerate() {
            let number = row.next().unwrap_or(0);
            if state.parts[chunk] != number || state.has_changed(chunk) {
                state.parts[chunk] = number;
                let words = pool.get(number);
                state.globals[chunk * CHUNK..][..words.len()].copy_from_slice(words);
            }
        }
        let base = self.chunks.len();
        let mut n_threads = 0;
        let n_row = row.len().min(state.threads.len());
        for thread in 0..n_row.max(state.n_threads) {
            let number = row.next().unwrap_or(0);
            if number != 0 {
                n_threads = thread + 1;
            }
            if state.parts[base + thread] == number && !state.changed_threads.contains(thread) {
                continue;
            }
            state.parts[base + thread] = number;
            let words = self.threads.get(number);
            if words[0] == 0 {
                state.live.remove(thread);
            } else {
                state.live.insert(thread);
            }
            copy_words(&mut state.threads[thread], words);
        }
        state.n_threads = n_threads;
        state.mark_unchanged();
    }

    /// Makes the numbers of a state's parts, without zeros for threads at the end.
    fn make_key(&mut self, state: &State) -> Result<(), Full> {
        let n_chunks = self.chunks.len();
        self.key.clear();
        self.key.extend_from_slice(&state.parts[..n_chunks + state.n_threads]);
        for chunk in state.changed_chunks() {
            let words = &state.globals[chunk * CHUNK..];
            let number = self.chunks[chunk].intern(&words[..words.len().min(CHUNK)])?;
            self.is_narrow |= !self.rows.has_room(chunk, number);
            self.key[chunk] = number;
        }
        for thread in state.changed_threads.iter().take_while(|&thread| thread < state.n_threads) {
            let number = self.threads.intern(&state.threads[thread])?;
            self.is_narrow |= !self.rows.has_room(n_chunks + thread, number);
            self.key[n_chunks + thread] = number;
        }
        while self.key.len() > n_chunks && self.key.last() == Some(&0) {
            self.key.pop();
        }
        Ok(())
    }

    /// Gives the rows to come room for what there is.
    fn widen(&mut self) {
        let n_threads = self.key.len() - self.chunks.len();
        let n_before = self.rows.n_numbers().saturating_sub(self.chunks.len());
        let mut widths: Vec<u8> = self.chunks.iter().map(|pool| width(pool.len())).collect();
        widths.resize(widths.len() + n_threads.max(n_before), width(self.threads.len()));
        self.rows.set_format(Format::new(widths));
        self.is_narrow = false;
    }
}

/// The hash of a row, without zeros for threads at the end.
fn hash_row(row: impl Iterator<Item = u32> + Clone, n_chunks: usize) -> u64 {
    let n_numbers = row
        .clone()
        .enumerate()
        .filter(|(at, number)| *at < n_chunks || *number != 0)
        .last()
        .map_or(0, |(at, _)| at + 1);
    hash_numbers(row.take(n_numbers))
}
