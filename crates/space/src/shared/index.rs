//! A hash index that several workers use at once.
//!
//! The entries themselves are elsewhere; the index has their numbers, each with the upper half of its hash. A bucket is a line of
//! the cache. An entry is put into the first free slot on the way from its home, by one atomic exchange: two workers who bring
//! the same entry go the same way, and meet.
//!
//! The index is cut into segments by the lower half of the hash, and a segment doubles when it is full, by itself. The worker
//! who finds it full closes its free slots one by one, copies the entries into a larger table, and hands that out. Who meets
//! a closed slot knows that what it looks for can only be in the next table, and waits for it; everybody else goes on.
//!
//! Each worker holds the tables that it has seen ([`View`]). So a table that was replaced is freed when the last worker has
//! met a closed slot in it, which the next new entry of the segment brings about: what is wasted is, for as long
//! as a worker does not come to a segment, the half of that segment.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pdnet_base::OwnLine;

/// How many entries a bucket has.
const WIDTH: usize = 8;

/// A slot without an entry.
const FREE: u64 = 0;

/// A free slot of a table that is replaced. No entry looks like it: the number of an entry is kept as one more than it is.
const CLOSED: u64 = 1 << 32;

#[derive(Debug)]
#[repr(align(64))]
struct Bucket([AtomicU64; WIDTH]);

/// The entries of a segment.
#[derive(Debug)]
struct Table {
    buckets: Box<[Bucket]>,
    /// About how many there are. Who only looks for an entry must not wait for those who add some.
    n_entries: OwnLine<AtomicUsize>,
}

/// Of a table with at least so many buckets, one of [`SAMPLE`] entries is counted, and for as many: to count is an atomic
/// operation on a line that all workers write. Which ones are is decided by bits of the hash that choose neither the segment nor the bucket.
const LARGE: usize = 256;
const SAMPLE: u64 = 16;
const SAMPLED: u64 = (SAMPLE - 1) << 20;

impl Table {
    fn new(n_buckets: usize) -> Self {
        let empty = || Bucket([const { AtomicU64::new(FREE) }; WIDTH]);
        Self { buckets: (0..n_buckets).map(|_| empty()).collect(), n_entries: OwnLine::default() }
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
        (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize
    }

    /// The buckets in the order in which such an entry is looked for in them.
    #[inline]
    fn way(&self, hash: u64) -> impl Iterator<Item = &Bucket> {
        let (before, after) = self.buckets.split_at(self.home(hash));
        after.iter().chain(before)
    }
}

/// What a look into a table has found.
enum Found {
    /// The number of the entry.
    Entry(u32),
    /// The entry is not there.
    Nothing,
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

    /// The number of an entry with this hash that is the wanted one.
    #[inline]
    pub(crate) fn find(&self, view: &mut View, hash: u64, is_wanted: impl Fn(u32) -> bool) -> Option<u32> {
        loop {
            match look(&view.tables[self.segment_of(hash)], hash, &is_wanted) {
                Found::Entry(number) => return Some(number),
                Found::Nothing => return None,
                Found::Elsewhere => self.renew(view, hash),
            }
        }
    }

    /// Adds an entry, unless the wanted one is there already: then its number comes back. What the number stands for must have
    /// been written; whoever finds the number sees it.
    #[inline]
    pub(crate) fn insert(
        &self,
        view: &mut View,
        hash: u64,
        number: u32,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        loop {
            let table = &view.tables[self.segment_of(hash)];
            match put(table, hash, number, &is_wanted) {
                Found::Entry(found) => return Some(found),
                Found::Nothing => {
                    if table.count(hash) {
                        self.renew(view, hash);
                    }
                    return None;
                }
                Found::Elsewhere => self.renew(view, hash),
            }
        }
    }

    /// The number of the first entry that may have this hash.
    #[inline]
    pub(crate) fn candidate(&self, view: &View, hash: u64) -> Option<u32> {
        let table = &view.tables[self.segment_of(hash)];
        let entries = table.buckets[table.home(hash)].0.iter().map(|slot| slot.load(Ordering::Relaxed));
        entries.filter(|&entry| fits(entry, hash)).map(number_of).next()
    }

