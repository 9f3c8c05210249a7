//! The edges of a graph, found by several workers and kept.
//!
//! What is known of a state is a *record*: a piece of memory that its finder writes and then makes known by its address. Each
//! state is expanded once, by the worker who has claimed it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use pdnet_base::{Idx as _, Slots};
use pdnet_space::{StateId, ThreadSet};

use crate::model::Movers;

/// So many words make a block of records, unless one record is larger.
const BLOCK: usize = 1 << 13;

/// So many states have their addresses side by side.
const STATES: usize = 1 << 12;

/// The address of a state that was not expanded.
const UNKNOWN: u64 = 0;

/// The address of a state that somebody is about to expand.
const CLAIMED: u64 = 1;

/// The address of a state whose record elsewhere will do.
const ELSEWHERE: u64 = 2;

/// The first address of a record.
const FIRST: u64 = 3;

/// Is set in the number of edges where something has to be noted of the state.
const NOTED: u32 = 1 << 31;

/// Is set there where steps were left out.
const PARTIAL: u32 = 1 << 30;

/// Is set in a letter that was computed.
const HAS_LETTER: u32 = 1 << 31;

/// How many bits of a letter a record has room for.
pub(crate) const LETTER_BITS: usize = 24;

/// A letter of the atoms that are numbered so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) atoms: u8,
    pub(crate) letter: u32,
}

/// What is known of all states.
#[derive(Debug)]
pub(crate) struct Edges {
    addresses: Slots<Arc<[AtomicU64]>>,
    /// There are none from this number on.
    n_addresses: AtomicU32,
    blocks: Slots<Arc<[AtomicU32]>>,
    n_blocks: AtomicU32,
    /// About how many there are: those of a block are counted when it is full.
    n_edges: AtomicUsize,
    bytes: AtomicUsize,
    max_threads: u32,
    /// The words that a set of threads takes, in halves.
    n_set: usize,
    /// The bytes that the movers of an edge take.
    n_movers: usize,
}

/// What is known of a state. In words: the number of edges, the letter, the threads that can move, the targets, the movers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'e> {
    words: &'e [AtomicU32],
    edges: &'e Edges,
}

/// Where a worker writes records.
#[derive(Debug, Default)]
pub(crate) struct RecordWriter {
    block: Option<u32>,
    n_words: usize,
    /// How many edges its block has.
    n_edges: usize,
}

/// What a worker has seen of where records are. By that they are found sooner than by what all workers share.
#[derive(Debug, Default)]
pub(crate) struct Map {
    addresses: Vec<Arc<[AtomicU64]>>,
    blocks: Vec<Arc<[AtomicU32]>>,
}

/// The map of nothing.
static NOWHERE: Map = Map { addresses: Vec::new(), blocks: Vec::new() };

impl Map {
    /// Looks at what there is. A map is always one of the same edges.
    #[inline]
    pub(crate) fn learn(&mut self, edges: &Edges) {
        if self.addresses.len() < edges.n_addresses.load(Ordering::Relaxed) as usize {
            learn(&mut self.addresses, &edges.addresses);
        }
        if self.blocks.len() < edges.n_blocks.load(Ordering::Relaxed) as usize {
            learn(&mut self.blocks, &edges.blocks);
        }
    }
}

/// Appends what is there. Some that are numbered may still be in the making: those are for the next time.
fn learn<T: Clone>(known: &mut Vec<T>, slots: &Slots<T>) {
    #[expect(clippy::cast_possible_truncation, reason = "they are numbered so")]
    while let Some(next) = slots.get(known.len() as u32) {
        known.push(next.clone());
    }
}

/// What became of the wish to expand a state.
pub(crate) enum Claim {
    /// It is for the asker to do.
    Granted,
    /// It was done.
    Done,
    /// Another worker does it.
    Others,
}

/// A record in the making.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) targets: Vec<u32>,
    /// How many of them nobody had met before.
    pub(crate) n_fresh: usize,
    /// How many more there will be, which were brought to the store.
    pub(crate) n_brought: usize,
    pub(crate) movers: Vec<Movers>,
    pub(crate) enabled: ThreadSet,
    pub(crate) letter: Option<Letter>,
    pub(crate) is_noted: bool,
    /// Steps of some threads were left out.
    pub(crate) is_partial: bool,
}

impl Draft {
    pub(crate) fn clear(&mut self) {
        self.targets.clear();
        self.movers.clear();
        (self.enabled, self.letter) = (ThreadSet::NONE, None);
        (self.n_fresh, self.n_brought) = (0, 0);
        (self.is_noted, self.is_partial) = (false, false);
    }

    /// Adds a target.
    #[inline]
    pub(crate) fn add(&mut self, target: StateId, is_new: bool) {
        self.n_fresh += usize::from(is_new);
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
        self.targets.push(target.index() as u32);
    }

