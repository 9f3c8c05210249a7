//! Brackets and their partners, and how deep the program is nested.
//!
//! The parser is recursive: a program that is nested too deeply is refused before it gets there. Brackets
//! are not the only way to nest: each `!` in a row, each `else if` of a chain is one level more.

use pdnet_source::Diagnostic;

use super::{Finding, is_keyword};
use pdnet_cpp::{Token, TokenKind};

/// How deep brackets may nest; clang's default limit too.
const BRACKET_LIMIT: usize = 256;
/// How many operators and keywords an expression or a chain of `else if` may have before the recursive
/// parser would need more stack than it has.
const CHAIN_LIMIT: usize = 5_000;

/// For each bracket the index of its partner, and the first bracket without one: one that is not closed as
/// it should be, or one that closes nothing. The parser stops there at the latest, and says it better.
/// Also measures the nesting.
pub(super) fn match_brackets(
    text: &str,
    tokens: &[Token],
    findings: &mut Vec<Finding>,
) -> (Vec<usize>, Option<usize>) {
    let mut partner = vec![usize::MAX; tokens.len()];
    // Open brackets, each with the lengths of the chains outside of it.
    let mut open: Vec<(usize, usize, usize)> = Vec::new();
    let (mut expression_chain, mut statement_chain, mut outside) = (0usize, 0usize, 0usize);
    for (at, token) in tokens.iter().enumerate() {
        let word = token.text(text);
        match word {
            "(" | "[" | "{" => {
                open.push((at, expression_chain, statement_chain));
                outside += expression_chain + statement_chain;
                (expression_chain, statement_chain) = (0, 0);
                if open.len() > BRACKET_LIMIT {
                    findings.push(too_deep(at, format!("more than {BRACKET_LIMIT} brackets are open here")));
                    return (partner, None);
                }
            }
            ")" | "]" | "}" => {
                let Some((opener, expressions, statements)) = open.pop() else {
                    return (partner, Some(at));
                };
                if closing(tokens[opener].text(text)) != word {
                    return (partner, Some(opener));
                }
                partner[opener] = at;
                partner[at] = opener;
                // What was in brackets adds one more level at most to what stands around it.
                (expression_chain, statement_chain) = (expressions + 1, statements);
                outside = outside.saturating_sub(expressions + statements);
                if word == "}" {
                    expression_chain = 0;
                    if tokens.get(at + 1).is_none_or(|next| next.text(text) != "else") {
                        statement_chain = 0;
                    }
                }
            }
            "," => expression_chain = 0,
            ";" => {
                expression_chain = 0;
                if tokens.get(at + 1).is_none_or(|next| next.text(text) != "else") {
                    statement_chain = 0;
                }
            }
            "if" | "else" | "while" | "do" | "for" | "switch" | "case" | "default" => statement_chain += 1,
            ":" => statement_chain += 1,
            _ => match token.kind {
                TokenKind::Punct => expression_chain += 1,
                TokenKind::Word if is_keyword(word) => expression_chain += 1,
                TokenKind::Word
                | TokenKind::Number
                | TokenKind::Character
                | TokenKind::String
                | TokenKind::Stray => {}
            },
        }
        if outside + expression_chain + statement_chain > CHAIN_LIMIT {
            let label = format!("more than {CHAIN_LIMIT} operators belong together here");
            findings.push(too_deep(at, label));
            return (partner, None);
        }
    }
    (partner, open.last().map(|&(opener, _, _)| opener))
}

/// What closes a bracket.
pub(crate) fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn too_deep(token: usize, label: String) -> Finding {
    Finding {
        diagnostic: Diagnostic::error("nesting-too-deep", "the program is nested too deeply")
            .help("split the expression or statement into several"),
        token,
        label,
    }
}

/// Bytes that start no token, and quotes that are not closed.
pub(super) fn find_stray_tokens(text: &str, tokens: &[Token], findings: &mut Vec<Finding>) {
    let strays = tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Stray);
    for (at, token) in strays.take(5) {
        let stray = token.text(text);
        let finding = if stray.contains('"') || stray.contains('\'') {
            Finding {
                diagnostic: Diagnostic::error("unterminated-literal", "a quote is not closed in its line"),
                token: at,
                label: "opened here".to_owned(),
            }
        } else {
            Finding {
                diagnostic: Diagnostic::error("stray-character", format!("stray {stray:?} in the program")),
                token: at,
                label: "no token of C starts with this".to_owned(),
            }
        };
        findings.push(finding);
    }
}
