//! What no other thread can touch while a frame stands somewhere.
//!
//! A step of one thread is independent of what the others do where they cannot touch the cells that it touches. The
//! reasons why they cannot are the [`Shelter`]s below, each of which is read off the arcs. All of them are about other
//! *threads*; that no other frame of the same thread moves meanwhile is what [`Protection::new`] looks at first.

use pdnet_base::IndexVec;

use crate::flow::Flow;
use crate::frames::{Frames, made};
use crate::impossible::calls::Calls;
use crate::impossible::held::{Held, Set};
use crate::net::{ArcData, Pattern, Place, Scope, Transition, TransitionData};
use crate::solo::Solo;
use crate::{Action, BinaryOp, Expr, IntType, Net};

/// So many sections inside of each other are told apart.
const MOST_NESTED: usize = 3;

/// Why no other thread touches a cell while a frame stands on a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelter {
    /// There is no other thread.
    Alone,
    /// The cell is the thread's own: every step names the cells of the place by the thread that moves, or by one that
    /// it starts; or only the function in which the first thread begins touches them, which no other thread runs.
    Own,
    /// It is only read, and no step writes the cells of the place while there are two threads.
    Fixed,
    /// Every step that touches the cells of the place holds the same lock, this one among them.
    Locked,
    /// It is the cell of a lock that the thread holds, and every step that touches such cells waits until they are free
    /// or its own.
    Lock,
    /// The thread is in an atomic section.
    Section,
    /// It is the cell that says who is in an atomic section, and the thread is.
    SectionItself,
}

/// Which cells are out of the reach of other threads, by where a thread stands.
pub struct Protection {
    /// The places where the first thread is the only one.
    alone: IndexVec<Place, bool>,
    /// Cells that are their thread's own.
    own: IndexVec<Place, bool>,
    /// Cells that some step may write while there are several threads.
    written: IndexVec<Place, bool>,
    /// Cells of the process.
    global: IndexVec<Place, bool>,
    /// Global cells: the locks that all steps hold that touch them.
    common: IndexVec<Place, Set>,
    /// Places with tokens, beside those of frames: the locks that all steps hold, or need free, that touch them.
    tokens: IndexVec<Place, Set>,
    /// Cells of locks that some step touches while another thread may hold them.
    open: IndexVec<Place, bool>,
    held: Option<Held>,
    section: Option<Place>,
}

