//! What all searches of a net ask of it, and who moves on a step.

use pdnet_base::IndexVec;
use pdnet_check::StopReason;
use pdnet_net::{Action, Expr, Net, Transition};
use pdnet_space::{Compiled, Step, Symmetry, ThreadSet};

use crate::notes;
use crate::{Crew, Explicit, Order};

/// A net, compiled, with what every search asks about its transitions.
pub(crate) struct Model<'a> {
    pub(crate) net: &'a Net,
    pub(crate) compiled: &'a Compiled,
    pub(crate) notable: IndexVec<Transition, bool>,
    /// Some run may be removed by a failed assumption.
    pub(crate) has_assumptions: bool,
    /// Some step moves two threads.
    pub(crate) has_partners: bool,
    /// Whether searches may leave out steps.
    pub(crate) reduces: bool,
    /// Whether that depends on the state of the automaton.
    pub(crate) is_guided: bool,
    /// Whether searches for finite runs may forget values.
    pub(crate) forgets: bool,
    /// Whether searches may exchange threads.
    pub(crate) exchanges: bool,
    /// So many steps a cycle may have that has to be gone along more than once for that.
    pub(crate) most_unrolled: usize,
    /// Whether such searches walk through atomic sections.
    pub(crate) through_sections: bool,
    pub(crate) crew: Crew,
    /// Whether the order of a search is that of SPIN's: of the steps of a state those of the newest thread come first.
    pub(crate) newest_first: bool,
}

impl<'a> Model<'a> {
    pub(crate) fn new(net: &'a Net, compiled: &'a Compiled, engine: &Explicit) -> Self {
        let notable =
            net.transitions.indices().map(|transition| notes::is_notable(net, transition)).collect();
        let has_assumptions = net.transitions.iter().any(|data| data.action == Action::AssumeFail);
        let has_partners = net.transitions.iter().any(|data| net.moves_partner(data));
        let Explicit {
            stubborn: reduces,
            guided: is_guided,
            forget: forgets,
            symmetry: exchanges,
            most_unrolled,
            through_sections,
            crew,
            order,
            ..
        } = *engine;
        Self {
            net,
            compiled,
            notable,
            has_assumptions,
            has_partners,
            reduces,
            is_guided,
            forgets,
            exchanges,
            most_unrolled,
            through_sections,
            crew,
            newest_first: order == Order::Depth,
        }
    }

    /// The exchange of threads for a search that evaluates these atoms, if there is one.
    pub(crate) fn symmetry<'e>(&self, atoms: impl IntoIterator<Item = &'e Expr> + Clone) -> Option<Symmetry> {
        let symmetry =
            if self.exchanges { Symmetry::new(self.net, self.compiled, atoms)? } else { return None };
        Some(if self.newest_first { symmetry.ascending() } else { symmetry })
    }
}

/// Who moves on an edge: a thread, and maybe another one with it, by their numbers in the state as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Movers {
    thread: u8,
    partner: u8,
}

/// The number of no thread.
const NO_THREAD: u8 = u8::MAX;

impl Movers {
    /// On an edge on which no thread moves, because the state repeats.
    pub(crate) const NOBODY: Self = Self { thread: NO_THREAD, partner: NO_THREAD };

    /// A thread that moves by itself.
    #[inline]
    pub(crate) const fn alone(thread: u8) -> Self {
        Self { thread, partner: NO_THREAD }
    }

    #[inline]
    pub(crate) const fn from_bytes([thread, partner]: [u8; 2]) -> Self {
        Self { thread, partner }
    }

    #[inline]
    pub(crate) const fn bytes(self) -> [u8; 2] {
        [self.thread, self.partner]
    }

    /// Those of a step.
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 255 threads")]
    pub(crate) fn of(step: &Step<'_>) -> Self {
        Self { thread: step.thread as u8, partner: step.partner.map_or(NO_THREAD, |partner| partner as u8) }
    }

    /// Whether the thread that moves, not its partner, is one of these.
    pub(crate) fn is_of(self, threads: ThreadSet) -> bool {
        threads.contains(usize::from(self.thread))
    }

    /// The thread that moves, not its partner.
    pub(crate) const fn thread(self) -> u8 {
        self.thread
    }

    /// As a set.
    #[inline]
    pub(crate) fn set(self) -> ThreadSet {
        let mut set = ThreadSet::NONE;
        for thread in [self.thread, self.partner] {
            if thread != NO_THREAD {
                set.insert(usize::from(thread));
            }
        }
        set
    }
}

/// The reason to stop where numbers of states are used up.
pub(crate) fn full() -> StopReason {
    StopReason::States(u64::from(u32::MAX))
}
