//! Random multi-threaded C programs: the engine against the reference interpreter, from the text on.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{AtomData, Fairness, Property, PropertyKind};
use pdnet_explicit::{Crew, Explicit};
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_logic::parse_formula;
use pdnet_net::verify_net;
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use pdnet_testkit::{
    ConformanceReport, ProgramConfig, ReachableGraph, compare, random_c_formula, random_c_program,
};

/// In each of two tests.
const N_PROGRAMS: usize = 500;
/// Programs with more markings are passed over; most have far fewer.
const LIMIT: usize = 1500;

/// What the generated programs use of the system's headers, so that no preprocessor has to run.
const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t;
typedef struct { int k; } pthread_attr_t; typedef struct { int k; } pthread_mutexattr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
void pthread_exit(void *); pthread_t pthread_self(void);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_mutex_trylock(pthread_mutex_t *); int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);
void __pdnet_assert(_Bool); void abort(void); void exit(int);
";

/// In two halves, so that both cores have work.
#[test]
fn programs_get_the_verdicts_of_the_reference() {
    compare_programs(Rng::test_seed(1));
}

#[test]
fn more_programs_get_the_verdicts_of_the_reference() {
    compare_programs(Rng::test_seed(1).wrapping_add(1_000_000));
}

fn compare_programs(seed: u64) {
    let (mut n_compared, mut n_large) = (0, 0);
    let mut total = ConformanceReport::default();
    for case in 0..N_PROGRAMS as u64 {
        let case_seed = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let mut rng = Rng::new(case_seed);
        let program = random_c_program(&mut rng, &ProgramConfig::default());
        let formulas = [random_c_formula(&mut rng, &program), random_c_formula(&mut rng, &program)];
        let context = || format!("case seed {case_seed}\nformulas: {formulas:?}\n{}", program.text);

        let mut map = SourceMap::new();
        let file = map.add("random.i", format!("{PRELUDE}{}", program.without_headers()));
        let fail = |map: &SourceMap, found: &[Diagnostic]| -> ! {
            let texts: String = found.iter().map(|one| render(map, one, ColorChoice::Plain)).collect();
            panic!("{}\n{texts}", context())
        };
        let loaded = load_preprocessed(&mut map, file, &Options::default());
        let loaded = loaded.unwrap_or_else(|found| fail(&map, &found));
        let mut parsed = Vec::new();
        for text in &formulas {
            let file = map.add("<ltl>", text.as_str());
            parsed.push(parse_formula(&map, file).unwrap_or_else(|found| fail(&map, &[found])));
        }
        let atomicity = if rng.chance(80) { Atomicity::Access } else { Atomicity::Statement };
        let spurious_wakeups = rng.chance(20);
        let options = LowerOptions {
            atomicity,
            spurious_wakeups,
            max_threads: 4,
            max_depth: 4,
            ..LowerOptions::default()
        };
        let lowered = lower(&map, &loaded.program, &parsed, &options);
        let lowered = lowered.unwrap_or_else(|found| fail(&map, &found));
        let violations = verify_net(&lowered.net);
        assert!(violations.is_empty(), "{}\n{violations:?}", context());

        let Some(graph) = ReachableGraph::build(&lowered.net, LIMIT) else {
            n_large += 1;
            continue;
        };
        let mut properties = vec![
            Property::assertions(&lowered.net),
            Property::no_deadlock(),
            Property::no_race(),
            Property::no_partial_deadlock(),
            Property::termination(&lowered.net),
        ];
        for (formula, exprs) in parsed.iter().zip(&lowered.atoms) {
            let named = |(idx, expr): (usize, &pdnet_net::Expr)| AtomData {
                text: formula.atoms[pdnet_logic::Atom::new(idx)].to_string(),
                expr: expr.clone(),
            };
            let atoms = exprs.iter().enumerate().map(named).collect();
            let kind = PropertyKind::Ltl { formula: formula.ltl.clone(), atoms };
            properties.push(Property {
                name: "ltl".into(),
                text: formula.to_string(),
                class: "valid-ltl",
                kind,
            });
        }
        let fairness = *rng.pick(&[Fairness::None, Fairness::Weak, Fairness::Strong]);
        let compare_with = |stubborn: bool, forget: bool, workers: usize, fairness: Fairness| {
            let crew = Crew { workers, from_states: 2 };
            let engine =
                Explicit { stubborn, guided: stubborn, forget, symmetry: forget, crew, ..Explicit::PLAIN };
            compare(&engine, &graph, &properties, fairness, !stubborn && workers == 1)
                .unwrap_or_else(|found| panic!("{}\n{engine:?}\n{found}", context()))
        };
        let report = compare_with(false, false, 1, fairness);
        compare_with(false, true, 1, fairness);
        compare_with(true, true, 1, fairness);
        compare_with(false, true, 2, fairness);
        compare_with(true, false, 4, fairness);
        if fairness != Fairness::None {
            // Fairness switches the reduction off for most formulas.
            compare_with(true, true, 1, Fairness::None);
        }
        n_compared += 1;
        total.add(&report);
    }
    // A suite in which nearly all verdicts are the same, or nearly all programs too large, finds little.
    let summary = format!("{n_compared} compared, {n_large} large, {total}");
    assert!(n_compared * 4 >= N_PROGRAMS * 3, "seed {seed}: {summary}");
    assert!(total.violated * 8 > n_compared && total.holds * 8 > n_compared, "seed {seed}: {summary}");
    assert!(total.races * 4 > n_compared && total.races * 10 < n_compared * 9, "seed {seed}: {summary}");
    assert!(total.partial_deadlocks * 200 > n_compared, "seed {seed}: {summary}");
}
