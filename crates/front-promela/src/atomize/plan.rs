//! Goes through the proctypes, picks the sequences to merge, and says what the tree is to look like then.

use pdnet_base::{FxHashSet, Idx as _};
use pdnet_source::{File, Span};

use super::edit::{Edit, is_editable};
use super::facts::{Facts, has_jumps};
use super::post::is_true;
use super::region::{Obstacle, Phase, Position, Walker, labels_before};
use super::{ChannelFact, Kept, Merged, promise_word};
use crate::tree::{
    Choice, Exclusive, ExclusiveKind, Model, Place, Proc, ProcData, Scope, Sequence, Stmt, StmtKind,
};
use crate::walk::walk_statements;

/// What is to be done.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) edits: Vec<Edit>,
    /// The model as it should be afterwards.
    pub(super) model: Model,
    /// The changes that are made, by number.
    pub(super) merged: Vec<(usize, Merged)>,
    pub(super) kept: Vec<Kept>,
    pub(super) promises: Vec<ChannelFact>,
    /// How many changes there could be.
    pub(super) n_changes: usize,
}

impl Plan {
    /// Notes that the changes that are not among the chosen ones cannot be written down.
    pub(super) fn refuse_rest(&mut self, everything: &Self, chosen: &FxHashSet<usize>) {
        for (change, merged) in &everything.merged {
            if !chosen.contains(change) {
                let reason = "the places come out of a macro, where nothing can be put in".to_owned();
                self.kept.push(Kept { process: merged.process.clone(), span: merged.span, reason });
            }
        }
    }
}

/// Makes plans.
pub(super) struct Planner<'p, 'm> {
    pub(super) facts: &'p Facts<'m>,
    pub(super) file: File,
    pub(super) text: &'p str,
    pub(super) before_waits: bool,
}

/// Where a sequence stands.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// Somebody looks at the state before its first statement.
    start_observed: bool,
    /// Somebody looks at the state behind its last statement.
    end_observed: bool,
    /// The alternative that it is the body of.
    choice: Option<&'a Choice>,
    /// There are other alternatives beside that one.
    has_rivals: bool,
    /// It is the body of a proctype without jumps: each statement is executed once at most.
    straight: bool,
}

/// A sequence of statements to merge.
struct Region {
    end: usize,
    n_exchanged: usize,
    rules: Vec<(Span, super::Rule)>,
}

struct Work<'w, 'p, 'm> {
    planner: &'w Planner<'p, 'm>,
    accept: &'w dyn Fn(usize) -> bool,
    plan: Plan,
    proc: Proc,
}

impl Planner<'_, '_> {
    /// The plan with the changes that are accepted, each by its number.
    pub(super) fn plan(&self, accept: &dyn Fn(usize) -> bool) -> Plan {
        let model = self.facts.model;
        let plan = Plan {
            edits: Vec::new(),
            model: model.clone(),
            merged: Vec::new(),
            kept: Vec::new(),
            promises: Vec::new(),
            n_changes: 0,
        };
        let mut work = Work { planner: self, accept, plan, proc: Proc::new(0) };
        work.promises();
        for (proc, data) in model.procs.iter_enumerated() {
            work.proc = proc;
            if data.provided.is_some() {
                work.keep(data.span, "`provided` can stop the process anywhere".to_owned());
                continue;
            }
            let around = Around {
                start_observed: false,
                end_observed: false,
                choice: None,
                has_rivals: false,
                straight: !has_jumps(&data.body),
            };
            let body = work.sequence(&data.body, around);
            work.plan.model.procs[proc].body = body;
        }
        work.plan
    }
}

