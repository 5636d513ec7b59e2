//! Double precision: values of 64 bits are pairs of registers, and each operation one instruction of two or
//! four slots. R700 ISA 4.12.

use super::{Lower, Place};
use crate::api::Failure;
use crate::inst::{Double, Inst, Source, Src};
use crate::isa::AluOp;
use crate::slot::{Operand, Read};
use gpucc_ir::ssa::{Inst as SsaInst, InstData, Op, Type, Value};
use smallvec::{SmallVec, smallvec};

impl Lower<'_> {
    /// Reads or makes values of 64 bits.
    pub(super) fn is_double(&self, data: &InstData) -> bool {
        let mut values = data.args.iter().chain(&data.results);
        values.any(|&value| self.ssa.ty(value) == Type::B64)
    }

    /// Low and high dword of a value.
    fn halves(&self, value: Value) -> [Source; 2] {
        match self.ssa.as_const(value) {
            Some(bits) => [Source::bits(bits as u32), Source::bits((bits >> 32) as u32)],
            None => self.doubles[value].expect("a value is lowered before its uses"),
        }
    }

    /// High and low dword, as instructions take them.
    fn operand(&self, value: Value) -> [Source; 2] {
        let [low, high] = self.halves(value);
        [high, low]
    }

    /// Lowers one operation on values of 64 bits.
    pub(super) fn double(&mut self, inst: SsaInst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (result, args) = (data.results[0], &data.args);
        match data.op {
            Op::Join64 => {
                self.doubles[result] = Some([self.plain(args[0]), self.plain(args[1])]);
            }
            Op::Lo64 | Op::Hi64 => {
                let half = self.halves(args[0])[usize::from(data.op == Op::Hi64)];
                self.values[result] = Some(match half.src {
                    Src::Reg(reg) => {
                        Place::Reg(reg.as_virt().expect("lowering makes virtual registers only"))
                    }
                    src => Place::Source(src),
                });
            }
            Op::Select => {
                let cond = self.plain(args[0]);
                let (yes, no) = (self.halves(args[1]), self.halves(args[2]));
                let halves = [0, 1].map(|half| {
                    let chosen = self.alu(AluOp::CNDE_INT, &[cond, no[half], yes[half]]);
                    Source::reg(chosen)
                });
                self.doubles[result] = Some(halves);
            }
            Op::FAdd | Op::FSub => {
                let mut second = self.operand(args[1]);
                second[0].neg ^= data.op == Op::FSub;
                self.make(result, AluOp::ADD_64, smallvec![self.operand(args[0]), second]);
            }
            Op::FMul | Op::FMa => {
                let op = if data.op == Op::FMul { AluOp::MUL_64 } else { AluOp::MULADD_64 };
                self.make(result, op, args.iter().map(|&arg| self.operand(arg)).collect());
            }
            Op::FLdexp => {
                let exponent = self.plain(args[1]);
                let src = smallvec![self.operand(args[0]), [exponent; 2]];
                self.make(result, AluOp::LDEXP_64, src);
            }
            Op::FConvert if self.ssa.ty(args[0]) == Type::B32 => {
                let single = [self.plain(args[0]), Source::bits(0)];
                self.make(result, AluOp::FLT32_TO_FLT64, smallvec![single]);
            }
            Op::FConvert if self.ssa.ty(result) == Type::B32 => {
                let single = self.word(AluOp::FLT64_TO_FLT32, smallvec![self.operand(args[0])]);
                self.values[result] = Some(Place::Reg(single));
            }
            Op::FEq | Op::FNe | Op::FLt | Op::FLe => {
                let (op, swap) = match data.op {
                    Op::FLt => (AluOp::PRED_SETGT_64, true),
                    Op::FLe => (AluOp::PRED_SETGE_64, true),
                    _ => (AluOp::PRED_SETE_64, false),
                };
                let mut src: SmallVec<[[Source; 2]; 3]> =
                    args.iter().map(|&arg| self.operand(arg)).collect();
                if swap {
                    src.swap(0, 1);
                }
                // All ones where the test fails, and nothing more without UPDATE_EXECUTE_MASK.
                let failed = self.word(op, src);
                let place = if data.op == Op::FNe {
                    failed
                } else {
                    self.alu(AluOp::NOT_INT, &[Source::reg(failed)])
                };
                self.values[result] = Some(Place::Reg(place));
            }
            op => {
                return Err(self.not_yet(format!("the operation `{}` on doubles", op.name())));
            }
        }
        Ok(())
    }

    /// An operation with a double for its result.
    fn make(&mut self, result: Value, op: AluOp, src: SmallVec<[[Source; 2]; 3]>) {
        let dst = [self.fresh(), self.fresh()];
        self.doubles[result] = Some(dst.map(Source::reg));
        let dst = dst.map(|reg| Some(reg.into()));
        self.push(Inst::Double(Double { op, dst, src }));
    }

    /// An operation with one word for its result.
    fn word(&mut self, op: AluOp, src: SmallVec<[[Source; 2]; 3]>) -> gpucc_ir::mach::VReg {
        let dst = self.fresh();
        let dst_both = [Some(dst.into()), None];
        self.push(Inst::Double(Double { op, dst: dst_both, src }));
        dst
    }

    /// A group holds four literals (R700 ISA 4.3); three constant doubles may have six.
    pub(super) fn limit_literals(&mut self, double: &mut Double) {
        let mut seen: SmallVec<[u32; 4]> = SmallVec::new();
        for words in &mut double.src {
            for (half, word) in words.iter_mut().enumerate() {
                let Src::Bits(mut bits) = word.src else {
                    continue;
                };
                if word.neg {
                    bits ^= 0x8000_0000;
                }
                let inline = Operand::constant(bits, half == 0);
                if !matches!(inline.read, Read::Literal(_)) || seen.contains(&bits) {
                    continue;
                }
                if seen.len() < 4 {
                    seen.push(bits);
                    continue;
                }
                let moved = self.alu(AluOp::MOV, &[Source::bits(bits)]);
                *word = Source::reg(moved);
            }
        }
    }
}
