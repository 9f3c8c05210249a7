//! Random formulas and words, and a parser for tests.
#![allow(dead_code, reason = "each test file uses its part")]

use pdnet_base::{Idx as _, Rng};
use pdnet_logic::{Atom, Formula, Ltl, parse_formula};
use pdnet_source::{ColorChoice, SourceMap, render};

/// Parses, or fails with the rendered diagnostic.
pub(crate) fn parse(text: &str) -> Formula {
    let mut map = SourceMap::new();
    let file = map.add("<ltl>", text);
    parse_formula(&map, file)
        .unwrap_or_else(|diagnostic| panic!("{}", render(&map, &diagnostic, ColorChoice::Plain)))
}

/// The rendered diagnostic of a text that must not parse.
pub(crate) fn error(text: &str) -> String {
    let mut map = SourceMap::new();
    let file = map.add("<ltl>", text);
    match parse_formula(&map, file) {
        Ok(formula) => panic!("{text} was taken as {formula}"),
        Err(diagnostic) => render(&map, &diagnostic, ColorChoice::Plain),
    }
}

/// Names `p0 p1 …`.
pub(crate) fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("p{i}")).collect()
}

/// A random formula with about `size` nodes over `n_atoms` atoms.
pub(crate) fn random_ltl(rng: &mut Rng, size: usize, n_atoms: usize) -> Ltl {
    if size <= 1 {
        return match rng.below(20) {
            0 => Ltl::True,
            1 => Ltl::False,
            _ => Ltl::atom(Atom::new(rng.below(n_atoms))),
        };
    }
    let unary = size == 2 || rng.chance(40);
    if unary {
        let build =
            *rng.pick(&[Ltl::not, Ltl::next, Ltl::finally, Ltl::globally, Ltl::finally, Ltl::globally]);
        return build(random_ltl(rng, size - 1, n_atoms));
    }
    let left = 1 + rng.below(size - 2);
    let build = *rng.pick(&[
        Ltl::and,
        Ltl::or,
        Ltl::implies,
        Ltl::iff,
        Ltl::xor,
        Ltl::until,
        Ltl::until,
        Ltl::weak_until,
        Ltl::release,
        Ltl::release,
        Ltl::strong_release,
    ]);
    let f = random_ltl(rng, left, n_atoms);
    build(f, random_ltl(rng, size - 1 - left, n_atoms))
}

/// A random word over `n_atoms` atoms: a prefix and a cycle that is not empty.
pub(crate) fn random_lasso(rng: &mut Rng, n_atoms: usize) -> (Vec<u64>, Vec<u64>) {
    let mask = (1 << n_atoms) - 1;
    let (prefix, cycle) = (rng.below(6), 1 + rng.below(5));
    // Letters that repeat and letters that are empty or full are where temporal operators differ.
    let mut last = 0;
    let mut letter = |rng: &mut Rng| {
        last = match rng.below(6) {
            0 => 0,
            1 => mask,
            2 => last,
            _ => rng.next_u64() & mask,
        };
        last
    };
    let prefix = (0..prefix).map(|_| letter(rng)).collect();
    (prefix, (0..cycle).map(|_| letter(rng)).collect())
}
