//! From a finished program to the result that all machines share.

use crate::api::{
    Compiled, Descriptor, FauWord, ImageWord, InputPlace, InputSlot, OutputPlace, OutputSlot,
    ResourceSlot,
};
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::{Func, Stage};
use gpucc_machine::compiled::{Placed, Program};
use gpucc_machine::described::{
    self, Attribute, AttributePlace, Binding, BindingName, ConstantBuffer, Described, Dispatch,
    Driven, DriverConstant, DriverWord, Handed, Memory, ProgramState, Setting, StageInput,
    StageOutput, Stats, TableUse, Takes,
};
use gpucc_machine::named::Figure;
use gpucc_machine::{Name, Named};

/// The typed result.
pub(crate) fn typed(compiled: Compiled) -> gpucc_machine::Compiled {
    let described = described(&compiled);
    let programs = compiled.programs.iter().enumerate();
    let programs = programs.map(|(number, program)| {
        let start = program.offset as usize;
        Program {
            name: if number == 0 { "" } else { "varying" }.into(),
            code: Placed::Within(start..start + program.size as usize),
            registers: program.registers,
        }
    });
    gpucc_machine::Compiled {
        programs: programs.collect(),
        described,
        code: compiled.code,
        expanded: compiled.expanded,
        lines: compiled.lines,
        notes: compiled.notes,
        pipeline: compiled.pipeline,
        dumps: compiled.dumps,
        times: compiled.times,
    }
}

fn described(compiled: &Compiled) -> Described {
    let func = &compiled.expanded;
    let stats = &compiled.stats;
    let machine = stats.machine().into_iter();
    let resources = compiled.resources.iter();
    let inputs = compiled.inputs.iter();
    let outputs = compiled.outputs.iter();
    let fau = compiled.fau.iter();
    Described {
        stats: Stats {
            instructions: stats.instructions.into(),
            code_bytes: compiled.code.len() as u64,
            registers: stats.registers.into(),
            spills: stats.spills.into(),
            fills: stats.fills.into(),
            scratch_bytes: stats.scratch_bytes.into(),
            shared_bytes: stats.shared_bytes.into(),
            loops: stats.loops.into(),
            branches: stats.branches.into(),
            occupancy: stats.occupancy,
            cycles: stats.cycles,
            cycles_lower_bound: stats.cycles_lower_bound,
            bound_unit: stats.bound_unit.to_owned(),
            ..Stats::default()
        },
        machine: machine.map(|(name, value)| (name, Figure(value))).collect(),
        resources: resources.map(|slot| resource(func, slot)).collect(),
        inputs: inputs.map(|slot| input(func, slot)).collect(),
        outputs: outputs.map(|slot| output(func, slot)).collect(),
        state: state(compiled),
        driver_constants: fau.map(|word| fau_word(func, word)).collect(),
        fetch_program: None,
        tables: None,
        dispatch: (func.stage == Stage::Compute).then_some(Dispatch {
            workgroup_size: func.workgroup_size,
            takes: Takes::Memory { workgroup_bytes: compiled.wls_bytes },
        }),
    }
}

/// Everything that a driver programs: descriptors by name, and where the programs and tables are.
fn state(compiled: &Compiled) -> Named<Setting> {
    let mut state: Named<Setting> = compiled.state.iter().map(descriptor).collect();
    let programs = compiled.programs.iter();
    let programs = programs.map(|program| ProgramState {
        offset: program.offset,
        bytes: program.size,
        preload: program.preload,
        registers: program.registers,
        work_registers: program.work_registers,
    });
    state.set("programs", Setting::Programs(programs.collect()));
    let tables = compiled.tables.iter();
    let tables = tables.map(|table| TableUse { table: table.table, entries: table.entries });
    state.set("tables", Setting::Tables(tables.collect()));
    for (name, value) in [(SECONDARY, compiled.secondary_offset), (INFO, compiled.info_buffer)] {
        if let Some(value) = value {
            state.set(name, Setting::Number(value));
        }
    }
    if !compiled.constants.is_empty() {
        let buffers = compiled.constants.iter();
        let buffers =
            buffers.map(|table| ConstantBuffer { index: table.index, words: table.words.clone() });
        state.set(CONSTANTS, Setting::ConstantBuffers(buffers.collect()));
    }
    for (name, value) in [
        (STRIDE, compiled.varying_stride),
        (THREAD, compiled.tls_bytes),
        (WORKGROUP, compiled.wls_bytes),
    ] {
        state.set(name, Setting::Number(value));
    }
    state
}

/// First byte of the varying program.
pub(crate) const SECONDARY: &str = "secondary_offset";
/// Entry of the info buffer.
pub(crate) const INFO: &str = "info_buffer";
/// Tables of constants.
pub(crate) const CONSTANTS: &str = "constant_buffers";
/// Bytes of a varying record.
pub(crate) const STRIDE: &str = "varying_stride";
/// Thread-local bytes.
pub(crate) const THREAD: &str = "tls_bytes";
/// Bytes of workgroup memory.
pub(crate) const WORKGROUP: &str = "wls_bytes";

