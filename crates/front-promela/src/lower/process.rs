//! The steps of the processes of a proctype.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::IndexVec;
use pdnet_net::legend::Deed;
use pdnet_net::{
    Action, Base, BinaryOp as NetOp, Bound, Expr as NetExpr, Fault, Place as NetPlace, PlaceKind,
};
use pdnet_source::Span;

use super::graph::{Move, Node, NodeKind};
use super::remote::Before;
use super::statement::is_run;
use super::step::{Made, Step, int_op};
use super::{Home, Lower};
use crate::tree::{Expr, ExprKind, Proc, StmtKind};
use crate::walk::{expressions, walk};

/// A step of a control state, by its position in the list of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) proc: Proc,
    pub(super) state: Node,
    pub(super) number: usize,
}

/// The rank of the step that says that a `d_step` blocks: behind all others.
const BLOCKED_RANK: u8 = u8::MAX;

impl<'m> Lower<'m> {
    /// Adds the steps of all processes.
    pub(super) fn processes(&mut self) {
        self.owners =
            self.model.procs.indices().map(|proc| self.owning_states(proc)).collect::<Vec<_>>().into();
        for proc in self.model.procs.indices() {
            let mut inner: BTreeMap<Node, Move> = BTreeMap::new();
            for state in self.graphs[proc].states.clone() {
                for number in 0..self.graphs[proc].moves[state].len() {
                    self.add_move(Place { proc, state, number }, &mut inner);
                }
            }
            let mut done = BTreeSet::new();
            while let Some((&node, &whole)) = inner.iter().find(|(node, _)| !done.contains(*node)) {
                done.insert(node);
                self.add_inner(proc, node, whole, &mut inner);
            }
        }
        self.add_rendezvous();
    }

    /// The control states in which a process may be alone, because the step before was one of an atomic sequence.
    fn owning_states(&self, proc: Proc) -> BTreeSet<Node> {
        let graph = &self.graphs[proc];
        let moves = graph.states.iter().flat_map(|&state| &graph.moves[state]);
        moves.filter(|step| step.atomic).filter_map(|step| step.target).collect()
    }

    pub(super) fn move_at(&self, place: Place) -> Move {
        self.graphs[place.proc].moves[place.state][place.number]
    }

    /// Adds the transitions of one step of a control state.
    fn add_move(&mut self, place: Place, inner: &mut BTreeMap<Node, Move>) {
        let step = self.move_at(place);
        let node = &self.graphs[place.proc].shape.nodes[step.node];
        let (kind, span, id) = (node.kind, node.span, node.id);
        let late = |statement: &StmtKind| if has_timeout(statement) { &[false, true][..] } else { &[false] };
        match kind {
            NodeKind::Basic(StmtKind::Assert(condition)) => {
                self.add(place, Action::Jump, false, |step| {
                    let value = step.value(condition);
                    step.require(NetExpr::truth(value));
                });
                self.add_failure(place, condition);
            }
            NodeKind::Basic(statement) => {
                for &timeout in late(statement) {
                    if timeout || self.can_do_alone(statement) {
                        self.add(place, action_of(statement), timeout, |step| step.execute(statement));
                    }
                }
                if runs(statement) {
                    self.add_bound(place);
                }
            }
            NodeKind::DStep => self.add_d_step(place, inner),
            NodeKind::End => {
                let mut end = self.begin(place, Action::ThreadEnd, &self.end_label(place.proc));
                let youngest = end.is_youngest();
                end.require(youngest);
                end.end_process(place.state);
                let made = end.finish();
                self.push(made, span, (id, None));
            }
            NodeKind::Else
            | NodeKind::Goto(_)
            | NodeKind::Leave(_)
            | NodeKind::Meet
            | NodeKind::Exit
            | NodeKind::Choice
            | NodeKind::Block
            | NodeKind::Atomic
            | NodeKind::Unless
            | NodeKind::Skip => self.add(place, Action::Jump, false, |_| {}),
        }
    }

    pub(super) fn end_label(&self, proc: Proc) -> String {
        format!("end of {}", self.model.procs[proc].name)
    }

