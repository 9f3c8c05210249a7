//! How the global words of a state are cut into parts.
//!
//! A part that is short and changes rarely is found again in many states, and what a thread does next depends on few parts
//! ([`crate::memo`]). So words that the same transitions touch are in one part, and words that other ones touch are not: a
//! channel is a part of its own, and so is a flag that one thread writes and another one reads.

use std::ops::Range;

/// A part has at most so many words.
const LONGEST: usize = 16;

/// There are at most so many parts, unless all of them have the greatest length: each part makes every stored state longer.
const MOST: usize = 12;

/// The parts of the global words, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunks {
    /// Where each part ends; it begins where the one before it ends.
    ends: Vec<usize>,
    /// The part of each word.
    of: Vec<u32>,
}

impl Chunks {
    /// Cuts so many words into parts. Each range is words that one transition touches.
    pub(crate) fn new(n_words: usize, ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        // Who touches a word and who touches the next one differ only where a range begins or ends.
        let mut is_cut = vec![false; n_words + 1];
        for range in ranges.into_iter().filter(|range| range.start < range.end) {
            is_cut[range.start.min(n_words)] = true;
            is_cut[range.end.min(n_words)] = true;
        }
        let mut ends: Vec<usize> = Vec::new();
        let mut start = 0;
        for (end, &is_cut) in is_cut.iter().enumerate().skip(1) {
            if is_cut || end - start == LONGEST || end == n_words {
                ends.push(end);
                start = end;
            }
        }
        while ends.len() > MOST.max(n_words.div_ceil(LONGEST)) {
            let n_before = ends.len();
            ends = joined(&ends);
            if ends.len() == n_before {
                break;
            }
        }
        let mut of = Vec::with_capacity(n_words);
        for (chunk, &end) in ends.iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "a net has fewer than 2^32 cells")]
            of.resize(end, chunk as u32);
        }
        Self { ends, of }
    }

    /// How many there are.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// The words of a part.
    #[inline]
    pub(crate) fn words(&self, chunk: usize) -> Range<usize> {
        let start = if chunk == 0 { 0 } else { self.ends[chunk - 1] };
        start..self.ends[chunk]
    }

    /// The part of a word, and where the word is in it.
    pub(crate) fn place(&self, word: usize) -> (usize, usize) {
        let chunk = self.of[word] as usize;
        (chunk, word - self.words(chunk).start)
    }

    /// The bit that stands for the part of a word in a set of parts. The last bit stands for all parts that are left.
    #[inline]
    pub(crate) fn bit(&self, word: usize) -> u64 {
        1 << self.of[word].min(63)
    }

    /// The bits of the parts of these words.
    pub(crate) fn bits(&self, words: Range<usize>) -> u64 {
        words.fold(0, |bits, word| bits | self.bit(word))
    }
}

/// The parts with every two neighbours joined that are not too long together.
fn joined(ends: &[usize]) -> Vec<usize> {
    let mut longer = Vec::with_capacity(ends.len());
    let (mut start, mut at) = (0, 0);
    while let Some(&end) = ends.get(at) {
        let both = ends.get(at + 1).copied().filter(|both| both - start <= LONGEST);
        at += 1 + usize::from(both.is_some());
        start = both.unwrap_or(end);
        longer.push(start);
    }
    longer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_touched_together_are_together() {
        let chunks = Chunks::new(40, [3..5, 9..10, 4..5]);
        let ends: Vec<usize> = (0..chunks.len()).map(|chunk| chunks.words(chunk).end).collect();
        assert_eq!(ends, [3, 4, 5, 9, 10, 26, 40]);
        assert_eq!(chunks.bits(3..5), 0b110);
        assert_eq!(chunks.bits(0..0), 0);
    }

    #[test]
    fn there_are_not_too_many_parts() {
        let chunks = Chunks::new(200, (0..200).map(|word| word..word + 1));
        assert!(chunks.len() <= MOST.max(200_usize.div_ceil(LONGEST)), "{}", chunks.len());
        assert!((0..chunks.len()).all(|chunk| chunks.words(chunk).len() <= LONGEST));
        assert_eq!(chunks.words(chunks.len() - 1).end, 200);
        // A word's part is the one that has it, and the last bit stands for what is left.
        let many = Chunks::new(2000, []);
        assert_eq!((many.len(), many.bit(0), many.bit(1999)), (125, 1, 1 << 63));
        // Programs may have more parts than 16 bits can tell apart.
        let very_many = Chunks::new(70_000 * LONGEST, []);
        assert_eq!(very_many.place(69_999 * LONGEST + 5), (69_999, 5));
    }
}
