//! What can be seen of channels: who receives from them, who sends to them, and whether there is always room.
//!
//! The paper has the user mark a channel as read by one process alone (`xr`) and as having a sufficient capacity
//! (Section 3.2, "i0 is not a guard", 3). Both are found for each channel by itself, also for the elements of an array and
//! for channels that come as parameters ([`super::instances`]): the first where one process alone receives from it, the
//! second where all sends of processes that had not received from it before are no more than the capacity
//! ([`super::tokens`]).

use std::collections::BTreeMap;
use std::slice::from_ref;

use pdnet_base::FxHashSet;

use super::facts::{each_outside_expr, each_repeated, has_jumps};
use super::guard::awaited_guards;
use super::instances::{Element, Instances};
use super::tokens::Tokens;
use crate::tree::{
    Exclusive, ExclusiveKind, Expr, ExprKind, Init, LtlBlock, Model, Proc, Scope, Stmt, StmtKind, Type, Var,
};
use crate::walk::{each_expr, each_inside_expr, walk_statements, written};

/// A channel with room for so many messages is seldom full.
const LARGE_CAPACITY: u32 = 3;

/// What is known about one channel.
#[derive(Clone, Debug)]
struct ChannelFacts {
    /// The processes that receive from it, and those that send to it, by position in [`Instances::list`].
    receivers: FxHashSet<usize>,
    senders: FxHashSet<usize>,
    /// Somebody asks for its length, or polls it.
    polled: bool,
    /// A message may be put before others.
    sorted: bool,
    /// An `else` or an `unless` reacts to a message that can be received or sent.
    awaited: bool,
    /// It never has more messages than this; `None` where no bound is seen.
    most: Option<u64>,
    /// All messages are this one.
    message: Message,
}

impl Default for ChannelFacts {
    fn default() -> Self {
        Self {
            receivers: FxHashSet::default(),
            senders: FxHashSet::default(),
            polled: false,
            sorted: false,
            awaited: false,
            most: Some(0),
            message: Message::None,
        }
    }
}

/// What is sent to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Message {
    None,
    Always(Vec<i64>),
    Various,
}

/// What is known about all channels.
#[derive(Debug)]
pub(super) struct Channels<'m> {
    model: &'m Model,
    instances: Instances<'m>,
    /// Some channel has no room at all: messages are handed over.
    pub(super) any_rendezvous: bool,
    /// An `else` stands beside a send or receive that may be a rendezvous: it can tell where others stand.
    pub(super) else_beside_rendezvous: bool,
    /// An `else` stands beside a send or receive: SPIN refuses `xr` and `xs` then.
    else_beside_channel: bool,
    /// It is known of every use of a channel which one it is.
    all_known: bool,
    /// There are `trace` or `notrace` blocks, which see the order of messages.
    traced: bool,
    facts: BTreeMap<Element, ChannelFacts>,
    /// The channels that formulas and claims ask for.
    watched: FxHashSet<Var>,
}

