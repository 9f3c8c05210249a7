//! What slicing asks of a net, found once: who writes what, who calls whom, which cells only one frame can reach.

use pdnet_base::IndexVec;
use pdnet_net::{
    Action, ArcData, Dependence, Effect, Expr, Flow, Function, Hangs, Loops, Net, Pattern, Place, Scope,
    Transition, TransitionBuilder, TransitionData,
};

use crate::Statement;

/// The arcs of a net, turned round.
pub(crate) struct Facts<'n> {
    pub(crate) net: &'n Net,
    pub(crate) flow: Flow,
    pub(crate) loops: Loops,
    pub(crate) hangs: Hangs,
    /// The transitions that change a place with cells or tokens; of frame places: that put a token on it.
    pub(crate) writers: IndexVec<Place, Vec<Transition>>,
    /// The statements that call a function or start a thread with it.
    pub(crate) starters: IndexVec<Function, Vec<Statement>>,
    /// The functions that a statement calls or starts.
    pub(crate) started: IndexVec<Place, Vec<Function>>,
    /// The statements that return from a function.
    returns: IndexVec<Function, Vec<Statement>>,
    /// The statements that end a thread.
    thread_ends: Vec<Statement>,
    /// For a call the statement that returns from it, and the other way round.
    pub(crate) partner: IndexVec<Place, Option<Statement>>,
    /// What governs a statement, by the control arcs.
    pub(crate) governors: IndexVec<Place, Vec<(Transition, Dependence)>>,
    /// Cells of a frame that are read by this frame alone, or by the step that returns from it, and written by it
    /// alone, or by the step that makes it.
    pub(crate) local: IndexVec<Place, bool>,
}

impl<'n> Facts<'n> {
    /// Looks at every arc once. The net has its control arcs.
    pub(crate) fn new(net: &'n Net) -> Self {
        let flow = Flow::new(net);
        let loops = Loops::new(net, &flow);
        let hangs = Hangs::new(net, &flow, &loops);
        let n_places = net.places.len();
        let mut facts = Self {
            net,
            flow,
            loops,
            hangs,
            writers: IndexVec::filled(Vec::new(), n_places),
            starters: IndexVec::filled(Vec::new(), net.functions.len()),
            started: IndexVec::filled(Vec::new(), n_places),
            returns: IndexVec::filled(Vec::new(), net.functions.len()),
            thread_ends: Vec::new(),
            partner: IndexVec::filled(None, n_places),
            governors: IndexVec::filled(Vec::new(), n_places),
            local: net.places.indices().map(|place| frame_of(net, place).is_some()).collect(),
        };
        let mut statement_of: IndexVec<Place, Option<Statement>> = IndexVec::filled(None, n_places);
        for data in net.transitions.iter() {
            for arc in &data.arcs {
                if let ArcData::Governed { place } = arc {
                    statement_of[*place] = data.source();
                }
            }
        }
        for (transition, data) in net.transitions.iter_enumerated() {
            facts.add_transition(transition, data, &statement_of);
        }
        for list in facts.starters.iter_mut() {
            list.sort_unstable();
            list.dedup();
        }
        facts
    }

    fn add_transition(
        &mut self,
        transition: Transition,
        data: &TransitionData,
        statement_of: &IndexVec<Place, Option<Statement>>,
    ) {
        let Some(source) = data.source() else { return };
        for arc in &data.arcs {
            match arc {
                ArcData::Governs { place, dependence } => {
                    if let Some(statement) = statement_of[*place] {
                        self.governors[statement].push((transition, *dependence));
                    }
                }
                ArcData::Put { place, .. } => {
                    self.add_writer(*place, transition);
                    if let Some(function) = self.started_by(arc) {
                        self.starters[function].push(source);
                        self.started[source].push(function);
                    }
                }
                ArcData::Take { place, .. } => {
                    if !self.net.is_frame_place(*place) {
                        self.add_writer(*place, transition);
                    }
                }
                ArcData::Drain { place, to, .. } => {
                    self.add_writer(*place, transition);
                    self.add_writer(*to, transition);
                }
                ArcData::Write { place, key, .. } => {
                    self.add_writer(*place, transition);
                    self.local[*place] &=
                        is_own(self.net, data, *place, key) || is_new(self.net, data, *place, key);
                }
                ArcData::Read { place, key, .. } => {
                    self.local[*place] &=
                        is_own(self.net, data, *place, key) || is_returned(self.net, data, *place, key);
                }
                ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Governed { .. } => {}
            }
        }
        if data.action.effect() == Effect::EndThread {
            self.thread_ends.push(source);
        }
        if let Some(function) = self.net.returns_from(transition) {
            self.returns[function].push(source);
        }
        if data.action == Action::Call
            && let Some(target) = self.net.frame_target(transition)
        {
            self.partner[source] = Some(target);
            self.partner[target] = Some(source);
        }
    }

