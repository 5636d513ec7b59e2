//! What other compilers make of the same shaders: `peers/peers.jsonl` of the shared folder against
//! ours, shader by shader, like with like as its README asks.

use gpucc::pipeline::{Fetch, Uniforms, VertexState};
use gpucc::report::Shader;
use gpucc::{
    Choice, Compiled, Compiler, Options, Robust, Source, SourceText, Stage, shader_report,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// One figure of one shader: smaller is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What is counted.
    pub name: &'static str,
    /// Ours.
    pub ours: f64,
    /// The best of the peers, each figure for itself.
    pub bar: f64,
}

impl Figure {
    /// Ours over theirs; where one of them is nothing, both with one more.
    pub fn ratio(&self) -> f64 {
        if self.ours == 0.0 || self.bar == 0.0 {
            (self.ours + 1.0) / (self.bar + 1.0)
        } else {
            self.ours / self.bar
        }
    }
}

/// One shader that peers took.
#[derive(Clone, Debug)]
pub struct Row {
    /// Path within the shared folder.
    pub path: String,
    /// Stage.
    pub stage: Stage,
    /// Figures in the order of the table, or why we have none.
    pub figures: Result<Vec<Figure>, String>,
}

/// A comparison: which peers, and what is set so that like meets like.
#[derive(Clone, Debug)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// One for each shader.
    pub rows: Vec<Row>,
}

/// What a shader is measured against: compilers that the list has figures of.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Against {
    /// sfn25, sfn26 and sb22.
    Sfn,
    /// pan25 and pan26: uniforms loaded from a buffer.
    Pan,
    /// pan25plain: uniforms pushed to constant words.
    PanPlain,
    /// elk26: one program of 8 or 16 pixels, or of two vertices, uniforms pushed.
    Elk,
    /// pco26: groups, uniforms loaded.
    Pco,
}

/// Groups of a fragment shader of pco26 that are its driver's conventions: its list says that a program of one uniform colour has 40,
/// and the colour itself is an address, a load, a wait and four words that are written.
const PCO_OVERHEAD: f64 = 40.0 - 7.0;

/// The comparisons for a target, by the peers that the list has for it.
fn tables(entries: &[Value], target: &str) -> Vec<(String, Against)> {
    let has = |peer: &str| entries.iter().any(|entry| !entry[target][peer].is_null());
    let all = [
        ("sb22", Against::Sfn, " against the best of sfn25, sfn26 and sb22"),
        ("pan26", Against::Pan, ", uniforms loaded, against the better of pan25 and pan26"),
        ("pan25plain", Against::PanPlain, ", uniforms pushed, against pan25plain"),
        (
            "elk26",
            Against::Elk,
            ", uniforms pushed, against elk26, cycles by each one's own model, of 16 pixels",
        ),
        (
            "pco26",
            Against::Pco,
            ", uniforms loaded, against pco26, groups without its driver's in fragments",
        ),
    ];
    let known = all.into_iter().filter(|&(peer, ..)| has(peer));
    known.map(|(_, against, title)| (format!("{target}{title}"), against)).collect()
}

/// Compiles every shader of the peers' list whose path contains `filter`. Like meets like with [`Robust::Off`]: peers leave
/// bounds to their machines and drivers.
///
/// # Errors
/// A list that cannot be read, or a target that it has no figures for.
pub fn run(
    compiler: &Compiler,
    shared: &Path,
    filter: &str,
    robust: Robust,
) -> Result<Vec<Table>, String> {
    let list = shared.join("peers/peers.jsonl");
    let text = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    let target = compiler.target().name();
    let tables = tables(&entries, target);
    if tables.is_empty() {
        return Err(format!("the peers' list has no bar for {target}"));
    }
    let mut out = Vec::new();
    for (title, against) in tables {
        let mut rows = Vec::new();
        for entry in &entries {
            let path = entry["path"].as_str().unwrap_or_default();
            let stage = match entry["stage"].as_str() {
                Some("vertex") => Stage::Vertex,
                Some("fragment") => Stage::Fragment,
                _ => continue,
            };
            let Some(peer) = entry.get(target).filter(|_| path.contains(filter)) else {
                continue;
            };
            rows.push(Row {
                path: path.to_owned(),
                stage,
                figures: ours(compiler, shared, path, (stage, against), robust)
                    .and_then(|report| figures(&report, peer, stage, against)),
            });
        }
        out.push(Table { title, rows });
    }
    Ok(out)
}

