//! Enumerates the firings of a state.

use std::ops::ControlFlow;

use pdnet_base::IndexVec;
use pdnet_net::{Effect, Firing, Place, Transition};

use crate::code::{Operand, Reg};
use crate::layout::{Cells, Home, Layout, word_place};
use crate::memo::{Memo, Trail};
use crate::parts::{Glance, Row};
use crate::plan::Plans;
use crate::section::Walk;
use crate::sequence::Sequence;
use crate::transition::{Binding, Key, Member, Part, Prefix, Rule};
use crate::{Compiled, State, Stubborn, ThreadSet, Unsupported};

/// What a firing leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A next state.
    State,
    /// Nothing: a failed assumption, undefined behaviour, or a bound of the model.
    Pruned,
}

/// A firing of the state that is being expanded.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The thread that moves.
    pub thread: u32,
    /// What fires.
    pub transition: Transition,
    /// Whether there is a next state.
    pub outcome: Outcome,
    /// The thread that moves with it.
    pub partner: Option<u32>,
    /// What fired after it in the same firing: the rest of an indivisible sequence.
    pub inner: &'a [Transition],
    /// The sequence had no end and was cut off, so that there is no next state.
    pub is_cut: bool,
    /// Nothing where the step was remembered.
    pub(crate) binding: Option<&'a [i64]>,
}

impl Step<'_> {
    /// All transitions that fired, in their order.
    pub fn transitions(&self) -> impl Iterator<Item = Transition> {
        std::iter::once(self.transition).chain(self.inner.iter().copied())
    }

    /// The threads that move.
    #[must_use]
    #[inline]
    pub fn movers(&self) -> ThreadSet {
        let mut movers = ThreadSet::single(self.thread as usize);
        if let Some(partner) = self.partner {
            movers.insert(partner as usize);
        }
        movers
    }

    /// The binding element in the interpreter's form, for a trace; nothing for a step of
    /// [`Successors::for_each_remembered`].
    #[must_use]
    pub fn firing(&self) -> Option<Firing> {
        let binding = self.binding?.to_vec();
        Some(Firing { transition: self.transition, binding })
    }
}

/// The generator of successors. It owns all the memory that an expansion needs, so that a step allocates
/// nothing.
///
/// Firings come in the order of the threads, then of the depth of the moving frame, then of the transitions,
/// then of the values that choices and arcs bind. The set of firings is that of the reference interpreter.
#[derive(Clone, Debug)]
pub struct Successors<'c> {
    pub(crate) compiled: &'c Compiled,
    pub(crate) current: State,
    /// Equal to `current`, except while a firing is shown.
    pub(crate) next: State,
    pub(crate) registers: Vec<i64>,
    /// The first word of the moving frame.
    pub(crate) base: usize,
    /// Tokens of frames that the firing has taken and not put back.
    pub(crate) taken: Vec<(i64, i64)>,
    pub(crate) error: Option<&'static str>,
    /// For the choice of a thread that goes first.
    pub(crate) plans: Plans,
    /// The state after the only step, in [`Successors::advance`].
    pub(crate) ahead: Option<State>,
    /// Some firing was shown.
    pub(crate) has_shown: bool,
    /// The steps of some threads were left out of the last expansion.
    pub(crate) is_partial: bool,
    /// Those whose steps were enough then.
    pub(crate) chosen: ThreadSet,
    /// For what comes at once after a step.
    pub(crate) inner: Option<Box<Self>>,
    pub(crate) sequence: Sequence,
    /// For what comes inside of atomic sections.
    pub(crate) walk: Option<Box<Walk<'c>>>,
    /// What was touched, for those who remember steps.
    pub(crate) touched: Trail,
    pub(crate) memo: Memo,
    /// The state that was gone to by the numbers of its parts, and the one after a step.
    pub(crate) row: Row,
    pub(crate) next_row: Row,
    /// Who is in an atomic section there, and whether the process has ended.
    pub(crate) owner: Glance,
    pub(crate) ended: Glance,
    /// It is the current state.
    pub(crate) is_unpacked: bool,
    /// The generator is ready to find steps of it.
    pub(crate) is_started: bool,
    /// How often the steps from each place are still to be found without native code; empty where there is to be none.
    pub(crate) patience: Vec<u32>,
}

