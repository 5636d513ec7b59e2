//! R700 and R6xx behind the facade: options in, report out.

use super::{Backend, Common, ListingLine, Program, common, words};
use crate::assembler::{Assembler, AssemblyError};
use crate::compiler::Options;
use crate::execute::Executor;
use crate::report::Shader;
use crate::{Failure, SourceText};
use gpucc_ir::ssa::{Func, Numerics};
use gpucc_r700 as r700;
use gpucc_r700::isa;
use serde_json::{Map, Value, json};

/// The back end for one chip.
pub struct R700 {
    chip: r700::Chip,
}

impl R700 {
    /// For a chip of a family by name; the family's default for a name that is not in the table.
    pub fn new(family: r700::Family, chip: &str) -> R700 {
        R700 {
            chip: family.chip(chip).unwrap_or(family.chips()[0]),
        }
    }

    fn options(&self, options: &Options) -> r700::Options {
        r700::Options {
            chip: self.chip,
            effort: options.effort,
            pipeline: options.pipeline.state(),
            trusts_indices: options.robust == crate::Robust::Off,
            fuel: options.fuel,
            dump: !options.dump_after.is_empty() || options.keep_machine_ir,
            clock: Some(super::clock),
        }
    }
}

impl Backend for R700 {
    fn info(&self) -> &dyn gpucc_passes::TargetInfo {
        r700::target_info()
    }
    fn numerics(&self) -> Numerics {
        r700::numerics_of(self.chip.family())
    }
    fn compile(&self, ssa: &Func, options: &Options) -> Result<Box<dyn Program>, Failure> {
        let compiled = r700::compile(ssa.clone(), &self.options(options))
            .map_err(|error| words::failure(error, self.chip.family().name()))?;
        Ok(Box::new(Code {
            chip: self.chip,
            compiled,
        }))
    }
}

/// What the silicon of a family cannot do.
pub fn refusals(family: r700::Family) -> Vec<(&'static str, &'static str)> {
    r700::refusals_of(family)
}

/// A compiled program.
struct Code {
    chip: r700::Chip,
    compiled: r700::Compiled,
}

impl Program for Code {
    fn common(&self) -> Common<'_> {
        common!(self.compiled)
    }
    fn fetch_program(&self) -> Option<&[u8]> {
        self.compiled.fetch_program.as_deref()
    }
    fn hex(&self) -> String {
        assembler(self.chip.family()).hex_lines(&self.compiled.code)
    }
    fn assembly(&self) -> Result<String, Failure> {
        assembler(self.chip.family())
            .disassemble("program", &self.compiled.code)
            .map_err(|error| Failure::internal("r700: disassembler", error))
    }
    fn listing(&self) -> Result<Vec<ListingLine>, Failure> {
        let table = assembler(self.chip.family()).0;
        let lines = isa::disasm::listing_of(table, &self.compiled.code)
            .map_err(|error| Failure::internal("r700: disassembler", error))?;
        Ok(lines
            .into_iter()
            .map(|line| ListingLine {
                offset: line.offset,
                flow: line.flow,
                text: line.text,
            })
            .collect())
    }
    fn describe(&self, shader: &mut Shader) {
        let compiled = &self.compiled;
        let stats = &compiled.stats;
        let out = &mut shader.stats;
        out.instructions = stats.instructions.into();
        out.code_bytes = compiled.code.len() as u64;
        out.registers = stats.gprs.into();
        out.spills = stats.spills.into();
        out.fills = stats.fills.into();
        out.scratch_bytes = stats.scratch_bytes.into();
        out.shared_bytes = stats.shared_bytes.into();
        out.loops = stats.loops.into();
        out.branches = stats.branches.into();
        out.occupancy = stats.occupancy;
        out.cycles = stats.cycles;
        out.cycles_lower_bound = stats.cycles_lower_bound;
        out.bound_unit = stats.bound_unit().to_owned();
        shader.machine = stats
            .machine()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), words::number(value)))
            .collect();
        shader.resources = compiled
            .resources
            .iter()
            .map(|slot| resource(&compiled.expanded, slot))
            .collect();
        shader.inputs = compiled
            .inputs
            .iter()
            .map(|slot| input(&compiled.expanded, slot))
            .collect();
        shader.outputs = compiled
            .outputs
            .iter()
            .map(|slot| output(&compiled.expanded, slot))
            .collect();
        shader.state = compiled
            .state
            .iter()
            .map(|register| {
                let fields: Map<String, Value> = register
                    .fields
                    .iter()
                    .map(|&(name, value)| (name.to_owned(), value.into()))
                    .collect();
                (
                    register.name.clone(),
                    json!({"address": register.address, "value": register.value, "fields": fields}),
                )
            })
            .collect();
        shader.driver_constants = compiled
            .driver_constants
            .iter()
            .map(|constant| driver_constant(&compiled.expanded, constant))
            .collect();
        shader.fetch_program = compiled
            .fetch_program
            .as_ref()
            .map(|code| crate::report::Code {
                bytes: code.len(),
                hex: crate::describe::hex(code),
            });
        shader.tables = (!compiled.tables.is_empty()).then(|| {
            json!({
                "resource": r700::TABLES,
                "stride": r700::TABLE_STRIDE,
                "bytes": compiled.tables.len(),
                "hex": crate::describe::hex(&compiled.tables),
            })
        });
        shader.dispatch = compiled.compute.map(|layout| {
            json!({
                "workgroup_size": compiled.expanded.workgroup_size,
                "threads_per_workgroup": layout.threads_per_workgroup,
                "workgroup_dwords": layout.workgroup_dwords,
            })
        });
    }
    fn with_code(&self, code: Vec<u8>) -> Box<dyn Program> {
        Box::new(Code {
            chip: self.chip,
            compiled: r700::Compiled {
                code,
                ..self.compiled.clone()
            },
        })
    }
    fn executor(&self, source: &SourceText) -> Result<Box<dyn Executor>, Failure> {
        crate::execute::r700::executor(self.chip, &self.compiled, source)
    }
}

