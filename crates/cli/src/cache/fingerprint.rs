//! What an answer depends on, as a hash.
//!
//! Two questions with the same fingerprint have the same answer: the fingerprint covers the net that is searched,
//! the property of it, the fairness, the options of the engine, and the program that asks. It does not cover what
//! is only for people: names, labels and positions in the source. Limits are left out too, because an answer that
//! a limit decides is not kept.

use pdnet_check::{AtomData, Fairness, Property, PropertyKind};
use pdnet_logic::Automaton;
use pdnet_net::Net;
use sha2::{Digest as _, Sha256};

/// A hash in hexadecimal digits.
pub(crate) fn hex_digest(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // The length keeps `a`, `bc` and `ab`, `c` apart.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The net without what is only for people, in its text form.
///
/// Places, transitions and functions have the numbers of this net, in the order of the program: what is cut
/// before them does not count.
pub(crate) fn canonical_net(net: &Net) -> String {
    let mut bare = Net { name: String::new(), files: Vec::new(), objects: Vec::new(), ..net.clone() };
    // Only the colors that places have, in the order in which they have them.
    let colors = std::mem::take(&mut bare.colors);
    let used: Vec<_> = bare.places.iter().map(|data| colors[data.color].components.clone()).collect();
    for (place, components) in bare.places.indices().zip(used) {
        let color = bare.color(components);
        bare.places[place].color = color;
    }
    for data in bare.functions.iter_mut() {
        data.name.clear();
        data.pos = None;
    }
    for data in bare.places.iter_mut() {
        data.name.clear();
        data.pos = None;
        data.shown = pdnet_net::Shown::Integer;
    }
    for data in bare.transitions.iter_mut() {
        data.label.clear();
        data.calls = None;
        data.pos = None;
        for var in data.vars.iter_mut() {
            var.name.clear();
            var.note = None;
        }
    }
    bare.to_string()
}

/// The property without its names, over the numbers of the net.
pub(crate) fn canonical_property(property: &Property, fairness: Fairness) -> String {
    match &property.kind {
        PropertyKind::NeverFires(transitions) => {
            let mut sorted = transitions.clone();
            sorted.sort_unstable();
            sorted.dedup();
            let names: Vec<String> = sorted.iter().map(ToString::to_string).collect();
            format!("never {}", names.join(" "))
        }
        PropertyKind::NoDeadlock => "no deadlock".to_owned(),
        PropertyKind::NoRace => "no race".to_owned(),
        PropertyKind::NoPartialDeadlock => "no partial deadlock".to_owned(),
        PropertyKind::Ltl { formula, atoms } => {
            let names = atom_numbers(atoms);
            format!("fairness {fairness} ltl {}{}", formula.display(&names), meanings(&names, atoms))
        }
        PropertyKind::Never { automaton, atoms, stutter_invariant } => {
            let names = atom_numbers(atoms);
            let bare = Automaton { atom_names: names.clone(), ..automaton.clone() };
            let sees = if *stutter_invariant { "states" } else { "steps" };
            format!("fairness {fairness} never, sees {sees} {}{}", bare.to_hoa(""), meanings(&names, atoms))
        }
    }
}

/// Names for atoms that do not depend on the user's words.
fn atom_numbers(atoms: &[AtomData]) -> Vec<String> {
    (0..atoms.len()).map(|number| format!("a{number}")).collect()
}

/// What the atoms mean, a line each.
fn meanings(names: &[String], atoms: &[AtomData]) -> String {
    names.iter().zip(atoms).map(|(name, atom)| format!("\n{name} = {}", atom.expr)).collect()
}

#[cfg(test)]
mod tests {
    use pdnet_net::parse_net;
    use pdnet_source::SourceMap;

    use super::*;

    fn net(text: &str) -> Net {
        let mut map = SourceMap::new();
        let file = map.add("net", text);
        parse_net(&map, file).expect("a net")
    }

    const NET: &str = r#"
        net "one step" threads 1 depth 1
        file 0 "a.c"
        color c0 = thread depth
        color c1 = thread
        color c2 =
        color c3 = i32
        function f0 "main" entry p0 exit p0 at 0 1 1
        place p0 execution c0 "start" of f0 at 0 2 1 tokens (0 0)
        place p1 execution c1 "done" tokens
        place p2 execution c2 "ended" tokens
        place p3 variable c3 "x" at 0 3 1 cells global i32 = 5
        done p1
        ended p2
        transition t0 thread-end f0 "end" calls "f" at 0 4 1
          var x0 thread "t"
          var x1 depth "d"
          take p0 (?x0 ?x1)
    "#;

    #[test]
    fn names_and_positions_do_not_count() {
        let same = NET
            .replace("one step", "other")
            .replace("a.c", "b.c")
            .replace("\"main\"", "\"start\"")
            .replace("\"x\" at 0 3 1", "\"y\" at 0 30 7")
            .replace("\"end\" calls \"f\" at 0 4 1", "\"stop\"")
            .replace("\"t\"", "\"thread\"");
        assert_ne!(NET, same);
        assert_eq!(canonical_net(&net(NET)), canonical_net(&net(&same)));
        let more = NET
            .replace("color c3 = i32", "color c3 = u8\ncolor c4 = i32")
            .replace("variable c3", "variable c4");
        assert_eq!(canonical_net(&net(NET)), canonical_net(&net(&more)), "a color that nothing has");
        assert_eq!(canonical_net(&net(&canonical_net(&net(NET)))), canonical_net(&net(NET)));
    }

    #[test]
    fn what_decides_counts() {
        let base = canonical_net(&net(NET));
        for (old, new) in [
            ("= 5", "= 6"),
            ("threads 1", "threads 2"),
            ("thread-end f0", "process-end f0"),
            ("tokens (0 0)", "tokens"),
            ("cells global i32", "cells global u32"),
            ("\"x\" at 0 3 1", "\"x\" at 0 3 1 memory"),
        ] {
            let other = NET
                .replace(old, new)
                .replace("c3 = i32", if new.contains("u32") { "c3 = u32" } else { "c3 = i32" });
            assert_ne!(NET, other, "{old}");
            assert_ne!(canonical_net(&net(&other)), base, "{new}");
        }
    }

    #[test]
    fn the_parts_of_a_hash_are_apart() {
        assert_ne!(hex_digest(&["a", "bc"]), hex_digest(&["ab", "c"]));
        assert_eq!(hex_digest(&["a"]).len(), 64);
    }

    #[test]
    fn fairness_counts_for_formulas_only() {
        let net = net(NET);
        let of = |property: &Property, fairness| canonical_property(property, fairness);
        let (formula, deadlock) = (Property::termination(&net), Property::no_deadlock());
        assert_ne!(of(&formula, Fairness::None), of(&formula, Fairness::Weak));
        assert_eq!(of(&deadlock, Fairness::None), of(&deadlock, Fairness::Weak));
        let renamed = Property { name: "other".to_owned(), text: "other".to_owned(), ..formula.clone() };
        assert_eq!(of(&formula, Fairness::None), of(&renamed, Fairness::None));
    }
}
