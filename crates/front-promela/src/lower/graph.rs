//! The control states of a proctype, and the steps between them, as SPIN makes them without merging statements.
//!
//! Which control states exist decides how many states a model has, and users know SPIN's numbers. So the way is
//! that of SPIN: every statement becomes an element, compound ones get elements of their own (the choice itself,
//! the point where its options meet, the target of `break`), jumps are followed when the target of a step is
//! looked for, and a choice has the first steps of its options as its own.

use pdnet_base::{IndexVec, index_type};
use pdnet_source::Span;

use crate::tree::{Choice, ExprKind, Label, LabelData, ProcData, Stmt, StmtKind};

index_type! {
    /// An element: a statement, or a point of the control flow.
    pub struct Node = "n";
}

/// What an element is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeKind<'m> {
    /// A statement that is a step.
    Basic(&'m StmtKind),
    /// `else`.
    Else,
    /// A jump to a label.
    Goto(Label),
    /// A jump out of the loop with this number.
    Leave(usize),
    /// Where the options of a choice, or the parts of `unless`, meet.
    Meet,
    /// The target of `break`.
    Exit,
    /// `if` or `do`: the options are the parts.
    Choice,
    /// `{ … }`: one part.
    Block,
    /// `atomic { … }`: one part.
    Atomic,
    /// `d_step { … }`: one part.
    DStep,
    /// `unless`: what is done, then what takes over.
    Unless,
    /// What stands for a sequence without statements.
    Skip,
    /// The end of the process.
    End,
}

/// Elements one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) first: Node,
    /// The last one, also where it was appended later.
    pub(crate) last: Node,
    /// The last one that stands there in the text.
    extent: Node,
}

/// An element.
#[derive(Clone, Debug)]
pub(crate) struct NodeData<'m> {
    pub(crate) kind: NodeKind<'m>,
    pub(crate) span: Span,
    /// What comes after it.
    pub(crate) next: Option<Node>,
    pub(crate) parts: Vec<Part>,
    /// What takes over, of all `unless` around it, the outermost first.
    pub(crate) escapes: Vec<Part>,
    /// Inside of an atomic sequence, and not its last.
    pub(crate) atomic: bool,
    /// The last of an atomic sequence.
    ends_atomic: bool,
    /// Inside of a `d_step`.
    pub(crate) inner: bool,
    pub(crate) labels: Vec<Label>,
    /// The number that SPIN gives to its step in the whole model.
    pub(crate) id: u32,
}

/// One step of a control state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    /// The element that is executed.
    pub(crate) node: Node,
    /// Where it leads; nowhere for the end of the process.
    pub(crate) target: Option<Node>,
    /// The process goes on alone after it.
    pub(crate) atomic: bool,
    /// For a step of an `unless` that takes over: its first element. Of several groups only the first that has an
    /// executable step counts.
    pub(crate) escape: Option<Node>,
}

/// The control flow of a proctype.
#[derive(Clone, Debug)]
pub(crate) struct Graph<'m> {
    pub(crate) shape: Shape<'m>,
    /// Where a process starts.
    pub(crate) start: Node,
    /// The end of the body.
    pub(crate) end: Node,
    /// The steps of each control state, in SPIN's order. Empty for elements that are none.
    pub(crate) moves: IndexVec<Node, Vec<Move>>,
    /// The element of each label.
    pub(crate) labels: IndexVec<Label, Option<Node>>,
    /// Labels of a control state that count as its own: those in front of it, and those in front of options that
    /// lead to it at once.
    pub(crate) marks: IndexVec<Node, Vec<Label>>,
    /// The control states in which a process can be, in order of discovery.
    pub(crate) states: Vec<Node>,
}

impl<'m> Graph<'m> {
    /// The graph of a proctype. `next_id` counts SPIN's elements over all of them.
    pub(crate) fn new(proc: &'m ProcData, next_id: &mut u32) -> Self {
        let body = Body { sequence: &proc.body, labels: &proc.labels, end: proc.end };
        Self::of(body, next_id)
    }

