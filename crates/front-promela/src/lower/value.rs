//! Expressions of Promela in a step.

use pdnet_net::{BinaryOp as NetOp, Expr as NetExpr, Fault, IntType, Place as NetPlace, UnaryOp as NetUnary};

use super::channels::{Class, constant_index};
use super::step::{Step, inside, int_op};
use super::{Home, Lower};
use crate::tree::{BinaryOp, ChannelQuery, Expr, ExprKind, Place, Proc, ReceiveArg, Scope, UnaryOp, Var};

/// A channel that a step works on, if the condition holds.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) class: Class,
    /// Which one of the class.
    pub(super) instance: NetExpr,
    pub(super) when: Option<NetExpr>,
}

impl Access {
    pub(super) fn condition(&self) -> NetExpr {
        self.when.clone().unwrap_or(NetExpr::TRUE)
    }
}

impl<'m> Step<'_, 'm> {
    /// The value of an expression, a number of 32 bits.
    pub(super) fn value(&mut self, expr: &'m Expr) -> NetExpr {
        match &expr.kind {
            ExprKind::Const(value) => NetExpr::Const(IntType::I32.wrap(*value)),
            ExprKind::Load(place) => self.place_value(place),
            ExprKind::Pid => self.actor.thread.clone(),
            ExprKind::ProcessCount => self.load(self.lower.count, Vec::new(), None),
            ExprKind::Last => match self.lower.last {
                Some(last) => self.load(last, Vec::new(), None),
                None => NetExpr::Const(0),
            },
            ExprKind::Timeout => NetExpr::Const(i64::from(self.timeout)),
            ExprKind::Unary(op, operand) => {
                let operand = self.value(operand);
                match op {
                    UnaryOp::Neg => NetExpr::unary(NetUnary::Neg, IntType::I32, operand),
                    UnaryOp::BitNot => NetExpr::unary(NetUnary::Not, IntType::I32, operand),
                    UnaryOp::Not => NetExpr::logical_not(operand),
                }
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.value(condition);
                let then = self.under(condition.clone(), |step| step.value(then));
                let not = NetExpr::logical_not(condition.clone());
                let otherwise = self.under(not, |step| step.value(otherwise));
                NetExpr::cond(condition, then, otherwise)
            }
            ExprKind::Run(proc, args) => self.run(*proc, args),
            ExprKind::Query(query, channel) => {
                let accesses = self.accesses(channel);
                let queries: Vec<(NetExpr, NetExpr)> =
                    accesses.iter().map(|access| (access.condition(), self.query(*query, access))).collect();
                choose(queries)
            }
            ExprKind::Poll { channel, args, random } => {
                let accesses = self.accesses(channel);
                let polls: Vec<(NetExpr, NetExpr)> = accesses
                    .iter()
                    .map(|access| (access.condition(), self.can_receive(access, args, *random)))
                    .collect();
                choose(polls)
            }
            ExprKind::Remote { proc, pid, place } => self.remote_value(*proc, pid.as_deref(), place),
            ExprKind::At { proc, pid, label } => self.at_label(*proc, pid.as_deref(), *label),
            // The lowering has complained about the first three already; the last is in no proctype.
            ExprKind::NonProgress | ExprKind::Enabled(_) | ExprKind::PcValue(_) | ExprKind::Anything => {
                NetExpr::Const(0)
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &'m Expr, right: &'m Expr) -> NetExpr {
        let left = self.value(left);
        match op {
            BinaryOp::And => {
                let right = self.under(left.clone(), |step| step.value(right));
                return NetExpr::both(left, right);
            }
            BinaryOp::Or => {
                let not = NetExpr::logical_not(left.clone());
                let right = self.under(not, |step| step.value(right));
                return NetExpr::either(left, right);
            }
            _ => {}
        }
        let right = self.value(right);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) {
            self.fault(Fault::DivisionByZero, NetExpr::equal(right.clone(), NetExpr::Const(0)));
        }
        arithmetic(op, left, right)
    }

    fn place_value(&mut self, place: &'m Place) -> NetExpr {
        match &self.lower.homes[place.var] {
            Home::Channel(_) => {
                let access = self.own_channel(place);
                self.channel_number(&access)
            }
            Home::Cells(cells) | Home::Shared(cells) => {
                let key = self.key(place);
                let value = self.load(*cells, key, None);
                as_int(self.lower, *cells, value)
            }
            Home::Nowhere => NetExpr::Const(0),
        }
    }

    /// The key of a variable's cell; a fault where an index is outside.
    pub(super) fn key(&mut self, place: &'m Place) -> Vec<NetExpr> {
        let data = &self.lower.model.vars[place.var];
        if matches!(self.lower.homes[place.var], Home::Shared(_)) {
            let position = if data.dims.is_empty() { NetExpr::Const(0) } else { self.position(place) };
            return self.shared_key(place.var, position);
        }
        let mut key = match data.scope {
            Scope::Global => Vec::new(),
            Scope::Local(_) => vec![self.actor.thread.clone(), self.actor.depth.clone()],
        };
        if !data.dims.is_empty() {
            key.push(self.position(place));
        }
        key
    }

    /// The key of a variable that all processes have in one array.
    pub(super) fn shared_key(&self, var: Var, position: NetExpr) -> Vec<NetExpr> {
        let count: u32 = self.lower.model.vars[var].dims.iter().product();
        let own = match count {
            1 => self.actor.thread.clone(),
            _ => int_op(NetOp::Mul, self.actor.thread.clone(), NetExpr::Const(i64::from(count))),
        };
        vec![plus(own, position)]
    }

    /// Sets what the present actor, which is about to end, has in arrays over all processes to 0.
    pub(super) fn clear_shared(&mut self, proc: Proc) {
        for (var, data) in self.lower.model.vars.iter_enumerated() {
            if let (Home::Shared(cells), Scope::Local(owner)) = (self.lower.homes[var], data.scope)
                && owner == proc
            {
                for element in 0..data.dims.iter().product::<u32>() {
                    let key = self.shared_key(var, NetExpr::Const(i64::from(element)));
                    self.store(cells, key, NetExpr::Const(0), None);
                }
            }
        }
    }

    /// The position in an array of one or more dimensions.
    pub(super) fn position(&mut self, place: &'m Place) -> NetExpr {
        let dims = &self.lower.model.vars[place.var].dims;
        if let Some(index) = constant_index(dims, &place.indices) {
            return NetExpr::Const(i64::from(index));
        }
        let mut position = NetExpr::Const(0);
        for (&dim, index) in dims.iter().zip(&place.indices) {
            let index = self.value(index);
            let is_inside = self.upper(&index).is_some_and(|upper| upper < i64::from(dim));
            if !is_inside {
                self.fault(Fault::OutOfBounds, NetExpr::logical_not(inside(index.clone(), dim)));
            }
            position = match position {
                NetExpr::Const(0) => index,
                position => {
                    let row = int_op(NetOp::Mul, position, NetExpr::Const(i64::from(dim)));
                    int_op(NetOp::Add, row, index)
                }
            };
        }
        position
    }

    /// Assigns to a variable.
    pub(super) fn assign(&mut self, place: &'m Place, value: NetExpr) {
        match &self.lower.homes[place.var] {
            Home::Cells(cells) | Home::Shared(cells) => {
                let key = self.key(place);
                self.note_assign(place, &value);
                self.store(*cells, key, value, None);
            }
            // Nobody reads it, but the index may be wrong.
            Home::Nowhere => {
                drop(self.key(place));
                self.note_assign(place, &value);
            }
            Home::Channel(_) => {}
        }
    }

    /// The channel that a variable which always denotes its own stands for.
    fn own_channel(&mut self, place: &'m Place) -> Access {
        let var = place.var;
        let site = self.lower.channels.fixed(var).expect("a variable with a channel of its own");
        let data = &self.lower.channels.sites[site];
        let dims = &self.lower.model.vars[var].dims;
        if data.owner.is_none()
            && let Some(index) = constant_index(dims, &place.indices)
        {
            let (class, position) = self.lower.channels.home((site, index));
            return Access { class, instance: NetExpr::Const(i64::from(position)), when: None };
        }
        let (class, first) = self.lower.channels.home((site, 0));
        let mut instance = if dims.is_empty() { NetExpr::Const(0) } else { self.position(place) };
        if data.owner.is_some() {
            let stride = NetExpr::Const(i64::from(data.count));
            let own = match data.count {
                1 => self.actor.thread.clone(),
                _ => int_op(NetOp::Mul, self.actor.thread.clone(), stride),
            };
            instance = plus(own, instance);
        }
        Access { class, instance: plus(instance, NetExpr::Const(i64::from(first))), when: None }
    }

    /// The channels that an expression can denote. A fault where it is none.
    pub(super) fn accesses(&mut self, expr: &'m Expr) -> Vec<Access> {
        if let ExprKind::Load(place) = &expr.kind
            && self.lower.channels.fixed(place.var).is_some()
        {
            return vec![self.own_channel(place)];
        }
        let targets = self.lower.channels.targets(self.lower.model, expr);
        let number = self.value(expr);
        let mut classes: Vec<Class> =
            targets.channels.iter().map(|&channel| self.lower.channels.home(channel).0).collect();
        classes.sort_unstable();
        classes.dedup();
        let is_plain = classes.len() == 1 && !targets.nullable;
        let mut accesses = Vec::new();
        let mut known = NetExpr::Const(0);
        for class in classes {
            let data = &self.lower.channels.classes[class];
            let instance = plus(number.clone(), NetExpr::Const(-data.base));
            let is_in = inside(instance.clone(), data.size);
            known = NetExpr::either(known, is_in.clone());
            if data.is_local {
                // It is gone with its process.
                let gone = self.gone(class, &targets.channels, &instance);
                let condition = NetExpr::both(is_in.clone(), gone);
                self.fault(Fault::Dangling, condition);
            }
            accesses.push(Access { class, instance, when: (!is_plain).then_some(is_in) });
        }
        if !is_plain {
            self.fault(Fault::NullPointer, NetExpr::logical_not(known));
        }
        accesses
    }

    /// Whether an instance belongs to a process that is not there.
    fn gone(
        &mut self,
        class: Class,
        channels: &std::collections::BTreeSet<super::channels::Channel>,
        instance: &NetExpr,
    ) -> NetExpr {
        let processes = self.load(self.lower.count, Vec::new(), None);
        let mut gone = NetExpr::Const(0);
        for &(site, element) in channels {
            let data = &self.lower.channels.sites[site];
            let (found, first) = self.lower.channels.home((site, element));
            if found != class || data.owner.is_none() || element != 0 {
                continue;
            }
            let offset = plus(instance.clone(), NetExpr::Const(-i64::from(first)));
            let size = data.count * self.lower.max_processes;
            let of_site = inside(offset.clone(), size);
            let owner = int_op(NetOp::Div, offset, NetExpr::Const(i64::from(data.count)));
            let is_gone = int_op(NetOp::Le, processes.clone(), owner);
            gone = NetExpr::either(gone, NetExpr::both(of_site, is_gone));
        }
        gone
    }

    fn query(&mut self, query: ChannelQuery, access: &Access) -> NetExpr {
        let capacity = self.lower.channels.classes[access.class].ty.capacity;
        let len = self.len(access);
        let capacity = NetExpr::Const(i64::from(capacity.max(1)));
        match query {
            ChannelQuery::Len => len,
            ChannelQuery::Empty => int_op(NetOp::Eq, len, NetExpr::Const(0)),
            ChannelQuery::NotEmpty => int_op(NetOp::Ne, len, NetExpr::Const(0)),
            ChannelQuery::Full => int_op(NetOp::Eq, len, capacity),
            ChannelQuery::NotFull => int_op(NetOp::Ne, len, capacity),
        }
    }

    /// The number of messages; that of a rendezvous channel is 0.
    pub(super) fn len(&mut self, access: &Access) -> NetExpr {
        let data = &self.lower.channels.classes[access.class];
        match data.len {
            Some(place) => {
                let key = len_key(data.size, access);
                self.load(place, key, access.when.clone())
            }
            None => NetExpr::Const(0),
        }
    }

    /// A field of a message in a buffer.
    pub(super) fn field(&mut self, access: &Access, position: NetExpr, field: usize) -> NetExpr {
        let data = &self.lower.channels.classes[access.class];
        let Some(&place) = data.fields.get(field) else { return NetExpr::Const(0) };
        let key = field_key(data.size, data.ty.capacity, access, position);
        let value = self.load(place, key, access.when.clone());
        as_int(self.lower, place, value)
    }

    /// Whether a receive from a buffer could be done.
    pub(super) fn can_receive(&mut self, access: &Access, args: &'m [ReceiveArg], random: bool) -> NetExpr {
        let capacity = self.lower.channels.classes[access.class].ty.capacity;
        let len = self.len(access);
        let positions = if random { capacity } else { capacity.min(1) };
        let mut can = NetExpr::Const(0);
        for position in (0..positions).rev() {
            let position = NetExpr::Const(i64::from(position));
            let is_there = int_op(NetOp::Lt, position.clone(), len.clone());
            let fits = self.fits(access, &position, args);
            can = NetExpr::either(NetExpr::both(is_there, fits), can);
        }
        can
    }

    /// Whether the message at a position has the fields that are asked for.
    pub(super) fn fits(&mut self, access: &Access, position: &NetExpr, args: &'m [ReceiveArg]) -> NetExpr {
        let mut fits = NetExpr::TRUE;
        for (number, arg) in args.iter().enumerate() {
            if let ReceiveArg::Match(expr) = arg {
                let expected = self.value(expr);
                let found = self.field(access, position.clone(), number);
                fits = NetExpr::both(fits, int_op(NetOp::Eq, expected, found));
            }
        }
        fits
    }

    /// Starts a process; the result is its number.
    fn run(&mut self, proc: Proc, args: &'m [Expr]) -> NetExpr {
        self.require_room();
        let number = self.load(self.lower.count, Vec::new(), None);
        let values: Vec<NetExpr> = args.iter().map(|arg| self.value(arg)).collect();
        self.note_start(proc, &number, &values);
        let child = super::step::Actor { thread: number.clone(), depth: NetExpr::Const(0), proc };
        let parent = std::mem::replace(&mut self.actor, child);
        let params = &self.lower.model.procs[proc].params;
        for (&param, value) in params.iter().zip(values) {
            self.initialise(param, 0, value);
        }
        for (var, data) in self.lower.model.vars.iter_enumerated() {
            if data.scope == Scope::Local(proc) && data.param.is_none() {
                self.initial(var);
            }
        }
        self.show(super::remote::Before::Nowhere, Some(self.lower.graphs[proc].start));
        self.show_member(true);
        self.actor = parent;
        let entry = self.lower.entry(proc);
        self.put(entry, vec![number.clone(), NetExpr::Const(0)]);
        let next = int_op(NetOp::Add, number.clone(), NetExpr::Const(1));
        self.store(self.lower.count, Vec::new(), next, None);
        number
    }

    /// Empties the channels of the present actor, which is about to end.
    pub(super) fn clear_channels(&mut self, proc: Proc) {
        for (site, data) in self.lower.channels.sites.iter_enumerated() {
            if data.owner != Some(proc) {
                continue;
            }
            for element in 0..data.count {
                let (class, first) = self.lower.channels.home((site, 0));
                let stride = NetExpr::Const(i64::from(data.count));
                let own = int_op(NetOp::Mul, self.actor.thread.clone(), stride);
                let instance = plus(own, NetExpr::Const(i64::from(first + element)));
                let access = Access { class, instance, when: None };
                let class = &self.lower.channels.classes[class];
                let Some(len) = class.len else { continue };
                self.store(len, len_key(class.size, &access), NetExpr::Const(0), None);
                for &place in &class.fields {
                    for position in 0..class.ty.capacity {
                        let at = NetExpr::Const(i64::from(position));
                        let key = field_key(class.size, class.ty.capacity, &access, at);
                        self.store(place, key, NetExpr::Const(0), None);
                    }
                }
            }
        }
    }

    /// Gives a local variable of the present actor its first value, where that is not the one that cells have anyway.
    fn initial(&mut self, var: Var) {
        let data = &self.lower.model.vars[var];
        match &data.init {
            crate::tree::Init::Zero => {}
            crate::tree::Init::Channel(_) => {
                if let (Home::Cells(_) | Home::Shared(_), Some(site)) =
                    (&self.lower.homes[var], self.lower.channels.site_of(var))
                {
                    let count = self.lower.channels.sites[site].count;
                    for element in 0..count {
                        let (class, first) = self.lower.channels.home((site, 0));
                        let own =
                            int_op(NetOp::Mul, self.actor.thread.clone(), NetExpr::Const(i64::from(count)));
                        let instance = plus(own, NetExpr::Const(i64::from(first + element)));
                        let number = self.channel_number(&Access { class, instance, when: None });
                        self.initialise(var, element, number);
                    }
                }
            }
            crate::tree::Init::Value(expr) => {
                if self.must_write(var, expr) {
                    let value = self.value(expr);
                    let elements = data.dims.iter().product();
                    for element in 0..elements {
                        self.initialise(var, element, value.clone());
                    }
                }
            }
            crate::tree::Init::List(exprs) => {
                for (element, expr) in (0..).zip(exprs) {
                    if self.must_write(var, expr) {
                        let value = self.value(expr);
                        self.initialise(var, element, value);
                    }
                }
            }
        }
    }

    /// Whether a new process has to be given a first value.
    fn must_write(&self, var: Var, expr: &Expr) -> bool {
        matches!(self.lower.homes[var], Home::Shared(_)) || !self.lower.is_constant(expr)
    }

    fn initialise(&mut self, var: Var, element: u32, value: NetExpr) {
        let cells = match self.lower.homes[var] {
            Home::Cells(cells) => cells,
            Home::Shared(cells) => {
                let key = self.shared_key(var, NetExpr::Const(i64::from(element)));
                return self.store(cells, key, value, None);
            }
            Home::Channel(_) | Home::Nowhere => return,
        };
        let mut key = vec![self.actor.thread.clone(), self.actor.depth.clone()];
        if !self.lower.model.vars[var].dims.is_empty() {
            key.push(NetExpr::Const(i64::from(element)));
        }
        self.store(cells, key, value, None);
    }
}

