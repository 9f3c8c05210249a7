//! `cargo xtask`: what developers of pdnet do beside building and testing it.
//!
//! It knows pdnet only as a program that is started: its options, its exit codes and its JSON.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command that prints")]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod corpus;

/// Tasks of pdnet's developers.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Corpus(corpus::CorpusArgs),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().command {
        Command::Corpus(args) => corpus::corpus(&args),
    }
}
