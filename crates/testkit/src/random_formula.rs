//! Random formulas without next, and random atoms for a net.

use pdnet_base::{Idx as _, Rng};
use pdnet_check::AtomData;
use pdnet_logic::{Atom, Ltl};
use pdnet_net::{Base, BinaryOp, Expr, IntType, Net, Place, PlaceForm, PlaceKind, Scope, Var};

/// A random formula over `n_atoms` atoms with at most about `max_size` operators and atoms. Half of them have
/// a shape that people write: invariants, responses, recurrence, persistence, precedence.
#[must_use]
pub fn random_formula(rng: &mut Rng, n_atoms: usize, max_size: usize) -> Ltl {
    if max_size >= 5 && rng.chance(50) {
        return familiar(rng, n_atoms);
    }
    let size = 1 + rng.below(max_size.max(1));
    arbitrary(rng, n_atoms, size)
}

fn literal(rng: &mut Rng, n_atoms: usize) -> Ltl {
    if n_atoms == 0 || rng.chance(3) {
        return if rng.chance(50) { Ltl::True } else { Ltl::False };
    }
    let atom = Ltl::atom(Atom::new(rng.below(n_atoms)));
    if rng.chance(35) { Ltl::not(atom) } else { atom }
}

fn familiar(rng: &mut Rng, n_atoms: usize) -> Ltl {
    let a = literal(rng, n_atoms);
    let b = literal(rng, n_atoms);
    let c = literal(rng, n_atoms);
    let (always, eventually) = (Ltl::globally, Ltl::finally);
    match rng.below(14) {
        0 => always(a),
        1 => eventually(a),
        2 => always(eventually(a)),
        3 => eventually(always(a)),
        4 | 5 => always(Ltl::implies(a, eventually(b))),
        6 => Ltl::until(a, b),
        7 => Ltl::weak_until(a, b),
        8 => always(Ltl::implies(a, Ltl::until(b, c))),
        9 => Ltl::implies(always(eventually(a)), always(eventually(b))),
        10 => Ltl::or(eventually(always(a)), always(eventually(b))),
        11 => Ltl::implies(eventually(a.clone()), Ltl::until(b, Ltl::or(a, c))),
        12 => always(Ltl::implies(a, always(b))),
        _ => Ltl::release(a, Ltl::or(b, eventually(c))),
    }
}

fn arbitrary(rng: &mut Rng, n_atoms: usize, size: usize) -> Ltl {
    if size <= 1 {
        return literal(rng, n_atoms);
    }
    if size == 2 || rng.chance(40) {
        let inner = arbitrary(rng, n_atoms, size - 1);
        return match rng.below(5) {
            0 => Ltl::not(inner),
            1 | 2 => Ltl::finally(inner),
            _ => Ltl::globally(inner),
        };
    }
    let left_size = 1 + rng.below(size - 2);
    let left = arbitrary(rng, n_atoms, left_size);
    let right = arbitrary(rng, n_atoms, size - 1 - left_size);
    match rng.below(12) {
        0 | 1 => Ltl::and(left, right),
        2 | 3 => Ltl::or(left, right),
        4 => Ltl::implies(left, right),
        5 => Ltl::iff(left, right),
        6 => Ltl::xor(left, right),
        7 | 8 => Ltl::until(left, right),
        9 => Ltl::weak_until(left, right),
        10 => Ltl::release(left, right),
        _ => Ltl::strong_release(left, right),
    }
}

/// Random atoms for a net: comparisons of its cells with small constants, where threads are, which have
/// ended, whether the process has, deadlock.
#[must_use]
pub fn random_atoms(rng: &mut Rng, net: &Net, n_atoms: usize) -> Vec<AtomData> {
    let atom = |rng: &mut Rng| {
        let expr = random_atom(rng, net);
        let text = expr.pretty(net, &|var: Var| var.to_string());
        AtomData { text, expr }
    };
    (0..n_atoms).map(|_| atom(rng)).collect()
}

