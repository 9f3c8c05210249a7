//! The parser of formulas: precedence climbing over one ladder that has the temporal operators at its
//! foot and C's comparisons and arithmetic on top.
//!
//! In `(x + 1) * 2 == y -> F (p && q)` nothing tells from its start whether a parenthesis belongs to an
//! atom or to the formula. The parser therefore reads both with the same functions and decides when an
//! operator asks for it: arithmetic needs expressions, a logical operator turns an expression into an
//! atom. Inside of quotes, brackets and `AP(…)` everything is C, read by `expr.rs`.
//!
//! Functions on the path of the recursion are not inlined into each other: one level of parentheses then
//! takes half of the stack, and the limit on nesting must fit into the smallest stack that a thread has.

mod atom;
mod error;
mod expr;

use pdnet_base::{Idx as _, IndexVec};
use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::expr::level as c_level;
use crate::lexer::{Lexer, Mode, Tok, Token};
use crate::ltl::level;
use crate::words::{Infix, Prefix, infix_word, prefix_word};
use crate::{Atom, AtomKind, AtomSyntax, BinaryOp, ExprKind, ExprSyntax, Formula, Ltl, MAX_ATOMS};

/// How deep the tree of a formula may be. Code that walks trees is recursive, and a limit on the depth
/// is what protects its stack against hostile input; no formula that means something comes near it.
pub(crate) const MAX_DEPTH: u32 = 400;

/// How deep the parser may recurse. Parentheses leave no trace in the tree, so this is a limit of its own;
/// it is larger than the other one so that what the printer writes can be read back.
const MAX_NESTING: u32 = 500;

/// Parses the whole text of a file as one formula.
///
/// # Errors
/// The first thing in the text that is not understood, with its place and with what to do about it.
pub fn parse_formula(map: &SourceMap, file: File) -> Result<Formula, Diagnostic> {
    let end = u32::try_from(map.file(file).text.len()).unwrap_or(u32::MAX);
    parse_formula_at(map, Span { file, start: 0, end })
}

/// Parses a part of a file, such as what follows `//@ ltl name:` in a program. All spans of the result
/// and all carets of a diagnostic point into that file.
///
/// # Errors
/// As [`parse_formula`].
pub fn parse_formula_at(map: &SourceMap, span: Span) -> Result<Formula, Diagnostic> {
    let mut parser = Parser::new(Lexer::new(&map.file(span.file).text, span));
    if parser.token.tok == Tok::End {
        return Err(parser.empty_formula());
    }
    let ltl = parser.formula().map_err(|diagnostic| *diagnostic)?;
    if parser.token.tok == Tok::Semicolon {
        parser.bump();
    }
    if parser.token.tok != Tok::End {
        return Err(parser.cannot_follow());
    }
    Ok(Formula { ltl, atoms: parser.atoms })
}

/// The state of a parse.
struct Parser<'a> {
    lexer: Lexer<'a>,
    mode: Mode,
    /// The token to be read next; `lexer` stands behind it.
    token: Token,
    /// The end of the token read last.
    last_end: usize,
    /// How many functions for subexpressions are running.
    nesting: u32,
    atoms: IndexVec<Atom, AtomSyntax>,
}

/// A part of a formula. It stays an expression until something makes an atom of it.
struct Part {
    kind: PartKind,
    span: Span,
    depth: u32,
    in_parentheses: bool,
}

enum PartKind {
    Ltl(Ltl),
    Expr(ExprSyntax),
}

/// An infix operator of either world.
#[derive(Clone, Copy)]
enum Op {
    Ltl(Infix),
    C(BinaryOp),
}

/// The diagnostic is boxed to keep the frames of the recursive functions small.
type Parse<T> = Result<T, Box<Diagnostic>>;

impl<'a> Parser<'a> {
    fn new(mut lexer: Lexer<'a>) -> Self {
        let start = lexer.at;
        let token = lexer.next(Mode::Formula);
        Self { lexer, mode: Mode::Formula, token, last_end: start, nesting: 0, atoms: IndexVec::new() }
    }

    /// Goes to the next token and returns the one it leaves.
    fn bump(&mut self) -> Token {
        let token = self.token;
        self.last_end = token.end;
        self.token = self.lexer.next(self.mode);
        token
    }

