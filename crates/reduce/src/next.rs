//! Which kept statement comes next (Algorithm C.1 of the slicing paper, with what it leaves open).
//!
//! A frame that comes to a cut statement goes on at once to the next kept one. So that this is right,
//!
//! * there must be one statement only that can come next: where there are two, the statement that decides between
//!   them is kept;
//! * it must come for sure: on the way, nothing may block, end the run, or loop without being known to end.
//!
//! Control arcs see to most of this; what they miss (jumps into loops) is found here. A frame with nothing kept ahead
//! is parked: that it may block or loop forever is then nobody's concern ([`crate::Mode::Run`] keeps the loops).

use pdnet_base::IndexVec;
use pdnet_net::{Function, Place};

use crate::facts::Facts;
use crate::on_demand::Closure;
use crate::{Reason, Statement};

/// What comes after a frame has come to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This statement, or the exit of the function.
    At(Place),
    /// Nothing any more.
    Parked,
}

/// What comes next, for all places of functions of which something is kept.
pub(crate) struct Ways {
    pub(crate) next: IndexVec<Place, Option<Next>>,
    /// The places of each function, those first that come last.
    order: IndexVec<Function, Vec<Place>>,
}

impl Ways {
    pub(crate) fn new(facts: &Facts<'_>) -> Self {
        let mut seen = IndexVec::filled(false, facts.net.places.len());
        let order = facts.net.functions.iter().map(|data| postorder(facts, data.entry, &mut seen)).collect();
        Self { next: IndexVec::filled(None, facts.net.places.len()), order }
    }

    /// Finds what comes next everywhere, and returns the statements that must be kept for that.
    pub(crate) fn update(
        &mut self,
        facts: &Facts<'_>,
        closure: &Closure<'_, '_>,
    ) -> Vec<(Statement, Reason)> {
        let mut missing = Vec::new();
        for function in facts.net.functions.indices() {
            self.update_function(facts, closure, function, &mut missing);
        }
        missing
    }

    fn update_function(
        &mut self,
        facts: &Facts<'_>,
        closure: &Closure<'_, '_>,
        function: Function,
        missing: &mut Vec<(Statement, Reason)>,
    ) {
        let places = &self.order[function];
        let is_present = closure.returned[function] || places.iter().any(|&place| closure.kept.has(place));
        if !is_present {
            return;
        }
        let exit = facts.net.functions[function].exit;
        let exit_counts = closure.returned[function] || closure.kept.has(exit);
        if exit_counts {
            // Also where no frame ever comes there.
            self.next[exit] = Some(Next::At(exit));
        }
        for &place in places {
            self.next[place] = match () {
                () if closure.kept.has(place) => Some(Next::At(place)),
                () if place == exit => Some(if exit_counts { Next::At(exit) } else { Next::Parked }),
                () => None,
            };
        }
        let mut is_changed = true;
        let first_missing = missing.len();
        while is_changed {
            is_changed = false;
            for &place in places {
                if closure.kept.has(place) || place == exit || self.next[place] == Some(Next::At(place)) {
                    continue;
                }
                let mut found: Option<Next> = None;
                for step in &facts.flow.steps[place] {
                    let ahead = step.target.map_or(Some(Next::Parked), |target| self.next[target]);
                    let Some(ahead) = ahead else { continue };
                    match found {
                        Some(other) if other != ahead => {
                            // Two ways: it must be kept.
                            missing.push((place, Reason::Decides(shown(other, exit), shown(ahead, exit))));
                            found = Some(Next::At(place));
                            break;
                        }
                        _ => found = Some(ahead),
                    }
                }
                if found != self.next[place] {
                    self.next[place] = found;
                    is_changed = true;
                }
            }
        }
        for &place in places {
            let Some(next) = self.next[place] else {
                // It never leaves a loop.
                self.next[place] = Some(Next::Parked);
                continue;
            };
            let Next::At(ahead) = next else { continue };
            let is_cut = !closure.kept.has(place) && place != ahead;
            let is_endless =
                facts.loops.of_header[place].is_some_and(|at| facts.loops.list[at].ends.is_none());
            if is_cut && (facts.hangs.places[place] || is_endless) {
                missing.push((place, Reason::Governs(ahead, pdnet_net::Dependence::Control)));
            }
        }
        missing[first_missing..].sort_by_key(|(place, _)| *place);
    }
}

const fn shown(next: Next, exit: Place) -> Place {
    match next {
        Next::At(place) => place,
        Next::Parked => exit,
    }
}

/// The places that a frame of the function can come to, successors before predecessors as far as loops allow.
fn postorder(facts: &Facts<'_>, entry: Place, seen: &mut IndexVec<Place, bool>) -> Vec<Place> {
    let mut order = Vec::new();
    let mut stack = vec![(entry, 0)];
    if std::mem::replace(&mut seen[entry], true) {
        return order;
    }
    while let Some((place, next)) = stack.last_mut() {
        let place = *place;
        match facts.flow.steps[place].get(*next) {
            None => {
                order.push(place);
                stack.pop();
            }
            Some(step) => {
                *next += 1;
                if let Some(target) = step.target
                    && !std::mem::replace(&mut seen[target], true)
                {
                    stack.push((target, 0));
                }
            }
        }
    }
    order
}
