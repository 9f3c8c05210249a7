//! SPIN, where it is installed. Tests that need it pass over themselves where it is not.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::{CompileError, Compiler};

/// SPIN and a C compiler for its verifiers.
#[derive(Clone, Debug)]
pub struct Spin {
    compiler: Compiler,
}

/// What a run of a verifier came to.
#[derive(Clone, Debug)]
pub struct SpinRun {
    /// How many errors it found.
    pub errors: u64,
    /// How many states it stored.
    pub states: u64,
    /// All that it said.
    pub output: String,
}

/// The depth of a search: a deeper one is an error, never an answer.
const DEPTH: &str = "-m1000000";

impl Spin {
    /// SPIN, if it and a C compiler are there. Says so where they are not.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "a test that did nothing must say so")]
    pub fn find() -> Option<Self> {
        let mut command = Command::new("spin");
        let command = command.arg("-V").stdout(Stdio::null()).stderr(Stdio::null());
        let works = command.status().is_ok_and(|status| status.success());
        let found = Compiler::find().filter(|_| works).map(|compiler| Self { compiler });
        if found.is_none() {
            eprintln!("skipped: SPIN and a C compiler are not both installed");
        }
        found
    }

    /// Makes a verifier of a model with these definitions for SPIN and these options of the compiler, and runs it once
    /// with each of these lists of options.
    ///
    /// # Errors
    /// Where SPIN or the compiler refuse, or where a search did not come to its end.
    pub fn verify(
        &self,
        model: &str,
        definitions: &[&str],
        options: &[&str],
        runs: &[&[&str]],
    ) -> Result<Vec<SpinRun>, CompileError> {
        let failed = |error: std::io::Error| CompileError { action: "writing", output: error.to_string() };
        let directory = tempfile::tempdir().map_err(failed)?;
        let folder = directory.path();
        std::fs::write(folder.join("model.pml"), model).map_err(failed)?;
        output(folder, Command::new("spin").args(definitions).args(["-a", "model.pml"]), "spin -a")?;
        let mut compile = self.compiler.command();
        compile.args(["-O0", "-w", "-fwrapv", "-o", "pan", "pan.c"]).args(options);
        output(folder, &mut compile, "the compiler")?;
        let mut found = Vec::new();
        for run in runs {
            let said =
                output(folder, Command::new(folder.join("pan")).arg(DEPTH).args(*run), "the verifier")?;
            found.push(read(said)?);
        }
        Ok(found)
    }
}

/// Runs a command in a folder; what it prints.
fn output(folder: &Path, command: &mut Command, action: &'static str) -> Result<String, CompileError> {
    let failed = |error: std::io::Error| CompileError { action, output: error.to_string() };
    let output = command.current_dir(folder).stdin(Stdio::null()).output().map_err(failed)?;
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said += &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(said) } else { Err(CompileError { action, output: said }) }
}

/// The numbers in what a verifier prints.
fn read(output: String) -> Result<SpinRun, CompileError> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let errors = output.lines().find_map(|line| number(line.rsplit_once("errors: ")?.1));
    let states = output.lines().find_map(|line| number(line.split_once(" states, stored")?.0));
    let is_whole = !output.contains("max search depth too small") && !output.contains("out of memory");
    match (errors, states) {
        (Some(errors), Some(states)) if is_whole => Ok(SpinRun { errors, states, output }),
        _ => Err(CompileError { action: "the verifier", output }),
    }
}
