//! Random small nets of the class that C programs give.
//!
//! A net is made of functions, each a row of execution places with one statement between every place and
//! the next. What the statements do to threads, frames, locks and condition variables is what a front end
//! makes of `pthread_create`, a call, `pthread_mutex_lock`, `pthread_cond_wait` and so on. Values stay
//! small, so that most nets have few markings; none is checked to have a meaning that a person would like.

use pdnet_base::Rng;
use pdnet_net::{
    Action, ArcData, Base, BinaryOp, Bound, CellData, Domain, Expr, Fault, Function, FunctionData, IntType,
    Net, Pattern, Place, PlaceForm, PlaceKind, Scope, TransitionBuilder,
};

/// How large the nets are, and how much of each feature they have.
#[derive(Clone, Debug)]
pub struct NetConfig {
    /// The most functions, at least 1.
    pub max_functions: usize,
    /// The most threads, at least 1.
    pub max_threads: usize,
    /// The most statements of a function, at least 3.
    pub max_steps: usize,
    /// The most global variables, at least 1.
    pub max_globals: usize,
    /// Percentage of nets with an array.
    pub arrays: usize,
    /// Percentage of nets with mutexes, and with condition variables where there are mutexes.
    pub locks: usize,
    /// Percentage of nets with atomic sections.
    pub atomic: usize,
    /// Percentage of nets with assumptions.
    pub assumes: usize,
    /// Percentage of nets with assertions.
    pub asserts: usize,
    /// Percentage of nets with inputs.
    pub choices: usize,
    /// Percentage of nets whose inputs are not tried with all their values.
    pub sampled: usize,
    /// Percentage of nets with calls.
    pub calls: usize,
    /// Percentage of calls that may be recursive.
    pub recursion: usize,
    /// Percentage of jumps that go back.
    pub loops: usize,
    /// Percentage of array accesses whose index may be outside, which the net's meaning allows.
    pub wild_index: usize,
    /// Percentage of reads and writes that have a condition of their own.
    pub conditional_arcs: usize,
    /// Percentage of waits that may wake by themselves.
    pub spurious: usize,
    /// Percentage of variables on which threads can race.
    pub memory: usize,
    /// Percentage of steps that are atomic operations.
    pub atomic_steps: usize,
    /// Percentage of creations beyond those that were planned, which can meet the bound on threads.
    pub wild_create: usize,
    /// Percentage of nets with ranks.
    pub ranks: usize,
    /// Percentage of nets with late steps.
    pub late: usize,
    /// Percentage of nets with atomic sections whose sections can be lost.
    pub yields: usize,
    /// Percentage of nets with indivisible sequences.
    pub indivisible: usize,
    /// Percentage of nets with steps of two threads.
    pub partners: usize,
    /// Percentage of nets in which threads begin with the numbers of those that have ended.
    pub recreation: usize,
}

impl Default for NetConfig {
    fn default() -> Self {
        Self {
            max_functions: 3,
            max_threads: 3,
            max_steps: 10,
            max_globals: 3,
            arrays: 30,
            locks: 40,
            atomic: 20,
            assumes: 15,
            asserts: 60,
            choices: 30,
            sampled: 10,
            calls: 30,
            recursion: 10,
            loops: 50,
            wild_index: 5,
            conditional_arcs: 10,
            spurious: 10,
            memory: 50,
            atomic_steps: 20,
            wild_create: 3,
            ranks: 15,
            late: 15,
            yields: 40,
            indivisible: 15,
            partners: 15,
            recreation: 10,
        }
    }
}

impl NetConfig {
    /// Nets in which every step is what its arcs say ([`Net::is_plain`]) and no number of a thread is given
    /// twice: for tests of what asks for that.
    #[must_use]
    pub fn plain() -> Self {
        let (ranks, late, yields, indivisible, partners, recreation) = (0, 0, 0, 0, 0, 0);
        Self { ranks, late, yields, indivisible, partners, recreation, ..Self::default() }
    }
}

/// A random net. It passes [`pdnet_net::verify_net`].
#[must_use]
pub fn random_net(rng: &mut Rng, config: &NetConfig) -> Net {
    let mut generator = Generator::new(rng, config);
    generator.declare();
    for function_idx in 0..generator.functions.len() {
        generator.fill(function_idx);
    }
    generator.mark_memory();
    generator.mark_priorities();
    generator.net
}

/// The statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Assign,
    Branch,
    Jump,
    Choice,
    Lock(Place),
    TryLock(Place),
    Unlock(Place),
    Wait(Place, Condition),
    Signal(Condition),
    Broadcast(Condition),
    Take(Place),
    Post(Place),
    AtomicBegin,
    AtomicEnd,
    SequenceBegin,
    SequenceEnd,
    /// Another thread's frame is moved in the same step.
    Meet,
    /// The frame goes on only where another thread moves it.
    Await,
    Assume,
    Assert,
    Error,
    Library,
    Call,
    Create,
    /// Of the thread of this number.
    Join(usize),
    JoinAny,
    ThreadEnd,
    ProcessEnd,
}

/// A condition variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Condition {
    /// The threads that wait.
    waiters: Place,
    /// The threads that were woken and have not got the mutex yet.
    woken: Place,
}

/// Where a value can be.
#[derive(Clone, Copy, Debug)]
enum Location {
    Global(Place),
    Array(Place, u32),
    OfThread(Place),
    Local(Place),
}

