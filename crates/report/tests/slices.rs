//! Slices as text, as JSON and as drawings; what a result says of them.

mod programs;

use expect_test::expect;
use pdnet_check::Property;
use pdnet_net::{Dependence, Net, Place, PlaceKind};
use pdnet_reduce::{Kept, Mode, Reason};
use pdnet_report::{
    Answer, KeptParts, SliceReport, SliceSummary, SlicedProperties, TextOptions, result_json, result_text,
    slice_dot, slice_json, slice_text, timings_table,
};
use pdnet_source::ColorChoice;
use programs::{Program, lost_update};

/// The place from which the first step with this label goes.
fn statement(net: &Net, label: &str) -> Place {
    let found = net.transitions.iter().find(|data| data.label == label);
    found.and_then(|data| data.source()).unwrap_or_else(|| panic!("a step `{label}`"))
}

/// The lost update, of which the thread is cut. (It is no right slice: what matters is how it is shown.)
fn sliced(program: &Program) -> SlicedProperties {
    let net = &program.net;
    let at = |label: &str| statement(net, label);
    let x = net.find_place("x", PlaceKind::Variable).expect("x");
    let assertion = at("assert(x == 2)");
    let reasons = [
        (assertion, Reason::Observed("assert".to_owned())),
        (at("join"), Reason::Governs(assertion, Dependence::Control)),
        (statement_of(net, "main", "read x"), Reason::Writes(x, statement_of(net, "main", "write x"))),
        (statement_of(net, "main", "write x"), Reason::Writes(x, assertion)),
    ];
    let mut kept = Kept::nothing(net);
    for (statement, reason) in reasons {
        kept.statements[statement] = Some(reason);
    }
    let transitions =
        net.transitions.indices().filter(|&transition| kept.has_transition(net, transition)).collect();
    let places = net.places.indices().filter(|&place| place == x || kept.has(place)).collect();
    let parts = KeptParts { kept, mode: Mode::Prefix, places, transitions, phases: Vec::new() };
    SlicedProperties { properties: vec![Property::assertions(net)], fairness: None, parts, seconds: 0.002 }
}

/// The place from which a step of this function with this label goes.
fn statement_of(net: &Net, function: &str, label: &str) -> Place {
    let mut steps = net.transitions.iter();
    let fits = |name: &str, text: &str| name == function && text == label;
    let found = steps.find(|data| fits(&net.functions[data.function].name, &data.label));
    found.and_then(|data| data.source()).unwrap_or_else(|| panic!("a step `{label}` of `{function}`"))
}

fn report(program: &Program) -> SliceReport<'_> {
    SliceReport {
        version: "0.0.0",
        input: program.net.name.clone(),
        net: &program.net,
        map: &program.map,
        method: "on-demand",
        slices: vec![sliced(program)],
        notes: vec!["a note".to_owned()],
    }
}