/// The value of the first whose condition holds.
pub(super) fn choose(options: Vec<(NetExpr, NetExpr)>) -> NetExpr {
    options
        .into_iter()
        .rev()
        .fold(NetExpr::Const(0), |otherwise, (condition, value)| NetExpr::cond(condition, value, otherwise))
}

/// The key of the number of messages.
pub(super) fn len_key(size: u32, access: &Access) -> Vec<NetExpr> {
    if size > 1 { vec![access.instance.clone()] } else { Vec::new() }
}

/// The key of a field of a message.
pub(super) fn field_key(size: u32, capacity: u32, access: &Access, position: NetExpr) -> Vec<NetExpr> {
    if size == 1 {
        return vec![position];
    }
    let row = int_op(NetOp::Mul, access.instance.clone(), NetExpr::Const(i64::from(capacity)));
    vec![plus(row, position)]
}

/// A sum, without adding nothing.
pub(super) fn plus(left: NetExpr, right: NetExpr) -> NetExpr {
    match (left, right) {
        (NetExpr::Const(0), other) | (other, NetExpr::Const(0)) => other,
        (left, right) => int_op(NetOp::Add, left, right),
    }
}

/// What a cell holds as a number of 32 bits.
pub(super) fn as_int(lower: &Lower<'_>, place: NetPlace, value: NetExpr) -> NetExpr {
    let ty = lower.net.places[place].cells().expect("a place with cells").value;
    let fits = ty.bits < 32 || ty.signed;
    if fits { value } else { NetExpr::convert(IntType::I32, value) }
}

