//! Merged steps give the answers of the single ones: random programs with regions under locks and random programs of
//! which much can be cut, times random formulas and checks, times fairness, on the whole net and on slices; and random
//! nets.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=5000 cargo test -p pdnet-testkit --test agglomeration` tries others, and more.

#[allow(dead_code, reason = "what is needed of slicing is the net of a program")]
mod sliced;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pdnet_base::Rng;
use pdnet_check::{Engine, Fairness, Observer, Outcome, Property, Request, Trace, Verdict, replay};
use pdnet_explicit::Explicit;
use pdnet_front_c::{Atomicity, LowerOptions};
use pdnet_net::{Net, verify_net};
use pdnet_reduce::{LiftError, Method, agglomerate, slice};
use pdnet_testkit::{check_engine, random_regions, random_sliceable, random_sliceable_formula, shrink_lines};
use sliced::{
    Ask, Class, PLAIN, answers, asked, assumptions_hold, class_of, failed_assumptions, is_cut_short,
};

/// In each of two tests.
const N_PROGRAMS: usize = 400;
/// Programs with more states are passed over.
const LIMIT: u64 = 6000;
/// In all.
const N_NETS: usize = 200;

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").map_or(N_PROGRAMS, |n: usize| n.div_ceil(2))
}

/// All that a comparison depends on.
#[derive(Clone, Debug)]
struct Case {
    program: String,
    questions: Vec<Ask>,
    fairness: Fairness,
    options: LowerOptions,
    /// For the nets with merged steps.
    engine: Explicit,
}

/// What came of comparisons.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Nets that were looked at, and those in which steps were merged.
    nets: usize,
    merged: usize,
    /// States of the searches where steps were merged, with single steps and with merged ones.
    before: u64,
    after: u64,
    /// Violations that were lifted and replayed, and those whose cycle does not close in the whole net.
    violated: usize,
    open: usize,
    /// Nets that know what is unknown otherwise, because of an assumption that cannot fail.
    known: usize,
    /// By holds, violated, unknown.
    classes: [usize; 3],
    /// Places at which steps were merged by each of the two rules.
    post: usize,
    pre: usize,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.nets += other.nets;
        self.merged += other.merged;
        self.before += other.before;
        self.after += other.after;
        self.violated += other.violated;
        self.open += other.open;
        self.known += other.known;
        self.classes.iter_mut().zip(other.classes).for_each(|(sum, n)| *sum += n);
        self.post += other.post;
        self.pre += other.pre;
    }
}

fn random_case(rng: &mut Rng) -> Case {
    let program = if rng.chance(75) { random_regions(rng) } else { random_sliceable(rng) };
    let mut questions = vec![Ask::Ltl(random_sliceable_formula(rng, &program))];
    let checks = [Ask::Assert, Ask::Deadlock, Ask::Race, Ask::Termination, Ask::Memory, Ask::Locks];
    for _ in 0..3 {
        let check = rng.pick(&checks).clone();
        if !questions.contains(&check) {
            questions.push(check);
        }
    }
    let options = LowerOptions {
        atomicity: if rng.chance(85) { Atomicity::Access } else { Atomicity::Statement },
        spurious_wakeups: rng.chance(10),
        max_threads: 5,
        max_depth: if rng.chance(60) { 5 } else { 2 },
        ..LowerOptions::default()
    };
    let fairness = *rng.pick(&[Fairness::None, Fairness::Weak, Fairness::Strong]);
    let engine = *rng.pick(&[PLAIN, Explicit::default()]);
    Case { program: program.text, questions, fairness, options, engine }
}

