//! A graph with its edges.
//!
//! What is known of a state never changes once it is known, so that it is kept once. Other workers may go on finding edges while
//! that is done: how many states there are is seen first, and an edge is kept with its state where all states
//! that it leads to are among them; otherwise the next time.
//!
//! Only edges for the whole sight are kept ([`crate::sights`]). Those for others are found again, on the states that are there: these are kept with
//! their marks, on which it depends what is found.

use pdnet_base::Idx as _;
use pdnet_base::varint::{put, take};
use pdnet_check::{Keeper, Progress, StopReason};
use pdnet_space::{StateId, States as _, StoreWorker, ThreadSet};

use crate::budget::Budget;
use crate::edges::{Draft, LETTER_BITS, Letter, Record, RecordWriter};
use crate::graph::{Known, Noted};
use crate::journal::findings::{put_transitions, take_transitions};
use crate::journal::states::StateLog;
use crate::journal::{
    Contents, Kind, append_large, append_rest, give_up, go_on, put_bytes, put_signed, take_bytes,
    take_signed, take_u32, take_usize,
};
use crate::model::{Model, Movers};

/// A graph that is kept.
pub(crate) struct GraphJournal {
    search: u64,
    states: StateLog,
    /// The states whose edges were kept, as bits.
    kept: Vec<u64>,
    n_looks: u32,
    /// Something was kept.
    pub(crate) is_begun: bool,
    /// What was kept before was read.
    is_read: bool,
}

impl GraphJournal {
    pub(crate) fn new(search: u64) -> Self {
        let (states, kept) = (StateLog::default(), Vec::new());
        Self { search, states, kept, n_looks: 0, is_begun: false, is_read: false }
    }

    /// Whether what was kept has still to be read.
    pub(crate) const fn is_unread(&self) -> bool {
        !self.is_read
    }

    /// Whether it is time to keep what is new.
    #[inline]
    pub(crate) fn is_due(&mut self, budget: &mut Budget<'_>) -> bool {
        self.n_looks = self.n_looks.wrapping_add(1);
        budget.is_keeping_due(self.n_looks)
    }

