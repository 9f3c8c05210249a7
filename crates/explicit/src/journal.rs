//! What is kept of searches, so that they can go on after the process was killed.
//!
//! A search appends what is new since the last time, and then a record that says how far it was: a *summary*. The keeper makes all of
//! that count together or not at all ([`Keeper::commit`]), so that what is read later is what was true at one
//! moment between two expansions.
//!
//! | module | what is kept |
//! | --- | --- |
//! | `states` | states by number, with their marks |
//! | `findings` | what a search for finite runs knows beside the states: violations, notes on bounds and samples, counts |
//! | `finite` | a breadth-first search for finite runs, by one worker or several |
//! | `edges` | a graph with its edges, for searches for cycles |
//! | `depth` | a depth-first search |
//! | `bounded` | a search for runs with few preemptions |
//!
//! # Why a search that goes on gives the right answer
//!
//! A search for finite runs has looked at all states that were expanded, and found all their successors; what it saw there is in its
//! findings. So it goes on with the states that wait as if nothing had happened. Numbers of states stay what they
//! were, since a reduction speaks of them ([`pdnet_space::Proviso`]). A state whose expansion was not over waits again.
//! Violations are kept with their runs, and these are replayed as all runs are.
//!
//! A search for cycles decides depth first, and what it has half decided is of no use to anybody. It begins anew, on the graph that was
//! kept: edges that are known are not found again, which is what takes the time. An edge is kept only
//! with the state that it leads to.
//!
//! What is kept belongs to one search: the net, how its states are laid out, what is looked for, and the reductions have to
//! be the same ([`Question`]).

pub(crate) mod bounded;
pub(crate) mod depth;
pub(crate) mod edges;
pub(crate) mod findings;
pub(crate) mod finite;
pub(crate) mod states;

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};

use foldhash::quality::FixedState;
use pdnet_base::Idx;
use pdnet_base::varint::{put, take};
use pdnet_check::{Keeper, Property};
use pdnet_net::Expr;

use crate::Explicit;
use crate::budget::Budget;
use crate::model::Model;

/// A record is written when it has so many bytes.
pub(crate) const RECORD: usize = 1 << 20;

/// The first byte of a record: what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Nothing that was kept before counts.
    Restart = 0,
    /// How far the search was.
    Summary = 1,
    /// States by number.
    States = 2,
    /// Edges of a graph.
    Edges = 3,
    /// What stands for states in a visited set.
    Visited = 4,
    /// What was put on a stack.
    Stack = 5,
    /// Nodes of a search with a bound on preemptions.
    Nodes = 6,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Restart, Self::Summary, Self::States, Self::Edges, Self::Visited, Self::Stack, Self::Nodes];

    fn of(record: &[u8]) -> Option<(Self, &[u8])> {
        let (first, rest) = record.split_first()?;
        Some((*Self::ALL.get(usize::from(*first))?, rest))
    }

    /// A record of this kind without content.
    pub(crate) fn record(self) -> Vec<u8> {
        vec![self as u8]
    }
}

/// What tells a search from others: all that its states and answers depend on.
pub(crate) enum Question<'q> {
    /// Finite runs that break these properties.
    Finite(&'q [&'q Property]),
    /// Steps that never happen.
    Unreached,
    /// Finite runs with at most so many preemptions that break these properties.
    Bounded(&'q [&'q Property], u32),
    /// The graph that is walked, for properties that observe this, from the one of that number on, with steps left out or not. Where threads are
    /// exchanged, all atoms are given. One of the properties may be searched for on a second graph.
    Graph {
        observed: &'q [Vec<Expr>],
        reduces: bool,
        exchanged: Option<&'q [Vec<Expr>]>,
        first: usize,
        is_second: bool,
    },
}

impl Question<'_> {
    /// Its number, which is neither the first nor the last that there is.
    pub(crate) fn number(&self, engine: &Explicit, model: &Model<'_>) -> u64 {
        // What is kept of a graph does not depend on who looks at it and how.
        let Explicit {
            stubborn,
            guided: _,
            forget,
            symmetry,
            through_sections,
            most_unrolled: _,
            crew: _,
            order,
            storage,
            jit: _,
        } = engine;
        let mut hasher = FixedState::with_seed(0).build_hasher();
        env!("CARGO_PKG_VERSION").hash(&mut hasher);
        (stubborn, forget, symmetry, through_sections).hash(&mut hasher);
        // How threads are exchanged depends on the order of the search ([`Model::symmetry`]).
        (*symmetry && model.newest_first).hash(&mut hasher);
        model.net.to_string().hash(&mut hasher);
        // The bytes of a state mean nothing to who lays it out in another way.
        format!("{:?}", model.compiled.layout()).hash(&mut hasher);
        match self {
            Self::Finite(properties) => format!("finite {order:?} {storage:?} {properties:?}"),
            Self::Unreached => "unreached".to_owned(),
            Self::Bounded(properties, bound) => format!("bounded {bound} {properties:?}"),
            Self::Graph { observed, reduces, exchanged, first, is_second } => {
                format!("graph {observed:?} {reduces} {exchanged:?} {first} {is_second}")
            }
        }
        .hash(&mut hasher);
        hasher.finish().clamp(1, u64::MAX - 1)
    }
}

/// The records of a search, as far as they count.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The last summary.
    summary: Vec<u8>,
    /// The other records, in their order.
    records: Vec<(Kind, u64)>,
    /// Those with states, by the first number in each, and how many there are in it.
    states: Vec<(u32, u32, u64)>,
}

