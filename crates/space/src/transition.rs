//! Transitions, compiled: first the steps that bind their variables, then what firing them changes.

use std::sync::{Arc, OnceLock};

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{ArcData, Domain, Effect, Expr, Function, Net, Pattern, Place, Transition, TransitionData};

use crate::chunks::Chunks;
use crate::code::{self, Code, Operand, Reg, reg};
use crate::common::{Group, groups, repeated};
use crate::layout::{Cells, Home, Layout, Slot, no_room, word_place};
use crate::native::{Native, Natives};
use crate::priority::Priorities;
use crate::schedule::{conjuncts, schedule};
use crate::touch::Touched;
use crate::{State, ThreadSet, Unsupported};

/// A net that is ready to run.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) layout: Layout,
    pub(crate) code: Code,
    pub(crate) transitions: IndexVec<Transition, Rule>,
    /// The transitions whose moving frame stands on the place, in order.
    pub(crate) from: IndexVec<Place, Vec<Transition>>,
    /// The same by priority, where there are priorities.
    pub(crate) priorities: Option<Priorities>,
    /// For each place on which threads are looked for a bit, the last one for all that are left.
    pub(crate) looked_for: IndexVec<Place, u64>,
    /// The chunks of the globals that decide what comes at once after a step.
    pub(crate) sequel_chunks: u64,
    /// In which chunk, and where there, it is said who is in an atomic section, and whether the process has ended.
    pub(crate) atomic_at: Option<(usize, usize)>,
    pub(crate) ended_at: Option<(usize, usize)>,
    /// Which places have native code.
    pub(crate) natives: Natives,
    initial: State,
}

/// A compiled transition.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// What is done in this order to bind it, the guard included.
    pub(crate) bindings: Vec<Binding>,
    pub(crate) consumes: Vec<Consume>,
    /// Where the moving frame's token goes; nothing where it is not put back under its own name.
    pub(crate) moves_to: Option<Place>,
    pub(crate) produces: Vec<Produce>,
    pub(crate) writes: Vec<Write>,
    /// The bytes of a place's cells that are accessed, where it is not all: the first one, and how many.
    pub(crate) parts: Vec<(Place, Operand, u8)>,
    pub(crate) effect: Effect,
    /// The thread of a frame that is taken beside the moving one, where it may be another.
    pub(crate) partner: Option<Operand>,
    pub(crate) n_vars: usize,
    /// What can decide whether, and how, it is bound, and what can matter when it fires.
    pub(crate) if_tried: Decisive,
    pub(crate) if_fired: Decisive,
    /// Where some of it is native code.
    pub(crate) native: OnceLock<Native>,
}

/// What decides about something, beside the words of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decisive {
    /// The chunks of the globals.
    pub(crate) chunks: u64,
    /// The places on which threads are looked for: which threads stand there, and their words.
    pub(crate) places: u64,
    /// Anything of other threads.
    pub(crate) others: bool,
}

impl Decisive {
    fn new(touched: &Touched, chunks: &Chunks, looked_for: &IndexVec<Place, u64>) -> Self {
        Self {
            chunks: touched.words.iter().fold(0, |bits, words| bits | chunks.bits(words.clone())),
            places: touched.places.iter().fold(0, |bits, &place| bits | looked_for[place]),
            others: touched.others,
        }
    }

    /// Adds what decides about something else.
    #[inline]
    pub(crate) const fn add(&mut self, other: Self) {
        self.chunks |= other.chunks;
        self.places |= other.places;
        self.others |= other.others;
    }
}

/// Gives places a bit each, the last one to all that are left.
fn place_bits<'a>(n_places: usize, places: impl Iterator<Item = &'a Place>) -> IndexVec<Place, u64> {
    let mut bits = IndexVec::filled(0, n_places);
    let mut n_bits = 0;
    for &place in places {
        if bits[place] == 0 {
            bits[place] = 1 << n_bits;
            n_bits = (n_bits + 1).min(63);
        }
    }
    bits
}

/// One part of a token that an arc asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Bind(Reg),
    Is(Operand),
}

/// The set of threads on a place: the row of its words, and the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member<P> {
    pub(crate) offset: usize,
    pub(crate) rows: u32,
    /// Absent where the colour is just `thread`.
    pub(crate) row: Option<P>,
    pub(crate) thread: P,
}

