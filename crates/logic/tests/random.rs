//! Random formulas against random words: everything must agree with the meaning on a lasso.
//! A failure prints the seed; `PDNET_SEED=…` brings the case back.

mod support;

use pdnet_base::Rng;
use pdnet_logic::{Ltl, TranslateError, translate};
use support::{names, parse, random_lasso, random_ltl};

const N_ATOMS: usize = 3;

/// Runs `body` on cases with a seed of their own each. With `PDNET_SEED` set, only that case is run.
fn cases(default_seed: u64, n: u64, mut body: impl FnMut(&mut Rng, &str)) {
    let seed = Rng::test_seed(default_seed);
    let n = if std::env::var_os("PDNET_SEED").is_some() { 1 } else { n };
    for case in 0..n {
        let seed = seed.wrapping_add(case);
        body(&mut Rng::new(seed), &format!("PDNET_SEED={seed}"));
    }
}

fn check_automaton(ltl: &Ltl, words: &[(Vec<u64>, Vec<u64>)], context: &str) {
    let text = ltl.display(&names(N_ATOMS)).to_string();
    for (ltl, side) in [(ltl.clone(), ""), (ltl.negated(), "negation of ")] {
        let automaton = match translate(&ltl, names(N_ATOMS)) {
            Ok(automaton) => automaton,
            Err(error) => panic!("{context}: {side}{text}: {error}"),
        };
        for (prefix, cycle) in words {
            assert_eq!(
                automaton.accepts_lasso(prefix, cycle),
                ltl.holds_on_lasso(prefix, cycle),
                "{context}: {side}{text} on {prefix:?} ({cycle:?})\n{}",
                automaton.to_hoa("")
            );
        }
    }
}

#[test]
fn automata_accept_exactly_the_words_that_satisfy_the_formula() {
    cases(1, 10_000, |rng, context| {
        let size = 1 + rng.below(10);
        let ltl = random_ltl(rng, size, N_ATOMS);
        let words: Vec<_> = (0..8).map(|_| random_lasso(rng, N_ATOMS)).collect();
        check_automaton(&ltl, &words, context);
    });
}

#[test]
fn automata_of_larger_formulas_accept_exactly_the_right_words() {
    cases(2, 300, |rng, context| {
        let size = 11 + rng.below(10);
        let ltl = random_ltl(rng, size, N_ATOMS);
        let words: Vec<_> = (0..40).map(|_| random_lasso(rng, N_ATOMS)).collect();
        check_automaton(&ltl, &words, context);
    });
}

#[test]
fn normal_forms_keep_the_meaning() {
    cases(3, 20_000, |rng, context| {
        let size = 1 + rng.below(14);
        let ltl = random_ltl(rng, size, N_ATOMS);
        let (nnf, simple) = (ltl.to_nnf(), ltl.simplify());
        let text = ltl.display(&names(N_ATOMS)).to_string();
        assert!(is_nnf(&nnf), "{context}: {text} became {}", nnf.display(&names(N_ATOMS)));
        for _ in 0..6 {
            let (prefix, cycle) = random_lasso(rng, N_ATOMS);
            let expected = ltl.holds_on_lasso(&prefix, &cycle);
            for (form, name) in [(&nnf, "nnf"), (&simple, "simplify")] {
                let shown = form.display(&names(N_ATOMS)).to_string();
                assert_eq!(
                    form.holds_on_lasso(&prefix, &cycle),
                    expected,
                    "{context}: {name}: {text} became {shown}, on {prefix:?} ({cycle:?})"
                );
            }
        }
    });
}

#[test]
fn simplifying_twice_changes_nothing_in_size() {
    cases(4, 5_000, |rng, context| {
        let size = 1 + rng.below(12);
        let once = random_ltl(rng, size, N_ATOMS).simplify();
        let twice = once.simplify();
        assert!(twice.size() <= once.size(), "{context}: {}", once.display(&names(N_ATOMS)));
    });
}

#[test]
fn printed_formulas_parse_to_themselves() {
    cases(5, 10_000, |rng, context| {
        let size = 1 + rng.below(16);
        let ltl = random_ltl(rng, size, N_ATOMS);
        let text = ltl.display(&names(N_ATOMS)).to_string();
        let parsed = parse(&text);
        assert_eq!(parsed.to_string(), text, "{context}");
        // Atoms are numbered as they occur, so the trees are compared after renaming.
        let order: Vec<String> = parsed.atom_names();
        assert_eq!(parsed.ltl.display(&order).to_string(), text, "{context}");
        assert_eq!(parse(&parsed.to_string()), parsed, "{context}");
        for _ in 0..4 {
            let (prefix, cycle) = random_lasso(rng, N_ATOMS);
            let map =
                |letters: &[u64]| letters.iter().map(|&letter| renamed(letter, &order)).collect::<Vec<_>>();
            assert_eq!(
                ltl.holds_on_lasso(&prefix, &cycle),
                parsed.ltl.holds_on_lasso(&map(&prefix), &map(&cycle)),
                "{context}: {text}"
            );
        }
    });
}

/// The letter with its bits in the order of these names.
fn renamed(letter: u64, order: &[String]) -> u64 {
    let all = names(N_ATOMS);
    let bit = |name: &String| all.iter().position(|other| other == name).map_or(0, |at| letter >> at & 1);
    order.iter().enumerate().fold(0, |sum, (at, name)| sum | bit(name) << at)
}

fn is_nnf(ltl: &Ltl) -> bool {
    match ltl {
        Ltl::True | Ltl::False | Ltl::Atom(_) => true,
        Ltl::Not(f) => matches!(**f, Ltl::Atom(_)),
        Ltl::Next(f) => is_nnf(f),
        Ltl::And(f, g) | Ltl::Or(f, g) | Ltl::Until(f, g) | Ltl::Release(f, g) => is_nnf(f) && is_nnf(g),
        Ltl::Implies(..)
        | Ltl::Iff(..)
        | Ltl::Xor(..)
        | Ltl::Finally(_)
        | Ltl::Globally(_)
        | Ltl::WeakUntil(..)
        | Ltl::StrongRelease(..) => false,
    }
}

#[test]
fn limits_are_errors_and_not_explosions() {
    // Thirty variables in one exclusive-or have 2^29 minimal cubes.
    let text: Vec<String> = (0..30).map(|i| format!("x{i}")).collect();
    let formula = parse(&text.join(" xor "));
    let limit = translate(&formula.ltl, formula.atom_names());
    assert!(matches!(limit, Err(TranslateError::TooManyEdges | TranslateError::TooMuchWork)), "{limit:?}");
    assert_eq!(formula.ltl.simplify(), formula.ltl);
    // Forty different eventualities.
    let text: Vec<String> = (0..40).map(|i| format!("F(a{i} && X b)")).collect();
    let formula = parse(&text.join(" && "));
    assert!(translate(&formula.ltl, formula.atom_names()).is_err());
}
