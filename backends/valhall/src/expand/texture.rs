//! Texture operands as the unit's messages take them. A cube's direction becomes a face and a place
//! on it. A fetch's level or sample fits its byte. isa/valhall_rogue.md 1.11.

use gpucc_ir::ssa::{Builder, Dim, Func, Imm, InstData, Op, ResourceKind, TexKind, TexOp, Value};
use gpucc_passes::expand::cube;

/// Rewrites every lookup in a cube to the place on its face.
pub fn expand(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let cubes = |&inst: &_| projects(func, &func.insts[inst]).is_some();
        if !func.regions[region].insts.iter().any(cubes) {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if let Some(mut tex) = projects(func, &func.insts[inst]) {
                let span = func.insts[inst].span;
                let mut args = func.insts[inst].args.clone();
                let first = elements(func, &tex);
                let mut b = Builder::at(func, region);
                b.span = span;
                let direction = [args[first], args[first + 1], args[first + 2]];
                let gradients = match tex.kind {
                    TexKind::SampleGrad => {
                        let at = args.len() - 6;
                        &mut args[at..]
                    }
                    _ => &mut [],
                };
                let mut place = cube::project(&mut b, direction, gradients);
                // What is no number, as a direction of zeroes gives, is a corner of the face: the
                // unit's coordinates are clamped to 0..=1.
                for coordinate in &mut place[..2] {
                    let (minus, one) = (b.f32(-1.0), b.f32(1.0));
                    let from_zero = b.op2(Op::FAdd, *coordinate, minus);
                    let clamped = b.op1(Op::FSat, from_zero);
                    *coordinate = b.op2(Op::FAdd, clamped, one);
                }
                args[first..first + 3].copy_from_slice(&place);
                tex.projected = true;
                func.insts[inst].args = args;
                func.insts[inst].imm = Imm::Tex(tex);
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// Largest level or sample of a fetch: a byte of the message holds it. No texture has as many of
/// either, so a fetch with it gives zeros.
const LAST: u32 = 255;

/// Clamps the level or the sample of every fetch to a byte: larger ones would wrap to one that exists.
pub fn clamp_levels(func: &mut Func) -> bool {
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let wraps = |&inst: &_| wide_level(func, &func.insts[inst]).is_some();
        if !func.regions[region].insts.iter().any(wraps) {
            continue;
        }
        changed = true;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            if let Some(level) = wide_level(func, &func.insts[inst]) {
                let span = func.insts[inst].span;
                let mut b = Builder::at(func, region);
                b.span = span;
                let last = b.u32(LAST);
                let clamped = b.op2(Op::UMin, level, last);
                *func.insts[inst].args.last_mut().expect("a fetch has a level") = clamped;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// The level or the sample of a fetch that is not known to fit a byte.
fn wide_level(func: &Func, data: &InstData) -> Option<Value> {
    let Imm::Tex(tex) = data.imm else { return None };
    let ResourceKind::Texture { .. } = func.resources[tex.texture].kind else { return None };
    let level = *data.args.last()?;
    let fits = |bits| bits <= u64::from(LAST);
    (tex.kind == TexKind::Load && !func.as_const(level).is_some_and(fits)).then_some(level)
}

/// The instruction's fixed part when it looks a direction up in a cube.
fn projects(func: &Func, data: &InstData) -> Option<TexOp> {
    let Imm::Tex(tex) = data.imm else { return None };
    let ResourceKind::Texture { dim: Dim::Cube, .. } = func.resources[tex.texture].kind else {
        return None;
    };
    (!tex.projected && tex.kind != TexKind::Load).then_some(tex)
}

/// Operands before the coordinates: elements of arrays of bindings.
pub(crate) fn elements(func: &Func, tex: &TexOp) -> usize {
    let counts = [Some(tex.texture), tex.sampler.expand()];
    counts
        .into_iter()
        .flatten()
        .filter(|&resource| func.resources[resource].count.is_some())
        .count()
}
