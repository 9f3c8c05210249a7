//! Promela models: the engine, with and without reductions, against the reference on random models; and what SPIN says
//! of them, its number of states included.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=5000 cargo test -p pdnet-testkit --test models` tries others, and more. With SPIN each
//! model costs two runs of the C compiler: there are `PDNET_SPIN_MODELS=300` of them.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{
    AtomData, Engine, Fairness, Limits, Observer, Outcome, Property, PropertyKind, Request, Silent, Verdict,
};
use pdnet_explicit::{Crew, Explicit};
use pdnet_front_promela::{LowerOptions, Lowered, load_text, lower, parse_formula};
use pdnet_logic::Ltl;
use pdnet_net::{Action, Expr, Net, verify_net};
use pdnet_reduce::{Method, agglomerate, slice};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use pdnet_testkit::{
    PromelaConfig, ReachableGraph, Spin, compare, random_channels, random_promela, random_promela_formula,
};

const N_MODELS: usize = 300;
const N_SPIN_MODELS: usize = 4;
/// Models with more markings are passed over.
const LIMIT: usize = 1500;

const PLAIN: Explicit = Explicit::PLAIN;
const STUBBORN: Explicit = Explicit { stubborn: true, ..PLAIN };

/// A model as a net: assertions, invalid end states and a formula, in this order.
struct Model {
    lowered: Lowered,
    properties: Vec<Property>,
}

fn modelled(text: &str, formula: &str) -> Result<Model, String> {
    let mut map = SourceMap::new();
    let show = |map: &SourceMap, found: &[Diagnostic]| -> String {
        found.iter().map(|found| render(map, found, ColorChoice::Plain)).collect()
    };
    let file = map.add("model.pml", text);
    let mut loaded = load_text(&mut map, file).map_err(|found| show(&map, &found))?;
    let file = map.add("<ltl>", formula);
    let block = parse_formula(&map, file, "f", &mut loaded).map_err(|found| show(&map, &found))?;
    let observed: Vec<_> = block.atoms.iter().map(|atom| &atom.expr).collect();
    let options = LowerOptions { max_processes: 8 };
    let lowered = lower(&map, &loaded.model, &observed, &options).map_err(|found| show(&map, &found))?;
    let broken = verify_net(&lowered.net);
    if !broken.is_empty() {
        return Err(format!("{broken:?}\n{}", lowered.net));
    }
    let fails =
        lowered.net.transitions.iter_enumerated().filter(|(_, data)| data.action == Action::AssertFail);
    let asserts = PropertyKind::NeverFires(fails.map(|(transition, _)| transition).collect());
    let end = Expr::both(Expr::Deadlock, lowered.unfinished.clone());
    let atoms = vec![AtomData { text: "invalid end state".to_owned(), expr: end }];
    let never = Ltl::globally(Ltl::not(Ltl::Atom(pdnet_logic::Atom::new(0))));
    let ends = PropertyKind::Ltl { formula: never, atoms };
    let atom = |(atom, expr): (&pdnet_front_promela::tree::LtlAtom, &Expr)| AtomData {
        text: atom.text.clone(),
        expr: expr.clone(),
    };
    let mut atoms: Vec<AtomData> = block.atoms.iter().zip(&lowered.atoms).map(atom).collect();
    let mut asked = block.formula.clone();
    if let Some(atomic) = lowered.net.atomic {
        // As in SPIN, what is inside of atomic sequences is not seen.
        asked = asked.outside(pdnet_logic::Atom::new(atoms.len()));
        let expr = Expr::Cell(atomic, Vec::new());
        atoms.push(AtomData { text: "inside of atomic".to_owned(), expr });
    }
    let asked = PropertyKind::Ltl { formula: asked, atoms };
    let property = |name: &str, class, kind| {
        let text = if name == "ltl" { formula } else { name };
        Property { name: name.to_owned(), text: text.to_owned(), class, kind }
    };
    let properties = vec![
        property("assert", "unreach-call", asserts),
        property("end", "no-deadlock", ends),
        property("ltl", "valid-ltl", asked),
    ];
    Ok(Model { lowered, properties })
}

/// The reductions of the net as the command line uses them, one property at a time: slicing, then merging.
struct Reduced {
    slices: bool,
    merges: bool,
}

impl Engine for Reduced {
    fn name(&self) -> &'static str {
        "reduced"
    }

    fn check(&self, request: &Request<'_>, observer: &mut dyn Observer) -> Vec<Outcome> {
        let fairness = request.fairness;
        let mut outcomes = Vec::new();
        for property in request.properties {
            let asked = std::slice::from_ref(property);
            let cut = self.slices.then(|| slice(request.net, asked, fairness, Method::OnDemand));
            let (net, properties) =
                cut.as_ref().map_or((request.net, asked), |cut| (&cut.net, &cut.properties[..]));
            let merged = if self.merges { agglomerate(net, properties, fairness) } else { None };
            let (small, small_properties) =
                merged.as_ref().map_or((net, properties), |merged| (&merged.net, &merged.properties[..]));
            assert!(verify_net(small).is_empty(), "{:?}", verify_net(small));
            let limits = Limits::default();
            let small_request = Request { net: small, properties: small_properties, fairness, limits };
            let mut outcome = Explicit::default().check(&small_request, observer).remove(0);
            if let Verdict::Violated(trace) = &mut outcome.verdict {
                if let Some(merged) = &merged {
                    *trace = merged.lift(net, trace).expect("a run of merged steps is one of single ones");
                }
                if let Some(cut) = &cut {
                    *trace = cut.lift(request.net, trace).expect("a run of the slice is one of the model");
                }
            }
            outcomes.push(outcome);
        }
        outcomes
    }
}