    /// Whether a statement can ever be executed by one process: a rendezvous cannot.
    fn can_do_alone(&self, statement: &StmtKind) -> bool {
        let (StmtKind::Send { channel, .. } | StmtKind::Receive { channel, .. }) = statement else {
            return true;
        };
        let targets = self.channels.targets(self.model, channel);
        targets.nullable
            || targets.channels.iter().any(|&channel| {
                let (class, _) = self.channels.home(channel);
                self.channels.classes[class].ty.capacity > 0 || self.channels.classes[class].is_local
            })
            || has_index(channel)
    }

    /// A step with what comes before the statement: that nothing goes first, and `provided`.
    pub(super) fn begin(&self, place: Place, action: Action, label: &str) -> Step<'_, 'm> {
        let from = self.places[place.proc][&place.state];
        let mut step = Step::new(self, place.proc, from, action, label);
        step.provided();
        let moves = &self.graphs[place.proc].moves[place.state];
        let this = moves[place.number];
        let is_else = self.is_else(place.proc, this.node);
        for before in &moves[..place.number] {
            if is_else || before.escape != this.escape {
                let executable = step.executable(before.node);
                step.require(NetExpr::logical_not(executable.condition));
            }
        }
        step
    }

    /// Whether a step is an `else`, perhaps at the beginning of a `d_step`.
    fn is_else(&self, proc: Proc, node: Node) -> bool {
        let shape = &self.graphs[proc].shape;
        match shape.nodes[node].kind {
            NodeKind::Else => true,
            NodeKind::DStep => {
                let entry = shape.hunt_start(shape.nodes[node].parts[0].first);
                matches!(shape.nodes[entry].kind, NodeKind::Else)
            }
            _ => false,
        }
    }

    /// The rank of a step among those of its control state: 0, unless something before it may be a rendezvous, of which a
    /// guard cannot tell whether it is possible.
    pub(super) fn rank(&self, place: Place) -> u8 {
        let moves = &self.graphs[place.proc].moves[place.state];
        let from = self.places[place.proc][&place.state];
        let mut probe = Step::new(self, place.proc, from, Action::Jump, "");
        let meets: Vec<bool> = moves.iter().map(|step| probe.executable(step.node).may_meet).collect();
        let mut rank = 0_u8;
        for (number, step) in moves.iter().enumerate().take(place.number + 1).skip(1) {
            let goes_behind =
                |other: &Move| self.is_else(place.proc, step.node) || other.escape != step.escape;
            let earlier = moves[..number].iter().zip(&meets);
            let is_new_group = step.escape != moves[number - 1].escape || self.is_else(place.proc, step.node);
            if is_new_group && earlier.into_iter().any(|(other, meets)| *meets && goes_behind(other)) {
                rank = rank.saturating_add(1);
            }
        }
        rank
    }

    /// Adds the transition of a step of one process, and one for each way in which it can go wrong.
    fn add(&mut self, place: Place, action: Action, timeout: bool, body: impl Fn(&mut Step<'_, 'm>)) {
        let this = self.move_at(place);
        self.add_ending(place, action, timeout, &body, &|step| step.arrive(this, place));
    }

    /// The same, with another way to end the step.
    fn add_ending(
        &mut self,
        place: Place,
        action: Action,
        timeout: bool,
        body: &dyn Fn(&mut Step<'_, 'm>),
        end: &dyn Fn(&mut Step<'_, 'm>),
    ) {
        let this = self.move_at(place);
        let (span, id) = self.span_and_id(place.proc, this.node);
        let label = self.text(span);
        let rank = self.rank(place);
        let mut step = self.begin(place, action, &label);
        step.timeout = timeout;
        body(&mut step);
        let faults = kinds_of(&step);
        if !step.is_impossible() {
            end(&mut step);
            let made = finish_as(step.finish(), rank, timeout);
            self.push(made, span, (id, None));
        }
        for fault in faults {
            let mut step = self.begin(place, Action::Fault(fault), &label);
            step.timeout = timeout;
            let kept = step.guard_len();
            body(&mut step);
            let made = finish_as(step.finish_fault(fault, kept), rank, timeout);
            self.push(made, span, (id, None));
        }
        let mut step = self.begin(place, Action::AssertFail, &label);
        step.timeout = timeout;
        body(&mut step);
        if let Some(made) = step.finish_mismatch() {
            self.push(finish_as(made, rank, timeout), span, (id, None));
        }
    }

