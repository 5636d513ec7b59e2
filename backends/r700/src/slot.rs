//! An ALU operation with real registers, as the packer moves it between the slots of groups.

use crate::isa::{self, AluOp};

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

impl Operand {
    /// What stands in unused places.
    pub const UNUSED: Operand = Operand {
        read: Read::Inline(isa::Operand::Zero),
        neg: false,
        abs: false,
    };

    /// These bits as a source of `op` at place `index`: inline, inline negated, or literal.
    pub fn constant(bits: u32, may_negate: bool) -> Operand {
        use isa::Operand as O;
        let inline = |operand, neg| Operand {
            read: Read::Inline(operand),
            neg,
            abs: false,
        };
        match bits {
            0 => inline(O::Zero, false),
            0x3f80_0000 => inline(O::One, false),
            1 => inline(O::OneInt, false),
            u32::MAX => inline(O::MinusOneInt, false),
            0x3f00_0000 => inline(O::Half, false),
            0x8000_0000 if may_negate => inline(O::Zero, true),
            0xbf80_0000 if may_negate => inline(O::One, true),
            0xbf00_0000 if may_negate => inline(O::Half, true),
            _ => Operand {
                read: Read::Literal(bits),
                neg: false,
                abs: false,
            },
        }
    }

    /// Counts as a constant of any kind for the trans slot. R700 ISA 4.7.7.
    pub fn is_constant(&self) -> bool {
        matches!(
            self.read,
            Read::Kcache { .. } | Read::Literal(_) | Read::Inline(_)
        )
    }
}

impl Slot {
    /// The sources that the operation reads.
    pub fn sources(&self) -> &[Operand] {
        &self.src[..usize::from(self.sources)]
    }
}