/// Merges steps of a net for some properties together, and compares the answers with those to single steps. `back` turns
/// a run of this net into one of the program, where there is more than this net.
fn judge(
    net: &Net,
    properties: &[Property],
    single: &[Outcome],
    fairness: Fairness,
    engine: Explicit,
    back: &dyn Fn(usize, &Trace) -> Result<bool, String>,
) -> Result<Tally, String> {
    let mut tally = Tally { nets: 1, ..Tally::default() };
    let merging = || agglomerate(net, properties, fairness);
    let Some(merged) = catch_unwind(AssertUnwindSafe(merging)).map_err(|_| "it panics".to_owned())? else {
        return Ok(tally);
    };
    (tally.merged, tally.post, tally.pre) = (1, merged.post, merged.pre);
    let broken = verify_net(&merged.net);
    let shown = |text: String| format!("{text}\nmerged:\n{}", merged.net);
    if !broken.is_empty() {
        return Err(shown(format!("it breaks rules of nets: {broken:?}")));
    }
    let outcomes = answers(engine, &merged.net, &merged.properties, fairness, 4 * LIMIT);
    for (number, (outcome, single)) in outcomes.iter().zip(single).enumerate() {
        tally.before += single.stats.states;
        tally.after += outcome.stats.states;
        let (expected, found) = (class_of(&single.verdict), class_of(&outcome.verdict));
        tally.classes[found as usize] += 1;
        if is_cut_short(&outcome.verdict) {
            return Err(shown(format!("the search gave up: {:?}", outcome.verdict)));
        }
        // Behind a bound or a fault an assumption may fail, unless it was left out because it cannot.
        let is_assumed = expected == Class::Unknown
            && found == Class::Violated
            && failed_assumptions(&merged.net).is_empty()
            && assumptions_hold(net, 4 * LIMIT);
        tally.known += usize::from(is_assumed);
        if expected != found && !is_assumed {
            let text = &properties[number].text;
            return Err(shown(format!("the verdicts differ: {expected:?}, merged {found:?}: {text}")));
        }
        if let Verdict::Violated(trace) = &outcome.verdict {
            tally.violated += 1;
            let lifted =
                merged.lift(net, trace).map_err(|error| shown(format!("it cannot be lifted: {error}")))?;
            replay(net, &properties[number], fairness, &lifted)
                .map_err(|error| shown(format!("the replay fails: {error}\nof {trace:?}\nas {lifted:?}")))?;
            tally.open += usize::from(!back(number, &lifted).map_err(shown)?);
        }
    }
    Ok(tally)
}

/// Compares all ways to merge steps of a program; none where it is too large.
fn compare_case(case: &Case) -> Result<Option<Tally>, String> {
    let found = asked(&case.program, &case.questions, &case.options);
    let (net, properties) = found.map_err(|text| format!("no program: {text}"))?;
    let whole = answers(PLAIN, &net, &properties, case.fairness, LIMIT);
    if whole.iter().any(|outcome| is_cut_short(&outcome.verdict)) {
        return Ok(None);
    }
    let mut tally = Tally::default();
    let (fairness, engine) = (case.fairness, case.engine);
    let nothing = |_: usize, _: &Trace| Ok(true);
    let together = [(0..properties.len()).collect::<Vec<usize>>()];
    let alone = (0..properties.len()).map(|number| vec![number]);
    for members in alone.chain(together) {
        let asked: Vec<Property> = members.iter().map(|&member| properties[member].clone()).collect();
        let expected: Vec<Outcome> = members.iter().map(|&member| whole[member].clone()).collect();
        let found = judge(&net, &asked, &expected, fairness, engine, &nothing)
            .map_err(|wrong| format!("{members:?} alone: {wrong}"))?;
        tally.add(&found);
        let slice = slice(&net, &asked, fairness, Method::OnDemand);
        let single = answers(PLAIN, &slice.net, &slice.properties, fairness, 4 * LIMIT);
        let back = |number: usize, trace: &Trace| match slice.lift(&net, trace) {
            Ok(lifted) => match replay(&net, &asked[number], fairness, &lifted) {
                Ok(_) => Ok(true),
                Err(error) => Err(format!("the replay on the whole net fails: {error}")),
            },
            Err(LiftError::Open) => Ok(false),
            Err(error) => Err(format!("it cannot be lifted to the whole net: {error}")),
        };
        let found = judge(&slice.net, &slice.properties, &single, fairness, engine, &back)
            .map_err(|wrong| format!("{members:?} sliced: {wrong}"))?;
        tally.add(&found);
    }
    Ok(Some(tally))
}

