//! What was typed. What it means is found out by the commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::units::{parse_bytes, parse_count, parse_duration};

const AFTER_HELP: &str = "\
Examples:
  pdnet check counter.c                          the properties in its comments, or the default checks
  pdnet check counter.c --check assert,deadlock
  pdnet check peterson.c --ltl 'G(flag1 == 1 -> F(crit == 1))' --fair weak
  pdnet check task.c --prp unreach-call.prp --format json --timeout 5m --memory 4G
  pdnet net counter.c --format dot | dot -Tsvg > counter.svg
  pdnet automaton 'G(p -> F q)' --format hoa

Exit codes:
   0  all properties hold                         1  the command line is wrong
  10  some property is violated                   2  the input is not accepted
   5  none is violated, some are not known        6  a bug in pdnet

The last line of `check` is one of
  Verification result: TRUE
  Verification result: FALSE (valid-ltl)
  Verification result: UNKNOWN (memory limit 4 GiB)";

/// A model checker for multi-threaded C programs: LTL properties, assertions, deadlocks.
#[derive(Debug, Parser)]
#[command(name = "pdnet", version, after_help = AFTER_HELP, arg_required_else_help = true, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Use colors.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub(crate) color: When,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check properties of a program.
    ///
    /// Properties come from the options --ltl, --prp and --check; where none of them is given, from
    /// comments `//@ ltl NAME: FORMULA` and `//@ check NAMES` in the program; where there are none either,
    /// the checks assert and deadlock are done. For each property there is one answer: it holds, it is
    /// violated by a run that is shown, or it is not known, with the reason.
    Check(CheckArgs),
    /// Print the net of a program.
    Net(NetArgs),
    /// Print the automaton of a formula.
    Automaton(AutomatonArgs),
}

/// `pdnet check`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArgs {
    /// The program: a C file (.c), or a preprocessed one (.i).
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) properties: PropertyArgs,
    /// Which infinite runs count for formulas.
    ///
    /// All of them (none); those in which a thread that can move from some point on, moves (weak); those in
    /// which a thread that can move again and again, moves again and again (strong).
    #[arg(long, value_enum, default_value_t = Fair::None, value_name = "FAIRNESS", help_heading = "Properties")]
    pub(crate) fair: Fair,
    #[command(flatten)]
    pub(crate) front: FrontArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Which reductions to use.
    ///
    /// There is one, `local-first`: steps that no other thread can notice are taken at once, so that their
    /// order makes no states. Verdicts are the same without it; runs to assertions and deadlocks are then
    /// shortest. A formula with the operator X is accepted only with `none`, since reductions do not preserve it.
    #[arg(long, value_enum, default_value_t = Reduce::All, value_name = "WHICH", help_heading = "Search")]
    pub(crate) reduce: Reduce,
    /// How to print the result: for people, or as one JSON object.
    #[arg(long, value_enum, default_value_t = ResultFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: ResultFormat,
    /// Print nothing but the result and errors.
    ///
    /// The result is the last line; with --format json, the object.
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Show the progress of a long search on standard error.
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(crate) progress: When,
}

/// Which properties.
#[derive(Debug, Args)]
#[command(next_help_heading = "Properties")]
pub(crate) struct PropertyArgs {
    /// A formula of linear temporal logic over the program; repeatable.
    ///
    /// For example `G(x == 1 -> F(y == 2))`. Atoms are C expressions over globals, `func::local`, `call(f)`,
    /// `at(func, LABEL)`, `terminated(func)`, `end`, `holds(func, m)`, `waiting(func, c)`, `deadlock`.
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,
    /// A property file of SV-COMP; repeatable.
    ///
    /// Its lines are `CHECK( init(main()), LTL(FORMULA) )`.
    #[arg(long, value_name = "FILE")]
    pub(crate) prp: Vec<PathBuf>,
    /// Built-in checks: assert, deadlock, arithmetic, memory, locks; separated by commas.
    ///
    /// assert: assertions, and calls of reach_error. deadlock: no thread can move and the process has not
    /// ended. arithmetic: division by zero. memory: accesses outside of objects. locks: misuse of mutexes and threads.
    #[arg(long, value_name = "NAMES")]
    pub(crate) check: Vec<String>,
}

impl PropertyArgs {
    /// Whether the user asked for something.
    pub(crate) const fn is_empty(&self) -> bool {
        self.ltl.is_empty() && self.prp.is_empty() && self.check.is_empty()
    }
}

