//! Decoding of the instructions that go to other units: staging registers, slots, and what each asks.

use super::decode::{Refused, reserved, source, unsupported};
use super::inst::{
    Atom, Inst, LodMode, Op, RegFormat, Sampled, Select, Staging, Tex, TexKind, Update, Varying,
    VaryingFrom,
};
use super::rule::Rule;
use super::table::*;

/// What a message moves: registers that it reads, registers that it writes, and how many the count in the word must be,
/// where there is one.
#[derive(Default)]
struct Moves {
    read: Option<Staging>,
    write: Option<Staging>,
    needed: Option<u8>,
}

/// Fills `inst` when it is a message; false when it belongs to the arithmetic units.
pub fn decode(inst: &mut Inst, code: Code, bits: Bits) -> Result<bool, Refused> {
    let plain = |i| source(bits, i, false);
    let wide = |i| source(bits, i, true);
    let staging = Staging { reg: bits.get(SR) as u8, count: bits.get(SR_COUNT) as u8 };
    let reads = |needed| Moves { read: Some(staging), needed: Some(needed), ..Moves::default() };
    let writes = |needed| Moves { write: Some(staging), needed: Some(needed), ..Moves::default() };
    let offset8 = bits.get(OFFSET8) as i32;
    let offset16 = i32::from(bits.get(OFFSET16) as i16);
    let count = bits.get(COUNT) as u8 + 1;
    let format = || reg_format(bits.get(FORMAT_ALL));
    let signed = !bits.has(UNSIGNED);
    // Handles in the word, or in the third source.
    let table = |field| table_number(bits.get(field) as u8);
    let at_16 = |imm: bool| imm.then(|| (table(TABLE_AT_16), bits.get(INDEX_AT_20) as u8));
    let two_and_handle = |imm: bool| -> Result<_, Refused> {
        let mut sources = vec![plain(0)?, plain(1)?];
        if !imm {
            sources.push(plain(2)?);
        }
        Ok(sources)
    };
    let (op, sources, moves) = match code {
        Code::Barrier => (Op::Barrier, vec![], Moves::default()),
        Code::Load(bytes) | Code::LoadBuffer(bytes) => {
            let lane = match bytes {
                1 => bits.get(LANE_3),
                2 => bits.get(LANE_2),
                4 => bits.get(LANE_1),
                _ => 0,
            } as u8;
            let moves = writes(load_registers(bytes, lane));
            if code == Code::Load(bytes) {
                let op = Op::Load {
                    bytes,
                    lane,
                    signed,
                    thread: bits.get(ACCESS) == 3,
                    offset: offset16,
                };
                (op, vec![wide(0)?], moves)
            } else {
                let op = Op::LoadBuffer { bytes, lane, signed };
                (op, vec![plain(0)?, plain(1)?], moves)
            }
        }
        Code::Store(bytes) => {
            let lane = match bytes {
                1 => bits.get(LANE_2),
                2 => bits.get(LANE_1),
                _ => 0,
            } as u8;
            let op = Op::Store { bytes, lane, thread: bits.get(ACCESS) == 3, offset: offset16 };
            (op, vec![wide(0)?], reads(bytes.div_ceil(4)))
        }
        Code::LeaBuffer => (Op::LeaBuffer, vec![plain(0)?, plain(1)?], writes(2)),
        Code::LeaBuf { imm: true } => {
            let handle = Some((table(TABLE_AT_8), bits.get(INDEX_AT_12) as u8));
            (Op::LeaBuf { handle }, vec![plain(0)?], writes(2))
        }
        Code::LeaBuf { imm: false } => {
            let op = Op::LeaBuf { handle: None };
            (op, vec![plain(0)?, plain(1)?], writes(2))
        }
        Code::Atom(bytes)
        | Code::AtomReturn(bytes)
        | Code::CmpXchg(bytes)
        | Code::Atom1(bytes)
        | Code::Atom1Return(bytes) => {
            let words = bytes / 4;
            let op = match code {
                Code::CmpXchg(_) => Atom::CmpXchg,
                Code::Atom1(_) | Code::Atom1Return(_) => atom1(bits.get(ATOM1))?,
                _ => atom(bits.get(ATOM64_RETURN))?,
            };
            let taken = match op {
                Atom::CmpXchg => 2 * words,
                // They extend 32 bits.
                Atom::AddUnsigned | Atom::AddSigned => 1,
                _ => words,
            };
            let (result, moves) = match code {
                Code::Atom(_) => (false, reads(taken)),
                Code::Atom1(_) => (false, Moves { needed: Some(0), ..Moves::default() }),
                Code::Atom1Return(_) => (true, writes(words)),
                _ => {
                    let write = Some(written(bits));
                    (true, Moves { write, ..reads(taken) })
                }
            };
            let op = Op::Atomic { op, bytes, result, offset: offset8 };
            (op, vec![wide(0)?], moves)
        }
        Code::LdAttr { imm } | Code::LdTex { imm } => {
            let (format, handle) = (format()?, at_16(imm));
            let op = if code == (Code::LdAttr { imm }) {
                Op::LdAttr { format, count, handle }
            } else {
                Op::LdTex { format, count, handle }
            };
            (op, two_and_handle(imm)?, writes(registers(format, count)))
        }
        Code::LeaAttr { imm } => {
            let handle = at_16(imm);
            (Op::LeaAttr { handle }, two_and_handle(imm)?, writes(3))
        }
        Code::LeaTex { imm } => {
            let handle = at_16(imm);
            (Op::LeaTex { handle }, two_and_handle(imm)?, writes(3))
        }
        Code::LdCvt | Code::StCvt => {
            let (format, offset) = (format()?, offset8);
            let needed = registers(format, count);
            let sources = vec![wide(0)?, plain(2)?];
            if code == Code::LdCvt {
                let op = Op::LdCvt { format, count, offset };
                (op, sources, writes(needed))
            } else {
                let op = Op::StCvt { format, count, offset };
                (op, sources, reads(needed))
            }
        }
        Code::LdVarBuf { imm, half } => {
            let format = if half { RegFormat::F16 } else { RegFormat::F32 };
            let how = varying(bits)?;
            let (from, sources) = if imm {
                let offset = bits.get(VARYING_OFFSET) as u8;
                (VaryingFrom::Offset(offset), vec![plain(0)?])
            } else {
                (VaryingFrom::Source, vec![plain(0)?, plain(1)?])
            };
            let op = Op::LdVar { format, count, how, from };
            (op, sources, writes(registers(format, count)))
        }
        Code::LdVarSpecial => {
            let what = bits.get(SPECIAL_VARYING) as u8;
            if what != 0 && count > 1 {
                return Err(reserved("a special varying of two components"));
            }
            let op = Op::LdVarSpecial { what, count, sampled: sampled(bits) };
            (op, vec![plain(0)?], writes(count))
        }
        Code::TexSingle | Code::TexFetch | Code::TexGather | Code::TexGradient => {
            let tex = tex(code, bits);
            let read = Staging {
                // Eight do not fit the field.
                count: if staging.count == 0 { 8 } else { staging.count },
                ..staging
            };
            let write = written(bits);
            let moved =
                if tex.full { tex.mask.count_ones() } else { tex.mask.count_ones().div_ceil(2) };
            if moved != u32::from(write.count) {
                let (name, count) = (inst.name, write.count);
                let detail = format!("{name} writes {moved} registers, not {count}");
                return Err((Rule::StagingCount, detail));
            }
            let needed = tex_reads(&tex);
            if read.count != needed {
                let detail = format!("{} reads {needed} registers, not {}", inst.name, read.count);
                return Err((Rule::StagingCount, detail));
            }
            let moves = Moves { read: Some(read), write: Some(write), needed: None };
            (Op::Tex(tex), vec![wide(0)?], moves)
        }
        Code::VarTexSingle | Code::VarTexGather | Code::VarTexGradient => {
            let how = var_tex_place(bits)?;
            let tex = var_tex(code, bits)?;
            let moves = Moves {
                write: Some(Staging { reg: staging.reg, ..written(bits) }),
                ..Moves::default()
            };
            (Op::VarTex(tex, how), vec![wide(0)?, plain(2)?], moves)
        }
        Code::Clock => {
            let system = bits.get(CLOCK_SOURCE) == 7;
            (Op::Clock { system }, vec![], writes(2))
        }
        Code::Atest => {
            let mut alpha = plain(1)?;
            alpha.select = match bits.get(WIDEN1) {
                0 => Select::Whole,
                half => Select::Float(half as u8 - 1),
            };
            (Op::Atest, vec![plain(0)?, alpha, plain(2)?], writes(1))
        }
        Code::ZsEmit => {
            let op = Op::ZsEmit { z: bits.has(DEPTH), stencil: bits.has(STENCIL) };
            (op, vec![plain(0)?, plain(1)?, plain(2)?], writes(1))
        }
        Code::Blend => {
            let format = format()?;
            let op = Op::Blend { format, count, target: offset8 };
            let sources = vec![wide(0)?, plain(2)?];
            (op, sources, reads(registers(format, count)))
        }
        _ => return Ok(false),
    };
    if let Some(needed) = moves.needed
        && needed != staging.count
    {
        let (name, count) = (inst.name, staging.count);
        let detail = format!("{name} moves {needed} registers, not {count}");
        return Err((Rule::StagingCount, detail));
    }
    inst.op = op;
    inst.sources = sources;
    inst.slot = Some(if op == Op::Barrier { 7 } else { bits.get(SLOT) as u8 });
    inst.read = moves.read;
    inst.write = moves.write;
    Ok(true)
}

