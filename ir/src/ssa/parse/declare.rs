//! Declarations: bindings, stage inputs and outputs, variables.

use super::{Parser, Result, Token};
use crate::ssa::{
    Builtin, Dim, Func, ImageAccess, InputData, InputKind, Interpolation, MemData, MemSpace,
    OutputData, OutputKind, Part, ResourceData, ResourceKind, SampleType, Sampling, Scalar,
    TexelFormat,
};

impl Parser<'_> {
    pub(super) fn declaration(&mut self, func: &mut Func) -> Result<()> {
        let next = |number: usize, expected: usize| number == expected;
        if let Some(number) = self.entity_number("res") {
            if !next(number, func.resources.len()) {
                return self.error(format!("expected res{} next", func.resources.len()));
            }
            self.advance()?;
            let data = self.resource()?;
            func.resources.push(data);
        } else if let Some(number) = self.entity_number("in") {
            if !next(number, func.inputs.len()) {
                return self.error(format!("expected in{} next", func.inputs.len()));
            }
            self.advance()?;
            let data = self.input()?;
            func.inputs.push(data);
        } else if let Some(number) = self.entity_number("out") {
            if !next(number, func.outputs.len()) {
                return self.error(format!("expected out{} next", func.outputs.len()));
            }
            self.advance()?;
            let data = self.output()?;
            func.outputs.push(data);
        } else if let Some(number) = self.entity_number("mem") {
            if !next(number, func.mems.len()) {
                return self.error(format!("expected mem{} next", func.mems.len()));
            }
            self.advance()?;
            self.punct('=')?;
            let name = self.string()?;
            let space = self.member("private, workgroup or constant", MemSpace::by_word)?;
            let size = self.small()?;
            let mut words = Vec::new();
            if self.eat('[')? {
                loop {
                    words.push(self.small()?);
                    if !self.eat(',')? {
                        break;
                    }
                }
                self.punct(']')?;
            }
            func.mems.push(MemData { name, size, space, words });
        } else {
            return self.expected("a declaration (res0, in0, out0, mem0, ...) or '}'");
        }
        Ok(())
    }

    fn resource(&mut self) -> Result<ResourceData> {
        self.punct('=')?;
        let name = self.string()?;
        self.word("group")?;
        let group = self.small()?;
        self.word("binding")?;
        let binding = self.small()?;
        let kind = self.resource_kind()?;
        let count = if self.eat_word("count")? { Some(self.small()?) } else { None };
        self.word("as")?;
        let scalar = self.member("a scalar type", Scalar::by_word)?;
        let mixed = self.eat_word("mixed")?;
        Ok(ResourceData { group, binding, name, kind, count, scalar, mixed })
    }

    fn resource_kind(&mut self) -> Result<ResourceKind> {
        let Token::Word(word) = self.token else {
            return self.expected("a kind of binding");
        };
        Ok(match word {
            "uniform" => {
                self.advance()?;
                ResourceKind::Uniform { size: self.small()? }
            }
            "storage" => {
                self.advance()?;
                ResourceKind::Storage {
                    size: self.small()?,
                    stride: if self.eat_word("stride")? { self.small()? } else { 0 },
                    access: self.access()?,
                }
            }
            "immediate" => {
                self.advance()?;
                ResourceKind::Immediate { size: self.small()? }
            }
            "texture" => {
                self.advance()?;
                ResourceKind::Texture {
                    dim: self.member("a dimension", Dim::by_word)?,
                    arrayed: self.eat_word("arrayed")?,
                    sample: self.member("a sample type", SampleType::by_word)?,
                    multisampled: self.eat_word("multisampled")?,
                }
            }
            "storage_texture" => {
                self.advance()?;
                ResourceKind::StorageTexture {
                    dim: self.member("a dimension", Dim::by_word)?,
                    arrayed: self.eat_word("arrayed")?,
                    sample: self.member("a sample type", SampleType::by_word)?,
                    format: self.member("a texel format", TexelFormat::by_name)?,
                    access: self.access()?,
                }
            }
            "sampler" => {
                self.advance()?;
                ResourceKind::Sampler { comparison: self.eat_word("comparison")? }
            }
            _ => return self.expected("a kind of binding"),
        })
    }

    fn access(&mut self) -> Result<ImageAccess> {
        Ok(ImageAccess {
            load: self.eat_word("load")?,
            store: self.eat_word("store")?,
            atomic: self.eat_word("atomic")?,
        })
    }

    /// `= "name" scalar x n`.
    fn interface(&mut self) -> Result<(String, Scalar, u8)> {
        self.punct('=')?;
        let name = self.string()?;
        let scalar = self.member("a scalar type", Scalar::by_word)?;
        self.word("x")?;
        Ok((name, scalar, self.small()?))
    }

    fn builtin(&mut self) -> Result<Builtin> {
        let builtin = self.member("a built-in", Builtin::by_word)?;
        Ok(match builtin.number() {
            Some(_) => builtin.with_number(self.small()?),
            None => builtin,
        })
    }

    fn input(&mut self) -> Result<InputData> {
        let (name, scalar, components) = self.interface()?;
        let kind = if self.eat_word("builtin")? {
            InputKind::Builtin(self.builtin()?)
        } else if self.eat_word("corner")? {
            let vertex = self.small()?;
            let part = if self.eat_word("builtin")? {
                Part::Builtin(self.builtin()?)
            } else {
                self.word("location")?;
                Part::Location(self.small()?)
            };
            InputKind::Corner { vertex, part }
        } else {
            self.word("location")?;
            InputKind::Location {
                location: self.small()?,
                interpolation: self.member("an interpolation", Interpolation::by_word)?,
                sampling: self.member("a sampling", Sampling::by_word)?,
            }
        };
        Ok(InputData { kind, components, scalar, name })
    }

    fn output(&mut self) -> Result<OutputData> {
        let (name, scalar, components) = self.interface()?;
        let kind = if self.eat_word("builtin")? {
            OutputKind::Builtin(self.builtin()?)
        } else {
            self.word("location")?;
            OutputKind::Location {
                location: self.small()?,
                interpolation: self.member("an interpolation", Interpolation::by_word)?,
                blend_src: if self.eat_word("blend_src")? { self.small()? } else { 0 },
            }
        };
        Ok(OutputData { kind, components, scalar, name })
    }
}
