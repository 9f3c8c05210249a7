//! Programs in which a careless rule of agglomeration gives the wrong answer.
//!
//! Each row names the condition that it is about. Steps are merged in every one of these programs (there would be no
//! trap otherwise), the verdict stays, and a violation is lifted and replayed.

#[allow(dead_code, reason = "what is needed of slicing is the net of a program")]
mod sliced;

use pdnet_check::{Fairness, Property, PropertyKind, Verdict, replay};
use pdnet_explicit::Explicit;
use pdnet_front_c::LowerOptions;
use pdnet_net::{parse_net, verify_net};
use pdnet_reduce::{Method, agglomerate, slice};
use pdnet_source::SourceMap;
use sliced::{Ask, Class, PLAIN, answers, asked, class_of};

/// To start the thread and to call the function becomes one step, by which nobody is alone any more.
const CALLED_BESIDE: &str = "
int flag; int pending; int stopped;
int enter() { if (flag) { return -1; } else { pending = 2; } return 0; }
void *thr0(void *arg) { flag = 1; if (pending == 1) { stopped = 1; } return 0; }
int main() { pthread_t t; int s; pending = 1;
  pthread_create(&t, 0, thr0, 0);
  s = enter(); if (s == 0) { assert(!stopped); }
  return 0; }
";

struct Trap {
    name: &'static str,
    program: &'static str,
    question: &'static str,
    fairness: Fairness,
    expected: Class,
}

const fn trap(
    name: &'static str,
    program: &'static str,
    question: &'static str,
    fairness: Fairness,
    expected: Class,
) -> Trap {
    Trap { name, program, question, fairness, expected }
}

const SEEN: &str = "
int x; int y; pthread_mutex_t m;
void *thr0(void *arg) { pthread_mutex_lock(&m); y = 1; x = 1; x = 0; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0); pthread_join(t, 0); return 0; }
";

const CROSSED: &str = "
int x; int y; pthread_mutex_t a; pthread_mutex_t b;
void *thr0(void *arg) {
  pthread_mutex_lock(&a); x = 1; pthread_mutex_lock(&b); y = 1;
  pthread_mutex_unlock(&b); pthread_mutex_unlock(&a); return 0; }
void *thr1(void *arg) {
  pthread_mutex_lock(&b); y = 2; pthread_mutex_lock(&a); x = 2;
  pthread_mutex_unlock(&a); pthread_mutex_unlock(&b); return 0; }
int main() { pthread_t t; pthread_t u;
  pthread_create(&t, 0, thr0, 0); pthread_create(&u, 0, thr1, 0);
  pthread_join(t, 0); pthread_join(u, 0); return 0; }
";

const SPINNING: &str = "
int x;
void *thr0(void *arg) { int l = 0; while (1) { l = 1 - l; } return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0); x = 1; pthread_join(t, 0); return 0; }
";

const INVALIDATED: &str = "
int g; int l; pthread_mutex_t m;
void *thr0(void *arg) { pthread_mutex_lock(&m); l = g == 1; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; int r; int s = 0; pthread_create(&t, 0, thr0, 0);
  r = pthread_mutex_trylock(&m);
  if (r == 0) { pthread_mutex_unlock(&m); }
  g = 1;
  pthread_join(t, 0);
  s = s + 1;
  __pdnet_assert(r == 0 || l == 0);
  return 0; }
";

const CHOICE: &str = "
int g; int x; int y; pthread_mutex_t m;
void *thr0(void *arg) { int l = 0;
  pthread_mutex_lock(&m);
  if (g == 0) { l = 1; } else { l = 2; }
  y = l;
  pthread_mutex_unlock(&m);
  return 0; }
int main() { pthread_t t; int r; pthread_create(&t, 0, thr0, 0);
  r = pthread_mutex_trylock(&m);
  if (r == 0) { pthread_mutex_unlock(&m); }
  if (r != 0) { g = 1; }
  pthread_join(t, 0);
  __pdnet_assert(y != 2);
  return 0; }
";

const STARVED: &str = "
int x; pthread_mutex_t m; int w;
void *thr0(void *arg) { while (1) { pthread_mutex_lock(&m); w = 1 - w; pthread_mutex_unlock(&m); } return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0);
  pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }
";

