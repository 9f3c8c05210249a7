//! What is known of the cells of a frame: few values, or bounds.

use crate::interval::Range;
use crate::net::Place;

/// So many values of a cell are kept apart.
const MAX_FEW: usize = 4;
/// What is known of so many cells at one place is kept; the others can have any value.
const MAX_CELLS: usize = 32;

/// The values that a cell may have: those of a range, and of those only the few that are listed, if some are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) range: Range,
    n_few: usize,
    few: [i64; MAX_FEW],
}

impl Values {
    pub(super) fn new(range: Range) -> Self {
        let mut few = [0; MAX_FEW];
        let n_few = usize::from(range.single().is_some());
        few[0] = if n_few == 1 { range.low } else { 0 };
        Self { range, n_few, few }
    }

    /// The values, where they are few; nothing where they are not.
    pub(super) fn few(&self) -> &[i64] {
        &self.few[..self.n_few]
    }

    /// The values of both.
    pub(super) fn or(&self, other: &Self) -> Self {
        let mut both = Self { range: self.range.hull(other.range), n_few: 0, few: [0; MAX_FEW] };
        if self.n_few == 0 || other.n_few == 0 {
            return both;
        }
        let mut all: Vec<i64> = self.few().iter().chain(other.few()).copied().collect();
        all.sort_unstable();
        all.dedup();
        if all.len() <= MAX_FEW {
            both.n_few = all.len();
            both.few[..all.len()].copy_from_slice(&all);
        }
        both
    }

    /// Without the distinction of single values, and with bounds that moved given up.
    pub(super) fn widened(&self, old: &Self, all: Range) -> Self {
        let low = if self.range.low < old.range.low { all.low } else { self.range.low };
        let high = if self.range.high > old.range.high { all.high } else { self.range.high };
        if self == old { *self } else { Self::new(Range::new(low, high)) }
    }
}

/// What is known of cells, in their order; the others can have any value of their type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    cells: Vec<(Place, Values)>,
}

impl State {
    pub(super) fn get(&self, cell: Place) -> Option<&Values> {
        let found = self.cells.binary_search_by_key(&cell, |(cell, _)| *cell).ok()?;
        Some(&self.cells[found].1)
    }

    pub(super) fn set(&mut self, cell: Place, values: Option<Values>) {
        match (self.cells.binary_search_by_key(&cell, |(cell, _)| *cell), values) {
            (Ok(at), Some(values)) => self.cells[at].1 = values,
            (Ok(at), None) => drop(self.cells.remove(at)),
            (Err(at), Some(values)) if self.cells.len() < MAX_CELLS => self.cells.insert(at, (cell, values)),
            (Err(_), _) => {}
        }
    }

    /// Takes in what else may be; bounds that move are given up where `limits` tells those of a cell's type.
    /// Whether anything changed.
    pub(super) fn join(&mut self, other: &Self, limits: Option<&dyn Fn(Place) -> Option<Range>>) -> bool {
        let mut is_changed = false;
        let mut others = other.cells.iter().peekable();
        self.cells.retain_mut(|(cell, values)| {
            while others.peek().is_some_and(|(other, _)| *other < *cell) {
                others.next();
            }
            let Some((_, added)) = others.peek().filter(|(other, _)| other == cell) else {
                is_changed = true;
                return false;
            };
            let mut both = values.or(added);
            if let Some(limits) = limits.and_then(|limits| limits(*cell)) {
                both = both.widened(values, limits);
            }
            is_changed |= both != *values;
            *values = both;
            true
        });
        is_changed
    }
}
