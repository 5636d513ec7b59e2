//! Every rule with a unit that breaks it, refused by that rule's name, and a legal neighbour that runs.

use super::build::*;
use super::r600::indexed;
use crate::Chip;
use crate::emu::AluOp::*;
use crate::emu::{
    BufferResource, FetchResource, FetchSource, PixelBatch, Primitive, Rule, Stage, State, Trap,
    address, run_compute, run_geometry, run_pixels, run_vertices,
};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::Sampler;

type Outcome = Result<(), Trap>;
/// A rule, a unit that breaks it, and one that does not.
type Case = (Rule, fn() -> Outcome, fn() -> Outcome);

fn groups(list: &[Vec<u32>]) -> Outcome {
    run_cf(&[alu(list)], 1).map(drop)
}

/// [`groups`] on a chip that wants no rest behind a write by index.
fn hurried(list: &[Vec<u32>]) -> Outcome {
    run_in(&[alu(list)], 1, &mut on(Chip::Rv740)).map(drop)
}

fn on(chip: Chip) -> State {
    State { chip, ..state() }
}

/// ADD_64 of zeros, the first negated where its sign is, or where it has none.
fn add_doubles(low: bool) -> Vec<u32> {
    let first = |slot: bool| if slot == low { zero().neg() } else { zero() };
    let slots = [(0, first(false)), (1, first(true))];
    group(&slots.map(|(chan, a)| i(ADD_64, 1, chan, &[a, zero()])), &[])
}

/// FLT64_TO_FLT32 of 1.0, of which a channel is stored.
fn narrowed(channel: u32) -> Outcome {
    let one = group(
        &[(0, 245), (1, 244)].map(|(chan, half)| i(FLT64_TO_FLT32, 1, chan, &[r(half, 0)])),
        &[],
    );
    let kept = group(&[i(MOV, 2, 0, &[r(1, channel)])], &[]);
    run_cf(&[alu(&[one, kept]), scatter(2, 0, 1)], 1).map(drop)
}

fn flow(list: &[Cf]) -> Outcome {
    run_cf(list, 4).map(drop)
}

/// A state with a buffer at resource 0, textures at 1 (2D) and 2 (cube), and sampler 0.
fn bound(stage: Stage) -> State {
    let mut state = state();
    state.stage = stage;
    let bytes: Vec<u8> = (0..64).collect();
    let buffer = BufferResource { source: FetchSource::Bytes(bytes), stride: 4, format: None };
    for last in [159, 175] {
        state.resources.insert(last, FetchResource::Buffer(buffer.clone()));
    }
    state.resources.insert(0, FetchResource::Buffer(buffer));
    let image = Image::new(Format::Rgba32Float, Extent::plane(4, 4)).expect("fits");
    state.resources.insert(1, FetchResource::Texture(image));
    state.samplers.insert(0, Sampler::default());
    state
}

/// Samples an array of two layers, through a sampler of arrays or another.
fn layers(arrays: bool) -> Outcome {
    let mut state = bound(Stage::Pixel);
    let image = Image::new(Format::Rgba32Float, Extent { layers: 2, ..Extent::plane(4, 4) });
    state.resources.insert(1, FetchResource::Texture(image.expect("fits")));
    if arrays {
        state.array_samplers.insert(0);
    }
    let mut list = [Cf::Fetch(1, vec![tex(19, 0, 1)])];
    if let Cf::Fetch(_, fetches) = &mut list[0] {
        // The layer counts texels.
        fetches[0][1] &= !(1 << 30);
    }
    pixels_in(state, &list, &[export(true, 0, 0, 1, [0, 1, 2, 3], true)])
}

fn fetching(list: &[Cf]) -> Outcome {
    run_in(list, 4, &mut bound(Stage::Compute)).map(drop)
}

/// Runs a pixel program that ends in `end` on one quad.
fn pixels_in(mut state: State, list: &[Cf], end: &[Cf]) -> Outcome {
    state.stage = Stage::Pixel;
    let mut all = list.to_vec();
    all.extend_from_slice(end);
    let batch = PixelBatch {
        covered: vec![0b0111],
        front: vec![true],
        position: vec![[0.5, 0.5, 0.0, 1.0]; 4],
        point: vec![],
        sample: vec![],
        components: vec![4],
        parameters: vec![[0.25f32.to_bits(); 4]; 4],
        semantics: Vec::new(),
    };
    run_pixels(&link(&all), &mut state, &batch, None).map(drop)
}

fn pixels(list: &[Cf]) -> Outcome {
    pixels_in(bound(Stage::Pixel), list, &[export(true, 0, 0, 0, [0, 1, 2, 3], true)])
}

/// A pixel program with these registers programmed, one colour exported at its end.
fn announced(registers: &[(u32, u32)], list: &[Cf]) -> Outcome {
    let mut state = bound(Stage::Pixel);
    state.registers.extend(registers.iter().copied());
    pixels_in(state, list, &[export(true, 0, 0, 0, [0, 1, 2, 3], true)])
}

fn vertices(list: &[Cf], mut state: State) -> Outcome {
    state.stage = Stage::Vertex;
    run_vertices(&link(list), &mut state, &[(0, 0), (1, 0)], None).map(drop)
}

/// `MOV R1.x, 0`.
fn clear(n: u32) -> Vec<u32> {
    group(&[i(MOV, n, 0, &[zero()])], &[])
}

/// All four channels of a register.
fn clear4(n: u32) -> Vec<u32> {
    group(&[0, 1, 2, 3].map(|c| i(MOV, n, c, &[zero()])), &[])
}

/// Changes a control-flow instruction's second word.
fn with(cf: Cf, bits: u32) -> Cf {
    match cf {
        Cf::Raw(w0, w1) => Cf::Raw(w0, w1 | bits),
        Cf::Flow(number, target, pop) => Cf::Raw(target, pop | number << 23 | 1 << 31 | bits),
        other => other,
    }
}

/// A vertex fetch of another resource into R1.
fn of_resource(number: u32) -> [u32; 4] {
    let mut fetch = vtx(1);
    fetch[0] |= number << 8;
    fetch
}

/// A vertex fetch of one dword of resource 0 by R0.x into a register's x.
fn vtx(dst: u32) -> [u32; 4] {
    vtx_from(0, dst)
}

fn vtx_from(src: u32, dst: u32) -> [u32; 4] {
    [
        2 << 5 | src << 16 | 3 << 26,
        dst | 7 << 12 | 7 << 15 | 7 << 18 | 13 << 22 | 1 << 28,
        1 << 19,
        0,
    ]
}

