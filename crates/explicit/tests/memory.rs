//! A limit of memory is kept: by what the process really takes, not only by what the search has counted.
//!
//! Each search is measured in a process of its own, which is this test again with the name of the search in the environment.

#![cfg(target_os = "linux")]

use std::process::Command;

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Control, Engine, Fairness, Limits, Observer, Progress, Property, PropertyKind, Request,
    StopReason, Verdict,
};
use pdnet_explicit::{Crew, Explicit, Preemptions};
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{Expr, Net, Place};

#[path = "../../space/tests/nets/mod.rs"]
mod nets;

use nets::{Program, constant};

const LIMIT: usize = 40 << 20;

const VARIABLE: &str = "PDNET_MEMORY_SEARCH";

/// What the system says of the memory of the process: a line of its status, in bytes.
fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// The most that the process has taken so far.
fn most_resident() -> usize {
    memory("VmHWM:")
}

/// Tells the search how much memory the process has, as the command does.
struct Measured;

impl Observer for Measured {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn resident_bytes(&mut self) -> Option<u64> {
        Some(memory("VmRSS:") as u64)
    }
}

/// Two threads that count without end. With `apart`, each counts in a place of its own in the state, so that states have few
/// different parts; without, every state has a part of its own.
fn counting(apart: bool) -> (Net, Place) {
    let mut p = Program::new(2, 1);
    let (main, worker) = (p.function("main"), p.function("worker"));
    let x = p.global("x", 0);
    if apart {
        for at in 0..40 {
            p.global(&format!("between{at}"), 0);
        }
    }
    let y = p.global("y", 0);
    p.main_with_workers(main, worker, 1);
    for (function, counter) in [(main, x), (worker, y)] {
        let entry = p.entry(function);
        p.update(entry, entry, counter, |counter| nets::add(counter, constant(1)));
    }
    (p.net, x)
}

#[test]
fn the_process_takes_no_more_than_the_limit_and_a_tenth() {
    let (apart, x) = counting(true);
    let (together, y) = counting(false);
    let finally = |cell: Place| PropertyKind::Ltl {
        formula: Ltl::globally(Ltl::finally(Ltl::atom(Atom::new(0)))),
        atoms: vec![AtomData {
            text: "never".to_owned(),
            expr: Expr::equal(Expr::Cell(cell, vec![]), constant(-7)),
        }],
    };
    // The violation is a cycle, and there is none before the counters wrap.
    let never = || PropertyKind::NeverFires(vec![]);
    let (alone, two) = (Explicit::PLAIN, Explicit { crew: Crew::of(2), ..Explicit::PLAIN });
    let bounded = Preemptions { bound: 1000, forget: false };
    let searches: [(&str, &dyn Engine, &Net, PropertyKind, Fairness); 8] = [
        ("one worker", &alone, &apart, never(), Fairness::None),
        ("two workers", &two, &apart, never(), Fairness::None),
        ("many parts", &alone, &together, never(), Fairness::None),
        ("many parts and two workers", &two, &together, never(), Fairness::None),
        ("a formula", &alone, &apart, finally(x), Fairness::None),
        ("a formula under fairness", &alone, &together, finally(y), Fairness::Strong),
        ("partial deadlocks", &alone, &apart, PropertyKind::NoPartialDeadlock, Fairness::None),
        ("few preemptions", &bounded, &apart, never(), Fairness::None),
    ];
    let chosen = std::env::var(VARIABLE).ok();
    let before = most_resident();
    let mut is_done = false;
    for (name, engine, net, kind, fairness) in searches {
        if chosen.is_none() {
            let output = Command::new(std::env::current_exe().unwrap()).env(VARIABLE, name).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
            continue;
        }
        if chosen.as_deref() != Some(name) {
            continue;
        }
        let properties =
            [Property { name: "p".to_owned(), text: "p".to_owned(), class: "unreach-call", kind }];
        let limits = Limits { memory: Some(LIMIT as u64), ..Limits::default() };
        let request = Request { net, properties: &properties, fairness, limits };
        let outcome = engine.check(&request, &mut Measured).remove(0);
        let taken = most_resident() - before;
        let (verdict, stats) = (&outcome.verdict, &outcome.stats);
        assert!(matches!(verdict, Verdict::Unknown(StopReason::Memory { .. })), "{verdict:?}");
        // A search that gives up long before would keep every limit.
        assert!(stats.peak_memory_bytes as usize * 2 > LIMIT, "{stats:?}");
        assert!(taken <= LIMIT / 10 * 11, "{taken} bytes, {stats:?}");
        is_done = true;
    }
    assert!(is_done || chosen.is_none(), "there is no search {chosen:?}");
}
