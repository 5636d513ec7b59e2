//! Fragments: iterated inputs, outputs, discarding. isa/rogue-pipeline.md 2.7, 2.8, 4.2.

use super::Lower;
use super::test::{self, Asked};
use crate::abi::computes_depth;
use crate::color::{Color, F16F16, Packed};
use crate::inst::{DITR, Message, Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, MainOps};
use crate::isa::ops::{Backend, Control, Main, Move};
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Reg, Role, VReg};
use gpucc_ir::ssa::{
    Builtin, Imm, Input, InputKind, InstData, Interpolation, Op, Output, OutputKind, Sampling,
    Scalar, Type,
};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Special registers of a pixel. 3.1.
const FACE: Register = Register::Special(44);
const SAMPLE: Register = Register::Special(53);
/// By axis: at the rate of pixels, and at that of samples.
const PIXEL: [Register; 2] = [Register::Special(97), Register::Special(100)];
const PIXEL_OF_SAMPLE: [Register; 2] = [Register::Special(98), Register::Special(101)];
const LAYER: Register = Register::Special(118);
const TIMER: Register = Register::Special(160);
/// 0.5 among the constants. 3.2.
const HALF: Src = Src::Fixed(Register::Special(75));
/// 1.0 among the constants. 3.2.
const ONE: Src = Src::Fixed(Register::Special(64));
/// 1/16 among the constants. 3.2.
const SIXTEENTH: Src = Src::Fixed(Register::Special(78));
/// All bits, among the constants. 3.2.
const ALL: u16 = 143;
/// Where iterators evaluate: at the middle of the pixel, at the sample. 2.8.
const AT_PIXEL: u32 = 0;
const AT_SAMPLE: u32 = 1;
/// The format of words without a sign. 2.3.
const PACK_U32: u32 = 6;

/// What a program of fragments or vertices knows of itself.
#[derive(Default)]
pub(super) struct State {
    /// 1 where an invocation was demoted.
    pub killed: Option<VReg>,
    /// Registers of varyings, and of z and the reciprocal of w.
    inputs: BTreeMap<(Input, u8), VReg>,
    place: [Option<VReg>; 2],
    /// Where the sample lies in its pixel, to the right and down.
    sample: Option<[VReg; 2]>,
    /// What outputs have: a register where a branch writes them, else the value.
    registers: BTreeMap<(Output, u8), VReg>,
    values: BTreeMap<(Output, u8), Src>,
}

