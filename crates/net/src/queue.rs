//! Buffers in a net: cells that are used as first-in-first-out queues.
//!
//! A front end makes a buffer out of plain cells: one with the number of messages, and for each field of a message an
//! array with one cell for each message that there is room for. To take the first message out, all others move up.
//! By its arcs alone, a step that puts a message in and one that takes a message out do not commute: both write the
//! number of messages. But they are the two ends of a queue, and where both can be taken, their order makes no
//! difference. This analysis reads off the arcs which steps do exactly that.
//!
//! # What is found
//!
//! A *queue* is a global place L with n cells (one, or an array) and some global arrays of n · c cells each: those
//! of element e are L\[e\] and, of each array F, F\[e·c\] to F\[e·c + c − 1\]. Which places belong together is a guess from
//! steps that look like a send, and nothing depends on its being right: every step that touches one of the places
//! *uses* the queue, and if it is not exactly one of the following four, it is [`End::Read`] or [`End::Write`].
//!
//! [`End::Send`], with x the value of L\[e\]:
//!
//! - the guard demands x < c;
//! - the step writes x + 1 to L\[e\], and to each F at most one value, at e·c + x;
//! - it reads nothing of the queue but x, and uses x for nothing else.
//!
//! [`End::Receive`], with x the value of L\[e\]:
//!
//! - the guard demands 0 < x;
//! - the step writes x − 1 to L\[e\], to each F at e·c + k the value that was at e·c + k + 1, for all k < c − 1, and 0 at
//!   e·c + c − 1;
//! - it uses x for nothing else, and of what it reads of the queue only what is at e·c, which is the first message.
//!
//! [`End::Front`], with x the value of L\[e\]: the guard demands 0 < x or x ≠ 0; x is used for nothing else, nothing of the queue is
//! written, and of its messages at most the first one is read for anything, at e·c.
//!
//! [`End::Room`], with x the value of L\[e\]: the guard demands x < c or x ≠ c; x is used for nothing else, and nothing else of the
//! queue is touched.
//!
//! # Why the two commute
//!
//! Let a send and a receive of the same element be enabled, so that 0 < x < c, and let v be what the send writes to F.
//! The send writes behind the first message, so that the receive sees the same first message before and after it. In
//! both orders the number is x again and is in the range that both guards demand, F at e·c + x − 1 is v, F at e·c + k is
//! what was at e·c + k + 1 for all other k < c − 1, and what is at e·c + c − 1 is 0 (if x = c − 1, the message v was there in between, or
//! not at all). Nothing is asked of the cells behind the last message.
//!
//! Further: a send is disabled by a full queue (x = c), which sends keep full. A receive is disabled by an empty
//! queue, which receives keep empty, or by a first message that does not fit, which sends keep in its place.
//!
//! A look at the front is to a send what a receive is: where both can be taken, the send changes nothing that is looked at; an
//! empty queue stays empty but for sends; and another first message comes by receives only. In the same way a question
//! whether there is room is to a receive what a send is. A receive may end a look at the front, and a send may take the room.
//!
//! If an element is outside of the array, nothing of this holds; who uses the result must look.

use pdnet_base::{IndexVec, index_type};

use crate::frames::conjuncts;
use crate::net::{ArcData, Net, Place, PlaceData, Scope, Transition, TransitionData, Var};
use crate::{BinaryOp, Expr, IntType};

index_type! {
    /// A queue.
    pub struct Queue = "q";
}

/// Places that make a queue, or an array of queues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueData {
    /// How many messages there are.
    pub len: Place,
    /// The fields of the messages.
    pub fields: Vec<Place>,
    /// How many messages there is room for.
    pub capacity: u32,
    /// How many queues these are.
    pub n_elements: u32,
}

/// What a step does to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It puts a message behind the others.
    Send,
    /// It takes the first message out, or is not enabled because another one is wanted.
    Receive,
    /// It demands that there is a message, and may look at the first.
    Front,
    /// It demands that there is room.
    Room,
    /// It looks at something else.
    Read,
    /// It does something else.
    Write,
}

/// A queue that a step uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueUse {
    /// The queue, or the array of queues.
    pub queue: Queue,
    /// Which of them; nothing where that is not plain.
    pub element: Option<Expr>,
    /// In which way.
    pub end: End,
}

