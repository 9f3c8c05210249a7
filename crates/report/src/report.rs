//! What is to be reported.

use std::fmt;

use pdnet_check::{Fairness, Property, Replay, Starved, Stats, StopReason};
use pdnet_net::Net;
use pdnet_net::legend::Legend;
use pdnet_source::{Pos, SourceMap};

use crate::merging::MergeSummary;
use crate::slicing::SliceSummary;
use crate::task::TaskReport;
use crate::timings::Timings;
use crate::unreached::Unreached;

/// The answers to all properties of one program.
#[derive(Debug)]
pub struct Report<'a> {
    /// The version of pdnet.
    pub version: &'a str,
    /// What was checked: the name of the file as the user gave it.
    pub input: String,
    /// The net on which runs were replayed.
    pub net: &'a Net,
    /// What people call its steps and cells, where the net was made of a model.
    pub legend: Option<&'a Legend>,
    /// The sources that its positions speak of.
    pub map: &'a SourceMap,
    /// The answers, in the order in which the properties were asked for.
    pub results: Vec<PropertyResult<'a>>,
    /// The task that the properties come from, where they come from one.
    pub task: Option<TaskReport>,
    /// The names of the reductions that the searches could use.
    pub reductions: Vec<&'static str>,
    /// What slicing cut, for each group of properties that was checked together; none where it was off.
    pub slices: Vec<SliceSummary>,
    /// Which steps were merged, for each group of properties for which some could be.
    pub merges: Vec<MergeSummary>,
    /// Which statements of a model no run executes, where somebody asked.
    pub unreached: Option<Unreached>,
    /// How long the way to the net took.
    pub timings: Timings,
    /// What the user should know beside the answers.
    pub notes: Vec<String>,
}

/// The answer to one property, with its circumstances.
#[derive(Debug)]
pub struct PropertyResult<'a> {
    /// The property.
    pub property: &'a Property,
    /// Which infinite runs counted. Means something for formulas only.
    pub fairness: Fairness,
    /// The name of the engine.
    pub engine: &'a str,
    /// What the search took.
    pub stats: Stats,
    /// The answer.
    pub answer: Answer,
    /// Which of the report's slices was searched; none where the whole net was.
    pub slice: Option<usize>,
    /// Which of the report's merges made the net that was searched; none where no steps were merged.
    pub merge: Option<usize>,
    /// Where the answer comes from.
    pub origin: Origin,
    /// Answers to the same property under stronger fairness, weakest first. Asked for where the run of a
    /// violation starves a thread.
    pub probes: Vec<Probe>,
}

/// Where an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From a search.
    Search,
    /// From an earlier run that asked the same of the same slice. A violation was replayed again.
    Cache,
}

/// An answer that may be shown: a violation has been replayed.
#[derive(Debug)]
pub enum Answer {
    /// Every run has the property.
    Holds,
    /// This run has not.
    Violated(Box<Replay>),
    /// Not known, and why.
    Unknown(StopReason),
}

/// The answer under another fairness.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The fairness.
    pub fairness: Fairness,
    /// The answer.
    pub answer: ProbeAnswer,
}

/// An answer without its run.
#[derive(Clone, Debug)]
pub enum ProbeAnswer {
    /// Every fair run has the property.
    Holds,
    /// Some fair run has not; it leaves these threads behind, as far as the fairness allows it.
    Violated {
        /// The threads.
        starved: Vec<Starved>,
    },
    /// Not known, and why.
    Unknown(StopReason),
}

/// The answer to all properties together.
#[derive(Clone, Debug, PartialEq)]
pub enum Overall<'a> {
    /// All hold.
    True,
    /// Some are violated; the class of the first.
    False(&'a str),
    /// None is violated and some are not known; the first reason.
    Unknown(&'a StopReason),
}

impl Report<'_> {
    /// The answer to all properties together. Of no properties: true.
    #[must_use]
    pub fn overall(&self) -> Overall<'_> {
        let questions = self.task.iter().flat_map(|task| &task.questions);
        Overall::of(&self.results, questions.filter_map(|question| question.refused.as_ref()).next())
    }

    /// The name of the file of a position.
    pub(crate) fn file_name(&self, pos: Pos) -> &str {
        let known = self.map.files().find(|(file, _)| *file == pos.file).map(|(_, data)| data.name.as_str());
        let listed = || self.net.files.get(pdnet_base::Idx::index(pos.file)).map(String::as_str);
        known.or_else(listed).unwrap_or("?")
    }

    /// The source text of the line of a position, without white space around it; empty where unknown.
    pub(crate) fn line_text(&self, pos: Pos) -> &str {
        let data = self.map.files().find(|(file, _)| *file == pos.file).map(|(_, data)| data);
        data.and_then(|data| data.line_text(pos.line)).map_or("", str::trim)
    }

    /// `file:line`.
    pub(crate) fn place_name(&self, pos: Pos) -> String {
        format!("{}:{}", self.file_name(pos), pos.line)
    }
}

impl<'a> Overall<'a> {
    /// The answer to these results together; `refused` is the reason why something else was not checked.
    pub(crate) fn of(results: &'a [PropertyResult<'_>], refused: Option<&'a StopReason>) -> Self {
        let mut unknown = None;
        for result in results {
            match &result.answer {
                Answer::Violated(_) => return Overall::False(result.property.class),
                Answer::Unknown(reason) => unknown = unknown.or(Some(reason)),
                Answer::Holds => {}
            }
        }
        unknown.or(refused).map_or(Overall::True, Overall::Unknown)
    }

    /// The word in the JSON output.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False(_) => "false",
            Self::Unknown(_) => "unknown",
        }
    }
}

impl PropertyResult<'_> {
    /// Whether there is a run that breaks it.
    #[must_use]
    pub const fn is_violated(&self) -> bool {
        matches!(self.answer, Answer::Violated(_))
    }
}

impl fmt::Display for Overall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True => f.write_str("TRUE"),
            Self::False(class) => write!(f, "FALSE ({class})"),
            Self::Unknown(reason) => write!(f, "UNKNOWN ({reason})"),
        }
    }
}
