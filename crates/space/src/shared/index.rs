//! A hash index that several workers use at once.
//!
//! The entries themselves are elsewhere; the index has their numbers, each with a few bits of its hash, the *tag*. A bucket is a line of
//! the cache. An entry is put into the first free slot on the way from its home: the worker who changes the tag of the slot by an
//! atomic exchange has the slot, and writes the number after that. Two workers who bring the same entry go the same way, and meet;
//! who meets a tag without its number waits for it, which is a matter of some instructions.
//!
//! The index is cut into segments by the hash, and a segment doubles when it is full, by itself. The worker
//! who finds it full closes its free slots one by one, puts the entries into a larger table, and hands that out. Who meets
//! a closed slot knows that what it looks for can only be in the next table, and waits for it; everybody else goes on.
//!
//! Each worker holds the tables that it has seen ([`View`]). So a table that was replaced is freed when the last worker has
//! met a closed slot in it, which the next new entry of the segment brings about: what is wasted is, for as long
//! as a worker does not come to a segment, the half of that segment.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdnet_base::{OwnLine, prefetch};

use crate::index::zeros;

/// How many entries a bucket has, and how many of them have their tags in the first word.
const WIDTH: usize = 12;
const FIRST: usize = 8;

/// The tags of a bucket's slots are in two words: in these bytes.
const BYTES: [u64; 2] = [u64::MAX, u32::MAX as u64];

/// Above the tags of the second word are as many bits of the place of each entry, behind those that its bucket stands for: by
/// these the entries of a table go to one that is twice as large, so that only every third time the hashes have to be made of
/// the entries themselves, which lie anywhere in memory.
const BITS: u32 = 2;
const PLACES: u32 = u32::BITS;

/// Is set in the second word where some entries of the bucket belong into one before it, which was full.
const GUESTS: u64 = 1 << 63;

/// The tag of a free slot in a table that is replaced. The tag of a free slot is 0, and entries have others.
const CLOSED: u64 = 0xff;

/// So many entries before its turn an entry is brought close to the processor.
const AHEAD: usize = 16;

/// What an index is about.
pub(crate) trait Entries {
    /// The hash of an entry.
    fn hash(&self, number: u32) -> u64;

    /// Has an entry brought close to the processor, since its hash is asked for soon.
    fn prefetch(&self, number: u32);
}

#[derive(Debug)]
#[repr(align(64))]
struct Bucket {
    tags: [AtomicU64; 2],
    /// Each is one more than it is, and 0 where there is none yet.
    numbers: [AtomicU32; WIDTH],
}

impl Bucket {
    const fn new() -> Self {
        Self { tags: [const { AtomicU64::new(0) }; 2], numbers: [const { AtomicU32::new(0) }; WIDTH] }
    }

    /// The bits of the second word for an entry in a slot with this place.
    #[inline]
    const fn bits(slot: usize, place: u64, is_guest: bool) -> u64 {
        place << (PLACES + slot as u32 * BITS) | if is_guest { GUESTS } else { 0 }
    }

    /// Closes the free slots of a word, and says how many of its slots have entries.
    fn close(&self, word: usize) -> usize {
        let close = |tags| Some(tags | ((with_tag(word, tags, 0) >> 7) * CLOSED));
        let before = self.tags[word].fetch_update(Ordering::AcqRel, Ordering::Acquire, close);
        with_tag(word, before.unwrap_or_default(), 0).trailing_zeros() as usize / 8
    }

    /// Adds an entry, with the bits of its place. No other worker has the bucket, and it is not full.
    fn push(&self, number: u32, tag: u64, place: u64, is_guest: bool) {
        let [first, second] = self.tags.each_ref().map(|tags| tags.load(Ordering::Relaxed));
        let (word, free) = match (with_tag(0, first, 0), with_tag(1, second, 0)) {
            (0, free) => (1, free),
            (free, _) => (0, free),
        };
        let at = free.trailing_zeros() as usize / 8;
        let slot = (word * FIRST + at) % WIDTH;
        self.tags[1].store(second | Self::bits(slot, place, is_guest), Ordering::Relaxed);
        let tags = self.tags[word].load(Ordering::Relaxed);
        self.tags[word].store(tags | tag << (8 * at), Ordering::Relaxed);
        self.numbers[slot].store(number + 1, Ordering::Relaxed);
    }

