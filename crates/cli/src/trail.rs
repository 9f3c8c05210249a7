//! A run of a Promela model as a trail that SPIN replays (`spin -t -k FILE model.pml`).
//!
//! A trail has a line for each step: its number, the process, and SPIN's number for the statement. A rendezvous is two
//! lines, first the sender's; a `d_step` is one. Without the header `-4:-4:-4` SPIN takes every statement as a step of
//! its own, as we do. Claims are left out: what they say of the run does not change what the processes do.

use std::path::Path;

use pdnet_check::{Replay, Step};
use pdnet_net::{Base, Net};
use pdnet_report::{Answer, PropertyResult};

use crate::exit::Failure;

/// Writes the run of the first property that is violated.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn write_trail(
    path: &Path,
    net: &Net,
    ids: &[(u32, Option<u32>)],
    results: &[PropertyResult<'_>],
) -> Result<(), Failure> {
    let run = results.iter().find_map(|result| match &result.answer {
        Answer::Violated(run) => Some(run),
        Answer::Holds | Answer::Unknown(_) => None,
    });
    let Some(run) = run else { return Ok(()) };
    std::fs::write(path, trail(net, ids, run))
        .map_err(|error| Failure::Output(format!("`{}`", path.display()), error))
}

fn trail(net: &Net, ids: &[(u32, Option<u32>)], run: &Replay) -> String {
    let mut text = String::new();
    let mut depth = 0;
    add_steps(&mut text, &mut depth, net, ids, &run.prefix);
    if !run.cycle.is_empty() {
        text.push_str("-1:-1:-1\n");
        add_steps(&mut text, &mut depth, net, ids, &run.cycle);
    }
    text
}

fn add_steps(text: &mut String, depth: &mut u32, net: &Net, ids: &[(u32, Option<u32>)], steps: &[Step]) {
    let mut is_inside = false;
    for step in steps {
        // What follows an inner step belongs to the same `d_step`.
        let is_first = !std::mem::replace(&mut is_inside, step.is_inner);
        let number = pdnet_base::Idx::index(step.firing.transition);
        let Some(&(own, partner)) = ids.get(number).filter(|_| is_first) else { continue };
        let mut line = |process: i64, id: u32| {
            text.push_str(&format!("{depth}:{process}:{id}\n"));
            *depth += 1;
        };
        line(step.firing.thread(), own);
        if let Some(partner) = partner {
            let vars = &net.transitions[step.firing.transition].vars;
            // The first variable of this type is the moving process itself.
            let other = vars.iter().enumerate().skip(1).find(|(_, var)| var.base == Base::Thread);
            if let Some((position, _)) = other {
                line(step.firing.binding[position], partner);
            }
        }
    }
}
