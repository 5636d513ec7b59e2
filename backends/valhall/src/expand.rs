//! Rewrites what Valhall lacks into what it has, SSA to SSA, under the published numerics: the result is
//! the reference for the bits.
//!
//! Integers of 16 bits are computed in 32 (widening is free in most sources), those of 64 bits partly in
//! halves (`gpucc_passes::expand`). Functions of f16 that only exist for f32 go through f32 and are rounded once more, far inside
//! WGSL's bounds for f16.

mod absolute;
mod convert;
mod handles;
mod integer;
mod native;
mod private;
mod stream;
mod sums;
mod tables;
mod texture;
mod uniforms;
mod vertex;

use crate::api::{Effort, Options, Uniforms};
use gpucc_ir::ssa::{Builder, InstData, Op, Type, Value};
use gpucc_passes::expand::{Native, OwnRecipe};
use gpucc_passes::runner::{FREEDOMS, cleans, optional, required, step};
use gpucc_passes::{Pass, Plan, Proof};
pub use native::is_native;
pub(crate) use native::{Extras, extras};
pub(crate) use texture::elements;

/// What the shared expansions ask, with the machine's own recipes.
struct Machine;

impl Native for Machine {
    fn native(&self, op: Op, ty: Type) -> bool {
        is_native(op, ty)
    }
    fn recipe(&self, op: Op, ty: Type) -> Option<OwnRecipe> {
        native::recipe(op, ty)
    }
}

/// Passes of this machine alone.
const OWN: &[Pass] = &[
    optional(
        "unload",
        Proof::Exact,
        "arrays become selects where uniforms are pushed, for programs without memory accesses",
        |func, ctx| {
            ctx.on(&crate::target::Unloaded, |ctx| gpucc_passes::scalar_replace::run(func, ctx))
        },
    ),
    required(
        "stream_outputs",
        Proof::Expansion,
        "captured outputs are written twice",
        |func, ctx| ctx.pipeline.is_some_and(|state| stream::expand(func, &state.vertex.stream)),
    ),
    required(
        "drop_point_size",
        Proof::Expansion,
        "draws without points have no point size",
        |func, ctx| {
            ctx.pipeline.is_some_and(|state| state.vertex.without_points)
                && vertex::drop_point_size(func)
        },
    ),
    required(
        "divide_positions",
        Proof::Expansion,
        "positions are divided by w, as the tiler takes them",
        |func, _| vertex::expand(func),
    ),
    required(
        "project_cubes",
        Proof::Expansion,
        "directions into cubes become places on faces",
        |func, _| texture::expand(func),
    ),
    required(
        "waterfall",
        Proof::Exact,
        "lanes that choose storage textures are served one choice after the other",
        |func, _| handles::expand(func),
    ),
    required(
        "clamp_levels",
        Proof::Exact,
        "a fetch's level or sample fits the byte that the texture unit reads",
        |func, _| texture::clamp_levels(func),
    ),
    gpucc_passes::expand::COARSE_DERIVATIVES,
    required(
        "conversions",
        Proof::Licence("WGSL, floating point conversion: what a NaN converts to is not defined"),
        "conversions are those that the machine has",
        |func, _| convert::run(func),
    ),
    required(
        "expand",
        Proof::Expansion,
        "operations that the machine lacks become others",
        |func, ctx| gpucc_passes::expand::expand(func, &Machine, &ctx.numerics),
    ),
    optional(
        "decide_ranges",
        Proof::Exact,
        "comparisons that the ranges of floats decide are constants",
        |func, _| gpucc_passes::float_range::decide_certain(func),
    ),
    optional(
        "shift_tables",
        Proof::Exact,
        "small tables of constants become shifted words",
        |func, _| tables::run(func),
    ),
    optional(
        "merge_uniforms",
        Proof::Exact,
        "words of uniforms that are read apart are loaded together",
        |func, _| uniforms::run(func),
    ),
    optional(
        "merge_private",
        Proof::Exact,
        "accesses of one line of private memory become one",
        |func, _| private::run(func),
    ),
    optional(
        "order_sums",
        Proof::Licence("WGSL, reassociation and fusion: sums may be regrouped"),
        "terms of sums stand in the order in which FMA takes them",
        |func, _| sums::run(func),
    ),
    optional(
        "contract",
        Proof::Licence("WGSL, reassociation and fusion: a product and a sum may round once"),
        "a product and a sum become one FMA",
        gpucc_passes::algebra::run,
    ),
    optional(
        "free_absolutes",
        Proof::Exact,
        "absolute values that no operand takes as a modifier become masks",
        |func, _| absolute::run(func),
    ),
];

