//! Several workers on one search for an accepting component; of two, one does better to find edges ahead of the other
//! ([`crate::ahead`]).
//!
//! Each worker does a search of its own for strongly connected components, as [`crate::emptiness`] does, from the initial node on, but
//! follows edges in another order than the others. What they find out they share ([`crate::sets`]): nodes that are
//! strongly connected, components that are complete, and of each component what its nodes and edges have in common. So a worker
//! that comes into a set of nodes that another one has found goes on from those of its nodes that are not done, whoever
//! has seen them first. Bloemen, Laarman and van de Pol, *Multi-core on-the-fly SCC decomposition* (PPoPP 2016); with acceptance sets:
//! Bloemen and van de Pol, *Multi-core SCC-based LTL model checking* (HVC 2016).
//!
//! # Why the answers are the same
//!
//! The *path* of a worker is a sequence of sets. It has come from one to the next along an edge, and has followed no edge into a
//! set that is alive and not on its path. What is united is strongly connected: a worker unites the sets on its path from one on
//! to which an edge leads back.
//!
//! A node is *done* when some worker has followed all its edges: into a component that is dead, or into its own set. For where the
//! edge led to another set, that was put on the path, and the worker goes on with the node only when it is dead or
//! united with that of the node. So where all nodes of a set are done, no edge leads out of it but into dead
//! components: it is a component, and it is dead itself. It follows that a set whose node has an edge into another set that is
//! alive has a node that is not done; all sets that a worker unites are such, since an edge leads from each of them to another one
//! that is united with it. When the set of the initial node is dead, all is done.
//!
//! What the nodes and edges of a set have in common is kept by its root. A worker adds what a node and its edges contribute before
//! the node is done, and only where that is something new; where two sets become one, that of the root that is given up
//! is added before it is. So when a component is dead, all its nodes and edges were added, as in the search of one worker.
//! A node without an edge into its own component adds nothing, for it is a component without a cycle.
//! Without fairness and with weak fairness, what is added can only help: as soon as what is known of a set is enough, there is an
//! accepting run in its component, and the search ends. Under strong fairness a node can spoil it, in which a thread can move; so where
//! it seems to be enough, the nodes that are there are looked at once more, by themselves, and again when the component is
//! complete ([`crate::streett`]), by the worker who has completed it.
//!
//! The nodes of a found component are listed after all workers have ended. Then no union is half done, and the nodes of a set are
//! strongly connected among themselves: the edges that led to a union lie between nodes of the sets that were united.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use pdnet_base::{FxHashMap, OwnLine};
use pdnet_check::{Depth, Fairness, MemoryUse, Progress, StopReason};

use crate::budget::Budget;
use crate::emptiness::{Summary, Witness};
use crate::graph::Graph;
use crate::model::Movers;
use crate::nodes::{Node, NodeTable};
use crate::notes::Notes;
use crate::numbers::Numbers;
use crate::product::{Edge, Expansion, Product};
use crate::sets::{Claim, MOST_WORKERS, Sets, View};
use crate::streett;
use crate::tally::{Takes, Tallies};
use crate::team::{Leaves, Watch, join, lock};

/// What is known of sets is kept in so many tables, by root.
const SHARDS: usize = 64;

/// So long who asked for the search waits between two looks at the others, when it has nothing to do itself.
const PAUSE: Duration = Duration::from_micros(200);

/// What a worker takes is told after so many nodes.
const TOLD: usize = 256;

/// A search by several workers.
pub(crate) struct Cycles {
    fairness: Fairness,
    sets: Sets,
    numbers: Numbers,
    /// What is known of sets, by root.
    shards: [Mutex<FxHashMap<u32, Known>>; SHARDS],
    n_known: OwnLine<AtomicUsize>,
    /// The nodes that a worker was the first to see, and the edges of those of which it was the first to be done with.
    tallies: Tallies,
    /// There is nothing more to be done.
    is_over: AtomicBool,
    /// The answer is known, or will not be.
    is_decided: AtomicBool,
    found: Mutex<Option<Found>>,
    stopped: Mutex<Option<StopReason>>,
}

