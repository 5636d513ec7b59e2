//! Machine IR after allocation becomes words: operands, branch offsets, programs one behind the other, the line table.
//! isa/valhall_rogue.md 1.1, 1.2.

use crate::fau::{Reader, Sources};
use crate::inst::{Inst, Op, Src};
use crate::isa::{self, Opcode, Staging, f};
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{Block, Func, Reg};
use gpucc_ir::ssa::Span;

/// Bytes of an instruction.
pub const WORD: u32 = 8;
/// Bytes to which programs are aligned.
const ALIGNMENT: u32 = 16;
/// In a source byte that names a register: nobody reads the register after this.
pub const LAST_USE: u32 = 0x40;

/// One program within the code.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// First byte.
    pub offset: u32,
    /// Bytes, padding excluded.
    pub size: u32,
    /// Registers that the program names, one bit each.
    pub registers: u64,
    /// Bit k: register 48 + k holds a value when the program starts.
    pub preload: u16,
    /// Loops and conditional branches.
    pub loops: u32,
    pub branches: u32,
    /// Stores and loads of the allocator.
    pub spills: u32,
    pub fills: u32,
}

/// The bytes of all programs and what was counted on the way.
pub struct Emitted {
    /// The instructions; padding between programs included.
    pub insts: Vec<isa::Inst>,
    /// The programs.
    pub programs: Vec<Program>,
    /// Byte offset to source position, ascending.
    pub lines: Vec<(u32, Span)>,
}

impl Emitted {
    /// The instructions of one program.
    pub fn of(&self, program: &Program) -> &[isa::Inst] {
        let first = (program.offset / WORD) as usize;
        &self.insts[first..first + (program.size / WORD) as usize]
    }

    /// The code as bytes.
    pub fn bytes(&self) -> Vec<u8> {
        self.insts.iter().flat_map(|inst| inst.bytes()).collect()
    }
}

fn number(reg: Reg) -> u32 {
    u32::from(reg.cell().index)
}

/// The word of an instruction with its registers, uniforms and counts.
///
/// # Panics
/// When an operand is not one that [`crate::constants`] and the allocator leave: the compiler's invariant is broken.
fn operands(op: &Op) -> isa::Inst {
    let mut word = op.word;
    let mut sources = Sources::new(Reader::of(op.opcode));
    for (k, (source, place)) in op.src.iter().zip(op.opcode.sources()).enumerate() {
        let last = if op.last >> k & 1 != 0 { LAST_USE } else { 0 };
        let byte = match *source {
            Src::Reg(reg) | Src::Low(reg) | Src::Pair([reg, _]) => number(reg) | last,
            Src::Fast(read) => {
                // What does not stand together was moved away; legality looks at the words again.
                if let Ok(next) = sources.admit(read, place.kind.is_pair()) {
                    sources = next;
                }
                u32::from(read.byte())
            }
            _ => unreachable!("constants::run leaves registers and fast reads"),
        };
        word = word.with(place.field, byte);
    }
    if word.has_field(f::FAU_PAGE) {
        word = word.with(f::FAU_PAGE, u32::from(sources.page()));
    }
    if let Some(&dst) = op.dst.first() {
        word = word.with(f::DST, number(dst));
    }
    let first = |list: &[Reg]| list.first().map_or(0, |&reg| number(reg));
    let (read, write) = (&op.read[..], &op.write[..]);
    match op.opcode.staging() {
        Staging::None => word,
        Staging::Read => word.with(f::SR, first(read)).with(f::SR_COUNT, read.len() as u32),
        Staging::Write => word.with(f::SR, first(write)).with(f::SR_COUNT, write.len() as u32),
        Staging::WriteOnly => word
            .with(f::SR, first(write))
            .with(f::SR_WRITE_COUNT, (write.len() as u32).saturating_sub(1)),
        Staging::ReadWrite | Staging::Texture => word
            .with(f::SR, first(read))
            // Of eight, a texture instruction has the low three bits.
            .with(f::SR_COUNT, read.len() as u32 & 7)
            .with(f::SR_WRITE, first(write))
            .with(f::SR_WRITE_COUNT, (write.len() as u32).saturating_sub(1)),
    }
}

/// Lays out the programs, one behind the other.
pub fn emit(funcs: &[Func<Inst>]) -> Emitted {
    let mut emitted = Emitted { insts: Vec::new(), programs: Vec::new(), lines: Vec::new() };
    for func in funcs {
        while !(emitted.insts.len() as u32 * WORD).is_multiple_of(ALIGNMENT) {
            emitted.insts.push(isa::Inst::usual(Opcode::Nop.op()));
        }
        let program = program(func, &mut emitted);
        emitted.programs.push(program);
    }
    emitted
}

fn program(func: &Func<Inst>, emitted: &mut Emitted) -> Program {
    let first = emitted.insts.len();
    let mut start: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut position = 0;
    for &block in &func.layout {
        start[block] = position;
        position += func.blocks[block].nodes.len() as u32;
    }
    let mut program = Program {
        offset: first as u32 * WORD,
        size: position * WORD,
        loops: gpucc_ir::mach::Loops::of(func).all.len() as u32,
        preload: (crate::flow::live_at_start(func) >> 48) as u16,
        ..Program::default()
    };
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            let Inst::Op(op) = &node.inst else {
                unreachable!("allocation leaves instructions of the table");
            };
            let at = emitted.insts.len() as u32;
            let mut word = operands(op);
            if let Some(target) = op.target {
                // From the instruction behind the branch.
                let offset = start[target] as i32 - (at as i32 - first as i32 + 1);
                word = word.with(f::OFFSET, offset as u32 & 0x07ff_ffff);
                program.branches += u32::from(!crate::flow::is_jump(op));
            }
            if op.spill.is_some() {
                match op.read.is_empty() {
                    true => program.fills += 1,
                    false => program.spills += 1,
                }
            }
            let mut names = |reg: Reg| program.registers |= 1 << number(reg);
            op.read
                .iter()
                .chain(&op.second)
                .chain(&op.write)
                .chain(&op.dst)
                .for_each(|&reg| names(reg));
            for source in &op.src {
                match *source {
                    Src::Reg(reg) | Src::Low(reg) => names(reg),
                    Src::Pair(pair) => pair.into_iter().for_each(&mut names),
                    _ => {}
                }
            }
            if node.span != Span::NONE
                && emitted.lines.last().is_none_or(|line| line.1 != node.span)
            {
                emitted.lines.push((at * WORD, node.span));
            }
            emitted.insts.push(word);
        }
    }
    program
}
