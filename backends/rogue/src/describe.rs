//! What a driver is told of a program: places, sizes, figures.

use crate::abi::Abi;
use crate::constants::Constants;
use crate::evidence::evidence;
use crate::state::{self, Facts, Words};
use gpucc_ir::driver::{Failure, State};
use gpucc_ir::ssa::{Builtin, Func, InputKind, Op, OutputKind, Stage};
use gpucc_machine::Named;
use gpucc_machine::described::{
    Attribute, AttributePlace, Binding, Described, Dispatch, Driven, DriverConstant, DriverWord,
    InputPlace, Memory, OutputPlace, Setting, StageInput, StageOutput, Stats, Takes,
};
use gpucc_machine::named::Figure;

/// Temporaries of an instance.
pub const TEMPS: &str = "temporaries";
/// Vertex inputs of an instance.
pub const INPUTS: &str = "vertex inputs";
/// Coefficients of a workgroup or a primitive.
pub const COEFFICIENTS: &str = "coefficients";
/// Shared registers.
pub const SHAREDS: &str = "shared registers";
/// The first of the shared registers with the state of the sampler that takes texels by number, where the program has it.
pub const TEXEL_SAMPLER: &str = "texel sampler";
/// The first of the shared registers with the places of samples, where the program has them.
pub const SAMPLE_PLACES: &str = "sample places";
/// Bytes of scratch memory of an instance.
pub const SCRATCH: &str = "scratch bytes";
/// Fragment: tile buffers behind the output registers.
pub const TILES: &str = "tile buffers";
/// Fragment: colours from this number on are words of tile buffers.
pub const OUTPUT_REGISTERS: &str = "output registers";
/// Words that a vertex program writes.
pub const VERTEX_WORDS: &str = "vertex words";
/// Fragment: pixels give feedback.
pub const FEEDBACK: &str = "feedback";
/// The table of places of bindings: the first shared register of a descriptor.
pub const SHARED: &str = "shared";

/// Whether somebody is demoted.
fn demotes(func: &Func) -> bool {
    func.regions_in_order().iter().any(|&(region, ..)| {
        func.regions[region].insts.iter().any(|&inst| func.insts[inst].op == Op::Demote)
    })
}

