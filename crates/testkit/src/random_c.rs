//! Random small multi-threaded C programs, and formulas about them.
//!
//! The programs use what multi-threaded C programs use, a little of each, and keep their values small: what
//! is assigned is masked, what is counted is masked right after. So most of them have few states, although their
//! loops may run forever. They have no undefined behaviour but that of racing plain accesses, and no value
//! depends on the order of evaluation where C leaves it open: a call whose result is used stands alone among
//! constants.

use pdnet_base::Rng;

/// How large the programs are, and how much of each feature they have.
#[derive(Clone, Debug)]
pub struct ProgramConfig {
    /// The most thread functions, at least 1.
    pub max_thread_functions: usize,
    /// The most threads beside main, at least 1.
    pub max_threads: usize,
    /// The most global variables, at least 1.
    pub max_globals: usize,
    /// The most statements in a block, at least 1.
    pub max_statements: usize,
    /// The most blocks inside each other.
    pub max_nesting: usize,
    /// Percentage of programs with an array.
    pub arrays: usize,
    /// Percentage of programs with mutexes.
    pub mutexes: usize,
    /// Percentage of those with a condition variable.
    pub conditions: usize,
    /// Percentage of programs with atomic sections.
    pub atomic: usize,
    /// Percentage of programs with functions that are called for their result.
    pub calls: usize,
    /// Percentage of programs with a recursive function.
    pub recursion: usize,
    /// Percentage of programs with inputs.
    pub inputs: usize,
    /// Percentage of programs with assumptions.
    pub assumes: usize,
    /// Percentage of programs with assertions.
    pub asserts: usize,
    /// Percentage of programs with a call of `reach_error`.
    pub errors: usize,
    /// Percentage of programs with `goto`.
    pub gotos: usize,
    /// Percentage of programs that create threads in a loop.
    pub create_loops: usize,
    /// Percentage of programs that end threads by `pthread_exit`, or everything by `exit`.
    pub exits: usize,
    /// Percentage of created threads that are joined.
    pub joins: usize,
}

impl Default for ProgramConfig {
    fn default() -> Self {
        Self {
            max_thread_functions: 2,
            max_threads: 2,
            max_globals: 3,
            max_statements: 3,
            max_nesting: 2,
            arrays: 30,
            mutexes: 50,
            conditions: 40,
            atomic: 20,
            calls: 30,
            recursion: 10,
            inputs: 25,
            assumes: 10,
            asserts: 60,
            errors: 15,
            gotos: 15,
            create_loops: 20,
            exits: 15,
            joins: 70,
        }
    }
}

/// A program, and the names in it that a formula can use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RandomProgram {
    /// The text.
    pub text: String,
    /// Global integer variables.
    pub globals: Vec<String>,
    /// Global arrays with their length.
    pub arrays: Vec<(String, usize)>,
    /// Mutexes.
    pub mutexes: Vec<String>,
    /// Condition variables.
    pub conditions: Vec<String>,
    /// The functions that threads run.
    pub thread_functions: Vec<String>,
    /// The threads beside main as a formula names them: `thr0`, or `thr0[1]` where several run one function.
    pub threads: Vec<String>,
    /// Functions that are called.
    pub functions: Vec<String>,
    /// Labels, with the function that they are in.
    pub labels: Vec<(String, String)>,
    /// Whether `reach_error` is called somewhere.
    pub has_error: bool,
}

impl RandomProgram {
    /// The program without directives and macros, for declarations of the library in front of it.
    #[must_use]
    pub fn without_headers(&self) -> String {
        let body: Vec<&str> = self.text.lines().filter(|line| !line.starts_with("#include")).collect();
        let body = body.join("\n").replace("assert(", "__pdnet_assert(");
        let body =
            body.replace("PTHREAD_MUTEX_INITIALIZER", "{ 0 }").replace("PTHREAD_COND_INITIALIZER", "{ 0 }");
        body.replace("NULL", "((void *)0)")
    }
}

/// A random program.
#[must_use]
pub fn random_c_program(rng: &mut Rng, config: &ProgramConfig) -> RandomProgram {
    let mut writer =
        Writer { rng, config, program: RandomProgram::default(), indent: 0, menu: Vec::new(), n_names: 0 };
    writer.declarations();
    writer.helpers();
    let n_functions = 1 + writer.rng.below(config.max_thread_functions);
    for idx in 0..n_functions {
        writer.thread_function(&format!("thr{idx}"));
    }
    writer.main_function();
    writer.program
}

