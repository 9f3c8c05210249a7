//! The threads whose steps are enough, found while their steps are shown.

use std::ops::ControlFlow;

use crate::ample::{Ample, Tally};
use crate::layout::word_place;
use crate::transition::{Binding, Member, Part, Rule};
use crate::{State, Step, Successors, ThreadSet};

impl Successors<'_> {
    /// Shows the firings of threads that may be enough, and takes them out of the set. Says whether they are.
    pub(crate) fn expand_first(
        &mut self,
        ample: &Ample,
        movable: &mut ThreadSet,
        visit: &mut impl FnMut(&Step<'_>, &State) -> ControlFlow<()>,
    ) -> ControlFlow<(), bool> {
        self.plans.dirty = ThreadSet::ALL;
        let first = ample.independent(&self.compiled.layout, &self.current, &mut self.plans);
        self.plans.tallies.clear();
        self.plans.tallies.resize(self.current.threads.len(), Tally::NONE);
        for thread in first.iter() {
            self.expand_tallied(ample, thread, visit)?;
            movable.remove(thread);
            if self.plans.tallies[thread].is_enough() {
                return ControlFlow::Continue(true);
            }
        }
        self.find_awaited(ample);
        Ample::find_groups(&self.current, &mut self.plans);
        for position in 0..self.plans.groups.len() {
            let group = self.plans.groups[position];
            for thread in (group & *movable).iter() {
                self.expand_tallied(ample, thread, visit)?;
            }
            *movable &= !group;
            let tallies = group.iter().map(|thread| self.plans.tallies[thread]);
            if tallies.fold(Tally::NONE, Tally::join).is_enough_together() {
                return ControlFlow::Continue(true);
            }
        }
        ControlFlow::Continue(false)
    }

    /// Finds out for whose end threads wait that do so.
    fn find_awaited(&mut self, ample: &Ample) {
        let compiled = self.compiled;
        self.plans.awaited.clear();
        self.plans.awaited.resize(self.current.threads.len(), ThreadSet::NONE);
        for thread in self.current.live.iter() {
            if !self.plans.waits(thread) {
                continue;
            }
            let mut base = compiled.layout.thread_template.len();
            for depth in 0..self.current.threads[thread][0] {
                let place = word_place(self.current.threads[thread][base]);
                for &transition in compiled.from[place].iter().filter(|&&at| ample.is_wait[at]) {
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
                    let Some(bit) = self.compiled.layout.thread_bit(thread) else { return ThreadSet::ALL };
                    if self.current.globals[done] & bit == 0 {
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

    /// Shows the firings of one thread, and keeps what matters for whether they are enough.
    fn expand_tallied(
        &mut self,
        ample: &Ample,
        thread: usize,
        visit: &mut impl FnMut(&Step<'_>, &State) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut tally = Tally::new(&self.plans, thread);
        let flow = self.expand_thread(thread, &mut |step, state| {
            tally.add(ample, step.transition);
            visit(step, state)
        });
        self.plans.tallies[thread] = tally;
        flow
    }
}
