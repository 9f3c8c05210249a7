//! A run of the slice as a run of the whole net.
//!
//! After each step of the slice, the thread that took it is led through the cut statements in front of it, by any of
//! its steps: which one does not matter, that is what slicing has shown. It is done at once, since later another thread
//! may be in an atomic section; but not where nothing more that matters comes. A cycle is repeated until the whole net
//! is where it was after an earlier round: what was cut may need some rounds for that. Cells that decide nothing
//! ([`idle_cells`]) do not count: a counter that nobody looks at may never come back.

use std::collections::BTreeMap;

use pdnet_base::IndexVec;
use pdnet_check::{PropertyKind, Trace, TraceEnd};
use pdnet_net::{Action, Firing, Interpreter, Marking, Net, Place, Race, Successor, Transition, idle_cells};

use crate::{LiftError, Slice};

/// So many cut steps may stand before a kept one, and in front of a stop.
const MAX_CUT_STEPS: usize = 100_000;

/// So many rounds of a cycle are tried.
const MAX_ROUNDS: usize = 64;

impl Slice {
    /// Turns a run of the slice into one of the whole net.
    ///
    /// # Errors
    /// When the whole net cannot follow, or its cycle does not close.
    pub fn lift(&self, whole: &Net, trace: &Trace) -> Result<Trace, LiftError> {
        let interpreter = Interpreter::new(whole);
        let mut lift = Lift {
            slice: self,
            whole,
            interpreter,
            marking: interpreter.initial(),
            steps: Vec::new(),
            kept: IndexVec::filled(false, whole.transitions.len()),
            parked: IndexVec::filled(false, whole.places.len()),
            waits_for_cut: IndexVec::filled(false, whole.places.len()),
            steps_from: IndexVec::filled(Vec::new(), whole.places.len()),
        };
        self.transitions.iter().for_each(|&transition| lift.kept[transition] = true);
        self.parked.iter().for_each(|&place| lift.parked[place] = true);
        for (transition, data) in whole.transitions.iter_enumerated() {
            if let Some(source) = data.source() {
                lift.steps_from[source].push(transition);
            }
            if let (Action::Call, Some(site)) = (data.action, whole.frame_target(transition)) {
                lift.waits_for_cut[site] = true;
            }
        }
        for site in self.transitions.iter().filter_map(|&kept| whole.frame_target(kept)) {
            lift.waits_for_cut[site] = false;
        }
        lift.hurry();
        for (index, firing) in trace.prefix.iter().enumerate() {
            let is_last = index + 1 == trace.prefix.len();
            lift.follow(index, firing, is_last && trace.end == TraceEnd::Any)?;
            // A run that is broken by a step ends with it.
            if !(is_last && trace.end == TraceEnd::Any && self.must_not_fire(firing.transition)) {
                lift.hurry();
            }
        }
        let looks_at_end = self.properties.iter().any(|property| {
            matches!(property.kind, PropertyKind::NoDeadlock | PropertyKind::NoPartialDeadlock)
        });
        match &trace.end {
            TraceEnd::Any => {
                // A deadlock is one only when everybody has come to where he is blocked.
                if looks_at_end && lift.is_slice_deadlock(trace) {
                    lift.settle(&[])?;
                }
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Any })
            }
            TraceEnd::Stutter => {
                lift.settle(&[])?;
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Stutter })
            }
            TraceEnd::Stuck(thread) => {
                lift.settle(&[])?;
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Stuck(*thread) })
            }
            TraceEnd::Race(race) => {
                let race = lift.race(trace.prefix.len(), race)?;
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Race(Box::new(race)) })
            }
            TraceEnd::Cycle(cycle) => lift.cycle(trace.prefix.len(), cycle),
        }
    }
}

impl Slice {
    /// Whether a property is broken by the firing of a transition.
    fn must_not_fire(&self, transition: Transition) -> bool {
        self.properties.iter().any(|property| match &property.kind {
            PropertyKind::NeverFires(targets) => targets.contains(&transition),
            PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock
            | PropertyKind::Ltl { .. }
            | PropertyKind::Never { .. } => false,
        })
    }
}

struct Lift<'a> {
    slice: &'a Slice,
    whole: &'a Net,
    interpreter: Interpreter<'a>,
    marking: Marking,
    steps: Vec<Firing>,
    kept: IndexVec<Transition, bool>,
    parked: IndexVec<Place, bool>,
    /// Places where a frame waits for the end of a call that was cut.
    waits_for_cut: IndexVec<Place, bool>,
    steps_from: IndexVec<Place, Vec<Transition>>,
}

