//! Backend operations. 2.8, 2.9.

use super::super::inst::{
    Address, Atomic, Backend, Burst, Extended, Lod, MaskMode, Mode, Sample, Uvsw,
};
use super::super::rule::{Refused, Rule};
use super::{Cursor, bit, code, reserved};

/// One backend operation.
///
/// # Errors
/// Reserved bits and codes.
pub fn read(cursor: &mut Cursor<'_>) -> Result<Backend, Refused> {
    let first = cursor.next()?;
    match first >> 5 {
        0 => uvsw(cursor, first),
        1 => mask(cursor, first),
        2 => {
            let second = cursor.next()?;
            selected(first >> 2 & 7)?;
            if !bit(first, 0) {
                reserved(first, 0x02, "a phase change")?;
                port(second, "a phase change")?;
            } else if second >> 6 == 3 {
                // Bit 1 of the first byte says that the program ends.
                return code("rate of a phase change", 3);
            }
            Ok(Backend::Phase)
        }
        3 => {
            reserved(first, 0x1e, "a link's write")?;
            Ok(Backend::SetLink(first & 1))
        }
        4 => {
            reserved(first, 0x18, "a visibility test")?;
            if bit(first, 1) {
                let quiet = bit(first, 0);
                return Ok(Backend::AlphaTest { predicate: bit(first, 2), quiet });
            }
            reserved(first, 0x05, "depth feedback")?;
            Ok(Backend::Depth)
        }
        5 => iterate(cursor, first),
        6 => {
            reserved(first, 0x1d, "a pixel's emission")?;
            Ok(Backend::EmitPixel { free: bit(first, 1) })
        }
        _ => memory(cursor, first),
    }
}

/// A port in the low three bits of a byte whose others are 0.
fn port(byte: u8, what: &str) -> Result<u8, Refused> {
    reserved(byte, 0xf8, what)?;
    selected(byte & 7)
}

fn selected(number: u8) -> Result<u8, Refused> {
    if number < 6 { Ok(number) } else { code("port", number) }
}

fn uvsw(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    let (second_port, numbered) = (bit(first, 4), bit(first, 3));
    let op = first & 7;
    let nothing = Uvsw { write: None, emit: None, cut: false, end_task: false };
    if matches!(op, 0 | 6) {
        let byte = cursor.next()?;
        let address = match numbered {
            true => Address::Number(byte),
            false => Address::Port(port(byte, "a vertex output")?),
        };
        let last = op == 6;
        let emit = last.then_some(0);
        return Ok(Backend::Uvsw(Uvsw {
            write: Some((second_port, address)),
            emit,
            cut: false,
            end_task: last,
        }));
    }
    reserved(first, 0x10, "an operation of the vertex buffer")?;
    let ends = Uvsw { end_task: true, ..nothing };
    let uvsw = match op {
        1..=3 => {
            let stream = if numbered { cursor.next()? } else { 0 };
            reserved(stream, 0xfc, "a stream")?;
            Uvsw { emit: (op != 2).then_some(stream), cut: op != 1, ..nothing }
        }
        4 | 5 if numbered => return code("operation of the vertex buffer", first),
        4 => ends,
        5 => Uvsw { emit: Some(0), ..ends },
        other => return code("operation of the vertex buffer", other),
    };
    Ok(Backend::Uvsw(uvsw))
}

fn mask(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    if !bit(first, 4) {
        reserved(first, 0x08, "a saved mask")?;
        return Ok(Backend::SaveMask(match first & 7 {
            0 => MaskMode::Valid,
            1 => MaskMode::Coverage,
            2 => MaskMode::CoverageOc,
            3 => MaskMode::CoverageI,
            4 => MaskMode::Xy,
            other => return code("mask", other),
        }));
    }
    if first & 7 != 1 {
        return code("operation of masks", first & 7);
    }
    let port = if bit(first, 3) { Some(port(cursor.next()?, "a mask")?) } else { None };
    Ok(Backend::MoveMask(port))
}

fn iterate(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    reserved(first, 0x04, "an iterator")?;
    let second = cursor.next()?;
    reserved(second, 0xe0, "an iterator")?;
    let mode = match first & 3 {
        0 => Mode::Pixel,
        1 => Mode::Sample,
        2 => Mode::Centroid,
        other => return code("mode of an iterator", other),
    };
    Ok(Backend::Iterate {
        perspective: bit(first, 4),
        drc: first >> 3 & 1,
        mode,
        saturate: bit(second, 4),
        count: match second & 15 {
            0 => 16,
            count => count,
        },
    })
}

