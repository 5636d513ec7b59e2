//! SPIR-V to structured SSA: one function per entry point, everything scalar.
//!
//! # How
//! - [`program`] makes tables of the module, [`types`] says where scalars lie, [`plan`] makes a tree of each function's
//!   control flow.
//! - A value is its scalars in order, a pointer is a place in memory, a texture is a binding ([`Operand`]).
//! - Every variable becomes a [`gpucc_ir::ssa::Mem`], inputs and outputs too: promotion to values is a pass.
//! - `OpPhi` is a variable that each block before stores. A value that is used where its definition is out of scope
//!   goes through a variable as well; a pointer is made again there, so that its indices meet their bounds again.
//!
//! # What it costs
//! Linear in the instructions of what is inlined.

mod amd;
mod arithmetic;
mod atomics;
mod code;
mod composites;
mod constants;
mod control;
mod default_block;
mod dots;
mod functions;
mod groups;
mod image;
mod interface;
mod lanes;
mod module;
mod plan;
mod pointers;
mod program;
mod resource;
mod sizes;
mod types;

use crate::entries::Entries;
use crate::lower::frame::Place;
use crate::lower::{Lower, Result, Values};
use crate::stop::Stop;
use crate::{Diagnostic, Limits, Options};
pub use constants::is_open;
use gpucc_ir::ssa::{Inst, Mem, Resource, Span, Value};
use gpucc_ir::{Map, Set};
pub use module::Module;
use plan::{Plan, Scope};
use pointers::{Far, Roots};
use program::{Entry, Function, Id, Program, op};
use rspirv::spirv::{MAGIC_NUMBER, Op};
use types::Matrices;

/// A pointer to memory.
#[derive(Clone, Debug)]
struct Pointer {
    place: Place,
    /// What it points to.
    ty: Id,
    matrices: Matrices,
}

/// A variable of a binding, or one element of an array of them.
#[derive(Copy, Clone, Debug)]
struct Bound {
    variable: Id,
    element: Option<Value>,
}

/// What an id evaluates to.
#[derive(Clone, Debug)]
enum Operand {
    /// Scalars in order.
    Values(Values),
    Pointer(Pointer),
    /// A pointer that is a value.
    Far(Far),
    /// A pointer to a binding, and what it points to.
    Binding(Bound, Id),
    /// A texture or sampler that was loaded.
    Handle(Bound),
    /// A texture and a sampler.
    Sampled(Bound, Bound),
    /// A texel of a texture: coordinates and layer.
    Texel(Bound, Values),
}

/// One function while it is inlined.
struct Frame<'p> {
    function: &'p Function,
    plan: &'p Plan,
    /// What values are, by slot, and the scope that made them.
    values: Vec<Option<(Operand, Scope)>>,
    /// Variables of values that are used out of their scope.
    escaped: Map<usize, Vec<Mem>>,
    /// Variables of phis.
    phis: Map<usize, Pointer>,
    scope: Scope,
    /// The block around the function that a return exits.
    label: Inst,
    /// Where a return puts its value.
    slot: Option<Pointer>,
    /// Blocks of the constructs that are exited, by their merges.
    labels: Map<Id, Inst>,
}

/// What is lowered of a module.
pub struct Spirv<'p> {
    program: &'p Program<'p>,
    entry: &'p Entry,
    plans: &'p Map<Id, Plan>,
    constants: Map<Id, Values>,
    /// Variables of the module that are memory.
    variables: Map<Id, Pointer>,
    /// Bindings of variables: a buffer, a texture or a sampler; and the sampler of a combined one.
    bindings: Map<Id, (Resource, Option<Resource>)>,
    /// Variables of textures and samplers that comparisons use.
    compared: Set<Id>,
    /// Variables of storage images that atomics change.
    texels: Set<Id>,
    /// Variables of storage images that are stored to.
    written: Set<Id>,
    /// The buffer of uniforms outside of blocks, once one is used.
    default_block: Option<Resource>,
    /// What pointers that are values may lead to.
    roots: Roots,
    /// The module has atomics on texels.
    takes_texels: bool,
    /// What phis with many predecessors take from each, once one is asked for.
    taken: Map<Id, Map<Id, Id>>,
    /// The inputs that are memory, once one is interpolated.
    inputs: Option<Map<Mem, Id>>,
    /// Output variables, which a geometry shader reads for each vertex.
    outputs: interface::Outputs,
}

type OfSpirv<'p> = Lower<'p, Spirv<'p>>;

/// Structured constructs in one function; the reader recurses over their nesting.
const CONSTRUCTS: u64 = 16_383;
/// Numbers of ids and of words that readers may allocate for.
const ID_BOUND: u64 = 4 << 20;

