//! Broken encodings: one field of one instruction gets another value, and the strict emulator or
//! the comparison with the interpreter must notice.
//!
//! Some flips make a legal program with the same meaning, which nothing can catch; those that can be
//! told by looking at the instruction and its neighbours are not drawn: see [`gpucc::machine::Machine::sites`].

use gpucc::machine::Site;
use gpucc::verify::inputs::{SIZES, Sizes};
use gpucc::verify::{Plan, verify_plan};
use gpucc::{Choice, Compiled, Compiler, Options, Source, SourceText};
use gpucc_ir::ssa::random::Rng;
use std::collections::BTreeMap;
use std::path::Path;

/// Inputs on which a broken program is compared, and their sizes: most flips show on the first, some only where an
/// array ends before the invocations do or where their numbers need more than a byte, and some where a number falls
/// on a boundary. The number of an input says how wild it is, so that all have the same seed.
const INPUTS: [(u32, Sizes); 18] = [
    (1, SIZES),
    (8, SIZES),
    (4, sizes(4, [37, 37], 25)),
    (2, sizes(4, [37, 256], 11)),
    (2, sizes(4, [256, 37], 11)),
    (2, sizes(24, [1000, 1000], 8)),
    (64, SIZES),
    (256, SIZES),
    (32, sizes(4, [64, 64], 16)),
    (128, sizes(7, [300, 129], 32)),
    (16, sizes(16, [1024, 1024], 64)),
    (512, SIZES),
    (64, sizes(9, [100, 900], 48)),
    // Workgroups beside and above each other.
    (8, Sizes { groups: [2, 3, 1], ..SIZES }),
    (2, Sizes { groups: [1, 2, 2], ..sizes(1, [256, 300], 24) }),
    // Many of the short ones, and of the usual ones.
    (256, sizes(4, [37, 37], 5)),
    (256, sizes(4, [256, 37], 11)),
    (2048, SIZES),
];

/// Inputs on which the bytes run again where the functions err that the machine approximates: code that mends what they are off shows
/// there alone.
const ERRING: Plan = Plan { errors: 2, ..Plan::new(8, 0) };

/// Steps of one set of inputs: what a flipped field may take is all that bounds it.
const STEPS: u64 = 1 << 40;

const fn sizes(groups: u32, elements: [u32; 2], side: u32) -> Sizes {
    Sizes { groups: [groups, 1, 1], elements, side, small: false }
}

/// What flips were caught.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Flips tried.
    pub flips: usize,
    /// Flips that the emulator refused, by rule or reason.
    pub refused: usize,
    /// Flips that changed a compared word.
    pub differed: usize,
    /// Flips of each field: tried and caught.
    pub fields: BTreeMap<String, (usize, usize)>,
    /// Flips that nothing noticed.
    pub missed: Vec<String>,
}

impl Tally {
    /// Flips that were caught.
    pub fn caught(&self) -> usize {
        self.refused + self.differed
    }
    /// What the runner prints.
    pub fn table(&self) -> String {
        use std::fmt::Write;
        let mut out = String::new();
        for (field, (tried, caught)) in &self.fields {
            let _ = writeln!(out, "{field:<40} {caught:>4} of {tried:>4}");
        }
        for missed in &self.missed {
            let _ = writeln!(out, "missed: {missed}");
        }
        let share = 100.0 * self.caught() as f64 / self.flips.max(1) as f64;
        let _ = writeln!(
            out,
            "flipped fields: {}, refused by the emulator {}, different results {}, caught {share:.1} %",
            self.flips, self.refused, self.differed
        );
        out
    }
}

