//! How large an integer may be at most, as far as the program's constants show it.
//!
//! A block whose size is not constant at first sight often has one all the same: `const int n = 100`, or a parameter that
//! gets the same constant everywhere. This only decides how much room there is for such a block: what does not fit
//! meets a bound of the model, so that a wrong guess costs an answer and never makes a wrong one.

use std::collections::BTreeMap;

use crate::tree::{BinaryOp, Expr, ExprKind, LvalueKind, Variable};

/// How often the value of a variable may be found to be larger before it counts as unknown: it is counted up.
const MAX_RAISES: u8 = 8;

/// The largest values of variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Largest {
    /// What is assigned to each; `None` where that is not known.
    values: BTreeMap<Variable, (Option<u64>, u8)>,
}

impl Largest {
    /// A variable gets a value; whether anything is new about it.
    pub(crate) fn assign(&mut self, variable: Variable, value: &Expr) -> bool {
        let new = self.of(value);
        self.raise(variable, new)
    }

    /// A variable is changed in a way that nobody follows.
    pub(crate) fn forget(&mut self, variable: Variable) -> bool {
        self.raise(variable, None)
    }

    fn raise(&mut self, variable: Variable, new: Option<u64>) -> bool {
        let Some((old, n_raises)) = self.values.get_mut(&variable) else {
            self.values.insert(variable, (new, 0));
            return true;
        };
        if old.is_none() || (new.is_some() && new <= *old) {
            return false;
        }
        *n_raises += 1;
        *old = new.filter(|_| *n_raises <= MAX_RAISES);
        true
    }

    /// The largest value of an expression. What would be negative counts as unknown.
    pub(crate) fn of(&self, expr: &Expr) -> Option<u64> {
        match &expr.kind {
            ExprKind::Int(value) => u64::try_from(*value).ok(),
            ExprKind::Cast(operand) => self.of(operand),
            ExprKind::Binary(BinaryOp::Mul, left, right) => self.of(left)?.checked_mul(self.of(right)?),
            ExprKind::Binary(BinaryOp::Add, left, right) => self.of(left)?.checked_add(self.of(right)?),
            ExprKind::Binary(BinaryOp::Sub, left, _) => self.of(left),
            ExprKind::Conditional(_, then, otherwise) => Some(self.of(then)?.max(self.of(otherwise)?)),
            ExprKind::Load(lvalue) => match lvalue.kind {
                LvalueKind::Variable(variable) => self.values.get(&variable)?.0,
                _ => None,
            },
            _ => None,
        }
    }
}
