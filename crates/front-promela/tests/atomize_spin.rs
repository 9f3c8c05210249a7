//! SPIN says the same of a model and of what `atomize` makes of it, and the latter never has more states.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=300 cargo test -p pdnet-front-promela --test atomize_spin` tries others, and more. Each
//! model costs four runs of the C compiler.

use pdnet_base::Rng;
use pdnet_front_promela::{AtomizeOptions, Loaded, atomize, load_text, parse_formula};
use pdnet_source::SourceMap;
use pdnet_testkit::{PromelaConfig, Spin, SpinRun, random_promela, random_promela_formula};

const N_MODELS: usize = 4;

fn n_models() -> usize {
    std::env::var("PDNET_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(N_MODELS)
}

/// The model with `atomic` put in, and how many of them.
fn atomized(text: &str, formula: &str, before_waits: bool) -> (String, usize) {
    let mut map = SourceMap::new();
    let file = map.add("model.pml", text);
    let mut loaded = load_text(&mut map, file).expect("random models are accepted");
    let formula_file = map.add("formula", formula);
    let block = parse_formula(&map, formula_file, "f", &mut loaded).expect("random formulas are accepted");
    let loaded: Loaded = loaded;
    let mut reload = |text: &str| {
        let mut map = SourceMap::new();
        let file = map.add("model.pml", text);
        load_text(&mut map, file).map(|loaded| loaded.model)
    };
    let options = AtomizeOptions { before_waits, ..AtomizeOptions::default() };
    let made = atomize(&map, file, &loaded, &[&block], options, &mut reload).expect("read again");
    (made.text, made.merged.len())
}

fn verdicts(spin: &Spin, text: &str, formula: &str) -> Result<[SpinRun; 2], String> {
    let safety = spin.verify(text, &[], &["-DSAFETY", "-DNOREDUCE"], &[&["-c0"]]);
    let safety = safety.map_err(|error| error.to_string())?.remove(0);
    let with_formula = format!("{text}\nltl f {{ {formula} }}\n");
    let ltl = spin.verify(&with_formula, &[], &["-DNOREDUCE"], &[&["-a", "-A", "-E"]]);
    let ltl = ltl.map_err(|error| error.to_string())?.remove(0);
    Ok([safety, ltl])
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
    violated: usize,
}

fn compare(spin: &Spin, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let text = random_promela(rng, &PromelaConfig::default());
    let formula = random_promela_formula(rng);
    let (new, n_merged) = atomized(&text, &formula, rng.chance(50));
    if new == text {
        tally.unchanged += 1;
        return Ok(());
    }
    let context = |why: String| format!("{why}\nltl {formula}\n--- before\n{text}--- after\n{new}");
    let Ok(old_runs) = verdicts(spin, &text, &formula) else {
        tally.refused += 1;
        return Ok(());
    };
    let new_runs = verdicts(spin, &new, &formula).map_err(context)?;
    let (old, made) = (&old_runs[0], &new_runs[0]);
    if kinds(old) != kinds(made) {
        return Err(context(format!("safety: {:?} became {:?}", kinds(old), kinds(made))));
    }
    if made.states > old.states {
        return Err(context(format!("{} states became {}", old.states, made.states)));
    }
    if (old_runs[1].errors > 0) != (new_runs[1].errors > 0) {
        return Err(context(format!("ltl: {} errors became {}", old_runs[1].errors, new_runs[1].errors)));
    }
    tally.compared += 1;
    tally.merged += n_merged;
    tally.before += old.states;
    tally.after += made.states;
    tally.violated += usize::from(old_runs[1].errors > 0);
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
