//! Programs through the lowering and the reference interpreter: what their runs can do.

use std::collections::BTreeSet;

use pdnet_front_c::{LowerOptions, Lowered, Options, load_preprocessed, lower};
use pdnet_logic::{Formula, parse_formula};
use pdnet_net::{Action, Interpreter, Successor, verify_net};
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};

#[allow(dead_code, reason = "some tests choose how to load")]
/// Loads and lowers a program that stands behind some declarations, or gives the diagnostics as text.
pub(crate) fn lowered(
    prelude: &str,
    text: &str,
    formulas: &[&str],
    options: &LowerOptions,
) -> Result<Lowered, String> {
    lowered_with(prelude, text, formulas, options, &Options::default())
}

/// The same with other options for loading, such as the data model.
pub(crate) fn lowered_with(
    prelude: &str,
    text: &str,
    formulas: &[&str],
    options: &LowerOptions,
    loading: &Options,
) -> Result<Lowered, String> {
    let mut map = SourceMap::new();
    let file = map.add("test.i", format!("{prelude}{text}"));
    let show = |map: &SourceMap, diagnostics: &[Diagnostic]| {
        diagnostics.iter().map(|diagnostic| render(map, diagnostic, ColorChoice::Plain)).collect::<String>()
    };
    let loaded = load_preprocessed(&mut map, file, loading);
    let loaded = loaded.map_err(|diagnostics| show(&map, &diagnostics))?;
    let mut parsed: Vec<Formula> = Vec::new();
    for formula in formulas {
        let file = map.add("<ltl>", *formula);
        parsed.push(parse_formula(&map, file).map_err(|diagnostic| show(&map, &[diagnostic]))?);
    }
    let result = lower(&map, &loaded.program, &parsed, options);
    let result = result.map_err(|diagnostics| show(&map, &diagnostics))?;
    let violations = verify_net(&result.net);
    assert!(violations.is_empty(), "{violations:?}\n{}", result.net);
    Ok(result)
}

/// What the runs of a program can do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    pub(crate) fails: bool,
    pub(crate) deadlocks: bool,
    /// The names of the faults that are met.
    pub(crate) faults: BTreeSet<&'static str>,
    pub(crate) bounds: bool,
    /// The values of the first formula's atoms in end states, as bits.
    pub(crate) ends: BTreeSet<u64>,
    pub(crate) states: usize,
}

impl Runs {
    /// In one word or several: `fails`, `deadlocks`, the names of faults, `bounds`, or `fine`.
    pub(crate) fn words(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        words.extend(self.fails.then_some("fails"));
        words.extend(self.deadlocks.then_some("deadlocks"));
        words.extend(self.faults.iter().map(|name| name.trim_start_matches("fault-")));
        words.extend(self.bounds.then_some("bounds"));
        if words.is_empty() { "fine".to_owned() } else { words.join(" ") }
    }
}

/// All that the runs of a program can do, by the reference interpreter.
pub(crate) fn explore(lowered: &Lowered) -> Runs {
    let interpreter = Interpreter::new(&lowered.net);
    let mut runs = Runs::default();
    let mut queue = vec![interpreter.initial()];
    let mut seen: BTreeSet<_> = queue.iter().cloned().collect();
    while let Some(marking) = queue.pop() {
        assert!(seen.len() < 200_000, "too many states");
        let enabled = interpreter.enabled(&marking);
        runs.deadlocks |= enabled.is_empty() && !interpreter.ended(&marking);
        if interpreter.ended(&marking) {
            let atoms = lowered.atoms.first().map_or(&[][..], Vec::as_slice);
            let bit = |(at, atom)| u64::from(interpreter.eval(&marking, atom) != 0) << at;
            runs.ends.insert(atoms.iter().enumerate().map(bit).sum());
        }
        for firing in enabled {
            let action = lowered.net.transitions[firing.transition].action;
            runs.fails |= matches!(action, Action::AssertFail | Action::Error);
            runs.faults.extend(matches!(action, Action::Fault(_)).then(|| action.name()));
            runs.bounds |= matches!(action, Action::Bound(_));
            if let Successor::Marking(next) = interpreter.fire(&marking, &firing)
                && seen.insert(next.clone())
            {
                queue.push(next);
            }
        }
    }
    runs.states = seen.len();
    runs
}
