//! What can be seen of channels: who receives from them, who sends to them, and whether there is always room.
//!
//! The paper has the user mark a channel as read by one process alone (`xr`) and as having a sufficient capacity
//! (Section 3.2, "i0 is not a guard", 3). The first is found where one process alone, of a proctype that runs once,
//! receives from a channel; the second where all sends of the model together are no more than the capacity.

use std::slice::from_ref;

use pdnet_base::{FxHashMap, IndexVec};

use super::facts::{each_outside_expr, each_repeated, has_jumps, instances, is_single};
use crate::tree::{
    Choice, Exclusive, ExclusiveKind, Expr, ExprKind, Init, LtlBlock, Model, Proc, Scope, Stmt, StmtKind,
    Type, Var,
};
use crate::walk::{each_expr, walk_statements, written};

/// What is known about one declared channel, or array of channels.
#[derive(Clone, Debug, Default)]
pub(super) struct ChannelFacts {
    /// The proctypes that receive from it.
    pub(super) receivers: Vec<Proc>,
    /// The proctypes that send to it.
    pub(super) senders: Vec<Proc>,
    /// Somebody asks for its length, or polls it.
    polled: bool,
    /// A message may be put before others.
    sorted: bool,
    /// An `else` or an `unless` reacts to a message that can be received.
    awaited: bool,
    /// No more messages than this are ever sent; `None` where no bound is seen.
    n_sends: Option<u64>,
}

/// What is known about all channels.
#[derive(Debug)]
pub(super) struct Channels {
    /// Some channel has no room at all: messages are handed over.
    any_rendezvous: bool,
    /// An `else` stands beside a send or receive that may be a rendezvous: it can tell where others stand.
    pub(super) else_beside_rendezvous: bool,
    /// It is known of every use of a channel which one it is.
    all_known: bool,
    /// There are `trace` or `notrace` blocks, which see the order of messages.
    traced: bool,
    facts: FxHashMap<Var, ChannelFacts>,
    /// The channels that a parameter may be.
    parameters: FxHashMap<Var, Vec<Var>>,
}

impl Channels {
    pub(super) fn new(model: &Model, formulas: &[&LtlBlock]) -> Self {
        let mut channels = Self {
            any_rendezvous: false,
            else_beside_rendezvous: false,
            all_known: true,
            traced: !model.traces.is_empty(),
            facts: FxHashMap::default(),
            parameters: FxHashMap::default(),
        };
        for (var, data) in model.vars.iter_enumerated() {
            if let Init::Channel(ty) = &data.init {
                channels.any_rendezvous |= ty.capacity == 0;
                // A channel that travels may be anywhere.
                channels.all_known &= !ty.fields.contains(&Type::Chan);
                channels.facts.insert(var, ChannelFacts { n_sends: Some(0), ..ChannelFacts::default() });
            }
        }
        for data in &model.procs {
            walk_statements(&data.body, &mut |stmt| {
                channels.all_known &=
                    written(&stmt.kind).iter().all(|place| model.vars[place.var].ty != Type::Chan);
            });
        }
        channels.bind_parameters(model);
        channels.find_uses(model);
        each_outside_expr(model, formulas, &mut |expr| channels.find_polls(expr));
        channels
    }

    /// Follows the arguments of `run` until nothing is new.
    fn bind_parameters(&mut self, model: &Model) {
        loop {
            let mut changed = false;
            for data in &model.procs {
                walk_statements(&data.body, &mut |stmt| {
                    each_expr(stmt, &mut |expr| {
                        let ExprKind::Run(started, args) = &expr.kind else { return };
                        for (&param, arg) in model.procs[*started].params.iter().zip(args) {
                            if model.vars[param].ty != Type::Chan {
                                continue;
                            }
                            let known = self.possible(arg);
                            let list = self.parameters.entry(param).or_default();
                            for var in known {
                                if !list.contains(&var) {
                                    list.push(var);
                                    changed = true;
                                }
                            }
                        }
                    });
                });
            }
            if !changed {
                return;
            }
        }
    }

