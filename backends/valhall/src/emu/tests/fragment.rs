use super::super::fragment::{Fragment, Record};
use super::super::inst::Sampled;
use super::super::launch::{Pixels, QuadStart, run_pixels};
use super::super::rule::Rule;
use super::super::state::{Stage, State};
use super::super::value::Word;
use super::{Bench, assemble, refused};
use std::collections::BTreeSet;

/// Two quads; pixel 3 of the first is a helper.
fn pixels() -> Bench {
    let mut bench = Bench::new()
        .word(60, Word::from_fn(|lane| if lane == 3 { 0 } else { u32::MAX }))
        .reg(61, 1)
        .float(0, 0.25)
        .float(1, 0.5)
        .float(2, 0.75)
        .float(3, 1.0);
    bench.stage = Stage::Fragment;
    bench.lanes = 0xFF;
    // Opaque, four components, target 0.
    bench.state.blend[0] = 1 | 3 << 3 | 191 << 44;
    let mut fragment =
        Fragment { helpers: 1 << 3, needed: [4, 0, 0, 0, 0, 0, 0, 0], ..Fragment::default() };
    for (offset, flat) in [(0, false), (16, true)] {
        let words = std::array::from_fn(|c| Word::from_fn(|lane| ((lane + c) as f32).to_bits()));
        let record = Record { words, half: false, flat, sampled: Sampled::Center };
        fragment.records.insert(offset, vec![record]);
    }
    bench.fragment = Some(fragment);
    bench
}

/// The call of the blend shader of a target, behind its BLEND: the last one's, and another's.
const LAST_CALL: &str = "
                   IADD_IMM.i32 r48, 0x0, #0x0
                   BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1";
const CALL: &str = "
                   IADD_IMM.i32 r48, program_counter.w0, #0x8
                   BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1\n";

const END: &str = "NOP.wait0126
                   ATEST.wait @r60, r60, r3, atest_datum.w0
                   BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0
                   IADD_IMM.i32 r48, 0x0, #0x0
                   BRANCHZI.eq.absolute 0x0, blend_descriptor_0.w1";

#[test]
fn a_pixel_tests_its_coverage_and_blends() {
    let warp = pixels().run(END).unwrap_or_else(|trap| panic!("{trap}"));
    let fragment = warp.fragment.expect("a fragment program");
    let (words, lanes) = fragment.colors[&(0, 0)];
    assert_eq!(lanes, 0xFF);
    assert_eq!(words[2].v[5], 0.75f32.to_bits());
    assert_eq!(fragment.coverage[3], Some(0));
    assert_eq!(fragment.coverage[2], Some(u32::MAX));
}

#[test]
fn the_order_of_the_end_is_that_of_the_manual() {
    let atest = "ATEST.wait @r60, r60, r3, atest_datum.w0\n";
    let blend = "BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0";
    let blend = format!("{blend}{LAST_CALL}");
    for (text, rule) in [
        (format!("{atest}{blend}"), Rule::TileWait),
        (format!("NOP.wait\n{blend}"), Rule::Atest),
        (
            format!("NOP.wait0126\nATEST.wait0 @r60, r60, r3, atest_datum.w0\n{blend}"),
            Rule::TileWait,
        ),
        (
            format!("NOP.wait0126\nATEST @r60, r60, r3, atest_datum.w0\nNOP.wait1\n{blend}"),
            Rule::TileWait,
        ),
        (
            format!("NOP.wait\nATEST @r60, r60, r3, atest_datum.w0\n{blend}"),
            Rule::TileWait,
        ),
        (
            format!("NOP.wait\nATEST.wait @r60, r3, r3, atest_datum.w0\n{blend}"),
            Rule::Coverage,
        ),
        (
            END.replace("blend_descriptor_0", "blend_descriptor_1"),
            Rule::BlendTarget,
        ),
        (
            // The same target twice.
            END.replace(
                "BLEND",
                &format!(
                    "BLEND.slot1.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2{CALL}
                     MOV.i32 r0, r60\nMOV.i32 r1, r60\nMOV.i32 r2, r60\nFADD.f32 r3, 0x3F800000, 0x0\nNOP.wait\nBLEND"
                ),
            ),
            Rule::BlendTarget,
        ),
        // A call that is missing, of another target's shader, or that comes back where it must not or elsewhere.
        (END.replace("IADD_IMM.i32 r48, 0x0, #0x0", "NOP"), Rule::BlendCall),
        (
            END.replace("blend_descriptor_0.w1", "blend_descriptor_1.w1"),
            Rule::BlendCall,
        ),
        (
            END.replace("r48, 0x0, #0x0", "r48, program_counter.w0, #0x8"),
            Rule::BlendCall,
        ),
        (
            END.replace("wait0126", "wait").replace(".end @", " @"),
            Rule::BlendCall,
        ),
    ] {
        assert_eq!(refused(pixels, &text), rule, "{text}");
    }
}

