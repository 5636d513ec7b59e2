//! Data on the command line: `--set` sources, `--dump` requests, and how words are printed.

use super::files;
use super::names::printable;
use gpucc::Failure;
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Sampler, Wrap};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Dim, Func, Resource, ResourceData, ResourceKind, Scalar};
use std::path::{Path, PathBuf};

/// The largest buffer that a source may make.
const LARGEST_BUFFER: u64 = 1 << 30;

/// Which binding is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `G.B`
    Binding(u32, u32),
    /// `immediate`
    Immediate,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Binding(group, binding) => write!(f, "{group}.{binding}"),
            Place::Immediate => f.write_str("immediate"),
        }
    }
}

impl Place {
    fn parse(text: &str) -> Result<Place, Failure> {
        if text == "immediate" {
            return Ok(Place::Immediate);
        }
        let parsed = text
            .split_once('.')
            .and_then(|(group, binding)| Some((group.parse().ok()?, binding.parse().ok()?)));
        match parsed {
            Some((group, binding)) => Ok(Place::Binding(group, binding)),
            None => Err(Failure::usage(format!(
                "`{text}` names no binding: write GROUP.BINDING, as in 0.1, or immediate"
            ))),
        }
    }

    /// The place of a binding.
    fn of(data: &ResourceData) -> Place {
        match data.kind {
            ResourceKind::Immediate { .. } => Place::Immediate,
            _ => Place::Binding(data.group, data.binding),
        }
    }

    /// The place with the binding's name, where it has one.
    fn named(&self, data: &ResourceData) -> String {
        match data.name.as_str() {
            "" => self.to_string(),
            name => format!("{self} ({})", printable(name)),
        }
    }

    /// The resource of an entry point that this names.
    pub fn find(&self, func: &Func) -> Result<Resource, Failure> {
        let found = func.resources.iter().find(|(_, data)| match *self {
            Place::Immediate => matches!(data.kind, ResourceKind::Immediate { .. }),
            Place::Binding(group, binding) => {
                !matches!(data.kind, ResourceKind::Immediate { .. })
                    && (data.group, data.binding) == (group, binding)
            }
        });
        found.map(|(resource, _)| resource).ok_or_else(|| {
            let used: Vec<String> =
                func.resources.values().map(|data| Place::of(data).named(data)).collect();
            let used = if used.is_empty() { "no binding at all".into() } else { used.join(", ") };
            Failure::usage(format!("entry point '{}' does not use {self}", func.name))
                .note(format!("it uses {used}"))
        })
    }
}

/// `--set PLACE=SOURCE`, parsed and read.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Which binding.
    pub place: Place,
    /// What to bind.
    pub source: Source,
}

/// Data of a binding before its kind is known.
#[derive(Clone, Debug)]
pub enum Source {
    /// Bytes of a buffer, and the type of their numbers where the source names one.
    Bytes { bytes: Vec<u8>, scalar: Option<Scalar> },
    /// Texels of a picture.
    Picture { width: u32, height: u32, rgba: Vec<u8>, srgb: bool },
    /// Texels as they lie in memory.
    Texels { format: Format, size: [u32; 3], levels: u32, bytes: Vec<u8> },
    /// A sampler.
    Sampler(Sampler),
}

impl Setting {
    /// Parses one `--set`.
    pub fn parse(text: &str) -> Result<Setting, Failure> {
        let (place, source) = text.split_once('=').ok_or_else(|| {
            Failure::usage(format!("--set {text}: a source is missing, as in --set 0.1=f32:1,2"))
        })?;
        let source = Source::parse(source).map_err(|mut failure| {
            if let Some(first) = failure.diagnostics.first_mut() {
                first.message.insert_str(0, &format!("--set {place}: "));
            }
            failure
        });
        Ok(Setting { place: Place::parse(place)?, source: source? })
    }
}

fn numbers<T>(
    list: &str,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(|item| {
            parse(item.trim())
                .ok_or_else(|| Failure::usage(format!("`{}` is not {what}", item.trim())))
        })
        .collect()
}

