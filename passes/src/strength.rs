//! Strength reduction of divisions and products by constants.
//!
//! Division and multiplication by constants become products, shifts and masks.
//!
//! Unsigned, of n bits: the quotient is the high half of a product with ceil(2^(n+s) / d), shifted (Granlund and
//! Montgomery 1994); when that factor needs n+1 bits, one addition replaces its top bit. Signed: the
//! same with a signed product and a correction for negative dividends. Powers of two need no product.
//! All exact, at 32 and at 64 bits.

use crate::{ctx::Ctx, rename::Renames};
use cranelift_entity::EntitySet;
use gpucc_ir::ssa::{Builder, Func, Inst, Op, Region, Type, Value};

/// Replaces what is cheaper otherwise.
pub fn run(func: &mut Func, ctx: &mut Ctx) -> bool {
    let mut renames = Renames::new();
    let mut changed = false;
    let tested = only_tested(func, ctx);
    for (region, ..) in func.regions_in_order() {
        let any = func.regions[region].insts.iter().any(|&inst| wanted(func, inst).is_some());
        if !any {
            continue;
        }
        let insts = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(insts.len() + 8);
        for inst in insts {
            ctx.steps += 1;
            match wanted(func, inst) {
                Some(constant) if ctx.draw() => {
                    let scratch = func.new_region();
                    let only = tested.contains(func.insts[inst].results[0]);
                    let value = replace(func, scratch, inst, constant, only);
                    out.append(&mut func.regions[scratch].insts);
                    renames.set(func.insts[inst].results[0], value);
                    changed = true;
                }
                _ => out.push(inst),
            }
        }
        func.regions[region].insts = out;
    }
    renames.apply(func);
    changed
}

/// Signed remainders that are only compared with 0.
fn only_tested(func: &Func, ctx: &mut Ctx) -> EntitySet<Value> {
    let mut tested = EntitySet::new();
    let order = func.regions_in_order();
    for &(region, ..) in &order {
        for &inst in &func.regions[region].insts {
            ctx.steps += 1;
            if func.insts[inst].op == Op::SRem {
                tested.insert(func.insts[inst].results[0]);
            }
        }
    }
    if tested.is_empty() {
        return tested;
    }
    for &(region, ..) in &order {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let compares = matches!(data.op, Op::IEq | Op::INe)
                && data.args.iter().any(|&arg| func.as_const(arg) == Some(0));
            if !compares {
                for &arg in &data.args {
                    tested.remove(arg);
                }
            }
        }
    }
    tested
}

/// The constant operand of an instruction that can be made cheaper.
fn wanted(func: &Func, inst: Inst) -> Option<u64> {
    let data = &func.insts[inst];
    let divides = matches!(data.op, Op::UDiv | Op::URem | Op::SDiv | Op::SRem);
    if !divides && data.op != Op::IMul {
        return None;
    }
    let ty = func.ty(data.args[0]);
    if !matches!(ty, Type::B32 | Type::B64) {
        return None;
    }
    let constant = func.as_const(data.args[1])?;
    let least = constant == 1 << (ty.bits() - 1);
    let negative = matches!(data.op, Op::SDiv | Op::SRem) && least;
    let useful = match data.op {
        Op::IMul => constant.is_power_of_two(),
        // Division by 0 and 1 is folding's.
        _ => constant > 1 && !negative,
    };
    useful.then_some(constant)
}

/// The number that these bits are with their sign.
fn with_sign(bits: u64, ty: Type) -> i64 {
    let unused = 64 - ty.bits();
    (bits << unused) as i64 >> unused
}

/// `tested`: the result is only compared with 0.
fn replace(func: &mut Func, scratch: Region, inst: Inst, constant: u64, tested: bool) -> Value {
    let data = func.insts[inst].clone();
    let mut b = Builder::at(func, scratch);
    b.span = data.span;
    b.bundle = data.bundle;
    let x = data.args[0];
    let ty = b.func.ty(x);
    match data.op {
        Op::IMul => {
            let by = b.u32(constant.trailing_zeros());
            b.op2(Op::Shl, x, by)
        }
        Op::UDiv => unsigned(&mut b, x, constant),
        Op::URem if constant.is_power_of_two() => {
            let mask = b.constant(ty, constant - 1);
            b.op2(Op::And, x, mask)
        }
        Op::URem => {
            let quotient = unsigned(&mut b, x, constant);
            remainder(&mut b, x, quotient, constant)
        }
        Op::SDiv => signed(&mut b, x, with_sign(constant, ty)),
        _ => {
            // The remainder does not depend on the divisor's sign.
            let size = with_sign(constant, ty).unsigned_abs();
            if size.is_power_of_two() {
                let mask = b.constant(ty, size - 1);
                if tested {
                    return b.op2(Op::And, x, mask);
                }
                let moved = biased(&mut b, x, size);
                let mask = b.constant(ty, !(size - 1));
                let multiple = b.op2(Op::And, moved, mask);
                return b.op2(Op::ISub, x, multiple);
            }
            let quotient = signed(&mut b, x, size as i64);
            remainder(&mut b, x, quotient, size)
        }
    }
}

