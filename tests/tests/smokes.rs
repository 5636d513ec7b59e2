//! A second of each fuzz target, over mutations of our own samples: the same every time.

use gpucc_ir::ssa::random::Rng;
use gpucc_tests::fuzz::{self, Language, mutate, words};

fn samples(ending: &str) -> Vec<Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the samples are there")
        .map(|entry| entry.expect("a folder's entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a sample")).collect()
}

/// A mutation of text with pieces of itself.
fn reworded(rng: &mut Rng, language: Language, text: &str) -> String {
    mutate::text(rng, language, text, text)
}

#[test]
fn mutated_wgsl_is_compiled_or_refused() {
    let samples = samples("wgsl");
    let mut rng = Rng::new(1);
    for round in 0..60 {
        let sample = &samples[round % samples.len()];
        fuzz::wgsl(&mutate::bytes(&mut rng, sample));
        let text = String::from_utf8_lossy(sample);
        fuzz::wgsl(reworded(&mut rng, Language::Wgsl, &text).as_bytes());
    }
}

#[test]
fn random_bytes_are_no_shader_in_any_language() {
    let mut rng = Rng::new(2);
    for _ in 0..60 {
        let mut bytes: Vec<u8> = (0..rng.below(200)).map(|_| rng.bits() as u8).collect();
        fuzz::wgsl(&bytes);
        fuzz::glsl(&bytes);
        fuzz::ir(&bytes);
        fuzz::spirv(&bytes);
        // The same behind a header that is right.
        bytes
            .splice(0..0, [0x03, 0x02, 0x23, 0x07, 0, 0, 1, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        fuzz::spirv(&bytes);
    }
}

#[test]
fn mutated_spirv_and_glsl_that_is_rewritten_are_compiled_or_refused() {
    let spirv = include_bytes!("../../cli/tests/languages/gaps.spv");
    let glsl = "#version 120\nuniform bool flip; uniform mat2 turn; varying vec2 uv;\n\
        layout(constant_id = 3) const int n = 2; uniform sampler2D t;\n\
        layout(std140) uniform B { layout(row_major, offset = 16) mat2 rows[2]; vec3 v; } b;\n\
        uniform subpassInput before; uniform atomic_uint hits;\n\
        void main() { float whole; if (flip) discard; vec2 p = b.rows[1] * uv + turn * b.v.xy;\n\
        gl_FragData[1] = texture2D(t, p) * modf(p.x, whole) + subpassLoad(before) + gl_TexCoord[n];\n\
        gl_FragData[0] = vec4(atomicCounterIncrement(hits)) + dot(p, p).rrrr; }";
    let mut rng = Rng::new(5);
    for _ in 0..60 {
        fuzz::spirv(&mutate::bytes(&mut rng, spirv));
        fuzz::spirv(&words::module(&mut rng, spirv, spirv));
        fuzz::glsl(&mutate::bytes(&mut rng, glsl.as_bytes()));
        fuzz::glsl(reworded(&mut rng, Language::Glsl, glsl).as_bytes());
    }
}

#[test]
fn mutated_ir_text_is_compiled_or_refused() {
    let mut rng = Rng::new(3);
    for seed in 0..40 {
        let func = gpucc_tests::programs::program_of(gpucc::Target::R700, seed);
        let text = gpucc::print_ir(&func);
        fuzz::ir(text.as_bytes());
        fuzz::ir(&mutate::bytes(&mut rng, text.as_bytes()));
        fuzz::ir(reworded(&mut rng, Language::Ir, &text).as_bytes());
    }
}

#[test]
fn machine_code_comes_back_from_its_text_or_is_refused() {
    let mut rng = Rng::new(4);
    for length in 0..400usize {
        let bytes: Vec<u8> = (0..length % 64).map(|_| rng.bits() as u8).collect();
        fuzz::machine_code(&bytes);
        fuzz::assembly(&bytes);
    }
}

#[test]
fn reworded_assembly_assembles_to_what_disassembles_or_is_refused() {
    let mut rng = Rng::new(6);
    for seed in 0..20 {
        for target in [gpucc::Target::R700, gpucc::Target::VALHALL] {
            let compiler = gpucc::Compiler::new(target, None).expect("the target is built");
            let func = gpucc_tests::programs::program_of(target, seed);
            let compiled = compiler.compile(&func, &gpucc::Options::default());
            let Some(program) = compiled.ok().and_then(|compiled| compiled.binary.program) else {
                continue;
            };
            let text = program.assembly().expect("our own code");
            fuzz::assembly(reworded(&mut rng, Language::Assembly, &text).as_bytes());
        }
    }
}

#[test]
fn random_programs_do_on_the_machine_what_they_mean() {
    for seed in 0..60 {
        fuzz::program(gpucc::Target::R700, seed);
        fuzz::program(gpucc::Target::VALHALL, seed);
    }
}

#[test]
fn random_control_flow_does_on_the_machine_what_it_means() {
    for target in [gpucc::Target::R700, gpucc::Target::R600, gpucc::Target::VALHALL] {
        let compiler = gpucc::Compiler::new(target, None).expect("the target is built");
        let tally = gpucc_tests::flow::run(&compiler, 0..40, 1);
        let wrong = (&tally.mismatches, &tally.failures);
        assert!(wrong.0.is_empty() && wrong.1.is_empty(), "{}: {wrong:?}", target.name());
        assert!(tally.compared >= 36, "{}: {}", target.name(), tally.compared);
    }
}
