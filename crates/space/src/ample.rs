//! Local steps first: in which states the steps of some threads are enough.

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Effect, Expr, Net, Place, PlaceForm, Scope, Transition, TransitionData};

use crate::footprint::{Moves, Shared, Touch, closing, moves, waits};
use crate::layout::{Layout, word_place};
use crate::{State, ThreadSet};

/// What a search looks at beside whether steps are enabled.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    places: Vec<Place>,
    transitions: Vec<Transition>,
    deadlocks: bool,
}

impl Observed {
    /// Adds what the atoms of one property look at. False where they look at whether nothing can move *and* at
    /// something else: no reduction then. A step that changes nothing else can still be the last one that is
    /// possible, and so decide which of the two changes first.
    #[must_use]
    pub fn add_atoms<'e>(&mut self, atoms: impl IntoIterator<Item = &'e Expr>) -> bool {
        let n_before = self.places.len();
        let mut looks_for_deadlock = false;
        for atom in atoms {
            atom.walk(&mut |expr| match expr {
                Expr::Cell(place, _) | Expr::Marked(place, _) => self.places.push(*place),
                Expr::Deadlock => looks_for_deadlock = true,
                Expr::Const(_) | Expr::Var(_) => {}
                Expr::Unary(..) | Expr::Binary(..) | Expr::Convert(..) | Expr::If(..) => {}
            });
        }
        self.deadlocks |= looks_for_deadlock;
        !looks_for_deadlock || self.places.len() == n_before
    }

    /// Adds whether nothing can move.
    pub const fn add_deadlock(&mut self) {
        self.deadlocks = true;
    }

    /// Adds a transition whose firing must be seen: no state before it is left out.
    pub fn add_transition(&mut self, transition: Transition) {
        self.transitions.push(transition);
    }
}

