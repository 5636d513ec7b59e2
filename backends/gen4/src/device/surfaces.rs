//! What bindings are to the chip: the binding table, surface states, sampler states, from the described resources and what
//! is bound. docs/abi-gen4.md, Memory; isa/gen4-pipeline.md 1.5.

use super::chip::Chip;
use super::stored;
use super::textures::{self, Used};
use crate::describe::{
    BUFFER_TYPE, CUBE_SAMPLER, GATHER_CUBE_SAMPLER, GATHER_SAMPLER, LINE_SAMPLER, SAMPLER, SURFACE,
    surface_state,
};
use crate::targets;
use gpucc_emu::device::Stop;
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Dim, Func, Imm, Resource, ResourceKind};
use gpucc_machine::described::{Described, Setting};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Words of SURFACE_STATE on G45; the 965 has one less.
pub type Surface = [u32; 6];

/// Bytes of a surface's element that bounds are counted in. isa/gen4.md 1.8.
const ELEMENT: usize = 16;
/// What a byte behind a buffer holds, up to the end of its last element.
const REST: u8 = 0xa5;
/// The types of surfaces.
const BUFFER: u32 = BUFFER_TYPE << 29;

/// The render cache both reads and writes it.
const READ_WRITE: u32 = 1 << 8;

/// The tables of a program, and where what it may change lies.
#[derive(Default)]
pub struct Tables {
    /// Address of the binding table; 0 without an entry.
    pub surfaces: u32,
    /// Address of the sampler states; 0 without any.
    pub samplers: u32,
    /// Elements of bindings and addresses of bound bytes that the program may change.
    written: Vec<(Resource, u32, u32)>,
}

/// Puts what is bound into memory, with a surface state and an entry each; `targets` are entries by themselves.
///
/// # Errors
/// [`Stop::TooLarge`] for more than there are addresses.
pub fn bind(
    chip: &mut Chip,
    (func, described): (&Func, &Described),
    bindings: &Bindings,
    targets: &[Surface],
) -> Result<Tables, Stop> {
    let mut surfaces: BTreeMap<u32, Surface> = (0..).zip(targets.iter().copied()).collect();
    let mut tables = Tables::default();
    for told in &described.resources {
        let (Some(resource), Some(entry)) = (told.resource, told.place(SURFACE)) else {
            continue;
        };
        for element in 0..func.resources[resource].count.unwrap_or(1) {
            let surface = match bindings.get(resource, element) {
                Bound::Image(image) if kind(described, entry + element) == Some(BUFFER_TYPE) => {
                    let bytes = stored::linear(image);
                    let at = chip.put(&bytes)?;
                    tables.written.push((resource, element, at));
                    buffer(at, bytes.len())
                }
                Bound::Image(image) => {
                    let mut surface = textures::texture(chip, image)?;
                    if let Some(kind) = kind(described, entry + element) {
                        surface[0] = surface[0] & !(7 << 29) | kind << 29;
                    }
                    surface
                }
                bound => {
                    let bytes = bound.bytes();
                    let at = chip.put(&whole(bytes))?;
                    if matches!(func.resources[resource].kind, ResourceKind::Storage { .. }) {
                        tables.written.push((resource, element, at));
                    }
                    buffer(at, bytes.len())
                }
            };
            surfaces.insert(entry + element, surface);
        }
    }
    tables.samplers = samplers(chip, func, described, bindings)?;
    let Some((&last, _)) = surfaces.last_key_value() else { return Ok(tables) };
    let mut entries = vec![0; last as usize + 1];
    for (entry, surface) in surfaces {
        entries[entry as usize] = chip.put_words(&surface)?;
    }
    tables.surfaces = chip.put_words(&entries)?;
    Ok(tables)
}

/// The bytes of a buffer and the rest of the last element: messages read whole ones. The rest is arbitrary; a result must not
/// depend on it. docs/abi-gen4.md, Memory.
fn whole(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.len().is_multiple_of(ELEMENT) {
        return Cow::Borrowed(bytes);
    }
    let mut whole = bytes.to_vec();
    whole.resize(bytes.len().next_multiple_of(ELEMENT), REST);
    Cow::Owned(whole)
}

