//! Classes of values that no observation tells apart.

use std::collections::{BTreeMap, BTreeSet};

use super::pieces::{Piece, common_multiple, pieces, split_by, value_at};
use super::{Cause, Comparison, SplitLimits, Usage};
use crate::{BinaryOp, Expr, IntType};

/// The most points that are looked at for one input.
const MAX_CANDIDATES: usize = 1 << 16;
/// The most representatives of one input.
const MAX_CLASSES: usize = 1024;

/// Something that the program finds out about an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Observation {
    /// What it finds out, as a function of the input.
    pub(super) expr: Expr,
    /// It happens only where this function of the input is between these, both included.
    pub(super) within: Option<(Expr, i64, i64)>,
}

impl Observation {
    /// Whether a function of the input is 0.
    pub(super) fn truth(expr: Expr) -> Self {
        let expr = if expr.is_boolean() {
            expr
        } else {
            Expr::binary(BinaryOp::Ne, IntType::I64, expr, Expr::Const(0))
        };
        Self { expr, within: None }
    }

    fn at(&self, x: i64) -> Option<i64> {
        let applies = self.within.as_ref().is_none_or(|(expr, low, high)| {
            let value = value_at(expr, x);
            *low <= value && value <= *high
        });
        applies.then(|| value_at(&self.expr, x))
    }

    /// Intervals on which it is decided by the residue modulo a number, or on which every value counts.
    fn cuts(&self, low: i64, high: i64, limits: SplitLimits) -> Option<Vec<Cut>> {
        let mut cuts = Vec::new();
        let Some((expr, least, most)) = &self.within else {
            return self.cuts_inside((low, high), 1, limits, cuts);
        };
        for piece in pieces(expr, low, high, limits.n_split) {
            let side = |x: i64| {
                let value = value_at(expr, x);
                i8::from(value > *most) - i8::from(value < *least)
            };
            if let Some(modulus) = piece.shape.modulus() {
                cuts = self.cuts_inside((piece.low, piece.high), modulus, limits, cuts)?;
            } else if piece.shape.is_monotone() {
                for (low, high) in split_by(piece.low, piece.high, 3, side)? {
                    if side(low) == 0 {
                        cuts = self.cuts_inside((low, high), 1, limits, cuts)?;
                    } else {
                        cuts.push(Cut { low, high, period: Period::Modulo(1) });
                    }
                }
            } else {
                return None;
            }
        }
        Some(cuts)
    }

    fn cuts_inside(
        &self,
        (low, high): (i64, i64),
        modulus: i128,
        limits: SplitLimits,
        mut cuts: Vec<Cut>,
    ) -> Option<Vec<Cut>> {
        for Piece { low, high, shape } in pieces(&self.expr, low, high, limits.n_split) {
            if let Some(found) = shape.modulus() {
                let period = Period::Modulo(common_multiple(found, modulus)?);
                cuts.push(Cut { low, high, period });
                continue;
            }
            if size(low, high) <= limits.n_enumerated as i128 {
                cuts.push(Cut { low, high, period: Period::All });
                continue;
            }
            let limit = limits.n_enumerated;
            let steps = |x: i64| value_at(&self.expr, x);
            let parts = if shape.is_monotone() { split_by(low, high, limit, steps) } else { None };
            for (low, high) in parts? {
                cuts.push(Cut { low, high, period: Period::Modulo(modulus) });
            }
        }
        Some(cuts)
    }
}

/// An interval on which an observation depends on little.
#[derive(Clone, Copy, Debug)]
struct Cut {
    low: i64,
    high: i64,
    period: Period,
}

#[derive(Clone, Copy, Debug)]
enum Period {
    /// It depends on the value modulo this.
    Modulo(i128),
    /// It depends on the value; the interval is small.
    All,
}

impl Period {
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Modulo(left), Self::Modulo(right)) => common_multiple(left, right).map(Self::Modulo),
            (Self::All, _) | (_, Self::All) => Some(Self::All),
        }
    }
}

fn size(low: i64, high: i64) -> i128 {
    i128::from(high) - i128::from(low) + 1
}

