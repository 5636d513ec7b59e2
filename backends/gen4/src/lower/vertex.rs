//! Vertices: two a thread. A scalar value has a register of its own, whose lower four lanes all hold the first vertex's and whose
//! upper four the second's, so that all that is lowered for lanes serves vertices. isa/gen4.md 2.1; isa/gen4-pipeline.md 2, 4.1.

use super::outputs::ZERO;
use super::{Lower, Place};
use crate::abi::Drawn;
use crate::emit::vertex::{MOST, SLOTS};
use crate::inst::{Condition, Function, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use crate::legal::Chip;
use crate::vue::{WIDTH_BITS, WIDTH_STEP};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{Builtin, Imm, InputKind, InstData, Output, Value};

/// The flag of a negative 1 / w on the 965.
const NEGATIVE: u32 = 1 << 6;

impl Lower<'_> {
    /// A component of an attribute, or a number.
    pub(super) fn vertex_input(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Input(input, component) = data.imm else {
            return Err(self.not_yet("this input"));
        };
        let number = match self.ssa.inputs[input].kind {
            InputKind::Builtin(Builtin::VertexIndex) => Some((0, Drawn::FirstVertex)),
            InputKind::Builtin(Builtin::InstanceIndex) => Some((1, Drawn::FirstInstance)),
            InputKind::Builtin(which) => return self.drawn(data.results[0], which),
            InputKind::Location { .. } | InputKind::Corner { .. } => None,
        };
        let place = match (number, self.abi.element_of(input)) {
            (Some((number, first)), _) => {
                let register = self.abi.element(self.abi.elements() - 1);
                let counted = Src::Pair { register, dword: number };
                let Some((register, dword)) = self.abi.drawn(first) else {
                    return Err(self.not_yet("this input"));
                };
                let first = Src::Scalar { register, dword };
                let sum = self.fresh();
                self.alu(Opcode::Add, Ty::D, sum, &[counted.into(), first.into()]);
                Place::Reg(sum)
            }
            (None, Some(element)) => {
                let register = self.abi.element(element);
                let dword = component.min(3);
                let read = Src::Pair { register, dword };
                match self.abi.is_packed(element) {
                    true => Place::Reg(self.fraction(read, dword)),
                    false => Place::Source(read),
                }
            }
            (None, None) => return Err(self.not_yet("this input")),
        };
        self.values[data.results[0]] = Some(place);
        Ok(())
    }

    /// A number of the draw.
    pub(super) fn drawn(&mut self, result: Value, which: Builtin) -> Result<(), Failure> {
        let place = Drawn::of(which).first().and_then(|&which| self.abi.drawn(which));
        let Some((register, dword)) = place else {
            return Err(self.not_yet("this input"));
        };
        self.values[result] = Some(Place::Source(Src::Scalar { register, dword }));
        Ok(())
    }

    /// A number of 10 or 2 bits as a fraction of the largest, rounded to the nearest: 30 bits of the fraction are the number
    /// again and again, and half of the last bit that a float has of them is added before the rest is cut off.
    fn fraction(&mut self, number: Src, component: u8) -> VReg {
        let again = if component < 3 { 0x0010_0401 } else { 0x1555_5555 };
        let bits = self.product(number.into(), Src::Bits(again).into());
        let reg = |reg: VReg| Source::from(Src::Reg(reg.into()));
        let [some, zeros, half, sum, float, fraction] = std::array::from_fn(|_| self.fresh());
        self.alu(Opcode::Or, Ty::Ud, some, &[reg(bits), Src::Bits(1).into()]);
        self.alu(Opcode::Lzd, Ty::Ud, zeros, &[reg(some)]);
        self.alu(Opcode::Shr, Ty::Ud, half, &[Src::Bits(0x80).into(), reg(zeros)]);
        self.alu(Opcode::Add, Ty::Ud, sum, &[reg(bits), reg(half)]);
        self.convert(Opcode::Mov, Ty::F, float, Ty::Ud, &[reg(sum)]);
        let scale = Src::Bits((1.0 / (1u32 << 30) as f32).to_bits()).into();
        self.alu(Opcode::Mul, Ty::F, fraction, &[reg(float), scale]);
        fraction
    }

    fn slot_of(&self, output: Option<Output>) -> [Source; 4] {
        let declared = output.map_or(4, |output| self.ssa.outputs[output].components);
        std::array::from_fn(|component| match component as u8 {
            component if component < declared => self.final_value(output, component),
            _ => Src::Free.into(),
        })
    }

    fn in_register(&mut self, source: Source) -> VReg {
        let reg = self.fresh();
        self.alu(Opcode::Mov, Ty::Ud, reg, &[source]);
        reg
    }

    /// One number where a float is below 0, else another.
    fn where_negative(&mut self, float: VReg, yes: Source, no: Source) -> Source {
        let test = Test {
            condition: Condition::Less,
            ty: Ty::F,
            first: Src::Reg(float.into()).into(),
            second: ZERO,
            join: None,
        };
        let yes = self.no_number(yes);
        let dst = self.fresh();
        self.push(Inst::Compare(test));
        self.push(Inst::Select { dst: dst.into(), inverse: false, yes, no });
        Src::Reg(dst.into()).into()
    }

    /// The slots of an entry: header, normalised device coordinates, position, the rest. An interleaved message has two
    /// registers at least (G45 vol. 4, 8.4.2), and one of one vertex has whole registers.
    pub(super) fn entry_slots(&mut self) -> Vec<[Source; 4]> {
        let abi = self.abi;
        let Some(vue) = &abi.vue else { return Vec::new() };
        let position = self.slot_of(vue.position);
        // The coordinates of the device are the position, where it is divided by 1.
        let divided = position[3].src != Src::Bits(1f32.to_bits());
        let inverse = self.fresh();
        let mut device = position;
        if divided {
            let source = self.no_number(position[3]);
            self.push(Inst::Math { dst: inverse.into(), function: Function::Inverse, source });
            let inverse = Source::from(Src::Reg(inverse.into()));
            device = [inverse; 4];
            for (place, of) in device.iter_mut().zip(position).take(3) {
                let product = self.fresh();
                self.alu(Opcode::Mul, Ty::F, product, &[inverse, of]);
                *place = Src::Reg(product.into()).into();
            }
        }
        let mut header = Vec::new();
        if let Some(size) = vue.point_size {
            // The pass has brought the width to eighths that fit the field.
            let size = self.final_value(Some(size), 0);
            let (scaled, whole) = (self.fresh(), self.fresh());
            self.alu(
                Opcode::Mul,
                Ty::F,
                scaled,
                &[size, Src::Bits((1.0 / WIDTH_STEP).to_bits()).into()],
            );
            self.convert(Opcode::Mov, Ty::Ud, whole, Ty::F, &[Src::Reg(scaled.into()).into()]);
            let field = self.fresh();
            let mask = Src::Bits(WIDTH_BITS).into();
            self.alu(Opcode::And, Ty::Ud, field, &[Src::Reg(whole.into()).into(), mask]);
            header.push(Source::from(Src::Reg(field.into())));
        }
        for (number, &(output, component)) in vue.distances.iter().enumerate() {
            let distance = self.final_value(Some(output), component);
            let distance = self.in_register(distance);
            let flag = Src::Bits(1 << number).into();
            header.push(self.where_negative(distance, flag, ZERO));
        }
        if abi.chip != Chip::G45 && divided {
            // The 965's clip test takes a negative 1 / w wrongly. isa/gen4-pipeline.md 2.
            header.push(self.where_negative(inverse, Src::Bits(NEGATIVE).into(), ZERO));
            for place in &mut device {
                *place = self.where_negative(inverse, ZERO, *place);
            }
        }
        let flags = header.into_iter().reduce(|all, flag| {
            let sum = self.fresh();
            self.alu(Opcode::Or, Ty::Ud, sum, &[all, flag]);
            Src::Reg(sum.into()).into()
        });
        let header = [ZERO, ZERO, ZERO, flags.unwrap_or(ZERO)];
        let mut slots = vec![header, device, position];
        slots.extend(vue.varyings.iter().map(|&(_, output)| self.slot_of(Some(output))));
        for distances in vue.distances.chunks(4) {
            let of = |at: usize| {
                let place = distances.get(at);
                place.map_or(Src::Free.into(), |&(output, component)| {
                    self.final_value(Some(output), component)
                })
            };
            slots.push(std::array::from_fn(of));
        }
        if let Some(output) = vue.primitive {
            slots.push(self.slot_of(Some(output)));
        }
        let part = match abi.is_geometry() {
            true => slots.len() % 2 == 1,
            false => slots.len() % usize::from(MOST) == 1,
        };
        if part {
            slots.push([ZERO; 4]);
        }
        slots
    }

    /// The entry leaves.
    pub(super) fn end_vertex(&mut self) {
        let most = usize::from(MOST);
        let slots = self.entry_slots();
        let messages = slots.len().div_ceil(most);
        for (number, part) in slots.chunks(most).enumerate() {
            for (message, &values) in (SLOTS..).zip(part) {
                self.push(Inst::Slot { values, message });
            }
            let row = (number * most / 2) as u8;
            let last = number + 1 == messages;
            self.push(Inst::Entry { row, count: part.len() as u8, last });
        }
    }
}
