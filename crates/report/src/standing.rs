//! Where the processes of a model stand when none can move, and what each of them waits for.

use pdnet_base::Idx as _;
use pdnet_net::legend::{EndWords, Need, StateWords, WaitWords};
use pdnet_net::{ArcData, Interpreter, Marking, Place, Transition};
use pdnet_source::Pos;

use crate::accesses::Binding;
use crate::model::Narrator;

/// A process that cannot move.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// Its number.
    pub(crate) thread: i64,
    /// Where it stands.
    pub(crate) pos: Option<Pos>,
    /// Whether it may stay there.
    pub(crate) end: EndWords,
    /// What it could do next, each with the reason why not.
    pub(crate) waits: Vec<String>,
}

impl Standing {
    /// Whether the process may stay where it is.
    pub(crate) fn is_valid(&self) -> bool {
        self.end != EndWords::Invalid
    }

    /// In words, to follow the name of the process and its place.
    pub(crate) fn describe(&self) -> String {
        let valid = match &self.end {
            EndWords::Body => return "is at its end".to_owned(),
            EndWords::Label(label) => format!("may end here (label {label}), "),
            EndWords::Invalid => String::new(),
        };
        match self.waits.as_slice() {
            [] => format!("{valid}can do nothing"),
            several => format!("{valid}waits for {}", several.join("; or for ")),
        }
    }
}

/// All processes, by their numbers.
pub(crate) fn standings(narrator: Narrator<'_>, marking: &Marking) -> Vec<Standing> {
    let mut found = Vec::new();
    for (&place, words) in &narrator.legend.states {
        for (token, _) in marking.tokens(place) {
            found.push(standing(narrator, marking, place, words, token[0]));
        }
    }
    found.sort_by_key(|standing| standing.thread);
    found
}

fn standing(
    narrator: Narrator<'_>,
    marking: &Marking,
    place: Place,
    words: &StateWords,
    thread: i64,
) -> Standing {
    let reason = |wait: &WaitWords| Inquiry { narrator, marking, thread, wait }.reason();
    Standing {
        thread,
        pos: narrator.net.places[place].pos,
        end: words.end.clone(),
        waits: words.waits.iter().map(reason).collect(),
    }
}

/// Why one statement cannot be executed.
struct Inquiry<'a> {
    narrator: Narrator<'a>,
    marking: &'a Marking,
    thread: i64,
    wait: &'a WaitWords,
}

impl Inquiry<'_> {
    /// The statement, and why it cannot be executed.
    fn reason(&self) -> String {
        let text = &self.wait.text;
        let step = self.wait.steps.first().copied();
        let channel = step.and_then(|step| {
            let binding = self.binding(step);
            self.narrator.channel_of(step, &self.narrator.scene(self.marking, &binding))
        });
        match self.wait.needs {
            Need::Youngest => "the end of the processes that were started after it".to_owned(),
            Need::Receiver => format!("{text}, but nobody is ready to receive it"),
            Need::Sender => format!("{text}, but nobody is ready to send it"),
            Need::Room => match channel {
                Some(channel) => format!("{text}, but {} is full", self.narrator.legend.channel(channel)),
                None => text.clone(),
            },
            Need::Message => match channel.and_then(|channel| Some((channel, self.messages(channel)?))) {
                Some((channel, messages)) => {
                    let name = self.narrator.legend.channel(channel);
                    match messages.as_slice() {
                        [] => format!("{text}, but {name} is empty"),
                        [only] => format!("{text}, but {name} has the message {only}"),
                        several => format!("{text}, but {name} has the messages {}", several.join("; ")),
                    }
                }
                None => text.clone(),
            },
            Need::Condition => match step.map(|step| self.grounds(step)).filter(|it| !it.is_empty()) {
                Some(grounds) => format!("{text}, but {}", grounds.join(", ")),
                None => text.clone(),
            },
        }
    }

    fn messages(&self, channel: i64) -> Option<Vec<String>> {
        self.narrator.messages(self.marking, channel)
    }

    /// The values that the variables of a step would have. All of them are read from cells.
    fn binding(&self, step: Transition) -> Vec<i64> {
        let data = &self.narrator.net.transitions[step];
        let interpreter = Interpreter::new(self.narrator.net);
        let mut binding = vec![0; data.vars.len()];
        binding[0] = self.thread;
        for arc in &data.arcs {
            let ArcData::Read { place, key, var, when } = arc else { continue };
            let view = Binding(&binding);
            if view.counts(when.as_ref()) {
                binding[var.index()] = interpreter.cell(self.marking, *place, &view.values(key));
            }
        }
        binding
    }

    /// What the step looks at, and finds.
    fn grounds(&self, step: Transition) -> Vec<String> {
        let binding = self.binding(step);
        let view = Binding(&binding);
        let mut found: Vec<String> = Vec::new();
        for arc in &self.narrator.net.transitions[step].arcs {
            let ArcData::Read { place, key, var, when } = arc else { continue };
            if !view.counts(when.as_ref()) {
                continue;
            }
            let (key, value) = (view.values(key), binding[var.index()]);
            let access = self.narrator.access(*place, &key, value, &[self.thread]);
            let text = access.map(|access| format!("{} = {}", access.name, access.text));
            found.extend(text.filter(|text| !found.contains(text)));
        }
        found
    }
}
