//! Decoding of the instructions that go to other units: staging registers, slots, and what each asks.

use super::decode::{Bits, Refused, reserved, source, unsupported};
use super::inst::{
    Atom, Inst, LodMode, Op, RegFormat, Sampled, Staging, Tex, TexKind, Update, Varying,
    VaryingFrom,
};
use super::rule::Rule;

/// Fills `inst` when it is a message; false when it belongs to the arithmetic units.
pub fn decode(inst: &mut Inst, stem: &str, suffix: &str, bits: Bits) -> Result<bool, Refused> {
    let plain = |i| source(bits, i, false);
    let wide = |i| source(bits, i, true);
    let staging = Staging {
        reg: bits.at(40, 6) as u8,
        count: bits.at(33, 3) as u8,
    };
    let slot = bits.at(30, 3) as u8;
    let offset16 = i32::from(bits.at(8, 16) as i16);
    let count = bits.at(28, 2) as u8 + 1;
    let format = || reg_format(bits.at(24, 3));
    let size = || width(suffix);
    let lane = bits.at(36, 3) as u8;
    let signed = !bits.flag(39);
    // Small table numbers; 12 to 15 stand for 60 to 63. isa 1.11.
    let table = |at| match bits.at(at, 4) as u8 {
        n @ 0..=11 => n,
        n => n + 48,
    };
    let (mut read, mut write) = (None, None);
    // Registers that the instruction moves: checked against the count in the word.
    let mut needed = None;
    let (op, sources) = match stem {
        "BARRIER" => {
            if slot != 7 {
                return Err((Rule::Reserved, "a barrier uses slot 7".into()));
            }
            (Op::Barrier, vec![])
        }
        "LOAD" | "LD_BUFFER" => {
            write = Some(staging);
            let bytes = size()?;
            needed = Some(load_registers(bytes, lane)?);
            if stem == "LOAD" {
                let thread = bits.at(24, 3) == 3;
                let op = Op::Load {
                    bytes,
                    lane,
                    signed,
                    thread,
                    offset: offset16,
                };
                (op, vec![wide(0)?])
            } else {
                (
                    Op::LoadBuffer {
                        bytes,
                        lane,
                        signed,
                    },
                    vec![plain(0)?, plain(1)?],
                )
            }
        }
        "STORE" => {
            read = Some(staging);
            let bytes = size()?;
            needed = Some(bytes.div_ceil(4));
            let thread = bits.at(24, 3) == 3;
            let lane = if bytes <= 2 { lane } else { 0 };
            let op = Op::Store {
                bytes,
                lane,
                thread,
                offset: offset16,
            };
            (op, vec![wide(0)?])
        }
        "LEA_BUFFER" => {
            write = Some(staging);
            needed = Some(2);
            (Op::LeaBuffer, vec![plain(0)?, plain(1)?])
        }
        "LEA_BUF_IMM" => {
            write = Some(staging);
            needed = Some(2);
            let handle = Some((table(8), bits.at(12, 8) as u8));
            (Op::LeaBuf { handle }, vec![plain(0)?])
        }
        "LEA_BUF" => {
            write = Some(staging);
            needed = Some(2);
            (Op::LeaBuf { handle: None }, vec![plain(0)?, plain(1)?])
        }
        "ATOM" | "ATOM_RETURN" | "ATOM1" | "ATOM1_RETURN" => {
            let bytes = size()?;
            let words = bytes / 4;
            let result = stem.ends_with("RETURN");
            let offset = bits.at(8, 8) as i32;
            let (op, reads) = if stem.starts_with("ATOM1") {
                (atom1(bits.at(22, 3))?, 0)
            } else {
                match (bits.at(22, 4), bits.flag(26)) {
                    (0, false) => (Atom::AddUnsigned, 1),
                    (1, false) => (Atom::AddSigned, 1),
                    (15, true) => (Atom::CmpXchg, 2 * words),
                    (_, true) => return Err(reserved("a comparing atomic other than exchange")),
                    (code, false) => (atom(code)?, words),
                }
            };
            match stem {
                "ATOM" => {
                    if op == Atom::Xchg {
                        return Err(reserved("an exchange without a result"));
                    }
                    read = Some(staging);
                    needed = Some(reads);
                }
                "ATOM_RETURN" => {
                    read = Some(staging);
                    needed = Some(reads);
                    write = Some(Staging {
                        reg: bits.at(16, 6) as u8,
                        count: bits.at(36, 3) as u8 + 1,
                    });
                    if bits.at(36, 3) as u8 + 1 != words {
                        let detail = format!("{} returns {words} registers", inst.name);
                        return Err((Rule::StagingCount, detail));
                    }
                }
                "ATOM1" => needed = Some(0),
                _ => {
                    write = Some(staging);
                    needed = Some(words);
                }
            }
            (
                Op::Atomic {
                    op,
                    bytes,
                    result,
                    offset,
                },
                vec![wide(0)?],
            )
        }
        "LD_ATTR_IMM" | "LD_ATTR" | "LD_TEX_IMM" | "LD_TEX" => {
            write = Some(staging);
            let format = format()?;
            needed = Some(registers(format, count));
            let (handle, sources) = if stem.ends_with("IMM") {
                let handle = Some((table(16), bits.at(20, 4) as u8));
                (handle, vec![plain(0)?, plain(1)?])
            } else {
                (None, vec![plain(0)?, plain(1)?, plain(2)?])
            };
            let op = if stem.starts_with("LD_ATTR") {
                Op::LdAttr {
                    format,
                    count,
                    handle,
                }
            } else {
                Op::LdTex {
                    format,
                    count,
                    handle,
                }
            };
            (op, sources)
        }
        "LEA_ATTR_IMM" | "LEA_ATTR" | "LEA_TEX_IMM" | "LEA_TEX" => {
            write = Some(staging);
            needed = Some(3);
            let (handle, sources) = if stem.ends_with("IMM") {
                let handle = Some((table(16), bits.at(20, 4) as u8));
                (handle, vec![plain(0)?, plain(1)?])
            } else {
                (None, vec![plain(0)?, plain(1)?, plain(2)?])
            };
            let op = if stem.starts_with("LEA_ATTR") {
                Op::LeaAttr { handle }
            } else {
                Op::LeaTex { handle }
            };
            (op, sources)
        }
        "LD_CVT" | "ST_CVT" => {
            let format = format()?;
            needed = Some(registers(format, count));
            let offset = bits.at(8, 8) as i32;
            let op = if stem == "LD_CVT" {
                write = Some(staging);
                Op::LdCvt {
                    format,
                    count,
                    offset,
                }
            } else {
                read = Some(staging);
                Op::StCvt {
                    format,
                    count,
                    offset,
                }
            };
            (op, vec![wide(0)?, plain(2)?])
        }
        "LD_VAR_BUF_IMM" | "LD_VAR_BUF" => {
            write = Some(staging);
            let format = if suffix == "f16" {
                RegFormat::F16
            } else {
                RegFormat::F32
            };
            needed = Some(registers(format, count));
            let source_format = bits.at(24, 2);
            let (half, flat) = (source_format & 1 == 1, source_format < 2);
            let other_width = match half {
                true => format == RegFormat::F32,
                false => format.is_half(),
            };
            if flat && other_width {
                return Err(reserved("a flat varying of another width"));
            }
            let how = varying(bits, half, flat)?;
            let (from, sources) = if stem == "LD_VAR_BUF" {
                (VaryingFrom::Source, vec![plain(0)?, plain(1)?])
            } else {
                (VaryingFrom::Offset(bits.at(16, 8) as u8), vec![plain(0)?])
            };
            (
                Op::LdVar {
                    format,
                    count,
                    how,
                    from,
                },
                sources,
            )
        }
        "LD_VAR_SPECIAL" => {
            write = Some(staging);
            needed = Some(count);
            let what = bits.at(12, 3) as u8;
            if what != 0 && count > 1 {
                return Err(reserved("a special varying of two components"));
            }
            (Op::LdVarSpecial { what, count }, vec![plain(0)?])
        }
        "TEX_SINGLE" | "TEX_FETCH" | "TEX_GATHER" | "TEX_GRADIENT" => {
            let tex = tex(stem, bits)?;
            let count = bits.at(33, 3) as u8;
            read = Some(Staging {
                reg: staging.reg,
                count: if count == 0 { 8 } else { count },
            });
            let results = bits.at(36, 3) as u8 + 1;
            write = Some(Staging {
                reg: bits.at(16, 6) as u8,
                count: results,
            });
            let moved = if tex.full {
                tex.mask.count_ones()
            } else {
                tex.mask.count_ones().div_ceil(2)
            };
            if moved != u32::from(results) {
                let detail = format!("{} writes {moved} registers, not {results}", inst.name);
                return Err((Rule::StagingCount, detail));
            }
            let reads = tex_reads(&tex);
            if read.is_some_and(|read| read.count != reads) {
                let detail = format!("{} reads {reads} registers, not {count}", inst.name);
                return Err((Rule::StagingCount, detail));
            }
            (Op::Tex(tex), vec![wide(0)?])
        }
        "LD_GCLK" => {
            write = Some(staging);
            needed = Some(2);
            (Op::Clock, vec![])
        }
        "VAR_TEX_BUF_SINGLE" | "VAR_TEX_BUF_GATHER" | "VAR_TEX_BUF_GRADIENT" => {
            let how = var_tex_place(bits)?;
            let tex = var_tex(stem, bits)?;
            write = Some(Staging {
                reg: staging.reg,
                count: bits.at(36, 3) as u8 + 1,
            });
            (Op::VarTex(tex, how), vec![wide(0)?, plain(2)?])
        }
        "ATEST" => {
            write = Some(staging);
            needed = Some(1);
            let mut alpha = plain(1)?;
            alpha.select = match bits.at(26, 2) {
                0 => super::inst::Select::Whole,
                1 => super::inst::Select::Float(0),
                2 => super::inst::Select::Float(1),
                _ => return Err(reserved("widen 3")),
            };
            (Op::Atest, vec![plain(0)?, alpha, plain(2)?])
        }
        "ZS_EMIT" => {
            write = Some(staging);
            needed = Some(1);
            let op = Op::ZsEmit {
                z: bits.flag(25),
                stencil: bits.flag(24),
            };
            (op, vec![plain(0)?, plain(1)?, plain(2)?])
        }
        "BLEND" => {
            read = Some(staging);
            let format = format()?;
            needed = Some(registers(format, count));
            let target = bits.at(8, 8) as i32;
            (
                Op::Blend {
                    format,
                    count,
                    target,
                },
                vec![wide(0)?, plain(2)?],
            )
        }
        _ => return Ok(false),
    };
    if slot > 2 && op != Op::Barrier {
        return Err(reserved(format!("slot {slot} of {}", inst.name)));
    }
    if let Some(needed) = needed
        && needed != staging.count
    {
        let detail = format!(
            "{} moves {needed} registers, not {}",
            inst.name, staging.count
        );
        return Err((Rule::StagingCount, detail));
    }
    inst.op = op;
    inst.sources = sources;
    inst.slot = Some(slot);
    inst.read = read.filter(|staging| staging.count != 0);
    inst.write = write;
    Ok(true)
}

