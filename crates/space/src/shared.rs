//! The visited set of several workers.
//!
//! It is built as [`StateStore`] is, of parts that are stored once and short rows of their numbers. The workers share all of it:
//! rows and parts never move, the index grows by small segments, and nobody holds a lock but who adds a part or replaces a
//! segment.
//!
//! A state is put in so: its worker looks for it; where it is not there, the worker writes the row into its own block and
//! brings the number to the index; where another worker has brought the same state meanwhile, the row is written over by
//! the next one. So a state has one number, and who has the number sees the row.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pdnet_base::{Idx as _, OwnLine};

use crate::parts::{
    Batch, Row, Taker, hash_numbers, make_key, number as number_parts, unpack, without_zeros,
};
use crate::store::{StateStore, States, StoreSize};
use crate::{Compiled, Full, PartStore, State, StateId};

use self::index::{Index, View};
use self::pool::Pool;
use self::rows::{Format, Rows, Writer};

mod index;
mod pool;
mod rows;

/// How many segments the index of the states has.
const SEGMENTS: usize = 256;

/// How many it has where most are small.
const FEW_SEGMENTS: usize = 64;

/// How many buckets a segment has at first.
const BUCKETS: usize = 16;

/// A visited set that several workers fill.
#[derive(Debug)]
pub struct SharedStore {
    chunks: Vec<Pool>,
    threads: Pool,
    rows: Rows,
    index: Index,
    /// How many states each worker has found.
    counts: Vec<OwnLine<AtomicUsize>>,
}

impl SharedStore {
    /// A store for so many workers with the states of another one, which keep their numbers. The marks are those of the states in
    /// their order; the first `n_taken` states are not handed out.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn new(
        store: &StateStore,
        mut marks: impl Iterator<Item = u32>,
        n_taken: usize,
        n_workers: usize,
    ) -> Result<Arc<Self>, Full> {
        let (chunks, threads, states) = store.contents();
        let chunks = chunks.iter().map(|pool| Pool::new(pool.iter())).collect();
        let shared = Arc::new(Self::with(chunks, Pool::new(threads.iter()), n_workers, (SEGMENTS, BUCKETS)));
        // A row that did not fit would begin another block, and have another number than it had. Later states have more threads.
        let known = |position| shared.chunks.get(position).unwrap_or(&shared.threads).len();
        shared.rows.set_format(Format::new((0..store.n_numbers()).map(known)));
        let mut worker = Self::worker(&shared, 0);
        for (number, key) in states.enumerate() {
            worker.key.clear();
            worker.key.extend(key);
            let (id, _) = worker.insert_own_key(marks.next().unwrap_or(0))?;
            debug_assert_eq!(id.index(), number, "numbers stay what they are");
        }
        drop(worker);
        let mut left = u32::try_from(n_taken).map_err(|_| Full)?;
        while left > 0 {
            let Some(taken) = shared.rows.take(left, 0) else { break };
            left -= taken.end - taken.start;
        }
        Ok(shared)
    }

    /// An empty store for states of this net and so many workers.
    #[must_use]
    pub fn empty(compiled: &Compiled, n_workers: usize) -> Arc<Self> {
        let pool = || Pool::new(std::iter::empty());
        // Number 0 is the thread that does not live yet; an empty pool has room for it.
        let threads = Pool::new(std::iter::once(compiled.layout.thread_template.clone()));
        let chunks = (0..compiled.layout.chunks.len()).map(|_| pool()).collect();
        Arc::new(Self::with(chunks, threads, n_workers, (FEW_SEGMENTS, 1)))
    }

    fn with(
        chunks: Vec<Pool>,
        threads: Pool,
        n_workers: usize,
        (n_segments, n_buckets): (usize, usize),
    ) -> Self {
        Self {
            chunks,
            threads,
            rows: Rows::new(),
            index: Index::new(n_segments, n_buckets),
            counts: (0..n_workers).map(|_| OwnLine::default()).collect(),
        }
    }

    /// One of the workers, by number. There is never more than one with the same number.
    #[must_use]
    pub fn worker(store: &Arc<Self>, number: usize) -> StoreWorker {
        StoreWorker {
            store: Arc::clone(store),
            chunks: store.chunks.iter().map(Pool::view).collect(),
            threads: store.threads.view(),
            index: store.index.view(),
            writer: Writer::new(number),
            number,
            key: Vec::new(),
            brought: Batch::default(),
        }
    }

    /// How many states there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Whether there is no state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that it takes, without tables that workers still hold although they were replaced.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.size().total()
    }

    /// What it takes them for.
    #[must_use]
    pub fn size(&self) -> StoreSize {
        let chunks: usize = self.chunks.iter().map(Pool::bytes).sum();
        let parts = chunks + self.threads.bytes();
        StoreSize { rows: self.rows.bytes(), index: self.index.bytes(), parts }
    }

    /// Hands out some states to a worker, none of them twice, in about the order in which they were found, those first that the worker has
    /// put in itself. Nothing where all that were put in before the call were handed out.
    pub fn take(&self, most: u32, worker: usize) -> Option<impl Iterator<Item = StateId> + use<>> {
        let range: Range<u32> = self.rows.take(most, worker)?;
        Some(range.map(|row| StateId::new(row as usize)))
    }

    /// How many numbers make a block: states that follow each other in a block were put in one after the other.
    pub const BLOCK: u32 = rows::BLOCK;

    /// For each block of numbers how many of them are those of states, from its first on, and how many of these were handed out.
    pub fn ends(&self) -> impl Iterator<Item = (u32, u32)> {
        self.rows.ends()
    }

    /// Says how many states of a block were handed out.
    pub fn set_taken(&self, block: u32, n_taken: u32) {
        self.rows.set_taken(block, n_taken);
    }

    /// Whether a state was not handed out yet, as far as can be seen.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.rows.has_more()
    }

    /// The number of the part at a position, for a worker with these views.
    #[inline]
    fn intern(
        &self,
        chunks: &mut [View],
        threads: &mut View,
        position: usize,
        words: &[i64],
    ) -> Result<u32, Full> {
        match self.chunks.get(position) {
            Some(pool) => pool.intern(&mut chunks[position], words),
            None => self.threads.intern(threads, words),
        }
    }

    /// The words of the part at a position.
    #[inline]
    fn words(&self, position: usize, number: u32) -> &[i64] {
        self.chunks.get(position).unwrap_or(&self.threads).get(number)
    }

    /// The mark that a state was put in with.
    #[must_use]
    pub fn mark(&self, id: StateId) -> u32 {
        self.rows.mark(number(id))
    }
}

