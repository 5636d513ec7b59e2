//! Where bindings, inputs, outputs and driver values stand: the program ABI, worked out for one
//! function. docs/abi-valhall.md says it in words.

use crate::api::{Failure, FauWord, Options, State, Uniforms, VertexForm};
use crate::limits;
use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::numerics::{f16_to_f64, f64_to_f16};
use gpucc_ir::ssa::{
    Builtin, Func, Imm, Input, InputKind, Interpolation, Mem, MemSpace, Op, Output, OutputKind,
    Resource, ResourceKind, Sampling, Scalar, Stage, TexKind, Value,
};
use gpucc_machine::Taken;
use gpucc_machine::described::{
    Attribute, AttributePlace, ConstantBuffer, Handed, ImageWord, InputPlace, Memory, OutputPlace,
    TableUse,
};
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of the resource tables.
pub mod table {
    /// Uniform buffers, immediates, the info buffer.
    pub const UNIFORM: u32 = 0;
    /// Attribute descriptors.
    pub const ATTRIBUTE: u32 = 1;
    /// Vertex buffers.
    pub const VERTEX_BUFFER: u32 = 2;
    /// Samplers.
    pub const SAMPLER: u32 = 3;
    /// Sampled textures.
    pub const TEXTURE: u32 = 4;
    /// Storage textures.
    pub const IMAGE: u32 = 5;
    /// Storage buffers.
    pub const STORAGE: u32 = 6;
    /// The vertex packet of IDVS.
    pub const IDVS: u32 = 61;
}

/// FAU words that pushed uniforms may take, of 64 slots of 64 bits (isa/valhall_rogue.md 1.2); the rest is for system values
/// and constants.
const PUSHED_WORDS: usize = 96;
/// Locations that a varying record has room for.
pub const VARYINGS: u32 = 32;
/// Bytes of a record in the info buffer.
pub const INFO_RECORD: u32 = 48;
/// Byte offset within a buffer's record of the bytes that are bound.
pub const INFO_BUFFER_SIZE: u32 = 0;

/// Byte offset within an image's record of a word.
pub fn info_offset(word: ImageWord) -> u32 {
    let number = match word {
        ImageWord::Width => 0,
        ImageWord::Height => 1,
        ImageWord::Depth => 2,
        ImageWord::Layers => 3,
        ImageWord::Levels => 4,
        ImageWord::Samples => 5,
        ImageWord::EdgeLowX => 6,
        ImageWord::EdgeLowY => 7,
        ImageWord::EdgeHighX => 8,
        ImageWord::EdgeHighY => 9,
    };
    4 * number
}

/// Where a binding of the shader stands: its handle is `table << 24 | index`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Resource table.
    pub table: u32,
    /// Entry of the table; element e of a binding array stands at `index + e`.
    pub index: u32,
    /// Entries: elements of a binding array, else 1.
    pub count: u32,
}

impl Slot {
    /// The handle of element 0.
    pub const fn handle(self) -> u32 {
        self.table << 24 | self.index
    }
}

/// An input and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSlot {
    /// The input in the expanded SSA.
    pub input: Input,
    /// Its place.
    pub place: InputPlace,
    /// How it comes in (vertex attributes).
    pub attribute: Option<Attribute>,
    /// How it varies (fragment).
    pub interpolation: Option<Interpolation>,
    /// Where it is taken (fragment).
    pub sampling: Option<Sampling>,
}

impl InputSlot {
    fn of(input: Input, place: InputPlace) -> InputSlot {
        InputSlot { input, place, attribute: None, interpolation: None, sampling: None }
    }
}

/// An output and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSlot {
    /// The output in the expanded SSA.
    pub output: Output,
    /// Its place.
    pub place: OutputPlace,
    /// Components.
    pub components: u8,
}

