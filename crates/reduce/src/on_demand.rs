//! On-demand slicing (Algorithm 1 of the slicing paper), made exact for whole runs.
//!
//! From each kept statement we go to
//!
//! * what governs it, along the control arcs (`co`, `lo`, `po`), which know of loops that may not end and of steps
//!   that may block;
//! * what writes the cells and tokens that it needs. Only here are data and interference dependences looked
//!   for: a place that never enters the slice is never asked about. Cells that only their own frame can reach
//!   are followed backwards from the read to the writes that reach it (`FINDPRE`); of all others every write counts;
//! * the calls of its function, and the ends of the threads that it waits for.
//!
//! The paper goes through calls in two passes, up to the callers and then down into callees, so that what one caller
//! needs of a function is not asked of all. Here the two passes are a mark on each statement: one that is kept
//! *everywhere* must be executed in every activation, so that all calls of its function are kept; one that is not
//! is kept for what it computes in its own frame, for those calls that are kept anyway.

use pdnet_base::{FxHashMap, Idx as _, IndexVec};
use pdnet_net::{
    Action, ArcData, Dependence, Effect, Expr, Function, Pattern, Place, Transition, TransitionData, Var,
};

use crate::criterion::{Criterion, atomic_region};
use crate::facts::{Facts, is_new, is_own};
use crate::joins::Joins;
use crate::method::Slicer;
use crate::{Kept, Reason, Statement};

/// The method.
pub(crate) struct OnDemand;

impl Slicer for OnDemand {
    fn keeps_whole_statements(&self) -> bool {
        false
    }

    /// What exactness needs is all: see [`Closure`].
    fn grow(&mut self, _kept: &Kept) -> Vec<(Statement, Reason)> {
        Vec::new()
    }
}

/// The slice while it grows: the least one, from where it starts, that has the verdicts of the whole net. Other
/// methods begin with it and add what they keep beside.
pub(crate) struct Closure<'f, 'n> {
    facts: &'f Facts<'n>,
    joins: Joins,
    /// Whether kept statements are kept with all that they read and write.
    is_whole: bool,
    pub(crate) kept: Kept,
    /// Statements that must be executed in every activation of their function.
    pub(crate) everywhere: IndexVec<Place, bool>,
    /// Functions to whose exit a kept return looks.
    pub(crate) returned: IndexVec<Function, bool>,
    /// Places of which each access is kept, not only each value.
    pub(crate) accessed: IndexVec<Place, bool>,
    /// Places that an atom looks at, whoever reads them: every write of theirs counts.
    observed: IndexVec<Place, bool>,
    /// Local cells whose value is needed when a frame is at a place, and whether everywhere.
    live: FxHashMap<(Place, Place), bool>,
    /// Elements of arrays that are needed; none stands for all of them.
    elements: FxHashMap<(Place, Option<i64>), ()>,
    /// Places of whose tokens all changes are kept.
    asked: IndexVec<Place, bool>,
    agenda: Vec<Task>,
}

enum Task {
    Statement(Statement),
    Live(Place, Place, bool),
}

impl<'f, 'n> Closure<'f, 'n> {
    pub(crate) fn new(facts: &'f Facts<'n>, criterion: &Criterion, is_whole: bool) -> Self {
        let n_places = facts.net.places.len();
        let mut closure = Self {
            facts,
            joins: Joins::new(facts),
            is_whole,
            kept: Kept::nothing(facts.net),
            everywhere: IndexVec::filled(false, n_places),
            returned: IndexVec::filled(false, facts.net.functions.len()),
            accessed: IndexVec::filled(false, n_places),
            observed: IndexVec::filled(false, n_places),
            live: FxHashMap::default(),
            elements: FxHashMap::default(),
            asked: IndexVec::filled(false, n_places),
            agenda: Vec::new(),
        };
        for &place in &criterion.accessed {
            closure.accessed[place] = true;
        }
        for &place in &criterion.observed {
            closure.observed[place] = true;
        }
        for &place in criterion.observed.iter().chain(&criterion.accessed) {
            closure.keep_place(place);
        }
        for (statement, reason) in &criterion.statements {
            closure.keep(*statement, true, || reason.clone());
        }
        closure
    }