    fn are_edges_kept(&self, number: u32) -> bool {
        let word = self.kept.get((number / 64) as usize);
        word.is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    fn note_edges(&mut self, number: u32) {
        let word = (number / 64) as usize;
        if word >= self.kept.len() {
            self.kept.resize(word + 1, 0);
        }
        self.kept[word] |= 1 << (number % 64);
    }

    /// Keeps what is new. The names are those of the atoms whose letters are known, by number.
    pub(crate) fn keep(
        &mut self,
        (model, known): (&Model<'_>, &Known),
        names: &[String],
        keeper: &mut dyn Keeper,
    ) {
        let mut state = model.compiled.initial();
        state.detach();
        let store = &known.store;
        let load = |id, state: &mut _| {
            store.load(id, state);
            store.mark(id)
        };
        let ends: Vec<u32> = store.ends().map(|(end, _)| end).collect();
        self.states.keep(self.search, ends.into_iter(), (&mut state, model.compiled.layout()), load, keeper);
        let mut record = Kind::Edges.record();
        let states = self.states.clone();
        for number in states.numbers() {
            if self.are_edges_kept(number) {
                continue;
            }
            let found = known.edges().get(StateId::new(number as usize));
            let found = found
                .filter(|found| (0..found.n_edges()).all(|edge| states.has(number_of(found.edge(edge).0))));
            let Some(found) = found else { continue };
            put_edges(model, known, number, found, &mut record);
            self.note_edges(number);
            append_large(self.search, Kind::Edges, &mut record, keeper);
        }
        append_rest(self.search, &record, keeper);
        let mut summary = Kind::Summary.record();
        put(names.len() as u64, &mut summary);
        names.iter().for_each(|name| put_bytes(name.as_bytes(), &mut summary));
        keeper.append(self.search, &summary);
        keeper.commit();
        self.is_begun = true;
    }

    /// Puts what was kept into a graph without states. The names of the atoms whose letters are known come back; nothing where
    /// nothing was kept. Where what was kept is not to be read, `Err(None)` comes back, and the graph is of no use.
    ///
    /// # Errors
    /// Where a limit is met.
    pub(crate) fn read(
        &mut self,
        (model, known): (&Model<'_>, &Known),
        worker: &mut StoreWorker,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<String>>, Option<StopReason>> {
        let Some(contents) = budget.keeper().and_then(|keeper| Contents::read(self.search, keeper)) else {
            self.is_read = true;
            return Ok(None);
        };
        go_on(&contents, budget);
        let names = self.read_all(&contents, (model, known), worker, budget).map_err(Some)?;
        self.is_read = true;
        self.is_begun = names.is_some();
        if let Some(names) = names {
            return Ok(Some(names));
        }
        (self.states, self.kept) = (StateLog::default(), Vec::new());
        if let Some(keeper) = budget.keeper() {
            give_up(self.search, keeper);
        }
        Err(None)
    }

    fn read_all(
        &mut self,
        contents: &Contents,
        (model, known): (&Model<'_>, &Known),
        worker: &mut StoreWorker,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Vec<String>>, StopReason> {
        let compiled = model.compiled;
        let mut rest = contents.summary.as_slice();
        let name = |rest: &mut &[u8]| String::from_utf8(take_bytes(rest)?.to_vec()).ok();
        let names: Option<Vec<String>> =
            take(&mut rest).and_then(|n| (0..n).map(|_| name(&mut rest)).collect());
        let Some(names) = names else { return Ok(None) };
        let Some(log) = contents.restore((&compiled.initial(), compiled.layout()), worker, budget)? else {
            return Ok(None);
        };
        self.states = log;
        let (mut writer, mut draft, mut record) = (RecordWriter::default(), Draft::default(), Vec::new());
        for &(kind, place) in &contents.records {
            if kind != Kind::Edges {
                continue;
            }
            if Contents::load(place, &mut record, budget).is_none() {
                return Ok(None);
            }
            let mut rest = record.as_slice();
            while !rest.is_empty() {
                let Some((number, noted)) = take_edges(model, names.len(), &mut draft, &mut rest) else {
                    return Ok(None);
                };
                let is_right = self.states.has(number)
                    && !self.are_edges_kept(number)
                    && draft.targets.iter().all(|&target| self.states.has(target));
                if !is_right {
                    return Ok(None);
                }
                let state = StateId::new(number as usize);
                if draft.is_noted {
                    known.noted().insert(state, noted);
                }
                known.edges().publish(&mut writer, state, &draft);
                self.note_edges(number);
            }
            budget.look(&Progress { depth: None, ..known.progress() })?;
        }
        Ok(Some(names))
    }
}

fn number_of(state: StateId) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "states are numbered so")]
    let number = state.index() as u32;
    number
}

fn put_edges(model: &Model<'_>, known: &Known, number: u32, found: Record<'_>, record: &mut Vec<u8>) {
    put(u64::from(number), record);
    let n_edges = found.n_edges();
    put(
        (n_edges as u64) << 2 | u64::from(found.any_letter().is_some()) << 1 | u64::from(found.is_noted()),
        record,
    );
    if let Some(Letter { atoms, letter }) = found.any_letter() {
        put(u64::from(letter) << 8 | u64::from(atoms), record);
    }
    let enabled = found.enabled();
    enabled.words(model.compiled.max_threads()).iter().for_each(|&word| put(word, record));
    for edge in 0..n_edges {
        let (target, movers) = found.edge(edge);
        put_signed(target.index() as i64 - i64::from(number), record);
        let [thread, partner] = movers.bytes();
        record.push(thread);
        if model.has_partners {
            record.push(partner);
        }
    }
    if found.is_noted() {
        let noted = known.noted().get(&StateId::new(number as usize)).cloned().unwrap_or_default();
        put_transitions(&noted.transitions, record);
        put_transitions(noted.cut.as_slice(), record);
    }
}

fn take_edges(
    model: &Model<'_>,
    n_names: usize,
    draft: &mut Draft,
    rest: &mut &[u8],
) -> Option<(u32, Noted)> {
    draft.clear();
    let number = take_u32(rest)?;
    let head = take_usize(rest)?;
    let (n_edges, has_letter, is_noted) = (head >> 2, head & 2 != 0, head & 1 != 0);
    if has_letter {
        let word = take(rest)?;
        let atoms =
            u8::try_from(word & 0xff).ok().filter(|&atoms| atoms > 0 && usize::from(atoms) <= n_names)?;
        let letter = u32::try_from(word >> 8).ok().filter(|letter| letter >> LETTER_BITS == 0)?;
        draft.letter = Some(Letter { atoms, letter });
    }
    let mut words = Vec::new();
    for _ in 0..ThreadSet::n_words(model.compiled.max_threads()) {
        words.push(take(rest)?);
    }
    draft.enabled = ThreadSet::from_words(&words);
    for _ in 0..n_edges {
        let target = u32::try_from(i64::from(number).checked_add(take_signed(rest)?)?).ok()?;
        let mut byte = || {
            let (&first, behind) = rest.split_first()?;
            *rest = behind;
            Some(first)
        };
        let movers =
            if model.has_partners { Movers::from_bytes([byte()?, byte()?]) } else { Movers::alone(byte()?) };
        draft.targets.push(target);
        draft.movers.push(movers);
    }
    draft.is_noted = is_noted;
    let mut noted = Noted::default();
    if is_noted {
        noted.transitions = take_transitions(model.net, rest)?;
        noted.cut = take_transitions(model.net, rest)?.first().copied();
    }
    Some((number, noted))
}
