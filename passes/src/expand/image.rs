//! Storage textures on machines that write memory in whole dwords (R700 ISA 3.4.2; G45 vol. 4, 5.10.5.2): a texture that the
//! function stores to is a linear surface. The function's view of it becomes one of 32-bit unsigned components of the same size;
//! stores pack, loads unpack.

use crate::runner::{Pass, Proof, required};
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{
    Builder, Func, Imm, InstData, Op, Resource, ResourceKind, SampleType, TexelFormat, Type, Value,
};

/// The pass.
pub const PASS: Pass = required(
    "storage_images",
    Proof::Expansion,
    "storage textures that are written are linear surfaces of dwords",
    |func, _| expand(func),
);

/// How the bits of a channel are read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Unorm,
    Snorm,
    Uint,
    Sint,
    /// 16 or 32 bits.
    Float,
    /// Five bits of exponent, no sign.
    Ufloat,
}

/// One channel: component, lowest bit within the texel, bits, reading.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Channel {
    component: usize,
    shift: u32,
    bits: u32,
    kind: Kind,
}

/// The channels of a texel format by its WebGPU name.
fn channels(name: &str) -> Option<Vec<Channel>> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let (letters, rest) = name.split_at(digits);
    let end = rest.find(|c: char| c.is_ascii_lowercase())?;
    let (widths, word): (Vec<u32>, &str) = match name {
        "rgb10a2unorm" | "rgb10a2uint" => (vec![10, 10, 10, 2], &name[7..]),
        "rg11b10ufloat" => (vec![11, 11, 10], "ufloat"),
        _ => (vec![rest[..end].parse().ok()?; letters.len()], &rest[end..]),
    };
    let kind = match word {
        "unorm" => Kind::Unorm,
        "snorm" => Kind::Snorm,
        "uint" => Kind::Uint,
        "sint" => Kind::Sint,
        "float" => Kind::Float,
        "ufloat" => Kind::Ufloat,
        _ => return None,
    };
    let mut shift = 0;
    let mut list = Vec::new();
    for (place, bits) in widths.into_iter().enumerate() {
        let component = match (letters, place) {
            ("bgra", 0) => 2,
            ("bgra", 2) => 0,
            _ => place,
        };
        list.push(Channel { component, shift, bits, kind });
        shift += bits;
    }
    Some(list)
}

/// Dwords of a texel, or `None` where a texel is no whole number of them.
pub fn dwords(format: TexelFormat) -> Option<u32> {
    let bits: u32 = channels(format.0)?.iter().map(|c| c.bits).sum();
    bits.is_multiple_of(32).then_some(bits / 32)
}

/// Storage textures that the function stores to.
pub fn stored(func: &Func) -> SecondaryMap<Resource, bool> {
    let mut stored = SecondaryMap::new();
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            if let InstData { op: Op::ImageStore, imm: Imm::Resource(resource), .. } =
                func.insts[inst]
            {
                stored[resource] = true;
            }
        }
    }
    stored
}

/// Rewrites stores and loads of storage textures that the function stores to.
pub fn expand(func: &mut Func) -> bool {
    let stored = stored(func);
    let mut views: SecondaryMap<Resource, Option<Vec<Channel>>> = SecondaryMap::new();
    let mut any = false;
    for (resource, data) in &mut func.resources {
        let ResourceKind::StorageTexture { format, sample, .. } = &mut data.kind else {
            continue;
        };
        if !stored[resource] {
            continue;
        }
        let (Some(list), Some(words)) = (channels(format.0), dwords(*format)) else {
            continue;
        };
        *format = TexelFormat(match words {
            1 => "r32uint",
            2 => "rg32uint",
            _ => "rgba32uint",
        });
        *sample = SampleType::Uint;
        views[resource] = Some(list);
        any = true;
    }
    if !any {
        return false;
    }
    let mut renames: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    for (region, ..) in func.regions_in_order() {
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            let data = func.insts[inst].clone();
            let view = match (data.op, data.imm) {
                (Op::ImageStore, Imm::Resource(resource)) => views[resource].as_deref(),
                (Op::Tex, Imm::Tex(tex)) => views[tex.texture].as_deref(),
                _ => None,
            };
            let Some(view) = view else {
                func.regions[region].insts.push(inst);
                continue;
            };
            let mut b = Builder::at(func, region);
            b.span = data.span;
            if data.op == Op::ImageStore {
                let texel = data.args.len() - 4;
                let words = pack(&mut b, view, &data.args[texel..]);
                func.insts[inst].args.truncate(texel);
                func.insts[inst].args.extend(words);
                func.regions[region].insts.push(inst);
                continue;
            }
            let results = [Type::B32; 4];
            let raw = b.inst(Op::Tex, data.imm, &data.args, &[], &results);
            let raw = b.func.insts[raw].results.to_vec();
            for (&old, new) in data.results.iter().zip(unpack(&mut b, view, &raw)) {
                renames[old] = Some(new);
            }
        }
    }
    for data in func.insts.values_mut() {
        for arg in &mut data.args {
            if let Some(new) = renames[*arg] {
                *arg = new;
            }
        }
    }
    true
}

