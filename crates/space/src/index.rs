//! A hash index of numbers that grows in small pieces.
//!
//! The entries themselves are elsewhere; the index has their numbers and, of each, eight bits of its hash. A bucket is a
//! line of the cache, so that to look for what is not there costs one miss, and to find what is there costs that and
//! the look at the entry.
//!
//! The index is cut into segments by the hash, and a segment doubles when it is full. Segments are of different sizes
//! from the beginning, so that they grow one after the other: there is never a long stop, and the memory is a
//! fixed share of the entries.
//!
//! Where a segment doubles, the entries of a bucket go to two buckets, by the next bit of the place that their hash stands for. A bucket
//! has room for six such bits of each entry: so only every seventh time the hashes have to be made of the
//! entries themselves, which lie anywhere in memory.

use pdnet_base::prefetch;

/// How many entries a bucket has.
const WIDTH: usize = 11;

/// How many segments there are.
const SEGMENTS: usize = 64;

/// As many bits of an entry's place are known behind its bucket.
const BITS: u32 = 6;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    numbers: [u32; WIDTH],
    /// Bits of the hashes, never 0 where there is an entry. There are none behind the first that is 0.
    tags: [u8; WIDTH],
    /// The next [`BITS`] bits of the place of each entry, from the lowest on.
    places: [u8; PLACES],
}

/// So many bytes are left in a line of the cache.
const PLACES: usize = 9;

/// These bits are not known: the entry belongs into a bucket before the one that it is in, which was full. An entry with
/// just these bits counts as one of those.
const UNKNOWN: u8 = (1 << BITS) - 1;

const EMPTY: Bucket = Bucket { numbers: [0; WIDTH], tags: [0; WIDTH], places: [0; PLACES] };

/// The bytes of the other three tags.
const HIGH: u64 = 0xff_ffff;

/// So many entries before its turn an entry is brought close to the processor.
const AHEAD: usize = 16;

impl Bucket {
    /// The tags of the first eight entries and of the other three.
    #[inline]
    fn tags(&self) -> (u64, u32) {
        let low = self.tags.first_chunk().map_or(0, |tags| u64::from_le_bytes(*tags));
        let high = self.tags.last_chunk().map_or(0, |tags| u32::from_le_bytes(*tags));
        (low, high >> 8)
    }

    #[inline]
    fn places(&self) -> u128 {
        let mut bytes = [0; size_of::<u128>()];
        bytes[..PLACES].copy_from_slice(&self.places);
        u128::from_le_bytes(bytes)
    }

    /// How many entries it has.
    #[inline]
    fn len(&self) -> usize {
        let (low, high) = self.tags();
        let (low, high) = (zeros(low).trailing_zeros() / 8, zeros(u64::from(high)).trailing_zeros() / 8);
        (low + high * (low / 8)) as usize
    }

    #[inline]
    const fn is_full(&self) -> bool {
        self.tags[WIDTH - 1] != 0
    }

    /// The slots of entries with this tag.
    #[inline]
    fn fits(&self, tag: u8) -> Slots {
        let (low, high) = self.tags();
        let wanted = u64::from_le_bytes([tag; 8]);
        Slots(zeros(low ^ wanted) >> 7 | (zeros(u64::from(high) ^ wanted) & HIGH) >> 6)
    }

    /// Adds an entry, with the bits of its place. It must not be full.
    #[inline]
    fn push(&mut self, number: u32, tag: u8, place: u8) {
        let slot = self.len() % WIDTH;
        self.numbers[slot] = number;
        self.tags[slot] = tag;
        let places = self.places() | u128::from(place) << (slot as u32 * BITS);
        self.places.copy_from_slice(&places.to_le_bytes()[..PLACES]);
    }
}

/// The highest bit of each byte that is 0.
#[inline]
pub(crate) const fn zeros(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

/// Slots of a bucket: the lowest bits of the bytes stand for the first eight, the next bits for the other ones.
struct Slots(u64);

impl Iterator for Slots {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some((bit / 8 + bit % 8 * 8) % WIDTH)
    }
}

