//! Storage textures that the program writes: linear surfaces of doublewords behind the data port. The driver tells sizes, texels of
//! a row and rows of a slice; texels outside are dropped and read as 0. docs/abi-gen4.md, Memory.

use super::{Lower, Place};
use crate::abi::{self, Told};
use crate::inst::{Condition, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::Block;
use gpucc_ir::ssa::{InstData, Resource, ResourceKind, TexQuery, Value};
use gpucc_machine::described::ImageWord;
use gpucc_passes::expand::image::dwords;
use smallvec::SmallVec;

/// A texel: surface, byte, what holds where there is one, and doublewords.
struct Texel {
    surface: u8,
    at: Source,
    inside: SmallVec<[Test; 3]>,
    words: usize,
}

impl Lower<'_> {
    /// A number of an image or of a sampler that the driver tells.
    pub(super) fn told(
        &self,
        image: Resource,
        element: u32,
        which: Told,
    ) -> Result<Source, Failure> {
        match self.abi.told(image, element, which) {
            Some((register, dword)) => Ok(Src::Scalar { register, dword }.into()),
            None => Err(self.not_yet("this number of a binding")),
        }
    }

    /// The texel of the operands, and the operands behind its place.
    fn texel<'v>(
        &mut self,
        image: Resource,
        args: &'v [Value],
    ) -> Result<(Texel, &'v [Value]), Failure> {
        let ResourceKind::StorageTexture { format, .. } = self.ssa.resources[image].kind else {
            return Err(self.not_yet("texels of what is no storage texture"));
        };
        let words = dwords(format).ok_or_else(|| Failure::Internal {
            pass: "lower",
            message: format!("{} was not refused", format.0),
        })?;
        let element = abi::element(self.ssa, image, args);
        let mut rest = args;
        let surface = self.entry(self.abi.surface(image), image, &mut rest)?;
        let sizes = abi::axes(self.ssa, image);
        let (places, rest) = rest.split_at(sizes.len().min(rest.len()));
        let places: Vec<Source> = places.iter().map(|&value| self.source(value)).collect();
        let mut inside = SmallVec::new();
        for (&place, &size) in places.iter().zip(&sizes) {
            // The size, which is no number, stands first.
            let first = self.told(image, element, Told::Image(size))?;
            let (condition, ty) = (Condition::Greater, Ty::Ud);
            inside.push(Test { condition, ty, first, second: place, join: None });
        }
        let mut at = places[0];
        if let Some(&place) = places.get(1) {
            let mut row = place;
            if let Some(&slice) = places.get(2) {
                let rows = self.told(image, element, Told::Rows)?;
                row = self.linear(slice, rows, row);
            }
            let pitch = self.told(image, element, Told::Pitch)?;
            at = self.linear(row, pitch, at);
        }
        let bytes = self.fresh();
        let shift = Src::Bits((4 * words).trailing_zeros()).into();
        self.alu(Opcode::Shl, Ty::Ud, bytes, &[at, shift]);
        let at = Src::Reg(bytes.into()).into();
        Ok((Texel { surface, at, inside, words: words as usize }, rest))
    }

    /// `number * step + more`.
    fn linear(&mut self, number: Source, step: Source, more: Source) -> Source {
        let (product, sum) = (self.product(step, number), self.fresh());
        self.alu(Opcode::Add, Ty::D, sum, &[Src::Reg(product.into()).into(), more]);
        Src::Reg(sum.into()).into()
    }

    /// Opens a condition for lanes whose texel is there.
    fn begin_inside(&mut self, inside: &[Test]) -> Result<Block, Failure> {
        for (number, &test) in inside.iter().enumerate() {
            let join = (number > 0).then_some(false);
            self.push(Inst::Compare(Test { join, ..test }));
        }
        self.begin_if(false, false)
    }

    /// Stores the words of a texel.
    pub(super) fn image_store(&mut self, data: &InstData) -> Result<(), Failure> {
        let gpucc_ir::ssa::Imm::Resource(image) = data.imm else {
            return Err(self.not_yet("this store"));
        };
        let (texel, values) = self.texel(image, &data.args)?;
        let head = self.begin_inside(&texel.inside)?;
        for (offset, &value) in (0u32..).step_by(4).zip(&values[..texel.words.min(values.len())]) {
            let value = self.source(value);
            let (address, surface) = (texel.at, texel.surface);
            self.push(Inst::Write { address, value, offset, surface, slot: None });
        }
        self.end_if(head);
        Ok(())
    }

    /// Loads the words of a texel; beyond them stand 0 and, as the fourth component, 1.
    pub(super) fn image_load(&mut self, data: &InstData, image: Resource) -> Result<(), Failure> {
        let (texel, _) = self.texel(image, &data.args)?;
        let mut read = Vec::new();
        for (k, &result) in data.results.iter().enumerate() {
            if k >= texel.words {
                self.values[result] = Some(Place::Source(Src::Bits(u32::from(k == 3))));
            } else if self.in_registers.contains(result) {
                let dst = self.define(result);
                self.alu(Opcode::Mov, Ty::Ud, dst, &[Src::Bits(0).into()]);
                read.push((dst, 4 * k as u32));
            }
        }
        if read.is_empty() {
            return Ok(());
        }
        let head = self.begin_inside(&texel.inside)?;
        for (dst, offset) in read {
            let (address, surface) = (texel.at, texel.surface);
            self.push(Inst::Read { dst: dst.into(), address, offset, surface, slot: None });
        }
        self.end_if(head);
        Ok(())
    }

    /// Sizes and layers; there is one level.
    pub(super) fn image_query(
        &mut self,
        data: &InstData,
        image: Resource,
        query: TexQuery,
    ) -> Result<(), Failure> {
        let element = abi::element(self.ssa, image, &data.args);
        let sizes = [ImageWord::Width, ImageWord::Height, ImageWord::Depth];
        for (&result, size) in data.results.iter().zip(sizes) {
            let source = match query {
                TexQuery::Size => self.told(image, element, Told::Image(size))?,
                TexQuery::Layers => self.told(image, element, Told::Image(ImageWord::Layers))?,
                TexQuery::Levels | TexQuery::Samples | TexQuery::Sampler => Src::Bits(1).into(),
            };
            self.values[result] = Some(Place::Source(source.src));
        }
        Ok(())
    }
}
