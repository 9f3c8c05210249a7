//! Random threads that work on shared structs through pointers: blocks of the heap and globals in a ring, locks in
//! structs, condition variables, atomic functions.
//!
//! A statement touches a shared object at most once and stands on a line of its own, so that a run is told by the
//! order in which threads come to lines. That order can be forced upon the compiled program, which then does what
//! pdnet says: see [`RandomThreads::forced`].

use std::fmt::Write as _;

use pdnet_base::Rng;

/// A program. Statements between two `$` are those whose order a schedule forces.
#[derive(Clone, Debug)]
pub struct RandomThreads {
    text: String,
    /// Whether a schedule can be forced upon it. A wait for a condition, and a bit-field that is written, are more
    /// than one step of a statement.
    pub is_forcible: bool,
    /// The first thread, as a formula names it.
    thread: &'static str,
}

/// What programs for pdnet begin with, on one line.
const PRELUDE: &str = "typedef unsigned long size_t; typedef unsigned long pthread_t; \
typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t; \
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **); \
int pthread_mutex_init(pthread_mutex_t *, const void *); int pthread_mutex_lock(pthread_mutex_t *); \
int pthread_mutex_unlock(pthread_mutex_t *); int pthread_cond_init(pthread_cond_t *, const void *); \
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *); \
int pthread_cond_broadcast(pthread_cond_t *); void *malloc(size_t); void free(void *); void __pdnet_assert(_Bool);\n";

/// The baton: a thread goes on where it and its line are the next ones of the schedule.
const BATON: &str = r#"#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static const struct { int thread, line; } schedule[] = { SCHEDULE };
static int next, n_threads;
static _Thread_local int me;
static pthread_mutex_t baton = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static void turn(int line) {
    pthread_mutex_lock(&baton);
    while (schedule[next].thread != me || schedule[next].line != line) pthread_cond_wait(&moved, &baton);
    pthread_mutex_unlock(&baton);
}
static void done(void) {
    pthread_mutex_lock(&baton); next++; pthread_cond_broadcast(&moved); pthread_mutex_unlock(&baton);
}
struct start { void *(*f)(void *); void *argument; int number; };
static void *start(void *p) { struct start *s = p; me = s->number; return s->f(s->argument); }
static int create(pthread_t *t, const void *a, void *(*f)(void *), void *argument) {
    struct start *s = malloc(sizeof *s);
    s->f = f; s->argument = argument; s->number = ++n_threads;
    return pthread_create(t, 0, start, s);
}
#define pthread_create create
#define STEP(statement) do { turn(__LINE__); statement; done(); } while (0)
#define __pdnet_assert(condition) do { if (!(condition)) _exit(77); } while (0)
#line 2
"#;

impl RandomThreads {
    /// The program for pdnet, without directives.
    #[must_use]
    pub fn plain(&self) -> String {
        format!("{PRELUDE}{}", self.text.replace('$', ""))
    }

    /// The program for the compiler, in which threads come to the lines in this order, given as the number of the
    /// thread and the line. A failed assertion ends it with status 77; where the order is not possible, it ends
    /// by an alarm.
    #[must_use]
    pub fn forced(&self, schedule: &[(i64, u32)]) -> String {
        let mut list = String::new();
        for (thread, line) in schedule {
            let _ = write!(list, "{{ {thread}, {line} }}, ");
        }
        let mut text = BATON.replace("SCHEDULE", &format!("{list}{{ -1, 0 }}"));
        for line in self.text.lines() {
            let mut parts = line.split('$');
            match (parts.next(), parts.next(), parts.next()) {
                (Some(before), Some(statement), Some(after)) => {
                    let _ = writeln!(text, "{before}STEP({statement}){after}");
                }
                _ => text += &format!("{line}\n"),
            }
        }
        text.replacen("int main(void) {", "int main(void) { alarm(20);", 1)
    }

