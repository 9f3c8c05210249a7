//! What the expressions of one step make of inputs.

use std::collections::BTreeSet;

use pdnet_base::{Idx as _, IndexVec};

use super::classes::Observation;
use super::flow::{Content, Flow, MAX_CONSTANTS, MAX_FORMS, Opaque, Uses};
use super::pieces::value_at;
use super::{Cause, Input, Usage, form};
use crate::net::{Place, Transition, Var};
use crate::{BinaryOp, Expr, IntType};

/// A value between bounds as near as this counts as known where it is used in ways that are hard to split.
const MAX_SMALL: u64 = 256;

/// What an expression of a step may give: functions of one of the step's variables, and constants. Which of
/// them it is does not depend on the choice of representatives.
#[derive(Clone, Debug, Default)]
struct Result {
    functions: BTreeSet<(Var, Expr)>,
    constants: BTreeSet<i64>,
    /// Values that depend on no input, but are not known.
    unknown: bool,
}

/// What is known of a variable of a step.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) content: Content,
    /// Bounds of its value in this step.
    pub(super) range: Option<(i64, i64)>,
}

/// Evaluation of a step's expressions.
pub(super) struct Eval<'a, 'u> {
    pub(super) flow: &'a Flow<'a>,
    pub(super) transition: Option<Transition>,
    pub(super) vars: IndexVec<Var, Known>,
    pub(super) uses: Option<&'u mut Uses>,
}

impl Eval<'_, '_> {
    fn cause(&self, usage: Usage) -> Cause {
        Cause { usage, at: self.transition }
    }

    /// The function of an input that a function of a variable is, if the variable holds that form.
    fn instance(&self, input: Input, function: &Expr, form: &Expr) -> Expr {
        form::substitute(function, form, &self.flow.sources[input].universe)
    }

    /// The whole value of a function of a variable counts.
    fn look(&mut self, var: Var, function: &Expr, usage: Usage) {
        let Known { content, range } = self.vars[var].clone();
        for (input, form) in &content.forms {
            let expr = self.instance(*input, function, form);
            let within = range.map(|(low, high)| (form.clone(), low, high));
            let cause = self.cause(usage);
            if let Some(uses) = &mut self.uses {
                uses.add(*input, Observation { expr, within }, cause);
            }
        }
    }

    /// The whole value of every cell that an expression names counts.
    pub(super) fn look_at_cells(&mut self, expr: &Expr) {
        let mut places = Vec::new();
        expr.walk(&mut |expr| {
            if let Expr::Cell(place, _) = expr {
                places.push(*place);
            }
        });
        for place in places {
            for (input, form) in &self.flow.contents[place].forms {
                let cause = self.cause(Usage::Index);
                if let Some(uses) = &mut self.uses {
                    uses.add(*input, Observation { expr: form.clone(), within: None }, cause);
                }
            }
        }
    }

    /// The value of an expression counts.
    pub(super) fn value(&mut self, expr: &Expr, usage: Usage) {
        for (var, function) in self.eval(expr).functions {
            self.look(var, &function, usage);
        }
    }

    /// It counts whether an expression is 0.
    pub(super) fn truth(&mut self, expr: &Expr) {
        for (var, function) in self.eval(expr).functions {
            self.test(var, &function);
        }
    }

    /// It counts whether a function of a variable is 0.
    fn test(&mut self, var: Var, function: &Expr) {
        let content = self.vars[var].content.clone();
        for (input, form) in &content.forms {
            let observation = Observation::truth(self.instance(*input, function, form));
            let cause = self.cause(Usage::Compared);
            if let Some(uses) = &mut self.uses {
                uses.add(*input, observation, cause);
            }
        }
    }

