//! Threads that could have each other's numbers: states that differ only in who is who become one.

use std::cmp::Ordering;

use pdnet_base::{FxHashSet, IndexVec};
use pdnet_net::{ArcData, Expr, Function, Names, Net, Place, PlaceForm, TransitionData};

use crate::layout::{Home, Slot, word_place};
use crate::{Compiled, State, ThreadSet};

/// The reduction *symmetry*: before a state is stored, its threads are put into an order.
///
/// Where the numbers of threads are nothing but names ([`Names`]), an exchange of numbers, wherever they occur, turns every step of
/// a state into a step of the other state: the two are bisimilar, and atoms that mention no thread by its number have the same
/// values in both. So it is enough to store one of them. Of threads that run the same function, only how many stand
/// where with which values then makes a difference, and not which.
///
/// Numbers that occur as constants stay who they are, and so do those that are given to threads to come: the numbers are
/// given in order, so that an exchange leaves them as they are.
///
/// The order is that of the words of the threads, then of the sets that they are members of, then of the cells that name
/// them: global ones, and those of threads that stay who they are, such as the handles that main keeps. Threads that are equal in all of that are not told apart any further: then states may be stored that a better order
/// would make one. That costs states and is not wrong.
///
/// # Why nothing is lost
///
/// Let π be an exchange of numbers that leaves alone those that are fixed, and in a state s those of threads to come; let s ~ πs for all
/// of these π. That is an equivalence, since s and πs have the same threads to come. With s → s' there is πs → πs', by a step of the
/// same transition, and s' ~ πs': in s' no more threads are still to come than in s. So ~ is a bisimulation that keeps the values of
/// atoms, and which transitions are enabled. What is stored for a state is one that is ~ to it. So the stored states with their edges s
/// → t, where s → s' and t is stored for s', have exactly the words of the net, and of the steps of a state the same transitions. It
/// does not matter which state is stored, nor whether it is the same for all that are ~.
///
/// - *Finite runs* and what they decide are the same.
/// - *Formulas and automata*, with `X` or without: the product with the stored states has an accepting run where that with the net has
///   one. Source: Emerson and Sistla, *Symmetry and model checking* (1996); Clarke, Enders, Filkorn and Jha, *Exploiting symmetry in
///   temporal logic model checking* (1996).
/// - *Fairness* is about who moves again and again, and there is nobody of whom that could be said: on an edge a thread moves by its
///   number in a stored state, and it goes by another one in the next. So it is for all that asks whether a certain thread moves again
///   (partial deadlocks). These searches use no symmetry.
/// - *Stubborn sets* ([`crate::Stubborn`]) are found in stored states, for their own steps. Of a run σ from s there is one from the
///   stored state t with the same word and the same transitions; of that, by the argument there, one whose first step α leads from t along
///   an edge that is kept, and which goes on with what is left of σ, or with all of it; and again there is such a run from the state that
///   is stored for the next. That a state is later is said of stored states: a state from which steps are left out has edges only to
///   stored states with larger marks, so that σ is put off only finitely often. Steps that are gone through without being stored are steps
///   of the net between two stored states; a cycle of them alone would be, gone along until all are who they were, one of the net. For who
///   sees less (the sights of a formula's automaton), the same is said of runs from any state. Source: Emerson, Jha and Peled, *Combining
///   partial order and symmetry reductions* (TACAS 1997).
/// - *[`crate::Forget`]* comes first, in searches for finite runs, and is a bisimulation, too.
///
/// A run of stored states is turned into a run of the net step by step from the initial state: who goes by which number in the stored
/// state is known at each step ([`Symmetry::rename`]), so that the same thread takes the same step. A cycle of stored states need not be
/// one of the net: after it, threads may have exchanged their roles. It is gone along again until the run is back in the same state of
/// the net, which comes, since the exchange of roles is the same each time. No number is given to a new thread on such a cycle: they are
/// given in order, so that a stored state would not come back.
#[derive(Clone, Debug)]
pub struct Symmetry {
    /// The global words that hold numbers, with what is added to them.
    globals: Vec<(usize, i64)>,
    /// The same in the words of a thread.
    threads: Vec<(usize, i64)>,
    /// The same in the words of a frame, counted from its first.
    frames: IndexVec<Function, Vec<(usize, i64)>>,
    has_local_names: bool,
    /// Sets of threads: the first word and the number of rows.
    sets: Vec<(usize, u32)>,
    /// The word with the number of the next thread.
    next: Option<usize>,
    /// Numbers below this are those of threads that are there from the start.
    n_initial: usize,
    fixed: ThreadSet,
    /// Of threads with as many frames, that with the smaller words comes first.
    is_ascending: bool,
    work: Work,
}