/// In two halves, so that both cores have work.
#[test]
fn models_get_the_verdicts_of_the_reference() {
    compare_models(Rng::test_seed(1));
}

#[test]
fn more_models_get_the_verdicts_of_the_reference() {
    compare_models(Rng::test_seed(1).wrapping_add(1_000_000));
}

fn compare_models(seed: u64) {
    let n_models = Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_MODELS).div_ceil(2);
    let (mut n_compared, mut n_large, mut n_violated, mut n_holds) = (0, 0, 0, 0);
    let mut merged = Merged::default();
    for number in 0..n_models {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let text = random_promela(&mut rng, &PromelaConfig::default());
        let formula = random_promela_formula(&mut rng);
        let fairness = *rng.pick(&[Fairness::None, Fairness::Weak, Fairness::Strong]);
        let context = || format!("seed {seed}, model {number}: {formula} under {fairness:?}\n{text}");
        let model = modelled(&text, &formula).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        let Some(graph) = ReachableGraph::build(&model.lowered.net, LIMIT) else {
            n_large += 1;
            continue;
        };
        model.properties.iter().for_each(|property| merged.add(&model.lowered.net, property, fairness));
        let (violated, holds) = compare_engines(&model, &graph, fairness, context);
        n_compared += 1;
        n_violated += violated;
        n_holds += holds;
    }
    let summary =
        format!("{n_compared} compared, {n_large} large, {n_violated} violated, {n_holds} hold; {merged:?}");
    report(&summary);
    assert!(n_compared * 4 >= n_models * 3, "seed {seed}: {summary}");
    let asked = 3 * n_compared;
    assert!(merged.questions * 4 > asked * 3 && merged.pre > n_compared, "seed {seed}: {summary}");
    assert!(n_violated * 4 > n_compared && n_holds * 4 > n_compared, "seed {seed}: {summary}");
}

/// Compares all engines with the reference. The result is how many properties are violated, and how many hold.
fn compare_engines(
    model: &Model,
    graph: &ReachableGraph<'_>,
    fairness: Fairness,
    context: impl Fn() -> String,
) -> (usize, usize) {
    // Two workers share the work on a formula in another way than three.
    let [two, three] = [2, 3].map(|workers| Crew { workers, from_states: 2 });
    let engines: [&dyn Engine; 8] = [
        &PLAIN,
        &STUBBORN,
        &Explicit::default(),
        &Explicit { crew: two, ..PLAIN },
        &Explicit { crew: three, ..Explicit::default() },
        &Reduced { slices: true, merges: false },
        &Reduced { slices: false, merges: true },
        &Reduced { slices: true, merges: true },
    ];
    let mut found = (0, 0);
    for (at, engine) in engines.iter().enumerate() {
        let report = compare(*engine, graph, &model.properties, fairness, at == 0)
            .unwrap_or_else(|found| panic!("engine {at}, {}\n{found}", context()));
        found = (report.violated, report.holds);
    }
    found
}

/// Models in which what gets in the way of what depends on values.
#[test]
fn networks_get_the_verdicts_of_the_reference() {
    let seed = Rng::test_seed(1);
    let n_models = Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_MODELS);
    let (mut n_compared, mut n_violated, mut n_holds) = (0, 0, 0);
    let (mut n_plain, mut n_reduced) = (0, 0);
    for number in 0..n_models {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let text = random_channels(&mut rng);
        let formula = random_promela_formula(&mut rng);
        let fairness = *rng.pick(&[Fairness::None, Fairness::None, Fairness::Weak, Fairness::Strong]);
        let context = || format!("seed {seed}, network {number}: {formula} under {fairness:?}\n{text}");
        let model = modelled(&text, &formula).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        let Some(graph) = ReachableGraph::build(&model.lowered.net, LIMIT) else { continue };
        let (violated, holds) = compare_engines(&model, &graph, fairness, context);
        n_compared += 1;
        n_violated += violated;
        n_holds += holds;
        n_plain += n_states(&PLAIN, &model, 1);
        n_reduced += n_states(&STUBBORN, &model, 1);
    }
    let summary = format!(
        "{n_compared} compared, {n_violated} violated, {n_holds} hold; {n_plain} states, reduced {n_reduced}"
    );
    report(&summary);
    assert!(n_compared * 2 >= n_models, "seed {seed}: {summary}");
    assert!(n_violated * 4 > n_compared && n_holds * 4 > n_compared, "seed {seed}: {summary}");
    assert!(n_reduced * 2 < n_plain, "seed {seed}: {summary}");
}

