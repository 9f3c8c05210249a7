//! Random small C programs in which much can be merged: regions under locks, atomic sections, local work; and much
//! that must not be, because something is in the way.
//!
//! Every global has a lock that most statements take before they touch it, some take another one, and some none. So a
//! global may be protected by all of its accesses, or by all but one. Regions nest, in any order; locks are tried, forgotten,
//! taken twice; in the middle of a region a thread may wait, assert, choose, loop, call, end, or end the process.
//!
//! Values are taken modulo 3. Every statement stands on a line of its own, and so does every brace, for
//! [`crate::shrink_lines`].

use pdnet_base::Rng;

use crate::Sliceable;

const N_GLOBALS: usize = 3;

/// A random program, without the declarations of the thread library, and what formulas can say of it.
#[must_use]
pub fn random_regions(rng: &mut Rng) -> Sliceable {
    let mut writer = Writer { rng, lines: Vec::new(), loops: 0 };
    let n_threads = 1 + usize::from(writer.rng.chance(45));
    let n_locks = 1 + writer.rng.below(2);
    let n_instances = if n_threads == 1 && writer.rng.chance(50) { 2 } else { 1 };
    for global in 0..N_GLOBALS {
        writer.line(format!("int g{global} = {};", usize::from(global == 0)));
    }
    writer.line("int a0[2];".into());
    for lock in 0..n_locks {
        writer.line(format!("pthread_mutex_t m{lock};"));
    }
    writer.line("sem_t s0;".into());
    writer.line("pthread_cond_t c0;".into());
    writer.line("int h0(int v) {".into());
    writer.line("int w = (v + 1) % 3;".into());
    if writer.rng.chance(30) {
        writer.line("g0 = w;".into());
    }
    writer.line("return w;".into());
    writer.line("}".into());
    for thread in 0..n_threads {
        writer.line(format!("void *thr{thread}(void *arg) {{"));
        writer.line("int l = 0;".into());
        writer.body(n_locks, 2 + n_locks);
        writer.line("return 0;".into());
        writer.line("}".into());
    }
    // What the first thread does beside or before the others may stand in functions, and so may the start of a thread.
    let has_helper = writer.rng.chance(35);
    if has_helper {
        writer.line("int h1() {".into());
        writer.line("int l = 0;".into());
        writer.body(n_locks, 2);
        writer.line("return l;".into());
        writer.line("}".into());
    }
    let starts_in_helper = writer.rng.chance(15);
    if starts_in_helper {
        writer.line("pthread_t u0;".into());
        writer.line("void h2() {".into());
        writer.line("pthread_create(&u0, 0, thr0, 0);".into());
        writer.line("}".into());
    }
    writer.line("int main() {".into());
    writer.line("int l = 0;".into());
    let mut threads = vec!["main".to_owned()];
    for thread in 0..n_threads {
        for instance in 0..n_instances {
            writer.line(format!("pthread_t t{thread}_{instance};"));
        }
    }
    writer.line("sem_init(&s0, 0, 1);".into());
    if writer.rng.chance(20) {
        writer.statement(n_locks, 0);
    }
    if has_helper && writer.rng.chance(20) {
        writer.line("h1();".into());
    }
    for thread in 0..n_threads {
        for instance in 0..n_instances {
            let in_helper = starts_in_helper && (thread, instance) == (0, 0);
            let create = format!("pthread_create(&t{thread}_{instance}, 0, thr{thread}, 0);");
            writer.line(if in_helper { "h2();".into() } else { create });
        }
        if n_instances == 1 {
            threads.push(format!("thr{thread}"));
        }
    }
    if has_helper && writer.rng.chance(80) {
        let call = *writer.rng.pick(&["l = h1();", "h1();", "__pdnet_assert(h1() != 2);"]);
        writer.line(call.into());
    } else if n_threads * n_instances < 2 || writer.rng.chance(30) {
        writer.body(n_locks, 2);
    }
    if writer.rng.chance(60) {
        for thread in 0..n_threads {
            for instance in 0..n_instances {
                let in_helper = starts_in_helper && (thread, instance) == (0, 0);
                let handle = if in_helper { "u0".into() } else { format!("t{thread}_{instance}") };
                writer.line(format!("pthread_join({handle}, 0);"));
            }
        }
        if writer.rng.chance(60) {
            let (global, value) = (writer.rng.below(N_GLOBALS), writer.rng.below(3));
            writer.line(format!("__pdnet_assert(g{global} != {value});"));
        }
    }
    if writer.rng.chance(20) {
        writer.line("pthread_exit(0);".into());
    }
    writer.line("return 0;".into());
    writer.line("}".into());
    let text = writer.lines.join("\n") + "\n";
    let globals: Vec<String> = (0..N_GLOBALS).map(|global| format!("g{global}")).collect();
    Sliceable {
        text,
        values: [globals.clone(), globals],
        mutexes: (0..n_locks).map(|lock| format!("m{lock}")).collect(),
        threads,
        calls: vec!["h0".into(), "pthread_mutex_unlock".into()],
        ..Sliceable::default()
    }
}

