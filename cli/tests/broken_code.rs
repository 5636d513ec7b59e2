//! Machine code that is cut off or flipped: emulators and disassemblers tell which rule it breaks, and none panics.

use gpucc::verify::verify;
use gpucc::{Choice, Compiled, Compiler, Options, Source, SourceText, Target, assembler};
use gpucc_ir::ssa::Op;
use gpucc_ir::ssa::random::Rng;

/// Everything that the machines' instructions come in: memory, workgroups, loops, calls, texels, exports.
const SHADERS: [&str; 4] = [
    "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
     @group(0) @binding(1) var<uniform> limits: vec4u;
     var<workgroup> shared_words: array<u32, 32>;
     @compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) at: u32) {
         var kept: array<u32, 9>;
         for (var i = 0u; i < limits.x % 7u; i++) {
             kept[(i * limits.y) % 9u] += data[i] ^ id.x;
             if (kept[i] > 1000u) { break; }
         }
         shared_words[at] = kept[at % 9u];
         workgroupBarrier();
         data[id.x] = shared_words[31u - at] + kept[limits.z % 9u];
     }",
    "@group(0) @binding(0) var picture: texture_2d<f32>;
     @group(0) @binding(1) var filtered: sampler;
     @group(0) @binding(2) var<uniform> tint: vec4f;
     @fragment fn main(@builtin(position) place: vec4f, @location(0) uv: vec2f, @location(1) @interpolate(flat) n: u32)
         -> @location(0) vec4f {
         var color = textureSample(picture, filtered, uv) * tint;
         if (place.x > 3.0) { color += textureLoad(picture, vec2u(n, 1u), 0); }
         if (color.a < 0.25) { discard; }
         return sqrt(abs(color)) + dpdx(color);
     }",
    "struct Out { @builtin(position) place: vec4f, @location(0) uv: vec2f, @location(1) @interpolate(flat) n: u32 }
     @group(0) @binding(0) var<uniform> turn: mat4x4f;
     @vertex fn main(@location(0) at: vec3f, @location(1) uv: vec2f, @builtin(vertex_index) n: u32) -> Out {
         return Out(turn * vec4f(at, 1.0), uv, n * 3u);
     }",
    "@group(0) @binding(0) var<uniform> rows: array<vec4f, 16>;
     @fragment fn main(@location(0) @interpolate(flat) n: u32) -> @location(0) vec4f {
         var sum = vec4f(0.0);
         var k = n % 16u;
         loop {
             if (k == 3u) { k += 2u; continue; }
             if (k > 12u) { break; }
             sum += rows[k] * f32(k);
             continuing { k++; }
         }
         return sum;
     }",
];

fn programs(target: Target) -> (Compiler, Vec<Compiled>) {
    let compiler = Compiler::new(target, None).expect("the target is built");
    let options = Options::default();
    let mut programs = Vec::new();
    for text in SHADERS {
        let parsed =
            compiler.parse(Source::Wgsl(text), Choice::default(), &options).expect("valid");
        for entry in parsed.entries {
            match entry.func.and_then(|func| compiler.compile(&func, &options)) {
                Ok(mut compiled) => {
                    // The passes are right: only the machine is broken.
                    compiled.steps.clear();
                    programs.push(compiled);
                }
                // R6xx has no compute programs that write.
                Err(failure) => assert_eq!(failure.exit_code(), 3, "{}", failure.summary()),
            }
        }
    }
    assert!(programs.len() >= 3, "{}", target.name());
    (compiler, programs)
}

/// Disassembles and runs; gives whether somebody told that something is wrong.
fn is_noticed(compiler: &Compiler, compiled: &mut Compiled, code: Vec<u8>) -> bool {
    if let Ok(assembler) = assembler(compiler.target()) {
        for unit in assembler.units() {
            if let Ok(text) = assembler.disassemble(unit, &code) {
                assert_eq!(assembler.assemble(unit, &text).as_ref(), Ok(&code), "{text}");
            }
        }
    }
    let right = compiled.program.take().expect("a machine's");
    compiled.program = Some(right.with_code(code));
    let source = SourceText::new("broken", None);
    let found = verify(compiler, compiled, &source, &Options::default(), 1, 0);
    compiled.program = Some(right);
    match found {
        Ok(summary) => summary.mismatches > 0 || summary.counted < summary.inputs,
        Err(failure) => {
            let text = failure.summary();
            assert!(!text.is_empty());
            true
        }
    }
}

fn code_of(compiled: &Compiled) -> Vec<u8> {
    compiled.program.as_ref().expect("a machine's").code().to_vec()
}

const MACHINES: [Target; 3] = [Target::R700, Target::R600, Target::VALHALL];

#[test]
fn code_that_is_cut_off_breaks_a_rule() {
    for target in MACHINES {
        let (compiler, programs) = programs(target);
        for mut compiled in programs {
            let code = code_of(&compiled);
            assert!(!is_noticed(&compiler, &mut compiled, code.clone()));
            for length in 0..code.len() {
                let cut = code[..length].to_vec();
                // Not all that stands behind the last instruction is read.
                let noticed = is_noticed(&compiler, &mut compiled, cut);
                let whole_words = length >= 8 && length.is_multiple_of(8);
                let name = target.name();
                assert!(noticed || whole_words, "{name}: {length} of {}", code.len());
            }
        }
    }
}

#[test]
fn code_of_flipped_bits_and_random_words_never_panics() {
    for target in MACHINES {
        let (compiler, mut programs) = programs(target);
        // Those without loops: most of the flips that make an endless one are left out so.
        programs.retain(|compiled| !compiled.ssa.insts.values().any(|data| data.op == Op::Loop));
        let mut noticed = 0;
        for mut compiled in programs {
            let code = code_of(&compiled);
            for seed in 0..60 {
                let mut rng = Rng::new(seed);
                let mut broken = code.clone();
                match seed % 4 {
                    0 | 1 => {
                        for _ in 0..1 + rng.below(4) {
                            let bit = rng.below(8 * broken.len());
                            broken[bit / 8] ^= 1 << (bit % 8);
                        }
                    }
                    2 => {
                        let at = rng.below(broken.len() / 8) * 8;
                        broken[at..at + 8].copy_from_slice(&rng.bits().to_le_bytes());
                    }
                    _ => {
                        for piece in broken.chunks_mut(8) {
                            let word = rng.bits().to_le_bytes();
                            piece.copy_from_slice(&word[..piece.len()]);
                        }
                    }
                }
                noticed += u32::from(is_noticed(&compiler, &mut compiled, broken));
            }
        }
        assert!(noticed > 60, "{}: {noticed}", target.name());
    }
}