/// The tokens of a place whose first components are given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Prefix {
    Count {
        offset: usize,
    },
    /// Rows and threads; absent components stand for all of them.
    Sets {
        offset: usize,
        rows: u32,
        row: Option<Operand>,
        thread: Option<Operand>,
    },
    Frames {
        place: Place,
        thread: Option<Operand>,
        depth: Option<Operand>,
    },
}

/// A step that binds variables or asks whether something is there.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// A free variable takes each value of its domain.
    Choose { var: Reg, domain: Domain },
    /// A token of another frame is there.
    Frame { place: Place, thread: Part, depth: Part },
    /// A thread is in a set.
    Member(Member<Part>),
    /// A plain token is there.
    Count { offset: usize },
    /// No such token is there.
    Absent(Prefix),
    /// A cell is read.
    Read { var: Reg, cells: Cells, key: Key, when: Option<Operand> },
    /// Elements of a global array that follow each other are read into variables that follow each other.
    ReadRun { var: Reg, count: Reg, cells: Cells, index: Operand },
    /// The value of an expression is kept for others that have it as a part.
    Compute { var: Reg, value: Operand },
    /// A part of the guard holds.
    Holds { condition: Operand },
}

/// Which cell of a place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    /// Of the process, or of the moving thread or frame: no search for the frame is needed.
    Own { index: Option<Operand> },
    /// Of any thread or frame.
    Any { thread: Operand, depth: Option<Operand>, index: Option<Operand> },
}

/// What firing takes away, in the order of the arcs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Consume {
    Frame { thread: Operand, depth: Operand },
    Member(Member<Operand>),
    Count { offset: usize },
    Drain { from: Prefix, to: usize },
}

/// What firing puts somewhere, beside the moving frame's own token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Produce {
    Frame { place: Place, thread: Operand, depth: Operand },
    Member(Member<Operand>),
    Count { offset: usize },
}

/// A cell that gets a new value, or several that follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) cells: Cells,
    /// How many; their values are in registers that follow each other.
    pub(crate) count: Reg,
    pub(crate) key: Key,
    pub(crate) value: Operand,
    pub(crate) when: Option<Operand>,
}

impl Compiled {
    /// Compiles a net.
    ///
    /// # Errors
    /// Where the net has something that states have no room for; see [`Layout`].
    pub fn new(net: &Net) -> Result<Self, Unsupported> {
        let mut layout = Layout::new(net)?;
        let n_vars = net.transitions.iter().map(|data| n_registers(net, data)).max().unwrap_or(0);
        let n_temps = net.transitions.iter().flat_map(exprs).map(code::depth).max().unwrap_or(0);
        let code = Code::new(n_vars, n_temps);
        let mut compiler = Compiler { net, layout: &layout, code, owner: None };
        let mut transitions: IndexVec<Transition, Rule> = IndexVec::new();
        let mut from = IndexVec::filled(Vec::new(), net.places.len());
        for (transition, data) in net.transitions.iter_enumerated() {
            let (source, rule) = compiler.lower_transition(data).map_err(|Unsupported(text)| {
                Unsupported(format!("{text}, in transition {transition} ({})", data.label))
            })?;
            transitions.push(rule);
            from[source].push(transition);
        }
        let code = compiler.code;
        let tried = transitions.iter().map(|rule| Touched::by_binding(&layout, &code, rule));
        let fired = transitions.iter().map(|rule| Touched::by_firing(&layout, &code, rule));
        let touched: Vec<(Touched, Touched)> = tried.zip(fired).collect();
        let both = || touched.iter().flat_map(|(tried, fired)| [tried, fired]);
        let chunks =
            Chunks::new(layout.globals.len(), both().flat_map(|touched| touched.words.iter().cloned()));
        let looked_for = place_bits(net.places.len(), both().flat_map(|touched| touched.places.iter()));
        for (rule, (tried, fired)) in transitions.iter_mut().zip(&touched) {
            rule.if_tried = Decisive::new(tried, &chunks, &looked_for);
            rule.if_fired = Decisive::new(fired, &chunks, &looked_for);
            rule.if_fired.chunks |= match rule.effect {
                Effect::None | Effect::Prune => 0,
                // The process may end with its last thread.
                Effect::EndThread | Effect::EndProcess => {
                    let done = layout.done.map_or(0..0, |done| done..done + layout.set_words());
                    chunks.bits(done) | layout.ended.map_or(0, |ended| chunks.bit(ended))
                }
            };
        }
        let cells = [layout.atomic, layout.yielding, layout.indivisible, layout.ended];
        let sequel_chunks = cells.into_iter().flatten().fold(0, |bits, word| bits | chunks.bit(word));
        let atomic_at = layout.atomic.map(|word| chunks.place(word));
        let ended_at = layout.ended.map(|word| chunks.place(word));
        layout.chunks = Arc::new(chunks);
        let initial = layout.initial(net)?;
        let priorities = Priorities::new(net, &from);
        let natives = Natives::new(net.places.len());
        Ok(Self {
            layout,
            code,
            transitions,
            from,
            priorities,
            looked_for,
            sequel_chunks,
            atomic_at,
            ended_at,
            natives,
            initial,
        })
    }

