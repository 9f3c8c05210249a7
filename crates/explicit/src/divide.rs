//! Two workers on one search for an accepting component, which is divided by what the automaton states are for.
//!
//! Nodes with an automaton state on no accepting cycle are only to be gone through ([`crate::emptiness`]), in any order and by
//! anybody; such are most of those of formulas as `G (request -> F answer)`. So both workers go through them, each first through those
//! that it has come to itself. Components are to be found only among the other nodes, and that is for one of the two: where
//! somebody has come to such a node for the first time, it searches what can be reached from there, depth first, and leaves nodes of
//! the first kind to who has time for them. Neither has the edges of states to itself: who needs them first finds them.
//!
//! That is for automata that stay in such states for a while. Where the search would be alone with nearly all nodes, the other one finds
//! edges ahead of it instead ([`crate::ahead`]).
//!
//! # Why the answers are the same
//!
//! Each node that can be reached is gone to once: one of the first kind by the worker who has *claimed* it, by an exchange that
//! succeeds once, and who hands it on or expands it; one of the other kind by the search, to which its first finder tells it. What is
//! told is gone through before the search ends: workers end only when none is busy and nothing waits.
//! A component with a node of the first kind has no others and accepts nothing. So the components that matter are those of the
//! graph of the other nodes, and the search finds each of them whole, wherever it begins: it begins with an empty path, when all that
//! can be reached from where it began before through nodes of the other kind is dead.
//! A node has been come to from one that was gone to before, and so has that, back to the initial node: a run to a component leads
//! through nodes that were gone to.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use pdnet_base::{Idx as _, Slots};
use pdnet_check::{Fairness, MemoryUse, Progress, StopReason};
use pdnet_logic::Automaton;

use crate::budget::Budget;
use crate::emptiness::{DEAD, Emptiness, Witness, is_visit, transient_states};
use crate::nodes::{MET, NOT_MET, Node, NodeTable, Visits};
use crate::notes::Notes;
use crate::numbers::Numbers;
use crate::product::{Edge, Expansion, Product, Search};
use crate::tally::{Takes, Tallies, Tally};
use crate::team::{Chores, Leaves, Watch, join, lock};

/// So many workers there are: one of them searches.
const WORKERS: usize = 2;

/// The queue of nodes to go through, which are for both.
const COMMON: usize = 0;

/// The queue of nodes that the search has to begin at.
const SEEDS: usize = 1;

/// So many nodes are gone through together.
const TOGETHER: usize = 32;

/// So many nodes are handed over together.
const BATCH: usize = 64;

/// So many nodes are side by side.
const PAGE: usize = 1 << 13;

/// The longest sleep of a worker that has nothing to do.
const SLEEP: Duration = Duration::from_micros(100);

/// A search that two workers divide.
pub(crate) struct Divided {
    fairness: Fairness,
    /// The automaton states that are on no accepting cycle.
    transient: Vec<bool>,
    numbers: Numbers,
    /// What the search knows of each node; those that are only gone through are dead as soon as they are claimed.
    values: Slots<Box<[AtomicU32]>>,
    page_bytes: AtomicUsize,
    chores: Chores<2>,
    /// The nodes that a worker was the first to go to or to claim, and the edges that it has followed, told when it ends.
    tallies: Tallies,
    /// There is nothing more to be done.
    is_over: AtomicBool,
    found: Mutex<Option<Witness>>,
    stopped: Mutex<Option<StopReason>>,
}

/// Whether a search can be divided: it begins at a node that is only gone through, and many others may be: the automaton can stay there.
pub(crate) fn is_divisible(automaton: &Automaton, n_workers: usize) -> bool {
    let initial = automaton.initial;
    let mut stays = automaton.states[initial].edges.iter().map(|edge| edge.target == initial);
    n_workers == WORKERS && transient_states(automaton)[initial.index()] && stays.any(|stays| stays)
}

impl Divided {
    pub(crate) fn new(automaton: &Automaton, fairness: Fairness) -> Self {
        Self {
            fairness,
            transient: transient_states(automaton),
            numbers: Numbers::new(automaton.states.len()),
            values: Slots::new(),
            page_bytes: AtomicUsize::new(0),
            chores: Chores::new(WORKERS),
            tallies: Tallies::new(WORKERS),
            is_over: AtomicBool::new(false),
            found: Mutex::new(None),
            stopped: Mutex::new(None),
        }
    }

