//! What the words around a program say, read back by the emulator's model: semantics of parameters, how they are
//! interpolated, textures and samplers. The numbers of the ABI stand here once more (docs/abi-r700.md).

use crate::driver::{self, SamplerUse};
use crate::emu::{FetchResource, model};
use gpucc_emu::device::Stop;
use gpucc_emu::image::Image;
use gpucc_emu::sampler::Sampler;
use gpucc_ir::ssa::{InputKind, Interpolation, Span};

/// The semantic that stands for a location. abi-r700: Vertex.
pub const fn semantic(location: u32) -> u32 {
    location + 1
}

/// What the report's words say is not what is bound or declared.
pub fn differs(rule: &str, message: String) -> Stop {
    Stop::Illegal { rule: rule.into(), message, span: Span::NONE }
}

/// Words of a resource or sampler constant by their places in it, whatever its number; then border colours.
fn words<const N: usize>(written: &[crate::StateRegister], base: u32) -> [u32; N] {
    std::array::from_fn(|n| {
        let at = base + 4 * n as u32;
        let found = written.iter().find(|register| register.address == at);
        found.map_or(0, |register| register.value)
    })
}

/// An image as the words that a driver writes describe it, or itself where the machine has no words for it.
pub fn texture(image: &Image, arrayed: bool) -> Result<FetchResource, Stop> {
    let described = driver::Texture {
        format: image.format(),
        extent: *image.extent(),
        arrayed,
        base: 0,
        mips: 0,
    };
    if let Ok(written) = driver::texture_words(&described, 0) {
        compared(image, &words(&written, 0x38000))?;
    }
    Ok(FetchResource::Texture(image.clone()))
}

/// Refuses words that describe another image.
pub fn compared(image: &Image, words: &[u32; 7]) -> Result<(), Stop> {
    let found = model::described(words);
    let (format, extent) = found.map_err(|what| differs("texture constant", what))?;
    // Depth and stencil share the words of colours.
    let same = (format.kind(), format.bytes()) == (image.format().kind(), image.format().bytes());
    if !same || extent != *image.extent() {
        let message = format!(
            "the words describe {} {extent:?}, bound is {} {:?}",
            format.name(),
            image.format().name(),
            image.extent()
        );
        return Err(differs("texture constant", message));
    }
    Ok(())
}

/// A sampler as the words that a driver writes for one use of it describe it; and whether the words leave layers unfiltered.
pub fn sampler(bound: &Sampler, of: SamplerUse) -> Result<(Sampler, bool), Stop> {
    let borders = 0xA400;
    let written = driver::sampler_words(bound, 0, borders, of)
        .map_err(|error| differs("sampler constant", error.to_string()))?;
    let constant = words(&written, 0x3C000);
    let found = model::sampler(&constant, words(&written, borders));
    let found = found.map_err(|what| differs("sampler constant", what))?;
    Ok((found, model::overrides_arrays(&constant)))
}

/// Refuses an input that SPI_PS_INPUT_CNTL interpolates in another way than the function declares.
pub fn declared(
    kind: &InputKind,
    entries: &[model::InputEntry],
    semantic: u32,
) -> Result<(), Stop> {
    let InputKind::Location { interpolation, sampling, location, .. } = *kind else {
        return Ok(());
    };
    let same = |entry: &model::InputEntry| {
        let flat = interpolation == Interpolation::Flat;
        entry.interpolation == interpolation && (flat || entry.sampling == sampling)
    };
    let mut own = entries.iter().filter(|entry| entry.semantic == semantic);
    match own.clone().find(|entry| same(entry)).or_else(|| own.next()) {
        Some(entry) if same(entry) => Ok(()),
        Some(entry) => {
            let message = format!("location {location} is interpolated as {entry:?}");
            Err(differs("SPI_PS_INPUT_CNTL", message))
        }
        None => {
            let message = format!("no register takes the semantic of location {location}");
            Err(differs("SPI_PS_INPUT_CNTL", message))
        }
    }
}
