//! Stubborn sets: in which states the steps of some threads are enough.

use pdnet_base::IndexVec;
use pdnet_net::{Effect, Expr, Net, Place, Transition};

use crate::Compiled;
use crate::access::Objects;
use crate::footprint::{Moves, closing, moves, waits};
use crate::observed::{Observed, View};
use crate::plan::Places;

/// What a search says of the states that steps lead to, so that no step is put off forever (condition 4 of
/// [`Stubborn`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proviso {
    /// Some state that a chosen step leads to is *later*, where "later" means that a number is larger which every state keeps
    /// from when it is found. Enough for what finite runs decide.
    SomeLater,
    /// All states that chosen steps lead to are later, in the same sense. Then every cycle has a state of which all steps are
    /// explored.
    AllLater,
}

/// The reduction with *stubborn sets*: the steps that can be taken before all others, from the arcs of a net and the state.
///
/// In a state s, the steps of a set T of threads are enough where
///
/// 1. (independence) no thread outside of T can come between a next step of a member: none will *ever again* make a
///    *rival* use of what that step uses. "Next steps" are all transitions whose moving frame could be one of a member's,
///    enabled or not. Uses and their rivals are those of `Use::rivals`: in short, writing is the rival of reading
///    and of writing, but sending to a channel and receiving from it are no rivals; where a channel is empty, only senders
///    are rivals of a receive; and where a lock is held, only its holder is one, who must then be a member;
/// 2. (not empty) some step of a member is enabled, and a thread for whose end a member waits has ended or is a member;
/// 3. (visibility) the enabled steps of members have no effect but that of their arcs ([`Effect::None`]) or the end of
///    the thread, and change nothing that the search observes;
/// 4. (cycles) the states that they lead to are later, as [`Proviso`] says.
///
/// A step that enters an atomic section is taken together with all that its thread does until it leaves the section or loses it
/// (`Walk`): such a *whole step* has all these steps, and 1 to 4 speak of all of them, enabled or not in the states inside. It must be known to
/// end.
///
/// One thread is tried first, then the smallest set.
///
/// What a thread can still use is the union over what can be reached, in the graph of moves, from the places
/// of its frames, threads that it may create included. Which element of an array it is, is told by the frame, as far
/// as it is a constant or computed from cells of the frame that no step from there on writes (`Places`).
/// So the condition depends on the state: a variable is local to the last thread that uses it, one that was set
/// before the threads started is constant, and a channel has one sender if only one of the processes that are left has
/// its number.
///
/// Sources: Valmari, *Stubborn sets for reduced state space generation* (1989), for the disabled steps, which need only
/// those who could enable them; Peled, *All from one, one for all: on model checking using representatives* (CAV 1993), for
/// visibility and cycles; Godefroid, *Partial-order methods for the verification of concurrent systems* (1996), for sets that
/// are all steps of some threads; Bošnački and Holzmann, *Improving Spin's partial-order reduction for breadth-first search*
/// (SPIN 2005), for the first of the two provisos.
///
/// # Why nothing is lost
///
/// Let σ be a run from s, finite or infinite, and consider its steps up to the first of a member of T.
/// They are of threads outside, and all their uses are among those of which 1 speaks. So (*persistence*), in all states
/// before the first step of a member, the same bindings of next transitions of members are enabled as in s, except that
/// an atomic section or the end of the process may keep them from moving: what they demand is neither made true nor
/// false. And (*commuting*) a step of a member that is enabled commutes with each of those steps, and does not disable it.
/// Both are said use by use in `Use::rivals`.
///
/// So the first step of a member in σ, if there is one, is enabled in s, and it can be moved to the front: the states
/// after it are the same. If no member moves in σ, any enabled step α of a member (there is one,
/// by 2) can be put in front of σ: ασ is a run as well. That it was not in σ is because σ stops before, because
/// threads go on forever without it, because an atomic section is never left, or because the process ends;
/// all of that is as true after α, whose effect is none of these (3). (A thread t may end by α. That adds it to
/// the ended threads, which nothing but joins looks at, and these only for one that they wait for: what they
/// could do before, they still can. Nor can another's end add a step of a member, by 2. Where nothing keeps the ended
/// threads, a new one may get the number of t; but as long as t lives, a thread of that number cannot begin, since no state has room for two.
/// The process ends with its last
/// thread in either order; only a thread that ends inside of an atomic section that nobody can lose leaves a deadlock behind that is
/// none once t has ended, so that for deadlocks the end of t reads the section.) In both cases a run is found that starts
/// with an explored step, fires the same transitions, and passes through the same values of what is observed,
/// repetitions aside (3); the rest of it starts in the next state, where the argument is repeated.
///
/// *Atomic sections.* In s nobody is in a section, or there is no choice. While somebody is in one nobody else moves, so that σ
/// is a sequence of whole steps, of which the last may lack its end, or have none. All that was said of steps is so of whole steps: they are taken in s
/// as they are after others, since in no state inside do others make a difference, by 1 for each step there; they
/// commute with the whole steps of others, since each of their steps does; and a whole step α that ends can be put in front of σ, also where
/// σ then stays in a section forever. (One that does not end could not be: so the walk must have come to all its ends.) A target of σ inside of a section of a member would be a
/// step that is watched or has an effect, or a change of what is observed, and is excluded by 3. That a whole step leaves the cell of the section
/// as it was is why entering one is no use of it.
/// Where a rendezvous hands the section over, two threads move, and the walk stops. Inner states that are walked through need not be kept: they have
/// successors, and look as these do.
/// So it is for formulas that do not look at states inside ([`pdnet_net::Net::atomic`] is then no part of what is observed): both runs
/// have the same states outside of sections, repetitions aside.
///
/// A step of σ must be put off only finitely often. *Finite runs, some later:* take as α a step to a state with a larger
/// number. Then σ, if it has a step of a member, becomes shorter, or it stays as it is and begins in a state with a larger number;
/// there are finitely many states, and in the one with the largest number all steps are explored. Numbers do not change, and
/// each state is expanded once: in which order, and by which of several workers, does not matter. *Infinite runs, all
/// later:* if a step were put off forever, only chosen steps would be taken from some state on, each to a state with a
/// larger number than the one before. There are finitely many states.
///
/// States of which the only step is silent are not shown to the search at all ([`crate::Successors::advance`]). A step is
/// silent where it closes no cycle of frame moves, whatever the search says. So no cycle consists of such
/// steps alone: no thread ends on it where it would end twice. Take a thread that moves on the cycle, and the lowest of its frames
/// that does. That frame is never taken without being put back (such steps are not silent), so that it moves along a cycle of the graph of
/// moves, which has a step that is not silent. Where threads may begin with the number of one that has ended, the graph has
/// an edge from a step to where it puts a new thread, and so a cycle for each line of threads that goes on forever.
///
/// *Partners.* A step may move the frame of another thread too, from a place that then is used by all steps
/// that move a frame there or away from there, and by whoever stands there (it can be moved). So a thread that a partner
/// could move, now or ever, is not chosen without all who could do that, and a step that needs a partner not without
/// the thread that stands there. Who moves is then as in the argument above: moves by others are steps outside of the
/// set, which do not touch where its members stand. The graph of moves has the moves of partners, too.
///
/// *Ranks.* Which steps of a member have the lowest rank of those enabled is the same all the time, by persistence. That α
/// *enables* a step of another thread, as a send does for a receiver, must not keep that thread from a step of a higher rank. So where steps of
/// different ranks begin, every use counts as a read or a write, which is a rival of all that changes it.
///
/// *Late steps.* Those of members are next steps like others. As long as no member has moved in σ, the step α, which is
/// not late, is enabled, so that no late step of another thread is in that part of σ; nor is one in σ where no member
/// moves, except that a thread inside of an atomic section could take one, which is why such nets are left alone
/// unless sections are lost. Steps that are not late do not depend on which others are enabled.
///
/// *Sections that are lost.* Whether a thread in its section loses it depends on whether it has an enabled step. That α enables
/// one must not let the thread stay. So what threads outside of T may still use inside of sections that can be lost counts as read or
/// written, too, unless what the step demands is sure to be so when the thread comes there (`Sure`). Of the steps of members themselves
/// all is said by the rivals of their uses, whether a section is lost by them or not.
///
/// What is preserved, therefore:
/// - *transitions that can fire*, those without successor among them (a failed assertion, undefined behaviour,
///   a bound, a failed assumption), since σ may be any finite run up to them;
/// - *deadlocks*: if σ ends in one, either a member has moved in it, or it waits forever for the end of an atomic
///   section, and ασ ends in a deadlock too. But not *when* a deadlock comes, compared with a change of
///   what is observed: see [`Observed::add_atoms`]. Where no section can last forever, a member has moved in σ, so that even the same
///   dead states are reached: see [`Observed::add_end_states`];
/// - *formulas without `X`*, which cannot tell words apart that differ in repetitions, and the infinite runs
///   that failed assumptions leave; without fairness, because ασ may starve a thread that σ does not.
///
/// Not preserved are shortest runs, and which of several deadlocks is found.
#[derive(Clone, Debug)]
pub struct Stubborn {
    pub(crate) places: Places,
    pub(crate) is_wait: IndexVec<Transition, bool>,
    /// The transition fulfils 3.
    pub(crate) is_first: IndexVec<Transition, bool>,
    /// The transition fulfils 3, and need not be seen.
    pub(crate) is_inner: IndexVec<Transition, bool>,
    /// The state before the transition need not be kept where it is the only step.
    pub(crate) is_silent: IndexVec<Transition, bool>,
    /// Values are observed: then the states outside of atomic sections count, and none may be passed over on the way into one.
    pub(crate) sees_states: bool,
    /// The end of a thread takes nothing from anybody ([`Objects`]).
    ends_are_final: bool,
    observed: Observed,
    pub(crate) proviso: Proviso,
}

