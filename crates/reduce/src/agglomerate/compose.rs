//! One transition of two: a step followed by the next one of the same frame.
//!
//! This is the transition *hf* of Definition 8 in the appendix of Pajault, Pradat-Peyre and Rousseau, *Adapting Petri
//! nets reductions to Promela specifications* (FORTE 2008), on nets with data: what the second step reads, the first
//! may have written, so that values are put in the place of variables.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{
    ArcData, Base, BinaryOp, Effect, Expr, IntType, Net, Pattern, Place, Transition, TransitionData, Var,
    VarData,
};

/// A composed transition has at most so many arcs.
const MAX_ARCS: usize = 48;

/// The expressions of a composed transition have at most so many parts, all together.
const MAX_PARTS: usize = 400;

/// One of the steps that a transition stands for.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The transition of the net before.
    pub(crate) transition: Transition,
    /// For each of its variables the one of the composed transition that has the same value, where there is one. Those
    /// without are read from the marking, which is known when the run is lifted.
    pub(crate) vars: Vec<Option<Var>>,
}

/// A transition that carries a sequence of steps of one frame.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) data: TransitionData,
    pub(crate) parts: Vec<Part>,
}

/// Which of two steps gives the composed one its action, its place in the source, and what is known of its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead {
    /// The first: the second is local.
    First,
    /// The second: the first is local.
    Second,
}

/// What comes of two steps.
pub(crate) enum Composed {
    /// They as one.
    Step(Box<Step>),
    /// The second is never enabled after the first.
    Never,
    /// It would be too large, or it is not known whether they touch the same cell.
    No,
}

impl Step {
    /// A transition by itself.
    pub(crate) fn single(transition: Transition, data: &TransitionData) -> Self {
        let vars = data.vars.indices().map(Some).collect();
        Self { data: data.clone(), parts: vec![Part { transition, vars }] }
    }

    /// Where the moving frame is before.
    pub(crate) fn source(&self) -> Option<Place> {
        self.data.source()
    }

    /// Where the moving frame is afterwards.
    pub(crate) fn target(&self, net: &Net) -> Option<Place> {
        target(net, &self.data)
    }

