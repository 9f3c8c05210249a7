//! Equal parts of states, stored once.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::Full;

/// A table of sequences of words, each with a number. Equal sequences have one number.
///
/// The words are not packed: a part occurs in many states and is stored once, so that packing it would cost
/// time at every step and save little.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    words: Vec<i64>,
    /// Where each sequence ends; it starts where the one before it ends.
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl Pool {
    pub(crate) const fn new() -> Self {
        Self { words: Vec::new(), ends: Vec::new(), table: HashTable::new() }
    }

    /// How many sequences there are.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// The sequence of that number.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[i64] {
        sequence(&self.words, &self.ends, number)
    }

    /// The number of a sequence, which is added where it is new.
    #[inline]
    pub(crate) fn intern(&mut self, sequence_words: &[i64]) -> Result<u32, Full> {
        let Self { words, ends, table } = self;
        let hash = hash_words(sequence_words);
        let equal = |&number: &u32| sequence(words, ends, number) == sequence_words;
        let hasher = |&number: &u32| hash_words(sequence(words, ends, number));
        match table.entry(hash, equal, hasher) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let number = u32::try_from(ends.len()).map_err(|_| Full)?;
                let end = u32::try_from(words.len() + sequence_words.len()).map_err(|_| Full)?;
                entry.insert(number);
                words.extend_from_slice(sequence_words);
                ends.push(end);
                Ok(number)
            }
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * 8 + self.ends.capacity() * 4 + self.table.allocation_size()
    }
}

#[inline]
fn sequence<'a>(words: &'a [i64], ends: &[u32], number: u32) -> &'a [i64] {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] as usize };
    &words[start..ends[number] as usize]
}

#[inline]
fn hash_words(words: &[i64]) -> u64 {
    let mut hasher = FixedState::with_seed(words.len() as u64).build_hasher();
    words.iter().for_each(|&word| hasher.write_i64(word));
    hasher.finish()
}

/// The hash of a vector of numbers.
#[inline]
pub(crate) fn hash_numbers(numbers: impl Iterator<Item = u32>) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    let (mut pair, mut is_half) = (0_u64, false);
    for number in numbers {
        pair = pair << 32 | u64::from(number);
        if is_half {
            hasher.write_u64(pair);
        }
        is_half = !is_half;
    }
    if is_half {
        hasher.write_u64(pair << 32);
    }
    hasher.finish()
}
