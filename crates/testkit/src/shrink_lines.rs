//! Smaller texts that fail too: lines and blocks are dropped as long as something is still wrong.

/// The smallest text that was found. `fails` says whether a text still fails; it must say no of what is no
/// program any more. A line that ends in `{` opens a block, one that begins with `}` closes it: a block
/// goes as a whole, or its first and its last line go.
#[must_use]
pub fn shrink_lines(text: &str, fails: &dyn Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    loop {
        let n_before = lines.len();
        let mut at = n_before;
        // From the end, where what nobody needs any more stands after what it needed.
        while at > 0 {
            at -= 1;
            let kept = candidates(&lines, at).into_iter().find(|kept| fails(&joined(kept)));
            if let Some(kept) = kept {
                lines = kept;
                at = at.min(lines.len());
            }
        }
        if lines.len() == n_before {
            return joined(&lines);
        }
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// The text without what begins at a line.
fn candidates<'a>(lines: &[&'a str], at: usize) -> Vec<Vec<&'a str>> {
    let without = |gone: &dyn Fn(usize) -> bool| -> Vec<&'a str> {
        (0..lines.len()).filter(|&number| !gone(number)).map(|number| lines[number]).collect()
    };
    let Some(end) = block_end(lines, at) else { return vec![without(&|number| number == at)] };
    vec![without(&|number| (at..=end).contains(&number)), without(&|number| number == at || number == end)]
}

/// The last line of the block that a line opens.
fn block_end(lines: &[&str], at: usize) -> Option<usize> {
    if !lines[at].ends_with('{') {
        return None;
    }
    let mut depth = 0_usize;
    for (number, line) in lines.iter().enumerate().skip(at) {
        if number > at && line.starts_with('}') {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 && number > at {
            // The other half of an `else` belongs to the statement.
            return if line.ends_with('{') { block_end(lines, number) } else { Some(number) };
        }
        if line.ends_with('{') {
            depth += 1;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::shrink_lines;

    #[test]
    fn only_what_matters_is_left() {
        let text =
            "int x;\nint y;\nf() {\nif (y) {\nx = 1;\n} else {\ny = 2;\n}\nwhile (y) {\ny = 3;\n}\n}\n";
        let fails = |text: &str| {
            let depth = text.lines().try_fold(0_usize, |depth, line| {
                let closed = depth.checked_sub(usize::from(line.starts_with('}')))?;
                Some(closed + usize::from(line.ends_with('{')))
            });
            depth == Some(0) && text.contains("f()") && text.contains("y = 3")
        };
        assert_eq!(shrink_lines(text, &fails), "f() {\ny = 3;\n}\n");
    }
}
