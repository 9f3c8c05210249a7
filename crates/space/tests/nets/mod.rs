//! Small programs as nets, for the tests of the rooms that run them.

#![allow(dead_code, reason = "each test uses some of them")]

use pdnet_base::Rng;
use pdnet_net::{
    Action, ArcData, Base, BinaryOp, Bound, CellData, Domain, Expr, Fault, Function, FunctionData, IntType,
    Net, Pattern, Place, PlaceForm, PlaceKind, Scope, Transition, TransitionBuilder as Builder,
};

/// A net in the making.
pub(crate) struct Program {
    pub(crate) net: Net,
    pub(crate) threads: Place,
    pub(crate) done: Place,
    pub(crate) atomic: Place,
}

pub(crate) fn constant(value: i64) -> Expr {
    Expr::Const(value)
}

pub(crate) fn add(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Add, IntType::I32, left, right)
}

pub(crate) fn less(left: Expr, right: Expr) -> Expr {
    Expr::binary(BinaryOp::Lt, IntType::I32, left, right)
}

pub(crate) fn not(operand: Expr) -> Expr {
    Expr::logical_not(operand)
}

impl Program {
    pub(crate) fn new(max_threads: u32, max_depth: u32) -> Self {
        let mut net = Net { max_threads, max_depth, name: "test".to_owned(), ..Net::default() };
        let done = net.add_token_place("done", PlaceKind::Execution, vec![Base::Thread]);
        let ended = net.add_token_place("ended", PlaceKind::Execution, vec![]);
        let cells = |default| CellData {
            scope: Scope::Global,
            length: None,
            value: IntType::I32,
            default,
            listed: vec![],
        };
        let atomic = net.add_cells("atomic", cells(0));
        let threads = net.add_cells("threads", cells(1));
        (net.done, net.ended, net.atomic) = (Some(done), Some(ended), Some(atomic));
        Self { net, threads, done, atomic }
    }

    /// A function; the first one is where thread 0 starts.
    pub(crate) fn function(&mut self, name: &str) -> Function {
        let is_first = self.net.functions.is_empty();
        let entry = self.net.functions.next_index();
        let place = |net: &mut Net, suffix: &str| {
            let components = vec![Base::Thread, Base::Depth];
            let place = net.add_token_place(&format!("{name}:{suffix}"), PlaceKind::Execution, components);
            net.places[place].function = Some(entry);
            place
        };
        let (entry, exit) = (place(&mut self.net, "entry"), place(&mut self.net, "exit"));
        if is_first {
            self.net.places[entry].form = PlaceForm::Tokens { initial: vec![vec![0, 0]] };
        }
        self.net.functions.push(FunctionData { name: name.to_owned(), entry, exit, pos: None })
    }

    pub(crate) fn entry(&self, function: Function) -> Place {
        self.net.functions[function].entry
    }

    pub(crate) fn exit(&self, function: Function) -> Place {
        self.net.functions[function].exit
    }

    pub(crate) fn place(&mut self, function: Function) -> Place {
        let name = format!("{}:{}", self.net.functions[function].name, self.net.places.len());
        let components = vec![Base::Thread, Base::Depth];
        let place = self.net.add_token_place(&name, PlaceKind::Execution, components);
        self.net.places[place].function = Some(function);
        place
    }

    pub(crate) fn cells(&mut self, name: &str, scope: Scope, length: Option<u32>, default: i64) -> Place {
        let listed = length.map_or(vec![], |length| vec![(length - 1, default + 1)]);
        self.net.add_cells(name, CellData { scope, length, value: IntType::I32, default, listed })
    }

    pub(crate) fn global(&mut self, name: &str, default: i64) -> Place {
        self.cells(name, Scope::Global, None, default)
    }

    pub(crate) fn local(&mut self, function: Function, name: &str) -> Place {
        self.cells(name, Scope::Frame(function), None, 0)
    }

    /// A step from one place to another, with whatever `more` adds.
    pub(crate) fn step(
        &mut self,
        action: Action,
        (from, to): (Place, Option<Place>),
        more: impl FnOnce(&Net, &mut Builder),
    ) -> Transition {
        let function = self.net.places[from].function.expect("a place of a function");
        let mut builder = Builder::new(action, function, from, format!("{action}"));
        more(&self.net, &mut builder);
        let builder = match to {
            Some(to) => builder.to(to),
            None => builder,
        };
        builder.finish(&mut self.net)
    }