/// A texture instruction on resource 1 with R0.xxxx into a register.
fn tex(op: u32, src: u32, dst: u32) -> [u32; 4] {
    let swizzle = 1 << 12 | 2 << 15 | 3 << 18;
    [op | 1 << 8 | src << 16, dst | swizzle | 15 << 28, 0, 0]
}

/// A read of scratch or of the aperture (UNCACHED) by R0.x.
fn mem(op: u32, dst: u32, uncached: bool) -> [u32; 4] {
    let elem = if op == 0 { 3 } else { 0 };
    [
        2 | elem << 5 | op << 8 | u32::from(uncached) << 11,
        dst | 7 << 12 | 7 << 15 | 7 << 18 | 13 << 22 | 1 << 28,
        1 << 19,
        0,
    ]
}

/// `EXPORT` words changed.
fn scratch_write(gpr: u32, base: u32, acknowledged: bool) -> Cf {
    let kind = if acknowledged { 2 } else { 0 };
    Cf::Raw(base | kind << 13 | gpr << 15 | 3 << 30, 15 << 12 | 36 << 23 | 1 << 31)
}

fn acknowledged_scatter(gpr: u32) -> Cf {
    Cf::Raw(3 << 13 | gpr << 15, 1 << 12 | 58 << 23 | 1 << 31)
}

fn share_write(index: u32) -> [u32; 4] {
    [2 | 4 << 8 | 1 << 23 | 2 << 26 | 3 << 29, index | 8 << 16, 0, 0]
}

fn share_read(waterfall: bool) -> [u32; 4] {
    // Bank from R1.x, offset 0.
    [2 | 5 << 8 | 1 << 11 | 4 << 23, 2 | 15 << 9 | u32::from(waterfall) << 17, 0, 0]
}

fn predicate() -> I {
    i(PRED_SETE_INT, 0, 0, &[zero(), zero()])
}

fn mova() -> Vec<u32> {
    group(&[i(MOVA_INT, 0, 0, &[zero()]).mask()], &[])
}

fn end_of(list: Vec<Cf>) -> Outcome {
    run_compute(&link(&list), &mut state(), 1, None).map(drop)
}

