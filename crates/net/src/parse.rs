//! The parser of the text form.
//!
//! The grammar is that of [`Net`]'s `Display`, described in `docs/net-format.md`: words, numbers, quoted
//! strings and parentheses, white space free, `#` to the end of the line a comment.

use pdnet_base::{Idx, IndexVec};
use pdnet_source::{Diagnostic, File, Pos, SourceMap, Span};

use crate::net::{
    ArcData, Base, BytesData, CellData, ColorData, Dependence, Domain, FunctionData, Pattern, Place,
    PlaceData, PlaceForm, PlaceKind, Scope, TransitionData, VarData,
};
use crate::{Action, BinaryOp, Expr, IntType, Net, ObjectData, ObjectKind, PartData, Shown, UnaryOp};

/// Parses a net from its text form. The result is not verified.
///
/// # Errors
/// A diagnostic at the offending word.
pub fn parse_net(map: &SourceMap, file: File) -> Result<Net, Diagnostic> {
    let text = &map.file(file).text;
    let words = split_words(text, file)?;
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut parser = Parser { words, at: 0, depth: 0, end: Span { file, start: end, end } };
    parser.net()
}

#[derive(Clone, Debug, PartialEq)]
enum Word {
    Open,
    Close,
    Text(String),
    Bare(String),
}

type Parse<T> = Result<T, Diagnostic>;

/// Deeper expressions are refused, so that recursion stays within the stack.
const MAX_DEPTH: usize = 500;

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("net-syntax", message).at(span, "")
}

fn split_words(text: &str, file: File) -> Parse<Vec<(Word, Span)>> {
    let mut words = Vec::new();
    let mut chars = text.char_indices().peekable();
    let span = |start: usize, end: usize| Span {
        file,
        start: u32::try_from(start).unwrap_or(u32::MAX),
        end: u32::try_from(end).unwrap_or(u32::MAX),
    };
    while let Some((start, ch)) = chars.next() {
        match ch {
            '#' => while chars.next_if(|&(_, next)| next != '\n').is_some() {},
            '(' => words.push((Word::Open, span(start, start + 1))),
            ')' => words.push((Word::Close, span(start, start + 1))),
            '"' => {
                let mut content = String::new();
                loop {
                    match chars.next() {
                        None => return Err(error(span(start, start + 1), "string without end")),
                        Some((end, '"')) => {
                            words.push((Word::Text(content), span(start, end + 1)));
                            break;
                        }
                        Some((_, '\\')) => match chars.next() {
                            Some((_, 'n')) => content.push('\n'),
                            Some((_, escaped)) => content.push(escaped),
                            None => return Err(error(span(start, start + 1), "string without end")),
                        },
                        Some((_, other)) => content.push(other),
                    }
                }
            }
            ch if ch.is_whitespace() => {}
            ch => {
                let mut bare = String::from(ch);
                while let Some((_, next)) = chars
                    .next_if(|&(_, next)| !next.is_whitespace() && !matches!(next, '(' | ')' | '"' | '#'))
                {
                    bare.push(next);
                }
                let end = start + bare.len();
                words.push((Word::Bare(bare), span(start, end)));
            }
        }
    }
    Ok(words)
}

struct Parser {
    words: Vec<(Word, Span)>,
    at: usize,
    depth: usize,
    end: Span,
}

impl Parser {
    fn net(&mut self) -> Parse<Net> {
        self.keyword("net")?;
        let mut net = Net { name: self.text()?, ..Net::default() };
        self.keyword("threads")?;
        net.max_threads = self.number()?;
        self.keyword("depth")?;
        net.max_depth = self.number()?;
        while let Some((word, span)) = self.words.get(self.at).cloned() {
            self.at += 1;
            let Word::Bare(word) = word else { return Err(error(span, "expected the start of an item")) };
            match word.as_str() {
                "file" => {
                    let number: u16 = self.number()?;
                    let size = net.files.len().max(usize::from(number) + 1);
                    net.files.resize(size, String::new());
                    net.files[usize::from(number)] = self.text()?;
                }
                "color" => {
                    self.expect_index("c", net.colors.len())?;
                    self.keyword("=")?;
                    let mut components = Vec::new();
                    while let Some(base) = self.peek_bare().and_then(parse_base) {
                        self.at += 1;
                        components.push(base);
                    }
                    net.colors.push(ColorData { components });
                }
                "function" => self.function(&mut net)?,
                "place" => self.place(&mut net)?,
                "done" => net.done = Some(self.index("p")?),
                "ended" => net.ended = Some(self.index("p")?),
                "atomic" => {
                    net.atomic = Some(self.index("p")?);
                    net.atomic_yields = self.eat("yields");
                }
                "indivisible" => net.indivisible = Some(self.index("p")?),
                "object" => self.object(&mut net)?,
                "transition" => self.transition(&mut net)?,
                _ => return Err(error(span, format!("unknown item `{word}`"))),
            }
        }
        Ok(net)
    }

