//! Slices give the answers of the whole: random programs of which much can be cut, times random formulas and
//! checks, times fairness, times all methods of slicing; and random nets.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=10000 cargo test -p pdnet-testkit --test slicing` tries others, and more.

mod sliced;

use std::cell::RefCell;

use pdnet_base::Rng;
use pdnet_check::{Engine, Fairness, Observer, Outcome, Request, StopReason, Verdict};
use pdnet_explicit::Explicit;
use pdnet_front_c::{Atomicity, LowerOptions};
use pdnet_logic::parse_formula;
use pdnet_reduce::Method;
use pdnet_source::SourceMap;
use pdnet_testkit::{
    ReachableGraph, check_engine, compare, random_sliceable, random_sliceable_formula, shrink_lines,
};
use sliced::{
    Ask, Asking, Class, METHODS, PLAIN, Tally, Wrong, answers, asked, class_of, compare_methods,
    is_cut_short, judge,
};

/// In each of two tests.
const N_PROGRAMS: usize = 1200;
/// Programs with more states are passed over; most have far fewer.
const LIMIT: u64 = 3000;
/// Programs with fewer markings are given to the reference, too.
const TINY: usize = 150;
/// One failure says less than several: the search goes on after it. `PDNET_FAILURES` asks for more.
const MAX_FAILURES: usize = 3;
/// In all.
const N_NETS: usize = 300;

fn max_failures() -> usize {
    Rng::test_number("PDNET_FAILURES").unwrap_or(MAX_FAILURES)
}

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").map_or(N_PROGRAMS, |n: usize| n.div_ceil(2))
}

/// What programs must have, a few in a hundred each.
const FEATURES: [&str; 40] = [
    "malloc(",
    "__sync_",
    "while (1) {\n}",
    "while (1) {\ng",
    "for (int",
    "do {",
    "switch (",
    "break;",
    "continue;",
    "goto ",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "sem_wait",
    "sem_post",
    "pthread_barrier_wait",
    "pthread_join(t0, 0)",
    "pthread_join(t0, &r0)",
    "__VERIFIER_atomic_begin",
    "__VERIFIER_assume(",
    "__pdnet_assert(",
    "exit(0);\n}\n",
    "abort();",
    "pthread_exit(0);\n}",
    "return 0;\n}\n",
    "= h0(",
    "= h0(h0(",
    "h1();",
    "= fp(",
    "rec(2)",
    "give(&v)",
    "*p0 =",
    "p0 = &",
    "*q",
    "a0[g",
    "s0.f",
    "static int",
    "pthread_once(",
];

/// All that a comparison depends on.
#[derive(Clone, Debug)]
struct Case {
    program: String,
    questions: Vec<Ask>,
    fairness: Fairness,
    options: LowerOptions,
    /// For the slices.
    engine: Explicit,
}

/// What came of a case.
enum Result {
    Large,
    Compared(Tally, Vec<Class>),
}

/// Something is wrong with one question, or with all.
struct Failure {
    question: Option<usize>,
    method: Option<Method>,
    wrong: Wrong,
}

fn random_case(rng: &mut Rng) -> Case {
    let program = random_sliceable(rng);
    let mut questions = vec![
        Ask::Ltl(random_sliceable_formula(rng, &program)),
        Ask::Ltl(random_sliceable_formula(rng, &program)),
    ];
    let checks = [
        Ask::Assert,
        Ask::Deadlock,
        Ask::Race,
        Ask::PartialDeadlock,
        Ask::Termination,
        Ask::Termination,
        Ask::Memory,
        Ask::Locks,
    ];
    for _ in 0..2 {
        let check = rng.pick(&checks).clone();
        if !questions.contains(&check) {
            questions.push(check);
        }
    }
    let options = LowerOptions {
        atomicity: if rng.chance(85) { Atomicity::Access } else { Atomicity::Statement },
        spurious_wakeups: rng.chance(15),
        max_threads: 5,
        max_depth: if rng.chance(60) { 5 } else { 2 },
        ..LowerOptions::default()
    };
    let fairness = *rng.pick(&[Fairness::None, Fairness::Weak, Fairness::Strong]);
    let engine = *rng.pick(&[PLAIN, Explicit::default()]);
    Case { program: program.text, questions, fairness, options, engine }
}

