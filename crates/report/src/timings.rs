//! How long the parts of the way from file to verdict took: the columns of Tables 3 and 4 of the slicing paper.

use std::fmt::Write as _;

use pdnet_check::{NativeCode, Stats};

use crate::layout::human_bytes;
use crate::report::{Answer, Origin, PropertyResult, Report};

/// Seconds that the way to the net took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Reading the program: preprocessor, parser, types.
    pub reading: f64,
    /// Modelling: from the typed tree to the net, with control flow and control dependence.
    pub modelling: f64,
}

/// One row for each property: the time of modelling, of slicing, of both, of checking, the states and the result.
/// Then what the searches made of time and memory, and the parts of slicing. Times are in milliseconds, as in the paper. Ends in a newline.
#[must_use]
pub fn timings_table(report: &Report<'_>) -> String {
    const TITLES: [&str; 7] =
        ["property", "modelling ms", "slicing ms", "together ms", "checking ms", "states", "result"];
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(report.results.iter().map(|result| row(report, result)));
    let columns = 0..TITLES.len();
    let widths: Vec<usize> =
        columns.map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut out = format!("reading the program: {}\n", milliseconds(report.timings.reading) + " ms");
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "));
    }
    for result in report.results.iter().filter(|result| matches!(result.origin, Origin::Search)) {
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
    let native = match stats.native {
        NativeCode { transitions: 0, .. } => String::new(),
        NativeCode { transitions, seconds } => {
            format!(", native code for {transitions} transitions made in {} ms", milliseconds(seconds))
        }
    };
    format!(
        "{rate:.0} states/s, {steps:.1} steps a state, {bytes:.0} bytes a state ({memory}){reduced}{native}"
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