/// How to read the program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct FrontArgs {
    /// What is one step: an access to a shared location, or a whole statement.
    ///
    /// The latter misses lost updates inside of a statement; it is there to compare with tools that work so.
    #[arg(long, value_enum, default_value_t = Atomicity::Access, value_name = "STEP")]
    pub(crate) atomicity: Atomicity,
    /// Let a thread that waits on a condition variable wake up without a signal, as POSIX allows.
    #[arg(long)]
    pub(crate) spurious_wakeups: bool,
    /// The sizes of the types: long and pointers have 64 bits (LP64) or 32 (ILP32).
    #[arg(long, value_enum, ignore_case = true, default_value_t = DataModel::Lp64, value_name = "MODEL")]
    pub(crate) data_model: DataModel,
    /// A folder with headers; repeatable.
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include_dirs: Vec<PathBuf>,
    /// Define a macro; repeatable.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// The largest number of threads, main included; at most 64.
    ///
    /// A run that would create more is not followed, and makes the answer unknown.
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) max_threads: u32,
    /// The largest depth of calls.
    ///
    /// A run that calls deeper is not followed, and makes the answer unknown.
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) depth: u32,
}

/// When to give up. That is an ordinary outcome: unknown, with what was found up to then.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct LimitArgs {
    /// Stop after this time: seconds, or with a unit as in 500ms, 10s, 5m, 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Stop when states and search take this much memory, as in 500M, 4G, 4GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Stop after this many states, as in 100000, 5M.
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(crate) states: Option<u64>,
}

/// `pdnet net`.
#[derive(Debug, Args)]
pub(crate) struct NetArgs {
    /// The program: a C file (.c), or a preprocessed one (.i).
    pub(crate) file: PathBuf,
    /// How to print the net: in its text form, as a graph for Graphviz, or as JSON.
    #[arg(long, value_enum, default_value_t = NetFormat::Text, value_name = "FORMAT")]
    pub(crate) format: NetFormat,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) front: FrontArgs,
}

/// `pdnet automaton`.
#[derive(Debug, Args)]
pub(crate) struct AutomatonArgs {
    /// The formula. Its atoms may be any; they are not looked up in a program.
    pub(crate) formula: String,
    /// How to print the automaton: in the Hanoi omega-automata format, as a graph for Graphviz, or for people.
    #[arg(long, value_enum, default_value_t = AutomatonFormat::Hoa, value_name = "FORMAT")]
    pub(crate) format: AutomatonFormat,
    /// Take the negation of the formula, as a search for violations does.
    #[arg(long)]
    pub(crate) negate: bool,
}

/// When to do something that suits a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fair {
    None,
    Weak,
    Strong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Atomicity {
    Access,
    Statement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataModel {
    #[value(name = "LP64")]
    Lp64,
    #[value(name = "ILP32")]
    Ilp32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reduce {
    None,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NetFormat {
    Text,
    Dot,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AutomatonFormat {
    Hoa,
    Dot,
    Text,
}

impl FrontArgs {
    /// The options of the front end's reader.
    pub(crate) fn load_options(&self) -> pdnet_front_c::Options {
        pdnet_front_c::Options {
            data_model: match self.data_model {
                DataModel::Lp64 => pdnet_front_c::types::DataModel::Lp64,
                DataModel::Ilp32 => pdnet_front_c::types::DataModel::Ilp32,
            },
            include_dirs: self.include_dirs.clone(),
            defines: self.defines.clone(),
            ..Default::default()
        }
    }

    /// The options of the way from the program to the net.
    pub(crate) const fn lower_options(&self) -> pdnet_front_c::LowerOptions {
        pdnet_front_c::LowerOptions {
            atomicity: match self.atomicity {
                Atomicity::Access => pdnet_front_c::Atomicity::Access,
                Atomicity::Statement => pdnet_front_c::Atomicity::Statement,
            },
            spurious_wakeups: self.spurious_wakeups,
            max_threads: self.max_threads,
            max_depth: self.depth,
        }
    }
}

impl From<Fair> for pdnet_check::Fairness {
    fn from(fair: Fair) -> Self {
        match fair {
            Fair::None => Self::None,
            Fair::Weak => Self::Weak,
            Fair::Strong => Self::Strong,
        }
    }
}
