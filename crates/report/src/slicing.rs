//! What slicing did, as values that the output formats share.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::IndexVec;
use pdnet_check::{Fairness, Property};
use pdnet_net::{Action, Function, Net, Place, PlaceKind, Transition};
use pdnet_reduce::{Kept, Mode, Reason, Slice};
use pdnet_source::{File, Pos, SourceMap};

use crate::layout::base_name;

/// What `pdnet slice` shows: one slice for each group of properties that is checked together.
#[derive(Debug)]
pub struct SliceReport<'a> {
    /// The version of pdnet.
    pub version: &'a str,
    /// What was sliced: the name of the file as the user gave it.
    pub input: String,
    /// The whole net.
    pub net: &'a Net,
    /// The sources that its positions speak of.
    pub map: &'a SourceMap,
    /// The name of the method.
    pub method: &'static str,
    /// The slices.
    pub slices: Vec<SlicedProperties>,
    /// What the user should know beside them.
    pub notes: Vec<String>,
}

/// A slice, with what it was made for.
#[derive(Debug)]
pub struct SlicedProperties {
    /// The properties, as those of the whole net.
    pub properties: Vec<Property>,
    /// Which infinite runs count; `None` where that makes no difference.
    pub fairness: Option<Fairness>,
    /// What is kept.
    pub parts: KeptParts,
    /// How long it took.
    pub seconds: f64,
}

/// What a slice has of the whole net, in the whole net's numbers.
#[derive(Clone, Debug)]
pub struct KeptParts {
    /// The statements, with reasons.
    pub kept: Kept,
    /// How much of a run was looked at.
    pub mode: Mode,
    /// The places.
    pub places: Vec<Place>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// How long the parts of slicing took, in seconds.
    pub phases: Vec<(&'static str, f64)>,
}

impl KeptParts {
    /// What is in a slice.
    #[must_use]
    pub fn of(slice: &Slice) -> Self {
        Self {
            kept: slice.kept.clone(),
            mode: slice.mode,
            places: slice.places.iter().copied().collect(),
            transitions: slice.transitions.iter().copied().collect(),
            phases: slice.phases.clone(),
        }
    }

    /// Everything.
    #[must_use]
    pub fn all(net: &Net) -> Self {
        let mut kept = Kept::nothing(net);
        kept.statements.iter_mut().for_each(|reason| *reason = Some(Reason::All));
        kept.places.iter_mut().for_each(|place| *place = true);
        let (places, transitions) = (net.places.indices().collect(), net.transitions.indices().collect());
        Self { kept, mode: Mode::Run, places, transitions, phases: Vec::new() }
    }
}

/// A size before and after slicing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// In the whole net.
    pub before: usize,
    /// In the slice.
    pub after: usize,
}

/// What slicing made of the net for some properties, in figures.
#[derive(Clone, Debug)]
pub struct SliceSummary {
    /// The name of the method.
    pub method: &'static str,
    /// The names of the properties.
    pub properties: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// The seconds of its parts, each with its name, in order.
    pub phases: Vec<(&'static str, f64)>,
    /// Transitions: the steps of the program.
    pub transitions: Change,
    /// Places that are part of a marking. (Control places are not: they carry dependence.)
    pub places: Change,
    /// The lines of the program that are cut, by file.
    pub cut: Vec<CutLines>,
}

/// The lines of a file of which nothing is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutLines {
    /// The name of the file.
    pub file: String,
    /// First and last line of each range; there may be lines without code in it.
    pub ranges: Vec<(u32, u32)>,
}

impl SliceSummary {
    /// The figures of a slice of a net.
    #[must_use]
    pub fn new(
        net: &Net,
        map: &SourceMap,
        method: &'static str,
        properties: Vec<String>,
        parts: &KeptParts,
        seconds: f64,
    ) -> Self {
        let (transitions, places) = changes(net, parts);
        let cut = cut_lines(net, map, &parts.kept);
        Self { method, properties, seconds, phases: parts.phases.clone(), transitions, places, cut }
    }

