//! ALU slots and groups, read and written by operand: selects, channels, modifiers, literals.

use super::fields::f;
use super::ops::{self, AluOp};
use super::{Isa, R700};
use gpucc_isa::{FieldId, Inst, Op};
use smallvec::SmallVec;

/// A component of a register.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Chan {
    X,
    Y,
    Z,
    W,
}

impl Chan {
    pub const ALL: [Chan; 4] = [Chan::X, Chan::Y, Chan::Z, Chan::W];

    /// The channel of this number; only the low two bits count.
    pub const fn of(number: u32) -> Chan {
        Chan::ALL[(number & 3) as usize]
    }

    pub const fn index(self) -> usize {
        self as usize
    }

    pub const fn letter(self) -> char {
        ['x', 'y', 'z', 'w'][self as usize]
    }
}

/// The unit that executes a slot. R700 ISA 4.4.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    Vector(Chan),
    Trans,
}

impl Unit {
    pub const fn letter(self) -> char {
        match self {
            Unit::Vector(chan) => chan.letter(),
            Unit::Trans => 't',
        }
    }
}

/// What a source select names. R700 ISA 4.7.1, 10.2 ALU_WORD0.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operand {
    /// General register, clause temporaries at the top included.
    Gpr(u8),
    /// A constant of locked cache set 0 or 1, at 0..=31 from its first line.
    Kcache {
        set: u8,
        index: u8,
    },
    /// Low or high word of 1.0 as a double.
    OneDouble {
        high: bool,
    },
    /// Low or high word of 0.5 as a double.
    HalfDouble {
        high: bool,
    },
    Zero,
    One,
    OneInt,
    MinusOneInt,
    Half,
    /// A dword of the group's literals; the channel says which.
    Literal,
    /// The previous group's vector results; the channel says which.
    Pv,
    /// The previous group's trans result.
    Ps,
    /// A constant of the DirectX 9 constant file.
    Cfile(u8),
}

impl Operand {
    /// The meaning of a select, or nothing where it is reserved.
    pub const fn of(sel: u32) -> Option<Operand> {
        Some(match sel {
            0..=127 => Operand::Gpr(sel as u8),
            128..=159 => Operand::Kcache { set: 0, index: (sel - 128) as u8 },
            160..=191 => Operand::Kcache { set: 1, index: (sel - 160) as u8 },
            244 => Operand::OneDouble { high: false },
            245 => Operand::OneDouble { high: true },
            246 => Operand::HalfDouble { high: false },
            247 => Operand::HalfDouble { high: true },
            248 => Operand::Zero,
            249 => Operand::One,
            250 => Operand::OneInt,
            251 => Operand::MinusOneInt,
            252 => Operand::Half,
            253 => Operand::Literal,
            254 => Operand::Pv,
            255 => Operand::Ps,
            256..=511 => Operand::Cfile((sel - 256) as u8),
            _ => return None,
        })
    }

    /// The select that names this operand; kcache indices count modulo 32.
    pub const fn sel(self) -> u32 {
        match self {
            Operand::Gpr(gpr) => gpr as u32 & 127,
            Operand::Kcache { set: 0, index } => 128 + (index as u32 & 31),
            Operand::Kcache { index, .. } => 160 + (index as u32 & 31),
            Operand::OneDouble { high } => 244 + high as u32,
            Operand::HalfDouble { high } => 246 + high as u32,
            Operand::Zero => 248,
            Operand::One => 249,
            Operand::OneInt => 250,
            Operand::MinusOneInt => 251,
            Operand::Half => 252,
            Operand::Literal => 253,
            Operand::Pv => 254,
            Operand::Ps => 255,
            Operand::Cfile(index) => 256 + index as u32,
        }
    }

    /// The 32 bits of an inline constant; nothing for operands that are stored somewhere.
    pub const fn inline_bits(self) -> Option<u32> {
        Some(match self {
            Operand::OneDouble { high: false }
            | Operand::HalfDouble { high: false }
            | Operand::Zero => 0,
            Operand::OneDouble { high: true } => 0x3ff0_0000,
            Operand::HalfDouble { high: true } => 0x3fe0_0000,
            Operand::One => 0x3f80_0000,
            Operand::OneInt => 1,
            Operand::MinusOneInt => u32::MAX,
            Operand::Half => 0x3f00_0000,
            Operand::Gpr(_)
            | Operand::Kcache { .. }
            | Operand::Literal
            | Operand::Pv
            | Operand::Ps
            | Operand::Cfile(_) => return None,
        })
    }
}

