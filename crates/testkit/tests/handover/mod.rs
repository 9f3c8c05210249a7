//! Random programs whose threads hand over data by flags and locks: where proofs that there is no race can go wrong.

use pdnet_base::Rng;

use crate::counting::PRELUDE;

/// Statements of `main`; those of the workers, and of functions that either may call.
const MAIN: &[&str] = &[
    "d = 1; ",
    "d = 1; ",
    "e = d; ",
    "f = 1; ",
    "LOCK f = 1; UNLOCK ",
    "LOCK f = 1; UNLOCK ",
    "LOCK k = 2; UNLOCK ",
    "f = 0; ",
    "LOCK f = 0; UNLOCK ",
    "LOCK d = 2; UNLOCK ",
    "pthread_create(&t, 0, v, 0); ",
    "pthread_create(&t, 0, v, 0); ",
    "pthread_create(&t, 0, w, 0); ",
    "if (__VERIFIER_nondet_bool()) { NEXT } ",
    "while (__VERIFIER_nondet_bool()) { NEXT } ",
    "help(); ",
    "put(); ",
];
const WORKER: &[&str] = &[
    "x = d; ",
    "LOCK r = f; UNLOCK if (r) { x = d; } ",
    "LOCK r = f; UNLOCK if (r) { x = d; } ",
    "LOCK r = !f; UNLOCK if (!r) { x = e; } ",
    "LOCK r = f + 1; UNLOCK if (r == 1) { x = d; } ",
    "LOCK r = f; r = k; UNLOCK if (r) { x = d; } ",
    "LOCK r = k; UNLOCK if (r == 2) { NEXT } ",
    "LOCK while (!f) pthread_cond_wait(&c, &m); UNLOCK x = d; ",
    "LOCK while (!f) pthread_cond_wait(&c, &m); UNLOCK NEXT ",
    "LOCK x = d; UNLOCK ",
    "if (f) { x = d; } ",
    "while (!f) ; x = d; ",
    "help(); ",
];
const RARE: &[&str] = &["LOCK f = 1; UNLOCK ", "put(); ", "e = 1; ", "LOCK f = 0; UNLOCK "];
const HELP: &[&str] =
    &["LOCK f = 1; UNLOCK ", "LOCK k = 2; UNLOCK ", "x = d; ", "LOCK x = e; UNLOCK ", "k = 2; "];

fn block(rng: &mut Rng, from: &[&str], n: usize, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + rng.below(n) {
        let statement = if depth > 0 && rng.chance(4) { *rng.pick(RARE) } else { *rng.pick(from) };
        let next = if depth < 3 && statement.contains("NEXT") {
            block(rng, from, 2, depth + 1)
        } else {
            String::new()
        };
        text += &statement.replace("NEXT", &next);
    }
    text
}

/// A random program.
pub(crate) fn program(rng: &mut Rng) -> String {
    let mut text = String::from(PRELUDE);
    let ty = *rng.pick(&["int", "unsigned char", "_Bool"]);
    text += &format!("int d, e; {ty} f; int k; pthread_mutex_t m = {{ 0 }}; pthread_cond_t c;\n");
    let locals = "int x = 0, r = 0; ";
    text += "void put(void) { d = 3; }\n";
    text += &format!("void help(void) {{ {locals}{} }}\n", rng.pick(HELP));
    for name in ["v", "w"] {
        let body = block(rng, WORKER, 2, 1);
        text += &format!("void *{name}(void *p) {{ {locals}{body} return 0; }}\n");
    }
    let body = block(rng, MAIN, 6, 0);
    text += &format!("int main(void) {{ pthread_t t; pthread_create(&t, 0, v, 0); {body} return 0; }}\n");
    text.replace("UNLOCK", "pthread_mutex_unlock(&m);").replace("LOCK", "pthread_mutex_lock(&m);")
}
