//! Drawings of automata.

use std::fmt::{self, Write as _};

use crate::hoa::{number, quoted, sets_of};
use crate::{Automaton, Cube};

impl Automaton {
    /// The automaton as a graph for Graphviz. An edge shows its label in terms of the atoms and, in
    /// braces, its acceptance sets.
    #[must_use]
    pub fn to_dot(&self, name: &str) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_dot(&mut out, name);
        out
    }

    fn write_dot(&self, out: &mut String, name: &str) -> fmt::Result {
        writeln!(out, "digraph {} {{", quoted(name))?;
        writeln!(out, "  rankdir=LR;")?;
        writeln!(out, "  label={};", quoted(name))?;
        writeln!(out, "  node [shape=circle];")?;
        writeln!(out, "  start [shape=point, label=\"\"];")?;
        writeln!(out, "  start -> {};", number(self.initial))?;
        for (state, data) in self.states.iter_enumerated() {
            writeln!(out, "  {0} [label=\"{0}\"];", number(state))?;
            for edge in &data.edges {
                let mut text = self.label_text(edge.label);
                if edge.acceptance != 0 {
                    let sets: Vec<String> = sets_of(edge.acceptance).map(|set| set.to_string()).collect();
                    write!(text, " {{{}}}", sets.join(" "))?;
                }
                writeln!(out, "  {} -> {} [label={}];", number(state), number(edge.target), quoted(&text))?;
            }
        }
        writeln!(out, "}}")
    }

    /// A label in terms of the atoms; comparisons get parentheses where a negation stands before them.
    fn label_text(&self, cube: Cube) -> String {
        let literals: Vec<String> = (0..u64::BITS)
            .zip(0_usize..)
            .filter_map(|(bit, position)| {
                let positive = cube.pos >> bit & 1 == 1;
                let negative = cube.neg >> bit & 1 == 1;
                let name = self.atom_names.get(position).map_or_else(|| format!("a{bit}"), Clone::clone);
                match (positive, negative) {
                    (_, true) if name.contains(' ') => Some(format!("!({name})")),
                    (_, true) => Some(format!("!{name}")),
                    (true, false) => Some(name),
                    (false, false) => None,
                }
            })
            .collect();
        if literals.is_empty() { "true".to_owned() } else { literals.join(" && ") }
    }
}
