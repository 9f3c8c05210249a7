//! Vectors of small numbers, packed, that several workers write and read.
//!
//! Each worker writes into a block of its own, so that rows are added without a word to anybody. A row is made known by who has
//! its number: it is written before that.
//!
//! The rows are a queue as well: each is handed out once, in about the order in which they were added.

use std::slice;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pdnet_base::{OwnLine, Slots, prefetch};

use crate::Full;
use crate::parts::hash_numbers;
use crate::shared::index::Entries;

/// How many rows make a block.
pub(crate) const BLOCK: u32 = 1 << 12;

/// So many blocks there can be: numbers of rows are below 2^32 - 1.
const MOST_BLOCKS: u32 = u32::MAX / BLOCK;

/// How many bits each number of a row takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    bits: Vec<u8>,
    n_words: usize,
}

/// The bits that numbers below `end` need.
fn bits(end: usize) -> u8 {
    (0..32).find(|&bits| end <= 1 << bits).unwrap_or(32)
}

impl Format {
    /// The format for numbers below these.
    pub(crate) fn new(ends: impl Iterator<Item = usize>) -> Self {
        // A little room is left, so that the next new number does not need another format.
        let bits: Vec<u8> = ends.map(|end| bits(end + end / 4)).collect();
        let n_bits: usize = bits.iter().map(|&bits| usize::from(bits)).sum();
        Self { bits, n_words: n_bits.div_ceil(32) }
    }

    /// How many numbers a row has.
    pub(crate) const fn n_numbers(&self) -> usize {
        self.bits.len()
    }

    /// Whether a row has room for these numbers. One that had fewer would not tell that zeros were among them.
    pub(crate) fn has_room(&self, numbers: &[u32]) -> bool {
        let is_fitting = |(&number, &bits): (&u32, &u8)| u64::from(number) >> bits == 0;
        numbers.len() <= self.bits.len() && numbers.iter().zip(&self.bits).all(is_fitting)
    }

