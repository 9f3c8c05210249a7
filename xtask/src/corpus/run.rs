//! pdnet on each task, several at a time.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::index::Task;
use super::judge::{Class, Judgement, judge};
use super::models::with_defines;
use super::process::run_limited;

/// How much longer than its limit pdnet may take before it is ended.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// A task that was done.
#[derive(Clone, Debug)]
pub(crate) struct TaskResult {
    pub(crate) task: Task,
    pub(crate) judgement: Judgement,
    pub(crate) seconds: f64,
    /// To repeat it in a shell.
    pub(crate) command: String,
}

/// Knows how to start pdnet.
#[derive(Debug)]
pub(crate) struct Runner {
    dir: PathBuf,
    pub(crate) binary: PathBuf,
    pub(crate) timeout: u64,
    pub(crate) memory: String,
    pub(crate) extra: Vec<String>,
    /// What pdnet prints goes to files here, and changed models.
    pub(crate) scratch: PathBuf,
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Nothing depends on it, and there is nobody to tell.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

impl Runner {
    pub(crate) fn new(
        dir: &Path,
        binary: PathBuf,
        timeout: u64,
        memory: &str,
        extra: &[String],
    ) -> anyhow::Result<Self> {
        let scratch = std::env::temp_dir().join(format!("pdnet-corpus-{}", std::process::id()));
        fs::create_dir(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
        let (memory, extra) = (memory.to_owned(), extra.to_vec());
        Ok(Self { dir: dir.to_owned(), binary, timeout, memory, extra, scratch })
    }

    /// The results are in the order of the tasks, whatever the order in which they came.
    pub(crate) fn run_all(
        &self,
        tasks: &[Task],
        jobs: usize,
        terminal: bool,
    ) -> anyhow::Result<Vec<TaskResult>> {
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel();
        let mut results: Vec<Option<TaskResult>> = vec![None; tasks.len()];
        std::thread::scope(|scope| -> anyhow::Result<()> {
            for _ in 0..jobs.min(tasks.len()) {
                let (sender, next, stop) = (sender.clone(), &next, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(task) = tasks.get(number) else { break };
                        if sender.send((number, self.run(task, number))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            let mut progress = Progress::new(tasks.len(), terminal);
            loop {
                match receiver.recv_timeout(Duration::from_millis(200)) {
                    Ok((number, result)) => {
                        let result = result.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                        progress.count(result.judgement.class);
                        results[number] = Some(result);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                progress.show();
            }
            progress.clear();
            Ok(())
        })?;
        results.into_iter().collect::<Option<_>>().context("a task was not done")
    }

    /// The arguments of pdnet.
    fn arguments(&self, task: &Task, file: &Path) -> Vec<String> {
        let mut arguments = vec!["check".to_owned(), file.display().to_string()];
        arguments.extend(task.question());
        arguments.extend(["--timeout".into(), format!("{}s", self.timeout)]);
        arguments.extend(["--memory".into(), self.memory.clone()]);
        arguments.extend(self.extra.iter().cloned());
        arguments
    }

    fn run(&self, task: &Task, number: usize) -> anyhow::Result<TaskResult> {
        let file = self.model_file(task, &number.to_string())?;
        let arguments = self.arguments(task, &file);
        let mut command = Command::new(&self.binary);
        command.args(&arguments).args(["--format", "json", "--progress", "never", "--color", "never"]);
        let limit = Duration::from_secs(self.timeout) + GRACE;
        let ended = run_limited(&mut command, limit, &self.scratch, &number.to_string())?;
        let judgement = judge(task.expected, &ended.end, &ended.stdout, &ended.stderr);
        let words = std::iter::once(self.binary.display().to_string()).chain(arguments);
        let command = words.map(|word| quote(&word)).collect::<Vec<_>>().join(" ");
        Ok(TaskResult { task: task.clone(), judgement, seconds: ended.seconds, command })
    }

    /// The file of a task as it is in the corpus.
    pub(crate) fn source(&self, task: &Task) -> PathBuf {
        self.dir.join(&task.file)
    }

    /// The file of a task; a copy with other constants where the task says so.
    pub(crate) fn model_file(&self, task: &Task, copy: &str) -> anyhow::Result<PathBuf> {
        let file = self.source(task);
        let defines = task.defines();
        if defines.is_empty() {
            return Ok(file);
        }
        let text = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let text = with_defines(&String::from_utf8_lossy(&text), &defines)
            .with_context(|| format!("in {}", file.display()))?;
        let name = file.file_name().context("a task without a file")?.to_string_lossy().into_owned();
        let path = self.scratch.join(format!("{copy}-{name}"));
        fs::write(&path, text)?;
        Ok(path)
    }
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-+=./,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// One line that is written over and over; where there is no terminal, a line now and then.
struct Progress {
    counts: [usize; Class::ALL.len()],
    total: usize,
    terminal: bool,
    start: Instant,
    shown: Instant,
}

impl Progress {
    fn new(total: usize, terminal: bool) -> Self {
        let now = Instant::now();
        Self { counts: [0; Class::ALL.len()], total, terminal, start: now, shown: now }
    }

    const fn count(&mut self, class: Class) {
        self.counts[class as usize] += 1;
    }

    fn show(&mut self) {
        let pause = Duration::from_millis(if self.terminal { 100 } else { 15_000 });
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let (done, seconds) = (self.counts.iter().sum::<usize>(), self.start.elapsed().as_secs());
        let mut line = format!("{done}/{} in {seconds} s:", self.total);
        for (class, count) in Class::ALL.into_iter().zip(self.counts) {
            line += &format!(" {count} {}", class.name());
        }
        if self.terminal {
            eprint!("\r\x1b[2K{line}");
            let _ = io::stderr().flush();
        } else {
            eprintln!("{line}");
        }
    }

    fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        for (word, quoted) in
            [("a+b/c.c", "a+b/c.c"), ("G !call(f)", "'G !call(f)'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quote(word), quoted);
        }
    }
}
