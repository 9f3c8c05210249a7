//! The net as a value: Definition 1 of the slicing paper, with typed indices.
//!
//! N = (Σ, V, P, T, F, C, G, E, I): Σ is [`Net::colors`], V the [`TransitionData::vars`] of all
//! transitions (each transition has its own), P [`Net::places`], T [`Net::transitions`], F and E their
//! [`ArcData`], C [`PlaceData::color`], G [`TransitionData::guard`], I [`PlaceForm`]'s initial values.

use pdnet_base::{IndexVec, index_type};
use pdnet_source::Pos;

use crate::{Action, Expr, IntType, ObjectData, Shown};

index_type! {
    /// A colour set.
    pub struct Color = "c";
    /// A place.
    pub struct Place = "p";
    /// A transition.
    pub struct Transition = "t";
    /// A variable of one transition.
    pub struct Var = "x";
    /// A function of the program: it owns execution places, transitions and the cells of its frames.
    pub struct Function = "f";
}

/// A program dependence net.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Net {
    /// What the net was made of: usually a file name.
    pub name: String,
    /// Names of the source files that positions speak of, by index; empty for those that none does.
    pub files: Vec<String>,
    /// Σ: the colour sets.
    pub colors: IndexVec<Color, ColorData>,
    /// The functions of the program.
    pub functions: IndexVec<Function, FunctionData>,
    /// P: the places.
    pub places: IndexVec<Place, PlaceData>,
    /// T: the transitions, each with its arcs and guard.
    pub transitions: IndexVec<Transition, TransitionData>,
    /// The place that gets a token of each thread that has ended.
    pub done: Option<Place>,
    /// The place that is marked when the process has ended. No transition is enabled then.
    pub ended: Option<Place>,
    /// A global cell that holds the number of the thread inside an atomic section plus one, or 0. While
    /// it is not 0, no other thread's transitions are enabled. (In a net in the narrow sense every
    /// transition would have an arc to it.)
    pub atomic: Option<Place>,
    /// A thread that cannot go on inside of its atomic section loses it: where a firing leads to a marking in
    /// which the thread that `atomic` names has no enabled binding, late ones aside, the cell becomes 0 in the
    /// same firing.
    pub atomic_yields: bool,
    /// A global cell. Where a firing leads to a marking in which it is not 0, the same thread goes on at once,
    /// within the same firing, by its first enabled binding; see [`crate::Interpreter::fire_all`].
    pub indivisible: Option<Place>,
    /// The objects of the program, for people.
    pub objects: Vec<ObjectData>,
    /// Threads are numbered from 0 below this.
    pub max_threads: u32,
    /// Depths of frames are numbered from 0 below this.
    pub max_depth: u32,
}

/// A basic set of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Base {
    /// Identities of threads.
    Thread,
    /// Depths of calls.
    Depth,
    /// Positions in an array of this length.
    Index(u32),
    /// Integers.
    Int(IntType),
}

/// A colour set: the product of basic ones. The empty product has one colour, the plain token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColorData {
    /// The factors.
    pub components: Vec<Base>,
}

/// The three kinds of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceKind {
    /// P_c: carries dependence. No part of the marking that engines store: a control token says nothing
    /// that the execution tokens do not say, and it would leak where `break` or `goto` leaves a scope.
    Control,
    /// P_v: variables, locks, condition variables.
    Variable,
    /// P_f: where threads are.
    Execution,
}

/// How long the cells of a place live, and which part of their key that makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One for the process; no key.
    Global,
    /// One for each thread; the key starts with the thread.
    Thread,
    /// One for each activation of the function; the key starts with thread and depth.
    /// When the frame's token is taken and not put back, its cells go back to their initial value.
    Frame(Function),
}

