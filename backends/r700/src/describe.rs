//! What a driver and tools are told of a finished program.

use crate::abi::{Abi, InputSlot, OutputSlot};
use crate::api::{StateRegister, Stats, TABLE_STRIDE, TABLES};
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::{Func, Resource};
use gpucc_machine::described::{
    self, Attribute, AttributePlace, Binding, Described, Dispatch, Evidence, InputPlace,
    OutputPlace, Setting, StageInput, StageOutput, Tables, Takes,
};
use gpucc_machine::named::{Figure, Name};
use gpucc_machine::{Code, Named};

impl Abi {
    /// The places of a function's bindings, inputs and outputs and the dispatch, and what the rest of the compilation found:
    /// figures, registers, the driver's constants that the code reads, constant tables.
    pub fn described(
        &self,
        func: &Func,
        stats: &Stats,
        state: Vec<StateRegister>,
        evidence: Evidence,
        read: &[u16],
        tables: &[u8],
    ) -> Described {
        let bindings = self.used.iter();
        Described {
            stats: figures(stats),
            machine: stats
                .machine()
                .into_iter()
                .map(|(name, value)| (name, Figure(value)))
                .collect(),
            resources: bindings.map(|&resource| self.binding(func, resource)).collect(),
            inputs: self.inputs.iter().map(|slot| input(func, slot)).collect(),
            outputs: self.outputs.iter().map(|slot| output(func, slot)).collect(),
            state: Named(state.into_iter().map(setting).collect()),
            evidence,
            driver_constants: self.driver_constants(func, read),
            fetch_program: None,
            tables: (!tables.is_empty()).then(|| Tables {
                resource: TABLES,
                stride: TABLE_STRIDE,
                memory: Code::of(tables),
            }),
            dispatch: self.compute.map(|layout| Dispatch {
                workgroup_size: func.workgroup_size,
                takes: Takes::Threads {
                    threads_per_workgroup: layout.threads_per_workgroup,
                    workgroup_dwords: layout.workgroup_dwords,
                },
            }),
        }
    }

    fn binding(&self, func: &Func, resource: Resource) -> Binding {
        let places = self.slots[resource].places().map(|(key, _, entry)| (key, entry));
        Binding::of(func, resource, places.collect())
    }
}

fn figures(stats: &Stats) -> described::Stats {
    described::Stats {
        instructions: stats.instructions.into(),
        code_bytes: stats.code_bytes.into(),
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
        ..described::Stats::default()
    }
}

fn setting(register: StateRegister) -> (Name, Setting) {
    let setting = Setting::Register {
        address: register.address,
        value: register.value,
        mask: register.mask,
        fields: Named(register.fields),
    };
    (register.name, setting)
}

fn input(func: &Func, slot: &InputSlot) -> StageInput {
    let place = InputPlace::Channel { register: slot.register, channel: slot.channel };
    StageInput {
        interpolation: slot.interpolation,
        semantic: slot.semantic,
        attribute: slot.attribute.as_ref().map(|fetch| Attribute {
            place: AttributePlace::Resource { resource: fetch.resource },
            offset: fetch.offset,
            format: fetch.format.clone(),
            stride: fetch.stride,
            step: if fetch.per_instance { Step::Instance } else { Step::Vertex },
        }),
        ..StageInput::of(func, slot.input, place)
    }
}

fn output(func: &Func, slot: &OutputSlot) -> StageOutput {
    let place = OutputPlace::Export {
        export: slot.export,
        index: slot.index,
        channel: slot.channel,
        semantic: slot.semantic,
    };
    StageOutput::of(func, slot.output, slot.components, place)
}