/// The type that the surface of an entry is told to have.
fn kind(described: &Described, entry: u32) -> Option<u32> {
    match described.state.get(&surface_state(entry)) {
        Some(Setting::Descriptor { words, .. }) => words.first().map(|word| word >> 29),
        _ => None,
    }
}

/// The states of samplers; a sampler of cubes, of lines beside others, or of gathers has one of its own.
fn samplers(
    chip: &mut Chip,
    func: &Func,
    described: &Described,
    bindings: &Bindings,
) -> Result<u32, Stop> {
    let mut states: BTreeMap<u32, [u32; 4]> = BTreeMap::new();
    for told in &described.resources {
        let Some(resource) = told.resource else { continue };
        for (table, used, texels) in [
            (CUBE_SAMPLER, Used::Cubes, false),
            (LINE_SAMPLER, Used::Lines, false),
            (SAMPLER, used(func, resource), false),
            (GATHER_SAMPLER, Used::Others, true),
            (GATHER_CUBE_SAMPLER, Used::Cubes, true),
        ] {
            let Some(first) = told.place(table) else { continue };
            for element in 0..func.resources[resource].count.unwrap_or(1) {
                if let Bound::Sampler(sampler) = bindings.get(resource, element) {
                    let sampler = if texels { sampler.of_texels() } else { *sampler };
                    states.insert(first + element, textures::sampler(chip, &sampler, used)?);
                }
            }
        }
    }
    let Some((&last, _)) = states.last_key_value() else { return Ok(0) };
    let mut words = vec![[0; 4]; last as usize + 1];
    for (number, state) in states {
        words[number as usize] = state;
    }
    chip.put_words(&words.concat())
}

/// What textures a sampler that is not for cubes is used with.
fn used(func: &Func, sampler: Resource) -> Used {
    let mut lines = false;
    for data in func.insts.values() {
        let Imm::Tex(tex) = data.imm else { continue };
        if tex.sampler.expand() != Some(sampler) || tex.texel {
            continue;
        }
        match func.resources[tex.texture].kind {
            ResourceKind::Texture { dim: Dim::D1, .. } => lines = true,
            ResourceKind::Texture { dim: Dim::Cube, .. } => {}
            _ => return Used::Others,
        }
    }
    if lines { Used::Lines } else { Used::Others }
}

impl Tables {
    /// Copies what the program may have changed back.
    ///
    /// # Errors
    /// None that a bound buffer has.
    pub fn read_back(&self, chip: &mut Chip, bindings: &mut Bindings) -> Result<(), Stop> {
        for &(resource, element, at) in &self.written {
            let bound = bindings.get_mut(resource, element);
            if let Some(Bound::Image(image)) = bound {
                let bytes = stored::linear(image).len();
                stored::take(image, &chip.read(at, bytes)?);
                continue;
            }
            if let Some(bytes) = bound.and_then(gpucc_emu::device::memory_of_mut) {
                let changed = chip.read(at, bytes.len())?;
                bytes.copy_from_slice(&changed);
            }
        }
        Ok(())
    }
}

/// A buffer of elements of 16 bytes, as many as hold the bytes; at least one, since none has no number.
fn buffer(at: u32, bytes: usize) -> Surface {
    let last = bytes.div_ceil(ELEMENT).max(1) as u32 - 1;
    let (width, height, depth) = (last & 0x7f, last >> 7 & 0x1fff, last >> 20 & 0x7f);
    let pitch = ELEMENT as u32 - 1;
    [BUFFER | READ_WRITE, at, width << 6 | height << 19, pitch << 3 | depth << 21, 0, 0]
}

/// A linear colour target of so many pixels, from column and row 0 on; rows are `pitch` bytes apart.
pub fn target(at: u32, format: u32, [width, height]: [u32; 2], pitch: u32) -> Surface {
    [
        targets::PLANE | format << 18,
        at,
        (width - 1) << 6 | (height - 1) << 19,
        (pitch - 1) << 3,
        0,
        0,
    ]
}
