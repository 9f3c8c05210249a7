//! What transitions do to what other threads may touch, all of it read off the arcs: to which object, to which element
//! of it, and in which way.

use pdnet_base::IndexVec;
use pdnet_net::{
    ArcData, BinaryOp, Effect, End, Expr, Function, Net, Pattern, Place, PlaceForm, PlaceKind, Queue, Queues,
    Scope, Transition, TransitionData, Var, conjuncts,
};

use crate::bits::Bits;
use crate::footprint::{Moves, asks_only, is_foreign, is_own};
use crate::layout::{Cells, Home, Layout, Slot};
use crate::sure::Sure;

/// What a step does to an element of an object.
///
/// A cell may be used as a lock is: it holds 0 or the number of a thread plus one. What a step that demands that can do
/// to another one is less than what reads and writes can do; see [`Use::rivals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Use {
    /// It depends on it.
    Read,
    /// It may change it, and depend on it.
    Write,
    /// It puts a message into a queue ([`End::Send`]).
    Send,
    /// It takes the first message out of a queue ([`End::Receive`]).
    Receive,
    /// It demands that there is a message in a queue, and may look at the first ([`End::Front`]).
    Front,
    /// It demands that there is room in a queue ([`End::Room`]).
    Room,
    /// It demands that the cell is 0, and writes the number of its thread plus one.
    Lock,
    /// It demands that the cell is 0, and leaves it so.
    Free,
    /// It demands that the cell is the number of its thread plus one, and writes 0.
    Unlock,
    /// It demands that the cell is the number of its thread plus one.
    Turn,
    /// It demands that the cell is not the number of its thread plus one, and leaves it so.
    NotTurn,
}

impl Use {
    const ALL: [Self; 11] = [
        Self::Read,
        Self::Write,
        Self::Send,
        Self::Receive,
        Self::Front,
        Self::Room,
        Self::Lock,
        Self::Free,
        Self::Unlock,
        Self::Turn,
        Self::NotTurn,
    ];

    /// Its bit among those of an element.
    const fn bit(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Write => 1,
            Self::Send | Self::Lock => 2,
            Self::Receive | Self::Free => 3,
            Self::Front | Self::Unlock => 4,
            Self::Room | Self::Turn => 5,
            Self::NotTurn => 6,
        }
    }

    /// The uses by which *other* threads could come between: disable an enabled step with this use, enable a disabled one,
    /// or not commute with an enabled one. The flag says whether what the use demands of the element is so now: that there
    /// is room, that there is a message, that the cell is 0, that it is the thread's turn. (Of [`Use::NotTurn`]: whether it
    /// *is* the thread's turn.)
    ///
    /// Let t be the thread of the step and u another. *As long as no rival moves*, which is all that is asked:
    ///
    /// - A send commutes with receives, a full queue is only changed by receives and others ([`pdnet_net::Queues`]). A
    ///   question about the front is to others what a receive is that takes nothing: only a receive, or a send to an empty queue,
    ///   can change the answer. So it is with room, and sends.
    /// - A free cell stays free but for locks and writes, and then nobody's turn comes. Locking disables those who demand a
    ///   free cell; those who demand that it is not their turn see no difference.
    /// - A held cell is changed only by the thread that holds it, which the caller adds, and by writes.
    /// - Where it is the turn of t, no step fires that demands a free cell or the turn of u. What t does may make it u's
    ///   turn, except where it writes 0.
    /// - Where it is not the turn of t, locks and unlocks of others do not make it so; what a turn writes is not known.
    pub(crate) const fn rivals(self, is_met: bool) -> &'static [Self] {
        match (self, is_met) {
            (Self::Read, _) => {
                &[Self::Write, Self::Send, Self::Receive, Self::Lock, Self::Unlock, Self::Turn]
            }
            (Self::Write, _) => &Self::ALL,
            (Self::Send, true) => &[Self::Read, Self::Write, Self::Send, Self::Room],
            (Self::Receive, true) => &[Self::Read, Self::Write, Self::Receive, Self::Front],
            (Self::Room, true) | (Self::Front | Self::Receive, false) => &[Self::Send, Self::Write],
            (Self::Front, true) | (Self::Room | Self::Send, false) => &[Self::Receive, Self::Write],
            (Self::Lock, true) => &[Self::Read, Self::Write, Self::Lock, Self::Free],
            (Self::Free, true) => &[Self::Write, Self::Lock],
            (Self::Lock | Self::Free, false) => &[Self::Write],
            (Self::Unlock, true) => &[Self::Read, Self::Write],
            (Self::Turn, true) => &[Self::Read, Self::Write, Self::NotTurn],
            (Self::NotTurn, true) => &[Self::Write],
            (Self::Unlock | Self::Turn | Self::NotTurn, false) => &[Self::Turn, Self::Write],
        }
    }

    /// Whether what it demands must be looked at to know its rivals.
    pub(crate) const fn demands(self) -> bool {
        !matches!(self, Self::Read | Self::Write)
    }
}

