//! What a driver and tools are told of a program: the machine's part of the report, typed. The report is this by serde,
//! and reads back to it. What machines have in common are fields; where they differ, an enum says how.

mod constants;
mod evidence;
mod state;
mod words;

pub use constants::{BindingName, Driven, DriverConstant, DriverWord, ImageWord};
pub use evidence::{Evidence, EvidenceClass, Ground};
pub use state::{ConstantBuffer, ProgramState, Setting, TableUse};

use crate::named::{Figure, Name, Named};
use gpucc_ir::driver::Step;
use gpucc_ir::ssa::{
    Func, Input, InputKind, Interpolation, Output, OutputKind, Part, Resource, ResourceKind,
    Sampling, Scalar,
};
use serde::{Deserialize, Serialize};
use words::builtin;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// Figures that every machine has.
    pub stats: Stats,
    /// Figures of this machine.
    pub machine: Named<Figure>,
    /// Bindings and their places.
    pub resources: Vec<Binding>,
    /// Stage inputs.
    pub inputs: Vec<StageInput>,
    /// Stage outputs.
    pub outputs: Vec<StageOutput>,
    /// What a driver programs.
    pub state: Named<Setting>,
    /// What the program rests on.
    #[serde(default)]
    pub evidence: Evidence,
    /// What the program reads of the driver's constants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver_constants: Vec<DriverConstant>,
    /// Vertex: the separate program that fetches attributes, where the pipeline asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_program: Option<Code>,
    /// Constant tables that the program fetches: the fetch resource, its stride and its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tables: Option<Tables>,
    /// Compute: how a dispatch is laid out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<Dispatch>,
}

/// Bytes of code or memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// Length.
    pub bytes: usize,
    /// Bytes in memory order, two digits each.
    pub hex: String,
}

impl Code {
    /// These bytes.
    pub fn of(bytes: &[u8]) -> Code {
        Code { bytes: bytes.len(), hex: hex(bytes) }
    }

    /// The bytes; what is no pair of hexadecimal digits is left out.
    pub fn to_bytes(&self) -> Vec<u8> {
        let digit = |c: u8| (c as char).to_digit(16).map(|digit| digit as u8);
        let pairs = self.hex.as_bytes().chunks_exact(2);
        pairs.filter_map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
    }
}

/// Bytes as pairs of hexadecimal digits in memory order.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Figures that every machine has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Instructions.
    pub instructions: u64,
    /// Length of the code.
    pub code_bytes: u64,
    /// Registers of an invocation.
    pub registers: u64,
    /// Stores that the allocator made.
    pub spills: u64,
    /// Loads that the allocator made.
    pub fills: u64,
    /// Scratch of an invocation.
    pub scratch_bytes: u64,
    /// Workgroup memory.
    pub shared_bytes: u64,
    /// Loops.
    pub loops: u64,
    /// Conditional branches.
    pub branches: u64,
    /// Waves that fit, over the most that fit.
    pub occupancy: f64,
    /// Estimated clocks of a wave.
    pub cycles: f64,
    /// No schedule is faster.
    pub cycles_lower_bound: f64,
    /// What limits it.
    pub bound_unit: String,
    /// From the end of the front end to the encoded bytes.
    pub compile_microseconds: u64,
    /// Reading the source.
    pub frontend_microseconds: u64,
}

/// A binding and its places on the machine: entries of tables, by the tables' names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Bind group.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// What it is.
    pub kind: Name,
    /// Its name in the source.
    pub name: String,
    /// Its places; a binding array takes as many entries from there on as it has elements.
    pub slot: Named<u32>,
    /// The binding in the expanded SSA; absent in what was read from text.
    #[serde(skip)]
    pub resource: Option<Resource>,
}