/// What is wrong, without numbers: the first words.
fn kind(wrong: &str) -> String {
    let line = wrong.lines().next().unwrap_or_default();
    line.split(": ").nth(1).unwrap_or_default().chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn shrink_case(case: &Case, wrong: String) -> (Case, String) {
    let asked_for = kind(&wrong);
    let fails = |candidate: &Case| {
        let found = compare_case(candidate).err()?;
        (kind(&found) == asked_for && !found.starts_with("no program")).then_some(found)
    };
    let (mut best, mut wrong) = (case.clone(), wrong);
    for question in &case.questions {
        let one = Case { questions: vec![question.clone()], ..best.clone() };
        if let Some(found) = fails(&one) {
            (best, wrong) = (one, found);
            break;
        }
    }
    let program = shrink_lines(&best.program, &|program| {
        fails(&Case { program: program.to_owned(), ..best.clone() }).is_some()
    });
    best.program = program;
    for simpler in [Case { engine: PLAIN, ..best.clone() }, Case { fairness: Fairness::None, ..best.clone() }]
    {
        if fails(&simpler).is_some() {
            best = simpler;
        }
    }
    if let Some(found) = fails(&best) {
        wrong = found;
    }
    (best, wrong)
}

/// In two halves, so that both cores have work.
#[test]
fn merged_steps_of_programs_have_the_verdicts_of_single_steps() {
    compare_programs(Rng::test_seed(1));
}

#[test]
fn merged_steps_of_more_programs_have_the_verdicts_of_single_steps() {
    compare_programs(Rng::test_seed(1).wrapping_add(1_000_000));
}

fn compare_programs(seed: u64) {
    let (mut n_compared, mut n_large) = (0, 0);
    let mut tally = Tally::default();
    for number in 0..n_programs() as u64 {
        let case_seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let case = random_case(&mut Rng::new(case_seed));
        match compare_case(&case) {
            Ok(None) => n_large += 1,
            Ok(Some(found)) => {
                n_compared += 1;
                tally.add(&found);
            }
            Err(wrong) => {
                let (smaller, wrong) = shrink_case(&case, wrong);
                let questions: Vec<String> = smaller.questions.iter().map(ToString::to_string).collect();
                panic!(
                    "seed {seed}, case seed {case_seed}, fairness {}, {:?}, {:?}\n{}\n{}\n{wrong}",
                    smaller.fairness,
                    smaller.engine,
                    smaller.options.atomicity,
                    questions.join("\n"),
                    smaller.program
                );
            }
        }
    }
    let summary = format!("{n_compared} compared, {n_large} large, {tally:?}");
    // A suite in which nearly all verdicts are the same, or little is merged, finds little.
    let [holds, violated, unknown] = tally.classes;
    let all = holds + violated + unknown;
    assert!(n_compared * 3 >= n_programs() * 2, "seed {seed}: {summary}");
    assert!(holds * 6 > all && violated * 8 > all && unknown * 200 > all, "seed {seed}: {summary}");
    assert!(tally.merged * 3 > tally.nets, "seed {seed}: {summary}");
    assert!(tally.post > tally.merged && tally.pre > 0, "seed {seed}: {summary}");
    assert!(tally.after * 4 < tally.before * 3, "seed {seed}: {summary}");
    if std::env::var_os("PDNET_PROGRAMS").is_some() {
        report(&summary);
    }
}

#[expect(clippy::print_stderr, reason = "who asks for many programs wants to know what was compared")]
fn report(summary: &str) {
    eprintln!("{summary}");
}

/// Merging and then searching, as an engine: what conforms, merges rightly.
struct Merging {
    engine: Explicit,
    tally: RefCell<Tally>,
}

impl Engine for Merging {
    fn name(&self) -> &'static str {
        "agglomeration"
    }

    /// # Panics
    /// Where the answers differ; the suite reports it with the net.
    fn check(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Vec<Outcome> {
        let single = PLAIN.check(request, observer);
        let nothing = |_: usize, _: &Trace| Ok(true);
        for number in 0..request.properties.len() {
            let found = judge(
                request.net,
                &request.properties[number..=number],
                &single[number..=number],
                request.fairness,
                self.engine,
                &nothing,
            );
            match found {
                Ok(found) => self.tally.borrow_mut().add(&found),
                Err(wrong) => std::panic::resume_unwind(Box::new(wrong)),
            }
        }
        single
    }
}

#[test]
fn merged_steps_of_nets_have_the_verdicts_of_the_reference() {
    let seed = Rng::test_seed(1);
    let n_nets = n_programs() * N_NETS / N_PROGRAMS;
    for engine in [PLAIN, Explicit::default()] {
        let merging = Merging { engine, tally: RefCell::default() };
        let report = check_engine(&merging, false, n_nets, seed);
        let tally = *merging.tally.borrow();
        assert!(report.too_large * 10 < n_nets, "seed {seed}: {report}, {tally:?}");
        assert!(tally.merged * 10 > tally.nets && tally.violated > 0, "seed {seed}: {report}, {tally:?}");
    }
}
