//! Which texture instructions the sampler's messages have in another form. G45 vol. 4, 4.8.1.4.

use gpucc_ir::ssa::{
    Builder, Dim, Func, Imm, InstData, Op, ResourceKind, SampleType, TexKind, TexOp, Value,
};
use gpucc_passes::expand::texture::{Form, shape};

/// A message takes a bias from -16 on, below 16; any other gives what nobody knows. G45 vol. 4, 4.8.1.4, sample_b.
const LEAST_BIAS: f32 = -16.0;
/// WGSL's own limit.
const MOST_BIAS: f32 = 15.99;

/// Rewrites every texture instruction that the machine has in another form, and clamps biases; true when there was one.
pub fn expand(func: &mut Func) -> bool {
    let rewritten = gpucc_passes::expand::texture::expand(func, form);
    clamp_biases(func) || rewritten
}

/// Brings every bias of a message between the limits. A NaN becomes the largest.
fn clamp_biases(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let biased = |func: &Func, inst| match func.insts[inst].imm {
            Imm::Tex(tex) if tex.kind == TexKind::SampleBias => {
                func.insts[inst].args.last().copied()
            }
            _ => None,
        };
        if !func.regions[region].insts.iter().any(|&inst| biased(func, inst).is_some()) {
            continue;
        }
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if let Some(bias) = biased(func, inst) {
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                if let Some(clamped) = clamped(&mut b, bias) {
                    *func.insts[inst].args.last_mut().expect("a bias") = clamped;
                    changed = true;
                }
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// A bias between the limits; none where it is one as it stands.
fn clamped(b: &mut Builder<'_>, bias: Value) -> Option<Value> {
    let limit = |bias: f32| (if bias < MOST_BIAS { bias } else { MOST_BIAS }).max(LEAST_BIAS);
    if let Some(bits) = b.func.as_const(bias) {
        let number = f32::from_bits(bits as u32);
        let clamped = limit(number);
        return (clamped != number).then(|| b.f32(clamped));
    }
    let (most, least) = (b.f32(MOST_BIAS), b.f32(LEAST_BIAS));
    let below = b.op2(Op::FMin, bias, most);
    Some(b.op2(Op::FMax, below, least))
}

fn form(func: &Func, _: &InstData, tex: &TexOp) -> Option<Form> {
    let (dim, arrayed) = shape(func, tex)?;
    let integers = matches!(
        func.resources[tex.texture].kind,
        ResourceKind::Texture { sample: SampleType::Sint | SampleType::Uint, .. }
    );
    match tex.kind {
        // Comparisons have no layers, and lookups by coordinates no integers.
        _ if tex.compare && arrayed && dim != Dim::Cube => Some(Form::Arithmetic),
        TexKind::Load => None,
        _ if integers && dim != Dim::Cube => Some(Form::Arithmetic),
        TexKind::SampleGrad if tex.compare => Some(Form::Level),
        TexKind::SampleBaseClampToEdge => Some(Form::Clamped),
        // A level goes with a direction, and gradients with a place on a face.
        TexKind::Gather if dim == Dim::Cube => Some(Form::SteepGather),
        TexKind::Gather => Some(Form::Gather),
        // Gradients are those of a place on a face; all else takes a direction that is divided by its largest coordinate.
        TexKind::SampleGrad if dim == Dim::Cube && !tex.projected => Some(Form::Face),
        _ if dim == Dim::Cube && !tex.projected => Some(Form::Direction),
        _ => None,
    }
}
