//! Commands of a batch buffer. isa/gen4-pipeline.md 1.4.

use super::super::Model;
use super::super::memory::Refused;
use super::super::rule::{Rule, Trap};
use super::super::run::Run;
use super::super::state::{Bases, Pipeline, SECTIONS, Units};
use super::fetch::Primitive;
use super::{Gpu, media};

const NOOP: u32 = 0;
const FLUSH: u32 = 0x0200_0000;
const END: u32 = 0x0500_0000;

/// Units of the URB. isa/gen4-pipeline.md 1.3.
const fn units(model: Model) -> u32 {
    match model {
        Model::I965 | Model::Gm965 => 256,
        Model::G45 => 384,
    }
}

/// Executes commands up to the end of the batch.
pub fn batch(gpu: &mut Gpu, address: u32, bytes: u32, run: &mut Run<'_>) -> Result<(), Trap> {
    let mut at = 0;
    loop {
        let trap = |(rule, detail): Refused| Trap::new(rule, at, detail);
        let short = || (Rule::CommandLength, "the batch ends within its commands".to_string());
        if !bytes.is_multiple_of(4) || at + 4 > bytes {
            return Err(trap(short()));
        }
        let header = gpu.memory.state(address.wrapping_add(at)).map_err(trap)?;
        if header == END {
            gpu.finish_objects(run)?;
            return Ok(());
        }
        let length = length(gpu.model, header).map_err(trap)?;
        if length > (bytes - at) / 4 {
            return Err(trap(short()));
        }
        let words = (1..length).map(|word| gpu.memory.state(address.wrapping_add(at + 4 * word)));
        let words: Vec<u32> = words.collect::<Result<_, _>>().map_err(trap)?;
        if let Some(trace) = run.trace.as_mut() {
            trace(&format!("command {header:#010x} at {at:#x}"));
        }
        let place = address.wrapping_add(at);
        // Threads that are in flight end before anything but their like.
        if header >> 16 != 0x7100 && header != NOOP {
            gpu.finish_objects(run)?;
        }
        execute(gpu, header, &words, place).map_err(trap)?;
        if header >> 16 == 0x7b00 {
            let primitive = Primitive::of(gpu.model, header, &words).map_err(trap)?;
            gpu.draw(&primitive, run)?;
        }
        at += 4 * length;
    }
}

/// Words of a command, which its header must say as the command has them.
fn length(model: Model, header: u32) -> Result<u32, Refused> {
    let unknown = || Err((Rule::Command, format!("{header:#010x}")));
    if header >> 29 == 0 {
        return match header >> 23 {
            0 | 4 => Ok(1),
            _ => unknown(),
        };
    }
    let told = (header & 0xff) + 2;
    let g45 = model == Model::G45;
    let (least, most) = match header >> 16 {
        0x6104 if !g45 => return Ok(1),
        0x6904 if g45 => return Ok(1),
        0x780b if !g45 => return Ok(1),
        0x680b if g45 => return Ok(1),
        0x6101 => (6, 6),
        0x6102 => (2, 2),
        0x6000 => (3, 3),
        0x6001 | 0x6002 => (2, 2),
        0x7000 => (3, 3),
        0x7100 => (4, 257),
        0x7800 => (7, 7),
        0x7801 => (6, 6),
        0x7900 => (4, 4),
        0x7901 => (5, 5),
        0x7905 => (if g45 { 6 } else { 5 }, if g45 { 6 } else { 5 }),
        0x7909 => (2, 2),
        0x7a00 => (4, 4),
        0x7808 => (5, 69),
        0x7809 => (3, 37),
        0x780a => (3, 3),
        0x7b00 => (6, 6),
        0x7906..=0x7908 | 0x790a => {
            return Err((Rule::NotBuilt, format!("command {header:#010x}")));
        }
        _ => return unknown(),
    };
    if !(least..=most).contains(&told) {
        return Err((Rule::CommandLength, format!("{told} words of {header:#010x}")));
    }
    Ok(told)
}

/// Bits that must be 0.
fn zero(bits: u32, what: &str) -> Result<(), Refused> {
    match bits {
        0 => Ok(()),
        _ => Err((Rule::CommandReserved, format!("{what}: {bits:#x}"))),
    }
}