/// How many states an engine visits for one of the properties.
fn n_states(engine: &Explicit, model: &Model, property: usize) -> u64 {
    let properties = std::slice::from_ref(&model.properties[property]);
    let limits = Limits::default();
    let request = Request { net: &model.lowered.net, properties, fairness: Fairness::None, limits };
    engine.check(&request, &mut Silent)[0].stats.states
}

/// Models in which careless stubborn sets give the wrong answer: what it is about, the model, and a formula.
const STUBBORN_TRAPS: &[(&str, &str, &str)] = &[
    (
        "a process that sends to itself forever does not hide what another one does",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte i; do :: q!1; q?i od }
        active proctype s() { byte k; k = 1; k = 2; assert(k != 2) }",
        "<> (x == 1)",
    ),
    (
        "nor does one that waits for its own message and makes the other visible step late",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte i; q!1; do :: q?i; q!i od }
        active proctype s() { byte k; k = 1; x = 1; x = 2 }",
        "[] (x != 2)",
    ),
    (
        "a second sender",
        "chan q = [2] of { byte }; byte x;
        active proctype p() { q!1 } active proctype s() { q!2 }
        active proctype r() { byte i; q?i; x = i; q?i; assert(i != 1) }",
        "[] (x != 2)",
    ),
    (
        "a second receiver, who takes what does not fit the first",
        "chan q = [2] of { byte }; byte x;
        active proctype p() { q!1; q!2 }
        active proctype r() { byte i; if :: q?2; x = 1 :: q?1; x = 2 fi }
        active proctype s() { byte i; q?i }",
        "[] (x != 1)",
    ),
    (
        "a channel whose end is handed over in a message",
        "chan q[2] = [2] of { byte }; chan h = [1] of { chan }; byte x;
        active proctype p() { h!q[0]; q[0]!1 }
        active proctype s() { chan c; h?c; c!2 }
        active proctype r() { byte i; q[0]?i; x = i; q[0]?i }",
        "[] (x != 2)",
    ),
    (
        "a key that changes later",
        "chan q[2] = [2] of { byte }; byte x;
        proctype p(chan out) { out!1 }
        proctype s(chan out) { byte k; k = 1; out = q[0]; out!2 }
        proctype r() { byte i; q[0]?i; assert(i != 2) }
        init { atomic { run p(q[0]); run s(q[1]); run r() } }",
        "[] (x != 2)",
    ),
    (
        "an element of an array that is reached by another key later",
        "byte a[2]; byte x;
        proctype p() { a[0] = 1 }
        proctype s(byte n) { x = 1; n = 0; assert(a[n] == 1) }
        init { atomic { run p(); run s(1) } }",
        "<> (x == 1)",
    ),
    (
        "a receive that cannot be done yet, beside a step that can",
        "chan q = [1] of { byte }; byte x;
        active [2] proctype p() { q!1 }
        active proctype r() { byte i; if :: q?i -> assert(false) :: skip fi }",
        "[] (x == 0)",
    ),
    (
        "a send that cannot be done yet, beside a step that can",
        "chan q = [1] of { byte }; byte x;
        active proctype s() { q!1; if :: q!2 -> assert(false) :: skip fi }
        active [2] proctype r() { byte i; q?i }",
        "[] (x == 0)",
    ),
    (
        "a poll on the channel",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; q!1 }
        active proctype s() { byte k; k = 1; if :: q?[1] -> x = 1 :: !(q?[1]) -> x = 2 fi }
        active proctype r() { byte i; q?i }",
        "[] (x != 2)",
    ),
    (
        "the number of messages",
        "chan q = [2] of { byte }; byte x;
        active proctype p() { q!1; q!2 }
        active proctype r() { byte i; q?i; q?i }
        active proctype s() { x = len(q); assert(x != 2) }",
        "[] (x != 1)",
    ),
    (
        "a question for a message that another process may take",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; q!1 }
        active proctype r() { byte i; q?i }
        active proctype s() { byte k; k = 1; nempty(q); assert(false) }",
        "[] (x == 0)",
    ),
    (
        "a question for room that another process may take",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { q!1 }
        active proctype s() { byte k; k = 1; k = 2; nfull(q); x = 1 }
        active proctype r() { byte k; k = 1; (x == 1); assert(false) }",
        "[] (x != 1)",
    ),
    (
        "a question of who receives, and of who sends, which the other makes true",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { do :: nfull(q) -> q!1; x = 1 - x od }
        active proctype r() { byte i; do :: nempty(q) -> q?i; assert(x != 1) od }",
        "[] (x != 1)",
    ),
    (
        "questions for a message and for room in one condition",
        "chan q = [1] of { byte }; chan u = [1] of { byte }; byte x;
        active proctype p() { q!1; u!2 }
        active proctype r() { byte i; if :: (nempty(q) && nfull(u)) -> assert(false) :: q?i -> x = 1 fi }",
        "[] (x != 1)",
    ),
    (
        "an `else` beside a receive",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; q!1 }
        active proctype r() { byte i; byte k; k = 1; if :: q?i :: else -> assert(false) fi }",
        "<> (x == 1)",
    ),
    (
        "a `timeout`, which must wait for who can move",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; k = 2; q!1 }
        active proctype r() { byte i; if :: q?i -> x = 1 :: timeout -> x = 2 fi }",
        "[] (x != 2)",
    ),
    (
        "who waits for a message loses his atomic sequence, unless it is there already",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; q!1 }
        active proctype r() { byte i; atomic { x = 1; q?i; x = 2 } }
        active proctype s() { byte k; k = 1; assert(x != 1) }",
        "[] (x != 1)",
    ),
    (
        "who waits for room loses his atomic sequence, unless there is some",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte i; byte k; k = 1; q?i; q?i }
        active proctype r() { q!1; atomic { x = 1; q!2; x = 2 } }
        active proctype s() { byte k; k = 1; assert(x != 1) }",
        "[] (x != 1)",
    ),
    (
        "`unless` looks at the channel",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; q!1 }
        active proctype r() { byte i; { x = 1; x = 2; assert(false) } unless { q?i } }",
        "[] (x != 2)",
    ),
    (
        "`provided` looks at what others write",
        "byte x;
        active proctype p() provided (x == 0) { byte k; k = 1; k = 2; assert(k == 0) }
        active proctype s() { x = 1; x = 2 }",
        "<> (x == 2)",
    ),
    (
        "`provided` looks at a channel",
        "chan q = [1] of { byte }; byte x;
        active proctype p() provided (empty(q)) { byte k; k = 1; k = 2; assert(k == 0) }
        active proctype s() { q!1; x = 1 }",
        "<> (x == 1)",
    ),
    (
        "what is sent is read when it is sent",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { q!x } active proctype s() { x = 1; x = 2 }
        active proctype r() { byte i; q?i; assert(i != 1) }",
        "[] (x != 2)",
    ),
    (
        "only the youngest process can end, and the others look at how many there are",
        "byte x;
        proctype p() { byte k; k = 1; k = 2 }
        init { run p(); run p(); if :: _nr_pr == 2 -> x = 2 :: _nr_pr == 1 -> x = 1 fi; assert(x != 2) }",
        "[] (x != 2)",
    ),
    (
        "how many processes there are, where one can end",
        "byte x;
        proctype p() { skip }
        init { atomic { run p(); run p() }; if :: _nr_pr == 3 -> x = 1 :: _nr_pr < 3 -> assert(false) fi }",
        "[] (x == 0)",
    ),
    (
        "a process that begins with the number of one that has ended",
        "byte x; chan q[3] = [1] of { byte };
        proctype p() { q[_pid]!1; x = _pid }
        init { run p(); (_nr_pr == 1); run p(); (_nr_pr == 1); assert(x == 0) }",
        "[] (x == 0)",
    ),
    (
        "a rendezvous goes before an `else` as soon as the other is there",
        "chan r = [0] of { byte }; chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; k = 1; q!1 }
        active proctype s() { byte i; q?i; r?i }
        active proctype t() { if :: r!1 -> x = 1 :: else -> x = 2 fi }",
        "[] (x != 2)",
    ),
    (
        "what comes first of two things that are seen",
        "chan q = [1] of { byte }; byte x; byte y;
        active proctype p() { q!1; x = 1 } active proctype s() { byte i; q?i; y = 1 }",
        "[] (x == 1 || y == 0)",
    ),
    (
        "a local variable that another process looks at between two local steps",
        "byte x;
        active proctype p() { byte k; k = 1; k = 2; x = 1 }
        active proctype s() { byte j; j = 1; assert(p:k != 1) }",
        "[] (x == 0)",
    ),
    (
        "a label that another process looks at",
        "byte x;
        active proctype p() { byte k; k = 1; L: k = 2; k = 3 }
        active proctype s() { byte j; j = 1; if :: p[0]@L -> x = 1 :: else -> x = 2 fi }",
        "[] (x != 1)",
    ),
    (
        "a process that waits at its label until it was seen there",
        "byte x;
        active proctype p() { byte k; k = 1; L: (x == 1); k = 3 }
        active proctype s() { byte j; j = 1; p@L; x = 1; !p@L; assert(false) }",
        "<> (x == 1)",
    ),
    (
        "a value that nobody but the other process reads any more",
        "byte x;
        active proctype p() { byte k; k = 2; x = 1 }
        active proctype s() { byte j; x == 1; assert(p:k == 2); j = p:k; x = j }",
        "<> (x == 2)",
    ),
    (
        "which process is the first one changes with who is started",
        "byte x;
        proctype p(byte n) { byte k; L: k = n; M: k = 0 }
        active proctype s() { run p(1); run p(2) }
        active proctype t() { byte j; j = 1; p@M; x = p:k; assert(x != 1) }",
        "[] (x != 2)",
    ),
    (
        "a process that looks at another is not alone with its locals",
        "byte x;
        active [2] proctype p() { byte k; k = 1 + _pid; L: if :: p[1 - _pid]:k == 0 -> x = 1 :: p[1 - _pid]@L -> x = 2 :: else fi }",
        "[] (x != 2)",
    ),
    (
        "`provided` that looks at a label",
        "byte x;
        active proctype p() { byte k; k = 1; L: k = 2; k = 3 }
        active proctype s() provided (p@L) { byte j; j = 1; j = 2; x = j }",
        "[] (x != 2)",
    ),
    (
        "a message that comes early must not keep a section from being lost",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; atomic { x = 1; q?k; x = 2 } }
        active proctype s() { q!1 }
        active proctype t() { assert(x != 1) }",
        "[] (x != 1)",
    ),
    (
        "nor room that is made early",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { q!0; atomic { x = 1; q!1; x = 2 } }
        active proctype s() { byte k; q?k }
        active proctype t() { assert(x != 1) }",
        "[] (x != 1)",
    ),
    (
        "a message that was there before the section was lost",
        "chan q = [1] of { byte }; byte x, y;
        active proctype p() { byte k; atomic { nempty(q) -> (x == 1) -> y = 1; q?k; y = 2 } }
        active proctype r() { byte k; q?k; x = 1 }
        active proctype s() { q!1; q!2 }
        active proctype t() { assert(y != 1) }",
        "[] (y != 1)",
    ),
    (
        "a message that the section itself takes out",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { byte k; atomic { nempty(q) -> q?k; x = 1; q?k; x = 2 } }
        active proctype s() { q!1; q!2 }
        active proctype t() { assert(x != 1) }",
        "[] (x != 1)",
    ),
    (
        "a message of another channel, named by a variable that was changed",
        "chan q[2] = [1] of { byte }; byte x;
        active proctype p() { chan c; byte k; c = q[0]; atomic { nempty(c) -> c = q[1]; x = 1; c?k; x = 2 } }
        active proctype s() { q[0]!1; q[1]!2 }
        active proctype t() { assert(x != 1) }",
        "[] (x != 1)",
    ),
    (
        "a section without end hides nobody",
        "byte x;
        active proctype p() { byte k; k = 1; atomic { k = 2; do :: k == 2 -> k = 3 :: k == 3 -> k = 2 od } }
        active proctype s() { byte j; j = 1; x = 1; assert(x == 0) }",
        "<> (x == 1)",
    ),
    (
        "nor does one that goes round through sections",
        "byte x;
        active proctype p() { byte k; do :: atomic { k = 1; k = 2; k = 3 } od }
        active proctype s() { byte j; j = 1; x = 1; assert(x == 0) }",
        "<> (x == 1)",
    ),
    (
        "and two of them",
        "byte x;
        active [2] proctype p() { byte k; do :: atomic { k = 1; k = 2 } :: atomic { k = 3; k = 4 } od }
        active proctype s() { byte j; do :: j < 3 -> j++ :: else -> break od; x = 1; assert(x == 0) }",
        "<> (x == 1)",
    ),
    (
        "a section that reads deep inside what another one writes",
        "byte x;
        active proctype p() { byte k; atomic { k = 1; k = 2; k = x; assert(k == 0) } }
        active proctype s() { byte j; j = 1; x = 1 }",
        "[] (x == 0)",
    ),
    (
        "a section that writes deep inside what another one reads",
        "byte x;
        active proctype p() { byte k; atomic { k = 1; k = 2; x = 1 } }
        active proctype s() { byte j; j = x; assert(j == 1) }",
        "[] (x == 0)",
    ),
    (
        "only on one of two ways through a section",
        "byte x;
        active proctype p() { byte k; atomic { k = 1; if :: k = 2 :: k = 3; x = 1 fi; k = 4 } }
        active proctype s() { byte j; j = x; assert(j == 0) }",
        "[] (x == 0)",
    ),
    (
        "a step inside that waits for another thread",
        "byte x, y;
        active proctype p() { byte k; atomic { k = 1; (x == 1); k = 2; y = 1 } }
        active proctype s() { byte j; j = 1; x = 1; x = 2 }
        active proctype t() { assert(y == 0 || x == 2) }",
        "[] (y == 0 || x == 2)",
    ),
    (
        "sections that the formula sees the ends of",
        "byte x, y;
        active proctype p() { byte k; atomic { k = 1; x = 1 }; atomic { k = 2; x = 2 } }
        active proctype s() { byte j; atomic { j = 1; y = 1 }; atomic { j = 2; y = 2 } }",
        "[] (x == 1 -> y != 1)",
    ),
    (
        "and in which order they come",
        "byte x, y;
        active proctype p() { byte k; atomic { k = 1; x = 1 } }
        active proctype s() { byte j; atomic { j = 1; y = 1 } }",
        "<> (x == 1 && y == 0)",
    ),
    (
        "a formula does not see what is undone inside",
        "byte x, y;
        active proctype p() { byte k; atomic { x = 1; k = 1; x = 0 }; k = 2; y = 1 }
        active proctype s() { byte j; atomic { j = 1; j = 2 }; j = 3 }",
        "[] (x == 0) && <> (y == 1)",
    ),
    (
        "a section that is never left, and a formula about those outside",
        "byte x;
        active proctype p() { byte k; do :: atomic { k = 1; do :: k == 1 -> k = 2 :: k == 2 -> k = 1 :: break od } od }
        active proctype s() { byte j; j = 1; x = 1 }",
        "<> (x == 1)",
    ),
    (
        "a state before a section that changes what is looked at, of the only process that is left",
        "byte x;
        active proctype p() { byte k; atomic { k = 1; x = 2 } }
        active proctype s() { atomic { x == 0; x = 1 } }",
        "[] (x != 1)",
    ),
    (
        "the same with a formula about cycles",
        "byte x;
        active proctype p() { byte k; do :: atomic { k = 1; x = 2 } od }
        active proctype s() { atomic { x == 0; x = 1 } }",
        "<> (x == 1) -> [] <> (x == 1)",
    ),
    (
        "a long section",
        "byte x;
        active proctype p() { byte k; atomic { do :: k < 100 -> k++ :: else -> break od; x = 1 } }
        active proctype s() { byte j; j = 1; assert(x == 1) }",
        "[] (x == 0)",
    ),
    (
        "a section that goes over to a partner",
        "chan r = [0] of { byte }; byte x;
        active proctype p() { byte k; atomic { k = 1; r!1; x = 1 } }
        active proctype s() { byte j; atomic { r?j; j = 2; x = 2 } }
        active proctype t() { assert(x != 2) }",
        "[] (x != 1)",
    ),
    (
        "a section that starts a process",
        "byte x;
        proctype c() { x = 1 }
        active proctype p() { byte k; atomic { k = 1; run c(); k = 2 } }
        active proctype s() { byte j; j = x; assert(j == 0 || _nr_pr < 3) }",
        "[] (x == 0)",
    ),
    (
        "who asks for room and who takes it",
        "chan q = [1] of { byte }; byte x;
        active proctype p() { nfull(q); x = 1; assert(len(q) == 0) }
        active proctype s() { byte j; j = 1; q!1 }",
        "[] (x == 0)",
    ),
    (
        "who asks for a message and who takes it",
        "chan q = [2] of { byte }; byte x;
        active proctype p() { q!1; if :: nempty(q) -> x = 1 :: empty(q) -> x = 2 fi }
        active proctype s() { byte j; q?j }",
        "[] (x != 2)",
    ),
    (
        "a poll of the first message, behind which others come, and before which one goes",
        "chan q = [2] of { byte }; byte x;
        active proctype p() { q!1; q!2 }
        active proctype s() { byte j; q?1 }
        active proctype t() { if :: q?[2] -> x = 1 :: q?[1] -> x = 2 fi }",
        "[] (x != 1)",
    ),
    (
        "what a trace sees, by a channel that is named later",
        "chan q[2] = [1] of { byte }; byte x;
        trace { do :: q[0]!1; q[0]!2 od }
        proctype p(chan c) { c!1; c!2 }
        proctype s(chan c) { byte k; c!1; k = 1; c = q[0]; c!2 }
        active proctype r() { byte k; do :: q[0]?k :: q[1]?k od }
        init { atomic { run p(q[0]); run s(q[1]) } }",
        "[] (x == 0)",
    ),
];