    /// Drops the edges of other threads.
    pub(crate) fn keep_only(&mut self, threads: ThreadSet) {
        let Self { targets, movers, is_partial, .. } = self;
        *is_partial = true;
        let mut of_targets = movers.iter().map(|movers| movers.is_of(threads));
        targets.retain(|_| of_targets.next().unwrap_or(true));
        movers.retain(|movers| movers.is_of(threads));
    }
}

impl Edges {
    /// For states with so many threads, which may move with partners or not.
    pub(crate) const fn new(max_threads: u32, has_partners: bool) -> Self {
        Self {
            addresses: Slots::new(),
            n_addresses: AtomicU32::new(0),
            blocks: Slots::new(),
            n_blocks: AtomicU32::new(0),
            n_edges: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            max_threads,
            n_set: ThreadSet::n_words(max_threads) * 2,
            n_movers: if has_partners { 2 } else { 1 },
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.n_edges.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.addresses.bytes() + self.blocks.bytes() + self.bytes.load(Ordering::Relaxed)
    }

    fn address(&self, state: StateId) -> &AtomicU64 {
        #[expect(clippy::cast_possible_truncation, reason = "states are numbered in 32 bits")]
        let (block, at) = ((state.index() / STATES) as u32, state.index() % STATES);
        let addresses = self.addresses.get(block).unwrap_or_else(|| {
            let made: Arc<[AtomicU64]> = (0..STATES).map(|_| AtomicU64::new(UNKNOWN)).collect();
            let addresses = self.addresses.set(block, Arc::clone(&made));
            // Another worker may have been faster.
            if Arc::ptr_eq(addresses, &made) {
                self.bytes.fetch_add(size_of_val(&*made), Ordering::Relaxed);
                self.n_addresses.fetch_max(block + 1, Ordering::Relaxed);
            }
            addresses
        });
        &addresses[at]
    }

    /// What is known of a state that was expanded.
    pub(crate) fn get(&self, state: StateId) -> Option<Record<'_>> {
        self.find(&NOWHERE, state)
    }

    /// The same, by a map of these edges.
    #[inline]
    pub(crate) fn find<'e>(&'e self, map: &'e Map, state: StateId) -> Option<Record<'e>> {
        let address = match map.addresses.get(state.index() / STATES) {
            Some(addresses) => &addresses[state.index() % STATES],
            None => self.address(state),
        };
        let address = address.load(Ordering::Acquire).checked_sub(FIRST)?;
        #[expect(clippy::cast_possible_truncation, reason = "made of 32 bits each")]
        let (block, first) = ((address >> 32) as u32, address as u32 as usize);
        let words = map.blocks.get(block as usize).or_else(|| self.blocks.get(block))?;
        Some(Record { words: &words[first..], edges: self })
    }

    /// Asks to expand a state.
    pub(crate) fn claim(&self, state: StateId) -> Claim {
        let address = self.address(state);
        // Most states that are asked for were expanded, and a failed exchange would take the line of the cache from who reads it.
        if address.load(Ordering::Acquire) >= FIRST {
            return Claim::Done;
        }
        match address.compare_exchange(UNKNOWN, CLAIMED, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Claim::Granted,
            Err(CLAIMED) => Claim::Others,
            Err(_) => Claim::Done,
        }
    }

    /// Makes known that the record of a state that was claimed is elsewhere.
    pub(crate) fn refer(&self, state: StateId) {
        self.address(state).store(ELSEWHERE, Ordering::Release);
    }

    /// Whether the record of the state is elsewhere.
    #[inline]
    pub(crate) fn is_elsewhere(&self, state: StateId) -> bool {
        self.address(state).load(Ordering::Acquire) == ELSEWHERE
    }

    /// Gives a claim back.
    pub(crate) fn release(&self, state: StateId) {
        self.address(state).store(UNKNOWN, Ordering::Release);
    }

