//! What is said about programs that are wrong.

mod support;

use expect_test::{Expect, expect};
use pdnet_front_c::types::DataModel;

#[track_caller]
fn assert_diagnostics(text: &str, expected: Expect) {
    let (map, result) = support::load_text(text, DataModel::Lp64);
    let diagnostics = match result {
        Ok(loaded) => loaded.warnings,
        Err(diagnostics) => diagnostics,
    };
    expected.assert_eq(&support::rendered(&map, &diagnostics));
}

/// Only identifiers and messages, for long lists.
#[track_caller]
fn assert_messages(text: &str, expected: Expect) {
    let (_, result) = support::load_text(text, DataModel::Lp64);
    let diagnostics = match result {
        Ok(loaded) => loaded.warnings,
        Err(diagnostics) => diagnostics,
    };
    let lines: Vec<String> =
        diagnostics.iter().map(|diagnostic| format!("{}: {}\n", diagnostic.id, diagnostic.message)).collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn a_missing_semicolon() {
    assert_diagnostics(
        r#"int main(void) {
  int x = 1
  x = 2;
}
"#,
        expect![[r#"
            error[syntax-error]: expected `;`, found `x`
             --> test.c:2:12
              |
            2 |   int x = 1
              |            ^ a `;` is missing here
            3 |   x = 2;
              |   - unexpected
        "#]],
    );
}

#[test]
fn a_missing_operand() {
    assert_diagnostics(
        r#"int main(void) { return 1 + ; }
"#,
        expect![[r#"
            error[syntax-error]: unexpected `;`
             --> test.c:1:29
              |
            1 | int main(void) { return 1 + ; }
              |                             ^ expected an expression
        "#]],
    );
}

#[test]
fn a_missing_parenthesis() {
    assert_diagnostics(
        r#"int main(void) { if (1 { } }
"#,
        expect![[r#"
            error[syntax-error]: unexpected `{`
             --> test.c:1:24
              |
            1 | int main(void) { if (1 { } }
              |                     -  ^ expected `)`, `,` or `=`
              |                     |
              |                     this `(` is not closed
        "#]],
    );
}

#[test]
fn a_brace_that_is_never_closed() {
    assert_diagnostics(
        r#"int main(void) { while (1) { }
"#,
        expect![[r#"
            error[unbalanced-bracket]: `{` is never closed
             --> test.c:1:16
              |
            1 | int main(void) { while (1) { }
              |                ^ opened here
              |
              = help: add the missing `}`
        "#]],
    );
}

#[test]
fn a_bracket_that_closes_nothing() {
    assert_diagnostics(
        r#"int main(void) { } }
"#,
        expect![[r#"
            error[unbalanced-bracket]: `}` closes nothing
             --> test.c:1:20
              |
            1 | int main(void) { } }
              |                    ^ no bracket is open here
        "#]],
    );
}

#[test]
fn a_keyword_as_a_name() {
    assert_diagnostics(
        r#"int main(void) { int if = 3; }
"#,
        expect![[r#"
            error[syntax-error]: unexpected `if`
             --> test.c:1:22
              |
            1 | int main(void) { int if = 3; }
              |                      ^^ not expected here
              |
              = note: `if` is a keyword
        "#]],
    );
}

#[test]
fn an_unknown_type() {
    assert_diagnostics(
        r#"typedef int number_t;
int main(void) { nunber_t x; return 0; }
"#,
        expect![[r#"
            error[unknown-type]: unknown type name `nunber_t`
             --> test.c:2:18
              |
            2 | int main(void) { nunber_t x; return 0; }
              |                  ^^^^^^^^ not declared as a type
              |
              = help: did you mean `number_t`?
        "#]],
    );
}

#[test]
fn a_type_of_a_header() {
    assert_diagnostics(
        r#"pthread_mutex_t m;
int main(void) { return 0; }
"#,
        expect![[r#"
            error[unknown-type]: unknown type name `pthread_mutex_t`
             --> test.c:1:1
              |
            1 | pthread_mutex_t m;
              | ^^^^^^^^^^^^^^^ not declared as a type
              |
              = help: include <pthread.h>
        "#]],
    );
}

#[test]
fn an_open_string() {
    assert_diagnostics(
        r#"int main(void) { char *s = "abc; }
"#,
        expect![[r#"
            error[unterminated-literal]: a quote is not closed in its line
             --> test.c:1:28
              |
            1 | int main(void) { char *s = "abc; }
              |                            ^^^^^^^ opened here
        "#]],
    );
}

#[test]
fn a_stray_character() {
    assert_diagnostics(
        r#"int main(void) { int x = 3 @ 4; }
"#,
        expect![[r#"
            error[stray-character]: stray "@" in the program
             --> test.c:1:28
              |
            1 | int main(void) { int x = 3 @ 4; }
              |                            ^ no token of C starts with this
        "#]],
    );
}

#[test]
fn an_undeclared_name() {
    assert_diagnostics(
        r#"int counter;
int main(void) { conuter = 1; return 0; }
"#,
        expect![[r#"
            error[undeclared-name]: `conuter` is not declared
             --> test.c:2:18
              |
            2 | int main(void) { conuter = 1; return 0; }
              |                  ^^^^^^^ not found
              |
              = help: did you mean `counter`?
        "#]],
    );
}

#[test]
fn an_undeclared_macro() {
    assert_diagnostics(
        r#"int a[N];
int main(void) { return 0; }
"#,
        expect![[r#"
            error[undeclared-name]: `N` is not declared
             --> test.c:1:7
              |
            1 | int a[N];
              |       ^ not found
              |
              = help: if it is a macro, define it with `-D N=VALUE`
        "#]],
    );
}

#[test]
fn an_undeclared_label() {
    assert_diagnostics(
        r#"int main(void) { again: goto agian; }
"#,
        expect![[r#"
            error[undeclared-label]: there is no label `agian`
             --> test.c:1:30
              |
            1 | int main(void) { again: goto agian; }
              |                              ^^^^^ not set in this function
              |
              = help: did you mean `again`?
        "#]],
    );
}

#[test]
fn an_unknown_field() {
    assert_diagnostics(
        r#"struct point { int x, height; } p;
int main(void) { return p.heigth; }
"#,
        expect![[r#"
            error[unknown-field]: `struct point` has no field `heigth`
             --> test.c:2:27
              |
            2 | int main(void) { return p.heigth; }
              |                           ^^^^^^ no such field
              |
              = help: did you mean `height`?
        "#]],
    );
}

#[test]
fn a_dot_for_an_arrow() {
    assert_diagnostics(
        r#"struct point { int x; } *p;
int main(void) { return p.x; }
"#,
        expect![[r#"
            error[not-a-record]: `.` needs a struct or union, not `struct point *`
             --> test.c:2:25
              |
            2 | int main(void) { return p.x; }
              |                         ^ this is a pointer
              |
              = help: write `->x`
        "#]],
    );
}

#[test]
fn a_call_with_too_few_arguments() {
    assert_diagnostics(
        r#"void f(int a, char *b);
int main(void) { f(1); return 0; }
"#,
        expect![[r#"
            error[wrong-argument-count]: `f` takes 2 arguments, not 1
             --> test.c:2:18
              |
            1 | void f(int a, char *b);
              |      - declared here
            2 | int main(void) { f(1); return 0; }
              |                  ^^^^ arguments are missing
        "#]],
    );
}

#[test]
fn a_call_with_too_many_arguments() {
    assert_diagnostics(
        r#"void f(int a);
int main(void) { f(1, 2); return 0; }
"#,
        expect![[r#"
            error[wrong-argument-count]: `f` takes 1 argument, not 2
             --> test.c:2:23
              |
            1 | void f(int a);
              |      - declared here
            2 | int main(void) { f(1, 2); return 0; }
              |                       ^ one too many
        "#]],
    );
}

#[test]
fn a_call_of_an_undeclared_function() {
    assert_diagnostics(
        r#"void __VERIFIER_assume(int);
int main(void) { __VERIFIER_asume(1); return 0; }
"#,
        expect![[r#"
            warning[implicit-declaration]: the function `__VERIFIER_asume` is not declared
             --> test.c:2:18
              |
            2 | int main(void) { __VERIFIER_asume(1); return 0; }
              |                  ^^^^^^^^^^^^^^^^ taken as `int __VERIFIER_asume()`
              |
              = help: did you mean `__VERIFIER_assume`?
        "#]],
    );
}

#[test]
fn a_struct_as_a_number() {
    assert_diagnostics(
        r#"struct s { int a; } v;
int main(void) { int x = v; return 0; }
"#,
        expect![[r#"
            error[incompatible-types]: the initializer needs `int`, not `struct s`
             --> test.c:2:26
              |
            2 | int main(void) { int x = v; return 0; }
              |                          ^ this is `struct s`
        "#]],
    );
}

#[test]
fn operands_that_do_not_fit() {
    assert_diagnostics(
        r#"struct s { int a; } v;
int main(void) { return v + 1; }
"#,
        expect![[r#"
            error[invalid-operand]: `+` does not apply to `struct s` and `int`
             --> test.c:2:25
              |
            2 | int main(void) { return v + 1; }
              |                         ^   ^ this is `int`
              |                         |
              |                         this is `struct s`
        "#]],
    );
}

#[test]
fn pointers_of_two_kinds() {
    assert_diagnostics(
        r#"struct s { int a; } v;
int main(void) { char *p = &v; return 0; }
"#,
        expect![[r#"
            warning[incompatible-pointers]: the initializer mixes pointer types
             --> test.c:2:28
              |
            2 | int main(void) { char *p = &v; return 0; }
              |                            ^^ `struct s *` becomes `char *`
              |
              = help: write `(char *)` in front of it if that is what is meant
        "#]],
    );
}

#[test]
fn two_types_for_one_name() {
    assert_diagnostics(
        r#"int x;
long x;
int main(void) { return 0; }
"#,
        expect![[r#"
            error[conflicting-types]: `x` is declared with two types
             --> test.c:2:6
              |
            1 | int x;
              |     - `int` here
            2 | long x;
              |      ^ `long` here
        "#]],
    );
}

#[test]
fn a_function_defined_twice() {
    assert_diagnostics(
        r#"int f(void) { return 1; }
int f(void) { return 2; }
int main(void) { return 0; }
"#,
        expect![[r#"
            error[redefined]: the function `f` is defined twice
             --> test.c:2:5
              |
            1 | int f(void) { return 1; }
              |     - first definition
            2 | int f(void) { return 2; }
              |     ^ second definition
        "#]],
    );
}

#[test]
fn a_case_twice() {
    assert_diagnostics(
        r#"int main(int c, char **v) { switch (c) { case 1: case 1: break; } return 0; }
"#,
        expect![[r#"
            error[duplicate-case]: the value occurs twice in this `switch`
             --> test.c:1:50
              |
            1 | int main(int c, char **v) { switch (c) { case 1: case 1: break; } return 0; }
              |                                          ------  ^^^^^^ second
              |                                          |
              |                                          first
        "#]],
    );
}

#[test]
fn a_static_assertion() {
    assert_diagnostics(
        r#"_Static_assert(sizeof(int) == 8, "ints are small");
int main(void) { return 0; }
"#,
        expect![[r#"
            error[static-assertion]: static assertion failed: ints are small
             --> test.c:1:16
              |
            1 | _Static_assert(sizeof(int) == 8, "ints are small");
              |                ^^^^^^^^^^^^^^^^ this is 0
        "#]],
    );
}

#[test]
fn no_main() {
    assert_diagnostics(
        r#"int man(void) { return 0; }
"#,
        expect![[r#"
            error[no-main]: the program has no function `main`
             --> test.c:1:1
              |
            1 | int man(void) { return 0; }
              | ^ no `main` in this file
              |
              = help: there is a function `man`; should it be called `main`?
        "#]],
    );
}

#[test]
fn an_empty_file() {
    assert_diagnostics(
        r#"
"#,
        expect![[r#"
            error[no-main]: `test.c` is empty
             --> test.c:1:1
              |
            1 |
              | ^ no function `main` here
              |
              = help: give a C program with a function `main`
        "#]],
    );
}

#[test]
fn another_kind_of_mutex() {
    assert_diagnostics(
        r#"typedef struct { int k; } pthread_mutex_t;
pthread_mutex_t m = { 7 };
int main(void) { return 0; }
"#,
        expect![[r#"
            error[unsupported-initializer]: this initializer is not supported
             --> test.c:2:21
              |
            2 | pthread_mutex_t m = { 7 };
              |                     ^^^^^ sets a state that only the library knows
              |
              = help: the library's own initializers, and 0, are supported
        "#]],
    );
}

#[test]
fn an_unknown_annotation() {
    assert_diagnostics(
        r#"//@ lt G x
int main(void) { return 0; }
"#,
        expect![[r#"
            error[unknown-annotation]: unknown annotation `lt`
             --> test.c:1:5
              |
            1 | //@ lt G x
              |     ^^ not a kind of annotation
              |
              = help: did you mean `ltl`?
        "#]],
    );
}

#[test]
fn many_mistakes() {
    assert_messages(
        r#"struct s { int a; } v; struct t; int f(int); const int k = 1; int a[3]; struct { int b : 3; } bf;
int n = f(1); int neg[-1]; struct t u; void w; int both; int both(void); enum { A, A };
int main(void) {
  5 = 1; &5; k = 2; a = 0; f = 0; v(); *v; v[1]; !v; -v; ~1.5; 1.5 % 2; v->a; (struct s)1; (int *)1.5; &bf.b; sizeof(bf.b);
}
int second(void) { break; continue; case 1: ; default: ; if (v) ; switch (1.5) { } return v; }
"#,
        expect![[r#"
            not-constant: the initializer of a static variable must be constant
            invalid-array: the size of an array cannot be -1
            incomplete-type: the variable `w` cannot be `void`
            conflicting-types: `both` is declared with two types
            redefined: `A` is declared twice in this scope
            not-an-object: an assignment needs an object, not a plain value
            not-an-object: `&` needs an object, not a plain value
            not-assignable: a constant cannot be changed
            not-assignable: an array cannot be assigned as a whole
            not-assignable: a function cannot be assigned
            not-a-function: `struct s` is called, but it is not a function
            not-a-pointer: `*` needs a pointer, not `struct s`
            not-a-pointer: only arrays and pointers have elements, not `struct s`
            not-a-condition: a value of type `struct s` is neither true nor false
            invalid-operand: `-` does not apply to `struct s`
            invalid-operand: `~` does not apply to `double`
            invalid-operand: `%` does not apply to `double` and `int`
            not-a-pointer: `->` needs a pointer, not `struct s`
            invalid-cast: `int` cannot be cast to `struct s`
            invalid-cast: `double` cannot be cast to `int *`
        "#]],
    );
}

#[test]
fn at_most_twenty_errors() {
    assert_messages(
        r#"int main(void) { a1; a2; a3; a4; a5; a6; a7; a8; a9; b1; b2; b3; b4; b5; b6; b7; b8; b9; c1; c2; c3; c4; c5; }
"#,
        expect![[r#"
            undeclared-name: `a1` is not declared
            undeclared-name: `a2` is not declared
            undeclared-name: `a3` is not declared
            undeclared-name: `a4` is not declared
            undeclared-name: `a5` is not declared
            undeclared-name: `a6` is not declared
            undeclared-name: `a7` is not declared
            undeclared-name: `a8` is not declared
            undeclared-name: `a9` is not declared
            undeclared-name: `b1` is not declared
            undeclared-name: `b2` is not declared
            undeclared-name: `b3` is not declared
            undeclared-name: `b4` is not declared
            undeclared-name: `b5` is not declared
            undeclared-name: `b6` is not declared
            undeclared-name: `b7` is not declared
            undeclared-name: `b8` is not declared
            undeclared-name: `b9` is not declared
            undeclared-name: `c1` is not declared
            undeclared-name: `c2` is not declared
        "#]],
    );
}

#[test]
fn things_that_are_only_warnings() {
    assert_messages(
        r#"int *p; int i; void f(void) { return 1; } struct s { int a; } one = { 1, 2 };
int main(void) { p = i; i = p; if (p == 3) ; g(1); return 0; }
"#,
        expect![[r#"
            void-return: `f` returns no value
            excess-initializer: more values than the object has parts
            pointer-and-integer: the assignment mixes pointer and integer
            pointer-and-integer: the assignment mixes pointer and integer
            pointer-and-integer: a pointer is compared with an integer
            implicit-declaration: the function `g` is not declared
        "#]],
    );
}

#[test]
fn things_that_are_refused() {
    assert_messages(
        r#"int x __attribute__((cleanup(f))); _Complex double c; int main(void) { return 0; }
"#,
        expect![[r#"
            unsupported-attribute: the attribute `cleanup` is not supported
            unsupported-type: complex numbers are not supported
        "#]],
    );
}

#[test]
fn jumps_out_of_place() {
    assert_messages(
        r#"struct s { int a; } v; struct { int b : 3; } bf; __attribute__((constructor)) void early(void) { }
int main(void) { break; continue; case 1: ; default: ; if (v) ; switch (1.5) { } &bf.b; sizeof(bf.b); missing; missing; return v; }
"#,
        expect![[r#"
            unsupported-attribute: the attribute `constructor` is not supported
            misplaced-jump: `break` outside of a loop or `switch`
            misplaced-jump: `continue` outside of a loop
            misplaced-jump: `case` outside of a `switch`
            misplaced-jump: `default` outside of a `switch`
            not-a-condition: a value of type `struct s` is neither true nor false
            invalid-operand: `switch` needs an integer, not `double`
            invalid-operand: a bit-field has no address
            invalid-operand: `sizeof` does not apply to a bit-field
            undeclared-name: `missing` is not declared
            incompatible-types: the return value needs `int`, not `struct s`
        "#]],
    );
}

#[test]
fn assertions_in_comments_stand_between_statements() {
    assert_diagnostics(
        r#"int x, f(void);
//@ assert x == 0;
struct s { int a; /*@ assert x; */ };
int main(void) {
  if (x) //@ assert x > 0;
    x = 1;
}
"#,
        expect![[r#"
            error[misplaced-annotation]: an assertion cannot stand here
             --> test.c:2:5
              |
            2 | //@ assert x == 0;
              |     ^^^^^^ no statement can stand here
              |
              = help: put it between two statements of a function
            error[misplaced-annotation]: an assertion cannot stand here
             --> test.c:5:14
              |
            5 |   if (x) //@ assert x > 0;
              |              ^^^^^^ no statement can stand here
              |
              = help: put braces around it and the statement that it belongs to
        "#]],
    );
    assert_diagnostics(
        "int x; struct s { /*@ assert x; */ int a; }; int main(void) { }\n",
        expect![[r#"
        error[misplaced-annotation]: an assertion cannot stand here
         --> test.c:1:23
          |
        1 | int x; struct s { /*@ assert x; */ int a; }; int main(void) { }
          |                       ^^^^^^ no statement can stand here
          |
          = help: put it between two statements of a function
    "#]],
    );
}

#[test]
fn conditions_of_assertions_in_comments_ask_and_do_nothing() {
    assert_diagnostics(
        r#"int x, f(void);
int main(void) {
  //@ assert 0 < x < 2;
  //@ assert f() == 1;
  //@ assert x = 1;
  //@ assert \forall int i; i > 0;
  //@ assert y == 1;
  //@ assert x == 1
}
"#,
        expect![[r#"
            error[unsupported-annotation]: comparisons in a row mean something else in C
             --> test.c:3:20
              |
            3 |   //@ assert 0 < x < 2;
              |                    ^ second comparison
              |
              = help: write `a < b && b < c`
            error[unsupported-annotation]: an assertion cannot call functions
             --> test.c:4:14
              |
            4 |   //@ assert f() == 1;
              |              ^ called here
              |
              = help: call it before, and ask for its result
            error[unsupported-annotation]: an assertion cannot change the program
             --> test.c:5:16
              |
            5 |   //@ assert x = 1;
              |                ^ this writes
              |
              = help: only ask for values
            error[unsupported-annotation]: `\forall` is not supported in assertions
             --> test.c:6:14
              |
            6 |   //@ assert \forall int i; i > 0;
              |              ^^^^^^^ not an expression of C
              |
              = help: conditions are expressions of C, with `==>`, `<==>`, `\true` and `\false`
            error[incomplete-annotation]: the assertion has no `;`
             --> test.c:8:7
              |
            8 |   //@ assert x == 1
              |       ^^^^^^^^^^^^^ a `;` is missing at its end
              |
              = help: write `//@ assert CONDITION;`
        "#]],
    );
}

#[test]
fn a_function_inside_of_a_function() {
    assert_diagnostics(
        "int main(void) { int k = 1; int inner(int x) { return x + k; } return inner(2); }\n",
        expect![[r#"
            error[nested-function]: functions inside of functions are not supported
             --> test.c:1:46
              |
            1 | int main(void) { int k = 1; int inner(int x) { return x + k; } return inner(2); }
              |                                              ^ the body of a function inside of a function
              |
              = help: define it outside, and pass what it uses as arguments
        "#]],
    );
}
