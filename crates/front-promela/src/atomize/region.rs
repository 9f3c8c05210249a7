//! Which statements in a row may be one `atomic`.
//!
//! A merged sequence has the shape *delayed steps, one step of any kind, advanced steps* (Lipton's right movers, one
//! non-mover, left movers): the first can wait for the middle one ([`super::pre`], [`super::guard`]), the last can follow
//! it at once ([`super::post`]). [`Walker`] follows all ways through the statements and keeps track of where in this
//! shape it is.
//!
//! Between two merged steps nobody else moves as long as the process can go on. That is no loss at a point that is
//! reached only by delayed steps, for they could as well have been done later; nor at one from which only advanced
//! steps lead on, for they could as well have been done before what the others did.
//!
//! What must not be inside: a loop that may never end ([`super::repeat`]), a label that somebody jumps to or looks at, `unless`, a send that
//! may be a rendezvous but as the last step (SPIN then passes the privilege on to the receiver), a `timeout` behind
//! another step.

use pdnet_base::FxHashSet;
use pdnet_source::Span;

use super::facts::Facts;
use crate::tree::{Choice, ExprKind, Label, Proc, Sequence, Stmt, StmtKind};
use crate::walk::{each_expr, walk_statements};

/// Where in the shape of a merged sequence we are; in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Nothing was done yet.
    Start,
    /// Nothing was done yet, and somebody sees how long the process stays here: nothing may be delayed.
    Observed,
    /// Delayed steps were done.
    Delayed,
    /// The step that may be of any kind was done, and nothing behind it.
    Fired,
    /// Advanced steps were done behind it.
    Advanced,
    /// Nothing may follow.
    Closed,
}

/// By which rule a statement is part of a merged sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Section 3.2, "i0 is not a guard", 1 and 2: a local assignment or condition waits for the next step.
    Pre,
    /// Section 3.2, "i0 is not a guard", 3: so does a receive from a channel that always has room and one reader.
    PreReceive,
    /// Section 3.2, "i0 is a guard": so does a local guard.
    Guard,
    /// Section 3.2, "i0 is a guard", 3: so does a guard that receives.
    GuardReceive,
    /// The one step that may be of any kind.
    Any,
    /// The same, and it was `atomic` or `d_step` before.
    Existing,
    /// Section 3.2, "i0 is followed by non blocking statements": it follows at once.
    Post,
    /// The same of a send, a receive or giving back that nobody can prevent.
    PostShared,
    /// Section 3.2, 4: all alternatives of the selection are merged, and so is the whole.
    Selection,
    /// The same of a loop that is sure to end.
    Repetition,
}

/// Why a statement cannot be part of a merged sequence.
#[derive(Clone, Debug)]
pub(super) struct Obstacle {
    pub(super) span: Span,
    pub(super) reason: String,
}

/// Where statements lead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The phase behind them; `None` where all ways jump away.
    pub(super) phase: Option<Phase>,
    /// The largest number of steps on a way.
    pub(super) n_steps: usize,
}

/// Follows the ways through statements of one proctype.
pub(super) struct Walker<'f, 'm> {
    pub(super) facts: &'f Facts<'m>,
    pub(super) proc: Proc,
    /// Also delay steps until one that waits; see [`super::AtomizeOptions::before_waits`].
    pub(super) before_waits: bool,
    /// The statements that were walked over, with their rules.
    pub(super) rules: Vec<(Span, Rule)>,
}

type Walked = Result<Flow, Obstacle>;

/// How a statement stands in what is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// It is the first of the merged statements themselves: its labels stay in front.
    pub(super) first: bool,
    /// It begins an alternative.
    pub(super) guard: bool,
    /// It is inside of another merged statement.
    pub(super) nested: bool,
}

