//! Where the time and the memory went on the way from file to verdict. The first table has the columns of Tables 3 and 4 of the slicing
//! paper.

use std::fmt::Write as _;

use pdnet_check::{NativeCode, Stats};

use crate::layout::{count, human_bytes};
use crate::report::{Answer, Origin, PropertyResult, Report};

/// Seconds that parts of the way took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Reading the program: preprocessor, parser, types.
    pub reading: f64,
    /// Modelling: from the typed tree to the net, with control flow and control dependence.
    pub modelling: f64,
    /// From nets to answers: slicing, agglomeration, searching, and the replay of runs.
    pub answering: f64,
    /// Asking again under stronger fairness, where a run starves a thread.
    pub probing: f64,
    /// All of it, from the start on.
    pub total: f64,
}

/// The parts of the way, in their order, with the seconds that each took. The last is what is left.
#[must_use]
pub fn phases(report: &Report<'_>) -> Vec<(&'static str, f64)> {
    let Timings { reading, modelling, answering, probing, total } = report.timings;
    // The sum of nothing is -0.
    let slicing = report.slices.iter().fold(0.0, |sum, slice| sum + slice.seconds);
    let merging = report.merges.iter().fold(0.0, |sum, merge| sum + merge.seconds);
    let searching = searches(report).fold(0.0, |sum, result| sum + result.stats.seconds);
    // Runs are lifted and replayed between searches.
    let replaying = (answering - slicing - merging - searching).max(0.0);
    let rest = (total - reading - modelling - answering - probing).max(0.0);
    vec![
        ("reading", reading),
        ("modelling", modelling),
        ("slicing", slicing),
        ("agglomeration", merging),
        ("searching", searching),
        ("replaying", replaying),
        ("stronger fairness", probing),
        ("everything else", rest),
    ]
}

/// One of the results of each search: properties that were searched for together have the statistics of that one search.
fn searches<'r>(report: &'r Report<'_>) -> impl Iterator<Item = &'r PropertyResult<'r>> {
    let is_search = |result: &&PropertyResult<'_>| matches!(result.origin, Origin::Search);
    let results = &report.results;
    results.iter().enumerate().filter_map(move |(at, result)| {
        let is_same = |other: &PropertyResult<'_>| {
            (other.slice, other.merge) == (result.slice, result.merge)
                && other.stats.seconds.to_bits() == result.stats.seconds.to_bits()
                && other.stats.states == result.stats.states
        };
        let is_first = !results[..at].iter().filter(is_search).any(is_same);
        Some(result).filter(is_search).filter(|_| is_first)
    })
}

/// One row for each property: the time of modelling, of slicing, of both, of checking, the states and the result.
/// Then what the searches made of time and memory, the parts of slicing, and where the time of all and the memory of each search went. Times are in milliseconds, as in the paper. Ends in a newline.
#[must_use]
pub fn timings_table(report: &Report<'_>) -> String {
    const TITLES: [&str; 7] =
        ["property", "modelling ms", "slicing ms", "together ms", "checking ms", "states", "result"];
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(report.results.iter().map(|result| row(report, result)));
    let mut out = format!("reading the program: {}\n", milliseconds(report.timings.reading) + " ms");
    out.push_str(&aligned(&rows));
    for result in searches(report) {
        let _ = writeln!(out, "search for {}: {}", result.property.name, search_line(&result.stats));
    }
    for slice in &report.slices {
        let parts = slice.phases.iter().map(|(name, seconds)| format!("{name} {}", milliseconds(*seconds)));
        let (names, parts) = (slice.properties.join(", "), parts.collect::<Vec<_>>().join(", "));
        let _ = writeln!(out, "slicing for {names} ({}), ms: {parts}", slice.method);
    }
    for merge in &report.merges {
        let (names, time) = (merge.properties.join(", "), milliseconds(merge.seconds));
        let _ = writeln!(out, "agglomeration for {names}, ms: {time}; {}", merge.sentence());
    }
    out.push_str(&time_table(report));
    searches(report).for_each(|result| out.push_str(&memory_table(result)));
    out
}

