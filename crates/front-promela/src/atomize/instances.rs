//! Which processes there are, and with which arguments.
//!
//! A channel is often one of an array, or comes as a parameter, so that only the processes one by one tell who uses it.
//! Models start their processes in a few statements that depend on nothing but themselves: `init` counts from 1 to N and
//! runs the nodes of a ring. So these processes are simply followed, statement by statement ([`Follower`]). What is not
//! known is never guessed: where it decides whether a process is started, all that is known is how many processes a
//! proctype can have, and which channels each parameter can be.

use std::collections::BTreeMap;

use pdnet_base::{FxHashMap, FxHashSet};

use super::facts::is_single;
use crate::arithmetic;
use crate::tree::{Choice, Expr, ExprKind, Init, Model, Place, Proc, Scope, Stmt, StmtKind, Type, Var};
use crate::walk::{each_expr, parts, walk_statements, written};

/// No more steps than this are followed in one process.
const STEP_LIMIT: usize = 20_000;
/// SPIN has no more processes.
const PROCESS_LIMIT: usize = 255;

/// A channel: one of the elements of a declared one, in one process if it is a local one.
pub(super) type Element = (Var, usize, u32);

/// What is known of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// It is this number.
    Number(i64),
    /// It is one of these channels.
    Channels(Vec<Element>),
    /// Nothing.
    Unknown,
}

/// A process, or many of them of which nothing better is known.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) proc: Proc,
    /// It stands for any number of processes.
    pub(super) many: bool,
    /// The arguments, by parameter.
    args: FxHashMap<Var, Value>,
    pid: Option<i64>,
    /// It was followed to its end: [`Instances::sent`] has all that it sends.
    pub(super) followed: bool,
}

/// All processes of a model.
#[derive(Debug)]
pub(super) struct Instances<'m> {
    model: &'m Model,
    pub(super) list: Vec<Instance>,
    /// How many messages those that were followed send to a channel, `None` where there is no bound.
    pub(super) sent: BTreeMap<Element, Option<u64>>,
    /// Variables that some statement writes.
    assigned: FxHashSet<Var>,
}

impl<'m> Instances<'m> {
    /// Finds the processes of a model.
    pub(super) fn new(model: &'m Model) -> Self {
        let mut assigned = FxHashSet::default();
        for data in &model.procs {
            walk_statements(&data.body, &mut |stmt| {
                assigned.extend(written(&stmt.kind).iter().map(|place| place.var));
            });
        }
        let empty = Self { model, list: Vec::new(), sent: BTreeMap::new(), assigned };
        empty.follow_all().unwrap_or_else(|empty| empty.by_proctype())
    }

    /// Follows all processes that start others.
    fn follow_all(mut self) -> Result<Self, Self> {
        let mut pid = 0;
        for (proc, data) in self.model.procs.iter_enumerated() {
            for _ in 0..data.active {
                let args = FxHashMap::default();
                self.list.push(Instance { proc, many: false, args, pid: Some(pid), followed: false });
                pid += 1;
            }
        }
        let mut at = 0;
        while at < self.list.len() {
            let body = &self.model.procs[self.list[at].proc].body;
            if runs_something(body) {
                let mut follower = Follower {
                    instances: &self,
                    at,
                    values: FxHashMap::default(),
                    started: Vec::new(),
                    sent: BTreeMap::new(),
                    n_steps: 0,
                };
                if has_goto(body) || follower.sequence(body) == Way::Lost {
                    return Err(self.cleared());
                }
                let (started, sent) = (follower.started, follower.sent);
                self.list.extend(started);
                for (element, n) in sent {
                    let sum = self.sent.entry(element).or_insert(Some(0));
                    *sum = sum.zip(n).map(|(sum, n)| sum + n);
                }
                self.list[at].followed = true;
            }
            if self.list.len() > PROCESS_LIMIT {
                return Err(self.cleared());
            }
            at += 1;
        }
        Ok(self)
    }

    fn cleared(mut self) -> Self {
        self.list.clear();
        self.sent.clear();
        self
    }

