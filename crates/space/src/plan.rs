//! What threads can do, by where their frames stand and what these hold.

use pdnet_base::{FxHashMap, Idx as _, IndexVec};
use pdnet_net::{Expr, Net, Place, Scalars, Solo, Transition, Var};

use crate::access::{Access, ObjectData, Objects, Side, Use, private_writes};
use crate::bits::Bits;
use crate::first::Tally;
use crate::footprint::Moves;
use crate::layout::{Layout, Slot, word_place};
use crate::{State, ThreadSet};

/// What frames on each place can do, made once for a net.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    objects: Vec<ObjectData>,
    /// Accesses whose element, or whose rivals, must be looked up in a state.
    accesses: Vec<Access>,
    plans: IndexVec<Place, PlacePlan>,
    n_bits: usize,
}

/// What a frame that stands on a place can do.
#[derive(Clone, Debug, Default)]
struct PlacePlan {
    /// The uses from here on, as far as they are known without the frame.
    future: Bits,
    /// The other uses from here on, of elements that the frame tells and that stay the same.
    keyed: Vec<usize>,
    /// The rivals of the next steps, as far as they are known without the state.
    rivals: Bits,
    /// The other accesses of the next steps.
    next: Vec<usize>,
    /// Some next transition may go first.
    is_start: bool,
    /// How many of the next transitions wait for the end of a thread.
    n_waits: u32,
}

impl Places {
    /// Looks at all transitions. A place has what its next steps do, what is to come where they move the frame, and what
    /// is to come for the frames that they put.
    ///
    /// An access from here on is to the element that the frame tells *now* if no step from here on writes one of the
    /// cells that tell it. They are private, so that nobody else does. Of frames that are still to be put nothing is
    /// known.
    pub(crate) fn new(
        net: &Net,
        objects: &Objects<'_>,
        moves: &IndexVec<Transition, Moves>,
        (is_first, is_wait): (&IndexVec<Transition, bool>, &IndexVec<Transition, bool>),
    ) -> Self {
        let n_bits = objects.n_bits();
        let mut places = Self {
            objects: objects.data.clone(),
            accesses: Vec::new(),
            plans: IndexVec::filled(PlacePlan::default(), net.places.len()),
            n_bits,
        };
        for place in net.places.indices() {
            let plan = &mut places.plans[place];
            (plan.future, plan.rivals) = (Bits::new(n_bits), Bits::new(n_bits));
            if let Some(object) = objects.exposure(place) {
                objects.data[object].add(&mut plan.future, None, &[Use::Write]);
                objects.data[object].add_all_rivals(&mut plan.rivals, Use::Write);
            }
        }
        let mut numbers = FxHashMap::default();
        let solo = Solo::new(net);
        for (transition, moves) in moves.iter_enumerated() {
            let Some(source) = net.transitions[transition].source() else { continue };
            // What the first thread does while it is the only one is in nobody's way: as long as another one has not moved that can, it
            // does not happen.
            let futures = if solo.steps[transition] {
                Vec::new()
            } else {
                objects.accesses(transition, moves, Side::Future)
            };
            for access in futures {
                places.add_future(source, access, &mut numbers);
            }
            for access in objects.accesses(transition, moves, Side::Next) {
                places.add_next(source, access, &mut numbers);
            }
            places.plans[source].is_start |= is_first[transition];
            places.plans[source].n_waits += u32::from(is_wait[transition]);
        }
        places.find_futures(net, moves);
        places
    }

    /// Changes which transitions may go first.
    pub(crate) fn start_with(&mut self, net: &Net, is_first: &IndexVec<Transition, bool>) {
        self.plans.iter_mut().for_each(|plan| plan.is_start = false);
        for (transition, data) in net.transitions.iter_enumerated() {
            if let Some(source) = data.source() {
                self.plans[source].is_start |= is_first[transition];
            }
        }
    }

    /// The element of an access, where it is known without the frame; the inner nothing stands for any.
    fn known_element(&self, access: &Access) -> Option<Option<usize>> {
        match &access.element {
            _ if access.when.is_some() => None,
            None => Some(None),
            Some(Expr::Const(value)) => Some(self.objects[access.object].element(*value)),
            Some(_) => None,
        }
    }

