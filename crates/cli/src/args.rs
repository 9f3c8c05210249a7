//! What was typed. What it means is found out by the commands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

use crate::reductions::Reductions;
use crate::units::{parse_bytes, parse_count, parse_duration};

const AFTER_HELP: &str = "\
Examples:
  pdnet check counter.c                          the properties in its comments, or the default checks
  pdnet check counter.c --check race,partial-deadlock
  pdnet check peterson.c --ltl 'G(flag1 == 1 -> F(crit == 1))' --fair weak
  pdnet check main.c queue.c -I include -DSIZE=2
  pdnet check task.c --prp unreach-call.prp --format json --timeout 5m --memory 4G
  pdnet check task.yml --witness witness.yml     a task of SV-COMP, with a witness for other tools
  pdnet slice counter.c --ltl 'G(x < 3)'         what of it the answer depends on, and why
  pdnet atomize model.pml -o merged.pml          a model with fewer interleavings, for SPIN
  pdnet net counter.c --format dot | dot -Tsvg > counter.svg
  pdnet promela counter.c -o counter.pml         the same program for SPIN
  pdnet automaton 'G(p -> F q)' --format hoa

Exit codes:
   0  all properties hold                         1  the command line is wrong
  10  some property is violated                   2  the input is not accepted
   5  none is violated, some are not known        6  a bug in pdnet

The last line of `check` is one of
  Verification result: TRUE
  Verification result: FALSE (valid-ltl)
  Verification result: UNKNOWN (memory limit 4 GiB)";

/// A model checker for multi-threaded C programs: LTL properties, assertions, deadlocks, data races.
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
    /// Properties come from the options --ltl, --prp and --check; where none of them is given, from the task
    /// definition, if there is one; else from comments `//@ ltl NAME: FORMULA` and `//@ check NAMES` in the
    /// program; where there are none either, the checks assert, deadlock and race are done. For each property
    /// there is one answer: it holds, it is
    /// violated by a run that is shown, or it is not known, with the reason.
    ///
    /// Of a Promela model, the checks assert and deadlock (invalid end states) are done and all its `ltl` blocks and
    /// `never` claims are checked, unless --ltl, --claim or --check say what else. The checks non-progress and
    /// acceptance are done only where they are asked for.
    Check(CheckArgs),
    /// Show which part of a program the answer to a property depends on.
    ///
    /// Prints the program with a mark for each line: `+` kept, with the reason, `-` cut. `check` explores only what
    /// is kept. Properties come from where `check` takes them from. Those that single steps or states break
    /// are sliced together, formulas each by itself.
    Slice(SliceArgs),
    /// Write a program as a model in Promela, so that SPIN can check the answers.
    ///
    /// The model does what the net of the program does, step by step, and has the properties as assertions, end
    /// states and `ltl` blocks. Its first lines say how SPIN is run on it and what its messages mean. Properties come
    /// from where `check` takes them from. What Promela has no exact counterpart of is refused.
    Promela(PromelaArgs),
    /// Write a Promela model with `atomic` around steps that can as well be one, so that SPIN has fewer states.
    ///
    /// Everything else is left as it is, comments and layout too. SPIN's answers about invalid end states,
    /// assertions, cycles and formulas without X stay the same. A report says which statements were merged by which
    /// rule, and why others were not: on standard output with --output, else on standard error.
    Atomize(AtomizeArgs),
    /// Print the net of a program.
    Net(NetArgs),
    /// Print the automaton of a formula.
    Automaton(AutomatonArgs),
}

