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
//! transitions look at whose guards were tried, and those that the ones touch that fired ([`crate::touch`]), with what comes
//! at once after a step. What is
//! found is a function of the words of the thread and of these chunks: the generator does nothing else than to try
//! transitions one after the other, and the next one to be tried is decided by the words of the thread and by those that were
//! tried before. So in a state that has the same thread and the same chunks it tries the same ones, with the same result.
//! For each value of a thread, the chunks of all its entries are added up, and an entry has the numbers of all of them: more
//! than what decided does no harm.
//!
//! A transition may look for a partner, which is a thread that stands on a certain place. Then it is decisive which threads stand
//! there and what their words are, and of all others nothing but that they do not. So these places are added up as the
//! chunks are, and an entry has the numbers of those threads that stand on one of them. A thread that was found where it was looked
//! for may be asked for anything: its words are among those that decide. That a thread stands somewhere only after a
//! step makes no difference, since a step changes no other threads than the one that moves and its partner.
//!
//! Where a transition can touch other threads in another way, or which of them live, the numbers of all threads decide. That pays
//! less often, but where threads meet and the globals have many values, it does.
//!
//! All parts that a step changes are among those that decide. So what the step adds to the sum that a row is hashed by is the
//! same wherever it is remembered, and is kept with it.

use std::ops::ControlFlow;

use pdnet_base::Idx as _;
use pdnet_net::Transition;

use crate::parts::{Row, summand, unpack, without_zeros};
use crate::state::marked;
use crate::successors::{Outcome, Step, Successors};
use crate::transition::{Decisive, Rule};
use crate::{Compiled, Flow, Full, State, StateId, States, ThreadSet, Unsupported};

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
const MOST_CHANGES: u32 = 64;
const MOST_STEPS: u32 = 256;

/// Bits of a step's second word, beside the number of changes in the lowest ones. Above them are the partner plus 1 and the
/// number of inner transitions.
const CHANGES: u32 = (1 << 7) - 1;
const PRUNED: u32 = 1 << 7;
const CUT: u32 = 1 << 8;
const PARTNER_AT: u32 = 9;
const PARTNERS: u32 = (1 << 8) - 1;
const INNER_AT: u32 = 17;
const MOST_INNER: u32 = (1 << 15) - 1;

/// What is known of the words of a thread. It is looked at for each thread of each state, and lies in one line of the cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Known {
    /// What decides about its steps.
    by: Decisive,
    /// How often something was added to that. There are fewer than 256 bits.
    version: u8,
    /// It has no frames.
    dead: bool,
    /// It has too many steps.
    long: bool,
}

/// On which places a thread stands, where that was not asked. That it stands on all of them is asked again and again.
const NOT_ASKED: u64 = u64::MAX;

/// A key that was made: how many words it has, and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    n_words: usize,
    hash: usize,
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
    /// On which of the places a thread stands where threads are looked for, by the number of its words.
    stands: Vec<u64>,
    /// For each entry: its key, the number of steps, and the steps. A step is its transition, the numbers of what follows with
    /// the partner, what it adds to the sum of a row, pairs of a part and its new number, and inner transitions.
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
    /// Where other threads do not decide, where those do that are looked for, and where all of them do.
    trials: [Trial; 3],
    /// The key that is looked for, with room behind it.
    key: Vec<u32>,
}

/// The words of a key before the numbers that decide: the thread with the version of what decides and the length of the key, and
/// the number of the thread's words. Which numbers follow is decided by these.
const HEAD: usize = 2;