impl Binding {
    /// A binding of a function with its places.
    pub fn of(func: &Func, resource: Resource, slot: Named<u32>) -> Binding {
        let data = &func.resources[resource];
        let kind = match data.kind {
            ResourceKind::Uniform { .. } => "uniform",
            ResourceKind::Storage { .. } => "storage",
            ResourceKind::Immediate { .. } => "immediate",
            ResourceKind::Texture { .. } => "texture",
            ResourceKind::StorageTexture { .. } => "storage_texture",
            ResourceKind::Sampler { .. } => "sampler",
        };
        Binding {
            group: data.group,
            binding: data.binding,
            kind: kind.into(),
            name: data.name.clone(),
            slot,
            resource: Some(resource),
        }
    }

    /// Its entry of a table.
    pub fn place(&self, table: &str) -> Option<u32> {
        self.slot.get(table).copied()
    }
}

/// What an input or output of a stage is to the language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// A built-in value, by WGSL's name where WGSL has it.
    Builtin(Name),
    /// A location.
    Location(u32),
}

/// An input of the stage and where it is when the program starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageInput {
    /// What it is.
    #[serde(flatten)]
    pub which: Which,
    /// Its name in the source.
    pub name: String,
    /// Components.
    pub components: u32,
    /// Its place.
    #[serde(flatten)]
    pub place: InputPlace,
    /// Which vertex of the primitive it is of (geometry).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertex: Option<u8>,
    /// How it varies (fragment).
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::ways")]
    pub interpolation: Option<Interpolation>,
    /// Where it is taken (fragment).
    #[serde(default, skip_serializing_if = "Option::is_none", with = "words::spots")]
    pub sampling: Option<Sampling>,
    /// What links it to an output of the stage before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic: Option<u32>,
    /// How an attribute comes in (vertex).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<Attribute>,
    /// The input in the expanded SSA; absent in what was read from text.
    #[serde(skip)]
    pub input: Option<Input>,
}

impl StageInput {
    /// An input of a function at a place.
    pub fn of(func: &Func, input: Input, place: InputPlace) -> StageInput {
        let data = &func.inputs[input];
        StageInput {
            which: match data.kind {
                InputKind::Builtin(which) => Which::Builtin(builtin(which)),
                InputKind::Location { location, .. } => Which::Location(location),
                InputKind::Corner { part: Part::Builtin(which), .. } => {
                    Which::Builtin(builtin(which))
                }
                InputKind::Corner { part: Part::Location(location), .. } => {
                    Which::Location(location)
                }
            },
            vertex: match data.kind {
                InputKind::Corner { vertex, .. } => Some(vertex),
                _ => None,
            },
            name: data.name.clone(),
            components: data.components.into(),
            place,
            interpolation: None,
            sampling: None,
            semantic: None,
            attribute: None,
            input: Some(input),
        }
    }
}

/// Where an input is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InputPlace {
    /// From a channel of a register of several on; no register where the program never has it in one.
    Channel {
        /// Register.
        register: Option<u32>,
        /// First channel.
        channel: u32,
    },
    /// A register.
    Register {
        /// Register.
        register: u32,
    },
    /// A varying record.
    Record {
        /// Byte offset.
        varying: u32,
    },
    /// No place of its own: it is computed, or fetched as an attribute.
    Elsewhere {},
}

/// How an attribute comes in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// Who describes it.
    #[serde(flatten)]
    pub place: AttributePlace,
    /// Byte offset within an element.
    pub offset: u32,
    /// WebGPU vertex format name.
    pub format: String,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// What advances it.
    pub step: Step,
}

/// Who describes an attribute to the machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AttributePlace {
    /// A fetch resource.
    Resource {
        /// Its number.
        resource: u32,
    },
    /// An attribute descriptor and a buffer descriptor.
    Descriptors {
        /// Entry of the attributes' table.
        index: u32,
        /// Entry of the buffers' table.
        buffer: u32,
    },
}

/// An output of the stage and where it leaves the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageOutput {
    /// What it is.
    #[serde(flatten)]
    pub which: Which,
    /// Its name in the source.
    pub name: String,
    /// Components that have a place.
    pub components: u32,
    /// Its place.
    #[serde(flatten)]
    pub place: OutputPlace,
    /// The output in the expanded SSA; absent in what was read from text.
    #[serde(skip)]
    pub output: Option<Output>,
}