    fn function(&mut self, net: &mut Net) -> Parse<()> {
        self.expect_index("f", net.functions.len())?;
        let name = self.text()?;
        self.keyword("entry")?;
        let entry = self.index("p")?;
        self.keyword("exit")?;
        let exit = self.index("p")?;
        let pos = self.pos()?;
        net.functions.push(FunctionData { name, entry, exit, pos });
        Ok(())
    }

    fn place(&mut self, net: &mut Net) -> Parse<()> {
        self.expect_index("p", net.places.len())?;
        let kind = match self.bare()?.as_str() {
            "control" => PlaceKind::Control,
            "variable" => PlaceKind::Variable,
            "execution" => PlaceKind::Execution,
            _ => return Err(self.expected("control, variable or execution")),
        };
        let color = self.index("c")?;
        let name = self.text()?;
        let function = if self.eat("of") { Some(self.index("f")?) } else { None };
        let pos = self.pos()?;
        let internal = self.eat("internal");
        let memory = self.eat("memory");
        let shown = if self.eat("shown") { self.shown()? } else { Shown::Integer };
        let form = match self.bare()?.as_str() {
            "tokens" => {
                let mut initial = Vec::new();
                while self.peek_open() {
                    initial.push(self.list(|parser| parser.number())?);
                }
                PlaceForm::Tokens { initial }
            }
            "cells" => PlaceForm::Cells(self.cells()?),
            _ => return Err(self.expected("tokens or cells")),
        };
        net.places.push(PlaceData { name, kind, color, form, function, pos, internal, memory, shown });
        Ok(())
    }

    fn shown(&mut self) -> Parse<Shown> {
        let name = self.bare()?;
        let shown = Shown::ALL.into_iter().find(|shown| shown.name() == name);
        shown.ok_or_else(|| self.expected("integer, pointer, float32, float64 or bits"))
    }

    fn object(&mut self, net: &mut Net) -> Parse<()> {
        let number = self.number()?;
        let name = self.text()?;
        let kind = match self.bare()?.as_str() {
            "variable" => ObjectKind::Variable,
            "heap" => ObjectKind::Heap(self.index("p")?),
            "text" => ObjectKind::Text,
            "function" => ObjectKind::Function,
            "unknown" => ObjectKind::Unknown,
            _ => return Err(self.expected("variable, heap, text, function or unknown")),
        };
        let mut parts = Vec::new();
        while self.eat("part") {
            let place = if self.eat("-") { None } else { Some(self.index("p")?) };
            let path = self.text()?;
            let offset = self.number()?;
            let mut dimensions = Vec::new();
            while self.peek_open() {
                self.open()?;
                dimensions.push((self.number()?, self.number()?));
                self.close()?;
            }
            parts.push(PartData { place, path, offset, dimensions });
        }
        net.objects.push(ObjectData { number, name, kind, parts });
        Ok(())
    }

    fn cells(&mut self) -> Parse<CellData> {
        let scope = match self.bare()?.as_str() {
            "global" => Scope::Global,
            "thread" => Scope::Thread,
            "frame" => Scope::Frame(self.index("f")?),
            _ => return Err(self.expected("global, thread or frame")),
        };
        let mut length = None;
        if let Some(Base::Index(found)) = self.peek_bare().and_then(parse_base) {
            self.at += 1;
            length = Some(found);
        }
        let value = self.int_type()?;
        self.keyword("=")?;
        let default = self.number()?;
        let mut listed = Vec::new();
        while self.peek_open() {
            self.open()?;
            listed.push((self.number()?, self.number()?));
            self.close()?;
        }
        Ok(CellData { scope, length, value, default, listed })
    }

    fn transition(&mut self, net: &mut Net) -> Parse<()> {
        self.expect_index("t", net.transitions.len())?;
        let name = self.bare()?;
        let Some(action) = Action::ALL.into_iter().find(|action| action.name() == name) else {
            return Err(self.expected("an action"));
        };
        let function = self.index("f")?;
        let label = self.text()?;
        let calls = if self.eat("calls") { Some(self.text()?) } else { None };
        let pos = self.pos()?;
        let atomic = self.eat("atomically");
        let rank = if self.eat("rank") { self.number()? } else { 0 };
        let late = self.eat("late");
        let (vars, arcs, guard) = (IndexVec::new(), Vec::new(), None);
        let mut data = TransitionData {
            action,
            label,
            function,
            calls,
            pos,
            atomic,
            rank,
            late,
            bytes: Vec::new(),
            vars,
            arcs,
            guard,
        };
        while self.part(&mut data)? {}
        net.transitions.push(data);
        Ok(())
    }