    fn text(&self) -> &'a str {
        self.lexer.slice(self.token.start, self.token.end)
    }

    fn span_of(&self, token: Token) -> Span {
        self.lexer.span(token.start, token.end)
    }

    fn here(&self) -> Span {
        self.span_of(self.token)
    }

    /// From `start` to the end of the token read last.
    fn span_from(&self, start: usize) -> Span {
        self.lexer.span(start, self.last_end)
    }

    /// Runs `body` one level deeper.
    fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            return Err(self.too_deep(self.here()).into());
        }
        self.nesting += 1;
        let result = body(self);
        self.nesting -= 1;
        result
    }

    /// The depth of a node over children of these depths.
    fn depth_over(&self, children: &[u32], span: Span) -> Parse<u32> {
        let depth = 1 + children.iter().copied().max().unwrap_or(0);
        if depth > MAX_DEPTH { Err(self.too_deep(span).into()) } else { Ok(depth) }
    }

    /// A formula, up to a token that cannot continue it.
    fn formula(&mut self) -> Parse<Ltl> {
        let part = self.part(level::LOWEST)?;
        Ok(self.as_ltl(part)?.0)
    }

    /// An operand and the infix operators of at least this level that follow it.
    fn part(&mut self, min: u8) -> Parse<Part> {
        self.nested(|parser| {
            let mut left = parser.operand(min)?;
            while let Some(op) = parser.infix() {
                let (own, right_min) = op_levels(op);
                if own < min {
                    break;
                }
                left = match op {
                    Op::Ltl(infix) => parser.connect(left, infix, right_min)?,
                    Op::C(binary) => parser.compute(left, binary, right_min)?,
                };
            }
            Ok(left)
        })
    }

    /// The infix operator at hand, if it is one.
    fn infix(&self) -> Option<Op> {
        let ltl = |infix| Some(Op::Ltl(infix));
        match self.token.tok {
            Tok::AmpAmp | Tok::Amp | Tok::Wedge => ltl(Infix::And),
            Tok::PipePipe | Tok::Pipe | Tok::Vee => ltl(Infix::Or),
            Tok::Caret => ltl(Infix::Xor),
            Tok::Arrow | Tok::Implies => ltl(Infix::Implies),
            Tok::Iff => ltl(Infix::Iff),
            Tok::Word => infix_word(self.text()).and_then(ltl),
            tok => arithmetic(tok).map(Op::C),
        }
    }

    /// `left op right` for an operator of the logic.
    #[inline(never)]
    fn connect(&mut self, left: Part, op: Infix, right_min: u8) -> Parse<Part> {
        let token = self.token;
        let single = matches!(token.tok, Tok::Amp | Tok::Pipe | Tok::Caret);
        let left_look = Look::at(&left);
        let left_span = left.span;
        // Before the right side is read, so that atoms are numbered as they are met.
        let (left, left_depth) = self.as_ltl(left)?;
        self.bump();
        let right = self.part(right_min)?;
        if single && left_look.seems_bitwise(&Look::at(&right)) {
            return Err(self.bitwise(token, left_span.to(right.span)).into());
        }
        let span = left_span.to(right.span);
        let (right, right_depth) = self.as_ltl(right)?;
        let depth = self.depth_over(&[left_depth, right_depth], self.span_of(token))?;
        let build = match op {
            Infix::And => Ltl::and,
            Infix::Or => Ltl::or,
            Infix::Xor => Ltl::xor,
            Infix::Implies => Ltl::implies,
            Infix::Iff => Ltl::iff,
            Infix::Until => Ltl::until,
            Infix::WeakUntil => Ltl::weak_until,
            Infix::Release => Ltl::release,
            Infix::StrongRelease => Ltl::strong_release,
        };
        Ok(Part { kind: PartKind::Ltl(build(left, right)), span, depth, in_parentheses: false })
    }

    /// `left op right` for an operator of C.
    #[inline(never)]
    fn compute(&mut self, left: Part, op: BinaryOp, right_min: u8) -> Parse<Part> {
        let token = self.bump();
        let right = self.part(right_min)?;
        if op.is_comparison() {
            if let Some(inner) = left.bare_comparison() {
                return Err(self.chained(inner, token, right.span).into());
            }
            if let Some(inner) = right.bare_comparison() {
                return Err(self.chained_right(left.span, token, inner).into());
            }
        }
        let (left, left_depth) = self.as_expr(left, token)?;
        let (right, right_depth) = self.as_expr(right, token)?;
        let depth = self.depth_over(&[left_depth, right_depth], self.span_of(token))?;
        let span = left.span.to(right.span);
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        Ok(Part::expr(ExprSyntax { kind, span }, depth))
    }

    /// What an infix operator can stand before or after.
    fn operand(&mut self, min: u8) -> Parse<Part> {
        let start = self.token.start;
        // Above the level of prefix operators we are inside of a comparison or a sum, so this is C.
        let logical = min <= level::PREFIX;
        let prefix = match self.token.tok {
            Tok::Bang | Tok::Tilde if logical => Some(Prefix::Not),
            Tok::Box => Some(Prefix::Globally),
            Tok::Diamond => Some(Prefix::Finally),
            Tok::Word => prefix_word(self.text()),
            _ => None,
        };
        if let Some(prefix) = prefix {
            if !logical {
                return Err(self.temporal_in_expression().into());
            }
            return self.prefixed(prefix);
        }
        match self.token.tok {
            Tok::LParen => self.parenthesized(),
            Tok::Quote => self.quoted(),
            Tok::Word => {
                if let Some(ltl) = self.word_atom()? {
                    return Ok(Part {
                        kind: PartKind::Ltl(ltl),
                        span: self.span_from(start),
                        depth: 1,
                        in_parentheses: false,
                    });
                }
                self.unary()
            }
            _ => self.unary(),
        }
    }

    #[inline(never)]
    fn prefixed(&mut self, prefix: Prefix) -> Parse<Part> {
        let token = self.bump();
        let inner = self.part(level::PREFIX)?;
        let span = self.span_of(token).to(inner.span);
        let (inner, inner_depth) = self.as_ltl(inner)?;
        let depth = self.depth_over(&[inner_depth], self.span_of(token))?;
        let build = match prefix {
            Prefix::Not => Ltl::not,
            Prefix::Next => Ltl::next,
            Prefix::Finally => Ltl::finally,
            Prefix::Globally => Ltl::globally,
        };
        Ok(Part { kind: PartKind::Ltl(build(inner)), span, depth, in_parentheses: false })
    }

    /// `( … )`, and `[i]` or `.f` behind it.
    #[inline(never)]
    fn parenthesized(&mut self) -> Parse<Part> {
        let open = self.bump();
        if self.token.tok == Tok::RParen {
            return Err(self.nothing_in_parentheses(open).into());
        }
        let mut part = self.part(level::LOWEST)?;
        self.close(open, Tok::RParen)?;
        part.span = self.span_from(open.start);
        part.in_parentheses = true;
        match part.kind {
            PartKind::Ltl(_) => Ok(part),
            PartKind::Expr(expr) => self.postfix(ExprSyntax { span: part.span, ..expr }, part.depth),
        }
    }

    /// Reads the token that closes `open`.
    fn close(&mut self, open: Token, wanted: Tok) -> Parse<()> {
        if self.token.tok == wanted {
            self.bump();
            return Ok(());
        }
        Err(self.unclosed(open).into())
    }

    /// `" … "`: a C expression that is an atom.
    #[inline(never)]
    fn quoted(&mut self) -> Parse<Part> {
        let open = self.token;
        self.mode = Mode::C;
        self.bump();
        if self.token.tok == Tok::Quote {
            return Err(self.nothing_in_quotes(open).into());
        }
        let (expr, depth) = self.c_expr(c_level::CONDITIONAL)?;
        if self.token.tok != Tok::Quote {
            return Err(self.unclosed(open).into());
        }
        self.mode = Mode::Formula;
        self.bump();
        let span = self.span_from(open.start);
        let ltl = self.expr_to_ltl(expr, span)?;
        Ok(Part { kind: PartKind::Ltl(ltl), span, depth, in_parentheses: false })
    }

    /// The part as a formula and its depth; an expression becomes an atom.
    #[inline(never)]
    fn as_ltl(&mut self, part: Part) -> Parse<(Ltl, u32)> {
        match part.kind {
            PartKind::Ltl(ltl) => Ok((ltl, part.depth)),
            PartKind::Expr(expr) => Ok((self.expr_to_ltl(expr, part.span)?, part.depth)),
        }
    }

    /// The part as an expression and its depth, as the operator at `op` demands.
    #[inline(never)]
    fn as_expr(&self, part: Part, op: Token) -> Parse<(ExprSyntax, u32)> {
        match part.kind {
            PartKind::Expr(expr) => Ok((expr, part.depth)),
            PartKind::Ltl(_) => Err(self.formula_in_expression(part.span, op).into()),
        }
    }

    /// The atom for an expression; the numbers 0 and 1 alone are the constants.
    fn expr_to_ltl(&mut self, expr: ExprSyntax, span: Span) -> Parse<Ltl> {
        match expr.kind {
            ExprKind::Int(0, _) => Ok(Ltl::False),
            ExprKind::Int(1, _) => Ok(Ltl::True),
            _ => self.atom(AtomKind::Expr(expr), span),
        }
    }

    /// The number of this atom, which may have occurred before.
    fn atom(&mut self, kind: AtomKind, span: Span) -> Parse<Ltl> {
        if let Some(position) = self.atoms.iter().position(|atom| atom.kind == kind) {
            return Ok(Ltl::Atom(Atom::new(position)));
        }
        if self.atoms.len() == MAX_ATOMS {
            return Err(self.too_many_atoms(span).into());
        }
        Ok(Ltl::Atom(self.atoms.push(AtomSyntax { kind, span })))
    }
}