impl Location {
    const fn place(self) -> Place {
        match self {
            Self::Global(place) | Self::Array(place, _) | Self::OfThread(place) | Self::Local(place) => place,
        }
    }
}

/// A function before its transitions are made.
struct Skeleton {
    function: Function,
    /// The places, the first the entry, the last the exit.
    places: Vec<Place>,
    local: Place,
    result: Place,
}

struct Generator<'a> {
    rng: &'a mut Rng,
    config: &'a NetConfig,
    net: Net,
    functions: Vec<Skeleton>,
    globals: Vec<Location>,
    mutexes: Vec<Place>,
    conditions: Vec<Condition>,
    semaphore: Option<Place>,
    /// The number that the next thread gets.
    counter: Place,
    /// The numbers of created threads.
    handle: Place,
    /// What statements this net has, repeated by their weight.
    menu: Vec<Step>,
    n_threads: usize,
    sampled: bool,
    /// Where numbers of threads are given again: those that are in use.
    used: Option<Place>,
    /// Places from which only another thread's step leads on.
    awaits: Vec<(usize, usize)>,
}

impl<'a> Generator<'a> {
    fn new(rng: &'a mut Rng, config: &'a NetConfig) -> Self {
        let mut net = Net { name: "random".to_owned(), ..Net::default() };
        // One function, or one thread, is a rare case: most bugs take two.
        let mut one_or_more = |max: usize| if max <= 1 || rng.chance(7) { 1 } else { 2 + rng.below(max - 1) };
        let n_functions = one_or_more(config.max_functions);
        let n_threads = if n_functions == 1 { 1 } else { one_or_more(config.max_threads) };
        net.max_threads = u32::try_from(n_threads).expect("small");
        net.max_depth = 1 + u32::try_from(n_functions).expect("small");
        net.done = Some(net.add_token_place("done", PlaceKind::Execution, vec![Base::Thread]));
        net.ended = Some(net.add_token_place("ended", PlaceKind::Execution, vec![]));
        let byte =
            CellData { scope: Scope::Global, length: None, value: IntType::U8, default: 0, listed: vec![] };
        let counter = net.add_cells("next thread", CellData { default: 1, ..byte.clone() });
        let handle = net.add_cells("handle", CellData { length: Some(net.max_threads), ..byte });
        Self {
            rng,
            config,
            net,
            functions: Vec::new(),
            globals: Vec::new(),
            mutexes: Vec::new(),
            conditions: Vec::new(),
            semaphore: None,
            counter,
            handle,
            menu: Vec::new(),
            n_threads,
            sampled: false,
            used: None,
            awaits: Vec::new(),
        }
    }

    fn random_type(&mut self) -> IntType {
        let (bits, signed) = *self.rng.pick(&[
            (1, false),
            (2, false),
            (3, true),
            (8, true),
            (8, false),
            (32, true),
            (64, true),
            (64, false),
        ]);
        IntType { bits, signed }
    }

    fn random_cells(&mut self, scope: Scope, length: Option<u32>) -> CellData {
        let value = self.random_type();
        let initial = |rng: &mut Rng| match rng.below(20) {
            0 => value.min(),
            1 => value.max(),
            2..=12 => 0,
            _ => value.wrap(i64::try_from(rng.below(3)).expect("small")),
        };
        let default = initial(self.rng);
        let mut listed = Vec::new();
        for index in 0..length.unwrap_or(0) {
            if self.rng.chance(30) {
                listed.push((index, initial(self.rng)));
            }
        }
        CellData { scope, length, value, default, listed }
    }

    /// Makes all places, and the menu of statements.
    fn declare(&mut self) {
        let config = self.config;
        for idx in 0..1 + self.rng.below(config.max_globals) {
            let cells = self.random_cells(Scope::Global, None);
            let place = self.net.add_cells(&format!("g{idx}"), cells);
            self.globals.push(Location::Global(place));
        }
        if self.rng.chance(config.arrays) {
            let length = u32::try_from(1 + self.rng.below(3)).expect("small");
            let cells = self.random_cells(Scope::Global, Some(length));
            let place = self.net.add_cells("a", cells);
            self.globals.push(Location::Array(place, length));
        }
        if self.rng.chance(20) {
            let cells = self.random_cells(Scope::Thread, None);
            let place = self.net.add_cells("of thread", cells);
            self.globals.push(Location::OfThread(place));
        }
        self.menu = [[Step::Assign; 5].as_slice(), &[Step::Branch; 3], &[Step::Jump]].concat();
        self.declare_locks();
        if self.rng.chance(config.atomic) {
            let owner = CellData {
                scope: Scope::Global,
                length: None,
                value: IntType::U8,
                default: 0,
                listed: vec![],
            };
            self.net.atomic = Some(self.net.add_cells("atomic", owner));
            self.net.atomic_yields = self.rng.chance(config.yields);
            self.menu.extend([Step::AtomicBegin, Step::AtomicBegin]);
        }
        for (percent, steps) in [
            (config.assumes, vec![Step::Assume]),
            (config.asserts, vec![Step::Assert]),
            (config.choices, vec![Step::Choice]),
            (config.calls, vec![Step::Call, Step::Call]),
            (config.partners, vec![Step::Meet, Step::Meet, Step::Await]),
            (30, vec![Step::Join(self.n_threads - 1)]),
            (5, vec![Step::JoinAny]),
            (10, vec![Step::ThreadEnd]),
            (5, vec![Step::ProcessEnd]),
            (5, vec![Step::Error]),
            (5, vec![Step::Library]),
            (config.wild_create, vec![Step::Create]),
        ] {
            if self.rng.chance(percent) {
                self.menu.extend(steps);
            }
        }
        if self.rng.chance(config.indivisible) {
            let cells = CellData { default: 0, ..self.random_cells(Scope::Global, None) };
            self.net.indivisible = Some(self.net.add_cells("indivisible", cells));
            self.menu.extend([Step::SequenceBegin, Step::SequenceBegin]);
        }
        if self.n_threads > 1 && self.rng.chance(config.recreation) {
            let length = Some(self.net.max_threads);
            let value = IntType { bits: 1, signed: false };
            let cells = CellData { scope: Scope::Global, length, value, default: 0, listed: vec![(0, 1)] };
            self.used = Some(self.net.add_cells("used", cells));
            self.net.done = None;
            if self.rng.chance(50) {
                self.net.ended = None;
            }
            self.menu.retain(|step| !matches!(step, Step::Join(_) | Step::JoinAny));
            self.menu.push(Step::Create);
        }
        self.sampled = self.rng.chance(config.sampled);
        self.declare_functions();
    }