    /// The graph of any sequence of statements with labels.
    pub(crate) fn of(body: Body<'m>, next_id: &mut u32) -> Self {
        let mut maker = Maker {
            shape: Shape {
                nodes: IndexVec::new(),
                labels: IndexVec::filled(None, body.labels.len()),
                exits: Vec::new(),
            },
            open: Vec::new(),
            next_id,
        };
        let mut whole = Open::default();
        maker.sequence(body.sequence, &mut whole);
        let end = maker.new_node(NodeKind::End, body.end);
        maker.append(end, &mut whole);
        let first = whole.first.unwrap_or(end);
        maker.tie(first, end);
        maker.patch_atomic();
        maker.finish(first, end)
    }
}

/// A sequence of statements with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'m> {
    pub(crate) sequence: &'m [Stmt],
    pub(crate) labels: &'m IndexVec<Label, LabelData>,
    /// Its closing brace.
    pub(crate) end: Span,
}

/// A sequence that grows.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    first: Option<Node>,
    last: Option<Node>,
}

impl Open {
    fn close(self) -> Option<Part> {
        Some(Part { first: self.first?, last: self.last?, extent: self.last? })
    }
}

/// The elements and where jumps lead.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'m> {
    pub(crate) nodes: IndexVec<Node, NodeData<'m>>,
    labels: IndexVec<Label, Option<Node>>,
    /// The target of `break` of each loop.
    exits: Vec<Option<Node>>,
}

impl Shape<'_> {
    /// The elements of a part, in order.
    fn elements(&self, first: Node, last: Node) -> Vec<Node> {
        let mut found = vec![first];
        let mut at = first;
        while at != last {
            let Some(next) = self.nodes[at].next else { break };
            found.push(next);
            at = next;
        }
        found
    }

    fn jump_target(&self, node: Node) -> Option<Node> {
        match self.nodes[node].kind {
            NodeKind::Goto(label) => self.labels[label],
            NodeKind::Leave(number) => self.exits.get(number).copied().flatten(),
            _ => None,
        }
    }

    /// The control state at an element: jumps and points where control flows together are none. A step of an atomic
    /// sequence does not look further than to its end.
    fn hunt(&self, from: Node, atomic: bool) -> Node {
        let mut at = from;
        for _ in 0..self.nodes.len() + 1 {
            let data = &self.nodes[at];
            let next = match data.kind {
                NodeKind::Goto(_) | NodeKind::Leave(_) => self.jump_target(at),
                NodeKind::Meet | NodeKind::Exit => data.next,
                NodeKind::Unless => Some(self.hunt(data.parts[0].first, atomic)),
                NodeKind::Basic(_)
                | NodeKind::Else
                | NodeKind::Choice
                | NodeKind::Block
                | NodeKind::Atomic
                | NodeKind::DStep
                | NodeKind::Skip
                | NodeKind::End => return at,
            };
            let Some(next) = next else { return at };
            if atomic && !self.nodes[next].atomic && !matches!(data.kind, NodeKind::Unless) {
                return at;
            }
            at = next;
        }
        at
    }

    /// The first element of a part that can be a step.
    pub(crate) fn hunt_start(&self, from: Node) -> Node {
        let mut at = from;
        for _ in 0..self.nodes.len() + 1 {
            let data = &self.nodes[at];
            at = match (data.kind, data.next) {
                (NodeKind::Meet, Some(next)) => next,
                (NodeKind::Unless, _) => data.parts[0].first,
                _ => return at,
            };
        }
        at
    }

    /// The step of an element that is no choice.
    pub(crate) fn step_of(&self, node: Node) -> Move {
        let data = &self.nodes[node];
        let next = match data.kind {
            NodeKind::Goto(_) | NodeKind::Leave(_) => self.jump_target(node),
            NodeKind::End => None,
            _ => data.next,
        };
        let target = next.map(|next| self.hunt(next, data.atomic));
        Move { node, target, atomic: data.atomic, escape: None }
    }

    /// The elements that a choice leads to at once.
    pub(crate) fn entries(&self, node: Node) -> Option<Vec<Node>> {
        let data = &self.nodes[node];
        let starts = data.parts.iter().map(|part| self.hunt_start(part.first));
        match data.kind {
            NodeKind::Choice => Some(starts.filter(|&start| !self.is_dead(start)).collect()),
            NodeKind::Block | NodeKind::Atomic => Some(starts.collect()),
            _ => None,
        }
    }

    /// Whether an option can never be taken.
    fn is_dead(&self, start: Node) -> bool {
        let data = &self.nodes[start];
        data.escapes.is_empty() && matches!(data.kind, NodeKind::Basic(kind) if is_constant(kind, 0))
    }
}

