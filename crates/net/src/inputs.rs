//! Inputs of many values, tried with few: one value for each way in which the program can take it.
//!
//! An input is a variable of a transition that ranges over a [`Domain`]. Where all that the program asks of
//! a value is whether it is below 10, two values are as good as all: one below 10 and one above.
//! [`split_inputs`] finds what the program asks and gives each input a domain of representatives. It is
//! exact where that can be proved. Otherwise it stays a sample, a better one, and the variable's note says
//! what was in the way.
//!
//! | module | what it does |
//! | --- | --- |
//! | `flow` | where inputs go, and what is asked of them: observations |
//! | `eval` | the same for the expressions of one step |
//! | `form` | functions of one input as expressions |
//! | `regions` | bounds on what frames hold, by where they are |
//! | `pieces`, `operation` | how a function behaves on intervals |
//! | `classes` | values that no observation tells apart, and representatives |
//!
//! # Why it is exact
//!
//! An *observation* of an input is a function `o` of its value. Two values are in one class where all
//! observations of the input agree on them. `flow` computes, for each place with cells, a set of *forms*:
//! pairs of an input and a function `f` of it. Call two markings *related* where they have the same tokens
//! and each pair of corresponding cells holds equal values, or values `f(a)` and `f(b)` for a form of the
//! place, with `a` and `b` in one class. Related markings are bisimilar, step by step with the same
//! transition and thread:
//!
//! - An input chooses `a` in one run and the representative of its class in the other.
//! - A step reads related values. Of everything that decides what it does (its guard, keys of cells,
//!   conditions of arcs, parts of tokens), `flow` has recorded an observation wherever an input's form takes
//!   part; so it is the same in both. An expression with one variable that may hold forms gives `g(f(a))`
//!   and `g(f(b))`: when it is written, `g` after `f` is a form of the target. An expression that combines
//!   it with something that is not one of few constants makes the whole value an observation, so that the
//!   result is equal in both. The same happens where forms would grow without end.
//! - Atoms are true in both or in neither, since what they ask is recorded too.
//!
//! Initially both runs are the same, and a run over representatives is a run over all values. So the two
//! nets have the same runs as far as any property can see.
//!
//! An observation may be limited to a *region*: the step that makes it reads values within bounds only
//! (`regions`). Then it tells apart only values inside, and those from values outside. This is enough
//! because both runs are runs of the net with all values, for which the bounds are proved.
//!
//! Values of several inputs may be compared with each other as they are (`x == y`, `x < y`). Then a class
//! gets more than one representative. If k inputs take part and each of them is taken once in a run at most,
//! the two runs play k rounds of the game of Ehrenfeucht and Fraïssé: one picks a value, the other answers
//! such that all comparisons between picked values, and all classes, agree. On sets it has an answer where
//! a class has k members or as many as in the other set; on orders whose classes are intervals, with
//! 2^k - 1 members or as many. The markings are related by the values picked so far.

mod classes;
mod eval;
mod flow;
mod form;
mod operation;
mod pieces;
mod regions;

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::{IndexVec, index_type};
use pdnet_source::Pos;

use crate::net::{Base, Domain, Transition, Var};
use crate::{Expr, Net};
use classes::Observation;

index_type! {
    /// An input of the program: a variable with a choice.
    pub struct Input = "i";
}

/// The most inputs that may be compared with each other.
const MAX_COMPARED: u32 = 4;
/// The most values that are added to a sample.
const MAX_ADDED: usize = 32;

/// Where an input is taken, and what it may be.
#[derive(Clone, Debug)]
struct Source {
    transition: Transition,
    var: Var,
    /// All its values: intervals of canonical values, increasing.
    universe: Vec<(i64, i64)>,
}

/// How a value is used that is more than a test against constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Usage {
    Index,
    Token,
    Arithmetic,
    Compared,
    ComparedWithVariable,
    Repeated,
    TooManyCases,
    NotSampled,
}

/// What an observation is made by; of an atom, no transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cause {
    usage: Usage,
    at: Option<Transition>,
}

/// Inputs that are compared with each other.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    n_inputs: u32,
    is_order: bool,
    cause: Cause,
}

impl Comparison {
    /// How many members of a class are needed.
    fn n_representatives(self) -> i128 {
        if self.is_order { (1 << self.n_inputs) - 1 } else { i128::from(self.n_inputs) }
    }
}

