//! What a driver is told of a program: places, state as words, figures. docs/abi-gen4.md.

use crate::abi::Abi;
use crate::back::Finished;
use gpucc_ir::ssa::{Func, Input, InputKind, Output, OutputKind};
use gpucc_machine::Named;
use gpucc_machine::described::{
    Binding, BindingName, Described, Dispatch, Driven, DriverConstant, DriverWord, Ground, Handed,
    InputPlace, Memory, OutputPlace, Setting, StageInput, StageOutput, Takes,
};

/// The interface descriptor: 16 bytes in memory. isa/gen4-pipeline.md 6.
pub const INTERFACE: &str = "Interface Descriptor";
/// The first word of VFE_STATE. isa/gen4-pipeline.md 6.
pub const VFE: &str = "VFE_STATE";

/// The first doublewords of WM_STATE. isa/gen4-pipeline.md 1.1, 1.2.
pub const WM: &str = "WM_STATE";

/// What programs rest on beyond public drivers.
const SCATTERED: Ground = Ground::manual(
    "doublewords are read and written scattered, through the render cache",
    "G45 vol. 4, 5.10.5; no public driver reads through this cache what a surface was written with",
);
const PAYLOAD: Ground = Ground::assumption(
    "the payload of a root thread is r0, constants, inline data",
    "media kernels of public drivers agree with it; volume 2 of the manual is not at hand",
);
/// Log2 of the bytes of a thread's scratch, less 10; 0 without any. isa/gen4-pipeline.md 1.1.
fn scratch_code(bytes: u32) -> u32 {
    bytes.max(1024).next_power_of_two().ilog2() - 10
}

/// All of it.
pub fn described(func: &Func, abi: &Abi, finished: &Finished) -> Described {
    let surface = |resource| {
        let entry = abi.surface(resource)?;
        let slot = [("surface", u32::from(entry))].into_iter().collect();
        Some(Binding::of(func, resource, slot))
    };
    let constants = abi.sizes.iter().map(|&resource| {
        let binding = BindingName::of(func, resource);
        let word = DriverWord::Other(Driven::BufferSize { binding, element: 0 });
        DriverConstant { constant: None, word }
    });
    let memory = !abi.surfaces.is_empty() || finished.stats.scratch_bytes > 0;
    let mut grounds: Vec<Ground> = memory.then_some(SCATTERED).into_iter().collect();
    if !abi.is_fragment() {
        grounds.push(PAYLOAD);
    }
    let state = match abi.is_fragment() {
        true => windower(abi, finished),
        false => media(abi, finished),
    };
    let size = func.workgroup_size;
    let takes = Takes::Memory { workgroup_bytes: 0 };
    Described {
        stats: finished.stats.clone(),
        machine: finished.machine.clone(),
        resources: abi.surfaces.iter().filter_map(|&resource| surface(resource)).collect(),
        inputs: func.inputs.keys().map(|input| stage_input(func, abi, input)).collect(),
        outputs: func.outputs.keys().map(|output| stage_output(func, output)).collect(),
        state,
        evidence: grounds.into_iter().collect(),
        driver_constants: constants.collect(),
        dispatch: (!abi.is_fragment()).then_some(Dispatch { workgroup_size: size, takes }),
        ..Described::default()
    }
}

fn stage_input(func: &Func, abi: &Abi, input: Input) -> StageInput {
    let place = match abi.slot(input) {
        Some(slot) => InputPlace::Register { register: abi.plane(slot, 0).0.into() },
        None => InputPlace::Elsewhere {},
    };
    let told = StageInput::of(func, input, place);
    match func.inputs[input].kind {
        InputKind::Location { interpolation, sampling, .. } => {
            StageInput { interpolation: Some(interpolation), sampling: Some(sampling), ..told }
        }
        InputKind::Builtin(_) => told,
    }
}

fn stage_output(func: &Func, output: Output) -> StageOutput {
    let data = &func.outputs[output];
    let index = match data.kind {
        OutputKind::Location { location, .. } => location,
        OutputKind::Builtin(_) => 0,
    };
    let place = OutputPlace::Blend {
        format: Handed::of(data.scalar),
        source: 0,
        place: Memory::Blend,
        index,
    };
    StageOutput::of(func, output, data.components.into(), place)
}

/// The interface descriptor and VFE_STATE of a compute program.
fn media(abi: &Abi, finished: &Finished) -> Named<Setting> {
    // Blocks of 8 registers less one, an odd number: right whether bit 0 counts or not (isa/gen4-pipeline.md 0).
    let blocks = 2 * finished.stats.registers.div_ceil(16).max(1) as u32 - 1;
    let rows = u32::from(abi.constant_rows());
    let entries = (abi.surfaces.len() as u32).min(31);
    let interface = Setting::Descriptor {
        words: vec![blocks, rows << 26, 0, entries],
        mask: vec![0xf, 0xffff_ffff, 0x1c, 0x1f],
        fields: [
            ("GRF blocks", blocks),
            ("CURBE read length", rows),
            ("binding table entries", entries),
        ]
        .into_iter()
        .collect(),
    };
    let scratch = scratch_code(finished.stats.scratch_bytes as u32);
    let vfe = Setting::Descriptor {
        words: vec![scratch, 0],
        mask: vec![0x8f, 0x7c],
        fields: [("per-thread scratch", scratch), ("mode", 0)].into_iter().collect(),
    };
    [(INTERFACE, interface), (VFE, vfe)].into_iter().collect()
}

/// WM_STATE of a fragment program, d0 to d5.
fn windower(abi: &Abi, finished: &Finished) -> Named<Setting> {
    let blocks = finished.stats.registers.div_ceil(16).max(1) as u32 - 1;
    let entries = u32::from(abi.targets) + abi.surfaces.len() as u32;
    let scratch = scratch_code(finished.stats.scratch_bytes as u32);
    let (rows, setup) = (u32::from(abi.constant_rows()), 2 * u32::from(abi.slots()));
    let kills = u32::from(abi.kills);
    const START: u32 = 2;
    let state = Setting::Descriptor {
        words: vec![
            blocks << 1,
            entries << 18 | 1 << 8,
            scratch,
            START | setup << 11 | rows << 25,
            0,
            1 | 1 << 18 | 1 << 19 | kills << 22,
        ],
        mask: vec![0xe, 0x83fd_3f16, 0xf, 0x7e01_fbff, 0, 0x007c_001f],
        fields: [
            ("GRF blocks", blocks),
            ("binding table entries", entries),
            ("depth coefficient read offset", 1),
            ("per-thread scratch", scratch),
            ("dispatch GRF start", START),
            ("setup URB read length", setup),
            ("constant URB read length", rows),
            ("8-pixel dispatch", 1),
            ("thread dispatch enable", 1),
            ("kills pixels", kills),
        ]
        .into_iter()
        .collect(),
    };
    [(WM, state)].into_iter().collect()
}
