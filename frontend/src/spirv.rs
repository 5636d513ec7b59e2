//! Bounds on a SPIR-V module before naga sees it: whole instructions, ids, nesting.

use crate::Limits;
use crate::stop::Stop;
use gpucc_ir::ssa::Span;

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
    Err(Stop::limit(
        what,
        needed,
        limits.source_bytes,
        "split the module",
    ))
}

/// Checks words in little-endian order, header included.
pub fn check(bytes: &[u8]) -> Result<(), Stop> {
    let word = |index: usize| {
        bytes
            .get(index * 4..index * 4 + 4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let at = |index: usize| Span {
        start: index as u32 * 4,
        end: index as u32 * 4 + 4,
    };
    let words = bytes.len() / 4;
    let bound = u64::from(word(3).unwrap_or(0));
    if bound > ID_BOUND {
        return Err(
            Stop::limit("id bound of the module", bound, ID_BOUND, "compact the ids").at(at(3)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn module(body: &[u32]) -> Vec<u8> {
        let header = [0x0723_0203, 0x0001_0000, 0, 10, 0];
        header
            .iter()
            .chain(body)
            .flat_map(|word| word.to_le_bytes())
            .collect()
    }

    #[test]
    fn an_instruction_longer_than_the_module_is_refused_at_its_word() {
        assert!(check(&module(&[0x0001_0000])).is_ok());
        let stop = check(&module(&[0x0001_0000, 0x0009_0000])).expect_err("too long");
        assert_eq!(stop.span.start, 24);
        assert!(check(&module(&[0])).is_err());
    }
}