    /// Whether a schedule forces the order of what stands on a line of [`Self::plain`].
    #[must_use]
    pub fn is_forced(&self, line: u32) -> bool {
        let text = usize::try_from(line).ok().and_then(|line| self.text.lines().nth(line.checked_sub(2)?));
        text.is_some_and(|text| text.contains('$'))
    }
}

/// A random program.
#[must_use]
pub fn random_threads(rng: &mut Rng) -> RandomThreads {
    let has_conditions = rng.chance(30);
    let mut writer = Writer { rng, text: String::new(), has_conditions, n_statements: 0 };
    let thread = if writer.program() == 1 { "thr0" } else { "thr0[1]" };
    let is_forcible = !has_conditions && !writer.text.contains("(p->b =");
    RandomThreads { text: writer.text, is_forcible, thread }
}

/// A random formula about such a program.
#[must_use]
pub fn random_threads_formula(rng: &mut Rng, program: &RandomThreads) -> String {
    let (a, b) = (atom(rng, program.thread), atom(rng, program.thread));
    match rng.below(8) {
        0 => format!("G ({a})"),
        1 => format!("F ({a})"),
        2 => format!("G (({a}) -> F ({b}))"),
        3 => format!("G F ({a})"),
        4 => format!("F G !({a})"),
        5 => format!("({a}) U ({b})"),
        6 => format!("!({a}) W ({b})"),
        _ => "F end".to_owned(),
    }
}

