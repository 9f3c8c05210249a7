//! Control dependence by post-dominance, as classical slicing of programs has it (Ferrante, Ottenstein and Warren).
//!
//! Post-dominators are the dominators of the flow graph turned round, found as Cooper, Harvey and Kennedy do. A node
//! from which no way leads to the end would have none: the graph gets an edge to the end from one node of each part
//! that is never left.

/// A flow graph with the nodes 0, 1, … and one more, the end, whose number is that of nodes.
pub(crate) struct Graph {
    /// Where the edges out of each node lead.
    pub(crate) successors: Vec<Vec<usize>>,
}

impl Graph {
    /// For each node the nodes that it is control dependent on, in order.
    pub(crate) fn control_dependence(&self) -> Vec<Vec<usize>> {
        let successors = self.with_ways_to_end();
        let above = post_dominators(&successors);
        let mut governors = vec![Vec::new(); self.successors.len()];
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets {
                // All that is sure to come after this edge, but not from its source, depends on the source.
                let mut node = to;
                while node != above[from] {
                    governors[node].push(from);
                    node = above[node];
                }
            }
        }
        for list in &mut governors {
            list.sort_unstable();
            list.dedup();
        }
        governors
    }

    /// The edges, with as many more to the end as are needed so that it can be reached from everywhere. They go out
    /// from where a walk first comes to a loop that is never left: its condition, if only it had one.
    fn with_ways_to_end(&self) -> Vec<Vec<usize>> {
        let end = self.successors.len();
        let mut successors = self.successors.clone();
        let predecessors = turned(&successors);
        let mut leads_to_end = vec![false; end + 1];
        spread(&predecessors, end, &mut leads_to_end);
        let (first_seen, order) = walk(&successors, 0..end);
        for node in order {
            if !leads_to_end[node] {
                // All that it leads to is on the way that the walk has come, or leads to the end by now.
                let mut ahead = vec![false; end + 1];
                spread(&successors, node, &mut ahead);
                let stays = (0..end).filter(|&other| ahead[other] && !leads_to_end[other]);
                let header = stays.min_by_key(|&other| first_seen[other]).unwrap_or(node);
                successors[header].push(end);
                spread(&predecessors, header, &mut leads_to_end);
            }
        }
        successors
    }
}

/// Marks a node and all to which edges lead from it.
fn spread(edges: &[Vec<usize>], start: usize, marks: &mut [bool]) {
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut marks[node], true) {
            open.extend(edges.get(node).into_iter().flatten());
        }
    }
}

/// The edges turned round, those of the end among them.
fn turned(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut predecessors = vec![Vec::new(); successors.len() + 1];
    for (from, targets) in successors.iter().enumerate() {
        for &to in targets {
            predecessors[to].push(from);
        }
    }
    predecessors
}

/// A walk in depth: for each node the number with which it was first seen, and the nodes in the order in which they
/// were left.
fn walk(edges: &[Vec<usize>], starts: impl IntoIterator<Item = usize>) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut first_seen: Vec<Option<usize>> = vec![None; edges.len() + 1];
    let mut n_seen = 0;
    let mut order = Vec::new();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in starts {
        let mut next_node = Some(start);
        loop {
            if let Some(node) = next_node.take().filter(|&node| first_seen[node].is_none()) {
                first_seen[node] = Some(n_seen);
                n_seen += 1;
                stack.push((node, 0));
            }
            let Some((node, next)) = stack.last_mut() else { break };
            match edges.get(*node).and_then(|targets| targets.get(*next)) {
                Some(&target) => {
                    *next += 1;
                    next_node = Some(target);
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
    }
    (first_seen, order)
}

/// The immediate post-dominator of each node; the end is its own. The end can be reached from everywhere.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<usize> {
    let end = successors.len();
    let (_, order) = walk(&turned(successors), [end]);
    let mut number = vec![0; end + 1];
    for (position, &node) in order.iter().enumerate() {
        number[node] = position;
    }
    let mut above: Vec<Option<usize>> = vec![None; end + 1];
    above[end] = Some(end);
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for &node in order.iter().rev().filter(|&&node| node != end) {
            let mut found = None;
            for &target in successors[node].iter().filter(|&&target| above[target].is_some()) {
                found = Some(found.map_or(target, |other| meet(&above, &number, other, target)));
            }
            if found != above[node] {
                above[node] = found;
                is_changed = true;
            }
        }
    }
    above.into_iter().map(|above| above.unwrap_or(end)).collect()
}

