//! Very many inputs: handed out to processes, tallied, and what is found written down as small as it gets.

use super::child::{self, Answer};
use super::worker::{Cost, Fault, STRETCH};
use super::{Language, minimise};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Milliseconds that an input may take.
pub const MOST_TIME: u64 = 2000;
/// KiB that an input may take.
pub const MOST_MEMORY: u64 = 256 << 10;
/// Inputs of one process: each starts without what earlier ones left in memory.
const BATCH: u64 = 4 * STRETCH;

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Language.
    pub language: Language,
    /// Seed.
    pub seed: u64,
    /// The first input's number.
    pub first: u64,
    /// Inputs.
    pub count: u64,
    /// No new batch begins after this.
    pub time: Option<Duration>,
    /// Processes at a time.
    pub jobs: usize,
    /// Where inputs that find something are left.
    pub findings: PathBuf,
    /// A fault that a test puts in.
    pub fault: Option<Fault>,
}

/// Something found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The input's number.
    pub number: u64,
    /// What happened.
    pub name: String,
    /// What it took, alone.
    pub cost: Cost,
    /// Where the input is.
    pub file: PathBuf,
    /// How it is run.
    pub how: Vec<String>,
}

impl Finding {
    /// What, which input, what it took alone, where it is and how it is run.
    pub fn line(&self) -> String {
        let Cost { cpu, memory, .. } = self.cost;
        format!(
            "{}: input {}, {cpu} ms, {} MiB: {} {}",
            self.name,
            self.number,
            memory >> 10,
            self.file.display(),
            self.how.join(" ")
        )
    }
}

/// What came of a plan.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Inputs that were run.
    pub inputs: u64,
    /// Inputs by place and exit code; an input with several entry points counts once for each code.
    pub codes: BTreeMap<String, BTreeMap<u8, u64>>,
    /// How often each thing was found.
    pub found: BTreeMap<String, u64>,
    /// The first input of each.
    pub findings: Vec<Finding>,
    /// The most processor time in ms, and its input.
    pub slowest: (u64, u64),
    /// The most memory in KiB, and its input.
    pub largest: (u64, u64),
    /// What went wrong with the run itself.
    pub errors: Vec<String>,
}

impl Tally {
    fn note(&mut self, answer: &Answer) {
        self.inputs += 1;
        let distinct: BTreeSet<_> = answer.codes.iter().collect();
        for (place, code) in distinct {
            *self.codes.entry(place.clone()).or_default().entry(*code).or_default() += 1;
        }
    }

    fn cost(&mut self, number: u64, cost: Cost) {
        self.slowest = self.slowest.max((cost.cpu, number));
        self.largest = self.largest.max((cost.memory, number));
    }

    /// True when nothing was found and the run went well.
    pub fn holds(&self) -> bool {
        self.found.is_empty() && self.errors.is_empty()
    }

    /// How often something was found whose name begins so.
    fn times(&self, start: &str) -> u64 {
        let named = self.found.iter().filter(|(name, _)| name.starts_with(start));
        named.map(|(_, count)| count).sum()
    }

    /// The table: codes by place, what was found, the extremes.
    pub fn table(&self, plan: &Plan, seeds: usize, time: Duration) -> String {
        let mut out = String::new();
        let seconds = time.as_secs_f64();
        let _ = writeln!(
            out,
            "fuzz {}: {} inputs, seed {}, first {}, from {seeds} sources, {seconds:.0} s, {:.0} a second",
            plan.language.name(),
            self.inputs,
            plan.seed,
            plan.first,
            self.inputs as f64 / seconds.max(1e-3),
        );
        for (place, codes) in &self.codes {
            let _ = write!(out, "{place:>8}:");
            for (code, count) in codes {
                let _ = write!(out, " exit {code}: {count},");
            }
            out.pop();
            out.push('\n');
        }
        let ours = ["panic", "abort", "hang", "time", "memory"].map(|start| self.times(start));
        let rest = self.found.values().sum::<u64>() - ours.iter().sum::<u64>();
        let _ = writeln!(
            out,
            "{} panics, {} aborts, {} hangs, {rest} of exit 101 or unequal, {} above 2 s, {} above 256 MiB",
            ours[0], ours[1], ours[2], ours[3], ours[4]
        );
        let _ = writeln!(
            out,
            "most time {:.2} s (input {}), most memory {} MiB (input {})",
            self.slowest.0 as f64 / 1000.0,
            self.slowest.1,
            self.largest.0 >> 10,
            self.largest.1
        );
        for finding in &self.findings {
            let times = self.found.get(&finding.name).unwrap_or(&0);
            let _ = writeln!(out, "found {times} times: {}", finding.line());
        }
        for error in &self.errors {
            let _ = writeln!(out, "error: {error}");
        }
        out
    }
}

