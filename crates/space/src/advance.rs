//! Steps that are alone, taken without a look around.

use std::ops::ControlFlow;

use pdnet_net::Firing;

use crate::first::Tally;
use crate::{State, Stubborn, Successors, ThreadSet, Unsupported};

impl Successors<'_> {
    /// Makes ready to walk on from states that are some steps away from this one.
    pub fn start_near(&mut self, state: &State) {
        self.current.copy_from(state);
        self.next.copy_from(state);
        self.plans.dirty = ThreadSet::ALL;
        match &mut self.ahead {
            Some(ahead) => ahead.copy_from(state),
            None => self.ahead = Some(state.clone()),
        }
    }

    /// Goes to a state that is some steps away from the one that was named last in [`Successors::start_near`].
    pub fn go_to(&mut self, state: &State) {
        self.plans.dirty |= self.current.changed_threads | state.changed_threads;
        self.current.follow(state);
        self.next.follow(state);
    }

    /// Where one step of one thread is all that has to be looked at, and the search need not see the state
    /// before it, takes it: the current state is then the one after it. Says whether it did, and adds the
    /// firing to a trace, if there is one.
    ///
    /// Such steps are silent: they change nothing that is observed, and every cycle of the states has one that
    /// is not silent ([`Stubborn`]), so that taking them one after the other comes to an end.
    ///
    /// # Errors
    /// Where a step does something that states have no room for.
    pub fn advance(
        &mut self,
        stubborn: &Stubborn,
        mut trace: Option<&mut Vec<Firing>>,
    ) -> Result<bool, Unsupported> {
        if self.compiled.has_ended(&self.current) {
            return Ok(false);
        }
        let compiled = self.compiled;
        let movable = self.movable();
        let is_alone = movable.len() == 1;
        let enters_unseen = stubborn.sees_states && !compiled.is_in_section(&self.current);
        let mut first = if is_alone {
            movable
        } else {
            self.plans.independent(&stubborn.places, &self.compiled.layout, &self.current) & movable
        };
        let Some(mut ahead) = self.ahead.take() else { return Ok(false) };
        let n_before = trace.as_ref().map_or(0, |trace| trace.len());
        let mut has_moved = false;
        self.error = None;
        while !has_moved && let Some(thread) = first.pop() {
            let (mut tally, mut is_silent) = (Tally::new(&self.plans, thread), true);
            let _ = self.expand_thread(thread, &mut |step, state| {
                tally.add(stubborn, step.transition, true);
                // What comes inside of a section is not known here, and who looks at the states outside must not miss the last one.
                let is_whole = (is_alone && !enters_unseen) || !compiled.is_in_section(state);
                is_silent = tally.is_single() && is_whole && stubborn.is_silent[step.transition];
                if !is_silent {
                    return ControlFlow::Break(());
                }
                if let Some(trace) = &mut trace {
                    trace.extend(step.firing());
                }
                ahead.follow(state);
                ControlFlow::Continue(())
            });
            has_moved = is_silent
                && tally.is_single()
                && (is_alone || tally.is_enough(stubborn.proviso))
                && self.error.is_none();
            if let (Some(trace), false) = (&mut trace, has_moved) {
                trace.truncate(n_before);
            }
        }
        if has_moved {
            std::mem::swap(&mut self.current, &mut ahead);
            self.plans.dirty |= self.current.changed_threads;
            self.next.follow(&self.current);
        }
        self.ahead = Some(ahead);
        match self.error {
            None => Ok(has_moved),
            Some(text) => Err(Unsupported(text.to_owned())),
        }
    }
}
