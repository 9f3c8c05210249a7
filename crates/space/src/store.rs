//! The visited set.
//!
//! A state is stored as the numbers of its parts: the chunks of its global words and the words of each
//! thread. This is the collapse compression of Holzmann, *State compression in SPIN: recursive indexing and
//! compression training runs* (SPIN workshop 1997): a step changes one thread and a few global
//! words, so that most parts were seen before, and a state is a handful of numbers.

use std::fmt;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use pdnet_base::{Idx as _, index_type};

use crate::layout::CHUNK;
use crate::pool::{Pool, hash_numbers};
use crate::{Compiled, State, ThreadSet};

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

/// How many states make a block of memory. Blocks never move, so that a growing store needs no second copy of
/// itself.
const BLOCK: usize = 1 << 14;

/// The visited set: states without repetition, each with a number.
#[derive(Clone, Debug)]
pub struct StateStore {
    /// The words of a thread that does not live yet, and how many parts are global.
    thread_template: Vec<i64>,
    n_chunks: usize,
    globals: Pool,
    threads: Pool,
    /// How many numbers a stored state has. It grows when a state needs more of them (a thread is created);
    /// shorter states then get zeros, which stand for threads that do not live yet.
    stride: usize,
    blocks: Vec<Vec<u32>>,
    n_states: usize,
    table: HashTable<u32>,
    /// The state that is being put in.
    key: Vec<u32>,
}

impl StateStore {
    /// An empty store for states of this net.
    #[must_use]
    pub fn new(compiled: &Compiled) -> Self {
        let thread_template = compiled.layout.thread_template.clone();
        let mut threads = Pool::new();
        // Number 0 is the thread that does not live yet; an empty pool has room for it.
        let _ = threads.intern(&thread_template);
        let n_chunks = compiled.layout.n_chunks();
        Self {
            thread_template,
            n_chunks,
            globals: Pool::new(),
            threads,
            stride: n_chunks + 1,
            blocks: Vec::new(),
            n_states: 0,
            table: HashTable::new(),
            key: Vec::new(),
        }
    }

    /// How many states there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.n_states
    }

    /// Whether there is no state.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.n_states == 0
    }

    /// The bytes that it takes, capacity included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::capacity).sum();
        blocks * 4 + self.table.allocation_size() + self.globals.bytes() + self.threads.bytes()
    }

    /// The number of a state, and whether it is new. A state that was loaded from this store and changed by
    /// steps since is looked at only where it was changed.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert(&mut self, state: &State) -> Result<(StateId, bool), Full> {
        self.make_key(state)?;
        if self.key.len() > self.stride {
            self.widen(self.key.len());
        }
        let Self { key, blocks, stride, table, n_states, .. } = self;
        let (stride, n_chunks) = (*stride, self.n_chunks);
        let hash = hash_numbers(key);
        let equal = |&id: &u32| {
            let row = row(blocks, stride, id as usize);
            row[..key.len()] == **key && row[key.len()..].iter().all(|&part| part == 0)
        };
        let hasher = |&id: &u32| hash_numbers(trimmed(row(blocks, stride, id as usize), n_chunks));
        match table.entry(hash, equal, hasher) {
            Entry::Occupied(entry) => Ok((StateId::new(*entry.get() as usize), false)),
            Entry::Vacant(entry) => {
                let id = u32::try_from(*n_states).map_err(|_| Full)?;
                entry.insert(id);
                *n_states += 1;
                let id = id as usize;
                if id / BLOCK == blocks.len() {
                    // The first block grows with the number of states: most nets in tests are small.
                    let capacity = if id == 0 { 0 } else { BLOCK * stride };
                    blocks.push(Vec::with_capacity(capacity));
                }
                let block = &mut blocks[id / BLOCK];
                block.extend_from_slice(key);
                block.resize((id % BLOCK + 1) * stride, 0);
                Ok((StateId::new(id), true))
            }
        }
    }

    /// Unpacks a state.
    pub fn load(&self, id: StateId, state: &mut State) {
        let parts = row(&self.blocks, self.stride, id.index());
        for (chunk, &part) in parts[..self.n_chunks].iter().enumerate() {
            let words = self.globals.get(part);
            state.globals[chunk * CHUNK..][..words.len()].copy_from_slice(words);
        }
        let threads = &parts[self.n_chunks..];
        state.live = ThreadSet::NONE;
        for (thread, &part) in threads.iter().enumerate().take(state.threads.len()) {
            let words = self.threads.get(part);
            if words[0] != 0 {
                state.live.insert(thread);
            }
            state.threads[thread].clear();
            state.threads[thread].extend_from_slice(words);
        }
        for thread in threads.len()..state.n_threads {
            state.threads[thread].clone_from(&self.thread_template);
            state.parts[self.n_chunks + thread] = 0;
        }
        let n_parts = parts.len().min(state.parts.len());
        state.parts[..n_parts].copy_from_slice(&parts[..n_parts]);
        state.n_threads = n_parts - self.n_chunks;
        state.changed_chunks = 0;
        state.changed_threads = ThreadSet::NONE;
    }

    /// Makes the numbers of a state's parts, without zeros for threads at the end.
    fn make_key(&mut self, state: &State) -> Result<(), Full> {
        self.key.clear();
        for chunk in 0..self.n_chunks {
            let part = if state.changed_chunks >> chunk.min(63) & 1 == 1 {
                let words = &state.globals[chunk * CHUNK..];
                self.globals.intern(&words[..words.len().min(CHUNK)])?
            } else {
                state.parts[chunk]
            };
            self.key.push(part);
        }
        for thread in 0..state.n_threads {
            let part = if state.changed_threads.contains(thread) {
                self.threads.intern(&state.threads[thread])?
            } else {
                state.parts[self.n_chunks + thread]
            };
            self.key.push(part);
        }
        self.key.truncate(trimmed(&self.key, self.n_chunks).len());
        Ok(())
    }

    /// Gives every stored state room for more numbers.
    fn widen(&mut self, stride: usize) {
        for block in &mut self.blocks {
            let mut wide = Vec::with_capacity(block.len() / self.stride * stride);
            for row in block.chunks_exact(self.stride) {
                wide.extend_from_slice(row);
                wide.resize(wide.len() + stride - self.stride, 0);
            }
            *block = wide;
        }
        self.stride = stride;
    }
}

/// The numbers of a stored state.
#[inline]
fn row(blocks: &[Vec<u32>], stride: usize, id: usize) -> &[u32] {
    &blocks[id / BLOCK][id % BLOCK * stride..][..stride]
}

/// The numbers without those of threads at the end that do not live yet.
#[inline]
fn trimmed(parts: &[u32], n_chunks: usize) -> &[u32] {
    let mut n = parts.len();
    while n > n_chunks && parts[n - 1] == 0 {
        n -= 1;
    }
    &parts[..n]
}
