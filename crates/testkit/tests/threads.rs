//! Threads that share structs, heap blocks and locks through pointers: the engine against the reference on random
//! programs, and runs that fail an assertion forced upon the compiled program.
//! `PDNET_SEED=7 PDNET_PROGRAMS=50000 cargo test -p pdnet-testkit --test threads` tries others, and more.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Property, PropertyKind, Request, Silent, Trace, Verdict,
};
use pdnet_explicit::Explicit;
use pdnet_front_c::{LowerOptions, Lowered, Options, load_preprocessed, lower};
use pdnet_logic::{Formula, parse_formula};
use pdnet_net::{Net, verify_net};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use pdnet_testkit::{
    Compiler, RandomThreads, ReachableGraph, compare, random_threads, random_threads_formula,
};

/// In each of two tests.
const N_PROGRAMS: usize = 2500;
/// Programs with more markings are passed over; most have fewer.
const LIMIT: usize = 800;
/// How many violations are watched in the compiled program.
const N_FORCED: usize = 20;

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_PROGRAMS)
}

fn lowered(program: &RandomThreads, formulas: &[String]) -> Result<(Lowered, Vec<Formula>), String> {
    let mut map = SourceMap::new();
    let file = map.add("threads.i", program.plain());
    let show = |map: &SourceMap, found: &[Diagnostic]| -> String {
        found.iter().map(|found| render(map, found, ColorChoice::Plain)).collect()
    };
    let loaded =
        load_preprocessed(&mut map, file, &Options::default()).map_err(|found| show(&map, &found))?;
    let mut parsed = Vec::new();
    for text in formulas {
        let file = map.add("<ltl>", text.as_str());
        parsed.push(parse_formula(&map, file).map_err(|found| show(&map, &[found]))?);
    }
    let options = LowerOptions { max_threads: 4, max_depth: 4, ..LowerOptions::default() };
    let lowered = lower(&map, &loaded.program, &parsed, &options).map_err(|found| show(&map, &found))?;
    let violations = verify_net(&lowered.net);
    if violations.is_empty() { Ok((lowered, parsed)) } else { Err(format!("{violations:?}")) }
}

/// In two halves, so that both cores have work.
#[test]
fn threads_get_the_verdicts_of_the_reference() {
    compare_programs(Rng::test_seed(1));
}

#[test]
fn more_threads_get_the_verdicts_of_the_reference() {
    compare_programs(Rng::test_seed(1).wrapping_add(1_000_000));
}

fn compare_programs(seed: u64) {
    let (mut n_compared, mut n_large, mut n_violated, mut n_holds) = (0, 0, 0, 0);
    let mut rng = Rng::new(seed);
    for number in 0..n_programs() {
        let program = random_threads(&mut rng);
        let formulas = [random_threads_formula(&mut rng, &program)];
        let context = || format!("seed {seed}, program {number}: {formulas:?}\n{}", program.plain());
        let (lowered, parsed) =
            lowered(&program, &formulas).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        let Some(graph) = ReachableGraph::build(&lowered.net, LIMIT) else {
            n_large += 1;
            continue;
        };
        let mut properties =
            vec![Property::assertions(&lowered.net), Property::no_deadlock(), Property::memory(&lowered.net)];
        for (formula, exprs) in parsed.iter().zip(&lowered.atoms) {
            let named = |(idx, expr): (usize, &pdnet_net::Expr)| AtomData {
                text: formula.atoms[pdnet_logic::Atom::new(idx)].to_string(),
                expr: expr.clone(),
            };
            let atoms = exprs.iter().enumerate().map(named).collect();
            let kind = PropertyKind::Ltl { formula: formula.ltl.clone(), atoms };
            let text = formula.to_string();
            properties.push(Property { name: "ltl".into(), text, class: "valid-ltl", kind });
        }
        let fairness = *rng.pick(&[Fairness::None, Fairness::Weak, Fairness::Strong]);
        // Runs are shortest without the reduction only.
        compare(&Explicit::PLAIN, &graph, &properties, fairness, true)
            .unwrap_or_else(|found| panic!("{}\n{found}", context()));
        let report = compare(&Explicit::default(), &graph, &properties, fairness, false)
            .unwrap_or_else(|found| panic!("{}\n{found}", context()));
        assert_eq!(report.unknown, 0, "{}", context());
        n_compared += 1;
        n_violated += report.violated;
        n_holds += report.holds;
    }
    let summary = format!("{n_compared} compared, {n_large} large, {n_violated} violated, {n_holds} hold");
    assert!(n_compared * 4 >= n_programs() * 3, "seed {seed}: {summary}");
    assert!(n_violated * 8 > n_compared && n_holds * 8 > n_compared, "seed {seed}: {summary}");
}

/// A run to a failed assertion.
fn failing_run(net: &Net) -> Option<Trace> {
    let properties = [Property::assertions(net)];
    let limits = Limits { states: Some(200_000), ..Limits::default() };
    let request = Request { net, properties: &properties, fairness: Fairness::None, limits };
    match Explicit::default().check(&request, &mut Silent).remove(0).verdict {
        Verdict::Violated(trace) => Some(trace),
        Verdict::Holds | Verdict::Unknown(_) => None,
    }
}

/// The order in which threads come to the lines that can be forced.
fn schedule(program: &RandomThreads, net: &Net, trace: &Trace) -> Vec<(i64, u32)> {
    let mut at: Vec<(i64, u32)> = Vec::new();
    let mut order = Vec::new();
    for firing in &trace.prefix {
        let Some(pos) = &net.transitions[firing.transition].pos else { continue };
        let here = (firing.thread(), pos.line);
        // Several steps may belong to one statement.
        if at.contains(&here) {
            continue;
        }
        at.retain(|(thread, _)| *thread != here.0);
        at.push(here);
        if program.is_forced(here.1) {
            order.push(here);
        }
    }
    order
}

#[test]
fn assertions_that_fail_here_fail_in_the_compiled_program() {
    let Some(compiler) = Compiler::find() else { return };
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    let wanted = (n_programs() * N_FORCED / N_PROGRAMS).max(N_FORCED / 4);
    let (mut n_forced, mut n_threaded) = (0, 0);
    for number in 0.. {
        if n_forced >= wanted {
            break;
        }
        let program = random_threads(&mut rng);
        if !program.is_forcible {
            continue;
        }
        let (lowered, _) = lowered(&program, &[]).unwrap_or_else(|error| panic!("{error}"));
        let Some(trace) = failing_run(&lowered.net) else { continue };
        let order = schedule(&program, &lowered.net, &trace);
        // What one thread does alone needs no schedule.
        let is_threaded = order.windows(2).filter(|pair| pair[0].0 != pair[1].0).count() > 1;
        if !is_threaded && rng.chance(95) {
            continue;
        }
        n_threaded += usize::from(is_threaded);
        n_forced += 1;
        let text = program.forced(&order);
        let status = compiler.status(&text, &["-w", "-O0", "-pthread"]);
        let status = status.unwrap_or_else(|error| panic!("seed {seed}, program {number}: {error}\n{text}"));
        assert_eq!(status, Some(77), "seed {seed}, program {number} does not fail:\n{text}");
    }
    assert!(n_threaded * 2 > n_forced, "seed {seed}: {n_threaded} of {n_forced} runs have several threads");
}
