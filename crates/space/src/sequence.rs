//! What comes at once after a step: the rest of an indivisible sequence, and the loss of an atomic section.

use std::ops::ControlFlow;

use pdnet_net::{Effect, INDIVISIBLE_STEPS, Transition};

use crate::successors::{Outcome, Step, Successors};
use crate::transition::Rule;
use crate::{State, ThreadSet};

/// So many steps are taken before states are compared, to find a sequence that comes back to one.
const FIRST_COMPARED: u32 = 16;

/// What is needed beside the generator itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    /// The transitions that fired after the first.
    pub(crate) transitions: Vec<Transition>,
    /// The sequence had no end.
    pub(crate) is_cut: bool,
    /// The step that is next: what fires, the first word of the moving frame, and the registers.
    next: Option<(Transition, usize)>,
    registers: Vec<i64>,
    /// A state of the sequence with which later ones are compared.
    kept: Option<State>,
}

impl Sequence {
    /// Begins with a step.
    pub(crate) fn start(&mut self) {
        self.transitions.clear();
        self.is_cut = false;
    }

    /// The step that was taken, with what came at once after it.
    #[inline]
    pub(crate) fn step<'a>(
        &'a self,
        transition: Transition,
        rule: &Rule,
        outcome: Outcome,
        registers: &'a [i64],
        partner: Option<u32>,
    ) -> Step<'a> {
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "set by expand")]
        let thread = registers[0] as u32;
        Step {
            thread,
            transition,
            outcome,
            partner: partner.filter(|&partner| partner != thread),
            inner: &self.transitions,
            is_cut: self.is_cut,
            binding: Some(&registers[..rule.n_vars]),
        }
    }
}

impl Successors<'_> {
    /// Lets happen what comes at once after the firing of a thread that led to `next`.
    pub(crate) fn settle(&mut self, thread: usize) -> Result<Outcome, &'static str> {
        let compiled = self.compiled;
        self.touched.by.chunks |= compiled.sequel_chunks;
        let is_set = |cell: Option<usize>| cell.is_some_and(|offset| self.next.globals[offset] != 0);
        if !is_set(compiled.layout.indivisible) {
            if is_set(compiled.layout.yielding) {
                self.yield_next();
            }
            return Ok(Outcome::State);
        }
        // The steps are those of another generator: this one is in the middle of an enumeration.
        let mut inner = self.inner.take().unwrap_or_else(|| Box::new(Self::new(compiled)));
        inner.current.copy_from(&self.next);
        inner.next.copy_from(&self.next);
        inner.sequence.start();
        inner.touched = self.touched;
        let outcome = inner.finish_sequence(thread);
        if outcome == Ok(Outcome::State) {
            inner.yield_section();
            self.next.follow(&inner.next);
        }
        std::mem::swap(&mut self.sequence.transitions, &mut inner.sequence.transitions);
        self.sequence.is_cut = inner.sequence.is_cut;
        self.touched = inner.touched;
        self.inner = Some(inner);
        outcome
    }

    /// Takes the atomic section from a thread that cannot go on in `next`. The enumeration that this one is in the middle of
    /// goes on as if nothing had been.
    fn yield_next(&mut self) {
        let mut registers = std::mem::take(&mut self.sequence.registers);
        registers.clone_from(&self.registers);
        let base = self.base;
        std::mem::swap(&mut self.current, &mut self.next);
        let lost = self.lost_section();
        std::mem::swap(&mut self.current, &mut self.next);
        self.base = base;
        std::mem::swap(&mut self.registers, &mut registers);
        self.sequence.registers = registers;
        if let Some(cell) = lost {
            self.next.set_global(cell, 0);
        }
    }

    /// Takes steps of the thread for as long as the sequence is not at its end.
    fn finish_sequence(&mut self, thread: usize) -> Result<Outcome, &'static str> {
        let compiled = self.compiled;
        let Some(cell) = compiled.layout.indivisible else { return Ok(Outcome::State) };
        let mut n_steps = 1_u32;
        while self.current.globals[cell] != 0 {
            self.choose_next(thread);
            let Some((transition, base)) = self.sequence.next else { break };
            let kept = self.sequence.kept.as_ref().filter(|_| n_steps > FIRST_COMPARED);
            if n_steps >= INDIVISIBLE_STEPS || kept.is_some_and(|kept| kept.is_same(&self.current)) {
                self.sequence.is_cut = true;
                return Ok(Outcome::Pruned);
            }
            if n_steps >= FIRST_COMPARED && n_steps.is_power_of_two() {
                self.sequence.kept = Some(self.current.clone());
            }
            n_steps += 1;
            self.sequence.transitions.push(transition);
            let rule = &compiled.transitions[transition];
            if rule.effect == Effect::Prune {
                return Ok(Outcome::Pruned);
            }
            self.registers.copy_from_slice(&self.sequence.registers);
            self.base = base;
            self.fire(rule)?;
            self.current.follow(&self.next);
        }
        Ok(Outcome::State)
    }

    /// Finds the first enabled binding of the thread: of the first transition, and of that the one with the lowest
    /// values.
    fn choose_next(&mut self, thread: usize) {
        let compiled = self.compiled;
        self.sequence.next = None;
        let movable = self.movable();
        if compiled.has_ended(&self.current) || !movable.contains(thread) {
            return;
        }
        for late in [false, true] {
            if late && !compiled.has_late() {
                return;
            }
            if late {
                // Which threads can move is decided by all of them.
                self.touched.by.others = true;
                if self.is_any_bound(movable) {
                    return;
                }
            }
            let _ = self.bind_enabled(ThreadSet::single(thread), late, &mut |this, transition, rule| {
                let own = &this.registers[..rule.n_vars];
                let is_first = this.sequence.next.is_none_or(|(other, _)| {
                    transition < other || transition == other && own < &this.sequence.registers[..rule.n_vars]
                });
                if is_first {
                    this.sequence.next = Some((transition, this.base));
                    this.sequence.registers.clone_from(&this.registers);
                }
                ControlFlow::Continue(())
            });
            if self.sequence.next.is_some() {
                return;
            }
        }
    }

    /// Whether a transition of these threads that is not late is bound.
    fn is_any_bound(&mut self, threads: ThreadSet) -> bool {
        self.bind_enabled(threads, false, &mut |_, _, _| ControlFlow::Break(())).is_break()
    }

    /// Takes the atomic section from a thread that cannot go on.
    fn yield_section(&mut self) {
        if let Some(cell) = self.lost_section() {
            self.next.set_global(cell, 0);
        }
    }

    /// The cell of the atomic section, where a thread is in it that cannot go on.
    fn lost_section(&mut self) -> Option<usize> {
        let cell = self.compiled.layout.yielding?;
        let owner = self.current.globals[cell];
        if owner == 0 {
            return None;
        }
        let owner = ThreadSet::of_number(owner.wrapping_sub(1));
        owner.iter().for_each(|owner| self.touched.add_thread(owner));
        let owner = owner & self.current.live;
        (self.compiled.has_ended(&self.current) || !self.is_any_bound(owner)).then_some(cell)
    }
}