/// The ABI of one function.
#[derive(Clone, Debug, Default)]
pub struct Abi {
    /// Place of each binding that the code uses.
    pub slots: SecondaryMap<Resource, Slot>,
    /// The bindings with a place, in order.
    pub used: Vec<Resource>,
    /// Place of each input that the code reads.
    pub inputs: Vec<InputSlot>,
    /// Place of each output.
    pub outputs: Vec<OutputSlot>,
    /// State with everything inferred.
    pub pipeline: State,
    /// What was inferred.
    pub notes: Vec<String>,
    /// Bytes of a varying record.
    pub varying_stride: u32,
    /// Bytes of workgroup memory.
    pub wls_bytes: u32,
    /// Byte offset of each workgroup variable.
    pub workgroup_offset: SecondaryMap<Mem, u32>,
    /// Entry of table 0 of the info buffer.
    pub info_buffer: Option<u32>,
    /// Tables of constants, each a uniform buffer of the driver's: entry of table 0, and the words.
    pub constants: BTreeMap<Mem, ConstantBuffer>,
    /// First record in the info buffer of binding arrays that are asked about by a run-time element.
    pub info: BTreeMap<Resource, u32>,
    /// Uniform words that stand in FAU.
    pushed: BTreeSet<(Resource, u32)>,
}

/// What the code refers to.
#[derive(Default)]
struct Uses {
    resources: Vec<bool>,
    inputs: Vec<bool>,
    mems: Vec<bool>,
    /// Binding arrays whose sizes are asked for by an element that is not a constant.
    asked: BTreeSet<Resource>,
    /// Words of uniform buffers at constant addresses, with how often they are loaded.
    words: BTreeMap<(Resource, u32), u32>,
    /// For each output what its components are.
    outputs: Vec<Components>,
}

/// What the components of an output are.
#[derive(Copy, Clone, Default)]
struct Components {
    /// Those that are written, one bit each.
    written: u8,
    /// Those that are constants.
    constant: u8,
    /// A component is no f16 that stays what it is as an f32, or it is not written once on every path.
    other: bool,
}

impl Components {
    /// Packing as f16 takes two instructions, and each constant one as f32; what is not written is 0. A colour that nobody
    /// writes is not handed over.
    fn are_halves(self) -> bool {
        let varying = self.written & !self.constant;
        self.written != 0 && !self.other && 4 - varying.count_ones() > 2
    }
}

/// Choices within one another that are looked into.
const CHOICES: u32 = 3;
/// The least normal f16.
const LEAST_HALF: f64 = 1.0 / 16384.0;

/// An f32 that f16 holds too, without being a denormal there: a constant, or a choice among such.
fn is_half(func: &Func, value: Value, depth: u32) -> bool {
    match func.def(value) {
        Some(data) if data.op == Op::Select && depth > 0 => {
            data.args[1..].iter().all(|&arg| is_half(func, arg, depth - 1))
        }
        _ => func.as_const(value).is_some_and(|bits| {
            let wide = f64::from(f32::from_bits(bits as u32));
            let normal = wide == 0.0 || wide.abs() >= LEAST_HALF && wide.is_finite();
            normal && f16_to_f64(f64_to_f16(wide)).to_bits() == wide.to_bits()
        }),
    }
}

fn uses(func: &Func) -> Uses {
    let mut uses = Uses {
        resources: vec![false; func.resources.len()],
        inputs: vec![false; func.inputs.len()],
        mems: vec![false; func.mems.len()],
        outputs: vec![Components::default(); func.outputs.len()],
        ..Uses::default()
    };
    let index = |r: Resource| r.as_u32() as usize;
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let asks = |r: Resource| {
                func.resources[r].count.is_some() && func.as_const(data.args[0]).is_none()
            };
            match data.imm {
                Imm::Resource(r) => {
                    uses.resources[index(r)] = true;
                    if data.op == Op::BufferSize && asks(r) {
                        uses.asked.insert(r);
                    }
                    if data.op == Op::BufferLoad {
                        uses.count_words(func, inst, r);
                    }
                }
                Imm::BufferAtomic(r, _) | Imm::ImageAtomic(r, _) => {
                    uses.resources[index(r)] = true;
                }
                Imm::Query(r, _) => {
                    uses.resources[index(r)] = true;
                    if asks(r) {
                        uses.asked.insert(r);
                    }
                }
                Imm::Tex(tex) => {
                    uses.resources[index(tex.texture)] = true;
                    if let Some(sampler) = tex.sampler.expand() {
                        uses.resources[index(sampler)] = true;
                    }
                    if tex.kind == TexKind::SampleBaseClampToEdge && asks(tex.texture) {
                        uses.asked.insert(tex.texture);
                    }
                }
                Imm::Input(input, _) => uses.inputs[input.as_u32() as usize] = true,
                Imm::Output(output, component) => {
                    let (own, bit) = (&mut uses.outputs[output.as_u32() as usize], 1 << component);
                    let value = data.args[0];
                    own.other |= region != func.body
                        || own.written & bit != 0
                        || func.outputs[output].scalar != Scalar::F32
                        || !is_half(func, value, CHOICES);
                    own.written |= bit;
                    if func.as_const(value).is_some() {
                        own.constant |= bit;
                    }
                }
                Imm::Mem(access) | Imm::MemAtomic(access, _) => {
                    uses.mems[access.mem.as_u32() as usize] = true;
                }
                _ => {}
            }
        }
    }
    uses
}