/// `pdnet check`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
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
    /// `all`, `none`, or a list with commas of: `slice`: what the answer does not depend on is cut (see --slice).
    /// `agglomerate`: steps that nobody can come between become one. `stubborn`: where the steps of some
    /// threads are enough, those of the others are put off. `guide`: for formulas, that goes by what their
    /// automaton can still look at. `forget`: values that nobody will look at make no states. `symmetry`: states
    /// in which threads have only exchanged their numbers are one. Verdicts are the same without them; runs to
    /// assertions and deadlocks are then shortest. A formula with the operator X is accepted only with `none`,
    /// since reductions do not preserve it.
    #[arg(long, default_value = "all", value_name = "WHICH", help_heading = "Search")]
    pub(crate) reduce: Reductions,
    /// Keep the search in this file while it runs, so that it can go on after the process was ended, however that came.
    ///
    /// All searches are kept, whatever they look for, in whatever order, and by however many threads. Of a search for cycles it is the graph that
    /// is kept; what is decided about it is decided anew.
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Go on with what `--checkpoint` has kept of the same search, if anything.
    ///
    /// Limits and `--threads` may be others than before. Where the program, a property, an option on which the states depend, or the build of pdnet
    /// is another one, that is said, and the file stays as it is.
    #[arg(long, requires = "checkpoint", help_heading = "Search")]
    pub(crate) resume: bool,
    /// How often the search is kept.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "1m",
        value_parser = parse_duration,
        requires = "checkpoint",
        help_heading = "Search"
    )]
    pub(crate) checkpoint_every: Duration,
    #[command(flatten)]
    pub(crate) slicing: SlicingArgs,
    /// Keep answers in this folder, and use those that are there.
    ///
    /// Where the slice of the program for a property is the same as in an earlier run, up to positions and names, the
    /// answer of that run is given at once. A violation is replayed again on the present program. Answers of
    /// other builds of pdnet are not used, and files that are damaged are ignored with a warning.
    #[arg(long, value_name = "DIR", help_heading = "Search")]
    pub(crate) cache: Option<PathBuf>,
    /// How to print the result: for people, or as one JSON object.
    #[arg(long, value_enum, default_value_t = ResultFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: ResultFormat,
    /// Write a witness for other tools to this file, in the YAML format of SV-COMP.
    ///
    /// For the first property that is violated, the run; for each further one the same in a file with the
    /// property's name in its name (witness.deadlock.yml). If all hold, a correctness witness.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) witness: Option<PathBuf>,
    /// Write the run that violates the first property of a Promela model to this file, as a trail for SPIN.
    ///
    /// `spin -t -k FILE -p MODEL` shows it.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) trail: Option<PathBuf>,
    /// Say which statements of a Promela model no run executes.
    ///
    /// That needs a search of all states without slicing and merging of steps, beside those for the properties.
    #[arg(long, help_heading = "Output")]
    pub(crate) unreached: bool,
    /// Show how long each part of the way took: modelling, slicing, checking, and the number of states.
    #[arg(long, help_heading = "Output")]
    pub(crate) timings: bool,
    /// Print nothing but the result and errors.
    ///
    /// The result is the last line; with --format json, the object.
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Show the progress of a long search on standard error.
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(crate) progress: When,
}

/// How to cut away what an answer does not depend on.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SlicingArgs {
    /// How to find what the answer does not depend on, which is cut away before the search.
    ///
    /// `on-demand`: dependences are found as far as the property needs them. `program`: all dependences of the
    /// program first, as slicers of programs do. `net`: follow the arcs of the net backwards, as slicers of Petri
    /// nets do. Verdicts are the same with each of them and with `off`. Where it is not given: `on-demand`, or `off` where
    /// `--reduce` has no `slice`.
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Search")]
    pub(crate) slice: Option<SliceMethod>,
}

/// `pdnet slice`.
#[derive(Debug, Args)]
pub(crate) struct SliceArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) properties: PropertyArgs,
    /// Which infinite runs count for formulas: see `check`.
    #[arg(long, value_enum, default_value_t = Fair::None, value_name = "FAIRNESS", help_heading = "Properties")]
    pub(crate) fair: Fair,
    #[command(flatten)]
    pub(crate) slicing: SlicingArgs,
    #[command(flatten)]
    pub(crate) front: FrontArgs,
    /// How to print the slice: for people, as a JSON object, or as a graph for Graphviz in which what is cut is
    /// grey.
    #[arg(long, value_enum, default_value_t = SliceFormat::Text, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: SliceFormat,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// Where the program is.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgramArgs {
    /// The program: C files (.c), or preprocessed ones (.i). Several are linked to one program. Or a Promela model
    /// (.pml). Or, for `check`, a task definition of SV-COMP (.yml).
    #[arg(value_name = "FILE", required_unless_present = "compile_commands")]
    pub(crate) files: Vec<PathBuf>,
    /// Take folders of headers and macros from a compilation database (compile_commands.json).
    ///
    /// The database, or the folder with it. Without FILE, all its C files are linked to one program.
    #[arg(long, value_name = "FILE", help_heading = "Program")]
    pub(crate) compile_commands: Option<PathBuf>,
}

