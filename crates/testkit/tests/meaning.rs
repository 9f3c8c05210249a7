//! Small nets whose answers are known by thinking, so that the reference itself stands on something.

use pdnet_base::Idx as _;
use pdnet_check::{AtomData, Fairness, Property, PropertyKind, ReplayError, Trace, TraceEnd, replay};
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{
    Action, Base, Bound, CellData, Expr, Fault, Function, FunctionData, IntType, Net, Place, PlaceForm,
    PlaceKind, Scope, TransitionBuilder, verify_net,
};
use pdnet_testkit::{
    ReachableGraph,
    RefVerdict::{self, Holds, Violated},
};

/// A net under construction: threads that run from the start, one global `x` and one mutex.
struct Threads {
    net: Net,
    x: Place,
    mutex: Place,
}

impl Threads {
    fn new(n_threads: u32) -> Self {
        let mut net = Net { max_threads: n_threads, max_depth: 1, ..Net::default() };
        net.done = Some(net.add_token_place("done", PlaceKind::Execution, vec![Base::Thread]));
        net.ended = Some(net.add_token_place("ended", PlaceKind::Execution, vec![]));
        let cells =
            CellData { scope: Scope::Global, length: None, value: IntType::U8, default: 0, listed: vec![] };
        let x = net.add_cells("x", cells.clone());
        let mutex = net.add_cells("m", cells);
        Self { net, x, mutex }
    }

    /// A thread with `n_places` places to be in; the last is its exit.
    fn thread(&mut self, number: i64, n_places: usize) -> (Function, Vec<Place>) {
        let frame = || vec![Base::Thread, Base::Depth];
        let names = (0..n_places).map(|at| format!("thread {number} at {at}"));
        let places: Vec<Place> =
            names.map(|name| self.net.add_token_place(&name, PlaceKind::Execution, frame())).collect();
        self.net.places[places[0]].form = PlaceForm::Tokens { initial: vec![vec![number, 0]] };
        let data = FunctionData {
            name: format!("f{number}"),
            entry: places[0],
            exit: places[n_places - 1],
            pos: None,
        };
        (self.net.functions.push(data), places)
    }

    fn step(&mut self, action: Action, function: Function, from: Place, to: Option<Place>) {
        let mut builder = TransitionBuilder::new(action, function, from, action.name());
        let free = Expr::Const(0);
        match action {
            Action::Lock => {
                let owner = builder.read(&self.net, self.mutex, vec![]);
                builder.guard(Expr::equal(owner, free));
                builder.write(self.mutex, vec![], Expr::Const(1));
            }
            Action::Unlock => drop(builder.write(self.mutex, vec![], free)),
            Action::Assign => drop(builder.write(self.x, vec![], Expr::Const(1))),
            _ => {}
        }
        let builder = match to {
            Some(to) => builder.to(to),
            None => builder,
        };
        builder.finish(&mut self.net);
    }

    /// The verdicts without, with weak and with strong fairness.
    fn verdicts(&self, formula: &Ltl) -> [RefVerdict; 3] {
        assert_eq!(verify_net(&self.net), []);
        let graph = ReachableGraph::build(&self.net, 1000).expect("small");
        let x_is_1 = Expr::equal(Expr::Cell(self.x, vec![]), Expr::Const(1));
        let end = Expr::Marked(self.net.ended.expect("declared"), vec![]);
        let atoms =
            [("x == 1", x_is_1), ("end", end)].map(|(text, expr)| AtomData { text: text.to_owned(), expr });
        [Fairness::None, Fairness::Weak, Fairness::Strong]
            .map(|fairness| graph.holds(formula, &atoms, fairness).verdict)
    }
}

fn x_is_1() -> Ltl {
    Ltl::atom(Atom::new(0))
}

fn end() -> Ltl {
    Ltl::atom(Atom::new(1))
}