/// The second group of staging registers, of what reads one and writes another.
fn written(bits: Bits) -> Staging {
    Staging { reg: bits.get(SR_WRITE) as u8, count: bits.get(WRITES) as u8 + 1 }
}

/// Small table numbers; 12 to 15 stand for 60 to 63. isa 1.11.
const fn table_number(code: u8) -> u8 {
    match code {
        0..=11 => code,
        _ => code + 48,
    }
}

/// Registers of a load: `lane` says where narrow ones land, and the last of a width is a register more. isa 1.5.
fn load_registers(bytes: u8, lane: u8) -> u8 {
    match (bytes, lane) {
        (1, 7) | (2, 3) | (4, 1) => 2,
        _ => bytes.div_ceil(4),
    }
}

/// Registers of `count` components.
pub const fn registers(format: RegFormat, count: u8) -> u8 {
    if format.is_half() { count.div_ceil(2) } else { count }
}

fn reg_format(code: u32) -> Result<RegFormat, Refused> {
    Ok(match code {
        0 => RegFormat::Auto,
        2 => RegFormat::F32,
        3 => RegFormat::F16,
        4 => RegFormat::S32,
        5 => RegFormat::S16,
        6 => RegFormat::U32,
        7 => RegFormat::U16,
        other => return Err(reserved(format!("register format {other}"))),
    })
}

