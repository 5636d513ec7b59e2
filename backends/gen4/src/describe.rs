//! What a driver is told of a program: places, state as words, figures. docs/abi-gen4.md.

use crate::abi::{Abi, Drawn, Told};
use crate::back::Finished;
use crate::vue::{self, Vue};
use crate::{fetch, targets};
use gpucc_ir::driver::State;
use gpucc_ir::ssa::{
    Builtin, Dim, Func, Input, InputKind, Output, OutputKind, ResourceKind, Stage,
};
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

/// The first doublewords of COLOR_CALC_STATE. isa/gen4-pipeline.md 1.2.
pub const COLOR: &str = "COLOR_CALC_STATE";

/// Tables of places: entries of the binding table, states of samplers, and their copies for cubes, for lines and for gathers.
pub const SURFACE: &str = "surface";
pub const SAMPLER: &str = "sampler";
pub const CUBE_SAMPLER: &str = "cube_sampler";
pub const LINE_SAMPLER: &str = "line_sampler";
pub const GATHER_SAMPLER: &str = "gather_sampler";
pub const GATHER_CUBE_SAMPLER: &str = "gather_cube_sampler";
/// VS_STATE. isa/gen4-pipeline.md 1.1, 1.2.
pub const VS: &str = "VS_STATE";
/// GS_STATE. isa/gen4-pipeline.md 1.1, 1.2.
pub const GS: &str = "GS_STATE";
/// The doublewords of 3DSTATE_VERTEX_ELEMENTS. isa/gen4-pipeline.md 1.4.
pub const ELEMENTS: &str = "VERTEX_ELEMENT_STATE";

/// What programs rest on beyond public drivers.
const SCATTERED: Ground = Ground::manual(
    "doublewords are read and written scattered, through the render cache",
    "G45 vol. 4, 5.10.5; no public driver reads through this cache what a surface was written with",
);
const PAYLOAD: Ground = Ground::assumption(
    "the payload of a root thread is r0, constants, inline data",
    "media kernels of public drivers agree with it; volume 2 of the manual is not at hand",
);
const STRIPS: Ground = Ground::assumption(
    "the payload of a geometry thread is r0, constants, vertices, and its entries are strips by their marks",
    "threads of clipping have constants there, and public drivers' geometry threads emit polygons and lines; volume 2 of the manual is not at hand",
);
/// Log2 of the bytes of a thread's scratch, less 10; 0 without any. isa/gen4-pipeline.md 1.1.
fn scratch_code(bytes: u32) -> u32 {
    bytes.max(1024).next_power_of_two().ilog2() - 10
}

/// What lookups rest on.
const SAMPLED: Ground = Ground::manual(
    "programs of eight lanes send messages of 16 channels where there is no other, without the upper eight",
    "G45 vol. 4, 4.8.1.3; public compilers do so in programs of eight pixels",
);

/// What control flow deeper than the stacks of masks rests on.
const DEEP: Ground = Ground::manual(
    "stacks of masks that control flow outgrows go to registers and come back",
    "G45 vol. 4, 11.3.4.8 and 11.3.4.9; no public compiler is known to do so",
);

/// SURFTYPE_BUFFER. G45 vol. 4, 4.7.2.
pub const BUFFER_TYPE: u32 = 4;

/// The name of such a state, without the entry.
pub const SURFACE_STATE: &str = "SURFACE_STATE";

/// The state of the surface of an entry of the binding table.
pub fn surface_state(entry: u32) -> String {
    format!("{SURFACE_STATE} {entry}")
}

/// What the program knows of the state of a texture's surface: its type, and that a cube has all faces. G45 vol. 4, 4.7.2.
/// One that is written is a buffer.
fn texture_state(kind: &ResourceKind, stored: bool) -> Option<Setting> {
    let (ResourceKind::Texture { dim, .. } | ResourceKind::StorageTexture { dim, .. }) = kind
    else {
        return None;
    };
    let (code, faces) = match dim {
        _ if stored => (BUFFER_TYPE, 0),
        Dim::D1 => (0, 0),
        Dim::D2 => (1, 0),
        Dim::D3 => (2, 0),
        Dim::Cube => (3, 0x3f),
    };
    Some(Setting::Descriptor {
        words: vec![code << 29 | faces],
        mask: vec![0xe000_0000 | faces],
        fields: [("surface type", code), ("cube faces", faces)].into_iter().collect(),
    })
}

