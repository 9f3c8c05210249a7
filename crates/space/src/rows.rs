//! Vectors of small numbers, packed.

use pdnet_base::prefetch;

/// How many rows make a block of memory. Blocks never move, so that a growing table needs no second copy of itself.
const BLOCK: usize = 1 << 14;

/// How many bytes each number of a row takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    widths: Vec<u8>,
    /// Where each number begins, and the bits that it has.
    columns: Vec<(u32, u32)>,
    n_bytes: usize,
}

/// A number is read as four bytes of which some belong to the next one, so that there are some behind the last.
const PADDING: usize = 3;

impl Format {
    pub(crate) fn new(widths: Vec<u8>) -> Self {
        let mut n_bytes = 0;
        let columns = widths.iter().map(|&width| {
            let first = n_bytes;
            n_bytes += u32::from(width);
            (first, u32::MAX >> (32 - 8 * u32::from(width.clamp(1, 4))))
        });
        let columns = columns.collect();
        Self { widths, columns, n_bytes: n_bytes as usize }
    }
}

/// The bytes that numbers below `n` need.
pub(crate) const fn width(n: usize) -> u8 {
    match n {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        0x1_0001..=0x100_0000 => 3,
        _ => 4,
    }
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// Its place among the formats.
    format: usize,
    bytes: Vec<u8>,
}

/// Rows of numbers, each with as many bytes as it needed when its block was begun, and numbered from 0 on. A format has at
/// least as many numbers, and as many bytes for each, as those before it: numbers that a row does not have are 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    formats: Vec<Format>,
    blocks: Vec<Block>,
    n_rows: usize,
}

impl Rows {
    pub(crate) const fn len(&self) -> usize {
        self.n_rows
    }

    /// How many numbers the rows to come have.
    pub(crate) fn n_numbers(&self) -> usize {
        self.formats.last().map_or(0, |format| format.widths.len())
    }

    /// Whether the rows to come have room for the number at this position.
    #[inline]
    pub(crate) fn has_room(&self, position: usize, number: u32) -> bool {
        let width = self.formats.last().and_then(|format| format.widths.get(position).copied());
        width.is_some_and(|width| width >= 4 || number >> (8 * u32::from(width)) == 0)
    }

    /// Sets the format of rows to come. Only the rows of the block that is not full are written anew.
    pub(crate) fn set_format(&mut self, format: Format) {
        let place = self.formats.len();
        if let Some(block) = self.blocks.last_mut()
            && !self.n_rows.is_multiple_of(BLOCK)
        {
            let before = &self.formats[block.format];
            let n_rows = (self.n_rows - 1) % BLOCK + 1;
            let mut bytes = Vec::with_capacity(n_rows * format.n_bytes + PADDING);
            for row in 0..n_rows {
                pack(&format, numbers(before, &block.bytes, row), &mut bytes);
            }
            *block = Block { format: place, bytes };
        }
        self.formats.push(format);
    }