impl States for SharedStore {
    fn load(&self, id: StateId, state: &mut State) {
        let row = self.rows.get(number(id));
        unpack(row, state, self.chunks.len(), |position, number, room| {
            room.clear();
            room.extend_from_slice(self.words(position, number));
        });
    }
}

impl States for StoreWorker {
    fn load(&self, id: StateId, state: &mut State) {
        self.store.load(id, state);
    }
}

impl PartStore for StoreWorker {
    fn number(&mut self, state: &mut State) -> Result<(), Full> {
        let Self { store, chunks, threads, .. } = self;
        number_parts(state, |position, words| store.intern(chunks, threads, position, words))
    }

    fn words(&self, part: usize, number: u32, room: &mut Vec<i64>) {
        room.clear();
        room.extend_from_slice(self.store.words(part, number));
    }

    #[inline]
    fn word(&self, part: usize, number: u32, at: usize) -> i64 {
        self.store.words(part, number)[at]
    }

    fn load_row(&self, id: StateId, row: &mut Row) {
        row.set(self.store.rows.get(number(id)));
    }

    fn bytes(&self) -> usize {
        self.store.bytes()
    }
}

fn number(id: StateId) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
    let number = id.index() as u32;
    number
}

/// What a worker needs to put states into a shared store.
#[derive(Debug)]
pub struct StoreWorker {
    store: Arc<SharedStore>,
    chunks: Vec<View>,
    threads: View,
    index: View,
    writer: Writer,
    number: usize,
    /// The state that is being put in.
    key: Vec<u32>,
    /// Those that were brought and not yet looked for.
    brought: Batch,
}

impl StoreWorker {
    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Arc<SharedStore> {
        &self.store
    }

    /// The number of a state, and whether it is new: then it gets the mark. See [`StateStore::insert`].
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert(&mut self, state: &State, mark: u32) -> Result<(StateId, bool), Full> {
        self.make_key(state)?;
        self.insert_own_key(mark)
    }

