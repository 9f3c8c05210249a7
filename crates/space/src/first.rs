//! The threads whose steps are enough, found while their steps are shown.

use std::ops::ControlFlow;

use pdnet_net::Transition;

use crate::layout::word_place;
use crate::plan::Plans;
use crate::section::Walk;
use crate::stubborn::Proviso;
use crate::successors::{Flow, Outcome};
use crate::transition::{Binding, Member, Part, Rule};
use crate::{State, Step, Stubborn, Successors, ThreadSet};

impl Successors<'_> {
    /// Shows the firings of threads that may be enough, and takes them out of the set. Says whether they are.
    pub(crate) fn expand_first(
        &mut self,
        stubborn: &Stubborn,
        movable: &mut ThreadSet,
        visit: &mut impl FnMut(&Step<'_>, &State) -> Flow,
    ) -> ControlFlow<(), bool> {
        self.plans.dirty = ThreadSet::ALL;
        let first = self.plans.independent(&stubborn.places, &self.compiled.layout, &self.current);
        for thread in first.iter() {
            self.expand_tallied(stubborn, thread, visit)?;
            movable.remove(thread);
            if self.plans.tallies[thread].is_enough(stubborn.proviso)
                && self.plans.are_sheltered(ThreadSet::single(thread), self.current.live)
            {
                self.chosen = ThreadSet::single(thread);
                return ControlFlow::Continue(true);
            }
        }
        self.find_awaited(stubborn);
        self.plans.find_groups(&self.current);
        for position in 0..self.plans.groups.len() {
            let group = self.plans.groups[position];
            for thread in (group & *movable).iter() {
                self.expand_tallied(stubborn, thread, visit)?;
            }
            *movable &= !group;
            let tallies = group.iter().map(|thread| self.plans.tallies[thread]);
            if tallies.fold(Tally::NONE, Tally::join).is_enough_together(stubborn.proviso)
                && self.plans.are_sheltered(group, self.current.live)
            {
                self.chosen = group;
                return ControlFlow::Continue(true);
            }
        }
        ControlFlow::Continue(false)
    }

    /// Finds out for whose end threads wait that do so.
    fn find_awaited(&mut self, stubborn: &Stubborn) {
        let compiled = self.compiled;
        self.plans.awaited.clear();
        self.plans.awaited.resize(self.current.threads.len(), ThreadSet::NONE);
        for thread in self.current.live.iter() {
            if self.plans.n_waits(thread) == 0 {
                continue;
            }
            let mut base = compiled.layout.thread_template.len();
            for depth in 0..self.current.threads[thread][0] {
                let place = word_place(self.current.threads[thread][base]);
                for &transition in compiled.from[place].iter().filter(|&&at| stubborn.is_wait[at]) {
                    (self.registers[0], self.registers[1], self.base) = (thread as i64, depth, base);
                    let awaited = self.awaited(&compiled.transitions[transition]);
                    self.plans.awaited[thread] |= awaited;
                }
                base += compiled.layout.frame_words[place] as usize;
            }
        }
    }

    /// The threads for whose end a rule waits that is bound in one way only: none where all have ended, every
    /// thread where that cannot be told.
    fn awaited(&mut self, rule: &Rule) -> ThreadSet {
        let Some(done) = self.compiled.layout.done else { return ThreadSet::ALL };
        let mut awaited = ThreadSet::NONE;
        for binding in &rule.bindings {
            match binding {
                Binding::Read { var, cells, key, when } => {
                    let value = if self.holds(*when) { self.read(cells, key) } else { 0 };
                    self.registers[*var as usize] = value;
                }
                Binding::Member(Member { offset, thread: Part::Is(thread), .. }) if *offset == done => {
                    let thread = self.value(*thread);
                    let Some((word, bit)) = self.compiled.layout.member((done, 1), 0, thread) else {
                        return ThreadSet::ALL;
                    };
                    if self.current.globals[word] & bit == 0 {
                        let one = ThreadSet::of_number(thread);
                        let is_live = !(self.current.live & one).is_empty();
                        awaited |= if is_live { one } else { ThreadSet::ALL };
                    }
                }
                Binding::ReadRun { var, count, cells, index } => self.read_run(*var, *count, cells, *index),
                Binding::Compute { var, value } => self.registers[*var as usize] = self.value(*value),
                Binding::Frame { .. }
                | Binding::Member(_)
                | Binding::Count { .. }
                | Binding::Absent(_)
                | Binding::Holds { .. } => {}
                Binding::Choose { .. } => return ThreadSet::ALL,
            }
        }
        awaited
    }

    /// Shows the firings of one thread, and keeps what matters for whether they are enough. Where a step enters an atomic section, the
    /// states behind the section are shown.
    pub(crate) fn expand_tallied(
        &mut self,
        stubborn: &Stubborn,
        thread: usize,
        visit: &mut impl FnMut(&Step<'_>, &State) -> Flow,
    ) -> ControlFlow<()> {
        let compiled = self.compiled;
        let mut tally = Tally::new(&self.plans, thread);
        let mut walk = self.walk.take().unwrap_or_else(|| Box::new(Walk::new(compiled)));
        let mut plans = std::mem::replace(&mut self.plans, Plans::new());
        let mut error = None;
        let flow = self.expand_thread(thread, &mut |step, state| {
            if step.outcome == Outcome::Pruned || !compiled.is_in_section(state) {
                let flow = visit(step, state);
                tally.add(stubborn, step.transition, flow.is_later);
                return flow.control;
            }
            tally.begin(stubborn, step.transition);
            let mut show = |state: &State, is_behind: bool| {
                let flow = visit(step, state);
                tally.add_end(flow.is_later, is_behind);
                flow.control
            };
            let flow = walk.walk(stubborn, thread, state, &mut plans, &mut show);
            error = error.or(walk.error());
            flow
        });
        self.error = self.error.or(error);
        self.walk = Some(walk);
        self.plans = plans;
        self.plans.keep(thread, tally);
        flow
    }
}

/// The steps of one thread, as they are found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    n_steps: u32,
    are_first: bool,
    /// Transitions that wait for the end of a thread and were not found enabled yet.
    n_waits: u32,
    /// Some step leads to a state that is later.
    some_later: bool,
    /// All steps do.
    all_later: bool,
}