    /// Whether there is no room. No other worker has the bucket.
    fn is_full(&self) -> bool {
        self.numbers[WIDTH - 1].load(Ordering::Relaxed) != 0
    }

    /// The number in a slot that has a tag.
    #[inline]
    fn number(&self, slot: usize) -> u32 {
        let number = &self.numbers[slot % WIDTH];
        let mut n_looks = 0_u32;
        loop {
            if let Some(number) = number.load(Ordering::Acquire).checked_sub(1) {
                return number;
            }
            n_looks += 1;
            if n_looks < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }

    /// The first entry with one of these tags, which are those of a word as bits, that is the wanted one.
    #[inline]
    fn find(&self, word: usize, mut tags: u64, is_wanted: impl Fn(u32) -> bool) -> Option<u32> {
        while tags != 0 {
            let number = self.number(word * FIRST + tags.trailing_zeros() as usize / 8);
            if is_wanted(number) {
                return Some(number);
            }
            tags &= tags - 1;
        }
        None
    }
}

/// The bytes of a word that are this tag, as bits.
#[inline]
const fn with_tag(word: usize, tags: u64, tag: u64) -> u64 {
    zeros(tags ^ u64::from_le_bytes([tag as u8; 8])) & BYTES[word]
}

/// The entries of a segment.
#[derive(Debug)]
struct Table {
    buckets: Box<[Bucket]>,
    /// About how many there are. Who only looks for an entry must not wait for those who add some.
    n_entries: OwnLine<AtomicUsize>,
    /// How often it can double by the bits that are known of all entries.
    n_bits: u32,
}

/// Of a table with at least so many buckets, one of [`SAMPLE`] entries is counted, and for as many: to count is an atomic
/// operation on a line that all workers write. Which ones are is decided by bits of the hash that nothing else is chosen by.
const LARGE: usize = 256;
const SAMPLE: u64 = 16;
const SAMPLED: u64 = (SAMPLE - 1) << 20;

impl Table {
    fn new(n_buckets: usize) -> Self {
        let buckets = (0..n_buckets).map(|_| Bucket::new()).collect();
        Self { buckets, n_entries: OwnLine::default(), n_bits: BITS }
    }

    /// Counts an entry, and says whether there are enough now for the table to be replaced.
    #[inline]
    fn count(&self, hash: u64) -> bool {
        let counted = match self.buckets.len() {
            LARGE.. if hash & SAMPLED != 0 => return false,
            LARGE.. => SAMPLE as usize,
            _ => 1,
        };
        self.n_entries.fetch_add(counted, Ordering::Relaxed) >= self.most()
    }

    fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<Bucket>() + size_of::<Self>()
    }

    /// It is replaced when it has so many entries.
    const fn most(&self) -> usize {
        self.buckets.len() * WIDTH * 5 / 6
    }

    /// The bucket where an entry with this hash is looked for first.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        self.place(hash).0
    }

    /// The same, with the next bits of its place.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        let place = (hash >> 32) * self.buckets.len() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "these bits are meant")]
        let bits = place as u32 >> (u32::BITS - BITS);
        ((place >> 32) as usize, u64::from(bits))
    }

    /// The bucket after this one.
    #[inline]
    const fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    /// Closes all free slots, and makes a table of twice the size with the same entries.
    fn double(&self, entries: &impl Entries) -> Self {
        let splits = self.n_bits > 0;
        let n_bits = if splits { self.n_bits - 1 } else { BITS };
        let next = Self { n_bits, ..Self::new(self.buckets.len() * 2) };
        let (mut n_entries, mut left) = (0, Vec::new());
        for (bucket, halves) in self.buckets.iter().zip(next.buckets.chunks_exact(2)) {
            let n_first = bucket.close(0);
            let n_slots = if n_first < FIRST { n_first } else { FIRST + bucket.close(1).min(WIDTH - FIRST) };
            // Who sees the number sees the bits.
            let numbers: [u32; WIDTH] =
                std::array::from_fn(|slot| if slot < n_slots { bucket.number(slot) } else { 0 });
            let [first, second] = bucket.tags.each_ref().map(|tags| tags.load(Ordering::Acquire));
            n_entries += n_slots;
            if !splits || second & GUESTS != 0 {
                left.extend_from_slice(&numbers[..n_slots]);
                continue;
            }
            let tags = u128::from(first) | u128::from(second) << 64;
            for (slot, &number) in numbers[..n_slots].iter().enumerate() {
                let place = second >> (PLACES + slot as u32 * BITS) & ((1 << BITS) - 1);
                let (half, rest) = (place >> (BITS - 1), place & ((1 << (BITS - 1)) - 1));
                let tag = (tags >> (8 * slot)) as u8;
                halves[half as usize].push(number, u64::from(tag), rest << 1, false);
            }
        }
        for (at, &number) in left.iter().enumerate() {
            if let Some(&later) = left.get(at + AHEAD) {
                entries.prefetch(later);
            }
            next.put(entries.hash(number), number);
        }
        next.n_entries.store(n_entries, Ordering::Relaxed);
        next
    }

    /// Puts an entry in, which is not there. No other worker has the table.
    fn put(&self, hash: u64, number: u32) {
        let (home, place) = self.place(hash);
        let mut at = home;
        while self.buckets[at].is_full() {
            at = self.after(at);
        }
        self.buckets[at].push(number, tag(hash), place, at != home);
    }
}

