//! The oracle in the shape of an engine, so that whatever drives engines can drive it too.

use std::time::Instant;

use pdnet_check::{Engine, Observer, Outcome, Property, Request, Stats, StopReason, Verdict};

use crate::reference::{Caveats, ReachableGraph, RefVerdict};

/// The reference checker as an engine. It takes no heed of limits but that on states.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The most markings that it looks at.
    pub limit: usize,
}

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn check(&self, request: &Request<'_>, _: &mut dyn Observer) -> Vec<Outcome> {
        let start = Instant::now();
        let limit = request.limits.states.and_then(|states| usize::try_from(states).ok());
        let limit = limit.map_or(self.limit, |states| states.min(self.limit));
        let graph = ReachableGraph::build(request.net, limit);
        let answer = |property: &Property| {
            let Some(graph) = &graph else { return Verdict::Unknown(StopReason::States(limit as u64)) };
            let answer = graph.check(property, request.fairness);
            match (answer.verdict, answer.trace) {
                (RefVerdict::Violated, Some(trace)) => Verdict::Violated(trace),
                _ => doubt(request, graph.caveats()).map_or(Verdict::Holds, Verdict::Unknown),
            }
        };
        let verdicts: Vec<Verdict> = request.properties.iter().map(answer).collect();
        let (n_markings, n_edges) =
            graph.as_ref().map_or((0, 0), |graph| (graph.n_markings(), graph.n_edges()));
        let stats = Stats {
            states: n_markings as u64,
            states_outside: None,
            states_reduced: None,
            transitions: n_edges as u64,
            seconds: start.elapsed().as_secs_f64(),
            peak_memory_bytes: 0,
            ..Stats::default()
        };
        verdicts.into_iter().map(|verdict| Outcome { verdict, stats }).collect()
    }
}

/// Why `Holds` would be too much to say.
fn doubt(request: &Request<'_>, caveats: &Caveats) -> Option<StopReason> {
    if let Some(&fault) = caveats.faults.first() {
        return Some(StopReason::Undefined { fault, pos: None });
    }
    if let Some(&bound) = caveats.bounds.first() {
        let limit = request.net.limit_of(bound);
        return Some(StopReason::Bound { bound, limit, pos: None });
    }
    caveats.sampled.then_some(StopReason::Sampled { pos: None, note: None })
}
