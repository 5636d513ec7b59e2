//! Entry points: interface in, body, interface out.

use super::frame::{Operand, ResultAt};
use super::located::DISTANCES;
use super::types::{Types, reading};
use super::{Global, Lower, Naga, OfNaga, Result, Values};
use crate::growth::{MOST_LOCATIONS, too_many_locations};
use crate::read::{Valid, span};
use crate::stop::{LOWERING, Stop};
use crate::{Diagnostic, Language, Limits, Needs};
use gpucc_ir::ssa::verify::MAX_WORKGROUP;
use gpucc_ir::ssa::{
    Builtin, Func, Imm, InputData, InputKind, Interpolation, MOST_DISTANCES, Op, OutputData,
    OutputKind, Sampling, Scalar, Span, Stage, Type,
};
use naga::{Binding, TypeInner};
use std::collections::BTreeSet;

/// A workgroup's size, if its invocations can be counted: naga asks for no more than one.
pub(crate) fn workgroup_size(size: [u32; 3]) -> Result<[u32; 3]> {
    let needed = size.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    let available = MAX_WORKGROUP.into();
    match needed {
        0 => Err(Stop::invalid("a workgroup has no invocations")),
        _ if needed > available => {
            let hint = "use smaller workgroups, and more of them";
            Err(Stop::limit("invocations of a workgroup", needed, available, hint))
        }
        _ => Ok(size),
    }
}

/// Lowers one entry point; also gives what was inferred.
pub fn lower(
    valid: &Valid<'_>,
    types: &Types<'_>,
    index: usize,
    stage: Stage,
    language: Language,
    limits: &Limits,
) -> Result<(Func, Vec<Diagnostic>)> {
    let module: &naga::Module = &valid.module;
    let entry = &module.entry_points[index];
    super::inlining::check(module, &entry.function, limits.budget)?;
    let mut func = Func::new(entry.name.clone(), stage);
    if stage == Stage::Compute {
        func.workgroup_size = workgroup_size(entry.workgroup_size)?;
    }
    func.early_fragment_tests = matches!(entry.early_depth_test, Some(naga::EarlyDepthTest::Force));
    func.invariant =
        entry.function.result.as_ref().is_some_and(|result| has_invariant_position(module, result));
    let source = Naga {
        module,
        info: &valid.info,
        types,
        constant_values: vec![None; module.global_expressions.len()],
        globals: vec![Global::Unused; module.global_variables.len()],
        reads_distances: language != Language::Wgsl,
    };
    let mut lower = Lower::new(source, func, language != Language::Wgsl, limits);
    let result = lower.entry(entry, valid.entry_info(index));
    let at = lower.span;
    result.map_err(|stop| stop.at(at))?;
    if language != Language::Wgsl {
        one_each(&lower.func)?;
    }
    Ok(lower.finish())
}

/// Two variables in the components of one location are SPIR-V's `Component`, which naga neither keeps nor
/// refuses.
fn one_each(func: &Func) -> Result<()> {
    let mut inputs = BTreeSet::new();
    let mut outputs = BTreeSet::new();
    let mut apart = true;
    for input in func.inputs.values() {
        if let InputKind::Location { location, .. } = input.kind {
            apart &= inputs.insert(location);
        }
    }
    for output in func.outputs.values() {
        if let OutputKind::Location { location, blend_src, .. } = output.kind {
            apart &= outputs.insert((location, blend_src));
        }
    }
    if !apart {
        let feature = "several variables at one location";
        return Err(Stop::unsupported(feature, LOWERING));
    }
    let strange = func.outputs.values().find_map(|output| match output.kind {
        OutputKind::Builtin(builtin) if !is_output(builtin, func.stage) => Some(builtin),
        _ => None,
    });
    match strange {
        None => Ok(()),
        Some(builtin) => {
            let stage = func.stage.name();
            let feature = format!("{builtin:?} as an output of a {stage} shader");
            Err(Stop::unsupported(feature, LOWERING))
        }
    }
}