    /// The step of an assertion that does not hold.
    fn add_failure(&mut self, place: Place, condition: &'m Expr) {
        let this = self.move_at(place);
        let (span, id) = self.span_and_id(place.proc, this.node);
        let rank = self.rank(place);
        let label = self.text(span);
        let mut step = self.begin(place, Action::AssertFail, &label);
        let value = step.value(condition);
        step.require(NetExpr::logical_not(value));
        if step.is_impossible() {
            return;
        }
        let made = step.finish();
        self.push(finish_as(made, rank, false), span, (id, None));
    }

    /// The step that meets the bound on processes.
    fn add_bound(&mut self, place: Place) {
        let this = self.move_at(place);
        let (span, id) = self.span_and_id(place.proc, this.node);
        let label = self.text(span);
        let mut step = self.begin(place, Action::Bound(Bound::Threads), &label);
        let is_full = step.is_full();
        let made = step.finish_without_effect(is_full);
        self.push(made, span, (id, None));
    }

    pub(super) fn span_and_id(&self, proc: Proc, node: Node) -> (Span, u32) {
        let data = &self.graphs[proc].shape.nodes[node];
        (data.span, data.id)
    }

    pub(super) fn push(&mut self, made: Made, span: Span, ids: (u32, Option<u32>)) {
        let pos = self.pos(span);
        made.builder.at(pos).finish(&mut self.net);
        self.words.push(made.words);
        self.executed.push(made.covers.into_iter().chain([ids.0]).chain(ids.1).collect());
        self.spin_ids.push(ids);
    }

    /// Adds the first transitions of a `d_step`: one for each way in which it can begin, the first that can.
    fn add_d_step(&mut self, place: Place, inner: &mut BTreeMap<Node, Move>) {
        let whole = self.move_at(place);
        let proc = place.proc;
        let graph = &self.graphs[proc];
        let entry = graph.shape.hunt_start(graph.shape.nodes[whole.node].parts[0].first);
        let moves = graph.moves[entry].clone();
        for (number, first) in moves.iter().enumerate() {
            if !self.check_inner(proc, first.node) {
                continue;
            }
            let (after, reached) = self.follow(proc, first.target);
            let statements = self.statements(proc, first.node, &reached);
            let before: Vec<Node> = moves[..number].iter().map(|step| step.node).collect();
            let text = self.texts(proc, first.node, &reached);
            let covers = self.covers(proc, first.node, &reached);
            let body = |step: &mut Step<'_, 'm>| {
                step.text.clone_from(&text);
                step.covers.clone_from(&covers);
                for &node in &before {
                    let executable = step.executable(node);
                    step.require(NetExpr::logical_not(executable.condition));
                }
                statements.iter().for_each(|statement| step.execute(statement));
            };
            let goes_on = self.goes_on(proc, after);
            if let Some(after) = goes_on {
                self.inner_place(proc, after);
                inner.insert(after, whole);
            }
            let end = |step: &mut Step<'_, 'm>| match goes_on {
                Some(after) => step.stay_inside(after),
                None => step.arrive(whole, place),
            };
            self.add_ending(place, Action::Assign, false, &body, &end);
            if let NodeKind::Basic(StmtKind::Assert(condition)) =
                self.graphs[proc].shape.nodes[first.node].kind
            {
                self.add_failure(place, condition);
            }
            if statements.iter().any(|statement| runs(statement)) {
                self.add_bound(place);
            }
        }
    }

