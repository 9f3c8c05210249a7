//! Threads and processes that run the same function forever: the reduction *symmetry* on formulas that are broken on cycles, alone and together
//! with all other reductions of the search, against the reference.
//!
//! `PDNET_SEED=7 PDNET_PROGRAMS=5000 cargo test -p pdnet-testkit --test symmetry` tries others, and more.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{AtomData, Engine, Fairness, Property, PropertyKind};
use pdnet_explicit::{Crew, Explicit, Jit};
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_logic::{Ltl, parse_formula};
use pdnet_net::{Expr, Net, verify_net};
use pdnet_reduce::agglomerate;
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use pdnet_testkit::{
    ReachableGraph, Resumed, compare, random_alike, random_alike_formula, random_alike_model,
    random_alike_model_formula,
};

const N_PROGRAMS: usize = 300;
/// Programs with more markings are passed over.
const LIMIT: usize = 2500;

fn n_programs() -> usize {
    Rng::test_number("PDNET_PROGRAMS").unwrap_or(N_PROGRAMS)
}

/// A net, and what is asked of it.
type Case = (Net, Vec<Property>);

fn shown(map: &SourceMap, found: &[Diagnostic]) -> String {
    found.iter().map(|found| render(map, found, ColorChoice::Plain)).collect()
}

fn property(text: &str, formula: Ltl, atoms: Vec<AtomData>) -> Property {
    let kind = PropertyKind::Ltl { formula, atoms };
    Property { name: "ltl".into(), text: text.into(), class: "valid-ltl", kind }
}

fn program(text: &str, formulas: &[String], atomicity: Atomicity) -> Result<Case, String> {
    let mut map = SourceMap::new();
    let file = map.add("alike.i", text);
    let loaded =
        load_preprocessed(&mut map, file, &Options::default()).map_err(|found| shown(&map, &found))?;
    let mut parsed = Vec::new();
    for text in formulas {
        let file = map.add("<ltl>", text.as_str());
        parsed.push(parse_formula(&map, file).map_err(|found| shown(&map, &[found]))?);
    }
    let options = LowerOptions { atomicity, max_threads: 5, max_depth: 3, ..LowerOptions::default() };
    let lowered = lower(&map, &loaded.program, &parsed, &options).map_err(|found| shown(&map, &found))?;
    let properties = parsed.iter().zip(&lowered.atoms).map(|(formula, exprs)| {
        let named = |(at, expr): (usize, &Expr)| AtomData {
            text: formula.atoms[pdnet_logic::Atom::new(at)].to_string(),
            expr: expr.clone(),
        };
        let atoms = exprs.iter().enumerate().map(named).collect();
        property(&formula.to_string(), formula.ltl.clone(), atoms)
    });
    Ok((lowered.net, properties.collect()))
}

fn model(text: &str, formula: &str) -> Result<Case, String> {
    let mut map = SourceMap::new();
    let file = map.add("alike.pml", text);
    let mut loaded = pdnet_front_promela::load_text(&mut map, file).map_err(|found| shown(&map, &found))?;
    let file = map.add("<ltl>", formula);
    let block = pdnet_front_promela::parse_formula(&map, file, "f", &mut loaded)
        .map_err(|found| shown(&map, &found))?;
    let observed: Vec<_> = block.atoms.iter().map(|atom| &atom.expr).collect();
    let options = pdnet_front_promela::LowerOptions { max_processes: 8 };
    let lowered = pdnet_front_promela::lower(&map, &loaded.model, &observed, &options)
        .map_err(|found| shown(&map, &found))?;
    let atoms = block.atoms.iter().zip(&lowered.atoms);
    let mut atoms: Vec<AtomData> =
        atoms.map(|(atom, expr)| AtomData { text: atom.text.clone(), expr: expr.clone() }).collect();
    let mut asked = block.formula.clone();
    if let Some(atomic) = lowered.net.atomic {
        // As in SPIN, what is inside of atomic sequences is not seen.
        asked = asked.outside(pdnet_logic::Atom::new(atoms.len()));
        let expr = Expr::Cell(atomic, Vec::new());
        atoms.push(AtomData { text: "inside of atomic".to_owned(), expr });
    }
    Ok((lowered.net, vec![property(formula, asked, atoms)]))
}

/// So many workers, who begin as soon as there is something to share.
const fn crew(workers: usize) -> Crew {
    Crew { workers, from_states: 2 }
}

/// What was met.
#[derive(Debug, Default)]
struct Tally {
    compared: usize,
    large: usize,
    holds: usize,
    violated: usize,
    /// Cases in which fewer states were visited.
    saved: usize,
    /// The same where steps were merged before.
    saved_merged: usize,
    /// Cases in which a cycle had to be gone along more than once.
    unrolled: usize,
}

