//! Random programs that count in small types, take locks, index arrays and start threads: where proofs about
//! loops and faults can go wrong.

use pdnet_base::Rng;

/// What the programs use of the system's headers, so that no preprocessor has to run.
pub(crate) const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t;
typedef struct { int k; } pthread_attr_t; typedef struct { int k; } pthread_mutexattr_t;
int pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
void pthread_exit(void *); pthread_t pthread_self(void); int pthread_detach(pthread_t);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *);
int pthread_mutex_trylock(pthread_mutex_t *); int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_broadcast(pthread_cond_t *);
void __pdnet_assert(_Bool); void abort(void); void exit(int); _Bool __VERIFIER_nondet_bool(void);
";

pub(crate) fn without_headers(text: &str) -> String {
    let body: Vec<&str> = text.lines().filter(|line| !line.starts_with("#include")).collect();
    let body = body.join("\n").replace("assert(", "__pdnet_assert(");
    let body =
        body.replace("PTHREAD_MUTEX_INITIALIZER", "{ 0 }").replace("PTHREAD_COND_INITIALIZER", "{ 0 }");
    format!("{PRELUDE}{}", body.replace("NULL", "((void *)0)"))
}

const TYPES: [&str; 7] =
    ["char", "unsigned char", "signed char", "short", "int", "unsigned", "unsigned long"];
const CONSTANTS: [i64; 16] = [0, 1, 2, 3, 5, 7, 8, 9, 10, 100, 126, 127, 128, 254, 255, 256];
const OPERATORS: [&str; 8] = ["<", "<", "<=", ">", ">", ">=", "!=", "!="];
const N_LOCALS: usize = 3;
const N_GLOBALS: usize = 2;

struct Writer<'a> {
    rng: &'a mut Rng,
    /// How many blocks are around.
    depth: usize,
    /// Whether there is a loop around.
    in_loop: bool,
    /// What may be called: fewer in functions that are called themselves.
    callees: &'static [&'static str],
    has_threads: bool,
    /// Whether counters can be global variables.
    has_globals: bool,
}

/// A random program.
pub(crate) fn program(rng: &mut Rng) -> String {
    let mut text = String::from(PRELUDE);
    text += "unsigned char g; int a[8]; pthread_mutex_t m = { 0 }; pthread_mutex_t ms[2]; pthread_t h; void *w(void *);\n";
    let (has_threads, has_globals) = (rng.chance(30), rng.chance(40));
    if has_globals {
        for global in 0..N_GLOBALS {
            let (ty, value) = (*rng.pick(&TYPES), *rng.pick(&CONSTANTS));
            text += &format!("{ty} u{global} = {value}; ");
        }
    }
    let mut writer = Writer { rng, depth: 0, in_loop: false, callees: &[], has_threads, has_globals };
    text += &writer.function("int f(unsigned char v0)", 1, 2, "return v0;");
    writer.callees = &["f"];
    if writer.rng.chance(40) {
        text += &writer.function("int r(signed char v0)", 1, 2, "if (v0 > 0) return r(v0 - 1); return v0;");
        writer.callees = &["f", "r"];
    }
    text += &writer.function("void *w(void *p)", 0, 2, "return 0;");
    if writer.rng.chance(30) {
        text += "void in(void) { pthread_mutex_lock(&m); } void out(void) { pthread_mutex_unlock(&m); }\n";
        writer.callees = &["f", "in", "out"];
    }
    text += &writer.function("int main(void)", 0, 4, "return 0;");
    text
}

