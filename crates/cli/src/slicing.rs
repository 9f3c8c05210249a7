//! From properties to answers by way of smaller nets: which properties share a slice, the steps of it that are merged,
//! the search of what is left, and the way of a run back to the whole net.

use std::sync::Arc;

use pdnet_check::{AtomData, Fairness, Property, PropertyKind, Stats, StopReason, Verdict};
use pdnet_logic::Ltl;
use pdnet_net::{Expr, Net};
use pdnet_reduce::{Agglomerated, LiftError, Method, Slice, agglomerate, slice};
use pdnet_report::{Answer, Change, KeptParts, MergeSummary, Origin, SliceSummary};
use pdnet_source::Diagnostic;

use crate::args::SliceMethod;
use crate::cache::{Cache, Key};
use crate::exit::Failure;
use crate::pipeline::{Clock, verify};
use crate::reductions::{Reduction, Reductions};
use crate::settle::Search;

/// A method by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slicing {
    pub(crate) method: Method,
    pub(crate) name: &'static str,
}

impl Slicing {
    /// What the options ask for. Without reductions nothing is cut, unless a method is named.
    pub(crate) fn new(method: Option<SliceMethod>, reduce: &Reductions) -> Option<Self> {
        let default = if reduce.has(Reduction::Slice) { SliceMethod::OnDemand } else { SliceMethod::Off };
        match method.unwrap_or(default) {
            SliceMethod::Off => None,
            SliceMethod::OnDemand => Some(Self { method: Method::OnDemand, name: "on-demand" }),
            SliceMethod::Program => Some(Self { method: Method::Program, name: "program" }),
            SliceMethod::Net => Some(Self { method: Method::Net, name: "net" }),
        }
    }
}

/// The answers to some properties, in their order.
#[derive(Debug)]
pub(crate) struct Answers {
    pub(crate) settled: Vec<Settled>,
    /// What slicing cut for them.
    pub(crate) slices: Vec<SliceSummary>,
    /// Which steps were merged for them.
    pub(crate) merges: Vec<MergeSummary>,
}

impl Answers {
    /// There is none to any of so many properties.
    pub(crate) fn unknown(n_properties: usize, reason: &StopReason) -> Self {
        let settled = (0..n_properties).map(|_| Settled::unknown(reason)).collect();
        Self { settled, slices: Vec::new(), merges: Vec::new() }
    }
}

/// An answer with its circumstances.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) answer: Answer,
    pub(crate) stats: Stats,
    /// Which of the slices was searched; none where the whole net was.
    pub(crate) slice: Option<usize>,
    /// Which of the merges made the net that was searched.
    pub(crate) merge: Option<usize>,
    pub(crate) origin: Origin,
}

impl Settled {
    /// There is no answer, and nothing was searched for it.
    fn unknown(reason: &StopReason) -> Self {
        let (answer, stats) = (Answer::Unknown(reason.clone()), Stats::default());
        Self { answer, stats, slice: None, merge: None, origin: Origin::Search }
    }
}

/// Properties that are asked about together, by their positions in the list of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) members: Vec<usize>,
    /// Which infinite runs count; `None` where that makes no difference to the members.
    pub(crate) fairness: Option<Fairness>,
}

impl Group {
    /// The properties themselves.
    pub(crate) fn properties(&self, all: &[Property]) -> Vec<Property> {
        self.members.iter().map(|&member| all[member].clone()).collect()
    }
}

/// What shares a slice: all properties that single steps or markings break, and each other formula or automaton by itself. The former
/// share a search, so that they should share a slice as well; a search for a formula is one of its own.
///
/// An invariant is of the former if it asks where nothing can move. That is what most of the net matters for, and a second
/// search for the others would walk through most of the same states.
pub(crate) fn groups(properties: &[Property], fairness: Fairness) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for (position, property) in properties.iter().enumerate() {
        let is_alone = match &property.kind {
            PropertyKind::Ltl { formula, atoms } => {
                fairness != Fairness::None || !asks_for_ends(formula, atoms)
            }
            PropertyKind::Never { .. } => true,
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => false,
        };
        if is_alone {
            found.push(Group { members: vec![position], fairness: Some(fairness) });
            continue;
        }
        match found.iter_mut().find(|group| group.fairness.is_none()) {
            Some(group) => group.members.push(position),
            None => found.push(Group { members: vec![position], fairness: None }),
        }
    }
    found
}

