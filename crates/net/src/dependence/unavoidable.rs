//! From where a node of a flow graph cannot be avoided.
//!
//! The *region* of a node is the least set that contains it and every node all of whose steps lead into the set: from
//! there every way comes to the node, however long it is. Its *rim* are the steps into it from outside. To find each
//! region by a walk backwards would take the square of the length of a function, since from its first statement the
//! last one may be unavoidable. So regions that are known are taken as a whole:
//!
//! * Where `c` is in the region of `s`, the region of `c` is, too: who must come to `c` must come to `s`.
//! * A node on a cycle that `s` is not on is never in the region of `s`, since the cycle may go on forever. So what a walk
//!   meets outside of the strongly connected component of `s` are single nodes, whose regions are known if components are
//!   looked at in the order of the flow. None of these contains `s`, and no step of `s` leads into one.
//! * Two regions that a walk takes have no node in common. If `x` were in those of `c` and `d`, all ways from `x` would lead
//!   through both, and one of them, say `c`, would be in the region of the other. Then each step of `c` leads into the region
//!   of `d`; but `c` was met because each step of its leads into what was taken before, which by the same argument was a part
//!   of the region of `d`, and so on: `d` itself was taken first, and `c` is none of the nodes outside.
//!
//! So the rim of a region is that of the regions that it is made of, without the steps of nodes all of whose steps lead
//! into it. What is done for a node is as much as its rim, and its component, are large.

use super::Node;

/// A step: the node that it leaves, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) step: u32,
}

/// The regions of all nodes of a graph.
pub(super) struct Unavoidable {
    /// Of each node the steps into its region from outside.
    rims: Vec<Vec<Edge>>,
    /// Its own steps back into its region, where it has others.
    own_rounds: Vec<Vec<Edge>>,
    /// Whether one of the entries is in its region.
    has_entry: Vec<bool>,
}

impl Unavoidable {
    /// Finds all regions. Of `predecessors` there is one entry for each step.
    pub(super) fn new(targets: &[Vec<Option<Node>>], predecessors: &[Vec<Node>], entries: &[Node]) -> Self {
        let n_nodes = targets.len();
        let mut is_entry = vec![false; n_nodes];
        for &entry in entries {
            is_entry[entry] = true;
        }
        let mut found = Self {
            rims: vec![Vec::new(); n_nodes],
            own_rounds: vec![Vec::new(); n_nodes],
            has_entry: is_entry,
        };
        let (order, component) = components(targets);
        let mut walk = Walk::new(n_nodes);
        for &node in &order {
            walk.region(node, targets, predecessors, &component, &mut found);
        }
        found
    }

    /// The steps into the region of a node from outside.
    pub(super) fn rim(&self, node: Node) -> &[Edge] {
        &self.rims[node]
    }

    /// The steps of a node itself that lead back into its region, where it also has others: a loop governs its own next
    /// round.
    pub(super) fn own_rounds(&self, node: Node) -> &[Edge] {
        &self.own_rounds[node]
    }

    /// Whether the entry of the node's function is in its region.
    pub(super) fn has_entry(&self, node: Node) -> bool {
        self.has_entry[node]
    }
}

/// What is noted while one region is found. Nothing is cleared: what was noted for another node has another round.
struct Walk {
    round: usize,
    /// The round in which a node was found to be inside.
    inside: Vec<usize>,
    /// The round in which a node was last met, and how many of its steps lead inside.
    steps: Vec<(usize, usize)>,
    /// The steps that were met.
    met: Vec<Edge>,
}

impl Walk {
    fn new(n_nodes: usize) -> Self {
        Self { round: 0, inside: vec![0; n_nodes], steps: vec![(0, 0); n_nodes], met: Vec::new() }
    }

    fn region(
        &mut self,
        start: Node,
        targets: &[Vec<Option<Node>>],
        predecessors: &[Vec<Node>],
        component: &[usize],
        found: &mut Unavoidable,
    ) {
        self.round += 1;
        self.met.clear();
        self.inside[start] = self.round;
        let mut open = vec![start];
        let mut has_entry = false;
        let mut edges = Vec::new();
        while let Some(node) = open.pop() {
            has_entry |= found.has_entry[node];
            edges.clear();
            if component[node] == component[start] {
                let mut before = predecessors[node].clone();
                before.dedup();
                for from in before {
                    edges.extend(steps_to(targets, from, |to| to == node));
                }
            } else {
                edges.extend_from_slice(&found.rims[node]);
            }
            for &edge in &edges {
                let from = edge.from as usize;
                if self.inside[from] == self.round {
                    continue;
                }
                self.met.push(edge);
                if self.meet(from) == targets[from].len() {
                    self.inside[from] = self.round;
                    open.push(from);
                }
            }
        }
        let is_inside = |node: Node| self.inside[node] == self.round;
        found.rims[start] = self.met.iter().copied().filter(|edge| !is_inside(edge.from as usize)).collect();
        found.has_entry[start] |= has_entry;
        let back: Vec<Edge> = steps_to(targets, start, is_inside).collect();
        if back.len() < targets[start].len() {
            found.own_rounds[start] = back;
        }
    }

