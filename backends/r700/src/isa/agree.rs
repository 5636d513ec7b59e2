//! Two readings of one manual, checked against each other: the table of this module and the decoder of the emulator,
//! which was written apart from it. Whatever both accept has the same fields; the emulator accepts no word that is none.

use super::fields::{self, f};
use super::ops;
use super::{AluSlot, CfOp, Inst, InstError, Isa, R600, R700};
use crate::api::Family;
use crate::emu::decode::{self, AluKind, CfBody, Condition, ExportOp, Fetch};
use crate::emu::ops::Unit;
use gpucc_ir::ssa::random::Rng;
use gpucc_isa::{FieldId, Kind, Table};

/// Bits of a row with random fields; one field in eight may have a value that the table reserves.
fn random_bits(random: &mut Rng, table: &Table, row: usize) -> u128 {
    let op = &table.ops[row];
    let mut bits = op.bits;
    for field in op.format.fields().filter(|field| !op.is_fixed(field)) {
        let any = random.bits() as u32 & gpucc_isa::field::low_bits(field.width()) as u32;
        let value = match (field.kind, random.below(8)) {
            (_, 1..=3) => field.default,
            (Kind::Enum(set), 4..) => set.members[random.below(set.members.len())].value,
            _ => any,
        };
        bits = field.put(bits, value);
    }
    if random.below(8) == 0 {
        bits |= 1 << random.below(op.format.bits.into());
    }
    bits
}

fn words(bits: u128) -> [u32; 4] {
    [0, 1, 2, 3].map(|i| (bits >> (32 * i)) as u32)
}

fn check(inst: &Inst, pairs: &[(FieldId, u32)]) {
    for (field, value) in pairs {
        let name = inst.op().format.field(*field).map_or("?", |field| field.name);
        assert_eq!(inst.get(*field), *value, "{name} of {inst:?}");
    }
}

/// Fields whose reserved values the emulator refuses where it uses them, not where it decodes.
const LATER: [&str; 6] =
    ["TYPE", "DATA_FORMAT", "BANK_SWIZZLE", "SRC0_SEL", "SRC1_SEL", "SRC2_SEL"];

/// Runs over every row; `compare` sees an instruction that the emulator accepted.
fn over<T>(
    table: &Table,
    seed: u64,
    read: impl Fn([u32; 4]) -> Option<T>,
    compare: impl Fn(&Inst, T),
) {
    let mut random = Rng::new(seed);
    let mut both = 0;
    let rows: Vec<usize> = table.rows().map(|op| usize::from(op.id.0)).collect();
    for &row in &rows {
        for _ in 0..400 {
            let bits = random_bits(&mut random, table, row);
            let ours = table.decode(bits);
            match (read(words(bits)), ours) {
                (Some(theirs), Ok(inst)) => {
                    both += 1;
                    compare(&inst, theirs);
                }
                (Some(_), Err(InstError::ReservedValue { field, .. }))
                    if LATER.contains(&field) => {}
                (Some(_), Err(error)) => {
                    panic!("the emulator runs what is no instruction: {error}")
                }
                (None, _) => {}
            }
        }
    }
    assert!(both > 20 * rows.len(), "only {both} instructions were read by both");
}

#[test]
fn control_flow_reads_the_same() {
    control_flow(&R700, Family::R700);
    control_flow(&R600, Family::R600);
}