/// The queues of a net, and the steps that use them.
#[derive(Clone, Debug)]
pub struct Queues {
    /// The queues.
    pub data: IndexVec<Queue, QueueData>,
    /// The queue that a place belongs to.
    pub of_place: IndexVec<Place, Option<Queue>>,
}

impl Queues {
    /// Looks at all steps.
    #[must_use]
    pub fn new(net: &Net) -> Self {
        let mut found: Vec<QueueData> = Vec::new();
        for (_, data) in net.transitions.iter_enumerated() {
            guess(net, data, &mut found);
        }
        let mut queues = Self { data: IndexVec::new(), of_place: IndexVec::filled(None, net.places.len()) };
        for queue in found {
            let places = || std::iter::once(queue.len).chain(queue.fields.iter().copied());
            if queue.fields.is_empty() || places().any(|place| queues.of_place[place].is_some()) {
                continue;
            }
            let number = queues.data.push(queue.clone());
            places().for_each(|place| queues.of_place[place] = Some(number));
        }
        queues
    }

    /// How a step uses queues, each queue once.
    #[must_use]
    pub fn uses(&self, net: &Net, transition: Transition) -> Vec<QueueUse> {
        let data = &net.transitions[transition];
        let touched = data.arcs.iter().filter(|arc| !arc.is_control()).map(ArcData::place);
        let mut queues: Vec<Queue> = touched.filter_map(|place| self.of_place[place]).collect();
        queues.sort_unstable();
        queues.dedup();
        queues.into_iter().map(|queue| self.use_of(data, queue)).collect()
    }

    fn use_of(&self, data: &TransitionData, queue: Queue) -> QueueUse {
        let shape = &self.data[queue];
        let arcs: Vec<&ArcData> = data
            .arcs
            .iter()
            .filter(|arc| !arc.is_control() && self.of_place[arc.place()] == Some(queue))
            .collect();
        if let Some(element) = as_send(shape, data, &arcs) {
            return QueueUse { queue, element: Some(element), end: End::Send };
        }
        if let Some(element) = as_receive(shape, data, &arcs) {
            return QueueUse { queue, element: Some(element), end: End::Receive };
        }
        if let Some((element, end)) = as_question(shape, data, &arcs) {
            return QueueUse { queue, element: Some(element), end };
        }
        let writes = arcs.iter().any(|arc| !matches!(arc, ArcData::Read { .. }));
        let end = if writes { End::Write } else { End::Read };
        let mut elements = arcs.iter().map(|arc| element_of(shape, arc));
        let first = elements.next().flatten();
        let element = first.filter(|first| elements.all(|other| other.as_ref() == Some(first)));
        QueueUse { queue, element, end }
    }
}

/// The length of a global place with cells: how many cells it has, and whether it is an array. Plain memory makes no
/// queues: accesses to it can race, in whatever order they commute.
fn global_cells(data: &PlaceData) -> Option<(u32, bool)> {
    let cells = data.cells().filter(|cells| cells.scope == Scope::Global && !data.memory)?;
    Some((cells.length.unwrap_or(1), cells.length.is_some()))
}

/// Takes a step that looks like a send as a hint that places make a queue.
fn guess(net: &Net, data: &TransitionData, found: &mut Vec<QueueData>) {
    for arc in &data.arcs {
        let ArcData::Write { place: len, key, value, when: None } = arc else { continue };
        let Some((n_elements, _)) = global_cells(&net.places[*len]) else { continue };
        let Some(var) = read_of(data, *len, key) else { continue };
        if *value != int_op(BinaryOp::Add, Expr::Var(var), Expr::Const(1)) {
            continue;
        }
        for other in &data.arcs {
            let ArcData::Write { place: field, key: at, .. } = other else { continue };
            let Some((length, true)) = global_cells(&net.places[*field]) else { continue };
            if *field == *len || length % n_elements != 0 || length == 0 {
                continue;
            }
            let capacity = length / n_elements;
            let shape = QueueData { len: *len, fields: vec![*field], capacity, n_elements };
            let is_behind = split(&shape, at) == Some((element(key), Expr::Var(var)));
            // The number must be one that there can be, or what is behind it may belong to another element.
            let holds = |ty: IntType| !ty.signed && ty.wrap(i64::from(capacity)) == i64::from(capacity);
            let is_number = net.places[*len].cells().is_some_and(|cells| holds(cells.value));
            // Fields pass through numbers of 32 bits.
            let is_narrow = net.places[*field].cells().is_some_and(|cells| cells.value.bits <= 32);
            if !is_behind || !is_number || !is_narrow {
                continue;
            }
            match found.iter_mut().find(|queue| queue.len == *len) {
                None => found.push(shape),
                Some(queue) if queue.capacity == capacity && !queue.fields.contains(field) => {
                    queue.fields.push(*field);
                }
                Some(_) => {}
            }
        }
    }
}