/// Whether a setting is the state of a surface that is bound: others are of targets.
pub fn is_bound_surface(compiled: &gpucc_machine::Compiled, setting: &str) -> bool {
    let func = &compiled.expanded;
    compiled.described.resources.iter().any(|told| {
        let (Some(resource), Some(entry)) = (told.resource, told.place(SURFACE)) else {
            return false;
        };
        let count = func.resources[resource].count.unwrap_or(1);
        (0..count).any(|element| surface_state(entry + element) == setting)
    })
}

/// All of it.
pub fn described(func: &Func, abi: &Abi, finished: &Finished, pipeline: &State) -> Described {
    let mut resources: Vec<Binding> = Vec::new();
    let samplers = [
        (SAMPLER, &abi.samplers),
        (CUBE_SAMPLER, &abi.cube_samplers),
        (LINE_SAMPLER, &abi.line_samplers),
        (GATHER_SAMPLER, &abi.gather_samplers[0]),
        (GATHER_CUBE_SAMPLER, &abi.gather_samplers[1]),
    ];
    for (table, places) in [(SURFACE, &abi.surfaces)].into_iter().chain(samplers) {
        for &(resource, place) in places {
            let known = resources.iter_mut().find(|told| told.resource == Some(resource));
            match known {
                Some(told) => told.slot.set(table, place.into()),
                None => {
                    let slot = [(table, u32::from(place))].into_iter().collect();
                    resources.push(Binding::of(func, resource, slot));
                }
            }
        }
    }
    let constants = abi.told.iter().map(|&(resource, element, told)| {
        let binding = BindingName::of(func, resource);
        let word = match told {
            Told::Bytes => DriverWord::Other(Driven::BufferSize { binding, element }),
            Told::Image(what) => DriverWord::OfImage { what, binding, element },
            Told::Pitch => DriverWord::Other(Driven::Pitch { binding, element }),
            Told::Rows => DriverWord::Other(Driven::Rows { binding, element }),
            Told::Sampler(number) => {
                DriverWord::Other(Driven::Sampler { binding, element, number })
            }
        };
        DriverConstant { constant: None, word }
    });
    let pushed = abi.pushed.iter().map(|&(resource, offset)| {
        let binding = BindingName::of(func, resource);
        // A row of a vertex program may reach beyond the buffer.
        let within = match func.resources[resource].kind {
            ResourceKind::Uniform { size } | ResourceKind::Immediate { size } => offset < size,
            _ => true,
        };
        let word = match within {
            true => DriverWord::Other(Driven::Uniform { binding, offset }),
            false => DriverWord::Other(Driven::Unused),
        };
        DriverConstant { constant: None, word }
    });
    // The order of `Abi::first_words`.
    let constants: Vec<DriverConstant> = match func.stage {
        Stage::Vertex | Stage::Geometry => pushed.chain(constants).collect(),
        _ => constants.chain(pushed).collect(),
    };
    let memory = !abi.surfaces.is_empty() || finished.stats.scratch_bytes > 0;
    let mut grounds: Vec<Ground> = memory.then_some(SCATTERED).into_iter().collect();
    let compute = func.stage == Stage::Compute;
    if compute {
        grounds.push(PAYLOAD);
    }
    let mut state = match func.stage {
        Stage::Fragment => windower(abi, finished),
        Stage::Compute => media(abi, finished),
        Stage::Vertex => vertex(abi, finished),
        Stage::Geometry => {
            grounds.push(STRIPS);
            geometry(abi, finished)
        }
    };
    let numbers = abi.drawn.iter().map(|which| {
        DriverWord::Other(match which {
            Drawn::FirstVertex => Driven::FirstVertex,
            Drawn::FirstInstance => Driven::FirstInstance,
            Drawn::Draw => Driven::DrawIndex,
            Drawn::View => Driven::ViewIndex,
        })
    });
    let mut constants: Vec<DriverConstant> = constants
        .into_iter()
        .chain(numbers.map(|word| DriverConstant { constant: None, word }))
        .collect();
    for (.., words) in &abi.tables {
        // Each begins a register.
        let fill = constants.len().next_multiple_of(8) - constants.len();
        let unused = std::iter::repeat_n(Driven::Unused, fill);
        let words = words.iter().map(|&bits| Driven::Constant { bits });
        constants.extend(
            unused
                .chain(words)
                .map(|driven| DriverConstant { constant: None, word: DriverWord::Other(driven) }),
        );
    }
    if func.stage == Stage::Fragment {
        for (name, told) in targets::described(pipeline.fragment.as_ref(), abi.depth).0 {
            state.set(name, told);
        }
    }
    for &(resource, entry) in &abi.surfaces {
        let data = &func.resources[resource];
        let Some(told) = texture_state(&data.kind, abi.stored[resource]) else { continue };
        for element in 0..data.count.unwrap_or(1) {
            state.set(surface_state(u32::from(entry) + element), told.clone());
        }
    }
    if samplers.iter().any(|(_, places)| !places.is_empty()) {
        grounds.push(SAMPLED);
    }
    if finished.deep {
        grounds.push(DEEP);
    }
    let size = func.workgroup_size;
    let takes = Takes::Memory { workgroup_bytes: 0 };
    Described {
        stats: finished.stats.clone(),
        machine: finished.machine.clone(),
        resources,
        inputs: func.inputs.keys().map(|input| stage_input(func, abi, input)).collect(),
        outputs: func.outputs.keys().map(|output| stage_output(func, abi, output)).collect(),
        state,
        evidence: grounds.into_iter().collect(),
        driver_constants: constants,
        dispatch: compute.then_some(Dispatch { workgroup_size: size, takes }),
        ..Described::default()
    }
}