/// Compares all slices of a program with it. `methods` are those to try.
fn compare_case(case: &Case, methods: &[Method]) -> std::result::Result<Result, Failure> {
    let of_all =
        |text: String| Failure { question: None, method: None, wrong: Wrong { text, slice: String::new() } };
    let (net, properties) = asked(&case.program, &case.questions, &case.options).map_err(of_all)?;
    let whole = answers(PLAIN, &net, &properties, case.fairness, LIMIT);
    if whole.iter().any(|outcome| is_cut_short(&outcome.verdict)) {
        return Ok(Result::Large);
    }
    if whole.iter().all(|outcome| outcome.stats.states < TINY as u64)
        && let Some(graph) = ReachableGraph::build(&net, TINY)
    {
        compare(&PLAIN, &graph, &properties, case.fairness, true)
            .map_err(|found| of_all(format!("the oracle is wrong: {found}")))?;
    }
    let mut tally = Tally::default();
    for asked in properties.chunks(1).chain([properties.as_slice()]) {
        let found = compare_methods(&net, asked, case.fairness).map_err(|(method, wrong)| Failure {
            question: None,
            method: Some(method),
            wrong,
        })?;
        tally.add(&found);
    }
    for &method in methods {
        let asking = Asking { fairness: case.fairness, method, engine: case.engine, states: 4 * LIMIT };
        for (number, property) in properties.iter().enumerate() {
            let (found, _) = judge(&net, std::slice::from_ref(property), &whole[number..=number], asking)
                .map_err(|wrong| Failure { question: Some(number), method: Some(method), wrong })?;
            tally.add(&found);
        }
        let (found, _) = judge(&net, &properties, &whole, asking).map_err(|wrong| Failure {
            question: None,
            method: Some(method),
            wrong,
        })?;
        tally.add(&found);
    }
    Ok(Result::Compared(tally, whole.iter().map(|outcome| class_of(&outcome.verdict)).collect()))
}

/// A smaller case that fails with the same method in the same way.
fn shrink_case(case: &Case, failure: Failure) -> (Case, Failure) {
    let Some(method) = failure.method else { return (case.clone(), failure) };
    let kind = failure.wrong.kind();
    let fails = |candidate: &Case| {
        if !gives_results(&candidate.program) {
            return None;
        }
        let found = compare_case(candidate, &[method]).err()?;
        (found.method.is_some() && found.wrong.kind() == kind).then_some(found)
    };
    let (mut best, mut failure) = (case.clone(), failure);
    if let Some(number) = failure.question {
        let alone = Case { questions: vec![case.questions[number].clone()], ..case.clone() };
        if let Some(found) = fails(&alone) {
            (best, failure) = (alone, found);
        }
    }
    loop {
        let size = best.program.len() + best.questions.iter().map(|ask| ask.to_string().len()).sum::<usize>();
        let with = |program: &str| Case { program: program.to_owned(), ..best.clone() };
        let program = shrink_lines(&best.program, &|program| fails(&with(program)).is_some());
        best = with(&program);
        for candidate in simpler_questions(&best) {
            if let Some(found) = fails(&candidate) {
                (best, failure) = (candidate, found);
                break;
            }
        }
        let now = best.program.len() + best.questions.iter().map(|ask| ask.to_string().len()).sum::<usize>();
        if now >= size {
            break;
        }
    }
    for fairness in [Fairness::None, Fairness::Weak] {
        let plain = Case { fairness, options: case.options, engine: PLAIN, ..best.clone() };
        if let Some(found) = fails(&plain) {
            return (plain, found);
        }
    }
    if let Some(found) = fails(&best) {
        failure = found;
    }
    (best, failure)
}

