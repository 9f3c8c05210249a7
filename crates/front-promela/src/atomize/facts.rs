//! What the rules ask of the whole model.

use pdnet_base::{FxHashSet, IndexVec};
use pdnet_source::Diagnostic;

use super::channel::Channels;
use super::tokens::Tokens;
use crate::tree::{
    ExclusiveKind, Expr, ExprKind, Label, LtlBlock, Model, Proc, Scope, Sequence, Stmt, StmtKind, Var,
};
use crate::walk::{each_expr, each_inside_expr, parts, walk, walk_statements, written};

/// What is known about a model.
#[derive(Debug)]
pub(super) struct Facts<'m> {
    pub(super) model: &'m Model,
    /// Variables that a statement of their process may touch without anybody noticing.
    pub(super) private: IndexVec<Var, bool>,
    /// Labels of each proctype whose states somebody can tell from others: `accept…`, `progress…`, and those that a
    /// formula or a process asks for. A step that comes there or leaves is as one that writes a global variable.
    pub(super) observed: IndexVec<Proc, FxHashSet<Label>>,
    /// Labels that some `goto` leads to.
    pub(super) targets: IndexVec<Proc, FxHashSet<Label>>,
    /// Labels inside of an `atomic` or `d_step`.
    pub(super) sheltered: IndexVec<Proc, FxHashSet<Label>>,
    /// What processes take and give back.
    pub(super) tokens: Tokens,
    /// What is known about channels.
    pub(super) channels: Channels<'m>,
    /// The `xr` and `xs` that are put in.
    pub(super) promises: Vec<(Proc, ExclusiveKind, Var)>,
    /// Cycles are looked for, perhaps those that are weakly fair.
    pub(super) keeps_fairness: bool,
}

impl<'m> Facts<'m> {
    /// Looks at a model and the formulas that are asked of it.
    pub(super) fn new(model: &'m Model, formulas: &[&'m LtlBlock], no_fairness: bool) -> Self {
        let n_procs = model.procs.len();
        let looked_at = looked_at(model, formulas);
        let private = private_variables(model, &looked_at);
        let tokens = Tokens::new(model, &private, &looked_at);
        let channels = Channels::new(model, formulas, &tokens);
        let mut facts = Self {
            model,
            private,
            observed: IndexVec::filled(FxHashSet::default(), n_procs),
            targets: IndexVec::filled(FxHashSet::default(), n_procs),
            sheltered: IndexVec::filled(FxHashSet::default(), n_procs),
            tokens,
            promises: channels.promises(),
            channels,
            keeps_fairness: false,
        };
        for (proc, data) in model.procs.iter_enumerated() {
            for (label, found) in data.labels.iter_enumerated() {
                if found.name.starts_with("accept") || found.name.starts_with("progress") {
                    facts.observed[proc].insert(label);
                }
            }
            walk_statements(&data.body, &mut |stmt| match &stmt.kind {
                StmtKind::Goto(label) => {
                    facts.targets[proc].insert(*label);
                }
                StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                    walk_statements(inner, &mut |stmt| facts.sheltered[proc].extend(&stmt.labels));
                }
                StmtKind::Condition(_)
                | StmtKind::Assign(..)
                | StmtKind::Send { .. }
                | StmtKind::Receive { .. }
                | StmtKind::If(_)
                | StmtKind::Do(_)
                | StmtKind::Block(_)
                | StmtKind::Unless { .. }
                | StmtKind::Break
                | StmtKind::Else
                | StmtKind::Assert(_)
                | StmtKind::Print { .. } => {}
            });
        }
        let has_cycles = !model.formulas.is_empty()
            || !formulas.is_empty()
            || !model.claims.is_empty()
            || facts.observed.iter().any(|labels| !labels.is_empty());
        facts.keeps_fairness = has_cycles && !no_fairness;
        let mut look = |expr: &Expr| match &expr.kind {
            ExprKind::At { proc, label, .. } => {
                facts.observed[*proc].insert(*label);
            }
            ExprKind::Remote { place, .. } => facts.private[place.var] = false,
            ExprKind::Const(_)
            | ExprKind::Load(_)
            | ExprKind::Pid
            | ExprKind::ProcessCount
            | ExprKind::Last
            | ExprKind::NonProgress
            | ExprKind::Anything
            | ExprKind::Timeout
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::If(..)
            | ExprKind::Run(..)
            | ExprKind::Query(..)
            | ExprKind::Poll { .. }
            | ExprKind::Enabled(_)
            | ExprKind::PcValue(_) => {}
        };
        each_outside_expr(model, formulas, &mut look);
        each_inside_expr(model, &mut look);
        facts
    }
}

/// The globals that formulas, claims and `provided` look at.
fn looked_at(model: &Model, formulas: &[&LtlBlock]) -> FxHashSet<Var> {
    let mut looked_at: FxHashSet<Var> = FxHashSet::default();
    each_outside_expr(model, formulas, &mut |expr| {
        if let ExprKind::Load(place) = &expr.kind {
            looked_at.insert(place.var);
        }
    });
    looked_at
}

