//! Small programs as nets built by hand, and runs of them written as lists of steps.

#![allow(dead_code, reason = "each test uses some of the programs")]

use pdnet_check::{AtomData, Fairness, Property, PropertyKind, Replay, Stats, Trace, TraceEnd, replay};
use pdnet_logic::Ltl;
use pdnet_net::{
    Action, ArcData, Base, CellData, Expr, Fault, Firing, Function, FunctionData, IntType, Interpreter,
    Marking, Net, Pattern, Place, PlaceForm, PlaceKind, Scope, Successor, TransitionBuilder, verify_net,
};
use pdnet_report::{Answer, Origin, Probe, PropertyResult, Report, Timings};
use pdnet_source::{File, Pos, SourceMap};

/// A program: its text and its net.
pub(crate) struct Program {
    pub(crate) map: SourceMap,
    pub(crate) net: Net,
    file: File,
}

impl Program {
    fn new(name: &str, text: &str) -> Self {
        let mut map = SourceMap::new();
        let file = map.add(name, text);
        let mut net = Net { name: name.to_owned(), files: vec![name.to_owned()], ..Net::default() };
        net.max_threads = 4;
        net.max_depth = 4;
        net.done = Some(net.add_token_place("done", PlaceKind::Execution, vec![Base::Thread]));
        net.ended = Some(net.add_token_place("ended", PlaceKind::Execution, vec![]));
        Self { map, net, file }
    }

    fn function(&mut self, name: &str) -> Function {
        let entry = self.net.add_token_place(name, PlaceKind::Execution, vec![Base::Thread, Base::Depth]);
        let exit = self.net.add_token_place(
            &format!("{name} exit"),
            PlaceKind::Execution,
            vec![Base::Thread, Base::Depth],
        );
        let data = FunctionData { name: name.to_owned(), entry, exit, pos: None };
        let function = self.net.functions.push(data);
        self.net.places[entry].function = Some(function);
        self.net.places[exit].function = Some(function);
        if name == "main" {
            self.net.places[entry].form = PlaceForm::Tokens { initial: vec![vec![0, 0]] };
        }
        function
    }

    fn cell(&mut self, name: &str) -> Place {
        let value = IntType::I32;
        self.net.add_cells(
            name,
            CellData { scope: Scope::Global, length: None, value, default: 0, listed: vec![] },
        )
    }

    fn local(&mut self, name: &str, function: Function, internal: bool) -> Place {
        let scope = Scope::Frame(function);
        let place = self.net.add_cells(
            name,
            CellData { scope, length: None, value: IntType::I32, default: 0, listed: vec![] },
        );
        self.net.places[place].internal = internal;
        place
    }

    fn place(&mut self, function: Function) -> Place {
        let name = format!("at {}", self.net.places.len());
        let place = self.net.add_token_place(&name, PlaceKind::Execution, vec![Base::Thread, Base::Depth]);
        self.net.places[place].function = Some(function);
        place
    }

    /// Adds a step from one place to another; `None` for a step after which the frame is gone.
    fn step(
        &mut self,
        action: Action,
        (function, from, to): (Function, Place, Option<Place>),
        (line, label): (u32, &str),
        build: impl FnOnce(&Net, &mut TransitionBuilder),
    ) {
        let pos = Pos { file: self.file, line, column: 5 };
        let mut builder = TransitionBuilder::new(action, function, from, label).at(Some(pos));
        build(&self.net, &mut builder);
        let builder = if let Some(to) = to { builder.to(to) } else { builder };
        builder.finish(&mut self.net);
    }

    /// The replayed run of these steps, each a thread and the label of what it does.
    pub(crate) fn run(&self, property: &Property, prefix: &[(i64, &str)], end: End<'_>) -> Replay {
        assert_eq!(verify_net(&self.net), []);
        let mut marking = Interpreter::new(&self.net).initial();
        let prefix = self.fire(&mut marking, prefix);
        let end = match end {
            End::Any => TraceEnd::Any,
            End::Stutter => TraceEnd::Stutter,
            End::Cycle(steps) => TraceEnd::Cycle(self.fire(&mut marking, steps)),
        };
        replay(&self.net, property, Fairness::None, &Trace { prefix, end })
            .expect("a run that breaks the property")
    }

    fn fire(&self, marking: &mut Marking, steps: &[(i64, &str)]) -> Vec<Firing> {
        let interpreter = Interpreter::new(&self.net);
        let mut firings = Vec::new();
        for &(thread, label) in steps {
            let mut enabled = interpreter.enabled(marking).into_iter();
            let fits = |firing: &Firing| {
                firing.thread() == thread && self.net.transitions[firing.transition].label == label
            };
            let firing = enabled.find(fits).unwrap_or_else(|| panic!("thread {thread} cannot do `{label}`"));
            // What comes after a fault is not known; nothing may be asked of it.
            if let Successor::Marking(next) = interpreter.fire(marking, &firing) {
                *marking = next;
            }
            firings.push(firing);
        }
        firings
    }