    fn declare_locks(&mut self) {
        if !self.rng.chance(self.config.locks) {
            return;
        }
        let owner =
            CellData { scope: Scope::Global, length: None, value: IntType::U8, default: 0, listed: vec![] };
        for idx in 0..1 + self.rng.below(2) {
            let mutex = self.net.add_cells(&format!("m{idx}"), owner.clone());
            self.mutexes.push(mutex);
            self.menu.extend([Step::Lock(mutex), Step::Lock(mutex)]);
            if self.rng.chance(10) {
                self.menu.push(Step::TryLock(mutex));
            }
            if self.rng.chance(5) {
                self.menu.push(Step::Unlock(mutex));
            }
        }
        if self.rng.chance(50) {
            let waiters = self.net.add_token_place("waiters", PlaceKind::Variable, vec![Base::Thread]);
            let woken = self.net.add_token_place("woken", PlaceKind::Variable, vec![Base::Thread]);
            let condition = Condition { waiters, woken };
            self.conditions.push(condition);
            let mutex = self.mutexes[0];
            self.menu.extend([Step::Wait(mutex, condition), Step::Wait(mutex, condition)]);
            self.menu.extend([Step::Signal(condition), Step::Broadcast(condition)]);
        }
        if self.rng.chance(20) {
            let default = i64::try_from(self.rng.below(2)).expect("small");
            let semaphore = self.net.add_cells("s", CellData { default, ..owner });
            self.semaphore = Some(semaphore);
            self.menu.extend([Step::Take(semaphore), Step::Post(semaphore)]);
        }
    }

    fn declare_functions(&mut self) {
        let max_functions = usize::try_from(self.net.max_depth).expect("small") - 1;
        for idx in 0..max_functions {
            let name = if idx == 0 { "main".to_owned() } else { format!("f{idx}") };
            let function = self.net.functions.next_index();
            let n_steps = 3 + self.rng.below(self.config.max_steps.max(3) - 2);
            let n_planned = if idx == 0 { 2 * (self.n_threads - 1) } else { 0 };
            let mut places = Vec::new();
            for step in 0..=n_steps.max(n_planned) {
                let place = self.new_frame_place(&format!("{name}.{step}"), function);
                places.push(place);
            }
            let (entry, exit) = (places[0], *places.last().expect("two at least"));
            self.net.functions.push(FunctionData { name: name.clone(), entry, exit, pos: None });
            let cells = self.random_cells(Scope::Frame(function), None);
            let local = self.net.add_cells(&format!("{name}::v"), cells);
            let cells = self.random_cells(Scope::Frame(function), None);
            let result = self.net.add_cells(&format!("{name}::result"), cells);
            self.functions.push(Skeleton { function, places, local, result });
        }
        let main_entry = self.functions[0].places[0];
        self.net.places[main_entry].form = PlaceForm::Tokens { initial: vec![vec![0, 0]] };
    }

    fn new_frame_place(&mut self, name: &str, function: Function) -> Place {
        let place = self.net.add_token_place(name, PlaceKind::Execution, vec![Base::Thread, Base::Depth]);
        self.net.places[place].function = Some(function);
        place
    }

    /// Makes the transitions of a function.
    fn fill(&mut self, function_idx: usize) {
        let n_steps = self.functions[function_idx].places.len() - 1;
        let mut planned: Vec<Option<Step>> = vec![None; n_steps];
        if function_idx == 0 {
            let n_created = self.n_threads - 1;
            planned[..n_created].fill(Some(Step::Create));
            if self.rng.chance(60) && self.net.done.is_some() {
                for thread in 1..=n_created {
                    planned[n_steps - thread] = Some(Step::Join(thread));
                }
            }
        }
        for at in 0..n_steps {
            let step = match planned[at] {
                Some(step) => step,
                None => {
                    let step = *self.rng.pick(&self.menu);
                    self.plan(step, &mut planned[at..])
                }
            };
            self.emit(step, function_idx, at);
        }
        self.emit_exit(function_idx);
    }

