//! Damaged copies of public shaders give errors or SSA that verifies, and end.

use crate::common::{File, corpus_or_skip, say};
use gpucc_frontend::{Options, parse, silence_quarantined_panics};
use gpucc_ir::ssa::random::Rng;
use gpucc_ir::ssa::verify;

/// Copies, removes or overwrites a stretch; in SPIR-V whole words.
fn damage(bytes: &mut Vec<u8>, unit: usize, random: &mut Rng) {
    let units = bytes.len() / unit;
    let at = random.below(units) * unit;
    let length = (1 + random.below(8)) * unit;
    let end = (at + length).min(bytes.len());
    match random.below(4) {
        0 => {
            bytes.drain(at..end);
        }
        1 => {
            let from = random.below(units) * unit;
            let piece: Vec<u8> = bytes[from..(from + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
        2 => {
            let from = random.below(units) * unit;
            let piece: Vec<u8> = bytes[from..(from + end - at).min(bytes.len())].to_vec();
            bytes.splice(at..at + piece.len().min(end - at), piece);
        }
        _ => bytes[at] ^= 1 << random.below(8),
    }
}

#[test]
fn mutants_of_public_shaders_are_endured() {
    silence_quarantined_panics();
    let Some(root) = corpus_or_skip() else { return };
    let count = std::env::var("GPUCC_MUTANTS").ok();
    let count: usize = count.and_then(|text| text.parse().ok()).unwrap_or(300);
    let seed = std::env::var("GPUCC_SEED").ok();
    let mut random = Rng::new(seed.and_then(|text| text.parse().ok()).unwrap_or(0));
    let index = std::fs::read_to_string(root.join("index.jsonl")).expect("the index is text");
    let paths: Vec<String> = index
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|row| row["naga_valid"].as_bool() == Some(true))
        .filter_map(|row| row["path"].as_str().map(str::to_owned))
        .filter(|path| !path.starts_with("exec/"))
        .collect();
    let mut codes = [0usize; 8];
    for _ in 0..count {
        let path = &paths[random.below(paths.len())];
        let mut file = File::open(&root, path);
        let unit = if path.ends_with(".spv") { 4 } else { 1 };
        for _ in 0..=random.below(3) {
            damage(&mut file.bytes, unit, &mut random);
        }
        file.text = String::from_utf8_lossy(&file.bytes).into_owned();
        let code = match parse(file.source(), path, &Options::default()) {
            Ok(parsed) => {
                for func in &parsed.module.funcs {
                    if let Err(broken) = verify(func) {
                        panic!("{path}: {broken}\n{}", file.text);
                    }
                }
                0
            }
            Err(failure) => {
                let shown = failure.render();
                let code = failure.exit_code();
                assert_ne!(code, 101, "{shown}\n{}", file.text);
                code
            }
        };
        codes[usize::from(code).min(7)] += 1;
    }
    say(&format!("{count} mutants: by exit code {codes:?}"));
}
