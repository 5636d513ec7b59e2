//! The words of descriptors that a driver writes, each field by its place (docs/abi-valhall.md, "State").

use gpucc_emu::format::{Format, VertexFormat};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::Dim;
use gpucc_valhall::state::{self, Texture};

/// `count` bits of a word from bit `low`.
fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

#[test]
fn a_sampler_has_a_field_for_each_of_its_properties() {
    let plain = Sampler {
        wrap: [Wrap::Clamp; 3],
        min: Filter::Linear,
        mag: Filter::Linear,
        mip: MipFilter::Linear,
        lod_min: 0.0,
        lod_max: 31.0,
        lod_bias: 0.0,
        compare: None,
        border: [0; 4],
    };
    let words = state::sampler(&plain);
    let wraps = [
        (Wrap::Repeat, 8),
        (Wrap::Clamp, 9),
        (Wrap::Border, 11),
        (Wrap::Mirror, 12),
        (Wrap::MirrorOnce, 13),
        (Wrap::MirrorOnceBorder, 15),
    ];
    for (wrap, code) in wraps {
        // S stands above T, and T above R.
        for (axis, low) in [(0, 16), (1, 12), (2, 8)] {
            let mut changed = plain;
            changed.wrap[axis] = wrap;
            let changed = state::sampler(&changed);
            assert_eq!(bits(changed[0], low, 4), code, "{wrap:?} {axis}");
            assert_eq!(changed[0] & !(15 << low), words[0] & !(15 << low));
            assert_eq!(changed[1..], words[1..]);
        }
    }
    for (field, low) in [("min", 27), ("mag", 28)] {
        let mut changed = plain;
        match field {
            "min" => changed.min = Filter::Nearest,
            _ => changed.mag = Filter::Nearest,
        }
        assert_eq!(state::sampler(&changed)[0], words[0] | 1 << low, "{field}");
    }
    for (mip, code) in [(MipFilter::Nearest, 0), (MipFilter::None, 1), (MipFilter::Linear, 3)] {
        let changed = state::sampler(&Sampler { mip, ..plain });
        assert_eq!(bits(changed[0], 30, 2), code, "{mip:?}");
        assert_eq!(changed[0] << 2, words[0] << 2);
    }
    let compares = [
        Compare::Never,
        Compare::Less,
        Compare::Equal,
        Compare::LessEqual,
        Compare::Greater,
        Compare::NotEqual,
        Compare::GreaterEqual,
        Compare::Always,
    ];
    for (code, compare) in (0..).zip(compares) {
        let compare = Some(compare);
        let changed = state::sampler(&Sampler { compare, ..plain });
        assert_eq!(bits(changed[1], 13, 3), code, "{compare:?}");
        assert_eq!(changed[1] & !(7 << 13), words[1]);
    }
    // Levels are unsigned 5.8 numbers, the bias is a signed 8.8 number: both are cut off at their ends.
    let lods = [(0.0, 0), (0.5, 128), (1.0 / 512.0, 0), (3.0 / 512.0, 2)];
    for (level, code) in lods.into_iter().chain([(31.996, 8191), (99.0, 8191), (-2.0, 0)]) {
        let low = state::sampler(&Sampler { lod_min: level, ..plain });
        assert_eq!(bits(low[1], 0, 13), code, "{level}");
        let high = state::sampler(&Sampler { lod_max: level, ..plain });
        assert_eq!(bits(high[1], 16, 13), code, "{level}");
    }
    for (lod_bias, code) in [(1.5, 0x180), (-1.5, 0xfe80), (200.0, 0x7fff), (-200.0, 0x8000)] {
        let changed = state::sampler(&Sampler { lod_bias, ..plain });
        assert_eq!(changed[2], code, "{lod_bias}");
    }
    let border = [1, 2, 0x3f80_0000, u32::MAX];
    assert_eq!(state::sampler(&Sampler { border, ..plain })[4..], border);
}

#[test]
fn a_texture_has_a_field_for_each_of_its_sizes() {
    let plain = Texture {
        dim: Dim::D2,
        format: Format::Rgba8Unorm,
        size: [1, 1, 1],
        layers: 1,
        levels: 1,
        samples: 1,
        surfaces: 0,
    };
    let words = state::texture(&plain);
    // A texture (2), 2D, RGBA8 unorm; components in their own order.
    assert_eq!(words, [2 | 2 << 4 | 187 << 22, 0, 0o3210, 0, 0, 0, 0, 0]);
    for (dim, code) in [(Dim::Cube, 0), (Dim::D1, 1), (Dim::D2, 2), (Dim::D3, 3)] {
        let changed = state::texture(&Texture { dim, ..plain });
        assert_eq!(bits(changed[0], 4, 2), code, "{dim:?}");
    }
    let size = [65536, 4097, 33];
    let changed = state::texture(&Texture { size, ..plain });
    assert_eq!(changed, [words[0], 0xffff | 4096 << 16, words[2], 0, 0, 0, 0, 32]);
    let changed = state::texture(&Texture { levels: 17, ..plain });
    // The number of levels less one, and the last level that a lookup may reach, in 5.8.
    assert_eq!(changed[2..4], [words[2] | 16 << 16, 16 << 24]);
    let changed = state::texture(&Texture { samples: 8, ..plain });
    assert_eq!(changed[3], 3 << 13);
    let surfaces = 0x12_3456_7840;
    let changed = state::texture(&Texture { surfaces, layers: 7, ..plain });
    assert_eq!(changed[4..], [0x3456_7840, 0x12, 6, 0]);
    // A plane: type 10, generic, one plane of this clump.
    let plane = state::plane(surfaces, Format::Rgba16Float, 640, 64, 320);
    let clump = 3 << 24;
    assert_eq!(plane, [10 | 1 << 4 | 2 << 8 | clump, 640, 0x3456_7840, 0x12, 64, 0, 320, 0]);
}

#[test]
fn an_attribute_is_fetched_by_vertex_or_by_instance() {
    let format = VertexFormat::from_name("unorm8x4-bgra").expect("a name");
    // RGBA8 unorm in the order BGRA (4).
    let format = state::vertex_format(format);
    assert_eq!(format, 187 << 12 | 4);
    // Type 5, its own table, the format from bit 10; table 2 of vertex buffers, offset, buffer, stride.
    let words = [5 | 1 << 4 | 1 << 8 | format << 10, 2, 20, 3, 36, 0, 0, 0];
    assert_eq!(state::attribute(format, false, 20, 3, 36), words);
    let mut instance = words;
    instance[1] |= 1 << 6;
    assert_eq!(state::attribute(format, true, 20, 3, 36), instance);
}