/// What is known of a set.
#[derive(Clone, Copy, Debug)]
struct Known {
    summary: Summary,
    /// How often something new was added, and when it is looked at by itself.
    n_added: u32,
    look_at: u32,
}

/// What decides.
enum Found {
    /// The automaton accepts everything after this node.
    Prefix(u32),
    /// A run in the set of this node.
    Set(u32),
    /// A run among these nodes.
    Part(Vec<u32>),
}

impl Cycles {
    /// A search by so many workers, with an automaton of so many states.
    pub(crate) fn new(n_workers: usize, n_states: usize, fairness: Fairness) -> Self {
        Self {
            fairness,
            sets: Sets::new(),
            numbers: Numbers::new(n_states),
            shards: std::array::from_fn(|_| Mutex::default()),
            n_known: OwnLine::default(),
            tallies: Tallies::new(n_workers.clamp(1, MOST_WORKERS)),
            is_over: AtomicBool::new(false),
            is_decided: AtomicBool::new(false),
            found: Mutex::new(None),
            stopped: Mutex::new(None),
        }
    }

    /// Whether a worker has seen the node.
    pub(crate) fn has_seen(&self, node: Node) -> bool {
        self.numbers.find(node).is_some_and(|number| self.sets.has_seen(number))
    }

    /// Searches. What is found is given in the numbers of the product.
    pub(crate) fn search(
        &self,
        product: &mut Product<'_, '_>,
        budget: &mut Budget<'_>,
    ) -> Result<Option<Witness>, StopReason> {
        let net = product.graph.model.net;
        let mut graphs: Vec<Graph<'_>> =
            (1..self.tallies.n_workers()).map(|number| product.graph.fork(number)).collect();
        let mut notes = Vec::new();
        std::thread::scope(|scope| {
            let products = product
                .share(&mut graphs, |worker| CommonNodes { search: self, view: self.sets.view(worker) });
            let mut workers =
                products.into_iter().enumerate().map(|(number, product)| Worker::new(self, number, product));
            let Some(mut first) = workers.next() else { return };
            let mut others = Vec::new();
            for mut worker in workers {
                let budget = budget.fork();
                let run = move || {
                    let mut watch = Watch(&self.is_decided);
                    worker.run(&mut budget.with(&mut watch))
                };
                // Fewer workers do as well.
                others.extend(std::thread::Builder::new().spawn_scoped(scope, run).ok());
            }
            notes.push(first.run(budget));
            // Another one may be in the middle of a component that it has completed. Limits hold, and who asked may stop it.
            while !others.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                if let Err(reason) = budget.look(&first.product.progress())
                    && !self.is_decided.swap(true, Ordering::SeqCst)
                {
                    *lock(&self.stopped) = Some(reason);
                }
                std::thread::sleep(PAUSE);
            }
            notes.extend(others.into_iter().map(join));
        });
        notes.iter().for_each(|noted: &Notes| product.notes.join(net, noted));
        let stopped = lock(&self.stopped).take();
        match (lock(&self.found).take(), stopped) {
            (Some(found), _) => self.witness(found, product, budget).map(Some),
            (None, Some(reason)) => Err(reason),
            (None, None) => Ok(None),
        }
    }

    fn witness(
        &self,
        found: Found,
        product: &mut Product<'_, '_>,
        budget: &Budget<'_>,
    ) -> Result<Witness, StopReason> {
        let mut number = |node: u32| product.adopt(self.numbers.get(node), budget);
        Ok(match found {
            Found::Prefix(node) => Witness::Prefix(number(node)?),
            Found::Part(nodes) => {
                Witness::Component(nodes.into_iter().map(number).collect::<Result<_, _>>()?)
            }
            Found::Set(node) => {
                let members = self.sets.view(0).members(node);
                Witness::Component(members.into_iter().map(number).collect::<Result<_, _>>()?)
            }
        })
    }

    /// The answer is known.
    fn decide(&self, found: Found) {
        lock(&self.found).get_or_insert(found);
        self.is_decided.store(true, Ordering::SeqCst);
        self.is_over.store(true, Ordering::SeqCst);
    }

    fn known(&self, root: u32) -> MutexGuard<'_, FxHashMap<u32, Known>> {
        lock(&self.shards[root as usize % SHARDS])
    }

    /// Adds to what is known of the set of a node. All that is known comes back, with whether its nodes should be looked at by
    /// themselves where it seems to be enough. Nothing comes back of a set that is dead.
    fn add(&self, view: &mut View<'_>, node: u32, summary: &Summary) -> Option<(Summary, bool)> {
        loop {
            let root = view.note(node)?;
            let mut table = self.known(root);
            // Who takes a root comes for what is known of it after that, and waits here.
            if !view.is_free_root(root) {
                drop(table);
                std::thread::yield_now();
                continue;
            }
            let known = table.entry(root).or_insert_with(|| {
                self.n_known.fetch_add(1, Ordering::Relaxed);
                Known { summary: Summary::EMPTY, n_added: 0, look_at: 1 }
            });
            let before = known.summary;
            known.summary.merge(summary);
            known.n_added += u32::from(known.summary != before);
            return Some((known.summary, known.n_added >= known.look_at));
        }
    }

    /// Puts off the next look at the nodes of a set.
    fn put_off(&self, view: &mut View<'_>, node: u32) {
        if let Some(root) = view.note(node)
            && let Some(known) = self.known(root).get_mut(&root)
        {
            known.look_at = known.n_added.saturating_mul(2).max(known.n_added + 1);
        }
    }

    /// What is known of the set of a root, which is forgotten.
    fn take(&self, root: u32) -> Option<Summary> {
        let known = self.known(root).remove(&root)?;
        self.n_known.fetch_sub(1, Ordering::Relaxed);
        Some(known.summary)
    }

    pub(crate) fn progress(&self, product: Progress) -> Progress {
        self.tallies.progress(self.takes(), Progress { frontier: 0, ..product })
    }

    /// What it takes for the paths of the workers, and for what is known of nodes.
    fn takes(&self) -> Takes {
        let known = self.n_known.load(Ordering::Relaxed) * 2 * size_of::<(u32, Known)>();
        Takes { waiting: self.tallies.bytes(), nodes: known + self.sets.bytes() + self.numbers.bytes() }
    }

    /// What a search that uses the product takes memory for.
    pub(crate) fn memory(&self, product: MemoryUse) -> MemoryUse {
        self.takes().beside(product)
    }

    fn n_nodes(&self) -> usize {
        self.tallies.n_nodes()
    }
}

