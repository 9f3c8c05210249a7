//! Whether a run goes on forever in spite of assumptions.

use pdnet_base::Idx as _;
use pdnet_check::StopReason;
use pdnet_space::StateId;

use crate::budget::Budget;
use crate::graph::Graph;
use crate::sights::Sight;

/// What is known of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Unknown,
    /// On the path of the search.
    Open,
    /// Every run from here fails an assumption or meets a bound of the model.
    CutOff,
    /// Some run from here goes on forever, or meets undefined behaviour.
    Real,
}

/// Remembers the fate of states, so that the states of many bad prefixes are looked at once.
#[derive(Debug, Default)]
pub(crate) struct Continuations {
    fates: Vec<Fate>,
    /// How many states were looked at.
    n_entered: usize,
}

impl Continuations {
    /// Whether what comes to the state is certainly the start of a run that no assumption removes: a cycle, a
    /// state that repeats because nothing is enabled, or undefined behaviour can be reached. After undefined
    /// behaviour anything may come, but what came before it did happen.
    ///
    /// A bound of the model does not count: behind it every run may fail an assumption. So a bad prefix whose
    /// state has no continuation is no violation; whether the property holds then depends on whether a bound can
    /// be reached from it, which is for the caller's search to note when it goes on.
    ///
    /// That is as true for every sight: it can be asked for the one for which the edges of the state are known.
    pub(crate) fn exists(
        &mut self,
        graph: &mut Graph<'_>,
        (state, sight): (StateId, Sight),
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        match self.fate(state) {
            Fate::CutOff => return Ok(false),
            Fate::Real => return Ok(true),
            Fate::Unknown | Fate::Open => {}
        }
        let mut path = Vec::new();
        let result = self.search(graph, (state, sight), &mut path, budget);
        // A path that is left leads to something real, or to where the search was stopped.
        let fate = if result.is_ok() { Fate::Real } else { Fate::Unknown };
        path.iter().for_each(|(at, _)| self.fates[at.index()] = fate);
        result
    }

    /// A depth-first search with an explicit stack. A state that is left without success is cut off: all that
    /// can be reached from it was left before it, and no edge closed a cycle.
    fn search(
        &mut self,
        graph: &mut Graph<'_>,
        (start, sight): (StateId, Sight),
        path: &mut Vec<(StateId, usize)>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        let mut entered = Some(start);
        loop {
            if let Some(state) = entered.take() {
                graph.edges(state, sight, budget)?;
                // Other workers may have filled the graph: only what this search looks at is counted here.
                self.n_entered += 1;
                budget.allow_states(self.n_entered)?;
                path.push((state, 0));
                self.fates[state.index()] = Fate::Open;
                if graph.stutters(state, sight) || graph.meets_fault(state, sight) {
                    return Ok(true);
                }
            }
            let Some((at, next)) = path.last_mut() else { return Ok(false) };
            let edges = graph.edges(*at, sight, budget)?;
            let edge = edges.start + *next;
            if edge == edges.end {
                self.fates[at.index()] = Fate::CutOff;
                path.pop();
                continue;
            }
            *next += 1;
            let (target, _) = graph.edge(*at, sight, edge);
            match self.fate(target) {
                Fate::CutOff => {}
                Fate::Open | Fate::Real => return Ok(true),
                Fate::Unknown => entered = Some(target),
            }
        }
    }

    fn fate(&mut self, state: StateId) -> Fate {
        if state.index() >= self.fates.len() {
            self.fates.resize(state.index() + 1, Fate::Unknown);
        }
        self.fates[state.index()]
    }
}