fn memory(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    let drc = first >> 3 & 1;
    match first & 7 {
        0 => {
            reserved(first, 0x10, "a fence")?;
            Ok(Backend::Fence { drc, address: port(cursor.next()?, "a fence")? })
        }
        1 => load(cursor, first),
        2 => store(cursor, first),
        4 => sample(cursor, first),
        5 => {
            reserved(first, 0x10, "an atomic operation")?;
            let second = cursor.next()?;
            reserved(second, 0x08, "an atomic operation")?;
            let op = match second >> 4 {
                0 => Atomic::Add,
                1 => Atomic::Sub,
                2 => Atomic::Exchange,
                4 => Atomic::UMin,
                5 => Atomic::SMin,
                6 => Atomic::UMax,
                7 => Atomic::SMax,
                8 => Atomic::And,
                9 => Atomic::Or,
                10 => Atomic::Xor,
                other => return code("atomic operation", other),
            };
            let source = selected(second & 7)?;
            let destination = port(cursor.next()?, "an atomic operation")?;
            Ok(Backend::Atomic { drc, op, source, destination })
        }
        other => code("operation of memory", other),
    }
}

fn cache(number: u8) -> Result<u8, Refused> {
    if number < 3 { Ok(number) } else { Err((Rule::CacheMode, "cache mode 3".into())) }
}

/// The number of a burst: 0 is 16.
const fn burst(number: u8) -> Burst {
    Burst::Number(if number == 0 { 16 } else { number })
}

fn load(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    let second = cursor.next()?;
    let burst = if bit(first, 4) {
        let third = cursor.next()?;
        // Bit 1 is set in a word of the vendor. 8.
        reserved(third, 0xfc, "a load")?;
        burst(second >> 2 & 7 | (third & 1) << 3)
    } else {
        Burst::Port(selected(second >> 2 & 7)?)
    };
    Ok(Backend::Load {
        drc: first >> 3 & 1,
        address: selected(second >> 5)?,
        burst,
        cache: cache(second & 3)?,
    })
}

fn store(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    let (second, third) = (cursor.next()?, cursor.next()?);
    reserved(third, 0x02, "a store")?;
    let burst = if bit(first, 4) {
        burst(second >> 2 & 7 | (third & 1) << 3)
    } else {
        reserved(third, 0x01, "a store")?;
        Burst::Port(selected(second >> 2 & 7)?)
    };
    let size = match third >> 2 & 3 {
        3 => return code("size of a store", 3),
        log => 1 << log,
    };
    let tiled = if bit(third, 7) {
        // The bits above the port are set in words of the vendor. 8.
        let fourth = cursor.next()?;
        Some((selected(fourth & 7)?, fourth & 0xf8))
    } else {
        None
    };
    Ok(Backend::Store {
        drc: first >> 3 & 1,
        address: selected(second >> 5)?,
        data: selected(third >> 4 & 7)?,
        burst,
        size,
        cache: cache(second & 3)?,
        tiled,
    })
}

fn sample(cursor: &mut Cursor<'_>, first: u8) -> Result<Backend, Refused> {
    let second = cursor.next()?;
    let (has_a, has_b) = (bit(second, 4), bit(second, 7));
    if has_b && !has_a {
        return Err((Rule::ExtensionOrder, "extension B without A".into()));
    }
    let a = if has_a { cursor.next()? } else { 0 };
    let b = if has_b { cursor.next()? } else { 0 };
    reserved(b, 0x60, "extension B")?;
    let extended = if bit(b, 7) {
        let c = cursor.next()?;
        reserved(c, 0xe0, "extension C")?;
        Some(Extended {
            direct: bit(c, 4),
            half_input: bit(c, 3),
            compares: bit(c, 2),
            integer: bit(c, 1),
            array: bit(c, 0),
        })
    } else {
        None
    };
    let dimensions = second >> 5 & 3;
    if dimensions == 0 {
        return code("dimensions", 0);
    }
    Ok(Backend::Sample(Sample {
        normalise: bit(first, 4),
        drc: first >> 3 & 1,
        dimensions,
        channels: 1 + (second >> 2 & 3),
        lod: match second & 3 {
            0 => Lod::Normal,
            1 => Lod::Bias,
            2 => Lod::Replace,
            _ => Lod::Gradients,
        },
        per_pixel: bit(a, 7),
        projected: bit(a, 6),
        raw: a >> 4 & 3,
        integers: bit(a, 3),
        sample: bit(a, 2),
        offsets: bit(a, 1),
        address: bit(a, 0),
        half: bit(b, 4),
        swap: bit(b, 3),
        cache: cache(b >> 1 & 3)?,
        write: bit(b, 0),
        extended,
    }))
}