    /// The initial state.
    #[must_use]
    pub fn initial(&self) -> State {
        self.initial.clone()
    }

    /// Whether there are late transitions.
    pub(crate) fn has_late(&self) -> bool {
        self.priorities.as_ref().is_some_and(|priorities| priorities.has_late)
    }

    /// Whether something may come at once after a step.
    pub(crate) const fn has_sequels(&self) -> bool {
        self.layout.indivisible.is_some() || self.layout.yielding.is_some()
    }

    /// Whether a thread is in an atomic section.
    #[must_use]
    #[inline]
    pub fn is_in_section(&self, state: &State) -> bool {
        self.layout.atomic.is_some_and(|offset| state.globals[offset] != 0)
    }

    /// Where each place lives in a state.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The greatest number of threads.
    #[must_use]
    pub const fn max_threads(&self) -> u32 {
        self.layout.max_threads
    }

    /// The threads with a frame on one of the places.
    #[must_use]
    pub fn threads_on(&self, state: &State, places: &IndexVec<Place, bool>) -> ThreadSet {
        let mut found = ThreadSet::NONE;
        for thread in state.live.iter() {
            let words = &state.threads[thread];
            let mut base = self.layout.thread_template.len();
            for _ in 0..words[0] {
                let place = word_place(words[base]);
                if places[place] {
                    found.insert(thread);
                }
                base += self.layout.frame_words[place] as usize;
            }
        }
        found
    }

    /// On which of the places where threads are looked for a thread with these words stands.
    pub(crate) fn stands_on(&self, words: &[i64]) -> u64 {
        let (mut bits, mut base) = (0, self.layout.thread_template.len());
        for _ in 0..words[0] {
            let place = word_place(words[base]);
            bits |= self.looked_for[place];
            base += self.layout.frame_words[place] as usize;
        }
        bits
    }

    /// Whether the process has ended in this state.
    #[must_use]
    #[inline]
    pub fn has_ended(&self, state: &State) -> bool {
        self.layout.ended.is_some_and(|offset| state.globals[offset] != 0)
    }
}

/// How many registers a transition has for its variables and for what occurs twice in its expressions.
fn n_registers(net: &Net, data: &TransitionData) -> usize {
    data.vars.len() + repeated(grouped_exprs(&groups(net, &data.arcs), data).into_iter()).len()
}

/// The expressions of a transition that are evaluated, where arcs are grouped.
fn grouped_exprs<'a>(groups: &[Group<'a>], data: &'a TransitionData) -> Vec<&'a Expr> {
    let of_group = |group: &Group<'a>| match *group {
        Group::One(arc) => arc_exprs(arc),
        Group::Reads { index, .. } | Group::Writes { index, .. } => vec![index],
    };
    groups.iter().flat_map(of_group).chain(data.guard.iter().flat_map(conjuncts)).collect()
}

/// All expressions of a transition.
fn exprs(data: &TransitionData) -> impl Iterator<Item = &Expr> {
    data.arcs.iter().flat_map(arc_exprs).chain(&data.guard)
}

