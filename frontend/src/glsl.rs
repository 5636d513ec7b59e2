//! GLSL to structured SSA, read directly: one function for the entry point, everything scalar.
//!
//! # How
//! - The preprocessor has removed macros, conditions and includes. [`token`] cuts what is left, [`parse`] makes syntax of it.
//! - [`check`] gives every name, type and overload its meaning, and computes what the language wants known; a typed tree is left.
//! - [`lower`] inlines the tree into SSA by the machine that lowers SPIR-V and WGSL ([`crate::lower`]).
//! - `finish` gives the bindings and locations that OpenGL leaves to its linker.
//!
//! # What it costs
//! Linear in the tokens, and in the instructions of what is inlined. Recursion follows the nesting, which the parser bounds.

mod addresses;
mod ast;
mod blocks;
mod builtins;
mod calls;
mod check;
mod constant;
mod constant_vectors;
mod declare;
mod define;
mod exprs;
mod finish;
mod functions;
mod globals;
mod images;
mod interface;
mod layout;
mod lower;
mod parse;
mod parts;
mod places;
mod qualifiers;
mod resources;
mod rules;
mod statements;
mod subgroups;
mod texels;
mod textures;
mod token;
mod tree;
mod types;
mod typing;
mod values;
mod variables;

use crate::entries::Entries;
use crate::lower::Result;
use crate::places::Places;
use crate::stop::Stop;
use crate::{Diagnostic, Needs, Options};
use gpucc_ir::ssa::Stage;
use tree::Program;

/// The stage of ours that refuses what it does not read.
pub const READING: &str = "the reader of GLSL";

/// What the reader lacks, with what a machine must have for it.
fn lacking(what: &str) -> Stop {
    let stop = Stop::unsupported(what, READING);
    let needs = match what {
        _ if what.contains("ray ") || what == "acceleration structures" => Needs::RayTracing,
        "tessellation shaders" => Needs::Tessellation,
        "cooperative matrices" => Needs::CooperativeMatrices,
        "sparse residency" => Needs::Residency,
        "task and mesh shaders" => Needs::MeshStages,
        "fragment shader interlock" => Needs::Interlock,
        "per-vertex inputs" => Needs::Corners,
        "multisampled storage images" => Needs::StoredSamples,
        _ => return stop,
    };
    stop.needing(needs)
}

/// What a text declares, before its constants have values.
struct Syntax<'a> {
    items: Vec<ast::Item<'a>>,
    dialect: token::Dialect,
}

self_cell::self_cell!(
    /// A text without macros, and its syntax.
    struct Parsed {
        owner: String,
        #[covariant]
        dependent: Syntax,
    }
);

/// A text that was read. Its specialization constants have no values yet.
pub struct Kept {
    parsed: Parsed,
    places: Places,
    stage: Stage,
}

/// Reads a text without macros. `places` leads from it to the user's.
///
/// # Errors
/// What breaks the rules of the language whatever its constants are, and what the reader lacks.
pub fn read(text: String, stage: Stage, places: Places) -> Result<Kept> {
    let parsed = Parsed::try_new(text, |text| {
        let (tokens, dialect) = token::tokens(text)?;
        let items = parse::parse(&tokens)?;
        rules::check(&tokens, &items, &dialect, stage)?;
        Ok(Syntax { items, dialect })
    });
    match parsed {
        Ok(parsed) => Ok(Kept { parsed, places, stage }),
        Err(stop) => Err(Stop::mended(stop, &places)),
    }
}

impl Kept {
    /// Whether it may have constants whose values the options give.
    pub fn is_open(&self) -> bool {
        is_open(self.parsed.borrow_owner())
    }
}

/// Whether a text may have constants whose values the options give.
pub fn is_open(text: &str) -> bool {
    ["constant_id", "local_size_"].iter().any(|one| text.contains(one))
}

/// Lowers the entry point of a text with the values that the options give.
///
/// # Errors
/// What breaks the rules of the language, and what the reader lacks.
pub fn lower(kept: &Kept, options: &Options) -> Result<Entries> {
    let Kept { parsed, places, stage } = kept;
    let stage = *stage;
    let mut done = Entries::default();
    let Syntax { items, dialect } = parsed.borrow_dependent();
    let program = check::check(items, dialect, stage, options);
    let mut program: Program = program.map_err(|stop| stop.mended(places))?;
    let mend = |mut notes: Vec<Diagnostic>| {
        notes.iter_mut().for_each(|note| places.mend(note));
        notes
    };
    done.notes = mend(std::mem::take(&mut program.notes));
    let chosen = crate::choose(&[("main", Some(stage), stage.name().to_owned())], options)?;
    if chosen.is_empty() {
        return Ok(done);
    }
    let limits = done.limits(options);
    let result = lower::lower(&program, stage, &limits);
    let result = result.map_err(|stop| stop.mended(places)).map(|(mut func, notes)| {
        for inst in func.insts.values_mut() {
            inst.span = places.original(inst.span);
        }
        func.place = places.original(func.place);
        (func, mend(notes))
    });
    done.add("main", result, options)?;
    Ok(done)
}
