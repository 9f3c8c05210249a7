//! Classical slicing of programs, as the slicing paper's rival *PS* does it: first the whole dependence graph of the
//! program, then what the criterion can be reached from in it.
//!
//! | dependence | found by |
//! | --- | --- |
//! | data | reaching definitions, of all cells that only one frame can reach |
//! | interference, and data through calls | every write of a cell that others can reach, for every read of it |
//! | control | post-dominance ([`crate::post_dominance`]), in every function |
//! | call | every call and creation of a thread, for the whole function; a call and its return |
//! | waiting | the ends of the threads that a join may wait for; whatever gives or takes tokens that a step asks for |
//!
//! The program is cut by lines, as a programmer would: a line of a function is kept or cut as a whole, with all that
//! it reads and writes. What is missing then for the verdict to be that of the whole program (loops that may never
//! end, steps that may block) is added by [`crate::slice()`], for this method as for all others.

use pdnet_base::{FxHashMap, IndexVec};
use pdnet_net::{Action, ArcData, Dependence, Place, Transition, TransitionData};
use pdnet_source::File;

use crate::facts::{Facts, frame_of, is_own};
use crate::joins::Joins;
use crate::method::{Follower, Phases, Slicer};
use crate::on_demand::{element, tokens_asked};
use crate::post_dominance::Graph;
use crate::reaching::Reaching;
use crate::{Kept, Reason, Statement};

/// In which way a statement depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Data(Place),
    Control,
    Call,
    Return,
    End,
}

/// All writes of cells or tokens that more than one frame can reach. Every read depends on every write; with a node
/// between them there are fewer edges.
struct Shared {
    place: Place,
    writers: Vec<Statement>,
}

/// The program dependence graph, and what is reached in it.
pub(crate) struct Program<'f, 'n> {
    facts: &'f Facts<'n>,
    /// What each statement depends on.
    edges: IndexVec<Place, Vec<(Statement, Kind)>>,
    shared: Vec<Shared>,
    /// Which of the shared places, or elements of them, a statement reads.
    reads: IndexVec<Place, Vec<usize>>,
    /// Which shared ones there are already.
    numbers: FxHashMap<(Place, Option<i64>), usize>,
    /// The statements of the same line of the same function, for each that has a line.
    lines: FxHashMap<Line, Vec<Statement>>,
    is_reached: IndexVec<Place, bool>,
    is_shared_reached: Vec<bool>,
}

/// A line of a function.
type Line = (pdnet_net::Function, File, u32);

impl<'f, 'n> Program<'f, 'n> {
    /// Builds the whole graph.
    pub(crate) fn new(facts: &'f Facts<'n>, phases: &mut Phases) -> Self {
        let n_places = facts.net.places.len();
        let mut program = Self {
            facts,
            edges: IndexVec::filled(Vec::new(), n_places),
            shared: Vec::new(),
            reads: IndexVec::filled(Vec::new(), n_places),
            numbers: FxHashMap::default(),
            lines: FxHashMap::default(),
            is_reached: IndexVec::filled(false, n_places),
            is_shared_reached: Vec::new(),
        };
        program.add_data();
        phases.end("data dependence");
        program.add_control();
        program.add_calls();
        phases.end("control dependence");
        program.find_lines();
        for list in program.edges.iter_mut() {
            list.sort_unstable();
            list.dedup();
        }
        for list in program.reads.iter_mut() {
            list.sort_unstable();
            list.dedup();
        }
        program.is_shared_reached = vec![false; program.shared.len()];
        program
    }

    fn add_data(&mut self) {
        let facts = self.facts;
        let reaching = Reaching::new(facts);
        let mut joins = Joins::new(facts);
        for (transition, data) in facts.net.transitions.iter_enumerated() {
            let Some(statement) = data.source() else { continue };
            for arc in &data.arcs {
                match arc {
                    ArcData::Read { place, key, .. } if facts.local[*place] => {
                        let at = self.frame_at(statement, data, *place, key);
                        let found = at.map_or_else(Vec::new, |at| reaching.of(facts, *place, at));
                        self.edges[statement].extend(found.into_iter().map(|def| (def, Kind::Data(*place))));
                    }
                    ArcData::Read { place, key, .. } => {
                        let number = self.shared(*place, element(facts.net, *place, key));
                        self.reads[statement].push(number);
                    }
                    ArcData::Drain { place, to, .. } => {
                        for place in [*place, *to] {
                            let number = self.shared(place, None);
                            self.reads[statement].push(number);
                        }
                    }
                    _ => {}
                }
            }
            self.add_waiting(statement, transition, &mut joins);
        }
    }

    /// Where the frame is whose own cell is read: the one that moves, or one that returns.
    fn frame_at(
        &self,
        statement: Statement,
        data: &TransitionData,
        place: Place,
        key: &[pdnet_net::Expr],
    ) -> Option<Place> {
        let net = self.facts.net;
        if is_own(net, data, place, key) {
            return Some(statement);
        }
        frame_of(net, place).map(|function| net.functions[function].exit)
    }

