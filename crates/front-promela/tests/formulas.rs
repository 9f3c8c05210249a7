//! Formulas: SPIN's ranks and spellings, and ours.

mod support;

use pdnet_front_promela::{Loaded, dump, dump_expr, parse_formula};
use pdnet_source::SourceMap;

const MODEL: &str =
    "byte a, b, c, d, G; chan q = [1] of { byte };\nactive [2] proctype P() { byte v; L: v = 1; goto L }\n";

fn printed(loaded: &Loaded, block: &pdnet_front_promela::tree::LtlBlock) -> String {
    let names: Vec<String> = block.atoms.iter().map(|atom| dump_expr(&loaded.model, &atom.expr)).collect();
    block.formula.display(&names).to_string()
}

fn read(map: &mut SourceMap, loaded: &mut Loaded, text: &str) -> Result<String, String> {
    let file = map.add("<formula>", text);
    match parse_formula(map, file, "f", loaded) {
        Ok(block) => Ok(printed(loaded, &block)),
        Err(found) => Err(support::rendered(map, &found)),
    }
}

/// Each formula with the parentheses that SPIN prints, or ours where SPIN has no such word.
const ROWS: &[(&str, &str)] = &[
    ("a U b U c", "(a U b) U c"),
    ("a -> b -> c", "(a -> b) -> c"),
    ("! a U b", "(!a) U b"),
    ("[] a && b", "([]a) && b"),
    ("a || b && c U d", "a || (b && (c U d))"),
    ("a <-> b -> c", "(a <-> b) -> c"),
    ("[] a U <> b", "([]a) U (<>b)"),
    ("a V b W c", "(a V b) W c"),
    ("[]<>a -> b", "([] (<> a)) -> b"),
    ("always a implies eventually b", "([]a) -> (<>b)"),
    ("a until b", "a U b"),
    ("a stronguntil b", "a U b"),
    ("a weakuntil b", "a W b"),
    ("a release b", "a V b"),
    ("a equivalent b", "a <-> b"),
    ("next a", "X a"),
    ("[] a == b", "[] (a == b)"),
    ("[] a + 1 < b U c == d", "([] (a + 1 < b)) U (c == d)"),
    ("(a + 1) * 2 == b", "((a + 1) * 2) == b"),
    ("!(a + 1) == b", "(!(a + 1)) == b"),
    ("!(a == b)", "!((a == b))"),
    ("(a)", "a"),
    ("((a)) < (b)", "a < b"),
    ("!!a", "!(!a)"),
    ("F a", "<> a"),
    ("F(a) && b R c", "(<> a) && (b V c)"),
    // `G` is a variable here.
    ("G == 1", "(G) == 1"),
    ("P[0]:v == 1 && P@L", "(P[0]:v == 1) && (P@L)"),
    ("len(q) == 1 || full(q)", "(len(q) == 1) || (full(q))"),
    ("q?[1]", "(q ? [1])"),
    ("a <-> b", "(a) <-> (b)"),
    ("a<b", "(a < b)"),
    ("a < -1", "(a < (-1))"),
    ("<>a<->[]b", "(<> a) <-> ([] b)"),
];

#[test]
fn ranks_and_spellings() {
    let (mut map, mut loaded) = support::accept(MODEL);
    for (text, expected) in ROWS {
        let found = read(&mut map, &mut loaded, text).expect(text);
        let expected = read(&mut map, &mut loaded, expected).expect(expected);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn what_is_refused() {
    let (mut map, mut loaded) = support::accept(MODEL);
    for (text, expected) in [
        ("", "syntax-error"),
        ("[]", "syntax-error"),
        ("a b", "syntax-error"),
        ("(a", "syntax-error"),
        ("a U", "syntax-error"),
        ("[] e", "undeclared-name"),
        ("a + (b U c)", "syntax-error"),
        ("run P()", "misplaced-run"),
        ("a = 1", "syntax-error"),
        ("P@M", "unknown-label"),
        ("Q@L", "unknown-proctype"),
    ] {
        let message = read(&mut map, &mut loaded, text).expect_err(text);
        assert!(message.contains(expected), "{text}\n{message}");
    }
}

#[test]
fn a_label_of_a_jump_that_a_formula_asks_for_gets_a_step() {
    let text = "byte x; active proctype P() { L: x = 1; M: goto L }";
    let (mut map, mut loaded) = support::accept(text);
    assert!(dump(&loaded.model).contains("M: goto L"));
    read(&mut map, &mut loaded, "[] !P@M").expect("a formula");
    assert!(dump(&loaded.model).contains("M: 1\n  goto L"), "{}", dump(&loaded.model));
}

#[test]
fn equal_atoms_are_one() {
    let (mut map, mut loaded) = support::accept(MODEL);
    let file = map.add("<formula>", "a == 1 U (b && a == 1)");
    let block = parse_formula(&map, file, "f", &mut loaded).expect("a formula");
    let texts: Vec<&str> = block.atoms.iter().map(|atom| atom.text.as_str()).collect();
    assert_eq!(texts, ["a == 1", "b"]);
    assert_eq!(block.text, "a == 1 U (b && a == 1)");
}
