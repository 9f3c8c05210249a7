//! Sets of nodes that are strongly connected, found by several workers at once.
//!
//! Bloemen, Laarman and van de Pol, *Multi-core on-the-fly SCC decomposition* (PPoPP 2016). What is here is the structure that the
//! workers share; the search is in [`crate::cycles`].
//!
//! A node that was seen is in one set. Sets are united and never parted; a set is a tree whose root stands for it, and of two
//! roots the one with the smaller number stays one. Of a set it is known which workers have it on their paths. Its nodes are in
//! a ring, out of which those are taken that are *done*: when all are, the set is a component, and it is *dead*. A second
//! ring keeps all of them.
//!
//! # Why it is right
//!
//! *Trees.* A root is *taken* by the one worker who is about to put it under another node, which has a smaller number. So there are
//! no cycles, and each root is put under another node once. Worker bits are added to roots only, by an exchange that fails where
//! it is not one any more; whoever puts a root under another node adds its bits there afterwards. For a moment a worker may
//! miss its own bit in a set that it has on its path. Then it enters the set once more, which is superfluous and does no harm.
//!
//! *Rings.* Two rings become one by exchanging what comes after one node of each, which their worker has locked: a locked node is not
//! done, and only one who has it locked changes what comes after a node that is not done. After a node that is done, others that are done
//! are left out, and nothing else. So from each node of a set one comes to all those of its ring that are not done; where a node
//! that is done comes after itself, there are none. Each root is taken once and its ring is joined then, so that
//! two rings that are joined are two: the unions that were made are the edges of a forest. Nodes are unlocked after
//! the root was put under the other node: a ring in which all are done is that of one tree.
//!
//! *Nobody waits forever.* A worker locks a node of the ring of the root that it has taken, and then one of the other ring. Before
//! rings are joined, the least number in the ring of a root is its own. A worker that waits for another one waits in a ring
//! of a number smaller than that of the root that it has taken, and who keeps it waiting there has taken a root of that
//! ring: so no number of a chain of waiting workers comes twice. That each of the two rings has a node that is not done is for
//! the search to see to.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use pdnet_base::Slots;

/// So many nodes are side by side.
const PAGE: usize = 1 << 11;

/// So many nodes that are done are left out after a node that is done at once.
const AT_ONCE: u32 = 8;

/// The lower half of a word: the number of the node above, exclusive or the own one. A root is above itself.
const ABOVE: u64 = u32::MAX as u64;
const SEEN: u64 = 1 << 32;
const DEAD: u64 = 1 << 33;
/// Somebody is about to put this root under another node.
const TAKEN: u64 = 1 << 34;
/// Nobody else may change what comes after this node.
const LOCKED: u64 = 1 << 35;
const DONE: u64 = 1 << 36;
/// Something is known of the set of this root, for the search.
const NOTED: u64 = 1 << 37;
const FIRST_WORKER: u32 = 38;

/// So many workers can be told apart.
pub(crate) const MOST_WORKERS: usize = (u64::BITS - FIRST_WORKER) as usize;

/// The nodes beside a node. All is zero before it is seen: numbers of other nodes are kept as the exclusive or with the own one.
#[derive(Debug, Default)]
struct Links {
    /// The next one that is not done, as far as is known.
    next: AtomicU32,
    /// The next one in the set.
    member: AtomicU32,
}

/// What is known of nodes. Words are looked at along every edge, links once for each node: so they are apart.
#[derive(Debug)]
struct Page {
    words: Box<[AtomicU64]>,
    links: Box<[Links]>,
}

/// All sets.
#[derive(Debug)]
pub(crate) struct Sets {
    pages: Slots<Page>,
    bytes: AtomicUsize,
}

/// What a worker sees of them.
#[derive(Debug)]
pub(crate) struct View<'s> {
    sets: &'s Sets,
    /// The pages that it has looked at.
    pages: Vec<(&'s [AtomicU64], &'s [Links])>,
    worker: u64,
}

/// What becomes of a node that a worker comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// Nobody had seen it.
    First,
    /// Others have seen it, and it is on the path of the worker now.
    New,
    /// It is in a set on the path of the worker.
    OnPath,
    /// Its component is known.
    Dead,
}

/// Lets others go on.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        if self.0 < 64 { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

impl Sets {
    pub(crate) const fn new() -> Self {
        Self { pages: Slots::new(), bytes: AtomicUsize::new(0) }
    }

