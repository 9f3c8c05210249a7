//! What properties look at: where slicing starts (Definition 12 of the slicing paper, for all our atoms and checks).
//!
//! | property | what is kept to begin with | mode |
//! | --- | --- | --- |
//! | no transition of a set fires (`assert`, `memory`, …) | the statements of these transitions | prefix |
//! | no data race | every access to memory that two threads may touch at once | prefix |
//! | no partial deadlock | every statement; only values that decide nothing are cut | run |
//! | no deadlock, the atom `deadlock` | every statement that may block, every end of a thread or the process | run |
//! | a formula | every step that changes what an atom speaks of | prefix where it is a safety formula by its shape and nothing in the net gives up a run, else run |
//!
//! Always: statements at which undefined behaviour or a bound of the model may be met, since they make `Holds`
//! into `Unknown`. For formulas: assumptions, since a run that breaks one is no run of the formula's.
//! In mode *run*: loops that are not known to end, and ends of the process, since they decide whether others ever
//! move again. Under weak fairness: atomic sections, since they decide whether a thread can move all the time.

use pdnet_check::{Fairness, Property, PropertyKind};
use pdnet_net::{Action, ArcData, Effect, Expr, Net, Place};

use crate::facts::{Facts, frame_of};
use crate::{Mode, Reason, Statement};

/// Where slicing starts.
pub(crate) struct Criterion {
    pub(crate) mode: Mode,
    pub(crate) statements: Vec<(Statement, Reason)>,
    /// Places whose values atoms look at.
    pub(crate) observed: Vec<Place>,
    /// Places of which every access is kept.
    pub(crate) accessed: Vec<Place>,
}

impl Criterion {
    pub(crate) fn new(facts: &Facts<'_>, properties: &[Property], fairness: Fairness) -> Self {
        let prefixes = |property: &Property| is_about_prefixes(facts.net, property);
        let mode = if properties.iter().all(prefixes) { Mode::Prefix } else { Mode::Run };
        let mut criterion = Self { mode, statements: Vec::new(), observed: Vec::new(), accessed: Vec::new() };
        for property in properties {
            criterion.add_property(facts, property);
        }
        let has_formula = properties.iter().any(Property::is_about_runs);
        for data in facts.net.transitions.iter() {
            let is_end = match data.action {
                Action::Fault(_) | Action::Bound(_) => true,
                Action::AssumeFail => has_formula || mode == Mode::Run,
                _ => mode == Mode::Run && data.action.effect() == Effect::EndProcess,
            };
            if let (true, Some(source)) = (is_end, data.source()) {
                criterion.statements.push((source, Reason::MayEnd(data.action)));
            }
        }
        if mode == Mode::Run {
            criterion.add_endless_loops(facts);
        }
        criterion.add_atomic_sections(facts, fairness);
        criterion
    }

    fn add_property(&mut self, facts: &Facts<'_>, property: &Property) {
        match &property.kind {
            PropertyKind::NeverFires(transitions) => {
                for &transition in transitions {
                    let source = facts.net.transitions[transition].source();
                    self.statements.extend(source.map(|at| (at, Reason::Observed(property.name.clone()))));
                }
            }
            PropertyKind::NoRace => {
                self.accessed.extend(facts.net.contested_memory());
                for data in facts.net.transitions.iter() {
                    let touches = |arc: &ArcData| match arc {
                        ArcData::Read { place, .. } | ArcData::Write { place, .. } => {
                            self.accessed.contains(place)
                        }
                        _ => false,
                    };
                    if let (true, Some(source)) = (data.arcs.iter().any(touches), data.source()) {
                        self.statements.push((source, Reason::Observed(property.name.clone())));
                    }
                }
            }
            PropertyKind::NoDeadlock => self.add_blocking(facts, &property.name),
            PropertyKind::NoPartialDeadlock => {
                // It asks whether anybody else can still take a step, whichever.
                let all = facts.statements().map(|at| (at, Reason::Observed(property.name.clone())));
                self.statements.extend(all);
            }
            PropertyKind::Ltl { atoms, .. } | PropertyKind::Never { atoms, .. } => {
                for atom in atoms {
                    self.add_atom(facts, &atom.expr, &atom.text);
                }
            }
        }
    }

    /// Everything that may block, and all ends.
    fn add_blocking(&mut self, facts: &Facts<'_>, what: &str) {
        for statement in facts.statements().filter(|&statement| facts.hangs.places[statement]) {
            self.statements.push((statement, Reason::Observed(what.to_owned())));
        }
        self.add_ends(facts, what, &[Effect::EndThread, Effect::EndProcess]);
    }

    fn add_ends(&mut self, facts: &Facts<'_>, what: &str, effects: &[Effect]) {
        for &effect in effects {
            let sources = facts.with_effect(effect).filter_map(|(_, data)| data.source());
            self.statements.extend(sources.map(|at| (at, Reason::Observed(what.to_owned()))));
        }
    }

