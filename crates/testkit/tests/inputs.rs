//! Inputs that are split into cases, against inputs with all their values.

use std::collections::BTreeSet;

use pdnet_base::{Idx as _, Rng};
use pdnet_check::{AtomData, Fairness};
use pdnet_net::{
    Action, Base, BinaryOp, CellData, Domain, Expr, FunctionData, IntType, Net, Place, PlaceForm, PlaceKind,
    Scope, SplitLimits, Transition, TransitionBuilder, UnaryOp, split_inputs, verify_net,
};
use pdnet_testkit::{NetConfig, ReachableGraph, RefVerdict, random_atoms, random_formula, random_net};

/// Limits so small that all ways to split an input are taken on types of few bits too.
const TIGHT: [SplitLimits; 3] = [
    SplitLimits { n_listed: 0, n_split: 3, n_enumerated: 4 },
    SplitLimits { n_listed: 0, n_split: 16, n_enumerated: 16 },
    SplitLimits { n_listed: 256, n_split: 512, n_enumerated: 1024 },
];

/// Which transitions some run can fire.
fn fired(net: &Net, graph: &ReachableGraph<'_>) -> BTreeSet<Transition> {
    let can_fire =
        |transition: &Transition| graph.never_fires(&[*transition]).verdict == RefVerdict::Violated;
    net.transitions.indices().filter(can_fire).collect()
}

/// Whether both nets do the same, as far as properties can see.
fn assert_same(full: &Net, split: &Net, atoms: &[AtomData], rng: &mut Rng, limit: usize, case: u64) -> bool {
    let (Some(all), Some(few)) = (ReachableGraph::build(full, limit), ReachableGraph::build(split, limit))
    else {
        return false;
    };
    assert_eq!(fired(full, &all), fired(split, &few), "case {case}: {full}\n{split}");
    assert_eq!(all.no_deadlock().verdict, few.no_deadlock().verdict, "case {case}: {full}\n{split}");
    let letters = |graph: &ReachableGraph<'_>| -> BTreeSet<u64> {
        (0..graph.n_markings()).map(|number| graph.letter(number, atoms)).collect()
    };
    assert_eq!(letters(&all), letters(&few), "case {case}: {full}\n{split}");
    if all.n_markings() < 400 {
        let formula = random_formula(rng, atoms.len(), 5);
        for fairness in [Fairness::None, Fairness::Strong] {
            let verdicts = [&all, &few].map(|graph| graph.holds(&formula, atoms, fairness).verdict);
            assert_eq!(verdicts[0], verdicts[1], "case {case}: {formula:?} {fairness:?} {full}\n{split}");
        }
    }
    true
}

fn is_exact(net: &Net) -> bool {
    let vars = net.transitions.iter().flat_map(|data| data.vars.iter());
    vars.filter_map(|var| var.choice.as_ref()).all(|domain| domain.exact)
}

fn exprs(atoms: &[AtomData]) -> Vec<Expr> {
    atoms.iter().map(|atom| atom.expr.clone()).collect()
}

#[test]
fn random_nets_with_threads_do_the_same_with_fewer_values() {
    let seed = Rng::test_seed(7_301);
    let config = NetConfig { choices: 100, sampled: 0, ..NetConfig::plain() };
    let mut compared = 0;
    for case in 0..400 {
        let mut rng = Rng::new(seed + case);
        let full = random_net(&mut rng, &config);
        let atoms = random_atoms(&mut rng, &full, 3);
        let mut split = full.clone();
        split_inputs(&mut split, &exprs(&atoms), *rng.pick(&TIGHT));
        assert!(verify_net(&split).is_empty(), "{seed} + {case}");
        if full != split && is_exact(&split) {
            compared += usize::from(assert_same(&full, &split, &atoms, &mut rng, 400, seed + case));
        }
    }
    assert!(compared > 50, "only {compared} nets were compared");
}

const fn int(bits: u8, signed: bool) -> IntType {
    IntType { bits, signed }
}

const TYPES: [IntType; 5] = [int(4, true), int(4, false), int(6, true), int(6, false), int(7, true)];

/// What programs are mostly about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Topic {
    Anything,
    /// Inputs that are compared with each other.
    Comparisons,
    /// Inputs that an assumption bounds, and arithmetic on two of them.
    Bounds,
}

/// A program of one thread over a few cells of few bits, with inputs.
struct Program<'a> {
    rng: &'a mut Rng,
    topic: Topic,
    net: Net,
    cells: Vec<(Place, IntType)>,
}

