//! The choice of the engine.

use pdnet_check::{Engine, Limits, Observer, StopReason};
use pdnet_explicit::{Crew, Explicit, Jit, Order, Storage};
use pdnet_net::{Net, Transition};
use pdnet_source::Diagnostic;

use crate::args::{JitMode, LimitArgs, SearchOrder, Store};
use crate::reductions::{Reduction, Reductions};

/// The engine that answers.
pub(crate) fn engine(reduce: &Reductions, args: &LimitArgs) -> Box<dyn Engine> {
    let (stubborn, forget) = (reduce.has(Reduction::Stubborn), reduce.has(Reduction::Forget));
    if let Some(bound) = args.preemptions {
        return Box::new(pdnet_explicit::Preemptions { bound, forget, jit: jit(args) });
    }
    let (guided, symmetry) = (reduce.has(Reduction::Guide), reduce.has(Reduction::Symmetry));
    Box::new(Explicit {
        stubborn,
        guided,
        forget,
        symmetry,
        most_unrolled: Explicit::PLAIN.most_unrolled,
        through_sections: true,
        crew: crew(args),
        order: order(args),
        storage: storage(args),
        jit: jit(args),
    })
}

/// Who works on a search.
fn crew(args: &LimitArgs) -> Crew {
    Crew::of(args.threads as usize)
}

/// In which order it goes on.
const fn order(args: &LimitArgs) -> Order {
    match args.search {
        None | Some(SearchOrder::Bfs) => Order::Breadth,
        Some(SearchOrder::Dfs) => Order::Depth,
    }
}

/// How it keeps states.
const fn storage(args: &LimitArgs) -> Storage {
    match args.store {
        Store::Exact => Storage::Exact,
        Store::HashCompact => Storage::HashCompact,
        Store::Bitstate => Storage::Bitstate,
    }
}

/// Whether it makes native code.
const fn jit(args: &LimitArgs) -> Jit {
    match args.jit {
        JitMode::Auto => Jit::Auto,
        JitMode::On => Jit::On,
        JitMode::Off => Jit::Off,
    }
}

/// A warning where native code was asked for and there is none.
pub(crate) fn warning(args: &LimitArgs) -> Option<Diagnostic> {
    let why = match args.jit {
        JitMode::Auto | JitMode::Off => return None,
        JitMode::On => Jit::is_possible().err()?,
    };
    Some(Diagnostic::warning("no-native-code", format!("`--jit on` has no effect: {why}")))
}

/// The transitions that fire in no run of a net.
///
/// Nothing that leaves out steps is used, whatever was chosen for the properties: a step that was left out would be
/// taken for one that never happens.
///
/// # Errors
/// Where not all runs are known.
pub(crate) fn unreached(
    net: &Net,
    args: &LimitArgs,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<Transition>, StopReason> {
    Explicit { stubborn: false, crew: crew(args), jit: jit(args), ..Explicit::default() }
        .unreached(net, limits, observer)
}
