//! Which cells a step reads and writes.
//!
//! All of it comes from the arcs of the transition and the binding of the firing: the arcs are the one
//! place that says what a statement touches.

use pdnet_base::Idx as _;
use pdnet_net::{ArcData, Expr, Firing, Net, ObjectKind, Place, Scalars, Scope, Var};

use crate::values::{cell_name, value_text};

/// How a cell is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// Its value is read.
    Read,
    /// It gets a value.
    Write,
}

/// One cell that a step touches.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The place.
    pub(crate) place: Place,
    /// The thread whose cell it is; `None` for global ones and those of blocks that were allocated.
    pub(crate) thread: Option<i64>,
    /// The name of the cell for people: `x`, `a[2]`.
    pub(crate) name: String,
    /// The value that was read or written.
    pub(crate) value: i128,
    /// The value for people.
    pub(crate) text: String,
    /// How.
    pub(crate) kind: AccessKind,
    /// Whether the cell is of no interest to the reader.
    pub(crate) internal: bool,
}

impl Access {
    /// Whether other threads can see the cell.
    pub(crate) const fn is_shared(&self) -> bool {
        self.thread.is_none()
    }
}

/// The values of a firing's variables. Expressions on arcs look at nothing else.
pub(crate) struct Binding<'a>(pub(crate) &'a [i64]);

impl Scalars for Binding<'_> {
    fn var(&self, var: Var) -> i64 {
        self.0.get(var.index()).copied().unwrap_or(0)
    }
    fn cell(&self, _: Place, _: &[i64]) -> i64 {
        0
    }
    fn marked(&self, _: Place, _: &[i64]) -> bool {
        false
    }
    fn deadlock(&self) -> bool {
        false
    }
}

impl Binding<'_> {
    /// The values of a list of expressions.
    pub(crate) fn values(&self, exprs: &[Expr]) -> Vec<i64> {
        exprs.iter().map(|expr| expr.eval(self)).collect()
    }

    /// Whether an arc counts.
    pub(crate) fn counts(&self, when: Option<&Expr>) -> bool {
        when.is_none_or(|when| when.eval(self) != 0)
    }
}

/// All cells that the firing touches, in the order of its arcs.
pub(crate) fn accesses(net: &Net, firing: &Firing) -> Vec<Access> {
    let binding = Binding(&firing.binding);
    let mut found = Vec::new();
    for arc in &net.transitions[firing.transition].arcs {
        let (place, key, value, kind) = match arc {
            ArcData::Read { place, key, var, when } if binding.counts(when.as_ref()) => {
                (*place, key, firing.binding[var.index()], AccessKind::Read)
            }
            ArcData::Write { place, key, value, when } if binding.counts(when.as_ref()) => {
                (*place, key, value.eval(&binding), AccessKind::Write)
            }
            ArcData::Read { .. }
            | ArcData::Write { .. }
            | ArcData::Take { .. }
            | ArcData::Put { .. }
            | ArcData::Test { .. }
            | ArcData::Inhibit { .. }
            | ArcData::Drain { .. }
            | ArcData::Governed { .. }
            | ArcData::Governs { .. } => continue,
        };
        let Some(cells) = net.places[place].cells() else { continue };
        let key = binding.values(key);
        let data = &net.places[place];
        let value = cells.value.wrap(value);
        let is_block =
            net.part_of(place).is_some_and(|(object, _)| matches!(object.kind, ObjectKind::Heap(_)));
        let thread = match cells.scope {
            Scope::Global => None,
            Scope::Thread | Scope::Frame(_) => key.first().copied().filter(|_| !is_block),
        };
        let mut name = cell_name(net, place, &key);
        if let Some(owner) = thread.filter(|&owner| owner != firing.thread() && !data.internal) {
            name = format!("{name} of thread {owner}");
        }
        let text = value_text(net, data.shown, cells.value, value);
        let value = cells.value.to_i128(value);
        found.push(Access { place, thread, name, value, text, kind, internal: data.internal });
    }
    found
}
