//! Lowering of bindings: blocks, textures, samplers, counters; shared and private variables.

use super::layout::{Packing, Rule};
use super::lower::{Handle, OfGlsl, Pointer, Slot};
use super::tree::{Class, Global};
use super::types::{Form, Image, Opaque, Shape, Ty};
use crate::Diagnostic;
use crate::lower::Result;
use crate::lower::frame::Place;
use crate::lower::resource::{IMMEDIATE_GROUP, UNSIZED};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    Dim, ImageAccess, MemSpace, Resource, ResourceData, ResourceKind, SampleType, Scalar,
    TexelFormat,
};
use naga::ScalarKind;

impl<'p> OfGlsl<'p> {
    /// Declares what the functions use: bindings in order, then variables.
    pub(super) fn resources(&mut self, used: &[u32]) -> Result<()> {
        let program = self.source.p;
        let mut bound = Vec::new();
        let mut loose = false;
        for &number in used {
            let global = &program.globals[number as usize];
            match global.class {
                Class::Uniform(_) | Class::Storage(_) | Class::Handle | Class::Counter => {
                    bound.push((global.bound.set, global.bound.binding, number));
                }
                Class::Push(_) => bound.push((IMMEDIATE_GROUP, 0, number)),
                Class::Loose(_) => loose = true,
                _ => {}
            }
        }
        if let (true, Some((_, place))) = (loose, program.loose) {
            // It stands before all others of its binding.
            bound.push((place.set, place.binding, u32::MAX));
        }
        bound.sort_unstable();
        for (group, binding, number) in bound {
            if number == u32::MAX {
                self.loose_block(group, binding)?;
                continue;
            }
            let global = &program.globals[number as usize];
            self.span = global.span;
            let slot = self.bind(global, group, binding).map_err(|stop| stop.at(global.span))?;
            self.source.globals.insert(number, slot);
        }
        for &number in used {
            let global = &program.globals[number as usize];
            let space = match global.class {
                Class::Private | Class::Const => MemSpace::Private,
                Class::Shared | Class::SharedBlock(_) => MemSpace::Workgroup,
                _ => continue,
            };
            self.span = global.span;
            let pointer = match global.class {
                Class::SharedBlock(rule) => self.shared_block_of(global, rule),
                Class::Shared => self.shared_variable(global),
                _ => self.memory(&global.name, global.ty, space),
            };
            let pointer = pointer.map_err(|stop| stop.at(global.span))?;
            if space == MemSpace::Private && global.init.is_none() {
                let initial = self.initial;
                self.within(initial, |lower| lower.zero(&pointer))?;
            }
            self.source.globals.insert(number, Slot::Memory(pointer));
        }
        Ok(())
    }

    fn shared_block_of(&mut self, global: &Global, rule: Rule) -> Result<Pointer> {
        let packing = Packing::of(rule, global.row_major);
        let bytes = self.source.p.types.extent(global.ty, packing).0;
        let place = self.shared_block(&global.name, bytes)?;
        Ok(Pointer { place, ty: global.ty, packing, bindings: false })
    }

    fn shared_variable(&mut self, global: &Global) -> Result<Pointer> {
        let bytes = self.source.p.types.count(global.ty).1;
        let mem = self.workgroup_variable(&global.name, bytes)?;
        let place = self.place_of(mem);
        Ok(Pointer { place, ty: global.ty, packing: Packing::DENSE, bindings: false })
    }

    fn loose_block(&mut self, group: u32, binding: u32) -> Result<()> {
        let Some((ty, _)) = self.source.p.loose else {
            return Err(Stop::internal("a uniform without its block"));
        };
        let size = self.block_size(ty, Packing::of(super::finish::LOOSE, false))?.0;
        let (scalar, mixed) = self.source.p.types.held(ty);
        let data = ResourceData {
            group,
            binding,
            name: "gpucc_Uniforms".to_owned(),
            kind: ResourceKind::Uniform { size },
            count: None,
            scalar,
            mixed,
        };
        self.source.loose = Some(self.func.resources.push(data));
        Ok(())
    }

    /// Elements of an array of bindings, all its dimensions together.
    fn count(&mut self, global: &Global) -> Result<Option<u32>> {
        let types = &self.source.p.types;
        let (mut ty, mut count) = (global.ty, None::<u32>);
        while let Ty::Array(id) = ty {
            let (of, length) = types.array(id);
            let length = length.unwrap_or_else(|| {
                let text = format!(
                    "the array of bindings `{}` has no size: it is taken for {UNSIZED} elements",
                    global.name
                );
                self.notes.push(Diagnostic::note("binding-array", text).at(global.span, ""));
                UNSIZED
            });
            count = Some(count.unwrap_or(1).saturating_mul(length));
            ty = of;
        }
        Ok(count)
    }