    /// Whether a worker has been at the node, or will be.
    pub(crate) fn has_seen(&self, node: Node) -> bool {
        let value = self.numbers.find(node).and_then(|node| {
            let page = self.values.get(node / PAGE as u32)?;
            Some(page[node as usize % PAGE].load(Ordering::Relaxed))
        });
        value.is_some_and(is_visit)
    }

    /// Searches. What is found is given in the numbers of the product.
    pub(crate) fn search(
        &self,
        product: &mut Product<'_, '_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let net = product.graph.model.net;
        let automaton = product.automaton;
        let mut graphs = vec![product.graph.fork(1)];
        let mut notes = Vec::new();
        std::thread::scope(|scope| {
            let is_limited = budget.counts_states();
            let products = product.share(&mut graphs, |number| DividedNodes::new(self, number, is_limited));
            let mut workers = products.into_iter().map(|product| Worker {
                all: self,
                product,
                edges: Vec::new(),
                nodes: Vec::new(),
            });
            let (Some(mut searcher), Some(mut other)) = (workers.next(), workers.next()) else { return };
            let initial = searcher.product.initial;
            searcher.product.nodes.defer(initial);
            let fork = budget.fork();
            let help = move || {
                let mut watch = Watch(&self.is_over);
                other.run(None, &mut fork.with(&mut watch))
            };
            let helper = std::thread::Builder::new().spawn_scoped(scope, help).ok();
            if helper.is_none() {
                // One worker does as well.
                self.chores.rest();
            }
            notes.push(searcher.run(Some(Emptiness::new(automaton, self.fairness)), budget));
            notes.extend(helper.map(join));
        });
        notes.iter().for_each(|noted: &Notes| product.notes.join(net, noted));
        let mut number = |node: u32| product.adopt(self.numbers.get(node), budget);
        match lock(&self.found).take() {
            Some(Witness::Prefix(node)) => Ok(Some(Witness::Prefix(number(node)?))),
            Some(Witness::Component(nodes)) => {
                Ok(Some(Witness::Component(nodes.into_iter().map(number).collect::<Result<_, _>>()?)))
            }
            None => lock(&self.stopped).take().map_or(Ok(None), Err),
        }
    }

    /// The answer is known.
    fn decide(&self, witness: Witness) {
        lock(&self.found).get_or_insert(witness);
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub(crate) fn progress(&self, product: Progress) -> Progress {
        self.tallies.progress(self.takes(), Progress { frontier: 0, ..product })
    }

    /// What a search that uses the product takes memory for.
    pub(crate) fn memory(&self, product: MemoryUse) -> MemoryUse {
        self.takes().beside(product)
    }

    /// What it takes for nodes that wait, and for what is known of nodes.
    fn takes(&self) -> Takes {
        let values = self.values.bytes() + self.page_bytes.load(Ordering::Relaxed);
        Takes { waiting: self.tallies.bytes() + self.chores.bytes(), nodes: values + self.numbers.bytes() }
    }

    fn n_nodes(&self) -> usize {
        self.tallies.n_nodes()
    }

    fn page(&self, page: u32) -> &[AtomicU32] {
        self.values.get(page).unwrap_or_else(|| {
            self.page_bytes.fetch_add(PAGE * size_of::<AtomicU32>(), Ordering::Relaxed);
            self.values.set(page, (0..PAGE).map(|_| AtomicU32::new(NOT_MET)).collect())
        })
    }
}

/// The nodes as a worker sees them.
struct DividedNodes<'d> {
    all: &'d Divided,
    tally: &'d Tally,
    /// Whether there may be no more than so many.
    is_limited: bool,
    /// The values that it has looked at.
    pages: Vec<&'d [AtomicU32]>,
    /// The nodes that it has claimed and not yet gone through.
    claimed: VecDeque<u32>,
    /// Those that the search has to begin at, as far as they were not handed over.
    seeds: Vec<u32>,
}

impl<'d> DividedNodes<'d> {
    fn new(all: &'d Divided, number: usize, is_limited: bool) -> Self {
        let tally = all.tallies.of(number);
        Self { all, tally, is_limited, pages: Vec::new(), claimed: VecDeque::new(), seeds: Vec::new() }
    }

