//! A SPIR-V module before naga sees it: bounds, and what naga refuses though it changes nothing.

mod chains;
mod combined;
mod constants;
mod gaps;
mod module;
mod ops;
mod subpass;

use crate::diagnostic::Diagnostic;
use crate::places::Places;
use crate::stop::Stop;
use crate::{Limits, Options};
use gpucc_ir::ssa::Span;
use module::Module;
use ops::{OP_TYPE_MATRIX, OP_TYPE_VECTOR};

/// Structured constructs in one function; naga recurses over their nesting.
const CONSTRUCTS: u64 = 16_383;
/// Numbers of ids and of words that readers may allocate for.
const ID_BOUND: u64 = 4 << 20;

const OP_FUNCTION: u32 = 54;
const OP_LOOP_MERGE: u32 = 246;
const OP_SELECTION_MERGE: u32 = 247;

/// Checks the size of the module.
pub fn size(bytes: &[u8], limits: &Limits) -> Result<(), Stop> {
    let needed = bytes.len() as u64;
    if needed <= limits.source_bytes {
        return Ok(());
    }
    let what = "source size in bytes";
    Err(Stop::limit(what, needed, limits.source_bytes, "split the module"))
}

/// Checks words in little-endian order, header included.
pub fn check(bytes: &[u8]) -> Result<(), Stop> {
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
        match first & 0xffff {
            OP_FUNCTION => constructs = 0,
            // What rewrites the module makes room for as many.
            OP_TYPE_VECTOR | OP_TYPE_MATRIX => {
                let count = word(index + 3).filter(|_| length > 3);
                if let Some(count) = count.filter(|count| !(2..=4).contains(count)) {
                    let message =
                        format!("{count} components or columns: a vector or matrix has 2 to 4");
                    return Err(Stop::invalid(message).at(at(index)));
                }
            }
            OP_LOOP_MERGE | OP_SELECTION_MERGE => {
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

/// Extensions whose instructions only describe, or are rewritten here.
const HARMLESS: [&str; 6] = [
    "SPV_KHR_non_semantic_info",
    "SPV_GOOGLE_hlsl_functionality1",
    "SPV_GOOGLE_decorate_string",
    "SPV_GOOGLE_user_type",
    "SPV_KHR_float_controls",
    "SPV_KHR_terminate_invocation",
];

const OP_LINE: u32 = 8;
const OP_EXTENSION: u32 = 10;
const OP_EXECUTION_MODE: u32 = 16;
const OP_KILL: u32 = 252;
const OP_NO_LINE: u32 = 317;
const OP_TERMINATE_INVOCATION: u32 = 4416;
const OP_DECORATE_STRING: u32 = 5632;
const OP_MEMBER_DECORATE_STRING: u32 = 5633;
/// DenormPreserve to RoundingModeRTZ.
const FLOAT_CONTROLS: std::ops::RangeInclusive<u32> = 4459..=4463;

/// Leaves out descriptive instructions that naga refuses and writes `OpTerminateInvocation` as the
/// `OpKill` that it is to a program without helpers' side effects. All that is left out stands
/// before the first function; filler keeps every function at its offset, so that positions stay.
/// Also gives the numbers of float-control modes that were left to the machine.
pub fn simplify(bytes: &[u8]) -> (Vec<u8>, Vec<u32>) {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let mut out = words[..words.len().min(5)].to_vec();
    let (mut removed, mut filler_at, mut in_functions) = (0, None, false);
    let mut modes = Vec::new();
    let mut index = 5;
    while index < words.len() {
        let length = ((words[index] >> 16) as usize).max(1);
        let inst = &words[index..words.len().min(index + length)];
        index += length;
        let opcode = inst[0] & 0xffff;
        in_functions |= opcode == OP_FUNCTION;
        // Capabilities, extensions, imports, memory model, entry points, execution modes.
        if filler_at.is_none() && !matches!(opcode, 10 | 11 | 14..=17 | 331) {
            filler_at = Some(out.len());
        }
        let drop = !in_functions
            && match opcode {
                OP_LINE | OP_NO_LINE | OP_DECORATE_STRING | OP_MEMBER_DECORATE_STRING => true,
                OP_EXTENSION => HARMLESS.contains(&string(&inst[1..]).as_str()),
                OP_EXECUTION_MODE => inst.get(2).is_some_and(|mode| FLOAT_CONTROLS.contains(mode)),
                _ => false,
            };
        if drop {
            removed += inst.len();
            if opcode == OP_EXECUTION_MODE {
                modes.push(inst[2]);
            }
        } else if opcode == OP_TERMINATE_INVOCATION {
            out.push(1 << 16 | OP_KILL);
        } else {
            out.extend_from_slice(inst);
        }
    }
    if let (Some(at), true) = (filler_at, removed >= 2) {
        // OpSourceExtension with a string of as many words as were left out.
        let mut filler = vec![(removed as u32) << 16 | 4];
        filler.extend(std::iter::repeat_n(u32::from_le_bytes(*b"...."), removed - 2));
        filler.push(0);
        out.splice(at..at, filler);
    }
    let bytes = out.into_iter().flat_map(u32::to_le_bytes).collect();
    (bytes, modes)
}

/// Rewrites what naga does not read into what it reads, and says where everything stood: specialization
/// constants become constants, combined image samplers become images and samplers, what naga has no
/// instruction for is written with others, and instructions for debuggers go.
///
/// # Errors
/// A value for a specialization constant that the module does not have, or an access chain that reaches another type
/// than it says.
pub fn rewrite(
    bytes: &[u8],
    options: &Options,
    notes: &mut Vec<Diagnostic>,
) -> Result<(Vec<u8>, Places), Stop> {
    let mut module = Module::read(bytes);
    drop_remarks(&mut module);
    chains::check(&module)?;
    constants::specialize(&mut module, options)?;
    subpass::fetch(&mut module);
    for note in gaps::fill(&mut module) {
        notes.push(Diagnostic::note("format", note));
    }
    combined::split(&mut module);
    Ok(module.write())
}

const OP_NOP: u32 = 0;
const OP_EXT_INST_IMPORT: u32 = 11;
const OP_EXT_INST: u32 = 12;

/// Leaves out `OpNop`, and sets of instructions that by their names mean nothing to the program.
fn drop_remarks(module: &mut Module) {
    let mut sets = Vec::new();
    module.insts.retain(|inst| match inst.opcode() {
        OP_NOP => false,
        OP_EXT_INST_IMPORT => {
            let name = string(inst.rest(1));
            let remarks = name.starts_with("NonSemantic.") || name.contains("DebugInfo");
            if remarks {
                sets.push(inst.operand(0));
            }
            !remarks
        }
        OP_EXT_INST => !sets.contains(&inst.operand(2)),
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
    fn what_is_left_out_is_filled_up_so_that_functions_stay_where_they_are() {
        let name = |text: &[u8; 16]| -> Vec<u32> {
            text.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
        };
        let mut body = vec![0x0006_000a];
        body.extend(name(b"SPV_KHR_float_co"));
        body.push(u32::from_le_bytes(*b"ntro"));
        body[0] = 0x0007_000a;
        body.push(u32::from_le_bytes(*b"ls\0\0"));
        body.extend([0x0004_0010, 3, 4459, 32]);
        body.extend([0x0002_0013, 1, 0x0004_0008, 9, 1, 1]);
        let functions = [0x0005_0036, 1, 3, 0, 2, 0x0001_1140, 0x0001_0038];
        body.extend(functions);
        let before = module(&body);
        let (after, modes) = simplify(&before);
        assert_eq!(modes, [4459]);
        assert_eq!(after.len(), before.len());
        let tail = |bytes: &[u8]| bytes[bytes.len() - functions.len() * 4..].to_vec();
        let mut want = tail(&before);
        want[20..24].copy_from_slice(&0x0001_00fcu32.to_le_bytes());
        assert_eq!(tail(&after), want);
        assert!(check(&after).is_ok());
        assert_eq!(after[20..24], 0x000f_0004u32.to_le_bytes());
    }

    #[test]
    fn an_instruction_longer_than_the_module_is_refused_at_its_word() {
        assert!(check(&module(&[0x0001_0000])).is_ok());
        let stop = check(&module(&[0x0001_0000, 0x0009_0000])).expect_err("too long");
        assert_eq!(stop.span.start, 24);
        assert!(check(&module(&[0])).is_err());
    }
}
