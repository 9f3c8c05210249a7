//! The net of what is kept.

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{
    Action, ArcData, CellData, Expr, Function, FunctionData, Net, Pattern, Place, PlaceData, PlaceForm,
    PlaceKind, Scope, Transition, TransitionData, Var,
};

use crate::facts::Facts;
use crate::next::{Next, Ways};
use crate::on_demand::Closure;

/// The net of a slice, and where its parts come from.
pub(crate) struct Rebuilt {
    pub(crate) net: Net,
    pub(crate) places: IndexVec<Place, Place>,
    pub(crate) transitions: IndexVec<Transition, Transition>,
    /// The place of the slice that a place of the whole net is.
    pub(crate) new_place: IndexVec<Place, Option<Place>>,
    /// The transition of the slice that a transition of the whole net is.
    pub(crate) new_transition: IndexVec<Transition, Option<Transition>>,
    /// For each transition of the slice the variable of the whole net's that each of its variables is.
    pub(crate) vars: IndexVec<Transition, Vec<Var>>,
}

struct Builder<'a, 'f, 'n> {
    facts: &'f Facts<'n>,
    closure: &'a Closure<'f, 'n>,
    ways: &'a Ways,
    functions: IndexVec<Function, Option<Function>>,
    /// Where frames of a function are parked, made when first needed.
    parking: IndexVec<Function, Option<Place>>,
    out: Rebuilt,
}

/// Makes the net of what the closure has kept.
pub(crate) fn rebuild<'f, 'n>(facts: &'f Facts<'n>, closure: &Closure<'f, 'n>, ways: &Ways) -> Rebuilt {
    let net = facts.net;
    let mut builder = Builder {
        facts,
        closure,
        ways,
        functions: IndexVec::filled(None, net.functions.len()),
        parking: IndexVec::filled(None, net.functions.len()),
        out: Rebuilt {
            net: Net {
                name: net.name.clone(),
                files: net.files.clone(),
                max_threads: net.max_threads,
                max_depth: net.max_depth,
                ..Net::default()
            },
            places: IndexVec::new(),
            transitions: IndexVec::new(),
            new_place: IndexVec::filled(None, net.places.len()),
            new_transition: IndexVec::filled(None, net.transitions.len()),
            vars: IndexVec::new(),
        },
    };
    builder.add_functions();
    builder.add_places();
    builder.add_transitions();
    builder.out
}