    fn bind(&mut self, global: &Global, group: u32, binding: u32) -> Result<Slot> {
        let types = &self.source.p.types;
        let count = match global.class {
            Class::Counter => None,
            _ => self.count(global)?,
        };
        let inner = types.innermost(global.ty);
        let push = |lower: &mut Self, kind, (scalar, mixed)| -> Resource {
            let name = global.name.clone();
            let data = ResourceData { group, binding, name, kind, count, scalar, mixed };
            lower.func.resources.push(data)
        };
        let packing = match global.class {
            Class::Uniform(rule) | Class::Storage(rule) | Class::Push(rule) => {
                Packing::of(rule, global.row_major)
            }
            Class::Counter => {
                let elements = self.count(global)?.unwrap_or(1);
                let size = elements.saturating_mul(4);
                let access = ImageAccess { load: true, store: true, atomic: false };
                let kind = ResourceKind::Storage { size, stride: 0, access };
                let place = Place::buffer(push(self, kind, (Scalar::U32, false)), None);
                let packing = Packing::of(Rule::Std430, false);
                return Ok(Slot::Memory(Pointer {
                    place,
                    ty: global.ty,
                    packing,
                    bindings: false,
                }));
            }
            _ => {
                let plain = |lower: &mut Self, kind, scalar| push(lower, kind, (scalar, false));
                return self.bind_handle(global, inner, &plain);
            }
        };
        let (size, stride) = self.block_size(inner, packing)?;
        let kind = match global.class {
            Class::Uniform(_) => ResourceKind::Uniform { size },
            Class::Push(_) => ResourceKind::Immediate { size },
            _ => {
                let access = ImageAccess { load: true, store: !global.read_only, atomic: false };
                ResourceKind::Storage { size, stride, access }
            }
        };
        let place = Place::buffer(push(self, kind, types.held(inner)), None);
        let bindings = count.is_some();
        Ok(Slot::Memory(Pointer { place, ty: global.ty, packing, bindings }))
    }

    fn bind_handle(
        &mut self,
        global: &Global,
        inner: Ty,
        push: &dyn Fn(&mut Self, ResourceKind, Scalar) -> Resource,
    ) -> Result<Slot> {
        let sampler = |lower: &mut Self, comparison| {
            Some((push(lower, ResourceKind::Sampler { comparison }, Scalar::U32), None))
        };
        let ty = global.ty;
        Ok(Slot::Handle(match inner {
            Ty::Opaque(Opaque::Sampler { shadow }) => {
                let sampler = sampler(self, shadow || global.compared);
                Handle { texture: None, sampler, ty }
            }
            Ty::Opaque(Opaque::Image(image)) => {
                let (kind, scalar) = self.image_kind(global, image)?;
                let texture = Some((push(self, kind, scalar), None));
                let sampler = match image.form {
                    Form::Combined => sampler(self, image.shadow),
                    _ => None,
                };
                Handle { texture, sampler, ty }
            }
            _ => return Err(Stop::internal("a texture or sampler is expected")),
        }))
    }

    fn image_kind(&mut self, global: &Global, image: Image) -> Result<(ResourceKind, Scalar)> {
        let dim = match image.shape {
            // A texel buffer is a texture of one level to machines and drivers.
            Shape::D1 | Shape::Buffer => Dim::D1,
            Shape::D2 | Shape::Rect => Dim::D2,
            Shape::D3 => Dim::D3,
            Shape::Cube => Dim::Cube,
        };
        let (sample, scalar) = match image.texel.kind {
            ScalarKind::Sint => (SampleType::Sint, Scalar::I32),
            ScalarKind::Uint => (SampleType::Uint, Scalar::U32),
            _ => (SampleType::Float, Scalar::F32),
        };
        let arrayed = image.arrayed;
        if image.form != Form::Storage {
            let compared = image.shadow || global.compared && image.form == Form::Texture;
            let sample = if compared { SampleType::Depth } else { sample };
            let multisampled = image.multisampled;
            return Ok((ResourceKind::Texture { dim, arrayed, sample, multisampled }, scalar));
        }
        if image.multisampled {
            return Err(Stop::unsupported("multisampled storage images", super::READING));
        }
        if dim == Dim::Cube {
            return Err(Stop::unsupported("storage images of cubes", super::READING));
        }
        let format = match global.format {
            Some(format) => format,
            None => super::finish::widest(image.texel.kind, global.compared).0,
        };
        let access = ImageAccess {
            load: !global.write_only,
            store: !global.read_only,
            atomic: global.compared,
        };
        Ok((
            ResourceKind::StorageTexture {
                dim,
                arrayed,
                format: TexelFormat(format),
                sample,
                access,
            },
            scalar,
        ))
    }

    /// Bytes of a block before its runtime array, and the stride of that.
    fn block_size(&self, ty: Ty, packing: Packing) -> Result<(u32, u32)> {
        let types = &self.source.p.types;
        let fits = |bytes: u64| {
            u32::try_from(bytes).map_err(|_| {
                Stop::limit("bytes of one type", bytes, u32::MAX.into(), "declare shorter arrays")
            })
        };
        let Ty::Struct(id) = ty else {
            return Err(Stop::internal("a block is a structure"));
        };
        let last = types.structure(id).members.len().wrapping_sub(1);
        if let Some(member) = types.structure(id).members.get(last)
            && let Some((_, None)) = types.elements(member.ty)
        {
            let (offset, own) = types.member_at(id, last as u32, packing);
            return Ok((offset, types.stride(member.ty, own).0));
        }
        // Bytes are parts of words.
        let least = if self.source.p.has_bytes { 4 } else { 1 };
        let bytes = types.end_of(ty, packing).next_multiple_of(types.alignment(ty).max(least));
        Ok((fits(bytes)?, 0))
    }
}