    fn add_atom(&mut self, facts: &Facts<'_>, atom: &Expr, text: &str) {
        let net = facts.net;
        let mut ends = Vec::new();
        let mut places = Vec::new();
        let mut deadlock = false;
        atom.walk(&mut |part| match part {
            Expr::Cell(place, _) | Expr::Marked(place, _) => places.push(*place),
            Expr::Deadlock => deadlock = true,
            _ => {}
        });
        if deadlock {
            self.add_blocking(facts, text);
        }
        for place in places {
            let reason = || Reason::Observed(text.to_owned());
            let writers = facts.writers[place].iter().filter_map(|&writer| net.transitions[writer].source());
            self.statements.extend(writers.map(|at| (at, reason())));
            self.observed.push(place);
            if net.is_frame_place(place) {
                // A thread is seen there from the step that brings it until the step that takes it away.
                self.statements.push((place, reason()));
                ends.extend([Effect::EndThread, Effect::EndProcess]);
            } else if Some(place) == net.ended {
                ends.extend([Effect::EndThread, Effect::EndProcess]);
            } else if Some(place) == net.done {
                ends.push(Effect::EndThread);
            } else if let Some(function) = frame_of(net, place) {
                // The cells of a frame go back to their initial value with it.
                ends.push(Effect::EndProcess);
                self.statements.extend(facts.frame_ends(function).map(|at| (at, reason())));
            }
        }
        self.add_ends(facts, text, &ends);
    }

    /// The headers of loops that are not known to end: one statement on every cycle.
    fn add_endless_loops(&mut self, facts: &Facts<'_>) {
        let endless = facts.loops.list.iter().filter(|data| data.ends.is_none());
        self.statements.extend(endless.map(|data| (data.header, Reason::MayLoop)));
    }

    /// Atomic sections that keep others waiting for longer than a moment, and those that are not understood.
    fn add_atomic_sections(&mut self, facts: &Facts<'_>, fairness: Fairness) {
        let with = |action: Action| {
            let all = facts.net.transitions.iter_enumerated();
            all.filter(move |(_, data)| data.action == action)
                .filter_map(|(transition, data)| Some((transition, data.source()?)))
        };
        let sections: Vec<Section> =
            with(Action::AtomicBegin).map(|(begin, at)| Section::new(facts, begin, at)).collect();
        // A section that begins in one function and ends in another has statements that no region shows.
        let is_ended = |(_, at): (_, Statement)| sections.iter().any(|section| section.region.contains(&at));
        let is_closed = |section: &Section| {
            let exit = facts.function(section.begin).map(|function| facts.net.functions[function].exit);
            exit.is_none_or(|exit| !section.region.contains(&exit))
        };
        let all_are_closed = sections.iter().all(is_closed) && with(Action::AtomicEnd).all(is_ended);
        if !self.accessed.is_empty() && !sections.is_empty() {
            // A thread that begins while another one is in a section cannot come to an access meanwhile.
            for (create, _) in with(Action::Create) {
                let started =
                    facts.net.transitions[create].arcs.iter().filter_map(|arc| facts.started_by(arc));
                let entries = started.map(|function| facts.net.functions[function].entry);
                self.statements.extend(entries.map(|entry| (entry, Reason::Frame)));
            }
        }
        for section in &sections {
            let stays = self.mode == Mode::Run && section.may_stay;
            if fairness == Fairness::Weak || stays || !all_are_closed {
                self.statements.push((section.begin, Reason::MayLoop));
            }
        }
        if !all_are_closed {
            self.statements.extend(with(Action::AtomicEnd).map(|(_, at)| (at, Reason::MayLoop)));
        }
    }
}

/// An atomic section.
struct Section {
    begin: Statement,
    region: Vec<Statement>,
    /// Whether a thread may stay in it.
    may_stay: bool,
}

impl Section {
    fn new(facts: &Facts<'_>, begin: pdnet_net::Transition, at: Statement) -> Self {
        let region = atomic_region(facts, begin);
        let is_endless = |place: Statement| {
            facts.loops.of_header[place].is_some_and(|at| facts.loops.list[at].ends.is_none())
        };
        let may_stay = region.iter().any(|&place| facts.hangs.places[place] || is_endless(place));
        Self { begin: at, region, may_stay }
    }
}

/// The statements of the same function inside of an atomic section, with the ends of it.
pub(crate) fn atomic_region(facts: &Facts<'_>, begin: pdnet_net::Transition) -> Vec<Statement> {
    let mut region: Vec<Statement> = Vec::new();
    let mut open: Vec<Statement> = facts.net.frame_target(begin).into_iter().collect();
    while let Some(place) = open.pop() {
        if region.contains(&place) {
            continue;
        }
        region.push(place);
        for step in &facts.flow.steps[place] {
            if facts.net.transitions[step.transition].action != Action::AtomicEnd {
                open.extend(step.target);
            }
        }
    }
    region
}

/// Whether a violation is a finite prefix of a run, whatever comes after it.
fn is_about_prefixes(net: &Net, property: &Property) -> bool {
    match &property.kind {
        PropertyKind::NeverFires(_) | PropertyKind::NoRace => true,
        // (An automaton may be about prefixes, too. That it is not said here only keeps more.)
        PropertyKind::NoDeadlock | PropertyKind::NoPartialDeadlock | PropertyKind::Never { .. } => false,
        PropertyKind::Ltl { formula, atoms } => {
            let mut deadlock = false;
            for atom in atoms {
                atom.expr.walk(&mut |part| deadlock |= matches!(part, Expr::Deadlock));
            }
            // A prefix counts only where some run goes on from it, and that may hang on an assumption elsewhere.
            let is_open = |action: Action| matches!(action, Action::AssumeFail | Action::Bound(_));
            let all_go_on =
                !net.transitions.iter().any(|data| data.source().is_some() && is_open(data.action));
            formula.is_syntactic_safety() && !deadlock && all_go_on
        }
    }
}
