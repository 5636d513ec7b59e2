//! What chips hold and what tests of pixels ask: temporaries of tasks that wait for one another, layers, depths that go back.

use crate::code::{
    CHIPS, bindings, compile, compile_for, dispatch, func, quad_lanes, quads, shade,
};
use gpucc_emu::device::Stop;
use gpucc_ir::driver::{Failure, FragmentState};
use gpucc_ir::ssa::random::Rng;
use gpucc_machine::described::Setting;
use gpucc_machine::{Compiled, Machine as _};
use gpucc_rogue::ROGUE;
use std::fmt::Write;

const ALL: [&str; 3] = ["gx6250", "axe1_16m", "bxs_4_64"];

/// The pass type of a fragment program.
fn pass(compiled: &Compiled) -> u32 {
    match compiled.described.state.get("PPP_ISPA") {
        Some(Setting::Descriptor { words, .. }) => words[0] >> 24 & 7,
        other => panic!("{other:?}"),
    }
}

/// Runs quads in a pass of another type.
fn run_as(compiled: &Compiled, chip: &str, pass: u32) -> Result<(), Stop> {
    let mut compiled = compiled.clone();
    for (name, setting) in &mut compiled.described.state.0 {
        if let (true, Setting::Descriptor { words, .. }) = (&name[..] == "PPP_ISPA", setting) {
            words[0] = words[0] & !(7 << 24) | pass << 24;
        }
    }
    let mut rng = Rng::new(1);
    let mut bindings = bindings(&compiled.expanded, &mut rng);
    let batch = quads(&compiled.expanded, &mut rng);
    ROGUE.device(&compiled, chip).quads(&mut bindings, &batch).map(|_| ())
}

/// A depth of chance, which may be discarded.
fn depth(early: &str, discards: bool) -> String {
    let test = if discards {
        "  if %2 {\n    demote\n    yield\n  } else {\n    yield\n  }\n"
    } else {
        ""
    };
    format!(
        "func \"main\" fragment {early} trusted {{
  in0 = \"value\" f32 x 1 location 0 linear center
  out0 = \"depth\" f32 x 1 builtin frag_depth
}} body {{
  %0: b32 = input in0.0
  %1: b32 = const 0x41000000
  %2: b1 = flt %1, %0
{test}  output out0.0, %0
  yield
}}"
    )
}

#[test]
fn depths_go_back_within_their_range() {
    for chip in ALL {
        for discards in [false, true] {
            let compiled = compile(&func(&depth("", discards)), chip).expect("it compiles");
            assert_eq!(pass(&compiled), 5);
            let mut rng = Rng::new(5);
            let mut bound = bindings(&compiled.expanded, &mut rng);
            let batch = quads(&compiled.expanded, &mut rng);
            let lanes = quad_lanes(&compiled.expanded, &batch);
            let found = ROGUE.device(&compiled, chip).quads(&mut bound, &batch).expect("it runs");
            let mut clamped = 0;
            for (at, pixel) in found.iter().enumerate().filter(|(at, _)| !lanes.helper[*at]) {
                let value = f32::from_bits(batch.varying(at / 4, at % 4, 0)[0]);
                assert_eq!(pixel.discarded, discards && value > 8.0);
                if !pixel.discarded {
                    assert_eq!(f32::from_bits(pixel.outputs[0][0]), value.clamp(0.0, 1.0));
                    clamped += u32::from(!(0.0..=1.0).contains(&value));
                }
            }
            assert!(clamped > 3);
            // Passes that take no depths.
            for wrong in [0, 2] {
                assert!(matches!(run_as(&compiled, chip, wrong), Err(Stop::Illegal { .. })));
            }
        }
    }
}

#[test]
fn depths_lie_beyond_0_and_1_where_the_pipeline_lets_them() {
    for chip in ALL {
        let unrestricted = FragmentState { unrestricted_depth: true, ..FragmentState::default() };
        let compiled = compile_for(&func(&depth("", false)), chip, Some(unrestricted));
        let compiled = compiled.expect("it compiles");
        let mut rng = Rng::new(5);
        let mut bound = bindings(&compiled.expanded, &mut rng);
        let batch = quads(&compiled.expanded, &mut rng);
        let found = ROGUE.device(&compiled, chip).quads(&mut bound, &batch).expect("it runs");
        for (at, pixel) in found.iter().enumerate().filter(|(_, pixel)| !pixel.discarded) {
            assert_eq!(pixel.outputs[0][0], batch.varying(at / 4, at % 4, 0)[0]);
        }
        let mut grounds = compiled.described.evidence.rests_on.iter();
        assert!(grounds.any(|ground| ground.feature.contains("that nothing clamps")), "{chip}");
    }
}

#[test]
fn tests_before_a_program_have_depths_of_their_own() {
    for chip in ALL {
        for (discards, right) in [(false, 0), (true, 1)] {
            let text = depth("early_fragment_tests", discards);
            let compiled = compile(&func(&text), chip).expect("it compiles");
            assert_eq!(pass(&compiled), right, "{chip}");
            run_as(&compiled, chip, right).expect("it runs");
        }
    }
}

