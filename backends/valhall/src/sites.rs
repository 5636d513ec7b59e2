//! Which flips of Valhall code mean something.

mod same;
mod signs;

use crate::isa::program::words_of;
use crate::isa::{Opcode, Staging, decode_word, f};
use gpucc_isa::{Field, FieldId, Inst};
use gpucc_machine::described::{Driven, DriverWord};
use gpucc_machine::{Compiled, Site};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The instructions of a program that the emulator executes: the two behind a BLEND call a blend shader
/// of the driver's.
pub(crate) fn sites(compiled: &Compiled) -> Vec<Site> {
    let uniforms = compiled.described.driver_constants.iter();
    let constants: Rc<[Option<u32>]> = uniforms
        .map(|constant| match constant.word {
            DriverWord::Other(Driven::Constant { bits }) => Some(bits),
            _ => None,
        })
        .collect();
    let words = words_of(&compiled.code).unwrap_or_default();
    let insts: Vec<Option<Inst>> = words.iter().map(|word| decode_word(*word).ok()).collect();
    let targets: BTreeSet<usize> = (1..)
        .zip(&insts)
        .filter_map(|(next, inst)| {
            let offset = inst.filter(|inst| Opcode::of(inst.op()) == Opcode::Branchz)?;
            let by = (offset.get(f::OFFSET) << 5) as i32 >> 5;
            usize::try_from(next + i64::from(by)).ok()
        })
        .collect();
    let signs = signs::signs(&insts, &targets, &constants);
    let mut calls = 0;
    let mut sites = Vec::new();
    for (index, &inst) in insts.iter().enumerate() {
        let Some(inst) = inst else { continue };
        // Where a program ends short of a place where another may begin.
        let after_end = index > 0 && insts[index - 1].is_some_and(|i| i.get(f::FLOW) == END);
        if after_end && Opcode::of(inst.op()) == Opcode::Nop && !targets.contains(&index) {
            continue;
        }
        if calls > 0 {
            calls -= 1;
            continue;
        }
        if Opcode::of(inst.op()) == Opcode::Blend {
            calls = 2;
        }
        let constants = Rc::clone(&constants);
        let known = signs[index];
        let asked = insts.get(index + 1).copied().flatten();
        let truth = asked.is_some_and(|branch| only_truth(&inst, &branch));
        let condition = !targets.contains(&index) && condition(&insts[..index], &inst);
        sites.push(Site {
            offset: 8 * index,
            inst,
            meaning: Box::new(move |field, value| {
                let only_truth = truth && field.id == f::RESULT && value < 3;
                let only_condition = condition && field.id == f::COMBINE && value < 2;
                let positive =
                    is_absolute(field).is_some_and(|s| known.positive(&inst, s, &constants));
                has_meaning(&inst, field, value)
                    && !same::same(&inst, field, value)
                    && !(only_truth || only_condition || positive)
            }),
        });
    }
    sites
}

/// The flow that ends a program.
const END: u32 = 15;

/// Source byte of the constant 0.
const ZERO: u32 = 0xc0;

/// False for flips that leave the program's meaning as it is:
/// - marks of a last use that go or come: they only say that nobody reads on;
/// - hints and modes that say when or how, not what: memory access, conservative branches, the kept
///   sample position, the slot of a message without a result;
/// - waits for more than before, the end of helpers, and reconvergence of lanes that did not part;
/// - sign extension of loads that fill their registers;
/// - lanes and sign of the constant 0 (a sum with either zero differs in zeros only), and the absolute value of what
///   is not negative, as constants and straight code tell ([`signs`]);
/// - the low half for the whole of a truth value that the instruction before made;
/// - how true is said where only the branch behind asks, and whatever else says the same ([`same`]);
/// - how far a BLEND jumps that ends the program;
/// - OR for XOR with 0, and additions of other widths with 0.
fn has_meaning(inst: &Inst, field: &Field, value: u32) -> bool {
    const HINTS: &[&str] = &["memory_access", "conservative", "update", "skip"];
    if HINTS.contains(&field.name) {
        return false;
    }
    let opcode = Opcode::of(inst.op());
    let old = inst.get(field.id);
    let zero = |source| inst.has_field(source) && inst.get(source) == ZERO;
    match field.id {
        f::SRC0 | f::SRC1 | f::SRC2 | f::SRC3 => old ^ value != 0x40 || old >= 0x80,
        f::SWZ0 | f::NEG0 => !zero(f::SRC0),
        f::SWZ1 | f::NEG1 => !zero(f::SRC1),
        f::SWZ2 | f::NEG2 => !zero(f::SRC2),
        f::TARGET => inst.get(f::FLOW) != END,
        f::OP2 if inst.has_field(f::NOT2) => !zero(f::SRC2),
        f::OPCODE if inst.has_field(f::IMM) => !zero(f::SRC0) || value >> 4 != old >> 4,
        // Values 1 to 7 are sets of slots, 8 and 9 have them all.
        f::FLOW => {
            let waits = |flow: u32| if flow < 8 { flow } else { 7 };
            let only_waits = old < 10 && value < 10;
            let more = waits(old) & !waits(value) == 0 && (value >= 8 || old < 8);
            let reconverges = old == 0 && value == 10;
            !(only_waits && more || reconverges || value == 13 || old == 13)
        }
        f::SLOT => opcode.staging() != Staging::Read && opcode.staging() != Staging::None,
        f::UNSIGNED => matches!(
            opcode,
            Opcode::LoadI8 | Opcode::LoadI16 | Opcode::LdBufferI8 | Opcode::LdBufferI16
        ),
        _ => true,
    }
}

/// Whether a comparison's result is read by the branch behind it alone, which asks whether it is 0.
fn only_truth(compare: &Inst, branch: &Inst) -> bool {
    const LAST: u32 = 0x40;
    Opcode::of(branch.op()) == Opcode::Branchz
        && branch.get(f::COMBINE) == 0
        && compare.has_field(f::RESULT)
        && compare.get(f::RESULT) < 3
        && Opcode::of(compare.op()).sources()[0].kind.bits() == 32
        && compare.get(f::SRC2) == ZERO
        && branch.get(f::SRC0) == compare.get(f::DST) | LAST
}

/// The source whose absolute value a field takes.
fn is_absolute(field: &Field) -> Option<FieldId> {
    let sources = [(f::ABS0, f::SRC0), (f::ABS1, f::SRC1), (f::ABS2, f::SRC2)];
    let found = sources.into_iter().find(|(abs, _)| *abs == field.id);
    found.map(|(_, source)| source)
}

/// Whether a branch asks what the instruction before it compared: as a whole or by its low half, a truth value of
/// ones or of one is the same.
fn condition(before: &[Option<Inst>], branch: &Inst) -> bool {
    const ONE: u32 = 0;
    const ONES: u32 = 2;
    let Some(Some(compare)) = before.last() else {
        return false;
    };
    Opcode::of(branch.op()) == Opcode::Branchz
        && branch.get(f::COMBINE) < 2
        && compare.has_field(f::RESULT)
        && matches!(compare.get(f::RESULT), ONE | ONES)
        && Opcode::of(compare.op()).sources()[0].kind.bits() == 32
        && compare.get(f::DST) == branch.get(f::SRC0) & 0xbf
}
