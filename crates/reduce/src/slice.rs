//! The interface of slicing.

use std::fmt;

use pdnet_base::IndexVec;
use pdnet_check::{AtomData, Fairness, Property, PropertyKind};
use pdnet_net::{Expr, Net, Place, SplitLimits, Transition, Var, add_control_dependence, split_inputs_again};

use crate::backward::Backward;
use crate::criterion::Criterion;
use crate::facts::Facts;
use crate::keep::{Kept, Mode};
use crate::method::{Phases, Slicer};
use crate::next::{Next, Ways};
use crate::on_demand::{Closure, OnDemand};
use crate::program::Program;
use crate::rebuild::{Rebuilt, rebuild};
use crate::whole::{asks_when_deadlocks_come, keeps_all, whole};

/// How to find what can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Method {
    /// On-demand slicing: control dependence from the arcs, data dependence only of what enters the slice.
    #[default]
    OnDemand,
    /// Classical slicing of programs: all dependences first, then the closure, by statements of the source.
    Program,
    /// Traditional slicing of Petri nets: follow the arcs backwards.
    Net,
}

/// A smaller net that gives the same answers to the same questions.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The net.
    pub net: Net,
    /// The properties that it was made for, as properties of it.
    pub properties: Vec<Property>,
    /// What was kept of the whole net, and why.
    pub kept: Kept,
    /// How much of a run was looked at.
    pub mode: Mode,
    /// The place of the whole net that each place of the slice is.
    pub places: IndexVec<Place, Place>,
    /// The transition of the whole net that each transition of the slice is.
    pub transitions: IndexVec<Transition, Transition>,
    /// For each transition of the slice the variables of the whole net's transition that its variables are.
    pub vars: IndexVec<Transition, Vec<Var>>,
    /// Places of the whole net after which nothing more comes in the frame that matters.
    pub parked: Vec<Place>,
    /// The parts of slicing and the seconds that each took, in the order in which they first came: `folding` what
    /// never changes, `data dependence` and `control dependence` where they are found for the whole program, `closure`,
    /// `exactness` (what a method other than on-demand slicing leaves open), and `rebuilding` the net.
    pub phases: Vec<(&'static str, f64)>,
}

/// Why a run of the slice was not found in the whole net.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiftError {
    /// The whole net cannot follow: our bug.
    Stuck {
        /// Which step of the run of the slice.
        step: usize,
    },
    /// What was cut does not come back to where it was in as many rounds as were tried: the whole net
    /// must be searched.
    Open,
}

impl fmt::Display for LiftError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stuck { step } => write!(f, "step {step} of the slice's run is no step of the program"),
            Self::Open => write!(f, "the cycle does not close in the whole program"),
        }
    }
}

impl std::error::Error for LiftError {}

/// Cuts away what the answers to these properties do not depend on.
///
/// Of a net whose steps can depend on other threads by more than their arcs, nothing is cut.
///
/// The properties are answered together: the slice has what any of them needs. They must be without `X`.
#[must_use]
pub fn slice(net: &Net, properties: &[Property], fairness: Fairness, method: Method) -> Slice {
    if keeps_all(net) || properties.iter().any(asks_when_deadlocks_come) {
        return whole(net, properties);
    }
    // Control arcs, loops and hang points are the control dependence of one method, and for the others no more than
    // what makes them exact.
    let is_on_demand = method == Method::OnDemand;
    let (control, exact) =
        if is_on_demand { ("control dependence", "closure") } else { ("exactness", "exactness") };
    let mut phases = Phases::new();
    let mut folded = crate::fold::fold(net);
    phases.end("folding");
    add_control_dependence(&mut folded);
    let facts = Facts::new(&folded);
    let criterion = Criterion::new(&facts, properties, fairness);
    phases.end(control);
    let mut slicer: Box<dyn Slicer + '_> = match method {
        Method::OnDemand => Box::new(OnDemand),
        Method::Program => Box::new(Program::new(&facts, &mut phases)),
        Method::Net => Box::new(Backward::new(&facts)),
    };
    let mut closure = Closure::new(&facts, &criterion, slicer.keeps_whole_statements());
    let mut ways = Ways::new(&facts);
    let mut grown = slicer.grow(&closure.kept);
    phases.end("closure");
    loop {
        for (statement, reason) in grown {
            closure.keep(statement, true, || reason);
        }
        make_exact(&facts, &mut closure, &mut ways);
        phases.end(exact);
        grown = slicer.grow(&closure.kept);
        phases.end("closure");
        if grown.is_empty() {
            break;
        }
    }
    let rebuilt = rebuild(&facts, &closure, &ways);
    let properties: Vec<Property> = properties.iter().map(|property| renamed(property, &rebuilt)).collect();
    let Rebuilt { mut net, places, transitions, vars, .. } = rebuilt;
    // What is cut asks nothing of inputs any more.
    split_inputs_again(&mut net, &atoms(&properties), SplitLimits::default());
    let is_parked = |place: &Place| !matches!(ways.next[*place], Some(Next::At(_)));
    let parked = facts.statements().filter(is_parked).collect();
    phases.end("rebuilding");
    let (kept, mode, phases) = (closure.kept, criterion.mode, phases.into_list());
    Slice { net, properties, kept, mode, places, transitions, vars, parked, phases }
}

/// Adds what is missing for the verdicts on what is kept to be those of the whole net.
fn make_exact(facts: &Facts<'_>, closure: &mut Closure<'_, '_>, ways: &mut Ways) {
    loop {
        closure.run();
        let missing = ways.update(facts, closure);
        if missing.is_empty() {
            break;
        }
        for (statement, reason) in missing {
            closure.keep(statement, false, || reason);
        }
    }
}

/// All that formulas look at.
fn atoms(properties: &[Property]) -> Vec<Expr> {
    let atoms = properties.iter().flat_map(|property| match &property.kind {
        PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => atoms.as_slice(),
        PropertyKind::NeverFires(_)
        | PropertyKind::NoDeadlock
        | PropertyKind::NoRace
        | PropertyKind::NoPartialDeadlock => &[],
    });
    atoms.map(|atom| atom.expr.clone()).collect()
}

/// A property of the whole net as one of the slice.
fn renamed(property: &Property, rebuilt: &Rebuilt) -> Property {
    let kind = match &property.kind {
        PropertyKind::NeverFires(transitions) => {
            // What is gone was in no way reachable.
            let kept = transitions.iter().filter_map(|&transition| rebuilt.new_transition[transition]);
            PropertyKind::NeverFires(kept.collect())
        }
        PropertyKind::Ltl { formula, atoms } => {
            PropertyKind::Ltl { formula: formula.clone(), atoms: renamed_atoms(atoms, rebuilt) }
        }
        PropertyKind::Never { automaton, atoms, stutter_invariant } => PropertyKind::Never {
            automaton: automaton.clone(),
            atoms: renamed_atoms(atoms, rebuilt),
            stutter_invariant: *stutter_invariant,
        },
        other @ (PropertyKind::NoDeadlock | PropertyKind::NoRace | PropertyKind::NoPartialDeadlock) => {
            other.clone()
        }
    };
    Property { kind, ..property.clone() }
}

fn renamed_atoms(atoms: &[AtomData], rebuilt: &Rebuilt) -> Vec<AtomData> {
    let place = |place: Place| rebuilt.new_place[place].unwrap_or(place);
    let renamed =
        |atom: &AtomData| AtomData { text: atom.text.clone(), expr: atom.expr.replace_places(&place) };
    atoms.iter().map(renamed).collect()
}
