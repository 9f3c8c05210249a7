//! `pdnet promela` on the examples: SPIN's answers are pdnet's.

use std::path::PathBuf;
use std::process::Command;

use pdnet_testkit::Spin;

/// A file, what is asked, and the options of SPIN's verifier that ask the same; with the expected answer, true where it
/// is violated.
type Row = (&'static str, &'static [&'static str], &'static [&'static str], bool);

const SAFETY: &[&str] = &["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=8192"];
const CLAIMS: &[&str] = &["-DNOREDUCE", "-DVECTORSZ=8192"];

const ROWS: &[Row] = &[
    ("account_fields.c", &[], &["-a", "-N", "p_none_lost"], true),
    ("account_fields.c", &[], &["-a", "-N", "p_arrives"], false),
    ("atomic_sections.c", &[], &["-E"], false),
    ("bounded_buffer.c", &["--check", "assert,deadlock"], &[], false),
    ("bounded_buffer.c", &["--ltl", "G (0 <= count && count <= 2)"], &["-a", "-N", "p_ltl_1"], false),
    ("dining_philosophers.c", &["--check", "deadlock"], &["-A"], true),
    ("ordered_philosophers.c", &["--check", "deadlock"], &["-A"], false),
    ("locked_counter.c", &["--check", "assert"], &["-E"], false),
    ("lost_update.c", &["--check", "assert"], &["-E"], true),
    ("lost_wakeup.c", &["--check", "deadlock"], &["-A"], true),
    ("peterson.c", &["--ltl", "G !(inside0 == 1 && inside1 == 1)"], &["-a", "-N", "p_ltl_1"], false),
    (
        "peterson_wrong_order.c",
        &["--ltl", "G !(inside0 == 1 && inside1 == 1)"],
        &["-a", "-N", "p_ltl_1"],
        true,
    ),
    ("impatient_main.c", &["--ltl", "G (started == 1 -> F saved == 1)"], &["-a", "-N", "p_ltl_1"], true),
    ("starting_gate.c", &["--ltl", "F end"], &["-a", "-N", "p_ltl_1"], false),
    ("starting_gate.c", &["--check", "deadlock"], &["-A"], false),
    ("struct_queue.c", &["--check", "assert,deadlock"], &[], false),
    ("use_after_free.c", &["--check", "memory"], &["-E"], true),
];

fn example(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(file)
}

fn pdnet(command: &str, file: &str, arguments: &[&str]) -> std::process::Output {
    let mut pdnet = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    pdnet.arg(command).arg(example(file)).args(arguments).output().expect("pdnet runs")
}

#[test]
fn spin_agrees_on_the_examples() {
    let Some(spin) = Spin::find() else { return };
    for (file, arguments, options, is_violated) in ROWS {
        let output = pdnet("promela", file, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{file}: {errors}");
        let model = String::from_utf8_lossy(&output.stdout);
        let is_claim = options.contains(&"-N");
        let (define, compile) = if is_claim { (&["-DONLY_LTL"][..], CLAIMS) } else { (&[][..], SAFETY) };
        let runs = spin
            .verify(&model, define, compile, &[options])
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(runs[0].errors > 0, *is_violated, "{file} {arguments:?}:\n{}", runs[0].output);
        // A formula of several is asked about alone.
        if !arguments.is_empty() {
            let code = pdnet("check", file, arguments).status.code();
            assert_eq!(code, Some(if *is_violated { 10 } else { 0 }), "{file} {arguments:?}");
        }
    }
}

#[test]
fn what_spin_cannot_be_asked_is_said() {
    let output = pdnet("promela", "lost_update.c", &["--check", "assert,race"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("`race` is left out of the model"), "{said}");
    let output = pdnet("promela", "lost_update.c", &["--check", "race"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("none of the properties"), "{said}");
    let output = pdnet("promela", "lost_update.c", &["--ltl", "G !deadlock"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the atom `deadlock`") && said.contains("--check deadlock"), "{said}");
}

#[test]
fn wide_numbers_are_refused_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wide.c");
    let text = "#include <assert.h>\nlong total = 1;\n\
                int main(void) { while (total != 0) total = total * 3; assert(total == 1); }\n";
    std::fs::write(&file, text).expect("written");
    let mut pdnet = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    let output = pdnet.arg("promela").arg(&file).args(["--check", "assert"]).output().expect("pdnet runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("`total`") && said.contains("32 bits"), "{said}");
}

#[test]
fn a_model_is_not_read_as_c() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    let output = command.arg("promela").arg(example("peterson.pml")).output().expect("pdnet runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("error[already-promela]") && errors.contains("pdnet atomize"), "{errors}");
}
