//! Atomic sections as one step.

use std::ops::ControlFlow;

use crate::plan::Plans;
use crate::successors::Outcome;
use crate::{Compiled, State, Stubborn, Successors};

/// So many states of a section are walked through after one step.
const MOST: usize = 64;

/// Walks through an atomic section, from a state inside of it to those behind.
///
/// While a thread is in its section nobody else moves, so that all steps of the states inside are those of one thread. A
/// state inside need not be shown where all of them are *inner* steps: they change nothing that is observed, nobody watches
/// for them, and they end nothing. Then the state has a successor, and looks to every property as its successors do. What
/// is shown instead is where the walk ends: behind the section, or where it is lost.
///
/// Whether the steps are also enough, so that those of other threads may be left out, is a matter of what all these steps use
/// ([`Stubborn`]); that is collected on the way.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'c> {
    steps: Successors<'c>,
    waiting: Vec<State>,
    found: Vec<State>,
}

impl<'c> Walk<'c> {
    pub(crate) fn new(compiled: &'c Compiled) -> Self {
        Self { steps: Successors::new(compiled), waiting: Vec::new(), found: Vec::new() }
    }

    /// What a step needed that states have no room for.
    pub(crate) const fn error(&self) -> Option<&'static str> {
        self.steps.error
    }

    /// Shows the states to which the section leads that a thread is in, each with whether it is behind the section and all
    /// that came before it was walked through. Others are inside: their steps have to be looked at one by one.
    pub(crate) fn walk(
        &mut self,
        stubborn: &Stubborn,
        thread: usize,
        start: &State,
        plans: &mut Plans,
        show: &mut impl FnMut(&State, bool) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let compiled = self.steps.compiled;
        self.steps.error = None;
        self.waiting.clear();
        self.waiting.push(start.clone());
        let mut n_walked = 0;
        while let Some(state) = self.waiting.pop() {
            self.found.clear();
            let is_inner = n_walked < MOST && is_section_of(compiled, &state, thread) && {
                n_walked += 1;
                self.take_inner_steps(stubborn, thread, &state)
            };
            if self.steps.error.is_some() {
                return ControlFlow::Break(());
            }
            if !is_inner || !plans.add_inside(&stubborn.places, &compiled.layout, &state, thread) {
                show(&state, false)?;
                continue;
            }
            while let Some(next) = self.found.pop() {
                match compiled.is_in_section(&next) {
                    true => self.waiting.push(next),
                    false => show(&next, true)?,
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Finds the states after a state inside of a section; false where it has to be shown itself.
    fn take_inner_steps(&mut self, stubborn: &Stubborn, thread: usize, state: &State) -> bool {
        let Self { steps, found, .. } = self;
        if steps.compiled.has_ended(state) {
            return false;
        }
        steps.current.copy_from(state);
        steps.next.copy_from(state);
        let flow = steps.expand_thread(thread, &mut |step, next| {
            let is_inner = stubborn.is_inner[step.transition]
                && step.outcome == Outcome::State
                && step.partner.is_none();
            if !is_inner {
                return ControlFlow::Break(());
            }
            found.push(next.clone());
            ControlFlow::Continue(())
        });
        flow.is_continue() && !found.is_empty()
    }
}

/// Whether it is this thread that is in an atomic section.
fn is_section_of(compiled: &Compiled, state: &State, thread: usize) -> bool {
    compiled.layout.atomic.is_some_and(|offset| state.globals[offset] == thread as i64 + 1)
}
