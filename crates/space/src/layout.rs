//! Where each place lives in a state.

use std::fmt;
use std::sync::Arc;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{Base, CellData, Function, IntType, Net, Place, PlaceForm, PlaceKind, Scope};

use crate::chunks::Chunks;
use crate::{State, ThreadSet};

/// Why a net cannot be compiled, or a step not be taken: a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported(pub String);

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsupported {}

/// How many threads one word of a set stands for.
const SET_THREADS: usize = i64::BITS as usize;

/// The cells of one place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    pub(crate) home: Home,
    /// The first word: in the globals, in the thread after its number of frames, or in the frame after its
    /// place.
    pub(crate) offset: usize,
    /// The length of the array, if it is one.
    pub(crate) length: Option<u32>,
    pub(crate) value: IntType,
}

/// Which part of a state has the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Global,
    Thread,
    Frame(Function),
}

/// What is on a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    /// Control places carry nothing.
    Nothing,
    Cells(Cells),
    /// Tokens of frames: the place is a program counter.
    Frames,
    /// Plain tokens: their number is one global word.
    Count(usize),
    /// Tokens that end in a thread: `rows` sets of threads, each some global words ([`Layout::member`]). A place of the
    /// colour `thread` has one row, one of `index × thread` has a row for each index.
    Sets {
        offset: usize,
        rows: u32,
        has_rows: bool,
    },
    /// Tokens that a state has no room for; an error only where something uses them.
    Other,
}

/// Where each place of a net lives in a state.
///
/// A state has global words and, for each thread, words of its own. The global words hold the global cells,
/// the number of tokens on places without colour, and sets of threads. A thread's words are the number of
/// its frames, its thread-scoped cells, and the frames from the bottom of the stack to its top; a frame is
/// its place followed by the cells of the function that owns the place.
///
/// So a state has no room for: more than 255 threads, two tokens of one frame, frames that form no stack, cells of frames that do not exist, equal tokens of a colour that ends in a thread, and other colours.
#[derive(Clone, Debug)]
pub struct Layout {
    pub(crate) slots: IndexVec<Place, Slot>,
    /// For a frame place, the number of words of a frame that stands there.
    pub(crate) frame_words: IndexVec<Place, u32>,
    /// The owner of each frame place.
    pub(crate) owner: IndexVec<Place, Option<Function>>,
    /// The initial cells of a function's frames.
    pub(crate) frame_template: IndexVec<Function, Vec<i64>>,
    /// The words of a thread that does not live yet.
    pub(crate) thread_template: Vec<i64>,
    pub(crate) globals: Vec<i64>,
    /// How the global words are cut into parts.
    pub(crate) chunks: Arc<Chunks>,
    pub(crate) max_threads: u32,
    pub(crate) max_depth: u32,
    pub(crate) done: Option<usize>,
    pub(crate) ended: Option<usize>,
    pub(crate) atomic: Option<usize>,
    /// The cell of the atomic section, where it can be lost.
    pub(crate) yielding: Option<usize>,
    pub(crate) indivisible: Option<usize>,
}

