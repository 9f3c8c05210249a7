//! The words that a formula may not use as names unless they are quoted.

/// A prefix operator of the logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    Not,
    Next,
    Finally,
    Globally,
}

/// An infix operator of the logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Infix {
    And,
    Or,
    Xor,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
}

/// The prefix operator that this word spells, in Spot's, SPIN's or CPAchecker's vocabulary.
pub(crate) fn prefix_word(word: &str) -> Option<Prefix> {
    Some(match word {
        "G" | "always" => Prefix::Globally,
        "F" | "eventually" => Prefix::Finally,
        "X" => Prefix::Next,
        "NOT" => Prefix::Not,
        _ => return None,
    })
}

/// The infix operator that this word spells.
pub(crate) fn infix_word(word: &str) -> Option<Infix> {
    Some(match word {
        "U" | "until" | "stronguntil" => Infix::Until,
        "W" | "WU" | "weakuntil" => Infix::WeakUntil,
        "R" | "V" | "release" => Infix::Release,
        "M" | "S" => Infix::StrongRelease,
        "AND" => Infix::And,
        "OR" => Infix::Or,
        "xor" => Infix::Xor,
        "implies" => Infix::Implies,
        "equivalent" => Infix::Iff,
        _ => return None,
    })
}

/// The atoms that are one word with a hyphen, which C would read as a subtraction.
pub(crate) const HYPHENATED: [&str; 5] =
    ["data-race", "valid-free", "valid-deref", "valid-memtrack", "valid-memcleanup"];

/// Whether a bare identifier has a meaning of its own in a formula. A variable of that name has to be
/// written in quotes.
pub(crate) fn is_reserved(word: &str) -> bool {
    const ATOMS: [&str; 11] = [
        "true",
        "false",
        "call",
        "at",
        "terminated",
        "end",
        "holds",
        "waiting",
        "deadlock",
        "overflow",
        "AP",
    ];
    prefix_word(word).is_some() || infix_word(word).is_some() || ATOMS.contains(&word)
}