#[derive(Clone, Debug, Default)]
struct Segment {
    buckets: Vec<Bucket>,
    n_entries: usize,
    /// It grows when it has so many.
    most: usize,
    /// How often it can double by the bits that are known of all entries.
    n_bits: u32,
}

/// The bucket where a missing entry has to be put, unless its segment grows before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap(usize);

/// The index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    segments: Vec<Segment>,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { segments: vec![Segment::default(); SEGMENTS] }
    }

    /// The number of an entry with this hash that is the wanted one, or where it is missing.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_wanted: impl Fn(u32) -> bool) -> Result<u32, Gap> {
        let segment = &self.segments[segment_of(hash)];
        if segment.buckets.is_empty() {
            return Err(Gap(0));
        }
        let tag = tag(hash);
        let (mut at, _) = segment.home(hash);
        loop {
            let bucket = &segment.buckets[at];
            for slot in bucket.fits(tag) {
                if is_wanted(bucket.numbers[slot]) {
                    return Ok(bucket.numbers[slot]);
                }
            }
            if !bucket.is_full() {
                return Err(Gap(at));
            }
            at = segment.after(at);
        }
    }

    /// The number of the first entry that may have this hash.
    #[inline]
    pub(crate) fn candidate(&self, hash: u64) -> Option<u32> {
        let segment = &self.segments[segment_of(hash)];
        let bucket = segment.buckets.get(segment.home(hash).0)?;
        bucket.fits(tag(hash)).next().map(|slot| bucket.numbers[slot])
    }

    /// Has the bucket for this hash brought close to the processor, since it is needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        let segment = &self.segments[segment_of(hash)];
        if let Some(bucket) = segment.buckets.get(segment.home(hash).0) {
            prefetch(bucket);
        }
    }

    /// Adds an entry that is missing. Where room has to be made, `hash_of` tells the hashes of other entries, and
    /// `prefetch` hears before of each.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        (gap, number): (Gap, u32),
        prefetch: impl Fn(u32),
        hash_of: impl Fn(u32) -> u64,
    ) {
        let position = segment_of(hash);
        let segment = &mut self.segments[position];
        if segment.n_entries >= segment.most {
            segment.grow(position, prefetch, hash_of);
            segment.put(hash, number);
        } else {
            segment.put_at(gap.0, hash, number);
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let buckets: usize = self.segments.iter().map(|segment| segment.buckets.capacity()).sum();
        buckets * size_of::<Bucket>() + SEGMENTS * size_of::<Segment>()
    }
}

impl Segment {
    /// The bucket where an entry with this hash is looked for first, and the next bits of its place.
    #[inline]
    fn home(&self, hash: u64) -> (usize, u8) {
        let place = (hash >> 32) * self.buckets.len() as u64;
        #[expect(clippy::cast_possible_truncation, reason = "these bits are meant")]
        let bits = (place as u32 >> (u32::BITS - BITS)) as u8;
        ((place >> 32) as usize, bits)
    }

    /// The bucket after this one.
    #[inline]
    const fn after(&self, at: usize) -> usize {
        if at + 1 == self.buckets.len() { 0 } else { at + 1 }
    }

    fn put(&mut self, hash: u64, number: u32) {
        let (mut at, _) = self.home(hash);
        while self.buckets[at].is_full() {
            at = self.after(at);
        }
        self.put_at(at, hash, number);
    }

    #[inline]
    fn put_at(&mut self, at: usize, hash: u64, number: u32) {
        let (home, place) = self.home(hash);
        self.buckets[at].push(number, tag(hash), if at == home { place } else { UNKNOWN });
        self.n_entries += 1;
    }