/// Where an entry was missing when it was looked for: all slots on its way before this one are taken by others, and stay so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    bucket: usize,
    slot: usize,
    /// The word with the tag of the slot as it was seen.
    tags: u64,
    /// How many buckets its table has: it says nothing of a larger one.
    n_buckets: usize,
}

/// What a look into a table has found.
enum Found {
    /// The number of the entry.
    Entry(u32),
    /// The entry is not there.
    Nothing(Gap),
    /// The entry may be in the next table.
    Elsewhere,
}

/// The index.
#[derive(Debug)]
pub(crate) struct Index {
    segments: Box<[Mutex<Arc<Table>>]>,
    bytes: AtomicUsize,
    /// The bytes of all tables that were replaced.
    replaced: AtomicUsize,
}

/// What a worker holds of an index.
#[derive(Clone, Debug)]
pub(crate) struct View {
    tables: Vec<Arc<Table>>,
}

impl Index {
    /// An empty index with as many segments, a power of two, and so many buckets in the first of them. The last one has
    /// almost twice as many, so that they grow one after the other.
    pub(crate) fn new(n_segments: usize, n_buckets: usize) -> Self {
        let table = |segment| Arc::new(Table::new(n_buckets + segment * n_buckets / n_segments));
        let segments: Box<[_]> = (0..n_segments).map(|segment| Mutex::new(table(segment))).collect();
        let index = Self { segments, bytes: AtomicUsize::new(0), replaced: AtomicUsize::new(0) };
        let bytes: usize = index.view().tables.iter().map(|table| table.bytes()).sum();
        index.bytes.store(bytes, Ordering::Relaxed);
        index
    }

    /// What a worker has to hold.
    pub(crate) fn view(&self) -> View {
        View { tables: self.segments.iter().map(|segment| Arc::clone(&lock(segment))).collect() }
    }

    /// The number of an entry with this hash that is the wanted one, or where it is missing.
    #[inline]
    pub(crate) fn find(
        &self,
        view: &mut View,
        hash: u64,
        entries: &impl Entries,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Result<u32, Gap> {
        loop {
            let table = &view.tables[self.segment_of(hash)];
            match look(table, hash, table.home(hash), &is_wanted) {
                Found::Entry(number) => return Ok(number),
                Found::Nothing(gap) => return Err(gap),
                Found::Elsewhere => self.renew(view, hash, entries),
            }
        }
    }

    /// Adds an entry that was missing, unless the wanted one is there by now: then its number comes back. What the number stands
    /// for must have been written; whoever finds the number sees it.
    #[inline]
    pub(crate) fn insert(
        &self,
        view: &mut View,
        hash: u64,
        (mut gap, number): (Gap, u32),
        entries: &impl Entries,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        loop {
            let table = &view.tables[self.segment_of(hash)];
            if gap.n_buckets != table.buckets.len() {
                match self.find(view, hash, entries, &is_wanted) {
                    Ok(found) => return Some(found),
                    Err(next) => gap = next,
                }
                continue;
            }
            if take(table, gap, hash, number) {
                if table.count(hash) {
                    self.renew(view, hash, entries);
                }
                return None;
            }
            // Somebody was faster, with this entry or another one, or the table is replaced.
            match look(table, hash, gap.bucket, &is_wanted) {
                Found::Entry(found) => return Some(found),
                Found::Nothing(next) => gap = next,
                Found::Elsewhere => self.renew(view, hash, entries),
            }
        }
    }

    /// The number of the first entry that may have this hash.
    #[inline]
    pub(crate) fn candidate(&self, view: &View, hash: u64) -> Option<u32> {
        let table = &view.tables[self.segment_of(hash)];
        let bucket = &table.buckets[table.home(hash)];
        let fits = |word: usize| with_tag(word, bucket.tags[word].load(Ordering::Relaxed), tag(hash));
        let slot = match (fits(0), fits(1)) {
            (0, 0) => return None,
            (0, fits) => FIRST + fits.trailing_zeros() as usize / 8,
            (fits, _) => fits.trailing_zeros() as usize / 8,
        };
        bucket.numbers[slot % WIDTH].load(Ordering::Relaxed).checked_sub(1)
    }

    /// Has the bucket for this hash brought close to the processor, since it is needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, view: &View, hash: u64) {
        let table = &view.tables[self.segment_of(hash)];
        prefetch(&table.buckets[table.home(hash)]);
    }

