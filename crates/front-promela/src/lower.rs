//! From the tree of a model to a net.
//!
//! A proctype is a function of the net and a process is a thread whose number is the `pid`. Control states are
//! execution places, variables and the contents of channels are cells, and every step of SPIN is a transition.
//!
//! | file | what it does |
//! | --- | --- |
//! | `graph.rs` | the control states of a proctype and the steps between them |
//! | `uses.rs` | which variables a statement reads and writes |
//! | `dead.rs` | which variables a step sets to 0 because nobody reads them any more |
//! | `channels.rs` | which channels there are, and which an expression can denote |
//! | `step.rs` | one transition in the making |
//! | `value.rs` | expressions in a step |
//! | `statement.rs` | statements as steps: conditions, assignments, sends, receives |
//! | `process.rs` | the steps of a proctype, with `else`, `unless`, `atomic`, `d_step` |
//! | `rendezvous.rs` | steps of two processes |
//! | `remote.rs` | what processes see of each other: `P[p]@l`, `P[p]:x` |
//! | `events.rs` | `trace` and `notrace`: an automaton that watches messages |
//! | `words.rs` | the steps in the words of the model, for people |
//! | `observe.rs` | expressions of properties: what they say of a marking |

mod channels;
mod dead;
mod events;
pub(crate) mod graph;
mod observe;
mod process;
mod remote;
mod rendezvous;
mod statement;
mod step;
mod uses;
mod value;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::IndexVec;
use pdnet_net::legend::{Legend, StepWords};
use pdnet_net::{
    Base, CellData, Expr as NetExpr, Function, FunctionData, IntType, Net, Place as NetPlace, PlaceForm,
    PlaceKind, Scope as CellScope,
};
use pdnet_source::{Diagnostic, SourceMap, Span};

use self::channels::{Channels, Site, cell_type, constant_index};
use self::graph::{Graph, Node, NodeKind};
use crate::tree::{BinaryOp, Expr, ExprKind, Init, Model, Proc, Scope, StmtKind, UnaryOp, Var, VarData};
use crate::walk::{expressions, walk, walk_statements};

/// What the net is to be like.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// How many processes there can be at a time where that cannot be seen in the model. SPIN has at most 255.
    pub max_processes: u32,
}

impl Default for LowerOptions {
    fn default() -> Self {
        Self { max_processes: 255 }
    }
}

/// The net of a model.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The net.
    pub net: Net,
    /// What the expressions that were asked for mean in it, in order.
    pub atoms: Vec<NetExpr>,
    /// Whether some process is at a control state that is no valid end.
    pub unfinished: NetExpr,
    /// Whether some process is at a label `progress…`.
    pub progress: NetExpr,
    /// Whether some process is at a label `accept…`; `None` where there is no such label.
    pub accepting: Option<NetExpr>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
    /// SPIN's number for the step of each transition, for trails: that of the moving process and, for a rendezvous,
    /// that of its partner.
    pub spin_ids: Vec<(u32, Option<u32>)>,
    /// What people read of the net.
    pub legend: Legend,
}

/// Makes a net of a model.
///
/// # Errors
/// What cannot be modelled.
pub fn lower(
    map: &SourceMap,
    model: &Model,
    observed: &[&Expr],
    options: &LowerOptions,
) -> Result<Lowered, Vec<Diagnostic>> {
    let mut lower = Lower::new(map, model, observed, options);
    lower.refuse();
    lower.check_references(observed);
    if !lower.errors.is_empty() {
        return Err(lower.errors);
    }
    lower.processes();
    let atoms = observed.iter().map(|expr| lower.observe(expr)).collect();
    if !lower.errors.is_empty() {
        return Err(lower.errors);
    }
    let unfinished = lower.somewhere(&|lower, proc, node| {
        let graph = &lower.graphs[proc];
        node != graph.end && !lower.has_mark(proc, node, "end")
    });
    let unfinished = match &lower.events {
        Some(events) => NetExpr::either(unfinished, lower.ends_early(events)),
        None => unfinished,
    };
    let progress = lower.somewhere(&|lower, proc, node| lower.has_mark(proc, node, "progress"));
    let accepting = lower.somewhere(&|lower, proc, node| lower.has_mark(proc, node, "accept"));
    let accepting = Some(accepting).filter(|expr| *expr != NetExpr::Const(0));
    let words = std::mem::take(&mut lower.words);
    let legend = lower.legend(words);
    Ok(Lowered {
        net: lower.net,
        atoms,
        unfinished,
        progress,
        accepting,
        warnings: lower.warnings,
        spin_ids: lower.spin_ids,
        legend,
    })
}

