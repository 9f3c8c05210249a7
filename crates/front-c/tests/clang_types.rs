//! clang as a judge of types: the type of each expression and of each implicit conversion.
//!
//! Both read the same preprocessed text, so that an expression is known by its place. At one place there is
//! a chain of types: that of the expression itself, and one for each conversion around it. Where there is no
//! clang the test does nothing. With `PDNET_CORPUS=DIR` all C files below that folder are compared too.

mod support;
mod typed_places;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pdnet_front_c::types::DataModel;
use serde_json::Value;
use typed_places::snippets::{SNIPPETS, program_of};
use typed_places::{Chain, Places, our_places};

#[derive(Default)]
struct Figures {
    files: usize,
    refused_by_clang: usize,
    refused_by_us: usize,
    too_deep: usize,
    places: usize,
    types: usize,
    only_clang: usize,
    skipped: usize,
    differences: Vec<String>,
}

fn clang(arguments: &[&str], path: &Path) -> Option<Vec<u8>> {
    let output = Command::new("clang").args(arguments).arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

fn has_clang() -> bool {
    Command::new("clang").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Compares one preprocessed text.
fn compare(name: &str, text: &str, figures: &mut Figures) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("text.i");
    std::fs::write(&path, text).expect("written");
    figures.files += 1;
    let arguments = ["-std=gnu17", "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json"];
    let Some(json) = clang(&arguments, &path) else {
        figures.refused_by_clang += 1;
        return;
    };
    let json: Value = match serde_json::from_slice(&json) {
        Ok(json) => json,
        Err(error) => {
            // The reader takes values of limited depth only.
            assert!(error.to_string().contains("recursion"), "{name}: {error}");
            figures.too_deep += 1;
            return;
        }
    };
    let theirs = clang_places(&json);
    let (map, result) = support::load_text(text, DataModel::Lp64);
    let loaded = match result {
        Ok(loaded) => loaded,
        Err(diagnostics) => {
            figures.refused_by_us += 1;
            figures.differences.push(format!("{name}: {}", support::rendered(&map, &diagnostics)));
            return;
        }
    };
    let ours = our_places(&loaded.program);
    for (place, theirs) in &theirs {
        let Some(ours) = find(&ours, text, *place) else {
            figures.only_clang += 1;
            continue;
        };
        let source = text.get(place.0..place.1).unwrap_or("");
        // A string that initialises an array is so many characters in our tree. The name of the function is
        // that of gcc, without its type.
        let is_string = source.starts_with('"') || source.ends_with("__PRETTY_FUNCTION__");
        if is_string || theirs.types.iter().chain(&ours.types).any(|ty| ty.contains('?')) {
            figures.skipped += 1;
            continue;
        }
        figures.places += 1;
        figures.types += theirs.types.len();
        if !ours.agrees_with(theirs) {
            let difference =
                format!("{name}:{}: `{source}`: clang {:?}, pdnet {:?}", place.0, theirs.types, ours.types);
            figures.differences.push(difference);
        }
    }
}

/// Our chain at a place, or at the parentheses around it.
fn find<'c>(places: &'c Places, text: &str, place: (usize, usize)) -> Option<&'c Chain> {
    let (mut start, mut end) = place;
    loop {
        if let Some(chain) = places.get(&(start, end)) {
            return Some(chain);
        }
        let before = text[..start].trim_end().strip_suffix('(')?;
        let after = text[end..].trim_start().strip_prefix(')')?;
        (start, end) = (before.len(), text.len() - after.len());
    }
}

/// The chains of types of all expressions, by place.
fn clang_places(json: &Value) -> Places {
    let mut places = BTreeMap::new();
    collect(json, &mut places);
    places
}

fn collect(node: &Value, places: &mut Places) {
    let kind = node["kind"].as_str().unwrap_or("");
    // What is folded or not evaluated is no part of our tree.
    const FOLDED: &[&str] = &[
        "UnaryExprOrTypeTraitExpr",
        "GenericSelectionExpr",
        "OffsetOfExpr",
        "ConstantExpr",
        "BinaryConditionalOperator",
    ];
    if FOLDED.contains(&kind) {
        add(node, kind, places);
        return;
    }
    if matches!(kind, "StaticAssertDecl" | "EnumDecl" | "RecordDecl" | "TypedefDecl" | "FieldDecl") {
        return;
    }
    add(node, kind, places);
    for child in node["inner"].as_array().into_iter().flatten() {
        collect(child, places);
        // We convert the operand where the operator stands.
        if node["opcode"] == "+" && kind == "UnaryOperator" {
            let chain = place(child).and_then(|place| places.get_mut(&place));
            chain.into_iter().for_each(|chain| chain.loose = true);
        }
    }
}