/// What kind of thing an object is, and so which uses there are of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    /// Cells or tokens that are read and written.
    Plain,
    /// Queues of this capacity.
    Queue(i64),
    /// Cells that are used as locks are.
    Owned,
}

impl ObjectKind {
    const fn n_bits(self) -> usize {
        match self {
            Self::Plain => 2,
            Self::Queue(_) => 6,
            Self::Owned => 7,
        }
    }

    const fn has(self, of: Use) -> bool {
        match of {
            Use::Read | Use::Write => true,
            Use::Send | Use::Receive | Use::Front | Use::Room => matches!(self, Self::Queue(_)),
            Use::Lock | Use::Free | Use::Unlock | Use::Turn | Use::NotTurn => matches!(self, Self::Owned),
        }
    }
}

/// Something that more than one thread may touch: a place, or the places of a queue.
#[derive(Clone, Debug)]
pub(crate) struct ObjectData {
    pub(crate) kind: ObjectKind,
    first_bit: usize,
    /// How many elements are told apart. Where there are more, some look like the same, which makes steps look more
    /// dependent than they are and never less.
    n_told: usize,
    /// How many elements there are.
    n_elements: u32,
    /// Where the global word of the first element is, by which what a use demands is decided.
    offset: usize,
}

impl ObjectData {
    /// The bit of a use of an element.
    fn bit(&self, element: usize, of: Use) -> usize {
        self.first_bit + element % self.n_told * self.kind.n_bits() + of.bit()
    }

    /// The number of an element, if there is one.
    pub(crate) fn element(&self, value: i64) -> Option<usize> {
        usize::try_from(value).ok().filter(|&element| element < self.n_elements as usize)
    }

    /// Adds the uses of an element, or of all.
    pub(crate) fn add(&self, bits: &mut Bits, element: Option<usize>, uses: &[Use]) {
        for &of in uses.iter().filter(|&&of| self.kind.has(of)) {
            match element {
                Some(element) => bits.insert(self.bit(element, of)),
                None => (0..self.n_told).for_each(|element| bits.insert(self.bit(element, of))),
            }
        }
    }

    /// Adds whatever could come between a step with this use and others, whichever element it is and whatever it holds.
    pub(crate) fn add_all_rivals(&self, bits: &mut Bits, of: Use) {
        self.add(bits, None, of.rivals(true));
        self.add(bits, None, of.rivals(false));
        if matches!(of, Use::Lock | Use::Free) {
            self.add(bits, None, &[Use::Unlock, Use::Turn]);
        }
    }

    /// Whether what a use by this thread demands of an element is so, and who holds the element where that must be 0.
    pub(crate) fn look(
        &self,
        globals: &[i64],
        element: usize,
        of: Use,
        thread: usize,
    ) -> (bool, Option<i64>) {
        let value = globals[self.offset + element];
        let own = thread as i64 + 1;
        match of {
            Use::Read | Use::Write => (true, None),
            // Where there are more messages than there is room for, a receive may still make the queue full.
            Use::Send | Use::Room => {
                (matches!(self.kind, ObjectKind::Queue(capacity) if value < capacity), None)
            }
            Use::Receive | Use::Front => (value > 0, None),
            Use::Lock | Use::Free => (value == 0, (value != 0).then(|| value.wrapping_sub(1))),
            Use::Unlock | Use::Turn | Use::NotTurn => (value == own, None),
        }
    }
}

