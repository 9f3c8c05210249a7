//! Where inputs go, and what the program finds out about them.
//!
//! The analysis keeps, for each place with cells, which functions of which inputs its cells may hold, and
//! which other values, as long as these are few constants. It does not look at the order of steps.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::{Idx as _, IndexVec};

use super::classes::Observation;
use super::form;
use super::regions::Regions;
use super::{Cause, Input, Source, Usage};
use crate::net::{ArcData, Pattern, Place, Transition, TransitionData, Var};
use crate::{BinaryOp, Expr, IntType, Net};

/// The most functions of inputs in the cells of one place, or as results of one expression.
const MAX_FORMS: usize = 24;
/// The most constants likewise.
const MAX_CONSTANTS: usize = 16;
/// The largest function, counted in operators and operands.
const MAX_NODES: usize = 40;
/// A value between bounds as near as this counts as known where it is used in ways that are hard to split.
const MAX_SMALL: u64 = 256;

/// What a cell may hold: functions of inputs, and constants (`None`: other values too).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    forms: BTreeSet<(Input, Expr)>,
    constants: Option<BTreeSet<i64>>,
}

/// What an expression of a step may give: functions of one of the step's variables, and constants. Which of
/// them it is does not depend on the choice of representatives.
#[derive(Clone, Debug, Default)]
struct Result {
    functions: BTreeSet<(Var, Expr)>,
    constants: BTreeSet<i64>,
    /// Values that depend on no input, but are not known.
    unknown: bool,
}

/// What the program finds out about inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub(super) observations: BTreeMap<Input, BTreeMap<Observation, Cause>>,
    /// Inputs that are compared with each other as they are; `true` where their order matters.
    pub(super) comparisons: BTreeMap<(Input, Input), (bool, Cause)>,
}

impl Uses {
    fn add(&mut self, input: Input, observation: Observation, cause: Cause) {
        self.observations.entry(input).or_default().entry(observation).or_insert(cause);
    }
}

/// Finds all uses of the inputs.
pub(super) fn uses(net: &Net, sources: &IndexVec<Input, Source>, regions: &Regions, atoms: &[Expr]) -> Uses {
    let mut opaque = IndexVec::filled(Opaque::No, net.places.len());
    if let Some(atomic) = net.atomic {
        opaque[atomic] = Opaque::Always;
    }
    loop {
        let mut flow = Flow { net, sources, regions, opaque: &opaque, contents: IndexVec::new() };
        match flow.run() {
            Ok(()) => return flow.collect(atoms),
            // Its cells hold more and more functions: from now on, what is written there counts as known.
            Err(place) => {
                opaque[place] = match opaque[place] {
                    Opaque::No => Opaque::ExceptCopies,
                    Opaque::ExceptCopies | Opaque::Always => Opaque::Always,
                }
            }
        }
    }
}

/// Whether what is written to the cells of a place is observed, so that they hold no functions of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opaque {
    No,
    /// Only copies stay functions; `x = x + 1` is enough to be rid of a loop.
    ExceptCopies,
    Always,
}

struct Flow<'a> {
    net: &'a Net,
    sources: &'a IndexVec<Input, Source>,
    regions: &'a Regions,
    opaque: &'a IndexVec<Place, Opaque>,
    contents: IndexVec<Place, Content>,
}

impl Flow<'_> {
    /// The least solution; a place that has none with few functions is the error.
    fn run(&mut self) -> std::result::Result<(), Place> {
        self.contents = self.net.places.iter().map(initial).collect();
        let mut readers: IndexVec<Place, Vec<Transition>> =
            IndexVec::filled(Vec::new(), self.net.places.len());
        for (transition, data) in self.net.transitions.iter_enumerated() {
            for arc in &data.arcs {
                if let ArcData::Read { place, .. } = arc {
                    readers[*place].push(transition);
                }
            }
        }
        let mut queue: BTreeSet<Transition> = self.net.transitions.indices().collect();
        while let Some(transition) = queue.pop_first() {
            for (place, content) in self.step(transition).run(None) {
                let known = &mut self.contents[place];
                let before = (known.forms.len(), known.constants.as_ref().map(BTreeSet::len));
                known.forms.extend(content.forms);
                known.constants = match (known.constants.take(), content.constants) {
                    (Some(mut known), Some(new)) => {
                        known.extend(new);
                        Some(known).filter(|known| known.len() <= MAX_CONSTANTS)
                    }
                    _ => None,
                };
                if known.forms.len() > MAX_FORMS
                    || known.forms.iter().any(|(_, form)| form::n_nodes(form) > MAX_NODES)
                {
                    return Err(place);
                }
                if before != (known.forms.len(), known.constants.as_ref().map(BTreeSet::len)) {
                    queue.extend(readers[place].iter().copied());
                }
            }
        }
        Ok(())
    }

    fn collect(&self, atoms: &[Expr]) -> Uses {
        let mut uses = Uses::default();
        for transition in self.net.transitions.indices() {
            self.step(transition).run(Some(&mut uses));
        }
        for atom in atoms {
            let mut data = Vec::new();
            let expr = self.without_cells(atom, &mut data);
            let vars = data.into_iter().map(|content| Known { content, range: None }).collect();
            let mut eval = Eval { flow: self, transition: None, vars, uses: Some(&mut uses) };
            keys(atom).iter().for_each(|key| eval.look_at_cells(key));
            eval.truth(&expr);
        }
        uses
    }

    /// The atom with a variable for each cell that it looks at.
    fn without_cells(&self, atom: &Expr, cells: &mut Vec<Content>) -> Expr {
        match atom {
            Expr::Const(_) | Expr::Var(_) => atom.clone(),
            Expr::Unary(op, ty, operand) => Expr::unary(*op, *ty, self.without_cells(operand, cells)),
            Expr::Binary(op, ty, left, right) => {
                Expr::binary(*op, *ty, self.without_cells(left, cells), self.without_cells(right, cells))
            }
            Expr::Convert(ty, operand) => Expr::convert(*ty, self.without_cells(operand, cells)),
            Expr::If(condition, then, otherwise) => Expr::cond(
                self.without_cells(condition, cells),
                self.without_cells(then, cells),
                self.without_cells(otherwise, cells),
            ),
            Expr::Cell(place, _) => {
                let mut content = self.contents[*place].clone();
                content.constants = content.constants.map(|mut constants| {
                    constants.insert(0);
                    constants
                });
                cells.push(content);
                Expr::Var(Var::new(cells.len() - 1))
            }
            Expr::Marked(..) | Expr::Deadlock => {
                cells.push(Content { forms: BTreeSet::new(), constants: Some(BTreeSet::from([0, 1])) });
                Expr::Var(Var::new(cells.len() - 1))
            }
        }
    }

    fn step<'a>(&'a self, transition: Transition) -> Step<'a> {
        Step { flow: self, transition, data: &self.net.transitions[transition] }
    }
}

