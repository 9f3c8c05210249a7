//! The steps of a model in its own words: messages, processes, names of values.
//!
//! All of it comes from the legend that the front end wrote beside the net.

use pdnet_base::Idx as _;
use pdnet_net::legend::{
    CellWords, Deed, Legend, Message, Notation, Seen, Worded, element_indices, with_indices,
};
use pdnet_net::{
    Action, ArcData, Expr, Fault, Firing, Interpreter, Marking, Net, Place, Scalars, Scope, Transition, Var,
};

use crate::accesses::{Access, AccessKind};
use crate::threads::Threads;
use crate::words::{Phrase, Weight};

/// Longer arrays are cut where final values are shown.
const MAX_SHOWN_CELLS: usize = 16;

/// Tells runs of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrator<'a> {
    pub(crate) net: &'a Net,
    pub(crate) legend: &'a Legend,
}

/// A step, told.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// The statement.
    pub(crate) statement: String,
    /// What it does.
    pub(crate) phrases: Vec<Phrase>,
    /// The cells that it reads and writes.
    pub(crate) accesses: Vec<Access>,
    /// The process that moves with it.
    pub(crate) partner: Option<Partner>,
    /// The message that it sends or receives.
    pub(crate) message: Option<ToldMessage>,
}

/// The second process of a step.
#[derive(Debug)]
pub(crate) struct Partner {
    pub(crate) thread: i64,
    /// Its statement.
    pub(crate) statement: String,
    /// What it does.
    pub(crate) phrases: Vec<Phrase>,
}

/// A message.
#[derive(Debug)]
pub(crate) struct ToldMessage {
    /// `send`, `receive`, `peek` or `rendezvous`.
    pub(crate) kind: &'static str,
    /// The name of the channel.
    pub(crate) channel: String,
    /// The fields.
    pub(crate) fields: Vec<String>,
}

/// What expressions of a legend are about: the variables of a transition, and the marking before it.
pub(crate) struct Scene<'a> {
    pub(crate) interpreter: Interpreter<'a>,
    pub(crate) marking: &'a Marking,
    pub(crate) binding: &'a [i64],
}

impl Scalars for Scene<'_> {
    fn var(&self, var: Var) -> i64 {
        self.binding.get(var.index()).copied().unwrap_or(0)
    }
    fn cell(&self, place: Place, key: &[i64]) -> i64 {
        self.interpreter.cell(self.marking, place, key)
    }
    fn marked(&self, place: Place, prefix: &[i64]) -> bool {
        self.marking.tokens(place).any(|(token, _)| token.starts_with(prefix))
    }
    fn deadlock(&self) -> bool {
        false
    }
}