/// Cells: a variable place that has exactly one token for each key, so that a token is a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellData {
    /// How long they live.
    pub scope: Scope,
    /// The length of an array, whose index is then the last part of the key.
    pub length: Option<u32>,
    /// The type of the values.
    pub value: IntType,
    /// The initial value of every cell that `listed` does not name.
    pub default: i64,
    /// Initial values of single elements of an array, in increasing order of the index.
    pub listed: Vec<(u32, i64)>,
}

impl CellData {
    /// The initial value at an index (0 where there is no array).
    #[must_use]
    pub fn initial(&self, index: u32) -> i64 {
        let found = self.listed.binary_search_by_key(&index, |&(listed, _)| listed);
        found.map_or(self.default, |at| self.listed[at].1)
    }
}

/// What is on a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceForm {
    /// A multiset of tokens, with the initial ones.
    Tokens {
        /// The initial tokens.
        initial: Vec<Vec<i64>>,
    },
    /// One value for each key.
    Cells(CellData),
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceData {
    /// A name for people: the variable, or where in the function a thread is.
    pub name: String,
    /// Which of the three kinds.
    pub kind: PlaceKind,
    /// C: its colour set; for cells, the key followed by the value.
    pub color: Color,
    /// What is on it, and initially.
    pub form: PlaceForm,
    /// The function that it belongs to.
    pub function: Option<Function>,
    /// Where it comes from in the source.
    pub pos: Option<Pos>,
    /// Made by pdnet, of no interest to the reader of a run (temporaries, observers).
    pub internal: bool,
    /// Plain memory of the program, on which two threads can race ([`crate::Interpreter::races`]). Locks,
    /// objects that are atomic by their type, and what pdnet made for itself are not.
    pub memory: bool,
    /// What the integers on it stand for.
    pub shown: Shown,
}

impl PlaceData {
    /// The cells, if it has cells.
    #[must_use]
    pub const fn cells(&self) -> Option<&CellData> {
        match &self.form {
            PlaceForm::Cells(cells) => Some(cells),
            PlaceForm::Tokens { .. } => None,
        }
    }
}

/// A function of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionData {
    /// Its name.
    pub name: String,
    /// Where an activation begins.
    pub entry: Place,
    /// Where an activation ends.
    pub exit: Place,
    /// Where it comes from in the source.
    pub pos: Option<Pos>,
}

/// A set of values over which a variable ranges by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Ranges of values, both ends included, increasing and disjoint.
    pub ranges: Vec<(i64, i64)>,
    /// Whether these are all values that the program could see; if not, `Holds` becomes `Unknown`.
    pub exact: bool,
}

impl Domain {
    /// All values in order.
    pub fn values(&self) -> impl Iterator<Item = i64> + '_ {
        self.ranges.iter().flat_map(|&(low, high)| low..=high)
    }
}

/// A variable of a transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarData {
    /// A name for people.
    pub name: String,
    /// Its type.
    pub base: Base,
    /// Set where no arc binds it and it takes each of these values: a nondeterministic input.
    pub choice: Option<Domain>,
    /// Why the choice is but a sample, for people.
    pub note: Option<String>,
}

/// One component of the token that an arc asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Any value; the variable is bound to it.
    Bind(Var),
    /// This value, computed from variables that earlier arcs have bound.
    Is(Expr),
}

/// Why a transition's firing is a condition of another (Definition 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependence {
    /// `co`: a branch or the entry decides whether the other is reached.
    Control,
    /// `ca`: call and entry, exit and return.
    Call,
    /// `lo`: inside the critical region of a lock, or another lock of the same mutex.
    Lock,
    /// `po`: a signal and the waits for it.
    PriorOccurrence,
}

impl Dependence {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Control, Self::Call, Self::Lock, Self::PriorOccurrence];

    /// The name in the text form, as in the paper.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Control => "co",
            Self::Call => "ca",
            Self::Lock => "lo",
            Self::PriorOccurrence => "po",
        }
    }
}