fn done(kind: u32, base: u32) -> Cf {
    export(true, kind, base, 0, [7; 4], false)
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Bytes.
    (Rule::ProgramSize,
        || run_compute(&[0; 12], &mut state(), 1, None).map(drop),
        || end_of(tail().to_vec())),
    (Rule::Address,
        || flow(&[Cf::Flow(JUMP, 999, 0)]),
        || flow(&[Cf::Flow(JUMP, 1, 0)])),
    (Rule::Alignment,
        || fetching(&[Cf::Raw(5, 2 << 23 | 1 << 31)]),
        || fetching(&[Cf::Fetch(2, vec![vtx(1)])])),
    (Rule::Reserved,
        || flow(&[with(Cf::Flow(CF_NOP, 0, 0), 1 << 20)]),
        || flow(&[Cf::Flow(CF_NOP, 0, 0)])),
    (Rule::Opcode,
        || flow(&[Cf::Flow(25, 0, 0)]),
        || flow(&[Cf::Flow(WAIT_ACK, 0, 0)])),
    (Rule::FallsOff,
        || end_of(vec![Cf::Flow(CF_NOP, 0, 0)]),
        || end_of(tail().to_vec())),
    (Rule::TargetWaits,
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2), (address::CB_TARGET_MASK, 0x1F)], &[]),
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2), (address::CB_TARGET_MASK, 0xF)], &[])),
    // COLOR_8_8_8_8 as integers, with blending and without; COLOR_32_FLOAT, blended in 12 bits and in 32.
    (Rule::TargetFormat,
        || announced(&[(address::CB_COLOR0_INFO, 26 << 2 | 5 << 12)], &[]),
        || announced(&[(address::CB_COLOR0_INFO, 26 << 2 | 5 << 12 | 1 << 22)], &[])),
    (Rule::TargetFormat,
        || announced(&[(address::CB_COLOR0_INFO, 14 << 2 | 7 << 12)], &[]),
        || announced(&[(address::CB_COLOR0_INFO, 14 << 2 | 7 << 12 | 1 << 23)], &[])),
    // COLOR_16 as unorm takes whole exports; a second target that does so keeps quads apart.
    (Rule::ShortExport,
        || announced(&[(address::CB_COLOR0_INFO, 5 << 2 | 1 << 20 | 1 << 23 | 1 << 27)], &[]),
        || announced(&[(address::CB_COLOR0_INFO, 5 << 2 | 1 << 20 | 1 << 23)], &[])),
    (Rule::ShortExport,
        || announced(&[(address::CB_COLOR0_INFO, 26 << 2 | 1 << 20), (address::DB_SHADER_CONTROL, 1 << 9)], &[]),
        || announced(&[(address::CB_COLOR0_INFO, 26 << 2 | 1 << 20 | 1 << 27), (address::DB_SHADER_CONTROL, 1 << 9)], &[])),
    // Depth beside it, and no target that anybody names.
    (Rule::ShortExport,
        || announced(&[(address::DB_SHADER_CONTROL, 1 << 9)], &[]),
        || announced(&[(address::DB_SHADER_CONTROL, 0)], &[])),
    (Rule::Colorless,
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2), (address::CB_SHADER_MASK, 0)], &[]),
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2), (address::CB_SHADER_MASK, 0xF)], &[])),
    (Rule::EndOfProgram,
        || end_of(vec![done(1, 60), done(2, 0), with(Cf::Flow(JUMP, 0, 0), 1 << 21)]),
        || end_of(vec![done(1, 60), done(2, 0), with(Cf::Flow(CF_NOP, 0, 0), 1 << 21)])),
    (Rule::Unsupported,
        || pixels(&[Cf::Fetch(1, vec![tex(15, 0, 1)])]),
        || pixels(&[Cf::Fetch(1, vec![tex(16, 0, 1)])])),
    (Rule::Stage,
        || groups(&[group(&[i(KILLE_INT, 0, 0, &[zero(), one()]).mask()], &[])]),
        || pixels(&[alu(&[group(&[i(KILLE_INT, 0, 0, &[zero(), one()]).mask()], &[])])])),
    (Rule::MixedClause,
        || fetching(&[Cf::Fetch(2, vec![vtx(1), mem(2, 2, true)])]),
        || fetching(&[Cf::Fetch(2, vec![vtx(1)]), Cf::Fetch(2, vec![mem(2, 2, true)])])),
    (Rule::Condition,
        || pixels(&[with(Cf::Flow(24, 0, 0), 2 << 8)]),
        || pixels(&[Cf::Flow(24, 0, 0)])),
    (Rule::PixelModes,
        || flow(&[with(Cf::Flow(CF_NOP, 0, 0), 1 << 22 | 1 << 30)]),
        || flow(&[with(Cf::Flow(CF_NOP, 0, 0), 1 << 22)])),
    (Rule::State,
        || {
            let mut state = state();
            state.registers.remove(&address::SQ_PGM_RESOURCES_VS);
            run_in(&[], 1, &mut state).map(drop)
        },
        || run_in(&[], 1, &mut state()).map(drop)),
    // Registers.
    (Rule::RegisterShare,
        || declaring(Chip::Rv740, 61),
        || declaring(Chip::Rv740, 60)),
    (Rule::RegisterShare,
        || declaring(Chip::Rv730, 120),
        || declaring(Chip::Rv710, 120)),
    (Rule::StackShare,
        || stacked(Chip::Rv670, 41),
        || stacked(Chip::Rv670, 40)),
    (Rule::StackShare,
        || stacked(Chip::Rv770, 129),
        || stacked(Chip::R600, 128)),
    (Rule::Rasterised,
        || drawn(Chip::Rv770, address::DB_DEPTH_CONTROL, 1),
        || drawn(Chip::Rv770, address::DB_DEPTH_CONTROL, 7 << 4)),
    (Rule::Rasterised,
        || drawn(Chip::Rv770, address::CB_TARGET_MASK, 0xF0),
        || drawn(Chip::Rv770, address::CB_TARGET_MASK, 0)),
    (Rule::Rasterised,
        || drawn(Chip::Rv770, address::PA_CL_CLIP_CNTL, 0),
        || drawn(Chip::Rv770, address::PA_CL_CLIP_CNTL, 1 << 22 | 1 << 19)),
    (Rule::Rasterised,
        || drawn(Chip::Rv670, address::SX_MISC, 0),
        || drawn(Chip::Rv670, address::PA_CL_CLIP_CNTL, 0)),
    (Rule::PointNumbers,
        || drawn(Chip::Rv770, address::VGT_MAX_VTX_INDX, 98),
        || drawn(Chip::Rv770, address::VGT_MAX_VTX_INDX, 99)),
    (Rule::PointNumbers,
        || drawn(Chip::Rv770, address::VGT_VTX_VECT_EJECT_REG, 63),
        || drawn(Chip::Rv770, address::VGT_VTX_VECT_EJECT_REG, 64)),
    (Rule::DepthOrder,
        || announced(&[(address::DB_SHADER_CONTROL, 3 << 4)], &[]),
        || announced(&[(address::DB_SHADER_CONTROL, 1 << 4)], &[])),
    (Rule::HiddenStores,
        || announced(&[(address::DB_SHADER_CONTROL, 1 << 4)], &[scatter(0, 0, 1)]),
        || announced(&[(address::DB_SHADER_CONTROL, 1 << 4 | 1 << 11)], &[scatter(0, 0, 1)])),
    (Rule::HiddenStores,
        || announced(&[(address::DB_SHADER_CONTROL, 3 << 10)], &[scatter(0, 0, 1)]),
        || announced(&[(address::DB_SHADER_CONTROL, 1 << 10)], &[scatter(0, 0, 1)])),
    (Rule::TargetGap,
        || announced(&[(address::CB_SHADER_MASK, 0xF0)], &[export(false, 0, 1, 0, [0, 1, 2, 3], false)]),
        || announced(&[(address::CB_SHADER_MASK, 0xFF)], &[export(false, 0, 1, 0, [0, 1, 2, 3], false)])),
    (Rule::TargetGap,
        || announced(&[(address::CB_SHADER_MASK, 0xF0F)], &[export(false, 0, 2, 0, [0, 1, 2, 3], false),
            export(false, 0, 1, 0, [7; 4], false)]),
        || announced(&[(address::CB_SHADER_MASK, 0xF1F)], &[export(false, 0, 2, 0, [0, 1, 2, 3], false),
            export(false, 0, 1, 0, [7; 4], false)])),
    (Rule::Colorless,
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 1)], &[]),
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2)], &[])),
    (Rule::TargetWaits,
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2), (address::CB_SHADER_CONTROL, 3)], &[]),
        || announced(&[(address::SQ_PGM_EXPORTS_PS, 2), (address::CB_SHADER_CONTROL, 1)], &[])),
    (Rule::EndOfProgram,
        || end_of(vec![Cf::Flow(PUSH, 1, 0), done(1, 60), done(2, 0), with(Cf::Flow(POP, 0, 1), 1 << 21)]),
        || end_of(vec![Cf::Flow(PUSH, 1, 0), done(1, 60), done(2, 0), Cf::Flow(POP, 0, 1),
            with(Cf::Flow(CF_NOP, 0, 0), 1 << 21)])),
    (Rule::RelativeResult,
        || hurried(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(PRED_SETE_INT, 0, 0, &[pv(0), zero()]).exec()], &[]),
        ]),
        || hurried(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(PRED_SETE_INT, 0, 0, &[zero(), zero()]).exec()], &[]),
        ])),
    // Groups.
    (Rule::SlotOrder,
        || groups(&[group(&[i(MOV, 1, 1, &[zero()]), i(MOV, 1, 0, &[zero()])], &[])]),
        || groups(&[group(&[i(MOV, 1, 0, &[zero()]), i(MOV, 1, 1, &[zero()])], &[])])),
    (Rule::GroupEnd,
        || {
            // The literal lies behind the clause's end.
            let words = group(&[i(MOV, 1, 0, &[lit(0)])], &[]);
            run_cf(&[Cf::Alu(ALU, words, (0, 0, 0))], 1).map(drop)
        },
        || groups(&[group(&[i(MOV, 1, 0, &[lit(0)])], &[1])])),
    (Rule::SlotTaken,
        || groups(&[group(&[
            i(MOV, 1, 0, &[zero()]), i(MOVA_INT, 2, 0, &[zero()]).mask(),
        ], &[])]),
        || groups(&[group(&[i(MOV, 1, 0, &[zero()]), i(MOV, 2, 0, &[zero()])], &[])])),
    (Rule::PredicateCount,
        || groups(&[group(&[predicate().pred(), I { chan: 1, ..predicate().pred() }], &[])]),
        || groups(&[group(&[predicate().pred()], &[])])),
    (Rule::KillPlace,
        || pixels(&[alu(&[
            group(&[i(KILLE_INT, 0, 0, &[zero(), one()]).mask()], &[]), clear(1),
        ])]),
        || pixels(&[alu(&[
            clear(1), group(&[i(KILLE_INT, 0, 0, &[zero(), one()]).mask()], &[]),
        ])])),
    (Rule::Reduction,
        || groups(&[group(&[0, 1, 2].map(|c| i(DOT4, 1, c, &[zero(), zero()])), &[])]),
        || groups(&[group(&[0, 1, 2, 3].map(|c| i(DOT4, 1, c, &[zero(), zero()])), &[])])),
    (Rule::ReductionResult,
        || groups(&[
            group(&[0, 1, 2, 3].map(|c| i(DOT4, 1, c, &[zero(), zero()])), &[]),
            group(&[i(MOV, 2, 0, &[pv(1)])], &[]),
        ]),
        || groups(&[
            group(&[0, 1, 2, 3].map(|c| i(DOT4, 1, c, &[zero(), zero()])), &[]),
            group(&[i(MOV, 2, 0, &[pv(0)])], &[]),
        ])),
    (Rule::MovaIndex,
        || groups(&[clear(1), mova(), group(&[
            i(MOVA_INT, 0, 0, &[zero()]).mask(), i(MOV, 2, 1, &[r(1, 0).rel()]),
        ], &[])]),
        || groups(&[clear(1), mova(), group(&[i(MOV, 2, 1, &[r(1, 0).rel()])], &[])])),
    (Rule::MovaCount,
        || groups(&[group(&[
            i(MOVA_INT, 0, 0, &[zero()]).mask(), i(MOVA_INT, 0, 1, &[zero()]).mask(),
        ], &[])]),
        || groups(&[mova()])),
    (Rule::MovaResult,
        || groups(&[mova(), group(&[i(MOV, 1, 0, &[pv(0)])], &[])]),
        || groups(&[mova(), clear(1)])),
    (Rule::OneIndex,
        || groups(&[clear(1), mova(), group(&[
            i(MOV, 2, 0, &[r(1, 0).rel()]),
            I { index_mode: 1, bank: 2, ..i(MOV, 2, 1, &[r(1, 0).rel()]) },
        ], &[])]),
        || groups(&[clear(1), mova(), group(&[
            i(MOV, 2, 0, &[r(1, 0).rel()]),
            I { bank: 2, ..i(MOV, 2, 1, &[r(1, 0).rel()]) },
        ], &[])])),
    (Rule::IndexMode,
        || {
            let read = i(MOV, 1, 0, &[k(0, 0).rel()]);
            constants(&[mova(), group(&[read], &[])])
        },
        || constants(&[group(&[I { index_mode: 4, ..i(MOV, 1, 0, &[k(0, 0).rel()]) }], &[])])),
    (Rule::IndexLoaded,
        || groups(&[clear(1), group(&[i(MOV, 2, 0, &[r(1, 0).rel()])], &[])]),
        || groups(&[clear(1), mova(), group(&[i(MOV, 2, 0, &[r(1, 0).rel()])], &[])])),
    (Rule::IndexRange,
        || groups(&[
            group(&[i(MOVA_INT, 0, 0, &[lit(0)]).mask()], &[256]),
            group(&[i(MOV, 2, 0, &[r(0, 0).rel()])], &[]),
        ]),
        || groups(&[
            group(&[i(MOVA_INT, 0, 0, &[lit(0)]).mask()], &[255]),
            group(&[i(MOV, 2, 0, &[r(0, 0).rel()])], &[]),
        ])),
    (Rule::IndexTemp,
        || groups(&[clear(124), mova(), group(&[i(MOV, 2, 0, &[r(124, 0).rel()])], &[])]),
        || groups(&[clear(124), mova(), group(&[i(MOV, 2, 0, &[r(124, 0)])], &[])])),
    (Rule::IndexHazard,
        || hurried(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(MOV, 2, 0, &[r(1, 0)])], &[]),
        ]),
        || hurried(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(NOP, 0, 0, &[]).mask()], &[]),
            group(&[i(MOV, 2, 0, &[r(1, 0)])], &[]),
        ])),
    (Rule::IndexRest,
        || groups(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            clear(3),
        ]),
        || groups(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[0, 1, 2, 3].map(|c| i(NOP, 0, c, &[]).mask()), &[]),
        ])),
    (Rule::IndexRest,
        || groups(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(NOP, 0, 0, &[]).mask()], &[]),
        ]),
        || hurried(&[clear(1), mova(),
            group(&[I { dst_rel: true, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(NOP, 0, 0, &[]).mask()], &[]),
        ])),
    (Rule::UpdateBits,
        || groups(&[group(&[i(MOV, 1, 0, &[zero()]).pred()], &[])]),
        || groups(&[group(&[predicate().pred()], &[])])),
    (Rule::StalePv,
        || groups(&[clear(1), group(&[i(MOV, 2, 0, &[pv(1)])], &[])]),
        || groups(&[clear(1), group(&[i(MOV, 2, 0, &[pv(0)])], &[])])),
    (Rule::StalePs,
        || groups(&[clear(1), group(&[i(MOV, 2, 0, &[ps()])], &[])]),
        || groups(&[
            group(&[i(RECIP_IEEE, 1, 0, &[one()])], &[]),
            group(&[i(MOV, 2, 0, &[ps()])], &[]),
        ])),
    (Rule::IntegerModifiers,
        || groups(&[group(&[i(ADD_INT, 1, 0, &[one().neg(), zero()])], &[])]),
        || groups(&[group(&[i(ADD, 1, 0, &[one().neg(), zero()])], &[])])),
    (Rule::DoubleChip,
        || run_in(&[alu(&[add_doubles(false)])], 1, &mut on(Chip::Rv740)).map(drop),
        || run_in(&[alu(&[add_doubles(false)])], 1, &mut on(Chip::Rv790)).map(drop)),
    (Rule::DoubleSlots,
        || groups(&[add_doubles(true)]),
        || groups(&[add_doubles(false)])),
    (Rule::DoubleWord,
        || narrowed(1),
        || narrowed(0)),
    (Rule::NoFields,
        || groups(&[group(&[i(MOV, 1, 0, &[r(200, 0)])], &[])]),
        || groups(&[group(&[i(MOV, 1, 0, &[r(252, 0)])], &[])])),
    // Ports.
    (Rule::ReadPort,
        || groups(&[clear4(1), clear4(2), group(&[
            i(MOV, 3, 0, &[r(1, 0)]), i(MOV, 3, 1, &[r(2, 0)]),
        ], &[])]),
        || groups(&[clear4(1), clear4(2), group(&[
            i(MOV, 3, 0, &[r(1, 0)]), i(MOV, 3, 1, &[r(2, 0)]).bank(2),
        ], &[])])),
    (Rule::ConstantPort,
        || constants(&[group(&[
            i(ADD, 1, 0, &[k(0, 0), k(1, 0)]), i(MOV, 1, 1, &[k(0, 2)]),
        ], &[])]),
        || constants(&[group(&[
            i(ADD, 1, 0, &[k(0, 0), k(1, 0)]), i(MOV, 1, 1, &[k(0, 1)]),
        ], &[])])),
    (Rule::BankSwizzle,
        || groups(&[group(&[i(MOV, 1, 0, &[zero()]).bank(6)], &[])]),
        || groups(&[group(&[i(MOV, 1, 0, &[zero()]).bank(5)], &[])])),
    (Rule::TransConstants,
        || groups(&[group(&[
            i(MOV, 1, 0, &[zero()]), i(MULADD_IEEE, 2, 0, &[zero(), one(), lit(0)]),
        ], &[0])]),
        || groups(&[group(&[i(MULADD_IEEE, 2, 0, &[zero(), one(), lit(0)])], &[0])])),
    (Rule::TransCycle,
        || groups(&[group(&[i(MULLO_INT, 1, 0, &[zero(), r(0, 0)]).bank(0)], &[]),
            group(&[i(MOV, 3, 0, &[ps()]), i(MULADD_IEEE, 2, 0, &[zero(), zero(), ps()])
                .bank(0)], &[])]),
        || groups(&[group(&[i(MULLO_INT, 1, 0, &[zero(), r(0, 0)]).bank(0)], &[]),
            group(&[i(MOV, 3, 0, &[ps()]), i(MULADD_IEEE, 2, 0, &[zero(), zero(), ps()])
                .bank(1)], &[])])),
    // Registers and constants.
    (Rule::UndeclaredGpr,
        || groups(&[clear(8)]),
        || groups(&[clear(7)])),
    (Rule::ClauseTemp,
        || flow(&[
            alu(&[clear(124)]),
            alu(&[group(&[i(MOV, 1, 0, &[r(124, 0)])], &[])]),
            scatter(1, 0, 1),
        ]),
        || flow(&[
            alu(&[clear(124), group(&[i(MOV, 1, 0, &[r(124, 0)])], &[])]),
            scatter(1, 0, 1),
        ])),
    (Rule::Uninitialised,
        || flow(&[scatter(1, 0, 1)]),
        || flow(&[alu(&[clear(1)]), scatter(1, 0, 1)])),
    (Rule::KcacheUnlocked,
        || groups(&[group(&[i(MOV, 1, 0, &[k(0, 0)])], &[])]),
        || constants(&[group(&[i(MOV, 1, 0, &[k(0, 0)])], &[])])),
    (Rule::KcacheBounds,
        || constants_then_store(15),
        || constants_then_store(1)),
    (Rule::ConstantFile,
        || groups(&[group(&[i(MOV, 1, 0, &[r(256, 0)])], &[])]),
        || constants(&[group(&[i(MOV, 1, 0, &[k(0, 0)])], &[])])),
    (Rule::Predicate,
        || groups(&[
            group(&[predicate().pred()], &[]),
            group(&[I { pred_sel: 2, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(PRED_SETE_INT, 0, 0, &[pv(0), zero()]).exec()], &[]),
        ]),
        || groups(&[
            group(&[predicate().pred()], &[]),
            group(&[I { pred_sel: 3, ..i(MOV, 1, 0, &[zero()]) }], &[]),
            group(&[i(PRED_SETE_INT, 0, 0, &[pv(0), zero()]).exec()], &[]),
        ])),
    // Values.
    (Rule::ShiftAmount,
        || run_groups(&[group(&[i(LSHL_INT, 1, 0, &[one(), lit(0)])], &[32])], (1, 0)).map(drop),
        || run_groups(&[group(&[i(LSHL_INT, 1, 0, &[one(), lit(0)])], &[31])], (1, 0)).map(drop)),
    (Rule::FloatToInt,
        || run_groups(&[float_to_int(2_147_483_648.0)], (1, 0)).map(drop),
        || run_groups(&[float_to_int(2_147_483_520.0)], (1, 0)).map(drop)),
    (Rule::Turns,
        || run_groups(&[sine(0.75)], (1, 0)).map(drop),
        || run_groups(&[sine(0.5)], (1, 0)).map(drop)),
    (Rule::RecipZero,
        || run_groups(&[group(&[i(RECIP_UINT, 1, 0, &[zero()])], &[])], (1, 0)).map(drop),
        || run_groups(&[group(&[i(RECIP_UINT, 1, 0, &[one()])], &[])], (1, 0)).map(drop)),
    // Control flow.
    (Rule::StackDepth,
        || nested_pushes(15),
        || nested_pushes(14)),
    (Rule::StackDepth,
        || looping(Chip::Rv730, 1),
        || looping(Chip::Rv730, 2)),
    (Rule::StackDepth,
        || looping(Chip::Rv770, 0),
        || looping(Chip::Rv770, 1)),
    (Rule::StackUnderflow,
        || flow(&[Cf::Flow(POP, 0, 1)]),
        || flow(&[Cf::Flow(PUSH, 2, 0), Cf::Flow(POP, 0, 1)])),
    (Rule::StackKind,
        || flow(&[Cf::Flow(LOOP_START_DX10, 3, 0), Cf::Flow(POP, 0, 1), Cf::Flow(LOOP_END, 1, 0)]),
        || flow(&[Cf::Flow(LOOP_START_DX10, 3, 0), Cf::Flow(LOOP_BREAK, 2, 0), Cf::Flow(LOOP_END, 1, 0)])),
    (Rule::OutsideLoop,
        || flow(&[Cf::Flow(LOOP_BREAK, 1, 0)]),
        || flow(&[Cf::Flow(LOOP_START_DX10, 3, 0), Cf::Flow(LOOP_BREAK, 2, 0), Cf::Flow(LOOP_END, 1, 0)])),
    (Rule::OutsideCall,
        || flow(&[Cf::Flow(RETURN, 0, 0)]),
        || end_of(vec![Cf::Flow(CALL, 3, 0), done(1, 60),
            with(done(2, 0), 1 << 21), Cf::Flow(RETURN, 0, 0)])),
    (Rule::CallPop,
        || flow(&[Cf::Flow(CALL, 0, 1)]),
        || end_of(vec![Cf::Flow(CALL, 3, 0), done(1, 60),
            with(done(2, 0), 1 << 21), Cf::Flow(RETURN, 0, 0)])),
    (Rule::Steps,
        || flow(&[Cf::Flow(LOOP_START_DX10, 2, 0), Cf::Flow(LOOP_END, 1, 0)]),
        || flow(&[Cf::Flow(CF_NOP, 0, 0)])),
    // Ordering.
    (Rule::Barrier,
        || after_fetch(false),
        || after_fetch(true)),
    (Rule::FetchChain,
        || fetching(&[Cf::Fetch(2, vec![vtx(1), vtx_from(1, 2)])]),
        || fetching(&[Cf::Fetch(2, vec![vtx(1)]), Cf::Fetch(2, vec![vtx_from(1, 2)])])),
    (Rule::MegaFetch,
        || {
            let mut mini = vtx(1);
            mini[2] = 0;
            fetching(&[Cf::Fetch(2, vec![mini])])
        },
        || {
            let mut mini = vtx(2);
            mini[2] = 0;
            fetching(&[Cf::Fetch(2, vec![vtx(1), mini])])
        }),
    (Rule::Acknowledge,
        || flow(&[alu(&[clear(1)]), acknowledged_scatter(1), Cf::Fetch(2, vec![mem(2, 2, true)])]),
        || flow(&[alu(&[clear(1)]), acknowledged_scatter(1), Cf::Flow(WAIT_ACK, 0, 0),
            Cf::Fetch(2, vec![mem(2, 2, true)])])),
    (Rule::Uncached,
        || flow(&[alu(&[clear4(1)]), scratch_write(1, 0, true), Cf::Flow(WAIT_ACK, 0, 0),
            Cf::Fetch(2, vec![mem(0, 2, false)])]),
        || flow(&[alu(&[clear4(1)]), scratch_write(1, 0, true), Cf::Flow(WAIT_ACK, 0, 0),
            Cf::Fetch(2, vec![mem(0, 2, true)])])),
    // Fetches, memory, exports.
    (Rule::Resource,
        || {
            let mut fetch = vtx(1);
            fetch[0] |= 9 << 8;
            fetching(&[Cf::Fetch(2, vec![fetch])])
        },
        || fetching(&[Cf::Fetch(2, vec![vtx(1)])])),
    (Rule::ResourceRange,
        || fetching(&[Cf::Fetch(2, vec![of_resource(176)])]),
        || fetching(&[Cf::Fetch(2, vec![of_resource(175)])])),
    (Rule::ResourceRange,
        || pixels(&[Cf::Fetch(2, vec![of_resource(160)])]),
        || pixels(&[Cf::Fetch(2, vec![of_resource(159)])])),
    (Rule::FetchFormat,
        || {
            let mut fetch = vtx(1);
            fetch[1] = fetch[1] & !(63 << 22) | 36 << 22;
            fetching(&[Cf::Fetch(2, vec![fetch])])
        },
        || fetching(&[Cf::Fetch(2, vec![vtx(1)])])),
    (Rule::Swizzle,
        || {
            let mut fetch = vtx(1);
            fetch[1] |= 6 << 9;
            fetching(&[Cf::Fetch(2, vec![fetch])])
        },
        || {
            let mut fetch = vtx(1);
            fetch[1] |= 5 << 9;
            fetching(&[Cf::Fetch(2, vec![fetch])])
        }),
    (Rule::Gradients,
        || pixels(&[Cf::Fetch(1, vec![tex(11, 0, 1), tex(20, 0, 2)])]),
        || pixels(&[Cf::Fetch(1, vec![tex(11, 0, 1), tex(12, 0, 1), tex(20, 0, 2)])])),
    (Rule::ComputedLod,
        || fetching(&[alu(&[clear4(3)]), Cf::Fetch(1, vec![tex(16, 3, 1)])]),
        || fetching(&[alu(&[clear4(3)]), Cf::Fetch(1, vec![tex(19, 3, 1)])])),
    (Rule::ArrayFilter,
        || layers(false),
        || layers(true)),
    (Rule::ElementSize,
        || flow(&[alu(&[clear4(1)]), Cf::Raw(1 << 13 | 1 << 15, 3 << 12 | 58 << 23 | 1 << 31)]),
        || flow(&[alu(&[clear4(1)]), scatter(1, 0, 3)])),
    (Rule::ScratchRange,
        || flow(&[alu(&[clear4(1)]), scratch_write(1, 4, true)]),
        || flow(&[alu(&[clear4(1)]), scratch_write(1, 3, true)])),
    (Rule::ShareRange,
        || flow(&[alu(&[clear4(0), clear4(1)]), Cf::Fetch(1, vec![share_write(0), share_read(false)])]),
        || flow(&[alu(&[clear4(0), clear4(1)]), Cf::Fetch(1, vec![share_write(0), share_read(true)])])),
    (Rule::MemoryBurst,
        || burst(Chip::Rv770),
        || burst(Chip::Rv740)),
    (Rule::ExportBase,
        || end_of(vec![done(1, 59), with(done(2, 0), 1 << 21)]),
        || end_of(vec![done(1, 60), with(done(2, 0), 1 << 21)])),
    (Rule::ExportDone,
        || end_of(vec![export(false, 1, 60, 0, [7; 4], false), with(done(2, 0), 1 << 21)]),
        || end_of(vec![export(false, 1, 61, 0, [7; 4], false), done(1, 60), with(done(2, 0), 1 << 21)])),
    (Rule::ExportMissing,
        || end_of(vec![with(done(1, 60), 1 << 21)]),
        || end_of(vec![done(1, 60), with(done(2, 0), 1 << 21)])),
    (Rule::RingRange,
        || super::memory::ring_write(1),
        || super::memory::ring_write(0)),
    (Rule::Waterfall,
        || indexed(Chip::Rv670, false).map(drop),
        || indexed(Chip::Rv670, true).map(drop)),
    (Rule::ExportCount,
        || two_parameters(1),
        || two_parameters(2)),
];

