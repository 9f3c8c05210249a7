//! `trace` and `notrace`: an automaton that watches the messages on some channels.
//!
//! Its state is a cell of the net, and every send and receive on a channel that it names moves it. What it says is as in
//! SPIN: a `trace` must have a move for every send (receive) on a channel that one of its sends (receives) names, and
//! must be at its end, or at a label `end…`, when the model has ended. A `notrace` must not come to its end; where it
//! has no move for a message, it has been left for good.

use pdnet_net::legend::Deed;
use pdnet_net::{BinaryOp as NetOp, CellData, Expr as NetExpr, IntType, Net, Place, Scope as CellScope};
use pdnet_source::{Diagnostic, Span};

use super::channels::{Channels, Class, bits_for};
use super::graph::{Body, Graph, Node, NodeKind};
use super::step::{Step, int_op};
use super::value::Access;
use crate::tree::{Expr, ExprKind, Model, ReceiveArg, StmtKind, Trace};

/// The automaton.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// The cell with its state.
    place: Place,
    negated: bool,
    edges: Vec<Edge>,
    end: i64,
    /// The states in which it may be when the model has ended.
    complete: Vec<i64>,
}

/// A move of the automaton.
#[derive(Clone, Debug)]
struct Edge {
    from: i64,
    target: i64,
    /// Whether it is about sends.
    sends: bool,
    class: Class,
    position: u32,
    /// Fields that must have a value.
    fields: Vec<(usize, i64)>,
    /// Where it stands in the model.
    span: Span,
}

impl Events {
    /// Whether it is where it must not be when the model has ended.
    pub(super) fn is_open(&self) -> NetExpr {
        let is_at =
            |state: &i64| NetExpr::equal(NetExpr::Cell(self.place, Vec::new()), NetExpr::Const(*state));
        let complete = self.complete.iter().map(is_at).fold(NetExpr::Const(0), NetExpr::either);
        NetExpr::logical_not(complete)
    }
}

impl Edge {
    /// Whether a message can fit both.
    fn overlaps(&self, other: &Self) -> bool {
        let is_apart = |(number, value): &(usize, i64)| {
            other.fields.iter().any(|(field, wanted)| field == number && wanted != value)
        };
        self.from == other.from
            && (self.sends, self.class, self.position) == (other.sends, other.class, other.position)
            && !self.fields.iter().any(is_apart)
    }
}

/// Makes the automaton of a model's trace, and its cell.
///
/// # Errors
/// What cannot be watched.
pub(super) fn events(
    model: &Model,
    channels: &Channels,
    net: &mut Net,
) -> Result<Option<Events>, Vec<Diagnostic>> {
    let Some(trace) = model.traces.first() else { return Ok(None) };
    let body = Body { sequence: &trace.body, labels: &trace.labels, end: trace.span };
    let graph = Graph::of(body, &mut 0);
    let mut maker = Maker { model, channels, trace, graph: &graph, errors: Vec::new() };
    let edges = maker.edges();
    if !maker.errors.is_empty() {
        return Err(maker.errors);
    }
    let number = |node: Node| position_of(&graph, node);
    let is_end = |node: Node| {
        let mut labels = graph.marks[node].iter().map(|&label| &trace.labels[label].name);
        node == graph.end || labels.any(|name| name.starts_with("end"))
    };
    let n_states = i64::try_from(graph.states.len()).unwrap_or(i64::MAX);
    let cells = CellData {
        scope: CellScope::Global,
        length: None,
        value: IntType { bits: bits_for(n_states), signed: false },
        default: number(graph.start),
        listed: Vec::new(),
    };
    let place = net.add_cells(if trace.negated { "notrace" } else { "trace" }, cells);
    net.places[place].internal = true;
    let mut complete: Vec<i64> =
        graph.states.iter().filter(|&&node| is_end(node)).map(|&node| number(node)).collect();
    let end = number(graph.end);
    if !complete.contains(&end) {
        complete.push(end);
    }
    Ok(Some(Events { place, negated: trace.negated, edges, end, complete }))
}

/// The number of a state; that of the end is behind all others where no move leads there.
fn position_of(graph: &Graph<'_>, node: Node) -> i64 {
    let found = graph.states.iter().position(|&state| state == node);
    i64::try_from(found.unwrap_or(graph.states.len())).unwrap_or(i64::MAX)
}

struct Maker<'a> {
    model: &'a Model,
    channels: &'a Channels,
    trace: &'a Trace,
    graph: &'a Graph<'a>,
    errors: Vec<Diagnostic>,
}