impl Work<'_, '_, '_> {
    fn data(&self) -> &ProcData {
        &self.planner.facts.model.procs[self.proc]
    }

    fn keep(&mut self, span: Span, reason: String) {
        let process = self.data().name.clone();
        self.plan.kept.push(Kept { process, span, reason });
    }

    fn next_change(&mut self) -> bool {
        self.plan.n_changes += 1;
        (self.accept)(self.plan.n_changes - 1)
    }

    /// Puts in `xr` and `xs` where they are true and not said yet.
    fn promises(&mut self) {
        let facts = self.planner.facts;
        for (proc, kind, var) in facts.promises.iter().copied() {
            self.proc = proc;
            let Some(first) = self.data().body.first() else { continue };
            let label = first.labels.first().map(|&label| self.data().labels[label].span);
            let at = label.unwrap_or(first.span);
            if !self.stands_here(at) || first.span.start < at.start {
                continue;
            }
            if !self.next_change() {
                continue;
            }
            let channel = facts.model.vars[var].name.clone();
            let text = format!("{} {channel}; ", promise_word(kind));
            self.plan.edits.push(Edit::insert(at.start, text));
            let place = Place { var, indices: Vec::new(), span: at };
            self.plan.model.procs[proc].exclusive.push(Exclusive { kind, place });
            let process = self.data().name.clone();
            let receives = kind == ExclusiveKind::Receive;
            self.plan.promises.push(ChannelFact::Exclusive { channel, process, receives });
        }
    }

    /// Whether a place is in the text of this proctype itself, not in an inline or another file.
    fn stands_here(&self, span: Span) -> bool {
        let data = self.data();
        span.file == self.planner.file
            && data.span.file == span.file
            && data.end.file == span.file
            && span.start >= data.span.start
            && span.end <= data.end.start
    }

    fn is_observed(&self, stmt: &Stmt) -> bool {
        let observed = &self.planner.facts.observed[self.proc];
        !observed.is_empty() && labels_before(stmt).iter().any(|label| observed.contains(label))
    }

    /// The sequence with what is merged, and inside of what is not.
    fn sequence(&mut self, sequence: &Sequence, around: Around<'_>) -> Sequence {
        let mut out = Vec::new();
        let mut at = 0;
        // Where the last merged sequence ends.
        let mut merged_to = 0;
        while let Some(stmt) = sequence.get(at) {
            let start_observed = (at == 0 && around.start_observed) || self.is_observed(stmt);
            let n_exchanged =
                if around.straight { self.planner.facts.exchangeable(self.proc, sequence, at) } else { 0 };
            let n_kept = self.plan.kept.len();
            let mut region = None;
            if at > merged_to && self.is_chain(sequence, at - 1, at, around) {
                let reason = "SPIN makes one step of it and of what stands before it by itself";
                self.keep(stmt.span, reason.to_owned());
            } else {
                region = self.region(sequence, at, n_exchanged, start_observed, around);
                if region.is_none() && n_exchanged > 0 {
                    self.plan.kept.truncate(n_kept);
                    region = self.region(sequence, at, 0, start_observed, around);
                }
            }
            if let Some(region) = region {
                let inner = &sequence[at..region.end];
                if self.next_change() {
                    out.push(self.merge(inner, region));
                } else {
                    out.extend_from_slice(inner);
                }
                at += inner.len();
                merged_to = at;
                continue;
            }
            let end_observed = match sequence.get(at + 1) {
                Some(next) => self.is_observed(next) || self.jumps_unseen(next),
                None => around.end_observed,
            };
            out.push(self.inside(stmt, start_observed, end_observed));
            at += 1;
        }
        out
    }

    /// A jump may lead to a label that is looked at.
    fn jumps_unseen(&self, stmt: &Stmt) -> bool {
        matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Break)
            && !self.planner.facts.observed[self.proc].is_empty()
    }

    /// Looks for sequences inside of a statement that is not merged itself.
    fn inside(&mut self, stmt: &Stmt, start_observed: bool, end_observed: bool) -> Stmt {
        let (labels, span) = (stmt.labels.clone(), stmt.span);
        let kind = match &stmt.kind {
            StmtKind::If(choices) => StmtKind::If(self.choices(choices, start_observed, end_observed)),
            StmtKind::Do(choices) => StmtKind::Do(self.choices(choices, start_observed, start_observed)),
            StmtKind::Block(inner) if inner.iter().all(|part| contains(span, part.span)) => {
                let around =
                    Around { start_observed, end_observed, choice: None, has_rivals: false, straight: false };
                StmtKind::Block(self.sequence(inner, around))
            }
            StmtKind::Unless { .. } => {
                self.keep(span, "`unless` can interrupt it anywhere".to_owned());
                stmt.kind.clone()
            }
            StmtKind::Block(_)
            | StmtKind::Atomic(_)
            | StmtKind::DStep(_)
            | StmtKind::Condition(_)
            | StmtKind::Assign(..)
            | StmtKind::Send { .. }
            | StmtKind::Receive { .. }
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Else
            | StmtKind::Assert(_)
            | StmtKind::Print { .. } => stmt.kind.clone(),
        };
        Stmt { labels, kind, span }
    }

    fn choices(&mut self, choices: &[Choice], start_observed: bool, end_observed: bool) -> Vec<Choice> {
        choices
            .iter()
            .map(|choice| {
                // Behind `else` the process is somewhere else.
                let start_observed = start_observed && choice.otherwise.is_none();
                let around = Around {
                    start_observed,
                    end_observed,
                    choice: Some(choice),
                    has_rivals: choices.len() > 1,
                    straight: false,
                };
                Choice { body: self.sequence(&choice.body, around), ..choice.clone() }
            })
            .collect()
    }

    /// The longest sequence from a statement on that can be merged and written down, where it has more than one step.
    /// The first `n_exchanged` statements come behind the one after them.
    fn region(
        &mut self,
        sequence: &Sequence,
        from: usize,
        n_exchanged: usize,
        start_observed: bool,
        around: Around<'_>,
    ) -> Option<Region> {
        let mut walker = Walker {
            facts: self.planner.facts,
            proc: self.proc,
            before_waits: self.planner.before_waits,
            rules: Vec::new(),
        };
        let mut phase = if start_observed { Phase::Observed } else { Phase::Start };
        let mut n_steps = 0;
        let mut best: Option<Region> = None;
        let mut obstacle: Option<Obstacle> = None;
        let waiting = from + n_exchanged;
        let mut visited: Vec<Stmt> = Vec::new();
        for at in (waiting..=waiting).chain(from..waiting).chain(waiting + 1..sequence.len()) {
            let stmt = &sequence[at];
            if at > from && matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Break) {
                // Outside it is no step at all.
                break;
            }
            if !self.can_hold(sequence, from, at, around.choice) {
                break;
            }
            let position =
                Position { first: at == from, guard: at == 0 && starts_choice(around), nested: false };
            let flow = match walker.stmt(stmt, phase, position) {
                Ok(flow) => flow,
                Err(found) => {
                    obstacle = Some(found).filter(|found| !is_jump(stmt, found));
                    break;
                }
            };
            n_steps += flow.n_steps;
            visited.push(stmt.clone());
            let alone = visited.len() == 1
                && !matches!(stmt.kind, StmtKind::If(_) | StmtKind::Do(_) | StmtKind::Block(_));
            let last = from + visited.len() - 1;
            if n_steps > 1
                && !alone
                && last >= waiting
                && !may_loop(&visited)
                && self.can_end(sequence, last, flow.phase, around)
                && (n_exchanged > 0 || !self.is_chain(sequence, from, last, around))
                && (self.planner.before_waits
                    || !self.planner.facts.costs_order(self.proc, &visited, from == 0 && around.has_rivals))
            {
                best = Some(Region { end: last + 1, rules: walker.rules.clone(), n_exchanged });
            }
            match flow.phase {
                Some(next) => phase = next,
                None => break,
            }
        }
        if let Some(Obstacle { span, reason }) = obstacle
            && (best.is_some() || !is_loop(&sequence[from]))
        {
            self.keep(span, reason);
        }
        best
    }

    /// Whether SPIN makes one step of the statements from one to another by itself. That is not asked where all that can
    /// be merged is to be merged.
    fn is_chain(&self, sequence: &Sequence, from: usize, to: usize, around: Around<'_>) -> bool {
        let beside_others = from == 0 && around.has_rivals && starts_choice(around);
        !self.planner.before_waits
            && self.planner.facts.is_chain(self.proc, &sequence[from..=to], beside_others)
    }

    /// Whether `atomic { … }` can be written from one statement to another.
    fn can_hold(&self, sequence: &Sequence, from: usize, to: usize, choice: Option<&Choice>) -> bool {
        let (first, last) = (&sequence[from], &sequence[to]);
        let range = first.span.to(last.span);
        let synthetic = |stmt: &Stmt| choice.is_some_and(|choice| choice.span == stmt.span);
        let before = from.checked_sub(1).map(|at| &sequence[at]);
        let declares = self.planner.facts.model.vars.iter().any(|var| {
            var.scope == Scope::Local(self.proc) && var.param.is_none() && contains(range, var.span)
        });
        self.stands_here(first.span)
            && self.stands_here(last.span)
            && first.span.start <= last.span.start
            && range.end == last.span.end
            && !synthetic(first)
            && !synthetic(last)
            && !declares
            && before.is_none_or(|before| before.span.end <= range.start)
            && is_editable(self.planner.text, self.planner.file, range)
    }

    /// Whether a merged sequence may end here.
    fn can_end(&self, sequence: &Sequence, at: usize, phase: Option<Phase>, around: Around<'_>) -> bool {
        let next = sequence.get(at + 1);
        let separate = next.is_none_or(|next| next.span.start >= sequence[at].span.end);
        let end_observed = match next {
            Some(next) => self.is_observed(next) || self.jumps_unseen(next),
            None => around.end_observed,
        };
        // An advanced step brings the process to the next state earlier than before.
        separate && !(phase == Some(Phase::Advanced) && end_observed)
    }

    fn merge(&mut self, inner: &[Stmt], region: Region) -> Stmt {
        let span = inner.iter().skip(1).fold(inner[0].span, |span, stmt| span.to(stmt.span));
        let mut inner = inner.to_vec();
        self.plan.edits.push(Edit::insert(span.start, "atomic { "));
        if region.n_exchanged > 0 {
            let group = &mut inner[..=region.n_exchanged];
            let places: Vec<Span> = group.iter().map(|stmt| stmt.span).collect();
            group.rotate_right(1);
            for (place, stmt) in places.into_iter().zip(group.iter()) {
                let text = &self.planner.text[stmt.span.start as usize..stmt.span.end as usize];
                self.plan.edits.push(Edit::replace(place, text));
            }
        }
        self.plan.edits.push(Edit::insert(span.end, " }"));
        let process = self.data().name.clone();
        let change = self.plan.n_changes - 1;
        let exchanged = region.n_exchanged;
        self.plan.merged.push((change, Merged { process, span, rules: region.rules, exchanged }));
        let labels = std::mem::take(&mut inner[0].labels);
        Stmt { labels, kind: StmtKind::Atomic(inner), span }
    }
}

