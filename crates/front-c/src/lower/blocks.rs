//! The ends of blocks: a local of an inner block is gone when control leaves the block, though its function goes on.
//!
//! A cell of the frame says of such a local that its block was left, and an access through a pointer looks
//! there. Only locals have one to which a pointer may point that lives longer than the block. A function
//! with labels is left out, and so is a block that a `case` of an outer `switch` is in: there, control comes in
//! past the declaration.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_net::{Action, CellData, Expr, IntType, Place, Scope};
use pdnet_source::Span;

use super::Lowerer;
use super::flow::frame_key;
use super::points_to::{Home, PointsTo};
use super::step::Step;
use crate::tree::{Function, Program, Stmt, StmtKind, Storage, Variable};

/// Where a jump out of a loop or a `switch` goes, and how many blocks it stays in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) to: Place,
    pub(crate) n_blocks: usize,
}

/// The locals of inner blocks to which pointers may point when the block has been left. `calls`: whether one function
/// may come to call another.
pub(crate) fn left_behind(
    program: &Program,
    points_to: &PointsTo,
    calls: &dyn Fn(Function, Function) -> bool,
) -> BTreeSet<Variable> {
    let mut inner: BTreeMap<Variable, BTreeSet<Variable>> = BTreeMap::new();
    for &function in &points_to.reachable {
        if let Some(body) = program.functions[function].body.as_ref().filter(|body| body.labels.is_empty()) {
            body.stmts.iter().for_each(|stmt| find_blocks(stmt, &mut inner));
        }
    }
    let escaped = points_to.escaped(program);
    let mut keepers: BTreeMap<Variable, Vec<Home>> = BTreeMap::new();
    for (home, contents) in points_to.all_contents() {
        for to in contents {
            if let Home::Variable(variable) = to
                && inner.contains_key(variable)
            {
                keepers.entry(*variable).or_default().push(home);
            }
        }
    }
    let owner = |variable: Variable| match program.variables[variable].storage {
        Storage::Local(function) | Storage::Param(function) => Some(function),
        Storage::Global | Storage::Static(_) | Storage::ThreadLocal => None,
    };
    let lives_longer = |variable: Variable, keeper: &Home| match keeper {
        Home::Variable(keeper) => match (owner(variable), owner(*keeper)) {
            (Some(own), Some(other)) if own == other => !inner[&variable].contains(keeper) || calls(own, own),
            // What is called from the block has ended before the block does.
            (Some(own), Some(other)) => calls(other, own),
            _ => true,
        },
        Home::Heap(_) => true,
        Home::Text(_) | Home::Function(_) | Home::Outside => false,
    };
    let is_left = |(variable, keepers): &(Variable, Vec<Home>)| {
        escaped.contains(&Home::Variable(*variable))
            || keepers.iter().any(|keeper| lives_longer(*variable, keeper))
    };
    let pointed = inner.keys().map(|&variable| (variable, keepers.remove(&variable).unwrap_or_default()));
    pointed.filter(is_left).map(|(variable, _)| variable).collect()
}

/// The locals that belong to a statement: those that go when it ends.
fn declared(stmt: &Stmt) -> Vec<Variable> {
    let stmts = match &stmt.kind {
        StmtKind::Block(stmts) if !stmts.iter().any(lets_in) => stmts,
        StmtKind::For(init, ..) => init,
        _ => return Vec::new(),
    };
    let declared = stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Declare(variable, _) => Some(*variable),
        _ => None,
    });
    declared.collect()
}

/// Whether control can come in from outside of the statement.
fn lets_in(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Case(..) | StmtKind::Default(_) | StmtKind::Label(..) => true,
        // Its cases are its own, and functions with labels are left out.
        StmtKind::Switch(..) => false,
        _ => parts(stmt).iter().any(|part| lets_in(part)),
    }
}