impl Writer<'_> {
    fn function(&mut self, head: &str, n_parameters: usize, n_statements: usize, end: &str) -> String {
        let mut text = format!("{head} {{ ");
        for local in n_parameters..N_LOCALS {
            let (ty, value) = (*self.rng.pick(&TYPES), *self.rng.pick(&CONSTANTS));
            text += &format!("{ty} v{local} = {value}; ");
        }
        if self.rng.chance(15) {
            text += "void *q = 0; pthread_t t; ";
        } else {
            text += "pthread_t t; ";
        }
        let is_pointed_to = self.rng.chance(10);
        if is_pointed_to {
            let ty = *self.rng.pick(&TYPES);
            text += &format!("{ty} w0 = 0; {ty} *p0 = &w0; while (w0 < 5) {{ w0++; if (g) *p0 = 0; }} ");
        }
        text += &self.block(n_statements);
        text + end + " }\n"
    }

    fn local(&mut self) -> String {
        if self.has_globals && self.rng.chance(35) {
            return format!("u{}", self.rng.below(N_GLOBALS));
        }
        format!("v{}", self.rng.below(N_LOCALS))
    }

    fn block(&mut self, n_statements: usize) -> String {
        let n = 1 + self.rng.below(n_statements);
        (0..n).map(|_| self.statement()).collect()
    }

    /// A condition on a variable.
    fn test(&mut self, local: &str) -> String {
        let operator = *self.rng.pick(&OPERATORS);
        let bound = match self.rng.below(8) {
            0 => self.local(),
            1 => "g".to_owned(),
            _ => self.rng.pick(&CONSTANTS).to_string(),
        };
        let left = match self.rng.below(12) {
            0 => format!("(unsigned){local}"),
            1 => format!("(unsigned char){local}"),
            2 => format!("(long){local}"),
            _ => local.to_owned(),
        };
        let test = if self.rng.chance(20) {
            format!("{bound} {operator} {left}")
        } else {
            format!("{left} {operator} {bound}")
        };
        match self.rng.below(10) {
            0 => format!("{test} && __VERIFIER_nondet_bool()"),
            1 => format!("{test} || v0 == 3"),
            2 => format!("!({test})"),
            _ => test,
        }
    }

    fn step(&mut self, local: &str) -> String {
        let by = 1 + self.rng.below(3);
        match self.rng.below(9) {
            0..=2 => format!("{local}++"),
            3..=4 => format!("{local}--"),
            5 => format!("{local} += {by}"),
            6 => format!("{local} -= {by}"),
            7 => format!("{local} = {local} + {by}"),
            _ => format!("{local} = {by} + {local}"),
        }
    }

    fn repeated(&mut self) -> String {
        let local = self.local();
        let first = match self.rng.below(4) {
            0 => self.local(),
            _ => self.rng.pick(&CONSTANTS).to_string(),
        };
        let (test, step) = (self.test(&local), self.step(&local));
        let outer = std::mem::replace(&mut self.in_loop, true);
        let body = self.block(2);
        self.in_loop = outer;
        match self.rng.below(8) {
            0..=2 => format!("for ({local} = {first}; {test}; {step}) {{ {body} }} "),
            3 => format!("{local} = {first}; while ({test}) {{ {body} {step}; }} "),
            4 => format!("{local} = {first}; while ({test}) {{ {step}; {body} }} "),
            5 => format!("{local} = {first}; do {{ {body} {step}; }} while ({test}); "),
            6 => format!("{local} = {first}; while ({local}--) {{ {body} }} "),
            _ => format!("{local} = {first}; while (--{local} > {}) {{ {body} }} ", self.rng.below(4)),
        }
    }

    fn statement(&mut self) -> String {
        self.depth += 1;
        let text = self.any_statement();
        self.depth -= 1;
        text
    }

    fn any_statement(&mut self) -> String {
        let local = self.local();
        match self.rng.below(if self.depth > 3 { 12 } else { 20 }) {
            0 => format!("a[{local}] = 1; "),
            1 => format!("a[{local} & 7]++; "),
            2 => format!("a[{local} % 8] = {local}; "),
            3 => format!("{local} = {}; ", *self.rng.pick(&CONSTANTS)),
            4 => format!("{}; ", self.step(&local)),
            5 => "g++; ".to_owned(),
            6 => format!("if (__VERIFIER_nondet_bool()) {}; ", self.step(&local)),
            7 if self.in_loop => "if (__VERIFIER_nondet_bool()) break; ".to_owned(),
            8 if self.in_loop => "if (__VERIFIER_nondet_bool()) continue; ".to_owned(),
            7 | 8 => format!("g = 100 / {local}; "),
            9 => self.lock(),
            10 => match self.callees.first() {
                None => "g = 3; ".to_owned(),
                Some(_) => match *self.rng.pick(self.callees) {
                    callee @ ("in" | "out") => format!("{callee}(); "),
                    callee => format!("{local} = {callee}({}); ", self.local()),
                },
            },
            11 if self.has_threads => self.thread(),
            11 => format!("{local} = {}; ", self.local()),
            12 | 13 => {
                let test = self.test(&local);
                let (then, otherwise) = (self.block(2), self.block(1));
                format!("if ({test}) {{ {then} }} else {{ {otherwise} }} ")
            }
            14 => {
                let test = self.test(&local);
                format!("if ({test}) a[{local}] = 1; ")
            }
            15 => format!("pthread_mutex_lock(&m); {} pthread_mutex_unlock(&m); ", self.block(1)),
            _ => self.repeated(),
        }
    }

    fn lock(&mut self) -> String {
        let which = ["&m", "&m", "&ms[0]", "&ms[1]", "&ms[g & 1]"];
        let lock = *self.rng.pick(&which);
        match self.rng.below(5) {
            0 => format!("pthread_mutex_lock({lock}); "),
            1 => format!("pthread_mutex_unlock({lock}); "),
            2 => format!("if (pthread_mutex_trylock({lock}) == 0) pthread_mutex_unlock({lock}); "),
            3 => format!("pthread_mutex_init({lock}, 0); "),
            _ => format!("pthread_mutex_lock({lock}); g++; pthread_mutex_unlock({lock}); "),
        }
    }

    fn thread(&mut self) -> String {
        match self.rng.below(7) {
            0 => "pthread_join(t, 0); ".to_owned(),
            1 => "pthread_join(h, 0); ".to_owned(),
            2 => "pthread_create(&h, 0, w, 0); ".to_owned(),
            3 => "pthread_detach(t); ".to_owned(),
            4 => "pthread_create(&t, 0, w, 0); if (__VERIFIER_nondet_bool()) pthread_join(t, 0); ".to_owned(),
            5 => "pthread_create(&t, 0, w, 0); ".to_owned(),
            _ => "pthread_create(&t, 0, w, 0); pthread_join(t, 0); ".to_owned(),
        }
    }
}
