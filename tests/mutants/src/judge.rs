//! The verdicts.

use crate::list::{self, Mutant};
use crate::tests::{self, End};
use crate::weave::Unwoven;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What became of a mutant.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Verdict {
    id: usize,
    /// What caught it.
    caught: Option<String>,
    /// By its time.
    time_out: bool,
    /// How many tests reach it.
    reached_by: usize,
    /// Tests of this round of `cover` and before were tried, up to so many seconds each.
    round: usize,
    most: Option<f64>,
}

fn verdicts(work: &Path) -> BTreeMap<usize, Verdict> {
    let text = std::fs::read_to_string(work.join("verdicts.jsonl")).unwrap_or_default();
    let all = text.lines().filter_map(|line| serde_json::from_str::<Verdict>(line).ok());
    // The last one counts.
    all.map(|verdict| (verdict.id, verdict)).collect()
}

pub fn judge(work: &Path, jobs: usize, missed: bool, most: f64, place: &str) -> Result<(), String> {
    let drawn: Vec<Mutant> = list::read(&work.join("drawn.json"))?;
    let unwoven: Unwoven = list::read(&work.join("unwoven.json"))?;
    let table: tests::Table = list::read(&work.join("covered.json"))?;
    let known = verdicts(work);
    let round = table.values().map(|covered| covered.round).max().unwrap_or(0);
    let queue: Vec<&Mutant> = drawn
        .iter()
        .filter(|mutant| !unwoven.contains_key(&mutant.id) && mutant.what.file.starts_with(place))
        .filter(|mutant| match known.get(&mutant.id) {
            Some(verdict) => missed && verdict.caught.is_none(),
            None => true,
        })
        .collect();
    println!("{} to judge", queue.len());
    let next = AtomicUsize::new(0);
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(work.join("verdicts.jsonl"))
        .map_err(|e| e.to_string())?;
    let file = Mutex::new(file);
    // What caught mutants of a file catches others of it, often.
    let catchers: Mutex<BTreeMap<&str, Vec<String>>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some(mutant) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let before = known.get(&mutant.id);
                    let of_file = mutant.what.file.as_str();
                    let first = catchers.lock().unwrap().get(of_file).cloned().unwrap_or_default();
                    let folder = of_file.split("/src/").next().unwrap_or("");
                    let verdict = one(mutant.id, &table, folder, &first, before, most, round);
                    if let Some(by) = &verdict.caught
                        && !first.contains(by)
                        && table.contains_key(by)
                    {
                        catchers.lock().unwrap().entry(of_file).or_default().push(by.clone());
                    }
                    let line = serde_json::to_string(&verdict).unwrap_or_default();
                    let by = verdict.caught.as_deref().unwrap_or("MISSED");
                    let mut file = file.lock().unwrap();
                    let _ = writeln!(file, "{line}");
                    println!("{} {}: {by}", mutant.id, mutant.line());
                }
            });
        }
    });
    Ok(())
}

fn one(
    id: usize,
    table: &tests::Table,
    folder: &str,
    first: &[String],
    before: Option<&Verdict>,
    most: f64,
    round: usize,
) -> Verdict {
    let mut reaching: Vec<_> =
        table.iter().filter(|(_, covered)| covered.reached.contains(&id)).collect();
    let mut verdict = Verdict {
        id,
        caught: None,
        time_out: false,
        reached_by: reaching.len(),
        round,
        most: most.is_finite().then_some(most),
    };
    reaching.retain(|(_, covered)| {
        let tried = before.is_some_and(|verdict| {
            covered.round <= verdict.round
                && covered.seconds <= verdict.most.unwrap_or(f64::INFINITY)
        });
        !tried && covered.seconds <= most
    });
    reaching.sort_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds));
    for step in steps(&reaching, folder, first) {
        // The machine may be busy with something else.
        let seconds = 10.0 + 10.0 * step.seconds;
        match tests::run(&step.unit, &id.to_string(), None, seconds) {
            Ok(End::Code(code)) if code == step.code => continue,
            Ok(End::Code(_)) => {}
            Ok(End::TimeOut) => verdict.time_out = true,
            Err(message) => {
                println!("{message}");
                continue;
            }
        }
        verdict.caught = Some(step.name);
        break;
    }
    verdict
}

