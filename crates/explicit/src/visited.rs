//! Where a search for finite runs keeps the states that it has found, each with the one before it.

use std::ops::ControlFlow;
use std::sync::Arc;

use pdnet_base::Idx as _;
use pdnet_check::MemoryUse;
use pdnet_space::{Full, PartStore, Row, SharedStore, State, StateId, StateStore, States, StoreWorker};

use crate::budget::memory_of;
use crate::parents::Parents;

/// A visited set that knows where each state came from.
pub(crate) trait Visited: PartStore {
    /// The number of a state, and whether it is new: then `parent` is the one before it.
    fn insert(&mut self, state: &State, parent: u32) -> Result<(StateId, bool), Full>;

    /// The same for a state of which the numbers are known.
    fn insert_row(&mut self, row: &Row, parent: u32) -> Result<(StateId, bool), Full>;

    /// Brings a state that is to be put in with others, and says how many there are now.
    fn bring(&mut self, row: &Row, parent: u32, flag: bool) -> usize;

    /// Puts the states in that were brought, and calls `found` with the number of each, whether it is new, and its flag, until
    /// that breaks.
    fn insert_brought(
        &mut self,
        found: impl FnMut(StateId, bool, bool) -> ControlFlow<()>,
    ) -> Result<(), Full>;

    /// The state before this one.
    fn parent(&self, id: StateId) -> StateId;

    /// How many states there are.
    fn len(&self) -> usize;

    /// What it takes memory for.
    fn memory(&self) -> MemoryUse;
}

/// The visited set of a search by one worker. States are numbered in the order in which they are found.
pub(crate) struct Kept {
    store: StateStore,
    parents: Parents,
}

impl Kept {
    pub(crate) fn new(store: StateStore) -> Self {
        Self { store, parents: Parents::default() }
    }

    /// The states before those from this number on.
    pub(crate) fn parents_from(&self, first: usize) -> impl Iterator<Item = u32> {
        self.parents.iter_from(first)
    }

    /// The same states for several workers, without handing out again the first so many.
    pub(crate) fn share(&self, n_expanded: usize, n_workers: usize) -> Result<Arc<SharedStore>, Full> {
        SharedStore::new(&self.store, self.parents.iter(), n_expanded, n_workers)
    }
}

impl States for Kept {
    fn load(&self, id: StateId, state: &mut State) {
        self.store.load(id, state);
    }
}

impl Visited for Kept {
    #[inline]
    fn insert(&mut self, state: &State, parent: u32) -> Result<(StateId, bool), Full> {
        let (id, is_new) = self.store.insert(state)?;
        if is_new {
            self.parents.push(parent);
        }
        Ok((id, is_new))
    }

    #[inline]
    fn insert_row(&mut self, row: &Row, parent: u32) -> Result<(StateId, bool), Full> {
        let (id, is_new) = self.store.insert_row(row)?;
        if is_new {
            self.parents.push(parent);
        }
        Ok((id, is_new))
    }

    #[inline]
    fn bring(&mut self, row: &Row, parent: u32, flag: bool) -> usize {
        self.store.bring(row, parent, flag)
    }

    #[inline]
    fn insert_brought(
        &mut self,
        mut found: impl FnMut(StateId, bool, bool) -> ControlFlow<()>,
    ) -> Result<(), Full> {
        let Self { store, parents } = self;
        store.insert_brought(|id, is_new, parent, flag| {
            if is_new {
                parents.push(parent);
            }
            found(id, is_new, flag)
        })
    }

    fn parent(&self, id: StateId) -> StateId {
        StateId::new(self.parents.get(id.index()) as usize)
    }

    #[inline]
    fn len(&self) -> usize {
        self.store.len()
    }

    fn memory(&self) -> MemoryUse {
        MemoryUse { way_back: self.parents.bytes() as u64, ..memory_of(self.store.size()) }
    }
}

impl PartStore for Kept {
    #[inline]
    fn number(&mut self, state: &mut State) -> Result<(), Full> {
        self.store.number(state)
    }

    fn words(&self, part: usize, number: u32, room: &mut Vec<i64>) {
        self.store.words(part, number, room);
    }

    #[inline]
    fn word(&self, part: usize, number: u32, at: usize) -> i64 {
        self.store.word(part, number, at)
    }

    #[inline]
    fn load_row(&self, id: StateId, row: &mut Row) {
        self.store.load_row(id, row);
    }

    fn bytes(&self) -> usize {
        self.store.bytes() + self.parents.bytes()
    }
}

/// The mark of a state is the number of the one before it.
impl Visited for StoreWorker {
    #[inline]
    fn insert(&mut self, state: &State, parent: u32) -> Result<(StateId, bool), Full> {
        self.insert(state, parent)
    }

    #[inline]
    fn insert_row(&mut self, row: &Row, parent: u32) -> Result<(StateId, bool), Full> {
        self.insert_row(row, parent)
    }

    #[inline]
    fn bring(&mut self, row: &Row, parent: u32, flag: bool) -> usize {
        self.bring(row, parent, flag)
    }

    #[inline]
    fn insert_brought(
        &mut self,
        found: impl FnMut(StateId, bool, bool) -> ControlFlow<()>,
    ) -> Result<(), Full> {
        self.insert_brought(found)
    }

    fn parent(&self, id: StateId) -> StateId {
        StateId::new(self.store().mark(id) as usize)
    }

    fn len(&self) -> usize {
        self.store().len()
    }

    fn memory(&self) -> MemoryUse {
        let memory = memory_of(self.store().size());
        let way_back = (self.store().len() * size_of::<u32>()) as u64;
        MemoryUse { way_back, states: memory.states.saturating_sub(way_back), ..memory }
    }
}
