//! Remote references of proctypes: `P[p]@l` and `P[p]:x` in the statements of another process, or of the same one.
//!
//! What one process can see of another must stand on the arcs of both, or the reductions would take the steps of the
//! other for its own business. So it lies in global cells, arrays over the processes:
//!
//! - A local variable that is looked at is kept there as a whole ([`super::Home::Shared`]).
//! - A label that is looked at has a cell that says whether the process stands there. The steps that come to the label
//!   or leave it write the cell; it says nothing that the control state does not say, so that there are no more states.
//! - Where a proctype is named without a number (`P@l`), SPIN takes the process of it that has the lowest number. Where
//!   there may be several, a cell for each number says whether it belongs to a process of the proctype.
//!
//! A process that does not exist, or is one of another proctype, is at no label, and its variables are 0. In SPIN it is
//! so, too, but that the verifier takes a process of another proctype for one of this, and compares numbers of control
//! states that have nothing to do with each other; its simulator calls that an error.
//!
//! As in SPIN, a process stands where it was until its step is done: during a `d_step` at its beginning. Of a
//! rendezvous the sender's part is done when the receiver looks.
//!
//! A test arc on the control state was rejected: it would have to be known by every reduction, and it cannot give the
//! value of a label inside of a larger expression.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_net::legend::{Notation, Seen, VariableWords};
use pdnet_net::{CellData, Expr as NetExpr, IntType, Place as NetPlace, Scope as CellScope};
use pdnet_source::Diagnostic;

use super::graph::Node;
use super::step::{Step, inside, int_op};
use super::value::plus;
use super::{Home, Lower};
use crate::tree::{Expr, ExprKind, Label, Model, Place, Proc, Var};
use crate::walk::{each_expr, each_inside_expr, walk, walk_statements};

/// What processes look at in others.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// Local variables.
    pub(super) vars: BTreeSet<Var>,
    labels: BTreeSet<(Proc, Label)>,
    /// Proctypes that are named without the number of a process.
    unnumbered: BTreeSet<Proc>,
}

impl Asked {
    /// What the statements, conditions and first values of processes look at.
    pub(super) fn in_processes(model: &Model) -> Self {
        let mut asked = Self::default();
        each_inside_expr(model, &mut |expr| asked.note(expr));
        asked
    }

    /// What some expressions look at.
    pub(super) fn in_exprs<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Self {
        let mut asked = Self::default();
        for expr in exprs {
            walk(expr, &mut |inner| asked.note(inner));
        }
        asked
    }

    fn note(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Remote { proc, pid, place } => {
                self.vars.insert(place.var);
                self.unnumbered.extend(pid.is_none().then_some(*proc));
            }
            ExprKind::At { proc, pid, label } => {
                self.labels.insert((*proc, *label));
                self.unnumbered.extend(pid.is_none().then_some(*proc));
            }
            _ => {}
        }
    }
}

/// Whether the text of a model looks at a local variable of another process anywhere. SPIN then sets no variable to 0
/// after its last use, whichever it is.
pub(super) fn keeps_all_values(model: &Model) -> bool {
    let mut found = false;
    let mut look = |expr: &Expr| found |= matches!(expr.kind, ExprKind::Remote { .. });
    each_inside_expr(model, &mut look);
    for claim in &model.claims {
        walk_statements(&claim.body, &mut |stmt| each_expr(stmt, &mut look));
    }
    for atom in model.formulas.iter().flat_map(|block| &block.atoms) {
        walk(&atom.expr, &mut look);
    }
    found
}

/// How many processes of a proctype there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Population {
    None,
    /// One from the start, always with this number.
    One(u32),
    Many,
}

/// The cells for what processes look at.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    /// Whether a process stands at a label, by its control state.
    labels: BTreeMap<(Proc, Node), NetPlace>,
    /// Whether a number belongs to a process of a proctype.
    members: BTreeMap<Proc, NetPlace>,
}

