//! What each instruction of a program does with registers, what it costs, and where a channel goes from it: read from the
//! words, for [`gpucc_machine::flow`]. Clocks are those of [`crate::cost`].

use crate::cost::Clock;
use crate::isa::operand::{File, Operand, Place, Region};
use crate::isa::ops::{Opcode, Shape};
use crate::isa::program::{Flow, ProgramError, decode_program};
use crate::isa::{Decoded, Machine, fields::f};
use gpucc_machine::flow::{Step, Steps, UNITS};

/// Bytes of a cell: a channel of 32 bits.
const CELL: u32 = 4;
/// Cells of a register.
const CELLS: u32 = 8;
/// Bytes of the general registers.
const FILE: u32 = 128 * 32;

/// The steps of a program, an instruction each.
///
/// # Errors
/// The first word that is no instruction.
pub fn steps(machine: Machine, code: &[u8]) -> Result<Steps, ProgramError> {
    let program = decode_program(machine, code)?;
    let find = |offset: i64| {
        let offset = usize::try_from(offset).ok()?;
        program.binary_search_by_key(&offset, |&(at, _)| at).ok()
    };
    let flows: Vec<Flow> = program.iter().map(|(offset, one)| Flow::of(*offset, one)).collect();
    let is_else = |at: usize| Opcode::of(program[at].1.inst.op()) == Opcode::Else;
    // An `if` leads its channels to the `else`, which then runs for them: they go on behind it.
    let mut chosen = vec![false; program.len()];
    let leads = |at: usize| {
        let opens = matches!(Opcode::of(program[at].1.inst.op()), Opcode::If | Opcode::Iff);
        let to = flows[at].jumps.and_then(find).filter(|_| opens)?;
        is_else(to).then_some(to)
    };
    for at in 0..program.len() {
        if let Some(to) = leads(at) {
            chosen[to] = true;
        }
    }
    let mut clock = Clock::default();
    let mut list = Vec::with_capacity(program.len());
    for (at, (offset, decoded)) in program.iter().enumerate() {
        let mut step = Step { offset: *offset as u32, ..Step::default() };
        operands(decoded, &mut step);
        let mut clocks = [0.0; UNITS];
        clocks[0] = clock.issue(decoded.inst.bits()) as f64;
        step.clocks = clocks;
        let flow = &flows[at];
        let falls = flow.falls && !flow.anywhere && !chosen[at];
        step.next
            .extend(falls.then_some(at as u32 + 1).filter(|&to| (to as usize) < program.len()));
        let to = leads(at).map(|to| to + 1).or_else(|| flow.jumps.and_then(find));
        step.next.extend(to.map(|to| to as u32));
        list.push(step);
    }
    Ok(Steps { list, cells: CELLS as u16, prefix: "g" })
}

fn operands(decoded: &Decoded, step: &mut Step) {
    let inst = &decoded.inst;
    let opcode = Opcode::of(inst.op());
    let channels = 1u32 << inst.get(f::EXEC_SIZE);
    // Messages of extended math are sent in halves.
    let halves = if inst.get(f::COMPR_CTRL) == 2 { 2 } else { 1 };
    for source in [decoded.operands.src0, decoded.operands.src1].into_iter().flatten() {
        let Some(first) = start(&source) else { continue };
        let whole = opcode.shape() == Shape::Send;
        let end = first + if whole { 32 * halves } else { read(&source, channels) };
        step.reads.extend((first / CELL..end.min(FILE).div_ceil(CELL)).map(|cell| cell as u16));
    }
    let Some(to) = decoded.operands.dst else { return };
    let Some(first) = start(&to) else { return };
    // A select by the flag writes every channel.
    if inst.get(f::PRED_CTRL) != 0 && opcode != Opcode::Sel {
        return;
    }
    if opcode.shape() == Shape::Send {
        let replies = halves * (inst.get(f::SRC1) >> 16 & 15);
        let end = (first + 32 * replies).min(FILE);
        step.writes.extend((first / CELL..end / CELL).map(|cell| cell as u16));
        return;
    }
    let bytes = to.ty.bytes();
    let (apart, enabled) = match to.region {
        Region::Stride(code) | Region::Masked { stride: code, channels: 0xf } => {
            (1 << code >> 1, 0xf)
        }
        Region::Masked { stride, channels } => (1 << stride >> 1, channels),
        Region::Rows { .. } | Region::Swizzled { .. } => return,
    };
    // Cells that are written whole.
    let per_cell = CELL / bytes;
    let mut written = 0;
    for channel in (0..channels).filter(|channel| enabled >> (channel % 4) & 1 != 0) {
        let at = first + channel * apart * bytes;
        written = if at % CELL == 0 { 1 } else { written + 1 };
        if written == per_cell && at < FILE {
            step.writes.push((at / CELL) as u16);
        }
    }
}

