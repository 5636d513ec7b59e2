//! Valhall behind the facade: options in, report out.

use super::{Backend, Common, ListingLine, Program, common, words};
use crate::assembler::{Assembler, AssemblyError};
use crate::compiler::Options;
use crate::execute::Executor;
use crate::report::Shader;
use crate::{Failure, SourceText};
use gpucc_ir::ssa::{Func, Numerics, Resource, Sampling, Scalar, Stage};
use gpucc_valhall as valhall;
use gpucc_valhall::isa;
use serde_json::{Map, Value, json};

/// The back end for one chip.
pub struct Valhall {
    chip: valhall::Chip,
}

impl Valhall {
    /// For a chip by name; the default chip for a name that is not in the table.
    pub fn new(chip: &str) -> Valhall {
        Valhall {
            chip: valhall::Chip::by_name(chip).unwrap_or_default(),
        }
    }

    fn options(&self, options: &Options) -> valhall::Options {
        valhall::Options {
            chip: self.chip,
            effort: options.effort,
            pipeline: options.pipeline.state(),
            fuel: options.fuel,
            dump: !options.dump_after.is_empty() || options.keep_machine_ir,
            clock: Some(super::clock),
        }
    }
}

impl Backend for Valhall {
    fn info(&self) -> &dyn gpucc_passes::TargetInfo {
        valhall::target_info()
    }
    fn numerics(&self) -> Numerics {
        valhall::numerics()
    }
    fn compile(&self, ssa: &Func, options: &Options) -> Result<Box<dyn Program>, Failure> {
        let compiled = valhall::compile(ssa.clone(), &self.options(options))
            .map_err(|error| words::failure(error, "valhall"))?;
        Ok(Box::new(Code {
            chip: self.chip,
            compiled,
        }))
    }
}

/// What the silicon cannot do.
pub fn refusals() -> Vec<(&'static str, &'static str)> {
    valhall::refusals().to_vec()
}

/// A compiled program.
struct Code {
    chip: valhall::Chip,
    compiled: valhall::Compiled,
}

impl Program for Code {
    fn common(&self) -> Common<'_> {
        common!(self.compiled)
    }
    fn parts(&self) -> Vec<(&'static str, std::ops::Range<usize>)> {
        let varying = self.compiled.programs.get(1);
        varying
            .map(|program| {
                let start = program.offset as usize;
                ("varying", start..start + program.size as usize)
            })
            .into_iter()
            .collect()
    }
    fn hex(&self) -> String {
        ASSEMBLER.hex_lines(&self.compiled.code)
    }
    fn assembly(&self) -> Result<String, Failure> {
        ASSEMBLER
            .disassemble("program", &self.compiled.code)
            .map_err(|error| Failure::internal("valhall: disassembler", error))
    }
    fn listing(&self) -> Result<Vec<ListingLine>, Failure> {
        // A word is a line.
        let text = self.assembly()?;
        Ok(text
            .lines()
            .zip(0..)
            .map(|(text, word): (_, u32)| ListingLine {
                offset: 8 * word,
                flow: false,
                text: text.to_owned(),
            })
            .collect())
    }
    fn describe(&self, shader: &mut Shader) {
        let compiled = &self.compiled;
        let func = &compiled.expanded;
        let stats = &compiled.stats;
        let out = &mut shader.stats;
        out.instructions = stats.instructions.into();
        out.code_bytes = compiled.code.len() as u64;
        out.registers = stats.registers.into();
        out.spills = stats.spills.into();
        out.fills = stats.fills.into();
        out.scratch_bytes = stats.scratch_bytes.into();
        out.shared_bytes = stats.shared_bytes.into();
        out.loops = stats.loops.into();
        out.branches = stats.branches.into();
        out.occupancy = stats.occupancy;
        out.cycles = stats.cycles;
        out.cycles_lower_bound = stats.cycles_lower_bound;
        out.bound_unit = stats.bound_unit.to_owned();
        shader.machine = stats
            .machine()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), words::number(value)))
            .collect();
        let resources = compiled.resources.iter();
        shader.resources = resources.map(|slot| resource(func, slot)).collect();
        let inputs = compiled.inputs.iter();
        shader.inputs = inputs.map(|slot| input(func, slot)).collect();
        let outputs = compiled.outputs.iter();
        shader.outputs = outputs.map(|slot| output(func, slot)).collect();
        shader.state = state(compiled);
        let fau = compiled.fau.iter();
        shader.driver_constants = fau.map(|word| fau_word(func, word)).collect();
        shader.dispatch = (func.stage == Stage::Compute).then(|| {
            json!({
                "workgroup_size": func.workgroup_size,
                "workgroup_bytes": compiled.wls_bytes,
            })
        });
    }
    fn with_code(&self, code: Vec<u8>) -> Box<dyn Program> {
        Box::new(Code {
            chip: self.chip,
            compiled: valhall::Compiled {
                code,
                ..self.compiled.clone()
            },
        })
    }
    fn divides_positions(&self) -> bool {
        true
    }
    fn executor(&self, source: &SourceText) -> Result<Box<dyn Executor>, Failure> {
        Ok(crate::execute::valhall::executor(&self.compiled, source))
    }
}

