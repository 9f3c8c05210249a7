//! An automaton for people.

use std::fmt::Write as _;

use pdnet_logic::{Automaton, Cube};

/// The automaton, state by state: each edge with the letters on which it is taken, where it leads, and in
/// braces the acceptance sets that it belongs to. Ends in a newline.
#[must_use]
pub fn automaton_text(automaton: &Automaton, name: &str) -> String {
    let mut out = format!("automaton of {name}\n");
    let kind = if automaton.is_deterministic() { "deterministic" } else { "nondeterministic" };
    let _ = writeln!(
        out,
        "states: {}, edges: {}, acceptance sets: {}, {kind}",
        automaton.n_states(),
        automaton.n_edges(),
        automaton.n_acceptance
    );
    for (state, data) in automaton.states.iter_enumerated() {
        let start = if state == automaton.initial { " (start)" } else { "" };
        let _ = writeln!(out, "{state}{start}");
        for edge in &data.edges {
            let _ = write!(out, "  {} -> {}", label(automaton, edge.label), edge.target);
            if edge.acceptance != 0 {
                let bits = (0..u32::BITS).filter(|bit| edge.acceptance >> bit & 1 == 1);
                let sets: Vec<String> = bits.map(|bit| bit.to_string()).collect();
                let _ = write!(out, " {{{}}}", sets.join(" "));
            }
            out.push('\n');
        }
    }
    out
}

/// The conjunction of the literals.
fn label(automaton: &Automaton, cube: Cube) -> String {
    let mut literals = Vec::new();
    for (bit, name) in automaton.atom_names.iter().enumerate() {
        let name = if name.contains(' ') { format!("({name})") } else { name.clone() };
        if cube.pos >> bit & 1 == 1 {
            literals.push(name);
        } else if cube.neg >> bit & 1 == 1 {
            literals.push(format!("!{name}"));
        }
    }
    if literals.is_empty() { "true".to_owned() } else { literals.join(" && ") }
}
