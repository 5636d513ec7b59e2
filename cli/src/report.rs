//! `gpucc report`: compares two runs over the same shaders.

use super::args::ReportArgs;
use super::compile;
use super::figures::{METRICS, Metric, Record};
use super::files::{self, Outputs};
use super::folders;
use super::names::{printable, shown};
use gpucc::Failure;
use gpucc::named::Figure;
use gpucc::report::{Report, Schema};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Records by what tells them apart.
type Run = BTreeMap<(String, String, String, String), Record>;

/// What a figure did.
#[derive(Debug, Serialize)]
struct Change {
    metric: &'static str,
    before: f64,
    after: f64,
    /// The geometric mean of after over before, over the entry points where both are above 0.
    geometric_mean: Option<f64>,
    helped: usize,
    hurt: usize,
    /// Those that changed most, the most helped first.
    best: Vec<One>,
    /// Those that changed most, the most hurt first.
    worst: Vec<One>,
}

/// One entry point's figure.
#[derive(Clone, Debug, Serialize)]
struct One {
    file: String,
    entry: String,
    stage: String,
    target: String,
    before: f64,
    after: f64,
}

#[derive(Debug, Serialize)]
struct Comparison {
    compared: usize,
    only_before: usize,
    only_after: usize,
    changes: Vec<Change>,
}

/// Compares; gives the exit code.
pub fn run(args: &ReportArgs) -> Result<u8, Failure> {
    if args.threshold.is_some_and(|most| !most.is_finite()) {
        return Err(Failure::usage("--threshold takes a number of percent"));
    }
    let metrics = metrics(&args.metric)?;
    let (before, after) = (read(&args.before)?, read(&args.after)?);
    let both: Vec<(&Record, &Record)> =
        before.iter().filter_map(|(key, old)| Some((old, after.get(key)?))).collect();
    if both.is_empty() {
        return Err(Failure::usage(format!(
            "{} and {} have no entry point in common",
            shown(&args.before),
            shown(&args.after)
        ))
        .note("compare folders of `--emit json`, or files of `batch --stats --json`"));
    }
    let names = args.names as usize;
    let result = Comparison {
        compared: both.len(),
        only_before: before.len() - both.len(),
        only_after: after.len() - both.len(),
        changes: metrics.iter().map(|metric| change(metric, &both, names)).collect(),
    };
    let mut outputs = Outputs::default();
    if args.json {
        outputs.print(&(serde_json::to_string_pretty(&result).expect("plain data") + "\n"));
    } else {
        outputs.print(&text(&result));
    }
    outputs.commit()?;
    let Some(most) = args.threshold else {
        return Ok(0);
    };
    let mut worse: Vec<String> = metrics
        .iter()
        .zip(&result.changes)
        .filter_map(|(metric, change)| {
            // What was 0 has no mean: the sums say whether it got worse.
            let none = change.before == 0.0 && change.after > 0.0 && metric.less;
            if none {
                return Some(format!("{} from 0 to {}", change.metric, Figure(change.after)));
            }
            let mean = change.geometric_mean?;
            let percent = if metric.less { mean - 1.0 } else { 1.0 - mean } * 100.0;
            (percent > most).then(|| format!("{} by {percent:.2} %", change.metric))
        })
        .collect();
    if result.only_before > 0 {
        let s = if result.only_before == 1 { "" } else { "s" };
        worse.push(format!("{} entry point{s} missing", result.only_before));
    }
    if worse.is_empty() {
        return Ok(0);
    }
    Err(Failure::mismatch(format!("worse than --threshold {most} %: {}", worse.join(", "))))
}

/// The figures that are compared.
fn metrics(names: &[String]) -> Result<Vec<&'static Metric>, Failure> {
    if names.is_empty() {
        return Ok(METRICS.iter().filter(|metric| metric.name != "compile_microseconds").collect());
    }
    names
        .iter()
        .flat_map(|names| names.split(','))
        .map(|name| {
            METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| {
                let known = METRICS.iter().map(|metric| metric.name);
                let message = format!("--metric knows no '{name}'");
                let list: Vec<&str> = known.clone().collect();
                super::unknown_name(message, name, known)
                    .note(format!("figures are {}", list.join(", ")))
            })
        })
        .collect()
}

/// The records of a file or of all files in a folder.
fn read(path: &Path) -> Result<Run, Failure> {
    let mut run = Run::new();
    if !path.is_dir() {
        read_file(path, "", &mut run)?;
        return Ok(run);
    }
    let found = folders::search(path, &["json", "jsonl"]);
    if let Some((_, failure)) = found.failures.into_iter().next() {
        return Err(failure);
    }
    for file in found.files {
        let inner = file.path.strip_prefix(path).unwrap_or(&file.path);
        read_file(&file.path, &inner.to_string_lossy(), &mut run)?;
    }
    if run.is_empty() {
        return Err(Failure::usage(format!("{} has no reports", shown(path)))
            .note("`gpucc batch --emit json -o DIR` writes them"));
    }
    Ok(run)
}

