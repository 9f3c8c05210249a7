//! Random multi-threaded C programs: the engine against the reference interpreter, from the text on.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{AtomData, Fairness, Property, PropertyKind};
use pdnet_explicit::Explicit;
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_logic::parse_formula;
use pdnet_net::verify_net;
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use pdnet_testkit::{ConformanceReport, ProgramConfig, random_c_formula, random_c_program};

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

fn without_headers(text: &str) -> String {
    let body: Vec<&str> = text.lines().filter(|line| !line.starts_with("#include")).collect();
    let body = body.join("\n").replace("assert(", "__pdnet_assert(");
    let body =
        body.replace("PTHREAD_MUTEX_INITIALIZER", "{ 0 }").replace("PTHREAD_COND_INITIALIZER", "{ 0 }");
    format!("{PRELUDE}{}", body.replace("NULL", "((void *)0)"))
}

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
    let (mut n_compared, mut n_large, mut n_open) = (0, 0, 0);
    let mut states = (0u64, 0u64);
    let mut total = ConformanceReport::default();
    for case in 0..N_PROGRAMS as u64 {
        let case_seed = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let mut rng = Rng::new(case_seed);
        let program = random_c_program(&mut rng, &ProgramConfig::default());
        let formulas = [random_c_formula(&mut rng, &program), random_c_formula(&mut rng, &program)];
        let context = || format!("case seed {case_seed}\nformulas: {formulas:?}\n{}", program.text);

        let mut map = SourceMap::new();
        let file = map.add("random.i", without_headers(&program.text));
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
        let engine = Explicit { local_first: false, forget: false };
        let limits = pdnet_check::Limits { states: Some(4000), ..Default::default() };
        for property in &properties {
            let one = std::slice::from_ref(property);
            let ask = |net: &pdnet_net::Net, ps: &[Property]| {
                use pdnet_check::Engine as _;
                let request = pdnet_check::Request { net, properties: ps, fairness, limits };
                engine.check(&request, &mut pdnet_check::Silent).remove(0)
            };
            let whole = ask(&lowered.net, one);
            if matches!(whole.verdict, pdnet_check::Verdict::Unknown(pdnet_check::StopReason::States(_))) {
                n_large += 1;
                continue;
            }
            let slice = pdnet_reduce::slice(&lowered.net, one, fairness, pdnet_reduce::Method::OnDemand);
            let bad = verify_net(&slice.net);
            assert!(bad.is_empty(), "{}\n{bad:?}\n{}\n{}", context(), lowered.net, slice.net);
            let sliced = ask(&slice.net, &slice.properties);
            let class = |v: &pdnet_check::Verdict| match v {
                pdnet_check::Verdict::Holds => "holds".to_owned(),
                pdnet_check::Verdict::Violated(_) => "violated".to_owned(),
                pdnet_check::Verdict::Unknown(r) => {
                    format!("unknown {r:?}").split('{').next().unwrap().to_owned()
                }
            };
            assert_eq!(
                class(&whole.verdict),
                class(&sliced.verdict),
                "{}\n{fairness} {} {}\n{}\n==== slice\n{}",
                context(),
                property.name,
                property.text,
                lowered.net,
                slice.net
            );
            n_compared += 1;
            states.0 += whole.stats.states;
            states.1 += sliced.stats.states;
            if let pdnet_check::Verdict::Violated(trace) = &sliced.verdict {
                match slice.lift(&lowered.net, trace) {
                    Ok(trace) => {
                        pdnet_check::replay(&lowered.net, property, fairness, &trace).unwrap_or_else(|e| {
                            panic!(
                                "{e:?} {}\n{fairness} {} {}\n{}\n==== slice\n{}\n{trace:?}",
                                context(),
                                property.name,
                                property.text,
                                lowered.net,
                                slice.net
                            )
                        });
                    }
                    Err(pdnet_reduce::LiftError::Open) => {
                        n_open += 1;
                    }
                    Err(e) => panic!(
                        "{e:?} {}\n{fairness} {} {}\n{}\n==== slice\n{}\n{trace:?}",
                        context(),
                        property.name,
                        property.text,
                        lowered.net,
                        slice.net
                    ),
                }
            }
        }
        let _ = &mut total;
    }
    eprintln!("{n_compared} compared {n_large} large {n_open} open {states:?}");
}