impl Uses {
    fn count_words(&mut self, func: &Func, inst: gpucc_ir::ssa::Inst, resource: Resource) {
        let data = &func.insts[inst];
        let resource_data = &func.resources[resource];
        let pushable = matches!(
            resource_data.kind,
            ResourceKind::Uniform { .. } | ResourceKind::Immediate { .. }
        );
        if !pushable || resource_data.count.is_some() {
            return;
        }
        let Some(address) = func.as_const(data.args[0]) else {
            return;
        };
        let mut at = address as u32;
        for &result in &data.results {
            // What nobody bounds may wrap; no word there is worth pushing.
            let Some(end) = at.checked_add(func.ty(result).bytes()) else {
                return;
            };
            for word in (at & !3..end).step_by(4) {
                *self.words.entry((resource, word)).or_default() += 1;
            }
            at = end;
        }
    }
}

impl Abi {
    /// Gives everything that the code uses a place.
    ///
    /// # Errors
    /// [`Failure::Limit`] when a kind has more bindings than the machine has places.
    pub fn of(func: &Func, options: &Options) -> Result<Abi, Failure> {
        let uses = uses(func);
        let mut abi = Abi { pipeline: options.pipeline.clone(), ..Abi::default() };
        if func.stage == Stage::Vertex {
            abi.pipeline.vertex.stream.check(func)?;
        }
        if func.stage == Stage::Vertex && abi.pipeline.vertex.form == VertexForm::Idvs {
            let facts = crate::state::Facts::of(func);
            let builtin = |wanted: fn(Builtin) -> bool| {
                let mut outputs = func.outputs.values();
                outputs.any(|o| matches!(o.kind, OutputKind::Builtin(found) if wanted(found)))
            };
            let why = if builtin(|found| matches!(found, Builtin::Streamed(_))) {
                Some(
                    "is captured, so it is one program: varyings of IDVS are computed for visible primitives alone",
                )
            } else if builtin(|found| matches!(found, Builtin::CullDistance(_))) {
                Some(
                    "has cull distances, so it is one program: primitives go by them before the tiler sees any",
                )
            } else if facts.effects {
                Some("writes memory, so it is one program: cut in two it would write twice")
            } else if facts.grouped {
                Some(
                    "looks at its subgroup, so it is one program: position programs run in half warps",
                )
            } else {
                None
            };
            if let Some(why) = why {
                abi.pipeline.vertex.form = VertexForm::Plain;
                abi.notes.push(format!("the vertex program {why}"));
            }
        }
        abi.bindings(func, &uses)?;
        abi.push_words(func, &uses);
        abi.workgroup_memory(func, &uses)?;
        match func.stage {
            Stage::Vertex => abi.vertex(func, &uses)?,
            Stage::Fragment => abi.fragment(func, &uses)?,
            // The machine has no such programs (`refuse`).
            Stage::Geometry => {}
            Stage::Compute => {
                for (input, _) in func.inputs.iter() {
                    if uses.inputs[input.as_u32() as usize] {
                        abi.inputs.push(InputSlot::of(input, InputPlace::Elsewhere {}));
                    }
                }
            }
        }
        Ok(abi)
    }