const STARVED_BY_SECTIONS: &str = "
int x; int w;
void *thr0(void *arg) { while (1) { __VERIFIER_atomic_begin(); w = 1 - w; __VERIFIER_atomic_end(); } return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0); x = 1; pthread_join(t, 0); return 0; }
";

const FAULTY: &str = "
int i; int a[2]; int x; pthread_mutex_t m;
void *thr0(void *arg) { pthread_mutex_lock(&m); i = i + 2; a[i] = 1; i = 0; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; int r; pthread_create(&t, 0, thr0, 0);
  r = pthread_mutex_trylock(&m);
  if (r == 0) { x = i; pthread_mutex_unlock(&m); }
  __pdnet_assert(r == 0);
  pthread_join(t, 0); return 0; }
";

const FAILING: &str = "
int x; pthread_mutex_t m;
void *thr0(void *arg) {
  pthread_mutex_lock(&m); x = x + 1; __pdnet_assert(x != 2); x = x + 1; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0);
  pthread_mutex_lock(&m); x = 1 - x; pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }
";

const KEPT: &str = "
int x; pthread_mutex_t m;
void *thr0(void *arg) { pthread_mutex_lock(&m); x = 1; return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0);
  pthread_mutex_lock(&m); x = 2; pthread_mutex_unlock(&m); pthread_join(t, 0); return 0; }
";

const SECTION_RACE: &str = "
int x; int y;
void *thr0(void *arg) { __VERIFIER_atomic_begin(); y = 1; x = 1; __VERIFIER_atomic_end(); return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0); x = 2; pthread_join(t, 0); return 0; }
";

const ONE_UNPROTECTED: &str = "
int x; int n; pthread_mutex_t m;
void *thr0(void *arg) { int l; pthread_mutex_lock(&m); l = x; x = l + 1; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; int k = 0; pthread_create(&t, 0, thr0, 0);
  k = k + 1; x = 5; pthread_join(t, 0); __pdnet_assert(x != 1); return 0; }
";

const AFTER_A_SECTION: &str = "
int x; sem_t s;
void *thr0(void *arg) { int l = 1; __VERIFIER_atomic_begin(); x = l; sem_wait(&s); __VERIFIER_atomic_end(); return 0; }
int main() { pthread_t t; int l = 0; sem_init(&s, 0, 0); pthread_create(&t, 0, thr0, 0);
  l = l + 1; sem_post(&s); pthread_join(t, 0); return 0; }
";

const PUT_OFF_BEFORE_SECTIONS: &str = "
sem_t s;
void *thr0(void *arg) { while (1) { __VERIFIER_atomic_begin(); __VERIFIER_atomic_end(); } return 0; }
int main() { pthread_t t; sem_init(&s, 0, 1); pthread_create(&t, 0, thr0, 0);
  sem_wait(&s); pthread_join(t, 0); return 0; }
";

const WAITERS: &str = "
int x; int n; pthread_mutex_t m; pthread_cond_t c;
void *thr0(void *arg) { int l;
  pthread_mutex_lock(&m); n = n + 1; l = x; while (x == 0) { pthread_cond_wait(&c, &m); } n = n - 1;
  pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; pthread_t u; int l;
  pthread_create(&t, 0, thr0, 0); pthread_create(&u, 0, thr0, 0);
  pthread_mutex_lock(&m); x = 1; SIGNAL(&c); l = n; pthread_mutex_unlock(&m);
  pthread_join(t, 0); pthread_join(u, 0); return 0; }
";

const PLACES: &str = "
int x; pthread_mutex_t m;
void *thr0(void *arg) { pthread_mutex_lock(&m); x = 1; HERE: x = 2; x = 3; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0); pthread_join(t, 0); return 0; }
";

const RECURSION: &str = "
int x; pthread_mutex_t m;
int down(int n) { int k = n; if (n > 0) { k = down(n - 1); } k = k + n; return k; }
void *thr0(void *arg) { int l; pthread_mutex_lock(&m); l = down(2); x = x + l; pthread_mutex_unlock(&m); return 0; }
int main() { pthread_t t; pthread_create(&t, 0, thr0, 0);
  pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m);
  pthread_join(t, 0); __pdnet_assert(x != 4); return 0; }
";

