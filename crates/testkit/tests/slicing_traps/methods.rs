//! What each method of slicing keeps of a program: where on-demand slicing and its rivals differ, and where not.

use std::collections::BTreeSet;

use pdnet_check::Fairness;
use pdnet_front_c::LowerOptions;
use pdnet_reduce::{Method, Slice, slice};

use super::sliced::{Ask, METHODS, PRELUDE, asked};

/// A program, a formula, and the lines of which on-demand slicing, classical slicing and slicing of nets keep steps.
struct Row {
    name: &'static str,
    program: &'static str,
    formula: &'static str,
    kept: [&'static str; 3],
}

const ROWS: &[Row] = &[
    Row {
        // The end of the function is not before the write, and not needed for it.
        name: "what comes later",
        program: "int x, u;
int main(void) {
x = 1;
u = 1;
u = 2;
return 0;
}",
        formula: "G x != 2",
        kept: ["3", "2 3", "2 3"],
    },
    Row {
        // Only arcs lead from one to the other.
        name: "what comes before",
        program: "int x, u;
int main(void) {
u = 1;
u = 2;
x = 1;
return 0;
}",
        formula: "G x != 2",
        kept: ["5", "2 5", "2 3 4 5"],
    },
    Row {
        // The first write reaches no read.
        name: "a local that is written twice",
        program: "int x;
int main(void) {
int a = 1;
a = 2;
x = a;
return 0;
}",
        formula: "G x != 3",
        kept: ["4 5", "2 4 5", "2 3 4 5"],
    },
    Row {
        // Both writes reach the read, and the branch decides. What is shared may be written from anywhere, so that the last
        // write counts as well.
        name: "a local that is written twice on one of two ways",
        program: "int x, g;
int main(void) {
int a = 1;
if (g == 0)
a = 2;
x = a;
g = 1;
return 0;
}",
        formula: "G x != 3",
        kept: ["3 4 5 6 7", "2 3 4 5 6 7", "2 3 4 5 6 7"],
    },
    Row {
        // Program slicing cuts lines, not parts of them: `b` is needed for the rest of the line.
        name: "a line that does two things",
        program: "int x, u;
int main(void) {
int a = 1;
int b = 2;
a = a + 1, u = b;
x = a;
return 0;
}",
        formula: "G x != 3",
        kept: ["3 5 6", "2 3 4 5 6", "2 3 4 5 6"],
    },
    Row {
        // Post-dominance knows that both ways meet again.
        name: "a branch that decides nothing",
        program: "int x, u;
void *t0(void *p) {
u = 1;
return 0;
}
int main(void) {
pthread_t t;
int a = 0;
pthread_create(&t, 0, t0, 0);
if (u)
a = 1;
else
a = 2;
x = 1;
return 0;
}",
        formula: "G x != 3",
        kept: ["14", "6 14", "2 3 6 8 9 10 11 13 14"],
    },
    Row {
        // On-demand slicing knows which call is meant.
        name: "a function that is called from two lines",
        program: "int x, u;
int f(int n) {
return n + 1;
}
int main(void) {
u = f(1);
x = f(2);
return 0;
}",
        formula: "G x != 9",
        kept: ["3 7", "2 3 5 6 7", "2 3 5 6 7"],
    },
    Row {
        // No arc leads back into the thread.
        name: "a thread that nobody listens to",
        program: "int x, u;
void *t0(void *p) {
u = 1;
return 0;
}
int main(void) {
pthread_t t;
pthread_create(&t, 0, t0, 0);
x = 1;
u = 2;
return 0;
}",
        formula: "G x != 3",
        kept: ["9", "6 9", "6 8 9"],
    },
    Row {
        // To write a cell is to take its old value, and the thread may have put it there.
        name: "a thread that writes what is written before",
        program: "int x, u;
void *t0(void *p) {
u = 1;
return 0;
}
int main(void) {
pthread_t t;
pthread_create(&t, 0, t0, 0);
u = 2;
x = 1;
return 0;
}",
        formula: "G x != 3",
        kept: ["10", "6 10", "2 3 6 8 9 10"],
    },
    Row {
        // It can be cut as if it were not there.
        name: "a loop that ends",
        program: "int x, u;
int main(void) {
int i;
for (i = 0; i < 3; i++)
u = u + 1;
x = 1;
return 0;
}",
        formula: "G x != 3",
        kept: ["6", "2 6", "2 4 5 6"],
    },
    Row {
        // Post-dominance would not mind it: without it, `x` would be written too early. It is kept by all methods.
        name: "a loop that may not end",
        program: "int x, u;
void *t0(void *p) {
u = 1;
return 0;
}
int main(void) {
pthread_t t;
pthread_create(&t, 0, t0, 0);
while (u == 0)
;
x = 1;
return 0;
}",
        formula: "G x != 3",
        kept: ["3 8 9 11", "2 3 6 8 9 11", "2 3 6 8 9 11"],
    },
];

fn slice_of(row: &Row, method: Method) -> (Slice, String) {
    let (net, properties) = asked(row.program, &[Ask::Ltl(row.formula.to_owned())], &LowerOptions::default())
        .unwrap_or_else(|text| panic!("{}: {text}", row.name));
    let made = slice(&net, &properties, Fairness::None, method);
    let lines: BTreeSet<usize> = made
        .transitions
        .iter()
        .filter_map(|&transition| net.transitions[transition].pos)
        .map(|pos| pos.line as usize - PRELUDE.lines().count())
        .collect();
    let lines = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    (made, lines)
}

#[test]
fn each_method_keeps_its_own_lines() {
    let mut wrong = Vec::new();
    for row in ROWS {
        for (method, expected) in METHODS.into_iter().zip(row.kept) {
            let (_, found) = slice_of(row, method);
            if found != expected {
                wrong.push(format!("{}, {method:?}: {found:?}, not {expected:?}", row.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The columns of Table 3 of the slicing paper are made of these.
#[test]
fn each_method_says_how_long_its_parts_took() {
    let expected = [
        "folding, control dependence, closure, rebuilding",
        "folding, exactness, data dependence, control dependence, closure, rebuilding",
        "folding, exactness, closure, rebuilding",
    ];
    for (method, expected) in METHODS.into_iter().zip(expected) {
        let (made, _) = slice_of(&ROWS[0], method);
        let names: Vec<&str> = made.phases.iter().map(|&(name, _)| name).collect();
        assert_eq!(names.join(", "), expected, "{method:?}");
        assert!(made.phases.iter().all(|&(_, seconds)| seconds >= 0.0));
    }
}