/// Runs a plan; `say` is told how far it is, once a minute.
pub fn run(plan: &Plan, say: impl Fn(&str) + Sync) -> Tally {
    let tally = Mutex::new(Tally::default());
    let next = AtomicU64::new(plan.first);
    let end = plan.first.saturating_add(plan.count);
    let start = Instant::now();
    let stop = AtomicBool::new(false);
    let told = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed)
                    && plan.time.is_none_or(|most| start.elapsed() < most)
                {
                    // Batches end where stretches do, for an input's seeds hang on its stretch.
                    let from = next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| {
                        (at < end).then(|| (at - at % BATCH + BATCH).min(end))
                    });
                    let Ok(from) = from else { break };
                    let to = (from - from % BATCH + BATCH).min(end);
                    if let Err(error) = batch(plan, from..to, &tally)
                        && let Ok(mut tally) = tally.lock()
                    {
                        tally.errors.push(format!("inputs {from} to {to}: {error}"));
                        stop.store(tally.errors.len() > 10, Ordering::Relaxed);
                    }
                    let minute = start.elapsed().as_secs() / 60;
                    if told.fetch_max(minute, Ordering::Relaxed) < minute
                        && let Ok(tally) = tally.lock()
                    {
                        let (inputs, found) = (tally.inputs, tally.found.len());
                        say(&format!("{minute} min: {inputs} inputs, {found} findings"));
                    }
                }
            });
        }
    });
    tally.into_inner().unwrap_or_default()
}

fn batch(plan: &Plan, numbers: std::ops::Range<u64>, tally: &Mutex<Tally>) -> std::io::Result<()> {
    let mut suspects = Vec::new();
    child::range(plan.language, plan.seed, numbers, plan.fault, |answer| {
        if let Ok(mut tally) = tally.lock() {
            tally.note(&answer);
            let Cost { cpu, memory, .. } = answer.cost;
            // The process keeps what earlier inputs took, and a busy machine makes everything slow: the input alone
            // decides. Where nothing is suspect, the figures stand.
            if answer.bug.is_some() || cpu > MOST_TIME || memory > MOST_MEMORY {
                suspects.push(answer);
            } else {
                tally.cost(answer.number, answer.cost);
            }
        }
    })?;
    for suspect in suspects {
        examine(plan, suspect, tally)?;
    }
    Ok(())
}

/// Runs a suspect alone; what stays is a finding, and the first of its name is written down.
fn examine(plan: &Plan, suspect: Answer, tally: &Mutex<Tally>) -> std::io::Result<()> {
    let number = suspect.number;
    let mut alone = None;
    child::range(plan.language, plan.seed, number..number + 1, plan.fault, |answer| {
        alone = Some(answer)
    })?;
    let cost = alone.as_ref().map_or(suspect.cost, |answer| answer.cost);
    let mut names: Vec<String> = suspect.bug.into_iter().collect();
    if names.is_empty() {
        names.extend(alone.and_then(|answer| answer.bug));
    }
    if cost.cpu > MOST_TIME {
        names.push("time above 2 s".to_owned());
    }
    if cost.memory > MOST_MEMORY {
        names.push("memory above 256 MiB".to_owned());
    }
    for name in names {
        let first = match tally.lock() {
            Ok(mut tally) => {
                tally.cost(number, cost);
                let count = tally.found.entry(name.clone()).or_default();
                *count += 1;
                // What takes too much has many causes under one name.
                *count == 1
                    || (*count <= 20 && (name.starts_with("time") || name.starts_with("memory")))
            }
            Err(_) => false,
        };
        if !first {
            continue;
        }
        std::fs::create_dir_all(&plan.findings)?;
        let ending = plan.language.endings()[0];
        // What takes too much stays as it is; the same input may break something besides, and gets smaller for it.
        let much = ["time", "memory"].into_iter().find(|start| name.starts_with(start));
        let much = much.map_or(String::new(), |much| format!("-{much}"));
        let language = plan.language.name();
        let file = format!("{language}-{}-{number}{much}.{ending}", plan.seed);
        let file = plan.findings.join(file);
        let how = child::write(plan.language, plan.seed, number, &file)?;
        let how = minimise::file(plan.language, &file, &how, &name)?;
        let finding = Finding { number, name, cost, file, how };
        if let Ok(mut tally) = tally.lock() {
            // A long run tells at once what it has found.
            let list = plan.findings.join("findings.txt");
            let list = std::fs::OpenOptions::new().append(true).create(true).open(list);
            list.and_then(|mut list| list.write_all(format!("{}\n", finding.line()).as_bytes()))?;
            tally.findings.push(finding);
        }
    }
    Ok(())
}
