//! The media pipeline in generic mode: an object is a root thread. isa/gen4-pipeline.md 6.

use super::super::Model;
use super::super::dispatch::{Job, Limits};
use super::super::functions::Context;
use super::super::memory::{Refused, Through};
use super::super::message::{Register, Unit};
use super::super::rule::Rule;
use super::super::state::{SECTIONS, Vfe};
use super::Gpu;

/// Indices of sections.
const VFE: usize = 4;
const CONSTANTS: usize = 5;

/// Threads of the machine. isa/gen4-pipeline.md 1.3.
const fn most_threads(model: Model) -> u32 {
    match model {
        Model::I965 | Model::Gm965 => 32,
        Model::G45 => 50,
    }
}

/// The state of the front end, read when its pointer is sent.
pub fn vfe(gpu: &Gpu, pointer: u32) -> Result<Vfe, Refused> {
    let at = gpu.bases()?.general.wrapping_add(pointer);
    let word = |index: u32| gpu.memory.state(at.wrapping_add(4 * index));
    let (d0, d1, d2) = (word(0)?, word(1)?, word(2)?);
    let refused = |what: &str| Err((Rule::Vfe, what.to_string()));
    if d0 & 0x3f0 != 0 || d2 & 15 != 0 {
        return refused("reserved bits or an extended state");
    }
    if d1 & 0x7f != 0 {
        return refused("debugging, children or a mode that is not generic");
    }
    let (entries, size) = (d1 >> 9 & 0x7f, (d1 >> 16 & 0x1ff) + 1);
    let threads = (d1 >> 25) + 1;
    if entries == 0 || threads > most_threads(gpu.model) || d0 & 15 > 11 {
        return refused("the numbers of entries or threads, or the scratch");
    }
    let scratch = (d0 & !0x3ff, 1024 << (d0 & 15));
    Ok(Vfe { scratch, entries, rows: 2 * size, threads, descriptors: d2 })
}

/// Threads and entries, which must fit their section of the URB.
pub fn limits(gpu: &Gpu) -> Result<Limits, Refused> {
    let vfe = gpu.state.vfe.ok_or_else(|| (Rule::Vfe, "no MEDIA_STATE_POINTERS".to_string()))?;
    Ok(Limits { threads: vfe.threads, entries: Some(vfe.entries) })
}

/// Rows of a section of the URB.
fn section(fences: &[u32; SECTIONS], index: usize) -> u32 {
    let from = if index == 0 { 0 } else { fences[index - 1] };
    2 * fences[index].saturating_sub(from)
}

/// Entries fit their sections.
fn fits(gpu: &Gpu, vfe: &Vfe) -> Result<(), Refused> {
    let refused = |what: &str| Err((Rule::Fences, what.to_string()));
    let Some(fences) = &gpu.state.fences else { return refused("no URB_FENCE was sent") };
    if vfe.entries * vfe.rows > section(fences, VFE) {
        return refused("the entries of VFE");
    }
    match gpu.state.constant_entries {
        Some((entries, rows)) if entries * rows > section(fences, CONSTANTS) => {
            refused("the entries of constants")
        }
        _ => Ok(()),
    }
}