fn arc_exprs(arc: &ArcData) -> Vec<&Expr> {
    match arc {
        ArcData::Take { token, .. } | ArcData::Test { token, .. } => {
            let compared = token.iter().filter_map(|pattern| match pattern {
                Pattern::Bind(_) => None,
                Pattern::Is(expr) => Some(expr),
            });
            compared.collect()
        }
        ArcData::Put { token, .. } => token.iter().collect(),
        ArcData::Inhibit { prefix, .. } | ArcData::Drain { prefix, .. } => prefix.iter().collect(),
        ArcData::Read { key, when, .. } => key.iter().chain(when).collect(),
        ArcData::Write { key, value, when, .. } => key.iter().chain([value]).chain(when).collect(),
        ArcData::Governed { .. } | ArcData::Governs { .. } => Vec::new(),
    }
}

struct Compiler<'a> {
    net: &'a Net,
    layout: &'a Layout,
    code: Code,
    /// The function whose frame moves.
    owner: Option<Function>,
}

impl Compiler<'_> {
    fn lower_transition(&mut self, data: &TransitionData) -> Result<(Place, Rule), Unsupported> {
        if exprs(data).any(Expr::observes_marking) {
            return Err(Unsupported("an arc expression that looks at the marking".to_owned()));
        }
        let frame = [TransitionData::thread_var(), TransitionData::depth_var()];
        let source = match data.arcs.first() {
            Some(ArcData::Take { place, token })
                if *token == frame.map(Pattern::Bind) && self.net.is_frame_place(*place) =>
            {
                *place
            }
            _ => return Err(Unsupported("a first arc that takes no frame's token".to_owned())),
        };
        self.owner = self.layout.owner[source];
        let mut rule = Rule {
            bindings: Vec::new(),
            consumes: Vec::new(),
            moves_to: None,
            produces: Vec::new(),
            writes: Vec::new(),
            parts: Vec::new(),
            effect: data.action.effect(),
            partner: None,
            n_vars: data.vars.len(),
            if_tried: Decisive::default(),
            if_fired: Decisive::default(),
            native: OnceLock::new(),
        };
        for (var, var_data) in data.vars.iter_enumerated() {
            if let Some(domain) = &var_data.choice {
                rule.bindings.push(Binding::Choose { var: reg(var.index())?, domain: domain.clone() });
            }
        }
        let arcs = groups(self.net, &data.arcs);
        self.code.forget_known();
        for (number, expr) in repeated(grouped_exprs(&arcs, data).into_iter()).into_iter().enumerate() {
            let var = reg(data.vars.len() + number)?;
            let value = self.code.compile_known(expr, var)?;
            rule.bindings.push(Binding::Compute { var, value });
        }
        for group in &arcs[1..] {
            self.lower_group(source, group, &mut rule)?;
        }
        let guards: Vec<Operand> = data
            .guard
            .iter()
            .flat_map(conjuncts)
            .map(|part| self.code.compile(part))
            .collect::<Result<_, _>>()?;
        rule.bindings = schedule(&self.code, rule.bindings, &guards);
        for part in &data.bytes {
            rule.parts.push((part.place, self.code.compile(&part.first)?, part.count));
        }
        Ok((source, rule))
    }

    fn lower_group(&mut self, source: Place, group: &Group<'_>, rule: &mut Rule) -> Result<(), Unsupported> {
        match *group {
            Group::One(arc) => self.lower_arc(source, arc, rule)?,
            Group::Reads { place, index, var, count } => {
                let (cells, index) = self.lower_element(place, index)?;
                let (var, count) = (reg(var.index())?, reg(count)?);
                rule.bindings.push(Binding::ReadRun { var, count, cells, index });
            }
            Group::Writes { place, index, var, count } => {
                let (cells, index) = self.lower_element(place, index)?;
                let (value, count) = (Code::register(reg(var.index())?), reg(count)?);
                rule.writes.push(Write {
                    cells,
                    count,
                    key: Key::Own { index: Some(index) },
                    value,
                    when: None,
                });
            }
        }
        Ok(())
    }

    fn lower_element(&mut self, place: Place, index: &Expr) -> Result<(Cells, Operand), Unsupported> {
        match self.layout.slots[place] {
            Slot::Cells(cells) if cells.home == Home::Global && cells.length.is_some() => {
                Ok((cells, self.code.compile(index)?))
            }
            Slot::Cells(_)
            | Slot::Nothing
            | Slot::Frames
            | Slot::Count(_)
            | Slot::Sets { .. }
            | Slot::Other => Err(no_room(self.net, place)),
        }
    }

    fn lower_arc(&mut self, source: Place, arc: &ArcData, rule: &mut Rule) -> Result<(), Unsupported> {
        match arc {
            ArcData::Take { place, token } => {
                self.lower_test(*place, token, rule)?;
                let consumed = self.lower_take(*place, token)?;
                let own = Pattern::Is(Expr::Var(TransitionData::thread_var()));
                if let Consume::Frame { thread, .. } = consumed
                    && token.first() != Some(&own)
                    && rule.partner.replace(thread).is_some()
                {
                    return Err(Unsupported("a step with two partners".to_owned()));
                }
                rule.consumes.push(consumed);
            }
            ArcData::Test { place, token } => self.lower_test(*place, token, rule)?,
            ArcData::Put { place, token } => self.lower_put(source, *place, token, rule)?,
            ArcData::Inhibit { place, prefix } => {
                let prefix = self.lower_prefix(*place, prefix)?;
                rule.bindings.push(Binding::Absent(prefix));
            }
            ArcData::Drain { place, prefix, to } => {
                let from = self.lower_prefix(*place, prefix)?;
                let to = match (from, self.layout.slots[*to]) {
                    (Prefix::Count { .. }, Slot::Count(to)) => to,
                    (Prefix::Sets { rows, .. }, Slot::Sets { offset: to, rows: to_rows, .. })
                        if rows == to_rows =>
                    {
                        to
                    }
                    _ => return Err(no_room(self.net, *place)),
                };
                rule.consumes.push(Consume::Drain { from, to });
            }
            ArcData::Read { place, key, var, when } => {
                let (cells, key) = self.lower_key(*place, key)?;
                let when = self.lower_optional(when.as_ref())?;
                rule.bindings.push(Binding::Read { var: reg(var.index())?, cells, key, when });
            }
            ArcData::Write { place, key, value, when } => {
                let (cells, key) = self.lower_key(*place, key)?;
                let value = self.code.compile(value)?;
                let when = self.lower_optional(when.as_ref())?;
                rule.writes.push(Write { cells, count: 1, key, value, when });
            }
            ArcData::Governed { .. } | ArcData::Governs { .. } => {}
        }
        Ok(())
    }

    fn lower_test(&mut self, place: Place, token: &[Pattern], rule: &mut Rule) -> Result<(), Unsupported> {
        let parts = token.iter().map(|pattern| self.lower_part(pattern)).collect::<Result<Vec<_>, _>>()?;
        let binding = match (self.layout.slots[place], parts.as_slice()) {
            (Slot::Frames, &[thread, depth]) => Binding::Frame { place, thread, depth },
            (Slot::Count(offset), []) => Binding::Count { offset },
            (Slot::Sets { offset, rows, .. }, parts) => {
                Binding::Member(member(offset, rows, parts).ok_or_else(|| no_room(self.net, place))?)
            }
            (Slot::Nothing | Slot::Cells(_) | Slot::Frames | Slot::Count(_) | Slot::Other, _) => {
                return Err(no_room(self.net, place));
            }
        };
        rule.bindings.push(binding);
        Ok(())
    }

    fn lower_take(&mut self, place: Place, token: &[Pattern]) -> Result<Consume, Unsupported> {
        let mut parts = Vec::new();
        for pattern in token {
            parts.push(match self.lower_part(pattern)? {
                Part::Bind(var) => Code::register(var),
                Part::Is(operand) => operand,
            });
        }
        match (self.layout.slots[place], parts.as_slice()) {
            (Slot::Frames, &[thread, depth]) => Ok(Consume::Frame { thread, depth }),
            (Slot::Count(offset), []) => Ok(Consume::Count { offset }),
            (Slot::Sets { offset, rows, .. }, parts) => {
                let found = member(offset, rows, parts).ok_or_else(|| no_room(self.net, place))?;
                Ok(Consume::Member(found))
            }
            (Slot::Nothing | Slot::Cells(_) | Slot::Frames | Slot::Count(_) | Slot::Other, _) => {
                Err(no_room(self.net, place))
            }
        }
    }

    fn lower_put(
        &mut self,
        source: Place,
        place: Place,
        token: &[Expr],
        rule: &mut Rule,
    ) -> Result<(), Unsupported> {
        let own = [TransitionData::thread_var(), TransitionData::depth_var()].map(Expr::Var);
        if matches!(self.layout.slots[place], Slot::Frames) && *token == own {
            if self.layout.owner[place] != self.layout.owner[source] {
                return Err(Unsupported("a frame that moves into another function".to_owned()));
            }
            if rule.moves_to.replace(place).is_some() {
                return Err(Unsupported("a frame in two places".to_owned()));
            }
            return Ok(());
        }
        let parts = token.iter().map(|expr| self.code.compile(expr)).collect::<Result<Vec<_>, _>>()?;
        let produced = match (self.layout.slots[place], parts.as_slice()) {
            (Slot::Frames, &[thread, depth]) => Produce::Frame { place, thread, depth },
            (Slot::Count(offset), []) => Produce::Count { offset },
            (Slot::Sets { offset, rows, .. }, parts) => {
                Produce::Member(member(offset, rows, parts).ok_or_else(|| no_room(self.net, place))?)
            }
            (Slot::Nothing | Slot::Cells(_) | Slot::Frames | Slot::Count(_) | Slot::Other, _) => {
                return Err(no_room(self.net, place));
            }
        };
        rule.produces.push(produced);
        Ok(())
    }

    fn lower_part(&mut self, pattern: &Pattern) -> Result<Part, Unsupported> {
        Ok(match pattern {
            Pattern::Bind(var) => Part::Bind(reg(var.index())?),
            Pattern::Is(expr) => Part::Is(self.code.compile(expr)?),
        })
    }

    fn lower_prefix(&mut self, place: Place, prefix: &[Expr]) -> Result<Prefix, Unsupported> {
        let parts = prefix.iter().map(|expr| self.code.compile(expr)).collect::<Result<Vec<_>, _>>()?;
        let n_components = self.net.components(place).len();
        let (first, second) = (parts.first().copied(), parts.get(1).copied());
        if parts.len() > n_components {
            return Err(no_room(self.net, place));
        }
        match self.layout.slots[place] {
            Slot::Count(offset) => Ok(Prefix::Count { offset }),
            Slot::Frames => Ok(Prefix::Frames { place, thread: first, depth: second }),
            Slot::Sets { offset, rows, has_rows: false } => {
                Ok(Prefix::Sets { offset, rows, row: None, thread: first })
            }
            Slot::Sets { offset, rows, has_rows: true } => {
                Ok(Prefix::Sets { offset, rows, row: first, thread: second })
            }
            Slot::Nothing | Slot::Cells(_) | Slot::Other => Err(no_room(self.net, place)),
        }
    }

    fn lower_key(&mut self, place: Place, key: &[Expr]) -> Result<(Cells, Key), Unsupported> {
        let Slot::Cells(cells) = self.layout.slots[place] else { return Err(no_room(self.net, place)) };
        let own_thread = Expr::Var(TransitionData::thread_var());
        let own_depth = Expr::Var(TransitionData::depth_var());
        let n_scope = match cells.home {
            Home::Global => 0,
            Home::Thread => 1,
            Home::Frame(_) => 2,
        };
        if key.len() != n_scope + usize::from(cells.length.is_some()) {
            return Err(no_room(self.net, place));
        }
        let is_own = match cells.home {
            Home::Global => true,
            Home::Thread => key[0] == own_thread,
            Home::Frame(function) => {
                key[0] == own_thread && key[1] == own_depth && self.owner == Some(function)
            }
        };
        let index = self.lower_optional(key.get(n_scope))?;
        if is_own {
            return Ok((cells, Key::Own { index }));
        }
        let thread = self.code.compile(&key[0])?;
        let depth = if n_scope == 2 { self.lower_optional(key.get(1))? } else { None };
        Ok((cells, Key::Any { thread, depth, index }))
    }

    fn lower_optional(&mut self, expr: Option<&Expr>) -> Result<Option<Operand>, Unsupported> {
        expr.map(|expr| self.code.compile(expr)).transpose()
    }
}

/// The member of a set that the components of a token name.
fn member<P: Copy>(offset: usize, rows: u32, parts: &[P]) -> Option<Member<P>> {
    match *parts {
        [thread] => Some(Member { offset, rows, row: None, thread }),
        [row, thread] => Some(Member { offset, rows, row: Some(row), thread }),
        _ => None,
    }
}
