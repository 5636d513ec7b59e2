//! What every machine is asked: its programs are the interpreter's, its text comes back, what breaks them is noticed.

use super::{TOY, isa};
use gpucc::report::Shader;
use gpucc::verify::verify;
use gpucc::{Choice, Compiled, Compiler, Options, Source, SourceText, assembler, shader_report};
use gpucc_ir::ssa::random::Rng;
use std::path::Path;
use std::time::Duration;

/// Arithmetic and control flow, with floats, division, loops, `switch` and early returns.
const SAMPLES: [&str; 5] = ["arithmetic", "control_flow", "collatz", "hash", "saxpy"];

fn compiled(name: &str) -> (Compiler, SourceText, Compiled) {
    let compiler = Compiler::new(TOY, None).expect("it is built");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples");
    let text = std::fs::read_to_string(folder.join(format!("{name}.wgsl"))).expect("a sample");
    let mut options = Options::default();
    options.keep_steps = true;
    let mut parsed =
        compiler.parse(Source::Wgsl(&text), Choice::default(), &options).expect("it parses");
    let func = parsed.entries.remove(0).func.expect("it lowers");
    let compiled = compiler.compile(&func, &options).expect("it compiles");
    (compiler, SourceText::new(name, Some(text)), compiled)
}

#[test]
fn the_table_is_sound() {
    assert_eq!(isa::TABLE.problems(), Vec::<String>::new());
}

#[test]
fn samples_are_proved_on_a_machine_that_only_this_folder_knows() {
    for name in SAMPLES {
        let (compiler, source, compiled) = compiled(name);
        let summary = verify(&compiler, &compiled, &source, &Options::default(), 8, 0);
        let summary = summary.expect("it runs");
        assert!(summary.first.is_none(), "{name}: {:?}", summary.first);
        let failure = summary.failure(TOY.name());
        assert!(failure.is_none(), "{name}: {failure:?}");
    }
}

#[test]
fn its_text_comes_back_and_its_report_too() {
    for name in SAMPLES {
        let (_, source, compiled) = compiled(name);
        let program = compiled.program.as_ref().expect("a machine's");
        let text = program.assembly().expect("it has a text");
        let back = assembler(TOY).expect("it has one").assemble("program", &text);
        assert_eq!(back.as_deref(), Ok(program.code()));
        let report = shader_report(&compiled, &source, Duration::ZERO);
        let json = serde_json::to_string(&report).expect("plain data");
        let back: Shader = serde_json::from_str(&json).expect("it was written so");
        assert_eq!(serde_json::to_string(&back).expect("plain data"), json);
        assert_eq!(back.resources[0].place("buffer"), Some(0));
    }
}

#[test]
fn programs_that_no_shader_asks_for_come_with_a_pair() {
    let (compiler, _, compiled) = compiled("saxpy");
    let program = compiled.program.as_ref().expect("a machine's");
    let options = Options::default();
    let kernels = compiler.kernels(program, program, &options).expect("made");
    assert_eq!(kernels.len(), 1);
    assert_eq!(kernels[0].assembly().as_deref(), Ok("END\n"));
    // A machine whose fixed function has no programs gives none.
    let compiler = Compiler::new(gpucc::Target::USUAL, None).expect("it is built");
    let none = compiler.kernels(program, program, &options).expect("made");
    assert!(none.is_empty());
}

#[test]
fn changes_of_its_code_are_noticed() {
    let (mut tried, mut missed) = (0, Vec::new());
    for name in SAMPLES {
        let (compiler, source, mut compiled) = compiled(name);
        // The passes are right: only the machine is broken.
        compiled.steps.clear();
        let program = compiled.program.take().expect("a machine's");
        let sites = TOY.built().expect("a machine").sites(program.compiled(), "");
        let mut rng = Rng::new(7);
        for _ in 0..60 {
            let site = &sites[rng.below(sites.len())];
            let fields: Vec<_> = site.inst.op().format.fields().collect();
            let field = fields[rng.below(fields.len())];
            let values = 1u64 << field.width();
            let old = u64::from(field.get(site.inst.bits()));
            let new = ((old + 1 + rng.bits() % (values - 1)) % values) as u32;
            if !(site.meaning)(field, new) {
                continue;
            }
            let mut code = program.code().to_vec();
            let word = field.put(site.inst.bits(), new) as u64;
            code[site.offset..site.offset + 8].copy_from_slice(&word.to_le_bytes());
            compiled.program = Some(program.with_code(code));
            let found = verify(&compiler, &compiled, &source, &Options::default(), 4, 0);
            tried += 1;
            if matches!(found, Ok(summary) if summary.mismatches == 0) {
                let row = site.inst.op().name;
                missed.push(format!("{name} {}: {row}.{} {old} -> {new}", site.offset, field.name));
            }
        }
    }
    let least = TOY.about().noticed as usize;
    let noticed = tried - missed.len();
    assert!(100 * noticed >= tried * least, "{noticed} of {tried}: {missed:#?}");
    assert!(tried > 200, "{tried}");
}