impl Protection {
    /// Looks at all steps of a net but those that are marked as impossible. None where frames are not moved as programs
    /// do it, or a thread may have two frames that can move.
    #[must_use]
    pub fn new(net: &Net, flow: &Flow, impossible: &IndexVec<Transition, bool>) -> Option<Self> {
        Frames::new(net)?;
        if !only_top_frames_move(net, flow) || can_block_in_section(net, flow) {
            return None;
        }
        let calls = Calls::new(net);
        let held = Held::new(net, flow, &calls);
        let scope = |place: Place| net.places[place].cells().map(|cells| cells.scope);
        let mut protection = Self {
            alone: calls.alone(net, flow),
            own: net
                .places
                .indices()
                .map(|place| matches!(scope(place), Some(Scope::Thread | Scope::Frame(_))))
                .collect(),
            written: IndexVec::filled(false, net.places.len()),
            global: net.places.indices().map(|place| scope(place) == Some(Scope::Global)).collect(),
            common: IndexVec::filled(Set::MAX, net.places.len()),
            tokens: IndexVec::filled(Set::MAX, net.places.len()),
            open: IndexVec::filled(false, net.places.len()),
            held,
            section: net.atomic,
        };
        let solo = Solo::new(net);
        for place in net.places.indices() {
            protection.alone[place] |= solo.places[place];
        }
        let mut is_firsts = protection.global.clone();
        for (transition, data) in net.transitions.iter_enumerated() {
            let Some(source) = data.source().filter(|_| !impossible[transition]) else { continue };
            let is_alone = protection.alone[source] || solo.steps[transition];
            if !is_alone {
                let kept_out = protection.held_at(source)
                    | protection.held.as_ref().map_or(0, |held| held.demanded(data));
                for arc in &data.arcs {
                    match arc {
                        ArcData::Take { place, .. }
                        | ArcData::Put { place, .. }
                        | ArcData::Test { place, .. }
                        | ArcData::Inhibit { place, .. } => protection.tokens[*place] &= kept_out,
                        ArcData::Drain { place, to, .. } => {
                            protection.tokens[*place] &= kept_out;
                            protection.tokens[*to] &= kept_out;
                        }
                        ArcData::Read { .. } | ArcData::Write { .. } => {}
                        ArcData::Governed { .. } | ArcData::Governs { .. } => {}
                    }
                }
            }
            for arc in &data.arcs {
                let (ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. }) = arc else {
                    continue;
                };
                protection.own[*place] &= names_own_thread(net, data, key);
                is_firsts[*place] &= calls.main == Some(data.function);
                if is_alone {
                    continue;
                }
                protection.written[*place] |= matches!(arc, ArcData::Write { .. });
                protection.common[*place] &= protection.held_at(source);
                let waits = protection.held.as_ref().is_some_and(|held| held.waits_for(data, arc));
                protection.open[*place] |= !waits;
            }
        }
        // Who is in an atomic section concerns all.
        for place in net.places.indices().filter(|&place| is_firsts[place] && Some(place) != net.atomic) {
            protection.own[place] = true;
        }
        Some(protection)
    }

    /// Why no other thread touches a cell while a frame stands on `at`; none where one may, as far as is known.
    #[must_use]
    pub fn of(&self, at: Place, cell: Place, key: &[Expr], writes: bool) -> Option<Shelter> {
        if self.alone[at] {
            return Some(Shelter::Alone);
        }
        if self.own[cell] {
            return Some(Shelter::Own);
        }
        let held = self.held_at(at);
        let in_section = self.section.is_some_and(|section| held & self.lock(section, &[]) != 0);
        if in_section {
            let is_section = self.section == Some(cell);
            return Some(if is_section { Shelter::SectionItself } else { Shelter::Section });
        }
        if self.section == Some(cell) {
            return None;
        }
        if self.is_locked(cell) {
            return Some(Shelter::Locked);
        }
        if !writes && self.is_fixed(cell) {
            return Some(Shelter::Fixed);
        }
        (held & self.lock(cell, key) != 0 && !self.open[cell]).then_some(Shelter::Lock)
    }

    /// Whether no other thread can take, put or look for tokens on a place while a frame stands on `at`: the thread holds
    /// a lock that every step that does so holds, or needs free. (Places of frames, and of ended threads, are not meant.)
    #[must_use]
    pub fn shelters_tokens(&self, at: Place, place: Place) -> bool {
        self.alone[at] || self.held_at(at) & self.tokens[place] != 0
    }

    /// Whether the cells of a place are their thread's own.
    #[must_use]
    pub fn is_own(&self, cell: Place) -> bool {
        self.own[cell]
    }

    /// Whether no two steps of different threads can be next that touch the same cell of a place and one of which
    /// writes: the cells are their thread's own, are not written any more, or are touched under one lock.
    #[must_use]
    pub fn is_race_free(&self, cell: Place) -> bool {
        self.own[cell] || self.is_fixed(cell) || self.is_locked(cell)
    }

    /// Cells of frames that are not their thread's own change also when the frame goes.
    fn is_fixed(&self, cell: Place) -> bool {
        self.global[cell] && !self.written[cell]
    }

    fn is_locked(&self, cell: Place) -> bool {
        self.global[cell] && self.common[cell] != 0
    }

    fn held_at(&self, place: Place) -> Set {
        self.held.as_ref().map_or(0, |held| held.at(place))
    }

    fn lock(&self, place: Place, key: &[Expr]) -> Set {
        self.held.as_ref().map_or(0, |held| held.lock(place, key))
    }
}

