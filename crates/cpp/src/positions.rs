//! From tokens of the preprocessed text back to places in the programmer's files.
//!
//! The preprocessor's line markers give file and line. Inside a line, the tokens of the preprocessed
//! text are aligned with those of the original lines (longest common subsequence): a token that was not
//! touched by a macro gets its exact place, and one that came out of a macro gets the place of the
//! macro's name and arguments.

use std::ops::Range;
use std::path::{Path, PathBuf};

use pdnet_base::FxHashMap;
use pdnet_source::{File, SourceMap, Span};

use crate::token::{Token, lex};

/// Beyond this many pairs of tokens a line is not aligned.
const ALIGN_LIMIT: usize = 4_000_000;
/// How many lines the arguments of one macro may span.
const REGION_LINES: u32 = 60;

/// Where a physical line of the preprocessed text comes from.
#[derive(Clone, Copy, Debug)]
struct Line {
    start: usize,
    /// Index into the list of names.
    name: usize,
    number: u32,
    system: bool,
}

/// The table of positions of one preprocessed text.
#[derive(Debug)]
pub struct Positions {
    text: String,
    tokens: Vec<Token>,
    lines: Vec<Line>,
    names: Vec<String>,
    /// The files of the names, once looked up; `None` where there is no such file.
    files: Vec<Option<Option<File>>>,
    /// The file that holds the preprocessed text itself, once it is needed.
    own: Option<File>,
    own_name: String,
    aligned: FxHashMap<usize, Vec<Span>>,
    folder: PathBuf,
    /// A file whose text the preprocessor has seen with assertions in comments uncovered, and that text.
    uncovered: Option<(File, String)>,
    /// The text of a header that is part of pdnet, by its name in a line marker.
    own_header: Option<fn(&str) -> Option<&'static str>>,
}

