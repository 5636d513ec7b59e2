//! Conversions become those that the machine has: between integers of 32 bits and f32, between f16 and
//! f32, and between widths of integers.

use super::wide;
use gpucc_ir::ssa::{Builder, Func, Imm, Inst, Op, Type, Value};
use smallvec::SmallVec;

/// Rewrites every conversion of other types. The last step of each takes the place of the instruction,
/// so that no use has to change.
pub(super) fn run(func: &mut Func) {
    for (region, ..) in func.regions_in_order() {
        let any = func.regions[region]
            .insts
            .iter()
            .any(|&inst| is_conversion(func.insts[inst].op));
        if !any {
            continue;
        }
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
}

fn is_conversion(op: Op) -> bool {
    matches!(
        op,
        Op::FToS | Op::FToU | Op::SToF | Op::UToF | Op::UConvert | Op::SConvert
    )
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
        Op::FToS | Op::FToU if from != Type::B64 => {
            let value = clamped(b, op, value, from, to);
            let value = match from {
                Type::B16 => b.convert(Op::FConvert, Type::B32, value),
                _ => value,
            };
            match to {
                Type::B1 | Type::B32 => become_op(b, inst, op, &[value]),
                Type::B16 => {
                    let integer = b.convert(op, Type::B32, value);
                    become_op(b, inst, Op::UConvert, &[integer]);
                }
                Type::B64 => {
                    let words = wide::from_f32(b, op == Op::FToS, value);
                    become_op(b, inst, Op::Join64, &words);
                }
            }
        }
        Op::SToF | Op::UToF => {
            let signed = op == Op::SToF;
            let value = match from {
                Type::B16 => b.convert(extension(signed), Type::B32, value),
                _ => value,
            };
            match (from, to) {
                (Type::B64, Type::B32) => wide::to_f32(b, signed, value, inst),
                (Type::B64, Type::B16) => {
                    let float = wide::to_f32_value(b, signed, value);
                    become_op(b, inst, Op::FConvert, &[float]);
                }
                // Every integer that f16 can hold is exact in f32, so nothing is rounded twice.
                (_, Type::B16) => {
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