#[test]
fn a_spinning_thread_starves_another_only_without_fairness() {
    let mut threads = Threads::new(2);
    let (spin, at) = threads.thread(0, 1);
    threads.step(Action::Jump, spin, at[0], Some(at[0]));
    let (work, at) = threads.thread(1, 2);
    threads.step(Action::Assign, work, at[0], Some(at[1]));
    threads.step(Action::ThreadEnd, work, at[1], None);
    assert_eq!(threads.verdicts(&Ltl::finally(x_is_1())), [Violated, Holds, Holds]);
    // The spinning thread never ends, so neither does the process.
    assert_eq!(threads.verdicts(&Ltl::finally(end())), [Violated; 3]);
}

#[test]
fn a_lock_that_is_taken_again_and_again_needs_strong_fairness() {
    let mut threads = Threads::new(2);
    let (greedy, at) = threads.thread(0, 2);
    threads.step(Action::Lock, greedy, at[0], Some(at[1]));
    threads.step(Action::Unlock, greedy, at[1], Some(at[0]));
    let (work, at) = threads.thread(1, 3);
    threads.step(Action::Lock, work, at[0], Some(at[1]));
    threads.step(Action::Assign, work, at[1], Some(at[2]));
    assert_eq!(threads.verdicts(&Ltl::finally(x_is_1())), [Violated, Violated, Holds]);
}

#[test]
fn a_failed_assumption_removes_the_runs_that_must_come_to_it() {
    // One thread fails an assumption at once, another sets x and ends.
    let mut threads = Threads::new(2);
    let (assumes, at) = threads.thread(0, 1);
    threads.step(Action::AssumeFail, assumes, at[0], None);
    let (work, at) = threads.thread(1, 2);
    threads.step(Action::Assign, work, at[0], Some(at[1]));
    threads.step(Action::Jump, work, at[1], Some(at[1]));
    // Without fairness there is a run: the second thread spins forever. With fairness there is none.
    assert_eq!(threads.verdicts(&Ltl::globally(Ltl::not(x_is_1()))), [Violated, Holds, Holds]);
    assert_eq!(threads.verdicts(&Ltl::False), [Violated, Holds, Holds]);
}

#[test]
fn a_run_that_can_only_be_cut_off_is_no_deadlock_and_no_run() {
    let mut threads = Threads::new(1);
    let (deep, at) = threads.thread(0, 2);
    threads.step(Action::Jump, deep, at[0], Some(at[1]));
    threads.step(Action::Bound(Bound::Depth), deep, at[1], None);
    assert_eq!(threads.verdicts(&Ltl::False), [Holds; 3]);
    let graph = ReachableGraph::build(&threads.net, 10).expect("two markings");
    assert_eq!((graph.n_markings(), graph.no_deadlock().verdict), (2, Holds));
    assert!(graph.caveats().bounds.contains(&Bound::Depth));
}

#[test]
fn what_ends_repeats_its_last_state() {
    let mut threads = Threads::new(1);
    let (work, at) = threads.thread(0, 2);
    threads.step(Action::Assign, work, at[0], Some(at[1]));
    threads.step(Action::ProcessEnd, work, at[1], None);
    let at_last = Ltl::finally(Ltl::globally(Ltl::and(end(), x_is_1())));
    assert_eq!(threads.verdicts(&at_last), [Holds; 3]);
    assert_eq!(threads.verdicts(&Ltl::next(x_is_1())), [Holds; 3]);
    assert_eq!(threads.verdicts(&Ltl::next(end())), [Violated; 3]);
}

#[test]
fn two_threads_and_one_mutex_can_block_each_other() {
    let mut threads = Threads::new(2);
    for number in 0..2 {
        let (takes, at) = threads.thread(number, 2);
        threads.step(Action::Lock, takes, at[0], Some(at[1]));
    }
    let graph = ReachableGraph::build(&threads.net, 10).expect("small");
    assert_eq!(graph.n_markings(), 3);
    let trace = graph.no_deadlock().trace.expect("the other one waits forever");
    assert_eq!(trace.prefix.len(), 1);
}