fn descriptor(descriptor: &Descriptor) -> (Name, Setting) {
    let setting = Setting::Descriptor {
        words: descriptor.words.clone(),
        mask: descriptor.mask.clone(),
        fields: descriptor.fields.iter().copied().collect(),
    };
    (descriptor.name.clone().into(), setting)
}

fn resource(func: &Func, slot: &ResourceSlot) -> Binding {
    let mut places: Named<u32> =
        [("table", slot.slot.table), ("index", slot.slot.index), ("handle", slot.slot.handle())]
            .into_iter()
            .collect();
    if let Some(info) = slot.info {
        places.set("info", info);
    }
    Binding::of(func, slot.resource, places)
}

fn input(func: &Func, slot: &InputSlot) -> StageInput {
    let mut attribute = None;
    let place = match &slot.place {
        InputPlace::Register(register) => {
            described::InputPlace::Register { register: (*register).into() }
        }
        InputPlace::Computed => described::InputPlace::Elsewhere {},
        InputPlace::Attribute(fetch) => {
            attribute = Some(Attribute {
                place: AttributePlace::Descriptors { index: fetch.index, buffer: fetch.buffer },
                offset: fetch.offset,
                format: fetch.format.clone(),
                stride: fetch.stride,
                step: if fetch.per_instance { Step::Instance } else { Step::Vertex },
            });
            described::InputPlace::Elsewhere {}
        }
        InputPlace::Varying(offset) => described::InputPlace::Record { varying: *offset },
    };
    StageInput {
        interpolation: slot.interpolation,
        sampling: slot.sampling,
        attribute,
        ..StageInput::of(func, slot.input, place)
    }
}

fn output(func: &Func, slot: &OutputSlot) -> StageOutput {
    use described::OutputPlace as Told;
    let place = match slot.place {
        OutputPlace::Position => Told::Single { place: Memory::Position },
        OutputPlace::PointSize => Told::Single { place: Memory::PointSize },
        OutputPlace::Varying(index) => Told::Indexed { place: Memory::Varying, index },
        OutputPlace::Attribute(index) => Told::Indexed { place: Memory::Attribute, index },
        OutputPlace::Stream { buffer, offset } => {
            Told::Stream { buffer: buffer.into(), place: Memory::TransformFeedback, index: offset }
        }
        // What BLEND hands over: the blend descriptor's conversion starts from it.
        OutputPlace::Blend { target, source } => Told::Blend {
            format: Handed::of(func.outputs[slot.output].scalar),
            source: source.into(),
            place: Memory::Blend,
            index: target.into(),
        },
        OutputPlace::Depth => Told::Single { place: Memory::Depth },
        OutputPlace::Coverage => Told::Single { place: Memory::Coverage },
    };
    StageOutput::of(func, slot.output, slot.components.into(), place)
}

/// One FAU word.
fn fau_word(func: &Func, word: &FauWord) -> DriverConstant {
    let binding = |resource| BindingName::of(func, resource);
    let word = match *word {
        FauWord::Constant(bits) => Driven::Constant { bits },
        FauWord::Uniform { resource, offset } => {
            Driven::Uniform { binding: binding(resource), offset }
        }
        FauWord::NumWorkgroups(axis) => Driven::NumWorkgroups { axis: Some(axis) },
        FauWord::FirstVertex => Driven::FirstVertex,
        FauWord::FirstInstance => Driven::FirstInstance,
        FauWord::VertexCount => Driven::VertexCount,
        FauWord::StreamAddress { buffer, high } => Driven::StreamAddress { buffer, high },
        FauWord::ViewportScale(axis) => Driven::ViewportScale { axis },
        FauWord::ViewportOffset(axis) => Driven::ViewportOffset { axis },
        FauWord::BufferSize { resource, element } => {
            Driven::BufferSize { binding: binding(resource), element }
        }
        FauWord::Image { resource, element, word } => {
            return DriverConstant {
                constant: None,
                word: DriverWord::OfImage {
                    what: image_word(word),
                    binding: binding(resource),
                    element,
                },
            };
        }
        FauWord::Unused => Driven::Unused,
    };
    DriverConstant { constant: None, word: DriverWord::Other(word) }
}

/// A word of the info buffer's record by what it says.
pub(crate) const fn image_word(word: ImageWord) -> described::ImageWord {
    use described::ImageWord as Told;
    match word {
        ImageWord::Size(0) => Told::Width,
        ImageWord::Size(1) => Told::Height,
        ImageWord::Size(_) => Told::Depth,
        ImageWord::Layers => Told::Layers,
        ImageWord::Levels => Told::Levels,
        ImageWord::Samples => Told::Samples,
        ImageWord::EdgeLow(0) => Told::EdgeLowX,
        ImageWord::EdgeLow(_) => Told::EdgeLowY,
        ImageWord::EdgeHigh(0) => Told::EdgeHighX,
        ImageWord::EdgeHigh(_) => Told::EdgeHighY,
    }
}
