//! Render target writes: formats, masks, blending, late depth. G45 vol. 4, 5.10.6; isa/gen4-pipeline.md 9.9.

use super::super::color::{Color, Depth, Presence, When};
use super::super::memory::{Refused, Through};
use super::super::message::{Message, Unit};
use super::super::rule::Rule;
use super::super::surface::{self, Kind, Surface};
use super::{Functions, defined};
use gpucc_emu::blend::blend_texel;
use gpucc_emu::format::Format;

/// What a pixel thread was dispatched with.
#[derive(Clone, Debug)]
pub struct Pixels {
    /// 16 channels, else 8.
    pub wide: bool,
    /// By channel, covered and alive at dispatch.
    pub covered: u16,
    /// Column and row of each channel.
    pub places: [[u32; 2]; 16],
    pub presence: Presence,
    pub color: Color,
    pub depth: Option<Depth>,
    /// r1.6, which says what the message carries.
    pub carries: u32,
}

impl Functions<'_> {
    /// # Errors
    /// The message is none of this pixel thread, or an access is refused.
    pub(super) fn target(&mut self, message: &Message<'_>) -> Result<(), Refused> {
        if message.sender.unit != Unit::Pixel {
            let what = format!("a {:?} thread", message.sender.unit);
            return Err((Rule::TargetUnit, what));
        }
        let bits = message.descriptor;
        let (entry, kind, last) = (bits & 0xff, bits >> 8 & 7, bits >> 11 & 1 == 1);
        if last != message.end_of_thread {
            return Err((Rule::TargetLast, format!("descriptor {:#06x}", bits & 0xffff)));
        }
        let masks = defined(message.payload, 0, 0)?;
        let live = masks as u16;
        let context = self.context(message.sender)?;
        let own = context.header.words[0];
        if (masks ^ own) >> 16 != 0 {
            let what = format!("word 0 of the header is {masks:#x}, of r0 {own:#x}");
            return Err((Rule::TargetMask, what));
        }
        let table = context.table;
        let Some(pixels) = context.pixels.clone() else {
            return Err((Rule::TargetUnit, "the thread has no pixels".into()));
        };
        let presence = pixels.presence;
        let form = |what: String| Err((Rule::TargetForm, what));
        if kind != if pixels.wide { 0 } else { 4 } {
            return form(format!("type {kind} of {} channels", if pixels.wide { 16 } else { 8 }));
        }
        let rows = if pixels.wide { 2 } else { 1 };
        let color = 2 + usize::from(presence.stencil);
        let source = color + 4 * rows;
        let end = source + rows * (usize::from(presence.sent) + usize::from(presence.destination));
        if message.payload.len() != end {
            return form(format!("{} registers where {end} are due", message.payload.len()));
        }
        let carried = defined(message.payload, 1, 6)?;
        if (carried ^ pixels.carries) & 0x3800_0000 != 0 {
            return form(format!("word 6 of the second register is {carried:#x}"));
        }
        let target = surface::entry(self.model, self.memory, self.bases.surface, table, entry)?;
        let written = if target.kind == Kind::Null {
            None
        } else {
            Some(self.format_of(&target, entry, &pixels.color)?)
        };
        for channel in 0..8 * rows {
            if live & pixels.covered & 1 << channel == 0 {
                continue;
            }
            let depth = match presence.sent {
                true => Some(defined(message.payload, source + channel / 8, channel % 8)?),
                false => None,
            };
            let late = last && presence.when == When::Late;
            if late && !self.late(&pixels, channel, depth.map(f32::from_bits))? {
                continue;
            }
            let Some((format, blends)) = written else { continue };
            let mut components = [0; 4];
            for (component, value) in components.iter_mut().enumerate() {
                let hidden = target.masked >> component & 1 == 1;
                let absent = component as u32 >= format.components() && !blends;
                if hidden && !blends || absent {
                    continue;
                }
                let register = color + component + 4 * (channel / 8);
                *value = defined(message.payload, register, channel % 8)?;
            }
            self.put(&target, format, blends, components, pixels.places[channel], &pixels.color)?;
        }
        Ok(())
    }

    /// The format of a target, and whether it is blended.
    fn format_of(
        &self,
        target: &Surface,
        entry: u32,
        color: &Color,
    ) -> Result<(Format, bool), Refused> {
        let refused = |rule, what: &str| Err((rule, format!("{what} of entry {entry}")));
        if !matches!(target.kind, Kind::Line | Kind::Plane) {
            return refused(Rule::NotBuilt, "the type");
        }
        if target.levels != 0 || target.first_layer != 0 || target.least_level != 0 {
            return refused(Rule::NotBuilt, "a level or a layer");
        }
        let (renders, blendable) = surface::renders(self.model, target.code);
        let blends = target.blend && color.blend.is_some();
        if !renders || blends && !blendable {
            return refused(Rule::TargetFormat, "the format");
        }
        match target.format() {
            // P 7.8.
            Some(format) if format.bytes() == 16 && target.tiled && target.walk_y => {
                refused(Rule::TargetFormat, "16 bytes a pixel in tiles of Y")
            }
            Some(format) => Ok((format, blends)),
            None => refused(Rule::NotBuilt, "the format"),
        }
    }

    /// Blends and writes a pixel; nothing happens outside of the target.
    fn put(
        &mut self,
        target: &Surface,
        format: Format,
        blends: bool,
        mut components: [u32; 4],
        [x, y]: [u32; 2],
        color: &Color,
    ) -> Result<(), Refused> {
        if x >= target.width || y >= target.height {
            return Ok(());
        }
        let bytes = format.bytes();
        let at = target.address(x, y, bytes);
        let all = (1u8 << format.components()) - 1;
        let keeps = target.masked & all != 0;
        let mut texel = [0u8; 16];
        let texel = &mut texel[..bytes as usize];
        if blends || keeps {
            let found = self.memory.load(at, bytes as usize, Through::Render)?;
            if found.undefined.contains(&true) {
                return Err((Rule::Undefined, format!("pixel {x}, {y} of a target that is kept")));
            }
            texel.copy_from_slice(&found.bytes);
        }
        if blends || keeps {
            let old = format.decode(texel);
            if let Some(blend) = color.blend.filter(|_| blends) {
                let within =
                    |bits: u32| color.clamps.map_or(bits, |range| range.clamp(format, bits));
                let constant = color.constant.map(|value| f32::from_bits(within(value.to_bits())));
                let source = components.map(within);
                components = blend_texel(&blend, source, [0; 4], old, constant);
            }
            for component in 0..4 {
                if target.masked >> component & 1 == 1 {
                    components[component] = old[component];
                }
            }
        }
        format.encode(components, texel);
        self.memory.render(at, texel)
    }

    /// Depth that is tested and written with the last message. False where the pixel fails.
    fn late(
        &mut self,
        pixels: &Pixels,
        channel: usize,
        source: Option<f32>,
    ) -> Result<bool, Refused> {
        let (Some(buffer), Some(source)) = (pixels.depth, source) else { return Ok(true) };
        let [x, y] = pixels.places[channel];
        test(self.memory, &pixels.color, &buffer, [x, y], source)
    }
}

/// Tests a pixel's depth and writes it where it passes.
///
/// # Errors
/// The depth buffer is not mapped or not written.
pub fn test(
    memory: &mut super::super::memory::Memory,
    color: &Color,
    buffer: &Depth,
    [x, y]: [u32; 2],
    source: f32,
) -> Result<bool, Refused> {
    if x >= buffer.width || y >= buffer.height {
        return Ok(true);
    }
    if let Some(compare) = color.depth_test {
        let stored = buffer.load(memory, x, y)?;
        if !compare.test(buffer.rounded(source), stored) {
            return Ok(false);
        }
        // Depth is written where it is tested alone.
        if color.depth_write {
            buffer.store(memory, x, y, source)?;
        }
    }
    Ok(true)
}
