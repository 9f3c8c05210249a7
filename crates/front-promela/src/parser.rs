//! From tokens to the tree, names resolved on the way, as SPIN does it: what a name means may depend on what stands
//! before it, and an inline is text that is put in the place of its call.
//!
//! | file | what it reads |
//! | --- | --- |
//! | `parser/unit.rs` | proctypes, `init`, claims, traces, inlines: what stands outside of all braces |
//! | `parser/declaration.rs` | variables, types, `mtype` |
//! | `parser/statement.rs` | statements |
//! | `parser/choice.rs` | `if`, `do`, `for`, `select` |
//! | `parser/message.rs` | sends, receives, polls |
//! | `parser/inline.rs` | calls of inlines |
//! | `parser/label.rs` | labels and jumps |
//! | `parser/expression.rs` | expressions |
//! | `parser/reference.rs` | variables, their fields and elements |
//! | `parser/formula.rs` | `ltl` |

mod choice;
mod declaration;
mod expression;
mod formula;
mod inline;
mod label;
mod message;
mod reference;
mod statement;
mod unit;

use std::sync::Arc;

use pdnet_base::{FxHashMap, FxHashSet};
use pdnet_source::{Diagnostic, Severity, Span};

use crate::lexer::{Kind, Token};
use crate::names::{DeclaredChannel, Names, Symbol};
use crate::tree::{Exclusive, Model, Place, Proc, Var};
use label::Labels;
pub(crate) use label::{each_statement, separate_asked_labels};

/// How deep statements and expressions may be nested; code that walks the tree is recursive.
pub const TREE_DEPTH_LIMIT: usize = 1_000;

/// After this many errors we stop to look for more.
const ERROR_LIMIT: usize = 20;

/// How many tokens calls of inlines may expand to.
const EXPANSION_LIMIT: usize = 2_000_000;

/// Something was wrong, and has been said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

/// What a function of the parser returns.
pub(crate) type Parsed<T> = Result<T, Failed>;

/// What kind of body is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// A proctype or `init`.
    Proc(Proc),
    /// A `never` claim.
    Claim,
    /// `trace` or `notrace`.
    Trace,
}

/// A body that is being read.
#[derive(Debug)]
struct Body {
    kind: BodyKind,
    labels: Labels,
    /// The blocks that are open, by unique numbers.
    scope: Vec<u32>,
    /// The variables of each of them; the first list is that of the parameters.
    variables: Vec<Vec<Arc<Symbol>>>,
    /// All variables, in order.
    all: Vec<Arc<Symbol>>,
    /// Only declarations were read up to here: they are no steps.
    at_start: bool,
    /// How many loops are open.
    loops: usize,
    /// The `d_step` that is open, by a unique number, and the loops that were open when it began.
    dstep: Option<(u32, usize)>,
    exclusive: Vec<Exclusive>,
    /// Steps `1` that stand for declarations of structures, which are not removed as `skip` is.
    kept_skips: FxHashSet<Span>,
    /// Counters of `for ( m in q )`, by block.
    counters: FxHashMap<Vec<u32>, Var>,
}

/// A call of an inline that is being read.
#[derive(Debug)]
struct Frame {
    name: Arc<str>,
    id: usize,
    /// Where `return` puts its value.
    result: Option<Place>,
}

/// A `run` whose arguments are compared with the parameters in the end.
#[derive(Debug)]
struct PendingRun {
    proc: Proc,
    n_args: usize,
    span: Span,
}

/// The parser: reads the units of a model, or one formula.
#[derive(Debug)]
pub(crate) struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// Where the list of tokens ends.
    end: Span,
    pub(crate) model: Model,
    pub(crate) names: Names,
    pub(crate) diagnostics: Vec<Diagnostic>,
    channels: FxHashMap<Var, DeclaredChannel>,
    body: Option<Body>,
    frames: Vec<Frame>,
    runs: Vec<PendingRun>,
    /// How many levels are open.
    depth: usize,
    /// The depth of the expression that was read last.
    expression_depth: usize,
    /// Numbers for blocks.
    n_scopes: u32,
    n_expanded: usize,
    /// Where a remote reference makes sense.
    in_formula: bool,
    warned_priority: bool,
    /// Labels that some `P@l` asks for.
    asked_labels: FxHashSet<(Proc, crate::tree::Label)>,
}

impl Parser {
    /// A parser at the start of a list of tokens.
    pub(crate) fn new(tokens: Vec<Token>, end: Span, model: Model, names: Names) -> Self {
        Self {
            tokens,
            at: 0,
            end,
            model,
            names,
            diagnostics: Vec::new(),
            channels: FxHashMap::default(),
            body: None,
            frames: Vec::new(),
            runs: Vec::new(),
            depth: 0,
            expression_depth: 0,
            n_scopes: 0,
            n_expanded: 0,
            in_formula: false,
            warned_priority: false,
            asked_labels: FxHashSet::default(),
        }
    }

    /// The labels that were asked for.
    pub(crate) fn asked_labels(self) -> FxHashSet<(Proc, crate::tree::Label)> {
        self.asked_labels
    }

    /// Whether there are so many errors that more would help nobody.
    fn gave_up(&self) -> bool {
        self.n_errors() >= ERROR_LIMIT
    }

    fn n_errors(&self) -> usize {
        self.diagnostics.iter().filter(|found| found.severity == Severity::Error).count()
    }