    /// The same for a state of which the numbers are known.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert_row(&mut self, row: &Row, mark: u32) -> Result<(StateId, bool), Full> {
        let n_chunks = self.store.chunks.len();
        self.insert_key(without_zeros(row.numbers(), n_chunks), (row.hash(), None), mark)
    }

    /// Brings a state that is to be put in with others, with its mark where it is new. See [`StateStore::bring`].
    #[inline]
    pub fn bring(&mut self, row: &Row, mark: u32, flag: bool) -> usize {
        self.brought.push(without_zeros(row.numbers(), self.store.chunks.len()), row.hash(), mark, flag)
    }

    /// Puts the states in that were brought. See [`StateStore::insert_brought`].
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn insert_brought(
        &mut self,
        mut found: impl FnMut(StateId, bool, bool) -> ControlFlow<()>,
    ) -> Result<(), Full> {
        let mut brought = std::mem::take(&mut self.brought);
        self.writer.learn(&self.store.rows);
        let result = brought.put_in(self, |id, is_new, _, flag| found(id, is_new, flag));
        self.brought = brought;
        result
    }

    /// Puts states in, each with its mark, that have the first numbers of this block, which was not begun. They count as handed out. False
    /// where one of them is there already, or the block is. Nobody else puts states in meanwhile.
    ///
    /// # Errors
    /// Where there is no room for another number.
    pub fn restore_block<'s>(
        &mut self,
        block: u32,
        states: impl Iterator<Item = (&'s State, u32)> + Clone,
    ) -> Result<bool, Full> {
        // A block has one format, so that all parts have to have their numbers first.
        let mut longest = 0;
        for (state, _) in states.clone() {
            self.make_key(state)?;
            longest = longest.max(self.key.len());
        }
        let Self { store, writer, .. } = self;
        let SharedStore { chunks, threads, rows, .. } = &**store;
        let is_begun = writer.begin_at(rows, block, |n_numbers| {
            let known = |position| chunks.get(position).unwrap_or(threads).len();
            Format::new((0..n_numbers.max(longest)).map(known))
        })?;
        let mut is_right = is_begun;
        let mut next = block * SharedStore::BLOCK;
        for (state, mark) in states {
            if is_right {
                let (id, is_new) = self.insert(state, mark)?;
                is_right = is_new && number(id) == next;
                next += 1;
            }
        }
        self.writer.finish();
        self.store.rows.set_taken(block, SharedStore::BLOCK);
        Ok(is_right)
    }

    fn make_key(&mut self, state: &State) -> Result<(), Full> {
        let Self { store, chunks, threads, key, .. } = self;
        make_key(key, state, store.chunks.len(), |position, words| {
            store.intern(chunks, threads, position, words)
        })
    }

    /// Puts the state in whose key was made.
    fn insert_own_key(&mut self, mark: u32) -> Result<(StateId, bool), Full> {
        let key = std::mem::take(&mut self.key);
        let result = self.insert_key(&key, (hash_numbers(key.iter().copied()), None), mark);
        self.key = key;
        result
    }

    /// Puts a state in. The candidate, a state that may be the same, is looked at before the index.
    fn insert_key(
        &mut self,
        key: &[u32],
        (hash, candidate): (u64, Option<u32>),
        mark: u32,
    ) -> Result<(StateId, bool), Full> {
        let Self { store, index, writer, number, .. } = self;
        let SharedStore { chunks, threads, rows, counts, .. } = &**store;
        writer.hold(key);
        if let Some(row) = candidate
            && rows.is(row, key, writer)
        {
            return Ok((StateId::new(row as usize), false));
        }
        let gap = match store.index.find(index, hash, rows, |row| rows.is(row, key, writer)) {
            Ok(row) => return Ok((StateId::new(row as usize), false)),
            Err(gap) => gap,
        };
        let row = writer.write(rows, key, mark, |n_numbers| {
            let ends = (0..n_numbers).map(|position| {
                let known = chunks.get(position).unwrap_or(threads).len();
                known.max(key.get(position).map_or(0, |&number| number as usize + 1))
            });
            Format::new(ends)
        })?;
        if let Some(row) = store.index.insert(index, hash, (gap, row), rows, |row| rows.is(row, key, writer))
        {
            return Ok((StateId::new(row as usize), false));
        }
        writer.add();
        let count = &counts[*number];
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        Ok((StateId::new(row as usize), true))
    }
}

impl Taker for StoreWorker {
    #[inline]
    fn ask(&self, hash: u64) {
        self.store.index.prefetch(&self.index, hash);
    }