/// Rules that cannot be broken one by one, and why.
const ELSEWHERE: &[(Rule, &str)] = &[
    (Rule::ClauseLimit, "the fields of R700 count no further than 128 slots and 16 fetches"),
    (Rule::SlotKind, "the assignment of 4.4 gives every instruction a unit of its kind"),
    (Rule::DoubleWrite, "vector slots write their own channel"),
];

fn float_to_int(v: f32) -> Vec<u32> {
    group(&[i(FLT_TO_INT, 1, 0, &[lit(0)])], &[v.to_bits()])
}

fn sine(v: f32) -> Vec<u32> {
    group(&[i(SIN, 1, 0, &[lit(0)])], &[v.to_bits()])
}

/// Groups with one line of buffer 0 (two vectors long) locked.
fn constants(list: &[Vec<u32>]) -> Outcome {
    let mut state = state();
    state.constants[0] = vec![1; 32];
    run_in(&[Cf::Alu(ALU, list.concat(), (0, 1, 0))], 1, &mut state).map(drop)
}

fn constants_then_store(vector: u32) -> Outcome {
    let mut state = state();
    state.constants[0] = vec![1; 32];
    let read = group(&[i(MOV, 1, 0, &[k(vector, 0)])], &[]);
    run_in(&[Cf::Alu(ALU, read, (0, 1, 0)), scatter(1, 0, 1)], 1, &mut state).map(drop)
}