/// One access of a transition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    pub(crate) object: usize,
    /// Which element, in terms of cells of the moving frame (as [`Expr::Cell`] without a key) and its thread; nothing where
    /// it can be any.
    pub(crate) element: Option<Expr>,
    pub(crate) of: Use,
    /// In which case there is an access at all, in the same terms; nothing where that is not known, or always so.
    pub(crate) when: Option<Expr>,
}

impl Access {
    /// The expressions that a frame tells it by.
    pub(crate) fn told_by(&self) -> impl Iterator<Item = &Expr> {
        self.element.iter().chain(&self.when)
    }
}

/// For what the accesses of a transition are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// What others could do to it, where it is a next step of a thread that may go first.
    Next,
    /// What it could do to others, where it is a step to come.
    Future,
}

/// So many elements of one object are told apart, if there are not too many objects.
const MAX_TOLD: u32 = 256;
/// So many bits there should be at most.
const MAX_BITS: usize = 1 << 12;

/// The objects of a net, and the accesses of its transitions.
pub(crate) struct Objects<'a> {
    pub(crate) net: &'a Net,
    layout: &'a Layout,
    pub(crate) queues: Queues,
    pub(crate) of_place: IndexVec<Place, Option<usize>>,
    pub(crate) data: Vec<ObjectData>,
    /// Places where partners are taken from.
    is_meeting: IndexVec<Place, bool>,
    /// Places at which a thread may be in an atomic section.
    pub(crate) is_inside: IndexVec<Place, bool>,
    /// Places at which a rank decides between steps.
    pub(crate) is_ranked: IndexVec<Place, bool>,
    /// Places with cells that some transition uses as a lock is used.
    is_owned: IndexVec<Place, bool>,
    /// For each function those of its cells that are objects.
    of_frames: IndexVec<Function, Vec<usize>>,
    /// Cells of frames that only steps of the frame itself write, or the step that makes it.
    is_private: IndexVec<Place, bool>,
    /// Transitions only ask whether a thread is among the ended ones. Then the end of a thread takes nothing
    /// from anybody, and happens once for each thread.
    pub(crate) ends_are_final: bool,
    deadlocks: bool,
    /// Some step looks at who is in an atomic section.
    reads_section: bool,
    /// What is sure of queues where a thread comes to a place inside of a section that it could lose.
    pub(crate) sure: IndexVec<Place, Vec<Sure>>,
}

impl<'a> Objects<'a> {
    /// Cells of a thread or a frame are its own where every arc names them by the thread that moves, or by a
    /// thread whose bottom frame the same transition puts: that thread has no frame yet, so that it is none of
    /// those that could move. All other places that some transition changes are shared.
    ///
    /// A frame place is shared where a partner's frame is taken from it: every step that moves a frame there
    /// or away from there writes it.
    ///
    /// Where deadlocks matter, the end of a thread is taken to read who is in an atomic section.
    /// Entering a section writes that for others, but is not itself in the way of another one that does: sections are taken as a
    /// whole.
    pub(crate) fn new(net: &'a Net, layout: &'a Layout, deadlocks: bool) -> Self {
        let n_places = net.places.len();
        let mut objects = Self {
            net,
            layout,
            queues: Queues::new(net),
            of_place: IndexVec::filled(None, n_places),
            data: Vec::new(),
            is_meeting: meeting_places(net),
            is_inside: inside_places(net),
            is_ranked: ranked_places(net),
            is_owned: owned_places(net),
            of_frames: IndexVec::filled(Vec::new(), net.functions.len()),
            is_private: private_cells(net),
            ends_are_final: net.done.is_some() && net.transitions.iter().all(|data| asks_only(net, data)),
            deadlocks,
            reads_section: net.transitions.iter().any(|data| reads_section(net, data)),
            sure: IndexVec::filled(Vec::new(), n_places),
        };
        objects.collect();
        objects.number();
        objects.sure = objects.find_sure();
        objects
    }

    /// How many bits a set of uses has.
    pub(crate) fn n_bits(&self) -> usize {
        let ends = self.data.iter().map(|object| object.first_bit + object.n_told * object.kind.n_bits());
        ends.max().unwrap_or(0)
    }

