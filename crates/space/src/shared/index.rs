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

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdnet_base::{OwnLine, prefetch};

use crate::index::zeros;

/// How many entries a bucket has, and how many of them have their tags in the first word.
const WIDTH: usize = 10;
const FIRST: usize = 8;

/// The tags of a bucket's slots are in two words: in these bytes.
const BYTES: [u64; 2] = [u64::MAX, u16::MAX as u64];

/// As many bits of the place of an entry are known behind those that its bucket stands for. By these the entries of a table go to
/// one that is twice as large, so that the hashes are seldom made of the entries themselves, which lie anywhere in memory.
const BITS: u32 = 7;

/// So many of them count for a first table: the tables that are made by the hashes are small ones, or large ones that were small
/// long ago.
const FIRST_BITS: u32 = 3;

/// Is set beside these bits where the entry belongs into a bucket before the one that it is in, because that was full.
const GUEST: u8 = 1 << BITS;

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
    tags: AtomicU64,
    last_tags: AtomicU32,
    /// Each is one more than it is, and 0 where there is none yet.
    numbers: [AtomicU32; WIDTH],
    /// The next [`BITS`] bits of the place of each entry, and the flag [`GUEST`]. They are written before the number.
    places: [AtomicU8; WIDTH],
}

impl Bucket {
    const fn new() -> Self {
        Self {
            tags: AtomicU64::new(0),
            last_tags: AtomicU32::new(0),
            numbers: [const { AtomicU32::new(0) }; WIDTH],
            places: [const { AtomicU8::new(0) }; WIDTH],
        }
    }

    /// A word of tags.
    #[inline]
    fn tags(&self, word: usize, order: Ordering) -> u64 {
        if word == 0 { self.tags.load(order) } else { u64::from(self.last_tags.load(order)) }
    }

    /// Gives a word of tags another value, if it has this one.
    #[inline]
    fn exchange_tags(&self, word: usize, before: u64, after: u64) -> bool {
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if word == 0 {
            return self.tags.compare_exchange(before, after, success, failure).is_ok();
        }
        #[expect(clippy::cast_possible_truncation, reason = "the second word has four bytes")]
        let [before, after] = [before as u32, after as u32];
        self.last_tags.compare_exchange(before, after, success, failure).is_ok()
    }

    /// Closes the free slots of a word, and says how many of its slots have entries.
    fn close(&self, word: usize) -> usize {
        loop {
            let tags = self.tags(word, Ordering::Acquire);
            let free = with_tag(word, tags, 0);
            if self.exchange_tags(word, tags, tags | ((free >> 7) * CLOSED)) {
                let no_entry = free | with_tag(word, tags, CLOSED);
                return (no_entry.trailing_zeros() as usize / 8).min([FIRST, WIDTH - FIRST][word]);
            }
        }
    }

    /// Writes an entry into a slot of which the tag is written.
    #[inline]
    fn fill(&self, slot: usize, number: u32, place: u8) {
        self.places[slot % WIDTH].store(place, Ordering::Relaxed);
        self.numbers[slot % WIDTH].store(number + 1, Ordering::Release);
    }

    /// The tags of all slots.
    fn all_tags(&self) -> u128 {
        u128::from(self.tags(0, Ordering::Relaxed)) | u128::from(self.tags(1, Ordering::Relaxed)) << 64
    }

    /// Sets the tags of all slots. No other worker has the bucket.
    #[expect(clippy::cast_possible_truncation, reason = "these bits are meant")]
    fn set_tags(&self, tags: u128) {
        self.tags.store(tags as u64, Ordering::Relaxed);
        self.last_tags.store((tags >> 64) as u32, Ordering::Relaxed);
    }