fn unsigned(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn signed(text: &str) -> Option<i32> {
    match text.strip_prefix('-') {
        Some(_) => text.parse().ok(),
        None if text.starts_with("0x") => unsigned(text).map(|bits| bits as i32),
        None => text.parse().ok(),
    }
}

/// Bytes from pairs of hexadecimal digits; white space, commas and underscores are free.
pub fn hex_bytes(text: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for (at, c) in text.char_indices() {
        if c.is_whitespace() || c == ',' || c == '_' {
            continue;
        }
        let digit = c.to_digit(16).ok_or_else(|| {
            Failure::usage(format!("`{c}` at offset {at} is not a hexadecimal digit"))
        })? as u8;
        match high.take() {
            None => high = Some(digit),
            Some(first) => bytes.push(first << 4 | digit),
        }
    }
    match high {
        None => Ok(bytes),
        Some(_) => Err(Failure::usage("an odd number of hexadecimal digits: two make a byte")),
    }
}

impl Source {
    /// Parses a SOURCE and reads the file that it names.
    pub fn parse(text: &str) -> Result<Source, Failure> {
        let unknown = || {
            Failure::usage(format!("`{text}` is not a source")).note(
                "sources are f32:1,2  f16:..  u32:..  i32:..  hex:..  zeros:BYTES  file:PATH  \
                 image:PATH.png[:rgba8unorm|rgba8unorm-srgb]  texture:FORMAT:WxHxD[:mipN]:file:PATH  \
                 sampler:linear|nearest[,repeat|clamp|mirror][,compare=less]",
            )
        };
        let (kind, rest) = text.split_once(':').ok_or_else(unknown)?;
        let words = |scalar, words: Vec<u32>| Source::Bytes {
            bytes: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            scalar: Some(scalar),
        };
        let untyped = |bytes| Source::Bytes { bytes, scalar: None };
        Ok(match kind {
            "f32" => words(
                Scalar::F32,
                numbers(rest, "a number", |item| item.parse::<f32>().ok().map(f32::to_bits))?,
            ),
            "u32" => words(Scalar::U32, numbers(rest, "an unsigned 32-bit number", unsigned)?),
            "i32" => words(
                Scalar::I32,
                numbers(rest, "a signed 32-bit number", |item| {
                    signed(item).map(|value| value as u32)
                })?,
            ),
            "f16" => Source::Bytes {
                bytes: numbers(rest, "a number", |item| {
                    item.parse::<f64>().ok().map(half::f16::from_f64)
                })?
                .iter()
                .flat_map(|value| value.to_bits().to_le_bytes())
                .collect(),
                scalar: Some(Scalar::F16),
            },
            "hex" => untyped(hex_bytes(rest)?),
            "zeros" => match rest.parse::<u64>() {
                Ok(bytes) if bytes <= LARGEST_BUFFER => untyped(vec![0; bytes as usize]),
                Ok(bytes) => {
                    return Err(Failure::usage(format!(
                        "{bytes} bytes are too many: at most {LARGEST_BUFFER}"
                    )));
                }
                Err(_) => {
                    return Err(Failure::usage(format!("`{rest}` is not a number of bytes")));
                }
            },
            "file" => untyped(files::read(Path::new(rest))?),
            "image" => picture(rest)?,
            "texture" => texels(rest)?,
            "sampler" => Source::Sampler(sampler(rest)?),
            _ => return Err(unknown()),
        })
    }

    /// What it is, for messages.
    fn name(&self) -> &'static str {
        match self {
            Source::Bytes { .. } => "bytes",
            Source::Picture { .. } => "a picture",
            Source::Texels { .. } => "texels",
            Source::Sampler(_) => "a sampler",
        }
    }
}

fn picture(rest: &str) -> Result<Source, Failure> {
    let (path, srgb) = if let Some(path) = rest.strip_suffix(":rgba8unorm-srgb") {
        (path, true)
    } else {
        (rest.strip_suffix(":rgba8unorm").unwrap_or(rest), false)
    };
    let bytes = files::read(Path::new(path))?;
    let bad = |error: png::DecodingError| {
        Failure::usage(format!("cannot read {path} as a PNG picture: {error}"))
    };
    let mut decoder = png::Decoder::new_with_limits(
        std::io::Cursor::new(bytes),
        png::Limits { bytes: LARGEST_BUFFER as usize },
    );
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(bad)?;
    let size = reader
        .output_buffer_size()
        .filter(|&size| size as u64 <= LARGEST_BUFFER)
        .ok_or_else(|| Failure::usage(format!("{path} is too large a picture")))?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(bad)?;
    pixels.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::Rgba => pixels,
        png::ColorType::Rgb => {
            pixels.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect()
        }
        png::ColorType::Grayscale => pixels.iter().flat_map(|&v| [v, v, v, 255]).collect(),
        png::ColorType::GrayscaleAlpha => {
            pixels.chunks_exact(2).flat_map(|p| [p[0], p[0], p[0], p[1]]).collect()
        }
        png::ColorType::Indexed => {
            return Err(Failure::usage(format!(
                "{path}: the palette of this picture cannot be resolved"
            )));
        }
    };
    Ok(Source::Picture { width: info.width, height: info.height, rgba, srgb })
}

