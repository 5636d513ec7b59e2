//! What one instruction of the emulator's says of the assembler's fields, but for sources.

use super::super::super::inst::*;
use crate::isa::{self, fields::f};
use gpucc_isa::{FieldId, Inst as Row};

/// What the emulator's instruction says of the assembler's fields, but for sources.
pub fn facts(inst: &Inst, row: &Row) -> Vec<(FieldId, u32)> {
    let flow = match inst.flow {
        Flow { end: true, .. } => 15,
        Flow { discard: true, .. } => 13,
        Flow { reconverge: true, .. } => 10,
        Flow { wait: 0xC7, .. } => 9,
        Flow { wait: 0x47, .. } => 8,
        Flow { wait, .. } => wait.into(),
    };
    let mut facts = vec![(f::FLOW, flow)];
    if let Some(dest) = inst.dest {
        let mask = match dest.bytes {
            15 => 3,
            12 => 2,
            _ => 1,
        };
        facts.extend([(f::DST, dest.reg.into()), (f::DST_MASK, mask)]);
    }
    // ATEST has no field for it: the bits are fixed.
    if let Some(slot) = inst.slot.filter(|_| row.has_field(f::SLOT)) {
        facts.push((f::SLOT, slot.into()));
    }
    match (inst.read, inst.write) {
        (Some(read), Some(write)) => facts.extend([
            (f::SR, read.reg.into()),
            (f::SR_COUNT, u32::from(read.count) & 7),
            (f::SR_WRITE, write.reg.into()),
            (f::SR_WRITE_COUNT, u32::from(write.count) - 1),
        ]),
        (Some(group), None) | (None, Some(group)) => {
            facts.push((f::SR, group.reg.into()));
            match row.has_field(f::SR_COUNT) {
                true => facts.push((f::SR_COUNT, group.count.into())),
                false => facts.push((f::SR_WRITE_COUNT, u32::from(group.count) - 1)),
            }
        }
        (None, None) => {}
    }
    operation(inst, row, &mut facts);
    facts
}

fn cmp_code(cmp: Cmp) -> u32 {
    use Cmp::*;
    [Eq, Gt, Ge, Ne, Lt, Le, GtLt, Total].iter().position(|&c| c == cmp).expect("listed") as u32
}

fn format_code(format: RegFormat) -> u32 {
    match format {
        RegFormat::Auto => 0,
        RegFormat::F32 => 2,
        RegFormat::F16 => 3,
        RegFormat::S32 => 4,
        RegFormat::S16 => 5,
        RegFormat::U32 => 6,
        RegFormat::U16 => 7,
    }
}

