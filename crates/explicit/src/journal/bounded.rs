//! A search for runs with few preemptions.
//!
//! Beside the states, all that such a search does to its tables is kept, in the order in which it was done: nodes that were met, states in which
//! it does not matter whose turn it is, nodes that wait for the next preemption, and the end of a number of preemptions.

use pdnet_base::Idx as _;
use pdnet_base::varint::{put, take};
use pdnet_check::{Keeper, Progress, StopReason};
use pdnet_net::{Net, Transition};
use pdnet_space::{StateId, StateStore, States as _};

use crate::budget::Budget;
use crate::journal::findings::Findings;
use crate::journal::states::{StateLog, dense};
use crate::journal::{
    Contents, Kind, RECORD, append_large, append_rest, give_up, go_on, take_index, take_u32, take_usize,
};
use crate::model::{Model, full};
use crate::preemption::{Found, Later, Node, Tables};

/// What was done.
const MEET: u64 = 0;
const ANYBODY: u64 = 1;
const LATER: u64 = 2;
const NEXT: u64 = 3;

/// Such a search that is kept.
pub(crate) struct BoundedJournal {
    search: u64,
    states: StateLog,
    record: Vec<u8>,
    /// Something was kept.
    pub(crate) is_begun: bool,
}

/// How far the search was, beside its tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) findings: Findings,
    /// The present number of preemptions, and how many nodes were expanded.
    pub(crate) level: u32,
    pub(crate) n_expanded: usize,
    /// Some step was left out.
    pub(crate) is_bounded: bool,
    /// What is known of the goals that were decided.
    pub(crate) found: Vec<Option<Found>>,
    /// What one preemption more breaks.
    pub(crate) later: Vec<Later>,
}

impl BoundedJournal {
    pub(crate) fn new(search: u64) -> Self {
        Self { search, states: StateLog::default(), record: Kind::Nodes.record(), is_begun: false }
    }

    fn add(&mut self, what: u64, (id, turn): Node, before: u32) {
        put(what, &mut self.record);
        put(id.index() as u64, &mut self.record);
        put(u64::from(turn.wrapping_add(1)), &mut self.record);
        put(u64::from(before), &mut self.record);
    }

    /// A node was met.
    pub(crate) fn meet(&mut self, node: Node, before: u32) {
        self.add(MEET, node, before);
    }

    /// In a state it does not matter whose turn it is.
    pub(crate) fn is_anybodys(&mut self, node: Node) {
        self.add(ANYBODY, node, 0);
    }

    /// A preemption leads to a node.
    pub(crate) fn wait(&mut self, node: Node, before: u32) {
        self.add(LATER, node, before);
    }

    /// All with the present number of preemptions is done.
    pub(crate) fn next_level(&mut self) {
        put(NEXT, &mut self.record);
    }

    /// Writes what it has heard of where that is much.
    pub(crate) fn relieve(&mut self, budget: &mut Budget<'_>) {
        if self.record.len() >= RECORD
            && let Some(keeper) = budget.keeper()
        {
            append_large(self.search, Kind::Nodes, &mut self.record, keeper);
        }
    }

    /// Keeps what is new.
    pub(crate) fn keep(
        &mut self,
        model: &Model<'_>,
        store: &StateStore,
        position: &Position,
        keeper: &mut dyn Keeper,
    ) {
        let mut state = model.compiled.initial();
        state.detach();
        let load = |id, state: &mut _| {
            store.load(id, state);
            0
        };
        self.states.keep(
            self.search,
            dense(store.len()),
            (&mut state, model.compiled.layout()),
            load,
            keeper,
        );
        append_rest(self.search, &self.record, keeper);
        self.record = Kind::Nodes.record();
        let mut summary = Kind::Summary.record();
        position.put(&mut summary);
        keeper.append(self.search, &summary);
        keeper.commit();
        self.is_begun = true;
    }