/// Four components as the four words of a texel; those beyond it are 0.
fn pack(b: &mut Builder<'_>, view: &[Channel], texel: &[Value]) -> [Value; 4] {
    let mut words = [None; 4];
    for channel in view {
        let field = encode(b, channel, texel[channel.component]);
        let (word, shift) = ((channel.shift / 32) as usize, channel.shift % 32);
        let placed = if shift == 0 {
            field
        } else {
            let amount = b.u32(shift);
            b.op2(Op::Shl, field, amount)
        };
        words[word] = Some(match words[word] {
            None => placed,
            Some(low) => b.op2(Op::Or, low, placed),
        });
    }
    words.map(|word| word.unwrap_or_else(|| b.u32(0)))
}

/// A component as the low bits of a word, the others 0.
fn encode(b: &mut Builder<'_>, channel: &Channel, value: Value) -> Value {
    let Channel { bits, kind, .. } = *channel;
    if bits == 32 {
        return value;
    }
    let mask = (1u32 << bits) - 1;
    let scaled = |b: &mut Builder<'_>, v: Value, top: u32, op: Op| {
        let top = b.f32(top as f32);
        let product = b.op2(Op::FMul, v, top);
        let whole = b.op1(Op::FRound, product);
        b.convert(op, Type::B32, whole)
    };
    match kind {
        Kind::Unorm => {
            let inside = b.op1(Op::FSat, value);
            scaled(b, inside, mask, Op::FToU)
        }
        Kind::Snorm => {
            let (low, high) = (b.f32(-1.0), b.f32(1.0));
            let above = b.op2(Op::FMax, value, low);
            let inside = b.op2(Op::FMin, above, high);
            let whole = scaled(b, inside, mask >> 1, Op::FToS);
            let mask = b.u32(mask);
            b.op2(Op::And, whole, mask)
        }
        Kind::Uint => {
            let mask = b.u32(mask);
            b.op2(Op::UMin, value, mask)
        }
        Kind::Sint => {
            let top = (mask >> 1) as i32;
            let (low, high, mask) = (b.u32((-top - 1) as u32), b.u32(top as u32), b.u32(mask));
            let above = b.op2(Op::SMax, value, low);
            let inside = b.op2(Op::SMin, above, high);
            b.op2(Op::And, inside, mask)
        }
        Kind::Float => {
            let zero = b.f32(0.0);
            b.op(Op::PackHalf, &[value, zero])
        }
        Kind::Ufloat => encode_ufloat(b, bits - 5, value),
    }
}

/// An unsigned float of five bits of exponent: negative numbers and NaN give 0, what is too large
/// the largest finite number, and the rest is rounded to the nearest, ties to even.
fn encode_ufloat(b: &mut Builder<'_>, mantissa: u32, value: Value) -> Value {
    let drop = 23 - mantissa;
    let largest = f32::from_bits((142 << 23) | (((1 << mantissa) - 1) << drop));
    let (zero, top) = (b.f32(0.0), b.f32(largest));
    let positive = b.op2(Op::FMax, value, zero);
    let v = b.op2(Op::FMin, positive, top);
    // Normal numbers: half a place is added to the bits, less one where the place is even.
    let (amount, one) = (b.u32(drop), b.u32(1));
    let place = b.op2(Op::LShr, v, amount);
    let odd = b.op2(Op::And, place, one);
    let almost_half = b.u32((1 << (drop - 1)) - 1);
    let raised = b.op2(Op::IAdd, v, almost_half);
    let rounded = b.op2(Op::IAdd, raised, odd);
    let short = b.op2(Op::LShr, rounded, amount);
    let bias = b.u32(112 << mantissa);
    let normal = b.op2(Op::ISub, short, bias);
    // Below 2^-14 the units are all equal.
    let scale = b.f32((1u32 << (14 + mantissa)) as f32);
    let units = b.op2(Op::FMul, v, scale);
    let whole = b.op1(Op::FRound, units);
    let denormal = b.convert(Op::FToU, Type::B32, whole);
    let smallest = b.f32(2f32.powi(-14));
    let is_small = b.op2(Op::FLt, v, smallest);
    b.select(is_small, denormal, normal)
}

/// The four components of a texel's words.
fn unpack(b: &mut Builder<'_>, view: &[Channel], words: &[Value]) -> [Value; 4] {
    let integer = matches!(view[0].kind, Kind::Uint | Kind::Sint);
    let zero = b.u32(0);
    let one = b.u32(if integer { 1 } else { 1f32.to_bits() });
    let mut texel = [zero, zero, zero, one];
    for channel in view {
        let word = words[(channel.shift / 32) as usize];
        texel[channel.component] = decode(b, channel, word);
    }
    texel
}