    /// Makes the words of a row of these numbers; false where it has no room for them.
    #[inline]
    fn pack(&self, numbers: &[u32], packed: &mut Vec<u32>) -> bool {
        if packed.len() != self.n_words {
            packed.resize(self.n_words, 0);
        }
        let (mut words, mut n_bits, mut too_much) = (0_u64, 0, 0);
        let mut room = packed.iter_mut();
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
        for (&bits, &number) in self.bits.iter().zip(numbers) {
            too_much |= u64::from(number) >> bits;
            words |= u64::from(number) << n_bits;
            n_bits += u32::from(bits);
            if n_bits >= 32 {
                room.next().into_iter().for_each(|word| *word = words as u32);
                words >>= 32;
                n_bits -= 32;
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
        for word in room {
            *word = words as u32;
            words = 0;
        }
        too_much == 0 && numbers.len() <= self.bits.len()
    }
}

/// The numbers of a row.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'a> {
    bits: slice::Iter<'a, u8>,
    words: slice::Iter<'a, AtomicU32>,
    /// Bits that were read and not yet shown.
    rest: u64,
    n_rest: u32,
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let bits = u32::from(*self.bits.next()?);
        if self.n_rest < bits {
            let word = self.words.next().map_or(0, |word| word.load(Ordering::Relaxed));
            self.rest |= u64::from(word) << self.n_rest;
            self.n_rest += 32;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 32 bits")]
        let number = (self.rest & ((1 << bits) - 1)) as u32;
        self.rest >>= bits;
        self.n_rest -= bits;
        Some(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.bits.size_hint()
    }
}

impl ExactSizeIterator for Numbers<'_> {}

/// Is set in the number of rows of a block when no more will come.
const COMPLETE: u32 = 1 << 31;

#[derive(Clone, Debug)]
struct Block {
    rows: Packed,
    /// Who has written them, or is writing them.
    worker: usize,
    /// It changes with each row. Who reads rows must not wait for who adds some.
    queue: Arc<OwnLine<Queue>>,
}

/// The rows of a block.
#[derive(Clone, Debug)]
struct Packed {
    format: Arc<Format>,
    /// Those of the rows, and behind them the mark of each: who looks for a row does not need the marks.
    words: Arc<[AtomicU32]>,
}

/// What of a block waits.
#[derive(Debug, Default)]
struct Queue {
    /// How many rows were added, and whether that is all.
    n_rows: AtomicU32,
    /// How many rows were handed out.
    n_taken: AtomicU32,
}

impl Packed {
    fn new(format: Arc<Format>) -> Self {
        let n_words = BLOCK as usize * (format.n_words + 1);
        Self { format, words: (0..n_words).map(|_| AtomicU32::new(0)).collect() }
    }

    /// How many words a row takes, without its mark.
    #[inline]
    fn stride(&self) -> usize {
        self.words.len() / BLOCK as usize - 1
    }

    #[inline]
    fn row(&self, row: u32) -> &[AtomicU32] {
        let stride = self.stride();
        &self.words[row as usize * stride..][..stride]
    }

    #[inline]
    fn mark(&self, row: u32) -> &AtomicU32 {
        &self.words[BLOCK as usize * self.stride() + row as usize]
    }

    #[inline]
    fn prefetch(&self, row: u32) {
        self.words.get(row as usize * self.stride()).into_iter().for_each(prefetch);
    }

    #[inline]
    fn numbers(&self, row: u32) -> Numbers<'_> {
        Numbers { bits: self.format.bits.iter(), words: self.row(row).iter(), rest: 0, n_rest: 0 }
    }
}

/// Rows of numbers, each with a mark.
#[derive(Debug)]
pub(crate) struct Rows {
    blocks: Slots<Block>,
    n_blocks: AtomicU32,
    /// All blocks before it are complete and handed out.
    first: AtomicU32,
    /// The format of blocks to come. Each has at least as many numbers and as many bits for each as those before it.
    format: Mutex<Arc<Format>>,
    bytes: AtomicUsize,
}

/// Where a worker writes.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    /// The number of its worker.
    worker: usize,
    /// Its block, with the number of the first row there.
    block: Option<(u32, Block)>,
    n_rows: u32,
    /// The format of its block.
    format: Arc<Format>,
    /// The words that the row at hand has there.
    packed: Vec<u32>,
    /// Whether there is room for it.
    is_fitting: bool,
    /// The rows of the first blocks, which are found sooner here than where all workers look for them.
    known: Vec<Packed>,
}

impl Rows {
    pub(crate) fn new() -> Self {
        Self {
            blocks: Slots::new(),
            n_blocks: AtomicU32::new(0),
            first: AtomicU32::new(0),
            format: Mutex::default(),
            bytes: AtomicUsize::new(0),
        }
    }

    /// The rows of the block that a row is in.
    fn packed(&self, row: u32) -> Option<&Packed> {
        self.blocks.get(row / BLOCK).map(|block| &block.rows)
    }

