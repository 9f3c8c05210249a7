//! Steps that are known already.
//!
//! A state is made of few different parts, and what a thread does next depends on its own words and on those chunks of the
//! globals that its transitions touch. So the steps of a thread are remembered, with the parts that they change, under
//! the numbers of the parts that decided about them: where the same parts meet again, no guard is evaluated, nothing is
//! fired, and no part has to be looked up in the store. Blom, van de Pol and Weber do this in LTSmin (*LTSmin: Distributed
//! and symbolic reachability*, CAV 2010) for groups of transitions; here a group is what one thread can do.
//!
//! # Why it is right
//!
//! Which chunks decide is not known before. While the steps of a thread are found, the chunks are added up that the
//! transitions touch whose guards were looked at ([`crate::touch`]), with those that come at once after a step. What is
//! found is a function of the words of the thread and of these chunks: the generator does nothing else than to try
//! transitions one after the other, and the next one to be tried is decided by the words of the thread and by those that were
//! tried before. So in a state that has the same thread and the same chunks it tries the same ones, with the same result.
//! For each value of a thread, the chunks of all its entries are added up, and an entry has the numbers of all of them: more
//! than what decided does no harm.
//!
//! Where a transition can touch other threads, or which of them live, the numbers of all threads decide. That pays less often,
//! but where threads meet and the globals have many values, it does.

use std::ops::ControlFlow;

use pdnet_base::Idx as _;
use pdnet_net::Transition;

use crate::parts::{Row, summand, unpack, without_zeros};
use crate::state::marked;
use crate::successors::{Outcome, Step, Successors};
use crate::transition::Rule;
use crate::{Flow, Full, State, StateId, States, ThreadSet, Unsupported};

/// What gives numbers to the parts of states.
pub trait PartStore: States {
    /// Gives a number to those parts of a state that have none.
    ///
    /// # Errors
    /// Where there is no room for another number.
    fn number(&mut self, state: &mut State) -> Result<(), Full>;

    /// The numbers of a state's parts, after those that had none got one.
    ///
    /// # Errors
    /// Where there is no room for another number.
    fn make_row(&mut self, state: &mut State, row: &mut Row) -> Result<(), Full> {
        self.number(state)?;
        row.set(state.parts[..state.chunks.len() + state.n_threads].iter().copied());
        Ok(())
    }

    /// Puts the words of a part into the room, and nothing else: of a chunk of the globals, or, from the number of chunks on, of
    /// a thread.
    fn words(&self, part: usize, number: u32, room: &mut Vec<i64>);

    /// One word of a part.
    fn word(&self, part: usize, number: u32, at: usize) -> i64;

    /// The numbers of the parts of a stored state.
    fn load_row(&self, id: StateId, row: &mut Row);

    /// The bytes that it takes.
    fn bytes(&self) -> usize;
}

/// The memory is at most this share of the store, and so many words at least.
const SHARE: usize = 8;
const LEAST: usize = 1 << 15;

/// The store is measured again after so many entries.
const MEASURED: u32 = 1 << 10;

/// So often it is asked before it is seen whether that pays. Where it does not, it is left alone for a while, which is up to so
/// many times as long.
const ASKED: u32 = 1 << 11;
const LONGEST_SLEEP: u32 = 1 << 6;

/// A thread with so many changes, or with so many steps, is not remembered.
const MOST_CHANGES: usize = 64;
const MOST_STEPS: u32 = 256;

/// Bits of a step's second word, beside the number of changes in the lowest byte and that of inner transitions in the upper half.
const PRUNED: u32 = 1 << 8;
const CUT: u32 = 1 << 9;

/// What is known of the words of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The chunks that decide.
    chunks: u64,
    /// Other threads decide, too.
    others: bool,
    /// It has no frames.
    dead: bool,
    /// It has too many steps.
    long: bool,
}

/// Whether it pays to ask.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    n_asked: u32,
    n_found: u32,
    n_asleep: u32,
    sleep: u32,
}

