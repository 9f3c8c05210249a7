//! Several workers on one search for a bad prefix.
//!
//! They share the nodes that are to be expanded, the oldest first, and of each node from where it was come to and who moved:
//! that is set once, by the worker who then hands it on. So each node that can be reached is expanded once, and
//! the answer is that of [`crate::prefix`]; but with several workers, a run need not be a shortest one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use pdnet_base::Slots;
use pdnet_check::{MemoryUse, Progress, StopReason, Trace};

use crate::budget::Budget;
use crate::graph::Graph;
use crate::lasso::{firings, prefix_end};
use crate::model::Movers;
use crate::nodes::{Node, NodeTable};
use crate::notes::Notes;
use crate::numbers::Numbers;
use crate::product::{Edge, Expansion, Product};
use crate::tally::{Takes, Tallies};
use crate::team::{Chores, Leaves, Watch, join, lock};

/// So many nodes are handed over together.
const BATCH: usize = 64;

/// So many nodes are side by side.
const PAGE: usize = 1 << 11;

/// The longest sleep of a worker that has nothing to do.
const SLEEP: Duration = Duration::from_micros(500);

/// Is set where it is known from where a node was come to; below it are who moved and the number of the other node.
const MET: u64 = 1 << 63;

/// A search by several workers.
pub(crate) struct Sweep {
    numbers: Numbers,
    /// From where each node was come to.
    origins: Slots<Box<[AtomicU64]>>,
    chores: Chores<1>,
    /// The bytes of the pages of origins.
    page_bytes: AtomicUsize,
    /// The nodes that a worker was the first to meet, and its edges.
    tallies: Tallies,
    /// There is nothing more to be done.
    is_over: AtomicBool,
    /// The node after which the automaton accepts everything.
    found: Mutex<Option<u32>>,
    stopped: Mutex<Option<StopReason>>,
}

impl Sweep {
    /// A search by so many workers, with an automaton of so many states.
    pub(crate) fn new(n_workers: usize, n_states: usize) -> Self {
        Self {
            numbers: Numbers::new(n_states),
            origins: Slots::new(),
            chores: Chores::new(n_workers),
            page_bytes: AtomicUsize::new(0),
            tallies: Tallies::new(n_workers),
            is_over: AtomicBool::new(false),
            found: Mutex::new(None),
            stopped: Mutex::new(None),
        }
    }