impl Stubborn {
    /// Looks at the arcs of a net. Nothing where threads look at the frames of other threads, beside starting
    /// and meeting them: then the frames of a thread say nothing of its future.
    #[must_use]
    pub fn new(net: &Net, compiled: &Compiled, observed: &Observed, proviso: Proviso) -> Option<Self> {
        if !goes_by_arcs(net) {
            return None;
        }
        let all_moves: Option<Vec<Moves>> = net.transitions.iter().map(|data| moves(net, data)).collect();
        let all_moves: IndexVec<Transition, Moves> = IndexVec::from(all_moves?);
        if net.transitions.iter().any(|data| data.source().is_none()) {
            return None;
        }
        let objects = Objects::new(net, &compiled.layout, observed.deadlocks);
        let ends_are_final = objects.ends_are_final;
        let seen = Seen::new(net, &all_moves, observed, ends_are_final);
        let is_wait =
            net.transitions.iter().map(|data| ends_are_final && waits(net, data)).collect::<IndexVec<_, _>>();
        let places = Places::new(net, &objects, &all_moves, (&seen.is_first, &is_wait));
        Some(Self {
            places,
            is_wait,
            is_first: seen.is_first,
            is_inner: seen.is_inner,
            is_silent: seen.is_silent,
            sees_states: observed.sees_states,
            ends_are_final,
            observed: observed.clone(),
            proviso,
        })
    }