fn control_flow(isa: &'static Isa, family: Family) {
    let read = |w: [u32; 4]| decode::cf(w[0], w[1], 0, family).ok();
    over(&isa.cf, 1, read, |inst, cf| {
        check(inst, &[(f::WHOLE_QUAD_MODE, cf.whole_quad.into()), (f::BARRIER, cf.barrier.into())]);
        let op = CfOp::of(inst.op().id);
        match cf.body {
            CfBody::Flow(flow) => {
                let name = format!("{:?}", flow.op).to_uppercase();
                assert_eq!(name, op.name().replace('_', ""));
                let condition = match flow.condition {
                    Condition::Active => 0,
                    Condition::Never => 1,
                    Condition::Bool => 2,
                    Condition::NotBool => 3,
                };
                check(
                    inst,
                    &[
                        (f::ADDR, flow.addr),
                        (f::POP_COUNT, flow.pop),
                        (f::CF_CONST, flow.constant),
                        (f::COND, condition),
                        (f::COUNT, flow.count - 1),
                        (f::CALL_COUNT, flow.call_count),
                        (f::END_OF_PROGRAM, cf.end.into()),
                        (f::VALID_PIXEL_MODE, cf.valid_only.into()),
                    ],
                );
            }
            CfBody::Alu(clause) => {
                let expected = match clause.kind {
                    AluKind::Plain => CfOp::ALU,
                    AluKind::PushBefore => CfOp::ALU_PUSH_BEFORE,
                    AluKind::PopAfter => CfOp::ALU_POP_AFTER,
                    AluKind::Pop2After => CfOp::ALU_POP2_AFTER,
                    AluKind::Continue => CfOp::ALU_CONTINUE,
                    AluKind::Break => CfOp::ALU_BREAK,
                    AluKind::ElseAfter => CfOp::ALU_ELSE_AFTER,
                };
                assert_eq!(op, expected);
                let [first, second] = clause.kcache;
                let waterfall = u32::from(clause.waterfall);
                check(
                    inst,
                    &[
                        (f::USES_WATERFALL, waterfall),
                        (f::ALT_CONST, clause.alternate.into()),
                        (f::ADDR, clause.addr),
                        (f::COUNT, clause.count - 1),
                        (f::KCACHE_BANK0, first.bank),
                        (f::KCACHE_MODE0, first.mode),
                        (f::KCACHE_ADDR0, first.line),
                        (f::KCACHE_BANK1, second.bank),
                        (f::KCACHE_MODE1, second.mode),
                        (f::KCACHE_ADDR1, second.line),
                    ],
                );
            }
            CfBody::Export(export) => {
                let expected = match export.op {
                    ExportOp::Stream(0) => CfOp::MEM_STREAM0,
                    ExportOp::Stream(1) => CfOp::MEM_STREAM1,
                    ExportOp::Stream(2) => CfOp::MEM_STREAM2,
                    ExportOp::Stream(_) => CfOp::MEM_STREAM3,
                    ExportOp::Scratch => CfOp::MEM_SCRATCH,
                    ExportOp::Reduction => CfOp::MEM_REDUCTION,
                    ExportOp::Ring => CfOp::MEM_RING,
                    ExportOp::Export => CfOp::EXPORT,
                    ExportOp::ExportDone => CfOp::EXPORT_DONE,
                    ExportOp::MemExport => CfOp::MEM_EXPORT,
                };
                assert_eq!(op, expected);
                check(
                    inst,
                    &[
                        (f::TYPE, export.kind),
                        (f::ARRAY_BASE, export.base),
                        (f::RW_GPR, export.gpr),
                        (f::RW_REL, export.rel.into()),
                        (f::INDEX_GPR, export.index_gpr),
                        (f::ELEM_SIZE, export.elem_size),
                        (f::ARRAY_SIZE, export.array_size),
                        (f::BURST_COUNT, export.burst - 1),
                        (f::END_OF_PROGRAM, cf.end.into()),
                        (f::VALID_PIXEL_MODE, cf.valid_only.into()),
                    ],
                );
                if inst.has_field(f::COMP_MASK) {
                    check(inst, &[(f::COMP_MASK, export.mask)]);
                } else {
                    check_all(inst, &fields::SELS, &export.swizzle);
                }
            }
        }
    });
}

fn check_all(inst: &Inst, ids: &[FieldId], values: &[u32]) {
    let pairs: Vec<(FieldId, u32)> = ids.iter().copied().zip(values.iter().copied()).collect();
    check(inst, &pairs);
}

#[test]
fn alu_instructions_read_the_same() {
    alu_instructions(&R700, Family::R700);
    alu_instructions(&R600, Family::R600);
}

fn alu_instructions(isa: &'static Isa, family: Family) {
    let read = |w: [u32; 4]| decode::alu(w[0], w[1], 0, family).ok();
    over(&isa.alu, 2, read, |inst, alu| {
        assert_eq!(inst.op().name, alu.op.name());
        let units = match alu.unit {
            Unit::Any => ops::VECTOR | ops::TRANS,
            Unit::Trans => ops::TRANS,
            Unit::Vector | Unit::Reduction | Unit::Pair | Unit::Quad => ops::VECTOR,
        };
        assert_eq!(inst.op().units, units, "{}", inst.op().name);
        let slot = AluSlot::from_inst(*inst);
        assert_eq!((slot.source_fields(), slot.dst().write), (alu.fields, alu.write));
        for (i, theirs) in alu.src.iter().enumerate().take(alu.fields) {
            let ours = slot.src(i);
            let ours = (ours.operand.sel(), ours.chan as u32, ours.rel, ours.neg, ours.abs);
            assert_eq!(ours, (theirs.sel, theirs.chan, theirs.rel, theirs.neg, theirs.abs));
        }
        check(
            inst,
            &[
                (f::DST_GPR, alu.dst),
                (f::DST_REL, alu.dst_rel.into()),
                (f::DST_CHAN, alu.chan),
                (f::OMOD, alu.omod),
                (f::CLAMP, alu.clamp.into()),
                (f::INDEX_MODE, alu.index_mode),
                (f::PRED_SEL, alu.pred_sel),
                (f::LAST, alu.last.into()),
                (f::BANK_SWIZZLE, alu.bank_swizzle),
                (f::UPDATE_PRED, alu.update_pred.into()),
                (f::UPDATE_EXECUTE_MASK, alu.update_exec.into()),
            ],
        );
    });
}

#[test]
fn fetches_read_the_same() {
    fetches(&R700, Family::R700);
    fetches(&R600, Family::R600);
}

