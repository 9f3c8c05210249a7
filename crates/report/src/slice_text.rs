//! A slice for people: the program with a mark for each line, and why it is kept.

use std::fmt::Write as _;

use pdnet_check::Fairness;
use pdnet_reduce::{Mode, Reason};
use pdnet_source::File;

use crate::layout::{pad, width, wrap};
use crate::slice_words::Words;
use crate::slicing::{
    LineCode, SliceReport, SlicedProperties, changes, code_lines, cut_lines, cut_things, file_name,
    lines_in_words,
};
use crate::style::{Style, paint};
use crate::text::TextOptions;

/// Wider source lines have their reasons below them.
const MAX_SOURCE: usize = 60;
/// Reasons get at least as many columns.
const MIN_REASON: usize = 24;

/// All slices as text. Ends in a newline.
#[must_use]
pub fn slice_text(report: &SliceReport<'_>, options: TextOptions) -> String {
    let mut writer = Writer { report, options, out: String::new() };
    for (position, sliced) in report.slices.iter().enumerate() {
        if position > 0 {
            writer.out.push('\n');
        }
        writer.slice(sliced);
    }
    for note in &report.notes {
        writer.paragraph(&format!("note: {note}"), Style::Plain);
    }
    writer.out
}

struct Writer<'a> {
    report: &'a SliceReport<'a>,
    options: TextOptions,
    out: String,
}

impl Writer<'_> {
    fn slice(&mut self, sliced: &SlicedProperties) {
        let (version, input, method) = (self.report.version, &self.report.input, self.report.method);
        let head = format!("pdnet {version}: slice of {input}, method {method}");
        self.paragraph(&head, Style::Dim);
        for property in &sliced.properties {
            self.paragraph(&format!("for {}: {}", property.name, property.text), Style::Bold);
        }
        self.out.push('\n');
        self.source(sliced);
        self.summary(sliced);
    }

    fn paragraph(&mut self, text: &str, style: Style) {
        for line in wrap(text, self.options.width) {
            let _ = writeln!(self.out, "{}", paint(self.options.color, style, &line));
        }
    }

    /// The lines of all files that have code.
    fn source(&mut self, sliced: &SlicedProperties) {
        let (net, map) = (self.report.net, self.report.map);
        let lines = code_lines(net, map, &sliced.parts.kept);
        let words = Words::new(net, map, sliced);
        let mut files: Vec<File> = lines.keys().map(|(file, _)| *file).collect();
        files.dedup();
        for &file in &files {
            if files.len() > 1 {
                self.paragraph(file_name(net, map, file), Style::Bold);
            }
            let Some((_, data)) = map.files().find(|(other, _)| *other == file) else { continue };
            let text_of = |line: u32| data.line_text(line).unwrap_or("").replace('\t', "    ");
            let n_lines = u32::try_from(data.n_lines()).unwrap_or(u32::MAX);
            // A file that ends in a newline has no line behind it.
            let last = if data.text.ends_with('\n') { n_lines.saturating_sub(1) } else { n_lines };
            let digits = last.to_string().len();
            let room = self.options.width.saturating_sub(digits + 5 + MIN_REASON).min(MAX_SOURCE);
            let fitting = (1..=last).map(|line| width(&text_of(line))).filter(|&width| width <= room);
            let column = fitting.max().unwrap_or(0);
            for line in 1..=last {
                let code = lines.get(&(file, line));
                let reasons = code.map(|code| words.of_line(file, line, code)).unwrap_or_default();
                self.line(&Gutter { line, digits, column }, code, &text_of(line), &reasons);
            }
            self.out.push('\n');
        }
    }

    /// One line: its mark, its number, its text, and the reasons beside it.
    fn line(&mut self, gutter: &Gutter, code: Option<&LineCode>, source: &str, reasons: &[String]) {
        let (mark, style) = match code {
            Some(code) if code.is_kept() => ('+', Style::Plain),
            Some(_) => ('-', Style::Dim),
            None => (' ', Style::Plain),
        };
        let color = self.options.color;
        let left = format!("{mark} {:>digits$} | ", gutter.line, digits = gutter.digits);
        let indent = width(&left);
        let room = self.options.width.saturating_sub(indent + gutter.column + 3).max(MIN_REASON);
        let mut notes: Vec<String> = reasons.iter().flat_map(|reason| wrap(reason, room)).collect();
        notes.reverse();
        let beside = if width(source) <= gutter.column { notes.pop() } else { None };
        let text = match beside {
            Some(note) => {
                let padded = paint(color, style, &pad(source, gutter.column));
                format!("{left}{padded}   {}", paint(color, Style::Logic, &note))
            }
            None => format!("{left}{}", paint(color, style, source)),
        };
        let _ = writeln!(self.out, "{}", text.trim_end());
        let blank = format!("{}| {}", " ".repeat(indent - 2), " ".repeat(gutter.column));
        while let Some(note) = notes.pop() {
            let _ = writeln!(self.out, "{blank}   {}", paint(color, Style::Logic, &note));
        }
    }

    fn summary(&mut self, sliced: &SlicedProperties) {
        let (net, map) = (self.report.net, self.report.map);
        let (transitions, places) = changes(net, &sliced.parts);
        let cut = cut_lines(net, map, &sliced.parts.kept);
        let things = cut_things(net, map, &sliced.parts);
        let threads: Vec<String> = things
            .threads
            .iter()
            .map(|(label, pos)| {
                pos.map_or_else(|| label.clone(), |pos| format!("{label} at line {}", pos.line))
            })
            .collect();
        self.paragraph("+ kept, - cut, no mark: no code", Style::Dim);
        let lines = if cut.is_empty() { "no line".to_owned() } else { lines_in_words(&cut) };
        self.paragraph(&format!("cut: {lines}"), Style::Plain);
        self.paragraph(&format!("functions cut entirely: {}", list(&things.functions)), Style::Plain);
        self.paragraph(&format!("threads that are not started: {}", list(&threads)), Style::Plain);
        self.paragraph(&format!("variables cut: {}", list(&things.variables)), Style::Plain);
        let sizes = format!(
            "steps: {} of {} kept; places: {} of {} kept; {:.1} ms",
            transitions.after,
            transitions.before,
            places.after,
            places.before,
            sliced.seconds * 1e3
        );
        self.paragraph(&sizes, Style::Plain);
        // Where nothing may be cut, it does not matter how much of a run counts.
        if !sliced.parts.kept.statements.iter().any(|reason| matches!(reason, Some(Reason::Whole))) {
            self.paragraph(mode_in_words(sliced), Style::Dim);
        }
    }
}