/// The reduction *local steps first*: the steps that can be taken before all others, from the arcs of a net.
///
/// In a state s, the steps of one thread t are enough where
///
/// 1. (independence) no other thread can *ever again* touch what the next steps of t touch, where "next steps"
///    are all transitions whose moving frame could be one of t's, enabled or not, and "touch" is to write what
///    the other reads or writes;
/// 2. (not empty) some step of t is enabled; if t waits for the end of a thread, that thread has ended;
/// 3. (visibility) the enabled steps of t have no effect but that of their arcs ([`Effect::None`]) or the end of
///    t, change nothing that the search observes, and do not enter or leave an atomic section;
/// 4. (cycles) none of them closes a cycle of frame moves.
///
/// The same holds for a set of threads instead of one, where "other" means outside of the set, 2 asks for one
/// enabled step and that a thread for whose end a member waits is a member, and the rest holds for each member.
/// One thread is tried first, then the smallest set.
///
/// What a thread can still touch is the union of what can be reached, in the graph of moves, from the places
/// of its frames, threads that it may create included (`Touch` by place, made once for the net). So the
/// condition depends on the state: a variable is local to the last thread that uses it, and one that was set
/// before the threads started is constant.
///
/// This is the reduction with *ample sets* (Peled, *All from one, one for all: on model checking using
/// representatives*, CAV 1993; Godefroid, *Partial-order methods for the verification of concurrent systems*,
/// 1996) for sets that are all the steps of some threads.
///
/// # Why nothing is lost
///
/// Let σ be a run from s, finite or infinite, and t the chosen thread (for a set, read "a thread of the set"). By 1
/// no step of another thread in σ enables or disables a step of t, or changes what it does, except that an
/// atomic section or the end of the process may keep it from moving. So the first step of t in σ, if there is
/// one, is enabled in s, and it can be moved to the front: the steps before it do not see it, it does not see
/// them, and the states after it are the same. If t does not move in σ, any enabled step α of t (there is one,
/// by 2) can be put in front of σ: ασ is a run as well. That it was not in σ is because σ stops before, because
/// a thread goes on forever without t, because an atomic section is never left, or because the process ends;
/// all of that is as true after α, whose effect is none of these (3). (Thread t may end by α. That only adds it to
/// the ended threads, which nothing but joins looks at, and these only for one that they wait for: what they
/// could do before, they still can. Nor can another's end add a step of t, by 2. The process ends with its last
/// thread in either order; only a thread that ends inside of an atomic section leaves a deadlock behind that is
/// none once t has ended, so that for deadlocks the end of t touches the section.) In both cases a run is found that starts
/// with an explored step, fires the same transitions, and passes through the same values of what is observed,
/// repetitions aside (3); the rest of it starts in the next state, where the argument is repeated. A step of σ is
/// put off only finitely often: otherwise there were a cycle of states in which only such first steps are taken.
/// No thread ends on it, since it would end twice. Take a thread that moves on it, and the lowest of its frames
/// that does. That frame is never taken without being put back (such steps are not taken first either), so that it moves along a cycle of the graph of
/// moves, which by 4 has a step that is not taken first.
///
/// *Partners.* A step may move the frame of another thread too, from a place that then is touched by all steps
/// that move a frame there or away from there, and by whoever stands there (it can be moved). So a thread that a partner
/// could move, now or ever, is not chosen without all who could do that, and a step that needs a partner not without
/// the thread that stands there. Who moves is then as in the argument above: moves by others are steps outside of the
/// set, which do not touch where its members stand. The graph of moves has the moves of partners, too.
///
/// *Ranks.* All transitions out of the place of a frame of t are next steps, whatever their rank, so that by 1 nobody
/// else changes which of them is the lowest.
///
/// *Late steps.* Those of t itself are next steps like others. As long as t has not moved in σ, its step α, which is
/// not late, is enabled, so that no late step of another thread is in that part of σ; nor is one in σ where t does not
/// move, except that a thread inside of an atomic section could take one, which is why such nets are left alone
/// unless sections are lost. Steps that are not late do not depend on which others are enabled.
///
/// *Sections that are lost.* Whether a thread o in its section loses it depends on which of o's steps are
/// enabled, and thus, by 1, not on whether t has moved.
///
/// What is preserved, therefore:
/// - *transitions that can fire*, those without successor among them (a failed assertion, undefined behaviour,
///   a bound, a failed assumption), since σ may be any finite run up to them;
/// - *deadlocks*: if σ ends in one, either t has moved in it, or t waits forever for the end of an atomic
///   section, and ασ ends in a deadlock too. But not *when* a deadlock comes, compared with a change of
///   what is observed: see [`Observed::add_atoms`];
/// - *formulas without `X`*, which cannot tell words apart that differ in repetitions, and the infinite runs
///   that failed assumptions leave; without fairness, because ασ may starve a thread that σ does not.
///
/// Not preserved are shortest runs, and which of several deadlocks is found.
#[derive(Clone, Debug)]
pub struct Ample {
    /// What a frame that stands on the place can do.
    plans: IndexVec<Place, Plan>,
    pub(crate) is_wait: IndexVec<Transition, bool>,
    /// The transition fulfils 3 and 4.
    pub(crate) is_first: IndexVec<Transition, bool>,
    /// The state before the transition need not be kept where it is the only step.
    pub(crate) is_silent: IndexVec<Transition, bool>,
}