    /// Keeps a statement; with all that it depends on when [`Closure::run`] is called.
    pub(crate) fn keep(&mut self, statement: Statement, everywhere: bool, reason: impl FnOnce() -> Reason) {
        // What may keep a thread from going on does so in every activation.
        let everywhere = everywhere || self.facts.hangs.places[statement];
        let is_new = !self.kept.has(statement);
        if is_new {
            self.kept.statements[statement] = Some(reason());
        }
        if is_new || (everywhere && !self.everywhere[statement]) {
            self.everywhere[statement] |= everywhere;
            self.agenda.push(Task::Statement(statement));
        }
    }

    /// Follows dependences until there is nothing new.
    pub(crate) fn run(&mut self) {
        while let Some(task) = self.agenda.pop() {
            match task {
                Task::Statement(statement) => self.follow(statement),
                Task::Live(place, at, everywhere) => self.find_writes(place, at, everywhere),
            }
        }
    }

    fn follow(&mut self, statement: Statement) {
        let facts = self.facts;
        let everywhere = self.everywhere[statement];
        if let (true, Some(function)) = (everywhere, facts.function(statement)) {
            for &starter in &facts.starters[function] {
                self.keep(starter, true, || Reason::Calls(statement));
            }
        }
        if let Some(partner) = facts.partner[statement] {
            self.keep(partner, everywhere, || Reason::Returns(statement));
        }
        for &(governor, dependence) in &facts.governors[statement] {
            let data = &facts.net.transitions[governor];
            // Calls govern entries, and exits returns: see the two passes above.
            if data.action == Action::Enter || dependence == Dependence::Call {
                continue;
            }
            if let Some(source) = data.source() {
                self.keep(source, everywhere, || Reason::Governs(statement, dependence));
            }
        }
        for step in &facts.flow.steps[statement] {
            self.follow_transition(statement, step.transition);
        }
    }

    fn follow_transition(&mut self, statement: Statement, transition: Transition) {
        let facts = self.facts;
        let data = &facts.net.transitions[transition];
        if let (Action::Return, Some(function)) = (data.action, facts.net.returns_from(transition)) {
            self.returned[function] = true;
        }
        if data.action == Action::AtomicBegin {
            for place in atomic_region(facts, transition) {
                let is_end = |at: Transition| facts.net.transitions[at].action == Action::AtomicEnd;
                if facts.flow.steps[place].iter().any(|step| is_end(step.transition)) {
                    self.keep(place, true, || Reason::Governs(statement, Dependence::Lock));
                }
            }
        }
        for place in tokens_asked(data) {
            self.need_tokens(statement, transition, place);
        }
        if self.is_whole {
            self.keep_changed(transition);
        }
        let needed = self.needed_vars(transition);
        for arc in &data.arcs {
            match arc {
                ArcData::Read { place, key, var, .. } if needed[var.index()] => {
                    self.need_cells(statement, data, *place, key);
                }
                ArcData::Drain { place, to, .. } if self.kept.places[*place] || self.kept.places[*to] => {
                    self.need_tokens(statement, transition, *place);
                    self.need_tokens(statement, transition, *to);
                }
                _ => {}
            }
        }
    }

    /// Keeps the places that a transition changes, also where nobody looks at them. The cells of a frame that it makes
    /// are those of the other function.
    fn keep_changed(&mut self, transition: Transition) {
        let net = self.facts.net;
        let data = &net.transitions[transition];
        for arc in &data.arcs {
            match arc {
                ArcData::Write { place, key, .. }
                    if !self.facts.local[*place] || is_own(net, data, *place, key) =>
                {
                    self.keep_place(*place);
                }
                ArcData::Put { place, .. } if !net.is_frame_place(*place) => self.keep_place(*place),
                ArcData::Drain { place, to, .. } => {
                    self.keep_place(*place);
                    self.keep_place(*to);
                }
                _ => {}
            }
        }
    }