    /// One variable, arc or guard of a transition; false where the next word starts something else.
    fn part(&mut self, data: &mut TransitionData) -> Parse<bool> {
        let Some(word) = self.peek_bare().map(str::to_owned) else { return Ok(false) };
        let known = [
            "var", "take", "put", "test", "inhibit", "drain", "read", "write", "governed", "governs",
            "guard", "bytes",
        ];
        if !known.contains(&word.as_str()) {
            return Ok(false);
        }
        self.at += 1;
        match word.as_str() {
            "var" => {
                self.expect_index("x", data.vars.len())?;
                let base = self.bare()?;
                let Some(base) = parse_base(&base) else { return Err(self.expected("a type")) };
                let name = self.text()?;
                let choice = if self.eat("choice") { Some(self.domain()?) } else { None };
                let note = if self.eat("note") { Some(self.text()?) } else { None };
                data.vars.push(VarData { name, base, choice, note });
            }
            "guard" => data.guard = Some(self.expr()?),
            "bytes" => {
                let place: Place = self.index("p")?;
                let first = self.expr()?;
                let count: u8 = self.number()?;
                data.bytes.push(BytesData { place, first, count });
            }
            _ => {
                let place: Place = self.index("p")?;
                let arc = self.arc(&word, place)?;
                data.arcs.push(arc);
            }
        }
        Ok(true)
    }

    fn arc(&mut self, word: &str, place: Place) -> Parse<ArcData> {
        Ok(match word {
            "take" => ArcData::Take { place, token: self.list(Self::pattern)? },
            "put" => ArcData::Put { place, token: self.list(Self::expr)? },
            "test" => ArcData::Test { place, token: self.list(Self::pattern)? },
            "inhibit" => ArcData::Inhibit { place, prefix: self.list(Self::expr)? },
            "drain" => ArcData::Drain { place, prefix: self.list(Self::expr)?, to: self.index("p")? },
            "read" => {
                let key = self.list(Self::expr)?;
                let var = self.index("x")?;
                ArcData::Read { place, key, var, when: self.when()? }
            }
            "write" => {
                let key = self.list(Self::expr)?;
                let value = self.expr()?;
                ArcData::Write { place, key, value, when: self.when()? }
            }
            "governed" => ArcData::Governed { place },
            _ => {
                let name = self.bare()?;
                let dependence = Dependence::ALL.into_iter().find(|dependence| dependence.name() == name);
                let dependence = dependence.ok_or_else(|| self.expected("co, ca, lo or po"))?;
                ArcData::Governs { place, dependence }
            }
        })
    }

    fn domain(&mut self) -> Parse<Domain> {
        let exact = match self.bare()?.as_str() {
            "exact" => true,
            "sampled" => false,
            _ => return Err(self.expected("exact or sampled")),
        };
        let mut ranges = Vec::new();
        while self.peek_open() {
            self.open()?;
            ranges.push((self.number()?, self.number()?));
            self.close()?;
        }
        Ok(Domain { ranges, exact })
    }

    fn when(&mut self) -> Parse<Option<Expr>> {
        if self.eat("when") { self.expr().map(Some) } else { Ok(None) }
    }

    fn pattern(&mut self) -> Parse<Pattern> {
        if let Some(var) =
            self.peek_bare().and_then(|word| word.strip_prefix('?')).and_then(|w| index_of("x", w))
        {
            self.at += 1;
            return Ok(Pattern::Bind(var));
        }
        self.expr().map(Pattern::Is)
    }

    fn expr(&mut self) -> Parse<Expr> {
        if !self.peek_open() {
            if let Some(var) = self.peek_bare().and_then(|word| index_of("x", word)) {
                self.at += 1;
                return Ok(Expr::Var(var));
            }
            return self.number().map(Expr::Const);
        }
        if self.depth == MAX_DEPTH {
            return Err(error(self.span(), "expression nested too deeply"));
        }
        self.depth += 1;
        self.open()?;
        let word = self.bare()?;
        let expr = self.compound(&word)?;
        self.close()?;
        self.depth -= 1;
        Ok(expr)
    }

    fn compound(&mut self, word: &str) -> Parse<Expr> {
        if let Some(op) = UnaryOp::ALL.into_iter().find(|op| op.name() == word) {
            return Ok(Expr::Unary(op, self.int_type()?, Box::new(self.expr()?)));
        }
        if let Some(op) = BinaryOp::ALL.into_iter().find(|op| op.name() == word) {
            return Ok(Expr::Binary(op, self.int_type()?, Box::new(self.expr()?), Box::new(self.expr()?)));
        }
        Ok(match word {
            "convert" => Expr::Convert(self.int_type()?, Box::new(self.expr()?)),
            "if" => Expr::If(Box::new(self.expr()?), Box::new(self.expr()?), Box::new(self.expr()?)),
            "cell" => Expr::Cell(self.index("p")?, self.exprs_to_close()?),
            "marked" => Expr::Marked(self.index("p")?, self.exprs_to_close()?),
            "deadlock" => Expr::Deadlock,
            _ => return Err(self.expected("an operator")),
        })
    }

