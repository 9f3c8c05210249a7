//! From properties to answers by way of slices: which properties share a slice, the search of the slice, and the
//! way of a run back to the whole net.

use std::sync::Arc;

use pdnet_check::{Fairness, Property, PropertyKind, Stats, StopReason, Verdict};
use pdnet_net::Net;
use pdnet_reduce::{LiftError, Method, Slice, slice};
use pdnet_report::{Answer, KeptParts, Origin, SliceSummary};
use pdnet_source::Diagnostic;

use crate::args::{Reduce, SliceMethod};
use crate::cache::{Cache, Key};
use crate::exit::Failure;
use crate::pipeline::{Clock, verify};
use crate::settle::Search;

/// A method by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slicing {
    pub(crate) method: Method,
    pub(crate) name: &'static str,
}

impl Slicing {
    /// What the options ask for. Without reductions nothing is cut, unless a method is named.
    pub(crate) fn new(method: Option<SliceMethod>, reduce: Reduce) -> Option<Self> {
        let default = match reduce {
            Reduce::None => SliceMethod::Off,
            Reduce::All => SliceMethod::OnDemand,
        };
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
}

impl Answers {
    /// There is none to any of so many properties.
    pub(crate) fn unknown(n_properties: usize, reason: &StopReason) -> Self {
        let settled = (0..n_properties).map(|_| Settled::unknown(reason)).collect();
        Self { settled, slices: Vec::new() }
    }
}

/// An answer with its circumstances.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) answer: Answer,
    pub(crate) stats: Stats,
    /// Which of the slices was searched; none where the whole net was.
    pub(crate) slice: Option<usize>,
    pub(crate) origin: Origin,
}

impl Settled {
    /// There is no answer, and nothing was searched for it.
    fn unknown(reason: &StopReason) -> Self {
        let (answer, stats) = (Answer::Unknown(reason.clone()), Stats::default());
        Self { answer, stats, slice: None, origin: Origin::Search }
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

/// What shares a slice: all properties that single steps or markings break, and each formula or automaton by itself. The former
/// share a search, so that they should share a slice as well; a search for a formula is one of its own.
pub(crate) fn groups(properties: &[Property], fairness: Fairness) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for (position, property) in properties.iter().enumerate() {
        match &property.kind {
            PropertyKind::Ltl { .. } | PropertyKind::Never { .. } => {
                found.push(Group { members: vec![position], fairness: Some(fairness) });
            }
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => {
                match found.iter_mut().find(|group| group.fairness.is_none()) {
                    Some(group) => group.members.push(position),
                    None => found.push(Group { members: vec![position], fairness: None }),
                }
            }
        }
    }
    found
}

/// What is searched.
enum Target<'a> {
    /// The whole net.
    Whole,
    /// A slice of it.
    Slice {
        slice: &'a Slice,
        /// Which one in the list of slices.
        number: usize,
    },
}

impl Target<'_> {
    const fn number(&self) -> Option<usize> {
        match self {
            Self::Whole => None,
            Self::Slice { number, .. } => Some(*number),
        }
    }
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
                settled[position] = Some(Settled { answer: Answer::Holds, stats, slice: None, origin });
            } else {
                open.push(position);
            }
        }
        let asked: Vec<Property> = open.iter().map(|&position| properties[position].clone()).collect();
        let mut slices = Vec::new();
        let answers = match self.slicing {
            None => self.whole(&asked, fairness, what)?,
            Some(slicing) => self.sliced(&asked, fairness, what, slicing, &mut slices)?,
        };
        for (position, answer) in open.into_iter().zip(answers) {
            settled[position] = Some(answer);
        }
        Ok(Answers { settled: settled.into_iter().flatten().collect(), slices })
    }

    /// Answers by searching the whole net, all properties in one request.
    fn whole(
        &self,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
    ) -> Result<Vec<Settled>, Failure> {
        self.search(&Target::Whole, properties, fairness, what)
    }

    /// Answers by searching a slice for each group of properties.
    fn sliced(
        &self,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
        slicing: Slicing,
        slices: &mut Vec<SliceSummary>,
    ) -> Result<Vec<Settled>, Failure> {
        let mut settled: Vec<Option<Settled>> = properties.iter().map(|_| None).collect();
        for group in groups(properties, fairness) {
            let members = group.properties(properties);
            // A formula with `X`, and many an automaton, sees steps that slicing cuts.
            let answers = if members.iter().any(Property::sees_steps) {
                self.whole(&members, fairness, what)?
            } else {
                let fairness = group.fairness.unwrap_or_default();
                let (net, asked, method) = (Arc::clone(self.net), members.clone(), slicing.method);
                let made = self.patience.wait_for(move || slice_for(&net, &asked, fairness, method));
                let (slice, seconds) = match made {
                    Ok(made) => made?,
                    Err(reason) => {
                        for &member in &group.members {
                            settled[member] = Some(Settled::unknown(&reason));
                        }
                        continue;
                    }
                };
                let names = members.iter().map(|property| property.name.clone()).collect();
                let map = &self.session.map;
                let parts = KeptParts::of(&slice);
                slices.push(SliceSummary::new(self.net, map, slicing.name, names, &parts, seconds));
                let target = Target::Slice { slice: &slice, number: slices.len() - 1 };
                self.search(&target, &members, fairness, what)?
            };
            for (&member, answer) in group.members.iter().zip(answers) {
                settled[member] = Some(answer);
            }
        }
        Ok(settled.into_iter().flatten().collect())
    }

    /// Answers by searching one net for all of the properties, as far as the cache does not know them.
    fn search(
        &self,
        target: &Target<'_>,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
    ) -> Result<Vec<Settled>, Failure> {
        let (net, mapped) = match target {
            Target::Whole => (self.net.as_ref(), properties),
            Target::Slice { slice, .. } => (&slice.net, slice.properties.as_slice()),
        };
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
            settled[position] = Some(Settled { answer, stats, slice: target.number(), origin });
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
            Ok(answer) => Ok(Some(Settled { answer, stats, slice: target.number(), origin: Origin::Cache })),
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
        match (target, verdict) {
            (Target::Slice { slice, .. }, Verdict::Violated(trace)) => match slice.lift(self.net, trace) {
                Ok(lifted) => Ok(Some(Verdict::Violated(lifted))),
                Err(LiftError::Open) => Ok(None),
                Err(error @ LiftError::Stuck { .. }) => Err(Failure::Bug(format!(
                    "a run of the slice breaks `{}`, but it is none of the program: {error}",
                    property.name
                ))),
            },
            (Target::Whole, Verdict::Violated(_)) | (_, Verdict::Holds | Verdict::Unknown(_)) => {
                Ok(Some(verdict.clone()))
            }
        }
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
        assert!(Slicing::new(None, Reduce::None).is_none());
        assert!(Slicing::new(Some(SliceMethod::Off), Reduce::All).is_none());
        let named = Slicing::new(Some(SliceMethod::Net), Reduce::None);
        assert_eq!(named.map(|found| found.name), Some("net"));
        assert_eq!(Slicing::new(None, Reduce::All).map(|found| found.name), Some("on-demand"));
    }
}