    pub(crate) fn jump(&mut self, from: Place, to: Place) -> Transition {
        self.step(Action::Jump, (from, Some(to)), |_, _| {})
    }

    /// `cell = value(cell)` of a global cell, in one step.
    pub(crate) fn update(&mut self, from: Place, to: Place, cell: Place, value: impl FnOnce(Expr) -> Expr) {
        self.step(Action::Assign, (from, Some(to)), |net, b| {
            let old = b.read(net, cell, vec![]);
            b.write(cell, vec![], value(old));
        });
    }

    /// A branch on a global or local cell.
    pub(crate) fn branch(
        &mut self,
        from: Place,
        (to_true, to_false): (Place, Place),
        cell: Place,
        key: &[Expr],
        condition: impl Fn(Expr) -> Expr,
    ) {
        for (action, to) in [(Action::BranchTrue, to_true), (Action::BranchFalse, to_false)] {
            self.step(action, (from, Some(to)), |net, b| {
                let value = condition(b.read(net, cell, key.to_vec()));
                b.guard(if action == Action::BranchTrue { value } else { not(value) });
            });
        }
    }

    pub(crate) fn lock(&mut self, from: Place, to: Place, mutex: Place) {
        self.step(Action::Lock, (from, Some(to)), |net, b| {
            let owner = b.read(net, mutex, vec![]);
            b.guard(Expr::equal(owner, constant(0)));
            b.write(mutex, vec![], add(Builder::thread(), constant(1)));
        });
    }

    pub(crate) fn unlock(&mut self, from: Place, to: Place, mutex: Place) {
        self.step(Action::Unlock, (from, Some(to)), |_, b| {
            b.write(mutex, vec![], constant(0));
        });
    }

    pub(crate) fn atomic_begin(&mut self, from: Place, to: Place) {
        let atomic = self.atomic;
        self.step(Action::AtomicBegin, (from, Some(to)), |_, b| {
            b.write(atomic, vec![], add(Builder::thread(), constant(1)));
        });
    }

    pub(crate) fn atomic_end(&mut self, from: Place, to: Place) {
        let atomic = self.atomic;
        self.step(Action::AtomicEnd, (from, Some(to)), |_, b| {
            b.write(atomic, vec![], constant(0));
        });
    }

    /// Creates a thread and leaves its number in the cell.
    pub(crate) fn create(&mut self, from: Place, to: Place, function: Function, handle: (Place, Vec<Expr>)) {
        let (threads, entry) = (self.threads, self.entry(function));
        let max = i64::from(self.net.max_threads);
        self.step(Action::Create, (from, Some(to)), |net, b| {
            let n = b.read(net, threads, vec![]);
            b.guard(less(n.clone(), constant(max)));
            b.arc(ArcData::Put { place: entry, token: vec![n.clone(), constant(0)] });
            b.write(threads, vec![], add(n.clone(), constant(1)));
            b.write(handle.0, handle.1, n);
        });
        self.step(Action::Bound(Bound::Threads), (from, None), |net, b| {
            let n = b.read(net, threads, vec![]);
            b.guard(not(less(n, constant(max))));
        });
    }

    pub(crate) fn join(&mut self, from: Place, to: Place, handle: (Place, Vec<Expr>)) {
        let done = self.done;
        self.step(Action::Join, (from, Some(to)), |net, b| {
            let n = b.read(net, handle.0, handle.1);
            b.arc(ArcData::Test { place: done, token: vec![Pattern::Is(n)] });
        });
    }

