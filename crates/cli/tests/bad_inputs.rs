//! Bad inputs get a diagnostic with file, line and caret, and exit code 2; never a panic.

use std::path::Path;
use std::process::Command;

struct BadInput {
    name: &'static str,
    program: Vec<u8>,
    formula: Option<&'static str>,
    /// Words that the diagnostic must contain: its id, the position, the advice.
    expected: &'static [&'static str],
    /// Whether there is a line of text to point at.
    has_caret: bool,
}

fn with_program(name: &'static str, program: &str, expected: &'static [&'static str]) -> BadInput {
    BadInput { name, program: program.as_bytes().to_vec(), formula: None, expected, has_caret: true }
}

fn with_formula(name: &'static str, formula: &'static str, expected: &'static [&'static str]) -> BadInput {
    let program = b"int counter; int main(void) { counter = 1; return 0; }\n".to_vec();
    BadInput { name, program, formula: Some(formula), expected, has_caret: true }
}

fn bad_inputs() -> Vec<BadInput> {
    let nested = format!("int main(void) {{\n  return {}1{};\n}}\n", "(".repeat(5000), ")".repeat(5000));
    let nested_formula: &'static str =
        Box::leak(format!("{}p{}", "(".repeat(5000), ")".repeat(5000)).into_boxed_str());
    vec![
        with_program(
            "a syntax error",
            "int main(void) {\n  int x = ;\n  return 0;\n}\n",
            &["syntax-error", "input.c:2:11"],
        ),
        with_program(
            "an unknown function",
            "int frobnicate(int);\nint main(void) {\n  return frobnicate(1);\n}\n",
            &["unknown-function", "input.c:3:10", "frobnicate"],
        ),
        with_program(
            "inline assembly",
            "int main(void) {\n  __asm__ volatile(\"nop\");\n  return 0;\n}\n",
            &["unsupported", "input.c:2:3", "inline assembly"],
        ),
        with_program(
            "a missing include",
            "#include <no/such/header.h>\nint main(void) { return 0; }\n",
            &["missing-include", "input.c:1:"],
        ),
        BadInput {
            name: "an empty file",
            program: Vec::new(),
            formula: None,
            expected: &["no-main", "input.c"],
            has_caret: false,
        },
        BadInput {
            name: "a binary file",
            program: (0..2000u32)
                .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
                .chain([0, 1, 2])
                .collect(),
            formula: None,
            expected: &["binary-file", "input.c"],
            has_caret: false,
        },
        with_formula("an unknown atom", "G !frozen(main)", &["<--ltl>:1:", "frozen"]),
        with_formula(
            "a misspelt variable",
            "F conuter == 1",
            &["unknown-name", "<--ltl>:1:3", "did you mean `counter`?"],
        ),
        with_formula(
            "X in a formula",
            "G (counter == 0 -> X counter == 1)",
            &["next-operator", "<--ltl>:1:20", "--reduce none"],
        ),
        with_program("5,000 nested parentheses", &nested, &["nesting-too-deep", "input.c:2:"]),
        with_formula(
            "5,000 nested parentheses in a formula",
            nested_formula,
            &["formula-too-deep", "<--ltl>:1:"],
        ),
        with_program("no main", "int f(void) { return 0; }\n", &["no-main"]),
        with_program(
            "an undeclared variable",
            "int count;\nint main(void) { return cuont; }\n",
            &["undeclared-name", "input.c:2:25", "did you mean `count`?"],
        ),
    ]
}

fn run(folder: &Path, input: &BadInput) -> (Option<i32>, String) {
    let file = folder.join("input.c");
    std::fs::write(&file, &input.program).expect("a temporary file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.current_dir(folder).args(["check", "input.c", "--color", "never"]);
    if let Some(formula) = input.formula {
        command.args(["--ltl", formula]);
    }
    let output = command.output().expect("pdnet runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn bad_inputs_get_a_diagnostic_and_code_2() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for input in bad_inputs() {
        let (code, errors) = run(folder.path(), &input);
        let name = input.name;
        assert_eq!(code, Some(2), "{name}\n{errors}");
        assert!(errors.starts_with("error["), "{name}\n{errors}");
        for expected in input.expected {
            assert!(errors.contains(expected), "{name}: no `{expected}`\n{errors}");
        }
        assert!(!input.has_caret || errors.contains('^'), "{name}: no caret\n{errors}");
        assert!(!errors.contains("panicked"), "{name}\n{errors}");
    }
}
