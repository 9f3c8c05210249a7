//! What the things of a net are called by those who wrote the model.
//!
//! A net knows places and arcs. Where a language has more to say of a step than which cells it touches (a message that
//! is sent, a process that hands it to another one), its front end writes a legend beside the net. Nothing depends on
//! it but what people read: it has no part in what a run is.
//!
//! Expressions in a legend are over the variables of the transition, as those on its arcs are.

use std::collections::BTreeMap;

use pdnet_base::IndexVec;
use pdnet_source::Pos;

use crate::expr::Expr;
use crate::net::{Place, Transition};

/// The words for a net.
#[derive(Clone, Debug, Default)]
pub struct Legend {
    /// What each transition does.
    pub steps: IndexVec<Transition, StepWords>,
    /// What each place of a control state stands for.
    pub states: BTreeMap<Place, StateWords>,
    /// All statements of the model, those of one process type after the other.
    pub statements: Vec<StatementWords>,
    /// The variables of the model, by the cells that hold them.
    pub variables: BTreeMap<Place, VariableWords>,
    /// Channels with buffers, in the order of their numbers.
    pub queues: Vec<QueueWords>,
    /// The names of channels, by number.
    pub channels: BTreeMap<i64, String>,
    /// In markings where this is not 0, what the model says of its messages has not come to its end.
    pub open_trace: Option<Expr>,
    /// Sets of names for values, each with the values that have one.
    pub symbols: Vec<BTreeMap<i64, String>>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// As a number.
    #[default]
    Number,
    /// As `true` or `false`.
    Truth,
    /// By its name in a set of symbols.
    Symbol(usize),
    /// As the name of a channel.
    Channel,
    /// Not at all: it rests on a variable that the net does not keep, because nothing depends on it.
    Lost,
}

/// What a transition does.
#[derive(Clone, Debug, Default)]
pub struct StepWords {
    /// The statements, in one line.
    pub text: String,
    /// What they do, in order.
    pub deeds: Vec<Deed>,
    /// Where the statement of the second process stands, where two move together.
    pub partner: Option<PartnerWords>,
}

/// The second process of a step.
#[derive(Clone, Debug)]
pub struct PartnerWords {
    /// Its number.
    pub thread: Expr,
    /// Its statement.
    pub text: String,
}

/// Something that a step does.
#[derive(Clone, Debug)]
pub enum Deed {
    /// A variable gets a value.
    Assign {
        /// The variable.
        cell: CellWords,
        /// The value.
        value: Worded,
    },
    /// A message goes into a buffer.
    Send(Message),
    /// A message is taken out of a buffer.
    Receive(Message),
    /// A message in a buffer is looked at and stays there.
    Peek(Message),
    /// A message goes from one process to another at once.
    Hand(Message),
    /// A process is started.
    Start {
        /// The proctype.
        name: String,
        /// The number of the process.
        thread: Expr,
        /// Its parameters and their values.
        arguments: Vec<(String, Worded)>,
    },
    /// A rule of the model is broken.
    Break {
        /// Which one, in words.
        text: String,
        /// What is to be said further, each where its condition holds in the marking.
        further: Vec<(Expr, String)>,
    },
    /// Something is printed.
    Print {
        /// The text, with places for the values as in C.
        format: String,
        /// The values.
        values: Vec<Worded>,
    },
}

/// A value and how it is written.
#[derive(Clone, Debug)]
pub struct Worded {
    /// The value.
    pub value: Expr,
    /// How it is written.
    pub notation: Notation,
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Message {
    /// The number of the channel.
    pub channel: Expr,
    /// The fields.
    pub fields: Vec<Worded>,
}

/// A variable, or an element of one.
#[derive(Clone, Debug)]
pub struct CellWords {
    /// The name; `[]` in it are places for indices, and further indices follow it.
    pub name: String,
    /// The indices.
    pub indices: Vec<Expr>,
    /// The process whose local variable it is.
    pub owner: Option<Expr>,
}

/// A variable and the cells that hold it.
#[derive(Clone, Debug)]
pub struct VariableWords {
    /// The name; `[]` in it are places for indices, and further indices follow it.
    pub name: String,
    /// The lengths of the arrays around a cell, the outermost first.
    pub dims: Vec<u32>,
    /// How its values are written.
    pub notation: Notation,
    /// Where the cells are those of all processes, one after the other, although the place has no frames: how others see
    /// them.
    pub per_process: Option<Seen>,
}

/// How processes see what is in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A variable of this proctype: `P[1]:x`.
    Variable(String),
    /// Whether a process of this proctype is at a label: `P[1]@l`.
    Label(String),
}