    /// Adds the steps of a place in the middle of a `d_step`, in their order: the first that can be taken is taken.
    fn add_inner(&mut self, proc: Proc, node: Node, whole: Move, inner: &mut BTreeMap<Node, Move>) {
        let from = self.places[proc][&node];
        let moves = self.graphs[proc].moves[node].clone();
        let mut always = false;
        for first in &moves {
            if !self.check_inner(proc, first.node) {
                continue;
            }
            let (after, reached) = self.follow(proc, first.target);
            let statements = self.statements(proc, first.node, &reached);
            let goes_on = self.goes_on(proc, after);
            if let Some(after) = goes_on {
                self.inner_place(proc, after);
                inner.insert(after, whole);
            }
            let (span, id) = self.span_and_id(proc, first.node);
            let label = self.text(span);
            let action = match self.graphs[proc].shape.nodes[first.node].kind {
                NodeKind::Basic(statement) => action_of(statement),
                _ => Action::Jump,
            };
            let failing: Vec<&Expr> = statements
                .iter()
                .filter_map(|statement| match statement {
                    StmtKind::Assert(condition) => Some(condition),
                    _ => None,
                })
                .collect();
            for condition in failing {
                let mut step = Step::new(self, proc, from, Action::AssertFail, &label);
                let value = step.value(condition);
                step.require(NetExpr::logical_not(value));
                let made = step.finish();
                self.push(made, span, (id, None));
            }
            let mut step = self.inner_step(proc, from, action, &label, &statements);
            step.text = self.texts(proc, first.node, &reached);
            step.covers = self.covers(proc, first.node, &reached);
            always |= step.guard_len() == 0;
            let faults = kinds_of(&step);
            match goes_on {
                Some(after) => step.stay_inside(after),
                None => step.leave_inside(whole),
            }
            let made = step.finish();
            self.push(made, span, (id, None));
            for fault in faults {
                let step = self.inner_step(proc, from, Action::Fault(fault), &label, &statements);
                let made = step.finish_fault(fault, 0);
                self.push(made, span, (id, None));
            }
            let step = self.inner_step(proc, from, Action::AssertFail, &label, &statements);
            if let Some(made) = step.finish_mismatch() {
                self.push(made, span, (id, None));
            }
        }
        if !always {
            let (span, id) = self.span_and_id(proc, node);
            let statement = self.text(span);
            let label = format!("`{statement}` blocks inside of d_step");
            let mut step = Step::new(self, proc, from, Action::AssertFail, &label);
            step.text = statement;
            let text = "the d_step blocks here, in its middle".to_owned();
            step.deeds.push(Deed::Break { text, further: Vec::new() });
            let made = step.finish().rank(BLOCKED_RANK);
            self.push(made, span, (id, None));
        }
    }

    fn inner_step(
        &self,
        proc: Proc,
        from: NetPlace,
        action: Action,
        label: &str,
        statements: &[&'m StmtKind],
    ) -> Step<'_, 'm> {
        let mut step = Step::new(self, proc, from, action, label);
        statements.iter().for_each(|statement| step.execute(statement));
        step
    }

    /// Complains about a rendezvous inside of a `d_step`, which has no meaning there.
    fn check_inner(&mut self, proc: Proc, node: Node) -> bool {
        let data = &self.graphs[proc].shape.nodes[node];
        let NodeKind::Basic(StmtKind::Send { channel, .. } | StmtKind::Receive { channel, .. }) = data.kind
        else {
            return true;
        };
        let span = data.span;
        let targets = self.channels.targets(self.model, channel);
        let meets = targets.channels.iter().any(|&channel| self.channels.sites[channel.0].ty.capacity == 0);
        if meets {
            self.error(
                "rendezvous-in-d-step",
                "a rendezvous inside of `d_step` cannot be modelled",
                span,
                "two processes would have to move here",
            );
        }
        !meets
    }

    /// Follows steps inside of a `d_step` that are alone at their place and can always be taken. The result is where
    /// that ends, and what was passed.
    fn follow(&self, proc: Proc, target: Option<Node>) -> (Option<Node>, Vec<Node>) {
        let graph = &self.graphs[proc];
        let mut passed = Vec::new();
        let mut at = target;
        while let Some(node) = at {
            let [only] = graph.moves[node].as_slice() else { break };
            let is_plain = match graph.shape.nodes[only.node].kind {
                NodeKind::Basic(StmtKind::Assign(_, value)) => !has_run(value),
                NodeKind::Basic(StmtKind::Print { .. }) => true,
                NodeKind::Basic(StmtKind::Condition(expr)) => {
                    matches!(expr.kind, ExprKind::Const(value) if value != 0)
                }
                NodeKind::Goto(_) | NodeKind::Leave(_) | NodeKind::Meet | NodeKind::Exit | NodeKind::Skip => {
                    true
                }
                _ => false,
            };
            if !graph.shape.nodes[node].inner
                || !is_plain
                || passed.contains(&only.node)
                || passed.len() > 100
            {
                break;
            }
            passed.push(only.node);
            at = only.target;
        }
        (at, passed)
    }

    fn statements(&self, proc: Proc, first: Node, passed: &[Node]) -> Vec<&'m StmtKind> {
        let nodes = std::iter::once(&first).chain(passed);
        let shape = &self.graphs[proc].shape;
        nodes
            .filter_map(|&node| match shape.nodes[node].kind {
                NodeKind::Basic(statement) => Some(statement),
                _ => None,
            })
            .collect()
    }

