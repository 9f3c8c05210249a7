//! Several translation units linked to one program, and compilation databases. Without a C compiler these
//! tests do nothing.

mod support;

use expect_test::{Expect, expect};
use pdnet_front_c::{Atomicity, Input, LowerOptions, Options, compile_commands, dump, load_all, lower};
use pdnet_source::{Diagnostic, SourceMap};

fn has_compiler() -> bool {
    std::process::Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Files in a folder of their own.
struct Files {
    folder: tempfile::TempDir,
    map: SourceMap,
}

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        Self { folder, map: SourceMap::new() }
    }

    fn inputs(&self, names: &[&str]) -> Vec<Input> {
        let input = |name: &&str| Input { path: self.folder.path().join(name), options: Options::default() };
        names.iter().map(input).collect()
    }

    fn shown(&self, diagnostics: &[Diagnostic]) -> String {
        let text = support::rendered(&self.map, diagnostics);
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    /// The tree of the linked files, or the diagnostics.
    fn linked(&mut self, inputs: Result<Vec<Input>, Vec<Diagnostic>>) -> String {
        match inputs.and_then(|inputs| load_all(&mut self.map, &inputs)) {
            Ok(loaded) => {
                let tree = dump(&loaded.program);
                let lines = tree.lines().filter(|line| !line.starts_with("extern"));
                let lines: Vec<String> = lines.map(|line| format!("{line}\n")).collect();
                self.shown(&loaded.warnings) + &lines.concat()
            }
            Err(diagnostics) => self.shown(&diagnostics),
        }
    }
}

/// Links the files that end in `.c`, in order.
#[track_caller]
fn assert_linked(files: &[(&str, &str)], expected: Expect) {
    if !has_compiler() {
        return;
    }
    let mut set = Files::new(files);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".c")).collect();
    let inputs = set.inputs(&names);
    expected.assert_eq(&set.linked(Ok(inputs)));
}

