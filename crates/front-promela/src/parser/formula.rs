//! Formulas: `ltl` blocks, and those that come from elsewhere.
//!
//! Ranks follow SPIN: `->` and `<->` bind least, then `||`, `&&`, `U V W`, all to the left, then `! [] <> X`. An atom
//! is an expression without `&&` and `||`. Other than in SPIN, where `[] x == 0` compares a formula with a number and
//! means nothing, a comparison belongs to its atom.

use pdnet_base::Idx as _;
use pdnet_logic::{Atom, Ltl, MAX_ATOMS};
use pdnet_source::{Diagnostic, Span};

use super::expression::{ABOVE_LOGIC, BINARY};
use super::{Parsed, Parser, too_deep};
use crate::lexer::{Token, text_of};
use crate::tree::{ExprKind, LtlAtom, LtlBlock};

/// How deep formulas may be nested; less than for expressions, for automata are made of them.
const FORMULA_DEPTH_LIMIT: usize = 200;

/// A formula and its depth.
type Deep = (Ltl, usize);

/// How two formulas become one.
type Join = fn(Ltl, Ltl) -> Ltl;

/// How one formula becomes another.
type Wrap = fn(Ltl) -> Ltl;

/// The operators of one rank: their spellings and meanings.
const RANKS: &[&[(&str, Join)]] = &[
    &[("->", Ltl::implies), ("implies", Ltl::implies), ("<->", Ltl::iff), ("equivalent", Ltl::iff)],
    &[("||", Ltl::or), ("or", Ltl::or)],
    &[("&&", Ltl::and), ("and", Ltl::and)],
    &[
        ("U", Ltl::until),
        ("until", Ltl::until),
        ("stronguntil", Ltl::until),
        ("W", Ltl::weak_until),
        ("weakuntil", Ltl::weak_until),
        ("V", Ltl::release),
        ("R", Ltl::release),
        ("release", Ltl::release),
        ("M", Ltl::strong_release),
    ],
];

/// Operators before one formula.
const PREFIXES: &[(&str, Wrap)] = &[
    ("[]", Ltl::globally),
    ("always", Ltl::globally),
    ("G", Ltl::globally),
    ("<>", Ltl::finally),
    ("eventually", Ltl::finally),
    ("F", Ltl::finally),
    ("X", Ltl::next),
    ("next", Ltl::next),
];

/// Operators that SPIN does not have, or not in this spelling: a variable of the model goes first.
const NOT_IN_SPIN: &[&str] = &["G", "F", "R", "M", "or", "and"];

impl Parser {
    /// The formula between two braces.
    pub(super) fn formula_block(&mut self, name: String, tokens: Vec<Token>, span: Span) -> Parsed<LtlBlock> {
        let inner = match &tokens[..] {
            [_, inner @ .., _] => inner.to_vec(),
            _ => Vec::new(),
        };
        let end = tokens.last().map_or(span, |last| last.span);
        self.within(inner, end, |parser| parser.whole_formula(name, span))
    }

    /// All tokens as one formula.
    pub(crate) fn whole_formula(&mut self, name: String, span: Span) -> Parsed<LtlBlock> {
        self.in_formula = true;
        let mut atoms = Vec::new();
        let result = self.joined(0, &mut atoms);
        self.in_formula = false;
        let (formula, _) = result?;
        let text = text_of(&self.tokens);
        while self.take(";") {}
        if self.peek().is_some() {
            let diagnostic = self.unexpected("expected an operator or the end of the formula");
            return self.fail(diagnostic);
        }
        Ok(LtlBlock { name, formula, atoms, text, span })
    }

    /// Operators of this rank and those that bind tighter.
    fn joined(&mut self, rank: usize, atoms: &mut Vec<LtlAtom>) -> Parsed<Deep> {
        let Some(operators) = RANKS.get(rank) else { return self.deeper(|parser| parser.prefixed(atoms)) };
        let (mut left, mut depth) = self.joined(rank + 1, atoms)?;
        while let Some(join) =
            operators.iter().find_map(|(text, join)| self.take_operator(text).then_some(join))
        {
            let (right, right_depth) = self.joined(rank + 1, atoms)?;
            left = join(left, right);
            depth = self.check_depth(depth.max(right_depth) + 1)?;
        }
        Ok((left, depth))
    }

    fn check_depth(&mut self, depth: usize) -> Parsed<usize> {
        if depth > FORMULA_DEPTH_LIMIT {
            return self.fail(too_deep(self.before()));
        }
        Ok(depth)
    }

    /// Takes an operator, which may be more than one token.
    fn take_operator(&mut self, text: &str) -> bool {
        let length = self.operator_length(text);
        self.at += length;
        length > 0
    }