/// How much work is done to split one input.
#[derive(Clone, Copy, Debug)]
pub struct SplitLimits {
    /// Domains of at most this size are looked at value by value.
    pub n_listed: usize,
    /// The most intervals that one operation may split another into.
    pub n_split: usize,
    /// The largest interval all of whose values become representatives, where nothing better is known.
    pub n_enumerated: usize,
}

impl Default for SplitLimits {
    fn default() -> Self {
        Self { n_listed: 256, n_split: 512, n_enumerated: 1024 }
    }
}

/// Gives every input of the net as few values as can stand for all of them; see the module's comment. The
/// atoms are those of all properties that will be asked. A domain that is not exact counts as a sample of
/// everything between its least and its greatest value, in the order of its type.
pub fn split_inputs(net: &mut Net, atoms: &[Expr], limits: SplitLimits) {
    split(net, atoms, limits, Choose::Any);
}

/// The same for a net that was cut out of one whose inputs were split: what is left may ask less of them. Every input
/// keeps some of the values that it has, so that runs of the smaller net are runs of the larger one.
///
/// A sample becomes exact where each class has enough of its members in it. Why that is so: an input of the larger net
/// whose domain is exact has all the values that matter, and counts here as one with just these values. One with a
/// sample counts as one with all values that the sample stands for; the smaller net with all of them gives the
/// answers of the larger net with all of them.
///
/// Where no input is a sample, nothing is changed.
pub fn split_inputs_again(net: &mut Net, atoms: &[Expr], limits: SplitLimits) {
    let mut choices =
        net.transitions.iter().flat_map(|data| &data.vars).filter_map(|var| var.choice.as_ref());
    if choices.any(|domain| !domain.exact) {
        split(net, atoms, limits, Choose::Old);
    }
}

/// Which values may become representatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choose {
    Any,
    /// Those that the domain has.
    Old,
}

fn split(net: &mut Net, atoms: &[Expr], limits: SplitLimits, choose: Choose) {
    let sources = sources(net);
    if sources.is_empty() || !are_related(net) {
        return;
    }
    let regions = regions::Regions::new(net);
    let uses = flow::uses(net, &sources, &regions, atoms);
    let groups = groups(&sources, &uses);
    let nothing = BTreeMap::new();
    let mut domains = Vec::new();
    for (input, source) in sources.iter_enumerated() {
        let group = groups.get(&input);
        let mut observations = BTreeMap::new();
        for member in group.map_or(&BTreeSet::from([input]), |group| &group.members) {
            let found = uses.observations.get(member).unwrap_or(&nothing);
            observations.extend(found.iter().map(|(observation, cause)| (observation.clone(), *cause)));
        }
        let comparison = group.map(|group| group.comparison);
        let old = net.transitions[source.transition].vars[source.var].choice.as_ref().expect("an input");
        // All values of an exact domain are members of the universe already.
        let kept = (choose == Choose::Old && !old.exact).then(|| old.values().collect::<BTreeSet<i64>>());
        let result = match group.filter(|group| !group.can_be_split(net, &sources)) {
            Some(group) => Err(group.comparison.cause),
            None => {
                classes::representatives(&source.universe, &observations, comparison, kept.as_ref(), limits)
            }
        };
        domains.push(match (result, choose) {
            (Ok(values), _) => (Domain { ranges: as_ranges(&values), exact: true }, None),
            (Err(cause), Choose::Any) => {
                (unsplit(net, source, &observations, limits), Some(words(net, source, cause)))
            }
            (Err(cause), Choose::Old) => (old.clone(), Some(words(net, source, cause))),
        });
    }
    for (source, (domain, note)) in sources.iter().zip(domains) {
        let data = &mut net.transitions[source.transition].vars[source.var];
        data.note = note.filter(|_| !domain.exact);
        data.choice = Some(domain);
    }
}

fn sources(net: &Net) -> IndexVec<Input, Source> {
    let mut found = IndexVec::new();
    for (transition, data) in net.transitions.iter_enumerated() {
        for (var, data) in data.vars.iter_enumerated() {
            if let Some(domain) = &data.choice {
                found.push(Source { transition, var, universe: universe(data.base, domain) });
            }
        }
    }
    found
}

/// All values that a domain stands for.
fn universe(base: Base, domain: &Domain) -> Vec<(i64, i64)> {
    let (Base::Int(ty), false) = (base, domain.exact) else { return domain.ranges.clone() };
    let ends = domain.ranges.iter().flat_map(|&(low, high)| [low, high]);
    let least = ends.clone().min_by_key(|&value| ty.to_i128(value)).unwrap_or(ty.min());
    let most = ends.max_by_key(|&value| ty.to_i128(value)).unwrap_or(ty.max());
    if least <= most { vec![(least, most)] } else { vec![(i64::MIN, most), (least, i64::MAX)] }
}