/// Checks the size of the module.
pub fn size(bytes: &[u8], limits: &Limits) -> Result<()> {
    let needed = bytes.len() as u64;
    if needed <= limits.source_bytes {
        return Ok(());
    }
    let what = "source size in bytes";
    Err(Stop::limit(what, needed, limits.source_bytes, "split the module"))
}

/// Instructions up to which a module is flat.
const FLAT: usize = 16;

/// What nests, by number.
const NESTING: [u32; 6] = [
    Op::SelectionMerge as u32,
    Op::LoopMerge as u32,
    Op::Function as u32,
    Op::TypeStruct as u32,
    Op::TypeArray as u32,
    Op::SpecConstantOp as u32,
];

/// Whether so little of a module can nest that any thread has the stack to read it: constructs, functions and types.
pub fn is_flat(bytes: &[u8]) -> bool {
    let (words, _) = bytes.as_chunks::<4>();
    // Words in the other order say nothing here.
    let mut nests = match words.first() {
        Some(&magic) if u32::from_le_bytes(magic) == MAGIC_NUMBER => 0,
        _ => return false,
    };
    let mut at = 5;
    while let Some(&word) = words.get(at) {
        let word = u32::from_le_bytes(word);
        nests += usize::from(NESTING.contains(&(word & 0xffff)));
        at += (word >> 16).max(1) as usize;
    }
    nests <= FLAT
}