    fn bindings(&mut self, func: &Func, uses: &Uses) -> Result<(), Failure> {
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        for (resource, data) in func.resources.iter() {
            if !uses.resources[resource.as_u32() as usize] {
                continue;
            }
            let table = match data.kind {
                ResourceKind::Uniform { .. } => table::UNIFORM,
                // Immediates follow the uniform buffers, wherever those end.
                ResourceKind::Immediate { .. } => continue,
                ResourceKind::Storage { .. } => table::STORAGE,
                ResourceKind::Texture { .. } => table::TEXTURE,
                ResourceKind::StorageTexture { .. } => table::IMAGE,
                ResourceKind::Sampler { .. } => table::SAMPLER,
            };
            let wanted = self
                .pipeline
                .bindings
                .iter()
                .find(|slot| (slot.group, slot.binding) == (data.group, data.binding))
                .map(|slot| slot.slot);
            self.place(resource, table, wanted, data.count.unwrap_or(1), &mut next)?;
        }
        for (resource, data) in func.resources.iter() {
            let used = uses.resources[resource.as_u32() as usize];
            if used && matches!(data.kind, ResourceKind::Immediate { .. }) {
                self.place(resource, table::UNIFORM, None, 1, &mut next)?;
            }
        }
        let mut records = 0;
        for &resource in &uses.asked {
            self.info.insert(resource, records * INFO_RECORD);
            records += self.slots[resource].count;
        }
        if records > 0 {
            self.info_buffer = Some(next.get(&table::UNIFORM).copied().unwrap_or(0));
        }
        let mut index =
            next.get(&table::UNIFORM).copied().unwrap_or(0) + u32::from(self.info_buffer.is_some());
        for (mem, data) in func.mems.iter() {
            if data.space == MemSpace::Constant && uses.mems[mem.as_u32() as usize] {
                let words = data.words.clone();
                self.constants.insert(mem, ConstantBuffer { index, words });
                index += 1;
            }
        }
        Ok(())
    }

    fn place(
        &mut self,
        resource: Resource,
        table: u32,
        wanted: Option<u32>,
        count: u32,
        next: &mut BTreeMap<u32, u32>,
    ) -> Result<(), Failure> {
        let free = next.entry(table).or_default();
        let index = wanted.unwrap_or(*free);
        let end = u64::from(index) + u64::from(count);
        limits::TABLE.admit(end)?;
        *free = (*free).max(end as u32);
        self.slots[resource] = Slot { table, index, count };
        self.used.push(resource);
        Ok(())
    }

    /// Chooses the uniform words that stand in FAU: immediates always, uniform buffers when asked
    /// for; the most often loaded first when there are too many.
    fn push_words(&mut self, func: &Func, uses: &Uses) {
        let mut words: Vec<(u32, Resource, u32)> = uses
            .words
            .iter()
            .filter(|&(&(resource, _), _)| match func.resources[resource].kind {
                ResourceKind::Immediate { .. } => true,
                _ => self.pipeline.uniforms == Uniforms::Pushed,
            })
            .map(|(&(resource, offset), &count)| (count, resource, offset))
            .collect();
        words
            .sort_by_key(|&(count, resource, offset)| (std::cmp::Reverse(count), resource, offset));
        words.truncate(PUSHED_WORDS);
        self.pushed = words.into_iter().map(|(_, r, offset)| (r, offset)).collect();
    }

    /// The handle of the buffer that holds a table of constants.
    pub fn constant_buffer(&self, mem: Mem) -> u32 {
        let index = self.constants.get(&mem).map_or(0, |table| table.index);
        table::UNIFORM << 24 | index
    }

    /// The FAU word that holds the 32 bits at a constant offset of a uniform buffer, when it was
    /// pushed.
    pub fn pushed(&self, resource: Resource, offset: u32) -> Option<FauWord> {
        self.pushed.contains(&(resource, offset)).then_some(FauWord::Uniform { resource, offset })
    }

    fn workgroup_memory(&mut self, func: &Func, uses: &Uses) -> Result<(), Failure> {
        let mut bytes = 0u64;
        for (mem, data) in func.mems.iter() {
            if data.space == MemSpace::Workgroup && uses.mems[mem.as_u32() as usize] {
                // A load of up to four words must not leave its 16-byte line.
                bytes = bytes.next_multiple_of(16);
                self.workgroup_offset[mem] = bytes as u32;
                bytes += u64::from(data.size);
            }
        }
        limits::WORKGROUP.admit(bytes)?;
        self.wls_bytes = bytes as u32;
        Ok(())
    }

