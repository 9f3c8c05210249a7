//! Values that nobody will look at: states that differ only in them become one.

use std::ops::Range;

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Expr, Function, Net, Pattern, Place, Scope, Transition, TransitionData};

use crate::layout::{Home, Slot, word_place};
use crate::{Compiled, State};

/// The bits of one word.
const BITS: usize = 64;

/// The reduction *forget*: cells that no longer decide anything go back to their initial value before a state
/// is stored.
///
/// A cell is forgotten
///
/// - everywhere, where its place is *irrelevant*: its values are used only to compute values of irrelevant
///   places. What is relevant is found backwards from guards, tokens, keys of cells, conditions of arcs, the
///   atoms of properties, and the cells of atomic sections and indivisible sequences. So a counter that nobody asks for is no counter;
/// - in a frame that stands where the cell is *dead*: on every way from there, the frame writes it before it
///   reads it, or ends. That is the usual backward analysis of each function. It is done for places of which
///   every arc that reads them names the cell by the token of a frame that the same transition takes: then no
///   other frame and no pointer can read the cell.
///
/// # Why nothing is lost
///
/// Let s ~ s' where both have the same tokens and differ only in cells that are forgotten. Then each step of s
/// is one of s', and leads to states that are again ~, so that ~ is a bisimulation that keeps tokens, the values
/// of atoms, and which transitions are enabled, with which threads, keys and choices:
///
/// A variable that matters (it is used in a guard, a token, a key, a condition, or for a relevant place) has the
/// same value in both: it is bound by a token, chosen, or read from a relevant place by a key that matters. If
/// the cell read is one of a frame for which the analysis was done, then the transition takes that frame from
/// some place, and the cell is live there. So the same arcs count, for the same cells, and values written to
/// relevant places are equal. A cell of a relevant place that is live after the step was written by it in both, or
/// in none and was live before (an arc with a condition and an element of an array count as "in none" for the
/// analysis). Frames that are new have initial values, frames that are gone have no cells.
///
/// Data races are between arcs that count, by their keys, and so are the same. A run of stored states is
/// turned into a run of the net step by step: the search repeats it from the initial state and follows those
/// states that are stored as the same ([`crate::StateStore`] numbers them). That a cycle of stored states is
/// one of the net is not said, so that only searches for finite runs may forget.
#[derive(Clone, Debug)]
pub struct Forget {
    globals: Vec<Range<usize>>,
    threads: Vec<Range<usize>>,
    /// By the place of a frame, counted from its first word.
    frames: IndexVec<Place, Vec<Range<usize>>>,
}

