//! The report is the typed result by serde: its text reads back to it, byte by byte, and it says what is the driver's.

use crate::common::{gpucc, samples, text};
use gpucc::Target;
use gpucc::described::Setting;
use gpucc::report::Report;

/// The reports of the samples that a target can do, as text and read back.
fn reports(target: Target, extra: &[&str]) -> Vec<(String, Report)> {
    let mut reports = Vec::new();
    for file in samples() {
        let file = file.to_string_lossy().into_owned();
        let mut arguments = vec![&*file, "--target", target.name(), "--emit", "json"];
        arguments.extend(extra);
        let output = gpucc(&arguments);
        // Of these some things are not built yet. docs/abi-gen4.md, docs/abi-rogue.md.
        let unfinished = ["gen4", "g45", "rogue"].contains(&target.name());
        let later = unfinished && output.status.code() == Some(6);
        if output.status.code() == Some(3) || later {
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let json = String::from_utf8(output.stdout).expect("text");
        let report = serde_json::from_str(&json);
        let report: Report = report.unwrap_or_else(|error| panic!("{file}: {error}"));
        reports.push((json, report));
    }
    assert!(reports.len() > 10, "{target:?}");
    reports
}

#[test]
fn every_report_reads_back_to_the_same_text() {
    let separate = crate::common::Folder::new("reports");
    let pipeline = separate.write(
        "pipeline.json",
        r#"{"vertex": {"fetch": "separate", "form": "plain"}, "uniforms": "pushed"}"#,
    );
    for target in Target::ALL.iter().copied().filter(|target| target.is_built()) {
        for extra in [&[][..], &["--pipeline", &pipeline]] {
            for (json, report) in reports(target, extra) {
                let mut again = serde_json::to_string_pretty(&report).expect("plain data");
                again.push('\n');
                assert_eq!(again, json);
            }
        }
    }
}

#[test]
fn a_setting_has_no_bits_but_those_that_it_calls_its_own() {
    for target in Target::machines() {
        let mut settings = 0;
        for (_, report) in reports(target, &[]) {
            for (name, setting) in report.shaders.iter().flat_map(|shader| &shader.state) {
                let pairs = match setting {
                    Setting::Register { value, mask, .. } => vec![(*value, *mask)],
                    Setting::Descriptor { words, mask, .. } => {
                        assert_eq!(words.len(), mask.len(), "{name}");
                        words.iter().copied().zip(mask.iter().copied()).collect()
                    }
                    _ => continue,
                };
                settings += 1;
                for (value, mask) in &pairs {
                    assert_eq!(value & !mask, 0, "{name}: {value:#x} beyond {mask:#x}");
                }
                let ours = pairs.iter().any(|&(_, mask)| mask != 0);
                assert!(ours, "{name} decides nothing");
            }
        }
        // Some machines are built for some of the stages.
        let least = 15 * target.about().stages.len();
        assert!(settings > least, "{}: {settings}", target.name());
    }
}

#[test]
fn live_registers_and_paths_agree_with_the_figures() {
    for target in Target::machines() {
        let mut loops = 0;
        for (_, report) in reports(target, &[]) {
            for shader in &report.shaders {
                let name = format!("{} on {}: {}", shader.source, target.name(), shader.entry);
                assert!(!shader.flow.is_empty(), "{name}");
                let (mut cycles, mut straight) = (0.0, true);
                for flow in &shader.flow {
                    assert!(u64::from(flow.pressure.live) <= shader.stats.registers, "{name}");
                    assert_eq!(
                        flow.pressure.live as usize,
                        flow.pressure.registers.len(),
                        "{name}"
                    );
                    let live = flow.instructions.iter().map(|one| one.live).max();
                    assert_eq!(live, Some(flow.pressure.live), "{name}");
                    assert!(flow.paths.shortest <= flow.paths.longest, "{name}");
                    straight &= flow.paths.shortest == flow.paths.longest;
                    straight &= flow.paths.loops.is_empty();
                    loops += flow.paths.loops.len();
                    cycles += flow.paths.longest;
                }
                // Where there is one way, its cycles are the program's.
                let straight = straight && shader.stats.branches == 0;
                let apart = (cycles - shader.stats.cycles).abs();
                assert!(!straight || apart < 1e-6, "{name}: {cycles} of {}", shader.stats.cycles);
            }
        }
        assert!(loops > 0, "{}", target.name());
    }
}

/// The published layout of the report.
fn schema() -> serde_json::Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/report.schema.json");
    let text = std::fs::read_to_string(path).expect("the schema");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn every_report_is_of_the_published_schema() {
    let validator = jsonschema::draft202012::new(&schema()).expect("a schema");
    let separate = crate::common::Folder::new("schema");
    let pipeline = separate.write(
        "pipeline.json",
        r#"{"vertex": {"fetch": "separate", "form": "plain"}, "uniforms": "pushed"}"#,
    );
    for target in Target::ALL.iter().copied().filter(|target| target.is_built()) {
        for extra in [&[][..], &["--pipeline", &pipeline]] {
            for (json, report) in reports(target, extra) {
                let json = serde_json::from_str(&json).expect("JSON");
                if let Some(error) = validator.iter_errors(&json).next() {
                    let source = &report.shaders[0].source;
                    let place = error.instance_path();
                    panic!("{source} on {}: {place}: {error}", target.name());
                }
            }
        }
    }
    // One with errors.
    let two = "@group(0) @binding(0) var<storage, read_write> n: atomic<u32>;
        @compute @workgroup_size(1) fn a() { atomicAdd(&n, 1u); }
        @compute @workgroup_size(1) fn b() {}";
    let two = separate.write("two.wgsl", two);
    let output = gpucc(&[&two, "--target", "r700", "--emit", "json", "--keep-going"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(validator.is_valid(&json), "{json}");
    assert!(!json["errors"].as_array().expect("a list").is_empty(), "{json}");
}

/// What the schema does not name is an error, so that no key is published unseen.
#[test]
fn a_report_with_another_key_is_none() {
    let validator = jsonschema::draft202012::new(&schema()).expect("a schema");
    let (json, _) = reports(Target::R700, &[]).remove(0);
    let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(validator.is_valid(&report));
    for place in ["", "/shaders/0", "/shaders/0/stats", "/shaders/0/code", "/shaders/0/evidence"] {
        let mut other = report.clone();
        other.pointer_mut(place).expect("it is there")["new"] = 1.into();
        assert!(!validator.is_valid(&other), "{place}");
    }
    for key in ["schema", "producer", "shaders"] {
        let mut other = report.clone();
        other.as_object_mut().expect("an object").remove(key);
        assert!(!validator.is_valid(&other), "{key}");
    }
}

/// What a schema admits, in a word or two.
fn kind(schema: &serde_json::Value) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let list = |values: &serde_json::Value| {
        let values = values.as_array().into_iter().flatten();
        values.map(|value| format!("`{}`", text(value))).collect::<Vec<_>>().join(", ")
    };
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return format!("[{name}](#{name})");
    }
    match &schema["type"] {
        _ if schema["enum"].is_array() => list(&schema["enum"]),
        _ if schema["const"].is_string() => format!("`{}`", text(&schema["const"])),
        _ if schema["const"].is_number() => schema["const"].to_string(),
        _ if schema["oneOf"].is_array() => {
            let ways = schema["oneOf"].as_array().into_iter().flatten();
            ways.map(kind).collect::<Vec<_>>().join(" or ")
        }
        serde_json::Value::String(kind_of) if kind_of == "array" && schema["items"].is_object() => {
            format!("list of {}", kind(&schema["items"]))
        }
        serde_json::Value::String(kind_of)
            if kind_of == "object" && schema["additionalProperties"].is_object() =>
        {
            format!("names with {}", kind(&schema["additionalProperties"]))
        }
        serde_json::Value::Array(_) => list(&schema["type"]).replace('`', "").replace(", ", " or "),
        other => text(other),
    }
}

/// The rows of an object, with those of the objects within it.
fn rows(page: &mut String, prefix: &str, schema: &serde_json::Value) {
    use std::fmt::Write;
    let required = schema["required"].as_array();
    for (key, part) in schema["properties"].as_object().into_iter().flatten() {
        let always = required.is_some_and(|list| list.iter().any(|name| name == key));
        let (always, kind) = (if always { "always" } else { "" }, kind(part));
        let what = part["description"].as_str().unwrap_or_default();
        writeln!(page, "| `{prefix}{key}` | {kind} | {always} | {what} |").expect("a String grows");
        rows(page, &format!("{prefix}{key}."), part);
        rows(page, &format!("{prefix}{key}[]."), &part["items"]);
    }
    for way in schema["oneOf"].as_array().into_iter().flatten() {
        rows(page, prefix, way);
        rows(page, &format!("{prefix}[]."), &way["items"]);
    }
}

/// The page of all keys.
fn page(schema: &serde_json::Value) -> String {
    let mut page = "# The report\n\n\
        `gpucc shader.wgsl --target r700 --emit json` writes one report. The JSON Schema\n\
        `report.schema.json` fixes its layout, and this page is made from that schema\n\
        (`cargo test -p gpucc-cli reports`). A key that has `always` is in every report. No other\n\
        keys exist.\n"
        .to_owned();
    let table = |page: &mut String, name: &str, schema: &serde_json::Value| {
        let about = schema["description"].as_str().unwrap_or_default();
        let about = if about.is_empty() { String::new() } else { format!("{about}\n\n") };
        page.push_str(&format!("\n## {name}\n\n{about}"));
        let mut keys = String::new();
        rows(&mut keys, "", schema);
        match keys.is_empty() {
            true => page.push_str(&format!("{}\n", kind(schema))),
            false => page.push_str(&format!("| key | value | | what |\n|---|---|---|---|\n{keys}")),
        }
    };
    table(&mut page, "report", schema);
    for (name, part) in schema["$defs"].as_object().into_iter().flatten() {
        table(&mut page, name, part);
    }
    page
}

/// Behind a change of the schema, `BLESS=1` writes the page again.
#[test]
fn the_page_lists_every_key_of_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/report.md");
    let made = page(&schema());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &made).expect("writable");
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(kept == made, "docs/report.md is not of the schema: set BLESS=1");
}