    /// Searches.
    pub(crate) fn search(
        &self,
        product: &mut Product<'_, '_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Trace>, StopReason> {
        let net = product.graph.model.net;
        let mut graphs: Vec<Graph<'_>> =
            (1..self.tallies.n_workers()).map(|number| product.graph.fork(number)).collect();
        let mut notes = Vec::new();
        std::thread::scope(|scope| {
            let products = product.share(&mut graphs, |_| SweptNodes(self));
            let mut workers = products.into_iter().enumerate();
            let Some((_, mut first)) = workers.next() else { return };
            self.meet(first.initial, first.initial, Movers::NOBODY);
            self.tallies.of(0).add_nodes(1);
            self.chores.put(0, vec![first.initial]);
            let mut others = Vec::new();
            for (number, mut product) in workers {
                let budget = budget.fork();
                let run = move || {
                    let mut watch = Watch(&self.is_over);
                    self.run(&mut product, number, &mut budget.with(&mut watch))
                };
                match std::thread::Builder::new().spawn_scoped(scope, run) {
                    Ok(other) => others.push(other),
                    // Fewer workers do as well.
                    Err(_) => self.chores.rest(),
                }
            }
            notes.push(self.run(&mut first, 0, budget));
            notes.extend(others.into_iter().map(join));
        });
        notes.iter().for_each(|noted: &Notes| product.notes.join(net, noted));
        let found = lock(&self.found).take();
        if let Some(node) = found {
            return Ok(Some(self.trace(node, product)));
        }
        lock(&self.stopped).take().map_or(Ok(None), Err)
    }

    pub(crate) fn progress(&self, product: Progress) -> Progress {
        let frontier = (self.chores.n_waiting(0) * BATCH) as u64;
        self.tallies.progress(self.takes(), Progress { frontier, depth: None, ..product })
    }

    /// What it takes for nodes that wait, and for what is known of nodes.
    fn takes(&self) -> Takes {
        let origins = self.origins.bytes() + self.page_bytes.load(Ordering::Relaxed);
        Takes { waiting: self.chores.bytes(), nodes: origins + self.numbers.bytes() }
    }

    /// What a search that uses the product takes memory for.
    pub(crate) fn memory(&self, product: MemoryUse) -> MemoryUse {
        self.takes().beside(product)
    }

    #[inline]
    fn origin(&self, node: u32) -> &AtomicU64 {
        let page = node / PAGE as u32;
        let page = self.origins.get(page).unwrap_or_else(|| {
            self.page_bytes.fetch_add(PAGE * size_of::<AtomicU64>(), Ordering::Relaxed);
            self.origins.set(page, (0..PAGE).map(|_| AtomicU64::new(0)).collect())
        });
        &page[node as usize % PAGE]
    }

    /// Comes to a node from another one; true where nobody did before.
    #[inline]
    fn meet(&self, node: u32, from: u32, movers: Movers) -> bool {
        let origin = self.origin(node);
        if origin.load(Ordering::Relaxed) != 0 {
            return false;
        }
        let [thread, partner] = movers.bytes();
        let word = MET | u64::from(thread) << 40 | u64::from(partner) << 32 | u64::from(from);
        origin.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Works until the search is over.
    fn run(
        &self,
        product: &mut Product<'_, '_, SweptNodes<'_>>,
        number: usize,
        budget: &mut Budget<'_>,
    ) -> Notes {
        // Where this worker panics, the others shall not wait for it.
        let leaves = Leaves(&self.is_over);
        if let Err(reason) = self.work(product, number, budget)
            && !self.is_over.load(Ordering::SeqCst)
        {
            lock(&self.stopped).get_or_insert(reason);
        }
        drop(leaves);
        product.notes
    }

    fn work(
        &self,
        product: &mut Product<'_, '_, SweptNodes<'_>>,
        number: usize,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        let (mut edges, mut met): (Vec<Edge>, Vec<u32>) = (Vec::new(), Vec::new());
        let tally = self.tallies.of(number);
        loop {
            while let Some(batch) = self.chores.take(0) {
                for node in batch {
                    if self.is_over.load(Ordering::Relaxed) {
                        return Ok(());
                    }
                    edges.clear();
                    if product.expand(node, &mut edges, budget)? == Expansion::Accepted {
                        lock(&self.found).get_or_insert(node);
                        return Ok(());
                    }
                    let n_before = met.len();
                    met.extend(
                        edges
                            .iter()
                            .filter(|edge| self.meet(edge.target, node, edge.movers))
                            .map(|edge| edge.target),
                    );
                    tally.add_nodes(met.len() - n_before);
                    tally.set_edges(product.n_edges);
                    if budget.counts_states() {
                        budget.allow_states(self.tallies.n_nodes())?;
                    }
                    if met.len() >= BATCH {
                        self.chores.put(0, std::mem::take(&mut met));
                    }
                }
                // Others may wait for what this one has found.
                if !met.is_empty() && self.chores.n_waiting(0) < self.tallies.n_workers() {
                    self.chores.put(0, std::mem::take(&mut met));
                }
            }
            if !met.is_empty() {
                self.chores.put(0, std::mem::take(&mut met));
                continue;
            }
            self.chores.rest();
            if !self.await_work(product, budget)? {
                return Ok(());
            }
        }
    }

    /// Waits until there is something to do; false where there will be nothing.
    fn await_work(
        &self,
        product: &Product<'_, '_, SweptNodes<'_>>,
        budget: &mut Budget<'_>,
    ) -> Result<bool, StopReason> {
        let mut sleep = Duration::from_micros(1);
        loop {
            if self.is_over.load(Ordering::SeqCst) || self.chores.are_done() {
                return Ok(false);
            }
            if self.chores.n_waiting(0) > 0 {
                self.chores.go_on();
                return Ok(true);
            }
            budget.look(&product.progress())?;
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(SLEEP);
        }
    }

    /// The run to a node.
    fn trace(&self, node: u32, product: &mut Product<'_, '_>) -> Trace {
        let mut path = Vec::new();
        let mut at = node;
        loop {
            let word = self.origin(at).load(Ordering::Acquire);
            #[expect(clippy::cast_possible_truncation, reason = "made of a number and two bytes")]
            let (from, movers) = (word as u32, Movers::from_bytes([(word >> 40) as u8, (word >> 32) as u8]));
            // The initial node is the only one that was come to from itself.
            if from == at {
                break;
            }
            let (state, to) = (self.numbers.get(from), self.numbers.get(at).0);
            path.push(((state.0, product.sights.of(state.1)), movers, to));
            at = from;
        }
        path.reverse();
        Trace { prefix: firings(product.graph, &path), end: prefix_end(&path) }
    }
}

/// The nodes as a worker sees them.
struct SweptNodes<'s>(&'s Sweep);

impl NodeTable for SweptNodes<'_> {
    #[inline]
    fn get(&self, node: u32) -> Node {
        self.0.numbers.get(node)
    }

    /// Whether a node is new is seen when it is met, and so are limits.
    #[inline]
    fn number<E>(
        &mut self,
        key: Node,
        _: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<(u32, bool)>, E> {
        Ok(self.0.numbers.number(key).map(|number| (number, false)))
    }

    #[inline]
    fn touch(&self, key: Node) -> bool {
        let node = self.0.numbers.guess(key);
        std::hint::black_box(node.map(|node| self.0.origin(node).load(Ordering::Relaxed)));
        true
    }

    fn progress(&self, product: Progress) -> Progress {
        self.0.progress(product)
    }
}
