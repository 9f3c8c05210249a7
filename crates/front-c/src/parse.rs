//! Calling the parser library, and saying what went wrong in words of ours.

use lang_c::ast::TranslationUnit;
use lang_c::driver::{Config, Flavor, SyntaxError, parse_preprocessed};
use pdnet_cpp::Positions;
use pdnet_source::{Diagnostic, SourceMap, nearest_name};

use crate::acsl::MARKER;
use crate::headers::header_of;
use crate::prepass::{Prepared, closing, is_keyword, original_name};

/// What is said of a token where nothing is known of what should stand there.
const UNEXPECTED: &str = "not expected here";

/// Parses the prepared text.
pub(crate) fn parse(
    map: &mut SourceMap,
    positions: &mut Positions,
    prepared: &Prepared,
) -> Result<TranslationUnit, Diagnostic> {
    let config = Config { cpp_command: String::new(), cpp_options: Vec::new(), flavor: Flavor::GnuC11 };
    match parse_preprocessed(&config, prepared.text.clone()) {
        Ok(parse) => Ok(parse.unit),
        Err(error) => Err(explain(map, positions, prepared, &error)),
    }
}

fn explain(
    map: &mut SourceMap,
    positions: &mut Positions,
    prepared: &Prepared,
    error: &SyntaxError,
) -> Diagnostic {
    let n_tokens = prepared.starts.len();
    let unbalanced = prepared.unbalanced.map(|token| {
        let bracket = positions.tokens()[token].text(positions.text()).to_owned();
        (token, positions.token_span(map, token), bracket)
    });
    let is_open = |bracket: &str| matches!(bracket, "(" | "[" | "{");
    if prepared.text[error.offset.min(prepared.text.len())..].trim().is_empty() {
        if let Some((_, span, bracket)) = unbalanced
            && is_open(&bracket)
        {
            return Diagnostic::error("unbalanced-bracket", format!("`{bracket}` is never closed"))
                .at(span, "opened here")
                .help(format!("add the missing `{}`", closing(&bracket)));
        }
        let last = prepared.sources.last().copied().unwrap_or(0);
        let span = positions.token_span(map, last);
        return Diagnostic::error("syntax-error", "unexpected end of file")
            .at(span, format!("the file ends after this; {}", expected(error)));
    }
    let mut at = prepared.token_at(error.offset);
    let end = prepared.starts[at] + prepared.token_text(at).len();
    if error.offset >= end && at + 1 < n_tokens {
        at += 1;
    }
    let word = |index: usize| prepared.token_text(index);
    if at > 0 && is_keyword(word(at - 1)) && expected(error) == UNEXPECTED {
        // The parser takes a keyword and fails behind it, but it is the keyword that is wrong.
        at -= 1;
    }
    let span = positions.token_span(map, prepared.sources[at]);
    let near_assertion =
        (at.saturating_sub(2)..=at).find(|&index| positions.token_text(prepared.sources[index]) == MARKER);
    if let Some(index) = near_assertion {
        let span = positions.token_span(map, prepared.sources[index]);
        return Diagnostic::error("misplaced-annotation", "an assertion cannot stand here")
            .at(span, "no statement can stand here")
            .help("put it between two statements of a function");
    }
    if let Some((token, _, bracket)) = &unbalanced
        && *token == prepared.sources[at]
        && !is_open(bracket)
    {
        return Diagnostic::error("unbalanced-bracket", format!("`{bracket}` closes nothing"))
            .at(span, "no bracket is open here");
    }
    if word(at) == "{" && is_function_head(prepared, at) {
        return Diagnostic::error("nested-function", "functions inside of functions are not supported")
            .at(span, "the body of a function inside of a function")
            .help("define it outside, and pass what it uses as arguments");
    }
    let is_name = |index: usize| {
        let text = word(index);
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !is_keyword(text)
    };
    // `foo_t x`: the parser stops at `x` where an expression could stand, else at `foo_t`.
    let declares = |index: usize| {
        is_name(index) && (is_name(index + 1) || (word(index + 1) == "*" && is_name(index + 2)))
    };
    let unknown = [at.checked_sub(1), Some(at), at.checked_sub(2)]
        .into_iter()
        .flatten()
        .find(|&index| declares(index) && !follows_type(word(index.wrapping_sub(1))));
    if let Some(index) = unknown {
        let name = original_name(word(index));
        let span = positions.token_span(map, prepared.sources[index]);
        let diagnostic = Diagnostic::error("unknown-type", format!("unknown type name `{name}`"))
            .at(span, "not declared as a type");
        let types = type_names(prepared);
        if let Some(header) = header_of(&name) {
            return diagnostic.help(format!("include <{header}>"));
        }
        return match nearest_name(&name, types.iter().map(String::as_str)) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help("include the header that declares it, or add a `typedef`"),
        };
    }
    let found = original_name(word(at));
    let mut diagnostic = Diagnostic::error("syntax-error", format!("unexpected `{found}`"));
    let ends_something = at > 0 && !matches!(word(at - 1), "{" | "}" | ";" | "(" | "[" | "," | ":");
    if error.expected.contains(";") && ends_something && !matches!(word(at), ")" | "]") {
        let before = positions.token_span(map, prepared.sources[at - 1]);
        let gap = pdnet_source::Span { start: before.end, end: before.end, ..before };
        if map.pos(before).line != map.pos(span).line {
            return Diagnostic::error("syntax-error", format!("expected `;`, found `{found}`"))
                .at(gap, "a `;` is missing here")
                .context(span, "unexpected");
        }
    }
    if is_keyword(word(at)) {
        diagnostic = diagnostic.note(format!("`{found}` is a keyword"));
    }
    diagnostic = diagnostic.at(span, expected(error));
    match unbalanced {
        Some((_, open, bracket)) if is_open(&bracket) && bracket != "{" => {
            diagnostic.context(open, format!("this `{bracket}` is not closed"))
        }
        Some(_) | None => diagnostic,
    }
}

