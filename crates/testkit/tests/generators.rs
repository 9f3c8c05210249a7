//! The generators: what they make must be well formed, the same for the same seed, and of a useful kind.

use std::collections::BTreeSet;

use pdnet_base::Rng;
use pdnet_logic::parse_formula;
use pdnet_net::{Action, verify_net};
use pdnet_source::SourceMap;
use pdnet_testkit::{
    Compiler, NetConfig, ProgramConfig, ReachableGraph, random_c_formula, random_c_program, random_formula,
    random_net,
};

#[test]
fn nets_are_well_formed() {
    let seed = Rng::test_seed(1);
    let mut rng = Rng::new(seed);
    for case in 0..3000 {
        let net = random_net(&mut rng, &NetConfig::default());
        let violations = verify_net(&net);
        assert!(violations.is_empty(), "seed {seed}, case {case}: {violations:?}\n{net}");
    }
}

#[test]
fn a_seed_gives_one_net() {
    for seed in 0..50 {
        let make = || random_net(&mut Rng::new(seed), &NetConfig::default());
        assert_eq!(make(), make(), "seed {seed}");
    }
}

#[test]
fn nets_are_small_and_show_all_features() {
    let seed = Rng::test_seed(2);
    let mut rng = Rng::new(seed);
    let mut sizes = Vec::new();
    let mut fired: BTreeSet<Action> = BTreeSet::new();
    for _ in 0..600 {
        let net = random_net(&mut rng, &NetConfig::default());
        let Some(graph) = ReachableGraph::build(&net, 2000) else {
            sizes.push(usize::MAX);
            continue;
        };
        sizes.push(graph.n_markings());
        for at in 0..graph.n_markings() {
            fired.extend(graph.edges(at).iter().map(|edge| net.transitions[edge.firing.transition].action));
        }
    }
    sizes.sort_unstable();
    let quantile = |percent: usize| sizes[sizes.len() * percent / 100];
    let text =
        format!("seed {seed}: sizes {} {} {} {}", quantile(10), quantile(50), quantile(75), quantile(90));
    assert!(quantile(10) >= 3 && quantile(50) >= 20 && quantile(90) <= 2000, "{text}");
    for action in [
        Action::Lock,
        Action::Unlock,
        Action::Wait1,
        Action::Wait2,
        Action::Wait3,
        Action::Signal,
        Action::Broadcast,
        Action::Create,
        Action::Join,
        Action::Call,
        Action::Return,
        Action::ThreadEnd,
        Action::ProcessEnd,
        Action::AtomicBegin,
        Action::AtomicEnd,
        Action::Assume,
        Action::AssertFail,
        Action::Error,
        Action::Library,
        Action::BranchTrue,
        Action::BranchFalse,
        Action::Jump,
        Action::Assign,
    ] {
        assert!(fired.contains(&action), "seed {seed}: {action} never fires; {text}");
    }
}

#[test]
fn formulas_have_no_next_and_the_size_asked_for() {
    let mut rng = Rng::new(Rng::test_seed(3));
    for _ in 0..2000 {
        let formula = random_formula(&mut rng, 3, 12);
        assert!(!formula.uses_next() && formula.n_atoms() <= 3 && formula.size() <= 24, "{formula:?}");
    }
}

#[test]
fn programs_are_accepted_by_the_compiler() {
    let Some(compiler) = Compiler::find() else { return };
    let seed = Rng::test_seed(4);
    let mut rng = Rng::new(seed);
    for case in 0..150 {
        let program = random_c_program(&mut rng, &ProgramConfig::default());
        if let Err(error) = compiler.accepts(&program.text) {
            panic!("seed {seed}, case {case}: {error}\n{}", program.text);
        }
    }
}

#[test]
fn programs_show_all_features() {
    let mut rng = Rng::new(Rng::test_seed(5));
    let texts: Vec<String> =
        (0..400).map(|_| random_c_program(&mut rng, &ProgramConfig::default()).text).collect();
    for word in [
        "while (",
        "for (",
        "do {",
        "switch (",
        "break;",
        "continue;",
        "goto ",
        " ? ",
        "&&",
        "||",
        "++;",
        "+= ",
        "rec(",
        "h1(",
        "assert(",
        "__VERIFIER_assume(",
        "__VERIFIER_atomic_begin();",
        "__VERIFIER_atomic_step();",
        "__VERIFIER_nondet_bool();",
        "pthread_create(&ts[i]",
        "pthread_join(ts[i]",
        "pthread_exit(",
        "exit(1)",
        "pthread_cond_wait(",
        "pthread_cond_signal(",
        "pthread_cond_broadcast(",
        "pthread_mutex_trylock(",
        "reach_error();",
        "else {",
        "return NULL;",
        "exit(0);",
    ] {
        assert!(texts.iter().any(|text| text.contains(word)), "{word} never occurs");
    }
}

#[test]
fn formulas_about_programs_parse() {
    let seed = Rng::test_seed(6);
    let mut rng = Rng::new(seed);
    for case in 0..500 {
        let program = random_c_program(&mut rng, &ProgramConfig::default());
        let text = random_c_formula(&mut rng, &program);
        let mut map = SourceMap::new();
        let file = map.add("<ltl>", text.as_str());
        if let Err(error) = parse_formula(&map, file) {
            panic!("seed {seed}, case {case}: {text}: {error:?}");
        }
    }
}
