//! What people read of a net: its steps in the words of the model.
//!
//! A step notes what its statements do while it is made. Nothing here adds an arc: what a legend says must not change
//! what a step depends on.

use std::collections::BTreeMap;

use pdnet_net::legend::{
    CellWords, Deed, EndWords, Legend, Message, Need, Notation, QueueWords, Seen, StateWords, StatementWords,
    StepWords, VariableWords, WaitWords, Worded, element_indices, with_indices,
};
use pdnet_net::{Expr as NetExpr, Place as NetPlace, Transition};

use super::channels::{Class, cell_type};
use super::graph::{Node, NodeKind};
use super::step::Step;
use super::value::{Access, choose, plus};
use super::{Home, Lower};
use crate::tree::{Expr, ExprKind, Place, Proc, Scope, StmtKind, Type};
use crate::walk::walk;

/// How values of a type are written.
pub(super) const fn notation(ty: Type) -> Notation {
    match ty {
        Type::Bool => Notation::Truth,
        Type::Mtype(set) => Notation::Symbol(set),
        Type::Chan => Notation::Channel,
        Type::Bit | Type::Byte | Type::Pid | Type::Short | Type::Int | Type::Unsigned(_) => Notation::Number,
    }
}

impl<'m> Step<'_, 'm> {
    /// Notes that a variable gets a value. Its indices have been looked at before, so that they need no new arc.
    pub(super) fn note_assign(&mut self, place: &'m Place, value: &NetExpr) {
        let data = &self.lower.model.vars[place.var];
        let indices =
            self.without_faults(|step| place.indices.iter().map(|index| step.peek(index)).collect());
        let owner = matches!(data.scope, Scope::Local(_)).then(|| self.actor.thread.clone());
        let ty = cell_type(data.ty, !data.dims.is_empty(), self.lower.channels.id_type());
        let value = Worded { value: NetExpr::convert(ty, value.clone()), notation: notation(data.ty) };
        let cell = CellWords { name: data.name.clone(), indices, owner };
        self.deeds.push(Deed::Assign { cell, value });
    }

    /// A message in one of these channels.
    pub(super) fn message(&self, accesses: &[Access], values: &[NetExpr]) -> Message {
        let number = |access: &Access| (access.condition(), self.channel_number(access));
        let channel = match accesses {
            [only] => self.channel_number(only),
            several => choose(several.iter().map(number).collect()),
        };
        let first = accesses.first().map(|access| &self.lower.channels.classes[access.class].ty.fields);
        let fields = values.iter().enumerate().map(|(number, value)| {
            let ty = first.and_then(|fields| fields.get(number)).copied();
            let cut = |access: &Access| (access.condition(), self.as_field(access, number, value.clone()));
            let value = match accesses {
                [only] => self.as_field(only, number, value.clone()),
                several => choose(several.iter().map(cut).collect()),
            };
            Worded { value, notation: ty.map_or(Notation::Number, notation) }
        });
        Message { channel, fields: fields.collect() }
    }

    /// Notes that a process is started.
    pub(super) fn note_start(&mut self, proc: Proc, thread: &NetExpr, values: &[NetExpr]) {
        let data = &self.lower.model.procs[proc];
        let arguments = data.params.iter().zip(values).map(|(&param, value)| {
            let param = &self.lower.model.vars[param];
            let ty = cell_type(param.ty, false, self.lower.channels.id_type());
            let value = NetExpr::convert(ty, value.clone());
            (param.name.clone(), Worded { value, notation: notation(param.ty) })
        });
        let arguments = arguments.collect();
        self.deeds.push(Deed::Start { name: data.name.clone(), thread: thread.clone(), arguments });
    }

    /// Notes that something is printed.
    pub(super) fn note_print(&mut self, format: &str, args: &'m [Expr]) {
        let values = args.iter().map(|arg| {
            let notation = if self.is_lost(arg) { Notation::Lost } else { self.notation_of(arg) };
            Worded { value: self.peek(arg), notation }
        });
        let values = values.collect();
        self.deeds.push(Deed::Print { format: format.to_owned(), values });
    }

    /// Whether a value rests on a variable that the net does not keep.
    pub(super) fn is_lost(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk(expr, &mut |inner| {
            if let ExprKind::Load(place) = &inner.kind {
                found |= matches!(self.lower.homes[place.var], Home::Nowhere);
            }
        });
        found
    }

    fn notation_of(&self, expr: &Expr) -> Notation {
        match &expr.kind {
            ExprKind::Load(place) => notation(self.lower.model.vars[place.var].ty),
            // A constant of a set without a name, which most models have only.
            ExprKind::Const(_) if self.lower.model.mtypes.len() == 1 => Notation::Symbol(0),
            _ => Notation::Number,
        }
    }

    /// The value of an expression as this step sees it, without an arc for what nothing else reads: that is looked up in
    /// the marking before the step.
    fn peek(&self, expr: &'m Expr) -> NetExpr {
        let mut probe = self.clone();
        let value = probe.value(expr);
        probe.without_new_reads(self, &value)
    }
}

