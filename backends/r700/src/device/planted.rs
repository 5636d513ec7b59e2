//! Faults of the silicon's ledger (docs/errata.md), planted in the state of programs that the compiler made: the emulator
//! refuses each by the rule that stands beside it.

use super::*;
use crate::emu::{Rule, address as at};
use gpucc_machine::described::Setting;

/// A fragment program: its declarations and what it does before it exports.
fn fragment(words: &str, declared: &str, body: &str, exports: &str) -> String {
    format!(
        "func \"fragment\" fragment {words} trusted {{
  in0 = \"at\" f32 x 4 builtin position
{declared}
}} body {{
  %0: b32 = input in0.0
  %1: b32 = const 0x3f800000
  %2: b1 = flt %0, %1
{body}
{exports}
  yield
}}"
    )
}

const COLOR: &str = "  out0 = \"\" f32 x 1 location 0 perspective";
const SECOND: &str = "  out0 = \"\" f32 x 1 location 1 perspective";
const EXPORT: &str = "  output out0.0, %0";
const WORDS: &str = "  res0 = \"w\" group 0 binding 0 storage 0 stride 4 load store as u32
  out0 = \"\" f32 x 1 location 0 perspective";
const STORE: &str = "  %3: b32 = const 0x0
  buffer_store res0, %3, %0";

/// A compute program with a loop.
const LOOP: &str = r#"func "main" compute workgroup 64 1 1 trusted {
  in0 = "i" u32 x 3 builtin global_invocation_id
  res0 = "w" group 0 binding 0 storage 0 stride 4 load store as u32
} body {
  %0: b32 = input in0.0
  %1: b32 = const 0x1
  %2: b32 = loop %0 body (%3: b32) {
    %4: b1 = ult %3, %1
    if %4 {
      break %3
    } else {
      yield
    }
    %5: b32 = isub %3, %1
    continue %5
  } continuing (%6: b32) {
    next %6
  }
  buffer_store res0, %0, %2
  yield
}"#;

fn machine(chip: Chip, text: &str) -> Machine {
    let module = gpucc_ir::ssa::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let func = module.funcs.into_iter().next().expect("there is one");
    let options = crate::Options { chip, ..crate::Options::default() };
    let compiled = crate::compile(func, &options).expect("it compiles");
    Machine::new(chip, &compiled)
}

/// Runs the program once; what the emulator says of it.
fn broken(machine: &mut Machine) -> Option<String> {
    let mut bindings = Bindings::new(&machine.compiled.expanded);
    for (resource, _) in machine.compiled.expanded.resources.iter() {
        bindings.set(resource, Bound::Buffer(vec![0; 1024]));
    }
    let outcome = match machine.compiled.expanded.stage {
        gpucc_ir::ssa::Stage::Compute => machine.dispatch(&mut bindings, [1; 3]),
        gpucc_ir::ssa::Stage::Fragment => {
            machine.quads(&mut bindings, &QuadBatch::default()).map(drop)
        }
        gpucc_ir::ssa::Stage::Vertex | gpucc_ir::ssa::Stage::Geometry => {
            unreachable!("no fault is planted in one")
        }
    };
    match outcome {
        Ok(()) => None,
        Err(Stop::Illegal { message, .. }) => Some(message),
        Err(other) => Some(format!("{other:?}")),
    }
}

/// A fault: its row in the ledger, the chip, the program, the register, the bits that are wrong in it, and the rule.
type Fault = (u32, Chip, String, u32, u32, Rule);

