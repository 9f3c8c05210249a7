//! Single words and literals: which are keywords, and how to spell them for the parser.

use super::AUTO_TYPE;

/// The name that the programmer wrote, from the one that the parser has seen.
pub(crate) fn original_name(name: &str) -> String {
    if !name.contains("__pdU") {
        return name.to_owned();
    }
    let mut parts = name.split("__pdU");
    let mut result = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let decoded = part
            .split_once('_')
            .and_then(|(code, rest)| Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest)));
        match decoded {
            Some((letter, rest)) => {
                result.push(letter);
                result.push_str(rest);
            }
            None => {
                result.push_str("__pdU");
                result.push_str(part);
            }
        }
    }
    result
}

/// Whether the word is a keyword of C or of GNU C.
pub(crate) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "_Alignas",
        "_Alignof",
        "_Atomic",
        "_Bool",
        "_Complex",
        "_Generic",
        "_Imaginary",
        "_Noreturn",
        "_Static_assert",
        "_Thread_local",
        "__alignof__",
        "__asm__",
        "__attribute__",
        "__auto_type",
        "__complex__",
        "__const",
        "__extension__",
        "__inline",
        "__inline__",
        "__int128",
        "__label__",
        "__restrict",
        "__restrict__",
        "__signed__",
        "__thread",
        "__typeof",
        "__typeof__",
        "__volatile__",
        "asm",
        "auto",
        "break",
        "case",
        "char",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extern",
        "float",
        "for",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "register",
        "restrict",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "typedef",
        "typeof",
        "union",
        "unsigned",
        "void",
        "volatile",
        "while",
    ];
    KEYWORDS.binary_search(&word).is_ok()
}

/// Another spelling that the parser knows.
pub(super) fn replacement(word: &str) -> Option<&'static str> {
    Some(match word {
        "__thread" => "_Thread_local",
        "__const__" => "const",
        "__int128" | "__int128__" => "_Decimal128x",
        "__float128" | "__ibm128" | "__float80" => "_Float128",
        "__auto_type" => AUTO_TYPE,
        "__null" => "0",
        _ => return None,
    })
}

/// A literal with only those escapes that the parser knows.
pub(super) fn plain_escapes(literal: &str) -> std::borrow::Cow<'_, str> {
    if !literal.contains('\\') {
        return literal.into();
    }
    let is_wide = literal.starts_with(['L', 'u', 'U']) && !literal.starts_with("u8");
    let mut result = String::with_capacity(literal.len());
    let mut rest = literal.chars();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            result.push(letter);
            continue;
        }
        match rest.next() {
            Some(
                escape @ ('\'' | '"' | '?' | '\\' | 'a' | 'b' | 'c' | 'f' | 'n' | 'r' | 't' | 'v' | 'x'),
            ) => {
                result.push('\\');
                result.push(escape);
            }
            Some(digit @ '0'..='7') => {
                result.push('\\');
                result.push(digit);
            }
            Some('e' | 'E') => result.push_str("\\033"),
            Some(kind @ ('u' | 'U')) => {
                let length = if kind == 'u' { 4 } else { 8 };
                let code: String = rest.clone().take(length).collect();
                let letter = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
                if let (Some(letter), true) = (letter, code.len() == length) {
                    if is_wide {
                        result.push(letter);
                    }
                    let mut buffer = [0; 4];
                    for byte in letter.encode_utf8(&mut buffer).bytes().filter(|_| !is_wide) {
                        result.push_str(&format!("\\{byte:03o}"));
                    }
                    for _ in 0..length {
                        rest.next();
                    }
                } else {
                    result.push(kind);
                }
            }
            Some(other) => result.push(other),
            None => {}
        }
    }
    result.into()
}
