//! A step in words.

use pdnet_base::Idx as _;
use pdnet_net::{Action, ArcData, Expr, Firing, Marking, Net, Pattern, Shown, TransitionData};

use crate::accesses::{Access, AccessKind, Binding};
use crate::blocked::{condition_of, mutex_of, written_cell};
use crate::threads::{Threads, created};
use crate::values::{cell_name, value_text};

/// How important a phrase is for the reader, for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// What happens.
    Action,
    /// A read of a cell.
    Read,
    /// A write of a cell.
    Write,
    /// What breaks the property.
    Failure,
}

/// A part of the description of a step.
#[derive(Clone, Debug)]
pub(crate) struct Phrase {
    /// The text.
    pub(crate) text: String,
    /// What kind of text it is.
    pub(crate) weight: Weight,
}

/// The step in words. Empty where it does nothing that a reader of the program would call a step.
pub(crate) fn phrases(
    net: &Net,
    threads: &Threads,
    before: &Marking,
    firing: &Firing,
    accesses: &[Access],
) -> Vec<Phrase> {
    let data = &net.transitions[firing.transition];
    if data.action == Action::Fill {
        return filled(accesses);
    }
    let mut phrases = Vec::new();
    let action = action_words(net, threads, before, firing).map(|text| {
        let fails = matches!(data.action, Action::AssertFail | Action::Error | Action::Fault(_));
        Phrase { text, weight: if fails { Weight::Failure } else { Weight::Action } }
    });
    // A decision comes after the reads that it rests on; everything else comes first.
    let (first, last) = if is_decision(data.action) { (None, action) } else { (action, None) };
    phrases.extend(first);
    for input in inputs(net, firing) {
        phrases.push(Phrase { text: format!("input {}", input.text), weight: Weight::Read });
    }
    let telling = |access: &&Access| !access.internal && is_telling(data, firing, access);
    let visible: Vec<&Access> = accesses.iter().filter(telling).collect();
    let writes = visible.iter().any(|access| access.kind == AccessKind::Write);
    // The locals that a decision rests on are named with it, on one line.
    let mut grounds = Vec::new();
    for access in visible {
        match access.kind {
            // What a step reads of its own locals says little once it says what it writes.
            AccessKind::Read if writes && !access.is_shared() => {}
            AccessKind::Read if last.is_some() && !access.is_shared() => {
                grounds.push(format!("{} = {}", access.name, access.text));
            }
            AccessKind::Read => {
                let text = format!("reads {} = {}", access.name, access.text);
                phrases.push(Phrase { text, weight: Weight::Read });
            }
            AccessKind::Write => {
                let text = format!("writes {} = {}", access.name, access.text);
                phrases.push(Phrase { text, weight: Weight::Write });
            }
        }
    }
    phrases.extend(last.map(|mut phrase| {
        if !grounds.is_empty() && phrase.weight == Weight::Action {
            phrase.text = format!("{} ({})", phrase.text, grounds.join(", "));
        }
        phrase
    }));
    phrases
}

/// That memory is read that was never written, and the value that is tried.
fn filled(accesses: &[Access]) -> Vec<Phrase> {
    let first = accesses.iter().find(|access| access.kind == AccessKind::Write);
    let text = |access: &Access| match access.internal {
        false => format!("{} was never written: it may be {}", access.name, access.text),
        true => format!("a part that was never written is copied: it may be {}", access.text),
    };
    first.map(|access| Phrase { text: text(access), weight: Weight::Read }).into_iter().collect()
}

/// A value that the environment gives.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// What the integer stands for.
    pub(crate) shown: Shown,
    /// The value.
    pub(crate) value: i128,
    /// The value for people.
    pub(crate) text: String,
}

