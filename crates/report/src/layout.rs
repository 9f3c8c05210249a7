//! Text in a given width.

/// The number of columns that the text takes on a terminal, as far as we care: one for each character.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The text, cut with an ellipsis where it is wider.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(limit.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// The text in lines of at most that width, broken at spaces where possible; continued lines are indented.
pub(crate) fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(8);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.trim().is_empty() && width(&line) + 1 + width(word) > limit {
            lines.push(std::mem::replace(&mut line, "  ".to_owned()));
        }
        if !line.is_empty() && !line.ends_with("  ") {
            line.push(' ');
        }
        line.push_str(word);
        while width(&line) > limit {
            let head: String = line.chars().take(limit).collect();
            line = format!("  {}", line.chars().skip(limit).collect::<String>());
            lines.push(head);
        }
    }
    if !line.trim().is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The text, filled with spaces up to the width.
pub(crate) fn pad(text: &str, wanted: usize) -> String {
    let missing = wanted.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

/// A number of bytes as people read it, rounded.
#[must_use]
pub fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut unit = 0;
    let mut divisor: u64 = 1;
    while unit + 1 < UNITS.len() && bytes / divisor >= 1024 {
        divisor *= 1024;
        unit += 1;
    }
    if unit == 0 {
        return format!("{bytes} B");
    }
    let tenths = u128::from(bytes) * 10 / u128::from(divisor);
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

/// `1 state`, `2 states`.
pub(crate) fn count(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("creates thread 1 (worker)", 16), ["creates thread 1", "  (worker)"]);
        assert_eq!(wrap("abcdefghijkl", 10), ["abcdefghij", "  kl"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(cut("pthread_create(&t)", 9), "pthread_…");
    }

    #[test]
    fn bytes_are_rounded_down_to_a_tenth() {
        assert_eq!(human_bytes(1023), "1023 B");
        assert_eq!(human_bytes(1536), "1.5 KiB");
        assert_eq!(human_bytes(4 << 30), "4.0 GiB");
    }
}