impl Forget {
    /// Looks at the arcs of a net. The atoms are those that the search evaluates.
    #[must_use]
    pub fn new<'e>(net: &Net, compiled: &Compiled, atoms: impl IntoIterator<Item = &'e Expr>) -> Self {
        let relevance = Relevance::new(net, atoms);
        let liveness = Liveness::new(net, &relevance);
        let mut forget = Self {
            globals: Vec::new(),
            threads: Vec::new(),
            frames: IndexVec::filled(Vec::new(), net.places.len()),
        };
        let mut of_function: IndexVec<Function, Vec<Place>> =
            IndexVec::filled(Vec::new(), net.functions.len());
        for (place, data) in net.places.iter_enumerated() {
            let Slot::Cells(cells) = compiled.layout.slots[place] else { continue };
            let words = cells.offset..cells.offset + cells.length.unwrap_or(1) as usize;
            debug_assert!(data.cells().is_some());
            match cells.home {
                Home::Global if !relevance.places[place] => add_range(&mut forget.globals, words),
                Home::Thread if !relevance.places[place] => add_range(&mut forget.threads, words),
                Home::Global | Home::Thread => {}
                Home::Frame(function) => of_function[function].push(place),
            }
        }
        for (at, data) in net.places.iter_enumerated() {
            let Some(function) = data.function.filter(|_| net.is_frame_place(at)) else { continue };
            for &place in &of_function[function] {
                let Slot::Cells(cells) = compiled.layout.slots[place] else { continue };
                if !relevance.places[place] || liveness.is_dead(at, place) {
                    let words = cells.offset..cells.offset + cells.length.unwrap_or(1) as usize;
                    add_range(&mut forget.frames[at], words);
                }
            }
        }
        forget
    }

    /// Forgets what can be forgotten in a state that comes, by some steps, from one in which that was done. Says whether a value
    /// was lost by that.
    pub fn apply(&self, compiled: &Compiled, state: &mut State) -> bool {
        let layout = &compiled.layout;
        let mut is_lost = false;
        let mut reset = |words: &mut [i64], initial: &[i64]| {
            if words != initial {
                words.copy_from_slice(initial);
                is_lost = true;
            }
        };
        if state.changed_chunks != 0 {
            for words in &self.globals {
                reset(&mut state.globals[words.clone()], &layout.globals[words.clone()]);
            }
        }
        let n_threads = state.threads.len();
        for thread in state.changed_threads.iter().take_while(|&thread| thread < n_threads) {
            let words = &mut state.threads[thread];
            for range in &self.threads {
                reset(&mut words[range.clone()], &layout.thread_template[range.clone()]);
            }
            let mut base = layout.thread_template.len();
            for _ in 0..words[0] {
                let place = word_place(words[base]);
                if let Some(function) = layout.owner[place] {
                    for range in &self.frames[place] {
                        // The first word of a frame is its place.
                        let initial = &layout.frame_template[function][range.start - 1..range.end - 1];
                        reset(&mut words[base + range.start..base + range.end], initial);
                    }
                }
                base += layout.frame_words[place] as usize;
            }
        }
        is_lost
    }
}

/// Adds a range to increasing ones, of which no two touch.
fn add_range(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

/// Which values decide something.
struct Relevance {
    places: IndexVec<Place, bool>,
    /// The variables of each transition.
    vars: IndexVec<Transition, Vec<bool>>,
    /// Places that some expression, of an atom or a transition, names by itself.
    named: IndexVec<Place, bool>,
}

impl Relevance {
    fn new<'e>(net: &Net, atoms: impl IntoIterator<Item = &'e Expr>) -> Self {
        let vars = net.transitions.iter().map(|data| vec![false; data.vars.len()]).collect();
        let places = IndexVec::filled(false, net.places.len());
        let mut relevance = Self { places, vars, named: IndexVec::filled(false, net.places.len()) };
        for atom in atoms {
            relevance.name_places(atom);
        }
        for place in [net.atomic, net.indivisible].into_iter().flatten() {
            relevance.places[place] = true;
        }
        if net.indivisible.is_some() {
            relevance.add_order(net);
        }
        for (transition, data) in net.transitions.iter_enumerated() {
            for expr in deciding(data) {
                relevance.add(transition, expr);
            }
            for arc in &data.arcs {
                if let ArcData::Write { value, .. } = arc {
                    relevance.name_places(value);
                }
            }
        }
        while relevance.grow(net) {}
        relevance
    }

    /// Adds what decides which of several bindings of a transition is the first one, in an indivisible sequence.
    fn add_order(&mut self, net: &Net) {
        for (transition, data) in net.transitions.iter_enumerated() {
            let is_bound = |token: &[Pattern]| token.iter().any(|part| matches!(part, Pattern::Bind(_)));
            let is_open = data.vars.iter().any(|var| var.choice.is_some())
                || data.arcs.iter().skip(1).any(|arc| match arc {
                    ArcData::Take { token, .. } | ArcData::Test { token, .. } => is_bound(token),
                    _ => false,
                });
            if is_open {
                self.vars[transition].fill(true);
            }
        }
    }

    /// One round backwards; true where something was found.
    fn grow(&mut self, net: &Net) -> bool {
        let mut is_changed = false;
        for (transition, data) in net.transitions.iter_enumerated().rev() {
            for arc in &data.arcs {
                match arc {
                    ArcData::Write { place, value, .. } if self.places[*place] => {
                        is_changed |= self.add(transition, value);
                    }
                    ArcData::Read { place, var, .. } if self.is_relevant(transition, *var) => {
                        is_changed |= !std::mem::replace(&mut self.places[*place], true);
                    }
                    _ => {}
                }
            }
        }
        is_changed
    }

    fn is_relevant(&self, transition: Transition, var: pdnet_net::Var) -> bool {
        self.vars[transition][pdnet_base::Idx::index(var)]
    }

    /// What the expression of a transition uses is relevant; true where that is new.
    fn add(&mut self, transition: Transition, expr: &Expr) -> bool {
        let mut is_changed = false;
        expr.walk(&mut |part| {
            if let Expr::Var(var) = part {
                let known = &mut self.vars[transition][pdnet_base::Idx::index(*var)];
                is_changed |= !std::mem::replace(known, true);
            }
        });
        self.name_places(expr);
        is_changed
    }

    fn name_places(&mut self, expr: &Expr) {
        expr.walk(&mut |part| {
            if let Expr::Cell(place, _) | Expr::Marked(place, _) = part {
                self.places[*place] = true;
                self.named[*place] = true;
            }
        });
    }
}