impl Lower<'_> {
    /// How many processes of a proctype there can be.
    pub(super) fn population(&self, proc: Proc) -> Population {
        match (self.is_run(proc), self.model.procs[proc].active) {
            (true, _) | (false, 2..) => Population::Many,
            (false, 1) => Population::One(self.first_number(proc)),
            (false, 0) => Population::None,
        }
    }

    /// Makes the cells. `asked` is what processes look at, `observed` what properties do.
    pub(super) fn make_windows(&mut self, asked: &Asked, observed: &Asked) {
        for &(proc, label) in &asked.labels {
            let Some(node) = self.graphs[proc].labels[label] else { continue };
            if self.places[proc].contains_key(&node) && !self.windows.labels.contains_key(&(proc, node)) {
                let data = &self.model.procs[proc];
                let name = format!("{}@{}", data.name, data.labels[label].name);
                let begins = node == self.graphs[proc].start;
                let cells = self.window(proc, &name, begins);
                self.windows.labels.insert((proc, node), cells);
            }
        }
        for &proc in asked.unnumbered.union(&observed.unnumbered) {
            if self.population(proc) == Population::Many {
                let name = format!("is {}", self.model.procs[proc].name);
                let cells = self.window(proc, &name, true);
                self.windows.members.insert(proc, cells);
            }
        }
    }

    /// A bit for each process, which is 1 at first for those of a proctype, or for none.
    fn window(&mut self, proc: Proc, name: &str, begins: bool) -> NetPlace {
        let mut listed = Vec::new();
        let mut pid = 0;
        for (other, data) in self.model.procs.iter_enumerated() {
            listed.extend((pid..pid + data.active).filter(|_| begins && other == proc).map(|pid| (pid, 1)));
            pid += data.active;
        }
        let cells = CellData {
            scope: CellScope::Global,
            length: Some(self.max_processes),
            value: IntType { bits: 1, signed: false },
            default: 0,
            listed,
        };
        let place = self.net.add_cells(name, cells);
        self.net.places[place].internal = true;
        place
    }

    /// Complains about labels at which no process ever stands, and warns of processes that are not what they seem.
    pub(super) fn check_references(&mut self, exprs: &[&Expr]) {
        let mut found: Vec<(&Expr, Proc, Option<&Expr>, Option<Label>)> = Vec::new();
        let mut look = |expr| {
            let expr: &Expr = expr;
            match &expr.kind {
                ExprKind::At { proc, pid, label } => found.push((expr, *proc, pid.as_deref(), Some(*label))),
                ExprKind::Remote { proc, pid, .. } => found.push((expr, *proc, pid.as_deref(), None)),
                _ => {}
            }
        };
        each_inside_expr(self.model, &mut look);
        exprs.iter().for_each(|expr| walk(expr, &mut look));
        let mut ambiguous = BTreeSet::new();
        for (expr, proc, pid, label) in found {
            let label = label.filter(|&label| {
                let node = self.graphs[proc].labels[label];
                node.is_some_and(|node| self.graphs[proc].shape.nodes[node].inner)
            });
            if let Some(label) = label {
                let label = &self.model.procs[proc].labels[label];
                let message = format!("the label `{}` is inside of a `d_step`", label.name);
                let error = Diagnostic::error("label-in-d-step", message);
                let error = error.at(expr.span, "no process ever stands there");
                self.errors.push(error.context(label.span, "the label"));
            }
            self.warnings.extend(match pid {
                Some(pid) => self.no_such_process(expr, proc, pid),
                // Once for each proctype is enough.
                None => ambiguous.insert(proc).then(|| self.ambiguous_process(expr, proc)).flatten(),
            });
        }
    }

    /// A warning where a number is never one of a process of the proctype.
    fn no_such_process(&self, expr: &Expr, proc: Proc, pid: &Expr) -> Option<Diagnostic> {
        let ExprKind::Const(number) = pid.kind else { return None };
        let data = &self.model.procs[proc];
        let first = self.first_number(proc);
        let active = i64::from(first)..i64::from(first + data.active);
        // Who starts a process has a lower number than that.
        let most = super::bound_on_processes(self.model, &self.graphs).unwrap_or(255);
        let started = 1..i64::from(most);
        if active.contains(&number) || self.is_run(proc) && started.contains(&number) {
            return None;
        }
        let name = &data.name;
        let message = format!("process {number} is never one of `{name}`");
        let (label, value) = match expr.kind {
            ExprKind::At { .. } => ("always false", "at no label"),
            _ => ("always 0", "without variables"),
        };
        let warning = Diagnostic::warning("no-such-process", message).at(expr.span, label);
        Some(match data.active {
            0 if !self.is_run(proc) => warning.note(format!("no `{name}` is ever started")),
            1 => warning.help(format!("the process of `{name}` has the number {first}")),
            0 => warning.note(format!("a process that does not exist is {value}")),
            n => warning.help(format!("the processes of `{name}` are {first} to {}", first + n - 1)),
        })
    }

    /// A warning where one process is meant, and there may be several.
    fn ambiguous_process(&self, expr: &Expr, proc: Proc) -> Option<Diagnostic> {
        if self.is_alone(proc) {
            return None;
        }
        let name = &self.model.procs[proc].name;
        let message = format!("there can be several processes of `{name}`");
        let warning = Diagnostic::warning("ambiguous-process", message);
        let warning = warning.at(expr.span, "the one with the lowest number is meant, as in SPIN");
        Some(warning.help(format!("`{name}[number]` names one of them")))
    }

    /// Whether there is never more than one process of a proctype at a time, where that is plain.
    fn is_alone(&self, proc: Proc) -> bool {
        let mut n_processes = self.model.procs[proc].active;
        for (runner, graph) in self.graphs.iter_enumerated() {
            for run in super::runs_of(graph).iter().filter(|run| run.proc == proc) {
                let is_once = !run.repeats && self.model.procs[runner].active == 1 && !self.is_run(runner);
                n_processes += if is_once { 1 } else { 2 };
            }
        }
        n_processes <= 1
    }

    fn is_run(&self, proc: Proc) -> bool {
        let mut found = false;
        each_inside_expr(self.model, &mut |expr| {
            found |= matches!(expr.kind, ExprKind::Run(started, _) if started == proc);
        });
        found
    }

    /// The number of the first process of a proctype that runs from the start.
    fn first_number(&self, proc: Proc) -> u32 {
        self.model.procs.iter().take(pdnet_base::Idx::index(proc)).map(|data| data.active).sum()
    }

    /// The lowest number that is one of a process of some proctype.
    pub(super) fn first_member(&self, mut is_member: impl FnMut(NetExpr) -> NetExpr) -> NetExpr {
        // Where there is none, the last number serves as well, for it is none either.
        let last = i64::from(self.max_processes) - 1;
        (0..last)
            .rev()
            .map(NetExpr::Const)
            .fold(NetExpr::Const(last), |number, pid| NetExpr::cond(is_member(pid.clone()), pid, number))
    }

    /// The labels that processes look at, for people.
    pub(super) fn window_words(&self) -> impl Iterator<Item = (NetPlace, VariableWords)> + '_ {
        self.windows.labels.iter().filter_map(|(&(proc, node), &cells)| {
            let data = &self.model.procs[proc];
            let label = self.graphs[proc].labels.iter().position(|&found| found == Some(node))?;
            let words = VariableWords {
                name: data.labels[pdnet_base::Idx::new(label)].name.clone(),
                dims: Vec::new(),
                notation: Notation::Truth,
                per_process: Some(Seen::Label(data.name.clone())),
            };
            Some((cells, words))
        })
    }

    /// For a proctype with several processes: whether a number is one of theirs.
    pub(super) fn member_cells(&self, proc: Proc) -> Option<NetPlace> {
        self.windows.members.get(&proc).copied()
    }
}