impl Walker<'_, '_> {
    /// Goes over one statement.
    pub(super) fn stmt(&mut self, stmt: &Stmt, phase: Phase, position: Position) -> Walked {
        let refuse = |reason: String| Err(Obstacle { span: stmt.span, reason });
        if !position.first {
            for &label in &stmt.labels {
                self.check_label(label).map_err(|reason| Obstacle { span: stmt.span, reason })?;
            }
        }
        let has_timeout = asks_timeout(stmt);
        if has_timeout && phase > Phase::Observed {
            return refuse("`timeout` asks whether anybody can move".to_owned());
        }
        match &stmt.kind {
            StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Assert(_)
            | StmtKind::Print { .. }
            | StmtKind::Receive { .. } => match self.single(stmt, phase, position.guard) {
                Ok(phase) => Ok(Flow { phase: Some(phase), n_steps: 1 }),
                Err(reason) => refuse(reason),
            },
            StmtKind::Send { channel, .. } => {
                if self.facts.channels.may_be_rendezvous(self.proc, channel) {
                    if phase >= Phase::Fired || position.nested {
                        return refuse("it may be a rendezvous, which passes the privilege on".to_owned());
                    }
                    if !self.before_waits && phase >= Phase::Delayed {
                        return refuse("it may be a rendezvous, which waits".to_owned());
                    }
                    self.rules.push((stmt.span, Rule::Any));
                    return Ok(Flow { phase: Some(Phase::Closed), n_steps: 1 });
                }
                match self.single(stmt, phase, position.guard) {
                    Ok(phase) => Ok(Flow { phase: Some(phase), n_steps: 1 }),
                    Err(reason) => refuse(reason),
                }
            }
            StmtKind::If(choices) => self.selection(stmt, choices, phase, Rule::Selection),
            StmtKind::Do(choices) => self.repetition(stmt, choices, phase),
            StmtKind::Unless { .. } => refuse("`unless` can interrupt it".to_owned()),
            StmtKind::Block(inner) => self.sequence(inner, phase, position.guard),
            StmtKind::Atomic(inner) => {
                let n_rules = self.rules.len();
                if let Ok(flow) = self.sequence(inner, phase, position.guard) {
                    return Ok(flow);
                }
                self.rules.truncate(n_rules);
                self.existing(stmt, inner, phase, position)
            }
            StmtKind::DStep(inner) => {
                let n_rules = self.rules.len();
                let is_local = self.sequence(inner, Phase::Advanced, false).is_ok();
                self.rules.truncate(n_rules);
                if !is_local {
                    return self.existing(stmt, inner, phase, position);
                }
                let (next, rule) = match phase {
                    Phase::Start | Phase::Delayed => (Phase::Delayed, Rule::Pre),
                    Phase::Observed => (Phase::Fired, Rule::Any),
                    Phase::Fired | Phase::Advanced => (Phase::Advanced, Rule::Post),
                    Phase::Closed => return refuse(CLOSED.to_owned()),
                };
                self.rules.push((stmt.span, rule));
                Ok(Flow { phase: Some(next), n_steps: 1 })
            }
            StmtKind::Goto(label) => {
                if self.facts.sheltered[self.proc].contains(label) {
                    return refuse("it jumps into an `atomic`".to_owned());
                }
                self.jump(stmt, phase)
            }
            StmtKind::Break => self.jump(stmt, phase),
            StmtKind::Else => match phase {
                Phase::Start | Phase::Observed | Phase::Delayed => {
                    self.rules.push((stmt.span, Rule::Any));
                    Ok(Flow { phase: Some(Phase::Fired), n_steps: 1 })
                }
                Phase::Fired | Phase::Advanced | Phase::Closed => {
                    refuse("this `else` looks at other alternatives".to_owned())
                }
            },
        }
    }

    fn check_label(&self, label: Label) -> Result<(), String> {
        let name = &self.facts.model.procs[self.proc].labels[label].name;
        if self.facts.targets[self.proc].contains(&label) {
            return Err(format!("somebody jumps to the label `{name}`"));
        }
        if self.facts.observed[self.proc].contains(&label) {
            return Err(format!("the label `{name}` is looked at"));
        }
        Ok(())
    }