    fn vertex(&mut self, func: &Func, uses: &Uses) -> Result<(), Failure> {
        self.notes.extend(self.pipeline.vertex.infer(func));
        for (input, data) in func.inputs.iter() {
            if !uses.inputs[input.as_u32() as usize] {
                continue;
            }
            let mut slot = InputSlot::of(input, InputPlace::Elsewhere {});
            match data.kind {
                InputKind::Builtin(Builtin::VertexIndex) => slot.place = register(60),
                InputKind::Builtin(Builtin::InstanceIndex) => slot.place = register(61),
                InputKind::Builtin(Builtin::DrawIndex) => slot.place = register(62),
                InputKind::Builtin(_) | InputKind::Corner { .. } => {}
                InputKind::Location { location, .. } => {
                    limits::LOCATIONS.admit(u64::from(location) + 1)?;
                    let vertex = &self.pipeline.vertex;
                    let attribute = vertex
                        .attribute(location)
                        .expect("inferred above, whether the code reads it or not")
                        .clone();
                    let buffer = vertex.buffer(&attribute);
                    slot.attribute = Some(Attribute {
                        place: AttributePlace::Descriptors {
                            index: location,
                            buffer: attribute.buffer,
                        },
                        offset: attribute.offset,
                        format: attribute.format,
                        stride: buffer.stride,
                        step: buffer.step,
                    });
                }
            }
            self.inputs.push(slot);
        }
        let plain = self.pipeline.vertex.form == VertexForm::Plain;
        let mut descriptor = func
            .inputs
            .values()
            .filter_map(|data| match data.kind {
                InputKind::Location { location, .. } => Some(location.saturating_add(1)),
                InputKind::Builtin(_) | InputKind::Corner { .. } => None,
            })
            .max()
            .unwrap_or(0);
        for (output, data) in func.outputs.iter() {
            let place = match data.kind {
                OutputKind::Builtin(Builtin::Streamed(number)) => {
                    let entry = &self.pipeline.vertex.stream.outputs[usize::from(number)];
                    let (buffer, place) = (entry.buffer, Memory::TransformFeedback);
                    OutputPlace::Stream { buffer, place, index: entry.offset }
                }
                _ if plain => {
                    limits::TABLE.admit(u64::from(descriptor) + 1)?;
                    descriptor += 1;
                    OutputPlace::Indexed { place: Memory::Attribute, index: descriptor - 1 }
                }
                OutputKind::Builtin(Builtin::Position) => single(Memory::Position),
                OutputKind::Builtin(Builtin::PointSize) if self.pipeline.vertex.without_points => {
                    continue;
                }
                OutputKind::Builtin(Builtin::PointSize) => single(Memory::PointSize),
                OutputKind::Builtin(Builtin::Layer) => single(Memory::Layer),
                OutputKind::Builtin(Builtin::ClipDistance(first)) => {
                    self.varying(16 * VARYINGS + 4 * u32::from(first), data.components)
                }
                OutputKind::Builtin(_) => continue,
                OutputKind::Location { location, .. } => {
                    limits::VARYINGS.admit(u64::from(location) + 1)?;
                    self.varying(16 * location, 4)
                }
            };
            self.outputs.push(OutputSlot { output, place, components: data.components });
        }
        Ok(())
    }

    /// Components of the varying record.
    fn varying(&mut self, at: u32, components: u8) -> OutputPlace {
        let end = (at + 4 * u32::from(components)).next_multiple_of(16);
        self.varying_stride = self.varying_stride.max(end);
        OutputPlace::Indexed { place: Memory::Varying, index: at }
    }

