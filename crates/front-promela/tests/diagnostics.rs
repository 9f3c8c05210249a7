//! What is said about models that are wrong.

mod support;

use expect_test::{Expect, expect};

#[track_caller]
fn assert_diagnostics(text: &str, expected: Expect) {
    let (map, result) = support::load(text);
    let found = match result {
        Ok(loaded) => loaded.warnings,
        Err(found) => found,
    };
    expected.assert_eq(&support::rendered(&map, &found));
}

/// Bad models, each with the identifiers of what is said. Each row is one mistake; `/* … */` marks nothing.
const ROWS: &[(&str, &[&str])] = &[
    ("", &["no-process"]),
    ("byte x;", &["no-process"]),
    ("proctype P() { skip }", &["no-process"]),
    ("init { }", &[]),
    ("init { { } }", &["empty-sequence"]),
    ("init { if fi }", &["syntax-error"]),
    ("init { if :: fi }", &["empty-sequence"]),
    ("init { if :: skip }", &["syntax-error"]),
    ("init { skip", &["unclosed-brace"]),
    ("init { skip } }", &["syntax-error"]),
    ("init { x = 1 }", &["undeclared-name"]),
    ("byte x; init { y = 1; x = z; w }", &["undeclared-name", "undeclared-name", "undeclared-name"]),
    ("byte x; byte x; init { skip }", &["redeclared-name"]),
    ("byte x; init { byte x; skip }", &["redeclared-name"]),
    ("init { byte x; { byte x; skip } }", &["redeclared-name"]),
    ("byte _pid; init { skip }", &["redeclared-name"]),
    ("mtype = { a, a }; init { skip }", &["redeclared-name"]),
    ("mtype = { a }; byte a; init { skip }", &["redeclared-name"]),
    ("proctype P() { skip } active proctype P() { skip }", &["redeclared-name"]),
    ("init { skip } init { skip }", &["redeclared-name"]),
    ("typedef T { byte a; byte a }; init { skip }", &["redeclared-name"]),
    ("typedef T { byte a } typedef T { byte a } init { skip }", &["redeclared-name"]),
    ("inline f() { skip } inline f() { skip } init { skip }", &["redeclared-name"]),
    ("byte x; init { x[0] = 1 }", &["not-an-array"]),
    ("byte x[2]; init { x = 1 }", &["missing-index"]),
    ("byte x; init { x.f = 1 }", &["not-a-structure"]),
    ("typedef T { byte abc } T t; init { t.abd = 1 }", &["unknown-field"]),
    ("typedef T { byte a } T t, u; init { t = u }", &["incomplete-structure"]),
    ("init { _pid = 1 }", &["read-only-name"]),
    ("init { _nr_pr++ }", &["read-only-name"]),
    ("byte x; init { x = _ }", &["write-only-name"]),
    ("init { goto L }", &["unknown-label"]),
    ("init { L: skip; L: skip }", &["duplicate-label"]),
    ("init { { L: skip } }", &["misplaced-label"]),
    ("init { atomic { L: skip } }", &["misplaced-label"]),
    ("byte x; init { L: x = 1 unless skip }", &["misplaced-label"]),
    ("init { L: byte x; skip }", &["label-before-declaration"]),
    ("init { break }", &["misplaced-break"]),
    ("init { do :: d_step { skip; break } od }", &["jump-across-d-step"]),
    ("init { L: skip; d_step { skip; goto L } }", &["jump-across-d-step"]),
    ("init { goto L; d_step { skip; L: skip } }", &["jump-across-d-step"]),
    ("chan q = [1] of { byte }; init { q!1,2 }", &["wrong-field-count"]),
    ("chan q = [1] of { byte, byte }; init { q!1 }", &["wrong-field-count"]),
    ("chan q = [1] of { byte, byte }; byte x; init { q?x }", &["wrong-field-count"]),
    ("chan q = [1] of { byte, byte }; byte x; init { q?[1] }", &[]),
    ("chan q = [1] of { byte, byte }; byte x; init { q?[1,2,3] }", &["wrong-field-count"]),
    ("chan q = [1] of { byte, byte }; byte x; init { q?x,x }", &["stored-twice"]),
    ("byte x; init { x!1 }", &["not-a-channel"]),
    ("byte x; init { len(x) == 1 }", &["not-a-channel"]),
    ("byte x = [1] of { byte }; init { skip }", &["not-a-channel"]),
    ("chan q = 1; init { skip }", &["channel-from-number"]),
    ("chan q; init { q = 1 }", &["channel-from-number"]),
    ("chan q; init { q++ }", &["arithmetic-on-channel"]),
    ("init { skip; chan q = [1] of { byte } }", &["late-initializer"]),
    ("init { skip; byte a[2] = { 1, 2 } }", &["late-initializer"]),
    ("byte n; byte a[n]; init { skip }", &["not-constant"]),
    ("byte a[0]; init { skip }", &["bad-length"]),
    ("byte a[2] = { 1, 2, 3 }; init { skip }", &["wrong-value-count"]),
    ("byte a = { 1 }; init { skip }", &["not-an-array"]),
    ("chan q = [-1] of { byte }; init { skip }", &["bad-length"]),
    ("chan q = [1] of { unsigned }; init { skip }", &["unsigned-field"]),
    ("unsigned x; init { skip }", &["missing-width"]),
    ("unsigned x : 40; init { skip }", &["bad-width"]),
    ("byte x : 4; init { skip }", &["bad-width"]),
    ("bite x; init { skip }", &["syntax-error"]),
    ("proctype P(byte a) { skip } init { run P() }", &["wrong-argument-count"]),
    ("init { run Q() }", &["unknown-proctype"]),
    ("proctype P() { skip } init { byte x; x = 1 + run P() }", &["run-in-expression"]),
    ("proctype P() { skip } init { assert(run P()) }", &["run-in-expression"]),
    ("active proctype P(byte a = 1) { skip }", &["initialized-parameter"]),
    ("active proctype P(byte a[2]) { skip }", &["array-parameter"]),
    ("active proctype P(byte a, int b) { skip }", &["syntax-error"]),
    ("inline f(a) { a = 1 } init { f() }", &["wrong-argument-count"]),
    ("byte x; inline f(a) { f(a) } init { f(x) }", &["recursive-inline"]),
    ("byte x; inline f(a) { g(a) } inline g(a) { f(a) } init { f(x) }", &["recursive-inline"]),
    ("init { nothing(1) }", &["unknown-inline"]),
    ("inline f() { skip } byte x; init { x = 1 + f() }", &["inline-in-expression"]),
    ("init { return 1 }", &["misplaced-return"]),
    ("init { if :: else :: else fi }", &["duplicate-else"]),
    ("init { if :: atomic { else -> skip } :: skip fi }", &["misplaced-else"]),
    ("init { else -> skip }", &["misplaced-else"]),
    ("active proctype P() priority 2 { skip }", &["ignored-priority"]),
    ("init { set_priority(0, 1) }", &["unsupported-priority"]),
    ("byte x; init { x = get_priority(0) }", &["unsupported-priority"]),
    ("c_code { int x; } init { c_code { x++; } }", &["unsupported-c-code", "unsupported-c-code"]),
    ("c_state \"int x\" \"Global\" init { c_expr { x } }", &["unsupported-c-code", "unsupported-c-code"]),
    ("init { np_ }", &["misplaced-np"]),
    ("byte x; init { skip } never { x = 1 }", &["claim-with-effect"]),
    ("chan q = [1] of { byte }; init { skip } never { q!1 }", &["claim-with-effect"]),
    ("init { skip } never { byte x; skip }", &["claim-variable"]),
    ("init { skip } never { skip } never { skip }", &["redeclared-name"]),
    ("init { skip } ltl a { true } ltl a { true }", &["redeclared-name"]),
    ("init { skip } ltl { [] q }", &["undeclared-name"]),
    ("init { skip } ltl { [] P@l }", &["unknown-proctype"]),
    ("active proctype P() { skip } ltl { [] P@l }", &["unknown-label"]),
    ("active proctype P() { byte ab; skip } ltl { [] P:ac }", &["undeclared-name"]),
    ("byte x; init { while (x < 3) { x++ } }", &["syntax-error"]),
    ("byte x; init { x += 1 }", &["syntax-error"]),
    ("active proctype P() { P[0]@L; L: skip }", &["unknown-label"]),
    ("active proctype Q() { P@L } active proctype P() { L: skip }", &["incomplete-proctype"]),
    ("init { skip } ltl { true true }", &["syntax-error"]),
    ("init { skip } ltl { }", &["syntax-error"]),
    ("byte x; init { select (x : 5 .. 1) }", &["empty-range", "empty-range"]),
    ("byte x; init { for (x : 5 .. 1) { skip } }", &["empty-range"]),
    ("chan q; init { for (q : 1 .. 2) { skip } }", &["bad-loop-variable"]),
    ("byte x; init { x = 99999999999 }", &["number-out-of-range"]),
    (
        "mtype = { a }; mtype:s = { b }; mtype x; mtype:s y; init { x = b; y = b; y = a }",
        &["wrong-mtype-set"],
    ),
    ("byte x; init { x = 'ab' }", &["bad-character"]),
    ("init { printf(\"a) }", &["unclosed-quote"]),
    ("init { skip ` }", &["stray-character"]),
    ("init { skip } /* no end\nactive proctype P() { assert(false) }", &["unclosed-comment"]),
    ("init { x@ }", &["unknown-proctype"]),
    ("byte x y; init { skip }", &["syntax-error"]),
    ("byte if; init { skip }", &["reserved-name"]),
    ("init { printf(1) }", &["syntax-error"]),
    ("init { eval(1) }", &["misplaced-eval"]),
    ("byte x; init { x = 1 x = 2 }", &["syntax-error"]),
    ("chan q = [1] of { byte }; byte x; init { q?x+1 }", &["syntax-error"]),
];