/// Whether a formula says that an atom is never true, and the atom asks whether nothing can move.
fn asks_for_ends(formula: &Ltl, atoms: &[AtomData]) -> bool {
    let is_never = match formula {
        Ltl::Globally(inner) => matches!(&**inner, Ltl::Not(inner) if matches!(**inner, Ltl::Atom(_))),
        _ => false,
    };
    let asks = |atom: &AtomData| {
        let mut asks = false;
        atom.expr.walk(&mut |part| asks |= matches!(part, Expr::Deadlock));
        asks
    };
    is_never && atoms.iter().all(asks)
}

/// What is searched: the whole net, or what reductions made of it. Each comes with its position in the list of those
/// that were made.
#[derive(Clone, Copy, Default)]
struct Target<'a> {
    slice: Option<(&'a Slice, usize)>,
    /// Steps of the slice, or of the whole net, that became one.
    merged: Option<(&'a Agglomerated, usize)>,
}

/// Makes the slice for properties of a net, and says how long it took.
///
/// # Errors
/// When the slice is no net, which is our bug.
pub(crate) fn slice_for(
    net: &Net,
    properties: &[Property],
    fairness: Fairness,
    method: Method,
) -> Result<(Slice, f64), Failure> {
    let mut clock = Clock::new();
    let made = slice(net, properties, fairness, method);
    let seconds = clock.lap();
    verify(&made.net)?;
    if made.properties.len() != properties.len() {
        return Err(Failure::Bug("a property got lost in slicing".to_owned()));
    }
    Ok((made, seconds))
}

/// Merges steps of a net for properties of it, where some can be.
///
/// # Errors
/// When the result is no net, which is our bug.
fn merge_for(
    net: &Net,
    properties: &[Property],
    fairness: Fairness,
    names: Vec<String>,
) -> Result<Option<(Agglomerated, MergeSummary)>, Failure> {
    let mut clock = Clock::new();
    let Some(made) = agglomerate(net, properties, fairness) else { return Ok(None) };
    let seconds = clock.lap();
    verify(&made.net)?;
    let stops = |net: &Net| {
        let mut sources: Vec<_> =
            net.transitions.iter().filter_map(pdnet_net::TransitionData::source).collect();
        sources.sort_unstable();
        sources.dedup();
        sources.len()
    };
    let summary = MergeSummary {
        properties: names,
        seconds,
        transitions: Change { before: net.transitions.len(), after: made.net.transitions.len() },
        places: Change { before: stops(net), after: stops(&made.net) },
        post: made.post,
        pre: made.pre,
    };
    Ok(Some((made, summary)))
}

/// Whether no memory can be raced for, so that no state has to be looked at and nothing has to be kept for it.
pub(crate) fn is_clear(net: &Net, property: &Property) -> bool {
    matches!(property.kind, PropertyKind::NoRace) && net.contested_memory().is_empty()
}

impl Search<'_> {
    /// Answers properties of the program: sliced, searched, and with violations replayed on the whole net.
    ///
    /// # Errors
    /// What is our bug: a wrong number of answers, a run that is none.
    pub(crate) fn answer(
        &self,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
    ) -> Result<Answers, Failure> {
        let mut settled: Vec<Option<Settled>> = properties.iter().map(|_| None).collect();
        let mut open = Vec::new();
        for (position, property) in properties.iter().enumerate() {
            if is_clear(self.net, property) {
                let (stats, origin) = (Stats::default(), Origin::Search);
                let answer = Answer::Holds;
                settled[position] = Some(Settled { answer, stats, slice: None, merge: None, origin });
            } else {
                open.push(position);
            }
        }
        let asked: Vec<Property> = open.iter().map(|&position| properties[position].clone()).collect();
        let (mut slices, mut merges) = (Vec::new(), Vec::new());
        let answers = if self.slicing.is_none() && !self.agglomerates {
            self.whole(&asked, fairness, what)?
        } else {
            self.reduced(&asked, fairness, what, &mut slices, &mut merges)?
        };
        for (position, answer) in open.into_iter().zip(answers) {
            settled[position] = Some(answer);
        }
        Ok(Answers { settled: settled.into_iter().flatten().collect(), slices, merges })
    }

    /// Answers by searching the whole net, all properties in one request.
    fn whole(
        &self,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
    ) -> Result<Vec<Settled>, Failure> {
        self.search(&Target::default(), properties, fairness, what)
    }

    /// Answers by searching a smaller net for each group of properties: sliced first, then with steps merged.
    fn reduced(
        &self,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
        slices: &mut Vec<SliceSummary>,
        merges: &mut Vec<MergeSummary>,
    ) -> Result<Vec<Settled>, Failure> {
        let mut settled: Vec<Option<Settled>> = properties.iter().map(|_| None).collect();
        for group in groups(properties, fairness) {
            let members = group.properties(properties);
            // A formula with `X`, and many an automaton, sees steps that are cut or merged.
            let answers = if members.iter().any(Property::sees_steps) {
                self.whole(&members, fairness, what)?
            } else {
                let fairness = group.fairness.unwrap_or_default();
                let names: Vec<String> = members.iter().map(|property| property.name.clone()).collect();
                let mut target = Target::default();
                let slice;
                if let Some(slicing) = self.slicing {
                    let (net, asked, method) = (Arc::clone(self.net), members.clone(), slicing.method);
                    let made = self.patience.wait_for(move || slice_for(&net, &asked, fairness, method));
                    let (made, seconds) = match made {
                        Ok(made) => made?,
                        Err(reason) => {
                            for &member in &group.members {
                                settled[member] = Some(Settled::unknown(&reason));
                            }
                            continue;
                        }
                    };
                    let (map, parts) = (&self.session.map, KeptParts::of(&made));
                    slices.push(SliceSummary::new(
                        self.net,
                        map,
                        slicing.name,
                        names.clone(),
                        &parts,
                        seconds,
                    ));
                    slice = made;
                    target.slice = Some((&slice, slices.len() - 1));
                }
                let merged = if self.agglomerates {
                    let (net, asked) = self.searched(&target, &members);
                    merge_for(net, asked, fairness, names)?
                } else {
                    None
                };
                if let Some((merged, summary)) = &merged {
                    merges.push(summary.clone());
                    target.merged = Some((merged, merges.len() - 1));
                }
                self.search(&target, &members, fairness, what)?
            };
            for (&member, answer) in group.members.iter().zip(answers) {
                settled[member] = Some(answer);
            }
        }
        Ok(settled.into_iter().flatten().collect())
    }

    /// The net that is searched, with the properties as properties of it.
    fn searched<'a>(&'a self, target: &Target<'a>, properties: &'a [Property]) -> (&'a Net, &'a [Property]) {
        match (target.merged, target.slice) {
            (Some((merged, _)), _) => (&merged.net, &merged.properties),
            (None, Some((slice, _))) => (&slice.net, &slice.properties),
            (None, None) => (self.net, properties),
        }
    }

    /// Answers by searching one net for all of the properties, as far as the cache does not know them.
    fn search(
        &self,
        target: &Target<'_>,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
    ) -> Result<Vec<Settled>, Failure> {
        let (net, mapped) = self.searched(target, properties);
        let subject = self.cache.map(|cache| (cache, cache.subject(net)));
        let key_of = |position: usize| {
            let (cache, subject) = subject.as_ref()?;
            Some((*cache, cache.key(subject, &mapped[position], fairness)))
        };
        let mut settled: Vec<Option<Settled>> = Vec::new();
        for (position, property) in properties.iter().enumerate() {
            settled.push(match key_of(position) {
                Some((cache, key)) => self.remembered(target, net, property, fairness, (cache, &key))?,
                None => None,
            });
        }
        let open: Vec<usize> =
            (0..properties.len()).filter(|&position| settled[position].is_none()).collect();
        let asked: Vec<Property> = open.iter().map(|&position| mapped[position].clone()).collect();
        let outcomes = self.ask(net, &asked, fairness, what)?;
        for (position, outcome) in open.into_iter().zip(outcomes) {
            let property = &properties[position];
            let lifted = self.lift(target, property, &outcome.verdict)?;
            let Some(verdict) = lifted else {
                settled[position] = Some(self.alone(property, fairness, what)?);
                continue;
            };
            let answer = self.settle(property, fairness, verdict)?;
            if let Some((cache, key)) = key_of(position) {
                let stored = match &outcome.verdict {
                    Verdict::Holds => cache.store(&key, None, outcome.stats),
                    Verdict::Violated(trace) => cache.store(&key, Some(trace), outcome.stats),
                    Verdict::Unknown(_) => Ok(()),
                };
                stored.unwrap_or_else(|why| self.warn(why));
            }
            let (stats, origin) = (outcome.stats, Origin::Search);
            let (slice, merge) = (target.slice.map(|(_, at)| at), target.merged.map(|(_, at)| at));
            settled[position] = Some(Settled { answer, stats, slice, merge, origin });
        }
        Ok(settled.into_iter().flatten().collect())
    }

    /// The answer of an earlier run to the same question. A violation counts only where its run is one of the present
    /// program and breaks the property: it is lifted and replayed as a new one would be.
    fn remembered(
        &self,
        target: &Target<'_>,
        net: &Net,
        property: &Property,
        fairness: Fairness,
        (cache, key): (&Cache, &Key),
    ) -> Result<Option<Settled>, Failure> {
        let (verdict, stats) = match cache.load(key, net) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(why) => {
                self.warn(why);
                return Ok(None);
            }
        };
        let answer = match self.lift(target, property, &verdict) {
            Ok(Some(verdict)) => self.settle(property, fairness, verdict),
            Ok(None) => return Ok(None),
            Err(failure) => Err(failure),
        };
        match answer {
            Ok(answer) => {
                let (slice, merge) = (target.slice.map(|(_, at)| at), target.merged.map(|(_, at)| at));
                Ok(Some(Settled { answer, stats, slice, merge, origin: Origin::Cache }))
            }
            Err(Failure::Bug(why)) => {
                self.warn(format!("an answer in the cache is ignored: {why}"));
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Answers one property by searching the whole net.
    fn alone(&self, property: &Property, fairness: Fairness, what: &str) -> Result<Settled, Failure> {
        let mut answers = self.whole(std::slice::from_ref(property), fairness, what)?;
        answers.pop().ok_or_else(|| Failure::Bug(format!("there is no answer to `{}`", property.name)))
    }

    /// A verdict on what was searched as one on the whole net; `None` where the run of a violation may be one of the
    /// whole net, but none was found.
    fn lift(
        &self,
        target: &Target<'_>,
        property: &Property,
        verdict: &Verdict,
    ) -> Result<Option<Verdict>, Failure> {
        let Verdict::Violated(trace) = verdict else { return Ok(Some(verdict.clone())) };
        let no_run = |what: &str, error: LiftError| {
            let name = &property.name;
            Failure::Bug(format!("a run {what} breaks `{name}`, but it is none of the program: {error}"))
        };
        let mut trace = trace.clone();
        if let Some((merged, _)) = target.merged {
            let before = target.slice.map_or(self.net.as_ref(), |(slice, _)| &slice.net);
            trace = merged.lift(before, &trace).map_err(|error| no_run("with merged steps", error))?;
        }
        if let Some((slice, _)) = target.slice {
            match slice.lift(self.net, &trace) {
                Ok(lifted) => trace = lifted,
                Err(LiftError::Open) => return Ok(None),
                Err(error @ LiftError::Stuck { .. }) => return Err(no_run("of the slice", error)),
            }
        }
        Ok(Some(Verdict::Violated(trace)))
    }

    /// Says what is wrong with the cache.
    fn warn(&self, why: String) {
        if self.warns {
            self.session.show(&[Diagnostic::warning("cache", why)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_asked_about_alone() {
        let net = Net::default();
        let properties = [
            Property::assertions(&net),
            Property::termination(&net),
            Property::no_race(),
            Property::termination(&net),
        ];
        let groups = groups(&properties, Fairness::Weak);
        let members: Vec<&[usize]> = groups.iter().map(|group| group.members.as_slice()).collect();
        assert_eq!(members, [&[0, 2][..], &[1], &[3]]);
        let fairness: Vec<Option<Fairness>> = groups.iter().map(|group| group.fairness).collect();
        assert_eq!(fairness, [None, Some(Fairness::Weak), Some(Fairness::Weak)]);
    }

    #[test]
    fn without_reductions_nothing_is_cut() {
        assert!(Slicing::new(None, &Reductions::none()).is_none());
        assert!(Slicing::new(Some(SliceMethod::Off), &Reductions::all()).is_none());
        let named = Slicing::new(Some(SliceMethod::Net), &Reductions::none());
        assert_eq!(named.map(|found| found.name), Some("net"));
        assert_eq!(Slicing::new(None, &Reductions::all()).map(|found| found.name), Some("on-demand"));
    }
}
