//! The command in a process with limits of memory and time. A file of its own, for the tests of `gpucc` include it.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Seconds of processor time that one command may take: the clock says little on a busy machine.
pub const MOST_SECONDS: u64 = 10;
/// Seconds on the clock after which a command waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(150);
/// KiB of address space that one command may take.
pub const MOST_KIB: u64 = 512 << 10;

/// How a command ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its exit code; `None` when a signal ended it, or nothing did within the time.
    pub code: Option<i32>,
    /// It took too long, or waited.
    pub hangs: bool,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Ended {
    /// In a few words: the exit code, `hangs` or `aborts`, with the first error.
    pub fn told(&self) -> String {
        let error = self.stderr.lines().find(|line| line.contains("error"));
        let first = error.or_else(|| self.stderr.lines().next()).unwrap_or_default();
        match self.code {
            _ if self.hangs => format!("hangs: {first}"),
            Some(0) => "exit 0".to_owned(),
            Some(code) => format!("exit {code}: {first}"),
            None => format!("aborts: {first}"),
        }
    }
}

/// Runs a program under [`MOST_KIB`] and [`MOST_SECONDS`], where there is a shell that can set limits.
///
/// # Errors
/// A program that cannot be started.
pub fn run<S: AsRef<OsStr>>(program: &Path, arguments: &[S]) -> std::io::Result<Ended> {
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -v \"$0\"; ulimit -t \"$1\"; shift; exec \"$@\""]);
        shell.args([MOST_KIB.to_string(), MOST_SECONDS.to_string()]);
        shell.arg(program);
        shell
    } else {
        Command::new(program)
    };
    let mut child = command
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = child.stdout.take().map(reader);
    let stderr = child.stderr.take().map(reader);
    let (code, hangs) = wait(&mut child)?;
    let text = |reader: Option<std::thread::JoinHandle<Vec<u8>>>| {
        let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(Ended { code, hangs, stdout: text(stdout), stderr: text(stderr) })
}

/// A full pipe would stop the process.
fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn wait(child: &mut Child) -> std::io::Result<(Option<i32>, bool)> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), out_of_time(status)));
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Ok((None, true));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The signal of the limit of processor time ended it, or the one that follows a second later.
#[cfg(unix)]
fn out_of_time(status: std::process::ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    matches!(status.signal(), Some(24 | 9))
}

#[cfg(not(unix))]
fn out_of_time(_: std::process::ExitStatus) -> bool {
    false
}
