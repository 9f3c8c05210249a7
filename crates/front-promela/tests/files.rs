//! Models in files: the preprocessor, and places in the user's files.

mod support;

use std::path::PathBuf;

use pdnet_front_promela::tree::{Model, Sequence, Stmt, StmtKind};
use pdnet_front_promela::{Loaded, Options, dump, load, parse_formula};
use pdnet_source::{Diagnostic, SourceMap};

/// A folder of its own for each test, removed at the end.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

fn load_main(folder: &tempfile::TempDir, options: &Options) -> (SourceMap, Result<Loaded, Vec<Diagnostic>>) {
    let mut map = SourceMap::new();
    let result = load(&mut map, &folder.path().join("main.pml"), options);
    (map, result)
}

/// Options with a compiler that is not there.
fn without_compiler() -> Options {
    Options { preprocessor: Some("no-such-compiler".to_owned()), ..Options::default() }
}

fn has_compiler() -> bool {
    std::process::Command::new("cc").arg("--version").output().is_ok()
}

#[test]
fn without_directives_no_compiler_is_needed() {
    let text = "byte x; /* don't # */\ninit { x = 'a'; // it's\n printf(\"# it's\\n\"); assert(x == 'a') }\n";
    let folder = folder(&[("main.pml", text)]);
    let (map, result) = load_main(&folder, &without_compiler());
    let loaded = result.unwrap_or_else(|found| panic!("{}", support::rendered(&map, &found)));
    assert!(dump(&loaded.model).contains("x = 97"));
}

#[test]
fn with_directives_a_compiler_is_needed() {
    let folder = folder(&[("main.pml", "#define N 2\ninit { skip }\n")]);
    let (_, result) = load_main(&folder, &without_compiler());
    let found = result.expect_err("refused");
    assert_eq!(found.iter().map(|diagnostic| diagnostic.id).collect::<Vec<_>>(), ["no-preprocessor"]);
}

#[test]
fn macros_includes_and_options() {
    if !has_compiler() {
        return;
    }
    let main = "#include \"part.h\"\n#define TWICE(a) a = a + a\n#if N > 2\nbyte y[N];\n#endif\n\
                init { TWICE(x); y[0] = M; q??x }\nltl { [] small }\n";
    let part = "#define small (x < N)\nbyte x;\nchan q = [1] of { byte };\n";
    let folder = folder(&[("main.pml", main), ("part.h", part)]);
    let options = Options { defines: vec!["N=3".to_owned(), "M=7".to_owned()], ..Options::default() };
    let (mut map, result) = load_main(&folder, &options);
    let mut loaded = result.unwrap_or_else(|found| panic!("{}", support::rendered(&map, &found)));
    let text = dump(&loaded.model);
    for expected in ["byte y[3]", "x = (x + x)", "y[0] = 7", "ltl ltl_0 G `(x < 3)`"] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    // Formulas of the command line know the macros, too.
    let file = map.add("<formula>", "<> small");
    let block = parse_formula(&map, file, "f", &mut loaded).expect("a formula");
    assert_eq!(block.atoms.len(), 1);
    // A place in an included file.
    let x = loaded.model.vars.iter().next().expect("a variable");
    assert!(map.file(x.span.file).name.ends_with("part.h"));
}

#[test]
fn a_missing_include_is_shown_where_it_is() {
    if !has_compiler() {
        return;
    }
    let folder = folder(&[("main.pml", "byte x;\n#include \"nowhere.h\"\ninit { skip }\n")]);
    let (map, result) = load_main(&folder, &Options::default());
    let found = result.expect_err("refused");
    let text = support::rendered(&map, &found);
    assert!(text.contains("error[missing-include]") && text.contains("main.pml:2:10"), "{text}");
}

