//! Random programs in which some threads are alike: they run the same function, and go on forever, so that formulas are broken on
//! cycles on which threads exchange their roles.
//!
//! Threads tell each other apart only by where they stand, by their locals, and by handles that are kept in globals. In some programs the
//! formula names one of them, or they have different arguments.

use std::fmt::Write as _;

use pdnet_base::Rng;

/// What programs begin with.
const PRELUDE: &str = "typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t;\n\
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); void pthread_exit(void *);\n\
pthread_t pthread_self(void); int pthread_equal(pthread_t, pthread_t); int pthread_join(pthread_t, void **);\n\
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n\
void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); void __VERIFIER_assume(int);\n";

/// A random C program, preprocessed.
#[must_use]
pub fn random_alike(rng: &mut Rng) -> String {
    let mut text = format!("{PRELUDE}int x, y; pthread_mutex_t m; pthread_t who;\n");
    let n_functions = 1 + rng.below(10) / 7;
    for function in 0..n_functions {
        let _ = writeln!(text, "void *f{function}(void *p) {{ int k = 0;");
        let mut writer = Writer { rng, text, in_loop: false };
        if writer.rng.chance(30) {
            writer.statement(1);
        }
        writer.in_loop = writer.rng.chance(85);
        writer.line(if writer.in_loop { "while (1) {" } else { "{" });
        if writer.in_loop && writer.rng.chance(50) {
            writer.turn();
        }
        for _ in 0..1 + writer.rng.below(2) {
            writer.statement(0);
        }
        writer.line("} return 0; }");
        text = writer.text;
    }
    text += "int main(void) { pthread_t t, s;\n";
    let n_threads = if rng.chance(70) { n_functions + 1 } else { 3 };
    let mut is_second = false;
    for thread in 0..n_threads {
        let function = if thread + 1 == n_threads { n_functions - 1 } else { 0 };
        let handle = match rng.below(10) {
            0 => "who",
            // Main can tell them apart.
            1 | 2 if thread > 0 => "s",
            _ => "t",
        };
        is_second |= handle == "s";
        let argument = if rng.chance(3) { "&x" } else { "0" };
        let _ = writeln!(text, "pthread_create(&{handle}, 0, f{function}, {argument});");
    }
    let end = *rng.pick(&[
        "pthread_exit(0); }",
        "pthread_exit(0); }",
        "y = 1; pthread_exit(0); }",
        if is_second {
            "pthread_join(s, 0); y = 1; return 0; }"
        } else {
            "pthread_join(t, 0); y = 1; return 0; }"
        },
    ]);
    text + end + "\n"
}

/// A random formula about such a program.
#[must_use]
pub fn random_alike_formula(rng: &mut Rng) -> String {
    let (a, b) = (atom(rng), atom(rng));
    match rng.below(9) {
        0 => format!("G F ({a})"),
        1 => format!("F G ({a})"),
        2 => format!("G (({a}) -> F ({b}))"),
        3 => format!("(G F ({a})) -> G F ({b})"),
        4 => format!("F (({a}) && F ({b}))"),
        5 => format!("G (({a}) -> (({a}) U ({b})))"),
        6 => format!("!(({a}) && ({b})) || F G !({a})"),
        7 => format!("G (({a}) -> F G ({b}))"),
        _ => format!("F ({a})"),
    }
}

fn atom(rng: &mut Rng) -> String {
    let value = rng.below(3);
    match rng.below(20) {
        0 => format!("f0[1]::k == {value}"),
        1 => "terminated(f0[2])".to_owned(),
        2 => "deadlock".to_owned(),
        3..=11 => format!("x == {value}"),
        12..=13 => "x == y".to_owned(),
        _ => format!("y == {value}"),
    }
}