    /// The statements that one step of a `d_step` executes, for people.
    fn texts(&self, proc: Proc, first: Node, passed: &[Node]) -> String {
        let shape = &self.graphs[proc].shape;
        let is_statement = |node: &&Node| {
            let kind = shape.nodes[**node].kind;
            matches!(kind, NodeKind::Basic(_) | NodeKind::Else | NodeKind::Goto(_) | NodeKind::Leave(_))
        };
        let nodes = std::iter::once(&first).chain(passed).filter(is_statement);
        nodes.map(|&node| self.text(shape.nodes[node].span)).collect::<Vec<_>>().join("; ")
    }

    /// SPIN's numbers of the statements that one step of a `d_step` executes.
    fn covers(&self, proc: Proc, first: Node, passed: &[Node]) -> Vec<u32> {
        let shape = &self.graphs[proc].shape;
        std::iter::once(&first).chain(passed).map(|&node| shape.nodes[node].id).collect()
    }

    /// Where the `d_step` goes on, if it does.
    fn goes_on(&self, proc: Proc, after: Option<Node>) -> Option<Node> {
        after.filter(|&node| self.graphs[proc].shape.nodes[node].inner)
    }

    /// The place for an element inside of a `d_step`.
    fn inner_place(&mut self, proc: Proc, node: Node) -> NetPlace {
        if let Some(&place) = self.places[proc].get(&node) {
            return place;
        }
        let name = self.state_name(proc, node);
        let place = self.net.add_token_place(&name, PlaceKind::Execution, vec![Base::Thread, Base::Depth]);
        self.net.places[place].function = Some(self.functions[proc]);
        self.net.places[place].pos = self.pos(self.graphs[proc].shape.nodes[node].span);
        self.net.places[place].internal = true;
        self.places[proc].insert(node, place);
        place
    }
}

impl Step<'_, '_> {
    /// Where a step of a process leads, with all that it does beside its statement.
    pub(super) fn arrive(&mut self, this: Move, place: Place) {
        self.forget_dead(this.node);
        let alone = int_op(NetOp::Add, self.actor.thread.clone(), NetExpr::Const(1));
        let may_own = self.lower.owners[place.proc].contains(&place.state);
        self.own(this.atomic.then_some(alone), may_own);
        self.note_last();
        self.show(Before::State(place.state), this.target);
        self.go(this.target);
    }

    /// Puts the moving process on a control state.
    pub(super) fn go(&mut self, target: Option<Node>) {
        if let Some(target) = target {
            let place = self.lower.places[self.actor.proc][&target];
            let frame = vec![self.actor.thread.clone(), self.actor.depth.clone()];
            self.put(place, frame);
        }
    }

    /// Says who is in an atomic sequence from now on.
    pub(super) fn own(&mut self, owner: Option<NetExpr>, may_own: bool) {
        let Some(atomic) = self.lower.atomic else { return };
        match owner {
            Some(owner) => self.store(atomic, Vec::new(), owner, None),
            None if may_own => self.store(atomic, Vec::new(), NetExpr::Const(0), None),
            None => {}
        }
    }

    /// Remembers who moved.
    pub(super) fn note_last(&mut self) {
        if let Some(last) = self.lower.last {
            let thread = self.actor.thread.clone();
            self.store(last, Vec::new(), thread, None);
        }
    }

    /// Sets variables to 0 that nobody reads any more.
    pub(super) fn forget_dead(&mut self, node: Node) {
        let Some(dead) = self.lower.dead[self.actor.proc].get(&node) else { return };
        for &var in dead {
            match self.lower.homes[var] {
                Home::Cells(cells) => {
                    let key = vec![self.actor.thread.clone(), self.actor.depth.clone()];
                    self.store(cells, key, NetExpr::Const(0), None);
                }
                Home::Shared(cells) => {
                    let key = self.shared_key(var, NetExpr::Const(0));
                    self.store(cells, key, NetExpr::Const(0), None);
                }
                Home::Channel(_) | Home::Nowhere => {}
            }
        }
    }

