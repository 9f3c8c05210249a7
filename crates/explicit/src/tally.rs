//! What the workers of a search for cycles let each other know of how far they are.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pdnet_base::OwnLine;
use pdnet_check::{MemoryUse, Progress};

/// What one worker lets the others know. Only it writes here.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    nodes: AtomicUsize,
    edges: AtomicU64,
    bytes: AtomicUsize,
}

impl Tally {
    /// More nodes of which it was the first.
    #[inline]
    pub(crate) fn add_nodes(&self, n_nodes: usize) {
        self.nodes.store(self.nodes.load(Ordering::Relaxed) + n_nodes, Ordering::Relaxed);
    }

    /// More edges that it has followed.
    #[inline]
    pub(crate) fn add_edges(&self, n_edges: usize) {
        self.edges.store(self.edges.load(Ordering::Relaxed) + n_edges as u64, Ordering::Relaxed);
    }

    /// All edges that it has followed.
    #[inline]
    pub(crate) fn set_edges(&self, n_edges: u64) {
        self.edges.store(n_edges, Ordering::Relaxed);
    }

    /// What it takes memory for at the moment.
    pub(crate) fn set_bytes(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// What all workers let each other know.
#[derive(Debug)]
pub(crate) struct Tallies(Vec<OwnLine<Tally>>);

impl Tallies {
    pub(crate) fn new(n_workers: usize) -> Self {
        Self((0..n_workers).map(|_| OwnLine::default()).collect())
    }

    /// That of a worker.
    #[inline]
    pub(crate) fn of(&self, worker: usize) -> &Tally {
        &self.0[worker]
    }

    pub(crate) fn n_workers(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.0.iter().map(|tally| tally.nodes.load(Ordering::Relaxed)).sum()
    }

    /// What the workers take memory for themselves.
    pub(crate) fn bytes(&self) -> usize {
        self.0.iter().map(|tally| tally.bytes.load(Ordering::Relaxed)).sum()
    }

    /// How far the search is that uses the product and takes this much memory beside it.
    pub(crate) fn progress(&self, takes: Takes, product: Progress) -> Progress {
        Progress {
            states: self.n_nodes() as u64,
            transitions: self.0.iter().map(|tally| tally.edges.load(Ordering::Relaxed)).sum(),
            memory_bytes: product.memory_bytes + (takes.waiting + takes.nodes) as u64,
            ..product
        }
    }
}

/// What a search takes memory for beside the product, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Takes {
    /// For what waits to be done.
    pub(crate) waiting: usize,
    /// For what is known of nodes.
    pub(crate) nodes: usize,
}

impl Takes {
    /// It and what the product takes memory for.
    pub(crate) fn beside(self, product: MemoryUse) -> MemoryUse {
        let (waiting, nodes) = (product.waiting + self.waiting as u64, product.nodes + self.nodes as u64);
        MemoryUse { waiting, nodes, ..product }
    }
}
