//! Entry points: interface in, body, interface out.

use super::frame::{Operand, ResultAt};
use super::types::{Types, reading};
use super::{Global, Lower, Result, Values};
use crate::read::Valid;
use crate::stop::{LOWERING, Stop};
use crate::{Diagnostic, Language, Limits};
use gpucc_ir::ssa::{
    Builtin, Func, InputData, InputKind, Interpolation, Op, OutputData, OutputKind, Sampling,
    Scalar, Span, Stage, Type,
};
use naga::{Binding, Handle, TypeInner};

/// Lowers one entry point; also gives what was inferred.
pub fn lower(
    valid: &Valid,
    types: &Types<'_>,
    index: usize,
    stage: Stage,
    language: Language,
    limits: &Limits,
) -> Result<(Func, Vec<Diagnostic>)> {
    let module = &valid.module;
    let entry = &module.entry_points[index];
    let mut func = Func::new(entry.name.clone(), stage);
    if stage == Stage::Compute {
        func.workgroup_size = entry.workgroup_size;
    }
    func.early_fragment_tests = matches!(entry.early_depth_test, Some(naga::EarlyDepthTest::Force));
    let (prologue, initial) = (func.new_region(), func.new_region());
    let body = func.body;
    let mut lower = Lower {
        module,
        info: &valid.info,
        types,
        limits,
        discard_ends: language != Language::Wgsl,
        statement_spans: language == Language::Glsl,
        stage,
        func,
        region: body,
        prologue,
        initial,
        span: Span::NONE,
        bundle: None,
        next_bundle: 0,
        depth: 0,
        continuing: 0,
        steps: 0,
        private_bytes: 0,
        workgroup_bytes: 0,
        constants: Default::default(),
        lengths: Default::default(),
        tables: Default::default(),
        constant_values: vec![None; module.global_expressions.len()],
        globals: vec![Global::Unused; module.global_variables.len()],
        exited: Default::default(),
        whole: None,
        notes: Vec::new(),
    };
    let result = lower.entry(entry, valid.info.get_entry_point(index));
    let at = lower.span;
    result.map_err(|stop| stop.at(at))?;
    Ok(lower.finish())
}

impl<'a> Lower<'a> {
    fn entry(
        &mut self,
        entry: &'a naga::EntryPoint,
        info: &'a naga::valid::FunctionInfo,
    ) -> Result<()> {
        self.globals(info)?;
        let mut arguments = Vec::with_capacity(entry.function.arguments.len());
        let prologue = self.prologue;
        for argument in &entry.function.arguments {
            let name = argument.name.as_deref().unwrap_or("");
            let values = self.within(prologue, |lower| {
                lower.inputs(argument.ty, argument.binding.as_ref(), name, entry)
            })?;
            arguments.push(Operand::Values(values));
        }
        let mut result = None;
        let function = &entry.function;
        self.labelled(|lower, label| {
            lower.whole = Some(label);
            result = lower.inline(function, info, arguments, label)?;
            Ok(true)
        })?;
        if self.ended() {
            return Ok(());
        }
        if let (Some(declared), Some(values)) = (&function.result, result) {
            let binding = declared.binding.as_ref();
            let values = match values {
                ResultAt::Values(values) => values,
                ResultAt::Place(place) => self.load(&place, self.types.inner(declared.ty))?,
            };
            let used = self.outputs(declared.ty, binding, "", &values)?;
            debug_assert_eq!(used, values.len(), "every scalar of the result is written");
        }
        self.end_open(Op::Yield);
        Ok(())
    }

    /// Puts prologue, initial stores and body together.
    fn finish(mut self) -> (Func, Vec<Diagnostic>) {
        let mut insts = std::mem::take(&mut self.func.regions[self.prologue].insts);
        insts.append(&mut self.func.regions[self.initial].insts);
        let body = self.func.body;
        insts.append(&mut self.func.regions[body].insts);
        self.func.regions[body].insts = insts;
        (self.func, self.notes)
    }

