//! Terminal colours, or none.

use pdnet_source::ColorChoice;

/// How a text looks on a terminal that has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// Headings.
    Bold,
    /// What matters less.
    Dim,
    /// What is good.
    Good,
    /// What is bad.
    Bad,
    /// What is neither.
    Unsure,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Atoms and cycles.
    Logic,
}

impl Style {
    /// The parameters of the terminal's escape sequence.
    const fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "1;32",
            Self::Bad => "1;31",
            Self::Unsure => "1;33",
            Self::Read => "36",
            Self::Write => "33",
            Self::Logic => "35",
        }
    }
}

/// The text in that style.
pub(crate) fn paint(color: ColorChoice, style: Style, text: &str) -> String {
    match color {
        ColorChoice::Colored if style != Style::Plain && !text.is_empty() => {
            format!("\x1b[{}m{text}\x1b[0m", style.code())
        }
        ColorChoice::Colored | ColorChoice::Plain => text.to_owned(),
    }
}
