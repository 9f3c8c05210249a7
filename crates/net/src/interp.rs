//! The reference interpreter: the enabling and occurrence rules (Definitions 3 and 4), word by word.
//!
//! It is slow and obvious on purpose. Fast engines are checked against it, and every violation is replayed
//! on it before it is shown. Nothing here is optimised; a change here is a change of what a net means.

use std::collections::{BTreeMap, BTreeSet};

use crate::net::{ArcData, Base, Pattern, Place, PlaceForm, PlaceKind, Scope, Transition, Var};
use crate::{Action, Bound, Effect, Expr, Net, Scalars};

/// A token: one value for each factor of the place's colour set.
pub type Token = Vec<i64>;

/// A marking: what is on each place. Control places carry nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Marking {
    /// The tokens of places with tokens, with their multiplicity.
    tokens: BTreeMap<(Place, Token), u32>,
    /// The cells that differ from their initial value.
    cells: BTreeMap<(Place, Token), i64>,
}

/// A binding element (t, b): a transition with values for its variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Firing {
    /// The transition.
    pub transition: Transition,
    /// The value of each of its variables, in their order.
    pub binding: Vec<i64>,
}

impl Firing {
    /// The thread that moves.
    #[must_use]
    pub fn thread(&self) -> i64 {
        self.binding[0]
    }

    /// The depth of the frame that moves.
    #[must_use]
    pub fn depth(&self) -> i64 {
        self.binding[1]
    }
}

/// What comes of a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Successor {
    /// The next marking.
    Marking(Marking),
    /// The run is not followed: a failed assumption, undefined behaviour, or a bound of the model.
    Pruned,
}

/// How many steps an indivisible sequence may have. Beyond, the run is not followed.
pub const INDIVISIBLE_STEPS: u32 = 1_000_000;

/// A firing with all that it does at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fired {
    /// The steps: the binding element that was fired and, of an indivisible sequence, those after it.
    pub steps: Vec<Firing>,
    /// What comes of them.
    pub successor: Successor,
    /// The bound of the model that cut the sequence off.
    pub bound: Option<Bound>,
}

/// Runs a net.
#[derive(Clone, Copy, Debug)]
pub struct Interpreter<'a> {
    pub(crate) net: &'a Net,
}

impl Marking {
    /// The multiset on a place with tokens.
    pub fn tokens(&self, place: Place) -> impl Iterator<Item = (&Token, u32)> {
        let range = self.tokens.range((place, Token::new())..);
        range.take_while(move |((at, _), _)| *at == place).map(|((_, token), n)| (token, *n))
    }

    /// The marking with the cells of some places as they were at first.
    #[must_use]
    pub fn without_cells(&self, is_left_out: impl Fn(Place) -> bool) -> Self {
        let cells = self.cells.iter().filter(|((place, _), _)| !is_left_out(*place));
        Self {
            tokens: self.tokens.clone(),
            cells: cells.map(|(cell, &value)| (cell.clone(), value)).collect(),
        }
    }

    fn put(&mut self, place: Place, token: Token) {
        *self.tokens.entry((place, token)).or_insert(0) += 1;
    }

    fn take(&mut self, place: Place, token: &Token) {
        let key = (place, token.clone());
        match self.tokens.get_mut(&key) {
            Some(1) => drop(self.tokens.remove(&key)),
            Some(n) => *n -= 1,
            None => {}
        }
    }
}

impl<'a> Interpreter<'a> {
    /// An interpreter of this net.
    #[must_use]
    pub const fn new(net: &'a Net) -> Self {
        Self { net }
    }

    /// M₀.
    #[must_use]
    pub fn initial(&self) -> Marking {
        let mut marking = Marking::default();
        for (place, data) in self.net.places.iter_enumerated() {
            if let (PlaceForm::Tokens { initial }, true) = (&data.form, data.kind != PlaceKind::Control) {
                initial.iter().for_each(|token| marking.put(place, token.clone()));
            }
        }
        marking
    }