/// The nodes as a worker sees them.
struct CommonNodes<'c> {
    search: &'c Cycles,
    view: View<'c>,
}

impl NodeTable for CommonNodes<'_> {
    #[inline]
    fn get(&self, node: u32) -> Node {
        self.search.numbers.get(node)
    }

    /// Whether a node is new is not known before a worker comes to it, and so are limits.
    #[inline]
    fn number<E>(
        &mut self,
        key: Node,
        _: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<(u32, bool)>, E> {
        Ok(self.search.numbers.number(key).map(|number| (number, false)))
    }

    #[inline]
    fn touch(&self, key: Node) -> bool {
        std::hint::black_box(self.search.numbers.guess(key).map(|node| self.view.touch(node)));
        true
    }

    fn progress(&self, product: Progress) -> Progress {
        self.search.progress(product)
    }
}

/// A set on the path of a worker.
struct Root {
    /// The node that it was come to by, or one that it has looked at since.
    node: u32,
    /// So many nodes on the path are in sets before it.
    depth: usize,
    /// The edge that led into it.
    entry: Edge,
    /// What this worker knows of it.
    summary: Summary,
    /// Some edge stays inside.
    has_cycle: bool,
    /// Not all of what it knows was added to what all know, or nobody has looked whether that is enough.
    is_new: bool,
    /// It was just come to, as one node that nobody had seen.
    is_fresh: bool,
}

impl Root {
    /// Adds what is known of others.
    #[inline]
    fn learn(&mut self, other: &Summary) {
        if !self.summary.covers(other) {
            self.summary.merge(other);
            self.is_new = true;
        }
    }

    /// Adds an edge that stays inside.
    #[inline]
    fn add_edge(&mut self, edge: Edge) {
        let before = (self.summary.acceptance, self.summary.moved);
        self.summary.add_edge(edge);
        self.is_new |= (self.summary.acceptance, self.summary.moved) != before;
        self.has_cycle = true;
    }

