//! Where in the text a waypoint stands.
//!
//! A step of the net knows where its expression begins. The format of witnesses wants other places: the
//! keyword of a branching, the closing parenthesis of a call, the first character of a statement. They are
//! found here from the words of the source around the step. What is not found for sure is not given: a
//! witness without a waypoint describes more runs, one with a wrong waypoint describes none.

use std::ops::Range;

use pdnet_source::FileData;

/// The words of a file.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    words: Vec<Word<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    start: usize,
    text: &'a str,
}

/// A decision as a witness states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Branching {
    /// The byte at which the keyword or the question mark stands.
    pub(crate) at: usize,
    /// `true`, `false`, or the value of a case.
    pub(crate) value: String,
}

impl<'a> Words<'a> {
    /// Splits a file. Comments, strings and lines of the preprocessor are passed over.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { words: split(text) }
    }

    /// The word that starts at this byte.
    fn at(&self, offset: usize) -> Option<usize> {
        self.words.binary_search_by_key(&offset, |word| word.start).ok()
    }

    fn text(&self, position: usize) -> &'a str {
        self.words.get(position).map_or("", |word| word.text)
    }

    fn before(&self, position: usize) -> &'a str {
        position.checked_sub(1).map_or("", |before| self.text(before))
    }

    /// The closing parenthesis of the first call, at or behind this place and within the same statement, of a
    /// function for which `wanted` is true.
    pub(crate) fn call_end(&self, offset: usize, wanted: impl Fn(&str) -> bool) -> Option<usize> {
        let start = self.at(offset)?;
        let mut position = start;
        while !matches!(self.text(position), ";" | "{" | "}" | "") {
            if self.text(position + 1) == "(" && wanted(self.text(position)) {
                return self.closing(position + 1).map(|closing| self.words[closing].start);
            }
            position += 1;
        }
        None
    }

    /// The parenthesis that closes the one at `open`.
    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for position in open..self.words.len() {
            match self.text(position) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(position);
            }
        }
        None
    }

    /// The parenthesis around this place that is still open there; `None` where there is none in the statement.
    fn enclosing(&self, position: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for position in (0..position).rev() {
            match self.text(position) {
                ")" => depth += 1,
                "(" if depth == 0 => return Some(position),
                "(" => depth -= 1,
                "{" | "}" => return None,
                _ => {}
            }
        }
        None
    }

    /// The branching that a condition belongs to, where the condition decides it. (The net may decide `a && b` in
    /// two steps.) `condition` is the text of the net, which begins here.
    pub(crate) fn branching(&self, offset: usize, condition: &str, holds: bool) -> Option<Branching> {
        let start = self.at(offset)?;
        let condition = split(condition);
        let condition: Vec<&str> =
            condition.iter().map(|word| word.text).filter(|text| !is_parenthesis(text)).collect();
        let value = holds.to_string();
        let mut open = self.enclosing(start);
        // Parentheses around the condition are part of it.
        while let Some(position) = open {
            let at = self.words[position.saturating_sub(1)].start;
            match self.before(position) {
                "if" | "while" => {
                    let inside = position + 1..self.closing(position)?;
                    return self
                        .decision(inside, start, &condition, holds)
                        .map(|value| Branching { at, value });
                }
                "for" => {
                    let inside = self.for_condition(position)?;
                    return self
                        .decision(inside, start, &condition, holds)
                        .map(|value| Branching { at, value });
                }
                "switch" => {
                    let inside = self.plain(position + 1..self.closing(position)?);
                    let case = condition.strip_prefix(inside.as_slice())?.strip_prefix(&["=="])?;
                    // That one case does not apply says little; which one does is the decision.
                    return (holds && is_integer(case)).then(|| Branching { at, value: case.concat() });
                }
                _ => open = self.enclosing(position),
            }
        }
        self.conditional(start, &condition).map(|at| Branching { at, value })
    }

    /// The words between two places, without parentheses.
    fn plain(&self, range: Range<usize>) -> Vec<&'a str> {
        range.map(|position| self.text(position)).filter(|text| !is_parenthesis(text)).collect()
    }

    /// The condition in the head of a `for` that opens here.
    fn for_condition(&self, open: usize) -> Option<Range<usize>> {
        let end = self.closing(open)?;
        let mut semicolons = (open..end).filter(|&position| self.text(position) == ";");
        let (first, second) = (semicolons.next()?, semicolons.next()?);
        Some(first + 1..second)
    }

    /// What a whole condition comes to where a part of it, which begins at `start`, was found to hold or not.
    /// The part is the whole, or one operand, or several in a row, of a chain of `&&` or of `||`.
    fn decision(&self, whole: Range<usize>, start: usize, part: &[&str], holds: bool) -> Option<String> {
        let (operands, connective) = self.operands(whole)?;
        let first = operands.iter().position(|operand| operand.contains(&start))?;
        let last = (first..operands.len())
            .find(|&last| self.plain(operands[first].start..operands[last].end) == part)?;
        let is_last = last + 1 == operands.len();
        let is_decided = match connective {
            None => true,
            // A false operand decides a conjunction, a true one a disjunction; else it takes all of them.
            Some("&&") => !holds || is_last,
            Some(_) => holds || is_last,
        };
        is_decided.then(|| holds.to_string())
    }

    /// The operands of a condition that is a chain of `&&` or of `||`; a mixture is left alone.
    fn operands(&self, whole: Range<usize>) -> Option<(Vec<Range<usize>>, Option<&'a str>)> {
        let (mut operands, mut connective, mut depth) = (Vec::new(), None, 0_usize);
        let mut start = whole.start;
        for position in whole.clone() {
            match self.text(position) {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                word @ ("&&" | "||") if depth == 0 => {
                    if connective.is_some_and(|other| other != word) {
                        return None;
                    }
                    connective = Some(word);
                    operands.push(start..position);
                    start = position + 1;
                }
                _ => {}
            }
        }
        operands.push(start..whole.end);
        Some((operands, connective))
    }

    /// The question mark behind a condition that begins here.
    fn conditional(&self, start: usize, condition: &[&str]) -> Option<usize> {
        let mut rest = condition.iter();
        let mut position = start;
        loop {
            let text = self.text(position);
            match rest.as_slice().first() {
                _ if is_parenthesis(text) => {}
                None => return (text == "?").then(|| self.words[position].start),
                Some(expected) if *expected == text => {
                    rest.next();
                }
                Some(_) => return None,
            }
            position += 1;
        }
    }

    /// The first character of the statement or declaration that this place belongs to; `None` where it is part
    /// of the head of a loop or of a branching.
    pub(crate) fn statement(&self, offset: usize) -> Option<usize> {
        let place = self.at(offset)?;
        let mut open = self.enclosing(place);
        while let Some(position) = open {
            if matches!(self.before(position), "if" | "while" | "for" | "switch") {
                return None;
            }
            open = self.enclosing(position);
        }
        let mut start = place;
        let mut depth = 0_usize;
        while let Some(before) = start.checked_sub(1) {
            match self.text(before) {
                ")" => depth += 1,
                "(" => depth = depth.saturating_sub(1),
                ";" | "{" | "}" if depth == 0 => break,
                _ => {}
            }
            start = before;
        }
        self.skip_heads(start, place)
    }

    /// Passes over what may stand before a statement: `else`, `do`, labels, and heads of loops and branchings.
    fn skip_heads(&self, mut start: usize, place: usize) -> Option<usize> {
        while start < place {
            start = match self.text(start) {
                "else" | "do" => start + 1,
                "if" | "while" | "for" | "switch" => {
                    self.closing(start + 1).filter(|&closing| closing < place)? + 1
                }
                "case" => (start..place).find(|&position| self.text(position) == ":")? + 1,
                _ if self.text(start + 1) == ":" => start + 2,
                _ => break,
            };
        }
        self.words.get(start).map(|word| word.start)
    }
}

