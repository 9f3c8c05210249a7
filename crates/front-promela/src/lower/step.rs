//! One transition in the making: what it reads, under which condition it can happen, and what it writes.
//!
//! A statement of Promela does its parts one after the other, as in `q ? i, a[i]`, and a whole `d_step` can be one
//! transition. Arcs are all at once: a step here remembers what it has written, and a read behind a write is the value
//! that was written.

use pdnet_net::legend::{Deed, PartnerWords, StepWords};
use pdnet_net::{
    Action, ArcData, Base, BinaryOp, Expr, Fault, IntType, Place, Scope, TransitionBuilder, Var as NetVar,
};

use super::Lower;
use crate::tree::Proc;

/// Whose step it is: the frame whose local variables are meant, and its proctype.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub(super) thread: Expr,
    pub(super) depth: Expr,
    pub(super) proc: Proc,
}

/// A write that is still to become an arc.
#[derive(Clone, Debug)]
struct Write {
    place: Place,
    key: Vec<Expr>,
    value: Expr,
    when: Option<Expr>,
}

/// A transition in the making.
#[derive(Clone)]
pub(super) struct Step<'a, 'm> {
    pub(super) lower: &'a Lower<'m>,
    builder: TransitionBuilder,
    /// Whose local variables are meant at the moment.
    pub(super) actor: Actor,
    reads: Vec<(Place, Vec<Expr>, Option<Expr>, Expr)>,
    writes: Vec<Write>,
    guard: Vec<Expr>,
    /// What goes wrong, and when.
    faults: Vec<(Fault, Expr)>,
    /// The conditions under which the present expression is evaluated.
    path: Vec<Expr>,
    /// The value of `timeout`.
    pub(super) timeout: bool,
    /// New processes: where they begin, and their numbers.
    tokens: Vec<(Place, Vec<Expr>)>,
    /// What it does, for people.
    pub(super) deeds: Vec<Deed>,
    /// Its statements, for people.
    pub(super) text: String,
    /// When a message is not as the trace of the model says.
    pub(super) mismatch: Expr,
    /// That in words.
    pub(super) mismatch_words: Option<Deed>,
    /// SPIN's numbers of statements that it executes beside its own.
    pub(super) covers: Vec<u32>,
    /// The second process that moves, for people.
    pub(super) partner_words: Option<PartnerWords>,
}

/// A finished transition, with the words for it.
pub(super) struct Made {
    pub(super) builder: TransitionBuilder,
    /// SPIN's numbers of statements that it executes beside its own.
    pub(super) covers: Vec<u32>,
    pub(super) words: StepWords,
}

impl Made {
    /// With a rank.
    pub(super) fn rank(self, rank: u8) -> Self {
        Self { builder: self.builder.rank(rank), ..self }
    }

    /// As a late step.
    pub(super) fn late(self) -> Self {
        Self { builder: self.builder.late(), ..self }
    }
}

impl<'a, 'm> Step<'a, 'm> {
    /// A step of a process of `proc` that stands on `from`.
    pub(super) fn new(lower: &'a Lower<'m>, proc: Proc, from: Place, action: Action, label: &str) -> Self {
        let function = lower.functions[proc];
        let builder = TransitionBuilder::new(action, function, from, label);
        let actor = Actor { thread: TransitionBuilder::thread(), depth: TransitionBuilder::depth(), proc };
        Self {
            lower,
            builder,
            actor,
            reads: Vec::new(),
            writes: Vec::new(),
            guard: Vec::new(),
            faults: Vec::new(),
            path: Vec::new(),
            timeout: false,
            tokens: Vec::new(),
            deeds: Vec::new(),
            text: label.to_owned(),
            mismatch: Expr::Const(0),
            mismatch_words: None,
            covers: Vec::new(),
            partner_words: None,
        }
    }

    /// Adds a second process that moves in the same step, from this place; the result is its frame.
    pub(super) fn partner(&mut self, proc: Proc, from: Place) -> Actor {
        let thread = self.builder.var("u", Base::Thread);
        let depth = self.builder.var("e", Base::Depth);
        let token = vec![pdnet_net::Pattern::Bind(thread), pdnet_net::Pattern::Bind(depth)];
        self.builder.arc(ArcData::Take { place: from, token });
        Actor { thread: Expr::Var(thread), depth: Expr::Var(depth), proc }
    }

    /// Puts a token of a frame somewhere.
    pub(super) fn put(&mut self, place: Place, frame: Vec<Expr>) {
        self.tokens.push((place, frame));
    }