impl Ample {
    /// Looks at the arcs of a net. Nothing where threads look at the frames of other threads, beside starting
    /// and meeting them: then the frames of a thread say nothing of its future.
    #[must_use]
    pub fn new(net: &Net, observed: &Observed) -> Option<Self> {
        if !goes_by_arcs(net) {
            return None;
        }
        let all_moves: Option<Vec<Moves>> = net.transitions.iter().map(|data| moves(net, data)).collect();
        let all_moves: IndexVec<Transition, Moves> = IndexVec::from(all_moves?);
        let shared = Shared::new(net, observed.deadlocks);
        let view = View::new(net, observed, &all_moves);
        let n_places = net.places.len();
        let touches: IndexVec<Transition, Touch> = net
            .transitions
            .iter_enumerated()
            .map(|(transition, data)| shared.touch(data, &all_moves[transition]))
            .collect();
        // 3, and that the lowest frame stays.
        let is_quiet: IndexVec<Transition, bool> = net
            .transitions
            .iter_enumerated()
            .map(|(transition, data)| {
                let moves = &all_moves[transition];
                let is_plain = match data.action.effect() {
                    Effect::None => moves.keeps_lowest,
                    Effect::EndThread => shared.ends_are_final,
                    Effect::EndProcess | Effect::Prune => false,
                };
                is_plain && !view.changes(data, moves)
            })
            .collect();
        let quiet_moves = net.transitions.indices().filter(|&transition| is_quiet[transition]);
        let edges = quiet_moves.flat_map(|transition| {
            all_moves[transition].moved.iter().map(move |&(from, to)| (transition, from, to))
        });
        let closes = closing(n_places, edges, net.transitions.len());
        let mut ample = Self {
            plans: IndexVec::filled(Plan::default(), n_places),
            is_wait: IndexVec::filled(false, net.transitions.len()),
            is_first: IndexVec::filled(false, net.transitions.len()),
            is_silent: IndexVec::filled(false, net.transitions.len()),
        };
        for (transition, data) in net.transitions.iter_enumerated() {
            let passes = is_quiet[transition] && !closes[transition];
            ample.is_silent[transition] = passes && !observed.transitions.contains(&transition);
            ample.is_first[transition] = passes && !changes_section(net, data);
            ample.is_wait[transition] = shared.ends_are_final && waits(net, data);
            let plan = &mut ample.plans[data.source()?];
            plan.next = plan.next.join(touches[transition]);
            plan.is_start |= ample.is_first[transition];
            plan.n_waits += u32::from(ample.is_wait[transition]);
        }
        for place in net.places.indices() {
            let plan = &mut ample.plans[place];
            plan.next = plan.next.join(shared.exposure(place));
            plan.future = plan.next;
        }
        ample.find_futures(net, &all_moves);
        Some(ample)
    }

    /// The least solution: a place has what its next steps touch, what is to come where they move the frame,
    /// and what is to come for the frames that they put.
    fn find_futures(&mut self, net: &Net, all_moves: &IndexVec<Transition, Moves>) {
        loop {
            let mut is_changed = false;
            for (transition, moves) in all_moves.iter_enumerated().rev() {
                let mut flow = |from: Place, to: Place| {
                    let joined = self.plans[from].future.join(self.plans[to].future);
                    is_changed |= joined != self.plans[from].future;
                    self.plans[from].future = joined;
                };
                moves.moved.iter().for_each(|&(from, to)| flow(from, to));
                if let Some(source) = net.transitions[transition].source() {
                    moves.pushed.iter().for_each(|&to| flow(source, to));
                }
            }
            if !is_changed {
                break;
            }
        }
    }

    /// The threads that fulfil 1, as a set. Looks again at those threads that may differ from the state for
    /// which the plans were made.
    pub(crate) fn independent(&self, layout: &Layout, state: &State, plans: &mut Plans) -> ThreadSet {
        plans.of_thread.resize(state.threads.len(), Plan::default());
        // Beyond those that ever lived there is nothing to look at.
        let n_threads = state.n_threads;
        let dirty = std::mem::take(&mut plans.dirty);
        for thread in dirty.iter().take_while(|&thread| thread < n_threads) {
            plans.of_thread[thread] = self.plan(layout, &state.threads[thread]);
        }
        let (mut once, mut twice) = (Touch::default(), Touch::default());
        for thread in state.live.iter() {
            let future = plans.of_thread[thread].future;
            twice.reads |= once.reads & future.reads;
            twice.writes |= once.writes & future.writes;
            once = once.join(future);
        }
        let mut found = ThreadSet::NONE;
        for thread in state.live.iter() {
            let plan = &plans.of_thread[thread];
            // What the others touch: all that is not this thread's alone.
            let others = Touch {
                reads: once.reads & !plan.future.reads | twice.reads,
                writes: once.writes & !plan.future.writes | twice.writes,
            };
            if plan.is_start && !plan.next.conflicts(others) {
                found.insert(thread);
            }
        }
        found
    }

