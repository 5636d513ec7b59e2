//! An ALU operation with real registers, as the packer moves it between the slots of groups.

use crate::inst::{Alu, Double, Source, Src};
use crate::isa::{self, AluOp};
use crate::op::{self, Units};
use gpucc_ir::mach::Reg;
use smallvec::SmallVec;

/// The number of a register's channel in the file, as `crate::live::Cells` counts.
pub const fn cell(gpr: u8, chan: u8) -> u16 {
    gpr as u16 * 4 + chan as u16
}

/// What a source reads.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// A register's channel; `rel` adds AR.x to the register.
    Gpr {
        /// Register.
        gpr: u8,
        /// Channel.
        chan: u8,
        /// Indexed by AR.x.
        rel: bool,
    },
    /// A dword of a constant buffer.
    Kcache {
        /// Buffer.
        buffer: u8,
        /// vec4 within the buffer.
        index: u16,
        /// Dword.
        chan: u8,
    },
    /// A literal dword of the group.
    Literal(u32),
    /// A constant that has a select of its own.
    Inline(isa::Operand),
    /// The result of vector slot `.0` in the previous group.
    Pv(u8),
    /// The result of the trans slot in the previous group.
    Ps,
}

/// A source with modifiers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What is read.
    pub read: Read,
    /// Sign flipped.
    pub neg: bool,
    /// Sign cleared first.
    pub abs: bool,
}

/// A channel of a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Dst {
    /// Register.
    pub gpr: u8,
    /// Channel.
    pub chan: u8,
    /// Indexed by AR.x.
    pub rel: bool,
}

/// One slot's operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// What it does.
    pub op: AluOp,
    /// Where the result goes; none leaves it in PV or PS alone.
    pub dst: Option<Dst>,
    /// Sources, as many as the operation has.
    pub src: [Operand; 3],
    /// How many.
    pub sources: u8,
    /// Clamped to 0..=1.
    pub clamp: bool,
    /// OMOD.
    pub omod: u8,
}

impl Read {
    /// A register's channel.
    pub const fn gpr(gpr: u8, chan: u8) -> Read {
        let rel = false;
        Read::Gpr { gpr, chan, rel }
    }

    /// The register's channel of this number, see [`cell`].
    pub const fn at(cell: u16) -> Read {
        Read::gpr((cell / 4) as u8, (cell % 4) as u8)
    }

    /// The cell that it reads, unless AR.x has a say.
    pub const fn cell(self) -> Option<u16> {
        match self {
            Read::Gpr { gpr, chan, rel: false } => Some(cell(gpr, chan)),
            _ => None,
        }
    }
}

impl Dst {
    /// A register's channel.
    pub const fn gpr(gpr: u8, chan: u8) -> Dst {
        let rel = false;
        Dst { gpr, chan, rel }
    }

    /// The cell that it names, unless AR.x has a say.
    pub fn cell(self) -> Option<u16> {
        (!self.rel).then_some(cell(self.gpr, self.chan))
    }
}

impl Operand {
    /// What stands in unused places.
    pub const UNUSED: Operand = Operand::plain(Read::Inline(isa::Operand::Zero));

    /// A source without modifiers.
    pub const fn plain(read: Read) -> Operand {
        Operand { read, neg: false, abs: false }
    }

    /// A register's channel without modifiers.
    pub const fn gpr(gpr: u8, chan: u8) -> Operand {
        Operand::plain(Read::gpr(gpr, chan))
    }

    /// Source `index` of `op`; `place` says where a register is.
    pub fn of(source: &Source, op: AluOp, index: usize, place: impl Fn(Reg) -> Read) -> Operand {
        let &Source { src, neg, abs } = source;
        let read = match src {
            Src::Reg(reg) => place(reg),
            Src::Const { buffer, index, chan } => Read::Kcache { buffer, index, chan },
            Src::Bits(mut bits) => {
                if abs {
                    bits &= 0x7fff_ffff;
                }
                if neg {
                    bits ^= 0x8000_0000;
                }
                return Operand::constant(bits, op::may_negate(op, index));
            }
        };
        Operand { read, neg, abs }
    }