/// All of it.
///
/// # Errors
/// [`Failure::Limit`] where words of state have no room.
pub fn described(
    func: &Func,
    (abi, pipeline): (&Abi, &State),
    scratch: u32,
    constants: &Constants,
    stats: Stats,
    machine: Named<Figure>,
) -> Result<Described, Failure> {
    let resources = func.resources.keys().filter_map(|resource| {
        let first = abi.descriptors[resource]?;
        let slot = [(SHARED, u32::from(first))].into_iter().collect();
        Some(Binding::of(func, resource, slot))
    });
    let resources = resources.collect();
    let temps = stats.registers.next_multiple_of(4) as u32;
    let depth = abi.gives_depth(func);
    let mask = OutputKind::Builtin(Builtin::SampleMask);
    let masks = || func.outputs.values().any(|data| data.kind == mask);
    let vanish = func.stage == Stage::Fragment && (masks() || demotes(func));
    let feeds = depth || vanish && !func.early_fragment_tests;
    let keeps = vanish && func.early_fragment_tests;
    let shareds = u32::from(constants.first) + constants.numbers.len() as u32;
    let facts = Facts { temps, shareds, bytes: stats.code_bytes, feeds, depth, keeps };
    let Words { state: words, addresses, targets } = state::words(func, abi, pipeline, &facts)?;
    let numbers = [
        (TEMPS, temps),
        (INPUTS, u32::from(abi.inputs)),
        (COEFFICIENTS, u32::from(abi.coefficients)),
        (SHAREDS, shareds),
        (SCRATCH, scratch),
        (TILES, u32::from(abi.tiles)),
        (OUTPUT_REGISTERS, u32::from(abi.output_registers())),
        (VERTEX_WORDS, u32::from(abi.vertex_words)),
        (FEEDBACK, u32::from(feeds)),
    ];
    let texels = abi.texels.map(|first| (TEXEL_SAMPLER, u32::from(first)));
    let places = abi.places.map(|first| (SAMPLE_PLACES, u32::from(first)));
    let numbers = numbers.into_iter().chain(texels).chain(places);
    let mut state: Named<Setting> =
        numbers.map(|(name, number)| (name, Setting::Number(number))).collect();
    state.0.extend(words.0);
    let inputs = func.inputs.iter().map(|(input, data)| {
        let place = match abi.stage {
            Stage::Geometry => None,
            Stage::Vertex => abi
                .attributes
                .iter()
                .find(|words| words.what == input)
                .map(|words| InputPlace::Register { register: words.first.into() }),
            Stage::Fragment => {
                let varying = abi.varyings.iter().find(|varying| varying.input == input);
                let set = match data.kind {
                    InputKind::Builtin(Builtin::PointCoord) => abi.point,
                    InputKind::Builtin(Builtin::PrimitiveIndex) => abi.primitive,
                    _ => varying.map(|varying| varying.set),
                };
                set.map(|set| InputPlace::Register { register: 4 * u32::from(set) })
            }
            Stage::Compute => None,
        };
        let mut told = StageInput::of(func, input, place.unwrap_or(InputPlace::Elsewhere {}));
        let address = addresses.iter().find(|(other, _)| *other == input);
        told.attribute = address.and_then(|(_, word)| attribute(pipeline, data.kind, *word));
        match data.kind {
            InputKind::Location { interpolation, sampling, .. }
                if func.stage == Stage::Fragment =>
            {
                StageInput { interpolation: Some(interpolation), sampling: Some(sampling), ..told }
            }
            _ => told,
        }
    });
    let outputs = func.outputs.iter().map(|(output, data)| {
        let place = abi.outputs.iter().find(|words| words.what == output);
        let place = match (place, data.kind) {
            (Some(words), _) => OutputPlace::Register { register: words.first.into() },
            (None, OutputKind::Builtin(Builtin::FragDepth)) => {
                OutputPlace::Single { place: Memory::Depth }
            }
            (None, OutputKind::Builtin(Builtin::SampleMask)) => {
                OutputPlace::Single { place: Memory::Coverage }
            }
            (None, _) => OutputPlace::Single { place: Memory::Position },
        };
        StageOutput::of(func, output, data.components.into(), place)
    });
    let filled = constants.numbers.iter().zip(u32::from(constants.first)..);
    let filled = filled.map(|(&bits, register)| DriverConstant {
        constant: Some(register),
        word: DriverWord::Other(Driven::Constant { bits }),
    });
    let workgroup_bytes = gpucc_ir::ssa::interp::workgroup_bytes(func);
    let takes = Takes::Memory { workgroup_bytes };
    let dispatch = Dispatch { workgroup_size: func.workgroup_size, takes };
    Ok(Described {
        stats,
        machine,
        resources,
        inputs: inputs.collect(),
        outputs: outputs.collect(),
        state,
        driver_constants: filled.collect(),
        evidence: evidence(func, abi, targets),
        dispatch: (func.stage == Stage::Compute).then_some(dispatch),
        ..Described::default()
    })
}

/// How an attribute comes in: the resource is the word of the sequencer's data that takes the low half of its address.
fn attribute(pipeline: &State, kind: InputKind, word: u32) -> Option<Attribute> {
    let InputKind::Location { location, .. } = kind else { return None };
    let told = pipeline.vertex.attribute(location)?;
    let buffer = pipeline.vertex.buffer(told);
    Some(Attribute {
        place: AttributePlace::Resource { resource: word },
        offset: told.offset,
        format: told.format.clone(),
        stride: buffer.stride,
        step: buffer.step,
    })
}
