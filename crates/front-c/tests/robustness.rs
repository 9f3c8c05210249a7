//! Whatever comes in: a program or diagnostics, never a panic and never an overflow of the stack.

mod support;

use pdnet_base::Rng;
use pdnet_front_c::types::DataModel;
use pdnet_source::Severity;

const PROGRAM: &str = r#"
typedef unsigned long size; typedef struct node { int v; struct node *next; unsigned f : 3; } node;
enum color { RED, GREEN = 3 }; static int table[3] = { 1, [2] = 4 }; char text[] = "a\tb";
_Thread_local int t; int (*call)(int, char *); extern int outside;
static int add(int a, char *b) { return a + (b ? b[0] : 'x'); }
int main(int argc, char **argv) {
  node n = { .v = 1, 0 }, *p = &n; const int k = sizeof(node) + 2u;
  for (int i = 0; i < k; i++) { if (i % 2 == 0) continue; else p->v += table[i % 3]; }
  switch (argc) { case RED: case 5 ... 7: p = p->next ?: &n; break; default: goto out; }
  do { argc--; call = add; (*call)(n.f, argv[0]); } while (argc > 0 && !t);
  __typeof__(k) z = ({ int q = 3; q << 1; }); z_(z, (float)1.5e3, (char[]){ 'a', 0 });
out: return _Generic(z, int: 0, default: 1);
}
"#;

fn survive(text: &str) {
    let (map, result) = support::load_text(text, DataModel::Lp64);
    if let Err(diagnostics) = result {
        assert!(diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error), "{text}");
        // Rendering looks at every span.
        support::rendered(&map, &diagnostics);
    }
}

#[test]
fn the_program_itself_is_accepted() {
    let (map, result) = support::load_text(PROGRAM, DataModel::Lp64);
    if let Err(diagnostics) = result {
        panic!("{}", support::rendered(&map, &diagnostics));
    }
}

#[test]
fn every_prefix_is_survived() {
    for end in 0..PROGRAM.len() {
        survive(&PROGRAM[..end]);
    }
}

#[test]
fn tokens_may_be_dropped_doubled_and_swapped() {
    let seed = Rng::test_seed(7);
    let mut rng = Rng::new(seed);
    let words: Vec<&str> = PROGRAM.split_inclusive([' ', '\n', '(', ')', ';', ',', '{', '}', '.']).collect();
    for _ in 0..400 {
        let mut mutated = words.clone();
        for _ in 0..1 + rng.below(3) {
            let (at, other) = (rng.below(mutated.len()), rng.below(mutated.len()));
            match rng.below(4) {
                0 => {
                    mutated.remove(at);
                }
                1 => mutated.insert(at, mutated[other]),
                2 => mutated.swap(at, other),
                _ => mutated[at] = mutated[other],
            }
        }
        survive(&mutated.concat());
    }
}

#[test]
fn bytes_may_be_anything() {
    let mut rng = Rng::new(Rng::test_seed(8));
    for _ in 0..300 {
        let mut bytes = PROGRAM.as_bytes().to_vec();
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len());
            bytes[at] = *rng.pick(b"\"'\\#{}()[]*&;:?0x9$@\n\xc3\xff/<>.");
        }
        survive(&String::from_utf8_lossy(&bytes));
    }
}

#[track_caller]
fn assert_too_deep(text: &str) {
    let (_, result) = support::load_text(text, DataModel::Lp64);
    let diagnostics = result.map(drop).expect_err("refused");
    assert!(
        diagnostics.iter().any(|diagnostic| diagnostic.id == "nesting-too-deep"),
        "{:?}",
        diagnostics.iter().map(|diagnostic| diagnostic.id).collect::<Vec<_>>()
    );
}

#[test]
fn deep_nesting_is_refused_without_an_overflow() {
    for n in [1_200, 4_900, 20_000] {
        assert_too_deep(&format!("int main(void) {{ return {}1{}; }}", "(".repeat(n), ")".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ return {}1; }}", "!".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ return {}1; }}", "(int)".repeat(n)));
        assert_too_deep(&format!("int x; int main(void) {{ return 1{}; }}", " + x".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ int x; {} x; }}", "if (x)".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ int x; if (x) ; {} }}", "else if (x) ; ".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ int x; {} x; }}", "x = ".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ int x; x = {} x; }}", "x ? 1 :".repeat(n)));
        assert_too_deep(&format!("int main(void) {{ {}{} }}", "{".repeat(n), "}".repeat(n)));
        assert_too_deep(&format!("int {} x; int main(void) {{ {} x; }}", "*".repeat(n), "*".repeat(n)));
        assert_too_deep(&format!("int x[1]{}; int main(void) {{ x{}; }}", "[1]".repeat(n), "[0]".repeat(n)));
    }
}

#[test]
fn wide_programs_are_fine() {
    let statements = "x = x + 1; if (x) x = -x; else x = !x; ".repeat(5_000);
    survive(&format!("int x; int main(void) {{ {statements} }}"));
    let list = "-1, ".repeat(20_000);
    let (map, result) =
        support::load_text(&format!("int a[] = {{ {list} }}; int main(void) {{ }}"), DataModel::Lp64);
    if let Err(diagnostics) = result {
        panic!("{}", support::rendered(&map, &diagnostics));
    }
}