    /// Calls a function; the argument goes into its local, the result comes from there.
    pub(crate) fn call(
        &mut self,
        from: Place,
        to: Place,
        function: Function,
        argument: Place,
        value: impl Fn(Expr) -> Expr,
    ) {
        let caller = self.net.places[from].function.expect("a place of a function");
        let wait = self.place(caller);
        let (entry, exit) = (self.entry(function), self.exit(function));
        let max = i64::from(self.net.max_depth);
        let below = || add(Builder::depth(), constant(1));
        self.step(Action::Call, (from, Some(wait)), |net, b| {
            let old = b.read(net, argument, Builder::frame());
            b.guard(less(below(), constant(max)));
            b.arc(ArcData::Put { place: entry, token: vec![Builder::thread(), below()] });
            b.write(argument, vec![Builder::thread(), below()], value(old));
        });
        self.step(Action::Bound(Bound::Depth), (from, None), |_, b| {
            b.guard(not(less(below(), constant(max))));
        });
        self.step(Action::Return, (wait, Some(to)), |net, b| {
            let token = vec![Pattern::Is(Builder::thread()), Pattern::Is(below())];
            b.arc(ArcData::Take { place: exit, token });
            b.read(net, argument, vec![Builder::thread(), below()]);
        });
    }

    pub(crate) fn thread_end(&mut self, from: Place) {
        self.step(Action::ThreadEnd, (from, None), |_, _| {});
    }

    pub(crate) fn process_end(&mut self, from: Place) {
        self.step(Action::ProcessEnd, (from, None), |_, _| {});
    }

    /// Fails where the cell has not the value; the result is the failing step.
    pub(crate) fn assert_equal(&mut self, from: Place, to: Place, cell: Place, value: i64) -> Transition {
        self.step(Action::Jump, (from, Some(to)), |net, b| {
            let found = b.read(net, cell, vec![]);
            b.guard(Expr::equal(found, constant(value)));
        });
        self.step(Action::AssertFail, (from, None), |net, b| {
            let found = b.read(net, cell, vec![]);
            b.guard(not(Expr::equal(found, constant(value))));
        })
    }

    /// Main: creates `n` threads of the function, joins them, and stands on the place that comes back.
    pub(crate) fn main_with_workers(&mut self, main: Function, worker: Function, n: i64) -> Place {
        let handles = self.cells("handles", Scope::Frame(main), Some(u32::try_from(n).expect("few")), -1);
        let mut at = self.entry(main);
        let key = |i: i64| vec![Builder::thread(), Builder::depth(), constant(i)];
        for i in 0..n {
            let next = self.place(main);
            self.create(at, next, worker, (handles, key(i)));
            at = next;
        }
        for i in 0..n {
            let next = self.place(main);
            self.join(at, next, (handles, key(i)));
            at = next;
        }
        at
    }
}

/// Two threads add 1 to x in two steps each (or under a lock); main asserts the sum. With the assertion.
pub(crate) fn counter(n_threads: i64, with_lock: bool) -> (Program, Transition, Place) {
    let mut p = Program::new(8, 4);
    let (main, worker) = (p.function("main"), p.function("worker"));
    let (x, m) = (p.global("x", 0), p.global("m", 0));
    let at = p.main_with_workers(main, worker, n_threads);
    let exit = p.exit(main);
    let failing = p.assert_equal(at, exit, x, n_threads);
    p.process_end(exit);
    let tmp = p.local(worker, "tmp");
    let [a, b, c, d] = [(); 4].map(|()| p.place(worker));
    let entry = p.entry(worker);
    if with_lock {
        p.lock(entry, a, m);
    } else {
        p.jump(entry, a);
    }
    p.step(Action::Assign, (a, Some(b)), |net, builder| {
        let value = builder.read(net, x, vec![]);
        builder.write(tmp, Builder::frame(), value);
    });
    p.step(Action::Assign, (b, Some(c)), |net, builder| {
        let value = builder.read(net, tmp, Builder::frame());
        builder.write(x, vec![], add(value, constant(1)));
    });
    if with_lock {
        p.unlock(c, d, m);
    } else {
        p.jump(c, d);
    }
    p.thread_end(d);
    (p, failing, x)
}

/// Two threads that take two locks in opposite order, and main which waits for both.
pub(crate) fn crossed_locks() -> Program {
    let mut p = Program::new(3, 2);
    let (main, left, right) = (p.function("main"), p.function("left"), p.function("right"));
    let (m, n) = (p.global("m", 0), p.global("n", 0));
    let handle = p.local(main, "handle");
    let [a, b, c] = [(); 3].map(|()| p.place(main));
    let entry = p.entry(main);
    p.create(entry, a, left, (handle, Builder::frame()));
    p.create(a, b, right, (handle, Builder::frame()));
    p.join(b, c, (handle, Builder::frame()));
    p.thread_end(c);
    for (function, first, second) in [(left, m, n), (right, n, m)] {
        let [a, b, c, d] = [(); 4].map(|()| p.place(function));
        let entry = p.entry(function);
        p.lock(entry, a, first);
        p.lock(a, b, second);
        p.unlock(b, c, second);
        p.unlock(c, d, first);
        p.thread_end(d);
    }
    p
}

