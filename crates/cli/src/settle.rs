//! From an engine's word to an answer that may be shown.

use std::sync::Arc;
use std::time::Duration;

use pdnet_check::{
    Engine, Fairness, Limits, Outcome, Property, PropertyKind, Replay, Request, StopReason, Verdict, replay,
};
use pdnet_net::Net;
use pdnet_net::legend::Legend;
use pdnet_report::{Answer, Probe, ProbeAnswer, Unreached};

use crate::args::LimitArgs;
use crate::cache::Cache;
use crate::engine::unreached;
use crate::exit::Failure;
use crate::patience::Patience;
use crate::progress::{Display, Watch};
use crate::session::Session;
use crate::slicing::Slicing;

/// A look at what would be under stronger fairness ends after so many states, or after so many times those of the search that it
/// comes after: the run that was found shall not wait for long. Time would not be the same on each machine.
const PROBED_STATES: u64 = 1_000_000;
const PROBED_TIMES: u64 = 4;

/// What all searches of one run share.
pub(crate) struct Search<'a> {
    pub(crate) session: &'a Session,
    pub(crate) engine: &'a dyn Engine,
    pub(crate) net: &'a Arc<Net>,
    pub(crate) limits: &'a LimitArgs,
    pub(crate) patience: &'a Patience,
    pub(crate) display: Display,
    /// How to slice; not at all where there is no method.
    pub(crate) slicing: Option<Slicing>,
    /// Whether steps that nobody can come between become one.
    pub(crate) agglomerates: bool,
    /// Answers of earlier runs.
    pub(crate) cache: Option<&'a Cache>,
    /// Whether to say what is wrong with them.
    pub(crate) warns: bool,
}

impl Search<'_> {
    /// Asks the engine about properties of a net, with what is left of the time.
    pub(crate) fn ask(
        &self,
        net: &Net,
        properties: &[Property],
        fairness: Fairness,
        what: &str,
    ) -> Result<Vec<Outcome>, Failure> {
        let limits = self.limits_left();
        let mut watch = Watch::new(self.session.interrupted.clone(), self.display, what)
            .keeping(self.session.checkpoint.as_ref());
        let request = Request { net, properties, fairness, limits };
        let mut outcomes =
            if properties.is_empty() { Vec::new() } else { self.engine.check(&request, &mut watch) };
        if outcomes.len() != properties.len() {
            let (given, wanted) = (outcomes.len(), properties.len());
            return Err(Failure::Bug(format!("the engine gave {given} answers to {wanted} questions")));
        }
        // The user knows the time that he gave, not what was left of it.
        let timeout = self.limits.timeout.unwrap_or(Duration::ZERO);
        for outcome in &mut outcomes {
            if let Verdict::Unknown(StopReason::Timeout(limit)) = &mut outcome.verdict {
                *limit = timeout;
            }
        }
        Ok(outcomes)
    }

    /// The limits of a search that begins now.
    fn limits_left(&self) -> Limits {
        let spent = self.session.start.elapsed();
        Limits {
            timeout: self.limits.timeout.map(|timeout| timeout.saturating_sub(spent)),
            memory: self.limits.memory,
            states: self.limits.states,
        }
    }

    /// Which statements of a model no run executes.
    pub(crate) fn unreached(&self, legend: &Legend) -> Unreached {
        let limits = self.limits_left();
        let mut watch =
            Watch::new(self.session.interrupted.clone(), self.display, "search for unreached statements")
                .keeping(self.session.checkpoint.as_ref());
        let never = unreached(self.net, self.limits, limits, &mut watch).map_err(|reason| {
            match (reason, self.limits.timeout) {
                (StopReason::Timeout(_), Some(timeout)) => StopReason::Timeout(timeout),
                (reason, _) => reason,
            }
        });
        Unreached::new(legend, never)
    }

    /// Replays a violation; other verdicts are taken as they are.
    pub(crate) fn settle(
        &self,
        property: &Property,
        fairness: Fairness,
        verdict: Verdict,
    ) -> Result<Answer, Failure> {
        let trace = match verdict {
            Verdict::Holds => return Ok(Answer::Holds),
            Verdict::Unknown(reason) => return Ok(Answer::Unknown(reason)),
            Verdict::Violated(trace) => trace,
        };
        match replay(self.net, property, fairness, &trace) {
            Ok(run) => Ok(Answer::Violated(Box::new(run))),
            Err(error) => {
                let name = &property.name;
                let engine = self.engine.name();
                Err(Failure::Bug(format!(
                    "the engine {engine} says that `{name}` is violated, but its run cannot be replayed: {error}"
                )))
            }
        }
    }

    /// Asks again under stronger fairness, as long as the run that breaks a formula starves a thread that
    /// the fairness would let move. The search that found the run has walked so many states.
    pub(crate) fn probe(
        &self,
        property: &Property,
        fairness: Fairness,
        (run, n_states): (&Replay, u64),
    ) -> Result<Vec<Probe>, Failure> {
        let may_depend = match &property.kind {
            PropertyKind::Ltl { formula, .. } => !formula.is_syntactic_safety(),
            PropertyKind::Never { .. } => true,
            PropertyKind::NeverFires(_)
            | PropertyKind::NoDeadlock
            | PropertyKind::NoRace
            | PropertyKind::NoPartialDeadlock => false,
        };
        if !may_depend {
            return Ok(Vec::new());
        }
        let stronger: &[Fairness] = match fairness {
            Fairness::None => &[Fairness::Weak, Fairness::Strong],
            Fairness::Weak => &[Fairness::Strong],
            Fairness::Strong => &[],
        };
        let most = PROBED_STATES.max(n_states.saturating_mul(PROBED_TIMES));
        let states = Some(self.limits.states.map_or(most, |limit| limit.min(most)));
        let limits = LimitArgs { states, ..self.limits.clone() };
        let short = Search { limits: &limits, ..*self };
        let mut probes = Vec::new();
        let mut starved = run.starved.clone();
        for &fairness in stronger {
            if starved.is_empty() {
                break;
            }
            let what = format!("{} with {fairness} fairness", property.name);
            let answers = short.answer(std::slice::from_ref(property), fairness, &what)?;
            let answer = match answers.settled.into_iter().next().map(|settled| settled.answer) {
                Some(Answer::Holds) => ProbeAnswer::Holds,
                Some(Answer::Unknown(reason)) => ProbeAnswer::Unknown(reason),
                Some(Answer::Violated(run)) => ProbeAnswer::Violated { starved: run.starved },
                None => ProbeAnswer::Unknown(StopReason::Interrupted),
            };
            let next = match &answer {
                ProbeAnswer::Violated { starved } => starved.clone(),
                ProbeAnswer::Holds | ProbeAnswer::Unknown(_) => Vec::new(),
            };
            probes.push(Probe { fairness, answer });
            starved = next;
        }
        Ok(probes)
    }
}