    /// What a cell may hold after it was written.
    pub(super) fn write(&mut self, place: Place, value: &Expr) -> Content {
        let ty = self.flow.net.places[place].cells().map_or(IntType::I64, |cells| cells.value);
        let value = self.eval(value);
        let mut content = Content { forms: BTreeSet::new(), constants: Some(BTreeSet::new()) };
        if value.unknown {
            content.constants = None;
        }
        let mut constants: Vec<i64> = value.constants.into_iter().collect();
        for (var, function) in value.functions {
            let known = self.vars[var].content.clone();
            match &known.constants {
                Some(known) => constants.extend(known.iter().map(|x| value_at(&function, *x))),
                None => content.constants = None,
            }
            let is_opaque = match self.flow.opaque[place] {
                Opaque::No => false,
                Opaque::ExceptCopies => !matches!(function, Expr::Var(_)),
                Opaque::Always => true,
            };
            if is_opaque {
                self.look(var, &function, Usage::Repeated);
                if !known.forms.is_empty() {
                    content.constants = None;
                }
                continue;
            }
            let function = Expr::convert(ty, function);
            for (input, form) in &known.forms {
                match self.instance(*input, &function, form) {
                    Expr::Const(value) => constants.push(value),
                    form => drop(content.forms.insert((*input, form))),
                }
            }
        }
        if let Some(known) = &mut content.constants {
            known.extend(constants.into_iter().map(|value| ty.wrap(value)));
        }
        content
    }

    fn eval(&mut self, expr: &Expr) -> Result {
        match expr {
            Expr::Const(value) => Result { constants: BTreeSet::from([*value]), ..Result::default() },
            Expr::Var(var) => {
                let content = &self.vars[*var].content;
                match (&content.constants, content.forms.is_empty()) {
                    (Some(constants), true) => Result { constants: constants.clone(), ..Result::default() },
                    (None, true) => Result { unknown: true, ..Result::default() },
                    (_, false) => {
                        let functions = BTreeSet::from([(*var, Expr::Var(Var::new(0)))]);
                        Result { functions, ..Result::default() }
                    }
                }
            }
            Expr::Unary(op, ty, operand) => {
                let operand = self.eval(operand);
                operand.map(|function| Expr::unary(*op, *ty, function))
            }
            Expr::Convert(ty, operand) => {
                let operand = self.eval(operand);
                operand.map(|function| Expr::convert(*ty, function))
            }
            Expr::Binary(op, ty, left, right) => {
                let (left, right) = (self.eval(left), self.eval(right));
                self.binary(*op, *ty, &left, &right)
            }
            Expr::If(condition, then, otherwise) => {
                self.truth(condition);
                let (mut result, other) = (self.eval(then), self.eval(otherwise));
                result.functions.extend(other.functions);
                result.constants.extend(other.constants);
                result.unknown |= other.unknown;
                self.limited(result)
            }
            // Only atoms have these, and there they are variables by now.
            Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => {
                Result { unknown: true, ..Result::default() }
            }
        }
    }

    /// A result with few alternatives.
    fn limited(&mut self, mut result: Result) -> Result {
        if result.constants.len() > MAX_CONSTANTS {
            result.constants.clear();
            result.unknown = true;
        }
        if result.functions.len() > MAX_FORMS {
            for (var, function) in std::mem::take(&mut result.functions) {
                self.look(var, &function, Usage::Arithmetic);
            }
            result.unknown = true;
        }
        result
    }