/// One source operand with its modifiers. ABS acts before NEG. R700 ISA 4.7.2.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Src {
    pub operand: Operand,
    pub chan: Chan,
    /// Adds the instruction's index to the address.
    pub rel: bool,
    pub neg: bool,
    /// OP2 only.
    pub abs: bool,
}

impl Src {
    /// What an unused source field holds: all bits 0, which reads as R0.x.
    pub const UNUSED: Src = Src::plain(Operand::Gpr(0), Chan::X);

    pub const fn plain(operand: Operand, chan: Chan) -> Src {
        Src { operand, chan, rel: false, neg: false, abs: false }
    }

    pub const fn gpr(gpr: u8, chan: Chan) -> Src {
        Src::plain(Operand::Gpr(gpr), chan)
    }

    pub const fn inline(operand: Operand) -> Src {
        Src::plain(operand, Chan::X)
    }

    pub const fn neg(mut self) -> Src {
        self.neg = !self.neg;
        self
    }

    pub const fn abs(mut self) -> Src {
        self.abs = true;
        self.neg = false;
        self
    }
}

/// Where a slot's result goes. OP3 has no write mask: it always writes.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dst {
    pub gpr: u8,
    pub chan: Chan,
    pub rel: bool,
    pub write: bool,
}

impl Dst {
    pub const fn gpr(gpr: u8, chan: Chan) -> Dst {
        Dst { gpr, chan, rel: false, write: true }
    }

    /// Executes in `chan` and leaves its result in PV alone. OP2 only.
    pub const fn masked(chan: Chan) -> Dst {
        Dst { gpr: 0, chan, rel: false, write: false }
    }
}

const SRC_SEL: [FieldId; 3] = [f::SRC0_SEL, f::SRC1_SEL, f::SRC2_SEL];
const SRC_REL: [FieldId; 3] = [f::SRC0_REL, f::SRC1_REL, f::SRC2_REL];
const SRC_CHAN: [FieldId; 3] = [f::SRC0_CHAN, f::SRC1_CHAN, f::SRC2_CHAN];
const SRC_NEG: [FieldId; 3] = [f::SRC0_NEG, f::SRC1_NEG, f::SRC2_NEG];
const SRC_ABS: [FieldId; 2] = [f::SRC0_ABS, f::SRC1_ABS];

/// Every field that says something about a source.
pub const SRC_FIELDS: [FieldId; 14] = [
    f::SRC0_SEL,
    f::SRC0_REL,
    f::SRC0_CHAN,
    f::SRC0_NEG,
    f::SRC0_ABS,
    f::SRC1_SEL,
    f::SRC1_REL,
    f::SRC1_CHAN,
    f::SRC1_NEG,
    f::SRC1_ABS,
    f::SRC2_SEL,
    f::SRC2_REL,
    f::SRC2_CHAN,
    f::SRC2_NEG,
];

/// One ALU instruction word pair.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AluSlot(Inst);

impl AluSlot {
    /// The R700 instruction with every field 0: it writes nothing (OP2) and is not the last of its group.
    pub fn new(op: AluOp) -> AluSlot {
        AluSlot::in_isa(&R700, op)
    }

    pub fn in_isa(isa: &'static Isa, op: AluOp) -> AluSlot {
        AluSlot(Inst::new(isa.alu_op(op)))
    }

    pub fn from_inst(inst: Inst) -> AluSlot {
        AluSlot(inst)
    }

    pub fn inst(&self) -> Inst {
        self.0
    }

    pub fn inst_ref(&self) -> &Inst {
        &self.0
    }

