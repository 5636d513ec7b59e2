//! Variables of a module: memory, and bindings.

use super::default_block::NAME;
use super::program::{Function, Id, Program, READING, op, span};
use super::types::{Image, Matrices, Ty};
use super::{Bound, OfSpirv, Operand, Pointer};
use crate::lower::frame::Place;
use crate::lower::resource::{IMMEDIATE_GROUP, UNSIZED};
use crate::lower::types::{Parts, held};
use crate::lower::{Result, Values};
use crate::stop::Stop;
use crate::{Diagnostic, Needs};
use gpucc_ir::ssa::{
    Dim, ImageAccess, Op, Resource, ResourceData, ResourceKind, SampleType, Scalar, Stage,
    TexelFormat, Value,
};
use gpucc_ir::{Map, Set};
use naga::ScalarKind;
use rspirv::spirv::{Dim as Dims, ImageFormat, Op as Code, StorageClass};

/// Both may be loaded and stored.
const READ_WRITE: ImageAccess = ImageAccess { load: true, store: true, atomic: false };

impl<'p> OfSpirv<'p> {
    /// Group and binding of a variable.
    pub(super) fn place_of_binding(&self, id: Id) -> (u32, u32) {
        let program = self.source.program;
        let class = program.inst(id).and_then(|inst| StorageClass::from_u32(inst.operand(2)));
        if class == Some(StorageClass::PushConstant) {
            return (IMMEDIATE_GROUP, 0);
        }
        let decorations = program.decorations(id);
        (decorations.set.unwrap_or(0), decorations.binding.unwrap_or(0))
    }