struct Writer<'a> {
    rng: &'a mut Rng,
    lines: Vec<String>,
    loops: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    fn body(&mut self, n_locks: usize, most: usize) {
        self.loops = 0;
        for _ in 0..1 + self.rng.below(most) {
            self.statement(n_locks, 2);
        }
    }

    /// The lock that a global has, mostly.
    fn lock_of(&mut self, global: usize, n_locks: usize) -> usize {
        if self.rng.chance(90) { global % n_locks } else { self.rng.below(n_locks) }
    }

    fn statement(&mut self, n_locks: usize, depth: usize) {
        match self.rng.below(if depth == 0 { 5 } else { 14 }) {
            0 => self.access(),
            1 => self.local(),
            2 => self.local(),
            3 => {
                let call = if self.rng.chance(50) { "l = h0(l);" } else { "h0(l);" };
                self.line(call.into());
            }
            4 => {
                let (global, value) = (self.rng.below(N_GLOBALS), self.rng.below(4));
                self.line(format!("__pdnet_assert(g{global} != {value});"));
            }
            5..=9 => self.region(n_locks, depth - 1),
            10 => {
                self.line("__VERIFIER_atomic_begin();".into());
                self.access();
                if self.rng.chance(70) {
                    self.statement(n_locks, 0);
                }
                self.line("__VERIFIER_atomic_end();".into());
            }
            11 => {
                let condition = self.condition();
                self.line(format!("if ({condition}) {{"));
                self.statement(n_locks, depth - 1);
                if self.rng.chance(50) {
                    self.line("} else {".into());
                    self.statement(n_locks, depth - 1);
                }
                self.line("}".into());
            }
            12 if self.loops == 0 => {
                self.loops += 1;
                let condition = if self.rng.chance(30) { "1".to_owned() } else { self.condition() };
                self.line(format!("while ({condition}) {{"));
                self.statement(n_locks, depth - 1);
                if self.rng.chance(60) {
                    self.local();
                }
                self.line("}".into());
            }
            _ => {
                let rare = [
                    "sem_wait(&s0);",
                    "sem_post(&s0);",
                    "__VERIFIER_assume(l != 2);",
                    "exit(0);",
                    "pthread_exit(0);",
                ];
                let line = *self.rng.pick(&rare);
                self.line(line.into());
            }
        }
    }

    fn condition(&mut self) -> String {
        let value = self.rng.below(3);
        let what = *self.rng.pick(&["l", "l", "g0", "g1", "__VERIFIER_nondet_bool()"]);
        format!("{what} == {value}")
    }

    fn local(&mut self) {
        let line = *self.rng.pick(&["l = (l + 1) % 3;", "l = 2 - l;", "l = l == 1;", "a0[l & 1] = l;"]);
        self.line(line.into());
    }

    fn access(&mut self) {
        let global = self.rng.below(N_GLOBALS);
        let line = match self.rng.below(6) {
            0 => format!("g{global} = (g{global} + 1) % 3;"),
            1 => format!("g{global} = l;"),
            2 => format!("l = g{global};"),
            3 => format!("g{global} = {};", self.rng.below(3)),
            4 => format!("a0[g{global} % {}] = l;", 2 + usize::from(self.rng.chance(20))),
            _ => format!("l = a0[g{global} & 1];"),
        };
        self.line(line);
    }

    fn region(&mut self, n_locks: usize, depth: usize) {
        let global = self.rng.below(N_GLOBALS);
        let lock = self.lock_of(global, n_locks);
        let tried = self.rng.chance(10);
        if tried {
            self.line(format!("if (pthread_mutex_trylock(&m{lock}) == 0) {{"));
        } else {
            self.line(format!("pthread_mutex_lock(&m{lock});"));
        }
        for _ in 0..1 + self.rng.below(2) {
            match self.rng.below(8) {
                0 => self.local(),
                6 => {
                    let line = *self.rng.pick(&["pthread_cond_signal(&c0);", "pthread_cond_broadcast(&c0);"]);
                    self.line(line.into());
                }
                7 => {
                    let value = self.rng.below(3);
                    self.line(format!("if (g{global} == {value}) {{"));
                    self.line(format!("pthread_cond_wait(&c0, &m{lock});"));
                    self.line("}".into());
                }
                1 => self.statement(n_locks, depth),
                2 => {
                    let value = 2 + self.rng.below(2);
                    self.line(format!("__pdnet_assert(g{global} != {value});"));
                }
                _ => self.line(format!("g{global} = (g{global} + 1) % 3;")),
            }
        }
        if self.rng.chance(95) {
            self.line(format!("pthread_mutex_unlock(&m{lock});"));
        }
        if tried {
            self.line("}".into());
        }
    }
}
