//! All engines against the reference, on the same random nets.
//!
//! A new engine is one line in [`engines`]. `PDNET_SEED=7 PDNET_NETS=20000 cargo test -p pdnet-testkit --test conformance` tries
//! other nets, and more.

use pdnet_base::Rng;
use pdnet_check::Engine;
use pdnet_explicit::{Crew, Explicit, Jit, Order};
use pdnet_testkit::{Reference, check_engines};

/// The engines under test, and whether their runs to assertions and deadlocks are shortest. The reference is
/// among them so that the suite itself is tested.
fn engines() -> Vec<(Box<dyn Engine + Sync>, bool)> {
    vec![
        (Box::new(Reference { limit: 100_000 }), true),
        (Box::new(Explicit::PLAIN), true),
        (Box::new(Explicit { stubborn: true, ..Explicit::PLAIN }), false),
        (Box::new(Explicit { forget: true, ..Explicit::PLAIN }), true),
        (Box::new(Explicit { stubborn: true, forget: true, ..Explicit::PLAIN }), false),
        (Box::new(Explicit { through_sections: true, ..Explicit::PLAIN }), false),
        (Box::new(Explicit { forget: true, through_sections: true, ..Explicit::PLAIN }), false),
        (Box::new(Explicit { symmetry: true, ..Explicit::PLAIN }), true),
        (Box::new(Explicit { through_sections: true, ..Explicit::default() }), false),
        (Box::new(Explicit { order: Order::Depth, ..Explicit::PLAIN }), false),
        (Box::new(Explicit { order: Order::Depth, ..Explicit::default() }), false),
        (Box::new(Explicit { crew: crew(2), ..Explicit::PLAIN }), false),
        (Box::new(Explicit { crew: crew(4), ..Explicit::default() }), false),
        (Box::new(Explicit { stubborn: false, crew: crew(3), ..Explicit::default() }), false),
        (Box::new(Explicit { jit: Jit::On, ..Explicit::PLAIN }), true),
        (Box::new(Explicit { jit: Jit::On, crew: crew(2), ..Explicit::default() }), false),
        (Box::new(Explicit { symmetry: true, most_unrolled: 0, ..Explicit::PLAIN }), true),
        (Box::new(Explicit { symmetry: true, crew: crew(3), ..Explicit::PLAIN }), false),
    ]
}

/// So many workers, who begin as soon as there is something to share.
const fn crew(workers: usize) -> Crew {
    Crew { workers, from_states: 2 }
}

const N_NETS: usize = 1000;

#[test]
fn engines_agree_with_the_reference() {
    let seed = Rng::test_seed(1);
    let n_nets = Rng::test_number("PDNET_NETS").unwrap_or(N_NETS);
    let engines = engines();
    let reports = check_engines(&engines, n_nets, seed);
    let mut visited = Vec::new();
    for ((engine, _), report) in engines.iter().zip(&reports) {
        // A suite in which nearly all verdicts are the same would find little.
        let all = report.holds + report.violated + report.unknown;
        let name = engine.name();
        assert!(report.too_large * 10 < n_nets, "{name}, seed {seed}: {report}");
        let few = report.races.min(report.partial_deadlocks);
        let many = report.races.max(report.partial_deadlocks);
        assert!(few * 30 > report.nets && many * 2 < report.nets, "{name}, seed {seed}: {report}");
        assert!(report.holds * 5 > all && report.violated * 5 > all, "{name}, seed {seed}: {report}");
        visited.push(report.visited);
    }
    // Nor would a comparison of a reduction that never does anything. (States before accesses that may race are
    // kept, and races are looked for in the same search.)
    assert!(visited[2] * 5 < visited[1] * 4, "seed {seed}: {visited:?} states");
    assert!(visited[7] < visited[1] && visited[8] < visited[4], "seed {seed}: {visited:?} states");
    assert!(visited[3] < visited[1] && visited[4] < visited[2], "seed {seed}: {visited:?} states");
}
