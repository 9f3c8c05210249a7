//! Which cells of frames may be read before they are written, at each place: the usual backward analysis,
//! function by function.

use pdnet_base::IndexVec;
use pdnet_net::{ArcData, Function, Net, Place, Scope, Transition, TransitionData};

use super::flow::frame_key;

/// The bits of one word.
const BITS: usize = 64;
/// The place is no candidate.
const NONE: u32 = u32::MAX;

/// The result of the analysis.
pub(crate) struct Liveness {
    /// The candidates of each function.
    cells: IndexVec<Function, Vec<Place>>,
    /// The position of a candidate among those of its function.
    position: IndexVec<Place, u32>,
    /// For each place of a frame, a bit for each candidate of its function.
    live: IndexVec<Place, Vec<u64>>,
}

impl Liveness {
    /// Analyses the cells of frames among the candidates.
    pub(crate) fn new(net: &Net, candidates: &[Place]) -> Self {
        let mut cells: IndexVec<Function, Vec<Place>> = IndexVec::filled(Vec::new(), net.functions.len());
        let mut position = IndexVec::filled(NONE, net.places.len());
        for &place in candidates {
            let scope = net.places[place].cells().map(|cells| cells.scope);
            if let (Some(Scope::Frame(function)), NONE) = (scope, position[place]) {
                position[place] = u32::try_from(cells[function].len()).unwrap_or(NONE);
                cells[function].push(place);
            }
        }
        let n_words = |place: Place| match net.places[place].function {
            Some(function) if net.is_frame_place(place) => cells[function].len().div_ceil(BITS),
            _ => 0,
        };
        let live = net.places.indices().map(|place| vec![0; n_words(place)]).collect();
        let mut result = Self { cells, position, live };
        result.run(net);
        result
    }

    fn run(&mut self, net: &Net) {
        let mut into: IndexVec<Place, Vec<Transition>> = IndexVec::filled(Vec::new(), net.places.len());
        let mut queue: Vec<Transition> = net.transitions.indices().collect();
        let mut is_queued: IndexVec<Transition, bool> = IndexVec::filled(true, net.transitions.len());
        let targets: IndexVec<Transition, Option<Place>> =
            net.transitions.iter().map(|data| frame_target(net, data)).collect();
        for (transition, to) in targets.iter_enumerated() {
            if let Some(to) = to {
                into[*to].push(transition);
            }
        }
        let mut before = Vec::new();
        while let Some(transition) = queue.pop() {
            is_queued[transition] = false;
            let data = &net.transitions[transition];
            let Some(from) = data.source() else { continue };
            before.clear();
            match targets[transition] {
                Some(to) => before.extend_from_slice(&self.live[to]),
                None => before.resize(self.live[from].len(), 0),
            }
            for place in own_writes(data) {
                self.set(&mut before, place, false);
            }
            for arc in &data.arcs {
                if let ArcData::Read { place, key, .. } = arc
                    && *key == frame_key()
                {
                    self.set(&mut before, *place, true);
                }
            }
            let mut changed = false;
            for (known, new) in self.live[from].iter_mut().zip(&before) {
                changed |= new & !*known != 0;
                *known |= new;
            }
            if changed {
                for &earlier in &into[from] {
                    if !std::mem::replace(&mut is_queued[earlier], true) {
                        queue.push(earlier);
                    }
                }
            }
        }
    }

    fn set(&self, bits: &mut [u64], place: Place, value: bool) {
        let position = self.position[place] as usize;
        if let Some(word) = bits.get_mut(position / BITS) {
            let bit = 1 << (position % BITS);
            *word = if value { *word | bit } else { *word & !bit };
        }
    }

    /// Whether the cell may be read before it is written by a frame that is there.
    pub(crate) fn is_live(&self, at: Place, cell: Place) -> bool {
        let position = self.position[cell] as usize;
        self.live[at].get(position / BITS).is_some_and(|word| word >> (position % BITS) & 1 == 1)
    }

    /// The cells of its function that may be read before they are written by a frame that is there.
    pub(crate) fn live_at(&self, net: &Net, at: Place) -> impl Iterator<Item = Place> {
        let cells = net.places[at].function.map_or(&[][..], |function| &self.cells[function]);
        cells.iter().copied().filter(move |cell| self.is_live(at, *cell))
    }
}

/// Where the moving frame goes on.
pub(crate) fn frame_target(net: &Net, data: &TransitionData) -> Option<Place> {
    data.arcs.iter().find_map(|arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) && *token == frame_key() => Some(*place),
        _ => None,
    })
}

/// The cells of its own frame that a step writes in any case.
pub(crate) fn own_writes(data: &TransitionData) -> impl Iterator<Item = Place> {
    data.arcs.iter().filter_map(|arc| match arc {
        ArcData::Write { place, key, when: None, .. } if *key == frame_key() => Some(*place),
        _ => None,
    })
}