    /// Whether the process has ended.
    #[must_use]
    pub fn ended(&self, marking: &Marking) -> bool {
        self.net.ended.is_some_and(|ended| marking.tokens(ended).next().is_some())
    }

    /// Whether the process has not ended and no thread can move. A step that is not followed is a move: where
    /// only such steps are enabled, there is no deadlock.
    #[must_use]
    pub fn is_deadlock(&self, marking: &Marking) -> bool {
        !self.ended(marking) && self.enabled(marking).is_empty()
    }

    /// The threads that have begun and have not ended, in order.
    #[must_use]
    pub fn threads(&self, marking: &Marking) -> BTreeSet<i64> {
        let frames = marking.tokens.keys().filter(|(place, _)| self.net.is_frame_place(*place));
        frames.map(|(_, token)| token[0]).collect()
    }

    /// The places where a thread has frames, each with the depth, the innermost last.
    #[must_use]
    pub fn frames(&self, marking: &Marking, thread: i64) -> Vec<(i64, Place)> {
        let tokens = marking.tokens.keys();
        let own =
            tokens.filter(|(place, token)| token.first() == Some(&thread) && self.net.is_frame_place(*place));
        let mut frames: Vec<(i64, Place)> = own.map(|(place, token)| (token[1], *place)).collect();
        frames.sort_unstable();
        frames
    }

    /// Whether the thread stands where its next step waits for the end of a thread.
    #[must_use]
    pub fn is_joining(&self, marking: &Marking, thread: i64) -> bool {
        let joins = self.net.join_places();
        marking.tokens.keys().any(|(place, token)| joins[*place] && token.first() == Some(&thread))
    }

    /// The value of a cell; 0 where the index is outside of the array.
    #[must_use]
    pub fn cell(&self, marking: &Marking, place: Place, key: &[i64]) -> i64 {
        if let Some(value) = marking.cells.get(&(place, key.to_vec())) {
            return *value;
        }
        let Some(cells) = self.net.places[place].cells() else { return 0 };
        let Some(length) = cells.length else { return cells.default };
        let index = key.last().copied().and_then(|index| u32::try_from(index).ok());
        index.filter(|&index| index < length).map_or(0, |index| cells.initial(index))
    }

    /// Whether a token on the place starts with these components.
    #[must_use]
    pub fn marked(&self, marking: &Marking, place: Place, prefix: &[i64]) -> bool {
        marking.tokens(place).any(|(token, _)| token.starts_with(prefix))
    }

    /// The value of an atom.
    #[must_use]
    pub fn eval(&self, marking: &Marking, atom: &Expr) -> i64 {
        atom.eval(&View { interpreter: self, marking, binding: &[] })
    }

    /// All binding elements that are enabled, ordered by transition and binding.
    ///
    /// Of those whose arcs bind and whose guard is true, these are the ones of the thread in an atomic section,
    /// where one is; of these, those that are not late, where there are any; and of these, for each activation
    /// those of the lowest rank.
    #[must_use]
    pub fn enabled(&self, marking: &Marking) -> Vec<Firing> {
        if self.ended(marking) {
            return Vec::new();
        }
        let mut firings = self.bound(marking);
        firings.retain(|firing| self.may_move(marking, firing.thread()));
        let is_late = |firing: &Firing| self.net.transitions[firing.transition].late;
        let all_late = firings.iter().all(is_late);
        firings.retain(|firing| is_late(firing) == all_late);
        let activation = |firing: &Firing| {
            (firing.thread(), firing.depth(), self.net.transitions[firing.transition].source())
        };
        let rank = |firing: &Firing| self.net.transitions[firing.transition].rank;
        let mut lowest = BTreeMap::new();
        for firing in &firings {
            let entry = lowest.entry(activation(firing)).or_insert(u8::MAX);
            *entry = rank(firing).min(*entry);
        }
        firings.retain(|firing| rank(firing) == lowest[&activation(firing)]);
        firings
    }