impl Lift<'_> {
    /// The step of the whole net that a step of the slice is, if it is enabled now.
    fn matching(&self, firing: &Firing) -> Option<Firing> {
        let transition = self.slice.transitions[firing.transition];
        let vars = &self.slice.vars[firing.transition];
        let fits = |candidate: &Firing| {
            vars.iter()
                .zip(&firing.binding)
                .all(|(var, value)| candidate.binding[pdnet_base::Idx::index(*var)] == *value)
        };
        self.interpreter.enabled_of(&self.marking, transition, firing.thread()).into_iter().find(fits)
    }

    fn follow(&mut self, index: usize, firing: &Firing, may_end: bool) -> Result<(), LiftError> {
        for _ in 0..MAX_CUT_STEPS {
            if let Some(step) = self.matching(firing) {
                return self.fire(index, step, may_end);
            }
            if !self.cut_step(firing.thread()) {
                break;
            }
        }
        Err(LiftError::Stuck { step: index })
    }

    fn fire(&mut self, index: usize, step: Firing, may_end: bool) -> Result<(), LiftError> {
        match self.interpreter.fire(&self.marking, &step) {
            Successor::Marking(next) => self.marking = next,
            Successor::Pruned if may_end => {}
            Successor::Pruned => return Err(LiftError::Stuck { step: index }),
        }
        self.steps.push(step);
        Ok(())
    }

    /// Leads every thread through what is cut in front of it, as far as something that matters comes after.
    fn hurry(&mut self) {
        for thread in self.interpreter.threads(&self.marking) {
            for _ in 0..MAX_CUT_STEPS {
                if self.is_parked(thread) || !self.cut_step(thread) {
                    break;
                }
            }
        }
    }

    /// Whether nothing more that matters comes in the frame of a thread that counts.
    fn is_parked(&self, thread: i64) -> bool {
        let frames = self.interpreter.frames(&self.marking, thread);
        let counts = self.cut_call(&frames).or(frames.last().map(|&(_, place)| place));
        counts.is_some_and(|place| self.parked[place])
    }

    /// The place where the thread waits for the end of a call that was cut.
    fn cut_call(&self, frames: &[(i64, Place)]) -> Option<Place> {
        frames.iter().map(|&(_, place)| place).find(|&place| self.waits_for_cut[place])
    }

    /// Takes a step of a cut statement of the thread; false where there is none. In a call that was cut, all steps are
    /// such steps.
    fn cut_step(&mut self, thread: i64) -> bool {
        let frames = self.interpreter.frames(&self.marking, thread);
        let in_cut_call = self.cut_call(&frames).is_some();
        for &(_, place) in frames.iter().rev() {
            for &transition in &self.steps_from[place] {
                if self.kept[transition] && !in_cut_call {
                    continue;
                }
                for firing in self.interpreter.enabled_of(&self.marking, transition, thread) {
                    if let Successor::Marking(next) = self.interpreter.fire(&self.marking, &firing) {
                        self.marking = next;
                        self.steps.push(firing);
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Leads all threads but these through what is cut in front of them, as far as they can go now.
    fn settle(&mut self, but: &[i64]) -> Result<(), LiftError> {
        let mut n_steps = 0;
        loop {
            let threads: Vec<i64> = self.interpreter.threads(&self.marking).into_iter().collect();
            let mut moved = false;
            for thread in threads.into_iter().filter(|thread| !but.contains(thread)) {
                while self.cut_step(thread) {
                    moved = true;
                    n_steps += 1;
                    if n_steps > MAX_CUT_STEPS {
                        return Err(LiftError::Open);
                    }
                }
            }
            if !moved {
                return Ok(());
            }
        }
    }

    fn is_slice_deadlock(&self, trace: &Trace) -> bool {
        let interpreter = Interpreter::new(&self.slice.net);
        let mut marking = interpreter.initial();
        for firing in &trace.prefix {
            match interpreter.fire(&marking, firing) {
                Successor::Marking(next) => marking = next,
                Successor::Pruned => return false,
            }
        }
        interpreter.is_deadlock(&marking)
    }

    fn race(&mut self, index: usize, race: &Race) -> Result<Race, LiftError> {
        let wanted =
            [self.slice.transitions[race.first.transition], self.slice.transitions[race.second.transition]];
        let threads = [race.first.thread(), race.second.thread()];
        for _ in 0..MAX_CUT_STEPS {
            let races = self.interpreter.races(&self.marking);
            let place = self.slice.places[race.place];
            let found = races.into_iter().find(|found| {
                found.place == place
                    && [found.first.transition, found.second.transition] == wanted
                    && [found.first.thread(), found.second.thread()] == threads
            });
            if let Some(found) = found {
                return Ok(found);
            }
            // Each of the two goes on until it is there.
            let at = |lift: &Self, at: usize| {
                let stands = lift.interpreter.bound_by(&lift.marking, wanted[at]);
                stands.iter().any(|firing| firing.thread() == threads[at])
            };
            let behind = (0..2).find(|&which| !at(self, which));
            if !behind.is_some_and(|which| self.cut_step(threads[which])) {
                break;
            }
        }
        Err(LiftError::Stuck { step: index })
    }

    fn cycle(&mut self, prefix: usize, cycle: &[Firing]) -> Result<Trace, LiftError> {
        let movers: Vec<i64> = cycle.iter().map(Firing::thread).collect();
        self.settle(&movers)?;
        let mut seen: BTreeMap<Marking, usize> = BTreeMap::new();
        // What the slice has is what the property depends on.
        let mut is_kept = IndexVec::filled(false, self.parked.len());
        self.slice.places.iter().for_each(|&place| is_kept[place] = true);
        let idle = idle_cells(self.whole, |place| is_kept[place]);
        for _ in 0..MAX_ROUNDS {
            let marking = self.marking.without_cells(|place| idle[place]);
            if let Some(&start) = seen.get(&marking) {
                let steps = std::mem::take(&mut self.steps);
                let (before, round) = steps.split_at(start);
                return Ok(Trace { prefix: before.to_vec(), end: TraceEnd::Cycle(round.to_vec()) });
            }
            seen.insert(marking, self.steps.len());
            for (index, firing) in cycle.iter().enumerate() {
                self.follow(prefix + index, firing, false)?;
                self.hurry();
                // Before, another thread may have been in an atomic section.
                self.settle(&movers)?;
            }
        }
        Err(LiftError::Open)
    }
}
