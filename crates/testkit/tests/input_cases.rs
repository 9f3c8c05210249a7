//! C programs and the cases that their inputs are split into.

use pdnet_check::{Engine as _, Fairness, Limits, Property, Request, Silent, Verdict};
use pdnet_explicit::Explicit;
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_net::verify_net;
use pdnet_reduce::{Method, slice};
use pdnet_source::SourceMap;

const PRELUDE: &str = "\
int __VERIFIER_nondet_int(void); unsigned __VERIFIER_nondet_uint(void); unsigned long __VERIFIER_nondet_ulong(void);
unsigned char __VERIFIER_nondet_uchar(void); void __pdnet_assert(_Bool); void __VERIFIER_assume(int);
";

/// A program, and the values of its inputs with the verdict on its assertions; or why they are sampled.
const CASES: &[(&str, &str)] = &[
    // Comparisons with constants.
    (
        "int main(void) { int x = __VERIFIER_nondet_int(), r = 0; if (x < 10) r = 1; __pdnet_assert(r < 2); return 0; }",
        "0 10; holds",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __pdnet_assert(x != 123456); return 0; }",
        "0 123456; fails",
    ),
    ("int g; int main(void) { g = __VERIFIER_nondet_int(); return 0; }", "0; holds"),
    (
        "int r; int main(void) { switch (__VERIFIER_nondet_int()) { case 3: r = 1; break; case 70: r = 2; break; default: r = 4; } __pdnet_assert(r != 3); return 0; }",
        "0 3 70; holds",
    ),
    // Through a call and its result; sums that wrap.
    (
        "int f(int a) { return a - 5; } int main(void) { int x = __VERIFIER_nondet_int(); __pdnet_assert(f(x) != 1000 || x == 1005); return 0; }",
        "0 1005; holds",
    ),
    (
        "int main(void) { unsigned x = __VERIFIER_nondet_uint(); __pdnet_assert(x + 1 != 0); return 0; }",
        "0 4294967295; fails",
    ),
    (
        "int main(void) { unsigned long x = __VERIFIER_nondet_ulong(); __pdnet_assert(x <= 18446744073709551613ul); return 0; }",
        "-1..0; fails",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __pdnet_assert(-x < 100 || x < -99); return 0; }",
        "-2147483648 -100 0; holds",
    ),
    // Bits, remainders and quotients.
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __pdnet_assert((x & 5) != 5 || x % 2); return 0; }",
        "-1..1; holds",
    ),
    (
        "int main(void) { unsigned x = __VERIFIER_nondet_uint(); __pdnet_assert(x < 50 || x % 3 != 2); return 0; }",
        "0 2 50..51; fails",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __pdnet_assert((x / 1000) != 7 || (x >= 7000 && x < 8000)); return 0; }",
        "0 7000 8000; holds",
    ),
    (
        "int main(void) { unsigned char c = __VERIFIER_nondet_uchar(); __pdnet_assert(c < 200); return 0; }",
        "0 200; fails",
    ),
    // Inputs that are compared with each other.
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = __VERIFIER_nondet_int(); __pdnet_assert(x != y); return 0; }",
        "-1..1; -1..1; fails",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = __VERIFIER_nondet_int(); if (x < y) __pdnet_assert(y > x); return 0; }",
        "-3..3; -3..3; holds",
    ),
    (
        "int r; int main(void) { while (1) { int x = __VERIFIER_nondet_int(); int y = __VERIFIER_nondet_int(); if (x == y) r = 1; } }",
        "`__VERIFIER_nondet_int` at case.i:3 is compared with a value that is not constant at case.i:3; `__VERIFIER_nondet_int` at case.i:3 is compared with a value that is not constant at case.i:3",
    ),
    // Uses that need the value.
    (
        "void *malloc(unsigned long); void free(void *); int main(void) { int n = __VERIFIER_nondet_int(); if (n < 1 || n > 3) return 0; int *p = malloc(n * sizeof(int)); p[n - 1] = 7; __pdnet_assert(p[n - 1] == 7); free(p); return 0; }",
        "-1..4 65; holds",
    ),
    (
        "int a[5]; int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x >= 0 && x < 5); a[x] = 1; __pdnet_assert(a[4] == (x == 4)); return 0; }",
        "-1..5; holds",
    ),
    (
        "int a[5]; int main(void) { int x = __VERIFIER_nondet_int(); a[x & 3] = 1; __pdnet_assert(a[4] == 0); return 0; }",
        "0..3; holds",
    ),
    (
        "int a[5]; int main(void) { int x = __VERIFIER_nondet_int(); a[x] = 1; return 0; }",
        "-1..4; undefined behaviour: array index out of bounds",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); while (x > 0) x--; __pdnet_assert(x <= 0); return 0; }",
        "`__VERIFIER_nondet_int` at case.i:3 is changed again and again at case.i:3",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x < 4); while (x > 0) x--; __pdnet_assert(x <= 0); return 0; }",
        "0..4; holds",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > 2 && x <= 5); __pdnet_assert(x * x != 16); return 0; }",
        "0 3..6; fails",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); int y = __VERIFIER_nondet_int(); __pdnet_assert(x + y != 11); return 0; }",
        "`__VERIFIER_nondet_int` at case.i:3 is used in arithmetic with a value that is not constant at case.i:3; `__VERIFIER_nondet_int` at case.i:3 is used in arithmetic with a value that is not constant at case.i:3",
    ),
    (
        "int main(void) { int x = __VERIFIER_nondet_int(); __pdnet_assert((x ^ 21) != 4); return 0; }",
        "`__VERIFIER_nondet_int` at case.i:3 is tested in a way that cannot be split into cases at case.i:3",
    ),
];