/// Which properties.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Properties")]
pub(crate) struct PropertyArgs {
    /// A formula of linear temporal logic over the program; repeatable.
    ///
    /// For example `G(x == 1 -> F(y == 2))`. Atoms are C expressions over globals, `func::local`, `call(f)`,
    /// `at(func, LABEL)`, `terminated(func)`, `end`, `holds(func, m)`, `waiting(func, c)`, `deadlock`.
    /// Of a Promela model, operators are spelt as in SPIN or as above (`[] (x == 1 -> <> (y == 2))`), and atoms are
    /// expressions over its globals and channels, `P@label` and `P:local`, or `P[pid]@label` and `P[pid]:local` of one of
    /// several processes.
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,
    /// A property file of SV-COMP; repeatable.
    ///
    /// Its lines are `CHECK( init(main()), LTL(FORMULA) )`.
    #[arg(long, value_name = "FILE")]
    pub(crate) prp: Vec<PathBuf>,
    /// An automaton of the runs that must not be, in the HOA format; repeatable.
    ///
    /// The property holds if no run is accepted: it is a Büchi automaton of the *bad* runs, such as the automaton of a
    /// negated formula (`pdnet automaton --negate FORMULA`) or a never claim. Its atomic propositions are written as the atoms
    /// of --ltl. Unless the file says `properties: stutter-invariant`, it is checked without reductions.
    #[arg(long, value_name = "FILE")]
    pub(crate) hoa: Vec<PathBuf>,
    /// Built-in checks, separated by commas: assert, deadlock, partial-deadlock, race, termination,
    /// arithmetic, overflow, memory, leak, uninitialized, locks; of models assert, deadlock, non-progress, acceptance.
    ///
    /// assert: assertions, and calls of reach_error. deadlock: no thread can move and the process has not
    /// ended. partial-deadlock: a thread is blocked forever while the process goes on. race: data races.
    /// termination: every run ends the process. arithmetic: division by zero, bad shifts. overflow: signed
    /// results that do not fit. memory: accesses outside of objects, null and dangling pointers, bad frees.
    /// leak: blocks not freed at the end. uninitialized: objects read before they are written. locks: misuse
    /// of locks and threads.
    ///
    /// Of a Promela model, assert: assertions, indices, divisions, channels that are none, `trace`. deadlock: invalid end
    /// states. non-progress: an infinite run passes no label `progress…` from some point on. acceptance: an infinite run
    /// passes a label `accept…` of a proctype again and again.
    #[arg(long, value_name = "NAMES")]
    pub(crate) check: Vec<String>,
    /// Only this `ltl` block or `never` claim of a Promela model, by its name; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Vec<String>,
    /// Only this property of the task definition, by the name of its file without .prp; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
}

impl PropertyArgs {
    /// Whether the user asked for something.
    pub(crate) const fn is_empty(&self) -> bool {
        let Self { ltl, prp, hoa, check, claim, property } = self;
        ltl.is_empty()
            && prp.is_empty()
            && hoa.is_empty()
            && check.is_empty()
            && claim.is_empty()
            && property.is_empty()
    }
}