fn remainder(b: &mut Builder, x: Value, quotient: Value, divisor: u64) -> Value {
    let product = match divisor.is_power_of_two() {
        true => {
            let by = b.u32(divisor.trailing_zeros());
            b.op2(Op::Shl, quotient, by)
        }
        false => {
            let ty = b.func.ty(x);
            let divisor = b.constant(ty, divisor);
            b.op2(Op::IMul, quotient, divisor)
        }
    };
    b.op2(Op::ISub, x, product)
}

fn shift(b: &mut Builder, op: Op, x: Value, by: u32) -> Value {
    if by == 0 {
        return x;
    }
    let by = b.u32(by);
    b.op2(op, x, by)
}

fn unsigned(b: &mut Builder, x: Value, divisor: u64) -> Value {
    if divisor.is_power_of_two() {
        return shift(b, Op::LShr, x, divisor.trailing_zeros());
    }
    let ty = b.func.ty(x);
    let width = ty.bits();
    // An even divisor with a factor that does not fit: shift first, then it does.
    let (factor, by) = unsigned_factor(divisor, width, width);
    if factor >> width == 0 {
        let factor = b.constant(ty, factor as u64);
        let high = b.op2(Op::UMulHi, x, factor);
        return shift(b, Op::LShr, high, by);
    }
    let even = divisor.trailing_zeros();
    if even > 0 {
        let (factor, by) = unsigned_factor(divisor >> even, width, width - even);
        let x = shift(b, Op::LShr, x, even);
        let factor = b.constant(ty, factor as u64);
        let high = b.op2(Op::UMulHi, x, factor);
        return shift(b, Op::LShr, high, by);
    }
    let factor = b.constant(ty, factor as u64);
    let high = b.op2(Op::UMulHi, x, factor);
    let rest = b.op2(Op::ISub, x, high);
    let half = shift(b, Op::LShr, rest, 1);
    let sum = b.op2(Op::IAdd, half, high);
    shift(b, Op::LShr, sum, by - 1)
}

/// The least factor and shift with floor(x * factor / 2^(width + shift)) = x / d for all x below
/// 2^bits. The factor may have one bit more than the width only where `bits` is the width.
fn unsigned_factor(divisor: u64, width: u32, bits: u32) -> (u128, u32) {
    let d = u128::from(divisor);
    for by in 0..width {
        let power = 1u128 << (width + by);
        let factor = power.div_ceil(d);
        // The error over one step, times 2^bits steps, must stay below one unit.
        if (factor * d - power) << bits <= power {
            return (factor, by);
        }
    }
    // The next power may be 2^128, of which the divisor, no power of two, is no part.
    let below = u128::MAX >> (128 - 2 * width);
    (below / d + 1, width)
}

/// Negative dividends are moved up so that a shift by the power of two rounds toward zero.
fn biased(b: &mut Builder, x: Value, size: u64) -> Value {
    let ty = b.func.ty(x);
    let (zero, bias) = (b.constant(ty, 0), b.constant(ty, size - 1));
    let moved = b.op2(Op::IAdd, x, bias);
    let negative = b.op2(Op::SLt, x, zero);
    b.select(negative, moved, x)
}

fn signed(b: &mut Builder, x: Value, divisor: i64) -> Value {
    let ty = b.func.ty(x);
    let width = ty.bits();
    let size = divisor.unsigned_abs();
    let quotient = if size == 1 {
        x
    } else if size.is_power_of_two() {
        let moved = biased(b, x, size);
        shift(b, Op::AShr, moved, size.trailing_zeros())
    } else {
        let (factor, by) = signed_factor(size, width);
        let constant = b.constant(ty, factor);
        let high = b.op2(Op::SMulHi, x, constant);
        // A factor with the highest bit is read as negative: that much is put back.
        let high = match with_sign(factor, ty) < 0 {
            true => b.op2(Op::IAdd, high, x),
            false => high,
        };
        let floor = shift(b, Op::AShr, high, by);
        let negative = shift(b, Op::LShr, x, width - 1);
        b.op2(Op::IAdd, floor, negative)
    };
    match divisor < 0 {
        true => b.op1(Op::INeg, quotient),
        false => quotient,
    }
}