    fn fragment(&mut self, func: &Func, uses: &Uses) -> Result<(), Failure> {
        for (input, data) in func.inputs.iter() {
            if !uses.inputs[input.as_u32() as usize] {
                continue;
            }
            let slot = match data.kind {
                InputKind::Corner { .. } => continue,
                InputKind::Location { location, interpolation, sampling } => {
                    limits::VARYINGS.admit(u64::from(location) + 1)?;
                    self.varying_stride = self.varying_stride.max(16 * (location + 1));
                    InputSlot {
                        interpolation: Some(interpolation),
                        sampling: Some(sampling),
                        ..InputSlot::of(input, InputPlace::Record { varying: 16 * location })
                    }
                }
                InputKind::Builtin(builtin) => {
                    let place = match builtin {
                        Builtin::PrimitiveIndex => register(57),
                        Builtin::FrontFacing => register(58),
                        Builtin::ViewIndex | Builtin::Layer => register(62),
                        _ => InputPlace::Elsewhere {},
                    };
                    InputSlot::of(input, place)
                }
            };
            self.inputs.push(slot);
        }
        // Two sources have one format.
        let two = |location: u32| {
            let second = |kind: OutputKind| matches!(kind, OutputKind::Location { location: own, blend_src: 1, .. } if own == location);
            func.outputs.values().any(|data| second(data.kind))
        };
        let halves = |location: u32, output: Output| {
            uses.outputs[output.as_u32() as usize].are_halves() && !two(location)
        };
        for (output, data) in func.outputs.iter() {
            let place = match data.kind {
                OutputKind::Location { location, blend_src, .. } => {
                    limits::COLOR_TARGETS.admit(u64::from(location) + 1)?;
                    OutputPlace::Blend {
                        // What BLEND hands over: the blend descriptor's conversion starts from it.
                        format: match halves(location, output) {
                            true => Handed::F16,
                            false => Handed::of(data.scalar),
                        },
                        source: blend_src.into(),
                        place: Memory::Blend,
                        index: location,
                    }
                }
                OutputKind::Builtin(Builtin::FragDepth) => single(Memory::Depth),
                OutputKind::Builtin(Builtin::StencilRef) => single(Memory::Stencil),
                OutputKind::Builtin(Builtin::SampleMask) => single(Memory::Coverage),
                OutputKind::Builtin(_) => continue,
            };
            self.outputs.push(OutputSlot { output, place, components: data.components });
        }
        Ok(())
    }

    /// How many entries of each table the program needs.
    pub fn tables(&self) -> Vec<TableUse> {
        let mut entries: BTreeMap<u32, u32> = BTreeMap::new();
        let mut need = |table: u32, end: u32| {
            let most = entries.entry(table).or_default();
            *most = (*most).max(end);
        };
        for &resource in &self.used {
            let slot = self.slots[resource];
            need(slot.table, slot.index + slot.count);
        }
        if let Some(index) = self.info_buffer {
            need(table::UNIFORM, index + 1);
        }
        for constants in self.constants.values() {
            need(table::UNIFORM, constants.index + 1);
        }
        for input in &self.inputs {
            if let Some(Attribute {
                place: AttributePlace::Descriptors { index, buffer }, ..
            }) = input.attribute
            {
                need(table::ATTRIBUTE, index + 1);
                need(table::VERTEX_BUFFER, buffer + 1);
            }
        }
        for output in &self.outputs {
            match output.place {
                OutputPlace::Single {
                    place: Memory::Position | Memory::PointSize | Memory::Layer,
                }
                | OutputPlace::Indexed { place: Memory::Varying, .. } => need(table::IDVS, 1),
                OutputPlace::Indexed { place: Memory::Attribute, index } => {
                    need(table::ATTRIBUTE, index + 1);
                }
                _ => {}
            }
        }
        entries.into_iter().map(|(table, entries)| TableUse { table, entries }).collect()
    }

    /// The entries of the resource tables that the bindings take. docs/abi-valhall.md, Resource tables.
    pub fn taken(&self) -> impl Iterator<Item = Taken> {
        let name = |number: u32| match number {
            table::UNIFORM => "uniform buffers",
            table::SAMPLER => "samplers",
            table::TEXTURE => "textures",
            table::IMAGE => "storage textures",
            table::STORAGE => "storage buffers",
            _ => "other tables",
        };
        self.used.iter().map(move |&resource| {
            let Slot { table, index, count } = self.slots[resource];
            Taken { resource, table: name(table), first: index, count }
        })
    }
}

fn register(register: u32) -> InputPlace {
    InputPlace::Register { register }
}

