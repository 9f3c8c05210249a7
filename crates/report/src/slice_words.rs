//! Why something is kept, in words.

use pdnet_base::IndexVec;
use pdnet_check::Property;
use pdnet_net::{Action, Dependence, Function, Net, Place, Transition};
use pdnet_reduce::{Kept, Reason, Statement};
use pdnet_source::{File, Pos, SourceMap};

use crate::layout::base_name;
use crate::slicing::{LineCode, Names, SlicedProperties, file_name};

/// Finds the words.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    net: &'a Net,
    map: &'a SourceMap,
    kept: &'a Kept,
    /// What was asked.
    properties: &'a [Property],
    names: Names,
    /// The steps out of each place.
    steps: IndexVec<Place, Vec<Transition>>,
}

impl<'a> Words<'a> {
    /// For what is kept of a net for some properties.
    pub(crate) fn new(net: &'a Net, map: &'a SourceMap, sliced: &'a SlicedProperties) -> Self {
        let (kept, properties) = (&sliced.parts.kept, sliced.properties.as_slice());
        let mut steps: IndexVec<Place, Vec<Transition>> = IndexVec::filled(Vec::new(), net.places.len());
        for (transition, data) in net.transitions.iter_enumerated() {
            if let Some(source) = data.source() {
                steps[source].push(transition);
            }
        }
        Self { net, map, kept, properties, names: Names::new(net), steps }
    }

