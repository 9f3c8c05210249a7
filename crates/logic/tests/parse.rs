//! What is accepted, and how it is understood.

mod support;

use pdnet_base::Idx as _;
use pdnet_logic::{Atom, AtomKind, ExprKind, parse_formula_at, parse_property_file};
use pdnet_source::{SourceMap, Span};
use support::parse;

/// Each text must be understood as the canonical text beside it, which must stand for itself.
fn check(cases: &[(&str, &str)]) {
    for (text, canonical) in cases {
        let formula = parse(text);
        assert_eq!(formula.to_string(), *canonical, "{text}");
        assert_eq!(parse(canonical), formula, "{canonical} does not read back");
    }
}

#[test]
fn all_spellings_are_understood() {
    check(&[
        ("[] (p -> <> q)", "G(p -> F q)"),
        ("always (p implies eventually q)", "G(p -> F q)"),
        ("p until q", "p U q"),
        ("p stronguntil q", "p U q"),
        ("p weakuntil q", "p W q"),
        ("p WU q", "p W q"),
        ("p V q", "p R q"),
        ("p release q", "p R q"),
        ("p S q", "p M q"),
        ("p equivalent q", "p <-> q"),
        ("p <=> q", "p <-> q"),
        ("NOT p AND q OR r", "!p && q || r"),
        ("~p & q | r ^ s", "!p && q || r xor s"),
        ("p /\\ q \\/ r", "p && q || r"),
        ("p => q --> r ==> s", "p -> q -> r -> s"),
        ("¬p ∧ q ∨ r → s", "!p && q || r -> s"),
        ("[](AP(x==1) ==> <>AP(y));", "G(x == 1 -> F y)"),
        ("(! \"output == 23\" WU \"input == 2\")", "!(output == 23) W input == 2"),
        ("(G (! \"input == 4\" || (F \"output == 22\")))", "G(!(input == 4) || F(output == 22))"),
        ("X p", "X p"),
        ("FG\"x == 1\" && GF(p)", "F G(x == 1) && G F p"),
    ]);
}

#[test]
fn operators_bind_as_documented() {
    check(&[
        ("p U q && r", "p U q && r"),
        ("p U (q && r)", "p U (q && r)"),
        ("G p U q", "G p U q"),
        ("G(p U q)", "G(p U q)"),
        ("! p U q", "!p U q"),
        ("a && b || c && d -> e <-> f", "a && b || c && d -> e <-> f"),
        ("a U b U c", "a U b U c"),
        ("(a U b) U c", "(a U b) U c"),
        ("a -> b -> c", "a -> b -> c"),
        ("(a -> b) -> c", "(a -> b) -> c"),
        ("a && (b && c)", "a && (b && c)"),
        ("a U b W c R d M e", "a U b W c R d M e"),
        ("a || b xor c -> d", "a || b xor c -> d"),
        ("G F p", "G F p"),
        ("! x == 0", "!(x == 0)"),
        ("G x == 0", "G(x == 0)"),
    ]);
}

#[test]
fn operator_letters_inside_names_are_no_operators() {
    check(&[
        ("Fx && U1 && Gx", "Fx && U1 && Gx"),
        ("GFp", "GFp"),
        ("G(x)", "G x"),
        ("pUq", "pUq"),
        ("\"U == 1\" U \"U\"", "\"U == 1\" U \"U\""),
    ]);
}

#[test]
fn bare_and_quoted_expressions_are_one_atom() {
    check(&[
        ("x + 1 == a[i] * 2", "x + 1 == a[i] * 2"),
        ("(x + 1) * 2 == (y) -> (p && q)", "(x + 1) * 2 == y -> p && q"),
        ("\"x == 1\"", "x == 1"),
        ("\"p->x && (a | b) ? 1 : c\"", "\"p->x && a | b ? 1 : c\""),
        ("\"!x\"", "\"!x\""),
        ("x == -1 && *p == 3 && &x == q", "x == -1 && *p == 3 && &x == q"),
        ("-(-x) == 0", "- -x == 0"),
        ("(a < b) == c", "(a < b) == c"),
        ("\"a < b == c < d\"", "(a < b) == (c < d)"),
        ("s.f[3].g == 1", "s.f[3].g == 1"),
        ("a[b ? c : d->e & 1]", "a[b ? c : d->e & 1]"),
        ("x << 2 >= y % 3", "x << 2 >= y % 3"),
        ("x - (y - z) == 0", "x - (y - z) == 0"),
        ("x<-y", "x < -y"),
        ("x<->y", "x <-> y"),
        ("x == true", "x == 1"),
    ]);
}

#[test]
fn constants_of_c_are_read_with_their_suffixes() {
    check(&[
        ("x == 'a'", "x == 97"),
        ("x == '\\n'", "x == 10"),
        ("x == '\\0'", "x == 0"),
        ("x == '\\xff'", "x == '\\xff'"),
        ("x == '\"'", "x == 34"),
        ("x == 0x10u", "x == 0x10U"),
        ("x == 077", "x == 0x3f"),
        ("x == 0b101", "x == 0x5"),
        ("x == 5LL", "x == 5LL"),
        ("x == 18446744073709551615ull", "x == 18446744073709551615ULL"),
        ("1 U 0", "true U false"),
        ("true && \"1\"", "true && true"),
    ]);
}