/// Whether all functions with a result end with a `return`. Where one does not, its result is any, and a smaller
/// program would be about that.
fn gives_results(program: &str) -> bool {
    let (mut depth, mut before) = (0_usize, "");
    let mut is_needed = false;
    program.lines().all(|line| {
        if depth == 0 && line.ends_with('{') {
            is_needed = line.starts_with("int ") && !line.starts_with("int main");
        }
        depth = depth.saturating_sub(usize::from(line.starts_with('}'))) + usize::from(line.ends_with('{'));
        let ends = depth == 0 && line == "}";
        let is_fine = !(ends && is_needed) || before.starts_with("return");
        before = line;
        is_fine
    })
}

/// Cases with fewer questions, or with a part of a formula.
fn simpler_questions(case: &Case) -> Vec<Case> {
    let mut simpler = Vec::new();
    for (number, question) in case.questions.iter().enumerate() {
        if case.questions.len() > 1 {
            let mut questions = case.questions.clone();
            questions.remove(number);
            simpler.push(Case { questions, ..case.clone() });
        }
        let Ask::Ltl(text) = question else { continue };
        let mut map = SourceMap::new();
        let file = map.add("<ltl>", text.as_str());
        let Ok(formula) = parse_formula(&map, file) else { continue };
        let names: Vec<String> = formula.atoms.iter().map(ToString::to_string).collect();
        let (left, right) = formula.ltl.children();
        for part in left.into_iter().chain(right) {
            let mut questions = case.questions.clone();
            questions[number] = Ask::Ltl(part.display(&names).to_string());
            simpler.push(Case { questions, ..case.clone() });
        }
    }
    simpler
}

fn shown(case: &Case, failure: &Failure) -> String {
    let questions: Vec<String> = case.questions.iter().map(ToString::to_string).collect();
    let options = &case.options;
    format!(
        "{}\nmethod {:?}, fairness {}, {:?}, spurious {}, depth {}, engine for the slice {:?}\nquestions: {}\n{}",
        failure.wrong.text,
        failure.method,
        case.fairness,
        options.atomicity,
        options.spurious_wakeups,
        options.max_depth,
        case.engine,
        questions.join("\n    "),
        case.program
    )
}

/// In two halves, so that both cores have work.
#[test]
fn slices_of_programs_have_the_verdicts_of_the_whole() {
    compare_programs(Rng::test_seed(1));
}

#[test]
fn slices_of_more_programs_have_the_verdicts_of_the_whole() {
    compare_programs(Rng::test_seed(1).wrapping_add(1_000_000));
}