    /// Why these statements of one line are kept: each reason once. That one of them is kept for another one of
    /// the same line says nothing where there is a reason from elsewhere.
    pub(crate) fn of_line(&self, file: File, line: u32, code: &LineCode) -> Vec<String> {
        let statements = code.kept.as_slice();
        if statements.is_empty() {
            let head = |&function: &Function| {
                format!("begins `{}`, of which something is kept", self.net.functions[function].name)
            };
            return code.heads.iter().map(head).collect();
        }
        let here = |statement: Statement| {
            self.pos(statement).is_some_and(|pos| pos.file == file && pos.line == line)
        };
        let is_inner = |reason: &Reason| match reason {
            Reason::Governs(other, _)
            | Reason::Writes(_, other)
            | Reason::Calls(other)
            | Reason::Returns(other)
            | Reason::Ends(other)
            | Reason::Before(other) => here(*other),
            Reason::Decides(one, other) => here(*one) && here(*other),
            Reason::Frame | Reason::SameLine(_) => true,
            Reason::Observed(_) | Reason::MayEnd(_) | Reason::MayLoop | Reason::All | Reason::Whole => false,
        };
        let reasons = || {
            let with = |&statement: &Statement| Some((statement, self.kept.statements[statement].as_ref()?));
            statements.iter().filter_map(with)
        };
        let has_outer = reasons().any(|(_, reason)| !is_inner(reason));
        let mut texts = Vec::new();
        for (statement, reason) in reasons().filter(|(_, reason)| !has_outer || !is_inner(reason)) {
            let text = self.reason(file, statement, reason);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        texts
    }

    /// The reason in words, for a reader of this file.
    fn reason(&self, file: File, statement: Statement, reason: &Reason) -> String {
        let at = |other: Statement| self.place_of(file, other);
        match reason {
            Reason::Observed(name) if self.properties.iter().any(|property| property.name == *name) => {
                format!("the property `{name}` is about it")
            }
            Reason::Observed(what) => format!("the property looks at `{what}`"),
            Reason::MayEnd(action) => end_in_words(*action),
            Reason::MayLoop => "a loop that is not known to end".to_owned(),
            Reason::Governs(other, Dependence::Control) => {
                format!("decides whether {} is reached", at(*other))
            }
            Reason::Governs(other, Dependence::Call) => {
                format!("leads to {}, in another function", at(*other))
            }
            Reason::Governs(other, Dependence::Lock) => format!("{} may have to wait for it", at(*other)),
            Reason::Governs(other, Dependence::PriorOccurrence) => format!("{} may wait for it", at(*other)),
            Reason::Writes(place, other) => {
                let name = if self.net.places[*place].internal {
                    "a value on the way".to_owned()
                } else {
                    format!("`{}`", self.names.variable(self.net, *place))
                };
                format!("writes {name}, read by {}{}", self.noun(*other), at(*other))
            }
            Reason::Calls(other) => format!("calls what {} is a part of", at(*other)),
            Reason::Returns(other) => format!("goes on after the call at {}", at(*other)),
            Reason::Frame => {
                let name = self.steps[statement].first().map(|&step| self.net.transitions[step].function);
                let name = name.map_or("?", |function| self.net.functions[function].name.as_str());
                format!("begins or ends `{name}`, of which something is kept")
            }
            Reason::Ends(other) => format!("ends a thread for which {} waits", at(*other)),
            Reason::Decides(one, other) if at(*one) == at(*other) => {
                format!("decides how {} is reached", at(*one))
            }
            Reason::Decides(one, other) => {
                format!("decides whether {} or {} comes next", at(*one), at(*other))
            }
            Reason::Before(other) => format!("comes before {}", at(*other)),
            Reason::SameLine(_) => "a part of the line is kept".to_owned(),
            Reason::All => "this method keeps everything".to_owned(),
            Reason::Whole => format!("nothing is cut: {}", whole_in_words(self.net)),
        }
    }

    /// Where a statement is.
    fn pos(&self, statement: Statement) -> Option<Pos> {
        let first = self.steps[statement].iter().find_map(|&step| self.net.transitions[step].pos);
        first.or(self.net.places[statement].pos)
    }

    /// `line 30`, `queue.c:30`, or the name of the place where there is no line.
    fn place_of(&self, file: File, statement: Statement) -> String {
        match self.pos(statement) {
            Some(pos) if pos.file == file => format!("line {}", pos.line),
            Some(pos) => match file_name(self.net, self.map, pos.file) {
                // What pdnet brings along has a name in angle brackets, and lines that nobody knows.
                own if own.starts_with('<') => format!("the {}", own.trim_matches(['<', '>'])),
                name => format!("{}:{}", base_name(name), pos.line),
            },
            None => format!("`{}`", self.net.places[statement].name),
        }
    }

    /// What a statement is, in front of where it is: `the condition at `; nothing where it is an ordinary one.
    fn noun(&self, statement: Statement) -> &'static str {
        let actions = self.steps[statement].iter().map(|&step| self.net.transitions[step].action);
        actions
            .filter_map(|action| match action {
                Action::BranchTrue | Action::BranchFalse => Some("the condition at "),
                Action::AssertFail => Some("the assertion at "),
                Action::Assume | Action::AssumeFail => Some("the assumption at "),
                Action::Call | Action::Library => Some("the call at "),
                Action::Exit => Some("the return at "),
                Action::Create => Some("the new thread at "),
                Action::Lock | Action::ReadLock => Some("the lock at "),
                Action::Join => Some("the join at "),
                _ => None,
            })
            .next()
            .unwrap_or("")
    }
}

/// What a net has that slicing does not allow for: the first of several.
fn whole_in_words(net: &Net) -> &'static str {
    let meets = net.transitions.iter().any(|data| net.moves_partner(data));
    if net.atomic_yields {
        "the model has `atomic` sequences, and whoever is in one decides whether others can move"
    } else if net.indivisible.is_some() {
        "the model has `d_step` sequences, which are cut as a whole or not at all"
    } else if meets {
        "the model has rendezvous, of which two processes move at once"
    } else if net.has_priorities() {
        "steps go before others (`timeout`, `else`, `unless`)"
    } else if net.reuses_threads() {
        "processes end in turn, and the number of one that has ended is given again"
    } else {
        "a thread can come to a place that it never leaves"
    }
}

/// How a run may end at a statement.
fn end_in_words(action: Action) -> String {
    match action {
        Action::Fault(fault) => format!("a run may end here in undefined behaviour: {fault}"),
        Action::Bound(bound) => format!("a run may be given up here: bound on the {bound}"),
        Action::AssumeFail => "an assumption may fail here, which ends the run".to_owned(),
        Action::AssertFail => "an assertion may fail here, which ends the process".to_owned(),
        Action::Error => "an error function is called here, which ends the process".to_owned(),
        _ => "the process may end here".to_owned(),
    }
}