    /// A statement that is one step.
    fn single(&mut self, stmt: &Stmt, phase: Phase, guard: bool) -> Result<Phase, String> {
        let (facts, proc) = (self.facts, self.proc);
        let (next, rule) = match phase {
            Phase::Start | Phase::Delayed if facts.may_wait(proc, stmt) => {
                let receives = matches!(stmt.kind, StmtKind::Receive { .. });
                let rule = match (guard, receives) {
                    (true, true) => Rule::GuardReceive,
                    (true, false) => Rule::Guard,
                    (false, true) => Rule::PreReceive,
                    (false, false) => Rule::Pre,
                };
                (Phase::Delayed, rule)
            }
            Phase::Start | Phase::Observed | Phase::Delayed => {
                self.check_wait(stmt, phase)?;
                (Phase::Fired, Rule::Any)
            }
            Phase::Fired | Phase::Advanced => {
                facts.may_advance(proc, stmt)?;
                (Phase::Advanced, if facts.is_local(stmt) { Rule::Post } else { Rule::PostShared })
            }
            Phase::Closed => return Err(CLOSED.to_owned()),
        };
        self.rules.push((stmt.span, rule));
        Ok(next)
    }

    /// Whether delayed steps may wait for this one. That is always right, but no gain where the step itself has to wait:
    /// the state in the middle is there all the same, and the state before, which SPIN's partial order reduction would
    /// have passed at once, stays. Algorithm 1 closes the sequence there too.
    fn check_wait(&self, stmt: &Stmt, phase: Phase) -> Result<(), String> {
        if self.before_waits || phase < Phase::Delayed || !self.facts.waits(self.proc, stmt) {
            return Ok(());
        }
        Err("it may wait, so that the steps before it would gain nothing by waiting for it".to_owned())
    }

    /// An `atomic` or `d_step` that stays what it is: its inside is not our business.
    fn existing(&mut self, stmt: &Stmt, inner: &Sequence, phase: Phase, position: Position) -> Walked {
        let refuse = |reason: &str| Err(Obstacle { span: stmt.span, reason: reason.to_owned() });
        if phase >= Phase::Fired {
            return refuse("the sequence may block, or uses what other processes or formulas see");
        }
        if let Err(reason) = self.check_wait(stmt, phase) {
            return refuse(&reason);
        }
        let mut rendezvous = false;
        walk_statements(inner, &mut |stmt| {
            if let StmtKind::Send { channel, .. } = &stmt.kind {
                rendezvous |= self.facts.channels.may_be_rendezvous(self.proc, channel);
            }
        });
        if rendezvous && position.nested {
            return refuse("it may have a rendezvous, which passes the privilege on");
        }
        self.rules.push((stmt.span, Rule::Existing));
        Ok(Flow { phase: Some(if rendezvous { Phase::Closed } else { Phase::Fired }), n_steps: 1 })
    }

    fn jump(&self, stmt: &Stmt, phase: Phase) -> Walked {
        let refuse = |reason: &str| Err(Obstacle { span: stmt.span, reason: reason.to_owned() });
        match phase {
            Phase::Start | Phase::Observed => refuse("a jump is no step"),
            Phase::Closed => refuse(CLOSED),
            Phase::Advanced if !self.facts.observed[self.proc].is_empty() => {
                refuse("it may jump to a label that is looked at")
            }
            Phase::Delayed | Phase::Fired | Phase::Advanced => Ok(Flow { phase: None, n_steps: 0 }),
        }
    }

    /// Goes over the statements of a block.
    fn sequence(&mut self, sequence: &Sequence, phase: Phase, guard: bool) -> Walked {
        let mut flow = Flow { phase: Some(phase), n_steps: 0 };
        for (at, stmt) in sequence.iter().enumerate() {
            let Some(phase) = flow.phase else {
                return Err(Obstacle { span: stmt.span, reason: "nobody comes here".to_owned() });
            };
            let position = Position { first: false, guard: guard && at == 0, nested: true };
            let next = self.stmt(stmt, phase, position)?;
            flow = Flow { phase: next.phase, n_steps: flow.n_steps + next.n_steps };
        }
        Ok(flow)
    }

