//! The report is the typed result by serde: its text reads back to it, byte by byte, and it says what is the driver's.

use crate::common::{gpucc, samples, text};
use gpucc::Target;
use gpucc::machine::described::Setting;
use gpucc::report::Report;

/// The reports of the samples that a target can do, as text and read back.
fn reports(target: Target, extra: &[&str]) -> Vec<(String, Report)> {
    let mut reports = Vec::new();
    for file in samples() {
        let file = file.to_string_lossy().into_owned();
        let mut arguments = vec![&*file, "--target", target.name(), "--emit", "json"];
        arguments.extend(extra);
        let output = gpucc(&arguments);
        // Of these some things are not built yet. docs/abi-gen4.md.
        let unfinished = ["gen4", "g45"].contains(&target.name());
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
    for target in Target::ALL.into_iter().filter(|target| target.is_built()) {
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