#[test]
fn a_descriptor_converts_four_components_of_the_colours_kind() {
    let program = format!("NOP.wait0126\nATEST.wait @r60, r60, r3, atest_datum.w0\n{END}");
    let with = |descriptor: u64| {
        move || {
            let mut bench = pixels();
            bench.state.blend[0] = descriptor;
            bench
        }
    };
    // RGBA32F, RGBA8 and RGB10 A2 of the tile, sRGB; nothing at all.
    for code in [191, 237, 238, 237 | 1 << 8] {
        let run = with(1 | 3 << 3 | code << 44)().run(&program);
        assert!(run.is_ok(), "{code}: {:?}", run.err());
    }
    assert!(with(3)().run(&program).is_ok());
    // Three components; integers of both kinds; sRGB of ten bits; a code of no format.
    for wrong in [
        1 | 2 << 3 | 191 << 44,
        1 | 3 << 3 | 157 << 44,
        1 | 3 << 3 | 221 << 44,
        1 | 3 << 3 | (238 | 1 << 8) << 44,
        1 | 3 << 3 | 255 << 44,
    ] {
        assert_eq!(refused(with(wrong), &program), Rule::Conversion, "{wrong:#x}");
    }
}

#[test]
fn a_blend_that_does_not_end_jumps_over_the_call_of_a_blend_shader() {
    let mut bench = pixels();
    bench.state.blend[1] = 1 | 3 << 3 | 191 << 44 | 1 << 16;
    bench = bench.float(20, 0.5);
    let program = |second: &str| {
        let last = LAST_CALL.replace("descriptor_0", "descriptor_1");
        format!(
            "NOP.wait0126
             ATEST.wait @r60, r60, r3, atest_datum.w0
             BLEND.slot0.v4.f32 @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x2{CALL}
             {second}
             NOP.wait
             BLEND.slot1.v4.f32.end @r0:r1:r2:r3, blend_descriptor_1.w0, r60, target:0x0{last}"
        )
    };
    let kept = "MOV.i32 r0, r20\nMOV.i32 r1, r20\nMOV.i32 r2, r20\nMOV.i32 r3, r20";
    let warp = bench.run(&program(kept)).unwrap_or_else(|trap| panic!("{trap}"));
    assert_eq!(warp.fragment.expect("a fragment program").colors.len(), 2);
    // A blend shader may have used the registers of the colour.
    let two_targets = || {
        let mut bench = pixels();
        bench.state.blend[1] = 1 | 3 << 3 | 191 << 44 | 1 << 16;
        if let Some(fragment) = &mut bench.fragment {
            fragment.needed[1] = 4;
        }
        bench.float(20, 0.5)
    };
    let lost = kept.replace("MOV.i32 r3, r20", "NOP");
    assert_eq!(refused(two_targets, &program(&lost)), Rule::Undefined);
    assert!(two_targets().run(&program(kept)).is_ok());
}