/// How many instructions the programs have that fixed function needs around the pairs of the list, by their names. The list has no
/// peer's figure of them. Empty where the target's fixed function has no programs.
///
/// # Errors
/// A list that cannot be read.
pub fn around(compiler: &Compiler, shared: &Path, filter: &str) -> Result<String, String> {
    let list = shared.join("peers/peers.jsonl");
    let text = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let paths: BTreeSet<String> =
        entries.filter_map(|entry| Some(entry["path"].as_str()?.to_owned())).collect();
    let mut sizes: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for path in paths.iter().filter(|path| path.contains(filter)) {
        let options = options(Stage::Fragment, Against::Elk, Robust::Off);
        let program = |stage: Stage| {
            let (_, compiled, _) = entry(compiler, shared, path, stage, &options).ok()?;
            compiled.binary.program
        };
        let pair = program(Stage::Vertex).zip(program(Stage::Fragment));
        let Some((vertex, fragment)) = pair else { continue };
        // Not every first vertex shader goes with the first fragment shader.
        for made in compiler.kernels(&vertex, &fragment, &options).unwrap_or_default() {
            let made = made.compiled();
            let name = made.programs.first().map_or("", |program| &program.name);
            let instructions = made.described.stats.instructions;
            sizes.entry(name.to_owned()).or_default().push(instructions);
        }
    }
    let mut out = String::new();
    for (name, mut sizes) in sizes {
        sizes.sort_unstable();
        let (least, most) = (sizes[0], sizes[sizes.len() - 1]);
        let (median, pairs) = (sizes[sizes.len() / 2], sizes.len());
        let _ = writeln!(
            out,
            "{name} of {pairs} pairs: {least} to {most} instructions, median {median}"
        );
    }
    Ok(out)
}

/// What is set so that like meets like.
fn options(stage: Stage, against: Against, robust: Robust) -> Options {
    let mut options = Options::default();
    options.robust = robust;
    options.overrides_default = Some(1.0);
    if against == Against::Sfn && stage == Stage::Vertex {
        options.pipeline.vertex =
            Some(VertexState { fetch: Fetch::Separate, ..VertexState::default() });
    }
    if matches!(against, Against::PanPlain | Against::Elk) {
        options.pipeline.uniforms = Uniforms::Pushed;
    }
    options
}

/// The first entry point of a stage, which is the one that the peers took, with its text and the time to read it.
fn entry(
    compiler: &Compiler,
    shared: &Path,
    path: &str,
    stage: Stage,
    options: &Options,
) -> Result<(String, Compiled, Duration), String> {
    let text = std::fs::read_to_string(shared.join(path)).map_err(|error| error.to_string())?;
    let say =
        |failure: gpucc::Failure| format!("exit {}: {}", failure.exit_code(), failure.summary());
    let choice = Choice { stage: Some(stage), ..Choice::default() };
    let parsed = compiler.parse(Source::Wgsl(&text), choice, options).map_err(say)?;
    let entry = parsed
        .entries
        .into_iter()
        .find(|entry| entry.stage == Some(stage))
        .ok_or("no entry point of this stage")?;
    let compiled = compiler.compile(&entry.func.map_err(say)?, options).map_err(say)?;
    Ok((text, compiled, parsed.frontend_time))
}

/// The report of an entry point.
fn ours(
    compiler: &Compiler,
    shared: &Path,
    path: &str,
    (stage, against): (Stage, Against),
    robust: Robust,
) -> Result<Shader, String> {
    let options = options(stage, against, robust);
    let (text, compiled, time) = entry(compiler, shared, path, stage, &options)?;
    let source = SourceText::new(path, Some(text));
    Ok(shader_report(&compiled, &source, time))
}

/// The least of a figure over some peers; `taken` is what each has to give back first.
fn least<'a>(peers: impl IntoIterator<Item = (&'a Value, f64)>, name: &str) -> Option<f64> {
    peers
        .into_iter()
        .filter_map(|(peer, taken)| Some((number(&peer[name])? - taken).max(0.0)))
        .min_by(f64::total_cmp)
}

/// A number, also where the list has it as text.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str().and_then(|text| text.parse().ok()))
}

