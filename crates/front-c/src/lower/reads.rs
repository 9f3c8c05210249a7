//! The cells that a step reads become arcs.
//!
//! `p ? a : b` reads one of two cells, and a dereference one of many. An arc says so: it counts only where the
//! conditions hold under which the expression comes to its cell. So what a step touches is exact, which data
//! races are judged by. A cell that is read under different conditions has an arc for each of them.

use std::collections::BTreeSet;

use pdnet_net::{ArcData, BinaryOp, Expr, IntType, Net, Pattern, Place, TransitionBuilder};

/// What holds where an expression is evaluated. All of it is in terms of variables, no longer of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Condition {
    Holds(Expr),
    Fails(Expr),
}

/// A cell with an arc.
struct Known {
    place: Place,
    key: Vec<Expr>,
    /// The arc counts where all of these are met.
    conditions: Vec<Condition>,
    var: Expr,
}

/// Turns cells into read arcs of a transition in the making.
pub(crate) struct Reader<'a> {
    net: &'a Net,
    builder: TransitionBuilder,
    known: Vec<Known>,
    /// What is met where the expression at hand is evaluated, the outermost first.
    conditions: Vec<Condition>,
    /// What is met wherever the step is enabled.
    guaranteed: Vec<Condition>,
    /// Places whose cells are accessed as a whole somewhere.
    whole: BTreeSet<Place>,
    /// The bytes of other accesses.
    parts: Vec<(Place, Expr, u8)>,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(net: &'a Net, builder: TransitionBuilder) -> Self {
        Self {
            net,
            builder,
            known: Vec::new(),
            conditions: Vec::new(),
            guaranteed: Vec::new(),
            whole: BTreeSet::new(),
            parts: Vec::new(),
        }
    }

    /// The transition with its read arcs.
    pub(crate) fn finish(mut self) -> TransitionBuilder {
        for (place, first, count) in self.parts {
            if !self.whole.contains(&place) {
                self.builder.bytes(place, first, count);
            }
        }
        self.builder
    }

    /// Turns the guard. What comes after it matters only where it is true.
    pub(crate) fn guard(&mut self, guard: &Expr) -> Expr {
        let guard = self.expr(guard);
        self.guaranteed = conjuncts(&guard).into_iter().map(Condition::Holds).collect();
        guard
    }

    pub(crate) fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Const(_) | Expr::Var(_) | Expr::Deadlock | Expr::Marked(..) => expr.clone(),
            Expr::Unary(op, ty, operand) => Expr::unary(*op, *ty, self.expr(operand)),
            Expr::Binary(op, ty, left, right) => Expr::binary(*op, *ty, self.expr(left), self.expr(right)),
            Expr::Convert(ty, operand) => match (operand.as_ref(), in_part(expr)) {
                // What is left of a cell that is written in part.
                (_, Some((place, key))) => self.part_of(place, key),
                (Expr::Binary(BinaryOp::Shr, word, cell, shift), None) => match in_part(cell) {
                    Some((place, key)) => {
                        let (cell, shift) = (self.part_of(place, key), self.expr(shift));
                        self.accessed(place, &shift, ty.bits);
                        Expr::convert(*ty, Expr::binary(BinaryOp::Shr, *word, cell, shift))
                    }
                    None => Expr::convert(*ty, self.expr(operand)),
                },
                _ => Expr::convert(*ty, self.expr(operand)),
            },
            Expr::If(condition, then, otherwise) => match self.expr(condition) {
                Expr::Const(0) => self.expr(otherwise),
                Expr::Const(_) => self.expr(then),
                condition => {
                    let holds = conjuncts(&condition).into_iter().map(Condition::Holds).collect();
                    let then = self.under(holds, then);
                    let otherwise = self.under(vec![Condition::Fails(condition.clone())], otherwise);
                    Expr::cond(condition, then, otherwise)
                }
            },
            Expr::Cell(place, key) => {
                let key = self.exprs(key);
                self.whole.insert(*place);
                self.cell(*place, key)
            }
        }
    }

    fn part_of(&mut self, place: Place, key: &[Expr]) -> Expr {
        let key = self.exprs(key);
        self.cell(place, key)
    }

    /// Notes that only some bits of a place's cells are accessed.
    pub(crate) fn accessed(&mut self, place: Place, shift: &Expr, bits: u8) {
        let first = Expr::binary(BinaryOp::Div, IntType::U64, shift.clone(), Expr::Const(8));
        let part = (place, first, bits.div_ceil(8));
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }

    /// Notes that a place's cells are written as a whole.
    pub(crate) fn accessed_whole(&mut self, place: Place) {
        self.whole.insert(place);
    }

    /// Turns an expression that is of interest only where a condition holds, which is in terms of variables already.
    pub(crate) fn expr_when(&mut self, condition: &Expr, expr: &Expr) -> Expr {
        self.under(conjuncts(condition).into_iter().map(Condition::Holds).collect(), expr)
    }

    fn under(&mut self, conditions: Vec<Condition>, expr: &Expr) -> Expr {
        let n_outer = self.conditions.len();
        self.conditions.extend(conditions);
        let turned = self.expr(expr);
        self.conditions.truncate(n_outer);
        turned
    }

    /// The variable with the value of a cell. An arc that counts at least where this expression is evaluated
    /// serves.
    fn cell(&mut self, place: Place, key: Vec<Expr>) -> Expr {
        let is_met = |condition: &Condition| {
            self.conditions.contains(condition) || self.guaranteed.contains(condition)
        };
        let serves =
            |known: &&Known| known.place == place && known.key == key && known.conditions.iter().all(is_met);
        if let Some(known) = self.known.iter().find(serves) {
            return known.var.clone();
        }
        let conditions = self.needed();
        let when = conditions.iter().map(Condition::expr).reduce(Expr::both);
        let base = *self.net.components(place).last().expect("cells have a value");
        let var = self.builder.var(&self.net.places[place].name, base);
        self.builder.arc(ArcData::Read { place, key: key.clone(), var, when });
        let var = Expr::Var(var);
        self.known.push(Known { place, key, conditions, var: var.clone() });
        var
    }

    /// The conditions without those that follow from others. A dereference is a long chain of `if`: that the
    /// pointer points to this object says already that it does not point to the ones before.
    fn needed(&self) -> Vec<Condition> {
        let mut needed: Vec<Condition> = Vec::new();
        for condition in &self.conditions {
            let follows = match condition {
                Condition::Holds(_) => false,
                Condition::Fails(failing) => self.conditions.iter().any(|other| match other {
                    Condition::Holds(holding) => excludes(holding, failing),
                    Condition::Fails(_) => false,
                }),
            };
            if !follows && !needed.contains(condition) {
                needed.push(condition.clone());
            }
        }
        needed
    }

    pub(crate) fn arc(&mut self, arc: &ArcData) -> ArcData {
        match arc {
            ArcData::Take { place, token } => ArcData::Take { place: *place, token: self.patterns(token) },
            ArcData::Test { place, token } => ArcData::Test { place: *place, token: self.patterns(token) },
            ArcData::Put { place, token } => ArcData::Put { place: *place, token: self.exprs(token) },
            ArcData::Inhibit { place, prefix } => {
                ArcData::Inhibit { place: *place, prefix: self.exprs(prefix) }
            }
            ArcData::Drain { place, prefix, to } => {
                ArcData::Drain { place: *place, prefix: self.exprs(prefix), to: *to }
            }
            ArcData::Read { .. }
            | ArcData::Write { .. }
            | ArcData::Governed { .. }
            | ArcData::Governs { .. } => arc.clone(),
        }
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn patterns(&mut self, patterns: &[Pattern]) -> Vec<Pattern> {
        let turn = |pattern: &Pattern| match pattern {
            Pattern::Bind(var) => Pattern::Bind(*var),
            Pattern::Is(expr) => Pattern::Is(self.expr(expr)),
        };
        patterns.iter().map(turn).collect()
    }
}

