//! What is to be checked.

use std::fmt;

use pdnet_logic::{Automaton, Ltl};
use pdnet_net::{Action, Expr, Fault, Net, Transition, TransitionData};

/// A property of a net.
#[derive(Clone, Debug)]
pub struct Property {
    /// Its name for people and scripts: `assert`, `deadlock`, or the name of a formula.
    pub name: String,
    /// The property in the words of the user, printed in one spelling.
    pub text: String,
    /// The word for the verdict line: `unreach-call`, `no-deadlock`, `valid-ltl`.
    pub class: &'static str,
    /// What it says of the net.
    pub kind: PropertyKind,
}

/// The kinds of properties.
#[derive(Clone, Debug)]
pub enum PropertyKind {
    /// None of these transitions ever fires (assertions, error calls, faults). A run that fires one is a
    /// violation whatever comes after it, also where the firing has no successor
    /// ([`pdnet_net::Effect::Prune`]): that it is enabled is enough.
    NeverFires(Vec<Transition>),
    /// No reachable deadlock.
    NoDeadlock,
    /// No reachable marking with a data race ([`pdnet_net::Interpreter::races`]). A run that comes to one is a
    /// violation whatever comes after it.
    NoRace,
    /// No thread is left behind: there is no reachable marking in which some thread can move, another one
    /// has not ended, does not wait for the end of a thread and moves in no continuation, and some continuation
    /// never ends the process.
    ///
    /// The last condition keeps out what is normal: threads that still wait when `main` returns. So does the one
    /// on joins: who waits for the end of a thread that works forever is not deadlocked, and where that thread
    /// is, it is a thread left behind itself. A marking
    /// from which undefined behaviour, a bound of the model or a sampled input can be met counts for nothing:
    /// not all of its continuations are known.
    NoPartialDeadlock,
    /// The formula holds on every infinite run; a run that ends or deadlocks repeats its last state. What meets
    /// a failed assumption, a bound or undefined behaviour is no infinite run; but a prefix that breaks the
    /// formula whatever comes after it is a violation also where undefined behaviour follows.
    Ltl {
        /// The formula (not negated), over the atoms by number.
        formula: Ltl,
        /// What the atoms mean.
        atoms: Vec<AtomData>,
    },
    /// No infinite run is accepted by the automaton: it is the automaton of the *bad* runs, as a `never` claim of
    /// Promela is. Which runs there are is as for [`PropertyKind::Ltl`]; a prefix that comes into a state that
    /// accepts everything is a violation also where undefined behaviour follows.
    ///
    /// A claim that comes to its end is a violation by what happened up to there: its end is a state that accepts
    /// everything ([`pdnet_logic::AutomatonBuilder::add_accept_all`]).
    Never {
        /// The automaton, over the atoms by number.
        automaton: Automaton,
        /// What the atoms mean.
        atoms: Vec<AtomData>,
        /// Whether the automaton is known not to tell a run from the same run with states repeated. Where it is
        /// not known, no reduction is used that changes the number of steps. Whoever makes the automaton
        /// answers for it: a wrong `true` gives wrong verdicts.
        stutter_invariant: bool,
    },
}

impl Property {
    /// The atoms that the property is written with; none for the built-in kinds.
    #[must_use]
    pub fn atoms(&self) -> &[AtomData] {
        match &self.kind {
            PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => atoms,
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => &[],
        }
    }

    /// Whether it is about whole infinite runs, so that fairness counts.
    #[must_use]
    pub const fn is_about_runs(&self) -> bool {
        match &self.kind {
            PropertyKind::Ltl { .. } | PropertyKind::Never { .. } => true,
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => false,
        }
    }

    /// Whether it may tell a run from the same run with states repeated. Then it sees steps that reductions
    /// leave out.
    #[must_use]
    pub fn sees_steps(&self) -> bool {
        match &self.kind {
            PropertyKind::Ltl { formula, .. } => !formula.is_stutter_invariant(),
            PropertyKind::Never { stutter_invariant, .. } => !stutter_invariant,
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => false,
        }
    }

    /// The check `assert`: no assertion fails and no error function is called.
    #[must_use]
    pub fn assertions(net: &Net) -> Self {
        let fails = |data: &TransitionData| {
            matches!(data.action, Action::AssertFail | Action::Error)
                || data.calls.as_deref().is_some_and(|name| ERROR_FUNCTIONS.contains(&name))
        };
        Self::never("assert", "no assertion fails, no error function is called", "unreach-call", net, fails)
    }

    /// The check `deadlock`: no reachable deadlock.
    #[must_use]
    pub fn no_deadlock() -> Self {
        let text = "some thread can move until the process ends".to_owned();
        Self { name: "deadlock".to_owned(), text, class: "no-deadlock", kind: PropertyKind::NoDeadlock }
    }

    /// The check `race`: no data race.
    #[must_use]
    pub fn no_race() -> Self {
        let text = "no two threads access the same memory at once, one of them writing".to_owned();
        Self { name: "race".to_owned(), text, class: "no-data-race", kind: PropertyKind::NoRace }
    }

