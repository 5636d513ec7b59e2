//! Pixel formats as descriptors and conversion words name them, read here by a list of their own: the public names of the
//! codes (Mesa's v9.xml: Format, RGB Component Order, Clump Format), written out and not computed. ABI: Pixel format.

use gpucc_emu::format::{Format, Kind, VertexFormat};

/// Clumps of texels: bytes of a texel, or the parts of a depth and stencil texel.
const RAW8: u32 = 0;
const RAW16: u32 = 1;
const RAW32: u32 = 2;
const RAW64: u32 = 3;
const RAW128: u32 = 4;
const X24S8X32: u32 = 19;
const X24S8: u32 = 20;
const S8: u32 = 22;

/// Component orders.
const RGBA: u32 = 0;
const BGRA: u32 = 4;

/// A code: number, clump of a plane, texel format.
type Code = (u32, u32, Format);

#[rustfmt::skip]
const CODES: &[Code] = &[
    // RGB10 A2 UNORM, RGB10 A2UI, Z16 UNORM, Z32, Z24X8 UNORM, R11F G11F B10F, R9F G9F B9F E5F, S8.
    (67, RAW32, Format::Rgb10a2Unorm), (71, RAW32, Format::Rgb10a2Uint), (75, RAW16, Format::Depth16Unorm),
    (76, RAW32, Format::Depth32Float), (76, X24S8X32, Format::Depth32FloatStencil8),
    (77, RAW32, Format::Depth24Plus), (77, X24S8, Format::Depth24PlusStencil8),
    (89, RAW32, Format::Rg11b10Ufloat), (91, RAW32, Format::Rgb9e5Ufloat), (93, S8, Format::Stencil8),
    // SNORM: R8 R16, RG8 RG16, RGBA8 RGBA16.
    (99, RAW8, Format::R8Snorm), (100, RAW16, Format::R16Snorm), (107, RAW16, Format::Rg8Snorm),
    (108, RAW32, Format::Rg16Snorm), (123, RAW32, Format::Rgba8Snorm), (124, RAW64, Format::Rgba16Snorm),
    // UI.
    (131, RAW8, Format::R8Uint), (132, RAW16, Format::R16Uint), (133, RAW32, Format::R32Uint),
    (139, RAW16, Format::Rg8Uint), (140, RAW32, Format::Rg16Uint), (141, RAW64, Format::Rg32Uint),
    (155, RAW32, Format::Rgba8Uint), (156, RAW64, Format::Rgba16Uint), (157, RAW128, Format::Rgba32Uint),
    // UNORM, and floats of 32 bits.
    (163, RAW8, Format::R8Unorm), (164, RAW16, Format::R16Unorm), (167, RAW32, Format::R32Float),
    (171, RAW16, Format::Rg8Unorm), (172, RAW32, Format::Rg16Unorm), (175, RAW64, Format::Rg32Float),
    (187, RAW32, Format::Rgba8Unorm), (188, RAW64, Format::Rgba16Unorm), (191, RAW128, Format::Rgba32Float),
    // I, and floats of 16 bits.
    (195, RAW8, Format::R8Sint), (196, RAW16, Format::R16Sint), (197, RAW32, Format::R32Sint),
    (199, RAW16, Format::R16Float), (203, RAW16, Format::Rg8Sint), (204, RAW32, Format::Rg16Sint),
    (205, RAW64, Format::Rg32Sint), (207, RAW32, Format::Rg16Float), (219, RAW32, Format::Rgba8Sint),
    (220, RAW64, Format::Rgba16Sint), (221, RAW128, Format::Rgba32Sint), (223, RAW64, Format::Rgba16Float),
];

#[rustfmt::skip]
const ATTRIBUTES: &[(u32, &str)] = &[
    (67, "unorm10-10-10-2"),
    (99, "snorm8"), (100, "snorm16"), (107, "snorm8x2"), (108, "snorm16x2"), (123, "snorm8x4"), (124, "snorm16x4"),
    (131, "uint8"), (132, "uint16"), (133, "uint32"), (139, "uint8x2"), (140, "uint16x2"), (141, "uint32x2"),
    (149, "uint32x3"), (155, "uint8x4"), (156, "uint16x4"), (157, "uint32x4"),
    (163, "unorm8"), (164, "unorm16"), (167, "float32"), (171, "unorm8x2"), (172, "unorm16x2"), (175, "float32x2"),
    (183, "float32x3"), (187, "unorm8x4"), (188, "unorm16x4"), (191, "float32x4"),
    (195, "sint8"), (196, "sint16"), (197, "sint32"), (199, "float16"), (203, "sint8x2"), (204, "sint16x2"),
    (205, "sint32x2"), (207, "float16x2"), (213, "sint32x3"), (219, "sint8x4"), (220, "sint16x4"), (221, "sint32x4"),
    (223, "float16x4"),
];

/// Order, code and the flag of sRGB; `None` where bits are set that belong to none of them.
const fn fields(pixel: u32) -> Option<(u32, u32, bool)> {
    if pixel >> 21 != 0 || pixel & 0xF00 != 0 {
        return None;
    }
    Some((pixel & 0xFF, pixel >> 12 & 0xFF, pixel >> 20 & 1 == 1))
}

/// The texel format of a pixel format (22 bits) and the clump of a plane.
pub fn texel(pixel: u32, clump: u32) -> Option<Format> {
    let (order, code, srgb) = fields(pixel)?;
    let &(.., format) = CODES.iter().find(|row| (row.0, row.1) == (code, clump))?;
    match (format, order, srgb) {
        (Format::Rgba8Unorm, RGBA, true) => Some(Format::Rgba8UnormSrgb),
        (Format::Rgba8Unorm, BGRA, true) => Some(Format::Bgra8UnormSrgb),
        (Format::Rgba8Unorm, BGRA, false) => Some(Format::Bgra8Unorm),
        (format, RGBA, false) => Some(format),
        _ => None,
    }
}

/// How a target's format takes colours: as floats, signed or unsigned integers. The word is a blend descriptor's conversion:
/// a format of texels, or one of the tile's own (RGBA8 TB, RGB10 A2 TB).
pub fn blended(word: u32) -> Option<Kind> {
    match fields(word)? {
        (RGBA, 237, _) | (RGBA, 238, false) => Some(Kind::Unorm),
        _ => converted(word).map(Format::kind),
    }
}

/// The texel format that a conversion word names: depth and stencil are never loaded or stored so.
pub fn converted(word: u32) -> Option<Format> {
    let (_, code, _) = fields(word)?;
    match code {
        75..=78 | 93 => None,
        _ => {
            let &(_, clump, _) = CODES.iter().find(|row| row.0 == code)?;
            texel(word, clump)
        }
    }
}

/// The vertex format that the pixel format of an attribute names.
pub fn attribute(pixel: u32) -> Option<VertexFormat> {
    match fields(pixel)? {
        (BGRA, 187, false) => VertexFormat::from_name("unorm8x4-bgra"),
        (RGBA, code, false) => {
            let &(_, name) = ATTRIBUTES.iter().find(|row| row.0 == code)?;
            VertexFormat::from_name(name)
        }
        _ => None,
    }
}