    /// The numbers of a row.
    #[inline]
    pub(crate) fn get(&self, row: u32) -> impl ExactSizeIterator<Item = u32> + Clone + use<'_> {
        let block = &self.blocks[row as usize / BLOCK];
        numbers(&self.formats[block.format], &block.bytes, row as usize % BLOCK)
    }

    /// Whether a row has these numbers, and zeros behind them. The bytes are those that the numbers have in rows to come.
    #[inline]
    pub(crate) fn is(&self, row: u32, wanted: &[u32], packed: &[u8]) -> bool {
        let block = &self.blocks[row as usize / BLOCK];
        if block.format + 1 == self.formats.len() {
            let n_bytes = packed.len() - PADDING;
            let first = row as usize % BLOCK * n_bytes;
            return is_same(&block.bytes[first..first + n_bytes], &packed[..n_bytes]);
        }
        let mut numbers = self.get(row);
        wanted.iter().all(|&wanted| numbers.next() == Some(wanted)) && numbers.all(|number| number == 0)
    }

    /// Has a row brought close to the processor, since it is needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, row: u32) {
        let block = &self.blocks[row as usize / BLOCK];
        let first = row as usize % BLOCK * self.formats[block.format].n_bytes;
        if let Some(byte) = block.bytes.get(first) {
            prefetch(byte);
        }
    }

    /// Makes the bytes of a row to come, with some behind them. The numbers must fit into the format.
    #[inline]
    pub(crate) fn pack(&self, row: &[u32], packed: &mut Vec<u8>) {
        let Some(format) = self.formats.last() else { return };
        if packed.len() != format.n_bytes + PADDING {
            packed.resize(format.n_bytes + PADDING, 0);
        }
        // Each number is written with four bytes, of which the next one overwrites those that it does not need.
        for (&(first, _), number) in format.columns.iter().zip(row) {
            packed[first as usize..first as usize + 4].copy_from_slice(&number.to_le_bytes());
        }
        if let Some(&(end, _)) = format.columns.get(row.len()) {
            packed[end as usize..].fill(0);
        }
    }

    /// Adds a row, by its bytes.
    pub(crate) fn push(&mut self, packed: &[u8]) {
        let Some(format) = self.formats.last() else { return };
        if self.n_rows.is_multiple_of(BLOCK) {
            // The first block grows with the number of rows: most nets in tests are small.
            let capacity = if self.n_rows == 0 { 0 } else { BLOCK * format.n_bytes + PADDING };
            self.blocks.push(Block { format: self.formats.len() - 1, bytes: Vec::with_capacity(capacity) });
        }
        if let Some(Block { bytes, .. }) = self.blocks.last_mut() {
            bytes.truncate(bytes.len().saturating_sub(PADDING));
            bytes.extend_from_slice(packed);
        }
        self.n_rows += 1;
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes.capacity() + size_of::<Block>()).sum()
    }
}

/// Whether bytes of equal number are the same: rows are short, and to call a function for that costs more than to do it.
#[inline]
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let (lefts, left) = left.as_chunks::<8>();
    let (rights, right) = right.as_chunks::<8>();
    lefts.iter().zip(rights).all(|(left, right)| u64::from_le_bytes(*left) == u64::from_le_bytes(*right))
        && left.iter().zip(right).all(|(left, right)| left == right)
}

/// Appends the bytes of a row.
fn pack(format: &Format, mut row: impl Iterator<Item = u32>, bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len().saturating_sub(PADDING));
    for &width in &format.widths {
        let number = row.next().unwrap_or(0).to_le_bytes();
        bytes.extend_from_slice(&number[..usize::from(width)]);
    }
    bytes.extend_from_slice(&[0; PADDING]);
}

/// The numbers of a row.
#[inline]
fn numbers<'a>(
    format: &'a Format,
    bytes: &'a [u8],
    row: usize,
) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
    let bytes = &bytes[row * format.n_bytes..][..format.n_bytes + PADDING];
    format.columns.iter().map(move |&(first, bits)| {
        let four = bytes[first as usize..].first_chunk().copied().unwrap_or_default();
        u32::from_le_bytes(four) & bits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_numbers_when_the_format_grows() {
        let mut rows = Rows::default();
        rows.set_format(Format::new(vec![1]));
        let mut wanted: Vec<Vec<u32>> = Vec::new();
        let mut packed = Vec::new();
        for at in 0..3 * BLOCK as u32 {
            // New numbers and columns come in the middle of a block, and exactly between two.
            let row = match at as usize / (BLOCK / 2) {
                0 => vec![at % 256],
                1 => vec![at],
                2 | 3 => vec![at, at % 7],
                _ => vec![at << 9, 1, at],
            };
            if row.len() > rows.n_numbers() || !row.iter().enumerate().all(|(at, &n)| rows.has_room(at, n)) {
                let widths = [1, 3, 3, 4][row.len()];
                rows.set_format(Format::new(vec![widths; row.len()]));
            }
            rows.pack(&row, &mut packed);
            rows.push(&packed);
            wanted.push(row);
        }
        assert_eq!(rows.len(), wanted.len());
        for (at, row) in (0..).zip(&wanted) {
            rows.pack(row, &mut packed);
            assert!(rows.is(at, row, &packed), "row {at}");
            let other: Vec<u32> = row.iter().map(|number| number + 1).collect();
            rows.pack(&other, &mut packed);
            assert!(!rows.is(at, &other, &packed), "row {at}");
        }
    }
}