#[test]
fn the_alpha_that_is_tested_is_the_alpha_that_is_blended() {
    let other = END.replace("r60, r3,", "r60, r1,");
    assert_eq!(refused(pixels, &other), Rule::Alpha);
    let datum = END.replace("atest_datum.w0", "0x0");
    assert_eq!(refused(pixels, &datum), Rule::AtestDatum);
    // Three components have the alpha 1.
    let three = || {
        let mut bench = pixels();
        if let Some(fragment) = &mut bench.fragment {
            fragment.needed[0] = 3;
        }
        bench
    };
    assert_eq!(refused(three, &other), Rule::Alpha);
    assert!(three().run(END).is_ok());
}

/// Errata 101, 102, 104: each is the program that is right, with one wait less.
#[test]
fn what_touches_the_tile_waits_for_itself_and_nothing_runs_beside_an_alpha_test() {
    let atest = "NOP.wait0126\nATEST.wait0 @r60, r60, r3, atest_datum.w0\n";
    let load = "LD_VAR_BUF_IMM.f32.slot1.src_f32.center.store @r8, r61, index:0x0\n";
    let emit = "ZS_EMIT.z.slot0.wait @r60, r3, 0x0, r60\n";
    let end = END.split_once("datum.w0\n").expect("an alpha test").1;
    let right = format!("{atest}{load}NOP.wait0126\n{emit}{end}");
    assert!(pixels().run(&right).is_ok());
    for (from, to, rule) in [
        ("ATEST.wait0 ", "ATEST ", Rule::AfterAtest),
        ("NOP.wait0126\nZS_EMIT", "NOP.wait1\nZS_EMIT", Rule::TileWait),
        ("ZS_EMIT.z.slot0.wait ", "ZS_EMIT.z.slot0.wait0126 ", Rule::TileWait),
        (
            "NOP.wait0126\nATEST",
            "NOP.wait\nLD_GCLK.cycle_counter.slot1 @r10:r11\nATEST",
            Rule::TileWait,
        ),
    ] {
        let text = right.replacen(from, to, 1);
        assert_ne!(text, right, "{from}");
        assert_eq!(refused(pixels, &text), rule, "{text}");
    }
}

/// Errata 101: the test may end lanes.
#[test]
fn nothing_is_taken_from_lanes_behind_an_alpha_test() {
    let take = "CLPER.i32.subgroup4 r8, r3, 0x0.b00\n";
    let test = "ATEST.wait @r60, r60, r3, atest_datum.w0\n";
    let (before, behind) = END.split_once(test).expect("an alpha test");
    assert!(pixels().run(&format!("{take}{END}")).is_ok());
    let late = format!("{before}{test}{take}NOP.wait\n{behind}");
    assert_eq!(refused(pixels, &late), Rule::Neighbours, "{late}");
}

#[test]
fn varyings_are_taken_at_the_pixels_own_place() {
    let bench = || {
        let mut bench = pixels();
        if let Some(fragment) = &mut bench.fragment {
            fragment.place = Some(Word::splat(1));
        }
        bench
    };
    let load = "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store.wait0 @r8, r61, index:0x0";
    assert!(bench().run(&format!("{load}\n{END}")).is_ok());
    let other = load.replace("r61", "0x0");
    assert_eq!(refused(bench, &format!("{other}\n{END}")), Rule::Interpolation);
}

#[test]
fn an_undefined_colour_of_a_covered_pixel_is_refused() {
    let text = format!("IADD.u32 r2, r40, r40\n{END}");
    assert_eq!(refused(pixels, &text), Rule::Undefined);
}

#[test]
fn discard_ends_the_lanes_where_it_holds() {
    let bench = || pixels().lane_numbers(5);
    let text = format!(
        "U32_TO_F32 r5, r5
         U32_TO_F32 r6, 0x3020100
         DISCARD.f32.lt r5, 0x3F800000
         {END}"
    );
    let warp = bench().run(&text).unwrap_or_else(|trap| panic!("{trap}"));
    let fragment = warp.fragment.expect("a fragment program");
    assert_eq!(fragment.killed, 1);
    assert_eq!(fragment.colors[&(0, 0)].1, 0xFE);
}