    /// The value of a cell, as this step sees it so far.
    pub(super) fn load(&mut self, place: Place, key: Vec<Expr>, when: Option<Expr>) -> Expr {
        let cells = self.lower.net.places[place].cells().expect("a place with cells");
        let (ty, is_frame) = (cells.value, matches!(cells.scope, Scope::Frame(_)));
        let mut behind: Vec<(Expr, Expr)> = Vec::new();
        for write in self.writes.iter().rev().filter(|write| write.place == place) {
            match same_key(&write.key, &key, is_frame) {
                Some(false) => {}
                Some(true) if write.when.is_none() => {
                    let value = Expr::convert(ty, write.value.clone());
                    return later(behind, value);
                }
                found => {
                    let mut condition = write.when.clone().unwrap_or(Expr::TRUE);
                    if found.is_none() {
                        condition = Expr::both(condition, keys_equal(&write.key, &key));
                    }
                    behind.push((condition, Expr::convert(ty, write.value.clone())));
                }
            }
        }
        let found = self.reads.iter().find(|(at, of, on, _)| *at == place && *of == key && *on == when);
        let value = match found {
            Some((_, _, _, value)) => value.clone(),
            None => {
                let name = &self.lower.net.places[place].name;
                let var = self.builder.var(name, Base::Int(ty));
                self.builder.arc(ArcData::Read { place, key: key.clone(), var, when: when.clone() });
                self.reads.push((place, key, when, Expr::Var(var)));
                Expr::Var(var)
            }
        };
        later(behind, value)
    }

    /// Writes a cell.
    pub(super) fn store(&mut self, place: Place, key: Vec<Expr>, value: Expr, when: Option<Expr>) {
        if when.is_none()
            && let Some(old) = self.writes.iter_mut().find(|old| old.place == place && old.key == key)
        {
            (old.value, old.when) = (value, None);
            return;
        }
        self.writes.push(Write { place, key, value, when });
    }

    /// Makes a condition a part of the guard.
    pub(super) fn require(&mut self, condition: Expr) {
        if condition != Expr::TRUE {
            self.guard.push(condition);
        }
    }

    /// Says that something goes wrong where the condition holds, if control comes here: what was required before must
    /// hold, too.
    pub(super) fn fault(&mut self, fault: Fault, condition: Expr) {
        let path = self.guard.iter().chain(&self.path);
        let condition = path.rev().fold(condition, |all, part| Expr::both(part.clone(), all));
        if condition != Expr::Const(0) {
            self.faults.push((fault, condition));
        }
    }

    /// Evaluates something that counts only under a condition.
    pub(super) fn under<R>(&mut self, condition: Expr, evaluate: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(condition);
        let result = evaluate(self);
        self.path.pop();
        result
    }

    /// The largest value that an expression can have, where it is plain that it is not negative.
    pub(super) fn upper(&self, expr: &Expr) -> Option<i64> {
        match expr {
            Expr::Const(value) => Some(*value).filter(|value| *value >= 0),
            Expr::Var(var) => match self.base_of(*var)? {
                Base::Int(ty) if !ty.signed && ty.bits < 32 => Some(ty.max()),
                Base::Thread => Some(i64::from(self.lower.max_processes) - 1),
                _ => None,
            },
            Expr::Binary(op, ..) if op.is_comparison() => Some(1),
            _ => None,
        }
    }

    fn base_of(&self, var: NetVar) -> Option<Base> {
        let found = self.reads.iter().find(|(_, _, _, value)| *value == Expr::Var(var));
        if let Some((place, ..)) = found {
            return self.lower.net.components(*place).last().copied();
        }
        (Expr::Var(var) == self.actor.thread).then_some(Base::Thread)
    }

    /// What can go wrong here, and when.
    pub(super) fn faults(&self) -> &[(Fault, Expr)] {
        &self.faults
    }

    /// The builder with guard and arcs, for a step that goes on. What goes wrong is excluded.
    pub(super) fn finish(mut self) -> Made {
        for (_, condition) in self.faults.clone() {
            self.require(Expr::logical_not(condition));
        }
        let mismatch = std::mem::replace(&mut self.mismatch, Expr::Const(0));
        self.require(Expr::logical_not(mismatch));
        for condition in std::mem::take(&mut self.guard) {
            self.builder.guard(condition);
        }
        for write in std::mem::take(&mut self.writes) {
            let Write { place, key, value, when } = write;
            self.builder.arc(ArcData::Write { place, key, value, when });
        }
        for (place, token) in std::mem::take(&mut self.tokens) {
            self.builder.arc(ArcData::Put { place, token });
        }
        let words = StepWords { text: self.text, deeds: self.deeds, partner: self.partner_words };
        Made { builder: self.builder, covers: self.covers, words }
    }