    /// Joins a set that came after it on the path.
    #[inline]
    fn join(&mut self, later: &Self) {
        self.learn(&later.summary);
        self.add_edge(later.entry);
    }
}

/// A node whose edges are being followed: those from `next` on are left.
struct Frame {
    node: u32,
    first: usize,
    next: usize,
    end: usize,
}

struct Worker<'c, 'p, 'a> {
    search: &'c Cycles,
    number: usize,
    product: Product<'p, 'a, CommonNodes<'c>>,
    roots: Vec<Root>,
    frames: Vec<Frame>,
    edges: Vec<Edge>,
}

impl<'c, 'p, 'a> Worker<'c, 'p, 'a> {
    const fn new(search: &'c Cycles, number: usize, product: Product<'p, 'a, CommonNodes<'c>>) -> Self {
        Self { search, number, product, roots: Vec::new(), frames: Vec::new(), edges: Vec::new() }
    }

    /// Works until the search is over.
    fn run(&mut self, budget: &mut Budget<'_>) -> Notes {
        // Where this worker panics, the others shall not go on.
        let leaves = Leaves(&self.search.is_over);
        if let Err(reason) = self.work(budget)
            && !self.search.is_decided.swap(true, Ordering::SeqCst)
        {
            *lock(&self.search.stopped) = Some(reason);
        }
        drop(leaves);
        self.product.notes
    }

    fn work(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let target = self.product.initial;
        self.follow(Edge { target, acceptance: 0, movers: Movers::NOBODY }, budget)?;
        while let Some(root) = self.roots.last() {
            if self.search.is_over.load(Ordering::Relaxed) {
                return Ok(());
            }
            if self.frames.len() == root.depth {
                self.go_on(budget)?;
                continue;
            }
            let Some(frame) = self.frames.last_mut() else { continue };
            if frame.next == frame.end || self.product.nodes.view.is_done(frame.node) {
                self.finish(budget)?;
                continue;
            }
            let edge = self.edges[frame.next];
            frame.next += 1;
            self.follow(edge, budget)?;
        }
        Ok(())
    }

    /// Follows an edge of the last node, or the one to the initial node.
    #[inline]
    fn follow(&mut self, edge: Edge, budget: &Budget<'_>) -> Result<(), StopReason> {
        let claim = self.product.nodes.view.claim(edge.target);
        match claim {
            Claim::Dead => return Ok(()),
            Claim::OnPath => {
                self.close(edge);
                return Ok(());
            }
            Claim::First => {
                self.search.tallies.of(self.number).add_nodes(1);
                if budget.counts_states() {
                    budget.allow_states(self.search.n_nodes())?;
                }
            }
            Claim::New => {}
        }
        self.roots.push(Root {
            node: edge.target,
            depth: self.frames.len(),
            entry: edge,
            summary: Summary::EMPTY,
            has_cycle: false,
            is_new: false,
            is_fresh: claim == Claim::First,
        });
        Ok(())
    }

    /// An edge back into a set on the path: everything from there on is one set.
    fn close(&mut self, edge: Edge) {
        let all = self.product.automaton.all_acceptance();
        let (search, view) = (self.search, &mut self.product.nodes.view);
        let Some(node) = self.frames.last().map(|frame| frame.node) else { return };
        while !view.are_united(edge.target, node) {
            let Some(last) = self.roots.pop() else { return };
            let Some(root) = self.roots.last_mut() else { return };
            // The node whose edge led from the one to the other is not done, and where to begin to look for one.
            let from = last.depth.checked_sub(1).map_or(root.node, |at| self.frames[at].node);
            view.unite(node, from, |child, parent, view| {
                let both = search.take(child).and_then(|summary| search.add(view, parent, &summary));
                // Together they may be enough, without anything new from here.
                root.is_new |= both.is_some_and(|(summary, _)| summary.is_accepting(all, search.fairness));
            });
            root.join(&last);
        }
        if let Some(root) = self.roots.last_mut() {
            root.add_edge(edge);
        }
    }