fn starts_choice(around: Around<'_>) -> bool {
    around.choice.is_some_and(|choice| choice.otherwise.is_none())
}

/// Whether SPIN may make one step of all these statements and call it by the first one, `skip`. Where that step comes
/// back to its beginning, SPIN takes it for a loop without any condition, and refuses the model.
fn may_loop(merged: &[Stmt]) -> bool {
    let mut n_steps = 0;
    let mut may_loop = true;
    walk_statements(merged, &mut |stmt| match &stmt.kind {
        StmtKind::Condition(expr) if is_true(expr) => n_steps += 1,
        StmtKind::Assign(..) | StmtKind::Assert(_) | StmtKind::Print { .. } => {
            may_loop &= n_steps > 0;
            n_steps += 1;
        }
        StmtKind::Block(_) | StmtKind::Atomic(_) => {}
        StmtKind::Condition(_)
        | StmtKind::Send { .. }
        | StmtKind::Receive { .. }
        | StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::DStep(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Else => may_loop = false,
    });
    may_loop
}

/// Whether it is a mere jump that is in the way, of which there is nothing to say.
fn is_jump(stmt: &Stmt, obstacle: &Obstacle) -> bool {
    matches!(stmt.kind, StmtKind::Goto(_) | StmtKind::Break) && stmt.span == obstacle.span
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Do(_))
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
