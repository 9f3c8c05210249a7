//! Cleaning up after all functions are lowered: places that are the same become one, steps that nobody can
//! reach go, variables that are always written before they are read need no arbitrary value, and
//! temporaries are set back to 0 where they are dead, so that equal futures are equal markings.

use std::collections::{BTreeMap, BTreeSet};

use pdnet_base::{Idx as _, IndexVec};
use pdnet_net::{ArcData, Expr, Place, Transition};

use super::Lowerer;
use super::flow::frame_key;
use super::liveness::{Liveness, frame_target, own_writes};

impl Lowerer<'_> {
    pub(crate) fn finish_flow(&mut self) {
        self.unite_places();
        self.drop_arbitrary_values();
        self.unite_places();
        self.reset_temporaries();
        self.drop_unreachable();
        self.drop_unused_files();
    }

    /// Headers that no step comes from are of no interest.
    fn drop_unused_files(&mut self) {
        let places = self.net.places.iter().map(|data| data.pos);
        let transitions = self.net.transitions.iter().map(|data| data.pos);
        let functions = self.net.functions.iter().map(|data| data.pos);
        let used: std::collections::BTreeSet<usize> =
            places.chain(transitions).chain(functions).flatten().map(|pos| pos.file.index()).collect();
        for (number, name) in self.net.files.iter_mut().enumerate() {
            if !used.contains(&number) {
                name.clear();
            }
        }
        self.net.files.truncate(used.last().map_or(0, |last| last + 1));
    }

    /// Redirects all arcs to the place that stands for theirs.
    fn unite_places(&mut self) {
        let resolved: IndexVec<Place, Place> =
            self.net.places.indices().map(|place| self.resolve(place)).collect();
        for data in self.net.transitions.iter_mut() {
            data.arcs.iter_mut().for_each(|arc| map_arc(arc, &|place| resolved[place]));
        }
        for places in self.labels.values_mut() {
            places.iter_mut().for_each(|place| *place = resolved[*place]);
        }
    }

    /// Removes the step that gives a local an arbitrary value, where the value is written before it is read.
    fn drop_arbitrary_values(&mut self) {
        let candidates: Vec<Place> = self.uninitialised.iter().map(|(_, cell)| *cell).collect();
        let live = Liveness::new(&self.net, &candidates);
        let mut dropped = Vec::new();
        for (transition, cell) in std::mem::take(&mut self.uninitialised) {
            let data = &self.net.transitions[transition];
            let (Some(from), Some(to)) = (data.source(), frame_target(&self.net, data)) else { continue };
            if !live.is_live(to, cell) {
                dropped.push((transition, from, to));
            }
        }
        for &(_, from, to) in &dropped {
            let (from, to) = (self.resolve(from), self.resolve(to));
            if from != to {
                self.same_as.insert(from, to);
            }
        }
        let gone: BTreeSet<Transition> = dropped.iter().map(|(transition, ..)| *transition).collect();
        let is_dropped = |transition: Transition| gone.contains(&transition);
        let kept = self.net.transitions.iter_enumerated().filter(|(transition, _)| !is_dropped(*transition));
        self.net.transitions = kept.map(|(_, data)| data.clone()).collect();
    }

    fn reset_temporaries(&mut self) {
        let temporaries: Vec<Place> = self.temporaries.iter().copied().collect();
        let live = Liveness::new(&self.net, &temporaries);
        for transition in self.net.transitions.indices() {
            let data = &self.net.transitions[transition];
            let (Some(from), Some(to)) = (data.source(), frame_target(&self.net, data)) else { continue };
            let written: Vec<Place> = own_writes(data).collect();
            let dying = live
                .live_at(&self.net, from)
                .filter(|cell| !live.is_live(to, *cell) && !written.contains(cell));
            let dying: Vec<Place> = dying.collect();
            let unread: Vec<Place> = written
                .into_iter()
                .filter(|cell| self.temporaries.contains(cell) && !live.is_live(to, *cell))
                .collect();
            let arcs = &mut self.net.transitions[transition].arcs;
            for arc in arcs.iter_mut() {
                if let ArcData::Write { place, value, .. } = arc
                    && unread.contains(place)
                {
                    *value = Expr::Const(0);
                }
            }
            for place in dying {
                arcs.push(ArcData::Write { place, key: frame_key(), value: Expr::Const(0), when: None });
            }
        }
    }

    /// Removes steps and places that no thread can reach, and numbers the rest anew.
    fn drop_unreachable(&mut self) {
        let mut steps: BTreeMap<Place, Vec<Transition>> = BTreeMap::new();
        for (transition, data) in self.net.transitions.iter_enumerated() {
            steps.entry(data.source().expect("every step takes a frame")).or_default().push(transition);
        }
        let mut reached: IndexVec<Place, bool> = IndexVec::filled(false, self.net.places.len());
        let mut queue: Vec<Place> = Vec::new();
        for data in &self.net.functions {
            queue.extend([data.entry, data.exit]);
        }
        while let Some(place) = queue.pop() {
            if std::mem::replace(&mut reached[place], true) {
                continue;
            }
            for transition in steps.get(&place).into_iter().flatten() {
                for arc in &self.net.transitions[*transition].arcs {
                    match arc {
                        ArcData::Put { place, .. } if self.net.is_frame_place(*place) => queue.push(*place),
                        _ => {}
                    }
                }
            }
        }
        let keeps = |place: Place| !self.net.is_frame_place(place) || reached[place];
        let mut renumbered: IndexVec<Place, Option<Place>> = IndexVec::new();
        let mut n_kept = 0;
        for place in self.net.places.indices() {
            let kept = keeps(place).then(|| Place::new(n_kept));
            n_kept += usize::from(kept.is_some());
            renumbered.push(kept);
        }
        let places = std::mem::take(&mut self.net.places);
        let transitions = std::mem::take(&mut self.net.transitions);
        self.net.places = places
            .iter_enumerated()
            .filter(|(place, _)| renumbered[*place].is_some())
            .map(|(_, data)| data.clone())
            .collect();
        self.net.transitions = transitions
            .iter()
            .filter(|data| data.source().is_some_and(|from| reached[from]))
            .cloned()
            .collect();
        // A place that is gone stays only in lists that are filtered below.
        self.renumber(&|place| renumbered[place]);
    }

    /// Applies new numbers of places to everything that holds one.
    fn renumber(&mut self, new: &dyn Fn(Place) -> Option<Place>) {
        let kept = |place: Place| new(place).expect("a place in use is kept");
        for data in self.net.transitions.iter_mut() {
            data.arcs.iter_mut().for_each(|arc| map_arc(arc, &kept));
            data.bytes.iter_mut().for_each(|part| part.place = kept(part.place));
        }
        for data in self.net.functions.iter_mut() {
            data.entry = kept(data.entry);
            data.exit = kept(data.exit);
        }
        for place in [&mut self.net.done, &mut self.net.ended, &mut self.net.atomic] {
            *place = place.map(kept);
        }
        self.thread_counter = kept(self.thread_counter);
        self.thread_results = self.thread_results.map(kept);
        self.library_cells.values_mut().for_each(|place| *place = kept(*place));
        self.cells.values_mut().for_each(|place| *place = kept(*place));
        self.written = self.written.iter().map(|(cell, written)| (kept(*cell), kept(*written))).collect();
        self.results.values_mut().flatten().for_each(|place| *place = kept(*place));
        self.lengths.values_mut().for_each(|place| *place = kept(*place));
        self.slots.values_mut().for_each(|place| *place = kept(*place));
        self.alive.values_mut().for_each(|place| *place = kept(*place));
        self.gone.values_mut().for_each(|place| *place = kept(*place));
        self.live_blocks = self.live_blocks.map(kept);
        for condition in self.conditions.values_mut() {
            condition.waiters = kept(condition.waiters);
            condition.woken = kept(condition.woken);
        }
        self.observers.locals.values_mut().for_each(|place| *place = kept(*place));
        self.observers.threads.values_mut().flatten().for_each(|place| *place = kept(*place));
        for places in self.labels.values_mut() {
            *places = places.iter().filter_map(|place| new(*place)).collect();
        }
        self.return_sites = self.return_sites.iter().filter_map(|place| new(*place)).collect();
        self.shared_cells = self.shared_cells.iter().filter_map(|place| new(*place)).collect();
        self.temporaries = self.temporaries.iter().filter_map(|place| new(*place)).collect();
    }
}

fn map_arc(arc: &mut ArcData, new: &dyn Fn(Place) -> Place) {
    match arc {
        ArcData::Take { place, .. }
        | ArcData::Put { place, .. }
        | ArcData::Test { place, .. }
        | ArcData::Inhibit { place, .. }
        | ArcData::Read { place, .. }
        | ArcData::Write { place, .. }
        | ArcData::Governed { place }
        | ArcData::Governs { place, .. } => *place = new(*place),
        ArcData::Drain { place, to, .. } => {
            *place = new(*place);
            *to = new(*to);
        }
    }
}
