//! Figures of entry points, one record each: what `batch --stats` writes and `report` reads.

use super::compile;
use super::names::printable;
use gpucc::named::{Figure, Name, Named};
use gpucc::report::{Shader, Stats};
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// The figures of one entry point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Source file, as it was named.
    pub file: String,
    /// Target name.
    pub target: Name,
    /// Chip name, absent for the interpreter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip: Option<Name>,
    /// Entry point.
    pub entry: String,
    /// `vertex`, `fragment` or `compute`.
    pub stage: Name,
    /// Figures that every machine has.
    pub stats: Stats,
    /// Figures of the machine.
    #[serde(default)]
    pub machine: Named<Figure>,
}

impl Record {
    /// The figures of a report's shader.
    pub fn of(file: &str, target: Name, chip: Option<Name>, shader: Shader) -> Record {
        Record {
            file: file.to_owned(),
            target,
            chip,
            entry: shader.entry,
            stage: shader.stage,
            stats: shader.described.stats,
            machine: shader.described.machine,
        }
    }

    /// The key of the record within a run.
    pub fn key(&self) -> (String, String, String, String) {
        let chip = self.chip.as_ref().map_or("", |chip| chip);
        (
            self.file.clone(),
            self.entry.clone(),
            self.stage.to_string(),
            format!("{} {chip}", self.target),
        )
    }
}

/// A figure that has a name in reports, and whether less of it is better.
pub struct Metric {
    /// The report's key.
    pub name: &'static str,
    /// Its value.
    pub get: fn(&Stats) -> f64,
    /// Less is better.
    pub less: bool,
}

/// The figures that runs are compared by.
pub const METRICS: [Metric; 9] = [
    Metric { name: "instructions", get: |stats| stats.instructions as f64, less: true },
    Metric { name: "code_bytes", get: |stats| stats.code_bytes as f64, less: true },
    Metric { name: "cycles", get: |stats| stats.cycles, less: true },
    Metric { name: "registers", get: |stats| stats.registers as f64, less: true },
    Metric { name: "spills", get: |stats| stats.spills as f64, less: true },
    Metric { name: "fills", get: |stats| stats.fills as f64, less: true },
    Metric { name: "scratch_bytes", get: |stats| stats.scratch_bytes as f64, less: true },
    Metric { name: "occupancy", get: |stats| stats.occupancy, less: false },
    Metric {
        name: "compile_microseconds",
        get: |stats| stats.compile_microseconds as f64,
        less: true,
    },
];

/// A table for people.
pub fn table(records: &[Record]) -> String {
    let heads = [
        "entry", "file", "instr", "bytes", "regs", "spills", "scratch", "cycles", "bound by", "us",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for record in records {
        let stats = &record.stats;
        rows.push(vec![
            printable(&record.entry),
            printable(&record.file),
            stats.instructions.to_string(),
            stats.code_bytes.to_string(),
            stats.registers.to_string(),
            stats.spills.to_string(),
            stats.scratch_bytes.to_string(),
            Figure(stats.cycles).to_string(),
            stats.bound_unit.clone(),
            stats.compile_microseconds.to_string(),
        ]);
    }
    compile::table(&rows)
}

/// Comma-separated values with a head (RFC 4180).
pub fn csv(records: &[Record]) -> String {
    let mut text = String::from("file,target,chip,entry,stage");
    for metric in &METRICS {
        text.push(',');
        text.push_str(metric.name);
    }
    text.push_str(",bound_unit\n");
    for record in records {
        let chip = record.chip.as_ref().map_or("", |chip| chip);
        let names = [&record.file[..], &record.target, chip, &record.entry, &record.stage];
        let names: Vec<String> = names.into_iter().map(quoted).collect();
        text.push_str(&names.join(","));
        for metric in &METRICS {
            let _ = write!(text, ",{}", (metric.get)(&record.stats));
        }
        let _ = writeln!(text, ",{}", quoted(&record.stats.bound_unit));
    }
    text
}

/// A value of a row: in quotes where it has a comma, a quote or the end of a line.
fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

/// One JSON object a line.
pub fn json_lines(records: &[Record]) -> String {
    let line = |record| serde_json::to_string(record).expect("plain data") + "\n";
    records.iter().map(line).collect()
}