impl Trial {
    /// Whether to ask now.
    #[inline]
    fn is_on(&mut self) -> bool {
        if self.n_asleep > 0 {
            self.n_asleep -= 1;
            return false;
        }
        self.n_asked += 1;
        if self.n_asked == ASKED {
            let pays = self.n_found >= ASKED / 3;
            self.sleep = if pays { 0 } else { (self.sleep * 2).clamp(1, LONGEST_SLEEP) };
            (self.n_asked, self.n_found, self.n_asleep) = (0, 0, self.sleep * ASKED);
        }
        true
    }
}

/// The steps that are remembered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memo {
    /// By the number of a thread's words.
    known: Vec<Known>,
    /// For each entry: its key, the number of steps, and the steps. A step is its transition, the numbers of what follows,
    /// the partner plus 1, pairs of a part and its new number, and inner transitions.
    entries: Vec<u32>,
    /// Where entries begin, plus 1, by the hash of their keys.
    table: Vec<u32>,
    n_entries: usize,
    /// The steps that are being found, in the form of an entry.
    steps: Vec<u32>,
    n_steps: u32,
    /// How many entries were made, and how many words there may be.
    n_kept: u32,
    most: usize,
    /// Where other threads do not decide, and where they do.
    trials: [Trial; 2],
}

/// What the steps of a thread are remembered by: the thread, and whether others decide; the number of the thread's words; the
/// set of chunks that decide; their numbers, and perhaps those of all threads.
#[derive(Clone, Copy)]
struct Key<'a> {
    row: &'a [u32],
    n_chunks: usize,
    thread: usize,
    known: &'a Known,
}

/// The words of a key before the numbers that decide.
const HEAD: usize = 4;

