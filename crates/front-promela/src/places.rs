//! Places of statements that come out of macros.
//!
//! A macro's arguments have places of their own, and its name stands for the rest. What a statement gets out of these may
//! begin in the middle of a call, as `x)` of `SET(x)`; then it is widened to the whole call, so that the place of a
//! statement can always be cut out of the text.

use pdnet_cpp::{Token, lex};
use pdnet_source::{FileData, SourceMap, Span};

use crate::parser::each_statement;
use crate::tree::Model;

/// How many bytes around a statement the call of a macro may reach.
const REACH: usize = 4_000;

/// Widens the places of statements to whole calls of macros.
pub(crate) fn widen(map: &SourceMap, model: &mut Model) {
    let bodies = model.procs.iter_mut().map(|data| &mut data.body);
    let claims = model.claims.iter_mut().map(|claim| &mut claim.body);
    let traces = model.traces.iter_mut().map(|trace| &mut trace.body);
    for body in bodies.chain(claims).chain(traces) {
        each_statement(body, &mut |stmt| {
            if let Some(wider) = widened(map.file(stmt.span.file), stmt.span) {
                stmt.span = wider;
            }
        });
    }
}

/// The place with all its parentheses closed, where they are not.
fn widened(data: &FileData, span: Span) -> Option<Span> {
    let (start, end) = (span.start as usize, span.end as usize);
    let (n_missing, n_open) = balance(data.text.get(start..end)?);
    if n_missing == 0 && n_open == 0 {
        return None;
    }
    let mut result = span;
    if n_missing > 0 {
        let from = line_start(&data.text, start.saturating_sub(REACH));
        let before = lex(&data.text[from..start]);
        let call = call_before(&data.text[from..start], &before, n_missing)?;
        result.start = small(from + call);
    }
    if n_open > 0 {
        let until = line_end(&data.text, (end + REACH).min(data.text.len()));
        let behind = lex(&data.text[end..until]);
        let close = close_behind(&data.text[end..until], &behind, n_open)?;
        result.end = small(end + close);
    }
    Some(result)
}

/// How many parentheses are closed but not opened, and the other way round.
fn balance(text: &str) -> (usize, usize) {
    let (mut n_missing, mut n_open) = (0usize, 0usize);
    for token in lex(text) {
        match token.text(text) {
            "(" => n_open += 1,
            ")" if n_open > 0 => n_open -= 1,
            ")" => n_missing += 1,
            _ => {}
        }
    }
    (n_missing, n_open)
}

/// Where the name before the parenthesis begins that is opened, for the given number of those that are closed.
fn call_before(text: &str, tokens: &[Token], n_missing: usize) -> Option<usize> {
    let mut n_missing = n_missing;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.text(text) {
            ")" => n_missing += 1,
            "(" => {
                n_missing -= 1;
                if n_missing == 0 {
                    let name = at.checked_sub(1).map(|at| &tokens[at]);
                    let name = name.filter(|name| name.kind == pdnet_cpp::TokenKind::Word);
                    return Some(name.unwrap_or(token).start);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the given number of open parentheses is closed.
fn close_behind(text: &str, tokens: &[Token], n_open: usize) -> Option<usize> {
    let mut n_open = n_open;
    for token in tokens {
        match token.text(text) {
            "(" => n_open += 1,
            ")" => {
                n_open -= 1;
                if n_open == 0 {
                    return Some(token.end);
                }
            }
            _ => {}
        }
    }
    None
}

fn line_start(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_end(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

fn small(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