impl Tally {
    fn add(&mut self, (net, properties): &Case, context: &dyn Fn() -> String) {
        let broken = verify_net(net);
        assert!(broken.is_empty(), "{}\n{broken:?}", context());
        let Some(graph) = ReachableGraph::build(net, LIMIT) else {
            self.large += 1;
            return;
        };
        let plain = Explicit::PLAIN;
        let alone = Explicit { symmetry: true, ..plain };
        let all = Explicit::default();
        let compared = |engine: &dyn Engine, fairness: Fairness| {
            compare(engine, &graph, properties, fairness, false)
                .unwrap_or_else(|found| panic!("{}\n{found}", context()))
        };
        let one = Fairness::None;
        let report = compared(&plain, one);
        let reduced = compared(&alone, one).visited;
        // Where a cycle has to be gone along again, and must not be, the formula is searched for on another graph.
        let is_unrolled = |engine: Explicit| {
            let once = Explicit { most_unrolled: 0, ..engine };
            compared(&once, one).visited != compared(&engine, one).visited
        };
        self.unrolled += usize::from(is_unrolled(alone) | is_unrolled(all));
        self.saved += usize::from(reduced < report.visited);
        let others = [
            Explicit { guided: false, ..all },
            Explicit { crew: crew(2), ..alone },
            Explicit { crew: crew(3), ..alone },
            Explicit { crew: crew(2), most_unrolled: 0, ..all },
            Explicit { crew: crew(3), ..all },
            Explicit { jit: Jit::On, ..all },
        ];
        for engine in &others {
            compared(engine, one);
        }
        for (first, second) in [(alone, alone), (all, all), (Explicit { most_unrolled: 0, ..alone }, alone)] {
            compared(&Resumed { first, second, same_states: false }, one);
        }
        for fairness in [Fairness::Weak, Fairness::Strong] {
            compared(&alone, fairness);
            compared(&all, fairness);
        }
        // One step may create several threads where steps were merged.
        if let Some(merged) = agglomerate(net, properties, one)
            && let Some(graph) = ReachableGraph::build(&merged.net, LIMIT)
        {
            let visited = [plain, alone, all, others[1]].map(|engine| {
                let found = compare(&engine, &graph, &merged.properties, one, false);
                found.unwrap_or_else(|found| panic!("merged: {}\n{found}", context())).visited
            });
            self.saved_merged += usize::from(visited[1] < visited[0]);
        }
        self.compared += 1;
        self.holds += report.holds;
        self.violated += report.violated;
    }

    /// A suite in which nearly all verdicts are the same, or nothing is exchanged, finds little. Of so many cases, threads are exchanged
    /// in one where steps were merged.
    fn assess(&self, seed: u64, share_merged: usize) {
        let Self { compared, large, holds, violated, saved, saved_merged, unrolled } = self;
        assert!(large * 2 < compared + large, "seed {seed}: {self:?}");
        assert!(holds * 6 > *compared && violated * 6 > *compared, "seed {seed}: {self:?}");
        assert!(saved_merged * share_merged > *compared, "seed {seed}: {self:?}");
        assert!(saved * 3 > *compared && unrolled * 20 > *compared, "seed {seed}: {self:?}");
    }
}

#[test]
fn threads_that_are_alike_get_the_verdicts_of_the_reference() {
    let seed = Rng::test_seed(1);
    let mut tally = Tally::default();
    for case in 0..n_programs() as u64 {
        let case_seed = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let mut rng = Rng::new(case_seed);
        let text = random_alike(&mut rng);
        let formulas = [random_alike_formula(&mut rng), random_alike_formula(&mut rng)];
        let atomicity = if rng.chance(30) { Atomicity::Access } else { Atomicity::Statement };
        let context = || format!("case seed {case_seed}\nformulas: {formulas:?}\n{text}");
        let case =
            program(&text, &formulas, atomicity).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        tally.add(&case, &context);
    }
    tally.assess(seed, 4);
}

#[test]
fn processes_that_are_alike_get_the_verdicts_of_the_reference() {
    let seed = Rng::test_seed(1);
    let mut tally = Tally::default();
    for case in 0..n_programs() as u64 {
        let case_seed = seed.wrapping_mul(1_000_033).wrapping_add(case);
        let mut rng = Rng::new(case_seed);
        let (text, formula) = (random_alike_model(&mut rng), random_alike_model_formula(&mut rng));
        let context = || format!("case seed {case_seed}\nformula: {formula}\n{text}");
        let case = model(&text, &formula).unwrap_or_else(|error| panic!("{}\n{error}", context()));
        tally.add(&case, &context);
    }
    // Little is merged in models that have few steps beside those that are seen.
    tally.assess(seed, 100);
}
