//! A place that no step leaves.

use pdnet_check::{Fairness, Property};
use pdnet_net::parse_net;
use pdnet_reduce::{Method, slice};
use pdnet_source::SourceMap;

/// A thread is started that is stuck where it comes after one step.
const NET: &str = r#"
    net "stuck" threads 2 depth 1
    color c0 = thread depth
    color c1 = thread
    color c2 =
    function f0 "main" entry p0 exit p1
    function f1 "other" entry p2 exit p4
    place p0 execution c0 "first" of f0 tokens (0 0)
    place p1 execution c0 "exit" of f0 tokens
    place p2 execution c0 "begin" of f1 tokens
    place p3 execution c0 "stuck" of f1 tokens
    place p4 execution c0 "end" of f1 tokens
    place p5 execution c1 "done" tokens
    place p6 execution c2 "ended" tokens
    done p5
    ended p6
    transition t0 create f0 "create"
      var x0 thread "t"
      var x1 depth "d"
      take p0 (?x0 ?x1)
      put p2 (1 0)
      put p1 (x0 x1)
    transition t1 thread-end f0 "end"
      var x0 thread "t"
      var x1 depth "d"
      take p1 (?x0 ?x1)
    transition t2 jump f1 "go"
      var x0 thread "t"
      var x1 depth "d"
      take p2 (?x0 ?x1)
      put p3 (x0 x1)
    transition t3 thread-end f1 "end"
      var x0 thread "t"
      var x1 depth "d"
      take p4 (?x0 ?x1)
"#;

#[test]
fn who_is_stuck_where_nothing_goes_on_is_kept() {
    let mut map = SourceMap::new();
    let file = map.add("net", NET);
    let net = parse_net(&map, file).unwrap();
    for method in [Method::OnDemand, Method::Program, Method::Net] {
        let slice = slice(&net, &[Property::no_deadlock()], Fairness::None, method);
        assert!(slice.net.transitions.iter().any(|data| data.label == "go"), "{method:?}: {}", slice.net);
    }
}