fn operation(inst: &Inst, row: &Row, facts: &mut Vec<(FieldId, u32)>) {
    let name = row.op().name;
    let stem = name.split('.').next().expect("a name");
    let is = |found: bool| assert!(found, "{:?} of {name}", inst.op);
    let rounding = |round: Round| match round {
        Round::Even => 0,
        Round::Up => 1,
        Round::Down => 2,
        Round::Zero => 3,
        Round::Away => 4,
    };
    let clamping = |clamp: Clamp| match clamp {
        Clamp::None => 0,
        Clamp::Positive => 1,
        Clamp::Signed => 2,
        Clamp::Unit => 3,
    };
    let lanes = |size: u8| size.ilog2() - 1;
    let part = |bits: BranchBits| match bits {
        BranchBits::Whole => 0,
        BranchBits::Low => 1,
        BranchBits::High => 2,
    };
    // A table and an index in the word.
    let in_word = |handle: Option<(u8, u8)>| {
        handle.into_iter().flat_map(|(table, index)| {
            let table = if table >= 60 { table - 48 } else { table };
            [(f::TABLE, table.into()), (f::INDEX, index.into())]
        })
    };
    let low = |offset: i32, bits: u32| (offset as u32) & ((1 << bits) - 1);
    let texture = |tex: &Tex, facts: &mut Vec<(FieldId, u32)>| {
        facts.extend([
            (f::DIMENSION, tex.dim.into()),
            (f::WIDE_INDICES, tex.wide.into()),
            (f::SKIP, tex.skip.into()),
            (f::REGISTER_WIDTH, tex.full.into()),
        ]);
        for (id, value) in
            [(f::ARRAY, tex.array), (f::TEXEL_OFFSET, tex.offset), (f::SHADOW, tex.compare)]
        {
            if row.has_field(id) {
                facts.push((id, value.into()));
            } else {
                is(!value);
            }
        }
        match tex.kind {
            TexKind::Single => {
                let lod = match tex.lod {
                    LodMode::Zero => 0,
                    LodMode::Computed => 1,
                    LodMode::Explicit => 4,
                    LodMode::ComputedBias => 5,
                    LodMode::Gradient => 6,
                };
                facts.push((f::LOD_MODE, lod));
            }
            TexKind::Fetch => {}
            TexKind::Gather { component, integer } => facts.extend([
                (f::FETCH_COMPONENT, component.into()),
                (f::INTEGER_COORDS, integer.into()),
            ]),
            TexKind::Gradient { no_bias, no_clamp, derivative } => {
                facts.extend([
                    (f::LOD_BIAS_DISABLE, no_bias.into()),
                    (f::LOD_CLAMP_DISABLE, no_clamp.into()),
                ]);
                if row.has_field(f::DERIVATIVE) {
                    facts.push((f::DERIVATIVE, derivative.into()));
                }
            }
        }
    };
    match inst.op {
        Op::Nop => is(stem == "NOP"),
        Op::Branch { bits, on_zero, offset } => {
            is(stem == "BRANCHZ");
            facts.extend([
                (f::COMBINE, part(bits)),
                (f::EQ, on_zero.into()),
                (f::OFFSET, low(offset, 27)),
            ]);
        }
        Op::Jump { bits, on_zero } => {
            is(stem == "BRANCHZI");
            facts.extend([(f::COMBINE, part(bits)), (f::EQ, on_zero.into()), (f::ABSOLUTE, 1)]);
        }
        Op::Discard(cmp) => facts.push((f::CMP, cmp_code(cmp))),
        Op::Barrier => is(stem == "BARRIER"),
        Op::FAdd { round, clamp } | Op::FAddLscale { round, clamp } => {
            is((stem == "FADD") == matches!(inst.op, Op::FAdd { .. }));
            facts.extend([(f::ROUND, rounding(round)), (f::CLAMP, clamping(clamp))]);
            facts.push((f::STICKY, 0));
        }
        Op::FMin { max, propagate, clamp } => {
            is(stem == ["FMIN", "FMAX"][usize::from(max)]);
            facts.extend([(f::SEM, propagate.into()), (f::CLAMP, clamping(clamp))]);
        }
        Op::Fma { round, clamp } | Op::FloatsToHalves { round, clamp } => {
            is((stem == "FMA") == matches!(inst.op, Op::Fma { .. }));
            facts.extend([(f::ROUND, rounding(round)), (f::CLAMP, clamping(clamp))]);
        }
        Op::FmaRscale { special, round, clamp } => {
            is(stem == ["FMA_RSCALE", "FMA_RSCALE_N", "FMA_RSCALE_LEFT"][usize::from(special)]
                && name.ends_with(".rtz") == (round == Round::Zero));
            facts.push((f::CLAMP, clamping(clamp)));
        }
        Op::Ldexp { round } => facts.extend([(f::ROUND, rounding(round)), (f::INF, 0)]),
        Op::Frexpm { special } | Op::Frexpe { special, .. } => {
            facts.extend([(f::SQRT, u32::from(special) & 1), (f::LOG, u32::from(special) >> 1)]);
            if let Op::Frexpe { neg, .. } = inst.op {
                facts.push((f::NEG_RESULT, neg.into()));
            }
        }
        Op::Flush { nan, ftz, inf } => facts.extend([
            (f::NAN_MODE, nan.into()),
            (f::FTZ, ftz.into()),
            (f::FLUSH_INF, inf.into()),
        ]),
        Op::FRound(round) => facts.push((f::ROUND, rounding(round))),
        Op::FSinTable | Op::FCosTable => facts.push((f::TABLE_OFFSET, 0)),
        Op::ToInt { half, bits, signed, round } => {
            let from = if half { "F16" } else { "F32" };
            let to = format!("{}{bits}", if signed { "S" } else { "U" });
            is(stem.replace("V2", "") == format!("{from}_TO_{to}"));
            facts.push((f::ROUND, rounding(round)));
        }
        Op::ToFloat { half, signed, round } => {
            let to = if half { "_TO_V2F16" } else { "_TO_F32" };
            is(stem.ends_with(to) && stem.contains('S') == signed);
            if row.has_field(f::ROUND) {
                facts.push((f::ROUND, rounding(round)));
            } else {
                is(round == Round::Even);
            }
        }
        Op::HalfToFloat => is(stem == "F16_TO_F32"),
        Op::Move => {
            is(stem == "MOV" || stem.contains("_TO_"));
            let signed = matches!(inst.ty, Ty::Int { signed: true, .. });
            is(signed == stem.contains('S'));
        }
        Op::Clz => facts.push((f::MASK, 0)),
        Op::Wmask { size } => facts.push((f::SUBGROUP, lanes(size))),
        Op::IAdd { sub, saturate } => {
            is(stem == ["IADD", "ISUB"][usize::from(sub)]);
            facts.push((f::SATURATE, saturate.into()));
        }
        Op::IAddCarry { sub, carry } => {
            is(stem == ["IADDC", "ISUBB"][usize::from(sub)]);
            facts.push((f::CARRY, carry.into()));
        }
        Op::IMul { saturate } | Op::Dot { saturate } => {
            facts.push((f::SATURATE, saturate.into()));
        }
        Op::HAdd { up } => facts.push((f::RHADD, up.into())),
        Op::ShiftAdd { shift } => facts.push((f::SHIFT, shift.into())),
        Op::Clper { xor, size, inactive } => {
            const VALUES: [(&str, u32); 16] = [
                ("zero", 0),
                ("umax", u32::MAX),
                ("i1", 1),
                ("v2i1", 0x1_0001),
                ("smin", 1 << 31),
                ("smax", !(1 << 31)),
                ("v2smin", 0x8000_8000),
                ("v2smax", 0x7FFF_7FFF),
                ("v4smin", 0x8080_8080),
                ("v4smax", 0x7F7F_7F7F),
                ("f1", 0x3F80_0000),
                ("v2f1", 0x3C00_3C00),
                ("infn", 0xFF80_0000),
                ("inf", 0x7F80_0000),
                ("v2infn", 0xFC00_FC00),
                ("v2inf", 0x7C00_7C00),
            ];
            let called = isa::fields::INACTIVE.name_of(row.get(f::INACTIVE));
            is(VALUES.contains(&(called.expect("a name"), inactive)));
            facts.extend([
                (f::INACTIVE, row.get(f::INACTIVE)),
                (f::LANE_OP, xor.into()),
                (f::SUBGROUP, lanes(size)),
            ]);
        }
        Op::MakeHalves | Op::MakeBytes => is(stem == "MKVEC"),
        Op::ShiftLogic { shift, logic, not_result } => {
            if stem != "NOT_OLD" {
                let (shift, signed) = match shift {
                    Shift::Right => ("RSHIFT", false),
                    Shift::Left => ("LSHIFT", false),
                    Shift::RotateRight => ("RROT", false),
                    Shift::RotateLeft => ("LROT", false),
                    Shift::Arithmetic => ("RSHIFT", true),
                };
                let logic = match logic {
                    Logic::And => "AND",
                    Logic::Or => "OR",
                    Logic::Xor => "XOR",
                };
                is(stem == format!("{shift}_{logic}") && name.ends_with(".signed") == signed);
                facts.push((f::NOT_RESULT, not_result.into()));
            }
        }
        Op::Mux(mode) => facts.push((f::MUX, mode.into())),
        Op::CubeSelect { t } => is(stem == ["CUBE_SSEL", "CUBE_TSEL"][usize::from(t)]),
        Op::CubeMajor => is(stem == "CUBEFACE1"),
        Op::CubeFace => is(stem == "CUBEFACE2_V9"),
        Op::Compare { cmp, truth, combine } => {
            let combine = match combine {
                Combine::Or => "OR",
                Combine::And => "AND",
                Combine::Multi => "MULTI",
            };
            is(stem.ends_with(combine));
            let truth = match truth {
                Truth::One => 0,
                Truth::Float => 1,
                Truth::Minus => 2,
                Truth::Low => 3,
            };
            facts.extend([(f::CMP, cmp_code(cmp)), (f::RESULT, truth)]);
        }
        Op::Select(cmp) => facts.push((f::CMP, cmp_code(cmp))),
        Op::IAddImm(value) | Op::FAddImm(value) => facts.push((f::IMM, value)),
        Op::Load { bytes, lane, signed, thread, offset } => {
            is(name == format!("LOAD.i{}", 8 * u32::from(bytes)));
            let thread_access = row.get(f::ACCESS) == 3;
            is(thread == thread_access);
            facts.push((f::OFFSET, low(offset, 16)));
            narrow(row, bytes, lane, signed, facts);
        }
        Op::Store { bytes, lane, thread, offset } => {
            is(name == format!("STORE.i{}", 8 * u32::from(bytes)));
            is(thread == (row.get(f::ACCESS) == 3));
            facts.push((f::OFFSET, low(offset, 16)));
            if bytes <= 2 {
                facts.push((f::LANE, lane.into()));
            }
        }
        Op::LoadBuffer { bytes, lane, signed } => {
            is(name == format!("LD_BUFFER.i{}", 8 * u32::from(bytes)));
            narrow(row, bytes, lane, signed, facts);
        }
        Op::LeaBuffer => is(stem == "LEA_BUFFER"),
        Op::Atomic { op, bytes, result, offset } => {
            is(stem.ends_with("RETURN") == result && name.ends_with(&format!("i{}", 8 * bytes)));
            let code = match (op, stem.starts_with("ATOM1")) {
                (Atom::AddUnsigned, false) => 0,
                (Atom::AddSigned, false) => 1,
                (Atom::Add, false) => 2,
                (Atom::SMin, false) => 8,
                (Atom::SMax, false) => 9,
                (Atom::UMin, false) => 10,
                (Atom::UMax, false) => 11,
                (Atom::And, false) => 12,
                (Atom::Or, false) => 13,
                (Atom::Xor, false) => 14,
                (Atom::Xchg | Atom::CmpXchg, false) => 15,
                (Atom::Inc, true) => 0,
                (Atom::Dec, true) => 1,
                (Atom::UMax, true) => 2,
                (Atom::SMax, true) => 3,
                (Atom::Or, true) => 4,
                other => panic!("{other:?}"),
            };
            facts.extend([(f::ATOM_OP, code), (f::OFFSET, offset as u32)]);
            if row.has_field(f::COMPARE) {
                facts.push((f::COMPARE, u32::from(op == Atom::CmpXchg)));
            }
        }
        Op::LdAttr { format, count, handle } | Op::LdTex { format, count, handle } => {
            let attribute = matches!(inst.op, Op::LdAttr { .. });
            is(stem.starts_with("LD_ATTR") == attribute);
            is(handle.is_some() == stem.ends_with("_IMM"));
            facts.extend(in_word(handle));
            facts.extend([(f::REGFMT, format_code(format)), (f::VECSIZE, u32::from(count) - 1)]);
        }
        Op::LeaAttr { handle } | Op::LeaTex { handle } => {
            let attribute = matches!(inst.op, Op::LeaAttr { .. });
            is(stem.starts_with("LEA_ATTR") == attribute);
            is(handle.is_some() == stem.ends_with("_IMM"));
            facts.extend(in_word(handle));
        }
        Op::LeaBuf { handle } => {
            is(handle.is_some() == stem.ends_with("_IMM"));
            facts.extend(in_word(handle));
        }
        Op::LdCvt { format, count, offset } | Op::StCvt { format, count, offset } => {
            is((stem == "LD_CVT") == matches!(inst.op, Op::LdCvt { .. }));
            facts.extend([
                (f::REGFMT, format_code(format)),
                (f::VECSIZE, u32::from(count) - 1),
                (f::OFFSET, low(offset, 8)),
            ]);
        }
        Op::LdVar { format, count, how, from } => {
            is(name.ends_with("f16") == (format == RegFormat::F16));
            facts.push((f::VECSIZE, u32::from(count) - 1));
            if let VaryingFrom::Offset(offset) = from {
                is(stem.ends_with("_IMM"));
                facts.push((f::INDEX, offset.into()));
            }
            let source = u32::from(how.half) + 2 * u32::from(!how.flat);
            let update = match how.update {
                Update::Store => 0,
                Update::Retrieve | Update::None => 1,
                Update::Clobber => 3,
            };
            facts.extend([
                (f::SOURCE_FORMAT, source),
                (f::UPDATE, update),
                (f::SAMPLE, place(how.sampled)),
            ]);
        }
        Op::LdVarSpecial { what, count, sampled } => facts.extend([
            (f::SAMPLE, place(sampled)),
            (f::INDEX, what.into()),
            (f::VECSIZE, u32::from(count) - 1),
        ]),
        Op::Clock { system } => facts.push((f::CLOCK, 6 + u32::from(system))),
        Op::Tex(tex) => {
            texture(&tex, facts);
            facts.push((f::WRITE_MASK, tex.mask.into()));
        }
        Op::VarTex(tex, how) => {
            texture(&tex, facts);
            let code = match (how.update, how.sampled) {
                (Update::Store, place_at) => place(place_at),
                (Update::Clobber, place_at) => 4 + place(place_at),
                _ => 7,
            };
            facts.push((f::SAMPLE_UPDATE, code));
        }
        Op::Atest => is(stem == "ATEST"),
        Op::ZsEmit { z, stencil } => {
            facts.extend([(f::Z, z.into()), (f::STENCIL, stencil.into())]);
        }
        Op::Blend { format, count, target } => facts.extend([
            (f::REGFMT, format_code(format)),
            (f::VECSIZE, u32::from(count) - 1),
            (f::TARGET, target as u32),
        ]),
        // The name says it, and there is nothing else to say.
        Op::FExp | Op::Frcp | Op::Frsq | Op::Flogd | Op::IAbs | Op::Popcount | Op::BitRev => {}
    }
}

fn place(sampled: Sampled) -> u32 {
    match sampled {
        Sampled::Center => 0,
        Sampled::Centroid => 1,
        Sampled::Sample => 2,
        Sampled::Explicit => 3,
    }
}

/// Where a narrow load lands, and how it is extended.
fn narrow(row: &Row, bytes: u8, lane: u8, signed: bool, facts: &mut Vec<(FieldId, u32)>) {
    if matches!(bytes, 1 | 2 | 4) {
        facts.extend([(f::LANE, lane.into()), (f::UNSIGNED, (!signed).into())]);
    } else {
        assert!(row.flag(f::UNSIGNED), "{}", row.op().name);
    }
}