    /// What a worker with that number sees.
    pub(crate) const fn view(&self, worker: usize) -> View<'_> {
        View { sets: self, pages: Vec::new(), worker: 1 << (FIRST_WORKER + worker as u32) }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pages.bytes() + self.bytes.load(Ordering::Relaxed)
    }

    fn page(&self, page: u32) -> &Page {
        self.pages.get(page).unwrap_or_else(|| {
            let size = size_of::<AtomicU64>() + size_of::<Links>();
            self.bytes.fetch_add(PAGE * size, Ordering::Relaxed);
            let words = (0..PAGE).map(|_| AtomicU64::new(0)).collect();
            self.pages.set(page, Page { words, links: (0..PAGE).map(|_| Links::default()).collect() })
        })
    }

    /// Whether somebody has seen the node.
    pub(crate) fn has_seen(&self, node: u32) -> bool {
        let page = self.pages.get(node / PAGE as u32);
        page.is_some_and(|page| page.words[node as usize % PAGE].load(Ordering::Acquire) & SEEN != 0)
    }
}

#[inline]
const fn above(word: u64, node: u32) -> u32 {
    (word & ABOVE) as u32 ^ node
}

impl<'s> View<'s> {
    #[inline]
    fn word_of(&mut self, node: u32) -> &'s AtomicU64 {
        let page = node as usize / PAGE;
        match self.pages.get(page).and_then(|(words, _)| words.get(node as usize % PAGE)) {
            Some(word) => word,
            None => &self.new_page(page).words[node as usize % PAGE],
        }
    }

    #[inline]
    fn links(&mut self, node: u32) -> &'s Links {
        let page = node as usize / PAGE;
        match self.pages.get(page).and_then(|(_, links)| links.get(node as usize % PAGE)) {
            Some(links) => links,
            None => &self.new_page(page).links[node as usize % PAGE],
        }
    }

    #[cold]
    fn new_page(&mut self, number: usize) -> &'s Page {
        if self.pages.len() <= number {
            self.pages.resize(number + 1, (&[], &[]));
        }
        #[expect(clippy::cast_possible_truncation, reason = "nodes are numbered in 32 bits")]
        let page = self.sets.page(number as u32);
        self.pages[number] = (&page.words, &page.links);
        page
    }

    /// The bytes of what it has for itself.
    pub(crate) const fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<(&[AtomicU64], &[Links])>()
    }

    /// Looks at a node, so that it is close to the processor when it is needed.
    #[inline]
    pub(crate) fn touch(&self, node: u32) -> u32 {
        let word =
            self.pages.get(node as usize / PAGE).and_then(|(words, _)| words.get(node as usize % PAGE));
        word.map_or(0, |word| u32::from(word.load(Ordering::Relaxed) != 0))
    }

    #[inline]
    fn word(&mut self, node: u32) -> u64 {
        self.word_of(node).load(Ordering::Acquire)
    }

    /// Changes the word of a node where it is still what it was.
    #[inline]
    fn exchange(&mut self, node: u32, old: u64, new: u64) -> bool {
        self.word_of(node).compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The root of a node, and its word when it was seen to be one.
    #[inline]
    fn root(&mut self, node: u32) -> (u32, u64) {
        let mut at = node;
        loop {
            let word = self.word(at);
            let parent = above(word, at);
            if parent == at {
                return (at, word);
            }
            let parent_word = self.word(parent);
            let grandparent = above(parent_word, parent);
            if grandparent == parent {
                return (parent, parent_word);
            }
            let _ = self.exchange(at, word, word & !ABOVE | u64::from(grandparent ^ at));
            at = grandparent;
        }
    }

    /// Comes to a node.
    #[inline]
    pub(crate) fn claim(&mut self, node: u32) -> Claim {
        loop {
            if self.word(node) == 0 {
                if self.exchange(node, 0, SEEN | self.worker) {
                    return Claim::First;
                }
                continue;
            }
            let (root, word) = self.root(node);
            if word & DEAD != 0 {
                return Claim::Dead;
            }
            if word & self.worker != 0 {
                return Claim::OnPath;
            }
            if self.exchange(root, word, word | self.worker) {
                return Claim::New;
            }
        }
    }

    /// Whether two nodes are in one set.
    #[inline]
    pub(crate) fn are_united(&mut self, one: u32, other: u32) -> bool {
        loop {
            let ((first, _), (second, _)) = (self.root(one), self.root(other));
            if first == second {
                return true;
            }
            // They were different when the first was seen to be a root still.
            if above(self.word(first), first) == first {
                return false;
            }
        }
    }

    /// Whether all edges of a node were followed.
    #[inline]
    pub(crate) fn is_done(&mut self, node: u32) -> bool {
        self.word(node) & DONE != 0
    }

    /// All edges of a node were followed; false where that was known.
    pub(crate) fn finish(&mut self, node: u32) -> bool {
        let mut patience = Patience::default();
        loop {
            let word = self.word(node);
            if word & DONE != 0 {
                return false;
            }
            if word & LOCKED == 0 && self.exchange(node, word, word | DONE) {
                break;
            }
            patience.wait();
        }
        // What comes after it was looked at not long ago; those who look for a node that is not done shall not have to look at it
        // again. There is an end to it, for others may have left out this node already: then it does not come after itself.
        for _ in 0..AT_ONCE {
            let next = self.next(node);
            if next == node || !self.is_done(next) {
                break;
            }
            let beyond = self.next(next);
            self.links(node).next.store(beyond ^ node, Ordering::Release);
        }
        true
    }

    #[inline]
    fn next(&mut self, node: u32) -> u32 {
        self.links(node).next.load(Ordering::Acquire) ^ node
    }

    /// A node of the set of this one that is not done. Nothing where all are.
    pub(crate) fn pick(&mut self, node: u32) -> Option<u32> {
        let mut at = node;
        loop {
            if !self.is_done(at) {
                return Some(at);
            }
            let next = self.next(at);
            if next == at {
                return None;
            }
            if !self.is_done(next) {
                return Some(next);
            }
            let beyond = self.next(next);
            self.links(at).next.store(beyond ^ at, Ordering::Release);
            at = beyond;
        }
    }

    /// Locks a node of the set of this one that is not done. There must be one.
    fn lock(&mut self, node: u32) -> u32 {
        let mut patience = Patience::default();
        let mut at = node;
        loop {
            at = self.pick(at).unwrap_or(node);
            let word = self.word(at);
            if word & (LOCKED | DONE) == 0 && self.exchange(at, word, word | LOCKED) {
                return at;
            }
            patience.wait();
            at = self.next(at);
        }
    }

    fn unlock(&mut self, node: u32) {
        self.word_of(node).fetch_and(!LOCKED, Ordering::AcqRel);
    }

    /// Unites the sets of two nodes, both of which have a node that is not done. What is known of the set that will not have a root
    /// of its own any more is moved before: `carry` is called with that root, a node of the other set, and this view.
    pub(crate) fn unite(&mut self, one: u32, other: u32, mut carry: impl FnMut(u32, u32, &mut Self)) {
        let mut patience = Patience::default();
        let ((child, word), parent, nodes) = loop {
            let (first, second) = (self.root(one), self.root(other));
            if first.0 == second.0 {
                return;
            }
            let (child, parent, nodes) = if first.0 > second.0 {
                (first, second.0, [one, other])
            } else {
                (second, first.0, [other, one])
            };
            if child.1 & TAKEN == 0 && self.exchange(child.0, child.1, child.1 | TAKEN) {
                break (child, parent, nodes);
            }
            patience.wait();
        };
        if word & NOTED != 0 {
            carry(child, parent, self);
        }
        let (below, beside) = (self.lock(nodes[0]), self.lock(nodes[1]));
        for of in [|links: &'s Links| &links.next, |links: &'s Links| &links.member] {
            let (first, second) = (of(self.links(below)), of(self.links(beside)));
            let after = [first.load(Ordering::Acquire) ^ below, second.load(Ordering::Acquire) ^ beside];
            first.store(after[1] ^ below, Ordering::Release);
            second.store(after[0] ^ beside, Ordering::Release);
        }
        // Others may still add their bits.
        let word = self
            .word_of(child)
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
                Some(word & !(ABOVE | TAKEN | NOTED) | u64::from(parent ^ child))
            })
            .unwrap_or_default();
        self.unlock(below);
        self.unlock(beside);
        self.add_workers(parent, word >> FIRST_WORKER << FIRST_WORKER);
    }

    fn add_workers(&mut self, node: u32, workers: u64) {
        loop {
            let (root, word) = self.root(node);
            if word & workers == workers || self.exchange(root, word, word | workers) {
                return;
            }
        }
    }

    /// The set of a node, all of whose nodes are done, is dead; whether something is known of it comes back with its root.
    /// Nothing where another worker came first.
    pub(crate) fn end(&mut self, node: u32) -> Option<(u32, bool)> {
        loop {
            let (root, word) = self.root(node);
            if word & DEAD != 0 {
                return None;
            }
            if self.exchange(root, word, word | DEAD) {
                return Some((root, word & NOTED != 0));
            }
        }
    }

    /// The root of a node whose set is alive, marked as one of which something is known; for a moment at least it stays one: as
    /// long as nobody takes it, and who does calls `carry` then.
    pub(crate) fn note(&mut self, node: u32) -> Option<u32> {
        let mut patience = Patience::default();
        loop {
            let (root, word) = self.root(node);
            if word & DEAD != 0 {
                return None;
            }
            if word & TAKEN == 0 && (word & NOTED != 0 || self.exchange(root, word, word | NOTED)) {
                return Some(root);
            }
            patience.wait();
        }
    }

    /// Whether a node is a root that nobody has taken.
    pub(crate) fn is_free_root(&mut self, node: u32) -> bool {
        let word = self.word(node);
        above(word, node) == node && word & TAKEN == 0
    }

    /// The nodes of the set of a node, none of them twice. Where others unite sets meanwhile, some may be missing.
    pub(crate) fn members(&mut self, node: u32) -> Vec<u32> {
        let mut members = vec![node];
        let mut at = self.links(node).member.load(Ordering::Acquire) ^ node;
        while at != node {
            members.push(at);
            at = self.links(at).member.load(Ordering::Acquire) ^ at;
        }
        members.sort_unstable();
        members.dedup();
        members
    }
}