    /// These bits as a source of `op` at place `index`: inline, inline negated, or literal.
    pub fn constant(bits: u32, may_negate: bool) -> Operand {
        use isa::Operand as O;
        let inline = |operand, neg| Operand { neg, ..Operand::plain(Read::Inline(operand)) };
        match bits {
            0 => inline(O::Zero, false),
            0x3f80_0000 => inline(O::One, false),
            1 => inline(O::OneInt, false),
            u32::MAX => inline(O::MinusOneInt, false),
            0x3f00_0000 => inline(O::Half, false),
            0x8000_0000 if may_negate => inline(O::Zero, true),
            0xbf80_0000 if may_negate => inline(O::One, true),
            0xbf00_0000 if may_negate => inline(O::Half, true),
            _ => Operand::plain(Read::Literal(bits)),
        }
    }

    /// Counts as a constant of any kind for the trans slot. R700 ISA 4.7.7.
    pub fn is_constant(&self) -> bool {
        matches!(self.read, Read::Kcache { .. } | Read::Literal(_) | Read::Inline(_))
    }
}

impl Slot {
    /// An operation without output modifiers.
    pub fn new(op: AluOp, dst: Option<Dst>, sources: &[Operand]) -> Slot {
        let mut src = [Operand::UNUSED; 3];
        src[..sources.len()].copy_from_slice(sources);
        Slot { op, dst, src, sources: sources.len() as u8, clamp: false, omod: 0 }
    }

    /// An operation that writes to `dst`; `place` says where the registers are that it reads.
    pub fn of(alu: &Alu, dst: Option<Dst>, place: impl Fn(Reg) -> Read) -> Slot {
        let mut slot = Slot::new(alu.op, dst, &[]);
        slot.sources = alu.src.len() as u8;
        for (index, source) in alu.src.iter().enumerate() {
            slot.src[index] = Operand::of(source, alu.op, index, &place);
        }
        slot.clamp = alu.clamp;
        slot.omod = alu.omod.code();
        slot
    }

    /// DOT4_IEEE in slots x, y, z, w; the slot of its destination's channel writes the sum.
    pub fn dot(
        src: &[[Source; 2]; 4],
        dst: Dst,
        clamp: bool,
        place: impl Fn(Reg) -> Read,
    ) -> [Slot; 4] {
        let op = AluOp::DOT4_IEEE;
        std::array::from_fn(|unit| {
            let own = (unit == usize::from(dst.chan)).then_some(dst);
            let [a, b] = [0, 1].map(|index| Operand::of(&src[unit][index], op, index, &place));
            Slot { clamp, ..Slot::new(op, own, &[a, b]) }
        })
    }

    /// CUBE of a direction. R700 ISA 9, CUBE: src0 = zzxy, src1 = yxzz.
    pub fn cube(src: [Read; 3], dst: [Dst; 4]) -> [Slot; 4] {
        let [x, y, z] = src.map(Operand::plain);
        let pairs = [[z, y], [z, x], [x, z], [y, z]];
        std::array::from_fn(|unit| Slot::new(AluOp::CUBE, Some(dst[unit]), &pairs[unit]))
    }

    /// The slots of a double, from x on. Products take high dwords in x, y and z and low ones in w, the others
    /// high dwords in x and low ones in y; signs belong to high dwords alone. R700 ISA 4.12, 9.2.
    pub fn double(
        double: &Double,
        dst: [Option<Dst>; 2],
        place: impl Fn(Reg) -> Read,
    ) -> SmallVec<[Slot; 4]> {
        let count = if op::units(&isa::R700, double.op) == Units::Quad { 4 } else { 2 };
        (0..count)
            .map(|unit| {
                let half = usize::from(unit + 1 == count);
                let sources: SmallVec<[Operand; 3]> = double
                    .src
                    .iter()
                    .enumerate()
                    .map(|(index, words)| {
                        let word = match words[half].src {
                            // Low dwords and exponents take no NEG, not even of a constant.
                            Src::Bits(bits) if half == 1 => {
                                return Operand::constant(bits, false);
                            }
                            _ => words[half],
                        };
                        Operand::of(&word, double.op, index, &place)
                    })
                    .collect();
                let dst = dst.get(unit).copied().flatten();
                Slot::new(double.op, dst, &sources)
            })
            .collect()
    }

    /// Narrows the execute mask: a test whose result goes to no register.
    pub fn narrows(&self) -> bool {
        op::is_pred_set(self.op) && self.dst.is_none()
    }

    /// The sources that the operation reads.
    pub fn sources(&self) -> &[Operand] {
        &self.src[..usize::from(self.sources)]
    }
}
