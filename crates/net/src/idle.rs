//! Cells that decide nothing: counters of statistics, the time of a clock that nobody asks.
//!
//! A cell is *idle* where nobody looks at it but to compute idle cells: no guard, no key, no condition of an arc, no
//! token and no other cell depends on it. Take two markings that agree on all but idle cells. They have the same steps,
//! with the same choices of inputs, and after a step they agree on all but idle cells again. So a run that comes from
//! the one to the other by some steps can take these steps again and again, for ever, and whoever looks at no idle cell
//! sees the same in each round.

use pdnet_base::IndexVec;

use crate::net::{ArcData, Pattern, Place, TransitionData, Var};
use crate::{Expr, Net};

/// The idle cells of a net, where these places are looked at by somebody else, such as the atoms of a formula.
///
/// None where steps depend on more than their arcs.
#[must_use]
pub fn idle_cells(net: &Net, is_observed: impl Fn(Place) -> bool) -> IndexVec<Place, bool> {
    let is_special = |place: Place| Some(place) == net.atomic || Some(place) == net.indivisible;
    let mut idle: IndexVec<Place, bool> = net
        .places
        .iter_enumerated()
        .map(|(place, data)| {
            net.is_plain() && data.cells().is_some() && !is_special(place) && !is_observed(place)
        })
        .collect();
    // What is not idle makes others not idle: until nothing changes.
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for data in &net.transitions {
            for place in looked_at(data, &idle) {
                is_changed |= std::mem::replace(&mut idle[place], false);
            }
        }
    }
    idle
}

/// The places of cells that decide what a step does to all but idle cells.
fn looked_at(data: &TransitionData, idle: &IndexVec<Place, bool>) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    let mut vars: Vec<Var> = Vec::new();
    let mut look = |expr: &Expr| {
        vars.extend(expr.vars());
        expr.walk(&mut |part| {
            if let Expr::Cell(place, _) = part {
                found.push(*place);
            }
        });
    };
    for arc in &data.arcs {
        match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                for part in token {
                    match part {
                        Pattern::Is(expr) => look(expr),
                        Pattern::Bind(var) => look(&Expr::Var(*var)),
                    }
                }
            }
            ArcData::Put { token, .. } => token.iter().for_each(&mut look),
            ArcData::Inhibit { prefix, .. } | ArcData::Drain { prefix, .. } => {
                prefix.iter().for_each(&mut look);
            }
            ArcData::Read { key, when, .. } => key.iter().chain(when).for_each(&mut look),
            ArcData::Write { place, key, value, when } => {
                key.iter().chain(when).for_each(&mut look);
                // What is written to an idle cell need not be known.
                if !idle[*place] {
                    look(value);
                }
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    data.guard.iter().for_each(&mut look);
    data.bytes.iter().for_each(|bytes| look(&bytes.first));
    let read = data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Read { place, var, .. } if vars.contains(var) => Some(*place),
        _ => None,
    });
    found.extend(read);
    found
}

#[cfg(test)]
mod tests {
    use pdnet_source::SourceMap;

    use super::idle_cells;
    use crate::{PlaceKind, parse_net};

    /// The idle cells among `x` and `y`, with these further lines of the only step, which reads and writes both.
    fn idle(observed: &str, lines: &str) -> String {
        let text = format!(
            r#"net "idle" threads 2 depth 1
            color c0 = thread depth
            color c1 = i32
            function f0 "main" entry p0 exit p1
            place p0 execution c0 "at" of f0 tokens (0 0)
            place p1 execution c0 "out" of f0 tokens
            place p2 variable c1 "x" cells global i32 = 0
            place p3 variable c1 "y" cells global i32 = 0
            transition t0 assign f0 "s"
             var x0 thread "t"
             var x1 depth "d"
             var x2 i32 "x"
             var x3 i32 "y"
             take p0 (?x0 ?x1)
             read p2 () x2
             read p3 () x3
             put p0 (x0 x1)
             {lines}"#
        );
        let mut map = SourceMap::new();
        let file = map.add("net", &text);
        let net = parse_net(&map, file).unwrap();
        let idle = idle_cells(&net, |place| net.places[place].name == observed);
        let names = ["x", "y"]
            .into_iter()
            .filter(|name| net.find_place(name, PlaceKind::Variable).is_some_and(|place| idle[place]));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn cells_that_decide_nothing_are_idle() {
        for (observed, lines, expected) in [
            ("", "write p2 () (add i32 x2 1)", "x y"),
            ("", "write p2 () (add i32 x3 1)\n write p3 () x2", "x y"),
            ("", "write p2 () (add i32 x2 1)\n guard (lt i32 x3 5)", "x"),
            ("", "write p2 () (add i32 x2 1)\n guard (lt i32 x2 5)", "y"),
            ("", "write p3 () x2\n guard (lt i32 x3 5)", ""),
            ("x", "write p2 () x3", ""),
            ("x", "write p3 () x2", "y"),
            ("", "write p2 () (add i32 x2 1) when (ne i64 x3 0)", "x"),
        ] {
            assert_eq!(idle(observed, lines), expected, "{observed} {lines}");
        }
    }
}