impl Layout {
    pub(crate) fn new(net: &Net) -> Result<Self, Unsupported> {
        if net.max_threads > ThreadSet::MAX {
            let text = format!("{} threads: at most {}", net.max_threads, ThreadSet::MAX);
            return Err(Unsupported(text));
        }
        let mut layout = Self {
            slots: IndexVec::filled(Slot::Nothing, net.places.len()),
            frame_words: IndexVec::filled(0, net.places.len()),
            owner: IndexVec::filled(None, net.places.len()),
            frame_template: IndexVec::filled(Vec::new(), net.functions.len()),
            thread_template: vec![0],
            globals: Vec::new(),
            chunks: Arc::default(),
            max_threads: net.max_threads,
            max_depth: net.max_depth,
            done: None,
            ended: None,
            atomic: None,
            yielding: None,
            indivisible: None,
        };
        for place in net.places.indices() {
            let slot = layout.assign(net, place)?;
            layout.slots[place] = slot;
        }
        for (place, data) in net.places.iter_enumerated() {
            if let (Slot::Frames, owner) = (layout.slots[place], data.function) {
                let cells = owner.map_or(0, |function| layout.frame_template[function].len());
                layout.frame_words[place] = as_u32(cells + 1)?;
                layout.owner[place] = owner;
            }
        }
        let shape = |word: &str| Unsupported(format!("the place `{word}` has not its usual shape"));
        if let Some(place) = net.done {
            let Slot::Sets { offset, has_rows: false, .. } = layout.slots[place] else {
                return Err(shape("done"));
            };
            layout.done = Some(offset);
        }
        if let Some(place) = net.ended {
            let Slot::Count(offset) = layout.slots[place] else { return Err(shape("ended")) };
            layout.ended = Some(offset);
        }
        let cell_of = |word: &str, place: Option<Place>| match place.map(|place| layout.slots[place]) {
            None => Ok(None),
            Some(Slot::Cells(Cells { home: Home::Global, offset, .. })) => Ok(Some(offset)),
            Some(_) => Err(shape(word)),
        };
        let (atomic, indivisible) =
            (cell_of("atomic", net.atomic)?, cell_of("indivisible", net.indivisible)?);
        layout.atomic = atomic;
        layout.yielding = atomic.filter(|_| net.atomic_yields);
        layout.indivisible = indivisible;
        Ok(layout)
    }

    fn assign(&mut self, net: &Net, place: Place) -> Result<Slot, Unsupported> {
        let data = &net.places[place];
        let slot = match (&data.form, data.kind) {
            (_, PlaceKind::Control) => Slot::Nothing,
            (PlaceForm::Cells(cells), PlaceKind::Variable | PlaceKind::Execution) => {
                Slot::Cells(self.assign_cells(cells)?)
            }
            (PlaceForm::Tokens { initial }, kind) => {
                let slot = match (net.components(place), kind) {
                    ([Base::Thread, Base::Depth], PlaceKind::Execution) => Slot::Frames,
                    ([], _) => Slot::Count(self.add_globals([0])),
                    ([Base::Thread], _) => Slot::Sets { offset: self.add_sets(1), rows: 1, has_rows: false },
                    (&[Base::Index(rows), Base::Thread], _) => {
                        Slot::Sets { offset: self.add_sets(rows), rows, has_rows: true }
                    }
                    _ => Slot::Other,
                };
                if matches!(slot, Slot::Other) && !initial.is_empty() {
                    return Err(no_room(net, place));
                }
                slot
            }
        };
        Ok(slot)
    }

    fn assign_cells(&mut self, cells: &CellData) -> Result<Cells, Unsupported> {
        let values = (0..cells.length.unwrap_or(1)).map(|index| cells.initial(index));
        let (home, offset) = match cells.scope {
            Scope::Global => (Home::Global, self.add_globals(values)),
            Scope::Thread => {
                let offset = self.thread_template.len();
                self.thread_template.extend(values);
                (Home::Thread, offset)
            }
            Scope::Frame(function) => {
                let template = &mut self.frame_template[function];
                let offset = template.len() + 1;
                template.extend(values);
                (Home::Frame(function), offset)
            }
        };
        as_u32(offset)?;
        Ok(Cells { home, offset, length: cells.length, value: cells.value })
    }

    fn add_globals(&mut self, values: impl IntoIterator<Item = i64>) -> usize {
        let offset = self.globals.len();
        self.globals.extend(values);
        offset
    }

    fn add_sets(&mut self, rows: u32) -> usize {
        self.add_globals(std::iter::repeat_n(0, rows as usize * self.set_words()))
    }

    /// How many words a set of threads has.
    #[inline]
    pub(crate) fn set_words(&self) -> usize {
        (self.max_threads as usize).div_ceil(SET_THREADS).max(1)
    }