    /// Notes one more step of a node that leads inside; how many these are now.
    fn meet(&mut self, node: Node) -> usize {
        let (round, n_steps) = &mut self.steps[node];
        if *round != self.round {
            (*round, *n_steps) = (self.round, 0);
        }
        *n_steps += 1;
        *n_steps
    }
}

/// The steps of a node that lead to certain nodes.
fn steps_to(
    targets: &[Vec<Option<Node>>],
    from: Node,
    is_wanted: impl Fn(Node) -> bool,
) -> impl Iterator<Item = Edge> {
    let wanted = targets[from].iter().enumerate().filter(move |(_, to)| to.is_some_and(&is_wanted));
    #[expect(clippy::cast_possible_truncation, reason = "places have numbers of four bytes")]
    wanted.map(move |(step, _)| Edge { from: from as u32, step: step as u32 })
}

/// All nodes, those of one strongly connected component after those of the components that lead to it, and for each node
/// which component it is in. (Tarjan's algorithm, which finds the last ones first.)
fn components(targets: &[Vec<Option<Node>>]) -> (Vec<Node>, Vec<usize>) {
    const NEW: usize = usize::MAX;
    let n_nodes = targets.len();
    let mut number = vec![NEW; n_nodes];
    let mut lowest = vec![NEW; n_nodes];
    let mut component = vec![NEW; n_nodes];
    let mut order = Vec::with_capacity(n_nodes);
    let (mut n_numbers, mut n_components) = (0, 0);
    let mut pending: Vec<Node> = Vec::new();
    for root in 0..n_nodes {
        if number[root] != NEW {
            continue;
        }
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            if *next == 0 {
                (number[node], lowest[node]) = (n_numbers, n_numbers);
                n_numbers += 1;
                pending.push(node);
            }
            let target = targets[node].get(*next).copied();
            *next += 1;
            match target {
                Some(None) => {}
                Some(Some(to)) if number[to] == NEW => stack.push((to, 0)),
                Some(Some(to)) => {
                    if component[to] == NEW {
                        lowest[node] = lowest[node].min(number[to]);
                    }
                }
                None => {
                    stack.pop();
                    if let Some(&(before, _)) = stack.last() {
                        lowest[before] = lowest[before].min(lowest[node]);
                    }
                    if lowest[node] == number[node] {
                        while let Some(member) = pending.pop() {
                            component[member] = n_components;
                            order.push(member);
                            if member == node {
                                break;
                            }
                        }
                        n_components += 1;
                    }
                }
            }
        }
    }
    order.reverse();
    (order, component)
}

#[cfg(test)]
mod tests {
    use pdnet_base::Rng;

    use super::*;

    /// The region of a node by its definition.
    fn region(targets: &[Vec<Option<Node>>], node: Node) -> Vec<bool> {
        let mut inside = vec![false; targets.len()];
        inside[node] = true;
        loop {
            let enters = |other: &Node| {
                let all = targets[*other].iter().all(|to| to.is_some_and(|to| inside[to]));
                !inside[*other] && !targets[*other].is_empty() && all
            };
            match (0..targets.len()).find(enters) {
                Some(other) => inside[other] = true,
                None => return inside,
            }
        }
    }

    #[test]
    fn regions_are_those_of_the_definition() {
        let seed = Rng::test_seed(4);
        let mut rng = Rng::new(seed);
        for case in 0..3000 {
            let n_nodes = 1 + rng.below(14);
            let target = |rng: &mut Rng, node: usize| match rng.below(12) {
                0 => None,
                // Mostly forward, as in programs.
                1 | 2 => Some(rng.below(n_nodes)),
                _ => Some((node + 1 + rng.below(3)).min(n_nodes - 1)),
            };
            let targets: Vec<Vec<Option<Node>>> = (0..n_nodes)
                .map(|node| (0..rng.below(4)).map(|_| target(&mut rng, node)).collect())
                .collect();
            let mut predecessors = vec![Vec::new(); n_nodes];
            for (node, targets) in targets.iter().enumerate() {
                for &to in targets.iter().flatten() {
                    predecessors[to].push(node);
                }
            }
            let found = Unavoidable::new(&targets, &predecessors, &[0]);
            for node in 0..n_nodes {
                let inside = region(&targets, node);
                let into = |from: Node| steps_to(&targets, from, |to| inside[to]).collect::<Vec<Edge>>();
                let rim: Vec<Edge> = (0..n_nodes).filter(|&from| !inside[from]).flat_map(into).collect();
                let mut known = found.rim(node).to_vec();
                known.sort_unstable();
                assert_eq!(known, rim, "seed {seed}, case {case}: rim of {node} in {targets:?}");
                assert_eq!(
                    found.has_entry(node),
                    inside[0],
                    "seed {seed}, case {case}: {node} in {targets:?}"
                );
                let own = if into(node).len() < targets[node].len() { into(node) } else { Vec::new() };
                assert_eq!(found.own_rounds(node), own, "seed {seed}, case {case}: {node} in {targets:?}");
            }
        }
    }
}