/// Buffers that share places.
#[derive(Clone, Debug)]
pub struct QueueWords {
    /// The number of the first channel; the others follow.
    pub first: i64,
    /// How many channels.
    pub size: u32,
    /// How many messages each of them holds.
    pub capacity: u32,
    /// The numbers of messages.
    pub len: Place,
    /// The fields of messages, and how they are written.
    pub fields: Vec<(Place, Notation)>,
}

/// A control state.
#[derive(Clone, Debug, Default)]
pub struct StateWords {
    /// Whether a process may stay there forever, and why.
    pub end: EndWords,
    /// What a process that stands there can do.
    pub waits: Vec<WaitWords>,
}

/// Whether a process may stay at a control state forever.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EndWords {
    /// It may not.
    #[default]
    Invalid,
    /// There is a label that says so.
    Label(String),
    /// It is the end of its body.
    Body,
}

/// A statement that a process waits for.
#[derive(Clone, Debug)]
pub struct WaitWords {
    /// The statement.
    pub text: String,
    /// What it needs.
    pub needs: Need,
    /// The transitions of one process that execute it.
    pub steps: Vec<Transition>,
}

/// A statement of the model.
#[derive(Clone, Debug)]
pub struct StatementWords {
    /// The process type that it belongs to.
    pub process: String,
    /// The statement, in one line.
    pub text: String,
    /// Where it stands.
    pub pos: Option<Pos>,
    /// The transitions that execute it, perhaps together with others.
    pub steps: Vec<Transition>,
}

/// What a statement needs to be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A condition to be true, or nothing.
    Condition,
    /// Room in a channel.
    Room,
    /// A message in a channel.
    Message,
    /// Another process that receives at once.
    Receiver,
    /// Another process that sends at once.
    Sender,
    /// The end of all processes that are younger.
    Youngest,
}

impl Legend {
    /// A value as it is written.
    #[must_use]
    pub fn value(&self, notation: Notation, value: i64) -> String {
        match notation {
            Notation::Number => value.to_string(),
            Notation::Truth if value == 0 => "false".to_owned(),
            Notation::Truth if value == 1 => "true".to_owned(),
            Notation::Truth => value.to_string(),
            Notation::Symbol(set) => {
                let name = self.symbols.get(set).and_then(|symbols| symbols.get(&value));
                name.cloned().unwrap_or_else(|| value.to_string())
            }
            Notation::Channel => self.channel(value),
            Notation::Lost => "?".to_owned(),
        }
    }

    /// The name of a channel.
    #[must_use]
    pub fn channel(&self, number: i64) -> String {
        let name = self.channels.get(&number);
        name.cloned()
            .unwrap_or_else(|| if number == 0 { "no channel".to_owned() } else { number.to_string() })
    }

    /// The buffers that a channel is among, with its position there; none for a channel without a buffer.
    #[must_use]
    pub fn queue(&self, number: i64) -> Option<(&QueueWords, u32)> {
        self.queues.iter().find_map(|queue| {
            let position = u32::try_from(number - queue.first).ok()?;
            (position < queue.size).then_some((queue, position))
        })
    }
}

impl QueueWords {
    /// The key of the number of messages of a channel.
    #[must_use]
    pub fn len_key(&self, position: u32) -> Vec<i64> {
        if self.size > 1 { vec![position.into()] } else { Vec::new() }
    }

    /// The key of a field of a message of a channel.
    #[must_use]
    pub fn field_key(&self, position: u32, message: u32) -> Vec<i64> {
        vec![i64::from(position) * i64::from(self.capacity) + i64::from(message)]
    }
}

/// A name with its indices: in its brackets, and behind it.
#[must_use]
pub fn with_indices(name: &str, indices: &[i64]) -> String {
    let mut text = String::new();
    let mut indices = indices.iter();
    for (number, piece) in name.split("[]").enumerate() {
        if number > 0 {
            text.push_str(&indices.next().map_or_else(|| "[]".to_owned(), |index| format!("[{index}]")));
        }
        text.push_str(piece);
    }
    indices.for_each(|index| text.push_str(&format!("[{index}]")));
    text
}

/// The indices of an element of an array of one or more dimensions, the outermost first.
#[must_use]
pub fn element_indices(dims: &[u32], element: i64) -> Vec<i64> {
    let mut rest = element;
    let mut indices = Vec::new();
    for &dim in dims.iter().rev() {
        let dim = i64::from(dim.max(1));
        indices.push(rest % dim);
        rest /= dim;
    }
    indices.reverse();
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_stand_in_brackets_and_behind_the_name() {
        for (name, dims, element, text) in [
            ("x", &[][..], 0, "x"),
            ("a", &[4], 3, "a[3]"),
            ("a[].b", &[4], 2, "a[2].b"),
            ("a[].b", &[2, 3], 5, "a[1].b[2]"),
        ] {
            assert_eq!(with_indices(name, &element_indices(dims, element)), text);
        }
    }
}