fn resource(func: &Func, slot: &r700::ResourceSlot) -> Value {
    let mut places = Map::new();
    let all = [
        ("kcache", slot.slot.kcache),
        ("resource", slot.slot.resource),
        ("sampler", slot.slot.sampler),
        ("aperture_index", slot.slot.aperture_index),
    ];
    for (name, place) in all {
        if let Some(place) = place {
            places.insert(name.to_owned(), place.into());
        }
    }
    words::resource(func, slot.resource, places)
}

fn input(func: &Func, slot: &r700::InputSlot) -> Value {
    let mut object = words::input(func, slot.input);
    object.insert("register".into(), slot.register.into());
    object.insert("channel".into(), slot.channel.into());
    if let Some(interpolation) = slot.interpolation {
        object.insert(
            "interpolation".into(),
            words::interpolation(interpolation).into(),
        );
    }
    if let Some(semantic) = slot.semantic {
        object.insert("semantic".into(), semantic.into());
    }
    if let Some(fetch) = &slot.attribute {
        object.insert(
            "attribute".into(),
            json!({
                "resource": fetch.resource,
                "offset": fetch.offset,
                "format": fetch.format,
                "stride": fetch.stride,
                "step": if fetch.per_instance { "instance" } else { "vertex" },
            }),
        );
    }
    Value::Object(object)
}

fn output(func: &Func, slot: &r700::OutputSlot) -> Value {
    let mut object = words::output(func, slot.output, slot.components.into());
    object.insert("export".into(), slot.export.name().into());
    object.insert("index".into(), slot.index.into());
    object.insert("channel".into(), slot.channel.into());
    if let Some(semantic) = slot.semantic {
        object.insert("semantic".into(), semantic.into());
    }
    Value::Object(object)
}

fn driver_constant(func: &Func, constant: &r700::DriverConstant) -> Value {
    let (name, more) = match constant {
        r700::DriverConstant::NumWorkgroups => ("num_workgroups", None),
        r700::DriverConstant::Draw => ("draw", None),
        r700::DriverConstant::Storage { index } => (
            "storage_buffer",
            Some(("aperture_index", Value::from(*index))),
        ),
        r700::DriverConstant::Workgroup { .. } => ("workgroup_memory", None),
        r700::DriverConstant::Image {
            resource, element, ..
        } => {
            let data = &func.resources[*resource];
            let mut binding = json!({"group": data.group, "binding": data.binding});
            if data.count.is_some() {
                binding["element"] = (*element).into();
            }
            ("image", Some(("binding", binding)))
        }
    };
    let mut object = Map::new();
    object.insert("constant".into(), constant.constant().into());
    object.insert("what".into(), name.into());
    if let Some((key, value)) = more {
        object.insert(key.into(), value);
    }
    Value::Object(object)
}

/// Assembler and disassembler of a family.
pub struct R700Assembler(&'static isa::Isa);

/// A family's assembler.
pub fn assembler(family: r700::Family) -> &'static R700Assembler {
    static R600: R700Assembler = R700Assembler(&isa::R600);
    static R700: R700Assembler = R700Assembler(&isa::R700);
    match family {
        r700::Family::R600 => &R600,
        r700::Family::R700 => &R700,
    }
}

impl Assembler for R700Assembler {
    fn token_bytes(&self) -> usize {
        4
    }
    fn units(&self) -> &'static [&'static str] {
        &["program", "cf", "alu", "alu-slot", "fetch"]
    }
    fn disassemble(&self, unit: &str, code: &[u8]) -> Result<String, AssemblyError> {
        let wrong = |error: isa::DecodeError| AssemblyError::Code {
            offset: error.offset,
            message: error.reason.to_string(),
        };
        if unit == "program" {
            return isa::disasm::disassemble_of(self.0, code).map_err(wrong);
        }
        let words = isa::disasm::words_of(code).map_err(wrong)?;
        isa::disassemble_unit(self.0, kind_of(unit), &words).map_err(wrong)
    }
    fn assemble(&self, unit: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        let wrong = |error: gpucc_isa::Diagnostic| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        };
        if unit == "program" {
            let words = isa::asm::assemble_of(self.0, text).map_err(wrong)?;
            return Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect());
        }
        let words = isa::assemble_unit(self.0, kind_of(unit), text).map_err(wrong)?;
        Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }
    fn hex_lines(&self, code: &[u8]) -> String {
        // Control flow and ALU instructions are two dwords each.
        let mut text = String::with_capacity(code.len() * 3);
        for line in code.chunks(8) {
            for (index, word) in line.chunks(4).enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                let digits: String = word
                    .iter()
                    .rev()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                text.push_str("0x");
                text.push_str(&digits);
            }
            text.push('\n');
        }
        text
    }
}

fn kind_of(unit: &str) -> isa::UnitKind {
    isa::UnitKind::named(unit).expect("units() names only these")
}