    /// The check `partial-deadlock`: no thread is blocked for good while the process goes on.
    #[must_use]
    pub fn no_partial_deadlock() -> Self {
        let text = "no thread is blocked forever while the process goes on".to_owned();
        let (name, class) = ("partial-deadlock".to_owned(), "no-partial-deadlock");
        Self { name, text, class, kind: PropertyKind::NoPartialDeadlock }
    }

    /// The check `termination`: the formula `F end`.
    #[must_use]
    pub fn termination(net: &Net) -> Self {
        let expr = net.ended.map_or(Expr::Const(0), |ended| Expr::Marked(ended, Vec::new()));
        let atoms = vec![AtomData { text: "end".to_owned(), expr }];
        let kind = PropertyKind::Ltl { formula: Ltl::finally(Ltl::Atom(pdnet_base::Idx::new(0))), atoms };
        let text = "every run ends the process: F end".to_owned();
        Self { name: "termination".to_owned(), text, class: "termination", kind }
    }

    /// The check `arithmetic`: no division by zero, no shift by more bits than there are.
    #[must_use]
    pub fn arithmetic(net: &Net) -> Self {
        let faults = &[Fault::DivisionByZero, Fault::Shift];
        Self::no_faults("arithmetic", "no division by zero, no bad shift", "no-arithmetic-error", net, faults)
    }

    /// The check `overflow`: no signed result that does not fit into its type.
    #[must_use]
    pub fn overflow(net: &Net) -> Self {
        Self::no_faults("overflow", "no signed overflow", "no-overflow", net, &[Fault::Overflow])
    }

    /// The check `memory`: no array index out of bounds, no dereference of a pointer to no object, and
    /// nothing freed that is no allocated block.
    #[must_use]
    pub fn memory(net: &Net) -> Self {
        let faults = &[
            Fault::OutOfBounds,
            Fault::InvalidPointer,
            Fault::NullPointer,
            Fault::Dangling,
            Fault::ReadOnly,
            Fault::InvalidFree,
            Fault::UnrelatedPointers,
        ];
        Self::no_faults("memory", "no access outside of an object", "valid-deref", net, faults)
    }

    /// SV-COMP's `valid-deref`: no dereference of a pointer to no object.
    #[must_use]
    pub fn valid_deref(net: &Net) -> Self {
        let faults = &[Fault::OutOfBounds, Fault::InvalidPointer, Fault::NullPointer, Fault::Dangling];
        Self::no_faults("valid-deref", "no access outside of an object", "valid-deref", net, faults)
    }

    /// SV-COMP's `valid-free`: nothing is freed that is no allocated block.
    #[must_use]
    pub fn valid_free(net: &Net) -> Self {
        let text = "nothing is freed that is no allocated block";
        Self::no_faults("valid-free", text, "valid-free", net, &[Fault::InvalidFree])
    }

    /// The check `leak`: every block is freed when the process ends.
    #[must_use]
    pub fn leak(net: &Net) -> Self {
        let text = "every allocated block is freed at the end";
        Self::no_faults("leak", text, "valid-memcleanup", net, &[Fault::Leak])
    }

    /// The check `uninitialized`: no object is read before it is written.
    #[must_use]
    pub fn uninitialised(net: &Net) -> Self {
        let text = "no object is read before it is written";
        Self::no_faults("uninitialized", text, "no-uninitialized", net, &[Fault::Uninitialised])
    }

    fn no_faults(name: &str, text: &str, class: &'static str, net: &Net, faults: &[Fault]) -> Self {
        let fails =
            |data: &TransitionData| matches!(data.action, Action::Fault(fault) if faults.contains(&fault));
        Self::never(name, text, class, net, fails)
    }

    /// The check `locks`: no mutex is given back by a thread that does not hold it, destroyed while held,
    /// and no join is on something that is no thread.
    #[must_use]
    pub fn locks(net: &Net) -> Self {
        let fails = |data: &TransitionData| {
            matches!(data.action, Action::Fault(Fault::NotOwner | Fault::NoThread | Fault::DestroyHeld))
        };
        Self::never("locks", "no misuse of locks and threads", "valid-locks", net, fails)
    }

    fn never(
        name: &str,
        text: &str,
        class: &'static str,
        net: &Net,
        fails: impl Fn(&TransitionData) -> bool,
    ) -> Self {
        let transitions = net.transitions.iter_enumerated();
        let bad = transitions.filter(|(_, data)| fails(data)).map(|(transition, _)| transition).collect();
        Self { name: name.to_owned(), text: text.to_owned(), class, kind: PropertyKind::NeverFires(bad) }
    }
}

/// Functions whose call is an error, by the conventions of SV-COMP.
const ERROR_FUNCTIONS: [&str; 2] = ["reach_error", "__VERIFIER_error"];

/// An atom of a formula or an automaton.
#[derive(Clone, Debug)]
pub struct AtomData {
    /// How it is written; empty where it is no part of what was asked and people are not to see it.
    pub text: String,
    /// When it is true: non-zero in a marking.
    pub expr: Expr,
}

/// Which infinite runs count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those in which a thread that can move from some point on, moves again and again.
    Weak,
    /// Those in which a thread that can move again and again, moves again and again.
    Strong,
}

impl fmt::Display for Fairness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Weak => "weak",
            Self::Strong => "strong",
        })
    }
}
