//! How a run of pdnet ends.

use std::io;
use std::process::ExitCode;

use clap::error::ErrorKind;
use pdnet_source::Diagnostic;

/// The exit codes, as CBMC has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// All properties hold; or there was nothing to check, and it was done.
    Success = 0,
    /// The command line is wrong, or the output could not be written.
    Usage = 1,
    /// The program, a formula or a property file was not accepted.
    Input = 2,
    /// No property is violated, and some are not known.
    Unknown = 5,
    /// A bug of ours.
    Bug = 6,
    /// Some property is violated.
    Violated = 10,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}

/// Why a command ended without a result.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input was not accepted.
    Input(Vec<Diagnostic>),
    /// We did something wrong: what, and details.
    Bug(String),
    /// Something could not be written: what, and why.
    Output(String, io::Error),
}

impl Failure {
    /// One diagnostic.
    pub(crate) fn input(diagnostic: Diagnostic) -> Self {
        Self::Input(vec![diagnostic])
    }

    /// The exit code.
    pub(crate) const fn status(&self) -> ExitStatus {
        match self {
            Self::Input(_) => ExitStatus::Input,
            Self::Bug(_) => ExitStatus::Bug,
            Self::Output(..) => ExitStatus::Usage,
        }
    }
}

/// Shows what the parser of the command line has to say: a complaint, or the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitStatus {
    // Where even this cannot be written, no one is listening.
    let _ = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitStatus::Success,
        _ => ExitStatus::Usage,
    }
}