/// One region becomes one step, which leaves the lock as it was; the other one cannot, and must be seen in both orders.
const TWO_REGIONS: &str = "
int x; pthread_mutex_t m; pthread_mutex_t n;
void *thr0(void *arg) { pthread_mutex_lock(&m); x = 1; pthread_mutex_unlock(&m); return 0; }
void *thr1(void *arg) { pthread_mutex_lock(&n); pthread_mutex_unlock(&n); return 0; }
int main() { pthread_t t; pthread_t u; int l;
  pthread_create(&t, 0, thr0, 0); pthread_create(&u, 0, thr1, 0);
  pthread_mutex_lock(&m); pthread_mutex_lock(&n); l = x; pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);
  __pdnet_assert(l == SIGNAL); return 0; }
";

use Class::{Holds, Violated};
use Fairness::{None, Strong, Weak};

const TRAPS: &[Trap] = &[
    trap("a formula sees a step in the middle", SEEN, "G x == 0", None, Violated),
    trap("and with single steps that it does not see", SEEN, "G y <= 1", None, Holds),
    trap("a lock in the middle blocks", CROSSED, "deadlock", None, Violated),
    trap("local steps forever", SPINNING, "F x == 1", None, Violated),
    trap("local steps forever, fairly", SPINNING, "F x == 1", Weak, Holds),
    trap("local steps forever do not end", SPINNING, "F end", Strong, Violated),
    trap("a value that others change in the middle", INVALIDATED, "assert", None, Violated),
    trap("a choice that others change in the middle", CHOICE, "assert", None, Violated),
    trap("a lock that is taken again and again starves", STARVED, "F x == 1", Weak, Violated),
    trap("but not under strong fairness", STARVED, "F x == 1", Strong, Holds),
    trap(
        "a section that is entered again and again starves",
        STARVED_BY_SECTIONS,
        "F x == 1",
        Weak,
        Violated,
    ),
    trap("but not strongly", STARVED_BY_SECTIONS, "F x == 1", Strong, Holds),
    trap("a fault in the middle is found", FAULTY, "memory", None, Violated),
    trap("and what others do before it", FAULTY, "assert", None, Violated),
    trap("an assertion in the middle", FAILING, "assert", None, Violated),
    trap("a lock that is kept", KEPT, "deadlock", None, Violated),
    trap("a race with a section", SECTION_RACE, "race", None, Violated),
    trap("one access without the lock", ONE_UNPROTECTED, "assert", None, Violated),
    trap("and a race with it", ONE_UNPROTECTED, "race", None, Violated),
    trap(
        "a step that is put off before others enter sections",
        PUT_OFF_BEFORE_SECTIONS,
        "F end",
        Strong,
        Violated,
    ),
    trap("a signal in the middle wakes one of two", WAITERS, "deadlock signal", None, Violated),
    trap("a broadcast in the middle wakes both", WAITERS, "deadlock broadcast", None, Holds),
    trap("a place that an atom looks at", PLACES, "G !at(thr0, HERE)", None, Violated),
    trap("frames of the same function", RECURSION, "assert", None, Violated),
    trap("a region behind another one", TWO_REGIONS, "assert 0", None, Violated),
    trap("a region before another one", TWO_REGIONS, "assert 1", None, Violated),
    trap("a call right after a thread was started", CALLED_BESIDE, "assert", None, Violated),
];

fn ask(question: &str) -> Ask {
    match question.split(' ').next().unwrap_or_default() {
        "assert" => Ask::Assert,
        "deadlock" => Ask::Deadlock,
        "race" => Ask::Race,
        "memory" => Ask::Memory,
        _ => Ask::Ltl(question.to_owned()),
    }
}

/// Who is blocked in a section keeps all others where they are, so that nothing is merged at all.
#[test]
fn where_a_section_may_block_nothing_is_merged() {
    let blocked = trap("a wait in an atomic section", AFTER_A_SECTION, "deadlock", None, Violated);
    assert_eq!(walk(&blocked), Err("no steps are merged".to_owned()));
}