/// Arithmetic and comparisons on numbers of 32 bits.
pub(super) fn arithmetic(op: BinaryOp, left: NetExpr, right: NetExpr) -> NetExpr {
    match op {
        BinaryOp::Add => int_op(NetOp::Add, left, right),
        BinaryOp::Sub => int_op(NetOp::Sub, left, right),
        BinaryOp::Mul => int_op(NetOp::Mul, left, right),
        BinaryOp::Div => int_op(NetOp::Div, left, right),
        BinaryOp::Rem => int_op(NetOp::Rem, left, right),
        BinaryOp::BitAnd => int_op(NetOp::And, left, right),
        BinaryOp::BitOr => int_op(NetOp::Or, left, right),
        BinaryOp::BitXor => int_op(NetOp::Xor, left, right),
        BinaryOp::Shl => int_op(NetOp::Shl, left, right),
        BinaryOp::Shr => int_op(NetOp::Shr, left, right),
        BinaryOp::Eq => int_op(NetOp::Eq, left, right),
        BinaryOp::Ne => int_op(NetOp::Ne, left, right),
        BinaryOp::Lt => int_op(NetOp::Lt, left, right),
        BinaryOp::Le => int_op(NetOp::Le, left, right),
        BinaryOp::Gt => int_op(NetOp::Lt, right, left),
        BinaryOp::Ge => int_op(NetOp::Le, right, left),
        BinaryOp::And => NetExpr::both(left, right),
        BinaryOp::Or => NetExpr::either(left, right),
    }
}