/// The kinds of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Assign,
    Count,
    Compound,
    If,
    While,
    For,
    Do,
    Switch,
    Leave,
    Lock,
    TryLock,
    Wait,
    Signal,
    Atomic,
    Call,
    Input,
    Assume,
    Assert,
    Error,
    Exit,
    Goto,
}

/// Where a statement stands.
#[derive(Clone, Debug)]
struct Scope {
    /// The name of the function.
    function: String,
    /// Variables of the function.
    locals: Vec<String>,
    /// How many blocks may still be opened.
    nesting: usize,
    /// Inside of a loop of this function, and of no switch in it.
    in_loop: bool,
    /// Mutexes that are held: a block that holds one is left only at its end.
    held: Vec<String>,
    /// In an atomic section nothing may block.
    in_atomic: bool,
    /// What a `return` gives back; `None` where the function has no early return.
    result: Option<&'static str>,
    /// The label at the end of the function, if it has one.
    label: Option<String>,
    /// The functions that may be called.
    callable: Vec<String>,
}

struct Writer<'a> {
    rng: &'a mut Rng,
    config: &'a ProgramConfig,
    program: RandomProgram,
    indent: usize,
    /// The kinds of statements of this program, repeated by their weight.
    menu: Vec<Kind>,
    n_names: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let depth = if text.is_empty() { 0 } else { self.indent };
        self.program.text.push_str(&"    ".repeat(depth));
        self.program.text.push_str(text);
        self.program.text.push('\n');
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.indent += 1;
    }

    fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.line(text);
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.n_names += 1;
        format!("{stem}{}", self.n_names)
    }

    fn declarations(&mut self) {
        for line in [
            "#include <assert.h>",
            "#include <pthread.h>",
            "#include <stdlib.h>",
            "",
            "extern void __VERIFIER_assume(int condition);",
            "extern void __VERIFIER_atomic_begin(void);",
            "extern void __VERIFIER_atomic_end(void);",
            "extern _Bool __VERIFIER_nondet_bool(void);",
            "extern void reach_error(void);",
            "",
        ] {
            self.line(line);
        }
        let config = self.config;
        for idx in 0..1 + self.rng.below(config.max_globals) {
            let ctype =
                *self.rng.pick(&["int", "int", "unsigned int", "unsigned char", "short", "long", "_Bool"]);
            let initial = if self.rng.chance(30) { " = 1" } else { "" };
            self.line(&format!("{ctype} g{idx}{initial};"));
            self.program.globals.push(format!("g{idx}"));
        }
        if self.rng.chance(config.arrays) {
            let length = 2 + self.rng.below(2);
            let initial = if self.rng.chance(30) { " = {1, 2}" } else { "" };
            self.line(&format!("int a0[{length}]{initial};"));
            self.program.arrays.push(("a0".to_owned(), length));
        }
        if self.rng.chance(config.mutexes) {
            for idx in 0..1 + self.rng.below(2) {
                self.line(&format!("pthread_mutex_t m{idx} = PTHREAD_MUTEX_INITIALIZER;"));
                self.program.mutexes.push(format!("m{idx}"));
            }
            self.menu.extend([Kind::Lock; 4]);
            if self.rng.chance(10) {
                self.menu.push(Kind::TryLock);
            }
            if self.rng.chance(config.conditions) {
                self.line("pthread_cond_t c0 = PTHREAD_COND_INITIALIZER;");
                self.program.conditions.push("c0".to_owned());
                self.menu.extend([Kind::Wait, Kind::Signal, Kind::Signal]);
            }
        }
        self.line("");
        self.menu.extend([Kind::Assign; 4]);
        self.menu.extend([Kind::Count, Kind::Count, Kind::Compound, Kind::Compound, Kind::If, Kind::If]);
        for (percent, kinds) in [
            (50, vec![Kind::While]),
            (30, vec![Kind::For, Kind::Leave]),
            (15, vec![Kind::Do]),
            (15, vec![Kind::Switch]),
            (15, vec![Kind::Leave]),
            (config.atomic, vec![Kind::Atomic, Kind::Atomic]),
            (config.inputs, vec![Kind::Input]),
            (config.assumes, vec![Kind::Assume]),
            (config.asserts, vec![Kind::Assert, Kind::Assert]),
            (config.errors, vec![Kind::Error]),
            (config.exits, vec![Kind::Exit]),
            (config.gotos, vec![Kind::Goto]),
        ] {
            if self.rng.chance(percent) {
                self.menu.extend(kinds);
            }
        }
    }

    /// Functions that others call.
    fn helpers(&mut self) {
        if self.rng.chance(self.config.recursion) {
            let global = self.rng.pick(&self.program.globals).clone();
            self.line("int rec(int n);");
            self.open("int rec(int n) {");
            self.open("if (n <= 0) {");
            self.line(&format!("return {global} & 1;"));
            self.close("}");
            if self.rng.chance(50) {
                self.line(&format!("{global} ^= 1;"));
            }
            self.line("return (rec(n - 1) + n) & 3;");
            self.close("}");
            self.line("");
            self.program.functions.push("rec".to_owned());
            self.menu.push(Kind::Call);
        }
        if self.rng.chance(self.config.calls) {
            for idx in 0..1 + self.rng.below(2) {
                let name = format!("h{idx}");
                let mut scope = self.scope(&name, vec!["p".to_owned()]);
                scope.result = Some("p & 1");
                self.line(&format!("int {name}(int p);"));
                self.open(&format!("int {name}(int p) {{"));
                self.body(&mut scope);
                let result = self.expr(&scope, 1);
                self.end_label(&scope);
                self.line(&format!("return {result} & 3;"));
                self.close("}");
                self.line("");
                self.program.functions.push(name);
            }
            self.menu.extend([Kind::Call, Kind::Call]);
        }
        if self.rng.chance(self.config.atomic / 2) {
            let name = "__VERIFIER_atomic_step";
            let mut scope = self.scope(name, vec![]);
            scope.in_atomic = true;
            scope.nesting = 1;
            self.line(&format!("void {name}(void);"));
            self.open(&format!("void {name}(void) {{"));
            self.statements(&mut scope);
            self.close("}");
            self.line("");
            self.menu.push(Kind::Atomic);
        }
    }

    fn scope(&self, function: &str, locals: Vec<String>) -> Scope {
        Scope {
            function: function.to_owned(),
            locals,
            nesting: self.config.max_nesting,
            in_loop: false,
            held: Vec::new(),
            in_atomic: false,
            result: None,
            label: None,
            callable: self.program.functions.clone(),
        }
    }

    fn thread_function(&mut self, name: &str) {
        let mut scope = self.scope(name, vec!["v".to_owned()]);
        scope.result = Some("NULL");
        self.line(&format!("void *{name}(void *arg);"));
        self.open(&format!("void *{name}(void *arg) {{"));
        self.line("int v = 0;");
        self.line("(void)arg;");
        self.line("(void)v;");
        self.body(&mut scope);
        self.end_label(&scope);
        self.line("return NULL;");
        self.close("}");
        self.line("");
        self.program.thread_functions.push(name.to_owned());
    }

    fn main_function(&mut self) {
        let mut scope = self.scope("main", vec!["v".to_owned()]);
        scope.nesting = 1;
        self.open("int main(void) {");
        self.line("int v = 0;");
        self.line("(void)v;");
        let n_threads = 1 + self.rng.below(self.config.max_threads);
        let in_loop = n_threads > 1 && self.rng.chance(self.config.create_loops);
        let mut running = vec![0; self.program.thread_functions.len()];
        if in_loop {
            let function = self.rng.below(running.len());
            let name = self.program.thread_functions[function].clone();
            self.line(&format!("pthread_t ts[{n_threads}];"));
            self.open(&format!("for (int i = 0; i < {n_threads}; i++) {{"));
            self.line(&format!("pthread_create(&ts[i], NULL, {name}, NULL);"));
            self.close("}");
            running[function] = n_threads;
        } else {
            for thread in 0..n_threads {
                let function = if thread < running.len() { thread } else { self.rng.below(running.len()) };
                let name = self.program.thread_functions[function].clone();
                self.line(&format!("pthread_t t{thread};"));
                self.line(&format!("pthread_create(&t{thread}, NULL, {name}, NULL);"));
                running[function] += 1;
                if self.rng.chance(20) {
                    self.statement(&mut scope);
                }
            }
        }
        for (function, &n_running) in self.program.thread_functions.iter().zip(&running) {
            match n_running {
                0 => {}
                1 => self.program.threads.push(function.clone()),
                n => self.program.threads.extend((0..n).map(|idx| format!("{function}[{idx}]"))),
            }
        }
        if self.rng.chance(60) {
            self.statements(&mut scope);
        }
        if in_loop && self.rng.chance(self.config.joins) {
            self.open(&format!("for (int i = 0; i < {n_threads}; i++) {{"));
            self.line("pthread_join(ts[i], NULL);");
            self.close("}");
        } else if !in_loop {
            for thread in 0..n_threads {
                if self.rng.chance(self.config.joins) {
                    self.line(&format!("pthread_join(t{thread}, NULL);"));
                }
            }
        }
        if self.menu.contains(&Kind::Assert) {
            let condition = self.condition(&scope);
            self.line(&format!("assert({condition});"));
        }
        let end = match self.rng.below(8) {
            0 | 1 => "pthread_exit(NULL);",
            2 => "exit(0);",
            _ => "return 0;",
        };
        self.line(end);
        self.close("}");
    }

    /// The statements of a function, perhaps with a label at the end of them.
    fn body(&mut self, scope: &mut Scope) {
        if self.menu.contains(&Kind::Goto) {
            scope.label = Some("out".to_owned());
        }
        self.statements(scope);
        if let Some(label) = &scope.label {
            // A label that nobody jumps to is a warning.
            let condition = self.condition(scope);
            self.open(&format!("if ({condition}) {{"));
            self.line(&format!("goto {label};"));
            self.close("}");
            self.statement(scope);
        }
    }

    fn end_label(&mut self, scope: &Scope) {
        if let Some(label) = &scope.label {
            self.program.text.push_str(&format!("{label}:;\n"));
            self.program.labels.push((scope.function.clone(), label.clone()));
        }
    }

    fn statements(&mut self, scope: &mut Scope) {
        for _ in 0..1 + self.rng.below(self.config.max_statements) {
            self.statement(scope);
        }
    }

    /// The statements of a block inside.
    fn block(&mut self, scope: &Scope) {
        let mut inner = scope.clone();
        inner.nesting = inner.nesting.saturating_sub(1);
        self.statements(&mut inner);
    }

    fn statement(&mut self, scope: &mut Scope) {
        let kind = *self.rng.pick(&self.menu);
        let may_block = !scope.in_atomic;
        let may_leave = scope.held.is_empty() && !scope.in_atomic;
        match kind {
            Kind::If if scope.nesting > 0 => self.if_statement(scope),
            Kind::While | Kind::For | Kind::Do if scope.nesting > 0 => self.loop_statement(scope, kind),
            Kind::Switch if scope.nesting > 0 => self.switch_statement(scope),
            Kind::Leave if may_leave => self.leave(scope),
            Kind::Lock | Kind::TryLock | Kind::Wait | Kind::Signal if may_block => self.locked(scope, kind),
            Kind::Atomic if may_block && scope.held.is_empty() => self.atomic(scope),
            Kind::Call if !scope.callable.is_empty() && may_leave => self.call(scope),
            Kind::Count => {
                let target = self.variable(scope);
                let op = *self.rng.pick(&["++", "--"]);
                let prefix = self.rng.chance(30);
                self.line(&if prefix { format!("{op}{target};") } else { format!("{target}{op};") });
                self.mask(&target);
            }
            Kind::Compound => {
                let target = self.variable(scope);
                let value = self.expr(scope, 1);
                match self.rng.below(7) {
                    0 => self.line(&format!("{target} &= {value};")),
                    1 => self.line(&format!("{target} ^= {value} & 1;")),
                    2 => self.line(&format!("{target} |= {value} & 1;")),
                    3 => self.line(&format!("{target} >>= 1;")),
                    4 => self.line(&format!("{target} %= 2;")),
                    5 => {
                        let op = *self.rng.pick(&["+", "-", "*"]);
                        self.line(&format!("{target} {op}= {value} & 3;"));
                        self.mask(&target);
                    }
                    _ => {
                        self.line(&format!("{target} <<= 1;"));
                        self.mask(&target);
                    }
                }
            }
            Kind::Input => {
                let target = self.variable(scope);
                self.line(&format!("{target} = __VERIFIER_nondet_bool();"));
            }
            Kind::Assume => {
                let condition = self.likely_condition(scope);
                self.line(&format!("__VERIFIER_assume({condition});"));
            }
            Kind::Assert => {
                let condition =
                    if self.rng.chance(60) { self.likely_condition(scope) } else { self.condition(scope) };
                self.line(&format!("assert({condition});"));
            }
            Kind::Error => {
                let condition = self.likely_condition(scope);
                self.open(&format!("if (!({condition})) {{"));
                self.line("reach_error();");
                self.close("}");
                self.program.has_error = true;
            }
            Kind::Exit if may_block => {
                let condition = self.condition(scope);
                self.open(&format!("if ({condition}) {{"));
                let how = if self.rng.chance(70) { "pthread_exit(NULL);" } else { "exit(1);" };
                self.line(how);
                self.close("}");
            }
            Kind::Goto if may_leave && scope.label.is_some() => {
                let condition = self.condition(scope);
                let label = scope.label.clone().unwrap_or_default();
                self.open(&format!("if ({condition}) {{"));
                self.line(&format!("goto {label};"));
                self.close("}");
            }
            // What is not possible here becomes an assignment.
            _ => {
                let target = self.variable(scope);
                let value = self.expr(scope, 2);
                let bound = *self.rng.pick(&["& 1", "& 3", "% 3"]);
                self.line(&format!("{target} = {value} {bound};"));
            }
        }
    }

    /// Brings a variable back into a small range. Others may see it before.
    fn mask(&mut self, target: &str) {
        let how = *self.rng.pick(&["&= 1", "&= 3", "%= 3"]);
        self.line(&format!("{target} {how};"));
    }

    fn if_statement(&mut self, scope: &Scope) {
        let condition = self.condition(scope);
        self.open(&format!("if ({condition}) {{"));
        self.block(scope);
        if self.rng.chance(40) {
            self.indent -= 1;
            self.open("} else {");
            self.block(scope);
        }
        self.close("}");
    }

    fn loop_statement(&mut self, scope: &Scope, kind: Kind) {
        let mut inner = scope.clone();
        // Nothing waits for another thread in an atomic section.
        inner.in_loop = true;
        let kind = if scope.in_atomic { Kind::For } else { kind };
        match kind {
            Kind::While => {
                let condition = self.condition(scope);
                if self.rng.chance(20) {
                    return self.line(&format!("while ({condition}) {{ }}"));
                }
                self.open(&format!("while ({condition}) {{"));
                self.block(&inner);
                self.close("}");
            }
            Kind::Do => {
                self.open("do {");
                self.block(&inner);
                let condition = self.condition(scope);
                self.close(&format!("}} while ({condition});"));
            }
            _ => {
                let counter = self.fresh("i");
                self.open(&format!("for (int {counter} = 0; {counter} < 2; {counter}++) {{"));
                self.block(&inner);
                self.close("}");
            }
        }
    }

    fn switch_statement(&mut self, scope: &Scope) {
        let mut inner = scope.clone();
        inner.in_loop = false;
        let value = self.expr(scope, 1);
        self.open(&format!("switch ({value} & 3) {{"));
        for case in 0..1 + self.rng.below(2) {
            self.open(&format!("case {case}:"));
            self.block(&inner);
            if self.rng.chance(70) {
                self.line("break;");
            }
            self.indent -= 1;
        }
        if self.rng.chance(60) {
            self.open("default:");
            self.block(&inner);
            self.indent -= 1;
        }
        self.close("}");
    }

    fn leave(&mut self, scope: &Scope) {
        let how = match scope.result {
            _ if scope.in_loop && self.rng.chance(70) => {
                if self.rng.chance(60) {
                    "break;".to_owned()
                } else {
                    "continue;".to_owned()
                }
            }
            Some(result) => format!("return {result};"),
            None => ";".to_owned(),
        };
        let condition = self.condition(scope);
        self.open(&format!("if ({condition}) {{"));
        self.line(&how);
        self.close("}");
    }

    fn locked(&mut self, scope: &Scope, kind: Kind) {
        let mutex = self.rng.pick(&self.program.mutexes).clone();
        let waits = matches!(kind, Kind::Wait | Kind::Signal);
        let mutex = if waits { self.program.mutexes[0].clone() } else { mutex };
        if scope.held.contains(&mutex) {
            let target = self.variable(scope);
            return self.line(&format!("{target} ^= 1;"));
        }
        if kind == Kind::Signal && self.rng.chance(20) {
            return self.wake();
        }
        let mut inner = scope.clone();
        inner.held.push(mutex.clone());
        inner.in_loop = false;
        if kind == Kind::TryLock {
            self.open(&format!("if (pthread_mutex_trylock(&{mutex}) == 0) {{"));
        } else {
            self.line(&format!("pthread_mutex_lock(&{mutex});"));
        }
        if kind == Kind::Wait {
            let condition = self.condition(scope);
            let word = if self.rng.chance(90) { "while" } else { "if" };
            self.open(&format!("{word} ({condition}) {{"));
            self.line(&format!("pthread_cond_wait(&c0, &{mutex});"));
            self.close("}");
        }
        self.block(&inner);
        if kind == Kind::Signal {
            self.wake();
        }
        // A mutex that stays locked is a bug worth finding.
        if self.rng.chance(95) {
            self.line(&format!("pthread_mutex_unlock(&{mutex});"));
        }
        if kind == Kind::TryLock {
            self.close("}");
        }
    }

    fn wake(&mut self) {
        let how = *self.rng.pick(&["signal", "signal", "broadcast"]);
        self.line(&format!("pthread_cond_{how}(&c0);"));
    }

    fn atomic(&mut self, scope: &Scope) {
        if self.program.text.contains("__VERIFIER_atomic_step") && self.rng.chance(50) {
            return self.line("__VERIFIER_atomic_step();");
        }
        let mut inner = scope.clone();
        inner.in_atomic = true;
        inner.in_loop = false;
        self.line("__VERIFIER_atomic_begin();");
        self.block(&inner);
        self.line("__VERIFIER_atomic_end();");
    }

    fn call(&mut self, scope: &Scope) {
        let callee = self.rng.pick(&scope.callable).clone();
        let argument = if callee == "rec" {
            (1 + self.rng.below(2)).to_string()
        } else {
            format!("{} & 3", self.expr(scope, 1))
        };
        let target = self.variable(scope);
        match self.rng.below(5) {
            0 => self.line(&format!("{callee}({argument});")),
            1 => self.line(&format!("{target} = ({callee}({argument}) + 1) & 3;")),
            2 if scope.nesting > 0 => {
                self.open(&format!("if ({callee}({argument}) == 1) {{"));
                self.block(scope);
                self.close("}");
            }
            3 => self.line(&format!("{target} = {callee}({argument}) ? 1 : 0;")),
            _ => self.line(&format!("{target} = {callee}({argument});")),
        }
    }

    /// Something that can be assigned to. Its index has no side effect.
    fn variable(&mut self, scope: &Scope) -> String {
        if !scope.locals.is_empty() && self.rng.chance(20) {
            return self.rng.pick(&scope.locals).clone();
        }
        if !self.program.arrays.is_empty() && self.rng.chance(25) {
            return self.element();
        }
        self.rng.pick(&self.program.globals).clone()
    }

    fn element(&mut self) -> String {
        let (array, length) = self.rng.pick(&self.program.arrays).clone();
        if self.rng.chance(50) {
            return format!("{array}[{}]", self.rng.below(length));
        }
        let global = self.rng.pick(&self.program.globals).clone();
        if length == 2 {
            format!("{array}[{global} & 1]")
        } else {
            format!("{array}[(unsigned){global} % {length}u]")
        }
    }

    /// An expression that fits where an operand of any operator stands.
    fn expr(&mut self, scope: &Scope, depth: usize) -> String {
        if depth == 0 || self.rng.chance(40) {
            return if self.rng.chance(30) { self.rng.below(4).to_string() } else { self.variable(scope) };
        }
        match self.rng.below(10) {
            0..=5 => {
                let op =
                    *self.rng.pick(&["+", "+", "-", "*", "&", "|", "^", "==", "!=", "<", ">=", "&&", "||"]);
                let left = self.expr(scope, depth - 1);
                let right = self.expr(scope, depth - 1);
                format!("({left} {op} {right})")
            }
            6 => {
                let condition = self.condition(scope);
                let left = self.expr(scope, depth - 1);
                let right = self.expr(scope, depth - 1);
                format!("(({condition}) ? {left} : {right})")
            }
            7 => {
                let divisor = 2 + self.rng.below(2);
                let op = *self.rng.pick(&["/", "%"]);
                format!("({} {op} {divisor})", self.expr(scope, depth - 1))
            }
            8 => format!("!{}", self.expr(scope, depth - 1)),
            _ => {
                let ctype = *self.rng.pick(&["int", "unsigned char", "long", "_Bool"]);
                format!("({ctype}){}", self.expr(scope, depth - 1))
            }
        }
    }

    fn condition(&mut self, scope: &Scope) -> String {
        let simple = |writer: &mut Self| {
            let op = *writer.rng.pick(&["==", "==", "!=", "<", ">"]);
            let variable = writer.variable(scope);
            format!("{variable} {op} {}", writer.rng.below(3))
        };
        let first = simple(self);
        match self.rng.below(6) {
            0 => {
                let op = *self.rng.pick(&["&&", "||"]);
                format!("{first} {op} {}", simple(self))
            }
            1 => {
                let (left, right) = (self.variable(scope), self.variable(scope));
                if left == right { first } else { format!("{left} == {right}") }
            }
            _ => first,
        }
    }

    fn likely_condition(&mut self, scope: &Scope) -> String {
        let variable = self.variable(scope);
        let unlikely = *self.rng.pick(&["2", "3", "4"]);
        if self.rng.chance(70) {
            format!("{variable} != {unlikely}")
        } else {
            format!("{variable} < {unlikely}")
        }
    }
}