#[test]
fn names_with_external_linkage_are_one_thing() {
    assert_linked(
        &[
            (
                "a.h",
                "struct n { int v; struct n *next; struct o *other; }; extern struct n list[]; extern int total; int sum(struct n *);",
            ),
            (
                "a.c",
                "#include \"a.h\"\nint total; int main(void) { struct o *p = list[0].other; return sum(&list[1]) + total; }",
            ),
            (
                "b.c",
                "#include \"a.h\"\nstruct o { char c; }; int total; struct n list[2] = {{1, list + 1}}; int sum(struct n *n) { return n->v + n->other->c; }",
            ),
            ("c.c", "extern int total; int sum(); void more(void) { total = sum(0); }"),
        ],
        expect![[r#"
            list: struct n[2] = {[0].0 = 1, [0].1 = (&list[0] +@ 1)}
            total: int
            sum(n: struct n *): int
              return ([*[n].v] + (int)[*[*[n].other].c])
            main(): int
              var p: struct o * = [list[0].other]
              return (sum(&list[1]) + [total])
            more(): void
              total = sum(0)
        "#]],
    );
}

#[test]
fn statics_stay_apart() {
    assert_linked(
        &[
            (
                "a.c",
                "static int x = 1, only; int y = 5; static int f(void) { static int n; return x + n++; } int g(void); int main(void) { only = f(); return g(); }",
            ),
            (
                "b.c",
                "static int x = 2; static int y = 6; static int f(void) { static int n; return x + y + n; } int g(void) { return f(); }",
            ),
        ],
        expect![[r#"
            a.c:x: int = 1
            only: int
            y: int = 5
            static n: int
            b.c:x: int = 2
            b.c:y: int = 6
            static n: int
            a.c:f(): int
              return ([a.c:x] + n++)
            g(): int
              return b.c:f()
            main(): int
              only = a.c:f()
              return g()
            b.c:f(): int
              return (([b.c:x] + [b.c:y]) + [n])
        "#]],
    );
}

#[test]
fn inline_functions_of_a_header_may_be_in_each_unit() {
    assert_linked(
        &[
            ("a.h", "static inline int one(void) { return 1; } inline int two(void) { return 2; }"),
            ("a.c", "#include \"a.h\"\nint f(void); int main(void) { return one() + two() + f(); }"),
            ("b.c", "#include \"a.h\"\nextern int two(void); int f(void) { return one() + two(); }"),
        ],
        expect![[r#"
            a.c:one(): int
              return 1
            two(): int
              return 2
            f(): int
              return (b.c:one() + b.c:two())
            main(): int
              return ((a.c:one() + two()) + f())
            b.c:one(): int
              return 1
            b.c:two(): int
              return 2
        "#]],
    );
}

#[test]
fn structs_of_one_name_may_differ() {
    assert_linked(
        &[
            (
                "a.c",
                "struct s { int a; }; static struct s v; typedef struct { int p; } A; typedef struct { int p; } B; B *b; int main(void) { return v.a; }",
            ),
            (
                "b.c",
                "struct s { long b; }; static struct s w; typedef struct { int p; } A; typedef struct { int p; } B; extern B *b; long f(void) { return w.b + b->p; }",
            ),
        ],
        expect![[r#"
            v: struct s
            b: struct #2 *
            w: struct s
            main(): int
              return [v.a]
            f(): long
              return ([w.b] + (long)[*[b].p])
        "#]],
    );
}

#[test]
fn conflicts_show_both_places() {
    assert_linked(
        &[
            ("a.c", "int x = 1; int y; void f(int a) { } int g; int main(void) { }\n"),
            (
                "b.c",
                "int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }\n",
            ),
            ("c.c", "extern int z; void h(void) { z = 1; }\n"),
        ],
        expect![[r#"
            error[conflicting-types]: `g` is declared with two types
             --> b.c:1:49
              |
            1 | int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }
              |                                                 ^ `void ()` here
              |
             ::: a.c:1:41
              |
            1 | int x = 1; int y; void f(int a) { } int g; int main(void) { }
              |                                         - `int` here
            error[conflicting-types]: `f` is declared with two types
             --> b.c:1:32
              |
            1 | int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }
              |                                ^ `void (char *)` here
              |
             ::: a.c:1:24
              |
            1 | int x = 1; int y; void f(int a) { } int g; int main(void) { }
              |                        - `void (int)` here
            error[redefined]: the function `main` is defined twice
             --> b.c:1:83
              |
            1 | int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }
              |                                                                                   ^^^^ second definition
              |
             ::: a.c:1:48
              |
            1 | int x = 1; int y; void f(int a) { } int g; int main(void) { }
              |                                                ---- first definition
            error[redefined]: `x` has two initializers
             --> b.c:1:5
              |
            1 | int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }
              |     ^ second definition
              |
             ::: a.c:1:5
              |
            1 | int x = 1; int y; void f(int a) { } int g; int main(void) { }
              |     - first definition
            error[conflicting-types]: `y` is declared with two types
             --> b.c:1:24
              |
            1 | int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }
              |                        ^ `long` here
              |
             ::: a.c:1:16
              |
            1 | int x = 1; int y; void f(int a) { } int g; int main(void) { }
              |                - `int` here
            error[conflicting-types]: `z` is declared with and without `_Thread_local`
             --> c.c:1:12
              |
            1 | extern int z; void h(void) { z = 1; }
              |            ^ here
              |
             ::: b.c:1:76
              |
            1 | int x = 2; extern long y; void f(char *a); void g(void); _Thread_local int z; int main(void) { }
              |                                                                            - and here
        "#]],
    );
    assert_linked(
        &[("a.c", "int man(void) { return 0; }\n"), ("b.c", "int x;\n")],
        expect![[r#"
        error[no-main]: the program has no function `main`
         --> a.c:1:1
          |
        1 | int man(void) { return 0; }
          | ^ no `main` in this file, nor in the others
          |
          = help: there is a function `man`; should it be called `main`?
    "#]],
    );
}

#[test]
fn a_static_of_two_units_is_ambiguous_in_formulas() {
    if !has_compiler() {
        return;
    }
    let mut set = Files::new(&[
        ("a.c", "static int x; static void f(void) { x = 1; } void g(void); int main(void) { f(); g(); }\n"),
        ("b.c", "static int x; static void f(void) { x = 2; } void g(void) { f(); }\n"),
    ]);
    let inputs = set.inputs(&["a.c", "b.c"]);
    let loaded = load_all(&mut set.map, &inputs).expect("linked");
    let file = set.map.add("<ltl>", "G(x == 0 && !call(f))");
    let formula = pdnet_logic::parse_formula(&set.map, file).expect("a formula");
    let options = LowerOptions {
        atomicity: Atomicity::Access,
        spurious_wakeups: false,
        max_threads: 2,
        max_depth: 4,
        ..LowerOptions::default()
    };
    let Err(errors) = lower(&set.map, &loaded.program, &[formula], &options) else { panic!("accepted") };
    expect![[r#"
        error[ambiguous-name]: several files have a static variable `x`
         --> <ltl>:1:3
          |
        1 | G(x == 0 && !call(f))
          |   ^ which one?
          |
         ::: a.c:1:12
          |
        1 | static int x; static void f(void) { x = 1; } void g(void); int main(void) { f(); g(); }
          |            - this one
          |
         ::: b.c:1:12
          |
        1 | static int x; static void f(void) { x = 2; } void g(void) { f(); }
          |            - or this one
          |
          = help: give one of them another name
        error[ambiguous-name]: several files have a static function `f`
         --> <ltl>:1:19
          |
        1 | G(x == 0 && !call(f))
          |                   ^ which one?
          |
         ::: a.c:1:27
          |
        1 | static int x; static void f(void) { x = 1; } void g(void); int main(void) { f(); g(); }
          |                           - this one
          |
         ::: b.c:1:27
          |
        1 | static int x; static void f(void) { x = 2; } void g(void) { f(); }
          |                           - or this one
          |
          = help: give one of them another name
    "#]]
    .assert_eq(&set.shown(&errors));
}

#[track_caller]
fn assert_database(database: &str, wanted: &[&str], expected: Expect) {
    if !has_compiler() {
        return;
    }
    let mut set = Files::new(&[
        ("compile_commands.json", database),
        ("src/a.c", "#include <b.h>\nint f(void); int x = N, y[M]; int main(void) { return f(); }"),
        ("src/b.c", "int f(void) { return X; }"),
        ("inc/b.h", "#define M 2"),
        ("inc/c.h", "#define X 7"),
    ]);
    let folder = set.folder.path().to_path_buf();
    let files: Vec<_> = wanted.iter().map(|name| folder.join(name)).collect();
    let inputs = compile_commands(&mut set.map, &folder, &files, &Options::default());
    expected.assert_eq(&set.linked(inputs));
}

#[test]
fn databases_say_how_files_are_compiled() {
    let database = r#"[
  {"directory": "src", "file": "a.c", "command": "cc -O2 -I../inc -D'N=(1 + 2)' -std=c11 -c a.c -o a.o"},
  {"directory": ".", "file": "src/b.c", "arguments": ["gcc", "-include", "inc/c.h", "-UY", "-c", "src/b.c"]},
  {"directory": ".", "file": "src/x.cc", "arguments": ["g++", "src/x.cc"]}
]"#;
    assert_database(
        database,
        &[],
        expect![[r#"
        x: int = 3
        y: int[2]
        f(): int
          return 7
        main(): int
          return f()
    "#]],
    );
    assert_database(
        database,
        &["src/b.c", "src/c.c"],
        expect![[r#"
        error[missing-file]: `src/c.c` is not in the compilation database
         |
         = help: did you mean `src/a.c`?
    "#]],
    );
}

#[test]
fn databases_that_are_wrong() {
    for (database, expected) in [
        (
            "[{\"file\": \"a.c\", }]",
            expect![[r#"
            error[bad-json]: this is not JSON
             --> compile_commands.json:1:18
              |
            1 | [{"file": "a.c", }]
              |                  ^ a name in quotes is missing here
        "#]],
        ),
        (
            "{}",
            expect![[r#"
            error[bad-compile-commands]: this is no compilation database
             --> compile_commands.json:1:1
              |
            1 | {}
              | ^^ expected a list
              |
              = help: it is a list of objects with `directory`, `file`, and `command` or `arguments`
        "#]],
        ),
        (
            "[{\"file\": \"src/a.c\"}]",
            expect![[r#"
            error[bad-compile-commands]: this is no compilation database
             --> compile_commands.json:1:2
              |
            1 | [{"file": "src/a.c"}]
              |  ^^^^^^^^^^^^^^^^^^^ it has neither `command` nor `arguments`
              |
              = help: it is a list of objects with `directory`, `file`, and `command` or `arguments`
        "#]],
        ),
        (
            "[{\"file\": \"src/z.c\", \"command\": \"cc\"}]",
            expect![[r#"
            error[missing-file]: there is no file `src/z.c`
             --> compile_commands.json:1:11
              |
            1 | [{"file": "src/z.c", "command": "cc"}]
              |           ^^^^^^^^^ named here
        "#]],
        ),
        (
            "[{\"file\": \"src/a.c\", \"command\": \"cc -funsigned-char\"}]",
            expect![[r#"
            error[unsupported-option]: the option `-funsigned-char` is not supported
             --> compile_commands.json:1:33
              |
            1 | [{"file": "src/a.c", "command": "cc -funsigned-char"}]
              |                                 ^^^^^^^^^^^^^^^^^^^^ it changes what the program means
        "#]],
        ),
        (
            "[]",
            expect![[r#"
            error[no-input]: the compilation database has no C files
             --> compile_commands.json:1:1
              |
            1 | []
              | ^^
        "#]],
        ),
    ] {
        assert_database(database, &[], expected);
    }
}

#[test]
fn errno_is_one_variable() {
    assert_linked(
        &[
            ("a.c", "void g(void);\nint main(void) { g(); return 0; }\n"),
            ("b.c", "int *__errno_location(void);\nvoid g(void) { *__errno_location() = 1; }\n"),
            ("c.c", "int *__errno_location(void);\nint h(void) { return *__errno_location(); }\n"),
        ],
        expect![[r#"
            thread_local errno: int
            g(): void
              errno = 1
            main(): int
              g()
              return 0
            h(): int
              return [errno]
        "#]],
    );
}
