//! How fast the engine explores, and how much memory a state takes:
//! `cargo run --release -p pdnet-explicit --example speed`.

#![expect(clippy::print_stdout, reason = "an example for people to run")]

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Property, PropertyKind, Request, Silent, Verdict,
};
use pdnet_explicit::Explicit;
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{Expr, Net, Place};

#[path = "../../space/tests/nets/mod.rs"]
mod nets;

fn property(kind: PropertyKind) -> Property {
    Property { name: "p".to_owned(), text: "p".to_owned(), class: "valid-ltl", kind }
}

fn below(cell: Place, limit: i64) -> Vec<AtomData> {
    let expr = nets::less(Expr::Cell(cell, vec![]), Expr::Const(limit));
    vec![AtomData { text: format!("cell < {limit}"), expr }]
}

fn run(name: &str, net: &Net, kind: PropertyKind, fairness: Fairness) {
    for stubborn in [false, true] {
        run_one(name, net, kind.clone(), fairness, stubborn);
    }
}

fn run_one(name: &str, net: &Net, kind: PropertyKind, fairness: Fairness, stubborn: bool) {
    let name = if stubborn { format!("  {name}, stubborn") } else { name.to_owned() };
    let properties = [property(kind)];
    let request = Request { net, properties: &properties, fairness, limits: Limits::default() };
    let outcome = &Explicit { stubborn, forget: stubborn, ..Explicit::PLAIN }.check(&request, &mut Silent)[0];
    let stats = outcome.stats;
    let verdict = match &outcome.verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated(trace) => format!("violated after {} steps", trace.prefix.len()),
        Verdict::Unknown(reason) => format!("unknown: {reason}"),
    };
    println!(
        "{name:40} {:>9} states {:>9} transitions {:6.3} s {:9.0} states/s {:5.1} bytes/state  {verdict}",
        stats.states,
        stats.transitions,
        stats.seconds,
        stats.states as f64 / stats.seconds,
        stats.peak_memory_bytes as f64 / stats.states as f64,
    );
}

fn main() {
    let atom = || Ltl::atom(Atom::new(0));
    let always =
        |cell, limit| PropertyKind::Ltl { formula: Ltl::globally(atom()), atoms: below(cell, limit) };
    let finally = |cell, limit| PropertyKind::Ltl {
        formula: Ltl::finally(Ltl::not(atom())),
        atoms: below(cell, limit),
    };
    for rounds in [6, 8] {
        let (program, i, _) = nets::fibonacci(rounds);
        let name = format!("fibonacci {rounds}");
        run(&format!("{name} deadlock"), &program.net, PropertyKind::NoDeadlock, Fairness::None);
        run(&format!("{name} invariant"), &program.net, always(i, 1_000_000), Fairness::None);
    }
    for (threads, rounds) in [(2, 20), (3, 6), (4, 2)] {
        let (program, x) = nets::locked_loops(threads, rounds);
        let name = format!("locks {threads} x {rounds}");
        run(&format!("{name} deadlock"), &program.net, PropertyKind::NoDeadlock, Fairness::None);
        run(&format!("{name} invariant"), &program.net, always(x, threads * rounds + 1), Fairness::None);
        if threads <= 4 {
            run(&format!("{name} F weak"), &program.net, finally(x, threads * rounds), Fairness::Weak);
        }
    }
}
