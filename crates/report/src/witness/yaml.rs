//! YAML to be written: just what a witness needs.

use std::fmt::Write as _;

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Yaml {
    /// A text, written in quotes so that nothing in it can be taken for something else.
    Text(String),
    /// A number.
    Number(u64),
    /// A list.
    List(Vec<Self>),
    /// Keys, which are plain words, with their values.
    Map(Vec<(&'static str, Self)>),
    /// Keys that are any text.
    Table(Vec<(String, Self)>),
}

impl Yaml {
    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The document, ending in a newline.
    pub(crate) fn document(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, 0);
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out
    }

    /// Writes the value; what does not fit on the line that has begun, on lines of its own with this indent.
    fn write(&self, out: &mut String, indent: usize) {
        match self {
            Self::Text(text) => quote(out, text),
            Self::Number(number) => {
                let _ = write!(out, "{number}");
            }
            Self::List(items) if items.is_empty() => out.push_str("[]"),
            Self::List(items) => {
                for (position, item) in items.iter().enumerate() {
                    if position > 0 {
                        out.push_str(&" ".repeat(indent));
                    }
                    out.push_str("- ");
                    item.write(out, indent + 2);
                    end_line(out);
                }
            }
            Self::Map(entries) => {
                write_entries(out, indent, entries, |out, key| out.push_str(key));
            }
            Self::Table(entries) => {
                write_entries(out, indent, entries, |out, key| quote(out, key));
            }
        }
    }

    /// Whether it is written on the line of its key.
    const fn is_short(&self) -> bool {
        match self {
            Self::Text(_) | Self::Number(_) => true,
            Self::List(items) => items.is_empty(),
            Self::Map(_) | Self::Table(_) => false,
        }
    }
}

fn write_entries<K>(
    out: &mut String,
    indent: usize,
    entries: &[(K, Yaml)],
    write_key: impl Fn(&mut String, &K),
) {
    if entries.is_empty() {
        return out.push_str("{}");
    }
    for (position, (key, value)) in entries.iter().enumerate() {
        if position > 0 {
            out.push_str(&" ".repeat(indent));
        }
        write_key(out, key);
        out.push(':');
        if value.is_short() {
            out.push(' ');
        } else {
            out.push('\n');
            out.push_str(&" ".repeat(indent + 2));
        }
        value.write(out, indent + 2);
        end_line(out);
    }
}

fn end_line(out: &mut String) {
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// In double quotes, with YAML's escapes.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || c == '\u{2028}' || c == '\u{2029}' || c == '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_nested_by_indent_and_texts_are_quoted() {
        let value = Yaml::List(vec![Yaml::Map(vec![
            ("a", Yaml::Number(3)),
            ("b", Yaml::List(vec![Yaml::text("\\result == \"1\"\n"), Yaml::List(Vec::new())])),
            ("c", Yaml::Map(vec![("d", Yaml::text("é: #\u{1}"))])),
            ("e", Yaml::Table(vec![("x y".to_owned(), Yaml::text(""))])),
        ])]);
        let expected = "- a: 3\n  b:\n    - \"\\\\result == \\\"1\\\"\\n\"\n    - []\n  c:\n    d: \"é: #\\u0001\"\n  e:\n    \"x y\": \"\"\n";
        assert_eq!(value.document(), expected);
    }
}