    /// The bytes that it takes. Of the tables that were replaced a quarter is counted: that much of them, as was measured, fits
    /// nothing that is needed after them, and stays with the process.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed) + self.replaced.load(Ordering::Relaxed) / 4
    }

    /// The lowest bits choose the segment, the upper half the bucket.
    #[inline]
    fn segment_of(&self, hash: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "these bits are meant")]
        let low = hash as u32 as usize;
        low & (self.segments.len() - 1)
    }

    /// Takes the next table of a segment. It is made here where no other worker has made it or is about to: then that one is
    /// waited for.
    #[cold]
    fn renew(&self, view: &mut View, hash: u64, entries: &impl Entries) {
        let segment = self.segment_of(hash);
        let mut current = lock(&self.segments[segment]);
        let held = &mut view.tables[segment];
        if Arc::ptr_eq(held, &current) {
            let next = held.double(entries);
            self.bytes.fetch_add(next.bytes(), Ordering::Relaxed);
            self.bytes.fetch_sub(held.bytes(), Ordering::Relaxed);
            self.replaced.fetch_add(held.bytes(), Ordering::Relaxed);
            *current = Arc::new(next);
        }
        *held = Arc::clone(&current);
    }
}

/// A panic of another worker leaves no table half made: they are handed out when they are complete.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tag of an entry, of bits that choose neither the segment nor the bucket: from 1 to 254.
#[inline]
const fn tag(hash: u64) -> u64 {
    (((hash >> 24 & 0xff) * 254) >> 8) + 1
}

/// Looks for an entry from a bucket on its way on. A way has no free slots before its last entry: they are filled one after the
/// other, never emptied, and closed only where they are free.
#[inline]
fn look(table: &Table, hash: u64, from: usize, is_wanted: &impl Fn(u32) -> bool) -> Found {
    let (tag, n_buckets) = (tag(hash), table.buckets.len());
    let mut at = from;
    for _ in 0..n_buckets {
        let bucket = &table.buckets[at];
        for (word, tags) in bucket.tags.iter().enumerate() {
            let tags = tags.load(Ordering::Acquire);
            if let Some(number) = bucket.find(word, with_tag(word, tags, tag), is_wanted) {
                return Found::Entry(number);
            }
            let free = with_tag(word, tags, 0);
            if free != 0 {
                let slot = word * FIRST + free.trailing_zeros() as usize / 8;
                return Found::Nothing(Gap { bucket: at, slot, tags, n_buckets });
            }
            if with_tag(word, tags, CLOSED) != 0 {
                return Found::Elsewhere;
            }
        }
        at = table.after(at);
    }
    Found::Elsewhere
}