const DIVISION: Action = Action::Fault(Fault::DivisionByZero);

#[test]
fn what_comes_after_undefined_behaviour_is_no_run_of_a_formula() {
    // x = 1, then a fault: nothing says that the process ends, nor that it does not.
    let mut threads = Threads::new(1);
    let (work, at) = threads.thread(0, 2);
    threads.step(Action::Assign, work, at[0], Some(at[1]));
    threads.step(DIVISION, work, at[1], None);
    assert_eq!(threads.verdicts(&Ltl::finally(end())), [Holds; 3]);
    assert_eq!(threads.verdicts(&Ltl::False), [Holds; 3]);
    let graph = ReachableGraph::build(&threads.net, 10).expect("two markings");
    assert_eq!((graph.n_markings(), graph.no_deadlock().verdict), (2, Holds));
    assert!(graph.caveats().faults.contains(&Fault::DivisionByZero));
    assert!(graph.goes_on(0) && graph.is_left_open(0));
}

#[test]
fn a_fault_that_must_not_fire_is_the_end_of_its_run() {
    let mut threads = Threads::new(1);
    let (work, at) = threads.thread(0, 2);
    threads.step(Action::Assign, work, at[0], Some(at[1]));
    threads.step(DIVISION, work, at[1], None);
    let net = &threads.net;
    let property = Property::arithmetic(net);
    let PropertyKind::NeverFires(faults) = &property.kind else { panic!("{property:?}") };
    let graph = ReachableGraph::build(net, 10).expect("two markings");
    let trace = graph.never_fires(faults).trace.expect("it fires");
    let run = replay(net, &property, Fairness::None, &trace).expect("a run that breaks the property");
    assert_eq!(run.prefix.len(), 2);
    assert_eq!(run.prefix[1].after, run.prefix[0].after);

    // Nothing comes after it, and it is no part of a run that breaks something else.
    let refused = |property: &Property, prefix, end| {
        replay(net, property, Fairness::None, &Trace { prefix, end }).expect_err("no run")
    };
    let last = trace.prefix[1].clone();
    let twice = [trace.prefix.clone(), vec![last.clone()]].concat();
    assert_eq!(refused(&property, twice, TraceEnd::Any), ReplayError::Pruned { step: 1 });
    let stays = refused(&property, trace.prefix.clone(), TraceEnd::Stutter);
    assert_eq!(stays, ReplayError::Pruned { step: 1 });
    let again = refused(&property, trace.prefix.clone(), TraceEnd::Cycle(vec![last]));
    assert_eq!(again, ReplayError::Pruned { step: 1 });
    let asserts = Property::assertions(net);
    assert_eq!(refused(&asserts, trace.prefix, TraceEnd::Any), ReplayError::Pruned { step: 1 });
}

#[test]
fn a_prefix_goes_on_where_it_is_not_certain_to_be_removed() {
    let goes_on = |last: Action, assumes: bool| {
        let mut threads = Threads::new(1);
        let (work, at) = threads.thread(0, 3);
        threads.step(Action::Assign, work, at[0], Some(at[1]));
        threads.step(last, work, at[1], None);
        if assumes {
            threads.step(Action::AssumeFail, work, at[1], None);
        }
        ReachableGraph::build(&threads.net, 10).expect("few markings").goes_on(1)
    };
    for assumes in [false, true] {
        assert!(goes_on(DIVISION, assumes) && goes_on(Action::AssertFail, assumes));
    }
    // Behind a bound an assumption may fail, if there is one.
    assert!(goes_on(Action::Bound(Bound::Depth), false));
    assert!(!goes_on(Action::Bound(Bound::Depth), true));
    assert!(!goes_on(Action::AssumeFail, false));
}
