//! The classic situations of liveness, with their verdicts under no, weak and strong fairness.

use pdnet_base::Idx as _;
use pdnet_check::{
    AtomData, Engine as _, Fairness, Limits, Property, PropertyKind, Request, Silent, Verdict, replay,
};
use pdnet_explicit::Explicit;
use pdnet_front_c::{Atomicity, LowerOptions, Options, load_preprocessed, lower};
use pdnet_logic::parse_formula;
use pdnet_source::SourceMap;
use pdnet_testkit::ReachableGraph;

const PRELUDE: &str = "\
typedef unsigned long pthread_t; typedef struct { int k; } pthread_mutex_t; typedef struct { int k; } pthread_cond_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);
";

/// A situation: what it is, the program, the formula, and whether it holds under each fairness.
struct Situation {
    name: &'static str,
    program: &'static str,
    formula: &'static str,
    /// No, weak, strong fairness.
    holds: [bool; 3],
}

const SITUATIONS: &[Situation] = &[
    Situation {
        // A thread that spins can always move; Peterson lets the other pass at most once.
        name: "Peterson's progress",
        program: "int flag0, flag1, turn, in0, in1;
            void *a(void *x) { while (1) { flag0 = 1; turn = 1; while (flag1 && turn == 1); in0 = 1; in0 = 0; flag0 = 0; } }
            void *b(void *x) { while (1) { flag1 = 1; turn = 0; while (flag0 && turn == 0); in1 = 1; in1 = 0; flag1 = 0; } }
            int main(void) { pthread_t s, t; pthread_create(&s, 0, a, 0); pthread_create(&t, 0, b, 0); pthread_join(s, 0); return 0; }",
        formula: "G (flag0 == 1 -> F in0 == 1)",
        holds: [false, true, true],
    },
    Situation {
        name: "a spin-wait",
        program: "int ready, done; void *a(void *x) { ready = 1; return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); while (!ready); done = 1; return 0; }",
        formula: "F done == 1",
        holds: [false, true, true],
    },
    Situation {
        // Whenever the greedy thread holds the lock, the other cannot move: weak fairness says nothing of it.
        name: "a lock that starves a thread",
        program: "int got; pthread_mutex_t m;
            void *greedy(void *x) { while (1) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); } }
            int main(void) { pthread_t t; pthread_create(&t, 0, greedy, 0);
                pthread_mutex_lock(&m); got = 1; pthread_mutex_unlock(&m); return 0; }",
        formula: "F got == 1",
        holds: [false, false, true],
    },
    Situation {
        name: "a lost wake-up",
        program: "int done; pthread_mutex_t m; pthread_cond_t c;
            void *a(void *x) { pthread_cond_signal(&c); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0);
                pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); done = 1; return 0; }",
        formula: "F done == 1",
        holds: [false, false, false],
    },
    Situation {
        name: "an ABBA deadlock",
        program: "int done; pthread_mutex_t m, n;
            void *a(void *x) { pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); pthread_mutex_lock(&m); pthread_mutex_lock(&n);
                pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); pthread_join(t, 0); done = 1; return 0; }",
        formula: "F done == 1",
        holds: [false, false, false],
    },
    Situation {
        // Both threads move forever, so that no fairness of threads helps.
        name: "two threads that back off forever",
        program: "int done; pthread_mutex_t m, n;
            void *a(void *x) { while (1) { pthread_mutex_lock(&m); if (pthread_mutex_trylock(&n) == 0) break; pthread_mutex_unlock(&m); }
                done = 1; pthread_mutex_unlock(&n); pthread_mutex_unlock(&m); return 0; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0);
                while (1) { pthread_mutex_lock(&n); if (pthread_mutex_trylock(&m) == 0) break; pthread_mutex_unlock(&n); }
                done = 1; pthread_mutex_unlock(&m); pthread_mutex_unlock(&n); pthread_join(t, 0); return 0; }",
        formula: "F done == 1",
        holds: [false, false, false],
    },
    Situation {
        name: "a thread that loops without touching anything visible",
        program: "int x; void *a(void *y) { while (1); }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); x = 1; pthread_join(t, 0); return 0; }",
        formula: "F x == 1",
        holds: [false, true, true],
    },
    Situation {
        name: "a program that ends repeats its last state",
        program: "int x; int main(void) { x = 1; return 0; }",
        formula: "F G x == 1",
        holds: [true, true, true],
    },
    Situation {
        name: "a program that ends does not come back",
        program: "int x; int main(void) { x = 1; return 0; }",
        formula: "G F x == 0",
        holds: [false, false, false],
    },
    Situation {
        // The process ends: that run is over, and as fair as any.
        name: "a response that only main's return cuts off",
        program: "int request, answer; void *a(void *x) { while (1) if (request) answer = 1; }
            int main(void) { pthread_t t; pthread_create(&t, 0, a, 0); request = 1; return 0; }",
        formula: "G (request == 1 -> F answer == 1)",
        holds: [false, false, false],
    },
    Situation {
        name: "GF on a counter that wraps",
        program: "unsigned char c; int main(void) { while (1) c += 64; }",
        formula: "G F c == 0",
        holds: [true, true, true],
    },
    Situation {
        name: "FG on a counter that wraps",
        program: "unsigned char c; int main(void) { while (1) c += 64; }",
        formula: "F G c != 0",
        holds: [false, false, false],
    },
];