impl<'c> Successors<'c> {
    /// A generator for this net, at its initial state.
    #[must_use]
    pub fn new(compiled: &'c Compiled) -> Self {
        Self {
            compiled,
            current: compiled.initial(),
            next: compiled.initial(),
            registers: compiled.code.registers(),
            base: 0,
            taken: Vec::new(),
            error: None,
            plans: Plans::new(),
            ahead: None,
            has_shown: false,
            is_partial: false,
            chosen: ThreadSet::NONE,
            inner: None,
            sequence: Sequence::default(),
            walk: None,
            touched: Trail::default(),
            memo: Memo::default(),
            row: Row::default(),
            next_row: Row::default(),
            owner: Glance::default(),
            ended: Glance::default(),
            is_unpacked: false,
            is_started: false,
            patience: compiled.natives.patience(),
        }
    }

    /// The state to be expanded.
    #[must_use]
    pub const fn current(&self) -> &State {
        &self.current
    }

    /// Whether the last expansion left out steps of some threads, enabled or not.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// The threads whose steps were enough in the last expansion, where those of some were. Steps of others may have been shown
    /// before that was known.
    #[must_use]
    pub fn chosen(&self) -> Option<ThreadSet> {
        self.is_partial.then_some(self.chosen)
    }

    /// The state to be expanded, to be loaded from a store.
    pub const fn current_mut(&mut self) -> &mut State {
        &mut self.current
    }