#[cfg(test)]
mod tests {
    use pdnet_base::Rng;

    use super::*;
    use crate::scc::components;

    /// The search of [`crate::cycles`] without anything but sets. It comes back with the components that this worker has completed.
    fn search(successors: &[Vec<usize>], mut view: View<'_>, mut rng: Rng) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        let mut path: Vec<(u32, usize)> = vec![(0, 0)];
        let mut frames: Vec<(u32, Vec<u32>)> = Vec::new();
        let _ = view.claim(0);
        while let Some(&(node, depth)) = path.last() {
            if frames.len() == depth {
                match view.pick(node) {
                    _ if path.len() > 1 && view.are_united(path[path.len() - 2].0, node) => {
                        path.pop();
                    }
                    Some(node) => {
                        let mut edges: Vec<u32> =
                            successors[node as usize].iter().map(|&target| target as u32).collect();
                        for at in (1..edges.len()).rev() {
                            edges.swap(at, (rng.next_u64() % (at as u64 + 1)) as usize);
                        }
                        frames.push((node, edges));
                    }
                    None => {
                        path.pop();
                        if let Some((root, _)) = view.end(node) {
                            found.push(view.members(root));
                        }
                    }
                }
                continue;
            }
            let (node, edges) = frames.last_mut().unwrap();
            let node = *node;
            let Some(target) = edges.pop() else {
                view.finish(node);
                frames.pop();
                continue;
            };
            if rng.next_u64().is_multiple_of(64) {
                std::thread::yield_now();
            }
            match view.claim(target) {
                Claim::Dead => {}
                Claim::First | Claim::New => path.push((target, frames.len())),
                Claim::OnPath => {
                    while !view.are_united(target, node) {
                        let (last, _) = path.pop().unwrap();
                        view.unite(last, path.last().unwrap().0, |_, _, _| {});
                    }
                }
            }
        }
        found
    }