    /// The builder of a step that is not followed, such as a fault: it has the guard and no effect. The caller gives the
    /// condition under which it happens.
    pub(super) fn finish_without_effect(mut self, condition: Expr) -> Made {
        for part in std::mem::take(&mut self.guard) {
            self.builder.guard(part);
        }
        self.builder.guard(condition);
        let words = StepWords { text: self.text, deeds: Vec::new(), partner: None };
        Made { builder: self.builder, covers: self.covers, words }
    }

    /// The builder of the step in which this goes wrong. Of the guard only the first `kept` parts count: what goes wrong
    /// does so before it is known whether the statement can be executed.
    pub(super) fn finish_fault(mut self, fault: Fault, kept: usize) -> Made {
        self.guard.truncate(kept);
        let conditions = self.faults.iter().filter(|(found, _)| *found == fault);
        let condition =
            conditions.fold(Expr::Const(0), |any, (_, condition)| Expr::either(any, condition.clone()));
        self.finish_without_effect(condition)
    }

    /// The builder of the step in which a message is not as the trace says; none where there is no such step.
    pub(super) fn finish_mismatch(mut self) -> Option<Made> {
        let mismatch = std::mem::replace(&mut self.mismatch, Expr::Const(0));
        if mismatch == Expr::Const(0) || self.is_impossible() {
            return None;
        }
        for (_, condition) in self.faults.clone() {
            self.require(Expr::logical_not(condition));
        }
        let deeds = self.deeds.drain(..).chain(self.mismatch_words.take()).collect();
        let partner = self.partner_words.take();
        let mut made = self.finish_without_effect(mismatch);
        (made.words.deeds, made.words.partner) = (deeds, partner);
        Some(made)
    }

    /// An expression of this step, a copy of `original` with further reads, over the marking in place of those.
    pub(super) fn without_new_reads(&self, original: &Self, value: &Expr) -> Expr {
        let new = &self.reads[original.reads.len()..];
        value.replace_vars(&|var| {
            let found = new.iter().find(|(_, _, _, read)| *read == Expr::Var(var));
            match found {
                // Its key may rest on a new read itself.
                Some((place, key, ..)) => {
                    let key = key.iter().map(|part| self.without_new_reads(original, part));
                    Expr::Cell(*place, key.collect())
                }
                None => Expr::Var(var),
            }
        })
    }

    /// How many parts the guard has so far.
    pub(super) fn guard_len(&self) -> usize {
        self.guard.len()
    }

    /// Whether the guard is plainly never true.
    pub(super) fn is_impossible(&self) -> bool {
        self.guard.contains(&Expr::Const(0))
    }

    /// Does something, and forgets what goes wrong in it.
    pub(super) fn without_faults<R>(&mut self, evaluate: impl FnOnce(&mut Self) -> R) -> R {
        let kept = self.faults.len();
        let result = evaluate(self);
        self.faults.truncate(kept);
        result
    }
}

/// The value behind writes that may have changed it, the latest first.
fn later(behind: Vec<(Expr, Expr)>, value: Expr) -> Expr {
    behind.into_iter().rev().fold(value, |value, (condition, written)| Expr::cond(condition, written, value))
}

/// Whether two keys are the same, where that is plain. Different expressions for a frame are different frames: the
/// moving process, its partner, and a new one.
fn same_key(left: &[Expr], right: &[Expr], is_frame: bool) -> Option<bool> {
    if left == right {
        return Some(true);
    }
    for (position, (left, right)) in left.iter().zip(right).enumerate() {
        let is_plain = matches!((left, right), (Expr::Const(_), Expr::Const(_)));
        if left != right && (is_plain || (is_frame && position == 0)) {
            return Some(false);
        }
    }
    None
}

fn keys_equal(left: &[Expr], right: &[Expr]) -> Expr {
    left.iter().zip(right).fold(Expr::TRUE, |all, (left, right)| {
        if left == right { all } else { Expr::both(all, Expr::equal(left.clone(), right.clone())) }
    })
}

/// An operator on two numbers of 32 bits.
pub(super) fn int_op(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::binary(op, IntType::I32, left, right)
}

/// Whether an index is inside of an array.
pub(super) fn inside(index: Expr, length: u32) -> Expr {
    // As an unsigned number, a negative one is too large.
    Expr::binary(BinaryOp::Lt, IntType::U64, index, Expr::Const(i64::from(length)))
}
