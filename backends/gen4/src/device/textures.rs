//! Textures and samplers as a driver lays them out: levels and layers in memory, formats, SURFACE_STATE and SAMPLER_STATE.
//! isa/gen4-pipeline.md 1.5; isa/gen4.md 1.8.

use super::chip::Chip;
use super::surfaces::Surface;
use crate::targets::surface_code;
use gpucc_emu::device::Stop;
use gpucc_emu::image::{Image, Texel};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::Dim;

/// What widths and heights of levels are rounded up to. isa/gen4-pipeline.md 1.5.
const COLUMNS: u32 = 4;
const ROWS: u32 = 2;
/// A cube has all of its faces.
const FACES: u32 = 0x3f;
/// What every row begins at a multiple of.
const PITCH: u32 = 64;
/// The largest level of a sampler. isa/gen4-pipeline.md 1.5.
const LAST_LEVEL: f32 = 13.0;

/// Where the slices of an image begin, in texels and rows, and how many of both it takes.
struct Layout {
    /// By level and slice.
    starts: Vec<Vec<[u32; 2]>>,
    width: u32,
    height: u32,
}

impl Layout {
    /// Lines and planes: level 1 below level 0, level 2 right of level 1, the others below each other; layers follow with a
    /// distance of both first levels and 11 rows of blocks, even where there is no second level.
    fn plane(image: &Image) -> Layout {
        let extent = *image.extent();
        let sizes: Vec<[u32; 2]> = (0..extent.levels).map(|level| rounded(image, level)).collect();
        let first = sizes[0];
        let second = (image.size(0)[1] >> 1).max(1).next_multiple_of(ROWS);
        let distance = first[1] + second + 11 * ROWS;
        let (mut at, mut starts) = ([0, 0], Vec::new());
        let (mut width, mut height) = (first[0], first[1]);
        for (level, [w, h]) in sizes.into_iter().enumerate() {
            width = width.max(at[0] + w);
            height = height.max(at[1] + h);
            starts
                .push((0..extent.layers).map(|layer| [at[0], at[1] + layer * distance]).collect());
            match level {
                1 => at[0] += w,
                _ => at[1] += h,
            }
        }
        Layout { starts, width, height: height + (extent.layers - 1) * distance }
    }

    /// Volumes and cubes: levels below each other, of level n 2^n slices side by side.
    fn volume(image: &Image) -> Layout {
        let extent = *image.extent();
        let (mut top, mut width, mut starts) = (0, 0, Vec::new());
        for level in 0..extent.levels {
            let [w, h] = rounded(image, level);
            let slices = match extent.dim {
                Dim::Cube => extent.layers,
                _ => image.size(level)[2],
            };
            let beside = 1 << level;
            let place = |slice: u32| [slice % beside * w, top + slice / beside * h];
            starts.push((0..slices).map(place).collect());
            width = width.max(slices.min(beside) * w);
            top += slices.div_ceil(beside) * h;
        }
        Layout { starts, width, height: top }
    }
}

/// Width and height of a level as memory has them.
fn rounded(image: &Image, level: u32) -> [u32; 2] {
    let [width, height, _] = image.size(level);
    [width.next_multiple_of(COLUMNS), height.next_multiple_of(ROWS)]
}

/// Puts an image into memory.
///
/// # Errors
/// [`Stop::TooLarge`] for more than there are addresses, and for a format that the machine has not.
pub fn texture(chip: &mut Chip, image: &Image) -> Result<Surface, Stop> {
    let format = image.format();
    let Some(code) = surface_code(format) else {
        return Err(Stop::TooLarge(format!("{} is no format of this machine", format.name())));
    };
    let extent = *image.extent();
    let layout = match extent.dim {
        Dim::D1 | Dim::D2 => Layout::plane(image),
        Dim::D3 | Dim::Cube => Layout::volume(image),
    };
    let texel = format.bytes();
    let pitch = (layout.width * texel).next_multiple_of(PITCH);
    let mut bytes = vec![0; pitch as usize * layout.height as usize];
    for (level, slices) in (0..).zip(&layout.starts) {
        let [width, height, _] = image.size(level);
        for (slice, &[left, top]) in (0..).zip(slices) {
            for y in 0..height {
                let at = match extent.dim {
                    Dim::D3 => Texel { y, z: slice, level, ..Texel::default() },
                    _ => Texel { y, layer: slice, level, ..Texel::default() },
                };
                let Some(from) = image.offset(at) else { continue };
                let to = ((top + y) * pitch + left * texel) as usize;
                let count = (width * texel) as usize;
                bytes[to..to + count].copy_from_slice(&image.bytes()[from..from + count]);
            }
        }
    }
    let at = chip.put(&bytes)?;
    let (kind, deep) = match extent.dim {
        Dim::D1 => (0, extent.layers),
        Dim::D2 => (1 << 29, extent.layers),
        Dim::D3 => (2 << 29, extent.depth),
        Dim::Cube => (3 << 29 | FACES, 1),
    };
    let height = if extent.dim == Dim::D1 { 1 } else { extent.height };
    Ok([
        kind | code << 18,
        at,
        (extent.levels - 1) << 2 | (extent.width - 1) << 6 | (height - 1) << 19,
        (pitch - 1) << 3 | (deep - 1) << 21,
        0,
        0,
    ])
}