    fn binary(&mut self, op: BinaryOp, ty: IntType, left: &Result, right: &Result) -> Result {
        let compares = matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le);
        let usage = if compares { Usage::ComparedWithVariable } else { Usage::Arithmetic };
        let mut result = Result { unknown: left.unknown || right.unknown, ..Result::default() };
        for a in &left.constants {
            result.constants.extend(right.constants.iter().map(|b| op.apply(ty, *a, *b)));
        }
        let mut found: BTreeSet<(Var, Expr)> = BTreeSet::new();
        for (var, function) in &left.functions {
            if right.unknown {
                self.look(*var, function, usage);
            }
            let with = |value: &i64| (*var, Expr::binary(op, ty, function.clone(), Expr::Const(*value)));
            found.extend(right.constants.iter().map(with));
            for (other_var, other) in right.functions.iter().filter(|(other_var, _)| other_var != var) {
                self.two_variables((op, ty, usage), (*var, function), (*other_var, other));
                result.unknown = true;
            }
            for (_, other) in right.functions.iter().filter(|(other_var, _)| other_var == var) {
                found.insert((*var, Expr::binary(op, ty, function.clone(), other.clone())));
            }
        }
        for (var, function) in &right.functions {
            if left.unknown {
                self.look(*var, function, usage);
            }
            let with = |value: &i64| (*var, Expr::binary(op, ty, Expr::Const(*value), function.clone()));
            found.extend(left.constants.iter().map(with));
        }
        if compares {
            // What a comparison says is found out at once, and then no longer a function of an input.
            found.iter().for_each(|(var, function)| self.test(*var, function));
            let is_known = !result.unknown && found.is_empty();
            let constants = if is_known { result.constants } else { BTreeSet::from([0, 1]) };
            return Result { constants, ..Result::default() };
        }
        for (var, function) in found {
            if self.is_better_known(var, &function) {
                self.look(var, &function, Usage::Arithmetic);
                result.unknown = true;
            } else {
                result.functions.insert((var, function));
            }
        }
        self.limited(result)
    }

    /// Whether a function is hard to follow, and few values come into question.
    fn is_better_known(&self, var: Var, function: &Expr) -> bool {
        let is_hard = match function {
            Expr::Binary(BinaryOp::Or | BinaryOp::Xor, ..) => true,
            Expr::Binary(_, _, left, right) => !left.vars().is_empty() && !right.vars().is_empty(),
            _ => false,
        };
        is_hard && self.vars[var].range.is_some_and(|(low, high)| high.abs_diff(low) < MAX_SMALL)
    }

    /// An operation on two variables of which both may hold inputs.
    fn two_variables(
        &mut self,
        (op, ty, usage): (BinaryOp, IntType, Usage),
        (left_var, left): (Var, &Expr),
        (right_var, right): (Var, &Expr),
    ) {
        let contents = (self.vars[left_var].content.clone(), self.vars[right_var].content.clone());
        let identity = Expr::Var(Var::new(0));
        let is_same = |eval: &Self, content: &Content, function: &Expr| {
            content.forms.iter().all(|(input, form)| eval.instance(*input, function, form) == identity)
        };
        let as_they_are = is_same(self, &contents.0, left) && is_same(self, &contents.1, right);
        let (Some(lefts), Some(rights), true, Usage::ComparedWithVariable) =
            (&contents.0.constants, &contents.1.constants, as_they_are, usage)
        else {
            self.look(left_var, left, usage);
            self.look(right_var, right, usage);
            return;
        };
        for value in rights {
            let constant = Expr::Const(value_at(right, *value));
            self.test(left_var, &Expr::binary(op, ty, left.clone(), constant));
        }
        for value in lefts {
            let constant = Expr::Const(value_at(left, *value));
            self.test(right_var, &Expr::binary(op, ty, constant, right.clone()));
        }
        let cause = self.cause(usage);
        let is_order = matches!(op, BinaryOp::Lt | BinaryOp::Le);
        if let Some(uses) = &mut self.uses {
            for (first, _) in &contents.0.forms {
                for (second, _) in &contents.1.forms {
                    let pair = (*first.min(second), *first.max(second));
                    uses.comparisons.entry(pair).or_insert((false, cause)).0 |= is_order;
                }
            }
        }
    }
}

impl Result {
    fn map(self, function: impl Fn(Expr) -> Expr) -> Self {
        let constants = self.constants.into_iter().map(|value| match function(Expr::Const(value)) {
            Expr::Const(value) => value,
            _ => unreachable!("operators on constants give constants"),
        });
        Self {
            constants: constants.collect(),
            functions: self.functions.into_iter().map(|(var, old)| (var, function(old))).collect(),
            unknown: self.unknown,
        }
    }
}