impl<'m> Channels<'m> {
    pub(super) fn new(model: &'m Model, formulas: &[&'m LtlBlock], tokens: &Tokens) -> Self {
        let mut channels = Self {
            model,
            instances: Instances::new(model),
            any_rendezvous: false,
            else_beside_rendezvous: false,
            else_beside_channel: false,
            all_known: true,
            traced: !model.traces.is_empty(),
            facts: BTreeMap::new(),
            watched: FxHashSet::default(),
        };
        for data in &model.vars {
            if let Init::Channel(ty) = &data.init {
                channels.any_rendezvous |= ty.capacity == 0;
                // A channel that travels may be anywhere.
                channels.all_known &= !ty.fields.contains(&Type::Chan);
            }
        }
        for data in &model.procs {
            walk_statements(&data.body, &mut |stmt| {
                channels.all_known &=
                    written(&stmt.kind).iter().all(|place| model.vars[place.var].ty != Type::Chan);
            });
        }
        // So may one that a process takes out of another.
        each_inside_expr(model, &mut |expr| {
            channels.all_known &= !matches!(&expr.kind, ExprKind::Remote { place, .. } if model.vars[place.var].ty == Type::Chan);
        });
        for at in 0..channels.instances.list.len() {
            channels.find_uses(at, tokens);
        }
        for (&element, &n) in &channels.instances.sent {
            let facts = channels.facts.entry(element).or_default();
            facts.most = facts.most.zip(n).map(|(sum, n)| sum + n);
        }
        let Self { watched, all_known, .. } = &mut channels;
        each_outside_expr(model, formulas, &mut |expr| {
            if let ExprKind::Query(_, channel) | ExprKind::Poll { channel, .. } = &expr.kind {
                match &channel.kind {
                    ExprKind::Load(place) if matches!(model.vars[place.var].init, Init::Channel(_)) => {
                        watched.insert(place.var);
                    }
                    _ => *all_known = false,
                }
            }
        });
        channels
    }

    fn find_uses(&mut self, at: usize, tokens: &Tokens) {
        let (many, followed) = (self.instances.list[at].many, self.instances.list[at].followed);
        let body = &self.model.procs[self.instances.list[at].proc].body;
        each_repeated(body, has_jumps(body), &mut |stmt, repeated| {
            each_expr(stmt, &mut |expr| {
                if let ExprKind::Query(_, channel) | ExprKind::Poll { channel, .. } = &expr.kind {
                    self.each(at, channel, |facts| facts.polled = true);
                }
            });
            for guard in awaited_guards(stmt) {
                self.find_awaited(at, guard);
            }
            match &stmt.kind {
                StmtKind::Send { channel, args, sorted } => {
                    let returns = tokens.returns.contains(&std::ptr::from_ref(stmt));
                    let more = match (returns, followed, repeated || many) {
                        (true, ..) | (_, true, _) => Some(0),
                        (false, false, false) => Some(1),
                        (false, false, true) => None,
                    };
                    let sent = constants(args);
                    self.each(at, channel, |facts| {
                        facts.senders.insert(at);
                        facts.sorted |= sorted;
                        facts.most = facts.most.zip(more).map(|(sum, n)| sum + n);
                        facts.message = match (&facts.message, &sent) {
                            (Message::None, Some(sent)) => Message::Always(sent.clone()),
                            (Message::Always(known), Some(sent)) if known == sent => return,
                            (Message::None | Message::Always(_) | Message::Various, _) => Message::Various,
                        };
                    });
                }
                StmtKind::Receive { channel, .. } => {
                    self.each(at, channel, |facts| {
                        facts.receivers.insert(at);
                    });
                }
                StmtKind::If(_)
                | StmtKind::Do(_)
                | StmtKind::Unless { .. }
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

    /// A guard of which somebody can tell that it is not possible.
    fn find_awaited(&mut self, at: usize, guard: &Stmt) {
        walk_statements(from_ref(guard), &mut |stmt| {
            if let StmtKind::Send { channel, .. } | StmtKind::Receive { channel, .. } = &stmt.kind {
                self.else_beside_rendezvous |= self.any_rendezvous;
                self.else_beside_channel = true;
                self.each(at, channel, |facts| facts.awaited = true);
            }
        });
    }

    fn each(&mut self, at: usize, channel: &Expr, change: impl Fn(&mut ChannelFacts)) {
        match self.instances.channels(at, channel) {
            Some(elements) => {
                elements.into_iter().for_each(|element| change(self.facts.entry(element).or_default()));
            }
            None => self.all_known = false,
        }
    }

    /// The channels that an expression may be in any process of a proctype.
    fn possible(&self, proc: Proc, channel: &Expr) -> Option<Vec<Element>> {
        let mut found = Vec::new();
        for at in self.instances.of(proc) {
            found.extend(self.instances.channels(at, channel)?);
        }
        (self.all_known && !found.is_empty()).then_some(found)
    }

    fn capacity(&self, element: Element) -> u32 {
        match &self.model.vars[element.0].init {
            Init::Channel(ty) => ty.capacity,
            Init::Zero | Init::Value(_) | Init::List(_) => 0,
        }
    }

    /// Whether a send may be a rendezvous, after which SPIN passes the privilege on to the receiver.
    pub(super) fn may_be_rendezvous(&self, proc: Proc, channel: &Expr) -> bool {
        self.any_rendezvous
            && self
                .possible(proc, channel)
                .is_none_or(|elements| elements.iter().any(|&element| self.capacity(element) == 0))
    }

    /// Whether a receive may be put off: no other process receives from the channel, nobody can be waiting for room,
    /// and nobody asks how full it is.
    pub(super) fn receive_may_wait(&self, proc: Proc, channel: &Expr) -> bool {
        self.is_exclusive(proc, channel, ExclusiveKind::Receive)
            && self.unwatched(proc, channel).is_ok()
            && self.has_room_for(proc, channel, false)
    }

    /// Whether a receive may be done as soon as it is possible, and if not, why.
    pub(super) fn receive_may_advance(&self, proc: Proc, channel: &Expr) -> Result<(), String> {
        if !self.is_exclusive(proc, channel, ExclusiveKind::Receive) {
            return Err("another process may receive from the channel".to_owned());
        }
        self.unwatched(proc, channel).map(drop)
    }

    /// Whether a send may be done as soon as it is possible, and if not, why.
    pub(super) fn send_may_advance(&self, proc: Proc, channel: &Expr) -> Result<(), String> {
        let elements = self.unwatched(proc, channel)?;
        if self.is_exclusive(proc, channel, ExclusiveKind::Send) {
            return Ok(());
        }
        let is_token = |element: &Element| {
            self.has_room(*element)
                && self.facts.get(element).is_some_and(|facts| matches!(facts.message, Message::Always(_)))
        };
        if elements.iter().all(is_token) {
            Ok(())
        } else {
            Err("another process may send to the channel".to_owned())
        }
    }

    /// The channels that an expression may be, where nobody looks at them but who receives and sends.
    fn unwatched(&self, proc: Proc, channel: &Expr) -> Result<Vec<Element>, String> {
        let Some(elements) = self.possible(proc, channel).filter(|_| !self.traced) else {
            return Err("it is not known who uses the channel".to_owned());
        };
        for element in &elements {
            let facts = self.facts.get(element);
            if self.capacity(*element) == 0 {
                return Err("it is a rendezvous".to_owned());
            }
            if self.watched.contains(&element.0)
                || facts.is_some_and(|facts| facts.polled || facts.sorted || facts.awaited)
            {
                return Err("somebody looks at the channel".to_owned());
            }
        }
        Ok(elements)
    }

    /// Whether a send never has to wait for room; or, where that will do, seldom, because the channel is no small one.
    pub(super) fn has_room_for(&self, proc: Proc, channel: &Expr, seldom_will_do: bool) -> bool {
        self.possible(proc, channel).is_some_and(|elements| {
            elements.iter().all(|&element| {
                self.has_room(element) || seldom_will_do && self.capacity(element) >= LARGE_CAPACITY
            })
        })
    }

    fn has_room(&self, element: Element) -> bool {
        let most = self.facts.get(&element).and_then(|facts| facts.most);
        most.is_some_and(|most| most <= u64::from(self.capacity(element)))
    }

    fn is_exclusive(&self, proc: Proc, channel: &Expr, kind: ExclusiveKind) -> bool {
        let ExprKind::Load(place) = &channel.kind else { return false };
        let said = |exclusive: &Exclusive| exclusive.kind == kind && exclusive.place.var == place.var;
        if self.model.procs[proc].exclusive.iter().any(said) {
            return true;
        }
        self.all_known
            && self.instances.of(proc).all(|at| {
                !self.instances.list[at].many
                    && self.instances.channels(at, channel).is_some_and(|elements| {
                        elements.iter().all(|element| self.only_user(*element, kind) == Some(at))
                    })
            })
    }

    /// The only process that receives from a channel or sends to it, where there is one.
    fn only_user(&self, element: Element, kind: ExclusiveKind) -> Option<usize> {
        let facts = self.facts.get(&element)?;
        let users = match kind {
            ExclusiveKind::Receive => &facts.receivers,
            ExclusiveKind::Send => &facts.senders,
        };
        users.iter().next().copied().filter(|_| users.len() == 1)
    }

    /// What can be said with `xr` and `xs`: a channel by the name of a global or a parameter, one process, nobody who
    /// polls, and not said yet.
    pub(super) fn promises(&self) -> Vec<(Proc, ExclusiveKind, Var)> {
        let mut found = Vec::new();
        if self.else_beside_channel {
            return found;
        }
        for (proc, data) in self.model.procs.iter_enumerated() {
            walk_statements(&data.body, &mut |stmt| {
                let (channel, kind) = match &stmt.kind {
                    StmtKind::Send { channel, .. } => (channel, ExclusiveKind::Send),
                    StmtKind::Receive { channel, .. } => (channel, ExclusiveKind::Receive),
                    StmtKind::If(_)
                    | StmtKind::Do(_)
                    | StmtKind::Unless { .. }
                    | StmtKind::Condition(_)
                    | StmtKind::Assign(..)
                    | StmtKind::Block(_)
                    | StmtKind::Atomic(_)
                    | StmtKind::DStep(_)
                    | StmtKind::Goto(_)
                    | StmtKind::Break
                    | StmtKind::Else
                    | StmtKind::Assert(_)
                    | StmtKind::Print { .. } => return,
                };
                let ExprKind::Load(place) = &channel.kind else { return };
                let var = &self.model.vars[place.var];
                let plain = var.dims.is_empty()
                    && (var.scope == Scope::Global || var.param.is_some())
                    && !var.name.contains('.');
                let said = |exclusive: &Exclusive| exclusive.kind == kind && exclusive.place.var == place.var;
                let can_say = plain
                    && !found.contains(&(proc, kind, place.var))
                    && !data.exclusive.iter().any(said)
                    && self.possible(proc, channel).is_some_and(|elements| {
                        elements.iter().all(|element| {
                            self.capacity(*element) > 0
                                && !self.watched.contains(&element.0)
                                && self.facts.get(element).is_some_and(|facts| !facts.polled)
                        })
                    })
                    && self.is_exclusive(proc, channel, kind);
                if can_say {
                    found.push((proc, kind, place.var));
                }
            });
        }
        found.sort_unstable_by_key(|&(proc, kind, var)| (var, kind == ExclusiveKind::Send, proc));
        found
    }

    /// The declared channels that always have room, with the number of messages and the capacity.
    pub(super) fn roomy(&self) -> Vec<(Var, u64, u32)> {
        let mut most: BTreeMap<Var, Option<u64>> = BTreeMap::new();
        for (element, facts) in &self.facts {
            let known = most.entry(element.0).or_insert(Some(0));
            *known = known.zip(facts.most).map(|(one, other)| one.max(other));
        }
        most.into_iter()
            .filter(|_| self.all_known)
            .filter_map(|(var, most)| {
                let (most, capacity) = (most?, self.capacity((var, 0, 0)));
                (most > 0 && most <= u64::from(capacity)).then_some((var, most, capacity))
            })
            .collect()
    }
}

/// The fields of a message, where all of them are constants.
fn constants(args: &[Expr]) -> Option<Vec<i64>> {
    args.iter()
        .map(|arg| match arg.kind {
            ExprKind::Const(value) => Some(value),
            _ => None,
        })
        .collect()
}