    /// Sets of threads that fulfil 1 together, the smallest first; not the set of all.
    ///
    /// Each grows out of one thread: as long as some thread outside may ever touch what a member touches next,
    /// or a member waits for its end, it joins.
    pub(crate) fn find_groups(state: &State, plans: &mut Plans) {
        let Plans { of_thread, awaited, rivals, groups, .. } = plans;
        rivals.resize(of_thread.len(), ThreadSet::NONE);
        groups.clear();
        for thread in state.live.iter() {
            let next = of_thread[thread].next;
            let is_rival = |&other: &usize| other != thread && next.conflicts(of_thread[other].future);
            let itself = ThreadSet::single(thread) | awaited[thread] & state.live;
            let found = state.live.iter().filter(is_rival);
            rivals[thread] = found.fold(itself, |set, at| set | ThreadSet::single(at));
        }
        for thread in state.live.iter().filter(|&thread| of_thread[thread].is_start) {
            let (mut group, mut seen) = (ThreadSet::single(thread), ThreadSet::NONE);
            while group != seen {
                let fresh = group & !seen;
                seen = group;
                group = fresh.iter().fold(group, |set, member| set | rivals[member]);
            }
            if group != state.live && !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups.sort_by_key(|group| group.len());
    }

    /// What a thread can do, given its words.
    fn plan(&self, layout: &Layout, words: &[i64]) -> Plan {
        let mut plan = Plan::default();
        let mut base = layout.thread_template.len();
        for _ in 0..words[0] {
            let place = word_place(words[base]);
            let of_frame = &self.plans[place];
            plan.next = plan.next.join(of_frame.next);
            plan.future = plan.future.join(of_frame.future);
            plan.is_start |= of_frame.is_start;
            plan.n_waits += of_frame.n_waits;
            base += layout.frame_words[place] as usize;
        }
        plan
    }
}

/// What a frame or a thread can do.
#[derive(Clone, Copy, Debug, Default)]
struct Plan {
    /// What the next steps touch, enabled or not.
    next: Touch,
    /// What it may touch from now on.
    future: Touch,
    /// Some transition of these may go first.
    is_start: bool,
    /// How many of the next transitions wait for the end of a thread.
    n_waits: u32,
}

/// The plans of all threads of a state.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    of_thread: Vec<Plan>,
    /// The threads whose plans are out of date.
    pub(crate) dirty: ThreadSet,
    /// For each thread those whose end it waits for.
    pub(crate) awaited: Vec<ThreadSet>,
    /// For each thread those that may ever touch what it touches next, or enable it, and itself.
    rivals: Vec<ThreadSet>,
    pub(crate) groups: Vec<ThreadSet>,
    /// What was found of the threads that were looked at.
    pub(crate) tallies: Vec<Tally>,
}

impl Plans {
    /// Whether some next transition of the thread waits for the end of a thread.
    pub(crate) fn waits(&self, thread: usize) -> bool {
        self.of_thread[thread].n_waits > 0
    }

    pub(crate) const fn new() -> Self {
        Self {
            of_thread: Vec::new(),
            dirty: ThreadSet::ALL,
            awaited: Vec::new(),
            rivals: Vec::new(),
            groups: Vec::new(),
            tallies: Vec::new(),
        }
    }
}

/// The steps of one thread, as they are found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    n_steps: u32,
    are_first: bool,
    /// Transitions that wait for the end of a thread and were not found enabled yet.
    n_waits: u32,
}

impl Tally {
    /// Of no thread.
    pub(crate) const NONE: Self = Self { n_steps: 0, are_first: true, n_waits: 0 };

    pub(crate) fn new(plans: &Plans, thread: usize) -> Self {
        let n_waits = plans.of_thread.get(thread).map_or(0, |plan| plan.n_waits);
        Self { n_steps: 0, are_first: true, n_waits }
    }

    pub(crate) fn add(&mut self, ample: &Ample, transition: Transition) {
        self.n_steps = self.n_steps.saturating_add(1);
        self.are_first &= ample.is_first[transition];
        self.n_waits = self.n_waits.saturating_sub(u32::from(ample.is_wait[transition]));
    }

    /// Whether there are steps, all of them may go first, and no other thread can add one.
    pub(crate) const fn is_enough(&self) -> bool {
        self.is_enough_together() && self.n_waits == 0
    }

    /// The same for a set that has all threads for whose end its members wait.
    pub(crate) const fn is_enough_together(&self) -> bool {
        self.n_steps > 0 && self.are_first
    }

    /// Of two threads together.
    pub(crate) const fn join(self, other: Self) -> Self {
        Self {
            n_steps: self.n_steps.saturating_add(other.n_steps),
            are_first: self.are_first && other.are_first,
            n_waits: self.n_waits + other.n_waits,
        }
    }

