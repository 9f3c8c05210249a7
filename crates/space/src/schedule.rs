//! In which order a transition's variables are bound.
//!
//! Most transitions that are looked at are not enabled. So a part of the guard is tested as soon as its variables have
//! their values, and what only the firing needs is read when all parts of the guard hold: a receive from a channel of
//! twelve slots reads two cells where the message does not fit, and not all of them.
//!
//! Reading has no effect and cannot fail, and expressions are total, so that the order changes no binding. Steps that
//! bind in several ways stay in their order, and so do the bindings that they make.

use pdnet_net::Expr;

use crate::code::{Code, Operand, Reg};
use crate::transition::{Binding, Key, Member, Part, Prefix};

/// The parts of a guard, all of which must hold.
pub(crate) fn conjuncts(guard: &Expr) -> Vec<&Expr> {
    match guard {
        Expr::If(condition, then, otherwise) if **otherwise == Expr::Const(0) => {
            let mut parts = conjuncts(condition);
            parts.extend(conjuncts(then));
            parts
        }
        Expr::Const(value) if *value != 0 => Vec::new(),
        Expr::Const(_)
        | Expr::Var(_)
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Convert(..)
        | Expr::If(..)
        | Expr::Cell(..)
        | Expr::Marked(..)
        | Expr::Deadlock => vec![guard],
    }
}

/// Puts the steps of a binding and the tests of the guard's parts into an order.
pub(crate) fn schedule(code: &Code, bindings: Vec<Binding>, guards: &[Operand]) -> Vec<Binding> {
    let items = bindings.into_iter().map(|binding| Item::new(code, binding));
    let mut order = Order { items: items.collect(), ordered: Vec::new() };
    let mut guards: Vec<Item> =
        guards.iter().map(|&guard| Item::new(code, Binding::Holds { condition: guard })).collect();
    order.test(&mut guards);
    for at in 0..order.items.len() {
        if !order.items[at].waits {
            order.emit(at);
            order.test(&mut guards);
        }
    }
    for at in 0..order.items.len() {
        order.emit(at);
    }
    order.ordered
}

struct Item {
    /// Nothing once it has its place in the order.
    binding: Option<Binding>,
    defines: Vec<Reg>,
    uses: Vec<Reg>,
    /// It is done only when its value is needed.
    waits: bool,
}

impl Item {
    fn new(code: &Code, binding: Binding) -> Self {
        let (mut defines, mut operands) = (Vec::new(), Vec::new());
        let part = |part: Part, defines: &mut Vec<Reg>, operands: &mut Vec<Operand>| match part {
            Part::Bind(var) => defines.push(var),
            Part::Is(operand) => operands.push(operand),
        };
        let waits = match &binding {
            Binding::Choose { var, .. } => {
                defines.push(*var);
                false
            }
            Binding::Frame { thread, depth, .. } => {
                part(*thread, &mut defines, &mut operands);
                part(*depth, &mut defines, &mut operands);
                false
            }
            Binding::Member(Member { row, thread, .. }) => {
                row.iter().chain([thread]).for_each(|&found| part(found, &mut defines, &mut operands));
                false
            }
            Binding::Count { .. } => false,
            Binding::Absent(prefix) => {
                match prefix {
                    Prefix::Count { .. } => {}
                    Prefix::Sets { row, thread, .. } => operands.extend(row.iter().chain(thread)),
                    Prefix::Frames { thread, depth, .. } => operands.extend(thread.iter().chain(depth)),
                }
                false
            }
            Binding::Read { var, key, when, .. } => {
                defines.push(*var);
                match key {
                    Key::Own { index } => operands.extend(index),
                    Key::Any { thread, depth, index } => {
                        operands.push(*thread);
                        operands.extend(depth.iter().chain(index));
                    }
                }
                operands.extend(when);
                true
            }
            Binding::ReadRun { var, count, index, .. } => {
                defines.extend(*var..*var + *count);
                operands.push(*index);
                true
            }
            Binding::Compute { var, value } => {
                defines.push(*var);
                operands.push(*value);
                true
            }
            Binding::Holds { condition } => {
                operands.push(*condition);
                false
            }
        };
        let uses = operands.into_iter().flat_map(|operand| code.variables(operand)).collect();
        Self { binding: Some(binding), defines, uses, waits }
    }
}

struct Order {
    items: Vec<Item>,
    ordered: Vec<Binding>,
}

impl Order {
    /// Tests what can be tested now.
    fn test(&mut self, guards: &mut Vec<Item>) {
        let mut later = Vec::new();
        for mut guard in guards.drain(..) {
            if guard.uses.iter().all(|&used| self.is_at_hand(used)) {
                guard.uses.iter().for_each(|&used| self.define(used));
                self.ordered.extend(guard.binding.take());
            } else {
                later.push(guard);
            }
        }
        *guards = later;
    }

    /// Whether a variable has its value, or gets it by nothing but reading.
    fn is_at_hand(&self, used: Reg) -> bool {
        let definer = self.definer(used);
        definer.is_none_or(|at| {
            let item = &self.items[at];
            item.waits && item.uses.iter().all(|&used| self.is_at_hand(used))
        })
    }

    /// What gives a variable its value and has no place yet.
    fn definer(&self, used: Reg) -> Option<usize> {
        self.items.iter().position(|item| item.binding.is_some() && item.defines.contains(&used))
    }

    fn define(&mut self, used: Reg) {
        if let Some(at) = self.definer(used) {
            self.emit(at);
        }
    }

    /// Gives an item its place, behind all that it needs.
    fn emit(&mut self, at: usize) {
        if self.items[at].binding.is_none() {
            return;
        }
        for used in self.items[at].uses.clone() {
            self.define(used);
        }
        self.ordered.extend(self.items[at].binding.take());
    }
}
