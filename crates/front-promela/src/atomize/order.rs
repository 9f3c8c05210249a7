//! What a merged sequence costs SPIN's partial order reduction.
//!
//! In a state in which some process can only do *safe* steps, SPIN follows that process alone. A step is safe where it
//! touches locals, or a channel that `xr` or `xs` gives to the process and that has a message or room. An `atomic` is safe
//! where all of it is: one step that is not, or a jump out of it, makes all of it unsafe, also its beginning; and a safe
//! one with channels is followed alone only where all of them have what it needs.
//!
//! So a sequence that begins with a safe step loses something by being merged with others that are not, and wins at the
//! place where such a step stood before. That is even where this step never waits (an assignment, a send where there is
//! room), for its place is gone; and a loss where it waits (a receive, a condition), for then its place stays. A send is
//! taken for one that seldom waits.
//!
//! All this is a matter of weight, not of right and wrong: a merged model may have some states more with partial order
//! reduction where sends do wait.

use pdnet_base::FxHashSet;

use super::facts::Facts;
use super::post::is_true;
use crate::tree::{ExclusiveKind, Expr, ExprKind, Place, Proc, ReceiveArg, Scope, Stmt, StmtKind, Var};
use crate::walk::{parts, walk, walk_statements};

/// SPIN looks at no more than this many channel operations of one `atomic`.
const CHANNEL_LIMIT: usize = 2;

/// A merged sequence, as SPIN sees it.
#[derive(Debug, Default)]
struct Seen {
    /// The channels that safe steps send to or receive from.
    channels: FxHashSet<(Var, bool)>,
    /// It has steps that are not safe and never wait.
    quick: bool,
    /// It has steps that are not safe.
    unsafe_steps: bool,
    /// It has steps that are not safe and may wait.
    slow: bool,
    /// A step that may wait stands behind another.
    waits_behind: bool,
}