/// Four entries of four: two are lost to the branch, so fourteen pushes fit.
fn nested_pushes(count: u32) -> Outcome {
    let mut list: Vec<Cf> = (0..count).map(|_| Cf::Flow(PUSH, 0, 0)).collect();
    let mut left = count;
    while left > 0 {
        let now = left.min(7);
        list.push(Cf::Flow(POP, 0, now));
        left -= now;
    }
    flow(&list)
}

/// A program with so many registers on a chip.
fn declaring(chip: Chip, gprs: u32) -> Outcome {
    let mut state = on(chip);
    state.registers.insert(address::SQ_PGM_RESOURCES_VS, gprs | 1 << 8 | 1 << 21);
    run_in(&[], 1, &mut state).map(drop)
}

/// A program with so many entries of the stack on a chip.
fn stacked(chip: Chip, entries: u32) -> Outcome {
    let mut state = on(chip);
    state.registers.insert(address::SQ_PGM_RESOURCES_VS, 8 | entries << 8 | 1 << 21);
    run_in(&[], 1, &mut state).map(drop)
}

/// A hundred threads of a chip with this in a register.
fn drawn(chip: Chip, register: u32, value: u32) -> Outcome {
    let mut state = on(chip);
    state.registers.insert(register, value);
    run_in(&[], 100, &mut state).map(drop)
}