fn atom(rng: &mut Rng, thread: &str) -> String {
    let value = rng.below(3);
    match rng.below(7) {
        0 => format!("g == {value}"),
        1 => format!("s.x == {value}"),
        2 => format!("s.y < {value}"),
        3 => format!("s.a[{}] != {value}", rng.below(2)),
        4 => format!("terminated({thread})"),
        5 => format!("{thread}::r == {value}"),
        _ => "end".to_owned(),
    }
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    has_conditions: bool,
    n_statements: usize,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// The number of threads that run the first function.
    fn program(&mut self) -> usize {
        let ty = *self.rng.pick(&["int", "unsigned char", "short", "long"]);
        self.line(&format!(
            "struct s {{ {ty} x; int y; unsigned b : 3; int a[2]; struct s *next; pthread_mutex_t m;"
        ));
        self.line("pthread_cond_t c; };");
        self.line("struct s s; struct s *shared; int g;");
        self.line("int add(int a) { return (a + 1) & 3; }");
        self.line("int flip(int a) { return a ^ 1; }");
        self.line("int (*table[2])(int) = { add, flip };");
        let n_functions = 1 + self.rng.below(2);
        for function in 0..n_functions {
            self.line(&format!("void *thr{function}(void *arg) {{"));
            self.line("struct s *p = arg; int *ip = &p->y; int r = 0;");
            let n = 2 + self.rng.below(3);
            self.statements(n, 1);
            self.line("return p; }");
        }
        self.line("int main(void) {");
        self.line("pthread_t t0, t1; int r = 0; struct s *p = malloc(sizeof *p); int *ip = &p->a[1];");
        self.line(
            "p->x = 0; p->y = 1; p->b = 0; p->a[0] = 0; p->a[1] = 2; p->next = &s; s.next = p; shared = &s;",
        );
        self.line("pthread_mutex_init(&p->m, 0); pthread_cond_init(&p->c, 0);");
        self.line("pthread_mutex_init(&s.m, 0); pthread_cond_init(&s.c, 0);");
        let n_threads = 1 + self.rng.below(2);
        for thread in 0..n_threads {
            let argument = *self.rng.pick(&["p", "&s", "p->next"]);
            let function = thread.min(n_functions - 1);
            // A field is read before the step, which is the creation alone.
            self.line(&format!(
                "struct s *a{thread} = {};",
                if argument == "p->next" { "&s" } else { argument }
            ));
            self.line(&format!("$pthread_create(&t{thread}, 0, thr{function}, a{thread})$;"));
        }
        if self.rng.chance(60) {
            let n = 1 + self.rng.below(2);
            self.statements(n, 0);
        }
        for thread in 0..n_threads {
            if self.rng.chance(75) {
                self.line(&format!("$pthread_join(t{thread}, 0)$;"));
            }
        }
        let n = self.rng.below(3);
        self.statements(n, 0);
        let object = self.object();
        self.line(&format!("$r = {object}$;"));
        let limit = self.rng.below(4);
        self.line(&format!("__pdnet_assert(r != {limit});"));
        self.line("return 0; }");
        if n_functions == 1 { n_threads } else { 1 }
    }

    /// A shared integer.
    fn object(&mut self) -> String {
        (*self.rng.pick(&["p->x", "p->y", "p->b", "p->a[1]", "p->a[r & 1]", "*ip", "g", "s.x", "ip[0]"]))
            .to_owned()
    }

    fn statements(&mut self, n: usize, nesting: usize) {
        for _ in 0..n {
            self.statement(nesting);
        }
    }

    fn statement(&mut self, nesting: usize) {
        self.n_statements += 1;
        let object = self.object();
        match self.rng.below(if nesting == 0 { 12 } else { 18 }) {
            0 | 1 => self.line(&format!("$r = {object}$;")),
            2 | 3 => {
                let value = *self.rng.pick(&["r + 1 & 3", "1", "2", "r ^ 1", "(r & 1) + 1"]);
                self.line(&format!("$({object} = {value})$;"));
            }
            4 => {
                self.line(&format!("$r = {object}$;"));
                let call = *self.rng.pick(&["r = table[r & 1](r);", "r = (r + 1) & 3;", "r ^= 3;"]);
                self.line(call);
                self.line(&format!("$({object} = r)$;"));
            }
            5 => self.line("$p = p->next$;"),
            6 => self.line("$p = shared$;"),
            7 => self.line("$shared = p$;"),
            8 => {
                let target = *self.rng.pick(&["&p->y", "&p->a[0]", "p->a + 1", "&g", "&s.y"]);
                self.line(&format!("ip = {target};"));
            }
            9 => {
                let target = *self.rng.pick(&["&p->y", "ip", "&g", "&p->a[r & 1]"]);
                let call = *self.rng.pick(&[
                    "__atomic_fetch_add(T, 1, 5)",
                    "__sync_fetch_and_xor(T, 1)",
                    "__atomic_exchange_n(T, 1, 5)",
                ]);
                self.line(&format!("$r = {} & 3$;", call.replace('T', target)));
            }
            10 | 11 => {
                let limit = self.rng.below(4);
                self.line(&format!("__pdnet_assert(r != {limit});"));
            }
            12..15 => {
                let lock = *self.rng.pick(&["p", "p", "(&s)"]);
                // The pointer may change meanwhile; another one keeps it.
                let n = self.n_statements;
                self.line(&format!("struct s *l{n} = {lock};"));
                self.line(&format!("$pthread_mutex_lock(&l{n}->m)$;"));
                if self.has_conditions && self.rng.chance(50) {
                    if self.rng.chance(50) {
                        self.line(&format!("while (l{n}->y == 0) pthread_cond_wait(&l{n}->c, &l{n}->m);"));
                    } else {
                        let value = self.rng.below(2);
                        self.line(&format!("l{n}->y = {value};"));
                        let name = *self.rng.pick(&["signal", "broadcast"]);
                        self.line(&format!("pthread_cond_{name}(&l{n}->c);"));
                    }
                }
                self.statements(1, nesting - 1);
                self.statement(0);
                self.line(&format!("$pthread_mutex_unlock(&l{n}->m)$;"));
            }
            15 | 16 => {
                self.line("if (r) {");
                self.statement(nesting - 1);
                self.line("}");
            }
            _ => {
                let i = self.n_statements;
                self.line(&format!("for (int i{i} = 0; i{i} < 2; i{i}++) {{"));
                self.statement(nesting - 1);
                self.line("}");
            }
        }
    }
}
