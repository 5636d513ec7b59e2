//! What must hold for any bytes. The fuzz targets call these, and `cargo test` runs each on a
//! second's worth of mutations of our own samples.

use gpucc::{Choice, Compiler, Failure, FailureKind, Options, Source, Stage, Target, assembler};
use gpucc_ir::ssa::random::Rng;

/// Compiles for the machine and for the interpreter. Anything may be refused; an internal error is
/// a finding.
///
/// # Panics
/// On an internal error: that is what a fuzzer looks for.
pub fn compile(source: Source<'_>) {
    for target in [Target::Interp, Target::R700, Target::Valhall] {
        let compiler = Compiler::new(target, None).expect("both targets are built");
        let options = Options::default();
        let parsed = match compiler.parse(source, Choice::default(), &options) {
            Ok(parsed) => parsed,
            Err(failure) => {
                not_ours(&failure);
                continue;
            }
        };
        for entry in parsed.entries {
            match entry
                .func
                .and_then(|func| compiler.compile(&func, &options))
            {
                Ok(_) => {}
                Err(failure) => not_ours(&failure),
            }
        }
    }
}

fn not_ours(failure: &Failure) {
    assert!(
        !matches!(failure.kind, FailureKind::Internal { .. }),
        "internal error: {}",
        failure.summary()
    );
}

/// WGSL text.
pub fn wgsl(bytes: &[u8]) {
    compile(Source::Wgsl(&String::from_utf8_lossy(bytes)));
}

/// SPIR-V words.
pub fn spirv(bytes: &[u8]) {
    compile(Source::SpirV(bytes));
}

/// GLSL text of a fragment shader.
pub fn glsl(bytes: &[u8]) {
    compile(Source::Glsl(
        &String::from_utf8_lossy(bytes),
        Stage::Fragment,
    ));
}

/// Text of structured SSA: what parses and verifies also compiles, or is refused.
pub fn ir(bytes: &[u8]) {
    compile(Source::Ir(&String::from_utf8_lossy(bytes)));
}

/// Machines with an assembler.
const ASSEMBLED: [Target; 2] = [Target::R700, Target::Valhall];

/// Machine code: what the disassembler accepts, the assembler gives back.
///
/// # Panics
/// When other bytes come back.
pub fn machine_code(bytes: &[u8]) {
    for target in ASSEMBLED {
        let assembler = assembler(target).expect("the target is built");
        for unit in assembler.units() {
            if let Ok(text) = assembler.disassemble(unit, bytes) {
                let back = assembler.assemble(unit, &text);
                assert_eq!(back.as_deref().ok(), Some(bytes), "{unit}: {text}");
            }
        }
    }
}

/// Assembler text: anything but a crash.
pub fn assembly(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for target in ASSEMBLED {
        let assembler = assembler(target).expect("the target is built");
        for unit in assembler.units() {
            let _ = assembler.assemble(unit, &text);
        }
    }
}

/// A random structured program: the bytes do what the interpreter does.
///
/// # Panics
/// On a mismatch or an internal error.
pub fn program(target: Target, seed: u64) {
    let compiler = Compiler::new(target, None).expect("the target is built");
    let tally = crate::programs::run(&compiler, seed..seed + 1, 2);
    assert!(
        tally.mismatches.is_empty() && tally.failures.is_empty(),
        "{} seed {seed}: {:?} {:?}",
        target.name(),
        tally.mismatches,
        tally.failures
    );
}

/// A mutation of some bytes: pieces removed, repeated, swapped, or overwritten.
pub fn mutated(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + rng.below(6) {
        if bytes.is_empty() {
            return bytes;
        }
        let at = rng.below(bytes.len());
        let length = 1 + rng.below(12.min(bytes.len() - at));
        match rng.below(5) {
            0 => bytes[at] = rng.bits() as u8,
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let piece = bytes[at..at + length].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => bytes.truncate(at),
            _ => {
                bytes[at] = *b"(){}<>[];,.+-*/=&|!0123456789\0\xff"
                    .get(rng.below(31))
                    .unwrap_or(&0)
            }
        }
    }
    bytes
}