/// The figures of a shader, or why a peer's are no bar.
fn figures(
    report: &Shader,
    peer: &Value,
    stage: Stage,
    against: Against,
) -> Result<Vec<Figure>, String> {
    let machine = |name: &str| report.machine.get(name).map(|figure| figure.0);
    let mut out = Vec::new();
    let mut add = |name: &'static str, ours: Option<f64>, bar: Option<f64>| {
        if let (Some(ours), Some(bar)) = (ours, bar) {
            out.push(Figure { name, ours, bar });
        }
    };
    if against == Against::Sfn {
        // SB ends every vertex shader with a clause of one NOP.
        let nop = if stage == Stage::Vertex { 1.0 } else { 0.0 };
        let best = |name: &str| {
            let taken = match name {
                "alu_groups" | "alu_slots" | "alu_clauses" => nop,
                _ => 0.0,
            };
            let all = [("sfn25", 0.0), ("sfn26", 0.0), ("sb22", taken)];
            let known = all.iter().filter_map(|&(name, taken)| Some((peer.get(name)?, taken)));
            least(known, name)
        };
        for name in ["alu_groups", "alu_slots", "gprs", "alu_clauses"] {
            // SB counts no register for a program that names none; a wavefront is given one.
            let least = if name == "gprs" { 1.0 } else { 0.0 };
            add(name, machine(name), best(name).map(|bar| bar.max(least)));
        }
        add("dwords", Some(report.code.bytes as f64 / 4.0), best("dwords"));
        return Ok(out);
    }
    if against == Against::Elk {
        let peer = &peer["elk26"];
        let theirs = |name: &str| number(&peer[name]);
        // A program of 8 pixels runs twice for 16; two vertices are two vertices on both sides.
        let pixels = match peer["mode"].as_str() {
            Some("SIMD16") => Some(16.0),
            Some("SIMD8") => Some(8.0),
            _ => None,
        };
        let times = |pixels: Option<f64>| pixels.map_or(1.0, |pixels| 16.0 / pixels);
        let lanes = machine("lanes").filter(|_| stage == Stage::Fragment);
        let mut of_pixels = |name, ours: Option<f64>, theirs: Option<f64>| {
            add(name, ours.map(|n| n * times(lanes)), theirs.map(|n| n * times(pixels)));
        };
        let instructions = report.stats.instructions as f64;
        // How often each runs for 16 pixels.
        let widths = lanes.and(pixels).map(|_| 1.0);
        of_pixels("instructions", Some(instructions), theirs("instructions"));
        of_pixels("cycles", Some(report.stats.cycles), theirs("cycles"));
        of_pixels("messages", machine("messages"), theirs("sends"));
        of_pixels("runs", widths, widths);
        add("bytes", Some(report.code.bytes as f64), theirs("bytes"));
        let spilled = peer["spills_fills"].as_str().and_then(|text| {
            let (stores, loads) = text.split_once(':')?;
            Some(stores.parse::<f64>().ok()? + loads.parse::<f64>().ok()?)
        });
        add("spills", Some((report.stats.spills + report.stats.fills) as f64), spilled);
        return Ok(out);
    }
    if against == Against::Pco {
        let peer = &peer["pco26"];
        let theirs = |name: &str| number(&peer[name]);
        let taken = if stage == Stage::Fragment { PCO_OVERHEAD } else { 0.0 };
        let ours = report.stats.instructions as f64;
        // A program that writes no colour, or a constant one, lacks a part of it.
        let bar = theirs("groups").map(|groups| groups - taken).filter(|groups| *groups > 0.0);
        add("groups", Some(ours), bar);
        add("groups and its driver's", Some(ours), theirs("groups"));
        add("bytes", Some(report.code.bytes as f64), theirs("bytes"));
        add("registers", Some(report.stats.registers as f64), theirs("temps"));
        return Ok(out);
    }
    let peers: &[&str] = match against {
        Against::PanPlain => &["pan25plain"],
        _ => &["pan25", "pan26"],
    };
    // A vertex shader is two programs: their figures are added up.
    let sum = |compiler: &str, names: &[&str]| -> Option<f64> {
        let programs = peer.get(compiler)?.as_array()?;
        let of = |program: &Value| names.iter().find_map(|name| number(&program[*name]));
        programs.iter().map(of).sum()
    };
    let instructions =
        peers.iter().filter_map(|name| sum(name, &["inst", "instrs"])).min_by(f64::total_cmp);
    // A program without instructions writes neither a position nor a colour: the peer's input was lost on its way.
    if instructions == Some(0.0) {
        return Err("the peer's programs are empty".to_owned());
    }
    add("instructions", Some(report.stats.instructions as f64), instructions);
    // The two releases count cycles in units of their own: one of them is the bar.
    let cycles = if against == Against::PanPlain { "pan25plain" } else { "pan26" };
    // 25 has 64 lanes start in a cycle of an execution unit, 26 and we 32, as the G57 does.
    let lanes = if against == Against::PanPlain { 2.0 } else { 1.0 };
    // Of all programs of a shader together, on both sides.
    let units = ["fma", "cvt", "sfu"];
    let theirs =
        units.iter().filter_map(|unit| Some(sum(cycles, &[unit])? * lanes)).max_by(f64::total_cmp);
    let execution = units.iter().filter_map(|unit| machine(unit)).max_by(f64::total_cmp);
    add("execution", execution, theirs);
    for unit in ["ls", "v", "t"] {
        add(unit, machine(unit), sum(cycles, &[unit]));
    }
    let programs = peer.get(cycles).and_then(Value::as_array);
    let registers = programs.and_then(|programs| {
        programs.iter().filter_map(|program| number(&program["registers"])).max_by(f64::total_cmp)
    });
    add("registers", Some(report.stats.registers as f64), registers);
    Ok(out)
}