struct Maker<'m, 'i> {
    shape: Shape<'m>,
    /// The loops around.
    open: Vec<usize>,
    next_id: &'i mut u32,
}

impl<'m> Maker<'m, '_> {
    fn new_node(&mut self, kind: NodeKind<'m>, span: Span) -> Node {
        let id = *self.next_id;
        *self.next_id += 1;
        self.shape.nodes.push(NodeData {
            kind,
            span,
            next: None,
            parts: Vec::new(),
            escapes: Vec::new(),
            atomic: false,
            ends_atomic: false,
            inner: false,
            labels: Vec::new(),
            id,
        })
    }

    fn append(&mut self, node: Node, to: &mut Open) {
        if let Some(last) = to.last {
            self.shape.nodes[last].next = Some(node);
        } else {
            to.first = Some(node);
        }
        to.last = Some(node);
    }

    fn sequence(&mut self, statements: &'m [Stmt], to: &mut Open) {
        statements.iter().for_each(|statement| self.statement(statement, to));
    }

    fn closed(&mut self, statements: &'m [Stmt], span: Span) -> Part {
        let mut open = Open::default();
        self.sequence(statements, &mut open);
        open.close().unwrap_or_else(|| {
            let skip = self.new_node(NodeKind::Skip, span);
            Part { first: skip, last: skip, extent: skip }
        })
    }

    fn statement(&mut self, statement: &'m Stmt, to: &mut Open) {
        let span = statement.span;
        let node = match &statement.kind {
            StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => self.simple(NodeKind::Basic(&statement.kind), statement, to),
            StmtKind::Goto(label) => self.simple(NodeKind::Goto(*label), statement, to),
            StmtKind::Else => self.simple(NodeKind::Else, statement, to),
            StmtKind::Break => {
                let exit = self.open.last().copied().unwrap_or_default();
                self.simple(NodeKind::Leave(exit), statement, to)
            }
            StmtKind::Block(inside) => {
                let part = self.closed(inside, span);
                self.compound(NodeKind::Block, vec![part], statement, to)
            }
            StmtKind::Atomic(inside) => {
                let part = self.closed(inside, span);
                self.make_atomic(part, false);
                self.compound(NodeKind::Atomic, vec![part], statement, to)
            }
            StmtKind::DStep(inside) => {
                let part = self.closed(inside, span);
                self.make_atomic(part, true);
                self.compound(NodeKind::DStep, vec![part], statement, to)
            }
            StmtKind::If(choices) => {
                let parts = self.options(choices);
                let choice = self.new_node(NodeKind::Choice, span);
                let meet = self.new_node(NodeKind::Meet, span);
                self.meet(choice, parts, meet);
                self.append(choice, to);
                self.append(meet, to);
                choice
            }
            StmtKind::Do(choices) => {
                let number = self.shape.exits.len();
                self.shape.exits.push(None);
                self.open.push(number);
                let parts = self.options(choices);
                self.open.pop();
                let choice = self.new_node(NodeKind::Choice, span);
                let meet = self.new_node(NodeKind::Meet, span);
                let exit = self.new_node(NodeKind::Exit, span);
                self.shape.exits[number] = Some(exit);
                self.meet(choice, parts, meet);
                self.append(meet, to);
                self.append(choice, to);
                self.append(exit, to);
                choice
            }
            StmtKind::Unless { main, escape } => {
                let main = self.closed(main, span);
                let escape = self.closed(escape, span);
                let unless = self.new_node(NodeKind::Unless, span);
                let meet = self.new_node(NodeKind::Meet, span);
                self.meet(unless, vec![main, escape], meet);
                let [main, escape] = [self.shape.nodes[unless].parts[0], self.shape.nodes[unless].parts[1]];
                self.attach(main, escape);
                self.append(unless, to);
                self.append(meet, to);
                unless
            }
        };
        for &label in &statement.labels {
            self.shape.labels[label] = Some(node);
            self.shape.nodes[node].labels.push(label);
        }
    }

    /// A statement that is one element.
    fn simple(&mut self, kind: NodeKind<'m>, statement: &'m Stmt, to: &mut Open) -> Node {
        let node = self.new_node(kind, statement.span);
        self.append(node, to);
        node
    }

    fn compound(&mut self, kind: NodeKind<'m>, parts: Vec<Part>, statement: &'m Stmt, to: &mut Open) -> Node {
        let node = self.new_node(kind, statement.span);
        self.shape.nodes[node].parts = parts;
        self.append(node, to);
        node
    }

    /// The options of a choice, that with `else` at the end.
    fn options(&mut self, choices: &'m [Choice]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut otherwise = None;
        for choice in choices {
            let mut open = Open::default();
            if let Some(span) = choice.otherwise {
                let node = self.new_node(NodeKind::Else, span);
                self.append(node, &mut open);
            }
            self.sequence(&choice.body, &mut open);
            let Some(part) = open.close() else { continue };
            if choice.otherwise.is_some() {
                otherwise = Some(part);
            } else {
                parts.push(part);
            }
        }
        parts.extend(otherwise);
        parts
    }

    /// Appends the point where parts meet to each of them.
    fn meet(&mut self, owner: Node, mut parts: Vec<Part>, meet: Node) {
        for part in &mut parts {
            self.shape.nodes[part.last].next = Some(meet);
            part.last = meet;
        }
        self.shape.nodes[owner].parts = parts;
    }

    /// Marks the elements of an atomic sequence.
    fn make_atomic(&mut self, part: Part, inner: bool) {
        self.walk_atomic(part, inner);
        let last = part.last;
        match self.shape.nodes[last].kind {
            NodeKind::Block | NodeKind::Atomic | NodeKind::Unless => {
                let part = self.shape.nodes[last].parts[0];
                self.make_atomic(part, inner);
            }
            _ => {
                self.shape.nodes[last].atomic = false;
                self.shape.nodes[last].ends_atomic = true;
            }
        }
    }

    fn walk_atomic(&mut self, part: Part, inner: bool) {
        for node in self.shape.elements(part.first, part.last) {
            self.shape.nodes[node].atomic = true;
            self.shape.nodes[node].inner |= inner;
            match self.shape.nodes[node].kind {
                NodeKind::Atomic => self.shape.nodes[node].kind = NodeKind::Block,
                NodeKind::DStep if inner => self.shape.nodes[node].kind = NodeKind::Block,
                // Its elements are marked already.
                NodeKind::DStep => continue,
                _ => {}
            }
            for part in self.shape.nodes[node].parts.clone() {
                self.walk_atomic(part, inner);
            }
        }
    }

    /// Lets every control state of `main` have an escape.
    fn attach(&mut self, main: Part, escape: Part) {
        for node in self.shape.elements(main.first, main.extent) {
            self.attach_to(node, escape);
        }
    }

    fn attach_to(&mut self, node: Node, escape: Part) {
        if self.shape.nodes[node].escapes.iter().any(|part| part.first == escape.first) {
            return;
        }
        for inner in self.shape.nodes[node].escapes.clone() {
            self.attach(inner, escape);
        }
        self.shape.nodes[node].escapes.insert(0, escape);
        let parts = self.shape.nodes[node].parts.clone();
        match self.shape.nodes[node].kind {
            NodeKind::Unless => self.attach(parts[0], escape),
            NodeKind::DStep => self.attach_to(parts[0].first, escape),
            _ => parts.into_iter().for_each(|part| self.attach(part, escape)),
        }
    }

    /// Lets the last element of each block be followed by what follows the block.
    fn tie(&mut self, first: Node, last: Node) {
        for node in self.shape.elements(first, last) {
            let is_block =
                matches!(self.shape.nodes[node].kind, NodeKind::Block | NodeKind::Atomic | NodeKind::DStep);
            for part in self.shape.nodes[node].parts.clone() {
                if is_block {
                    self.shape.nodes[part.last].next = self.shape.nodes[node].next;
                }
                self.tie(part.first, part.last);
            }
        }
    }

    /// Jumps out of atomic sequences end them; jumps from one into another do not.
    fn patch_atomic(&mut self) {
        let nodes: Vec<Node> = self.shape.nodes.indices().collect();
        for node in nodes {
            let Some(target) = self.shape.jump_target(node) else { continue };
            let to = &self.shape.nodes[target];
            let to_atomic = to.atomic || to.ends_atomic;
            let data = &mut self.shape.nodes[node];
            if (data.atomic || data.ends_atomic) && !to_atomic {
                (data.atomic, data.ends_atomic) = (false, true);
            }
            if data.ends_atomic && to_atomic {
                (data.atomic, data.ends_atomic) = (true, false);
            }
        }
    }

    /// The steps of a control state, without what takes over. Labels in front of options go to where the options lead.
    fn steps(&self, node: Node, marks: &mut IndexVec<Node, Vec<Label>>, carried: &[Label]) -> Vec<Move> {
        let Some(entries) = self.shape.entries(node) else {
            let step = self.shape.step_of(node);
            if let Some(target) = step.target {
                for &label in carried {
                    if !marks[target].contains(&label) {
                        marks[target].push(label);
                    }
                }
            }
            return vec![step];
        };
        let mut found = Vec::new();
        for entry in entries {
            let mut labels = carried.to_vec();
            labels.extend(&self.shape.nodes[entry].labels);
            found.extend(self.steps(entry, marks, &labels));
        }
        found
    }

    fn finish(self, first: Node, end: Node) -> Graph<'m> {
        let labels_of: Vec<Vec<Label>> = self.shape.nodes.iter().map(|data| data.labels.clone()).collect();
        let mut marks: IndexVec<Node, Vec<Label>> = labels_of.into();
        let plain: Vec<Vec<Move>> = self
            .shape
            .nodes
            .indices()
            .map(|node| match self.shape.nodes[node].kind {
                NodeKind::Unless => Vec::new(),
                _ => self.steps(node, &mut marks, &[]),
            })
            .collect();
        let plain: IndexVec<Node, Vec<Move>> = plain.into();
        let mut moves = plain.clone();
        for node in self.shape.nodes.indices().filter(|&node| !self.shape.nodes[node].inner) {
            for step in &plain[node] {
                let data = &self.shape.nodes[step.node];
                if matches!(data.kind, NodeKind::Meet) {
                    continue;
                }
                for escape in data.escapes.iter().rev() {
                    let target = self.shape.hunt(escape.first, data.atomic);
                    for taken in &plain[target] {
                        if !moves[node].iter().any(|other| other.node == taken.node) {
                            moves[node].insert(0, Move { escape: Some(target), ..*taken });
                        }
                    }
                }
            }
        }
        let start = self.shape.hunt(first, self.shape.nodes[first].atomic);
        let mut states = vec![start];
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            at += 1;
            for step in &moves[state] {
                if let Some(target) = step.target.filter(|target| !states.contains(target)) {
                    states.push(target);
                }
            }
        }
        // A label of `unless` stands in front of what it does.
        let labels: Vec<Option<Node>> =
            self.shape.labels.iter().map(|node| node.map(|node| self.shape.hunt(node, false))).collect();
        Graph { shape: self.shape, start, end, moves, labels: labels.into(), marks, states }
    }
}

/// Whether a statement is a condition that is this constant.
fn is_constant(kind: &StmtKind, value: i64) -> bool {
    matches!(kind, StmtKind::Condition(expr) if matches!(expr.kind, ExprKind::Const(found) if found == value))
}