/// A loop on a chip, with so many entries of stack.
fn looping(chip: Chip, entries: u32) -> Outcome {
    let mut state = on(chip);
    state.registers.insert(address::SQ_PGM_RESOURCES_VS, 8 | entries << 8 | 1 << 21);
    let list =
        [Cf::Flow(LOOP_START_DX10, 3, 0), Cf::Flow(LOOP_BREAK, 2, 0), Cf::Flow(LOOP_END, 1, 0)];
    run_in(&list, 1, &mut state).map(drop)
}

/// An ALU clause that reads what a fetch loads, with or without BARRIER.
fn after_fetch(barrier: bool) -> Outcome {
    let list = [
        Cf::Fetch(2, vec![vtx(1)]),
        alu(&[group(&[i(MOV, 2, 0, &[r(1, 0)])], &[])]),
        tail()[0].clone(),
        tail()[1].clone(),
    ];
    let mut code = link(&list);
    if !barrier {
        code[8 + 7] &= 0x7F;
    }
    run_compute(&code, &mut bound(Stage::Compute), 4, None).map(drop)
}

fn burst(chip: Chip) -> Outcome {
    let mut state = state();
    state.chip = chip;
    let mut read = mem(2, 2, true);
    read[0] |= 1 << 26;
    run_in(&[Cf::Fetch(2, vec![read])], 4, &mut state).map(drop)
}