fn single(place: Memory) -> OutputPlace {
    OutputPlace::Single { place }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::BindingSlot;
    use gpucc_ir::ssa::{Builder, Imm, OutputData, ResourceData, Scalar, Type};

    fn uniform(binding: u32, kind: ResourceKind) -> ResourceData {
        ResourceData {
            group: 0,
            binding,
            name: format!("b{binding}"),
            kind,
            count: None,
            scalar: Scalar::F32,
            mixed: false,
        }
    }

    /// A compute function that loads words of two uniform buffers and of the immediates.
    fn loads() -> Func {
        let mut func = Func::new("main", Stage::Compute);
        let immediate = func.resources.push(uniform(0, ResourceKind::Immediate { size: 16 }));
        let first = func.resources.push(uniform(1, ResourceKind::Uniform { size: 64 }));
        let second = func.resources.push(uniform(2, ResourceKind::Uniform { size: 64 }));
        let mut b = Builder::at_body(&mut func);
        for (resource, at, words) in [(immediate, 4, 1), (first, 8, 2), (second, 0, 1)] {
            let at = b.u32(at);
            let types = vec![Type::B32; words];
            b.inst(Op::BufferLoad, Imm::Resource(resource), &[at], &[], &types);
        }
        b.end(Op::Yield, &[]);
        func
    }

    #[test]
    fn immediates_follow_the_uniform_buffers_in_table_0() {
        let func = loads();
        let abi = Abi::of(&func, &Options::default()).expect("fits");
        let handles: Vec<u32> =
            func.resources.keys().map(|resource| abi.slots[resource].handle()).collect();
        assert_eq!(handles, [2, 0, 1]);
        assert_eq!(abi.tables(), [TableUse { table: 0, entries: 3 }]);
    }

    #[test]
    fn immediates_are_always_pushed_and_uniforms_when_asked_for() {
        let func = loads();
        let keys: Vec<Resource> = func.resources.keys().collect();
        let mut options = Options::default();
        let abi = Abi::of(&func, &options).expect("fits");
        assert!(abi.pushed(keys[0], 4).is_some());
        assert!(abi.pushed(keys[0], 0).is_none(), "nobody loads that word");
        assert!(abi.pushed(keys[1], 8).is_none());
        options.pipeline.uniforms = Uniforms::Pushed;
        let abi = Abi::of(&func, &options).expect("fits");
        assert!(abi.pushed(keys[1], 8).is_some() && abi.pushed(keys[1], 12).is_some());
        assert!(abi.pushed(keys[1], 4).is_none());
    }

    #[test]
    fn a_driver_chooses_the_index_of_a_binding_within_its_table() {
        let func = loads();
        let mut options = Options::default();
        options.pipeline.bindings.push(BindingSlot { group: 0, binding: 1, slot: 5 });
        let abi = Abi::of(&func, &options).expect("fits");
        let handles: Vec<u32> =
            func.resources.keys().map(|resource| abi.slots[resource].handle()).collect();
        assert_eq!(handles, [7, 5, 6]);
    }

    #[test]
    fn vertex_outputs_lie_at_their_location_and_clip_distances_behind_them() {
        let mut func = Func::new("vs", Stage::Vertex);
        let kinds = [
            OutputKind::Builtin(Builtin::Position),
            OutputKind::Location {
                location: 3,
                blend_src: 0,
                interpolation: gpucc_ir::ssa::Interpolation::Perspective,
            },
            OutputKind::Builtin(Builtin::ClipDistance(0)),
        ];
        for kind in kinds {
            func.outputs.push(OutputData {
                kind,
                components: 2,
                scalar: Scalar::F32,
                name: String::new(),
            });
        }
        Builder::at_body(&mut func).end(Op::Yield, &[]);
        let abi = Abi::of(&func, &Options::default()).expect("fits");
        let places: Vec<OutputPlace> = abi.outputs.iter().map(|slot| slot.place).collect();
        let varying = |index| OutputPlace::Indexed { place: Memory::Varying, index };
        assert_eq!(places, [single(Memory::Position), varying(48), varying(512)]);
        assert_eq!(abi.varying_stride, 528);
    }
}