    fn is_shared(&self) -> IndexVec<Place, bool> {
        let net = self.net;
        let mut is_shared: IndexVec<Place, bool> = net
            .places
            .iter_enumerated()
            .map(|(place, data)| match &data.form {
                _ if data.kind == PlaceKind::Control => false,
                PlaceForm::Tokens { .. } => !net.is_frame_place(place),
                PlaceForm::Cells(cells) => cells.scope == Scope::Global,
            })
            .collect();
        let mut is_changed: IndexVec<Place, bool> = IndexVec::filled(false, net.places.len());
        if let (Some(done), false) = (net.done, self.ends_are_final) {
            is_changed[done] = true;
        }
        for data in &net.transitions {
            for arc in &data.arcs {
                match arc {
                    ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. } => {
                        is_shared[*place] |= key.first().is_none_or(|thread| !is_own(net, data, thread));
                        is_changed[*place] |= matches!(arc, ArcData::Write { .. });
                    }
                    ArcData::Take { place, .. } | ArcData::Put { place, .. } => is_changed[*place] = true,
                    ArcData::Drain { place, to, .. } => {
                        is_changed[*place] = true;
                        is_changed[*to] = true;
                    }
                    ArcData::Test { .. } | ArcData::Inhibit { .. } => {}
                    ArcData::Governed { .. } | ArcData::Governs { .. } => {}
                }
            }
        }
        let is_object = |(place, data): (Place, &pdnet_net::PlaceData)| {
            if net.is_frame_place(place) {
                return self.is_meeting[place];
            }
            // Cells of frames are changed also when the frame goes.
            let is_frame = data.cells().is_some_and(|cells| matches!(cells.scope, Scope::Frame(_)));
            is_shared[place] && (is_changed[place] || is_frame)
        };
        net.places.iter_enumerated().map(is_object).collect()
    }

    /// Finds the objects.
    fn collect(&mut self) {
        let is_shared = self.is_shared();
        let mut of_queue: IndexVec<Queue, Option<usize>> = IndexVec::filled(None, self.queues.data.len());
        for place in self.net.places.indices() {
            if !is_shared[place] {
                continue;
            }
            let queue = self.queues.of_place[place];
            if let Some(object) = queue.and_then(|queue| of_queue[queue]) {
                self.of_place[place] = Some(object);
                continue;
            }
            self.of_place[place] = Some(self.data.len());
            if let Some(Scope::Frame(owner)) = self.net.places[place].cells().map(|cells| cells.scope) {
                self.of_frames[owner].push(self.data.len());
            }
            let (kind, n_elements, offset) = match queue {
                Some(queue) => {
                    of_queue[queue] = Some(self.data.len());
                    let shape = &self.queues.data[queue];
                    let offset = self.global_cells(shape.len).map_or(0, |cells| cells.offset);
                    (ObjectKind::Queue(i64::from(shape.capacity)), shape.n_elements, offset)
                }
                None => self.shape(place),
            };
            self.data.push(ObjectData { kind, first_bit: 0, n_told: 1, n_elements, offset });
        }
    }

    fn global_cells(&self, place: Place) -> Option<Cells> {
        match self.layout.slots[place] {
            Slot::Cells(cells) if cells.home == Home::Global => Some(cells),
            _ => None,
        }
    }

    fn shape(&self, place: Place) -> (ObjectKind, u32, usize) {
        match self.layout.slots[place] {
            Slot::Cells(cells) if cells.home == Home::Global => {
                let kind = if self.is_owned[place] { ObjectKind::Owned } else { ObjectKind::Plain };
                (kind, cells.length.unwrap_or(1), cells.offset)
            }
            Slot::Sets { rows, has_rows: true, .. } => (ObjectKind::Plain, rows, 0),
            Slot::Cells(_) | Slot::Sets { .. } | Slot::Count(_) => (ObjectKind::Plain, 1, 0),
            Slot::Frames | Slot::Nothing | Slot::Other => (ObjectKind::Plain, 1, 0),
        }
    }

    /// Gives the objects their bits: as many elements told apart as there is room for.
    fn number(&mut self) {
        let mut max_told = MAX_TOLD;
        loop {
            let mut next = 0;
            for object in &mut self.data {
                object.first_bit = next;
                object.n_told = object.n_elements.clamp(1, max_told) as usize;
                next += object.n_told * object.kind.n_bits();
            }
            if next <= MAX_BITS {
                return;
            }
            if max_told == 1 {
                // Some share bits, which adds to what looks dependent.
                self.data.iter_mut().for_each(|object| object.first_bit %= MAX_BITS);
                return;
            }
            max_told /= 4;
        }
    }

    /// The accesses of a transition: those of its arcs, to the cells of frames that come and go, and what the end
    /// of a thread changes.
    pub(crate) fn accesses(&self, transition: Transition, moves: &Moves, side: Side) -> Vec<Access> {
        let (net, data) = (self.net, &self.net.transitions[transition]);
        let mut found: Vec<Access> = Vec::new();
        let mut add = |object: Option<usize>, element: Option<Expr>, of: Use, when: Option<Expr>| {
            let access = object.map(|object| Access { object, element, of, when });
            found.extend(access);
        };
        let is_plain = self.is_plain(data, side);
        for used in self.queues.uses(net, transition) {
            let object = self.of_place[self.queues.data[used.queue].len];
            let element = used.element.as_ref().and_then(|element| self.canonical(data, element));
            let is_plain = is_plain || self.is_sure(data, &used, element.as_ref());
            let of = match used.end {
                End::Send if is_plain => Use::Send,
                End::Receive if is_plain => Use::Receive,
                End::Front if is_plain => Use::Front,
                End::Room if is_plain => Use::Room,
                End::Read | End::Front | End::Room => Use::Read,
                End::Send | End::Receive | End::Write => Use::Write,
            };
            add(object, element, of, None);
        }
        for arc in data.arcs.iter().filter(|arc| !arc.is_control()) {
            let place = arc.place();
            if self.queues.of_place[place].is_some() && self.of_place[place].is_some() {
                continue;
            }
            let object = self.of_place[place];
            if Some(place) == net.atomic && side == Side::Next && !self.reads_section {
                continue;
            }
            match arc {
                ArcData::Read { key, when, .. } | ArcData::Write { key, when, .. } => {
                    let is_array = self.global_cells(place).is_some_and(|cells| cells.length.is_some());
                    let element = match key.last().filter(|_| is_array) {
                        Some(index) => self.canonical(data, index),
                        None => Some(Expr::Const(0)),
                    };
                    let plain = if matches!(arc, ArcData::Read { .. }) { Use::Read } else { Use::Write };
                    let is_global = self.global_cells(place).is_some();
                    let of =
                        owned_use(self.net, data, place).filter(|_| is_plain && is_global).unwrap_or(plain);
                    add(object, element, of, when.as_ref().and_then(|when| self.canonical(data, when)));
                }
                ArcData::Test { token, .. } => add(object, self.row(place, data, token), Use::Read, None),
                ArcData::Take { token, .. } => add(object, self.row(place, data, token), Use::Write, None),
                ArcData::Inhibit { prefix, .. } => {
                    add(object, self.row_of(place, data, prefix), Use::Read, None)
                }
                ArcData::Put { token, .. } => add(object, self.row_of(place, data, token), Use::Write, None),
                ArcData::Drain { prefix, to, .. } => {
                    add(object, self.row_of(place, data, prefix), Use::Write, None);
                    add(self.of_place[*to], self.row_of(*to, data, prefix), Use::Write, None);
                }
                ArcData::Governed { .. } | ArcData::Governs { .. } => {}
            }
        }
        for &place in moves.pushed.iter().chain(&moves.popped) {
            let cells = net.places[place].function.map(|function| &self.of_frames[function]);
            cells.into_iter().flatten().for_each(|&at| add(Some(at), None, Use::Write, None));
        }
        match data.action.effect() {
            Effect::None | Effect::Prune | Effect::EndProcess => {}
            Effect::EndThread => {
                if self.deadlocks && !net.atomic_yields {
                    add(net.atomic.and_then(|atomic| self.of_place[atomic]), None, Use::Read, None);
                }
                add(net.done.and_then(|done| self.of_place[done]), None, Use::Write, None);
                // A thread of one frame has only the one that the arcs take.
                if net.max_depth > 1 {
                    self.of_frames.iter().flatten().for_each(|&at| add(Some(at), None, Use::Write, None));
                    self.meetings().for_each(|at| add(Some(at), None, Use::Write, None));
                }
            }
        }
        found.sort_by(|a, b| {
            (a.object, &a.element, a.of, &a.when).cmp(&(b.object, &b.element, b.of, &b.when))
        });
        found.dedup();
        found
    }

    /// Whether the uses of a transition are those of one step that is taken whenever it is bound. Beside steps of another rank,
    /// a step that *becomes* enabled keeps others from being taken; inside of a section that can be lost, it
    /// keeps other threads from moving.
    fn is_plain(&self, data: &TransitionData, side: Side) -> bool {
        let is_steady = |source: Place| side == Side::Next || !self.is_inside[source];
        data.source().is_some_and(|source| is_steady(source) && !self.is_ranked[source])
    }

    /// What can happen to a frame that stands on the place without a step of its own thread: a partner takes it.
    pub(crate) fn exposure(&self, place: Place) -> Option<usize> {
        self.of_place[place].filter(|_| self.is_meeting[place])
    }

    fn meetings(&self) -> impl Iterator<Item = usize> {
        let places = self.is_meeting.iter_enumerated().filter(|(_, is_meeting)| **is_meeting);
        places.filter_map(|(place, _)| self.of_place[place])
    }

    /// The row of a token, where the place has rows.
    fn row(&self, place: Place, data: &TransitionData, token: &[Pattern]) -> Option<Expr> {
        match (self.layout.slots[place], token.first()) {
            (Slot::Sets { has_rows: true, .. }, Some(Pattern::Is(row))) => self.canonical(data, row),
            (Slot::Sets { has_rows: true, .. }, Some(Pattern::Bind(_)) | None) => None,
            _ => Some(Expr::Const(0)),
        }
    }

    fn row_of(&self, place: Place, data: &TransitionData, prefix: &[Expr]) -> Option<Expr> {
        match (self.layout.slots[place], prefix.first()) {
            (Slot::Sets { has_rows: true, .. }, Some(row)) => self.canonical(data, row),
            (Slot::Sets { has_rows: true, .. }, None) => None,
            _ => Some(Expr::Const(0)),
        }
    }

    /// The expression in terms of private cells of the moving frame and its thread, where it is one.
    pub(crate) fn canonical(&self, data: &TransitionData, expr: &Expr) -> Option<Expr> {
        let inner = |part: &Expr| self.canonical(data, part).map(Box::new);
        Some(match expr {
            Expr::Const(value) => Expr::Const(*value),
            Expr::Var(var) if *var == TransitionData::thread_var() => expr.clone(),
            Expr::Var(var) => Expr::Cell(self.cell_of(data, *var)?, Vec::new()),
            Expr::Unary(op, ty, operand) => Expr::Unary(*op, *ty, inner(operand)?),
            Expr::Binary(op, ty, left, right) => Expr::Binary(*op, *ty, inner(left)?, inner(right)?),
            Expr::Convert(ty, operand) => Expr::Convert(*ty, inner(operand)?),
            Expr::If(first, second, third) => Expr::If(inner(first)?, inner(second)?, inner(third)?),
            Expr::Cell(..) | Expr::Marked(..) | Expr::Deadlock => return None,
        })
    }

    /// The private cell of the moving frame whose value a variable has.
    fn cell_of(&self, data: &TransitionData, var: Var) -> Option<Place> {
        let own = own_key();
        data.arcs.iter().find_map(|arc| match arc {
            ArcData::Read { place, key, var: bound, when: None }
                if *bound == var && *key == own && self.is_private[*place] =>
            {
                Some(*place)
            }
            _ => None,
        })
    }
}

