//! Storage textures that the program stores to: linear surfaces in the scatter aperture. Each has a
//! base, a pitch and rows a slice in the driver's constants, and its size in a constant of its own.
//! Texels outside are dropped and read as 0. abi-r700: Driver constants; R700 ISA 3.4.2.

use super::{Lower, narrow};
use crate::api::Failure;
use crate::inst::{Inst, MemRead, MemWrite, Source, Space};
use crate::isa::AluOp;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{self, Dim, Resource, ResourceKind, TexQuery, Value};
use gpucc_passes::expand::image::dwords;
use smallvec::SmallVec;

impl Lower<'_> {
    /// True for a storage texture that stands in the scatter aperture.
    pub(super) fn is_linear_image(&self, resource: Resource) -> bool {
        matches!(self.ssa.resources[resource].kind, ResourceKind::StorageTexture { .. })
            && self.abi.slots[resource].aperture_index.is_some()
    }

    /// The constant element of an array of bindings, and the operands behind it.
    pub(super) fn element<'v>(&self, resource: Resource, args: &'v [Value]) -> (u32, &'v [Value]) {
        match (self.ssa.resources[resource].count, args) {
            (Some(count), [element, rest @ ..]) => {
                let number = self.const_bits(*element).unwrap_or(0);
                (number.min(count.saturating_sub(1)), rest)
            }
            _ => (0, args),
        }
    }

    /// Width, height, layers (or depth) of an image, from the driver.
    pub(super) fn image_constant(&mut self, resource: Resource, element: u32, chan: u8) -> Source {
        let first = self.abi.image_constant[resource];
        self.driver_constant(narrow(first + element), chan)
    }

    /// Where a texel is: its dword in the aperture (all ones where it is outside) and whether it is
    /// inside (0 or all ones); and the dwords of a texel.
    fn texel(
        &mut self,
        resource: Resource,
        args: &[Value],
    ) -> Result<(VReg, VReg, usize), Failure> {
        let ResourceKind::StorageTexture { dim, arrayed, format, .. } =
            self.ssa.resources[resource].kind
        else {
            return Err(self.not_yet("texels of what is no storage texture"));
        };
        let words = dwords(format).ok_or_else(|| Failure::Internal {
            pass: "lower",
            message: format!("{} was not refused", format.0),
        })?;
        let (element, args) = self.element(resource, args);
        let slot =
            self.abi.slots[resource].aperture_index.expect("stored images are in the aperture");
        let place = narrow(2 + slot + element);
        let axes: SmallVec<[Source; 3]> = args[..dim.coords() + usize::from(arrayed)]
            .iter()
            .map(|&value| self.plain(value))
            .collect();
        // A 1D array counts its layers where others count rows.
        let sizes: &[u8] = match (dim, arrayed) {
            (Dim::D1, true) => &[0, 2],
            _ => &[0, 1, 2],
        };
        let mut inside = None;
        for (&axis, &chan) in axes.iter().zip(sizes) {
            let size = self.image_constant(resource, element, chan);
            let below = self.alu(AluOp::SETGT_UINT, &[size, axis]);
            inside = Some(match inside {
                None => below,
                Some(all) => self.alu(AluOp::AND_INT, &[Source::reg(all), Source::reg(below)]),
            });
        }
        let inside = inside.expect("an image has an axis");
        let mut at = axes[0];
        if let Some(&row) = axes.get(1) {
            let mut row = row;
            if let Some(&slice) = axes.get(2) {
                let rows = self.driver_constant(place, 3);
                let first = self.alu(AluOp::MULLO_INT, &[slice, rows]);
                row = Source::reg(self.alu(AluOp::ADD_INT, &[Source::reg(first), row]));
            }
            let pitch = self.driver_constant(place, 2);
            let first = self.alu(AluOp::MULLO_INT, &[row, pitch]);
            at = Source::reg(self.alu(AluOp::ADD_INT, &[Source::reg(first), at]));
        }
        if words > 1 {
            let shift = Source::bits(words.trailing_zeros());
            at = Source::reg(self.alu(AluOp::LSHL_INT, &[at, shift]));
        }
        let base = self.driver_constant(place, 0);
        let index = self.alu(AluOp::ADD_INT, &[at, base]);
        let index = self.alu(
            AluOp::CNDE_INT,
            &[Source::reg(inside), Source::bits(u32::MAX), Source::reg(index)],
        );
        Ok((index, inside, words as usize))
    }

    /// Stores the words of a texel; the export unit drops what is outside of the aperture.
    pub(super) fn image_store(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
    ) -> Result<(), Failure> {
        let args: SmallVec<[Value; 8]> = SmallVec::from_slice(&self.ssa.insts[inst].args);
        let (index, _, words) = self.texel(resource, &args)?;
        let texel = args.len() - 4;
        let mut src = [None; 4];
        for (place, &value) in src.iter_mut().zip(&args[texel..texel + words]) {
            *place = Some(self.reg(value).into());
        }
        self.push(Inst::MemWrite(MemWrite {
            space: Space::Scatter,
            index: Some(index.into()),
            base: 0,
            size: 0,
            src,
            elements: words as u8,
            valid: false,
            slot: None,
        }));
        Ok(())
    }

    /// Loads the words of a texel.
    pub(super) fn image_load(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (args, results) = (data.args.clone(), data.results.clone());
        let (index, inside, words) = self.texel(resource, &args)?;
        let mut dst = [None; 4];
        let mut read: SmallVec<[(Value, VReg); 4]> = SmallVec::new();
        for (k, &result) in results.iter().enumerate() {
            if k >= words {
                let rest = u32::from(k == 3);
                self.values[result] = Some(super::Place::Source(crate::inst::Src::Bits(rest)));
            } else if self.uses.count(result) > 0 {
                let register = self.fresh();
                dst[k] = Some(register.into());
                read.push((result, register));
            }
        }
        if read.is_empty() {
            return Ok(());
        }
        let fetch = MemRead::scatter(index.into(), dst, words);
        self.push(Inst::MemRead(fetch));
        for (result, register) in read {
            let word = self.alu(AluOp::AND_INT, &[Source::reg(register), Source::reg(inside)]);
            self.define(result, word);
        }
        Ok(())
    }

    /// Size and layers of an image by the driver's constants.
    pub(super) fn image_query(&mut self, inst: ssa::Inst, resource: Resource, query: TexQuery) {
        let data = &self.ssa.insts[inst];
        let (args, results) = (data.args.clone(), data.results.clone());
        let (element, _) = self.element(resource, &args);
        for (k, &result) in results.iter().enumerate() {
            let chan = match query {
                TexQuery::Size => k as u8,
                TexQuery::Layers => 2,
                TexQuery::Levels | TexQuery::Samples | TexQuery::Sampler => 3,
            };
            let source = self.image_constant(resource, element, chan);
            self.values[result] = Some(super::Place::Source(source.src));
        }
    }
}