    pub fn row(&self) -> &'static Op {
        self.0.op()
    }

    pub fn op(&self) -> AluOp {
        AluOp::of(self.0.op().id)
    }

    #[inline]
    pub fn get(&self, field: FieldId) -> u32 {
        self.0.get(field)
    }

    #[inline]
    pub fn flag(&self, field: FieldId) -> bool {
        self.0.flag(field)
    }

    #[must_use]
    #[track_caller]
    pub fn with(self, field: FieldId, value: u32) -> AluSlot {
        AluSlot(self.0.with(field, value))
    }

    /// How many sources the operation reads.
    pub fn sources(&self) -> usize {
        usize::from(self.row().sources)
    }

    /// How many source fields the format has: 2 or 3. Those beyond [`AluSlot::sources`] are read by nothing, but their
    /// selects still count for literals. R700 ISA 4.7.6.
    pub fn source_fields(&self) -> usize {
        if self.is_op3() { 3 } else { 2 }
    }

    pub fn is_op3(&self) -> bool {
        self.0.has_field(f::SRC2_SEL)
    }

    /// Source `i` of [`AluSlot::source_fields`].
    pub fn src(&self, i: usize) -> Src {
        Src {
            operand: Operand::of(self.get(SRC_SEL[i])).expect("reserved selects do not decode"),
            chan: Chan::of(self.get(SRC_CHAN[i])),
            rel: self.flag(SRC_REL[i]),
            neg: self.flag(SRC_NEG[i]),
            abs: i < 2 && self.flag(SRC_ABS[i]),
        }
    }

    /// # Panics
    /// If `src` has ABS and the format is OP3, which cannot say it.
    #[must_use]
    #[track_caller]
    pub fn with_src(self, i: usize, src: Src) -> AluSlot {
        assert!(i < 2 || !src.abs, "OP3 has no absolute values");
        let mut inst = self
            .0
            .with(SRC_SEL[i], src.operand.sel())
            .with(SRC_CHAN[i], src.chan as u32)
            .with(SRC_REL[i], src.rel.into())
            .with(SRC_NEG[i], src.neg.into());
        if i < 2 && (src.abs || inst.has_field(SRC_ABS[i])) {
            inst = inst.with(SRC_ABS[i], src.abs.into());
        }
        AluSlot(inst)
    }

    pub fn dst(&self) -> Dst {
        Dst {
            gpr: self.get(f::DST_GPR) as u8,
            chan: Chan::of(self.get(f::DST_CHAN)),
            rel: self.flag(f::DST_REL),
            write: self.is_op3() || self.flag(f::WRITE_MASK),
        }
    }

    /// # Panics
    /// If `dst` does not write and the format is OP3, which cannot say it.
    #[must_use]
    #[track_caller]
    pub fn with_dst(self, dst: Dst) -> AluSlot {
        let mut inst = self
            .0
            .with(f::DST_GPR, dst.gpr.into())
            .with(f::DST_CHAN, dst.chan as u32)
            .with(f::DST_REL, dst.rel.into());
        if !dst.write || inst.has_field(f::WRITE_MASK) {
            inst = inst.with(f::WRITE_MASK, dst.write.into());
        }
        AluSlot(inst)
    }

    pub fn is_last(&self) -> bool {
        self.flag(f::LAST)
    }

    #[must_use]
    pub fn with_last(self, last: bool) -> AluSlot {
        self.with(f::LAST, last.into())
    }

    /// The literal dwords that its source fields name, as a mask of channels.
    pub fn literals(&self) -> u8 {
        let mut mask = 0;
        for i in 0..self.source_fields() {
            if self.get(SRC_SEL[i]) == Operand::Literal.sel() {
                mask |= 1 << self.get(SRC_CHAN[i]);
            }
        }
        mask
    }

    pub fn has(&self, flag: u32) -> bool {
        self.row().has(flag)
    }
}

/// Instructions that issue together, and their literals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AluGroup {
    /// One to five, in memory order; the last one and only it has LAST.
    pub slots: SmallVec<[AluSlot; 5]>,
    /// 0, 2 or 4 dwords: xy, then zw.
    pub literals: SmallVec<[u32; 4]>,
}

/// Most instructions of one group. R700 ISA 4.3.
pub const MAX_SLOTS: usize = 5;

impl AluGroup {
    /// How many literal dwords follow slots that name these channels: pairs, xy before zw. R700 ISA 4.7.6.
    pub const fn literal_dwords(mask: u8) -> usize {
        match mask {
            0 => 0,
            0b0001..=0b0011 => 2,
            _ => 4,
        }
    }