    /// This step and then another one, as one; `self` leads to where `next` begins. The one that does not lead has no arcs
    /// to tokens beside frames of its own thread.
    pub(crate) fn then(&self, net: &Net, next: &Self, lead: Lead) -> Composed {
        // A frame that ends and another one in its place: its cells would keep their values.
        if ends_frame(net, &self.data) && makes_frame(net, &next.data) {
            return Composed::No;
        }
        if meet_at_tokens(net, &self.data, &next.data) {
            return Composed::No;
        }
        let Some(seen) = Seen::new(net, &self.data, &next.data) else { return Composed::No };
        let Some(guard) = seen.guard(&self.data, &next.data) else { return Composed::Never };
        let mut arcs = self.binding_arcs(&seen);
        let through = next.source();
        let overwrites = |place: Place, key: &[Expr]| {
            next.data.arcs.iter().any(|arc| match arc {
                ArcData::Write { place: other, key: theirs, when: None, .. } => {
                    *other == place
                        && theirs.len() == key.len()
                        && theirs.iter().zip(key).all(|(a, b)| seen.put(a) == *b)
                }
                _ => false,
            })
        };
        for arc in &self.data.arcs {
            match arc {
                ArcData::Put { place, token } => {
                    if !(Some(*place) == through && is_frame(token)) {
                        arcs.push(arc.clone());
                    }
                }
                ArcData::Write { place, key, .. } => {
                    if !overwrites(*place, key) {
                        arcs.push(arc.clone());
                    }
                }
                ArcData::Drain { .. } => arcs.push(arc.clone()),
                ArcData::Take { .. }
                | ArcData::Test { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Read { .. } => {}
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        for arc in &next.data.arcs {
            match arc {
                ArcData::Put { place, token } => {
                    arcs.push(ArcData::Put { place: *place, token: seen.put_all(token) });
                }
                ArcData::Drain { place, prefix, to } => {
                    arcs.push(ArcData::Drain { place: *place, prefix: seen.put_all(prefix), to: *to });
                }
                ArcData::Write { place, key, value, when } => arcs.push(ArcData::Write {
                    place: *place,
                    key: seen.put_all(key),
                    value: seen.put(value),
                    when: when.as_ref().map(|when| seen.put(when)),
                }),
                ArcData::Take { .. }
                | ArcData::Test { .. }
                | ArcData::Inhibit { .. }
                | ArcData::Read { .. } => {}
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        let label = format!("{}; {}", self.data.label, next.data.label);
        let vars = seen.vars.clone();
        let data = match lead {
            Lead::First => {
                let ends = next.data.action.effect() != Effect::None;
                let action = if ends { next.data.action } else { self.data.action };
                TransitionData { action, label, vars, arcs, guard, ..self.data.clone() }
            }
            // Which bytes are accessed matters for races only, for which no step leads from behind.
            Lead::Second => {
                TransitionData { label, vars, arcs, guard, bytes: Vec::new(), ..next.data.clone() }
            }
        };
        let mut parts = self.parts.clone();
        for part in &next.parts {
            // What was a variable of the second step is one of the whole, or an expression.
            let renamed = part.vars.iter().map(|var| match &seen.values[(*var)?.index()] {
                Expr::Var(same) => Some(*same),
                _ => None,
            });
            parts.push(Part { transition: part.transition, vars: renamed.collect() });
        }
        fits(Self { data, parts })
    }

    /// This step where another one comes next: the same, with the guard of the other one beside its own.
    pub(crate) fn before(&self, net: &Net, next: &TransitionData) -> Composed {
        let Some(seen) = Seen::new(net, &self.data, next) else { return Composed::No };
        let Some(guard) = seen.guard(&self.data, next) else { return Composed::Never };
        let mut arcs = self.binding_arcs(&seen);
        let rest =
            self.data.arcs.iter().filter(|arc| {
                matches!(arc, ArcData::Put { .. } | ArcData::Write { .. } | ArcData::Drain { .. })
            });
        arcs.extend(rest.cloned());
        let data = TransitionData { vars: seen.vars.clone(), arcs, guard, ..self.data.clone() };
        fits(Self { data, parts: self.parts.clone() })
    }

    /// The arcs that bind variables or ask for tokens, with what the second step reads beside.
    fn binding_arcs(&self, seen: &Seen<'_>) -> Vec<ArcData> {
        let binds = |arc: &&ArcData| {
            matches!(
                arc,
                ArcData::Take { .. } | ArcData::Test { .. } | ArcData::Inhibit { .. } | ArcData::Read { .. }
            )
        };
        self.data.arcs.iter().filter(binds).chain(&seen.reads).cloned().collect()
    }
}

/// Where the moving frame is after a step.
pub(crate) fn target(net: &Net, data: &TransitionData) -> Option<Place> {
    data.arcs.iter().find_map(|arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) && is_frame(token) => Some(*place),
        _ => None,
    })
}

/// Whether the first step moves tokens, other than its frame, on a place where the second looks for some. What it finds
/// could not be said in terms of the marking before both.
fn meet_at_tokens(net: &Net, first: &TransitionData, second: &TransitionData) -> bool {
    let is_moved = |asked: Place| {
        first.arcs.iter().enumerate().any(|(number, arc)| match arc {
            ArcData::Take { place, .. } => number > 0 && *place == asked,
            ArcData::Put { place, token } => {
                *place == asked && !(net.is_frame_place(*place) && is_frame(token))
            }
            ArcData::Drain { place, to, .. } => *place == asked || *to == asked,
            ArcData::Test { .. } | ArcData::Inhibit { .. } => false,
            ArcData::Read { .. } | ArcData::Write { .. } => false,
            ArcData::Governed { .. } | ArcData::Governs { .. } => false,
        })
    };
    second.arcs.iter().skip(1).any(|arc| match arc {
        ArcData::Take { place, .. }
        | ArcData::Test { place, .. }
        | ArcData::Inhibit { place, .. }
        | ArcData::Drain { place, .. } => is_moved(*place),
        ArcData::Put { .. } | ArcData::Read { .. } | ArcData::Write { .. } => false,
        ArcData::Governed { .. } | ArcData::Governs { .. } => false,
    })
}

fn ends_frame(net: &Net, data: &TransitionData) -> bool {
    let is_frame = |arc: &ArcData| matches!(arc, ArcData::Take { place, .. } if net.is_frame_place(*place));
    data.arcs.iter().skip(1).any(is_frame)
}

fn makes_frame(net: &Net, data: &TransitionData) -> bool {
    let is_new = |arc: &ArcData| matches!(arc, ArcData::Put { place, token } if net.is_frame_place(*place) && !is_frame(token));
    data.arcs.iter().any(is_new)
}

/// Whether a step puts one frame, the one that moves, and no other token.
pub(crate) fn moves_one_frame(data: &TransitionData) -> bool {
    let mut puts = data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Put { token, .. } => Some(token),
        _ => None,
    });
    puts.next().is_some_and(|token| is_frame(token)) && puts.next().is_none()
}

/// Whether a token is the frame that moves.
pub(crate) fn is_frame(token: &[Expr]) -> bool {
    token == [Expr::Var(TransitionData::thread_var()), Expr::Var(TransitionData::depth_var())]
}

fn fits(step: Step) -> Composed {
    let mut n_parts = 0;
    let mut count = |expr: &Expr| expr.walk(&mut |_| n_parts += 1);
    for arc in &step.data.arcs {
        match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                token.iter().for_each(|part| match part {
                    Pattern::Is(expr) => count(expr),
                    Pattern::Bind(_) => {}
                });
            }
            ArcData::Put { token: exprs, .. }
            | ArcData::Inhibit { prefix: exprs, .. }
            | ArcData::Drain { prefix: exprs, .. } => exprs.iter().for_each(&mut count),
            ArcData::Read { key, when, .. } => key.iter().chain(when).for_each(&mut count),
            ArcData::Write { key, value, when, .. } => {
                key.iter().chain([value]).chain(when).for_each(&mut count)
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
    }
    step.data.guard.iter().for_each(&mut count);
    if step.data.arcs.len() > MAX_ARCS || n_parts > MAX_PARTS {
        return Composed::No;
    }
    Composed::Step(Box::new(step))
}

/// What the second of two steps sees, in terms of the first.
struct Seen<'a> {
    net: &'a Net,
    /// The variables of the composed step: those of the first, with the same numbers, and more.
    vars: IndexVec<Var, VarData>,
    /// What must be read beside what the first step reads.
    reads: Vec<ArcData>,
    /// The value of each variable of the second step.
    values: Vec<Expr>,
}

