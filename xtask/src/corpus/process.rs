//! Other programs, with a limit of time.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::judge::End;

/// How a program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) seconds: f64,
}

/// Runs a program and ends it when the time is up.
///
/// What it prints goes to files in `scratch` whose names begin with `name`: a pipe would be kept open by a program
/// that was started by it and outlives it.
pub(crate) fn run_limited(
    command: &mut Command,
    limit: Duration,
    scratch: &Path,
    name: &str,
) -> anyhow::Result<Ended> {
    let (out_path, err_path) = (scratch.join(format!("{name}.out")), scratch.join(format!("{name}.err")));
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(&out_path)?)
        .stderr(File::create(&err_path)?)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
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
    let (stdout, stderr) = (read(&out_path)?, read(&err_path)?);
    fs::remove_file(&out_path)?;
    fs::remove_file(&err_path)?;
    Ok(Ended { end, stdout, stderr, seconds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_long_is_ended_and_the_rest_is_read() {
        let scratch = std::env::temp_dir().join(format!("pdnet-xtask-process-{}", std::process::id()));
        fs::create_dir(&scratch).unwrap();
        let shell = |text: &str, limit: u64| {
            let mut command = Command::new("sh");
            run_limited(command.args(["-c", text]), Duration::from_secs(limit), &scratch, "t").unwrap()
        };
        let said = shell("echo out; echo err >&2; exit 3", 60);
        let slow = shell("exec sleep 60", 0);
        fs::remove_dir_all(&scratch).unwrap();
        assert_eq!((said.end, said.stdout.as_str(), said.stderr.as_str()), (End::Exit(3), "out\n", "err\n"));
        assert_eq!(slow.end, End::Killed);
    }
}
