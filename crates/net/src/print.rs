//! The text form of a net, and expressions as people read them.
//!
//! The text form is exact: [`crate::parse_net`] of what is printed gives an equal net. Its grammar is
//! described in `docs/net-format.md`.

use std::fmt::{self, Write as _};

use pdnet_source::Pos;

use crate::net::{ArcData, Base, CellData, Pattern, PlaceForm, PlaceKind, Scope, TransitionData, Var};
use crate::{BinaryOp, Expr, Net, ObjectData, ObjectKind, Shown, UnaryOp};

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "net {} threads {} depth {}", quoted(&self.name), self.max_threads, self.max_depth)?;
        for (number, file) in self.files.iter().enumerate().filter(|(_, file)| !file.is_empty()) {
            writeln!(f, "file {number} {}", quoted(file))?;
        }
        for (color, data) in self.colors.iter_enumerated() {
            write!(f, "color {color} =")?;
            data.components.iter().try_for_each(|base| write!(f, " {base}"))?;
            writeln!(f)?;
        }
        for (function, data) in self.functions.iter_enumerated() {
            write!(f, "function {function} {} entry {} exit {}", quoted(&data.name), data.entry, data.exit)?;
            writeln!(f, "{}", At(data.pos))?;
        }
        for (place, data) in self.places.iter_enumerated() {
            let kind = match data.kind {
                PlaceKind::Control => "control",
                PlaceKind::Variable => "variable",
                PlaceKind::Execution => "execution",
            };
            write!(f, "place {place} {kind} {} {}", data.color, quoted(&data.name))?;
            if let Some(function) = data.function {
                write!(f, " of {function}")?;
            }
            write!(f, "{}", At(data.pos))?;
            if data.internal {
                write!(f, " internal")?;
            }
            if data.memory {
                write!(f, " memory")?;
            }
            if data.shown != Shown::Integer {
                write!(f, " shown {}", data.shown.name())?;
            }
            match &data.form {
                PlaceForm::Tokens { initial } => {
                    write!(f, " tokens")?;
                    initial.iter().try_for_each(|token| write!(f, " {}", List(token)))?;
                }
                PlaceForm::Cells(cells) => write_cells(f, cells)?,
            }
            writeln!(f)?;
        }
        let yields = if self.atomic_yields { " yields" } else { "" };
        let specials = [
            ("done", self.done, ""),
            ("ended", self.ended, ""),
            ("atomic", self.atomic, yields),
            ("indivisible", self.indivisible, ""),
        ];
        for (word, place, more) in specials {
            if let Some(place) = place {
                writeln!(f, "{word} {place}{more}")?;
            }
        }
        self.objects.iter().try_for_each(|object| write_object(f, object))?;
        for (transition, data) in self.transitions.iter_enumerated() {
            write!(f, "transition {transition} {} {} {}", data.action, data.function, quoted(&data.label))?;
            if let Some(calls) = &data.calls {
                write!(f, " calls {}", quoted(calls))?;
            }
            write!(f, "{}{}", At(data.pos), if data.atomic { " atomically" } else { "" })?;
            if data.rank != 0 {
                write!(f, " rank {}", data.rank)?;
            }
            writeln!(f, "{}", if data.late { " late" } else { "" })?;
            write_body(f, data)?;
        }
        Ok(())
    }
}

fn write_object(f: &mut fmt::Formatter<'_>, object: &ObjectData) -> fmt::Result {
    write!(f, "object {} {} ", object.number, quoted(&object.name))?;
    match object.kind {
        ObjectKind::Variable => writeln!(f, "variable")?,
        ObjectKind::Heap(slots) => writeln!(f, "heap {slots}")?,
        ObjectKind::Text => writeln!(f, "text")?,
        ObjectKind::Function => writeln!(f, "function")?,
        ObjectKind::Unknown => writeln!(f, "unknown")?,
    }
    for part in &object.parts {
        let place = part.place.map_or_else(|| "-".to_owned(), |place| place.to_string());
        write!(f, "  part {place} {} {}", quoted(&part.path), part.offset)?;
        part.dimensions.iter().try_for_each(|(stride, count)| write!(f, " ({stride} {count})"))?;
        writeln!(f)?;
    }
    Ok(())
}

