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

/// A mutation of text that keeps its words whole, and so gets past the readers more often: words removed, repeated,
/// swapped or inserted, numbers replaced by those at the edges of types.
pub fn reworded(rng: &mut Rng, text: &str) -> String {
    const EDGES: [&str; 12] = [
        "0",
        "1u",
        "31",
        "32",
        "64",
        "65536",
        "2147483647",
        "4294967295u",
        "99999999999999999999",
        "1e38",
        "1e-45f",
        "-1",
    ];
    let mut words = words(text);
    for _ in 0..1 + rng.below(5) {
        if words.is_empty() {
            break;
        }
        let (at, other) = (rng.below(words.len()), rng.below(words.len()));
        match rng.below(6) {
            0 => words.swap(at, other),
            1 => words[at] = words[other],
            2 => drop(words.remove(at)),
            3 => words.insert(at, words[other]),
            4 => {
                let end = words.len().min(at + 1 + rng.below(40));
                let piece = words[at..end].to_vec();
                words.splice(at..at, piece);
            }
            _ => {
                let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
                if let Some(next) = words[at..].iter().position(is_number) {
                    words[at + next] = EDGES[rng.below(EDGES.len())];
                }
            }
        }
    }
    words.concat()
}

/// Identifiers and numbers, stretches of white space, and everything else one by one.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let end = chars.peek().map_or(text.len(), |&(at, _)| at);
        let goes_on = chars
            .peek()
            .is_some_and(|&(_, next)| class(next) == class(c) && class(c) < 2);
        if !goes_on {
            words.push(&text[start..end]);
            start = end;
        }
    }
    words
}

/// A mutation of a SPIR-V module that keeps its header and its instructions' lengths: operands replaced by others of the
/// module or by numbers at the edges, instructions removed, repeated, swapped, or given another's opcode.
pub fn rewired(rng: &mut Rng, module: &[u8]) -> Vec<u8> {
    const EDGES: [u32; 8] = [0, 1, 2, 31, 64, 65_535, 0x7FFF_FFFF, u32::MAX];
    let words: Vec<u32> = module
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let (head, mut rest) = words.split_at(words.len().min(5));
    let mut insts: Vec<Vec<u32>> = Vec::new();
    while let Some(first) = rest.first() {
        let length = (*first >> 16).max(1) as usize;
        let (inst, after) = rest.split_at(length.min(rest.len()));
        insts.push(inst.to_vec());
        rest = after;
    }
    for _ in 0..1 + rng.below(4) {
        if insts.is_empty() {
            break;
        }
        let (at, other) = (rng.below(insts.len()), rng.below(insts.len()));
        let from = insts[other].clone();
        let place = rng.below(insts[at].len());
        match rng.below(7) {
            0 => drop(insts.remove(at)),
            1 => insts.insert(at, from),
            2 => insts.swap(at, other),
            3 if from.len() == insts[at].len() => insts[at][0] = from[0],
            4 if place > 0 => insts[at][place] = EDGES[rng.below(EDGES.len())],
            _ if place > 0 => insts[at][place] = from[from.len() - 1],
            _ => {}
        }
    }
    let words = head.iter().chain(insts.iter().flatten());
    words.flat_map(|word| word.to_le_bytes()).collect()
}
