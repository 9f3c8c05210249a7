//! Steps: each transition as options of the processes of the threads that can take it.
//!
//! An option is one `d_step`: a condition, and what is done where it is true. There is one for each thread and depth at
//! which a frame can take the step, and for each value of those variables that are listed: inputs, what a token brings,
//! cells whose values are numbered, and what decides where a frame is put. The others are read where they are used.
//! Guards, keys and values speak of the state before the step: what an earlier assignment of the step would change is
//! kept in a hidden variable first.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Effect, Expr, Pattern, Place, Scope, TransitionData, Var};

use super::expr::{Code, ExprWriter, Refusal, equality};
use super::model::Model;
use super::names::comment;
use super::narrow::narrow;
use super::span::{ALL, Span};
use super::values::bound_by_tokens;

/// A step with more combinations of listed values is refused.
const MAX_OPTIONS: usize = 1024;

/// An option of a process.
pub(super) struct StepOption {
    pub(super) condition: String,
    pub(super) statements: Vec<String>,
    /// How many hidden variables it needs.
    pub(super) n_kept: usize,
}

/// Writes the options of a transition for one thread and depth.
pub(super) struct StepWriter<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) data: &'a TransitionData,
    pub(super) thread: i64,
    pub(super) depth: i64,
    /// The flags of properties that the step breaks.
    pub(super) failing: &'a [String],
}

/// The variables with the value that they have in an option.
type Listed = BTreeMap<Var, i64>;

impl StepWriter<'_> {
    /// The options.
    pub(super) fn options(&self) -> Result<Vec<StepOption>, Refusal> {
        let listed = self.listed_vars();
        match self.with_listed(&listed) {
            Ok(options) => Ok(options),
            // What does not fit into 32 bits in general may do so value by value.
            Err(first) => {
                let mut more = listed;
                more.extend(self.data.vars.indices().filter(|&var| self.list(var).is_some()));
                self.with_listed(&more).map_err(|_| first)
            }
        }
    }

    fn with_listed(&self, listed: &BTreeSet<Var>) -> Result<Vec<StepOption>, Refusal> {
        let mut lists: Vec<(Var, Vec<i64>)> = Vec::new();
        let mut n = 1;
        for &var in listed {
            let Some(list) = self.list(var) else {
                let name = &self.data.vars[var].name;
                return Err(Refusal::new(format!("`{name}` has too many values to be listed one by one")));
            };
            n *= list.len();
            if n > MAX_OPTIONS {
                let names: Vec<String> =
                    listed.iter().map(|var| format!("`{}`", self.data.vars[*var].name)).collect();
                return Err(Refusal::new(format!("{} have too many values to be listed", names.join(", "))));
            }
            lists.push((var, list));
        }
        let mut options = Vec::new();
        self.combine(&lists, &mut self.own(), &mut options)?;
        Ok(options)
    }

    fn own(&self) -> Listed {
        Listed::from([(TransitionData::thread_var(), self.thread), (TransitionData::depth_var(), self.depth)])
    }

    fn combine(
        &self,
        lists: &[(Var, Vec<i64>)],
        bound: &mut Listed,
        options: &mut Vec<StepOption>,
    ) -> Result<(), Refusal> {
        let Some(((var, list), rest)) = lists.split_first() else {
            let mut option = OptionWriter { step: self, bound: bound.clone(), vars: BTreeMap::new() };
            options.extend(option.write()?);
            return Ok(());
        };
        for &value in list {
            bound.insert(*var, value);
            self.combine(rest, bound, options)?;
        }
        bound.remove(var);
        Ok(())
    }

    /// All values of a variable that is not the frame's, where they are few.
    fn list(&self, var: Var) -> Option<Vec<i64>> {
        if self.own().contains_key(&var) {
            return None;
        }
        let model = self.model;
        if let Some(domain) = &self.data.vars[var].choice {
            let n: i128 =
                domain.ranges.iter().map(|(low, high)| i128::from(*high) - i128::from(*low) + 1).sum();
            return (n <= MAX_OPTIONS as i128).then(|| domain.values().collect());
        }
        model.possible.of_var(model.net, model.n_threads, self.data, var).list()
    }

    /// The variables that must have one value in an option.
    fn listed_vars(&self) -> BTreeSet<Var> {
        let (model, data) = (self.model, self.data);
        let choices = data.vars.iter_enumerated().filter(|(_, var)| var.choice.is_some());
        let mut listed: BTreeSet<Var> = choices.map(|(var, _)| var).collect();
        listed.extend(bound_by_tokens(data));
        for arc in data.arcs.iter().skip(1) {
            match arc {
                ArcData::Take { place, token } | ArcData::Test { place, token }
                    if model.net.is_frame_place(*place) =>
                {
                    for pattern in token {
                        if let Pattern::Is(expr) = pattern {
                            listed.extend(expr.vars());
                        }
                    }
                }
                ArcData::Put { place, token } if model.net.is_frame_place(*place) => {
                    listed.extend(token.iter().flat_map(Expr::vars));
                }
                ArcData::Read { place, var, .. } if model.tables.contains_key(place) => {
                    listed.insert(*var);
                }
                ArcData::Write { place, value, .. } if model.tables.contains_key(place) => {
                    listed.extend(value.vars());
                }
                ArcData::Take { .. }
                | ArcData::Test { .. }
                | ArcData::Put { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Drain { .. }
                | ArcData::Read { .. }
                | ArcData::Write { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => {}
            }
        }
        listed.retain(|var| !self.own().contains_key(var));
        listed
    }
}

/// An assignment to a cell.
struct Assignment {
    place: Place,
    index: Code,
    value: Code,
    when: Option<Code>,
}

struct OptionWriter<'a> {
    step: &'a StepWriter<'a>,
    bound: Listed,
    vars: BTreeMap<Var, Code>,
}

