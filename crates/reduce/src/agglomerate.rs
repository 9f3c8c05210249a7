//! Agglomeration: steps that nobody can come between become one.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `visible` | what properties see, and which of them allow it |
//! | `ground` | what both rules look at |
//! | `processes` | what is a process's own where numbers of threads are given again |
//! | `special` | steps that are more, or less, than their arcs say, and when they can be merged |
//! | `post` | post-agglomeration, with the reason why nothing is lost |
//! | `pre` | pre-agglomeration, with the reason why nothing is lost |
//! | `compose` | one transition of two |
//! | `lift` | a run of the smaller net as one of the net |

mod compose;
mod ground;
mod lift;
mod post;
mod pre;
mod processes;
mod special;
mod visible;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_check::{Fairness, Property, PropertyKind};
use pdnet_net::{ArcData, Effect, Flow, Net, Place, PlaceForm, Transition};

use self::compose::{Composed, Lead, Part, Step};
use self::ground::Ground;
use self::special::Special;
use self::visible::Visible;

/// At one place, merging may make so many transitions more than there were.
const MAX_GROWTH: usize = 12;

/// A net in which steps are merged, which gives the same answers to the same questions.
#[derive(Clone, Debug)]
pub struct Agglomerated {
    /// The net. It has the places of the net before.
    pub net: Net,
    /// The properties that it was made for, as properties of it.
    pub properties: Vec<Property>,
    /// How many places of frames there are at which steps were merged with those that come after them.
    pub post: usize,
    /// How many there are behind steps that were put off.
    pub pre: usize,
    /// For each transition the steps that it stands for.
    parts: IndexVec<Transition, Vec<Part>>,
    /// The steps of the net before that are put off.
    delayed: Vec<Transition>,
}

/// Merges steps of a net that the answers to these properties do not keep apart. None where there are none.
///
/// The properties are answered together. Slicing comes first: what it cuts need not be merged.
#[must_use]
pub fn agglomerate(net: &Net, properties: &[Property], fairness: Fairness) -> Option<Agglomerated> {
    let of_processes = !net.is_plain() || net.reuses_threads();
    let special = if of_processes { Some(Special::new(net, &Flow::new(net))?) } else { None };
    let visible = Visible::new(net, properties, fairness, of_processes)?;
    if of_processes && visible.races {
        return None;
    }
    let after_post = {
        let ground = Ground::new(net, &visible, special.as_ref())?;
        merge_after(&ground)
    };
    let watched = after_post.watched(&visible);
    let visible = visible.watching(watched);
    let merged = match Ground::new(&after_post.net, &visible, special.as_ref()) {
        Some(ground) => merge_before(&ground).on(&after_post),
        None => after_post,
    };
    if merged.post + merged.pre == 0 {
        return None;
    }
    let properties = properties.iter().map(|property| merged.renamed(property)).collect();
    let Merged { net, parts, delayed, post, pre } = merged;
    Some(Agglomerated { net, properties, post, pre, parts, delayed })
}

/// A net with merged steps.
struct Merged {
    net: Net,
    parts: IndexVec<Transition, Vec<Part>>,
    delayed: Vec<Transition>,
    post: usize,
    pre: usize,
}

impl Merged {
    /// The transitions that are watched, if those of the net before are.
    fn watched(&self, visible: &Visible) -> IndexVec<Transition, bool> {
        let last = |parts: &Vec<Part>| parts.last().is_some_and(|part| visible.watched[part.transition]);
        self.parts.iter().map(last).collect()
    }

    /// This, made of a net that was itself made by merging.
    fn on(self, before: &Self) -> Self {
        let mut parts = IndexVec::new();
        for sequence in &self.parts {
            let mut steps = Vec::new();
            for outer in sequence {
                for inner in &before.parts[outer.transition] {
                    let vars = inner.vars.iter().map(|var| outer.vars[(*var)?.index()]);
                    steps.push(Part { transition: inner.transition, vars: vars.collect() });
                }
            }
            parts.push(steps);
        }
        let delayed = self.delayed.iter().flat_map(|&transition| &before.parts[transition]);
        let mut delayed: Vec<Transition> = delayed.map(|part| part.transition).collect();
        delayed.sort_unstable();
        delayed.dedup();
        Self { parts, delayed, post: before.post, ..self }
    }