impl Builder<'_, '_, '_> {
    /// A function is there if something of it is, and if a thread begins in it.
    fn add_functions(&mut self) {
        let net = self.facts.net;
        let mut has_places: IndexVec<Function, bool> = IndexVec::filled(false, net.functions.len());
        for (place, data) in net.places.iter_enumerated() {
            if let (true, Some(function)) = (self.closure.kept.places[place], data.function) {
                has_places[function] = true;
            }
        }
        for (function, data) in net.functions.iter_enumerated() {
            let begins = |place: Place| match &net.places[place].form {
                PlaceForm::Tokens { initial } => !initial.is_empty(),
                PlaceForm::Cells(_) => false,
            };
            if self.ways.next[data.entry].is_some() || has_places[function] || begins(data.entry) {
                // Entry and exit are set when the places are there.
                let data = FunctionData {
                    name: data.name.clone(),
                    entry: data.entry,
                    exit: data.exit,
                    pos: data.pos,
                };
                self.functions[function] = Some(self.out.net.functions.push(data));
            }
        }
    }

    fn add_places(&mut self) {
        let net = self.facts.net;
        for (place, data) in net.places.iter_enumerated() {
            let is_kept = if net.is_frame_place(place) {
                self.ways.next[place] == Some(Next::At(place)) || self.closure.kept.places[place]
            } else {
                let is_special = Some(place) == net.done || Some(place) == net.ended;
                is_special || (data.kind != PlaceKind::Control && self.closure.kept.places[place])
            };
            let is_atomic = Some(place) == net.atomic && self.writes_atomic();
            if is_kept || is_atomic {
                self.add_place(place);
            }
        }
        let special = |place: Option<Place>| place.and_then(|place| self.out.new_place[place]);
        let (done, ended, atomic) = (special(net.done), special(net.ended), special(net.atomic));
        (self.out.net.done, self.out.net.ended, self.out.net.atomic) = (done, ended, atomic);
        for (function, data) in net.functions.iter_enumerated() {
            let Some(new) = self.functions[function] else { continue };
            let entry = self.frame_place(function, data.entry);
            let exit = match self.out.new_place[data.exit] {
                Some(exit) => exit,
                None => self.parking_of(function),
            };
            self.out.net.functions[new].entry = entry;
            self.out.net.functions[new].exit = exit;
            if let PlaceForm::Tokens { initial } = &net.places[data.entry].form
                && self.out.new_place[data.entry].is_none()
                && let PlaceForm::Tokens { initial: tokens } = &mut self.out.net.places[entry].form
            {
                tokens.extend(initial.iter().cloned());
            }
        }
    }

    fn writes_atomic(&self) -> bool {
        let net = self.facts.net;
        let is_atomic =
            |data: &TransitionData| matches!(data.action, Action::AtomicBegin | Action::AtomicEnd);
        let kept = |data: &TransitionData| data.source().is_some_and(|source| self.closure.kept.has(source));
        let writes = |data: &TransitionData| {
            data.arcs
                .iter()
                .any(|arc| matches!(arc, ArcData::Write { place, .. } if Some(*place) == net.atomic))
        };
        net.transitions.iter().any(|data| (is_atomic(data) || writes(data)) && kept(data))
    }

    fn add_place(&mut self, place: Place) {
        let net = self.facts.net;
        let data = &net.places[place];
        let components = net.components(place).to_vec();
        let color = self.out.net.color(components);
        let form = match &data.form {
            PlaceForm::Tokens { initial } => PlaceForm::Tokens { initial: initial.clone() },
            PlaceForm::Cells(cells) => PlaceForm::Cells(self.cells(cells)),
        };
        let function = data.function.and_then(|function| self.functions[function]);
        let new = self.out.net.places.push(PlaceData { color, form, function, ..data.clone() });
        self.out.places.push(place);
        self.out.new_place[place] = Some(new);
    }

    fn cells(&self, cells: &CellData) -> CellData {
        let scope = match cells.scope {
            Scope::Frame(function) => Scope::Frame(self.functions[function].unwrap_or(function)),
            Scope::Global | Scope::Thread => cells.scope,
        };
        CellData { scope, ..cells.clone() }
    }

    /// Where a frame of the function goes on that would come to a place.
    fn frame_place(&mut self, function: Function, place: Place) -> Place {
        match self.ways.next[place] {
            Some(Next::At(ahead)) => self.out.new_place[ahead].unwrap_or_else(|| self.parking_of(function)),
            Some(Next::Parked) | None => self.parking_of(function),
        }
    }

    fn parking_of(&mut self, function: Function) -> Place {
        if let Some(place) = self.parking[function] {
            return place;
        }
        let net = self.facts.net;
        let exit = net.functions[function].exit;
        let color = self.out.net.color(net.components(exit).to_vec());
        let name = format!("{}: nothing more that matters", net.functions[function].name);
        let form = PlaceForm::Tokens { initial: Vec::new() };
        let data =
            PlaceData { name, color, form, function: self.functions[function], ..net.places[exit].clone() };
        let place = self.out.net.places.push(data);
        self.out.places.push(exit);
        self.parking[function] = Some(place);
        place
    }

    fn add_transitions(&mut self) {
        let net = self.facts.net;
        for (transition, data) in net.transitions.iter_enumerated() {
            let is_kept =
                |source: Place| self.closure.kept.has(source) && self.out.new_place[source].is_some();
            if data.source().is_some_and(is_kept) {
                let (data, vars) = self.transition(transition, data);
                let new = self.out.net.transitions.push(data);
                self.out.transitions.push(transition);
                self.out.vars.push(vars);
                self.out.new_transition[transition] = Some(new);
            }
        }
    }

    /// The transition with what is kept of its arcs and variables.
    fn transition(&mut self, transition: Transition, data: &TransitionData) -> (TransitionData, Vec<Var>) {
        let needed = self.closure.needed_vars(transition);
        let mut vars = IndexVec::new();
        let mut old_vars = Vec::new();
        let mut new_var: Vec<Option<Var>> = vec![None; data.vars.len()];
        for (var, var_data) in data.vars.iter_enumerated() {
            if needed[var.index()] {
                new_var[var.index()] = Some(vars.push(var_data.clone()));
                old_vars.push(var);
            }
        }
        let rename =
            |expr: &Expr| expr.replace_vars(&|var| new_var[var.index()].map_or(Expr::Const(0), Expr::Var));
        let all = |exprs: &[Expr]| exprs.iter().map(rename).collect::<Vec<Expr>>();
        let pattern = |part: &Pattern| match part {
            Pattern::Is(expr) => Pattern::Is(rename(expr)),
            Pattern::Bind(var) => Pattern::Bind(new_var[var.index()].unwrap_or(*var)),
        };
        let mut arcs = Vec::new();
        for arc in &data.arcs {
            match arc {
                ArcData::Take { place, token } => {
                    let Some(place) = self.out.new_place[*place] else { continue };
                    arcs.push(ArcData::Take { place, token: token.iter().map(pattern).collect() });
                }
                ArcData::Test { place, token } => {
                    let Some(place) = self.out.new_place[*place] else { continue };
                    arcs.push(ArcData::Test { place, token: token.iter().map(pattern).collect() });
                }
                ArcData::Inhibit { place, prefix } => {
                    let Some(place) = self.out.new_place[*place] else { continue };
                    arcs.push(ArcData::Inhibit { place, prefix: all(prefix) });
                }
                ArcData::Put { place, token } => {
                    if let Some(place) = self.put_place(data, *place, arc) {
                        arcs.push(ArcData::Put { place, token: all(token) });
                    }
                }
                ArcData::Drain { place, prefix, to } => {
                    if let (Some(place), Some(to)) = (self.out.new_place[*place], self.out.new_place[*to]) {
                        arcs.push(ArcData::Drain { place, prefix: all(prefix), to });
                    }
                }
                ArcData::Read { place, key, var, when } => {
                    if let (Some(var), Some(place)) = (new_var[var.index()], self.out.new_place[*place]) {
                        arcs.push(ArcData::Read {
                            place,
                            key: all(key),
                            var,
                            when: when.as_ref().map(rename),
                        });
                    }
                }
                ArcData::Write { place, key, value, when } => {
                    let is_atomic = Some(*place) == self.facts.net.atomic;
                    if let (true, Some(place)) =
                        (is_atomic || self.closure.keeps_write(transition, arc), self.out.new_place[*place])
                    {
                        let (value, when) = (rename(value), when.as_ref().map(rename));
                        arcs.push(ArcData::Write { place, key: all(key), value, when });
                    }
                }
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        let bytes = data.bytes.iter().filter(|bytes| self.closure.accessed[bytes.place]);
        let bytes = bytes.filter_map(|bytes| {
            let place = self.out.new_place[bytes.place]?;
            Some(pdnet_net::BytesData { place, first: rename(&bytes.first), count: bytes.count })
        });
        let new = TransitionData {
            function: self.functions[data.function].unwrap_or(data.function),
            bytes: bytes.collect(),
            vars,
            arcs,
            guard: data.guard.as_ref().map(rename),
            ..data.clone()
        };
        (new, old_vars)
    }

    /// Where a token is put now. A thread that would do nothing that matters is not started.
    fn put_place(&mut self, data: &TransitionData, place: Place, arc: &ArcData) -> Option<Place> {
        let net = self.facts.net;
        if !net.is_frame_place(place) {
            return self.out.new_place[place];
        }
        let function = net.places[place].function?;
        if data.action == Action::Create
            && self.facts.started_by(arc).is_some()
            && !matches!(self.ways.next[place], Some(Next::At(_)))
        {
            return None;
        }
        Some(self.frame_place(function, place))
    }
}