    /// The binding elements of one transition that are enabled, in order.
    #[must_use]
    pub fn enabled_by(&self, marking: &Marking, transition: Transition) -> Vec<Firing> {
        if self.net.has_priorities() {
            // It depends on the others.
            let mut firings = self.enabled(marking);
            firings.retain(|firing| firing.transition == transition);
            return firings;
        }
        if self.ended(marking) {
            return Vec::new();
        }
        let mut firings = self.bound_by(marking, transition);
        firings.retain(|firing| self.may_move(marking, firing.thread()));
        firings
    }

    /// The binding elements of one transition by which one thread moves that are enabled, in order.
    ///
    /// They are those of [`Interpreter::enabled_by`]; the tokens of other threads on the place that a step starts from are
    /// not even tried, which matters where there are hundreds.
    #[must_use]
    pub fn enabled_of(&self, marking: &Marking, transition: Transition, thread: i64) -> Vec<Firing> {
        let data = &self.net.transitions[transition];
        let Some(ArcData::Take { place, token }) = data.arcs.first() else { return Vec::new() };
        let (true, [Pattern::Bind(_), Pattern::Bind(_)]) = (!self.net.has_priorities(), token.as_slice())
        else {
            // It depends on others, or has not the usual shape.
            let mut firings = self.enabled_by(marking, transition);
            firings.retain(|firing| firing.thread() == thread);
            return firings;
        };
        if self.ended(marking) || !self.may_move(marking, thread) {
            return Vec::new();
        }
        let mut firings = Vec::new();
        for (frame, _) in marking.tokens(*place).filter(|(frame, _)| frame.first() == Some(&thread)) {
            let mut binding = vec![0; data.vars.len()];
            for (pattern, &part) in token.iter().zip(frame) {
                if let Pattern::Bind(var) = pattern {
                    binding[pdnet_base::Idx::index(*var)] = part;
                }
            }
            self.bind(marking, transition, 1, &mut binding, &mut firings);
        }
        firings.sort();
        firings.dedup();
        firings
    }

    /// Whether the thread is the one in an atomic section, where one is.
    fn may_move(&self, marking: &Marking, thread: i64) -> bool {
        let owner = self.net.atomic.map_or(0, |atomic| self.cell(marking, atomic, &[]));
        owner == 0 || thread == owner - 1
    }

    /// The threads that move by a binding element: the one of the moving frame, and its partners, whose frames
    /// are taken too. Those that move only later in an indivisible sequence are not among them.
    #[must_use]
    pub fn movers(&self, firing: &Firing) -> BTreeSet<i64> {
        let nothing = Marking::default();
        let view = View { interpreter: self, marking: &nothing, binding: &firing.binding };
        let arcs = self.net.transitions[firing.transition].arcs.iter();
        let partners = arcs.filter_map(|arc| match arc {
            ArcData::Take { place, token } if self.net.is_frame_place(*place) => match token.first()? {
                Pattern::Bind(var) => Some(view.var(*var)),
                Pattern::Is(thread) => Some(thread.eval(&view)),
            },
            _ => None,
        });
        partners.chain([firing.thread()]).collect()
    }

    /// The binding elements of one transition whose arcs bind and whose guard is true, in order, whoever is in an
    /// atomic section. Of a process that has not ended.
    #[must_use]
    pub fn bound_by(&self, marking: &Marking, transition: Transition) -> Vec<Firing> {
        let mut firings = Vec::new();
        let mut binding = vec![0; self.net.transitions[transition].vars.len()];
        self.bind(marking, transition, 0, &mut binding, &mut firings);
        firings.sort();
        firings.dedup();
        firings
    }

