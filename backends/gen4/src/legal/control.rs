//! Control flow, and what names the registers behind it. G45 vol. 4, 14.2; masks and their stacks, 11.3.4.7 to 11.3.4.11.

use super::operation::{has_condition, is_predicated};
use super::{Rule, Word, architecture, hold, is_ip};
use crate::isa::fields::f;
use crate::isa::operand::Operand;
use crate::isa::ops::{Opcode, Shape};

/// Architecture registers by their kinds. Table 11-5.
const MASK: u32 = 4;
const STACK: u32 = 5;
const DEPTH: u32 = 6;
const CONTROL: u32 = 8;
/// The code of a thread switch. 13.2.2, ThreadCtrl.
const SWITCH: u32 = 2;

/// Instructions of control flow.
pub fn check(word: &Word<'_>) -> Result<(), Rule> {
    hold(!has_condition(word), Rule::NoCondition)?;
    match word.opcode.shape() {
        Shape::Branch { .. } => branch(word),
        Shape::Jump => {
            hold(word.size == 1, Rule::OneChannel)?;
            hold(word.inst().flag(f::MASK_CTRL), Rule::JumpNoMask)?;
            instruction_pointer(word)
        }
        Shape::Wait => wait(word),
        _ => Ok(()),
    }
}

fn instruction_pointer(word: &Word<'_>) -> Result<(), Rule> {
    let ip = |operand: &Option<Operand>| operand.as_ref().is_some_and(is_ip);
    hold(ip(&word.dst) && ip(&word.sources[0]), Rule::BranchOperands)
}

fn branch(word: &Word<'_>) -> Result<(), Rule> {
    let unconditional = matches!(word.opcode, Opcode::Else | Opcode::Endif);
    hold(!(unconditional && is_predicated(word)), Rule::NoPredicate)?;
    let pops = word.inst().get(f::POP_COUNT);
    let fits = match word.opcode {
        Opcode::Else | Opcode::Endif => pops == 1,
        Opcode::Break | Opcode::Cont => pops <= word.chip.mask_depth(),
        _ => pops == 0,
    };
    hold(fits, Rule::PopCount)?;
    match word.opcode {
        Opcode::Endif => Ok(()),
        _ => instruction_pointer(word),
    }
}

fn wait(word: &Word<'_>) -> Result<(), Rule> {
    hold(word.size == 1, Rule::OneChannel)?;
    hold(!is_predicated(word), Rule::NoPredicate)?;
    let (Some(dst), Some(source)) = (word.dst, word.sources[0]) else {
        return Err(Rule::WaitRegister);
    };
    hold(architecture(&dst) == Some(9) && dst.place == source.place, Rule::WaitRegister)
}

/// The pipeline does not keep explicit accesses to these registers in order. On the 965 it does so for the stacks, and an access
/// to a mask may wait some clocks instead (11.3.4.7 to 11.3.4.9).
pub fn switches(word: &Word<'_>) -> Result<(), Rule> {
    if matches!(word.opcode, Opcode::Msave | Opcode::Mrest | Opcode::Push | Opcode::Pop) {
        return Ok(());
    }
    let needs = |operand: Option<Operand>| match operand.as_ref().and_then(architecture) {
        Some(MASK | STACK | DEPTH) => !word.chip.early(),
        Some(CONTROL) => true,
        _ => false,
    };
    let named = [word.dst, word.sources[0], word.sources[1]].into_iter().any(needs);
    hold(!named || word.inst().get(f::THREAD_CTRL) == SWITCH, Rule::SwitchMissing)
}