    fn number(&mut self, access: Access, numbers: &mut FxHashMap<Access, usize>) -> usize {
        *numbers.entry(access).or_insert_with_key(|access| {
            self.accesses.push(access.clone());
            self.accesses.len() - 1
        })
    }

    /// Adds an access of a next step to what is to come at a place.
    fn add_future(&mut self, place: Place, access: Access, numbers: &mut FxHashMap<Access, usize>) {
        if let Some(element) = self.known_element(&access) {
            let object = &self.objects[access.object];
            object.add(&mut self.plans[place].future, element, &[access.of]);
            return;
        }
        let number = self.number(access, numbers);
        let keyed = &mut self.plans[place].keyed;
        if !keyed.contains(&number) {
            keyed.push(number);
        }
    }

    /// Adds the rivals of an access to those of the next steps of a place.
    fn add_next(&mut self, place: Place, access: Access, numbers: &mut FxHashMap<Access, usize>) {
        let known = self.known_element(&access);
        let object = &self.objects[access.object];
        let rivals = &mut self.plans[place].rivals;
        match known {
            Some(None) => return object.add_all_rivals(rivals, access.of),
            Some(element) if !access.of.demands() => {
                return object.add(rivals, element, access.of.rivals(true));
            }
            Some(_) | None => {}
        }
        let number = self.number(access, numbers);
        let next = &mut self.plans[place].next;
        if !next.contains(&number) {
            next.push(number);
        }
    }

    /// The least solution.
    fn find_futures(&mut self, net: &Net, moves: &IndexVec<Transition, Moves>) {
        let cells = self.telling_cells();
        let n_places = net.places.len();
        let mut keyed: IndexVec<Place, Bits> = IndexVec::filled(Bits::new(self.accesses.len()), n_places);
        let mut written: IndexVec<Place, Bits> = IndexVec::filled(Bits::new(cells.len()), n_places);
        for place in net.places.indices() {
            self.plans[place].keyed.iter().for_each(|&number| keyed[place].insert(number));
        }
        for data in &net.transitions {
            for (frame, cell) in private_writes(net, data) {
                if let Some(position) = cells.iter().position(|other| *other == cell) {
                    written[frame].insert(position);
                }
            }
        }
        // The same for frames that are still to be put, whatever they will tell.
        let mut later = Bits::default();
        loop {
            let mut is_changed = false;
            for (transition, moves) in moves.iter_enumerated().rev() {
                for &(from, to) in &moves.moved {
                    is_changed |= self.flow(from, to);
                    is_changed |= absorb(&mut keyed, from, to);
                    is_changed |= absorb(&mut written, from, to);
                }
                let Some(source) = net.transitions[transition].source() else { continue };
                for &to in &moves.pushed {
                    later.copy_from(&self.plans[to].future);
                    for number in keyed[to].iter() {
                        let access = &self.accesses[number];
                        self.objects[access.object].add(&mut later, None, &[access.of]);
                    }
                    is_changed |= self.plans[source].future.absorb(&later);
                }
            }
            if !is_changed {
                break;
            }
        }
        for place in net.places.indices() {
            let plan = &mut self.plans[place];
            plan.keyed.clear();
            for number in keyed[place].iter() {
                let access = &self.accesses[number];
                let mut is_final = true;
                access.told_by().for_each(|told| {
                    told.walk(&mut |part| {
                        if let Expr::Cell(cell, _) = part {
                            let position = cells.iter().position(|other| other == cell);
                            is_final &= position.is_some_and(|position| !written[place].contains(position));
                        }
                    });
                });
                match is_final {
                    true => plan.keyed.push(number),
                    false => self.objects[access.object].add(&mut plan.future, None, &[access.of]),
                }
            }
        }
    }

    fn flow(&mut self, from: Place, to: Place) -> bool {
        if from == to {
            return false;
        }
        let taken = std::mem::take(&mut self.plans[to].future);
        let is_changed = self.plans[from].future.absorb(&taken);
        self.plans[to].future = taken;
        is_changed
    }

