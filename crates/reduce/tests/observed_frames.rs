//! Atoms that look into a frame themselves.

use pdnet_base::Idx as _;
use pdnet_check::{AtomData, Fairness, Property, PropertyKind};
use pdnet_logic::Ltl;
use pdnet_net::{ArcData, Expr, PlaceKind, parse_net};
use pdnet_reduce::{Method, slice};
use pdnet_source::SourceMap;

/// One thread that sets a local which no step reads.
const NET: &str = r#"
    net "one local" threads 1 depth 1
    color c0 = thread depth
    color c1 = thread
    color c2 =
    color c3 = thread depth i32
    function f0 "main" entry p0 exit p2
    place p0 execution c0 "first" of f0 tokens (0 0)
    place p1 execution c0 "second" of f0 tokens
    place p2 execution c0 "exit" of f0 tokens
    place p3 variable c3 "v" of f0 cells frame f0 i32 = 0
    place p4 variable c3 "w" of f0 cells frame f0 i32 = 0
    place p5 execution c1 "done" tokens
    place p6 execution c2 "ended" tokens
    done p5
    ended p6
    transition t0 assign f0 "w = 1"
      var x0 thread "t"
      var x1 depth "d"
      take p0 (?x0 ?x1)
      write p4 (x0 x1) 1
      put p1 (x0 x1)
    transition t1 assign f0 "v = w"
      var x0 thread "t"
      var x1 depth "d"
      var x2 i32 "w"
      take p1 (?x0 ?x1)
      read p4 (x0 x1) x2
      write p3 (x0 x1) x2
      put p2 (x0 x1)
    transition t2 thread-end f0 "end"
      var x0 thread "t"
      var x1 depth "d"
      take p2 (?x0 ?x1)
"#;

#[test]
fn a_write_that_only_an_atom_sees_is_kept_with_what_it_needs() {
    let mut map = SourceMap::new();
    let file = map.add("net", NET);
    let net = parse_net(&map, file).unwrap();
    let v = net.find_place("v", PlaceKind::Variable).unwrap();
    let expr = Expr::Cell(v, vec![Expr::Const(0), Expr::Const(0)]);
    let atoms = vec![AtomData { text: "v".to_owned(), expr }];
    let formula = Ltl::finally(Ltl::Atom(pdnet_logic::Atom::new(0)));
    let kind = PropertyKind::Ltl { formula, atoms };
    let property = Property { name: "ltl".to_owned(), text: "F v".to_owned(), class: "valid-ltl", kind };
    for method in [Method::OnDemand, Method::Program, Method::Net] {
        let slice = slice(&net, std::slice::from_ref(&property), Fairness::None, method);
        let arcs = slice.net.transitions.iter().flat_map(|data| &data.arcs);
        let written = arcs.filter_map(|arc| match arc {
            ArcData::Write { place, .. } => Some(slice.net.places[*place].name.clone()),
            _ => None,
        });
        let mut written: Vec<String> = written.collect();
        written.sort();
        assert_eq!(written, ["v", "w"], "{method:?}\n{}", slice.net);
    }
}
