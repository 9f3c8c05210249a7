//! `cargo xtask corpus`: programs with known answers, and how many of them pdnet gets right.
//!
//! | file | what |
//! | --- | --- |
//! | `index.rs` | the list of tasks, `index.tsv` |
//! | `tasks.rs` | task definitions of SV-COMP |
//! | `skip.rs` | tasks that are left out, with the reason |
//! | `models.rs` | what tasks about Promela models ask for |
//! | `run.rs` | starts pdnet on each task, several at a time |
//! | `process.rs` | other programs, with a limit of time |
//! | `judge.rs` | what a task's end means |
//! | `states.rs` | numbers of states, compared with SPIN's |
//! | `results.rs` | the JSON of a whole run, and the comparison with an earlier one |
//! | `summary.rs` | the tables |

use std::io::{BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use clap::Args;

use self::index::Kind;
use self::judge::Class;
use self::run::Runner;

mod index;
mod judge;
mod models;
mod process;
mod results;
mod run;
mod skip;
mod states;
mod summary;
mod tasks;

/// Run pdnet on a folder of programs with known answers, and count.
///
/// DIR/index.tsv has a line with the names of its columns, then one line for each task. The columns are
/// separated by tabs; needed are kind, file (below DIR), property and expected (true or false, perhaps with a remark). Kinds that
/// pdnet has no answer for are left out. A folder without index.tsv is searched for task definitions of SV-COMP
/// (.yml), whose properties with an expected verdict are the tasks; so is a list of them (.set).
///
/// Every task ends in one class. correct, wrong: pdnet's answer is the expected one, or the other.
/// unknown: exit code 5, or a check that this version does not have. refused: exit code 2. crashed: a bug,
/// a signal, or a result that cannot be read. timeout: pdnet did not keep its own limit of time and was
/// ended 5 seconds later.
///
/// The exit code is 1 if a task is wrong or crashed.
#[derive(Debug, Args)]
pub(crate) struct CorpusArgs {
    /// The folder with index.tsv, or with task definitions; or a .set file; or one task definition.
    dir: PathBuf,
    /// Only tasks of these kinds, separated by commas; repeatable.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    kind: Vec<Kind>,
    /// Only tasks whose file or property contains this text.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Leave out the tasks that this file lists, and show them with their reasons.
    ///
    /// In each line kind, file and reason, separated by tabs; lines that begin with # say nothing. For tasks whose
    /// expected answer is known to be wrong: the reason should show why.
    #[arg(long, value_name = "FILE")]
    skip: Option<PathBuf>,
    /// Seconds for one task.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// Memory for one task, as pdnet's --memory takes it.
    #[arg(long, default_value = "4G", value_name = "SIZE")]
    memory: String,
    /// How many tasks at a time; as many as there are cores where it is not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Use this pdnet instead of building one.
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Write all results to this file.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compare the numbers of states of Promela models with SPIN's, too, which must be installed.
    ///
    /// Both without reductions: `spin -o3 -a`, `-DNOREDUCE -DNOCLAIM -DCOLLAPSE`, `pan -c0`, and `--reduce none`.
    /// Folders given to pdnet with -I are given to SPIN, too.
    #[arg(long)]
    states: bool,
    /// Show which tasks have another class than in this file, written by --output.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Further options of `pdnet check`, for every task.
    #[arg(last = true, value_name = "OPTIONS")]
    extra: Vec<String>,
}

/// Does it all, from top to bottom.
pub(crate) fn corpus(args: &CorpusArgs) -> anyhow::Result<ExitCode> {
    let path = args.dir.join("index.tsv");
    // Files in an index are below its folder; task definitions come with their whole path.
    let (folder, tasks) = if path.is_file() {
        (args.dir.as_path(), indexed(&path, args.kind.is_empty())?)
    } else {
        let mut found = Vec::new();
        for definition in tasks::definitions(&args.dir)? {
            found.extend(tasks::read(&definition)?);
        }
        (Path::new(""), found)
    };
    let skips = match &args.skip {
        None => Vec::new(),
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            skip::parse(&text).with_context(|| format!("in {}", path.display()))?
        }
    };
    let wanted = |task: &index::Task| {
        (args.kind.is_empty() || args.kind.contains(&task.kind))
            && args
                .filter
                .as_ref()
                .is_none_or(|text| task.file.contains(text) || task.property.contains(text))
    };
    let is_skipped = |skip: &&skip::Skip| tasks.iter().any(|task| skip.names(task) && wanted(task));
    let skipped: Vec<skip::Skip> = skips.iter().filter(is_skipped).cloned().collect();
    let tasks: Vec<_> = skip::split(tasks, &skips)?.into_iter().filter(wanted).collect();
    ensure!(!tasks.is_empty(), "no task is left");
    for task in &tasks {
        let file = folder.join(&task.file);
        ensure!(file.is_file(), "{} is in the index, but there is no such file", file.display());
    }
    // Before the long part, so that a wrong name costs nothing, and so that it may be the output's name too.
    let old = match &args.compare {
        None => None,
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
            Some(results::parse(&text).with_context(|| format!("in {}", path.display()))?)
        }
    };
    let binary = match &args.binary {
        Some(path) => path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?,
        None => build()?,
    };

    let runner = Runner::new(folder, binary, args.timeout, &args.memory, &args.extra)?;
    let jobs =
        args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let start = Instant::now();
    let results = runner.run_all(&tasks, jobs, std::io::stderr().is_terminal())?;

    if let Some(path) = &args.output {
        let json = results::to_json(&results, args.timeout, &args.memory, &args.extra);
        std::fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print!("{}{}", summary::render(&results, start.elapsed()), skip::render(&skipped));
    if args.states {
        print!("{}", states::render(&states::count_states(&runner, &tasks)?));
    }
    if let Some(old) = old {
        print!("{}", results::compare(&old, &results));
    }
    let bad = results.iter().any(|it| matches!(it.judgement.class, Class::Wrong | Class::Crashed));
    Ok(if bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The tasks of an index.
fn indexed(path: &Path, says_others: bool) -> anyhow::Result<Vec<index::Task>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let index = index::parse(&text).with_context(|| format!("in {}", path.display()))?;
    if says_others && !index.other_kinds.is_empty() {
        let kinds: Vec<String> = index.other_kinds.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
        eprintln!("left out, pdnet does not take them: {}", kinds.join(", "));
    }
    Ok(index.tasks)
}

/// Builds pdnet and says where it is.
fn build() -> anyhow::Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent folder")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--bin", "pdnet", "--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let mut binary = None;
    let messages = BufReader::new(cargo.stdout.take().context("cargo has no output")?);
    for message in serde_json::Deserializer::from_reader(messages).into_iter::<serde_json::Value>() {
        let message = message.context("cargo's messages are no JSON")?;
        if message["target"]["name"] == "pdnet"
            && let Some(path) = message["executable"].as_str()
        {
            binary = Some(PathBuf::from(path));
        }
    }
    if !cargo.wait()?.success() {
        bail!("pdnet cannot be built");
    }
    binary.context("cargo did not say where pdnet is")
}
