//! The state of the model: which variables there are, what they are called, and where in them a cell or a token is.
//!
//! * Cells are variables, or arrays over threads, depths and indices, flattened. The values of a cell that do not fit
//!   into 32 bits, such as addresses, are numbered where they are few, and the variable holds the number.
//! * Where threads are is in the array `pc`: for each thread and depth the number of a place, 0 where there is no frame.
//! * Tokens of other places are counted, in an array over all colours of the place.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pdnet_base::IndexVec;
use pdnet_net::{Base, CellData, Net, Place, PlaceForm, PlaceKind, Scope};

use super::expr::{Code, Macro, Refusal};
use super::names::Names;
use super::span::Span;
use super::values::{Possible, Values};
use crate::values::value_text;

/// Arrays with more elements are refused: SPIN keeps all of them in every state.
const MAX_ELEMENTS: i64 = 1 << 14;

/// The state of the model.
pub(super) struct Model<'a> {
    pub(super) net: &'a Net,
    pub(super) n_threads: i64,
    pub(super) possible: Possible,
    /// The numbers of the values of cells that do not fit into 32 bits.
    pub(super) tables: BTreeMap<Place, Vec<i64>>,
    /// The variables of places.
    names: IndexVec<Place, String>,
    /// The names of the numbers of places where frames are.
    positions: IndexVec<Place, String>,
    /// Cells that nothing ever looks at, of types that have no room.
    unseen: BTreeSet<Place>,
    macros: RefCell<BTreeSet<Macro>>,
}

impl<'a> Model<'a> {
    /// The state of a net with so many threads. `observed` are the cells that atoms look at.
    pub(super) fn new(
        net: &'a Net,
        n_threads: u32,
        observed: &BTreeSet<Place>,
    ) -> Result<Self, Vec<Refusal>> {
        let mut names = Names::default();
        let name_of = |place: Place| {
            let data = &net.places[place];
            match data.function {
                Some(function) if data.cells().is_some() => {
                    format!("{} {}", net.functions[function].name, data.name)
                }
                _ => data.name.clone(),
            }
        };
        let mut model = Self {
            net,
            n_threads: n_threads.into(),
            possible: Possible::new(net, n_threads),
            tables: BTreeMap::new(),
            names: net.places.indices().map(|place| names.fresh("v_", &name_of(place))).collect(),
            positions: net.places.indices().map(|place| names.fresh("AT_", &name_of(place))).collect(),
            unseen: BTreeSet::new(),
            macros: RefCell::default(),
        };
        let refusals = model.find_tables(observed);
        if refusals.is_empty() { Ok(model) } else { Err(refusals) }
    }

    /// Numbers the values of wide cells.
    fn find_tables(&mut self, observed: &BTreeSet<Place>) -> Vec<Refusal> {
        let mut read = observed.clone();
        for arc in self.net.transitions.iter().flat_map(|data| &data.arcs) {
            if let pdnet_net::ArcData::Read { place, .. } = arc {
                read.insert(*place);
            }
        }
        let mut refusals = Vec::new();
        for (place, data) in self.net.places.iter_enumerated() {
            let values = &self.possible.values[place];
            let is_narrow = values.span().fits_int() || values.span().fits_word();
            if data.cells().is_none() || is_narrow || !self.is_stored(place) {
                continue;
            }
            match values {
                Values::Few(values) => {
                    self.tables.insert(place, values.iter().copied().collect());
                }
                Values::Many(_) if !read.contains(&place) => {
                    self.unseen.insert(place);
                }
                Values::Many(_) => refusals.push(self.too_wide(place)),
            }
        }
        refusals
    }

    fn too_wide(&self, place: Place) -> Refusal {
        let data = &self.net.places[place];
        let of = data.function.map(|function| format!(" of `{}`", self.net.functions[function].name));
        let line = data.pos.map(|pos| format!(" (line {})", pos.line)).unwrap_or_default();
        Refusal::new(format!(
            "`{}`{}{line} may have many values of more than 32 bits, which is all that Promela has",
            data.name,
            of.unwrap_or_default(),
        ))
        .help("use `int` where that is enough, or let slicing cut it: ask for fewer properties")
    }