/// Flips `count` fields over the entry points of the shaders in a folder.
///
/// # Errors
/// A folder or shader that cannot be read or compiled.
pub fn run(compiler: &Compiler, samples: &Path, count: usize, seed: u64) -> Result<Tally, String> {
    let machine = compiler.target().built();
    let machine = machine.ok_or("the interpreter has no code to flip")?;
    let chip = compiler.chip().unwrap_or_default();
    let mut programs = compile(compiler, samples)?;
    let mut tally = Tally::default();
    let mut rng = Rng::new(seed);
    let sites: Vec<Vec<Site>> = programs
        .iter()
        .map(|(_, compiled)| {
            let program = compiled.program.as_ref();
            program.map_or_else(Vec::new, |program| machine.sites(program.compiled(), chip))
        })
        .collect();
    let total: usize = sites.iter().map(Vec::len).sum();
    if total == 0 {
        return Err("no instruction to flip".into());
    }
    while tally.flips < count {
        let mut pick = rng.below(total);
        let mut index = 0;
        while pick >= sites[index].len() {
            pick -= sites[index].len();
            index += 1;
        }
        let (source, compiled) = &mut programs[index];
        flip(compiler, source, compiled, &sites[index][pick], &mut rng, &mut tally);
    }
    Ok(tally)
}

fn compile(compiler: &Compiler, samples: &Path) -> Result<Vec<(SourceText, Compiled)>, String> {
    let mut paths: Vec<_> = std::fs::read_dir(samples)
        .map_err(|error| error.to_string())?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "wgsl"))
        .collect();
    paths.sort();
    let mut programs = Vec::new();
    let options = Options::default();
    for path in paths {
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let parsed = compiler
            .parse(Source::Wgsl(&text), Choice::default(), &options)
            .map_err(|failure| format!("{}: {}", path.display(), failure.summary()))?;
        for entry in parsed.entries {
            let mut compiled = match entry.func.and_then(|func| compiler.compile(&func, &options)) {
                Ok(compiled) => compiled,
                // What this machine cannot do is no program of its, and what is not built yet is none yet.
                Err(failure) if matches!(failure.exit_code(), 3 | 6) => continue,
                Err(failure) => return Err(format!("{}: {}", path.display(), failure.summary())),
            };
            // The passes are right: only the machine is broken.
            compiled.steps.clear();
            let source = SourceText::new(path.to_string_lossy(), Some(text.clone()));
            programs.push((source, compiled));
        }
    }
    Ok(programs)
}

fn flip(
    compiler: &Compiler,
    source: &SourceText,
    compiled: &mut Compiled,
    place: &Site,
    rng: &mut Rng,
    tally: &mut Tally,
) {
    let fields: Vec<_> = place.inst.op().format.fields().collect();
    let field = fields[rng.below(fields.len())];
    let old = field.get(place.inst.bits());
    let values = 1u64 << field.width().min(32);
    let new = ((u64::from(old) + 1 + rng.bits() % (values - 1)) % values) as u32;
    if !(place.meaning)(field, new) {
        return;
    }
    let bits = field.put(place.inst.bits(), new);
    let Some(program) = compiled.program.take() else {
        return;
    };
    let mut code = program.code().to_vec();
    let bytes = usize::from(place.inst.op().format.bits) / 8;
    code[place.offset..place.offset + bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
    compiled.program = Some(program.with_code(code));
    let options = Options::default();
    let outcome = INPUTS
        .into_iter()
        .map(|(count, sizes)| Plan { sizes, ..Plan::new(count, 0) })
        .chain([ERRING])
        .map(|plan| {
            let plan = Plan { steps: STEPS, ..plan };
            verify_plan(compiler, compiled, source, &options, &plan)
        })
        // Too little to compare is no catch.
        .find(|found| !matches!(found, Ok(summary) if summary.mismatches == 0));
    compiled.program = Some(program);
    tally.flips += 1;
    let name = format!("{}.{}", place.inst.op().format.name, field.name);
    let row = tally.fields.entry(name.clone()).or_default();
    row.0 += 1;
    match outcome {
        None => tally.missed.push(format!(
            "{name} {old} -> {new} of {} at byte {:#x} of {} ({})",
            place.inst.op().name,
            place.offset,
            compiled.entry,
            source.name
        )),
        Some(Ok(_)) => {
            row.1 += 1;
            tally.differed += 1;
        }
        Some(Err(_)) => {
            row.1 += 1;
            tally.refused += 1;
        }
    }
}