/// Wrap modes of a state.
fn wrap(wrap: Wrap) -> Result<u32, Stop> {
    Ok(match wrap {
        Wrap::Repeat => 0,
        Wrap::Mirror => 1,
        Wrap::Clamp => 2,
        Wrap::Border => 4,
        Wrap::MirrorOnce => 5,
        Wrap::MirrorOnceBorder => {
            return Err(Stop::TooLarge("the machine does not mirror once to a border".into()));
        }
    })
}

/// What a state's sampler is used with.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Used {
    /// Cubes alone.
    Cubes,
    /// Lines alone.
    Lines,
    Others,
}

/// SAMPLER_STATE of a sampler. A comparison that holds gives 0, so the state has the opposite of what is asked.
///
/// # Errors
/// [`Stop::TooLarge`] for what the machine has not.
pub fn sampler(chip: &mut Chip, sampler: &Sampler, used: Used) -> Result<[u32; 4], Stop> {
    let filter = |filter: Filter| u32::from(filter == Filter::Linear);
    let mip = match sampler.mip {
        MipFilter::None => 0,
        MipFilter::Nearest => 1,
        MipFilter::Linear => 3,
    };
    let compare = match sampler.compare {
        None => 0,
        Some(Compare::Never) => 0,
        Some(Compare::Always) => 1,
        Some(Compare::GreaterEqual) => 5,
        Some(Compare::NotEqual) => 3,
        Some(Compare::Greater) => 7,
        Some(Compare::LessEqual) => 2,
        Some(Compare::Equal) => 6,
        Some(Compare::Less) => 4,
    };
    let wraps = match used {
        Used::Cubes => [3; 3],
        _ => {
            let [x, y, z] = sampler.wrap;
            // The border of a line leaks through v.
            let y = if used == Used::Lines { Wrap::Repeat } else { y };
            [wrap(x)?, wrap(y)?, wrap(z)?]
        }
    };
    let border = match sampler.wrap.contains(&Wrap::Border) && used != Used::Cubes {
        true => chip.put_words(&sampler.border)?,
        false => 0,
    };
    // APIs clamp a level to the sampler's range before they ask whether a texture is magnified. The machine's LOD PreClamp clamps
    // to the texture's levels too (G45 vol. 4, 4.2.1.5), so that one level would never be minified. So it is on only where the
    // range says that nothing is magnified, and where the range has no level above 0, nothing is minified.
    let least = sampler.lod_min > 0.0;
    let (mag, min) = match (least, sampler.lod_max > 0.0) {
        (true, _) => (sampler.min, sampler.min),
        (_, true) => (sampler.mag, sampler.min),
        _ => (sampler.mag, sampler.mag),
    };
    // Without it the largest level bounds what is rounded already (4.7.3, Max LOD, errata).
    let most = match sampler.mip {
        MipFilter::Nearest if !least => (sampler.lod_max + 0.5).floor(),
        _ => sampler.lod_max,
    };
    let sixths = |level: f32| (level.clamp(0.0, LAST_LEVEL) * 64.0) as u32;
    let bias = ((sampler.lod_bias.clamp(-16.0, 15.984_375) * 64.0) as i32 as u32) & 0x7ff;
    let [x, y, z] = wraps;
    Ok([
        u32::from(least) << 28
            | mip << 20
            | filter(mag) << 17
            | filter(min) << 14
            | bias << 3
            | compare,
        sixths(sampler.lod_min) << 22 | sixths(most) << 12 | x << 6 | y << 3 | z,
        border,
        0,
    ])
}