/// How to read the program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Program")]
pub(crate) struct FrontArgs {
    /// The language of the program, where the ending of the file does not tell.
    ///
    /// Files ending in .pml, .pm, .prom, .promela or .spin are Promela models, all others C.
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub(crate) language: Option<Language>,
    /// What is one step: an access to a shared location, or a whole statement.
    ///
    /// The latter misses lost updates inside of a statement; it is there to compare with tools that work so.
    #[arg(long, value_enum, default_value_t = Atomicity::Access, value_name = "STEP")]
    pub(crate) atomicity: Atomicity,
    /// Let a thread that waits on a condition variable wake up without a signal, as POSIX allows.
    #[arg(long)]
    pub(crate) spurious_wakeups: bool,
    /// The sizes of the types: long and pointers have 64 bits (LP64, the default) or 32 (ILP32).
    #[arg(long, value_enum, ignore_case = true, value_name = "MODEL", group = "model")]
    pub(crate) data_model: Option<DataModel>,
    /// The same as compilers have it: -m32 is ILP32, -m64 is LP64. Also --32 and --64.
    #[arg(short = 'm', value_enum, value_name = "BITS", group = "model")]
    pub(crate) bits: Option<Bits>,
    #[arg(long = "32", hide = true, group = "model")]
    pub(crate) bits_32: bool,
    #[arg(long = "64", hide = true, group = "model")]
    pub(crate) bits_64: bool,
    /// A folder with headers; repeatable.
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include_dirs: Vec<PathBuf>,
    /// Define a macro; repeatable.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// The largest number of threads, main included, or of processes of a Promela model; at most 255.
    ///
    /// A run that would create more is not followed, and makes the answer unknown. Where it is not given, it is 16, or
    /// as many as the program can have, where that can be seen and is at most 255; for a model 255, as in SPIN. A model that shows how many processes it has at most has
    /// all of them, whatever is given here.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=255))]
    pub(crate) max_threads: Option<u32>,
    /// The largest depth of calls.
    ///
    /// A run that calls deeper is not followed, and makes the answer unknown.
    #[arg(long, allow_negative_numbers = true, default_value_t = DEPTH, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) depth: u32,
    /// The largest number of blocks that a thread has at a time from one call of malloc in the source.
    ///
    /// A run that allocates more is not followed, and makes the answer unknown.
    #[arg(long, allow_negative_numbers = true, default_value_t = BLOCKS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=127))]
    pub(crate) max_blocks: u32,
    /// The largest number of elements of an allocated block whose size is not constant.
    ///
    /// A run that allocates a larger one is not followed, and makes the answer unknown.
    #[arg(long, allow_negative_numbers = true, default_value_t = ELEMENTS, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) max_elements: u32,
}

/// When to give up. That is an ordinary outcome: unknown, with what was found up to then.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct LimitArgs {
    /// Stop after this time: seconds, or with a unit as in 500ms, 10s, 5m, 1h.
    #[arg(long, allow_negative_numbers = true, value_name = "TIME", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// Stop when pdnet takes this much memory, as in 500M, 4G, 4GiB.
    ///
    /// Where it is not given: three quarters of the memory that is free when pdnet starts.
    #[arg(long, allow_negative_numbers = true, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) memory: Option<u64>,
    /// Stop after this many states, as in 100000, 5M.
    #[arg(long, allow_negative_numbers = true, value_name = "N", value_parser = parse_count)]
    pub(crate) states: Option<u64>,
    /// Search only the runs with at most this many preemptions: a fast way to bugs.
    ///
    /// A preemption takes the turn from a thread that could have gone on. Runs without any are searched first, then
    /// those with one, and so on. What is found is a violation; where nothing is, the answer is unknown, unless no
    /// run has more preemptions. For assertions, deadlocks, races and formulas that say what always holds. The reduction
    /// `stubborn` is not used.
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub(crate) preemptions: Option<u32>,
    /// How many threads of pdnet work on a search.
    ///
    /// The answers are the same for every number, but the run that is shown may be another one each time, and longer: that is why
    /// there is one where nothing is said. A search begins with one thread; the others join when it has become large. Not for
    /// `--preemptions`.
    #[arg(long, allow_negative_numbers = true, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) threads: u32,
    /// In which order states are searched.
    ///
    /// `bfs`: breadth first, which makes runs short. `dfs`: depth first, which comes to deep states sooner; runs may be long. It is for what finite runs break, and by one thread of pdnet; searches for cycles go depth
    /// first in any case, the newest thread first where one thread of pdnet searches, and with `dfs` always.
    #[arg(long, value_enum, value_name = "ORDER", conflicts_with = "preemptions")]
    pub(crate) search: Option<SearchOrder>,
    /// How visited states are kept, for what finite runs break.
    ///
    /// `exact`: as they are. `hash-compact`: 64 bits of each. `bitstate`: three bits of each, in a quarter of the memory. The last
    /// two may leave states out: a violation that they find is one, but where they find none, the answer is unknown, with the
    /// probability that something was left out. They search depth first.
    #[arg(long, value_enum, default_value_t = Store::Exact, value_name = "STORE", conflicts_with = "preemptions")]
    pub(crate) store: Store,
    /// Whether the guards and writes of transitions become native code while a search runs.
    ///
    /// `auto`: where they are needed often enough that it pays, on machines for which there is code (x86-64). `on`: all of them, when they
    /// are needed first. `off`: none. No answer depends on it.
    #[arg(long, value_enum, default_value_t = JitMode::Auto, value_name = "WHEN")]
    pub(crate) jit: JitMode,
}

