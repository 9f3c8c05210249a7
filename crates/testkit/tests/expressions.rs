//! The meaning of C's integer expressions: what pdnet computes against what the system's compiler computes.

use pdnet_base::Rng;
use pdnet_testkit::{Compiler, ExprConfig, Printing, RandomExpr, random_expr};

const N_EXPRESSIONS: usize = 1500;
/// How many expressions go into one net.
const CHUNK: usize = 20;

/// The values that pdnet gives to `r0`, `r1`, … when the program has ended; `None` as long as the front end
/// makes no nets.
///
/// To be filled in: load and lower the text, run the net with [`pdnet_net::Interpreter`] until nothing is
/// enabled (there is one thread and no choice, so that there is one run), and read the cells of the places
/// that are called `r0` and so on.
fn evaluate_with_pdnet(_program: &str, _n_results: usize) -> Option<Vec<i64>> {
    None
}

fn values(printed: &str) -> Vec<i64> {
    printed.lines().map(|line| line.parse().expect("a number")).collect()
}

#[test]
fn expressions_have_the_value_that_the_compiler_gives_them() {
    let Some(compiler) = Compiler::find() else { return };
    let seed = Rng::test_seed(1);
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
        let Some(actual) = evaluate_with_pdnet(&program, chunk.len()) else { return };
        for (idx, expr) in chunk.iter().enumerate() {
            let number = chunk_idx * CHUNK + idx;
            assert_eq!(actual[idx], expected[number], "seed {seed}, expression {number}: {expr:?}");
        }
    }
}