    /// How many tokens an operator is made of, 0 where it is not there.
    fn operator_length(&self, text: &str) -> usize {
        let parts: &[&str] = match text {
            "[]" => &["[", "]"],
            "<>" => &["<", ">"],
            "<->" => &["<", "->"],
            _ => &[text],
        };
        let fits = parts.iter().enumerate().all(|(ahead, part)| {
            self.peek_at(ahead).is_some_and(|token| token.is(part) && (ahead == 0 || token.glued))
        });
        let is_variable = NOT_IN_SPIN.contains(&text)
            && (self.variable(text).is_some() || self.names.constants.contains_key(text));
        if fits && !is_variable { parts.len() } else { 0 }
    }

    /// Whether what looks like a comparison is an operator of formulas.
    pub(super) fn temporal_ahead(&self) -> bool {
        self.operator_length("<>") > 0 || self.operator_length("<->") > 0
    }

    fn prefixed(&mut self, atoms: &mut Vec<LtlAtom>) -> Parsed<Deep> {
        for (text, make) in PREFIXES {
            if self.take_operator(text) {
                let (inner, depth) = self.deeper(|parser| parser.prefixed(atoms))?;
                return Ok((make(inner), self.check_depth(depth + 1)?));
            }
        }
        if self.sees("!!") {
            self.at += 1;
            let (inner, depth) = self.deeper(|parser| parser.prefixed(atoms))?;
            return Ok((Ltl::not(Ltl::not(inner)), self.check_depth(depth + 2)?));
        }
        if self.sees("!") && !self.compares_behind(1) {
            self.at += 1;
            let (inner, depth) = self.deeper(|parser| parser.prefixed(atoms))?;
            return Ok((Ltl::not(inner), self.check_depth(depth + 1)?));
        }
        if self.sees("(") && !self.compares_behind(0) {
            self.at += 1;
            let inner = self.deeper(|parser| parser.joined(0, atoms))?;
            self.expect(")", "behind the formula")?;
            return Ok(inner);
        }
        Ok((self.atom(atoms)?, 1))
    }

    /// Whether the parenthesis at that position is an operand of a comparison or of arithmetic. What is no
    /// parenthesis is one where its expression goes on behind the first operand.
    fn compares_behind(&self, ahead: usize) -> bool {
        let mut at = self.at + ahead;
        while self.tokens.get(at).is_some_and(|token| token.is("!")) {
            at += 1;
        }
        let mut open = 0usize;
        // The operand: parentheses, or a name with what belongs to it.
        loop {
            let Some(token) = self.tokens.get(at) else { return false };
            if token.is("(") || token.is("[") {
                open += 1;
            } else if token.is(")") || token.is("]") {
                let Some(inner) = open.checked_sub(1) else { return false };
                open = inner;
            }
            at += 1;
            let Some(next) = self.tokens.get(at) else { return false };
            let goes_on = ["(", "[", ".", "@", ":"].iter().any(|text| next.is(text))
                || [".", "@", ":"].iter().any(|text| token.is(text));
            if open == 0 && !goes_on {
                let then = self.tokens.get(at + 1);
                let glued_to = |text: &str| then.is_some_and(|token| token.glued && token.is(text));
                let temporal = next.is("<") && (glued_to(">") || glued_to("->"));
                let operator = BINARY.iter().any(|(text, rank, _)| *rank >= ABOVE_LOGIC && next.is(text));
                return operator && !temporal;
            }
        }
    }

    fn atom(&mut self, atoms: &mut Vec<LtlAtom>) -> Parsed<Ltl> {
        let start = self.at;
        let n_runs = self.runs.len();
        let expr = self.binary(ABOVE_LOGIC)?;
        if self.runs.len() > n_runs {
            let diagnostic = Diagnostic::error("run-in-expression", "a formula cannot start processes")
                .at(expr.span, "`run` in a formula");
            return self.fail(diagnostic);
        }
        let tokens = &self.tokens[start..self.at];
        match (&expr.kind, tokens) {
            (ExprKind::Const(1), [only]) if only.is("true") => return Ok(Ltl::True),
            (ExprKind::Const(0), [only]) if only.is("false") => return Ok(Ltl::False),
            _ => {}
        }
        let text = text_of(tokens);
        if let Some(known) = atoms.iter().position(|atom| atom.text == text) {
            return Ok(Ltl::atom(Atom::new(known)));
        }
        if atoms.len() == MAX_ATOMS {
            let diagnostic =
                Diagnostic::error("too-many-atoms", format!("a formula has at most {MAX_ATOMS} atoms"))
                    .at(expr.span, "one too many");
            return self.fail(diagnostic);
        }
        atoms.push(LtlAtom { text, expr });
        Ok(Ltl::atom(Atom::new(atoms.len() - 1)))
    }
}
