//! Property files of the software verification competition.

use pdnet_source::{Diagnostic, File, SourceMap, Span};

use crate::lexer::{Lexer, Mode, Tok, Token};
use crate::{Formula, Name, parse_formula_at};

/// One line of a property file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// The function that the run starts in, nearly always `main`.
    pub entry: Name,
    /// What is to hold.
    pub formula: Formula,
    /// The text between the parentheses of `LTL(…)`.
    pub span: Span,
}

/// Parses a `.prp` file: every line that is not empty is `CHECK( init(main()), LTL(…) )`. Lines that
/// start with `//` or `#` are comments, which the competition does not have but people write.
///
/// # Errors
/// The first line that has another form, a formula that is not understood, or a file without any.
pub fn parse_property_file(map: &SourceMap, file: File) -> Result<Vec<Property>, Diagnostic> {
    let mut properties = Vec::new();
    let n_lines = u32::try_from(map.file(file).n_lines()).unwrap_or(u32::MAX);
    for line in 1..=n_lines {
        let Some(span) = map.line_span(file, line) else { break };
        let text = map.file(file).text.get(span.start as usize..span.end as usize).unwrap_or("");
        if text.is_empty() || text.starts_with("//") || text.starts_with('#') {
            continue;
        }
        properties.push(parse_line(map, span)?);
    }
    if properties.is_empty() {
        let span = Span { file, start: 0, end: 0 };
        return Err(Diagnostic::error("empty-property-file", "the property file has no property")
            .at(span, "")
            .help("write a line such as `CHECK( init(main()), LTL(G ! call(reach_error())) )`"));
    }
    Ok(properties)
}

/// The tokens before the entry function, between it and the formula, and what each should be.
const BEFORE_ENTRY: [&str; 4] = ["CHECK", "(", "init", "("];
const AFTER_ENTRY: [&str; 6] = ["(", ")", ")", ",", "LTL", "("];

fn parse_line(map: &SourceMap, span: Span) -> Result<Property, Diagnostic> {
    let mut line = Line { lexer: Lexer::new(&map.file(span.file).text, span), span };
    for text in BEFORE_ENTRY {
        line.expect(text)?;
    }
    let entry = line.lexer.next(Mode::Formula);
    if entry.tok != Tok::Word {
        return Err(line.wrong_frame(entry, "the name of a function"));
    }
    for text in AFTER_ENTRY {
        line.expect(text)?;
    }
    // The formula ends before the last two parentheses; what is wrong inside of it is for its parser.
    let start = u32::try_from(line.lexer.at).unwrap_or(u32::MAX);
    let rest = line.lexer.rest();
    let end = rest.trim_end().strip_suffix(')').map(str::trim_end).and_then(|rest| rest.strip_suffix(')'));
    let Some(formula) = end else {
        let end = Token { tok: Tok::End, start: span.end as usize, end: span.end as usize };
        return Err(line.wrong_frame(end, "`))`"));
    };
    let len = u32::try_from(formula.len()).unwrap_or(u32::MAX);
    let span = Span { file: span.file, start, end: start.saturating_add(len) };
    let entry = Name {
        text: line.lexer.slice(entry.start, entry.end).to_owned(),
        span: line.lexer.span(entry.start, entry.end),
    };
    Ok(Property { entry, formula: parse_formula_at(map, span)?, span })
}

struct Line<'a> {
    lexer: Lexer<'a>,
    span: Span,
}

impl Line<'_> {
    fn expect(&mut self, text: &str) -> Result<(), Diagnostic> {
        let token = self.lexer.next(Mode::Formula);
        if self.lexer.slice(token.start, token.end) == text {
            return Ok(());
        }
        Err(self.wrong_frame(token, &format!("`{text}`")))
    }

    fn wrong_frame(&self, found: Token, wanted: &str) -> Diagnostic {
        Diagnostic::error("malformed-property", "this is not a line of a property file")
            .at(self.lexer.span(found.start, found.end), format!("expected {wanted} here"))
            .context(self.span, "")
            .help("the form is `CHECK( init(main()), LTL(FORMULA) )`")
    }
}