    /// The same for a search that observes no values but those that these atoms look at, which it observed before: what
    /// [`Stubborn::new`] would find, with more steps that can go first.
    #[must_use]
    pub fn narrowed<'e>(&self, net: &Net, atoms: impl IntoIterator<Item = &'e Expr>) -> Option<Self> {
        let all_moves: Option<Vec<Moves>> = net.transitions.iter().map(|data| moves(net, data)).collect();
        let all_moves: IndexVec<Transition, Moves> = IndexVec::from(all_moves?);
        let observed = self.observed.narrowed(atoms);
        let Seen { is_first, is_inner, is_silent } =
            Seen::new(net, &all_moves, &observed, self.ends_are_final);
        let mut places = self.places.clone();
        places.start_with(net, &is_first);
        Some(Self { places, is_first, is_inner, is_silent, observed, is_wait: self.is_wait.clone(), ..*self })
    }

    /// Whether both choose in the same way in every state.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.is_first == other.is_first
            && self.is_inner == other.is_inner
            && self.is_silent == other.is_silent
            && self.sees_states == other.sees_states
    }
}

/// What follows for transitions from what is observed.
struct Seen {
    is_first: IndexVec<Transition, bool>,
    is_inner: IndexVec<Transition, bool>,
    is_silent: IndexVec<Transition, bool>,
}

impl Seen {
    fn new(
        net: &Net,
        all_moves: &IndexVec<Transition, Moves>,
        observed: &Observed,
        ends_are_final: bool,
    ) -> Self {
        let view = View::new(net, observed, all_moves);
        // 3, and that the lowest frame stays.
        let is_first: IndexVec<Transition, bool> = net
            .transitions
            .iter_enumerated()
            .map(|(transition, data)| {
                let moves = &all_moves[transition];
                let is_plain = match data.action.effect() {
                    Effect::None => moves.keeps_lowest,
                    Effect::EndThread => ends_are_final || net.done.is_none(),
                    Effect::EndProcess | Effect::Prune => false,
                };
                is_plain && !view.changes(data, moves)
            })
            .collect();
        let closes = silent_cycles(net, all_moves, &is_first);
        let is_watched = |at: Transition| observed.transitions.contains(&at);
        let is_inner = net.transitions.iter_enumerated().map(|(at, data)| {
            let is_plain = data.action.effect() == Effect::None;
            is_plain && is_first[at] && !is_watched(at)
        });
        let is_inner = is_inner.collect();
        let is_silent =
            net.transitions.indices().map(|at| is_first[at] && !closes[at] && !is_watched(at)).collect();
        Self { is_first, is_inner, is_silent }
    }
}

/// Quiet transitions, by index, that close a cycle of frame moves: every cycle of them has one.
fn silent_cycles(
    net: &Net,
    all_moves: &IndexVec<Transition, Moves>,
    is_quiet: &IndexVec<Transition, bool>,
) -> IndexVec<Transition, bool> {
    let quiet = net.transitions.iter_enumerated().filter(|(transition, _)| is_quiet[*transition]);
    let edges = quiet.flat_map(|(transition, data)| {
        let moves = &all_moves[transition];
        let pushed = moves.pushed.iter().filter(|_| net.done.is_none());
        let begun = pushed.filter_map(|&to| data.source().map(|from| (from, to)));
        let edges: Vec<(Place, Place)> = moves.moved.iter().copied().chain(begun).collect();
        edges.into_iter().map(move |(from, to)| (transition, from, to))
    });
    closing(net.places.len(), edges, net.transitions.len())
}

/// Whether the argument above holds for the steps of a net. Not where a step may be a sequence of steps, of which
/// the places in front of it say too little; nor where a thread that cannot lose its atomic section may take a
/// late step although another one could take a usual one.
fn goes_by_arcs(net: &Net) -> bool {
    let has_late = net.transitions.iter().any(|data| data.late);
    net.indivisible.is_none() && !(has_late && net.atomic.is_some() && !net.atomic_yields)
}