/// Waiters on one of two condition variables, a signaller of one and a broadcaster of the other.
pub(crate) fn conditions() -> Program {
    let mut p = Program::new(4, 2);
    let (main, waiter) = (p.function("main"), p.function("waiter"));
    let components = vec![Base::Index(2), Base::Thread];
    let waiting = p.net.add_token_place("waiting", PlaceKind::Variable, components.clone());
    let woken = p.net.add_token_place("woken", PlaceKind::Variable, components);
    let which = p.local(waiter, "which");
    let m = p.global("m", 0);
    let handles = p.cells("handles", Scope::Frame(main), Some(3), 0);
    let mut at = p.entry(main);
    for i in 0..3 {
        let next = p.place(main);
        p.create(at, next, waiter, (handles, vec![Builder::thread(), Builder::depth(), constant(i)]));
        at = next;
    }
    let [signalled, all] = [(); 2].map(|()| p.place(main));
    p.step(Action::Signal, (at, Some(signalled)), |_, b| {
        let w = b.var("w", Base::Thread);
        b.arc(ArcData::Take { place: waiting, token: vec![Pattern::Is(constant(0)), Pattern::Bind(w)] });
        b.arc(ArcData::Put { place: woken, token: vec![constant(0), Expr::Var(w)] });
    });
    p.step(Action::Signal, (at, Some(signalled)), |_, b| {
        b.arc(ArcData::Inhibit { place: waiting, prefix: vec![constant(0)] });
    });
    p.step(Action::Broadcast, (signalled, Some(all)), |_, b| {
        b.arc(ArcData::Drain { place: waiting, prefix: vec![constant(1)], to: woken });
    });
    p.thread_end(all);
    let entry = p.entry(waiter);
    let [chosen, locked, waits, back, end] = [(); 5].map(|()| p.place(waiter));
    p.step(Action::Assign, (entry, Some(chosen)), |_, b| {
        let domain = Domain { ranges: vec![(0, 1)], exact: true };
        let choice = b.choose("choice", Base::Int(IntType::I32), domain);
        b.write(which, Builder::frame(), Expr::Var(choice));
    });
    p.lock(chosen, locked, m);
    p.step(Action::Wait1, (locked, Some(waits)), |net, b| {
        let which = b.read(net, which, Builder::frame());
        b.arc(ArcData::Put { place: waiting, token: vec![which, Builder::thread()] });
        b.write(m, vec![], constant(0));
    });
    p.step(Action::Wait3, (waits, Some(back)), |net, b| {
        let which = b.read(net, which, Builder::frame());
        let owner = b.read(net, m, vec![]);
        let token = vec![Pattern::Is(which), Pattern::Is(Builder::thread())];
        b.arc(ArcData::Take { place: woken, token });
        b.guard(Expr::equal(owner, constant(0)));
        b.write(m, vec![], add(Builder::thread(), constant(1)));
    });
    p.unlock(back, end, m);
    p.thread_end(end);
    p
}

/// Two threads that call a recursive function which counts its argument down and adds to a global.
pub(crate) fn recursion(start: i64, max_depth: u32) -> Program {
    let mut p = Program::new(3, max_depth);
    let (main, worker, f) = (p.function("main"), p.function("worker"), p.function("f"));
    let x = p.global("x", 0);
    let at = p.main_with_workers(main, worker, 2);
    p.process_end(at);
    let n = p.local(f, "n");
    let entry = p.entry(worker);
    let back = p.place(worker);
    p.call(entry, back, f, n, |_| constant(start));
    p.thread_end(back);
    let (entry, exit) = (p.entry(f), p.exit(f));
    let [more, added] = [(); 2].map(|()| p.place(f));
    p.branch(entry, (more, exit), n, &Builder::frame(), |n| less(constant(0), n));
    p.update(more, added, x, |x| add(x, constant(1)));
    p.call(added, exit, f, n, |n| add(n, constant(-1)));
    p
}