impl Facts<'_> {
    /// Whether SPIN's partial order reduction would be worse off if these statements were one. `beside_others`: they begin
    /// one of several alternatives, all of which SPIN takes as unsafe where they do not need the same.
    pub(super) fn costs_order(&self, proc: Proc, sequence: &[Stmt], beside_others: bool) -> bool {
        let Some(first) = sequence.first() else { return false };
        if !self.begins_safe(proc, first) {
            return false;
        }
        let mut seen = Seen::default();
        let mut is_first = true;
        walk_statements(sequence, &mut |stmt| {
            if !parts(stmt).is_empty() {
                return;
            }
            let sends = matches!(stmt.kind, StmtKind::Send { .. });
            let waits = !sends && self.waits(proc, stmt);
            match self.channel_of_safe(proc, stmt) {
                Some(channel) => {
                    seen.waits_behind |= !is_first && channel.is_some() && (beside_others || !sends);
                    seen.channels.extend(channel);
                }
                None => {
                    seen.unsafe_steps = true;
                    seen.quick |= !waits;
                    seen.slow |= waits;
                }
            }
            is_first = false;
        });
        let stays_safe = !seen.unsafe_steps
            && !jumps_out(sequence, true, true)
            && !seen.waits_behind
            && seen.channels.len() <= CHANNEL_LIMIT;
        let always_safe = !matches!(first.kind, StmtKind::Receive { .. } | StmtKind::Send { .. });
        !stays_safe && (!seen.quick || seen.slow || beside_others && always_safe)
    }

    /// Whether a statement may have to wait for others. A safe send to a channel that is no small one seldom does.
    pub(super) fn waits(&self, proc: Proc, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Condition(expr) => !is_true(expr) && !matches!(expr.kind, ExprKind::Run(..)),
            StmtKind::Receive { .. } | StmtKind::Unless { .. } => true,
            StmtKind::Send { channel, .. } => {
                let is_safe = self.promised(proc, channel, ExclusiveKind::Send).is_some();
                !self.channels.has_room_for(proc, channel, is_safe)
            }
            StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                inner.first().is_some_and(|first| self.waits(proc, first))
            }
            StmtKind::If(choices) | StmtKind::Do(choices) => {
                choices.iter().any(|choice| choice.body.first().is_some_and(|first| self.waits(proc, first)))
            }
            StmtKind::Assign(..)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => false,
        }
    }

    /// Whether SPIN takes all steps that a statement can begin with as safe.
    fn begins_safe(&self, proc: Proc, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                let mut is_safe = true;
                walk_statements(inner, &mut |stmt| {
                    is_safe &= !parts(stmt).is_empty() || self.channel_of_safe(proc, stmt).is_some();
                });
                is_safe
            }
            StmtKind::If(choices) | StmtKind::Do(choices) => choices.iter().all(|choice| {
                choice.otherwise.is_some()
                    || choice.body.first().is_some_and(|first| self.begins_safe(proc, first))
            }),
            StmtKind::Block(inner) => inner.first().is_some_and(|first| self.begins_safe(proc, first)),
            StmtKind::Unless { .. } => false,
            StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => self.channel_of_safe(proc, stmt).is_some(),
        }
    }

    /// Whether SPIN takes a single statement as safe, and which channel it needs for that.
    pub(super) fn channel_of_safe(&self, proc: Proc, stmt: &Stmt) -> Option<Option<(Var, bool)>> {
        let exprs_safe = |exprs: &[Expr]| exprs.iter().all(|expr| self.is_safe_expr(expr));
        let place_safe = |place: &Place| self.is_safe_var(place.var) && exprs_safe(&place.indices);
        let is_safe = match &stmt.kind {
            StmtKind::Condition(expr) | StmtKind::Assert(expr) => self.is_safe_expr(expr),
            StmtKind::Assign(place, value) => place_safe(place) && self.is_safe_expr(value),
            StmtKind::Print { args, .. } => exprs_safe(args),
            StmtKind::Send { channel, args, .. } => {
                let var = self.promised(proc, channel, ExclusiveKind::Send)?;
                return exprs_safe(args).then_some(Some((var, true)));
            }
            StmtKind::Receive { channel, args, .. } => {
                let var = self.promised(proc, channel, ExclusiveKind::Receive)?;
                let is_safe = args.iter().all(|arg| match arg {
                    ReceiveArg::Match(expr) => self.is_safe_expr(expr),
                    ReceiveArg::Store(place) => place_safe(place),
                    ReceiveArg::Ignore => true,
                });
                return is_safe.then_some(Some((var, false)));
            }
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Else => true,
            StmtKind::If(_)
            | StmtKind::Do(_)
            | StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Unless { .. } => false,
        };
        is_safe.then_some(None)
    }

    /// The channel of a send or receive, where `xr` or `xs` is said of it, also by us.
    fn promised(&self, proc: Proc, channel: &Expr, kind: ExclusiveKind) -> Option<Var> {
        let ExprKind::Load(place) = &channel.kind else { return None };
        let said = self.model.procs[proc]
            .exclusive
            .iter()
            .any(|exclusive| exclusive.kind == kind && exclusive.place.var == place.var);
        (said || self.promises.contains(&(proc, kind, place.var))).then_some(place.var)
    }

    fn is_safe_expr(&self, expr: &Expr) -> bool {
        let mut is_safe = true;
        walk(expr, &mut |inner| {
            is_safe &= match &inner.kind {
                ExprKind::Load(place) => self.is_safe_var(place.var),
                ExprKind::Const(_)
                | ExprKind::Pid
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::If(..) => true,
                ExprKind::ProcessCount
                | ExprKind::Last
                | ExprKind::NonProgress
                | ExprKind::Anything
                | ExprKind::Timeout
                | ExprKind::Run(..)
                | ExprKind::Query(..)
                | ExprKind::Poll { .. }
                | ExprKind::Enabled(_)
                | ExprKind::PcValue(_)
                | ExprKind::Remote { .. }
                | ExprKind::At { .. } => false,
            };
        });
        is_safe
    }

    fn is_safe_var(&self, var: Var) -> bool {
        let data = &self.model.vars[var];
        data.scope != Scope::Global || data.local
    }
}

/// Whether a jump leads out of a sequence. `at_end`: nothing of the `atomic` stands behind it. `outer`: a `break` in it
/// leaves the `atomic`.
fn jumps_out(sequence: &[Stmt], at_end: bool, outer: bool) -> bool {
    let n = sequence.len();
    sequence.iter().enumerate().any(|(at, stmt)| {
        let at_end = at_end && at + 1 == n;
        match &stmt.kind {
            StmtKind::Goto(_) => true,
            StmtKind::Break => outer,
            StmtKind::Do(choices) => choices.iter().any(|choice| jumps_out(&choice.body, at_end, at_end)),
            _ => parts(stmt).into_iter().any(|inner| jumps_out(inner, at_end, outer)),
        }
    })
}