impl Part {
    fn expr(expr: ExprSyntax, depth: u32) -> Self {
        let span = expr.span;
        Self { kind: PartKind::Expr(expr), span, depth, in_parentheses: false }
    }

    /// The sides of a comparison that stands without parentheses.
    fn bare_comparison(&self) -> Option<(Span, Span)> {
        match &self.kind {
            PartKind::Expr(expr) if !self.in_parentheses => expr.comparison(),
            PartKind::Expr(_) | PartKind::Ltl(_) => None,
        }
    }
}

/// What an operand of a single `&`, `|` or `^` looks like.
struct Look {
    /// A comparison or a formula: certainly meant as a truth value.
    logical: bool,
    /// A number or a computation.
    arithmetic: bool,
    /// A comparison whose left side is a number, as `1 == 0` in `x & 1 == 0`.
    number_first: bool,
}

impl Look {
    fn at(part: &Part) -> Self {
        let nothing = Self { logical: false, arithmetic: false, number_first: false };
        let PartKind::Expr(expr) = &part.kind else { return Self { logical: true, ..nothing } };
        match &expr.kind {
            ExprKind::Int(..) => Self { arithmetic: true, ..nothing },
            ExprKind::Binary(op, left, _) if op.is_comparison() => {
                Self { logical: true, number_first: matches!(left.kind, ExprKind::Int(..)), ..nothing }
            }
            ExprKind::Binary(..) | ExprKind::Unary(..) => Self { arithmetic: true, ..nothing },
            ExprKind::Name(_)
            | ExprKind::Local { .. }
            | ExprKind::Conditional(..)
            | ExprKind::Index(..)
            | ExprKind::Member(..)
            | ExprKind::Arrow(..) => nothing,
        }
    }

