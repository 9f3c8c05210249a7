//! What is sure of queues inside of atomic sections.
//!
//! A thread that cannot go on inside of its atomic section loses it, so that it matters there whether a step of another thread, which
//! could as well be taken later, *enables* a step inside ([`crate::Stubborn`], "sections that are lost"). But often a section begins with a
//! guard that says that there is a message, or room for one, and receives or sends it later on: nobody else moves meanwhile, so that the step
//! inside is enabled whatever others do before or after the section.
//!
//! For each place inside of sections, this finds demands on queues that are met whenever a thread comes there. It is a usual forward
//! analysis: what all ways to the place have in common.
//!
//! - A step that demands something of a queue has found it so, and knows it for the place that it leads to, unless it takes
//!   it away itself: after a receive there may be no message, but there is room, and after a send it is the other way round.
//! - What was known before a step is still known after it, if the thread had its section all the time. It did not where it was
//!   *blocked* at the place before the step and went on later. That cannot be where the place is *settled*: what its steps demand is about
//!   the thread's own cells, or of a queue and known to be met. Then either some step was enabled when the thread came there, or none ever will
//!   be.
//! - A fact names its queue by cells of the frame. It is dropped where one of them is written.
//! - A place to which a thread may come without being in a section has no facts.

use pdnet_base::{FxHashSet, IndexVec};
use pdnet_net::{
    ArcData, BinaryOp, End, Expr, Net, Place, PlaceForm, Queue, QueueUse, Transition, TransitionData, Var,
    conjuncts,
};

use crate::access::{Objects, own_key};

/// Something that is sure of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sure {
    queue: Queue,
    /// Which of them, in terms of cells of the frame.
    element: Expr,
    is: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Known {
    HasMessage,
    HasRoom,
}

/// What a use of a queue demands of it.
const fn demand(end: End) -> Option<Known> {
    match end {
        End::Receive | End::Front => Some(Known::HasMessage),
        End::Send | End::Room => Some(Known::HasRoom),
        End::Read | End::Write => None,
    }
}

impl Objects<'_> {
    /// Whether what a step inside of a section demands of a queue is so whenever a thread comes to the place before it.
    pub(crate) fn is_sure(&self, data: &TransitionData, used: &QueueUse, element: Option<&Expr>) -> bool {
        let (Some(source), Some(element), Some(is)) = (data.source(), element, demand(used.end)) else {
            return false;
        };
        !self.is_ranked[source]
            && self.sure[source]
                .iter()
                .any(|fact| fact.queue == used.queue && fact.element == *element && fact.is == is)
    }

    /// What is sure at each place: the greatest solution.
    pub(crate) fn find_sure(&self) -> IndexVec<Place, Vec<Sure>> {
        let net = self.net;
        let n_places = net.places.len();
        let nothing = || IndexVec::filled(Vec::new(), n_places);
        let Some(atomic) = net.atomic.filter(|_| net.atomic_yields) else { return nothing() };
        // Nothing is known yet of places that nobody has come to.
        let mut sure: IndexVec<Place, Option<FxHashSet<Sure>>> = IndexVec::filled(None, n_places);
        for (place, data) in net.places.iter_enumerated() {
            let is_initial = matches!(&data.form, PlaceForm::Tokens { initial } if !initial.is_empty());
            if !self.is_inside[place] || is_initial {
                sure[place] = Some(FxHashSet::default());
            }
        }
        let uses: IndexVec<Transition, Vec<(QueueUse, Option<Expr>)>> = net
            .transitions
            .iter_enumerated()
            .map(|(transition, data)| {
                let uses = self.queues.uses(net, transition).into_iter();
                let named = uses.map(|used| {
                    let element = used.element.as_ref().and_then(|element| self.canonical(data, element));
                    (used, element)
                });
                named.collect()
            })
            .collect();
        loop {
            let mut is_changed = false;
            for (transition, data) in net.transitions.iter_enumerated() {
                let Some(source) = data.source() else { continue };
                let Some(before) = &sure[source] else { continue };
                let is_kept = self.is_settled(source, before, &uses);
                let after = if is_kept { before.clone() } else { FxHashSet::default() };
                let after = follow(net, data, &uses[transition], after);
                for arc in &data.arcs {
                    let ArcData::Put { place, token } = arc else { continue };
                    if !net.is_frame_place(*place) {
                        continue;
                    }
                    let is_owner = *token == own_key() && takes_section(data, atomic);
                    let known = if is_owner { after.clone() } else { FxHashSet::default() };
                    match &mut sure[*place] {
                        None => {
                            sure[*place] = Some(known);
                            is_changed = true;
                        }
                        Some(there) => {
                            let n_before = there.len();
                            there.retain(|fact| known.contains(fact));
                            is_changed |= there.len() != n_before;
                        }
                    }
                }
            }
            if !is_changed {
                break;
            }
        }
        // The order makes no difference: facts are only looked up.
        sure.iter().map(|facts| facts.iter().flatten().cloned().collect()).collect()
    }

    /// Whether a thread that comes to a place with these facts, and then waits there, waits forever.
    fn is_settled(
        &self,
        place: Place,
        facts: &FxHashSet<Sure>,
        uses: &IndexVec<Transition, Vec<(QueueUse, Option<Expr>)>>,
    ) -> bool {
        let net = self.net;
        let of_place = net.transitions.iter_enumerated().filter(|(_, data)| data.source() == Some(place));
        let mut own = of_place.map(|(transition, data)| {
            let moves_only_itself = data.arcs.iter().enumerate().all(|(position, arc)| match arc {
                ArcData::Take { .. } => position == 0,
                ArcData::Read { .. } | ArcData::Write { .. } | ArcData::Put { .. } => true,
                ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Drain { .. } => false,
                ArcData::Governed { .. } | ArcData::Governs { .. } => true,
            });
            let mut parts = Vec::new();
            data.guard.iter().for_each(|guard| conjuncts(guard, &mut parts));
            let is_steady = |part: &Expr| {
                let mut is_steady = true;
                part.walk(&mut |inner| match inner {
                    Expr::Var(var) => is_steady &= self.is_steady(data, *var, facts, &uses[transition]),
                    Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => is_steady = false,
                    Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) => {}
                    Expr::Convert(..) | Expr::If(..) => {}
                });
                is_steady
            };
            !data.late && moves_only_itself && parts.into_iter().all(is_steady)
        });
        own.all(|is_settled| is_settled)
    }

    /// Whether what a guard makes of a variable does not change while the thread waits: its value is the thread's own, or nobody's, or
    /// it is the number of messages of a queue of which the only thing that is demanded is known.
    fn is_steady(
        &self,
        data: &TransitionData,
        var: Var,
        facts: &FxHashSet<Sure>,
        uses: &[(QueueUse, Option<Expr>)],
    ) -> bool {
        if var == TransitionData::thread_var() || var == TransitionData::depth_var() {
            return true;
        }
        let read = data.arcs.iter().find_map(|arc| match arc {
            ArcData::Read { place, var: bound, .. } if *bound == var => Some(*place),
            _ => None,
        });
        let Some(place) = read else {
            // Chosen, which is always possible.
            return data.arcs.iter().all(|arc| {
                !matches!(arc, ArcData::Take { .. } | ArcData::Test { .. }) || data.arcs.first() == Some(arc)
            });
        };
        if self.of_place[place].is_none() {
            return true;
        }
        let Some(queue) = self.queues.of_place[place].filter(|&queue| self.queues.data[queue].len == place)
        else {
            return false;
        };
        uses.iter().any(|(used, element)| match (element, demand(used.end)) {
            (Some(element), Some(is)) => {
                used.queue == queue && facts.contains(&Sure { queue, element: element.clone(), is })
            }
            _ => false,
        })
    }
}

