//! The typed result: what a driver uploads, binds and programs, as structures that live as long as the result.

use crate::abi::{gpucc_bytes, gpucc_text};
use crate::compiler::stage_number;
use crate::outcome::Arena;
use crate::result::Made;
use crate::status::{gpucc_evidence, gpucc_step};
use gpucc::compiled::Placed;
use gpucc::described::{
    AttributePlace, Binding, BindingName, Driven, DriverConstant, DriverWord, EvidenceClass,
    Export, Handed, ImageWord, InputPlace, Memory, OutputPlace, Setting, StageInput, StageOutput,
    Takes, Which,
};
use gpucc::named::Named;
use gpucc::pipeline::Step;
use gpucc_ir::ssa::{Func, Interpolation, ResourceKind, Sampling};

/// A number by a name. Never changes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_named {
    /// A table of the machine, or a field of a register by the manual's name.
    pub name: gpucc_text,
    /// Its entry, or its value.
    pub value: u64,
}

/// A figure of a machine. Never changes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_figure {
    /// Its name.
    pub name: gpucc_text,
    /// Its value.
    pub value: f64,
}

/// One program: a shader may be several.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_program {
    /// sizeof(gpucc_program).
    pub struct_size: u32,
    /// Registers of an invocation.
    pub registers: u32,
    /// Its name behind the entry point's; empty for the first.
    pub name: gpucc_text,
    /// Its code.
    pub code: gpucc_bytes,
    /// First byte within gpucc_info.code.
    pub offset: u64,
    /// 1: it is no part of gpucc_info.code; `offset` is 0.
    pub is_apart: u32,
    /// Zero.
    pub reserved: u32,
}

/// What stands behind a binding.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_kind {
    /// A uniform buffer.
    GPUCC_KIND_UNIFORM = 0,
    /// A storage buffer.
    GPUCC_KIND_STORAGE = 1,
    /// Immediates, push constants.
    GPUCC_KIND_IMMEDIATE = 2,
    /// A sampled texture.
    GPUCC_KIND_TEXTURE = 3,
    /// A storage texture.
    GPUCC_KIND_STORAGE_TEXTURE = 4,
    /// A sampler.
    GPUCC_KIND_SAMPLER = 5,
}

/// A binding and its places on the machine.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_binding {
    /// sizeof(gpucc_binding).
    pub struct_size: u32,
    /// A gpucc_kind.
    pub kind: u32,
    /// Bind group, descriptor set.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// Its name in the source.
    pub name: gpucc_text,
    /// Its entries of the machine's tables. An array takes as many from there on as it has elements.
    pub slots: *const gpucc_named,
    /// How many.
    pub slot_count: usize,
    /// Buffers and immediates: bytes that must be bound, without a runtime array. Immediates begin at byte 0 of all that is
    /// pushed: a range of push constants at an offset is the bytes from there on.
    pub size: u32,
    /// Bytes of an element of the runtime array at the end; 0 where there is none.
    pub stride: u32,
    /// Elements of an array of bindings; 1 where it is none.
    pub count: u32,
    /// 1: the program may store to it.
    pub is_stored: u32,
}

/// Where an input is when the program starts.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_input_place {
    /// Computed, or fetched as an attribute.
    GPUCC_INPUT_ELSEWHERE = 0,
    /// A register.
    GPUCC_INPUT_REGISTER = 1,
    /// From `channel` of a register on.
    GPUCC_INPUT_CHANNEL = 2,
    /// From a channel on, of no register: the program never has it in one.
    GPUCC_INPUT_UNUSED = 3,
    /// A varying record, from byte `offset` on.
    GPUCC_INPUT_RECORD = 4,
}

/// How an input varies over a primitive.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_interpolation {
    /// It is no varying, or the machine asks nothing.
    GPUCC_INTERPOLATION_NONE = 0,
    /// With perspective.
    GPUCC_INTERPOLATION_PERSPECTIVE = 1,
    /// Without.
    GPUCC_INTERPOLATION_LINEAR = 2,
    /// Not at all.
    GPUCC_INTERPOLATION_FLAT = 3,
}

/// Where a varying is taken.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_sampling {
    /// It is no varying, or the machine asks nothing.
    GPUCC_SAMPLING_NONE = 0,
    /// The pixel's centre.
    GPUCC_SAMPLING_CENTER = 1,
    /// Within the covered part.
    GPUCC_SAMPLING_CENTROID = 2,
    /// Each sample.
    GPUCC_SAMPLING_SAMPLE = 3,
}

/// An input of the stage.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_input {
    /// sizeof(gpucc_input).
    pub struct_size: u32,
    /// 1: `location` counts; 0: `builtin` does.
    pub has_location: u32,
    /// The location.
    pub location: u32,
    /// Components.
    pub components: u32,
    /// WGSL's name of the built-in value.
    pub builtin: gpucc_text,
    /// Its name in the source.
    pub name: gpucc_text,
    /// A gpucc_input_place.
    pub place: u32,
    /// The register.
    pub register_number: u32,
    /// The first channel.
    pub channel: u32,
    /// Byte of the record.
    pub offset: u32,
    /// A gpucc_interpolation.
    pub interpolation: u32,
    /// A gpucc_sampling.
    pub sampling: u32,
    /// 1: `semantic` counts.
    pub has_semantic: u32,
    /// What links it to an output of the stage before.
    pub semantic: u32,
    /// 0: no attribute. 1: fetch resource `attribute_index`. 2: descriptors `attribute_index` and `buffer_index`.
    pub attribute: u32,
    /// See `attribute`.
    pub attribute_index: u32,
    /// Entry of the buffers' table.
    pub buffer_index: u32,
    /// Byte within an element of the buffer.
    pub attribute_offset: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// A gpucc_step.
    pub step: u32,
    /// WebGPU's name of the attribute's format.
    pub format: gpucc_text,
}

