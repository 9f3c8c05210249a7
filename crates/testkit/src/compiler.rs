//! The system's C compiler, where there is one. Tests that need it pass over themselves where there is none.

use std::fmt;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// A C compiler that understands the options of gcc.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: String,
}

/// What the compiler, or the program that it made, says when something goes wrong.
#[derive(Clone, Debug)]
pub struct CompileError {
    /// What was being done.
    pub action: &'static str,
    /// Its own words.
    pub output: String,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.action, self.output)
    }
}

impl std::error::Error for CompileError {}

impl Compiler {
    /// The compiler that the variable `CC` names, or the first of the usual ones.
    #[must_use]
    pub fn find() -> Option<Self> {
        let named = std::env::var("CC").ok().filter(|name| !name.is_empty());
        let candidates = named.into_iter().chain(["cc", "gcc", "clang"].map(str::to_owned));
        let works = |program: &String| {
            let mut command = Command::new(program);
            let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        candidates.into_iter().find(works).map(|program| Self { program })
    }

    /// The compiler as a command, for what the other methods do not do.
    #[must_use]
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// Whether it accepts the text; warnings are given back and are no error.
    ///
    /// # Errors
    /// Its messages, where it does not.
    pub fn accepts(&self, text: &str) -> Result<String, CompileError> {
        let mut command = Command::new(&self.program);
        command.args(["-std=gnu11", "-Wall", "-x", "c", "-fsyntax-only", "-"]);
        run(command, text, "the compiler").map(|(_, messages)| messages)
    }

    /// Compiles a program with the given options, runs it, and gives back its exit code: none where a signal
    /// ended it.
    ///
    /// # Errors
    /// Where it does not compile.
    pub fn status(&self, text: &str, options: &[&str]) -> Result<Option<i32>, CompileError> {
        let failed = |error: std::io::Error| CompileError { action: "running", output: error.to_string() };
        let directory = tempfile::tempdir().map_err(failed)?;
        let binary = directory.path().join("program");
        let mut command = Command::new(&self.program);
        command.args(["-std=gnu11", "-x", "c"]).args(options).arg("-o").arg(&binary).arg("-");
        run(command, text, "the compiler")?;
        let mut command = Command::new(&binary);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().map(|status| status.code()).map_err(failed)
    }

    /// Compiles a program with the given options, runs it, and gives back what it prints.
    ///
    /// # Errors
    /// Where it does not compile, or does not end with success.
    pub fn run(&self, text: &str, options: &[&str]) -> Result<String, CompileError> {
        let failed = |error: std::io::Error| CompileError { action: "writing", output: error.to_string() };
        let directory = tempfile::tempdir().map_err(failed)?;
        let binary = directory.path().join("program");
        let mut command = Command::new(&self.program);
        command.args(["-std=gnu11", "-x", "c"]).args(options).arg("-o").arg(&binary).arg("-");
        run(command, text, "the compiler")?;
        run(Command::new(&binary), "", "the program").map(|(printed, _)| printed)
    }
}

/// Runs a command with this input; the result is what it prints, and its messages.
fn run(mut command: Command, input: &str, action: &'static str) -> Result<(String, String), CompileError> {
    let failed = |error: std::io::Error| CompileError { action, output: error.to_string() };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().expect("piped");
    // A program that reads nothing may be gone already; its status says whether that was right.
    let written = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().map_err(failed)?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        return Err(CompileError { action, output: format!("{}\n{messages}", output.status) });
    }
    if !input.is_empty() {
        written.map_err(failed)?;
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), messages))
}