/// MEDIA_OBJECT: the words behind its header.
pub fn object(gpu: &Gpu, words: &[u32]) -> Result<Job, Refused> {
    let [index, bytes, from, inline @ ..] = words else {
        return Err((Rule::CommandLength, "MEDIA_OBJECT of less than 4 words".into()));
    };
    let vfe = gpu.state.vfe.ok_or_else(|| (Rule::Vfe, "no MEDIA_STATE_POINTERS".to_string()))?;
    fits(gpu, &vfe)?;
    let bases = gpu.bases()?;
    if *index > 0xff {
        return Err((Rule::CommandReserved, format!("interface descriptor {index}")));
    }
    let pointer = vfe.descriptors.wrapping_add(16 * index);
    let at = bases.general.wrapping_add(pointer);
    let mut words = [0u32; 4];
    for (offset, word) in [0, 4, 8, 12].into_iter().zip(&mut words) {
        *word = gpu.memory.state(at.wrapping_add(offset))?;
    }
    let [d0, d1, d2, d3] = words;
    let refused = |what: &str| Err((Rule::Interface, format!("{what} of descriptor {index}")));
    if d0 & 0x30 != 0 || d0 & 1 == 0 || d2 & 3 != 0 {
        return refused("reserved bits, or an even number of register blocks");
    }
    if d1 & 0x0008_ffff != 0 {
        return refused("exceptions or reserved bits");
    }
    let registers = 8 * ((d0 & 15) + 1);
    let rows = constants(gpu, d1 >> 20 & 63, d1 >> 26)?;
    let mut payload = vec![Register::UNDEFINED];
    // The handle, and pointers to the descriptor, the samplers and the surfaces; 5 is the place's.
    let header = [0, 0, pointer, d2 & !31, d3 & !31, 0, 0, 0];
    payload[0].words = header;
    payload[0].undefined = 0xfff0_00f0 & !(15 << 20);
    payload.extend(rows);
    let mut data = registers_of(inline);
    if *bytes > 0 {
        if !bytes.is_multiple_of(4) || *bytes > 0x1_0000 {
            return Err((Rule::Payload, format!("{bytes} bytes of indirect data")));
        }
        let at = bases.indirect.wrapping_add(*from);
        data.extend(rows_of(gpu, at, *bytes)?);
    }
    if data.len() > vfe.rows as usize {
        let what = format!("{} rows of {} of an entry", data.len(), vfe.rows);
        return Err((Rule::Payload, what));
    }
    payload.extend(data);
    if payload.len() > registers as usize {
        let what = format!("a payload of {} registers of {registers}", payload.len());
        return Err((Rule::Payload, what));
    }
    let mut context = Context::new(payload[0]);
    context.alternate = d1 >> 16 & 1 == 1;
    context.table = d3 & !31;
    Ok(Job {
        unit: Unit::Media,
        payload,
        program: d0 & !63,
        dispatched: 0xffff,
        single_program_flow: d1 >> 18 & 1 == 1,
        registers,
        scratch: vfe.scratch,
        context,
    })
}

/// Rows of constants that a unit reads.
pub fn constants(gpu: &Gpu, from: u32, count: u32) -> Result<Vec<Register>, Refused> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let (from, end) = (from as usize, (from + count) as usize);
    let missing = || (Rule::Constants, format!("rows {from} to {end} were not uploaded"));
    let uploaded = gpu.state.constants.as_deref().and_then(|rows| rows.get(from..end));
    Ok(uploaded.ok_or_else(missing)?.to_vec())
}

/// Double words as registers, what is missing of the last undefined.
fn registers_of(words: &[u32]) -> Vec<Register> {
    let row = |row: &[u32]| {
        let mut register = Register::UNDEFINED;
        for (index, word) in row.iter().enumerate() {
            register.words[index] = *word;
            register.undefined &= !(15 << (4 * index));
        }
        register
    };
    words.chunks(8).map(row).collect()
}

/// Memory as registers, with what nobody wrote.
pub fn rows_of(gpu: &Gpu, address: u32, bytes: u32) -> Result<Vec<Register>, Refused> {
    let mut rows = Vec::new();
    for at in (0..bytes).step_by(32) {
        let mut register = Register::UNDEFINED;
        for word in (0..8).take_while(|word| at + 4 * word < bytes) {
            let (value, undefined) =
                gpu.memory.word(address.wrapping_add(at + 4 * word), Through::Other)?;
            register.words[word as usize] = value;
            register.undefined &= !(15 << (4 * word));
            register.undefined |= u32::from(undefined) << (4 * word);
        }
        rows.push(register);
    }
    Ok(rows)
}