/// Whether a transition looks at who is in an atomic section.
fn reads_section(net: &Net, data: &TransitionData) -> bool {
    let reads = |arc: &ArcData| Some(arc.place()) == net.atomic && !matches!(arc, ArcData::Write { .. });
    data.arcs.iter().any(|arc| !arc.is_control() && reads(arc))
}

/// The key of the moving frame.
pub(crate) fn own_key() -> Vec<Expr> {
    vec![Expr::Var(TransitionData::thread_var()), Expr::Var(TransitionData::depth_var())]
}

/// The frames that a transition takes, with their places.
fn taken_frames(net: &Net, data: &TransitionData) -> Vec<(Place, Vec<Expr>)> {
    let as_expr = |part: &Pattern| match part {
        Pattern::Bind(var) => Expr::Var(*var),
        Pattern::Is(expr) => expr.clone(),
    };
    let frames = data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Take { place, token } if net.is_frame_place(*place) => {
            Some((*place, token.iter().map(as_expr).collect()))
        }
        _ => None,
    });
    frames.collect()
}

/// The private cells that a transition writes, each with the place where the frame stands before.
pub(crate) fn private_writes(net: &Net, data: &TransitionData) -> Vec<(Place, Place)> {
    let taken = taken_frames(net, data);
    let writes = data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Write { place, key, .. } => {
            let frame = taken.iter().find(|(_, token)| token == key)?;
            Some((frame.0, *place))
        }
        _ => None,
    });
    writes.collect()
}

