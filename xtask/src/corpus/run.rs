//! pdnet on each task, several at a time.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::index::Task;
use super::judge::{Class, End, Judgement, judge};

/// How much longer than its limit pdnet may take before it is ended.
const GRACE: Duration = Duration::from_secs(5);

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
    binary: PathBuf,
    timeout: u64,
    memory: String,
    extra: Vec<String>,
    /// What pdnet prints goes to files here. A pipe would be kept open by a preprocessor that outlives it.
    scratch: PathBuf,
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
    fn arguments(&self, task: &Task) -> Vec<String> {
        let mut arguments = vec!["check".to_owned(), self.dir.join(&task.file).display().to_string()];
        arguments.extend(task.question());
        arguments.extend(["--timeout".into(), format!("{}s", self.timeout)]);
        arguments.extend(["--memory".into(), self.memory.clone()]);
        arguments.extend(self.extra.iter().cloned());
        arguments
    }

    fn run(&self, task: &Task, number: usize) -> anyhow::Result<TaskResult> {
        let arguments = self.arguments(task);
        let out_path = self.scratch.join(format!("{number}.out"));
        let err_path = self.scratch.join(format!("{number}.err"));
        let start = Instant::now();
        let mut child = Command::new(&self.binary)
            .args(&arguments)
            .args(["--format", "json", "--progress", "never", "--color", "never"])
            .stdin(Stdio::null())
            .stdout(File::create(&out_path)?)
            .stderr(File::create(&err_path)?)
            .spawn()
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        let limit = Duration::from_secs(self.timeout) + GRACE;
        let mut pause = Duration::from_millis(1);
        let end = loop {
            if let Some(status) = child.try_wait()? {
                break status.code().map_or_else(|| End::Signal(status.to_string()), End::Exit);
            }
            if start.elapsed() >= limit {
                child.kill()?;
                child.wait()?;
                break End::Killed;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        let seconds = start.elapsed().as_secs_f64();
        let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let judgement = judge(task.expected, &end, &read(&out_path)?, &read(&err_path)?);
        fs::remove_file(&out_path)?;
        fs::remove_file(&err_path)?;
        let words = std::iter::once(self.binary.display().to_string()).chain(arguments);
        let command = words.map(|word| quote(&word)).collect::<Vec<_>>().join(" ");
        Ok(TaskResult { task: task.clone(), judgement, seconds, command })
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
