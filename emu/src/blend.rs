//! Fixed-function blending, in f32, each operation rounded by itself.

use crate::format::Format;
pub use gpucc_ir::driver::{Blend, BlendComponent, BlendOp, Factor};
use gpucc_ir::driver::{ColorTarget, FragmentState};

/// The colour targets that are bound, by location, with their formats.
pub fn bound(state: &FragmentState) -> impl Iterator<Item = (u32, &ColorTarget, Format)> {
    (0u32..).zip(&state.targets).filter_map(|(number, target)| {
        let target = target.as_ref()?;
        Some((number, target, Format::from_name(&target.format)?))
    })
}

/// Blends four components given as f32 bits.
pub fn blend_texel(
    blend: &Blend,
    src: [u32; 4],
    src1: [u32; 4],
    dst: [u32; 4],
    constant: [f32; 4],
) -> [u32; 4] {
    let [src, src1, dst] = [src, src1, dst].map(|v| v.map(f32::from_bits));
    let mut out = [0; 4];
    for c in 0..4 {
        let part = if c == 3 { blend.alpha } else { blend.color };
        let factor = |f: Factor| match f {
            Factor::Zero => 0.0,
            Factor::One => 1.0,
            Factor::Src => src[c],
            Factor::OneMinusSrc => 1.0 - src[c],
            Factor::SrcAlpha => src[3],
            Factor::OneMinusSrcAlpha => 1.0 - src[3],
            Factor::Dst => dst[c],
            Factor::OneMinusDst => 1.0 - dst[c],
            Factor::DstAlpha => dst[3],
            Factor::OneMinusDstAlpha => 1.0 - dst[3],
            Factor::SrcAlphaSaturated if c == 3 => 1.0,
            Factor::SrcAlphaSaturated => src[3].min(1.0 - dst[3]),
            Factor::Constant => constant[c],
            Factor::OneMinusConstant => 1.0 - constant[c],
            Factor::Src1 => src1[c],
            Factor::OneMinusSrc1 => 1.0 - src1[c],
            Factor::Src1Alpha => src1[3],
            Factor::OneMinusSrc1Alpha => 1.0 - src1[3],
        };
        let (s, d) = (src[c], dst[c]);
        let value = match part.op {
            BlendOp::Add => s * factor(part.src) + d * factor(part.dst),
            BlendOp::Subtract => s * factor(part.src) - d * factor(part.dst),
            BlendOp::ReverseSubtract => d * factor(part.dst) - s * factor(part.src),
            BlendOp::Min => s.min(d),
            BlendOp::Max => s.max(d),
        };
        out[c] = value.to_bits();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_transparent_red_over_blue_is_purple() {
        let bits = |v: [f32; 4]| v.map(f32::to_bits);
        let out = blend_texel(
            &Blend::ALPHA,
            bits([1.0, 0.0, 0.0, 0.5]),
            [0; 4],
            bits([0.0, 0.0, 1.0, 1.0]),
            [0.0; 4],
        );
        assert_eq!(out.map(f32::from_bits), [0.5, 0.0, 0.5, 1.0]);
    }

    #[test]
    fn every_operation_and_the_constant_take_part() {
        let one = |op, src, dst| {
            let part = BlendComponent { op, src, dst };
            let words = [0.25f32; 4].map(f32::to_bits);
            let stored = [0.5f32; 4].map(f32::to_bits);
            let blend = Blend { color: part, alpha: part };
            f32::from_bits(blend_texel(&blend, words, words, stored, [0.125; 4])[0])
        };
        assert_eq!(one(BlendOp::Add, Factor::One, Factor::One), 0.75);
        assert_eq!(one(BlendOp::Subtract, Factor::One, Factor::Constant), 0.1875);
        assert_eq!(one(BlendOp::ReverseSubtract, Factor::Dst, Factor::One), 0.375);
        assert_eq!(one(BlendOp::Min, Factor::Zero, Factor::Zero), 0.25);
        assert_eq!(one(BlendOp::Max, Factor::Zero, Factor::Zero), 0.5);
        assert_eq!(one(BlendOp::Add, Factor::SrcAlphaSaturated, Factor::Zero), 0.0625);
    }
}