#[test]
fn each_line_has_a_mark_and_its_reasons() {
    let program = lost_update();
    let options = TextOptions { width: 90, color: ColorChoice::Plain };
    expect![[r#"
        pdnet 0.0.0: slice of src/lost.c, method on-demand
        for assert: no assertion fails, no error function is called

           1 | int x;
           2 | void *worker(void *arg) {
        -  3 |     x = x + 1;
        -  4 |     return 0;
           5 | }
           6 | int main(void) {
        -  7 |     pthread_create(&t, 0, worker, 0);
        +  8 |     x = x + 1;                          writes `x`, read by the assertion at line
             |                                           10
        +  9 |     pthread_join(t, 0);                 decides whether line 10 is reached
        + 10 |     assert(x == 2);                     the property `assert` is about it
        - 11 |     return 0;
          12 | }

        + kept, - cut, no mark: no code
        cut: lines 3-7, 11
        functions cut entirely: worker
        threads that are not started: create at line 7
        variables cut: none
        steps: 5 of 10 kept; places: 5 of 16 kept; 2.0 ms
        one step or state of a run breaks it: what comes after that does not count
        note: a note
    "#]]
    .assert_eq(&slice_text(&report(&program), options));
}

#[test]
fn reasons_that_do_not_fit_are_broken() {
    let program = lost_update();
    let options = TextOptions { width: 50, color: ColorChoice::Plain };
    let text = slice_text(&report(&program), options);
    expect![[r#"
           5 | }
           6 | int main(void) {
        -  7 |     pthread_create(&t, 0, worker, 0);
        +  8 |     x = x + 1;        writes `x`, read by the
             |                         assertion at line 10
        +  9 |     pthread_join(t, 0);
             |                       decides whether line 10
             |                         is reached
        + 10 |     assert(x == 2);   the property `assert` is
             |                         about it"#]]
    .assert_eq(&text.lines().skip(8).take(10).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_slice_as_json() {
    let program = lost_update();
    expect![[r#"
        {
          "schema": "pdnet-slice/1",
          "tool": {
            "name": "pdnet",
            "version": "0.0.0"
          },
          "input": "src/lost.c",
          "method": "on-demand",
          "slices": [
            {
              "properties": [
                {
                  "name": "assert",
                  "formula": "no assertion fails, no error function is called"
                }
              ],
              "mode": "prefix",
              "fairness": null,
              "seconds": 0.002,
              "transitions": {
                "before": 10,
                "after": 5
              },
              "places": {
                "before": 16,
                "after": 5
              },
              "files": [
                {
                  "file": "src/lost.c",
                  "lines": [
                    {
                      "line": 3,
                      "mark": "cut",
                      "reasons": []
                    },
                    {
                      "line": 4,
                      "mark": "cut",
                      "reasons": []
                    },
                    {
                      "line": 7,
                      "mark": "cut",
                      "reasons": []
                    },
                    {
                      "line": 8,
                      "mark": "kept",
                      "reasons": [
                        "writes `x`, read by the assertion at line 10"
                      ]
                    },
                    {
                      "line": 9,
                      "mark": "kept",
                      "reasons": [
                        "decides whether line 10 is reached"
                      ]
                    },
                    {
                      "line": 10,
                      "mark": "kept",
                      "reasons": [
                        "the property `assert` is about it"
                      ]
                    },
                    {
                      "line": 11,
                      "mark": "cut",
                      "reasons": []
                    }
                  ]
                }
              ],
              "functions": [
                "worker"
              ],
              "threads": [
                {
                  "label": "create",
                  "file": "src/lost.c",
                  "line": 7,
                  "column": 5
                }
              ],
              "variables": []
            }
          ],
          "notes": [
            "a note"
          ]
        }
    "#]]
    .assert_eq(&slice_json(&report(&program)));
}

#[test]
fn what_is_cut_is_pale() {
    let program = lost_update();
    let dot = slice_dot(&report(&program));
    let net = &program.net;
    for (transition, data) in net.transitions.iter_enumerated() {
        let is_kept = data.source().is_some_and(|source| sliced(&program).parts.kept.has(source));
        let line = dot.lines().find(|line| line.trim_start().starts_with(&format!("{transition} [")));
        let is_pale = line.expect("a box").contains("gray85");
        assert_eq!(is_pale, !is_kept, "{transition}\n{dot}");
    }
    let x = net.find_place("x", PlaceKind::Variable).expect("x");
    let ellipse = dot.lines().find(|line| line.trim_start().starts_with(&format!("{x} ["))).expect("x");
    assert!(!ellipse.contains("gray85"), "{ellipse}");
}

#[test]
fn a_result_says_what_slicing_cut() {
    let program = lost_update();
    let sliced = sliced(&program);
    let names = vec!["assert".to_owned()];
    let summary =
        SliceSummary::new(&program.net, &program.map, "on-demand", names, &sliced.parts, sliced.seconds);
    let property = Property::assertions(&program.net);
    let mut report = program.report(&property, Answer::Holds, vec![]);
    report.slices = vec![summary];
    report.results[0].slice = Some(0);
    let text = result_text(&report, TextOptions { width: 100, color: ColorChoice::Plain });
    expect![[r#"
        pdnet 0.0.0: src/lost.c, a net of 16 places, 10 transitions, 40 arcs
        slicing: 5 of 10 steps and 5 of 16 places kept (lines 3-7, 11 cut)

        assert: no assertion fails, no error function is called
          holds on every run
          explicit engine: 12 states, 20 transitions, 0.25 s, 3.0 MiB
    "#]]
    .assert_eq(&text);
    let json = result_json(&report);
    // Without the indentation that all of it has.
    let lines = json.lines().filter_map(|line| line.strip_prefix("  "));
    let reductions: Vec<&str> = lines.skip_while(|line| !line.starts_with("\"reductions\"")).collect();
    let end = reductions.iter().position(|line| line.starts_with(']')).expect("an end");
    expect![[r#"
        "reductions": [
          {
            "name": "slice",
            "before": 10,
            "after": 5,
            "seconds": 0.002,
            "method": "on-demand",
            "properties": [
              "assert"
            ],
            "places": {
              "before": 16,
              "after": 5
            },
            "cut": [
              {
                "file": "src/lost.c",
                "lines": [
                  [
                    3,
                    7
                  ],
                  [
                    11,
                    11
                  ]
                ]
              }
            ],
            "phases": [],
            "merged": null
          }
        ],"#]]
    .assert_eq(&reductions[..=end].join("\n"));
    expect![[r#"
        reading the program: 250.000 ms
        property  modelling ms  slicing ms  together ms  checking ms  states  result
        assert         500.000       2.000      502.000      250.000      12       T
        search for assert: 48 states/s, 1.7 steps a state, 262144 bytes a state (3.0 MiB)
        slicing for assert (on-demand), ms: 
        where the time went        ms     %
        reading               250.000  20.0
        modelling             500.000  40.0
        slicing                 2.000   0.2
        searching             250.000  20.0
        replaying             123.000   9.8
        everything else       125.000  10.0
        together             1250.000
    "#]]
    .assert_eq(&timings_table(&report));
    report.results[0].origin = pdnet_report::Origin::Cache;
    let text = result_text(&report, TextOptions { width: 100, color: ColorChoice::Plain });
    assert!(text.contains("answered from the cache"), "{text}");
    assert!(timings_table(&report).contains("cache"));
}

#[test]
fn a_slice_that_cuts_nothing_says_so() {
    let program = lost_update();
    let net = &program.net;
    let parts = KeptParts::all(net);
    let property = Property::assertions(net);
    let mut report = program.report(&property, Answer::Holds, vec![]);
    report.slices = vec![SliceSummary::new(net, &program.map, "net", vec!["assert".to_owned()], &parts, 0.0)];
    let text = result_text(&report, TextOptions { width: 100, color: ColorChoice::Plain });
    assert!(text.contains("slicing: nothing could be cut\n"), "{text}");
}
