//! Smaller cases that fail too: transitions and edges of the automaton are dropped, and the formula is replaced by a
//! part of it, as long
//! as something is still wrong.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_check::{Property, PropertyKind};
use pdnet_logic::AutState;
use pdnet_net::{Net, Transition, verify_net};

use crate::conformance::Disagreement;

/// The smallest case that was found. `fails` says what is wrong with a candidate, `None` where nothing is.
#[must_use]
pub fn shrink(
    disagreement: &Disagreement,
    fails: &dyn Fn(&Disagreement) -> Option<Box<Disagreement>>,
) -> Disagreement {
    let mut best = disagreement.clone();
    loop {
        let n_candidates = best.net.transitions.len();
        let without = (0..n_candidates).rev().map(|at| without_transition(&best, Transition::new(at)));
        let parts = parts_of_formula(&best).into_iter().chain(parts_of_automaton(&best));
        let candidates = parts.chain(without.flatten());
        let Some(smaller) = candidates.into_iter().find_map(|candidate| fails(&candidate)) else {
            return best;
        };
        best = *smaller;
    }
}

fn parts_of_formula(case: &Disagreement) -> Vec<Disagreement> {
    let PropertyKind::Ltl { formula, atoms } = &case.property.kind else { return Vec::new() };
    let (left, right) = formula.children();
    let names: Vec<String> = atoms.iter().map(|atom| atom.text.clone()).collect();
    let with = |part: &pdnet_logic::Ltl| {
        let kind = PropertyKind::Ltl { formula: part.clone(), atoms: atoms.clone() };
        let text = part.display(&names).to_string();
        Disagreement { property: Property { text, kind, ..case.property.clone() }, ..case.clone() }
    };
    left.into_iter().chain(right).map(with).collect()
}

/// The case with each of the automaton's edges dropped.
fn parts_of_automaton(case: &Disagreement) -> Vec<Disagreement> {
    let PropertyKind::Never { automaton, atoms, .. } = &case.property.kind else { return Vec::new() };
    let edges = automaton.states.iter_enumerated();
    let edges = edges.flat_map(|(state, data)| (0..data.edges.len()).map(move |edge| (state, edge)));
    let without = |(state, edge): (AutState, usize)| {
        let mut automaton = automaton.clone();
        automaton.states[state].edges.remove(edge);
        // That it does not see steps may have been said of the whole automaton; it is true of a part only by chance.
        let kind = PropertyKind::Never { automaton, atoms: atoms.clone(), stutter_invariant: false };
        Disagreement { property: Property { kind, ..case.property.clone() }, ..case.clone() }
    };
    edges.map(without).collect()
}

/// The case without one transition; `None` where the net would not be one, or nothing would be asked.
fn without_transition(case: &Disagreement, dropped: Transition) -> Option<Disagreement> {
    let kept: Vec<Transition> = case.net.transitions.indices().filter(|&at| at != dropped).collect();
    let transitions: IndexVec<Transition, _> =
        kept.iter().map(|&at| case.net.transitions[at].clone()).collect::<Vec<_>>().into();
    let kind = match &case.property.kind {
        PropertyKind::NeverFires(targets) => {
            let new_index = |old: &Transition| kept.iter().position(|at| at == old).map(Transition::new);
            let targets: Vec<Transition> = targets.iter().filter_map(new_index).collect();
            if targets.is_empty() {
                return None;
            }
            PropertyKind::NeverFires(targets)
        }
        PropertyKind::NoDeadlock => PropertyKind::NoDeadlock,
        PropertyKind::NoRace => PropertyKind::NoRace,
        PropertyKind::NoPartialDeadlock => PropertyKind::NoPartialDeadlock,
        kind @ (PropertyKind::Ltl { .. } | PropertyKind::Never { .. }) => kind.clone(),
    };
    let net = Net { transitions, ..case.net.clone() };
    if !verify_net(&net).is_empty() {
        return None;
    }
    Some(Disagreement { net, property: Property { kind, ..case.property.clone() }, ..case.clone() })
}