    /// Goes on with what was kept; nothing comes back where nothing was. Where what was kept is not to be read, `Err(None)` comes back, and
    /// what was read is of no use.
    ///
    /// # Errors
    /// Where a limit is met.
    pub(crate) fn read(
        &mut self,
        model: &Model<'_>,
        n_goals: usize,
        tables: &mut Tables,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Position>, Option<StopReason>> {
        let Some(contents) = budget.keeper().and_then(|keeper| Contents::read(self.search, keeper)) else {
            return Ok(None);
        };
        go_on(&contents, budget);
        let position = Position::take(model.net, n_goals, &mut contents.summary.as_slice());
        if let Some(position) = position
            && self.read_all(&contents, model, tables, budget).map_err(Some)?
            && position.n_expanded <= tables.nodes.len()
            && position.later.iter().all(|later| later.position < tables.nodes.len())
        {
            self.is_begun = true;
            return Ok(Some(position));
        }
        self.states = StateLog::default();
        if let Some(keeper) = budget.keeper() {
            give_up(self.search, keeper);
        }
        Err(None)
    }

    fn read_all(
        &mut self,
        contents: &Contents,
        model: &Model<'_>,
        tables: &mut Tables,
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        let compiled = model.compiled;
        let mut state = compiled.initial();
        let log = contents.for_each_state(budget, |number, _, bytes, budget| {
            state.unpack(compiled.layout(), bytes);
            let (id, is_new) = tables.store.insert(&state).map_err(|_| full())?;
            if number.is_multiple_of(1 << 10) {
                budget.look(&tables.progress())?;
            }
            Ok(is_new && id.index() == number as usize)
        })?;
        let Some(log) = log else { return Ok(false) };
        self.states = log;
        let mut record = Vec::new();
        for &(kind, place) in &contents.records {
            if kind != Kind::Nodes || Contents::load(place, &mut record, budget).is_none() {
                return Ok(false);
            }
            let mut rest = record.as_slice();
            while !rest.is_empty() {
                if redo(tables, &mut rest).is_none() {
                    return Ok(false);
                }
            }
            budget.look(&Progress { depth: None, ..tables.progress() })?;
        }
        Ok(!tables.nodes.is_empty())
    }
}

/// Does once more what was done.
fn redo(tables: &mut Tables, rest: &mut &[u8]) -> Option<()> {
    let what = take(rest)?;
    if what == NEXT {
        tables.later.clear();
        return Some(());
    }
    let id: StateId = take_index(rest, tables.store.len())?;
    let node = (id, take_u32(rest)?.wrapping_sub(1));
    let before = take_u32(rest)?;
    let is_before = (before as usize) < tables.nodes.len() || tables.nodes.is_empty();
    match what {
        MEET if is_before && tables.known.insert(node) => tables.nodes.push((node, before)),
        ANYBODY => {
            tables.known.insert(node);
        }
        LATER if is_before => {
            tables.later.entry(node).or_insert(before);
        }
        _ => return None,
    }
    Some(())
}

impl Position {
    fn put(&self, record: &mut Vec<u8>) {
        self.findings.put(record);
        put(u64::from(self.level), record);
        put(self.n_expanded as u64, record);
        put(u64::from(self.is_bounded), record);
        for found in &self.found {
            let Found { run, complete } = found.unwrap_or_default();
            put(u64::from(found.is_some()), record);
            put(u64::from(run), record);
            put(u64::from(complete), record);
        }
        put(self.later.len() as u64, record);
        for &Later { position, goal, last: (first, fires), thread } in &self.later {
            for number in [position, goal, thread as usize, first.index(), fires.index()] {
                put(number as u64, record);
            }
        }
    }

    fn take(net: &Net, n_goals: usize, rest: &mut &[u8]) -> Option<Self> {
        let findings = Findings::take(net, n_goals, rest)?;
        let (level, n_expanded) = (take_u32(rest)?, take_usize(rest)?);
        let is_bounded = take(rest)? != 0;
        let mut found = Vec::new();
        for _ in 0..n_goals {
            let (is_found, run, complete) = (take(rest)? != 0, take_u32(rest)?, take_u32(rest)?);
            found.push(is_found.then_some(Found { run, complete }));
        }
        let mut later = Vec::new();
        for _ in 0..take(rest)? {
            let position = take_usize(rest)?;
            let goal = take_usize(rest).filter(|&goal| goal < n_goals)?;
            let thread = take_u32(rest)?;
            let mut transition = || take_index::<Transition>(rest, net.transitions.len());
            let last = (transition()?, transition()?);
            later.push(Later { position, goal, last, thread });
        }
        Some(Self { findings, level, n_expanded, is_bounded, found, later })
    }
}