    /// Looks at the bucket for this hash, so that it is close to the processor when it is needed.
    #[inline]
    pub(crate) fn touch(&self, view: &View, hash: u64) -> u64 {
        let table = &view.tables[self.segment_of(hash)];
        table.buckets[table.home(hash)].0[0].load(Ordering::Relaxed)
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
    fn renew(&self, view: &mut View, hash: u64) {
        let segment = self.segment_of(hash);
        let mut current = lock(&self.segments[segment]);
        let held = &mut view.tables[segment];
        if Arc::ptr_eq(held, &current) {
            let next = Table::new(held.buckets.len() * 2);
            self.bytes.fetch_add(next.bytes(), Ordering::Relaxed);
            let mut n_entries = 0;
            for slot in held.buckets.iter().flat_map(|bucket| &bucket.0) {
                let closed = slot.compare_exchange(FREE, CLOSED, Ordering::AcqRel, Ordering::Acquire);
                if let Err(entry) = closed {
                    copy(&next, entry);
                    n_entries += 1;
                }
            }
            next.n_entries.store(n_entries, Ordering::Relaxed);
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

#[inline]
const fn entry_of(hash: u64, number: u32) -> u64 {
    hash >> 32 << 32 | (number as u64 + 1)
}

#[inline]
const fn number_of(entry: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is the number")]
    let number = entry as u32;
    number - 1
}

/// Whether an entry has this hash, as far as it is kept.
#[inline]
const fn fits(entry: u64, hash: u64) -> bool {
    entry >> 32 == hash >> 32 && entry != FREE && entry != CLOSED
}

#[inline]
fn look(table: &Table, hash: u64, is_wanted: &impl Fn(u32) -> bool) -> Found {
    for bucket in table.way(hash) {
        for slot in &bucket.0 {
            match slot.load(Ordering::Acquire) {
                FREE => return Found::Nothing,
                CLOSED => return Found::Elsewhere,
                entry if fits(entry, hash) && is_wanted(number_of(entry)) => {
                    return Found::Entry(number_of(entry));
                }
                _ => {}
            }
        }
    }
    Found::Elsewhere
}

/// Puts an entry into the first free slot on its way, where the wanted one is not in front of it. [`Found::Nothing`] says
/// that this was done.
#[inline]
fn put(table: &Table, hash: u64, number: u32, is_wanted: &impl Fn(u32) -> bool) -> Found {
    for bucket in table.way(hash) {
        for slot in &bucket.0 {
            let mut entry = slot.load(Ordering::Acquire);
            if entry == FREE {
                let new = entry_of(hash, number);
                match slot.compare_exchange(FREE, new, Ordering::AcqRel, Ordering::Acquire) {
                    Ok(_) => return Found::Nothing,
                    Err(found) => entry = found,
                }
            }
            if entry == CLOSED {
                return Found::Elsewhere;
            }
            if fits(entry, hash) && is_wanted(number_of(entry)) {
                return Found::Entry(number_of(entry));
            }
        }
    }
    Found::Elsewhere
}

/// Puts an entry into a table that no other worker has.
fn copy(table: &Table, entry: u64) {
    let slots = table.way(entry).flat_map(|bucket| &bucket.0);
    if let Some(slot) = slots.into_iter().find(|slot| slot.load(Ordering::Relaxed) == FREE) {
        slot.store(entry, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let index = Index::new(4, 1);
        let mut view = index.view();
        // Few different hashes, so that buckets are shared by many.
        let hash = |number: u32| u64::from(number % 5000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for number in 0..20_000 {
            let is_wanted = |found| found == number;
            assert_eq!(index.find(&mut view, hash(number), is_wanted), None);
            assert_eq!(index.insert(&mut view, hash(number), number, is_wanted), None);
        }
        for number in 0..20_000 {
            let is_wanted = |found| found == number;
            assert_eq!(index.find(&mut view, hash(number), is_wanted), Some(number));
            assert_eq!(index.insert(&mut view, hash(number), u32::MAX - 1, is_wanted), Some(number));
            assert_eq!(index.find(&mut view, hash(number), |_| false), None);
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
                let mut number = worker * KEYS;
                let mut given = Vec::new();
                for step in 0..KEYS {
                    let key = if worker.is_multiple_of(2) { step } else { (step * 7919 + worker) % KEYS };
                    let is_wanted = |found: u32| keys[found as usize].load(Ordering::Relaxed) == key;
                    let found = index.find(&mut view, hash(key), is_wanted).or_else(|| {
                        keys[number as usize].store(key, Ordering::Relaxed);
                        index.insert(&mut view, hash(key), number, is_wanted)
                    });
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