    /// All binding elements whose arcs bind and whose guard is true, ordered by transition and binding, whoever
    /// is in an atomic section. Of a process that has not ended.
    pub(crate) fn bound(&self, marking: &Marking) -> Vec<Firing> {
        let mut firings = Vec::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            let mut binding = vec![0; data.vars.len()];
            self.bind(marking, transition, 0, &mut binding, &mut firings);
        }
        firings.sort();
        firings.dedup();
        firings
    }

    /// Extends the binding over the arcs from `arc_idx` on, in all ways; then over the choices; then
    /// looks at the guard.
    fn bind(
        &self,
        marking: &Marking,
        transition: Transition,
        arc_idx: usize,
        binding: &mut Vec<i64>,
        firings: &mut Vec<Firing>,
    ) {
        let data = &self.net.transitions[transition];
        if arc_idx == 1 {
            // The frame's token is bound: now the free variables, which later arcs may use.
            let choices: Vec<Var> = data
                .vars
                .iter_enumerated()
                .filter(|(_, var)| var.choice.is_some())
                .map(|(var, _)| var)
                .collect();
            return self.choose(marking, transition, &choices, binding, firings);
        }
        self.bind_arc(marking, transition, arc_idx, binding, firings);
    }

    fn choose(
        &self,
        marking: &Marking,
        transition: Transition,
        choices: &[Var],
        binding: &mut Vec<i64>,
        firings: &mut Vec<Firing>,
    ) {
        let Some((&first, rest)) = choices.split_first() else {
            return self.bind_arc(marking, transition, 1, binding, firings);
        };
        let data = &self.net.transitions[transition];
        let domain = data.vars[first].choice.as_ref().expect("filtered");
        for value in domain.values() {
            binding[pdnet_base::Idx::index(first)] = value;
            self.choose(marking, transition, rest, binding, firings);
        }
    }

    fn bind_arc(
        &self,
        marking: &Marking,
        transition: Transition,
        arc_idx: usize,
        binding: &mut Vec<i64>,
        firings: &mut Vec<Firing>,
    ) {
        let data = &self.net.transitions[transition];
        let view = |binding: &[i64], expr: &Expr| expr.eval(&View { interpreter: self, marking, binding });
        let Some(arc) = data.arcs.get(arc_idx) else {
            if data.guard.as_ref().is_none_or(|guard| view(binding, guard) != 0) {
                firings.push(Firing { transition, binding: binding.clone() });
            }
            return;
        };
        match arc {
            ArcData::Take { place, token } | ArcData::Test { place, token } => {
                for (candidate, _) in marking.tokens(*place) {
                    let mut extended = binding.clone();
                    let fits = token.iter().zip(candidate).all(|(pattern, &value)| match pattern {
                        Pattern::Bind(var) => {
                            extended[pdnet_base::Idx::index(*var)] = value;
                            true
                        }
                        Pattern::Is(expr) => view(&extended, expr) == value,
                    });
                    if fits {
                        self.bind(marking, transition, arc_idx + 1, &mut extended, firings);
                    }
                }
            }
            ArcData::Inhibit { place, prefix } => {
                let prefix: Token = prefix.iter().map(|part| view(binding, part)).collect();
                if !self.marked(marking, *place, &prefix) {
                    self.bind(marking, transition, arc_idx + 1, binding, firings);
                }
            }
            ArcData::Read { place, key, var, when } => {
                let counts = when.as_ref().is_none_or(|when| view(binding, when) != 0);
                let key: Token = key.iter().map(|part| view(binding, part)).collect();
                let value = if counts { self.cell(marking, *place, &key) } else { 0 };
                binding[pdnet_base::Idx::index(*var)] = value;
                self.bind(marking, transition, arc_idx + 1, binding, firings);
            }
            ArcData::Put { .. }
            | ArcData::Drain { .. }
            | ArcData::Write { .. }
            | ArcData::Governed { .. }
            | ArcData::Governs { .. } => self.bind(marking, transition, arc_idx + 1, binding, firings),
        }
    }

    /// Fires an enabled binding element, with all that it does at once.
    #[must_use]
    pub fn fire(&self, marking: &Marking, firing: &Firing) -> Successor {
        self.fire_all(marking, firing).successor
    }

    /// Fires an enabled binding element and says which steps that were.
    ///
    /// As long as the cell `indivisible` is not 0 then, the same thread goes on by its first enabled binding. The
    /// sequence ends where it has none, or where a step has no successor. One that comes back to a marking,
    /// and so never ends, is cut off like one that is too long. At last, who cannot go on inside of an atomic
    /// section loses it, where the net says so.
    #[must_use]
    pub fn fire_all(&self, marking: &Marking, firing: &Firing) -> Fired {
        let mut steps = vec![firing.clone()];
        let mut successor = self.step(marking, firing);
        // A marking of the sequence with which later ones are compared: that after 1, 2, 4, 8 ... steps.
        let mut kept = None;
        while let (Successor::Marking(now), Some(indivisible)) = (&successor, self.net.indivisible) {
            if self.cell(now, indivisible, &[]) == 0 {
                break;
            }
            let enabled = self.enabled(now);
            let next = enabled.into_iter().find(|next| next.thread() == firing.thread());
            let Some(next) = next else { break };
            if kept.as_ref() == Some(now) || steps.len() >= INDIVISIBLE_STEPS as usize {
                return Fired { steps, successor: Successor::Pruned, bound: Some(Bound::Indivisible) };
            }
            if steps.len().is_power_of_two() {
                kept = Some(now.clone());
            }
            successor = self.step(now, &next);
            steps.push(next);
        }
        if let Successor::Marking(now) = &mut successor {
            self.yield_section(now);
        }
        Fired { steps, successor, bound: None }
    }

    /// Takes the atomic section from a thread that cannot go on, where the net says so.
    fn yield_section(&self, marking: &mut Marking) {
        let Some(atomic) = self.net.atomic.filter(|_| self.net.atomic_yields) else { return };
        let owner = self.cell(marking, atomic, &[]);
        let is_step_of_owner =
            |firing: &Firing| firing.thread() == owner - 1 && !self.net.transitions[firing.transition].late;
        if owner != 0 && (self.ended(marking) || !self.bound(marking).iter().any(is_step_of_owner)) {
            self.set_cell(marking, atomic, Token::new(), 0);
        }
    }

    /// The marking after one step alone, without what comes at once after it: an inner step of a firing
    /// ([`Interpreter::fire_all`]).
    #[must_use]
    pub fn step(&self, marking: &Marking, firing: &Firing) -> Successor {
        let data = &self.net.transitions[firing.transition];
        let view = View { interpreter: self, marking, binding: &firing.binding };
        let mut next = marking.clone();
        let mut left_frames: Vec<Token> = Vec::new();
        // Consume first, then produce: a token that is taken and put back stays.
        for arc in &data.arcs {
            match arc {
                ArcData::Take { place, token } => {
                    let token: Token = token
                        .iter()
                        .map(|pattern| match pattern {
                            Pattern::Bind(var) => firing.binding[pdnet_base::Idx::index(*var)],
                            Pattern::Is(expr) => expr.eval(&view),
                        })
                        .collect();
                    next.take(*place, &token);
                    if self.net.is_frame_place(*place) {
                        left_frames.push(token);
                    }
                }
                ArcData::Drain { place, prefix, to } => {
                    let prefix: Token = prefix.iter().map(|part| part.eval(&view)).collect();
                    let drained: Vec<(Token, u32)> = marking
                        .tokens(*place)
                        .filter(|(token, _)| token.starts_with(&prefix))
                        .map(|(token, n)| (token.clone(), n))
                        .collect();
                    for (token, n) in drained {
                        for _ in 0..n {
                            next.take(*place, &token);
                            next.put(*to, token.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        for arc in &data.arcs {
            match arc {
                ArcData::Put { place, token } => {
                    let token: Token = token.iter().map(|part| part.eval(&view)).collect();
                    if self.net.is_frame_place(*place) {
                        left_frames.retain(|left| *left != token);
                    }
                    next.put(*place, token);
                }
                ArcData::Write { place, key, value, when }
                    if when.as_ref().is_none_or(|when| when.eval(&view) != 0) =>
                {
                    let key: Token = key.iter().map(|part| part.eval(&view)).collect();
                    self.set_cell(&mut next, *place, key, value.eval(&view));
                }
                _ => {}
            }
        }
        for frame in left_frames {
            next.cells.retain(|(place, key), _| !(self.is_frame_scoped(*place) && key.starts_with(&frame)));
        }
        self.apply_effect(data.action, firing.thread(), next)
    }

    fn apply_effect(&self, action: Action, thread: i64, mut next: Marking) -> Successor {
        match action.effect() {
            Effect::None => {}
            Effect::Prune => return Successor::Pruned,
            Effect::EndThread => {
                let of_thread = |key: &[i64]| key.first() == Some(&thread);
                next.tokens.retain(|(place, key), _| !(self.net.is_frame_place(*place) && of_thread(key)));
                next.cells.retain(|(place, key), _| !(self.is_frame_scoped(*place) && of_thread(key)));
                if let Some(done) = self.net.done {
                    next.put(done, vec![thread]);
                }
                if !next.tokens.keys().any(|(place, _)| self.net.is_frame_place(*place)) {
                    self.end_process(&mut next);
                }
            }
            Effect::EndProcess => self.end_process(&mut next),
        }
        Successor::Marking(next)
    }

    fn end_process(&self, next: &mut Marking) {
        next.tokens.retain(|(place, _), _| !self.net.is_frame_place(*place));
        next.cells.retain(|(place, _), _| !self.is_frame_scoped(*place));
        if let Some(ended) = self.net.ended {
            next.put(ended, Token::new());
        }
    }

    fn is_frame_scoped(&self, place: Place) -> bool {
        let cells = self.net.places[place].cells();
        cells.is_some_and(|cells| matches!(cells.scope, Scope::Frame(_)))
    }

    /// Whether there is a cell with this key.
    pub(crate) fn is_inside(&self, place: Place, key: &[i64]) -> bool {
        let bases = self.net.components(place);
        bases.iter().zip(key).all(|(base, &part)| match base {
            Base::Index(length) => (0..i64::from(*length)).contains(&part),
            Base::Thread => (0..i64::from(self.net.max_threads)).contains(&part),
            Base::Depth => (0..i64::from(self.net.max_depth)).contains(&part),
            Base::Int(_) => true,
        })
    }

    /// Writes a cell, in the type of the place. A key outside of the array changes nothing.
    fn set_cell(&self, next: &mut Marking, place: Place, key: Token, value: i64) {
        let Some(cells) = self.net.places[place].cells() else { return };
        if !self.is_inside(place, &key) {
            return;
        }
        let index = if cells.length.is_some() { key.last().copied().unwrap_or(0) } else { 0 };
        let initial = u32::try_from(index).map_or(0, |index| cells.initial(index));
        let value = cells.value.wrap(value);
        if value == initial {
            next.cells.remove(&(place, key));
        } else {
            next.cells.insert((place, key), value);
        }
    }
}

/// A marking with a binding, for evaluation.
pub(crate) struct View<'a> {
    pub(crate) interpreter: &'a Interpreter<'a>,
    pub(crate) marking: &'a Marking,
    pub(crate) binding: &'a [i64],
}

impl Scalars for View<'_> {
    fn var(&self, var: Var) -> i64 {
        self.binding.get(pdnet_base::Idx::index(var)).copied().unwrap_or(0)
    }
    fn cell(&self, place: Place, key: &[i64]) -> i64 {
        self.interpreter.cell(self.marking, place, key)
    }
    fn marked(&self, place: Place, prefix: &[i64]) -> bool {
        self.interpreter.marked(self.marking, place, prefix)
    }
    fn deadlock(&self) -> bool {
        self.interpreter.is_deadlock(self.marking)
    }
}
