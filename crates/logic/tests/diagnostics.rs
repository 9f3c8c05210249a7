//! What the user reads when a formula is not understood.

mod support;

use expect_test::{Expect, expect};
use pdnet_source::{ColorChoice, SourceMap, render};
use support::error;

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&error(text));
}

#[test]
fn nothing() {
    check(
        "",
        &expect![[r#"
        error[empty-formula]: there is no formula
         --> <ltl>:1:1
          |
        1 |
          | ^ expected a formula here
          |
          = help: write one, for example `G(x == 1 -> F(y == 2))`
    "#]],
    );
}

#[test]
fn missing_operator() {
    check(
        "p q",
        &expect![[r#"
        error[missing-operator]: expected an operator, found `q`
         --> <ltl>:1:3
          |
        1 | p q
          |   ^ expected an operator before this
          |
          = help: join the two parts with `&&`, `||`, `->`, `U` or another operator
    "#]],
    );
}

#[test]
fn missing_right_operand() {
    check(
        "G(p &&  )",
        &expect![[r#"
        error[missing-operand]: expected an operand, found `)`
         --> <ltl>:1:9
          |
        1 | G(p &&  )
          |     --  ^ expected an operand here
          |     |
          |     `&&` needs a formula or an expression after it
    "#]],
    );
}

#[test]
fn missing_operand_at_the_end() {
    check(
        "p ->",
        &expect![[r#"
        error[missing-operand]: the formula ends where an operand should stand
         --> <ltl>:1:5
          |
        1 | p ->
          |   --^ expected an operand here
          |   |
          |   `->` needs a formula or an expression after it
    "#]],
    );
}

#[test]
fn missing_left_operand() {
    check(
        "&& p",
        &expect![[r#"
        error[missing-operand]: expected an operand, found `&&`
         --> <ltl>:1:1
          |
        1 | && p
          | ^^ expected an operand here
          |
          = help: a formula starts with an atom, a `(` or an operator such as `G`, `F`, `!`
    "#]],
    );
}

#[test]
fn unclosed_parenthesis() {
    check(
        "((p) U q",
        &expect![[r#"
        error[unclosed-parenthesis]: this parenthesis is never closed
         --> <ltl>:1:1
          |
        1 | ((p) U q
          | ^       - expected `)` here
          | |
          | opened here
          |
          = help: add the missing `)`
    "#]],
    );
}

#[test]
fn unmatched_parenthesis() {
    check(
        "p) U q",
        &expect![[r#"
        error[unmatched-parenthesis]: this `)` closes nothing
         --> <ltl>:1:2
          |
        1 | p) U q
          |  ^ no parenthesis is open here
          |
          = help: remove it, or add the opening one
    "#]],
    );
}

#[test]
fn single_equals() {
    check(
        "x = 1",
        &expect![[r#"
        error[assignment-in-formula]: a formula cannot assign
         --> <ltl>:1:3
          |
        1 | x = 1
          |   ^ did you mean `==`?
    "#]],
    );
}

#[test]
fn increment() {
    check(
        "x++ == 1",
        &expect![[r#"
        error[assignment-in-formula]: a formula cannot change the program
         --> <ltl>:1:2
          |
        1 | x++ == 1
          |  ^^ `++` assigns
          |
          = help: say what should hold before or after, for example with `==`
    "#]],
    );
}

#[test]
fn chained_comparison() {
    check(
        "0 < x < 3",
        &expect![[r#"
        error[chained-comparison]: comparisons do not chain in C
         --> <ltl>:1:1
          |
        1 | 0 < x < 3
          | ^^^^^^^^^ this compares the truth value of `0 < x`
          |
          = help: write `0 < x && x < 3`, or add parentheses if you mean that
    "#]],
    );
}

#[test]
fn chained_comparison_in_quotes() {
    check(
        "G \"0 < x < 3\"",
        &expect![[r#"
        error[chained-comparison]: comparisons do not chain in C
         --> <ltl>:1:4
          |
        1 | G "0 < x < 3"
          |    ^^^^^^^^^ this compares the truth value of `0 < x`
          |
          = help: write `0 < x && x < 3`, or add parentheses if you mean that
    "#]],
    );
}

#[test]
fn chained_comparison_of_two_kinds() {
    check(
        "x == y < 3",
        &expect![[r#"
        error[chained-comparison]: comparisons do not chain in C
         --> <ltl>:1:1
          |
        1 | x == y < 3
          | ^^^^^^^^^^ this compares the truth value of `y < 3`
          |
          = help: write `x == y && y < 3`, or add parentheses if you mean that
    "#]],
    );
}

#[test]
fn bitwise_and() {
    check(
        "G(x & 1)",
        &expect![[r#"
        error[ambiguous-operator]: `&` is a logical operator outside of quotes
         --> <ltl>:1:5
          |
        1 | G(x & 1)
          |   --^--
          |     |
          |     did you mean the operator of C?
          |
          = help: put the C expression in quotes: `"x & 1"`
    "#]],
    );
}

#[test]
fn bitwise_and_before_a_comparison() {
    check(
        "x & 1 == 0",
        &expect![[r#"
        error[ambiguous-operator]: `&` is a logical operator outside of quotes
         --> <ltl>:1:3
          |
        1 | x & 1 == 0
          | --^-------
          |   |
          |   did you mean the operator of C?
          |
          = help: put the C expression in quotes: `"x & 1 == 0"`
    "#]],
    );
}

#[test]
fn unknown_character() {
    check(
        "p # q",
        &expect![[r#"
        error[unknown-character]: unknown character `#`
         --> <ltl>:1:3
          |
        1 | p # q
          |   ^ no operator or name starts like this
          |
          = help: operators are G F X U W R M ! && || -> <->, and the operators of C
    "#]],
    );
}

#[test]
fn unclosed_quote() {
    check(
        "G \"x == 1",
        &expect![[r#"
        error[unclosed-quote]: this quote is never closed
         --> <ltl>:1:3
          |
        1 | G "x == 1
          |   ^      - expected `"` here
          |   |
          |   opened here
          |
          = help: add the missing `"`
    "#]],
    );
}

#[test]
fn empty_quotes() {
    check(
        "G \"\"",
        &expect![[r#"
        error[missing-operand]: there is nothing between the quotes
         --> <ltl>:1:3
          |
        1 | G ""
          |   ^^ expected a C expression in here
    "#]],
    );
}

#[test]
fn empty_parentheses() {
    check(
        "F ()",
        &expect![[r#"
        error[missing-operand]: there is nothing between the parentheses
         --> <ltl>:1:3
          |
        1 | F ()
          |   ^^ expected a formula in here
          |
          = help: `call(f())` may have empty parentheses, everything else may not
    "#]],
    );
}

#[test]
fn call_in_expression() {
    check(
        "f(x) == 1",
        &expect![[r#"
        error[call-in-formula]: `f` cannot be called in a formula
         --> <ltl>:1:1
          |
        1 | f(x) == 1
          | ^ a formula looks at a state, it does not run code
          |
          = help: write `call(f)` for "some thread is about to call f"
    "#]],
    );
}

#[test]
fn operator_as_name() {
    check(
        "p U U",
        &expect![[r#"
        error[missing-operand]: expected an operand, found the operator `U`
         --> <ltl>:1:5
          |
        1 | p U U
          |     ^ this is an operator
          |
          = help: if `U` is a variable, put the expression in quotes: `"U == 1"`
    "#]],
    );
}

#[test]
fn operator_in_comparison() {
    check(
        "x == F",
        &expect![[r#"
        error[formula-in-expression]: `F` cannot stand inside of an expression
         --> <ltl>:1:6
          |
        1 | x == F
          |      ^ this is an operator of the logic
          |
          = help: if `F` is a variable, put the expression in quotes: `"F == 1"`
    "#]],
    );
}

#[test]
fn formula_as_number() {
    check(
        "(F p) == 1",
        &expect![[r#"
        error[formula-in-expression]: `==` needs numbers, not a formula
         --> <ltl>:1:1
          |
        1 | (F p) == 1
          | ^^^^^ --
          | |
          | this is a formula
          |
          = help: compare formulas with `<->` or `xor`; put a C expression with `!`, `&&`, `||` in quotes
    "#]],
    );
}

#[test]
fn floating_point() {
    check(
        "x < 1.5",
        &expect![[r#"
        error[float-in-formula]: floating-point numbers are not supported
         --> <ltl>:1:5
          |
        1 | x < 1.5
          |     ^^^ not an integer
          |
          = help: compare integers only
    "#]],
    );
}

#[test]
fn malformed_number() {
    check(
        "12ab",
        &expect![[r#"
        error[malformed-number]: `12ab` is not a number of C
         --> <ltl>:1:1
          |
        1 | 12ab
          | ^^^^
          |
          = help: a name cannot start with a digit
    "#]],
    );
}

#[test]
fn number_too_large() {
    check(
        "x < 99999999999999999999",
        &expect![[r#"
        error[number-too-large]: this number does not fit into 64 bits
         --> <ltl>:1:5
          |
        1 | x < 99999999999999999999
          |     ^^^^^^^^^^^^^^^^^^^^
    "#]],
    );
}

#[test]
fn operators_written_together() {
    check(
        "GF p",
        &expect![[r#"
        error[missing-operator]: expected an operator, found `p`
         --> <ltl>:1:4
          |
        1 | GF p
          |    ^ expected an operator before this
          |
          = help: `GF` is one name; write `G F` with spaces if you mean operators
    "#]],
    );
}

#[test]
fn foreign_word() {
    check(
        "p and q",
        &expect![[r#"
        error[missing-operator]: expected an operator, found `and`
         --> <ltl>:1:3
          |
        1 | p and q
          |   ^^^ expected an operator before this
          |
          = help: write `&&` for "and"
    "#]],
    );
}

#[test]
fn conditional_without_quotes() {
    check(
        "p ? q : r",
        &expect![[r#"
        error[unexpected-token]: `?` cannot stand in a bare atom
         --> <ltl>:1:3
          |
        1 | p ? q : r
          |   ^ only inside of quotes
          |
          = help: put the C expression in quotes: `"c ? a : b"`
    "#]],
    );
}

#[test]
fn at_without_label() {
    check(
        "at(f)",
        &expect![[r#"
        error[unexpected-token]: expected a comma and a label, found `)`
         --> <ltl>:1:5
          |
        1 | at(f)
          |     ^ expected a comma and a label
          |
          = help: write `at(func, LABEL)`, `at(file.c:12)` or `at(12)`
    "#]],
    );
}

#[test]
fn at_without_line() {
    check(
        "at(f.c:)",
        &expect![[r#"
        error[unexpected-token]: expected the number of a line, found `)`
         --> <ltl>:1:8
          |
        1 | at(f.c:)
          |        ^ expected the number of a line
          |
          = help: write `at(file.c:12)` or `at(func, LABEL)`
    "#]],
    );
}

#[test]
fn holds_without_object() {
    check(
        "holds(f)",
        &expect![[r#"
        error[unexpected-token]: expected a comma and the object, found `)`
         --> <ltl>:1:8
          |
        1 | holds(f)
          |        ^ expected a comma and the object
          |
          = help: write `holds(func, m)` or `waiting(func, c)`
    "#]],
    );
}

#[test]
fn thread_number() {
    check(
        "terminated(f[x])",
        &expect![[r#"
        error[unexpected-token]: expected the number of the thread, counted from 0 in order of creation, found `x`
         --> <ltl>:1:14
          |
        1 | terminated(f[x])
          |              ^ expected the number of the thread, counted from 0 in order of creation
    "#]],
    );
}

#[test]
fn arguments_of_call() {
    check(
        "call(f(1))",
        &expect![[r#"
        error[unexpected-token]: expected `)`, found `1`
         --> <ltl>:1:8
          |
        1 | call(f(1))
          |        ^ expected `)`
          |
          = help: name the function without arguments: `call(f)`
    "#]],
    );
}

#[test]
fn unclosed_bracket() {
    check(
        "a[1 == 2",
        &expect![[r#"
        error[unclosed-bracket]: this bracket is never closed
         --> <ltl>:1:2
          |
        1 | a[1 == 2
          |  ^      - expected `]` here
          |  |
          |  opened here
          |
          = help: add the missing `]`
    "#]],
    );
}

#[test]
fn braces() {
    check(
        "{p}",
        &expect![[r#"
        error[unknown-character]: unknown character `{`
         --> <ltl>:1:1
          |
        1 | {p}
          | ^ no operator or name starts like this
          |
          = help: use parentheses
    "#]],
    );
}

#[test]
fn hostile_nesting_is_a_diagnostic() {
    let n = 5_000;
    let texts = [
        "(".repeat(n) + "p" + &")".repeat(n),
        "(".repeat(n),
        "!".repeat(n) + "p",
        "G ".repeat(n) + "p",
        "p -> ".repeat(n) + "p",
        "p && ".repeat(n) + "p",
        "x + ".repeat(n) + "x",
        "-(".repeat(n) + "x",
        "a[".repeat(n) + "x",
        "x".to_owned() + &".x".repeat(n),
        "\"".to_owned() + &"(".repeat(n),
        "\"".to_owned() + &"- ".repeat(n) + "x\"",
        "\"".to_owned() + &"a ? b : ".repeat(n) + "c\"",
        "holds(f, ".to_owned() + &"*".repeat(n) + "x)",
    ];
    for text in texts {
        let error = error(&text);
        assert!(error.starts_with("error[formula-too-deep]"), "{}: {error}", &text[..12]);
    }
}

#[test]
fn deep_formulas_within_the_limit_can_be_used() {
    for text in [
        "(".repeat(490) + "p" + &")".repeat(490),
        "p U ".repeat(390) + "q",
        "G(a && ".repeat(160) + "p" + &")".repeat(160),
        "(p xor X ".repeat(160) + "q" + &")".repeat(160),
        "\"".to_owned() + &"-(".repeat(190) + "x" + &")".repeat(190) + "\"",
    ] {
        let formula = support::parse(&text);
        assert_eq!(support::parse(&formula.to_string()), formula);
        let _ = formula.ltl.simplify();
        let _ = pdnet_logic::translate(&formula.ltl, formula.atom_names());
    }
}

#[test]
fn a_65th_atom_is_a_diagnostic() {
    let atoms: Vec<String> = (0..65).map(|i| format!("x{i}")).collect();
    assert!(error(&atoms.join(" && ")).starts_with("error[too-many-atoms]"));
    support::parse(&atoms[..64].join(" && "));
}

#[test]
fn random_text_never_panics() {
    let seed = pdnet_base::Rng::test_seed(6);
    let mut rng = pdnet_base::Rng::new(seed);
    let pieces = [
        "G",
        "F",
        "U",
        "p",
        "x",
        "1",
        "0x",
        "'",
        "\"",
        "(",
        ")",
        "[",
        "]",
        "->",
        "::",
        ".",
        "==",
        "<",
        "<>",
        "!",
        "&",
        "at(",
        "call(",
        "holds(",
        ",",
        ":",
        "é",
        "\\",
        "'\\x",
        "?",
        "-",
        "~",
        " ",
        "\n",
        "AP(",
        "end",
        "data-race",
        "=",
    ];
    for _ in 0..20_000 {
        let n = rng.below(12);
        let text: String = (0..n).map(|_| *rng.pick(&pieces)).collect();
        let mut map = SourceMap::new();
        let file = map.add("<ltl>", text);
        match pdnet_logic::parse_formula(&map, file) {
            Ok(formula) => assert_eq!(support::parse(&formula.to_string()), formula, "seed {seed}"),
            Err(diagnostic) => assert!(!render(&map, &diagnostic, ColorChoice::Plain).is_empty()),
        }
    }
}

fn check_property_file(text: &str, expected: &Expect) {
    let mut map = SourceMap::new();
    let file = map.add("p.prp", text);
    let diagnostic = pdnet_logic::parse_property_file(&map, file).expect_err("must not be accepted");
    expected.assert_eq(&render(&map, &diagnostic, ColorChoice::Plain));
}

#[test]
fn empty_property_file() {
    check_property_file(
        "\n// nothing\n",
        &expect![[r#"
        error[empty-property-file]: the property file has no property
         --> p.prp:1:1
          |
        1 |
          | ^
          |
          = help: write a line such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`
    "#]],
    );
}

#[test]
fn property_without_frame() {
    check_property_file(
        "CHECK( init(main()), LTL(F end) )\nG ! call(f)\n",
        &expect![[r#"
        error[malformed-property]: this is not a line of a property file
         --> p.prp:2:1
          |
        2 | G ! call(f)
          | ^----------
          | |
          | expected `CHECK` here
          |
          = help: the form is `CHECK( init(main()), LTL(FORMULA) )`
    "#]],
    );
}

#[test]
fn property_with_a_wrong_formula() {
    check_property_file(
        "CHECK( init(main()), LTL(G ! x = 1) )\n",
        &expect![[r#"
        error[assignment-in-formula]: a formula cannot assign
         --> p.prp:1:32
          |
        1 | CHECK( init(main()), LTL(G ! x = 1) )
          |                                ^ did you mean `==`?
    "#]],
    );
}

#[test]
fn property_without_end() {
    check_property_file(
        "CHECK( init(main()), LTL(G p\n",
        &expect![[r#"
        error[malformed-property]: this is not a line of a property file
         --> p.prp:1:29
          |
        1 | CHECK( init(main()), LTL(G p
          | ----------------------------^ expected `))` here
          |
          = help: the form is `CHECK( init(main()), LTL(FORMULA) )`
    "#]],
    );
}