impl Key<'_> {
    #[expect(clippy::cast_possible_truncation, reason = "halves of words; there are at most 255 threads")]
    #[inline]
    fn head(&self) -> [u32; HEAD] {
        let chunks = self.known.chunks;
        let first = (usize::from(self.known.others) << 24 | self.thread << 16) as u32;
        [first, self.row[self.n_chunks + self.thread], chunks as u32, (chunks >> 32) as u32]
    }

    /// The chunks that decide, of those that have a bit of their own.
    #[inline]
    const fn chunks(&self) -> u64 {
        self.known.chunks & u64::MAX >> 1
    }

    /// The numbers of the other chunks, where they decide.
    #[inline]
    fn more(&self) -> &[u32] {
        if self.known.chunks >> 63 == 1 { &self.row[63..self.n_chunks] } else { &[] }
    }

    /// The numbers of all threads, where they decide.
    #[inline]
    fn others(&self) -> &[u32] {
        if self.known.others { &without_zeros(self.row, self.n_chunks)[self.n_chunks..] } else { &[] }
    }

    #[inline]
    fn hash(&self) -> usize {
        let mut hash = hash_head(self.head());
        let mut rest = self.chunks();
        while rest != 0 {
            hash = mix(hash, self.row[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        for &number in self.more() {
            hash = mix(hash, number);
        }
        for &number in self.others() {
            hash = mix(hash, number);
        }
        finish(hash)
    }

    /// Whether it is the one that an entry begins with; then how many words it has.
    #[inline]
    fn is(&self, entry: &[u32]) -> Option<usize> {
        let (head, _) = entry.split_first_chunk::<HEAD>()?;
        let own = self.head();
        let n_words = (head[0] & 0xffff) as usize;
        let is_equal =
            head[0] & !0xffff == own[0] && head[1] == own[1] && head[2] == own[2] && head[3] == own[3];
        let mut numbers = entry.get(HEAD..n_words)?.iter();
        if !is_equal {
            return None;
        }
        let mut rest = self.chunks();
        while rest != 0 {
            if numbers.next() != Some(&self.row[rest.trailing_zeros() as usize]) {
                return None;
            }
            rest &= rest - 1;
        }
        for number in self.more() {
            if numbers.next() != Some(number) {
                return None;
            }
        }
        for number in self.others() {
            if numbers.next() != Some(number) {
                return None;
            }
        }
        numbers.as_slice().is_empty().then_some(n_words)
    }

    /// Appends its words.
    fn append_to(&self, entries: &mut Vec<u32>) {
        let start = entries.len();
        entries.extend(self.head());
        let mut rest = self.chunks();
        while rest != 0 {
            entries.push(self.row[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        entries.extend(self.more());
        entries.extend(self.others());
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer than 2^16 parts")]
        let n_words = (entries.len() - start) as u32;
        entries[start] |= n_words;
    }
}

/// What is known of the steps of a thread.
enum Memory {
    /// The steps are here, so many.
    Steps(usize, u32),
    /// Nothing yet.
    Nothing,
    /// They cannot be remembered, or it does not pay.
    Never,
    /// There are none, for the thread does not live.
    Dead,
}

impl Memo {
    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        (self.entries.capacity() + self.table.capacity()) * 4 + self.known.capacity() * size_of::<Known>()
    }

    /// Looks for the steps of a thread.
    #[inline]
    fn find(&mut self, row: &[u32], n_chunks: usize, thread: usize) -> Memory {
        let part = row[n_chunks + thread];
        let Some(&known) = self.known.get(part as usize) else { return Memory::Nothing };
        if known.dead {
            return Memory::Dead;
        }
        let trial = &mut self.trials[usize::from(known.others)];
        if known.long || !trial.is_on() {
            return Memory::Never;
        }
        match self.look_up(Key { row, n_chunks, thread, known: &known }) {
            Some(at) => {
                self.trials[usize::from(known.others)].n_found += 1;
                Memory::Steps(at + 1, self.entries[at])
            }
            None => Memory::Nothing,
        }
    }

    /// What is known of the words of a thread, by their number.
    fn known_mut(&mut self, part: u32) -> &mut Known {
        if self.known.len() <= part as usize {
            self.known.resize(part as usize + 1, Known::default());
        }
        &mut self.known[part as usize]
    }

    /// Where the entry of the key has its steps.
    #[inline]
    fn look_up(&self, key: Key<'_>) -> Option<usize> {
        let mask = self.table.len().checked_sub(1)?;
        let mut slot = key.hash() & mask;
        loop {
            let at = self.table[slot].checked_sub(1)? as usize;
            if let Some(n_words) = key.is(&self.entries[at..]) {
                return Some(at + n_words);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Begins to note steps.
    fn start(&mut self) {
        self.steps.clear();
        self.n_steps = 0;
    }

    /// Notes a step that leads from one state to the other, both with numbers for all parts.
    fn add(&mut self, current: &State, next: &State, step: &Step<'_>) {
        let start = self.steps.len();
        self.n_steps += 1;
        self.steps.extend([index(step.transition), 0, step.partner.map_or(0, |partner| partner + 1)]);
        let (mut n_changes, n_chunks) = (0, current.chunks.len());
        let mut flags = if step.is_cut { CUT } else { 0 };
        match step.outcome {
            Outcome::Pruned => flags |= PRUNED,
            Outcome::State => {
                let chunks = marked(next.changed_chunks, n_chunks);
                let threads = next.changed_threads.iter().take_while(|&thread| thread < next.n_threads);
                let parts = chunks.chain(threads.map(|thread| n_chunks + thread));
                for part in parts.filter(|&part| current.parts[part] != next.parts[part]) {
                    n_changes += 1;
                    #[expect(clippy::cast_possible_truncation, reason = "parts are numbered so")]
                    self.steps.extend([part as u32, next.parts[part]]);
                }
            }
        }
        self.steps.extend(step.inner.iter().map(|&transition| index(transition)));
        match (u32::try_from(n_changes), u16::try_from(step.inner.len())) {
            (Ok(n_changes), Ok(n_inner)) if n_changes as usize <= MOST_CHANGES => {
                self.steps[start + 1] = n_changes | flags | u32::from(n_inner) << 16;
            }
            _ => self.n_steps = MOST_STEPS,
        }
    }

    /// Remembers the steps that were noted, of a thread in this state, which these chunks have decided.
    fn keep(&mut self, state: &State, thread: usize, chunks: u64, others: bool) {
        self.n_kept = self.n_kept.wrapping_add(1);
        let n_chunks = state.chunks.len();
        let is_long = self.n_steps >= MOST_STEPS;
        let known = self.known_mut(state.parts[n_chunks + thread]);
        known.chunks |= chunks;
        known.others |= others;
        known.long |= is_long;
        let known = *known;
        if is_long {
            return;
        }
        if self.entries.len() + self.table.len() > self.most {
            self.entries.clear();
            self.table.clear();
            self.n_entries = 0;
        }
        let row = &state.parts[..n_chunks + state.n_threads];
        let key = Key { row, n_chunks, thread, known: &known };
        // The same may have been found again, where more chunks decide than before.
        if self.look_up(key).is_some() {
            return;
        }
        let Ok(at) = u32::try_from(self.entries.len()) else { return };
        let n_more = HEAD + row.len() + 1 + self.steps.len();
        if self.entries.capacity() - self.entries.len() < n_more {
            self.entries.reserve_exact(n_more + self.entries.len() / 4);
        }
        key.append_to(&mut self.entries);
        self.entries.push(self.n_steps);
        self.entries.extend_from_slice(&self.steps);
        self.n_entries += 1;
        if self.n_entries * 2 > self.table.len() {
            let before = std::mem::take(&mut self.table);
            self.table = vec![0; (before.len() * 2).max(1 << 8)];
            for at in before.into_iter().filter(|&at| at != 0) {
                self.put(at);
            }
        }
        self.put(at + 1);
    }

    /// Puts an entry into the table, by where it begins, plus 1.
    fn put(&mut self, entry: u32) {
        let at = entry as usize - 1;
        let key = &self.entries[at..][..(self.entries[at] & 0xffff) as usize];
        let mask = self.table.len() - 1;
        let (&[first, own, low, high], numbers) =
            key.split_first_chunk::<HEAD>().unwrap_or((&[0; HEAD], &[]));
        // The length is not a part of the hash.
        let head = hash_head([first & !0xffff, own, low, high]);
        let hash = numbers.iter().fold(head, |hash, &number| mix(hash, number));
        let mut slot = finish(hash) & mask;
        while self.table[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.table[slot] = entry;
    }
}

impl Successors<'_> {
    /// Goes to a stored state, of which only the numbers of its parts are needed as long as its steps are remembered.
    pub fn load_row(&mut self, store: &impl PartStore, id: StateId) {
        store.load_row(id, &mut self.row);
        self.is_unpacked = false;
    }

    /// The same for a state that need not be stored.
    pub fn go_to_row(&mut self, row: &Row) {
        self.row.copy_from(row);
        self.is_unpacked = false;
    }

    /// The state that was gone to last.
    #[must_use]
    pub const fn row(&self) -> &Row {
        &self.row
    }

    /// Makes the state that was gone to last the current one.
    pub fn unpack(&mut self, store: &impl PartStore) {
        if !self.is_unpacked {
            let numbers = self.row.numbers.iter().copied();
            let n_chunks = self.current.chunks.len();
            unpack(numbers, &mut self.current, n_chunks, |part, number, room| {
                store.words(part, number, room)
            });
            self.is_unpacked = true;
        }
    }

    /// Calls `visit` as [`Successors::for_each`] does, for the state that was gone to by its numbers, but steps that are
    /// remembered are not found again, and `visit` gets the store, too. It must be the same store for the whole life of
    /// the generator. Steps do not know their binding.
    ///
    /// # Errors
    /// Where a step does something that states have no room for.
    pub fn for_each_remembered<S: PartStore, R: Into<Flow>>(
        &mut self,
        store: &mut S,
        mut visit: impl FnMut(&mut S, &Step<'_>, &Row) -> R,
    ) -> Result<(), Unsupported> {
        self.error = None;
        self.has_shown = false;
        self.is_partial = false;
        self.is_started = false;
        if self.ended.word(self.compiled.ended_at, &self.row, store) != 0 {
            return Ok(());
        }
        self.next_row.copy_from(&self.row);
        let visit = &mut |store: &mut S, step: &Step<'_>, row: &Row| visit(store, step, row).into().control;
        let _ = self.expand_remembered(store, visit);
        self.result()
    }

    /// The bytes that remembered steps take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.memo.bytes()
    }

    fn expand_remembered<S: PartStore>(
        &mut self,
        store: &mut S,
        visit: &mut impl FnMut(&mut S, &Step<'_>, &Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let n_chunks = self.current.chunks.len();
        let n_threads = self.row.numbers.len() - n_chunks;
        let owner = self.owner.word(self.compiled.atomic_at, &self.row, store);
        let threads = match usize::try_from(owner.wrapping_sub(1)) {
            _ if owner == 0 => 0..n_threads,
            Ok(owner) if owner < n_threads => owner..owner + 1,
            Ok(_) | Err(_) => 0..0,
        };
        for thread in threads {
            match self.memo.find(&self.row.numbers, n_chunks, thread) {
                Memory::Dead => {}
                Memory::Steps(at, n_steps) => self.show_remembered(thread, at, n_steps, store, visit)?,
                Memory::Nothing => self.remember(thread, store, visit)?,
                Memory::Never => {
                    self.begin(store);
                    self.show_numbered(ThreadSet::single(thread) & self.current.live, false, store, visit)?;
                }
            }
        }
        if !self.has_shown && self.compiled.has_late() {
            self.begin(store);
            self.show_numbered(self.movable(), true, store, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Makes ready to find steps.
    fn begin(&mut self, store: &impl PartStore) {
        if !self.is_started {
            self.unpack(store);
            self.next.copy_from(&self.current);
            self.is_started = true;
        }
    }

    /// Shows steps that are remembered.
    fn show_remembered<S: PartStore>(
        &mut self,
        thread: usize,
        mut at: usize,
        n_steps: u32,
        store: &mut S,
        visit: &mut impl FnMut(&mut S, &Step<'_>, &Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let Self { memo, row, next_row, sequence, has_shown, .. } = self;
        *has_shown |= n_steps > 0;
        for _ in 0..n_steps {
            let (transition, numbers) = (memo.entries[at], memo.entries[at + 1]);
            let (n_changes, n_inner) = ((numbers & 0xff) as usize, (numbers >> 16) as usize);
            let partner = memo.entries[at + 2].checked_sub(1);
            let (changes, behind) = memo.entries[at + 3..].split_at(2 * n_changes);
            at += 3 + 2 * n_changes + n_inner;
            for change in changes.chunks_exact(2) {
                let part = change[0] as usize;
                if part >= next_row.numbers.len() {
                    next_row.numbers.resize(part + 1, 0);
                }
                let before = std::mem::replace(&mut next_row.numbers[part], change[1]);
                next_row.sum =
                    next_row.sum.wrapping_add(summand(part, change[1])).wrapping_sub(summand(part, before));
            }
            sequence.transitions.clear();
            let inner = behind[..n_inner].iter().map(|&inner| Transition::new(inner as usize));
            sequence.transitions.extend(inner);
            let outcome = if numbers & PRUNED == 0 { Outcome::State } else { Outcome::Pruned };
            let step = Step {
                #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 threads")]
                thread: thread as u32,
                transition: Transition::new(transition as usize),
                outcome,
                partner,
                inner: &sequence.transitions,
                is_cut: numbers & CUT != 0,
                binding: None,
            };
            let flow = visit(store, &step, next_row);
            next_row.sum = row.sum;
            next_row.numbers.truncate(row.numbers.len());
            for change in changes.chunks_exact(2) {
                let part = change[0] as usize;
                if let Some(number) = next_row.numbers.get_mut(part) {
                    *number = row.numbers[part];
                }
            }
            flow?;
        }
        ControlFlow::Continue(())
    }

    /// Finds the steps of a thread, shows and remembers them.
    #[inline(never)]
    fn remember<S: PartStore>(
        &mut self,
        thread: usize,
        store: &mut S,
        visit: &mut impl FnMut(&mut S, &Step<'_>, &Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.begin(store);
        if !self.current.live.contains(thread) {
            let part = self.current.parts[self.current.chunks.len() + thread];
            self.memo.known_mut(part).dead = true;
            return ControlFlow::Continue(());
        }
        self.touched.start(thread);
        self.memo.start();
        let found = &mut |this: &mut Self, transition, rule: &Rule| {
            this.show_row(transition, rule, store, &mut |this, store, step| {
                this.memo.add(this.current, this.next, step);
                visit(store, step, this.next_row)
            })
        };
        self.bind_enabled(ThreadSet::single(thread), false, found)?;
        if self.memo.n_kept.is_multiple_of(MEASURED) {
            self.memo.most = LEAST.max(store.bytes() / 4 / SHARE);
        }
        let (chunks, others) = (self.touched.chunks, self.touched.others);
        self.memo.keep(&self.current, thread, chunks, others);
        ControlFlow::Continue(())
    }

    /// Finds the steps of threads and shows them.
    fn show_numbered<S: PartStore>(
        &mut self,
        threads: ThreadSet,
        late: bool,
        store: &mut S,
        visit: &mut impl FnMut(&mut S, &Step<'_>, &Row) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.bind_enabled(threads, late, &mut |this: &mut Self, transition, rule: &Rule| {
            this.show_row(transition, rule, store, &mut |this, store, step| visit(store, step, this.next_row))
        })
    }

    /// Fires what is bound, and shows the numbers of the state after it.
    fn show_row<S: PartStore>(
        &mut self,
        transition: Transition,
        rule: &Rule,
        store: &mut S,
        visit: &mut impl FnMut(Shown<'_>, &mut S, &Step<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let outcome = self.take(rule)?;
        let partner = self.optional(rule.partner).and_then(|partner| u32::try_from(partner).ok());
        if outcome == Outcome::State && store.make_row(&mut self.next, &mut self.next_row).is_err() {
            self.error = Some("more than 2^32 different parts of states");
            return ControlFlow::Break(());
        }
        let Self { current, next, next_row, registers, sequence, memo, .. } = self;
        let step = sequence.step(transition, rule, outcome, registers, partner);
        let flow = visit(Shown { current, next, next_row, memo }, store, &step);
        self.next.restore(&self.current);
        self.next_row.copy_from(&self.row);
        flow
    }
}

/// What there is of a step that was found.
struct Shown<'a> {
    current: &'a State,
    next: &'a State,
    next_row: &'a Row,
    memo: &'a mut Memo,
}

fn index(transition: Transition) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "indices have 32 bits")]
    let index = transition.index() as u32;
    index
}

/// The hash of what a key begins with. Which chunks decide is known by the thread's words, nearly always.
#[inline]
const fn hash_head([first, own, _, _]: [u32; HEAD]) -> u64 {
    mix(first as u64, own)
}

/// Adds a number of a key to its hash.
#[inline]
const fn mix(hash: u64, number: u32) -> u64 {
    (hash ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

#[inline]
const fn finish(hash: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "the table is small")]
    let hash = hash as usize;
    hash
}

/// What was touched while steps were found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trail {
    /// The thread whose steps are found.
    thread: usize,
    pub(crate) chunks: u64,
    /// Something of other threads.
    pub(crate) others: bool,
}

impl Trail {
    pub(crate) const fn start(&mut self, thread: usize) {
        *self = Self { thread, chunks: 0, others: false };
    }

    /// A transition of a thread is tried.
    #[inline]
    pub(crate) const fn add(&mut self, thread: usize, rule: &Rule) {
        self.chunks |= rule.chunks;
        self.others |= rule.touches_others || thread != self.thread;
    }

    /// It is asked whether a thread lives.
    #[inline]
    pub(crate) const fn add_thread(&mut self, thread: usize) {
        self.others |= thread != self.thread;
    }

    /// What was touched by those who went on from here.
    pub(crate) const fn join(&mut self, other: Self) {
        self.chunks |= other.chunks;
        self.others |= other.others;
    }
}