/// `i += j` and `j += i` in atomic sections, `rounds` times each.
pub(crate) fn fibonacci(rounds: i64) -> (Program, Place, Place) {
    let mut p = Program::new(3, 2);
    let (main, left, right) = (p.function("main"), p.function("left"), p.function("right"));
    let (i, j) = (p.global("i", 1), p.global("j", 1));
    let handles = p.cells("handles", Scope::Frame(main), Some(2), 0);
    let key = |at: i64| vec![Builder::thread(), Builder::depth(), constant(at)];
    let [a, b, c, d] = [(); 4].map(|()| p.place(main));
    let entry = p.entry(main);
    p.create(entry, a, left, (handles, key(0)));
    p.create(a, b, right, (handles, key(1)));
    p.join(b, c, (handles, key(0)));
    p.join(c, d, (handles, key(1)));
    p.process_end(d);
    for (function, target, other) in [(left, i, j), (right, j, i)] {
        let (k, tmp) = (p.local(function, "k"), p.local(function, "tmp"));
        let [body, read, sum, last, next, end] = [(); 6].map(|()| p.place(function));
        let entry = p.entry(function);
        p.branch(entry, (body, end), k, &Builder::frame(), |k| less(k, constant(rounds)));
        p.atomic_begin(body, read);
        p.step(Action::Assign, (read, Some(sum)), |net, b| {
            let value = b.read(net, other, vec![]);
            b.write(tmp, Builder::frame(), value);
        });
        p.step(Action::Assign, (sum, Some(last)), |net, b| {
            let (value, old) = (b.read(net, tmp, Builder::frame()), b.read(net, target, vec![]));
            b.write(target, vec![], add(old, value));
        });
        p.atomic_end(last, next);
        p.step(Action::Assign, (next, Some(entry)), |net, b| {
            let value = b.read(net, k, Builder::frame());
            b.write(k, Builder::frame(), add(value, constant(1)));
        });
        p.thread_end(end);
    }
    (p, i, j)
}

/// `threads` workers that count a shared counter up under a lock, `rounds` times each.
pub(crate) fn locked_loops(threads: i64, rounds: i64) -> (Program, Place) {
    let mut p = Program::new(u32::try_from(threads).expect("few") + 1, 2);
    let (main, worker) = (p.function("main"), p.function("worker"));
    let (x, m) = (p.global("x", 0), p.global("m", 0));
    let at = p.main_with_workers(main, worker, threads);
    p.process_end(at);
    let (k, tmp) = (p.local(worker, "k"), p.local(worker, "tmp"));
    let [body, locked, read, written, next, end] = [(); 6].map(|()| p.place(worker));
    let entry = p.entry(worker);
    p.branch(entry, (body, end), k, &Builder::frame(), |k| less(k, constant(rounds)));
    p.lock(body, locked, m);
    p.step(Action::Assign, (locked, Some(read)), |net, b| {
        let value = b.read(net, x, vec![]);
        b.write(tmp, Builder::frame(), value);
    });
    p.step(Action::Assign, (read, Some(written)), |net, b| {
        let value = b.read(net, tmp, Builder::frame());
        b.write(x, vec![], add(value, constant(1)));
    });
    p.unlock(written, next, m);
    p.step(Action::Assign, (next, Some(entry)), |net, b| {
        let value = b.read(net, k, Builder::frame());
        b.write(k, Builder::frame(), add(value, constant(1)));
    });
    p.thread_end(end);
    (p, x)
}

