//! Every file of `../shared/repro` on every machine against what its README says is right, each within 10 s and 512 MiB.

use crate::limited;
use crate::programs::{SHARED_ATOMICS, lacks, writes_memory};
use gpucc::Target;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What a machine can do of what the files ask for; the columns of [`Row`].
#[derive(Copy, Clone)]
enum Kind {
    /// The interpreter.
    Reference = 0,
    /// No atomics, and no 16 bits in memory.
    Old = 1,
    /// Its programs write no memory.
    ReadOnly = 2,
    /// All of it.
    Modern = 3,
}

/// A target's column.
fn kind(target: Target) -> Kind {
    match target {
        Target::Interp => Kind::Reference,
        _ if !writes_memory(target) => Kind::ReadOnly,
        _ if lacks(target, "atomic operations") || has_plain_memory(target) => Kind::Old,
        _ => Kind::Modern,
    }
}

/// A machine whose workgroups are threads and whose memory is doublewords without atomic operations.
fn has_plain_memory(target: Target) -> bool {
    lacks(target, SHARED_ATOMICS)
}

/// What is right on a machine that [has plain memory](has_plain_memory), by the ends of names of files, where it is another than
/// for its [`Kind`]. Such a machine stores halves in pairs and numbers locations by their order.
const PLAIN: &[(&str, &[i32])] = &[("_sr_count_min.ir", &[0]), ("location_wrap.wgsl", &[0])];

/// Exit codes that are right, for each [`Kind`].
type Codes = [&'static [i32]; 4];

const DONE: Codes = [&[0]; 4];
const LIMIT: Codes = [&[4]; 4];
const STORES: Codes = [&[0], &[0], &[3], &[0]];
const MODERN: Codes = [&[0], &[3], &[3], &[0]];

/// A file and what is right.
struct Row {
    /// File name, or what it begins with; behind a `*`, what stands in it.
    file: &'static str,
    options: &'static [&'static str],
    compiled: Codes,
    verified: Codes,
}

impl Row {
    fn is_of(&self, name: &str) -> bool {
        match self.file.strip_prefix('*') {
            Some(part) => name.contains(part),
            None => name.starts_with(self.file),
        }
    }
}

const fn row(file: &'static str, compiled: Codes, verified: Codes) -> Row {
    Row { file, options: &[], compiled, verified }
}

const fn unbound(file: &'static str, compiled: Codes, verified: Codes) -> Row {
    Row { file, options: &["--robust", "off"], compiled, verified }
}

/// Steps may end before the program does: then nothing is proved, and that is said.
const ENDLESS: Codes = [&[0, 5]; 4];
const ENDLESS_STORES: Codes = [&[0, 5], &[0, 5], &[3], &[0, 5]];
const WRONG: Codes = [&[1]; 4];
const USERS: Codes = [&[2, 5], &[2, 5], &[3], &[2, 5]];