/// The same for what is left of a program for its assertions.
const SLICED: &[(&str, &str)] = &[
    (
        "int r; int main(void) { int n = __VERIFIER_nondet_int(); for (int i = 0; i < n; i++) r = i; __pdnet_assert(n != 123456); return 0; }",
        "0 123456; fails",
    ),
    (
        "int r; int main(void) { int n = __VERIFIER_nondet_int(), k = __VERIFIER_nondet_int(); if (n < k) r = 1; __pdnet_assert(n != 4); return 0; }",
        "-3..7; fails",
    ),
    // What was exact stays so.
    (
        "int r; int main(void) { int n = __VERIFIER_nondet_int(); if (n == 17) r = 1; __pdnet_assert(n != 3); return 0; }",
        "0 3 17; fails",
    ),
    // A loop that may go on for ever is not cut, nor one that decides.
    (
        "unsigned r; int main(void) { unsigned n = __VERIFIER_nondet_uint(); while (r != n) r += 2; __pdnet_assert(n < 7); return 0; }",
        "sampled",
    ),
    (
        "int r; int main(void) { int n = __VERIFIER_nondet_int(); for (int i = 0; i < n; i++) r = i; __pdnet_assert(r < 100); return 0; }",
        "sampled",
    ),
];

fn describe(program: &str, is_sliced: bool) -> String {
    let mut map = SourceMap::new();
    let file = map.add("case.i", format!("{PRELUDE}{program}"));
    let loaded = load_preprocessed(&mut map, file, &Options::default()).expect(program);
    let options = LowerOptions {
        atomicity: Atomicity::Access,
        spurious_wakeups: false,
        max_threads: 2,
        max_depth: 4,
        ..LowerOptions::default()
    };
    let mut net = lower(&map, &loaded.program, &[], &options).expect(program).net;
    if is_sliced {
        net = slice(&net, &[Property::assertions(&net)], Fairness::None, Method::OnDemand).net;
        assert_eq!(verify_net(&net), [], "{program}");
    }
    let mut words = Vec::new();
    for var in net.transitions.iter().flat_map(|data| data.vars.iter()) {
        match (&var.choice, &var.note) {
            (Some(domain), None) => {
                assert!(domain.exact, "{program}");
                let range = |&(low, high): &(i64, i64)| match low == high {
                    true => low.to_string(),
                    false => format!("{low}..{high}"),
                };
                words.push(domain.ranges.iter().map(range).collect::<Vec<_>>().join(" "));
            }
            (Some(_), Some(note)) => words.push(note.clone()),
            (None, _) => {}
        }
    }
    let is_sampled = net.transitions.iter().flat_map(|data| data.vars.iter()).any(|var| var.note.is_some());
    if !is_sampled {
        let properties = [Property::assertions(&net)];
        let limits = Limits::default();
        let request = Request { net: &net, properties: &properties, fairness: Fairness::None, limits };
        words.push(match &Explicit::default().check(&request, &mut Silent)[0].verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Violated(_) => "fails".to_owned(),
            Verdict::Unknown(reason) => reason.to_string(),
        });
    }
    words.join("; ")
}

#[test]
fn inputs_are_split_into_the_cases_that_the_program_tells_apart() {
    compare(CASES, |program| describe(program, false));
}

#[test]
fn what_is_cut_asks_nothing_of_inputs() {
    compare(SLICED, |program| {
        let found = describe(program, true);
        if found.contains("__VERIFIER") { "sampled".to_owned() } else { found }
    });
}

fn compare(cases: &[(&str, &str)], describe: impl Fn(&str) -> String) {
    let found: Vec<String> = cases.iter().map(|(program, _)| describe(program)).collect();
    let wrong: Vec<String> = cases
        .iter()
        .zip(&found)
        .filter(|((_, expected), found)| expected != found)
        .map(|((program, expected), found)| format!("{program}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
