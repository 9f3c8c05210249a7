//! States as bytes, without a store.
//!
//! A search that does not keep the states it has visited has nowhere to keep their parts either. Its few states that wait, or lie
//! on the way, are kept as bytes: a word takes as many as it needs.

use pdnet_base::varint;

use crate::State;
use crate::layout::Layout;

impl State {
    /// Appends the state as bytes. Equal states have equal bytes.
    pub fn pack(&self, layout: &Layout, bytes: &mut Vec<u8>) {
        self.globals.iter().for_each(|&word| pack_word(word, bytes));
        let is_begun = |words: &&Vec<i64>| **words != layout.thread_template;
        let n_threads = self.threads[..self.n_threads].iter().rposition(|words| is_begun(&words));
        for words in &self.threads[..n_threads.map_or(0, |last| last + 1)] {
            pack_word(words.len() as i64, bytes);
            words.iter().for_each(|&word| pack_word(word, bytes));
        }
    }

    /// Makes it the state of these bytes. It is detached then.
    pub fn unpack(&mut self, layout: &Layout, bytes: &[u8]) {
        let mut rest = bytes;
        for word in &mut self.globals {
            *word = unpack_word(&mut rest);
        }
        self.n_threads = 0;
        for thread in 0..self.threads.len() {
            let words = &mut self.threads[thread];
            words.clear();
            if rest.is_empty() {
                words.extend_from_slice(&layout.thread_template);
                self.live.remove(thread);
                continue;
            }
            self.n_threads = thread + 1;
            let n_words = unpack_word(&mut rest);
            words.extend((0..n_words).map(|_| unpack_word(&mut rest)));
            if words.first() == Some(&0) {
                self.live.remove(thread);
            } else {
                self.live.insert(thread);
            }
        }
        self.mark_all_changed();
    }
}

/// Small numbers of both signs are short.
fn pack_word(word: i64, bytes: &mut Vec<u8>) {
    varint::put(((word << 1) ^ (word >> 63)).cast_unsigned(), bytes);
}

fn unpack_word(bytes: &mut &[u8]) -> i64 {
    let word = varint::take(bytes).unwrap_or(0);
    (word >> 1).cast_signed() ^ -(word & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let words = [0, 1, -1, 63, 64, -64, -65, 127, 128, 1 << 40, i64::MAX, i64::MIN];
        let mut bytes = Vec::new();
        words.iter().for_each(|&word| pack_word(word, &mut bytes));
        let mut rest = bytes.as_slice();
        assert_eq!(words.map(|_| unpack_word(&mut rest)), words);
        assert_eq!(rest, []);
        assert_eq!(bytes[..4], [0, 2, 1, 126]);
    }
}