#[test]
fn a_missing_file_and_one_that_is_no_text() {
    let folder = folder(&[("main.pml", "a\0b"), ("model.pml", "init { skip }")]);
    let (_, result) = load_main(&folder, &Options::default());
    assert_eq!(result.expect_err("refused")[0].id, "binary-file");
    let mut map = SourceMap::new();
    let path: PathBuf = folder.path().join("modle.pml");
    let found = load(&mut map, &path, &Options::default()).expect_err("refused");
    assert_eq!(found[0].id, "missing-file");
    assert!(found[0].help[0].contains("model.pml"));
}

/// The texts of all basic statements, by their places.
fn texts(map: &SourceMap, model: &Model) -> Vec<String> {
    fn visit(map: &SourceMap, sequence: &Sequence, out: &mut Vec<String>) {
        for Stmt { kind, span, .. } in sequence {
            match kind {
                StmtKind::If(choices) | StmtKind::Do(choices) => {
                    choices.iter().for_each(|choice| visit(map, &choice.body, out));
                }
                StmtKind::Block(inner) | StmtKind::Atomic(inner) | StmtKind::DStep(inner) => {
                    visit(map, inner, out)
                }
                StmtKind::Unless { main, escape } => {
                    visit(map, main, out);
                    visit(map, escape, out);
                }
                StmtKind::Condition(_)
                | StmtKind::Assign(..)
                | StmtKind::Send { .. }
                | StmtKind::Receive { .. }
                | StmtKind::Goto(_)
                | StmtKind::Break
                | StmtKind::Else
                | StmtKind::Assert(_)
                | StmtKind::Print { .. } => {
                    out.push(map.file(span.file).text[span.start as usize..span.end as usize].to_owned());
                }
            }
        }
    }
    let mut out = Vec::new();
    model.procs.iter().for_each(|data| visit(map, &data.body, &mut out));
    out
}

const STATEMENTS: &str = "byte x, y; chan q = [2] of { byte };
inline set(v, w) { v  =  w + 1; /* c */ q ! v }
init {
  x = 1 ;
  x++; q!x + 1;q?y
  if :: x == 1 -> y = (x
     + 2) :: else -> skip fi;
  set(x, y * 2);
  L: goto L;
  atomic { y = 'a'; assert(x < 3) } printf(\"%d\\n\", x)
}
";

#[test]
fn statements_know_their_exact_places() {
    let expected = [
        "x = 1",
        "x++",
        "q!x + 1",
        "q?y",
        "x == 1",
        "y = (x\n     + 2)",
        "skip",
        "v  =  w + 1",
        "q ! v",
        "goto L",
        "y = 'a'",
        "assert(x < 3)",
        "printf(\"%d\\n\", x)",
    ];
    let (map, loaded) = support::accept(STATEMENTS);
    assert_eq!(texts(&map, &loaded.model), expected);
    if !has_compiler() {
        return;
    }
    // The same behind the preprocessor.
    let folder = folder(&[("main.pml", &format!("#define UNUSED 1\n{STATEMENTS}"))]);
    let (map, result) = load_main(&folder, &Options::default());
    let loaded = result.unwrap_or_else(|found| panic!("{}", support::rendered(&map, &found)));
    assert_eq!(texts(&map, &loaded.model), expected);
}

#[test]
fn what_comes_out_of_a_macro_stands_at_its_name() {
    if !has_compiler() {
        return;
    }
    let main = "#define N 5\n#define SET(v) v = N\n#define TWO(a, b) a + b\nbyte x, i;\ninit { SET(x); x = N; for (i : 0..3) { x = i + N } x = TWO(i, 2) }\n";
    let folder = folder(&[("main.pml", main)]);
    let (map, result) = load_main(&folder, &Options::default());
    let loaded = result.unwrap_or_else(|found| panic!("{}", support::rendered(&map, &found)));
    let texts = texts(&map, &loaded.model);
    assert_eq!(
        texts,
        [
            "SET(x)",
            "x = N",
            "for (i : 0..3)",
            "for (i : 0..3)",
            "x = i + N",
            "for (i : 0..3)",
            "for (i : 0..3)",
            "x = TWO(i, 2)"
        ]
    );
}
