//! The unpacked state that transitions work on.

use std::sync::Arc;

use pdnet_net::Place;

use crate::ThreadSet;
use crate::chunks::Chunks;
use crate::layout::{Cells, Home, Layout, place_word, word_place};

/// A state in its working form: plain words, in the order that [`Layout`] describes.
///
/// It remembers which of its parts were changed since it was loaded from a store, and of which the store has given no number
/// yet, so that putting a successor into the store looks only at the parts that the step has touched. That bookkeeping is no
/// part of what the state *is*: compare states by the number that a store gives them.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) globals: Vec<i64>,
    /// The words of each thread; those from `n_threads` on are as in the template.
    pub(crate) threads: Vec<Vec<i64>>,
    /// The threads that have frames.
    pub(crate) live: ThreadSet,
    pub(crate) n_threads: usize,
    /// The numbers of the parts, where they are known: first the chunks of the globals, then the threads.
    pub(crate) parts: Vec<u32>,
    pub(crate) changed_chunks: u64,
    pub(crate) changed_threads: ThreadSet,
    /// The parts without a number. They are among those that were changed.
    pub(crate) fresh_chunks: u64,
    pub(crate) fresh_threads: ThreadSet,
    pub(crate) chunks: Arc<Chunks>,
    /// For the words of a part that is being put in.
    pub(crate) room: Vec<i64>,
}

impl State {
    /// A state with all cells at their initial value and no tokens.
    pub(crate) fn new(layout: &Layout) -> Self {
        let max_threads = layout.max_threads as usize;
        let mut state = Self {
            globals: layout.globals.clone(),
            threads: vec![layout.thread_template.clone(); max_threads],
            live: ThreadSet::NONE,
            n_threads: 0,
            parts: vec![0; layout.chunks.len() + max_threads],
            changed_chunks: 0,
            changed_threads: ThreadSet::NONE,
            fresh_chunks: 0,
            fresh_threads: ThreadSet::NONE,
            chunks: Arc::clone(&layout.chunks),
            room: Vec::new(),
        };
        state.mark_all_changed();
        state
    }

    pub(crate) const fn mark_all_changed(&mut self) {
        self.changed_chunks = u64::MAX;
        self.changed_threads = ThreadSet::ALL;
        self.fresh_chunks = u64::MAX;
        self.fresh_threads = ThreadSet::ALL;
    }

    /// Makes it equal to `other`, given that it differs only in parts that are marked as changed.
    pub(crate) fn restore(&mut self, other: &Self) {
        for chunk in marked(self.changed_chunks, self.chunks.len()) {
            self.copy_chunk(chunk, other);
        }
        let n_threads = self.n_threads.max(other.n_threads);
        let mut rest = self.changed_threads;
        while let Some(thread) = rest.pop() {
            if thread >= n_threads {
                break;
            }
            self.copy_thread(thread, other);
        }
        self.copy_marks(other);
    }

    /// Makes it equal to `other`, where both come from the same loaded state by some steps.
    pub(crate) fn follow(&mut self, other: &Self) {
        self.changed_chunks |= other.changed_chunks;
        self.changed_threads |= other.changed_threads;
        self.restore(other);
    }

    /// Makes it a copy of `other`, in place. Both must be of the same store, or detached: parts that are known to be equal are
    /// not copied.
    pub fn copy_from(&mut self, other: &Self) {
        let fresh = self.fresh_chunks | other.fresh_chunks;
        for chunk in 0..self.chunks.len() {
            if self.parts[chunk] != other.parts[chunk] || fresh >> chunk.min(63) & 1 == 1 {
                self.copy_chunk(chunk, other);
            }
        }
        let n_chunks = self.chunks.len();
        let fresh = self.fresh_threads | other.fresh_threads;
        for thread in 0..self.n_threads.max(other.n_threads) {
            let part = n_chunks + thread;
            if self.parts[part] != other.parts[part] || fresh.contains(thread) {
                self.copy_thread(thread, other);
            }
        }
        self.copy_marks(other);
    }

