//! From the typed tree to the net.
//!
//! | file | what it lowers |
//! | --- | --- |
//! | `survey` | nothing yet: who calls whom, what is shared |
//! | `points_to` | nothing yet: what pointers can point to |
//! | `largest` | nothing yet: how large sizes can be |
//! | `shape` | nothing yet: the scalar parts of types |
//! | `cells` | objects: a place for each scalar part |
//! | `path` | lvalues: the way from a variable or a pointer to a part of an object |
//! | `pointer` | pointers: addresses, arithmetic, what is behind them |
//! | `tagged` | addresses as numbers |
//! | `heap` | memory that the program allocates |
//! | `record` | structs and unions as values |
//! | `unset` | memory that was never written |
//! | `vla` | arrays whose length is known only at run time |
//! | `float` | floating point |
//! | `flow` | control flow: places where threads are, steps between them |
//! | `step` | one transition |
//! | `reads` | the cells that a transition reads, and under which conditions |
//! | `value` | expressions for their value |
//! | `condition` | expressions that decide a branch |
//! | `statement` | statements |
//! | `blocks` | the ends of blocks: locals that are gone |
//! | `call` | calls of functions with a body, and their return |
//! | `library` | calls of functions without one: the table of what is known |
//! | `input` | what the environment decides |
//! | `atomics` | atomic functions |
//! | `pthread` | the thread library: its table, creation and joining of threads |
//! | `attribute` | attribute objects |
//! | `mutex` | mutexes and spin locks |
//! | `condvar` | condition variables |
//! | `once` | what is done once |
//! | `key` | values under keys |
//! | `exit` | the end of a thread, and its handlers |
//! | `cancel` | cancellation |
//! | `semaphore` | semaphores |
//! | `rwlock` | read-write locks |
//! | `barrier` | barriers |
//! | `observe` | what formulas want to know of locals and threads |
//! | `atoms` | atoms of formulas |
//! | `atom_value` | C expressions in them |
//! | `liveness` | nothing more: which cells of frames are still read |
//! | `names` | nothing more: what addresses and cells are called |
//! | `finish` | cleaning up: unreachable steps, dead temporaries |

mod atom_value;
mod atomics;
mod atoms;
mod attribute;
mod barrier;
mod blocks;
mod call;
mod cancel;
mod cells;
mod condition;
mod condvar;
mod exit;
mod finish;
mod float;
mod flow;
mod heap;
mod input;
mod key;
mod largest;
mod library;
mod liveness;
mod mutex;
mod names;
mod observe;
mod once;
mod path;
mod pointer;
mod points_to;
mod pthread;
mod reads;
mod record;
mod rwlock;
mod semaphore;
mod shape;
mod statement;
mod step;
mod survey;
mod tagged;
mod unset;
mod value;
mod vla;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use pdnet_logic::Formula;
use pdnet_net::{Expr, Net, Place};
use pdnet_source::{Diagnostic, Pos, SourceMap, Span};

use crate::tree::{Function, Program, Variable};
use cells::Condition;
use flow::Frame;
use observe::Observers;
use points_to::Home;
use shape::Shape;
use survey::Survey;

/// What counts as one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Atomicity {
    /// Every access to a shared location.
    #[default]
    Access,
    /// Every statement, as in the papers. Misses lost updates; for comparison only.
    Statement,
}

/// How to make a net of a program.
#[derive(Clone, Copy, Debug)]
pub struct LowerOptions {
    /// What counts as one step.
    pub atomicity: Atomicity,
    /// Whether waiters of condition variables may wake without a signal.
    pub spurious_wakeups: bool,
    /// Bound on the number of threads, main included; at most 255.
    pub max_threads: u32,
    /// Take more threads than that, up to 255, where it can be seen that the program never has more.
    pub more_threads: bool,
    /// Bound on the depth of calls.
    pub max_depth: u32,
    /// Bound on the number of blocks that a thread allocates by one call in the source; at most 127.
    pub max_blocks: u32,
    /// Bound on the number of elements of a block whose size is not constant.
    pub max_elements: u32,
    /// Whether signed results that do not fit into their type are looked for.
    pub overflow: bool,
    /// Whether blocks are looked for that are still there at the end.
    pub leaks: bool,
    /// Whether reading a scalar local before it is written is an error, or gives an arbitrary value.
    pub uninitialised: bool,
    /// Whether reading memory that was never written gives an arbitrary value. Otherwise such a read ends the run,
    /// and the net is smaller and better reduced.
    pub arbitrary_memory: bool,
}

impl Default for LowerOptions {
    fn default() -> Self {
        Self {
            atomicity: Atomicity::Access,
            spurious_wakeups: false,
            max_threads: 64,
            more_threads: false,
            max_depth: 64,
            max_blocks: 16,
            max_elements: 64,
            overflow: false,
            leaks: false,
            uninitialised: false,
            arbitrary_memory: false,
        }
    }
}

/// A program as a net, with what the formulas' atoms mean in it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The net, with control dependence.
    pub net: Net,
    /// For each formula, for each of its atoms, the expression that decides it.
    pub atoms: Vec<Vec<Expr>>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// Lowers a program together with the formulas that will be asked of it: what a formula observes must