/// Where an output leaves the program.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_output_place {
    /// `export_kind` number `index`, from `channel` on.
    GPUCC_OUTPUT_EXPORT = 0,
    /// Blending of colour target `index`: `handed` and `source`.
    GPUCC_OUTPUT_BLEND = 1,
    /// Buffer `source` of transform feedback, byte `index` of a vertex.
    GPUCC_OUTPUT_STREAM = 2,
    /// `memory` number or byte `index`.
    GPUCC_OUTPUT_INDEXED = 3,
    /// `memory`, of which there is one.
    GPUCC_OUTPUT_SINGLE = 4,
    /// Register `index`.
    GPUCC_OUTPUT_REGISTER = 5,
}

/// What an export is for.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_export {
    /// Colour target.
    GPUCC_EXPORT_PIXEL = 0,
    /// Position and its companions.
    GPUCC_EXPORT_POSITION = 1,
    /// Parameter to the fragment stage.
    GPUCC_EXPORT_PARAMETER = 2,
    /// Depth, stencil and mask.
    GPUCC_EXPORT_DEPTH = 3,
}

/// What takes an output that is not exported.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_memory {
    /// The position's packet.
    GPUCC_MEMORY_POSITION = 0,
    /// The point size's packet.
    GPUCC_MEMORY_POINT_SIZE = 1,
    /// The layer, beside the point size.
    GPUCC_MEMORY_LAYER = 2,
    /// The varying record.
    GPUCC_MEMORY_VARYING = 3,
    /// An attribute's buffer.
    GPUCC_MEMORY_ATTRIBUTE = 4,
    /// A transform feedback buffer.
    GPUCC_MEMORY_TRANSFORM_FEEDBACK = 5,
    /// Blending.
    GPUCC_MEMORY_BLEND = 6,
    /// The depth test.
    GPUCC_MEMORY_DEPTH = 7,
    /// The stencil test.
    GPUCC_MEMORY_STENCIL = 8,
    /// The coverage.
    GPUCC_MEMORY_COVERAGE = 9,
}

/// What blending is handed.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_handed {
    /// Floats of 32 bits.
    GPUCC_HANDED_F32 = 0,
    /// Floats of 16 bits.
    GPUCC_HANDED_F16 = 1,
    /// Signed integers.
    GPUCC_HANDED_S32 = 2,
    /// Unsigned integers.
    GPUCC_HANDED_U32 = 3,
}

/// An output of the stage.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_output {
    /// sizeof(gpucc_output).
    pub struct_size: u32,
    /// 1: `location` counts; 0: `builtin` does.
    pub has_location: u32,
    /// The location.
    pub location: u32,
    /// Components that have this place.
    pub components: u32,
    /// WGSL's name of the built-in value.
    pub builtin: gpucc_text,
    /// Its name in the source.
    pub name: gpucc_text,
    /// A gpucc_output_place: it says which of the fields below count.
    pub place: u32,
    /// A gpucc_export.
    pub export_kind: u32,
    /// Export, colour target, byte, descriptor or register.
    pub index: u32,
    /// First channel.
    pub channel: u32,
    /// 1: `semantic` counts.
    pub has_semantic: u32,
    /// What links it to an input of the stage behind.
    pub semantic: u32,
    /// A gpucc_handed.
    pub handed: u32,
    /// 1 for the second source of dual-source blending; a buffer's number.
    pub source: u32,
    /// A gpucc_memory.
    pub memory: u32,
    /// Zero.
    pub reserved: u32,
}

/// What kind of thing a driver programs.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_setting_kind {
    /// `value` to the register at `address`, the bits of `mask`.
    GPUCC_SETTING_REGISTER = 0,
    /// `words` with `masks`.
    GPUCC_SETTING_DESCRIPTOR = 1,
    /// `programs`.
    GPUCC_SETTING_PROGRAMS = 2,
    /// `tables`.
    GPUCC_SETTING_TABLES = 3,
    /// `constant_buffers`.
    GPUCC_SETTING_CONSTANT_BUFFERS = 4,
    /// `value`.
    GPUCC_SETTING_NUMBER = 5,
}

/// One of the programs in the code, as its descriptor has it. Never changes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_program_state {
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// Bit k: the k-th register that may be filled before the start is.
    pub preload: u32,
    /// Registers in use.
    pub registers: u32,
    /// Registers that an invocation is given.
    pub work_registers: u32,
}

/// A table of descriptors. Never changes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_table_use {
    /// Number.
    pub table: u32,
    /// Entries that it needs.
    pub entries: u32,
}

/// Constants that the driver puts into a uniform buffer. Never changes.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_constant_buffer {
    /// Its words.
    pub words: *const u32,
    /// How many.
    pub word_count: usize,
    /// Entry of the uniform buffers' table.
    pub index: u64,
}