    /// The cells of a place.
    pub(super) fn cells(&self, place: Place) -> Option<&'a CellData> {
        self.net.places[place].cells()
    }

    /// Whether the cells of a place are part of the state. Those that nobody writes are constants, but for arrays with
    /// several values.
    pub(super) fn is_stored(&self, place: Place) -> bool {
        let is_table = self.cells(place).is_some_and(|cells| !cells.listed.is_empty());
        !self.unseen.contains(&place) && (self.possible.written[place] || is_table)
    }

    /// Remembers that a definition is needed.
    pub(super) fn use_macro(&self, used: Macro) {
        let mut macros = self.macros.borrow_mut();
        macros.insert(used);
        if used == Macro::Remainder {
            macros.insert(Macro::Divide);
        }
    }

    /// The value of a cell that never changes.
    pub(super) fn constant_cell(&self, place: Place, key: &[Code]) -> Option<i64> {
        let cells = self.cells(place)?;
        if self.possible.written[place] {
            return None;
        }
        let Some(length) = cells.length else { return Some(cells.default) };
        if cells.default == 0 && cells.listed.is_empty() {
            return Some(0);
        }
        let index = key.last()?.span.single()?;
        let index = u32::try_from(index).ok().filter(|index| *index < length);
        Some(index.map_or(0, |index| cells.initial(index)))
    }

    /// How many of each factor of a key or token there are.
    fn sizes(&self, place: Place) -> Vec<i64> {
        let is_cell = self.cells(place).is_some();
        let components = self.net.components(place);
        let n = components.len() - usize::from(is_cell);
        let frame = self.cells(place).is_none_or(|cells| matches!(cells.scope, Scope::Frame(_)));
        let size = |base: &Base| match base {
            // Frames and tokens are of threads that there are. Cells of threads may be asked for under any number.
            Base::Thread if frame => self.n_threads,
            Base::Thread => i64::from(self.net.max_threads),
            Base::Depth => i64::from(self.net.max_depth),
            Base::Index(length) => i64::from(*length),
            // None, so that it is refused, where there are negative or too many values.
            Base::Int(ty) if ty.signed => 0,
            Base::Int(ty) => (*ty).max().saturating_add(1),
        };
        components[..n].iter().map(size).collect()
    }

    /// Where in its array a cell is, and the condition that there is one, if that is not sure.
    pub(super) fn cell_index(&self, place: Place, key: &[Code]) -> Result<(Code, Option<Code>), Refusal> {
        let sizes = self.sizes(place);
        if sizes.len() != key.len() {
            return Err(Refusal::new(format!(
                "the key of `{}` is of another length",
                self.net.places[place].name
            )));
        }
        Ok(flatten(key, &sizes))
    }

    /// The value outside of an array, or of a thread that does not exist.
    pub(super) fn outside(&self, place: Place) -> Result<i64, Refusal> {
        match self.cells(place) {
            Some(cells) if cells.length.is_some() && matches!(cells.scope, Scope::Global) => Ok(0),
            Some(cells) if cells.default == 0 && cells.listed.is_empty() => Ok(0),
            Some(cells) if cells.length.is_none() => Ok(cells.default),
            _ => Err(Refusal::new(format!(
                "an index of `{}` that may be outside of it",
                self.net.places[place].name
            ))),
        }
    }

    /// The cell at an index.
    pub(super) fn cell_text(&self, place: Place, index: &Code) -> String {
        self.element(place, &index.text)
    }

    fn element(&self, place: Place, index: &str) -> String {
        let name = &self.names[place];
        if self.sizes(place).is_empty() { name.clone() } else { format!("{name}[{index}]") }
    }

    /// Where the frame of a thread and depth is kept.
    pub(super) fn frame_index(&self, thread: i64, depth: i64) -> i64 {
        thread * i64::from(self.net.max_depth) + depth
    }

    /// The name of the number of a place of frames.
    pub(super) fn position(&self, place: Place) -> &str {
        &self.positions[place]
    }

    /// Whether a frame is at a place.
    pub(super) fn is_at(&self, place: Place, thread: i64, depth: i64) -> Code {
        let text = format!("(pc[{}] == {})", self.frame_index(thread, depth), self.positions[place]);
        Code { text, span: Span::new(0, 1), reads: BTreeSet::from([place]) }
    }

    /// Where a token of a place without frames is counted, and the condition that it can be there at all.
    pub(super) fn token_index(&self, place: Place, token: &[Code]) -> (Code, Option<Code>) {
        flatten(token, &self.sizes(place))
    }

    /// The number of tokens at an index.
    pub(super) fn count_text(&self, place: Place, index: &str) -> String {
        self.element(place, index)
    }

    /// All tokens that can be on a place, each with the condition that it is there.
    pub(super) fn tokens(&self, place: Place) -> Vec<(Vec<i64>, Code)> {
        if self.net.is_frame_place(place) {
            let from = (place, i64::MIN, i64::MIN)..=(place, i64::MAX, i64::MAX);
            let frames = self.possible.frames.range(from);
            return frames
                .map(|&(_, thread, depth)| (vec![thread, depth], self.is_at(place, thread, depth)))
                .collect();
        }
        if !self.possible.marked[place] {
            return Vec::new();
        }
        let sizes = self.sizes(place);
        let n: i64 = sizes.iter().product();
        let mut found = Vec::new();
        for index in 0..n {
            let mut rest = index;
            let mut token: Vec<i64> = Vec::new();
            for size in sizes.iter().rev() {
                token.push(rest % size);
                rest /= size;
            }
            token.reverse();
            let text = format!("({} > 0)", self.element(place, &index.to_string()));
            let code = Code { text, span: Span::new(0, 1), reads: BTreeSet::from([place]) };
            found.push((token, code));
        }
        found
    }

    /// The number that stands for a value of a wide cell.
    pub(super) fn number_of(&self, place: Place, value: i64) -> Option<usize> {
        self.tables.get(&place)?.iter().position(|known| *known == value)
    }

    /// What a cell has first, as it is stored.
    pub(super) fn stored_initial(&self, place: Place, index: u32) -> String {
        let value = self.cells(place).map_or(0, |cells| cells.initial(index));
        match self.tables.get(&place) {
            Some(_) => self.number_of(place, value).unwrap_or(0).to_string(),
            None => Code::constant(value).text,
        }
    }

    /// The statements that set all cells of a frame back.
    pub(super) fn reset(&self, thread: i64, depth: i64, out: &mut Vec<String>) {
        for &(place, _, _) in self.possible.touched.iter().filter(|(_, t, d)| (*t, *d) == (thread, depth)) {
            if !self.is_stored(place) {
                continue;
            }
            let length = self.cells(place).and_then(|cells| cells.length);
            for element in 0..length.unwrap_or(1) {
                let n = i64::from(length.unwrap_or(1));
                let index = self.frame_index(thread, depth) * n + i64::from(element);
                let cell = self.element(place, &index.to_string());
                out.push(format!("{cell} = {}", self.stored_initial(place, element)));
            }
        }
    }

    /// The threads and depths that frames can have.
    pub(super) fn slots(&self) -> BTreeSet<(i64, i64)> {
        self.possible.frames.iter().map(|&(_, thread, depth)| (thread, depth)).collect()
    }

    /// The declarations: numbers of places, `pc`, cells and tokens. And how many bytes they take.
    pub(super) fn declarations(&self) -> Result<(String, i64), Vec<Refusal>> {
        let mut text = String::new();
        let mut refusals = Vec::new();
        let places: BTreeSet<Place> = self.possible.frames.iter().map(|(place, _, _)| *place).collect();
        text += "/* Where a frame can be. */\n";
        for (number, place) in places.iter().enumerate() {
            let _ = writeln!(text, "#define {} {}", self.positions[*place], number + 1);
        }
        let ty = if places.len() < 256 { "byte" } else { "short" };
        let size = self.n_threads * i64::from(self.net.max_depth);
        let mut n_bytes = size * if places.len() < 256 { 1 } else { 2 };
        let mut first: Vec<String> = vec!["0".to_owned(); usize::try_from(size).unwrap_or(0)];
        for place in &places {
            if let PlaceForm::Tokens { initial } = &self.net.places[*place].form {
                for token in initial {
                    let index = usize::try_from(self.frame_index(token[0], token[1])).unwrap_or(0);
                    if let Some(entry) = first.get_mut(index) {
                        entry.clone_from(&self.positions[*place]);
                    }
                }
            }
        }
        let _ = writeln!(
            text,
            "\n/* Where the frames of each thread are, {} for each. */\n{ty} pc[{size}] = {{ {} }};\n",
            self.net.max_depth,
            first.join(", ")
        );
        for (place, data) in self.net.places.iter_enumerated() {
            let result = match &data.form {
                _ if data.kind == PlaceKind::Control || self.net.is_frame_place(place) => continue,
                PlaceForm::Cells(_) if !self.is_stored(place) => continue,
                PlaceForm::Tokens { .. } if !self.possible.marked[place] => continue,
                PlaceForm::Cells(cells) => self.declare_cells(place, cells),
                PlaceForm::Tokens { initial } => self.declare_tokens(place, initial),
            };
            match result {
                Ok((declaration, n)) => {
                    text += &declaration;
                    n_bytes += n;
                }
                Err(refusal) => refusals.push(refusal),
            }
        }
        let macros = self.macros.borrow();
        if !macros.is_empty() {
            text += "\n/* Numbers of 32 bits without a sign. */\n";
            text.extend(macros.iter().map(|used| used.text()));
        }
        if refusals.is_empty() { Ok((text, n_bytes)) } else { Err(refusals) }
    }

    fn declare_cells(&self, place: Place, cells: &CellData) -> Result<(String, i64), Refusal> {
        let span = match self.tables.get(&place) {
            Some(table) => Span::new(0, table.len() as i128),
            None => self.possible.values[place].span(),
        };
        let (ty, width) = if span.is_within(Span::new(0, 255)) {
            ("byte", 1)
        } else if span.is_within(Span::new(i16::MIN.into(), i16::MAX.into())) {
            ("short", 2)
        } else {
            ("int", 4)
        };
        let mut text = String::new();
        if let Some(table) = self.tables.get(&place) {
            let listed: Vec<String> = table
                .iter()
                .enumerate()
                .map(|(number, value)| {
                    let shown = value_text(self.net, self.net.places[place].shown, cells.value, *value);
                    format!("{number} is {shown}")
                })
                .collect();
            let _ = writeln!(text, "/* {} */", super::names::comment(&listed.join(", ")));
        }
        let n = self.n_elements(place)?;
        let length = cells.length.unwrap_or(1);
        let name = &self.names[place];
        let uniform = cells.listed.is_empty();
        let initial = if uniform {
            self.stored_initial_default(place, cells)
        } else {
            let copies = n / i64::from(length);
            let all = (0..copies).flat_map(|_| 0..length).map(|index| self.stored_initial(place, index));
            let all: Vec<String> = all.collect();
            format!("{{ {} }}", all.join(", "))
        };
        let size = if self.sizes(place).is_empty() { String::new() } else { format!("[{n}]") };
        let _ = writeln!(text, "{ty} {name}{size} = {initial};");
        Ok((text, n * width))
    }

    fn stored_initial_default(&self, place: Place, cells: &CellData) -> String {
        match self.tables.get(&place) {
            Some(_) => self.number_of(place, cells.default).unwrap_or(0).to_string(),
            None => Code::constant(cells.default).text,
        }
    }

    fn declare_tokens(&self, place: Place, initial: &[Vec<i64>]) -> Result<(String, i64), Refusal> {
        let n = self.n_elements(place)?;
        let sizes = self.sizes(place);
        let mut counts = vec![0_u32; usize::try_from(n).unwrap_or(0)];
        for token in initial {
            let index = token.iter().zip(&sizes).fold(0, |index, (part, size)| index * size + part);
            if let Some(count) = usize::try_from(index).ok().and_then(|index| counts.get_mut(index)) {
                *count += 1;
            }
        }
        let name = &self.names[place];
        let text = if sizes.is_empty() {
            format!("byte {name} = {};\n", counts[0])
        } else {
            let listed: Vec<String> = counts.iter().map(ToString::to_string).collect();
            format!("byte {name}[{n}] = {{ {} }};\n", listed.join(", "))
        };
        Ok((text, n))
    }

    fn n_elements(&self, place: Place) -> Result<i64, Refusal> {
        let n = self.sizes(place).iter().fold(1_i64, |n, size| n.saturating_mul((*size).max(0)));
        if (1..=MAX_ELEMENTS).contains(&n) {
            return Ok(n);
        }
        Err(Refusal::new(format!(
            "`{}` has too many elements for a model in Promela",
            self.net.places[place].name
        ))
        .help("a smaller `--depth`, `--max-threads` or `--max-elements` makes it smaller"))
    }
}