/// The inputs that the firing takes: variables that are free to have any value. What they stand for, the cell says
/// that gets the value.
pub(crate) fn inputs(net: &Net, firing: &Firing) -> impl Iterator<Item = Input> {
    let data = &net.transitions[firing.transition];
    data.vars.iter_enumerated().filter(|(_, data)| data.choice.is_some()).map(move |(var, var_data)| {
        let shown = data.arcs.iter().find_map(|arc| match arc {
            ArcData::Write { place, value: Expr::Var(written), .. } if *written == var => {
                Some(net.places[*place].shown)
            }
            _ => None,
        });
        let shown = shown.unwrap_or_default();
        let value = firing.binding[var.index()];
        match var_data.base {
            pdnet_net::Base::Int(ty) => {
                Input { shown, value: ty.to_i128(value), text: value_text(net, shown, ty, value) }
            }
            _ => Input { shown, value: value.into(), text: value.to_string() },
        }
    })
}

/// Whether an access says something that the words for the action do not. Values of `pthread_t` are the
/// net's own numbers, a parameter that is null is no news, and what is freed is set back without the program's doing.
fn is_telling(data: &TransitionData, firing: &Firing, access: &Access) -> bool {
    match data.action {
        Action::Library if data.calls.as_deref() == Some("free") => access.kind == AccessKind::Read,
        Action::Create => {
            let is_parameter = access.thread.is_some_and(|thread| thread != firing.thread());
            is_parameter && access.value != 0
        }
        Action::Join => access.kind == AccessKind::Write,
        _ => true,
    }
}

/// Whether the action says how a condition was decided, or what came of it.
const fn is_decision(action: Action) -> bool {
    matches!(
        action,
        Action::BranchTrue
            | Action::BranchFalse
            | Action::Assume
            | Action::AssumeFail
            | Action::AssertFail
            | Action::Fault(_)
            | Action::Exit
    )
}

/// What the action of the step is called, beside the cells that it touches; `None` where these say it all.
fn action_words(net: &Net, threads: &Threads, before: &Marking, firing: &Firing) -> Option<String> {
    let data = &net.transitions[firing.transition];
    let mutex = || {
        let found = mutex_of(net, firing.transition, &firing.binding);
        found.map_or_else(|| data.label.clone(), |(place, key)| cell_name(net, place, &key))
    };
    let written = || {
        let found = written_cell(net, firing.transition, &firing.binding);
        found.map_or_else(|| data.label.clone(), |(place, key)| cell_name(net, place, &key))
    };
    let condition = || {
        let found = condition_of(net, firing.transition);
        found.map_or_else(|| data.label.clone(), |place| net.places[place].name.clone())
    };
    // Some labels say by themselves what happens.
    let labelled = |text: &str| match data.label.as_str() {
        "" => text.to_owned(),
        label if label.starts_with(text) => label.to_owned(),
        label => format!("{text}: {label}"),
    };
    Some(match data.action {
        Action::Assign | Action::Fill | Action::Jump | Action::Enter | Action::Return => return None,
        Action::Exit => match returned(net, firing) {
            Some(value) => format!("returns {value}"),
            None => return None,
        },
        Action::BranchTrue => branch(&data.label, true),
        Action::BranchFalse => branch(&data.label, false),
        Action::Call => format!("calls {}", data.calls.as_deref().unwrap_or(&data.label)),
        Action::Library => format!("calls {}", data.calls.as_deref().unwrap_or(&data.label)),
        Action::Lock => format!("locks {}", mutex()),
        Action::Unlock => format!("unlocks {}", mutex()),
        Action::ReadLock => format!("locks {} for reading", written()),
        Action::ReadUnlock => format!("gives back {} as a reader", written()),
        Action::Down => format!("decrements semaphore {}", written()),
        Action::Up => format!("increments semaphore {}", written()),
        Action::Arrive => format!("arrives at barrier {}", condition()),
        Action::Leave => format!("leaves barrier {}", condition().trim_end_matches(" (woken)")),
        Action::OnceBegin => format!("is the first at {}", written()),
        Action::OnceEnd => format!("{} is done", written()),
        Action::OncePass => format!("calls {}: done before", data.calls.as_deref().unwrap_or(&data.label)),
        Action::Signal | Action::Broadcast => {
            let verb = if data.action == Action::Signal { "signals" } else { "broadcasts" };
            let woken: Vec<String> =
                woken(net, before, firing).into_iter().map(|thread| threads.describe(thread)).collect();
            if woken.is_empty() {
                format!("{verb} {}: nobody waits", condition())
            } else {
                format!("{verb} {}, wakes {}", condition(), woken.join(", "))
            }
        }
        Action::Wait1 => format!("waits on {}, gives up {}", condition(), mutex()),
        Action::Wait2 => format!("wakes up without a signal on {}", condition()),
        Action::Wait3 => format!("wakes up, locks {} again", mutex()),
        Action::Create => {
            let created: Vec<String> =
                created(net, firing).into_iter().map(|(thread, _)| threads.describe(thread)).collect();
            format!("creates {}", created.join(", "))
        }
        Action::Join => match joined(net, firing) {
            Some(thread) => format!("joins {}", threads.describe(thread)),
            None => data.label.clone(),
        },
        Action::ThreadEnd => "the thread ends".to_owned(),
        Action::ProcessEnd => "the process ends".to_owned(),
        Action::AtomicBegin => "atomic section begins".to_owned(),
        Action::AtomicEnd => "atomic section ends".to_owned(),
        Action::Assume => labelled("assumption holds"),
        Action::AssumeFail => labelled("assumption fails"),
        Action::AssertFail => labelled("assertion fails"),
        Action::Error => labelled("error function is called"),
        Action::Fault(fault) => format!("undefined behaviour: {fault}"),
        Action::Bound(bound) => format!("the bound on the {bound} is met"),
    })
}

