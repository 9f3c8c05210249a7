//! Why a thread cannot move.
//!
//! Found by trying the transitions out of the place where the thread stands, up to the arc or the guard
//! that refuses.

use pdnet_base::Idx as _;
use pdnet_check::Step;
use pdnet_net::{Action, ArcData, Interpreter, Marking, Net, Pattern, Place, Transition};
use pdnet_source::Pos;

use crate::accesses::Binding;
use crate::threads::Threads;
use crate::values::cell_name;

/// A thread that cannot move.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    /// The thread.
    pub(crate) thread: i64,
    /// Where it stands.
    pub(crate) pos: Option<Pos>,
    /// On what it waits.
    pub(crate) cause: Cause,
}

/// On what a thread waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A lock.
    Lock {
        /// What it is called: a mutex, a read-write lock.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Who took it and where, as far as the run shows it.
        holder: Option<(i64, Option<Pos>)>,
    },
    /// A signal.
    Condition {
        /// The name of the condition variable.
        name: String,
    },
    /// A semaphore that is 0.
    Semaphore {
        /// Its name.
        name: String,
    },
    /// More threads at a barrier.
    Barrier {
        /// Its name.
        name: String,
    },
    /// A thread that does what is to be done once.
    Once {
        /// The name of the control object.
        name: String,
        /// Who began, as far as the run shows it.
        by: Option<i64>,
    },
    /// The end of a thread.
    Join {
        /// The thread.
        thread: i64,
    },
    /// The end of another thread's atomic section.
    Atomic {
        /// The other thread.
        owner: i64,
    },
    /// A step of the program that is not enabled.
    Other {
        /// The step.
        label: String,
    },
}

/// All threads that are neither ended nor able to move in the last marking of the run.
pub(crate) fn blocked_threads(net: &Net, marking: &Marking, steps: &[Step]) -> Vec<Blocked> {
    let interpreter = Interpreter::new(net);
    let enabled = interpreter.enabled(marking);
    let can_move: Vec<i64> = enabled.iter().flat_map(|firing| interpreter.movers(firing)).collect();
    let mut blocked = Vec::new();
    for (thread, depth, place) in innermost_frames(net, marking) {
        if !can_move.contains(&thread) {
            blocked.push(Examination { net, marking, steps }.examine(thread, depth, place));
        }
    }
    blocked
}

/// For each thread its innermost frame: thread, depth, place. Callers only wait for the called function.
fn innermost_frames(net: &Net, marking: &Marking) -> Vec<(i64, i64, Place)> {
    let mut frames: Vec<(i64, i64, Place)> = Vec::new();
    for place in net.places.indices().filter(|&place| net.is_frame_place(place)) {
        frames.extend(marking.tokens(place).map(|(token, _)| (token[0], token[1], place)));
    }
    frames.sort_unstable();
    let is_innermost = |at: &usize| frames.get(at + 1).is_none_or(|next| next.0 != frames[*at].0);
    (0..frames.len()).filter(is_innermost).map(|at| frames[at]).collect()
}

#[derive(Clone, Copy)]
struct Examination<'a> {
    net: &'a Net,
    marking: &'a Marking,
    steps: &'a [Step],
}

/// How far the attempt to fire a transition came.
struct Attempt {
    binding: Vec<i64>,
    /// The arc for which there is no token, if it was an arc.
    refused_by: Option<usize>,
}

