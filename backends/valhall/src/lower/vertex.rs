//! Vertex programs: attributes, and what position, varying and plain programs store.
//! docs/abi-valhall.md: Vertex.

use super::compute::WARP;
use super::operand::{Lane, Opnd, build};
use super::varying::register_format;
use super::{Lower, Part, Place};
use crate::abi::{Abi, table};
use crate::api::{Failure, FauWord, VertexForm};
use crate::inst::{Inst, Op, Special, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{Builtin, Func, Imm, Input, Output, OutputKind, Scalar, Stage, Type, Value};
use gpucc_machine::described::{AttributePlace, Handed, Memory, OutputPlace};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// How memory is written: `istream` for positions, `estream` for varyings, plain for what others read.
const MEMORY: u32 = 0;
const ISTREAM: u32 = 1;
const ESTREAM: u32 = 2;
/// Table 61 in the four bits of an immediate table.
const IDVS: u32 = table::IDVS & 15;

/// 1.0 as f32.
const ONE: u32 = 0x3f80_0000;

/// Components of outputs.
#[derive(Default)]
pub(super) struct Outputs {
    pub(super) lanes: BTreeMap<(Output, u8), Written>,
}

/// What was written to a component.
#[derive(Copy, Clone)]
pub(super) enum Written {
    /// This value, on every path.
    Value(Value),
    /// The register holds it, from 0 at the start on.
    Reg(VReg),
}

/// The programs that a function makes.
pub fn parts(func: &Func, abi: &Abi) -> &'static [Part] {
    if func.stage != Stage::Vertex || abi.pipeline.vertex.form == VertexForm::Plain {
        return &[Part::Whole];
    }
    let varying = |place| matches!(place, OutputPlace::Indexed { place: Memory::Varying, .. });
    if abi.outputs.iter().any(|output| varying(output.place)) {
        &[Part::Position, Part::Varying]
    } else {
        &[Part::Position]
    }
}

/// The function without the outputs of other parts, and without what only they needed.
pub fn only(func: &Func, part: Part) -> Cow<'_, Func> {
    if part == Part::Whole {
        return Cow::Borrowed(func);
    }
    let mut func = func.clone();
    for (region, ..) in func.regions_in_order() {
        let mut list = std::mem::take(&mut func.regions[region].insts);
        list.retain(|&inst| match func.insts[inst].imm {
            Imm::Output(output, _) => {
                let position = matches!(
                    func.outputs[output].kind,
                    OutputKind::Builtin(Builtin::Position | Builtin::PointSize | Builtin::Layer)
                );
                position == (part == Part::Position)
            }
            _ => true,
        });
        func.regions[region].insts = list;
    }
    let model = crate::numerics();
    let target = crate::target::target_info();
    let mut ctx = gpucc_passes::Ctx::new(gpucc_passes::Options::default(), model, target);
    // The ABI knows variables by their numbers.
    gpucc_passes::dce::instructions(&mut func, &mut ctx);
    Cow::Owned(func)
}