/// Representatives for a set of values under observations, such that for every value there is one which no
/// observation tells apart from it. With a comparison, as many that no tuple of values can be told apart
/// from a tuple of representatives (see the module's proof). Where values are given, only those are chosen.
///
/// # Errors
/// The observation that is in the way.
pub(super) fn representatives(
    universe: &[(i64, i64)],
    observations: &BTreeMap<Observation, Cause>,
    comparison: Option<Comparison>,
    given: Option<&BTreeSet<i64>>,
    limits: SplitLimits,
) -> Result<Vec<i64>, Cause> {
    let listed = || universe.iter().map(|&(low, high)| Cut { low, high, period: Period::All }).collect();
    let cells = match elementary(universe, observations, limits) {
        _ if is_listed(universe, limits.n_listed) => listed(),
        Err(_) if is_listed(universe, MAX_CANDIDATES.min(16 * limits.n_listed)) => listed(),
        found => found?,
    };
    let too_many = || {
        let values = |observation: &Observation| {
            let points = cells.iter().flat_map(|cut| cut.points(1));
            points.map(|x| observation.at(x)).collect::<BTreeSet<_>>().len()
        };
        let worst = observations.iter().max_by_key(|(observation, _)| values(observation));
        Cause { usage: Usage::TooManyCases, at: worst.and_then(|(_, cause)| cause.at) }
    };
    let spare = comparison.map_or(1, Comparison::n_representatives);
    let n_points: i128 = cells.iter().map(|cut| cut.n_points(spare)).sum();
    if n_points > MAX_CANDIDATES as i128 {
        return Err(too_many());
    }
    let order = comparison.filter(|comparison| comparison.is_order);
    let mut classes: BTreeMap<(usize, Vec<Option<i64>>), Class> = BTreeMap::new();
    // Under an order a class is an interval; else the same observations make the same class.
    let mut interval = 0;
    for cell in &cells {
        if let (Some(order), Period::Modulo(2..)) = (order, cell.period) {
            return Err(order.cause);
        }
        interval += usize::from(order.is_some());
        let mut last = None;
        let mut points: BTreeSet<i64> = cell.points(spare).collect();
        let of_class = points.clone();
        points.extend(given.iter().flat_map(|given| given.range(cell.low..=cell.high)));
        for x in points {
            let seen: Vec<Option<i64>> = observations.keys().map(|observation| observation.at(x)).collect();
            if order.is_some() && last.as_ref().is_some_and(|last| *last != seen) {
                interval += 1;
            }
            let class = classes.entry((interval, seen.clone())).or_default();
            class.members.push(x);
            class.n_needed += i128::from(of_class.contains(&x));
            last = Some(seen);
        }
    }
    let mut found = BTreeSet::new();
    for Class { mut members, n_needed } in classes.into_values() {
        members.retain(|x| given.is_none_or(|given| given.contains(x)));
        members.sort_by_key(|&x| (x.unsigned_abs(), x < 0));
        let n_needed = usize::try_from(n_needed.min(spare)).expect("small");
        if members.len() < n_needed {
            let cause = observations.values().next().map(|cause| cause.at);
            return Err(Cause { usage: Usage::NotSampled, at: cause.flatten() });
        }
        found.extend(members.into_iter().take(n_needed));
    }
    if found.len() > MAX_CLASSES { Err(too_many()) } else { Ok(found.into_iter().collect()) }
}

/// Values that no observation tells apart.
#[derive(Default)]
struct Class {
    members: Vec<i64>,
    /// Of how many of them it is known that there are so many.
    n_needed: i128,
}

fn is_listed(universe: &[(i64, i64)], limit: usize) -> bool {
    universe.iter().map(|&(low, high)| size(low, high)).sum::<i128>() <= limit as i128
}

/// Intervals on each of which every observation depends on the value modulo a common number.
fn elementary(
    universe: &[(i64, i64)],
    observations: &BTreeMap<Observation, Cause>,
    limits: SplitLimits,
) -> Result<Vec<Cut>, Cause> {
    let mut cells: Vec<Cut> =
        universe.iter().map(|&(low, high)| Cut { low, high, period: Period::Modulo(1) }).collect();
    for (observation, cause) in observations {
        let mut cuts = Vec::new();
        for &(low, high) in universe {
            cuts.extend(observation.cuts(low, high, limits).ok_or(*cause)?);
        }
        let mut refined = Vec::new();
        let mut position = 0;
        for cell in &cells {
            let mut low = cell.low;
            loop {
                while cuts[position].high < low {
                    position += 1;
                }
                let cut = cuts[position];
                let high = cell.high.min(cut.high);
                let period = cell.period.and(cut.period).ok_or(*cause)?;
                refined.push(Cut { low, high, period });
                if high == cell.high {
                    break;
                }
                low = high + 1;
            }
        }
        cells = refined;
        if cells.len() > MAX_CANDIDATES {
            return Err(*cause);
        }
    }
    Ok(cells)
}

/// Values at which some observation changes: the least value of each interval and the one before it.
pub(super) fn boundaries(
    universe: &[(i64, i64)],
    observations: &BTreeMap<Observation, Cause>,
    limit: usize,
    limits: SplitLimits,
) -> BTreeSet<i64> {
    let mut found = BTreeSet::new();
    for observation in observations.keys() {
        for &(low, high) in universe {
            for piece in pieces(&observation.expr, low, high, limits.n_split).iter().skip(1) {
                if found.len() < limit {
                    found.extend([piece.low - 1, piece.low]);
                }
            }
        }
    }
    found
}

impl Cut {
    /// Values among which there are `spare` of each residue, or all that there are.
    fn n_points(self, spare: i128) -> i128 {
        let all = size(self.low, self.high);
        match self.period {
            Period::Modulo(modulus) => all.min(modulus * spare),
            Period::All => all,
        }
    }

    /// Those values, as near to 0 as possible.
    fn points(self, spare: i128) -> std::ops::RangeInclusive<i64> {
        let extra = i64::try_from(self.n_points(spare) - 1).expect("few points");
        if self.low >= 0 {
            self.low..=self.low + extra
        } else if self.high < 0 {
            self.high - extra..=self.high
        } else {
            let low = if self.high >= extra { 0 } else { self.high - extra };
            low..=low + extra
        }
    }
}