fn faults() -> Vec<Fault> {
    use Chip::{Rv730, Rv770};
    let plain = || fragment("", COLOR, "", EXPORT);
    let kill = || {
        fragment("", COLOR, "  if %2 {\n    demote\n    yield\n  } else {\n    yield\n  }", EXPORT)
    };
    let stores = || fragment("", WORDS, STORE, EXPORT);
    let early = || fragment("early_fragment_tests", WORDS, STORE, EXPORT);
    let empty = || fragment("", "", "", "");
    let second = || fragment("", SECOND, "", EXPORT);
    let depth = at::DB_SHADER_CONTROL;
    vec![
        (1, Rv730, LOOP.into(), at::SQ_PGM_RESOURCES_VS, 1 << 8, Rule::StackDepth),
        (36, Rv770, second(), at::CB_SHADER_MASK, 0xF, Rule::TargetGap),
        (37, Rv770, empty(), at::SQ_PGM_EXPORTS_PS, 1 << 1, Rule::Colorless),
        (37, Rv770, empty(), at::CB_SHADER_MASK, 0xF, Rule::Colorless),
        (38, Rv770, plain(), at::CB_SHADER_CONTROL, 1 << 1, Rule::TargetWaits),
        (53, Rv730, LOOP.into(), at::SQ_PGM_RESOURCES_VS, 1 << 15, Rule::StackShare),
        (53, Rv730, LOOP.into(), at::SQ_PGM_RESOURCES_VS, 1 << 6, Rule::RegisterShare),
        (81, Rv770, LOOP.into(), at::PA_CL_CLIP_CNTL, 1 << 22, Rule::Rasterised),
        (82, Rv770, LOOP.into(), at::DB_DEPTH_CONTROL, 2, Rule::Rasterised),
        (82, Rv770, LOOP.into(), at::CB_TARGET_MASK, 0xF, Rule::Rasterised),
        (82, Rv770, LOOP.into(), at::VGT_VTX_CNT_EN, 1, Rule::PointNumbers),
        (82, Rv770, LOOP.into(), at::VGT_EVENT_INITIATOR, 33, Rule::PointNumbers),
        (82, Rv770, LOOP.into(), at::VGT_REUSE_OFF, 1, Rule::PointNumbers),
        (82, Rv770, LOOP.into(), at::VGT_MIN_VTX_INDX, 1, Rule::PointNumbers),
        (82, Rv770, LOOP.into(), at::VGT_MAX_VTX_INDX, !7, Rule::PointNumbers),
        (82, Rv770, LOOP.into(), at::VGT_INDX_OFFSET, 1, Rule::PointNumbers),
        (82, Rv770, LOOP.into(), at::VGT_VTX_VECT_EJECT_REG, 0x3C8, Rule::PointNumbers),
        (51, Rv770, plain(), depth, 3 << 4, Rule::DepthOrder),
        (51, Rv770, kill(), depth, 2 << 4, Rule::DepthOrder),
        (52, Rv770, stores(), depth, 1 << 4, Rule::HiddenStores),
        (52, Rv770, stores(), depth, 1 << 10, Rule::HiddenStores),
        (52, Rv770, stores(), depth, 1 << 11, Rule::HiddenStores),
        (52, Rv770, early(), depth, 1 << 11, Rule::HiddenStores),
    ]
}

#[test]
fn each_fault_of_the_ledger_is_refused_by_its_rule() {
    for (row, chip, text, register, bits, rule) in faults() {
        let mut machine = machine(chip, &text);
        assert_eq!(broken(&mut machine), None, "row {row}: {text}");
        let state = &mut machine.compiled.described.state.0;
        let planted = state.iter_mut().find_map(|(_, setting)| match setting {
            Setting::Register { address, value, .. } if *address == register => Some(value),
            _ => None,
        });
        *planted.unwrap_or_else(|| panic!("row {row}: {register:#x} is not programmed")) ^= bits;
        machine.state = None;
        let message = broken(&mut machine).unwrap_or_default();
        assert!(message.contains(rule.name()), "row {row}: {message}");
    }
}

#[test]
fn a_program_leaves_half_of_its_chips_registers_to_the_other_of_a_pair() {
    // All are loaded before the first is stored.
    let count = 64;
    let loads = (0..count).map(|n| {
        format!(
            "  %{}: b32 = const {n:#x}\n  %{}: b32 = buffer_load res0, %{}\n",
            2 * n,
            2 * n + 1,
            2 * n
        )
    });
    let stores = (0..count)
        .map(|n| format!("  buffer_store res0, %{}, %{}\n", 2 * n, 2 * (count - 1 - n) + 1));
    let text = format!(
        "func \"main\" compute workgroup 64 1 1 trusted {{
  res0 = \"w\" group 0 binding 0 storage 0 stride 4 load store as u32
}} body {{
{}{}  yield
}}",
        loads.collect::<String>(),
        stores.collect::<String>()
    );
    for (chip, spills) in
        [(Chip::Rv770, false), (Chip::Rv710, false), (Chip::Rv730, true), (Chip::Rv740, true)]
    {
        let mut machine = machine(chip, &text);
        let gprs = machine.compiled.programs[0].registers;
        assert!(gprs <= chip.stage_registers(), "{} takes {gprs}", chip.name());
        let scratch = machine.registers()[&at::SQ_VSTMP_RING_ITEMSIZE];
        assert_eq!(scratch > 0, spills, "{}", chip.name());
        assert_eq!(broken(&mut machine), None, "{}", chip.name());
    }
}