fn write_cells(f: &mut fmt::Formatter<'_>, cells: &CellData) -> fmt::Result {
    match cells.scope {
        Scope::Global => write!(f, " cells global")?,
        Scope::Thread => write!(f, " cells thread")?,
        Scope::Frame(function) => write!(f, " cells frame {function}")?,
    }
    if let Some(length) = cells.length {
        write!(f, " [{length}]")?;
    }
    write!(f, " {} = {}", cells.value, cells.default)?;
    cells.listed.iter().try_for_each(|(index, value)| write!(f, " ({index} {value})"))
}

fn write_body(f: &mut fmt::Formatter<'_>, data: &TransitionData) -> fmt::Result {
    for (var, var_data) in data.vars.iter_enumerated() {
        write!(f, "  var {var} {} {}", var_data.base, quoted(&var_data.name))?;
        if let Some(domain) = &var_data.choice {
            write!(f, " choice {}", if domain.exact { "exact" } else { "sampled" })?;
            domain.ranges.iter().try_for_each(|(low, high)| write!(f, " ({low} {high})"))?;
        }
        if let Some(note) = &var_data.note {
            write!(f, " note {}", quoted(note))?;
        }
        writeln!(f)?;
    }
    for part in &data.bytes {
        writeln!(f, "  bytes {} {} {}", part.place, part.first, part.count)?;
    }
    for arc in &data.arcs {
        match arc {
            ArcData::Take { place, token } => writeln!(f, "  take {place} {}", List(token))?,
            ArcData::Put { place, token } => writeln!(f, "  put {place} {}", List(token))?,
            ArcData::Test { place, token } => writeln!(f, "  test {place} {}", List(token))?,
            ArcData::Inhibit { place, prefix } => writeln!(f, "  inhibit {place} {}", List(prefix))?,
            ArcData::Drain { place, prefix, to } => writeln!(f, "  drain {place} {} {to}", List(prefix))?,
            ArcData::Read { place, key, var, when } => {
                writeln!(f, "  read {place} {} {var}{}", List(key), When(when.as_ref()))?;
            }
            ArcData::Write { place, key, value, when } => {
                writeln!(f, "  write {place} {} {value}{}", List(key), When(when.as_ref()))?;
            }
            ArcData::Governed { place } => writeln!(f, "  governed {place}")?,
            ArcData::Governs { place, dependence } => writeln!(f, "  governs {place} {}", dependence.name())?,
        }
    }
    if let Some(guard) = &data.guard {
        writeln!(f, "  guard {guard}")?;
    }
    Ok(())
}

/// A string in quotes, with `"` and `\` escaped and line ends as `\n`.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for ch in text.chars() {
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            ch => out.push(ch),
        }
    }
    out.push('"');
    out
}

struct At(Option<Pos>);
impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(pos) => {
                write!(f, " at {} {} {}", pdnet_base::Idx::index(pos.file), pos.line, pos.column)
            }
        }
    }
}

struct When<'a>(Option<&'a Expr>);
impl fmt::Display for When<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |when| write!(f, " when {when}"))
    }
}

struct List<'a, T>(&'a [T]);
impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for (position, item) in self.0.iter().enumerate() {
            let space = if position == 0 { "" } else { " " };
            write!(f, "{space}{item}")?;
        }
        f.write_char(')')
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread => f.write_str("thread"),
            Self::Depth => f.write_str("depth"),
            Self::Index(length) => write!(f, "[{length}]"),
            Self::Int(ty) => write!(f, "{ty}"),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind(var) => write!(f, "?{var}"),
            Self::Is(expr) => write!(f, "{expr}"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(value) => write!(f, "{value}"),
            Self::Var(var) => write!(f, "{var}"),
            Self::Unary(op, ty, operand) => write!(f, "({} {ty} {operand})", op.name()),
            Self::Binary(op, ty, left, right) => write!(f, "({} {ty} {left} {right})", op.name()),
            Self::Convert(ty, operand) => write!(f, "(convert {ty} {operand})"),
            Self::If(condition, then, otherwise) => write!(f, "(if {condition} {then} {otherwise})"),
            Self::Cell(place, key) => write_call(f, "cell", *place, key),
            Self::Marked(place, prefix) => write_call(f, "marked", *place, prefix),
            Self::Deadlock => write!(f, "(deadlock)"),
        }
    }
}

