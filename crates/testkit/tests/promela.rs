//! Models for SPIN: what SPIN says of the exported net of a random program is what pdnet says of the program.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=300 cargo test -p pdnet-testkit --test promela` tries others, and more. Each program
//! costs two or three runs of the C compiler.

#[expect(dead_code, reason = "the tests of slicing need more")]
mod sliced;

use pdnet_base::Rng;
use pdnet_check::{Fairness, Property};
use pdnet_front_c::LowerOptions;
use pdnet_net::{Effect, Firing, Interpreter, Net, most_threads};
use pdnet_reduce::{Method, slice};
use pdnet_report::{PromelaExport, promela};
use pdnet_testkit::{
    ProgramConfig, ReachableGraph, Spin, SpinRun, random_c_formula, random_c_program, random_sliceable,
    random_sliceable_formula, random_threads, random_threads_formula,
};
use sliced::{Ask, Class, PLAIN, answers, asked, class_of};

const N_PROGRAMS: usize = 6;
/// Programs with more markings are passed over.
const LIMIT: usize = 3000;

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_PROGRAMS)
}

/// A program of one of the generators, and a formula about it.
fn random_program(rng: &mut Rng) -> (String, String) {
    match rng.below(3) {
        0 => {
            let program = random_c_program(rng, &ProgramConfig::default());
            let formula = random_c_formula(rng, &program);
            (program.without_headers(), formula)
        }
        1 => {
            let program = random_sliceable(rng);
            let formula = random_sliceable_formula(rng, &program);
            (program.text, formula)
        }
        _ => {
            let program = random_threads(rng);
            let formula = random_threads_formula(rng, &program);
            let plain = program.plain();
            let (_, text) = plain.split_once('\n').expect("the declarations are one line");
            (format!("int pthread_cond_init(pthread_cond_t *, const void *);\n{text}"), formula)
        }
    }
}

/// The model, or why there is none.
fn model_of(net: &Net, whole: &Net, properties: &[Property]) -> Result<String, String> {
    let n_threads = [net, whole].into_iter().filter_map(most_threads).fold(net.max_threads, u32::min);
    let export =
        PromelaExport { version: "test", input: "random.c", net, slicing: "some", properties, n_threads };
    match promela(&export) {
        Ok(model) => Ok(model.text),
        Err(found) => Err(found.first().map_or_else(String::new, |found| found.message.clone())),
    }
}

/// What came of the comparisons.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    compared: usize,
    refused: usize,
    large: usize,
    sliced: usize,
    violated: usize,
    holds: usize,
    unknown: usize,
    /// Violations by a prefix after which nothing is known: SPIN does not count such runs.
    cut: usize,
    /// Models whose states were counted.
    counted: usize,
}

/// Compares the verdicts on one property.
fn compare(
    name: &str,
    class: Class,
    found: &SpinRun,
    is_open: bool,
    tally: &mut Tally,
) -> Result<(), String> {
    let differs =
        || Err(format!("{name}: pdnet says {class:?}, SPIN {} errors\n{}", found.errors, found.output));
    match (class, found.errors > 0) {
        (Class::Violated, true) => tally.violated += 1,
        (Class::Holds, false) => tally.holds += 1,
        (Class::Unknown, false) if is_open => tally.unknown += 1,
        (Class::Violated, false) if name == "ltl" && is_open => tally.cut += 1,
        _ => return differs(),
    }
    Ok(())
}