/// Something that a driver programs.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_setting {
    /// sizeof(gpucc_setting).
    pub struct_size: u32,
    /// A gpucc_setting_kind.
    pub kind: u32,
    /// The manual's name.
    pub name: gpucc_text,
    /// Byte address of the register.
    pub address: u32,
    /// Value of the register, or the number.
    pub value: u32,
    /// The bits that the program decides; the others are the driver's.
    pub mask: u32,
    /// Zero.
    pub reserved: u32,
    /// Words of the descriptor.
    pub words: *const u32,
    /// The bits of each that the program decides.
    pub masks: *const u32,
    /// How many words and masks.
    pub word_count: usize,
    /// The fields of register or descriptor, by the manual's names.
    pub fields: *const gpucc_named,
    /// How many.
    pub field_count: usize,
    /// The programs in the code.
    pub programs: *const gpucc_program_state,
    /// How many.
    pub program_count: usize,
    /// The tables that the program refers to.
    pub tables: *const gpucc_table_use,
    /// How many.
    pub table_count: usize,
    /// Constants for uniform buffers.
    pub constant_buffers: *const gpucc_constant_buffer,
    /// How many.
    pub constant_buffer_count: usize,
}

/// What stands in a word that the driver fills.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_driven {
    /// Padding.
    GPUCC_DRIVEN_UNUSED = 0,
    /// The bits `value`.
    GPUCC_DRIVEN_CONSTANT = 1,
    /// Workgroups of the dispatch on axis `number`.
    GPUCC_DRIVEN_NUM_WORKGROUPS = 2,
    /// Workgroups on all axes.
    GPUCC_DRIVEN_NUM_WORKGROUPS_ALL = 3,
    /// First vertex, first instance, draw index, 0.
    GPUCC_DRIVEN_DRAW = 4,
    /// A storage buffer's base in dwords and size in bytes within the aperture, of its number `value`; of a stored texture
    /// pitch and rows too.
    GPUCC_DRIVEN_STORAGE_BUFFER = 5,
    /// Workgroup memory's base in dwords within the aperture, and dwords of one workgroup.
    GPUCC_DRIVEN_WORKGROUP_MEMORY = 6,
    /// Width, height, layers (cubes, depth), levels of the binding.
    GPUCC_DRIVEN_IMAGE = 7,
    /// One number about the binding: a gpucc_image_word in `number`.
    GPUCC_DRIVEN_IMAGE_WORD = 8,
    /// The word at byte `value` of the binding, a uniform buffer or the immediates.
    GPUCC_DRIVEN_UNIFORM = 9,
    /// The first vertex.
    GPUCC_DRIVEN_FIRST_VERTEX = 10,
    /// The first instance.
    GPUCC_DRIVEN_FIRST_INSTANCE = 11,
    /// The draw's number among those of one command.
    GPUCC_DRIVEN_DRAW_INDEX = 12,
    /// The number of the view.
    GPUCC_DRIVEN_VIEW_INDEX = 13,
    /// Vertices of an instance.
    GPUCC_DRIVEN_VERTEX_COUNT = 14,
    /// The low word of the address of transform feedback buffer `number`.
    GPUCC_DRIVEN_STREAM_ADDRESS_LOW = 15,
    /// The high word.
    GPUCC_DRIVEN_STREAM_ADDRESS_HIGH = 16,
    /// f32 on axis `number`: screen = device coordinate * scale + offset.
    GPUCC_DRIVEN_VIEWPORT_SCALE = 17,
    /// f32 on axis `number`.
    GPUCC_DRIVEN_VIEWPORT_OFFSET = 18,
    /// Bytes of the binding.
    GPUCC_DRIVEN_BUFFER_SIZE = 19,
    /// Texels from one row of the binding, a linear surface, to the next.
    GPUCC_DRIVEN_PITCH = 20,
    /// Rows from one slice to the next.
    GPUCC_DRIVEN_ROWS = 21,
    /// Word `number` of the binding, a sampler, for programs that compare or gather by arithmetic (docs/abi-gen4.md).
    GPUCC_DRIVEN_SAMPLER = 22,
}

/// A number about an image.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_image_word {
    /// Texels of level 0 on the first axis.
    GPUCC_IMAGE_WIDTH = 0,
    /// On the second.
    GPUCC_IMAGE_HEIGHT = 1,
    /// On the third.
    GPUCC_IMAGE_DEPTH = 2,
    /// Layers; cubes of a cube array.
    GPUCC_IMAGE_LAYERS = 3,
    /// Mip levels.
    GPUCC_IMAGE_LEVELS = 4,
    /// Samples of a texel.
    GPUCC_IMAGE_SAMPLES = 5,
    /// f32: 0.5 / width.
    GPUCC_IMAGE_EDGE_LOW_X = 6,
    /// f32: 0.5 / height.
    GPUCC_IMAGE_EDGE_LOW_Y = 7,
    /// f32: 1 - EDGE_LOW_X.
    GPUCC_IMAGE_EDGE_HIGH_X = 8,
    /// f32: 1 - EDGE_LOW_Y.
    GPUCC_IMAGE_EDGE_HIGH_Y = 9,
}

/// A word that the program reads and the driver fills.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_driver_constant {
    /// sizeof(gpucc_driver_constant).
    pub struct_size: u32,
    /// A gpucc_driven.
    pub what: u32,
    /// Its place: its number where it has one of its own, else its place in the list.
    pub place: u32,
    /// See gpucc_driven.
    pub number: u32,
    /// See gpucc_driven.
    pub value: u32,
    /// 1: `group`, `binding` and `element` count.
    pub has_binding: u32,
    /// Bind group.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// Element of a binding array.
    pub element: u32,
    /// Zero.
    pub reserved: u32,
}

