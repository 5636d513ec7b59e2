//! Operands: what a source reads, and what its modifiers make of it; and how instructions are built of
//! them.

use super::{Lower, Place};
use crate::inst::{Inst, Op, Src};
use crate::isa::{Extension, Opcode, Operand as Kind, Source, f, limits};
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{self, Type, Value};
use gpucc_isa::{FieldId, Kind as FieldKind};

/// The part of a source that an instruction takes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// All of it.
    All,
    /// One half: widened to 32 bits, or in both halves of a pair of 16.
    Half(u8),
    /// One byte, likewise.
    Byte(u8),
    /// The low word of 64 bits.
    Word,
    /// These halves, the low one first.
    Halves(u8, u8),
}

/// A source with its modifiers: abs before neg, both after widening.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Opnd {
    pub src: Src,
    pub lane: Lane,
    pub neg: bool,
    pub abs: bool,
}

impl Opnd {
    pub const fn plain(src: Src) -> Opnd {
        Opnd { src, lane: Lane::All, neg: false, abs: false }
    }
    pub fn reg(reg: impl Into<Reg>) -> Opnd {
        Opnd::plain(Src::Reg(reg.into()))
    }
    pub const fn bits(bits: u32) -> Opnd {
        Opnd::plain(Src::Bits(bits))
    }
    pub const fn f32(value: f32) -> Opnd {
        Opnd::bits(value.to_bits())
    }
    /// -0.0, the neutral addend.
    pub const fn minus_zero() -> Opnd {
        Opnd { neg: true, ..Opnd::bits(0) }
    }
    #[must_use]
    pub const fn lane(mut self, lane: Lane) -> Opnd {
        self.lane = lane;
        self
    }
    #[must_use]
    pub const fn negated(mut self) -> Opnd {
        self.neg = !self.neg;
        self
    }
    /// Without any modifier.
    pub fn is_plain(self) -> bool {
        self.lane == Lane::All && !self.neg && !self.abs
    }
}

/// What a source of a row can do.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct Accepts {
    /// Signs of floats.
    pub sign: bool,
    /// Halves as f32.
    pub widen: bool,
    /// Bytes and halves as integers, with the sign or with zeros.
    pub extend: Option<bool>,
}

/// What source `index` of a row can do.
pub(super) fn accepts(opcode: Opcode, index: usize) -> Accepts {
    let source = opcode.sources()[index];
    let has = |field: Option<FieldId>| field.is_some_and(|field| opcode.has(field));
    // Arm reserves the widening of some.
    let reserved = |field| limits::values(opcode, field) == Some(0b1);
    let swizzle = has(source.swizzle()) && !source.swizzle().is_some_and(reserved);
    Accepts {
        sign: source.kind.is_float() && has(source.neg()) && has(source.abs()),
        widen: source.kind == Kind::F32 && swizzle,
        extend: (source.kind == Kind::I32 && swizzle)
            .then(|| opcode.extension() == Extension::Sign),
    }
}

/// The source is one half: of the lane field Arm allows 0 and 1 alone.
fn takes_one_half(opcode: Opcode, field: FieldId) -> bool {
    limits::values(opcode, field) == Some(0b11)
}

/// The value of a row's lane field for a lane.
fn lane_code(opcode: Opcode, field: FieldId, lane: Lane) -> Option<u32> {
    if let Lane::Half(half) = lane
        && takes_one_half(opcode, field)
    {
        return Some(half.into());
    }
    let FieldKind::Enum(set) = opcode.op().format.field(field)?.kind else {
        return None;
    };
    let names: [String; 3] = match lane {
        Lane::All => return None,
        Lane::Half(h) => [format!("h{h}"), format!("h{h}{h}"), String::new()],
        Lane::Byte(b) => [format!("b{b}"), format!("b{b}{b}"), format!("b{b}{b}{b}{b}")],
        Lane::Word => ["w0".into(), String::new(), String::new()],
        Lane::Halves(a, b) => [format!("h{a}{b}"), String::new(), String::new()],
    };
    set.members
        .iter()
        .find(|member| names.iter().any(|name| name == member.name))
        .map(|member| member.value)
}

/// Writes the modifiers of one source into the word.
fn modify(op: &mut Op, source: Source, operand: Opnd) {
    let opcode = op.opcode;
    let mut set = |field: Option<FieldId>, value: u32| {
        let field = field.expect("only the first three sources have modifiers");
        op.word = op.word.with(field, value);
    };
    if operand.neg {
        set(source.neg(), 1);
    }
    if operand.abs {
        set(source.abs(), 1);
    }
    let one_half = |&field: &FieldId| takes_one_half(opcode, field);
    if operand.lane == Lane::All
        && let Some(field) = source.swizzle().filter(one_half)
    {
        set(Some(field), 0);
    }
    if operand.lane != Lane::All {
        let field = source.swizzle();
        let code = field.and_then(|field| lane_code(opcode, field, operand.lane));
        set(
            field,
            code.unwrap_or_else(|| panic!("{} has no lane {:?}", opcode.name(), operand.lane)),
        );
    }
}

