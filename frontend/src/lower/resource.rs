//! Global variables: bindings sorted by (group, binding), those that are only pointed to behind them, private and workgroup variables.

use super::types::{Length, Parts, held};
use super::{Global, OfNaga, Result};
use crate::Needs;
use crate::read::span;
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{
    Dim, ImageAccess, MemSpace, ResourceData, ResourceKind, SampleType, Scalar, Stage, TexelFormat,
};
use naga::{
    AddressSpace, GlobalVariable, Handle, ImageClass, ScalarKind, StorageAccess, TypeInner,
};

/// Elements of an array of bindings whose size only the pipeline's layout says.
pub const UNSIZED: u32 = 16;
/// Group of `var<immediate>`, which has no binding.
pub const IMMEDIATE_GROUP: u32 = u32::MAX;

/// Group and binding of what is bound.
fn place_of_binding(variable: &GlobalVariable) -> Option<(u32, u32)> {
    match (&variable.binding, variable.space) {
        (Some(binding), _) => Some((binding.group, binding.binding)),
        (None, AddressSpace::Immediate) => Some((IMMEDIATE_GROUP, 0)),
        (None, _) => None,
    }
}

impl<'a> OfNaga<'a> {
    /// Makes a binding or variable of every global that the entry point uses.
    pub fn globals(&mut self, used: &naga::valid::FunctionInfo) -> Result<()> {
        let mut bindings = Vec::new();
        for (handle, variable) in self.source.module.global_variables.iter() {
            if used[handle].is_empty() {
                continue;
            }
            match place_of_binding(variable) {
                Some((group, binding)) => bindings.push((group, binding, handle)),
                None => self.declare(handle)?,
            }
        }
        bindings.sort_by_key(|&(group, binding, handle)| (group, binding, handle.index()));
        for (.., handle) in bindings {
            self.declare(handle)?;
        }
        Ok(())
    }

    /// Makes the variable or binding of a global. What is only pointed to, never read or written, is used in no sense
    /// of naga's and is declared where the pointer is made.
    pub fn declare(&mut self, handle: Handle<GlobalVariable>) -> Result<()> {
        let variable = &self.source.module.global_variables[handle];
        let outer = self.span;
        self.span = span(self.source.module.global_variables.get_span(handle));
        self.make_global(handle, variable).map_err(|stop| stop.at(self.span))?;
        self.span = outer;
        Ok(())
    }

    fn make_global(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &'a GlobalVariable,
    ) -> Result<()> {
        match variable.space {
            AddressSpace::Private | AddressSpace::Function => {
                self.global_variable(handle, variable, MemSpace::Private)
            }
            AddressSpace::WorkGroup if self.stage != Stage::Compute => {
                let text = "a workgroup variable is used outside of a compute shader";
                Err(Stop::invalid(text))
            }
            AddressSpace::WorkGroup => self.global_variable(handle, variable, MemSpace::Workgroup),
            AddressSpace::Uniform
            | AddressSpace::Storage { .. }
            | AddressSpace::Handle
            | AddressSpace::Immediate => {
                let Some((group, binding)) = place_of_binding(variable) else {
                    let text = "a resource without @group and @binding";
                    return Err(Stop::invalid(text));
                };
                let data = self.binding(group, binding, handle)?;
                let resource = self.func.resources.push(data);
                self.source.globals[handle.index()] = Global::Binding(resource);
                Ok(())
            }
            AddressSpace::TaskPayload
            | AddressSpace::RayPayload
            | AddressSpace::IncomingRayPayload => {
                Err(Stop::unsupported("ray tracing and mesh payloads", LOWERING))
            }
        }
    }

    fn global_variable(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &'a GlobalVariable,
        space: MemSpace,
    ) -> Result<()> {
        let inner = self.source.types.inner(variable.ty);
        let bytes = self.source.types.dense_size(inner);
        let name = variable.name.as_deref().unwrap_or("global");
        let mem = self.variable(name, bytes, space).map_err(|stop| stop.at(self.span))?;
        let place = self.place_of(mem);
        if space == MemSpace::Private {
            let init = match variable.init {
                Some(init) => Some(self.global_expression(init)?),
                None => None,
            };
            let initial = self.initial;
            self.within(initial, |lower| match init {
                Some(values) => lower.store(&place, inner, &values),
                None => lower.zero(&place, inner),
            })?;
        }
        self.source.globals[handle.index()] = Global::Variable(place);
        Ok(())
    }

