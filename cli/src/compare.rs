//! `gpucc compare`: a table of one shader on every machine.

use super::args::CompareArgs;
use super::console::Console;
use super::figures::Record;
use super::files::Outputs;
use super::input::{self, Choice, Input};
use super::names::printable;
use super::{bundle, compile, emit};
use gpucc::named::Figure;
use gpucc::{Column, Compiled, Compiler, Diagnostic, Failure, FailureKind, Stage, Target};
use std::path::Path;

/// Prints the table; gives the exit code. A machine that cannot run the shader is an answer: its row
/// says why. The code is 0 as soon as some machine has code for every entry point; a bug of ours is
/// 101 whatever the others say.
pub fn run(args: &CompareArgs, console: &mut Console) -> Result<u8, Failure> {
    // Standard output holds one thing.
    let page_alone = args.html.as_deref() == Some(Path::new("-"));
    if args.json && page_alone {
        return Err(Failure::usage("--json and --html - both want standard output"));
    }
    let mut options = input::options(&args.source, &args.code)?;
    options.keep_machine_ir = args.html.is_some();
    let machines = machines(args.targets.as_deref())?;
    let input = Input::read(&args.file, args.source.lang)?;
    let stage = args.entry.stage.map(Stage::from);
    let choice = Choice { entry: args.entry.entry.as_deref(), stage };
    let Some(first) = machines.first() else {
        return Err(Failure::usage("--targets names no machine").note(super::target_names()));
    };
    // The source is read once per machine, since the reader may refuse what only that machine lacks.
    let mut parsed = vec![input::parse(first, &input, choice, &options, console)?];
    for machine in &machines[1..] {
        parsed.push(machine.parse(input.source(stage)?, choice, &input.options(&options))?);
    }
    for one in &mut parsed {
        input::choose(one, choice.entry, stage)?;
    }
    let mut rows = vec![
        [
            "entry",
            "machine",
            "instr",
            "bytes",
            "regs",
            "occupancy",
            "cycles",
            "at least",
            "gap",
            "bound by",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    // A reason takes the place of figures, after the table is laid out.
    let mut reasons = Vec::new();
    let mut objects = Vec::new();
    let (mut failures, mut compiled_somewhere) = (Vec::new(), true);
    // What the page shows of each machine: entry points, and messages for those that did not compile.
    let mut pages: Vec<(Vec<Compiled>, Vec<Diagnostic>)> = vec![Default::default(); machines.len()];
    for index in 0..parsed[0].entries.len() {
        let mut any = false;
        for ((compiler, parsed), page) in machines.iter().zip(&parsed).zip(&mut pages) {
            let entry = &parsed.entries[index];
            let machine = match compiler.chip() {
                Some(chip) => format!("{} {chip}", compiler.target().name()),
                None => compiler.target().name().to_owned(),
            };
            let name = match entry.stage {
                Some(stage) => format!("{} ({})", printable(&entry.name), stage.name()),
                None => printable(&entry.name),
            };
            let name = if compiler.target() == first.target() && compiler.chip() == first.chip() {
                name
            } else {
                String::new()
            };
            match compile::entry_point(compiler, entry, &options) {
                Ok(one) => {
                    any = true;
                    let shader = gpucc::shader_report(&one, &input.text, parsed.frontend_time);
                    rows.push(row(name, machine, &shader.stats));
                    reasons.push(None);
                    let file = args.file.to_string_lossy();
                    let (target, chip) = (compiler.target().name(), compiler.chip());
                    let record = Record::of(&file, target.into(), chip.map(Into::into), shader);
                    objects.push(serde_json::to_value(&record).expect("plain data"));
                    page.0.push(one);
                }
                Err(mut failure) => {
                    bundle::attach(&mut failure, &input.text);
                    objects.push(serde_json::json!({
                        "file": args.file.to_string_lossy(),
                        "target": compiler.target().name(),
                        "chip": compiler.chip(),
                        "entry": entry.name,
                        "stage": entry.stage.map(Stage::name),
                        "exit_code": failure.exit_code(),
                        "failure": failure.summary(),
                    }));
                    rows.push(vec![name, machine]);
                    reasons.push(Some(reason(&failure)));
                    page.1.extend(failure.diagnostics.iter().cloned());
                    failures.push(failure);
                }
            }
        }
        compiled_somewhere &= any;
    }
    for row in &mut rows {
        row.resize(10, String::new());
    }
    let mut outputs = Outputs::default();
    if args.json {
        outputs.print(&(serde_json::to_string_pretty(&objects).expect("plain data") + "\n"));
    } else if !page_alone {
        let table = compile::table(&rows);
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let left = width(0).unwrap_or(0) + 2 + width(1).unwrap_or(0);
        for (line, reason) in table.lines().zip(std::iter::once(&None).chain(&reasons)) {
            match reason {
                Some(reason) => outputs.print(&format!("{line:<left$}  {reason}\n")),
                None => outputs.print(&format!("{line}\n")),
            }
        }
    }
    if let Some(path) = &args.html {
        outputs.keep(&args.file);
        let columns = machines.iter().zip(&parsed).zip(&pages);
        let reports = columns.map(|((compiler, parsed), (compiled, errors))| {
            emit::whole_report(&emit::Outcome {
                compiler,
                preprocessed: None,
                source: &input.text,
                made: emit::Made::Now(compiled),
                stem: emit::stem(&input.text),
                frontend_time: parsed.frontend_time,
                warnings: &parsed.warnings,
                errors,
            })
        });
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        let columns = pages.iter().zip(&reports);
        let columns: Vec<Column<'_>> =
            columns.map(|((compiled, _), report)| Column { compiled, report }).collect();
        let page = gpucc::explorer(&input.text, &columns)?;
        outputs.put(Some(path), page.into_bytes(), false);
    }
    outputs.commit()?;
    let ours =
        failures.iter().filter(|failure| matches!(failure.kind, FailureKind::Internal { .. }));
    for failure in ours.clone() {
        console.failure(failure);
    }
    Ok(match ours.count() {
        0 if compiled_somewhere => 0,
        _ => compile::worst(failures.iter()),
    })
}

/// Compilers for the machines that are named, or for all that are built.
fn machines(names: Option<&str>) -> Result<Vec<Compiler>, Failure> {
    let Some(names) = names else {
        return Target::machines().map(|target| Compiler::new(target, None)).collect();
    };
    names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let (name, chip) = match name.split_once(':') {
                Some((name, chip)) => (name, Some(chip)),
                None => (name, None),
            };
            let (target, chip) = super::named_target(name, chip)?;
            if target == Target::Interp {
                return Err(Failure::usage(
                    "target interp is no machine: it has no figures to compare",
                ));
            }
            Compiler::new(target, chip)
        })
        .collect()
}

fn row(name: String, machine: String, stats: &gpucc::report::Stats) -> Vec<String> {
    let gap = if stats.cycles_lower_bound > 0.0 {
        format!("{:.2}x", stats.cycles / stats.cycles_lower_bound)
    } else {
        "-".to_owned()
    };
    vec![
        name,
        machine,
        stats.instructions.to_string(),
        stats.code_bytes.to_string(),
        stats.registers.to_string(),
        format!("{:.0} %", 100.0 * stats.occupancy),
        Figure(stats.cycles).to_string(),
        Figure(stats.cycles_lower_bound).to_string(),
        gap,
        stats.bound_unit.clone(),
    ]
}

/// Why a machine has no figures, in a line.
fn reason(failure: &Failure) -> String {
    let text = match &failure.kind {
        FailureKind::Refused { feature, manual } => format!("cannot: {feature} ({manual})"),
        _ => failure.summary().to_owned(),
    };
    let line = text.lines().next().unwrap_or_default();
    format!("exit {}: {line}", failure.exit_code())
}