/// Adds the locals of all blocks in the statement, each with all that is declared in the same block or inside of it.
fn find_blocks(stmt: &Stmt, found: &mut BTreeMap<Variable, BTreeSet<Variable>>) {
    let own = declared(stmt);
    if !own.is_empty() {
        let mut inside = BTreeSet::new();
        all_declared(stmt, &mut inside);
        found.extend(own.into_iter().map(|variable| (variable, inside.clone())));
    }
    parts(stmt).iter().for_each(|part| find_blocks(part, found));
}

fn all_declared(stmt: &Stmt, found: &mut BTreeSet<Variable>) {
    if let StmtKind::Declare(variable, _) = &stmt.kind {
        found.insert(*variable);
    }
    parts(stmt).iter().for_each(|part| all_declared(part, found));
}

/// The statements that a statement consists of.
fn parts(stmt: &Stmt) -> Vec<&Stmt> {
    match &stmt.kind {
        StmtKind::Block(stmts) => stmts.iter().collect(),
        StmtKind::If(_, then, otherwise) => {
            std::iter::once(&**then).chain(otherwise.iter().map(|otherwise| &**otherwise)).collect()
        }
        StmtKind::For(init, _, _, body) => init.iter().chain([&**body]).collect(),
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::Switch(_, body)
        | StmtKind::Case(_, _, body)
        | StmtKind::Default(body)
        | StmtKind::Label(_, body) => vec![body],
        StmtKind::Expr(_)
        | StmtKind::Declare(..)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Asm => Vec::new(),
    }
}

impl Lowerer<'_> {
    /// Adds the cells that say which locals are gone.
    pub(crate) fn declare_left(&mut self) {
        for variable in self.survey.left_behind.clone() {
            let Some(scope @ Scope::Frame(_)) = self.scope_of(Home::Variable(variable)) else { continue };
            let value = IntType { bits: 1, signed: false };
            let cells = CellData { scope, length: None, value, default: 0, listed: vec![] };
            let name = format!("{} is gone", self.program.variables[variable].name);
            let place = self.net.add_cells(&name, cells);
            self.net.places[place].internal = true;
            self.gone.insert(variable, place);
        }
    }

    /// A statement that locals belong to begins.
    pub(crate) fn enter_block(&mut self, stmt: &Stmt) {
        let left = declared(stmt).into_iter().filter_map(|variable| self.gone.get(&variable).copied());
        let left: Vec<Place> = left.collect();
        self.frame.blocks.push(left);
    }

    /// It ends where control is.
    pub(crate) fn leave_block(&mut self, span: Span) {
        self.leave_blocks(self.frame.blocks.len().saturating_sub(1), span);
        self.frame.blocks.pop();
    }

    /// Control leaves all blocks but the first ones.
    pub(crate) fn leave_blocks(&mut self, n_kept: usize, span: Span) {
        let left: Vec<Place> = self.frame.blocks[n_kept..].iter().flatten().copied().collect();
        self.note_gone(&left, true, span);
    }

    /// A place outside of all blocks that begin from now on.
    pub(crate) fn target(&self, to: Place) -> Target {
        Target { to, n_blocks: self.frame.blocks.len() }
    }

    /// Control leaves blocks by `break` or `continue`.
    pub(crate) fn jump_to(&mut self, target: Target, span: Span) {
        self.leave_blocks(target.n_blocks, span);
        self.go_on_at(target.to);
    }

    /// A local is there anew where its declaration is reached again.
    pub(crate) fn enter_lifetime(&mut self, variable: Variable, span: Span) {
        if let Some(&place) = self.gone.get(&variable)
            && !self.frame.continues.is_empty()
        {
            self.note_gone(&[place], false, span);
        }
    }

    fn note_gone(&mut self, places: &[Place], is_gone: bool, span: Span) {
        if places.is_empty() {
            return;
        }
        let label = if is_gone { "end of a block" } else { "a local begins" };
        let mut step = Step::new(Action::Jump, label, None);
        for &place in places {
            step = step.write(place, frame_key(), Expr::Const(i64::from(is_gone)));
        }
        self.advance(span, step);
    }
}
