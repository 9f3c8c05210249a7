//! What a search for finite runs knows beside the states.

use pdnet_base::Idx as _;
use pdnet_base::varint::{put, take};
use pdnet_check::{Trace, TraceEnd};
use pdnet_net::{Firing, Net, Place, Race, Transition};

use crate::goals::Goals;
use crate::journal::{put_signed, take_index, take_signed, take_usize};
use crate::worker::Counts;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    pub(crate) counts: Counts,
    /// The transitions that make `Holds` into `Unknown`, and the one that begins a sequence without end.
    notes: Vec<Transition>,
    cut: Option<Transition>,
    /// The transitions that were seen to fire, where somebody asks.
    fired: Vec<Transition>,
    /// The goals that were decided, each with the run that breaks it.
    decided: Vec<(usize, Trace)>,
}

impl Findings {
    /// What these goals have, and the counts.
    pub(crate) fn of(goals: &Goals<'_>, counts: Counts) -> Self {
        Self {
            counts,
            notes: goals.notes.transitions().into_iter().flatten().collect(),
            cut: goals.notes.cut(),
            fired: goals.fired(),
            decided: goals.decided().map(|(goal, trace)| (goal, trace.clone())).collect(),
        }
    }

    /// Adds what another worker has found.
    pub(crate) fn join(&mut self, other: Self) {
        let Self { counts, notes, cut, fired, decided } = other;
        self.counts.add(&counts);
        self.notes.extend(notes);
        self.cut = [self.cut, cut].into_iter().flatten().min();
        self.fired.extend(fired);
        for (goal, trace) in decided {
            if !self.decided.iter().any(|(known, _)| *known == goal) {
                self.decided.push((goal, trace));
            }
        }
    }

    /// Gives the goals what was found.
    pub(crate) fn give_to(self, net: &Net, goals: &mut Goals<'_>) -> Counts {
        let Self { counts, notes, cut, fired, decided } = self;
        notes.into_iter().for_each(|transition| goals.notes.add(net, transition));
        cut.into_iter().for_each(|transition| goals.notes.add_cut(transition));
        fired.into_iter().for_each(|transition| goals.has_fired(transition));
        decided.into_iter().for_each(|(goal, trace)| goals.decide(goal, trace));
        counts
    }

    pub(crate) fn put(&self, record: &mut Vec<u8>) {
        let Counts { expanded, transitions, inside, partial, forgotten, exchanged } = self.counts;
        let counts = [expanded, transitions, inside, partial, forgotten, exchanged];
        counts.into_iter().for_each(|number| put(number, record));
        put_transitions(&self.notes, record);
        put_transitions(self.cut.as_slice(), record);
        put_transitions(&self.fired, record);
        put(self.decided.len() as u64, record);
        for (goal, trace) in &self.decided {
            put(*goal as u64, record);
            put_trace(trace, record);
        }
    }

    /// Reads what was put; nothing where it is not of this net and so many goals.
    pub(crate) fn take(net: &Net, n_goals: usize, rest: &mut &[u8]) -> Option<Self> {
        let counts = Counts {
            expanded: take(rest)?,
            transitions: take(rest)?,
            inside: take(rest)?,
            partial: take(rest)?,
            forgotten: take(rest)?,
            exchanged: take(rest)?,
        };
        let notes = take_transitions(net, rest)?;
        let cut = take_transitions(net, rest)?.first().copied();
        let fired = take_transitions(net, rest)?;
        let mut decided = Vec::new();
        for _ in 0..take(rest)? {
            let goal = take_usize(rest).filter(|&goal| goal < n_goals)?;
            decided.push((goal, take_trace(net, rest)?));
        }
        Some(Self { counts, notes, cut, fired, decided })
    }
}

pub(crate) fn put_transitions(transitions: &[Transition], record: &mut Vec<u8>) {
    put(transitions.len() as u64, record);
    transitions.iter().for_each(|transition| put(transition.index() as u64, record));
}

pub(crate) fn take_transitions(net: &Net, rest: &mut &[u8]) -> Option<Vec<Transition>> {
    (0..take(rest)?).map(|_| take_index(rest, net.transitions.len())).collect()
}

/// How a run goes on, as a number.
const STUTTER: u64 = 0;
const ANY: u64 = 1;
const CYCLE: u64 = 2;
const RACE: u64 = 3;
const STUCK: u64 = 4;

fn put_trace(trace: &Trace, record: &mut Vec<u8>) {
    put_firings(&trace.prefix, record);
    match &trace.end {
        TraceEnd::Stutter => put(STUTTER, record),
        TraceEnd::Any => put(ANY, record),
        TraceEnd::Cycle(cycle) => {
            put(CYCLE, record);
            put_firings(cycle, record);
        }
        TraceEnd::Race(race) => {
            let Race { place, key, first, second } = &**race;
            put(RACE, record);
            put(place.index() as u64, record);
            put_words(key, record);
            put_firings(&[first.clone(), second.clone()], record);
        }
        TraceEnd::Stuck(thread) => {
            put(STUCK, record);
            put_signed(*thread, record);
        }
    }
}

fn take_trace(net: &Net, rest: &mut &[u8]) -> Option<Trace> {
    let prefix = take_firings(net, rest)?;
    let end = match take(rest)? {
        STUTTER => TraceEnd::Stutter,
        ANY => TraceEnd::Any,
        CYCLE => TraceEnd::Cycle(take_firings(net, rest)?),
        RACE => {
            let place: Place = take_index(rest, net.places.len())?;
            let key = take_words(rest)?;
            let [first, second] = take_firings(net, rest)?.try_into().ok()?;
            TraceEnd::Race(Box::new(Race { place, key, first, second }))
        }
        STUCK => TraceEnd::Stuck(take_signed(rest)?),
        _ => return None,
    };
    Some(Trace { prefix, end })
}

fn put_words(words: &[i64], record: &mut Vec<u8>) {
    put(words.len() as u64, record);
    words.iter().for_each(|&word| put_signed(word, record));
}

fn take_words(rest: &mut &[u8]) -> Option<Vec<i64>> {
    (0..take(rest)?).map(|_| take_signed(rest)).collect()
}

fn put_firings(firings: &[Firing], record: &mut Vec<u8>) {
    put(firings.len() as u64, record);
    for Firing { transition, binding } in firings {
        put(transition.index() as u64, record);
        put_words(binding, record);
    }
}

fn take_firings(net: &Net, rest: &mut &[u8]) -> Option<Vec<Firing>> {
    let firing = |rest: &mut &[u8]| {
        let transition: Transition = take_index(rest, net.transitions.len())?;
        let binding = take_words(rest)?;
        let n_vars = net.transitions[transition].vars.len();
        (binding.len() == n_vars).then_some(Firing { transition, binding })
    };
    (0..take(rest)?).map(|_| firing(rest)).collect()
}