/// Where a process stands before a step, as others see it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before {
    /// At a control state.
    State(Node),
    /// It does not exist yet.
    Nowhere,
    /// Where a `d_step` began that it is in: at one of several control states.
    DStep,
}

/// A process that is looked at.
struct Target {
    number: NetExpr,
    /// Whether the number can be one at all.
    when: Option<NetExpr>,
}

impl<'m> Step<'_, 'm> {
    /// The process that is meant: the one that is named, or the first one of the proctype. None where there is none.
    fn target(&mut self, proc: Proc, pid: Option<&'m Expr>) -> Option<Target> {
        let max = self.lower.max_processes;
        if let Some(pid) = pid {
            let number = self.value(pid);
            let is_inside = self.upper(&number).is_some_and(|upper| upper < i64::from(max));
            let when = if is_inside { NetExpr::TRUE } else { inside(number.clone(), max) };
            return match when {
                NetExpr::Const(0) => None,
                NetExpr::Const(_) => Some(Target { number, when: None }),
                when => Some(Target { number, when: Some(when) }),
            };
        }
        match self.lower.population(proc) {
            Population::None => None,
            Population::One(number) => Some(Target { number: NetExpr::Const(i64::from(number)), when: None }),
            Population::Many => {
                let members = self.lower.member_cells(proc)?;
                let lower = self.lower;
                let number = lower.first_member(|pid| self.load(members, vec![pid], None));
                Some(Target { number, when: None })
            }
        }
    }

    /// `P[p]@l`.
    pub(super) fn at_label(&mut self, proc: Proc, pid: Option<&'m Expr>, label: Label) -> NetExpr {
        let Some(target) = self.target(proc, pid) else { return NetExpr::Const(0) };
        let node = self.lower.graphs[proc].labels[label];
        let cells = node.and_then(|node| self.lower.windows.labels.get(&(proc, node)));
        cells.map_or(NetExpr::Const(0), |&cells| self.load(cells, vec![target.number], target.when))
    }

    /// `P[p]:x`.
    pub(super) fn remote_value(&mut self, proc: Proc, pid: Option<&'m Expr>, place: &'m Place) -> NetExpr {
        let Some(target) = self.target(proc, pid) else { return NetExpr::Const(0) };
        let Home::Shared(cells) = self.lower.homes[place.var] else { return NetExpr::Const(0) };
        let dims = &self.lower.model.vars[place.var].dims;
        let position = if dims.is_empty() { NetExpr::Const(0) } else { self.position(place) };
        let count: u32 = dims.iter().product();
        let row = match count {
            1 => target.number,
            _ => int_op(pdnet_net::BinaryOp::Mul, target.number, NetExpr::Const(i64::from(count))),
        };
        let value = self.load(cells, vec![plus(row, position)], target.when);
        super::value::as_int(self.lower, cells, value)
    }

    /// Says that the present actor stands at a control state from now on, or is gone.
    pub(super) fn show(&mut self, before: Before, after: Option<Node>) {
        let proc = self.actor.proc;
        let lower = self.lower;
        let own = lower.windows.labels.iter().filter(|((other, _), _)| *other == proc);
        for (&(_, node), &cells) in own {
            let was_there = match before {
                Before::State(state) => Some(state == node),
                Before::Nowhere => Some(false),
                Before::DStep => None,
            };
            let is_there = after == Some(node);
            if was_there != Some(is_there) {
                let thread = self.actor.thread.clone();
                self.store(cells, vec![thread], NetExpr::Const(i64::from(is_there)), None);
            }
        }
    }

    /// Says whether the number of the present actor belongs to a process of its proctype from now on.
    pub(super) fn show_member(&mut self, is_member: bool) {
        if let Some(members) = self.lower.member_cells(self.actor.proc) {
            let thread = self.actor.thread.clone();
            self.store(members, vec![thread], NetExpr::Const(i64::from(is_member)), None);
        }
    }
}