/// The expressions of a transition that decide whether it is enabled, which tokens it moves, and which cells it
/// touches.
fn deciding(data: &TransitionData) -> impl Iterator<Item = &Expr> {
    let of_arcs = data.arcs.iter().flat_map(|arc| {
        let mut found: Vec<&Expr> = Vec::new();
        match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
                found.extend(token.iter().filter_map(|part| match part {
                    Pattern::Is(expr) => Some(expr),
                    Pattern::Bind(_) => None,
                }));
            }
            ArcData::Put { token, .. } => found.extend(token),
            ArcData::Inhibit { prefix, .. } | ArcData::Drain { prefix, .. } => found.extend(prefix),
            ArcData::Read { key, when, .. } | ArcData::Write { key, when, .. } => {
                found.extend(key);
                found.extend(when);
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
        found
    });
    // Which bytes of a cell are accessed decides about races.
    of_arcs.chain(&data.guard).chain(data.bytes.iter().map(|bytes| &bytes.first))
}

/// A frame that a transition takes.
struct Taken {
    /// Thread and depth.
    key: Vec<Expr>,
    from: Place,
    /// Where it is put back.
    to: Option<Place>,
}

/// The frames that a transition takes.
fn taken_frames(net: &Net, data: &TransitionData) -> Vec<Taken> {
    let mut taken = Vec::new();
    for arc in &data.arcs {
        let ArcData::Take { place, token } = arc else { continue };
        if !net.is_frame_place(*place) {
            continue;
        }
        let part = |part: &Pattern| match part {
            Pattern::Is(expr) => expr.clone(),
            Pattern::Bind(var) => Expr::Var(*var),
        };
        let key: Vec<Expr> = token.iter().map(part).collect();
        let to = data.arcs.iter().find_map(|arc| match arc {
            ArcData::Put { place, token } if net.is_frame_place(*place) && *token == key => Some(*place),
            _ => None,
        });
        taken.push(Taken { key, from: *place, to });
    }
    taken
}

/// Where cells of frames may be read before they are written.
struct Liveness {
    /// The number of a cell place among those of its function that the analysis was done for.
    position: IndexVec<Place, Option<usize>>,
    /// For each place of a frame, a bit for each of these.
    live: IndexVec<Place, Vec<u64>>,
}