    /// Calls `visit` for each firing with the state after it, until all were seen or `visit` breaks. After a
    /// pruned firing there is no state, and `visit` gets the current one. In between, `visit` may not rely on
    /// anything but its arguments.
    ///
    /// # Errors
    /// Where a step does something that states have no room for.
    pub fn for_each<R: Into<Flow>>(
        &mut self,
        visit: impl FnMut(&Step<'_>, &State) -> R,
    ) -> Result<(), Unsupported> {
        self.for_each_first(None, visit)
    }

    /// As [`Successors::for_each`], but where the steps of some threads are enough, only those. Threads that
    /// could go first come before the others. What `visit` returns says whether the state is later
    /// ([`crate::Proviso`]).
    ///
    /// # Errors
    /// Where a step does something that states have no room for.
    pub fn for_each_first<R: Into<Flow>>(
        &mut self,
        stubborn: Option<&Stubborn>,
        mut visit: impl FnMut(&Step<'_>, &State) -> R,
    ) -> Result<(), Unsupported> {
        if self.compiled.has_ended(&self.current) {
            return Ok(());
        }
        self.next.copy_from(&self.current);
        self.error = None;
        self.has_shown = false;
        self.is_partial = false;
        let _ = self.expand(stubborn, &mut |step, state| visit(step, state).into());
        self.result()
    }

    /// What came in between, if anything.
    pub(crate) fn result(&self) -> Result<(), Unsupported> {
        match self.error {
            None => Ok(()),
            Some(text) => Err(Unsupported(text.to_owned())),
        }
    }

    /// The threads that may move, as far as atomic sections go.
    pub(crate) fn movable(&self) -> ThreadSet {
        let owner = self.compiled.layout.atomic.map_or(0, |offset| self.current.globals[offset]);
        match owner {
            0 => self.current.live,
            owner => ThreadSet::of_number(owner.wrapping_sub(1)) & self.current.live,
        }
    }

    fn expand(
        &mut self,
        stubborn: Option<&Stubborn>,
        visit: &mut impl FnMut(&Step<'_>, &State) -> Flow,
    ) -> ControlFlow<()> {
        let mut movable = self.movable();
        let all = movable;
        if let Some(stubborn) = stubborn {
            if self.movable().len() > 1 && self.expand_first(stubborn, &mut movable, visit)? {
                self.is_partial = true;
                return ControlFlow::Continue(());
            }
            if self.compiled.layout.atomic.is_some() {
                while let Some(thread) = movable.pop() {
                    self.expand_tallied(stubborn, thread, visit)?;
                }
            }
        }
        let visit = &mut |step: &Step<'_>, state: &State| visit(step, state).control;
        self.expand_threads(movable, visit)?;
        if !self.has_shown && self.compiled.has_late() {
            let mut show = |this: &mut Self, transition, rule: &Rule| this.show(transition, rule, visit);
            self.bind_enabled(all, true, &mut show)?;
        }
        ControlFlow::Continue(())
    }

    /// Shows the firings of one thread.
    pub(crate) fn expand_thread(
        &mut self,
        thread: usize,
        visit: &mut impl FnMut(&Step<'_>, &State) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.expand_threads(ThreadSet::single(thread), visit)
    }

    fn expand_threads(
        &mut self,
        threads: ThreadSet,
        visit: &mut impl FnMut(&Step<'_>, &State) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut show = |this: &mut Self, transition, rule: &Rule| this.show(transition, rule, visit);
        self.bind_enabled(threads, false, &mut show)
    }

    /// Calls `found` with each transition of these threads that is late, or is not, in each way in which it is
    /// bound, except where the rank of another one of the same frame keeps it from being enabled.
    #[inline]
    pub(crate) fn bind_enabled(
        &mut self,
        threads: ThreadSet,
        late: bool,
        found: &mut impl FnMut(&mut Self, Transition, &Rule) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match &self.compiled.priorities {
            None if late => ControlFlow::Continue(()),
            None => self.bind_all(threads, |_| true, found),
            Some(priorities) => {
                let ranks = if late { &priorities.late } else { &priorities.usual };
                self.bind_by_rank(threads, ranks, found)
            }
        }
    }

    fn bind_by_rank(
        &mut self,
        threads: ThreadSet,
        ranks: &IndexVec<Place, Vec<Vec<Transition>>>,
        found: &mut impl FnMut(&mut Self, Transition, &Rule) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let compiled = self.compiled;
        for thread in threads.iter() {
            let mut base = compiled.layout.thread_template.len();
            for depth in 0..self.current.threads[thread][0] {
                let place = word_place(self.current.threads[thread][base]);
                let mut is_bound = false;
                self.warm_up(place);
                for transitions in &ranks[place] {
                    for &transition in transitions {
                        (self.registers[0], self.registers[1], self.base) = (thread as i64, depth, base);
                        let rule = &compiled.transitions[transition];
                        self.touched.add(thread, rule);
                        let Some(position) = self.bind_natively(rule) else { continue };
                        let found = &mut |this: &mut Self, transition, rule: &Rule| {
                            is_bound = true;
                            found(this, transition, rule)
                        };
                        self.bind(transition, rule, position, found)?;
                    }
                    if is_bound {
                        break;
                    }
                }
                base += compiled.layout.frame_words[place] as usize;
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `found` with each transition of these threads, if it is wanted, in each way in which it is bound.
    #[inline]
    pub(crate) fn bind_all(
        &mut self,
        mut threads: ThreadSet,
        is_wanted: impl Fn(Transition) -> bool,
        found: &mut impl FnMut(&mut Self, Transition, &Rule) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let compiled = self.compiled;
        while let Some(thread) = threads.pop() {
            let mut base = compiled.layout.thread_template.len();
            for depth in 0..self.current.threads[thread][0] {
                let place = word_place(self.current.threads[thread][base]);
                self.warm_up(place);
                for &transition in &compiled.from[place] {
                    if !is_wanted(transition) {
                        continue;
                    }
                    self.registers[0] = thread as i64;
                    self.registers[1] = depth;
                    self.base = base;
                    let rule = &compiled.transitions[transition];
                    self.touched.add(thread, rule);
                    let Some(position) = self.bind_natively(rule) else { continue };
                    self.bind(transition, rule, position, found)?;
                }
                base += compiled.layout.frame_words[place] as usize;
            }
        }
        ControlFlow::Continue(())
    }

    #[inline]
    pub(crate) fn value(&mut self, operand: Operand) -> i64 {
        self.compiled.code.value(operand, &mut self.registers)
    }

    pub(crate) fn optional(&mut self, operand: Option<Operand>) -> Option<i64> {
        operand.map(|operand| self.value(operand))
    }

    #[inline]
    pub(crate) fn holds(&mut self, condition: Option<Operand>) -> bool {
        condition.is_none_or(|condition| self.value(condition) != 0)
    }

    /// Extends the binding over the steps from `position` on, in all ways, and calls `found` with each.
    /// Only steps that can bind a variable in several ways recur.
    fn bind(
        &mut self,
        transition: Transition,
        rule: &Rule,
        position: usize,
        found: &mut impl FnMut(&mut Self, Transition, &Rule) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for (position, binding) in rule.bindings.iter().enumerate().skip(position) {
            match binding {
                Binding::Choose { var, domain } => {
                    for value in domain.values() {
                        self.registers[*var as usize] = value;
                        self.bind(transition, rule, position + 1, found)?;
                    }
                    return ControlFlow::Continue(());
                }
                Binding::Frame { place, thread: Part::Is(thread), depth: Part::Is(depth) } => {
                    let (thread, depth) = (self.value(*thread), self.value(*depth));
                    if !self.current.frame_is_at(&self.compiled.layout, thread, depth, *place) {
                        return ControlFlow::Continue(());
                    }
                }
                Binding::Frame { place, thread, depth } => {
                    return self.bind_frame(transition, rule, position, (*place, *thread, *depth), found);
                }
                Binding::Member(Member { offset, rows, row, thread: Part::Is(thread) })
                    if !matches!(row, Some(Part::Bind(_))) =>
                {
                    let row = match row {
                        Some(Part::Is(row)) => self.value(*row),
                        Some(Part::Bind(_)) | None => 0,
                    };
                    let thread = self.value(*thread);
                    let member = self.compiled.layout.member((*offset, *rows), row, thread);
                    if member.is_none_or(|(word, bit)| self.current.globals[word] & bit == 0) {
                        return ControlFlow::Continue(());
                    }
                }
                Binding::Member(member) => {
                    return self.bind_member(transition, rule, position, member, found);
                }
                Binding::Count { offset } => {
                    if self.current.globals[*offset] == 0 {
                        return ControlFlow::Continue(());
                    }
                }
                Binding::Absent(prefix) => {
                    if self.is_marked(prefix) {
                        return ControlFlow::Continue(());
                    }
                }
                Binding::Read { var, cells, key, when } => {
                    let value = if self.holds(*when) { self.read(cells, key) } else { 0 };
                    self.registers[*var as usize] = value;
                }
                Binding::ReadRun { var, count, cells, index } => self.read_run(*var, *count, cells, *index),
                Binding::Compute { var, value } => self.registers[*var as usize] = self.value(*value),
                Binding::Holds { condition } => {
                    if self.value(*condition) == 0 {
                        return ControlFlow::Continue(());
                    }
                }
            }
        }
        found(self, transition, rule)
    }

    fn bind_frame(
        &mut self,
        transition: Transition,
        rule: &Rule,
        position: usize,
        (place, thread_part, depth_part): (Place, Part, Part),
        found: &mut impl FnMut(&mut Self, Transition, &Rule) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let layout = &self.compiled.layout;
        let wanted = match thread_part {
            Part::Is(thread) => Some(self.value(thread)),
            Part::Bind(_) => None,
        };
        let candidates = match wanted {
            None => self.current.live,
            Some(wanted) => ThreadSet::of_number(wanted) & self.current.live,
        };
        for thread in candidates.iter() {
            let number = thread as i64;
            if let Part::Bind(var) = thread_part {
                self.registers[var as usize] = number;
            }
            match depth_part {
                Part::Is(depth) => {
                    let depth = self.value(depth);
                    if self.current.frame_is_at(layout, number, depth, place) {
                        self.touched.meet(thread);
                        self.bind(transition, rule, position + 1, found)?;
                    }
                }
                Part::Bind(var) => {
                    let mut from = 0;
                    while let Some(depth) = self.current.find_frame(layout, thread, from, place) {
                        self.touched.meet(thread);
                        self.registers[var as usize] = depth as i64;
                        self.bind(transition, rule, position + 1, found)?;
                        from = depth + 1;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn bind_member(
        &mut self,
        transition: Transition,
        rule: &Rule,
        position: usize,
        member: &Member<Part>,
        found: &mut impl FnMut(&mut Self, Transition, &Rule) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for row in 0..member.rows {
            match member.row {
                None => {}
                Some(Part::Bind(var)) => self.registers[var as usize] = i64::from(row),
                Some(Part::Is(wanted)) if self.value(wanted) != i64::from(row) => continue,
                Some(Part::Is(_)) => {}
            }
            let members = self.compiled.layout.set(member.offset, row as usize, &self.current.globals);
            for thread in members.iter() {
                let thread = thread as i64;
                match member.thread {
                    Part::Bind(var) => self.registers[var as usize] = thread,
                    Part::Is(wanted) if self.value(wanted) != thread => continue,
                    Part::Is(_) => {}
                }
                self.bind(transition, rule, position + 1, found)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The value of a cell of the current state.
    #[inline]
    pub(crate) fn read(&mut self, cells: &Cells, key: &Key) -> i64 {
        let (thread, depth, index) = match *key {
            Key::Own { index } => {
                let index = self.optional(index).unwrap_or(0);
                match (cells.home, cells.length) {
                    (Home::Global, _) => (0, 0, index),
                    (Home::Frame(_), None) => return self.moving()[self.base + cells.offset],
                    (Home::Thread, _) | (Home::Frame(_), Some(_)) => {
                        (self.registers[0], self.registers[1], index)
                    }
                }
            }
            Key::Any { thread, depth, index } => {
                (self.value(thread), self.optional(depth).unwrap_or(0), self.optional(index).unwrap_or(0))
            }
        };
        self.current.cell(&self.compiled.layout, cells, thread, depth, index)
    }

    /// Reads elements of a global array that follow each other; those outside of it are 0.
    pub(crate) fn read_run(&mut self, var: Reg, count: Reg, cells: &Cells, index: Operand) {
        let index = self.value(index);
        let (var, count) = (usize::from(var), usize::from(count));
        match cells.run(index, count) {
            Some(run) => self.registers[var..var + count].copy_from_slice(&self.current.globals[run]),
            None => {
                for offset in 0..count {
                    let index = index.wrapping_add(offset as i64);
                    self.registers[var + offset] =
                        self.current.cell(&self.compiled.layout, cells, 0, 0, index);
                }
            }
        }
    }

    /// The words of the moving thread.
    #[inline]
    fn moving(&self) -> &[i64] {
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "set by expand")]
        &self.current.threads[self.registers[0] as usize]
    }

    fn is_marked(&mut self, prefix: &Prefix) -> bool {
        let compiled = self.compiled;
        match *prefix {
            Prefix::Count { offset } => self.current.globals[offset] != 0,
            Prefix::Sets { offset, rows, row, thread } => {
                let (row, thread) = (self.optional(row), self.optional(thread));
                let mut words = compiled.layout.members((offset, rows), row, thread);
                words.any(|(word, bits)| self.current.globals[word] & bits != 0)
            }
            Prefix::Frames { place, thread, depth } => {
                let (thread, depth) = (self.optional(thread), self.optional(depth));
                is_frame_marked(&self.current, &compiled.layout, place, thread, depth)
            }
        }
    }

    /// Fires what is bound and shows it.
    fn show(
        &mut self,
        transition: Transition,
        rule: &Rule,
        visit: &mut impl FnMut(&Step<'_>, &State) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let outcome = self.take(rule)?;
        self.show_taken(transition, rule, outcome, visit)
    }

    /// Shows what was fired, and goes back.
    pub(crate) fn show_taken(
        &mut self,
        transition: Transition,
        rule: &Rule,
        outcome: Outcome,
        visit: &mut impl FnMut(&Step<'_>, &State) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let partner = self.optional(rule.partner).and_then(|partner| u32::try_from(partner).ok());
        let step = self.sequence.step(transition, rule, outcome, &self.registers, partner);
        let shown = if outcome == Outcome::State { &self.next } else { &self.current };
        let flow = visit(&step, shown);
        self.next.restore(&self.current);
        flow
    }

    /// Fires what is bound, with all that comes at once after it. Breaks where there is no room for what it does.
    pub(crate) fn take(&mut self, rule: &Rule) -> ControlFlow<(), Outcome> {
        self.has_shown = true;
        self.sequence.start();
        let result = match rule.effect {
            Effect::Prune => Ok(Outcome::Pruned),
            Effect::None | Effect::EndThread | Effect::EndProcess => {
                self.fire(rule).and_then(|()| match self.compiled.has_sequels() {
                    #[expect(
                        clippy::cast_sign_loss,
                        clippy::cast_possible_truncation,
                        reason = "set by expand"
                    )]
                    true => self.settle(self.registers[0] as usize),
                    false => Ok(Outcome::State),
                })
            }
        };
        match result {
            Ok(outcome) => ControlFlow::Continue(outcome),
            Err(text) => {
                self.error = Some(text);
                ControlFlow::Break(())
            }
        }
    }
}

/// What a visitor makes of a step: whether to go on with an enumeration, and whether the state that the step leads to is
/// later ([`crate::Proviso`]). Made of nothing (go on) or of a `ControlFlow`, so that a visitor
/// that never stops, or does not care for cycles, need not say so.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub(crate) control: ControlFlow<()>,
    pub(crate) is_later: bool,
}

impl Flow {
    /// With what is to be said of the state.
    #[must_use]
    pub const fn new(control: ControlFlow<()>, is_later: bool) -> Self {
        Self { control, is_later }
    }
}

impl From<()> for Flow {
    fn from((): ()) -> Self {
        Self { control: ControlFlow::Continue(()), is_later: true }
    }
}

impl From<ControlFlow<()>> for Flow {
    fn from(control: ControlFlow<()>) -> Self {
        Self { control, is_later: true }
    }
}

/// Whether a frame stands on the place, of the given thread and depth or of any.
pub(crate) fn is_frame_marked(
    state: &State,
    layout: &Layout,
    place: Place,
    thread: Option<i64>,
    depth: Option<i64>,
) -> bool {
    match (thread, depth) {
        (Some(thread), Some(depth)) => state.frame_is_at(layout, thread, depth, place),
        (Some(thread), None) => {
            let thread = usize::try_from(thread).ok().filter(|&thread| thread < state.threads.len());
            thread.is_some_and(|thread| state.find_frame(layout, thread, 0, place).is_some())
        }
        (None, _) => {
            let stands = |thread| state.find_frame(layout, thread, 0, place).is_some();
            state.live.iter().any(stands)
        }
    }
}