/// From this byte of the code on, it comes from this place in the source.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_line {
    /// sizeof(gpucc_line).
    pub struct_size: u32,
    /// Byte of the code.
    pub offset: u32,
    /// Line from 1; 0 of SPIR-V.
    pub line: u32,
    /// Column in characters from 1; of SPIR-V the number of the word.
    pub column: u32,
}

/// Something that the code does and that no public driver has shown on hardware.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_ground {
    /// sizeof(gpucc_ground).
    pub struct_size: u32,
    /// A gpucc_evidence.
    pub evidence: u32,
    /// What it does.
    pub feature: gpucc_text,
    /// What speaks for it.
    pub reason: gpucc_text,
}

/// Figures that every machine has.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_stats {
    /// sizeof(gpucc_stats).
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
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
    /// Scratch memory of an invocation.
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
    pub bound_unit: gpucc_text,
    /// From the end of the front end to the encoded bytes.
    pub compile_microseconds: u64,
    /// Reading the source.
    pub frontend_microseconds: u64,
}

/// All of a result. Lists are arrays of pointers.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_info {
    /// sizeof(gpucc_info).
    pub struct_size: u32,
    /// A gpucc_stage.
    pub stage: u32,
    /// The target's name.
    pub target: gpucc_text,
    /// The chip's name.
    pub chip: gpucc_text,
    /// The entry point, or what a program of fixed function is for.
    pub entry: gpucc_text,
    /// Machine code in memory order.
    pub code: gpucc_bytes,
    /// The program that fetches attributes, where GPUCC_FETCH_SEPARATE asks for one.
    pub fetch_program: gpucc_bytes,
    /// Memory of the constant tables that the program fetches.
    pub tables: gpucc_bytes,
    /// Their fetch resource.
    pub table_resource: u32,
    /// Bytes of an element; 0 where there are no tables.
    pub table_stride: u32,
    /// Compute: invocations of a workgroup by axis; zeros of other stages.
    pub workgroup_size: [u32; 3],
    /// Threads of the launch of a workgroup, on machines that are told; else 0.
    pub threads_per_workgroup: u32,
    /// Dwords of the aperture that a workgroup takes, on machines with one.
    pub workgroup_dwords: u32,
    /// Bytes of memory that a workgroup takes, on machines where it has its own.
    pub workgroup_bytes: u32,
    /// The weakest gpucc_evidence of what the code does.
    pub evidence: u32,
    /// Zero.
    pub reserved: u32,
    /// Figures.
    pub stats: *const gpucc_stats,
    /// Figures of this machine.
    pub figures: *const gpucc_figure,
    /// How many.
    pub figure_count: usize,
    /// The programs in the code and beside it, the one that runs first in front.
    pub programs: *const *const gpucc_program,
    /// How many.
    pub program_count: usize,
    /// Bindings.
    pub bindings: *const *const gpucc_binding,
    /// How many.
    pub binding_count: usize,
    /// Inputs.
    pub inputs: *const *const gpucc_input,
    /// How many.
    pub input_count: usize,
    /// Outputs.
    pub outputs: *const *const gpucc_output,
    /// How many.
    pub output_count: usize,
    /// What the driver programs.
    pub settings: *const *const gpucc_setting,
    /// How many.
    pub setting_count: usize,
    /// Words that the driver fills.
    pub driver_constants: *const *const gpucc_driver_constant,
    /// How many.
    pub driver_constant_count: usize,
    /// Places in the source.
    pub lines: *const *const gpucc_line,
    /// How many.
    pub line_count: usize,
    /// What the code rests on.
    pub grounds: *const *const gpucc_ground,
    /// How many.
    pub ground_count: usize,
}

const fn sized<T>() -> u32 {
    size_of::<T>() as u32
}

