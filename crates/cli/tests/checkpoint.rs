//! Searches that are killed and go on: the answer and the number of states are those of a search that nobody has disturbed.
//!
//! `PDNET_KILLS` is the number of kills, for a longer test.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pdnet_base::Rng;
use tempfile::TempDir;

/// Some ten thousand states without reductions. The assertion is broken in the last of them only.
const PROGRAM: &str = "\
#include <pthread.h>
#include <assert.h>
int a, b, c;
void *one(void *arg) { for (int i = 0; i < 6; i++) a++; return 0; }
void *two(void *arg) { for (int i = 0; i < 6; i++) b++; return 0; }
void *three(void *arg) { for (int i = 0; i < 4; i++) c++; return 0; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_create(&t, 0, three, 0);
    assert(a + b + c < LIMIT);
    return 0;
}
";

fn pdnet(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdnet"));
    command.args(["check", "p.c", "--reduce", "none", "--progress", "never"]);
    command.args(args).current_dir(folder).env("NO_COLOR", "1").stderr(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// The exit code, the number of states, and the last line. How many states several workers have found when one of them finds a
/// violation is not the same each time.
fn result(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = pdnet(folder, args).output().expect("the command runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let is_complaint = |line: &&str| {
        let told = [
            ": a search goes on with ",
            ": cut behind what is whole: ",
            ": the search is kept: the same command",
        ];
        let is_told = told.iter().any(|text| line.contains(text));
        line.contains("kept") && !is_told
    };
    assert_eq!(stderr.lines().find(is_complaint), None, "{stderr}");
    let engine = text.lines().find(|line| line.contains(" engine: ")).unwrap_or_else(|| {
        panic!("no line of the engine in\n{text}{stderr}");
    });
    let ends_early = output.status.code() == Some(10) && args.contains(&"--threads");
    let states = if ends_early { "" } else { engine.split(',').next().unwrap_or("").trim() };
    (output.status.code(), states.to_owned(), text.lines().last().unwrap_or("").to_owned())
}

/// What is said beside the result.
fn told(folder: &Path, args: &[&str]) -> String {
    let output = pdnet(folder, args).output().expect("the command runs");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder_with(limit: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("p.c"), PROGRAM.replace("LIMIT", limit)).expect("a file in it");
    folder
}

/// What is searched for, and how. The first four are tried in each run of the tests; the formula that holds and the one that does not need
/// a search for cycles.
const SEARCHES: [&[&str]; 11] = [
    &["--check", "assert"],
    &["--ltl", "G(a == 7 -> F(b == 1))", "--fair", "weak"],
    &["--check", "assert", "--search", "dfs"],
    &["--check", "assert", "--preemptions", "3"],
    &["--ltl", "G(a == 7 -> F(b == 1))"],
    &["--ltl", "G(a + b + c == 16 -> F(b == 7))", "--fair", "strong"],
    &["--check", "partial-deadlock"],
    &["--check", "assert,deadlock", "--store", "hash-compact"],
    &["--check", "assert", "--store", "bitstate", "--memory", "64M"],
    &["--check", "assert", "--threads", "2"],
    &["--ltl", "G(a == 7 -> F(b == 1))", "--fair", "weak", "--threads", "2"],
];

#[test]
fn a_search_that_was_killed_goes_on() {
    let n_kills = std::env::var("PDNET_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let seed = Rng::test_seed(5);
    let mut rng = Rng::new(seed);
    let mut n_done = 0;
    for (limit, asked) in ["17", "16"].into_iter().cycle().zip(SEARCHES.into_iter().cycle()) {
        let folder = folder_with(limit);
        let wanted = result(folder.path(), asked);
        let mut n_of_this = 0;
        let kept = ["--checkpoint", "kept", "--resume", "--checkpoint-every", "20ms"];
        let kept = [asked, &kept[..]].concat();
        // One search is killed several times, at most.
        while n_done < n_kills && n_of_this < 5.min(n_kills / 4) {
            let mut child = pdnet(folder.path(), &kept).spawn().expect("the command runs");
            std::thread::sleep(Duration::from_millis(rng.below(400) as u64));
            let _ = child.kill();
            child.wait().expect("it has ended");
            n_done += 1;
            n_of_this += 1;
        }
        assert_eq!(result(folder.path(), &kept), wanted, "seed {seed}, limit {limit}, {asked:?}");
        // Nothing more is to be done then.
        assert_eq!(result(folder.path(), &kept), wanted, "seed {seed}, limit {limit}, {asked:?}");
        if n_done >= n_kills {
            break;
        }
    }
}

/// What is asked differs in one way after the other: nothing is searched, and what differs is named.
#[test]
fn a_file_about_another_question_is_refused() {
    let folder = folder_with("17");
    let kept = ["--checkpoint", "kept", "--resume"];
    let asked = [&kept[..], &["--ltl", "G(a == 7 -> F(b == 1))", "--states", "50"]].concat();
    assert_eq!(pdnet(folder.path(), &asked).output().expect("the command runs").status.code(), Some(5));
    let path = folder.path().join("kept");
    let whole = std::fs::read(&path).expect("the file");
    let other = PROGRAM.replace("LIMIT", "17").replace("c++", "c--");
    let programs = [PROGRAM.replace("LIMIT", "17"), other];
    for (program, args, phrase) in [
        (1, &["--ltl", "G(a == 7 -> F(b == 1))"][..], "it differs in the program"),
        (0, &["--ltl", "G(a == 8 -> F(b == 1))"], "it differs in the properties"),
        (0, &["--check", "assert"], "it differs in the properties"),
        (0, &["--ltl", "G(a == 7 -> F(b == 1))", "--depth", "5"], " with --depth 5` now"),
        (
            0,
            &["--ltl", "G(a == 7 -> F(b == 1))", "--fair", "weak"],
            "it differs in the properties and the fairness",
        ),
        (0, &["--ltl", "G(a == 7 -> F(b == 1))", "--slice", "net"], "it differs in the method of slicing"),
        (0, &["--ltl", "G(a == 7 -> F(b == 1))", "--search", "dfs"], "it differs in the order"),
        (0, &["--ltl", "G(a == 7 -> F(b == 1))", "--store", "bitstate"], "it differs in the store"),
        (
            0,
            &["--ltl", "G(a == 7 -> F(b == 1))", "--preemptions", "1"],
            "it differs in the bound on preemptions",
        ),
    ] {
        std::fs::write(folder.path().join("p.c"), &programs[program]).expect("a file");
        let output = pdnet(folder.path(), &[args, &kept[..]].concat()).output().expect("the command runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(phrase), "{args:?}: {stderr}");
        assert_eq!(std::fs::read(&path).expect("the file"), whole, "{args:?}");
    }
    // A limit of time that leaves no time to make the net is no other question, whether the file is there or not.
    for kept in [kept, ["--checkpoint", "new", "--resume"]] {
        let formula = ["--ltl", "G(a == 7 -> F(b == 1))"];
        for (limit, code) in [(["--timeout", "0"], 5), (["--states", "50"], 5)] {
            let output = pdnet(folder.path(), &[&kept[..], &formula, &limit].concat()).output();
            let output = output.expect("the command runs");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{stderr}");
            // Where there was no time for a search, none is kept.
            let has_search = kept[1] == "kept" || limit[0] == "--states";
            assert_eq!(stderr.contains("the search is kept"), has_search, "{kept:?} {limit:?}: {stderr}");
        }
    }
    // Limits and threads may be others.
    let other =
        [&kept[..], &["--ltl", "G(a == 7 -> F(b == 1))", "--states", "90", "--threads", "2"]].concat();
    assert_eq!(pdnet(folder.path(), &other).output().expect("the command runs").status.code(), Some(5));
}

/// The device takes nothing; the search goes on all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_lose_the_answer() {
    let folder = folder_with("17");
    let wanted = result(folder.path(), &["--check", "assert"]);
    let args = ["--check", "assert", "--checkpoint", "/dev/full", "--resume", "--checkpoint-every", "20ms"];
    let output = pdnet(folder.path(), &args).output().expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("`/dev/full`"), "{stderr}");
    // A file that may grow to some size only.
    let shell = format!(
        "ulimit -f 40; trap '' XFSZ; exec {} check p.c --reduce none --check assert --progress never --checkpoint kept \
         --checkpoint-every 20ms",
        env!("CARGO_BIN_EXE_pdnet")
    );
    let mut command = Command::new("sh");
    let output = command.args(["-c", &shell]).current_dir(folder.path()).output().expect("the command runs");
    let (text, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), wanted.0, "{text}{stderr}");
    assert!(stderr.contains("cannot write `kept`"), "{stderr}");
    assert_eq!(text.lines().last(), Some(wanted.2.as_str()));
    // What was kept before that can still be gone on with.
    assert_eq!(result(folder.path(), &["--check", "assert", "--checkpoint", "kept", "--resume"]), wanted);
}

/// A straight run breaks the assertion when the search has become large, and the search goes on for deadlocks.
#[test]
fn what_a_straight_run_has_found_is_not_lost() {
    let folder = folder_with("17");
    let program = PROGRAM.replace("a++; return 0;", "a++; assert(b < 14); return 0;").replace("LIMIT", "99");
    let program = program.replace("i < 6;", "i < 14;").replace("i < 4;", "i < 8;");
    std::fs::write(folder.path().join("p.c"), program).expect("a file");
    let kept =
        ["--check", "assert,deadlock", "--checkpoint", "kept", "--resume", "--checkpoint-every", "20ms"];
    let wanted = result(folder.path(), &kept);
    assert_eq!(wanted.2, "Verification result: FALSE (unreach-call)");
    assert_eq!(result(folder.path(), &kept), wanted);
}

#[test]
fn a_limit_that_is_raised_lets_the_search_go_on() {
    let folder = folder_with("17");
    for asked in &SEARCHES[..4] {
        let _ = std::fs::remove_file(folder.path().join("kept"));
        let wanted = result(folder.path(), asked);
        let kept = [asked, &["--checkpoint", "kept", "--resume"][..]].concat();
        let limited = result(folder.path(), &[&kept[..], &["--states", "3000"]].concat());
        assert_eq!(limited.2, "Verification result: UNKNOWN (state limit 3000)", "{asked:?}");
        let told = told(folder.path(), &[&kept[..], &["--states", "4000"]].concat());
        assert!(told.contains("`kept`: a search goes on with "), "{asked:?}: {told}");
        assert_eq!(result(folder.path(), &kept), wanted, "{asked:?}");
    }
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    let folder = folder_with("17");
    for (name, content, args, phrase) in [
        ("mine.txt", "my notes", &["--checkpoint", "mine.txt"][..], "is there already"),
        ("mine.txt", "my notes", &["--checkpoint", "mine.txt", "--resume"], "is no checkpoint of pdnet"),
        ("mine.txt", "my notes", &["--checkpoint", "."], "`.` is no file that a search can be kept in"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).expect("a file");
        let output = pdnet(folder.path(), args).output().expect("the command runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains(phrase), "{args:?}: {stderr}");
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), content);
    }
}

#[test]
fn what_is_damaged_is_found_again() {
    let folder = folder_with("17");
    let wanted = result(folder.path(), &["--check", "assert"]);
    let kept = ["--check", "assert", "--checkpoint", "kept", "--resume", "--checkpoint-every", "20ms"];
    let limited = [&kept[..], &["--states", "12000"]].concat();
    result(folder.path(), &limited);
    let path = folder.path().join("kept");
    let whole = std::fs::read(&path).expect("the file");
    for (name, damaged) in [
        ("cut", whole[..whole.len() * 2 / 3].to_vec()),
        ("one byte", {
            let mut damaged = whole.clone();
            damaged[whole.len() / 2] ^= 1;
            damaged
        }),
        ("more behind", [&whole[..], b"xyz"].concat()),
    ] {
        std::fs::write(&path, damaged).expect("a file");
        let told = told(folder.path(), &[&kept[..], &["--states", "1"]].concat());
        assert!(told.contains("`kept`: cut behind what is whole: "), "{name}: {told}");
        assert_eq!(result(folder.path(), &kept), wanted, "{name}");
    }
}