/// How a condition was decided. The default of a `switch` has a label that is a sentence already.
fn branch(label: &str, value: bool) -> String {
    match (label, value) {
        ("", true) => "branch taken".to_owned(),
        ("", false) => "branch not taken".to_owned(),
        (label, _) if label.ends_with(": no case") => label.to_owned(),
        (label, value) => format!("{label} is {value}"),
    }
}

/// The value that a `return` hands over: what it writes first to a cell of the net's own. (Later ones are
/// temporaries that are set back.)
fn returned(net: &Net, firing: &Firing) -> Option<String> {
    let accesses = crate::accesses::accesses(net, firing);
    let mut writes = accesses.iter().filter(|access| access.internal && access.kind == AccessKind::Write);
    writes.next().map(|access| access.text.clone())
}

/// The thread whose end a join sees.
fn joined(net: &Net, firing: &Firing) -> Option<i64> {
    let binding = Binding(&firing.binding);
    net.transitions[firing.transition].arcs.iter().find_map(|arc| match arc {
        ArcData::Take { place, token } | ArcData::Test { place, token } if Some(*place) == net.done => {
            token.first().map(|pattern| pattern_value(pattern, &binding))
        }
        _ => None,
    })
}

/// The threads that a signal or broadcast wakes: the tokens that it takes away from where waiters are.
fn woken(net: &Net, before: &Marking, firing: &Firing) -> Vec<i64> {
    let binding = Binding(&firing.binding);
    let mut woken = Vec::new();
    for arc in &net.transitions[firing.transition].arcs {
        match arc {
            ArcData::Take { place, token } if !net.is_frame_place(*place) => {
                woken.extend(thread_component(net, *place, &|at| pattern_value(&token[at], &binding)));
            }
            ArcData::Drain { place, prefix, .. } => {
                let prefix = binding.values(prefix);
                for (token, _) in before.tokens(*place).filter(|(token, _)| token.starts_with(&prefix)) {
                    woken.extend(thread_component(net, *place, &|at| token[at]));
                }
            }
            _ => {}
        }
    }
    woken
}

/// The component of a token that is a thread.
fn thread_component(net: &Net, place: pdnet_net::Place, value: &dyn Fn(usize) -> i64) -> Option<i64> {
    let components = net.components(place).iter();
    components.enumerate().find(|(_, base)| **base == pdnet_net::Base::Thread).map(|(at, _)| value(at))
}

fn pattern_value(pattern: &Pattern, binding: &Binding<'_>) -> i64 {
    match pattern {
        Pattern::Bind(var) => binding.0[var.index()],
        Pattern::Is(expr) => expr.eval(binding),
    }
}
