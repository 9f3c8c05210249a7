//! Post-agglomeration: what comes after a step at once is made one with it.
//!
//! Definition 7 and Theorem 2 of Pajault, Pradat-Peyre and Rousseau, *Adapting Petri nets reductions to Promela
//! specifications* (FORTE 2008). H are the steps of a frame to a place p, F those from p. In the words of the paper:
//!
//! - *p-agglomerability* (Definition 5): only steps of H put a frame on p that is to be merged, only steps of F take it,
//!   and nothing else looks at p ([`Ground::is_through`]).
//! - *F-continuation*: the guards of F cover all cases ([`pdnet_net::Flow::is_total`]), and ask only for values and tokens
//!   that no other thread can change while the frame is on p. So a frame on p can always go on.
//! - *(strong) F-independence*: a step of F touches only what no other thread can touch meanwhile ([`Shelter`]), so that it
//!   can be moved to the front of the steps that others take between it and the step of H.
//!
//! To *unlock* is such a step as well: while the thread holds the lock, nobody else can touch its cell, because all others
//! wait until it is free. So a whole region from the lock to the unlock becomes one step where all accesses to what is in
//! it are under the same lock. (The lock is a step of H: it may have to wait.) To signal a condition is such a step where
//! those who wait for it are touched under the lock only: by those who begin to wait and who signal, who hold it, and by
//! those who were woken, who need it free. To wait for a condition is one as well: it gives the lock back.
//!
//! To start a thread is such a step where only the first thread does it: it takes nothing from the others. So is the end of
//! a thread where nobody asks who has not ended ([`Ground::ends_are_quiet`]).
//!
//! Steps of F that a property sees, that end the thread, the process or the run (faults, failed assertions, bounds), or
//! that others can interfere with, are not merged. They stay, and so does p: beside *hf* for every f that is merged there
//! is *h before g* for every g that is not, which is h where the guard of g is true afterwards.
//!
//! In nets of processes, a step of F touches its thread's own cells only, and what is to be said of steps that are more than
//! their arcs stands in [`super::special`].
//!
//! # Why nothing is lost
//!
//! Let σ be a run of the net and h a step of it to p by a frame of thread t. The next step of t, if there is one, is a step
//! of F, since no other frame of t can move ([`pdnet_net::Protection`]). If it is one that is merged, it can be moved to
//! the left until it stands behind h: what it reads does not change in between, nobody in between reads or writes what
//! it writes, and in the atomic section of another thread, which would keep it from moving, t can have come to p only
//! before that began. If t takes no further step in σ, the step of F that is enabled after h is put there: nobody sees it.
//! (The process may end, or t may wait forever for the end of an atomic section. Neither depends on the step.) The result
//! is a run of the reduced net, up to which steps make one. Every run of the reduced net is one of the net. Places are
//! chosen so that they form no cycle, so that the sequence after h is finite.
//!
//! - *Transitions that can fire* are the same: none that is watched is merged or left out.
//! - *Deadlocks* are the same: no frame on a place that vanishes is in one, unless another thread keeps the atomic section
//!   forever, which it does as well with the frame behind the step.
//! - *Formulas without `X`* have the same value: what is moved or added changes no atom.
//! - *Data races* are the same: what is merged accesses nothing that can be raced for, except inside of an atomic section,
//!   where it is not merged.
//! - *Fairness*: a thread can move where it could, if the step that is moved enables and disables nobody. That is so for
//!   all accesses above, because the others cannot even stand before a step that reads the cell, but not for unlocking,
//!   for leaving an atomic section, and for the beginning and the end of a thread: a thread that takes and gives back a lock forever may starve one that waits for it
//!   under weak fairness, and may not if both is one step. So these are not merged where fairness is assumed.
//! - *Partial deadlocks* are not preserved, since the marking before f may have one that those before h and after f have
//!   not: no step is merged then ([`Visible::new`](super::visible::Visible::new)).

use pdnet_base::IndexVec;
use pdnet_net::{Effect, Expr, Place, Shelter, Transition, TransitionData};