fn texels(rest: &str) -> Result<Source, Failure> {
    let bad =
        || Failure::usage(format!("`texture:{rest}`: write texture:FORMAT:WxHxD[:mipN]:file:PATH"));
    let (format, rest_1) = rest.split_once(':').ok_or_else(bad)?;
    let (size, rest_2) = rest_1.split_once(':').ok_or_else(bad)?;
    let format = Format::from_name(format)
        .ok_or_else(|| Failure::usage(format!("`{format}` is not a WebGPU texture format")))?;
    let numbers: Vec<u32> =
        size.split('x').map(|n| n.parse().ok()).collect::<Option<_>>().ok_or_else(bad)?;
    let size = match *numbers {
        [w] => [w, 1, 1],
        [w, h] => [w, h, 1],
        [w, h, d] => [w, h, d],
        _ => return Err(bad()),
    };
    let (levels, path) = match rest_2.strip_prefix("mip") {
        Some(rest) => {
            let (levels, rest) = rest.split_once(':').ok_or_else(bad)?;
            (levels.parse().map_err(|_| bad())?, rest)
        }
        None => (1, rest_2),
    };
    let path = path.strip_prefix("file:").ok_or_else(bad)?;
    Ok(Source::Texels { format, size, levels, bytes: files::read(Path::new(path))? })
}

fn sampler(rest: &str) -> Result<Sampler, Failure> {
    let mut parts = rest.split(',');
    let filter = parts.next().unwrap_or_default();
    let mut wrap = Wrap::Clamp;
    let mut compare = None;
    for part in parts {
        match part {
            "repeat" => wrap = Wrap::Repeat,
            "clamp" => wrap = Wrap::Clamp,
            "mirror" => wrap = Wrap::Mirror,
            _ => match part.strip_prefix("compare=").map(Compare::from_name) {
                Some(Some(found)) => compare = Some(found),
                _ => {
                    return Err(Failure::usage(format!(
                        "`{part}` is no property of a sampler: repeat, clamp, mirror or compare=less"
                    )));
                }
            },
        }
    }
    let sampler = match filter {
        "linear" => Sampler::linear(wrap),
        "nearest" => Sampler::nearest(wrap),
        _ => {
            return Err(Failure::usage(format!("`{filter}` is no filter: linear or nearest")));
        }
    };
    Ok(Sampler { compare, ..sampler })
}

/// Binds what `--set` gives and zeros elsewhere.
pub fn bind(func: &Func, settings: &[Setting]) -> Result<Bindings, Failure> {
    let mut bindings = gpucc::execute::bindings(func)?;
    let mut set = vec![false; func.resources.len()];
    for setting in settings {
        let resource = setting.place.find(func)?;
        let bound = bound(func, resource, &setting.place, &setting.source)?;
        bindings.set(resource, bound);
        set[resource.as_u32() as usize] = true;
    }
    for (resource, data) in &func.resources {
        if set[resource.as_u32() as usize] {
            continue;
        }
        let what = match data.kind {
            ResourceKind::Storage { stride, .. } if stride != 0 => "is an array of unknown length",
            ResourceKind::Texture { .. } => "is a texture",
            ResourceKind::StorageTexture { .. } => "is a storage texture",
            ResourceKind::Sampler { .. } => {
                // A sampler has a sensible default: WebGPU's own.
                bindings.set(resource, Bound::Sampler(Sampler::default()));
                continue;
            }
            ResourceKind::Storage { .. }
            | ResourceKind::Uniform { .. }
            | ResourceKind::Immediate { .. } => continue,
        };
        let place = Place::of(data);
        return Err(Failure::usage(format!(
            "{} {what} and needs --set {place}=SOURCE",
            place.named(data)
        )));
    }
    Ok(bindings)
}