    #[inline]
    fn candidate(&self, hash: u64) -> Option<u32> {
        let row = self.store.index.candidate(&self.index, hash)?;
        self.writer.prefetch(row);
        Some(row)
    }

    #[inline]
    fn take(
        &mut self,
        key: &[u32],
        hash: u64,
        candidate: Option<u32>,
        mark: u32,
    ) -> Result<(StateId, bool), Full> {
        self.insert_key(key, (hash, candidate), mark)
    }
}

impl Drop for StoreWorker {
    fn drop(&mut self) {
        self.writer.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use pdnet_base::Rng;

    use super::*;

    /// Workers put states in that overlap, into a store that begins as small as it can, and take each other's. Every state has
    /// one number, is new once and handed out once, and keeps its parts and its mark.
    #[test]
    fn workers_share_a_store() {
        const WORKERS: usize = 4;
        const STATES: u64 = 12_000;
        let seed = Rng::test_seed(17);
        for round in 0..4_u64 {
            let nothing = || Pool::new(std::iter::empty());
            let chunks = vec![nothing(), nothing()];
            let store = Arc::new(SharedStore::with(chunks, nothing(), WORKERS, (1 << round, 1)));
            // The parts of a state, made of its name.
            let parts = |name: u64| {
                let threads = (0..name % 4).map(move |thread| vec![1, (name >> thread & 0x3f) as i64]);
                [vec![(name / 100) as i64], vec![name as i64 % 100; 3]].into_iter().chain(threads)
            };
            let key = |worker: &mut StoreWorker, name: u64| {
                let StoreWorker { store, chunks, threads, .. } = worker;
                let number = |(position, words): (usize, Vec<i64>)| match store.chunks.get(position) {
                    Some(pool) => pool.intern(&mut chunks[position], &words).unwrap(),
                    None => store.threads.intern(threads, &words).unwrap(),
                };
                parts(name).enumerate().map(number).collect::<Vec<u32>>()
            };
            let work = |number: usize| {
                let mut worker = SharedStore::worker(&store, number);
                let mut rng = Rng::new(seed ^ round << 8 ^ number as u64);
                let (mut given, mut n_new, mut taken) = (Vec::new(), 0, Vec::new());
                for step in 0..2 * STATES {
                    let name = if step % 2 == 0 { rng.next_u64() % STATES } else { step / 2 };
                    worker.key = key(&mut worker, name);
                    let (id, is_new) = worker.insert_own_key(name as u32).unwrap();
                    given.push((name, id));
                    n_new += usize::from(is_new);
                    taken.extend(store.take(3, number).into_iter().flatten());
                }
                (given, n_new, taken)
            };
            let found = std::thread::scope(|scope| {
                let workers = (0..WORKERS).map(|number| scope.spawn(move || work(number)));
                workers
                    .collect::<Vec<_>>()
                    .into_iter()
                    .map(|worker| worker.join().unwrap())
                    .collect::<Vec<_>>()
            });
            let mut taken: Vec<StateId> = store.take(u32::MAX, 0).into_iter().flatten().collect();
            let mut ids: BTreeMap<u64, StateId> = BTreeMap::new();
            let mut n_new = 0;
            for (given, new, own) in found {
                for (name, id) in given {
                    assert_eq!(
                        *ids.entry(name).or_insert(id),
                        id,
                        "seed {seed}: state {name} has two numbers"
                    );
                }
                n_new += new;
                taken.extend(own);
            }
            while let Some(more) = store.take(u32::MAX, 0) {
                taken.extend(more);
            }
            assert_eq!(ids.len() as u64, STATES, "seed {seed}");
            assert_eq!((n_new, store.len()), (ids.len(), ids.len()), "seed {seed}");
            taken.sort_unstable();
            let mut all: Vec<StateId> = ids.values().copied().collect();
            all.sort_unstable();
            assert_eq!(taken, all, "seed {seed}: each is handed out once");
            let mut worker = SharedStore::worker(&store, 0);
            for (&name, &id) in &ids {
                let key = key(&mut worker, name);
                worker.writer.hold(&key);
                assert!(store.rows.is(number(id), &key, &worker.writer), "seed {seed}: state {name}");
                assert_eq!(store.mark(id), name as u32, "seed {seed}: state {name}");
            }
            drop(worker);
        }
    }
}
