//! The explorer: one page that shows a shader beside its machine code, with figures, places and state.
//!
//! The page is whole in itself (no font, script or picture from elsewhere) and the same for the same
//! input: times of the compiler are left out.

use crate::report::{Instruction, Pressure, Report, Shader};
use crate::source::SourceText;
use crate::{Compiled, Failure};
use gpucc_ir::ssa::Span;
use gpucc_machine::named::Figure;
use indexmap::IndexSet;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write;

const STYLE: &str = include_str!("explorer/page.css");
const SCRIPT: &str = include_str!("explorer/page.js");

/// Lines of a block; the style has the height of as many.
const BLOCK: usize = 50;

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// What one machine makes of a shader.
#[derive(Copy, Clone)]
pub struct Column<'a> {
    /// The entry points that compiled, in source order.
    pub compiled: &'a [Compiled],
    /// Their report, in the same order, with the messages for the others.
    pub report: &'a Report,
}

/// Makes the page: the source, and the machines beside each other.
///
/// # Errors
/// Code that our own disassembler refuses: our bug.
pub fn explorer(source: &SourceText, columns: &[Column<'_>]) -> Result<String, Failure> {
    let mut page = String::with_capacity(1 << 16);
    let file = source.name.rsplit('/').next().unwrap_or(&source.name);
    let machines: Vec<String> = columns.iter().map(|column| machine(column.report)).collect();
    let producer = columns.first().map_or("", |column| &*column.report.producer);
    put!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0} on {1}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{0}</h1><span>{1}</span><span>{2}</span>\
         <label><input type=\"search\" placeholder=\"Search ( / )\" aria-label=\"Search code\"></label>\
         </header>\n",
        escape(file),
        escape(&machines.join(", ")),
        escape(producer),
    );
    let entries = entries(columns);
    if entries.len() > 1 {
        page.push_str("<nav aria-label=\"Entry points\">");
        for (index, (name, stage)) in entries.iter().enumerate() {
            let name = escape(name);
            put!(page, "<a href=\"#e{index}\">{name} <small>{stage}</small></a>");
        }
        page.push_str("</nav>\n");
    }
    if columns.len() > 1 {
        page.push_str("<nav class=\"machines\" aria-label=\"Machines\">");
        for (index, machine) in machines.iter().enumerate() {
            // Neighbours in the list are the most alike.
            let (pressed, machine) = (index == 0 || index + 1 == columns.len(), escape(machine));
            put!(
                page,
                "<button type=\"button\" aria-pressed=\"{pressed}\" data-machine=\"{index}\">{machine}</button>"
            );
        }
        page.push_str("</nav>\n");
    }
    let alone = if source.text.is_none() { " class=\"alone\"" } else { "" };
    put!(page, "<main{alone}>\n");
    if let Some(text) = &source.text {
        pane(&mut page, "source", "Source", (1..).zip(text.lines()), |page, (number, line)| {
            start(page, number);
            put!(page, "<s>{number}</s><em></em>{}</p>", escape(line));
        });
    }
    for (index, (column, machine)) in columns.iter().zip(&machines).enumerate() {
        put!(page, "<div data-machine=\"{index}\">\n");
        for error in &column.report.errors {
            put!(page, "<p class=\"wrong\">{}</p>\n", escape(&error.message));
        }
        for (one, shader) in column.compiled.iter().zip(&column.report.shaders) {
            let of = |entry: &(&str, &str)| *entry == (&*shader.entry, &*shader.stage);
            let entry = entries.iter().position(of).unwrap_or(0);
            let id = if index == 0 { format!("e{entry}") } else { format!("e{entry}m{index}") };
            let on = match columns.len() {
                1 => String::new(),
                _ => format!(" on {}", escape(machine)),
            };
            let (name, stage) = (escape(&shader.entry), &shader.stage);
            put!(page, "<section id=\"{id}\" data-entry=\"e{entry}\">\n");
            put!(page, "<h2>{name} <small>{stage}{on}</small></h2>\n");
            figures(&mut page, shader);
            code(&mut page, source, one, shader)?;
            tables(&mut page, shader);
            page.push_str("</section>\n");
        }
        page.push_str("</div>\n");
    }
    page.push_str("</main>\n");
    notes(&mut page, columns);
    put!(page, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    Ok(page)
}