    /// The value of a node. There is room for all that were numbered.
    #[inline]
    fn value_of(&self, node: u32) -> &'d AtomicU32 {
        let (page, at) = (node as usize / PAGE, node as usize % PAGE);
        match self.pages.get(page) {
            Some(values) => &values[at],
            None => &self.all.page(node / PAGE as u32)[at],
        }
    }

    /// Remembers where values are.
    #[cold]
    fn learn(&mut self, node: u32) {
        while self.pages.len() <= node as usize / PAGE {
            #[expect(clippy::cast_possible_truncation, reason = "nodes are numbered in 32 bits")]
            self.pages.push(self.all.page(self.pages.len() as u32));
        }
    }

    /// Gives a value to a node that nobody has met; false where somebody has.
    #[inline]
    fn meet(&self, node: u32, value: u32) -> bool {
        let word = self.value_of(node);
        word.load(Ordering::Relaxed) == NOT_MET
            && word.compare_exchange(NOT_MET, value, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// One more node that this worker is the first to go to.
    #[inline]
    fn count(&self) {
        self.tally.add_nodes(1);
    }

    /// The search has to begin at a node.
    #[inline]
    fn begin_at(&mut self, node: u32) {
        if self.meet(node, MET) {
            self.seeds.push(node);
        }
    }

    /// Nodes to go through: the newest of its own, or some that were handed over.
    fn next(&mut self, nodes: &mut Vec<u32>) {
        nodes.clear();
        if self.claimed.is_empty() {
            self.claimed.extend(self.all.chores.take(COMMON).into_iter().flatten());
        }
        let n_left = self.claimed.len().saturating_sub(TOGETHER);
        nodes.extend(self.claimed.drain(n_left..));
        self.share();
    }

    /// Hands some nodes over, those that have waited longest, where the other worker has nothing to do, or may come to that.
    #[inline]
    fn share(&mut self) {
        let chores = &self.all.chores;
        let n_kept = if chores.n_busy() < WORKERS { 1 } else { 2 * BATCH };
        if self.claimed.len() > n_kept && chores.n_waiting(COMMON) == 0 {
            let n_given = BATCH.min(self.claimed.len().div_ceil(2));
            chores.put(COMMON, self.claimed.drain(..n_given).collect());
        }
    }

    /// Hands all over to the search that it has to begin at.
    fn tell(&mut self) {
        if !self.seeds.is_empty() {
            self.all.chores.put(SEEDS, std::mem::take(&mut self.seeds));
        }
    }

    /// Lets the other one know how much memory it takes.
    fn tell_bytes(&self) {
        let bytes = (self.claimed.capacity() + self.seeds.capacity()) * size_of::<u32>()
            + self.pages.capacity() * size_of::<&[AtomicU32]>();
        self.tally.set_bytes(bytes);
    }

    /// Whether there may be as many nodes as there are.
    fn allow(&self, budget: &Budget<'_>) -> Result<(), StopReason> {
        if self.is_limited { budget.allow_states(self.all.n_nodes()) } else { Ok(()) }
    }
}

impl NodeTable for DividedNodes<'_> {
    #[inline]
    fn get(&self, node: u32) -> Node {
        self.all.numbers.get(node)
    }

    /// Whether a node is new is not known before a worker comes to it, and so it counts only then.
    #[inline]
    fn number<E>(
        &mut self,
        key: Node,
        allow: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<(u32, bool)>, E> {
        if self.is_limited {
            allow(self.all.n_nodes())?;
        }
        let number = self.all.numbers.number(key);
        if let Some(node) = number
            && node as usize / PAGE >= self.pages.len()
        {
            self.learn(node);
        }
        Ok(number.map(|number| (number, false)))
    }

    #[inline]
    fn touch(&self, key: Node) -> bool {
        let value = self.all.numbers.guess(key).and_then(|node| {
            let values = self.pages.get(node as usize / PAGE)?;
            Some(values[node as usize % PAGE].load(Ordering::Relaxed))
        });
        value.is_none_or(|value| value <= MET)
    }

    fn progress(&self, product: Progress) -> Progress {
        self.all.progress(product)
    }
}

impl Visits for DividedNodes<'_> {
    const DEFERS: bool = true;

    #[inline]
    fn value(&self, node: u32) -> u32 {
        self.value_of(node).load(Ordering::Relaxed)
    }

    #[inline]
    fn set_value(&mut self, node: u32, value: u32) {
        let word = self.value_of(node);
        if !is_visit(word.load(Ordering::Relaxed)) {
            self.count();
        }
        word.store(value, Ordering::Relaxed);
    }

    /// Claims a node that is only to be gone through.
    #[inline]
    fn defer(&mut self, node: u32) {
        if self.meet(node, DEAD) {
            self.count();
            self.claimed.push_back(node);
            self.share();
        }
    }

    #[inline]
    fn is_time_to_pause(&self, _: usize) -> bool {
        self.all.is_over.load(Ordering::Relaxed)
    }
}

