//! What the expressions of a transition have in common: expressions that occur twice, and cells that follow each other.

use pdnet_base::{FxHashMap, Idx as _};
use pdnet_net::{ArcData, BinaryOp, Expr, Net, Place, PlaceForm, Scope, Var};

/// Arcs that are done together.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Group<'a> {
    One(&'a ArcData),
    /// Elements of a global array that follow each other are read into variables that follow each other.
    Reads {
        place: Place,
        index: &'a Expr,
        var: Var,
        count: usize,
    },
    /// The other way round.
    Writes {
        place: Place,
        index: &'a Expr,
        var: Var,
        count: usize,
    },
}

/// So many arcs at least make a group.
const LEAST: usize = 3;

/// The arcs of a transition, grouped. Those to memory stay alone, since races are looked for access by access.
pub(crate) fn groups<'a>(net: &Net, arcs: &'a [ArcData]) -> Vec<Group<'a>> {
    let mut groups = Vec::new();
    let mut at = 0;
    while let Some(first) = arcs.get(at) {
        let next = |&offset: &usize| arcs.get(at + offset).is_some_and(|arc| follows(first, arc, offset));
        let count = (1..).take_while(next).count() + 1;
        let is_array = |place: Place| {
            let data = &net.places[place];
            let is_global = matches!(&data.form, PlaceForm::Cells(cells)
                if cells.scope == Scope::Global && cells.length.is_some());
            is_global && !data.memory
        };
        match (element(first).filter(|element| is_array(element.place)), count >= LEAST) {
            (Some(Element { place, index, var, writes: false }), true) => {
                groups.push(Group::Reads { place, index, var, count });
                at += count;
            }
            (Some(Element { place, index, var, writes: true }), true) => {
                groups.push(Group::Writes { place, index, var, count });
                at += count;
            }
            (Some(_) | None, _) => {
                groups.push(Group::One(first));
                at += 1;
            }
        }
    }
    groups
}

/// An arc between an element of a global array and a variable.
struct Element<'a> {
    place: Place,
    index: &'a Expr,
    var: Var,
    writes: bool,
}

fn element(arc: &ArcData) -> Option<Element<'_>> {
    match arc {
        ArcData::Read { place, key, var, when: None } if let [index] = key.as_slice() => {
            Some(Element { place: *place, index, var: *var, writes: false })
        }
        ArcData::Write { place, key, value: Expr::Var(var), when: None } if let [index] = key.as_slice() => {
            Some(Element { place: *place, index, var: *var, writes: true })
        }
        ArcData::Read { .. }
        | ArcData::Write { .. }
        | ArcData::Take { .. }
        | ArcData::Test { .. }
        | ArcData::Put { .. }
        | ArcData::Inhibit { .. }
        | ArcData::Drain { .. }
        | ArcData::Governed { .. }
        | ArcData::Governs { .. } => None,
    }
}

/// Whether an arc does with the element so much further on what the other does.
fn follows(first: &ArcData, arc: &ArcData, offset: usize) -> bool {
    let (Some(first), Some(other)) = (element(first), element(arc)) else { return false };
    let ((base, from), (other_base, to)) = (displaced(first.index), displaced(other.index));
    first.writes == other.writes
        && first.place == other.place
        && other.var.index() == first.var.index() + offset
        && base == other_base
        && i64::try_from(offset).is_ok_and(|offset| from.checked_add(offset) == Some(to))
}

/// An index as an expression and a constant that is added to it; the expression is absent where there is only a constant.
fn displaced(index: &Expr) -> (Option<&Expr>, i64) {
    match index {
        Expr::Const(value) => (None, *value),
        Expr::Binary(BinaryOp::Add, ty, base, added) if ty.signed && ty.bits >= 32 => match **added {
            Expr::Const(value) => (Some(base), value),
            _ => (Some(index), 0),
        },
        _ => (Some(index), 0),
    }
}

/// The expressions that occur more than once, the smaller first, without those that occur only inside of such ones.
pub(crate) fn repeated<'a>(exprs: impl Iterator<Item = &'a Expr>) -> Vec<&'a Expr> {
    let (mut found, mut counts) = (Vec::new(), FxHashMap::default());
    exprs.for_each(|expr| count(expr, &mut found, &mut counts));
    found.retain(|expr| counts.get(expr).is_some_and(|&n| n > 1));
    found
}

fn count<'a>(expr: &'a Expr, found: &mut Vec<&'a Expr>, counts: &mut FxHashMap<&'a Expr, u32>) {
    if matches!(expr, Expr::Const(_) | Expr::Var(_)) {
        return;
    }
    let n = counts.entry(expr).or_insert(0);
    *n += 1;
    if *n > 1 {
        return;
    }
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Deadlock => {}
        Expr::Unary(_, _, operand) | Expr::Convert(_, operand) => count(operand, found, counts),
        Expr::Binary(_, _, left, right) => {
            count(left, found, counts);
            count(right, found, counts);
        }
        Expr::If(condition, then, otherwise) => {
            count(condition, found, counts);
            count(then, found, counts);
            count(otherwise, found, counts);
        }
        Expr::Cell(_, parts) | Expr::Marked(_, parts) => {
            parts.iter().for_each(|part| count(part, found, counts));
        }
    }
    found.push(expr);
}