/// Cells of frames, no arrays, of which each write names a frame that the same transition takes, or one that it makes.
fn private_cells(net: &Net) -> IndexVec<Place, bool> {
    let is_local = |data: &pdnet_net::PlaceData| {
        let cells = data.cells();
        cells.is_some_and(|cells| matches!(cells.scope, Scope::Frame(_)) && cells.length.is_none())
    };
    let mut is_private: IndexVec<Place, bool> = net.places.iter().map(is_local).collect();
    for data in &net.transitions {
        let taken = taken_frames(net, data);
        let makes = |key: &[Expr]| {
            data.arcs.iter().any(|arc| match arc {
                ArcData::Put { place, token } => net.is_frame_place(*place) && token == key,
                _ => false,
            })
        };
        for arc in &data.arcs {
            if let ArcData::Write { place, key, .. } = arc {
                is_private[*place] &= taken.iter().any(|(_, token)| token == key) || makes(key);
            }
        }
    }
    is_private
}

/// The places from which a frame is taken that may be another thread's than the moving one's.
fn meeting_places(net: &Net) -> IndexVec<Place, bool> {
    let mut meetings = IndexVec::filled(false, net.places.len());
    for data in &net.transitions {
        for arc in data.arcs.iter().skip(1) {
            if let ArcData::Take { place, token } = arc
                && net.is_frame_place(*place)
                && is_foreign(token)
            {
                meetings[*place] = true;
            }
        }
    }
    meetings
}