impl Program<'_> {
    fn constant(&mut self, ty: IntType) -> Expr {
        let value = i64::try_from(self.rng.below(128)).expect("small") - 64;
        let small = i64::try_from(self.rng.below(6)).expect("small") - 2;
        Expr::Const(ty.wrap(if self.rng.chance(50) { small } else { value }))
    }

    fn expr(&mut self, vars: &[(Expr, IntType)], ty: IntType, depth: usize) -> Expr {
        if depth == 0 || self.rng.chance(15) {
            if self.rng.chance(20) {
                return self.constant(ty);
            }
            let (var, var_type) = self.rng.pick(vars).clone();
            return if var_type == ty { var } else { Expr::convert(ty, var) };
        }
        let left = self.expr(vars, ty, depth - 1);
        let constants = if self.topic == Topic::Bounds { 40 } else { 85 };
        let right =
            if self.rng.chance(constants) { self.constant(ty) } else { self.expr(vars, ty, depth - 1) };
        match self.rng.below(10) {
            0 => Expr::unary(*self.rng.pick(&UnaryOp::ALL), ty, left),
            1 => {
                let other = *self.rng.pick(&TYPES);
                let inner = self.expr(vars, other, depth - 1);
                Expr::convert(ty, inner)
            }
            2 => {
                let condition = self.condition(vars, depth - 1);
                Expr::cond(condition, left, right)
            }
            3..=5 => {
                let op = if self.rng.chance(70) { BinaryOp::Add } else { BinaryOp::Sub };
                Expr::binary(op, ty, left, right)
            }
            _ => Expr::binary(*self.rng.pick(&BinaryOp::ALL[..10]), ty, left, right),
        }
    }

    fn condition(&mut self, vars: &[(Expr, IntType)], depth: usize) -> Expr {
        if let (Topic::Comparisons, [(left, ty), (right, other)], true) =
            (self.topic, vars, self.rng.chance(70))
            && ty == other
        {
            let comparison =
                Expr::binary(*self.rng.pick(&BinaryOp::ALL[10..]), *ty, left.clone(), right.clone());
            let further = depth > 0 && self.rng.chance(20);
            return if further {
                Expr::both(comparison, self.condition(vars, depth - 1))
            } else {
                comparison
            };
        }
        let ty = *self.rng.pick(&TYPES);
        let left = self.expr(vars, ty, depth.min(2));
        let right = if self.rng.chance(80) { self.constant(ty) } else { self.expr(vars, ty, 0) };
        let comparison = Expr::binary(*self.rng.pick(&BinaryOp::ALL[10..]), ty, left, right);
        match (depth, self.rng.below(4)) {
            (1.., 0) => Expr::both(comparison, self.condition(vars, depth - 1)),
            (1.., 1) => Expr::either(comparison, self.condition(vars, depth - 1)),
            _ => comparison,
        }
    }

    /// A step that reads two cells at most.
    fn step(&mut self, action: Action, from: Place) -> (TransitionBuilder, Vec<(Expr, IntType)>) {
        let mut builder = TransitionBuilder::new(action, pdnet_net::Function::new(0), from, "step");
        let mut vars = Vec::new();
        let first = self.rng.below(self.cells.len());
        for number in 0..1 + self.rng.below(2) {
            let (place, ty) = self.cells[(first + number) % self.cells.len()];
            let key = self.key(place);
            vars.push((builder.read(&self.net, place, key), ty));
        }
        (builder, vars)
    }

    fn key(&self, place: Place) -> Vec<Expr> {
        match self.net.places[place].cells().expect("cells").scope {
            Scope::Frame(_) => TransitionBuilder::frame(),
            Scope::Global | Scope::Thread => vec![],
        }
    }

    fn fork(&mut self, from: Place, yes: (Action, Option<Place>), no: (Action, Option<Place>)) {
        let (builder, vars) = self.step(yes.0, from);
        let condition = self.condition(&vars, 2);
        self.fork_on(builder, condition, yes, no);
    }

    /// An assumption that bounds a cell.
    fn bound(&mut self, from: Place, to: Place, place: Place, ty: IntType) {
        let function = pdnet_net::Function::new(0);
        let mut builder = TransitionBuilder::new(Action::Assume, function, from, "assume");
        let var = builder.read(&self.net, place, self.key(place));
        let low = ty.wrap(i64::try_from(self.rng.below(12)).expect("small") - 3);
        let high = ty.wrap(low + i64::try_from(self.rng.below(5)).expect("small"));
        let above = Expr::binary(BinaryOp::Le, ty, Expr::Const(low), var.clone());
        let below = Expr::binary(BinaryOp::Lt, ty, var, Expr::Const(high));
        let condition = Expr::both(above, below);
        self.fork_on(builder, condition, (Action::Assume, Some(to)), (Action::AssumeFail, None));
    }

    fn fork_on(
        &mut self,
        builder: TransitionBuilder,
        condition: Expr,
        yes: (Action, Option<Place>),
        no: (Action, Option<Place>),
    ) {
        for ((action, to), guard) in [(yes, condition.clone()), (no, Expr::logical_not(condition))] {
            let mut data = builder.clone();
            data.guard(guard);
            let transition = match to {
                Some(to) => data.to(to),
                None => data,
            }
            .finish(&mut self.net);
            self.net.transitions[transition].action = action;
        }
    }

    fn statement(&mut self, number: usize, places: &[Place], n_inputs: &mut usize) {
        let (from, to) = (places[number], places[number + 1]);
        if let (Topic::Bounds, 1) = (self.topic, number) {
            let (place, ty) = self.cells[0];
            return self.bound(from, to, place, ty);
        }
        let kind = if number == 0 { 0 } else { self.rng.below(12) };
        let early = self.topic == Topic::Comparisons;
        match kind {
            _ if *n_inputs > 0 && (kind < 2 || early) => {
                *n_inputs -= 1;
                let function = pdnet_net::Function::new(0);
                let mut builder = TransitionBuilder::new(Action::Assign, function, from, "input");
                let cell = if self.topic == Topic::Anything { self.rng.below(3) } else { number % 3 };
                let (place, ty) = self.cells[cell];
                let domain = Domain { ranges: vec![(ty.min(), ty.max())], exact: true };
                let var = builder.choose("input", Base::Int(ty), domain);
                let key = self.key(place);
                builder.write(place, key, Expr::Var(var));
                builder.to(to).finish(&mut self.net);
            }
            2..=4 => {
                let (mut builder, vars) = self.step(Action::Assign, from);
                let (place, ty) = *self.rng.pick(&self.cells);
                let value = self.expr(&vars, ty, 2);
                let key = self.key(place);
                builder.write(place, key, value);
                builder.to(to).finish(&mut self.net);
            }
            5 => self.fork(from, (Action::Assume, Some(to)), (Action::AssumeFail, None)),
            6 => self.fork(from, (Action::Assign, Some(to)), (Action::AssertFail, None)),
            _ => {
                let other = *self.rng.pick(places);
                self.fork(from, (Action::Assign, Some(to)), (Action::Assign, Some(other)));
            }
        }
    }
}

