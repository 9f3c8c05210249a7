//! Numbers of states of Promela models: pdnet's without reductions, and those that SPIN stores.
//!
//! SPIN makes a step of each statement (`-o3`), reduces nothing (`-DNOREDUCE`), looks at no claim (`-DNOCLAIM`) and goes
//! on behind errors (`-c0`). pdnet is asked for assertions, since that makes it visit all states.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::index::{Kind, Task};
use super::judge::End;
use super::process::{Ended, run_limited};
use super::run::{GRACE, Runner};

/// How deep SPIN's search may go. Each further step costs memory, so that not every model gets the larger one.
const DEPTHS: [&str; 2] = ["-m1000000", "-m20000000"];

/// The numbers of states of one model.
#[derive(Debug)]
pub(crate) struct StateCount {
    /// The model, with the constants that were changed.
    model: String,
    /// How many tasks are about it.
    n_tasks: usize,
    spin: Count,
    pdnet: Count,
}

/// How many states a tool found, or why that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Count {
    All(u64),
    Open(String),
}

impl StateCount {
    fn is_equal(&self) -> bool {
        matches!((&self.spin, &self.pdnet), (Count::All(spin), Count::All(pdnet)) if spin == pdnet)
    }
}

/// Counts the states of all models that tasks are about, each once, with both tools.
pub(crate) fn count_states(runner: &Runner, tasks: &[Task]) -> anyhow::Result<Vec<StateCount>> {
    let mut models: BTreeMap<String, (&Task, usize)> = BTreeMap::new();
    for task in tasks.iter().filter(|task| task.kind == Kind::Promela) {
        let constants: Vec<String> =
            task.defines().iter().map(|it| format!(" {}={}", it.name, it.value)).collect();
        models.entry(format!("{}{}", task.file, constants.concat())).or_insert((task, 0)).1 += 1;
    }
    let mut counts = Vec::new();
    for (number, (model, (task, n_tasks))) in models.into_iter().enumerate() {
        let file = runner.model_file(task, &format!("states-{number}"))?;
        let counter = Counter { runner, file: &file, source: &runner.source(task) };
        let count = StateCount { model, n_tasks, spin: counter.spin()?, pdnet: counter.pdnet()? };
        eprintln!("{}", line(&count));
        counts.push(count);
    }
    Ok(counts)
}

/// Counts the states of one model.
struct Counter<'a> {
    runner: &'a Runner,
    file: &'a Path,
    /// The file in the corpus, beside which included files are.
    source: &'a Path,
}

impl Counter<'_> {
    fn run(&self, command: &mut Command) -> anyhow::Result<Ended> {
        let limit = Duration::from_secs(self.runner.timeout) + GRACE;
        run_limited(command, limit, &self.runner.scratch, "states")
    }

    /// Folders with included files: that of the model, and those given with `-I`.
    fn include_dirs(&self) -> Vec<String> {
        let mut found: Vec<String> =
            self.source.parent().map(|folder| folder.display().to_string()).into_iter().collect();
        let mut options = self.runner.extra.iter();
        while let Some(option) = options.next() {
            match option.strip_prefix("-I") {
                Some("") => found.extend(options.next().cloned()),
                Some(folder) => found.push(folder.to_owned()),
                None => {}
            }
        }
        found
    }

    fn pdnet(&self) -> anyhow::Result<Count> {
        let mut command = Command::new(&self.runner.binary);
        command.arg("check").arg(self.file).args(["--check", "assert", "--reduce", "none"]);
        for folder in self.include_dirs() {
            command.args(["-I", &folder]);
        }
        command.args(["--timeout", &format!("{}s", self.runner.timeout), "--memory", &self.runner.memory]);
        command.args(["--format", "json", "--progress", "never", "--color", "never"]);
        Ok(pdnet_count(&self.run(&mut command)?))
    }

    fn spin(&self) -> anyhow::Result<Count> {
        let folder = self.runner.scratch.join("spin");
        fs::create_dir_all(&folder)?;
        let preprocessor = self
            .include_dirs()
            .iter()
            .fold("-Pgcc -std=gnu99 -E -x c".to_owned(), |all, folder| format!("{all} -I{folder}"));
        let file = fs::canonicalize(self.file)?;
        let mut spin = Command::new("spin");
        let made =
            self.run(spin.current_dir(&folder).args([preprocessor.as_str(), "-o3", "-a"]).arg(file))?;
        if made.end != End::Exit(0) {
            return Ok(Count::Open(format!("SPIN refuses it: {}", first_line(&made))));
        }
        let memory = format!("-DMEMLIM={}", mebibytes(&self.runner.memory)?);
        let options = ["-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DCOLLAPSE", "-DVECTORSZ=65536", &memory];
        let mut compiler = Command::new("gcc");
        compiler.current_dir(&folder).args(["-O1", "-w"]).args(options).args(["-o", "pan", "pan.c"]);
        let compiled = self.run(&mut compiler)?;
        if compiled.end == End::Killed {
            return Ok(Count::Open("SPIN: time limit of the compiler".to_owned()));
        }
        ensure!(compiled.end == End::Exit(0), "gcc cannot compile pan.c: {}", first_line(&compiled));
        let mut count = Count::Open("SPIN was not run".to_owned());
        for depth in DEPTHS {
            let mut pan = Command::new(folder.join("pan"));
            let searched = self.run(pan.current_dir(&folder).args(["-c0", depth]))?;
            count = spin_count(&searched);
            if !searched.stdout.contains("max search depth too small") {
                break;
            }
        }
        fs::remove_dir_all(&folder)?;
        Ok(count)
    }
}

