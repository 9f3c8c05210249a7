//! Real files through the real preprocessor. Without a C compiler these tests do nothing.

mod support;

use std::path::Path;

use expect_test::{Expect, expect};
use pdnet_front_c::types::{DataModel, IntKind, Type};
use pdnet_front_c::{Options, dump, load};
use pdnet_source::SourceMap;

fn has_compiler() -> bool {
    std::process::Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Writes the files, loads the first one, and shows the tree or the diagnostics.
fn loaded(files: &[(&str, &[u8])], options: &Options, show_tree: bool) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    let mut map = SourceMap::new();
    let path = folder.path().join(files.first().map_or("missing.c", |(name, _)| name));
    let text = match load(&mut map, &path, options) {
        Ok(loaded) if show_tree => dump(&loaded.program),
        Ok(loaded) => support::rendered(&map, &loaded.warnings),
        Err(diagnostics) => support::rendered(&map, &diagnostics),
    };
    text.replace(&format!("{}/", folder.path().display()), "")
}

#[track_caller]
fn assert_loaded(files: &[(&str, &str)], expected: Expect) {
    if has_compiler() {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
        expected.assert_eq(&loaded(&files, &Options::default(), false));
    }
}

#[test]
fn our_headers_take_the_place_of_the_systems() {
    if !has_compiler() {
        return;
    }
    let program = r#"#include <pthread.h>
#include <assert.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <threads.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; sem_t s; atomic_int a = ATOMIC_VAR_INIT(2); atomic_flag f = ATOMIC_FLAG_INIT;
pthread_barrier_t b; pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER; pthread_once_t once = PTHREAD_ONCE_INIT; mtx_t mtx;
static thread_local int t;
void *run(void *x) { pthread_mutex_lock(&m); assert(a == 2); mtx_lock(&mtx); return NULL; }
int main(void) { pthread_t id; pthread_create(&id, NULL, run, 0); atomic_flag_test_and_set(&f); atomic_fetch_add(&a, 1); return 0; }
"#;
    let text = loaded(&[("a.c", program.as_bytes())], &Options::default(), true);
    let ours: Vec<&str> = text.lines().filter(|line| !line.starts_with("extern")).collect();
    expect![[r#"
        m: pthread_mutex_t = default
        s: sem_t
        a: _Atomic int = 2
        f: struct #20 = {.0 = 0:_Bool}
        b: pthread_barrier_t
        rw: pthread_rwlock_t = default
        once: pthread_once_t = default
        mtx: pthread_mutex_t
        thread_local t: int
        run(x: void *): void *
          pthread_mutex_lock(&m)
          __pdnet_assert((_Bool)([a] == 2))
          mtx_lock(&mtx)
          return (void *)0
        main(): int
          var id: pthread_t
          pthread_create(&id, (pthread attribute object *)0, &run, (void *)0)
          atomic_exchange(&f.pdnet_value, 1:_Bool)
          atomic_fetch_add(&a, 1)
          return 0"#]]
    .assert_eq(&ours.join("\n"));
}

#[test]
fn places_are_exact_around_macros() {
    assert_loaded(
        &[(
            "a.c",
            "#define SET(v, e) do { v = (e); } while (0)\n#define ONE 1\nint x;\nint main(void) {\n  SET( x ,  y  + ONE );\n\tx =   /* note */ ONE+z;\n  SET(x,\n      w);\n}\n",
        )],
        expect![[r#"
            error[undeclared-name]: `y` is not declared
             --> a.c:5:13
              |
            5 |   SET( x ,  y  + ONE );
              |             ^ not found
              |
              = help: declare it before its first use
            error[undeclared-name]: `z` is not declared
             --> a.c:6:23
              |
            6 |     x =   /* note */ ONE+z;
              |                          ^ not found
              |
              = help: declare it before its first use
            error[undeclared-name]: `w` is not declared
             --> a.c:8:7
              |
            8 |       w);
              |       ^ not found
              |
              = help: declare it before its first use
        "#]],
    );
}

#[test]
fn mistakes_in_headers_point_into_the_header() {
    assert_loaded(
        &[
            ("a.c", "#include \"b.h\"\nint main(void) { return f(); }\n"),
            ("b.h", "// comment\nint f(void) { return y; }\n"),
        ],
        expect![[r#"
            error[undeclared-name]: `y` is not declared
             --> b.h:2:22
              |
            2 | int f(void) { return y; }
              |                      ^ not found
              |
              = help: declare it before its first use
        "#]],
    );
}

#[test]
fn a_missing_header() {
    assert_loaded(
        &[("a.c", "#include \"nothere.h\"\nint main(void) { }\n")],
        expect![[r#"
        error[missing-include]: cannot find the header `nothere.h`
         --> a.c:1:10
          |
        1 | #include "nothere.h"
          |          ^^^^^^^^^^^ not found
          |
          = help: give its folder with `-I`, or install the library that has it
          = help: or preprocess the file where the header is, and give the `.i` file
    "#]],
    );
}

#[test]
fn an_error_directive() {
    assert_loaded(
        &[("a.c", "int x;\n#error not for you\n")],
        expect![[r#"
        error[preprocessor-error]: #error not for you
         --> a.c:2:2
          |
        2 | #error not for you
          |  ^^^^^^^^^^^^^^^^^ reported by the C preprocessor
    "#]],
    );
}

#[test]
fn a_file_that_is_not_there() {
    let mut map = SourceMap::new();
    let diagnostics = load(&mut map, Path::new("no/such/file.c"), &Options::default()).expect_err("refused");
    expect![[r#"
        error[missing-file]: there is no file `no/such/file.c`
         |
         = help: check the path; it is taken relative to the current directory
    "#]]
    .assert_eq(&support::rendered(&map, &diagnostics));
}

#[test]
fn files_that_are_no_programs() {
    let options = Options::default();
    expect![[r#"
        error[binary-file]: `zero.c` is not a text file
         |
         = note: byte 3 is zero
         = help: give a C source file (`.c`) or a preprocessed one (`.i`)
    "#]]
    .assert_eq(&loaded(&[("zero.c", b"int\0main")], &options, false));
    expect![[r#"
        error[no-main]: `empty.c` is empty
         --> empty.c:1:1
          |
        1 |
          | ^ no function `main` here
          |
          = help: give a C program with a function `main`
    "#]]
    .assert_eq(&loaded(&[("empty.c", b"")], &options, false));
}

#[test]
fn other_encodings_and_line_ends_are_accepted() {
    if has_compiler() {
        let text = loaded(
            &[("a.c", b"/* \xe9 */ int x;\r\nint main(void)\r\n{ x = 1; return 0; }\r\n")],
            &Options::default(),
            true,
        );
        assert_eq!(text, "x: int\nmain(): int\n  x = 1\n  return 0\n");
    }
}

#[test]
fn without_a_compiler_there_is_advice() {
    let options = Options { preprocessor: Some("no-such-compiler".to_owned()), ..Options::default() };
    expect![[r#"
        error[no-preprocessor]: no C compiler was found (tried `no-such-compiler`)
         |
         = note: pdnet lets a C compiler run the preprocessor
         = help: install gcc or clang, or set CC
         = help: or give a preprocessed file: `cc -E program.c > program.i` on another machine
    "#]]
    .assert_eq(&loaded(&[("a.c", b"int main(void) { }")], &options, false));
    // A preprocessed file needs none.
    assert_eq!(loaded(&[("a.i", b"int main(void) { }")], &options, true), "main(): int\n");
}

#[test]
fn options_reach_the_preprocessor() {
    if !has_compiler() {
        return;
    }
    let options =
        Options { defines: vec!["N=3".to_owned()], data_model: DataModel::Ilp32, ..Options::default() };
    let program = "#include <stdint.h>\n#include <limits.h>\nint a[N]; long m = LONG_MAX; int64_t w;\nint main(void) { return sizeof(long); }";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.c");
    std::fs::write(&path, program).expect("written");
    let mut map = SourceMap::new();
    let loaded = load(&mut map, &path, &options)
        .unwrap_or_else(|diagnostics| panic!("{}", support::rendered(&map, &diagnostics)));
    let find = |name: &str| {
        loaded.program.variables.iter().find(|data| data.name == name).expect("declared").clone()
    };
    assert_eq!(find("w").ty.ty, Type::Int(IntKind::LongLong));
    assert!(matches!(find("a").ty.ty, Type::Array(_, Some(3))));
    let text = dump(&loaded.program);
    assert!(text.contains("m: long = 2147483647:long"), "{text}");
    assert!(text.contains("return 4"), "{text}");
}

#[test]
fn assertions_in_comments_go_through_the_preprocessor() {
    assert_loaded(
        &[
            (
                "a.c",
                "#include \"b.h\"\n#define LIMIT (2 + z)\nint x;\nint main(void) {\n#if 0\n  //@ assert nothing;\n#endif\n  x = FROM_B; //@ assert x < LIMIT;\n  /*@ assert x == y\n    @     && __LINE__ == 10; */ x = w;\n}\n",
            ),
            ("b.h", "#define FROM_B 1\n//@ assert x;\n//@ check assert\n"),
        ],
        expect![[r#"
            error[undeclared-name]: `z` is not declared
             --> a.c:8:30
              |
            8 |   x = FROM_B; //@ assert x < LIMIT;
              |                              ^^^^^ not found
              |
              = help: declare it before its first use
            error[undeclared-name]: `y` is not declared
             --> a.c:9:19
              |
            9 |   /*@ assert x == y
              |                   ^ not found
              |
              = help: declare it before its first use
            error[undeclared-name]: `w` is not declared
              --> a.c:10:37
               |
            10 |     @     && __LINE__ == 10; */ x = w;
               |                                     ^ not found
               |
               = help: declare it before its first use
            error[unread-annotation]: annotations in headers are not read
             --> b.h:2:1
              |
            2 | //@ assert x;
              | ^^^^^^^^^^^^^ not checked
              |
              = help: call `assert` of <assert.h> instead
            warning[unread-annotation]: annotations in headers are not read
             --> b.h:3:1
              |
            3 | //@ check assert
              | ^^^^^^^^^^^^^^^^ not checked
              |
              = help: move it to a `.c` file
        "#]],
    );
    assert_loaded(
        &[("a.c", "#include \"nothere.h\"\nint main(void) { //@ assert 1;\n}\n")],
        expect![[r#"
            error[missing-include]: cannot find the header `nothere.h`
             --> a.c:1:10
              |
            1 | #include "nothere.h"
              |          ^^^^^^^^^^^ not found
              |
              = help: give its folder with `-I`, or install the library that has it
              = help: or preprocess the file where the header is, and give the `.i` file
        "#]],
    );
}
