//! Sets of threads.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, Not};

const N_WORDS: usize = 4;

/// A set of threads, by their numbers below [`ThreadSet::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadSet([u64; N_WORDS]);

impl ThreadSet {
    /// So many threads there may be. The number above is free, for those who need one that is no thread.
    pub const MAX: u32 = 255;
    /// How many words a set has.
    pub(crate) const WORDS: usize = N_WORDS;
    /// No thread.
    pub const NONE: Self = Self([0; N_WORDS]);
    /// Every thread.
    pub const ALL: Self = Self([u64::MAX; N_WORDS]);

    /// The set with one member.
    #[must_use]
    #[inline]
    pub const fn single(thread: usize) -> Self {
        let mut words = [0; N_WORDS];
        words[thread / 64] = 1 << (thread % 64);
        Self(words)
    }

    /// The threads below this number.
    #[must_use]
    pub fn below(n_threads: usize) -> Self {
        (0..n_threads).map(Self::single).fold(Self::NONE, Self::bitor)
    }

    /// The set with that thread of which the number is given, if it can be one.
    #[must_use]
    #[inline]
    pub fn of_number(thread: i64) -> Self {
        match usize::try_from(thread) {
            Ok(thread) if thread < Self::MAX as usize => Self::single(thread),
            Ok(_) | Err(_) => Self::NONE,
        }
    }

    /// Adds a thread.
    #[inline]
    pub const fn insert(&mut self, thread: usize) {
        self.0[thread / 64] |= 1 << (thread % 64);
    }

    /// Takes a thread out.
    #[inline]
    pub const fn remove(&mut self, thread: usize) {
        self.0[thread / 64] &= !(1 << (thread % 64));
    }

    /// Whether a thread is a member.
    #[must_use]
    #[inline]
    pub const fn contains(self, thread: usize) -> bool {
        self.0[thread / 64] >> (thread % 64) & 1 == 1
    }

    /// Whether there is no member.
    #[must_use]
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == [0; N_WORDS]
    }

    /// The number of members.
    #[must_use]
    #[inline]
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Takes the lowest member out.
    #[inline]
    pub fn pop(&mut self) -> Option<usize> {
        for (at, word) in self.0.iter_mut().enumerate() {
            if *word != 0 {
                let thread = at * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                return Some(thread);
            }
        }
        None
    }

    /// The members, in order.
    #[inline]
    pub fn iter(mut self) -> impl Iterator<Item = usize> {
        std::iter::from_fn(move || self.pop())
    }

    /// The words of the set, the lowest first, as many as so many threads need.
    #[must_use]
    pub fn words(&self, n_threads: u32) -> &[u64] {
        &self.0[..Self::n_words(n_threads)]
    }

    /// How many words so many threads need.
    #[must_use]
    pub const fn n_words(n_threads: u32) -> usize {
        let n_words = (n_threads as usize).div_ceil(64);
        if n_words == 0 { 1 } else { n_words }
    }

    /// The set of these words.
    #[must_use]
    #[inline]
    pub fn from_words(words: &[u64]) -> Self {
        let mut set = Self::NONE;
        set.0[..words.len()].copy_from_slice(words);
        set
    }
}

impl BitOr for ThreadSet {
    type Output = Self;
    #[inline]
    fn bitor(mut self, other: Self) -> Self {
        self |= other;
        self
    }
}

impl BitOrAssign for ThreadSet {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

impl BitAnd for ThreadSet {
    type Output = Self;
    #[inline]
    fn bitand(mut self, other: Self) -> Self {
        self &= other;
        self
    }
}

impl BitAndAssign for ThreadSet {
    #[inline]
    fn bitand_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
    }
}

impl Not for ThreadSet {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }
}
