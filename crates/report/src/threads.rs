//! Which function each thread of a run was started with.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use pdnet_check::Replay;
use pdnet_net::{ArcData, Firing, Function, Net, Place, PlaceForm};

use crate::accesses::Binding;

/// The threads of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    functions: BTreeMap<i64, String>,
    /// Whether they are called processes.
    are_processes: bool,
}

impl Threads {
    /// Follows the run: the initial tokens, then the creations. In a model they are processes.
    pub(crate) fn of_run(net: &Net, replay: &Replay, are_processes: bool) -> Self {
        let mut threads = Self { are_processes, ..Self::default() };
        for place in net.places.indices().filter(|&place| net.is_frame_place(place)) {
            if let PlaceForm::Tokens { initial } = &net.places[place].form {
                initial.iter().for_each(|token| threads.note(net, token[0], net.places[place].function));
            }
        }
        for step in replay.prefix.iter().chain(&replay.cycle) {
            for (thread, place) in created(net, &step.firing) {
                threads.note(net, thread, net.places[place].function);
            }
        }
        threads
    }

    fn note(&mut self, net: &Net, thread: i64, function: Option<Function>) {
        let name = function.map_or_else(|| "?".to_owned(), |function| net.functions[function].name.clone());
        let name = name.trim_matches(':');
        match self.functions.entry(thread) {
            // The first token of a thread is that of its start function.
            Entry::Vacant(entry) => drop(entry.insert(name.to_owned())),
            // The number of a process that has ended is given again.
            Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                if self.are_processes && !known.split('/').any(|known| known == name) {
                    known.push('/');
                    known.push_str(name);
                }
            }
        }
    }

    /// What one of them is called.
    pub(crate) const fn noun(&self) -> &'static str {
        if self.are_processes { "process" } else { "thread" }
    }

    /// The threads in the order of their numbers, each with its function.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, &str)> {
        self.functions.iter().map(|(thread, function)| (*thread, function.as_str()))
    }

    /// The function that the thread was started with.
    pub(crate) fn function(&self, thread: i64) -> &str {
        self.functions.get(&thread).map_or("?", String::as_str)
    }

    /// `thread 1 (worker)`.
    pub(crate) fn describe(&self, thread: i64) -> String {
        format!("{} {thread} ({})", self.noun(), self.function(thread))
    }

    /// `main`, `1: worker`: the head of the thread's column.
    pub(crate) fn heading(&self, thread: i64) -> String {
        match self.function(thread) {
            "main" if thread == 0 => "main".to_owned(),
            function => format!("{thread}: {function}"),
        }
    }
}

/// The threads that a firing creates, each with the place where it starts: frame tokens of other threads
/// that the step puts and does not take.
pub(crate) fn created(net: &Net, firing: &Firing) -> Vec<(i64, Place)> {
    let binding = Binding(&firing.binding);
    let put = net.transitions[firing.transition].arcs.iter().filter_map(|arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) => {
            Some((binding.values(token)[0], *place))
        }
        ArcData::Put { .. }
        | ArcData::Take { .. }
        | ArcData::Test { .. }
        | ArcData::Inhibit { .. }
        | ArcData::Drain { .. }
        | ArcData::Read { .. }
        | ArcData::Write { .. }
        | ArcData::Governed { .. }
        | ArcData::Governs { .. } => None,
    });
    put.filter(|(thread, _)| *thread != firing.thread()).collect()
}
