//! What must hold for any bytes. The fuzz targets of `fuzz/` call these, `cargo test` runs each on a second's worth of
//! mutations of our own samples, and `gpucc-tests fuzz` runs as many as one likes.

pub mod campaign;
pub mod child;
pub mod command;
mod minimise;
pub mod mutate;
pub mod one;
pub mod seeds;
mod usage;
mod vocabulary;
pub mod words;
pub mod worker;

use gpucc::{Compiler, Stage, Target, assembler};

/// What an input is written in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Language {
    /// WGSL.
    Wgsl,
    /// SPIR-V.
    SpirV,
    /// GLSL of one stage.
    Glsl,
    /// Our own text of structured SSA.
    Ir,
    /// Assembly of a machine.
    Assembly,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 5] =
        [Language::Wgsl, Language::SpirV, Language::Glsl, Language::Ir, Language::Assembly];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Wgsl => "wgsl",
            Language::SpirV => "spirv",
            Language::Glsl => "glsl",
            Language::Ir => "ir",
            Language::Assembly => "asm",
        }
    }

    /// Finds a language by its name.
    pub fn by_name(name: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.name() == name)
    }

    /// How names of its files end, the usual one first.
    pub const fn endings(self) -> &'static [&'static str] {
        match self {
            Language::Wgsl => &["wgsl"],
            Language::SpirV => &["spv"],
            Language::Glsl => &["frag", "vert", "comp"],
            Language::Ir => &["ir"],
            Language::Assembly => &["s"],
        }
    }
}

/// One input with all that steers what becomes of it.
#[derive(Clone, Debug)]
pub struct Input {
    /// What the bytes are.
    pub language: Language,
    /// Text or words.
    pub bytes: Vec<u8>,
    /// GLSL: its stage.
    pub stage: Stage,
    /// Assembly: its machine.
    pub target: Target,
    /// Options, as [`one::options`] reads them.
    pub variant: u32,
}

/// Call this once, first of all: panics of naga's become refusals, so they are no findings.
pub fn begin() {
    gpucc_frontend::silence_quarantined_panics();
}

/// Runs an input on every machine. Anything may be refused.
///
/// # Panics
/// On a bug of ours: that is what a fuzzer looks for.
pub fn check(input: &Input) {
    let outcome = one::run(input);
    assert!(outcome.bug.is_none(), "{}", outcome.bug.unwrap_or_default());
}

fn shader(language: Language, bytes: &[u8]) {
    check(&Input {
        language,
        bytes: bytes.to_vec(),
        stage: Stage::Fragment,
        target: Target::USUAL,
        variant: 0,
    });
}

/// WGSL text.
pub fn wgsl(bytes: &[u8]) {
    shader(Language::Wgsl, bytes);
}

/// SPIR-V words.
pub fn spirv(bytes: &[u8]) {
    shader(Language::SpirV, bytes);
}

/// GLSL text of a fragment shader.
pub fn glsl(bytes: &[u8]) {
    shader(Language::Glsl, bytes);
}

/// Text of structured SSA: what parses and verifies also compiles, or is refused.
pub fn ir(bytes: &[u8]) {
    shader(Language::Ir, bytes);
}

/// Assembler text: what assembles has a text that assembles to the same bytes, or none.
pub fn assembly(bytes: &[u8]) {
    for target in Target::assembled() {
        check(&Input {
            language: Language::Assembly,
            bytes: bytes.to_vec(),
            stage: Stage::Fragment,
            target,
            variant: 0,
        });
    }
}

/// Machine code: what the disassembler accepts, the assembler gives back.
///
/// # Panics
/// When other bytes come back.
pub fn machine_code(bytes: &[u8]) {
    for target in Target::assembled() {
        let assembler = assembler(target).expect("it has an assembler");
        for unit in assembler.units() {
            if let Ok(text) = assembler.disassemble(unit, bytes) {
                let back = assembler.assemble(unit, &text);
                assert_eq!(back.as_deref().ok(), Some(bytes), "{unit}: {text}");
            }
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