fn bound(
    func: &Func,
    resource: Resource,
    place: &Place,
    source: &Source,
) -> Result<Bound, Failure> {
    let data = &func.resources[resource];
    let named = place.named(data);
    let wrong = |wanted: &str| {
        Failure::usage(format!("{named} is {wanted}, and {} was given", source.name()))
    };
    let stride = match data.kind {
        ResourceKind::Storage { stride, .. } => stride,
        _ => 0,
    };
    match data.kind {
        ResourceKind::Uniform { size }
        | ResourceKind::Immediate { size }
        | ResourceKind::Storage { size, .. } => match source {
            Source::Bytes { bytes, scalar } => {
                if let Some(scalar) = *scalar
                    && !data.mixed
                    && scalar != data.scalar
                {
                    let (held, given) = (data.scalar.word(), scalar.word());
                    return Err(Failure::usage(format!(
                        "{named} holds {held}, and {given} was given"
                    ))
                    .note(format!("write {held}:..., or hex:... for bytes of any type")));
                }
                let given = bytes.len();
                if given < size as usize {
                    return Err(Failure::usage(format!(
                        "{named} takes {size} bytes{}, and {given} were given",
                        if stride == 0 { "" } else { " before its array" }
                    )));
                }
                let tail = given - size as usize;
                if stride != 0 && !tail.is_multiple_of(stride as usize) {
                    return Err(Failure::usage(format!(
                        "{named} ends in an array of elements of {stride} bytes, and {tail} bytes were given for it",
                    )));
                }
                Ok(Bound::Buffer(bytes.clone()))
            }
            _ => Err(wrong("a buffer")),
        },
        ResourceKind::Texture { dim, arrayed, .. }
        | ResourceKind::StorageTexture { dim, arrayed, .. } => match source {
            Source::Picture { width, height, rgba, srgb } => {
                let format = if *srgb { Format::Rgba8UnormSrgb } else { Format::Rgba8Unorm };
                image(place, format, dim, arrayed, [*width, *height, 1], 1, rgba)
            }
            Source::Texels { format, size, levels, bytes } => {
                image(place, *format, dim, arrayed, *size, *levels, bytes)
            }
            _ => Err(wrong("a texture")),
        },
        ResourceKind::Sampler { comparison } => match source {
            Source::Sampler(sampler) => {
                if comparison != sampler.compare.is_some() {
                    let wanted = if comparison {
                        "a comparison sampler: add compare=less"
                    } else {
                        "an ordinary sampler: leave out compare="
                    };
                    return Err(Failure::usage(format!("{named} is {wanted}")));
                }
                Ok(Bound::Sampler(*sampler))
            }
            _ => Err(wrong("a sampler")),
        },
    }
}

fn image(
    place: &Place,
    format: Format,
    dim: Dim,
    arrayed: bool,
    [width, height, last]: [u32; 3],
    levels: u32,
    texels: &[u8],
) -> Result<Bound, Failure> {
    let layered = arrayed || dim == Dim::Cube;
    let extent = Extent {
        dim,
        width,
        height,
        depth: if dim == Dim::D3 { last } else { 1 },
        layers: if layered { last } else { 1 },
        levels,
        samples: 1,
    };
    if !layered && dim != Dim::D3 && last != 1 || dim == Dim::D1 && height != 1 {
        return Err(Failure::usage(format!(
            "{place}: the size {width}x{height}x{last} does not fit the dimension of the binding"
        )));
    }
    let mut image =
        Image::new(format, extent).map_err(|error| Failure::usage(format!("{place}: {error}")))?;
    if image.bytes().len() != texels.len() {
        return Err(Failure::usage(format!(
            "{place}: the texels take {} bytes, and {} were given",
            image.bytes().len(),
            texels.len()
        )));
    }
    image.bytes_mut().copy_from_slice(texels);
    Ok(Bound::Image(image))
}

/// How words are printed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Print {
    F32,
    F16,
    U32,
    I32,
    Hex,
}

/// `--dump PLACE[:TYPE][=PATH]`.
#[derive(Clone, Debug)]
pub struct Dump {
    /// Which binding.
    pub place: Place,
    /// How; by the binding's scalar when absent.
    pub print: Option<Print>,
    /// Raw bytes go here instead.
    pub path: Option<PathBuf>,
}