/// Whether a thread may be blocked in its atomic section for a moment or forever, in a net in which it does not lose it then. It keeps all
/// others where they are, also between two steps that nobody else could come between: one who holds a lock, for example, that is waited
/// for in the section.
fn can_block_in_section(net: &Net, flow: &Flow) -> bool {
    let Some(atomic) = net.atomic.filter(|_| !net.atomic_yields) else { return false };
    let is_end = |data: &TransitionData| data.action == Action::AtomicEnd;
    let begins = |data: &TransitionData| {
        let is_written = |arc: &ArcData| matches!(arc, ArcData::Write { place, .. } if *place == atomic);
        !is_end(data) && data.arcs.iter().any(is_written)
    };
    let targets = |data: &TransitionData| {
        let put = |arc: &ArcData| match arc {
            ArcData::Put { place, .. } if net.is_frame_place(*place) => Some(*place),
            _ => None,
        };
        data.arcs.iter().filter_map(put).collect::<Vec<_>>()
    };
    // How many sections there may be around each place. Who is called, starts or is returned to from inside counts as inside, too, which
    // is more than there are.
    let mut is_met = [(); MOST_NESTED + 1].map(|()| IndexVec::<Place, bool>::filled(false, net.places.len()));
    let mut waiting: Vec<(Place, usize)> = Vec::new();
    for data in net.transitions.iter().filter(|data| begins(data)) {
        waiting.extend(targets(data).into_iter().map(|place| (place, 1)));
    }
    while let Some((place, level)) = waiting.pop() {
        if level == 0 || std::mem::replace(&mut is_met[level][place], true) {
            continue;
        }
        for step in &flow.steps[place] {
            let data = &net.transitions[step.transition];
            let after = match (begins(data), is_end(data)) {
                (true, _) => [(level + 1).min(MOST_NESTED); 2],
                // Beyond the most, it is not known how many there are.
                (false, true) if level == MOST_NESTED => [level - 1, level],
                (false, true) => [level - 1; 2],
                (false, false) => [level; 2],
            };
            for place in targets(data) {
                waiting.extend(after.map(|level| (place, level)));
            }
        }
    }
    let is_inside: IndexVec<Place, bool> =
        net.places.indices().map(|place| is_met.iter().any(|met| met[place])).collect::<Vec<_>>().into();
    let waits_for_tokens = |data: &TransitionData| {
        data.arcs.iter().skip(1).any(|arc| match arc {
            ArcData::Take { place, .. } | ArcData::Test { place, .. } | ArcData::Inhibit { place, .. } => {
                !net.is_frame_place(*place)
            }
            _ => false,
        })
    };
    is_inside.iter_enumerated().filter(|(_, is_inside)| **is_inside).any(|(place, _)| {
        let steps = &flow.steps[place];
        let is_call_site = steps.iter().any(|step| {
            let mut arcs = net.transitions[step.transition].arcs.iter().skip(1);
            arcs.any(|arc| matches!(arc, ArcData::Take { place, .. } if net.is_frame_place(*place)))
        });
        steps.iter().any(|step| waits_for_tokens(&net.transitions[step.transition]))
            || !steps.is_empty() && !is_call_site && !flow.guards_cover(net, place)
    })
}

/// Whether a key names the thread that moves, or one that the step starts.
fn names_own_thread(net: &Net, data: &TransitionData, key: &[Expr]) -> bool {
    let Some(thread) = key.first() else { return false };
    let is_started = |token: &[Expr]| token.first() == Some(thread) && token.get(1) == Some(&Expr::Const(0));
    *thread == Expr::Var(TransitionData::thread_var()) || made(net, data).any(|(_, token)| is_started(token))
}

/// Whether of a thread's frames only the top one can move, those aside that wait for the end of the frame above them.
///
/// A step that makes a frame of its own thread makes the one above, and leaves its own where every step takes the frame
/// above. So a frame that is not on top stands at such a place, and cannot move before the frame above it has come to
/// where it is taken.
pub(crate) fn only_top_frames_move(net: &Net, flow: &Flow) -> bool {
    let thread = Expr::Var(TransitionData::thread_var());
    let depth = Expr::Var(TransitionData::depth_var());
    let above = [thread.clone(), Expr::binary(BinaryOp::Add, IntType::I64, depth, Expr::Const(1))];
    let takes_above = |transition: Transition| {
        net.transitions[transition].arcs.iter().skip(1).any(|arc| match arc {
            ArcData::Take { place, token } => {
                let parts = token.iter().map(|part| match part {
                    Pattern::Is(expr) => Some(expr),
                    Pattern::Bind(_) => None,
                });
                net.is_frame_place(*place) && parts.eq(above.iter().map(Some))
            }
            _ => false,
        })
    };
    net.transitions.iter_enumerated().filter(|(_, data)| !data.arcs.is_empty()).all(|(transition, data)| {
        let takes = data
            .arcs
            .iter()
            .skip(1)
            .filter(|arc| matches!(arc, ArcData::Take { place, .. } if net.is_frame_place(*place)));
        let touches = data.arcs.iter().any(|arc| match arc {
            ArcData::Test { place, .. } | ArcData::Inhibit { place, .. } => net.is_frame_place(*place),
            _ => false,
        });
        let pushes = made(net, data).filter(|(_, token)| token.first() == Some(&thread));
        let pushes: Vec<&[Expr]> = pushes.map(|(_, token)| token).collect();
        let waits = || {
            net.frame_target(transition)
                .is_some_and(|site| flow.steps[site].iter().all(|step| takes_above(step.transition)))
        };
        let is_pop = match takes.count() {
            0 => true,
            1 => takes_above(transition) && pushes.is_empty(),
            _ => false,
        };
        let is_push = match pushes[..] {
            [] => true,
            [token] => *token == above && waits(),
            _ => false,
        };
        let starts = made(net, data).filter(|(_, token)| token.first() != Some(&thread));
        !touches
            && is_pop
            && is_push
            && starts.into_iter().all(|(_, token)| token.get(1) == Some(&Expr::Const(0)))
    })
}