    /// What a statement brings with it later: a lock its unlock, an atomic section its end, a wait the lock
    /// around it. The result is the statement to begin with.
    fn plan(&mut self, step: Step, rest: &mut [Option<Step>]) -> Step {
        let end = rest.iter().skip(1).position(Option::is_some).map_or(rest.len(), |at| at + 1);
        let later = |rng: &mut Rng, from: usize| (from < end).then(|| from + rng.below((end - from).min(3)));
        match step {
            Step::Lock(mutex) => {
                if let Some(at) = later(self.rng, 1).filter(|_| self.rng.chance(90)) {
                    rest[at] = Some(Step::Unlock(mutex));
                }
                step
            }
            Step::AtomicBegin => {
                if let Some(at) = later(self.rng, 1).filter(|_| self.rng.chance(95)) {
                    rest[at] = Some(Step::AtomicEnd);
                }
                step
            }
            Step::SequenceBegin => {
                if let Some(at) = later(self.rng, 1).filter(|_| self.rng.chance(95)) {
                    rest[at] = Some(Step::SequenceEnd);
                }
                step
            }
            Step::Wait(mutex, _) if end > 2 && self.rng.chance(90) => {
                rest[1] = Some(step);
                rest[2] = Some(Step::Unlock(mutex));
                Step::Lock(mutex)
            }
            step => step,
        }
    }

    /// Says which variables are memory, and which steps are atomic operations.
    fn mark_memory(&mut self) {
        let locals = self.functions.iter().map(|skeleton| skeleton.local);
        let variables: Vec<Place> = self.globals.iter().map(|at| at.place()).chain(locals).collect();
        for place in variables {
            self.net.places[place].memory = self.rng.chance(self.config.memory);
        }
        let transitions: Vec<_> = self.net.transitions.indices().collect();
        for transition in transitions {
            self.net.transitions[transition].atomic = self.rng.chance(self.config.atomic_steps);
        }
    }

    /// Gives some steps a rank, and lets some be late.
    fn mark_priorities(&mut self) {
        let (has_ranks, has_late) = (self.rng.chance(self.config.ranks), self.rng.chance(self.config.late));
        let transitions: Vec<_> = self.net.transitions.indices().collect();
        for transition in transitions {
            if has_ranks && self.rng.chance(40) {
                self.net.transitions[transition].rank = *self.rng.pick(&[1, 2, u8::MAX]);
            }
            self.net.transitions[transition].late = has_late && self.rng.chance(15);
        }
    }

    fn start(&self, action: Action, function_idx: usize, from: Place, label: &str) -> TransitionBuilder {
        let function = self.functions[function_idx].function;
        let mut builder = TransitionBuilder::new(action, function, from, label);
        if let (Some(used), Action::ThreadEnd) = (self.used, action) {
            builder.write(used, vec![TransitionBuilder::thread()], Expr::Const(0));
        }
        builder
    }

    /// A place of the function to jump to.
    fn jump_target(&mut self, function_idx: usize, at: usize) -> Place {
        let n_places = self.functions[function_idx].places.len();
        let first = if function_idx == 0 { self.n_threads - 1 } else { 0 };
        let target = if self.rng.chance(self.config.loops) && at >= first {
            first + self.rng.below(at - first + 1)
        } else {
            at + 1 + self.rng.below((n_places - at - 1).min(3))
        };
        self.functions[function_idx].places[target]
    }

    /// A variable that the function can use.
    fn random_location(&mut self, function_idx: usize) -> Location {
        match self.rng.below(8) {
            0 => Location::Local(self.functions[function_idx].local),
            1 => Location::Local(self.functions[function_idx].result),
            _ => *self.rng.pick(&self.globals),
        }
    }

    /// The key of a location, with arcs for what must be read to know it.
    fn key(&mut self, builder: &mut TransitionBuilder, location: Location) -> Vec<Expr> {
        match location {
            Location::Global(_) => vec![],
            Location::OfThread(_) => vec![TransitionBuilder::thread()],
            Location::Local(_) => TransitionBuilder::frame(),
            Location::Array(_, length) => {
                let length = i64::from(length);
                let index = match self.rng.below(4) {
                    0 => Expr::Const(i64::try_from(self.rng.below(3)).expect("small") % length),
                    1 => Expr::binary(
                        BinaryOp::Rem,
                        IntType::I64,
                        TransitionBuilder::thread(),
                        Expr::Const(length),
                    ),
                    2 => Expr::Var(builder.choose("i", Base::Int(IntType::I64), whole_range(0, length - 1))),
                    _ => {
                        let Location::Global(place) = self.globals[0] else {
                            unreachable!("the first is a scalar")
                        };
                        let value = builder.read(&self.net, place, vec![]);
                        if self.rng.chance(self.config.wild_index) {
                            return vec![value];
                        }
                        let low = Expr::binary(BinaryOp::And, IntType::I64, value, Expr::Const(3));
                        Expr::binary(BinaryOp::Rem, IntType::I64, low, Expr::Const(length))
                    }
                };
                vec![index]
            }
        }
    }

    fn type_of(&self, place: Place) -> IntType {
        self.net.places[place].cells().expect("a variable").value
    }

    fn read(&mut self, builder: &mut TransitionBuilder, location: Location) -> Expr {
        let key = self.key(builder, location);
        if self.rng.chance(self.config.conditional_arcs) {
            let var = builder.var("maybe", Base::Int(self.type_of(location.place())));
            let parity =
                Expr::binary(BinaryOp::And, IntType::I64, TransitionBuilder::thread(), Expr::Const(1));
            builder.arc(ArcData::Read { place: location.place(), key, var, when: Some(parity) });
            return Expr::Var(var);
        }
        builder.read(&self.net, location.place(), key)
    }