/// What makes the reference for the bytes of SSA after the shared passes: every operation becomes a native one, and
/// the source language's freedoms are used up.
pub fn plan(options: &Options) -> Plan {
    let mut steps = Vec::new();
    let optimises = options.effort > Effort::None;
    if optimises && options.pipeline.uniforms == Uniforms::Pushed {
        steps.extend(
            const { [step("unload"), cleans("mem2reg"), cleans("copy_prop"), cleans("fold")] },
        );
    }
    steps.extend(
        const {
            [
                step("stream_outputs"),
                step("drop_point_size"),
                step("divide_positions"),
                step("project_cubes"),
                step("waterfall"),
                step("clamp_levels"),
                step("coarse_derivatives"),
                step("conversions"),
                step("expand"),
            ]
        },
    );
    if optimises {
        steps.extend(FREEDOMS);
        steps.extend(
            const {
                [
                    step("hoist"),
                    step("copy_prop"),
                    step("if_convert"),
                    step("relaxed_fold"),
                    step("shift_tables"),
                    step("merge_uniforms"),
                    cleans("dce"),
                    step("merge_private"),
                    step("gvn"),
                    step("order_sums"),
                    cleans("dce"),
                    step("contract"),
                    step("relaxed_fold"),
                    step("dce"),
                    step("free_absolutes"),
                ]
            },
        );
    }
    Plan { steps, own: OWN }
}

/// Through f32: the operands, the same operation, the result.
fn through_f32(b: &mut Builder, data: &InstData) -> Value {
    let wide: Vec<Value> = data
        .args
        .iter()
        .map(|&arg| match b.func.ty(arg) {
            Type::B16 => b.convert(Op::FConvert, Type::B32, arg),
            _ => arg,
        })
        .collect();
    match data.op {
        Op::FrexpExp => b.convert(Op::FrexpExp, Type::B32, wide[0]),
        op => {
            let result = b.op(op, &wide);
            b.convert(Op::FConvert, Type::B16, result)
        }
    }
}

/// x / y = x * rcp(y): within 2.5 units for |y| in 2^-14..=2^14.
fn quotient16(b: &mut Builder, data: &InstData) -> Value {
    let reciprocal = b.op1(Op::FRcp, data.args[1]);
    b.op2(Op::FMul, data.args[0], reciprocal)
}

/// WGSL's own definition of the remainder.
fn remainder16(b: &mut Builder, data: &InstData) -> Value {
    let quotient = b.op2(Op::FDiv, data.args[0], data.args[1]);
    let whole = b.op1(Op::FTrunc, quotient);
    let product = b.op2(Op::FMul, whole, data.args[1]);
    b.op2(Op::FSub, data.args[0], product)
}

/// 1 / (1 / sqrt x): the bound that WGSL lets it inherit.
fn root16(b: &mut Builder, data: &InstData) -> Value {
    let inverse = b.op1(Op::FRsq, data.args[0]);
    b.op1(Op::FRcp, inverse)
}

/// -1, 0 or 1.
fn sign16(b: &mut Builder, data: &InstData) -> Value {
    let x = data.args[0];
    let [zero, one, minus] = [0, 0x3c00, 0xbc00].map(|bits| b.constant(Type::B16, bits));
    let above = b.op2(Op::FLt, zero, x);
    let below = b.op2(Op::FLt, x, zero);
    let other = b.select(below, minus, zero);
    b.select(above, one, other)
}

/// sin x / cos x, WGSL's own definition.
fn tangent(b: &mut Builder, data: &InstData) -> Value {
    let [sine, cosine] = [Op::FSin, Op::FCos].map(|op| b.op1(op, data.args[0]));
    b.op2(Op::FDiv, sine, cosine)
}

/// Of an angle in turns.
fn of_turns(b: &mut Builder, data: &InstData) -> Value {
    let turn = b.f32(std::f32::consts::TAU);
    let angle = b.op2(Op::FMul, data.args[0], turn);
    let op = match data.op {
        Op::FSinTurns => Op::FSin,
        _ => Op::FCos,
    };
    b.op1(op, angle)
}