/// Checks words in little-endian order, header included.
fn check(bytes: &[u8]) -> Result<()> {
    let word = |index: usize| {
        bytes.get(index * 4..index * 4 + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let at = |index: usize| Span { start: index as u32 * 4, end: index as u32 * 4 + 4 };
    let words = bytes.len() / 4;
    let bound = u64::from(word(3).unwrap_or(0));
    if bound > ID_BOUND {
        return Err(
            Stop::limit("id bound of the module", bound, ID_BOUND, "compact the ids").at(at(3))
        );
    }
    let (mut index, mut constructs) = (5, 0u64);
    while index < words {
        let first = word(index).unwrap_or(0);
        let length = (first >> 16) as usize;
        if length == 0 || index + length > words {
            let message = format!(
                "truncated SPIR-V: the instruction at word {index} claims {length} words, {} are left",
                words - index
            );
            return Err(Stop::invalid(message).at(at(index)));
        }
        const FUNCTION: u32 = Op::Function as u32;
        const LOOP_MERGE: u32 = Op::LoopMerge as u32;
        const SELECTION_MERGE: u32 = Op::SelectionMerge as u32;
        match first & 0xffff {
            FUNCTION => constructs = 0,
            LOOP_MERGE | SELECTION_MERGE => {
                constructs += 1;
                if constructs > CONSTRUCTS {
                    let hint = "split the function";
                    let what = "structured constructs of one function";
                    return Err(Stop::limit(what, constructs, CONSTRUCTS, hint).at(at(index)));
                }
            }
            _ => {}
        }
        index += length;
    }
    Ok(())
}

/// Splits a module in either byte order into instructions. Its specialization constants have no values yet.
///
/// # Errors
/// What is no module, and what is too large.
pub fn read(bytes: &[u8]) -> Result<Module> {
    let words = little_endian(bytes)?;
    check(&words)?;
    let mut module = Module::read(&words);
    drop_remarks(&mut module);
    spread_groups(&mut module)?;
    Ok(module)
}

/// Gives specialization constants their values, and lowers the entry points that the options ask for.
///
/// # Errors
/// What the module breaks, and what the reader lacks; of entry points the first failure, unless
/// [`Options::keep_going`] is set.
pub fn lower(module: &Module, options: &Options) -> Result<Entries> {
    let special = constants::specialize(module, options)?;
    let program = Program::new(special.as_ref().unwrap_or(module))?;
    let mut done = Entries::default();
    if program.controls_floats {
        let text = "float controls (denormals, rounding, NaN) are as the machine has them";
        done.notes.push(Diagnostic::note("float-controls", text));
    }
    for entry in chosen(&program, options)? {
        let result = control::lower(&program, entry, &done.limits(options));
        done.add(&entry.name, result, options)?;
    }
    Ok(done)
}

/// The entry points that the options ask for, in the module's order.
fn chosen<'p>(program: &'p Program<'_>, options: &Options) -> Result<Vec<&'p Entry>> {
    let names = program.entries.iter().map(|entry| {
        let stage = entry
            .stage()
            .map_or_else(|_| format!("{:?}", entry.model), |stage| stage.name().to_owned());
        (entry.name.as_str(), entry.stage().ok(), stage)
    });
    let all: Vec<_> = names.collect();
    let indices = crate::choose(&all, options)?;
    Ok(indices.into_iter().map(|index| &program.entries[index]).collect())
}
/// Words of a module in little-endian order.
fn little_endian(bytes: &[u8]) -> Result<Vec<u8>> {
    const MAGIC: [u8; 4] = [0x03, 0x02, 0x23, 0x07];
    let mut words = bytes.to_vec();
    let reversed = [MAGIC[3], MAGIC[2], MAGIC[1], MAGIC[0]];
    if words.len() < 20 || !words.len().is_multiple_of(4) {
        let message =
            format!("not a SPIR-V module: {} bytes are not a header and whole words", words.len());
        let end = words.len().max(1) as u32;
        return Err(Stop::invalid(message).at(Span { start: end - 1, end }));
    }
    if words[..4] == reversed {
        for word in words.chunks_exact_mut(4) {
            word.reverse();
        }
    } else if words[..4] != MAGIC {
        let message = "not a SPIR-V module: the first word is not the magic number 0x07230203";
        return Err(Stop::invalid(message).at(Span { start: 0, end: 4 }));
    }
    Ok(words)
}

/// Decorations that groups give all of their members.
const MOST_SPREAD: u64 = 1 << 20;

/// Groups of decorations: each member gets its own.
///
/// # Errors
/// More than [`MOST_SPREAD`]: members times decorations may be far more than the module has words.
fn spread_groups(module: &mut Module) -> Result<()> {
    let groups: Set<u32> = module
        .insts
        .iter()
        .filter(|inst| op(inst) == Op::DecorationGroup)
        .map(|inst| inst.operand(0))
        .collect();
    if groups.is_empty() {
        return Ok(());
    }
    let mut spread = 0u64;
    let mut decorations: Map<u32, Vec<Vec<u32>>> = Map::default();
    let mut out = Vec::with_capacity(module.insts.len());
    for inst in std::mem::take(&mut module.insts) {
        let target = inst.operand(0);
        if matches!(op(&inst), Op::GroupDecorate | Op::GroupMemberDecorate) {
            let own = decorations.get(&target).map_or(0, Vec::len) as u64;
            spread = spread.saturating_add(own.saturating_mul(inst.rest(1).len() as u64));
            if spread > MOST_SPREAD {
                let hint = "decorate what needs it alone";
                let stop = Stop::limit("decorations by groups", spread, MOST_SPREAD, hint);
                return Err(stop.at(program::span(&inst)));
            }
        }
        match op(&inst) {
            Op::DecorationGroup => {}
            Op::Decorate if groups.contains(&target) => {
                let rest = inst.rest(1).to_vec();
                decorations.entry(target).or_default().push(rest);
            }
            Op::GroupDecorate => {
                for member in inst.rest(1) {
                    for decoration in decorations.get(&target).into_iter().flatten() {
                        let operands = [&[*member][..], decoration].concat();
                        out.push(module::Inst::new(inst.at, Op::Decorate as u32, &operands));
                    }
                }
            }
            Op::GroupMemberDecorate => {
                for member in inst.rest(1).chunks_exact(2) {
                    for decoration in decorations.get(&target).into_iter().flatten() {
                        let operands = [member, decoration].concat();
                        out.push(module::Inst::new(inst.at, Op::MemberDecorate as u32, &operands));
                    }
                }
            }
            _ => out.push(inst),
        }
    }
    module.insts = out;
    Ok(())
}

/// Leaves out `OpNop`, and sets of instructions that by their names mean nothing to the program.
fn drop_remarks(module: &mut Module) {
    let mut sets: Set<u32> = Set::default();
    module.insts.retain(|inst| match op(inst) {
        Op::Nop => false,
        Op::ExtInstImport => {
            let name = string(inst.rest(1));
            let remarks = name.starts_with("NonSemantic.") || name.contains("DebugInfo");
            if remarks {
                sets.insert(inst.operand(0));
            }
            !remarks
        }
        Op::ExtInst => !sets.contains(&inst.operand(2)),
        _ => true,
    });
}

/// Words of the string that an instruction's words begin with.
fn string_words(words: &[u32]) -> usize {
    let ends = |word: &u32| word.to_le_bytes().contains(&0);
    words.iter().position(ends).map_or(words.len(), |at| at + 1)
}

/// A literal string of an instruction.
fn string(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    bytes.take_while(|&byte| byte != 0).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &[u32]) -> Vec<u8> {
        let header = [0x0723_0203, 0x0001_0000, 0, 10, 0];
        header.iter().chain(body).flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn an_instruction_longer_than_the_module_is_refused_at_its_word() {
        assert!(check(&module(&[0x0001_0000])).is_ok());
        let stop = check(&module(&[0x0001_0000, 0x0009_0000])).expect_err("too long");
        assert_eq!(stop.span.start, 24);
        assert!(check(&module(&[0])).is_err());
    }
}
