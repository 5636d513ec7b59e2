//! What can catch a mutant, and which switches each of it reaches.

use crate::list;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// One test of a test binary, or one run of a runner.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unit {
    pub command: Vec<String>,
    pub folder: String,
}

/// What an undisturbed run of a unit showed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Covered {
    pub unit: Unit,
    /// The exit code that another must not differ from.
    pub code: i32,
    pub seconds: f64,
    /// Which call of `cover` ran it.
    pub round: usize,
    pub reached: BTreeSet<usize>,
}

pub type Table = BTreeMap<String, Covered>;

/// The end of a run.
pub enum End {
    Code(i32),
    /// It took longer than it may.
    TimeOut,
}

/// Runs a unit with the variable `MUTANT` at `mutant` and no more than 4 GiB of address space.
pub fn run(unit: &Unit, mutant: &str, reached: Option<&Path>, seconds: f64) -> Result<End, String> {
    let limit = "ulimit -v 4194304; exec \"$0\" \"$@\"";
    let mut command = Command::new("timeout");
    command
        .args(["--kill-after=1", &format!("{seconds:.0}"), "sh", "-c", limit])
        .args(&unit.command)
        .current_dir(&unit.folder)
        .env("MUTANT", mutant)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(path) = reached {
        command.env("MUTANT_REACHED", path);
    }
    let status = command.status().map_err(|e| format!("timeout: {e}"))?;
    Ok(match status.code() {
        Some(124 | 137) => End::TimeOut,
        code => End::Code(code.unwrap_or(-1)),
    })
}

/// Runs what has not been run yet (all of it where `covered.json` is absent), for `most` seconds each.
pub fn cover(work: &Path, jobs: usize, most: f64) -> Result<(), String> {
    let path = work.join("covered.json");
    let mut table: Table = list::read(&path).unwrap_or_default();
    let round = table.values().map(|covered| covered.round).max().unwrap_or(0) + 1;
    let units = units(work)?;
    // What was removed or renamed is no test any more.
    table.retain(|name, _| units.contains_key(name));
    let mut new: Vec<_> = units.into_iter().filter(|(name, _)| !table.contains_key(name)).collect();
    // What is small and near the mutants comes first, so that a judge can begin before the end.
    let order = ["ir", "isa", "emu", "machine", "passes", "regalloc", "backends", "gpucc-tests"];
    let rank = |name: &str| order.iter().position(|first| name.starts_with(first));
    new.sort_by_key(|(name, _)| rank(name).unwrap_or(order.len()));
    println!("{} known, {} to run", table.len(), new.len());
    let next = AtomicUsize::new(0);
    let shared = Mutex::new((table, Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..jobs.max(1) {
            let (next, shared, new, path) = (&next, &shared, &new, &path);
            scope.spawn(move || {
                let file = std::path::absolute(work.join(format!("reached{worker}"))).unwrap();
                while let Some((name, unit)) = new.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let _ = std::fs::remove_file(&file);
                    let start = Instant::now();
                    let end = run(unit, "cover", Some(&file), most);
                    let seconds = start.elapsed().as_secs_f64();
                    let text = std::fs::read_to_string(&file).unwrap_or_default();
                    let reached = text.lines().filter_map(|line| line.parse().ok()).collect();
                    let mut shared = shared.lock().unwrap();
                    match end {
                        // A runner ends with 3 for what the silicon refuses.
                        Ok(End::Code(code @ (0 | 3))) => {
                            let unit = unit.clone();
                            let covered = Covered { unit, code, seconds, round, reached };
                            shared.0.insert(name.clone(), covered);
                        }
                        Ok(End::Code(code)) => shared.1.push(format!("{name}: ends with {code}")),
                        Ok(End::TimeOut) => shared.1.push(format!("{name}: over {most} s")),
                        Err(message) => shared.1.push(format!("{name}: {message}")),
                    }
                    // What is known is kept when the run is stopped.
                    if shared.0.len() % 50 == 0 {
                        let _ = list::write(path, &shared.0);
                    }
                }
            });
        }
    });
    let (table, failures) = shared.into_inner().unwrap();
    let total: f64 = table.values().map(|covered| covered.seconds).sum();
    println!("{} pass, {total:.0} s in all; {} fail undisturbed:", table.len(), failures.len());
    for failure in failures {
        println!("{failure}");
    }
    list::write(&path, &table)
}

/// The tests of every test binary, and the quick runners, by name.
fn units(work: &Path) -> Result<BTreeMap<String, Unit>, String> {
    let built: Vec<(String, String, String)> = list::read(&work.join("built.json"))?;
    let tree = std::path::absolute(work.join("tree")).map_err(|e| e.to_string())?;
    let root = tree.to_string_lossy().into_owned();
    let mut units = BTreeMap::new();
    let mut binaries = BTreeMap::new();
    for (kind, executable, manifest) in built {
        let folder = manifest.trim_end_matches("/Cargo.toml").to_owned();
        let file = executable.rsplit('/').next().unwrap_or("").to_owned();
        if kind == "bin" {
            binaries.insert(file, executable);
            continue;
        }
        let listed = Command::new(&executable)
            .args(["--list", "--format", "terse"])
            .current_dir(&folder)
            .output()
            .map_err(|e| format!("{executable}: {e}"))?;
        let package = folder.strip_prefix(&root).unwrap_or("").trim_start_matches('/');
        let kind = file.rsplit_once('-').map_or("", |(name, _)| name);
        for line in String::from_utf8_lossy(&listed.stdout).lines() {
            let Some(test) = line.strip_suffix(": test") else {
                continue;
            };
            let arguments = [&executable, "--exact", test, "--test-threads", "1"];
            let command = arguments.map(str::to_owned).to_vec();
            let unit = Unit { command, folder: folder.clone() };
            units.insert(format!("{package} {kind} {test}"), unit);
        }
    }
    let mut runner = |binary: &str, arguments: &str| {
        let Some(path) = binaries.get(binary) else {
            return;
        };
        let words = std::iter::once(path.as_str()).chain(arguments.split(' '));
        let command = words.map(str::to_owned).collect();
        let unit = Unit { command, folder: root.clone() };
        units.insert(format!("{binary} {arguments}"), unit);
    };
    for target in ["r700", "r600", "valhall"] {
        for seed in (0..300).step_by(30) {
            let arguments = format!("--target {target} programs --seed {seed} --count 30");
            runner("gpucc-tests", &arguments);
        }
        for sample in std::fs::read_dir(tree.join("samples")).map_err(|e| e.to_string())? {
            let name = sample.map_err(|e| e.to_string())?.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".wgsl") {
                runner("gpucc", &format!("verify samples/{name} --target {target} --inputs 16"));
            }
        }
        if target != "r600" {
            runner("gpucc-tests", &format!("--target {target} mutate"));
        }
    }
    Ok(units)
}