    /// The numbers of a row.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> Numbers<'_> {
        let nothing = Numbers { bits: [].iter(), words: [].iter(), rest: 0, n_rest: 0 };
        self.packed(row).map_or(nothing, |rows| rows.numbers(row % BLOCK))
    }

    /// Whether a row has these numbers, and zeros behind them. They are at hand in the writer.
    #[inline]
    pub(crate) fn is(&self, row: u32, wanted: &[u32], writer: &Writer) -> bool {
        let known = writer.known.get((row / BLOCK) as usize);
        let Some(rows) = known.or_else(|| self.packed(row)) else { return false };
        // Most rows were written in the same format.
        if Arc::ptr_eq(&rows.format, &writer.format) {
            let words = rows.row(row % BLOCK).iter().zip(&writer.packed);
            return writer.is_fitting
                && words.fold(0, |all, (word, wanted)| all | (word.load(Ordering::Relaxed) ^ wanted)) == 0;
        }
        let mut wanted = wanted.iter();
        rows.numbers(row % BLOCK).all(|number| wanted.next().copied().unwrap_or(0) == number)
            && wanted.all(|&number| number == 0)
    }

    /// The mark of a row.
    pub(crate) fn mark(&self, row: u32) -> u32 {
        self.packed(row).map_or(0, |rows| rows.mark(row % BLOCK).load(Ordering::Relaxed))
    }

    /// Hands out rows that follow each other, at most so many and at least one, and none a second time. Nothing where all that were added before
    /// the call were handed out.
    ///
    /// A worker gets rows that it has written itself, as long as there are some: what it finds from there is close to what it has found last,
    /// and seldom what another one is about to find.
    pub(crate) fn take(&self, most: u32, worker: usize) -> Option<std::ops::Range<u32>> {
        self.take_of(most, |block| block.worker == worker).or_else(|| self.take_of(most, |_| true))
    }

    /// The same of those blocks that are wanted.
    fn take_of(&self, most: u32, is_wanted: impl Fn(&Block) -> bool) -> Option<std::ops::Range<u32>> {
        let n_blocks = self.n_blocks.load(Ordering::Acquire);
        let mut at = self.first.load(Ordering::Relaxed);
        let mut is_first = true;
        while at < n_blocks {
            if let Some(block) = self.blocks.get(at) {
                let n_rows = block.queue.n_rows.load(Ordering::Acquire);
                let taken = block.queue.n_taken.load(Ordering::Relaxed);
                let has_some = taken < n_rows & !COMPLETE;
                if has_some && is_wanted(block) {
                    // Where there are few, others shall have some of them.
                    let n_left = (n_rows & !COMPLETE) - taken;
                    let end = taken + n_left.div_ceil(2).min(most);
                    let exchanged = block.queue.n_taken.compare_exchange(
                        taken,
                        end,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    if exchanged.is_ok() {
                        return Some(at * BLOCK + taken..at * BLOCK + end);
                    }
                    // Another worker was faster; there may be more.
                    continue;
                }
                is_first &= !has_some && n_rows & COMPLETE != 0;
            } else {
                // Its worker is about to make it.
                is_first = false;
            }
            at += 1;
            if is_first {
                self.first.fetch_max(at, Ordering::Relaxed);
            }
        }
        None
    }

    /// Whether a row was not handed out yet, as far as can be seen.
    pub(crate) fn has_more(&self) -> bool {
        let blocks = self.first.load(Ordering::Relaxed)..self.n_blocks.load(Ordering::Acquire);
        blocks.filter_map(|at| self.blocks.get(at)).any(|block| {
            block.queue.n_taken.load(Ordering::Relaxed)
                < block.queue.n_rows.load(Ordering::Acquire) & !COMPLETE
        })
    }

    /// Sets the format of blocks to come. No block was begun.
    pub(crate) fn set_format(&self, format: Format) {
        *self.format.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(format);
    }

    /// For each block how many rows it has, and how many of them were handed out.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.n_blocks.load(Ordering::Acquire)).map(|at| {
            self.blocks.get(at).map_or((0, 0), |block| {
                let n_taken = block.queue.n_taken.load(Ordering::Relaxed);
                (block.queue.n_rows.load(Ordering::Acquire) & !COMPLETE, n_taken)
            })
        })
    }

    /// Says how many rows of a block were handed out.
    pub(crate) fn set_taken(&self, block: u32, n_taken: u32) {
        if let Some(block) = self.blocks.get(block) {
            let n_rows = block.queue.n_rows.load(Ordering::Acquire) & !COMPLETE;
            block.queue.n_taken.store(n_taken.min(n_rows), Ordering::Relaxed);
        }
    }

    /// The bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.bytes() + self.bytes.load(Ordering::Relaxed)
    }

    /// The format of blocks to come, with room for these numbers. What has to have room is asked only where there is none.
    fn format(&self, numbers: &[u32], ends: impl FnOnce(usize) -> Format) -> Arc<Format> {
        let mut format = self.format.lock().unwrap_or_else(PoisonError::into_inner);
        if !format.has_room(numbers) {
            *format = Arc::new(ends(format.n_numbers().max(numbers.len())));
        }
        Arc::clone(&format)
    }
}

