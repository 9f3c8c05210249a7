//! What slicing must not do, one trap each: the verdicts on the slices of all methods are those of the whole,
//! and those are what the comment of the trap argues for.

#[path = "slicing_traps/going_on.rs"]
mod going_on;
#[path = "slicing_traps/methods.rs"]
mod methods;
#[path = "slicing_traps/order.rs"]
mod order;
mod sliced;
#[path = "slicing_traps/values.rs"]
mod values;

use pdnet_check::Fairness;
use pdnet_explicit::Explicit;
use pdnet_front_c::LowerOptions;
use pdnet_testkit::{ReachableGraph, compare};
use sliced::{Ask, Asking, Class, METHODS, PLAIN, Tally, answers, asked, class_of, compare_methods, judge};

/// A program, and what is asked of it.
struct Trap {
    name: &'static str,
    program: &'static str,
    /// A formula or the name of a check, and the verdicts under no, weak and strong fairness: `h`olds,
    /// `v`iolated or `u`nknown. One letter stands for all three.
    asks: &'static [(&'static str, &'static str)],
}

const FAIRNESS: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

/// More than any trap has.
const LIMIT: u64 = 50_000;

fn question(text: &str) -> Ask {
    match text {
        "assert" => Ask::Assert,
        "deadlock" => Ask::Deadlock,
        "race" => Ask::Race,
        "partial-deadlock" => Ask::PartialDeadlock,
        "termination" => Ask::Termination,
        "memory" => Ask::Memory,
        "locks" => Ask::Locks,
        formula => Ask::Ltl(formula.to_owned()),
    }
}

fn walk(traps: &[Trap]) {
    // All wrong answers at once: they are worth more together.
    let mut wrong = Vec::new();
    let mut tally = Tally::default();
    for trap in traps {
        for (text, expected) in trap.asks {
            if let Err(text) = ask(trap, text, expected, &mut tally) {
                wrong.push(format!("{}: {text}\n{}", trap.name, trap.program));
            }
        }
    }
    // A trap from which nothing is cut would catch nothing.
    assert!(tally.smaller * 2 > tally.slices, "{tally:?}");
    assert!(wrong.is_empty(), "{} wrong answers\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Compares all slices for one question with the whole net, and the whole net with the reference.
fn ask(trap: &Trap, text: &str, expected: &str, tally: &mut Tally) -> Result<(), String> {
    let options = LowerOptions { max_threads: 5, max_depth: 5, ..LowerOptions::default() };
    let (net, properties) = asked(trap.program, &[question(text)], &options)?;
    let graph = ReachableGraph::build(&net, LIMIT as usize).ok_or("too many markings")?;
    for (number, fairness) in FAIRNESS.into_iter().enumerate() {
        let letter = expected.chars().nth(number.min(expected.len() - 1));
        let expected = match letter {
            Some('h') => Class::Holds,
            Some('v') => Class::Violated,
            Some('u') => Class::Unknown,
            _ => return Err(format!("what is {expected:?}?")),
        };
        compare(&PLAIN, &graph, &properties, fairness, true)
            .map_err(|found| format!("the oracle is wrong: {found}"))?;
        let whole = answers(PLAIN, &net, &properties, fairness, LIMIT);
        let found = class_of(&whole[0].verdict);
        if found != expected {
            return Err(format!("{text}, fairness {fairness}: {found:?}, not {expected:?}"));
        }
        let kept = compare_methods(&net, &properties, fairness)
            .map_err(|(method, wrong)| format!("{text}, fairness {fairness}, method {method:?}: {wrong}"))?;
        tally.add(&kept);
        for method in METHODS {
            for engine in [PLAIN, Explicit::default()] {
                let asking = Asking { fairness, method, engine, states: LIMIT };
                let (found, _) = judge(&net, &properties, &whole, asking).map_err(|wrong| {
                    format!("{text}, fairness {fairness}, method {method:?}, {engine:?}: {wrong}")
                })?;
                tally.add(&found);
            }
        }
    }
    Ok(())
}

#[test]
fn what_keeps_others_from_going_on_is_kept() {
    walk(going_on::TRAPS);
}

#[test]
fn the_order_of_what_is_observed_is_kept() {
    walk(order::TRAPS);
}

#[test]
fn what_values_come_from_is_kept() {
    walk(values::TRAPS);
}