    /// The declared channels that an expression may be; none where they are not known.
    fn possible(&self, expr: &Expr) -> Vec<Var> {
        let ExprKind::Load(place) = &expr.kind else { return Vec::new() };
        if self.facts.contains_key(&place.var) {
            return vec![place.var];
        }
        self.parameters.get(&place.var).cloned().unwrap_or_default()
    }

    fn find_uses(&mut self, model: &Model) {
        let counts: IndexVec<Proc, Option<u64>> =
            model.procs.indices().map(|proc| instances(model, proc, model.procs.len())).collect();
        for (proc, data) in model.procs.iter_enumerated() {
            each_repeated(&data.body, has_jumps(&data.body), &mut |stmt, repeated| {
                each_expr(stmt, &mut |expr| self.find_polls(expr));
                match &stmt.kind {
                    StmtKind::Send { channel, sorted, .. } => self.each(channel, |facts| {
                        facts.senders.push(proc);
                        facts.sorted |= sorted;
                        let more = counts[proc].filter(|_| !repeated);
                        facts.n_sends = facts.n_sends.zip(more).map(|(sum, n)| sum + n);
                    }),
                    StmtKind::Receive { channel, .. } => {
                        self.each(channel, |facts| facts.receivers.push(proc));
                    }
                    StmtKind::If(choices) | StmtKind::Do(choices)
                        if choices.iter().any(|choice| choice.otherwise.is_some() || begins_else(choice)) =>
                    {
                        for guard in choices.iter().filter_map(|choice| choice.body.first()) {
                            self.find_awaited(guard);
                        }
                    }
                    StmtKind::Unless { escape, .. } => {
                        if let Some(guard) = escape.first() {
                            self.find_awaited(guard);
                        }
                    }
                    StmtKind::If(_)
                    | StmtKind::Do(_)
                    | StmtKind::Condition(_)
                    | StmtKind::Assign(..)
                    | StmtKind::Block(_)
                    | StmtKind::Atomic(_)
                    | StmtKind::DStep(_)
                    | StmtKind::Goto(_)
                    | StmtKind::Break
                    | StmtKind::Else
                    | StmtKind::Assert(_)
                    | StmtKind::Print { .. } => {}
                }
            });
        }
    }

    /// A guard that an `else` or an `unless` looks at.
    fn find_awaited(&mut self, guard: &Stmt) {
        let mut found: Vec<&Expr> = Vec::new();
        walk_statements(from_ref(guard), &mut |stmt| match &stmt.kind {
            StmtKind::Send { channel, .. } | StmtKind::Receive { channel, .. } => found.push(channel),
            StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => {}
        });
        for channel in found {
            self.else_beside_rendezvous |= self.any_rendezvous;
            self.each(channel, |facts| facts.awaited = true);
        }
    }

    fn find_polls(&mut self, expr: &Expr) {
        if let ExprKind::Query(_, channel) | ExprKind::Poll { channel, .. } = &expr.kind {
            self.each(channel, |facts| facts.polled = true);
        }
    }

    fn each(&mut self, channel: &Expr, change: impl Fn(&mut ChannelFacts)) {
        let possible = self.possible(channel);
        self.all_known &= !possible.is_empty();
        for var in possible {
            if let Some(facts) = self.facts.get_mut(&var) {
                change(facts);
            }
        }
    }

    /// Whether a send may be a rendezvous, after which SPIN passes the privilege on to the receiver.
    pub(super) fn may_be_rendezvous(&self, model: &Model, channel: &Expr) -> bool {
        if !self.any_rendezvous {
            return false;
        }
        let possible = self.possible(channel);
        !self.all_known
            || possible.is_empty()
            || possible.iter().any(|&var| match &model.vars[var].init {
                Init::Channel(ty) => ty.capacity == 0,
                Init::Zero | Init::Value(_) | Init::List(_) => true,
            })
    }

    /// Whether a receive may be put off: no other process receives from the channel, nobody can be waiting for room,
    /// and nobody asks how full it is.
    pub(super) fn receive_may_wait(&self, model: &Model, proc: Proc, channel: &Expr) -> bool {
        let quiet = self.quiet(model, channel).is_ok();
        quiet && self.is_exclusive(model, proc, channel, ExclusiveKind::Receive)
    }