/// A program of random steps between random places of three functions, over few small cells.
pub(crate) fn random(rng: &mut Rng) -> Program {
    let mut p = Program::new(3, 3);
    let functions = [p.function("main"), p.function("f"), p.function("g")];
    let globals = [p.global("x", 0), p.global("y", 1)];
    let array = p.cells("a", Scope::Global, Some(2), 0);
    let own = p.cells("own", Scope::Thread, None, 0);
    let components = vec![Base::Index(2), Base::Thread];
    let sets =
        ["waiting", "woken"].map(|name| p.net.add_token_place(name, PlaceKind::Variable, components.clone()));
    let plain = p.net.add_token_place("plain", PlaceKind::Variable, vec![]);
    p.net.places[plain].form = PlaceForm::Tokens { initial: vec![vec![]] };
    let locals = functions.map(|function| p.local(function, "l"));
    let places = functions.map(|function| {
        let mut places = vec![p.entry(function)];
        places.extend((0..4).map(|_| p.place(function)));
        places.push(p.exit(function));
        places
    });
    let small = |value: Expr| Expr::binary(BinaryOp::And, IntType::I32, value, constant(1));
    for turn in 0..18 + rng.below(16) {
        // Every place has a step first, mostly to the next place, so that few programs end at once.
        let f = turn % 3;
        let from = if turn < 18 { places[f][turn / 3] } else { *rng.pick(&places[f]) };
        let next = places[f][(turn / 3 + 1) % places[f].len()];
        let to = if turn < 18 && rng.chance(70) { next } else { *rng.pick(&places[f]) };
        let (global, local) = (*rng.pick(&globals), locals[f]);
        let callee = 1 + rng.below(2);
        let row = rng.below(3) as i64;
        match rng.below(20) {
            0 => {
                p.jump(from, to);
            }
            1 => p.update(from, to, global, |old| small(add(old, constant(1)))),
            2 => {
                p.step(Action::Assign, (from, Some(to)), |net, b| {
                    let (value, old) = (b.read(net, local, Builder::frame()), b.read(net, global, vec![]));
                    b.write(global, vec![], value);
                    b.write(local, Builder::frame(), old);
                });
            }
            3 => p.branch(from, (to, *rng.pick(&places[f])), global, &[], |value| value),
            4 => p.lock(from, to, global),
            5 => p.unlock(from, to, global),
            6 | 19 => p.create(from, to, functions[callee], (local, Builder::frame())),
            7 => p.join(from, to, (local, Builder::frame())),
            8 => {
                // The argument is read from the callee's cell in the caller's frame: its initial value.
                let wait = p.place(functions[f]);
                let (entry, exit) = (p.entry(functions[callee]), p.exit(functions[callee]));
                let (argument, below) = (locals[callee], || add(Builder::depth(), constant(1)));
                p.step(Action::Call, (from, Some(wait)), |net, b| {
                    let value = b.read(net, local, Builder::frame());
                    b.guard(less(below(), constant(3)));
                    b.arc(ArcData::Put { place: entry, token: vec![Builder::thread(), below()] });
                    b.write(argument, vec![Builder::thread(), below()], value);
                });
                p.step(Action::Return, (wait, Some(to)), |net, b| {
                    let token = vec![Pattern::Is(Builder::thread()), Pattern::Is(below())];
                    b.arc(ArcData::Take { place: exit, token });
                    let result = b.read(net, argument, vec![Builder::thread(), below()]);
                    b.write(local, Builder::frame(), result);
                });
            }
            9 if f > 0 || rng.chance(30) => p.thread_end(from),
            10 if rng.chance(20) => p.process_end(from),
            11 => p.atomic_begin(from, to),
            12 => p.atomic_end(from, to),
            13 => {
                let exact = rng.chance(80);
                p.step(Action::Assign, (from, Some(to)), |_, b| {
                    let domain = Domain { ranges: vec![(0, 0), (2, 2)], exact };
                    let choice = b.choose("choice", Base::Int(IntType::I32), domain);
                    let element = Expr::binary(BinaryOp::Shr, IntType::I32, Expr::Var(choice), constant(1));
                    b.write(array, vec![element], Expr::Var(choice));
                    b.write(own, vec![Builder::thread()], Expr::Var(choice));
                });
            }
            14 => {
                p.step(Action::Wait1, (from, Some(to)), |_, b| {
                    b.arc(ArcData::Inhibit {
                        place: sets[0],
                        prefix: vec![constant(row), Builder::thread()],
                    });
                    b.arc(ArcData::Put { place: sets[0], token: vec![constant(row % 2), Builder::thread()] });
                    b.guard(constant(i64::from(row < 2)));
                });
            }
            15 => {
                p.step(Action::Signal, (from, Some(to)), |net, b| {
                    let (w, any) = (b.var("w", Base::Thread), b.var("any", Base::Index(2)));
                    let first = if row == 2 { Pattern::Bind(any) } else { Pattern::Is(constant(row)) };
                    if row != 2 {
                        // Every variable is bound: here by a read.
                        b.arc(ArcData::Read { place: global, key: vec![], var: any, when: None });
                    }
                    b.arc(ArcData::Take { place: sets[0], token: vec![first.clone(), Pattern::Bind(w)] });
                    let row = if row == 2 { Expr::Var(any) } else { constant(row) };
                    b.arc(ArcData::Inhibit { place: sets[1], prefix: vec![row.clone(), Expr::Var(w)] });
                    b.arc(ArcData::Put { place: sets[1], token: vec![row, Expr::Var(w)] });
                    let _ = net;
                });
            }
            16 => {
                p.step(Action::Broadcast, (from, Some(to)), |_, b| {
                    let prefix = if row == 2 { vec![] } else { vec![constant(row)] };
                    b.arc(ArcData::Inhibit { place: sets[1], prefix: vec![] });
                    b.arc(ArcData::Drain { place: sets[0], prefix, to: sets[1] });
                });
            }
            17 => {
                p.step(Action::Assign, (from, Some(to)), |net, b| {
                    if row == 0 {
                        b.arc(ArcData::Take { place: plain, token: vec![] });
                    } else {
                        b.arc(ArcData::Inhibit { place: plain, prefix: vec![] });
                        b.arc(ArcData::Put { place: plain, token: vec![] });
                    }
                    let value = b.read(net, array, vec![constant(row)]);
                    let at = b.read(net, own, vec![Builder::thread()]);
                    let seen = b.var("seen", Base::Int(IntType::I32));
                    let when = Some(at.clone());
                    b.arc(ArcData::Read { place: own, key: vec![constant(1)], var: seen, when });
                    let when = Some(value);
                    b.arc(ArcData::Write { place: global, key: vec![], value: small(at), when });
                });
            }
            18 => {
                let action = *rng.pick(&[
                    Action::AssumeFail,
                    Action::Bound(Bound::Depth),
                    Action::Fault(Fault::OutOfBounds),
                    Action::AssertFail,
                ]);
                p.step(action, (from, None), |net, b| {
                    let value = b.read(net, global, vec![]);
                    b.guard(Expr::equal(value, constant(row)));
                });
            }
            _ => {
                p.jump(from, to);
            }
        }
    }
    p
}

