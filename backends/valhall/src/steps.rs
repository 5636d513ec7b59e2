//! What each instruction of a program does with registers, what it costs, and where a lane goes from it: read from the
//! words, for [`gpucc_machine::flow`]. Clocks are those of [`crate::cost`].

use crate::cost;
use crate::isa::program::{ProgramError, successors, words_of};
use crate::isa::{Inst, Opcode, decode_word, f};
use crate::legal;
use gpucc_machine::flow::{Step, Steps};

/// The steps of a program, a word each. What is no instruction does nothing and ends the program.
///
/// # Errors
/// Bytes left over.
pub fn steps(code: &[u8]) -> Result<Steps, ProgramError> {
    let words = words_of(code)?;
    let list = words.iter().enumerate().map(|(at, &word)| {
        let offset = 8 * at as u32;
        let Ok(inst) = decode_word(word) else { return Step { offset, ..Step::default() } };
        let registers = legal::registers(&inst);
        let next = successors(at as i64, &inst).filter_map(|to| u32::try_from(to).ok());
        Step {
            offset,
            reads: each(registers.sources | registers.read).collect(),
            writes: each(registers.written).filter(|_| is_certain(&inst)).collect(),
            clocks: cost::cycles(&[inst]).units(),
            next: next.filter(|&to| (to as usize) < words.len()).collect(),
        }
    });
    Ok(Steps { list: list.collect(), cells: 1, prefix: "r" })
}

/// Whether an instruction writes all of its destination: a half that it does not write stays as it is.
fn is_certain(inst: &Inst) -> bool {
    let opcode = Opcode::of(inst.op());
    opcode.dst().is_none() || !opcode.has(f::DST_MASK) || inst.get(f::DST_MASK) == 3
}

fn each(set: u64) -> impl Iterator<Item = u16> {
    (0..64).filter(move |register| set >> register & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::isa::assemble;
    use gpucc_machine::Flow;

    #[test]
    fn pairs_are_two_registers_and_halves_keep_the_rest() {
        let code = assemble(
            "LEA_BUFFER.slot1.wait1 @r60:r61, r4, u3
             FADD.v2f16 r2.h0, r0, r1
             STORE.i32.slot2 @r2, r60, offset:0
             NOP.end",
        )
        .expect("it is a program");
        let found = Flow::of(&steps(&code).expect("whole words"));
        let live: Vec<u32> = found.instructions.iter().map(|one| one.live).collect();
        assert_eq!(live, [4, 5, 3, 0]);
        assert_eq!(found.paths.shortest, found.paths.longest);
    }

    #[test]
    fn a_branch_leads_to_two_places_and_back() {
        let code = assemble(
            "IADD_IMM.i32 r0, r0, #0x1
             BRANCHZ.eq r1, offset:-2
             STORE.i32.slot2.reconverge @r0, r2, offset:0
             NOP.end",
        )
        .expect("it is a program");
        let found = Flow::of(&steps(&code).expect("whole words"));
        let live: Vec<u32> = found.instructions.iter().map(|one| one.live).collect();
        assert_eq!(live, [4, 4, 3, 0]);
        assert_eq!(found.paths.loops.len(), 1);
    }
}