fn add(node: &Value, kind: &str, places: &mut Places) {
    const NO_EXPRESSION: &[&str] = &[
        "ParenExpr",
        "InitListExpr",
        "ImplicitValueInitExpr",
        "DesignatedInitExpr",
        "OpaqueValueExpr",
        "ConstantExpr",
    ];
    if node["valueCategory"].is_null() || NO_EXPRESSION.contains(&kind) {
        return;
    }
    let cast = node["castKind"].as_str().unwrap_or("");
    if matches!(cast, "ArrayToPointerDecay" | "FunctionToPointerDecay" | "BuiltinFnToFnPtr" | "NoOp")
        && kind == "ImplicitCastExpr"
    {
        return;
    }
    let Some(place) = place(node) else { return };
    let ty = &node["type"];
    let written = ty["desugaredQualType"].as_str().or(ty["qualType"].as_str()).unwrap_or("?");
    let ty = normal(written);
    if ty.contains('(') && !ty.ends_with('*') {
        // A function; we only know pointers to functions.
        return;
    }
    let chain = places.entry(place).or_default();
    chain.push(ty);
    chain.constant |= kind.ends_with("Literal") || node["referencedDecl"]["kind"] == "EnumConstantDecl";
}

/// The place of an expression without parentheses and conversions around it.
fn place(node: &Value) -> Option<(usize, usize)> {
    let kind = node["kind"].as_str()?;
    if matches!(kind, "ImplicitCastExpr" | "ParenExpr" | "ConstantExpr") {
        return place(node["inner"].as_array()?.first()?);
    }
    let range = &node["range"];
    let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
    let end = number(&range["end"]["offset"])? + number(&range["end"]["tokLen"])?;
    Some((number(&range["begin"]["offset"])?, end))
}

/// A type as we write it, without qualifiers; `?` for what has no name of its own.
fn normal(written: &str) -> String {
    let mut text = written.to_owned();
    for word in ["const", "volatile", "restrict"] {
        text = text.replace(word, "");
    }
    text = text.trim().to_owned();
    while let Some(at) = text.find("_Atomic(") {
        let close = text[at..].find(')').map_or(text.len(), |length| at + length);
        text.replace_range(close..(close + 1).min(text.len()), "");
        text.replace_range(at..at + "_Atomic(".len(), "");
    }
    if text.contains("unnamed") || text.contains("anonymous") {
        return "?".to_owned();
    }
    if let Some(rest) = text.strip_prefix("enum ") {
        let name = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        text = format!("unsigned int{}", &rest[name..]);
    }
    // A pointer to a function or an array: the star goes to the end.
    while let Some(at) = text.find("(*)") {
        text.replace_range(at..at + 3, "");
        text.push('*');
    }
    text = text.replace("(void)", "()").replace(", ...", "").replace("(...)", "()");
    // The length of an array that is only known at run time.
    let is_plain = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == ']');
    while let Some(at) = text.match_indices('[').map(|(at, _)| at).find(|at| !is_plain(&text[at + 1..])) {
        let close = text[at..].find(']').map_or(text.len(), |length| at + length);
        text.replace_range(at + 1..close, "");
    }
    text.retain(|c| !c.is_whitespace());
    let known = [
        "struct", "union", "unsigned", "signed", "char", "short", "int", "long", "float", "double", "void",
        "_Bool", "__int128",
    ];
    let starts_known = known.iter().any(|word| text.starts_with(word));
    if starts_known { text } else { format!("?{text}") }
}

fn show(figures: &Figures) -> String {
    format!(
        "{} files ({} refused by clang, {} by pdnet, {} too deep), {} expressions with {} types compared, {} not in the tree, {} without a name, {} differ",
        figures.files,
        figures.refused_by_clang,
        figures.refused_by_us,
        figures.too_deep,
        figures.places,
        figures.types,
        figures.only_clang,
        figures.skipped,
        figures.differences.len()
    )
}

#[test]
fn types_and_conversions_are_those_of_clang() {
    if !has_clang() {
        return;
    }
    let mut figures = Figures::default();
    for snippet in SNIPPETS {
        let text = program_of(snippet, "");
        compare("snippet", &text, &mut figures);
    }
    assert_eq!(figures.differences, Vec::<String>::new(), "{}", show(&figures));
    assert_eq!(figures.refused_by_clang, 0);
    // The comparison must not become empty when spans or dumps change.
    assert!(figures.places > 500, "{}", show(&figures));
    assert!(figures.only_clang * 10 < figures.places, "{}", show(&figures));
}

#[test]
fn types_in_a_folder_of_programs_are_those_of_clang() {
    let Some(folder) = std::env::var_os("PDNET_CORPUS") else { return };
    assert!(has_clang(), "PDNET_CORPUS is set, but there is no clang");
    let mut figures = Figures::default();
    for path in c_files(Path::new(&folder)) {
        let Some(text) = clang(&["-std=gnu17", "-w", "-E", "-P", "-x", "c"], &path) else {
            figures.refused_by_clang += 1;
            continue;
        };
        compare(&path.display().to_string(), &String::from_utf8_lossy(&text), &mut figures);
    }
    let _ = writeln!(std::io::stderr(), "{}", show(&figures));
    assert_eq!(figures.differences, Vec::<String>::new(), "{}", show(&figures));
}

fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "c" || extension == "i") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