/// The typed result of a compilation; the arena keeps what it points to, but for code and tables, which are those of `made`.
pub(crate) fn info(made: &Made, arena: &mut Arena) -> gpucc_info {
    let report = made.shader();
    let program = made.compiled.program.as_ref();
    let code = program.map_or(&[][..], |program| program.code());
    let mut info = gpucc_info {
        struct_size: sized::<gpucc_info>(),
        stage: stage_number(Some(made.compiled.stage)),
        target: arena.text(made.compiler.target().name()),
        chip: arena.text(made.compiler.chip().unwrap_or_default()),
        entry: arena.text(&made.compiled.entry),
        code: gpucc_bytes::of(code),
        fetch_program: gpucc_bytes::NONE,
        tables: gpucc_bytes::NONE,
        table_resource: 0,
        table_stride: 0,
        workgroup_size: [0; 3],
        threads_per_workgroup: 0,
        workgroup_dwords: 0,
        workgroup_bytes: 0,
        evidence: evidence(report.evidence.class),
        reserved: 0,
        stats: std::ptr::null(),
        figures: std::ptr::null(),
        figure_count: report.machine.len(),
        programs: std::ptr::null(),
        program_count: 0,
        bindings: std::ptr::null(),
        binding_count: 0,
        inputs: std::ptr::null(),
        input_count: 0,
        outputs: std::ptr::null(),
        output_count: 0,
        settings: std::ptr::null(),
        setting_count: 0,
        driver_constants: std::ptr::null(),
        driver_constant_count: 0,
        lines: std::ptr::null(),
        line_count: 0,
        grounds: std::ptr::null(),
        ground_count: 0,
    };
    if let Some(fetch) = &report.fetch_program {
        info.fetch_program = owned(fetch.to_bytes(), arena);
    }
    if let Some(tables) = &report.tables {
        (info.table_resource, info.table_stride) = (tables.resource, tables.stride);
        info.tables = owned(tables.memory.to_bytes(), arena);
    }
    if let Some(dispatch) = &report.dispatch {
        info.workgroup_size = dispatch.workgroup_size;
        match dispatch.takes {
            Takes::Threads { threads_per_workgroup, workgroup_dwords } => {
                info.threads_per_workgroup = threads_per_workgroup;
                info.workgroup_dwords = workgroup_dwords;
            }
            Takes::Memory { workgroup_bytes } => info.workgroup_bytes = workgroup_bytes,
        }
    }
    info.stats = stats(&report.stats, arena);
    let figures = report.machine.iter();
    let figures =
        figures.map(|(name, figure)| gpucc_figure { name: arena.text(name), value: figure.0 });
    let figures = figures.collect();
    info.figures = arena.items(figures);
    let programs = programs(made, arena);
    (info.programs, info.program_count) = arena.list(programs);
    let func = program.map_or(&made.compiled.ssa, |program| program.expanded());
    let bindings =
        report.resources.iter().map(|binding| self::binding(binding, func, arena)).collect();
    (info.bindings, info.binding_count) = arena.list(bindings);
    let inputs = report.inputs.iter().map(|input| self::input(input, arena)).collect();
    (info.inputs, info.input_count) = arena.list(inputs);
    let outputs = report.outputs.iter().map(|output| self::output(output, arena)).collect();
    (info.outputs, info.output_count) = arena.list(outputs);
    let settings = report.state.iter().map(|(name, setting)| self::setting(name, setting, arena));
    let settings = settings.collect();
    (info.settings, info.setting_count) = arena.list(settings);
    let constants = (0..).zip(&report.driver_constants);
    let constants = constants.map(|(place, constant)| driver_constant(place, constant)).collect();
    (info.driver_constants, info.driver_constant_count) = arena.list(constants);
    let lines = report.lines.iter().map(|line| gpucc_line {
        struct_size: sized::<gpucc_line>(),
        offset: line.offset,
        line: line.line,
        column: line.column,
    });
    (info.lines, info.line_count) = arena.list(lines.collect());
    let grounds = report.evidence.rests_on.iter().map(|ground| gpucc_ground {
        struct_size: sized::<gpucc_ground>(),
        evidence: evidence(ground.class),
        feature: arena.text(&ground.feature),
        reason: arena.text(&ground.reason),
    });
    let grounds = grounds.collect();
    (info.grounds, info.ground_count) = arena.list(grounds);
    info
}

fn owned(bytes: Vec<u8>, arena: &mut Arena) -> gpucc_bytes {
    let size = bytes.len();
    gpucc_bytes { data: arena.items(bytes), size }
}

fn evidence(class: EvidenceClass) -> u32 {
    match class {
        EvidenceClass::Proven => gpucc_evidence::GPUCC_EVIDENCE_PROVEN as u32,
        EvidenceClass::Manual => gpucc_evidence::GPUCC_EVIDENCE_MANUAL as u32,
        EvidenceClass::Assumption => gpucc_evidence::GPUCC_EVIDENCE_ASSUMPTION as u32,
    }
}

fn stats(stats: &gpucc::report::Stats, arena: &mut Arena) -> *const gpucc_stats {
    let stats = gpucc_stats {
        struct_size: sized::<gpucc_stats>(),
        reserved: 0,
        instructions: stats.instructions,
        code_bytes: stats.code_bytes,
        registers: stats.registers,
        spills: stats.spills,
        fills: stats.fills,
        scratch_bytes: stats.scratch_bytes,
        shared_bytes: stats.shared_bytes,
        loops: stats.loops,
        branches: stats.branches,
        occupancy: stats.occupancy,
        cycles: stats.cycles,
        cycles_lower_bound: stats.cycles_lower_bound,
        bound_unit: arena.text(&stats.bound_unit),
        compile_microseconds: stats.compile_microseconds,
        frontend_microseconds: stats.frontend_microseconds,
    };
    arena.items(vec![stats])
}

fn programs(made: &Made, arena: &mut Arena) -> Vec<gpucc_program> {
    let compiled = made.compiled.program.as_ref().map(|program| program.compiled());
    let programs = compiled.iter().flat_map(|compiled| &compiled.programs);
    programs
        .map(|program| {
            let code = compiled.map_or(&[][..], |compiled| &compiled.code);
            let (code, offset, is_apart) = match &program.code {
                Placed::Within(range) => {
                    (code.get(range.clone()).unwrap_or_default(), range.start, 0)
                }
                Placed::Apart(code) => (code.as_slice(), 0, 1),
            };
            gpucc_program {
                struct_size: sized::<gpucc_program>(),
                registers: program.registers,
                name: arena.text(&program.name),
                code: gpucc_bytes::of(code),
                offset: offset as u64,
                is_apart,
                reserved: 0,
            }
        })
        .collect()
}