    /// One entry for each proctype, with all channels that its parameters can be.
    fn by_proctype(mut self) -> Self {
        let model = self.model;
        for proc in model.procs.indices() {
            let many = !is_single(model, proc);
            self.list.push(Instance { proc, many, args: FxHashMap::default(), pid: None, followed: false });
        }
        loop {
            let mut changed = false;
            for at in 0..self.list.len() {
                let mut found: Vec<(Proc, Var, Vec<Element>)> = Vec::new();
                walk_statements(&model.procs[self.list[at].proc].body, &mut |stmt| {
                    each_expr(stmt, &mut |expr| {
                        let ExprKind::Run(started, args) = &expr.kind else { return };
                        for (&param, arg) in model.procs[*started].params.iter().zip(args) {
                            if let Value::Channels(elements) = self.value(at, arg, None) {
                                found.push((*started, param, elements));
                            }
                        }
                    });
                });
                for (proc, param, elements) in found {
                    for instance in self.list.iter_mut().filter(|instance| instance.proc == proc) {
                        let value = instance.args.entry(param).or_insert(Value::Channels(Vec::new()));
                        if let Value::Channels(known) = value {
                            let n_before = known.len();
                            known.extend(&elements);
                            known.sort_unstable();
                            known.dedup();
                            changed |= known.len() > n_before;
                        }
                    }
                }
            }
            if !changed {
                return self;
            }
        }
    }

    /// The channels that an expression may be in a process; `None` where they are not known.
    pub(super) fn channels(&self, at: usize, expr: &Expr) -> Option<Vec<Element>> {
        match self.value(at, expr, None) {
            Value::Channels(elements) if !elements.is_empty() => Some(elements),
            Value::Channels(_) | Value::Number(_) | Value::Unknown => None,
        }
    }

    /// The processes of a proctype, by position.
    pub(super) fn of(&self, proc: Proc) -> impl Iterator<Item = usize> {
        (0..self.list.len()).filter(move |&at| self.list[at].proc == proc)
    }

    /// What is known of an expression in a process: at any time, or at a time when its locals have these values.
    fn value(&self, at: usize, expr: &Expr, locals: Option<&FxHashMap<Var, Value>>) -> Value {
        let number = |expr: &Expr| match self.value(at, expr, locals) {
            Value::Number(number) => Some(number),
            Value::Channels(_) | Value::Unknown => None,
        };
        let known = match &expr.kind {
            ExprKind::Const(value) => Some(*value),
            ExprKind::Pid => self.list[at].pid,
            ExprKind::Load(place) => return self.load(at, place, locals),
            ExprKind::Unary(op, inner) => number(inner).and_then(|value| arithmetic::unary(*op, value)),
            ExprKind::Binary(op, left, right) => {
                number(left).zip(number(right)).and_then(|(left, right)| arithmetic::binary(*op, left, right))
            }
            ExprKind::If(condition, then, otherwise) => match number(condition) {
                Some(0) => number(otherwise),
                Some(_) => number(then),
                None => None,
            },
            ExprKind::ProcessCount
            | ExprKind::Last
            | ExprKind::NonProgress
            | ExprKind::Anything
            | ExprKind::Timeout
            | ExprKind::Run(..)
            | ExprKind::Query(..)
            | ExprKind::Poll { .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_)
            | ExprKind::Remote { .. }
            | ExprKind::At { .. } => None,
        };
        known.map_or(Value::Unknown, Value::Number)
    }

    fn load(&self, at: usize, place: &Place, locals: Option<&FxHashMap<Var, Value>>) -> Value {
        let data = &self.model.vars[place.var];
        if matches!(data.init, Init::Channel(_)) {
            return Value::Channels(self.elements(at, place, locals));
        }
        let is_local = data.scope == Scope::Local(self.list[at].proc);
        if !place.indices.is_empty() || data.scope != Scope::Global && !is_local {
            return Value::Unknown;
        }
        if let Some(value) = locals.filter(|_| is_local).and_then(|locals| locals.get(&place.var)) {
            return value.clone();
        }
        if self.assigned.contains(&place.var) && (locals.is_none() || !is_local) {
            return Value::Unknown;
        }
        if data.param.is_some() {
            return self.list[at].args.get(&place.var).cloned().unwrap_or(Value::Unknown);
        }
        match &data.init {
            Init::Zero if data.ty != Type::Chan => Value::Number(0),
            Init::Value(expr) if is_plain(expr) => match self.value(at, expr, None) {
                Value::Number(number) => Value::Number(cut(data.ty, number)),
                Value::Channels(_) | Value::Unknown => Value::Unknown,
            },
            Init::Zero | Init::Value(_) | Init::Channel(_) | Init::List(_) => Value::Unknown,
        }
    }

