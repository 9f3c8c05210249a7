//! Limits and progress.

use std::time::{Duration, Instant};

use pdnet_check::{Control, Keeper, Limits, MemoryUse, Observer, Progress, Stats, StopReason};
use pdnet_space::StoreSize;

/// How many expansions pass between two looks at the clock and at the memory.
const INTERVAL: u32 = 1024;

/// How many firings of one state pass between two such looks: a choice may have very many values.
pub(crate) const FIRINGS: u64 = 1 << 14;

/// The least time between two reports.
const REPORT: Duration = Duration::from_millis(250);

/// The memory of the process is looked at again when a search has counted so much more, as a share of its limit.
const MEASURED: u64 = 64;

/// What the process had before the request is part of what it may have, up to this share: a limit below that would leave nothing.
const OWN: u64 = 4;

/// What a request may still use.
pub(crate) struct Budget<'a> {
    limits: Limits,
    observer: &'a mut dyn Observer,
    start: Instant,
    reported: Instant,
    n_ticks: u32,
    /// How many expansions pass before it is asked whether the search is to be kept.
    keep_every: u32,
    peak_memory: u64,
    resident: Resident,
    /// Set when the time is up or the user stops: that holds for all searches to come.
    over: Option<StopReason>,
}

/// What another worker on the same request needs to know of its budget.
#[derive(Clone)]
pub(crate) struct Fork {
    limits: Limits,
    start: Instant,
    over: Option<StopReason>,
}

impl Fork {
    /// The same limits for a worker with an observer of its own.
    pub(crate) fn with(self, observer: &mut dyn Observer) -> Budget<'_> {
        let Self { limits, start, over } = self;
        // One worker who looks at the memory of the process is enough.
        let resident = Resident::default();
        let (n_ticks, keep_every, peak_memory) = (0, INTERVAL, 0);
        Budget { limits, observer, start, reported: start, n_ticks, keep_every, peak_memory, resident, over }
    }
}

/// The memory of the process, which is more than what a search counts: the allocator keeps what it was given back, and each worker has
/// some memory of its own.
#[derive(Clone, Copy, Default)]
struct Resident {
    /// When the request began; nothing where the system does not say.
    before: Option<u64>,
    /// How much more it was when it was looked at last.
    more: u64,
    /// What the search had counted then.
    counted: u64,
}

impl Resident {
    fn new(observer: &mut dyn Observer) -> Self {
        Self { before: observer.resident_bytes(), more: 0, counted: 0 }
    }

    /// Looks at it again.
    fn measure(&mut self, counted: u64, observer: &mut dyn Observer) {
        if let Some(before) = self.before
            && let Some(now) = observer.resident_bytes()
        {
            *self = Self { before: Some(before), more: now.saturating_sub(before), counted };
        }
    }
}

/// One search within a budget: its states count from 0, the clock does not.
pub(crate) struct Search {
    start: Instant,
}

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: Limits, observer: &'a mut dyn Observer) -> Self {
        let start = Instant::now();
        let resident = if limits.memory.is_some() { Resident::new(observer) } else { Resident::default() };
        let keep_every = observer.keeper().map_or(INTERVAL, |keeper| keeper.patience().max(1));
        let (n_ticks, peak_memory, over) = (0, 0, None);
        Self { limits, observer, start, reported: start, n_ticks, keep_every, peak_memory, resident, over }
    }

    /// Who keeps the search, if it is to be kept.
    pub(crate) fn keeper(&mut self) -> Option<&mut dyn Keeper> {
        self.observer.keeper()
    }

    /// Whether it is time to keep what is new, after so many expansions. To ask that takes next to nothing.
    #[inline]
    pub(crate) fn is_keeping_due(&mut self, n_expanded: u32) -> bool {
        n_expanded.is_multiple_of(self.keep_every)
            && self.observer.keeper().is_some_and(|keeper| keeper.is_due())
    }

    /// The same after the expansions that were counted.
    #[inline]
    pub(crate) fn is_moment(&mut self) -> bool {
        self.is_keeping_due(self.n_ticks)
    }

    /// What another worker needs to know of it.
    pub(crate) fn fork(&self) -> Fork {
        Fork { limits: self.limits, start: self.start, over: self.over.clone() }
    }

    /// Starts a search.
    pub(crate) fn search(&mut self) -> Search {
        self.n_ticks = 0;
        self.peak_memory = 0;
        Search { start: Instant::now() }
    }

    /// Counts an expansion, and looks at the limits now and then.
    #[inline]
    pub(crate) fn tick(&mut self, progress: impl FnOnce() -> Progress) -> Result<(), StopReason> {
        let is_due = self.n_ticks.is_multiple_of(INTERVAL);
        self.n_ticks = self.n_ticks.wrapping_add(1);
        if is_due { self.look(&progress()) } else { Ok(()) }
    }

    /// Looks at the limits now.
    pub(crate) fn look(&mut self, progress: &Progress) -> Result<(), StopReason> {
        if let Some(reason) = &self.over {
            return Err(reason.clone());
        }
        self.peak_memory = self.peak_memory.max(progress.memory_bytes);
        if let Some(timeout) = self.limits.timeout
            && self.start.elapsed() >= timeout
        {
            self.over = Some(StopReason::Timeout(timeout));
            return Err(StopReason::Timeout(timeout));
        }
        if let Some(limit) = self.limits.memory {
            if self.resident.counted.abs_diff(progress.memory_bytes) > limit / MEASURED {
                self.resident.measure(progress.memory_bytes, self.observer);
            }
            let own = self.resident.before.unwrap_or(0).min(limit / OWN);
            if progress.memory_bytes.max(self.resident.more) + own > limit {
                return Err(StopReason::Memory { limit });
            }
        }
        if self.reported.elapsed() >= REPORT {
            self.reported = Instant::now();
            if self.observer.progress(progress) == Control::Stop {
                self.over = Some(StopReason::Interrupted);
                return Err(StopReason::Interrupted);
            }
        }
        Ok(())
    }

    /// Whether the number of states matters.
    #[inline]
    pub(crate) const fn counts_states(&self) -> bool {
        self.limits.states.is_some()
    }

    /// Whether a search that has so many states may have them.
    #[inline]
    pub(crate) fn allow_states(&self, n_states: usize) -> Result<(), StopReason> {
        match self.limits.states {
            Some(limit) if n_states as u64 > limit => Err(StopReason::States(limit)),
            Some(_) | None => Ok(()),
        }
    }

    /// What a search took.
    pub(crate) fn stats(&self, search: &Search, last: &Progress) -> Stats {
        Stats {
            states: last.states,
            transitions: last.transitions,
            seconds: search.start.elapsed().as_secs_f64(),
            peak_memory_bytes: self.peak_memory.max(last.memory_bytes),
            ..Stats::default()
        }
    }
}

/// The memory of a store, as part of what a search uses.
pub(crate) fn memory_of(size: StoreSize) -> MemoryUse {
    let StoreSize { rows, index, parts } = size;
    MemoryUse { states: rows as u64, index: index as u64, parts: parts as u64, ..MemoryUse::default() }
}