fn random_program(rng: &mut Rng) -> Net {
    let mut net = Net { name: "inputs".to_owned(), max_threads: 1, max_depth: 1, ..Net::default() };
    let n_places = 4 + rng.below(5);
    let frame = || vec![Base::Thread, Base::Depth];
    let places: Vec<Place> =
        (0..=n_places).map(|_| net.add_token_place("q", PlaceKind::Execution, frame())).collect();
    let function = net.functions.push(FunctionData {
        name: "main".to_owned(),
        entry: places[0],
        exit: places[n_places],
        pos: None,
    });
    places.iter().for_each(|place| net.places[*place].function = Some(function));
    net.places[places[0]].form = PlaceForm::Tokens { initial: vec![vec![0, 0]] };
    net.ended = Some(net.add_token_place("ended", PlaceKind::Execution, vec![]));
    let topic = *rng.pick(&[Topic::Anything, Topic::Comparisons, Topic::Bounds]);
    let n_inputs = if topic == Topic::Comparisons { 2 } else { 1 + rng.below(2) };
    let wide = if n_inputs == 1 { 5 } else { 2 };
    let same = TYPES[rng.below(wide)];
    let mut cells = Vec::new();
    for number in 0..3 {
        let value = if topic == Topic::Comparisons { same } else { TYPES[rng.below(wide)] };
        let scope = if number == 2 { Scope::Global } else { Scope::Frame(function) };
        let data = CellData { scope, length: None, value, default: 0, listed: vec![] };
        cells.push((net.add_cells("cell", data), value));
    }
    let mut program = Program { rng, topic, net, cells };
    let mut left = n_inputs;
    for number in 0..n_places {
        program.statement(number, &places, &mut left);
    }
    let end = TransitionBuilder::new(Action::ProcessEnd, function, places[n_places], "end");
    end.finish(&mut program.net);
    program.net
}

/// The net with a sample for each input.
fn sampled(net: &Net) -> Net {
    let mut net = net.clone();
    for data in net.transitions.iter_mut().flat_map(|data| data.vars.iter_mut()) {
        if let (Some(domain), Base::Int(ty)) = (&mut data.choice, data.base) {
            *domain = Domain { ranges: vec![(ty.min(), ty.min()), (ty.max(), ty.max())], exact: false };
        }
    }
    net
}

#[test]
fn random_programs_do_the_same_with_fewer_values() {
    let seed = Rng::test_seed(41_200);
    let (mut compared, mut smaller, mut inexact) = (0, 0, 0);
    for case in 0..2500 {
        let mut rng = Rng::new(seed + case);
        let full = random_program(&mut rng);
        assert!(verify_net(&full).is_empty(), "{:?}", verify_net(&full));
        let atoms = random_atoms(&mut rng, &full, 2);
        let mut split = sampled(&full);
        split_inputs(&mut split, &exprs(&atoms), *rng.pick(&TIGHT));
        assert!(verify_net(&split).is_empty(), "{seed} + {case}");
        if !is_exact(&split) {
            inexact += 1;
            continue;
        }
        smaller += usize::from(full != split);
        compared += usize::from(assert_same(&full, &split, &atoms, &mut rng, 1500, seed + case));
    }
    assert!(compared > 1000 && smaller > 1000 && inexact > 50, "{compared} {smaller} {inexact}");
}
