//! Visited sets that need not know where states came from. Those that do not keep the states may take a new one for one that was
//! seen.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::quality::FixedState;
use hashbrown::HashTable;
use pdnet_check::MemoryUse;
use pdnet_space::{Compiled, Full, Layout, State, StateStore};

use crate::Storage;
use crate::budget::memory_of;
use crate::journal::{put_difference, take_difference};

/// How many tables the hashes are spread over, so that they grow one by one.
const TABLES: usize = 256;

/// How many bits stand for a state.
const BITS: u32 = 3;

/// The most memory that bits take: beyond it, what they save is hardly ever needed.
const MOST_BITS: u64 = 1 << 33;

/// A set of states.
pub(crate) enum Filter {
    /// The states themselves.
    Exact(Box<StateStore>),
    /// The hashes of 64 bits: a state is taken for another one where these are equal (Wolper and Leroy, *Reliable hashing without
    /// collision detection*, CAV 1993).
    Compact { tables: Vec<HashTable<u64>>, n_states: u64 },
    /// Some bits for each state: it is taken for one that was seen where others have set all of them (Holzmann, *An analysis of bitstate
    /// hashing*, PSTV 1995).
    Bits { words: Vec<u64>, n_states: u64, n_set: u64 },
}

impl Filter {
    /// An empty set. Bits take a quarter of the memory that there is, at most.
    pub(crate) fn new(storage: Storage, memory: Option<u64>, compiled: &Compiled) -> Self {
        match storage {
            Storage::Exact => Self::Exact(Box::new(StateStore::new(compiled))),
            Storage::HashCompact => {
                Self::Compact { tables: (0..TABLES).map(|_| HashTable::new()).collect(), n_states: 0 }
            }
            Storage::Bitstate => {
                let n_bits =
                    memory.map_or(MOST_BITS, |bytes| bytes.saturating_mul(2)).clamp(1 << 10, MOST_BITS);
                let n_words = usize::try_from(n_bits / 64).unwrap_or(1 << 20);
                Self::Bits { words: vec![0; n_words], n_states: 0, n_set: 0 }
            }
        }
    }

    /// Makes it empty.
    pub(crate) fn clear(&mut self, compiled: &Compiled) {
        match self {
            Self::Exact(store) => **store = StateStore::new(compiled),
            Self::Compact { tables, n_states } => {
                tables.iter_mut().for_each(HashTable::clear);
                *n_states = 0;
            }
            Self::Bits { words, n_states, n_set } => {
                words.fill(0);
                (*n_states, *n_set) = (0, 0);
            }
        }
    }

    /// Adds a state, which is also given as bytes; false where it seems to be there already.
    pub(crate) fn insert(&mut self, state: &State, bytes: &[u8]) -> Result<bool, Full> {
        match self {
            Self::Exact(store) => store.insert(state).map(|(_, is_new)| is_new),
            Self::Compact { .. } | Self::Bits { .. } => Ok(self.insert_bytes(bytes)),
        }
    }

    /// Whether a state, which is also given as bytes, seems to be there.
    pub(crate) fn contains(&mut self, state: &State, bytes: &[u8]) -> Result<bool, Full> {
        match self {
            Self::Exact(store) => store.contains(state),
            Self::Compact { tables, .. } => {
                let hash = hash(bytes, 0);
                Ok(table_of(tables, hash).find(place(&hash), |found| *found == hash).is_some())
            }
            Self::Bits { words, .. } => {
                Ok(bits(words.len(), hash(bytes, 0), hash(bytes, 1))
                    .all(|(word, mask)| words[word] & mask != 0))
            }
        }
    }

    fn insert_bytes(&mut self, state: &[u8]) -> bool {
        match self {
            Self::Exact(_) => false,
            Self::Compact { .. } => self.insert_hashes(hash(state, 0), 0),
            Self::Bits { .. } => self.insert_hashes(hash(state, 0), hash(state, 1)),
        }
    }

    /// The same for a state with these hashes.
    fn insert_hashes(&mut self, hash: u64, other: u64) -> bool {
        match self {
            Self::Exact(_) => false,
            Self::Compact { tables, n_states } => {
                let table = table_of(tables, hash);
                let is_new = table.find(place(&hash), |found| *found == hash).is_none();
                if is_new {
                    table.insert_unique(place(&hash), hash, place);
                    *n_states += 1;
                }
                is_new
            }
            Self::Bits { words, n_states, n_set } => {
                let mut is_new = false;
                for (word, mask) in bits(words.len(), hash, other) {
                    if words[word] & mask == 0 {
                        words[word] |= mask;
                        *n_set += 1;
                        is_new = true;
                    }
                }
                *n_states += u64::from(is_new);
                is_new
            }
        }
    }

    /// Appends what stands for a state that was added, so that [`Filter::take`] can add it to another set of its kind. `last` is
    /// the state before it, if it has to be known; it is empty at first.
    pub(crate) fn put(&self, state: &[u8], last: &mut Vec<u8>, record: &mut Vec<u8>) {
        match self {
            Self::Exact(_) => {
                put_difference(last, state, record);
                last.clear();
                last.extend_from_slice(state);
            }
            Self::Compact { .. } => record.extend_from_slice(&hash(state, 0).to_le_bytes()),
            Self::Bits { .. } => {
                record.extend_from_slice(&hash(state, 0).to_le_bytes());
                record.extend_from_slice(&hash(state, 1).to_le_bytes());
            }
        }
    }