    /// A property of the net before as one of this one.
    fn renamed(&self, property: &Property) -> Property {
        let kind = match &property.kind {
            PropertyKind::NeverFires(transitions) => {
                let is_last = |parts: &Vec<Part>| {
                    parts.last().is_some_and(|part| transitions.contains(&part.transition))
                };
                let found = self.parts.iter_enumerated().filter(|(_, parts)| is_last(parts));
                PropertyKind::NeverFires(found.map(|(transition, _)| transition).collect())
            }
            same @ (PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock
            | PropertyKind::Ltl { .. }
            | PropertyKind::Never { .. }) => same.clone(),
        };
        Property { kind, ..property.clone() }
    }
}

/// A step while steps are being merged.
#[derive(Clone, Debug)]
struct Candidate {
    step: Step,
    source: Place,
    target: Option<Place>,
    /// It leads to where steps were merged, for one of those that were not.
    stops: bool,
}

/// The steps of a net while they are being merged.
struct Workshop<'a> {
    net: &'a Net,
    steps: Vec<Candidate>,
}

impl<'a> Workshop<'a> {
    fn new(ground: &Ground<'a>) -> Self {
        let net = ground.net;
        let mut steps = Vec::new();
        for (transition, data) in net.transitions.iter_enumerated() {
            if let Some(source) = data.source().filter(|_| !ground.impossible[transition]) {
                let step = Step::single(transition, data);
                let target = step.target(net);
                steps.push(Candidate { step, source, target, stops: false });
            }
        }
        Self { net, steps }
    }

    fn candidate(&self, step: Step, stops: bool) -> Option<Candidate> {
        let (source, target) = (step.source()?, step.target(self.net));
        Some(Candidate { step, source, target, stops })
    }

    /// Puts in the place of each of the steps what `made` makes of it, if that is not too much. True where it did so for
    /// one of them.
    fn replace(
        &mut self,
        at: &[usize],
        n_each: usize,
        made: impl Fn(&Self, usize) -> Option<Vec<Candidate>>,
    ) -> bool {
        if at.is_empty() || at.len() * n_each > at.len() + n_each + MAX_GROWTH {
            return false;
        }
        let mut all: Vec<Option<Vec<Candidate>>> = vec![None; self.steps.len()];
        for &number in at {
            all[number] = made(self, number);
        }
        let is_changed = all.iter().any(Option::is_some);
        if is_changed {
            let steps = std::mem::take(&mut self.steps).into_iter().zip(all);
            self.steps = steps.flat_map(|(step, made)| made.unwrap_or_else(|| vec![step])).collect();
        }
        is_changed
    }

    /// The steps whose frames can come to where they begin. At a place where all comers are there for steps that were not
    /// merged, `is_left` says which these are.
    fn reached(&self, is_left: impl Fn(Place, &Step) -> bool) -> Vec<&Candidate> {
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        enum Reached {
            No,
            ForSome,
            Yes,
        }
        let mut reached = IndexVec::filled(Reached::No, self.net.places.len());
        for (place, data) in self.net.places.iter_enumerated() {
            if let PlaceForm::Tokens { initial } = &data.form
                && !initial.is_empty()
            {
                reached[place] = Reached::Yes;
            }
        }
        let is_live =
            |reached: &IndexVec<Place, Reached>, candidate: &Candidate| match reached[candidate.source] {
                Reached::No => false,
                Reached::ForSome => is_left(candidate.source, &candidate.step),
                Reached::Yes => true,
            };
        loop {
            let mut is_changed = false;
            for candidate in &self.steps {
                if !is_live(&reached, candidate) {
                    continue;
                }
                for arc in &candidate.step.data.arcs {
                    if let ArcData::Put { place, .. } = arc {
                        let only_some = candidate.stops && candidate.target == Some(*place);
                        let now = if only_some { Reached::ForSome } else { Reached::Yes };
                        if now > reached[*place] {
                            reached[*place] = now;
                            is_changed = true;
                        }
                    }
                }
            }
            if !is_changed {
                break;
            }
        }
        self.steps.iter().filter(|candidate| is_live(&reached, candidate)).collect()
    }

    /// The net of what is reached.
    fn finish(&self, is_left: impl Fn(Place, &Step) -> bool) -> (Net, IndexVec<Transition, Vec<Part>>) {
        let mut transitions = IndexVec::new();
        let mut parts = IndexVec::new();
        for candidate in self.reached(is_left) {
            transitions.push(candidate.step.data.clone());
            parts.push(candidate.step.parts.clone());
        }
        (Net { transitions, ..self.net.clone() }, parts)
    }
}