/// Everything that a driver programs: descriptors by name, and where the programs and tables are.
fn state(compiled: &valhall::Compiled) -> Map<String, Value> {
    let mut state = Map::new();
    for descriptor in &compiled.state {
        let fields: Map<String, Value> = descriptor
            .fields
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.into()))
            .collect();
        state.insert(
            descriptor.name.clone(),
            json!({"words": descriptor.words, "fields": fields}),
        );
    }
    let programs: Vec<Value> = compiled
        .programs
        .iter()
        .map(|program| {
            json!({
                "offset": program.offset,
                "bytes": program.size,
                "preload": program.preload,
                "registers": program.registers,
                "work_registers": program.work_registers,
            })
        })
        .collect();
    state.insert("programs".into(), programs.into());
    let tables: Vec<Value> = compiled
        .tables
        .iter()
        .map(|table| json!({"table": table.table, "entries": table.entries}))
        .collect();
    state.insert("tables".into(), tables.into());
    for (name, value) in [
        ("secondary_offset", compiled.secondary_offset),
        ("info_buffer", compiled.info_buffer),
    ] {
        if let Some(value) = value {
            state.insert(name.into(), value.into());
        }
    }
    if !compiled.constants.is_empty() {
        let tables = compiled.constants.iter();
        let buffers: Vec<Value> = tables
            .map(|table| json!({"index": table.index, "words": table.words}))
            .collect();
        state.insert("constant_buffers".into(), buffers.into());
    }
    for (name, value) in [
        ("varying_stride", compiled.varying_stride),
        ("tls_bytes", compiled.tls_bytes),
        ("wls_bytes", compiled.wls_bytes),
    ] {
        state.insert(name.into(), value.into());
    }
    state
}

fn resource(func: &Func, slot: &valhall::ResourceSlot) -> Value {
    let mut places = Map::new();
    places.insert("table".into(), slot.slot.table.into());
    places.insert("index".into(), slot.slot.index.into());
    places.insert("handle".into(), slot.slot.handle().into());
    if let Some(info) = slot.info {
        places.insert("info".into(), info.into());
    }
    words::resource(func, slot.resource, places)
}

fn input(func: &Func, slot: &valhall::InputSlot) -> Value {
    let mut object = words::input(func, slot.input);
    match &slot.place {
        valhall::InputPlace::Register(register) => {
            object.insert("register".into(), (*register).into());
        }
        valhall::InputPlace::Computed => {}
        valhall::InputPlace::Attribute(fetch) => {
            object.insert(
                "attribute".into(),
                json!({
                    "index": fetch.index,
                    "buffer": fetch.buffer,
                    "offset": fetch.offset,
                    "format": fetch.format,
                    "stride": fetch.stride,
                    "step": if fetch.per_instance { "instance" } else { "vertex" },
                }),
            );
        }
        valhall::InputPlace::Varying(offset) => {
            object.insert("varying".into(), (*offset).into());
        }
    }
    if let Some(interpolation) = slot.interpolation {
        object.insert(
            "interpolation".into(),
            words::interpolation(interpolation).into(),
        );
    }
    if let Some(sampling) = slot.sampling {
        let name = match sampling {
            Sampling::Center => "center",
            Sampling::Centroid => "centroid",
            Sampling::Sample => "sample",
        };
        object.insert("sampling".into(), name.into());
    }
    Value::Object(object)
}