/// Where a thread may stand inside of an atomic section. (Where it is blocked there it loses it, or keeps all others where they are: in both cases
/// it matters that others enable its steps.) That is where a step puts the frame of
/// the thread that it makes the owner, or its own frame from such a place if it leaves alone who is the owner. While
/// somebody is, only he moves.
fn inside_places(net: &Net) -> IndexVec<Place, bool> {
    let mut is_inside = IndexVec::filled(false, net.places.len());
    let Some(atomic) = net.atomic else { return is_inside };
    if net.places[atomic].cells().is_none_or(|cells| cells.default != 0) {
        return IndexVec::filled(true, net.places.len());
    }
    loop {
        let mut is_changed = false;
        for data in &net.transitions {
            for owner in owners(data, atomic, &is_inside) {
                for arc in &data.arcs {
                    if let ArcData::Put { place, token } = arc
                        && net.is_frame_place(*place)
                        && (owner.is_none() || token.first() == owner.as_ref())
                    {
                        is_changed |= !std::mem::replace(&mut is_inside[*place], true);
                    }
                }
            }
        }
        if !is_changed {
            return is_inside;
        }
    }
}

/// The threads that may be inside of an atomic section after a transition; nothing stands for any.
fn owners(data: &TransitionData, atomic: Place, is_inside: &IndexVec<Place, bool>) -> Vec<Option<Expr>> {
    let mut owners = Vec::new();
    let mut is_settled = false;
    for arc in &data.arcs {
        let ArcData::Write { place, value, when, .. } = arc else { continue };
        if *place != atomic {
            continue;
        }
        is_settled |= when.is_none();
        match value {
            Expr::Const(0) => {}
            Expr::Binary(BinaryOp::Add, ty, owner, one) if ty.bits >= 16 && **one == Expr::Const(1) => {
                owners.push(Some((**owner).clone()));
            }
            _ => owners.push(None),
        }
    }
    if !is_settled && data.source().is_some_and(|source| is_inside[source]) {
        owners.push(Some(Expr::Var(TransitionData::thread_var())));
    }
    owners
}

