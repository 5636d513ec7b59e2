//! Rewrites what R700 lacks into what it has, SSA to SSA, under the published numerics.

pub mod coverage;
mod double;
pub mod native;
mod texture;

use crate::api::Effort;
use gpucc_ir::ssa::{
    Builder, Builtin, Func, Imm, InputData, InputKind, Inst, Op, Region, Scalar, Type, Value,
};
use gpucc_passes::float_range::{self, UNKNOWN, bounds};
use gpucc_passes::runner::{FREEDOMS, optional, required, sequence};
use gpucc_passes::{Pass, Plan, Proof};

/// Passes of this machine alone.
const OWN: &[Pass] = &[
    required(
        "clamp_conversions",
        Proof::Licence("WGSL, floating point conversion: what a NaN converts to is not defined"),
        "floats are in range before they become integers",
        |func, _| clamp_conversions(func),
    ),
    required(
        "sample_mask",
        Proof::Licence("WebGPU, sample masking: a mask has a bit for each sample"),
        "pixels whose mask lacks the one sample are killed",
        |func, ctx| coverage::kill(func, ctx.pipeline),
    ),
    required(
        "fine_derivatives",
        Proof::Licence(
            "WGSL, derivative built-in functions: a coarse derivative may be a fine one",
        ),
        "derivatives are those of GET_GRADIENTS",
        |func, _| refine_derivatives(func),
    ),
    gpucc_passes::expand::arrays::PASS,
    gpucc_passes::expand::image::PASS,
    required(
        "texture_forms",
        Proof::Expansion,
        "texture instructions take the forms that the machine has",
        |func, _| texture::expand(func),
    ),
    required(
        "expand",
        Proof::Expansion,
        "operations that the machine lacks become others",
        |func, ctx| {
            // The plan guards once more what becomes of exits behind this.
            ctx.unguard();
            sample_positions(func);
            gpucc_passes::expand::expand(func, &native::Machine, &ctx.numerics)
        },
    ),
    float_range::DECIDE,
    optional(
        "invert_choices",
        Proof::Licence("WGSL, differences from IEEE-754: no NaN"),
        "`a < b ? 0 : 1` is one SETGE",
        |func, _| invert_choices(func),
    ),
    optional(
        "fractions",
        Proof::Licence("WGSL, differences from IEEE-754: no NaN"),
        "`x - floor(x)` is one FRACT",
        |func, ctx| fractions(func, ctx.numerics.fract_below_one),
    ),
    optional(
        "rebalance",
        Proof::Licence("WGSL, reassociation and fusion: sums and products may be regrouped"),
        "chains of one operation become trees",
        |func, _| {
            // What is late depends on the rest of the program.
            !func.invariant && crate::rebalance::run(func)
        },
    ),
    optional(
        "sink_exits",
        Proof::Exact,
        "exits near the end of a loop stand at its end, so that fewer clauses stand between",
        gpucc_passes::join_exits::sink,
    ),
    optional(
        "ahead",
        Proof::Exact,
        "what stands behind an `if` fills slots that a chain before it leaves empty",
        |func, _| crate::ahead::run(func),
    ),
];

/// Where a sample lies in its pixel is the fraction of the position, which is the sample's where the program runs once a
/// sample. Register guide, SPI_PS_IN_CONTROL_0: POSITION_SAMPLE.
fn sample_positions(func: &mut Func) {
    let of = |func: &Func, builtin| {
        let kind = InputKind::Builtin(builtin);
        func.inputs.iter().find(|(_, data)| data.kind == kind).map(|(input, _)| input)
    };
    let Some(sample) = of(func, Builtin::SamplePosition) else {
        return;
    };
    let position = of(func, Builtin::Position).unwrap_or_else(|| {
        func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::Position),
            components: 4,
            scalar: Scalar::F32,
            name: "position".to_owned(),
        })
    });
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if let Imm::Input(input, component) = func.insts[inst].imm
                && input == sample
            {
                let place = Builder::at(func, region).input(position, component);
                let data = &mut func.insts[inst];
                (data.op, data.imm) = (Op::FFract, Imm::None);
                data.args.push(place);
            }
            func.regions[region].insts.push(inst);
        }
    }
}