fn two_parameters(declared: u32) -> Outcome {
    let mut state = state();
    state.registers.insert(address::SPI_VS_OUT_CONFIG, (declared - 1) << 1);
    let list = [done(1, 60), export(false, 2, 0, 0, [7; 4], false), with(done(2, 1), 1 << 21)];
    run_compute(&link(&list), &mut state, 1, None).map(drop)
}

#[test]
pub fn every_rule_refuses_its_breach_by_name_and_lets_its_neighbour_run() {
    let mut wrong = Vec::new();
    for (rule, illegal, legal) in CASES {
        match illegal() {
            Ok(()) => wrong.push(format!("{rule}: the breach ran")),
            Err(trap) if trap.rule != *rule => {
                wrong.push(format!("{rule}: refused by another rule: {trap}"));
            }
            Err(_) => {}
        }
        if let Err(trap) = legal() {
            wrong.push(format!("{rule}: the legal neighbour was refused: {trap}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
pub fn no_rule_is_without_a_case() {
    for &rule in Rule::ALL {
        let tested = CASES.iter().any(|(r, ..)| *r == rule);
        let named = ELSEWHERE.iter().any(|(r, _)| *r == rule);
        assert!(tested != named, "{rule}");
    }
}

#[test]
pub fn unused_fields_are_zero() {
    let nop = |bits: u32| flow(&[with(Cf::Flow(CF_NOP, 0, 0), bits)]).map_err(|trap| trap.rule);
    assert_eq!(nop(0), Ok(()));
    for bits in [1, 1 << 3, 1 << 10, 1 << 13, 1 << 19] {
        assert_eq!(nop(bits), Err(Rule::Reserved), "{bits:#x}");
    }
    let mov = i(MOV, 1, 0, &[zero()]);
    let run = |inst: I| groups(&[group(&[inst], &[])]).map_err(|trap| trap.rule);
    assert_eq!(run(I { index_mode: 2, ..mov }), Err(Rule::IndexMode));
    assert_eq!(run(i(MOV, 1, 0, &[zero().rel()])), Err(Rule::IndexMode));
}

#[test]
pub fn what_pixel_programs_do_is_what_their_state_announces() {
    let kill = alu(&[group(&[i(KILLE_INT, 0, 0, &[zero(), one()]).mask()], &[])]);
    let color = [export(true, 0, 0, 0, [0, 1, 2, 7], true)];
    let run = |register: u32, value: u32, list: &[Cf]| {
        let mut state = bound(Stage::Pixel);
        state.registers.insert(register, value);
        pixels_in(state, list, &color).map_err(|trap| trap.rule)
    };
    let (control, mask) = (address::DB_SHADER_CONTROL, address::CB_SHADER_MASK);
    assert_eq!(run(control, 0, std::slice::from_ref(&kill)), Err(Rule::ExportCount));
    assert_eq!(run(control, 1 << 6, std::slice::from_ref(&kill)), Ok(()));
    assert_eq!(run(control, 1, &[]), Err(Rule::ExportCount));
    assert_eq!(run(mask, 0xF, &[]), Err(Rule::ExportCount));
    assert_eq!(run(mask, 0x7, &[]), Ok(()));
    assert_eq!(run(address::SQ_PGM_EXPORTS_PS, 2 << 1, &[]), Err(Rule::ExportCount));
    assert_eq!(run(address::SQ_PGM_EXPORTS_PS, 1 << 1, &[]), Ok(()));
}

/// docs/errata.md 40: the program exports a mask, and the driver takes it only where pixels have several samples.
#[test]
pub fn a_mask_of_samples_is_taken_where_there_are_several() {
    let mask = [export(false, 0, 61, 0, [7, 7, 0, 7], false)];
    let run = |registers: &[(u32, u32)]| announced(registers, &mask).map_err(|trap| trap.rule);
    let (control, mode, samples) =
        (address::DB_SHADER_CONTROL, address::PA_SC_MODE_CNTL, address::PA_SC_AA_CONFIG);
    let (on, off) = ((control, 1 << 8), (control, 0));
    for several in [&[][..], &[(mode, 1)], &[(mode, 1 << 17)], &[(mode, 1), (samples, 2)]] {
        assert_eq!(run(&[&[on], several].concat()), Ok(()), "{several:?}");
        assert_eq!(run(&[&[off], several].concat()), Err(Rule::ExportCount), "{several:?}");
    }
    for one in [&[(mode, 0)][..], &[(mode, 0), (samples, 0)], &[(mode, 1 << 17), (samples, 0)]] {
        assert_eq!(run(&[&[off], one].concat()), Ok(()), "{one:?}");
        assert_eq!(run(&[&[on], one].concat()), Err(Rule::ExportCount), "{one:?}");
    }
}

#[test]
pub fn vertex_programs_start_with_their_numbers() {
    // Position is (vertex, instance, 0, 1); R0.y and R0.z are undefined.
    let list =
        [export(true, 1, 60, 0, [0, 3, 4, 5], false), export(true, 2, 0, 0, [0, 7, 7, 7], true)];
    let mut state = state();
    state.stage = Stage::Vertex;
    let ids = [(7, 3), (8, 4)];
    let launched = run_vertices(&link(&list), &mut state, &ids, None).expect("legal");
    let position = launched.export(1, 60).expect("exported");
    assert_eq!(position.values, [[7, 3, 0, 0x3F80_0000], [8, 4, 0, 0x3F80_0000]]);
    let parameter = launched.export(2, 0).expect("exported");
    assert_eq!(parameter.written, [1, 1]);
    let list = [export(true, 1, 60, 0, [1, 3, 4, 5], false), export(true, 2, 0, 0, [7; 4], true)];
    let refused = vertices(&list, state).map_err(|trap| trap.rule);
    assert_eq!(refused, Err(Rule::Uninitialised));
}

#[test]
pub fn kills_leave_pixels_running_as_helpers() {
    // Pixels whose x is below 1 are killed; the gradient of x still sees them.
    let list = [
        alu(&[group(&[i(KILLGT, 0, 0, &[one(), r(1, 0)]).mask()], &[])]),
        Cf::Fetch(
            1,
            vec![{
                let mut gradient = tex(7, 1, 2);
                gradient[0] &= !(255 << 8);
                gradient
            }],
        ),
        export(true, 0, 0, 2, [0, 7, 7, 7], true),
    ];
    let mut state = bound(Stage::Pixel);
    state.registers.insert(address::SPI_PS_IN_CONTROL_0, 2 | 1 << 8 | 1 << 10 | 1 << 26);
    for entry in 0..2 {
        let entry = address::SPI_PS_INPUT_CNTL_0 + 4 * entry;
        state.registers.insert(entry, 0);
    }
    let batch = PixelBatch {
        covered: vec![0b1111],
        front: vec![true],
        position: [0, 1, 2, 3].map(|n| [0.5 + (n & 1) as f32, 0.5, 0.0, 1.0]).to_vec(),
        point: vec![],
        sample: vec![],
        components: vec![1],
        parameters: vec![[0; 4]; 4],
        semantics: Vec::new(),
    };
    let launched = run_pixels(&link(&list), &mut state, &batch, None).expect("legal");
    assert_eq!(launched.valid, [false, true, false, true]);
    let color = launched.export(0, 0).expect("exported");
    assert_eq!(color.values.iter().map(|v| f32::from_bits(v[0])).collect::<Vec<_>>(), [1.0; 4]);
}

#[test]
pub fn fetch_formats_bring_their_components() {
    let mut state = bound(Stage::Compute);
    // 16_16_SCALED signed of bytes 4n.. into R1.xy, 0 and 1 in the rest.
    let fetch = [
        2 << 5 | 3 << 26,
        1 | 1 << 12 | 4 << 15 | 5 << 18 | 15 << 22 | 2 << 28 | 1 << 30,
        1 << 19,
        0,
    ];
    let list = [
        Cf::Fetch(2, vec![fetch]),
        alu(&[group(&[i(LSHL_INT, 2, 0, &[r(0, 0), lit(0)])], &[2])]),
        scatter(1, 2, 15),
    ];
    run_in(&list, 17, &mut state).expect("legal");
    let float = |n: usize| f32::from_bits(state.aperture.words[n]);
    assert_eq!([0, 1, 2, 3].map(float), [256.0, 770.0, 0.0, 1.0]);
    assert_eq!([60, 61].map(float), [15676.0, 16190.0]);
    // Thread 16 is outside of the buffer.
    assert_eq!([64, 65, 67].map(float), [0.0, 0.0, 1.0]);
}

#[test]
pub fn random_words_end_in_a_trap_or_a_run_and_never_panic() {
    let mut seed = 1u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    let mut ran = 0;
    for round in 0..20_000 {
        let stage = [Stage::Compute, Stage::Vertex, Stage::Pixel, Stage::Export, Stage::Geometry]
            [round % 5];
        // Mostly legal opcodes, so that decoding goes on.
        let mut words: Vec<u32> = (0..16).map(|_| next()).collect();
        for n in 0..3 {
            let op = [0, 1, 2, 5, 6, 9, 10, 11, 13, 14, 26, 36, 39, 40, 58][next() as usize % 15];
            words[2 * n] &= 0x0000_0007 | next() & next() & 0xC3FF_8000;
            words[2 * n + 1] = words[2 * n + 1] & next() & 0x0000_0103 | op << 23 | 1 << 31;
            if next() % 4 == 0 {
                words[2 * n + 1] = 1 << 31 | 8 << 26 | (next() & 3) << 18;
                words[2 * n] &= 7;
            }
        }
        words[6] = 3 << 30;
        words[7] = 40 << 23 | 1 << 21 | 0xFFF;
        let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut state = bound(stage);
        state.steps = 2_000;
        let outcome = match stage {
            Stage::Compute => run_compute(&code, &mut state, 4, None).map(drop),
            Stage::Vertex | Stage::Export => {
                run_vertices(&code, &mut state, &[(0, 0)], None).map(drop)
            }
            Stage::Geometry => {
                run_geometry(&code, &mut state, &[Primitive::default()], None).map(drop)
            }
            Stage::Pixel => {
                let batch = PixelBatch {
                    covered: vec![15],
                    front: vec![false],
                    position: vec![[0.5; 4]; 4],
                    point: vec![],
                    sample: vec![],
                    components: vec![4; 3],
                    parameters: vec![[0x3F80_0000; 4]; 12],
                    semantics: Vec::new(),
                };
                run_pixels(&code, &mut state, &batch, None).map(drop)
            }
        };
        ran += u32::from(outcome.is_ok());
    }
    assert!(ran > 0);
}
