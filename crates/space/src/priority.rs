//! Ranks and late steps.

use pdnet_base::IndexVec;
use pdnet_net::{Net, Place, Transition};

/// The transitions out of each place by their priority, of a net that has some.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    /// Those that are not late: a list for each rank, the lowest first, each in the order of the transitions.
    pub(crate) usual: IndexVec<Place, Vec<Vec<Transition>>>,
    /// The late ones in the same way.
    pub(crate) late: IndexVec<Place, Vec<Vec<Transition>>>,
    pub(crate) has_late: bool,
}

impl Priorities {
    pub(crate) fn new(net: &Net, from: &IndexVec<Place, Vec<Transition>>) -> Option<Self> {
        let has_late = net.transitions.iter().any(|data| data.late);
        let by_rank = |late: bool| -> IndexVec<Place, Vec<Vec<Transition>>> {
            let of_place = |transitions: &Vec<Transition>| {
                let chosen = transitions.iter().copied().filter(|&at| net.transitions[at].late == late);
                let mut chosen: Vec<Transition> = chosen.collect();
                chosen.sort_by_key(|&at| (net.transitions[at].rank, at));
                let ranks = chosen.chunk_by(|&a, &b| net.transitions[a].rank == net.transitions[b].rank);
                ranks.map(<[Transition]>::to_vec).collect()
            };
            from.iter().map(of_place).collect()
        };
        net.has_priorities().then(|| Self { usual: by_rank(false), late: by_rank(true), has_late })
    }
}