/// Memory for one state, kept for the next.
#[derive(Clone, Debug, Default)]
struct Work {
    /// The threads that may exchange their numbers.
    candidates: Vec<usize>,
    /// The same in the order that they are to have.
    order: Vec<usize>,
    /// The words of threads without the numbers in them that may be exchanged, where there are such.
    bare: Vec<Vec<i64>>,
    /// The numbers in the words of threads that stay who they are.
    named: Vec<usize>,
    /// The number that each thread gets.
    to: Vec<usize>,
}

impl Symmetry {
    /// Looks at a net, and at the atoms that a search evaluates. Nothing where threads cannot be exchanged, or where no two of
    /// them can be alike.
    #[must_use]
    pub fn new<'e>(
        net: &Net,
        compiled: &Compiled,
        atoms: impl IntoIterator<Item = &'e Expr> + Clone,
    ) -> Option<Self> {
        if !may_be_alike(net) {
            return None;
        }
        let names = Names::new(net, atoms)?;
        let mut symmetry = Self {
            globals: Vec::new(),
            threads: Vec::new(),
            frames: IndexVec::filled(Vec::new(), net.functions.len()),
            has_local_names: false,
            sets: Vec::new(),
            next: None,
            n_initial: 0,
            fixed: ThreadSet::NONE,
            is_ascending: false,
            work: Work::default(),
        };
        for place in net.places.indices() {
            match compiled.layout.slots[place] {
                Slot::Sets { offset, rows, .. } => symmetry.sets.push((offset, rows)),
                Slot::Cells(cells) => {
                    if names.next == Some(place) {
                        symmetry.next = Some(cells.offset);
                    }
                    let Some(added) = names.cells[place] else { continue };
                    let words = cells.offset..cells.offset + cells.length.unwrap_or(1) as usize;
                    let words = words.map(|word| (word, added));
                    match cells.home {
                        Home::Global => symmetry.globals.extend(words),
                        Home::Thread => symmetry.threads.extend(words),
                        Home::Frame(function) => symmetry.frames[function].extend(words),
                    }
                    symmetry.has_local_names |= cells.home != Home::Global;
                }
                Slot::Nothing | Slot::Frames | Slot::Count(_) => {}
                // A step that uses such a place would be an error.
                Slot::Other => {}
            }
        }
        let fixed = names.fixed.iter().enumerate().filter(|(_, is_fixed)| **is_fixed);
        fixed.for_each(|(thread, _)| symmetry.fixed.insert(thread));
        let initial = initial_frames(net).filter_map(|(_, thread)| usize::try_from(thread).ok());
        for thread in initial.filter(|&thread| thread < compiled.max_threads() as usize) {
            symmetry.n_initial = symmetry.n_initial.max(thread + 1);
            if names.next.is_some() {
                // Those that are there from the start are no workers: to compare them would take time for nothing.
                symmetry.fixed.insert(thread);
            }
        }
        Some(symmetry)
    }

    /// The same with another order: of threads with as many frames, those at earlier places come first. So processes that begin in the order of
    /// the program mostly keep their numbers, and the highest one is that of the newest, for a search that lets it go first.
    #[must_use]
    pub fn ascending(self) -> Self {
        Self { is_ascending: true, ..self }
    }

    /// Puts the threads of a state into order. Where that changes it, the new number of each thread comes back.
    pub fn apply(&mut self, compiled: &Compiled, state: &mut State) -> Option<&[usize]> {
        let mut work = std::mem::take(&mut self.work);
        // Threads that have ended may still be named: then it matters which of their numbers is.
        let end = match self.next {
            Some(word) => usize::try_from(state.globals[word]).unwrap_or(0),
            None => self.n_initial.max(state.n_threads),
        };
        work.candidates.clear();
        let end = end.min(state.threads.len());
        work.candidates.extend((0..end).filter(|&thread| !self.fixed.contains(thread)));
        let mut has_changed = false;
        if work.candidates.len() > 1 {
            self.sort(compiled, (state, end), &mut work);
            has_changed = work.order != work.candidates;
            if has_changed {
                let Work { candidates, order, to, .. } = &mut work;
                to.clear();
                to.extend(0..state.threads.len());
                order.iter().zip(&*candidates).for_each(|(&from, &number)| to[from] = number);
                self.rename(compiled, state, to);
            }
        }
        self.work = work;
        has_changed.then_some(self.work.to.as_slice())
    }

    /// Finds an order of the candidates of a state in which threads have numbers below `end`.
    fn sort(&self, compiled: &Compiled, (state, end): (&State, usize), work: &mut Work) {
        let Work { candidates, order, bare, named, .. } = work;
        named.clear();
        if self.has_local_names {
            bare.resize(state.threads.len(), Vec::new());
            let is_candidate = |number: usize| candidates.binary_search(&number).is_ok();
            let threads = state.threads[..end].iter().zip(bare.iter_mut());
            for (thread, (words, bare)) in threads.enumerate() {
                bare.clone_from(words);
                if is_candidate(thread) {
                    self.for_each_local(compiled, bare, |value, added| {
                        if number_in(value, added).is_some_and(is_candidate) { 0 } else { value }
                    });
                } else {
                    self.for_each_local(compiled, bare, |value, added| {
                        named.extend(number_in(value, added));
                        value
                    });
                }
            }
        }
        let (words, named): (&[Vec<i64>], &[usize]) =
            if self.has_local_names { (bare, named) } else { (&state.threads, &[]) };
        order.clone_from(candidates);
        // Threads that have ended come last, so that vectors of threads are short.
        order.sort_by(|&one, &other| {
            let (of_one, of_other) = (&words[one], &words[other]);
            // The first word is the number of frames.
            let by_words = match self.is_ascending {
                true => of_other.first().cmp(&of_one.first()).then_with(|| of_one.cmp(of_other)),
                false => of_other.cmp(of_one),
            };
            by_words.then_with(|| self.compare_mentions(compiled, state, named, (one, other)))
        });
    }

    /// Compares two threads that have equal words by where they are named.
    fn compare_mentions(
        &self,
        compiled: &Compiled,
        state: &State,
        named: &[usize],
        (one, other): (usize, usize),
    ) -> Ordering {
        let is_member = |sets: (usize, u32), row: u32, thread: usize| {
            let member = compiled.layout.member(sets, i64::from(row), thread as i64);
            member.is_some_and(|(word, bit)| state.globals[word] & bit != 0)
        };
        for &(offset, rows) in &self.sets {
            for row in 0..rows {
                let sets = (offset, rows);
                match is_member(sets, row, other).cmp(&is_member(sets, row, one)) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                }
            }
        }
        let globals = self.globals.iter().filter_map(|&(word, added)| number_in(state.globals[word], added));
        let first = globals.chain(named.iter().copied()).find(|&number| number == one || number == other);
        match first {
            Some(number) if number == one => Ordering::Less,
            Some(_) => Ordering::Greater,
            None => Ordering::Equal,
        }
    }

    /// Gives the threads of a state these numbers, wherever theirs occur.
    pub fn rename(&self, compiled: &Compiled, state: &mut State, to: &[usize]) {
        let renamed = |value: i64, added: i64| {
            let new = number_in(value, added).and_then(|number| to.get(number));
            new.map_or(value, |&new| new as i64 + added)
        };
        let moving: Vec<usize> = (0..to.len()).filter(|&thread| to[thread] != thread).collect();
        let moved: Vec<(Vec<i64>, bool)> = moving
            .iter()
            .map(|&from| (std::mem::take(&mut state.threads[from]), state.live.contains(from)))
            .collect();
        for (&from, (words, is_live)) in moving.iter().zip(moved) {
            *state.thread_mut(to[from]) = words;
            if is_live {
                state.live.insert(to[from]);
            } else {
                state.live.remove(to[from]);
            }
        }
        for &(word, added) in &self.globals {
            let value = renamed(state.globals[word], added);
            if value != state.globals[word] {
                state.set_global(word, value);
            }
        }
        if self.has_local_names {
            for thread in 0..state.n_threads {
                let mut has_changed = false;
                self.for_each_local(compiled, &mut state.threads[thread], |value, added| {
                    let new = renamed(value, added);
                    has_changed |= new != value;
                    new
                });
                if has_changed {
                    let _ = state.thread_mut(thread);
                }
            }
        }
        for &(offset, rows) in &self.sets {
            for row in 0..rows {
                exchange_members(compiled, state, (offset, rows), row, to);
            }
        }
    }

    /// Replaces the numbers in the words of a thread; `replace` gets the word and what is added to numbers in it.
    fn for_each_local(
        &self,
        compiled: &Compiled,
        words: &mut [i64],
        mut replace: impl FnMut(i64, i64) -> i64,
    ) {
        let layout = &compiled.layout;
        for &(word, added) in &self.threads {
            words[word] = replace(words[word], added);
        }
        let mut base = layout.thread_template.len();
        for _ in 0..words[0] {
            let place = word_place(words[base]);
            for &(word, added) in layout.owner[place].map_or(&[][..], |function| &self.frames[function]) {
                words[base + word] = replace(words[base + word], added);
            }
            base += layout.frame_words[place] as usize;
        }
    }
}