/// Whether the thread that moves is in a section after the step.
fn takes_section(data: &TransitionData, atomic: Place) -> bool {
    let mut writes = data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Write { place, value, when, .. } if *place == atomic => Some((value, when)),
        _ => None,
    });
    match (writes.next(), writes.next()) {
        (Some((Expr::Binary(BinaryOp::Add, ty, owner, one), None)), None) => {
            ty.bits >= 16 && **owner == Expr::Var(TransitionData::thread_var()) && **one == Expr::Const(1)
        }
        _ => false,
    }
}

/// What is known after a step, of what was known before it.
fn follow(
    net: &Net,
    data: &TransitionData,
    uses: &[(QueueUse, Option<Expr>)],
    mut known: FxHashSet<Sure>,
) -> FxHashSet<Sure> {
    // What the step has found.
    for (used, element) in uses {
        if let (Some(element), Some(is)) = (element, demand(used.end)) {
            known.insert(Sure { queue: used.queue, element: element.clone(), is });
        }
    }
    // What it takes away, of this queue and of those that may be the same.
    for (used, element) in uses {
        let may_be = |other: &Expr| match (element, other) {
            (Some(Expr::Const(one)), Expr::Const(other)) => one == other,
            _ => true,
        };
        let taken = |is: Known| match used.end {
            End::Receive => is == Known::HasMessage,
            End::Send => is == Known::HasRoom,
            End::Write => true,
            End::Front | End::Room | End::Read => false,
        };
        known.retain(|fact| fact.queue != used.queue || !taken(fact.is) || !may_be(&fact.element));
    }
    for (used, element) in uses {
        let is = match used.end {
            End::Receive => Known::HasRoom,
            End::Send => Known::HasMessage,
            End::Front | End::Room | End::Read | End::Write => continue,
        };
        if let Some(element) = element {
            known.insert(Sure { queue: used.queue, element: element.clone(), is });
        }
    }
    // Which queue it is, is told by cells as they were before.
    let is_written = |cell: Place| {
        let writes = |arc: &ArcData| matches!(arc, ArcData::Write { place, .. } if *place == cell);
        data.arcs.iter().any(writes)
    };
    known.retain(|fact| {
        let mut is_same = true;
        fact.element.walk(&mut |part| {
            if let Expr::Cell(cell, _) = part {
                is_same &= !is_written(*cell);
            }
        });
        is_same
    });
    debug_assert!(net.atomic.is_some(), "there are sections");
    known
}
