//! Which variables a statement reads and writes by name.

use crate::tree::{ExprKind, Model, Place, StmtKind, Var};
use crate::walk::{expressions, walk, written};

/// Variables by the way in which they are used. An element of an array counts for neither: it is not known which one it
/// is. Its index is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub(super) reads: Vec<Var>,
    pub(super) writes: Vec<Var>,
}

/// The uses of a statement that is one step.
pub(super) fn statement_uses(model: &Model, statement: &StmtKind) -> Uses {
    let by_name = |place: &Place| model.vars[place.var].dims.is_empty().then_some(place.var);
    let mut uses =
        Uses { reads: Vec::new(), writes: written(statement).into_iter().filter_map(by_name).collect() };
    expressions(statement, &mut |expr| {
        walk(expr, &mut |inner| {
            if let ExprKind::Load(place) = &inner.kind {
                uses.reads.extend(by_name(place));
            }
        });
    });
    uses
}
