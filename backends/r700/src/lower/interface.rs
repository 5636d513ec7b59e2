//! Stage inputs and outputs: what stands in registers when the program starts, vertex attributes
//! that it fetches, invocation ids that it computes, and the exports at its end.

use super::{Lower, Place, narrow};
use crate::api::{Failure, Fetch};
use crate::inst::{Export, ExportType, GPR, Inst, Lane, MemWrite, Source, Space, Src, Vertex};
use crate::isa::AluOp;
use gpucc_ir::mach::{Cell, VReg};
use gpucc_ir::ssa::{Builtin, Imm, Input, InputKind, Op, Output, Region, Scalar, Stage, Value};
use gpucc_machine::described;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What the program finds at its start.
#[derive(Default)]
pub struct Inputs {
    /// Registers of components that are preloaded or fetched.
    components: BTreeMap<(Input, u8), Place>,
    /// Compute: the thread's number in the dispatch, its workgroup's, and its number within.
    pub(super) thread: Option<VReg>,
    pub(super) workgroup: Option<VReg>,
    pub(super) local: Option<VReg>,
    ids: BTreeMap<(u8, u8), Place>,
}

/// What the program leaves.
#[derive(Default)]
pub struct Outputs {
    lanes: BTreeMap<(Output, u8), OutputLane>,
}

#[derive(Copy, Clone)]
enum OutputLane {
    Value(Value),
    Reg(VReg),
}

/// How the vertex fetch reads a WebGPU vertex format: DATA_FORMAT, NUM_FORMAT, signed, components,
/// bytes, and the order of the components. R700 ISA 10.3, VTX_WORD1.
pub fn vertex_format(name: &str) -> Option<(u8, u8, bool, u8, u8, [u8; 4])> {
    let xyzw = [0, 1, 2, 3];
    if name == "unorm10-10-10-2" {
        return Some((25, 0, false, 4, 4, xyzw));
    }
    if name == "unorm8x4-bgra" {
        return Some((26, 0, false, 4, 4, [2, 1, 0, 3]));
    }
    let (scalar, count) = match name.split_once('x') {
        Some((scalar, count)) => (scalar, count.parse::<u8>().ok()?),
        None => (name, 1),
    };
    let digits = scalar.find(|c: char| c.is_ascii_digit())?;
    let (kind, bits) = scalar.split_at(digits);
    let bits: u8 = bits.parse().ok()?;
    let (num, signed) = match kind {
        "unorm" => (0, false),
        "snorm" => (0, true),
        "uint" => (1, false),
        "sint" => (1, true),
        "float" => (0, true),
        _ => return None,
    };
    let float = kind == "float";
    let data = match (bits, count, float) {
        (8, 1, false) => 1,
        (8, 2, false) => 7,
        (8, 4, false) => 26,
        (16, 1, false) => 5,
        (16, 2, false) => 15,
        (16, 4, false) => 31,
        (16, 1, true) => 6,
        (16, 2, true) => 16,
        (16, 4, true) => 32,
        (32, 1, false) => 13,
        (32, 2, false) => 29,
        (32, 3, false) => 47,
        (32, 4, false) => 34,
        (32, 1, true) => 14,
        (32, 2, true) => 30,
        (32, 3, true) => 48,
        (32, 4, true) => 35,
        _ => return None,
    };
    Some((data, num, signed, count, bits / 8 * count, xyzw))
}

