//! JSON and drawings.

mod programs;

use expect_test::expect;
use pdnet_check::{Fairness, Property};
use pdnet_logic::Ltl;
use pdnet_report::{Answer, Probe, ProbeAnswer, automaton_text, net_dot, net_json, result_json};
use programs::{End, abba, spin};

#[test]
fn a_lasso_as_json() {
    let program = spin();
    let property = program.formula("flag", 1, Ltl::finally);
    let run = program.run(&property, &[(0, "create")], End::Cycle(&[(0, "flag == 0")]));
    let probes = vec![Probe { fairness: Fairness::Weak, answer: ProbeAnswer::Holds }];
    let report = program.report(&property, Answer::Violated(Box::new(run)), probes);
    expect![[r#"
        {
          "schema": "pdnet-result/1",
          "tool": {
            "name": "pdnet",
            "version": "0.0.0"
          },
          "input": "spin.c",
          "net": {
            "places": 10,
            "transitions": 6,
            "arcs": 17
          },
          "timings": {
            "reading": 0.25,
            "modelling": 0.5,
            "phases": [
              {
                "name": "reading",
                "seconds": 0.25
              },
              {
                "name": "modelling",
                "seconds": 0.5
              },
              {
                "name": "slicing",
                "seconds": 0.0
              },
              {
                "name": "agglomeration",
                "seconds": 0.0
              },
              {
                "name": "searching",
                "seconds": 0.25
              },
              {
                "name": "replaying",
                "seconds": 0.125
              },
              {
                "name": "stronger fairness",
                "seconds": 0.0
              },
              {
                "name": "everything else",
                "seconds": 0.125
              }
            ],
            "total": 1.25
          },
          "reductions": [],
          "verdict": "false",
          "results": [
            {
              "name": "ltl-1",
              "class": "valid-ltl",
              "formula": "F(flag == 1)",
              "fairness": "none",
              "verdict": "false",
              "reason": null,
              "engine": "explicit",
              "cached": false,
              "stats": {
                "states": 12,
                "transitions": 20,
                "seconds": 0.25,
                "peak_memory_bytes": 3145728,
                "memory": {
                  "states": 0,
                  "index": 0,
                  "parts": 0,
                  "way_back": 0,
                  "remembered": 0,
                  "edges": 0,
                  "nodes": 0,
                  "waiting": 0
                }
              },
              "fair": [
                {
                  "fairness": "weak",
                  "verdict": "true",
                  "reason": null
                }
              ],
              "trace": {
                "threads": [
                  {
                    "thread": 0,
                    "function": "main"
                  },
                  {
                    "thread": 1,
                    "function": "setter"
                  }
                ],
                "atoms": [
                  {
                    "text": "flag == 1",
                    "value": false
                  }
                ],
                "prefix": [
                  {
                    "thread": 0,
                    "function": "main",
                    "file": "spin.c",
                    "line": 6,
                    "column": 5,
                    "action": "create",
                    "label": "create",
                    "text": [
                      "creates thread 1 (setter)"
                    ],
                    "values": [],
                    "atoms": []
                  }
                ],
                "cycle": [
                  {
                    "thread": 0,
                    "function": "main",
                    "file": "spin.c",
                    "line": 7,
                    "column": 5,
                    "action": "branch-true",
                    "label": "flag == 0",
                    "text": [
                      "reads flag = 0",
                      "flag == 0 is true"
                    ],
                    "values": [
                      {
                        "name": "flag",
                        "value": 0,
                        "access": "read",
                        "shared": true
                      }
                    ],
                    "atoms": []
                  }
                ],
                "end": "cycle",
                "outcome": "cycle",
                "blocked": [],
                "race": null,
                "starved": [
                  {
                    "thread": 1,
                    "always_enabled": true
                  }
                ],
                "variables": [
                  {
                    "name": "flag",
                    "value": "0"
                  }
                ]
              }
            }
          ],
          "task": null,
          "notes": []
        }
    "#]]
    .assert_eq(&result_json(&report));
}

#[test]
fn a_deadlock_as_json_names_the_blocked_threads() {
    let program = abba();
    let property = Property::no_deadlock();
    let run = program.run(&property, &[(0, "create"), (1, "lock a"), (2, "lock b")], End::Stutter);
    let report = program.report(&property, Answer::Violated(Box::new(run)), vec![]);
    let json: serde_json::Value = serde_json::from_str(&result_json(&report)).unwrap();
    let blocked = serde_json::to_string_pretty(&json["results"][0]["trace"]["blocked"]).unwrap();
    expect![[r#"
        [
          {
            "column": 5,
            "file": "abba.c",
            "line": 10,
            "text": "waits for the end of thread 1 (first)",
            "thread": 0
          },
          {
            "column": 5,
            "file": "abba.c",
            "line": 3,
            "text": "waits for mutex b, held by thread 2 (second) since abba.c:6",
            "thread": 1
          },
          {
            "column": 5,
            "file": "abba.c",
            "line": 7,
            "text": "waits for mutex a, held by thread 1 (first) since abba.c:2",
            "thread": 2
          }
        ]"#]]
    .assert_eq(&blocked);
}

#[test]
fn a_net_as_a_drawing() {
    let mut net = spin().net;
    pdnet_net::add_control_dependence(&mut net);
    expect![[r#"
        digraph "spin.c" {
          node [fontname="Helvetica", fontsize=10];
          edge [fontname="Helvetica", fontsize=9];
          subgraph cluster_f0 {
            label="main";
            color=gray;
            p3 [shape=circle, label="p3\nmain\n(0, 0)"];
            p4 [shape=circle, label="p4\nmain exit"];
            p8 [shape=circle, label="p8\nat 8"];
            p9 [shape=circle, label="p9\nat 9"];
            p10 [shape=circle, style=dashed, label="p10\nmain"];
            p13 [shape=circle, style=dashed, label="p13\nat 8"];
            p14 [shape=circle, style=dashed, label="p14\nat 9"];
            t2 [shape=box, label="t2 create\ncreate\nspin.c:6"];
            t3 [shape=box, label="t3 branch-true\nflag == 0\nspin.c:7"];
            t4 [shape=box, label="t4 branch-false\nflag == 0\nspin.c:7"];
            t5 [shape=box, label="t5 process-end\nreturn\nspin.c:8"];
          }
          subgraph cluster_f1 {
            label="setter";
            color=gray;
            p5 [shape=circle, label="p5\nsetter"];
            p6 [shape=circle, label="p6\nsetter exit"];
            p7 [shape=circle, label="p7\nat 7"];
            p11 [shape=circle, style=dashed, label="p11\nsetter"];
            p12 [shape=circle, style=dashed, label="p12\nat 7"];
            t0 [shape=box, label="t0 assign\nflag = 1\nspin.c:3"];
            t1 [shape=box, label="t1 thread-end\nend\nspin.c:4"];
          }
          p0 [shape=circle, label="p0\ndone"];
          p1 [shape=circle, label="p1\nended"];
          p2 [shape=ellipse, label="p2\nflag\ni32 = 0"];
          p5 -> t0;
          t0 -> p2 [color=gray, dir=both, arrowtail=onormal, label="1"];
          t0 -> p7;
          p11 -> t0 [style=dashed, constraint=false];
          t0 -> p12 [style=dashed, constraint=false, label="co"];
          p7 -> t1;
          p12 -> t1 [style=dashed, constraint=false];
          p3 -> t2;
          t2 -> p5;
          t2 -> p8;
          p10 -> t2 [style=dashed, constraint=false];
          t2 -> p13 [style=dashed, constraint=false, label="co"];
          t2 -> p11 [style=dashed, constraint=false, label="ca"];
          p8 -> t3;
          p2 -> t3 [color=gray, dir=both, arrowtail=normal];
          t3 -> p8;
          p13 -> t3 [style=dashed, constraint=false];
          t3 -> p13 [style=dashed, constraint=false, label="co"];
          p8 -> t4;
          p2 -> t4 [color=gray, dir=both, arrowtail=normal];
          t4 -> p9;
          p13 -> t4 [style=dashed, constraint=false];
          t4 -> p14 [style=dashed, constraint=false, label="co"];
          p9 -> t5;
          p14 -> t5 [style=dashed, constraint=false];
        }
    "#]]
    .assert_eq(&net_dot(&net));
}

#[test]
fn a_net_as_json_has_all_places_and_transitions() {
    let net = spin().net;
    let json: serde_json::Value = serde_json::from_str(&net_json(&net)).unwrap();
    assert_eq!(json["schema"], "pdnet-net/1");
    assert_eq!(json["places"].as_array().unwrap().len(), net.places.len());
    assert_eq!(json["transitions"].as_array().unwrap().len(), net.transitions.len());
    let first = serde_json::to_string_pretty(&json["transitions"][3]).unwrap();
    expect![[r#"
        {
          "action": "branch-true",
          "arcs": [
            {
              "kind": "take",
              "place": "p8",
              "token": [
                "?x0",
                "?x1"
              ]
            },
            {
              "key": [],
              "kind": "read",
              "place": "p2",
              "var": "x2",
              "when": null
            },
            {
              "kind": "put",
              "place": "p8",
              "token": [
                "x0",
                "x1"
              ]
            }
          ],
          "atomic": false,
          "calls": null,
          "column": 5,
          "file": "spin.c",
          "function": "f0",
          "guard": "(eq i64 x2 0)",
          "id": "t3",
          "label": "flag == 0",
          "line": 7,
          "vars": [
            {
              "base": "thread",
              "choice": null,
              "name": "t"
            },
            {
              "base": "depth",
              "choice": null,
              "name": "d"
            },
            {
              "base": "i32",
              "choice": null,
              "name": "flag"
            }
          ]
        }"#]]
    .assert_eq(&first);
}

#[test]
fn an_automaton_as_text() {
    let names = vec!["x == 1".to_owned()];
    let formula = Ltl::globally(Ltl::finally(Ltl::atom(pdnet_base::Idx::new(0))));
    let automaton = pdnet_logic::translate(&formula, names).unwrap();
    expect![[r#"
        automaton of G F x == 1
        states: 1, edges: 2, acceptance sets: 1, deterministic
        q0 (start)
          !(x == 1) -> q0
          (x == 1) -> q0 {0}
    "#]]
    .assert_eq(&automaton_text(&automaton, "G F x == 1"));
}