    /// Copies the words and the number of a chunk.
    #[inline]
    fn copy_chunk(&mut self, chunk: usize, other: &Self) {
        let words = self.chunks.words(chunk);
        self.globals[words.clone()].copy_from_slice(&other.globals[words]);
        self.parts[chunk] = other.parts[chunk];
    }

    /// Copies the words and the number of a thread, if there can be such a thread.
    #[inline]
    fn copy_thread(&mut self, thread: usize, other: &Self) {
        let part = self.chunks.len() + thread;
        if let (Some(words), Some(from)) = (self.threads.get_mut(thread), other.threads.get(thread)) {
            copy_words(words, from);
            self.parts[part] = other.parts[part];
        }
    }

    #[inline]
    const fn copy_marks(&mut self, other: &Self) {
        self.live = other.live;
        self.n_threads = other.n_threads;
        self.changed_chunks = other.changed_chunks;
        self.changed_threads = other.changed_threads;
        self.fresh_chunks = other.fresh_chunks;
        self.fresh_threads = other.fresh_threads;
    }

    /// The words of a chunk of the globals.
    #[inline]
    pub(crate) fn chunk(&self, chunk: usize) -> &[i64] {
        &self.globals[self.chunks.words(chunk)]
    }

    /// Puts in a chunk of the globals that has a number.
    #[inline]
    pub(crate) fn set_chunk(&mut self, chunk: usize, number: u32, words: &[i64]) {
        self.parts[chunk] = number;
        self.globals[self.chunks.words(chunk)].copy_from_slice(words);
    }

    /// Puts in a thread that has a number.
    #[inline]
    pub(crate) fn set_thread(&mut self, thread: usize, number: u32, words: &[i64]) {
        self.parts[self.chunks.len() + thread] = number;
        if words[0] == 0 {
            self.live.remove(thread);
        } else {
            self.live.insert(thread);
        }
        copy_words(&mut self.threads[thread], words);
    }

    /// Whether a chunk of the globals has no number. The last mark stands for all that are left.
    #[inline]
    pub(crate) fn is_fresh(&self, chunk: usize) -> bool {
        self.fresh_chunks >> chunk.min(63) & 1 == 1
    }

    /// The chunks of the globals that have no number.
    #[inline]
    pub(crate) fn fresh_chunks(&self) -> impl Iterator<Item = usize> + use<> {
        marked(self.fresh_chunks, self.chunks.len())
    }

    /// Takes it as it is for what the changes to come are compared with.
    pub(crate) const fn mark_unchanged(&mut self) {
        self.changed_chunks = 0;
        self.changed_threads = ThreadSet::NONE;
    }

    /// All parts have a number.
    pub(crate) const fn mark_numbered(&mut self) {
        self.fresh_chunks = 0;
        self.fresh_threads = ThreadSet::NONE;
    }

