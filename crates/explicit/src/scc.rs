//! Strongly connected components of small graphs.

/// The components of a graph that is given by the successors of each node, in reverse topological order.
pub(crate) fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    components_by(successors.len(), |node, edge| successors[node].get(edge).copied())
}

/// The same for so many nodes and a function that gives where the edges of a node lead, by number.
///
/// Tarjan, *Depth-first search and linear graph algorithms* (1972), with an explicit stack.
pub(crate) fn components_by(n: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let (mut order, mut low) = (vec![UNSEEN; n], vec![0; n]);
    let mut is_open = vec![false; n];
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut found = Vec::new();
    let mut n_seen = 0;
    for start in 0..n {
        if order[start] != UNSEEN {
            continue;
        }
        let mut entered = Some(start);
        loop {
            if let Some(node) = entered.take() {
                order[node] = n_seen;
                low[node] = n_seen;
                n_seen += 1;
                is_open[node] = true;
                open.push(node);
                path.push((node, 0));
            }
            let Some((node, next)) = path.last_mut() else { break };
            let node = *node;
            if let Some(target) = successor(node, *next) {
                *next += 1;
                if order[target] == UNSEEN {
                    entered = Some(target);
                } else if is_open[target] {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            path.pop();
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[node]);
            }
            if low[node] == order[node] {
                let first = open.iter().rposition(|&member| member == node).unwrap_or(0);
                let component = open.split_off(first);
                component.iter().for_each(|&member| is_open[member] = false);
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_of_a_small_graph() {
        // 0 → 1 ⇄ 2 → 3, 3 → 3, 4 → 0.
        let successors = vec![vec![1], vec![2], vec![1, 3], vec![3], vec![0]];
        assert_eq!(components(&successors), vec![vec![3], vec![1, 2], vec![0], vec![4]]);
    }
}