impl Lower<'_> {
    /// Registers for what branches and loops write: zeros until then.
    pub(super) fn begin_outputs(&mut self) {
        let ssa = self.ssa;
        let mut branched = BTreeSet::new();
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                if let (Op::Output, Imm::Output(output, component)) = (data.op, &data.imm)
                    && region != ssa.body
                {
                    branched.insert((*output, *component));
                }
            }
        }
        for component in branched {
            let reg = self.fresh();
            // A pixel that leaves no mask keeps its samples.
            let kept = ssa.outputs[component.0].kind == OutputKind::Builtin(Builtin::SampleMask);
            let first = match (kept, self.abi.samples) {
                (false, _) => 0,
                (true, 1) => 1,
                (true, _) => ALL,
            };
            self.push(Step::copy(reg, Src::Fixed(Register::Special(first))));
            self.fragment.registers.insert(component, reg);
        }
    }

    /// A component of an output, which leaves at the end.
    pub(super) fn kept_output(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Output(output, component) = data.imm else {
            return Err(self.not_yet("this output"));
        };
        let value = data.args[0];
        match self.ssa.ty(value) {
            Type::B32 => {}
            Type::B16 => {
                // What becomes half of a word at a store is still whole.
                let (source, mask) = (self.source(value), self.number(0xffff));
                let low = Src::Reg(self.logical(super::alu::AND, source, mask).into());
                match self.fragment.registers.get(&(output, component)) {
                    Some(&reg) => self.push(Step::copy(reg, low)),
                    None => _ = self.fragment.values.insert((output, component), low),
                }
                return Ok(());
            }
            _ => return Err(self.not_yet("outputs of other than 32 bits")),
        }
        match self.fragment.registers.get(&(output, component)) {
            Some(&reg) => self.assign(&[reg], &data.args[..1]),
            None => {
                let source = self.source(data.args[0]);
                self.fragment.values.insert((output, component), source);
            }
        }
        Ok(())
    }

    /// What a component of an output has at the end, where somebody wrote it.
    pub(super) fn written(&self, output: Output, component: u8) -> Option<Src> {
        if let Some(&reg) = self.fragment.registers.get(&(output, component)) {
            return Some(Src::Reg(reg.into()));
        }
        self.fragment.values.get(&(output, component)).copied()
    }

    /// Iterates everything, and marks nobody as demoted.
    pub(super) fn begin_fragment(&mut self) -> Result<(), Failure> {
        let ssa = self.ssa;
        let mut wanted = BTreeSet::new();
        let mut demotes = false;
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                let data = &ssa.insts[inst];
                demotes |= data.op == Op::Demote;
                if let Imm::Input(input, component) = data.imm {
                    wanted.insert((input, component));
                }
            }
        }
        let abi = self.abi;
        for varying in &abi.varyings {
            let asked = |component: &u8| wanted.contains(&(varying.input, *component));
            let Some(last) = (0..varying.components).filter(asked).max() else { continue };
            let regs: Vec<VReg> = (0..=last).map(|_| self.fresh()).collect();
            for (&reg, component) in regs.iter().zip(0..) {
                self.fragment.inputs.insert((varying.input, component), reg);
            }
            if varying.interpolation == Interpolation::Flat {
                for (&reg, set) in regs.iter().zip(varying.set..) {
                    // The constant of a plane is its third word.
                    let register = Register::Coeff(4 * set + 2);
                    self.push(Step::copy(reg, Src::Fixed(register)));
                }
                continue;
            }
            let mode = match varying.sampling {
                Sampling::Center => AT_PIXEL,
                Sampling::Sample => AT_SAMPLE,
                Sampling::Centroid => 2,
            };
            let smooth = varying.interpolation == Interpolation::Perspective;
            self.iterate(&regs, varying.set, abi.w.filter(|_| smooth), mode);
        }
        let own = if abi.sampled { AT_SAMPLE } else { AT_PIXEL };
        for (input, data) in &ssa.inputs {
            match (data.kind, abi.point, abi.primitive) {
                (InputKind::Builtin(Builtin::PointCoord), Some(set), _) => {
                    let regs = [self.fresh(), self.fresh()];
                    self.fragment.inputs.insert((input, 0), regs[0]);
                    self.fragment.inputs.insert((input, 1), regs[1]);
                    self.iterate(&regs, set, None, own);
                }
                (InputKind::Builtin(Builtin::PrimitiveIndex), _, Some(set)) => {
                    let reg = self.fresh();
                    self.push(Step::copy(reg, Src::Fixed(Register::Coeff(4 * set + 2))));
                    self.fragment.inputs.insert((input, 0), reg);
                }
                _ => {}
            }
        }
        let position = ssa.inputs.iter().find_map(|(input, data)| {
            (data.kind == InputKind::Builtin(Builtin::Position)).then_some(input)
        });
        for (at, (component, set)) in [(2, abi.z), (3, abi.w)].into_iter().enumerate() {
            if let (Some(set), Some(input)) = (set, position)
                && wanted.contains(&(input, component))
            {
                let reg = self.fresh();
                self.iterate(&[reg], set, None, own);
                self.fragment.place[at] = Some(reg);
            }
        }
        if let Some(first) = abi.places {
            self.fragment.sample = Some(self.sample_place(first));
        }
        if demotes {
            let killed = self.fresh();
            self.push(Step::copy(killed, Src::ZERO));
            self.fragment.killed = Some(killed);
        }
        self.begin_outputs();
        Ok(())
    }

    /// Iterates sets of coefficients that follow each other; with perspective where the set of w is given.
    fn iterate(&mut self, regs: &[VReg], set: u16, w: Option<u16>, mode: u32) {
        let regs: Vec<Reg> = regs.iter().map(|&reg| reg.into()).collect();
        let count = regs.len() as u32;
        let step = if self.abi.chip.iterates_by_control() {
            let row = if w.is_some() { Control::Ditrp } else { Control::Ditr };
            let word = Word::usual(row.op())
                .with(f::COEFF, set.into())
                .with(f::W_COEFF, w.unwrap_or(0).into())
                .with(f::ITER_MODE, mode)
                .with(f::COUNT, count);
            Step::control(word).range(DITR, &regs, Role::EarlyDef)
        } else {
            let row = if w.is_some() { Backend::Fitrp } else { Backend::Fitr };
            let word = Word::usual(row.op()).with(f::ITER_MODE, mode).with(f::COUNT, count);
            let mut step = Step::backend(word).from(0, Src::Fixed(Register::Coeff(4 * set)));
            if let Some(w) = w {
                step = step.from(2, Src::Fixed(Register::Coeff(4 * w)));
            }
            step.range(3, &regs, Role::EarlyDef)
        };
        self.push(step.message(Message::Reads));
    }

    /// A special register of the hardware, which S1 alone takes among the ports of a move. 1.4.
    pub(super) fn special(&mut self, register: Register) -> VReg {
        let dst = self.fresh();
        let mov = Word::usual(Move::Movwm.op()).with(f::MOV_W0, Feed::Fte as u32);
        let step = Step::main(MainOps { mov: Some(mov), ..MainOps::default() });
        let step = step.from(1, Src::Fixed(register)).external(1).select(4, Feed::Fte);
        self.push(step.to(0, dst));
        dst
    }

    /// What the timer shows now: nothing moves the group.
    pub(super) fn timer(&mut self) -> VReg {
        let dst = self.fresh();
        let mov = Word::usual(Move::Movwm.op()).with(f::MOV_W0, Feed::Fte as u32);
        let step = Step::main(MainOps { mov: Some(mov), ..MainOps::default() });
        let step = step.from(1, Src::Fixed(TIMER)).external(1).select(4, Feed::Fte);
        self.push(step.to(0, dst).effect());
        dst
    }

    /// Where the program runs on an axis: the middle of the pixel, or the place of the sample.
    fn position(&mut self, axis: usize) -> Src {
        let (register, within) = match self.fragment.sample {
            Some(place) if self.abi.sampled => {
                (PIXEL_OF_SAMPLE[axis], Src::Reg(place[axis].into()))
            }
            _ => (PIXEL[axis], HALF),
        };
        let number = self.special(register);
        let float = self.unpacked(PACK_U32, 0, Src::Reg(number.into()));
        Src::Reg(self.p0(Word::usual(Main::Fadd.op()), &[Src::Reg(float.into()), within]).into())
    }

    /// Where the sample lies in its pixel, to the right and down. Its byte tells it in sixteenths ([`crate::abi::PLACES`]).
    fn sample_place(&mut self, first: u16) -> [VReg; 2] {
        let number = self.special(SAMPLE);
        let number = Src::Reg(number.into());
        // The byte of sample 0 within its word, and that word.
        let (skipped, at) = match self.abi.samples {
            2 => (2, 0),
            4 => (0, 1),
            _ => (0, 2),
        };
        let bytes = self.fresh();
        self.push(Step::copy(bytes, Src::Fixed(Register::Shared(first + at))));
        let mut bytes = Src::Reg(bytes.into());
        let mut byte = number;
        if self.abi.samples > 4 {
            // The word behind it has the others: the two are exchanged where their difference is taken.
            let (two, three) = (self.number(2), self.number(3));
            let behind = self.shift(super::alu::RIGHT, number, two);
            let differ =
                self.logical(super::alu::XOR, bytes, Src::Fixed(Register::Shared(first + at + 1)));
            let differ = self.p0(
                Word::usual(Main::Imadd32.op()),
                &[Src::Reg(differ.into()), Src::Reg(behind.into()), Src::ZERO],
            );
            bytes = Src::Reg(self.logical(super::alu::XOR, bytes, Src::Reg(differ.into())).into());
            byte = Src::Reg(self.logical(super::alu::AND, number, three).into());
        }
        let three = self.number(3);
        let mut bits = Src::Reg(self.shift(super::alu::LEFT, byte, three).into());
        if skipped > 0 {
            // Sample 1 is 8 bits behind: the bits do not meet.
            let from = self.number(8 * skipped);
            bits = Src::Reg(self.logical(super::alu::OR, bits, from).into());
        }
        let right = self.shift(super::alu::RIGHT, bytes, bits);
        let four = self.number(4);
        let down = self.shift(super::alu::RIGHT, Src::Reg(right.into()), four);
        [right, down].map(|sixteenths| {
            let mask = self.number(15);
            let low = self.logical(super::alu::AND, Src::Reg(sixteenths.into()), mask);
            let float = self.unpacked(PACK_U32, 0, Src::Reg(low.into()));
            self.p0(Word::usual(Main::Fmul.op()), &[Src::Reg(float.into()), SIXTEENTH])
        })
    }

    pub(super) fn fragment_input(&mut self, input: Input, component: u8) -> Result<Src, Failure> {
        if let Some(&reg) = self.fragment.inputs.get(&(input, component)) {
            return Ok(Src::Reg(reg.into()));
        }
        Ok(match (self.ssa.inputs[input].kind, component) {
            (InputKind::Builtin(Builtin::Position), 0 | 1) => self.position(component.into()),
            (InputKind::Builtin(Builtin::Position), 2 | 3) => {
                let reg = self.fragment.place[usize::from(component) - 2];
                reg.map_or(Src::ZERO, |reg| Src::Reg(reg.into()))
            }
            (InputKind::Builtin(Builtin::FrontFacing), _) => {
                let face = self.special(FACE);
                let operands = [Src::Reg(face.into()), Src::ZERO];
                let asked = Asked { test: test::EQUAL, ty: test::U32, operands };
                Src::Reg(self.truth(asked).into())
            }
            // The one sample lies in the middle.
            (InputKind::Builtin(Builtin::SamplePosition), _) => match self.fragment.sample {
                Some(place) => Src::Reg(place[usize::from(component & 1)].into()),
                None => HALF,
            },
            (InputKind::Builtin(Builtin::Layer), _) => Src::Reg(self.special(LAYER).into()),
            (InputKind::Builtin(Builtin::SampleIndex), _) => Src::Reg(self.special(SAMPLE).into()),
            (InputKind::Builtin(Builtin::SampleMask), _) => {
                let dst = self.fresh();
                let step = Step::backend(Word::usual(Backend::Savmsk.op())).to(0, dst);
                self.push(step);
                Src::Reg(dst.into())
            }
            (InputKind::Builtin(which), _) => match self.subgroup_input(which) {
                Some(src) => src,
                None => return Err(self.not_yet("this input of fragments")),
            },
            _ => return Err(self.not_yet("this input of fragments")),
        })
    }

    pub(super) fn fragment_output(&mut self, data: &InstData) -> Result<(), Failure> {
        self.kept_output(data)
    }

    pub(super) fn demote(&mut self) -> Result<(), Failure> {
        if let Some(killed) = self.fragment.killed {
            self.push(Step::copy(killed, Src::ONE));
        }
        Ok(())
    }

    /// Whether an invocation is not covered, or was demoted.
    pub(super) fn helps(&mut self, data: &InstData) -> Result<(), Failure> {
        let mask = self.fresh();
        self.push(Step::backend(Word::usual(Backend::Savmsk.op())).to(0, mask));
        let operands = [Src::Reg(mask.into()), Src::ZERO];
        let mut helps = self.truth(Asked { test: test::EQUAL, ty: test::U32, operands });
        if let Some(killed) = self.fragment.killed {
            helps = self.logical(super::alu::OR, Src::Reg(helps.into()), Src::Reg(killed.into()));
        }
        self.values[data.results[0]] = Some(Src::Reg(helps.into()));
        Ok(())
    }

    /// p0 where the invocation was not demoted.
    pub(super) fn alive(&mut self, killed: VReg) {
        let operands = [Src::Reg(killed.into()), Src::ZERO];
        self.compare(Asked { test: test::EQUAL, ty: test::U32, operands });
    }

    /// The depth that goes back: the one that is computed, or that of the pixel's place where the program stores. It lies within 0
    /// and 1, unless the pipeline lets it lie beyond. Tests before the program have theirs. 4.2.
    fn depth(&mut self) -> Option<Src> {
        let depth = if computes_depth(self.ssa) {
            let output = self.ssa.outputs.iter().find_map(|(output, data)| {
                (data.kind == OutputKind::Builtin(Builtin::FragDepth)).then_some(output)
            });
            self.written(output?, 0).unwrap_or(Src::ZERO)
        } else if let (true, Some(set)) = (self.abi.returns_z, self.abi.z) {
            // Where there are several samples each gives its own, also beside a position in the middle of the pixel.
            let several = self.abi.samples > 1;
            let reg = match self.fragment.place[0] {
                Some(reg) if self.abi.sampled == several => reg,
                _ => {
                    let reg = self.fresh();
                    self.iterate(&[reg], set, None, if several { AT_SAMPLE } else { AT_PIXEL });
                    reg
                }
            };
            Src::Reg(reg.into())
        } else {
            return None;
        };
        if depth == Src::ZERO || self.abi.unrestricted {
            return Some(depth);
        }
        let word = Word::usual(Main::Fmul.op()).with(f::SAT, 1);
        Some(Src::Reg(self.p0(word, &[depth, ONE]).into()))
    }

    /// Feedback of those that survive, then the colours. Where tests are early nothing goes back. 2.8, 4.2.
    pub(super) fn end_fragment(&mut self) -> Result<(), Failure> {
        let ssa = self.ssa;
        let depth = self.depth();
        let masked = ssa.outputs.iter().find_map(|(output, data)| {
            (data.kind == OutputKind::Builtin(Builtin::SampleMask)).then_some(output)
        });
        if let Some(mask) = masked.and_then(|output| self.written(output, 0)) {
            // Whoever leaves no sample is gone, and of several who does not leave its own.
            let mut mask = mask;
            if self.abi.samples > 1 {
                let number = self.special(SAMPLE);
                let bit = self.shift(super::alu::LEFT, Src::ONE, Src::Reg(number.into()));
                mask = Src::Reg(self.logical(super::alu::AND, mask, Src::Reg(bit.into())).into());
            }
            let operands = [mask, Src::ZERO];
            let mut gone = self.truth(Asked { test: test::EQUAL, ty: test::U32, operands });
            if let Some(killed) = self.fragment.killed {
                gone = self.logical(super::alu::OR, Src::Reg(gone.into()), Src::Reg(killed.into()));
            }
            self.fragment.killed = Some(gone);
        }
        if ssa.early_fragment_tests {
            // The depth is written before the program, whoever survives. The colours are not.
            return match self.abi.outputs.is_empty() {
                true => Ok(()),
                false => self.living(|lower| lower.end_colors()),
            };
        }
        let killed = self.fragment.killed;
        if let Some(killed) = killed {
            self.alive(killed);
        }
        let feedback = match depth {
            Some(depth) => {
                let step = Step::backend(Word::usual(Backend::Depthf.op())).from(0, depth);
                Some(step.select(4, Feed::Fte))
            }
            None => killed.map(|_| {
                // 0 is always as it is compared with 0.
                Step::backend(Word::usual(Backend::Alphaf.op()))
                    .from(2, Src::Fixed(Register::Special(7)))
            }),
        };
        if let Some(mut step) = feedback {
            if killed.is_some() {
                step.group.condition = Condition::IfP0;
            }
            self.push(step.message(Message::Reads));
        }
        self.end_colors()
    }

    /// The colours, in output registers and tile buffers. 4.2.
    fn end_colors(&mut self) -> Result<(), Failure> {
        let abi = self.abi;
        let mut tiles: Vec<(u16, Src)> = Vec::new();
        for words in &abi.outputs {
            if let Some(color) = abi.colors.iter().find(|color| color.output == words.what) {
                self.packed_color(color, words.first);
                continue;
            }
            for component in 0..words.count {
                let Some(value) = self.written(words.what, component) else { continue };
                let at = words.first + u16::from(component);
                match at.checked_sub(abi.output_registers()) {
                    Some(behind) => tiles.push((behind, value)),
                    None => self.put_out(Step::p0(Word::usual(Main::Mbyp.op())).from(0, value), at),
                }
            }
        }
        self.store_tiles(&tiles);
        Ok(())
    }

    /// A group whose W0 is an output register. 1.1: it checks for overlap.
    fn put_out(&mut self, mut step: Step, at: u16) {
        step.group.olchk = true;
        self.push(step.fixed(0, Register::pixout(at as u8)));
    }

    /// A colour in the form of its target, from an output register on.
    fn packed_color(&mut self, color: &Color, first: u16) {
        let half = self.ssa.outputs[color.output].scalar == Scalar::F16;
        let mut values: SmallVec<[Src; 4]> = SmallVec::new();
        for component in 0..color.format.components() as u8 {
            let mut value = self.written(color.output, component).unwrap_or(Src::ZERO);
            if half {
                value = Src::Reg(self.unpacked(F16F16, 0, value).into());
            }
            if color.stored.gamma {
                let word = Word::usual(Main::Fadd.op()).with(f::SAT, 1);
                value = Src::Reg(self.p0(word, &[value, Src::ZERO]).into());
            }
            values.push(value);
        }
        let packed = color.stored.packed;
        for (part, at) in values.chunks(packed.together()).zip(first..) {
            let step = match packed {
                Packed::Pack(format, scale, _) => self.pack_step(format, scale, part),
                Packed::Integers(bits, signed) => {
                    let word = self.joined(part, bits, signed);
                    Step::p0(Word::usual(Main::Mbyp.op())).from(0, word)
                }
                Packed::Words(_) => Step::p0(Word::usual(Main::Mbyp.op())).from(0, part[0]),
            };
            self.put_out(step, at);
        }
    }
}