fn compare_programs(seed: u64) {
    let (mut n_compared, mut n_large) = (0, 0);
    let mut tally = Tally::default();
    // Formulas, and checks.
    let mut classes = [[0_usize; 3]; 2];
    let mut failures = Vec::new();
    let mut features = [0_usize; FEATURES.len()];
    for number in 0..n_programs() as u64 {
        let case_seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let case = random_case(&mut Rng::new(case_seed));
        match compare_case(&case, &METHODS) {
            Ok(Result::Large) => n_large += 1,
            Ok(Result::Compared(found, verdicts)) => {
                n_compared += 1;
                tally.add(&found);
                for (count, feature) in features.iter_mut().zip(FEATURES) {
                    *count += usize::from(case.program.contains(feature));
                }
                for (question, class) in case.questions.iter().zip(verdicts) {
                    let row = usize::from(!matches!(question, Ask::Ltl(_)));
                    classes[row][class as usize] += 1;
                }
            }
            Err(failure) => {
                let (smaller, failure) = shrink_case(&case, failure);
                let slice = if failures.is_empty() { failure.wrong.slice.as_str() } else { "" };
                let text = shown(&smaller, &failure);
                failures.push(format!("seed {seed}, case seed {case_seed}\n{text}{slice}"));
                if failures.len() >= max_failures() {
                    break;
                }
            }
        }
    }
    let summary = format!("{n_compared} compared, {n_large} large, verdicts {classes:?}, {tally:?}");
    let all = format!("{} failures; {summary}\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(failures.is_empty(), "{all}");
    // A suite in which nearly all verdicts are the same, or nearly all programs too large, finds little.
    assert!(n_compared * 4 >= n_programs() * 3, "seed {seed}: {summary}");
    for [holds, violated, unknown] in classes {
        let all = holds + violated + unknown;
        assert!(holds * 8 > all && violated * 8 > all && unknown * 100 > all, "seed {seed}: {summary}");
    }
    for (count, feature) in features.iter().zip(FEATURES) {
        assert!(count * 300 > n_compared, "seed {seed}: {feature:?} in {count} programs; {summary}");
    }
    // Nor do slices that cut nothing.
    assert!(tally.smaller * 2 > tally.slices && tally.slice_states < tally.whole_states, "{summary}");
    // Nor methods that do the same.
    let [on_demand, program, net] = tally.kept;
    assert!(on_demand * 10 < program * 9 && on_demand * 10 < net * 9 && program != net, "{summary}");
    // A run that cannot be shown in the whole program costs another search.
    assert!(tally.open * 10 <= tally.violated, "seed {seed}: {summary}");
    if std::env::var_os("PDNET_PROGRAMS").is_some() {
        report(&summary);
    }
}

#[expect(clippy::print_stderr, reason = "who asks for many programs wants to know what was compared")]
fn report(summary: &str) {
    eprintln!("{summary}");
}

/// Slicing and then searching, as an engine: what conforms, slices rightly.
struct Sliced {
    method: Method,
    engine: Explicit,
    tally: RefCell<Tally>,
}

/// A panic that is not printed: shrinking causes many.
fn quiet_panic(text: String) -> ! {
    std::panic::resume_unwind(Box::new(text))
}

impl Engine for Sliced {
    fn name(&self) -> &'static str {
        match self.method {
            Method::OnDemand => "on-demand slicing",
            Method::Program => "program slicing",
            Method::Net => "net slicing",
        }
    }

    /// # Panics
    /// Where a slice is wrong; the suite reports it with the net.
    fn check(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Vec<Outcome> {
        let whole = PLAIN.check(request, observer);
        let states = whole.iter().map(|outcome| outcome.stats.states).max().unwrap_or(0) * 4 + 10_000;
        let asking = Asking { fairness: request.fairness, method: self.method, engine: self.engine, states };
        let (net, properties) = (request.net, request.properties);
        let verdict = |number: usize| {
            let (tally, mut verdicts) =
                judge(net, std::slice::from_ref(&properties[number]), &whole[number..=number], asking)
                    .unwrap_or_else(|wrong| quiet_panic(format!("{}: {wrong}", properties[number].text)));
            self.tally.borrow_mut().add(&tally);
            match (&whole[number].verdict, verdicts.remove(0)) {
                // The suite knows nothing of slices that know more.
                (Verdict::Unknown(reason @ StopReason::Sampled { .. }), Verdict::Holds) => {
                    Verdict::Unknown(reason.clone())
                }
                (_, verdict) => verdict,
            }
        };
        let verdicts: Vec<Verdict> = (0..properties.len()).map(verdict).collect();
        let (tally, _) = judge(net, properties, &whole, asking)
            .unwrap_or_else(|wrong| quiet_panic(format!("together: {wrong}")));
        self.tally.borrow_mut().add(&tally);
        let stats = whole.iter().map(|outcome| outcome.stats);
        verdicts.into_iter().zip(stats).map(|(verdict, stats)| Outcome { verdict, stats }).collect()
    }
}

#[test]
fn slices_of_nets_have_the_verdicts_of_the_reference() {
    let seed = Rng::test_seed(1);
    let n_nets = n_programs() * N_NETS / N_PROGRAMS;
    for method in METHODS {
        for engine in [PLAIN, Explicit::default()] {
            let sliced = Sliced { method, engine, tally: RefCell::default() };
            let report = check_engine(&sliced, false, n_nets / 2, seed);
            let tally = *sliced.tally.borrow();
            let summary = format!("{}, seed {seed}: {report}, {tally:?}", sliced.name());
            assert!(report.too_large * 10 < n_nets, "{summary}");
            assert!(tally.violated * 8 > tally.slices, "{summary}");
            assert!(tally.open * 10 <= tally.violated, "{summary}");
        }
    }
}