/// The least factor (below 2^width) and shift for |x| <= 2^(width - 1).
fn signed_factor(size: u64, width: u32) -> (u64, u32) {
    let d = u128::from(size);
    for by in 0..width - 1 {
        let power = 1u128 << (width + by);
        let factor = power.div_ceil(d);
        if (factor * d - power) << (width - 1) <= power && factor >> width == 0 {
            // Strictly more than 2^(width + by) / d, so that negative dividends floor one lower.
            let factor = if factor * d == power { factor + 1 } else { factor };
            return (factor as u64, by);
        }
    }
    unreachable!("a factor of the width exists for every divisor below half of its range")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Neutral, Options};
    use gpucc_ir::ssa::random::Rng;
    use gpucc_ir::ssa::{
        Builtin, Imm, InputData, InputKind, Numerics, Scalar, Stage, eval, eval_inst,
    };

    fn check(op: Op, ty: Type, constant: u64, operands: &[u64]) {
        let mut func = Func::new("one", Stage::Compute);
        let input = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::LocalInvocationIndex),
            components: 1,
            scalar: Scalar::U32,
            name: "x".into(),
        });
        let mut b = Builder::at_body(&mut func);
        let word = b.input(input, 0);
        // Whatever gives the width: its value is put in its place below.
        let x = b.convert(Op::UConvert, ty, word);
        let divisor = b.constant(ty, constant);
        let result = b.op2(op, x, divisor);
        let keep = b.constant(ty, 0);
        let last = b.op2(Op::Xor, result, keep);
        b.end(Op::Yield, &[]);
        let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
        assert!(run(&mut func, &mut ctx), "{op:?} {constant}");
        for &operand in operands {
            let mut values = vec![0u64; func.values.len()];
            values[x.as_u32() as usize] = operand;
            for &inst in &func.regions[func.body].insts {
                let data = &func.insts[inst];
                assert!(!matches!(data.op, Op::UDiv | Op::URem | Op::SDiv | Op::SRem));
                let given = matches!(data.imm, Imm::Input(..)) || data.op == Op::UConvert;
                if data.results.is_empty() || given {
                    continue;
                }
                let args: Vec<u64> =
                    data.args.iter().map(|arg| values[arg.as_u32() as usize]).collect();
                let value = eval_inst(&func, data, &args, &Numerics::REFERENCE).expect("computes");
                values[data.results[0].as_u32() as usize] = value;
            }
            let bits = [operand, constant];
            let expected = eval(op, ty, ty, &bits, &Numerics::REFERENCE);
            let actual = values[last.as_u32() as usize];
            assert_eq!(Some(actual), expected, "{operand:#x} {op:?} {constant:#x}");
        }
    }

    fn any_constant(ty: Type, constants: usize) {
        let mut rng = Rng::new(1);
        let (width, mask) = (ty.bits(), ty.mask());
        let least = 1u64 << (width - 1);
        let mut all: Vec<u64> = (2..200).collect();
        for bit in 8..width {
            all.extend([1 << bit, (1 << bit) - 1, (1u64 << bit).wrapping_add(1)]);
        }
        all.extend((2..100u64).map(|d| d.wrapping_neg() & mask));
        all.extend((0..constants).map(|_| (rng.bits() & mask) >> rng.below(width as usize - 8)));
        all.retain(|&c| c > 1);
        for constant in all {
            let mut operands = vec![0, 1, least - 1, least, least + 1, mask];
            for multiple in 0..20u32 {
                let near = constant.wrapping_mul((rng.bits() & mask) >> multiple);
                operands.extend([near, near.wrapping_sub(1), near.wrapping_add(1)]);
                let largest = mask / constant * constant;
                operands.extend([largest, largest - 1, largest.wrapping_add(multiple.into())]);
                operands.push(rng.bits());
            }
            operands.iter_mut().for_each(|x| *x &= mask);
            for op in [Op::UDiv, Op::URem] {
                check(op, ty, constant, &operands);
            }
            if constant != least {
                for op in [Op::SDiv, Op::SRem] {
                    check(op, ty, constant, &operands);
                }
            }
            if constant.is_power_of_two() {
                check(Op::IMul, ty, constant, &operands);
            }
        }
    }

    #[test]
    fn division_by_any_constant_is_exact() {
        any_constant(Type::B32, 300);
    }

    #[test]
    fn division_of_64_bits_by_any_constant_is_exact() {
        any_constant(Type::B64, 600);
    }

    #[test]
    fn a_remainder_that_is_only_tested_is_a_mask() {
        for (tests_only, masks) in [(true, true), (false, false)] {
            let mut func = Func::new("parity", Stage::Compute);
            let input = func.inputs.push(InputData {
                kind: InputKind::Builtin(Builtin::LocalInvocationIndex),
                components: 1,
                scalar: Scalar::I32,
                name: String::new(),
            });
            let mut b = Builder::at_body(&mut func);
            let x = b.input(input, 0);
            let (eight, zero) = (b.u32(8), b.u32(0));
            let rest = b.op2(Op::SRem, x, eight);
            b.op2(Op::INe, zero, rest);
            if !tests_only {
                b.op2(Op::IAdd, rest, x);
            }
            b.end(Op::Yield, &[]);
            let mut ctx = Ctx::new(Options::default(), Numerics::REFERENCE, &Neutral);
            assert!(run(&mut func, &mut ctx));
            let test = func.insts.values().find(|data| data.op == Op::INe);
            let made = func.def(test.expect("still there").args[1]).expect("computed");
            assert_eq!(made.op == Op::And, masks);
        }
    }
}
