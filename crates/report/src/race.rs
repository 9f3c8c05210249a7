//! A data race in words.

use pdnet_net::{Interpreter, Marking, Net, ObjectKind, Race, Scope};
use pdnet_source::Pos;

use crate::accesses::AccessKind;
use crate::threads::Threads;
use crate::values::cell_name;

/// A data race.
#[derive(Clone, Debug)]
pub(crate) struct RaceData {
    /// The object on which the accesses race, with the thread it belongs to where it is a local.
    pub(crate) object: String,
    /// The two accesses, none of which comes before the other.
    pub(crate) accesses: [RaceAccess; 2],
}

/// One of two accesses that race.
#[derive(Clone, Debug)]
pub(crate) struct RaceAccess {
    /// The thread.
    pub(crate) thread: i64,
    /// The function that the access is in.
    pub(crate) function: String,
    /// Where in the source.
    pub(crate) pos: Option<Pos>,
    /// How.
    pub(crate) kind: AccessKind,
    /// Whether it is an atomic operation.
    pub(crate) is_atomic: bool,
    /// The statement or expression.
    pub(crate) label: String,
}

impl RaceData {
    /// Looks at a race of the marking.
    pub(crate) fn new(net: &Net, threads: &Threads, marking: &Marking, race: &Race) -> Self {
        let interpreter = Interpreter::new(net);
        let access = |firing: &pdnet_net::Firing| {
            let data = &net.transitions[firing.transition];
            let accesses = interpreter.accesses(marking, firing);
            let mut of_cell =
                accesses.iter().filter(|access| access.place == race.place && access.key == race.key);
            RaceAccess {
                thread: firing.thread(),
                function: net.functions[data.function].name.clone(),
                pos: data.pos,
                kind: if of_cell.any(|access| access.writes) { AccessKind::Write } else { AccessKind::Read },
                is_atomic: data.atomic,
                label: data.label.clone(),
            }
        };
        let name = cell_name(net, race.place, &race.key);
        let is_global =
            net.places[race.place].cells().is_none_or(|cells| matches!(cells.scope, Scope::Global));
        let is_block =
            net.part_of(race.place).is_some_and(|(object, _)| matches!(object.kind, ObjectKind::Heap(_)));
        let object = match race.key.first().filter(|_| !is_global && !is_block) {
            Some(&thread) => format!("{name} of {}", threads.describe(thread)),
            None => name,
        };
        Self { object, accesses: [access(&race.first), access(&race.second)] }
    }
}

impl RaceAccess {
    /// The access in words. `place_name` renders a position.
    pub(crate) fn describe(
        &self,
        object: &str,
        threads: &Threads,
        place_name: &dyn Fn(Pos) -> String,
    ) -> String {
        let who = threads.describe(self.thread);
        let at = self.pos.map_or_else(String::new, |pos| format!(" at {}", place_name(pos)));
        let how = match self.kind {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
        };
        let atomically = if self.is_atomic { " by an atomic operation" } else { "" };
        let statement = if self.label.is_empty() { String::new() } else { format!(": {}", self.label) };
        format!("{who} in {}{at} {how} {object}{atomically}{statement}", self.function)
    }
}
