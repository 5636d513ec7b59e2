//! Lowering of inputs and outputs: variables of memory that are filled at the start and read at the end.

use super::calls::root;
use super::layout::Packing;
use super::lower::{Frame, OfGlsl, Pointer, Slot};
use super::tree::{Class, Expr, Global, Kind};
use super::types::{Ty, Varying};
use super::variables::What;
use crate::growth::{MOST_LOCATIONS, too_many_locations};
use crate::lower::entry::Distances;
use crate::lower::interpolate::{At, Interpolant};
use crate::lower::located::{DISTANCES, Located, distances_at};
use crate::lower::types::reading;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    Builtin, Input, InputKind, Interpolation, Op, OutputKind, Sampling, Scalar, Stage, Type,
};
use naga::ScalarKind;

/// What stands at a location and behind it.
struct Start<'g> {
    location: u32,
    component: u32,
    index: u32,
    varying: Varying,
    name: &'g str,
    variable: usize,
}

impl<'p> OfGlsl<'p> {
    /// Splits a type into what has a location; gives the next one.
    fn locate(
        &self,
        all: &mut Vec<Located>,
        ty: Ty,
        start: &Start<'_>,
        first: &mut usize,
    ) -> Result<u32> {
        let types = &self.source.p.types;
        if start.location > MOST_LOCATIONS {
            return Err(too_many_locations(start.location.into()));
        }
        match ty {
            Ty::Scalar(_) | Ty::Vector(..) => {
                let Some((mut scalar, mut count)) = ty.lanes() else {
                    return Err(Stop::internal("a scalar has lanes"));
                };
                let is_wide = scalar.width == 8;
                let scalars = count;
                if is_wide {
                    (scalar, count) = (naga::Scalar::U32, 2 * count);
                }
                let float = scalar.kind == ScalarKind::Float;
                let interpolation = match (start.varying.flat || is_wide, start.varying.linear) {
                    (true, _) => Interpolation::Flat,
                    (_, true) => Interpolation::Linear,
                    _ if float => Interpolation::Perspective,
                    _ => Interpolation::Flat,
                };
                let sampling = match (start.varying.sample, start.varying.centroid) {
                    (true, _) => Sampling::Sample,
                    (_, true) => Sampling::Centroid,
                    _ => Sampling::Center,
                };
                // Two words of a location make one scalar of 64 bits, and what has more than two goes on in the next.
                let runs = match is_wide && count > 4 && start.component == 0 {
                    true => vec![4, count - 4],
                    false => vec![count],
                };
                let (mut location, mut from) = (start.location, *first);
                for count in runs {
                    if start.component as usize + count > 4 || is_wide && start.component % 2 == 1 {
                        return Err(Stop::invalid(
                            "components behind the fourth of a location (GLSL 4.60, 4.4.1)",
                        ));
                    }
                    all.push(Located {
                        location,
                        component: start.component,
                        scalar,
                        count,
                        is_wide,
                        interpolation,
                        sampling,
                        index: start.index,
                        name: start.name.to_owned(),
                        variable: start.variable,
                        first: from,
                        vertex: None,
                    });
                    (location, from) =
                        (location + 1, from + if is_wide { count / 2 } else { count });
                }
                *first += scalars;
                Ok(location)
            }
            Ty::Struct(id) => {
                let mut location = start.location;
                for member in &types.structure(id).members {
                    let mut varying = start.varying;
                    varying.flat |= member.varying.flat;
                    varying.linear |= member.varying.linear;
                    varying.centroid |= member.varying.centroid;
                    varying.sample |= member.varying.sample;
                    let own = Start {
                        location: member.location.unwrap_or(location),
                        component: member.component.unwrap_or(0),
                        varying,
                        name: if start.name.is_empty() { &member.name } else { start.name },
                        ..*start
                    };
                    location = self.locate(all, member.ty, &own, first)?;
                }
                Ok(location)
            }
            Ty::Reference(_) => {
                Err(Stop::unsupported("pointers as inputs and outputs", super::READING))
            }
            _ => {
                let Some((of, Some(length))) = types.elements(ty) else {
                    return Err(Stop::invalid(
                        "an input or output without a length (GLSL 4.60, 4.3.4)",
                    ));
                };
                let mut location = start.location;
                for _ in 0..length {
                    location = self.locate(all, of, &Start { location, ..*start }, first)?;
                }
                Ok(location)
            }
        }
    }