    /// A small value made of one or two variables, or a constant.
    fn value(&mut self, builder: &mut TransitionBuilder, function_idx: usize) -> Expr {
        if self.rng.chance(30) {
            return Expr::Const(i64::try_from(self.rng.below(3)).expect("small"));
        }
        let first = self.random_location(function_idx);
        let ty = self.type_of(first.place());
        let first = self.read(builder, first);
        let one = Expr::Const(ty.wrap(1));
        match self.rng.below(7) {
            0 => Expr::binary(BinaryOp::Xor, ty, first, one),
            1 => {
                let sum = Expr::binary(BinaryOp::Add, ty, first, one);
                Expr::binary(BinaryOp::And, IntType::I64, sum, Expr::Const(1))
            }
            2 => {
                let sum = Expr::binary(BinaryOp::Add, ty, first, one);
                Expr::binary(BinaryOp::Rem, IntType::I32, Expr::convert(IntType::I32, sum), Expr::Const(3))
            }
            3 => Expr::cond(Expr::equal(first, Expr::Const(1)), Expr::Const(-1), Expr::Const(1)),
            4 => Expr::unary(pdnet_net::UnaryOp::Neg, ty, first),
            5 => {
                let second = self.random_location(function_idx);
                let second = self.read(builder, second);
                let second = Expr::convert(ty, second);
                let ops =
                    [BinaryOp::And, BinaryOp::Or, BinaryOp::Shr, BinaryOp::Div, BinaryOp::Rem, BinaryOp::Sub];
                let op = *self.rng.pick(&ops);
                // Differences would otherwise go through all values of their type.
                let mask = if op == BinaryOp::Sub { Expr::Const(1) } else { Expr::Const(ty.wrap(-1)) };
                Expr::binary(BinaryOp::And, ty, Expr::binary(op, ty, first, second), mask)
            }
            _ => first,
        }
    }

    fn condition(&mut self, builder: &mut TransitionBuilder, function_idx: usize) -> Expr {
        let location = self.random_location(function_idx);
        let ty = self.type_of(location.place());
        let left = self.read(builder, location);
        let right = if self.rng.chance(20) {
            let other = self.random_location(function_idx);
            let right = self.read(builder, other);
            Expr::convert(ty, right)
        } else {
            Expr::Const(ty.wrap(i64::try_from(self.rng.below(3)).expect("small")))
        };
        let op = *self.rng.pick(&[BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le]);
        Expr::binary(op, ty, left, right)
    }

    /// A condition that is true of most values: assumptions and assertions that fail at once hide the rest.
    fn likely_condition(&mut self, builder: &mut TransitionBuilder, function_idx: usize) -> Expr {
        let location = self.random_location(function_idx);
        let ty = self.type_of(location.place());
        let left = self.read(builder, location);
        let odd = Expr::Const(ty.wrap(*self.rng.pick(&[2, 3, -1])));
        Expr::binary(BinaryOp::Ne, ty, left, odd)
    }

    fn write(&mut self, builder: &mut TransitionBuilder, location: Location, value: Expr) {
        let key = self.key(builder, location);
        let when = self.rng.chance(self.config.conditional_arcs).then(|| Expr::truth(value.clone()));
        builder.arc(ArcData::Write { place: location.place(), key, value, when });
    }

    /// Two transitions from `from`: one where a random condition is true, one where it is not. Each has an
    /// action, and the place that the frame goes on to unless the action ends it.
    fn emit_condition(
        &mut self,
        function_idx: usize,
        from: Place,
        yes: (Action, Option<Place>),
        no: (Action, Option<Place>),
    ) {
        // The same random numbers give both transitions the same arcs.
        let before = self.rng.clone();
        for ((action, to), negate) in [(yes, false), (no, true)] {
            *self.rng = before.clone();
            let mut builder = self.start(action, function_idx, from, "condition");
            let condition = if matches!(yes.0, Action::Assume | Action::Jump) && self.rng.chance(75) {
                self.likely_condition(&mut builder, function_idx)
            } else {
                self.condition(&mut builder, function_idx)
            };
            builder.guard(if negate { Expr::logical_not(condition) } else { condition });
            self.finish(builder, to);
        }
    }

    fn finish(&mut self, builder: TransitionBuilder, to: Option<Place>) {
        let builder = match to {
            Some(place) => builder.to(place),
            None => builder,
        };
        builder.finish(&mut self.net);
    }

