//! A few straight runs: bugs that lie deep, but on a plain schedule.
//!
//! A breadth-first search finds the shortest run, and drowns where fifty threads each have something to do before it
//! happens. A run in which a thread goes on for as long as it can, and then another one, often gets there at once. So
//! when a search has become large, a handful of such runs are tried. They prove nothing: what they do not find is still
//! for the search to look for.

use std::ops::ControlFlow;

use pdnet_base::{IndexVec, Rng};
use pdnet_net::{Firing, Transition};
use pdnet_space::{Outcome, State};

use crate::graph::Model;
use crate::stepper::Stepper;

/// So many states a search may have before scouts are sent out.
pub(crate) const SCOUTS_AT: usize = 200_000;

/// So many runs by chance, after the two that always take the lowest or the highest thread.
const N_RANDOM: u64 = 14;

/// So many steps a run may have.
const MAX_STEPS: usize = 20_000;

/// Which thread goes on when the last one cannot.
enum Order {
    Lowest,
    Highest,
    /// Any; and now and then also where the last one could go on.
    Random(Rng),
}

/// A run that fires one of these transitions with its last step, if one of the scouts finds it.
pub(crate) fn scout(model: &Model<'_>, fires: &IndexVec<Transition, bool>) -> Option<Vec<Firing>> {
    let random = (0..N_RANDOM).map(|seed| Order::Random(Rng::new(seed)));
    [Order::Lowest, Order::Highest].into_iter().chain(random).find_map(|order| run(model, fires, order))
}

/// A step that may be taken next.
struct Choice {
    rank: u64,
    firing: Firing,
    state: State,
}

fn run(model: &Model<'_>, fires: &IndexVec<Transition, bool>, mut order: Order) -> Option<Vec<Firing>> {
    let mut stepper = Stepper::new(model, None, None);
    stepper.go_to(&model.compiled.initial());
    let mut firings = Vec::new();
    let mut last_thread = 0;
    for _ in 0..MAX_STEPS {
        let stays = match &mut order {
            Order::Lowest | Order::Highest => true,
            Order::Random(rng) => !rng.chance(10),
        };
        let mut found = None;
        let mut best: Option<Choice> = None;
        let walked = stepper.for_each(|step, next, _| {
            if fires[step.transition] {
                found = Some(step.firing());
                return ControlFlow::Break(());
            }
            if step.outcome == Outcome::Pruned {
                return ControlFlow::Continue(());
            }
            let thread = u64::from(step.thread);
            let rank = match &mut order {
                _ if stays && step.thread == last_thread => u64::MAX,
                Order::Lowest => u64::MAX - 1 - thread,
                Order::Highest => thread,
                Order::Random(rng) => rng.next_u64() >> 1,
            };
            // Of several values of an input one is taken by chance, or the first.
            let is_better = match (&best, &mut order) {
                (None, _) => true,
                (Some(best), Order::Random(rng)) if best.rank == rank => rng.chance(50),
                (Some(best), _) => best.rank < rank,
            };
            if is_better {
                let mut state = next.clone();
                state.detach();
                best = Some(Choice { rank, firing: step.firing(), state });
            }
            ControlFlow::Continue(())
        });
        if let Some(last) = found {
            firings.push(last);
            return Some(firings);
        }
        let (Ok(()), Some(choice)) = (walked, best) else { return None };
        last_thread = u32::try_from(choice.firing.thread()).unwrap_or(0);
        firings.push(choice.firing);
        stepper.go_to(&choice.state);
    }
    None
}