/// Where the arguments of an entry point are declared.
fn argument_places(entry: &naga::EntryPoint) -> Vec<Span> {
    let mut places = vec![Span::NONE; entry.function.arguments.len()];
    for (handle, expression) in entry.function.expressions.iter() {
        if let naga::Expression::FunctionArgument(number) = *expression
            && let Some(place) = places.get_mut(number as usize)
        {
            *place = span(entry.function.expressions.get_span(handle));
        }
    }
    places
}

/// Built-in values that a stage gives; naga does not check the interfaces that it was freed of.
fn is_output(builtin: Builtin, stage: Stage) -> bool {
    match stage {
        Stage::Vertex => matches!(
            builtin,
            Builtin::Position
                | Builtin::PointSize
                | Builtin::ClipDistance(_)
                | Builtin::CullDistance(_)
        ),
        Stage::Fragment => matches!(builtin, Builtin::FragDepth | Builtin::SampleMask),
        // No text that naga reads has them.
        Stage::Compute | Stage::Geometry => false,
    }
}

/// Clip and cull distances of a result, in the order in which it has them, with their names.
pub struct Distances {
    pub clip: (String, Values),
    pub cull: (String, Values),
}

impl Default for Distances {
    fn default() -> Distances {
        let named = |name: &str| (name.to_owned(), Values::new());
        Distances { clip: named("gl_ClipDistance"), cull: named("gl_CullDistance") }
    }
}

impl Distances {
    /// The list that a binding belongs to.
    fn of(&mut self, binding: &Binding) -> Option<(&mut String, &mut Values)> {
        let (name, values) = match *binding {
            Binding::BuiltIn(naga::BuiltIn::ClipDistances) => &mut self.clip,
            Binding::BuiltIn(naga::BuiltIn::CullDistance) => &mut self.cull,
            _ => return None,
        };
        Some((name, values))
    }
}