    /// The cells that tell elements.
    fn telling_cells(&self) -> Vec<Place> {
        let mut cells = Vec::new();
        for told in self.accesses.iter().flat_map(Access::told_by) {
            told.walk(&mut |part| {
                if let Expr::Cell(cell, _) = part
                    && !cells.contains(cell)
                {
                    cells.push(*cell);
                }
            });
        }
        cells
    }

    /// What a thread can do, given its words.
    fn plan(&self, layout: &Layout, (thread, words): (usize, &[i64]), plan: &mut Plan) {
        plan.future.resize(self.n_bits);
        plan.known.resize(self.n_bits);
        plan.looks.clear();
        (plan.is_start, plan.n_waits) = (false, 0);
        let mut base = layout.thread_template.len();
        for _ in 0..words[0] {
            let place = word_place(words[base]);
            let of_place = &self.plans[place];
            plan.future.add(&of_place.future);
            plan.known.add(&of_place.rivals);
            plan.is_start |= of_place.is_start;
            plan.n_waits += of_place.n_waits;
            let view = Frame { layout, thread, words, base };
            for &number in &of_place.keyed {
                let Some((object, element, of)) = self.resolve(number, &view) else { continue };
                object.add(&mut plan.future, element, &[of]);
            }
            for &number in &of_place.next {
                let Some((object, element, of)) = self.resolve(number, &view) else { continue };
                match element {
                    None => object.add_all_rivals(&mut plan.known, of),
                    Some(_) if !of.demands() => object.add(&mut plan.known, element, of.rivals(true)),
                    Some(element) => plan.looks.push((self.accesses[number].object, element, of)),
                }
            }
            base += layout.frame_words[place] as usize;
        }
    }

    /// An access by a frame, if there is one, with its element; the inner nothing stands for none that there is, or any.
    fn resolve(&self, number: usize, view: &Frame<'_>) -> Option<(&ObjectData, Option<usize>, Use)> {
        let access = &self.accesses[number];
        if access.when.as_ref().is_some_and(|when| when.eval(view) == 0) {
            return None;
        }
        let object = &self.objects[access.object];
        let element = access.element.as_ref().and_then(|element| object.element(element.eval(view)));
        Some((object, element, access.of))
    }
}

/// Adds what is known of the one place to the other.
fn absorb(sets: &mut IndexVec<Place, Bits>, from: Place, to: Place) -> bool {
    if from == to {
        return false;
    }
    let taken = std::mem::take(&mut sets[to]);
    let is_changed = sets[from].absorb(&taken);
    sets[to] = taken;
    is_changed
}

/// A frame, for expressions over its cells.
struct Frame<'a> {
    layout: &'a Layout,
    thread: usize,
    words: &'a [i64],
    base: usize,
}

impl Scalars for Frame<'_> {
    fn var(&self, var: Var) -> i64 {
        debug_assert_eq!(var.index(), 0, "only the thread is left of the variables");
        self.thread as i64
    }

    fn cell(&self, place: Place, _: &[i64]) -> i64 {
        match self.layout.slots[place] {
            Slot::Cells(cells) => self.words[self.base + cells.offset],
            Slot::Nothing | Slot::Frames | Slot::Count(_) | Slot::Sets { .. } | Slot::Other => -1,
        }
    }

    fn marked(&self, _: Place, _: &[i64]) -> bool {
        false
    }

    fn deadlock(&self) -> bool {
        false
    }
}

/// What a thread can do.
#[derive(Clone, Debug)]
struct Plan {
    /// The uses from now on.
    future: Bits,
    /// The rivals of the next steps, as far as the thread's own words tell them.
    known: Bits,
    /// Elements that must be looked at for the others.
    looks: Vec<(usize, usize, Use)>,
    /// All rivals of the next steps in the state at hand.
    rivals: Bits,
    /// Threads that hold what a next step waits for.
    holders: ThreadSet,
    /// Some next transition may go first.
    is_start: bool,
    /// How many of the next transitions wait for the end of a thread.
    n_waits: u32,
    /// The rivals of steps inside of atomic sections that next steps enter, as far as these were walked through.
    inside: Bits,
    /// Threads that hold what such a step waits for.
    inside_holders: ThreadSet,
}

