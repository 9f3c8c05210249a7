//! SPIN says the same of a model and of what `atomize` makes of it, and the latter never has more states.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=300 cargo test -p pdnet-front-promela --test atomize_spin -- --nocapture` tries others, and
//! more. Each model costs up to eight runs of the C compiler.

use pdnet_base::Rng;
use pdnet_front_promela::{AtomizeOptions, atomize, load_text, parse_formula};
use pdnet_source::SourceMap;
use pdnet_testkit::{PromelaConfig, Spin, SpinRun, random_promela, random_promela_formula, random_protocol};

const N_MODELS: usize = 4;

fn n_models() -> usize {
    Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_MODELS)
}

/// The model with `atomic` put in, and how many of them.
fn atomized(text: &str, formula: Option<&str>, options: &AtomizeOptions) -> (String, usize) {
    let mut map = SourceMap::new();
    let file = map.add("model.pml", text);
    let mut loaded = load_text(&mut map, file).expect("random models are accepted");
    let block = formula.map(|formula| {
        let formula_file = map.add("formula", formula);
        parse_formula(&map, formula_file, "f", &mut loaded).expect("random formulas are accepted")
    });
    let mut reload = |text: &str| {
        let mut map = SourceMap::new();
        let file = map.add("model.pml", text);
        load_text(&mut map, file).map(|loaded| loaded.model)
    };
    let blocks: Vec<_> = block.iter().collect();
    let made = atomize(&map, file, &loaded, &blocks, options, &mut reload).expect("read again");
    (made.text, made.merged.len())
}

fn run(spin: &Spin, text: &str, options: &[&str], runs: &[&[&str]]) -> Result<Vec<SpinRun>, String> {
    spin.verify(text, &[], options, runs).map_err(|error| error.to_string())
}

/// Whether processes look at each other, which SPIN's partial order reduction does not allow for.
fn looks_into_processes(text: &str) -> bool {
    ["@at", ":i", ":k"].iter().any(|reference| text.contains(reference))
}

/// Without and with partial order reduction, where SPIN's is right.
fn safety(spin: &Spin, text: &str) -> Result<[SpinRun; 2], String> {
    let full = run(spin, text, &["-DSAFETY", "-DNOREDUCE"], &[&["-c0"]])?.remove(0);
    if looks_into_processes(text) {
        return Ok([full.clone(), full]);
    }
    let reduced = run(spin, text, &["-DSAFETY"], &[&["-c0"]])?.remove(0);
    Ok([full, reduced])
}

/// Whether a formula is broken, without and with weak fairness.
fn liveness(spin: &Spin, text: &str, formula: &str) -> Result<[bool; 2], String> {
    let with_formula = format!("{text}\nltl f {{ {formula} }}\n");
    let runs = run(spin, &with_formula, &["-DNOREDUCE"], &[&["-a", "-A", "-E"], &["-a", "-A", "-E", "-f"]])?;
    Ok([runs[0].errors > 0, runs[1].errors > 0])
}

/// The kinds of errors that a search for all of them found.
fn kinds(run: &SpinRun) -> (bool, bool) {
    (run.output.contains("assertion violated"), run.output.contains("invalid end state"))
}

#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    unchanged: usize,
    refused: usize,
    merged: usize,
    before: u64,
    after: u64,
    reduced_before: u64,
    reduced_after: u64,
    /// Models in which processes look at each other.
    looking: usize,
    formulas: usize,
    violated: usize,
}

fn compare(spin: &Spin, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let text =
        if rng.chance(50) { random_protocol(rng) } else { random_promela(rng, &PromelaConfig::default()) };
    let formula = random_promela_formula(rng);
    let options = AtomizeOptions::default();
    let (new, n_merged) = atomized(&text, None, &options);
    let asks = rng.chance(40);
    if new == text {
        tally.unchanged += 1;
        return Ok(());
    }
    let context = |why: String| format!("{why}\n--- before\n{text}--- after\n{new}");
    let Ok(old_runs) = safety(spin, &text) else {
        tally.refused += 1;
        return Ok(());
    };
    let new_runs = safety(spin, &new).map_err(context)?;
    for (old, made) in old_runs.iter().zip(&new_runs) {
        if kinds(old) != kinds(made) {
            return Err(context(format!("safety: {:?} became {:?}", kinds(old), kinds(made))));
        }
    }
    let [(old, made), (old_reduced, made_reduced)] =
        [0, 1].map(|at| (old_runs[at].states, new_runs[at].states));
    if made > old {
        return Err(context(format!("{old} states became {made}")));
    }
    if made_reduced > old_reduced {
        return Err(context(format!("reduced, {old_reduced} states became {made_reduced}")));
    }
    if asks {
        let (fair, _) = atomized(&text, Some(&formula), &options);
        let (unfair, _) = atomized(
            &text,
            Some(&formula),
            &AtomizeOptions { no_fairness: true, before_waits: true, ..options.clone() },
        );
        let Ok(old) = liveness(spin, &text, &formula) else {
            // SPIN itself does not come to an end: it follows a cycle of the claim through an atomic sequence that blocks.
            tally.refused += 1;
            return Ok(());
        };
        let made = liveness(spin, &fair, &formula).map_err(context)?;
        let without = liveness(spin, &unfair, &formula).map_err(context)?;
        if old != made || old[0] != without[0] {
            let found =
                format!("ltl {formula}: {old:?} became {made:?}, and {without:?} where fairness is none");
            return Err(format!("{}\n--- fair\n{fair}--- unfair\n{unfair}", context(found)));
        }
        tally.formulas += 1;
        tally.violated += usize::from(old[0]);
    }
    tally.compared += 1;
    tally.looking += usize::from(looks_into_processes(&text));
    tally.merged += n_merged;
    tally.before += old_runs[0].states;
    tally.after += new_runs[0].states;
    tally.reduced_before += old_runs[1].states;
    tally.reduced_after += new_runs[1].states;
    Ok(())
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures of a run by hand")]
fn spin_says_the_same_of_atomized_models() {
    let Some(spin) = Spin::find() else { return };
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    let mut tally = Tally::default();
    let mut n_tried = 0usize;
    while tally.compared < n_models() {
        n_tried += 1;
        assert!(n_tried <= 20 * n_models() + 100, "too few models can be compared: {tally:?}");
        if let Err(why) = compare(&spin, &mut rng, &mut tally) {
            panic!("seed {seed}, model {n_tried}: {why}");
        }
    }
    println!("{tally:?}");
}
