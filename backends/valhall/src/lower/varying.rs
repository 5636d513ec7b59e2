//! Inputs of vertex and fragment programs: loaded once each, as a vector of what is read of them, before
//! their first use where that lies on the way to all others, else at the start.

use super::compute::WARP;
use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::abi::InputSlot;
use crate::api::Failure;
use crate::inst::{Special, Src};
use crate::isa::{Opcode, f};
use crate::state::Facts;
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{
    self, Builtin, Func, Imm, Input, InputKind, Interpolation, Region, Sampling, Scalar, Stage,
    Value,
};
use gpucc_isa::FieldId;
use gpucc_machine::described::{Handed, InputPlace};
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Special varyings. isa/valhall_rogue.md 1.11.
const POINT_COORD: u32 = 0;
const FRAG_W: u32 = 2;
const FRAG_Z: u32 = 3;
/// The `update` of loads that leave the interpolation state alone, and of those that overwrite it.
const RETRIEVE: u32 = 1;
const CLOBBER: u32 = 3;
/// Register formats. isa/valhall_rogue.md 1.5.
pub(super) const F32: u32 = 2;
pub(super) const F16: u32 = 3;
pub(super) const S32: u32 = 4;
pub(super) const U32: u32 = 6;

/// The register format of what is handed over, and whether it has 16 bits.
pub(super) fn register_format(handed: Handed) -> (u32, bool) {
    match handed {
        Handed::F32 => (F32, false),
        Handed::F16 => (F16, true),
        Handed::S32 => (S32, false),
        Handed::U32 => (U32, false),
    }
}

/// What the code reads of the inputs, and what is loaded already.
#[derive(Default)]
pub(super) struct Inputs {
    /// For each input that the code reads, a bit for each component.
    read: BTreeMap<Input, u8>,
    /// Inputs that must be loaded at the start.
    early: Vec<Input>,
    /// Components at hand.
    loaded: BTreeMap<(Input, u8), Place>,
}

impl Inputs {
    /// Looks a function through.
    pub fn of(ssa: &Func) -> Inputs {
        let mut inputs = Inputs::default();
        let mut parents: BTreeMap<Region, (Region, bool)> = BTreeMap::new();
        let mut homes: BTreeMap<Input, Region> = BTreeMap::new();
        let mut late: BTreeMap<Input, bool> = BTreeMap::new();
        let mut reads: Vec<(Input, Region)> = Vec::new();
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                for &inner in &data.regions {
                    parents.insert(inner, (region, data.op == ssa::Op::Loop));
                }
            }
        }
        // Reads in the order of the program: a region's instructions, those inside each at its place.
        let mut stack: Vec<(Region, usize)> = vec![(ssa.body, 0)];
        while let Some((region, at)) = stack.pop() {
            let Some(&inst) = ssa.regions[region].insts.get(at) else {
                continue;
            };
            stack.push((region, at + 1));
            let data = &ssa.insts[inst];
            stack.extend(data.regions.iter().rev().map(|&inner| (inner, 0)));
            if let (ssa::Op::Input, Imm::Input(input, component)) = (data.op, &data.imm) {
                *inputs.read.entry(*input).or_default() |= 1 << component;
                reads.push((*input, region));
            }
        }
        for (input, region) in reads {
            let home = *homes.entry(input).or_insert(region);
            let mut at = region;
            let mut below = at == home;
            let mut looped = false;
            while let Some(&(parent, in_loop)) = parents.get(&at) {
                looped |= in_loop;
                at = parent;
                below |= at == home;
            }
            *late.entry(input).or_insert(true) &= below && !(looped && region == home);
        }
        inputs.early =
            late.into_iter().filter_map(|(input, late)| (!late).then_some(input)).collect();
        inputs
    }
}

