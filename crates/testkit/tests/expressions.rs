//! The meaning of C's integer expressions: what pdnet computes against what the system's compiler computes.

use pdnet_base::Rng;
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_net::{Interpreter, PlaceKind, Successor};
use pdnet_source::SourceMap;
use pdnet_testkit::{Compiler, ExprConfig, Printing, RandomExpr, random_expr};

/// In each of two tests.
const N_EXPRESSIONS: usize = 5_000;
/// How many expressions go into one net.
const CHUNK: usize = 4;

/// The values that pdnet gives to `r0`, `r1`, … when the program has ended. There is one thread and no choice,
/// so that there is one run.
fn evaluate_with_pdnet(program: &str, n_results: usize) -> Vec<i64> {
    let mut map = SourceMap::new();
    let file = map.add("expressions.i", program);
    let loaded = load_preprocessed(&mut map, file, &Options::default()).expect("the program loads");
    let options = LowerOptions {
        atomicity: Atomicity::Access,
        spurious_wakeups: false,
        max_threads: 1,
        max_depth: 2,
        ..LowerOptions::default()
    };
    let net = lower(&map, &loaded.program, &[], &options).expect("the program lowers").net;
    let interpreter = Interpreter::new(&net);
    let mut marking = interpreter.initial();
    while let [firing] = interpreter.enabled(&marking).as_slice() {
        let Successor::Marking(next) = interpreter.fire(&marking, firing) else { break };
        marking = next;
    }
    assert!(interpreter.ended(&marking), "the run stops before its end\n{program}");
    let result = |idx: usize| {
        let place = net.find_place(&format!("r{idx}"), PlaceKind::Variable).expect("a result");
        interpreter.cell(&marking, place, &[])
    };
    (0..n_results).map(result).collect()
}

fn values(printed: &str) -> Vec<i64> {
    printed.lines().map(|line| line.parse().expect("a number")).collect()
}

/// In two halves, so that both cores have work.
#[test]
fn expressions_have_the_value_that_the_compiler_gives_them() {
    compare_expressions(Rng::test_seed(1));
}

#[test]
fn more_expressions_have_the_value_that_the_compiler_gives_them() {
    compare_expressions(Rng::test_seed(1).wrapping_add(1_000_000));
}

fn compare_expressions(seed: u64) {
    let Some(compiler) = Compiler::find() else { return };
    let mut rng = Rng::new(seed);
    let exprs: Vec<RandomExpr> =
        (0..N_EXPRESSIONS).map(|_| random_expr(&mut rng, &ExprConfig::default())).collect();
    let program = RandomExpr::program(&exprs, Printing::Results);
    let run = |level: &str| compiler.run(&program, &["-w", "-fwrapv", level]);
    let expected = values(&run("-O0").unwrap_or_else(|error| panic!("seed {seed}: {error}")));
    assert_eq!(expected.len(), exprs.len());

    // Undefined behaviour shows itself as a difference between levels of optimisation.
    let optimized = values(&run("-O1").unwrap_or_else(|error| panic!("seed {seed}: {error}")));
    for (idx, expr) in exprs.iter().enumerate() {
        assert_eq!(expected[idx], optimized[idx], "seed {seed}, expression {idx} is no good: {expr:?}");
    }

    for (chunk_idx, chunk) in exprs.chunks(CHUNK).enumerate() {
        let program = RandomExpr::program(chunk, Printing::Nothing);
        let actual = evaluate_with_pdnet(&program, chunk.len());
        for (idx, expr) in chunk.iter().enumerate() {
            let number = chunk_idx * CHUNK + idx;
            assert_eq!(actual[idx], expected[number], "seed {seed}, expression {number}: {expr:?}");
        }
    }
}