    /// A report with one result.
    pub(crate) fn report<'a>(
        &'a self,
        property: &'a Property,
        answer: Answer,
        probes: Vec<Probe>,
    ) -> Report<'a> {
        let stats = Stats {
            states: 12,
            states_outside: None,
            states_reduced: None,
            transitions: 20,
            seconds: 0.25,
            peak_memory_bytes: 3 << 20,
            ..Stats::default()
        };
        let result = PropertyResult {
            property,
            fairness: Fairness::None,
            engine: "explicit",
            stats,
            answer,
            slice: None,
            merge: None,
            origin: Origin::Search,
            probes,
        };
        Report {
            legend: None,
            unreached: None,
            version: "0.0.0",
            input: self.net.name.clone(),
            net: &self.net,
            map: &self.map,
            results: vec![result],
            task: None,
            reductions: vec![],
            slices: vec![],
            merges: vec![],
            timings: Timings { reading: 0.25, modelling: 0.5 },
            notes: vec![],
        }
    }

    /// `G ! (x == value)`, and so on: a formula over one atom that compares a global with a number.
    pub(crate) fn formula(&self, name: &str, value: i64, ltl: impl FnOnce(Ltl) -> Ltl) -> Property {
        let place = self.net.find_place(name, PlaceKind::Variable).expect("a variable");
        let expr = Expr::equal(Expr::Cell(place, vec![]), Expr::Const(value));
        let atom = AtomData { text: format!("{name} == {value}"), expr };
        let formula = ltl(Ltl::atom(pdnet_base::Idx::new(0)));
        let text = formula.display(std::slice::from_ref(&atom.text)).to_string();
        let kind = PropertyKind::Ltl { formula, atoms: vec![atom] };
        Property { name: "ltl-1".to_owned(), text, class: "valid-ltl", kind }
    }
}

/// How a run goes on.
pub(crate) enum End<'a> {
    Any,
    Stutter,
    Cycle(&'a [(i64, &'a str)]),
}

fn create(net: &Net, builder: &mut TransitionBuilder, function: Function, thread: i64) {
    let entry = net.functions[function].entry;
    builder.arc(ArcData::Put { place: entry, token: vec![Expr::Const(thread), Expr::Const(0)] });
}

/// Adds `x = x + 1` in two steps.
fn increment(program: &mut Program, x: Place, (function, from, to): (Function, Place, Place), line: u32) {
    let middle = program.place(function);
    let temporary = program.local("tmp", function, true);
    program.step(Action::Assign, (function, from, Some(middle)), (line, "read x"), |net, builder| {
        let value = builder.read(net, x, vec![]);
        builder.write(temporary, TransitionBuilder::frame(), value);
    });
    program.step(Action::Assign, (function, middle, Some(to)), (line, "write x"), |net, builder| {
        let value = builder.read(net, temporary, TransitionBuilder::frame());
        let sum = Expr::binary(pdnet_net::BinaryOp::Add, IntType::I32, value, Expr::Const(1));
        builder.write(x, vec![], sum);
    });
}

/// Two threads increment a counter without a lock; main asserts that no update is lost.
pub(crate) fn lost_update() -> Program {
    let text = "int x;\nvoid *worker(void *arg) {\n    x = x + 1;\n    return 0;\n}\nint main(void) {\n    \
                pthread_create(&t, 0, worker, 0);\n    x = x + 1;\n    pthread_join(t, 0);\n    \
                assert(x == 2);\n    return 0;\n}\n";
    let mut program = Program::new("src/lost.c", text);
    let x = program.cell("x");
    let main = program.function("main");
    let worker = program.function("worker");
    let [w0, w1] = [program.net.functions[worker].entry, program.place(worker)];
    increment(&mut program, x, (worker, w0, w1), 3);
    program.step(Action::ThreadEnd, (worker, w1, None), (4, "return 0"), |_, _| {});
    let m0 = program.net.functions[main].entry;
    let [m1, m2, m3] = [program.place(main), program.place(main), program.place(main)];
    let m4 = program.place(main);
    program.step(Action::Create, (main, m0, Some(m1)), (7, "create"), |net, builder| {
        create(net, builder, worker, 1);
    });
    increment(&mut program, x, (main, m1, m2), 8);
    program.step(Action::Join, (main, m2, Some(m3)), (9, "join"), |net, builder| {
        builder.arc(ArcData::Test { place: net.done.unwrap(), token: vec![Pattern::Is(Expr::Const(1))] });
    });
    let equal = |net: &Net, builder: &mut TransitionBuilder| {
        Expr::equal(builder.read(net, x, vec![]), Expr::Const(2))
    };
    program.step(Action::AssertFail, (main, m3, None), (10, "assert(x == 2)"), |net, builder| {
        let equal = equal(net, builder);
        builder.guard(Expr::logical_not(equal));
    });
    program.step(Action::Jump, (main, m3, Some(m4)), (10, "assert holds"), |net, builder| {
        let equal = equal(net, builder);
        builder.guard(equal);
    });
    program.step(Action::ProcessEnd, (main, m4, None), (11, "return 0"), |_, _| {});
    program
}