/// Inputs that are compared with each other, directly or through others.
struct Group {
    members: BTreeSet<Input>,
    comparison: Comparison,
}

impl Group {
    /// Whether the argument for comparisons applies: each input is taken once, of few, of the same values.
    fn can_be_split(&self, net: &Net, sources: &IndexVec<Input, Source>) -> bool {
        let mut universes = self.members.iter().map(|&member| &sources[member].universe);
        let first = universes.next();
        self.comparison.n_inputs <= MAX_COMPARED
            && universes.all(|universe| Some(universe) == first)
            && self.members.iter().all(|&member| regions::fires_once(net, sources[member].transition))
    }
}

fn groups(sources: &IndexVec<Input, Source>, uses: &flow::Uses) -> BTreeMap<Input, Group> {
    let mut label: IndexVec<Input, Input> = sources.indices().collect();
    let merge = |label: &mut IndexVec<Input, Input>, a: Input, b: Input| {
        let (old, new) = (label[a].max(label[b]), label[a].min(label[b]));
        label.iter_mut().filter(|found| **found == old).for_each(|found| *found = new);
    };
    for &(a, b) in uses.comparisons.keys() {
        merge(&mut label, a, b);
    }
    let mut groups = BTreeMap::new();
    for input in sources.indices() {
        let inside = uses.comparisons.iter().filter(|((a, _), _)| label[*a] == label[input]);
        let Some((_, &(_, cause))) = inside.clone().next() else { continue };
        let is_order = inside.clone().any(|(_, (is_order, _))| *is_order);
        let members: BTreeSet<Input> =
            sources.indices().filter(|&other| label[other] == label[input]).collect();
        let n_inputs = u32::try_from(members.len()).unwrap_or(u32::MAX);
        groups.insert(input, Group { members, comparison: Comparison { n_inputs, is_order, cause } });
    }
    groups
}

/// Values in increasing order as ranges.
fn as_ranges(values: &[i64]) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for &value in values {
        match ranges.last_mut() {
            Some((_, high)) if high.checked_add(1) == Some(value) => *high = value,
            _ => ranges.push((value, value)),
        }
    }
    ranges
}

/// The domain of an input that cannot be split: what it was, and if that is a sample, the values around
/// those that it is tested against.
fn unsplit(
    net: &Net,
    source: &Source,
    observations: &BTreeMap<Observation, Cause>,
    limits: SplitLimits,
) -> Domain {
    let old = net.transitions[source.transition].vars[source.var].choice.as_ref().expect("an input");
    if old.exact {
        return old.clone();
    }
    let mut values: BTreeSet<i64> = old.values().collect();
    values.extend(classes::boundaries(&source.universe, observations, MAX_ADDED, limits));
    let values: Vec<i64> = values.into_iter().collect();
    Domain { ranges: as_ranges(&values), exact: false }
}

/// Which input it is, and why it is but a sample.
fn words(net: &Net, source: &Source, cause: Cause) -> String {
    let place = |pos: Option<Pos>| match pos {
        Some(pos) => {
            let file = net.files.get(pdnet_base::Idx::index(pos.file)).map_or("", String::as_str);
            format!(" at {file}:{}", pos.line)
        }
        None => String::new(),
    };
    let data = &net.transitions[source.transition];
    let name = data.calls.as_ref().unwrap_or(&data.label);
    let usage = match cause.usage {
        Usage::Index => "is used as an index or pointer",
        Usage::Token => "is used to choose a thread or object",
        Usage::Arithmetic => "is used in arithmetic with a value that is not constant",
        Usage::Compared => "is tested in a way that cannot be split into cases",
        Usage::ComparedWithVariable => "is compared with a value that is not constant",
        Usage::Repeated => "is changed again and again",
        Usage::TooManyCases => "has too many cases",
        Usage::NotSampled => "has cases of which no value was tried",
    };
    let used = match cause.at {
        Some(transition) => place(net.transitions[transition].pos),
        None => " in a property".to_owned(),
    };
    format!("`{name}`{} {usage}{used}", place(data.pos))
}

/// Whether the argument above holds for the steps of a net. The first binding of an indivisible sequence is not the
/// same for all values of a class, and an input is taken more than once by threads that begin again.
fn are_related(net: &Net) -> bool {
    net.is_plain() && !net.reuses_threads()
}