impl LimitArgs {
    /// Whether the arguments agree with each other.
    ///
    /// # Errors
    /// What does not, as a misuse of the command line.
    pub(crate) fn agree(&self) -> Result<(), clap::Error> {
        if self.store == Store::Exact || self.search != Some(SearchOrder::Bfs) {
            return Ok(());
        }
        let text = "`--search bfs` needs all states: `--store hash-compact` and `--store bitstate` search depth first";
        Err(Cli::command().error(clap::error::ErrorKind::ArgumentConflict, text))
    }
}

/// The value of `--search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchOrder {
    /// Breadth first.
    Bfs,
    /// Depth first, the newest thread first.
    Dfs,
}

/// The value of `--jit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JitMode {
    /// Where it pays.
    Auto,
    /// Everywhere.
    On,
    /// Nowhere.
    Off,
}

/// The value of `--store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Store {
    /// All of each state.
    Exact,
    /// 64 bits of each state.
    HashCompact,
    /// Three bits of each state.
    Bitstate,
}

/// `pdnet net`.
#[derive(Debug, Args)]
pub(crate) struct NetArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    /// How to print the net: in its text form, as a graph for Graphviz, or as JSON.
    #[arg(long, value_enum, default_value_t = NetFormat::Text, value_name = "FORMAT")]
    pub(crate) format: NetFormat,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) front: FrontArgs,
}

/// `pdnet promela`.
#[derive(Debug, Args)]
pub(crate) struct PromelaArgs {
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) properties: PropertyArgs,
    #[command(flatten)]
    pub(crate) slicing: SlicingArgs,
    #[command(flatten)]
    pub(crate) front: FrontArgs,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
}