#[test]
fn atoms_about_threads_are_understood() {
    check(&[
        ("G ! call(reach_error())", "G !call(reach_error)"),
        ("call( f )", "call(f)"),
        ("at(main, END)", "at(main, END)"),
        ("at(dir/my-file.c:12)", "at(dir/my-file.c:12)"),
        ("at(\"my file.c\":3)", "at(\"my file.c\":3)"),
        ("at( 12 )", "at(12)"),
        ("terminated(f[1]) && terminated(f)", "terminated(f[1]) && terminated(f)"),
        ("holds(t[0], m[2]) -> waiting(t, c.x)", "holds(t[0], m[2]) -> waiting(t, c.x)"),
        ("waiting(t, p->cond)", "waiting(t, p->cond)"),
        ("t1::k < 6 && w[2]::k == 0", "t1::k < 6 && w[2]::k == 0"),
        ("F end && G !deadlock", "F end && G !deadlock"),
        ("G ! data-race && G ! overflow", "G !data-race && G !overflow"),
        ("G valid-free && G valid-deref", "G valid-free && G valid-deref"),
        ("G valid-memtrack && G valid-memcleanup", "G valid-memtrack && G valid-memcleanup"),
        ("\"end\" && end", "\"end\" && end"),
        ("end == 1", "\"end == 1\""),
        ("data - race == 1", "data - race == 1"),
        ("\"data-race\"", "data - race"),
    ]);
}

#[test]
fn equal_atoms_are_shared_and_numbered_as_they_occur() {
    let formula = parse("x==1 -> (y U (x == 1 && \"x == 1\"))");
    assert_eq!(formula.atom_names(), ["x == 1", "y"]);
    assert_eq!(formula.atoms[Atom::new(0)].span.start, 0);
}

#[test]
fn spans_point_into_the_file() {
    let mut map = SourceMap::new();
    let text = "int x;\n//@ ltl safe: G(x + 1 < 7)\n";
    let file = map.add("a.c", text);
    let start = text.find("G(").unwrap();
    let span = Span { file, start: u32::try_from(start).unwrap(), end: u32::try_from(text.len()).unwrap() };
    let formula = parse_formula_at(&map, span).unwrap();
    let atom = &formula.atoms[Atom::new(0)];
    assert_eq!(map.display(map.pos(atom.span)), "a.c:2:16");
    let AtomKind::Expr(expr) = &atom.kind else { panic!("an expression") };
    let ExprKind::Binary(_, _, right) = &expr.kind else { panic!("a comparison") };
    assert_eq!(map.display(map.pos(right.span)), "a.c:2:25");
}

#[test]
fn spans_outside_of_the_text_do_not_panic() {
    let mut map = SourceMap::new();
    let file = map.add("a.c", "é == 1");
    for (start, end) in [(1, 900), (0, 1), (7, 3), (900, 901)] {
        let _ = parse_formula_at(&map, Span { file, start, end });
    }
}

#[test]
fn property_files_are_read_line_by_line() {
    let mut map = SourceMap::new();
    let text = "CHECK( init(main()), LTL(G valid-free) )\n\n// a comment\n# another\r\n\
                CHECK(init(main()),LTL(G valid-deref))\r\n\
                CHECK( init(main()), LTL( (G (! \"input == 4\" || (F \"output == 22\"))) ) )\n";
    let file = map.add("p.prp", text);
    let properties = parse_property_file(&map, file).unwrap();
    let texts: Vec<String> = properties.iter().map(|property| property.formula.to_string()).collect();
    assert_eq!(texts, ["G valid-free", "G valid-deref", "G(!(input == 4) || F(output == 22))"]);
    assert!(properties.iter().all(|property| property.entry.text == "main"));
    assert_eq!(map.display(map.pos(properties[1].span)), "p.prp:5:24");
}

#[test]
fn formulas_know_what_they_are() {
    let cases = [
        ("G !p", true, true),
        ("p W q", true, true),
        ("!F p", true, true),
        ("F p", false, true),
        ("!(p U q)", true, true),
        ("G(p -> X q)", true, false),
        ("G(p -> F q)", false, true),
        ("G p <-> q", false, true),
        ("!(F p -> F q)", false, true),
    ];
    for (text, safety, stutter) in cases {
        let ltl = parse(text).ltl;
        assert_eq!(ltl.is_syntactic_safety(), safety, "{text}");
        assert_eq!(ltl.is_stutter_invariant(), stutter, "{text}");
        assert_eq!(ltl.uses_next(), !stutter, "{text}");
    }
}

#[test]
fn simplification_knows_the_usual_laws() {
    let cases = [
        ("F F p", "F p"),
        ("G G p", "G p"),
        ("G F G p", "F G p"),
        ("F G F p", "G F p"),
        ("F(p U q)", "F q"),
        ("G(p R q)", "G q"),
        ("p && G p", "G p"),
        ("p || F p", "F p"),
        ("p && (p || q)", "p"),
        ("p && (!p || q)", "p && q"),
        ("p U p", "p"),
        ("true U p", "F p"),
        ("false R p", "G p"),
        ("p U (p U q)", "p U q"),
        ("(p || q) U q", "p U q"),
        ("!p U p", "F p"),
        ("G p && G q", "G(p && q)"),
        ("F p || F q", "F(p || q)"),
        ("G F p || G F q", "G F(p || q)"),
        ("F(p && G F q)", "G F q && F p"),
        ("X G F p", "G F p"),
        ("X p && X q", "X(p && q)"),
        ("p U (p && q)", "q M p"),
        ("p xor p", "false"),
        ("p <-> p", "true"),
        ("G p && F !p", "false"),
    ];
    for (text, expected) in cases {
        let formula = parse(text);
        assert_eq!(formula.ltl.simplify().display(&formula.atom_names()).to_string(), expected, "{text}");
    }
}