/// The number of a thread in a word, to which something was added.
fn number_in(word: i64, added: i64) -> Option<usize> {
    word.checked_sub(added).and_then(|number| usize::try_from(number).ok())
}

/// Gives the members of a set their new numbers.
fn exchange_members(compiled: &Compiled, state: &mut State, sets: (usize, u32), row: u32, to: &[usize]) {
    let members = compiled.layout.set(sets.0, row as usize, &state.globals);
    let mut renamed = ThreadSet::NONE;
    members.iter().for_each(|thread| renamed.insert(to.get(thread).copied().unwrap_or(thread)));
    if renamed == members {
        return;
    }
    for thread in 0..compiled.max_threads() as usize {
        let Some((word, bit)) = compiled.layout.member(sets, i64::from(row), thread as i64) else {
            continue;
        };
        let bits = state.globals[word];
        let new = if renamed.contains(thread) { bits | bit } else { bits & !bit };
        if new != bits {
            state.set_global(word, new);
        }
    }
}

/// The frames that are there from the start: where, and whose.
fn initial_frames(net: &Net) -> impl Iterator<Item = (Place, i64)> {
    net.places.iter_enumerated().filter(|(place, _)| net.is_frame_place(*place)).flat_map(|(place, data)| {
        let tokens = match &data.form {
            PlaceForm::Tokens { initial } => initial.as_slice(),
            PlaceForm::Cells(_) => &[],
        };
        tokens.iter().filter_map(move |token| token.first().map(|&thread| (place, thread)))
    })
}