/// The byte of a line and a column of characters, both from 1.
pub(crate) fn offset(data: &FileData, line: u32, column: u32) -> Option<usize> {
    let start = data.line_start(line)? as usize;
    let text = data.line_text(line)?;
    let skipped = (column as usize).checked_sub(1)?;
    text.char_indices().nth(skipped).map(|(at, _)| start + at)
}

fn is_parenthesis(text: &str) -> bool {
    text == "(" || text == ")"
}

/// An integer constant, with or without a sign.
fn is_integer(words: &[&str]) -> bool {
    let digits = match words {
        [digits] | ["-", digits] => digits,
        _ => return false,
    };
    digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn split(text: &str) -> Vec<Word<'_>> {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let until =
        |from: usize, end: &str| text[from..].find(end).map_or(bytes.len(), |at| from + at + end.len());
    let mut words = Vec::new();
    let mut at = 0;
    let mut line_begins = true;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = bytes[at];
        let end = if rest.starts_with("/*") {
            until(at + 2, "*/")
        } else if rest.starts_with("//") || (first == b'#' && line_begins) {
            line_end(bytes, at)
        } else if first == b'"' || first == b'\'' {
            quoted_end(bytes, at)
        } else if is_word(first) {
            bytes[at..].iter().position(|&byte| !is_word(byte)).map_or(bytes.len(), |length| at + length)
        } else {
            at + operator_length(rest)
        };
        line_begins = first == b'\n' || (line_begins && first.is_ascii_whitespace());
        let is_comment = rest.starts_with("/*") || rest.starts_with("//") || first == b'#';
        if !first.is_ascii_whitespace() && !is_comment {
            words.push(Word { start: at, text: &text[at..end] });
        }
        at = end;
    }
    words
}

