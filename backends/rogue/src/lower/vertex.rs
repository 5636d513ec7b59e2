//! Vertices: attributes in vertex inputs, outputs to the vertex buffer. isa/rogue-pipeline.md 2.8, 4.1.

use super::Lower;
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Feed;
use crate::isa::ops::Backend;
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Reg, Role};
use gpucc_ir::ssa::{Builtin, Input, InstData, Output, OutputKind, Scalar};
use gpucc_isa::Inst as Word;

/// How often a group repeats. 1.1.
const MOST: usize = 4;

impl Lower<'_> {
    pub(super) fn begin_vertex(&mut self) -> Result<(), Failure> {
        self.begin_outputs();
        Ok(())
    }

    /// A vertex input is a source of every port.
    pub(super) fn vertex_input(&mut self, input: Input, component: u8) -> Result<Src, Failure> {
        let place = self.abi.attributes.iter().find(|words| words.what == input);
        Ok(match place {
            Some(words) if component < words.count => {
                Src::Fixed(Register::Vtxin(words.first + u16::from(component)))
            }
            // What an attribute lacks is 0, and 1 in its fourth component.
            Some(_) if component == 3 => match self.ssa.inputs[input].scalar {
                Scalar::F32 => self.number(1f32.to_bits()),
                _ => self.number(1),
            },
            Some(_) => Src::Fixed(Register::ZERO),
            None => return Err(self.not_yet("this input of vertices")),
        })
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
        let mut add = |lower: &Self, output: Option<Output>, component, at| {
            let value = output.and_then(|output| lower.written(output, component));
            words.push((at, value.unwrap_or(Src::Fixed(Register::ZERO))));
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