/// An instruction of these sources, without destination.
pub(super) fn build(opcode: Opcode, sources: &[Opnd]) -> Op {
    debug_assert_eq!(opcode.sources().len(), sources.len(), "{}", opcode.name());
    let mut op = Op::new(opcode);
    for (&source, &operand) in opcode.sources().iter().zip(sources) {
        op.src.push(operand.src);
        modify(&mut op, source, operand);
    }
    op
}

impl Lower<'_> {
    /// Appends an instruction.
    pub(super) fn push(&mut self, op: Op) {
        self.push_inst(Inst::Op(Box::new(op)));
    }

    /// Appends an instruction with a new register for its result.
    pub(super) fn emit(&mut self, opcode: Opcode, sources: &[Opnd]) -> VReg {
        self.emit_with(opcode, sources, &[])
    }

    /// The same with modifiers.
    pub(super) fn emit_with(
        &mut self,
        opcode: Opcode,
        sources: &[Opnd],
        fields: &[(FieldId, u32)],
    ) -> VReg {
        let dst = self.fresh();
        self.emit_to(dst, opcode, sources, fields);
        dst
    }

    /// The same into a register at hand.
    pub(super) fn emit_to(
        &mut self,
        dst: VReg,
        opcode: Opcode,
        sources: &[Opnd],
        fields: &[(FieldId, u32)],
    ) {
        let mut op = build(opcode, sources).to(dst);
        for &(field, value) in fields {
            op = op.with(field, value);
        }
        self.push(op);
    }

    /// An instruction with a 64-bit result.
    pub(super) fn emit_pair(
        &mut self,
        opcode: Opcode,
        sources: &[Opnd],
        fields: &[(FieldId, u32)],
    ) -> [VReg; 2] {
        let dst = [self.fresh(), self.fresh()];
        let mut op = build(opcode, sources);
        op.dst.extend(dst.map(Reg::from));
        for &(field, value) in fields {
            op = op.with(field, value);
        }
        self.push(op);
        dst
    }

    /// A move.
    pub(super) fn mov(&mut self, src: Src) -> VReg {
        self.emit(Opcode::MovI32, &[Opnd::plain(src)])
    }

    /// An operand in a register, as bits: no signs, no lanes.
    pub(super) fn in_register(&mut self, operand: Opnd) -> VReg {
        match operand {
            Opnd { src: Src::Reg(reg), lane: Lane::All, neg: false, abs: false }
                if reg.as_virt().is_some() =>
            {
                reg.as_virt().expect("checked by the guard")
            }
            _ if operand.is_plain() => self.mov(operand.src),
            _ => self.emit(Opcode::FaddF32, &[operand, Opnd::minus_zero()]),
        }
    }

    /// The value as source `index` of a row, with what the row can do folded in.
    pub(super) fn arg(&mut self, opcode: Opcode, index: usize, value: Value) -> Opnd {
        self.resolve(value, accepts(opcode, index))
    }

    /// Operands of a row, in order.
    pub(super) fn args(
        &mut self,
        opcode: Opcode,
        values: &[Value],
    ) -> smallvec::SmallVec<[Opnd; 4]> {
        values.iter().enumerate().map(|(index, &value)| self.arg(opcode, index, value)).collect()
    }

    /// The value as it is: a register (or half of one), a constant, a word of FAU.
    pub(super) fn plain(&mut self, value: Value) -> Opnd {
        self.resolve(value, Accepts::default())
    }

    /// The value in a register of 32 bits (of a half: in whichever half it is).
    pub(super) fn reg(&mut self, value: Value) -> VReg {
        let mut operand = self.plain(value);
        operand.lane = Lane::All;
        self.in_register(operand)
    }

    /// A 16-bit value in the low half of a register.
    pub(super) fn low_half(&mut self, value: Value) -> VReg {
        let operand = self.plain(value);
        match operand.lane {
            Lane::Half(1) => self.emit(Opcode::MkvecV2i16, &[operand, operand]),
            _ => self.in_register(operand.lane(Lane::All)),
        }
    }

    /// A 64-bit value in two registers.
    pub(super) fn pair(&mut self, value: Value) -> [VReg; 2] {
        match self.words(value) {
            [low, high] => [self.in_register(low), self.in_register(high)],
        }
    }

    /// Both words of a 64-bit value.
    pub(super) fn words(&mut self, value: Value) -> [Opnd; 2] {
        if let Some(bits) = self.ssa.as_const(value) {
            return [Opnd::bits(bits as u32), Opnd::bits((bits >> 32) as u32)];
        }
        match self.place(value) {
            Some(Place::Pair(words)) => words.map(Opnd::plain),
            _ => unreachable!("64-bit values are pairs"),
        }
    }

    /// A 64-bit value as a 64-bit source.
    pub(super) fn wide(&mut self, value: Value) -> Opnd {
        if let Some(bits) = self.ssa.as_const(value)
            && bits >> 32 == 0
        {
            return Opnd::bits(bits as u32);
        }
        let pair = self.pair(value);
        Opnd::plain(Src::Pair(pair.map(Reg::from)))
    }

    /// A 32-bit operand as a zero-extended 64-bit source of a row that can take its low word.
    pub(super) fn extended(&mut self, operand: Opnd) -> Opnd {
        match operand.src {
            Src::Bits(_) => operand.lane(Lane::Word),
            _ => {
                let reg = self.in_register(operand);
                Opnd::plain(Src::Low(reg.into())).lane(Lane::Word)
            }
        }
    }

    /// The bits of a constant as a register holds them: truth values are 0 and all ones, 16 bits stand in
    /// both halves.
    pub(super) fn const_bits(&self, value: Value) -> Option<u32> {
        let bits = self.ssa.as_const(value)?;
        Some(match self.ssa.ty(value) {
            Type::B1 => (bits as u32 & 1).wrapping_neg(),
            Type::B16 => (bits as u32 & 0xffff) * 0x1_0001,
            Type::B32 | Type::B64 => bits as u32,
        })
    }

    /// The value with the modifiers that `can` allows, in place of the operations that make them.
    pub(super) fn resolve(&mut self, value: Value, can: Accepts) -> Opnd {
        if let Some(bits) = self.const_bits(value) {
            return Opnd::bits(bits);
        }
        if self.place(value).is_none() {
            self.settle(self.uses.clamped(value).unwrap_or(value));
        }
        match self.place(value) {
            Some(Place::Reg(reg)) => return Opnd::reg(reg),
            Some(Place::Half(reg, half)) => return Opnd::reg(reg).lane(Lane::Half(half)),
            Some(Place::Src(src)) => return Opnd::plain(src),
            Some(Place::Part(reg, lane)) if can.extend == Some(false) => {
                return Opnd::reg(reg).lane(lane);
            }
            Some(Place::Part(reg, lane)) => return Opnd::reg(self.extract(reg, lane, false)),
            Some(Place::Pair(_)) => unreachable!("a 64-bit value is no 32-bit operand"),
            None => {}
        }
        let data = self.ssa.def(value).expect("a parameter has its register before its uses");
        match data.op {
            ssa::Op::FNeg if can.sign => return self.resolve(data.args[0], can).negated(),
            ssa::Op::FMul if can.sign && super::uses::unscaled(self.ssa, data).is_some() => {
                let factor = super::uses::unscaled(self.ssa, data).expect("checked by the guard");
                return self.resolve(factor, can);
            }
            ssa::Op::FAbs if can.sign => {
                let mut inner = self.resolve(data.args[0], can);
                inner.neg = false;
                inner.abs = true;
                return inner;
            }
            ssa::Op::FConvert if can.widen && self.ssa.ty(data.args[0]) == Type::B16 => {
                let inner = self.resolve(data.args[0], Accepts { widen: false, ..can });
                return match inner.lane {
                    Lane::All => inner.lane(Lane::Half(0)),
                    _ => inner,
                };
            }
            ssa::Op::UnpackHalfLo | ssa::Op::UnpackHalfHi if can.widen => {
                let half = u8::from(data.op == ssa::Op::UnpackHalfHi);
                let reg = self.reg(data.args[0]);
                return Opnd::reg(reg).lane(Lane::Half(half));
            }
            _ => {}
        }
        if let Some(signed) = can.extend
            && let Some(part) = super::uses::part(self.ssa, value)
            && part.signed == signed
        {
            let (reg, lane) = self.part_place(part);
            return Opnd::reg(reg).lane(lane);
        }
        // Nobody folds it here: it is computed on the spot.
        self.recompute(value)
    }

    /// A byte or half as 32 bits.
    pub(super) fn extract(&mut self, reg: VReg, lane: Lane, signed: bool) -> VReg {
        let opcode = match (lane, signed) {
            (Lane::Byte(_), false) => Opcode::U8ToU32,
            (Lane::Byte(_), true) => Opcode::S8ToS32,
            (_, false) => Opcode::U16ToU32,
            (_, true) => Opcode::S16ToS32,
        };
        self.emit(opcode, &[Opnd::reg(reg).lane(lane)])
    }

    /// Fields of the clamp that the users of a value want its instruction to make.
    pub(super) fn clamp(&self, value: Value) -> Option<(FieldId, u32)> {
        match self.uses.clamp(value) {
            0 => None,
            clamp => Some((f::CLAMP, clamp)),
        }
    }
}