    /// The elements of a declared channel that a place may be.
    fn elements(&self, at: usize, place: &Place, locals: Option<&FxHashMap<Var, Value>>) -> Vec<Element> {
        let data = &self.model.vars[place.var];
        let owner = if data.scope == Scope::Global { 0 } else { at };
        let mut offset = Some(0i64);
        for (index, &length) in place.indices.iter().zip(&data.dims) {
            let index = match self.value(at, index, locals) {
                Value::Number(index) if (0..i64::from(length)).contains(&index) => Some(index),
                Value::Number(_) | Value::Channels(_) | Value::Unknown => None,
            };
            offset = offset.zip(index).map(|(offset, index)| offset * i64::from(length) + index);
        }
        match offset.and_then(|offset| u32::try_from(offset).ok()) {
            Some(offset) => vec![(place.var, owner, offset)],
            None => (0..data.dims.iter().product()).map(|offset| (place.var, owner, offset)).collect(),
        }
    }
}

/// An initial value that is computed from constants.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Const(_) => true,
        ExprKind::Unary(_, inner) => is_plain(inner),
        ExprKind::Binary(_, left, right) => is_plain(left) && is_plain(right),
        _ => false,
    }
}

fn runs_something(body: &[Stmt]) -> bool {
    let mut found = false;
    walk_statements(body, &mut |stmt| {
        each_expr(stmt, &mut |expr| found |= matches!(expr.kind, ExprKind::Run(..)));
    });
    found
}

fn has_goto(body: &[Stmt]) -> bool {
    let mut found = false;
    walk_statements(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Goto(_)));
    found
}

/// Whether a `break` leads out of a statement.
fn breaks_out(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Do(_) => false,
        _ => parts(stmt).into_iter().flatten().any(breaks_out),
    }
}

/// Where a statement leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// To the next one.
    On,
    /// Behind the loop.
    Out,
    /// Nowhere: it is blocked forever.
    Nowhere,
    /// It is not known.
    Lost,
}

/// Follows one process. Where it waits for others, it goes on: what comes then may happen.
struct Follower<'i, 'm> {
    instances: &'i Instances<'m>,
    at: usize,
    values: FxHashMap<Var, Value>,
    started: Vec<Instance>,
    sent: BTreeMap<Element, Option<u64>>,
    n_steps: usize,
}