/// More names than this are counted, not listed.
const MAX_NAMES: usize = 20;

/// The names, as far as people want to read them; the JSON output has all of them.
fn list(names: &[String]) -> String {
    match names.len().saturating_sub(MAX_NAMES) {
        _ if names.is_empty() => "none".to_owned(),
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MAX_NAMES].join(", ")),
    }
}

/// How much of a run the properties look at.
const fn mode_in_words(sliced: &SlicedProperties) -> &'static str {
    match (sliced.parts.mode, sliced.fairness) {
        (Mode::Prefix, _) => "one step or state of a run breaks it: what comes after that does not count",
        (Mode::Run, None | Some(Fairness::None)) => {
            "whole runs break it, no fairness assumed: a thread that may be busy or blocked forever counts, wherever it is"
        }
        (Mode::Run, Some(Fairness::Weak)) => "whole runs break it, weak fairness assumed",
        (Mode::Run, Some(Fairness::Strong)) => "whole runs break it, strong fairness assumed",
    }
}

/// What stands in front of a line, and how wide its text may be.
struct Gutter {
    line: u32,
    digits: usize,
    column: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let names = |count: usize| (0..count).map(|number| format!("x{number}")).collect::<Vec<_>>();
        assert_eq!(list(&[]), "none");
        assert_eq!(list(&names(2)), "x0, x1");
        assert!(list(&names(20)).ends_with(", x19"));
        assert!(list(&names(25)).ends_with(", x19 and 5 more"));
    }
}