    /// Adds an entry. No other worker has the bucket, and it is not full.
    fn push(&self, number: u32, tag: u64, place: u8) {
        let n_entries = self.numbers.iter().position(|number| number.load(Ordering::Relaxed) == 0);
        let slot = n_entries.unwrap_or(WIDTH - 1);
        self.set_tags(self.all_tags() | u128::from(tag) << (8 * slot));
        self.fill(slot, number, place);
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
#[derive(Clone, Debug)]
struct Table {
    buckets: Arc<[Bucket]>,
    /// About how many there are. Who only looks for an entry must not wait for those who add some.
    n_entries: Arc<OwnLine<AtomicUsize>>,
    /// How often it can double by the bits that are known of all entries.
    n_bits: u32,
}

/// Of a table with at least so many buckets, one of [`SAMPLE`] entries is counted, and for as many: to count is an atomic
/// operation on a line that all workers write. Which ones are is decided by bits of the hash that nothing else is chosen by.
const LARGE: usize = 256;
const SAMPLE: u64 = 16;
const SAMPLED: u64 = (SAMPLE - 1) << 20;

impl Table {
    fn new(n_buckets: usize, n_bits: u32) -> Self {
        let buckets = (0..n_buckets).map(|_| Bucket::new()).collect();
        Self { buckets, n_entries: Arc::default(), n_bits }
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
        size_of_val(&*self.buckets) + size_of::<OwnLine<AtomicUsize>>()
    }

    /// It is replaced when it has so many entries.
    fn most(&self) -> usize {
        self.buckets.len() * WIDTH * 5 / 6
    }

    /// The bucket where an entry with this hash is looked for first.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        self.place(hash).0
    }

    /// The same, with the next bits of its place.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u8) {
        let place = (hash >> 32) * self.buckets.len() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "these bits are meant")]
        let bits = (place as u32 >> (u32::BITS - BITS)) as u8;
        ((place >> 32) as usize, bits)
    }

    /// The bucket after this one.
    #[inline]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    /// Closes all free slots, and makes a table of twice the size with the same entries.
    fn double(&self, entries: &impl Entries) -> Self {
        let n_bits = self.n_bits.checked_sub(1);
        let next = Self::new(self.buckets.len() * 2, n_bits.unwrap_or(BITS));
        let (mut n_entries, mut left) = (0, Vec::new());
        for (bucket, halves) in self.buckets.iter().zip(next.buckets.chunks_exact(2)) {
            let n_first = bucket.close(0);
            let n_slots = if n_first < FIRST { n_first } else { FIRST + bucket.close(1) };
            let tags = bucket.all_tags();
            n_entries += n_slots;
            // How many entries each half has, and their tags.
            let (mut n_pushed, mut pushed) = ([0; 2], [0_u128; 2]);
            for slot in 0..n_slots {
                // Who sees the number sees the place.
                let number = bucket.number(slot);
                let place = bucket.places[slot % WIDTH].load(Ordering::Relaxed);
                if n_bits.is_none() || place & GUEST != 0 {
                    left.push(number);
                    continue;
                }
                let half = usize::from(place >> (BITS - 1)) & 1;
                let at = n_pushed[half];
                n_pushed[half] += 1;
                pushed[half] |= (tags >> (8 * slot) & 0xff) << (8 * at);
                halves[half].fill(at, number, place << 1 & !GUEST);
            }
            halves.iter().zip(pushed).for_each(|(half, tags)| half.set_tags(tags));
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
        self.buckets[at].push(number, tag(hash), if at == home { place } else { GUEST });
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
    segments: Box<[Mutex<Table>]>,
    bytes: AtomicUsize,
    /// The bytes of all tables that were replaced.
    replaced: AtomicUsize,
}

/// What a worker holds of an index.
#[derive(Clone, Debug)]
pub(crate) struct View {
    tables: Vec<Table>,
}

impl Index {
    /// An empty index with as many segments, a power of two, and so many buckets in the first of them. The last one has
    /// almost twice as many, so that they grow one after the other.
    pub(crate) fn new(n_segments: usize, n_buckets: usize) -> Self {
        let table = |segment| Table::new(n_buckets + segment * n_buckets / n_segments, FIRST_BITS);
        let segments: Box<[_]> = (0..n_segments).map(|segment| Mutex::new(table(segment))).collect();
        let index = Self { segments, bytes: AtomicUsize::new(0), replaced: AtomicUsize::new(0) };
        let bytes: usize = index.view().tables.iter().map(Table::bytes).sum();
        index.bytes.store(bytes, Ordering::Relaxed);
        index
    }

    /// What a worker has to hold.
    pub(crate) fn view(&self) -> View {
        View { tables: self.segments.iter().map(|segment| lock(segment).clone()).collect() }
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
        let fits = |word| with_tag(word, bucket.tags(word, Ordering::Relaxed), tag(hash));
        let slot = match (fits(0), fits(1)) {
            (0, 0) => return None,
            (0, fits) => FIRST + fits.trailing_zeros() as usize / 8,
            (fits, _) => fits.trailing_zeros() as usize / 8,
        };
        // Who sees the number sees the entry.
        bucket.numbers[slot % WIDTH].load(Ordering::Acquire).checked_sub(1)
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
        if Arc::ptr_eq(&held.buckets, &current.buckets) {
            let next = held.double(entries);
            self.bytes.fetch_add(next.bytes(), Ordering::Relaxed);
            self.bytes.fetch_sub(held.bytes(), Ordering::Relaxed);
            self.replaced.fetch_add(held.bytes(), Ordering::Relaxed);
            *current = next;
        }
        held.clone_from(&current);
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
        for word in [0, 1] {
            let tags = bucket.tags(word, Ordering::Acquire);
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
    if !bucket.exchange_tags(word, gap.tags, gap.tags | tag(hash) << (8 * at)) {
        return false;
    }
    bucket.fill(gap.slot, number, if gap.bucket == home { place } else { GUEST });
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
        let tables: usize = index.view().tables.iter().map(Table::bytes).sum();
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