/// The machine's name with its chip.
fn machine(report: &Report) -> String {
    match &report.chip {
        Some(chip) => format!("{} ({chip})", report.target),
        None => report.target.clone().into_owned(),
    }
}

/// Entry points that some machine has, with their stages, in the order of the first one that has them.
fn entries<'a>(columns: &[Column<'a>]) -> IndexSet<(&'a str, &'a str)> {
    let shaders = columns.iter().flat_map(|column| &column.report.shaders);
    shaders.map(|shader| (&*shader.entry, &*shader.stage)).collect()
}

/// Warnings, each once.
fn notes(page: &mut String, columns: &[Column<'_>]) {
    let warnings = columns.iter().flat_map(|column| &column.report.warnings);
    let warnings: IndexSet<&str> = warnings.map(|warning| &*warning.message).collect();
    if warnings.is_empty() {
        return;
    }
    page.push_str("<aside><h2>Notes</h2>\n<ul>");
    for warning in warnings {
        put!(page, "<li>{}</li>", escape(warning));
    }
    page.push_str("</ul></aside>\n");
}

/// The figures that every machine has, the most asked for first.
fn figures(page: &mut String, shader: &Shader) {
    let stats = &shader.stats;
    page.push_str("<div class=\"figures\">");
    let mut card = |value: &str, name: &str, share: Option<f64>| {
        put!(page, "<div><b>{}</b><span>{name}</span>", escape(value));
        if let Some(share) = share {
            let percent = (100.0 * share).clamp(0.0, 100.0);
            put!(page, "<div class=\"bar\"><i style=\"width:{percent:.0}%\"></i></div>");
        }
        page.push_str("</div>");
    };
    card(&stats.instructions.to_string(), "instructions", None);
    if shader.code.bytes > 0 {
        card(&stats.code_bytes.to_string(), "bytes", None);
        card(&stats.registers.to_string(), "registers", None);
        let occupancy = format!("{:.0} %", 100.0 * stats.occupancy);
        card(&occupancy, "occupancy", Some(stats.occupancy));
        card(&Figure(stats.cycles).to_string(), "cycles", None);
        let share = stats.cycles_lower_bound / stats.cycles.max(1e-9);
        let bound = Figure(stats.cycles_lower_bound).to_string();
        card(&bound, "at least, by any schedule", Some(share));
        card(&stats.bound_unit, "bound by", None);
    }
    for flow in &shader.flow {
        let of = |figure: &str| match &*flow.program {
            "" => figure.to_owned(),
            program => format!("{figure} ({program})"),
        };
        let share = f64::from(flow.pressure.live) / stats.registers.max(1) as f64;
        card(&flow.pressure.live.to_string(), &of("alive at once"), Some(share));
        card(&Figure(flow.paths.shortest).to_string(), &of("cycles, shortest path"), None);
        card(&Figure(flow.paths.longest).to_string(), &of("cycles, longest path"), None);
    }
    for (value, name) in [
        (stats.spills + stats.fills, "spills and fills"),
        (stats.scratch_bytes, "scratch bytes"),
        (stats.shared_bytes, "workgroup bytes"),
        (stats.loops, "loops"),
        (stats.branches, "branches"),
    ] {
        if value > 0 {
            card(&value.to_string(), name, None);
        }
    }
    page.push_str("</div>\n");
}

/// A pane of lines, each written by `fill`. `kind` is what the script and the style know it by.
///
/// Lines stand in blocks: a browser lays out the blocks that are in view, and no others.
fn pane<T>(
    page: &mut String,
    kind: &str,
    title: &str,
    lines: impl Iterator<Item = T>,
    mut fill: impl FnMut(&mut String, T),
) {
    let level = if kind == "source" { "h2" } else { "h3" };
    put!(
        page,
        "<div class=\"pane {kind}\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">\
         <{level}>{title}</{level}><div class=\"code\">"
    );
    for (at, line) in lines.enumerate() {
        if at % BLOCK == 0 {
            page.push_str(if at == 0 { "<div>" } else { "</div><div>" });
        }
        fill(page, line);
    }
    page.push_str("</div></div></div>\n");
}

/// Lines of an intermediate form behind a fold, with the lines of the source that they come from.
///
/// They are text: most readers never unfold them, and elements for thousands of lines delay the page. The script makes
/// lines of them when they are unfolded.
fn folded<'a>(
    page: &mut String,
    source: &SourceText,
    title: &str,
    unfolded: bool,
    lines: impl Iterator<Item = (&'a str, Span)>,
) {
    let lines: Vec<(&str, Span)> = lines.collect();
    if lines.is_empty() {
        return;
    }
    let open = if unfolded { " open" } else { "" };
    let count = lines.len();
    put!(page, "<details{open}><summary>{title} <small>{count} lines</small></summary>");
    put!(page, "<div class=\"pane ir\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">");
    page.push_str("<pre class=\"code\" data-places=\"");
    for (at, (_, span)) in lines.iter().enumerate() {
        let place = if span.is_none() { 0 } else { source.position(span.start).0 };
        put!(page, "{}{place}", if at == 0 { "" } else { " " });
    }
    page.push_str("\">");
    for (line, _) in lines {
        put!(page, "{}\n", escape(line));
    }
    page.push_str("</pre></div></details>\n");
}

/// A line of SSA without its place in the source, and that place.
fn placed(line: &str) -> (String, Span) {
    let found = line.rsplit_once(" !").and_then(|(head, rest)| {
        let (place, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        let (start, end) = place.split_once(':')?;
        let span = Span { start: start.parse().ok()?, end: end.parse().ok()? };
        let tail = if tail.is_empty() { String::new() } else { format!(" {tail}") };
        Some((format!("{head}{tail}"), span))
    });
    found.unwrap_or_else(|| (line.to_owned(), Span::NONE))
}

/// The machine code, each line with the line of the source that it comes from, the registers that are alive before it
/// and its cycles; behind it what it was made from.
fn code(
    page: &mut String,
    source: &SourceText,
    one: &Compiled,
    shader: &Shader,
) -> Result<(), Failure> {
    let ssa = crate::print_ir(&one.ssa);
    let ssa: Vec<(String, Span)> = ssa.lines().map(placed).collect();
    let ssa = ssa.iter().map(|(line, span)| (&**line, *span));
    let Some(program) = &one.program else {
        folded(page, source, "SSA", true, ssa);
        return Ok(());
    };
    let spans = program.lines();
    let listing = program.listing()?;
    let steps = shader.flow.iter().flat_map(|flow| &flow.instructions);
    let steps: BTreeMap<u32, &Instruction> = steps.map(|step| (step.offset, step)).collect();
    let most = shader.flow.iter().map(|flow| flow.pressure.live).max().unwrap_or(0).max(1);
    let peaks = shader.flow.iter().map(|flow| &flow.pressure).filter(|peak| peak.live > 0);
    let peaks: BTreeMap<u32, &Pressure> = peaks.map(|peak| (peak.offset, peak)).collect();
    let mut last = None;
    let title = "Machine code: offset, live registers, cycles";
    pane(page, "made", title, listing.iter(), |page, line| {
        let before = spans.partition_point(|(offset, _)| *offset <= line.offset);
        let own = before.checked_sub(1).map(|at| spans[at]);
        let own =
            own.filter(|(offset, span)| !span.is_none() && (!line.flow || *offset == line.offset));
        let number = own.map_or(0, |(_, span)| source.position(span.start).0);
        start(page, number);
        // A group of several lines has its figures in the first.
        if last.replace(line.offset) == Some(line.offset) {
            page.push_str("<s></s><u></u><i></i>");
        } else {
            put!(page, "<s>{:x}</s>", line.offset);
            let step = steps.get(&line.offset);
            let live = step.map_or(0, |step| step.live);
            put!(page, "<u style=\"--live:{}%\"", 100 * live / most);
            if let Some(peak) = peaks.get(&line.offset) {
                let names = peak.registers.join(" ");
                put!(page, " class=\"peak\" title=\"most registers alive: {}\"", escape(&names));
            }
            let cycles = step.filter(|step| step.cycles > 0.0);
            let cycles = cycles.map_or_else(String::new, |step| Figure(step.cycles).to_string());
            match step {
                Some(_) => put!(page, ">{live}</u><i>{cycles}</i>"),
                None => page.push_str("></u><i></i>"),
            }
        }
        put!(page, "{}</p>", escape(&line.text));
    });
    folded(page, source, "Machine IR", false, program.machine_ir_lines());
    folded(page, source, "SSA", source.text.is_none(), ssa);
    Ok(())
}

/// Begins a line that comes from a line of the source, 0 for none. Neighbouring ones get colours far apart: the golden angle.
fn start(page: &mut String, number: u32) {
    match number {
        0 => page.push_str("<p>"),
        _ => put!(
            page,
            "<p data-line=\"{number}\" style=\"--hue:{}\">",
            (u64::from(number) * 137) % 360
        ),
    }
}

fn tables(page: &mut String, shader: &Shader) {
    if !shader.machine.is_empty() {
        open(page, "Cost on this machine", shader.machine.len(), true);
        page.push_str("<table>");
        for (name, value) in &shader.machine {
            let name = escape(&name.replace('_', " "));
            put!(page, "<tr><th>{name}</th><td>{value}</td></tr>");
        }
        page.push_str("</table></div></details>\n");
    }
    rows(page, "Properties", shader.properties.as_slice(), false);
    rows(page, "Resources", &shader.resources, true);
    rows(page, "Inputs", &shader.inputs, true);
    rows(page, "Outputs", &shader.outputs, true);
    rows(page, "Driver constants", &shader.driver_constants, false);
    rows(page, "Dispatch", shader.dispatch.as_slice(), false);
    if !shader.state.is_empty() {
        open(page, "State that a driver programs", shader.state.len(), false);
        page.push_str("<table>");
        for (name, value) in &shader.state {
            put!(page, "<tr><th>{}</th><td>{}</td></tr>", escape(name), cell(&plain(value)));
        }
        page.push_str("</table></div></details>\n");
    }
}

fn open(page: &mut String, title: &str, count: usize, unfolded: bool) {
    let open = if unfolded { " open" } else { "" };
    put!(
        page,
        "<details{open}><summary>{title} <small>{count}</small></summary>\
         <div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{title}\">"
    );
}

/// A table of objects: a column for each key that one of them has.
fn rows<T: Serialize>(page: &mut String, title: &str, values: &[T], unfolded: bool) {
    let values: Vec<Value> = values.iter().map(plain).collect();
    let objects: Vec<&Map<String, Value>> = values.iter().filter_map(Value::as_object).collect();
    if objects.is_empty() {
        return;
    }
    let mut columns: Vec<&str> = Vec::new();
    for key in objects.iter().flat_map(|object| object.keys()) {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    open(page, title, objects.len(), unfolded);
    page.push_str("<table><tr>");
    for column in &columns {
        put!(page, "<th>{}</th>", escape(&column.replace('_', " ")));
    }
    page.push_str("</tr>");
    for object in objects {
        page.push_str("<tr>");
        for column in &columns {
            let cell = object.get(*column).map_or_else(String::new, cell);
            put!(page, "<td>{cell}</td>");
        }
        page.push_str("</tr>");
    }
    page.push_str("</table></div></details>\n");
}

/// A part of the report as what JSON makes of it: keys and values without a type.
fn plain(part: &impl Serialize) -> Value {
    serde_json::to_value(part).expect("plain data")
}

/// A value as HTML; addresses, values and words as a driver writes them.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(on) => on.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(value) if number.is_f64() => Figure(value).to_string(),
            _ => number.to_string(),
        },
        Value::String(text) => escape(text),
        Value::Array(items) if items.iter().all(Value::is_number) => {
            let words: Vec<String> = items.iter().map(cell).collect();
            format!("<code>{}</code>", words.join(" "))
        }
        Value::Array(items) => items.iter().map(cell).collect(),
        Value::Object(object) => {
            let mut text = String::from("<dl>");
            for (key, value) in object {
                let value = match (key.as_str(), value.as_u64()) {
                    ("address" | "value" | "mask" | "handle", Some(word)) => {
                        format!("<code>{word:#010x}</code>")
                    }
                    _ => cell(value),
                };
                let key = escape(&key.replace('_', " "));
                put!(text, "<dt>{key}</dt><dd>{value}</dd>");
            }
            text + "</dl>"
        }
    }
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}