    fn parts(&self, global: &Global, variable: usize) -> Result<Vec<Located>> {
        let types = &self.source.p.types;
        types.leaf_count(global.ty)?;
        // A geometry shader has inputs of each vertex.
        if let (Stage::Geometry, Class::Input, Some((of, Some(count)))) =
            (self.stage, &global.class, types.elements(global.ty))
        {
            let scalars = types.leaf_count(of)?;
            let one = self.parts_of(global, of, variable)?;
            let of_each =
                |vertex| one.iter().map(move |part| part.of_vertex(vertex as u8, scalars));
            return Ok((0..count).flat_map(of_each).collect());
        }
        self.parts_of(global, global.ty, variable)
    }

    /// What a variable, or a vertex of it, has at locations.
    fn parts_of(&self, global: &Global, ty: Ty, variable: usize) -> Result<Vec<Located>> {
        let types = &self.source.p.types;
        let is_block = matches!(types.innermost(global.ty), Ty::Struct(id) if types.structure(id).name == global.name);
        let old = global.builtin.is_some().then(|| global.name.replacen("gl_", "gpucc_", 1));
        let name = match &old {
            Some(name) => name,
            // Members of a block have names of their own.
            None if is_block => "",
            None => &global.name,
        };
        let start = Start {
            location: global.located.location.unwrap_or(0),
            component: global.located.component.unwrap_or(0),
            index: global.located.index,
            varying: global.located.varying,
            name,
            variable,
        };
        let mut all = Vec::new();
        if let (Some(What::Distances(at)), Some((of, Some(count)))) =
            (global.builtin.map(|built| built.what), types.elements(global.ty))
        {
            self.locate(&mut all, of, &Start { location: at, ..start }, &mut 0)?;
            return distances_at(at, count as usize, &all[0]);
        }
        let end = self.locate(&mut all, ty, &start, &mut 0)?;
        if end > MOST_LOCATIONS {
            return Err(too_many_locations(end.into()));
        }
        Ok(all)
    }

    /// Declares and reads inputs, and puts them into their variables.
    pub(super) fn inputs(&mut self, used: &[u32]) -> Result<()> {
        let program = self.source.p;
        let mut located = Vec::new();
        let mut variables: Vec<Values> = Vec::new();
        let mut pointers = Vec::new();
        for &number in used {
            let global = &program.globals[number as usize];
            if global.class != Class::Input {
                continue;
            }
            self.span = global.span;
            let pointer = self.private(&global.name, global.ty)?;
            let mut values = self.zeros(global.ty)?;
            match global.builtin.map(|variable| variable.what) {
                None | Some(What::Attribute | What::Varying | What::Distances(_)) => {
                    located.extend(
                        self.parts(global, pointers.len()).map_err(|stop| stop.at(global.span))?,
                    );
                }
                Some(What::Vertices) => {
                    located.extend(self.vertices(global, pointers.len(), &mut values)?);
                }
                Some(what) => {
                    let found = self.built_input(global, what)?;
                    values[..found.len()].copy_from_slice(&found);
                }
            }
            self.source.globals.insert(number, Slot::Memory(pointer.clone()));
            pointers.push(pointer);
            variables.push(values);
        }
        self.read_located(&located, &mut variables, super::READING)?;
        let initial = self.initial;
        for (pointer, values) in pointers.iter().zip(&variables) {
            self.within(initial, |lower| lower.store(pointer, values))?;
        }
        Ok(())
    }

    /// What is used of the primitive's vertices: distances have locations, and the rest is read.
    fn vertices(
        &mut self,
        global: &Global,
        variable: usize,
        values: &mut Values,
    ) -> Result<Vec<Located>> {
        let program = self.source.p;
        let types = &program.types;
        let Some((vertex @ Ty::Struct(id), Some(count))) = types.elements(global.ty) else {
            return Err(Stop::internal("the primitive's vertices are an array"));
        };
        let scalars = types.leaf_count(vertex)?;
        let mut located = Vec::new();
        let mut first = 0;
        for (index, member) in types.structure(id).members.iter().enumerate() {
            let own = types.leaf_count(member.ty)?;
            let (at, builtin) = match member.name.as_str() {
                "gl_Position" => (None, Builtin::Position),
                "gl_PointSize" => (None, Builtin::PointSize),
                "gl_ClipDistance" => (Some(DISTANCES[0]), Builtin::ClipDistance(0)),
                _ => (Some(DISTANCES[1]), Builtin::CullDistance(0)),
            };
            let used = program.of_vertices >> index & 1 == 1;
            if let (true, Some(at), Some((of, _))) = (used, at, types.elements(member.ty)) {
                let varying = global.located.varying;
                let name = &member.name;
                let start = Start { location: at, component: 0, index: 0, varying, name, variable };
                let mut one = Vec::new();
                self.locate(&mut one, of, &start, &mut first.clone())?;
                for part in distances_at(at, own, &one[0])? {
                    located.extend((0..count).map(|at| part.of_vertex(at as u8, scalars)));
                }
            } else if used {
                for vertex in 0..count {
                    let found = self.of_vertex(vertex as u8, builtin, &member.name)?;
                    let at = first + vertex as usize * scalars;
                    values[at..at + own].copy_from_slice(&found);
                }
            }
            first += own;
        }
        Ok(located)
    }