/// Puts an entry into a slot that was seen to be free; false where its word has changed since.
#[inline]
fn take(table: &Table, gap: Gap, hash: u64, number: u32) -> bool {
    let (home, place) = table.place(hash);
    let bucket = &table.buckets[gap.bucket];
    let (word, at) = (gap.slot / FIRST, gap.slot % FIRST);
    let bits = Bucket::bits(gap.slot, place, gap.bucket != home);
    let new = gap.tags | tag(hash) << (8 * at) | if word == 1 { bits } else { 0 };
    if bucket.tags[word].compare_exchange(gap.tags, new, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return false;
    }
    if word == 0 && bits != 0 {
        bucket.tags[1].fetch_or(bits, Ordering::AcqRel);
    }
    bucket.numbers[gap.slot % WIDTH].store(number + 1, Ordering::Release);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries whose hashes are made of their numbers.
    struct Made<F>(F);

    impl<F: Fn(u32) -> u64> Entries for Made<F> {
        fn hash(&self, number: u32) -> u64 {
            (self.0)(number)
        }

        fn prefetch(&self, _: u32) {}
    }

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let index = Index::new(4, 1);
        let mut view = index.view();
        // Few different hashes, so that buckets are shared by many.
        let hash = |number: u32| u64::from(number % 5000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entries = &Made(hash);
        for number in 0..20_000 {
            let is_wanted = |found| found == number;
            let gap =
                index.find(&mut view, hash(number), entries, is_wanted).expect_err("it was not put in yet");
            assert_eq!(index.insert(&mut view, hash(number), (gap, number), entries, is_wanted), None);
        }
        for number in 0..20_000 {
            let is_wanted = |found| found == number;
            assert_eq!(index.find(&mut view, hash(number), entries, is_wanted).ok(), Some(number));
            let home = view.tables[index.segment_of(hash(number))].home(hash(number));
            let n_buckets = view.tables[index.segment_of(hash(number))].buckets.len();
            // What was seen as a gap may have been filled meanwhile, in this table or in a smaller one.
            for gap in [0, n_buckets].map(|n_buckets| Gap { bucket: home, slot: 0, tags: 0, n_buckets }) {
                let found = index.insert(&mut view, hash(number), (gap, u32::MAX - 1), entries, is_wanted);
                assert_eq!(found, Some(number));
            }
            assert!(index.find(&mut view, hash(number), entries, |_| false).is_err());
            assert!(index.candidate(&view, hash(number)).is_some() || number % 5000 != number);
        }
        let tables: usize = index.view().tables.iter().map(|table| table.bytes()).sum();
        assert_eq!(index.bytes.load(Ordering::Relaxed), tables);
    }

    /// Several workers put the same keys in, in different orders, while segments that begin with one bucket grow. Each key must
    /// get one number.
    #[test]
    fn workers_who_bring_the_same_agree_on_its_number() {
        const KEYS: u32 = 30_000;
        const WORKERS: u32 = 4;
        for round in 0..4_u64 {
            let index = Index::new(1 << round, 1);
            // The key that each number stands for.
            let keys: Vec<AtomicU32> = (0..KEYS * WORKERS).map(|_| AtomicU32::new(u32::MAX)).collect();
            let hash = |key: u32| u64::from(key / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15 + (round << 17));
            let work = |worker: u32| {
                let mut view = index.view();
                let entries = &Made(|number: u32| hash(keys[number as usize].load(Ordering::Relaxed)));
                let mut number = worker * KEYS;
                let mut given = Vec::new();
                for step in 0..KEYS {
                    let key = if worker.is_multiple_of(2) { step } else { (step * 7919 + worker) % KEYS };
                    let is_wanted = |found: u32| keys[found as usize].load(Ordering::Relaxed) == key;
                    let found = index.find(&mut view, hash(key), entries, is_wanted).map_or_else(
                        |gap| {
                            keys[number as usize].store(key, Ordering::Relaxed);
                            index.insert(&mut view, hash(key), (gap, number), entries, is_wanted)
                        },
                        Some,
                    );
                    given.push((key, found.unwrap_or(number)));
                    number += u32::from(found.is_none());
                }
                given
            };
            let given: Vec<Vec<(u32, u32)>> = std::thread::scope(|scope| {
                let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || work(worker))).collect();
                workers.into_iter().map(|worker| worker.join().unwrap()).collect()
            });
            let mut numbers = vec![u32::MAX; KEYS as usize];
            for (key, number) in given.into_iter().flatten() {
                let known = &mut numbers[key as usize];
                assert!(*known == u32::MAX || *known == number, "key {key} has {known} and {number}");
                *known = number;
            }
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), KEYS as usize, "two keys share a number");
        }
    }
}