/// `pdnet atomize`.
#[derive(Debug, Args)]
pub(crate) struct AtomizeArgs {
    /// The model, in Promela.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Write the model to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// A formula that will be asked of the model, beside its `ltl` blocks; repeatable.
    ///
    /// What it looks at is not merged: locals and labels of processes.
    #[arg(long, value_name = "FORMULA")]
    pub(crate) ltl: Vec<String>,
    /// An `ltl` block or `never` claim that will be asked of the model; repeatable. All of them where none is named.
    ///
    /// What only the others look at can be merged.
    #[arg(long, value_name = "NAME")]
    pub(crate) claim: Vec<String>,
    /// The fairness that will be assumed: `weak` is that of `pan -f`.
    ///
    /// It matters only where the model has formulas, claims, or labels `accept` or `progress`. With `none`, steps for
    /// which other processes wait are merged too.
    #[arg(long, value_enum, default_value_t = SpinFairness::Weak, value_name = "FAIRNESS")]
    pub(crate) fair: SpinFairness,
    /// Take it that the `never` claims of the model do not count steps.
    ///
    /// Without this, nothing is merged in a model that has some.
    #[arg(long)]
    pub(crate) trust_claims: bool,
    /// Merge local steps also with a following step that waits for others.
    ///
    /// That makes fewer states without SPIN's partial order reduction, and often more with it.
    #[arg(long)]
    pub(crate) before_waits: bool,
    /// A folder with files to include; repeatable.
    #[arg(short = 'I', value_name = "DIR")]
    pub(crate) include_dirs: Vec<PathBuf>,
    /// Define a macro; repeatable. Verify the result with the same definitions.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub(crate) defines: Vec<String>,
    /// How to print the report. With `json` and without `-o`, the model is a part of it.
    #[arg(long, value_enum, default_value_t = ReportFormat::Text, value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
    /// Print no report.
    #[arg(short, long, conflicts_with = "format")]
    pub(crate) quiet: bool,
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

/// The languages that there are front ends for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    C,
    Promela,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fair {
    None,
    Weak,
    Strong,
}

/// The fairness that SPIN knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpinFairness {
    None,
    Weak,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Atomicity {
    Access,
    Statement,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DataModel {
    #[default]
    #[value(name = "LP64")]
    Lp64,
    #[value(name = "ILP32")]
    Ilp32,
}

/// A data model by the size of pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bits {
    #[value(name = "32")]
    Ilp32,
    #[value(name = "64")]
    Lp64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SliceMethod {
    OnDemand,
    Program,
    Net,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SliceFormat {
    Text,
    Json,
    Dot,
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
    /// The data model that was asked for.
    pub(crate) fn data_model(&self) -> Option<DataModel> {
        let bits = self.bits.map(|bits| match bits {
            Bits::Ilp32 => DataModel::Ilp32,
            Bits::Lp64 => DataModel::Lp64,
        });
        let flag = self.bits_32.then_some(DataModel::Ilp32).or(self.bits_64.then_some(DataModel::Lp64));
        self.data_model.or(bits).or(flag)
    }

    /// The options of the front end's reader.
    pub(crate) fn load_options(&self, model: DataModel) -> pdnet_front_c::Options {
        pdnet_front_c::Options {
            data_model: match model {
                DataModel::Lp64 => pdnet_front_c::types::DataModel::Lp64,
                DataModel::Ilp32 => pdnet_front_c::types::DataModel::Ilp32,
            },
            include_dirs: self.include_dirs.clone(),
            defines: self.defines.clone(),
            ..Default::default()
        }
    }

    /// The bounds and choices on which the net depends that are not as they are by default, in one line.
    pub(crate) fn chosen(&self) -> String {
        let mut chosen = String::new();
        let mut add = |is_chosen: bool, text: String| {
            if is_chosen {
                chosen += if chosen.is_empty() { " with " } else { " " };
                chosen += &text;
            }
        };
        add(self.depth != DEPTH, format!("--depth {}", self.depth));
        add(self.max_threads.is_some(), format!("--max-threads {}", self.max_threads.unwrap_or(0)));
        add(self.max_blocks != BLOCKS, format!("--max-blocks {}", self.max_blocks));
        add(self.max_elements != ELEMENTS, format!("--max-elements {}", self.max_elements));
        add(self.spurious_wakeups, "--spurious-wakeups".to_owned());
        add(self.atomicity == Atomicity::Statement, "--atomicity statement".to_owned());
        add(self.data_model() == Some(DataModel::Ilp32), "--data-model ilp32".to_owned());
        self.defines.iter().for_each(|define| add(true, format!("-D{define}")));
        chosen
    }

    /// The options of the way from the program to the net.
    pub(crate) fn lower_options(&self) -> pdnet_front_c::LowerOptions {
        pdnet_front_c::LowerOptions {
            atomicity: match self.atomicity {
                Atomicity::Access => pdnet_front_c::Atomicity::Access,
                Atomicity::Statement => pdnet_front_c::Atomicity::Statement,
            },
            spurious_wakeups: self.spurious_wakeups,
            max_threads: self.max_threads.unwrap_or(DEFAULT_THREADS),
            more_threads: self.max_threads.is_none(),
            max_depth: self.depth,
            max_blocks: self.max_blocks,
            max_elements: self.max_elements,
            ..Default::default()
        }
    }
}

impl LimitArgs {
    /// The limits that count: memory is limited even where the user did not say so.
    pub(crate) fn or_default(&self) -> Self {
        Self { memory: self.memory.or_else(crate::memory::default_limit), ..self.clone() }
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

/// Bounds where none are given: on the depth of calls, and on blocks and elements of the heap.
const DEPTH: u32 = 64;
const BLOCKS: u32 = 16;
const ELEMENTS: u32 = 64;

/// The bound on threads where none is given, and none can be seen.
const DEFAULT_THREADS: u32 = 16;