    fn emit(&mut self, step: Step, function_idx: usize, at: usize) {
        let from = self.functions[function_idx].places[at];
        let next = self.functions[function_idx].places[at + 1];
        match step {
            Step::Assign => {
                let mut builder = self.start(Action::Assign, function_idx, from, "assign");
                let value = self.value(&mut builder, function_idx);
                let location = self.random_location(function_idx);
                self.write(&mut builder, location, value);
                self.finish(builder, Some(next));
            }
            Step::Branch => {
                let target = self.jump_target(function_idx, at);
                let (yes, no) = if self.rng.chance(50) { (next, target) } else { (target, next) };
                self.emit_condition(
                    function_idx,
                    from,
                    (Action::BranchTrue, Some(yes)),
                    (Action::BranchFalse, Some(no)),
                );
            }
            Step::Jump => {
                let target = self.jump_target(function_idx, at);
                let builder = self.start(Action::Jump, function_idx, from, "jump");
                self.finish(builder, Some(target));
            }
            Step::Choice => self.emit_choice(function_idx, from, next),
            Step::Lock(mutex) => {
                self.emit_guarded(Action::Lock, function_idx, (from, next), mutex, LockState::Free)
            }
            Step::TryLock(mutex) => {
                self.emit_guarded(Action::Lock, function_idx, (from, next), mutex, LockState::Free);
                let target = self.jump_target(function_idx, at);
                let mut builder = self.start(Action::Library, function_idx, from, "try-lock fails");
                let owner = builder.read(&self.net, mutex, vec![]);
                builder.guard(Expr::truth(owner));
                self.finish(builder, Some(target));
            }
            Step::Unlock(mutex) => {
                self.emit_guarded(Action::Unlock, function_idx, (from, next), mutex, LockState::Mine);
                self.emit_not_owner(function_idx, from, mutex);
            }
            Step::Wait(mutex, condition) => self.emit_wait(function_idx, from, next, mutex, condition),
            Step::Signal(condition) => self.emit_signal(function_idx, from, next, condition),
            Step::Broadcast(condition) => {
                let mut builder = self.start(Action::Broadcast, function_idx, from, "broadcast");
                builder.arc(ArcData::Drain { place: condition.waiters, prefix: vec![], to: condition.woken });
                self.finish(builder, Some(next));
            }
            Step::Take(semaphore) => {
                let mut builder = self.start(Action::Lock, function_idx, from, "take");
                let count = builder.read(&self.net, semaphore, vec![]);
                builder.guard(Expr::truth(count.clone()));
                let less = Expr::binary(BinaryOp::Sub, IntType::U8, count, Expr::Const(1));
                builder.write(semaphore, vec![], less);
                self.finish(builder, Some(next));
            }
            Step::Post(semaphore) => {
                let mut builder = self.start(Action::Unlock, function_idx, from, "post");
                let count = builder.read(&self.net, semaphore, vec![]);
                let more = Expr::binary(BinaryOp::Add, IntType::U8, count, Expr::Const(1));
                // The count stays below 3: a post in a loop would otherwise count for a long time.
                builder.write(
                    semaphore,
                    vec![],
                    Expr::binary(BinaryOp::Rem, IntType::U8, more, Expr::Const(3)),
                );
                self.finish(builder, Some(next));
            }
            Step::AtomicBegin => self.emit_atomic(Action::AtomicBegin, function_idx, from, next),
            Step::AtomicEnd => self.emit_atomic(Action::AtomicEnd, function_idx, from, next),
            Step::SequenceBegin | Step::SequenceEnd => {
                let mut builder = self.start(Action::Assign, function_idx, from, "sequence");
                let inside = self.net.indivisible.expect("declared where it is in the menu");
                let value = if step == Step::SequenceBegin { -1 } else { 0 };
                builder.write(inside, vec![], Expr::Const(value));
                self.finish(builder, Some(next));
            }
            Step::Meet => self.emit_meet(function_idx, from, next),
            Step::Await => self.awaits.push((function_idx, at)),
            Step::Assume => {
                self.emit_condition(
                    function_idx,
                    from,
                    (Action::Assume, Some(next)),
                    (Action::AssumeFail, None),
                );
            }
            Step::Assert => {
                self.emit_condition(
                    function_idx,
                    from,
                    (Action::Jump, Some(next)),
                    (Action::AssertFail, None),
                );
            }
            Step::Error => {
                self.emit_condition(
                    function_idx,
                    from,
                    (Action::Error, None),
                    (Action::BranchFalse, Some(next)),
                );
            }
            Step::Library => {
                let builder = self.start(Action::Library, function_idx, from, "printf").calling("printf");
                self.finish(builder, Some(next));
            }
            Step::Call => self.emit_call(function_idx, from, next),
            Step::Create => self.emit_create(function_idx, from, next),
            Step::Join(thread) => {
                let mut builder = self.start(Action::Join, function_idx, from, "join");
                let slot = i64::try_from(thread).expect("small");
                let thread = builder.read(&self.net, self.handle, vec![Expr::Const(slot)]);
                let done = self.net.done.expect("declared");
                builder.arc(ArcData::Test { place: done, token: vec![Pattern::Is(thread)] });
                self.finish(builder, Some(next));
            }
            Step::JoinAny => {
                let mut builder = self.start(Action::Join, function_idx, from, "join any");
                let thread = builder.var("u", Base::Thread);
                let done = self.net.done.expect("declared");
                builder.arc(ArcData::Test { place: done, token: vec![Pattern::Bind(thread)] });
                let location = self.random_location(function_idx);
                self.write(&mut builder, location, Expr::Var(thread));
                self.finish(builder, Some(next));
            }
            Step::ThreadEnd => {
                self.emit_condition(
                    function_idx,
                    from,
                    (Action::ThreadEnd, None),
                    (Action::BranchFalse, Some(next)),
                );
            }
            Step::ProcessEnd => {
                self.emit_condition(
                    function_idx,
                    from,
                    (Action::ProcessEnd, None),
                    (Action::BranchFalse, Some(next)),
                );
            }
        }
    }

