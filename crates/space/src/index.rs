//! A hash index of numbers that grows in small pieces.
//!
//! The entries themselves are elsewhere; the index has their numbers and, of each, eight bits of its hash. A bucket is a
//! line of the cache, so that to look for what is not there costs one miss, and to find what is there costs that and
//! the look at the entry.
//!
//! The index is cut into segments by the hash, and a segment doubles when it is full. Segments are of different sizes
//! from the beginning, so that they grow one after the other: there is never a long stop, and the memory is a
//! fixed share of the entries.

/// How many entries a bucket has.
const WIDTH: usize = 12;

/// How many segments there are.
const SEGMENTS: usize = 64;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    numbers: [u32; WIDTH],
    /// Bits of the hashes, never 0 where there is an entry.
    tags: [u8; WIDTH],
}

const EMPTY: Bucket = Bucket { numbers: [0; WIDTH], tags: [0; WIDTH] };

/// The entries of so many buckets are looked at together.
const TOUCHED: usize = 4;

impl Bucket {
    /// The numbers of its entries.
    fn entries(&self) -> impl Iterator<Item = u32> {
        self.numbers.iter().zip(&self.tags).filter(|(_, tag)| **tag != 0).map(|(&number, _)| number)
    }

    /// A bit for each entry with this tag.
    #[inline]
    fn fits(&self, tag: u8) -> u32 {
        let bits = self.tags.iter().enumerate().map(|(slot, &found)| u32::from(found == tag) << slot);
        bits.fold(0, |all, bit| all | bit)
    }
}

#[derive(Clone, Debug, Default)]
struct Segment {
    buckets: Vec<Bucket>,
    n_entries: usize,
    /// It grows when it has so many.
    most: usize,
}

/// The index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    segments: Vec<Segment>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { segments: vec![Segment::default(); SEGMENTS] }
    }

    /// The number of an entry with this hash that is the wanted one.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let segment = &self.segments[segment_of(hash)];
        let tag = tag(hash);
        let mut at = segment.home(hash)?;
        loop {
            let bucket = &segment.buckets[at];
            let mut fits = bucket.fits(tag);
            while fits != 0 {
                let number = bucket.numbers[fits.trailing_zeros() as usize % WIDTH];
                if is_wanted(number) {
                    return Some(number);
                }
                fits &= fits - 1;
            }
            if bucket.tags[WIDTH - 1] == 0 {
                return None;
            }
            at = if at + 1 == segment.buckets.len() { 0 } else { at + 1 };
        }
    }

    /// The number of the first entry that may have this hash.
    #[inline]
    pub(crate) fn candidate(&self, hash: u64) -> Option<u32> {
        let segment = &self.segments[segment_of(hash)];
        let bucket = &segment.buckets[segment.home(hash)?];
        let fits = bucket.fits(tag(hash));
        (fits != 0).then(|| bucket.numbers[fits.trailing_zeros() as usize % WIDTH])
    }

    /// Looks at the bucket for this hash, so that it is close to the processor when it is needed.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) -> u8 {
        let segment = &self.segments[segment_of(hash)];
        segment.home(hash).map_or(0, |home| segment.buckets[home].tags[0])
    }

    /// Adds an entry that is not there. Where room has to be made, `hash_of` tells the hashes of other entries, each of which
    /// `touch` has looked at a short time before.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        number: u32,
        touch: impl Fn(u32) -> u8,
        hash_of: impl Fn(u32) -> u64,
    ) {
        let position = segment_of(hash);
        let segment = &mut self.segments[position];
        if segment.n_entries >= segment.most {
            segment.grow(position, touch, hash_of);
        }
        segment.put(hash, number);
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let buckets: usize = self.segments.iter().map(|segment| segment.buckets.capacity()).sum();
        buckets * size_of::<Bucket>() + SEGMENTS * size_of::<Segment>()
    }
}

impl Segment {
    /// The bucket where an entry with this hash is looked for first.
    #[inline]
    fn home(&self, hash: u64) -> Option<usize> {
        let home = (((hash >> 32) * self.buckets.len() as u64) >> 32) as usize;
        (!self.buckets.is_empty()).then_some(home)
    }

    fn put(&mut self, hash: u64, number: u32) {
        let Some(mut at) = self.home(hash) else { return };
        self.n_entries += 1;
        loop {
            let bucket = &mut self.buckets[at];
            if let Some(slot) = bucket.tags.iter().position(|&tag| tag == 0) {
                bucket.numbers[slot] = number;
                bucket.tags[slot] = tag(hash);
                return;
            }
            at = if at + 1 == self.buckets.len() { 0 } else { at + 1 };
        }
    }

    fn grow(&mut self, position: usize, touch: impl Fn(u32) -> u8, hash_of: impl Fn(u32) -> u64) {
        let n_before = self.buckets.len();
        // The first sizes lie between 16 and 32 buckets: each segment is at another point between two sizes. Before that
        // they are smaller, since most nets in tests are small.
        let n_buckets = match n_before {
            0 => 1,
            1 => 4,
            4 => 16 + position * 16 / SEGMENTS,
            n_before => n_before * 2,
        };
        let before = std::mem::replace(&mut self.buckets, vec![EMPTY; n_buckets]);
        self.n_entries = 0;
        self.most = n_buckets * WIDTH * 5 / 6;
        // Entries of a bucket lie anywhere in memory. Those of some buckets are looked at first, so that the looks do not wait
        // for each other.
        for buckets in before.chunks(TOUCHED) {
            let entries = || buckets.iter().flat_map(Bucket::entries);
            std::hint::black_box(entries().fold(0, |sum: u8, number| sum.wrapping_add(touch(number))));
            entries().for_each(|number| self.put(hash_of(number), number));
        }
    }
}

/// The lowest bits choose the segment, the next the tag, and the upper half the bucket.
#[inline]
fn segment_of(hash: u64) -> usize {
    (hash & (SEGMENTS as u64 - 1)) as usize
}

#[inline]
fn tag(hash: u64) -> u8 {
    #[expect(clippy::cast_possible_truncation, reason = "these bits are meant")]
    let tag = (hash >> 8) as u8;
    tag.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        let mut index = Index::new();
        // Few different hashes, so that tags and buckets are shared by many.
        let hash = |number: u32| u64::from(number % 5000).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for number in 0..20_000 {
            assert_eq!(index.find(hash(number), |found| found == number), None);
            index.insert(hash(number), number, |_| 0, hash);
        }
        for number in 0..20_000 {
            assert_eq!(index.find(hash(number), |found| found == number), Some(number));
            assert_eq!(index.find(hash(number), |_| false), None);
            assert!(index.candidate(hash(number)).is_some());
        }
    }
}