fn decode(b: &mut Builder<'_>, channel: &Channel, word: Value) -> Value {
    let Channel { bits, kind, .. } = *channel;
    if bits == 32 {
        return word;
    }
    let shift = channel.shift % 32;
    let mask = (1u32 << bits) - 1;
    let unsigned = |b: &mut Builder<'_>| {
        let (amount, mask) = (b.u32(shift), b.u32(mask));
        let low = b.op2(Op::LShr, word, amount);
        b.op2(Op::And, low, mask)
    };
    let signed = |b: &mut Builder<'_>| {
        let (up, down) = (b.u32(32 - bits - shift), b.u32(32 - bits));
        let high = b.op2(Op::Shl, word, up);
        b.op2(Op::AShr, high, down)
    };
    match kind {
        Kind::Uint => unsigned(b),
        Kind::Sint => signed(b),
        Kind::Unorm => {
            let field = unsigned(b);
            let number = b.convert(Op::UToF, Type::B32, field);
            let top = b.f32(mask as f32);
            b.op2(Op::FDiv, number, top)
        }
        Kind::Snorm => {
            let field = signed(b);
            let number = b.convert(Op::SToF, Type::B32, field);
            let (top, low) = (b.f32((mask >> 1) as f32), b.f32(-1.0));
            let quotient = b.op2(Op::FDiv, number, top);
            b.op2(Op::FMax, quotient, low)
        }
        Kind::Float => {
            let field = unsigned(b);
            b.op1(Op::UnpackHalfLo, field)
        }
        Kind::Ufloat => {
            // The same bits as an f16 without its sign.
            let field = unsigned(b);
            let amount = b.u32(10 - (bits - 5));
            let half = b.op2(Op::Shl, field, amount);
            b.op1(Op::UnpackHalfLo, half)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_emu::format::Format;
    use gpucc_ir::ssa::{Numerics, Stage, eval_inst};

    /// Runs straight-line code of constants.
    fn run(func: &Func, values: &[Value]) -> Vec<u32> {
        let mut known: SecondaryMap<Value, u64> = SecondaryMap::new();
        for &inst in &func.regions[func.body].insts {
            let data = &func.insts[inst];
            let args: Vec<u64> = data.args.iter().map(|&arg| known[arg]).collect();
            known[data.results[0]] =
                eval_inst(func, data, &args, &Numerics::REFERENCE).expect("the code computes only");
        }
        values.iter().map(|&v| known[v] as u32).collect()
    }

    #[test]
    fn every_format_of_whole_dwords_packs_and_unpacks_as_the_shared_formats_do() {
        let floats = [0.0f32, 1.0, -1.0, 0.5, -0.25, 3.0e-5, 6.1e-5, 1.3, 700.25, 65000.0, 1e9];
        let mut checked = 0;
        for &format in Format::ALL {
            let name = TexelFormat(format.name());
            let Some(words) = dwords(name).filter(|_| !format.is_depth()) else {
                continue;
            };
            let view = channels(format.name()).expect("it has dwords");
            for start in 0..floats.len() {
                let texel: [u32; 4] = std::array::from_fn(|k| {
                    let v = floats[(start + 3 * k) % floats.len()];
                    if format.kind().is_integer() { (v * 100.0) as i32 as u32 } else { v.to_bits() }
                });
                let mut bytes = [0u8; 16];
                format.encode(texel, &mut bytes);
                let expected: Vec<u32> = bytes
                    .chunks_exact(4)
                    .map(|c| u32::from_le_bytes(c.try_into().expect("four bytes")))
                    .collect();
                let mut func = Func::new("texel", Stage::Compute);
                let mut b = Builder::at_body(&mut func);
                let values = texel.map(|bits| b.u32(bits));
                let packed = pack(&mut b, &view, &values);
                let texels = unpack(&mut b, &view, &packed);
                let got = run(&func, &packed);
                let exceeds = format.name() == "rg11b10ufloat"
                    && texel.iter().any(|&v| f32::from_bits(v) > 64512.0);
                if !exceeds {
                    assert_eq!(got, expected, "{} of {texel:x?}", format.name());
                    assert_eq!(run(&func, &texels), format.decode(&bytes), "{}", format.name());
                }
                checked += words;
            }
        }
        assert!(checked > 400, "{checked}");
    }

    #[test]
    fn texels_below_a_dword_are_no_dwords() {
        assert_eq!(dwords(TexelFormat("r8unorm")), None);
        assert_eq!(dwords(TexelFormat("rg8uint")), None);
        assert_eq!(dwords(TexelFormat("bgra8unorm")), Some(1));
        assert_eq!(dwords(TexelFormat("rgba16float")), Some(2));
    }
}
