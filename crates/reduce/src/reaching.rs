//! Reaching definitions: which writes of a frame's own cells reach which places of its function.
//!
//! For all cells that only one frame can reach, of all functions, whether anybody asks for them or not: that is what
//! classical slicing begins with. Cells that others can reach have no such order.

use pdnet_base::{FxHashMap, IndexVec};
use pdnet_net::{ArcData, Function, Place, Transition};

use crate::Statement;
use crate::facts::{Facts, frame_of, is_new, is_own};

/// A write of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Definition {
    cell: Place,
    /// Of the same function, or what calls it or starts a thread with it: arguments are written before the entry.
    statement: Statement,
}

/// A set of definitions, by number.
type Bits = Vec<u64>;

/// The definitions of one function's cells.
#[derive(Default)]
struct OfFunction {
    list: Vec<Definition>,
    numbers: FxHashMap<Definition, usize>,
    /// The numbers of the definitions of a cell.
    of_cell: FxHashMap<Place, Vec<usize>>,
}

impl OfFunction {
    fn number(&mut self, definition: Definition) -> usize {
        if let Some(&number) = self.numbers.get(&definition) {
            return number;
        }
        let number = self.list.len();
        self.list.push(definition);
        self.numbers.insert(definition, number);
        self.of_cell.entry(definition.cell).or_default().push(number);
        number
    }
}

/// What a step does to the definitions that reach it.
#[derive(Default)]
struct Effect {
    /// Definitions of these cells are over.
    over: Vec<Place>,
    new: Vec<usize>,
}

/// The definitions that reach each place.
pub(crate) struct Reaching {
    functions: IndexVec<Function, OfFunction>,
    at: IndexVec<Place, Bits>,
}

impl Reaching {
    /// Finds them for all functions.
    pub(crate) fn new(facts: &Facts<'_>) -> Self {
        let net = facts.net;
        let mut reaching = Self {
            functions: net.functions.iter().map(|_| OfFunction::default()).collect(),
            at: IndexVec::filled(Vec::new(), net.places.len()),
        };
        let mut effects: IndexVec<Transition, Effect> =
            net.transitions.iter().map(|_| Effect::default()).collect();
        // The numbers of what is written before the first step.
        let mut given: IndexVec<Function, Vec<usize>> = IndexVec::filled(Vec::new(), net.functions.len());
        for (transition, data) in net.transitions.iter_enumerated() {
            let Some(statement) = data.source() else { continue };
            for arc in &data.arcs {
                let ArcData::Write { place: cell, key, when, .. } = arc else { continue };
                let (true, Some(function)) = (facts.local[*cell], frame_of(net, *cell)) else { continue };
                let number = reaching.functions[function].number(Definition { cell: *cell, statement });
                if is_own(net, data, *cell, key) {
                    effects[transition].new.push(number);
                    if when.is_none() && key.len() == 2 {
                        effects[transition].over.push(*cell);
                    }
                } else if is_new(net, data, *cell, key) {
                    given[function].push(number);
                }
            }
        }
        for (function, given) in given.iter_enumerated() {
            reaching.find(facts, function, given, &effects);
        }
        reaching
    }

    /// Leads the definitions through a function until nothing changes.
    fn find(
        &mut self,
        facts: &Facts<'_>,
        function: Function,
        given: &[usize],
        effects: &IndexVec<Transition, Effect>,
    ) {
        let definitions = &self.functions[function];
        let n_words = definitions.list.len().div_ceil(64);
        if n_words == 0 {
            return;
        }
        let entry = facts.net.functions[function].entry;
        self.at[entry] = vec![0; n_words];
        given.iter().for_each(|&number| set(&mut self.at[entry], number));
        let mut open = std::collections::VecDeque::from([entry]);
        let mut is_open = FxHashMap::from_iter([(entry, ())]);
        while let Some(place) = open.pop_front() {
            is_open.remove(&place);
            for step in &facts.flow.steps[place] {
                let Some(target) = step.target else { continue };
                let mut bits = self.at[place].clone();
                let effect = &effects[step.transition];
                for cell in &effect.over {
                    definitions.of_cell[cell].iter().for_each(|&number| unset(&mut bits, number));
                }
                effect.new.iter().for_each(|&number| set(&mut bits, number));
                let is_first = self.at[target].is_empty();
                if is_first {
                    self.at[target] = vec![0; n_words];
                }
                if (add(&mut self.at[target], &bits) || is_first) && is_open.insert(target, ()).is_none() {
                    open.push_back(target);
                }
            }
        }
    }

    /// The statements whose writes of a cell may be what a frame finds that is at a place.
    pub(crate) fn of(&self, facts: &Facts<'_>, cell: Place, at: Place) -> Vec<Statement> {
        let Some(function) = frame_of(facts.net, cell) else { return Vec::new() };
        let definitions = &self.functions[function];
        let bits = &self.at[at];
        let numbers = definitions.of_cell.get(&cell).into_iter().flatten();
        let reach = numbers
            .filter(|&&number| bits.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1));
        reach.map(|&number| definitions.list[number].statement).collect()
    }
}

fn set(bits: &mut [u64], number: usize) {
    bits[number / 64] |= 1 << (number % 64);
}

fn unset(bits: &mut [u64], number: usize) {
    bits[number / 64] &= !(1 << (number % 64));
}

/// Adds a set to another; true where something is new.
fn add(bits: &mut [u64], more: &[u64]) -> bool {
    let mut is_new = false;
    for (word, more) in bits.iter_mut().zip(more) {
        is_new |= *more & !*word != 0;
        *word |= *more;
    }
    is_new
}