    /// Whether it is the same state, wherever it comes from.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let n_threads = self.n_threads.max(other.n_threads);
        self.globals == other.globals && self.threads[..n_threads] == other.threads[..n_threads]
    }

    /// Forgets which store it was loaded from, so that it can be put into another one.
    pub const fn detach(&mut self) {
        self.mark_all_changed();
    }

    /// The threads that have frames.
    #[must_use]
    pub const fn live_threads(&self) -> ThreadSet {
        self.live
    }

    /// Sets a global word.
    #[inline]
    pub(crate) fn set_global(&mut self, offset: usize, value: i64) {
        self.globals[offset] = value;
        let bit = self.chunks.bit(offset);
        self.changed_chunks |= bit;
        self.fresh_chunks |= bit;
    }

    /// Notes that chunks of the globals were changed, given as a set.
    #[inline]
    pub(crate) const fn mark_chunks(&mut self, chunks: u64) {
        self.changed_chunks |= chunks;
        self.fresh_chunks |= chunks;
    }

    /// The words of a thread, to be changed.
    #[inline]
    pub(crate) fn thread_mut(&mut self, thread: usize) -> &mut Vec<i64> {
        self.changed_threads.insert(thread);
        self.fresh_threads.insert(thread);
        self.n_threads = self.n_threads.max(thread + 1);
        &mut self.threads[thread]
    }

    /// The number of frames of a thread.
    #[inline]
    pub(crate) fn n_frames(&self, thread: usize) -> usize {
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a count")]
        self.threads.get(thread).map_or(0, |words| words[0] as usize)
    }

    /// The first word of a frame, which is its place; nothing where there is no such frame.
    #[inline]
    pub(crate) fn frame_base(&self, layout: &Layout, thread: i64, depth: i64) -> Option<usize> {
        let thread = usize::try_from(thread).ok()?;
        let words = self.threads.get(thread)?;
        if depth < 0 || depth >= words[0] {
            return None;
        }
        let mut base = layout.thread_template.len();
        for _ in 0..depth {
            base += layout.frame_words[word_place(words[base])] as usize;
        }
        Some(base)
    }

    /// Whether a frame stands on the place.
    #[inline]
    pub(crate) fn frame_is_at(&self, layout: &Layout, thread: i64, depth: i64, place: Place) -> bool {
        match (usize::try_from(thread), self.frame_base(layout, thread, depth)) {
            (Ok(thread), Some(base)) => self.threads[thread][base] == place_word(place),
            (Ok(_), None) | (Err(_), _) => false,
        }
    }

    /// The depth of a frame on the place, from `depth` on.
    #[inline]
    pub(crate) fn find_frame(
        &self,
        layout: &Layout,
        thread: usize,
        depth: usize,
        place: Place,
    ) -> Option<usize> {
        let words = &self.threads[thread];
        let mut base = layout.thread_template.len();
        let n_frames = self.n_frames(thread);
        for at in 0..n_frames {
            if at >= depth && words[base] == place_word(place) {
                return Some(at);
            }
            if at + 1 < n_frames {
                base += layout.frame_words[word_place(words[base])] as usize;
            }
        }
        None
    }

    /// The value of a cell: 0 outside of the array, the initial value where there is no such thread or frame.
    #[inline]
    pub(crate) fn cell(&self, layout: &Layout, cells: &Cells, thread: i64, depth: i64, index: i64) -> i64 {
        let Some(at) = cells.at(index) else { return 0 };
        match cells.home {
            Home::Global => self.globals[cells.offset + at],
            Home::Thread => {
                let words = usize::try_from(thread).ok().and_then(|thread| self.threads.get(thread));
                words.unwrap_or(&layout.thread_template)[cells.offset + at]
            }
            Home::Frame(function) => {
                let initial = layout.frame_template[function][cells.offset + at - 1];
                let Some(base) = self.frame_base(layout, thread, depth) else { return initial };
                #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "has a frame")]
                let words = &self.threads[thread as usize];
                if layout.owner[word_place(words[base])] == Some(function) {
                    words[base + cells.offset + at]
                } else {
                    initial
                }
            }
        }
    }

    /// Writes a cell, in the type of the place. A key outside of its range changes nothing.
    ///
    /// # Errors
    /// Where the frame is not there: the interpreter would remember the value for a frame to come.
    #[inline]
    pub(crate) fn set_cell(
        &mut self,
        layout: &Layout,
        cells: &Cells,
        (thread, depth, index): (i64, i64, i64),
        value: i64,
    ) -> Result<(), &'static str> {
        let Some(at) = cells.at(index) else { return Ok(()) };
        let value = cells.value.wrap(value);
        match cells.home {
            Home::Global => self.set_global(cells.offset + at, value),
            Home::Thread => {
                if let Some(thread) = thread_number(layout, thread) {
                    self.thread_mut(thread)[cells.offset + at] = value;
                }
            }
            Home::Frame(function) => {
                let Some(thread_idx) = thread_number(layout, thread) else { return Ok(()) };
                if !(0..i64::from(layout.max_depth)).contains(&depth) {
                    return Ok(());
                }
                let base = self.frame_base(layout, thread, depth);
                let owned = |base: &usize| {
                    layout.owner[word_place(self.threads[thread_idx][*base])] == Some(function)
                };
                match base.filter(owned) {
                    Some(base) => self.thread_mut(thread_idx)[base + cells.offset + at] = value,
                    None if value == layout.frame_template[function][cells.offset + at - 1] => {}
                    None => return Err("a cell is written whose frame does not exist"),
                }
            }
        }
        Ok(())
    }

    /// Puts a new frame on top of a thread's stack.
    pub(crate) fn push_frame(
        &mut self,
        layout: &Layout,
        thread: i64,
        depth: i64,
        place: Place,
    ) -> Result<(), &'static str> {
        let Some(thread) = thread_number(layout, thread) else {
            return Err("a frame of a thread that cannot exist");
        };
        if depth != self.threads[thread][0] || depth >= i64::from(layout.max_depth) {
            return Err("frames that do not form a stack");
        }
        self.live.insert(thread);
        let words = self.thread_mut(thread);
        words[0] += 1;
        words.push(place_word(place));
        if let Some(function) = layout.owner[place] {
            words.extend_from_slice(&layout.frame_template[function]);
        }
        Ok(())
    }

    /// Takes the top frame off a thread's stack.
    pub(crate) fn pop_frame(&mut self, layout: &Layout, thread: usize) {
        let depth = self.threads[thread][0] - 1;
        let Some(base) = self.frame_base(layout, thread as i64, depth) else { return };
        let words = self.thread_mut(thread);
        words.truncate(base);
        words[0] -= 1;
        if depth == 0 {
            self.live.remove(thread);
        }
    }

    /// Takes all frames off a thread's stack.
    pub(crate) fn clear_frames(&mut self, layout: &Layout, thread: usize) {
        self.live.remove(thread);
        let words = self.thread_mut(thread);
        words.truncate(layout.thread_template.len());
        words[0] = 0;
    }
}