    /// Finds the textures and samplers that comparisons use, those that atomics change, and those that are stored
    /// to.
    pub(super) fn find_uses(&mut self, order: &[&'p Function]) {
        let program = self.source.program;
        let (mut pending, mut texels, mut written) = (Vec::new(), Vec::new(), Vec::new());
        let mut calls = Vec::new();
        for function in order {
            for block in &function.blocks {
                for inst in &program.insts[block.from..=block.end] {
                    match op(inst) {
                        Code::ImageSampleDrefImplicitLod
                        | Code::ImageSampleDrefExplicitLod
                        | Code::ImageSampleProjDrefImplicitLod
                        | Code::ImageSampleProjDrefExplicitLod
                        | Code::ImageDrefGather => pending.push(inst.operand(2)),
                        Code::FunctionCall => calls.push(inst),
                        Code::ImageTexelPointer => texels.push(inst.operand(2)),
                        Code::ImageWrite => written.push(inst.operand(0)),
                        _ => {}
                    }
                }
            }
        }
        let mut arguments: Map<Id, Vec<Id>> = Map::default();
        for call in calls {
            let callee = program.function(call.operand(2));
            let parameters = callee.map_or(&[][..], |callee| &callee.parameters);
            for (&parameter, &argument) in parameters.iter().zip(call.rest(3)) {
                arguments.entry(parameter).or_default().push(argument);
            }
        }
        self.source.compared = variables_behind(program, &arguments, pending);
        self.source.texels = variables_behind(program, &arguments, texels);
        self.source.written = variables_behind(program, &arguments, written);
    }

    /// Makes the variable or binding of a global.
    pub(super) fn declare(&mut self, id: Id) -> Result<()> {
        if self.source.variables.contains_key(&id) || self.source.bindings.contains_key(&id) {
            return Ok(());
        }
        let program = self.source.program;
        let Some(inst) = program.inst(id) else {
            return Err(Stop::internal("a variable without its instruction"));
        };
        let outer = std::mem::replace(&mut self.span, span(inst));
        let result = self.make(id).map_err(|stop| stop.at(span(inst)));
        self.span = outer;
        result
    }

    fn make(&mut self, id: Id) -> Result<()> {
        let program = self.source.program;
        let inst = program.inst(id).expect("it is a variable");
        match StorageClass::from_u32(inst.operand(2)) {
            Some(StorageClass::Private) => self.memory(id).map(|_| ()),
            Some(StorageClass::Workgroup) => {
                if self.stage != Stage::Compute {
                    let text = "a workgroup variable is used outside of a compute shader";
                    return Err(Stop::invalid(text));
                }
                let (_, ty) = program.pointee(inst.operand(0))?;
                let name = named(&program.name(id), "global");
                let place = match program.is_shared_block(ty) {
                    true => {
                        let bytes = program.extent(ty, Matrices::default())?.0;
                        self.shared_block(&name, bytes)?
                    }
                    false => {
                        let mem = self.workgroup_variable(&name, program.dense_size(ty)?)?;
                        self.place_of(mem)
                    }
                };
                let pointer = Pointer { place, ty, matrices: Matrices::default() };
                self.source.variables.insert(id, pointer);
                Ok(())
            }
            Some(
                StorageClass::Uniform
                | StorageClass::StorageBuffer
                | StorageClass::PushConstant
                | StorageClass::UniformConstant,
            ) => self.bind(id),
            Some(StorageClass::AtomicCounter) => self.counter(id),
            Some(StorageClass::Input | StorageClass::Output) => {
                let message = format!("%{id} is not in the entry point's interface");
                Err(Stop::invalid(message))
            }
            other => {
                let what = format!("variables of the storage class {other:?}");
                Err(Stop::unsupported(what, READING))
            }
        }
    }

    /// A private variable of a global that nothing is written to yet.
    pub(super) fn uninitialised(&mut self, id: Id) -> Result<Pointer> {
        let program = self.source.program;
        let inst = program.inst(id).expect("it is a variable");
        let (_, ty) = program.pointee(inst.operand(0))?;
        let pointer = self.private(&named(&program.name(id), "global"), ty)?;
        self.source.variables.insert(id, pointer.clone());
        Ok(pointer)
    }

    /// A private variable of a global with its initial value.
    pub(super) fn memory(&mut self, id: Id) -> Result<Pointer> {
        let pointer = self.uninitialised(id)?;
        let inst = self.source.program.inst(id).expect("it is a variable");
        let initial = self.initial;
        let init = inst.rest(3).first().copied();
        self.within(initial, |lower| lower.initialise(&pointer, init))?;
        Ok(pointer)
    }

    /// Gives a variable the constant `init`, or zeros.
    pub(super) fn initialise(&mut self, pointer: &Pointer, init: Option<Id>) -> Result<()> {
        match init {
            Some(init)
                if self
                    .source
                    .program
                    .inst(init)
                    .is_some_and(|made| op(made) != Code::ConstantNull) =>
            {
                let values = self.constant_values(init)?;
                self.store(pointer, &values)
            }
            _ => self.zero_fill(pointer),
        }
    }

    /// Zeroes memory; large arrays by a loop.
    fn zero_fill(&mut self, pointer: &Pointer) -> Result<()> {
        let program = self.source.program;
        if program.dense_size(pointer.ty)? == 0 {
            return Ok(());
        }
        if program.dense_size(pointer.ty)? / 4 <= crate::lower::memory::FILL_STRAIGHT as u64 {
            let zeros = self.zeros(pointer.ty)?;
            return self.store(pointer, &zeros);
        }
        if let Ty::Struct(members) = program.ty(pointer.ty)? {
            for index in 0..members.len() as u32 {
                let part = self.member_of(pointer, index)?;
                self.zero_fill(&part)?;
            }
            return Ok(());
        }
        let (of, length) = program.elements(pointer.ty)?;
        let Some(length) = length else {
            return Err(Stop::invalid("a variable is a runtime array"));
        };
        let (stride, matrices) =
            program.stride(pointer.ty, pointer.place.layout, pointer.matrices)?;
        self.for_each(length, |lower, index| {
            let place = lower.dynamic_part(&pointer.place, stride, index, length);
            lower.zero_fill(&Pointer { place, ty: of, matrices })
        })
    }

    /// A member of a structure in memory.
    pub(super) fn member_of(&self, pointer: &Pointer, index: u32) -> Result<Pointer> {
        let part = self.source.program.member(pointer.ty, index, pointer.place.layout)?;
        let offset = pointer.place.offset.wrapping_add(part.offset);
        let place = Place { offset, ..pointer.place.clone() };
        Ok(Pointer { place, ty: part.ty, matrices: part.matrices })
    }

    /// An element of what can be indexed, at an index that may be out of range.
    pub(super) fn element_of(&mut self, pointer: &Pointer, index: Value) -> Result<Pointer> {
        let program = self.source.program;
        let (of, length) = program.elements(pointer.ty)?;
        let layout = pointer.place.layout;
        let (stride, matrices) = program.stride(pointer.ty, layout, pointer.matrices)?;
        let length = match length {
            Some(length) => crate::lower::types::Length::Known(length),
            None => crate::lower::types::Length::Runtime,
        };
        let place = self.element(&pointer.place, stride, length, index)?;
        Ok(Pointer { place, ty: of, matrices })
    }

    /// A uniform outside of a block.
    fn loose(&mut self, id: Id, offset: u32) -> Result<()> {
        let program = self.source.program;
        let block = &program.default_block;
        let type_of = |id: Id| {
            let inst = program.inst(id).expect("it is a variable");
            program.pointee(inst.operand(0)).map(|(_, ty)| ty)
        };
        let resource = match self.source.default_block {
            Some(resource) => resource,
            None => {
                let binding = block.binding;
                let text = format!(
                    "uniforms outside of blocks are members of `{NAME}` at group 0, binding {binding}, by location"
                );
                self.notes.push(Diagnostic::note("uniforms", text));
                let kind = ResourceKind::Uniform { size: block.size };
                let name = NAME.to_owned();
                let data = ResourceData {
                    group: 0,
                    binding,
                    name,
                    kind,
                    count: None,
                    scalar: Scalar::F32,
                    mixed: true,
                };
                *self.source.default_block.insert(self.func.resources.push(data))
            }
        };
        let ty = type_of(id)?;
        let place = Place { offset, ..Place::buffer(resource, None) };
        let matrices = Matrices { stride: program.column_stride(ty), ..Matrices::default() };
        self.source.variables.insert(id, Pointer { place, ty, matrices });
        Ok(())
    }

    /// A counter of OpenGL, or an array of them: a buffer of its own.
    fn counter(&mut self, id: Id) -> Result<()> {
        let program = self.source.program;
        let inst = program.inst(id).expect("it is a variable");
        let (_, ty) = program.pointee(inst.operand(0))?;
        let size = 4 * program.leaf_count(ty)? as u32;
        let (scalar, mixed) = self.held(ty);
        if (scalar, mixed) != (Scalar::U32, false) {
            return Err(Stop::invalid("a counter is an unsigned integer of 32 bits"));
        }
        let binding = program.default_block.bindings.get(&id).copied().unwrap_or(0);
        let name = program.name(id);
        let text =
            format!("the counter `{name}` is a buffer of its own: it gets binding {binding}");
        self.notes.push(Diagnostic::note("binding", text).at(self.span, ""));
        let access = READ_WRITE;
        let kind = ResourceKind::Storage { size, stride: 0, access };
        let data = ResourceData { group: 0, binding, name, kind, count: None, scalar, mixed };
        let place = Place::buffer(self.func.resources.push(data), None);
        let matrices = Matrices::default();
        self.source.variables.insert(id, Pointer { place, ty, matrices });
        Ok(())
    }

    fn bind(&mut self, id: Id) -> Result<()> {
        let program = self.source.program;
        if let Some(&offset) = program.default_block.offsets.get(&id) {
            return self.loose(id, offset);
        }
        let inst = program.inst(id).expect("it is a variable");
        let (class, mut ty) = program.pointee(inst.operand(0))?;
        let (group, mut binding) = self.place_of_binding(id);
        let decorations = program.decorations(id);
        if class != StorageClass::PushConstant && decorations.binding.is_none() {
            let name = named(&program.name(id), "?");
            match program.default_block.bindings.get(&id) {
                Some(&free) if program.is_opengl() => {
                    let text = format!("`{name}` has no binding: it gets binding {free}");
                    self.notes.push(Diagnostic::note("binding", text).at(self.span, ""));
                    binding = free;
                }
                _ => return Err(Stop::invalid(format!("the resource `{name}` has no binding"))),
            }
        }
        let mut count = None;
        if let Ty::Array { of, length, .. } = *program.ty(ty)? {
            let outer = length.unwrap_or_else(|| {
                let name = program.name(id);
                let text = format!(
                    "the array of bindings `{name}` has no size: it is taken for {UNSIZED} elements"
                );
                self.notes.push(Diagnostic::note("binding-array", text).at(self.span, ""));
                UNSIZED
            });
            let (inner, each) = flat(program, of)?;
            let all = u64::from(outer) * u64::from(each);
            count = Some(u32::try_from(all).map_err(|_| too_many_bindings(all))?);
            ty = inner;
        }
        let name = program.name(id);
        let push = |lower: &mut Self, kind, scalar| -> Resource {
            let (name, mixed) = (name.clone(), false);
            let data = ResourceData { group, binding, name, kind, count, scalar, mixed };
            lower.func.resources.push(data)
        };
        let compared = self.source.compared.contains(&id);
        let both = match program.ty(ty)? {
            Ty::Struct(_) => {
                let kind = self.buffer_kind(id, class, ty)?;
                let (scalar, mixed) = self.held(ty);
                let resource = push(self, kind, scalar);
                self.func.resources[resource].mixed = mixed;
                (resource, None)
            }
            Ty::Sampler => {
                let kind = ResourceKind::Sampler { comparison: compared };
                (push(self, kind, Scalar::U32), None)
            }
            Ty::Image(image) => {
                let (kind, scalar) = self.image_kind(id, image, compared)?;
                (push(self, kind, scalar), None)
            }
            Ty::SampledImage(image) => {
                let Ty::Image(image) = program.ty(*image)? else {
                    return Err(Stop::internal("a sampled image has an image"));
                };
                let (kind, scalar) = self.image_kind(id, image, compared)?;
                let texture = push(self, kind, scalar);
                let kind = ResourceKind::Sampler { comparison: compared };
                (texture, Some(push(self, kind, Scalar::U32)))
            }
            _ => {
                return Err(Stop::invalid("a buffer is no structure"));
            }
        };
        self.source.bindings.insert(id, both);
        Ok(())
    }

    fn buffer_kind(&self, id: Id, class: StorageClass, ty: Id) -> Result<ResourceKind> {
        let program = self.source.program;
        let span = |bytes: u64, align: u64| -> Result<u32> {
            let bytes = bytes.next_multiple_of(align);
            u32::try_from(bytes).map_err(|_| {
                let hint = "declare shorter arrays";
                Stop::limit("bytes of one type", bytes, u32::MAX.into(), hint)
            })
        };
        let (bytes, stride) = program.extent(ty, Matrices::default())?;
        // Bytes are parts of words.
        let least = if program.has_bytes { 4 } else { 1 };
        let size = span(bytes, program.alignment(ty)?.max(least))?;
        let kind = program.decorations(ty);
        if class == StorageClass::PushConstant {
            return Ok(ResourceKind::Immediate { size });
        }
        if class == StorageClass::Uniform && !kind.buffer_block {
            return Ok(ResourceKind::Uniform { size });
        }
        let Ty::Struct(members) = program.ty(ty)? else {
            return Err(Stop::internal("a buffer is a structure"));
        };
        let size = match members.last() {
            Some(last) if stride > 0 => {
                let tail = last.decorations.offset.unwrap_or(0);
                if bytes > u64::from(tail) {
                    let what = "a member that lies within the runtime array of its structure";
                    return Err(Stop::invalid(what));
                }
                tail
            }
            _ => size,
        };
        let read_only = program.decorations(id).read_only
            || !members.is_empty() && members.iter().all(|member| member.decorations.read_only);
        let access = ImageAccess { store: !read_only, ..READ_WRITE };
        Ok(ResourceKind::Storage { size, stride, access })
    }

    /// The first scalar of a block, and whether others stand beside it.
    fn held(&self, ty: Id) -> (Scalar, bool) {
        let program = self.source.program;
        held(ty, |ty| match program.ty(ty) {
            Ok(Ty::Struct(members)) => Parts::Of(members.iter().map(|member| member.ty).collect()),
            Ok(Ty::Array { of, .. }) => Parts::Of(vec![*of]),
            Ok(Ty::Scalar(scalar) | Ty::Vector(scalar, ..) | Ty::Matrix(scalar, ..)) => {
                Parts::Scalars(*scalar)
            }
            _ => Parts::None,
        })
    }

    fn image_kind(
        &mut self,
        id: Id,
        image: &Image,
        compared: bool,
    ) -> Result<(ResourceKind, Scalar)> {
        let (texel, _) = self.source.program.shape(image.texel)?;
        let dim = match image.dim {
            // A texel buffer is a texture of one level to machines and drivers.
            Dims::Dim1D | Dims::DimBuffer => Dim::D1,
            Dims::Dim2D | Dims::DimSubpassData => Dim::D2,
            Dims::DimRect => {
                return Err(Stop::unsupported("rectangle textures", READING));
            }
            Dims::Dim3D => Dim::D3,
            Dims::DimCube => Dim::Cube,
            _ => return Err(Stop::unsupported("images of this dimension", READING)),
        };
        let sample = match texel.kind {
            ScalarKind::Sint => SampleType::Sint,
            ScalarKind::Uint => SampleType::Uint,
            _ => SampleType::Float,
        };
        let scalar = match sample {
            SampleType::Sint => Scalar::I32,
            SampleType::Uint => Scalar::U32,
            SampleType::Float | SampleType::Depth => Scalar::F32,
        };
        let arrayed = image.arrayed;
        if !image.storage || image.dim == Dims::DimSubpassData {
            let sample = if compared { SampleType::Depth } else { sample };
            let multisampled = image.multisampled;
            return Ok((ResourceKind::Texture { dim, arrayed, sample, multisampled }, scalar));
        }
        if image.multisampled {
            let stop = Stop::unsupported("multisampled storage images", READING);
            // Loads alone are nothing that a machine lacks.
            let sets = [&self.source.written, &self.source.texels];
            return Err(match sets.iter().any(|set| set.contains(&id)) {
                true => stop.needing(Needs::StoredSamples),
                false => stop,
            });
        }
        if dim == Dim::Cube {
            return Err(Stop::unsupported("storage images of cubes", READING));
        }
        let format = match ImageFormat::from_u32(image.format) {
            Some(ImageFormat::Unknown) => {
                let name = match (sample, self.source.takes_texels) {
                    (SampleType::Float | SampleType::Depth, _) => "rgba32float",
                    (SampleType::Sint, true) => "r32sint",
                    (SampleType::Sint, false) => "rgba32sint",
                    (SampleType::Uint, true) => "r32uint",
                    (SampleType::Uint, false) => "rgba32uint",
                };
                let text = format!("storage images without a format are taken for {name}");
                self.notes.push(Diagnostic::note("format", text));
                TexelFormat(name)
            }
            Some(format) => texel_format(format)?,
            None => return Err(Stop::invalid("there is no such format of an image")),
        };
        let decorations = self.source.program.decorations(id);
        let access = ImageAccess {
            load: !decorations.write_only,
            store: !decorations.read_only,
            atomic: self.source.texels.contains(&id),
        };
        Ok((ResourceKind::StorageTexture { dim, arrayed, format, sample, access }, scalar))
    }

    /// The texture, sampler or buffer behind a variable, with the element that was chosen.
    pub(super) fn resource(
        &mut self,
        bound: Bound,
        sampler: bool,
    ) -> Result<(Resource, Option<Value>)> {
        self.declare(bound.variable)?;
        let Some(&(first, second)) = self.source.bindings.get(&bound.variable) else {
            return Err(Stop::invalid(format!("%{} is not a binding", bound.variable)));
        };
        let resource = match second {
            Some(second) if sampler => second,
            _ => first,
        };
        let is_sampler = matches!(self.func.resources[resource].kind, ResourceKind::Sampler { .. });
        if is_sampler != sampler {
            return Err(Stop::invalid(
                "a texture stands where a sampler belongs, or a sampler where a texture does",
            ));
        }
        Ok((resource, bound.element))
    }

    /// The element of an array of bindings, or of an array of arrays of them, at an index that may be out of range.
    /// `ty` is the array's type.
    pub(super) fn bound_element(&mut self, bound: Bound, ty: Id, index: Value) -> Result<Bound> {
        let variable = bound.variable;
        self.declare(variable)?;
        let Some(&(first, _)) = self.source.bindings.get(&variable) else {
            return Err(Stop::invalid(format!("%{variable} is not a binding")));
        };
        let program = self.source.program;
        let (of, length) = program.elements(ty)?;
        let (_, each) = flat(program, of)?;
        let all = self.func.resources[first].count.unwrap_or(1);
        let count = length.unwrap_or(all / each.max(1));
        let known = self.func.as_const(index).is_some_and(|bits| bits < u64::from(count));
        let mut element = match known {
            true => index,
            false => {
                let count = self.u32(count);
                self.op2(Op::Index, index, count)
            }
        };
        if each > 1 {
            element = self.mul_address(element, each);
        }
        if let Some(before) = bound.element {
            element = self.op2(Op::IAdd, before, element);
            if self.func.as_const(element).is_none() {
                let all = self.u32(all);
                element = self.op2(Op::Index, element, all);
            }
        }
        Ok(Bound { variable, element: Some(element) })
    }

    /// A pointer to the block of a buffer.
    pub(super) fn block_of(&mut self, bound: Bound, ty: Id) -> Result<Pointer> {
        self.declare(bound.variable)?;
        let Some(&(resource, _)) = self.source.bindings.get(&bound.variable) else {
            return Err(Stop::invalid(format!("%{} is not a binding", bound.variable)));
        };
        let count = self.func.resources[resource].count;
        if count.is_some() != bound.element.is_some() {
            return Err(Stop::invalid("an array of buffers is used as one"));
        }
        let place = Place::buffer(resource, bound.element);
        Ok(Pointer { place, ty, matrices: Matrices::default() })
    }

    /// What a pointer operand points to in memory.
    pub(super) fn pointer(&mut self, operand: Operand) -> Result<Pointer> {
        match operand {
            Operand::Pointer(pointer) => Ok(pointer),
            Operand::Binding(bound, ty) if matches!(self.source.program.ty(ty)?, Ty::Struct(_)) => {
                self.block_of(bound, ty)
            }
            _ => Err(Stop::invalid("a pointer to memory is expected")),
        }
    }

    /// Values of constants of lanes, for what takes constants alone.
    pub(super) fn known(&self, values: &Values) -> Option<Vec<u64>> {
        values.iter().map(|&value| self.func.as_const(value)).collect()
    }
}

/// Variables that pointers, textures and samplers lead to.
fn variables_behind(
    program: &Program<'_>,
    arguments: &Map<Id, Vec<Id>>,
    mut pending: Vec<Id>,
) -> Set<Id> {
    let (mut seen, mut found) = (Set::default(), Set::default());
    while let Some(id) = pending.pop() {
        let Some(inst) = program.inst(id).filter(|_| seen.insert(id)) else {
            continue;
        };
        match op(inst) {
            Code::Load
            | Code::AccessChain
            | Code::InBoundsAccessChain
            | Code::PtrAccessChain
            | Code::InBoundsPtrAccessChain
            | Code::CopyObject
            | Code::Image => pending.push(inst.operand(2)),
            Code::SampledImage => pending.extend([inst.operand(2), inst.operand(3)]),
            Code::FunctionParameter => {
                pending.extend(arguments.get(&id).into_iter().flatten().copied());
            }
            Code::Variable => {
                found.insert(id);
            }
            _ => {}
        }
    }
    found
}

/// What an array of arrays of bindings holds, and how many of them; 1 where the type is no array.
fn flat(program: &Program<'_>, ty: Id) -> Result<(Id, u32)> {
    let (mut ty, mut count) = (ty, 1_u64);
    while let Ty::Array { of, length, .. } = *program.ty(ty)? {
        let Some(length) = length else {
            return Err(Stop::invalid("an array without a length within an array of bindings"));
        };
        count *= u64::from(length);
        if count > u64::from(u32::MAX) {
            return Err(too_many_bindings(count));
        }
        ty = of;
    }
    Ok((ty, count as u32))
}

fn too_many_bindings(needed: u64) -> Stop {
    Stop::limit("bindings of one array", needed, u32::MAX.into(), "declare shorter arrays")
}

fn named(name: &str, otherwise: &str) -> String {
    if name.is_empty() { otherwise.to_owned() } else { name.to_owned() }
}

/// WebGPU's name of a format.
fn texel_format(format: ImageFormat) -> Result<TexelFormat> {
    use ImageFormat as F;
    Ok(TexelFormat(match format {
        F::Rgba32f => "rgba32float",
        F::Rgba16f => "rgba16float",
        F::R32f => "r32float",
        F::Rgba8 => "rgba8unorm",
        F::Rgba8Snorm => "rgba8snorm",
        F::Rg32f => "rg32float",
        F::Rg16f => "rg16float",
        F::R11fG11fB10f => "rg11b10ufloat",
        F::R16f => "r16float",
        F::Rgba16 => "rgba16unorm",
        F::Rgb10A2 => "rgb10a2unorm",
        F::Rg16 => "rg16unorm",
        F::Rg8 => "rg8unorm",
        F::R16 => "r16unorm",
        F::R8 => "r8unorm",
        F::Rgba16Snorm => "rgba16snorm",
        F::Rg16Snorm => "rg16snorm",
        F::Rg8Snorm => "rg8snorm",
        F::R16Snorm => "r16snorm",
        F::R8Snorm => "r8snorm",
        F::Rgba32i => "rgba32sint",
        F::Rgba16i => "rgba16sint",
        F::Rgba8i => "rgba8sint",
        F::R32i => "r32sint",
        F::Rg32i => "rg32sint",
        F::Rg16i => "rg16sint",
        F::Rg8i => "rg8sint",
        F::R16i => "r16sint",
        F::R8i => "r8sint",
        F::Rgba32ui => "rgba32uint",
        F::Rgba16ui => "rgba16uint",
        F::Rgba8ui => "rgba8uint",
        F::R32ui => "r32uint",
        F::Rgb10a2ui => "rgb10a2uint",
        F::Rg32ui => "rg32uint",
        F::Rg16ui => "rg16uint",
        F::Rg8ui => "rg8uint",
        F::R16ui => "r16uint",
        F::R8ui => "r8uint",
        F::R64ui => "r64uint",
        F::Unknown | F::R64i => {
            let what = format!("storage images of the format {format:?}");
            return Err(Stop::unsupported(what, READING));
        }
    }))
}
