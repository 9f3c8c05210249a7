//! Values that no step reads any more. SPIN sets a local variable to 0 in the last step that uses it, so that states
//! that differ in such values only are one; so does the net.
//!
//! It is done exactly where SPIN does it, because it decides how many states there are: after an assignment or a
//! receive that writes a variable which is then not read before it is written again, and after a condition or a
//! receive that reads it for the last time. Arrays, parts of structures and channels stay as they are.

use std::collections::BTreeMap;

use super::graph::{Graph, Node, NodeKind};
use super::uses::{Uses, statement_uses};
use crate::tree::{Model, Scope, StmtKind, Type, Var};

/// For each element of a proctype, the variables that are set to 0 after it. `kept` are those that somebody else looks
/// at.
pub(super) fn dead_after(
    model: &Model,
    graph: &Graph<'_>,
    kept: &dyn Fn(Var) -> bool,
) -> BTreeMap<Node, Vec<Var>> {
    let flow = Flow::new(model, graph);
    let mut found = BTreeMap::new();
    for (node, data) in graph.shape.nodes.iter_enumerated() {
        let NodeKind::Basic(statement) = data.kind else { continue };
        // Nothing is reset in the middle of a `d_step`.
        if data.inner {
            continue;
        }
        let uses = &flow.uses[&node];
        let resets_read = matches!(statement, StmtKind::Condition(_) | StmtKind::Receive { .. });
        let read = uses.reads.iter().filter(|_| resets_read);
        let mut dead: Vec<Var> = uses.writes.iter().chain(read).copied().collect();
        dead.sort_unstable();
        dead.dedup();
        dead.retain(|&var| is_eligible(model, var) && !kept(var) && flow.is_dead(var, node));
        if !dead.is_empty() {
            found.insert(node, dead);
        }
    }
    found
}

/// Whether SPIN follows the uses of a variable: a local scalar by itself.
fn is_eligible(model: &Model, var: Var) -> bool {
    let data = &model.vars[var];
    matches!(data.scope, Scope::Local(_))
        && data.dims.is_empty()
        && data.ty != Type::Chan
        && !data.name.contains('.')
}

/// The elements as SPIN's data flow sees them.
struct Flow {
    uses: BTreeMap<Node, Uses>,
    /// What may come after an element without its being executed: options, parts, escapes.
    without: BTreeMap<Node, Vec<Node>>,
    /// What comes after its execution.
    after: BTreeMap<Node, Option<Node>>,
}

impl Flow {
    fn new(model: &Model, graph: &Graph<'_>) -> Self {
        let mut flow = Self { uses: BTreeMap::new(), without: BTreeMap::new(), after: BTreeMap::new() };
        for (node, data) in graph.shape.nodes.iter_enumerated() {
            let uses = match data.kind {
                NodeKind::Basic(statement) => statement_uses(model, statement),
                _ => Uses::default(),
            };
            flow.uses.insert(node, uses);
            let escapes = data.escapes.iter().map(|part| graph.shape.hunt_start(part.first));
            let without = match data.kind {
                NodeKind::Choice | NodeKind::Block | NodeKind::Atomic => {
                    graph.shape.entries(node).unwrap_or_default()
                }
                NodeKind::DStep => vec![graph.shape.hunt_start(data.parts[0].first)],
                NodeKind::Meet | NodeKind::Goto(_) | NodeKind::Leave(_) | NodeKind::Unless => Vec::new(),
                NodeKind::Basic(_) | NodeKind::Else | NodeKind::Skip | NodeKind::Exit | NodeKind::End => {
                    escapes.collect()
                }
            };
            flow.without.insert(node, without);
            let is_compound = matches!(
                data.kind,
                NodeKind::Choice | NodeKind::Block | NodeKind::Atomic | NodeKind::DStep | NodeKind::Unless
            );
            flow.after.insert(node, if is_compound { None } else { graph.shape.step_of(node).target });
        }
        flow
    }

    /// Whether no way from behind the element reads the variable before it writes it.
    fn is_dead(&self, var: Var, node: Node) -> bool {
        let mut seen = Vec::new();
        let mut open: Vec<Node> = self.after[&node].into_iter().collect();
        while let Some(at) = open.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            open.extend(&self.without[&at]);
            let uses = &self.uses[&at];
            if uses.reads.contains(&var) {
                return false;
            }
            if !uses.writes.contains(&var) {
                open.extend(self.after[&at]);
            }
        }
        true
    }
}