#[test]
fn stubborn_sets_walk_into_no_trap() {
    for (name, text, formula) in STUBBORN_TRAPS {
        let model = modelled(text, formula).unwrap_or_else(|error| panic!("{name}\n{error}"));
        let graph = ReachableGraph::build(&model.lowered.net, LIMIT).expect(name);
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            compare_engines(&model, &graph, fairness, || format!("{name}, {fairness:?}"));
        }
    }
}

/// Models in which careless merging gives the wrong answer, or a run that is none.
const TRAPS: &[(&str, &str)] = &[
    // The partner is in an atomic sequence when they have met: the sender cannot go on at once.
    (
        "chan r = [0] of { byte };
        byte x;
        active proctype p() { byte k; r!1; k = 1; k = 2; x = k }
        active proctype q() { byte y; atomic { r?y; x = 1; x = 3 } }",
        "<> (x == 3)",
    ),
    // While the other is not yet there, the sender's `else` is taken; if he always were, it would not.
    (
        "chan r = [0] of { byte };
        byte x;
        active proctype p() { if :: r!1 :: else -> x = 2 fi }
        active proctype q() { byte y; byte k; k = 1; k = 2; r?y; x = y }",
        "[] (x != 2)",
    ),
    // Who waits for the other loses his atomic sequence, and a third one comes between.
    (
        "chan r = [0] of { byte };
        byte x;
        active proctype p() { atomic { x = 1; r!1; x = 2 } }
        active proctype q() { byte y; byte k; k = 1; k = 2; r?y }
        active proctype s() { assert(x != 1) }",
        "[] (x != 2)",
    ),
    // What may be put off must not be in the way of `timeout`.
    (
        "byte x;
        active proctype p() { byte k; k = 1; k = 2; (x == 1); x = k }
        active proctype q() { timeout; x = 1 }",
        "<> (x == 2)",
    ),
    // A process that is blocked at a valid end is not to be taken for one before it.
    (
        "byte x;
        active proctype p() { byte k; k = 1; end: (x == 1) }",
        "[] (x == 0)",
    ),
    // A number that is given again: the new process begins anew.
    (
        "byte x;
        proctype child() { byte k; k = k + 1; k = k + 1; x = k }
        init { run child(); (_nr_pr == 1); run child(); (_nr_pr == 1); assert(x == 2) }",
        "[] (x < 3)",
    ),
    // Between the announcement and the meeting the other one is not yet there, and `else` is taken.
    (
        "chan r = [0] of { byte };
        byte x; bit go;
        active proctype p() { (go == 1); if :: r!1 :: else -> x = 2 fi }
        active proctype q() { byte y; byte k; go = 1; k = 2; r?y }
        active proctype z() { byte j; j = 1; j = 2 }",
        "[] (x != 2)",
    ),
    // The same where the one who waits loses his atomic sequence, so that a third one comes between.
    (
        "chan r = [0] of { byte };
        byte x; bit go;
        active proctype p() { atomic { (go == 1); x = 1; r!1; x = 2 } }
        active proctype q() { byte y; byte k; go = 1; k = 2; r?y }
        active proctype s() { assert(x != 1) }
        active proctype z() { byte j; j = 1; j = 2 }",
        "[] (x != 1)",
    ),
    // The one who sends can move again and again but not always, so that weak fairness does not help him.
    (
        "chan r = [0] of { byte };
        byte x; bit go;
        active proctype p() { r!1; x = 3 }
        active proctype q() { byte y; byte k; do :: r?y -> break :: go = 1 - go; k = 2 od }
        active proctype z() { byte j; j = 1; j = 2 }",
        "<> (x == 3)",
    ),
    // Two that wait until nobody can move: the second one cannot always, because of a step of the first.
    (
        "byte x;
        active proctype p() { byte k; do :: timeout -> k = 1; k = 2 od }
        active proctype q() { timeout; x = 1 }
        active proctype z() { byte j; j = 1; j = 2 }",
        "<> (x == 1)",
    ),
    // Inside of a `d_step` the first option is taken, whatever became of it.
    (
        "byte x;
        active proctype p() { byte k; byte m; k = 3; d_step { if :: m = 1; k = 2 :: m = 5 fi; x = k + m } }
        active proctype q() { byte k; k = 1; k = 2; x = k }",
        "[] (x != 8)",
    ),
    // Another process sees the label between two steps that nobody else could tell apart.
    (
        "byte x;
        active proctype p() { byte k; k = 1; L: k = 2; k = 3 }
        active proctype q() { byte j; j = 1; j = 2; if :: p@L -> x = 1 :: else fi }",
        "[] (x != 1)",
    ),
    // The same of a value in the middle.
    (
        "byte x;
        active proctype p() { byte k; k = 1; k = 2; k = 3 }
        active proctype q() { byte j; j = 1; j = 2; x = p[0]:k }",
        "[] (x != 2)",
    ),
    // Waiting at a label is seen: what comes behind it must not be done before.
    (
        "byte x;
        active proctype p() { byte k; byte m; m = 1; L: (x == 1); M: k = 3; m = 2 }
        active proctype q() { byte j; j = 1; j = 2; p@L; x = 1; if :: p@M -> x = 2 :: else fi }",
        "[] (x != 2)",
    ),
    // At the end of a process its label and its variables are gone.
    (
        "byte x;
        proctype c() { byte k; k = 1; L: k = 2 }
        init { byte j; run c(); (_nr_pr == 1); j = 1; j = 2; if :: c@L || c:k != 0 || c[1]:k != 0 -> x = 1 :: else fi }",
        "[] (x != 1)",
    ),
    // Of a rendezvous the sender has gone on when the receiver looks.
    (
        "chan r = [0] of { byte };
        byte x;
        active proctype p() { byte k; k = 1; k = 2; L: r!1; M: k = 3 }
        active proctype q() { byte j; j = 1; j = 2; r?eval(1 - p@L); x = 1 }",
        "<> (x == 1)",
    ),
];

