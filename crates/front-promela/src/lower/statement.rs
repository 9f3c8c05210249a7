//! Statements as steps: when they can be executed, and what they do.

use pdnet_net::legend::Deed;
use pdnet_net::{BinaryOp as NetOp, Expr as NetExpr};

use super::channels::field_type;
use super::graph::{Node, NodeKind};
use super::step::{Step, int_op};
use super::value::{Access, field_key, len_key};
use crate::tree::{Expr, ExprKind, ReceiveArg, StmtKind};

/// When a statement can be executed.
#[derive(Clone, Debug)]
pub(super) struct Executable {
    /// The condition on the marking.
    pub(super) condition: NetExpr,
    /// It may also be able to send by rendezvous, which depends on what other processes are about to do.
    pub(super) may_meet: bool,
}

impl Executable {
    const ALWAYS: Self = Self { condition: NetExpr::TRUE, may_meet: false };
}

impl<'m> Step<'_, 'm> {
    /// When an element can be executed. A receive by rendezvous counts for nothing: as in SPIN, it is the sender's step.
    /// What goes wrong in finding it out is left to the element's own step.
    pub(super) fn executable(&mut self, node: Node) -> Executable {
        let graph = &self.lower.graphs[self.actor.proc];
        match graph.shape.nodes[node].kind {
            NodeKind::Basic(statement) => self.without_faults(|step| step.statement_executable(statement)),
            NodeKind::DStep => {
                let entry = graph.shape.hunt_start(graph.shape.nodes[node].parts[0].first);
                let mut all = Executable { condition: NetExpr::Const(0), may_meet: false };
                for step in &graph.moves[entry] {
                    let one = self.executable(step.node);
                    all.condition = NetExpr::either(all.condition, one.condition);
                    all.may_meet |= one.may_meet;
                }
                all
            }
            NodeKind::End => Executable { condition: self.is_youngest(), may_meet: false },
            NodeKind::Else
            | NodeKind::Goto(_)
            | NodeKind::Leave(_)
            | NodeKind::Meet
            | NodeKind::Exit
            | NodeKind::Choice
            | NodeKind::Block
            | NodeKind::Atomic
            | NodeKind::Unless
            | NodeKind::Skip => Executable::ALWAYS,
        }
    }

    /// Only the youngest process can end.
    pub(super) fn is_youngest(&mut self) -> NetExpr {
        let count = self.load(self.lower.count, Vec::new(), None);
        let next = int_op(NetOp::Add, self.actor.thread.clone(), NetExpr::Const(1));
        int_op(NetOp::Eq, next, count)
    }

    fn statement_executable(&mut self, statement: &'m StmtKind) -> Executable {
        match statement {
            StmtKind::Condition(expr) if is_run(expr) => Executable::ALWAYS,
            StmtKind::Condition(expr) => {
                Executable { condition: NetExpr::truth(self.value(expr)), may_meet: false }
            }
            StmtKind::Send { channel, .. } => {
                let accesses = self.accesses(channel);
                let may_meet = accesses.iter().any(|access| self.capacity(access) == 0);
                let condition = self.can_send(&accesses);
                Executable { condition, may_meet }
            }
            StmtKind::Receive { channel, args, random, .. } => {
                let accesses = self.accesses(channel);
                let mut condition = NetExpr::Const(0);
                for access in accesses.iter().filter(|access| self.capacity(access) > 0).collect::<Vec<_>>() {
                    let can = self.can_receive(access, args, *random);
                    condition = NetExpr::either(condition, NetExpr::both(access.condition(), can));
                }
                Executable { condition, may_meet: false }
            }
            StmtKind::Assign(..)
            | StmtKind::Assert(_)
            | StmtKind::Print { .. }
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Else
            | StmtKind::Break => Executable::ALWAYS,
        }
    }

    /// How many messages a channel holds.
    pub(super) fn capacity(&self, access: &Access) -> u32 {
        self.lower.channels.classes[access.class].ty.capacity
    }

    /// Does a statement: makes its condition a part of the guard, and its effects arcs. Rendezvous is done elsewhere; a
    /// statement that can do nothing else has a guard that is never true.
    pub(super) fn execute(&mut self, statement: &'m StmtKind) {
        match statement {
            StmtKind::Condition(expr) => {
                let value = self.value(expr);
                if !is_run(expr) {
                    self.require(NetExpr::truth(value));
                }
            }
            StmtKind::Assign(place, value) => {
                let number = self.value(value);
                self.assign(place, number);
                // Only an increment of a variable that nobody reads: which number it makes is not known.
                if self.is_lost(value) {
                    self.deeds.pop();
                }
            }
            StmtKind::Send { channel, args, sorted } => {
                let accesses = self.accesses(channel);
                self.send(&accesses, args, *sorted);
            }
            StmtKind::Receive { channel, args, random, keep } => {
                let accesses = self.accesses(channel);
                self.receive(&accesses, args, *random, *keep);
            }
            StmtKind::Assert(expr) => {
                let value = self.value(expr);
                self.require(NetExpr::truth(value));
            }
            StmtKind::Print { format, args } => self.note_print(format, args),
            StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Else
            | StmtKind::Break => {}
        }
    }

    /// Whether one of the buffers has room.
    fn can_send(&mut self, accesses: &[Access]) -> NetExpr {
        let mut can = NetExpr::Const(0);
        for access in accesses {
            let capacity = self.capacity(access);
            if capacity > 0 {
                let len = self.len(access);
                let has_room = int_op(NetOp::Lt, len, NetExpr::Const(i64::from(capacity)));
                can = NetExpr::either(can, NetExpr::both(access.condition(), has_room));
            }
        }
        can
    }

    fn send(&mut self, accesses: &[Access], args: &'m [Expr], sorted: bool) {
        let can = self.can_send(accesses);
        self.require(can.clone());
        let values: Vec<NetExpr> = self.under(can, |step| args.iter().map(|arg| step.value(arg)).collect());
        let buffers = self.buffers(accesses);
        let message = self.message(&buffers, &values);
        self.deeds.push(Deed::Send(message));
        self.event(true, &buffers, &values);
        for access in accesses {
            let data = self.lower.channels.classes[access.class].clone();
            let Some(len_place) = data.len else { continue };
            let len = self.len(access);
            let capacity = data.ty.capacity;
            let value_of = |number: usize| values.get(number).cloned().unwrap_or(NetExpr::Const(0));
            if sorted {
                self.insert(access, &values, &len);
            } else {
                for (number, &place) in data.fields.iter().enumerate() {
                    let key = field_key(data.size, capacity, access, len.clone());
                    self.store(place, key, value_of(number), access.when.clone());
                }
            }
            let longer = int_op(NetOp::Add, len, NetExpr::Const(1));
            self.store(len_place, len_key(data.size, access), longer, access.when.clone());
        }
    }

    /// Puts a message in front of the first one that is larger, field by field.
    fn insert(&mut self, access: &Access, values: &[NetExpr], len: &NetExpr) {
        let data = self.lower.channels.classes[access.class].clone();
        let capacity = data.ty.capacity;
        let n_fields = data.fields.len();
        let mut slot = len.clone();
        for position in (0..capacity).rev() {
            let at = NetExpr::Const(i64::from(position));
            let is_there = int_op(NetOp::Lt, at.clone(), len.clone());
            let mut smaller = NetExpr::Const(0);
            for number in (0..n_fields).rev() {
                let new = values.get(number).cloned().unwrap_or(NetExpr::Const(0));
                let old = self.field(access, at.clone(), number);
                let less = int_op(NetOp::Lt, new.clone(), old.clone());
                let equal = int_op(NetOp::Eq, new, old);
                smaller = NetExpr::either(less, NetExpr::both(equal, smaller));
            }
            slot = NetExpr::cond(NetExpr::both(is_there, smaller), at, slot);
        }
        let mut writes = Vec::new();
        for (number, &place) in data.fields.iter().enumerate() {
            let new = values.get(number).cloned().unwrap_or(NetExpr::Const(0));
            for position in 0..capacity {
                let at = NetExpr::Const(i64::from(position));
                let old = self.field(access, at.clone(), number);
                let before = match position {
                    0 => NetExpr::Const(0),
                    _ => self.field(access, NetExpr::Const(i64::from(position) - 1), number),
                };
                let is_before = int_op(NetOp::Lt, at.clone(), slot.clone());
                let is_slot = int_op(NetOp::Eq, at.clone(), slot.clone());
                let value = NetExpr::cond(is_before, old, NetExpr::cond(is_slot, new.clone(), before));
                writes.push((place, field_key(data.size, capacity, access, at), value));
            }
        }
        for (place, key, value) in writes {
            self.store(place, key, value, access.when.clone());
        }
    }

    fn receive(&mut self, accesses: &[Access], args: &'m [ReceiveArg], random: bool, keep: bool) {
        let buffers = self.buffers(accesses);
        let mut can = NetExpr::Const(0);
        let mut slots = Vec::new();
        for access in &buffers {
            let fits = self.can_receive(access, args, random);
            can = NetExpr::either(can, NetExpr::both(access.condition(), fits));
            slots.push(if random { self.first_fit(access, args) } else { NetExpr::Const(0) });
        }
        self.require(can);
        let mut fields = Vec::new();
        for number in 0..args.len() {
            let mut value = NetExpr::Const(0);
            for (access, slot) in buffers.iter().zip(&slots).rev() {
                let found = self.field(access, slot.clone(), number);
                value = NetExpr::cond(access.condition(), found, value);
            }
            fields.push(value);
        }
        let message = self.message(&buffers, &fields);
        self.deeds.push(if keep { Deed::Peek(message) } else { Deed::Receive(message) });
        if !keep {
            self.event(false, &buffers, &fields);
        }
        if !keep {
            for (access, slot) in buffers.iter().zip(&slots) {
                self.remove(access, slot);
            }
        }
        self.store_fields(args, fields);
    }

    /// The channels with buffers among these.
    fn buffers(&self, accesses: &[Access]) -> Vec<Access> {
        accesses.iter().filter(|access| self.capacity(access) > 0).cloned().collect()
    }

    /// Assigns the fields of a message, one after the other.
    pub(super) fn store_fields(&mut self, args: &'m [ReceiveArg], fields: Vec<NetExpr>) {
        for (arg, value) in args.iter().zip(fields) {
            if let ReceiveArg::Store(place) = arg {
                self.assign(place, value);
            }
        }
    }

    /// The position of the first message that fits.
    fn first_fit(&mut self, access: &Access, args: &'m [ReceiveArg]) -> NetExpr {
        let mut slot = NetExpr::Const(0);
        for position in (0..self.capacity(access)).rev() {
            let at = NetExpr::Const(i64::from(position));
            let fits = self.fits(access, &at, args);
            slot = NetExpr::cond(fits, at, slot);
        }
        slot
    }

    /// Takes a message out of a buffer; those behind it move up, and what is left behind the last is 0.
    fn remove(&mut self, access: &Access, slot: &NetExpr) {
        let data = self.lower.channels.classes[access.class].clone();
        let Some(len_place) = data.len else { return };
        let capacity = data.ty.capacity;
        let len = self.len(access);
        let mut writes = Vec::new();
        for (number, &place) in data.fields.iter().enumerate() {
            for position in 0..capacity {
                let at = NetExpr::Const(i64::from(position));
                let behind = if position + 1 < capacity {
                    self.field(access, NetExpr::Const(i64::from(position) + 1), number)
                } else {
                    NetExpr::Const(0)
                };
                let value = match slot {
                    NetExpr::Const(0) => behind,
                    slot => {
                        let old = self.field(access, at.clone(), number);
                        let moves = int_op(NetOp::Le, slot.clone(), at.clone());
                        NetExpr::cond(moves, behind, old)
                    }
                };
                writes.push((place, field_key(data.size, capacity, access, at), value));
            }
        }
        for (place, key, value) in writes {
            self.store(place, key, value, access.when.clone());
        }
        let shorter = int_op(NetOp::Sub, len, NetExpr::Const(1));
        self.store(len_place, len_key(data.size, access), shorter, access.when.clone());
    }

    /// What arrives of a value that is sent as a field of this type.
    pub(super) fn as_field(&self, access: &Access, number: usize, value: NetExpr) -> NetExpr {
        let data = &self.lower.channels.classes[access.class];
        let Some(&ty) = data.ty.fields.get(number) else { return NetExpr::Const(0) };
        let ty = field_type(ty, self.lower.channels.id_type());
        let value = NetExpr::convert(ty, value);
        if ty.bits == 32 && !ty.signed { NetExpr::convert(pdnet_net::IntType::I32, value) } else { value }
    }
}

/// Whether an expression is `run P(…)` by itself.
pub(super) const fn is_run(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Run(..))
}