/// be kept in the net (the last value of a local, the identity of a thread).
///
/// # Errors
/// Diagnostics, where the program or a formula uses something that has no net.
pub fn lower(
    map: &SourceMap,
    program: &Program,
    formulas: &[Formula],
    options: &LowerOptions,
) -> Result<Lowered, Vec<Diagnostic>> {
    let lowered = lower_within(map, program, formulas, options)?;
    let is_more = |most: &u32| (options.max_threads + 1..=MOST_THREADS).contains(most);
    match pdnet_net::most_threads(&lowered.net).filter(is_more) {
        Some(max_threads) if options.more_threads => {
            lower_within(map, program, formulas, &LowerOptions { max_threads, ..*options })
        }
        _ => Ok(lowered),
    }
}

/// A model has no more threads.
const MOST_THREADS: u32 = 255;

/// Lowers with the bound on threads that is given.
fn lower_within(
    map: &SourceMap,
    program: &Program,
    formulas: &[Formula],
    options: &LowerOptions,
) -> Result<Lowered, Vec<Diagnostic>> {
    let mut lowerer = Lowerer::new(map, program, options);
    lowerer.declare_functions();
    lowerer.declare_left();
    lowerer.declare_observers(formulas);
    lowerer.declare_notes();
    for function in lowerer.survey.reachable.clone() {
        lowerer.lower_function(function);
    }
    lowerer.add_observations();
    if !lowerer.errors.is_empty() {
        return Err(lowerer.errors);
    }
    lowerer.finish_flow();
    let atoms: Vec<Vec<Expr>> = formulas.iter().map(|formula| lowerer.lower_atoms(formula)).collect();
    if !lowerer.errors.is_empty() {
        return Err(lowerer.errors);
    }
    lowerer.name_objects();
    let Lowerer { mut net, warnings, .. } = lowerer;
    pdnet_net::split_inputs(&mut net, &atoms.concat(), pdnet_net::SplitLimits::default());
    pdnet_net::add_control_dependence(&mut net);
    Ok(Lowered { net, atoms, warnings })
}

/// The state of lowering: the net in the making, and where the program's things are in it.
pub(crate) struct Lowerer<'a> {
    map: &'a SourceMap,
    program: &'a Program,
    options: &'a LowerOptions,
    survey: Survey,
    net: Net,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// The cells of the leaves of objects, made when they are first used.
    cells: BTreeMap<(Home, usize), Place>,
    /// The shapes of objects.
    shapes: BTreeMap<Home, Rc<Shape>>,
    /// The waiters of condition variables, by object and leaf.
    conditions: BTreeMap<(Home, usize), Condition>,
    /// For cells without an initial value: which of them were written.
    written: BTreeMap<Place, Place>,
    /// The lengths of arrays that are known only at run time.
    lengths: BTreeMap<Variable, Place>,
    /// What is in the slots for allocated blocks, by site.
    slots: BTreeMap<usize, Place>,
    /// The number of allocated blocks, where somebody asks for leaks.
    live_blocks: Option<Place>,
    /// For functions to whose locals pointers may point after their end: a cell that is 1 in their frames.
    alive: BTreeMap<pdnet_net::Function, Place>,
    /// The cells of string literals, while functions are lowered.
    literals: BTreeSet<Place>,
    /// For locals of blocks to which pointers may point after the block: a cell that is 1 when they are gone.
    gone: BTreeMap<Variable, Place>,
    /// Cells that hold 0 or 1 only. While functions are lowered; afterwards places have other numbers.
    bools: BTreeSet<Place>,
    /// Cells that several threads can reach.
    shared_cells: BTreeSet<Place>,
    /// Temporaries: cells of a frame that only pdnet knows.
    temporaries: BTreeSet<Place>,
    /// The locals of each function.
    locals: BTreeMap<Function, Vec<crate::tree::Variable>>,
    /// The net's function for each function with a body.
    functions: BTreeMap<Function, pdnet_net::Function>,
    /// The cells for results of functions.
    results: BTreeMap<Function, Vec<Place>>,
    /// How many threads have been created.
    thread_counter: Place,
    /// The results of threads, where some join asks for them.
    thread_results: Option<Place>,
    /// Cells that only the thread library knows, by name.
    library_cells: BTreeMap<String, Place>,
    /// The number of the thread in an atomic section plus one, and how deep it is nested.
    atomic: Option<(Place, Place)>,
    /// Places that turned out to be the same as another.
    same_as: BTreeMap<Place, Place>,
    /// Where labels of functions are, for the atom `at`.
    labels: BTreeMap<(Function, String), Vec<Place>>,
    /// Return sites: the frame there waits for another one.
    return_sites: BTreeSet<Place>,
    /// Steps that give an uninitialised variable an arbitrary value, with the variable's cell; removed
    /// where nobody reads it before it is written.
    uninitialised: Vec<(pdnet_net::Transition, Place)>,
    observers: Observers,
    /// The function that is being lowered.
    frame: Frame,
}

impl Lowerer<'_> {
    fn pos(&self, span: Span) -> Option<Pos> {
        Some(self.map.pos(span))
    }

    /// The source text of a span on one line, shortened.
    fn text(&self, span: Span) -> String {
        let text = &self.map.file(span.file).text;
        let text = text.get(span.start as usize..span.end as usize).unwrap_or("");
        let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.chars().count() > 60 {
            words = words.chars().take(57).chain("...".chars()).collect();
        }
        words
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        // One message for each place is enough.
        if !self.errors.contains(&diagnostic) {
            self.errors.push(diagnostic);
        }
    }

    /// Refuses a construct that has no net yet.
    fn unsupported(&mut self, span: Span, what: &str) {
        let diagnostic = Diagnostic::error("unsupported", format!("{what} not supported yet"));
        self.error(diagnostic.at(span, "this cannot be turned into a net"));
    }
}
