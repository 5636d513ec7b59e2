//! Vertices: attributes in vertex inputs, outputs to the vertex buffer. isa/rogue-pipeline.md 2.8, 4.1.

use super::Lower;
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::Feed;
use crate::isa::ops::Backend;
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Builtin, Input, InstData, Output, OutputKind, Scalar};
use gpucc_isa::Inst as Word;

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
        for component in 0..4 {
            self.emit_word(position, component, component.into());
        }
        for words in &abi.outputs {
            for component in 0..words.count {
                let at = words.first + u16::from(component);
                self.emit_word(Some(words.what), component, at);
            }
        }
        Ok(())
    }

    fn emit_word(&mut self, output: Option<Output>, component: u8, at: u16) {
        let value = output.and_then(|output| self.written(output, component));
        let value = value.unwrap_or(Src::Fixed(Register::ZERO));
        let word = Word::usual(Backend::UvswWrite.op()).with(f::ADDRESS, at.into());
        self.push(Step::backend(word).from(0, value).select(4, Feed::Fte));
    }
}