    fn grow(&mut self, position: usize, prefetch: impl Fn(u32), hash_of: impl Fn(u32) -> u64) {
        let n_before = self.buckets.len();
        // The first sizes lie between 16 and 32 buckets: each segment is at another point between two sizes. Before that
        // they are smaller, since most nets in tests are small.
        let (n_buckets, doubles) = match n_before {
            0 => (1, false),
            1 => (4, false),
            4 => (16 + position * 16 / SEGMENTS, false),
            n_before => (n_before * 2, true),
        };
        let before = std::mem::replace(&mut self.buckets, vec![EMPTY; n_buckets]);
        self.n_entries = 0;
        self.most = n_buckets * WIDTH * 5 / 6;
        let mut left = Vec::new();
        if doubles && self.n_bits > 0 {
            self.n_bits -= 1;
            self.split(&before, &mut left);
        } else {
            self.n_bits = BITS;
            left.extend(before.iter().flat_map(|bucket| &bucket.numbers[..bucket.len()]));
        }
        drop(before);
        for (at, &number) in left.iter().enumerate() {
            if let Some(&later) = left.get(at + AHEAD) {
                prefetch(later);
            }
            self.put(hash_of(number), number);
        }
    }

    /// Lets the entries of each bucket go to two, which have room for them, by the next bit of their places. Those whose bits are not
    /// known are left.
    fn split(&mut self, before: &[Bucket], left: &mut Vec<u32>) {
        for (bucket, halves) in before.iter().zip(self.buckets.chunks_exact_mut(2)) {
            let numbers = &bucket.numbers[..bucket.len()];
            let mut places = bucket.places();
            for (&number, &tag) in numbers.iter().zip(&bucket.tags) {
                let place = places as u8 & UNKNOWN;
                places >>= BITS;
                if place == UNKNOWN {
                    left.push(number);
                } else {
                    halves[usize::from(place >> (BITS - 1))].push(number, tag, place << 1 & UNKNOWN);
                    self.n_entries += 1;
                }
            }
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
    use pdnet_base::Rng;

    use super::*;

    /// Puts as many entries in and looks for them.
    fn fill(n_entries: u32, hash: impl Fn(u32) -> u64) -> Index {
        let mut index = Index::new();
        for number in 0..n_entries {
            let missing = index.find(hash(number), |found| found == number);
            let gap = missing.expect_err("it was not put in yet");
            index.insert(hash(number), (gap, number), |_| {}, &hash);
        }
        for number in 0..n_entries {
            assert_eq!(index.find(hash(number), |found| found == number), Ok(number));
            assert!(index.find(hash(number), |_| false).is_err());
        }
        // Those that are not in their own buckets have none.
        let is_candidate =
            |number: &u32| index.candidate(hash(*number)).is_some_and(|found| hash(found) == hash(*number));
        let n_candidates = (0..n_entries).filter(is_candidate).count();
        assert!(n_candidates * 10 > n_entries as usize * 9, "{n_candidates} of {n_entries}");
        index
    }

    #[test]
    fn what_was_put_in_is_found_and_nothing_else() {
        // Few different hashes, so that tags and buckets are shared by many.
        fill(20_000, |number| u64::from(number % 5000).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }

    #[test]
    fn entries_are_found_after_segments_have_doubled_again_and_again() {
        let seed = Rng::test_seed(1);
        let index = fill(700_000, |number| Rng::new(seed ^ u64::from(number)).next_u64());
        for segment in &index.segments {
            let n_entries: usize = segment.buckets.iter().map(Bucket::len).sum();
            assert_eq!(n_entries, segment.n_entries);
        }
        let is_made_by_hashes = |segment: &Segment| segment.buckets.len() >= 16 << (BITS + 1);
        assert!(index.segments.iter().any(is_made_by_hashes), "the bits were used up");
        let mut buckets = index.segments.iter().flat_map(|segment| &segment.buckets);
        assert!(buckets.any(|bucket| bucket.places() as u8 & UNKNOWN == UNKNOWN));
    }
}
