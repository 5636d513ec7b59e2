//! Broken encodings: one field of one instruction gets another value, and the strict emulator or
//! the comparison with the interpreter must notice.
//!
//! Flips that change when something happens but not what, or fields that the instruction does not
//! read, are legal programs with the same meaning; nothing can catch those, so they are not drawn:
//! see [`has_meaning`].

use gpucc::verify::verify;
use gpucc::{Choice, Compiled, Compiler, Options, Source, SourceText};
use gpucc_ir::ssa::random::Rng;
use gpucc_r700::isa::Inst;
use gpucc_r700::isa::disasm::words_of;
use gpucc_r700::isa::program::{Body, decode_program};
use std::collections::BTreeMap;
use std::path::Path;

/// Inputs on which a broken program is compared.
const INPUTS: u32 = 8;

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

/// Where an instruction stands in the code, in bytes.
struct Place {
    offset: usize,
    inst: Inst,
}

fn places(code: &[u8]) -> Vec<Place> {
    let Ok(words) = words_of(code) else {
        return Vec::new();
    };
    let Ok(program) = decode_program(&words) else {
        return Vec::new();
    };
    let mut places: Vec<Place> = program
        .cf
        .iter()
        .map(|cf| Place {
            offset: cf.at as usize * 8,
            inst: cf.inst,
        })
        .collect();
    for clause in &program.clauses {
        let mut offset = clause.at as usize * 8;
        match &clause.body {
            Body::Alu(groups) => {
                for group in groups {
                    for (index, slot) in group.slots.iter().enumerate() {
                        places.push(Place {
                            offset: offset + index * 8,
                            inst: slot.inst(),
                        });
                    }
                    offset += group.qwords() as usize * 8;
                }
            }
            Body::Fetch(fetches) => {
                for (index, &inst) in fetches.iter().enumerate() {
                    places.push(Place {
                        offset: offset + index * 16,
                        inst,
                    });
                }
            }
        }
    }
    places
}

/// False for fields that cannot change what the program does:
/// sources that the op does not have; BARRIER, MEGA_FETCH and its count, which only say when and how
/// wide memory is read; BANK_SWIZZLE, of which several are legal; channels of constants that have
/// none; fields whose flip is a second spelling (FETCH_WHOLE_QUAD in a program without quads).
fn has_meaning(inst: &Inst, field: &str) -> bool {
    const TIMING: &[&str] = &[
        "BARRIER",
        "BANK_SWIZZLE",
        "MEGA_FETCH",
        "MEGA_FETCH_COUNT",
        "FETCH_WHOLE_QUAD",
        "BC_FRAC_MODE",
        "WHOLE_QUAD_MODE",
        "VALID_PIXEL_MODE",
    ];
    let source = field
        .strip_prefix("SRC")
        .and_then(|rest| rest.chars().next())
        .and_then(|digit| digit.to_digit(10));
    !TIMING.contains(&field) && source.is_none_or(|source| source < u32::from(inst.op().sources))
}

/// Flips `count` fields over the entry points of the shaders in a folder.
///
/// # Errors
/// A folder or shader that cannot be read or compiled.
pub fn run(compiler: &Compiler, samples: &Path, count: usize, seed: u64) -> Result<Tally, String> {
    let mut programs = compile(compiler, samples)?;
    let mut tally = Tally::default();
    let mut rng = Rng::new(seed);
    let sites: Vec<Vec<Place>> = programs
        .iter()
        .map(|(_, compiled)| {
            let code = compiled.program.as_ref().map(|program| program.code());
            code.map(places).unwrap_or_default()
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
        flip(
            compiler,
            source,
            compiled,
            &sites[index][pick],
            &mut rng,
            &mut tally,
        );
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
            let compiled = entry
                .func
                .and_then(|func| compiler.compile(&func, &options))
                .map_err(|failure| format!("{}: {}", path.display(), failure.summary()))?;
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
    place: &Place,
    rng: &mut Rng,
    tally: &mut Tally,
) {
    let fields: Vec<_> = place
        .inst
        .op()
        .format
        .fields()
        .filter(|field| has_meaning(&place.inst, field.name))
        .collect();
    let field = fields[rng.below(fields.len())];
    let old = field.get(place.inst.bits());
    let values = 1u64 << field.width().min(32);
    let new = (u64::from(old) + 1 + rng.bits() % (values - 1)) % values;
    let bits = field.put(place.inst.bits(), new as u32);
    let Some(program) = compiled.program.take() else {
        return;
    };
    let mut code = program.code().to_vec();
    let bytes = usize::from(place.inst.op().format.bits) / 8;
    code[place.offset..place.offset + bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
    compiled.program = Some(program.with_code(code));
    let found = verify(compiler, compiled, source, &Options::default(), INPUTS, 7);
    compiled.program = Some(program);
    tally.flips += 1;
    let name = format!("{}.{}", place.inst.op().format.name, field.name);
    let row = tally.fields.entry(name.clone()).or_default();
    row.0 += 1;
    match found {
        Ok(summary) if summary.holds() => tally.missed.push(format!(
            "{name} {old} -> {new} of {} at byte {:#x} of {} ({})",
            place.inst.op().name,
            place.offset,
            compiled.entry,
            source.name
        )),
        Ok(_) => {
            row.1 += 1;
            tally.differed += 1;
        }
        Err(_) => {
            row.1 += 1;
            tally.refused += 1;
        }
    }
}