fn named(from: &Named<u32>, arena: &mut Arena) -> (*const gpucc_named, usize) {
    let all = from
        .iter()
        .map(|(name, value)| gpucc_named { name: arena.text(name), value: u64::from(*value) });
    let all: Vec<_> = all.collect();
    (arena.items(all), from.len())
}

fn binding(from: &Binding, func: &Func, arena: &mut Arena) -> gpucc_binding {
    let declared = from.resource.and_then(|resource| func.resources.get(resource));
    let declared_kind = declared.map(|data| data.kind);
    let size = declared_kind.and_then(ResourceKind::bytes).unwrap_or(0);
    let stride = match declared_kind {
        Some(ResourceKind::Storage { stride, .. }) => stride,
        _ => 0,
    };
    let is_stored = declared_kind.is_some_and(ResourceKind::is_stored);
    const KINDS: [&str; 6] =
        ["uniform", "storage", "immediate", "texture", "storage_texture", "sampler"];
    let kind = KINDS.iter().position(|kind| *kind == from.kind).unwrap_or(KINDS.len());
    let (slots, slot_count) = named(&from.slot, arena);
    gpucc_binding {
        struct_size: sized::<gpucc_binding>(),
        kind: kind as u32,
        group: from.group,
        binding: from.binding,
        name: arena.text(&from.name),
        slots,
        slot_count,
        size,
        stride,
        count: declared.and_then(|data| data.count).unwrap_or(1),
        is_stored: is_stored.into(),
    }
}

/// Whether it is a location, which, and the name of the built-in value that it is otherwise.
fn which(from: &Which, arena: &mut Arena) -> (u32, u32, gpucc_text) {
    match from {
        Which::Builtin(name) => (0, 0, arena.text(name)),
        Which::Location(location) => (1, *location, arena.text("")),
    }
}

fn input(from: &StageInput, arena: &mut Arena) -> gpucc_input {
    use gpucc_input_place as p;
    use gpucc_interpolation as i;
    use gpucc_sampling as s;
    use gpucc_step as t;
    let (has_location, location, builtin) = which(&from.which, arena);
    let (place, register_number, channel, offset) = match from.place {
        InputPlace::Elsewhere {} => (p::GPUCC_INPUT_ELSEWHERE, 0, 0, 0),
        InputPlace::Register { register } => (p::GPUCC_INPUT_REGISTER, register, 0, 0),
        InputPlace::Channel { register: Some(register), channel } => {
            (p::GPUCC_INPUT_CHANNEL, register, channel, 0)
        }
        InputPlace::Channel { register: None, channel } => (p::GPUCC_INPUT_UNUSED, 0, channel, 0),
        InputPlace::Record { varying } => (p::GPUCC_INPUT_RECORD, 0, 0, varying),
    };
    let attribute = from.attribute.as_ref();
    let (kind, attribute_index, buffer_index) = match attribute.map(|attribute| attribute.place) {
        None => (0, 0, 0),
        Some(AttributePlace::Resource { resource }) => (1, resource, 0),
        Some(AttributePlace::Descriptors { index, buffer }) => (2, index, buffer),
    };
    gpucc_input {
        struct_size: sized::<gpucc_input>(),
        has_location,
        location,
        components: from.components,
        builtin,
        name: arena.text(&from.name),
        place: place as u32,
        register_number,
        channel,
        offset,
        interpolation: match from.interpolation {
            None => i::GPUCC_INTERPOLATION_NONE as u32,
            Some(Interpolation::Perspective) => i::GPUCC_INTERPOLATION_PERSPECTIVE as u32,
            Some(Interpolation::Linear) => i::GPUCC_INTERPOLATION_LINEAR as u32,
            Some(Interpolation::Flat) => i::GPUCC_INTERPOLATION_FLAT as u32,
        },
        sampling: match from.sampling {
            None => s::GPUCC_SAMPLING_NONE as u32,
            Some(Sampling::Center) => s::GPUCC_SAMPLING_CENTER as u32,
            Some(Sampling::Centroid) => s::GPUCC_SAMPLING_CENTROID as u32,
            Some(Sampling::Sample) => s::GPUCC_SAMPLING_SAMPLE as u32,
        },
        has_semantic: from.semantic.is_some().into(),
        semantic: from.semantic.unwrap_or(0),
        attribute: kind,
        attribute_index,
        buffer_index,
        attribute_offset: attribute.map_or(0, |attribute| attribute.offset),
        stride: attribute.map_or(0, |attribute| attribute.stride),
        step: match attribute.map(|attribute| attribute.step) {
            None | Some(Step::Vertex) => t::GPUCC_STEP_VERTEX as u32,
            Some(Step::Instance) => t::GPUCC_STEP_INSTANCE as u32,
        },
        format: arena.text(attribute.map_or("", |attribute| &attribute.format)),
    }
}