use super::compose::{moves_one_frame, target};
use super::ground::{Ground, without_cycles};

/// A place between steps that are merged.
pub(crate) struct Between {
    pub(crate) place: Place,
    /// The steps from it that are merged with those to it.
    pub(crate) merged: Vec<Transition>,
    /// Those that are not.
    pub(crate) left: Vec<Transition>,
}

/// The places at which steps can be merged, each after those that the merged steps lead to.
pub(crate) fn find(ground: &Ground<'_>) -> Vec<Between> {
    let net = ground.net;
    let ends_are_quiet = ground.ends_are_quiet();
    let found: IndexVec<Place, Option<Between>> =
        net.places.indices().map(|place| at(ground, place, ends_are_quiet)).collect();
    let asked: IndexVec<Place, bool> = found.iter().map(Option::is_some).collect();
    let edges = |place: Place| {
        let merged = found[place].iter().flat_map(|between| &between.merged);
        merged.filter_map(|&transition| target(net, &net.transitions[transition])).collect()
    };
    let order = without_cycles(net.places.len(), &asked, edges);
    let mut found = found;
    order.into_iter().filter_map(|place| found[place].take()).collect()
}

fn at(ground: &Ground<'_>, place: Place, ends_are_quiet: bool) -> Option<Between> {
    let steps = ground.steps(place);
    let data = |transition: Transition| &ground.net.transitions[transition];
    if !ground.is_through(place)
        || !ground.depends_on_arcs(place)
        || !(ground.flow.is_total(ground.net, place) || is_certain_end(ground, place, &steps))
    {
        return None;
    }
    let is_stable = |&transition: &Transition| ground.reads_are_stable(place, data(transition), |_| true);
    if !steps.iter().all(is_stable) {
        return None;
    }
    let (merged, left): (Vec<Transition>, Vec<Transition>) = steps.into_iter().partition(|&transition| {
        let may_end = ends_are_quiet && data(transition).action.effect() == Effect::EndThread;
        is_merged(ground, place, transition, data(transition), may_end)
    });
    // Which of the others comes next must be known from what the first step knows.
    let is_known = |&transition: &Transition| {
        let data = data(transition);
        Ground::needs_no_token(data) && data.vars.iter().all(|var| var.choice.is_none())
    };
    (!merged.is_empty() && left.iter().all(is_known)).then_some(Between { place, merged, left })
}

/// Whether the only step from a place is the end of the thread, under no condition but that the frame is its first one,
/// which it is.
fn is_certain_end(ground: &Ground<'_>, place: Place, steps: &[Transition]) -> bool {
    let [only] = steps else { return false };
    let data = &ground.net.transitions[*only];
    let is_first = Expr::equal(Expr::Var(TransitionData::depth_var()), Expr::Const(0));
    data.action.effect() == Effect::EndThread
        && Ground::needs_no_token(data)
        && data.guard.as_ref().is_none_or(|guard| *guard == is_first)
        && ground.only_first_frames(place)
}

fn is_merged(
    ground: &Ground<'_>,
    place: Place,
    transition: Transition,
    data: &TransitionData,
    may_end: bool,
) -> bool {
    let fair = ground.visible.fair;
    let is_sheltered = |shelter: Shelter| match shelter {
        Shelter::Alone | Shelter::Own | Shelter::Fixed | Shelter::Locked | Shelter::Section => true,
        Shelter::Lock | Shelter::SectionItself => !fair,
    };
    let goes_on = data.action.effect() == Effect::None
        && target(ground.net, data).is_some_and(|target| target != place);
    (goes_on || may_end)
        && !ground.visible.watched[transition]
        && !ground.visible.sees_step(ground.net, data)
        && ground.special.is_none_or(|special| {
            let leads = target(ground.net, data).is_some_and(|target| special.may_lead_to(target, fair));
            leads && ground.moves_only_frames(data) && moves_one_frame(data)
        })
        && ground.tokens_are_sheltered(place, data)
        && ground.writes_are_sheltered(place, data, is_sheltered)
}
