//! Equal parts of states, stored once, for several workers.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pdnet_base::{Slots, prefetch};

use crate::Full;
use crate::pool::hash_words;
use crate::shared::index::{Entries, Index, View};

/// A table of sequences of words, each with a number. Equal sequences have one number. To look for one takes no lock; to add one
/// does, for new parts are rare.
#[derive(Debug)]
pub(crate) struct Pool {
    parts: Slots<Box<[i64]>>,
    index: Index,
    n_parts: AtomicU32,
    /// Held by the worker who adds a part.
    adding: Mutex<()>,
    bytes: AtomicUsize,
}

impl Pool {
    /// A pool with these parts, numbered in their order: different ones, and no more than there is room for.
    pub(crate) fn new(parts: impl Iterator<Item = Vec<i64>>) -> Self {
        let pool = Self {
            parts: Slots::new(),
            index: Index::new(1, 4),
            n_parts: AtomicU32::new(0),
            adding: Mutex::new(()),
            bytes: AtomicUsize::new(0),
        };
        let mut view = pool.view();
        for part in parts {
            let _ = pool.intern(&mut view, &part);
        }
        pool
    }

    pub(crate) fn view(&self) -> View {
        self.index.view()
    }

    /// How many sequences there are.
    pub(crate) fn len(&self) -> usize {
        self.n_parts.load(Ordering::Relaxed) as usize
    }

    /// The sequence of that number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[i64] {
        self.parts.get(number).map_or(&[], |part| part)
    }

    /// The number of a sequence, which is added where it is new.
    #[inline]
    pub(crate) fn intern(&self, view: &mut View, words: &[i64]) -> Result<u32, Full> {
        let hash = hash_words(words.iter().copied());
        match self.index.find(view, hash, self, |number| self.get(number) == words) {
            Ok(number) => Ok(number),
            Err(_) => self.add(view, hash, words),
        }
    }

    #[cold]
    fn add(&self, view: &mut View, hash: u64, words: &[i64]) -> Result<u32, Full> {
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let is_wanted = |number| self.get(number) == words;
        // Another worker may have added it while this one waited.
        let gap = match self.index.find(view, hash, self, is_wanted) {
            Ok(number) => return Ok(number),
            Err(gap) => gap,
        };
        let number = self.n_parts.load(Ordering::Relaxed);
        if number == u32::MAX - 1 {
            return Err(Full);
        }
        self.parts.set(number, words.into());
        // Whoever finds the number finds it counted.
        self.n_parts.store(number + 1, Ordering::Relaxed);
        self.index.insert(view, hash, (gap, number), self, is_wanted);
        self.bytes.fetch_add(size_of_val(words) + ALLOCATION, Ordering::Relaxed);
        Ok(number)
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.parts.bytes() + self.index.bytes() + self.bytes.load(Ordering::Relaxed)
    }
}

impl Entries for Pool {
    fn hash(&self, number: u32) -> u64 {
        hash_words(self.get(number).iter().copied())
    }

    fn prefetch(&self, number: u32) {
        self.parts.get(number).into_iter().for_each(prefetch);
    }
}

/// What a piece of memory costs beside its bytes.
const ALLOCATION: usize = 16;
