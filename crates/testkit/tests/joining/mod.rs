//! Random programs whose first thread starts others and waits for them: one by one and in loops, in functions, all of them or some.

use pdnet_base::Rng;

const PRELUDE: &str = "typedef unsigned long pthread_t;\n\
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);\n\
int pthread_detach(pthread_t); void pthread_exit(void *);\n\
typedef struct { int k; } pthread_mutex_t; int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n\
int x, y, go, only; pthread_t g[2]; pthread_mutex_t m;\n\
void *o(void *p) { pthread_mutex_lock(&m); only = only + 1; pthread_mutex_unlock(&m); return 0; }\n\
void *v(void *p) { if (x) go = 1; y = 2; return 0; }\n";

/// A program, preprocessed.
pub(super) fn program(rng: &mut Rng) -> String {
    let mut text = PRELUDE.to_owned();
    text += *rng.pick(&[
        "void *w(void *p) { x = x + 1; return 0; }\n",
        "void *w(void *p) { pthread_mutex_lock(&m); x = x + 1; pthread_mutex_unlock(&m); return 0; }\n",
    ]);
    // Not only the first thread starts others.
    let starts = if rng.chance(10) { "pthread_create(&g[1], 0, v, 0);" } else { "" };
    let main = main(rng);
    for (used, function) in [
        (" u,", format!("void *u(void *p) {{ {starts} y = y + 1; return 0; }}\n")),
        ("start()", "void start(void) { pthread_create(&g[0], 0, w, 0); }\n".to_owned()),
        ("finish()", "void finish(void) { pthread_join(g[0], 0); }\n".to_owned()),
        ("take(", "void take(pthread_t *h) { pthread_create(h, 0, v, 0); }\n".to_owned()),
    ] {
        if main.contains(used) {
            text += &function;
        }
    }
    text + &main
}

fn main(rng: &mut Rng) -> String {
    let mut text = "int main(void) { pthread_t a, b, t[2]; int i, n;\n".to_owned();
    if rng.chance(60) {
        for _ in 0..1 + rng.below(10) / 8 {
            text += &phase(rng);
        }
        return text + *rng.pick(&["return x; }\n", "n = x; y = n; return 0; }\n"]);
    }
    let mut n_starts = 0;
    for _ in 0..3 + rng.below(7) {
        // First they are started, mostly.
        let starts = n_starts < 3 && rng.chance(if n_starts == 0 { 85 } else { 40 });
        n_starts += usize::from(starts);
        let line = if starts { start(rng) } else { go_on(rng) };
        text += &line;
        text.push('\n');
    }
    text + *rng.pick(&["return x; }\n", "n = x; y = n; return 0; }\n", "pthread_exit(0); }\n"])
}

/// Threads that are started and waited for, nearly always all of them.
fn phase(rng: &mut Rng) -> String {
    let function = *rng.pick(&["w", "w", "v", "u"]);
    let between = if rng.chance(30) { go_on(rng) } else { String::new() };
    let after =
        rng.pick(&["x = 1;", "n = x;", "for (i = 0; i < 2; i++) x = i;", "only = 7;", "n = only;", ""]);
    let is_forgotten = rng.chance(10);
    let wait = |line: &'static str| if is_forgotten { "" } else { line };
    let (starts, waits) = match rng.below(6) {
        0 => (
            format!("for (i = 0; i < 2; i++) pthread_create(&t[i], 0, {function}, 0);"),
            if is_forgotten {
                "for (i = 0; i < 1; i++) pthread_join(t[i], 0);"
            } else {
                "for (i = 0; i < 2; i++) pthread_join(t[i], 0);"
            },
        ),
        1 => ("start();".to_owned(), wait("finish();")),
        // Others may change what the first thread has written.
        5 => ("go = 0; x = 1; pthread_create(&a, 0, v, 0);".to_owned(), wait("if (!go) pthread_join(a, 0);")),
        2 => ("pthread_create(&g[1], 0, o, 0); a = g[1];".to_owned(), wait("pthread_join(a, 0);")),
        3 => (
            format!("pthread_create(&a, 0, {function}, 0); pthread_create(&b, 0, w, 0);"),
            if is_forgotten { "pthread_join(b, 0);" } else { "pthread_join(b, 0); pthread_join(a, 0);" },
        ),
        _ => ("take(&b);".to_owned(), wait("pthread_join(b, 0);")),
    };
    format!("{starts}\n{between}\n{waits}\n{after}\n")
}

fn handle(rng: &mut Rng) -> &'static str {
    const HANDLES: [&str; 8] = ["a", "a", "b", "t[0]", "t[1]", "g[0]", "g[1]", "t[i & 1]"];
    HANDLES[rng.below(HANDLES.len())]
}

fn start(rng: &mut Rng) -> String {
    let (handle, function) = (handle(rng), *rng.pick(&["w", "w", "v", "u"]));
    match rng.below(8) {
        0 | 1 => format!("for (i = 0; i < 2; i++) pthread_create(&t[i], 0, {function}, 0);"),
        2 => "start();".to_owned(),
        3 if rng.chance(50) => "take(&a);".to_owned(),
        4 => format!("if (x) pthread_create(&{handle}, 0, {function}, 0);"),
        _ => format!("pthread_create(&{handle}, 0, {function}, 0);"),
    }
}

fn go_on(rng: &mut Rng) -> String {
    let handle = handle(rng);
    match rng.below(16) {
        0..3 => "for (i = 0; i < 2; i++) pthread_join(t[i], 0);".to_owned(),
        3 => "finish();".to_owned(),
        4 => format!("if (go) pthread_join({handle}, 0);"),
        5 => "a = b;".to_owned(),
        6 => "g[0] = a;".to_owned(),
        7 => "for (i = 0; i < x; i++) n = i;".to_owned(),
        8 => "x = 5;".to_owned(),
        9 => "n = x; x = n + 1;".to_owned(),
        10 if rng.chance(30) => format!("pthread_detach({handle});"),
        11 => "while (!go) n = y;".to_owned(),
        _ => format!("pthread_join({handle}, 0);"),
    }
}
