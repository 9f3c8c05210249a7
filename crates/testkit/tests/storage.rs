//! The order of a search and the way in which it keeps states, against the search breadth first that keeps all of them.

use pdnet_base::Rng;
use pdnet_check::{Engine, Fairness, Limits, Property, Request, Silent, StopReason, Verdict, replay};
use pdnet_explicit::{Explicit, Order, Storage};
use pdnet_net::Net;
use pdnet_testkit::{NetConfig, random_net};

const N_NETS: usize = 400;

fn properties(net: &Net) -> Vec<Property> {
    vec![Property::assertions(net), Property::no_deadlock(), Property::no_race()]
}

/// A letter for each verdict. Every violation is replayed.
fn verdicts(engine: &Explicit, net: &Net) -> (String, u64) {
    let properties = properties(net);
    let request =
        Request { net, properties: &properties, fairness: Fairness::None, limits: Limits::default() };
    let outcomes = engine.check(&request, &mut Silent);
    let letters = outcomes.iter().zip(&properties).map(|(outcome, property)| match &outcome.verdict {
        Verdict::Holds => 'h',
        Verdict::Violated(trace) => {
            if let Err(error) = replay(net, property, Fairness::None, trace) {
                panic!("{error}: {trace:?}, {engine:?}\n{net}");
            }
            'v'
        }
        Verdict::Unknown(StopReason::Omissions { .. }) => 'o',
        Verdict::Unknown(_) => 'u',
    });
    (letters.collect(), outcomes[0].stats.states)
}

#[test]
fn order_and_storage_change_no_violation() {
    let seed = Rng::test_seed(11);
    let mut rng = Rng::new(seed);
    let (mut n_violated, mut n_open) = (0, 0);
    for case in 0..N_NETS {
        let net = random_net(&mut rng, &NetConfig::default());
        for base in [Explicit::PLAIN, Explicit { through_sections: false, ..Explicit::default() }] {
            let (wanted, n_wanted) = verdicts(&base, &net);
            let depth = Explicit { order: Order::Depth, ..base };
            let context = format!("seed {seed}, case {case}, {base:?}\n{net}");
            let (found, n_found) = verdicts(&depth, &net);
            assert_eq!(found, wanted, "{context}");
            // A search that ends early has seen what it has seen, and a reduction leaves out what its order allows.
            if !wanted.contains('v') && !base.stubborn {
                assert_eq!(n_found, n_wanted, "{context}");
            }
            // So many bits, or so long hashes, that none of these small nets loses a state.
            for storage in [Storage::HashCompact, Storage::Bitstate] {
                let (found, _) = verdicts(&Explicit { storage, ..base }, &net);
                assert_eq!(found, wanted.replace('h', "o"), "{storage:?}, {context}");
            }
            n_violated += wanted.matches('v').count();
            n_open += wanted.matches('h').count();
        }
    }
    assert!(n_violated > N_NETS / 4 && n_open > N_NETS / 4, "{n_violated} violated, {n_open} hold");
}
