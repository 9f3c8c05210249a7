//! The interface of slicing.

use std::fmt;

use pdnet_check::{Fairness, Property, Trace};
use pdnet_net::{Net, Place, Transition};

use crate::keep::{Kept, Mode};

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
    pub places: pdnet_base::IndexVec<Place, Place>,
    /// The transition of the whole net that each transition of the slice is.
    pub transitions: pdnet_base::IndexVec<Transition, Transition>,
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
#[must_use]
pub fn slice(net: &Net, properties: &[Property], fairness: Fairness, method: Method) -> Slice {
    let _ = (fairness, method);
    let mut kept = Kept::nothing(net);
    kept.statements.iter_mut().for_each(|reason| *reason = Some(crate::keep::Reason::All));
    kept.places.iter_mut().for_each(|place| *place = true);
    Slice {
        net: net.clone(),
        properties: properties.to_vec(),
        kept,
        mode: Mode::Run,
        places: net.places.indices().collect(),
        transitions: net.transitions.indices().collect(),
    }
}

impl Slice {
    /// Turns a run of the slice into one of the whole net.
    ///
    /// # Errors
    /// When the whole net cannot follow, or its cycle does not close.
    pub fn lift(&self, whole: &Net, trace: &Trace) -> Result<Trace, LiftError> {
        let _ = whole;
        Ok(trace.clone())
    }
}