    /// What was cut, in one sentence: `31 of 120 steps and 12 of 40 places kept (lines 10-24 cut)`.
    pub(crate) fn sentence(&self) -> String {
        let (transitions, places) = (self.transitions, self.places);
        if transitions.after >= transitions.before && places.after >= places.before {
            return "nothing could be cut".to_owned();
        }
        let sizes = format!(
            "{} of {} steps and {} of {} places kept",
            transitions.after, transitions.before, places.after, places.before
        );
        if self.cut.is_empty() { sizes } else { format!("{sizes} ({} cut)", lines_in_words(&self.cut)) }
    }
}

/// Transitions and places, before and after.
pub(crate) fn changes(net: &Net, parts: &KeptParts) -> (Change, Change) {
    let is_marked = |place: Place| net.places[place].kind != PlaceKind::Control;
    let transitions = Change { before: net.transitions.len(), after: parts.transitions.len() };
    let before = net.places.indices().filter(|&place| is_marked(place)).count();
    let after = parts.places.iter().filter(|&&place| is_marked(place)).count();
    (transitions, Change { before, after })
}

/// More ranges than this are counted, not listed.
const MAX_RANGES: usize = 6;

/// `lines 10-24, 30`; with the file where there are several.
pub(crate) fn lines_in_words(cut: &[CutLines]) -> String {
    let several = cut.len() > 1;
    let of_file = |lines: &CutLines| {
        let range = |&(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        let mut ranges: Vec<String> = lines.ranges.iter().take(MAX_RANGES).map(range).collect();
        if lines.ranges.len() > MAX_RANGES {
            ranges.push("…".to_owned());
        }
        let noun = if ranges.len() == 1 && !ranges[0].contains('-') { "line" } else { "lines" };
        let file = if several { format!("{}: ", base_name(&lines.file)) } else { String::new() };
        format!("{file}{noun} {}", ranges.join(", "))
    };
    let files: Vec<String> = cut.iter().map(of_file).collect();
    files.join("; ")
}

/// The code of a line.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineCode {
    /// The statements with a step there that are kept.
    pub(crate) kept: Vec<Place>,
    /// Whether there are others.
    pub(crate) has_cut: bool,
    /// The functions that begin there of which something is kept, here or below.
    pub(crate) heads: Vec<Function>,
}

impl LineCode {
    /// Whether something of it is kept.
    pub(crate) const fn is_kept(&self) -> bool {
        !self.kept.is_empty() || !self.heads.is_empty()
    }
}

/// The lines that have code, of the files that the user knows.
pub(crate) fn code_lines(net: &Net, map: &SourceMap, kept: &Kept) -> BTreeMap<(File, u32), LineCode> {
    let mut lines: BTreeMap<(File, u32), LineCode> = BTreeMap::new();
    let mut has_kept: IndexVec<Function, bool> = IndexVec::filled(false, net.functions.len());
    for data in &net.transitions {
        let Some(source) = data.source() else { continue };
        has_kept[data.function] |= kept.has(source);
        let Some(pos) = data.pos else { continue };
        if !is_of_user(net, map, pos.file) {
            continue;
        }
        let line = lines.entry((pos.file, pos.line)).or_default();
        if !kept.has(source) {
            line.has_cut = true;
        } else if !line.kept.contains(&source) {
            line.kept.push(source);
        }
    }
    for (function, data) in net.functions.iter_enumerated().filter(|(function, _)| has_kept[*function]) {
        if let Some(pos) = data.pos.filter(|pos| is_of_user(net, map, pos.file)) {
            lines.entry((pos.file, pos.line)).or_default().heads.push(function);
        }
    }
    lines
}

/// What pdnet brings along itself, such as its C library, has a name in angle brackets.
fn is_of_user(net: &Net, map: &SourceMap, file: File) -> bool {
    let name = file_name(net, map, file);
    !(name.starts_with('<') && name.ends_with('>')) && name != "?"
}

