//! Which threads a join may wait for.

use pdnet_base::{FxHashMap, Idx as _, IndexVec};
use pdnet_net::{Action, ArcData, Expr, Function, Pattern, Place, Transition, TransitionData, Var};

use crate::facts::Facts;
use crate::on_demand::ends_thread;

/// The functions that threads run whose handles may be in a cell.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Origin {
    /// No handle: nothing was written but 0.
    #[default]
    Nothing,
    /// Handles that came from the creation of threads with these functions.
    Of(Vec<Function>),
    /// Anything.
    Unknown,
}

impl Origin {
    /// Adds another; true where that is new.
    fn add(&mut self, other: &Self) -> bool {
        let joined = match (&*self, other) {
            (_, Self::Nothing) | (Self::Unknown, _) => return false,
            (_, Self::Unknown) => Self::Unknown,
            (Self::Nothing, other) => other.clone(),
            (Self::Of(left), Self::Of(right)) => {
                let mut all = left.clone();
                all.extend(right);
                all.sort_unstable();
                all.dedup();
                Self::Of(all)
            }
        };
        let is_new = joined != *self;
        *self = joined;
        is_new
    }
}

/// Where the handles of threads go.
pub(crate) struct Joins {
    origins: IndexVec<Place, Origin>,
    /// The ends of threads by the function that ends, once asked for.
    all_ends: Vec<(Function, Transition)>,
    reached: FxHashMap<Function, Vec<Function>>,
}

impl Joins {
    pub(crate) fn new(facts: &Facts<'_>) -> Self {
        let net = facts.net;
        let mut joins = Self {
            origins: IndexVec::filled(Origin::Nothing, net.places.len()),
            all_ends: Vec::new(),
            reached: FxHashMap::default(),
        };
        let ends = net.transitions.iter_enumerated().filter(|(_, data)| ends_thread(data));
        joins.all_ends = ends.map(|(transition, data)| (data.function, transition)).collect();
        if net.transitions.iter().any(|data| data.action == Action::Join) {
            joins.find_origins(facts);
        }
        joins
    }

    /// Follows the numbers of threads from their creation through copies. What is computed in any other way, or given
    /// initially, may be anything; but only places that hold a created thread's number are followed at all.
    fn find_origins(&mut self, facts: &Facts<'_>) {
        let net = facts.net;
        for (place, data) in net.places.iter_enumerated() {
            if data
                .cells()
                .is_some_and(|cells| cells.default != 0 || cells.listed.iter().any(|&(_, value)| value != 0))
            {
                self.origins[place] = Origin::Unknown;
            }
        }
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for data in net.transitions.iter() {
                for arc in &data.arcs {
                    if let ArcData::Write { place, value, .. } = arc {
                        let has_room = net.places[*place]
                            .cells()
                            .is_some_and(|cells| cells.value.contains(i64::from(net.max_threads)));
                        let found = self.of_value(facts, data, value);
                        let origin = match found {
                            Origin::Of(_) if !has_room => Origin::Unknown,
                            _ => found,
                        };
                        is_changed |= self.origins[*place].add(&origin);
                    }
                }
            }
        }
    }

    fn of_value(&self, facts: &Facts<'_>, data: &TransitionData, value: &Expr) -> Origin {
        match value {
            Expr::Const(0) => Origin::Nothing,
            Expr::Var(var) => self.of_var(data, *var),
            // A type without room for all handles would make one into another.
            Expr::Convert(ty, operand) if ty.contains(i64::from(facts.net.max_threads)) => {
                self.of_value(facts, data, operand)
            }
            Expr::If(_, then, otherwise) => {
                let mut origin = self.of_value(facts, data, then);
                origin.add(&self.of_value(facts, data, otherwise));
                origin
            }
            _ if data.action == Action::Create && is_new_handle(data, value) => {
                Origin::Of(data.arcs.iter().filter_map(|arc| facts.started_by(arc)).collect())
            }
            _ => Origin::Unknown,
        }
    }

    fn of_var(&self, data: &TransitionData, var: Var) -> Origin {
        let mut origin = Origin::Nothing;
        let mut is_read = false;
        for arc in &data.arcs {
            if let ArcData::Read { place, var: read, .. } = arc
                && *read == var
            {
                is_read = true;
                origin.add(&self.origins[*place]);
            }
        }
        if is_read { origin } else { Origin::Unknown }
    }

    /// The ends of threads for which a step may wait.
    pub(crate) fn ends(&mut self, facts: &Facts<'_>, join: Transition) -> Vec<Transition> {
        let data = &facts.net.transitions[join];
        let mut origin = Origin::Nothing;
        for arc in &data.arcs {
            let (ArcData::Test { place, token } | ArcData::Take { place, token }) = arc else { continue };
            if Some(*place) != facts.net.done {
                continue;
            }
            match token.first() {
                Some(Pattern::Is(handle)) => {
                    for var in handle.vars() {
                        origin.add(&self.of_var(data, var));
                    }
                    if handle.vars().is_empty() {
                        origin = Origin::Unknown;
                    }
                }
                _ => origin = Origin::Unknown,
            }
        }
        let functions = match origin {
            Origin::Unknown => return self.all_ends.iter().map(|&(_, end)| end).collect(),
            Origin::Nothing => return Vec::new(),
            Origin::Of(functions) => functions,
        };
        let mut ends = Vec::new();
        for function in functions {
            let reached = self.reached.entry(function).or_insert_with(|| called_from(facts, function));
            ends.extend(
                self.all_ends.iter().filter(|(at, _)| reached.binary_search(at).is_ok()).map(|&(_, end)| end),
            );
        }
        ends
    }
}

/// Whether a value is the number of the thread that the transition creates, plus one.
fn is_new_handle(data: &TransitionData, value: &Expr) -> bool {
    let number = data.arcs.iter().find_map(|arc| match arc {
        ArcData::Put { token, .. } if matches!(token.as_slice(), [_, Expr::Const(0)]) => token.first(),
        _ => None,
    });
    let Expr::Binary(pdnet_net::BinaryOp::Add, _, left, right) = value else { return false };
    number == Some(&**left) && **right == Expr::Const(1)
}

/// The functions that a thread with this function may run.
fn called_from(facts: &Facts<'_>, start: Function) -> Vec<Function> {
    let mut calls: FxHashMap<Function, Vec<Function>> = FxHashMap::default();
    for data in facts.net.transitions.iter().filter(|data| data.action == Action::Call) {
        calls
            .entry(data.function)
            .or_default()
            .extend(data.arcs.iter().filter_map(|arc| facts.started_by(arc)));
    }
    let mut found = vec![start];
    let mut next = 0;
    while next < found.len() {
        for &callee in calls.get(&found[next]).into_iter().flatten() {
            if !found.contains(&callee) {
                found.push(callee);
            }
        }
        next += 1;
    }
    found.sort_unstable();
    debug_assert!(found.iter().all(|function| function.index() < facts.net.functions.len()));
    found
}
