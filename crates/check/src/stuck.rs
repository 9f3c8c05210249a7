//! Whether a thread is left behind, as far as it can be confirmed.

use std::collections::BTreeSet;

use pdnet_base::FxHashMap;
use pdnet_net::{Action, Firing, Interpreter, Marking, Net, Successor};

/// As many continuations of the marking are looked at. Where there are more, the engine is trusted in that the
/// thread does not move in the others.
const MAX_MARKINGS: usize = 10_000;

/// Whether the process has not ended, some thread can move, and this one has not ended, does not wait for the end
/// of a thread and does not move in any continuation of the marking, as far as they are looked at; and, where all of them are, whether none meets
/// what is not known, and one goes on forever.
pub(crate) fn may_be_stuck(net: &Net, marking: &Marking, thread: i64) -> bool {
    let interpreter = Interpreter::new(net);
    if !interpreter.threads(marking).contains(&thread)
        || interpreter.is_joining(marking, thread)
        || interpreter.enabled(marking).is_empty()
    {
        return false;
    }
    let mut markings = vec![marking.clone()];
    let mut numbers: FxHashMap<Marking, usize> = FxHashMap::default();
    numbers.insert(marking.clone(), 0);
    let mut targets: Vec<BTreeSet<usize>> = Vec::new();
    let mut is_deadlock = Vec::new();
    while targets.len() < markings.len() {
        let at = markings[targets.len()].clone();
        let enabled = interpreter.enabled(&at);
        is_deadlock.push(interpreter.is_deadlock(&at));
        let mut next = BTreeSet::new();
        for firing in &enabled {
            let fired = interpreter.fire_all(&at, firing);
            let is_unknown =
                fired.bound.is_some() || fired.steps.iter().any(|step| leads_into_the_unknown(net, step));
            if interpreter.movers(firing).contains(&thread) || is_unknown {
                return false;
            }
            if let Successor::Marking(after) = fired.successor {
                let number = *numbers.entry(after.clone()).or_insert(markings.len());
                if number == markings.len() {
                    markings.push(after);
                }
                next.insert(number);
            }
        }
        targets.push(next);
        if markings.len() > MAX_MARKINGS {
            return true;
        }
    }
    goes_on_forever(&targets, &is_deadlock)
}

/// Undefined behaviour, a bound of the model, or an input of which not all values are tried.
fn leads_into_the_unknown(net: &Net, firing: &Firing) -> bool {
    let data = &net.transitions[firing.transition];
    let is_sample = data.vars.iter().any(|var| var.choice.as_ref().is_some_and(|domain| !domain.exact));
    is_sample || matches!(data.action, Action::Fault(_) | Action::Bound(_))
}

/// Whether a run from the first marking never ends the process: it comes to a deadlock or to a cycle. What has
/// no step into the rest is taken out, again and again: what stays, goes on.
fn goes_on_forever(targets: &[BTreeSet<usize>], is_deadlock: &[bool]) -> bool {
    let mut rest: BTreeSet<usize> = (0..targets.len()).collect();
    loop {
        let stays = |at: &usize| is_deadlock[*at] || targets[*at].iter().any(|target| rest.contains(target));
        let fewer: BTreeSet<usize> = rest.iter().copied().filter(stays).collect();
        if fewer.len() == rest.len() {
            return rest.contains(&0);
        }
        rest = fewer;
    }
}