/// The name of a file.
pub(crate) fn file_name<'a>(net: &'a Net, map: &'a SourceMap, file: File) -> &'a str {
    let known = map.files().find(|(other, _)| *other == file).map(|(_, data)| data.name.as_str());
    let listed = || net.files.get(pdnet_base::Idx::index(file)).map(String::as_str);
    known.or_else(listed).unwrap_or("?")
}

/// The lines of which nothing is kept, as ranges that no kept line interrupts.
pub(crate) fn cut_lines(net: &Net, map: &SourceMap, kept: &Kept) -> Vec<CutLines> {
    let mut found: Vec<(File, CutLines)> = Vec::new();
    let mut is_open = false;
    for ((file, line), code) in code_lines(net, map, kept) {
        if found.last().is_none_or(|(last, _)| *last != file) {
            let name = file_name(net, map, file).to_owned();
            found.push((file, CutLines { file: name, ranges: Vec::new() }));
            is_open = false;
        }
        let Some((_, lines)) = found.last_mut() else { continue };
        match lines.ranges.last_mut() {
            _ if code.is_kept() => is_open = false,
            Some(range) if is_open => range.1 = line,
            _ => {
                lines.ranges.push((line, line));
                is_open = true;
            }
        }
    }
    found.into_iter().map(|(_, lines)| lines).filter(|lines| !lines.ranges.is_empty()).collect()
}

/// What is cut entirely.
#[derive(Clone, Debug, Default)]
pub(crate) struct CutThings {
    /// Functions of which nothing is kept.
    pub(crate) functions: Vec<String>,
    /// Creations of threads that are cut: the text of the call, and where it is.
    pub(crate) threads: Vec<(String, Option<Pos>)>,
    /// Variables; locals as `function::name`.
    pub(crate) variables: Vec<String>,
}

/// The functions, threads and variables of which nothing is kept.
pub(crate) fn cut_things(net: &Net, map: &SourceMap, parts: &KeptParts) -> CutThings {
    let mut things = CutThings::default();
    let mut sizes: IndexVec<Function, (usize, usize)> = IndexVec::filled((0, 0), net.functions.len());
    let mut threads = BTreeSet::new();
    for data in &net.transitions {
        let is_kept = data.source().is_some_and(|source| parts.kept.has(source));
        let (steps, kept) = &mut sizes[data.function];
        *steps += 1;
        *kept += usize::from(is_kept);
        if data.action == Action::Create && !is_kept && threads.insert((data.pos, data.label.clone())) {
            things.threads.push((data.label.clone(), data.pos));
        }
    }
    for (function, data) in net.functions.iter_enumerated() {
        let of_user = data.pos.is_none_or(|pos| is_of_user(net, map, pos.file));
        if sizes[function].0 > 0 && sizes[function].1 == 0 && of_user {
            things.functions.push(data.name.clone());
        }
    }
    let names = Names::new(net);
    let mut is_kept: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
    parts.places.iter().for_each(|&place| is_kept[place] = true);
    let mut known = BTreeSet::new();
    for (place, data) in net.places.iter_enumerated() {
        if data.kind != PlaceKind::Variable || data.internal || is_kept[place] {
            continue;
        }
        let name = names.variable(net, place);
        if known.insert(name.clone()) {
            things.variables.push(name);
        }
    }
    things
}

/// What variables are called.
#[derive(Debug)]
pub(crate) struct Names(IndexVec<Place, Option<String>>);

impl Names {
    /// Of the objects of a net.
    pub(crate) fn new(net: &Net) -> Self {
        let mut names = IndexVec::filled(None, net.places.len());
        for object in &net.objects {
            for part in &object.parts {
                if let Some(place) = part.place {
                    names[place] = Some(format!("{}{}", object.name, part.path));
                }
            }
        }
        Self(names)
    }

    /// `x`, `a[].next`, `main::i`.
    pub(crate) fn variable(&self, net: &Net, place: Place) -> String {
        let data = &net.places[place];
        let name = self.0[place].as_ref().unwrap_or(&data.name);
        match data.function {
            Some(function) if !name.contains("::") => format!("{}::{name}", net.functions[function].name),
            Some(_) | None => name.clone(),
        }
    }
}