    /// The channels of literals that any slot names.
    pub fn literal_mask(&self) -> u8 {
        self.slots.iter().fold(0, |mask, slot| mask | slot.literals())
    }

    /// Size in 64-bit words, literals included.
    pub fn qwords(&self) -> u32 {
        (self.slots.len() + self.literals.len() / 2) as u32
    }

    /// The units that execute the slots, by the rule of R700 ISA 4.4, or nothing for a slot that finds its unit taken.
    /// `prefer_vector` is SQ_CONFIG.ALU_INST_PREFER_VECTOR: where it is set, a last instruction that could go either way
    /// goes to its vector unit (ERRATA E2).
    pub fn units(&self, prefer_vector: bool) -> SmallVec<[Option<Unit>; 5]> {
        let mut taken = [false; 4];
        let mut trans = false;
        self.slots
            .iter()
            .map(|slot| {
                let chan = slot.dst().chan;
                let row = slot.row();
                let to_trans = match row.units {
                    ops::TRANS => true,
                    ops::VECTOR => false,
                    _ => taken[chan.index()] || (slot.is_last() && !prefer_vector),
                };
                let place = if to_trans { &mut trans } else { &mut taken[chan.index()] };
                if std::mem::replace(place, true) {
                    return None;
                }
                Some(if to_trans { Unit::Trans } else { Unit::Vector(chan) })
            })
            .collect()
    }

    pub fn has(&self, flag: u32) -> bool {
        self.slots.iter().any(|slot| slot.has(flag))
    }

    /// Appends the group's dwords.
    pub fn encode(&self, words: &mut Vec<u32>) {
        for slot in &self.slots {
            words.extend(slot.inst().words());
        }
        words.extend(&self.literals);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(slots: &[(AluOp, Chan)]) -> AluGroup {
        let slots = slots.iter().enumerate().map(|(i, (op, chan))| {
            AluSlot::new(*op).with_dst(Dst::gpr(1, *chan)).with_last(i + 1 == slots.len())
        });
        AluGroup { slots: slots.collect(), literals: SmallVec::new() }
    }

    fn letters(group: &AluGroup, prefer_vector: bool) -> String {
        let units = group.units(prefer_vector);
        units.iter().map(|unit| unit.map_or('?', Unit::letter)).collect()
    }

    #[test]
    fn an_ambiguous_last_instruction_goes_where_the_configuration_says() {
        let pair = group(&[(AluOp::MUL, Chan::X), (AluOp::ADD, Chan::Y)]);
        assert_eq!(letters(&pair, true), "xy");
        assert_eq!(letters(&pair, false), "xt");
    }

    #[test]
    fn a_taken_channel_and_a_trans_only_instruction_go_to_trans() {
        let taken = group(&[(AluOp::MUL, Chan::X), (AluOp::ADD, Chan::X)]);
        assert_eq!(letters(&taken, true), "xt");
        let sine = group(&[(AluOp::MUL, Chan::X), (AluOp::SIN, Chan::Y)]);
        assert_eq!(letters(&sine, true), "xt");
    }

    #[test]
    fn a_slot_that_finds_its_unit_taken_has_none() {
        let two = group(&[(AluOp::SIN, Chan::X), (AluOp::COS, Chan::Y)]);
        assert_eq!(letters(&two, true), "t?");
        let dots = group(&[(AluOp::DOT4, Chan::X), (AluOp::DOT4, Chan::X)]);
        assert_eq!(letters(&dots, false), "x?");
    }

    #[test]
    fn literals_come_in_pairs_as_far_as_the_highest_channel_named() {
        let dwords = [0b0001, 0b0010, 0b0011, 0b0100, 0b1001, 0].map(AluGroup::literal_dwords);
        assert_eq!(dwords, [2, 2, 2, 4, 4, 0]);
    }

    #[test]
    fn every_select_names_one_operand_and_back() {
        for sel in 0..512 {
            if let Some(operand) = Operand::of(sel) {
                assert_eq!(operand.sel(), sel);
            }
        }
    }
}