    fn seems_bitwise(&self, right: &Self) -> bool {
        self.arithmetic || right.arithmetic || (!self.logical && right.number_first)
    }
}

/// The level of an operator and the least level of its right operand.
fn op_levels(op: Op) -> (u8, u8) {
    match op {
        Op::C(binary) => (binary.level(), binary.level() + 1),
        Op::Ltl(infix) => match infix {
            Infix::And => (level::AND, level::AND + 1),
            Infix::Or => (level::OR, level::OR + 1),
            Infix::Xor => (level::XOR, level::XOR + 1),
            Infix::Implies => (level::IMPLIES, level::IMPLIES),
            Infix::Iff => (level::IFF, level::IFF),
            Infix::Until | Infix::WeakUntil | Infix::Release | Infix::StrongRelease => {
                (level::UNTIL, level::UNTIL)
            }
        },
    }
}

/// The operator of C that this token is in both modes.
fn arithmetic(tok: Tok) -> Option<BinaryOp> {
    Some(match tok {
        Tok::Star => BinaryOp::Mul,
        Tok::Slash => BinaryOp::Div,
        Tok::Percent => BinaryOp::Rem,
        Tok::Plus => BinaryOp::Add,
        Tok::Minus => BinaryOp::Sub,
        Tok::Shl => BinaryOp::Shl,
        Tok::Shr => BinaryOp::Shr,
        Tok::Lt => BinaryOp::Lt,
        Tok::Le => BinaryOp::Le,
        Tok::Gt => BinaryOp::Gt,
        Tok::Ge => BinaryOp::Ge,
        Tok::EqEq => BinaryOp::Eq,
        Tok::NotEq => BinaryOp::Ne,
        _ => return None,
    })
}