    fn binding(
        &mut self,
        group: u32,
        binding: u32,
        handle: Handle<GlobalVariable>,
    ) -> Result<ResourceData> {
        let variable = &self.source.module.global_variables[handle];
        let mut ty = variable.ty;
        let mut inner = self.source.types.inner(ty);
        let mut count = None;
        if let TypeInner::BindingArray { base, .. } = inner {
            count = Some(match self.source.types.length(inner)? {
                Length::Known(length) => length,
                Length::Runtime => {
                    let name = variable.name.as_deref().unwrap_or_default();
                    let text = format!(
                        "the array of bindings `{name}` has no size: it is taken for {UNSIZED} elements"
                    );
                    let note = crate::Diagnostic::note("binding-array", text);
                    self.notes.push(note.at(self.span, ""));
                    UNSIZED
                }
            });
            ty = *base;
            inner = self.source.types.inner(ty);
        }
        let kind = match variable.space {
            AddressSpace::Uniform => ResourceKind::Uniform {
                size: self.source.types.size(inner, super::types::Layout::Host),
            },
            AddressSpace::Immediate => ResourceKind::Immediate {
                size: self.source.types.size(inner, super::types::Layout::Host),
            },
            AddressSpace::Storage { access } => {
                let (size, stride) = self.storage_size(inner);
                ResourceKind::Storage { size, stride, access: image_access(access) }
            }
            _ => self.handle_kind(inner)?,
        };
        let (scalar, mixed) = match kind {
            ResourceKind::Texture { sample, .. } | ResourceKind::StorageTexture { sample, .. } => {
                let scalar = match sample {
                    SampleType::Float | SampleType::Depth => Scalar::F32,
                    SampleType::Sint => Scalar::I32,
                    SampleType::Uint => Scalar::U32,
                };
                (scalar, false)
            }
            _ => held(ty, |ty| match self.source.types.inner(ty) {
                TypeInner::Array { base, .. } => Parts::Of(vec![*base]),
                TypeInner::Struct { members, .. } => {
                    Parts::Of(members.iter().map(|member| member.ty).collect())
                }
                TypeInner::Atomic(scalar) => Parts::Scalars(*scalar),
                inner => inner.scalar().map_or(Parts::None, Parts::Scalars),
            }),
        };
        Ok(ResourceData {
            group,
            binding,
            name: variable.name.clone().unwrap_or_default(),
            kind,
            count,
            scalar,
            mixed,
        })
    }

    /// Bytes before the trailing runtime array, and its stride (0 without one).
    fn storage_size(&self, inner: &TypeInner) -> (u32, u32) {
        match *inner {
            TypeInner::Array { stride, .. } => match self.source.types.length(inner) {
                Ok(Length::Runtime) => (0, stride),
                _ => (self.source.types.size(inner, super::types::Layout::Host), 0),
            },
            TypeInner::Struct { ref members, span } => {
                let Some(last) = members.last() else {
                    return (span, 0);
                };
                match self.source.types.inner(last.ty) {
                    tail @ TypeInner::Array { .. } => match self.storage_size(tail) {
                        (0, stride) => (last.offset, stride),
                        _ => (span, 0),
                    },
                    _ => (span, 0),
                }
            }
            _ => (self.source.types.size(inner, super::types::Layout::Host), 0),
        }
    }