impl Contents {
    /// What was kept of a search, if something was.
    pub(crate) fn read(search: u64, keeper: &mut dyn Keeper) -> Option<Self> {
        let mut contents = Self::default();
        keeper.records(search, &mut |place, record| {
            let Some((kind, rest)) = Kind::of(record) else { return };
            match kind {
                Kind::Restart => contents = Self::default(),
                Kind::Summary => contents.summary = rest.to_vec(),
                Kind::States => {
                    let range = states::range_of(rest);
                    contents.states.extend(range.map(|(first, n_states)| (first, n_states, place)));
                }
                Kind::Edges | Kind::Visited | Kind::Stack | Kind::Nodes => {
                    contents.records.push((kind, place));
                }
            }
        });
        contents.states.sort_unstable();
        (!contents.summary.is_empty()).then_some(contents)
    }

    /// The record at a place, without its kind.
    fn load(place: u64, record: &mut Vec<u8>, budget: &mut Budget<'_>) -> Option<()> {
        let is_read = budget.keeper()?.record(place, record);
        (is_read && !record.is_empty()).then(|| {
            record.remove(0);
        })
    }
}

/// Says what a search goes on with.
pub(crate) fn go_on(contents: &Contents, budget: &mut Budget<'_>) {
    let n_states: u64 = contents.states.iter().map(|&(_, n_states, _)| u64::from(n_states)).sum();
    let text = match n_states {
        // What depth-first searches keep is not kept by states.
        0 => "a search goes on with what was kept of it".to_owned(),
        _ => format!("a search goes on with {n_states} states that were kept"),
    };
    if let Some(keeper) = budget.keeper() {
        keeper.tell(&text);
    }
}

/// Says that what was kept of a search cannot be used, and that it begins anew.
pub(crate) fn give_up(search: u64, keeper: &mut dyn Keeper) {
    keeper.complain("what was kept of this search does not fit together: it begins anew");
    keeper.append(search, &Kind::Restart.record());
}

/// Appends a record where it has become large, and empties it.
pub(crate) fn append_large(search: u64, kind: Kind, record: &mut Vec<u8>, keeper: &mut dyn Keeper) -> bool {
    let is_large = record.len() >= RECORD;
    if is_large {
        keeper.append(search, record);
        *record = kind.record();
    }
    is_large
}

/// Appends a record where it has content.
pub(crate) fn append_rest(search: u64, record: &[u8], keeper: &mut dyn Keeper) {
    if record.len() > 1 {
        keeper.append(search, record);
    }
}

/// Small numbers of both signs are short.
pub(crate) fn put_signed(number: i64, record: &mut Vec<u8>) {
    put(((number << 1) ^ (number >> 63)).cast_unsigned(), record);
}

pub(crate) fn take_signed(rest: &mut &[u8]) -> Option<i64> {
    let number = take(rest)?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

pub(crate) fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    take(rest).and_then(|number| u32::try_from(number).ok())
}

pub(crate) fn take_usize(rest: &mut &[u8]) -> Option<usize> {
    take(rest).and_then(|number| usize::try_from(number).ok())
}

/// An index, where there are so many of them.
pub(crate) fn take_index<I: Idx>(rest: &mut &[u8], n: usize) -> Option<I> {
    take_usize(rest).filter(|&index| index < n).map(I::new)
}

/// Appends bytes with their number.
pub(crate) fn put_bytes(bytes: &[u8], record: &mut Vec<u8>) {
    put(bytes.len() as u64, record);
    record.extend_from_slice(bytes);
}

pub(crate) fn take_bytes<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = take_usize(rest)?;
    let (bytes, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(bytes)
}

/// A sequence by what it has in common with the one before it at its beginning and its end.
pub(crate) fn put_difference(before: &[u8], bytes: &[u8], record: &mut Vec<u8>) {
    let head = before.iter().zip(bytes).take_while(|(one, other)| one == other).count();
    let tails = before[head..].iter().rev().zip(bytes[head..].iter().rev());
    let tail = tails.take_while(|(one, other)| one == other).count();
    let middle = &bytes[head..bytes.len() - tail];
    for number in [head, tail, middle.len()] {
        put(number as u64, record);
    }
    record.extend_from_slice(middle);
}

pub(crate) fn take_difference(last: &mut Vec<u8>, rest: &mut &[u8]) -> Option<()> {
    let (head, tail, length) = (take_usize(rest)?, take_usize(rest)?, take_usize(rest)?);
    let (middle, behind) = rest.split_at_checked(length)?;
    let tail_start = last.len().checked_sub(tail).filter(|&start| start >= head)?;
    let end = last.split_off(tail_start);
    last.truncate(head);
    last.extend_from_slice(middle);
    last.extend_from_slice(&end);
    *rest = behind;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_come_back_by_their_differences() {
        let sequences: [&[u8]; 6] = [b"", b"hello", b"hallo", b"hallo, world", b"hello, world", b"ll"];
        let mut record = Vec::new();
        sequences.windows(2).for_each(|pair| put_difference(pair[0], pair[1], &mut record));
        let (mut last, mut rest) = (Vec::new(), record.as_slice());
        for wanted in &sequences[1..] {
            assert_eq!(take_difference(&mut last, &mut rest), Some(()));
            assert_eq!(last, *wanted);
        }
        assert_eq!(rest, []);
        assert_eq!(take_difference(&mut last, &mut [9, 9, 1].as_slice()), None);
    }

    #[test]
    fn kinds_come_back() {
        for kind in Kind::ALL {
            assert_eq!(Kind::of(&kind.record()), Some((kind, &[] as &[u8])));
        }
        assert_eq!(Kind::of(&[99]), None);
    }
}
