//! A run as a table with one column for each thread.
//!
//! Consecutive steps of a thread on one source line form a group: the line is shown once, and below it
//! what each step does. Steps without anything to say are left out; the numbers of the others show the gap.
//! Where the threads' columns would become too narrow, the table has one column and names the thread in
//! each group.

use pdnet_source::{ColorChoice, Pos};

use crate::layout::{base_name, count, cut, pad, width, wrap};
use crate::model::Partner;
use crate::report::Report;
use crate::run::{Run, RunEnd, RunStep};
use crate::style::{Style, paint};
use crate::words::{Phrase, Weight};

/// Narrower columns are not readable.
const MIN_COLUMN: usize = 20;
/// As many steps in a row without anything to say are mentioned.
const MANY_SILENT: usize = 5;
/// The width of the step numbers.
const NUMBER_WIDTH: usize = 6;

/// The run as lines of text, each with a newline.
pub(crate) fn run_table(report: &Report<'_>, run: &Run, text_width: usize, color: ColorChoice) -> String {
    let threads = run.shown_threads();
    let place = |step: &RunStep| step.pos.map_or_else(String::new, |pos| short_place(report, pos));
    let widest = run.steps.iter().map(|step| width(&place(step))).max().unwrap_or(0).max(5);
    let gutter = NUMBER_WIDTH + 2 + widest + 2;
    let available = text_width.saturating_sub(gutter).max(MIN_COLUMN);
    let one_each = available / threads.len().max(1);
    let names: Vec<String> = threads.iter().map(|&thread| run.threads.heading(thread)).collect();
    let columns = if one_each >= MIN_COLUMN + 2 {
        Columns::EachThread { threads, width: one_each }
    } else {
        let names_width = names.iter().map(|name| width(name)).max().unwrap_or(0).max(6) + 2;
        Columns::Shared { names_width, width: available.saturating_sub(names_width).max(MIN_COLUMN) }
    };
    let mut table = Table { report, run, columns, place_width: widest, color, out: String::new() };
    table.heading(&names);
    table.steps();
    table.out
}

/// `file:line`, without folders.
pub(crate) fn short_place(report: &Report<'_>, pos: Pos) -> String {
    format!("{}:{}", base_name(report.file_name(pos)), pos.line)
}

enum Columns {
    /// One column for each of these threads.
    EachThread { threads: Vec<i64>, width: usize },
    /// One column for all, with another one before it for the names.
    Shared { names_width: usize, width: usize },
}

struct Table<'a> {
    report: &'a Report<'a>,
    run: &'a Run,
    columns: Columns,
    place_width: usize,
    color: ColorChoice,
    out: String,
}

