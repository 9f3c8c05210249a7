//! An answer as a small file, to be used again when the same is asked of the same slice.
//!
//! The schema `pdnet-cache/1` is not for other programs: any version of pdnet may change it, and reads no file that
//! another build has written. A file is one object: `content`, and `checksum` over the content in the form in which
//! [`CacheEntry::content`] gives it.

use pdnet_base::Idx as _;
use pdnet_check::{Stats, Trace, TraceEnd};
use pdnet_net::{Firing, Net, Place, Race, Transition};
use serde::{Deserialize, Serialize};

/// The name and version of the schema.
const SCHEMA: &str = "pdnet-cache/1";

/// An answer that is worth keeping.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheEntry {
    /// The version of pdnet.
    pub version: String,
    /// Which build of it.
    pub build: String,
    /// What was asked.
    pub fingerprint: String,
    /// The run of the net that was searched which breaks the property; none where it holds.
    pub violation: Option<Trace>,
    /// What the search took.
    pub stats: Stats,
}

impl CacheEntry {
    /// The content, in one form only: what a checksum is taken of.
    #[must_use]
    pub fn content(&self) -> String {
        serde_json::to_string(&Content::of(self)).expect("only strings as keys")
    }

    /// The whole file.
    #[must_use]
    pub fn file(&self, checksum: &str) -> String {
        crate::json::to_json(&FileObject { content: Content::of(self), checksum: checksum.to_owned() })
    }

    /// The entry of a file, and the checksum that stands there.
    ///
    /// # Errors
    /// When the text is no such file.
    pub fn parse(text: &str) -> Result<(Self, String), String> {
        let file: FileObject = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.content.schema != SCHEMA {
            return Err(format!("its schema is `{}`", file.content.schema));
        }
        Ok((file.content.entry()?, file.checksum))
    }