#[test]
fn pixels_that_store_give_the_depth_of_their_place() {
    let text = |early: &str, demotes: bool, position: bool| {
        let demote = if demotes { "demote" } else { "" };
        let (input, value) = match position {
            true => ("in1 = \"position\" f32 x 4 builtin position", "input in1.2"),
            false => ("", "const 7"),
        };
        format!(
            "func \"main\" fragment {early} trusted {{
  res0 = \"words\" group 0 binding 0 storage 256 stride 0 load store as u32
  in0 = \"value\" f32 x 1 location 0 perspective center
  {input}
  out0 = \"color\" f32 x 1 location 0 flat
}} body {{
  %0: b32 = input in0.0
  %1: b32 = const 0
  %2: b1 = flt %0, %1
  %3: b32 = {value}
  buffer_store res0, %1, %3
  if %2 {{
    {demote}
    yield
  }} else {{
    yield
  }}
  output out0.0, %0
  yield
}}"
        )
    };
    for chip in CHIPS {
        for (demotes, position) in [(false, false), (true, false), (false, true), (true, true)] {
            let late = func(&text("", demotes, position));
            shade(&late, chip, 3).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
            let compiled = compile(&late, chip).expect("it compiles");
            assert_eq!(pass(&compiled), 5, "{chip}");
            // Its tests would hide pixels that store.
            for wrong in [0, 2] {
                assert!(matches!(run_as(&compiled, chip, wrong), Err(Stop::Illegal { .. })));
            }
            let early = func(&text("early_fragment_tests", demotes, position));
            let compiled = compile(&early, chip).expect("it compiles");
            assert_eq!(pass(&compiled), u32::from(demotes), "{chip}");
            shade(&early, chip, 3).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
            // A pixel that is gone leaves what an opaque object would hide.
            let opaque = run_as(&compiled, chip, 0);
            assert_eq!(matches!(opaque, Err(Stop::Illegal { .. })), demotes, "{chip}");
        }
    }
}

/// So many values across a barrier.
fn meeting(invocations: u32, values: u32) -> String {
    let mut text = format!(
        "func \"main\" compute workgroup {invocations} 1 1 trusted {{
  res0 = \"data\" group 0 binding 0 storage 1024 stride 0 load store as u32
  in0 = \"id\" u32 x 1 builtin local_invocation_index
}} body {{
  %0: b32 = input in0.0
  %1: b32 = const 5
  %2: b32 = imul %0, %1
"
    );
    for n in 0..values {
        let (at, number) = (10 + 2 * n, 3 * n + 7);
        writeln!(text, "  %{at}: b32 = const {number}\n  %{}: b32 = imul %2, %{at}", at + 1)
            .expect("a string");
    }
    text += "  barrier workgroup\n";
    let mut sum = 2;
    for n in 0..values {
        let (from, to) = (11 + 2 * n, 5000 + n);
        writeln!(text, "  %{to}: b32 = xor %{sum}, %{from}").expect("a string");
        sum = to;
    }
    write!(
        text,
        "  %3: b32 = const 255\n  %4: b32 = and %0, %3\n  %6: b32 = const 2\n  %5: b32 = shl %4, %6\n  \
         buffer_store res0, %5, %{sum}\n  yield\n}}"
    )
    .expect("a string");
    text
}

#[test]
fn tasks_that_wait_for_one_another_fit_the_store() {
    let most = [("gx6250", 256, 64), ("bxs_4_64", 128, 128), ("axe1_16m", 64, 40)];
    for (chip, invocations, most) in most {
        let func = func(&meeting(invocations, 160));
        let compiled = compile(&func, chip).expect("it compiles");
        let registers = compiled.described.stats.registers;
        assert!(registers <= most && registers > most / 2, "{chip}: {registers}");
        dispatch(&func, chip, [2, 1, 1], 5).unwrap_or_else(|found| panic!("{chip}: {found:?}"));
    }
    // A task alone has what the chip has.
    for (chip, most) in [("gx6250", 248), ("axe1_16m", 128)] {
        let compiled = compile(&func(&meeting(32, 160)), chip).expect("it compiles");
        assert!(compiled.described.stats.registers <= most);
    }
    // Eight temporaries do where values go to memory, and there are no more places than 384.
    let crowd = |invocations| func(&meeting(invocations, 60));
    let compiled = compile(&crowd(384), "axe1_16m").expect("it compiles");
    assert!(compiled.described.stats.registers <= 8);
    dispatch(&crowd(384), "axe1_16m", [1, 1, 1], 1).expect("it holds");
    assert!(matches!(compile(&crowd(385), "axe1_16m"), Err(Failure::Limit { .. })));
}

#[test]
fn layers_and_varyings_are_those_of_the_chip() {
    let text = |layer: bool, locations: u32| {
        let mut outputs = String::new();
        for at in 0..locations {
            writeln!(outputs, "  out{} = \"v\" f32 x 4 location {at} perspective", at + 2)
                .expect("a string");
        }
        let which = if layer { "layer" } else { "point_size" };
        let scalar = if layer { "u32" } else { "f32" };
        format!(
            "func \"main\" vertex trusted {{
  out0 = \"position\" f32 x 4 builtin position
  out1 = \"other\" {scalar} x 1 builtin {which}
{outputs}}} body {{
  %0: b32 = const 0x3f800000
  output out0.3, %0
  output out1.0, %0
  yield
}}"
        )
    };
    let made = |chip, layer, locations| compile(&func(&text(layer, locations)), chip);
    for chip in ALL {
        let layers = chip != "axe1_16m";
        let most = if chip == "bxs_4_64" { 16 } else { 32 };
        match made(chip, true, 1) {
            Ok(_) => assert!(layers, "{chip}"),
            Err(failure) => assert!(!layers && matches!(failure, Failure::Refused { .. })),
        }
        assert!(made(chip, false, most).is_ok(), "{chip}");
        assert!(matches!(made(chip, false, most + 1), Err(Failure::Limit { .. })), "{chip}");
    }
}
