//! Conversions become those that the machine has: between integers of 32 bits and f32, between f16 and
//! f32, and between widths of integers.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builder, Func, Imm, Inst, InstData, Op, Type, Value};
use gpucc_passes::float_range;
use smallvec::SmallVec;

/// Rewrites every conversion of other types. The last step of each takes the place of the instruction,
/// so that no use has to change.
pub(super) fn run(func: &mut Func) -> bool {
    let mut changed = compare_unconverted(func);
    for (region, ..) in func.regions_in_order() {
        let any = func.regions[region].insts.iter().any(|&inst| is_conversion(func.insts[inst].op));
        if !any {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if is_conversion(func.insts[inst].op) {
                let data = &func.insts[inst];
                let (span, bundle) = (data.span, data.bundle);
                let mut b = Builder::at(func, region);
                b.span = span;
                b.bundle = bundle;
                conversion(&mut b, inst);
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// Integers up to which every number of a float's next neighbours is one.
const EXACT: i32 = 1 << 23;

/// A float and the comparison that says of it what another says of the integer that it would be converted
/// to: both saturate, so numbers out of range compare alike.
struct Unconverted {
    integer: Value,
    op: Op,
    float: Value,
    rounds: bool,
    bound: i32,
    /// The bound is the first operand.
    swapped: bool,
}

/// For a signed conversion against a constant.
fn unconverted(func: &Func, data: &InstData) -> Option<Unconverted> {
    if !matches!(data.op, Op::IEq | Op::INe | Op::SLt | Op::SLe) {
        return None;
    }
    let of = |value: Value| {
        let def = func.def(value).filter(|def| def.op == Op::FToS)?;
        let float = def.args[0];
        (func.ty(float) == Type::B32 && func.ty(value) == Type::B32).then_some(float)
    };
    let (float, constant, swapped) = match (of(data.args[0]), of(data.args[1])) {
        (Some(float), None) => (float, data.args[1], false),
        (None, Some(float)) => (float, data.args[0], true),
        _ => return None,
    };
    let c = func.as_const(constant)? as u32 as i32;
    if !(-EXACT..EXACT).contains(&c) {
        return None;
    }
    // What is cut off toward zero is at most `c` where the number is below the next integer, and so on.
    let (op, bound) = match (data.op, swapped) {
        (Op::IEq, _) => (Op::FEq, c),
        (Op::INe, _) => (Op::FNe, c),
        (Op::SLt, false) if c > 0 => (Op::FLt, c),
        (Op::SLt, false) => (Op::FLe, c - 1),
        (Op::SLe, false) if c >= 0 => (Op::FLt, c + 1),
        (Op::SLe, false) => (Op::FLe, c),
        (Op::SLt, true) if c >= 0 => (Op::FLe, c + 1),
        (Op::SLt, true) => (Op::FLt, c),
        (_, true) if c > 0 => (Op::FLe, c),
        (_, true) => (Op::FLt, c - 1),
        _ => return None,
    };
    Some(Unconverted {
        integer: data.args[usize::from(swapped)],
        op,
        float,
        rounds: matches!(data.op, Op::IEq | Op::INe),
        bound,
        swapped,
    })
}

/// Floats that are converted to integers only to be compared with constants are compared as they are.
fn compare_unconverted(func: &mut Func) -> bool {
    // Conversions that something else needs.
    let mut kept: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut any = false;
    let regions = func.regions_in_order();
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            if unconverted(func, data).is_some() {
                any = true;
            } else {
                for &arg in &data.args {
                    kept[arg] = true;
                }
            }
        }
    }
    if !any {
        return false;
    }
    for &(region, ..) in &regions {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            if let Some(new) = unconverted(func, data)
                && !kept[new.integer]
            {
                let (span, bundle) = (data.span, data.bundle);
                let mut b = Builder::at(func, region);
                b.span = span;
                b.bundle = bundle;
                let float = match new.rounds {
                    true => b.op1(Op::FTrunc, new.float),
                    false => new.float,
                };
                let bound = b.f32(new.bound as f32);
                let args = match new.swapped && !new.rounds {
                    true => [bound, float],
                    false => [float, bound],
                };
                become_op(&mut b, inst, new.op, &args);
            }
            func.regions[region].insts.push(inst);
        }
    }
    true
}

fn is_conversion(op: Op) -> bool {
    matches!(op, Op::FToS | Op::FToU | Op::SToF | Op::UToF | Op::UConvert | Op::SConvert)
}

/// The instruction becomes `op` of `args`.
fn become_op(b: &mut Builder, inst: Inst, op: Op, args: &[Value]) {
    let data = &mut b.func.insts[inst];
    data.op = op;
    data.args = SmallVec::from_slice(args);
    data.imm = Imm::None;
}

fn conversion(b: &mut Builder, inst: Inst) {
    let data = &b.func.insts[inst];
    let (op, value) = (data.op, data.args[0]);
    let (from, to) = (b.func.ty(value), b.func.ty(data.results[0]));
    match op {
        // The shared expansions have those with integers of 64 bits.
        Op::FToS | Op::FToU if to == Type::B64 => {}
        Op::SToF | Op::UToF if from == Type::B64 => {}
        Op::FToS | Op::FToU => {
            let value = clamped(b, op, value, from, to);
            let value = match from {
                Type::B16 => b.convert(Op::FConvert, Type::B32, value),
                _ => value,
            };
            match to {
                Type::B16 => {
                    let integer = b.convert(op, Type::B32, value);
                    become_op(b, inst, Op::UConvert, &[integer]);
                }
                _ => become_op(b, inst, op, &[value]),
            }
        }
        Op::SToF | Op::UToF => {
            let signed = op == Op::SToF;
            let value = match from {
                Type::B16 => b.convert(extension(signed), Type::B32, value),
                _ => value,
            };
            match to {
                // Every integer that f16 can hold is exact in f32, so nothing is rounded twice.
                Type::B16 => {
                    let float = b.convert(op, Type::B32, value);
                    become_op(b, inst, Op::FConvert, &[float]);
                }
                _ => become_op(b, inst, op, &[value]),
            }
        }
        Op::UConvert | Op::SConvert => match (from, to) {
            (Type::B64, Type::B64) | (_, Type::B1) => {}
            (Type::B64, Type::B32) => become_op(b, inst, Op::Lo64, &[value]),
            (Type::B64, Type::B16) => {
                let low = b.op1(Op::Lo64, value);
                become_op(b, inst, Op::UConvert, &[low]);
            }
            (_, Type::B64) => {
                let low = match from {
                    Type::B32 => value,
                    _ => b.convert(op, Type::B32, value),
                };
                let high = match op {
                    Op::UConvert => b.u32(0),
                    _ => {
                        let by = b.u32(31);
                        b.op2(Op::AShr, low, by)
                    }
                };
                become_op(b, inst, Op::Join64, &[low, high]);
            }
            _ => {}
        },
        _ => {}
    }
}

/// How 16 bits become 32.
fn extension(signed: bool) -> Op {
    if signed { Op::SConvert } else { Op::UConvert }
}

/// Operations back that ranges are sought.
const DEPTH: u32 = 8;

/// Float to integer: what the instruction does out of range and with NaN is documented nowhere, so the
/// operand is brought within what float type and integer type both hold (isa/valhall_rogue.md 4.5).
fn clamped(b: &mut Builder, op: Op, value: Value, from: Type, to: Type) -> Value {
    let (low, high) = gpucc_ir::ssa::eval::integer_range(from, to, op == Op::FToS);
    let bound = |b: &mut Builder, bound: f64| match from {
        Type::B16 => {
            let bits = gpucc_ir::ssa::numerics::f64_to_f16(bound);
            b.constant(Type::B16, bits.into())
        }
        _ => b.f32(bound as f32),
    };
    let known = match from {
        Type::B32 => float_range::bounds(b.func, value, DEPTH),
        _ => None,
    };
    let (least, most) = known.unwrap_or(float_range::UNKNOWN);
    match (f64::from(least) >= low, f64::from(most) <= high) {
        (true, true) => return value,
        (true, false) => {
            let high = bound(b, high);
            return b.op2(Op::FMin, value, high);
        }
        (false, true) => {
            let low = bound(b, low);
            return b.op2(Op::FMax, value, low);
        }
        (false, false) => {}
    }
    let (low_value, high_value) = (bound(b, low), bound(b, high));
    // Unsigned: with the lower bound last it is a clamp modifier of the minimum.
    if low == 0.0 {
        let below = b.op2(Op::FMin, value, high_value);
        b.op2(Op::FMax, below, low_value)
    } else {
        let above = b.op2(Op::FMax, value, low_value);
        b.op2(Op::FMin, above, high_value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Stage, verify};

    /// A number that nobody knows.
    fn unknown(b: &mut Builder<'_>) -> Value {
        let word = b.u32(7);
        b.op2(Op::IAdd, word, word)
    }

    #[test]
    fn what_is_converted_only_to_be_compared_with_a_constant_is_compared_as_it_is() {
        let below = |x: f32| [x, x.next_down(), x.next_up()];
        for c in [-2i32, -1, 0, 1, 2] {
            for op in [Op::IEq, Op::INe, Op::SLt, Op::SLe] {
                for swapped in [false, true] {
                    let mut func = Func::new("compare", Stage::Compute);
                    let mut b = Builder::at_body(&mut func);
                    let x = unknown(&mut b);
                    let integer = b.convert(Op::FToS, Type::B32, x);
                    let constant = b.u32(c as u32);
                    let value = match swapped {
                        true => b.op2(op, constant, integer),
                        false => b.op2(op, integer, constant),
                    };
                    let Some(new) = unconverted(&func, func.def(value).expect("a comparison"))
                    else {
                        panic!("{op:?} {c} is one");
                    };
                    let numbers = (-4..=4).flat_map(|n| below(n as f32)).chain([-0.5, 0.5, 1.5]);
                    for x in numbers {
                        let (i, f) = (x as i32, if new.rounds { x.trunc() } else { x });
                        let (a, b) = if swapped { (c, i) } else { (i, c) };
                        let expected = match op {
                            Op::IEq => a == b,
                            Op::INe => a != b,
                            Op::SLt => a < b,
                            _ => a <= b,
                        };
                        let bound = new.bound as f32;
                        let (a, b) = if swapped { (bound, f) } else { (f, bound) };
                        let found = match new.op {
                            Op::FEq => a == b,
                            Op::FNe => a != b,
                            Op::FLt => a < b,
                            _ => a <= b,
                        };
                        assert_eq!(found, expected, "{op:?} {x} {c} swapped {swapped}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_known_to_be_in_range_are_not_clamped() {
        let mut func = Func::new("range", Stage::Compute);
        let mut b = Builder::at_body(&mut func);
        let word = unknown(&mut b);
        let whole = b.convert(Op::UToF, Type::B32, word);
        let half = b.f32(0.25);
        let small = b.op2(Op::FMul, whole, half);
        b.convert(Op::FToS, Type::B32, small);
        b.convert(Op::FToS, Type::B32, word);
        b.end(Op::Yield, &[]);
        run(&mut func);
        verify(&func).expect("sound");
        let clamps = func.regions[func.body].insts.iter();
        let clamps = clamps.filter(|&&inst| matches!(func.insts[inst].op, Op::FMin | Op::FMax));
        assert_eq!(clamps.count(), 2, "those of the other conversion");
    }
}
