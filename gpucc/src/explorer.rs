//! The explorer: one page that shows a shader beside its machine code, with figures, places and state.
//!
//! The page is whole in itself (no font, script or picture from elsewhere) and the same for the same
//! input: times of the compiler are left out.

use crate::report::{Report, Shader};
use crate::source::SourceText;
use crate::{Compiled, Failure};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const STYLE: &str = include_str!("explorer/page.css");
const SCRIPT: &str = include_str!("explorer/page.js");

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// Makes the page. `report` is that of the same entry points in the same order.
///
/// # Errors
/// Code that our own disassembler refuses: our bug.
pub fn explorer(
    source: &SourceText,
    compiled: &[Compiled],
    report: &Report,
) -> Result<String, Failure> {
    let mut page = String::with_capacity(1 << 16);
    let file = source.name.rsplit('/').next().unwrap_or(&source.name);
    let machine = match &report.chip {
        Some(chip) => format!("{} ({chip})", report.target),
        None => report.target.clone().into_owned(),
    };
    put!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0} on {1}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{0}</h1><span>{1}</span><span>{2}</span></header>\n",
        escape(file),
        escape(&machine),
        escape(&report.producer),
    );
    let names = crate::unique_names(compiled);
    if names.len() > 1 {
        page.push_str("<nav>");
        for (index, (name, one)) in names.iter().zip(compiled).enumerate() {
            let (name, stage) = (escape(name), one.stage.name());
            put!(page, "<a href=\"#e{index}\">{name} <small>{stage}</small></a>");
        }
        page.push_str("</nav>\n");
    }
    for error in &report.errors {
        put!(page, "<p class=\"wrong\">{}</p>\n", escape(&error.message));
    }
    for (index, (one, shader)) in compiled.iter().zip(&report.shaders).enumerate() {
        put!(
            page,
            "<section id=\"e{index}\">\n<h2>{} <small>{}</small></h2>\n",
            escape(&shader.entry),
            shader.stage
        );
        figures(&mut page, shader);
        panes(&mut page, source, one)?;
        tables(&mut page, shader);
        page.push_str("</section>\n");
    }
    if !report.warnings.is_empty() {
        page.push_str("<section class=\"on\"><h2>Notes</h2>\n<ul>");
        for warning in &report.warnings {
            put!(page, "<li>{}</li>", escape(&warning.message));
        }
        page.push_str("</ul></section>\n");
    }
    put!(page, "<script>\n{SCRIPT}</script>\n</body>\n</html>\n");
    Ok(page)
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
        card(&format!("{:.0}", stats.cycles), "cycles", None);
        let share = stats.cycles_lower_bound / stats.cycles.max(1e-9);
        let bound = format!("{:.0}", stats.cycles_lower_bound);
        card(&bound, "at least, by any schedule", Some(share));
        card(&stats.bound_unit, "bound by", None);
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

/// Source and machine code side by side; lines that belong together have one `data-line`.
fn panes(page: &mut String, source: &SourceText, one: &Compiled) -> Result<(), Failure> {
    let mut listing = Vec::new();
    if let Some(program) = &one.program {
        let spans = program.lines();
        for line in program.listing()? {
            let before = spans.partition_point(|(offset, _)| *offset <= line.offset);
            let own = before.checked_sub(1).map(|at| spans[at]);
            let own = own
                .filter(|(offset, span)| !span.is_none() && (!line.flow || *offset == line.offset));
            let number = own.map_or(0, |(_, span)| source.position(span.start).0);
            listing.push((number, line));
        }
    }
    page.push_str("<div class=\"panes\">\n");
    match &source.text {
        Some(text) => {
            page.push_str("<div class=\"pane\"><h3>Source</h3><div class=\"code\">");
            // How many instructions a line has become; a group of several slots counts once.
            let mut made: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (number, line) in &listing {
                made.entry(*number).or_default().insert(line.offset);
            }
            for (number, line) in (1..).zip(text.lines()) {
                let made = made.get(&number).map(BTreeSet::len);
                start(page, number, made.is_some());
                let made = made.map_or_else(String::new, |count| count.to_string());
                put!(page, "<s>{number}</s><em>{made}</em>{}</p>", escape(line));
            }
        }
        None => {
            page.push_str("<div class=\"pane\"><h3>Structured SSA</h3><div class=\"code\">");
            for (number, line) in (1..).zip(crate::print_ir(&one.ssa).lines()) {
                start(page, number, false);
                put!(page, "<s>{number}</s>{}</p>", escape(line));
            }
        }
    }
    page.push_str("</div></div>\n");
    if one.program.is_some() {
        page.push_str("<div class=\"pane\"><h3>Machine code</h3><div class=\"code\">");
        let mut before = None;
        for (number, line) in &listing {
            start(page, *number, *number > 0);
            let offset = match before.replace(line.offset) {
                Some(same) if same == line.offset => String::new(),
                _ => format!("{:x}", line.offset),
            };
            put!(page, "<s>{offset}</s>{}</p>", escape(&line.text));
        }
        page.push_str("</div></div>\n");
    }
    page.push_str("</div>\n");
    Ok(())
}

/// Begins a line. Neighbouring source lines get colours far apart: the golden angle.
fn start(page: &mut String, number: u32, linked: bool) {
    if linked {
        let hue = (u64::from(number) * 137) % 360;
        put!(page, "<p data-line=\"{number}\" style=\"--hue:{hue}\">");
    } else {
        page.push_str("<p>");
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
        "<details{open}><summary>{title} <small>{count}</small></summary><div class=\"scroll\">"
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
        Value::Number(number) => number.to_string(),
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