impl Lower<'_> {
    /// Loads what cannot wait for its first use.
    pub(super) fn load_early_inputs(&mut self) -> Result<(), Failure> {
        for input in std::mem::take(&mut self.inputs.early) {
            self.load_input(input)?;
        }
        Ok(())
    }

    /// An input of a vertex or fragment program.
    pub(super) fn graphics_input(
        &mut self,
        result: Value,
        input: Input,
        component: u8,
    ) -> Result<(), Failure> {
        if !self.inputs.loaded.contains_key(&(input, component)) {
            self.load_input(input)?;
        }
        let place = self.inputs.loaded.get(&(input, component)).copied();
        self.define(result, place.expect("every component that is read is loaded"));
        Ok(())
    }

    /// Keeps a component for those who read it.
    pub(super) fn keep_input(&mut self, input: Input, component: u8, place: Place) {
        self.inputs.loaded.insert((input, component), place);
    }

    /// The components of an input that the code reads: the first and their number, gaps included.
    pub(super) fn components_read(&self, input: Input) -> (u8, u8) {
        let mask = self.inputs.read.get(&input).copied().unwrap_or(1);
        let first = mask.trailing_zeros() as u8;
        (first, 8 - mask.leading_zeros() as u8 - first)
    }

    fn load_input(&mut self, input: Input) -> Result<(), Failure> {
        match (self.ssa.stage, self.ssa.inputs[input].kind) {
            (Stage::Vertex, InputKind::Location { .. }) => self.load_attribute(input),
            (Stage::Vertex, InputKind::Builtin(builtin)) => self.vertex_builtin(input, builtin)?,
            (_, InputKind::Corner { .. }) => return Err(self.not_yet("inputs of this kind")),
            (_, InputKind::Location { .. }) => self.load_varying(input),
            (_, InputKind::Builtin(builtin)) => self.fragment_builtin(input, builtin)?,
        }
        Ok(())
    }

    /// Where the ABI puts an input.
    pub(super) fn input_slot(&self, input: Input) -> &InputSlot {
        self.abi
            .inputs
            .iter()
            .find(|slot| slot.input == input)
            .expect("the ABI places every input that is read")
    }

    /// Keeps the components of a vector that was loaded: 16 bits two to a register.
    pub(super) fn keep_vector(&mut self, input: Input, first: u8, registers: &[VReg], half: bool) {
        for (k, &reg) in (0..).zip(registers) {
            if half {
                self.keep_input(input, first + 2 * k, Place::Half(reg, 0));
                self.keep_input(input, first + 2 * k + 1, Place::Half(reg, 1));
            } else {
                self.keep_input(input, first + k, Place::Reg(reg));
            }
        }
    }

    /// A message that fills registers from what the program does not write.
    pub(super) fn load(
        &mut self,
        opcode: Opcode,
        sources: &[Opnd],
        fields: &[(FieldId, u32)],
        registers: usize,
    ) -> SmallVec<[VReg; 4]> {
        self.load_of(opcode, sources, fields, registers, Effects::default())
    }

    /// The same, of memory that the program may write.
    pub(super) fn load_of(
        &mut self,
        opcode: Opcode,
        sources: &[Opnd],
        fields: &[(FieldId, u32)],
        registers: usize,
        effects: Effects,
    ) -> SmallVec<[VReg; 4]> {
        let made: SmallVec<[VReg; 4]> = (0..registers).map(|_| self.fresh()).collect();
        let mut op = build(opcode, sources);
        for &(field, value) in fields {
            op = op.with(field, value);
        }
        op.write = made.iter().map(|&v| Reg::from(v)).collect();
        op.effects = Some(effects);
        self.push(op);
        made
    }

    /// LD_VAR_BUF of what is read of a varying. isa/valhall_rogue.md 1.11.
    fn load_varying(&mut self, input: Input) {
        let slot = self.input_slot(input).clone();
        let InputPlace::Record { varying: at } = slot.place else {
            unreachable!("fragment locations are varyings");
        };
        let (first, count) = self.components_read(input);
        let stored_half = self.ssa.inputs[input].scalar == Scalar::F16;
        let linear = slot.interpolation == Some(Interpolation::Linear);
        let flat = slot.interpolation == Some(Interpolation::Flat);
        // A product with 1/w is made in f32.
        let half = stored_half && !linear;
        let offset = at + u32::from(first) * if stored_half { 2 } else { 4 };
        let source_format = match (flat, stored_half) {
            (true, false) => 0,
            (true, true) => 1,
            (false, false) => 2,
            (false, true) => 3,
        };
        let sample = match slot.sampling {
            Some(Sampling::Centroid) if !flat => 1,
            Some(Sampling::Sample) if !flat => 2,
            _ => 0,
        };
        let mut fields: SmallVec<[(FieldId, u32); 6]> = SmallVec::from_slice(&[
            (f::VECSIZE, u32::from(count) - 1),
            (f::SOURCE_FORMAT, source_format),
            (f::SAMPLE, sample),
            (f::UPDATE, if flat { RETRIEVE } else { 0 }),
        ]);
        let mut sources: SmallVec<[Opnd; 2]> = SmallVec::new();
        sources.push(Opnd::reg(self.preload(61)));
        let near = offset < 256;
        if near {
            fields.push((f::INDEX, offset));
        } else {
            sources.push(Opnd::bits(offset));
        }
        let opcode = match (near, half) {
            (true, false) => Opcode::LdVarBufImmF32,
            (true, true) => Opcode::LdVarBufImmF16,
            (false, false) => Opcode::LdVarBufF32,
            (false, true) => Opcode::LdVarBufF16,
        };
        let registers = if half { count.div_ceil(2) } else { count };
        let made = self.load(opcode, &sources, &fields, registers.into());
        if !linear {
            self.keep_vector(input, first, &made, half);
            return;
        }
        let w = self.special(FRAG_W, 1)[0];
        for (k, &v) in (0..).zip(&made) {
            let factors = [Opnd::reg(v), Opnd::reg(w), Opnd::minus_zero()];
            let product = self.emit(Opcode::FmaF32, &factors);
            let place = if stored_half {
                let narrow = [Opnd::reg(product), Opnd::bits(0)];
                Place::Half(self.emit(Opcode::V2f32ToV2f16, &narrow), 0)
            } else {
                Place::Reg(product)
            };
            self.keep_input(input, first + k, place);
        }
    }

    fn special(&mut self, index: u32, count: u32) -> SmallVec<[VReg; 4]> {
        let place = Opnd::reg(self.preload(61));
        let fields =
            [(f::INDEX, index), (f::VECSIZE, count - 1), (f::REGFMT, F32), (f::UPDATE, CLOBBER)];
        self.load(Opcode::LdVarSpecial, &[place], &fields, count as usize)
    }

    /// The fragment's position: pixel centre, depth, 1/w.
    fn fragment_position(&mut self, input: Input) {
        let mask = self.inputs.read.get(&input).copied().unwrap_or(0);
        // Of a program that runs once a sample the position is the sample's.
        let sample = match mask & 3 != 0 && Facts::of(self.ssa).per_sample {
            true => Some(self.sample_position()),
            false => None,
        };
        for component in (0..4u8).filter(|c| mask & 1 << c != 0) {
            let reg = match component {
                0 | 1 => {
                    let pixel = Opnd::reg(self.preload(59)).lane(Lane::Half(component));
                    let corner = self.emit(Opcode::U16ToF32, &[pixel]);
                    let within = match sample {
                        Some(sample) => Opnd::reg(sample[usize::from(component)]),
                        None => Opnd::f32(0.5),
                    };
                    self.emit(Opcode::FaddF32, &[Opnd::reg(corner), within])
                }
                2 => self.special(FRAG_Z, 1)[0],
                _ => self.special(FRAG_W, 1)[0],
            };
            self.keep_input(input, component, Place::Reg(reg));
        }
    }

    /// Where the sample lies in the pixel: its entry of the machine's table, in 256ths. isa/valhall_rogue.md 1.2.
    fn sample_position(&mut self) -> [VReg; 2] {
        let word = Opnd::reg(self.preload(61));
        let number = self.emit(Opcode::RshiftAndI32, &[word, Opnd::bits(16), Opnd::bits(31)]);
        let number = self.extended(Opnd::reg(number));
        let table = Opnd::plain(Src::Special64(Special::SamplePositions));
        let pair = self.emit_pair(Opcode::ShaddxU64, &[table, number], &[(f::SHIFT, 2)]);
        let address = Opnd::plain(Src::Pair(pair.map(Reg::from)));
        let fields = [(f::OFFSET, 0), (f::UNSIGNED, 1)];
        let entry = self.load(Opcode::LoadI32, &[address], &fields, 1)[0];
        [0, 1].map(|half| {
            let steps = self.emit(Opcode::U16ToF32, &[Opnd::reg(entry).lane(Lane::Half(half))]);
            let factors = [Opnd::reg(steps), Opnd::f32(1.0 / 256.0), Opnd::minus_zero()];
            self.emit(Opcode::FmaF32, &factors)
        })
    }

    fn fragment_builtin(&mut self, input: Input, builtin: Builtin) -> Result<(), Failure> {
        let reg = match builtin {
            Builtin::Position => {
                self.fragment_position(input);
                return Ok(());
            }
            Builtin::PointCoord => {
                let made = self.special(POINT_COORD, 2);
                self.keep_vector(input, 0, &made, false);
                return Ok(());
            }
            Builtin::SamplePosition => {
                let made = self.sample_position();
                self.keep_vector(input, 0, &made, false);
                return Ok(());
            }
            Builtin::FrontFacing => {
                let face = Opnd::reg(self.preload(58));
                let sources = [face, Opnd::bits(0), Opnd::bits(0)];
                let fields = [(f::CMP, 0), (f::RESULT, 0)];
                self.emit_with(Opcode::IcmpOrU32, &sources, &fields)
            }
            Builtin::SampleIndex => {
                let word = Opnd::reg(self.preload(61));
                let sources = [word, Opnd::bits(16), Opnd::bits(31)];
                self.emit(Opcode::RshiftAndI32, &sources)
            }
            Builtin::SampleMask => {
                let word = Opnd::reg(self.preload(61)).lane(Lane::Half(0));
                self.emit(Opcode::U16ToU32, &[word])
            }
            Builtin::PrimitiveIndex => self.preload(57),
            Builtin::ViewIndex | Builtin::Layer => {
                let word = Opnd::reg(self.preload(62)).lane(Lane::Byte(0));
                self.emit(Opcode::U8ToU32, &[word])
            }
            Builtin::SubgroupSize => self.mov(Src::Bits(WARP)),
            Builtin::SubgroupInvocationId => self.mov(Src::Special(Special::LaneId, 0)),
            other => return Err(self.not_yet(format!("the fragment input {other:?}"))),
        };
        self.keep_input(input, 0, Place::Reg(reg));
        Ok(())
    }
}
