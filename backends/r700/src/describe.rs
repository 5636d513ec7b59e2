//! From a finished program to the result that all machines share.

use crate::api::{
    Compiled, DriverConstant, ExportKind, InputSlot, OutputSlot, ResourceSlot, StateRegister,
    TABLE_STRIDE, TABLES,
};
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::Func;
use gpucc_machine::compiled::{Placed, Program};
use gpucc_machine::described::{
    self, Attribute, AttributePlace, Binding, BindingName, Described, Dispatch, Driven, DriverWord,
    Export, InputPlace, OutputPlace, Setting, StageInput, StageOutput, Stats, Tables, Takes,
};
use gpucc_machine::named::Figure;
use gpucc_machine::{Code, Named};

/// The typed result.
pub(crate) fn typed(compiled: Compiled) -> gpucc_machine::Compiled {
    let described = described(&compiled);
    let mut programs = vec![Program {
        name: "".into(),
        code: Placed::Within(0..compiled.code.len()),
        registers: compiled.stats.gprs,
    }];
    programs.extend(compiled.fetch_program.map(|code| Program {
        name: "fetch".into(),
        code: Placed::Apart(code),
        registers: 0,
    }));
    gpucc_machine::Compiled {
        code: compiled.code,
        programs,
        described,
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
    let constants = compiled.driver_constants.iter();
    Described {
        stats: Stats {
            instructions: stats.instructions.into(),
            code_bytes: compiled.code.len() as u64,
            registers: stats.gprs.into(),
            spills: stats.spills.into(),
            fills: stats.fills.into(),
            scratch_bytes: stats.scratch_bytes.into(),
            shared_bytes: stats.shared_bytes.into(),
            loops: stats.loops.into(),
            branches: stats.branches.into(),
            occupancy: stats.occupancy,
            cycles: stats.cycles,
            cycles_lower_bound: stats.cycles_lower_bound,
            bound_unit: stats.bound_unit().to_owned(),
            ..Stats::default()
        },
        machine: machine.map(|(name, value)| (name, Figure(value))).collect(),
        resources: resources.map(|slot| resource(func, slot)).collect(),
        inputs: inputs.map(|slot| input(func, slot)).collect(),
        outputs: outputs.map(|slot| output(func, slot)).collect(),
        state: compiled.state.iter().map(setting).collect(),
        driver_constants: constants
            .map(|constant| driver_constant(func, constant))
            .collect(),
        fetch_program: compiled.fetch_program.as_deref().map(Code::of),
        tables: (!compiled.tables.is_empty()).then(|| Tables {
            resource: TABLES,
            stride: TABLE_STRIDE,
            memory: Code::of(&compiled.tables),
        }),
        dispatch: compiled.compute.map(|layout| Dispatch {
            workgroup_size: func.workgroup_size,
            takes: Takes::Threads {
                threads_per_workgroup: layout.threads_per_workgroup,
                workgroup_dwords: layout.workgroup_dwords,
            },
        }),
    }
}

fn setting(register: &StateRegister) -> (String, Setting) {
    let setting = Setting::Register {
        address: register.address,
        value: register.value,
        mask: register.mask,
        fields: register.fields.iter().copied().collect(),
    };
    (register.name.clone(), setting)
}

fn resource(func: &Func, slot: &ResourceSlot) -> Binding {
    let all = [
        ("kcache", slot.slot.kcache),
        ("resource", slot.slot.resource),
        ("sampler", slot.slot.sampler),
        ("aperture_index", slot.slot.aperture_index),
    ];
    let places = all.into_iter();
    let places: Named<u32> = places
        .filter_map(|(name, place)| Some((name, place?)))
        .collect();
    Binding::of(func, slot.resource, places)
}

fn input(func: &Func, slot: &InputSlot) -> StageInput {
    let place = InputPlace::Channel {
        register: slot.register,
        channel: slot.channel,
    };
    StageInput {
        interpolation: slot.interpolation,
        semantic: slot.semantic,
        attribute: slot.attribute.as_ref().map(|fetch| Attribute {
            place: AttributePlace::Resource {
                resource: fetch.resource,
            },
            offset: fetch.offset,
            format: fetch.format.clone(),
            stride: fetch.stride,
            step: if fetch.per_instance {
                Step::Instance
            } else {
                Step::Vertex
            },
        }),
        ..StageInput::of(func, slot.input, place)
    }
}

fn output(func: &Func, slot: &OutputSlot) -> StageOutput {
    let place = OutputPlace::Export {
        export: match slot.export {
            ExportKind::Pixel => Export::Pixel,
            ExportKind::Position => Export::Position,
            ExportKind::Parameter => Export::Parameter,
            ExportKind::Depth => Export::Depth,
        },
        index: slot.index,
        channel: slot.channel,
        semantic: slot.semantic,
    };
    StageOutput::of(func, slot.output, slot.components, place)
}

fn driver_constant(func: &Func, constant: &DriverConstant) -> described::DriverConstant {
    let word = match *constant {
        DriverConstant::NumWorkgroups => Driven::NumWorkgroups { axis: None },
        DriverConstant::Draw => Driven::Draw,
        DriverConstant::Storage { index } => Driven::StorageBuffer {
            aperture_index: index,
        },
        DriverConstant::Workgroup { .. } => Driven::WorkgroupMemory,
        DriverConstant::Image {
            resource, element, ..
        } => {
            let arrayed = func.resources[resource].count.is_some();
            Driven::Image {
                binding: BindingName {
                    element: arrayed.then_some(element),
                    ..BindingName::of(func, resource)
                },
            }
        }
    };
    described::DriverConstant {
        constant: Some(constant.constant()),
        word: DriverWord::Other(word),
    }
}