    /// No node of the last set is on the path.
    fn go_on(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let view = &mut self.product.nodes.view;
        if let Some(root) = self.roots.last_mut()
            && std::mem::take(&mut root.is_fresh)
        {
            let node = root.node;
            return self.visit(node, budget);
        }
        if let [.., before, last] = &mut *self.roots
            && view.are_united(before.node, last.node)
        {
            // Others have united them.
            before.join(last);
            self.roots.pop();
            return Ok(());
        }
        let Some(root) = self.roots.last_mut() else { return Ok(()) };
        match view.pick(root.node) {
            Some(node) => {
                root.node = node;
                self.visit(node, budget)
            }
            None => self.leave(budget),
        }
    }

    /// Begins to follow the edges of a node of the last set.
    fn visit(&mut self, node: u32, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let first = self.edges.len();
        self.product.depth = Depth::Stack(self.frames.len() as u64);
        if self.product.expand(node, &mut self.edges, budget)? == Expansion::Accepted {
            self.search.decide(Found::Prefix(node));
            return Ok(());
        }
        // The workers shall not all go the same way.
        let edges = &mut self.edges[first..];
        if self.number % 2 == 1 {
            edges.reverse();
        }
        if self.number > 1 && !edges.is_empty() {
            let by = (self.number / 2).wrapping_add(node as usize) % edges.len();
            edges.rotate_left(by);
        }
        self.frames.push(Frame { node, first, next: first, end: self.edges.len() });
        if self.frames.len().is_multiple_of(TOLD) {
            self.search.tallies.of(self.number).set_bytes(self.bytes());
        }
        let enabled = self.product.last_enabled;
        if let Some(root) = self.roots.last_mut() {
            root.learn(&Summary::of_node(enabled));
        }
        Ok(())
    }

    /// All edges of the last node were followed.
    fn finish(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        self.tell(budget)?;
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        self.edges.truncate(frame.first);
        if let Some(root) = self.roots.last_mut() {
            root.node = frame.node;
        }
        if frame.next == frame.end && self.product.nodes.view.finish(frame.node) {
            self.search.tallies.of(self.number).add_edges(frame.end - frame.first);
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>()
            + self.frames.capacity() * size_of::<Frame>()
            + self.roots.capacity() * size_of::<Root>()
            + self.product.nodes.view.bytes()
    }

    /// Lets all know what is new of the last set, and looks whether that decides.
    fn tell(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Some(root) = self.roots.last_mut() else { return Ok(()) };
        if !(root.has_cycle && root.is_new) {
            return Ok(());
        }
        root.is_new = false;
        let (node, own) = (root.node, root.summary);
        let view = &mut self.product.nodes.view;
        let Some((summary, is_due)) = self.search.add(view, node, &own) else { return Ok(()) };
        let all = self.product.automaton.all_acceptance();
        if !summary.is_accepting(all, self.search.fairness) {
            return Ok(());
        }
        if self.search.fairness != Fairness::Strong {
            self.search.decide(Found::Set(node));
        } else if is_due {
            let members = view.members(node);
            let found = streett::refine_nodes(&mut self.product, &members, budget)?;
            self.search.put_off(&mut self.product.nodes.view, node);
            if let Some(part) = found {
                self.search.decide(Found::Part(part));
            }
        }
        Ok(())
    }

    /// All nodes of the last set are done: it is a component.
    fn leave(&mut self, budget: &mut Budget<'_>) -> Result<(), StopReason> {
        let Some(root) = self.roots.pop() else { return Ok(()) };
        let view = &mut self.product.nodes.view;
        // Another worker may have been the first to see it.
        let Some((number, is_known)) = view.end(root.node) else { return Ok(()) };
        let Some(summary) = is_known.then(|| self.search.take(number)).flatten() else { return Ok(()) };
        let all = self.product.automaton.all_acceptance();
        if summary.is_accepting(all, self.search.fairness) {
            self.search.decide(Found::Set(number));
        } else if self.search.fairness == Fairness::Strong && summary.acceptance == all {
            let members = view.members(number);
            let found = streett::refine(&mut self.product, members, &summary, budget)?;
            if let Some(part) = found {
                self.search.decide(Found::Part(part));
            }
        }
        Ok(())
    }
}