/// An arc, or a pair of arcs in both directions, with its expression. The order of a transition's arcs is
/// the order in which they bind variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArcData {
    /// p → t: a token is consumed.
    Take {
        /// The place, with tokens.
        place: Place,
        /// The token.
        token: Vec<Pattern>,
    },
    /// t → p: a token is produced.
    Put {
        /// The place, with tokens.
        place: Place,
        /// The token.
        token: Vec<Expr>,
    },
    /// A read arc: the token must be there, and stays.
    Test {
        /// The place, with tokens.
        place: Place,
        /// The token.
        token: Vec<Pattern>,
    },
    /// An inhibitor arc: no token may be there whose first components are these.
    Inhibit {
        /// The place, with tokens.
        place: Place,
        /// The first components.
        prefix: Vec<Expr>,
    },
    /// Consumes all tokens whose first components are these, and puts them onto another place.
    Drain {
        /// The place, with tokens.
        place: Place,
        /// The first components.
        prefix: Vec<Expr>,
        /// Where they go; of the same colour set.
        to: Place,
    },
    /// E(p,t) = E(t,p): the value of a cell is read into a variable.
    Read {
        /// The place, with cells.
        place: Place,
        /// Which cell.
        key: Vec<Expr>,
        /// The variable.
        var: Var,
        /// The arc counts only where this is true; otherwise the variable is 0.
        when: Option<Expr>,
    },
    /// E(p,t) ≠ E(t,p): a cell gets a new value.
    Write {
        /// The place, with cells.
        place: Place,
        /// Which cell.
        key: Vec<Expr>,
        /// The value, converted to the type of the cell.
        value: Expr,
        /// The arc counts only where this is true.
        when: Option<Expr>,
    },
    /// A control arc p → t: the transition is governed by what marks this place.
    Governed {
        /// The control place of the transition's statement.
        place: Place,
    },
    /// A control arc t → p: the transition governs the statement of this place.
    Governs {
        /// The control place of the other statement.
        place: Place,
        /// In which way.
        dependence: Dependence,
    },
}

impl ArcData {
    /// The place at the other end.
    #[must_use]
    pub const fn place(&self) -> Place {
        match self {
            Self::Take { place, .. }
            | Self::Put { place, .. }
            | Self::Test { place, .. }
            | Self::Inhibit { place, .. }
            | Self::Drain { place, .. }
            | Self::Read { place, .. }
            | Self::Write { place, .. }
            | Self::Governed { place }
            | Self::Governs { place, .. } => *place,
        }
    }

    /// How many directed arcs of the 9-tuple's F it stands for.
    #[must_use]
    pub const fn n_directed(&self) -> usize {
        match self {
            Self::Take { .. } | Self::Put { .. } | Self::Inhibit { .. } => 1,
            Self::Governed { .. } | Self::Governs { .. } => 1,
            Self::Test { .. } | Self::Drain { .. } | Self::Read { .. } | Self::Write { .. } => 2,
        }
    }

    /// Whether it carries dependence only.
    #[must_use]
    pub const fn is_control(&self) -> bool {
        matches!(self, Self::Governed { .. } | Self::Governs { .. })
    }
}

/// A part of the cells of a place: some bytes, as a program sees them that looks at an object byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BytesData {
    /// The place, with cells.
    pub place: Place,
    /// The first byte, counted from the lowest.
    pub first: Expr,
    /// How many.
    pub count: u8,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionData {
    /// What it stands for in the program.
    pub action: Action,
    /// A text for people, such as `x = x + 1`.
    pub label: String,
    /// The function that it belongs to.
    pub function: Function,
    /// The name of the function that this step calls, program's or library's, for the atom `call(f)`.
    pub calls: Option<String>,
    /// Where it comes from in the source.
    pub pos: Option<Pos>,
    /// Its accesses to memory are atomic operations: two such steps do not race with each other.
    pub atomic: bool,
    /// Of the enabled bindings of one activation, only those of the lowest rank can be taken.
    pub rank: u8,
    /// Its bindings are enabled only where no binding of a transition that is not late is enabled in the whole
    /// net.
    pub late: bool,
    /// Where its accesses to the cells of a place are to parts of them only: which. None for a place means that
    /// the cells are accessed as a whole.
    pub bytes: Vec<BytesData>,
    /// Its variables. The first two are the thread and the depth of the frame that moves.
    pub vars: IndexVec<Var, VarData>,
    /// Its arcs, in the order in which they bind variables. The first takes the frame's token.
    pub arcs: Vec<ArcData>,
    /// G: it is enabled only where this is true.
    pub guard: Option<Expr>,
}