    /// Adds a state of which this was put; nothing comes back where that is not right.
    pub(crate) fn take(
        &mut self,
        layout: &Layout,
        state: &mut State,
        last: &mut Vec<u8>,
        rest: &mut &[u8],
    ) -> Result<Option<()>, Full> {
        let mut hash = || {
            let (bytes, behind) = rest.split_first_chunk::<8>()?;
            *rest = behind;
            Some(u64::from_le_bytes(*bytes))
        };
        let is_new = match self {
            Self::Exact(store) => {
                if take_difference(last, rest).is_none() {
                    return Ok(None);
                }
                state.unpack(layout, last);
                store.insert(state)?.1
            }
            Self::Compact { .. } => hash().is_some_and(|hash| self.insert_hashes(hash, 0)),
            Self::Bits { n_states, .. } => {
                // A set with fewer bits may have all of them already; that it was new then is what counts.
                let n_before = *n_states;
                let Some((first, other)) = hash().zip(hash()) else { return Ok(None) };
                let _ = self.insert_hashes(first, other);
                if let Self::Bits { n_states, .. } = self {
                    *n_states = n_before + 1;
                }
                true
            }
        };
        Ok(is_new.then_some(()))
    }

    /// How many states were added.
    pub(crate) const fn len(&self) -> u64 {
        match self {
            Self::Exact(store) => store.len() as u64,
            Self::Compact { n_states, .. } | Self::Bits { n_states, .. } => *n_states,
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Exact(store) => store.bytes(),
            Self::Compact { tables, .. } => tables.iter().map(HashTable::allocation_size).sum(),
            Self::Bits { words, .. } => words.len() * 8,
        }
    }

    /// What it takes them for.
    pub(crate) fn memory(&self) -> MemoryUse {
        match self {
            Self::Exact(store) => memory_of(store.size()),
            Self::Compact { .. } | Self::Bits { .. } => {
                MemoryUse { states: self.bytes() as u64, ..MemoryUse::default() }
            }
        }
    }

    /// How sure it is that no state was taken for another one, in words; nothing where that is certain.
    ///
    /// With hashes: each pair of states has equal hashes with a probability of 2⁻⁶⁴, and no more than this for all pairs. With bits: a new
    /// state finds its bits set with the share of bits that are set to the power of their number; at the end that is
    /// largest.
    #[expect(clippy::cast_precision_loss, reason = "an estimate for people")]
    pub(crate) fn confidence(&self) -> Option<String> {
        let text = match self {
            Self::Exact(_) => return None,
            Self::Compact { n_states, .. } => {
                let n_states = *n_states as f64;
                let chance = (n_states * n_states / 2.0 / 2_f64.powi(64)).min(1.0);
                format!("a state was taken for another one with a probability of at most {chance:.1e}")
            }
            Self::Bits { words, n_set, n_states } => {
                let share = *n_set as f64 / (words.len() as f64 * 64.0);
                let chance = share.powi(BITS.cast_signed());
                let expected = chance * *n_states as f64;
                let expected = if expected < 0.1 {
                    "less than 0.1".to_owned()
                } else {
                    format!("about {expected:.1} at most")
                };
                format!(
                    "of the states that were met, a new one was left out with a probability of at most {chance:.1e}, \
                     which makes {expected} states that were left out"
                )
            }
        };
        Some(text)
    }
}

/// The table for a hash.
#[expect(clippy::cast_possible_truncation, reason = "the lowest bits are meant")]
fn table_of(tables: &mut [HashTable<u64>], hash: u64) -> &mut HashTable<u64> {
    &mut tables[hash as usize % TABLES]
}

/// Where a hash stands in its table, which other bits have chosen.
const fn place(hash: &u64) -> u64 {
    hash.rotate_right(8)
}

/// The bits of a state with these hashes: in which of so many words each is, and as what.
fn bits(n_words: usize, first: u64, other: u64) -> impl Iterator<Item = (usize, u64)> {
    let (step, n_bits) = (other | 1, n_words as u128 * 64);
    (0..BITS).map(move |time| {
        let hash = first.wrapping_add(step.wrapping_mul(u64::from(time)));
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of bits")]
        let bit = ((u128::from(hash) * n_bits) >> 64) as usize;
        (bit / 64, 1 << (bit % 64))
    })
}

fn hash(state: &[u8], seed: u64) -> u64 {
    let mut hasher = FixedState::with_seed(seed).build_hasher();
    hasher.write(state);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use pdnet_net::Net;

    use super::*;

    #[test]
    fn what_was_added_is_there_and_most_else_is_not() {
        let compiled = Compiled::new(&Net::default()).unwrap();
        for storage in [Storage::HashCompact, Storage::Bitstate] {
            let mut filter = Filter::new(storage, Some(1 << 20), &compiled);
            let n_new = (0..20_000_u32).filter(|state| filter.insert_bytes(&state.to_le_bytes())).count();
            assert!(n_new > 19_900, "{n_new}");
            assert!((0..20_000_u32).all(|state| !filter.insert_bytes(&state.to_le_bytes())));
            assert_eq!(filter.len(), n_new as u64);
            assert!(filter.confidence().is_some_and(|text| text.contains("probability")));
        }
    }

    #[test]
    fn few_bits_leave_states_out() {
        let compiled = Compiled::new(&Net::default()).unwrap();
        let mut filter = Filter::new(Storage::Bitstate, Some(0), &compiled);
        let n_new = (0..20_000_u32).filter(|state| filter.insert_bytes(&state.to_le_bytes())).count();
        assert!(n_new < 1000, "{n_new}");
    }
}
