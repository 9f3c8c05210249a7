//! A run of a net with merged steps as a run of the net before, step by step.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_check::{Property, PropertyKind, Trace, TraceEnd};
use pdnet_net::{Expr, Firing, Interpreter, Marking, Net, Race, Successor, Transition};

use super::Agglomerated;
use crate::LiftError;

/// So many steps that were put off can stand before the end of a run.
const MAX_DELAYED: usize = 10_000;

impl Agglomerated {
    /// Turns a run into one of the net before.
    ///
    /// # Errors
    /// When that net cannot follow, which is our bug.
    pub fn lift(&self, before: &Net, trace: &Trace) -> Result<Trace, LiftError> {
        let interpreter = Interpreter::new(before);
        let mut lift = Lift {
            merged: self,
            interpreter,
            marking: interpreter.initial(),
            steps: Vec::new(),
            delayed: IndexVec::filled(false, before.transitions.len()),
        };
        self.delayed.iter().for_each(|&transition| lift.delayed[transition] = true);
        // Who takes no more steps on a cycle takes those that could be put off as soon as he can: a fair run does not leave
        // him there, and later others may be in atomic sections.
        let settles = matches!(trace.end, TraceEnd::Cycle(_)) && !self.delayed.is_empty();
        let movers: Vec<i64> = match &trace.end {
            TraceEnd::Cycle(cycle) => cycle.iter().map(Firing::thread).collect(),
            TraceEnd::Any | TraceEnd::Stutter | TraceEnd::Stuck(_) | TraceEnd::Race(_) => Vec::new(),
        };
        for (index, firing) in trace.prefix.iter().enumerate() {
            lift.follow(index, firing)?;
            if settles {
                let later = trace.prefix[index + 1..].iter().map(Firing::thread);
                lift.settle(&later.chain(movers.iter().copied()).collect::<Vec<i64>>());
            }
        }
        match &trace.end {
            TraceEnd::Any => {
                let looks_for_deadlocks = self.properties.iter().any(asks_for_deadlocks);
                if looks_for_deadlocks && !interpreter.is_deadlock(&lift.marking) {
                    // Everybody goes to where he is blocked, if that is what the run is about.
                    let (marking, n_steps) = (lift.marking.clone(), lift.steps.len());
                    lift.settle(&[]);
                    if !interpreter.is_deadlock(&lift.marking) {
                        lift.marking = marking;
                        lift.steps.truncate(n_steps);
                    }
                }
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Any })
            }
            TraceEnd::Stutter => {
                lift.settle(&[]);
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Stutter })
            }
            // Not for properties of which steps are merged.
            TraceEnd::Stuck(thread) => Ok(Trace { prefix: lift.steps, end: TraceEnd::Stuck(*thread) }),
            TraceEnd::Race(race) => {
                let race = Race {
                    first: self.first_part(&race.first),
                    second: self.first_part(&race.second),
                    ..(**race).clone()
                };
                Ok(Trace { prefix: lift.steps, end: TraceEnd::Race(Box::new(race)) })
            }
            TraceEnd::Cycle(cycle) => {
                let n_before = trace.prefix.len();
                if settles {
                    lift.settle(&movers);
                    let (start, n_steps) = (lift.marking.clone(), lift.steps.len());
                    for (index, firing) in cycle.iter().enumerate() {
                        lift.follow(n_before + index, firing)?;
                        lift.settle(&movers);
                    }
                    // The first round counts only where somebody could take such a step in it, and not before.
                    if lift.marking == start {
                        lift.steps.truncate(n_steps);
                    }
                }
                let prefix = std::mem::take(&mut lift.steps);
                for (index, firing) in cycle.iter().enumerate() {
                    lift.follow(n_before + index, firing)?;
                }
                Ok(Trace { prefix, end: TraceEnd::Cycle(lift.steps) })
            }
        }
    }

    /// The first of the steps that a firing stands for, whose variables all are variables of the firing.
    fn first_part(&self, firing: &Firing) -> Firing {
        let part = &self.parts[firing.transition][0];
        let value = |var: &Option<pdnet_net::Var>| var.map_or(0, |var| firing.binding[var.index()]);
        Firing { transition: part.transition, binding: part.vars.iter().map(value).collect() }
    }
}

/// Whether a deadlock may break a property.
fn asks_for_deadlocks(property: &Property) -> bool {
    match &property.kind {
        PropertyKind::NoDeadlock => true,
        PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => {
            let mut asks = false;
            for atom in atoms {
                atom.expr.walk(&mut |expr| asks |= *expr == Expr::Deadlock);
            }
            asks
        }
        PropertyKind::NeverFires(_) | PropertyKind::NoRace | PropertyKind::NoPartialDeadlock => false,
    }
}

struct Lift<'a> {
    merged: &'a Agglomerated,
    interpreter: Interpreter<'a>,
    marking: Marking,
    steps: Vec<Firing>,
    delayed: IndexVec<Transition, bool>,
}

impl Lift<'_> {
    /// Takes the steps that a firing stands for.
    fn follow(&mut self, index: usize, firing: &Firing) -> Result<(), LiftError> {
        let merged = self.merged;
        let parts = &merged.parts[firing.transition];
        for part in parts {
            let fits = |candidate: &Firing| {
                part.vars
                    .iter()
                    .zip(&candidate.binding)
                    .all(|(var, value)| var.is_none_or(|var| firing.binding[var.index()] == *value))
            };
            let enabled = self.interpreter.enabled_by(&self.marking, part.transition);
            let step = enabled.into_iter().find(fits).ok_or(LiftError::Stuck { step: index })?;
            // A step without successor is the last one; if it is not, the next one will not be enabled in the replay.
            if let Successor::Marking(next) = self.interpreter.fire(&self.marking, &step) {
                self.marking = next;
            }
            self.steps.push(step);
        }
        Ok(())
    }

    /// Takes all steps that were put off, except those of some threads.
    fn settle(&mut self, except: &[i64]) {
        for _ in 0..MAX_DELAYED {
            let delayed = self.delayed.iter_enumerated().filter(|(_, is_delayed)| **is_delayed);
            let mut enabled = delayed.flat_map(|(at, _)| self.interpreter.enabled_by(&self.marking, at));
            let next = enabled.find(|firing| !except.contains(&firing.thread()));
            let Some(step) = next else { break };
            let Successor::Marking(marking) = self.interpreter.fire(&self.marking, &step) else { break };
            self.marking = marking;
            self.steps.push(step);
        }
    }
}