impl TransitionData {
    /// The variable for the thread that moves.
    #[must_use]
    pub fn thread_var() -> Var {
        pdnet_base::Idx::new(0)
    }

    /// The variable for the depth of the frame that moves.
    #[must_use]
    pub fn depth_var() -> Var {
        pdnet_base::Idx::new(1)
    }

    /// The execution place where the moving frame is before the step.
    #[must_use]
    pub fn source(&self) -> Option<Place> {
        self.arcs.iter().find_map(|arc| match arc {
            ArcData::Take { place, .. } => Some(*place),
            _ => None,
        })
    }
}

impl TransitionData {
    /// How often a variable is used, beside being bound by a read or a choice.
    #[must_use]
    pub fn n_uses(&self, var: Var) -> usize {
        let all = |exprs: &[Expr]| exprs.iter().map(|expr| expr.n_uses(var)).sum::<usize>();
        let one = |expr: &Option<Expr>| expr.as_ref().map_or(0, |expr| expr.n_uses(var));
        let patterns = |token: &[Pattern]| {
            let parts = token.iter().map(|part| match part {
                Pattern::Bind(bound) => usize::from(*bound == var),
                Pattern::Is(expr) => expr.n_uses(var),
            });
            parts.sum::<usize>()
        };
        let arcs = self.arcs.iter().map(|arc| match arc {
            ArcData::Take { token, .. } | ArcData::Test { token, .. } => patterns(token),
            ArcData::Put { token, .. } => all(token),
            ArcData::Inhibit { prefix, .. } | ArcData::Drain { prefix, .. } => all(prefix),
            ArcData::Read { key, when, .. } => all(key) + one(when),
            ArcData::Write { key, value, when, .. } => all(key) + value.n_uses(var) + one(when),
            ArcData::Governed { .. } | ArcData::Governs { .. } => 0,
        });
        let bytes = self.bytes.iter().map(|bytes| bytes.first.n_uses(var));
        arcs.chain(bytes).sum::<usize>() + one(&self.guard)
    }
}

impl Net {
    /// The colour set with these factors, made if it is new.
    pub fn color(&mut self, components: Vec<Base>) -> Color {
        let found = self.colors.iter_enumerated().find(|(_, data)| data.components == components);
        match found.map(|(color, _)| color) {
            Some(color) => color,
            None => self.colors.push(ColorData { components }),
        }
    }

    /// Adds a place with tokens.
    pub fn add_token_place(&mut self, name: &str, kind: PlaceKind, components: Vec<Base>) -> Place {
        let color = self.color(components);
        self.places.push(PlaceData {
            name: name.to_owned(),
            kind,
            color,
            form: PlaceForm::Tokens { initial: Vec::new() },
            function: None,
            pos: None,
            internal: false,
            memory: false,
            shown: Shown::Integer,
        })
    }

    /// Adds a place with cells.
    pub fn add_cells(&mut self, name: &str, cells: CellData) -> Place {
        let color = self.color(Self::cell_components(&cells));
        let function = match cells.scope {
            Scope::Frame(function) => Some(function),
            Scope::Global | Scope::Thread => None,
        };
        self.places.push(PlaceData {
            name: name.to_owned(),
            kind: PlaceKind::Variable,
            color,
            form: PlaceForm::Cells(cells),
            function,
            pos: None,
            internal: false,
            memory: false,
            shown: Shown::Integer,
        })
    }

