//! Random small C programs of which much has nothing to do with what a formula asks: the food of slicing.
//!
//! A program has two *camps* of variables. Statements stay mostly within one of them, threads have a home
//! in one, and a formula asks about one: so what the other camp does can be cut, unless it keeps somebody from
//! going on. That is what these programs are full of: loops that never end or that end only if another thread
//! helps, locks that are kept, joins of threads that do not end, semaphores that nobody posts, ends of the
//! process, assumptions, undefined behaviour. Here and there a value, a pointer or a call crosses over.
//!
//! Values are taken modulo 3, so that most programs have few states. Every statement stands on a line of its own,
//! and so does every brace, for [`crate::shrink_lines`].

use pdnet_base::Rng;

use crate::random_formula::random_formula;

/// A program, without the declarations of the thread library, and what formulas can say of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sliceable {
    /// The text.
    pub text: String,
    /// What can be compared with a small number, by camp: `g0`, `s0.f`, `thr0::v`.
    pub values: [Vec<String>; 2],
    /// Mutexes.
    pub mutexes: Vec<String>,
    /// Condition variables.
    pub conditions: Vec<String>,
    /// The threads beside main as a formula names them.
    pub threads: Vec<String>,
    /// Functions that are called, of the library too.
    pub calls: Vec<String>,
    /// Labels, with the function that they are in.
    pub labels: Vec<(String, String)>,
    /// Whether there is the pointer `p0`.
    pub has_pointer: bool,
}

/// A random program.
#[must_use]
pub fn random_sliceable(rng: &mut Rng) -> Sliceable {
    let mut writer =
        Writer { rng, out: Sliceable::default(), menu: Vec::new(), n_names: 0, has: Features::default() };
    writer.program();
    writer.out
}

/// A random formula without next: about the values of one camp, and perhaps about where threads are.
#[must_use]
pub fn random_sliceable_formula(rng: &mut Rng, program: &Sliceable) -> String {
    let camp = rng.below(2);
    let n_atoms = 1 + rng.below(3);
    let atoms: Vec<String> = (0..n_atoms).map(|_| random_atom(rng, program, camp)).collect();
    random_formula(rng, n_atoms, 7).display(&atoms).to_string()
}

fn random_atom(rng: &mut Rng, program: &Sliceable, camp: usize) -> String {
    let mut others = vec!["end".to_owned(), "deadlock".to_owned()];
    let thread = if rng.chance(20) { "main" } else { rng.pick(&program.threads) };
    others.push(format!("terminated({thread})"));
    if !program.mutexes.is_empty() {
        others.push(format!("holds({thread}, {})", rng.pick(&program.mutexes)));
    }
    if !program.conditions.is_empty() {
        others.push(format!("waiting({thread}, {})", rng.pick(&program.conditions)));
    }
    if program.has_pointer {
        others.push(format!("p0 == &z{camp}"));
    }
    for _ in 0..2 {
        if !program.labels.is_empty() {
            let (function, label) = rng.pick(&program.labels);
            others.push(format!("at({function}, {label})"));
        }
        if !program.calls.is_empty() {
            others.push(format!("call({})", rng.pick(&program.calls)));
        }
    }
    if rng.chance(65) {
        let camp = if rng.chance(90) { camp } else { 1 - camp };
        let value = rng.pick(&program.values[camp]);
        let op = *rng.pick(&["==", "==", "==", "!=", "<", ">="]);
        return format!("{value} {op} {}", rng.below(3));
    }
    rng.pick(&others).clone()
}

/// The kinds of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Assign,
    Count,
    If,
    For,
    While,
    Do,
    Spin,
    Forever,
    Break,
    Switch,
    Jump,
    JumpBack,
    Label,
    Lock,
    TryLock,
    Wait,
    Signal,
    Down,
    Up,
    Barrier,
    Join,
    Atomic,
    Assume,
    Assert,
    Exit,
    ThreadExit,
    Return,
    Call,
    FunctionPointer,
    Recursion,
    Escape,
    Deref,
    Repoint,
    Once,
    Heap,
    Operation,
    Input,
    Fault,
}