fn int_op(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    Expr::Binary(op, IntType::I32, Box::new(left), Box::new(right))
}

/// The variable that has the value of a cell, where it is read once and in any case.
fn read_of(data: &TransitionData, place: Place, key: &[Expr]) -> Option<Var> {
    data.arcs.iter().find_map(|arc| match arc {
        ArcData::Read { place: at, key: of, var, when: None } if *at == place && of == key => Some(*var),
        _ => None,
    })
}

/// The element that a key of the number of messages stands for.
fn element(key: &[Expr]) -> Expr {
    key.first().cloned().unwrap_or(Expr::Const(0))
}

/// The element and the position in it that a key of a field stands for.
fn split(shape: &QueueData, key: &[Expr]) -> Option<(Expr, Expr)> {
    let [key] = key else { return None };
    let capacity = i64::from(shape.capacity);
    let is_row = |row: &Expr| match row {
        Expr::Binary(BinaryOp::Mul, IntType::I32, element, by) if **by == Expr::Const(capacity) => {
            Some((**element).clone())
        }
        Expr::Const(at) if at % capacity == 0 => Some(Expr::Const(at / capacity)),
        _ => None,
    };
    let is_position = |position: &Expr| match position {
        Expr::Const(at) => (0..capacity).contains(at),
        Expr::Var(_) => true,
        _ => false,
    };
    match key {
        Expr::Const(at) if *at >= 0 => Some((Expr::Const(at / capacity), Expr::Const(at % capacity))),
        Expr::Var(_) => Some((Expr::Const(0), key.clone())),
        Expr::Binary(BinaryOp::Add, IntType::I32, row, position) if is_position(position) => {
            Some((is_row(row)?, (**position).clone()))
        }
        row => Some((is_row(row)?, Expr::Const(0))),
    }
}

/// The element that an arc is about. The position must be a constant: of others it is not known that they are inside
/// of the element.
fn element_of(shape: &QueueData, arc: &ArcData) -> Option<Expr> {
    let (ArcData::Read { place, key, .. } | ArcData::Write { place, key, .. }) = arc else { return None };
    if *place == shape.len {
        return Some(element(key));
    }
    match split(shape, key)? {
        (element, Expr::Const(_)) => Some(element),
        _ => None,
    }
}

/// Whether the guard demands this condition.
fn demands(data: &TransitionData, condition: &Expr) -> bool {
    let Some(guard) = &data.guard else { return false };
    let mut parts = Vec::new();
    conjuncts(guard, &mut parts);
    parts.contains(&condition)
}

/// The element, the variable of the number of messages and what is written to it, where it is read once and written
/// once, in any case.
fn length<'a>(shape: &QueueData, arcs: &[&'a ArcData]) -> Option<(&'a [Expr], Var, &'a Expr)> {
    let mut of_len = arcs.iter().filter(|arc| arc.place() == shape.len);
    let (Some(first), Some(second), None) = (of_len.next(), of_len.next(), of_len.next()) else {
        return None;
    };
    match (first, second) {
        (
            ArcData::Read { key, var, when: None, .. },
            ArcData::Write { key: written, value, when: None, .. },
        ) if key == written => Some((key, *var, value)),
        _ => None,
    }
}

fn as_send(shape: &QueueData, data: &TransitionData, arcs: &[&ArcData]) -> Option<Expr> {
    let (key, var, value) = length(shape, arcs)?;
    let element = element(key);
    if *value != int_op(BinaryOp::Add, Expr::Var(var), Expr::Const(1)) {
        return None;
    }
    let mut written = Vec::new();
    for arc in arcs.iter().filter(|arc| arc.place() != shape.len) {
        let ArcData::Write { place, key, value, when: None } = arc else { return None };
        let (at, position) = split(shape, key)?;
        if at != element || position != Expr::Var(var) || written.contains(place) || value.n_uses(var) > 0 {
            return None;
        }
        written.push(*place);
    }
    let room = int_op(BinaryOp::Lt, Expr::Var(var), Expr::Const(i64::from(shape.capacity)));
    // In the guard, in the number of messages, and in each key.
    let is_plain = demands(data, &room) && data.n_uses(var) == 2 + written.len() && element.n_uses(var) == 0;
    is_plain.then_some(element)
}