impl Lower<'_> {
    /// LD_ATTR of what is read of an attribute, from its first component on.
    pub(super) fn load_attribute(&mut self, input: Input) {
        let attribute = self.input_slot(input).attribute.as_ref().map(|fetch| fetch.place);
        let Some(AttributePlace::Descriptors { index, .. }) = attribute else {
            unreachable!("the ABI gives every location that is read an attribute");
        };
        let (first, count) = self.components_read(input);
        let count = u32::from(first + count);
        let (format, half) = register_format(Handed::of(self.ssa.inputs[input].scalar));
        let registers = if half { count.div_ceil(2) } else { count } as usize;
        let vertex = Opnd::reg(self.preload(60));
        let instance = Opnd::reg(self.preload(61));
        let (vecsize, format) = ((f::VECSIZE, count - 1), (f::REGFMT, format));
        let made = if index < 16 {
            let fields = [vecsize, format, (f::INDEX, index), (f::TABLE, table::ATTRIBUTE)];
            self.load(Opcode::LdAttrImm, &[vertex, instance], &fields, registers)
        } else {
            let handle = Opnd::bits(table::ATTRIBUTE << 24 | index);
            let sources = [vertex, instance, handle];
            self.load(Opcode::LdAttr, &sources, &[vecsize, format], registers)
        };
        self.keep_vector(input, 0, &made, half);
    }

    pub(super) fn vertex_builtin(&mut self, input: Input, builtin: Builtin) -> Result<(), Failure> {
        let place = match builtin {
            Builtin::VertexIndex => Place::Reg(self.preload(60)),
            Builtin::InstanceIndex => Place::Reg(self.preload(61)),
            Builtin::DrawIndex => Place::Reg(self.preload(62)),
            Builtin::BaseVertex => Place::Src(self.fau(FauWord::FirstVertex)),
            Builtin::BaseInstance => Place::Src(self.fau(FauWord::FirstInstance)),
            // A vertex program runs once for each view and has one.
            Builtin::ViewIndex => Place::Src(Src::Bits(0)),
            Builtin::SubgroupSize => Place::Src(Src::Bits(WARP)),
            Builtin::SubgroupInvocationId => Place::Src(Src::Special(Special::LaneId, 0)),
            other => return Err(self.not_yet(format!("the vertex input {other:?}"))),
        };
        self.keep_input(input, 0, place);
        Ok(())
    }

    /// Gives components that are written on some paths only, or twice, a register.
    pub(super) fn declare_outputs(&mut self) {
        let mut seen: BTreeMap<(Output, u8), bool> = BTreeMap::new();
        for (region, ..) in self.ssa.regions_in_order() {
            for &inst in &self.ssa.regions[region].insts {
                if let Imm::Output(output, component) = self.ssa.insts[inst].imm {
                    let inner = region != self.ssa.body;
                    seen.entry((output, component))
                        .and_modify(|conditional| *conditional = true)
                        .or_insert(inner);
                }
            }
        }
        for (key, conditional) in seen {
            if conditional {
                let reg = self.mov(Src::Bits(0));
                self.outputs.lanes.insert(key, Written::Reg(reg));
            }
        }
    }

    /// An output of a vertex or fragment program.
    pub(super) fn write_output(&mut self, output: Output, component: u8, value: Value) {
        let key = (output, component);
        if let Some(&Written::Reg(reg)) = self.outputs.lanes.get(&key) {
            let from = match self.ssa.ty(value) {
                Type::B16 => self.low_half(value),
                _ => self.reg(value),
            };
            self.copy(reg, from.into());
        } else {
            self.outputs.lanes.insert(key, Written::Value(value));
        }
    }

    pub(super) fn copy(&mut self, dst: VReg, src: Reg) {
        self.push_inst(Inst::Copy {
            dst: SmallVec::from_slice(&[dst.into()]),
            src: SmallVec::from_slice(&[src]),
        });
    }

    /// A component of an output as an operand; of 16 bits in its half.
    pub(super) fn written(&mut self, output: Output, component: u8) -> Option<Opnd> {
        Some(match *self.outputs.lanes.get(&(output, component))? {
            Written::Value(value) => self.plain(value),
            Written::Reg(reg) => match self.ssa.outputs[output].scalar {
                Scalar::F16 => Opnd::reg(reg).lane(Lane::Half(0)),
                _ => Opnd::reg(reg),
            },
        })
    }

    /// Components of an output from `first` to `end`; those that nobody writes are 0.
    pub(super) fn components_of(
        &mut self,
        output: Output,
        first: u8,
        end: u8,
    ) -> SmallVec<[Opnd; 4]> {
        (first..end).map(|c| self.written(output, c).unwrap_or(Opnd::bits(0))).collect()
    }

    /// The components of an output that are written: the first and one past the last.
    pub(super) fn components_written(&self, output: Output) -> (u8, u8) {
        let written = |&c: &u8| self.outputs.lanes.contains_key(&(output, c));
        match ((0..4).find(written), (0..4).rev().find(written)) {
            (Some(first), Some(last)) => (first, last + 1),
            _ => (0, 0),
        }
    }

    /// Components as staging registers: 32 bits each, or 16 bits two to a register.
    pub(super) fn staged_vector(&mut self, components: &[Opnd], half: bool) -> SmallVec<[Reg; 4]> {
        if !half {
            return components.iter().map(|&operand| self.in_register(operand).into()).collect();
        }
        components
            .chunks(2)
            .map(|two| {
                let high = two.get(1).copied().unwrap_or(Opnd::bits(0));
                Reg::from(self.mkvec(two[0], high))
            })
            .collect()
    }

    /// Stores what the program leaves.
    pub(super) fn vertex_epilogue(&mut self) {
        if self.part != Part::Varying {
            self.viewport();
        }
        match self.part {
            Part::Whole => {
                self.store_attributes();
                self.store_streams();
            }
            Part::Position => self.store_position(),
            Part::Varying => self.store_varyings(),
        }
    }

    fn output_of(&self, builtin: Builtin) -> Option<Output> {
        self.ssa
            .outputs
            .iter()
            .find(|(_, data)| data.kind == OutputKind::Builtin(builtin))
            .map(|(output, _)| output)
    }

    /// Device coordinates become screen coordinates.
    fn viewport(&mut self) {
        let Some(position) = self.output_of(Builtin::Position) else {
            return;
        };
        for axis in 0..3 {
            let Some(device) = self.written(position, axis) else {
                continue;
            };
            let scale = Opnd::plain(self.fau(FauWord::ViewportScale(axis)));
            let offset = Opnd::plain(self.fau(FauWord::ViewportOffset(axis)));
            let screen = match device.src {
                Src::Bits(0) => self.emit(Opcode::FaddF32, &[offset, Opnd::bits(0)]),
                Src::Bits(ONE) => self.emit(Opcode::FaddF32, &[scale, offset]),
                _ => {
                    let device = Opnd::reg(self.in_register(device));
                    self.emit(Opcode::FmaF32, &[device, scale, offset])
                }
            };
            self.outputs.lanes.insert((position, axis), Written::Reg(screen));
        }
    }

    /// LEA_BUF_IMM of table 61, entry 0.
    fn packet(&mut self, id: VReg) -> Src {
        let fields = [(f::TABLE, IDVS), (f::INDEX, 0)];
        let address = self.load(Opcode::LeaBufImm, &[Opnd::reg(id)], &fields, 2);
        Src::Pair([address[0].into(), address[1].into()])
    }

    fn store(&mut self, address: Src, offset: u32, registers: &[Reg], bits: u32, access: u32) {
        let opcode = match bits {
            8 => Opcode::StoreI8,
            16 => Opcode::StoreI16,
            32 => Opcode::StoreI32,
            48 => Opcode::StoreI48,
            64 => Opcode::StoreI64,
            96 => Opcode::StoreI96,
            _ => Opcode::StoreI128,
        };
        let op = build(opcode, &[Opnd::plain(address)])
            .with(f::ACCESS, access)
            .with(f::OFFSET, offset)
            .reading(registers);
        self.push(Op { effects: Some(Effects::default()), ..op });
    }

    fn store_position(&mut self) {
        let position = self.output_of(Builtin::Position);
        if let Some(position) = position.filter(|&p| self.components_written(p).1 > 0) {
            let components = self.components_of(position, 0, 4);
            let data = self.staged_vector(&components, false);
            let id = self.preload(59);
            let address = self.packet(id);
            self.store(address, 0, &data, 128, ISTREAM);
        }
        let [size, layer] = [Builtin::PointSize, Builtin::Layer].map(|builtin| {
            let output = self.output_of(builtin)?;
            self.written(output, 0)
        });
        if size.is_none() && layer.is_none() {
            return;
        }
        let id = Opnd::reg(self.preload(59));
        let slot = self.add_constant(id, 4);
        let address = self.packet(slot);
        if let Some(width) = size {
            let width = Opnd::reg(self.in_register(width));
            // An f16's value already: this only takes it to 16 bits.
            let width = self.emit(Opcode::V2f32ToV2f16, &[width, Opnd::bits(0)]);
            self.store(address, 0, &[width.into()], 16, ISTREAM);
        }
        if let Some(layer) = layer {
            let layer = self.in_register(layer);
            self.store(address, 2, &[layer.into()], 8, ISTREAM);
        }
    }

    fn store_varyings(&mut self) {
        let mut address = None;
        for slot in &self.abi.outputs {
            let OutputPlace::Indexed { place: Memory::Varying, index: at } = slot.place else {
                continue;
            };
            let (first, end) = self.components_written(slot.output);
            if end == 0 {
                continue;
            }
            let half = self.ssa.outputs[slot.output].scalar == Scalar::F16;
            let components = self.components_of(slot.output, first, end);
            let data = self.staged_vector(&components, half);
            let address = match address {
                Some(address) => address,
                None => {
                    let id = self.preload(59);
                    *address.insert(self.packet(id))
                }
            };
            let size = if half { 16 } else { 32 };
            let offset = at + u32::from(first) * size / 8;
            self.store(address, offset, &data, size * u32::from(end - first), ESTREAM);
        }
    }

    /// The plain form: each output through its attribute descriptor.
    fn store_attributes(&mut self) {
        for slot in &self.abi.outputs {
            let OutputPlace::Indexed { place: Memory::Attribute, index } = slot.place else {
                continue;
            };
            let (_, end) = self.components_written(slot.output);
            if end == 0 {
                continue;
            }
            let (format, half) = register_format(Handed::of(self.ssa.outputs[slot.output].scalar));
            let components = self.components_of(slot.output, 0, end);
            let data = self.staged_vector(&components, half);
            let vertex = Opnd::reg(self.preload(60));
            let instance = Opnd::reg(self.preload(61));
            let place = if index < 16 {
                let fields = [(f::INDEX, index), (f::TABLE, table::ATTRIBUTE)];
                self.load(Opcode::LeaAttrImm, &[vertex, instance], &fields, 3)
            } else {
                let handle = Opnd::bits(table::ATTRIBUTE << 24 | index);
                self.load(Opcode::LeaAttr, &[vertex, instance, handle], &[], 3)
            };
            let nowhere_read = Effects::default();
            self.store_converted(&place, &data, format, end.into(), nowhere_read);
        }
    }

    /// Transform feedback: what is captured, at its vertex's place in its buffer. Instances stand one behind the other.
    fn store_streams(&mut self) {
        let mut number = None;
        let mut addresses: BTreeMap<(u32, u32), Src> = BTreeMap::new();
        for slot in &self.abi.outputs {
            let OutputPlace::Stream { buffer, index: offset, .. } = slot.place else {
                continue;
            };
            let (first, end) = self.components_written(slot.output);
            if end == 0 {
                continue;
            }
            let half = self.ssa.outputs[slot.output].scalar == Scalar::F16;
            let components = self.components_of(slot.output, first, end);
            let data = self.staged_vector(&components, half);
            let number = match number {
                Some(number) => number,
                None => *number.insert(self.vertex_number()),
            };
            let size = if half { 2 } else { 4 };
            let at = offset + u32::from(first) * size;
            // STORE's own offset reaches below 2^15.
            let (far, near) = (at & !0x7fff, at & 0x7fff);
            let address = match addresses.get(&(buffer, far)) {
                Some(&address) => address,
                None => {
                    let address = self.stream_address(buffer as u8, number, far);
                    addresses.insert((buffer, far), address);
                    address
                }
            };
            let bits = 8 * size * u32::from(end - first);
            self.store(address, near, &data, bits, MEMORY);
        }
    }

    /// How many vertices of the draw come before this one.
    fn vertex_number(&mut self) -> VReg {
        let [vertex, instance] =
            [(60, FauWord::FirstVertex), (61, FauWord::FirstInstance)].map(|(register, first)| {
                let index = Opnd::reg(self.preload(register));
                let first = Opnd::plain(self.fau(first));
                Opnd::reg(self.emit(Opcode::IsubU32, &[index, first]))
            });
        let count = Opnd::plain(self.fau(FauWord::VertexCount));
        let before = Opnd::reg(self.emit(Opcode::ImulI32, &[instance, count]));
        self.emit(Opcode::IaddU32, &[vertex, before])
    }

    /// The address of a byte of a vertex in a transform feedback buffer: 64 bits from the driver and the product with the
    /// stride.
    fn stream_address(&mut self, buffer: u8, number: VReg, byte: u32) -> Src {
        let stride = self.abi.pipeline.vertex.stream.stride(buffer.into());
        let base = self.fau_pair([false, true].map(|high| FauWord::StreamAddress { buffer, high }));
        let number = Opnd::reg(number);
        let (by, shift) = match stride.trailing_zeros() {
            // SHADDX multiplies by a power of two itself.
            zeros @ 0..=7 if stride.is_power_of_two() && byte == 0 => (number, zeros),
            _ => {
                let product = self.emit(Opcode::ImulI32, &[number, Opnd::bits(stride)]);
                (Opnd::reg(self.add_constant(Opnd::reg(product), byte)), 0)
            }
        };
        let sources = [Opnd::plain(base), self.extended(by)];
        let pair = self.emit_pair(Opcode::ShaddxU64, &sources, &[(f::SHIFT, shift)]);
        Src::Pair(pair.map(Reg::from))
    }

    /// ST_CVT of registers to the address and with the conversion that LEA_ATTR or LEA_TEX gave.
    pub(super) fn store_converted(
        &mut self,
        place: &[VReg],
        data: &[Reg],
        format: u32,
        count: u32,
        effects: Effects,
    ) {
        let address = Opnd::plain(Src::Pair([place[0].into(), place[1].into()]));
        let op = build(Opcode::StCvt, &[address, Opnd::reg(place[2])])
            .with(f::VECSIZE, count - 1)
            .with(f::REGFMT, format)
            .reading(data);
        self.push(Op { effects: Some(effects), ..op });
    }
}