struct Writer<'a> {
    rng: &'a mut Rng,
    text: String,
    in_loop: bool,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn statement(&mut self, depth: usize) {
        let value = self.rng.below(3);
        match self.rng.below(if depth > 0 { 8 } else { 13 }) {
            0 => self.line(&format!("x = {value};")),
            1 => self.line("x = 1 - x;"),
            2 => self.line("k = x;"),
            3 => self.line("x = k;"),
            4 => self.line("k = 1 - k;"),
            5 => self.line(&format!("y = {value};")),
            6 => self.line(&format!("while (x != {value});")),
            7 if self.in_loop => self.line(&format!("if (k == {value}) break;")),
            7 => self.line("who = pthread_self();"),
            8 => self.region("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();", false),
            9 => self.region("__VERIFIER_atomic_begin();", "__VERIFIER_atomic_end();", true),
            10 => self.region("pthread_mutex_lock(&m);", "pthread_mutex_unlock(&m);", false),
            11 => {
                let condition = match self.rng.below(4) {
                    0 => format!("x == {value}"),
                    1 => "pthread_equal(who, pthread_self())".to_owned(),
                    _ => format!("k == {value}"),
                };
                self.line(&format!("if ({condition}) {{"));
                self.statement(depth + 1);
                self.line("}");
            }
            _ => self.turn(),
        }
    }

    /// Whoever comes here is not who was here last.
    fn turn(&mut self) {
        self.line("__VERIFIER_atomic_begin(); __VERIFIER_assume(!pthread_equal(who, pthread_self()));");
        let value = self.rng.below(3);
        let more = match self.rng.below(6) {
            0 => format!("x = {value};"),
            1 => "x = 1 - x;".to_owned(),
            2 => "k = 1 - k;".to_owned(),
            3 => "x = k;".to_owned(),
            _ => String::new(),
        };
        self.line(&format!("who = pthread_self(); {more} __VERIFIER_atomic_end();"));
    }

    fn region(&mut self, begin: &str, end: &str, waits: bool) {
        self.line(begin);
        if waits {
            let (variable, value) = (*self.rng.pick(&["x", "k"]), self.rng.below(2));
            self.line(&format!("__VERIFIER_assume({variable} == {value});"));
        }
        let in_loop = std::mem::take(&mut self.in_loop);
        for _ in 0..1 + self.rng.below(2) {
            self.statement(1);
        }
        self.in_loop = in_loop;
        self.line(end);
    }
}

/// A random Promela model: processes of the same kind that never end, with the variables of [`random_alike_formula`] and of no other kind.
#[must_use]
pub fn random_alike_model(rng: &mut Rng) -> String {
    let capacity = rng.below(2);
    let mut text = format!("byte x, y;\nchan c = [{capacity}] of {{ bit }};\n");
    for (number, name) in ["p", "q"].iter().enumerate() {
        let n_processes = if number == 0 { 2 + rng.below(2) } else { rng.below(2) };
        if n_processes == 0 {
            continue;
        }
        let _ = writeln!(text, "active [{n_processes}] proctype {name}() {{ byte k;\ndo\n:: false");
        if rng.chance(70) {
            // One of them has what the others wait for, and hands it over.
            let value = rng.below(2);
            text += ":: atomic { y == 0; y = 1; k = 1 }\n";
            let _ = writeln!(
                text,
                ":: atomic {{ k == 1; c!{value}; k = 0 }}\n:: atomic {{ k == 0; c?x; k = 1 }}"
            );
        }
        for _ in 0..rng.below(3) {
            let n = 1 + rng.below(3);
            let (first, last) = if n > 1 && rng.chance(50) { ("atomic { ", " }") } else { ("", "") };
            let steps: Vec<String> = (0..n).map(|_| step(rng)).collect();
            let _ = writeln!(text, ":: {first}{}{last}", steps.join("; "));
        }
        text += "od }\n";
    }
    text
}

fn step(rng: &mut Rng) -> String {
    let value = rng.below(2);
    match rng.below(10) {
        0 => format!("x == {value}"),
        1 => format!("k == {value}"),
        2 => format!("x = {value}"),
        3 => "x = 1 - x".to_owned(),
        4 => "k = 1 - k".to_owned(),
        5 => "k = x".to_owned(),
        6 => format!("y = {value}"),
        7 => format!("c!{value}"),
        8 => "c?k".to_owned(),
        _ => format!("y != {value}"),
    }
}

/// A random formula about such a model.
#[must_use]
pub fn random_alike_model_formula(rng: &mut Rng) -> String {
    let mut atom = || format!("({} == {})", rng.pick(&["x", "x", "y"]), rng.below(2));
    let (a, b) = (atom(), atom());
    match rng.below(6) {
        0 => format!("[] <> {a}"),
        1 => format!("<> [] {a}"),
        2 => format!("[] ({a} -> <> {b})"),
        3 => format!("([] <> {a}) -> [] <> {b}"),
        4 => format!("[] ({a} -> <> [] {b})"),
        _ => format!("<> {a}"),
    }
}