impl<'a> OfNaga<'a> {
    fn entry(
        &mut self,
        entry: &'a naga::EntryPoint,
        info: &'a naga::valid::FunctionInfo,
    ) -> Result<()> {
        self.globals(info)?;
        let mut arguments = Vec::with_capacity(entry.function.arguments.len());
        let prologue = self.prologue;
        let outer = self.span;
        for (argument, place) in entry.function.arguments.iter().zip(argument_places(entry)) {
            let name = argument.name.as_deref().unwrap_or("");
            self.span = place;
            let values = self.within(prologue, |lower| {
                lower.inputs(
                    lower.source.types.inner(argument.ty),
                    argument.binding.as_ref(),
                    name,
                    entry,
                )
            })?;
            arguments.push(Operand::Values(values));
        }
        self.span = outer;
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
                ResultAt::Place(place) => {
                    self.load(&place, self.source.types.inner(declared.ty))?
                }
            };
            let mut distances = Distances::default();
            let inner = self.source.types.inner(declared.ty);
            // Outputs are written where the last return stands.
            if let Some((naga::Statement::Return { .. }, place)) = function.body.span_iter().last()
            {
                self.span = span(*place);
            }
            let used = self.outputs(inner, binding, "", &values, &mut distances)?;
            debug_assert_eq!(used, values.len(), "every scalar of the result is written");
            self.distances(&distances)?;
            if self.source.reads_distances {
                self.varying_distances(&distances);
            }
        }
        self.end_open(Op::Yield);
        Ok(())
    }

    /// Declares and reads the inputs of one argument.
    fn inputs(
        &mut self,
        inner: &TypeInner,
        binding: Option<&Binding>,
        name: &str,
        entry: &naga::EntryPoint,
    ) -> Result<Values> {
        let Some(binding) = binding else {
            let TypeInner::Struct { members, .. } = inner else {
                return Err(Stop::unsupported("an input without a binding", LOWERING));
            };
            let mut values = Values::new();
            for member in members {
                let name = member.name.as_deref().unwrap_or("");
                let inner = self.source.types.inner(member.ty);
                values.extend(self.inputs(inner, member.binding.as_ref(), name, entry)?);
            }
            return Ok(values);
        };
        if let &Binding::BuiltIn(builtin) = binding {
            super::builtin::check(self.source.types, builtin, inner)?;
        }
        if let Binding::BuiltIn(naga::BuiltIn::WorkGroupSize) = binding {
            return Ok(entry.workgroup_size.iter().map(|&n| self.u32(n)).collect());
        }
        if let TypeInner::Array { base, .. } = inner {
            // Clip distances and SPIR-V's sample mask are arrays; the mask has one word.
            if let Binding::BuiltIn(naga::BuiltIn::SampleMask) = binding {
                return self.inputs(self.source.types.inner(*base), Some(binding), name, entry);
            }
        }
        if let Some(parts) = self.locations(inner, binding)? {
            let mut values = Values::new();
            for (part, binding) in parts {
                values.extend(self.inputs(&part, Some(&binding), name, entry)?);
            }
            return Ok(values);
        }
        let Some((scalar, components)) = scalars(inner) else {
            return Err(Stop::unsupported("an input of this type", LOWERING));
        };
        let kind = match *binding {
            Binding::BuiltIn(builtin) => InputKind::Builtin(builtin_of(builtin)?),
            Binding::Location { location, interpolation, sampling, per_primitive, .. } => {
                if per_primitive {
                    // Only mesh shaders give them.
                    return Err(Stop::unsupported("per-primitive inputs", LOWERING)
                        .needing(Needs::MeshStages));
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
            scalar: if is_bool { Scalar::U32 } else { reading(scalar) },
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
        inner: &TypeInner,
        binding: Option<&Binding>,
        name: &str,
        values: &[gpucc_ir::ssa::Value],
        distances: &mut Distances,
    ) -> Result<usize> {
        let Some(binding) = binding else {
            let TypeInner::Struct { members, .. } = inner else {
                return Err(Stop::unsupported("an output without a binding", LOWERING));
            };
            let mut used = 0;
            for member in members {
                let name = member.name.as_deref().unwrap_or("");
                let inner = self.source.types.inner(member.ty);
                let binding = member.binding.as_ref();
                used += self.outputs(inner, binding, name, &values[used..], distances)?;
            }
            return Ok(used);
        };
        if let &Binding::BuiltIn(builtin) = binding {
            super::builtin::check(self.source.types, builtin, inner)?;
        }
        // An array of distances may be taken apart.
        if let Some((known, list)) = distances.of(binding)
            && matches!(inner, TypeInner::Scalar(_) | TypeInner::Array { .. })
        {
            let count = self.source.types.leaf_count_of(inner)?;
            list.extend_from_slice(&values[..count]);
            if matches!(inner, TypeInner::Array { .. }) {
                name.clone_into(known);
            }
            return Ok(count);
        }
        if let Some(parts) = self.locations(inner, binding)? {
            let mut used = 0;
            for (part, binding) in parts {
                used += self.outputs(&part, Some(&binding), name, &values[used..], distances)?;
            }
            return Ok(used);
        }
        if let (TypeInner::Array { base, .. }, &Binding::BuiltIn(builtin)) = (inner, binding) {
            let count = self.source.types.leaf_count_of(inner)?;
            match builtin {
                naga::BuiltIn::SampleMask => {
                    let base = self.source.types.inner(*base);
                    self.outputs(base, Some(binding), name, &values[..1], distances)?;
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
            Binding::BuiltIn(builtin) => OutputKind::Builtin(builtin_of(builtin)?),
            Binding::Location { location, interpolation, blend_src, .. } => OutputKind::Location {
                location,
                blend_src: blend_src.unwrap_or(0) as u8,
                interpolation: interpolation_of(interpolation, scalar)?,
            },
        };
        let count = usize::from(components);
        self.output(kind, reading(scalar), name, &values[..count]);
        Ok(count)
    }

    /// What stands at locations of its own, one after the other: elements of an array, columns of a
    /// matrix, members of a structure. SPIR-V alone has them.
    fn locations(
        &self,
        inner: &TypeInner,
        binding: &Binding,
    ) -> Result<Option<Vec<(TypeInner, Binding)>>> {
        let &Binding::Location { location: first, .. } = binding else {
            return Ok(None);
        };
        let needed = self.location_count(inner);
        if needed > MOST_LOCATIONS {
            return Err(too_many_locations(needed.into()));
        }
        let Some(parts) = self.located_parts(inner)? else {
            return Ok(None);
        };
        let mut at = first;
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            let mut own = binding.clone();
            if let Binding::Location { location, .. } = &mut own {
                *location = at;
            }
            at = at.saturating_add(self.location_count(&part));
            all.push((part, own));
        }
        Ok(Some(all))
    }

    fn located_parts(&self, inner: &TypeInner) -> Result<Option<Vec<TypeInner>>> {
        let count = match inner {
            TypeInner::Struct { members, .. } => {
                let members = members.iter();
                return Ok(Some(
                    members.map(|member| self.source.types.inner(member.ty).clone()).collect(),
                ));
            }
            TypeInner::Matrix { columns, .. } => *columns as u32,
            TypeInner::Array { size: naga::ArraySize::Constant(count), .. } => count.get(),
            _ => return Ok(None),
        };
        (0..count)
            .map(|index| self.source.types.element(inner, index))
            .collect::<Result<Vec<_>>>()
            .map(Some)
    }

    /// Locations that a type takes.
    fn location_count(&self, inner: &TypeInner) -> u32 {
        match inner {
            TypeInner::Struct { members, .. } => members
                .iter()
                .map(|member| self.location_count(self.source.types.inner(member.ty)))
                .fold(0, u32::saturating_add),
            TypeInner::Matrix { columns, .. } => *columns as u32,
            TypeInner::Array { base, size: naga::ArraySize::Constant(count), .. } => {
                self.location_count(self.source.types.inner(*base)).saturating_mul(count.get())
            }
            _ => 1,
        }
    }
}

impl<'a, S> Lower<'a, S> {
    /// Lowering that begins with an empty function.
    pub fn new(source: S, mut func: Func, discard_ends: bool, limits: &'a Limits) -> Self {
        let (prologue, initial) = (func.new_region(), func.new_region());
        Lower {
            source,
            limits,
            discard_ends,
            stage: func.stage,
            region: func.body,
            func,
            prologue,
            initial,
            span: Span::NONE,
            bundle: None,
            next_bundle: 0,
            depth: 0,
            continuing: 0,
            steps: 0,
            kept: 0,
            private_bytes: 0,
            workgroup_bytes: 0,
            shared: None,
            constants: Default::default(),
            lengths: Default::default(),
            physical: None,
            tables: Default::default(),
            quads: Default::default(),
            copies: Default::default(),
            exited: Default::default(),
            whole: None,
            notes: Vec::new(),
        }
    }

    /// Puts prologue, initial stores and body together.
    pub fn finish(mut self) -> (Func, Vec<Diagnostic>) {
        let mut insts = std::mem::take(&mut self.func.regions[self.prologue].insts);
        insts.append(&mut self.func.regions[self.initial].insts);
        let body = self.func.body;
        insts.append(&mut self.func.regions[body].insts);
        self.func.regions[body].insts = insts;
        (self.func, self.notes)
    }

    /// Clip distances and, numbered on, cull distances leave four by four.
    pub fn distances(&mut self, distances: &Distances) -> Result<()> {
        let needed = (distances.clip.1.len() + distances.cull.1.len()) as u64;
        if needed > u64::from(MOST_DISTANCES) {
            return Err(Stop::limit(
                "clip and cull distances together",
                needed,
                MOST_DISTANCES.into(),
                "declare shorter arrays",
            ));
        }
        let mut first = 0;
        let both = [
            (Builtin::ClipDistance(0), &distances.clip),
            (Builtin::CullDistance(0), &distances.cull),
        ];
        for (builtin, (name, values)) in both {
            let mut rest = &values[..];
            while !rest.is_empty() {
                let (four, behind) = rest.split_at(rest.len().min(4 - first % 4));
                let kind = OutputKind::Builtin(builtin.with_number(first as u8));
                self.output(kind, Scalar::F32, name, four);
                first += four.len();
                rest = behind;
            }
        }
        Ok(())
    }

    /// Says what was inferred, unless that was said before.
    fn note_once(&mut self, code: &str, text: String) {
        if self.notes.iter().all(|note| note.message != text) {
            self.notes.push(Diagnostic::note(code, text));
        }
    }

    /// Distances leave once more as what varies, for fragments that read them, where no output of the text's own is in
    /// their way.
    pub fn varying_distances(&mut self, distances: &Distances) {
        let both = DISTANCES.into_iter().zip([&distances.clip, &distances.cull]);
        for (first, (name, values)) in both.filter(|(_, (_, values))| !values.is_empty()) {
            let end = first + values.len().div_ceil(4) as u32;
            let taken = self.func.outputs.values().any(|data| {
                // A geometry shader writes them for each vertex.
                data.name != *name
                    && matches!(data.kind, OutputKind::Location { location, .. } if (first..end).contains(&location))
            });
            let place = format!("locations {first} and {}", first + 1);
            if taken {
                let text = format!(
                    "`{name}` is not for fragments to read: an output has one of the {place}"
                );
                self.note_once("distances", text);
                continue;
            }
            let text = format!("fragments that read `{name}` find it at the {place}");
            self.note_once("distances", text);
            for (four, location) in values.chunks(4).zip(first..) {
                let interpolation = Interpolation::Perspective;
                let kind = OutputKind::Location { location, blend_src: 0, interpolation };
                self.output(kind, Scalar::F32, name, four);
            }
        }
    }

    /// A vertex of what the outputs hold, or the end of a strip.
    pub fn strip(&mut self, op: Op) {
        self.b().inst(op, Imm::None, &[], &[], &[]);
    }

    /// Declares and writes an output of one to four components. A depth and a stencil reference behind early tests are none:
    /// what is written then has no effect (SPIR-V 3.6, EarlyFragmentTests).
    pub fn output(
        &mut self,
        kind: OutputKind,
        scalar: Scalar,
        name: &str,
        values: &[gpucc_ir::ssa::Value],
    ) {
        let tested = matches!(kind, OutputKind::Builtin(Builtin::FragDepth | Builtin::StencilRef));
        if tested && self.func.early_fragment_tests {
            return;
        }
        // A geometry shader writes its outputs for each vertex.
        let known = match self.stage {
            Stage::Geometry => self.func.outputs.iter().find(|(_, data)| data.kind == kind),
            _ => None,
        };
        let output = match known.map(|(output, _)| output) {
            Some(output) => output,
            None => self.func.outputs.push(OutputData {
                kind,
                components: values.len() as u8,
                scalar,
                name: name.to_owned(),
            }),
        };
        for (component, &value) in values.iter().enumerate() {
            let value = match self.ty(value) {
                Type::B1 => self.convert(Op::UConvert, Type::B32, value),
                _ => value,
            };
            self.b().output(output, component as u8, value);
        }
    }
}

/// The result is, or has a member that is, a position marked as invariant.
fn has_invariant_position(module: &naga::Module, result: &naga::FunctionResult) -> bool {
    let marked = |binding: &Option<Binding>| {
        matches!(binding, Some(Binding::BuiltIn(naga::BuiltIn::Position { invariant: true })))
    };
    marked(&result.binding)
        || match &module.types[result.ty].inner {
            TypeInner::Struct { members, .. } => {
                members.iter().any(|member| marked(&member.binding))
            }
            _ => false,
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
            return Err(Stop::unsupported("per-vertex inputs", LOWERING).needing(Needs::Corners));
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

/// The built-in value that one of naga's is.
pub(super) fn builtin_of(builtin: naga::BuiltIn) -> Result<Builtin> {
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
            let stop = Stop::unsupported(name, LOWERING);
            return Err(match other {
                B::Barycentric { .. } => stop.needing(Needs::Corners),
                _ => stop,
            });
        }
    })
}

/// The stage of an entry point, when it is one that we compile.
pub fn stage_of(stage: naga::ShaderStage) -> Result<Stage> {
    Ok(match stage {
        naga::ShaderStage::Vertex => Stage::Vertex,
        naga::ShaderStage::Fragment => Stage::Fragment,
        naga::ShaderStage::Compute => Stage::Compute,
        other => {
            use naga::ShaderStage as S;
            let name = match other {
                S::Task => "task shaders".to_owned(),
                S::Mesh => "mesh shaders".to_owned(),
                other => format!("shaders of the stage {other:?}"),
            };
            let stop = Stop::unsupported(name, LOWERING);
            return Err(match other {
                S::Task | S::Mesh => stop.needing(Needs::MeshStages),
                _ => stop.needing(Needs::RayTracing),
            });
        }
    })
}
