//! Which flips of Valhall code mean something.

use super::Site;
use gpucc_isa::{Field, Inst};
use gpucc_valhall::isa::program::words_of;
use gpucc_valhall::isa::{Opcode, Staging, decode_word, f};

/// The instructions of a program.
pub(super) fn sites(code: &[u8]) -> Vec<Site> {
    let words = words_of(code).unwrap_or_default();
    let decoded = words.iter().enumerate().filter_map(|(index, word)| {
        let inst = decode_word(*word).ok()?;
        Some(Site {
            offset: 8 * index,
            inst,
            meaning: Box::new(move |field, value| has_meaning(&inst, field, value)),
        })
    });
    decoded.collect()
}

/// False for flips that leave the program's meaning as it is:
/// - marks of a last use that go or come: they only say that nobody reads on;
/// - hints and modes that say when or how, not what: memory access, conservative branches, the kept
///   sample position, the slot of a message without a result;
/// - waits for more than before, and the end of helpers;
/// - sign extension of loads that fill their registers, the half of a constant whose halves are alike.
fn has_meaning(inst: &Inst, field: &Field, value: u32) -> bool {
    const HINTS: &[&str] = &["memory_access", "conservative", "update", "skip", "round"];
    if HINTS.contains(&field.name) {
        return false;
    }
    let opcode = Opcode::of(inst.op());
    let old = inst.get(field.id);
    match field.id {
        f::SRC0 | f::SRC1 | f::SRC2 | f::SRC3 => old ^ value != 0x40 || old >= 0x80,
        // Values 1 to 7 are sets of slots, 8 and 9 have them all.
        f::FLOW => {
            let waits = |flow: u32| if flow < 8 { flow } else { 7 };
            let only_waits = old < 10 && value < 10;
            let more = waits(old) & !waits(value) == 0 && (value >= 8 || old < 8);
            !(only_waits && more) && value != 13 && old != 13
        }
        f::SLOT => opcode.staging() != Staging::Read && opcode.staging() != Staging::None,
        f::UNSIGNED => matches!(
            opcode,
            Opcode::LoadI8 | Opcode::LoadI16 | Opcode::LdBufferI8 | Opcode::LdBufferI16
        ),
        _ => true,
    }
}