    fn add_writer(&mut self, place: Place, transition: Transition) {
        if self.writers[place].last() != Some(&transition) {
            self.writers[place].push(transition);
        }
    }

    /// The function at whose entry an arc puts a token.
    pub(crate) fn started_by(&self, arc: &ArcData) -> Option<Function> {
        let ArcData::Put { place, .. } = arc else { return None };
        let function = self.net.places[*place].function?;
        (self.net.functions[function].entry == *place).then_some(function)
    }

    /// The function of a statement.
    pub(crate) fn function(&self, statement: Statement) -> Option<Function> {
        self.net.places[statement].function
    }

    /// All statements: the places that some step leaves.
    pub(crate) fn statements(&self) -> impl Iterator<Item = Statement> + '_ {
        self.flow.steps.iter_enumerated().filter(|(_, steps)| !steps.is_empty()).map(|(place, _)| place)
    }

    /// The statements that end frames of a function, unless the whole process ends: returns from it, and ends of threads.
    pub(crate) fn frame_ends(&self, function: Function) -> impl Iterator<Item = Statement> + '_ {
        self.returns[function].iter().chain(&self.thread_ends).copied()
    }

    /// The transitions with this effect.
    pub(crate) fn with_effect(
        &self,
        effect: Effect,
    ) -> impl Iterator<Item = (Transition, &TransitionData)> + '_ {
        self.net.transitions.iter_enumerated().filter(move |(_, data)| data.action.effect() == effect)
    }
}

/// The function whose frames have the cells of a place.
pub(crate) fn frame_of(net: &Net, place: Place) -> Option<Function> {
    match net.places[place].cells()?.scope {
        Scope::Frame(function) => Some(function),
        Scope::Global | Scope::Thread => None,
    }
}

/// Whether a key names a cell of the frame that moves, and that frame is one of the place's function.
pub(crate) fn is_own(net: &Net, data: &TransitionData, place: Place, key: &[Expr]) -> bool {
    key.starts_with(&TransitionBuilder::frame()) && frame_of(net, place) == Some(data.function)
}

/// Whether a key names a cell of a frame that the transition makes.
pub(crate) fn is_new(net: &Net, data: &TransitionData, place: Place, key: &[Expr]) -> bool {
    let Some(function) = frame_of(net, place) else { return false };
    let entry = net.functions[function].entry;
    data.arcs
        .iter()
        .any(|arc| matches!(arc, ArcData::Put { place, token } if *place == entry && key.starts_with(token)))
}

/// Whether a key names a cell of a frame that the transition takes away at its exit.
pub(crate) fn is_returned(net: &Net, data: &TransitionData, place: Place, key: &[Expr]) -> bool {
    let Some(function) = frame_of(net, place) else { return false };
    let exit = net.functions[function].exit;
    data.arcs.iter().any(|arc| match arc {
        ArcData::Take { place, token } if *place == exit => {
            let part = |part: &Pattern| match part {
                Pattern::Is(expr) => expr.clone(),
                Pattern::Bind(var) => Expr::Var(*var),
            };
            let token: Vec<Expr> = token.iter().map(part).collect();
            key.starts_with(&token)
        }
        _ => false,
    })
}