fn stage_input(func: &Func, abi: &Abi, input: Input) -> StageInput {
    if let Some(taken) = &abi.taken {
        let slot = match func.inputs[input].kind {
            InputKind::Corner { part, .. } => taken.slot(part),
            InputKind::Builtin(_) | InputKind::Location { .. } => None,
        };
        // A width is a part of a doubleword of the header.
        let word = if slot == Some(vue::HEADER as u8) { vue::WIDTH_WORD as u32 } else { 0 };
        let place = match slot {
            Some(slot) => InputPlace::Record { varying: 16 * u32::from(slot) + 4 * word },
            None => InputPlace::Elsewhere {},
        };
        return StageInput::of(func, input, place);
    }
    if abi.is_vertex() {
        let place = match abi.element_of(input) {
            Some(number) => InputPlace::Register { register: abi.element(number).into() },
            None => InputPlace::Elsewhere {},
        };
        let attribute = abi.attributes.iter().find(|(other, _)| *other == input);
        let attribute = attribute.map(|(_, attribute)| attribute.clone());
        return StageInput { attribute, ..StageInput::of(func, input, place) };
    }
    let point = func.inputs[input].kind == InputKind::Builtin(Builtin::PointCoord);
    let place = match abi.slot(input).or(point.then(|| abi.slots() - 1)) {
        Some(slot) => InputPlace::Register { register: abi.plane(slot, 0).0.into() },
        None => InputPlace::Elsewhere {},
    };
    let told = StageInput::of(func, input, place);
    match func.inputs[input].kind {
        InputKind::Location { interpolation, sampling, .. } => {
            StageInput { interpolation: Some(interpolation), sampling: Some(sampling), ..told }
        }
        InputKind::Builtin(_) | InputKind::Corner { .. } => told,
    }
}

fn stage_output(func: &Func, abi: &Abi, output: Output) -> StageOutput {
    let data = &func.outputs[output];
    if let Some(vue) = &abi.vue {
        let place = vue_place(vue, output);
        return StageOutput::of(func, output, data.components.into(), place);
    }
    let place = match data.kind {
        OutputKind::Location { location, .. } => OutputPlace::Blend {
            format: Handed::of(data.scalar),
            source: 0,
            place: Memory::Blend,
            index: location,
        },
        OutputKind::Builtin(Builtin::SampleMask) => OutputPlace::Single { place: Memory::Coverage },
        OutputKind::Builtin(_) => OutputPlace::Single { place: Memory::Depth },
    };
    StageOutput::of(func, output, data.components.into(), place)
}

/// Where an output of a vertex program stands: bytes of the entry.
fn vue_place(vue: &Vue, output: Output) -> OutputPlace {
    let distance = vue.distances.iter().position(|(other, _)| *other == output);
    let varying = vue.varyings.iter().position(|(_, other)| *other == output);
    let byte = match (distance, varying) {
        (Some(number), _) => 16 * vue.distance_slot() + 4 * number,
        (_, Some(number)) => 16 * (vue::FIRST + number),
        _ if vue.primitive == Some(output) => 16 * vue.primitive_slot(),
        _ if vue.point_size == Some(output) => {
            return OutputPlace::Single { place: Memory::PointSize };
        }
        _ => return OutputPlace::Single { place: Memory::Position },
    };
    OutputPlace::Indexed { place: Memory::Varying, index: byte as u32 }
}

/// The first register of the payload of a thread of vertices or primitives.
const START: u32 = 1;