    /// The initial state: cells with their initial values, and the initial tokens.
    pub(crate) fn initial(&self, net: &Net) -> Result<State, Unsupported> {
        let mut state = State::new(self);
        let mut frames = Vec::new();
        for (place, data) in net.places.iter_enumerated() {
            let PlaceForm::Tokens { initial } = &data.form else { continue };
            for token in initial {
                match (self.slots[place], token.as_slice()) {
                    (Slot::Nothing, _) => {}
                    (Slot::Frames, &[thread, depth]) => frames.push((thread, depth, place)),
                    (Slot::Count(offset), []) => state.globals[offset] += 1,
                    (Slot::Sets { offset, rows, has_rows: false }, &[thread]) => {
                        self.add_member(&mut state, (offset, rows), (0, thread))
                            .ok_or_else(|| no_room(net, place))?;
                    }
                    (Slot::Sets { offset, rows, has_rows: true }, &[row, thread]) => {
                        self.add_member(&mut state, (offset, rows), (row, thread))
                            .ok_or_else(|| no_room(net, place))?;
                    }
                    (Slot::Cells(_) | Slot::Frames | Slot::Count(_) | Slot::Sets { .. } | Slot::Other, _) => {
                        return Err(no_room(net, place));
                    }
                }
            }
        }
        frames.sort_unstable();
        for (thread, depth, place) in frames {
            state.push_frame(self, thread, depth, place).map_err(|text| Unsupported(text.to_owned()))?;
        }
        state.mark_all_changed();
        Ok(state)
    }

    fn add_member(&self, state: &mut State, sets: (usize, u32), (row, thread): (i64, i64)) -> Option<()> {
        let (at, bit) = self.member(sets, row, thread)?;
        let word = state.globals.get_mut(at)?;
        if *word & bit != 0 {
            return None;
        }
        *word |= bit;
        Some(())
    }

    /// The word and the bit that stand for a thread in a row of sets, which are given by their offset and number; nothing
    /// where there is no such row or thread.
    #[inline]
    pub(crate) fn member(&self, (offset, rows): (usize, u32), row: i64, thread: i64) -> Option<(usize, i64)> {
        let row = usize::try_from(row).ok().filter(|&row| row < rows as usize)?;
        let thread = usize::try_from(thread).ok().filter(|&thread| thread < self.max_threads as usize)?;
        Some((offset + row * self.set_words() + thread / SET_THREADS, 1 << (thread % SET_THREADS)))
    }

    /// The words of sets in which tokens lie that begin with this row and this thread, as far as they are given, each with
    /// the bits of the threads.
    pub(crate) fn members(
        &self,
        (offset, rows): (usize, u32),
        row: Option<i64>,
        thread: Option<i64>,
    ) -> impl Iterator<Item = (usize, i64)> + use<> {
        let n_words = self.set_words();
        let rows = match row.map(|row| usize::try_from(row).ok().filter(|&row| row < rows as usize)) {
            None => 0..rows as usize,
            Some(None) => 0..0,
            Some(Some(row)) => row..row + 1,
        };
        let thread = thread.map(|thread| self.member((0, 1), 0, thread));
        let (words, bits) = match thread {
            None => (0..n_words, -1),
            Some(None) => (0..0, 0),
            Some(Some((word, bit))) => (word..word + 1, bit),
        };
        rows.flat_map(move |row| words.clone().map(move |word| (offset + row * n_words + word, bits)))
    }

    /// The threads of one set.
    pub(crate) fn set(&self, offset: usize, row: usize, globals: &[i64]) -> ThreadSet {
        let n_words = self.set_words();
        let mut words = [0; ThreadSet::WORDS];
        for (word, &bits) in words.iter_mut().zip(&globals[offset + row * n_words..][..n_words]) {
            *word = bits.cast_unsigned();
        }
        ThreadSet::from_words(&words)
    }
}

/// The error for a place whose tokens a state has no room for.
pub(crate) fn no_room(net: &Net, place: Place) -> Unsupported {
    Unsupported(format!("the tokens of place {place} ({})", net.places[place].name))
}

/// The number in 32 bits. Nets whose states are larger than that cannot be explored anyway.
pub(crate) fn as_u32(number: usize) -> Result<u32, Unsupported> {
    u32::try_from(number).map_err(|_| Unsupported("a state of more than 2^32 words".to_owned()))
}

/// A place as a word of a frame.
#[inline]
pub(crate) fn place_word(place: Place) -> i64 {
    place.index() as i64
}

/// The place that a word of a frame stands for.
#[inline]
pub(crate) fn word_place(word: i64) -> Place {
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "made by place_word")]
    Place::new(word as usize)
}
