//! The nodes of a product by state and automaton state.

use std::hash::{BuildHasher as _, Hasher as _};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use pdnet_base::{Idx as _, table_bytes};
use pdnet_check::Progress;
use pdnet_logic::AutState;
use pdnet_space::StateId;

/// With an automaton of at most so many states every state and automaton state has a number, be it a node or not. With larger
/// ones there would be more numbers than nodes.
pub(crate) const FEW: usize = 4;

/// The value of a node that was not met.
pub(crate) const NOT_MET: u32 = 0;

/// The value of a node that was met; a search may give it a larger one.
pub(crate) const MET: u32 = 1;

/// A node.
pub(crate) type Node = (StateId, AutState);

/// Who gives numbers to nodes.
pub(crate) trait NodeTable {
    /// The node of that number.
    fn get(&self, node: u32) -> Node;

    /// The number of a node, and whether it was not met before: then it is, if `allow` lets it. Nothing comes back where there
    /// are no more numbers.
    fn number<E>(
        &mut self,
        key: Node,
        allow: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<(u32, bool)>, E>;

    /// Looks at what is known of a node, so that it is close to the processor when it is needed. False where the search was there
    /// already, so that it will not look at more.
    fn touch(&self, key: Node) -> bool;

    /// How far the search is that has these nodes; what its product takes beside them is given.
    fn progress(&self, product: Progress) -> Progress;
}

/// Who knows the value that a search has given to each node.
pub(crate) trait Visits: NodeTable {
    /// Whether there are nodes that the search leaves to others.
    const DEFERS: bool;

    /// What is known of a node.
    fn value(&self, node: u32) -> u32;

    fn set_value(&mut self, node: u32, value: u32);

    /// Leaves a node to others.
    fn defer(&mut self, node: u32);

    /// Whether a search stops here that is to pause at so many nodes.
    fn is_time_to_pause(&self, pause_at: usize) -> bool;
}

/// Nodes with their numbers, and what a search knows of each.
pub(crate) struct Nodes {
    n_met: usize,
    /// By number. To find a node is to find its value: a search that goes from node to node waits for memory once for each.
    values: Vec<u32>,
    table: Table,
}

enum Table {
    /// The number is made of the two parts; so many automaton states there are.
    Few(usize),
    /// Nodes are numbered as they are met.
    Many { nodes: Vec<Node>, table: HashTable<u32> },
}

impl Nodes {
    /// No nodes, for an automaton with so many states.
    pub(crate) const fn new(n_states: usize) -> Self {
        let table = if n_states <= FEW {
            Table::Few(n_states)
        } else {
            Table::Many { nodes: Vec::new(), table: HashTable::new() }
        };
        Self { n_met: 0, values: Vec::new(), table }
    }

    /// How many were met.
    pub(crate) const fn len(&self) -> usize {
        self.n_met
    }

    /// Their numbers are below this.
    pub(crate) const fn bound(&self) -> usize {
        self.values.len()
    }

    /// The bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        let table = match &self.table {
            Table::Few(_) => 0,
            Table::Many { nodes, table } => {
                nodes.capacity() * size_of::<Node>()
                    + table_bytes(table.allocation_size(), table.len(), table.capacity())
            }
        };
        self.values.capacity() * 4 + table
    }
}

impl NodeTable for Nodes {
    #[inline]
    fn get(&self, node: u32) -> Node {
        let node = node as usize;
        match &self.table {
            Table::Few(n_states) => (StateId::new(node / n_states), AutState::new(node % n_states)),
            Table::Many { nodes, .. } => nodes[node],
        }
    }

    #[inline]
    fn number<E>(
        &mut self,
        key: Node,
        allow: impl FnOnce(usize) -> Result<(), E>,
    ) -> Result<Option<(u32, bool)>, E> {
        let number = match &mut self.table {
            Table::Few(n_states) => key.0.index() * *n_states + key.1.index(),
            Table::Many { nodes, table } => {
                let hasher = |&node: &u32| hash(nodes[node as usize]);
                match table.entry(hash(key), |&node| nodes[node as usize] == key, hasher) {
                    Entry::Occupied(entry) => *entry.get() as usize,
                    Entry::Vacant(entry) => {
                        let Ok(number) = u32::try_from(nodes.len()) else { return Ok(None) };
                        allow(self.n_met + 1)?;
                        entry.insert(number);
                        nodes.push(key);
                        self.values.push(MET);
                        self.n_met += 1;
                        return Ok(Some((number, true)));
                    }
                }
            }
        };
        let Ok(node) = u32::try_from(number) else { return Ok(None) };
        if number >= self.values.len() {
            self.values.resize(number + 1, NOT_MET);
        }
        if self.values[number] != NOT_MET {
            return Ok(Some((node, false)));
        }
        allow(self.n_met + 1)?;
        self.values[number] = MET;
        self.n_met += 1;
        Ok(Some((node, true)))
    }

    #[inline]
    fn touch(&self, key: Node) -> bool {
        match &self.table {
            Table::Few(n_states) => {
                self.values.get(key.0.index() * n_states + key.1.index()).is_none_or(|&value| value <= MET)
            }
            Table::Many { .. } => true,
        }
    }

    fn progress(&self, product: Progress) -> Progress {
        Progress {
            states: self.n_met as u64,
            memory_bytes: product.memory_bytes + self.bytes() as u64,
            ..product
        }
    }
}

impl Visits for Nodes {
    const DEFERS: bool = false;

    #[inline]
    fn value(&self, node: u32) -> u32 {
        self.values.get(node as usize).copied().unwrap_or(NOT_MET)
    }

    #[inline]
    fn set_value(&mut self, node: u32, value: u32) {
        self.values[node as usize] = value;
    }

    fn defer(&mut self, _: u32) {}

    #[inline]
    fn is_time_to_pause(&self, pause_at: usize) -> bool {
        self.n_met >= pause_at
    }
}

pub(crate) fn hash((state, at): Node) -> u64 {
    let mut hasher = foldhash::fast::FixedState::with_seed(0).build_hasher();
    hasher.write_u64((state.index() as u64) << 32 | at.index() as u64);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_have_one_number_each() {
        for n_states in [1, 3, FEW, FEW + 1, 40] {
            let mut nodes = Nodes::new(n_states);
            let key = |at: usize| (StateId::new(at * 7 % 900), AutState::new(at % n_states));
            let allow = |_: usize| Ok::<(), ()>(());
            let mut n_new = 0;
            let mut numbers = Vec::new();
            for at in 0..2000 {
                let (number, is_new) = nodes.number(key(at), allow).unwrap().unwrap();
                n_new += usize::from(is_new);
                numbers.push(number);
            }
            assert_eq!(n_new, nodes.len());
            for (at, &number) in numbers.iter().enumerate() {
                assert_eq!(nodes.get(number), key(at));
                assert_eq!(nodes.number(key(at), allow), Ok(Some((number, false))));
                assert_eq!(nodes.value(number), MET);
            }
            nodes.set_value(numbers[0], 9);
            assert_eq!(nodes.value(numbers[0]), 9);
            let refused = nodes.number((StateId::new(950), AutState::new(0)), |_| Err(5));
            assert_eq!((refused, nodes.len()), (Err(5), n_new));
        }
    }
}
