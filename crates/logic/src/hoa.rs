//! The Hanoi omega-automata format, version 1: written here, read by `reader.rs`.

mod lexer;
mod reader;

use std::fmt::{self, Write as _};

pub use reader::{HoaAutomaton, parse_hoa};

use crate::{Automaton, Cube};

impl Automaton {
    /// The automaton in HOA v1 (Babiak et al.: The Hanoi Omega-Automata Format, CAV 2015), which Spot,
    /// LTSmin and other tools read.
    #[must_use]
    pub fn to_hoa(&self, name: &str) -> String {
        self.to_hoa_with(name, &[])
    }

    /// The same with more to be said behind `properties:`, such as `stutter-invariant`, which cannot be seen from
    /// the automaton.
    #[must_use]
    pub fn to_hoa_with(&self, name: &str, properties: &[&str]) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_hoa(&mut out, name, properties);
        out
    }

    fn write_hoa(&self, out: &mut String, name: &str, properties: &[&str]) -> fmt::Result {
        let n = self.n_acceptance;
        writeln!(out, "HOA: v1")?;
        writeln!(out, "name: {}", quoted(name))?;
        writeln!(out, "States: {}", self.n_states())?;
        writeln!(out, "Start: {}", number(self.initial))?;
        write!(out, "AP: {}", self.atom_names.len())?;
        for atom in &self.atom_names {
            write!(out, " {}", quoted(atom))?;
        }
        writeln!(out)?;
        match n {
            0 => writeln!(out, "acc-name: all\nAcceptance: 0 t")?,
            1 => writeln!(out, "acc-name: Buchi\nAcceptance: 1 Inf(0)")?,
            _ => {
                let sets: Vec<String> = (0..n).map(|set| format!("Inf({set})")).collect();
                writeln!(out, "acc-name: generalized-Buchi {n}\nAcceptance: {n} {}", sets.join("&"))?;
            }
        }
        write!(out, "properties: trans-labels explicit-labels trans-acc no-univ-branch")?;
        if self.is_deterministic() {
            write!(out, " deterministic")?;
        }
        for property in properties {
            write!(out, " {property}")?;
        }
        writeln!(out, "\n--BODY--")?;
        for (state, data) in self.states.iter_enumerated() {
            writeln!(out, "State: {}", number(state))?;
            for edge in &data.edges {
                write!(out, "[{}] {}", label(edge.label), number(edge.target))?;
                if edge.acceptance != 0 {
                    let sets: Vec<String> = sets_of(edge.acceptance).map(|set| set.to_string()).collect();
                    write!(out, " {{{}}}", sets.join(" "))?;
                }
                writeln!(out)?;
            }
        }
        writeln!(out, "--END--")
    }
}

/// The number of a state without its letter.
pub(crate) fn number(state: crate::AutState) -> usize {
    pdnet_base::Idx::index(state)
}

/// The members of a bit set, smallest first.
pub(crate) fn sets_of(acceptance: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |set| acceptance >> set & 1 == 1)
}

fn label(cube: Cube) -> String {
    let literals: Vec<String> = (0..u64::BITS)
        .filter_map(|bit| {
            let positive = cube.pos >> bit & 1 == 1;
            let negative = cube.neg >> bit & 1 == 1;
            (positive || negative).then(|| format!("{}{bit}", if negative { "!" } else { "" }))
        })
        .collect();
    if literals.is_empty() { "t".to_owned() } else { literals.join("&") }
}

/// A double-quoted string; the format escapes quotes and backslashes as C does.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}