/// Two or three threads that mostly loop and block each other, so that fairness makes a difference.
pub(crate) fn random_loops(rng: &mut Rng) -> Program {
    let n_threads = 2 + rng.below(2);
    let mut p = Program::new(u32::try_from(n_threads).expect("few"), 1);
    let globals = [p.global("x", 0), p.global("y", 0)];
    for thread in 0..n_threads {
        let function = p.function(&format!("f{thread}"));
        let mut places = vec![p.entry(function)];
        places.extend((0..1 + rng.below(2)).map(|_| p.place(function)));
        p.net.places[places[0]].form = PlaceForm::Tokens { initial: vec![vec![thread as i64, 0]] };
        if rng.chance(40) {
            // A loop that holds a lock, and does something with it now and then.
            let (first, second) = (places[0], places[1]);
            let cell = *rng.pick(&globals);
            p.lock(first, second, cell);
            p.unlock(second, first, cell);
        }
        for turn in 0..places.len() - 1 + rng.below(3) {
            let (from, to) = (places[turn % places.len()], *rng.pick(&places));
            let cell = *rng.pick(&globals);
            let value = rng.below(2) as i64;
            match rng.below(16) {
                0 | 1 => {
                    p.jump(from, to);
                }
                2 | 3 => p.update(from, to, cell, |old| Expr::equal(old, constant(0))),
                4 | 5 => p.update(from, to, cell, |_| constant(value)),
                6..=9 => {
                    p.step(Action::Assume, (from, Some(to)), |net, b| {
                        let found = b.read(net, cell, vec![]);
                        b.guard(Expr::equal(found, constant(value)));
                    });
                }
                10 | 11 => p.lock(from, to, cell),
                12 => p.unlock(from, to, cell),
                13 => p.atomic_begin(from, to),
                14 => p.atomic_end(from, to),
                _ => {
                    let action = *rng.pick(&[Action::AssumeFail, Action::ThreadEnd]);
                    p.step(action, (from, None), |net, b| {
                        let found = b.read(net, cell, vec![]);
                        b.guard(Expr::equal(found, constant(value)));
                    });
                }
            }
        }
    }
    p
}
