//! A register to or from scratch memory: the address in internal registers, one message, its wait. isa/rogue-pipeline.md 2.8, 3.3.

use super::{Emitter, Scratch};
use crate::inst::{Src, Step, WORDS, stores};
use crate::isa::fields::f;
use crate::isa::group::Group;
use crate::isa::ops::{Backend, Bitwise0, Control};
use crate::isa::register::{Register, constant};
use crate::lower::block_address;
use gpucc_ir::mach::{Access, Reg};
use gpucc_isa::Inst as Word;

/// The offset, and the address. Barriers and deep breaks have the internal registers before these.
const OFFSET: Register = Register::internal(3);
const LOW: Register = Register::internal(4);
const HIGH: Register = Register::internal(5);
/// Data fences: of loads, of stores.
const LOADS: u32 = 0;
const STORES: u32 = 1;

/// The groups that make an address.
fn address(scratch: Scratch, bytes: u32) -> Vec<Group> {
    let mut groups = vec![block_address(scratch.shared).fixed(0, LOW).fixed(1, HIGH).group];
    let offset = match constant(bytes) {
        Some(number) => Register::Special(number),
        None => {
            let word = Word::usual(Bitwise0::Imm32.op()).with(f::VALUE, bytes);
            groups.push(Step::bits([Some(word), None, None]).fixed(0, OFFSET).group);
            OFFSET
        }
    };
    let sum = Step::behind(Src::Fixed(offset), Src::ONE, [LOW, HIGH].map(Src::Fixed));
    groups.push(sum.fixed(0, LOW).fixed(1, HIGH).group);
    groups
}

/// Stores or loads a register.
pub(super) fn spill(emitter: &mut Emitter<'_>, reg: Reg, access: Access) {
    // What is under way may read or write the register.
    emitter.wait_all();
    let temp = Register::Temp(reg.cell().index);
    let (Access::Store(slot) | Access::Load(slot)) = access;
    for group in address(emitter.scratch, emitter.scratch.first + 4 * slot.0) {
        emitter.push(group);
    }
    let (step, drc) = match access {
        Access::Store(_) => {
            let word = stores(Backend::St, 1, WORDS).with(f::DRC, STORES);
            let step = Step::backend(word).from(0, Src::Fixed(temp));
            (step.from(3, Src::Fixed(LOW)), STORES)
        }
        Access::Load(_) => {
            let word = Word::usual(Backend::Ld.op()).with(f::BURST, 1).with(f::DRC, LOADS);
            let step = Step::backend(word).from(0, Src::Fixed(LOW));
            (step.from(3, Src::Fixed(temp)), LOADS)
        }
    };
    emitter.push(step.group);
    let wait = Word::usual(Control::Wdf.op()).with(f::MISC, drc);
    emitter.push(Group::new(crate::isa::group::Ops::Control(wait)));
    match access {
        Access::Store(_) => emitter.emitted.spills += 1,
        Access::Load(_) => emitter.emitted.fills += 1,
    }
    emitter.emitted.messages += 1;
    emitter.emitted.waits += 1;
}
