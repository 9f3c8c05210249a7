//! Strongly connected components.

/// A graph on `0..n_nodes()` whose edges carry acceptance sets.
pub(crate) trait Graph {
    fn n_nodes(&self) -> usize;
    /// Appends the edges out of a node: target and acceptance sets.
    fn edges_of(&self, node: usize, out: &mut Vec<(usize, u32)>);
}

/// The components that can be reached from the start nodes.
pub(crate) struct Components {
    /// The component of each node; `None` where the node is not reachable. Numbers are in reverse
    /// topological order: an edge never leads to a higher number.
    pub(crate) of: Vec<Option<usize>>,
    pub(crate) n_components: usize,
}

impl Components {
    /// For each component, the acceptance sets on its inner edges; `None` where it has no inner edge.
    pub(crate) fn marks(&self, graph: &impl Graph) -> Vec<Option<u32>> {
        let mut marks = vec![None; self.n_components];
        let mut edges = Vec::new();
        for (node, component) in self.of.iter().enumerate() {
            let Some(component) = *component else { continue };
            edges.clear();
            graph.edges_of(node, &mut edges);
            for &(target, acceptance) in &edges {
                if self.of[target] == Some(component) {
                    marks[component] = Some(marks[component].unwrap_or(0) | acceptance);
                }
            }
        }
        marks
    }

    /// For each component, whether it has a cycle through all acceptance sets of `all`.
    pub(crate) fn accepting(&self, graph: &impl Graph, all: u32) -> Vec<bool> {
        self.marks(graph).into_iter().map(|marks| marks.is_some_and(|marks| marks & all == all)).collect()
    }
}

/// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972) with an explicit
/// stack, because products are deeper than the machine's stack.
pub(crate) fn components(graph: &impl Graph, starts: &[usize]) -> Components {
    const UNSEEN: usize = usize::MAX;
    struct Frame {
        node: usize,
        edges: Vec<(usize, u32)>,
        next: usize,
    }
    let n = graph.n_nodes();
    let mut order = vec![UNSEEN; n];
    let mut low = vec![0; n];
    let mut of = vec![None; n];
    let (mut n_seen, mut n_components) = (0, 0);
    let mut open = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let enter = |node: usize, n_seen: &mut usize, order: &mut [usize], low: &mut [usize]| {
        order[node] = *n_seen;
        low[node] = *n_seen;
        *n_seen += 1;
        let mut edges = Vec::new();
        graph.edges_of(node, &mut edges);
        Frame { node, edges, next: 0 }
    };
    for &start in starts {
        if order[start] != UNSEEN {
            continue;
        }
        open.push(start);
        frames.push(enter(start, &mut n_seen, &mut order, &mut low));
        while let Some(frame) = frames.last_mut() {
            let node = frame.node;
            if let Some(&(target, _)) = frame.edges.get(frame.next) {
                frame.next += 1;
                if order[target] == UNSEEN {
                    open.push(target);
                    frames.push(enter(target, &mut n_seen, &mut order, &mut low));
                } else if of[target].is_none() {
                    low[node] = low[node].min(order[target]);
                }
                continue;
            }
            frames.pop();
            if let Some(parent) = frames.last() {
                low[parent.node] = low[parent.node].min(low[node]);
            }
            if low[node] == order[node] {
                while let Some(member) = open.pop() {
                    of[member] = Some(n_components);
                    if member == node {
                        break;
                    }
                }
                n_components += 1;
            }
        }
    }
    Components { of, n_components }
}