    /// Many graphs of all kinds, from those that are one large component to those that are all small ones. What the workers have
    /// completed together are the components that can be reached, each once.
    #[test]
    fn workers_find_the_components_of_random_graphs() {
        let seed = Rng::test_seed(23);
        let mut rng = Rng::new(seed);
        for round in 0..600_usize {
            let n_nodes = 1 + (rng.next_u64() % if round % 50 == 0 { 3000 } else { 40 }) as usize;
            let most_edges = 1 + rng.next_u64() % 3;
            let reach = 1 + rng.next_u64() % n_nodes as u64;
            let successors: Vec<Vec<usize>> = (0..n_nodes as u64)
                .map(|node| {
                    let n_edges = 1 + rng.next_u64() % most_edges;
                    let near = |offset: u64| ((node + offset + 1) % n_nodes as u64) as usize;
                    (0..n_edges).map(|_| near(rng.next_u64() % reach)).collect()
                })
                .collect();
            let mut reached = vec![false; n_nodes];
            let mut waiting = vec![0];
            while let Some(node) = waiting.pop() {
                if !std::mem::replace(&mut reached[node], true) {
                    waiting.extend(&successors[node]);
                }
            }
            let mut wanted: Vec<Vec<u32>> = components(&successors)
                .into_iter()
                .filter(|component| reached[component[0]])
                .map(|component| component.into_iter().map(|node| node as u32).collect())
                .collect();
            wanted.iter_mut().for_each(|component: &mut Vec<u32>| component.sort_unstable());
            wanted.sort_unstable();
            for n_workers in [1, 2, 4] {
                let sets = Sets::new();
                let mut found: Vec<Vec<u32>> = std::thread::scope(|scope| {
                    let workers = (0..n_workers).map(|worker| {
                        let (view, rng) = (sets.view(worker), Rng::new(seed ^ (round * 8 + worker) as u64));
                        let successors = &successors;
                        scope.spawn(move || search(successors, view, rng))
                    });
                    let workers: Vec<_> = workers.collect();
                    workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
                });
                found.sort_unstable();
                assert_eq!(found, wanted, "seed {seed}, round {round}, {n_workers} workers");
                assert!((0..n_nodes).all(|node| sets.has_seen(node as u32) == reached[node]));
            }
        }
    }
}
