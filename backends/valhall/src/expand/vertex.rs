//! What the tiler wants of a vertex: the position divided by w with 1/w in its place, linear varyings
//! times w, a point size of at least 1 in f16, a layer of 8 bits. docs/abi-valhall.md: Vertex.

use gpucc_ir::ssa::{
    Builder, Builtin, Func, Imm, Inst, Interpolation, Op, Output, OutputKind, Region, Stage, Type,
    Value,
};

/// What becomes of an output of a vertex program.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Form {
    /// Divided by w.
    Position,
    /// Multiplied by w.
    Linear,
    /// Bounded and rounded.
    PointSize,
    /// A byte.
    Layer,
}

fn form(func: &Func, inst: Inst) -> Option<(Form, Output, u8)> {
    let data = &func.insts[inst];
    let (Op::Output, Imm::Output(output, component)) = (data.op, &data.imm) else {
        return None;
    };
    let form = match func.outputs[*output].kind {
        OutputKind::Builtin(Builtin::Position) => Form::Position,
        OutputKind::Builtin(Builtin::PointSize) => Form::PointSize,
        OutputKind::Builtin(Builtin::Layer) => Form::Layer,
        OutputKind::Location { interpolation: Interpolation::Linear, .. } => Form::Linear,
        _ => return None,
    };
    Some((form, *output, *component))
}

/// Leaves the point size out, where nobody draws points.
pub fn drop_point_size(func: &mut Func) -> bool {
    let size = func
        .outputs
        .iter()
        .find(|(_, data)| data.kind == OutputKind::Builtin(Builtin::PointSize))
        .map(|(output, _)| output);
    let Some(size) = size else { return false };
    for (region, ..) in func.regions_in_order() {
        let mut list = std::mem::take(&mut func.regions[region].insts);
        list.retain(
            |&inst| !matches!(func.insts[inst].imm, Imm::Output(output, _) if output == size),
        );
        func.regions[region].insts = list;
    }
    true
}

/// Rewrites the outputs of a vertex program. Linear varyings that are written in another region
/// than the position are divided by the w that is known there: none, and they stay as they are.
pub fn expand(func: &mut Func) -> bool {
    if func.stage != Stage::Vertex {
        return false;
    }
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let some = |&inst: &Inst| form(func, inst).is_some();
        if func.regions[region].insts.iter().any(some) {
            outputs(func, region);
            changed = true;
        }
    }
    changed
}

fn outputs(func: &mut Func, region: Region) {
    let list = std::mem::take(&mut func.regions[region].insts);
    // Outputs have no results and nothing reads them, so all of them may wait for w.
    let mut waiting = Vec::new();
    for inst in list {
        if form(func, inst).is_some() {
            waiting.push(inst);
            continue;
        }
        if func.insts[inst].op.is_terminator() {
            rewrite(func, region, &waiting);
            waiting.clear();
        }
        func.regions[region].insts.push(inst);
    }
}

fn rewrite(func: &mut Func, region: Region, outputs: &[Inst]) {
    let w = outputs.iter().rev().find_map(|&inst| {
        matches!(form(func, inst), Some((Form::Position, _, 3))).then(|| func.insts[inst].args[0])
    });
    // Where w is 1 already, so is its reciprocal, and a product with it changes nothing.
    if w.is_some_and(|w| func.as_const(w) == Some(1f32.to_bits().into()))
        && !outputs
            .iter()
            .any(|&inst| matches!(form(func, inst), Some((Form::PointSize | Form::Layer, ..))))
    {
        func.regions[region].insts.extend(outputs);
        return;
    }
    let mut b = Builder::at(func, region);
    let mut reciprocal: Option<Value> = None;
    for &inst in outputs {
        let (what, ..) = form(b.func, inst).expect("only such outputs wait");
        let value = b.func.insts[inst].args[0];
        let last = matches!(b.func.insts[inst].imm, Imm::Output(_, 3));
        b.span = b.func.insts[inst].span;
        let value = match (what, w) {
            (Form::Position, Some(w)) => {
                let r = match reciprocal {
                    Some(r) => r,
                    None => b.op1(Op::FRcp, w),
                };
                reciprocal = Some(r);
                if last { r } else { b.op2(Op::FMul, value, r) }
            }
            (Form::Linear, Some(w)) => match b.func.ty(value) {
                Type::B16 => {
                    let wide = b.convert(Op::FConvert, Type::B32, value);
                    let product = b.op2(Op::FMul, wide, w);
                    b.convert(Op::FConvert, Type::B16, product)
                }
                _ => b.op2(Op::FMul, value, w),
            },
            (Form::PointSize, _) => {
                let one = b.f32(1.0);
                let bounded = b.op2(Op::FMax, value, one);
                let half = b.convert(Op::FConvert, Type::B16, bounded);
                b.convert(Op::FConvert, Type::B32, half)
            }
            (Form::Layer, _) => {
                let byte = b.u32(255);
                b.op2(Op::And, value, byte)
            }
            (Form::Position | Form::Linear, None) => value,
        };
        b.func.insts[inst].args[0] = value;
        b.func.regions[region].insts.push(inst);
    }
}