    /// The variables of a kept transition that decide about what is kept.
    pub(crate) fn needed_vars(&self, transition: Transition) -> Vec<bool> {
        let data = &self.facts.net.transitions[transition];
        let mut needed = vec![false; data.vars.len()];
        // The frame that moves is always named.
        needed[..2].fill(true);
        let add = |needed: &mut Vec<bool>, expr: &Expr| {
            expr.vars().into_iter().for_each(|var: Var| needed[var.index()] = true);
        };
        data.guard.iter().for_each(|guard| add(&mut needed, guard));
        for arc in &data.arcs {
            match arc {
                ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                    for part in token {
                        match part {
                            Pattern::Is(expr) => add(&mut needed, expr),
                            Pattern::Bind(var) => needed[var.index()] = true,
                        }
                    }
                }
                ArcData::Put { place, token } => {
                    if self.facts.net.is_frame_place(*place) || self.kept.places[*place] {
                        token.iter().for_each(|part| add(&mut needed, part));
                    }
                }
                ArcData::Inhibit { prefix, .. } => prefix.iter().for_each(|part| add(&mut needed, part)),
                ArcData::Drain { place, prefix, to } => {
                    if self.kept.places[*place] || self.kept.places[*to] {
                        prefix.iter().for_each(|part| add(&mut needed, part));
                    }
                }
                ArcData::Write { place, key, value, when } => {
                    if self.keeps_write(transition, arc) || Some(*place) == self.facts.net.atomic {
                        key.iter().chain([value]).chain(when).for_each(|part| add(&mut needed, part));
                    }
                }
                ArcData::Read { place, var, .. } => {
                    needed[var.index()] |= self.is_whole || self.accessed[*place]
                }
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        for bytes in data.bytes.iter().filter(|bytes| self.accessed[bytes.place]) {
            add(&mut needed, &bytes.first);
        }
        // Arcs bind in order: what a key uses is bound before.
        for arc in data.arcs.iter().rev() {
            if let ArcData::Read { key, var, when, .. } = arc
                && needed[var.index()]
            {
                key.iter().chain(when).for_each(|part| add(&mut needed, part));
            }
        }
        needed
    }

    /// Whether a write of a kept transition is kept: its place is, and for a local cell, the value is needed where the
    /// frame goes on, or costs nothing.
    pub(crate) fn keeps_write(&self, transition: Transition, arc: &ArcData) -> bool {
        let ArcData::Write { place, key, value, when } = arc else { return false };
        let net = self.facts.net;
        let data = &net.transitions[transition];
        if !self.kept.places[*place] {
            return false;
        }
        if !self.facts.local[*place] || self.accessed[*place] || self.observed[*place] {
            return true;
        }
        if is_own(net, data, *place, key) {
            let target = net.frame_target(transition);
            let is_live = target.is_some_and(|target| self.live.contains_key(&(*place, target)));
            let is_free = value.vars().is_empty()
                && when.is_none()
                && key[2..].iter().all(|part| part.vars().is_empty());
            is_live || self.is_whole || (is_free && target.is_some())
        } else if is_new(net, data, *place, key) {
            let function = crate::facts::frame_of(net, *place);
            function.is_some_and(|function| self.live.contains_key(&(*place, net.functions[function].entry)))
        } else {
            true
        }
    }

    fn keep_place(&mut self, place: Place) {
        if self.kept.places[place] {
            return;
        }
        self.kept.places[place] = true;
        // What kept statements write to it matters now.
        for &writer in &self.facts.writers[place] {
            self.again(writer);
        }
    }

    fn again(&mut self, writer: Transition) {
        if let Some(source) = self.facts.net.transitions[writer].source()
            && self.kept.has(source)
        {
            self.agenda.push(Task::Statement(source));
        }
    }

    /// The statement reads these cells.
    fn need_cells(&mut self, statement: Statement, data: &TransitionData, place: Place, key: &[Expr]) {
        let net = self.facts.net;
        self.keep_place(place);
        if self.facts.local[place] {
            if is_own(net, data, place, key) {
                self.agenda.push(Task::Live(place, statement, self.everywhere[statement]));
            } else if let Some(function) = crate::facts::frame_of(net, place) {
                self.agenda.push(Task::Live(place, net.functions[function].exit, false));
            }
            return;
        }
        let element = element(net, place, key);
        if self.elements.contains_key(&(place, None)) || self.elements.insert((place, element), ()).is_some()
        {
            return;
        }
        if let Some(function) = crate::facts::frame_of(net, place) {
            // The end of a frame writes its cells too: they go back to their initial values.
            for end in self.facts.frame_ends(function) {
                self.keep(end, true, || Reason::Writes(place, statement));
            }
        }
        for &writer in &self.facts.writers[place] {
            let data = &net.transitions[writer];
            let touches = data.arcs.iter().any(|arc| match arc {
                ArcData::Write { place: written, key, .. } if *written == place => {
                    let other = self::element(net, place, key);
                    element.is_none() || other.is_none() || element == other
                }
                _ => false,
            });
            if let (true, Some(source)) = (touches, data.source()) {
                self.keep(source, true, || Reason::Writes(place, statement));
            }
        }
    }

    /// The statement asks for tokens of a place that is not its own frame's.
    fn need_tokens(&mut self, statement: Statement, transition: Transition, place: Place) {
        let net = self.facts.net;
        if Some(place) == net.done {
            self.kept.places[place] = true;
            for end in self.joins.ends(self.facts, transition) {
                if let Some(source) = net.transitions[end].source() {
                    self.keep(source, true, || Reason::Ends(statement));
                }
            }
            return;
        }
        if net.is_frame_place(place) {
            let is_exit = net.places[place].function.is_some_and(|at| net.functions[at].exit == place);
            if is_exit && net.transitions[transition].action == Action::Return {
                return;
            }
            self.keep(place, true, || Reason::Writes(place, statement));
        }
        self.keep_place(place);
        if !std::mem::replace(&mut self.asked[place], true) {
            for &writer in &self.facts.writers[place] {
                if let Some(source) = net.transitions[writer].source() {
                    self.keep(source, true, || Reason::Writes(place, statement));
                }
            }
        }
    }

    /// A local cell is needed by a frame that is at a place: the writes that reach it are kept.
    fn find_writes(&mut self, place: Place, at: Place, everywhere: bool) {
        match self.live.get(&(place, at)) {
            Some(&known) if known || !everywhere => return,
            _ => self.live.insert((place, at), everywhere),
        };
        let facts = self.facts;
        let net = facts.net;
        if let Some(function) = crate::facts::frame_of(net, place)
            && net.functions[function].entry == at
        {
            for &starter in &facts.starters[function] {
                if self.kept.has(starter) {
                    self.agenda.push(Task::Statement(starter));
                }
            }
        }
        let mut predecessors = facts.flow.predecessors[at].clone();
        predecessors.dedup();
        for predecessor in predecessors {
            for step in facts.flow.steps[predecessor].iter().filter(|step| step.target == Some(at)) {
                let data = &net.transitions[step.transition];
                let mut is_written = false;
                let mut is_over = false;
                for arc in &data.arcs {
                    if let ArcData::Write { place: written, key, when, .. } = arc
                        && *written == place
                        && is_own(net, data, place, key)
                    {
                        is_written = true;
                        is_over |= when.is_none() && key.len() == 2;
                    }
                }
                if is_written {
                    self.keep(predecessor, everywhere, || Reason::Writes(place, at));
                    self.agenda.push(Task::Statement(predecessor));
                }
                if !is_over {
                    self.agenda.push(Task::Live(place, predecessor, everywhere));
                }
            }
        }
    }
}

/// The element of an array that a key names, where it is a constant.
pub(crate) fn element(net: &pdnet_net::Net, place: Place, key: &[Expr]) -> Option<i64> {
    net.places[place].cells()?.length?;
    match key.last()? {
        Expr::Const(index) => Some(*index),
        _ => None,
    }
}

/// The places beside the own frame's whose tokens decide whether the transition is enabled.
pub(crate) fn tokens_asked(data: &TransitionData) -> Vec<Place> {
    let mut places = Vec::new();
    for arc in data.arcs.iter().skip(1) {
        match arc {
            ArcData::Take { place, .. } | ArcData::Test { place, .. } | ArcData::Inhibit { place, .. } => {
                places.push(*place);
            }
            _ => {}
        }
    }
    places
}

/// Whether a transition ends a thread.
pub(crate) fn ends_thread(data: &TransitionData) -> bool {
    data.action.effect() == Effect::EndThread
}