impl Tally {
    /// Of no thread.
    pub(crate) const NONE: Self =
        Self { n_steps: 0, are_first: true, n_waits: 0, some_later: false, all_later: true };

    pub(crate) fn new(plans: &Plans, thread: usize) -> Self {
        Self { n_waits: plans.n_waits(thread), ..Self::NONE }
    }

    pub(crate) fn add(&mut self, stubborn: &Stubborn, transition: Transition, is_later: bool) {
        self.begin(stubborn, transition);
        self.add_end(is_later, true);
    }

    /// Adds a step, of which it is not said yet where it leads.
    fn begin(&mut self, stubborn: &Stubborn, transition: Transition) {
        self.n_steps = self.n_steps.saturating_add(1);
        self.are_first &= stubborn.is_first[transition];
        self.n_waits = self.n_waits.saturating_sub(u32::from(stubborn.is_wait[transition]));
    }

    /// Adds a state that the step leads to: one from which others can go on, or one inside of an atomic section of which
    /// it is not known how it goes on.
    const fn add_end(&mut self, is_later: bool, is_behind: bool) {
        self.are_first &= is_behind;
        self.some_later |= is_later;
        self.all_later &= is_later;
    }

    /// Whether there are steps, all of them may go first, and no other thread can add one.
    pub(crate) const fn is_enough(&self, proviso: Proviso) -> bool {
        self.is_enough_together(proviso) && self.n_waits == 0
    }

    /// The same for a set that has all threads for whose end its members wait.
    pub(crate) const fn is_enough_together(&self, proviso: Proviso) -> bool {
        let is_later = match proviso {
            Proviso::SomeLater => self.some_later,
            Proviso::AllLater => self.all_later,
        };
        self.n_steps > 0 && self.are_first && is_later
    }

    /// Of two threads together.
    pub(crate) const fn join(self, other: Self) -> Self {
        Self {
            n_steps: self.n_steps.saturating_add(other.n_steps),
            are_first: self.are_first && other.are_first,
            n_waits: self.n_waits + other.n_waits,
            some_later: self.some_later || other.some_later,
            all_later: self.all_later && other.all_later,
        }
    }

    pub(crate) const fn is_single(&self) -> bool {
        self.n_steps == 1
    }
}
