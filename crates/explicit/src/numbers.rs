//! The numbers of a product's nodes, for several workers.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use pdnet_base::{Idx as _, Slots};
use pdnet_logic::AutState;
use pdnet_space::StateId;

use crate::nodes::{FEW, Node, hash};

/// How many tables there are, by hash.
const SHARDS: usize = 64;

/// So many nodes are side by side.
const PAGE: usize = 1 << 11;

/// Numbers of nodes that all workers share.
pub(crate) enum Numbers {
    /// The number is made of the two parts; so many automaton states there are.
    Few(usize),
    /// Nodes are numbered as they are met.
    Many(Box<Table>),
}

/// Nodes that are numbered as they are met.
pub(crate) struct Table {
    shards: [Mutex<HashTable<u32>>; SHARDS],
    /// By number.
    nodes: Slots<Box<[AtomicU64]>>,
    n_nodes: AtomicU32,
    bytes: AtomicUsize,
}

impl Numbers {
    /// For an automaton with so many states.
    pub(crate) fn new(n_states: usize) -> Self {
        if n_states <= FEW {
            return Self::Few(n_states);
        }
        Self::Many(Box::new(Table {
            shards: [const { Mutex::new(HashTable::new()) }; SHARDS],
            nodes: Slots::new(),
            n_nodes: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
        }))
    }

    /// The number of a node; nothing where there are no more.
    #[inline]
    pub(crate) fn number(&self, key: Node) -> Option<u32> {
        match self {
            Self::Few(n_states) => u32::try_from(key.0.index() * n_states + key.1.index()).ok(),
            Self::Many(table) => table.number(key, true),
        }
    }

    /// The number of a node that may have none.
    pub(crate) fn find(&self, key: Node) -> Option<u32> {
        match self {
            Self::Few(_) => self.number(key),
            Self::Many(table) => table.number(key, false),
        }
    }

    /// The number of a node where it can be had at once.
    #[inline]
    pub(crate) fn guess(&self, key: Node) -> Option<u32> {
        if matches!(self, Self::Few(_)) { self.number(key) } else { None }
    }

    /// The node of that number.
    #[inline]
    pub(crate) fn get(&self, node: u32) -> Node {
        match self {
            Self::Few(n_states) => {
                (StateId::new(node as usize / n_states), AutState::new(node as usize % n_states))
            }
            Self::Many(table) => table.get(node),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Few(_) => 0,
            Self::Many(table) => table.nodes.bytes() + table.bytes.load(Ordering::Relaxed),
        }
    }
}

impl Table {
    fn get(&self, node: u32) -> Node {
        let page = self.nodes.get(node / PAGE as u32);
        let word = page.map_or(0, |nodes| nodes[node as usize % PAGE].load(Ordering::Acquire));
        (StateId::new((word >> 32) as usize), AutState::new((word & u64::from(u32::MAX)) as usize))
    }

    #[expect(clippy::cast_possible_truncation, reason = "a shard is chosen by some bits")]
    fn number(&self, key: Node, adds: bool) -> Option<u32> {
        let hash_of = hash(key);
        let shard = &self.shards[(hash_of >> 32) as usize % SHARDS];
        let mut table = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if !adds {
            return table.find(hash_of, |&node| self.get(node) == key).copied();
        }
        let before = table.allocation_size();
        let number = match table.entry(hash_of, |&node| self.get(node) == key, |&node| hash(self.get(node))) {
            Entry::Occupied(entry) => return Some(*entry.get()),
            Entry::Vacant(entry) => {
                let number = self.n_nodes.fetch_add(1, Ordering::Relaxed);
                if number == u32::MAX {
                    self.n_nodes.store(number, Ordering::Relaxed);
                    return None;
                }
                let word = (key.0.index() as u64) << 32 | key.1.index() as u64;
                self.page(number / PAGE as u32)[number as usize % PAGE].store(word, Ordering::Release);
                *entry.insert(number).get()
            }
        };
        self.bytes.fetch_add(table.allocation_size().saturating_sub(before), Ordering::Relaxed);
        Some(number)
    }

    fn page(&self, page: u32) -> &[AtomicU64] {
        self.nodes.get(page).unwrap_or_else(|| {
            self.bytes.fetch_add(PAGE * size_of::<AtomicU64>(), Ordering::Relaxed);
            self.nodes.set(page, (0..PAGE).map(|_| AtomicU64::new(0)).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers ask for the numbers of nodes that overlap: each node has one, and each number one node.
    #[test]
    fn workers_agree_about_numbers() {
        const NODES: usize = 5000;
        for n_states in [3, FEW + 1, 40] {
            let numbers = Numbers::new(n_states);
            let key = |at: usize| (StateId::new(at / 7), AutState::new(at % 7 % n_states));
            let ask = |step: usize| {
                let number = |at: usize| (at, numbers.number(key(at * step % NODES)));
                (0..NODES).map(number).map(|(at, number)| (at * step % NODES, number)).collect::<Vec<_>>()
            };
            let answers = std::thread::scope(|scope| {
                let workers = [1, 3, 7, 11].map(|step| scope.spawn(move || ask(step)));
                workers.map(|worker| worker.join().unwrap())
            });
            for (at, number) in answers.into_iter().flatten() {
                let number = number.unwrap();
                assert_eq!(numbers.get(number), key(at));
                assert_eq!(numbers.find(key(at)), Some(number));
            }
            if n_states > FEW {
                assert_eq!(numbers.find((StateId::new(NODES), AutState::new(0))), None);
                assert!(numbers.bytes() > NODES * 8);
            }
        }
    }
}