fn output(from: &StageOutput, arena: &mut Arena) -> gpucc_output {
    use gpucc_export as e;
    use gpucc_handed as h;
    use gpucc_output_place as p;
    let (has_location, location, builtin) = which(&from.which, arena);
    let mut output = gpucc_output {
        struct_size: sized::<gpucc_output>(),
        has_location,
        location,
        components: from.components,
        builtin,
        name: arena.text(&from.name),
        place: 0,
        export_kind: 0,
        index: 0,
        channel: 0,
        has_semantic: 0,
        semantic: 0,
        handed: 0,
        source: 0,
        memory: 0,
        reserved: 0,
    };
    let place = match from.place {
        OutputPlace::Export { export, index, channel, semantic } => {
            output.export_kind = match export {
                Export::Pixel => e::GPUCC_EXPORT_PIXEL as u32,
                Export::Position => e::GPUCC_EXPORT_POSITION as u32,
                Export::Parameter => e::GPUCC_EXPORT_PARAMETER as u32,
                Export::Depth => e::GPUCC_EXPORT_DEPTH as u32,
            };
            (output.index, output.channel) = (index, channel);
            output.has_semantic = semantic.is_some().into();
            output.semantic = semantic.unwrap_or(0);
            p::GPUCC_OUTPUT_EXPORT
        }
        OutputPlace::Blend { format, source, place, index } => {
            output.handed = match format {
                Handed::F32 => h::GPUCC_HANDED_F32 as u32,
                Handed::F16 => h::GPUCC_HANDED_F16 as u32,
                Handed::S32 => h::GPUCC_HANDED_S32 as u32,
                Handed::U32 => h::GPUCC_HANDED_U32 as u32,
            };
            (output.source, output.memory, output.index) = (source, memory(place), index);
            p::GPUCC_OUTPUT_BLEND
        }
        OutputPlace::Stream { buffer, place, index } => {
            (output.source, output.memory, output.index) = (buffer, memory(place), index);
            p::GPUCC_OUTPUT_STREAM
        }
        OutputPlace::Indexed { place, index } => {
            (output.memory, output.index) = (memory(place), index);
            p::GPUCC_OUTPUT_INDEXED
        }
        OutputPlace::Single { place } => {
            output.memory = memory(place);
            p::GPUCC_OUTPUT_SINGLE
        }
        OutputPlace::Register { register } => {
            output.index = register;
            p::GPUCC_OUTPUT_REGISTER
        }
    };
    output.place = place as u32;
    output
}

fn memory(memory: Memory) -> u32 {
    use gpucc_memory as m;
    let memory = match memory {
        Memory::Position => m::GPUCC_MEMORY_POSITION,
        Memory::PointSize => m::GPUCC_MEMORY_POINT_SIZE,
        Memory::Layer => m::GPUCC_MEMORY_LAYER,
        Memory::Varying => m::GPUCC_MEMORY_VARYING,
        Memory::Attribute => m::GPUCC_MEMORY_ATTRIBUTE,
        Memory::TransformFeedback => m::GPUCC_MEMORY_TRANSFORM_FEEDBACK,
        Memory::Blend => m::GPUCC_MEMORY_BLEND,
        Memory::Depth => m::GPUCC_MEMORY_DEPTH,
        Memory::Stencil => m::GPUCC_MEMORY_STENCIL,
        Memory::Coverage => m::GPUCC_MEMORY_COVERAGE,
    };
    memory as u32
}

fn setting(name: &str, from: &Setting, arena: &mut Arena) -> gpucc_setting {
    use gpucc_setting_kind as k;
    let mut setting = gpucc_setting {
        struct_size: sized::<gpucc_setting>(),
        kind: 0,
        name: arena.text(name),
        address: 0,
        value: 0,
        mask: 0,
        reserved: 0,
        words: std::ptr::null(),
        masks: std::ptr::null(),
        word_count: 0,
        fields: std::ptr::null(),
        field_count: 0,
        programs: std::ptr::null(),
        program_count: 0,
        tables: std::ptr::null(),
        table_count: 0,
        constant_buffers: std::ptr::null(),
        constant_buffer_count: 0,
    };
    let kind = match from {
        Setting::Register { address, value, mask, fields } => {
            (setting.address, setting.value, setting.mask) = (*address, *value, *mask);
            (setting.fields, setting.field_count) = named(fields, arena);
            k::GPUCC_SETTING_REGISTER
        }
        Setting::Descriptor { words, mask, fields } => {
            // One mask a word, whatever the list says.
            let masks = (0..words.len()).map(|n| mask.get(n).copied().unwrap_or(u32::MAX));
            setting.word_count = words.len();
            setting.masks = arena.items(masks.collect());
            setting.words = arena.items(words.clone());
            (setting.fields, setting.field_count) = named(fields, arena);
            k::GPUCC_SETTING_DESCRIPTOR
        }
        Setting::Programs(programs) => {
            let programs = programs.iter().map(|program| gpucc_program_state {
                offset: program.offset,
                bytes: program.bytes,
                preload: program.preload.into(),
                registers: program.registers,
                work_registers: program.work_registers,
            });
            setting.program_count = programs.len();
            setting.programs = arena.items(programs.collect());
            k::GPUCC_SETTING_PROGRAMS
        }
        Setting::Tables(tables) => {
            let tables = tables
                .iter()
                .map(|table| gpucc_table_use { table: table.table, entries: table.entries });
            setting.table_count = tables.len();
            setting.tables = arena.items(tables.collect());
            k::GPUCC_SETTING_TABLES
        }
        Setting::ConstantBuffers(buffers) => {
            let buffers: Vec<_> = buffers
                .iter()
                .map(|buffer| gpucc_constant_buffer {
                    word_count: buffer.words.len(),
                    words: arena.items(buffer.words.clone()),
                    index: buffer.index.into(),
                })
                .collect();
            setting.constant_buffer_count = buffers.len();
            setting.constant_buffers = arena.items(buffers);
            k::GPUCC_SETTING_CONSTANT_BUFFERS
        }
        Setting::Number(number) => {
            setting.value = *number;
            k::GPUCC_SETTING_NUMBER
        }
    };
    setting.kind = kind as u32;
    setting
}