/// The number in the output of SPIN's verifier.
fn spin_count(ended: &Ended) -> Count {
    if ended.end == End::Killed {
        return Count::Open("SPIN: time limit".to_owned());
    }
    if let Some(error) = ["max search depth too small", "VECTORSZ is too small", "out of memory"]
        .into_iter()
        .find(|text| ended.stdout.contains(text))
    {
        return Count::Open(format!("SPIN: {error}"));
    }
    let line = ended.stdout.lines().find_map(|line| line.trim().strip_suffix(" states, stored"));
    match line.and_then(|number| number.trim().parse().ok()) {
        Some(number) => Count::All(number),
        None => Count::Open(format!("SPIN: {}", first_line(ended))),
    }
}

/// The number in pdnet's JSON.
fn pdnet_count(ended: &Ended) -> Count {
    let object: Value = serde_json::from_str(&ended.stdout).unwrap_or(Value::Null);
    let result = &object["results"][0];
    match result["verdict"].as_str() {
        Some("true") => {
            let stats = &result["stats"];
            let number = stats["states_outside_atomic"].as_u64().or_else(|| stats["states"].as_u64());
            number.map_or_else(|| Count::Open("pdnet: no number".to_owned()), Count::All)
        }
        Some("false") => Count::Open("pdnet: an assertion fails".to_owned()),
        Some(_) => Count::Open(format!("pdnet: {}", result["reason"]["text"].as_str().unwrap_or("unknown"))),
        None => Count::Open(format!("pdnet: {}", first_line(ended))),
    }
}

fn first_line(ended: &Ended) -> &str {
    let mut lines = ended.stderr.lines().chain(ended.stdout.lines()).map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or("nothing was said")
}

/// `4G` as a number of mebibytes.
fn mebibytes(size: &str) -> anyhow::Result<u64> {
    let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
    let number: u64 = digits.parse().with_context(|| format!("`{size}` is no size"))?;
    match size[digits.len()..].chars().next() {
        Some('G' | 'g') => Ok(number * 1024),
        Some('M' | 'm') => Ok(number),
        Some('K' | 'k') => Ok(number / 1024),
        Some(_) | None => Ok(number / (1024 * 1024)),
    }
}

fn line(count: &StateCount) -> String {
    let says = |count: &Count| match count {
        Count::All(number) => number.to_string(),
        Count::Open(reason) => format!("? ({reason})"),
    };
    format!("{}: SPIN {}, pdnet {}", count.model, says(&count.spin), says(&count.pdnet))
}

/// The table: how many are equal, and those that are not.
pub(crate) fn render(counts: &[StateCount]) -> String {
    let tasks = |wanted: &dyn Fn(&StateCount) -> bool| -> usize {
        counts.iter().filter(|count| wanted(count)).map(|count| count.n_tasks).sum()
    };
    let is_open =
        |count: &StateCount| matches!(count.spin, Count::Open(_)) || matches!(count.pdnet, Count::Open(_));
    let (equal, open) = (tasks(&StateCount::is_equal), tasks(&is_open));
    let all = tasks(&|_| true);
    let mut text = format!(
        "\nnumbers of states, with SPIN: {equal} of {all} tasks equal, {} differ, {open} not compared\n",
        all - equal - open
    );
    for count in counts.iter().filter(|count| !count.is_equal()) {
        let _ = writeln!(text, "  {}", line(count));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(stdout: &str) -> Ended {
        Ended { end: End::Exit(0), stdout: stdout.into(), stderr: String::new(), seconds: 0.0 }
    }

    #[test]
    fn numbers_are_found_in_both_outputs() {
        let spin = "\nState-vector 12 byte\n     6196 states, stored\n      10 states, matched\n";
        assert_eq!(spin_count(&ended(spin)), Count::All(6196));
        let cut = "error: max search depth too small\n    5 states, stored\n";
        assert_eq!(spin_count(&ended(cut)), Count::Open("SPIN: max search depth too small".into()));
        for (json, count) in [
            (r#"{"results": [{"verdict": "true", "stats": {"states": 5}}]}"#, Count::All(5)),
            (
                r#"{"results": [{"verdict": "true", "stats": {"states": 5, "states_outside_atomic": 3}}]}"#,
                Count::All(3),
            ),
            (r#"{"results": [{"verdict": "false"}]}"#, Count::Open("pdnet: an assertion fails".into())),
            (
                r#"{"results": [{"verdict": "unknown", "reason": {"text": "time limit"}}]}"#,
                Count::Open("pdnet: time limit".into()),
            ),
            ("", Count::Open("pdnet: nothing was said".into())),
        ] {
            assert_eq!(pdnet_count(&ended(json)), count);
        }
    }

    #[test]
    fn the_table_counts_tasks_and_names_what_differs() {
        let count =
            |model: &str, n_tasks, spin, pdnet| StateCount { model: model.into(), n_tasks, spin, pdnet };
        let counts = [
            count("a.pml", 3, Count::All(5), Count::All(5)),
            count("b.pml N=2", 1, Count::All(5), Count::All(6)),
            count("c.pml", 2, Count::Open("SPIN: time limit".into()), Count::All(6)),
        ];
        let expected = "
numbers of states, with SPIN: 3 of 6 tasks equal, 1 differ, 2 not compared
  b.pml N=2: SPIN 5, pdnet 6
  c.pml: SPIN ? (SPIN: time limit), pdnet 6
";
        assert_eq!(render(&counts), expected);
    }

    #[test]
    fn sizes_are_those_of_pdnet() {
        for (size, found) in [("4G", 4096), ("500M", 500), ("8388608", 8)] {
            assert_eq!(mebibytes(size).unwrap(), found);
        }
        assert!(mebibytes("much").is_err());
    }
}
