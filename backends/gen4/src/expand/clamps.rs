//! Clamps between 0 and a power of two: saturation is part of an instruction, and a scale by a power of two is exact. Numbers that
//! are flushed.

use super::uses::{Uses, uses};
use gpucc_ir::ssa::{Builder, Func, Op, Type, Value};

/// The other operand and the number of a minimum or maximum.
fn bound(func: &Func, value: Value, op: Op) -> Option<(Value, f32)> {
    let data = func.def(value).filter(|data| data.op == op)?;
    let number = |at: usize| Some(f32::from_bits(func.as_const(data.args[at])? as u32));
    match (number(0), number(1)) {
        (None, Some(bound)) => Some((data.args[0], bound)),
        (Some(bound), None) => Some((data.args[1], bound)),
        _ => None,
    }
}

/// What is brought between 0 and a power of two, which is not 1.
fn clamped(func: &Func, op: Op, value: Value) -> Option<(Value, f32)> {
    let (inner, first) = bound(func, value, op)?;
    let other = if op == Op::FMin { Op::FMax } else { Op::FMin };
    let (of, second) = bound(func, inner, other)?;
    let (most, least) = if op == Op::FMin { (first, second) } else { (second, first) };
    let power = most.to_bits() & 0x7f_ffff == 0 && (1e-6..=1e6).contains(&most) && most != 1.0;
    (least.to_bits() == 0 && power).then_some((of, most))
}

/// A value times the reciprocal of a bound: a sum with a number that nobody else reads is one still.
fn scaled(b: &mut Builder, of: Value, bound: f32, uses: &Uses) -> Value {
    let factor = b.f32(1.0 / bound);
    let sum = b.func.def(of).filter(|data| data.op == Op::FAdd && uses[of] == 1);
    let sum = sum.and_then(|data| {
        let number = f32::from_bits(b.func.as_const(data.args[1])? as u32);
        let fits = number != 0.0 && (1e-20..=1e20).contains(&number.abs());
        fits.then_some((data.args[0], number / bound))
    });
    match sum {
        Some((first, number)) => {
            let product = b.op2(Op::FMul, first, factor);
            let number = b.f32(number);
            b.op2(Op::FAdd, product, number)
        }
        None => b.op2(Op::FMul, of, factor),
    }
}

/// Rewrites such clamps whose inner half nobody else reads. Denormals become zeros by it, and who reads what depends on the rest of
/// the program: a position that is the same in every program keeps its clamps.
pub fn saturate(func: &mut Func) -> bool {
    if func.invariant {
        return false;
    }
    let regions = func.regions_in_order();
    let uses = uses(func);
    let mut changed = false;
    for (region, ..) in regions {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            let op = data.op;
            if matches!(op, Op::FMin | Op::FMax) && func.ty(data.results[0]) == Type::B32 {
                let inner = data.args.iter().find(|&&value| func.as_const(value).is_none());
                let alone = inner.is_some_and(|inner| uses[*inner] == 1);
                let found = clamped(func, op, data.results[0]).filter(|_| alone);
                if let Some((of, bound)) = found {
                    let mut b = Builder::at(func, region);
                    b.span = b.func.insts[inst].span;
                    let value = scaled(&mut b, of, bound, &uses);
                    let value = b.op1(Op::FSat, value);
                    let bound = b.f32(bound);
                    let data = &mut func.insts[inst];
                    data.op = Op::FMul;
                    (data.args[0], data.args[1]) = (value, bound);
                    changed = true;
                }
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// Makes zeros with their signs of denormal numbers that sums, products and comparisons read.
pub fn flush(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let flushes = matches!(
                func.insts[inst].op,
                Op::FAdd | Op::FSub | Op::FMul | Op::FLt | Op::FLe | Op::FEq | Op::FNe
            );
            for at in 0..if flushes { func.insts[inst].args.len() } else { 0 } {
                let value = func.insts[inst].args[at];
                let Some(bits) = func.as_const(value).map(|bits| bits as u32) else { continue };
                let denormal = bits & 0x7f80_0000 == 0 && bits & 0x7f_ffff != 0;
                if denormal && func.ty(value) == Type::B32 {
                    let zero = Builder::at(func, region).f32(0f32.copysign(f32::from_bits(bits)));
                    func.insts[inst].args[at] = zero;
                    changed = true;
                }
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::{flush, saturate};
    use gpucc_ir::ssa::{Op, parse};

    /// Whether a clamp of a value between 0 and a number becomes a saturation.
    fn saturates(least: f32, most: f32) -> bool {
        saturates_in("fragment", least, most)
    }

    fn saturates_in(stage: &str, least: f32, most: f32) -> bool {
        let text = format!(
            "func \"one\" {stage} {{
              in0 = \"v\" f32 x 4 location 0 flat center
              out0 = \"\" f32 x 4 location 0 perspective
            }} body {{
              %1: b32 = input in0.0
              %2: b32 = const {:#x}
              %3: b32 = fmax %1, %2
              %4: b32 = const {:#x}
              %5: b32 = fmin %3, %4
              output out0.0, %5
              yield
            }}",
            least.to_bits(),
            most.to_bits()
        );
        let module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut func = module.funcs.into_iter().next().expect("one function");
        let changed = saturate(&mut func);
        let insts = &func.regions[func.body].insts;
        assert_eq!(insts.iter().any(|&inst| func.insts[inst].op == Op::FSat), changed);
        changed
    }

    #[test]
    fn denormal_numbers_are_zeros() {
        let numbers = |bits: u32| {
            let mut func = gpucc_ir::ssa::Func::new("one", gpucc_ir::ssa::Stage::Compute);
            let mut b = gpucc_ir::ssa::Builder::at_body(&mut func);
            let (x, number) = (b.f32(3.0), b.f32(f32::from_bits(bits)));
            b.op2(Op::FMul, x, number);
            b.op2(Op::FMin, x, number);
            flush(&mut func);
            let of = |op| {
                let data = func.insts.values().find(|data| data.op == op).expect("it is there");
                func.as_const(data.args[1]).expect("a number") as u32
            };
            [of(Op::FMul), of(Op::FMin)]
        };
        assert_eq!(numbers(0x8000_1234), [0x8000_0000, 0x8000_1234]);
        assert_eq!(numbers(0x007f_ffff), [0, 0x007f_ffff]);
        assert_eq!(numbers(0x0080_0000), [0x0080_0000; 2]);
    }

    #[test]
    fn clamps_to_powers_of_two_are_saturations() {
        assert!(saturates(0.0, 0.5));
        assert!(saturates(0.0, 16.0));
        assert!(saturates_in("vertex", 0.0, 16.0));
        assert!(!saturates_in("vertex invariant", 0.0, 16.0), "the same in every program");
        assert!(!saturates(0.0, 0.75), "no power of two");
        assert!(!saturates(-1.0, 0.5));
        assert!(!saturates(0.0, 1.0), "that is one already");
    }
}