/// The keys of cells and prefixes of tokens that an atom names.
fn keys(atom: &Expr) -> Vec<Expr> {
    let mut found = Vec::new();
    atom.walk(&mut |expr| {
        if let Expr::Cell(_, parts) | Expr::Marked(_, parts) = expr {
            found.extend(parts.iter().cloned());
        }
    });
    found
}

fn initial(data: &crate::PlaceData) -> Content {
    let constants = data.cells().map(|cells| {
        let outside = cells.length.map(|_| 0);
        cells.listed.iter().map(|(_, value)| *value).chain([cells.default]).chain(outside).collect()
    });
    let constants = constants.filter(|found: &BTreeSet<i64>| found.len() <= MAX_CONSTANTS);
    Content { forms: BTreeSet::new(), constants }
}

/// A transition under analysis.
struct Step<'a> {
    flow: &'a Flow<'a>,
    transition: Transition,
    data: &'a TransitionData,
}

impl Step<'_> {
    /// What it adds to the cells of places; what it observes goes to `uses`.
    fn run(&self, uses: Option<&mut Uses>) -> Vec<(Place, Content)> {
        let unknown = Known { content: Content { forms: BTreeSet::new(), constants: None }, range: None };
        let vars = IndexVec::filled(unknown, self.data.vars.len());
        let mut eval = Eval { flow: self.flow, transition: Some(self.transition), vars, uses };
        for (var, _) in self.data.vars.iter_enumerated().filter(|(_, data)| data.choice.is_some()) {
            let is_here = |source: &Source| source.transition == self.transition && source.var == var;
            let found = self.flow.sources.iter_enumerated().find(|(_, source)| is_here(source));
            let forms = found.map(|(input, _)| (input, Expr::Var(Var::new(0)))).into_iter().collect();
            eval.vars[var].content = Content { forms, constants: Some(BTreeSet::new()) };
        }
        let mut written = Vec::new();
        for (number, arc) in self.data.arcs.iter().enumerate() {
            match arc {
                ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                    for pattern in token {
                        if let Pattern::Is(expr) = pattern {
                            eval.value(expr, Usage::Token);
                        }
                    }
                }
                ArcData::Put { token: parts, .. }
                | ArcData::Inhibit { prefix: parts, .. }
                | ArcData::Drain { prefix: parts, .. } => {
                    parts.iter().for_each(|part| eval.value(part, Usage::Token));
                }
                ArcData::Read { place, key, var, when } => {
                    key.iter().for_each(|part| eval.value(part, Usage::Index));
                    when.iter().for_each(|when| eval.truth(when));
                    let mut content = self.flow.contents[*place].clone();
                    if when.is_some() {
                        content.constants.iter_mut().for_each(|constants| {
                            constants.insert(0);
                        });
                    }
                    let range = self.flow.regions.at(self.transition, number);
                    eval.vars[*var] = Known { content, range };
                }
                ArcData::Write { .. } | ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        self.data.guard.iter().for_each(|guard| eval.truth(guard));
        for arc in &self.data.arcs {
            if let ArcData::Write { place, key, value, when } = arc {
                key.iter().for_each(|part| eval.value(part, Usage::Index));
                when.iter().for_each(|when| eval.truth(when));
                written.push((*place, eval.write(*place, value)));
            }
        }
        written
    }
}

/// What is known of a variable of a step.
#[derive(Clone, Debug)]
struct Known {
    content: Content,
    /// Bounds of its value in this step.
    range: Option<(i64, i64)>,
}

/// Evaluation of a step's expressions.
struct Eval<'a, 'u> {
    flow: &'a Flow<'a>,
    transition: Option<Transition>,
    vars: IndexVec<Var, Known>,
    uses: Option<&'u mut Uses>,
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
    fn look_at_cells(&mut self, expr: &Expr) {
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
    fn value(&mut self, expr: &Expr, usage: Usage) {
        for (var, function) in self.eval(expr).functions {
            self.look(var, &function, usage);
        }
    }

    /// It counts whether an expression is 0.
    fn truth(&mut self, expr: &Expr) {
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
    fn write(&mut self, place: Place, value: &Expr) -> Content {
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
                Some(known) => constants.extend(known.iter().map(|x| super::pieces::value_at(&function, *x))),
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
            let constant = Expr::Const(super::pieces::value_at(right, *value));
            self.test(left_var, &Expr::binary(op, ty, left.clone(), constant));
        }
        for value in lefts {
            let constant = Expr::Const(super::pieces::value_at(left, *value));
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