impl Cells {
    /// The words of elements of a global array that follow each other, if all of them are in it.
    #[inline]
    pub(crate) fn run(&self, index: i64, count: usize) -> Option<std::ops::Range<usize>> {
        let first = self.at(index)?;
        let is_inside = self.length.is_some_and(|length| first + count <= length as usize);
        is_inside.then(|| self.offset + first..self.offset + first + count)
    }

    /// The position of an element among the cells, or nothing where it is outside.
    #[inline]
    fn at(&self, index: i64) -> Option<usize> {
        match self.length {
            None => Some(0),
            Some(length) if (0..i64::from(length)).contains(&index) => usize::try_from(index).ok(),
            Some(_) => None,
        }
    }
}

/// Makes a sequence equal to another one, in place.
#[inline]
pub(crate) fn copy_words<T: Copy>(words: &mut Vec<T>, from: &[T]) {
    if words.len() == from.len() {
        words.copy_from_slice(from);
    } else {
        words.clear();
        words.extend_from_slice(from);
    }
}

/// The chunks that are marked, of so many. The last mark stands for all that are left.
#[inline]
pub(crate) fn marked(mut marks: u64, n_chunks: usize) -> impl Iterator<Item = usize> {
    let mut rest = 63..if marks >> 63 == 1 { n_chunks } else { 0 };
    marks &= u64::MAX >> 1;
    std::iter::from_fn(move || {
        if marks == 0 {
            return rest.next();
        }
        let chunk = marks.trailing_zeros() as usize;
        marks &= marks - 1;
        Some(chunk)
    })
    .take_while(move |&chunk| chunk < n_chunks)
}

/// The number of a thread that may exist.
#[inline]
fn thread_number(layout: &Layout, thread: i64) -> Option<usize> {
    if (0..i64::from(layout.max_threads)).contains(&thread) { usize::try_from(thread).ok() } else { None }
}