/// What a program has, each with the chance in a hundred, and the weight in the programs that have it.
const MENU: &[(Kind, usize, usize)] = &[
    (Kind::Assign, 100, 5),
    (Kind::Count, 100, 4),
    (Kind::If, 100, 3),
    (Kind::For, 25, 1),
    (Kind::While, 25, 1),
    (Kind::Do, 10, 1),
    (Kind::Spin, 25, 1),
    (Kind::Forever, 20, 1),
    (Kind::Break, 15, 1),
    (Kind::Switch, 15, 1),
    (Kind::Jump, 15, 1),
    (Kind::JumpBack, 12, 1),
    (Kind::Label, 40, 1),
    (Kind::Lock, 40, 3),
    (Kind::TryLock, 12, 1),
    (Kind::Wait, 15, 1),
    (Kind::Signal, 15, 1),
    (Kind::Down, 15, 1),
    (Kind::Up, 15, 1),
    (Kind::Barrier, 6, 1),
    (Kind::Join, 8, 1),
    (Kind::Atomic, 20, 1),
    (Kind::Assume, 12, 1),
    (Kind::Assert, 30, 1),
    (Kind::Exit, 12, 1),
    (Kind::ThreadExit, 12, 1),
    (Kind::Return, 15, 1),
    (Kind::Call, 40, 2),
    (Kind::FunctionPointer, 8, 1),
    (Kind::Recursion, 12, 1),
    (Kind::Escape, 15, 1),
    (Kind::Deref, 25, 2),
    (Kind::Repoint, 12, 1),
    (Kind::Once, 6, 1),
    (Kind::Heap, 8, 1),
    (Kind::Operation, 8, 1),
    (Kind::Input, 15, 1),
    (Kind::Fault, 20, 2),
];

/// What is declared.
#[derive(Clone, Debug, Default)]
struct Features {
    /// The camp of the array, where there is one.
    array: Option<usize>,
    /// The camp of the struct.
    record: Option<usize>,
    /// The camp of the lock that goes with the condition variable.
    condition: Option<usize>,
    /// Whether each thread function takes a pointer.
    takes_pointer: Vec<bool>,
    n_threads: usize,
}

/// Where a statement stands.
#[derive(Clone, Debug)]
struct Place {
    function: String,
    /// The camp of most statements.
    home: usize,
    /// How many blocks may still be opened.
    nesting: usize,
    in_loop: bool,
    /// Mutexes that are held, or an atomic section is open: the block is left only at its end.
    held: Vec<String>,
    in_atomic: bool,
    /// Whether there is a local `v`, and a pointer `q`.
    has_local: bool,
    has_pointer: bool,
    /// Whether functions may be called.
    may_call: bool,
    is_main: bool,
}