fn driver_constant(place: u32, from: &DriverConstant) -> gpucc_driver_constant {
    use gpucc_driven as d;
    let one = |what, binding: &BindingName, element: u32, number: u32, value: u32| {
        (what, number, value, Some((*binding, element)))
    };
    let plain = |what, number: u32, value: u32| (what, number, value, None);
    let whole = |binding: &BindingName| binding.element.unwrap_or(0);
    let (what, number, value, binding) = match &from.word {
        DriverWord::OfImage { what, binding, element } => {
            one(d::GPUCC_DRIVEN_IMAGE_WORD, binding, *element, image_word(*what), 0)
        }
        DriverWord::Other(other) => match other {
            Driven::NumWorkgroups { axis: Some(axis) } => {
                plain(d::GPUCC_DRIVEN_NUM_WORKGROUPS, (*axis).into(), 0)
            }
            Driven::NumWorkgroups { axis: None } => plain(d::GPUCC_DRIVEN_NUM_WORKGROUPS_ALL, 0, 0),
            Driven::Draw => plain(d::GPUCC_DRIVEN_DRAW, 0, 0),
            Driven::StorageBuffer { aperture_index } => {
                plain(d::GPUCC_DRIVEN_STORAGE_BUFFER, 0, *aperture_index)
            }
            Driven::WorkgroupMemory => plain(d::GPUCC_DRIVEN_WORKGROUP_MEMORY, 0, 0),
            Driven::Image { binding } => one(d::GPUCC_DRIVEN_IMAGE, binding, whole(binding), 0, 0),
            Driven::Constant { bits } => plain(d::GPUCC_DRIVEN_CONSTANT, 0, *bits),
            Driven::Uniform { binding, offset } => {
                one(d::GPUCC_DRIVEN_UNIFORM, binding, whole(binding), 0, *offset)
            }
            Driven::FirstVertex => plain(d::GPUCC_DRIVEN_FIRST_VERTEX, 0, 0),
            Driven::FirstInstance => plain(d::GPUCC_DRIVEN_FIRST_INSTANCE, 0, 0),
            Driven::DrawIndex => plain(d::GPUCC_DRIVEN_DRAW_INDEX, 0, 0),
            Driven::ViewIndex => plain(d::GPUCC_DRIVEN_VIEW_INDEX, 0, 0),
            Driven::VertexCount => plain(d::GPUCC_DRIVEN_VERTEX_COUNT, 0, 0),
            Driven::StreamAddress { buffer, high: false } => {
                plain(d::GPUCC_DRIVEN_STREAM_ADDRESS_LOW, (*buffer).into(), 0)
            }
            Driven::StreamAddress { buffer, high: true } => {
                plain(d::GPUCC_DRIVEN_STREAM_ADDRESS_HIGH, (*buffer).into(), 0)
            }
            Driven::ViewportScale { axis } => {
                plain(d::GPUCC_DRIVEN_VIEWPORT_SCALE, (*axis).into(), 0)
            }
            Driven::ViewportOffset { axis } => {
                plain(d::GPUCC_DRIVEN_VIEWPORT_OFFSET, (*axis).into(), 0)
            }
            Driven::BufferSize { binding, element } => {
                one(d::GPUCC_DRIVEN_BUFFER_SIZE, binding, *element, 0, 0)
            }
            Driven::Pitch { binding, element } => {
                one(d::GPUCC_DRIVEN_PITCH, binding, *element, 0, 0)
            }
            Driven::Rows { binding, element } => one(d::GPUCC_DRIVEN_ROWS, binding, *element, 0, 0),
            Driven::Sampler { binding, element, number } => {
                one(d::GPUCC_DRIVEN_SAMPLER, binding, *element, (*number).into(), 0)
            }
            Driven::Unused => plain(d::GPUCC_DRIVEN_UNUSED, 0, 0),
        },
    };
    gpucc_driver_constant {
        struct_size: sized::<gpucc_driver_constant>(),
        what: what as u32,
        place: from.constant.unwrap_or(place),
        number,
        value,
        has_binding: binding.is_some().into(),
        group: binding.map_or(0, |(binding, _)| binding.group),
        binding: binding.map_or(0, |(binding, _)| binding.binding),
        element: binding.map_or(0, |(_, element)| element),
        reserved: 0,
    }
}

fn image_word(word: ImageWord) -> u32 {
    use gpucc_image_word as w;
    let word = match word {
        ImageWord::Width => w::GPUCC_IMAGE_WIDTH,
        ImageWord::Height => w::GPUCC_IMAGE_HEIGHT,
        ImageWord::Depth => w::GPUCC_IMAGE_DEPTH,
        ImageWord::Layers => w::GPUCC_IMAGE_LAYERS,
        ImageWord::Levels => w::GPUCC_IMAGE_LEVELS,
        ImageWord::Samples => w::GPUCC_IMAGE_SAMPLES,
        ImageWord::EdgeLowX => w::GPUCC_IMAGE_EDGE_LOW_X,
        ImageWord::EdgeLowY => w::GPUCC_IMAGE_EDGE_LOW_Y,
        ImageWord::EdgeHighX => w::GPUCC_IMAGE_EDGE_HIGH_X,
        ImageWord::EdgeHighY => w::GPUCC_IMAGE_EDGE_HIGH_Y,
    };
    word as u32
}
