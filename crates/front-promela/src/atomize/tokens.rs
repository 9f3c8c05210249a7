//! What processes take and give back: forks, locks, places at a table.
//!
//! The paper recalls Lipton's observation that `V(S)` can be moved to the front. In Promela a semaphore is a channel
//! with tokens in it, a variable that is tested and set in one step, or a counter that is compared and changed in one
//! step:
//!
//! | | taken by | given back by |
//! | --- | --- | --- |
//! | a channel | `q?_` | `q!1` |
//! | a lock | `atomic { !taken[i] -> taken[i] = true }` | `taken[i] = false` |
//! | a counter | `atomic { seated < N -> seated++ }` | `seated--` |
//!
//! Whoever gives back has taken before: that is followed along the statements of each proctype ([`Holder`]). So
//!
//! - a channel never has more messages than were sent by those who had not taken any ([`super::channel`]);
//! - while a process holds a lock, others only wait for it, and a counter that is given back earlier only makes more
//!   possible. Where no statement but those of this table uses the variable, giving it back can follow any step at once
//!   ([`super::post`]).

use pdnet_base::{FxHashMap, FxHashSet, IndexVec};

use super::guard::{awaited_guards, mirrored};
use super::instances::cut;
use super::local::is_local_expr;
use crate::tree::{
    BinaryOp, Choice, Expr, ExprKind, Model, Place, Scope, Sequence, Stmt, StmtKind, Type, UnaryOp, Var,
};
use crate::walk::{each_expr, parts, same_place, walk, walk_statements, written};

/// A statement of the model, by where it lies in memory: those of an inline have all the same place in the text.
pub(super) type StmtId = *const Stmt;

/// What is known of taking and giving back.
#[derive(Debug)]
pub(super) struct Tokens {
    /// Sends to a channel from which the process has received, and not sent back yet.
    pub(super) returns: FxHashSet<StmtId>,
    /// Assignments that give back a lock or a counter that nobody uses in another way.
    pub(super) releases: FxHashSet<StmtId>,
    /// The locks and counters.
    pub(super) resources: Vec<Var>,
}

impl Tokens {
    /// Looks at all proctypes. `private` are the variables that nobody else touches, `looked_at` those that formulas and
    /// claims ask for.
    pub(super) fn new(model: &Model, private: &IndexVec<Var, bool>, looked_at: &FxHashSet<Var>) -> Self {
        let mut search = Search {
            model,
            private,
            modes: FxHashMap::default(),
            takes: FxHashSet::default(),
            expected: FxHashSet::default(),
            returns: FxHashSet::default(),
            releases: FxHashMap::default(),
        };
        for data in &model.procs {
            walk_statements(&data.body, &mut |stmt| {
                if let StmtKind::Atomic(inner) | StmtKind::DStep(inner) = &stmt.kind {
                    search.find_takes(inner);
                    walk_statements(inner, &mut |stmt| {
                        parts(stmt).into_iter().for_each(|inner| search.find_takes(inner));
                    });
                }
            });
        }
        for data in &model.procs {
            let mut jumps = false;
            walk_statements(&data.body, &mut |stmt| {
                jumps |= matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Unless { .. });
            });
            if !jumps {
                let mut holder = Holder { search: &mut search, breaks: Vec::new() };
                holder.sequence(&data.body, Some(Vec::new()));
            }
        }
        let spoiled = search.spoiled();
        let is_good = |var: Var| !spoiled.contains(&var) && !looked_at.contains(&var);
        let mut resources: Vec<Var> = search.modes.keys().copied().filter(|&var| is_good(var)).collect();
        resources.sort_unstable();
        let mut releases = search.releases;
        releases.retain(|_, var| is_good(*var));
        Self { returns: search.returns, releases: releases.into_keys().collect(), resources }
    }
}

/// How a variable is taken and given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It is free where it has this value, and its holder gives it this value again.
    Lock(i64),
    /// It is counted up to take, down to give back.
    Up,
    /// It is counted down to take, up to give back.
    Down,
}

/// What a condition asks of a variable.
#[derive(Clone, Copy, Debug)]
enum Test {
    Is(i64),
    Below,
    Above,
}

struct Search<'s> {
    model: &'s Model,
    private: &'s IndexVec<Var, bool>,
    /// How each variable is taken; `None` where it is not always the same.
    modes: FxHashMap<Var, Option<Mode>>,
    /// The assignments that take.
    takes: FxHashSet<StmtId>,
    /// The reads that belong to taking and giving back.
    expected: FxHashSet<*const Expr>,
    returns: FxHashSet<StmtId>,
    releases: FxHashMap<StmtId, Var>,
}

