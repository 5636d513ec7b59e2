//! Inputs in processes of their own, with a limit of memory: an abort, a stack overflow or a hang ends the process and
//! names its input.

use super::worker::{Cost, Fault};
use super::{Input, Language};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Address space of a process in KiB: four times what an input may touch, for stacks and arenas are mostly untouched.
pub const MOST_ADDRESSES: u64 = 1 << 20;
/// Seconds without an answer after which an input hangs, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a process said of one input.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The input's number.
    pub number: u64,
    /// What it took.
    pub cost: Cost,
    /// Exit codes by place.
    pub codes: Vec<(String, u8)>,
    /// Why it is a finding: our bug, an abort or a hang.
    pub bug: Option<String>,
}

/// This program with a limit of memory and other arguments.
fn limited(arguments: &[String]) -> std::io::Result<Child> {
    let program = std::env::current_exe()?;
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -v \"$0\"; exec \"$@\""]);
        shell.arg(MOST_ADDRESSES.to_string()).arg(program);
        shell
    } else {
        Command::new(program)
    };
    command
        .arg("fuzz-worker")
        .args(arguments)
        // The first line of a message names what ended the process.
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Runs a process; tells each answer. Gives the number of the input that ended the process before its time, with why.
fn run(
    arguments: &[String],
    mut tell: impl FnMut(Answer),
) -> std::io::Result<Option<(u64, String)>> {
    let mut child = limited(arguments)?;
    let stdout = child.stdout.take().expect("piped");
    let mut stderr = child.stderr.take().expect("piped");
    let (lines, answers) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                break;
            }
        }
    });
    // Messages are few, but a pipe that nobody empties would stop the process.
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut begun = None;
    let mut hangs = false;
    loop {
        match answers.recv_timeout(PATIENCE) {
            Ok(line) => match line.strip_prefix("@ ") {
                Some(number) => begun = number.parse().ok(),
                None => {
                    begun = None;
                    if let Some(answer) = answer(&line) {
                        tell(answer);
                    }
                }
            },
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                hangs = true;
                child.kill()?;
            }
        }
    }
    let status = child.wait()?;
    let _ = reader.join();
    let complaints = complaints.join().unwrap_or_default();
    if hangs {
        return Ok(begun.map(|number| (number, "hang: no answer in 60 s".to_owned())));
    }
    if status.success() {
        return Ok(None);
    }
    let last = complaints.lines().find(|line| !line.trim().is_empty());
    let why = super::one::name(&format!("abort: {status}: {}", last.unwrap_or_default()));
    match begun {
        Some(number) => Ok(Some((number, why))),
        None => Err(std::io::Error::other(format!("a worker ends between inputs: {why}"))),
    }
}

fn answer(line: &str) -> Option<Answer> {
    let (head, bug) = line.strip_prefix("= ")?.split_once('\t')?;
    let mut fields = head.split(' ');
    let mut next = || fields.next()?.parse::<u64>().ok();
    let number = next()?;
    let cost = Cost { cpu: next()?, wall: next()?, memory: next()? };
    let codes = fields.next()?.split(',').filter_map(|pair| {
        let (place, code) = pair.split_once(':')?;
        Some((place.to_owned(), code.parse().ok()?))
    });
    Some(Answer {
        number,
        cost,
        codes: codes.collect(),
        bug: (!bug.is_empty()).then(|| bug.to_owned()),
    })
}

/// Runs the inputs of a range, in as many processes as it takes, and tells an answer for each.
///
/// # Errors
/// A process that cannot be started, or that ends between inputs.
pub fn range(
    language: Language,
    seed: u64,
    numbers: std::ops::Range<u64>,
    fault: Option<Fault>,
    mut tell: impl FnMut(Answer),
) -> std::io::Result<()> {
    let mut first = numbers.start;
    while first < numbers.end {
        let mut arguments = arguments(language, seed, first..numbers.end);
        if let Some(fault) = fault.and_then(|fault| clap::ValueEnum::to_possible_value(&fault)) {
            arguments.extend(["--fault".to_owned(), fault.get_name().to_owned()]);
        }
        let Some((number, why)) = run(&arguments, &mut tell)? else {
            break;
        };
        tell(Answer {
            number,
            cost: Cost::default(),
            codes: vec![("process".to_owned(), 134)],
            bug: Some(why),
        });
        first = number + 1;
    }
    Ok(())
}

fn arguments(language: Language, seed: u64, numbers: std::ops::Range<u64>) -> Vec<String> {
    [
        ("--language", language.name().to_owned()),
        ("--seed", seed.to_string()),
        ("--first", numbers.start.to_string()),
        ("--end", numbers.end.to_string()),
    ]
    .into_iter()
    .flat_map(|(name, value)| [name.to_owned(), value])
    .collect()
}

/// Writes the input of a number to a file, by a process of its own, for making seeds runs the compiler; gives its
/// variant, stage and machine as arguments.
///
/// # Errors
/// A process that fails.
pub fn write(
    language: Language,
    seed: u64,
    number: u64,
    file: &Path,
) -> std::io::Result<Vec<String>> {
    let mut arguments = arguments(language, seed, number..number + 1);
    arguments.push("--write".to_owned());
    arguments.push(file.to_string_lossy().into_owned());
    let output = limited(&arguments)?.wait_with_output()?;
    if !output.status.success() {
        return Err(std::io::Error::other("an input cannot be made again"));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// Runs one file alone.
///
/// # Errors
/// A process that cannot be started.
pub fn file(language: Language, file: &Path, how: &[String]) -> std::io::Result<Answer> {
    let mut arguments =
        vec!["--language".to_owned(), language.name().to_owned(), "--file".to_owned()];
    arguments.push(file.to_string_lossy().into_owned());
    arguments.extend(how.iter().cloned());
    let mut found = None;
    let ended = run(&arguments, |answer| found = Some(answer))?;
    let ended = ended.map(|(number, why)| Answer {
        number,
        cost: Cost::default(),
        codes: vec![("process".to_owned(), 134)],
        bug: Some(why),
    });
    found.or(ended).ok_or_else(|| std::io::Error::other("a worker says nothing"))
}

/// The arguments that say how an input is run.
pub fn how(input: &Input) -> Vec<String> {
    [
        ("--variant", input.variant.to_string()),
        ("--stage", input.stage.name().to_owned()),
        ("--machine", input.target.name().to_owned()),
    ]
    .into_iter()
    .flat_map(|(name, value)| [name.to_owned(), value])
    .collect()
}
