//! Textures, images and the interfaces of vertex and fragment programs: not built yet.

use super::Lower;
use crate::api::Failure;
use gpucc_ir::ssa::{AtomicOp, Input, Inst, Output, Resource, TexOp, TexQuery, Value};

impl Lower<'_> {
    pub(super) fn tex(&mut self, _: Inst, _: TexOp) -> Result<(), Failure> {
        Err(self.not_yet("textures"))
    }
    pub(super) fn tex_query(&mut self, _: Inst, _: Resource, _: TexQuery) -> Result<(), Failure> {
        Err(self.not_yet("texture queries"))
    }
    pub(super) fn image_store(&mut self, _: Inst, _: Resource) -> Result<(), Failure> {
        Err(self.not_yet("storage textures"))
    }
    pub(super) fn image_atomic(
        &mut self,
        _: Inst,
        _: Resource,
        _: AtomicOp,
    ) -> Result<(), Failure> {
        Err(self.not_yet("storage texture atomics"))
    }
    pub(super) fn prologue_vertex(&mut self) -> Result<(), Failure> {
        Err(self.not_yet("vertex programs"))
    }
    pub(super) fn prologue_fragment(&mut self) -> Result<(), Failure> {
        Err(self.not_yet("fragment programs"))
    }
    pub(super) fn epilogue_vertex(&mut self) -> Result<(), Failure> {
        Err(self.not_yet("vertex programs"))
    }
    pub(super) fn epilogue_fragment(&mut self) -> Result<(), Failure> {
        Err(self.not_yet("fragment programs"))
    }
    pub(super) fn input_vertex(&mut self, _: Value, _: Input, _: u8) -> Result<(), Failure> {
        Err(self.not_yet("vertex programs"))
    }
    pub(super) fn input_fragment(&mut self, _: Value, _: Input, _: u8) -> Result<(), Failure> {
        Err(self.not_yet("fragment programs"))
    }
    pub(super) fn output_vertex(&mut self, _: Output, _: u8, _: Value) -> Result<(), Failure> {
        Err(self.not_yet("vertex programs"))
    }
    pub(super) fn output_fragment(&mut self, _: Output, _: u8, _: Value) -> Result<(), Failure> {
        Err(self.not_yet("fragment programs"))
    }
}