    /// Declares and reads the inputs of one argument.
    fn inputs(
        &mut self,
        ty: Handle<naga::Type>,
        binding: Option<&Binding>,
        name: &str,
        entry: &naga::EntryPoint,
    ) -> Result<Values> {
        let inner = self.types.inner(ty);
        let Some(binding) = binding else {
            let TypeInner::Struct { members, .. } = inner else {
                return Err(Stop::unsupported("an input without a binding", LOWERING));
            };
            let mut values = Values::new();
            for member in members {
                let name = member.name.as_deref().unwrap_or("");
                values.extend(self.inputs(member.ty, member.binding.as_ref(), name, entry)?);
            }
            return Ok(values);
        };
        if let Binding::BuiltIn(naga::BuiltIn::WorkGroupSize) = binding {
            return Ok(entry.workgroup_size.iter().map(|&n| self.u32(n)).collect());
        }
        if let TypeInner::Array { base, .. } = inner {
            // Clip distances and SPIR-V's sample mask are arrays; the mask has one word.
            if let Binding::BuiltIn(naga::BuiltIn::SampleMask) = binding {
                return self.inputs(*base, Some(binding), name, entry);
            }
        }
        let Some((scalar, components)) = scalars(inner) else {
            return Err(Stop::unsupported("an input of this type", LOWERING));
        };
        let kind = match *binding {
            Binding::BuiltIn(builtin) => InputKind::Builtin(builtin_of(builtin)?),
            Binding::Location {
                location,
                interpolation,
                sampling,
                per_primitive,
                ..
            } => {
                if per_primitive {
                    return Err(Stop::unsupported("per-primitive inputs", LOWERING));
                }
                InputKind::Location {
                    location,
                    interpolation: interpolation_of(interpolation, scalar)?,
                    sampling: sampling_of(sampling),
                }
            }
        };
        if scalar.width == 8 {
            return Err(Stop::unsupported("64-bit inputs", LOWERING));
        }
        // A truth value arrives as a word.
        let is_bool = scalar.kind == naga::ScalarKind::Bool;
        let input = self.func.inputs.push(InputData {
            kind,
            components,
            scalar: if is_bool {
                Scalar::U32
            } else {
                reading(scalar)
            },
            name: name.to_owned(),
        });
        self.lanes(usize::from(components), |lower, lane| {
            let value = lower.b().input(input, lane as u8);
            if !is_bool {
                return Ok(value);
            }
            let zero = lower.u32(0);
            Ok(lower.op2(Op::INe, value, zero))
        })
    }

    /// Declares and writes the outputs of a result; gives how many scalars they took.
    fn outputs(
        &mut self,
        ty: Handle<naga::Type>,
        binding: Option<&Binding>,
        name: &str,
        values: &[gpucc_ir::ssa::Value],
    ) -> Result<usize> {
        let inner = self.types.inner(ty);
        let Some(binding) = binding else {
            let TypeInner::Struct { members, .. } = inner else {
                return Err(Stop::unsupported("an output without a binding", LOWERING));
            };
            let mut used = 0;
            for member in members {
                let name = member.name.as_deref().unwrap_or("");
                used += self.outputs(member.ty, member.binding.as_ref(), name, &values[used..])?;
            }
            return Ok(used);
        };
        if let TypeInner::Array { base, .. } = inner {
            let Binding::BuiltIn(builtin) = *binding else {
                return Err(Stop::unsupported("an array as an output", LOWERING));
            };
            let count = self.types.leaf_count(ty)?;
            match builtin {
                naga::BuiltIn::ClipDistances => {
                    for first in (0..count).step_by(4) {
                        let some = &values[first..count.min(first + 4)];
                        let kind = OutputKind::Builtin(Builtin::ClipDistance(first as u8));
                        self.output(kind, Scalar::F32, name, some);
                    }
                    return Ok(count);
                }
                naga::BuiltIn::SampleMask => {
                    self.outputs(*base, Some(binding), name, &values[..1])?;
                    return Ok(count);
                }
                _ => return Err(Stop::unsupported("this array output", LOWERING)),
            }
        }
        let Some((scalar, components)) = scalars(inner) else {
            return Err(Stop::unsupported("an output of this type", LOWERING));
        };
        if scalar.width == 8 {
            return Err(Stop::unsupported("64-bit outputs", LOWERING));
        }
        let kind = match *binding {
            Binding::BuiltIn(naga::BuiltIn::CullDistance) => {
                return Err(Stop::unsupported("cull distances", LOWERING));
            }
            Binding::BuiltIn(builtin) => OutputKind::Builtin(builtin_of(builtin)?),
            Binding::Location {
                location,
                interpolation,
                blend_src,
                ..
            } => OutputKind::Location {
                location,
                blend_src: blend_src.unwrap_or(0) as u8,
                interpolation: interpolation_of(interpolation, scalar)?,
            },
        };
        let count = usize::from(components);
        self.output(kind, reading(scalar), name, &values[..count]);
        Ok(count)
    }