/// Where the value of a variable is.
#[derive(Clone, Copy, Debug)]
enum Home {
    /// In cells.
    Cells(NetPlace),
    /// A local variable whose first value differs from process to process, or that other processes look at: in the cells
    /// of an array over all processes.
    Shared(NetPlace),
    /// It always denotes its own channel.
    Channel(#[allow(dead_code, reason = "for people in a debugger")] Site),
    /// Nobody reads it.
    Nowhere,
}

/// What the lowering knows.
struct Lower<'m> {
    map: &'m SourceMap,
    model: &'m Model,
    net: Net,
    graphs: IndexVec<Proc, Graph<'m>>,
    functions: IndexVec<Proc, Function>,
    places: IndexVec<Proc, BTreeMap<Node, NetPlace>>,
    homes: IndexVec<Var, Home>,
    dead: IndexVec<Proc, BTreeMap<Node, Vec<Var>>>,
    channels: Channels,
    /// The number of processes, `_nr_pr`.
    count: NetPlace,
    /// Who is in an atomic sequence, plus one.
    atomic: Option<NetPlace>,
    /// Whether somebody is in the middle of a `d_step`.
    indivisible: Option<NetPlace>,
    /// `_last`, where somebody looks at it.
    last: Option<NetPlace>,
    max_processes: u32,
    owners: process::Owners,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    spin_ids: Vec<(u32, Option<u32>)>,
    /// What processes see of each other.
    windows: remote::Windows,
    /// What watches the messages.
    events: Option<events::Events>,
    /// What each transition is called.
    words: Vec<StepWords>,
    /// SPIN's numbers of all statements that each transition executes.
    executed: Vec<Vec<u32>>,
}