#[test]
fn traps_for_merging() {
    for (text, formula) in TRAPS {
        let model = modelled(text, formula).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let graph = ReachableGraph::build(&model.lowered.net, LIMIT).expect("a small model");
        let mut merged = Merged::default();
        for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
            model.properties.iter().for_each(|property| merged.add(&model.lowered.net, property, fairness));
            for slices in [false, true] {
                let engine = Reduced { slices, merges: true };
                if let Err(found) = compare(&engine, &graph, &model.properties, fairness, false) {
                    panic!("{fairness:?}\n{text}\n{found}");
                }
            }
        }
        assert!(merged.questions > 0, "nothing is merged in\n{text}");
    }
}

/// What merging steps made of models.
#[derive(Debug, Default)]
struct Merged {
    /// Properties for which steps were merged.
    questions: usize,
    /// At how many places, by each of the rules.
    post: usize,
    pre: usize,
}

impl Merged {
    fn add(&mut self, net: &Net, property: &Property, fairness: Fairness) {
        if let Some(merged) = agglomerate(net, std::slice::from_ref(property), fairness) {
            self.questions += 1;
            self.post += merged.post;
            self.pre += merged.pre;
        }
    }
}

#[expect(clippy::print_stderr, reason = "who asks for many models wants to know what was compared")]
fn report(summary: &str) {
    eprintln!("{summary}");
}