impl Plan {
    const NONE: Self = Self {
        future: Bits::NONE,
        known: Bits::NONE,
        looks: Vec::new(),
        rivals: Bits::NONE,
        holders: ThreadSet::NONE,
        is_start: false,
        n_waits: 0,
        inside: Bits::NONE,
        inside_holders: ThreadSet::NONE,
    };

    /// Looks at what the next steps of a thread demand in a state.
    fn look(&mut self, places: &Places, state: &State, thread: usize) {
        let Self { known, looks, rivals, holders, .. } = self;
        rivals.copy_from(known);
        *holders = ThreadSet::NONE;
        for &(object, element, of) in &*looks {
            let object = &places.objects[object];
            let (is_met, holder) = object.look(&state.globals, element, of, thread);
            object.add(rivals, Some(element), of.rivals(is_met));
            let Some(holder) = holder else { continue };
            let holder = ThreadSet::of_number(holder) & state.live;
            *holders |= holder & !ThreadSet::single(thread);
            if holder.is_empty() {
                // Somebody with that number may still come.
                object.add(rivals, Some(element), &[Use::Unlock, Use::Turn]);
            }
        }
    }
}

/// The plans of all threads of a state.
#[derive(Clone, Debug)]
pub(crate) struct Plans {
    of_thread: Vec<Plan>,
    /// The threads whose plans are out of date.
    pub(crate) dirty: ThreadSet,
    /// For each thread those whose end it waits for.
    pub(crate) awaited: Vec<ThreadSet>,
    /// For each thread those that may come between, and itself.
    rivals: Vec<ThreadSet>,
    /// Sets of threads that nobody else can come between, the smallest first; not the set of all.
    pub(crate) groups: Vec<ThreadSet>,
    /// What was found of the threads that were looked at.
    pub(crate) tallies: Vec<Tally>,
    once: Bits,
    twice: Bits,
    /// For states inside of atomic sections.
    inner: Plan,
    /// Threads with the same future, below one of them; and of threads with the same rivals, one, and who may come between.
    same_future: Vec<(usize, ThreadSet)>,
    same_rivals: Vec<(usize, ThreadSet)>,
}

impl Plans {
    /// How many next transitions of the thread wait for the end of a thread.
    pub(crate) fn n_waits(&self, thread: usize) -> u32 {
        self.of_thread.get(thread).map_or(0, |plan| plan.n_waits)
    }

    /// Keeps what was found of a thread.
    pub(crate) fn keep(&mut self, thread: usize, tally: Tally) {
        if self.tallies.len() <= thread {
            self.tallies.resize(thread + 1, Tally::NONE);
        }
        self.tallies[thread] = tally;
    }

    pub(crate) const fn new() -> Self {
        Self {
            of_thread: Vec::new(),
            dirty: ThreadSet::ALL,
            awaited: Vec::new(),
            rivals: Vec::new(),
            groups: Vec::new(),
            tallies: Vec::new(),
            once: Bits::NONE,
            twice: Bits::NONE,
            inner: Plan::NONE,
            same_future: Vec::new(),
            same_rivals: Vec::new(),
        }
    }

    /// Looks again at those threads that may differ from the state for which the plans were made, and at what all of
    /// them wait for in this one.
    fn update(&mut self, places: &Places, layout: &Layout, state: &State) {
        self.of_thread.resize(state.threads.len(), Plan::NONE);
        // Beyond those that ever lived there is nothing to look at.
        let n_threads = state.n_threads;
        let dirty = std::mem::take(&mut self.dirty);
        for thread in dirty.iter().take_while(|&thread| thread < n_threads) {
            places.plan(layout, (thread, &state.threads[thread]), &mut self.of_thread[thread]);
        }
        for thread in state.live.iter() {
            let plan = &mut self.of_thread[thread];
            plan.look(places, state, thread);
            plan.inside.resize(places.n_bits);
            plan.inside_holders = ThreadSet::NONE;
        }
    }