    /// The colour set that cells of this shape have: the key, then the value.
    #[must_use]
    pub fn cell_components(cells: &CellData) -> Vec<Base> {
        let mut components = match cells.scope {
            Scope::Global => vec![],
            Scope::Thread => vec![Base::Thread],
            Scope::Frame(_) => vec![Base::Thread, Base::Depth],
        };
        components.extend(cells.length.map(Base::Index));
        components.push(Base::Int(cells.value));
        components
    }

    /// The number that a bound of the model is, where it is one number.
    #[must_use]
    pub const fn limit_of(&self, bound: crate::Bound) -> Option<u32> {
        match bound {
            crate::Bound::Depth => Some(self.max_depth),
            crate::Bound::Threads => Some(self.max_threads),
            crate::Bound::Indivisible => Some(crate::INDIVISIBLE_STEPS),
            crate::Bound::Heap | crate::Bound::Library => None,
        }
    }

    /// The factors of a place's colour set.
    #[must_use]
    pub fn components(&self, place: Place) -> &[Base] {
        &self.colors[self.places[place].color].components
    }

    /// Whether a place carries tokens of frames: thread and depth.
    #[must_use]
    pub fn is_frame_place(&self, place: Place) -> bool {
        self.places[place].kind == PlaceKind::Execution
            && matches!(self.components(place), [Base::Thread, Base::Depth])
    }

    /// Whether some enabled binding can keep another one from being enabled, by its rank or by not being late.
    #[must_use]
    pub fn has_priorities(&self) -> bool {
        self.transitions.iter().any(|data| data.rank != 0 || data.late)
    }

    /// Whether a transition takes the token of a frame that may be another thread's, so that two threads move
    /// in one step.
    #[must_use]
    pub fn moves_partner(&self, data: &TransitionData) -> bool {
        let own = Expr::Var(TransitionData::thread_var());
        data.arcs.iter().skip(1).any(|arc| match arc {
            ArcData::Take { place, token } => {
                self.is_frame_place(*place)
                    && !matches!(token.first(), Some(Pattern::Is(thread)) if *thread == own)
            }
            _ => false,
        })
    }

    /// Whether the net has none of the features by which a step is more, or less, than the arcs of one transition
    /// say of one thread: priorities, sections that are lost, indivisible sequences, and partners. Analyses
    /// that argue about single transitions of single threads ask this first.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        !self.atomic_yields
            && self.indivisible.is_none()
            && !self.has_priorities()
            && !self.transitions.iter().any(|data| self.moves_partner(data))
    }

    /// Whether a thread may begin with the number of one that has ended: nothing keeps the ended ones.
    #[must_use]
    pub fn reuses_threads(&self) -> bool {
        self.done.is_none() && self.transitions.iter().any(|data| data.action == Action::ThreadEnd)
    }

    /// The places from which a step waits for the end of a thread.
    #[must_use]
    pub fn join_places(&self) -> IndexVec<Place, bool> {
        let mut joins = IndexVec::filled(false, self.places.len());
        for data in self.transitions.iter().filter(|data| data.action == Action::Join) {
            if let Some(source) = data.source() {
                joins[source] = true;
            }
        }
        joins
    }

    /// How many directed arcs there are.
    #[must_use]
    pub fn n_arcs(&self) -> usize {
        self.transitions.iter().flat_map(|data| &data.arcs).map(ArcData::n_directed).sum()
    }

    /// The place of that name and kind, for tests.
    #[must_use]
    pub fn find_place(&self, name: &str, kind: PlaceKind) -> Option<Place> {
        let mut places = self.places.iter_enumerated();
        places.find(|(_, data)| data.kind == kind && data.name == name).map(|(place, _)| place)
    }
}
