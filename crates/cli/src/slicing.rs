//! From properties to answers by way of slices: which properties share a slice, the search of the slice, and the
//! way of a run back to the whole net.

use pdnet_check::{Fairness, Property, PropertyKind, Stats, Trace, Verdict};
use pdnet_net::Net;
use pdnet_reduce::{LiftError, Method, Slice, slice};
use pdnet_report::{Answer, Origin, SliceSummary};

use crate::args::{Reduce, SliceMethod};
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
    /// What the options ask for. Without reductions nothing is cut.
    pub(crate) const fn new(method: SliceMethod, reduce: Reduce) -> Option<Self> {
        match (reduce, method) {
            (Reduce::None, _) | (Reduce::All, SliceMethod::Off) => None,
            (Reduce::All, SliceMethod::OnDemand) => {
                Some(Self { method: Method::OnDemand, name: "on-demand" })
            }
            (Reduce::All, SliceMethod::Program) => Some(Self { method: Method::Program, name: "program" }),
            (Reduce::All, SliceMethod::Net) => Some(Self { method: Method::Net, name: "net" }),
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

/// An answer with its circumstances.
#[derive(Debug)]
pub(crate) struct Settled {
    pub(crate) answer: Answer,
    pub(crate) stats: Stats,
    /// Which of the slices was searched; none where the whole net was.
    pub(crate) slice: Option<usize>,
    pub(crate) origin: Origin,
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

/// What shares a slice: all properties that single steps or markings break, and each formula by itself. The former
/// share a search, so that they should share a slice as well; a search for a formula is one of its own.
pub(crate) fn groups(properties: &[Property], fairness: Fairness) -> Vec<Group> {
    let mut found: Vec<Group> = Vec::new();
    for (position, property) in properties.iter().enumerate() {
        match &property.kind {
            PropertyKind::Ltl { .. } => {
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
        let outcomes = self.ask(self.net, properties, fairness, what)?;
        let settle = |(property, outcome): (&Property, pdnet_check::Outcome)| {
            let answer = self.settle(property, fairness, outcome.verdict)?;
            Ok(Settled { answer, stats: outcome.stats, slice: None, origin: Origin::Search })
        };
        properties.iter().zip(outcomes).map(settle).collect()
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
            let answers = if self.is_over() {
                self.whole(&members, fairness, what)?
            } else {
                self.group(&members, group.fairness, what, slicing, slices)?
            };
            for (&member, answer) in group.members.iter().zip(answers) {
                settled[member] = Some(answer);
            }
        }
        Ok(settled.into_iter().flatten().collect())
    }

    /// Answers by searching one slice for all of the properties.
    fn group(
        &self,
        properties: &[Property],
        fairness: Option<Fairness>,
        what: &str,
        slicing: Slicing,
        slices: &mut Vec<SliceSummary>,
    ) -> Result<Vec<Settled>, Failure> {
        let fairness = fairness.unwrap_or_default();
        let (slice, seconds) = slice_for(self.net, properties, fairness, slicing.method)?;
        let names = properties.iter().map(|property| property.name.clone()).collect();
        let number = slices.len();
        slices.push(SliceSummary::new(self.net, &self.session.map, slicing.name, names, &slice, seconds));
        let outcomes = self.ask(&slice.net, &slice.properties, fairness, what)?;
        let mut answers = Vec::new();
        for (property, outcome) in properties.iter().zip(outcomes) {
            let settled = match self.lift(&slice, property, outcome.verdict)? {
                Some(verdict) => Settled {
                    answer: self.settle(property, fairness, verdict)?,
                    stats: outcome.stats,
                    slice: Some(number),
                    origin: Origin::Search,
                },
                None => self.alone(property, fairness, what)?,
            };
            answers.push(settled);
        }
        Ok(answers)
    }

    /// Answers one property by searching the whole net.
    fn alone(&self, property: &Property, fairness: Fairness, what: &str) -> Result<Settled, Failure> {
        let mut answers = self.whole(std::slice::from_ref(property), fairness, what)?;
        answers.pop().ok_or_else(|| Failure::Bug(format!("there is no answer to `{}`", property.name)))
    }

    /// A verdict on the slice as one on the whole net; `None` where the run of a violation may be one of the whole
    /// net, but none was found.
    fn lift(&self, slice: &Slice, property: &Property, verdict: Verdict) -> Result<Option<Verdict>, Failure> {
        let trace = match verdict {
            Verdict::Violated(trace) => trace,
            Verdict::Holds | Verdict::Unknown(_) => return Ok(Some(verdict)),
        };
        self.lift_run(slice, property, &trace).map(|lifted| lifted.map(Verdict::Violated))
    }

    /// A run of the slice as one of the whole net.
    fn lift_run(&self, slice: &Slice, property: &Property, trace: &Trace) -> Result<Option<Trace>, Failure> {
        match slice.lift(self.net, trace) {
            Ok(lifted) => Ok(Some(lifted)),
            Err(LiftError::Open) => Ok(None),
            Err(error @ LiftError::Stuck { .. }) => Err(Failure::Bug(format!(
                "a run of the slice breaks `{}`, but it is none of the program: {error}",
                property.name
            ))),
        }
    }

    /// Whether there is no time left, or the user wants to stop: slicing would only keep him waiting.
    fn is_over(&self) -> bool {
        let interrupted = self.session.interrupted.load(std::sync::atomic::Ordering::Relaxed);
        let spent = self.session.start.elapsed();
        interrupted || self.limits.timeout.is_some_and(|timeout| spent >= timeout)
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
        assert!(Slicing::new(SliceMethod::Net, Reduce::None).is_none());
        assert!(Slicing::new(SliceMethod::Off, Reduce::All).is_none());
        assert_eq!(
            Slicing::new(SliceMethod::OnDemand, Reduce::All).map(|found| found.name),
            Some("on-demand")
        );
    }
}