/// Post-agglomeration.
fn merge_after(ground: &Ground<'_>) -> Merged {
    let net = ground.net;
    let mut workshop = Workshop::new(ground);
    let mut is_left: IndexVec<Transition, bool> = IndexVec::filled(false, net.transitions.len());
    let mut n_places = 0;
    for between in post::find(ground) {
        let first = |candidate: &Candidate| candidate.step.parts[0].transition;
        let from: Vec<Candidate> =
            workshop.steps.iter().filter(|step| step.source == between.place).cloned().collect();
        let after: Vec<&Candidate> =
            from.iter().filter(|step| between.merged.contains(&first(step))).collect();
        let is_before = |candidate: &Candidate| {
            candidate.target == Some(between.place)
                && candidate.source != between.place
                && candidate.step.data.action.effect() == Effect::None
                && ground.special.is_none_or(|special| {
                    special.may_be_first(&candidate.step.data, ground.visible.fair)
                })
                // What is no access alone would become one together with the end of the thread.
                && (candidate.step.data.action.is_access() || !ground.visible.races)
                && candidate.step.parts.iter().all(|part| !ground.visible.watched[part.transition])
        };
        let before: Vec<usize> =
            (0..workshop.steps.len()).filter(|&number| is_before(&workshop.steps[number])).collect();
        let n_each = after.len() + between.left.len();
        let is_merged = workshop.replace(&before, n_each, |workshop, number| {
            let step = &workshop.steps[number].step;
            let mut made = Vec::new();
            for next in &after {
                match step.then(net, &next.step, Lead::First) {
                    Composed::Step(composed) => made.push(workshop.candidate(*composed, next.stops)?),
                    Composed::Never => {}
                    Composed::No => return None,
                }
            }
            for &next in &between.left {
                match step.before(net, &net.transitions[next]) {
                    Composed::Step(composed) => made.push(workshop.candidate(*composed, true)?),
                    Composed::Never => {}
                    Composed::No => return None,
                }
            }
            Some(made)
        });
        n_places += usize::from(is_merged);
        between.left.iter().for_each(|&transition| is_left[transition] = true);
    }
    let (mut reduced, parts) = workshop.finish(|_, step| is_left[step.parts[0].transition]);
    // Merged accesses are in no race, and must not look as if they were.
    for place in net.places.indices() {
        reduced.places[place].memory &= !(ground.visible.races && ground.is_race_free(place));
    }
    Merged { net: reduced, parts, delayed: Vec::new(), post: n_places, pre: 0 }
}

/// Pre-agglomeration.
fn merge_before(ground: &Ground<'_>) -> Merged {
    let net = ground.net;
    let pre::Delayed { order, is_delayed } = pre::find(ground);
    let mut workshop = Workshop::new(ground);
    let mut delayed = Vec::new();
    let mut n_places = 0;
    for place in order {
        let after: Vec<Candidate> =
            workshop.steps.iter().filter(|step| step.source == place).cloned().collect();
        let is_before = |candidate: &Candidate| {
            let [only] = candidate.step.parts.as_slice() else { return false };
            candidate.target == Some(place) && candidate.source != place && is_delayed[only.transition]
        };
        let before: Vec<usize> =
            (0..workshop.steps.len()).filter(|&number| is_before(&workshop.steps[number])).collect();
        let first: Vec<Transition> =
            before.iter().map(|&number| workshop.steps[number].step.parts[0].transition).collect();
        // Where threads stop there anyhow, no place is saved, but they would have two of them to stand at with the same future: one before what
        // is put off, and this one.
        let is_put = |candidate: &Candidate| {
            let puts = |arc: &ArcData| matches!(arc, ArcData::Put { place: at, .. } if *at == place);
            candidate.step.data.arcs.iter().any(puts)
        };
        let n_ways = workshop.steps.iter().filter(|candidate| is_put(candidate)).count();
        let is_initial =
            matches!(&net.places[place].form, PlaceForm::Tokens { initial } if !initial.is_empty());
        if is_initial || n_ways > before.len() {
            continue;
        }
        let is_merged = workshop.replace(&before, after.len(), |workshop, number| {
            let step = &workshop.steps[number].step;
            let mut made = Vec::new();
            for next in &after {
                match step.then(net, &next.step, Lead::Second) {
                    Composed::Step(composed) => made.push(workshop.candidate(*composed, false)?),
                    Composed::Never => {}
                    Composed::No => return None,
                }
            }
            Some(made)
        });
        if is_merged {
            n_places += 1;
            delayed.extend(first);
        }
    }
    let (net, parts) = workshop.finish(|_, _| true);
    Merged { net, parts, delayed, post: 0, pre: n_places }
}