impl Dump {
    /// Parses one `--dump`.
    pub fn parse(text: &str) -> Result<Dump, Failure> {
        let (what, path) = match text.split_once('=') {
            Some((what, path)) => (what, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let (place, print) = match what.split_once(':') {
            Some((place, print)) => (place, Some(print)),
            None => (what, None),
        };
        let print = match print {
            None => None,
            Some("f32") => Some(Print::F32),
            Some("f16") => Some(Print::F16),
            Some("u32") => Some(Print::U32),
            Some("i32") => Some(Print::I32),
            Some("hex") => Some(Print::Hex),
            Some(other) => {
                return Err(Failure::usage(format!(
                    "`{other}` is no type to print: f32, f16, u32, i32 or hex"
                )));
            }
        };
        Ok(Dump { place: Place::parse(place)?, print, path })
    }

    /// The bytes of the binding that it asks for.
    pub fn bytes<'b>(&self, func: &Func, bindings: &'b Bindings) -> Result<&'b [u8], Failure> {
        match bindings.get(self.place.find(func)?, 0) {
            Bound::Buffer(bytes) => Ok(bytes),
            Bound::Image(image) => Ok(image.bytes()),
            Bound::Sampler(_) | Bound::Nothing => {
                Err(Failure::usage(format!("{} holds no data to dump", self.place)))
            }
        }
    }

    /// The line that it prints, without the newline.
    pub fn line(&self, func: &Func, bindings: &Bindings) -> Result<String, Failure> {
        let resource = self.place.find(func)?;
        let print = self.print.unwrap_or(match bindings.get(resource, 0) {
            Bound::Image(_) => Print::Hex,
            _ => match func.resources[resource].scalar {
                Scalar::F32 => Print::F32,
                Scalar::F16 => Print::F16,
                Scalar::I32 => Print::I32,
                Scalar::U32 | Scalar::Bool => Print::U32,
            },
        });
        let bytes = self.bytes(func, bindings)?;
        let mut line = format!("{}:", self.place);
        match print {
            Print::Hex => {
                line.push(' ');
                line.push_str(&gpucc::hex(bytes));
            }
            Print::F16 => {
                for pair in bytes.chunks_exact(2) {
                    let value = half::f16::from_le_bytes([pair[0], pair[1]]);
                    line.push(' ');
                    line.push_str(&float(value.to_f32()));
                }
            }
            Print::F32 | Print::U32 | Print::I32 => {
                for word in bytes.chunks_exact(4) {
                    let word = u32::from_le_bytes(word.try_into().expect("chunks of four"));
                    line.push(' ');
                    line.push_str(&match print {
                        Print::F32 => float(f32::from_bits(word)),
                        Print::I32 => (word as i32).to_string(),
                        _ => word.to_string(),
                    });
                }
            }
        }
        Ok(line)
    }
}

/// A float so that it reads back to the same bits (NaN apart).
pub fn float(value: f32) -> String {
    let size = value.abs();
    if value.is_finite() && size != 0.0 && !(1e-4..1e9).contains(&size) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back_to_the_same_bits() {
        for bits in [
            0,
            0x8000_0000,
            1,
            0x3F80_0000,
            0x7F7F_FFFF,
            0x7F80_0000,
            0xFF80_0000,
            0x3A83_126F,
            0x4EE6_B280,
        ] {
            let text = float(f32::from_bits(bits));
            let back: f32 = text.parse().expect("a number");
            assert_eq!(back.to_bits(), bits, "{text}");
        }
        assert_eq!(float(f32::NAN), "NaN");
        assert_eq!(float(f32::NEG_INFINITY), "-inf");
    }

    #[test]
    fn every_kind_of_numbers_is_read() {
        let bytes = |text| match Source::parse(text) {
            Ok(Source::Bytes { bytes, .. }) => bytes,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(bytes("u32:1,0x10"), [1, 0, 0, 0, 16, 0, 0, 0]);
        assert_eq!(bytes("i32:-1"), [255; 4]);
        assert_eq!(bytes("f32:1"), [0, 0, 128, 63]);
        assert_eq!(bytes("f16:1"), [0, 0x3C]);
        assert_eq!(bytes("hex:0a 0B"), [10, 11]);
        assert_eq!(bytes("zeros:3"), [0; 3]);
        for bad in ["u32:-1", "f32:x", "hex:1", "hex:zz", "zeros:-1", "bogus:1", "f32"] {
            assert_eq!(Source::parse(bad).map(|_| ()).unwrap_err().exit_code(), 2, "{bad}");
        }
    }
}