/// `sample_position_m`.
fn sampled(bits: Bits) -> Sampled {
    match bits.get(SAMPLE) {
        0 => Sampled::Center,
        1 => Sampled::Centroid,
        2 => Sampled::Sample,
        _ => Sampled::Explicit,
    }
}

fn varying(bits: Bits) -> Result<Varying, Refused> {
    // `src_flat32`, `src_flat16`, `src_f32`, `src_f16`; a row has no flat format of another width than its registers'.
    let source_format = bits.get(VARYING_32);
    let (half, flat) = (source_format & 1 == 1, source_format < 2);
    let sampled = sampled(bits);
    // Arm's `retrieve_or_none` and `center_or_none`: what is kept, and what is flat, has no place of its own, and a
    // flat varying leaves the state alone.
    let update = match (flat, bits.get(UPDATE)) {
        (true, 1) => Update::None,
        (false, 0) => Update::Store,
        (false, 1) => Update::Retrieve,
        (false, 3) => Update::Clobber,
        (_, other) => return Err(reserved(format!("update {other}"))),
    };
    if matches!(update, Update::None | Update::Retrieve) && sampled != Sampled::Center {
        return Err(reserved("a place to sample at beside what is kept"));
    }
    Ok(Varying { half, flat, update, sampled })
}

fn atom(code: u32) -> Result<Atom, Refused> {
    Ok(match code {
        0 => Atom::AddUnsigned,
        1 => Atom::AddSigned,
        2 => Atom::Add,
        8 => Atom::SMin,
        9 => Atom::SMax,
        10 => Atom::UMin,
        11 => Atom::UMax,
        12 => Atom::And,
        13 => Atom::Or,
        14 => Atom::Xor,
        15 => Atom::Xchg,
        other => return Err(reserved(format!("atomic operation {other}"))),
    })
}

fn atom1(code: u32) -> Result<Atom, Refused> {
    Ok(match code {
        0 => Atom::Inc,
        1 => Atom::Dec,
        2 => Atom::UMax,
        3 => Atom::SMax,
        4 => Atom::Or,
        other => return Err(reserved(format!("atomic operation {other} with 1"))),
    })
}