    /// Goes over `if`: rule 4 of Section 3.2. Each alternative must be a merged sequence, in the phase that the
    /// selection begins in.
    fn selection(&mut self, stmt: &Stmt, choices: &[Choice], phase: Phase, rule: Rule) -> Walked {
        let facts = self.facts;
        let refuse = |span: Span, reason: &str| Err(Obstacle { span, reason: reason.to_owned() });
        if phase == Phase::Closed {
            return refuse(stmt.span, CLOSED);
        }
        if phase >= Phase::Fired && !facts.is_stable(choices) {
            return refuse(stmt.span, "others can make more of its alternatives possible");
        }
        let else_is_local = facts.else_is_local(choices);
        self.rules.push((stmt.span, rule));
        let mut whole = Flow { phase: None, n_steps: 0 };
        for choice in choices {
            let (mut phase, mut n_before) = (phase, 0);
            if let Some(span) = choice.otherwise {
                phase = match phase {
                    Phase::Start | Phase::Delayed if else_is_local => Phase::Delayed,
                    Phase::Start | Phase::Observed | Phase::Delayed => Phase::Fired,
                    Phase::Fired | Phase::Advanced if else_is_local => Phase::Advanced,
                    Phase::Fired | Phase::Advanced | Phase::Closed => {
                        return refuse(span, "other processes can change what this `else` says");
                    }
                };
                n_before = 1;
            }
            let flow = self.sequence(&choice.body, phase, choice.otherwise.is_none())?;
            whole.n_steps = whole.n_steps.max(n_before + flow.n_steps);
            whole.phase = whole.phase.max(flow.phase);
        }
        Ok(whole)
    }

    /// Goes over `do`, where it is sure to end: many statements of one kind.
    fn repetition(&mut self, stmt: &Stmt, choices: &[Choice], phase: Phase) -> Walked {
        let refuse = |reason: &str| Err(Obstacle { span: stmt.span, reason: reason.to_owned() });
        let entered = match phase {
            Phase::Start | Phase::Delayed => Phase::Delayed,
            Phase::Fired | Phase::Advanced => Phase::Advanced,
            Phase::Observed => return refuse("somebody looks at the state before the loop"),
            Phase::Closed => return refuse(CLOSED),
        };
        if !self.facts.ends(choices) {
            return refuse("the loop may never end");
        }
        let flow = self.selection(stmt, choices, entered, Rule::Repetition)?;
        match flow.phase.unwrap_or(entered) {
            phase @ (Phase::Delayed | Phase::Advanced)
                if (phase < Phase::Fired) == (entered < Phase::Fired) =>
            {
                Ok(Flow { phase: Some(phase), n_steps: flow.n_steps })
            }
            Phase::Start
            | Phase::Observed
            | Phase::Delayed
            | Phase::Fired
            | Phase::Advanced
            | Phase::Closed => refuse("it is a loop in which others may see more than one step"),
        }
    }
}

const CLOSED: &str = "the step before it may be a rendezvous, which passes the privilege on";

fn asks_timeout(stmt: &Stmt) -> bool {
    let mut found = false;
    let mut look = |stmt: &Stmt| {
        each_expr(stmt, &mut |expr| found |= matches!(expr.kind, ExprKind::Timeout));
    };
    look(stmt);
    if let StmtKind::Atomic(inner) | StmtKind::DStep(inner) = &stmt.kind {
        walk_statements(inner, &mut |stmt| look(stmt));
    }
    found
}

/// The labels of the point before a statement: its own, and those of what it begins with.
pub(super) fn labels_before(stmt: &Stmt) -> FxHashSet<Label> {
    let mut labels: FxHashSet<Label> = stmt.labels.iter().copied().collect();
    for inner in crate::walk::parts(stmt) {
        if let Some(first) = inner.first() {
            labels.extend(labels_before(first));
        }
    }
    labels
}
