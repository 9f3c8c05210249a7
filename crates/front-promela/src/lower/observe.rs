//! Expressions of properties: what they say of a marking.

use pdnet_net::{BinaryOp as NetOp, Expr as NetExpr, IntType, UnaryOp as NetUnary};

use super::channels::Class;
use super::remote::Population;
use super::step::{inside, int_op};
use super::value::{arithmetic, plus};
use super::{Home, Lower};
use crate::tree::{ChannelQuery, Expr, ExprKind, Place, Proc, ReceiveArg, Scope, UnaryOp};

impl<'m> Lower<'m> {
    /// What an expression of a claim or formula means in the net.
    pub(super) fn observe(&mut self, expr: &'m Expr) -> NetExpr {
        match &expr.kind {
            ExprKind::Const(value) => NetExpr::Const(IntType::I32.wrap(*value)),
            // Only in a `trace`.
            ExprKind::Anything => NetExpr::Const(0),
            ExprKind::Load(place) => self.observe_place(place, None),
            ExprKind::Pid => NetExpr::Const(0),
            ExprKind::ProcessCount => NetExpr::Cell(self.count, Vec::new()),
            ExprKind::Last => self.last.map_or(NetExpr::Const(0), |last| NetExpr::Cell(last, Vec::new())),
            ExprKind::NonProgress => {
                let progress = self.somewhere(&|lower, proc, node| lower.has_mark(proc, node, "progress"));
                NetExpr::logical_not(progress)
            }
            ExprKind::Unary(op, operand) => {
                let operand = self.observe(operand);
                match op {
                    UnaryOp::Neg => NetExpr::unary(NetUnary::Neg, IntType::I32, operand),
                    UnaryOp::BitNot => NetExpr::unary(NetUnary::Not, IntType::I32, operand),
                    UnaryOp::Not => NetExpr::logical_not(operand),
                }
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.observe(left), self.observe(right));
                arithmetic(*op, left, right)
            }
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.observe(condition);
                NetExpr::cond(condition, self.observe(then), self.observe(otherwise))
            }
            ExprKind::Query(query, channel) => self.observe_query(*query, channel),
            ExprKind::Poll { channel, args, random } => self.observe_poll(channel, args, *random),
            ExprKind::Remote { proc, pid, place } => match self.observe_pid(*proc, pid.as_deref()) {
                Some(process) => self.observe_place(place, Some(process)),
                None => NetExpr::Const(0),
            },
            ExprKind::At { proc, pid, label } => {
                let node = self.graphs[*proc].labels[*label];
                let place = node.and_then(|node| self.places[*proc].get(&node).copied());
                match (place, self.observe_pid(*proc, pid.as_deref())) {
                    (Some(place), Some(process)) => NetExpr::Marked(place, vec![process]),
                    (None, _) | (_, None) => NetExpr::Const(0),
                }
            }
            ExprKind::Run(..) | ExprKind::Enabled(_) | ExprKind::PcValue(_) | ExprKind::Timeout => {
                self.refuse_question(expr);
                NetExpr::Const(0)
            }
        }
    }

    /// Complains about what a claim or formula cannot ask, and says what it could ask instead.
    fn refuse_question(&mut self, expr: &Expr) {
        let (what, why, help) = match expr.kind {
            ExprKind::Enabled(_) => (
                "enabled",
                "whether a process can move is no part of a state",
                "ask for the condition that it waits for, or where it stands: `P[pid]@label`",
            ),
            ExprKind::PcValue(_) => (
                "pc_value",
                "SPIN's numbers of control states are not known",
                "give the statement a label and ask for `P[pid]@label`",
            ),
            ExprKind::Timeout => (
                "timeout",
                "whether anything can move is no part of a state",
                "where nothing can move is found by `--check deadlock`",
            ),
            _ => ("run", "it would change the state", "start processes in a proctype or `init`"),
        };
        let message = format!("`{what}` cannot be asked in a claim or formula");
        let error = pdnet_source::Diagnostic::error("unsupported-in-claim", message);
        self.errors.push(error.at(expr.span, why).help(help));
    }

    /// The process that is meant: the one that is named, or the first one of the proctype. None where there is none.
    fn observe_pid(&mut self, proc: Proc, pid: Option<&'m Expr>) -> Option<NetExpr> {
        if let Some(pid) = pid {
            return Some(self.observe(pid));
        }
        match self.population(proc) {
            Population::None => None,
            Population::One(number) => Some(NetExpr::Const(i64::from(number))),
            Population::Many => {
                let members = self.member_cells(proc)?;
                Some(self.first_member(|pid| NetExpr::Cell(members, vec![pid])))
            }
        }
    }

    fn observe_place(&mut self, place: &'m Place, process: Option<NetExpr>) -> NetExpr {
        let data = &self.model.vars[place.var];
        let mut position = NetExpr::Const(0);
        let mut is_inside = NetExpr::TRUE;
        for (&dim, index) in data.dims.iter().zip(&place.indices) {
            let index = self.observe(index);
            is_inside = NetExpr::both(is_inside, inside(index.clone(), dim));
            let row = int_op(NetOp::Mul, position, NetExpr::Const(i64::from(dim)));
            position = plus(row, index);
        }
        let mut key = match (data.scope, process) {
            (Scope::Global, _) => Vec::new(),
            (Scope::Local(_), Some(process)) => vec![process, NetExpr::Const(0)],
            (Scope::Local(_), None) => {
                self.error(
                    "local-in-claim",
                    format!("`{}` belongs to a proctype", data.name),
                    place.span,
                    "say whose it is",
                );
                return NetExpr::Const(0);
            }
        };
        match self.homes[place.var] {
            Home::Cells(cells) | Home::Shared(cells) => {
                if let (Home::Shared(_), Some(process)) = (self.homes[place.var], key.first()) {
                    let count: u32 = data.dims.iter().product();
                    let own = int_op(NetOp::Mul, process.clone(), NetExpr::Const(i64::from(count)));
                    key = vec![plus(own, position)];
                } else if !data.dims.is_empty() {
                    key.push(position);
                }
                let ty = self.net.places[cells].cells().expect("a place with cells").value;
                let value = NetExpr::Cell(cells, key);
                let value =
                    if ty.bits == 32 && !ty.signed { NetExpr::convert(IntType::I32, value) } else { value };
                NetExpr::cond(is_inside, value, NetExpr::Const(0))
            }
            Home::Channel(site) => {
                let (class, first) = self.channels.home((site, 0));
                let mut instance = plus(position, NetExpr::Const(i64::from(first)));
                if let Some(process) = key.into_iter().next() {
                    let count = i64::from(self.channels.sites[site].count);
                    instance = plus(int_op(NetOp::Mul, process, NetExpr::Const(count)), instance);
                } else if let Some(index) = super::channels::constant_index(&data.dims, &place.indices) {
                    // Elements that are always named by constants may have classes of their own.
                    let (class, position) = self.channels.home((site, index));
                    return NetExpr::Const(self.channels.classes[class].base + i64::from(position));
                }
                plus(instance, NetExpr::Const(self.channels.classes[class].base))
            }
            Home::Nowhere => NetExpr::Const(0),
        }
    }

    /// The channels that an expression can denote: class, position in it, and when.
    fn observe_channel(&mut self, channel: &'m Expr) -> Vec<(Class, NetExpr, NetExpr)> {
        let targets = self.channels.targets(self.model, channel);
        let number = self.observe(channel);
        let mut classes: Vec<Class> =
            targets.channels.iter().map(|&channel| self.channels.home(channel).0).collect();
        classes.sort_unstable();
        classes.dedup();
        let found = classes.into_iter().map(|class| {
            let data = &self.channels.classes[class];
            let instance = plus(number.clone(), NetExpr::Const(-data.base));
            let is_in = inside(instance.clone(), data.size);
            (class, instance, is_in)
        });
        found.collect()
    }

    fn observe_len(&self, class: Class, instance: &NetExpr) -> NetExpr {
        let data = &self.channels.classes[class];
        let key = if data.size > 1 { vec![instance.clone()] } else { Vec::new() };
        data.len.map_or(NetExpr::Const(0), |len| NetExpr::Cell(len, key))
    }

    fn observe_query(&mut self, query: ChannelQuery, channel: &'m Expr) -> NetExpr {
        let mut value = NetExpr::Const(0);
        for (class, instance, is_in) in self.observe_channel(channel) {
            let len = self.observe_len(class, &instance);
            let capacity = i64::from(self.channels.classes[class].ty.capacity.max(1));
            let capacity = NetExpr::Const(capacity);
            let found = match query {
                ChannelQuery::Len => len,
                ChannelQuery::Empty => int_op(NetOp::Eq, len, NetExpr::Const(0)),
                ChannelQuery::NotEmpty => int_op(NetOp::Ne, len, NetExpr::Const(0)),
                ChannelQuery::Full => int_op(NetOp::Eq, len, capacity),
                ChannelQuery::NotFull => int_op(NetOp::Ne, len, capacity),
            };
            value = NetExpr::cond(is_in, found, value);
        }
        value
    }

    fn observe_poll(&mut self, channel: &'m Expr, args: &'m [ReceiveArg], random: bool) -> NetExpr {
        let mut value = NetExpr::Const(0);
        for (class, instance, is_in) in self.observe_channel(channel) {
            let len = self.observe_len(class, &instance);
            let data = self.channels.classes[class].clone();
            let capacity = data.ty.capacity;
            let mut can = NetExpr::Const(0);
            for position in 0..if random { capacity } else { capacity.min(1) } {
                let at = NetExpr::Const(i64::from(position));
                let mut fits = int_op(NetOp::Lt, at.clone(), len.clone());
                for (arg, &place) in args.iter().zip(&data.fields) {
                    if let ReceiveArg::Match(expr) = arg {
                        let expected = self.observe(expr);
                        let row = int_op(NetOp::Mul, instance.clone(), NetExpr::Const(i64::from(capacity)));
                        let key = if data.size > 1 { plus(row, at.clone()) } else { at.clone() };
                        let found = NetExpr::Cell(place, vec![key]);
                        fits = NetExpr::both(fits, int_op(NetOp::Eq, expected, found));
                    }
                }
                can = NetExpr::either(can, fits);
            }
            value = NetExpr::cond(is_in, can, value);
        }
        value
    }
}