/// A report, or a record a line. A report's records are named by its place, so that two folders pair.
fn read_file(path: &Path, inner: &str, run: &mut Run) -> Result<(), Failure> {
    let text = files::read_text(path)?;
    /// What every layout begins with.
    #[derive(serde::Deserialize)]
    struct Head {
        schema: Schema,
    }
    if let Ok(Head { schema }) = serde_json::from_str(&text)
        && schema.version != Schema::CURRENT.version
    {
        let message = format!("{} has layout {} of reports", shown(path), schema.version);
        let own = format!("this gpucc reads layout {}", Schema::CURRENT.version);
        return Err(Failure::usage(message).note(own));
    }
    if let Ok(report) = serde_json::from_str::<Report>(&text) {
        for shader in report.shaders {
            let file = if inner.is_empty() { shader.source.clone() } else { inner.to_owned() };
            let record = Record::of(&file, report.target.clone(), report.chip.clone(), shader);
            run.insert(record.key(), record);
        }
        return Ok(());
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let record: Record = serde_json::from_str(line).map_err(|error| {
            Failure::usage(format!(
                "{} is neither a report nor a file of records: line {}: {error}",
                shown(path),
                number + 1
            ))
        })?;
        run.insert(record.key(), record);
    }
    Ok(())
}

fn change(metric: &Metric, both: &[(&Record, &Record)], names: usize) -> Change {
    let mut change = Change {
        metric: metric.name,
        before: 0.0,
        after: 0.0,
        geometric_mean: None,
        helped: 0,
        hurt: 0,
        best: Vec::new(),
        worst: Vec::new(),
    };
    let (mut logs, mut counted) = (0.0, 0u32);
    let mut changed: Vec<(f64, One)> = Vec::new();
    for (old, new) in both {
        let (before, after) = ((metric.get)(&old.stats), (metric.get)(&new.stats));
        change.before += before;
        change.after += after;
        if before > 0.0 && after > 0.0 {
            logs += (after / before).ln();
            counted += 1;
        }
        if before == after {
            continue;
        }
        let better = (after < before) == metric.less;
        if better {
            change.helped += 1;
        } else {
            change.hurt += 1;
        }
        // By how many times, above 1 where it was hurt. What was 0 comes last or first.
        let times = if metric.less { after / before } else { before / after };
        let one = One {
            file: old.file.clone(),
            entry: old.entry.clone(),
            stage: old.stage.to_string(),
            target: old.target.to_string(),
            before,
            after,
        };
        changed.push((times, one));
    }
    change.geometric_mean = (counted > 0).then(|| (logs / f64::from(counted)).exp());
    changed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let helped = changed.iter().take_while(|(times, _)| *times < 1.0);
    change.best = helped.take(names).map(|(_, one)| one.clone()).collect();
    let hurt = changed.iter().rev().take_while(|(times, _)| *times > 1.0);
    change.worst = hurt.take(names).map(|(_, one)| one.clone()).collect();
    change
}

fn text(result: &Comparison) -> String {
    let s = if result.compared == 1 { "" } else { "s" };
    let mut text = format!("{} entry point{s} in both", result.compared);
    for (count, what) in [(result.only_before, "before"), (result.only_after, "after")] {
        if count > 0 {
            let _ = write!(text, ", {count} only {what}");
        }
    }
    text.push_str("\n\n");
    let heads = ["figure", "", "before", "after", "change", "geo mean", "helped", "hurt"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for change in &result.changes {
        let percent = match change.before {
            0.0 if change.after == 0.0 => "0.0 %".to_owned(),
            0.0 => "-".to_owned(),
            before => format!("{:+.1} %", (change.after / before - 1.0) * 100.0),
        };
        let mean = change.geometric_mean.map_or("-".to_owned(), |mean| format!("{mean:.3}"));
        rows.push(vec![
            change.metric.to_owned(),
            String::new(),
            Figure(change.before).to_string(),
            Figure(change.after).to_string(),
            percent,
            mean,
            change.helped.to_string(),
            change.hurt.to_string(),
        ]);
    }
    text.push_str(&compile::table(&rows));
    for change in &result.changes {
        for (which, list) in [("helped", &change.best), ("hurt", &change.worst)] {
            if list.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n{} {which} most:", change.metric);
            for one in list {
                let (before, after) = (Figure(one.before), Figure(one.after));
                let (file, entry) = (printable(&one.file), printable(&one.entry));
                let _ = writeln!(text, "  {before} -> {after}  {file} {entry} ({})", one.stage);
            }
        }
    }
    text
}
