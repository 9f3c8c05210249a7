//! Values by number that are set once and never move.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many values make a block.
const BLOCK: usize = 256;

/// So many blocks make the first group; each group is twice as large as the one before.
const FIRST: usize = 16;

/// So many groups are enough for all numbers of 32 bits.
const GROUPS: usize = 21;

type Block<T> = Box<[OnceLock<T>]>;

type Group<T> = Box<[OnceLock<Block<T>>]>;

/// A table that grows while others read it. Memory is taken by the block, and where to find the blocks takes a small share of
/// that.
#[derive(Debug)]
pub struct Slots<T> {
    groups: [OnceLock<Group<T>>; GROUPS],
    bytes: AtomicUsize,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Slots<T> {
    /// A table without values.
    #[must_use]
    pub const fn new() -> Self {
        Self { groups: [const { OnceLock::new() }; GROUPS], bytes: AtomicUsize::new(0) }
    }

    /// The value of that number, if it was set.
    #[inline]
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&T> {
        let (group, block, slot) = place(number);
        self.groups[group].get()?[block].get()?[slot].get()
    }

    /// Sets the value of a number, unless it has one, and returns the one that it has.
    pub fn set(&self, number: u32, value: T) -> &T {
        let (group, block, slot) = place(number);
        let group = self.groups[group].get_or_init(|| self.make(FIRST << group));
        let block = group[block].get_or_init(|| self.make(BLOCK));
        block[slot].get_or_init(|| value)
    }

    fn make<U>(&self, n: usize) -> Box<[OnceLock<U>]> {
        self.bytes.fetch_add(n * size_of::<OnceLock<U>>(), Ordering::Relaxed);
        (0..n).map(|_| OnceLock::new()).collect()
    }

    /// The bytes that it takes, without what the values themselves point to.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// The group, the block in it and the slot in that.
#[inline]
const fn place(number: u32) -> (usize, usize, usize) {
    let number = number as usize;
    let block = number / BLOCK + FIRST;
    let group = (block / FIRST).ilog2() as usize;
    (group, block - (FIRST << group), number % BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        let slots = Slots::new();
        let numbers: Vec<u32> = (0..20_000).chain([1 << 20, u32::MAX / 2]).collect();
        numbers.iter().for_each(|&number| assert_eq!(*slots.set(number, number), number));
        assert!(numbers.iter().all(|&number| slots.get(number) == Some(&number)));
        assert_eq!(slots.get(20_000), None);
        assert_eq!(slots.get(u32::MAX), None);
        assert_eq!(place(u32::MAX).0, GROUPS - 1);
    }
}