#[test]
fn each_mistake_has_its_name() {
    let mut wrong = String::new();
    for (text, expected) in ROWS {
        let (map, result) = support::load(text);
        let found = match result {
            Ok(loaded) => loaded.warnings,
            Err(found) => found,
        };
        let ids: Vec<&str> = found.iter().map(|diagnostic| diagnostic.id).collect();
        if ids != *expected {
            wrong += &format!(
                "{text}\n  expected {expected:?}\n  found {ids:?}\n{}\n",
                support::rendered(&map, &found)
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_name_that_is_nearly_right() {
    assert_diagnostics(
        "byte counter;\nactive proctype P() {\n  conuter = counter + 1;\n  cuonter++\n}\n",
        expect![[r#"
            error[undeclared-name]: `conuter` is not declared
             --> test.pml:3:3
              |
            3 |   conuter = counter + 1;
              |   ^^^^^^^ not known here
              |
              = help: did you mean `counter`?

            error[undeclared-name]: `cuonter` is not declared
             --> test.pml:4:3
              |
            4 |   cuonter++
              |   ^^^^^^^ not known here
              |
              = help: did you mean `counter`?
        "#]],
    );
}

#[test]
fn a_forgotten_separator() {
    assert_diagnostics(
        "byte x;\ninit { x = 1 x = 2 }\n",
        expect![[r#"
        error[syntax-error]: expected `;` or `->` between two statements, found `x`
         --> test.pml:2:14
          |
        2 | init { x = 1 x = 2 }
          |              ^ not understood
    "#]],
    );
}

#[test]
fn a_name_of_the_caller_inside_of_an_inline() {
    assert_diagnostics(
        "inline set(a) {\n  a = 1\n}\ninit {\n  set(undefined)\n}\n",
        expect![[r#"
        error[undeclared-name]: `undefined` is not declared
         --> test.pml:5:7
          |
        2 |   a = 1
          |   - takes the place of this parameter
        ...
        5 |   set(undefined)
          |       ^^^^^^^^^ not known here
    "#]],
    );
}

#[test]
fn c_code() {
    assert_diagnostics(
        "active proctype P() {\n  c_code { now.x = 1; };\n  skip\n}\n",
        expect![[r#"
        error[unsupported-c-code]: `c_code` cannot be modelled
         --> test.pml:2:3
          |
        2 |   c_code { now.x = 1; };
          |   ^^^^^^ C code inside of the model
          |
          = note: pdnet reads the whole model, and C code can do what the model does not show
          = help: write it in Promela, for instance as a `d_step`
    "#]],
    );
}

#[test]
fn a_label_inside_of_atomic() {
    assert_diagnostics(
        "init {\n  atomic { L: skip };\n  goto M\n}\n",
        expect![[r#"
        error[misplaced-label]: the label `L` cannot stand at the start of atomic { … }
         --> test.pml:2:12
          |
        2 |   atomic { L: skip };
          |            ^ nothing can jump to here
          |
          = help: put it in front: `L: atomic { … }`

        error[unknown-label]: there is no label `M`
         --> test.pml:3:8
          |
        3 |   goto M
          |        ^ not in this proctype
          |
          = help: did you mean `L`?
    "#]],
    );
}

#[test]
fn a_message_with_too_many_fields() {
    assert_diagnostics(
        "chan q = [1] of { byte };\ninit { q!1,2 }\n",
        expect![[r#"
        error[wrong-field-count]: messages of `q` have fewer fields
         --> test.pml:2:8
          |
        1 | chan q = [1] of { byte };
          |      - declared here
        2 | init { q!1,2 }
          |        ^^^^^ 2 fields here, 1 in the channel
    "#]],
    );
}

#[test]
fn several_units_with_errors() {
    assert_diagnostics(
        "byte x\nproctipe P() { skip }\nactive proctype Q() { x = ; y = 2 }\ntypedef T { bite a }\ninit { run P() }\n",
        expect![[r#"
            error[syntax-error]: expected a declaration or a proctype, found `proctipe`
             --> test.pml:2:1
              |
            2 | proctipe P() { skip }
              | ^^^^^^^^ not understood
              |
              = help: did you mean `proctype`?

            error[syntax-error]: expected an expression, found `;`
             --> test.pml:3:27
              |
            3 | active proctype Q() { x = ; y = 2 }
              |                           ^ not understood

            error[undeclared-name]: `y` is not declared
             --> test.pml:3:29
              |
            3 | active proctype Q() { x = ; y = 2 }
              |                             ^ not known here
              |
              = help: did you mean `x`?

            error[unknown-type]: there is no type `bite`
             --> test.pml:4:13
              |
            4 | typedef T { bite a }
              |             ^^^^ not known here
              |
              = help: did you mean `bit`?

            error[unknown-proctype]: there is no proctype `P`
             --> test.pml:5:12
              |
            5 | init { run P() }
              |            ^ not known
              |
              = help: did you mean `Q`?
        "#]],
    );
}

#[test]
fn words_of_c_get_a_hint() {
    let cases = [
        ("byte x; init { while (x < 3) { x++ } }", "do :: condition -> … :: else -> break od"),
        ("byte x; init { x += 1 }", "`x = x + …`"),
        ("byte x; init { if (x == 1) { x = 2 } }", "if :: (condition) -> … :: else -> … fi"),
        ("active proctype P() { byte loc; loc = 1 } ltl { [] (loc < 2) }", "`P:loc`"),
    ];
    for (text, hint) in cases {
        let (map, result) = support::load(text);
        let said = support::rendered(&map, &result.expect_err("no Promela"));
        assert!(said.contains(hint), "{said}");
    }
}
