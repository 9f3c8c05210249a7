//! Pre-agglomeration: a local step is put off until the step after it is taken.
//!
//! Definition 6 and Theorem 1 of Pajault, Pradat-Peyre and Rousseau, *Adapting Petri nets reductions to Promela
//! specifications* (FORTE 2008). H are local steps of a frame to a place p, F all steps from p, which may wait, be seen, and
//! touch what others touch. In the words of the paper:
//!
//! - *p-agglomerability* (Definition 5): as for post-agglomeration, [`Ground::is_through`].
//! - *H-independence*: a step of H touches only what no other thread can touch while its frame stands before it or behind
//!   it, so that it can be put off.
//! - *divergence-freeness*: steps that are put off form no cycle.
//! - *(strong) quasi-persistence and H-similarity*: of the steps from where one of H begins at most one is enabled, and
//!   others cannot change which. So putting it off leaves no choice open that was made before, and a frame that cannot go
//!   on behind it cannot do anything else instead. Taking a lock is therefore no step of H: who holds a lock and waits
//!   for another one is in the way of others.
//!
//! What is to be said of steps that are more than their arcs stands in [`super::special`].
//!
//! # Why nothing is lost
//!
//! Let σ be a run and h a step of H in it, by thread t. The next step of t, if there is one, is a step f of F. What other
//! threads do between them does not depend on h, and h not on it, so that h can be moved to the right until f. If t takes
//! no further step, h is left out: nobody sees that. The result is a run of the reduced net. A run of the reduced net is one
//! of the net, with hf as two steps; where threads stand before an h at the end of it, or on its cycle without moving, h is
//! put in ([`super::Agglomerated::lift`]).
//!
//! - *Transitions that can fire* are the same: none of H is watched, and those of F still fire.
//! - *Deadlocks* are the same: t cannot go on behind h exactly where it cannot go on before hf, and it has nothing else to
//!   do there.
//! - *Formulas without `X`* have the same value: h changes no atom.
//! - *Fairness*: that h is left out or put off enables and disables no other thread. Thread t before hf can move where it
//!   can behind h; before h it can always move, so that in a fair run of the net it is not left standing there, unless
//!   another thread is in an atomic section again and again; then it cannot move there either.
//! - *Data races* are not looked at: a race is between the steps that are next, and h stands before one of them. Nothing is
//!   put off where they are asked for.

use pdnet_base::IndexVec;
use pdnet_net::{Effect, Place, Shelter, Transition, TransitionData};

use super::compose::{moves_one_frame, target};
use super::ground::{Ground, without_cycles};

/// The steps that can be put off, with the place that each leads to, places behind which others are put off first.
pub(crate) struct Delayed {
    pub(crate) order: Vec<Place>,
    pub(crate) is_delayed: IndexVec<Transition, bool>,
}

/// Finds the steps that can be put off.
pub(crate) fn find(ground: &Ground<'_>) -> Delayed {
    let net = ground.net;
    let mut is_delayed = IndexVec::filled(false, net.transitions.len());
    if !ground.visible.races && ground.special.is_none_or(|special| !special.late) {
        for place in net.places.indices().filter(|&place| is_start(ground, place)) {
            for transition in ground.steps(place) {
                is_delayed[transition] = may_wait(ground, place, transition, &net.transitions[transition]);
            }
        }
    }
    let mut asked = IndexVec::filled(false, net.places.len());
    let ends = |transition: Transition| target(net, &net.transitions[transition]);
    for transition in net.transitions.indices().filter(|&transition| is_delayed[transition]) {
        if let Some(end) = ends(transition) {
            asked[end] = true;
        }
    }
    let edges = |place: Place| {
        let delayed = ground.steps(place).into_iter().filter(|&transition| is_delayed[transition]);
        delayed.filter_map(ends).collect()
    };
    let order = without_cycles(net.places.len(), &asked, edges);
    Delayed { order, is_delayed }
}

/// Whether at most one step can be taken from a place, and others cannot change which.
fn is_start(ground: &Ground<'_>, place: Place) -> bool {
    let steps = ground.steps(place);
    let is_fixed = |&transition: &Transition| {
        let data = &ground.net.transitions[transition];
        Ground::needs_no_token(data)
            && data.vars.iter().all(|var| var.choice.is_none())
            && ground.reads_are_stable(place, data, |_| true)
    };
    ground.is_through(place)
        && !ground.visible.sees_at_end(place)
        && ground.depends_on_arcs(place)
        && ground.special.is_none_or(|special| !special.may_own(place))
        && steps.iter().all(is_fixed)
        && (steps.len() == 1 || ground.flow.is_exclusive(ground.net, place))
}

fn may_wait(ground: &Ground<'_>, place: Place, transition: Transition, data: &TransitionData) -> bool {
    let is_sheltered = |shelter: Shelter| match shelter {
        Shelter::Alone | Shelter::Own | Shelter::Fixed | Shelter::Locked | Shelter::Section => true,
        Shelter::Lock | Shelter::SectionItself => false,
    };
    // In a deadlock, the frame may stand behind the step or, if it is put off, before it.
    let may_vanish = |end: Place| ground.is_through(end) && !ground.visible.sees_at_end(end);
    data.action.effect() == Effect::None
        && !ground.visible.watched[transition]
        && !ground.visible.sees_last_step(ground.net, data)
        && moves_one_frame(data)
        && target(ground.net, data).is_some_and(|target| target != place && may_vanish(target))
        && ground
            .special
            .is_none_or(|special| target(ground.net, data).is_some_and(|target| !special.is_inside(target)))
        && ground.moves_only_frames(data)
        && ground.writes_are_sheltered(place, data, is_sheltered)
}