    /// Whether a send may come early, and if not, why.
    pub(super) fn send_may_advance(&self, model: &Model, proc: Proc, channel: &Expr) -> Result<(), String> {
        if !self.is_exclusive(model, proc, channel, ExclusiveKind::Send) {
            return Err("another process may send to the channel".to_owned());
        }
        self.quiet(model, channel)
    }

    /// There is always room, and nobody looks.
    fn quiet(&self, model: &Model, channel: &Expr) -> Result<(), String> {
        let possible = self.possible(channel);
        if !self.all_known || possible.is_empty() || self.traced {
            return Err("it is not known who uses the channel".to_owned());
        }
        for var in possible {
            let facts = &self.facts[&var];
            let Init::Channel(ty) = &model.vars[var].init else {
                return Err("it is not known which channel it is".to_owned());
            };
            if ty.capacity == 0 || facts.n_sends.is_none_or(|n| n > u64::from(ty.capacity)) {
                return Err("the channel may be full".to_owned());
            }
            if facts.polled || facts.sorted || facts.awaited {
                return Err("somebody looks at the channel".to_owned());
            }
        }
        Ok(())
    }

    fn is_exclusive(&self, model: &Model, proc: Proc, channel: &Expr, kind: ExclusiveKind) -> bool {
        let ExprKind::Load(place) = &channel.kind else { return false };
        let said = |exclusive: &Exclusive| exclusive.kind == kind && exclusive.place.var == place.var;
        if model.procs[proc].exclusive.iter().any(said) {
            return true;
        }
        self.only_user(model, place.var, kind) == Some(proc)
    }

    /// The only process that receives from a channel or sends to it, where there is one.
    fn only_user(&self, model: &Model, var: Var, kind: ExclusiveKind) -> Option<Proc> {
        let facts = self.facts.get(&var).filter(|_| self.all_known)?;
        let users = match kind {
            ExclusiveKind::Receive => &facts.receivers,
            ExclusiveKind::Send => &facts.senders,
        };
        let (&first, rest) = users.split_first()?;
        (rest.iter().all(|&user| user == first) && is_single(model, first)).then_some(first)
    }

    /// What can be said with `xr` and `xs`: a global channel by its own name, one process, nobody who polls, and not said
    /// yet.
    pub(super) fn promises(&self, model: &Model) -> Vec<(Proc, ExclusiveKind, Var)> {
        let mut found = Vec::new();
        for (var, data) in model.vars.iter_enumerated() {
            let Some(facts) = self.facts.get(&var) else { continue };
            let buffered = matches!(&data.init, Init::Channel(ty) if ty.capacity > 0);
            let passed_on = self.parameters.values().any(|list| list.contains(&var));
            let plain = data.dims.is_empty() && data.scope == Scope::Global && !data.name.contains('.');
            if !buffered || !plain || facts.polled || passed_on {
                continue;
            }
            for kind in [ExclusiveKind::Receive, ExclusiveKind::Send] {
                let Some(proc) = self.only_user(model, var, kind) else { continue };
                let said = model.procs[proc]
                    .exclusive
                    .iter()
                    .any(|exclusive| exclusive.kind == kind && exclusive.place.var == var);
                if !said {
                    found.push((proc, kind, var));
                }
            }
        }
        found
    }

    /// The channels that always have room, with the number of messages and the capacity.
    pub(super) fn roomy(&self, model: &Model) -> Vec<(Var, u64, u32)> {
        let vars = model.vars.iter_enumerated();
        vars.filter_map(|(var, data)| {
            let Init::Channel(ty) = &data.init else { return None };
            let n_sends = self.facts.get(&var).filter(|_| self.all_known)?.n_sends?;
            (data.dims.is_empty() && n_sends > 0 && n_sends <= u64::from(ty.capacity)).then_some((
                var,
                n_sends,
                ty.capacity,
            ))
        })
        .collect()
    }
}

fn begins_else(choice: &Choice) -> bool {
    let mut found = false;
    if let Some(first) = choice.body.first() {
        walk_statements(from_ref(first), &mut |stmt| found |= matches!(stmt.kind, StmtKind::Else));
    }
    found
}
