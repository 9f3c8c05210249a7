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
use crate::parts::{Batch, Row, Taker, hash_numbers, make_key, number, trimmed, unpack, without_zeros};
use crate::pool::Pool;
use crate::rows::{Format, Rows, width};
use crate::{Compiled, PartStore, State};

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

/// What a store takes memory for, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSize {
    /// The states as the numbers of their parts; with marks, these too.
    pub rows: usize,
    /// The index by which states are found.
    pub index: usize,
    /// The different parts.
    pub parts: usize,
}

impl StoreSize {
    /// All of it.
    #[must_use]
    pub const fn total(self) -> usize {
        self.rows + self.index + self.parts
    }
}

/// What states can be loaded from.
pub trait States {
    /// Unpacks a state. What it holds must come from the same states or be detached: parts that it has already are not
    /// unpacked again.
    fn load(&self, id: StateId, state: &mut State);
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
    /// The same as bytes of a row.
    packed: Vec<u8>,
    /// Those that were brought and not yet looked for.
    brought: Batch,
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
            chunks: vec![Pool::new(); compiled.layout.chunks.len()],
            threads,
            rows: Rows::default(),
            index: Index::new(),
            key: Vec::new(),
            packed: Vec::new(),
            brought: Batch::default(),
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
        self.size().total()
    }

    /// What it takes them for.
    #[must_use]
    pub fn size(&self) -> StoreSize {
        let chunks: usize = self.chunks.iter().map(Pool::bytes).sum();
        let parts = chunks + self.threads.bytes();
        StoreSize { rows: self.rows.bytes(), index: self.index.bytes(), parts }
    }

    /// The number of a state, and whether it is new. A state that was loaded from this store and changed by
    /// steps since is looked at only where it was changed.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert(&mut self, state: &State) -> Result<(StateId, bool), Full> {
        self.make_key(state)?;
        let hash = hash_numbers(self.key.iter().copied());
        let key = std::mem::take(&mut self.key);
        let result = self.insert_key(&key, hash, None);
        self.key = key;
        result
    }

    /// Whether the state is there. Its parts are numbered, so that it is quickly put in later.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn contains(&mut self, state: &State) -> Result<bool, Full> {
        self.make_key(state)?;
        if self.is_narrow || self.rows.n_numbers() < self.key.len() {
            self.widen(self.key.len());
        }
        let Self { rows, index, packed, key, .. } = self;
        rows.pack(key, packed);
        let hash = hash_numbers(key.iter().copied());
        Ok(index.find(hash, |id| rows.is(id, key, packed)).is_ok())
    }

    /// As [`StateStore::insert`], for a state of which the numbers are known.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert_row(&mut self, row: &Row) -> Result<(StateId, bool), Full> {
        self.insert_key(without_zeros(row.numbers(), self.chunks.len()), row.hash(), None)
    }

    /// Brings a state that is to be put in with others, and says how many there are now. The mark and the flag come back with
    /// it.
    #[inline]
    pub fn bring(&mut self, row: &Row, mark: u32, flag: bool) -> usize {
        self.brought.push(without_zeros(row.numbers(), self.chunks.len()), row.hash(), mark, flag)
    }

    /// Puts the states in that were brought, in their order and calls `found` with the number of each,
    /// whether it is new, and its mark and flag, until that breaks; those that are left are dropped then.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert_brought(
        &mut self,
        found: impl FnMut(StateId, bool, u32, bool) -> ControlFlow<()>,
    ) -> Result<(), Full> {
        let mut brought = std::mem::take(&mut self.brought);
        let result = brought.put_in(self, found);
        self.brought = brought;
        result
    }

    /// Puts a state in. The candidate, a state that may be the same, is looked at before the index.
    fn insert_key(
        &mut self,
        key: &[u32],
        hash: u64,
        candidate: Option<u32>,
    ) -> Result<(StateId, bool), Full> {
        if self.is_narrow || self.rows.n_numbers() < key.len() {
            self.widen(key.len());
        }
        let Self { rows, index, packed, .. } = self;
        rows.pack(key, packed);
        if let Some(id) = candidate
            && rows.is(id, key, packed)
        {
            return Ok((StateId::new(id as usize), false));
        }
        let gap = match index.find(hash, |id| rows.is(id, key, packed)) {
            Ok(id) => return Ok((StateId::new(id as usize), false)),
            Err(gap) => gap,
        };
        let id = u32::try_from(rows.len()).map_err(|_| Full)?;
        rows.push(packed);
        index.insert(hash, (gap, id), |id| rows.prefetch(id), |id| hash_numbers(rows.get(id)));
        Ok((StateId::new(id as usize), true))
    }

    /// Makes the numbers of a state's parts.
    fn make_key(&mut self, state: &State) -> Result<(), Full> {
        let Self { chunks, threads, rows, key, is_narrow, .. } = self;
        make_key(key, state, chunks.len(), |position, words| {
            let number = chunks.get_mut(position).unwrap_or(threads).intern(words)?;
            *is_narrow |= !rows.has_room(position, number);
            Ok(number)
        })
    }

    /// The parts and the states, to be put into a store for several workers.
    pub(crate) fn contents(
        &self,
    ) -> (&[Pool], &Pool, impl Iterator<Item = impl Iterator<Item = u32> + use<'_>>) {
        let n_chunks = self.chunks.len();
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
        let rows = (0..self.len()).map(move |row| trimmed(self.rows.get(row as u32), n_chunks));
        (&self.chunks, &self.threads, rows)
    }

    /// How many numbers a row has, at most.
    pub(crate) fn n_numbers(&self) -> usize {
        self.rows.n_numbers()
    }

    /// Gives the rows to come room for what there is.
    fn widen(&mut self, n_numbers: usize) {
        let n_threads = n_numbers - self.chunks.len();
        let n_before = self.rows.n_numbers().saturating_sub(self.chunks.len());
        let mut widths: Vec<u8> = self.chunks.iter().map(|pool| width(pool.len())).collect();
        widths.resize(widths.len() + n_threads.max(n_before), width(self.threads.len()));
        self.rows.set_format(Format::new(widths));
        self.is_narrow = false;
    }
}

