//! Searches that are cut off and gone on with, against the reference.

use pdnet_base::Rng;
use pdnet_check::Engine;
use pdnet_explicit::{Crew, Explicit, Order};
use pdnet_testkit::{Resumed, check_engine};

const N_CASES: usize = 50;

/// So many workers, who begin as soon as there is something to share.
const fn crew(workers: usize) -> Crew {
    Crew { workers, from_states: 2 }
}

fn resumed(first: Explicit, second: Explicit, same_states: bool) -> Box<dyn Engine> {
    Box::new(Resumed { first, second, same_states })
}

#[test]
fn searches_that_were_cut_off_agree_with_the_reference() {
    let seed = Rng::test_seed(3);
    let all = Explicit::default();
    let (plain, two) = (Explicit::PLAIN, Explicit { crew: crew(2), ..Explicit::PLAIN });
    let deep = Explicit { order: Order::Depth, ..plain };
    let engines = [
        resumed(plain, plain, true),
        resumed(all, all, true),
        resumed(Explicit { stubborn: false, ..all }, Explicit { stubborn: false, ..all }, true),
        resumed(two, Explicit { crew: crew(3), ..plain }, false),
        resumed(two, plain, false),
        resumed(plain, two, false),
        resumed(Explicit { crew: crew(3), ..all }, Explicit { crew: crew(2), ..all }, false),
        resumed(deep, deep, true),
        resumed(Explicit { order: Order::Depth, ..all }, Explicit { order: Order::Depth, ..all }, true),
    ];
    for engine in engines {
        check_engine(&*engine, false, N_CASES, seed);
    }
}