    fn exprs_to_close(&mut self) -> Parse<Vec<Expr>> {
        let mut exprs = Vec::new();
        while !matches!(self.words.get(self.at), None | Some((Word::Close, _))) {
            exprs.push(self.expr()?);
        }
        Ok(exprs)
    }

    fn pos(&mut self) -> Parse<Option<Pos>> {
        if !self.eat("at") {
            return Ok(None);
        }
        let file: usize = self.number()?;
        Ok(Some(Pos { file: File::new(file), line: self.number()?, column: self.number()? }))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        self.open()?;
        let mut items = Vec::new();
        while !matches!(self.words.get(self.at), None | Some((Word::Close, _))) {
            items.push(item(self)?);
        }
        self.close()?;
        Ok(items)
    }

    fn span(&self) -> Span {
        self.words.get(self.at).map_or(self.end, |(_, span)| *span)
    }

    /// An error about the word that was just read.
    fn expected(&self, what: &str) -> Diagnostic {
        let span = self.words.get(self.at.saturating_sub(1)).map_or(self.end, |(_, span)| *span);
        error(span, format!("expected {what}"))
    }

    fn peek_open(&self) -> bool {
        matches!(self.words.get(self.at), Some((Word::Open, _)))
    }

    fn peek_bare(&self) -> Option<&str> {
        match self.words.get(self.at) {
            Some((Word::Bare(word), _)) => Some(word),
            _ => None,
        }
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek_bare() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn keyword(&mut self, word: &str) -> Parse<()> {
        if self.eat(word) { Ok(()) } else { Err(error(self.span(), format!("expected `{word}`"))) }
    }

    fn open(&mut self) -> Parse<()> {
        self.punctuation(&Word::Open, "(")
    }

    fn close(&mut self) -> Parse<()> {
        self.punctuation(&Word::Close, ")")
    }

    fn punctuation(&mut self, word: &Word, text: &str) -> Parse<()> {
        if self.words.get(self.at).is_some_and(|(found, _)| found == word) {
            self.at += 1;
            return Ok(());
        }
        Err(error(self.span(), format!("expected `{text}`")))
    }

    fn bare(&mut self) -> Parse<String> {
        let word = self.peek_bare().map(str::to_owned);
        self.at += 1;
        word.ok_or_else(|| self.expected("a word"))
    }

    fn text(&mut self) -> Parse<String> {
        let found = match self.words.get(self.at) {
            Some((Word::Text(text), _)) => Some(text.clone()),
            _ => None,
        };
        self.at += 1;
        found.ok_or_else(|| self.expected("a string"))
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parse<T> {
        self.bare()?.parse().map_err(|_| self.expected("a number"))
    }

    fn int_type(&mut self) -> Parse<IntType> {
        match parse_base(&self.bare()?) {
            Some(Base::Int(ty)) => Ok(ty),
            _ => Err(self.expected("an integer type such as i32")),
        }
    }

    fn index<I: Idx>(&mut self, prefix: &str) -> Parse<I> {
        let word = self.bare()?;
        index_of(prefix, &word).ok_or_else(|| self.expected(&format!("`{prefix}` and a number")))
    }

    /// Items are numbered in order: the number is there for the reader, and checked.
    fn expect_index(&mut self, prefix: &str, position: usize) -> Parse<()> {
        let word = self.bare()?;
        if word == format!("{prefix}{position}") {
            return Ok(());
        }
        Err(self.expected(&format!("`{prefix}{position}`")))
    }
}

fn index_of<I: Idx>(prefix: &str, word: &str) -> Option<I> {
    let number: u32 = word.strip_prefix(prefix)?.parse().ok()?;
    Some(I::new(number as usize))
}

fn parse_base(word: &str) -> Option<Base> {
    match word {
        "thread" => Some(Base::Thread),
        "depth" => Some(Base::Depth),
        _ => {
            if let Some(length) = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                return length.parse().ok().map(Base::Index);
            }
            let signed = word.starts_with('i');
            let digits = word.strip_prefix('i').or_else(|| word.strip_prefix('u'))?;
            let bits = digits.parse().ok().filter(|bits| (1..=64).contains(bits))?;
            Some(Base::Int(IntType { bits, signed }))
        }
    }
}