impl Taker for StateStore {
    #[inline]
    fn ask(&self, hash: u64) {
        self.index.prefetch(hash);
    }

    #[inline]
    fn candidate(&self, hash: u64) -> Option<u32> {
        let row = self.index.candidate(hash)?;
        self.rows.prefetch(row);
        Some(row)
    }

    #[inline]
    fn take(
        &mut self,
        key: &[u32],
        hash: u64,
        candidate: Option<u32>,
        _: u32,
    ) -> Result<(StateId, bool), Full> {
        self.insert_key(key, hash, candidate)
    }
}

impl States for StateStore {
    fn load(&self, id: StateId, state: &mut State) {
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
        let row = self.rows.get(id.index() as u32);
        unpack(row, state, self.chunks.len(), |position, number, room| self.words(position, number, room));
    }
}

impl PartStore for StateStore {
    fn number(&mut self, state: &mut State) -> Result<(), Full> {
        let Self { chunks, threads, rows, is_narrow, .. } = self;
        number(state, |position, words| {
            let number = chunks.get_mut(position).unwrap_or(threads).intern(words)?;
            *is_narrow |= !rows.has_room(position, number);
            Ok(number)
        })
    }

    fn words(&self, part: usize, number: u32, room: &mut Vec<i64>) {
        self.chunks.get(part).unwrap_or(&self.threads).get(number, room);
    }

    #[inline]
    fn word(&self, part: usize, number: u32, at: usize) -> i64 {
        self.chunks.get(part).unwrap_or(&self.threads).word(number, at)
    }

    fn load_row(&self, id: StateId, row: &mut Row) {
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
        row.set(self.rows.get(id.index() as u32));
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }
}