struct Writer<'a> {
    rng: &'a mut Rng,
    out: Sliceable,
    menu: Vec<Kind>,
    n_names: usize,
    has: Features,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.text.push_str(text);
        self.out.text.push('\n');
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.n_names += 1;
        format!("{stem}{}", self.n_names)
    }

    fn offers(&self, kind: Kind) -> bool {
        self.menu.contains(&kind)
    }

    fn program(&mut self) {
        for &(kind, percent, weight) in MENU {
            if self.rng.chance(percent) {
                self.menu.extend(std::iter::repeat_n(kind, weight));
            }
        }
        self.globals();
        self.prototypes();
        self.helpers();
        let n_functions = 1 + self.rng.below(2);
        self.has.n_threads = [1, 1, 1, 1, 2, 2, 2, 2, 2, 3][self.rng.below(10)];
        if self.offers(Kind::Join) || self.rng.chance(10) {
            for thread in 0..self.has.n_threads {
                self.line(&format!("pthread_t t{thread};"));
            }
        }
        for function in 0..n_functions.min(self.has.n_threads) {
            self.thread_function(&format!("thr{function}"));
        }
        self.main_function(n_functions.min(self.has.n_threads));
    }

    /// The variables of a camp.
    fn of_camp(camp: usize) -> [&'static str; 2] {
        [["g0", "g1"], ["g2", "g3"]][camp]
    }

    fn globals(&mut self) {
        for camp in 0..2 {
            for name in Self::of_camp(camp) {
                let ty = *self.rng.pick(&["int", "int", "int", "unsigned char", "long", "_Bool"]);
                let initial = if self.rng.chance(25) { " = 1" } else { "" };
                self.line(&format!("{ty} {name}{initial};"));
                self.out.values[camp].push(name.to_owned());
            }
        }
        if self.rng.chance(30) {
            let camp = self.rng.below(2);
            self.has.array = Some(camp);
            self.line("int a0[2];");
            self.out.values[camp].extend(["a0[0]".to_owned(), "a0[1]".to_owned()]);
        }
        if self.rng.chance(30) {
            let camp = self.rng.below(2);
            self.has.record = Some(camp);
            self.line("struct s { int f; unsigned char k; } s0;");
            self.out.values[camp].extend(["s0.f".to_owned(), "s0.k".to_owned()]);
        }
        // What pointers can point to has to be of one type.
        self.line("int z0;");
        self.line("int z1;");
        for camp in 0..2 {
            self.out.values[camp].push(format!("z{camp}"));
        }
        if self.offers(Kind::Deref) || self.offers(Kind::Repoint) {
            self.out.has_pointer = true;
            let camp = self.rng.below(2);
            self.line(&format!("int *p0 = &z{camp};"));
        }
        if [Kind::Lock, Kind::TryLock, Kind::Wait, Kind::Signal].iter().any(|&kind| self.offers(kind)) {
            self.line("pthread_mutex_t m0;");
            self.line("pthread_mutex_t m1;");
            self.out.mutexes = vec!["m0".to_owned(), "m1".to_owned()];
            self.out.calls.push("pthread_mutex_lock".to_owned());
        }
        if self.offers(Kind::Wait) || self.offers(Kind::Signal) {
            self.has.condition = Some(self.rng.below(2));
            self.line("pthread_cond_t c0;");
            self.out.conditions.push("c0".to_owned());
        }
        if self.offers(Kind::Down) || self.offers(Kind::Up) {
            self.line("sem_t e0;");
        }
        if self.offers(Kind::Barrier) {
            self.line("pthread_barrier_t b0;");
        }
    }

    fn place(&mut self, function: &str) -> Place {
        Place {
            function: function.to_owned(),
            home: self.rng.below(2),
            nesting: 1,
            in_loop: false,
            held: Vec::new(),
            in_atomic: false,
            has_local: false,
            has_pointer: false,
            may_call: false,
            is_main: false,
        }
    }

    /// What helpers and threads call may stand behind them.
    fn prototypes(&mut self) {
        for (kinds, text) in [
            (&[Kind::Call, Kind::FunctionPointer][..], "int h0(int v);"),
            (&[Kind::Call, Kind::FunctionPointer], "void h1(void);"),
            (&[Kind::FunctionPointer], "int other(int v);"),
            (&[Kind::FunctionPointer], "int (*fp)(int) = h0;"),
            (&[Kind::Recursion], "int rec(int n);"),
            (&[Kind::Escape], "void give(int *r);"),
            (&[Kind::Once], "void init(void);"),
            (&[Kind::Once], "pthread_once_t o0;"),
        ] {
            if kinds.iter().any(|&kind| self.offers(kind)) {
                self.line(text);
            }
        }
    }

    fn helpers(&mut self) {
        if self.offers(Kind::Call) || self.offers(Kind::FunctionPointer) {
            let mut place = self.place("h0");
            self.line("int h0(int v) {");
            if self.rng.chance(25) {
                self.line("static int n;");
                self.line("n = (n + 1) % 3;");
                self.out.values[place.home].push("h0::n".to_owned());
            }
            place.has_local = true;
            let n = self.rng.below(3);
            self.statements(&place, n);
            let result = self.expr(&place, place.home);
            self.line(&format!("return ({result}) % 3;"));
            self.line("}");
            self.out.calls.push("h0".to_owned());
            self.out.values[place.home].push("h0::v".to_owned());
            let mut place = self.place("h1");
            place.may_call = self.rng.chance(40);
            self.line("void h1(void) {");
            let n = 1 + self.rng.below(2);
            self.statements(&place, n);
            self.line("}");
            self.out.calls.push("h1".to_owned());
        }
        if self.offers(Kind::FunctionPointer) {
            self.line("int other(int v) {");
            let camp = self.rng.below(2);
            let target = Self::of_camp(camp)[0];
            self.line(&format!("{target} = v % 3;"));
            self.line("return 1;");
            self.line("}");
        }
        if self.offers(Kind::Recursion) {
            let camp = self.rng.below(2);
            let target = *self.rng.pick(&Self::of_camp(camp));
            self.line("int rec(int n) {");
            self.line("int w = n;");
            self.line("if (n <= 0) {");
            self.line("return 1;");
            self.line("}");
            if self.rng.chance(60) {
                self.line(&format!("{target} = ({target} + n) % 3;"));
            }
            self.line("w = rec(n - 1);");
            if self.rng.chance(30) {
                self.line(&format!("{target} = w;"));
            }
            self.line("return (w + n) % 3;");
            self.line("}");
            self.out.calls.push("rec".to_owned());
            self.out.values[camp].extend(["rec::n".to_owned(), "rec::w".to_owned()]);
        }
        if self.offers(Kind::Escape) {
            let place = self.place("give");
            self.line("void give(int *r) {");
            let value = self.expr(&place, place.home);
            self.line(&format!("*r = ({value}) % 3;"));
            self.line("}");
            self.out.calls.push("give".to_owned());
        }
        if self.offers(Kind::Once) {
            let place = self.place("init");
            self.line("void init(void) {");
            self.statements(&Place { nesting: 0, ..place }, 1);
            self.line("}");
        }
    }

    fn thread_function(&mut self, name: &str) {
        let mut place = self.place(name);
        place.nesting = 2;
        place.has_local = true;
        place.may_call = true;
        place.has_pointer = self.rng.chance(25);
        self.line(&format!("void *{name}(void *arg) {{"));
        self.line("int v = 0;");
        if place.has_pointer {
            self.line("int *q = arg;");
        }
        let n = 1 + self.rng.below(4);
        self.statements(&place, n);
        let result = if self.rng.chance(20) { "(void *)(long)(v & 1)" } else { "0" };
        self.line(&format!("return {result};"));
        self.line("}");
        self.out.values[place.home].push(format!("{name}::v"));
        self.has.takes_pointer.push(place.has_pointer);
    }

    fn main_function(&mut self, n_functions: usize) {
        let mut place = self.place("main");
        place.has_local = true;
        place.may_call = true;
        place.is_main = true;
        let n_threads = self.has.n_threads;
        self.line("int main(void) {");
        self.line("int v = 0;");
        if !self.out.text.contains("pthread_t t0;") {
            for thread in 0..n_threads {
                self.line(&format!("pthread_t t{thread};"));
            }
        }
        if self.offers(Kind::Down) || self.offers(Kind::Up) {
            let value = self.rng.below(2);
            self.line(&format!("sem_init(&e0, 0, {value});"));
        }
        if self.offers(Kind::Barrier) {
            self.line("pthread_barrier_init(&b0, 0, 2);");
        }
        if self.rng.chance(30) {
            self.statements(&place, 1);
        }
        let mut running = vec![0; n_functions];
        for thread in 0..n_threads {
            let function = if thread < n_functions { thread } else { self.rng.below(n_functions) };
            running[function] += 1;
            let camp = self.rng.below(2);
            let argument = match (self.has.takes_pointer[function], self.rng.below(6)) {
                (true, 0) => "&v".to_owned(),
                (true, 1) if self.has.array.is_some() => "&a0[1]".to_owned(),
                (true, _) => format!("&z{camp}"),
                (false, _) => "0".to_owned(),
            };
            self.line(&format!("pthread_create(&t{thread}, 0, thr{function}, {argument});"));
            if self.rng.chance(15) {
                self.statements(&place, 1);
            }
        }
        for (function, &n) in running.iter().enumerate() {
            match n {
                1 => self.out.threads.push(format!("thr{function}")),
                n => self.out.threads.extend((0..n).map(|idx| format!("thr{function}[{idx}]"))),
            }
        }
        self.out.values = self.out.values.clone().map(|values| {
            let running_once = |value: &String| {
                (0..n_functions)
                    .all(|function| running[function] == 1 || !value.starts_with(&format!("thr{function}::")))
            };
            values.into_iter().filter(running_once).collect()
        });
        let n = self.rng.below(3);
        self.statements(&place, n);
        for thread in 0..n_threads {
            if self.rng.chance(60) {
                if self.rng.chance(20) {
                    let target = Self::of_camp(place.home)[0];
                    self.line(&format!("void *r{thread} = 0;"));
                    self.line(&format!("pthread_join(t{thread}, &r{thread});"));
                    self.line(&format!("{target} = (int)(long)r{thread} & 1;"));
                } else {
                    self.line(&format!("pthread_join(t{thread}, 0);"));
                }
            }
        }
        let n = self.rng.below(2);
        self.statements(&place, n);
        let end = *self.rng.pick(&["return 0;", "return 0;", "return 0;", "pthread_exit(0);", "exit(0);"]);
        self.line(end);
        self.line("}");
    }

    fn statements(&mut self, place: &Place, n: usize) {
        for _ in 0..n {
            self.statement(place);
        }
    }

    /// The statements of a block inside.
    fn block(&mut self, place: &Place) {
        let mut inner = place.clone();
        inner.nesting = inner.nesting.saturating_sub(1);
        let n = 1 + self.rng.below(2);
        self.statements(&inner, n);
    }
}

mod statement;
