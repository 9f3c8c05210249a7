//! Stubborn sets that are guided by the state of the automaton, on random nets with many formulas, against the reference.
//!
//! `PDNET_SEED=7 PDNET_NETS=20000 cargo test -p pdnet-testkit --test guided` tries other nets, and more.

use pdnet_base::Rng;
use pdnet_check::{Engine as _, Fairness};
use pdnet_explicit::{Crew, Explicit};
use pdnet_testkit::{ConformanceConfig, ConformanceReport, check_case};

const N_NETS: usize = 600;

/// The states that the engine visits, by its own account.
fn visited(engine: Explicit, n_nets: usize, seed: u64) -> u64 {
    let config = ConformanceConfig {
        n_formulas: 8,
        fairness: vec![Fairness::None],
        shortest: false,
        ..ConformanceConfig::default()
    };
    let mut rng = Rng::new(seed);
    let mut report = ConformanceReport::default();
    for case in 0..n_nets {
        let case_seed = rng.next_u64();
        if let Err(found) = check_case(&engine, &config, case_seed, &mut report) {
            panic!("{}, seed {seed}, case {case}, case seed {case_seed}: {found}", engine.name());
        }
    }
    let all = report.holds + report.violated + report.unknown;
    assert!(report.holds * 5 > all && report.violated * 5 > all, "seed {seed}: {report}");
    report.visited
}

#[test]
fn guided_searches_agree_with_the_reference() {
    let seed = Rng::test_seed(1);
    let n_nets = Rng::test_number("PDNET_NETS").unwrap_or(N_NETS);
    let stubborn = Explicit { stubborn: true, ..Explicit::PLAIN };
    let [two, three] = [2, 3].map(|workers| Crew { workers, from_states: 2 });
    let engines = [
        stubborn,
        Explicit { guided: true, ..stubborn },
        Explicit { guided: true, crew: two, ..stubborn },
        Explicit { guided: true, through_sections: true, ..stubborn },
        Explicit { guided: true, crew: three, ..stubborn },
    ];
    let counts = engines.map(|engine| visited(engine, n_nets, seed));
    assert!(counts[1] < counts[0], "seed {seed}: {counts:?} states");
}