/// What came of adding a condition.
enum Added {
    Possible,
    Impossible,
}

impl OptionWriter<'_> {
    /// The option; none where its condition is never true.
    fn write(&mut self) -> Result<Option<StepOption>, Refusal> {
        let Some(conditions) = self.conditions()? else { return Ok(None) };
        let texts: Vec<&str> = conditions.iter().map(|code| code.text.as_str()).collect();
        let condition = texts.join(" && ");
        let mut statements = Vec::new();
        for flag in self.step.failing {
            statements.push(format!("FAIL({flag})"));
        }
        let effect = self.step.data.action.effect();
        if effect == Effect::Prune {
            statements.push(format!("stop({})", stop_reason(self.step.data)));
            return Ok(Some(StepOption { condition, statements, n_kept: 0 }));
        }
        let Some(frames) = self.move_frames(effect)? else { return Ok(None) };
        let tokens = self.move_tokens()?;
        let (kept, assignments) = self.assign(self.assignments()?);
        let n_kept = kept.len();
        statements.extend(kept);
        statements.extend(tokens);
        statements.extend(assignments);
        statements.extend(frames);
        match effect {
            Effect::None | Effect::Prune => {}
            Effect::EndThread => statements.push(format!("end_thread_{}()", self.step.thread)),
            Effect::EndProcess => statements.push("end_process()".to_owned()),
        }
        Ok(Some(StepOption { condition, statements, n_kept }))
    }

    fn value(&self, expr: &Expr) -> Result<Code, Refusal> {
        let bound =
            expr.replace_vars(&|var| self.bound.get(&var).map_or(Expr::Var(var), |v| Expr::Const(*v)));
        let vars = |var: Var| self.vars.get(&var).cloned();
        ExprWriter { model: self.step.model, vars: &vars, in_formula: false }.write(&bound)
    }

    fn values(&self, exprs: &[Expr]) -> Result<Vec<Code>, Refusal> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    fn pattern(&self, pattern: &Pattern) -> Result<Code, Refusal> {
        match pattern {
            Pattern::Is(expr) => self.value(expr),
            Pattern::Bind(var) => self.value(&Expr::Var(*var)),
        }
    }

    /// A token as constants, for frames.
    fn frame(&self, parts: &[Code]) -> Result<(i64, i64), Refusal> {
        match parts {
            [thread, depth] => match (thread.span.single(), depth.span.single()) {
                (Some(thread), Some(depth)) => Ok((thread, depth)),
                _ => Err(Refusal::new("the number of a thread is computed in a way that cannot be listed")),
            },
            _ => Err(Refusal::new("a frame without thread and depth")),
        }
    }

    /// When the step can be taken; none where never.
    fn conditions(&mut self) -> Result<Option<Vec<Code>>, Refusal> {
        let step = self.step;
        let model = step.model;
        let mut found: Vec<Code> = Vec::new();
        for (number, arc) in step.data.arcs.iter().enumerate() {
            let added = match arc {
                ArcData::Take { place, .. } if number == 0 => {
                    found.push(model.is_at(*place, step.thread, step.depth));
                    self.atomic(&mut found)
                }
                ArcData::Take { place, token } | ArcData::Test { place, token } => {
                    let parts: Result<Vec<Code>, Refusal> =
                        token.iter().map(|pattern| self.pattern(pattern)).collect();
                    self.token_is_there(*place, &parts?, &mut found)?
                }
                ArcData::Inhibit { place, prefix } => {
                    let prefix = self.values(prefix)?;
                    let vars = |_| None;
                    let writer = ExprWriter { model, vars: &vars, in_formula: false };
                    let marked = writer.marked(*place, &prefix);
                    match marked.span.truth() {
                        Some(is_marked) => add(Code::constant(i64::from(!is_marked)), &mut found),
                        None => add(marked.negated(), &mut found),
                    }
                }
                ArcData::Read { place, key, var, when } => {
                    self.read(*place, key, *var, when.as_ref(), &mut found)?
                }
                ArcData::Put { .. }
                | ArcData::Drain { .. }
                | ArcData::Write { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => Added::Possible,
            };
            if matches!(added, Added::Impossible) {
                return Ok(None);
            }
        }
        if let Some(guard) = &step.data.guard {
            let is_possible = matches!(add(self.value(guard)?, &mut found), Added::Possible);
            if !is_possible || !self.narrow(guard) {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Where the step is taken, its guard is true: what it does may rely on that. `false` where it never is.
    fn narrow(&mut self, guard: &Expr) -> bool {
        let vars = self.step.data.vars.indices();
        let span_of = |var: Var| match (self.bound.get(&var), self.vars.get(&var)) {
            (Some(value), _) => Span::one(*value),
            (None, Some(code)) => code.span,
            (None, None) => ALL,
        };
        let mut spans: IndexVec<Var, Span> = vars.map(span_of).collect();
        let is_possible = narrow(guard, true, &mut spans);
        for (var, code) in &mut self.vars {
            code.span = spans[*var];
        }
        is_possible
    }

    /// While a thread is in an atomic section, no other one moves.
    fn atomic(&self, found: &mut Vec<Code>) -> Added {
        let model = self.step.model;
        let Some(atomic) = model.net.atomic.filter(|&atomic| model.is_stored(atomic)) else {
            return Added::Possible;
        };
        let cell = model.cell_text(atomic, &Code::constant(0));
        let text = format!("({cell} == 0 || {cell} == {})", self.step.thread + 1);
        let reads = BTreeSet::from([atomic]);
        found.push(Code { text, span: Span::new(0, 1), reads });
        Added::Possible
    }

    fn token_is_there(&self, place: Place, parts: &[Code], found: &mut Vec<Code>) -> Result<Added, Refusal> {
        let model = self.step.model;
        if model.net.is_frame_place(place) {
            let (thread, depth) = self.frame(parts)?;
            if !model.possible.frames.contains(&(place, thread, depth)) {
                return Ok(Added::Impossible);
            }
            found.push(model.is_at(place, thread, depth));
            return Ok(Added::Possible);
        }
        if !model.possible.marked[place] {
            return Ok(Added::Impossible);
        }
        let (index, inside) = model.token_index(place, parts);
        if let Some(inside) = inside
            && matches!(add(inside, found), Added::Impossible)
        {
            return Ok(Added::Impossible);
        }
        let text = format!("({} > 0)", model.count_text(place, &index.text));
        found.push(Code::of(text, Span::new(0, 1), &[&index]));
        Ok(Added::Possible)
    }

    /// Binds a variable to a cell.
    fn read(
        &mut self,
        place: Place,
        key: &[Expr],
        var: Var,
        when: Option<&Expr>,
        found: &mut Vec<Code>,
    ) -> Result<Added, Refusal> {
        let model = self.step.model;
        let when = when.map(|when| self.value(when)).transpose()?;
        let counts = when.as_ref().map_or(Some(true), |when| when.span.truth());
        let value = self.bound.get(&var).copied();
        if counts == Some(false) {
            self.bound.insert(var, 0);
            return Ok(if value.is_none_or(|value| value == 0) {
                Added::Possible
            } else {
                Added::Impossible
            });
        }
        let when = when.filter(|_| counts.is_none());
        let key = self.values(key)?;
        let vars = |_| None;
        let writer = ExprWriter { model, vars: &vars, in_formula: false };
        let constant = model.constant_cell(place, &key);
        if let (Some(value), Some(_), None) = (value, model.tables.get(&place), constant) {
            let (index, inside) = model.cell_index(place, &key)?;
            return Ok(add(self.has_number(place, value, &index, inside, when)?, found));
        }
        let cell = writer.read(place, &key)?;
        let code = match &when {
            Some(when) => writer.choose(when, &cell, &Code::constant(0)),
            None => cell,
        };
        match (value, code.span.single()) {
            (Some(value), _) => return Ok(add(equality(true, &code, &Code::constant(value)), found)),
            (None, Some(value)) => drop(self.bound.insert(var, value)),
            (None, None) => drop(self.vars.insert(var, code)),
        }
        Ok(Added::Possible)
    }

    /// Whether what is read from a cell with numbered values is this one.
    fn has_number(
        &self,
        place: Place,
        value: i64,
        index: &Code,
        inside: Option<Code>,
        when: Option<Code>,
    ) -> Result<Code, Refusal> {
        let model = self.step.model;
        let truth = Span::new(0, 1);
        let mut hit = match model.number_of(place, value) {
            Some(number) => {
                let cell = model.cell_text(place, index);
                let mut code = Code::of(format!("({cell} == {number})"), truth, &[index]);
                code.reads.insert(place);
                code
            }
            None => Code::constant(0),
        };
        if let Some(inside) = inside {
            let outside = if model.outside(place)? == value { inside.negated() } else { Code::constant(0) };
            hit = either(both(inside, hit), outside);
        }
        if let Some(when) = when {
            let without = if value == 0 { when.negated() } else { Code::constant(0) };
            hit = either(both(when, hit), without);
        }
        Ok(hit)
    }

    /// Takes, drains and puts tokens that are no frames.
    fn move_tokens(&self) -> Result<Vec<String>, Refusal> {
        let model = self.step.model;
        let (mut taken, mut put) = (Vec::new(), Vec::new());
        for arc in &self.step.data.arcs {
            match arc {
                ArcData::Take { place, token } if !model.net.is_frame_place(*place) => {
                    let parts: Result<Vec<Code>, Refusal> =
                        token.iter().map(|pattern| self.pattern(pattern)).collect();
                    let (index, _) = model.token_index(*place, &parts?);
                    taken.push(format!("{}--", model.count_text(*place, &index.text)));
                }
                ArcData::Put { place, token } if !model.net.is_frame_place(*place) => {
                    let (index, inside) = model.token_index(*place, &self.values(token)?);
                    if inside.is_some() {
                        let name = &model.net.places[*place].name;
                        return Err(Refusal::new(format!(
                            "a token on `{name}` that may be of no colour of it"
                        )));
                    }
                    put.push(format!("{}++", model.count_text(*place, &index.text)));
                }
                ArcData::Drain { place, prefix, to } if model.possible.marked[*place] => {
                    let prefix = self.values(prefix)?;
                    for (token, _) in model.tokens(*place) {
                        let token: Vec<Code> = token.into_iter().map(Code::constant).collect();
                        let mut matches = Vec::new();
                        let parts =
                            prefix.iter().zip(&token).map(|(wanted, has)| equality(true, wanted, has));
                        if parts.into_iter().any(|part| matches!(add(part, &mut matches), Added::Impossible))
                        {
                            continue;
                        }
                        let (index, _) = model.token_index(*place, &token);
                        let from = model.count_text(*place, &index.text);
                        let to = model.count_text(*to, &index.text);
                        let moved = format!("{to} = {to} + {from}; {from} = 0");
                        taken.push(match Code::all(matches) {
                            None => moved,
                            Some(condition) => format!("if :: {} -> {moved} :: else fi", condition.text),
                        });
                    }
                }
                ArcData::Take { .. }
                | ArcData::Put { .. }
                | ArcData::Test { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Drain { .. }
                | ArcData::Read { .. }
                | ArcData::Write { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => {}
            }
        }
        taken.append(&mut put);
        Ok(taken)
    }

    /// What is written to cells.
    fn assignments(&self) -> Result<Vec<Assignment>, Refusal> {
        let model = self.step.model;
        let mut found = Vec::new();
        for arc in &self.step.data.arcs {
            let ArcData::Write { place, key, value, when } = arc else { continue };
            let Some(cells) = model.cells(*place).filter(|_| model.is_stored(*place)) else { continue };
            let mut conditions = Vec::new();
            if let Some(when) = when
                && matches!(add(self.value(when)?, &mut conditions), Added::Impossible)
            {
                continue;
            }
            let (index, inside) = model.cell_index(*place, &self.values(key)?)?;
            if let Some(inside) = inside {
                if matches!(cells.scope, Scope::Frame(_)) && cells.length.is_none() {
                    let name = &model.net.places[*place].name;
                    return Err(Refusal::new(format!("`{name}` is written in a frame that is not known")));
                }
                if matches!(add(inside, &mut conditions), Added::Impossible) {
                    continue;
                }
            }
            let when = Code::all(conditions);
            let value = self.stored_value(*place, &Expr::convert(cells.value, value.clone()))?;
            found.push(Assignment { place: *place, index, value, when });
        }
        Ok(found)
    }

    fn stored_value(&self, place: Place, value: &Expr) -> Result<Code, Refusal> {
        let model = self.step.model;
        if !model.tables.contains_key(&place) {
            return self.value(value);
        }
        let folded =
            value.replace_vars(&|var| self.bound.get(&var).map_or(Expr::Var(var), |v| Expr::Const(*v)));
        let number = match folded {
            Expr::Const(value) => model.number_of(place, value),
            _ => None,
        };
        match number.and_then(|number| i64::try_from(number).ok()) {
            Some(number) => Ok(Code::constant(number)),
            None => Err(Refusal::new(format!(
                "`{}` gets a value of more than 32 bits that cannot be listed",
                model.net.places[place].name
            ))),
        }
    }

    /// The assignments in their order, and what must be kept before the first of them.
    fn assign(&self, assignments: Vec<Assignment>) -> (Vec<String>, Vec<String>) {
        let model = self.step.model;
        let (mut kept, mut statements) = (Vec::new(), Vec::new());
        let mut changed: BTreeSet<Place> = BTreeSet::new();
        for Assignment { place, index, value, when } in assignments {
            let mut keep = |code: Code| {
                if code.reads.is_disjoint(&changed) {
                    return code;
                }
                let name = format!("kept_{}", kept.len());
                kept.push(format!("{name} = {}", code.text));
                Code { text: name, ..code }
            };
            let (index, value, when) = (keep(index), keep(value), when.map(&mut keep));
            changed.insert(place);
            let assignment = format!("{} = {}", model.cell_text(place, &index), value.text);
            statements.push(match when {
                None => assignment,
                Some(when) => format!("if :: {} -> {assignment} :: else fi", when.text),
            });
        }
        (kept, statements)
    }

    /// Moves, makes and ends frames; none where that is never possible.
    fn move_frames(&self, effect: Effect) -> Result<Option<Vec<String>>, Refusal> {
        let model = self.step.model;
        let mut left: Vec<(i64, i64)> = Vec::new();
        let mut put: Vec<((i64, i64), Place)> = Vec::new();
        for arc in &self.step.data.arcs {
            match arc {
                ArcData::Take { place, token } if model.net.is_frame_place(*place) => {
                    let parts: Result<Vec<Code>, Refusal> =
                        token.iter().map(|pattern| self.pattern(pattern)).collect();
                    left.push(self.frame(&parts?)?);
                }
                ArcData::Put { place, token } if model.net.is_frame_place(*place) => {
                    let frame = self.frame(&self.values(token)?)?;
                    // There are never so many threads.
                    if frame.0 >= model.n_threads {
                        return Ok(None);
                    }
                    if !model.possible.frames.contains(&(*place, frame.0, frame.1)) {
                        return Err(Refusal::new("a call that is deeper than the bound on depths"));
                    }
                    put.push((frame, *place));
                }
                ArcData::Drain { place, to, .. }
                    if model.net.is_frame_place(*place) || model.net.is_frame_place(*to) =>
                {
                    return Err(Refusal::new("a step that moves many frames at once"));
                }
                ArcData::Take { .. }
                | ArcData::Put { .. }
                | ArcData::Test { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Drain { .. }
                | ArcData::Read { .. }
                | ArcData::Write { .. }
                | ArcData::Governed { .. }
                | ArcData::Governs { .. } => {}
            }
        }
        if effect == Effect::EndProcess {
            return Ok(Some(Vec::new()));
        }
        left.retain(|frame| put.iter().all(|(other, _)| other != frame));
        let mut statements = Vec::new();
        for (thread, depth) in left {
            // The end of the thread does the same for all its frames.
            if effect == Effect::EndThread && thread == self.step.thread {
                continue;
            }
            statements.push(format!("pc[{}] = 0", model.frame_index(thread, depth)));
            model.reset(thread, depth, &mut statements);
        }
        for ((thread, depth), place) in put {
            statements.push(format!("pc[{}] = {}", model.frame_index(thread, depth), model.position(place)));
        }
        Ok(Some(statements))
    }
}

/// Adds a condition that is not always true.
fn add(condition: Code, found: &mut Vec<Code>) -> Added {
    match condition.span.truth() {
        Some(true) => {}
        Some(false) => return Added::Impossible,
        None => found.push(condition),
    }
    Added::Possible
}

fn both(left: Code, right: Code) -> Code {
    match (left.span.truth(), right.span.truth()) {
        (Some(false), _) | (_, Some(false)) => Code::constant(0),
        (Some(true), _) => right,
        (_, Some(true)) => left,
        (None, None) => Code::all(vec![left, right]).unwrap_or_else(|| Code::constant(1)),
    }
}

fn either(left: Code, right: Code) -> Code {
    match (left.span.truth(), right.span.truth()) {
        (Some(true), _) | (_, Some(true)) => Code::constant(1),
        (Some(false), _) => right,
        (_, Some(false)) => left,
        (None, None) => Code::any(vec![left, right]).unwrap_or_else(|| Code::constant(0)),
    }
}

/// What `stopped` is after a step that is not followed.
const fn stop_reason(data: &TransitionData) -> u8 {
    match data.action {
        pdnet_net::Action::Fault(_) => FAULT,
        pdnet_net::Action::Bound(_) => BOUND,
        _ => ASSUMPTION,
    }
}

/// A failed assumption: there is no run.
pub(super) const ASSUMPTION: u8 = 1;
/// Undefined behaviour.
pub(super) const FAULT: u8 = 2;
/// A bound of the model.
pub(super) const BOUND: u8 = 3;

/// The text of a step for people.
pub(super) fn step_comment(data: &TransitionData) -> String {
    let line = data.pos.map(|pos| format!("line {}: ", pos.line)).unwrap_or_default();
    comment(&format!("{line}{}", data.label))
}