impl<'m> Lower<'m> {
    fn new(map: &'m SourceMap, model: &'m Model, observed: &[&'m Expr], options: &LowerOptions) -> Self {
        let first = model.procs.iter().next();
        let mut net = Net {
            name: first.map_or_else(String::new, |proc| map.file(proc.span.file).name.clone()),
            files: map.files().map(|(_, file)| file.name.clone()).collect(),
            ..Net::default()
        };
        // SPIN numbers the statements of claims, too, as they come in the text.
        let before = |span: Span| {
            let claims = model.claims.iter().filter(move |claim| claim.span.start < span.start);
            claims.map(n_elements).sum::<u32>()
        };
        let mut next_id = 0;
        let graphs: Vec<Graph<'m>> = model
            .procs
            .iter()
            .map(|proc| {
                let mut id = next_id + before(proc.span);
                let graph = Graph::new(proc, &mut id);
                next_id = id - before(proc.span);
                graph
            })
            .collect();
        let graphs: IndexVec<Proc, Graph<'m>> = graphs.into();
        let max_processes = bound_on_processes(model, &graphs).unwrap_or(options.max_processes).clamp(1, 255);
        net.max_threads = max_processes;
        net.max_depth = 1;
        let asked = remote::Asked::in_processes(model);
        let observed_too = remote::Asked::in_exprs(observed.iter().copied());
        let channels = Channels::new(model, observed, &asked.vars, max_processes, &mut net);
        let global = |value: IntType, default: i64| CellData {
            scope: CellScope::Global,
            length: None,
            value,
            default,
            listed: Vec::new(),
        };
        let at_start: u32 = model.procs.iter().map(|proc| proc.active).sum();
        let count = net.add_cells("_nr_pr", global(IntType::U8, i64::from(at_start.min(255))));
        net.places[count].internal = true;
        let mut lower = Self {
            map,
            model,
            net,
            graphs,
            functions: IndexVec::new(),
            places: IndexVec::new(),
            homes: IndexVec::new(),
            dead: IndexVec::new(),
            channels,
            count,
            atomic: None,
            indivisible: None,
            last: None,
            max_processes,
            owners: IndexVec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            spin_ids: Vec::new(),
            windows: remote::Windows::default(),
            events: None,
            words: Vec::new(),
            executed: Vec::new(),
        };
        let nodes = || lower.graphs.iter().flat_map(|graph| graph.shape.nodes.iter());
        let has_atomic = nodes().any(|node| node.atomic && !node.inner);
        let has_d_step = nodes().any(|node| matches!(node.kind, NodeKind::DStep));
        if has_atomic {
            let place = lower.internal_cell("atomic", IntType { bits: 9, signed: false });
            lower.net.atomic = Some(place);
            lower.net.atomic_yields = true;
            lower.atomic = Some(place);
        }
        if has_d_step {
            let place = lower.internal_cell("d_step", IntType { bits: 1, signed: false });
            lower.net.indivisible = Some(place);
            lower.indivisible = Some(place);
        }
        if uses_last(model, observed) {
            let place = lower.net.add_cells("_last", global(IntType::U8, 0));
            lower.last = Some(place);
        }
        match events::events(model, &lower.channels, &mut lower.net) {
            Ok(events) => lower.events = events,
            Err(errors) => lower.errors.extend(errors),
        }
        lower.make_functions();
        lower.make_windows(&asked, &observed_too);
        lower.make_cells(observed, &|var| {
            // The variables of a process that does not exist are 0, whatever they would begin with.
            let starts_at_zero = matches!(model.vars[var].init, Init::Zero);
            asked.vars.contains(&var) || observed_too.vars.contains(&var) && !starts_at_zero
        });
        let keeps_all = remote::keeps_all_values(model);
        let is_kept = |var: Var| keeps_all || observed_too.vars.contains(&var);
        let dead: Vec<_> =
            lower.graphs.iter().map(|graph| dead::dead_after(model, graph, &is_kept)).collect();
        lower.dead = dead.into();
        lower
    }

    fn internal_cell(&mut self, name: &str, value: IntType) -> NetPlace {
        let cells =
            CellData { scope: CellScope::Global, length: None, value, default: 0, listed: Vec::new() };
        let place = self.net.add_cells(name, cells);
        self.net.places[place].internal = true;
        place
    }

    /// A function for each proctype, with its control states as places and its first processes on them.
    fn make_functions(&mut self) {
        let mut next_pid = 0;
        for (proc, data) in self.model.procs.iter_enumerated() {
            let function = self.net.functions.next_index();
            let mut places = BTreeMap::new();
            let graph = &self.graphs[proc];
            let mut states = graph.states.clone();
            if !states.contains(&graph.end) {
                states.push(graph.end);
            }
            for node in states {
                let span = graph.shape.nodes[node].span;
                let name = self.state_name(proc, node);
                let place =
                    self.net.add_token_place(&name, PlaceKind::Execution, vec![Base::Thread, Base::Depth]);
                self.net.places[place].function = Some(function);
                self.net.places[place].pos = self.pos(span);
                places.insert(node, place);
            }
            let (entry, exit) = (places[&graph.start], places[&graph.end]);
            let pos = self.pos(data.span);
            self.net.functions.push(FunctionData { name: data.name.clone(), entry, exit, pos });
            if let PlaceForm::Tokens { initial } = &mut self.net.places[entry].form {
                for _ in 0..data.active {
                    initial.push(vec![next_pid, 0]);
                    next_pid += 1;
                }
            }
            self.functions.push(function);
            self.places.push(places);
        }
    }

    /// What to call a control state.
    fn state_name(&self, proc: Proc, node: Node) -> String {
        let graph = &self.graphs[proc];
        if node == graph.end {
            return "-end-".to_owned();
        }
        let label = graph.shape.nodes[node].labels.first();
        match label {
            Some(&label) => self.model.procs[proc].labels[label].name.clone(),
            None => format!("before `{}`", self.text(graph.shape.nodes[node].span)),
        }
    }

    /// Cells for all variables that somebody reads.
    /// Those that are `shared` lie where other processes find them.
    fn make_cells(&mut self, observed: &[&'m Expr], shared: &dyn Fn(Var) -> bool) {
        let read = read_vars(self.model, observed);
        let id_type = self.channels.id_type();
        for (var, data) in self.model.vars.iter_enumerated() {
            let home = if let Some(site) = self.channels.fixed(var) {
                Home::Channel(site)
            } else if is_hideable(data) && !read.contains(&var) {
                Home::Nowhere
            } else if self.starts_differ(var) || shared(var) {
                Home::Shared(self.shared_cells_of(var, data, id_type))
            } else {
                Home::Cells(self.cells_of(var, data, id_type))
            };
            self.homes.push(home);
        }
    }

    fn cells_of(&mut self, var: Var, data: &'m VarData, id_type: IntType) -> NetPlace {
        let count: u32 = data.dims.iter().product();
        let is_array = !data.dims.is_empty();
        let value = cell_type(data.ty, is_array, id_type);
        let scope = match data.scope {
            Scope::Global => CellScope::Global,
            Scope::Local(proc) => CellScope::Frame(self.functions[proc]),
        };
        // Of a local variable, the step that makes the process writes what is no constant.
        let is_global = data.scope == Scope::Global;
        let start = |index: u32| {
            let found = if is_global { self.start_of(var, index, 0) } else { self.constant_of(var, index) };
            value.wrap(found.unwrap_or(0))
        };
        let default = if is_array { 0 } else { start(0) };
        let mut listed: Vec<(u32, i64)> = Vec::new();
        if is_array {
            listed = (0..count).map(|index| (index, start(index))).collect();
        }
        listed.retain(|&(_, value)| value != default);
        self.check_start(var, data);
        let cells = CellData { scope, length: is_array.then_some(count), value, default, listed };
        let place = self.net.add_cells(&data.name, cells);
        self.net.places[place].pos = self.pos(data.span);
        place
    }

    /// Whether processes that run from the start begin with different values of a variable, or with one that is no
    /// constant.
    fn starts_differ(&self, var: Var) -> bool {
        let data = &self.model.vars[var];
        let Scope::Local(proc) = data.scope else { return false };
        let is_constant = match &data.init {
            Init::Zero => true,
            Init::Channel(_) => false,
            Init::Value(expr) => self.is_constant(expr),
            Init::List(exprs) => exprs.iter().all(|expr| self.is_constant(expr)),
        };
        self.model.procs[proc].active > 0 && !is_constant
    }

    /// Cells for a local variable, one for each process.
    fn shared_cells_of(&mut self, var: Var, data: &'m VarData, id_type: IntType) -> NetPlace {
        let count: u32 = data.dims.iter().product();
        let value = cell_type(data.ty, !data.dims.is_empty(), id_type);
        let mut listed = Vec::new();
        let mut pid = 0;
        for (proc, proc_data) in self.model.procs.iter_enumerated() {
            for _ in 0..proc_data.active {
                if data.scope == Scope::Local(proc) {
                    for index in 0..count {
                        let start = self.start_of(var, index, pid).unwrap_or(0);
                        listed.push((pid * count + index, value.wrap(start)));
                    }
                }
                pid += 1;
            }
        }
        listed.retain(|&(_, value)| value != 0);
        let cells = CellData {
            scope: CellScope::Global,
            length: Some(count * self.max_processes),
            value,
            default: 0,
            listed,
        };
        let place = self.net.add_cells(&data.name, cells);
        self.net.places[place].pos = self.pos(data.span);
        self.check_start(var, data);
        place
    }

    /// Complains about a first value that cannot be known before anything runs.
    fn check_start(&mut self, var: Var, data: &VarData) {
        let is_at_start = match data.scope {
            Scope::Global => true,
            Scope::Local(proc) => self.model.procs[proc].active > 0 && data.param.is_none(),
        };
        if is_at_start && self.start_of(var, 0, 0).is_none() {
            self.error(
                "unsupported-initialiser",
                format!("the first value of `{}` cannot be computed", data.name),
                data.span,
                "not in this version",
            );
        }
    }

    /// The first value of an element of a variable, where it is the same for all processes.
    fn constant_of(&self, var: Var, index: u32) -> Option<i64> {
        match &self.model.vars[var].init {
            Init::Zero => Some(0),
            Init::Value(expr) => self.constant(expr),
            Init::List(exprs) => exprs.get(index as usize).map_or(Some(0), |expr| self.constant(expr)),
            Init::Channel(_) => None,
        }
    }

    /// The first value of an element of a variable of a process that runs from the start.
    fn start_of(&self, var: Var, index: u32, pid: u32) -> Option<i64> {
        let data = &self.model.vars[var];
        if data.param.is_some() {
            return Some(0);
        }
        match &data.init {
            Init::Zero => Some(0),
            Init::Value(expr) => self.start_value(expr, pid),
            Init::List(exprs) => {
                exprs.get(index as usize).map_or(Some(0), |expr| self.start_value(expr, pid))
            }
            Init::Channel(_) => {
                let site = self.channels.site_of(var)?;
                let (class, first) = match self.channels.sites[site].owner {
                    None => self.channels.home((site, index)),
                    Some(_) => {
                        let (class, first) = self.channels.home((site, 0));
                        (class, first + pid * self.channels.sites[site].count + index)
                    }
                };
                Some(self.channels.classes[class].base + i64::from(first))
            }
        }
    }

    /// The value of an expression before anything runs, for the process with this number.
    fn start_value(&self, expr: &Expr, pid: u32) -> Option<i64> {
        let value = match &expr.kind {
            ExprKind::Pid => i64::from(pid),
            ExprKind::Load(place) => {
                let data = &self.model.vars[place.var];
                let mut index = 0_u32;
                for (&dim, at) in data.dims.iter().zip(&place.indices) {
                    let at = u32::try_from(self.start_value(at, pid)?).ok().filter(|&at| at < dim)?;
                    index = index * dim + at;
                }
                let ty = cell_type(data.ty, !data.dims.is_empty(), self.channels.id_type());
                ty.wrap(self.start_of(place.var, index, pid)?)
            }
            ExprKind::Unary(op, operand) => apply_unary(*op, self.start_value(operand, pid)?),
            ExprKind::Binary(op, left, right) => {
                apply_binary(*op, self.start_value(left, pid)?, self.start_value(right, pid)?)?
            }
            ExprKind::If(condition, then, otherwise) => {
                let taken = if self.start_value(condition, pid)? != 0 { then } else { otherwise };
                self.start_value(taken, pid)?
            }
            _ => return self.constant(expr),
        };
        Some(IntType::I32.wrap(value))
    }

    /// The value of an expression that is the same always.
    fn constant(&self, expr: &Expr) -> Option<i64> {
        let value = match &expr.kind {
            ExprKind::Const(value) => *value,
            ExprKind::Unary(op, operand) => apply_unary(*op, self.constant(operand)?),
            ExprKind::Binary(op, left, right) => {
                apply_binary(*op, self.constant(left)?, self.constant(right)?)?
            }
            ExprKind::Load(place) => {
                // Channels that are always the same ones.
                let site = self.channels.fixed(place.var)?;
                if self.channels.sites[site].owner.is_some() {
                    return None;
                }
                let index = constant_index(&self.model.vars[place.var].dims, &place.indices)?;
                let (class, position) = self.channels.home((site, index));
                self.channels.classes[class].base + i64::from(position)
            }
            _ => return None,
        };
        Some(IntType::I32.wrap(value))
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        self.constant(expr).is_some()
    }

    /// Whether the trace of the model is where it must not be when nothing can move any more. As in SPIN, that counts
    /// only where there are still processes.
    fn ends_early(&self, events: &events::Events) -> NetExpr {
        NetExpr::both(events.is_open(), self.somewhere(&|_, _, _| true))
    }

    /// The place where processes of a proctype begin.
    fn entry(&self, proc: Proc) -> NetPlace {
        self.places[proc][&self.graphs[proc].start]
    }

    /// Whether a control state has a label that begins with a word.
    fn has_mark(&self, proc: Proc, node: Node, word: &str) -> bool {
        let labels = &self.model.procs[proc].labels;
        self.graphs[proc].marks[node].iter().any(|&label| labels[label].name.starts_with(word))
    }

    /// Whether some process is at one of these control states.
    fn somewhere(&self, is_one: &dyn Fn(&Self, Proc, Node) -> bool) -> NetExpr {
        let mut found = NetExpr::Const(0);
        for (proc, places) in self.places.iter_enumerated() {
            for (&node, &place) in places {
                let is_state = !self.graphs[proc].shape.nodes[node].inner;
                if is_state && is_one(self, proc, node) {
                    found = NetExpr::either(NetExpr::Marked(place, Vec::new()), found);
                }
            }
        }
        found
    }

    fn pos(&self, span: Span) -> Option<pdnet_source::Pos> {
        Some(self.map.pos(span))
    }

    /// What stands there, in one line.
    fn text(&self, span: Span) -> String {
        let text = &self.map.file(span.file).text;
        let text = text.get(span.start as usize..span.end as usize).unwrap_or("");
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(60) {
            None => line,
            Some((cut, _)) => format!("{}…", &line[..cut]),
        }
    }

    fn error(&mut self, id: &'static str, message: impl Into<String>, span: Span, label: &str) {
        self.errors.push(Diagnostic::error(id, message.into()).at(span, label));
    }

    /// Complains about what has no net.
    fn refuse(&mut self) {
        let model = self.model;
        for (_, data) in model.procs.iter_enumerated() {
            let mut bad = Vec::new();
            let mut look = |expr: &'m Expr| {
                walk(expr, &mut |inner| {
                    let claims = "only in claims and formulas";
                    let (what, why) = match &inner.kind {
                        ExprKind::NonProgress => ("`np_`", claims),
                        ExprKind::Enabled(_) => {
                            ("`enabled`", "what another process can do is no part of a state")
                        }
                        ExprKind::PcValue(_) => {
                            ("`pc_value`", "SPIN's numbers of control states are not known")
                        }
                        _ => return,
                    };
                    bad.push((what, why, inner.span));
                });
            };
            data.provided.iter().for_each(&mut look);
            walk_statements(&data.body, &mut |statement| expressions(&statement.kind, &mut look));
            for (what, why, span) in bad {
                let message = format!("{what} cannot be used in a proctype");
                self.error("unsupported-in-proctype", message, span, why);
            }
        }
    }
}

fn apply_unary(op: UnaryOp, operand: i64) -> i64 {
    match op {
        UnaryOp::Neg => operand.wrapping_neg(),
        UnaryOp::BitNot => !operand,
        UnaryOp::Not => i64::from(operand == 0),
    }
}

fn apply_binary(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    if matches!(op, BinaryOp::Div | BinaryOp::Rem) && right == 0 {
        return None;
    }
    match value::arithmetic(op, NetExpr::Const(left), NetExpr::Const(right)) {
        NetExpr::Const(value) => Some(value),
        _ => None,
    }
}

/// How many elements a claim has.
fn n_elements(claim: &crate::tree::Claim) -> u32 {
    let mut count = 0;
    let body = graph::Body { sequence: &claim.body, labels: &claim.labels, end: claim.span };
    drop(Graph::of(body, &mut count));
    count
}

/// Whether SPIN leaves a variable out of the state where nobody reads it: a global one that is no part of a structure.
fn is_hideable(data: &VarData) -> bool {
    data.scope == Scope::Global && !data.name.contains('.')
}

/// The variables whose value somebody looks at, prints aside. An increment does not count as a look.
fn read_vars(model: &Model, observed: &[&Expr]) -> BTreeSet<Var> {
    let mut read = BTreeSet::new();
    let mut look = |expr: &Expr, except: Option<Span>| {
        walk(expr, &mut |inner| match &inner.kind {
            ExprKind::Load(place) if except != Some(place.span) => drop(read.insert(place.var)),
            ExprKind::Remote { place, .. } => drop(read.insert(place.var)),
            _ => {}
        });
    };
    observed.iter().for_each(|expr| look(expr, None));
    for formula in &model.formulas {
        formula.atoms.iter().for_each(|atom| look(&atom.expr, None));
    }
    let bodies =
        model.procs.iter().map(|proc| &proc.body).chain(model.claims.iter().map(|claim| &claim.body));
    for body in bodies {
        walk_statements(body, &mut |statement| match &statement.kind {
            StmtKind::Print { .. } => {}
            StmtKind::Assign(place, value) => {
                place.indices.iter().for_each(|index| look(index, None));
                look(value, Some(place.span));
            }
            other => expressions(other, &mut |expr| look(expr, None)),
        });
    }
    for proc in model.procs.iter() {
        proc.provided.iter().for_each(|expr| look(expr, None));
    }
    for data in model.vars.iter() {
        match &data.init {
            Init::Value(expr) => look(expr, None),
            Init::List(exprs) => exprs.iter().for_each(|expr| look(expr, None)),
            Init::Zero | Init::Channel(_) => {}
        }
    }
    // What a receive stores counts as looked at.
    for proc in model.procs.iter() {
        walk_statements(&proc.body, &mut |statement| {
            if let StmtKind::Receive { args, .. } = &statement.kind {
                for arg in args {
                    if let crate::tree::ReceiveArg::Store(place) = arg {
                        read.insert(place.var);
                    }
                }
            }
        });
    }
    read
}

fn uses_last(model: &Model, observed: &[&Expr]) -> bool {
    let mut used = false;
    let mut look = |expr: &Expr| {
        walk(expr, &mut |inner| used |= matches!(inner.kind, ExprKind::Last));
    };
    observed.iter().for_each(|expr| look(expr));
    for proc in model.procs.iter() {
        proc.provided.iter().for_each(&mut look);
        walk_statements(&proc.body, &mut |statement| expressions(&statement.kind, &mut |expr| look(expr)));
    }
    used
}

/// How many processes there can be at most, where no `run` can happen again and again.
fn bound_on_processes(model: &Model, graphs: &IndexVec<Proc, Graph<'_>>) -> Option<u32> {
    // How many processes one of a proctype makes, those that they make included.
    let mut made: IndexVec<Proc, Option<u32>> = IndexVec::filled(Some(0), model.procs.len());
    // Proctypes that make each other never get a stable number.
    for _ in 0..=model.procs.len() {
        let before = made.clone();
        for proc in model.procs.indices() {
            let mut sum = Some(0_u32);
            for run in runs_of(&graphs[proc]) {
                let each = before[run.proc].map(|n| n.saturating_add(1));
                let times = if run.repeats { None } else { Some(1) };
                sum = match (sum, each, times) {
                    (Some(sum), Some(each), Some(_)) => Some(sum.saturating_add(each)),
                    _ => None,
                };
            }
            made[proc] = sum;
        }
        if made == before {
            let mut total = 0_u32;
            for (proc, data) in model.procs.iter_enumerated() {
                let each = made[proc]?.saturating_add(1);
                total = total.saturating_add(data.active.saturating_mul(each));
            }
            return Some(total.min(255));
        }
    }
    None
}

struct Run {
    proc: Proc,
    /// Control can come there again.
    repeats: bool,
}

fn runs_of(graph: &Graph<'_>) -> Vec<Run> {
    let mut found = Vec::new();
    for (node, data) in graph.shape.nodes.iter_enumerated() {
        let NodeKind::Basic(statement) = data.kind else { continue };
        expressions(statement, &mut |expr| {
            walk(expr, &mut |inner| {
                if let ExprKind::Run(proc, _) = inner.kind {
                    found.push(Run { proc, repeats: data.inner || comes_back(graph, node) });
                }
            });
        });
    }
    found
}

/// Whether a step can happen twice.
fn comes_back(graph: &Graph<'_>, node: Node) -> bool {
    let mut open: Vec<Node> = graph.shape.step_of(node).target.into_iter().collect();
    let mut seen = Vec::new();
    while let Some(at) = open.pop() {
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        for step in &graph.moves[at] {
            if step.node == node {
                return true;
            }
            open.extend(step.target);
        }
    }
    false
}