const ROWS: &[Row] = &[
    row("const_index_runtime_array.wgsl", STORES, STORES),
    row("const_index_300.wgsl", STORES, STORES),
    row("const_index_forms.wgsl", MODERN, MODERN),
    row("const_index.comp", MODERN, MODERN),
    row("const_index.spv", MODERN, MODERN),
    row("two.wgsl", STORES, STORES),
    row("empty_runtime_array.wgsl", STORES, STORES),
    row("short_buffer.wgsl", STORES, STORES),
    unbound("oob.wgsl", STORES, USERS),
    // A machine that picks bindings by comparing reaches none beyond the last.
    unbound("oobbind.wgsl", STORES, [&[0, 2, 5], &[0, 2, 5], &[3], &[0, 2, 5]]),
    // Texels beyond an image are no memory of the driver's; where the reference says nothing of them, nothing is proved.
    unbound("oobtex.wgsl", STORES, [&[0, 2, 5], &[0, 2, 5], &[3], &[0, 2, 5]]),
    // A buffer that is large enough has the place.
    unbound("zero_const_oob.wgsl", STORES, [&[0, 2, 5], &[0, 2, 5], &[3], &[0, 2, 5]]),
    row("exits_to_guards_panic.wgsl", STORES, ENDLESS_STORES),
    row("huge_insert.spv", LIMIT, LIMIT),
    // Valid for naga alone: an id has two definitions.
    row("spirv_abort.spv", WRONG, WRONG),
    row("glsl_output_array_memory.vert", LIMIT, LIMIT),
    // Their numbers have more than 32 bits, which breaks a rule of the language.
    row("glsl_output_block_memory.vert", WRONG, WRONG),
    row("glsl_hang_1.vert", WRONG, WRONG),
    row("wgsl_like.frag", LIMIT, LIMIT),
    row(
        "inline_loops_",
        [&[0, 4], &[0, 4], &[3, 4], &[0, 4]],
        [&[0, 4, 5], &[0, 4, 5], &[3, 4], &[0, 4, 5]],
    ),
    row("unused_chain.spv", DONE, ENDLESS),
    row("unused_pointer.wgsl", DONE, ENDLESS),
    // Valid for naga alone: ids without a definition, and what branches to them.
    row("*_reconverge.spv", WRONG, WRONG),
    row("*_reconverge2.spv", WRONG, WRONG),
    row("*_reconverge", DONE, ENDLESS),
    row("*_sr_count", MODERN, MODERN),
    // The interpreter has no registers that a location would have to fit, and some machines number locations by their order.
    row("location_wrap.wgsl", [&[0, 4], &[4], &[4], &[0, 4]], [&[0, 4], &[4], &[4], &[0, 4]]),
    row("glsl_double_cull.vert", WRONG, WRONG),
    row(
        "deep_regions.wgsl",
        [&[0, 4], &[0, 4], &[3, 4], &[0, 4]],
        [&[0, 4, 5], &[0, 4, 5], &[3, 4], &[0, 4, 5]],
    ),
    row("align_nested.wgsl", STORES, STORES),
    row("ab", STORES, STORES),
    row("ce3.wgsl", STORES, STORES),
    row("const_smoothstep.wgsl", STORES, STORES),
    row("mix_literals.wgsl", STORES, STORES),
    row("attrs.vert", DONE, DONE),
    row("mv.vert", DONE, DONE),
    row("em", DONE, DONE),
    row("mat2_std430.comp", STORES, STORES),
];

/// What a run over the folder found.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Files.
    pub files: usize,
    /// Commands that ended as they should, and those that did not with what they said.
    pub right: usize,
    /// See [`Tally::right`].
    pub wrong: Vec<String>,
}

impl Tally {
    /// The lines of the report; the last has the counts.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for line in &self.wrong {
            let _ = writeln!(out, "{line}");
        }
        let _ = writeln!(
            out,
            "repro: {} files, {} commands right, {} wrong",
            self.files,
            self.right,
            self.wrong.len()
        );
        out
    }
}

/// Compiles and verifies every file of a folder with the command `gpucc`. A file that the table does not know is wrong.
///
/// # Errors
/// A folder that cannot be read, a command that cannot be started.
pub fn run(gpucc: &Path, folder: &Path) -> std::io::Result<Tally> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    files.sort();
    let mut tally = Tally::default();
    for path in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".md") || name.ends_with(".spvasm") {
            continue;
        }
        tally.files += 1;
        let Some(row) = ROWS.iter().find(|row| row.is_of(&name)) else {
            tally.wrong.push(format!("{name}: no row of the table"));
            continue;
        };
        for target in std::iter::once(Target::Interp).chain(Target::machines()) {
            let (machine, index) = (target.name(), kind(target) as usize);
            let plain = target != Target::Interp && has_plain_memory(target);
            let other = PLAIN.iter().find(|&&(file, _)| plain && name.ends_with(file));
            let path = path.to_string_lossy();
            let mut compile = vec![&*path, "--target", machine];
            compile.extend(row.options);
            let mut verify = vec!["verify"];
            verify.extend(&compile);
            verify.extend(["--inputs", "4"]);
            for (what, arguments, right) in
                [("compile", compile, row.compiled[index]), ("verify", verify, row.verified[index])]
            {
                let ended = limited::run(gpucc, &arguments)?;
                let right = other.map_or(right, |&(_, codes)| codes);
                if ended.code.is_some_and(|code| right.contains(&code)) {
                    tally.right += 1;
                } else {
                    let told = ended.told();
                    tally
                        .wrong
                        .push(format!("{name} {machine} {what}: {told}; right is {right:?}"));
                }
            }
        }
    }
    Ok(tally)
}