#[test]
fn traps_are_avoided() {
    let mut wrong = Vec::new();
    for trap in TRAPS {
        if let Err(why) = walk(trap) {
            wrong.push(format!("{}: {why}", trap.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn walk(trap: &Trap) -> Result<(), String> {
    let signal = match trap.question.split(' ').nth(1) {
        Some("broadcast") => "pthread_cond_broadcast",
        Some(value @ ("0" | "1")) => value,
        _ => "pthread_cond_signal",
    };
    let program = trap.program.replace("SIGNAL", signal);
    let (net, properties) = asked(&program, &[ask(trap.question)], &LowerOptions::default())?;
    let single = class_of(&answers(PLAIN, &net, &properties, trap.fairness, 100_000)[0].verdict);
    if single != trap.expected {
        return Err(format!("with single steps {single:?}"));
    }
    let slice = slice(&net, &properties, trap.fairness, Method::OnDemand);
    let cases = [("whole net", &net, &properties), ("slice", &slice.net, &slice.properties)];
    for (which, net, properties) in cases {
        let Some(merged) = agglomerate(net, properties, trap.fairness) else {
            if which == "slice" {
                continue;
            }
            return Err("no steps are merged".to_owned());
        };
        let broken = verify_net(&merged.net);
        if !broken.is_empty() {
            return Err(format!("{which}: {broken:?}"));
        }
        for engine in [PLAIN, Explicit::default()] {
            let outcome = answers(engine, &merged.net, &merged.properties, trap.fairness, 100_000).remove(0);
            let found = class_of(&outcome.verdict);
            if found != trap.expected {
                return Err(format!("{which}, {engine:?}: {found:?}"));
            }
            if let Verdict::Violated(trace) = &outcome.verdict {
                let lifted = merged.lift(net, trace).map_err(|error| format!("{which}: {error}"))?;
                replay(net, &properties[0], trap.fairness, &lifted)
                    .map_err(|error| format!("{which}: {error}"))?;
            }
        }
    }
    Ok(())
}

/// The second way from "asked" has a higher rank, so that it is taken only where the first one cannot be: never.
const RANKS: &str = r#"
    net "ranks" threads 1 depth 1
    color c0 = thread depth
    color c1 = thread
    color c2 =
    color c3 = thread depth i32
    function f0 "main" entry p0 exit p4
    place p0 execution c0 "first" of f0 tokens (0 0)
    place p1 execution c0 "asked" of f0 tokens
    place p2 execution c0 "well" of f0 tokens
    place p3 execution c0 "wrong" of f0 tokens
    place p4 execution c0 "exit" of f0 tokens
    place p5 variable c3 "v" of f0 cells frame f0 i32 = 0
    place p6 execution c1 "done" tokens
    place p7 execution c2 "ended" tokens
    done p6
    ended p7
    transition t0 assign f0 "v = 1"
      var x0 thread "t"
      var x1 depth "d"
      take p0 (?x0 ?x1)
      write p5 (x0 x1) 1
      put p1 (x0 x1)
    transition t1 assign f0 "v = 2, as v is 1"
      var x0 thread "t"
      var x1 depth "d"
      var x2 i32 "v"
      take p1 (?x0 ?x1)
      read p5 (x0 x1) x2
      guard (eq i32 x2 1)
      write p5 (x0 x1) 2
      put p2 (x0 x1)
    transition t2 assign f0 "v = 3, else" rank 1
      var x0 thread "t"
      var x1 depth "d"
      take p1 (?x0 ?x1)
      write p5 (x0 x1) 3
      put p3 (x0 x1)
    transition t3 assign f0 "v = 4"
      var x0 thread "t"
      var x1 depth "d"
      take p2 (?x0 ?x1)
      write p5 (x0 x1) 4
      put p4 (x0 x1)
    transition t4 assign f0 "v = 5"
      var x0 thread "t"
      var x1 depth "d"
      take p3 (?x0 ?x1)
      write p5 (x0 x1) 5
      put p4 (x0 x1)
    transition t5 thread-end f0 "end"
      var x0 thread "t"
      var x1 depth "d"
      take p4 (?x0 ?x1)
"#;

#[test]
fn what_ranks_keep_from_being_taken_is_not_merged() {
    let mut map = SourceMap::new();
    let file = map.add("net", RANKS);
    let net = parse_net(&map, file).expect("the net above");
    let (wrong, _) = net.transitions.iter_enumerated().find(|(_, data)| data.label == "v = 5").expect("t4");
    let kind = PropertyKind::NeverFires(vec![wrong]);
    let property = [Property { name: "wrong".to_owned(), text: "wrong".to_owned(), class: "wrong", kind }];
    let merged = agglomerate(&net, &property, Fairness::None).expect("local steps are merged");
    let outcome = answers(PLAIN, &merged.net, &merged.properties, Fairness::None, 1000).remove(0);
    assert_eq!(class_of(&outcome.verdict), Class::Holds, "{}", merged.net);
}