impl Positions {
    /// A table for a text whose lines, as long as no marker says otherwise, belong to `name`. `own` is the
    /// file with this text where there is one.
    pub fn new(text: String, name: &str, own: Option<File>) -> Self {
        let tokens = lex(&text);
        let mut names = vec![name.to_owned()];
        let mut lines = Vec::new();
        let (mut current, mut number, mut system) = (0usize, 1u32, false);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if let Some(marker) = parse_marker(line) {
                number = marker.line;
                if let Some(name) = marker.name {
                    current = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                        names.push(name);
                        names.len() - 1
                    });
                    system = marker.system;
                }
                lines.push(Line { start, name: current, number, system });
            } else {
                lines.push(Line { start, name: current, number, system });
                number = number.saturating_add(1);
            }
            start += line.len();
        }
        if lines.is_empty() {
            lines.push(Line { start: 0, name: 0, number: 1, system: false });
        }
        let mut files = vec![None; names.len()];
        // Without markers the positions in the text itself are right.
        files[0] = Some(None);
        let folder = Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
        let own_name = format!("{name} (preprocessed)");
        let aligned = FxHashMap::default();
        Self {
            text,
            tokens,
            lines,
            names,
            files,
            own,
            own_name,
            aligned,
            folder,
            uncovered: None,
            own_header: None,
        }
    }

    /// Says that lines of this name belong to a file that is in the map already.
    pub fn set_file(&mut self, name: &str, file: File) {
        for (known, slot) in self.names.iter().zip(&mut self.files) {
            if known == name {
                *slot = Some(Some(file));
            }
        }
    }

    /// Says how to get the text of headers that are part of pdnet.
    pub fn set_own_headers(&mut self, text_of: fn(&str) -> Option<&'static str>) {
        self.own_header = Some(text_of);
    }

    /// Says what the preprocessor has seen of a file; the text has the length and the lines of the file's.
    pub fn set_uncovered(&mut self, file: File, text: String) {
        self.uncovered = Some((file, text));
    }

    /// The preprocessed text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tokens.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The text of a token; empty behind the last.
    pub fn token_text(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| token.text(&self.text))
    }

    /// Whether the token stands in a header of the system (or in one of ours).
    pub fn in_system_header(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|token| self.lines[self.line_of(token.start)].system)
    }

    /// The user's files that the text comes from.
    pub fn user_files(&mut self, map: &mut SourceMap) -> Vec<File> {
        let mut is_user = vec![false; self.names.len()];
        for line in &self.lines {
            is_user[line.name] |= !line.system;
        }
        let names = (0..self.names.len()).filter(|&name| is_user[name]);
        names.filter_map(|name| self.file_of(map, name)).collect()
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }

    /// The place of a range of tokens.
    pub fn range_span(&mut self, map: &mut SourceMap, first: usize, last: usize) -> Span {
        let span = self.token_span(map, first);
        if last > first { span.to(self.token_span(map, last)) } else { span }
    }

    /// The place of a range of bytes of the preprocessed text. The ends may lie inside of tokens, which the lexer for
    /// C cuts otherwise than other languages do (`0..7` is one number).
    pub fn byte_span(&mut self, map: &mut SourceMap, start: usize, end: usize) -> Span {
        let first = self.tokens.partition_point(|token| token.end <= start);
        let last = self.tokens.partition_point(|token| token.start < end).saturating_sub(1).max(first);
        let span = self.part_span(map, first, start, end);
        if last > first { span.to(self.part_span(map, last, start, end)) } else { span }
    }

    /// The place of the part of a token that lies between two bytes; all of it where it came out of a macro.
    fn part_span(&mut self, map: &mut SourceMap, token: usize, start: usize, end: usize) -> Span {
        let whole = self.token_span(map, token);
        let Some(token) = self.tokens.get(token) else { return whole };
        let is_original = (whole.end - whole.start) as usize == token.end - token.start;
        let (from, to) = (start.max(token.start), end.min(token.end));
        if !is_original || from >= to {
            return whole;
        }
        let offset = |at: usize| whole.start + small(at - token.start);
        Span { file: whole.file, start: offset(from), end: offset(to) }
    }

    /// The place of a token; behind the last token that of the last.
    pub fn token_span(&mut self, map: &mut SourceMap, token: usize) -> Span {
        let token = token.min(self.tokens.len().saturating_sub(1));
        let Some(&data) = self.tokens.get(token) else {
            let file = self.own_file(map);
            return Span { file, start: 0, end: 0 };
        };
        let line_idx = self.line_of(data.start);
        let first = self.first_token(line_idx);
        if !self.aligned.contains_key(&line_idx) {
            let spans = self.align(map, line_idx, first);
            self.aligned.insert(line_idx, spans);
        }
        self.aligned[&line_idx][token - first]
    }

    fn first_token(&self, line_idx: usize) -> usize {
        let start = self.lines[line_idx].start;
        self.tokens.partition_point(|token| token.start < start)
    }

    fn own_file(&mut self, map: &mut SourceMap) -> File {
        *self.own.get_or_insert_with(|| map.add(self.own_name.clone(), self.text.clone()))
    }

    fn file_of(&mut self, map: &mut SourceMap, name_idx: usize) -> Option<File> {
        if let Some(known) = self.files[name_idx] {
            return known;
        }
        let name = &self.names[name_idx];
        let found = map.find(name).filter(|&file| Some(file) != self.own).or_else(|| {
            if let Some(text) = self.own_header.and_then(|text_of| text_of(name)) {
                return Some(map.add(name.clone(), text));
            }
            if name.starts_with('<') {
                return None;
            }
            let here = PathBuf::from(name);
            let beside = self.folder.join(name);
            let bytes = std::fs::read(&here).or_else(|_| std::fs::read(&beside)).ok()?;
            Some(map.add(name.clone(), crate::decode(bytes)))
        });
        self.files[name_idx] = Some(found);
        found
    }

    /// The places of all tokens of a line of the preprocessed text.
    fn align(&mut self, map: &mut SourceMap, line_idx: usize, first: usize) -> Vec<Span> {
        let line = self.lines[line_idx];
        let end = self.lines.get(line_idx + 1).map_or(self.text.len(), |next| next.start);
        let after = self.tokens.partition_point(|token| token.start < end);
        let Some(file) = self.file_of(map, line.name) else {
            let file = self.own_file(map);
            let span = |token: &Token| Span { file, start: small(token.start), end: small(token.end) };
            return self.tokens[first..after].iter().map(span).collect();
        };
        let data = map.file(file);
        let Some(region_start) = data.line_start(line.number) else {
            let end = small(data.text.len());
            return vec![Span { file, start: end, end }; after - first];
        };
        let seen = match &self.uncovered {
            Some((uncovered, text)) if *uncovered == file => text,
            Some(_) | None => &data.text,
        };
        let mut last_line = self.region_end(line_idx, after);
        let (region, originals) = loop {
            let region_end = data.line_start(last_line + 1).unwrap_or(small(data.text.len()));
            let region = &seen[region_start as usize..region_end as usize];
            let originals = lex(region);
            // A call of a macro may go on in the next line, although the text behind it has come back
            // to the original lines.
            let has_next = data.line_start(last_line + 1).is_some();
            if !has_next || last_line - line.number >= REGION_LINES || !is_open(region, &originals) {
                break (region, originals);
            }
            last_line += 1;
        };
        let whole =
            map.line_span(file, line.number).unwrap_or(Span { file, start: region_start, end: region_start });
        let place = |token: &Token| Span {
            file,
            start: region_start + small(token.start),
            end: region_start + small(token.end),
        };
        let here: Vec<&str> = self.tokens[first..after].iter().map(|token| token.text(&self.text)).collect();
        let there: Vec<&str> = originals.iter().map(|token| token.text(region)).collect();
        let column = self.tokens.get(first).map_or(0, |token| token.start - line.start);
        let starts: Vec<usize> = originals.iter().map(|token| token.start).collect();
        let matches = unchanged_run(&here, &there, column, &starts)
            .unwrap_or_else(|| common_subsequence(&here, &there));
        if line.system
            && !here.iter().any(|word| is_name(word) && there.contains(word))
            && let Some(name) = (0..there.len())
                .filter(|&at| is_name(there[at]))
                .min_by_key(|&at| starts[at].abs_diff(column))
        {
            // Out of a macro of a system header, such as `NULL`: that it has parentheses as its surroundings
            // have says nothing.
            return vec![place(&originals[name]); here.len()];
        }
        let mut spans = Vec::with_capacity(here.len());
        for position in 0..here.len() {
            if let Some(at) = matches[position] {
                spans.push(place(&originals[at]));
                continue;
            }
            // Out of a macro: what stands between the neighbours that did not.
            let from = matches[..position].iter().rev().find_map(|at| *at).map_or(0, |at| at + 1);
            let to = matches[position..].iter().find_map(|at| *at).unwrap_or(originals.len());
            let span = match originals.get(macro_use(&there, from..to)) {
                Some([only]) => place(only),
                Some([start, .., end]) => place(start).to(place(end)),
                Some([]) | None => whole,
            };
            spans.push(span);
        }
        spans
    }

    /// The last original line that the tokens of this line may come from: the arguments of a macro can
    /// span several lines, which the preprocessor joins.
    fn region_end(&self, line_idx: usize, next_token: usize) -> u32 {
        let line = self.lines[line_idx];
        let Some(token) = self.tokens.get(next_token) else { return line.number };
        let next = self.lines[self.line_of(token.start)];
        if next.name == line.name && next.number > line.number && next.number - line.number <= REGION_LINES {
            next.number - 1
        } else {
            line.number
        }
    }
}