/// One process.
struct Step {
    name: String,
    unit: tests::Unit,
    code: i32,
    seconds: f64,
}

/// Tests in one process.
const TOGETHER: usize = 40;

/// What caught others of the file, then the tests of the mutant's own crate, then those of others, many in a process, then
/// the runners.
fn steps(reaching: &[(&String, &tests::Covered)], folder: &str, first: &[String]) -> Vec<Step> {
    let alone = |name: &String, covered: &tests::Covered| Step {
        name: name.clone(),
        unit: covered.unit.clone(),
        code: covered.code,
        seconds: covered.seconds,
    };
    let mut steps = Vec::new();
    let mut runners = Vec::new();
    let mut groups: BTreeMap<(bool, &str, usize), Vec<(&String, &tests::Covered)>> =
        BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for &(name, covered) in reaching {
        let executable = covered.unit.command[0].as_str();
        if first.contains(name) && covered.seconds < 2.0 && steps.len() < 6 {
            steps.push(alone(name, covered));
        } else if covered.unit.command[1] == "--exact" {
            let count = counts.entry(executable).or_default();
            let key = (!name.starts_with(folder), executable, *count / TOGETHER);
            *count += 1;
            groups.entry(key).or_default().push((name, covered));
        } else {
            runners.push(alone(name, covered));
        }
    }
    let mut together: Vec<_> = groups
        .into_iter()
        .map(|((foreign, executable, _), tests)| {
            let mut command = vec![executable.to_owned(), "--exact".to_owned()];
            command.extend(tests.iter().map(|(_, covered)| covered.unit.command[2].clone()));
            command.extend(["--test-threads".to_owned(), "1".to_owned()]);
            let seconds = tests.iter().map(|(_, covered)| covered.seconds).sum();
            let name = tests.first().map_or("", |(name, _)| name.as_str());
            let name = match tests.len() {
                1 => name.to_owned(),
                more => format!("{name} or one of {} with it", more - 1),
            };
            let unit = tests::Unit { command, folder: tests[0].1.unit.folder.clone() };
            (foreign, Step { name, unit, code: 0, seconds })
        })
        .collect();
    together.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.seconds.total_cmp(&b.1.seconds)));
    steps.extend(together.into_iter().map(|(_, step)| step));
    steps.extend(runners);
    steps
}

pub fn table(work: &Path) -> Result<(), String> {
    let drawn: Vec<Mutant> = list::read(&work.join("drawn.json"))?;
    let unwoven: Unwoven = list::read(&work.join("unwoven.json"))?;
    let known = verdicts(work);
    let mut rows: BTreeMap<&str, [usize; 7]> = BTreeMap::new();
    for mutant in &drawn {
        let mut columns = vec![0];
        match (unwoven.get(&mutant.id), known.get(&mutant.id)) {
            (Some(reason), _) if reason.starts_with("in a constant") => columns.push(2),
            (Some(_), _) => columns.push(1),
            (None, None) => columns.push(6),
            (None, Some(verdict)) if verdict.caught.is_none() => columns.push(5),
            (None, Some(verdict)) => {
                columns.push(3);
                columns.extend(verdict.time_out.then_some(4));
            }
        }
        for row in [mutant.place.as_str(), "~ all"] {
            for &column in &columns {
                rows.entry(row).or_default()[column] += 1;
            }
        }
    }
    println!(
        "| place | drawn | unviable | in const fn | caught | of it by time | missed | not judged | caught of the judged |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (place, row) in rows {
        let cells: Vec<String> = row.iter().map(usize::to_string).collect();
        let share = 100.0 * row[3] as f64 / (row[3] + row[5]).max(1) as f64;
        println!("| `{}` | {} | {share:.1} % |", place.trim_start_matches("~ "), cells.join(" | "));
    }
    println!();
    for mutant in &drawn {
        if let Some(verdict) = known.get(&mutant.id)
            && verdict.caught.is_none()
            && !unwoven.contains_key(&mutant.id)
        {
            println!("{} (reached by {}) {}", mutant.id, verdict.reached_by, mutant.line());
        }
    }
    Ok(())
}