impl<'m> Follower<'_, 'm> {
    fn sequence(&mut self, sequence: &'m [Stmt]) -> Way {
        for stmt in sequence {
            let way = self.stmt(stmt);
            if way != Way::On {
                return way;
            }
        }
        Way::On
    }

    fn stmt(&mut self, stmt: &'m Stmt) -> Way {
        self.n_steps += 1;
        if self.n_steps > STEP_LIMIT {
            return Way::Lost;
        }
        match &stmt.kind {
            StmtKind::Condition(expr) => {
                self.run(expr);
                if self.value(expr) == Value::Number(0) { Way::Nowhere } else { Way::On }
            }
            StmtKind::Assign(place, expr) => {
                self.run(expr);
                let value = self.value(expr);
                self.assign(place, value);
                Way::On
            }
            StmtKind::Send { channel, .. } => {
                if let Value::Channels(elements) = self.value(channel) {
                    for element in elements {
                        let sum = self.sent.entry(element).or_insert(Some(0));
                        *sum = sum.map(|sum| sum + 1);
                    }
                }
                Way::On
            }
            StmtKind::Receive { .. } => {
                for place in written(&stmt.kind) {
                    self.assign(place, Value::Unknown);
                }
                Way::On
            }
            StmtKind::Assert(_) | StmtKind::Print { .. } => Way::On,
            StmtKind::If(choices) => self.choice(choices).unwrap_or_else(|| self.pass(stmt)),
            StmtKind::Do(choices) => loop {
                match self.choice(choices) {
                    Some(Way::On) => {}
                    Some(Way::Out) => return Way::On,
                    Some(other) => return other,
                    None => return self.pass(stmt),
                }
            },
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => self.sequence(inner),
            StmtKind::Break => Way::Out,
            StmtKind::Unless { .. } => self.pass(stmt),
            StmtKind::Goto(_) | StmtKind::Else => Way::Lost,
        }
    }

    /// Takes the one alternative that is possible, where it is known which one that is.
    fn choice(&mut self, choices: &'m [Choice]) -> Option<Way> {
        self.n_steps += 1;
        let mut taken = None;
        for choice in choices.iter().filter(|choice| choice.otherwise.is_none()) {
            if self.is_possible(choice.body.first()?)? && taken.replace(choice).is_some() {
                return None;
            }
        }
        let taken = taken.or_else(|| choices.iter().find(|choice| choice.otherwise.is_some()));
        Some(match taken {
            Some(_) if self.n_steps > STEP_LIMIT => Way::Lost,
            Some(choice) => self.sequence(&choice.body),
            None => Way::Nowhere,
        })
    }

    /// Whether a statement can be executed now; `None` where others decide it, or it is not known.
    fn is_possible(&self, stmt: &Stmt) -> Option<bool> {
        match &stmt.kind {
            StmtKind::Condition(expr) => match self.value(expr) {
                Value::Number(value) => Some(value != 0),
                Value::Channels(_) | Value::Unknown => None,
            },
            StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => Some(true),
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                inner.first().and_then(|first| self.is_possible(first))
            }
            StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Unless { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else => None,
        }
    }

    /// Goes past a statement of which it is not known what it does: it may do anything that it can.
    fn pass(&mut self, stmt: &'m Stmt) -> Way {
        let whole = std::slice::from_ref(stmt);
        if runs_something(whole) || breaks_out(stmt) {
            return Way::Lost;
        }
        walk_statements(whole, &mut |inner| {
            self.values.extend(written(&inner.kind).iter().map(|place| (place.var, Value::Unknown)));
        });
        walk_statements(whole, &mut |inner| {
            if let StmtKind::Send { channel, .. } = &inner.kind
                && let Value::Channels(elements) = self.value(channel)
            {
                self.sent.extend(elements.into_iter().map(|element| (element, None)));
            }
        });
        Way::On
    }

    fn run(&mut self, expr: &Expr) {
        let ExprKind::Run(proc, args) = &expr.kind else { return };
        let model = self.instances.model;
        let params = model.procs[*proc].params.iter();
        let args = params
            .zip(args)
            .map(|(&param, arg)| {
                let value = match self.value(arg) {
                    Value::Number(number) => Value::Number(cut(model.vars[param].ty, number)),
                    other => other,
                };
                (param, value)
            })
            .collect();
        self.started.push(Instance { proc: *proc, many: false, args, pid: None, followed: false });
    }

    fn value(&self, expr: &Expr) -> Value {
        self.instances.value(self.at, expr, Some(&self.values))
    }

    fn assign(&mut self, place: &Place, value: Value) {
        let data = &self.instances.model.vars[place.var];
        let value = match value {
            Value::Number(number) if place.indices.is_empty() => Value::Number(cut(data.ty, number)),
            Value::Number(_) | Value::Channels(_) | Value::Unknown => Value::Unknown,
        };
        self.values.insert(place.var, value);
    }
}

/// A number as a variable of a type keeps it.
pub(super) fn cut(ty: Type, value: i64) -> i64 {
    match ty {
        Type::Bit | Type::Bool => value & 1,
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => value & 0xff,
        Type::Short => i64::from(value as i16),
        Type::Int => i64::from(value as i32),
        Type::Unsigned(bits) => value & ((1i64 << bits) - 1),
    }
}
