//! An engine whose searches are cut off and gone on with.

use pdnet_base::Rng;
use pdnet_check::{Control, Engine, Keeper, Limits, Observer, Outcome, Progress, Request, Verdict, replay};

/// Searches with one engine, forgets what was not kept at some moment, and goes on with another. Both give the same answers by
/// themselves, and may do so in different ways.
#[derive(Debug)]
pub struct Resumed<F, S> {
    /// The one that begins.
    pub first: F,
    /// The one that goes on.
    pub second: S,
    /// Whether both walk the same states, however often they are cut off.
    pub same_states: bool,
}

/// What is kept, in memory.
#[derive(Clone, Debug)]
struct Records {
    records: Vec<(u64, Vec<u8>)>,
    /// How many records there were when they were made to count.
    commits: Vec<usize>,
    rng: Rng,
    complaints: Vec<String>,
}

impl Records {
    /// What was there after so many commits.
    fn after(&self, n_commits: usize) -> Self {
        let n_records = n_commits.checked_sub(1).map_or(0, |last| self.commits[last]);
        let records = self.records[..n_records].to_vec();
        Self { records, commits: self.commits[..n_commits].to_vec(), ..self.clone() }
    }
}

impl Keeper for Records {
    fn patience(&self) -> u32 {
        1
    }

    fn is_due(&mut self) -> bool {
        self.rng.chance(30)
    }

    fn append(&mut self, search: u64, record: &[u8]) {
        self.records.push((search, record.to_vec()));
    }

    fn commit(&mut self) {
        self.commits.push(self.records.len());
    }

    fn records(&mut self, search: u64, show: &mut dyn FnMut(u64, &[u8])) {
        let own = (0..).zip(&self.records).filter(|(_, (of, _))| *of == search);
        own.for_each(|(place, (_, record))| show(place, record));
    }

    fn record(&mut self, place: u64, record: &mut Vec<u8>) -> bool {
        let found = usize::try_from(place).ok().and_then(|place| self.records.get(place));
        record.clear();
        record.extend(found.iter().flat_map(|(_, found)| found));
        found.is_some()
    }

    fn complain(&mut self, text: &str) {
        self.complaints.push(text.to_owned());
    }

    fn tell(&mut self, _: &str) {}
}

impl Observer for Records {
    fn progress(&mut self, _: &Progress) -> Control {
        Control::Continue
    }

    fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        Some(self)
    }
}

impl<F: Engine, S: Engine> Engine for Resumed<F, S> {
    fn name(&self) -> &'static str {
        "resumed"
    }

    /// The answers of the second engine after a search that was cut off.
    ///
    /// # Panics
    /// Where these are not the answers of the first one, or something that was kept could not be read.
    fn check(&self, request: &Request<'_>, _: &mut dyn Observer) -> Vec<Outcome> {
        let rng = Rng::new(request.net.to_string().len() as u64);
        let mut kept = Records { records: Vec::new(), commits: Vec::new(), rng, complaints: Vec::new() };
        let wanted = self.first.check(request, &mut kept);
        let mut last = wanted.clone();
        // A kill at a moment by chance, one when all was done, and a limit that is met.
        let moments = [kept.rng.below(kept.commits.len() + 1), kept.commits.len()];
        let limit = kept.rng.below(40) as u64;
        for round in 0..3 {
            let mut rest = if let Some(&moment) = moments.get(round) {
                kept.after(moment)
            } else {
                let mut limited = kept.after(0);
                let limits = Limits { states: Some(limit), ..request.limits };
                self.first.check(&Request { limits, ..request.clone() }, &mut limited);
                limited
            };
            let found = self.second.check(request, &mut rest);
            assert_eq!(rest.complaints, [] as [String; 0], "round {round}");
            for ((wanted, found), property) in wanted.iter().zip(&found).zip(request.properties) {
                let name = &property.name;
                assert_eq!(kind(&wanted.verdict), kind(&found.verdict), "{name}, round {round}");
                if let Verdict::Violated(trace) = &found.verdict {
                    let replayed = replay(request.net, property, request.fairness, trace);
                    assert!(replayed.is_ok(), "{name}, round {round}: {replayed:?} {trace:?}");
                }
                if self.same_states && round < 2 {
                    let count = |outcome: &Outcome| (outcome.stats.states, outcome.stats.transitions);
                    assert_eq!(count(wanted), count(found), "{name}, round {round}");
                }
            }
            last = found;
        }
        last
    }
}

/// The verdict without its run, and with the reason where it is unknown.
fn kind(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Holds => "holds".to_owned(),
        Verdict::Violated(_) => "violated".to_owned(),
        Verdict::Unknown(reason) => reason.to_string(),
    }
}