fn execute(gpu: &mut Gpu, header: u32, words: &[u32], place: u32) -> Result<(), Refused> {
    let flushed = std::mem::replace(&mut gpu.state.flushed, false);
    match header >> 16 {
        0 => {
            zero(header, "MI_NOOP")?;
            gpu.state.flushed = flushed;
        }
        0x0200 => {
            zero(header & !FLUSH & !0xe, "MI_FLUSH")?;
            // Bit 2 keeps the render cache.
            if header & 4 == 0 {
                gpu.memory.flush();
            }
            gpu.textures.clear();
            gpu.state.flushed = true;
        }
        0x6104 | 0x6904 => {
            if !flushed {
                return Err((Rule::FlushMissing, "PIPELINE_SELECT".to_string()));
            }
            zero(header & 0xfffe, "PIPELINE_SELECT")?;
            let media = header & 1 == 1;
            gpu.state.pipeline = Some(if media { Pipeline::Media } else { Pipeline::Draw });
        }
        0x6101 => {
            zero(header & 0xff00, "STATE_BASE_ADDRESS")?;
            base_addresses(gpu, words)?;
        }
        0x6102 => zero(words[0] & 15, "STATE_SIP")?,
        0x6000 => fence(gpu, header, words, place)?,
        0x6001 => {
            zero(header & 0xff00 | words[0] & !0x1f7, "CS_URB_STATE")?;
            let (entries, size) = (words[0] & 7, (words[0] >> 4 & 31) + 1);
            gpu.state.constant_entries = Some((entries, 2 * size));
            gpu.state.constants = None;
        }
        0x6002 => constant_buffer(gpu, header, words[0])?,
        0x7000 => {
            selected(gpu, Pipeline::Media)?;
            zero(words[0], "an extended state")?;
            zero(header & 0xff00 | words[1] & 31, "MEDIA_STATE_POINTERS")?;
            gpu.state.vfe = Some(media::vfe(gpu, words[1])?);
        }
        0x7100 => {
            selected(gpu, Pipeline::Media)?;
            zero(header & 0xff00, "MEDIA_OBJECT")?;
            let job = media::object(gpu, words)?;
            gpu.objects.push(job);
        }
        0x7800 => {
            selected(gpu, Pipeline::Draw)?;
            gpu.bases()?;
            gpu.state.units = Some(pointers(words)?);
        }
        0x7801 => {
            gpu.bases()?;
            let mut tables = [0; 5];
            for (table, word) in tables.iter_mut().zip(words) {
                zero(word & 31, "a binding table")?;
                *table = *word;
            }
            gpu.state.tables = Some(tables);
        }
        0x7808 => {
            zero(header & 0xff00, "3DSTATE_VERTEX_BUFFERS")?;
            gpu.fetcher.buffers(words)?;
        }
        0x7809 => {
            zero(header & 0xff00, "3DSTATE_VERTEX_ELEMENTS")?;
            gpu.fetcher.elements(words)?;
        }
        0x780a => gpu.fetcher.index_buffer(header, words)?,
        // The draw follows.
        0x7b00 => selected(gpu, Pipeline::Draw)?,
        0x7900 => {
            let corner = |word: u32| [word & 0xffff, word >> 16];
            let ([left, top], [right, bottom]) = (corner(words[0]), corner(words[1]));
            zero(words[2], "the origin of a drawing rectangle (not built)")?;
            gpu.state.rectangle = Some([left, top, right, bottom]);
        }
        0x7901 => {
            for (constant, word) in gpu.state.blend_constant.iter_mut().zip(words) {
                *constant = f32::from_bits(*word);
            }
        }
        0x7905 => depth_buffer(gpu, words)?,
        0x7909 => gpu.state.clamp_due = false,
        0x780b | 0x680b => {}
        0x7a00 => {
            zero(header & 0xc000, "a write behind PIPE_CONTROL (not built)")?;
            if header >> 12 & 1 == 1 {
                gpu.memory.flush();
            }
            // The 965 has no bit for the sampler's cache. P 7.19.
            if header >> 10 & 1 == 1 {
                match gpu.model {
                    Model::G45 => gpu.textures.clear(),
                    Model::I965 | Model::Gm965 => zero(header & 0x400, "PIPE_CONTROL")?,
                }
            }
        }
        _ => return Err((Rule::Command, format!("{header:#010x}"))),
    }
    Ok(())
}

fn selected(gpu: &Gpu, pipeline: Pipeline) -> Result<(), Refused> {
    match gpu.state.pipeline {
        Some(found) if found == pipeline => Ok(()),
        found => Err((Rule::Pipeline, format!("{found:?} is selected"))),
    }
}

/// What is relative to bases must be sent again.
fn base_addresses(gpu: &mut Gpu, words: &[u32]) -> Result<(), Refused> {
    let mut bases = gpu.state.bases.unwrap_or_default();
    for (word, what) in words.iter().zip(["general", "surface", "indirect", "bound", "bound"]) {
        if word & 0xffe != 0 {
            return Err((Rule::StateAligned, format!("the {what} of bases: {word:#x}")));
        }
    }
    // A bound that was never set is 0, and pointers to border colours fail. P 1.4, 7.5.
    let set = words[3] & 1 == 1;
    if if set { words[3] & !0xfff != 0xffff_f000 } else { gpu.state.bases.is_none() } {
        return Err((Rule::Bases, format!("the general bound is {:#x}", words[3])));
    }
    let Bases { general, surface, indirect } = &mut bases;
    for (base, word) in [general, surface, indirect].into_iter().zip(words) {
        if word & 1 == 1 {
            *base = word & !0xfff;
        } else if gpu.state.bases.is_none() {
            return Err((Rule::Bases, "the first addresses set all bases".into()));
        }
    }
    gpu.state.bases = Some(bases);
    (gpu.state.vfe, gpu.state.units, gpu.state.tables) = (None, None, None);
    Ok(())
}