impl Lower<'_> {
    /// The components of inputs that the code reads, in order.
    fn components_read(&self) -> Vec<(Input, u8)> {
        let mut list = Vec::new();
        for (region, ..) in self.ssa.regions_in_order() {
            for &inst in &self.ssa.regions[region].insts {
                let data = &self.ssa.insts[inst];
                if let (Op::Input, Imm::Input(input, component)) = (data.op, &data.imm) {
                    list.push((*input, *component));
                }
            }
        }
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Declares preloaded registers, fetches attributes and finds the outputs that need registers.
    pub(super) fn prologue(&mut self) -> Result<(), Failure> {
        let read = self.components_read();
        let mut entry: SmallVec<[(gpucc_ir::mach::Reg, Cell); 4]> = SmallVec::new();
        let mut vertex_index = None;
        let mut instance_index = None;
        let mut preload = |lower: &mut Self, register: u32, channel: u32| {
            let reg = lower.fresh();
            entry.push((reg.into(), Cell::at(GPR, 4, register as u16, channel as u8)));
            reg
        };
        match self.ssa.stage {
            Stage::Geometry => return Err(self.not_yet("geometry shaders")),
            Stage::Compute => {
                if read.iter().any(|&(input, _)| {
                    self.ssa.inputs[input].kind != InputKind::Builtin(Builtin::NumWorkgroups)
                }) || self.surplus_lanes()
                    || self.uses_workgroup_memory()
                {
                    self.inputs.thread = Some(preload(self, 0, 0));
                }
            }
            Stage::Fragment => {
                for &(input, component) in &read {
                    let slot = self.abi.input(input);
                    let Some(register) = slot.and_then(|slot| slot.register) else {
                        continue;
                    };
                    let channel = slot.map_or(0, |slot| slot.channel) + u32::from(component);
                    let reg = preload(self, register, channel);
                    self.inputs.components.insert((input, component), Place::Reg(reg));
                }
            }
            Stage::Vertex => {
                let separate = self.abi.pipeline.vertex.fetch == Fetch::Separate;
                let needs = |builtin: Builtin| {
                    read.iter().any(|&(input, _)| match self.ssa.inputs[input].kind {
                        InputKind::Builtin(b) => b == builtin,
                        InputKind::Corner { .. } => false,
                        InputKind::Location { .. } => {
                            let per_instance = self
                                .abi
                                .input(input)
                                .and_then(|slot| slot.attribute.as_ref())
                                .is_some_and(|attribute| attribute.per_instance);
                            !separate && per_instance == (builtin == Builtin::InstanceIndex)
                        }
                    })
                };
                let (vertex, instance) =
                    (needs(Builtin::VertexIndex), needs(Builtin::InstanceIndex));
                if vertex {
                    vertex_index = Some(preload(self, 0, 0));
                }
                if instance {
                    instance_index = Some(preload(self, 0, 3));
                }
                if separate {
                    for &(input, component) in &read {
                        if let InputKind::Location { location, .. } = self.ssa.inputs[input].kind {
                            if let Some(constant) = self.missing_component(input, component) {
                                self.inputs.components.insert((input, component), constant);
                                continue;
                            }
                            let reg = preload(self, 1 + location, component.into());
                            self.inputs.components.insert((input, component), Place::Reg(reg));
                        }
                    }
                }
            }
        }
        if !entry.is_empty() {
            self.push(Inst::Entry(entry));
        }
        if self.ssa.stage == Stage::Vertex {
            self.vertex_inputs(&read, vertex_index, instance_index)?;
        }
        if self.ssa.stage == Stage::Compute {
            self.split_thread();
        }
        self.outputs_in_registers();
        Ok(())
    }

    /// A component that an integer attribute's format lacks: 0, 0, 0, 1, which no fetch select gives.
    fn missing_component(&self, input: Input, component: u8) -> Option<Place> {
        let slot = self.abi.input(input)?;
        let (.., count, _, _) = vertex_format(&slot.attribute.as_ref()?.format)?;
        let integer =
            matches!(self.ssa.inputs[input].scalar, Scalar::I32 | Scalar::U32 | Scalar::Bool);
        (integer && component >= count).then(|| Place::Source(Src::Bits(u32::from(component == 3))))
    }

    fn vertex_inputs(
        &mut self,
        read: &[(Input, u8)],
        vertex: Option<VReg>,
        instance: Option<VReg>,
    ) -> Result<(), Failure> {
        let mut at = 0;
        while at < read.len() {
            let input = read[at].0;
            let end = at + read[at..].iter().take_while(|&&(other, _)| other == input).count();
            let components: SmallVec<[u8; 4]> = read[at..end].iter().map(|&(_, c)| c).collect();
            at = end;
            let data = &self.ssa.inputs[input];
            match data.kind {
                InputKind::Builtin(builtin) => {
                    let place = match builtin {
                        Builtin::VertexIndex => {
                            let first = self.driver_constant(1, 0);
                            let index = vertex.expect("preloaded when it is read");
                            Place::Reg(self.alu(AluOp::ADD_INT, &[Source::reg(index), first]))
                        }
                        Builtin::InstanceIndex => {
                            let first = self.driver_constant(1, 1);
                            let index = instance.expect("preloaded when it is read");
                            Place::Reg(self.alu(AluOp::ADD_INT, &[Source::reg(index), first]))
                        }
                        Builtin::BaseVertex => Place::Source(self.driver_constant(1, 0).src),
                        Builtin::BaseInstance => Place::Source(self.driver_constant(1, 1).src),
                        Builtin::DrawIndex => Place::Source(self.driver_constant(1, 2).src),
                        other => {
                            return Err(self.not_yet(format!("the vertex input {other:?}")));
                        }
                    };
                    self.inputs.components.insert((input, 0), place);
                }
                InputKind::Location { .. } if self.abi.pipeline.vertex.fetch == Fetch::Inline => {
                    self.fetch_attribute(input, &components, vertex, instance)?;
                }
                InputKind::Location { .. } | InputKind::Corner { .. } => {}
            }
        }
        Ok(())
    }

    fn fetch_attribute(
        &mut self,
        input: Input,
        components: &[u8],
        vertex: Option<VReg>,
        instance: Option<VReg>,
    ) -> Result<(), Failure> {
        let attribute = self
            .abi
            .input(input)
            .and_then(|slot| slot.attribute.clone())
            .expect("the ABI gives every location that is read an attribute");
        let Some((data_format, num_format, signed, count, bytes, order)) =
            vertex_format(&attribute.format)
        else {
            return Err(self.not_yet(format!("the vertex format {}", attribute.format)));
        };
        let mut dst = [None; 4];
        let mut select = [0; 4];
        for &component in components {
            let place = if component < count {
                let reg = self.fresh();
                dst[usize::from(component)] = Some(reg.into());
                select[usize::from(component)] = order[usize::from(component)];
                Place::Reg(reg)
            } else {
                // Missing components are 0, 0, 0, 1 of the input's own kind.
                let one = match self.ssa.inputs[input].scalar {
                    Scalar::F32 | Scalar::F16 => 0x3f80_0000,
                    Scalar::I32 | Scalar::U32 | Scalar::Bool => 1,
                };
                Place::Source(Src::Bits(if component == 3 { one } else { 0 }))
            };
            self.inputs.components.insert((input, component), place);
        }
        if dst.iter().all(Option::is_none) {
            return Ok(());
        }
        let index = if attribute.per_instance { instance } else { vertex };
        self.push(Inst::Vertex(Vertex {
            resource: narrow(attribute.resource),
            index: index.expect("preloaded when an attribute needs it").into(),
            dst,
            offset: narrow(attribute.offset),
            data_format,
            num_format,
            signed,
            bytes,
            fetch_type: u8::from(attribute.per_instance),
            select,
        }));
        Ok(())
    }

    pub(super) fn input(
        &mut self,
        result: Value,
        input: Input,
        component: u8,
    ) -> Result<(), Failure> {
        let kind = self.ssa.inputs[input].kind;
        let place = match kind {
            InputKind::Builtin(builtin) if self.ssa.stage == Stage::Compute => {
                self.invocation(builtin, component)?
            }
            // The unit gives w; WGSL wants 1/w. isa/r700.md 2.1.
            InputKind::Builtin(Builtin::Position)
                if self.ssa.stage == Stage::Fragment && component == 3 =>
            {
                let w = self.loaded(input, 3)?;
                Place::Reg(self.alu(AluOp::RECIP_IEEE, &[w]))
            }
            // 1.0 and -1.0, as public drivers have it.
            InputKind::Builtin(Builtin::FrontFacing) => {
                let face = self.loaded(input, 0)?;
                Place::Reg(self.alu(AluOp::SETGT_DX10, &[face, Source::bits(0)]))
            }
            _ => match self.inputs.components.get(&(input, component)) {
                Some(&place) => place,
                None => {
                    let name = &self.ssa.inputs[input].name;
                    return Err(self.not_yet(format!("the input {name} ({kind:?})")));
                }
            },
        };
        self.values[result] = Some(place);
        Ok(())
    }

    /// What the hardware loads for a component of an input.
    fn loaded(&self, input: Input, component: u8) -> Result<Source, Failure> {
        match self.inputs.components.get(&(input, component)) {
            Some(&Place::Reg(reg)) => Ok(Source::reg(reg)),
            _ => Err(self.not_yet(format!("the input {}", self.ssa.inputs[input].name))),
        }
    }

    /// The thread's number.
    pub(super) fn thread(&self) -> Source {
        Source::reg(self.inputs.thread.expect("preloaded when ids are read"))
    }

    fn invocation(&mut self, builtin: Builtin, component: u8) -> Result<Place, Failure> {
        let key = match builtin {
            Builtin::GlobalInvocationId => 0,
            Builtin::LocalInvocationId => 1,
            Builtin::WorkgroupId => 2,
            Builtin::LocalInvocationIndex => {
                return Ok(match self.inputs.local {
                    Some(local) => Place::Reg(local),
                    None => Place::Source(Src::Bits(0)),
                });
            }
            Builtin::NumWorkgroups => {
                return Ok(Place::Source(self.driver_constant(0, component).src));
            }
            other => return Err(self.not_yet(format!("the compute input {other:?}"))),
        };
        // Only ids at the top of the program are shared: there they dominate everything.
        if let Some(&place) = self.inputs.ids.get(&(key, component)) {
            return Ok(place);
        }
        let place = match key {
            1 => self.local_id(component),
            2 => self.workgroup_id(component),
            _ => {
                let workgroup = self.workgroup_id(component);
                let local = self.local_id(component);
                self.global_id(workgroup, local, component)
            }
        };
        if self.at_top {
            self.inputs.ids.insert((key, component), place);
        }
        Ok(place)
    }

    /// Outputs that are written under a condition live in registers that start as zeros.
    fn outputs_in_registers(&mut self) {
        let mut conditional: Vec<(Output, u8)> = Vec::new();
        let body: Region = self.ssa.body;
        for (region, ..) in self.ssa.regions_in_order() {
            for &inst in &self.ssa.regions[region].insts {
                if let Imm::Output(output, component) = self.ssa.insts[inst].imm
                    && (region != body || self.outputs_twice(output, component))
                {
                    conditional.push((output, component));
                }
            }
        }
        conditional.sort_unstable();
        conditional.dedup();
        for key in conditional {
            let reg = self.alu(AluOp::MOV, &[Source::bits(0)]);
            self.outputs.lanes.insert(key, OutputLane::Reg(reg));
        }
    }

    fn outputs_twice(&self, output: Output, component: u8) -> bool {
        let body = &self.ssa.regions[self.ssa.body].insts;
        body.iter()
            .filter(|&&inst| self.ssa.insts[inst].imm == Imm::Output(output, component))
            .count()
            > 1
    }

    pub(super) fn output(
        &mut self,
        output: Output,
        component: u8,
        value: Value,
    ) -> Result<(), Failure> {
        if let Some(OutputLane::Reg(reg)) = self.outputs.lanes.get(&(output, component)).copied() {
            self.assign(&[reg], &[value]);
        } else {
            self.outputs.lanes.insert((output, component), OutputLane::Value(value));
        }
        Ok(())
    }

    /// Transform feedback: outputs that the pipeline streams, before they are exported. R700 ISA 3.4.2.
    fn stream_outputs(&mut self) {
        if self.ssa.stage != Stage::Vertex {
            return;
        }
        for stream in &self.abi.pipeline.vertex.stream.outputs {
            let Some(slot) = self.abi.streamed(self.ssa, stream).cloned() else {
                continue;
            };
            let mut src = [None; 4];
            for component in 0..slot.components.min(4) {
                let lane = self.outputs.lanes.get(&(slot.output, component as u8)).copied();
                src[component as usize] = lane.map(|lane| {
                    let reg = match lane {
                        OutputLane::Reg(reg) => reg,
                        OutputLane::Value(value) => self.reg(value),
                    };
                    self.alu(AluOp::MOV, &[Source::reg(reg)]).into()
                });
            }
            if src.iter().all(Option::is_none) {
                continue;
            }
            self.push(Inst::MemWrite(MemWrite {
                space: Space::Stream(narrow(stream.buffer)),
                index: None,
                base: narrow(stream.offset / 4),
                size: 0xFFF,
                src,
                elements: [1, 2, 4, 4][slot.components.clamp(1, 4) as usize - 1],
                slot: None,
                valid: false,
            }));
        }
    }

    /// The exports. R700 ISA 3.4.1: each type's last one is EXPORT_DONE, and each stage makes at
    /// least one of its types.
    pub(super) fn epilogue(&mut self) -> Result<(), Failure> {
        let mut rows: BTreeMap<(ExportType, u8), [Option<OutputLane>; 4]> = BTreeMap::new();
        match self.ssa.stage {
            Stage::Fragment => {}
            Stage::Vertex | Stage::Geometry | Stage::Compute => {
                rows.insert((ExportType::Position, 60), [None; 4]);
            }
        }
        for slot in &self.abi.outputs {
            let ty = match slot.export {
                described::Export::Pixel | described::Export::Depth => ExportType::Pixel,
                described::Export::Position => ExportType::Position,
                described::Export::Parameter => ExportType::Parameter,
            };
            let row = rows.entry((ty, narrow(slot.index))).or_insert([None; 4]);
            for component in 0..slot.components {
                let lane = self.outputs.lanes.get(&(slot.output, component as u8)).copied();
                if lane.is_some() {
                    row[(slot.channel + component) as usize] = lane;
                }
            }
        }
        // EXPORT_MODE counts colours from 0, and one at least: what nobody writes is exported too, masked.
        let (needed, last) = match self.ssa.stage {
            Stage::Fragment => {
                let colors = rows.keys().filter(|&&(_, index)| index < 8);
                (ExportType::Pixel, colors.map(|&(_, index)| index).max().unwrap_or(0))
            }
            Stage::Vertex | Stage::Geometry | Stage::Compute => (ExportType::Parameter, 0),
        };
        for index in 0..=last {
            rows.entry((needed, index)).or_insert([None; 4]);
        }
        self.stream_outputs();
        // Memory first, then exports in the order of their numbers; depth comes after colours.
        let list: Vec<_> = rows.into_iter().collect();
        let mut exports = Vec::with_capacity(list.len());
        let mut moved: BTreeMap<Value, VReg> = BTreeMap::new();
        for (at, &((ty, base), row)) in list.iter().enumerate() {
            let mut src = [Lane::Masked; 4];
            for (lane, from) in src.iter_mut().zip(row) {
                *lane = match from {
                    None => Lane::Masked,
                    Some(OutputLane::Reg(reg)) => Lane::Reg(reg.into()),
                    Some(OutputLane::Value(value)) => match self.const_bits(value) {
                        Some(0) => Lane::Zero,
                        Some(0x3f80_0000) => Lane::One,
                        _ => {
                            let reg = match moved.get(&value) {
                                Some(&reg) => reg,
                                None => self.reg(value),
                            };
                            moved.insert(value, reg);
                            Lane::Reg(reg.into())
                        }
                    },
                };
            }
            let done = list.get(at + 1).is_none_or(|&((next, _), _)| next != ty);
            exports.push(Inst::Export(Export { ty, base, src, done }));
        }
        for export in exports {
            self.push(export);
        }
        Ok(())
    }
}
