//! Where inputs go, and what the program finds out about them.
//!
//! The analysis keeps, for each place with cells, which functions of which inputs its cells may hold, and
//! which other values, as long as these are few constants. It does not look at the order of steps.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::{Idx as _, IndexVec};

use super::classes::Observation;
use super::eval::{Eval, Known};
use super::form;
use super::regions::Regions;
use super::{Cause, Input, Source, Usage};
use crate::net::{ArcData, Pattern, Place, Transition, TransitionData, Var};
use crate::{Expr, Net};

/// The most functions of inputs in the cells of one place, or as results of one expression.
pub(super) const MAX_FORMS: usize = 24;
/// The most constants likewise.
pub(super) const MAX_CONSTANTS: usize = 16;
/// The largest function, counted in operators and operands.
const MAX_NODES: usize = 40;

/// What a cell may hold: functions of inputs, and constants (`None`: other values too).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) forms: BTreeSet<(Input, Expr)>,
    pub(super) constants: Option<BTreeSet<i64>>,
}

/// What the program finds out about inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    pub(super) observations: BTreeMap<Input, BTreeMap<Observation, Cause>>,
    /// Inputs that are compared with each other as they are; `true` where their order matters.
    pub(super) comparisons: BTreeMap<(Input, Input), (bool, Cause)>,
}

impl Uses {
    pub(super) fn add(&mut self, input: Input, observation: Observation, cause: Cause) {
        self.observations.entry(input).or_default().entry(observation).or_insert(cause);
    }
}

/// Finds all uses of the inputs.
pub(super) fn uses(net: &Net, sources: &IndexVec<Input, Source>, regions: &Regions, atoms: &[Expr]) -> Uses {
    let mut opaque = IndexVec::filled(Opaque::No, net.places.len());
    if let Some(atomic) = net.atomic {
        opaque[atomic] = Opaque::Always;
    }
    loop {
        let mut flow = Flow { net, sources, regions, opaque: &opaque, contents: IndexVec::new() };
        match flow.run() {
            Ok(()) => return flow.collect(atoms),
            // Its cells hold more and more functions: from now on, what is written there counts as known.
            Err(place) => {
                opaque[place] = match opaque[place] {
                    Opaque::No => Opaque::ExceptCopies,
                    Opaque::ExceptCopies | Opaque::Always => Opaque::Always,
                }
            }
        }
    }
}

/// Whether what is written to the cells of a place is observed, so that they hold no functions of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opaque {
    No,
    /// Only copies stay functions; `x = x + 1` is enough to be rid of a loop.
    ExceptCopies,
    Always,
}

pub(super) struct Flow<'a> {
    pub(super) net: &'a Net,
    pub(super) sources: &'a IndexVec<Input, Source>,
    regions: &'a Regions,
    pub(super) opaque: &'a IndexVec<Place, Opaque>,
    pub(super) contents: IndexVec<Place, Content>,
}

impl Flow<'_> {
    /// The least solution; a place that has none with few functions is the error.
    fn run(&mut self) -> std::result::Result<(), Place> {
        self.contents = self.net.places.iter().map(initial).collect();
        let mut readers: IndexVec<Place, Vec<Transition>> =
            IndexVec::filled(Vec::new(), self.net.places.len());
        for (transition, data) in self.net.transitions.iter_enumerated() {
            for arc in &data.arcs {
                if let ArcData::Read { place, .. } = arc {
                    readers[*place].push(transition);
                }
            }
        }
        let mut queue: BTreeSet<Transition> = self.net.transitions.indices().collect();
        while let Some(transition) = queue.pop_first() {
            for (place, content) in self.step(transition).run(None) {
                let known = &mut self.contents[place];
                let before = (known.forms.len(), known.constants.as_ref().map(BTreeSet::len));
                known.forms.extend(content.forms);
                known.constants = match (known.constants.take(), content.constants) {
                    (Some(mut known), Some(new)) => {
                        known.extend(new);
                        Some(known).filter(|known| known.len() <= MAX_CONSTANTS)
                    }
                    _ => None,
                };
                if known.forms.len() > MAX_FORMS
                    || known.forms.iter().any(|(_, form)| form::n_nodes(form) > MAX_NODES)
                {
                    return Err(place);
                }
                if before != (known.forms.len(), known.constants.as_ref().map(BTreeSet::len)) {
                    queue.extend(readers[place].iter().copied());
                }
            }
        }
        Ok(())
    }

    fn collect(&self, atoms: &[Expr]) -> Uses {
        let mut uses = Uses::default();
        for transition in self.net.transitions.indices() {
            self.step(transition).run(Some(&mut uses));
        }
        for atom in atoms {
            let mut data = Vec::new();
            let expr = self.without_cells(atom, &mut data);
            let vars = data.into_iter().map(|content| Known { content, range: None }).collect();
            let mut eval = Eval { flow: self, transition: None, vars, uses: Some(&mut uses) };
            keys(atom).iter().for_each(|key| eval.look_at_cells(key));
            eval.truth(&expr);
        }
        uses
    }

    /// The atom with a variable for each cell that it looks at.
    fn without_cells(&self, atom: &Expr, cells: &mut Vec<Content>) -> Expr {
        match atom {
            Expr::Const(_) | Expr::Var(_) => atom.clone(),
            Expr::Unary(op, ty, operand) => Expr::unary(*op, *ty, self.without_cells(operand, cells)),
            Expr::Binary(op, ty, left, right) => {
                Expr::binary(*op, *ty, self.without_cells(left, cells), self.without_cells(right, cells))
            }
            Expr::Convert(ty, operand) => Expr::convert(*ty, self.without_cells(operand, cells)),
            Expr::If(condition, then, otherwise) => Expr::cond(
                self.without_cells(condition, cells),
                self.without_cells(then, cells),
                self.without_cells(otherwise, cells),
            ),
            Expr::Cell(place, _) => {
                let mut content = self.contents[*place].clone();
                content.constants = content.constants.map(|mut constants| {
                    constants.insert(0);
                    constants
                });
                cells.push(content);
                Expr::Var(Var::new(cells.len() - 1))
            }
            Expr::Marked(..) | Expr::Deadlock => {
                cells.push(Content { forms: BTreeSet::new(), constants: Some(BTreeSet::from([0, 1])) });
                Expr::Var(Var::new(cells.len() - 1))
            }
        }
    }

    fn step<'a>(&'a self, transition: Transition) -> Step<'a> {
        Step { flow: self, transition, data: &self.net.transitions[transition] }
    }
}