/// The variables that are nobody else's business. A global is as good as local where it is never assigned, or where one
/// process alone uses it and no formula, claim or `provided` looks at it.
fn private_variables(model: &Model, looked_at: &FxHashSet<Var>) -> IndexVec<Var, bool> {
    let mut assigned: IndexVec<Var, bool> = IndexVec::filled(false, model.vars.len());
    let mut users: IndexVec<Var, Vec<Proc>> = IndexVec::filled(Vec::new(), model.vars.len());
    for (proc, data) in model.procs.iter_enumerated() {
        walk_statements(&data.body, &mut |stmt| {
            for place in written(&stmt.kind) {
                assigned[place.var] = true;
                users[place.var].push(proc);
            }
            each_expr(stmt, &mut |expr| {
                if let ExprKind::Load(place) = &expr.kind {
                    users[place.var].push(proc);
                }
            });
        });
    }
    let mut private = IndexVec::filled(true, model.vars.len());
    for (var, data) in model.vars.iter_enumerated() {
        let one_user = match users[var].as_slice() {
            [] => true,
            [first, rest @ ..] => rest.iter().all(|user| user == first) && is_single(model, *first),
        };
        private[var] = match data.scope {
            Scope::Local(_) => true,
            Scope::Global => !assigned[var] || one_user && !looked_at.contains(&var),
        };
    }
    private
}

/// Calls a function for the expressions outside of processes' statements: formulas, claims, `provided`.
pub(super) fn each_outside_expr<'m>(
    model: &'m Model,
    formulas: &[&'m LtlBlock],
    visit: &mut impl FnMut(&'m Expr),
) {
    for block in model.formulas.iter().chain(formulas.iter().copied()) {
        block.atoms.iter().for_each(|atom| walk(&atom.expr, visit));
    }
    for body in
        model.claims.iter().map(|claim| &claim.body).chain(model.traces.iter().map(|trace| &trace.body))
    {
        walk_statements(body, &mut |stmt| each_expr(stmt, visit));
    }
    for condition in model.procs.iter().filter_map(|data| data.provided.as_ref()) {
        walk(condition, visit);
    }
}

/// Whether at most one process of a proctype ever runs: it is active once and never started, or started at one place
/// that is passed at most once.
pub(super) fn is_single(model: &Model, proc: Proc) -> bool {
    instances(model, proc, model.procs.len()).is_some_and(|n| n <= 1)
}

/// A bound on the number of processes of a proctype, where there is one that can be seen.
pub(super) fn instances(model: &Model, proc: Proc, depth: usize) -> Option<u64> {
    let mut total = u64::from(model.procs[proc].active);
    for (runner, data) in model.procs.iter_enumerated() {
        let (mut once, mut often) = (0u64, false);
        each_repeated(&data.body, has_jumps(&data.body), &mut |stmt, repeated| {
            each_expr(stmt, &mut |expr| {
                if matches!(&expr.kind, ExprKind::Run(started, _) if *started == proc) {
                    once += 1;
                    often |= repeated;
                }
            });
        });
        if once > 0 {
            if often || depth == 0 {
                return None;
            }
            total += once * instances(model, runner, depth - 1)?;
        }
    }
    Some(total)
}

/// Whether a body has a `goto`, after which a statement may come again.
pub(super) fn has_jumps(body: &Sequence) -> bool {
    let mut found = false;
    walk_statements(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Goto(_)));
    found
}

/// Calls a function for each statement, with whether a process may come to it more than once.
pub(super) fn each_repeated<'t>(
    sequence: &'t Sequence,
    repeated: bool,
    visit: &mut impl FnMut(&'t Stmt, bool),
) {
    for stmt in sequence {
        visit(stmt, repeated);
        let inside = repeated || matches!(stmt.kind, StmtKind::Do(_));
        for inner in parts(stmt) {
            each_repeated(inner, inside, visit);
        }
    }
}

/// Why nothing at all may be merged in a model, where there is a reason.
pub(super) fn obstacle(
    model: &Model,
    formulas: &[&LtlBlock],
    warnings: &[Diagnostic],
    trust_claims: bool,
) -> Option<String> {
    let all = || model.formulas.iter().chain(formulas.iter().copied());
    if let Some(block) = all().find(|block| block.formula.uses_next()) {
        return Some(format!("the formula `{}` counts steps with X", block.name));
    }
    if let Some(claim) = model.claims.first()
        && !trust_claims
    {
        return Some(format!(
            "the claim `{}` may count steps (`--trust-claims` says that it does not)",
            claim.name
        ));
    }
    if warnings.iter().any(|warning| warning.id == "ignored-priority") {
        return Some("processes have priorities, which a longer step would change".to_owned());
    }
    if let Some(data) = model.procs.iter().find(|data| data.deterministic) {
        return Some(format!(
            "`{}` is a D_proctype, which takes the first alternative that is possible",
            data.name
        ));
    }
    let mut found: Option<&str> = None;
    let mut look = |expr: &Expr| match &expr.kind {
        ExprKind::Last => found = Some("`_last`"),
        ExprKind::Enabled(_) => found = Some("`enabled`"),
        ExprKind::PcValue(_) => found = Some("`pc_value`"),
        ExprKind::Const(_)
        | ExprKind::Load(_)
        | ExprKind::Pid
        | ExprKind::ProcessCount
        | ExprKind::NonProgress
        | ExprKind::Anything
        | ExprKind::Timeout
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::If(..)
        | ExprKind::Run(..)
        | ExprKind::Query(..)
        | ExprKind::Poll { .. }
        | ExprKind::Remote { .. }
        | ExprKind::At { .. } => {}
    };
    for block in all() {
        block.atoms.iter().for_each(|atom| walk(&atom.expr, &mut look));
    }
    each_outside_expr(model, &[], &mut look);
    for data in &model.procs {
        walk_statements(&data.body, &mut |stmt| each_expr(stmt, &mut look));
    }
    found.map(|what| format!("the model asks for {what}, which tells single steps"))
}
