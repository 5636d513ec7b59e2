//! What all machines share, from outside: blending, texels of many samples, queries.

use gpucc_emu::blend::{Blend, BlendComponent, BlendOp, Factor, blend_texel};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Resource, TexQuery, World};
use std::collections::BTreeSet;

#[test]
fn every_factor_of_a_blend_is_what_its_name_says() {
    let (src, src1, dst) = (
        [0.5f32, 0.25, 0.125, 0.75],
        [0.375, 0.625, 0.875, 0.3125],
        [0.0625, 0.9375, 0.4375, 0.5625],
    );
    let constant = [0.1875, 0.8125, 0.6875, 0.28125];
    let rows: [(Factor, [f32; 4]); 17] = [
        (Factor::Zero, [0.0; 4]),
        (Factor::One, [1.0; 4]),
        (Factor::Src, src),
        (Factor::OneMinusSrc, src.map(|x| 1.0 - x)),
        (Factor::SrcAlpha, [src[3]; 4]),
        (Factor::OneMinusSrcAlpha, [1.0 - src[3]; 4]),
        (Factor::Dst, dst),
        (Factor::OneMinusDst, dst.map(|x| 1.0 - x)),
        (Factor::DstAlpha, [dst[3]; 4]),
        (Factor::OneMinusDstAlpha, [1.0 - dst[3]; 4]),
        // The lesser of the two for colours, one for alpha.
        (Factor::SrcAlphaSaturated, [0.4375, 0.4375, 0.4375, 1.0]),
        (Factor::Constant, constant),
        (Factor::OneMinusConstant, constant.map(|x| 1.0 - x)),
        (Factor::Src1, src1),
        (Factor::OneMinusSrc1, src1.map(|x| 1.0 - x)),
        (Factor::Src1Alpha, [src1[3]; 4]),
        (Factor::OneMinusSrc1Alpha, [1.0 - src1[3]; 4]),
    ];
    for (factor, expected) in rows {
        let part = BlendComponent { op: BlendOp::Add, src: factor, dst: Factor::Zero };
        let blend = Blend { color: part, alpha: part };
        let bits = |v: [f32; 4]| v.map(f32::to_bits);
        let got = blend_texel(&blend, bits(src), bits(src1), bits(dst), constant);
        let wanted: [f32; 4] = std::array::from_fn(|c| src[c] * expected[c]);
        assert_eq!(got.map(f32::from_bits), wanted, "{factor:?}");
    }
}

#[test]
fn every_sample_of_every_texel_has_bytes_of_its_own() {
    for samples in [1, 2, 4] {
        let extent = Extent { samples, ..Extent::plane(5, 3) };
        let mut image = Image::new(Format::R32Uint, extent).expect("fits");
        assert_eq!(image.bytes().len(), (5 * 3 * 4 * samples) as usize);
        let mut offsets = BTreeSet::new();
        for y in 0..3 {
            for x in 0..5 {
                for sample in 0..samples {
                    let at = Texel { x, y, z: 0, layer: 0, level: 0, sample };
                    offsets.insert(image.offset(at));
                    image.store(at, [100 * y + 10 * x + sample, 0, 0, 0]);
                    assert_eq!(image.load(at), Some([100 * y + 10 * x + sample, 0, 0, 1]));
                }
            }
        }
        let all: BTreeSet<Option<usize>> =
            (0..(15 * samples) as usize).map(|n| Some(4 * n)).collect();
        assert_eq!(offsets, all);
    }
}

#[test]
fn levels_that_an_image_lacks_have_no_size() {
    let extent = Extent { levels: 3, ..Extent::plane(8, 4) };
    let resource = Resource::from_u32(0);
    let mut bindings = Bindings::default();
    let image = Image::new(Format::R32Uint, extent).expect("fits");
    bindings.set(resource, Bound::Image(image));
    let sizes =
        [-1, 0, 1, 2, 3, 40].map(|level| bindings.query((resource, 0), TexQuery::Size, level));
    assert_eq!(sizes, [[0; 3], [8, 4, 1], [4, 2, 1], [2, 1, 1], [0; 3], [0; 3]]);
    let levels = bindings.query((resource, 0), TexQuery::Levels, 0);
    assert_eq!(levels[0], 3);
}