impl Search<'_> {
    /// Finds conditions in an indivisible sequence that are followed by assignments that take what they ask for.
    fn find_takes(&mut self, sequence: &Sequence) {
        for (at, stmt) in sequence.iter().enumerate() {
            let StmtKind::Condition(condition) = &stmt.kind else { continue };
            let mut tests = Vec::new();
            conjuncts(self.model, condition, &mut tests);
            for next in &sequence[at + 1..] {
                let StmtKind::Assign(place, value) = &next.kind else { break };
                if !next.labels.is_empty() {
                    break;
                }
                let taken = tests.iter().find(|(_, tested, _)| same_place(tested, place)).copied();
                if let Some((load, _, test)) = taken {
                    self.take(next, place, value, load, test);
                }
                // Two elements of one array may be the same one, and a changed index leads to another.
                tests.retain(|(_, tested, _)| {
                    tested.var != place.var && !tested.indices.iter().any(|index| mentions(index, place.var))
                });
            }
        }
    }

    fn take(&mut self, stmt: &Stmt, place: &Place, value: &Expr, load: *const Expr, test: Test) {
        let data = &self.model.vars[place.var];
        let fits = |value: i64| cut(data.ty, value) == value;
        let mode = match (test, &value.kind) {
            (Test::Is(free), &ExprKind::Const(set)) if set != free && fits(set) && fits(free) => {
                Mode::Lock(free)
            }
            (Test::Below, _) if changes_by(place, value, BinaryOp::Add) => Mode::Up,
            (Test::Above, _) if changes_by(place, value, BinaryOp::Sub) => Mode::Down,
            _ => return,
        };
        if data.scope == Scope::Global && self.is_fixed(place) {
            let known = self.modes.entry(place.var).or_insert(Some(mode));
            *known = known.filter(|known| *known == mode);
            self.takes.insert(stmt);
            self.expected.insert(load);
            self.expect_reads(value);
        }
    }

    fn expect_reads(&mut self, value: &Expr) {
        walk(value, &mut |inner| {
            self.expected.insert(inner);
        });
    }

    /// Whether others cannot change which element of an array it is.
    fn is_fixed(&self, place: &Place) -> bool {
        place.indices.iter().all(|index| is_local_expr(self.private, index))
    }

    /// Whether an assignment gives back what `place` says.
    fn gives_back(&self, place: &Place, value: &Expr) -> bool {
        match self.modes.get(&place.var).copied().flatten() {
            Some(Mode::Lock(free)) => matches!(value.kind, ExprKind::Const(value) if value == free),
            Some(Mode::Up) => changes_by(place, value, BinaryOp::Sub),
            Some(Mode::Down) => changes_by(place, value, BinaryOp::Add),
            None => false,
        }
    }

    /// The variables that are also used in another way.
    fn spoiled(&self) -> FxHashSet<Var> {
        let mut spoiled: FxHashSet<Var> =
            self.modes.iter().filter(|(_, mode)| mode.is_none()).map(|(&var, _)| var).collect();
        for data in &self.model.procs {
            walk_statements(&data.body, &mut |stmt| {
                let id: StmtId = stmt;
                if !self.takes.contains(&id) && !self.releases.contains_key(&id) {
                    spoiled.extend(written(&stmt.kind).iter().map(|place| place.var));
                }
                // Who goes another way where something is taken sees that it is.
                for guard in awaited_guards(stmt) {
                    walk_statements(std::slice::from_ref(guard), &mut |inner| {
                        each_expr(inner, &mut |expr| {
                            if let ExprKind::Load(place) = &expr.kind {
                                spoiled.insert(place.var);
                            }
                        });
                    });
                }
                each_expr(stmt, &mut |expr| {
                    if let ExprKind::Load(place) = &expr.kind
                        && !self.expected.contains(&std::ptr::from_ref(expr))
                    {
                        spoiled.insert(place.var);
                    }
                });
            });
        }
        spoiled
    }
}

/// Whether a value is that of the place itself plus or minus one.
fn changes_by(place: &Place, value: &Expr, op: BinaryOp) -> bool {
    match &value.kind {
        ExprKind::Binary(found, left, right) if *found == op => {
            matches!(right.kind, ExprKind::Const(1))
                && matches!(&left.kind, ExprKind::Load(loaded) if same_place(loaded, place))
        }
        _ => false,
    }
}