/// Assertions are steps that do nothing, so that SPIN's search for a formula stops at none.
fn without_assertions(text: &str) -> String {
    let is_assertion = |line: &str| line.trim_start().starts_with("assert(");
    text.lines()
        .map(|line| if is_assertion(line) { "\tskip;\n".to_owned() } else { format!("{line}\n") })
        .collect()
}

/// Which properties fail, and how many states there are as SPIN counts them. None where a bound of the model was met.
fn answers(model: &Model) -> Option<(Vec<bool>, u64)> {
    let net = &model.lowered.net;
    let limits = Limits { states: Some(200_000), ..Limits::default() };
    let request = Request { net, properties: &model.properties, fairness: Fairness::None, limits };
    let outcomes = PLAIN.check(&request, &mut Silent);
    if outcomes.iter().any(|outcome| matches!(outcome.verdict, Verdict::Unknown(_))) {
        return None;
    }
    let fails = outcomes.iter().map(|outcome| matches!(outcome.verdict, Verdict::Violated(_))).collect();
    // A search of the whole space: a property that nothing breaks.
    let kind = PropertyKind::NeverFires(Vec::new());
    let all = [Property { name: "all".into(), text: "all".into(), class: "all", kind }];
    let request = Request { net, properties: &all, fairness: Fairness::None, limits };
    let outcome = PLAIN.check(&request, &mut Silent).remove(0);
    let states = outcome.stats.states_outside.unwrap_or(outcome.stats.states);
    matches!(outcome.verdict, Verdict::Holds).then_some((fails, states))
}

