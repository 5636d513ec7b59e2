//! Operations that compute.

use super::Lower;
use crate::inst::{Condition, Function, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::Flags;
use gpucc_ir::ssa::{InstData, Op, Type, Value};

/// The largest floats that integers of 32 bits hold: what conversions clamp to.
const LARGEST_SIGNED: f32 = 2_147_483_520.0;
const LARGEST_UNSIGNED: f32 = 4_294_967_040.0;

impl Lower<'_> {
    /// An operation that owns no region.
    pub(super) fn instruction(&mut self, data: &InstData) -> Result<(), Failure> {
        // Halves are of constants, or the low ones of doublewords, and go to memory.
        let halves = matches!(data.op, Op::Const | Op::UConvert | Op::BufferStore);
        let wide = |value: &Value| match self.ssa.ty(*value) {
            Type::B16 => !halves,
            Type::B64 => true,
            _ => false,
        };
        if data.args.iter().chain(&data.results).any(wide) {
            return Err(self.not_yet("numbers of 16 or 64 bits in registers"));
        }
        match data.op {
            Op::Const => Ok(()),
            Op::Input => self.input(data),
            Op::BufferLoad | Op::BufferStore | Op::BufferSize | Op::MemLoad | Op::MemStore => {
                self.memory(data)
            }
            Op::BufferAtomic | Op::MemAtomic => self.atomic(data),
            Op::ImageStore => self.image_store(data),
            Op::Tex => self.tex(data),
            Op::TexQuery => self.query(data),
            Op::Output if self.abi.is_vertex() => self.vertex_output(data),
            Op::Output => self.output(data),
            Op::Demote | Op::IsHelper => self.quad(data),
            Op::Ddx | Op::Ddy | Op::DdxFine | Op::DdyFine | Op::DdxCoarse | Op::DdyCoarse => {
                self.quad(data)
            }
            Op::Barrier | Op::SubgroupBarrier => self.barrier(),
            op if op.is_pure() => self.compute(data),
            op => Err(self.not_yet(format!("the operation `{}`", op.name()))),
        }
    }

    fn compute(&mut self, data: &InstData) -> Result<(), Failure> {
        let result = data.results[0];
        let args = &data.args;
        let simple = |opcode, ty| Some((opcode, ty));
        let single = match data.op {
            Op::IAdd => simple(Opcode::Add, Ty::D),
            Op::And => simple(Opcode::And, Ty::Ud),
            Op::Or => simple(Opcode::Or, Ty::Ud),
            Op::Xor => simple(Opcode::Xor, Ty::Ud),
            Op::Shl => simple(Opcode::Shl, Ty::Ud),
            Op::LShr => simple(Opcode::Shr, Ty::Ud),
            Op::AShr => simple(Opcode::Asr, Ty::D),
            Op::Clz => simple(Opcode::Lzd, Ty::Ud),
            Op::FAdd => simple(Opcode::Add, Ty::F),
            Op::FMul => simple(Opcode::Mul, Ty::F),
            Op::FFloor => simple(Opcode::Rndd, Ty::F),
            _ => None,
        };
        if let Some((opcode, ty)) = single {
            let mut sources: smallvec::SmallVec<[Source; 2]> =
                args.iter().map(|&value| self.source(value)).collect();
            // The second source may be a number.
            if data.op.flags().has(Flags::COMMUTES) && matches!(sources[0].src, Src::Bits(_)) {
                sources.swap(0, 1);
            }
            let dst = self.define(result);
            self.alu(opcode, ty, dst, &sources);
            return Ok(());
        }
        match data.op {
            Op::ISub | Op::FSub => {
                let ty = if data.op == Op::ISub { Ty::D } else { Ty::F };
                let (first, second) = (self.source(args[0]), self.source(args[1]));
                let second = match (second.src, ty) {
                    (Src::Bits(bits), Ty::D) => Src::Bits(bits.wrapping_neg()).into(),
                    (Src::Bits(bits), _) => Src::Bits(bits ^ 0x8000_0000).into(),
                    _ => Source { negate: true, ..second },
                };
                let dst = self.define(result);
                self.alu(Opcode::Add, ty, dst, &[first, second]);
            }
            Op::INeg => {
                let source = self.source(args[0]);
                let source = self.no_number(source, Ty::D);
                let dst = self.define(result);
                self.alu(Opcode::Mov, Ty::D, dst, &[Source { negate: true, ..source }]);
            }
            Op::FNeg | Op::FAbs => {
                let (opcode, mask) = match data.op {
                    Op::FNeg => (Opcode::Xor, 0x8000_0000),
                    _ => (Opcode::And, 0x7fff_ffff),
                };
                let source = self.source(args[0]);
                let dst = self.define(result);
                self.alu(opcode, Ty::Ud, dst, &[source, Src::Bits(mask).into()]);
            }
            Op::Not => {
                if self.ssa.ty(result) == Type::B1 && !self.in_registers.contains(result) {
                    return Ok(());
                }
                let source = self.source(args[0]);
                let source = self.no_number(source, Ty::Ud);
                let dst = self.define(result);
                self.alu(Opcode::Not, Ty::Ud, dst, &[source]);
            }
            Op::IMul => {
                let (first, second) = (self.source(args[0]), self.source(args[1]));
                let (first, second) = match first.src {
                    Src::Bits(_) => (second, first),
                    _ => (first, second),
                };
                let dst = self.product(first, second);
                self.values[result] = Some(super::Place::Reg(dst));
            }
            Op::UMulHi | Op::SMulHi => {
                let ty = if data.op == Op::UMulHi { Ty::Ud } else { Ty::D };
                let (first, second) = (self.source(args[0]), self.source(args[1]));
                let first = self.no_number(first, ty);
                let second = self.no_number(second, ty);
                let dst = self.define(result);
                self.push(Inst::ProductHigh { dst: dst.into(), ty, first, second });
            }
            Op::SMin | Op::SMax | Op::UMin | Op::UMax => {
                let (condition, ty) = match data.op {
                    Op::SMin => (Condition::Less, Ty::D),
                    Op::SMax => (Condition::GreaterEqual, Ty::D),
                    Op::UMin => (Condition::Less, Ty::Ud),
                    _ => (Condition::GreaterEqual, Ty::Ud),
                };
                let (first, second) = (self.source(args[0]), self.source(args[1]));
                let (first, second) = match first.src {
                    Src::Bits(_) => (second, first),
                    _ => (first, second),
                };
                let first = self.no_number(first, ty);
                let test = Test { condition, ty, first, second, inverse: false };
                let dst = self.define(result);
                self.push(Inst::Select { dst: dst.into(), test, yes: first, no: second });
            }
            Op::FRcp => self.math(data, Function::Inverse),
            Op::FLog2 => self.math(data, Function::Log),
            Op::FExp2 => self.math(data, Function::Exp),
            Op::FSqrt => self.math(data, Function::Root),
            Op::FRsq => self.math(data, Function::InverseRoot),
            Op::SToF | Op::UToF => {
                let from = if data.op == Op::SToF { Ty::D } else { Ty::Ud };
                let source = self.source(args[0]);
                let source = self.no_number(source, from);
                let dst = self.define(result);
                self.convert(Opcode::Mov, Ty::F, dst, from, &[source]);
            }
            Op::FToS | Op::FToU => {
                let (to, largest) = match data.op {
                    Op::FToS => (Ty::D, LARGEST_SIGNED),
                    _ => (Ty::Ud, LARGEST_UNSIGNED),
                };
                let source = self.source(args[0]);
                let first = self.no_number(source, Ty::F);
                let second = Source::from(Src::Bits(largest.to_bits()));
                let condition = Condition::GreaterEqual;
                // A NaN stays: it becomes 0.
                let test = Test { condition, ty: Ty::F, first, second, inverse: true };
                let clamped = self.fresh();
                self.push(Inst::Select { dst: clamped.into(), test, yes: first, no: second });
                let dst = self.define(result);
                let clamped = Src::Reg(clamped.into()).into();
                self.convert(Opcode::Mov, to, dst, Ty::F, &[clamped]);
            }
            Op::UConvert if self.ssa.ty(result) == Type::B16 => {
                let value = args[0];
                self.values[result] = Some(match self.source(value).src {
                    Src::Reg(_) => super::Place::Reg(self.register(value)),
                    src => super::Place::Source(src),
                });
            }
            Op::UConvert | Op::SConvert => {
                let source = self.source(args[0]);
                let dst = self.define(result);
                match (data.op, self.ssa.ty(args[0])) {
                    (Op::UConvert, Type::B16) => {
                        let low = Src::Bits(0xffff).into();
                        self.alu(Opcode::And, Ty::Ud, dst, &[source, low]);
                    }
                    // All ones, or one.
                    (Op::UConvert, Type::B1) => {
                        self.alu(Opcode::And, Ty::Ud, dst, &[source, Src::Bits(1).into()]);
                    }
                    _ => self.alu(Opcode::Mov, Ty::Ud, dst, &[source]),
                }
            }
            Op::Select => {
                let (yes, no) = (self.source(args[1]), self.source(args[2]));
                let mut test = self.test(args[0]);
                let (yes, no) = match yes.src {
                    Src::Bits(_) if !matches!(no.src, Src::Bits(_)) => {
                        test.inverse = !test.inverse;
                        (no, yes)
                    }
                    _ => (yes, no),
                };
                let yes = self.no_number(yes, Ty::Ud);
                let dst = self.define(result);
                self.push(Inst::Select { dst: dst.into(), test, yes, no });
            }
            Op::Index => return Err(self.misplaced_index()),
            _ => {
                if !self.in_registers.contains(result) {
                    // A comparison that conditions alone read is made where they are.
                    if self.comparison(result).is_some() {
                        return Ok(());
                    }
                }
                let Some(test) = self.comparison(result) else {
                    return Err(self.not_yet(format!("the operation `{}`", data.op.name())));
                };
                let dst = self.define(result);
                self.push(Inst::Truth { dst: dst.into(), test });
            }
        }
        Ok(())
    }

    fn misplaced_index(&self) -> Failure {
        Failure::Internal { pass: "lower", message: "an `index` is left".into() }
    }

    fn math(&mut self, data: &InstData, function: Function) {
        let source = self.register(data.args[0]);
        let dst = self.define(data.results[0]);
        self.push(Inst::Math { dst: dst.into(), function, source: source.into() });
    }
}