fn fetches(isa: &'static Isa, family: Family) {
    let read = |w: [u32; 4]| decode::fetch(w, w[0] & 31 > 2, 0, family).ok();
    over(&isa.fetch, 3, read, |inst, fetch| match fetch {
        Fetch::Vertex(v) => {
            let name = ["VFETCH", "SEMFETCH"][usize::from(v.semantic.is_some())];
            assert_eq!(inst.op().name, name);
            check(inst, &[(f::SEMANTIC_ID, v.semantic.unwrap_or(0))]);
            check_all(inst, &fields::DST_SELS, &v.swizzle);
            check(
                inst,
                &[
                    (f::ALT_CONST, v.alternate.into()),
                    (f::FETCH_TYPE, v.kind),
                    (f::BUFFER_ID, v.buffer),
                    (f::SRC_GPR, v.src.0),
                    (f::SRC_SEL_X, v.src.1),
                    (f::SRC_REL, v.src_rel.into()),
                    (f::MEGA_FETCH_COUNT, v.mega_bytes - 1),
                    (f::DST_GPR, v.dst),
                    (f::DST_REL, v.dst_rel.into()),
                    (f::USE_CONST_FIELDS, v.use_constant.into()),
                    (f::DATA_FORMAT, v.format),
                    (f::NUM_FORMAT_ALL, v.number),
                    (f::FORMAT_COMP_ALL, v.signed.into()),
                    (f::SRF_MODE_ALL, v.srf.into()),
                    (f::OFFSET, v.offset),
                    (f::ENDIAN_SWAP, v.endian),
                    (f::CONST_BUF_NO_STRIDE, v.no_stride.into()),
                    (f::MEGA_FETCH, v.mega.into()),
                ],
            );
        }
        Fetch::Texture(t) => {
            check_all(inst, &fields::DST_SELS, &t.swizzle);
            check_all(inst, &fields::SRC_SELS, &t.src_swizzle);
            check_all(inst, &fields::COORD_TYPES, &t.normalized.map(u32::from));
            check(
                inst,
                &[
                    (f::ALT_CONST, t.alternate.into()),
                    (f::TEX_INST, t.op),
                    (f::RESOURCE_ID, t.resource),
                    (f::SAMPLER_ID, t.sampler),
                    (f::SRC_GPR, t.src),
                    (f::SRC_REL, t.src_rel.into()),
                    (f::DST_GPR, t.dst),
                    (f::DST_REL, t.dst_rel.into()),
                    (f::LOD_BIAS, t.lod_bias as u32 & 127),
                    (f::OFFSET_X, t.offset[0] as u32 & 31),
                    (f::OFFSET_Y, t.offset[1] as u32 & 31),
                    (f::OFFSET_Z, t.offset[2] as u32 & 31),
                ],
            );
        }
        Fetch::Memory(m) => {
            check_all(inst, &fields::DST_SELS, &m.swizzle);
            check(
                inst,
                &[
                    (f::MEM_OP, m.op),
                    (f::ELEM_SIZE, m.elem_size),
                    (f::UNCACHED, m.uncached.into()),
                    (f::INDEXED, m.indexed.into()),
                    (f::SRC_GPR, m.src.0),
                    (f::SRC_SEL_X, m.src.1),
                    (f::SRC_REL, m.src_rel.into()),
                    (f::BURST_CNT, m.burst - 1),
                    (f::DST_GPR, m.dst),
                    (f::DST_REL, m.dst_rel.into()),
                    (f::DATA_FORMAT, m.format),
                    (f::NUM_FORMAT_ALL, m.number),
                    (f::FORMAT_COMP_ALL, m.signed.into()),
                    (f::ARRAY_BASE, m.base),
                    (f::ENDIAN_SWAP, m.endian),
                    (f::MEGA_FETCH, m.mega.into()),
                    (f::ARRAY_SIZE, m.array_size),
                ],
            );
        }
        Fetch::ShareWrite(s) => {
            check_all(inst, &fields::SRC_SELS, &s.swizzle);
            check(
                inst,
                &[
                    (f::SRC_GPR, s.src),
                    (f::SRC_REL_MODE, s.rel),
                    (f::DST_INDEX, s.index),
                    (f::DST_STRIDE, s.stride),
                    (f::SIMD_WAVE_REL, s.group.into()),
                    (f::BURST_CNT, s.burst - 1),
                ],
            );
        }
        Fetch::ShareRead(s) => {
            check_all(inst, &fields::SRC_SELS[..2], &s.swizzle);
            check_all(inst, &fields::DST_WRS, &[0, 1, 2, 3].map(|i| s.mask >> i & 1));
            check(
                inst,
                &[
                    (f::SRC_GPR, s.src),
                    (f::SRC_REL_MODE, s.rel),
                    (f::RD_OFFSET, s.offset),
                    (f::DST_GPR, s.dst),
                    (f::DST_REL_MODE, s.dst_rel),
                    (f::BROADCAST, s.broadcast.into()),
                    (f::WATERFALL, s.waterfall.into()),
                    (f::MUX_CNTL, s.mux),
                    (f::BURST_CNT, s.burst - 1),
                ],
            );
        }
    });
}
