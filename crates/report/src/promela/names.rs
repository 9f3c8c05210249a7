//! Names in the model: those of the program, as far as they are words.

use std::collections::BTreeSet;

/// Names that are taken.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// A new name like this one. The prefix keeps it apart from the words of Promela, of C and of SPIN's verifier.
    pub(super) fn fresh(&mut self, prefix: &str, name: &str) -> String {
        let wanted = word(prefix, name);
        let mut found = wanted.clone();
        let mut number = 2;
        while !self.taken.insert(found.clone()) {
            found = format!("{wanted}_{number}");
            number += 1;
        }
        found
    }
}

/// Letters, digits and single underscores.
pub(super) fn word(prefix: &str, name: &str) -> String {
    let mut found = prefix.to_owned();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        if !found.is_empty() && !found.ends_with('_') {
            found.push('_');
        }
        found += part;
    }
    found
}

/// A text within a comment.
pub(super) fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(['\n', '\r'], " ").replace('\\', "\\ ")
}