impl<'a> Seen<'a> {
    fn new(net: &'a Net, first: &TransitionData, second: &TransitionData) -> Option<Self> {
        debug_assert!(matches!(first.action.effect(), Effect::None));
        let mut seen = Self {
            net,
            vars: first.vars.clone(),
            reads: Vec::new(),
            values: vec![Expr::Const(0); second.vars.len()],
        };
        for (var, data) in second.vars.iter_enumerated() {
            if var == TransitionData::thread_var() || var == TransitionData::depth_var() {
                seen.values[var.index()] = Expr::Var(var);
            } else if data.choice.is_some() {
                // The values of two inputs at once are too many.
                if seen.vars.iter().any(|var| var.choice.is_some()) {
                    return None;
                }
                seen.values[var.index()] = Expr::Var(seen.vars.push(data.clone()));
            }
        }
        // The first arc takes the frame from where the first step puts it.
        for arc in second.arcs.iter().skip(1) {
            match arc {
                ArcData::Read { place, key, var, when } => {
                    let key = seen.put_all(key);
                    let when = when.as_ref().map(|when| seen.put(when));
                    let value = seen.value(first, &second.vars[*var], *place, key, when)?;
                    seen.values[var.index()] = value;
                }
                ArcData::Take { place, token } => {
                    let token = seen.pattern(second, token);
                    seen.reads.push(ArcData::Take { place: *place, token });
                }
                ArcData::Test { place, token } => {
                    let token = seen.pattern(second, token);
                    seen.reads.push(ArcData::Test { place: *place, token });
                }
                ArcData::Inhibit { place, prefix } => {
                    let prefix = seen.put_all(prefix);
                    seen.reads.push(ArcData::Inhibit { place: *place, prefix });
                }
                ArcData::Put { .. } | ArcData::Drain { .. } | ArcData::Write { .. } => {}
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        Some(seen)
    }

    fn pattern(&mut self, second: &TransitionData, token: &[Pattern]) -> Vec<Pattern> {
        let mut parts = Vec::new();
        for part in token {
            parts.push(match part {
                Pattern::Is(expr) => Pattern::Is(self.put(expr)),
                Pattern::Bind(var) => {
                    let new = self.vars.push(second.vars[*var].clone());
                    self.values[var.index()] = Expr::Var(new);
                    Pattern::Bind(new)
                }
            });
        }
        parts
    }

    /// An expression of the second step, with values for its variables.
    fn put(&self, expr: &Expr) -> Expr {
        tidy(&expr.replace_vars(&|var| self.values[var.index()].clone()))
    }

    fn put_all(&self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.put(expr)).collect()
    }

    /// The guards of both; none where they are never both true.
    fn guard(&self, first: &TransitionData, second: &TransitionData) -> Option<Option<Expr>> {
        let second = second.guard.as_ref().map(|guard| self.put(guard));
        match (first.guard.clone(), second) {
            (_, Some(Expr::Const(0))) => None,
            (first, None | Some(Expr::Const(_))) => Some(first),
            (None, Some(second)) => Some(Some(second)),
            (Some(first), Some(second)) => Some(Some(Expr::both(first, second))),
        }
    }

    /// What a cell holds after the first step. None where it is not known which cells the first step writes.
    fn value(
        &mut self,
        first: &TransitionData,
        var: &VarData,
        place: Place,
        key: Vec<Expr>,
        when: Option<Expr>,
    ) -> Option<Expr> {
        let cells = self.net.places[place].cells()?;
        // The last write first.
        let mut layers: Vec<(Option<Expr>, Expr)> = Vec::new();
        let mut is_covered = false;
        for arc in first.arcs.iter().rev() {
            let ArcData::Write { place: written, key: theirs, value, when } = arc else { continue };
            if *written != place {
                continue;
            }
            let same = match relation(self.net, place, theirs, &key)? {
                Relation::Different => continue,
                Relation::Same => None,
                Relation::Where(condition) => Some(condition),
            };
            let condition = match (same, when) {
                (None, None) => None,
                (Some(condition), None) => Some(condition),
                (None, Some(when)) => Some(when.clone()),
                (Some(same), Some(when)) => Some(Expr::both(same, when.clone())),
            };
            is_covered = condition.is_none();
            layers.push((condition, self.converted(first, value, cells.value)));
            if is_covered {
                break;
            }
        }
        let base = if is_covered {
            Expr::Const(0)
        } else {
            Expr::Var(self.read(first, var, place, key, when.clone()))
        };
        if layers.is_empty() {
            return Some(base);
        }
        let mut value = base;
        for (condition, written) in layers.into_iter().rev() {
            value = match condition {
                None => written,
                Some(condition) => Expr::cond(tidy(&condition), written, value),
            };
        }
        Some(match when {
            None => value,
            Some(when) => Expr::cond(when, value, Expr::Const(0)),
        })
    }

    /// The variable for a cell as it is before the first step.
    fn read(
        &mut self,
        first: &TransitionData,
        data: &VarData,
        place: Place,
        key: Vec<Expr>,
        when: Option<Expr>,
    ) -> Var {
        let known = first.arcs.iter().chain(&self.reads).find_map(|arc| match arc {
            ArcData::Read { place: other, key: theirs, var, when: condition }
                if *other == place && *theirs == key && *condition == when =>
            {
                Some(*var)
            }
            _ => None,
        });
        known.unwrap_or_else(|| {
            let var = self.vars.push(data.clone());
            self.reads.push(ArcData::Read { place, key, var, when });
            var
        })
    }

    /// Whether a variable of the first step has a value of this type: that of a cell, or of an input.
    fn is_of_type(&self, first: &TransitionData, asked: Var, ty: IntType) -> bool {
        self.vars[asked].choice.is_some()
            || first.arcs.iter().any(|arc| match arc {
                ArcData::Read { place, var, .. } => {
                    *var == asked && self.net.places[*place].cells().is_some_and(|cells| cells.value == ty)
                }
                _ => false,
            })
    }

    /// A value of the first step as a cell of this type holds it.
    fn converted(&self, first: &TransitionData, value: &Expr, ty: IntType) -> Expr {
        let is_small = |base: Base| match base {
            Base::Thread => Some(i64::from(self.net.max_threads)),
            Base::Depth => Some(i64::from(self.net.max_depth)),
            Base::Index(_) | Base::Int(_) => None,
        };
        let fits = match value {
            Expr::Var(var) => match self.vars[*var].base {
                Base::Int(own) => own == ty && self.is_of_type(first, *var, ty),
                base => is_small(base).is_some_and(|most| ty.contains(most)),
            },
            Expr::Binary(op, ..) if op.is_comparison() => ty.contains(1),
            // These wrap.
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, own, ..) if *own == ty => true,
            // The mark of an owner.
            Expr::Binary(BinaryOp::Add, IntType::I64, left, right) => match (&**left, &**right) {
                (Expr::Var(var), Expr::Const(more)) => is_small(self.vars[*var].base)
                    .is_some_and(|most| (0..=most).contains(more) && ty.contains(most + more)),
                _ => false,
            },
            Expr::Convert(own, _) => *own == ty,
            Expr::Const(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::If(..) => false,
            Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => false,
        };
        if fits { value.clone() } else { Expr::convert(ty, value.clone()) }
    }
}

/// Whether two keys name the same cell.
enum Relation {
    Same,
    Different,
    Where(Expr),
}

/// None where it is not known, and not to be found out from indices.
fn relation(net: &Net, place: Place, left: &[Expr], right: &[Expr]) -> Option<Relation> {
    let bases = net.components(place);
    let mut conditions: Vec<Expr> = Vec::new();
    for ((left, right), base) in left.iter().zip(right).zip(bases) {
        match (left, right) {
            (Expr::Const(left), Expr::Const(right)) if left != right => return Some(Relation::Different),
            _ => {}
        }
        match base {
            Base::Thread | Base::Depth => {
                let is_mover = [TransitionData::thread_var(), TransitionData::depth_var()]
                    .iter()
                    .any(|var| *left == Expr::Var(*var));
                if left != right || !is_mover {
                    return None;
                }
            }
            Base::Index(length) => {
                let inside = match left {
                    Expr::Const(index) => (0..i64::from(*length)).contains(index),
                    _ => false,
                };
                if left != right {
                    conditions.push(Expr::equal(left.clone(), right.clone()));
                }
                if !inside {
                    // A cell that is not there is not written.
                    let length = Expr::Const(i64::from(*length));
                    conditions.push(Expr::binary(BinaryOp::Lt, IntType::U64, left.clone(), length));
                }
            }
            Base::Int(_) => return None,
        }
    }
    Some(match conditions.into_iter().reduce(Expr::both) {
        None => Relation::Same,
        Some(condition) => Relation::Where(condition),
    })
}

/// The same value, with comparisons of equal things decided.
fn tidy(expr: &Expr) -> Expr {
    match expr {
        Expr::Binary(op, ty, left, right) => {
            let (left, right) = (tidy(left), tidy(right));
            match op {
                BinaryOp::Eq | BinaryOp::Le if left == right => Expr::Const(1),
                BinaryOp::Ne | BinaryOp::Lt if left == right => Expr::Const(0),
                _ => Expr::binary(*op, *ty, left, right),
            }
        }
        Expr::Unary(op, ty, operand) => Expr::unary(*op, *ty, tidy(operand)),
        Expr::Convert(ty, operand) => Expr::convert(*ty, tidy(operand)),
        Expr::If(condition, then, otherwise) => {
            let (then, otherwise) = (tidy(then), tidy(otherwise));
            if then == otherwise { then } else { Expr::cond(tidy(condition), then, otherwise) }
        }
        Expr::Const(_) | Expr::Var(_) | Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => expr.clone(),
    }
}