/// Where a state is asked for the steps of a thread.
#[derive(Clone, Copy)]
struct Place<'a> {
    row: &'a [u32],
    n_chunks: usize,
    thread: usize,
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
        (self.entries.capacity() + self.table.capacity()) * 4
            + self.known.capacity() * size_of::<Known>()
            + self.stands.capacity() * size_of::<u64>()
    }

    /// Looks for the steps of a thread. `stands` is asked on which places a thread stands, by the number of its words.
    #[inline]
    fn find(&mut self, place: Place<'_>, stands: impl FnMut(u32) -> u64) -> Memory {
        let part = place.row[place.n_chunks + place.thread];
        let Some(&known) = self.known.get(part as usize) else { return Memory::Nothing };
        if known.dead {
            return Memory::Dead;
        }
        let trial = trial_of(known.by);
        if known.long || !self.trials[trial].is_on() {
            return Memory::Never;
        }
        let Some(key) = self.make_key(place, &known, stands) else { return Memory::Never };
        match self.look_up(key) {
            Some(at) => {
                self.trials[trial].n_found += 1;
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

    /// Makes the key of what is known; nothing where it has too many words.
    #[inline]
    fn make_key(
        &mut self,
        place: Place<'_>,
        known: &Known,
        mut stands: impl FnMut(u32) -> u64,
    ) -> Option<Key> {
        let Place { row, n_chunks, thread } = place;
        let most = HEAD + n_chunks + 2 * (row.len() - n_chunks);
        if self.key.len() < most {
            self.key.resize(most, 0);
        }
        // What was just written is not read again to be hashed: the processor would wait for that.
        let (part, mut at) = (row[n_chunks + thread], HEAD);
        let mut sum = 0;
        let mut rest = known.by.chunks & u64::MAX >> 1;
        while rest != 0 {
            let number = row[rest.trailing_zeros() as usize];
            self.key[at] = number;
            sum = mix(sum, number);
            at += 1;
            rest &= rest - 1;
        }
        if known.by.chunks >> 63 == 1 {
            for &number in &row[63..n_chunks] {
                self.key[at] = number;
                sum = mix(sum, number);
                at += 1;
            }
        }
        if known.by.others {
            for &number in &without_zeros(row, n_chunks)[n_chunks..] {
                self.key[at] = number;
                sum = mix(sum, number);
                at += 1;
            }
        } else if known.by.places != 0 {
            for (other, &number) in row[n_chunks..].iter().enumerate() {
                let is_there =
                    other != thread && number != 0 && self.stands(number, &mut stands) & known.by.places != 0;
                if is_there {
                    #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 threads")]
                    let other = other as u32;
                    (self.key[at], self.key[at + 1]) = (other, number);
                    sum = mix(mix(sum, other), number);
                    at += 2;
                }
            }
        }
        let n_words = u16::try_from(at).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 threads")]
        let first = u32::from(n_words) | (thread as u32) << 16 | u32::from(known.version) << 24;
        (self.key[0], self.key[1]) = (first, part);
        Some(Key { n_words: at, hash: finish(sum, [first, part]) })
    }

    /// On which places a thread stands, by the number of its words.
    #[inline]
    fn stands(&mut self, number: u32, stands: &mut impl FnMut(u32) -> u64) -> u64 {
        match self.stands.get(number as usize) {
            Some(&bits) if bits != NOT_ASKED => bits,
            Some(_) | None => {
                if self.stands.len() <= number as usize {
                    self.stands.resize(number as usize + 1, NOT_ASKED);
                }
                let bits = stands(number);
                self.stands[number as usize] = bits;
                bits
            }
        }
    }

    /// Where the entry of the key has its steps.
    #[inline]
    fn look_up(&self, Key { n_words, hash }: Key) -> Option<usize> {
        let key = &self.key[..n_words];
        let mask = self.table.len().checked_sub(1)?;
        let mut slot = hash & mask;
        loop {
            let at = self.table[slot].checked_sub(1)? as usize;
            // The length is a part of the first word.
            let entry = &self.entries[at..];
            if entry[0] == key[0] && entry.iter().zip(key).all(|(word, wanted)| word == wanted) {
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
        self.steps.extend([index(step.transition), 0, 0, 0]);
        let (mut n_changes, mut sum, n_chunks) = (0, 0_u64, current.chunks.len());
        let mut flags = if step.is_cut { CUT } else { 0 };
        match step.outcome {
            Outcome::Pruned => flags |= PRUNED,
            Outcome::State => {
                let chunks = marked(next.changed_chunks, n_chunks);
                let threads = next.changed_threads.iter().take_while(|&thread| thread < next.n_threads);
                let parts = chunks.chain(threads.map(|thread| n_chunks + thread));
                for part in parts.filter(|&part| current.parts[part] != next.parts[part]) {
                    n_changes += 1;
                    let (before, after) = (current.parts[part], next.parts[part]);
                    sum = sum.wrapping_add(summand(part, after)).wrapping_sub(summand(part, before));
                    #[expect(clippy::cast_possible_truncation, reason = "parts are numbered so")]
                    self.steps.extend([part as u32, after]);
                }
            }
        }
        self.steps.extend(step.inner.iter().map(|&transition| index(transition)));
        #[expect(clippy::cast_possible_truncation, reason = "halves of a word")]
        let halves = [sum as u32, (sum >> 32) as u32];
        self.steps[start + 2..start + 4].copy_from_slice(&halves);
        let partner = step.partner.map_or(0, |partner| partner + 1);
        match u32::try_from(step.inner.len()) {
            Ok(n_inner) if n_inner <= MOST_INNER && n_changes <= MOST_CHANGES && partner <= PARTNERS => {
                self.steps[start + 1] = n_changes | flags | partner << PARTNER_AT | n_inner << INNER_AT;
            }
            Ok(_) | Err(_) => self.n_steps = MOST_STEPS,
        }
    }

    /// Remembers the steps that were noted, of a thread, and what has decided about them. `stands` is as in [`Memo::find`].
    fn keep(&mut self, place: Place<'_>, by: Decisive, stands: impl FnMut(u32) -> u64) {
        self.n_kept = self.n_kept.wrapping_add(1);
        let is_long = self.n_steps >= MOST_STEPS;
        let known = self.known_mut(place.row[place.n_chunks + place.thread]);
        let before = known.by;
        known.by.add(by);
        known.version += u8::from(known.by != before);
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
        let Some(key) = self.make_key(place, &known, stands) else { return };
        // The same may have been found again, where more decides than before.
        if self.look_up(key).is_some() {
            return;
        }
        let Ok(at) = u32::try_from(self.entries.len()) else { return };
        let n_more = key.n_words + 1 + self.steps.len();
        if self.entries.capacity() - self.entries.len() < n_more {
            self.entries.reserve_exact(n_more + self.entries.len() / 4);
        }
        self.entries.extend_from_slice(&self.key[..key.n_words]);
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
        let mut slot = hash(key) & mask;
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
            let place = Place { row: &self.row.numbers, n_chunks, thread };
            match self.memo.find(place, |number| stands_on(self.compiled, store, number)) {
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
            let Some((&[transition, numbers, low, high], rest)) = memo.entries[at..].split_first_chunk()
            else {
                break;
            };
            let (n_changes, n_inner) = ((numbers & CHANGES) as usize, (numbers >> INNER_AT) as usize);
            let partner = (numbers >> PARTNER_AT & PARTNERS).checked_sub(1);
            let (changes, behind) = rest.split_at(2 * n_changes);
            let changes = changes.as_chunks::<2>().0;
            at += 4 + 2 * n_changes + n_inner;
            for &[part, number] in changes {
                let part = part as usize;
                if part >= next_row.numbers.len() {
                    next_row.numbers.resize(part + 1, 0);
                }
                next_row.numbers[part] = number;
            }
            next_row.sum = row.sum.wrapping_add(u64::from(low) | u64::from(high) << 32);
            sequence.transitions.clear();
            if n_inner > 0 {
                let inner = behind[..n_inner].iter().map(|&inner| Transition::new(inner as usize));
                sequence.transitions.extend(inner);
            }
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
            for &[part, _] in changes {
                let part = part as usize;
                if let (Some(number), Some(&before)) = (next_row.numbers.get_mut(part), row.numbers.get(part))
                {
                    *number = before;
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
        let (compiled, n_chunks) = (self.compiled, self.current.chunks.len());
        let place = Place { row: &self.row.numbers, n_chunks, thread };
        self.memo.keep(place, self.touched.by, |number| stands_on(compiled, store, number));
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

/// Where other threads do not decide, where those do that are looked for, and where all of them do.
#[inline]
const fn trial_of(by: Decisive) -> usize {
    match by {
        Decisive { others: true, .. } => 2,
        Decisive { places: 0, .. } => 0,
        Decisive { .. } => 1,
    }
}

/// On which of the places where threads are looked for a thread stands, by the number of its words.
#[cold]
fn stands_on(compiled: &Compiled, store: &impl PartStore, number: u32) -> u64 {
    let mut words = Vec::new();
    store.words(compiled.layout.chunks.len(), number, &mut words);
    compiled.stands_on(&words)
}

/// The hash of a key, as it is made together with it.
#[inline]
fn hash(key: &[u32]) -> usize {
    let (head, rest) = key.split_first_chunk::<HEAD>().unwrap_or((&[0; HEAD], &[]));
    finish(rest.iter().fold(0, |sum, &word| mix(sum, word)), *head)
}

/// Adds the words before those that were mixed.
#[inline]
const fn finish(sum: u64, [first, part]: [u32; HEAD]) -> usize {
    let head = (first as u64 | (part as u64) << 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    #[expect(clippy::cast_possible_truncation, reason = "the table is small")]
    let hash = (sum ^ head).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) as usize;
    hash
}

#[inline]
const fn mix(sum: u64, word: u32) -> u64 {
    (sum ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// What was touched while steps were found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trail {
    /// What decides.
    pub(crate) by: Decisive,
    /// The thread whose steps are found, and those that were found on places where they were looked for.
    met: ThreadSet,
}

impl Trail {
    pub(crate) fn start(&mut self, thread: usize) {
        *self = Self { by: Decisive::default(), met: ThreadSet::single(thread) };
    }

    /// A transition of a thread is tried.
    #[inline]
    pub(crate) fn add(&mut self, thread: usize, rule: &Rule) {
        self.by.add(rule.if_tried);
        self.add_thread(thread);
    }

    /// Something of a thread is asked, or whether it lives.
    #[inline]
    pub(crate) fn add_thread(&mut self, thread: usize) {
        self.by.others |= !self.met.contains(thread);
    }

    /// A thread stands on a place where it was looked for.
    #[inline]
    pub(crate) const fn meet(&mut self, thread: usize) {
        self.met.insert(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length is a part of a key's first word, beside the thread: a longer key would be that of another thread.
    #[test]
    fn keys_that_are_too_long_are_not_made() {
        let by = Decisive { chunks: u64::MAX, ..Decisive::default() };
        let known = Known { by, ..Known::default() };
        for (n_chunks, is_made) in
            [(70, true), (0xffff - HEAD, true), (0x1_0000 - HEAD, false), (70_000, false)]
        {
            let row = vec![1; n_chunks + 4];
            let place = Place { row: &row, n_chunks, thread: 2 };
            let mut memo = Memo::default();
            let made = memo.make_key(place, &known, |_| 0);
            if let Some(Key { n_words, hash: made }) = made {
                assert_eq!(hash(&memo.key[..n_words]), made, "{n_chunks} chunks");
            }
            assert_eq!(made.map(|key| key.n_words), is_made.then_some(HEAD + n_chunks), "{n_chunks} chunks");
        }
    }
}