impl<'a> Narrator<'a> {
    /// What expressions of a transition are about.
    pub(crate) fn scene(self, marking: &'a Marking, binding: &'a [i64]) -> Scene<'a> {
        Scene { interpreter: Interpreter::new(self.net), marking, binding }
    }

    /// Tells a step.
    pub(crate) fn tell(self, threads: &Threads, before: &'a Marking, firing: &'a Firing) -> Told {
        let words = &self.legend.steps[firing.transition];
        let data = &self.net.transitions[firing.transition];
        let scene = self.scene(before, &firing.binding);
        let partner = words.partner.as_ref().map(|partner| (partner.thread.eval(&scene), &partner.text));
        let mut told = Told { statement: words.text.clone(), ..Told::default() };
        let mut own: Vec<String> = Vec::new();
        let mut broken = None;
        let mut writes: Vec<Access> = Vec::new();
        for deed in &words.deeds {
            match deed {
                Deed::Assign { cell, value } => writes.push(self.write(&scene, cell, value)),
                Deed::Send(message) => {
                    let message = self.message(&scene, message, "send");
                    own.push(format!("sends {} to {}", message.fields.join(","), message.channel));
                    told.message = Some(message);
                }
                Deed::Receive(message) => {
                    let message = self.message(&scene, message, "receive");
                    own.push(format!("receives {} from {}", message.fields.join(","), message.channel));
                    told.message = Some(message);
                }
                Deed::Peek(message) => {
                    let message = self.message(&scene, message, "peek");
                    let fields = message.fields.join(",");
                    own.push(format!("sees {fields} in {}, where it stays", message.channel));
                    told.message = Some(message);
                }
                Deed::Hand(message) => {
                    let message = self.message(&scene, message, "rendezvous");
                    let to = partner
                        .map_or_else(String::new, |(thread, _)| format!(" to {}", threads.describe(thread)));
                    own.push(format!("hands {} over {}{to}", message.fields.join(","), message.channel));
                    told.message = Some(message);
                }
                Deed::Start { name, thread, arguments } => {
                    let arguments: Vec<String> = arguments
                        .iter()
                        .map(|(name, value)| format!("{name} = {}", self.value(&scene, value)))
                        .collect();
                    let thread = thread.eval(&scene);
                    own.push(format!("starts process {thread}: {name}({})", arguments.join(", ")));
                }
                Deed::Break { text, further } => {
                    let further = further.iter().filter(|(when, _)| when.eval(&scene) != 0);
                    broken = Some(std::iter::once(text).chain(further.map(|(_, text)| text)).cloned());
                }
                Deed::Print { format, values } => {
                    own.push(format!("prints \"{}\"", self.printed(&scene, format, values)));
                }
            }
        }
        let mut reads = self.reads(firing, data.action);
        // Who starts a process counts them, but does not ask.
        let starts = words.deeds.iter().any(|deed| matches!(deed, Deed::Start { .. }));
        reads.retain(|access| !starts || access.name != "_nr_pr");
        told.phrases.extend(self.read_phrase(&reads, told.message.is_some() || !writes.is_empty()));
        if broken.is_none() {
            told.phrases.extend(outcome(data.action));
        }
        told.phrases.extend(own.into_iter().map(|text| Phrase { text, weight: Weight::Action }));
        let broken = broken.into_iter().flatten();
        told.phrases.extend(broken.map(|text| Phrase { text, weight: Weight::Failure }));
        if let Some((thread, text)) = partner {
            let received = told.message.as_ref().map(|message| Phrase {
                text: format!(
                    "receives {} from {}",
                    message.fields.join(","),
                    threads.describe(firing.thread())
                ),
                weight: Weight::Action,
            });
            // All that is written is what the receiver stores.
            let phrases = received.into_iter().chain(write_phrase(&writes)).collect();
            told.partner = Some(Partner { thread, statement: text.clone(), phrases });
        } else {
            told.phrases.extend(write_phrase(&writes));
        }
        told.accesses = reads;
        told.accesses.extend(writes);
        told
    }

    fn value(self, scene: &Scene<'_>, worded: &Worded) -> String {
        self.legend.value(worded.notation, worded.value.eval(scene))
    }

    fn message(self, scene: &Scene<'_>, message: &Message, kind: &'static str) -> ToldMessage {
        ToldMessage {
            kind,
            channel: self.legend.channel(message.channel.eval(scene)),
            fields: message.fields.iter().map(|field| self.value(scene, field)).collect(),
        }
    }

    fn write(self, scene: &Scene<'_>, cell: &CellWords, value: &Worded) -> Access {
        let eval = |expr: &Expr| expr.eval(scene);
        let thread = cell.owner.as_ref().map(eval);
        let indices: Vec<i64> = cell.indices.iter().map(eval).collect();
        let number = value.value.eval(scene);
        Access {
            place: Place::new(0),
            thread,
            name: with_indices(&cell.name, &indices),
            value: number.into(),
            text: self.legend.value(value.notation, number),
            kind: AccessKind::Write,
            internal: false,
        }
    }

    /// The variables that a step reads, each once.
    fn reads(self, firing: &Firing, action: Action) -> Vec<Access> {
        // That it is the youngest is no business of the reader.
        if action == Action::ThreadEnd {
            return Vec::new();
        }
        let binding = crate::accesses::Binding(&firing.binding);
        let movers: Vec<i64> = Interpreter::new(self.net).movers(firing).into_iter().collect();
        let mut once: Vec<Access> = Vec::new();
        for arc in &self.net.transitions[firing.transition].arcs {
            let ArcData::Read { place, key, var, when } = arc else { continue };
            if !binding.counts(when.as_ref()) {
                continue;
            }
            let value = firing.binding[var.index()];
            let Some(access) = self.access(*place, &binding.values(key), value, &movers) else { continue };
            if !once.iter().any(|other| other.name == access.name && other.thread == access.thread) {
                once.push(access);
            }
        }
        once
    }

    /// The read of a cell that a reader of the model knows: a variable, or how many messages a channel has. What it finds
    /// in a process that is none of `movers` is named as that one's.
    pub(crate) fn access(self, place: Place, key: &[i64], value: i64, movers: &[i64]) -> Option<Access> {
        let cells = self.net.places[place].cells()?;
        let number = cells.value.to_i128(cells.value.wrap(value));
        let read = |name: String, thread: Option<i64>, text: String| Access {
            place,
            thread,
            name,
            value: number,
            text,
            kind: AccessKind::Read,
            internal: false,
        };
        if let Some(queue) = self.legend.queues.iter().find(|queue| queue.len == place) {
            let channel = self.legend.channel(queue.first + key.first().copied().unwrap_or(0));
            return Some(read(format!("len({channel})"), None, value.to_string()));
        }
        let words = self.legend.variables.get(&place)?;
        let count: u32 = words.dims.iter().product();
        let (thread, element) = match cells.scope {
            Scope::Global if words.per_process.is_some() => {
                let position = key.first().copied().unwrap_or(0);
                (Some(position / i64::from(count)), position % i64::from(count))
            }
            Scope::Global => (None, key.first().copied().unwrap_or(0)),
            Scope::Thread | Scope::Frame(_) => (key.first().copied(), key.get(2).copied().unwrap_or(0)),
        };
        let name = with_indices(&words.name, &element_indices(&words.dims, element));
        let (name, thread) = match (&words.per_process, thread) {
            (Some(Seen::Label(proctype)), Some(owner)) => (format!("{proctype}[{owner}]@{name}"), None),
            (Some(Seen::Variable(proctype)), Some(owner)) if !movers.contains(&owner) => {
                (format!("{proctype}[{owner}]:{name}"), None)
            }
            (Some(_) | None, thread) => (name, thread),
        };
        Some(read(name, thread, self.legend.value(words.notation, value)))
    }

    /// What a step reads, on one line. Locals say little once it is said what is written or sent.
    fn read_phrase(self, reads: &[Access], does_more: bool) -> Option<Phrase> {
        let telling = reads.iter().filter(|access| {
            let is_length = access.name.starts_with("len(");
            !does_more || (access.is_shared() && !is_length)
        });
        let list: Vec<String> = telling.map(|access| format!("{} = {}", access.name, access.text)).collect();
        let text = format!("reads {}", list.join(", "));
        (!list.is_empty()).then_some(Phrase { text, weight: Weight::Read })
    }

    /// What a `printf` prints.
    fn printed(self, scene: &Scene<'_>, format: &str, values: &[Worded]) -> String {
        let mut text = String::new();
        let mut values = values.iter();
        let mut characters = format.chars();
        while let Some(character) = characters.next() {
            if character != '%' {
                text.push(character);
                continue;
            }
            let Some(kind) = characters.next() else { break };
            if kind == '%' {
                text.push('%');
                continue;
            }
            let Some(value) = values.next() else { continue };
            let number = value.value.eval(scene);
            match kind {
                _ if value.notation == Notation::Lost => text.push('?'),
                'e' => text.push_str(&self.legend.value(value.notation, number)),
                'c' => text.extend(u32::try_from(number).ok().and_then(char::from_u32)),
                'x' => text.push_str(&format!("{number:x}")),
                'o' => text.push_str(&format!("{number:o}")),
                _ => text.push_str(&number.to_string()),
            }
        }
        text.trim_end().escape_debug().to_string()
    }

    /// The global variables and the contents of channels.
    pub(crate) fn finals(self, marking: &Marking) -> Vec<(String, String)> {
        let interpreter = Interpreter::new(self.net);
        let mut values = Vec::new();
        for (&place, words) in &self.legend.variables {
            let Some(cells) = self.net.places[place].cells() else { continue };
            let is_own = words.per_process.is_some() || words.name.starts_with('_');
            if is_own || !matches!(cells.scope, Scope::Global) {
                continue;
            }
            let value = |key: &[i64]| {
                let value = interpreter.cell(marking, place, key);
                self.legend.value(words.notation, value)
            };
            // An array in an array of structures is one list for each structure.
            let (outer, inner) = words.dims.split_at(words.name.matches("[]").count().min(words.dims.len()));
            let n_lists = i64::from(outer.iter().product::<u32>());
            let length = i64::from(inner.iter().product::<u32>());
            for list in (0..n_lists).take(MAX_SHOWN_CELLS) {
                let name = with_indices(&words.name, &element_indices(outer, list));
                let mut shown: Vec<String> = match (words.dims.as_slice(), inner) {
                    ([], _) => vec![value(&[])],
                    (_, []) => vec![value(&[list])],
                    _ => (0..length).take(MAX_SHOWN_CELLS).map(|at| value(&[list * length + at])).collect(),
                };
                if inner.is_empty() {
                    values.push((name, shown.concat()));
                    continue;
                }
                if length > shown.len() as i64 {
                    shown.push("…".to_owned());
                }
                values.push((name, format!("{{{}}}", shown.join(", "))));
            }
        }
        for &number in self.legend.channels.keys() {
            let Some(messages) = self.messages(marking, number) else { continue };
            let is_local = self.legend.channels[&number].contains(':');
            if !(is_local && messages.is_empty()) {
                values.push((self.legend.channel(number), format!("[{}]", messages.join("; "))));
            }
        }
        values
    }

    /// Whether what the model says of its messages has not come to its end.
    pub(crate) fn has_open_trace(self, marking: &Marking) -> bool {
        self.legend.open_trace.as_ref().is_some_and(|open| open.eval(&self.scene(marking, &[])) != 0)
    }

    /// The messages in a channel, the oldest first; none for a channel without a buffer.
    pub(crate) fn messages(self, marking: &Marking, channel: i64) -> Option<Vec<String>> {
        let interpreter = Interpreter::new(self.net);
        let (queue, position) = self.legend.queue(channel)?;
        let n_messages = interpreter.cell(marking, queue.len, &queue.len_key(position));
        let message = |number: u32| {
            let fields = queue.fields.iter().map(|&(place, notation)| {
                let value = interpreter.cell(marking, place, &queue.field_key(position, number));
                self.legend.value(notation, value)
            });
            fields.collect::<Vec<_>>().join(",")
        };
        Some((0..u32::try_from(n_messages).unwrap_or(0)).map(message).collect())
    }

    /// The channel that a transition of one process works on, and whether that is known.
    pub(crate) fn channel_of(self, transition: Transition, scene: &Scene<'_>) -> Option<i64> {
        self.legend.steps[transition].deeds.iter().find_map(|deed| match deed {
            Deed::Send(message) | Deed::Receive(message) | Deed::Peek(message) => {
                Some(message.channel.eval(scene))
            }
            Deed::Hand(_)
            | Deed::Assign { .. }
            | Deed::Start { .. }
            | Deed::Break { .. }
            | Deed::Print { .. } => None,
        })
    }
}

/// What becomes of the process, or what goes wrong.
fn outcome(action: Action) -> Option<Phrase> {
    let failure = |text: &str| Some(Phrase { text: text.to_owned(), weight: Weight::Failure });
    match action {
        Action::AssertFail => failure("assertion fails"),
        Action::Fault(Fault::OutOfBounds) => failure("an index is outside of its array"),
        Action::Fault(Fault::DivisionByZero) => failure("division by zero"),
        Action::Fault(Fault::NullPointer) => failure("this is no channel"),
        Action::Fault(Fault::Dangling) => failure("the channel is gone with its process"),
        Action::Fault(fault) => failure(&fault.to_string()),
        Action::ThreadEnd => Some(Phrase { text: "the process ends".to_owned(), weight: Weight::Action }),
        _ => None,
    }
}

fn write_phrase(writes: &[Access]) -> Option<Phrase> {
    let list: Vec<String> =
        writes.iter().map(|access| format!("{} = {}", access.name, access.text)).collect();
    let text = format!("writes {}", list.join(", "));
    (!list.is_empty()).then_some(Phrase { text, weight: Weight::Write })
}