    /// Makes known what was found of a state that was claimed.
    pub(crate) fn publish(&self, writer: &mut RecordWriter, state: StateId, draft: &Draft) {
        let n_edges = draft.targets.len();
        let n_words = 2 + self.n_set + n_edges + (n_edges * self.n_movers).div_ceil(4);
        let has_room = writer.block.is_some() && writer.n_words + n_words <= BLOCK;
        if !has_room {
            let size = n_words.max(BLOCK);
            let next = self.n_blocks.fetch_add(1, Ordering::Relaxed);
            self.bytes.fetch_add(size * 4, Ordering::Relaxed);
            self.blocks.set(next, (0..size).map(|_| AtomicU32::new(0)).collect());
            // Only now: were each state counted for all, they would wait for each other.
            self.n_edges.fetch_add(writer.n_edges, Ordering::Relaxed);
            *writer = RecordWriter { block: Some(next), n_words: 0, n_edges: 0 };
        }
        let (block, first) = (writer.block.unwrap_or(0), writer.n_words);
        writer.n_words += n_words;
        let words = self.blocks.get(block).map_or(&[] as &[AtomicU32], |words| &words[first..]);
        let put = |at: usize, word: u32| words[at].store(word, Ordering::Relaxed);
        #[expect(clippy::cast_possible_truncation, reason = "a state has fewer steps")]
        let head = n_edges as u32 | if draft.is_noted { NOTED } else { 0 };
        put(0, head | if draft.is_partial { PARTIAL } else { 0 });
        let letter =
            draft.letter.map_or(0, |found| HAS_LETTER | u32::from(found.atoms & 0x7f) << 24 | found.letter);
        put(1, letter);
        let set = draft.enabled.words(self.max_threads);
        for (at, word) in set.iter().flat_map(|word| [*word, *word >> 32]).enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "halves of words")]
            put(2 + at, word as u32);
        }
        let first_target = 2 + self.n_set;
        draft.targets.iter().enumerate().for_each(|(at, &target)| put(first_target + at, target));
        let bytes = draft.movers.iter().flat_map(|movers| movers.bytes().into_iter().take(self.n_movers));
        let mut at = first_target + n_edges;
        let mut quarters = [0; 4];
        let mut n_quarters = 0;
        for byte in bytes {
            quarters[n_quarters] = byte;
            n_quarters += 1;
            if n_quarters == 4 {
                put(at, u32::from_le_bytes(quarters));
                (at, n_quarters) = (at + 1, 0);
            }
        }
        if n_quarters > 0 {
            put(at, u32::from_le_bytes(quarters));
        }
        writer.n_edges += n_edges;
        let address = u64::from(block) << 32 | first as u64;
        self.address(state).store(FIRST + address, Ordering::Release);
    }
}

impl Record<'_> {
    #[inline]
    fn word(&self, at: usize) -> u32 {
        self.words[at].load(Ordering::Relaxed)
    }

    /// Looks at it, so that it is close to the processor when it is needed.
    #[inline]
    pub(crate) fn touch(&self) -> u32 {
        self.word(0)
    }

    #[inline]
    pub(crate) fn n_edges(&self) -> usize {
        (self.word(0) & !(NOTED | PARTIAL)) as usize
    }

    /// Whether steps were left out, as far as that is known.
    pub(crate) fn is_partial(&self) -> bool {
        self.word(0) & PARTIAL != 0
    }

    /// Whether it has the edges of the other one, in the same order.
    pub(crate) fn is_like(&self, draft: &Draft) -> bool {
        let edges = (0..self.n_edges()).map(|edge| self.edge(edge));
        let others = draft.targets.iter().map(|&target| StateId::new(target as usize));
        edges.eq(others.zip(draft.movers.iter().copied()))
    }

    /// Whether something has to be noted of the state.
    #[inline]
    pub(crate) fn is_noted(&self) -> bool {
        self.word(0) & NOTED != 0
    }

    /// The letter that was kept, if one was.
    pub(crate) fn any_letter(&self) -> Option<Letter> {
        let word = self.word(1);
        let atoms = (word >> 24 & 0x7f) as u8;
        (word & HAS_LETTER != 0).then_some(Letter { atoms, letter: word & ((1 << LETTER_BITS) - 1) })
    }

    /// The letter, if it is one of these atoms.
    #[inline]
    pub(crate) fn letter(&self, atoms: u8) -> Option<u64> {
        let word = self.word(1);
        let is_wanted = word & HAS_LETTER != 0 && word >> 24 & 0x7f == u32::from(atoms);
        is_wanted.then(|| u64::from(word & ((1 << LETTER_BITS) - 1)))
    }

    /// The threads that can move.
    #[inline]
    pub(crate) fn enabled(&self) -> ThreadSet {
        let half = |at: usize| u64::from(self.word(2 + at));
        let mut words = [0; 4];
        let words = &mut words[..self.edges.n_set / 2];
        words.iter_mut().enumerate().for_each(|(at, word)| *word = half(2 * at) | half(2 * at + 1) << 32);
        ThreadSet::from_words(words)
    }

    /// Where an edge leads, and who moves.
    #[inline]
    pub(crate) fn edge(&self, edge: usize) -> (StateId, Movers) {
        let first_target = 2 + self.edges.n_set;
        let target = StateId::new(self.word(first_target + edge) as usize);
        let first_movers = first_target + self.n_edges();
        let byte = |at: usize| self.word(first_movers + at / 4).to_le_bytes()[at % 4];
        let movers = match self.edges.n_movers {
            1 => Movers::alone(byte(edge)),
            _ => Movers::from_bytes([byte(2 * edge), byte(2 * edge + 1)]),
        };
        (target, movers)
    }
}
