//! All engines against the reference, on the same random nets.
//!
//! A new engine is one line in [`engines`].

use pdnet_base::Rng;
use pdnet_check::Engine;
use pdnet_explicit::Explicit;
use pdnet_testkit::{Reference, check_engine};

/// The engines under test, and whether their runs to assertions and deadlocks are shortest. The reference is
/// among them so that the suite itself is tested.
fn engines() -> Vec<(Box<dyn Engine>, bool)> {
    vec![
        (Box::new(Reference { limit: 100_000 }), true),
        (Box::new(Explicit { stubborn: false, forget: false, through_sections: false }), true),
        (Box::new(Explicit { stubborn: true, forget: false, through_sections: false }), false),
        (Box::new(Explicit { stubborn: false, forget: true, through_sections: false }), true),
        (Box::new(Explicit { stubborn: true, forget: true, through_sections: false }), false),
        (Box::new(Explicit { stubborn: false, forget: false, through_sections: true }), false),
        (Box::new(Explicit { stubborn: false, forget: true, through_sections: true }), false),
    ]
}

const N_CASES: usize = 1000;

#[test]
fn engines_agree_with_the_reference() {
    let seed = Rng::test_seed(1);
    let mut visited = Vec::new();
    for (engine, shortest) in engines() {
        let report = check_engine(&*engine, shortest, N_CASES, seed);
        // A suite in which nearly all verdicts are the same would find little.
        let all = report.holds + report.violated + report.unknown;
        let name = engine.name();
        assert!(report.too_large * 10 < N_CASES, "{name}, seed {seed}: {report}");
        let few = report.races.min(report.partial_deadlocks);
        let many = report.races.max(report.partial_deadlocks);
        assert!(few * 30 > report.nets && many * 2 < report.nets, "{name}, seed {seed}: {report}");
        assert!(report.holds * 5 > all && report.violated * 5 > all, "{name}, seed {seed}: {report}");
        visited.push(report.visited);
    }
    // Nor would a comparison of a reduction that never does anything. (States before accesses that may race are
    // kept, and races are looked for in the same search.)
    assert!(visited[2] * 5 < visited[1] * 4, "seed {seed}: {visited:?} states");
    assert!(visited[3] < visited[1] && visited[4] < visited[2], "seed {seed}: {visited:?} states");
}