    /// Notes a diagnostic, once, and fails.
    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    /// Notes a diagnostic, once: an inline that is called twice has its mistakes twice.
    fn report(&mut self, diagnostic: Diagnostic) {
        let too_many = diagnostic.severity == Severity::Error && self.gave_up();
        if !too_many && !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// The next token.
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// The token behind the next ones.
    fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    /// Whether the next token is this.
    fn sees(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    /// Whether a token further on is this.
    fn sees_at(&self, ahead: usize, text: &str) -> bool {
        self.peek_at(ahead).is_some_and(|token| token.is(text))
    }

    /// Whether the next token is one of these.
    fn sees_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.sees(text))
    }

    /// Takes the next token if it is this.
    fn take(&mut self, text: &str) -> bool {
        let found = self.sees(text);
        self.at += usize::from(found);
        found
    }

    /// Takes the next token, whatever it is.
    fn advance(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    /// The place of the next token, or of the end.
    fn here(&self) -> Span {
        self.peek().map_or(self.end, |token| token.span)
    }

    /// The place of the token that was taken last.
    fn before(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.end, |token| token.span)
    }

    /// From a token taken before up to the one taken last.
    fn since(&self, start: Span) -> Span {
        start.to(self.before())
    }

    /// Takes this token or says what is there instead.
    fn expect(&mut self, text: &'static str, context: &str) -> Parsed<Span> {
        if self.sees(text) {
            self.at += 1;
            return Ok(self.before());
        }
        let diagnostic = self.unexpected(&format!("expected `{text}` {context}"));
        self.fail(diagnostic)
    }

    /// Takes a name or says what is there instead.
    fn expect_name(&mut self, what: &str) -> Parsed<Token> {
        match self.peek() {
            Some(token) if token.is_name() => {
                let token = token.clone();
                self.at += 1;
                Ok(token)
            }
            Some(token) if token.kind == Kind::Word => {
                let diagnostic = Diagnostic::error(
                    "reserved-name",
                    format!("expected {what}, found the keyword `{}`", token.text),
                )
                .at(token.place(), "a word of Promela")
                .help("choose another name");
                self.fail(diagnostic)
            }
            Some(_) | None => {
                let diagnostic = self.unexpected(&format!("expected {what}"));
                self.fail(diagnostic)
            }
        }
    }

    /// An error about the next token.
    fn unexpected(&self, message: &str) -> Diagnostic {
        match self.peek() {
            Some(token) if token.kind == Kind::Stray => stray(token),
            Some(token) => {
                let place = token.place();
                let place = if place.start == place.end { self.before().to(place) } else { place };
                Diagnostic::error("syntax-error", format!("{message}, found {}", found(token)))
                    .at(place, "not understood")
            }
            None => Diagnostic::error("syntax-error", format!("{message}, found the end"))
                .at(self.end, "here it ends"),
        }
    }

    /// One level deeper, or an error where that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= TREE_DEPTH_LIMIT {
            let diagnostic = too_deep(self.here());
            return self.fail(diagnostic);
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads another list of tokens, such as a body or the text of an inline, and comes back.
    fn within<T>(&mut self, tokens: Vec<Token>, end: Span, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.tokens, tokens);
        let (at, outer_end) = (std::mem::replace(&mut self.at, 0), std::mem::replace(&mut self.end, end));
        let result = read(self);
        self.tokens = outer;
        self.at = at;
        self.end = outer_end;
        result
    }

    /// The position behind the brace that closes the one at the next token.
    fn closing_brace(&self) -> Option<usize> {
        let mut open = 0usize;
        for (at, token) in self.tokens.iter().enumerate().skip(self.at) {
            if token.is("{") {
                open += 1;
            } else if token.is("}") {
                open = open.checked_sub(1)?;
                if open == 0 {
                    return Some(at + 1);
                }
            }
        }
        None
    }

    /// Takes a pair of braces and what is between them.
    fn braces(&mut self, context: &str) -> Parsed<Vec<Token>> {
        if !self.sees("{") {
            let diagnostic = self.unexpected(&format!("expected `{{` {context}"));
            return self.fail(diagnostic);
        }
        let Some(end) = self.closing_brace() else {
            let open = self.here();
            self.at = self.tokens.len();
            let diagnostic = Diagnostic::error("unclosed-brace", "this brace is never closed")
                .at(open, "no `}` for it")
                .help("look for a `}` that is missing further down");
            return self.fail(diagnostic);
        };
        let tokens = self.tokens[self.at..end].to_vec();
        self.at = end;
        Ok(tokens)
    }
}

/// What was found, for messages.
fn found(token: &Token) -> String {
    match token.kind {
        Kind::Word if crate::lexer::is_keyword(&token.text) => format!("the keyword `{}`", token.text),
        Kind::Punct if token.span.start == token.span.end => "the end of the statement".to_owned(),
        Kind::Word | Kind::Number | Kind::Char | Kind::String | Kind::Punct | Kind::Stray => {
            format!("`{}`", token.text)
        }
    }
}

fn stray(token: &Token) -> Diagnostic {
    if token.text.starts_with(['"', '\'', '$']) {
        return Diagnostic::error("unclosed-quote", "this quote is not closed in its line")
            .at(token.place(), "starts here");
    }
    if &*token.text == "/*" {
        return Diagnostic::error("unclosed-comment", "this comment has no end")
            .at(token.place(), "starts here")
            .help("it ends with `*/`");
    }
    Diagnostic::error("stray-character", format!("`{}` has no meaning in Promela", token.text))
        .at(token.place(), "not understood")
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error("too-deep", "this is nested too deeply")
        .at(span, format!("more than {TREE_DEPTH_LIMIT} levels"))
}