/// State of a unit whose threads write entries. `offset` and `read` are the rows of each entry that is read: from which one on,
/// and how many. `own` is the unit's word 6, its mask, and the fields that only this unit has.
fn entry_unit(
    abi: &Abi,
    finished: &Finished,
    (offset, read): (u32, u32),
    own: (u32, u32, &[(&'static str, u32)]),
) -> Setting {
    let blocks = finished.stats.registers.div_ceil(16).max(1) as u32 - 1;
    let entries = u32::from(abi.entries);
    let scratch = scratch_code(finished.stats.scratch_bytes as u32);
    let (rows, units) = (u32::from(abi.constant_rows()), abi.entry_units());
    let (word, mask, others) = own;
    let fields = [
        ("GRF blocks", blocks),
        ("binding table entries", entries),
        ("per-thread scratch", scratch),
        ("dispatch GRF start", START),
        ("vertex URB read length", read),
        ("constant URB read length", rows),
        ("URB entry size", units - 1),
    ];
    Setting::Descriptor {
        words: vec![
            blocks << 1,
            entries << 18,
            scratch,
            START | offset << 4 | read << 11 | rows << 25,
            (units - 1) << 19,
            0,
            word,
        ],
        mask: vec![0xe, 0x83fd_2880, 0xf, 0x7e01_fbff, 0x00f8_0000, 0, mask],
        fields: fields.into_iter().chain(others.iter().copied()).collect(),
    }
}

/// VS_STATE, and the elements that the program reads.
fn vertex(abi: &Abi, finished: &Finished) -> Named<Setting> {
    let read = u32::from(abi.element_rows());
    let state = entry_unit(abi, finished, (0, read), (1, 1, &[("enable", 1)]));
    let elements = fetch::elements(abi);
    let fields = [("elements", elements.len() as u32 / 2)].into_iter().collect();
    let mask = vec![u32::MAX; elements.len()];
    let elements = Setting::Descriptor { words: elements, mask, fields };
    [(VS, state), (ELEMENTS, elements)].into_iter().collect()
}

/// GS_STATE. The rows of each vertex are read from the second one on, or from the first one where widths of points are read.
fn geometry(abi: &Abi, finished: &Finished) -> Named<Setting> {
    let read = abi.taken.as_ref().map_or(0, |taken| u32::from(taken.rows()));
    let offset = abi.taken.as_ref().map_or(0, |taken| u32::from(taken.first_row()));
    let own = [("vertex URB read offset", offset), ("discard adjacency", 0), ("reorder", 0)];
    let state = entry_unit(abi, finished, (offset, read), (0, 0x6000_0000, &own));
    [(GS, state)].into_iter().collect()
}

/// The interface descriptor and VFE_STATE of a compute program.
fn media(abi: &Abi, finished: &Finished) -> Named<Setting> {
    // Blocks of 8 registers less one, an odd number: right whether bit 0 counts or not (isa/gen4-pipeline.md 0).
    let blocks = 2 * finished.stats.registers.div_ceil(16).max(1) as u32 - 1;
    let rows = u32::from(abi.constant_rows());
    let entries = u32::from(abi.entries).min(31);
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
    let entries = u32::from(abi.entries);
    let scratch = scratch_code(finished.stats.scratch_bytes as u32);
    let (rows, setup) = (u32::from(abi.constant_rows()), 2 * u32::from(abi.slots()));
    let kills = u32::from(abi.kills);
    // One bit alone: the machine has one kernel. isa/gen4.md 0.24.
    let width = abi.lanes / 8;
    let (start, computes) = (u32::from(abi.constants()), u32::from(abi.depth));
    let state = Setting::Descriptor {
        words: vec![
            blocks << 1,
            entries << 18 | 1 << 8,
            scratch,
            start | setup << 11 | rows << 25,
            0,
            width | 1 << 18 | 1 << 19 | computes << 21 | kills << 22,
        ],
        mask: vec![0xe, 0x83fd_3f16, 0xf, 0x7e01_fbff, 0, 0x007c_001f],
        fields: [
            ("GRF blocks", blocks),
            ("binding table entries", entries),
            ("depth coefficient read offset", 1),
            ("per-thread scratch", scratch),
            ("dispatch GRF start", start),
            ("setup URB read length", setup),
            ("constant URB read length", rows),
            ("8-pixel dispatch", width & 1),
            ("16-pixel dispatch", width >> 1),
            ("thread dispatch enable", 1),
            ("computes depth", computes),
            ("kills pixels", kills),
        ]
        .into_iter()
        .collect(),
    };
    [(WM, state)].into_iter().collect()
}