    /// A part of an input at another place of the pixel.
    pub(super) fn interpolation(
        &mut self,
        frame: &mut Frame,
        name: &str,
        arguments: &'p [Expr],
    ) -> Result<Values> {
        let Some((input, rest)) = arguments.split_first() else {
            return Err(Stop::internal("an interpolation of nothing"));
        };
        let at = match (name, rest) {
            ("interpolateAtCentroid", _) => At::Spot(Sampling::Centroid),
            ("interpolateAtOffset", [offset]) => {
                let offset = self.values(frame, offset)?;
                At::Offset(offset[0], offset[1])
            }
            (_, [sample]) if self.is_own_sample(sample) => At::Spot(Sampling::Sample),
            _ => {
                let what = "interpolation at another sample than the own";
                return Err(Stop::unsupported(what, super::READING));
            }
        };
        let (input, lanes) = match &input.kind {
            Kind::Swizzle(base, lanes) => (&**base, Some(lanes)),
            _ => (input, None),
        };
        let Some(number) = root(input) else {
            return Err(Stop::internal("an interpolation of no input"));
        };
        let pointer = self.pointer(frame, input)?;
        let wanted = self.source.p.types.flatten(pointer.ty, pointer.packing)?;
        let whole = |lower: &Self| {
            let global = &lower.source.p.globals[number as usize];
            let leaves = lower.source.p.types.flatten(global.ty, Packing::DENSE)?;
            Ok(Interpolant { located: lower.parts(global, 0)?, leaves })
        };
        let values = self.interpolated(&pointer.place, &wanted, at, whole, super::READING)?;
        Ok(match lanes {
            Some(lanes) => lanes.iter().map(|lane| values[lane]).collect(),
            None => values,
        })
    }

    /// Whether an expression is the number of the sample that the invocation runs for.
    fn is_own_sample(&self, expr: &Expr) -> bool {
        let Kind::Global(number) = expr.kind else {
            return false;
        };
        let built_in = self.source.p.globals[number as usize].builtin;
        built_in.is_some_and(|variable| variable.what == What::In(Builtin::SampleIndex))
    }

    fn built_input(&mut self, global: &Global, what: What) -> Result<Values> {
        let prologue = self.prologue;
        Ok(match what {
            What::In(builtin) => {
                if let Some(values) = self.number_in_squares(builtin) {
                    return Ok(values);
                }
                let scalar = match builtin {
                    Builtin::Position | Builtin::PointCoord | Builtin::SamplePosition => {
                        Scalar::F32
                    }
                    Builtin::FrontFacing => Scalar::U32,
                    _ => global.ty.scalar().map_or(Scalar::U32, reading),
                };
                let scalar = if builtin == Builtin::SampleMask { Scalar::I32 } else { scalar };
                let input = self.builtin_input(builtin, scalar, &global.name);
                let is_bool = builtin == Builtin::FrontFacing;
                self.within(prologue, |lower| {
                    lower.lanes(builtin.components().into(), |lower, lane| {
                        let value = lower.b().input(input, lane as u8);
                        Ok(if is_bool { lower.truth(value) } else { value })
                    })
                })?
            }
            What::Helper => self.within(prologue, Self::helper),
            What::Mask(mask) => {
                let words = self.within(prologue, |lower| lower.lane_mask(mask))?;
                match global.ty.lanes() {
                    Some((_, 4)) => words,
                    _ => Values::from_elem(
                        self.within(prologue, |lower| lower.op2(Op::Join64, words[0], words[1])),
                        1,
                    ),
                }
            }
            _ => {
                let plain = global.name.trim_start_matches("gl_");
                let stop = Stop::unsupported(format!("the built-in value {plain}"), super::READING);
                return Err(needs(&global.name, stop).at(global.span));
            }
        })
    }

    pub(super) fn builtin_input(&mut self, builtin: Builtin, scalar: Scalar, name: &str) -> Input {
        let kind = InputKind::Builtin(builtin);
        self.input_once(kind, builtin.components(), scalar, name)
    }

    /// The pixel that a fragment covers.
    pub(super) fn pixel(&mut self) -> Values {
        let input = self.builtin_input(Builtin::Position, Scalar::F32, "gl_FragCoord");
        let prologue = self.prologue;
        [0, 1]
            .into_iter()
            .map(|lane| {
                let value = self.within(prologue, |lower| lower.b().input(input, lane));
                self.convert(Op::FToS, Type::B32, value)
            })
            .collect()
    }

