//! Components between texels, attributes and staging registers.

use super::inst::RegFormat;
use gpucc_emu::format::Kind;
use gpucc_ir::ssa::numerics::{f16_to_f64, f64_to_f16};

/// True where registers of this format can hold components of this kind as they are.
pub fn agrees(format: RegFormat, kind: Kind) -> bool {
    match format {
        RegFormat::Auto => true,
        RegFormat::F32 | RegFormat::F16 => !kind.is_integer(),
        RegFormat::S32 | RegFormat::S16 => kind == Kind::Sint,
        RegFormat::U32 | RegFormat::U16 => kind == Kind::Uint,
    }
}

/// One component as a register holds it; a half in the low bits.
pub fn component(value: u32, format: RegFormat) -> u32 {
    match format {
        RegFormat::F16 => u32::from(f64_to_f16(f64::from(f32::from_bits(value)))),
        RegFormat::S16 => (value as i32).clamp(-0x8000, 0x7FFF) as u32 & 0xFFFF,
        RegFormat::U16 => value.min(0xFFFF),
        _ => value,
    }
}

/// The registers of `count` components.
pub fn pack(texel: [u32; 4], format: RegFormat, count: u8) -> [u32; 4] {
    let mut words = [0; 4];
    for (k, &value) in texel.iter().enumerate().take(usize::from(count)) {
        let value = component(value, format);
        if format.is_half() {
            words[k / 2] |= value << (16 * (k % 2));
        } else {
            words[k] = value;
        }
    }
    words
}

/// The components of registers: f32 bits or integers; missing ones are 0.
pub fn unpack(words: &[u32], format: RegFormat, count: u8) -> [u32; 4] {
    std::array::from_fn(|k| {
        if k >= usize::from(count) {
            return 0;
        }
        if !format.is_half() {
            return words[k];
        }
        let half = (words[k / 2] >> (16 * (k % 2))) as u16;
        match format {
            RegFormat::F16 => (f16_to_f64(half) as f32).to_bits(),
            RegFormat::S16 => i32::from(half as i16) as u32,
            _ => u32::from(half),
        }
    })
}
