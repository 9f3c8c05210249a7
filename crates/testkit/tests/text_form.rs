//! The text form of nets: what is printed parses to the same net, and nets can be written in it.

use pdnet_base::Rng;
use pdnet_net::{Net, add_control_dependence, parse_net, verify_net};
use pdnet_source::{ColorChoice, SourceMap, render};
use pdnet_testkit::{NetConfig, ReachableGraph, random_net};

fn parse(text: &str) -> Net {
    let mut map = SourceMap::new();
    let file = map.add("test.net", text);
    parse_net(&map, file)
        .unwrap_or_else(|found| panic!("{}\n{text}", render(&map, &found, ColorChoice::Plain)))
}

#[test]
fn printing_and_parsing_give_the_same_net() {
    let seed = Rng::test_seed(1);
    for case in 0..300 {
        let mut rng = Rng::new(seed.wrapping_add(case));
        let mut net = random_net(&mut rng, &NetConfig::default());
        add_control_dependence(&mut net);
        assert_eq!(verify_net(&net), [], "seed {seed}, case {case}");
        assert_eq!(parse(&net.to_string()), net, "seed {seed}, case {case}");
    }
}

/// The net of Figure 1 (e) of the slicing paper, as its text describes it: one thread runs `x = 1; y = 3;
/// z = y + 2`, another `if (x < 1) error();`, both start at once.
const FIGURE_1: &str = r#"
net "figure 1" threads 2 depth 1
color c0 = thread depth
color c1 = i32
color c2 =
function f0 "thr1" entry p0 exit p4
function f1 "thr2" entry p5 exit p8
place p0 execution c0 "c1b" of f0 tokens (0 0)
place p1 execution c0 "f10" of f0 tokens
place p2 execution c0 "f11" of f0 tokens
place p3 execution c0 "f12" of f0 tokens
place p4 execution c0 "c1e" of f0 tokens
place p5 execution c0 "c2b" of f1 tokens (1 0)
place p6 execution c0 "f20" of f1 tokens
place p7 execution c0 "f21" of f1 tokens
place p8 execution c0 "c2e" of f1 tokens
place p9 variable c1 "x" cells global i32 = 0
place p10 variable c1 "y" cells global i32 = 0
place p11 variable c1 "z" cells global i32 = 0
transition t0 enter f0 "t1b"
  var x0 thread "t" var x1 depth "d"
  take p0 (?x0 ?x1) put p1 (x0 x1)
transition t1 assign f0 "x = 1"
  var x0 thread "t" var x1 depth "d"
  take p1 (?x0 ?x1) write p9 () 1 put p2 (x0 x1)
transition t2 assign f0 "y = 3"
  var x0 thread "t" var x1 depth "d"
  take p2 (?x0 ?x1) write p10 () 3 put p3 (x0 x1)
transition t3 assign f0 "z = y + 2"
  var x0 thread "t" var x1 depth "d" var x2 i32 "y"
  take p3 (?x0 ?x1) read p10 () x2 write p11 () (add i32 x2 2) put p4 (x0 x1)
transition t4 enter f1 "t2b"
  var x0 thread "t" var x1 depth "d"
  take p5 (?x0 ?x1) put p6 (x0 x1)
transition t5 branch-true f1 "x < 1"
  var x0 thread "t" var x1 depth "d" var x2 i32 "x"
  take p6 (?x0 ?x1) read p9 () x2 put p7 (x0 x1)
  guard (lt i32 x2 1)
transition t6 branch-false f1 "x < 1"
  var x0 thread "t" var x1 depth "d" var x2 i32 "x"
  take p6 (?x0 ?x1) read p9 () x2 put p8 (x0 x1)
  guard (le i32 1 x2)
transition t7 call f1 "error()" calls "error"
  var x0 thread "t" var x1 depth "d"
  take p7 (?x0 ?x1) put p8 (x0 x1)
"#;

/// Five places of the first thread times four of the second, all of them reachable. (The paper counts 22 for
/// its drawing; its slice, three places times four, has 12 there and here.)
#[test]
fn figure_1_of_the_slicing_paper() {
    let mut net = parse(FIGURE_1);
    assert_eq!(verify_net(&net), []);
    assert_eq!(ReachableGraph::build(&net, 1000).expect("small").n_markings(), 20);
    let slice = FIGURE_1
        .replace("write p9 () 1 put p2", "write p9 () 1 put p4")
        .replace("function f0", "# The steps of y and z stay, but no token comes there.\nfunction f0");
    assert_eq!(ReachableGraph::build(&parse(&slice), 1000).expect("small").n_markings(), 12);

    add_control_dependence(&mut net);
    assert_eq!(verify_net(&net), []);
    let text = net.to_string();
    // The branch governs the call of error, its entry governs the branch: t2b → t20 → t21 in the paper.
    let arcs = |from: &str, to: &str| {
        let block = text.split("transition ").find(|block| block.contains(from)).expect("the transition");
        let place = net
            .places
            .iter_enumerated()
            .find(|(_, data)| data.kind == pdnet_net::PlaceKind::Control && data.name == to);
        block.contains(&format!("governs {} co", place.expect("the control place").0))
    };
    assert!(arcs("branch-true f1", "f21") && !arcs("branch-false f1", "f21"), "{text}");
    assert!(arcs("\"t2b\"", "f20") && !arcs("\"t2b\"", "f21"), "{text}");
    assert!(arcs("\"t1b\"", "f10") && arcs("\"t1b\"", "f12"), "{text}");
}

const OBJECTS: &str = r#"
net "objects" threads 2 depth 1
color c0 = thread depth
color c1 = u32
color c2 = [2] i64
color c3 = [4] u64
function f0 "main" entry p0 exit p0
place p0 execution c0 "main" of f0 tokens (0 0)
place p1 variable c1 "x" memory shown float32 cells global u32 = 0
place p2 variable c2 "slots" internal cells global [2] i64 = 0
place p3 variable c3 "n@3.next" memory shown pointer cells global [4] u64 = 0
object 1 "x" variable part p1 "" 0
object 2 "n@3" heap p2 part p3 "[].next" 8 (16 2) part - "[].v" 0 (16 2)
object 3 "\"abc\"" text
object 4 "main" function
object 0 "the environment" unknown
"#;

#[test]
fn objects_are_printed_and_verified() {
    let net = parse(OBJECTS);
    assert_eq!(verify_net(&net), []);
    assert_eq!(parse(&net.to_string()), net);
    let broken = [
        ("heap p2", "heap p1", "object n@3: its slots are no array"),
        ("part p1 \"\"", "part p0 \"\"", "object x: p0 has no cells"),
        ("part p1 \"\"", "part p9 \"\"", "object x: p9 has no cells"),
        ("8 (16 2)", "8 (16 3)", "object n@3: the part `[].next` does not fit p3"),
        ("\"[].next\"", "\".next\"", "object n@3: the part `.next` does not fit p3"),
        ("\"main\" of f0", "\"main\" of f0 shown bits", "p0: tokens are shown as what they are"),
    ];
    for (right, wrong, message) in broken {
        assert!(OBJECTS.contains(right));
        let found = verify_net(&parse(&OBJECTS.replacen(right, wrong, 1)));
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, [message], "{wrong}");
    }
}
