//! Operations that compute.

use super::{Lower, known};
use crate::inst::{Condition, Function, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::Flags;
use gpucc_ir::ssa::{Func, InstData, Op, Type, Value};
use gpucc_passes::float_range;

/// The largest floats that integers of 32 bits hold: what conversions clamp to.
const LARGEST_SIGNED: f32 = 2_147_483_520.0;
/// Sums with more than this are 0 or normal, and no zero is negative.
const LEAST: f32 = 1e-20;
/// Operations behind one that may still change.
const NEAR: usize = 32;
/// Operations back that ranges of floats are asked for.
const DEPTH: u32 = 4;
const LARGEST_UNSIGNED: f32 = 4_294_967_040.0;

/// The divisor of a choice between a reciprocal and the next float, as the recipe of quotients makes it: by whether the product of both
/// is below 1. Where the product is a NaN both are the same. `near` as for [`known::low_bits`].
fn quotient_of(func: &Func, args: &[Value], near: impl Fn(Value) -> bool) -> Option<Value> {
    let [below, next, reciprocal] = args else { return None };
    if !args.iter().all(|&value| near(value)) {
        return None;
    }
    let number = |value: Value| func.as_const(value).map(|bits| f32::from_bits(bits as u32));
    let divisor = func.def(*reciprocal).filter(|data| data.op == Op::FRcp)?.args[0];
    let below = func.def(*below).filter(|data| data.op == Op::FLt)?;
    let product = func.def(below.args[0]).filter(|data| data.op == Op::FMul)?;
    let next = func.def(*next).filter(|data| data.op == Op::FMul)?;
    let of_both = product.args.contains(reciprocal) && product.args.contains(&divisor);
    let above = next.args.contains(reciprocal)
        && next.args.iter().any(|&value| number(value) == Some(1.0 + f32::EPSILON));
    (of_both && above && number(below.args[1]) == Some(1.0)).then_some(divisor)
}

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
            Op::Output => self.output(data),
            Op::Demote | Op::IsHelper => self.quad(data),
            Op::Ddx | Op::Ddy | Op::DdxFine | Op::DdyFine | Op::DdxCoarse | Op::DdyCoarse => {
                self.quad(data)
            }
            Op::Barrier => self.barrier(),
            // The lanes of a step run together.
            Op::SubgroupBarrier => Ok(()),
            Op::Ballot => self.ballot(data),
            Op::Shuffle => self.shuffle(data),
            op if op.is_pure() => self.compute(data),
            op => Err(self.not_yet(format!("the operation `{}`", op.name()))),
        }
    }

    fn compute(&mut self, data: &InstData) -> Result<(), Failure> {
        let result = data.results[0];
        let args = &data.args;
        let compares = matches!(
            data.op,
            Op::IEq
                | Op::INe
                | Op::SLt
                | Op::SLe
                | Op::ULt
                | Op::ULe
                | Op::FEq
                | Op::FNe
                | Op::FLt
                | Op::FLe
        );
        let joins = matches!(data.op, Op::And | Op::Or | Op::Not);
        if compares || joins && self.ssa.ty(result) == Type::B1 {
            return self.truth(data);
        }
        if let Some((value, mask)) = known::low_bits(self.ssa, data, |value| self.is_near(value)) {
            let source = self.source(value);
            let dst = self.define(result);
            self.alu(Opcode::And, Ty::Ud, dst, &[source, Src::Bits(mask).into()]);
            return Ok(());
        }
        if self.piece(data) {
            return Ok(());
        }
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
            Op::FFract => simple(Opcode::Frc, Ty::F),
            _ => None,
        };
        if let Some((opcode, ty)) = single {
            let mut sources: smallvec::SmallVec<[Source; 2]> =
                args.iter().map(|&value| self.source_of(value, ty)).collect();
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
                let [first, second] = [args[0], args[1]].map(|value| self.source_of(value, ty));
                let second = match (second.src, ty) {
                    (Src::Bits(bits), Ty::D) => Src::Bits(bits.wrapping_neg()).into(),
                    (Src::Bits(bits), _) => Src::Bits(bits ^ 0x8000_0000).into(),
                    _ => Source { negate: !second.negate, ..second },
                };
                // The second source may be a number.
                let sources = match first.src {
                    Src::Bits(_) => [second, first],
                    _ => [first, second],
                };
                let dst = self.define(result);
                self.alu(Opcode::Add, ty, dst, &sources);
            }
            Op::INeg => {
                let source = self.source(args[0]);
                let source = self.no_number(source);
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
                let source = self.source(args[0]);
                let source = self.no_number(source);
                let dst = self.define(result);
                self.alu(Opcode::Not, Ty::Ud, dst, &[source]);
            }
            Op::IMul => {
                let values = match self.source(args[0]).src {
                    Src::Bits(_) => [args[1], args[0]],
                    _ => [args[0], args[1]],
                };
                let [first, second] = values.map(|value| self.source(value));
                // The first factor counts by its low word alone (G45 vol. 4, 14.2.29).
                let short = |bits: u32| bits < 1 << 16;
                let factors = match second.src {
                    Src::Bits(bits) if short(bits) => Some([second, first]),
                    _ if known::is_word(self.ssa, values[0]) => Some([first, second]),
                    _ if known::is_word(self.ssa, values[1]) => Some([second, first]),
                    _ => None,
                };
                if let Some(factors) = factors {
                    let dst = self.define(result);
                    self.alu(Opcode::Mul, Ty::Ud, dst, &factors);
                    return Ok(());
                }
                let dst = self.product(first, second);
                self.values[result] = Some(super::Place::Reg(dst));
            }
            Op::UMulHi | Op::SMulHi => {
                let ty = if data.op == Op::UMulHi { Ty::Ud } else { Ty::D };
                let (first, second) = (self.source(args[0]), self.source(args[1]));
                let first = self.no_number(first);
                let second = self.no_number(second);
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
                self.choose(data, condition, ty);
            }
            Op::UDiv | Op::URem | Op::SDiv | Op::SRem => self.divide(data),
            Op::FRound => {
                // RNDE of a negative number gives zeros without their sign (G45 vol. 4, 14.2.39).
                let [nearest, sign] = [self.fresh(), self.fresh()];
                let source = self.float(args[0]);
                let source = self.no_number(Source { absolute: true, negate: false, ..source });
                self.push(Inst::Round { dst: nearest.into(), source });
                let whole = self.source(args[0]);
                let mask = Src::Bits(0x8000_0000).into();
                self.alu(Opcode::And, Ty::Ud, sign, &[whole, mask]);
                let dst = self.define(result);
                let parts = [nearest, sign].map(|reg| Src::Reg(reg.into()).into());
                self.alu(Opcode::Or, Ty::Ud, dst, &parts);
            }
            Op::FDot => {
                let mut sources: smallvec::SmallVec<[Source; 8]> =
                    args.iter().map(|&value| self.float(value)).collect();
                if !self.abi.is_vertex() {
                    // The second factor may be a number.
                    let pairs = sources.len() / 2;
                    for at in 0..pairs {
                        if matches!(sources[at].src, Src::Bits(_)) {
                            sources.swap(at, pairs + at);
                            sources[at] = self.no_number(sources[at]);
                        }
                    }
                }
                let dst = self.define(result).into();
                self.push(Inst::Dot { dst, channels: 0, sources, keep: None });
            }
            Op::FSat => self.saturate(data),
            Op::FMin => self.choose(data, Condition::Less, Ty::F),
            Op::FMax => self.choose(data, Condition::GreaterEqual, Ty::F),
            Op::FRcp => self.math(data, Function::Inverse),
            Op::FLog2 => self.math(data, Function::Log),
            Op::FExp2 => self.math(data, Function::Exp),
            Op::FSqrt => self.math(data, Function::Root),
            Op::FRsq => self.math(data, Function::InverseRoot),
            Op::SToF | Op::UToF => {
                let from = if data.op == Op::SToF { Ty::D } else { Ty::Ud };
                let source = self.source(args[0]);
                let source = self.no_number(source);
                let dst = self.define(result);
                self.convert(Opcode::Mov, Ty::F, dst, from, &[source]);
            }
            Op::FToS | Op::FToU => {
                let (to, largest) = match data.op {
                    Op::FToS => (Ty::D, LARGEST_SIGNED),
                    _ => (Ty::Ud, LARGEST_UNSIGNED),
                };
                // What is certainly a number and not larger is not clamped. No texture is as large as what the machine clamps to.
                let bound = float_range::bounds(self.ssa, args[0], DEPTH);
                let bounded = bound.is_some_and(|(_, most)| most <= largest);
                if bounded || !self.counts.contains(result) {
                    let source = self.float(args[0]);
                    let source = self.no_number(source);
                    let dst = self.define(result);
                    self.convert(Opcode::Mov, to, dst, Ty::F, &[source]);
                    return Ok(());
                }
                let source = self.source(args[0]);
                let first = self.no_number(source);
                let second = Source::from(Src::Bits(largest.to_bits()));
                let condition = Condition::GreaterEqual;
                // A NaN stays: it becomes 0.
                let test = Test { condition, ty: Ty::F, first, second, join: None };
                let clamped = self.fresh();
                self.push(Inst::Compare(test));
                let (dst, inverse) = (clamped.into(), true);
                self.push(Inst::Select { dst, inverse, yes: first, no: second });
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
                    (Op::SConvert, Type::B1) => {
                        let source = self.no_number(source);
                        self.alu(Opcode::Mov, Ty::D, dst, &[Source { negate: true, ..source }]);
                    }
                    _ => self.alu(Opcode::Mov, Ty::Ud, dst, &[source]),
                }
            }
            Op::Select => {
                let (mut yes, no) = (self.source(args[1]), self.source(args[2]));
                if let Some(divisor) =
                    quotient_of(self.ssa, &data.args, |value| self.is_near(value))
                {
                    // The last source alone may be a number.
                    let first = self.float(divisor);
                    let first = self.no_number(first);
                    let second = Src::Reg(self.register(data.args[2]).into()).into();
                    let condition = Condition::ProductBelowOne;
                    self.push(Inst::Compare(Test {
                        condition,
                        ty: Ty::F,
                        first,
                        second,
                        join: None,
                    }));
                    self.select(result, false, yes, no);
                    return Ok(());
                }
                // Nothing stands between a comparison and its choice: they may become one step.
                if let (Src::Bits(_), Src::Bits(_)) = (yes.src, no.src) {
                    yes = self.no_number(yes);
                }
                let inverse = self.decide(args[0]);
                self.select(result, inverse, yes, no);
            }
            Op::Index => return Err(self.misplaced_index()),
            op => return Err(self.not_yet(format!("the operation `{}`", op.name()))),
        }
        Ok(())
    }

    /// A float of a byte or of a word of a doubleword, or its product or sum with another, by the part itself: nothing else reads
    /// it. False for all else.
    fn piece(&mut self, data: &InstData) -> bool {
        if self.abi.is_vertex() {
            return false;
        }
        let near = |value| self.is_near(value);
        let part = |value: Value, converts: Op| {
            let (whole, ty, byte) =
                known::piece(self.ssa, value, near).filter(|_| self.reads[value] == 1)?;
            let signed = matches!(ty, Ty::B | Ty::W);
            let source = self.source(whole);
            let placed = matches!(source.src, Src::Reg(_) | Src::Fixed(_) | Src::Scalar { .. });
            (placed && !(signed && converts == Op::UToF)).then_some((source, ty, byte))
        };
        let converted = |value: Value| {
            let inner = self.ssa.def(value).filter(|_| self.reads[value] == 1 && near(value))?;
            let converts = matches!(inner.op, Op::SToF | Op::UToF);
            converts.then(|| part(inner.args[0], inner.op)).flatten()
        };
        let (opcode, found) = match data.op {
            Op::SToF | Op::UToF => (Opcode::Mov, part(data.args[0], data.op).map(|of| (of, None))),
            Op::FMul | Op::FAdd => {
                let of = |at: usize| Some((converted(data.args[at])?, Some(data.args[1 - at])));
                let opcode = if data.op == Op::FMul { Opcode::Mul } else { Opcode::Add };
                (opcode, of(0).or_else(|| of(1)))
            }
            _ => return false,
        };
        let Some(((source, ty, byte), second)) = found else { return false };
        let second = second.map(|value| self.float(value));
        let dst = self.define(data.results[0]).into();
        self.push(Inst::Piece { opcode, to: Ty::F, dst, ty, byte, source, second });
        true
    }

    /// A source in a type: floats have their signs and magnitudes taken where they are read.
    fn source_of(&self, value: Value, ty: Ty) -> Source {
        if ty == Ty::F { self.float(value) } else { self.source(value) }
    }

    /// One of two values by the flag, or its opposite. The second may be a number.
    fn select(&mut self, result: Value, inverse: bool, yes: Source, no: Source) {
        let (inverse, yes, no) = match (yes.src, no.src) {
            (Src::Bits(_), Src::Bits(_)) => (inverse, self.no_number(yes), no),
            (Src::Bits(_), _) => (!inverse, no, yes),
            _ => (inverse, yes, no),
        };
        let dst = self.define(result);
        self.push(Inst::Select { dst: dst.into(), inverse, yes, no });
    }

    /// The first operand where a comparison of both holds, else the second.
    fn choose(&mut self, data: &InstData, condition: Condition, ty: Ty) {
        let [yes, no] = [data.args[0], data.args[1]].map(|value| self.source(value));
        let compared = [data.args[0], data.args[1]].map(|value| self.source_of(value, ty));
        let test = self.test(condition, ty, compared);
        self.push(Inst::Compare(test));
        self.select(data.results[0], false, yes, no);
    }

    /// A quotient or remainder by extended math: of a division by 0 the numerator, or 0; where the quotient could overflow,
    /// which the manual says nothing of, the negative, or 0.
    fn divide(&mut self, data: &InstData) {
        let result = data.results[0];
        let remainder = matches!(data.op, Op::URem | Op::SRem);
        let signed = matches!(data.op, Op::SDiv | Op::SRem);
        let numerator = self.source(data.args[0]);
        let known = self.ssa.as_const(data.args[1]).map(|bits| bits as u32);
        let denominator = self.source(data.args[1]);
        let below = self.no_number(denominator);
        let mut dst = self.fresh();
        let ty = if signed { Ty::D } else { Ty::Ud };
        self.push(Inst::Divide {
            dst: dst.into(),
            remainder,
            signed,
            numerator,
            denominator: below,
        });
        let choose = |lower: &mut Self, test: Test, otherwise: Source, dst: VReg| {
            let chosen = lower.fresh();
            lower.push(Inst::Compare(test));
            let yes = Src::Reg(dst.into()).into();
            lower.push(Inst::Select { dst: chosen.into(), inverse: true, yes, no: otherwise });
            chosen
        };
        let is = |bits: u32| Test {
            condition: Condition::Equal,
            ty,
            first: below,
            second: Src::Bits(bits).into(),
            join: None,
        };
        if known.is_none_or(|bits| bits == 0) && !known::is_not_zero(self.ssa, data.args[1]) {
            let otherwise = if remainder { Src::Bits(0).into() } else { numerator };
            dst = choose(self, is(0), otherwise, dst);
        }
        let whole = known.is_none_or(|bits| bits == u32::MAX);
        if signed && whole && !known::is_not_ones(self.ssa, data.args[1]) {
            let otherwise = if remainder {
                Src::Bits(0).into()
            } else {
                let negative = self.fresh();
                let numerator = self.no_number(numerator);
                let sources = [Source { negate: !numerator.negate, ..numerator }];
                self.alu(Opcode::Mov, Ty::D, negative, &sources);
                Src::Reg(negative.into()).into()
            };
            dst = choose(self, is(u32::MAX), otherwise, dst);
        }
        self.values[result] = Some(super::Place::Reg(dst));
    }

    /// A float between 0 and 1; NaN, -0 and denormals are 0.
    fn saturate(&mut self, data: &InstData) {
        let (value, result) = (data.args[0], data.results[0]);
        if self.reads[value] == 1
            && let Some(reg) = self.source(value).src.as_vreg()
            && self.saturates(reg)
        {
            self.values[result] = Some(super::Place::Reg(reg));
            return;
        }
        let source = self.float(value);
        let source = self.no_number(source);
        let dst = self.define(result).into();
        // The sum with 0 is no -0.
        let sources = [source, Src::Bits(0).into()].into_iter().collect();
        let (opcode, saturate) = (Opcode::Add, true);
        self.push(Inst::Alu { opcode, to: Ty::F, dst, from: Ty::F, saturate, sources });
    }

    /// The sum near the end of the block that makes a register saturates what it makes; false where there is none whose
    /// second term keeps it from being -0, which a denormal would become.
    fn saturates(&mut self, reg: VReg) -> bool {
        let nodes = self.m.blocks[self.block].nodes.iter_mut().rev().take(NEAR);
        for node in nodes {
            if let Inst::Alu { opcode: Opcode::Add, to: Ty::F, dst, saturate, sources, .. } =
                &mut node.inst
                && let Some(Source { src: Src::Bits(bits), .. }) = sources.last()
                && f32::from_bits(*bits).abs() > LEAST
                && dst.as_virt() == Some(reg)
            {
                *saturate = true;
                return true;
            }
        }
        false
    }

    fn misplaced_index(&self) -> Failure {
        Failure::Internal { pass: "lower", message: "an `index` is left".into() }
    }

    fn math(&mut self, data: &InstData, function: Function) {
        // The message's own move takes signs and magnitudes (isa/gen4.md 1.8).
        let source = self.float(data.args[0]);
        let source = self.no_number(source);
        let dst = self.define(data.results[0]);
        self.push(Inst::Math { dst: dst.into(), function, source });
    }
}