/// The position in an array of several dimensions, and the condition that there is such a one, if that is not sure.
fn flatten(key: &[Code], sizes: &[i64]) -> (Code, Option<Code>) {
    let mut index = Code::constant(0);
    let mut conditions = Vec::new();
    for (part, size) in key.iter().zip(sizes) {
        let is_inside = part.span.is_within(Span::new(0, i128::from(*size) - 1));
        let span = Span::new(part.span.low.max(0), part.span.high.min(i128::from(*size) - 1));
        if !is_inside {
            let text = format!("({0} >= 0 && {0} < {size})", part.text);
            // What has no overlap with the array is never inside.
            let span = if span.low > span.high { Span::one(0) } else { Span::new(0, 1) };
            let text = if span == Span::one(0) { "0".to_owned() } else { text };
            conditions.push(Code::of(text, span, &[part]));
        }
        index = match (index.span.single(), part.span.single()) {
            (Some(before), Some(here)) => Code::constant(before * size + here),
            (Some(0), None) => part.clone(),
            (Some(before), None) => {
                Code::of(format!("({} + {})", before * size, part.text), part.span, &[&index, part])
            }
            (None, _) => {
                Code::of(format!("({} * {size} + {})", index.text, part.text), span, &[&index, part])
            }
        };
    }
    // What is never inside is not to be looked at.
    let never = conditions.iter().any(|condition| condition.span == Span::one(0));
    (index, if never { Some(Code::constant(0)) } else { Code::all(conditions) })
}