/// The first byte of an operand in the general registers, where the word says it.
fn start(operand: &Operand) -> Option<u32> {
    match operand.place {
        Place::Direct { register, byte } if operand.file == File::Grf => Some(32 * register + byte),
        _ => None,
    }
}

/// Bytes from the first that a source reads to the last.
fn read(source: &Operand, channels: u32) -> u32 {
    let bytes = source.ty.bytes();
    let apart = |code: u32| if code == 15 { 0 } else { 1u32 << code >> 1 };
    match source.region {
        Region::Rows { vertical, width, horizontal } => {
            let width = 1 << width;
            let (rows, columns) = (channels.div_ceil(width), channels.min(width));
            let last = (rows - 1) * apart(vertical) + (columns - 1) * apart(horizontal);
            (last + 1) * bytes
        }
        Region::Swizzled { vertical, .. } => {
            let rows = channels.div_ceil(4);
            ((rows - 1) * apart(vertical) + 4) * bytes
        }
        Region::Stride(_) | Region::Masked { .. } => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::isa::{Machine, assemble};
    use gpucc_machine::Flow;

    fn flow(text: &str) -> Flow {
        let code = assemble(Machine::G45, text).expect("it is a program");
        Flow::of(&steps(Machine::G45, &code).expect("it decodes"))
    }

    fn live(found: &Flow) -> Vec<u32> {
        found.instructions.iter().map(|one| one.live).collect()
    }

    #[test]
    fn a_wide_instruction_reads_and_writes_two_registers() {
        let found = flow(
            "mov(16) g2<1>F g4<8,8,1>F { align1 compr };
             add(16) g6<1>F g2<8,8,1>F g8<0,1,0>F { align1 compr };
             mov(8) m2<1>F g7<8,8,1>F { align1 };",
        );
        assert_eq!(live(&found), [3, 3, 1]);
        assert_eq!(found.pressure.registers, ["g4", "g5", "g8"]);
        assert_eq!(found.paths.longest, 10.0);
    }

    #[test]
    fn single_components_make_a_register_together() {
        let found = flow(
            "mov(8) g2<1>.xyF g4<4>F { align16 };
             mov(8) g2<1>.zwF g5<4>F { align16 };
             mov(8) m2<1>F g2<4>F { align16 };",
        );
        assert_eq!(live(&found), [2, 2, 1]);
    }

    #[test]
    fn channels_of_one_arm_do_not_run_the_other() {
        let found = flow(
            "(+f0.0) if(8) Jump: 2 { align1 switch };
             mov(8) g2<1>F g4<8,8,1>F { align1 };
             else(8) Jump: 3 Pop: 1 { align1 switch };
             mov(8) g2<1>F g5<8,8,1>F { align1 };
             endif(8) Pop: 1 { align1 switch };
             mov(8) m2<1>F g2<8,8,1>F { align1 };",
        );
        assert_eq!(live(&found), [2, 1, 1, 1, 1, 1]);
    }
}