/// The element and the end of a queue that a step asks about without changing it.
fn as_question(shape: &QueueData, data: &TransitionData, arcs: &[&ArcData]) -> Option<(Expr, End)> {
    let mut of_len = arcs.iter().filter(|arc| arc.place() == shape.len);
    let (Some(ArcData::Read { key, var, when: None, .. }), None) = (of_len.next(), of_len.next()) else {
        return None;
    };
    let (element, number) = (element(key), Expr::Var(*var));
    if data.n_uses(*var) != 1 {
        return None;
    }
    let mut reads_messages = false;
    for arc in arcs.iter().filter(|arc| arc.place() != shape.len) {
        let ArcData::Read { key, var, when: None, .. } = arc else { return None };
        if data.n_uses(*var) == 0 {
            continue;
        }
        let (at, position) = split(shape, key)?;
        if at != element || position != Expr::Const(0) || element.n_uses(*var) > 0 {
            return None;
        }
        reads_messages = true;
    }
    let capacity = Expr::Const(i64::from(shape.capacity));
    let is_demanded = |op, left: &Expr, right: &Expr| demands(data, &int_op(op, left.clone(), right.clone()));
    let zero = Expr::Const(0);
    if is_demanded(BinaryOp::Lt, &zero, &number) || is_demanded(BinaryOp::Ne, &number, &zero) {
        return Some((element, End::Front));
    }
    let has_room =
        is_demanded(BinaryOp::Lt, &number, &capacity) || is_demanded(BinaryOp::Ne, &number, &capacity);
    (has_room && !reads_messages).then_some((element, End::Room))
}

fn as_receive(shape: &QueueData, data: &TransitionData, arcs: &[&ArcData]) -> Option<Expr> {
    let (key, var, value) = length(shape, arcs)?;
    let element = element(key);
    if *value != int_op(BinaryOp::Sub, Expr::Var(var), Expr::Const(1)) {
        return None;
    }
    let some = int_op(BinaryOp::Lt, Expr::Const(0), Expr::Var(var));
    if !demands(data, &some) || data.n_uses(var) != 2 || element.n_uses(var) > 0 {
        return None;
    }
    let slots = shape.fields.len() * shape.capacity as usize;
    let (mut read, mut written) = (vec![None; slots], vec![None; slots]);
    for arc in arcs.iter().filter(|arc| arc.place() != shape.len) {
        let (ArcData::Read { place, key, when: None, .. } | ArcData::Write { place, key, when: None, .. }) =
            arc
        else {
            return None;
        };
        let (at, Expr::Const(position)) = split(shape, key)? else { return None };
        let field = shape.fields.iter().position(|field| field == place)?;
        let slot = field * shape.capacity as usize + usize::try_from(position).ok()?;
        if at != element {
            return None;
        }
        match arc {
            ArcData::Read { var, .. } if read[slot].is_none() => {
                // It may be used for other things only where it is of the first message.
                let is_behind = position > 0;
                if is_behind && data.n_uses(*var) != 1 || element.n_uses(*var) > 0 {
                    return None;
                }
                read[slot] = Some(*var);
            }
            ArcData::Write { value, .. } if written[slot].is_none() => written[slot] = Some(value),
            _ => return None,
        }
    }
    for field in 0..shape.fields.len() {
        for position in 0..shape.capacity as usize {
            let slot = field * shape.capacity as usize + position;
            let is_last = position + 1 == shape.capacity as usize;
            let is_right = match written[slot]? {
                Expr::Const(0) => is_last,
                Expr::Var(var) => !is_last && read[slot + 1] == Some(*var),
                // What is written is made to fit the cell, which it was read from the like of.
                Expr::Convert(IntType::I32, inner) => {
                    !is_last && matches!(&**inner, Expr::Var(var) if read[slot + 1] == Some(*var))
                }
                _ => false,
            };
            if !is_right {
                return None;
            }
        }
    }
    Some(element)
}
