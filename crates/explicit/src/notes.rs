//! What a search met that makes `Holds` into `Unknown`.

use pdnet_check::{StopReason, Verdict};
use pdnet_net::{Action, Bound, Net, Transition};

/// The first transition of each kind, by number, that some explored run fires.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    fault: Option<Transition>,
    bound: Option<Transition>,
    sampled: Option<Transition>,
    /// The first transition of a sequence without end.
    cut: Option<Transition>,
}

/// Whether the transition has to be noted when it fires.
pub(crate) fn is_notable(net: &Net, transition: Transition) -> bool {
    let data = &net.transitions[transition];
    matches!(data.action, Action::Fault(_) | Action::Bound(_)) || samples(net, transition)
}

/// Whether a free variable of the transition is not tried with all its values.
fn samples(net: &Net, transition: Transition) -> bool {
    net.transitions[transition].vars.iter().any(|var| var.choice.as_ref().is_some_and(|domain| !domain.exact))
}

impl Notes {
    /// The first by number; but one that would be none where memory always had a value goes before the others.
    fn note_fault(&mut self, net: &Net, transition: Transition) {
        let rank = |transition: Transition| {
            let needs_unset =
                matches!(net.transitions[transition].action, Action::Fault(fault) if fault.needs_unset());
            (!needs_unset, transition)
        };
        if self.fault.is_none_or(|noted| rank(transition) < rank(noted)) {
            self.fault = Some(transition);
        }
    }

    /// Notes a firing.
    pub(crate) fn add(&mut self, net: &Net, transition: Transition) {
        let note = |slot: &mut Option<Transition>| {
            *slot = Some(slot.map_or(transition, |noted| noted.min(transition)));
        };
        let action = net.transitions[transition].action;
        if matches!(action, Action::Fault(_)) {
            self.note_fault(net, transition);
        }
        if matches!(action, Action::Bound(_)) {
            note(&mut self.bound);
        }
        if samples(net, transition) {
            note(&mut self.sampled);
        }
    }

    /// Notes a firing that begins with this transition and was cut off because it had no end.
    pub(crate) fn add_cut(&mut self, transition: Transition) {
        self.cut = Some(self.cut.map_or(transition, |noted| noted.min(transition)));
    }

    /// What was noted of firings, by kind.
    pub(crate) const fn transitions(&self) -> [Option<Transition>; 3] {
        [self.fault, self.bound, self.sampled]
    }

    /// The first transition of a sequence without end.
    pub(crate) const fn cut(&self) -> Option<Transition> {
        self.cut
    }

    /// Adds what another worker has met.
    pub(crate) fn join(&mut self, net: &Net, other: &Self) {
        other.transitions().into_iter().flatten().for_each(|transition| self.add(net, transition));
        other.cut.into_iter().for_each(|transition| self.add_cut(transition));
    }

    /// The verdict on a property of which no violation was found: undefined behaviour weighs more than a
    /// bound, and a bound more than a sample.
    pub(crate) fn verdict(&self, net: &Net) -> Verdict {
        if let Some(transition) = self.fault
            && let data = &net.transitions[transition]
            && let Action::Fault(fault) = data.action
        {
            return Verdict::Unknown(StopReason::Undefined { fault, pos: data.pos });
        }
        if let Some(transition) = self.bound
            && let data = &net.transitions[transition]
            && let Action::Bound(bound) = data.action
        {
            let limit = net.limit_of(bound);
            return Verdict::Unknown(StopReason::Bound { bound, limit, pos: data.pos });
        }
        if let Some(transition) = self.cut {
            let bound = Bound::Indivisible;
            let (limit, pos) = (net.limit_of(bound), net.transitions[transition].pos);
            return Verdict::Unknown(StopReason::Bound { bound, limit, pos });
        }
        if let Some(transition) = self.sampled {
            let data = &net.transitions[transition];
            let note = data.vars.iter().find_map(|var| var.note.clone());
            return Verdict::Unknown(StopReason::Sampled { pos: data.pos, note });
        }
        Verdict::Holds
    }
}
