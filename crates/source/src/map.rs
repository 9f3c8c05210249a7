//! The table of source files.

use pdnet_base::{Idx as _, IndexVec, index_type};

index_type! {
    /// A source file.
    pub struct File = "file";
}

/// A byte range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: File,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both; `self` where they are in different files.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file == other.file {
            Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
        } else {
            self
        }
    }
}

/// A position as people read it. Lines and columns count from 1; column 0 means that only the line is
/// known (the text came out of a macro).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos {
    /// The file.
    pub file: File,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1; 0 where unknown.
    pub column: u32,
}

/// A file's name and text.
#[derive(Clone, Debug)]
pub struct FileData {
    /// The name as the user gave it or as the preprocessor reported it.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Byte offset of the start of each line.
    line_starts: Vec<u32>,
}

impl FileData {
    /// The number of lines.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        self.line_starts.len()
    }

    /// The byte offset at which line `line` (from 1) starts.
    #[must_use]
    pub fn line_start(&self, line: u32) -> Option<u32> {
        self.line_starts.get((line as usize).checked_sub(1)?).copied()
    }

    /// The text of line `line` (from 1), without its line end.
    #[must_use]
    pub fn line_text(&self, line: u32) -> Option<&str> {
        let start = self.line_start(line)? as usize;
        let end = self.line_start(line + 1).map_or(self.text.len(), |next| next as usize);
        Some(self.text[start..end].trim_end_matches(['\n', '\r']))
    }
}

/// All files of one run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: IndexVec<File, FileData>,
}

impl SourceMap {
    /// An empty map.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; a text of 4 GiB or more is cut (no diagnostic can point behind that).
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> File {
        let text = text.into();
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = newlines.map_while(|(at, _)| u32::try_from(at + 1).ok());
        let line_starts = std::iter::once(0).chain(starts).collect();
        self.files.push(FileData { name: name.into(), text, line_starts })
    }

    /// The file's data.
    #[must_use]
    pub fn file(&self, file: File) -> &FileData {
        &self.files[file]
    }

    /// All files, in order of addition.
    pub fn files(&self) -> impl Iterator<Item = (File, &FileData)> {
        self.files.iter_enumerated()
    }

    /// The file of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<File> {
        self.files.iter().position(|data| data.name == name).map(File::new)
    }

    /// Where the span starts.
    #[must_use]
    pub fn pos(&self, span: Span) -> Pos {
        let data = &self.files[span.file];
        let line_idx = data.line_starts.partition_point(|&start| start <= span.start).max(1) - 1;
        let start = data.line_starts[line_idx] as usize;
        let end = (span.start as usize).min(data.text.len());
        let prefix = data.text.get(start..end).unwrap_or("");
        let column = u32::try_from(prefix.chars().count()).unwrap_or(u32::MAX - 1) + 1;
        Pos { file: span.file, line: u32::try_from(line_idx).unwrap_or(u32::MAX - 1) + 1, column }
    }

    /// The span of a whole line without leading and trailing white space.
    #[must_use]
    pub fn line_span(&self, file: File, line: u32) -> Option<Span> {
        let data = &self.files[file];
        let start = data.line_start(line)?;
        let text = data.line_text(line)?;
        let indent = text.len() - text.trim_start().len();
        let width = text.trim().len();
        let start = start + u32::try_from(indent).ok()?;
        Some(Span { file, start, end: start + u32::try_from(width).ok()? })
    }

    /// `name:line:column`, or `name:line` where the column is unknown.
    #[must_use]
    pub fn display(&self, pos: Pos) -> String {
        let name = &self.files[pos.file].name;
        if pos.column == 0 {
            format!("{name}:{}", pos.line)
        } else {
            format!("{name}:{}:{}", pos.line, pos.column)
        }
    }
}