impl StageOutput {
    /// An output of a function, of which so many components have this place.
    pub fn of(func: &Func, output: Output, components: u32, place: OutputPlace) -> StageOutput {
        let data = &func.outputs[output];
        StageOutput {
            which: match data.kind {
                OutputKind::Builtin(which) => Which::Builtin(builtin(which)),
                OutputKind::Location { location, .. } => Which::Location(location),
            },
            name: data.name.clone(),
            components,
            place,
            output: Some(output),
        }
    }
}

/// Where an output goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OutputPlace {
    /// Channels of an export.
    Export {
        /// What the export is for.
        export: Export,
        /// Its number.
        index: u32,
        /// First channel.
        channel: u32,
        /// What links it to an input of the stage behind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        semantic: Option<u32>,
    },
    /// A colour target's blending.
    Blend {
        /// What is handed over.
        format: Handed,
        /// 1 for the second source of dual-source blending.
        source: u32,
        /// [`Memory::Blend`].
        place: Memory,
        /// Colour target.
        index: u32,
    },
    /// A transform feedback buffer.
    Stream {
        /// Which buffer.
        buffer: u32,
        /// [`Memory::TransformFeedback`].
        place: Memory,
        /// Byte within a vertex of the buffer.
        index: u32,
    },
    /// A descriptor, or bytes of a record.
    Indexed {
        /// Of which kind.
        place: Memory,
        /// Descriptor's number, or first byte.
        index: u32,
    },
    /// A place of which there is one.
    Single {
        /// Which.
        place: Memory,
    },
    /// A register at the program's end.
    Register {
        /// Register.
        register: u32,
    },
}

/// What an export is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Export {
    /// Colour target.
    Pixel,
    /// Position and its companions.
    Position,
    /// Parameter to the fragment stage.
    Parameter,
    /// Depth, stencil and mask.
    Depth,
}

/// What takes an output that is not exported.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// The position's packet.
    Position,
    /// The point size's packet.
    PointSize,
    /// The layer, beside the point size.
    Layer,
    /// The varying record.
    Varying,
    /// An attribute's buffer.
    Attribute,
    /// A transform feedback buffer.
    TransformFeedback,
    /// Blending.
    Blend,
    /// The depth test.
    Depth,
    /// The stencil test.
    Stencil,
    /// The coverage.
    Coverage,
}

/// What blending is handed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handed {
    /// Floats of 32 bits.
    F32,
    /// Floats of 16 bits.
    F16,
    /// Signed integers.
    S32,
    /// Unsigned integers.
    U32,
}

impl Handed {
    /// What an output of this scalar type hands over.
    pub const fn of(scalar: Scalar) -> Handed {
        match scalar {
            Scalar::F32 => Handed::F32,
            Scalar::F16 => Handed::F16,
            Scalar::I32 => Handed::S32,
            Scalar::U32 | Scalar::Bool => Handed::U32,
        }
    }
}

/// Constant tables that the program fetches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tables {
    /// Fetch resource.
    pub resource: u32,
    /// Bytes of an element.
    pub stride: u32,
    /// The memory behind it.
    #[serde(flatten)]
    pub memory: Code,
}

/// How a dispatch is laid out.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Invocations of a workgroup by axis.
    pub workgroup_size: [u32; 3],
    /// What a workgroup takes of the machine.
    #[serde(flatten)]
    pub takes: Takes,
}

/// What a workgroup takes of the machine.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Takes {
    /// Threads of a launch, and memory of an aperture.
    Threads {
        /// Threads.
        threads_per_workgroup: u32,
        /// Dwords.
        workgroup_dwords: u32,
    },
    /// Memory of its own.
    Memory {
        /// Bytes.
        workgroup_bytes: u32,
    },
}

#[cfg(test)]
mod tests;