    fn emit_choice(&mut self, function_idx: usize, from: Place, next: Place) {
        let mut builder = self.start(Action::Assign, function_idx, from, "input");
        let location = self.random_location(function_idx);
        let ty = self.type_of(location.place());
        let mut ranges = vec![(0, 1)];
        if ty.max() > 3 && self.rng.chance(30) {
            ranges.push((3, 3));
        }
        let domain = Domain { ranges, exact: !self.sampled };
        let value = Expr::Var(builder.choose("v", Base::Int(ty), domain));
        self.write(&mut builder, location, value);
        self.finish(builder, Some(next));
    }

    fn emit_guarded(
        &mut self,
        action: Action,
        function_idx: usize,
        (from, next): (Place, Place),
        mutex: Place,
        state: LockState,
    ) {
        let mut builder = self.start(action, function_idx, from, action.name());
        let owner = builder.read(&self.net, mutex, vec![]);
        let (expected, new) = match state {
            LockState::Free => (Expr::Const(0), owner_mark()),
            LockState::Mine => (owner_mark(), Expr::Const(0)),
        };
        builder.guard(Expr::equal(owner, expected));
        builder.write(mutex, vec![], new);
        self.finish(builder, Some(next));
    }

    fn emit_not_owner(&mut self, function_idx: usize, from: Place, mutex: Place) {
        let mut builder = self.start(Action::Fault(Fault::NotOwner), function_idx, from, "not the owner");
        let owner = builder.read(&self.net, mutex, vec![]);
        builder.guard(Expr::logical_not(Expr::equal(owner, owner_mark())));
        self.finish(builder, None);
    }

    fn emit_wait(
        &mut self,
        function_idx: usize,
        from: Place,
        next: Place,
        mutex: Place,
        condition: Condition,
    ) {
        let function = self.functions[function_idx].function;
        let waiting = self.new_frame_place("waiting", function);
        let mut builder = self.start(Action::Wait1, function_idx, from, "wait1");
        let owner = builder.read(&self.net, mutex, vec![]);
        builder.guard(Expr::equal(owner, owner_mark()));
        builder.write(mutex, vec![], Expr::Const(0));
        builder.arc(ArcData::Put { place: condition.waiters, token: vec![TransitionBuilder::thread()] });
        self.finish(builder, Some(waiting));
        self.emit_not_owner(function_idx, from, mutex);
        if self.rng.chance(self.config.spurious) {
            let mut builder = self.start(Action::Wait2, function_idx, waiting, "wait2");
            let me = vec![Pattern::Is(TransitionBuilder::thread())];
            builder.arc(ArcData::Take { place: condition.waiters, token: me });
            builder.arc(ArcData::Put { place: condition.woken, token: vec![TransitionBuilder::thread()] });
            self.finish(builder, Some(waiting));
        }
        let mut builder = self.start(Action::Wait3, function_idx, waiting, "wait3");
        let me = vec![Pattern::Is(TransitionBuilder::thread())];
        builder.arc(ArcData::Take { place: condition.woken, token: me });
        let owner = builder.read(&self.net, mutex, vec![]);
        builder.guard(Expr::equal(owner, Expr::Const(0)));
        builder.write(mutex, vec![], owner_mark());
        self.finish(builder, Some(next));
    }

    fn emit_signal(&mut self, function_idx: usize, from: Place, next: Place, condition: Condition) {
        let mut builder = self.start(Action::Signal, function_idx, from, "signal");
        let waiter = builder.var("w", Base::Thread);
        builder.arc(ArcData::Take { place: condition.waiters, token: vec![Pattern::Bind(waiter)] });
        builder.arc(ArcData::Put { place: condition.woken, token: vec![Expr::Var(waiter)] });
        self.finish(builder, Some(next));
        let mut builder = self.start(Action::Signal, function_idx, from, "signal, none waits");
        builder.arc(ArcData::Inhibit { place: condition.waiters, prefix: vec![] });
        self.finish(builder, Some(next));
    }

    fn emit_atomic(&mut self, action: Action, function_idx: usize, from: Place, next: Place) {
        let atomic = self.net.atomic.expect("declared where it is in the menu");
        let mut builder = self.start(action, function_idx, from, action.name());
        let value = if action == Action::AtomicBegin { owner_mark() } else { Expr::Const(0) };
        builder.write(atomic, vec![], value);
        self.finish(builder, Some(next));
    }

    /// A step that moves another thread's frame too, and gives it a value.
    fn emit_meet(&mut self, function_idx: usize, from: Place, next: Place) {
        let (partner_idx, at) = match self.awaits.as_slice() {
            [_, ..] if self.rng.chance(70) => *self.rng.pick(&self.awaits),
            _ => {
                let partner_idx = self.rng.below(self.functions.len());
                (partner_idx, self.rng.below(self.functions[partner_idx].places.len() - 1))
            }
        };
        let Skeleton { places, local, result, .. } = &self.functions[partner_idx];
        let (place, after, local, result) = (places[at], places[at + 1], *local, *result);
        let mut builder = self.start(Action::Assign, function_idx, from, "meet");
        let thread = builder.var("u", Base::Thread);
        let depth = builder.var("e", Base::Depth);
        builder.arc(ArcData::Take { place, token: vec![Pattern::Bind(thread), Pattern::Bind(depth)] });
        let frame = vec![Expr::Var(thread), Expr::Var(depth)];
        builder.guard(Expr::logical_not(Expr::equal(Expr::Var(thread), TransitionBuilder::thread())));
        if self.rng.chance(40) {
            let value = builder.read(&self.net, result, frame.clone());
            let location = self.random_location(function_idx);
            self.write(&mut builder, location, value);
        }
        // Now and then the other frame is left.
        if !self.rng.chance(5) {
            let value = self.value(&mut builder, function_idx);
            builder.write(local, frame.clone(), value);
            builder.arc(ArcData::Put { place: after, token: frame });
        }
        self.finish(builder, Some(next));
    }