/// 1 where there is nothing.
pub fn geometric_mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len().max(1) as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}

/// The rows, best and worst first by the first figure, then the geometric means.
pub fn text(table: &Table) -> String {
    let mut out = format!("{}\n", table.title);
    let mut good: Vec<(&Row, &Vec<Figure>)> = table
        .rows
        .iter()
        .filter_map(|row| Some((row, row.figures.as_ref().ok().filter(|f| !f.is_empty())?)))
        .collect();
    good.sort_by(|a, b| {
        let by = a.1[0].ratio().total_cmp(&b.1[0].ratio());
        by.then_with(|| (&a.0.path, a.0.stage.name()).cmp(&(&b.0.path, b.0.stage.name())))
    });
    // The best first; then, from the end of the list, the worst first.
    let (best, rest) = good.split_at(good.partition_point(|(_, f)| f[0].ratio() < 1.0));
    let even = rest.partition_point(|(_, f)| f[0].ratio() <= 1.0);
    let worst: Vec<_> = rest[even..].iter().rev().collect();
    for (heading, rows) in [
        ("better, best first", best.iter().collect::<Vec<_>>()),
        ("worse, worst first", worst),
        ("even", rest[..even].iter().collect()),
    ] {
        let _ = writeln!(out, "{heading}: {}", rows.len());
        for (row, figures) in rows {
            let _ = write!(out, "  {:5.3}", figures[0].ratio());
            for figure in figures.iter() {
                let _ = write!(out, "  {} {}/{}", figure.name, figure.ours, figure.bar);
            }
            let _ = writeln!(out, "  {} {}", row.path, row.stage.name());
        }
    }
    for row in &table.rows {
        if let Err(why) = &row.figures {
            let _ = writeln!(out, "  none: {} {}: {why}", row.path, row.stage.name());
        }
    }
    let _ = writeln!(
        out,
        "geometric means of ours over the bar ({} shaders; where one side is 0, both plus 1):",
        good.len()
    );
    for name in names(&good) {
        let ratios: Vec<(f64, f64, f64)> = good
            .iter()
            .filter_map(|(_, figures)| figures.iter().find(|figure| figure.name == name))
            .map(|figure| (figure.ratio(), figure.ours, figure.bar))
            .collect();
        let mean = geometric_mean(ratios.iter().map(|r| r.0));
        let (ours, bar) = ratios.iter().fold((0.0, 0.0), |a, r| (a.0 + r.1, a.1 + r.2));
        let _ = writeln!(
            out,
            "  {name}: {:.4}; better {}, even {}, worse {}; sums {ours} / {bar}",
            mean,
            ratios.iter().filter(|r| r.0 < 1.0).count(),
            ratios.iter().filter(|r| r.0 == 1.0).count(),
            ratios.iter().filter(|r| r.0 > 1.0).count(),
        );
    }
    out
}