impl Liveness {
    fn new(net: &Net, relevance: &Relevance) -> Self {
        let all_taken: IndexVec<Transition, Vec<Taken>> =
            net.transitions.iter().map(|data| taken_frames(net, data)).collect();
        let mut fits: IndexVec<Place, bool> = net
            .places
            .iter_enumerated()
            .map(|(place, data)| {
                let is_frame = matches!(data.cells().map(|cells| cells.scope), Some(Scope::Frame(_)));
                is_frame && relevance.places[place] && !relevance.named[place]
            })
            .collect();
        for (transition, data) in net.transitions.iter_enumerated() {
            for arc in &data.arcs {
                let ArcData::Read { place, key, var, .. } = arc else { continue };
                let is_its = |taken: &Taken| {
                    key.starts_with(&taken.key)
                        && net.places[taken.from].function == net.places[*place].function
                };
                let is_known = all_taken[transition].iter().any(is_its);
                if relevance.is_relevant(transition, *var) && !is_known {
                    fits[*place] = false;
                }
            }
            // A frame that goes over to another function would be more than this looks at.
            for Taken { from, to, .. } in &all_taken[transition] {
                let function = net.places[*from].function;
                if to.is_some_and(|to| net.places[to].function != function) {
                    let own = net.places.iter_enumerated().filter(|(_, data)| data.function == function);
                    own.for_each(|(place, _)| fits[place] = false);
                }
            }
        }
        let mut counts: IndexVec<Function, usize> = IndexVec::filled(0, net.functions.len());
        let mut position = IndexVec::filled(None, net.places.len());
        for (place, data) in net.places.iter_enumerated() {
            if let (Some(Scope::Frame(function)), true) = (data.cells().map(|cells| cells.scope), fits[place])
            {
                position[place] = Some(counts[function]);
                counts[function] += 1;
            }
        }
        let n_words = |place: Place| match net.places[place].function {
            Some(function) if net.is_frame_place(place) => counts[function].div_ceil(BITS),
            _ => 0,
        };
        let live = net.places.indices().map(|place| vec![0; n_words(place)]).collect();
        let mut liveness = Self { position, live };
        while liveness.grow(net, relevance, &all_taken) {}
        liveness
    }

    /// One round backwards; true where something was found.
    fn grow(
        &mut self,
        net: &Net,
        relevance: &Relevance,
        all_taken: &IndexVec<Transition, Vec<Taken>>,
    ) -> bool {
        let mut is_changed = false;
        let mut before: Vec<u64> = Vec::new();
        for (transition, data) in net.transitions.iter_enumerated().rev() {
            for Taken { key: frame, from, to } in &all_taken[transition] {
                before.clear();
                match to {
                    Some(to) => before.extend_from_slice(&self.live[*to]),
                    None => before.resize(self.live[*from].len(), 0),
                }
                let function = net.places[*from].function;
                let own = |place: &Place| net.places[*place].function == function;
                for arc in &data.arcs {
                    if let ArcData::Write { place, key, when: None, .. } = arc
                        && key == frame
                        && own(place)
                    {
                        self.set(&mut before, *place, false);
                    }
                }
                for arc in &data.arcs {
                    if let ArcData::Read { place, key, var, .. } = arc
                        && key.starts_with(frame)
                        && own(place)
                        && relevance.is_relevant(transition, *var)
                    {
                        self.set(&mut before, *place, true);
                    }
                }
                for (known, new) in self.live[*from].iter_mut().zip(&before) {
                    is_changed |= new & !*known != 0;
                    *known |= new;
                }
            }
        }
        is_changed
    }

    fn set(&self, bits: &mut [u64], place: Place, value: bool) {
        let Some(position) = self.position[place] else { return };
        let bit = 1 << (position % BITS);
        let word = &mut bits[position / BITS];
        *word = if value { *word | bit } else { *word & !bit };
    }

    /// Whether the cells of a frame that is there are read by nobody before they are written.
    fn is_dead(&self, at: Place, cells: Place) -> bool {
        let is_live = |position: usize| self.live[at][position / BITS] >> (position % BITS) & 1 == 1;
        self.position[cells].is_some_and(|position| !is_live(position))
    }
}
