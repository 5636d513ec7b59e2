//! Every message that is executed, once at least, with what the documents say that it leaves.

use super::super::fragment::{Fragment, Record};
use super::super::inst::Sampled;
use super::super::rule::Rule;
use super::super::state::Stage;
use super::super::value::Word;
use super::{Bench, refused};
use crate::state;
use gpucc_emu::format::{Format, VertexFormat};
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::sampler::{Sampler, Wrap};
use gpucc_ir::ssa::Dim;

/// A program, and what a register holds in lane 0 behind it.
pub struct Message {
    /// Where it runs.
    pub stage: Stage,
    /// Its instructions, without the end.
    pub text: &'static str,
    /// A register.
    pub reg: u8,
    /// Its value.
    pub value: u32,
}

const fn memory(text: &'static str, reg: u8, value: u32) -> Message {
    Message { stage: Stage::Compute, text, reg, value }
}

const fn pixel(text: &'static str, reg: u8, value: u32) -> Message {
    Message { stage: Stage::Fragment, text, reg, value }
}

const ONE: u32 = 0x3F80_0000;
const HALF: u32 = 0x3F00_0000;

/// The programs; memory and registers are those of [`world`].
#[rustfmt::skip]
pub const MESSAGES: &[Message] = &[
    memory("LOAD.i8.slot0.wait0 @r8, r4, offset:1", 8, 0xAAAA_AA81),
    memory("LOAD.i8.w0.slot0.wait0 @r8, r4, offset:1", 8, 0xFFFF_FF81),
    memory("LOAD.i8.d0.slot0.wait0 @r8:r9, r4, offset:1", 9, 0xFFFF_FFFF),
    memory("LOAD.i8.h1.slot0.wait0 @r8, r4, offset:1", 8, 0xFF81_AAAA),
    memory("LOAD.i16.unsigned.w0.slot0.wait0 @r8, r4, offset:2", 8, 0x8382),
    memory("LOAD.i16.d0.slot0.wait0 @r8:r9, r4, offset:2", 9, 0xFFFF_FFFF),
    memory("LOAD.i24.unsigned.slot0.wait0 @r8, r0, offset:5", 8, 0x0007_0605),
    memory("LOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:8", 8, 0x0B0A_0908),
    memory("LOAD.i32.d0.slot0.wait0 @r8:r9, r4, offset:4", 9, 0xFFFF_FFFF),
    memory("LOAD.i48.unsigned.slot0.wait0 @r8:r9, r0, offset:2", 9, 0x0000_0706),
    memory("LOAD.i64.unsigned.slot0.wait0 @r8:r9, r0, offset:4", 9, 0x0B0A_0908),
    memory("LOAD.i96.unsigned.slot0.wait0 @r8:r9:r10, r0, offset:0", 10, 0x0B0A_0908),
    memory("LOAD.i128.unsigned.slot0.wait0 @r8:r9:r10:r11, r0, offset:-16", 11, 0xFFFE_FDFC),
    memory("STORE.i8.slot0.wait0 @r3, r0, offset:9\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:8", 8, 0x0B0A_BB08),
    memory("STORE.i16.slot0.wait0 @r3, r0, offset:10\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:8", 8, 0xAABB_0908),
    memory("STORE.i24.slot0.wait0 @r3, r0, offset:8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:8", 8, 0x0B99_AABB),
    memory("STORE.i32.slot0.wait0 @r3, r0, offset:8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:8", 8, 0x8899_AABB),
    memory("STORE.i48.slot0.wait0 @r2:r3, r0, offset:8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:12", 8, 0x0F0E_AABB),
    memory("STORE.i64.slot0.wait0 @r2:r3, r0, offset:8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:12", 8, 0x8899_AABB),
    memory("STORE.i96.slot0.wait0 @r2:r3:r4, r0, offset:8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:16", 8, 0x2000),
    memory("STORE.i128.slot0.wait0 @r0:r1:r2:r3, r0, offset:8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:20", 8, 0x8899_AABB),
    memory("ATOM.i32.slot0.aadd.wait0 @r2, r0, offset:0x4\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:4", 8, 0x0706_050B),
    memory("ATOM.i32.slot0.asmin.wait0 @r3, r0, offset:0x4\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:4", 8, 0x8899_AABB),
    memory("ATOM.i32.slot0.asmax.wait0 @r3, r0, offset:0x4\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:4", 8, 0x0706_0504),
    memory("ATOM.i32.slot0.axor.wait0 @r3, r0, offset:0x4\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:4", 8, 0x8F9F_AFBF),
    memory("ATOM.i64.slot0.aadd.wait0 @r2:r3, r0, offset:0x8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:12", 8, 0x97A7_B7C7),
    // 32 bits are added to 64: as a natural number, and as one with a sign.
    memory("ATOM.i64.slot0.aaddu.wait0 @r3, r0, offset:0x8\nLOAD.i64.unsigned.slot0.wait0 @r8:r9, r0, offset:8", 9, 0x0F0E_0D0C),
    memory("ATOM.i64.slot0.aadds.wait0 @r3, r0, offset:0x8\nLOAD.i64.unsigned.slot0.wait0 @r8:r9, r0, offset:8", 9, 0x0F0E_0D0B),
    memory("ATOM.i64.slot0.aadds.wait0 @r3, r0, offset:0x8\nLOAD.i64.unsigned.slot0.wait0 @r8:r9, r0, offset:8", 8, 0x93A3_B3C3),
    memory("ATOM1.i32.slot0.adec.wait0 r0, offset:0x4\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:4", 8, 0x0706_0503),
    memory("ATOM1.i64.slot0.ainc.wait0 r0, offset:0x8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:8", 8, 0x0B0A_0909),
    memory("ATOM1_RETURN.i32.slot0.aor1.wait0 @r8, r0, offset:0x4", 8, 0x0706_0504),
    memory("ATOM1_RETURN.i64.slot0.ainc.wait0 @r8:r9, r0, offset:0x8", 9, 0x0F0E_0D0C),
    memory("ATOM_RETURN.i32.slot0.aand.wait0 @r8, @r3, r0, offset:0x4", 8, 0x0706_0504),
    memory("ATOM_RETURN.i64.slot0.axchg.wait0 @r8:r9, @r2:r3, r0, offset:0x8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:12", 8, 0x8899_AABB),
    memory("ATOM_RETURN.i64.slot0.aadds.wait0 @r8:r9, @r3, r0, offset:0x8\nLOAD.i32.unsigned.slot0.wait0 @r8, r0, offset:12", 8, 0x0F0E_0D0B),
    // Nothing is equal, in whichever order the two values stand.
    memory("ATOM_RETURN.i64.slot0.axchg.compare.wait0 @r8:r9, @r2:r3:r4:r5, r0, offset:0x8", 9, 0x0F0E_0D0C),
    memory("LD_BUFFER.i8.unsigned.w0.slot0.wait0 @r8, r2, 0x0", 8, 7),
    memory("LD_BUFFER.i16.unsigned.w0.slot0.wait0 @r8, r5, 0x0", 8, 0x0100),
    memory("LD_BUFFER.i24.unsigned.slot0.wait0 @r8, r2, 0x0", 8, 0x0009_0807),
    memory("LD_BUFFER.i32.unsigned.slot0.wait0 @r8, r5, 0x0", 8, 0x0302_0100),
    memory("LD_BUFFER.i48.unsigned.slot0.wait0 @r8:r9, r5, 0x0", 9, 0x0504),
    memory("LD_BUFFER.i64.unsigned.slot0.wait0 @r8:r9, r5, 0x0", 9, 0x0706_0504),
    memory("LD_BUFFER.i96.unsigned.slot0.wait0 @r8:r9:r10, r5, 0x0", 10, 0x0B0A_0908),
    memory("LD_BUFFER.i128.unsigned.slot0.wait0 @r8:r9:r10:r11, r5, 0x0", 11, 0x0F0E_0D0C),
    memory("LEA_BUFFER.slot0.wait0 @r8:r9, r2, 0x0", 8, 0x1007),
    // Entry 1 has elements of 16 bytes.
    memory("LEA_BUF_IMM.slot0.wait0 @r8:r9, r2, table:0x0, index:0x1", 8, 0x1070),
    memory("LEA_BUF.slot0.wait0 @r8:r9, r2, r13", 8, 0x1070),
    // Element 2 of 8 bytes, 4 bytes behind its start; the attribute does not count instances.
    memory("LD_ATTR_IMM.v2.u32.slot0.wait0 @r8:r9, r12, r5, index:0x2, table:0x0", 9, 0x1B1A_1918),
    memory("LD_ATTR.v2.u32.slot0.wait0 @r8:r9, r12, r5, r12", 8, 0x1716_1514),
    memory("LEA_ATTR_IMM.slot0.wait0 @r8:r9:r10, r12, r5, table:0x0, index:0x2", 8, 0x1014),
    memory("LEA_ATTR.slot0.wait0 @r8:r9:r10, r12, r5, r12", 8, 0x1014),
    // Column 1 of row 0.
    memory("LD_TEX_IMM.v4.f32.slot0.wait0 @r8:r9:r10:r11, r13, r5, index:0x3, table:0x0", 10, 0x4120_0000),
    memory("LD_TEX.v2.f16.slot0.wait0 @r8, r13, r5, r14", 8, 0x3C00),
    memory("LEA_TEX_IMM.slot0.wait0 @r8:r9:r10, r13, r5, table:0x0, index:0x3", 8, 0x2_0010),
    memory("LEA_TEX.slot0.wait0 @r8:r9:r10, r13, r5, r14\nLD_CVT.slot0.v4.f32.wait0 @r8:r9:r10:r11, r8, r10, offset:0x0", 10, 0x4120_0000),
    memory("LEA_TEX.slot0.wait0 @r8:r9:r10, r13, r5, r14\nST_CVT.slot0.v4.f32.wait0 @r16:r17:r18:r19, r8, r10, offset:0x0
            LD_CVT.slot0.v2.f32.wait0 @r8:r9, r8, r10, offset:0x0", 8, HALF),
    memory("TEX_FETCH.slot0.32.rg.2d.wait0 @r8:r9, @r12:r13, r6", 8, 0),
    memory("TEX_SINGLE.slot0.32.rgba.2d.zero.wait0 @r8:r9:r10:r11, @r20:r21, r6", 10, 0x4120_0000),
    memory("TEX_SINGLE.slot0.16.rg.2d.zero.wait0 @r8, @r20:r21, r6", 8, 0x3C00),
    // Counterclockwise from the lower left.
    memory("TEX_GATHER.slot0.32.rgba.2d.gather4_b.wait0 @r8:r9:r10:r11, @r22:r23, r6", 8, ONE),
    memory("TEX_GATHER.slot0.32.rgba.2d.gather4_b.wait0 @r8:r9:r10:r11, @r22:r23, r6", 10, 0x4120_0000),
    memory("TEX_GRADIENT.slot0.32.rg.2d.derivative.wait0 @r8:r9, @r24:r25:r26:r27, r6", 8, ONE),
    memory("LD_GCLK.cycle_counter.slot0.wait0 @r8:r9", 9, 0),
    // s and t are 0.25 and 0.75 in the quad, 1 texel of 2 apart.
    pixel("LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store.wait0 @r8:r9, r61, index:0x0", 9, 0x3E80_0000),
    pixel("LD_VAR_BUF_IMM.f16.slot0.v2.src_f32.center.store.wait0 @r8, r61, index:0x0", 8, 0x3400_3400),
    pixel("LD_VAR_BUF.f32.slot0.src_f32.center.store.wait0 @r8, r61, r5", 8, 0x3E80_0000),
    pixel("LD_VAR_BUF.f16.slot0.v2.src_f32.center.clobber.wait0 @r8, r61, r5", 8, 0x3400_3400),
    pixel("LD_VAR_SPECIAL.v2.f32.center.clobber.slot0.wait0 @r8:r9, r61, index:0x0", 9, HALF),
    pixel("LD_VAR_SPECIAL.f32.center.clobber.slot0.wait0 @r8, r61, index:0x2", 8, ONE),
    pixel("TEX_GRADIENT.slot0.32.rg.2d.wait0 @r8:r9, @r28:r29, r6", 8, 0),
    pixel("VAR_TEX_BUF_SINGLE.slot0.center_store.32.2d.computed.wait0 @r8:r9:r10:r11, r6, r5", 11, HALF),
    pixel("VAR_TEX_BUF_SINGLE.slot0.center_store.16.2d.zero.wait0 @r8:r9, r6, r5", 9, 0x3800_0000),
    pixel("VAR_TEX_BUF_GATHER.slot0.center_clobber.32.2d.gather4_a.wait0 @r8:r9:r10:r11, r6, r5", 8, HALF),
    pixel("VAR_TEX_BUF_GRADIENT.slot0.center_store.32.2d.wait0 @r8:r9, r6, r5", 8, 0),
    pixel("NOP.wait0126\nATEST.wait @r60, r60, 0x3F800000, atest_datum.w0", 60, u32::MAX),
    pixel("NOP.wait0126\nATEST.wait @r60, r60, 0x3F800000, atest_datum.w0\nZS_EMIT.z.slot0.wait @r60, r8, 0x0, r60", 60, u32::MAX),
    pixel("NOP.wait0126\nATEST.wait @r60, r60, 0x3F800000, atest_datum.w0
           BLEND.slot0.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2
           IADD_IMM.i32 r48, program_counter.w0, #0x8
           BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1", 60, u32::MAX),
];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// 64 bytes 0, 1, 2... at 0x1000 behind 16 of 0xF0..., 0x80... at 0x2000, and one table: a buffer, one of elements, an
/// attribute, a texture of 2x2 (column, row, 10 column + row, 0.5), a sampler.
fn world(stage: Stage) -> Bench {
    let mut bench = Bench::new()
        .reg(0, 0x1000)
        .reg(1, 0)
        .reg(2, 7)
        .reg(3, 0x8899_AABB)
        .reg(4, 0x2000)
        .reg(5, 0)
        .reg(6, 3 << 16 | 4)
        .reg(7, 0)
        .reg(8, 0xAAAA_AAAA)
        .reg(9, 0xAAAA_AAAA)
        .reg(12, 2)
        .reg(13, 1)
        .reg(14, 3)
        .float(16, 0.5)
        .float(17, 0.5)
        .float(18, 0.5)
        .float(19, 0.5)
        .float(20, 0.75)
        .float(21, 0.25)
        .float(22, 0.5)
        .float(23, 0.5)
        .float(24, 1.0)
        .float(25, 0.0)
        .float(26, 0.0)
        .float(27, 0.0)
        .reg(60, u32::MAX)
        .reg(61, 1);
    bench.stage = stage;
    bench.lanes = 1;
    let memory = &mut bench.state.memory;
    memory.map(0xFF0, (0xF0..=0xFF).chain(0..64).collect(), true);
    memory.map(0x2000, (0x80..0x90).collect(), true);
    let entries = 5;
    memory.map(0x8000, bytes(&state::resource_table(0x9000, entries)), false);
    let mut image = Image::new(
        Format::Rgba32Float,
        Extent { dim: Dim::D2, width: 2, height: 2, depth: 1, layers: 1, levels: 2, samples: 1 },
    )
    .expect("small");
    for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let texel = [x as f32, y as f32, (10 * x + y) as f32, 0.5].map(f32::to_bits);
        let at = Texel { x, y, ..Texel::default() };
        image.store(at, texel);
    }
    let texture = state::Texture {
        dim: Dim::D2,
        format: Format::Rgba32Float,
        size: [2, 2, 1],
        layers: 1,
        levels: 2,
        samples: 1,
        surfaces: 0x9800,
    };
    let format = state::vertex_format(VertexFormat::from_name("uint32x2").expect("a format"));
    let mut attribute = state::attribute(format, false, 4, 0, 8);
    // Its buffer stands in this table too.
    attribute[1] &= !63;
    let descriptors = [
        state::buffer(0x1000, 64),
        state::structured_buffer(0x1000, 64, 16),
        attribute,
        state::texture(&texture),
        state::sampler(&Sampler::nearest(Wrap::Clamp)),
    ];
    memory.map(0x9000, bytes(&descriptors.concat()), false);
    let plane = state::plane(0x2_0000, Format::Rgba32Float, 80, 32, 64);
    memory.map(0x9800, bytes(&plane), false);
    memory.map_image(0x2_0000, image, true);
    bench.state.tables = 0x8000 | 1;
    if stage == Stage::Fragment {
        bench.lanes = 0xF;
        bench.state.blend[0] = 1 | 3 << 3 | 191 << 44;
        let quad = |column: bool| {
            Word::from_fn(|lane| {
                let far = if column { lane & 1 } else { lane >> 1 & 1 } == 1;
                (if far { 0.75f32 } else { 0.25 }).to_bits()
            })
        };
        let (s, t) = (quad(true), quad(false));
        let mut fragment = Fragment {
            point: Some([Word::splat(HALF); 2]),
            depth_w: Some([Word::splat(HALF), Word::splat(ONE)]),
            ..Fragment::default()
        };
        let record =
            Record { words: [s, t, s, t], half: false, flat: false, sampled: Sampled::Center };
        fragment.records.insert(0, vec![record]);
        bench.fragment = Some(fragment);
        bench = bench.word(28, s).word(29, t);
    }
    bench
}

#[test]
fn messages_leave_what_the_documents_say_whenever_they_act() {
    let mut wrong = Vec::new();
    for message in MESSAGES {
        for seed in 0..4 {
            let mut bench = world(message.stage);
            bench.state.seed = seed;
            let found = bench.result(&format!("{}\nNOP.end", message.text), message.reg);
            if found != message.value {
                let value = message.value;
                wrong.push(format!("{}: {found:#010x}, not {value:#010x}", message.text));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn no_result_of_a_message_is_there_before_its_wait() {
    for message in MESSAGES {
        // The last instruction with a slot, without its wait.
        let Some((before, last)) = message.text.rsplit_once(".wait0") else {
            continue;
        };
        if last.starts_with("126") || message.reg >= 60 {
            continue;
        }
        let text = format!("{before}{last}\nMOV.i32 r30, r{}\nNOP.end", message.reg);
        let rule = refused(|| world(message.stage), &text);
        assert_eq!(rule, Rule::NotWaited, "{text}");
    }
}

/// Errata 109, 138: there are no quads to take differences in outside of fragments.
#[test]
fn a_level_is_computed_only_where_there_are_quads() {
    let sample = "TEX_SINGLE.slot0.32.rgba.2d.computed.wait0 @r8:r9:r10:r11, @r20:r21, r6\nNOP.end";
    assert!(world(Stage::Fragment).run(sample).is_ok());
    assert_eq!(refused(|| world(Stage::Compute), sample), Rule::Helper);
}

/// Errata 115: the machine reads the handle of one lane.
#[test]
fn lanes_that_ask_for_different_images_are_refused() {
    for (text, first) in [
        ("LD_TEX.v2.f16.slot0.wait0 @r8, r13, r5, r40", 3),
        ("LEA_TEX.slot0.wait0 @r8:r9:r10, r13, r5, r40", 3),
        ("LD_ATTR.v2.u32.slot0.wait0 @r8:r9, r12, r5, r40", 2),
        ("LEA_BUF.slot0.wait0 @r8:r9, r2, r40", 1),
    ] {
        let handles = || Word::from_fn(|lane| first + lane as u32);
        let bench = || Bench { lanes: 3, ..world(Stage::Compute).word(40, handles()) };
        assert_eq!(refused(bench, &format!("{text}\nNOP.end")), Rule::HandleUniform, "{text}");
    }
}

/// Errata 115: a varying's offset too.
#[test]
fn lanes_that_ask_for_different_varyings_are_refused() {
    for text in [
        "LD_VAR_BUF.f32.slot0.src_f32.center.store.wait0 @r8, r61, r40",
        "VAR_TEX_BUF_SINGLE.slot0.center_store.32.2d.zero.wait0 @r8:r9:r10:r11, r6, r40",
    ] {
        let bench = |step: u32| {
            let offsets = Word::from_fn(|lane| step * (lane as u32 & 1));
            world(Stage::Fragment).word(40, offsets)
        };
        let text = format!("{text}\nNOP.end");
        assert_eq!(refused(|| bench(4), &text), Rule::HandleUniform, "{text}");
        assert!(bench(0).run(&text).is_ok(), "{text}");
    }
}

/// Errata 103: a texture is no memory of the workgroup, and still ends before a barrier.
#[test]
fn a_texture_is_waited_for_before_a_barrier() {
    let sample = "TEX_SINGLE.slot0.32.rgba.2d.zero @r8:r9:r10:r11, @r20:r21, r6\n";
    let barrier = "BARRIER.slot7.wait\nNOP.end";
    let rule = refused(|| world(Stage::Compute), &format!("{sample}{barrier}"));
    assert_eq!(rule, Rule::BarrierMemory);
    assert!(world(Stage::Compute).run(&format!("{sample}NOP.wait0\n{barrier}")).is_ok());
}

/// Errata 105: nothing is interpolated where the lanes of a quad part.
#[test]
fn a_varying_is_waited_for_before_lanes_part() {
    let load = "LD_VAR_BUF_IMM.f32.slot1.src_f32.center.store @r12, r61, index:0x0\n";
    let flat = "LEA_BUFFER.slot1 @r12:r13, r2, 0x0\n";
    let branch = "BRANCHZ.eq.reconverge r40, offset:0\nNOP.reconverge\nNOP.end";
    let run = |text: &str, step: u32| {
        let lanes = Word::from_fn(|lane| step * lane as u32);
        world(Stage::Fragment).word(40, lanes).run(text).map(drop).map_err(|trap| trap.rule)
    };
    assert_eq!(run(&format!("{load}{branch}"), 1), Err(Rule::VaryingOrder));
    assert_eq!(run(&format!("{load}NOP.wait1\n{branch}"), 1), Ok(()));
    assert_eq!(run(&format!("{load}{branch}"), 0), Ok(()));
    assert_eq!(run(&format!("{flat}{branch}"), 1), Ok(()));
}

#[test]
fn a_texel_is_read_as_numbers_of_its_own_kind() {
    let attribute = |format: &str| {
        format!(
            "LD_ATTR_IMM.v2.{format}.slot0.wait0 @r8:r9, r12, r5, index:0x2, table:0x0\nNOP.end"
        )
    };
    let texel = |format: &str| {
        format!(
            "LD_TEX_IMM.v4.{format}.slot0.wait0 @r8:r9:r10:r11, r13, r5, index:0x3, table:0x0\nNOP.end"
        )
    };
    // The attribute holds integers, the texture floats.
    for (right, wrong) in [(attribute("u32"), attribute("f32")), (texel("f32"), texel("u32"))] {
        assert!(world(Stage::Compute).run(&right).is_ok(), "{right}");
        assert_eq!(refused(|| world(Stage::Compute), &wrong), Rule::TexelFormat, "{wrong}");
    }
}

#[test]
fn a_fused_texture_needs_its_lanes_and_keeps_the_place_of_its_varying() {
    let fused = "VAR_TEX_BUF_SINGLE.slot0.center_store.32.2d.computed @r8:r9:r10:r11, r6, r5";
    let varying = "LD_VAR_BUF_IMM.f32.slot1.src_f32.center.store @r12, r61, index:0x0";
    let text = format!("{fused}\n{varying}\nNOP.end");
    assert_eq!(refused(|| world(Stage::Fragment), &text), Rule::VaryingOrder);
    let kept = varying.replace("store", "retrieve");
    let text = format!("{fused}\n{kept}\nNOP.wait01\nMOV.i32 r30, r12\nNOP.end");
    assert_eq!(world(Stage::Fragment).result(&text, 30), 0x3E80_0000);
    assert_eq!(refused(|| world(Stage::Compute), &format!("{fused}\nNOP.end")), Rule::Stage);
    for other in ["3d.computed", "2d.array_enable.computed", "2d.shadow.computed"] {
        let text = fused.replace("2d.computed", other);
        let rule = refused(|| world(Stage::Fragment), &format!("{text}\nNOP.end"));
        assert_eq!(rule, Rule::Unsupported, "{text}");
    }
}

#[test]
fn what_is_kept_has_no_other_place_and_what_is_flat_keeps_nothing() {
    for text in [
        "LD_VAR_BUF_IMM.f32.slot1.src_f32.sample.retrieve @r12, r61, index:0x0",
        "LD_VAR_BUF_IMM.f32.slot1.src_flat32.center.store @r12, r61, index:0x0",
        "LD_VAR_BUF_IMM.f32.slot1.src_flat32.centroid.retrieve @r12, r61, index:0x0",
    ] {
        let rule = refused(|| world(Stage::Fragment), &format!("{text}\nNOP.end"));
        assert_eq!(rule, Rule::Reserved, "{text}");
    }
}
