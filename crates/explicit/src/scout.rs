//! A few straight runs: bugs that lie deep, but on a plain schedule.
//!
//! A breadth-first search finds the shortest run, and drowns where fifty threads each have something to do before it
//! happens. A run in which a thread goes on for as long as it can, and then another one, often gets there at once. So
//! when a search has become large, a handful of such runs are tried. They prove nothing: what they do not find is still
//! for the search to look for.

use std::ops::ControlFlow;

use pdnet_base::Rng;
use pdnet_net::{Effect, Expr, Firing};
use pdnet_space::{Outcome, State};

use crate::goals::Goal;
use crate::model::Model;
use crate::stepper::{Stepper, Stored};

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

/// A run that breaks the goal, by its last step or in its last state, if one of the scouts finds it. Only for goals that
/// such a run breaks whatever comes after it.
pub(crate) fn scout(model: &Model<'_>, goal: &mut Goal) -> Option<Vec<Firing>> {
    let is_fit = match goal {
        Goal::NeverFires(fires) => fires.iter().any(|&fires| fires),
        Goal::Invariant(_, _, exprs) => !model.has_assumptions && !exprs.iter().any(asks_for_deadlock),
        Goal::NoDeadlock | Goal::NoRace(_) => false,
    };
    let random = (0..N_RANDOM).map(|seed| Order::Random(Rng::new(seed)));
    let mut orders = [Order::Lowest, Order::Highest].into_iter().chain(random).filter(|_| is_fit);
    orders.find_map(|order| run(model, goal, order))
}

/// Whether a run of chosen steps would have to look at all steps to know the value.
fn asks_for_deadlock(atom: &Expr) -> bool {
    let mut asks = false;
    atom.walk(&mut |part| asks |= matches!(part, Expr::Deadlock));
    asks
}

fn run(model: &Model<'_>, goal: &mut Goal, mut order: Order) -> Option<Vec<Firing>> {
    let mut stepper = Stepper::new(model, None, Stored::default());
    stepper.go_to(&model.compiled.initial());
    let mut firings = Vec::new();
    let mut last_thread = 0;
    // The state after the best step.
    let mut chosen: State = model.compiled.initial();
    for _ in 0..MAX_STEPS {
        if let Goal::Invariant(condition, atoms, _) = goal
            && !condition.holds(atoms.letter(model.compiled, stepper.current(), false))
        {
            return Some(firings);
        }
        let stays = match &mut order {
            Order::Lowest | Order::Highest => true,
            Order::Random(rng) => !rng.chance(10),
        };
        let mut found = None;
        let mut best: Option<(u64, Firing)> = None;
        let walked = stepper.for_each(|step, next, _| {
            if matches!(goal, Goal::NeverFires(fires) if step.transitions().any(|transition| fires[transition])) {
                found = step.firing();
                return ControlFlow::Break(());
            }
            if step.outcome == Outcome::Pruned {
                return ControlFlow::Continue(());
            }
            let thread = u64::from(step.thread);
            let ends = model.net.transitions[step.transition].action.effect() == Effect::EndProcess;
            let rank = match &mut order {
                // The end of the process is for when nobody else has anything to do.
                _ if ends => 0,
                _ if stays && step.thread == last_thread => u64::MAX,
                Order::Lowest => u64::MAX - 1 - thread,
                Order::Highest => 1 + thread,
                Order::Random(rng) => 1 + (rng.next_u64() >> 1),
            };
            // Of several values of an input one is taken by chance, or the first.
            let is_better = match (&best, &mut order) {
                (None, _) => true,
                (Some((best, _)), Order::Random(rng)) if *best == rank => rng.chance(50),
                (Some((best, _)), _) => *best < rank,
            };
            if is_better && let Some(firing) = step.firing() {
                chosen.copy_from(next);
                best = Some((rank, firing));
            }
            ControlFlow::Continue(())
        });
        if let Some(last) = found {
            firings.push(last);
            return Some(firings);
        }
        let (Ok(()), Some((_, firing))) = (walked, best) else { return None };
        last_thread = u32::try_from(firing.thread()).unwrap_or(0);
        firings.push(firing);
        stepper.go_to(&chosen);
    }
    None
}