/// The lowest node above both.
fn meet(above: &[Option<usize>], number: &[usize], mut one: usize, mut other: usize) -> usize {
    while one != other {
        // Those above have greater numbers.
        let lower = if number[one] < number[other] { &mut one } else { &mut other };
        match above[*lower] {
            Some(next) if next != *lower => *lower = next,
            _ => return above.len() - 1,
        }
    }
    one
}

#[cfg(test)]
mod tests {
    use super::Graph;

    /// Edges of each node, `e` for the end; and for each node what it depends on.
    const GRAPHS: &[(&str, &str, &str)] = &[
        ("a line", "1|2|e", "||"),
        ("a branch", "1 2|3|3|e", "|0|0|"),
        ("a branch without else", "1 2|2|e", "|0|"),
        ("a branch in a branch", "1 5|2 3|4|4|5|e", "|0|1|1|0|"),
        ("a loop governs itself and its body", "1|2 3|1|e", "|1|1|"),
        ("a loop that is left in the middle", "1|2 4|3 4|1|e", "|2|1|2|"),
        ("an early return", "1 2|e|3|e", "|0|0|0"),
        ("a branch that ends on one side", "1 2|e|e", "|0|0"),
        ("a loop that is never left", "1|2|1", "|1|1"),
        ("a loop that is never left, behind a branch", "1 3|2|1|e", "|0 1|1|0"),
        ("two loops that are never left", "1 2|1|2", "|0 1|0 2"),
        ("a branch in a loop that is never left", "1|2 3|4|4|1", "|1|1|1|1"),
        ("a jump into a loop", "1 2|2|1 3|e", "|0 2|2|"),
        ("a switch with a case that goes on in the next", "1 2 3|2|4|4|e", "|0|0|0|"),
        ("nodes without a way from the first", "e|2|e", "||"),
    ];

    #[test]
    fn control_dependence_is_by_post_dominance() {
        for (name, edges, expected) in GRAPHS {
            let lists: Vec<&str> = edges.split('|').collect();
            let number = |text: &str| if text == "e" { lists.len() } else { text.parse().expect("a node") };
            let successors = lists.iter().map(|list| list.split_whitespace().map(number).collect());
            let graph = Graph { successors: successors.collect() };
            let found: Vec<String> = graph
                .control_dependence()
                .iter()
                .map(|list| list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
                .collect();
            assert_eq!(found.join("|"), *expected, "{name}");
        }
    }

    /// Post-dominance by its definition: without the other node, no way leads to the end.
    #[test]
    fn post_dominators_of_random_graphs_are_those_of_the_definition() {
        let mut rng = pdnet_base::Rng::new(pdnet_base::Rng::test_seed(1));
        for _ in 0..500 {
            let n_nodes = 1 + rng.below(8);
            let mut successors: Vec<Vec<usize>> = (0..n_nodes)
                .map(|_| (0..1 + rng.below(3)).map(|_| rng.below(n_nodes + 1)).collect())
                .collect();
            successors = Graph { successors }.with_ways_to_end();
            let above = super::post_dominators(&successors);
            let reaches = |from: usize, without: usize| {
                let mut seen = vec![false; n_nodes + 1];
                let mut open = vec![from];
                while let Some(node) = open.pop() {
                    if node != without && !std::mem::replace(&mut seen[node], true) && node < n_nodes {
                        open.extend(&successors[node]);
                    }
                }
                seen[n_nodes]
            };
            for node in 0..n_nodes {
                let all: Vec<usize> =
                    (0..=n_nodes).filter(|&other| other != node && !reaches(node, other)).collect();
                let mut chain = Vec::new();
                let mut at = node;
                while at != n_nodes {
                    at = above[at];
                    chain.push(at);
                }
                chain.sort_unstable();
                assert_eq!(chain, all, "node {node} of {successors:?}");
            }
        }
    }
}