impl Entries for Rows {
    fn hash(&self, number: u32) -> u64 {
        hash_numbers(self.get(number))
    }

    fn prefetch(&self, number: u32) {
        self.packed(number).into_iter().for_each(|rows| rows.prefetch(number % BLOCK));
    }
}

impl Writer {
    /// One for the worker of this number.
    pub(crate) fn new(worker: usize) -> Self {
        Self { worker, ..Self::default() }
    }

    /// Makes the rows known that there are, so that they are found soon.
    #[inline]
    pub(crate) fn learn(&mut self, rows: &Rows) {
        if (self.known.len() as u32) < rows.n_blocks.load(Ordering::Relaxed) {
            // The worker of a block may be about to make it: that one is for the next time.
            while let Some(block) = rows.blocks.get(self.known.len() as u32) {
                self.known.push(block.rows.clone());
            }
        }
    }

    /// Has a row brought close to the processor, if it is known, since it is needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        if let Some(rows) = self.known.get((row / BLOCK) as usize) {
            rows.prefetch(row % BLOCK);
        }
    }

    /// Takes the numbers of a row at hand, to be looked for and maybe written.
    #[inline]
    pub(crate) fn hold(&mut self, numbers: &[u32]) {
        self.is_fitting = self.format.pack(numbers, &mut self.packed);
    }

    /// Writes the row at hand, which has these numbers and which nobody sees yet, and returns its number. Another one that is
    /// written before it is added takes its place. `widen` makes a format with at least so many numbers, for all that there are.
    #[inline]
    pub(crate) fn write(
        &mut self,
        rows: &Rows,
        numbers: &[u32],
        mark: u32,
        widen: impl FnOnce(usize) -> Format,
    ) -> Result<u32, Full> {
        if self.block.is_none() || self.n_rows == BLOCK || !self.is_fitting {
            self.begin(rows, rows.format(numbers, widen))?;
            self.hold(numbers);
        }
        let Some((first, Block { rows, .. })) = &self.block else { return Err(Full) };
        let words = rows.row(self.n_rows).iter().zip(&self.packed);
        words.for_each(|(room, &word)| room.store(word, Ordering::Relaxed));
        rows.mark(self.n_rows).store(mark, Ordering::Relaxed);
        Ok(first + self.n_rows)
    }

    /// Adds the row that was written last.
    #[inline]
    pub(crate) fn add(&mut self) {
        self.n_rows += 1;
        if let Some((_, block)) = &self.block {
            block.queue.n_rows.store(self.n_rows, Ordering::Release);
        }
    }

    /// Begins a block. Rows that the last one still had room for are never written: with each format that is less than a block
    /// for each worker.
    #[cold]
    fn begin(&mut self, rows: &Rows, format: Arc<Format>) -> Result<(), Full> {
        self.finish();
        let next = rows.n_blocks.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |n_blocks| {
            (n_blocks < MOST_BLOCKS).then_some(n_blocks + 1)
        });
        let next = next.map_err(|_| Full)?;
        self.format = Arc::clone(&format);
        let block = Block { rows: Packed::new(format), worker: self.worker, queue: Arc::default() };
        let bytes = size_of_val(&*block.rows.words) + size_of::<OwnLine<Queue>>();
        rows.bytes.fetch_add(bytes, Ordering::Relaxed);
        let block = rows.blocks.set(next, block).clone();
        (self.block, self.n_rows) = (Some((next * BLOCK, block)), 0);
        Ok(())
    }

    /// Begins the block of this number, in a format for all that there is, and leaves those before it empty that were not begun; false where
    /// it was begun before. Nobody else writes meanwhile.
    pub(crate) fn begin_at(
        &mut self,
        rows: &Rows,
        block: u32,
        widen: impl FnOnce(usize) -> Format,
    ) -> Result<bool, Full> {
        while rows.n_blocks.load(Ordering::Acquire) < block {
            self.begin(rows, Arc::default())?;
        }
        if rows.n_blocks.load(Ordering::Acquire) > block {
            return Ok(false);
        }
        let format = {
            let mut format = rows.format.lock().unwrap_or_else(PoisonError::into_inner);
            let wide = widen(format.n_numbers());
            if *wide.bits != *format.bits {
                *format = Arc::new(wide);
            }
            Arc::clone(&format)
        };
        self.begin(rows, format)?;
        Ok(true)
    }

    /// Says that no more rows will come into its block.
    pub(crate) fn finish(&mut self) {
        if let Some((_, block)) = self.block.take() {
            block.queue.n_rows.store(self.n_rows | COMPLETE, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widen(n_numbers: usize, largest: u32) -> Format {
        Format::new(std::iter::repeat_n(largest as usize + 1, n_numbers))
    }

    #[test]
    fn a_row_of_zeros_has_them_all() {
        let (rows, mut writer) = (Rows::new(), Writer::default());
        for numbers in [&[0, 0, 0][..], &[0; 5], &[0, 1]] {
            writer.hold(numbers);
            let row = writer.write(&rows, numbers, 0, |n_numbers| widen(n_numbers, 1)).unwrap();
            writer.add();
            let found: Vec<u32> = rows.get(row).collect();
            assert!(found.len() >= numbers.len() && found.starts_with(numbers), "{found:?}");
        }
    }

    /// Two writers add rows of growing numbers and lengths while a third worker takes them.
    #[test]
    fn rows_keep_their_numbers_and_are_handed_out_once() {
        const ROWS: u32 = 20_000;
        let rows = Rows::new();
        let row = |at: u32| match at / 4000 {
            0 => vec![at % 200],
            1 => vec![at],
            2 | 3 => vec![at, at % 7],
            _ => vec![at << 9, 1, u32::MAX - at],
        };
        let write = |worker: u32| {
            let mut writer = Writer::new(worker as usize);
            let add = |at: u32| {
                let numbers = row(at);
                let largest = numbers.iter().copied().max().unwrap_or(0);
                // What is written and not added leaves no trace.
                writer.hold(&[1]);
                writer.write(&rows, &[1], 5, |n_numbers| widen(n_numbers, largest)).unwrap();
                writer.hold(&numbers);
                let number =
                    writer.write(&rows, &numbers, at ^ worker, |n_numbers| widen(n_numbers, largest));
                writer.add();
                number.unwrap()
            };
            let numbers = (0..ROWS).map(add).collect::<Vec<u32>>();
            writer.finish();
            numbers
        };
        let take = || {
            let mut taken: Vec<u32> = Vec::new();
            while taken.len() < 2 * ROWS as usize {
                // In turns one that has rows of its own, and one that has none.
                taken.extend(rows.take(50, taken.len() / 50 % 3).into_iter().flatten());
            }
            taken
        };
        let (written, mut taken) = std::thread::scope(|scope| {
            let taker = scope.spawn(take);
            let writers = [1, 2].map(|worker| scope.spawn(move || (worker, write(worker))));
            (writers.map(|writer| writer.join().unwrap()), taker.join().unwrap())
        });
        assert_eq!(rows.take(1, 0), None);
        let mut all: Vec<u32> = written.iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect();
        all.sort_unstable();
        taken.sort_unstable();
        assert_eq!(all, taken);
        // Some rows have the format of this one, others do not.
        let mut reader = Writer { format: Arc::clone(&rows.format.lock().unwrap()), ..Writer::default() };
        for (worker, numbers) in written {
            for (at, number) in (0..).zip(numbers) {
                let mut is = |numbers: &[u32]| {
                    reader.hold(numbers);
                    rows.is(number, numbers, &reader)
                };
                assert!(is(&row(at)), "row {at}");
                assert_eq!(rows.mark(number), at ^ worker);
                let other: Vec<u32> = row(at).iter().map(|number| number ^ 1).collect();
                assert!(!is(&other), "row {at}");
            }
        }
    }
}