impl Table<'_> {
    fn heading(&mut self, names: &[String]) {
        let mut line = format!("{:>NUMBER_WIDTH$}  {}  ", "step", pad("line", self.place_width));
        match &self.columns {
            Columns::EachThread { width, .. } => {
                for name in names {
                    line.push_str(&pad(&cut(name, width - 2), *width));
                }
            }
            Columns::Shared { names_width, .. } => line.push_str(&pad(self.run.threads.noun(), *names_width)),
        }
        let line = line.trim_end();
        self.out.push_str(&paint(self.color, Style::Bold, line));
        self.out.push('\n');
    }

    fn steps(&mut self) {
        let mut shown: Option<(i64, Option<Pos>)> = None;
        let mut silent = 0;
        for (at, step) in self.run.steps.iter().enumerate() {
            if at == self.run.n_prefix {
                self.mention_silent(&mut silent);
                self.band("cycle starts here: the following steps repeat forever");
                shown = None;
            }
            let is_last = at + 1 == self.run.steps.len();
            if step.is_silent() && !(is_last && matches!(self.run.end, RunEnd::Failure)) {
                silent += 1;
                continue;
            }
            self.mention_silent(&mut silent);
            let line = step.pos.map(|pos| Pos { column: 0, ..pos });
            let continues = shown == Some((step.thread, line));
            shown = Some((step.thread, line));
            self.step(at + 1, step, continues);
        }
        self.mention_silent(&mut silent);
        if matches!(self.run.end, RunEnd::Cycle(_)) {
            self.band("back to the start of the cycle");
        }
    }

    fn step(&mut self, number: usize, step: &RunStep, continues: bool) {
        let mut lines: Vec<(Style, String)> = Vec::new();
        let mut where_to = String::new();
        if !continues {
            where_to = step.pos.map_or_else(String::new, |pos| short_place(self.report, pos));
            if step.statement.is_none() {
                let source = step.pos.map_or("", |pos| self.report.line_text(pos));
                let source = if source.is_empty() { step.label.as_str() } else { source };
                if !source.is_empty() {
                    lines.push((Style::Plain, cut(source, self.text_width())));
                }
            }
        }
        // The statements of a model are shown one by one, also where they stand on one line.
        lines.extend(step.statement.iter().map(|text| (Style::Plain, cut(text, self.text_width()))));
        lines.extend(self.told(&step.phrases));
        for atom in &step.atoms {
            let text = format!("» {}: {} → {}", atom.text, !atom.value, atom.value);
            let wrapped = wrap(&text, self.text_width() - 2).into_iter();
            lines.extend(wrapped.map(|line| (Style::Logic, format!("  {line}"))));
        }
        // Of a rendezvous, the receiver's part stands beside the sender's, in its own column.
        let beside: Vec<(Style, String)> =
            step.partner.iter().flat_map(|partner| self.beside(partner)).collect();
        let together = matches!(self.columns, Columns::EachThread { .. });
        let n_rows = if together { lines.len().max(beside.len()) } else { lines.len() };
        for row in 0..n_rows {
            let (number, place) =
                if row == 0 { (number.to_string(), where_to.as_str()) } else { (String::new(), "") };
            let own = lines.get(row).map(|(style, text)| (step.thread, *style, text.as_str()));
            let other = step.partner.as_ref().filter(|_| together).and_then(|partner| {
                beside.get(row).map(|(style, text)| (partner.thread, *style, text.as_str()))
            });
            let names_thread = row == 0 && !continues;
            let cells: Vec<_> = own.into_iter().chain(other).collect();
            self.row(&number, place, names_thread, &cells);
        }
        if let Some(partner) = step.partner.as_ref().filter(|_| !together) {
            for (row, (style, text)) in beside.iter().enumerate() {
                self.row("", "", row == 0, &[(partner.thread, *style, text.as_str())]);
            }
        }
    }

    /// What the second process of a step does.
    fn beside(&self, partner: &Partner) -> Vec<(Style, String)> {
        let mut lines = vec![(Style::Plain, cut(&partner.statement, self.text_width()))];
        lines.extend(self.told(&partner.phrases));
        lines
    }

    /// Phrases as lines of a column.
    fn told(&self, phrases: &[Phrase]) -> Vec<(Style, String)> {
        let mut lines = Vec::new();
        for phrase in phrases {
            let (mark, style) = match phrase.weight {
                Weight::Action => ("", Style::Dim),
                Weight::Read => ("", Style::Read),
                Weight::Write => ("", Style::Write),
                Weight::Failure => ("✗ ", Style::Bad),
            };
            let text = format!("{mark}{}", phrase.text);
            let wrapped = wrap(&text, self.text_width() - 2).into_iter();
            lines.extend(wrapped.map(|line| (style, format!("  {line}"))));
        }
        lines
    }

    /// The width of a text within its column.
    fn text_width(&self) -> usize {
        match &self.columns {
            Columns::EachThread { width, .. } => width - 2,
            Columns::Shared { width, .. } => *width,
        }
    }

    /// One line: texts in the columns of threads. Where all share a column, there is but one text.
    fn row(&mut self, number: &str, place: &str, names_thread: bool, cells: &[(i64, Style, &str)]) {
        let gutter = format!("{number:>NUMBER_WIDTH$}  {}  ", pad(place, self.place_width));
        self.out.push_str(&paint(self.color, Style::Dim, &gutter));
        let mut ordered: Vec<(usize, Style, &str)> = Vec::new();
        for &(thread, style, text) in cells {
            let start = match &self.columns {
                Columns::EachThread { threads, width } => {
                    threads.iter().position(|&shown| shown == thread).unwrap_or(0) * width
                }
                Columns::Shared { names_width, .. } => {
                    let name = if names_thread { self.run.threads.heading(thread) } else { String::new() };
                    self.out.push_str(&pad(&name, *names_width));
                    0
                }
            };
            ordered.push((start, style, text.trim_end()));
        }
        ordered.sort_by_key(|&(start, ..)| start);
        let mut at = 0;
        for (start, style, text) in ordered {
            self.out.push_str(&" ".repeat(start.saturating_sub(at)));
            self.out.push_str(&paint(self.color, style, text));
            at = start + width(text);
        }
        self.out.push('\n');
    }

    fn mention_silent(&mut self, silent: &mut usize) {
        if *silent >= MANY_SILENT {
            let text = format!("⋯ {}", count(*silent as u64, "internal step"));
            let line = format!("{}  {text}", " ".repeat(NUMBER_WIDTH));
            self.out.push_str(&paint(self.color, Style::Dim, &line));
            self.out.push('\n');
        }
        *silent = 0;
    }

    fn band(&mut self, text: &str) {
        let line = format!("── {text} ──");
        self.out.push_str(&paint(self.color, Style::Logic, &line));
        self.out.push('\n');
    }
}
