//! `never` claims as automata.
//!
//! A claim makes one step for each state of the run, before the run goes on. Its control states are those of the
//! automaton, its conditions the guards. Where it comes to its end, the run is bad whatever comes after.

use std::collections::BTreeMap;

use pdnet_base::Idx as _;
use pdnet_logic::{Atom, AutState, Automaton, AutomatonBuilder, Guard};
use pdnet_source::{Diagnostic, SourceMap, Span};

use crate::lower::graph::{Body, Graph, Node, NodeKind};
use crate::tree::{Claim, Expr, ExprKind, LtlAtom, StmtKind};

/// The automaton of a claim.
#[derive(Clone, Debug)]
pub struct ClaimAutomaton {
    /// The automaton of the bad runs.
    pub automaton: Automaton,
    /// Its atoms, by number.
    pub atoms: Vec<LtlAtom>,
}

/// Makes the automaton of a claim.
///
/// # Errors
/// What is no part of an automaton, or too large.
pub fn claim_automaton(map: &SourceMap, claim: &Claim) -> Result<ClaimAutomaton, Vec<Diagnostic>> {
    let end = Span { start: claim.span.end.saturating_sub(1).max(claim.span.start), ..claim.span };
    let body = Body { sequence: &claim.body, labels: &claim.labels, end };
    let graph = Graph::of(body, &mut 0);
    let mut maker = Maker { map, graph: &graph, atoms: Vec::new(), errors: Vec::new() };
    let mut builder = AutomatonBuilder::new(1);
    let bad = builder.add_accept_all();
    let mut states: BTreeMap<Node, AutState> = BTreeMap::new();
    for &node in &graph.states {
        let state = if node == graph.end { bad } else { builder.add_state() };
        states.insert(node, state);
        let labels = graph.marks[node].iter();
        let is_accepting = labels.into_iter().any(|&label| claim.labels[label].name.starts_with("accept"));
        if is_accepting {
            builder.mark_state(state, 1);
        }
    }
    for &node in graph.states.iter().filter(|&&node| node != graph.end) {
        for edge in maker.edges(node, 0) {
            let target = edge.target.map_or(bad, |target| states[&target]);
            builder.add_edge(states[&node], edge.guard, target, 0);
        }
    }
    let Maker { atoms, mut errors, .. } = maker;
    let names = atoms.iter().map(|atom| atom.text.clone()).collect();
    let start = states[&graph.start];
    match builder.finish(&[start], names) {
        Ok(automaton) if errors.is_empty() => Ok(ClaimAutomaton { automaton, atoms }),
        Ok(_) => Err(errors),
        Err(error) => {
            let message = format!("the claim `{}` is too large: {error}", claim.name);
            errors.push(Diagnostic::error("claim-too-large", message).at(claim.span, ""));
            Err(errors)
        }
    }
}

/// A step of the claim; without a target it has found a bad run.
struct Step {
    guard: Guard,
    target: Option<Node>,
}

/// How many steps an atomic sequence of a claim may have.
const MAX_STEPS: usize = 100;

struct Maker<'m> {
    map: &'m SourceMap,
    graph: &'m Graph<'m>,
    atoms: Vec<LtlAtom>,
    errors: Vec<Diagnostic>,
}

impl<'m> Maker<'m> {
    /// The steps of a control state. What is atomic happens on one state of the run.
    fn edges(&mut self, node: Node, depth: usize) -> Vec<Step> {
        let graph = self.graph;
        let mut found: Vec<Step> = Vec::new();
        let mut before = Guard::False;
        for step in &graph.moves[node] {
            let data = &graph.shape.nodes[step.node];
            if step.escape.is_some() {
                self.refuse("`unless` in a claim", data.span);
            }
            let guard = match data.kind {
                NodeKind::Basic(StmtKind::Condition(expr)) => self.guard(expr),
                NodeKind::Basic(StmtKind::Assert(expr)) => {
                    let holds = self.guard(expr);
                    found.push(Step { guard: holds.clone().negated(), target: None });
                    holds
                }
                NodeKind::Basic(StmtKind::Print { .. })
                | NodeKind::Goto(_)
                | NodeKind::Leave(_)
                | NodeKind::Meet
                | NodeKind::Exit
                | NodeKind::Skip
                | NodeKind::Choice
                | NodeKind::Block
                | NodeKind::Atomic
                | NodeKind::Unless => Guard::True,
                NodeKind::Else => before.clone().negated(),
                // Its control state is the end of the claim, which has no steps of its own.
                NodeKind::End => Guard::True,
                NodeKind::DStep | NodeKind::Basic(_) => {
                    self.refuse("this statement in a claim", data.span);
                    Guard::False
                }
            };
            before = before.or(guard.clone());
            match step.target {
                Some(target) if step.atomic && target != graph.end => {
                    if depth > MAX_STEPS {
                        self.refuse("an atomic sequence without end in a claim", data.span);
                        return found;
                    }
                    for next in self.edges(target, depth + 1) {
                        let guard = guard.clone().and(next.guard);
                        found.push(Step { guard, target: next.target });
                    }
                }
                target => found.push(Step { guard, target }),
            }
        }
        found
    }

    fn guard(&mut self, expr: &'m Expr) -> Guard {
        if let ExprKind::Const(value) = expr.kind {
            return if value == 0 { Guard::False } else { Guard::True };
        }
        let data = self.map.file(expr.span.file);
        let text = data.text.get(expr.span.start as usize..expr.span.end as usize).unwrap_or("");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // The same words with the same meaning are one atom; names in claims are global.
        let found = self.atoms.iter().position(|atom| atom.text == text && !text.is_empty());
        let number = found.unwrap_or_else(|| {
            self.atoms.push(LtlAtom { text, expr: expr.clone() });
            self.atoms.len() - 1
        });
        Guard::Atom(Atom::new(number))
    }

    fn refuse(&mut self, what: &str, span: Span) {
        let message = format!("{what} cannot be checked");
        self.errors.push(Diagnostic::error("unsupported-in-claim", message).at(span, "not in this version"));
    }
}
