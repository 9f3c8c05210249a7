//! What the workers on a graph share.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pdnet_base::FxHashMap;
use pdnet_check::Progress;
use pdnet_net::Transition;
use pdnet_space::{SharedStore, StateId};

use crate::edges::{Edges, Map, Record};
use crate::model::Model;
use crate::sights::{self, Sight};

/// What the workers on a graph share.
pub(crate) struct Known {
    pub(crate) store: Arc<SharedStore>,
    /// The steps for who sees all that is observed.
    whole: Layer,
    /// Those for who sees less, by sight. Many states have none of their own there.
    pub(super) narrow: [OnceLock<Box<Layer>>; sights::MOST],
    /// The bytes of the steps that the workers remember.
    pub(super) remembered: AtomicUsize,
    /// What reductions did for workers that have ended.
    pub(super) saved: Saved,
}

/// What reductions did for several workers.
#[derive(Debug, Default)]
pub(super) struct Saved {
    /// Nodes of the product, in the last search, from which steps were left out.
    pub(super) reduced: AtomicU64,
    pub(super) forgotten: AtomicU64,
    pub(super) exchanged: AtomicU64,
}

/// The steps from states, for one sight.
pub(super) struct Layer {
    pub(super) edges: Edges,
    /// What has to be noted of states; of most, nothing.
    noted: Mutex<FxHashMap<StateId, Noted>>,
}

impl Layer {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let edges = Edges::new(model.compiled.max_threads(), model.has_partners);
        Self { edges, noted: Mutex::default() }
    }

    pub(super) fn noted(&self) -> MutexGuard<'_, FxHashMap<StateId, Noted>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What has to be noted of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted {
    /// The notable transitions that fire in it.
    pub(crate) transitions: Vec<Transition>,
    /// The first transition of a sequence without end.
    pub(crate) cut: Option<Transition>,
}

impl Known {
    pub(super) fn new(model: &Model<'_>) -> Self {
        let store = SharedStore::empty(model.compiled, model.crew.workers.max(1));
        let narrow = std::array::from_fn(|_| OnceLock::new());
        let remembered = AtomicUsize::new(0);
        Self { store, whole: Layer::new(model), narrow, remembered, saved: Saved::default() }
    }

    /// The edges for who sees all that is observed.
    pub(crate) const fn edges(&self) -> &Edges {
        &self.whole.edges
    }

    /// What has to be noted of states, for who sees all that is observed.
    pub(crate) fn noted(&self) -> MutexGuard<'_, FxHashMap<StateId, Noted>> {
        self.whole.noted()
    }

    /// The steps for a sight. Those for a narrow one must never be taken for all: it has a layer since it was made
    /// ([`super::Graph::sight`]).
    #[inline]
    pub(super) fn layer(&self, sight: Sight) -> &Layer {
        let Some(number) = sight.number() else { return &self.whole };
        self.narrow[number].get().unwrap_or_else(|| unreachable!("sight {number} was not made"))
    }

    /// The sight whose steps from an expanded state are taken for this one.
    #[inline]
    pub(super) fn taken(&self, state: StateId, sight: Sight) -> Sight {
        let is_elsewhere = sight != Sight::WHOLE && self.layer(sight).edges.is_elsewhere(state);
        if is_elsewhere { Sight::WHOLE } else { sight }
    }

    /// What is known of a state that was expanded, by a map of the edges for who sees all.
    #[inline]
    pub(super) fn record<'k>(&'k self, map: &'k Map, state: StateId, sight: Sight) -> Option<Record<'k>> {
        match self.taken(state, sight) {
            Sight::WHOLE => self.edges().find(map, state),
            narrow => self.layer(narrow).edges.get(state),
        }
    }

    fn layers(&self) -> impl Iterator<Item = &Layer> {
        let narrow = self.narrow.iter().filter_map(OnceLock::get).map(|layer| &**layer);
        std::iter::once(&self.whole).chain(narrow)
    }

    fn n_edges(&self) -> usize {
        self.layers().map(|layer| layer.edges.len()).sum()
    }

    pub(super) fn edge_bytes(&self) -> usize {
        self.layers().map(|layer| layer.edges.bytes()).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        self.store.bytes() + self.edge_bytes() + self.remembered.load(Ordering::Relaxed)
    }

    pub(crate) fn progress(&self) -> Progress {
        progress(self.store.len(), self.n_edges(), self.bytes())
    }

    /// Counts what a worker takes for steps that it remembers, instead of what was counted before.
    #[inline]
    pub(super) fn count_bytes(&self, bytes: usize, counted: &mut usize) {
        if bytes != *counted {
            // The sum is never below what this one has added before.
            self.remembered.fetch_add(bytes.wrapping_sub(*counted), Ordering::Relaxed);
            *counted = bytes;
        }
    }
}

fn progress(n_states: usize, n_edges: usize, bytes: usize) -> Progress {
    Progress {
        states: n_states as u64,
        transitions: n_edges as u64,
        frontier: 0,
        memory_bytes: bytes as u64,
        depth: None,
    }
}