/// Adds a lock or unlock of a mutex.
fn lock(program: &mut Program, action: Action, mutex: Place, way: (Function, Place, Place), line: u32) {
    let (function, from, to) = way;
    let name = program.net.places[mutex].name.clone();
    let label = format!("{action} {name}");
    program.step(action, (function, from, Some(to)), (line, &label), |net, builder| {
        let owner = builder.read(net, mutex, vec![]);
        let me =
            Expr::binary(pdnet_net::BinaryOp::Add, IntType::I32, TransitionBuilder::thread(), Expr::Const(1));
        if action == Action::Lock {
            builder.guard(Expr::equal(owner, Expr::Const(0)));
            builder.write(mutex, vec![], me);
        } else {
            builder.guard(Expr::equal(owner, me));
            builder.write(mutex, vec![], Expr::Const(0));
        }
    });
}

/// Two threads take two mutexes in opposite order; main waits for the first of them.
pub(crate) fn abba() -> Program {
    let text = "void *first(void *arg) {\n    pthread_mutex_lock(&a);\n    pthread_mutex_lock(&b);\n}\n\
                void *second(void *arg) {\n    pthread_mutex_lock(&b);\n    pthread_mutex_lock(&a);\n}\n\
                int main(void) {\n    start(); pthread_join(t, 0);\n}\n";
    let mut program = Program::new("abba.c", text);
    let [a, b] = [program.cell("a"), program.cell("b")];
    let main = program.function("main");
    let m0 = program.net.functions[main].entry;
    let m1 = program.place(main);
    let m2 = program.place(main);
    let mut starts = Vec::new();
    for (name, outer, inner, line) in [("first", a, b, 2), ("second", b, a, 6)] {
        let function = program.function(name);
        let [p0, p1] = [program.net.functions[function].entry, program.place(function)];
        let p2 = program.place(function);
        lock(&mut program, Action::Lock, outer, (function, p0, p1), line);
        lock(&mut program, Action::Lock, inner, (function, p1, p2), line + 1);
        program.step(Action::ThreadEnd, (function, p2, None), (line + 2, "end"), |_, _| {});
        starts.push(function);
    }
    program.step(Action::Create, (main, m0, Some(m1)), (10, "create"), |net, builder| {
        create(net, builder, starts[0], 1);
        create(net, builder, starts[1], 2);
    });
    program.step(Action::Join, (main, m1, Some(m2)), (10, "join"), |net, builder| {
        builder.arc(ArcData::Test { place: net.done.unwrap(), token: vec![Pattern::Is(Expr::Const(1))] });
    });
    program.step(Action::ProcessEnd, (main, m2, None), (11, "return"), |_, _| {});
    program
}

/// Main spins until a thread has set a flag.
pub(crate) fn spin() -> Program {
    let text = "int flag;\nvoid *setter(void *arg) {\n    flag = 1;\n}\nint main(void) {\n    \
                pthread_create(&t, 0, setter, 0);\n    while (flag == 0);\n}\n";
    let mut program = Program::new("spin.c", text);
    let flag = program.cell("flag");
    let main = program.function("main");
    let setter = program.function("setter");
    let [s0, s1] = [program.net.functions[setter].entry, program.place(setter)];
    program.step(Action::Assign, (setter, s0, Some(s1)), (3, "flag = 1"), |_, builder| {
        builder.write(flag, vec![], Expr::Const(1));
    });
    program.step(Action::ThreadEnd, (setter, s1, None), (4, "end"), |_, _| {});
    let m0 = program.net.functions[main].entry;
    let [m1, m2] = [program.place(main), program.place(main)];
    program.step(Action::Create, (main, m0, Some(m1)), (6, "create"), |net, builder| {
        create(net, builder, setter, 1);
    });
    for (action, to, wanted) in [(Action::BranchTrue, m1, 0), (Action::BranchFalse, m2, 1)] {
        program.step(action, (main, m1, Some(to)), (7, "flag == 0"), |net, builder| {
            let value = builder.read(net, flag, vec![]);
            builder.guard(Expr::equal(value, Expr::Const(wanted)));
        });
    }
    program.step(Action::ProcessEnd, (main, m2, None), (8, "return"), |_, _| {});
    program
}

/// `x = 1; y = x / y;` with `y` 0.
pub(crate) fn division() -> Program {
    let text = "int x, y;\nint main(void) {\n    x = 1;\n    y = x / y;\n}\n";
    let mut program = Program::new("division.c", text);
    let [x, y] = [program.cell("x"), program.cell("y")];
    let main = program.function("main");
    let m0 = program.net.functions[main].entry;
    let m1 = program.place(main);
    program.step(Action::Assign, (main, m0, Some(m1)), (3, "x = 1"), |_, builder| {
        builder.write(x, vec![], Expr::Const(1));
    });
    let fault = Action::Fault(Fault::DivisionByZero);
    program.step(fault, (main, m1, None), (4, "division by zero"), |net, builder| {
        let divisor = builder.read(net, y, vec![]);
        builder.guard(Expr::equal(divisor, Expr::Const(0)));
    });
    program
}