impl Lower<'_> {
    /// The legend of the finished net, whose steps are given.
    pub(super) fn legend(&self, steps: Vec<StepWords>) -> Legend {
        let mut legend = Legend {
            steps: steps.into(),
            symbols: self.symbols(),
            channels: self.channel_names(),
            queues: self.queues(),
            open_trace: self.events.as_ref().map(|events| self.ends_early(events)),
            ..Legend::default()
        };
        for (var, data) in self.model.vars.iter_enumerated() {
            let (cells, per_process) = match self.homes[var] {
                Home::Cells(cells) => (cells, None),
                Home::Shared(cells) => (cells, self.owner_name(data.scope).map(Seen::Variable)),
                Home::Channel(_) | Home::Nowhere => continue,
            };
            let (name, dims) = (data.name.clone(), data.dims.clone());
            let words = VariableWords { name, dims, notation: notation(data.ty), per_process };
            legend.variables.insert(cells, words);
        }
        let counted = [(Some(self.count), "_nr_pr"), (self.last, "_last")];
        for (place, name) in counted {
            let words = VariableWords {
                name: name.to_owned(),
                dims: Vec::new(),
                notation: Notation::Number,
                per_process: None,
            };
            legend.variables.extend(place.map(|place| (place, words)));
        }
        legend.variables.extend(self.window_words());
        legend.statements = self.statement_words();
        let mut leaving: BTreeMap<NetPlace, Vec<Transition>> = BTreeMap::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            if let Some(source) = data.source().filter(|_| legend.steps[transition].partner.is_none()) {
                leaving.entry(source).or_default().push(transition);
            }
        }
        for (proc, places) in self.places.iter_enumerated() {
            for (&node, &place) in places {
                let alone = leaving.get(&place).map_or(&[][..], Vec::as_slice);
                let words = self.state_words(proc, node, alone, &legend);
                legend.states.insert(place, words);
            }
        }
        legend
    }

    /// The proctype that a variable belongs to.
    fn owner_name(&self, scope: Scope) -> Option<String> {
        match scope {
            Scope::Global => None,
            Scope::Local(proc) => Some(self.model.procs[proc].name.clone()),
        }
    }

    /// All statements of all proctypes, in the order of the text, and the ends of the proctypes.
    fn statement_words(&self) -> Vec<StatementWords> {
        let mut steps: BTreeMap<u32, Vec<Transition>> = BTreeMap::new();
        for (transition, ids) in self.net.transitions.indices().zip(&self.executed) {
            for &id in ids {
                steps.entry(id).or_default().push(transition);
            }
        }
        let mut found = Vec::new();
        for (proc, graph) in self.graphs.iter_enumerated() {
            let first = found.len();
            for data in graph.shape.nodes.iter() {
                let text = match data.kind {
                    NodeKind::Basic(_) | NodeKind::Else => self.text(data.span),
                    NodeKind::End => self.end_label(proc),
                    NodeKind::Goto(_)
                    | NodeKind::Leave(_)
                    | NodeKind::Meet
                    | NodeKind::Exit
                    | NodeKind::Choice
                    | NodeKind::Block
                    | NodeKind::Atomic
                    | NodeKind::DStep
                    | NodeKind::Unless
                    | NodeKind::Skip => continue,
                };
                found.push(StatementWords {
                    process: self.model.procs[proc].name.clone(),
                    text,
                    pos: self.pos(data.span),
                    steps: steps.get(&data.id).cloned().unwrap_or_default(),
                });
            }
            // An inline has its place elsewhere; the order of the text is kept inside of it.
            found[first..].sort_by_key(|statement| statement.pos.map(|pos| (pos.file, pos.line, pos.column)));
        }
        found
    }

    fn symbols(&self) -> Vec<BTreeMap<i64, String>> {
        let sets = self.model.mtypes.iter();
        sets.map(|set| set.constants.iter().map(|(name, value)| (*value, name.clone())).collect()).collect()
    }

    /// The names of all channels.
    fn channel_names(&self) -> BTreeMap<i64, String> {
        let mut names = BTreeMap::new();
        for (site, data) in self.channels.sites.iter_enumerated() {
            let var = &self.model.vars[data.var];
            for element in 0..data.count {
                let indices = element_indices(&var.dims, element.into());
                let name = with_indices(&var.name, &indices);
                let (class, first) = self.channels.home((site, element));
                let base = self.channels.classes[class].base;
                match data.owner {
                    None => drop(names.insert(base + i64::from(first), name)),
                    Some(owner) => {
                        let proc = &self.model.procs[owner].name;
                        for pid in 0..self.max_processes {
                            let number = base + i64::from(first + pid * data.count);
                            names.insert(number, format!("{proc}[{pid}]:{name}"));
                        }
                    }
                }
            }
        }
        names
    }

    fn queues(&self) -> Vec<QueueWords> {
        let queue = |class: Class| {
            let data = &self.channels.classes[class];
            let notations = data.ty.fields.iter().map(|&ty| notation(ty));
            Some(QueueWords {
                first: data.base,
                size: data.size,
                capacity: data.ty.capacity,
                len: data.len?,
                fields: data.fields.iter().copied().zip(notations).collect(),
            })
        };
        self.channels.classes.indices().filter_map(queue).collect()
    }

    /// A control state, with the steps that a process takes alone from there.
    fn state_words(&self, proc: Proc, node: Node, alone: &[Transition], legend: &Legend) -> StateWords {
        let graph = &self.graphs[proc];
        let end = if node == graph.end {
            EndWords::Body
        } else {
            let labels = &self.model.procs[proc].labels;
            let mut marks = graph.marks[node].iter().map(|&label| &labels[label].name);
            marks
                .find(|name| name.starts_with("end"))
                .map_or(EndWords::Invalid, |name| EndWords::Label(name.clone()))
        };
        let mut waits: Vec<WaitWords> = Vec::new();
        for step in &graph.moves[node] {
            let data = &graph.shape.nodes[step.node];
            let text = match data.kind {
                NodeKind::End => self.end_label(proc),
                _ => self.text(data.span),
            };
            let needs = self.need(data.kind);
            // Statements that come from one macro stand at one place.
            let pos = self.pos(data.span);
            let is_step = |transition: &&Transition| {
                let is_same = matches!(data.kind, NodeKind::DStep) || legend.steps[**transition].text == text;
                is_same && self.net.transitions[**transition].pos == pos
            };
            let steps = alone.iter().filter(is_step).copied().collect();
            waits.push(WaitWords { text, needs, steps });
        }
        StateWords { end, waits }
    }

    fn need(&self, kind: NodeKind<'_>) -> Need {
        let meets = |channel: &Expr| {
            let targets = self.channels.targets(self.model, channel);
            let mut capacities =
                targets.channels.iter().map(|&(site, _)| self.channels.sites[site].ty.capacity);
            !targets.channels.is_empty() && capacities.all(|capacity| capacity == 0)
        };
        match kind {
            NodeKind::Basic(StmtKind::Send { channel, .. }) if meets(channel) => Need::Receiver,
            NodeKind::Basic(StmtKind::Send { .. }) => Need::Room,
            NodeKind::Basic(StmtKind::Receive { channel, .. }) if meets(channel) => Need::Sender,
            NodeKind::Basic(StmtKind::Receive { .. }) => Need::Message,
            NodeKind::End => Need::Youngest,
            NodeKind::Basic(_)
            | NodeKind::Else
            | NodeKind::Goto(_)
            | NodeKind::Leave(_)
            | NodeKind::Meet
            | NodeKind::Exit
            | NodeKind::Choice
            | NodeKind::Block
            | NodeKind::Atomic
            | NodeKind::DStep
            | NodeKind::Unless
            | NodeKind::Skip => Need::Condition,
        }
    }
}

impl Step<'_, '_> {
    /// The number of a channel.
    pub(super) fn channel_number(&self, access: &Access) -> NetExpr {
        let base = self.lower.channels.classes[access.class].base;
        plus(access.instance.clone(), NetExpr::Const(base))
    }
}