#[test]
fn spin_says_the_same_of_models() {
    let Some(spin) = Spin::find() else { return };
    let seed = Rng::test_seed(5);
    let n_models = Rng::test_number("PDNET_SPIN_MODELS").unwrap_or(N_SPIN_MODELS);
    let (mut n_compared, mut n_counted, mut n_violated, mut differ) = (0, 0, 0, Vec::new());
    for number in 0..n_models {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let text = random_promela(&mut rng, &PromelaConfig::default());
        let formula = random_promela_formula(&mut rng);
        let context = || format!("seed {seed}, model {number}: {formula}\n{text}");
        let model = modelled(&text, &formula).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        if ReachableGraph::build(&model.lowered.net, LIMIT).is_none() {
            continue;
        }
        // SPIN would make 255 processes.
        let Some((fails, _)) = answers(&model) else { continue };
        // A variable that only the formula looks at is a part of the state here, and not in SPIN's run without it.
        let unasked = modelled(&text, "true").unwrap_or_else(|error| panic!("{}\n{error}", context()));
        let Some((_, states)) = answers(&unasked) else { continue };
        let options = ["-DSAFETY", "-DNOREDUCE"];
        let runs = spin.verify(&text, &["-o3"], &options, &[&["-E"], &["-A"], &["-c0"]]);
        if matches!(&runs, Err(error) if error.output.contains("max search depth too small")) {
            // SPIN follows a loop inside of an atomic sequence forever.
            continue;
        }
        let runs = runs.unwrap_or_else(|error| panic!("{}\n{error}", context()));
        for (run, (what, fails)) in runs.iter().zip([("assertions", fails[0]), ("end states", fails[1])]) {
            // A failed assertion ends a run here and not in SPIN, so that SPIN may find more ends.
            let is_open = what == "end states" && fails != (run.errors > 0) && model_fails_assertion(&runs);
            assert!(
                fails == (run.errors > 0) || is_open,
                "{what}: {} here: {fails}\n{}",
                context(),
                run.output
            );
            n_violated += usize::from(fails);
        }
        if !model_fails_assertion(&runs) {
            n_counted += 1;
            if runs[2].states != states {
                differ.push(format!("{states} here, {} in SPIN: {}", runs[2].states, context()));
            }
        }
        let calm = without_assertions(&text);
        let model = modelled(&calm, &formula).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        let Some((fails, _)) = answers(&model) else { continue };
        let asked = format!("{calm}ltl f {{ {formula} }}\n");
        let runs = spin.verify(&asked, &["-o3"], &["-DNOREDUCE"], &[&["-a"]]);
        if matches!(&runs, Err(error) if ["unconditional self-loop", "max search depth"].iter().any(|text| error.output.contains(text)))
        {
            // SPIN does not want it, or follows a loop inside of an atomic sequence forever.
            continue;
        }
        let runs = runs.unwrap_or_else(|error| panic!("{}\n{error}", context()));
        assert_eq!(fails[2], runs[0].errors > 0, "formula: {}\n{}", context(), runs[0].output);
        n_violated += usize::from(fails[2]);
        n_compared += 1;
    }
    report(&format!(
        "{n_compared} compared with SPIN, {n_violated} violated, {n_counted} counted, {} counts differ",
        differ.len()
    ));
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

fn model_fails_assertion(runs: &[pdnet_testkit::SpinRun]) -> bool {
    runs[0].errors > 0
}