fn names(rows: &[(&Row, &Vec<Figure>)]) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for figure in rows.iter().flat_map(|(_, figures)| figures.iter()) {
        if !names.contains(&figure.name) {
            names.push(figure.name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc::Target;

    fn peer() -> Value {
        serde_json::json!({
            "sfn25": {"alu_groups": 7, "gprs": 4, "alu_clauses": 1},
            "sb22": {"alu_groups": 7, "gprs": 3, "alu_clauses": 2},
        })
    }

    /// The report of a small shader; tests at the same time have folders of their own.
    fn report(folder: &str) -> Shader {
        let compiler = Compiler::new(Target::USUAL, None).expect("it is built");
        let text = "@fragment fn f() -> @location(0) vec4f { return vec4f(0.5); }";
        let name = format!("gpucc-peers-test-{}-{folder}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        std::fs::write(folder.join("a.wgsl"), text).expect("a temporary file");
        let what = (Stage::Fragment, Against::Sfn);
        let report = ours(&compiler, &folder, "a.wgsl", what, Robust::Off).expect("it compiles");
        std::fs::remove_dir_all(&folder).expect("it was made");
        report
    }

    #[test]
    fn the_bar_is_the_best_of_each_figure_and_sb_gives_its_nop_back_on_vertex_shaders() {
        let report = |groups: u64| {
            let mut report = report("groups");
            let groups = gpucc::named::Figure(groups as f64);
            report.machine.set("alu_groups", groups);
            report
        };
        let bar = |stage| {
            let figures = figures(&report(6), &peer(), stage, Against::Sfn).expect("a bar");
            let of = |name| figures.iter().find(|f| f.name == name).expect("given").bar;
            (of("alu_groups"), of("gprs"), of("alu_clauses"))
        };
        assert_eq!(bar(Stage::Vertex), (6.0, 3.0, 1.0));
        assert_eq!(bar(Stage::Fragment), (7.0, 3.0, 1.0));
    }

    /// A program of 8 pixels is counted twice.
    #[test]
    fn figures_of_programs_of_eight_and_sixteen_pixels_are_of_sixteen() {
        let peer = |mode: &str| {
            let spills = "1:2";
            serde_json::json!({ "elk26": {
                "mode": mode, "instructions": 6, "cycles": 66, "sends": 1, "bytes": 96, "spills_fills": spills,
            } })
        };
        let of = |mode: &str, stage| {
            let mut report = report(mode);
            report.stats.cycles = 50.0;
            report.machine.set("lanes", gpucc::named::Figure(8.0));
            report.machine.set("messages", gpucc::named::Figure(2.0));
            let figures = figures(&report, &peer(mode), stage, Against::Elk).expect("a bar");
            let of = |name| figures.iter().find(|f| f.name == name).expect("given").clone();
            let (cycles, messages) = (of("cycles"), of("messages"));
            assert_eq!(of("spills").bar, 3.0);
            let runs = figures.iter().find(|figure| figure.name == "runs");
            let theirs = [("SIMD16", (2.0, 1.0)), ("SIMD8", (2.0, 2.0))];
            let right = theirs.into_iter().find(|(of, _)| *of == mode).map(|(_, runs)| runs);
            assert_eq!(runs.map(|runs| (runs.ours, runs.bar)), right);
            (cycles.ours, cycles.bar, messages.ours, messages.bar)
        };
        assert_eq!(of("SIMD16", Stage::Fragment), (100.0, 66.0, 4.0, 1.0));
        assert_eq!(of("SIMD8", Stage::Fragment), (100.0, 132.0, 4.0, 2.0));
        assert_eq!(of("vec4", Stage::Vertex), (50.0, 66.0, 2.0, 1.0));
    }

    /// What the peer's driver adds to fragments is no bar, and where less is there the whole one is.
    #[test]
    fn groups_of_a_drivers_conventions_are_taken_off_fragments() {
        let of = |groups: u32, stage| {
            let peer =
                serde_json::json!({ "pco26": { "groups": groups, "bytes": 480, "temps": 9 } });
            let figures = figures(&report("driver"), &peer, stage, Against::Pco).expect("a bar");
            figures.into_iter().map(|f| (f.name, f.bar)).collect::<Vec<_>>()
        };
        let rest = [("bytes", 480.0), ("registers", 9.0)];
        let all = |first: Vec<(&'static str, f64)>| [first, rest.to_vec()].concat();
        let whole = "groups and its driver's";
        assert_eq!(of(40, Stage::Fragment), all(vec![("groups", 7.0), (whole, 40.0)]));
        assert_eq!(of(16, Stage::Fragment), all(vec![(whole, 16.0)]));
        assert_eq!(of(16, Stage::Vertex), all(vec![("groups", 16.0), (whole, 16.0)]));
    }

    #[test]
    fn a_ratio_with_nothing_on_one_side_takes_one_more_on_both() {
        let ratio = |ours, bar| Figure { name: "x", ours, bar }.ratio();
        assert_eq!(ratio(0.0, 0.0), 1.0);
        assert_eq!(ratio(1.0, 0.0), 2.0);
        assert_eq!(ratio(3.0, 4.0), 0.75);
    }
}