/// Where steps of different ranks begin.
fn ranked_places(net: &Net) -> IndexVec<Place, bool> {
    let mut ranks: IndexVec<Place, Option<u8>> = IndexVec::filled(None, net.places.len());
    let mut is_ranked = IndexVec::filled(false, net.places.len());
    for data in &net.transitions {
        let Some(source) = data.source() else { continue };
        let rank = *ranks[source].get_or_insert(data.rank);
        is_ranked[source] |= rank != data.rank;
    }
    is_ranked
}

/// The places with cells that some transition uses as a lock is used.
fn owned_places(net: &Net) -> IndexVec<Place, bool> {
    let mut is_owned = IndexVec::filled(false, net.places.len());
    for data in &net.transitions {
        for arc in &data.arcs {
            if let ArcData::Read { place, .. } = arc {
                is_owned[*place] |= owned_use(net, data, *place).is_some();
            }
        }
    }
    is_owned
}

/// In which way a transition uses the cells of a place as a lock is used, where it does: it reads one cell in any case,
/// demands something of it, and writes at most the same one.
fn owned_use(net: &Net, data: &TransitionData, place: Place) -> Option<Use> {
    let max_threads = i64::from(net.max_threads);
    let holds_numbers = |cells: &pdnet_net::CellData| cells.value.wrap(max_threads) == max_threads;
    // Accesses to plain memory can race, whatever they demand: their states must be seen.
    if net.places[place].memory || !net.places[place].cells().is_some_and(holds_numbers) {
        return None;
    }
    let mut arcs = data.arcs.iter().filter(|arc| !arc.is_control() && arc.place() == place);
    let ArcData::Read { key, var, when: None, .. } = arcs.next()? else { return None };
    let written = match (arcs.next(), arcs.next()) {
        (None, _) => None,
        (Some(ArcData::Write { key: written, value, when: None, .. }), None) if written == key => Some(value),
        _ => return None,
    };
    let mut parts = Vec::new();
    conjuncts(data.guard.as_ref()?, &mut parts);
    let is_own = |expr: &Expr| match expr {
        Expr::Binary(BinaryOp::Add, ty, left, right) => {
            ty.bits >= 16 && **left == Expr::Var(TransitionData::thread_var()) && **right == Expr::Const(1)
        }
        _ => false,
    };
    let compared = |part: &Expr, with: &dyn Fn(&Expr) -> bool| match part {
        Expr::Binary(BinaryOp::Eq, _, left, right) => {
            **left == Expr::Var(*var) && with(right) || **right == Expr::Var(*var) && with(left)
        }
        _ => false,
    };
    let is_free = |part: &&Expr| compared(part, &|other| *other == Expr::Const(0));
    let is_turn = |part: &&Expr| compared(part, &is_own);
    if parts.iter().any(is_free) {
        return match written {
            None | Some(Expr::Const(0)) => Some(Use::Free),
            Some(value) => is_own(value).then_some(Use::Lock),
        };
    }
    if parts.iter().any(is_turn) {
        return Some(if written == Some(&Expr::Const(0)) { Use::Unlock } else { Use::Turn });
    }
    let is_not_turn = |part: &&Expr| match part {
        Expr::Binary(BinaryOp::Ne, _, left, right) => {
            **left == Expr::Var(*var) && is_own(right) || **right == Expr::Var(*var) && is_own(left)
        }
        // Not (the comparison, as a number).
        Expr::Binary(BinaryOp::Eq, _, inner, zero) if **zero == Expr::Const(0) => {
            let mut parts = Vec::new();
            conjuncts(inner, &mut parts);
            matches!(parts.as_slice(), [only] if is_turn(only))
        }
        _ => false,
    };
    (written.is_none() && data.n_uses(*var) == 1 && parts.iter().any(is_not_turn)).then_some(Use::NotTurn)
}