/// The keys of cells and prefixes of tokens that an atom names.
fn keys(atom: &Expr) -> Vec<Expr> {
    let mut found = Vec::new();
    atom.walk(&mut |expr| {
        if let Expr::Cell(_, parts) | Expr::Marked(_, parts) = expr {
            found.extend(parts.iter().cloned());
        }
    });
    found
}

fn initial(data: &crate::PlaceData) -> Content {
    let constants = data.cells().map(|cells| {
        let outside = cells.length.map(|_| 0);
        cells.listed.iter().map(|(_, value)| *value).chain([cells.default]).chain(outside).collect()
    });
    let constants = constants.filter(|found: &BTreeSet<i64>| found.len() <= MAX_CONSTANTS);
    Content { forms: BTreeSet::new(), constants }
}

/// A transition under analysis.
struct Step<'a> {
    flow: &'a Flow<'a>,
    transition: Transition,
    data: &'a TransitionData,
}

impl Step<'_> {
    /// What it adds to the cells of places; what it observes goes to `uses`.
    fn run(&self, uses: Option<&mut Uses>) -> Vec<(Place, Content)> {
        let unknown = Known { content: Content { forms: BTreeSet::new(), constants: None }, range: None };
        let vars = IndexVec::filled(unknown, self.data.vars.len());
        let mut eval = Eval { flow: self.flow, transition: Some(self.transition), vars, uses };
        for (var, _) in self.data.vars.iter_enumerated().filter(|(_, data)| data.choice.is_some()) {
            let is_here = |source: &Source| source.transition == self.transition && source.var == var;
            let found = self.flow.sources.iter_enumerated().find(|(_, source)| is_here(source));
            let forms = found.map(|(input, _)| (input, Expr::Var(Var::new(0)))).into_iter().collect();
            eval.vars[var].content = Content { forms, constants: Some(BTreeSet::new()) };
        }
        let mut written = Vec::new();
        for (number, arc) in self.data.arcs.iter().enumerate() {
            match arc {
                ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                    for pattern in token {
                        if let Pattern::Is(expr) = pattern {
                            eval.value(expr, Usage::Token);
                        }
                    }
                }
                ArcData::Put { token: parts, .. }
                | ArcData::Inhibit { prefix: parts, .. }
                | ArcData::Drain { prefix: parts, .. } => {
                    parts.iter().for_each(|part| eval.value(part, Usage::Token));
                }
                ArcData::Read { place, key, var, when } => {
                    key.iter().for_each(|part| eval.value(part, Usage::Index));
                    when.iter().for_each(|when| eval.truth(when));
                    let mut content = self.flow.contents[*place].clone();
                    if when.is_some() {
                        content.constants.iter_mut().for_each(|constants| {
                            constants.insert(0);
                        });
                    }
                    let range = self.flow.regions.at(self.transition, number);
                    eval.vars[*var] = Known { content, range };
                }
                ArcData::Write { .. } | ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        self.data.guard.iter().for_each(|guard| eval.truth(guard));
        self.data.bytes.iter().for_each(|bytes| eval.value(&bytes.first, Usage::Index));
        for arc in &self.data.arcs {
            if let ArcData::Write { place, key, value, when } = arc {
                key.iter().for_each(|part| eval.value(part, Usage::Index));
                when.iter().for_each(|when| eval.truth(when));
                written.push((*place, eval.write(*place, value)));
            }
        }
        written
    }
}