/// Of what stands between two tokens that did not come out of a macro, the part from the first name on that can be the use of one: it
/// ends before a bracket that closes more than was opened, and before the end of a statement.
fn macro_use(there: &[&str], between: Range<usize>) -> Range<usize> {
    let Some(tokens) = there.get(between.clone()) else { return between };
    let Some(first) = tokens.iter().position(|token| is_name(token)) else { return between };
    let mut n_open = 0_usize;
    let goes_on = |token: &&&str| {
        match **token {
            "(" | "[" | "{" => n_open += 1,
            ")" | "]" | "}" if n_open == 0 => return false,
            ")" | "]" | "}" => n_open -= 1,
            ";" | "#" if n_open == 0 => return false,
            _ => {}
        }
        true
    };
    let length = tokens[first..].iter().take_while(goes_on).count();
    between.start + first..between.start + first + length
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Whether more parentheses are opened than closed.
fn is_open(text: &str, tokens: &[Token]) -> bool {
    let count = |word: &str| tokens.iter().filter(|token| token.text(text) == word).count();
    count("(") > count(")")
}

fn small(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

/// The partners where `here` stands in `there` as it is. The preprocessor breaks a line around a macro of a
/// system header and indents the pieces to about their old columns, so that of several places the nearest
/// to that column is meant.
fn unchanged_run(
    here: &[&str],
    there: &[&str],
    column: usize,
    starts: &[usize],
) -> Option<Vec<Option<usize>>> {
    if here.is_empty() {
        return None;
    }
    let places = there.windows(here.len()).enumerate().filter(|(_, window)| *window == here);
    let nearest = places.map(|(at, _)| at).min_by_key(|&at| starts[at].abs_diff(column))?;
    Some((nearest..nearest + here.len()).map(Some).collect())
}

/// For each item of `here` the position of its partner in `there`, where it has one.
fn common_subsequence(here: &[&str], there: &[&str]) -> Vec<Option<usize>> {
    let mut matches = vec![None; here.len()];
    let prefix = here.iter().zip(there).take_while(|(a, b)| a == b).count();
    for (position, slot) in matches.iter_mut().enumerate().take(prefix) {
        *slot = Some(position);
    }
    let (rest_here, rest_there) = (&here[prefix..], &there[prefix..]);
    let suffix = rest_here.iter().rev().zip(rest_there.iter().rev()).take_while(|(a, b)| a == b).count();
    for back in 1..=suffix {
        matches[here.len() - back] = Some(there.len() - back);
    }
    let a = &rest_here[..rest_here.len() - suffix];
    let b = &rest_there[..rest_there.len() - suffix];
    if a.is_empty() || b.is_empty() || a.len().saturating_mul(b.len()) > ALIGN_LIMIT {
        return matches;
    }
    // length[i][j]: the longest common subsequence of a[i..] and b[j..].
    let width = b.len() + 1;
    let mut length = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            length[i * width + j] = if a[i] == b[j] {
                length[(i + 1) * width + j + 1] + 1
            } else {
                length[(i + 1) * width + j].max(length[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] && length[i * width + j] == length[(i + 1) * width + j + 1] + 1 {
            matches[prefix + i] = Some(prefix + j);
            i += 1;
            j += 1;
        } else if length[(i + 1) * width + j] >= length[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    matches
}

struct Marker {
    line: u32,
    name: Option<String>,
    system: bool,
}

/// `# 12 "file.c" 1 3` or `#line 12 "file.c"`.
fn parse_marker(line: &str) -> Option<Marker> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok()?;
    let rest = rest[digits..].trim_start();
    let Some(quoted) = rest.strip_prefix('"') else {
        return rest.is_empty().then_some(Marker { line: number, name: None, system: false });
    };
    let end = quoted.rfind('"')?;
    let flags = &quoted[end + 1..];
    let name = quoted[..end].replace("\\\\", "\\").replace("\\\"", "\"");
    Some(Marker { line: number, name: Some(name), system: flags.split_whitespace().any(|flag| flag == "3") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_of_a_system_macro_stands_at_its_name() {
        let mut map = SourceMap::new();
        let source = "if (p == NULL) f();\n";
        let file = map.add("m.c", source);
        let text = "# 1 \"m.c\"\nif (p == \n# 1 \"m.c\" 3 4\n         ((void *)0)\n# 1 \"m.c\"\n             ) f();\n";
        let mut positions = Positions::new(text.to_owned(), "m.c", None);
        positions.set_file("m.c", file);
        let zero = positions.tokens().iter().position(|token| token.text(text) == "0").expect("a token");
        for token in zero - 5..=zero + 1 {
            let span = positions.token_span(&mut map, token);
            assert_eq!(&source[span.start as usize..span.end as usize], "NULL");
        }
    }

    #[test]
    fn tokens_find_their_columns_through_macros() {
        let mut map = SourceMap::new();
        let source = "#define TWICE(a) ((a) + (a))\nint   y = TWICE( x ) ;\n";
        let file = map.add("m.c", source);
        let text = "# 1 \"m.c\"\n\nint y = ((x) + (x)) ;\n".to_owned();
        let mut positions = Positions::new(text, "m.c", None);
        positions.set_file("m.c", file);
        let mut found = |token| {
            let span = positions.token_span(&mut map, token);
            source[span.start as usize..span.end as usize].to_owned()
        };
        assert_eq!(found(0), "int");
        assert_eq!(found(1), "y");
        assert_eq!(found(2), "=");
        assert_eq!(found(12), ";");
        // The outer parenthesis exists only in the macro.
        assert_eq!(found(3), "TWICE");
    }

    #[test]
    fn what_follows_a_macro_does_not_belong_to_it() {
        let mut map = SourceMap::new();
        for (source, text, token, expected) in [
            ("check(n == MAX);", "test((n == 3), \"n == MAX\");", "3", "MAX"),
            ("if (a == CAP) #else if (b == CAP)", "if (a == 2)", "2", "CAP"),
            ("x = SUM(a, (b)) + y;", "x = ADD;", "ADD", "SUM(a, (b)) + y"),
            ("x[LAST] = 1;", "x[9", "9", "LAST"),
        ] {
            let file = map.add("m.c", format!("{source}\n"));
            let text = format!("# 1 \"m.c\"\n{text}\n");
            let mut positions = Positions::new(text.clone(), "m.c", None);
            positions.set_file("m.c", file);
            let number = positions.tokens().iter().position(|at| at.text(&text) == token).expect("a token");
            let span = positions.token_span(&mut map, number);
            assert_eq!(&source[span.start as usize..span.end as usize], expected, "{source}");
        }
    }

    #[test]
    fn a_text_without_markers_is_its_own_file() {
        let mut map = SourceMap::new();
        let file = map.add("a.i", "int x;");
        let mut positions = Positions::new("int x;".to_owned(), "a.i", Some(file));
        assert_eq!(positions.token_span(&mut map, 1), Span { file, start: 4, end: 5 });
        assert_eq!(positions.token_span(&mut map, 99), Span { file, start: 5, end: 6 });
    }

    #[test]
    fn a_missing_file_falls_back_to_the_text() {
        let mut map = SourceMap::new();
        let text = "# 7 \"no/such/file.c\"\nint x;";
        let file = map.add("a.i", text);
        let mut positions = Positions::new(text.to_owned(), "a.i", Some(file));
        let span = positions.token_span(&mut map, 0);
        assert_eq!(&text[span.start as usize..span.end as usize], "int");
    }

    #[test]
    fn parts_of_tokens_have_places_of_their_own() {
        let mut map = SourceMap::new();
        let source = "#define N 3\nfor (i : 0..7) x = N;\n";
        let file = map.add("m.pml", source);
        let text = "# 1 \"m.pml\"\n\nfor (i : 0..7) x = 3;\n";
        let mut positions = Positions::new(text.to_owned(), "m.pml", None);
        positions.set_file("m.pml", file);
        let mut found = |part: &str| {
            let start = text.find(part).expect("a part");
            let span = positions.byte_span(&mut map, start, start + part.len());
            source[span.start as usize..span.end as usize].to_owned()
        };
        for part in ["0", "..", "7", "..7", "for (i : 0", "x"] {
            assert_eq!(found(part), part);
        }
        assert_eq!(found("3"), "N");
    }

    #[test]
    fn every_range_of_bytes_has_a_place() {
        let source = "a = F(b, // c \\\n d)\n'e \"f\n0..g;\n";
        let text =
            "# 1 \"m.pml\"\na = b+b)\n// 'h \\\n i\n'e \"f\n0..g;\n# 9 \"m.pml\"\nz z\n# 1 \"none\"\nq\n";
        let mut map = SourceMap::new();
        let file = map.add("m.pml", source);
        let mut positions = Positions::new(text.to_owned(), "m.pml", None);
        positions.set_file("m.pml", file);
        for start in 0..text.len() {
            for end in start..=text.len() {
                let span = positions.byte_span(&mut map, start, end);
                assert!(span.start <= span.end && span.end as usize <= map.file(span.file).text.len());
            }
        }
    }
}
