//! Structs, unions, pointers, the heap: random sequential programs end with the checksum with which the compiled
//! program ends. `PDNET_SEED=7 PDNET_PROGRAMS=5000 cargo test -p pdnet-testkit --test memory` tries others, and more.

use pdnet_base::Rng;
use pdnet_check::{Engine as _, Fairness, Limits, Property, Request, Silent, StopReason, Verdict};
use pdnet_explicit::Explicit;
use pdnet_front_c::{LowerOptions, Options, load_preprocessed, lower};
use pdnet_net::{Action, Interpreter, Net, Successor, verify_net};
use pdnet_source::{ColorChoice, SourceMap, render};
use pdnet_testkit::{Compiler, RandomMemory, random_memory};

/// How many programs in each half.
const N_PROGRAMS: usize = 60;

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_PROGRAMS)
}

fn lowered(text: &str, arbitrary_memory: bool) -> Result<Net, String> {
    let mut map = SourceMap::new();
    let file = map.add("memory.i", text);
    let show = |map: &SourceMap, found: &[pdnet_source::Diagnostic]| -> String {
        found.iter().take(2).map(|diagnostic| render(map, diagnostic, ColorChoice::Plain)).collect()
    };
    let loaded =
        load_preprocessed(&mut map, file, &Options::default()).map_err(|found| show(&map, &found))?;
    let options = LowerOptions { max_threads: 1, max_depth: 8, arbitrary_memory, ..LowerOptions::default() };
    let net = lower(&map, &loaded.program, &[], &options).map_err(|found| show(&map, &found))?.net;
    let violations = verify_net(&net);
    if violations.is_empty() { Ok(net) } else { Err(format!("{violations:?}")) }
}

/// What one run by the reference interpreter comes to; an allocation after a `free` has a choice.
fn run(net: &Net, rng: &mut Rng) -> Result<(), String> {
    let interpreter = Interpreter::new(net);
    let mut marking = interpreter.initial();
    loop {
        let enabled = interpreter.enabled(&marking);
        if enabled.is_empty() {
            return if interpreter.ended(&marking) { Ok(()) } else { Err("the run is stuck".to_owned()) };
        }
        let firing = rng.pick(&enabled);
        let data = &net.transitions[firing.transition];
        if matches!(data.action, Action::AssertFail | Action::Fault(_) | Action::Bound(_)) {
            return Err(format!("{}: {} at {:?}", data.action.name(), data.label, data.pos));
        }
        match interpreter.fire(&marking, firing) {
            Successor::Marking(next) => marking = next,
            Successor::Pruned => return Err("the run is not followed".to_owned()),
        }
    }
}

fn verdict(net: &Net) -> Verdict {
    let properties = [Property::assertions(net)];
    let limits = Limits::default();
    let request = Request { net, properties: &properties, fairness: Fairness::None, limits };
    Explicit::default().check(&request, &mut Silent).remove(0).verdict
}

/// What is wrong with a program whose checksum should be this one.
fn wrong(program: &RandomMemory, expected: u64, rng: &mut Rng) -> Result<(), String> {
    let text = program.asserting(expected, true);
    let mut net = lowered(&text, false)?;
    let mut found = verdict(&net);
    // Who reads what was never written needs the net in which it has arbitrary values; for others it is the same.
    let needs_unset =
        matches!(&found, Verdict::Unknown(StopReason::Undefined { fault, .. }) if fault.needs_unset());
    let arbitrary_memory = needs_unset || rng.chance(20);
    if arbitrary_memory {
        net = lowered(&text, true)?;
        found = verdict(&net);
    }
    if rng.chance(15) {
        run(&net, rng)?;
    }
    match found {
        Verdict::Holds => {}
        // An arbitrary value may be a sample only. Nothing fails for any that is tried.
        Verdict::Unknown(StopReason::Sampled { .. }) if needs_unset => run(&net, rng)?,
        other => {
            run(&net, rng)?;
            return Err(format!("{other:?}").chars().take(300).collect());
        }
    }
    if rng.chance(10) {
        let net = lowered(&program.asserting(expected, false), arbitrary_memory)?;
        if !matches!(verdict(&net), Verdict::Violated(_)) {
            return Err("no run fails, although all should".to_owned());
        }
    }
    Ok(())
}

fn compare(seed: u64) {
    let Some(compiler) = Compiler::find() else { return };
    let mut rng = Rng::new(seed);
    let mut left = n_programs();
    let (mut failures, mut n_programs) = (Vec::new(), 0);
    while left > 0 {
        let n = left.min(100);
        left -= n;
        let mut program = || {
            let n_statements = 3 + rng.below(10);
            random_memory(&mut rng, n_statements)
        };
        let programs: Vec<RandomMemory> = (0..n).map(|_| program()).collect();
        let text = RandomMemory::batch(&programs);
        let options = ["-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"];
        let printed = compiler.run(&text, &options).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let expected: Vec<u64> = printed.lines().map(|line| line.parse().expect("a number")).collect();
        assert_eq!(expected.len(), n);
        for (program, expected) in programs.iter().zip(expected) {
            n_programs += 1;
            if let Err(what) = wrong(program, expected, &mut rng) {
                let text = program.asserting(expected, true);
                failures.push(format!("program {n_programs}: {what}\n{text}"));
            }
        }
    }
    let n_failures = failures.len();
    assert!(failures.is_empty(), "seed {seed}: {n_failures} of {n_programs}\n{}", failures.join("\n"));
}

/// In two halves, so that both cores have work.
#[test]
fn memory_is_what_the_compiler_makes_of_it() {
    compare(Rng::test_seed(1));
}

#[test]
fn more_memory_is_what_the_compiler_makes_of_it() {
    compare(Rng::test_seed(1).wrapping_add(1_000_000));
}