impl Condition {
    fn expr(&self) -> Expr {
        match self {
            Self::Holds(expr) => expr.clone(),
            Self::Fails(expr) => Expr::logical_not(expr.clone()),
        }
    }
}

/// The cell of which only a part is meant: a conversion that changes nothing marks it, which occurs nowhere else.
fn in_part(expr: &Expr) -> Option<(Place, &[Expr])> {
    match expr {
        Expr::Convert(IntType::U64, cell) => match cell.as_ref() {
            Expr::Cell(place, key) => Some((*place, key)),
            _ => None,
        },
        _ => None,
    }
}

/// The parts of a conjunction, as [`Expr::both`] makes them.
fn conjuncts(expr: &Expr) -> Vec<Expr> {
    match expr {
        Expr::If(left, right, otherwise) if **otherwise == Expr::Const(0) => {
            let mut parts = conjuncts(left);
            parts.extend(conjuncts(right));
            parts
        }
        expr => vec![expr.clone()],
    }
}

/// Whether the other condition cannot be true where this one is: both say that the same value is a constant, and
/// not the same one.
fn excludes(condition: &Expr, other: &Expr) -> bool {
    let Some((value, constant)) = equation(condition) else { return false };
    conjuncts(other).iter().filter_map(equation).any(|(other, c)| other == value && c != constant)
}

fn equation(expr: &Expr) -> Option<(&Expr, i64)> {
    match expr {
        Expr::Binary(BinaryOp::Eq, _, left, right) => match (left.as_ref(), right.as_ref()) {
            (value, Expr::Const(constant)) | (Expr::Const(constant), value) => Some((value, *constant)),
            _ => None,
        },
        _ => None,
    }
}