fn compare_program(spin: &Spin, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let (program, formula) = random_program(rng);
    let check = rng.pick(&[Ask::Assert, Ask::Assert, Ask::Memory, Ask::Locks]).clone();
    let is_sliced = rng.chance(50);
    let is_counted = rng.chance(40);
    let context = |why: String| format!("{why}\n{formula}\n{program}");
    let options = LowerOptions {
        max_threads: 4,
        max_depth: 4,
        spurious_wakeups: rng.chance(15),
        ..LowerOptions::default()
    };
    let mut questions = vec![check, Ask::Deadlock];
    // SPIN has no such atom.
    if !formula.contains("deadlock") {
        questions.push(Ask::Ltl(formula.clone()));
    }
    let (net, properties) = asked(&program, &questions, &options).map_err(context)?;
    let Some(graph) = ReachableGraph::build(&net, LIMIT) else {
        tally.large += 1;
        return Ok(());
    };
    let outcomes = answers(PLAIN, &net, &properties, Fairness::None, 1_000_000);
    let classes: Vec<Class> = outcomes.iter().map(|outcome| class_of(&outcome.verdict)).collect();
    let made = slice(&net, &properties, Fairness::None, Method::OnDemand);
    let exported = if is_sliced {
        model_of(&made.net, &net, &made.properties)
    } else {
        model_of(&net, &net, &properties)
    };
    let text = match exported {
        Ok(text) => text,
        Err(why) => {
            // What is refused must be for a reason that is known.
            let is_known = why.contains("32 bits") || why.contains("listed") || why.contains("floating");
            tally.refused += 1;
            return if is_known { Ok(()) } else { Err(context(why)) };
        }
    };
    let context = |why: String| format!("{why}\n{formula}\n{program}\n{text}");
    let options = ["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=8192"];
    let safety = spin.verify(&text, &[], &options, &[&["-E"], &["-A"]]);
    let safety = safety.map_err(|error| context(error.to_string()))?;
    let has_open = text.contains("ltl all_followed");
    let has_formula = questions.len() > 2;
    let mut runs: Vec<&[&str]> = Vec::new();
    if has_formula {
        runs.push(&["-a", "-N", "p_ltl"]);
    }
    if has_open {
        runs.push(&["-a", "-N", "all_followed"]);
    }
    let claims = match runs.is_empty() {
        true => Vec::new(),
        false => spin
            .verify(&text, &["-DONLY_LTL"], &["-DNOREDUCE", "-DVECTORSZ=8192"], &runs)
            .map_err(|error| context(error.to_string()))?,
    };
    let is_open =
        has_open && claims.last().is_some_and(|run| run.errors > 0) || text.contains("Not all values");
    compare("check", classes[0], &safety[0], is_open, tally).map_err(context)?;
    compare("deadlock", classes[1], &safety[1], is_open, tally).map_err(context)?;
    if has_formula {
        compare("ltl", classes[2], &claims[0], is_open, tally).map_err(context)?;
    }
    tally.compared += 1;
    tally.sliced += usize::from(is_sliced);
    if is_counted && !is_sliced {
        count_states(spin, &net, &graph, tally).map_err(context)?;
    }
    Ok(())
}

/// Every marking is a state of the model, and every state a marking.
fn count_states(spin: &Spin, net: &Net, graph: &ReachableGraph<'_>, tally: &mut Tally) -> Result<(), String> {
    let text = model_of(net, net, &[])?;
    // A run that is stopped has a state more, which is no marking.
    let interpreter = Interpreter::new(net);
    let is_cut = |firing: &Firing| net.transitions[firing.transition].action.effect() == Effect::Prune;
    let is_stopped = |number: usize| interpreter.enabled(graph.marking(number)).iter().any(is_cut);
    if (0..graph.n_markings()).any(is_stopped) {
        return Ok(());
    }
    let options = ["-DSAFETY", "-DNOREDUCE", "-DVECTORSZ=8192"];
    // Variables that are only written are part of the state here as there.
    let found = spin.verify(&text, &["-o2"], &options, &[&[]]).map_err(|error| error.to_string())?;
    let n_markings = graph.n_markings() as u64;
    if found[0].states != n_markings {
        return Err(format!(
            "{n_markings} markings, {} states\n{}\n{text}",
            found[0].states, found[0].output
        ));
    }
    tally.counted += 1;
    Ok(())
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of a run by hand")]
fn spin_agrees_on_exported_programs() {
    let Some(spin) = Spin::find() else { return };
    let seed = Rng::test_seed(1);
    let mut tally = Tally::default();
    for number in 0..n_programs() as u64 {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number));
        if let Err(why) = compare_program(&spin, &mut rng, &mut tally) {
            panic!("PDNET_SEED={seed}, program {number}: {why}");
        }
    }
    println!("{tally:?}");
    assert!(tally.compared * 2 > n_programs(), "seed {seed}: {tally:?}");
    assert!(tally.violated > 0 && tally.holds > 0, "seed {seed}: {tally:?}");
}