fn write_call(f: &mut fmt::Formatter<'_>, word: &str, place: crate::Place, parts: &[Expr]) -> fmt::Result {
    write!(f, "({word} {place}")?;
    parts.iter().try_for_each(|part| write!(f, " {part}"))?;
    f.write_char(')')
}

/// The expression as a person reads it: infix, with the names that `names` gives to variables.
pub(crate) fn pretty_expr(net: &Net, expr: &Expr, names: &dyn Fn(Var) -> String) -> String {
    pretty(net, expr, names, 0)
}

fn pretty(net: &Net, expr: &Expr, names: &dyn Fn(Var) -> String, outer: u8) -> String {
    let place_call = |place: crate::Place, parts: &[Expr]| {
        let mut text = net.places[place].name.clone();
        for part in parts {
            let _ = write!(text, "[{}]", pretty(net, part, names, 0));
        }
        text
    };
    let (text, level) = match expr {
        Expr::Const(value) => (value.to_string(), 9),
        Expr::Var(var) => (names(*var), 9),
        Expr::Unary(op, _, operand) => {
            let sign = match op {
                UnaryOp::Neg | UnaryOp::FloatNeg => "-",
                UnaryOp::Not => "~",
                UnaryOp::FloatFromSigned
                | UnaryOp::FloatFromUnsigned
                | UnaryOp::FloatToSigned
                | UnaryOp::FloatToUnsigned
                | UnaryOp::FloatWiden
                | UnaryOp::FloatNarrow => "",
            };
            (format!("{sign}{}", pretty(net, operand, names, 8)), 8)
        }
        Expr::Binary(op, _, left, right) => {
            let (sign, level) = infix(*op);
            let left = pretty(net, left, names, level);
            (format!("{left} {sign} {}", pretty(net, right, names, level + 1)), level)
        }
        Expr::Convert(_, operand) => return pretty(net, operand, names, outer),
        Expr::If(condition, then, otherwise) => match (then.as_ref(), otherwise.as_ref()) {
            (then, Expr::Const(0)) => {
                let left = pretty(net, condition, names, 2);
                (format!("{left} && {}", pretty(net, then, names, 3)), 2)
            }
            (Expr::Const(1), otherwise) => {
                let left = pretty(net, condition, names, 1);
                (format!("{left} || {}", pretty(net, otherwise, names, 2)), 1)
            }
            (then, otherwise) => {
                let condition = pretty(net, condition, names, 1);
                let then = pretty(net, then, names, 0);
                (format!("{condition} ? {then} : {}", pretty(net, otherwise, names, 0)), 0)
            }
        },
        Expr::Cell(place, key) => (place_call(*place, key), 9),
        Expr::Marked(place, prefix) => (format!("marked({})", place_call(*place, prefix)), 9),
        Expr::Deadlock => ("deadlock".to_owned(), 9),
    };
    if level < outer { format!("({text})") } else { text }
}

const fn infix(op: BinaryOp) -> (&'static str, u8) {
    match op {
        BinaryOp::Mul | BinaryOp::FloatMul => ("*", 7),
        BinaryOp::Div | BinaryOp::FloatDiv => ("/", 7),
        BinaryOp::Rem => ("%", 7),
        BinaryOp::Add | BinaryOp::FloatAdd => ("+", 6),
        BinaryOp::Sub | BinaryOp::FloatSub => ("-", 6),
        BinaryOp::Shl => ("<<", 5),
        BinaryOp::Shr => (">>", 5),
        BinaryOp::Lt | BinaryOp::FloatLt => ("<", 4),
        BinaryOp::Le | BinaryOp::FloatLe => ("<=", 4),
        BinaryOp::Eq | BinaryOp::FloatEq => ("==", 3),
        BinaryOp::Ne => ("!=", 3),
        BinaryOp::And => ("&", 3),
        BinaryOp::Xor => ("^", 3),
        BinaryOp::Or => ("|", 3),
    }
}