impl Maker<'_> {
    fn edges(&mut self) -> Vec<Edge> {
        let mut edges: Vec<Edge> = Vec::new();
        for &state in &self.graph.states {
            for step in &self.graph.moves[state] {
                let data = &self.graph.shape.nodes[step.node];
                let (sends, channel, fields) = match data.kind {
                    NodeKind::Basic(StmtKind::Send { channel, args, .. }) => {
                        // As in SPIN, a variable stands for any value, as `_` does.
                        let is_open = |arg: &Expr| matches!(arg.kind, ExprKind::Load(_) | ExprKind::Anything);
                        let values: Vec<_> = args
                            .iter()
                            .map(|arg| Some(arg).filter(|arg| !is_open(arg)))
                            .enumerate()
                            .collect();
                        (true, channel, self.fields(&values))
                    }
                    NodeKind::Basic(StmtKind::Receive { channel, args, .. }) => {
                        let values: Vec<_> = args
                            .iter()
                            .map(|arg| match arg {
                                ReceiveArg::Match(expr) => Some(expr),
                                // As in SPIN, a variable stands for any value.
                                ReceiveArg::Store(_) | ReceiveArg::Ignore => None,
                            })
                            .enumerate()
                            .collect();
                        (false, channel, self.fields(&values))
                    }
                    NodeKind::End => continue,
                    _ => {
                        self.refuse("only sends and receives can be watched", data.span, "no event");
                        continue;
                    }
                };
                let Some((class, position)) = self.channel(channel) else { continue };
                let from = position_of(self.graph, state);
                let target = position_of(self.graph, step.target.unwrap_or(self.graph.end));
                let edge = Edge { from, target, sends, class, position, fields, span: data.span };
                if let Some(first) = edges.iter().find(|other| other.overlaps(&edge)) {
                    let message = "a message can fit two events of the trace at once";
                    let error = Diagnostic::error("ambiguous-trace", message).at(data.span, "this one");
                    self.errors.push(error.context(first.span, "and this one"));
                }
                edges.push(edge);
            }
        }
        edges
    }

    fn fields(&mut self, args: &[(usize, Option<&Expr>)]) -> Vec<(usize, i64)> {
        let mut fields = Vec::new();
        for &(number, arg) in args {
            match arg.map(|arg| (&arg.kind, arg.span)) {
                None => {}
                Some((ExprKind::Const(value), _)) => fields.push((number, *value)),
                Some((_, span)) => {
                    self.refuse("an event of a trace has constants as fields", span, "no constant");
                }
            }
        }
        fields
    }

    /// The one channel that an expression denotes.
    fn channel(&mut self, channel: &Expr) -> Option<(Class, u32)> {
        let targets = self.channels.targets(self.model, channel);
        let mut found = targets.channels.iter();
        match (found.next(), found.next(), targets.nullable) {
            (Some(&only), None, false) if self.channels.sites[only.0].owner.is_none() => {
                Some(self.channels.home(only))
            }
            _ => {
                self.refuse(
                    "a trace watches global channels that are always the same",
                    channel.span,
                    "not plainly one",
                );
                None
            }
        }
    }

    fn refuse(&mut self, message: &str, span: Span, label: &str) {
        let word = if self.trace.negated { "notrace" } else { "trace" };
        let error = Diagnostic::error("unsupported-trace", format!("{message} (`{word}`)"));
        self.errors.push(error.at(span, label));
    }
}

impl Step<'_, '_> {
    /// What a trace waits for in each of its states, in words.
    fn awaited(&self, events: &Events) -> Vec<(NetExpr, String)> {
        let mut states: Vec<i64> = events.edges.iter().map(|edge| edge.from).collect();
        states.sort_unstable();
        states.dedup();
        let is_at = |state| NetExpr::equal(NetExpr::Cell(events.place, Vec::new()), NetExpr::Const(state));
        let words = |state| {
            let edges = events.edges.iter().filter(|edge| edge.from == state);
            let texts: Vec<String> = edges.map(|edge| self.lower.text(edge.span)).collect();
            (is_at(state), format!("the trace waits for {}", texts.join(" or ")))
        };
        let at_end = (is_at(events.end), "the trace is at its end".to_owned());
        let is_left = !states.contains(&events.end);
        states.into_iter().map(words).chain(is_left.then_some(at_end)).collect()
    }

    /// Tells the automaton of a trace that a message is sent, or received.
    pub(super) fn event(&mut self, sends: bool, accesses: &[Access], values: &[NetExpr]) {
        let Some(events) = self.lower.events.clone() else { return };
        let mut watched = NetExpr::Const(0);
        let mut matched = NetExpr::Const(0);
        let mut completed = NetExpr::Const(0);
        let mut next = NetExpr::Const(events.end);
        for access in accesses {
            let edges = events.edges.iter().filter(|edge| edge.sends == sends && edge.class == access.class);
            for edge in edges {
                let at = NetExpr::Const(i64::from(edge.position));
                let size = self.lower.channels.classes[edge.class].size;
                let is_it =
                    if size > 1 { int_op(NetOp::Eq, access.instance.clone(), at) } else { NetExpr::TRUE };
                let is_it = NetExpr::both(access.condition(), is_it);
                watched = NetExpr::either(watched, is_it.clone());
                // Who uses another channel does not look at the trace, so that nobody has to wait for it.
                let when = (is_it != NetExpr::TRUE).then(|| is_it.clone());
                let state = self.load(events.place, Vec::new(), when);
                let from = NetExpr::equal(state, NetExpr::Const(edge.from));
                let mut fits = NetExpr::both(is_it, from);
                for &(number, wanted) in &edge.fields {
                    let value = values.get(number).cloned().unwrap_or(NetExpr::Const(0));
                    let value = self.as_field(access, number, value);
                    fits = NetExpr::both(fits, NetExpr::equal(value, NetExpr::Const(wanted)));
                }
                next = NetExpr::cond(fits.clone(), NetExpr::Const(edge.target), next);
                matched = NetExpr::either(matched, fits.clone());
                if edge.target == events.end {
                    completed = NetExpr::either(completed, fits);
                }
            }
        }
        if watched == NetExpr::Const(0) {
            return;
        }
        let (wrong, words) = if events.negated {
            (completed, "all events of the notrace have happened")
        } else {
            let wrong = NetExpr::both(watched.clone(), NetExpr::logical_not(matched));
            (wrong, "no event of the trace fits")
        };
        self.mismatch = NetExpr::either(self.mismatch.clone(), wrong);
        let further = if events.negated { Vec::new() } else { self.awaited(&events) };
        self.mismatch_words = Some(Deed::Break { text: words.to_owned(), further });
        let when = (watched != NetExpr::TRUE).then_some(watched);
        self.store(events.place, Vec::new(), next, when);
    }
}