impl Examination<'_> {
    fn examine(self, thread: i64, depth: i64, place: Place) -> Blocked {
        let steps = self.net.transitions.iter_enumerated();
        let out: Vec<Transition> = steps
            .filter(|(_, data)| data.source() == Some(place))
            .map(|(transition, _)| transition)
            .collect();
        let first_pos = out.iter().find_map(|&transition| self.net.transitions[transition].pos);
        let pos = first_pos.or(self.net.places[place].pos);
        let known = out.iter().find_map(|&transition| self.cause(transition, thread, depth));
        let atomic =
            || self.atomic_owner().filter(|owner| *owner != thread).map(|owner| Cause::Atomic { owner });
        let cause = known.or_else(atomic).unwrap_or_else(|| {
            let label = out.first().map(|&transition| self.net.transitions[transition].label.clone());
            Cause::Other { label: label.unwrap_or_default() }
        });
        Blocked { thread, pos, cause }
    }

    fn atomic_owner(self) -> Option<i64> {
        let owner = Interpreter::new(self.net).cell(self.marking, self.net.atomic?, &[]);
        (owner != 0).then_some(owner - 1)
    }

    /// The cause, where the transition is one that waits for something with a name.
    fn cause(self, transition: Transition, thread: i64, depth: i64) -> Option<Cause> {
        let data = &self.net.transitions[transition];
        let attempt = self.attempt(transition, thread, depth);
        match data.action {
            Action::Lock | Action::ReadLock | Action::Wait3 => {
                if let Some(place) = attempt.refused_by.map(|arc| data.arcs[arc].place()) {
                    return Some(Cause::Condition { name: self.condition_name(thread, place) });
                }
                let (place, key) = written_cell(self.net, transition, &attempt.binding)?;
                let holder = self.holder(place, &key);
                let kind = lock_kind(data.calls.as_deref().unwrap_or_default());
                Some(Cause::Lock { kind, name: cell_name(self.net, place, &key), holder })
            }
            Action::Down => {
                let (place, key) = written_cell(self.net, transition, &attempt.binding)?;
                Some(Cause::Semaphore { name: cell_name(self.net, place, &key) })
            }
            Action::OnceBegin => {
                let (place, key) = written_cell(self.net, transition, &attempt.binding)?;
                let by = self.began(place, &key);
                Some(Cause::Once { name: cell_name(self.net, place, &key), by })
            }
            Action::Leave => {
                let name = &self.net.places[data.arcs[attempt.refused_by?].place()].name;
                Some(Cause::Barrier { name: name.trim_end_matches(" (woken)").to_owned() })
            }
            Action::Wait2 => {
                let place = data.arcs[attempt.refused_by?].place();
                Some(Cause::Condition { name: self.condition_name(thread, place) })
            }
            Action::Join => {
                let binding = Binding(&attempt.binding);
                data.arcs.iter().find_map(|arc| match arc {
                    ArcData::Take { place, token } | ArcData::Test { place, token }
                        if Some(*place) == self.net.done =>
                    {
                        match token.first() {
                            Some(Pattern::Is(expr)) => Some(Cause::Join { thread: expr.eval(&binding) }),
                            Some(Pattern::Bind(_)) | None => None,
                        }
                    }
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// Binds variables arc by arc as the interpreter does, with the first token that fits.
    fn attempt(self, transition: Transition, thread: i64, depth: i64) -> Attempt {
        let data = &self.net.transitions[transition];
        let interpreter = Interpreter::new(self.net);
        let mut binding = vec![0; data.vars.len()];
        binding[0] = thread;
        binding[1] = depth;
        for (arc_idx, arc) in data.arcs.iter().enumerate().skip(1) {
            match arc {
                ArcData::Take { place, token } | ArcData::Test { place, token } => {
                    let fitting = self.marking.tokens(*place).find_map(|(candidate, _)| {
                        let mut extended = binding.clone();
                        let fits = token.iter().zip(candidate).all(|(pattern, &value)| match pattern {
                            Pattern::Bind(var) => {
                                extended[var.index()] = value;
                                true
                            }
                            Pattern::Is(expr) => expr.eval(&Binding(&extended)) == value,
                        });
                        fits.then_some(extended)
                    });
                    match fitting {
                        Some(extended) => binding = extended,
                        None => return Attempt { binding, refused_by: Some(arc_idx) },
                    }
                }
                ArcData::Read { place, key, var, when } => {
                    let view = Binding(&binding);
                    let value = if view.counts(when.as_ref()) {
                        interpreter.cell(self.marking, *place, &view.values(key))
                    } else {
                        0
                    };
                    binding[var.index()] = value;
                }
                ArcData::Put { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Drain { .. }
                | ArcData::Write { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => {}
            }
        }
        Attempt { binding, refused_by: None }
    }

    /// The condition variable of the thread's last wait; otherwise the name of the place without a token.
    fn condition_name(self, thread: i64, place: Place) -> String {
        let waits = self.steps.iter().rev().filter(|step| step.firing.thread() == thread);
        let mut waits =
            waits.filter(|step| self.net.transitions[step.firing.transition].action == Action::Wait1);
        let named = waits.next().and_then(|step| condition_of(self.net, step.firing.transition));
        self.net.places[named.unwrap_or(place)].name.clone()
    }

    /// Who began what is to be done once, by the run.
    fn began(self, control: Place, key: &[i64]) -> Option<i64> {
        let mut begins = self.steps.iter().rev().filter(|step| {
            let transition = step.firing.transition;
            self.net.transitions[transition].action == Action::OnceBegin
                && written_cell(self.net, transition, &step.firing.binding)
                    .is_some_and(|(place, touched)| place == control && touched == key)
        });
        begins.next().map(|step| step.firing.thread())
    }

    /// Who took the lock and has not given it back, by the run; of several readers the first.
    fn holder(self, lock: Place, key: &[i64]) -> Option<(i64, Option<Pos>)> {
        let mut holders: Vec<(i64, Option<Pos>)> = Vec::new();
        for step in self.steps {
            let (transition, thread) = (step.firing.transition, step.firing.thread());
            let touched = written_cell(self.net, transition, &step.firing.binding);
            if touched.is_none_or(|(place, touched)| place != lock || touched != key) {
                continue;
            }
            let data = &self.net.transitions[transition];
            match data.action {
                Action::Lock | Action::Wait3 | Action::ReadLock => holders.push((thread, data.pos)),
                Action::Unlock | Action::Wait1 | Action::ReadUnlock => {
                    let taken = holders.iter().rposition(|(holder, _)| *holder == thread);
                    taken.map(|at| holders.remove(at));
                }
                _ => {}
            }
        }
        holders.first().copied()
    }
}

/// What a lock is called, by the function that takes it.
fn lock_kind(called: &str) -> &'static str {
    if called.contains("rwlock") {
        "read-write lock"
    } else if called.contains("spin") {
        "spin lock"
    } else {
        "mutex"
    }
}

/// The mutex that a step takes or gives back: the first cell that it writes.
pub(crate) fn mutex_of(net: &Net, transition: Transition, binding: &[i64]) -> Option<(Place, Vec<i64>)> {
    let data = &net.transitions[transition];
    if !matches!(data.action, Action::Lock | Action::Unlock | Action::Wait1 | Action::Wait3) {
        return None;
    }
    written_cell(net, transition, binding)
}

/// The first cell that a step writes: of a step on a lock or a semaphore, that. Of those that a pointer may
/// point to it is the one that it does.
pub(crate) fn written_cell(net: &Net, transition: Transition, binding: &[i64]) -> Option<(Place, Vec<i64>)> {
    let view = Binding(binding);
    net.transitions[transition].arcs.iter().find_map(|arc| match arc {
        ArcData::Write { place, key, when, .. } if view.counts(when.as_ref()) => {
            Some((*place, view.values(key)))
        }
        _ => None,
    })
}

/// The condition variable of a step: the first place with tokens, neither of frames nor of ended threads,
/// that an arc leads to; one with a name of the program is preferred.
pub(crate) fn condition_of(net: &Net, transition: Transition) -> Option<Place> {
    let arcs = &net.transitions[transition].arcs;
    let is_condition = |place: &Place| {
        let has_tokens = net.places[*place].cells().is_none();
        let special = net.done == Some(*place) || net.ended == Some(*place) || net.is_frame_place(*place);
        has_tokens && !special
    };
    let plain = arcs.iter().filter(|arc| !arc.is_control());
    let places: Vec<Place> = plain.map(ArcData::place).filter(is_condition).collect();
    let named = places.iter().find(|place| !net.places[**place].internal);
    named.or_else(|| places.first()).copied()
}

impl Cause {
    /// The cause in words, to follow `thread 1 (worker)`. `place_name` renders a position.
    pub(crate) fn describe(
        &self,
        waiter: i64,
        threads: &Threads,
        place_name: &dyn Fn(Pos) -> String,
    ) -> String {
        let since =
            |pos: &Option<Pos>| pos.map_or_else(String::new, |pos| format!(" since {}", place_name(pos)));
        match self {
            Self::Lock { kind, name, holder: None } => format!("waits for {kind} {name}"),
            Self::Lock { kind, name, holder: Some((thread, pos)) } if *thread == waiter => {
                format!("waits for {kind} {name}, which it holds itself{}", since(pos))
            }
            Self::Lock { kind, name, holder: Some((thread, pos)) } => {
                format!("waits for {kind} {name}, held by {}{}", threads.describe(*thread), since(pos))
            }
            Self::Semaphore { name } => format!("waits for semaphore {name}, which is 0"),
            Self::Barrier { name } => format!("waits at barrier {name} for others to come"),
            Self::Condition { name } => format!("waits for a signal on {name}"),
            Self::Once { name, by: Some(thread) } if *thread == waiter => {
                format!("waits for {name}, which it is doing itself")
            }
            Self::Once { name, by: Some(thread) } => {
                format!("waits for {name}, which {} is doing", threads.describe(*thread))
            }
            Self::Once { name, by: None } => format!("waits for {name} to be done"),
            Self::Join { thread } => format!("waits for the end of {}", threads.describe(*thread)),
            Self::Atomic { owner } => {
                format!("cannot move while {} is in an atomic section", threads.describe(*owner))
            }
            Self::Other { label } if label.is_empty() => "cannot move".to_owned(),
            Self::Other { label } => format!("cannot move on from `{label}`"),
        }
    }
}
