//! Which changes of a word mean something.

use crate::isa::fields::f;
use crate::isa::operand::File;
use crate::isa::ops::{Opcode, Shape};
use crate::isa::program::decode_program;
use crate::isa::{Decoded, Machine};
use gpucc_isa::Field;
use gpucc_machine::{Compiled, Site};

/// The instructions of a program.
pub fn sites(compiled: &Compiled, machine: Machine) -> Vec<Site> {
    let program = decode_program(machine, &compiled.code).unwrap_or_default();
    let site = |(offset, decoded): (usize, Decoded)| {
        let inst = decoded.inst;
        Site {
            offset,
            inst,
            meaning: Box::new(move |field, value| has_meaning(&decoded, field, value)),
        }
    };
    program.into_iter().map(site).collect()
}

/// False for what says when and not what: thread switches, dependency control, breakpoints; for the flag that nobody names,
/// and for the second source of an instruction with one.
fn has_meaning(decoded: &Decoded, field: &Field, _: u32) -> bool {
    let inst = &decoded.inst;
    let opcode = Opcode::of(inst.op());
    let unread = [f::THREAD_CTRL, f::NO_DD_CLR, f::NO_DD_CHK, f::DEBUG_CTRL];
    if unread.contains(&field.id) {
        return false;
    }
    let predicated = inst.get(f::PRED_CTRL) != 0;
    let shape = opcode.shape();
    let conditional = shape != Shape::Send && inst.get(f::COND_MODIFIER) != 0;
    if field.id == f::PRED_INV && !predicated {
        return false;
    }
    if field.id == f::FLAG_SUBREG && !predicated && !conditional {
        return false;
    }
    let alone = shape == Shape::Unary && File::of(inst.get(f::SRC0_FILE)) != File::Imm;
    !(alone && (field.id == f::SRC1 || field.id == f::SRC1_TYPE))
}