/// Where the time went.
fn time_table(report: &Report<'_>) -> String {
    let total = report.timings.total;
    let row =
        |(name, seconds): (&str, f64)| vec![name.to_owned(), milliseconds(seconds), percent(seconds, total)];
    let mut rows = vec![["where the time went", "ms", "%"].map(str::to_owned).to_vec()];
    rows.extend(phases(report).into_iter().filter(|(_, seconds)| *seconds > 0.0).map(row));
    rows.push(vec!["together".to_owned(), milliseconds(total), String::new()]);
    aligned(&rows)
}

/// Where the memory of a search was at its end; nothing where it was too small to be measured.
#[expect(clippy::cast_precision_loss, reason = "shares for people")]
fn memory_table(result: &PropertyResult<'_>) -> String {
    let stats = &result.stats;
    let parts = stats.memory.parts();
    let total: u64 = parts.iter().map(|(_, bytes)| bytes).sum();
    if total == 0 {
        return String::new();
    }
    let each = |bytes: u64| format!("{:.1}", bytes as f64 / stats.states.max(1) as f64);
    let row = |(name, bytes): (&str, u64)| {
        vec![name.to_owned(), human_bytes(bytes), each(bytes), percent(bytes as f64, total as f64)]
    };
    let title = format!("where the memory of {} went", result.property.name);
    let mut rows = vec![vec![title, "bytes".to_owned(), "a state".to_owned(), "%".to_owned()]];
    rows.extend(parts.into_iter().filter(|(_, bytes)| *bytes > 0).map(row));
    rows.push(vec!["together".to_owned(), human_bytes(total), each(total), String::new()]);
    aligned(&rows)
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.1}", if whole > 0.0 { part / whole * 100.0 } else { 0.0 })
}

/// A line for each row: the first column to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    out
}

/// Where the time and the memory of a search went.
#[expect(clippy::cast_precision_loss, reason = "rates for people")]
fn search_line(stats: &Stats) -> String {
    let states = stats.states.max(1) as f64;
    let rate = stats.states as f64 / stats.seconds.max(1e-9);
    let (steps, bytes) = (stats.transitions as f64 / states, stats.peak_memory_bytes as f64 / states);
    let memory = human_bytes(stats.peak_memory_bytes);
    let reduced = match stats.states_reduced {
        Some(reduced) if reduced > 0 => {
            format!(", steps left out in {:.0} % of the states", reduced as f64 / states * 100.0)
        }
        _ => String::new(),
    };
    let after = |what: &str, steps: Option<u64>| match steps {
        Some(steps) if steps > 0 => format!(", {what} after {}", count(steps, "step")),
        _ => String::new(),
    };
    let forgotten = after("values forgotten", stats.steps_forgotten);
    let exchanged = after("threads exchanged", stats.steps_exchanged);
    let native = match stats.native {
        NativeCode { transitions: 0, .. } => String::new(),
        NativeCode { transitions, seconds } => {
            format!(", native code for {transitions} transitions made in {} ms", milliseconds(seconds))
        }
    };
    format!(
        "{rate:.0} states/s, {steps:.1} steps a state, {bytes:.0} bytes a state ({memory}){reduced}{forgotten}{exchanged}{native}"
    )
}

fn row(report: &Report<'_>, result: &PropertyResult<'_>) -> Vec<String> {
    let slicing = result.slice.and_then(|slice| report.slices.get(slice)).map(|slice| slice.seconds);
    let modelling = report.timings.modelling;
    let dash = || "-".to_owned();
    let (checking, states) = match result.origin {
        Origin::Search => (milliseconds(result.stats.seconds), result.stats.states.to_string()),
        Origin::Cache => ("cache".to_owned(), dash()),
    };
    let verdict = match &result.answer {
        Answer::Holds => "T",
        Answer::Violated(_) => "F",
        Answer::Unknown(_) => "?",
    };
    vec![
        result.property.name.clone(),
        milliseconds(modelling),
        slicing.map_or_else(dash, milliseconds),
        milliseconds(modelling + slicing.unwrap_or(0.0)),
        checking,
        states,
        verdict.to_owned(),
    ]
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.3}", seconds * 1e3)
}