/// The end of a line and of those that a backslash adds to it.
fn line_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && (bytes[at] != b'\n' || bytes[at - 1] == b'\\') {
        at += 1;
    }
    at
}

fn quoted_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != bytes[start] && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Two-character operators are one word, so that `x == 1` is not `x = = 1`.
fn operator_length(rest: &str) -> usize {
    const PAIRS: [&str; 12] = ["==", "!=", "<=", ">=", "&&", "||", "->", "++", "--", "<<", ">>", "+="];
    if PAIRS.iter().any(|pair| rest.starts_with(pair)) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place of `@` in a text, and the text without it.
    fn marked(text: &str) -> (String, usize) {
        (text.replacen('@', "", 1), text.find('@').expect("a mark"))
    }

    /// The answer as the rest of the text from there on.
    fn rest(text: &str, at: Option<usize>) -> &str {
        at.map_or("-", |at| &text[at..])
    }

    #[test]
    fn a_statement_begins_behind_labels_and_heads() {
        for (text, expected) in [
            ("{ a; x = @y + 1; }", "x = y + 1; }"),
            ("{ if (c) @x = 1; }", "x = 1; }"),
            ("{ if (c) a; else for (;;) f(1, @x); }", "f(1, x); }"),
            ("{ L: case 3: @x = 1; }", "x = 1; }"),
            ("{ if (@x) a; }", "-"),
            ("{ for (i = 0; i < n; @i++) a; }", "-"),
            ("{ do @x = 1; while (y); }", "x = 1; while (y); }"),
            ("{ f(a, \"; {\", @b); }", "f(a, \"; {\", b); }"),
            ("int x;\n# 3 \"a.c\"\n{ int y = @f(x); }", "int y = f(x); }"),
        ] {
            let (text, at) = marked(text);
            assert_eq!(rest(&text, Words::new(&text).statement(at)), expected, "{text}");
        }
    }

    #[test]
    fn a_call_ends_at_its_closing_parenthesis() {
        for (text, expected) in [
            ("{ @create(&t, 0, (f), g(1)); }", "); }"),
            ("{ r = 1 + @create(&t,\n  \")\"); }", "); }"),
            ("{ @x = create(a); }", "); }"),
            ("{ @x = 1; create(a); }", "-"),
        ] {
            let (text, at) = marked(text);
            let found = Words::new(&text).call_end(at, |name| name == "create");
            assert_eq!(rest(&text, found), expected, "{text}");
        }
    }

    #[test]
    fn a_branching_is_a_whole_condition() {
        for (text, condition, expected) in [
            ("{ if (@x > 3) a; }", "x > 3", Some(("if (x > 3) a; }", "true"))),
            ("{ while ((@x) != 3) a; }", "x != 3", Some(("while ((x) != 3) a; }", "true"))),
            ("{ if (@a && b) c; }", "a", None),
            ("{ if (a && @b) c; }", "b", Some(("if (a && b) c; }", "true"))),
            ("{ if (@a || b) c; }", "a", Some(("if (a || b) c; }", "true"))),
            ("{ if (a && @b && c && d) e; }", "b && c", None),
            ("{ if (a && (@b || c)) d; }", "b", None),
            ("{ if (a && b || @c) d; }", "c", None),
            ("{ while (a && (@b || c)) d; }", "b || c", Some(("while (a && (b || c)) d; }", "true"))),
            ("{ if (@a && b) c; }", "a && b", Some(("if (a && b) c; }", "true"))),
            (
                "{ for (int i = 0; @i < 2; i++) a; }",
                "i < 2",
                Some(("for (int i = 0; i < 2; i++) a; }", "true")),
            ),
            ("{ y = @n ? 1 : 3; }", "n", Some(("? 1 : 3; }", "true"))),
            ("{ y = f((@n > 1) ? 1 : 3); }", "n > 1", Some(("? 1 : 3); }", "true"))),
            ("{ y = @n && m; }", "n", None),
            ("{ switch (@x) { case 7: a; } }", "x == 7", Some(("switch (x) { case 7: a; } }", "7"))),
            ("{ switch (@x) { case A: a; } }", "x == A", None),
            ("{ if (@x /* ( */ == 1) a; }", "x == 1", Some(("if (x /* ( */ == 1) a; }", "true"))),
        ] {
            let (text, at) = marked(text);
            let found = Words::new(&text).branching(at, condition, true);
            let found = found.as_ref().map(|found| (&text[found.at..], found.value.as_str()));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(Words::new("switch (x)").branching(8, "x == 7", false), None);
        let decided = Words::new("if (a && b)").branching(4, "a", false);
        assert_eq!(decided.map(|found| found.value).as_deref(), Some("false"));
        assert_eq!(Words::new("if (a || b)").branching(4, "a", false), None);
    }
}