/// A random formula about a program, as text.
#[must_use]
pub fn random_c_formula(rng: &mut Rng, program: &RandomProgram) -> String {
    let (a, b, c) = (random_c_atom(rng, program), random_c_atom(rng, program), random_c_atom(rng, program));
    match rng.below(14) {
        0 => format!("G ({a})"),
        1 => format!("F ({a})"),
        2 | 3 => format!("G ({a} -> F {b})"),
        4 => format!("G F ({a})"),
        5 => format!("F G !({a})"),
        6 => format!("({a}) U ({b})"),
        7 => format!("!({a}) W ({b})"),
        8 => format!("G F ({a}) -> G F ({b})"),
        9 => format!("G (({a}) -> ({b}) U ({c}))"),
        10 => "F end".to_owned(),
        11 => "G !deadlock".to_owned(),
        12 => format!("[] (({a}) && ({b}) -> <> ({c}))"),
        _ => format!("({a}) R ({b} || {c})"),
    }
}

/// A random atom, without parentheses around it.
fn random_c_atom(rng: &mut Rng, program: &RandomProgram) -> String {
    let mut choices: Vec<String> = vec!["end".to_owned(), "deadlock".to_owned()];
    let thread =
        if program.threads.is_empty() { "main".to_owned() } else { rng.pick(&program.threads).clone() };
    choices.push(format!("terminated({thread})"));
    choices.push(format!("{thread}::v == {}", rng.below(3)));
    if !program.mutexes.is_empty() {
        choices.push(format!("holds({thread}, {})", rng.pick(&program.mutexes)));
    }
    if !program.conditions.is_empty() {
        choices.push(format!("waiting({thread}, {})", rng.pick(&program.conditions)));
    }
    if !program.labels.is_empty() {
        let (function, label) = rng.pick(&program.labels);
        choices.push(format!("at({function}, {label})"));
    }
    if !program.functions.is_empty() {
        choices.push(format!("call({})", rng.pick(&program.functions)));
    }
    if program.has_error {
        choices.push("call(reach_error)".to_owned());
    }
    if let Some((array, length)) = program.arrays.first() {
        choices.push(format!("{array}[{}] == {}", rng.below(*length), rng.below(3)));
    }
    let (first, second) = (rng.pick(&program.globals), rng.pick(&program.globals));
    choices.push(format!("\"{first} + {second} < {}\"", 1 + rng.below(3)));
    // Comparisons of globals are what most people write.
    if rng.chance(55) {
        let op = *rng.pick(&["==", "==", "!=", "<", ">="]);
        return format!("{first} {op} {}", rng.below(3));
    }
    rng.pick(&choices).clone()
}
