//! Workers who run ahead of a search.
//!
//! A search for an accepting component by one worker spends most of its time on the edges of states that it comes to for the first
//! time. So others find edges in the meantime: of states that the search has seen from afar and told them of, and on from there, depth
//! first, as the search will go: what it needs together was found together then, and lies together. Where the search has a
//! choice, it goes where the edges are known.
//!
//! It stays what it is, node by node: what it tells are hints, which may be lost, come late or be of no use, and nothing depends on who
//! has found the edges of a state. Those who run ahead follow the automaton, too: all states that they come to are those of nodes that
//! the search has to come to, unless it finds what it looks for before.
//!
//! The search itself remains the work of one: between a third and a half of all. So this is for two workers; for more of them there
//! is [`crate::cycles`], where each searches.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdnet_check::StopReason;
use pdnet_logic::Automaton;
use pdnet_space::{Atoms, StateId};

use crate::budget::Budget;
use crate::graph::Graph;
use crate::model::Movers;
use crate::nodes::Node;
use crate::product::Product;
use crate::sights::Sights;
use crate::team::{Leaves, Watch, lock};

/// From so many workers on it is better if each of them searches.
pub(crate) const TOO_MANY: usize = 3;

/// It is worth while for searches so many times smaller than those that others join in another way.
pub(crate) const SOONER: usize = 10;

/// So many nodes are told at a time, unless somebody waits for them.
const BATCH: usize = 32;

/// So many nodes wait, at most; then half of them are dropped.
const MOST: usize = 1 << 18;

/// So often one who has nothing to do looks for something before it sleeps, with so many turns between two looks.
const LOOKS: u32 = 200;
const TURNS: u32 = 8;

/// So long it sleeps.
const PAUSE: Duration = Duration::from_micros(50);

/// What those who run ahead are told.
#[derive(Debug, Default)]
struct Ahead {
    waiting: Mutex<Vec<Node>>,
    n_waiting: AtomicUsize,
    /// Somebody has nothing to do.
    is_idle: AtomicBool,
    /// The bytes of what those who run ahead have before them.
    bytes: AtomicUsize,
    /// The search has ended.
    is_over: AtomicBool,
}

impl Ahead {
    /// Takes the last nodes that were told: most of those before them the search has come to since.
    fn take(&self, nodes: &mut Vec<Node>) -> bool {
        if self.n_waiting.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let mut waiting = lock(&self.waiting);
        let n_left = waiting.len().saturating_sub(BATCH);
        nodes.extend(waiting.drain(n_left..));
        self.n_waiting.store(n_left, Ordering::Relaxed);
        !nodes.is_empty()
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// One who runs ahead.
struct Runner<'r, 'a> {
    ahead: &'r Ahead,
    graph: Graph<'a>,
    automaton: &'r Automaton,
    sights: Sights,
    atoms: Atoms,
    /// The nodes to go on from.
    waiting: Vec<Node>,
    /// The edges of the state at hand.
    edges: Vec<(StateId, Movers)>,
    /// The bytes that were told.
    counted: usize,
}

impl Runner<'_, '_> {
    /// Finds the edges of states until the search has ended, or nothing more can be done here: the search will come to what is in
    /// the way, and say so.
    fn run(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        while !self.ahead.is_over() {
            match self.waiting.pop() {
                Some(node) => self.expand(node, budget)?,
                None => self.await_work(),
            }
        }
        Ok(())
    }

    /// Waits until there is something to do, for a while.
    fn await_work(&mut self) {
        let Self { ahead, waiting, .. } = self;
        for _ in 0..LOOKS {
            if ahead.take(waiting) {
                ahead.is_idle.store(false, Ordering::Relaxed);
                return;
            }
            ahead.is_idle.store(true, Ordering::Relaxed);
            (0..TURNS).for_each(|_| std::hint::spin_loop());
        }
        std::thread::sleep(PAUSE);
    }

    /// Finds the edges of the state of a node, and goes on to those that they lead to; not where somebody else has: who that was
    /// goes on, or tells of them.
    fn expand(&mut self, (state, at): Node, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Self { graph, automaton, sights, atoms, waiting, edges, .. } = self;
        let sight = sights.of(at);
        if !graph.expand(state, sight, budget)? {
            return Ok(());
        }
        let seen = graph.look(state, sight, edges, budget)?;
        let letter = graph.letter(state, &seen, atoms);
        for edge in automaton.successors(at, letter) {
            let sight = sights.of(edge.target);
            let left = edges.iter().rev().filter(|(next, _)| !graph.is_expanded(*next, sight));
            waiting.extend(left.map(|&(next, _)| (next, edge.target)));
        }
        let bytes = waiting.capacity() * size_of::<Node>();
        if bytes != self.counted {
            // The sum is never below what this one has added before.
            self.ahead.bytes.fetch_add(bytes.wrapping_sub(self.counted), Ordering::Relaxed);
            self.counted = bytes;
        }
        Ok(())
    }
}

/// Tells those who run ahead what to do.
#[derive(Debug)]
pub(crate) struct Hints {
    ahead: Arc<Ahead>,
    batch: Vec<Node>,
}

impl Hints {
    /// The search has seen a node from afar, for the first time.
    #[inline]
    pub(crate) fn tell(&mut self, node: Node) {
        self.batch.push(node);
        if self.batch.len() >= BATCH || self.ahead.is_idle.load(Ordering::Relaxed) {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let mut waiting = lock(&self.ahead.waiting);
        // The others have enough to do. The search has come to most of what was told long ago.
        if waiting.len() >= MOST {
            waiting.drain(..MOST / 2);
        }
        waiting.append(&mut self.batch);
        self.ahead.n_waiting.store(waiting.len(), Ordering::Relaxed);
    }

    /// The bytes of what waits.
    pub(crate) fn bytes(&self) -> usize {
        self.ahead.n_waiting.load(Ordering::Relaxed) * size_of::<Node>()
            + self.ahead.bytes.load(Ordering::Relaxed)
    }
}

/// Searches, while others run ahead.
pub(crate) fn search<T>(
    product: &mut Product<'_, '_>,
    budget: &mut Budget<'_>,
    search: impl FnOnce(&mut Product<'_, '_>, &mut Budget<'_>) -> T,
) -> T {
    let ahead = Arc::new(Ahead::default());
    let n_workers = product.graph.model.crew.workers;
    let runners: Vec<Runner<'_, '_>> = (1..n_workers)
        .map(|number| {
            let (automaton, sights, atoms) = product.observed();
            let (graph, waiting, edges) = (product.graph.fork(number), Vec::new(), Vec::new());
            Runner { ahead: &ahead, graph, automaton, sights, atoms, waiting, edges, counted: 0 }
        })
        .collect();
    std::thread::scope(|scope| {
        // However the search ends, the others shall not go on.
        let ends = Leaves(&ahead.is_over);
        for mut runner in runners {
            let (ahead, budget) = (&ahead, budget.fork());
            let run = move || {
                let mut watch = Watch(&ahead.is_over);
                // Where it stops before the end, the search does without it.
                let _ = runner.run(&mut budget.with(&mut watch));
                ahead.is_idle.store(false, Ordering::Relaxed);
            };
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        product.hints = Some(Hints { ahead: Arc::clone(&ahead), batch: Vec::with_capacity(BATCH) });
        let result = search(product, budget);
        product.hints = None;
        drop(ends);
        result
    })
}