#[test]
fn helpers_end_at_the_discard_flow() {
    let text = format!("NOP.discard\n{END}");
    let warp = pixels().run(&text).unwrap_or_else(|trap| panic!("{trap}"));
    let fragment = warp.fragment.expect("a fragment program");
    assert_eq!(fragment.colors[&(0, 0)].1, 0xF7);
    assert_eq!(fragment.killed, 0);
}

#[test]
fn varyings_are_interpolated_or_flat_as_they_were_written() {
    let load = "LD_VAR_BUF_IMM.f32.slot0.v2.src_f32.center.store.wait0 @r8:r9, r61, index:0x4";
    let warp = pixels().run(&format!("{load}\n{END}")).unwrap_or_else(|trap| panic!("{trap}"));
    assert_eq!(f32::from_bits(warp.regs[8].word.v[4]), 5.0);
    assert_eq!(f32::from_bits(warp.regs[9].word.v[4]), 6.0);
    for text in [
        load.replace("index:0x4", "index:0x10"),
        load.replace("index:0x4", "index:0x20"),
        load.replace("center", "centroid"),
        load.replace("store", "retrieve"),
        load.replace("src_f32", "src_f16"),
        load.replace("index:0x4", "index:0xC"),
    ] {
        let rule = refused(pixels, &format!("{text}\n{END}"));
        assert_eq!(rule, Rule::Interpolation, "{text}");
    }
}

#[test]
fn a_kept_position_is_retrieved_and_not_replaced_under_way() {
    let store = "LD_VAR_BUF_IMM.f32.slot0.src_f32.center.store @r8, r61, index:0x0\n";
    let again = "LD_VAR_BUF_IMM.f32.slot1.src_f32.center.retrieve @r9, r61, index:0x4\n";
    assert!(pixels().run(&format!("{store}{again}{END}")).is_ok());
    let other = again.replace("retrieve", "store");
    assert_eq!(refused(pixels, &format!("{store}{other}{END}")), Rule::VaryingOrder);
    assert!(pixels().run(&format!("{store}NOP.wait0\n{other}{END}")).is_ok());
}

/// Errata 117: r61 has five bits of a sample number, and noise above them.
#[test]
fn a_program_that_reads_a_whole_byte_as_its_sample_number_reads_noise() {
    let text = format!(
        "RSHIFT_AND.i32.wait0126 r0, r61, 0x13121110.b00, u0
         ATEST @r60, r60, 0x3F800000, atest_datum.w0
         MOV.i32 r1, r0
         MOV.i32 r2, r0
         MOV.i32.wait r3, r0
         BLEND.slot0.v4.u32.end @r0:r1:r2:r3, blend_descriptor_0.w0, r60, target:0x0{LAST_CALL}"
    );
    let code = assemble(&text);
    let numbers = |mask: u32| -> BTreeSet<u32> {
        let number = |seed| {
            let mut state = State::new(Stage::Fragment);
            state.seed = seed;
            state.fau = vec![mask];
            state.blend[0] = 1 | 3 << 3 | 157 << 44;
            state.load(0x8000, &code, 128);
            let quad = QuadStart { covered: 15, masks: [1; 4], ..QuadStart::default() };
            let pixels = Pixels {
                preload: 0xFFFF,
                quads: vec![quad],
                needed: [4, 0, 0, 0, 0, 0, 0, 0],
                ..Pixels::default()
            };
            let out = run_pixels(&code, &mut state, &pixels, None);
            out.unwrap_or_else(|trap| panic!("{trap}"))[0].colors[&(0, 0)][0]
        };
        (0..16).map(number).collect()
    };
    assert_eq!(numbers(31), BTreeSet::from([0]));
    assert!(numbers(255).len() > 1);
}