/// Bytes that a suffix names.
fn width(suffix: &str) -> Result<u8, Refused> {
    match suffix {
        "i8" => Ok(1),
        "i16" => Ok(2),
        "i24" => Ok(3),
        "i32" => Ok(4),
        "i48" => Ok(6),
        "i64" => Ok(8),
        "i96" => Ok(12),
        "i128" => Ok(16),
        other => Err(reserved(format!("an access of {other}"))),
    }
}

/// Registers of a load: `lane` says where narrow ones land. isa 1.5, Arm's `lane_all_m`.
fn load_registers(bytes: u8, lane: u8) -> Result<u8, Refused> {
    match (bytes, lane) {
        (1, 7) | (2, 3) | (4, 1) => Ok(2),
        (1, _) | (2, 0..=2) | (4, 0) | (3, 0) => Ok(1),
        (6, 4) | (8, 7) => Ok(2),
        (12, 6) => Ok(3),
        (16, 7) => Ok(4),
        _ => Err(reserved(format!("lane {lane} of a load of {bytes} bytes"))),
    }
}

/// Registers of `count` components.
pub const fn registers(format: RegFormat, count: u8) -> u8 {
    if format.is_half() {
        count.div_ceil(2)
    } else {
        count
    }
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

fn varying(bits: Bits, half: bool, flat: bool) -> Result<Varying, Refused> {
    let sampled = match bits.at(38, 2) {
        0 => Sampled::Center,
        1 => Sampled::Centroid,
        2 => Sampled::Sample,
        _ => Sampled::Explicit,
    };
    // Arm's `retrieve_or_none` and `center_or_none`: what is kept, and what is flat, has no place of its own, and a
    // flat varying leaves the state alone.
    let update = match (flat, bits.at(36, 2)) {
        (true, 1) => Update::None,
        (false, 0) => Update::Store,
        (false, 1) => Update::Retrieve,
        (false, 3) => Update::Clobber,
        (_, other) => return Err(reserved(format!("update {other}"))),
    };
    if matches!(update, Update::None | Update::Retrieve) && sampled != Sampled::Center {
        return Err(reserved("a place to sample at beside what is kept"));
    }
    Ok(Varying {
        half,
        flat,
        update,
        sampled,
    })
}

fn atom(code: u32) -> Result<Atom, Refused> {
    Ok(match code {
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

fn tex(stem: &str, bits: Bits) -> Result<Tex, Refused> {
    let kind = match stem {
        "TEX_SINGLE" => TexKind::Single,
        "TEX_FETCH" => TexKind::Fetch,
        "TEX_GATHER" => TexKind::Gather {
            component: bits.at(14, 2) as u8,
            integer: bits.flag(13),
        },
        _ => TexKind::Gradient {
            no_bias: bits.flag(13),
            no_clamp: bits.flag(14),
            derivative: bits.flag(15),
        },
    };
    let gradient = matches!(kind, TexKind::Gradient { .. });
    let lod = match (kind, bits.at(13, 3)) {
        (TexKind::Single, 0) => LodMode::Zero,
        (TexKind::Single, 1) => LodMode::Computed,
        (TexKind::Single, 4) => LodMode::Explicit,
        (TexKind::Single, 5) => LodMode::ComputedBias,
        (TexKind::Single, 6) => LodMode::Gradient,
        (TexKind::Single, other) => return Err(reserved(format!("level mode {other}"))),
        (
            TexKind::Gradient {
                derivative: false, ..
            },
            _,
        ) => LodMode::Computed,
        _ => LodMode::Zero,
    };
    Ok(Tex {
        kind,
        dim: bits.at(28, 2) as u8,
        wide: bits.flag(8),
        array: !gradient && bits.flag(10),
        offset: !gradient && bits.flag(11),
        compare: !gradient && bits.flag(12),
        lod,
        mask: bits.at(22, 4) as u8,
        full: bits.flag(46),
        skip: bits.flag(39),
    })
}

/// Where a fused instruction takes its varying. Arm's `encoded_sample_and_update_m`.
fn var_tex_place(bits: Bits) -> Result<Varying, Refused> {
    let (update, sampled) = match bits.at(33, 3) {
        0 => (Update::Store, Sampled::Center),
        1 => (Update::Store, Sampled::Centroid),
        2 => (Update::Store, Sampled::Sample),
        3 => return Err(unsupported("which place a fused instruction samples at")),
        4 => (Update::Clobber, Sampled::Center),
        6 => (Update::Clobber, Sampled::Sample),
        7 => (Update::Retrieve, Sampled::Center),
        other => return Err(reserved(format!("sample and update {other}"))),
    };
    Ok(Varying {
        half: false,
        flat: false,
        update,
        sampled,
    })
}

/// The texture's half of a fused instruction: two coordinates, which a varying of f32 gives.
fn var_tex(stem: &str, bits: Bits) -> Result<Tex, Refused> {
    let kind = match stem {
        "VAR_TEX_BUF_SINGLE" => TexKind::Single,
        "VAR_TEX_BUF_GATHER" => TexKind::Gather {
            component: bits.at(14, 2) as u8,
            integer: bits.flag(13),
        },
        _ => TexKind::Gradient {
            no_bias: bits.flag(13),
            no_clamp: bits.flag(14),
            derivative: false,
        },
    };
    // Two components are documented; layers, references and a third coordinate are not.
    if bits.flag(10) || bits.flag(12) || bits.at(28, 2) > 1 {
        return Err(unsupported(
            "where a fused instruction finds more than two coordinates",
        ));
    }
    let lod = match (kind, bits.at(13, 3)) {
        (TexKind::Single, 0) => LodMode::Zero,
        (TexKind::Gather { .. }, _) => LodMode::Zero,
        _ => LodMode::Computed,
    };
    let full = bits.flag(24);
    let components = (bits.at(36, 3) + 1) << u32::from(!full);
    if components > 4 {
        return Err(reserved(format!("{components} components of a texel")));
    }
    Ok(Tex {
        kind,
        dim: bits.at(28, 2) as u8,
        wide: bits.flag(8),
        array: false,
        offset: false,
        compare: false,
        lod,
        mask: (1 << components) - 1,
        full,
        skip: bits.flag(39),
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
        TexKind::Gradient {
            derivative: true, ..
        } => 2 * coords,
        _ => coords + extra + lod,
    }
}