fn output(func: &Func, slot: &valhall::OutputSlot) -> Value {
    let mut object = words::output(func, slot.output, slot.components.into());
    let (place, index) = match slot.place {
        valhall::OutputPlace::Position => ("position", None),
        valhall::OutputPlace::PointSize => ("point_size", None),
        valhall::OutputPlace::Varying(offset) => ("varying", Some(offset)),
        valhall::OutputPlace::Attribute(index) => ("attribute", Some(index)),
        valhall::OutputPlace::Stream { buffer, offset } => {
            object.insert("buffer".into(), buffer.into());
            ("transform_feedback", Some(offset))
        }
        valhall::OutputPlace::Blend { target, source } => {
            // What BLEND hands over: the blend descriptor's conversion starts from it.
            let format = match func.outputs[slot.output].scalar {
                Scalar::F32 => "f32",
                Scalar::F16 => "f16",
                Scalar::I32 => "s32",
                Scalar::U32 | Scalar::Bool => "u32",
            };
            object.insert("format".into(), format.into());
            object.insert("source".into(), source.into());
            ("blend", Some(target.into()))
        }
        valhall::OutputPlace::Depth => ("depth", None),
        valhall::OutputPlace::Coverage => ("coverage", None),
    };
    object.insert("place".into(), place.into());
    if let Some(index) = index {
        object.insert("index".into(), index.into());
    }
    Value::Object(object)
}

/// One FAU word.
fn fau_word(func: &Func, word: &valhall::FauWord) -> Value {
    let binding = |resource: Resource| {
        let data = &func.resources[resource];
        json!({"group": data.group, "binding": data.binding})
    };
    match *word {
        valhall::FauWord::Constant(bits) => json!({"what": "constant", "bits": bits}),
        valhall::FauWord::Uniform { resource, offset } => {
            json!({"what": "uniform", "binding": binding(resource), "offset": offset})
        }
        valhall::FauWord::NumWorkgroups(axis) => json!({"what": "num_workgroups", "axis": axis}),
        valhall::FauWord::FirstVertex => json!({"what": "first_vertex"}),
        valhall::FauWord::FirstInstance => json!({"what": "first_instance"}),
        valhall::FauWord::VertexCount => json!({"what": "vertex_count"}),
        valhall::FauWord::StreamAddress { buffer, high } => {
            json!({"what": "stream_address", "buffer": buffer, "high": high})
        }
        valhall::FauWord::ViewportScale(axis) => json!({"what": "viewport_scale", "axis": axis}),
        valhall::FauWord::ViewportOffset(axis) => json!({"what": "viewport_offset", "axis": axis}),
        valhall::FauWord::BufferSize { resource, element } => {
            json!({"what": "buffer_size", "binding": binding(resource), "element": element})
        }
        valhall::FauWord::Image {
            resource,
            element,
            word,
        } => {
            json!({"what": word.name(), "binding": binding(resource), "element": element})
        }
        valhall::FauWord::Unused => json!({"what": "unused"}),
    }
}

/// Assembler and disassembler.
pub struct ValhallAssembler;

/// The one instance.
pub static ASSEMBLER: ValhallAssembler = ValhallAssembler;

impl Assembler for ValhallAssembler {
    fn token_bytes(&self) -> usize {
        8
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        isa::disassemble(code).map_err(|error| AssemblyError::Code {
            offset: error.offset,
            message: error.reason.to_string(),
        })
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        isa::assemble(text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        let mut text = String::with_capacity(code.len() * 19 / 8);
        for word in code.chunks(8) {
            text.push_str("0x");
            for byte in word.iter().rev() {
                text.push_str(&format!("{byte:02x}"));
            }
            text.push('\n');
        }
        text
    }
}
