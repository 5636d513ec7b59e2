//! What a driver and tools are told of a program. docs/abi-valhall.md says it in words.

use crate::abi::{Abi, InputSlot, OutputSlot};
use crate::api::FauWord;
use crate::back::Finished;
use crate::state;
use gpucc_ir::ssa::{Func, Resource, Stage};
use gpucc_machine::Named;
use gpucc_machine::described::{
    Binding, BindingName, Described, Dispatch, Driven, DriverConstant, DriverWord, StageInput,
    StageOutput, Stats, Takes,
};

/// All of it.
pub(crate) fn described(func: &Func, abi: &Abi, finished: &Finished) -> Described {
    let input = |slot: &InputSlot| StageInput {
        interpolation: slot.interpolation,
        sampling: slot.sampling,
        attribute: slot.attribute.clone(),
        ..StageInput::of(func, slot.input, slot.place.clone())
    };
    let output =
        |slot: &OutputSlot| StageOutput::of(func, slot.output, slot.components.into(), slot.place);
    let programs = finished.programs.clone();
    let (fau, private) = (&finished.fau, finished.private_bytes);
    Described {
        stats: Stats { shared_bytes: abi.wls_bytes.into(), ..finished.stats.clone() },
        machine: finished.machine.clone(),
        resources: abi.used.iter().map(|&resource| binding(func, abi, resource)).collect(),
        inputs: abi.inputs.iter().map(input).collect(),
        outputs: abi.outputs.iter().map(output).collect(),
        state: state::state(func, abi, programs, fau.len() as u32, private),
        driver_constants: fau.iter().map(|word| fau_word(func, word)).collect(),
        fetch_program: None,
        tables: None,
        dispatch: (func.stage == Stage::Compute).then_some(Dispatch {
            workgroup_size: func.workgroup_size,
            takes: Takes::Memory { workgroup_bytes: abi.wls_bytes },
        }),
    }
}

fn binding(func: &Func, abi: &Abi, resource: Resource) -> Binding {
    let slot = abi.slots[resource];
    let places = [("table", slot.table), ("index", slot.index), ("handle", slot.handle())];
    let mut places: Named<u32> = places.into_iter().collect();
    if let Some(&info) = abi.info.get(&resource) {
        places.set("info", info);
    }
    Binding::of(func, resource, places)
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
                word: DriverWord::OfImage { what: word, binding: binding(resource), element },
            };
        }
        FauWord::Unused => Driven::Unused,
    };
    DriverConstant { constant: None, word: DriverWord::Other(word) }
}