    /// Adds what a thread could do next in a state inside of an atomic section that a next step of it enters. False where it
    /// might wait there for the end of a thread.
    pub(crate) fn add_inside(
        &mut self,
        places: &Places,
        layout: &Layout,
        state: &State,
        thread: usize,
    ) -> bool {
        let inner = &mut self.inner;
        places.plan(layout, (thread, &state.threads[thread]), inner);
        inner.rivals.resize(places.n_bits);
        inner.look(places, state, thread);
        // Nobody asks where no thread was looked at before.
        if let Some(plan) = self.of_thread.get_mut(thread) {
            plan.inside.add(&inner.rivals);
            plan.inside_holders |= inner.holders;
        }
        inner.n_waits == 0
    }

    /// Whether nobody outside of a set of threads can come between the steps of its members inside of atomic sections.
    pub(crate) fn are_sheltered(&self, members: ThreadSet, live: ThreadSet) -> bool {
        let mut others = (live & !members).iter();
        let holders = members.iter().fold(ThreadSet::NONE, |set, at| set | self.of_thread[at].inside_holders);
        (holders & !members).is_empty()
            && others.all(|other| {
                let future = &self.of_thread[other].future;
                members.iter().all(|member| !self.of_thread[member].inside.meets(future))
            })
    }

    /// The threads that no other one can come between, as a set.
    pub(crate) fn independent(&mut self, places: &Places, layout: &Layout, state: &State) -> ThreadSet {
        self.update(places, layout, state);
        self.tallies.clear();
        self.tallies.resize(state.threads.len(), Tally::NONE);
        let Self { of_thread, once, twice, .. } = self;
        once.resize(places.n_bits);
        twice.resize(places.n_bits);
        state.live.iter().for_each(|thread| once.count(&of_thread[thread].future, twice));
        let mut found = ThreadSet::NONE;
        for thread in state.live.iter() {
            let plan = &of_thread[thread];
            if plan.is_start
                && plan.holders.is_empty()
                && !plan.rivals.meets_others(once, twice, &plan.future)
            {
                found.insert(thread);
            }
        }
        found
    }

    /// Finds sets of threads that no thread outside can come between. Each grows out of one of these threads: as long as
    /// some thread outside may come between a member, holds what it waits for, or is one whose end it waits for, it joins.
    pub(crate) fn find_groups(&mut self, state: &State) {
        let Self { of_thread, awaited, rivals, groups, same_future, same_rivals, .. } = self;
        rivals.resize(of_thread.len(), ThreadSet::NONE);
        groups.clear();
        // Of many threads, most stand where others stand: what is found of one is true of all that are like it.
        same_future.clear();
        for thread in state.live.iter() {
            let future = &of_thread[thread].future;
            match same_future.iter_mut().find(|(like, _)| of_thread[*like].future == *future) {
                Some((_, threads)) => threads.insert(thread),
                None => same_future.push((thread, ThreadSet::single(thread))),
            }
        }
        same_rivals.clear();
        for thread in state.live.iter() {
            let plan = &of_thread[thread];
            let known = same_rivals.iter().find(|(like, _)| of_thread[*like].rivals == plan.rivals);
            let others = known.map(|(_, others)| *others).unwrap_or_else(|| {
                let found =
                    same_future.iter().filter(|(like, _)| plan.rivals.meets(&of_thread[*like].future));
                let others = found.fold(ThreadSet::NONE, |set, (_, threads)| set | *threads);
                same_rivals.push((thread, others));
                others
            });
            let itself = ThreadSet::single(thread) | plan.holders | awaited[thread] & state.live;
            rivals[thread] = itself | others;
        }
        for thread in state.live.iter().filter(|&thread| of_thread[thread].is_start) {
            let (mut group, mut seen) = (ThreadSet::single(thread), ThreadSet::NONE);
            while group != seen {
                let fresh = group & !seen;
                seen = group;
                group = fresh.iter().fold(group, |set, member| set | rivals[member]);
            }
            if group != state.live && !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups.sort_by_key(|group| group.len());
    }
}