struct Worker<'d, 'p, 'a> {
    all: &'d Divided,
    product: Product<'p, 'a, DividedNodes<'d>>,
    edges: Vec<Edge>,
    /// The nodes that are gone through.
    nodes: Vec<u32>,
}

impl Worker<'_, '_, '_> {
    /// Works until the search is over.
    fn run(&mut self, emptiness: Option<Emptiness>, budget: &mut Budget<'_>) -> Notes {
        // Where this worker panics, the other one shall not wait for it.
        let leaves = Leaves(&self.all.is_over);
        if let Err(reason) = self.work(emptiness, budget)
            && !self.all.is_over.load(Ordering::SeqCst)
        {
            lock(&self.all.stopped).get_or_insert(reason);
        }
        self.product.nodes.tally.set_edges(self.product.n_edges);
        drop(leaves);
        self.product.notes
    }

    /// The one who searches has something to search with.
    fn work(&mut self, mut emptiness: Option<Emptiness>, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        while !self.all.is_over.load(Ordering::Relaxed) {
            if let Some(emptiness) = &mut emptiness
                && let Some(seed) = self.next_seed()
            {
                let found = emptiness.search_from(&mut self.product, seed, budget)?;
                if let Search::Ended(Some(witness)) = found {
                    self.all.decide(witness);
                }
                self.product.nodes.allow(budget)?;
                continue;
            }
            self.product.nodes.next(&mut self.nodes);
            self.product.nodes.tell_bytes();
            if !self.nodes.is_empty() {
                self.go_through_all(emptiness.is_some(), budget)?;
            } else {
                self.product.nodes.tell();
                self.all.chores.rest();
                if !self.await_work(emptiness.is_some(), budget)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A node that the search has to begin at.
    fn next_seed(&mut self) -> Option<u32> {
        let nodes = &mut self.product.nodes;
        if nodes.seeds.is_empty() {
            nodes.seeds = self.all.chores.take(SEEDS)?;
        }
        nodes.seeds.pop()
    }

    /// Goes through the nodes at hand. The edges of their states are found together.
    fn go_through_all(&mut self, is_searcher: bool, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Self { product, nodes, .. } = self;
        let Product { graph, nodes: table, sights, .. } = product;
        let states = nodes.iter().map(|&node| table.get(node)).map(|(state, at)| (state, sights.of(at)));
        graph.expand_all(states, budget)?;
        (0..self.nodes.len()).try_for_each(|at| self.go_through(self.nodes[at], is_searcher, budget))
    }

    /// Goes through a node.
    fn go_through(
        &mut self,
        node: u32,
        is_searcher: bool,
        budget: &mut Budget<'_>,
    ) -> Result<(), StopReason> {
        self.edges.clear();
        if self.product.expand(node, &mut self.edges, budget)? == Expansion::Accepted {
            self.all.decide(Witness::Prefix(node));
            return Ok(());
        }
        let nodes = &mut self.product.nodes;
        for edge in &self.edges {
            if self.all.transient[nodes.get(edge.target).1.index()] {
                nodes.defer(edge.target);
            } else {
                nodes.begin_at(edge.target);
            }
        }
        nodes.allow(budget)?;
        // Who searches may have nothing else to do.
        let is_wanted = !is_searcher && (nodes.seeds.len() >= BATCH || self.all.chores.n_busy() < WORKERS);
        if is_wanted {
            nodes.tell();
        }
        Ok(())
    }

    /// Waits until there is something to do; false where there will be nothing.
    fn await_work(&self, is_searcher: bool, budget: &mut Budget<'_>) -> Result<bool, StopReason> {
        let mut sleep = Duration::from_micros(1);
        let Divided { is_over, chores, .. } = self.all;
        loop {
            if is_over.load(Ordering::SeqCst) || chores.are_done() {
                return Ok(false);
            }
            if chores.n_waiting(COMMON) > 0 || is_searcher && chores.n_waiting(SEEDS) > 0 {
                chores.go_on();
                return Ok(true);
            }
            budget.look(&self.product.progress())?;
            std::thread::sleep(sleep);
            sleep = (sleep * 2).min(SLEEP);
        }
    }
}