#[cfg(test)]
mod tests {
    use pdnet_check::{Observer, Stats, Trace, TraceEnd};
    use pdnet_net::parse_net;
    use pdnet_source::SourceMap;

    use super::*;
    use crate::args::When;

    /// An engine that is wrong.
    struct Liar(Vec<Verdict>);

    impl Engine for Liar {
        fn name(&self) -> &'static str {
            "liar"
        }

        fn check(&self, _: &Request<'_>, _: &mut dyn Observer) -> Vec<Outcome> {
            self.0
                .iter()
                .map(|verdict| Outcome { verdict: verdict.clone(), stats: Stats::default() })
                .collect()
        }
    }

    /// A thread that can take one step and then has ended.
    const NET: &str = r#"
        net "one step" threads 1 depth 1
        color c0 = thread depth
        color c1 = thread
        color c2 =
        function f0 "main" entry p0 exit p0
        place p0 execution c0 "start" of f0 tokens (0 0)
        place p1 execution c1 "done" tokens
        place p2 execution c2 "ended" tokens
        done p1
        ended p2
        transition t0 thread-end f0 "end"
          var x0 thread "t"
          var x1 depth "d"
          take p0 (?x0 ?x1)
    "#;

    /// What comes of these verdicts on the freedom from deadlocks.
    fn settled(verdicts: Vec<Verdict>) -> Result<Answer, Failure> {
        with_search(verdicts, None, |search| {
            let properties = [Property::no_deadlock()];
            let outcome = search.ask(search.net, &properties, Fairness::None, "test")?.remove(0);
            search.settle(&properties[0], Fairness::None, outcome.verdict)
        })
    }

    /// Does something with a search by an engine that gives these verdicts.
    fn with_search<R>(
        verdicts: Vec<Verdict>,
        cache: Option<&Cache>,
        action: impl FnOnce(&Search<'_>) -> R,
    ) -> R {
        let mut map = SourceMap::new();
        let file = map.add("net", NET);
        let net = Arc::new(parse_net(&map, file).unwrap());
        assert_eq!(pdnet_net::verify_net(&net), []);
        let limits = LimitArgs {
            timeout: Some(Duration::from_secs(7)),
            memory: None,
            states: None,
            preemptions: None,
            threads: 1,
            search: None,
            store: crate::args::Store::Exact,
            jit: crate::args::JitMode::Auto,
        };
        let session = Session::new(When::Never);
        let engine = Liar(verdicts);
        let (start, interrupted) = (session.start, Arc::clone(&session.interrupted));
        let search = Search {
            session: &session,
            engine: &engine,
            net: &net,
            limits: &limits,
            patience: &Patience { start, timeout: limits.timeout, interrupted },
            display: Display::Hidden,
            slicing: None,
            agglomerates: false,
            cache,
            warns: false,
        };
        action(&search)
    }

    #[test]
    fn a_run_from_the_cache_that_is_none_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::of_test(folder.path());
        let properties = [Property::no_deadlock()];
        let answer = with_search(vec![Verdict::Holds], Some(&cache), |search| {
            let key = cache.key(&cache.subject(search.net), &properties[0], Fairness::None);
            let forged = Trace { prefix: Vec::new(), end: TraceEnd::Stutter };
            cache.store(&key, Some(&forged), Stats::default()).expect("stored");
            search.answer(&properties, Fairness::None, "test").expect("no bug of ours").settled.remove(0)
        });
        assert!(matches!(answer.answer, Answer::Holds), "{answer:?}");
        assert_eq!(answer.origin, pdnet_report::Origin::Search);
    }

    #[test]
    fn a_run_that_is_none_is_our_bug() {
        let trace = Trace { prefix: Vec::new(), end: TraceEnd::Stutter };
        let failure = settled(vec![Verdict::Violated(trace)]).unwrap_err();
        assert!(matches!(&failure, Failure::Bug(text) if text.contains("cannot be replayed")), "{failure:?}");
        assert_eq!(failure.status(), crate::exit::ExitStatus::Bug);
    }

    #[test]
    fn a_missing_answer_is_our_bug() {
        assert!(matches!(settled(Vec::new()), Err(Failure::Bug(_))));
    }

    #[test]
    fn the_time_limit_is_the_one_that_was_given() {
        let left = Verdict::Unknown(StopReason::Timeout(Duration::from_millis(6_871)));
        let answer = settled(vec![left]).unwrap();
        let given = StopReason::Timeout(Duration::from_secs(7));
        assert!(matches!(&answer, Answer::Unknown(reason) if *reason == given), "{answer:?}");
    }
}