    /// Stays inside of a `d_step`.
    fn stay_inside(&mut self, after: Node) {
        if let Some(indivisible) = self.lower.indivisible {
            self.store(indivisible, Vec::new(), NetExpr::Const(1), None);
        }
        self.go(Some(after));
    }

    /// Leaves a `d_step`.
    fn leave_inside(&mut self, whole: Move) {
        if let Some(indivisible) = self.lower.indivisible {
            self.store(indivisible, Vec::new(), NetExpr::Const(0), None);
        }
        let alone = int_op(NetOp::Add, self.actor.thread.clone(), NetExpr::Const(1));
        self.own(whole.atomic.then_some(alone), true);
        self.note_last();
        self.show(Before::DStep, whole.target);
        self.go(whole.target);
    }

    /// Requires what the proctype's `provided` says.
    pub(super) fn provided(&mut self) {
        let proc = &self.lower.model.procs[self.actor.proc];
        if let Some(expr) = &proc.provided {
            let value = self.value(expr);
            self.require(NetExpr::truth(value));
        }
    }

    /// Whether there is no room for another process.
    fn is_full(&mut self) -> NetExpr {
        let count = self.load(self.lower.count, Vec::new(), None);
        int_op(NetOp::Le, NetExpr::Const(i64::from(self.lower.max_processes)), count)
    }

    /// Requires room for another process.
    pub(super) fn require_room(&mut self) {
        let is_full = self.is_full();
        self.require(NetExpr::logical_not(is_full));
    }

    /// The process is gone, and with it what is in its channels.
    fn end_process(&mut self, state: Node) {
        let count = self.load(self.lower.count, Vec::new(), None);
        let less = int_op(NetOp::Sub, count, NetExpr::Const(1));
        self.store(self.lower.count, Vec::new(), less, None);
        let proc = self.actor.proc;
        self.clear_channels(proc);
        self.clear_shared(proc);
        self.show(Before::State(state), None);
        self.show_member(false);
        self.own(None, self.lower.owners[proc].contains(&self.lower.graphs[proc].end));
        self.note_last();
    }
}

/// The kinds of faults that a step can run into, each once.
fn kinds_of(step: &Step<'_, '_>) -> Vec<Fault> {
    let mut kinds: Vec<Fault> = step.faults().iter().map(|(fault, _)| *fault).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn finish_as(made: Made, rank: u8, timeout: bool) -> Made {
    let made = made.rank(rank);
    if timeout { made.late() } else { made }
}

/// What a statement is to the net.
fn action_of(statement: &StmtKind) -> Action {
    match statement {
        _ if runs(statement) => Action::Create,
        StmtKind::Assign(..) | StmtKind::Send { .. } | StmtKind::Receive { .. } => Action::Assign,
        StmtKind::Print { .. } => Action::Library,
        StmtKind::Condition(_)
        | StmtKind::Assert(_)
        | StmtKind::If(_)
        | StmtKind::Do(_)
        | StmtKind::Block(_)
        | StmtKind::Atomic(_)
        | StmtKind::DStep(_)
        | StmtKind::Unless { .. }
        | StmtKind::Goto(_)
        | StmtKind::Else
        | StmtKind::Break => Action::Jump,
    }
}

fn any(statement: &StmtKind, test: &dyn Fn(&ExprKind) -> bool) -> bool {
    let mut found = false;
    expressions(statement, &mut |expr| walk(expr, &mut |inner| found |= test(&inner.kind)));
    found
}

fn runs(statement: &StmtKind) -> bool {
    any(statement, &|kind| matches!(kind, ExprKind::Run(..)))
}

fn has_timeout(statement: &StmtKind) -> bool {
    any(statement, &|kind| matches!(kind, ExprKind::Timeout))
}

fn has_run(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| found |= is_run(inner));
    found
}

/// Whether something is looked up in an array, which can go wrong.
fn has_index(expr: &Expr) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| {
        found |= matches!(&inner.kind, ExprKind::Load(place) if !place.indices.is_empty())
    });
    found
}

/// The control states in which a process may be alone, by proctype.
pub(super) type Owners = IndexVec<Proc, BTreeSet<Node>>;
