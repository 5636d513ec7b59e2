//! Vertices: attributes in vertex inputs, outputs to the vertex buffer. isa/rogue-pipeline.md 2.8, 4.1.

use super::{Lower, alu};
use crate::attribute::{Kind, Packing};
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Feed;
use crate::isa::ops::{Backend, Main};
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Reg, Role};
use gpucc_ir::ssa::{
    Builtin, Input, InputKind, InstData, Interpolation, Output, OutputData, OutputKind, Scalar,
};
use gpucc_isa::Inst as Word;

/// How often a group repeats. 1.1.
const MOST: usize = 4;
/// Formats of packs whose neighbours have signs. 2.3.
const U8888: u32 = 0;
const U1616: u32 = 3;
const U1010102: u32 = 8;

impl Lower<'_> {
    pub(super) fn begin_vertex(&mut self) -> Result<(), Failure> {
        self.begin_outputs();
        Ok(())
    }

    /// A vertex input is a source of every port.
    pub(super) fn vertex_input(&mut self, input: Input, component: u8) -> Result<Src, Failure> {
        let place = self.abi.attributes.iter().find(|words| words.what == input);
        Ok(match place {
            Some(words) => match self.abi.packings[input] {
                None => Src::Fixed(Register::Vtxin(words.first)),
                Some(packing) if u32::from(component) < packing.components => {
                    self.component(packing, words.first, component.into(), input)
                }
                // What an attribute lacks is 0, and 1 in its fourth component.
                Some(_) if component < 3 => Src::ZERO,
                Some(_) => self.one(input),
            },
            None => {
                let found = match self.ssa.inputs[input].kind {
                    InputKind::Builtin(which) => self.subgroup_input(which),
                    InputKind::Location { .. } | InputKind::Corner { .. } => None,
                };
                found.ok_or_else(|| self.not_yet("this input of vertices"))?
            }
        })
    }

    /// The number 1 as an input has it.
    fn one(&mut self, input: Input) -> Src {
        match self.ssa.inputs[input].scalar {
            Scalar::F32 => self.number(1f32.to_bits()),
            Scalar::F16 => self.number(0x3c00),
            _ => self.number(1),
        }
    }

    /// A component of an attribute out of its words. 2.3.
    fn component(&mut self, packing: Packing, first: u16, component: u32, input: Input) -> Src {
        let component = match (packing.swapped, component) {
            (true, 0) => 2,
            (true, 2) => 0,
            (_, component) => component,
        };
        let bit = packing.shift + packing.bits * component;
        let (word, element) = match packing.bits {
            10 => (0, component),
            bits => (bit / 32, bit % 32 / bits),
        };
        let word = Src::Fixed(Register::Vtxin(first + word as u16));
        let reg = match packing.kind {
            Kind::Word => return word,
            Kind::Half if self.ssa.inputs[input].scalar == Scalar::F16 => match element {
                0 => {
                    let mask = self.number(0xffff);
                    self.logical(alu::AND, word, mask)
                }
                _ => {
                    let by = self.number(16);
                    self.shift(alu::RIGHT, word, by)
                }
            },
            Kind::Half => self.unpacked(alu::PACK_HALVES, element, word),
            Kind::Normalised { signed } => {
                let format = match packing.bits {
                    8 => U8888 + u32::from(signed),
                    16 => U1616 + u32::from(signed),
                    _ => U1010102,
                };
                let unpack = Word::usual(Main::Unpck.op()).with(f::FORMAT, format);
                self.p0(unpack.with(f::ELEM, element).with(f::SCALE, 1), &[word])
            }
            Kind::Integer { signed } => {
                let above = 32 - packing.bits;
                let up = self.number(above - bit % 32);
                let high = Src::Reg(self.shift(alu::LEFT, word, up).into());
                let down = self.number(above);
                self.shift(if signed { alu::ARITHMETIC } else { alu::RIGHT }, high, down)
            }
        };
        Src::Reg(reg.into())
    }

    pub(super) fn vertex_output(&mut self, data: &InstData) -> Result<(), Failure> {
        self.kept_output(data)
    }

    /// Every word of the vertex is written: what nobody gave is 0.
    pub(super) fn end_vertex(&mut self) -> Result<(), Failure> {
        let (ssa, abi) = (self.ssa, self.abi);
        let position = ssa.outputs.iter().find_map(|(output, data)| {
            (data.kind == OutputKind::Builtin(Builtin::Position)).then_some(output)
        });
        let mut words: Vec<(u16, Src)> = Vec::new();
        let mut add = |lower: &mut Self, output: Option<Output>, component, at| {
            let value = output.and_then(|output| lower.written(output, component));
            let mut value = value.unwrap_or(Src::ZERO);
            if output.is_some_and(|output| iterated_half(&lower.ssa.outputs[output])) {
                value = Src::Reg(lower.unpacked(alu::PACK_HALVES, 0, value).into());
            }
            words.push((at, value));
        };
        for component in 0..4 {
            add(self, position, component, component.into());
        }
        for place in &abi.outputs {
            for component in 0..place.count {
                add(self, Some(place.what), component, place.first + u16::from(component));
            }
        }
        let mut rest = &words[..];
        while !rest.is_empty() {
            let next = |pair: &[(u16, Src)]| pair[1].0 == pair[0].0 + 1;
            let row = 1 + rest.windows(2).take_while(|pair| next(pair)).count();
            let count = self.emit_words(&rest[..row.min(MOST)]);
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Writes the first of words that follow each other: as many as one group can, which it gives. A group that repeats takes registers
    /// that follow each other. 1.1.
    fn emit_words(&mut self, words: &[(u16, Src)]) -> usize {
        let (at, first) = words[0];
        let follows = |(_, src): &(u16, Src), by: u16| match (first, *src) {
            (Src::Fixed(Register::Vtxin(first)), Src::Fixed(Register::Vtxin(other))) => {
                other == first + by
            }
            _ => false,
        };
        let run = words.iter().zip(0u16..).take_while(|(word, by)| follows(word, *by)).count();
        let word = Word::usual(Backend::UvswWrite.op()).with(f::ADDRESS, at.into());
        let step = Step::backend(word).select(4, Feed::Fte);
        let is_fixed = |src: &Src| matches!(src, Src::Fixed(_));
        // What lies in a row is written as it lies; of two constants, each is written as it is.
        let (count, mut step) = match run {
            2.. => (run, step.from(0, first)),
            _ if words.iter().filter(|(_, src)| !is_fixed(src)).count() < 2 => {
                (1, step.from(0, first))
            }
            _ => {
                let regs: Vec<Reg> = words.iter().map(|&(_, src)| self.own(src)).collect();
                (regs.len(), step.range(0, &regs, Role::Use))
            }
        };
        step.group.repeat = count as u8;
        self.push(step);
        count
    }
}

/// An output of halves that is iterated between the vertices: its words are floats of 32 bits.
pub fn iterated_half(data: &OutputData) -> bool {
    data.scalar == Scalar::F16
        && matches!(data.kind, OutputKind::Location { interpolation, .. }
            if interpolation != Interpolation::Flat)
}