/// The tests of single variables that a condition is made of.
fn conjuncts<'e>(model: &Model, expr: &'e Expr, found: &mut Vec<(*const Expr, &'e Place, Test)>) {
    let mut add = |load: &'e Expr, test: Test| {
        if let ExprKind::Load(place) = &load.kind {
            found.push((load, place, test));
        }
    };
    match &expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => {
            conjuncts(model, left, found);
            conjuncts(model, right, found);
        }
        ExprKind::Unary(UnaryOp::Not, inner) => add(inner, Test::Is(0)),
        ExprKind::Load(place) if matches!(model.vars[place.var].ty, Type::Bit | Type::Bool) => {
            add(expr, Test::Is(1));
        }
        ExprKind::Binary(op, left, right) => {
            let (load, op) = match (&left.kind, &right.kind) {
                (_, ExprKind::Const(_)) => (left, *op),
                (ExprKind::Const(_), _) => match mirrored(*op) {
                    Some(op) => (right, op),
                    None => return,
                },
                _ => return,
            };
            let constant = if std::ptr::eq(load, left) { right } else { left };
            match (op, &constant.kind) {
                (BinaryOp::Eq, ExprKind::Const(value)) => add(load, Test::Is(*value)),
                (BinaryOp::Lt | BinaryOp::Le, _) => add(load, Test::Below),
                (BinaryOp::Gt | BinaryOp::Ge, _) => add(load, Test::Above),
                _ => {}
            }
        }
        _ => {}
    }
}

/// What a process holds; `None` where it never comes.
type Held = Option<Vec<Place>>;

/// Follows what a process holds along its statements.
struct Holder<'h, 's> {
    search: &'h mut Search<'s>,
    /// What is held at each `break` of the loops around.
    breaks: Vec<Held>,
}

impl Holder<'_, '_> {
    fn sequence(&mut self, sequence: &Sequence, mut held: Held) -> Held {
        for stmt in sequence {
            held = self.stmt(stmt, held);
        }
        held
    }

    fn stmt(&mut self, stmt: &Stmt, held: Held) -> Held {
        let mut held = held?;
        match &stmt.kind {
            StmtKind::Receive { channel, keep: false, .. } => {
                if let ExprKind::Load(place) = &channel.kind
                    && self.search.is_fixed(place)
                {
                    held.push(place.clone());
                }
            }
            StmtKind::Send { channel, .. } => {
                let returned = match &channel.kind {
                    ExprKind::Load(place) => remove(&mut held, place),
                    _ => false,
                };
                if returned {
                    self.search.returns.insert(stmt);
                } else {
                    self.search.returns.remove(&std::ptr::from_ref(stmt));
                }
            }
            StmtKind::Assign(place, value) => {
                let id: StmtId = stmt;
                if self.search.takes.contains(&id) {
                    held.push(place.clone());
                } else if self.search.gives_back(place, value) && remove(&mut held, place) {
                    self.search.expect_reads(value);
                    self.search.releases.insert(id, place.var);
                } else {
                    self.search.releases.remove(&id);
                }
            }
            StmtKind::If(choices) => return self.choices(choices, Some(held)),
            StmtKind::Do(choices) => return self.repetition(choices, held),
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                return self.sequence(inner, Some(held));
            }
            StmtKind::Break => {
                if let Some(before) = self.breaks.pop() {
                    self.breaks.push(both(before, Some(held)));
                }
                return None;
            }
            StmtKind::Receive { .. }
            | StmtKind::Condition(_)
            | StmtKind::Assert(_)
            | StmtKind::Print { .. }
            | StmtKind::Else
            | StmtKind::Goto(_)
            | StmtKind::Unless { .. } => {}
        }
        // What depends on a variable that is changed is not followed any longer.
        for place in written(&stmt.kind) {
            held.retain(|held| !held.indices.iter().any(|index| mentions(index, place.var)));
        }
        Some(held)
    }

    fn choices(&mut self, choices: &[Choice], held: Held) -> Held {
        choices.iter().fold(None, |joined, choice| {
            let found = self.sequence(&choice.body, held.clone());
            both(joined, found)
        })
    }

    fn repetition(&mut self, choices: &[Choice], held: Vec<Place>) -> Held {
        let mut at_head = held;
        loop {
            self.breaks.push(None);
            let back = self.choices(choices, Some(at_head.clone()));
            let out = self.breaks.pop().flatten();
            let n_before = at_head.len();
            at_head = both(Some(at_head), back).unwrap_or_default();
            if at_head.len() == n_before {
                return out;
            }
        }
    }
}

/// What is held on both ways.
fn both(one: Held, other: Held) -> Held {
    match (one, other) {
        (None, only) | (only, None) => only,
        (Some(one), Some(mut other)) => {
            Some(one.into_iter().filter(|place| remove(&mut other, place)).collect())
        }
    }
}

/// Takes a place off a list, if it is there.
fn remove(list: &mut Vec<Place>, place: &Place) -> bool {
    match list.iter().position(|held| same_place(held, place)) {
        Some(at) => {
            list.remove(at);
            true
        }
        None => false,
    }
}

fn mentions(expr: &Expr, var: Var) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= matches!(&inner.kind, ExprKind::Load(place) if place.var == var));
    found
}