    fn handle_kind(&mut self, inner: &TypeInner) -> Result<ResourceKind> {
        Ok(match *inner {
            TypeInner::Sampler { comparison } => ResourceKind::Sampler { comparison },
            TypeInner::Image { dim, arrayed, class } => {
                let dim = match dim {
                    naga::ImageDimension::D1 => Dim::D1,
                    naga::ImageDimension::D2 => Dim::D2,
                    naga::ImageDimension::D3 => Dim::D3,
                    naga::ImageDimension::Cube => Dim::Cube,
                };
                match class {
                    ImageClass::Sampled { kind, multi } => ResourceKind::Texture {
                        dim,
                        arrayed,
                        sample: sample_type(kind),
                        multisampled: multi,
                    },
                    ImageClass::Depth { multi } => ResourceKind::Texture {
                        dim,
                        arrayed,
                        sample: SampleType::Depth,
                        multisampled: multi,
                    },
                    ImageClass::External => {
                        let text = "an external texture is bound as one plane of RGBA texels";
                        let note = crate::Diagnostic::note("external-texture", text);
                        self.notes.push(note.at(self.span, ""));
                        ResourceKind::Texture {
                            dim,
                            arrayed,
                            sample: SampleType::Float,
                            multisampled: false,
                        }
                    }
                    ImageClass::Storage { format, access } => {
                        let kind: naga::Scalar = format.into();
                        ResourceKind::StorageTexture {
                            dim,
                            arrayed,
                            format: texel_format(format),
                            sample: sample_type(kind.kind),
                            access: image_access(access),
                        }
                    }
                }
            }
            TypeInner::AccelerationStructure { .. } => {
                return Err(Stop::unsupported("acceleration structures", LOWERING)
                    .needing(Needs::RayTracing));
            }
            _ => return Err(Stop::unsupported("a binding of this type", LOWERING)),
        })
    }
}

fn image_access(access: StorageAccess) -> ImageAccess {
    ImageAccess {
        load: access.contains(StorageAccess::LOAD),
        store: access.contains(StorageAccess::STORE),
        atomic: access.contains(StorageAccess::ATOMIC),
    }
}

fn sample_type(kind: ScalarKind) -> SampleType {
    match kind {
        ScalarKind::Sint => SampleType::Sint,
        ScalarKind::Uint => SampleType::Uint,
        _ => SampleType::Float,
    }
}

/// WebGPU's name of a format.
fn texel_format(format: naga::StorageFormat) -> TexelFormat {
    use naga::StorageFormat as F;
    TexelFormat(match format {
        F::R8Unorm => "r8unorm",
        F::R8Snorm => "r8snorm",
        F::R8Uint => "r8uint",
        F::R8Sint => "r8sint",
        F::R16Uint => "r16uint",
        F::R16Sint => "r16sint",
        F::R16Float => "r16float",
        F::Rg8Unorm => "rg8unorm",
        F::Rg8Snorm => "rg8snorm",
        F::Rg8Uint => "rg8uint",
        F::Rg8Sint => "rg8sint",
        F::R32Uint => "r32uint",
        F::R32Sint => "r32sint",
        F::R32Float => "r32float",
        F::Rg16Uint => "rg16uint",
        F::Rg16Sint => "rg16sint",
        F::Rg16Float => "rg16float",
        F::Rgba8Unorm => "rgba8unorm",
        F::Rgba8Snorm => "rgba8snorm",
        F::Rgba8Uint => "rgba8uint",
        F::Rgba8Sint => "rgba8sint",
        F::Bgra8Unorm => "bgra8unorm",
        F::Rgb10a2Uint => "rgb10a2uint",
        F::Rgb10a2Unorm => "rgb10a2unorm",
        F::Rg11b10Ufloat => "rg11b10ufloat",
        F::R64Uint => "r64uint",
        F::Rg32Uint => "rg32uint",
        F::Rg32Sint => "rg32sint",
        F::Rg32Float => "rg32float",
        F::Rgba16Uint => "rgba16uint",
        F::Rgba16Sint => "rgba16sint",
        F::Rgba16Float => "rgba16float",
        F::Rgba32Uint => "rgba32uint",
        F::Rgba32Sint => "rgba32sint",
        F::Rgba32Float => "rgba32float",
        F::R16Unorm => "r16unorm",
        F::R16Snorm => "r16snorm",
        F::Rg16Unorm => "rg16unorm",
        F::Rg16Snorm => "rg16snorm",
        F::Rgba16Unorm => "rgba16unorm",
        F::Rgba16Snorm => "rgba16snorm",
    })
}