/// URB_FENCE: ends of sections in their order.
fn fence(gpu: &mut Gpu, header: u32, words: &[u32], place: u32) -> Result<(), Refused> {
    if place % 64 > 64 - 12 {
        return Err((Rule::FenceLine, format!("it begins at {place:#x}")));
    }
    zero(header & 0xc000, "URB_FENCE")?;
    zero(words[0] >> 30 | words[1] >> 31, "URB_FENCE")?;
    // Fields by section: VS, GS, CLIP, SF, VFE, CS; and the bit that says it is meant.
    let told = [
        words[0] & 0x3ff,
        words[0] >> 10 & 0x3ff,
        words[0] >> 20 & 0x3ff,
        words[1] & 0x3ff,
        words[1] >> 10 & 0x3ff,
        words[1] >> 20 & 0x7ff,
    ];
    let mut fences = gpu.state.fences.unwrap_or_default();
    for section in 0..SECTIONS {
        if header >> (8 + section) & 1 == 1 {
            fences[section] = told[section];
        }
    }
    // The sections that this pipeline uses follow each other.
    let mut last = 0;
    for (section, end) in fences.iter().enumerate() {
        let meant = header >> (8 + section) & 1 == 1;
        if meant && (*end < last || *end > units(gpu.model)) {
            return Err((Rule::Fences, format!("section {section} ends at {end} after {last}")));
        }
        last = if meant { *end } else { last.max(*end) };
    }
    gpu.state.fences = Some(fences);
    gpu.state.constants = None;
    Ok(())
}

/// CONSTANT_BUFFER: rows are copied into the entry of constants.
fn constant_buffer(gpu: &mut Gpu, header: u32, word: u32) -> Result<(), Refused> {
    zero(header & 0xfe00, "CONSTANT_BUFFER")?;
    if header >> 8 & 1 == 0 {
        gpu.state.constants = None;
        return Ok(());
    }
    let rows = 2 * ((word & 63) + 1);
    match gpu.state.constant_entries {
        Some((entries, size)) if entries > 0 && rows <= size && rows <= 64 => {}
        entries => {
            return Err((Rule::Constants, format!("{rows} rows in entries of {entries:?}")));
        }
    }
    if gpu.state.fences.is_none() {
        return Err((Rule::Fences, "no URB_FENCE was sent".into()));
    }
    gpu.state.constants = Some(media::rows_of(gpu, word & !63, 32 * rows)?);
    gpu.state.clamp_due = true;
    Ok(())
}

/// 3DSTATE_PIPELINED_POINTERS.
fn pointers(words: &[u32]) -> Result<Units, Refused> {
    for (index, word) in words.iter().enumerate() {
        let free = if matches!(index, 1 | 2) { 30 } else { 31 };
        let free = if index == 5 { 63 } else { free };
        if word & free != 0 {
            return Err((Rule::StateAligned, format!("unit pointer {index} is {word:#x}")));
        }
    }
    let enabled = |word: u32| (word & 1 == 1).then_some(word & !31);
    Ok(Units {
        vertex: words[0],
        geometry: enabled(words[1]),
        clip: enabled(words[2]),
        setup: words[3],
        pixel: words[4],
        color: words[5],
    })
}

/// 3DSTATE_DEPTH_BUFFER.
fn depth_buffer(gpu: &mut Gpu, words: &[u32]) -> Result<(), Refused> {
    let mut depth = [0; 5];
    for (kept, word) in depth.iter_mut().zip(words) {
        *kept = *word;
    }
    let null = depth[0] >> 29 == 7;
    if !null && depth[0] >> 26 & 3 != 3 {
        return Err((Rule::StateAligned, "a depth buffer has tiles of Y".into()));
    }
    // The base is that of a tile; G45 has offsets, multiples of 8. P 1.4, 7.8.
    let before = depth[4];
    if !null && (!depth[1].is_multiple_of(4096) || before & 0x7_0007 != 0) {
        let what = format!("a depth buffer at {:#x} with offsets {before:#x}", depth[1]);
        return Err((Rule::StateAligned, what));
    }
    if !null && before != 0 {
        return Err((Rule::NotBuilt, format!("offsets {before:#x} of a depth buffer")));
    }
    gpu.state.depth = Some(depth);
    Ok(())
}