    fn emit_call(&mut self, function_idx: usize, from: Place, next: Place) {
        let n_functions = self.functions.len();
        let callee = if self.rng.chance(self.config.recursion) || function_idx + 1 == n_functions {
            // Without recursion the last function has nobody to call.
            if !self.rng.chance(self.config.recursion) {
                return self.emit(Step::Assign, function_idx, self.position(function_idx, from));
            }
            self.rng.below(n_functions)
        } else {
            function_idx + 1 + self.rng.below(n_functions - function_idx - 1)
        };
        let function = self.functions[function_idx].function;
        let site = self.new_frame_place("return site", function);
        let entry = self.functions[callee].places[0];
        let exit = *self.functions[callee].places.last().expect("not empty");
        let name = self.net.functions[self.functions[callee].function].name.clone();
        let max_depth = Expr::Const(i64::from(self.net.max_depth));
        let deeper = Expr::binary(BinaryOp::Add, IntType::I64, TransitionBuilder::depth(), Expr::Const(1));
        let fits = Expr::binary(BinaryOp::Lt, IntType::I64, deeper.clone(), max_depth);

        let mut builder = self.start(Action::Call, function_idx, from, "call").calling(name);
        builder.guard(fits.clone());
        let parameter = self.value(&mut builder, function_idx);
        let frame = vec![TransitionBuilder::thread(), deeper.clone()];
        builder.write(self.functions[callee].local, frame.clone(), parameter);
        builder.arc(ArcData::Put { place: entry, token: frame.clone() });
        self.finish(builder, Some(site));

        let mut builder = self.start(Action::Bound(Bound::Depth), function_idx, from, "too deep");
        builder.guard(Expr::logical_not(fits));
        self.finish(builder, None);

        let callee_frame = frame.iter().cloned().map(Pattern::Is).collect();
        let mut builder = self.start(Action::Return, function_idx, site, "return");
        builder.arc(ArcData::Take { place: exit, token: callee_frame });
        let result = builder.read(&self.net, self.functions[callee].result, frame);
        let location = self.random_location(function_idx);
        self.write(&mut builder, location, result);
        self.finish(builder, Some(next));
    }

    fn position(&self, function_idx: usize, place: Place) -> usize {
        let places = &self.functions[function_idx].places;
        places.iter().position(|&other| other == place).expect("a place of the function")
    }

    fn emit_create(&mut self, function_idx: usize, from: Place, next: Place) {
        if self.functions.len() == 1 {
            return self.emit(Step::Assign, function_idx, self.position(function_idx, from));
        }
        let callee = 1 + self.rng.below(self.functions.len() - 1);
        let entry = self.functions[callee].places[0];
        let max_threads = i64::from(self.net.max_threads);
        if let Some(used) = self.used {
            let mut builder = self.start(Action::Create, function_idx, from, "create");
            let numbers = whole_range(0, max_threads - 1);
            let number = Expr::Var(builder.choose("u", Base::Thread, numbers));
            let is_used = builder.read(&self.net, used, vec![number.clone()]);
            builder.guard(Expr::logical_not(is_used));
            builder.write(used, vec![number.clone()], Expr::Const(1));
            builder.arc(ArcData::Put { place: entry, token: vec![number, Expr::Const(0)] });
            return self.finish(builder, Some(next));
        }
        for fits in [true, false] {
            let action = if fits { Action::Create } else { Action::Bound(Bound::Threads) };
            let mut builder = self.start(action, function_idx, from, "create");
            let number = builder.read(&self.net, self.counter, vec![]);
            let is_left = Expr::binary(BinaryOp::Lt, IntType::I64, number.clone(), Expr::Const(max_threads));
            if !fits {
                builder.guard(Expr::logical_not(is_left));
                self.finish(builder, None);
                continue;
            }
            builder.guard(is_left);
            let more = Expr::binary(BinaryOp::Add, IntType::U8, number.clone(), Expr::Const(1));
            builder.write(self.counter, vec![], more);
            builder.write(self.handle, vec![number.clone()], number.clone());
            builder.arc(ArcData::Put { place: entry, token: vec![number, Expr::Const(0)] });
            self.finish(builder, Some(next));
        }
    }

    /// The end of a function that was not called but is where a thread began.
    fn emit_exit(&mut self, function_idx: usize) {
        let exit = *self.functions[function_idx].places.last().expect("not empty");
        let action =
            if function_idx == 0 && self.rng.chance(60) { Action::ProcessEnd } else { Action::ThreadEnd };
        let mut builder = self.start(action, function_idx, exit, "end");
        builder.guard(Expr::equal(TransitionBuilder::depth(), Expr::Const(0)));
        self.finish(builder, None);
    }
}

/// What a step asks of a mutex.
#[derive(Clone, Copy)]
enum LockState {
    Free,
    Mine,
}

/// What a mutex holds while the moving thread has it.
fn owner_mark() -> Expr {
    Expr::binary(BinaryOp::Add, IntType::I64, TransitionBuilder::thread(), Expr::Const(1))
}

fn whole_range(low: i64, high: i64) -> Domain {
    Domain { ranges: vec![(low, high)], exact: true }
}