    pub(crate) const fn is_single(&self) -> bool {
        self.n_steps == 1
    }
}

/// Whether the argument above holds for the steps of a net. Not where a step may be a sequence of steps, of which
/// the places in front of it say too little; nor where a thread that cannot lose its atomic section may take a
/// late step although another one could take a usual one.
fn goes_by_arcs(net: &Net) -> bool {
    let has_late = net.transitions.iter().any(|data| data.late);
    net.indivisible.is_none() && !(has_late && net.atomic.is_some() && !net.atomic_yields)
}

/// Whether the transition enters or leaves an atomic section, which decides who may move.
fn changes_section(net: &Net, data: &TransitionData) -> bool {
    data.arcs.iter().any(|arc| matches!(arc, ArcData::Write { place, .. } if Some(*place) == net.atomic))
}

/// What is observed, by place.
struct View<'a> {
    net: &'a Net,
    is_observed: IndexVec<Place, bool>,
    /// Some place is observed that frames go away from when a thread ends with more frames than one.
    sees_stacks: bool,
}

impl<'a> View<'a> {
    fn new(net: &'a Net, observed: &Observed, all_moves: &IndexVec<Transition, Moves>) -> Self {
        let mut is_observed = IndexVec::filled(false, net.places.len());
        observed.places.iter().for_each(|&place| is_observed[place] = true);
        // Where frames wait below others: return sites, and where a frame that waits could move by itself.
        let mut is_below: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        let mut pending: Vec<Place> =
            all_moves.iter().flat_map(|moves| moves.below.iter().copied()).collect();
        let initial = net.places.iter_enumerated().flat_map(|(place, data)| match &data.form {
            PlaceForm::Tokens { initial } if net.is_frame_place(place) => vec![place; initial.len()],
            PlaceForm::Tokens { .. } | PlaceForm::Cells(_) => Vec::new(),
        });
        let initial: Vec<Place> = initial.collect();
        if initial.len() > 1 {
            // Some of them may be below others.
            pending.extend(initial);
        }
        while let Some(place) = pending.pop() {
            if std::mem::replace(&mut is_below[place], true) {
                continue;
            }
            let waiting = all_moves.iter().filter(|moves| moves.keeps_above);
            let moved = waiting.flat_map(|moves| moves.moved.iter());
            pending.extend(moved.filter(|(from, _)| *from == place).map(|&(_, to)| to));
        }
        let sees_stacks = net.places.indices().any(|place| is_observed[place] && is_below[place]);
        Self { net, is_observed, sees_stacks }
    }

    /// Whether firing the transition may change what is observed. Cells of a frame go back to their initial
    /// value when the frame goes.
    fn changes(&self, data: &TransitionData, moves: &Moves) -> bool {
        let by_arc = |arc: &ArcData| match arc {
            ArcData::Take { place, .. } | ArcData::Put { place, .. } | ArcData::Write { place, .. } => {
                self.is_observed[*place]
            }
            ArcData::Drain { place, to, .. } => self.is_observed[*place] || self.is_observed[*to],
            ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. } => false,
            ArcData::Governed { .. } | ArcData::Governs { .. } => false,
        };
        let resets = |frame: &Place| {
            let function = self.net.places[*frame].function;
            self.net.places.iter_enumerated().any(|(place, data)| {
                let scope = data.cells().map(|cells| cells.scope);
                self.is_observed[place]
                    && matches!((scope, function), (Some(Scope::Frame(owner)), Some(function)) if owner == function)
            })
        };
        // The end of a thread takes its frames from wherever they are.
        let ends = data.action.effect() == Effect::EndThread
            && (self.sees_stacks
                || self.net.places.iter_enumerated().any(|(place, data)| {
                    let scope = data.cells().map(|cells| cells.scope);
                    let is_cell = matches!(scope, Some(Scope::Frame(_)));
                    let is_end = Some(place) == self.net.done || Some(place) == self.net.ended;
                    self.is_observed[place] && (is_cell || is_end)
                }));
        ends || data.arcs.iter().any(by_arc) || moves.popped.iter().any(resets)
    }
}