    fn output(
        &mut self,
        kind: OutputKind,
        scalar: Scalar,
        name: &str,
        values: &[gpucc_ir::ssa::Value],
    ) {
        let output = self.func.outputs.push(OutputData {
            kind,
            components: values.len() as u8,
            scalar,
            name: name.to_owned(),
        });
        for (component, &value) in values.iter().enumerate() {
            let value = match self.ty(value) {
                Type::B1 => self.convert(Op::UConvert, Type::B32, value),
                _ => value,
            };
            self.b().output(output, component as u8, value);
        }
    }
}

/// Scalar and component count of a scalar or vector.
fn scalars(inner: &TypeInner) -> Option<(naga::Scalar, u8)> {
    match *inner {
        TypeInner::Scalar(scalar) => Some((scalar, 1)),
        TypeInner::Vector { size, scalar } => Some((scalar, size as u8)),
        _ => None,
    }
}

fn interpolation_of(
    interpolation: Option<naga::Interpolation>,
    scalar: naga::Scalar,
) -> Result<Interpolation> {
    let float = scalar.kind == naga::ScalarKind::Float;
    Ok(match interpolation {
        Some(naga::Interpolation::Perspective) => Interpolation::Perspective,
        Some(naga::Interpolation::Linear) => Interpolation::Linear,
        Some(naga::Interpolation::Flat) => Interpolation::Flat,
        Some(naga::Interpolation::PerVertex) => {
            return Err(Stop::unsupported("per-vertex inputs", LOWERING));
        }
        None if float => Interpolation::Perspective,
        None => Interpolation::Flat,
    })
}

fn sampling_of(sampling: Option<naga::Sampling>) -> Sampling {
    match sampling {
        Some(naga::Sampling::Centroid) => Sampling::Centroid,
        Some(naga::Sampling::Sample) => Sampling::Sample,
        Some(naga::Sampling::Center | naga::Sampling::First | naga::Sampling::Either) | None => {
            Sampling::Center
        }
    }
}

fn builtin_of(builtin: naga::BuiltIn) -> Result<Builtin> {
    use naga::BuiltIn as B;
    Ok(match builtin {
        B::Position { .. } => Builtin::Position,
        B::ViewIndex => Builtin::ViewIndex,
        B::BaseInstance => Builtin::BaseInstance,
        B::BaseVertex => Builtin::BaseVertex,
        B::ClipDistances => Builtin::ClipDistance(0),
        B::InstanceIndex => Builtin::InstanceIndex,
        B::PointSize => Builtin::PointSize,
        B::VertexIndex => Builtin::VertexIndex,
        B::DrawIndex => Builtin::DrawIndex,
        B::FragDepth => Builtin::FragDepth,
        B::PointCoord => Builtin::PointCoord,
        B::FrontFacing => Builtin::FrontFacing,
        B::PrimitiveIndex => Builtin::PrimitiveIndex,
        B::SampleIndex => Builtin::SampleIndex,
        B::SampleMask => Builtin::SampleMask,
        B::GlobalInvocationId => Builtin::GlobalInvocationId,
        B::LocalInvocationId => Builtin::LocalInvocationId,
        B::LocalInvocationIndex => Builtin::LocalInvocationIndex,
        B::WorkGroupId => Builtin::WorkgroupId,
        B::NumWorkGroups => Builtin::NumWorkgroups,
        B::NumSubgroups => Builtin::NumSubgroups,
        B::SubgroupId => Builtin::SubgroupId,
        B::SubgroupSize => Builtin::SubgroupSize,
        B::SubgroupInvocationId => Builtin::SubgroupInvocationId,
        other => {
            let name = format!("the built-in value {other:?}");
            return Err(Stop::unsupported(name, LOWERING));
        }
    })
}

/// The stage of an entry point, when it is one that we compile.
pub fn stage_of(stage: naga::ShaderStage) -> Result<Stage> {
    Ok(match stage {
        naga::ShaderStage::Vertex => Stage::Vertex,
        naga::ShaderStage::Fragment => Stage::Fragment,
        naga::ShaderStage::Compute => Stage::Compute,
        other => return Err(Stop::unsupported(format!("the {other:?} stage"), LOWERING)),
    })
}
