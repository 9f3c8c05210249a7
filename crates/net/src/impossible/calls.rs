//! Who makes frames of which function, and where the first thread is the only one.

use pdnet_base::IndexVec;

use crate::flow::Flow;
use crate::frames::made;
use crate::net::{Function, Place, PlaceForm, Transition, TransitionData};
use crate::{Expr, Net};

/// A step that makes a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entering {
    pub(crate) transition: Transition,
    /// Whether the frame is of the same thread: a call. Otherwise it is the first one of a new thread.
    pub(crate) is_call: bool,
}

/// The steps that make frames.
pub(crate) struct Calls {
    /// Those of each function.
    pub(crate) entering: IndexVec<Function, Vec<Entering>>,
    /// The function with the only initial frame, where there is one that nobody else enters.
    pub(crate) main: Option<Function>,
}

impl Calls {
    pub(crate) fn new(net: &Net) -> Self {
        let mut entering = IndexVec::filled(Vec::new(), net.functions.len());
        for (transition, data) in net.transitions.iter_enumerated() {
            for (function, is_call) in entered(net, data) {
                entering[function].push(Entering { transition, is_call });
            }
        }
        let mut initial: Vec<Option<Function>> = Vec::new();
        for (place, data) in net.places.iter_enumerated() {
            if let PlaceForm::Tokens { initial: tokens } = &data.form
                && net.is_frame_place(place)
            {
                initial.extend(tokens.iter().map(|_| data.function));
            }
        }
        let main = match initial.as_slice() {
            [Some(main)] if entering[*main].is_empty() => Some(*main),
            _ => None,
        };
        Self { entering, main }
    }

    /// The places where a frame of the first thread knows that there is no other thread: those of the first
    /// function from where the first thread can still start others, but has not; and all of functions that are
    /// called from such places only, by steps that start no thread themselves, and start none.
    pub(crate) fn alone(&self, net: &Net, flow: &Flow) -> IndexVec<Place, bool> {
        let mut alone = IndexVec::filled(false, net.places.len());
        let Some(main) = self.main else { return alone };
        let starts = self.starting(net);
        // In the first function: all that does not lie behind a step that starts a thread, or may.
        let mut is_behind: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        let mut queue = Vec::new();
        let entry = net.functions[main].entry;
        let mut places = flow.reachable_from(entry);
        places.push(entry);
        for &place in &places {
            for step in &flow.steps[place] {
                let mut entered = entered(net, &net.transitions[step.transition]);
                if entered.any(|(function, is_call)| !is_call || starts[function]) {
                    queue.extend(step.target);
                }
            }
        }
        while let Some(place) = queue.pop() {
            if !std::mem::replace(&mut is_behind[place], true) {
                queue.extend(flow.steps[place].iter().filter_map(|step| step.target));
            }
        }
        for &place in &places {
            alone[place] = !is_behind[place];
        }
        // Functions that are called from elsewhere are not alone, and neither are those that they call.
        let mut is_alone: IndexVec<Function, bool> = starts.iter().map(|starts| !starts).collect();
        is_alone[main] = false;
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for function in net.functions.indices().filter(|&function| function != main) {
                let is_from_alone = |entering: &Entering| {
                    let data = &net.transitions[entering.transition];
                    let source = data.source();
                    // Where steps were merged, one may start a thread and call a function.
                    entering.is_call
                        && entered(net, data).all(|(_, is_call)| is_call)
                        && (is_alone[data.function] || source.is_some_and(|source| alone[source]))
                };
                if is_alone[function] && !self.entering[function].iter().all(is_from_alone) {
                    is_alone[function] = false;
                    is_changed = true;
                }
            }
        }
        for (place, data) in net.places.iter_enumerated() {
            if data.function.is_some_and(|function| is_alone[function]) && net.is_frame_place(place) {
                alone[place] = true;
            }
        }
        alone
    }

    /// The functions that start a thread, or call one that does.
    fn starting(&self, net: &Net) -> IndexVec<Function, bool> {
        let mut starts = IndexVec::filled(false, net.functions.len());
        let mut queue: Vec<Function> = Vec::new();
        for entering in self.entering.iter().flatten().filter(|entering| !entering.is_call) {
            queue.push(net.transitions[entering.transition].function);
        }
        while let Some(function) = queue.pop() {
            if !std::mem::replace(&mut starts[function], true) {
                let callers = self.entering[function].iter().filter(|entering| entering.is_call);
                queue.extend(callers.map(|entering| net.transitions[entering.transition].function));
            }
        }
        starts
    }
}

/// The functions of which a step makes a frame, and whether it is one of the same thread.
pub(crate) fn entered<'a>(
    net: &'a Net,
    data: &'a TransitionData,
) -> impl Iterator<Item = (Function, bool)> + 'a {
    let mover = Expr::Var(TransitionData::thread_var());
    made(net, data)
        .filter_map(move |(place, token)| Some((net.places[place].function?, token.first() == Some(&mover))))
}
