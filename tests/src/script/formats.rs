//! Vulkan's names of formats, as WebGPU names and as types of values.

use super::values::{Component, Type};
use gpucc_emu::format::{Format, VertexFormat};

/// Letters and bits of the channels, and how they are read: `R8G8_UNORM` is [(R, 8), (G, 8)] and `UNORM`.
fn parts(name: &str) -> Option<(Vec<(char, u32)>, &str)> {
    let (channels, kind) = name.split_once('_')?;
    let mut found: Vec<(char, u32)> = Vec::new();
    for letter in channels.chars() {
        match (letter.to_digit(10), found.last_mut()) {
            (Some(digit), Some((_, bits))) => *bits = *bits * 10 + digit,
            (Some(_), None) => return None,
            (None, _) => found.push((letter, 0)),
        }
    }
    Some((found, kind))
}

fn letters(channels: &[(char, u32)]) -> String {
    channels.iter().map(|(letter, _)| letter).collect()
}

/// WebGPU's word for how channels are read.
fn kind_name(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "UNORM" => "unorm",
        "SNORM" => "snorm",
        "UINT" => "uint",
        "SINT" => "sint",
        "SFLOAT" => "float",
        _ => return None,
    })
}

/// The format of texels.
pub fn texels(name: &str) -> Option<Format> {
    let (channels, kind) = parts(name)?;
    let name = match (name, kind) {
        ("D16_UNORM", _) => "depth16unorm".to_owned(),
        ("D32_SFLOAT", _) => "depth32float".to_owned(),
        ("D24_UNORM_S8_UINT", _) => "depth24plus-stencil8".to_owned(),
        ("X8_D24_UNORM_PACK32", _) => "depth24plus".to_owned(),
        ("B10G11R11_UFLOAT_PACK32", _) => "rg11b10ufloat".to_owned(),
        ("A2B10G10R10_UNORM_PACK32", _) => "rgb10a2unorm".to_owned(),
        ("A2B10G10R10_UINT_PACK32", _) => "rgb10a2uint".to_owned(),
        (_, kind) => {
            let letters = letters(&channels).to_lowercase();
            let bits = channels.first()?.1;
            let (kind, suffix) = match kind {
                "SRGB" => ("unorm", "-srgb"),
                kind => (kind_name(kind)?, ""),
            };
            format!("{letters}{bits}{kind}{suffix}")
        }
    };
    Format::from_name(&name)
}

/// The format of a vertex attribute, by its WebGPU name.
pub fn vertices(name: &str) -> Option<&'static str> {
    let (channels, kind) = parts(name)?;
    let in_order = "RGBA".starts_with(&letters(&channels));
    let name = match name {
        "B8G8R8A8_UNORM" => "unorm8x4-bgra".to_owned(),
        "A2B10G10R10_UNORM_PACK32" => "unorm10-10-10-2".to_owned(),
        _ => {
            // Bytes of a packed word stand in memory as the letters do, read from behind.
            let kind = match kind.strip_suffix("_PACK32") {
                Some(kind) if name.starts_with("A8B8G8R8") => kind,
                None if in_order => kind,
                Some(_) | None => return None,
            };
            of_vector(kind_name(kind)?, channels.first()?.1, channels.len())
        }
    };
    VertexFormat::from_name(&name).map(VertexFormat::name)
}

fn of_vector(kind: &str, bits: u32, count: usize) -> String {
    match count {
        1 => format!("{kind}{bits}"),
        _ => format!("{kind}{bits}x{count}"),
    }
}

/// WebGPU's word for a type's scalars.
fn kind_of(ty: Type) -> &'static str {
    match ty.component {
        Component::Signed(_) => "sint",
        Component::Unsigned(_) => "uint",
        Component::Float(_) => "float",
    }
}

/// The format of a vertex attribute of vectors of a type, by its WebGPU name.
pub fn vertices_of(ty: Type) -> Option<&'static str> {
    let kind = kind_of(ty);
    let name = of_vector(kind, ty.component.bytes() as u32 * 8, ty.rows);
    VertexFormat::from_name(&name).map(VertexFormat::name).filter(|_| ty.columns == 1)
}

/// The format of texels that hold a scalar or a vector of a type.
pub fn texels_of(ty: Type) -> Option<Format> {
    let kind = kind_of(ty);
    let letters = match (ty.columns, ty.rows) {
        (1, 1) => "r",
        (1, 2) => "rg",
        (1, 4) => "rgba",
        _ => return None,
    };
    Format::from_name(&format!("{letters}{}{kind}", ty.component.bytes() * 8))
}

/// What the values of a format are in a script: channel by channel, or one word where they are packed.
pub fn values(name: &str) -> Option<Type> {
    let (channels, kind) = parts(name)?;
    let (component, rows) = match kind {
        _ if kind.ends_with("_PACK32") => (Component::Unsigned(4), 1),
        "SFLOAT" => (Component::Float(channels.first()?.1 as usize / 8), channels.len()),
        "SINT" => (Component::Signed(channels.first()?.1 as usize / 8), channels.len()),
        _ => (Component::Unsigned(channels.first()?.1 as usize / 8), channels.len()),
    };
    Some(Type { tight: true, ..Type::vector(component, rows) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_vulkan_have_one_of_webgpu() {
        let name = |name: &str| texels(name).map(Format::name);
        assert_eq!(name("B8G8R8A8_UNORM"), Some("bgra8unorm"));
        assert_eq!(name("R8G8B8A8_SRGB"), Some("rgba8unorm-srgb"));
        assert_eq!(name("R32G32B32A32_SFLOAT"), Some("rgba32float"));
        assert_eq!(name("D24_UNORM_S8_UINT"), Some("depth24plus-stencil8"));
        assert_eq!(name("R64_SFLOAT"), None);
        assert_eq!(vertices("R32G32_SFLOAT"), Some("float32x2"));
        assert_eq!(vertices("A8B8G8R8_UNORM_PACK32"), Some("unorm8x4"));
        assert_eq!(vertices("R8_SNORM"), Some("snorm8"));
        assert_eq!(vertices("B8G8R8A8_UNORM"), Some("unorm8x4-bgra"));
        assert_eq!((vertices("vec2"), vertices("B8G8R8A8_UINT")), (None, None));
    }

    #[test]
    fn values_of_formats_stand_close_together() {
        let ty = values("R32G32B32_SFLOAT").expect("a type");
        assert_eq!(ty.places().take(4).collect::<Vec<_>>(), [0, 4, 8, 12]);
        assert_eq!(values("A8B8G8R8_UNORM_PACK32").map(Type::values), Some(1));
    }
}
