//! A depth-first search.
//!
//! The visited set only grows: what stands for each state in it is kept once. The states that wait and those on the way are stacks. Of a
//! stack that was kept, all below the lowest height that it has had since then is still the same, so that only what lies above that is kept.

use pdnet_base::varint::put;
use pdnet_check::{Keeper, Progress, StopReason};
use pdnet_space::State;

use crate::budget::Budget;
use crate::depth::Packed;
use crate::filter::Filter;
use crate::goals::Goals;
use crate::journal::findings::Findings;
use crate::journal::{
    Contents, Kind, RECORD, append_large, append_rest, give_up, go_on, put_difference, take_difference,
    take_usize,
};
use crate::model::{Model, full};
use crate::worker::Counts;

/// A depth-first search that is kept.
pub(crate) struct DepthJournal {
    search: u64,
    /// What is to be kept of the visited set, and the last state in it.
    record: Vec<u8>,
    last: Vec<u8>,
    /// Something was kept.
    pub(crate) is_begun: bool,
}

/// Which stack a record is about.
const WAITING: u64 = 0;
const WAY: u64 = 1;

impl DepthJournal {
    pub(crate) fn new(search: u64) -> Self {
        Self { search, record: Kind::Visited.record(), last: Vec::new(), is_begun: false }
    }

    /// Hears of a state that was put into the visited set.
    pub(crate) fn add(&mut self, filter: &Filter, state: &[u8]) {
        filter.put(state, &mut self.last, &mut self.record);
    }

    /// Writes what it has heard of where that is much.
    pub(crate) fn relieve(&mut self, budget: &mut Budget<'_>) {
        if self.record.len() >= RECORD
            && let Some(keeper) = budget.keeper()
            && append_large(self.search, Kind::Visited, &mut self.record, keeper)
        {
            self.last.clear();
        }
    }

    /// Keeps what is new.
    pub(crate) fn keep(
        &mut self,
        (waiting, way): (&mut Packed, &mut Packed),
        findings: &Findings,
        keeper: &mut dyn Keeper,
    ) {
        append_rest(self.search, &self.record, keeper);
        (self.record, self.last) = (Kind::Visited.record(), Vec::new());
        for (which, stack) in [(WAITING, waiting), (WAY, way)] {
            self.keep_stack(which, stack, keeper);
        }
        let mut summary = Kind::Summary.record();
        findings.put(&mut summary);
        keeper.append(self.search, &summary);
        keeper.commit();
        self.is_begun = true;
    }

    fn keep_stack(&self, which: u64, stack: &mut Packed, keeper: &mut dyn Keeper) {
        let head = |height: usize| {
            let mut record = Kind::Stack.record();
            put(which, &mut record);
            put(height as u64, &mut record);
            record
        };
        let first = stack.take_lowest();
        let (mut record, mut last) = (head(first), &[] as &[u8]);
        for at in first..stack.len() {
            if record.len() >= RECORD {
                keeper.append(self.search, &record);
                (record, last) = (head(at), &[]);
            }
            put(stack.depth(at) as u64, &mut record);
            put_difference(last, stack.get(at), &mut record);
            last = stack.get(at);
        }
        keeper.append(self.search, &record);
    }

    /// Goes on with what was kept. What was counted comes back; nothing where nothing was kept. Where what was kept is not to be read,
    /// `Err(None)` comes back, and what was read is of no use.
    ///
    /// # Errors
    /// Where a limit is met.
    pub(crate) fn read(
        &mut self,
        model: &Model<'_>,
        goals: &mut Goals<'_>,
        filter: &mut Filter,
        stacks: (&mut Packed, &mut Packed),
        budget: &mut Budget<'_>,
    ) -> Result<Option<Counts>, Option<StopReason>> {
        let Some(contents) = budget.keeper().and_then(|keeper| Contents::read(self.search, keeper)) else {
            return Ok(None);
        };
        go_on(&contents, budget);
        let findings = Findings::take(model.net, goals.len(), &mut contents.summary.as_slice());
        if let Some(findings) = findings
            && read_all(&contents, model, filter, stacks, budget).map_err(Some)?
        {
            self.is_begun = true;
            return Ok(Some(findings.give_to(model.net, goals)));
        }
        if let Some(keeper) = budget.keeper() {
            give_up(self.search, keeper);
        }
        Err(None)
    }
}

fn read_all(
    contents: &Contents,
    model: &Model<'_>,
    filter: &mut Filter,
    (waiting, way): (&mut Packed, &mut Packed),
    budget: &mut Budget<'_>,
) -> Result<bool, StopReason> {
    let mut state = model.compiled.initial();
    let (mut record, mut last) = (Vec::new(), Vec::new());
    for &(kind, place) in &contents.records {
        if Contents::load(place, &mut record, budget).is_none() {
            return Ok(false);
        }
        let mut rest = record.as_slice();
        last.clear();
        let is_right = match kind {
            Kind::Visited => read_visited(model, filter, &mut state, &mut last, rest)?,
            Kind::Stack => match (take_usize(&mut rest), take_usize(&mut rest)) {
                (Some(0), Some(height)) => read_stack(waiting, height, &mut last, rest).is_some(),
                (Some(1), Some(height)) => read_stack(way, height, &mut last, rest).is_some(),
                _ => false,
            },
            Kind::Restart | Kind::Summary | Kind::States | Kind::Edges | Kind::Nodes => false,
        };
        if !is_right {
            return Ok(false);
        }
        let memory_bytes = (filter.bytes() + waiting.size() + way.size()) as u64;
        budget.look(&Progress { states: filter.len(), memory_bytes, ..Progress::default() })?;
    }
    let _ = waiting.take_lowest();
    let _ = way.take_lowest();
    // Where no state was gone to yet, the first one waits.
    Ok(filter.len() > 0 || waiting.len() > 0)
}

fn read_visited(
    model: &Model<'_>,
    filter: &mut Filter,
    state: &mut State,
    last: &mut Vec<u8>,
    mut rest: &[u8],
) -> Result<bool, StopReason> {
    while !rest.is_empty() {
        match filter.take(model.compiled.layout(), state, last, &mut rest) {
            Ok(Some(())) => {}
            Ok(None) => return Ok(false),
            Err(_) => return Err(full()),
        }
    }
    Ok(true)
}

fn read_stack(stack: &mut Packed, height: usize, last: &mut Vec<u8>, mut rest: &[u8]) -> Option<()> {
    if height > stack.len() {
        return None;
    }
    stack.truncate(height);
    while !rest.is_empty() {
        let depth = take_usize(&mut rest)?;
        take_difference(last, &mut rest)?;
        stack.push(depth, last);
    }
    Some(())
}