fn tex(code: Code, bits: Bits) -> Tex {
    let kind = match code {
        Code::TexSingle => TexKind::Single,
        Code::TexFetch => TexKind::Fetch,
        Code::TexGather => {
            TexKind::Gather { component: bits.get(COMPONENT) as u8, integer: bits.has(INTEGER) }
        }
        _ => TexKind::Gradient {
            no_bias: bits.has(NO_BIAS),
            no_clamp: bits.has(NO_CLAMP),
            derivative: bits.has(DERIVATIVE),
        },
    };
    let lod = match kind {
        TexKind::Single => match bits.get(LOD_MODE) {
            0 => LodMode::Zero,
            1 => LodMode::Computed,
            4 => LodMode::Explicit,
            5 => LodMode::ComputedBias,
            _ => LodMode::Gradient,
        },
        TexKind::Gradient { derivative: false, .. } => LodMode::Computed,
        _ => LodMode::Zero,
    };
    // Bits that a form lacks are zero.
    Tex {
        kind,
        dim: bits.get(DIM) as u8,
        wide: bits.has(WIDE),
        array: bits.has(ARRAY),
        offset: bits.has(TEXEL_OFFSET),
        compare: bits.has(COMPARE),
        lod,
        mask: bits.get(WRITE_MASK) as u8,
        full: bits.has(FULL),
        skip: bits.has(SKIP),
    }
}

/// Where a fused instruction takes its varying. Arm's `encoded_sample_and_update_m`.
fn var_tex_place(bits: Bits) -> Result<Varying, Refused> {
    let (update, sampled) = match bits.get(VAR_PLACE) {
        0 => (Update::Store, Sampled::Center),
        1 => (Update::Store, Sampled::Centroid),
        2 => (Update::Store, Sampled::Sample),
        3 => return Err(unsupported("which place a fused instruction samples at")),
        4 => (Update::Clobber, Sampled::Center),
        6 => (Update::Clobber, Sampled::Sample),
        _ => (Update::Retrieve, Sampled::Center),
    };
    Ok(Varying { half: false, flat: false, update, sampled })
}

/// The texture's half of a fused instruction: two coordinates, which a varying of f32 gives.
fn var_tex(code: Code, bits: Bits) -> Result<Tex, Refused> {
    // Two components are documented; layers, references and a third coordinate are not.
    if bits.has(ARRAY) || bits.has(COMPARE) || bits.get(DIM) > 1 {
        return Err(unsupported("where a fused instruction finds more than two coordinates"));
    }
    let (kind, lod) = match code {
        Code::VarTexSingle if bits.has(LOD_COMPUTED) => (TexKind::Single, LodMode::Computed),
        Code::VarTexSingle => (TexKind::Single, LodMode::Zero),
        Code::VarTexGather => {
            let component = bits.get(COMPONENT) as u8;
            let integer = false;
            (TexKind::Gather { component, integer }, LodMode::Zero)
        }
        _ => {
            let kind = TexKind::Gradient {
                no_bias: bits.has(NO_BIAS),
                no_clamp: bits.has(NO_CLAMP),
                derivative: false,
            };
            (kind, LodMode::Computed)
        }
    };
    let full = bits.has(VAR_FULL);
    let components = (bits.get(WRITES) + 1) << u32::from(!full);
    if components > 4 {
        let detail = format!("{components} components of a texel");
        return Err((Rule::StagingCount, detail));
    }
    Ok(Tex {
        kind,
        dim: bits.get(DIM) as u8,
        wide: bits.has(WIDE),
        array: false,
        offset: false,
        compare: false,
        lod,
        mask: (1 << components) - 1,
        full,
        skip: bits.has(SKIP),
    })
}

/// Registers that a texture instruction reads: Arm's expressions for `sr_count`.
fn tex_reads(tex: &Tex) -> u8 {
    // 1D reads one coordinate, 3D three; a cube two, the face within the first.
    let coords = [1, 2, 3, 2][usize::from(tex.dim)];
    let extra = u8::from(tex.array) + u8::from(tex.offset) + u8::from(tex.compare);
    let lod = match tex.lod {
        LodMode::Explicit | LodMode::ComputedBias => 1,
        LodMode::Gradient => 2,
        LodMode::Zero | LodMode::Computed => 0,
    };
    match tex.kind {
        TexKind::Gradient { derivative: true, .. } => 2 * coords,
        _ => coords + extra + lod,
    }
}