/// What makes the reference for the bytes of SSA after the shared passes: every operation becomes a native one, and
/// the source language's freedoms are used up.
pub fn plan(effort: Effort) -> Plan {
    let mut steps = const {
        sequence([
            "sample_mask",
            "clamp_conversions",
            "fine_derivatives",
            "binding_arrays",
            "storage_images",
            "texture_forms",
            "expand",
        ])
    }
    .to_vec();
    if effort > Effort::None {
        steps.extend(FREEDOMS);
        steps.extend(
            const {
                sequence([
                    "exits_to_guards",
                    "if_convert",
                    "relaxed_fold",
                    "invert_choices",
                    "fractions",
                    "dce",
                    "rebalance",
                    "gvn",
                    "dce",
                    "sink_exits",
                    "ahead",
                ])
            },
        );
    }
    Plan { steps, own: OWN }
}

/// `a < b ? 0 : 1` becomes `b <= a ? 1 : 0`, which SETGE gives itself; no operand is a NaN
/// (WGSL, differences from IEEE-754).
fn invert_choices(func: &mut Func) -> bool {
    let mut changed = false;
    let bits = |func: &Func, value| func.as_const(value).map(|bits| bits as u32);
    for (region, ..) in func.regions_in_order() {
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            let data = &func.insts[inst];
            if data.op == Op::Select
                && bits(func, data.args[1]) == Some(0)
                && bits(func, data.args[2]) == Some(0x3f80_0000)
                && let Some(test) = func.def(data.args[0])
                && let Some(op) = match test.op {
                    Op::FLt => Some(Op::FLe),
                    Op::FLe => Some(Op::FLt),
                    _ => None,
                }
            {
                let (a, b, span) = (test.args[0], test.args[1], data.span);
                let mut builder = Builder::at(func, region);
                builder.span = span;
                let test = builder.op2(op, b, a);
                let data = &mut func.insts[inst];
                data.args[0] = test;
                data.args.swap(1, 2);
                changed = true;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// `x - floor(x)` becomes a fraction, which is defined as just that unless it is kept `below_one`.
fn fractions(func: &mut Func, below_one: bool) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        for index in 0..func.regions[region].insts.len() {
            let inst = func.regions[region].insts[index];
            let data = &func.insts[inst];
            if data.op == Op::FSub
                && func.ty(data.args[0]) == Type::B32
                && let Some(whole) = func.def(data.args[1])
                && whole.op == Op::FFloor
                && whole.args[0] == data.args[0]
                && !below_one
            {
                let data = &mut func.insts[inst];
                data.op = Op::FFract;
                data.args.truncate(1);
                changed = true;
            }
        }
    }
    changed
}

/// Coarse derivatives become plain ones: GET_GRADIENTS differs a pixel's own row or column, and a
/// coarse derivative may be that fine. Said here, the interpreter and the machine mean the same
/// rows, and equal derivatives of both names are computed once.
fn refine_derivatives(func: &mut Func) -> bool {
    let mut changed = false;
    for data in func.insts.values_mut() {
        data.op = match data.op {
            Op::DdxCoarse | Op::DdxFine => Op::Ddx,
            Op::DdyCoarse | Op::DdyFine => Op::Ddy,
            _ => continue,
        };
        changed = true;
    }
    changed
}

/// The largest f32 that converts to a signed and to an unsigned integer, and the smallest.
const SIGNED: (f32, f32) = (-2_147_483_648.0, 2_147_483_520.0);
const UNSIGNED: (f32, f32) = (0.0, 4_294_967_040.0);

/// A conversion gives another value where its operand is out of range: what it makes of it is thrown
/// away.
fn choose(func: &mut Func, region: Region, inst: Inst, inside: Value, outside: Value) {
    let result = func.insts[inst].results[0];
    let converted = func.insts[inst].clone();
    let converted = func.new_inst(converted, &[Type::B32]);
    func.regions[region].insts.push(converted);
    let converted = func.insts[converted].results[0];
    let data = &mut func.insts[inst];
    data.op = Op::Select;
    data.args = [inside, converted, outside].as_slice().into();
    data.results = [result].as_slice().into();
    func.regions[region].insts.push(inst);
}

fn clamp_conversions(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let list = &func.regions[region].insts;
        if !list.iter().any(|&inst| matches!(func.insts[inst].op, Op::FToS | Op::FToU)) {
            continue;
        }
        changed = true;
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            let (low, high) = match func.insts[inst].op {
                Op::FToS => SIGNED,
                Op::FToU => UNSIGNED,
                _ => {
                    func.regions[region].insts.push(inst);
                    continue;
                }
            };
            let signed = func.insts[inst].op == Op::FToS;
            let (value, span) = (func.insts[inst].args[0], func.insts[inst].span);
            if func.ty(value) == Type::B32 {
                let (least, most) = bounds(func, value, 8).unwrap_or(UNKNOWN);
                let mut b = Builder::at(func, region);
                b.span = span;
                let mut clamped = value;
                if least < low && most > high && signed {
                    // The conversion goes on beside the test: what it makes of numbers out of
                    // range is thrown away.
                    let size = b.op1(Op::FAbs, value);
                    let limit = b.f32(float_range::BEYOND_SIGNED);
                    let inside = b.op2(Op::FLt, size, limit);
                    let zero = b.f32(0.0);
                    let positive = b.op2(Op::FLe, zero, value);
                    let (top, bottom) = (b.u32(high as i32 as u32), b.u32(1 << 31));
                    let outside = b.select(positive, top, bottom);
                    choose(func, region, inst, inside, outside);
                    continue;
                }
                if least < low && most > high {
                    // The bits of numbers in range are less, as integers, than those of the first
                    // number behind it; negative numbers and NaNs have greater ones.
                    let limit = b.f32(4_294_967_296.0);
                    let inside = b.op2(Op::ULt, value, limit);
                    let zero = b.f32(0.0);
                    let positive = b.op2(Op::FLt, zero, value);
                    let (top, bottom) = (b.u32(high as u32), b.u32(0));
                    let outside = b.select(positive, top, bottom);
                    choose(func, region, inst, inside, outside);
                    continue;
                }
                if least < low {
                    let low = b.f32(low);
                    clamped = b.op2(Op::FMax, clamped, low);
                }
                if most > high {
                    let high = b.f32(high);
                    clamped = b.op2(Op::FMin, clamped, high);
                }
                func.insts[inst].args[0] = clamped;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::Stage;

    #[test]
    fn a_number_less_its_floor_is_its_fraction() {
        let mut func = Func::new("fraction", Stage::Fragment);
        let mut b = Builder::at_body(&mut func);
        let (x, y) = (b.f32(1.5), b.f32(2.5));
        let floor = b.op1(Op::FFloor, x);
        let own = b.op2(Op::FSub, x, floor);
        let other = b.op2(Op::FSub, y, floor);
        assert!(fractions(&mut func, false));
        let of = |value: Value| func.def(value).map(|data| data.op);
        assert_eq!((of(own), of(other)), (Some(Op::FFract), Some(Op::FSub)));
        assert!(!fractions(&mut func, false));
    }

    #[test]
    fn every_derivative_becomes_the_one_that_get_gradients_computes() {
        let mut func = Func::new("derivatives", Stage::Fragment);
        let mut b = Builder::at_body(&mut func);
        let value = b.f32(1.0);
        for op in [Op::DdxCoarse, Op::DdyCoarse, Op::DdxFine, Op::DdyFine] {
            b.op1(op, value);
        }
        refine_derivatives(&mut func);
        let ops: Vec<Op> =
            func.insts.values().map(|data| data.op).filter(|&op| op != Op::Const).collect();
        assert_eq!(ops, [Op::Ddx, Op::Ddy, Op::Ddx, Op::Ddy]);
    }
}
