//! No input makes the parser panic, hang, or point to places that are not there.

mod support;

use pdnet_base::Rng;
use pdnet_front_promela::TREE_DEPTH_LIMIT;
use pdnet_source::{ColorChoice, Diagnostic, SourceMap, render};
use support::{MODELS, load};

/// Words that a random text is made of.
const WORDS: &[&str] = &[
    "active",
    "proctype",
    "init",
    "never",
    "ltl",
    "trace",
    "typedef",
    "inline",
    "mtype",
    "byte",
    "chan",
    "int",
    "unsigned",
    "hidden",
    "if",
    "fi",
    "do",
    "od",
    "::",
    "else",
    "->",
    ";",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ",",
    ".",
    "..",
    ":",
    "=",
    "==",
    "!",
    "!!",
    "?",
    "??",
    "+",
    "-",
    "++",
    "--",
    "<",
    ">",
    "<<",
    "&&",
    "||",
    "~",
    "@",
    "atomic",
    "d_step",
    "unless",
    "goto",
    "break",
    "assert",
    "printf",
    "\"s\"",
    "'c'",
    "run",
    "len",
    "eval",
    "for",
    "select",
    "in",
    "of",
    "timeout",
    "np_",
    "_pid",
    "_",
    "skip",
    "xr",
    "xs",
    "provided",
    "priority",
    "x",
    "y",
    "P",
    "Q",
    "q",
    "f",
    "T",
    "0",
    "1",
    "7",
    "99999999999",
    "[]",
    "<>",
    "U",
    "X",
    "G",
    "\n",
    "#",
    "`",
    "\"",
    "'",
    "é",
    "c_code",
    "return",
    "enabled",
    "pc_value",
    "set_priority",
    "/*",
    "*/",
    "//",
    "\\\n",
];

fn check(seed: u64, text: &str) {
    let (map, result) = load(text);
    let found = match result {
        Ok(loaded) => {
            assert!(!pdnet_front_promela::dump(&loaded.model).is_empty());
            loaded.warnings
        }
        Err(found) => {
            assert!(!found.is_empty(), "seed {seed}: refused without a word:\n{text}");
            found
        }
    };
    for diagnostic in &found {
        check_places(seed, &map, diagnostic, text);
    }
}

fn check_places(seed: u64, map: &SourceMap, diagnostic: &Diagnostic, text: &str) {
    assert!(!diagnostic.labels.is_empty(), "seed {seed}: {} points nowhere:\n{text}", diagnostic.id);
    for label in &diagnostic.labels {
        let file = &map.file(label.span.file).text;
        let range = label.span.start as usize..label.span.end as usize;
        assert!(file.get(range).is_some(), "seed {seed}: {} points beside the text:\n{text}", diagnostic.id);
    }
    assert!(render(map, diagnostic, ColorChoice::Plain).contains(diagnostic.id));
}

/// Cuts a text into words, with the spaces between them.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for character in text.chars() {
        let joins = character.is_alphanumeric() && (last.is_alphanumeric() || last == '_')
            || character == '_' && last.is_alphanumeric();
        match words.last_mut() {
            Some(word) if joins => word.push(character),
            Some(_) | None => words.push(character.to_string()),
        }
        last = character;
    }
    words
}

#[test]
fn mutations_of_good_models() {
    let seed = Rng::test_seed(1);
    for case in 0..1_500 {
        let seed = seed.wrapping_add(case);
        let mut rng = Rng::new(seed);
        let mut text = words(MODELS[rng.below(MODELS.len())]);
        for _ in 0..=rng.below(4) {
            if text.is_empty() {
                break;
            }
            let at = rng.below(text.len());
            let other = rng.below(text.len());
            match rng.below(5) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, text[other].clone()),
                2 => text.swap(at, other),
                3 => text[at] = format!(" {} ", WORDS[rng.below(WORDS.len())]),
                _ => text.truncate(at + 1),
            }
        }
        check(seed, &text.concat());
    }
}

#[test]
fn random_words() {
    let seed = Rng::test_seed(1);
    for case in 0..1_500 {
        let seed = seed.wrapping_add(case);
        let mut rng = Rng::new(seed);
        let n_words = rng.below(60);
        let mut text = String::new();
        if rng.chance(70) {
            text.push_str("byte x; chan q = [1] of { byte }; inline f(y) { y = 1 } active proctype P() { ");
        }
        for _ in 0..n_words {
            text.push_str(WORDS[rng.below(WORDS.len())]);
            text.push_str(if rng.chance(80) { " " } else { "" });
        }
        check(seed, &text);
    }
}

#[test]
fn deep_nesting_is_refused_or_read() {
    let deep = 3 * TREE_DEPTH_LIMIT;
    let repeated = |open: &str, close: &str| open.repeat(deep) + "1" + &close.repeat(deep);
    let texts = [
        format!("init {{ {} }}", repeated("(", ")")),
        format!("init {{ {} }}", repeated("!", "")),
        format!("init {{ {} }}", repeated("1 + ", "")),
        format!("init {{ {} }}", repeated("1 && ", "")),
        format!("init {{ {} }}", repeated("if :: ", " fi")),
        format!("init {{ {} }}", repeated("{ ", "; 1 }")),
        format!("init {{ {} }}", repeated("do :: ", " od")),
        format!("init {{ {} }}", repeated("L: ", "")),
        format!("init {{ skip }} ltl {{ {} }}", repeated("[] ", "")),
        format!("init {{ skip }} ltl {{ {} }}", repeated("(", ")")),
        format!("init {{ skip }} ltl {{ {} }}", repeated("true U ", "")),
        format!("chan q = [1] of {{ byte }}; init {{ q?{} }}", repeated("(", ")")),
        format!("byte a[1]; init {{ {} }}", "a[".repeat(deep) + "0" + &"]".repeat(deep)),
    ];
    for text in texts {
        check(0, &text);
    }
}

#[test]
fn inlines_that_grow_without_end_are_refused() {
    let mut text = "byte x; inline f0() { x = 1 }\n".to_owned();
    for level in 1..40 {
        text += &format!("inline f{level}() {{ f{0}(); f{0}() }}\n", level - 1);
    }
    text += "init { f39() }";
    let (_, result) = load(&text);
    let found = result.expect_err("refused");
    assert!(found.iter().any(|diagnostic| diagnostic.id == "expansion-too-large"), "{found:?}");
}