/// Whether `type name(…)` stands before the brace at `at`.
fn is_function_head(prepared: &Prepared, at: usize) -> bool {
    let word = |index: usize| prepared.token_text(index);
    let (mut open, mut depth) = (at, 0_usize);
    loop {
        let Some(before) = open.checked_sub(1) else { return false };
        open = before;
        match word(open) {
            ")" => depth += 1,
            "(" if depth == 1 => break,
            "(" => depth = depth.saturating_sub(1),
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    let is_word = |index: usize| word(index).starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_type =
        |index: usize| word(index) == "*" || (is_word(index) && !matches!(word(index), "return" | "else"));
    open >= 2 && is_word(open - 1) && !is_keyword(word(open - 1)) && is_type(open - 2)
}

/// Whether a word of this kind stands before a declared name, so that the name is no missing type.
fn follows_type(word: &str) -> bool {
    matches!(word, "struct" | "union" | "enum" | "goto" | "." | "->" | "int" | "char" | "void" | "long")
}

/// What could have stood there: a few things, the most telling first.
fn expected(error: &SyntaxError) -> String {
    let has = |text: &str| error.expected.contains(text);
    let mut parts: Vec<String> = [";", ")", "]", "}", ",", "(", "{", ":", "="]
        .into_iter()
        .filter(|punctuation| has(punctuation))
        .map(|punctuation| format!("`{punctuation}`"))
        .collect();
    if has("(") && has("~") {
        // Whatever starts an expression may stand here.
        parts.retain(|part| part != "`(`" && part != "`{`");
        parts.insert(0, "an expression".to_owned());
    } else if has("<typedef_name>") && !has("+") {
        parts.insert(0, "a type".to_owned());
    } else if has("[_a-zA-Z]") && parts.is_empty() {
        parts.push("a name".to_owned());
    }
    if parts.len() > 1 {
        parts.retain(|part| part != "`(`");
    }
    parts.truncate(3);
    match parts.as_slice() {
        [] => UNEXPECTED.to_owned(),
        [only] => format!("expected {only}"),
        [first @ .., last] => format!("expected {} or {last}", first.join(", ")),
    }
}

/// Names that are declared by `typedef`, and the basic types, as candidates for a suggestion.
fn type_names(prepared: &Prepared) -> Vec<String> {
    let mut names: Vec<String> =
        ["int", "char", "long", "short", "unsigned", "void", "float", "double"].map(str::to_owned).to_vec();
    let mut inside = false;
    let mut depth = 0usize;
    for index in 0..prepared.starts.len() {
        match prepared.token_text(index) {
            "typedef" => (inside, depth) = (true, 0),
            "{" | "(" => depth += 1,
            "}" | ")" => depth = depth.saturating_sub(1),
            ";" if inside && depth == 0 => {
                inside = false;
                let name = original_name(prepared.token_text(index.wrapping_sub(1)));
                if !name.starts_with("__") {
                    names.push(name);
                }
            }
            _ => {}
        }
    }
    names
}
