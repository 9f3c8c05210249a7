//! The command `pdnet`: arguments, the pipeline from a file to a verdict, exit codes.
//!
//! This is the only room that prints, reads the environment, opens files on behalf of the user (the C front
//! end reads the program itself) and knows the command line. What is said, and how it looks, is made in
//! the room `report`; here it is only written out.

#![forbid(unsafe_code)]

mod args;
mod atomize;
mod automaton;
mod bug;
mod cache;
mod checkpoint;
mod checks;
mod engine;
mod exit;
mod front;
mod inputs;
mod job;
mod memory;
mod models;
mod net;
mod patience;
mod pipeline;
mod progress;
mod promela;
mod properties;
mod question;
mod reductions;
mod session;
mod settle;
mod slice;
mod slicing;
mod task;
mod trail;
mod units;
mod witness;

use std::cell::RefCell;
use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Cli, Command};
use crate::checkpoint::Checkpoint;
use crate::exit::ExitStatus;
use crate::session::Session;

/// Trees of programs and formulas are walked by recursion; the memory is only touched as far as needed.
const STACK_SIZE: usize = 256 << 20;

fn main() -> ExitCode {
    bug::install_panic_hook();
    let worker = std::thread::Builder::new().stack_size(STACK_SIZE).spawn(run);
    let status = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(status)) => status,
        // The hook has told the user.
        Ok(Err(_)) => ExitStatus::Bug,
        Err(error) => session::complain(&format!("cannot start a thread: {error}")),
    };
    status.into()
}

/// Reads the command line and does what it says.
fn run() -> ExitStatus {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    if let Command::Check(args) = &cli.command
        && let Err(error) = args.limits.agree()
    {
        return exit::usage(&error);
    }
    let mut session = Session::new(cli.color);
    let result = match &cli.command {
        Command::Check(args) => {
            if let Some(path) = &args.checkpoint {
                match Checkpoint::open(path, args.resume, args.checkpoint_every) {
                    Ok(checkpoint) => session.checkpoint = Some(RefCell::new(checkpoint)),
                    Err(text) => return session::complain(&text),
                }
            }
            let engine = engine::engine(&args.reduce, &args.limits);
            pipeline::check(args, &mut session, engine.as_ref())
        }
        Command::Slice(args) => slice::print_slice(args, &mut session),
        Command::Atomize(args) => atomize::print_atomized(args, &mut session),
        Command::Promela(args) => promela::print_promela(args, &mut session),
        Command::Net(args) => net::print_net(args, &mut session),
        Command::Automaton(args) => automaton::print_automaton(args, &mut session),
    };
    result.unwrap_or_else(|failure| session.fail(&failure))
}
