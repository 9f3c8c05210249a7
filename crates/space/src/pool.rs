//! Equal parts of states, stored once.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use pdnet_base::table_bytes;

use crate::Full;

/// A table of sequences of words, each with a number. Equal sequences have one number.
///
/// A sequence takes as many bytes for each word as its largest word needs: most words are small, and a sequence is unpacked
/// only where the words of a state are needed, which is rare where steps are remembered.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// For each sequence how many bytes a word has, and the words.
    bytes: Vec<u8>,
    /// Where each sequence ends; it starts where the one before it ends.
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl Pool {
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), table: HashTable::new() }
    }

    /// How many sequences there are.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Puts the words of the sequence of that number into the room, and nothing else.
    pub(crate) fn get(&self, number: u32, room: &mut Vec<i64>) {
        room.clear();
        sequence(&self.bytes, &self.ends, number).append_to(room);
    }

    /// One word of the sequence of that number.
    #[inline]
    pub(crate) fn word(&self, number: u32, at: usize) -> i64 {
        sequence(&self.bytes, &self.ends, number).word(at)
    }

    /// All sequences, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Vec<i64>> {
        #[expect(clippy::cast_possible_truncation, reason = "they are numbered so")]
        (0..self.ends.len()).map(|number| {
            let mut words = Vec::new();
            self.get(number as u32, &mut words);
            words
        })
    }

    /// The number of a sequence, which is added where it is new.
    #[inline]
    pub(crate) fn intern(&mut self, words: &[i64]) -> Result<u32, Full> {
        let Self { bytes, ends, table } = self;
        let hash = hash_words(words.iter().copied());
        let equal = |&number: &u32| sequence(bytes, ends, number).is(words);
        let hasher = |&number: &u32| {
            let mut room = Vec::new();
            sequence(bytes, ends, number).append_to(&mut room);
            hash_words(room.iter().copied())
        };
        match table.entry(hash, equal, hasher) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let number = u32::try_from(ends.len()).map_err(|_| Full)?;
                let width = words.iter().map(|&word| width(word)).max().unwrap_or(1);
                let end = bytes.len() + 1 + words.len() * usize::from(width);
                ends.push(u32::try_from(end).map_err(|_| Full)?);
                entry.insert(number);
                bytes.push(width);
                for word in words {
                    bytes.extend_from_slice(&word.to_le_bytes()[..usize::from(width)]);
                }
                Ok(number)
            }
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let table = table_bytes(self.table.allocation_size(), self.table.len(), self.table.capacity());
        self.bytes.capacity() + self.ends.capacity() * 4 + table
    }
}

/// How many bytes a word needs, with its sign: 1, 2, 4 or 8.
const fn width(word: i64) -> u8 {
    match word {
        -0x80..=0x7f => 1,
        -0x8000..=0x7fff => 2,
        -0x8000_0000..=0x7fff_ffff => 4,
        _ => 8,
    }
}

/// A sequence that is packed.
struct Packed<'a> {
    width: u8,
    bytes: &'a [u8],
}

#[inline]
fn sequence<'a>(bytes: &'a [u8], ends: &[u32], number: u32) -> Packed<'a> {
    let number = number as usize;
    let start = if number == 0 { 0 } else { ends[number - 1] as usize };
    let (width, bytes) = bytes[start..ends[number] as usize].split_first().unwrap_or((&1, &[]));
    Packed { width: *width, bytes }
}

impl Packed<'_> {
    /// Whether these are its words.
    #[inline]
    fn is(&self, words: &[i64]) -> bool {
        words.len() * usize::from(self.width) == self.bytes.len()
            && match self.width {
                1 => self.bytes.iter().zip(words).all(|(&byte, &word)| i64::from(byte.cast_signed()) == word),
                _ => words.iter().enumerate().all(|(at, &word)| self.word(at) == word),
            }
    }

    #[inline]
    fn append_to(&self, room: &mut Vec<i64>) {
        match self.width {
            1 => room.extend(self.bytes.iter().map(|&byte| i64::from(byte.cast_signed()))),
            width => room.extend((0..self.bytes.len() / usize::from(width)).map(|at| self.word(at))),
        }
    }

    #[inline]
    fn word(&self, at: usize) -> i64 {
        let width = usize::from(self.width);
        match *self.bytes.get(at * width..(at + 1) * width).unwrap_or_default() {
            [a] => i64::from(a.cast_signed()),
            [a, b] => i64::from(i16::from_le_bytes([a, b])),
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => 0,
        }
    }
}

/// The hash of a sequence of words.
#[inline]
pub(crate) fn hash_words(words: impl ExactSizeIterator<Item = i64>) -> u64 {
    let mut hasher = FixedState::with_seed(words.len() as u64).build_hasher();
    words.for_each(|word| hasher.write_i64(word));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use pdnet_base::Rng;

    use super::*;

    #[test]
    fn sequences_keep_their_words() {
        let mut rng = Rng::new(Rng::test_seed(5));
        let (mut pool, mut wanted) = (Pool::new(), Vec::<Vec<i64>>::new());
        for _ in 0..4000 {
            let largest = *rng.pick(&[0_u32, 6, 7, 14, 15, 30, 31, 62, 63]);
            let n_words = rng.below(4);
            let words =
                (0..n_words).map(|_| rng.next_u64().cast_signed() >> (63 - largest)).collect::<Vec<_>>();
            let known = wanted.iter().position(|other| *other == words);
            let number = pool.intern(&words).unwrap() as usize;
            assert_eq!(number, known.unwrap_or(wanted.len()), "{words:?}");
            if known.is_none() {
                wanted.push(words);
            }
        }
        assert_eq!(pool.iter().collect::<Vec<_>>(), wanted);
        let mut room = vec![7];
        for (number, words) in (0..).zip(&wanted) {
            pool.get(number, &mut room);
            assert_eq!(room, *words);
            assert!((0..words.len()).all(|at| pool.word(number, at) == words[at]));
        }
    }
}