    /// Whether the run, if there is one, speaks of nothing that the net does not have. That it is a run of the net
    /// is found out by playing it.
    #[must_use]
    pub fn fits(&self, net: &Net) -> bool {
        let Some(trace) = &self.violation else { return true };
        let fits = |firing: &Firing| {
            let data = net.transitions.get(firing.transition);
            data.is_some_and(|data| data.vars.len() == firing.binding.len())
        };
        let end = match &trace.end {
            TraceEnd::Cycle(firings) => firings.iter().all(fits),
            TraceEnd::Race(race) => {
                net.places.get(race.place).is_some() && fits(&race.first) && fits(&race.second)
            }
            TraceEnd::Stutter | TraceEnd::Any | TraceEnd::Stuck(_) => true,
        };
        end && trace.prefix.iter().all(fits)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileObject {
    content: Content,
    checksum: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    schema: String,
    version: String,
    build: String,
    fingerprint: String,
    verdict: VerdictObject,
    trace: Option<TraceObject>,
    stats: StatsObject,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum VerdictObject {
    True,
    False,
}

/// Whole numbers only: they are read as they were written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatsObject {
    states: u64,
    transitions: u64,
    microseconds: u64,
    peak_memory_bytes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceObject {
    prefix: Vec<FiringObject>,
    end: EndObject,
}

/// A transition and the values of its variables.
type FiringObject = (u32, Vec<i64>);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum EndObject {
    Cycle(Vec<FiringObject>),
    Stutter,
    Any,
    Race { place: u32, key: Vec<i64>, first: FiringObject, second: FiringObject },
    Stuck(i64),
}

impl Content {
    fn of(entry: &CacheEntry) -> Self {
        let stats = &entry.stats;
        Self {
            schema: SCHEMA.to_owned(),
            version: entry.version.clone(),
            build: entry.build.clone(),
            fingerprint: entry.fingerprint.clone(),
            verdict: if entry.violation.is_some() { VerdictObject::False } else { VerdictObject::True },
            trace: entry.violation.as_ref().map(trace_object),
            stats: StatsObject {
                states: stats.states,
                transitions: stats.transitions,
                microseconds: std::time::Duration::try_from_secs_f64(stats.seconds)
                    .map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
                peak_memory_bytes: stats.peak_memory_bytes,
            },
        }
    }

    fn entry(self) -> Result<CacheEntry, String> {
        if (self.verdict == VerdictObject::False) != self.trace.is_some() {
            return Err("its verdict and its run do not go together".to_owned());
        }
        let time = std::time::Duration::from_micros(self.stats.microseconds);
        Ok(CacheEntry {
            version: self.version,
            build: self.build,
            fingerprint: self.fingerprint,
            violation: self.trace.map(trace_of),
            stats: Stats {
                states: self.stats.states,
                states_outside: None,
                states_reduced: None,
                transitions: self.stats.transitions,
                seconds: time.as_secs_f64(),
                peak_memory_bytes: self.stats.peak_memory_bytes,
                ..Stats::default()
            },
        })
    }
}

fn trace_object(trace: &Trace) -> TraceObject {
    let firings = |list: &[Firing]| list.iter().map(firing_object).collect();
    let end = match &trace.end {
        TraceEnd::Cycle(cycle) => EndObject::Cycle(firings(cycle)),
        TraceEnd::Stutter => EndObject::Stutter,
        TraceEnd::Any => EndObject::Any,
        TraceEnd::Race(race) => EndObject::Race {
            place: number(race.place.index()),
            key: race.key.clone(),
            first: firing_object(&race.first),
            second: firing_object(&race.second),
        },
        TraceEnd::Stuck(thread) => EndObject::Stuck(*thread),
    };
    TraceObject { prefix: firings(&trace.prefix), end }
}

fn trace_of(object: TraceObject) -> Trace {
    let firings = |list: Vec<FiringObject>| list.into_iter().map(firing_of).collect();
    let end = match object.end {
        EndObject::Cycle(cycle) => TraceEnd::Cycle(firings(cycle)),
        EndObject::Stutter => TraceEnd::Stutter,
        EndObject::Any => TraceEnd::Any,
        EndObject::Race { place, key, first, second } => TraceEnd::Race(Box::new(Race {
            place: Place::new(place as usize),
            key,
            first: firing_of(first),
            second: firing_of(second),
        })),
        EndObject::Stuck(thread) => TraceEnd::Stuck(thread),
    };
    Trace { prefix: firings(object.prefix), end }
}

fn firing_object(firing: &Firing) -> FiringObject {
    (number(firing.transition.index()), firing.binding.clone())
}

fn firing_of((transition, binding): FiringObject) -> Firing {
    Firing { transition: Transition::new(transition as usize), binding }
}

/// An index has 32 bits.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing(transition: usize) -> Firing {
        Firing { transition: Transition::new(transition), binding: vec![0, -1, i64::MIN] }
    }

    fn entry(violation: Option<Trace>) -> CacheEntry {
        let stats = Stats {
            states: 7,
            states_outside: None,
            states_reduced: None,
            transitions: 9,
            seconds: 0.000_003,
            peak_memory_bytes: 12,
            ..Stats::default()
        };
        let word = |text: &str| text.to_owned();
        CacheEntry { version: word("1"), build: word("b"), fingerprint: word("f"), violation, stats }
    }

    #[test]
    fn what_is_written_is_read() {
        let race = Race { place: Place::new(3), key: vec![4], first: firing(1), second: firing(2) };
        let ends = [
            TraceEnd::Cycle(vec![firing(5)]),
            TraceEnd::Stutter,
            TraceEnd::Any,
            TraceEnd::Race(Box::new(race)),
            TraceEnd::Stuck(2),
        ];
        let traces = ends.into_iter().map(|end| Some(Trace { prefix: vec![firing(0)], end }));
        for violation in traces.chain([None]) {
            let entry = entry(violation);
            let (read, checksum) = CacheEntry::parse(&entry.file("sum")).expect("a file");
            assert_eq!((&read, checksum.as_str()), (&entry, "sum"));
            assert_eq!(read.content(), entry.content());
        }
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        let file = entry(None).file("sum");
        for text in [
            "",
            "{}",
            "[1]",
            &file[..file.len() / 2],
            &file.replace("pdnet-cache/1", "pdnet-cache/2"),
            &file.replace("\"true\"", "\"false\""),
            &file.replace("\"true\"", "\"unknown\""),
            &file.replace("\"states\": 7", "\"states\": -7"),
            &file.replace("\"checksum\"", "\"sum\""),
        ] {
            assert!(CacheEntry::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_run_of_another_net_does_not_fit() {
        let trace = Trace { prefix: vec![firing(0)], end: TraceEnd::Any };
        assert!(!entry(Some(trace)).fits(&Net::default()));
        assert!(entry(None).fits(&Net::default()));
    }
}