/// Whether two threads may begin at the same place: two are there from the start, two steps make one, or one
/// step that can be taken again does.
fn may_be_alike(net: &Net) -> bool {
    let mut begun: FxHashSet<Place> = FxHashSet::default();
    let mut is_again = false;
    let mut functions: FxHashSet<Function> = FxHashSet::default();
    for (place, _) in initial_frames(net) {
        is_again |= !begun.insert(place);
        functions.extend(net.places[place].function);
    }
    for data in net.transitions.iter() {
        for place in new_threads(net, data) {
            // Other functions may be called, or run by threads, more than once.
            is_again |= !begun.insert(place) || !functions.contains(&data.function) || is_on_cycle(net, data);
        }
    }
    is_again
}

/// The places where a step puts frames of other threads.
fn new_threads(net: &Net, data: &TransitionData) -> impl Iterator<Item = Place> {
    let own = Expr::Var(TransitionData::thread_var());
    data.arcs.iter().filter_map(move |arc| match arc {
        ArcData::Put { place, token } if net.is_frame_place(*place) && token.first() != Some(&own) => {
            Some(*place)
        }
        _ => None,
    })
}

/// Whether the frame that takes a step can come back to where it was.
fn is_on_cycle(net: &Net, data: &TransitionData) -> bool {
    let Some(source) = data.source() else { return true };
    let targets = |data: &TransitionData| {
        let own = Expr::Var(TransitionData::thread_var());
        let places = data.arcs.iter().filter_map(|arc| match arc {
            ArcData::Put { place, token } if net.is_frame_place(*place) && token.first() == Some(&own) => {
                Some(*place)
            }
            _ => None,
        });
        places.collect::<Vec<Place>>()
    };
    let mut waiting = targets(data);
    let mut seen: FxHashSet<Place> = waiting.iter().copied().collect();
    while let Some(place) = waiting.pop() {
        if place == source {
            return true;
        }
        for data in net.transitions.iter().filter(|data| data.source() == Some(place)) {
            waiting.extend(targets(data).into_iter().filter(|&place| seen.insert(place)));
        }
    }
    false
}