    /// Makes the variables of outputs: all that the text declares, and built-in ones that it uses.
    pub(super) fn output_variables(&mut self, used: &[u32]) -> Result<Vec<(u32, Pointer)>> {
        let program = self.source.p;
        let mut all = Vec::new();
        for (number, global) in (0..).zip(&program.globals) {
            let wanted = global.builtin.is_none() || used.binary_search(&number).is_ok();
            if global.class != Class::Output || !wanted {
                continue;
            }
            self.span = global.span;
            let pointer = self.private(&global.name, global.ty)?;
            let initial = self.initial;
            self.within(initial, |lower| lower.zero(&pointer))?;
            self.source.globals.insert(number, Slot::Memory(pointer.clone()));
            all.push((number, pointer));
        }
        Ok(all)
    }

    /// Reads output variables and writes the outputs.
    pub(super) fn outputs(&mut self, all: &[(u32, Pointer)]) -> Result<()> {
        let program = self.source.p;
        let mut distances = Distances::default();
        let mut planes = Values::new();
        let mut located = Vec::new();
        let mut variables: Vec<Values> = Vec::new();
        for (number, pointer) in all {
            let global = &program.globals[*number as usize];
            self.span = global.span;
            let values = self.load(pointer)?;
            match global.builtin.map(|variable| variable.what) {
                None | Some(What::Varying | What::Colour) => {
                    let parts =
                        self.parts(global, variables.len()).map_err(|stop| stop.at(global.span))?;
                    if self.stage == Stage::Fragment && parts.iter().any(|part| part.is_wide) {
                        let message =
                            "an output of a fragment shader has 64 bits (GLSL 4.60, 4.3.6)";
                        return Err(Stop::invalid(message).at(global.span));
                    }
                    located.extend(parts);
                    variables.push(values);
                }
                Some(What::Out(Builtin::ClipDistance(_))) => distances.clip.1.extend(values),
                Some(What::ClipVertex) => planes.extend(self.distances_of_planes(&values)?),
                Some(What::Out(Builtin::CullDistance(_))) => distances.cull.1.extend(values),
                Some(What::Out(builtin)) => {
                    let scalar = match builtin {
                        Builtin::SampleMask
                        | Builtin::StencilRef
                        | Builtin::Layer
                        | Builtin::PrimitiveIndex => Scalar::I32,
                        _ => Scalar::F32,
                    };
                    let count = usize::from(builtin.components());
                    self.output(
                        OutputKind::Builtin(builtin),
                        scalar,
                        &global.name,
                        &values[..count],
                    );
                }
                Some(_) => {
                    let stage = self.stage.name();
                    let name = global.name.trim_start_matches("gl_");
                    let stop = Stop::unsupported(
                        format!("{name} as an output of a {stage} shader"),
                        super::READING,
                    );
                    return Err(needs(&global.name, stop).at(global.span));
                }
            }
        }
        self.write_located(&located, &variables, super::READING)?;
        if !planes.is_empty() && !distances.clip.1.is_empty() {
            let message = "gl_ClipVertex and gl_ClipDistance are both written (GLSL 4.60, 7.1.1)";
            return Err(Stop::invalid(message));
        }
        self.varying_distances(&distances);
        // No fragment reads the distances of gl_ClipVertex.
        distances.clip.1.extend(planes);
        self.distances(&distances)
    }

    /// How far gl_ClipVertex is from each plane of `gl_ClipPlane` (OpenGL 4.6 compatibility, 13.7).
    fn distances_of_planes(&mut self, vertex: &Values) -> Result<Values> {
        let globals = &self.source.p.globals;
        let planes = globals.iter().position(|global| {
            global.builtin.is_some_and(|variable| variable.name == "gl_ClipPlane")
        });
        let planes = planes.ok_or_else(|| Stop::internal("there are no planes"))?;
        let pointer = self.global_pointer(planes as u32)?;
        let values = self.load(&pointer)?;
        Ok(values
            .chunks(4)
            .map(|plane| self.dot_float(vertex, &Values::from_slice(plane)))
            .collect())
    }
}

/// What a machine must have for a built-in value.
fn needs(name: &str, stop: Stop) -> Stop {
    use crate::Needs;
    match name {
        _ if name.contains("Shading") || name.contains("FragSize") => {
            stop.needing(Needs::ShadingRate)
        }
        "gl_FragInvocationCountEXT" => stop.needing(Needs::ShadingRate),
        _ if name.starts_with("gl_Viewport") => stop.needing(Needs::Viewports),
        _ if name.starts_with("gl_BaryCoord") => stop.needing(Needs::Corners),
        _ if name.contains("FullyCovered") => stop.needing(Needs::WholePixels),
        _ => stop,
    }
}