    /// The number of a shared place, or of an element of one.
    fn shared(&mut self, place: Place, at: Option<i64>) -> usize {
        if let Some(&number) = self.numbers.get(&(place, at)) {
            return number;
        }
        let net = self.facts.net;
        let mut writers = Vec::new();
        for &writer in &self.facts.writers[place] {
            let data = &net.transitions[writer];
            let touches = data.arcs.iter().any(|arc| match arc {
                ArcData::Write { place: written, key, .. } if *written == place => {
                    let other = element(net, place, key);
                    at.is_none() || other.is_none() || at == other
                }
                ArcData::Take { place: other, .. } | ArcData::Put { place: other, .. } => *other == place,
                ArcData::Drain { place: from, to, .. } => *from == place || *to == place,
                _ => false,
            });
            writers.extend(data.source().filter(|_| touches));
        }
        // The end of a frame writes its cells too.
        writers.extend(frame_of(net, place).into_iter().flat_map(|function| self.facts.frame_ends(function)));
        writers.sort_unstable();
        writers.dedup();
        let number = self.shared.len();
        self.shared.push(Shared { place, writers });
        self.numbers.insert((place, at), number);
        number
    }

    /// Tokens that a step asks for.
    fn add_waiting(&mut self, statement: Statement, transition: Transition, joins: &mut Joins) {
        let net = self.facts.net;
        let data = &net.transitions[transition];
        for place in tokens_asked(data) {
            if Some(place) == net.done {
                let ends = joins.ends(self.facts, transition);
                let ends = ends.into_iter().filter_map(|end| net.transitions[end].source());
                self.edges[statement].extend(ends.map(|end| (end, Kind::End)));
            } else if data.action != Action::Return || !net.is_frame_place(place) {
                // What a return asks for is seen to by the call.
                let number = self.shared(place, None);
                self.reads[statement].push(number);
            }
        }
    }

    /// Control dependence within functions. What depends on no branch depends on the entry.
    fn add_control(&mut self) {
        let facts = self.facts;
        for data in facts.net.functions.iter() {
            let mut places = vec![data.entry];
            places.extend(facts.flow.reachable_from(data.entry).into_iter().filter(|&at| at != data.entry));
            let number: FxHashMap<Place, usize> =
                places.iter().enumerate().map(|(number, &place)| (place, number)).collect();
            let end = places.len();
            let successors = |&place: &Place| {
                let steps = &facts.flow.steps[place];
                if steps.is_empty() {
                    return vec![end];
                }
                steps.iter().map(|step| step.target.map_or(end, |target| number[&target])).collect()
            };
            let graph = Graph { successors: places.iter().map(successors).collect() };
            for (node, governors) in graph.control_dependence().into_iter().enumerate() {
                let edges = &mut self.edges[places[node]];
                edges.extend(governors.iter().map(|&governor| (places[governor], Kind::Control)));
                if governors.is_empty() && node != 0 {
                    edges.push((data.entry, Kind::Control));
                }
            }
        }
    }

    /// Entries depend on all calls, and calls and returns on each other.
    fn add_calls(&mut self) {
        let facts = self.facts;
        for (function, data) in facts.net.functions.iter_enumerated() {
            let starters = facts.starters[function].iter().map(|&starter| (starter, Kind::Call));
            self.edges[data.entry].extend(starters);
        }
        for statement in facts.statements() {
            if let Some(partner) = facts.partner[statement] {
                self.edges[statement].push((partner, Kind::Return));
            }
        }
    }

    fn find_lines(&mut self) {
        for statement in self.facts.statements() {
            if let Some(line) = self.line_of(statement) {
                self.lines.entry(line).or_default().push(statement);
            }
        }
    }

    fn line_of(&self, statement: Statement) -> Option<Line> {
        let net = self.facts.net;
        let steps = &self.facts.flow.steps[statement];
        let (pos, function) = steps.iter().find_map(|step| {
            let data = &net.transitions[step.transition];
            Some((data.pos?, data.function))
        })?;
        Some((function, pos.file, pos.line))
    }

    /// Notes that a statement is kept.
    fn reach(&mut self, statement: Statement, found: &mut Vec<(Statement, Reason)>, reason: Reason) {
        if self.mark(statement) {
            found.push((statement, reason));
        }
    }
}

impl Follower for Program<'_, '_> {
    fn mark(&mut self, statement: Statement) -> bool {
        !std::mem::replace(&mut self.is_reached[statement], true)
    }

    /// Follows all edges from a statement.
    fn follow(&mut self, statement: Statement, found: &mut Vec<(Statement, Reason)>) {
        for at in 0..self.edges[statement].len() {
            let (other, kind) = self.edges[statement][at];
            let reason = match kind {
                Kind::Data(place) => Reason::Writes(place, statement),
                Kind::Control => Reason::Governs(statement, Dependence::Control),
                Kind::Call => Reason::Calls(statement),
                Kind::Return => Reason::Returns(statement),
                Kind::End => Reason::Ends(statement),
            };
            self.reach(other, found, reason);
        }
        for at in 0..self.reads[statement].len() {
            let number = self.reads[statement][at];
            if !std::mem::replace(&mut self.is_shared_reached[number], true) {
                for writer in 0..self.shared[number].writers.len() {
                    let Shared { place, writers } = &self.shared[number];
                    let (other, reason) = (writers[writer], Reason::Writes(*place, statement));
                    self.reach(other, found, reason);
                }
            }
        }
        let line = self.line_of(statement).and_then(|line| self.lines.remove(&line));
        for other in line.into_iter().flatten() {
            self.reach(other, found, Reason::SameLine(statement));
        }
    }
}

impl Slicer for Program<'_, '_> {
    fn keeps_whole_statements(&self) -> bool {
        true
    }

    fn grow(&mut self, kept: &Kept) -> Vec<(Statement, Reason)> {
        let facts = self.facts;
        self.close(facts, kept)
    }
}