fn random_atom(rng: &mut Rng, net: &Net) -> Expr {
    match rng.below(20) {
        0 => Expr::Deadlock,
        1 => net.ended.map_or(Expr::Const(0), |ended| Expr::Marked(ended, vec![])),
        2 | 3 => {
            let thread = random_thread(rng, net);
            net.done.map_or(Expr::Const(1), |done| Expr::Marked(done, vec![thread]))
        }
        4..=6 => {
            let is_execution = |place: &Place| net.places[*place].kind == PlaceKind::Execution;
            let places: Vec<Place> = net.places.indices().filter(is_execution).collect();
            if places.is_empty() { Expr::Const(0) } else { marked(rng, net, &places) }
        }
        7 => {
            let is_condition = |place: &Place| {
                net.places[*place].kind == PlaceKind::Variable
                    && matches!(net.places[*place].form, PlaceForm::Tokens { .. })
            };
            let places: Vec<Place> = net.places.indices().filter(is_condition).collect();
            if places.is_empty() { comparison(rng, net) } else { marked(rng, net, &places) }
        }
        8 => Expr::both(comparison(rng, net), comparison(rng, net)),
        9 => Expr::either(comparison(rng, net), random_atom(rng, net)),
        _ => comparison(rng, net),
    }
}

fn random_thread(rng: &mut Rng, net: &Net) -> Expr {
    let n_threads = usize::try_from(net.max_threads.max(1)).expect("small");
    Expr::Const(i64::try_from(rng.below(n_threads)).expect("small"))
}

/// One of the places has a token, perhaps of a certain thread.
fn marked(rng: &mut Rng, net: &Net, places: &[Place]) -> Expr {
    let place = *rng.pick(places);
    let by_thread = net.components(place).first() == Some(&Base::Thread) && rng.chance(60);
    let prefix = if by_thread { vec![random_thread(rng, net)] } else { vec![] };
    Expr::Marked(place, prefix)
}

/// A cell compared with a small constant, or with another cell.
fn comparison(rng: &mut Rng, net: &Net) -> Expr {
    let cells: Vec<Place> =
        net.places.indices().filter(|&place| net.places[place].cells().is_some()).collect();
    // Front ends ask of globals much more often than of locals.
    let is_global =
        |place: &&Place| net.places[**place].cells().is_some_and(|cells| cells.scope == Scope::Global);
    let globals: Vec<Place> = cells.iter().filter(is_global).copied().collect();
    let from = if globals.is_empty() || rng.chance(15) { &cells } else { &globals };
    if from.is_empty() {
        return Expr::Const(1);
    }
    let place = *rng.pick(from);
    let ty = net.places[place].cells().expect("filtered").value;
    let left = cell(rng, net, place);
    let right = if rng.chance(15) {
        let other = *rng.pick(from);
        Expr::convert(ty, cell(rng, net, other))
    } else {
        Expr::Const(ty.wrap(*rng.pick(&[0, 0, 1, 1, 2, 3, -1])))
    };
    let op = *rng.pick(&[BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt, BinaryOp::Le]);
    Expr::binary(op, ty, left, right)
}

fn cell(rng: &mut Rng, net: &Net, place: Place) -> Expr {
    let data = net.places[place].cells().expect("a place with cells");
    let mut key = match data.scope {
        Scope::Global => vec![],
        Scope::Thread => vec![random_thread(rng, net)],
        Scope::Frame(_) => vec![random_thread(rng, net), Expr::Const(i64::from(rng.chance(20)))],
    };
    if let Some(length) = data.length {
        let index = i64::try_from(rng.below(usize::try_from(length).expect("small") + 1)).expect("small");
        // One index past the end, now and then: it reads 0.
        key.push(Expr::Const(if rng.chance(95) { index % i64::from(length) } else { index }));
    }
    Expr::convert(IntType::I64, Expr::Cell(place, key))
}
