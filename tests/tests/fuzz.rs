//! The runner of very many inputs: the same inputs every time, and nothing that they do stays unnoticed.

use gpucc_ir::ssa::random::Rng;
use gpucc_tests::fuzz::seeds::Seeds;
use gpucc_tests::fuzz::{Language, mutate, one, words, worker};
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder of one test's own, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("gpucc-tests-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_number_gives_the_same_input_every_time_and_another_gives_another() {
    for language in Language::ALL {
        // Our own sources, so that the test is the same everywhere.
        let inputs = || -> Vec<Vec<u8>> {
            let mut seeds = Seeds::find(language, None);
            let numbers = [0, 1, 2, 700, 701];
            let made = numbers.map(|number| worker::input(language, 5, number, &mut seeds).bytes);
            made.to_vec()
        };
        let first = inputs();
        assert_eq!(first, inputs(), "{}", language.name());
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert!(distinct.len() > 3, "{}: inputs repeat", language.name());
        assert!(first.iter().any(|bytes| !bytes.is_empty()));
    }
}

#[test]
fn an_input_hangs_on_its_number_and_not_on_what_was_made_before() {
    let mut seeds = Seeds::find(Language::Wgsl, None);
    let after_others: Vec<_> = (100..110)
        .map(|number| worker::input(Language::Wgsl, 3, number, &mut seeds).bytes)
        .collect();
    let mut seeds = Seeds::find(Language::Wgsl, None);
    let alone = worker::input(Language::Wgsl, 3, 109, &mut seeds).bytes;
    assert_eq!(after_others.last(), Some(&alone));
}

#[test]
fn mutations_of_anything_end_and_stay_small() {
    let mut rng = Rng::new(11);
    let long = "if a < b { c(d[e], 1.0); } // \u{e9}\n".repeat(3000);
    let texts = ["", " ", "{", "}", ")(", "a", "\"", "%1 = x\n", "fn f() { g(); }", &long];
    for language in Language::ALL {
        for seed in texts {
            for other in ["", "a; b { c; }", "%7"] {
                for _ in 0..30 {
                    let made =
                        mutate::source(&mut rng, language, seed.as_bytes(), other.as_bytes());
                    assert!(made.len() <= mutate::MOST_BYTES);
                }
            }
        }
    }
}

#[test]
fn mutations_of_a_module_mostly_keep_its_header_and_its_lengths() {
    let module = include_bytes!("../../cli/tests/languages/gaps.spv");
    let mut rng = Rng::new(12);
    let mut whole = 0;
    for _ in 0..400 {
        let made = words::module(&mut rng, module, module);
        let words: Vec<u32> = made
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .collect();
        let mut at = 5;
        while at < words.len() {
            at += (words[at] >> 16).max(1) as usize;
        }
        whole += usize::from(at == words.len() && words.first() == Some(&0x0723_0203));
    }
    assert!(whole > 280, "{whole} of 400 are whole");
}

#[test]
fn one_bug_has_one_name() {
    let name = one::name("in `foo`: word 17 of 'a' is 0x3f\nmore");
    assert_eq!(name, one::name("in `bar`: word 9 of 'b' is 0x7f\nother"));
    assert_ne!(name, one::name("in `foo`: byte 17 of 'a' is 0x3f"));
    // A quote alone hides nothing.
    assert_eq!(one::name("the shader's 5 words"), "the shader's # words");
}

/// Twelve inputs made of our own sources.
fn fuzz(language: &str, findings: &Folder, more: &[&str]) -> Output {
    let folder = findings.0.to_string_lossy();
    Command::new(env!("CARGO_BIN_EXE_gpucc-tests"))
        .args(["fuzz", "--language", language, "--count", "12", "--seed", "2"])
        .env("GPUCC_SHARED", findings.0.join("absent"))
        .args(["--jobs", "1", "--findings", &folder])
        .args(more)
        .output()
        .expect("it starts")
}

#[test]
fn an_input_that_panics_aborts_or_takes_too_much_is_found_and_the_others_are_run() {
    let faults = [
        ("panic", "1 panics", "panic: put in by a test"),
        ("abort", "1 aborts", "abort: signal"),
        ("time", "1 above 2 s", "time above 2 s"),
        #[cfg(target_os = "linux")]
        ("memory", "1 above 256 MiB", "memory above 256 MiB"),
    ];
    for (fault, counted, told) in faults {
        let findings = Folder::new(fault);
        // Assembly takes next to nothing by itself.
        let output = fuzz("asm", &findings, &["--fault", fault]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(5), "{fault}: {text}");
        assert!(text.contains("12 inputs, seed 2"), "{fault}: {text}");
        assert!(text.contains(counted), "{fault}: {text}");
        let list = std::fs::read_to_string(findings.0.join("findings.txt")).expect("written");
        assert!(list.contains(told) && list.contains("input 7,"), "{fault}: {list}");
        let mut files = std::fs::read_dir(&findings.0).expect("readable");
        let kept = files.any(|file| {
            let name = file.expect("readable").file_name();
            name.to_string_lossy().starts_with("asm-2-7")
        });
        assert!(kept, "{fault}: the input is lost");
    }
}

#[test]
fn inputs_that_do_no_harm_find_nothing() {
    let findings = Folder::new("nothing");
    for language in Language::ALL {
        let output = fuzz(language.name(), &findings, &[]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let fine = text.contains("0 panics, 0 aborts, 0 hangs, 0 of exit 101");
        assert!(fine && text.contains("12 inputs"), "{text}");
    }
}

/// This test binary, running one test of it without foreign material.
#[test]
fn a_test_without_its_material_says_so_on_stderr_and_in_the_list() {
    let folder = Folder::new("skips");
    let list = folder.0.join("skipped");
    let test = "corpora::every_expression_case_is_right_on_the_interpreter";
    let output = Command::new(std::env::current_exe().expect("it runs"))
        .args([test, "--exact"])
        .env("GPUCC_SHARED", folder.0.join("absent"))
        .env("GPUCC_SKIPPED", &list)
        .env_remove("GPUCC_CORPUS")
        .output()
        .expect("it starts");
    let line = format!("skipped: gpucc-tests {test}: the corpus is absent (set GPUCC_SHARED)\n");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains(&line), "{output:?}");
    assert_eq!(std::fs::read_to_string(list).expect("written"), line);
}