#[test]
fn the_classic_situations_have_their_verdicts() {
    for situation in SITUATIONS {
        let name = situation.name;
        let mut map = SourceMap::new();
        let file = map.add("situation.i", format!("{PRELUDE}{}", situation.program));
        let loaded = load_preprocessed(&mut map, file, &Options::default()).expect(name);
        let text = map.add("<ltl>", situation.formula);
        let formula = parse_formula(&map, text).expect(name);
        let options = LowerOptions {
            atomicity: Atomicity::Access,
            spurious_wakeups: false,
            max_threads: 4,
            max_depth: 4,
            ..LowerOptions::default()
        };
        let lowered = lower(&map, &loaded.program, std::slice::from_ref(&formula), &options).expect(name);
        let atoms = lowered.atoms[0].iter().enumerate().map(|(idx, expr)| AtomData {
            text: formula.atoms[pdnet_logic::Atom::new(idx)].to_string(),
            expr: expr.clone(),
        });
        let kind = PropertyKind::Ltl { formula: formula.ltl.clone(), atoms: atoms.collect() };
        let property = Property { name: "ltl".into(), text: formula.to_string(), class: "valid-ltl", kind };
        let graph = ReachableGraph::build(&lowered.net, 20_000).expect(name);
        for (fairness, holds) in
            [Fairness::None, Fairness::Weak, Fairness::Strong].into_iter().zip(situation.holds)
        {
            let properties = [property.clone()];
            let request =
                Request { net: &lowered.net, properties: &properties, fairness, limits: Limits::default() };
            let outcomes = Explicit::default().check(&request, &mut Silent);
            match &outcomes[0].verdict {
                Verdict::Holds => assert!(holds, "{name}, fairness {fairness}: says that it holds"),
                Verdict::Violated(trace) => {
                    assert!(!holds, "{name}, fairness {fairness}: says that it is violated");
                    let replayed = replay(&lowered.net, &property, fairness, trace);
                    assert!(replayed.is_ok(), "{name}, fairness {fairness}: {:?}", replayed.err());
                }
                Verdict::Unknown(reason) => panic!("{name}, fairness {fairness}: unknown, {reason}"),
            }
            let reference = graph.check(&property, fairness).verdict == pdnet_testkit::RefVerdict::Holds;
            assert_eq!(reference, holds, "{name}, fairness {fairness}: the reference");
        }
    }
}
