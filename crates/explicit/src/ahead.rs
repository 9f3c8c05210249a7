//! Workers who run ahead of a search of the product.
//!
//! A depth-first search that decides about cycles is done by one worker, in its order. Most of its time goes into finding the
//! edges of states, and in which order that is done does not matter. So the others expand states of nodes that the search has met
//! and not yet visited, the oldest first: those are the ones that it will come to last. Where they have done all of them,
//! they go on from there, as the automaton does. Where the search comes to a state that was expanded, it takes the edges from
//! there; where it comes to another one, it expands it itself.
//!
//! The answer is that of the one search: it takes from the helpers what it would have found itself. They expand nothing but states
//! that a search without end in sight would come to; one that is decided before has some of them for nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pdnet_check::{Control, Observer, Progress};
use pdnet_logic::{AutState, Automaton};
use pdnet_space::StateId;

use crate::budget::{Budget, Fork};
use crate::graph::Expander;
use crate::product::Product;

/// So many nodes are handed over together.
const BATCH: usize = 64;

/// The longest sleep of a helper that has nothing to do.
const SLEEP: Duration = Duration::from_micros(500);

/// A state, and where the automaton is there.
type Node = (StateId, AutState);

/// Nodes whose states are to be expanded.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    batches: Mutex<VecDeque<Vec<Node>>>,
    /// How many batches there are.
    n_batches: AtomicUsize,
    /// What the helpers have in mind.
    bytes: AtomicUsize,
    /// The search is over.
    is_over: AtomicBool,
}

/// Does a search of a product with all the workers that there are.
pub(crate) fn helped<R>(
    product: &mut Product<'_, '_>,
    budget: &mut Budget<'_>,
    search: impl FnOnce(&mut Product<'_, '_>, &mut Budget<'_>) -> R,
) -> R {
    let feed = Arc::new(Feed::default());
    let helpers: Vec<Expander<'_>> =
        (1..product.graph.model.crew.workers).map(|number| product.graph.helper(number)).collect();
    std::thread::scope(|scope| {
        // However the search ends, the helpers end with it.
        let _ends = Ends(&feed);
        for mut helper in helpers {
            let (feed, automaton, fork) = (&*feed, product.automaton, budget.fork());
            let run = move || feed.work(&mut helper, automaton, fork);
            // Fewer helpers do as well.
            let _ = std::thread::Builder::new().spawn_scoped(scope, run);
        }
        product.feed(&feed);
        let result = search(product, budget);
        product.stop_feeding();
        result
    })
}

impl Feed {
    fn batches(&self) -> MutexGuard<'_, VecDeque<Vec<Node>>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands nodes over, if there are enough of them.
    pub(crate) fn offer(&self, nodes: &mut Vec<Node>) {
        if nodes.len() >= BATCH {
            let mut batches = self.batches();
            batches.push_back(std::mem::take(nodes));
            self.n_batches.store(batches.len(), Ordering::Relaxed);
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        let batch = BATCH * size_of::<Node>() + size_of::<Vec<Node>>();
        self.n_batches.load(Ordering::Relaxed) * batch + self.bytes.load(Ordering::Relaxed)
    }

    /// Expands states until the search is over.
    fn work(&self, helper: &mut Expander<'_>, automaton: &Automaton, fork: Fork) {
        let mut watch = Watch(self);
        let mut budget = fork.with(&mut watch);
        let mut sleep = Duration::from_micros(1);
        // What the search will come to after the nodes that it has met, as far as it goes on from them.
        let mut later: VecDeque<Node> = VecDeque::new();
        while !self.is_over.load(Ordering::Relaxed) {
            // The oldest first: what was met just now the search will come to before a helper does.
            let batch = if later.is_empty() {
                self.next()
            } else {
                Some(later.drain(..later.len().min(BATCH)).collect())
            };
            let Some(batch) = batch else {
                std::thread::sleep(sleep);
                sleep = (sleep * 2).min(SLEEP);
                continue;
            };
            sleep = Duration::from_micros(1);
            let n_before = later.capacity();
            for (state, at) in batch {
                if self.is_over.load(Ordering::Relaxed) {
                    return;
                }
                match helper.help(state, &mut budget) {
                    Ok(None) => {}
                    Ok(Some((letter, fresh))) => {
                        for edge in automaton.successors(at, letter) {
                            later.extend(fresh.iter().map(|&state| (state, edge.target)));
                        }
                    }
                    // Whatever is in the way will be in the way of the search, too, if it comes there.
                    Err(_) => return,
                }
            }
            self.bytes.fetch_add((later.capacity() - n_before) * size_of::<Node>(), Ordering::Relaxed);
        }
    }

    fn next(&self) -> Option<Vec<Node>> {
        if self.n_batches.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut batches = self.batches();
        let batch = batches.pop_front();
        self.n_batches.store(batches.len(), Ordering::Relaxed);
        batch
    }
}

struct Ends<'f>(&'f Feed);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// Stops a helper in the middle of a state.
struct Watch<'f>(&'f Feed);

impl Observer for Watch<'_> {
    fn progress(&mut self, _: &Progress) -> Control {
        if self.0.is_over.load(Ordering::Relaxed) { Control::Stop } else { Control::Continue }
    }
}
