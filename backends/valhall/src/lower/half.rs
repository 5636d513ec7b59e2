//! Operations on 16 bits: f16 in pairs of halves, of which a scalar computes the same in both.

use super::alu::round;
use super::operand::{Lane, Opnd};
use super::{Lower, Place};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{InstData, Op, Type, Value};
use gpucc_isa::FieldId;
use smallvec::SmallVec;

impl Lower<'_> {
    /// An operation whose first operand has 16 bits.
    pub(super) fn half_op(&mut self, data: &InstData, result: Value) {
        let a = &data.args;
        match data.op {
            Op::Join16 => {
                let low = self.plain(a[0]);
                let high = self.plain(a[1]);
                return self.join_halves(low, high, result);
            }
            Op::UConvert | Op::SConvert => {
                let signed = data.op == Op::SConvert;
                let inner = self.plain(a[0]);
                if self.ssa.ty(result) == Type::B16 {
                    let lane = match inner.lane {
                        Lane::Half(h) => h,
                        _ => 0,
                    };
                    let reg = self.in_register(inner.lane(Lane::All));
                    return self.define(result, Place::Half(reg, lane));
                }
                let lane = match inner.lane {
                    Lane::All => Lane::Half(0),
                    lane => lane,
                };
                let reg = self.in_register(inner.lane(Lane::All));
                let reg = self.extract(reg, lane, signed);
                return self.define(result, Place::Reg(reg));
            }
            Op::FConvert if self.ssa.ty(result) == Type::B32 => {
                let operand = self.arg(Opcode::F16ToF32, 0, a[0]);
                let operand = match operand.lane {
                    Lane::All => operand.lane(Lane::Half(0)),
                    _ => operand,
                };
                let reg = self.emit(Opcode::F16ToF32, &[operand]);
                return self.define(result, Place::Reg(reg));
            }
            Op::SToF | Op::UToF => {
                let opcode = match (data.op, self.ssa.ty(result)) {
                    (Op::SToF, Type::B16) => Opcode::V2s16ToV2f16,
                    (Op::SToF, _) => Opcode::S16ToF32,
                    (_, Type::B16) => Opcode::V2u16ToV2f16,
                    (_, _) => Opcode::U16ToF32,
                };
                let operand = self.plain(a[0]);
                let reg = self.emit(opcode, &[operand]);
                return self.define_reg(result, reg);
            }
            Op::Ddx | Op::Ddy | Op::DdxFine | Op::DdyFine | Op::DdxCoarse | Op::DdyCoarse => {
                let reg = self.derivative(data.op, a[0]);
                return self.define(result, Place::Half(reg, 0));
            }
            _ => {}
        }
        let reg = self.half_reg(data, result);
        self.define(result, Place::Half(reg, 0));
    }

    /// Two halves side by side.
    pub(super) fn join_halves(&mut self, low: Opnd, high: Opnd, result: Value) {
        if let (Lane::Half(0), Lane::Half(1)) = (low.lane, high.lane)
            && low.src == high.src
            && let Some(reg) = low.src.as_reg().and_then(|reg| reg.as_virt())
        {
            return self.define(result, Place::Reg(reg));
        }
        let reg = self.mkvec(low, high);
        self.define(result, Place::Reg(reg));
    }

    /// A register of two halves.
    pub(super) fn mkvec(&mut self, low: Opnd, high: Opnd) -> VReg {
        let lane = |operand: Opnd| match operand.lane {
            Lane::All => operand.lane(Lane::Half(0)),
            _ => operand,
        };
        self.emit(Opcode::MkvecV2i16, &[lane(low), lane(high)])
    }

    fn half_reg(&mut self, data: &InstData, result: Value) -> VReg {
        let a = &data.args;
        let clamp: SmallVec<[(FieldId, u32); 2]> = self.clamp(result).into_iter().collect();
        match data.op {
            Op::FAdd => self.half_row(Opcode::FaddV2f16, a, &clamp),
            Op::FSub => {
                let mut sources = self.args(Opcode::FaddV2f16, a);
                sources[1] = sources[1].negated();
                self.emit_with(Opcode::FaddV2f16, &sources, &clamp)
            }
            Op::FMul => {
                let mut sources = self.args(Opcode::FmaV2f16, a);
                sources.push(Opnd::minus_zero());
                self.emit_with(Opcode::FmaV2f16, &sources, &clamp)
            }
            Op::FMa => self.half_row(Opcode::FmaV2f16, a, &clamp),
            Op::FDot => {
                let pairs = a.len() / 2;
                let mut sum = Opnd::minus_zero();
                for k in 0..pairs {
                    let sources = [
                        self.arg(Opcode::FmaV2f16, 0, a[k]),
                        self.arg(Opcode::FmaV2f16, 1, a[pairs + k]),
                        sum,
                    ];
                    let fields: &[_] = if k + 1 == pairs { &clamp } else { &[] };
                    sum = Opnd::reg(self.emit_with(Opcode::FmaV2f16, &sources, fields));
                }
                self.in_register(sum)
            }
            Op::FMin => self.half_row(Opcode::FminV2f16, a, &clamp),
            Op::FMax => self.half_row(Opcode::FmaxV2f16, a, &clamp),
            Op::FSat => {
                let x = self.arg(Opcode::FaddV2f16, 0, a[0]);
                let sources = [x, Opnd::minus_zero()];
                self.emit_with(Opcode::FaddV2f16, &sources, &[(f::CLAMP, 3)])
            }
            // The sign bit alone, so that a NaN keeps its bits.
            Op::FNeg => {
                let reg = self.low_half(a[0]);
                let fields = [(f::IMM, 0x8000_8000)];
                self.emit_with(Opcode::IaddImmV2i16, &[Opnd::reg(reg)], &fields)
            }
            Op::FAbs => {
                let reg = self.low_half(a[0]);
                self.and(Opnd::reg(reg), Opnd::bits(0x7fff_7fff))
            }
            Op::FFloor => self.half_rounded(a[0], round::DOWN),
            Op::FCeil => self.half_rounded(a[0], round::UP),
            Op::FTrunc => self.half_rounded(a[0], round::ZERO),
            Op::FRound => self.half_rounded(a[0], 0),
            Op::FFract => {
                let floor = self.half_rounded(a[0], round::DOWN);
                let x = self.arg(Opcode::FaddV2f16, 0, a[0]);
                let floor = Opnd::reg(floor).lane(Lane::Half(0)).negated();
                self.emit_with(Opcode::FaddV2f16, &[x, floor], &clamp)
            }
            Op::FRcp => self.half_row(Opcode::FrcpF16, a, &[]),
            Op::FRsq => self.half_row(Opcode::FrsqF16, a, &[]),
            op => unreachable!("`{}` is not native at 16 bits", op.name()),
        }
    }

    fn half_rounded(&mut self, value: Value, mode: u32) -> VReg {
        let x = self.arg(Opcode::FroundV2f16, 0, value);
        self.emit_with(Opcode::FroundV2f16, &[x], &[(f::ROUND, mode)])
    }

    fn half_row(&mut self, opcode: Opcode, values: &[Value], fields: &[(FieldId, u32)]) -> VReg {
        let sources = self.args(opcode, values);
        self.emit_with(opcode, &sources, fields)
    }
}
