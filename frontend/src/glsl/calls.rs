//! Semantic analysis of calls: constructors, functions of the text, built-in functions.

use super::ast::{self, ExprKind};
use super::builtins::{FUNCTIONS, row, signatures};
use super::check::{Check, Root, invalid, unknown};
use super::tree::{Binary, Class, Direction, Expr, Kind, Num};
use super::types::{self, Form, Image, Opaque, Ty, vector};
use super::variables::What;
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::{Span, Stage};
use naga::{Scalar, ScalarKind};
use std::rc::Rc;

/// Beginnings of the names of functions that are known and not read.
const LACKING: [(&str, &str); 33] = [
    ("beginInvocationInterlock", "fragment shader interlock"),
    ("endInvocationInterlock", "fragment shader interlock"),
    ("texture4", "functions of vendors"),
    ("textureSamplesIdentical", "functions of vendors"),
    ("dotEXT", "dot products of integers"),
    ("dotAccSatEXT", "dot products of integers"),
    ("dotPacked4x8", "dot products of integers"),
    ("absoluteDifference", "functions of vendors"),
    ("addSaturate", "functions of vendors"),
    ("subtractSaturate", "functions of vendors"),
    ("average", "functions of vendors"),
    ("multiply32x16", "functions of vendors"),
    ("rayQuery", "ray queries"),
    ("traceRay", "ray tracing shaders"),
    ("traceNV", "ray tracing shaders"),
    ("executeCallable", "ray tracing shaders"),
    ("reportIntersection", "ray tracing shaders"),
    ("hitObject", "ray tracing shaders"),
    ("coopMat", "cooperative matrices"),
    ("coopVec", "cooperative matrices"),
    ("sparse", "sparse residency"),
    ("EmitMesh", "task and mesh shaders"),
    ("SetMeshOutputs", "task and mesh shaders"),
    ("textureBlock", "image processing"),
    ("textureBox", "image processing"),
    ("textureWeighted", "image processing"),
    ("textureClamp", "a least level of detail (MinLod)"),
    ("textureGradClamp", "a least level of detail (MinLod)"),
    ("textureOffsetClamp", "a least level of detail (MinLod)"),
    ("textureGradOffsetClamp", "a least level of detail (MinLod)"),
    ("textureFootprint", "footprints of textures"),
    ("textureGatherLod", "gathers of a level"),
    ("colorAttachmentRead", "tile images"),
];

/// Functions that emit vertices.
fn is_of_geometry(name: &str) -> bool {
    matches!(name, "EmitVertex" | "EndPrimitive" | "EmitStreamVertex" | "EndStreamPrimitive")
}

impl<'a> Check<'a, '_> {
    /// A call.
    pub fn call(
        &mut self,
        callee: &ast::Expr<'a>,
        arguments: &[ast::Expr<'a>],
        span: Span,
    ) -> Result<Expr> {
        if let ExprKind::Field(base, "length", _) = &callee.kind {
            return self.length(base, arguments, span);
        }
        // `texture2D` names a type too, of which no values are made.
        let function = matches!(callee.kind, ExprKind::Name(name) if name.starts_with("texture"));
        if let Some(ty) = if function { None } else { self.type_in(callee)? } {
            return self.constructor(ty, arguments, span);
        }
        let ExprKind::Name(name) = callee.kind else {
            return invalid("this is no function", callee.span);
        };
        if self.symbol(name).is_some() {
            return invalid(format!("`{name}` is a variable, and it is called"), callee.span);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.expr(argument)?);
        }
        self.current.size += 2;
        if let Some(expr) = self.user_function(name, &mut values, true, span)? {
            return Ok(expr);
        }
        if let Some(expr) = self.builtin_function(name, &mut values, callee.span, span)? {
            return Ok(expr);
        }
        if let Some(expr) = self.user_function(name, &mut values, false, span)? {
            return Ok(expr);
        }
        let types: Vec<String> = values.iter().map(|value| self.p.types.name(value.ty)).collect();
        let types = types.join(", ");
        let exists =
            self.functions.contains_key(name) || row(name).is_some() || self.is_special(name);
        if exists {
            return invalid(format!("no function `{name}` takes ({types}) (GLSL 4.60, 6.1)"), span);
        }
        if let Some((_, what)) = LACKING.iter().find(|(start, _)| name.starts_with(start)) {
            return Err(super::lacking(what).at(callee.span));
        }
        let known = self.functions.keys().copied().chain(FUNCTIONS.iter().map(|row| row.0));
        unknown(format!("there is no function `{name}`"), name, known, callee.span)
    }

    fn length(
        &mut self,
        base: &ast::Expr<'a>,
        arguments: &[ast::Expr<'a>],
        span: Span,
    ) -> Result<Expr> {
        if !arguments.is_empty() {
            return invalid("`length()` takes nothing (GLSL 4.60, 5.7)", span);
        }
        let known = match self.type_in(base)? {
            Some(ty) => self.p.types.elements(ty),
            None => {
                let base = self.expr(base)?;
                let elements = self.p.types.elements(base.ty);
                if let Some((_, None)) = elements {
                    let in_buffer = root(&base).is_some_and(|number| {
                        matches!(self.p.globals[number as usize].class, Class::Storage(_))
                    });
                    // The uses of a variable say its length.
                    let grows = match base.kind {
                        Kind::Local(number) => self.current.locals[number as usize].grows,
                        Kind::Global(number) => self.p.globals[number as usize].grows,
                        _ => false,
                    } && !self.p.types.is_opaque(base.ty);
                    if !grows && (!in_buffer || !matches!(base.kind, Kind::Member(..))) {
                        return invalid("this array has no length yet (GLSL 4.60, 4.1.9)", span);
                    }
                    return Ok(Expr::new(Kind::Length(Box::new(base)), types::INT, span));
                }
                elements
            }
        };
        match known {
            Some((_, Some(length))) => Ok(self.number(Num::I(length.into()), types::INT, span)),
            _ => invalid("only arrays, vectors and matrices have a length (GLSL 4.60, 5.7)", span),
        }
    }

    /// A value made of others (GLSL 4.60, 5.4).
    fn constructor(&mut self, ty: Ty, arguments: &[ast::Expr<'a>], span: Span) -> Result<Expr> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.expr(argument)?);
        }
        let name = self.p.types.name(ty);
        if values.is_empty() {
            return invalid(format!("{name} is made of nothing (GLSL 4.60, 5.4)"), span);
        }
        if let Some(found) = self.recast(ty, &values, span)? {
            return Ok(found);
        }
        match ty {
            Ty::Scalar(_) | Ty::Vector(..) | Ty::Matrix(..) => self.numbers(ty, values, span),
            Ty::Struct(id) => {
                let members: Vec<Ty> =
                    self.p.types.structure(id).members.iter().map(|member| member.ty).collect();
                if members.len() != values.len() {
                    let message =
                        format!("{name} is made of {} values (GLSL 4.60, 5.4.3)", members.len());
                    return invalid(message, span);
                }
                let made =
                    values.into_iter().zip(members).map(|(value, ty)| self.coerce(value, ty));
                let made = made.collect::<Result<Vec<_>>>()?;
                Ok(self.folded(Kind::Construct(made), ty, span))
            }
            Ty::Array(id) => {
                self.of_whole_arrays("making arrays", span)?;
                let (mut of, length) = self.p.types.array(id);
                let count = values.len() as u32;
                if length.is_some_and(|length| length != count) {
                    return invalid(
                        format!(
                            "{name} is made of as many values as it has elements (GLSL 4.60, 5.4.4)"
                        ),
                        span,
                    );
                }
                if self.p.types.is_unsized(of) {
                    of = values[0].ty;
                }
                let ty = self.p.types.array_of(of, Some(count))?;
                let made = values.into_iter().map(|value| self.coerce(value, of));
                let made = made.collect::<Result<Vec<_>>>()?;
                Ok(self.folded(Kind::Construct(made), ty, span))
            }
            Ty::Opaque(Opaque::Image(image))
                if image.form == Form::Combined && values.len() == 2 =>
            {
                self.combine(image, values, span)
            }
            _ => invalid(format!("{name} cannot be made of values (GLSL 4.60, 5.4)"), span),
        }
    }

    /// `sampler2D(texture, sampler)`.
    fn combine(&mut self, image: Image, mut values: Vec<Expr>, span: Span) -> Result<Expr> {
        let (Some(sampler), Some(texture)) = (values.pop(), values.pop()) else {
            return Err(Stop::internal("a texture and a sampler"));
        };
        let wanted =
            Ty::Opaque(Opaque::Image(Image { form: Form::Texture, shadow: false, ..image }));
        let is_sampler = matches!(sampler.ty, Ty::Opaque(Opaque::Sampler { .. }));
        if texture.ty != wanted || !is_sampler {
            let (have, other) = (self.p.types.name(texture.ty), self.p.types.name(sampler.ty));
            return invalid(
                format!(
                    "a texture and its sampler are expected, and these are {have} and {other} (GLSL 4.60, 5.4.5)"
                ),
                span,
            );
        }
        if image.shadow {
            self.compare(&texture);
            self.compare(&sampler);
        }
        let kind = Kind::Combine(Box::new(texture), Box::new(sampler));
        Ok(Expr::new(kind, Ty::Opaque(Opaque::Image(image)), span))
    }

    /// Marks a texture or sampler as compared.
    pub fn compare(&mut self, expr: &Expr) {
        match handle_root(expr, self.current.number) {
            Some(Root::Global(number)) => self.p.globals[number as usize].compared = true,
            Some(Root::Parameter(_, local)) => {
                self.current.compared.insert(local);
            }
            None => {}
        }
    }

    fn numbers(&mut self, ty: Ty, mut values: Vec<Expr>, span: Span) -> Result<Expr> {
        let name = self.p.types.name(ty);
        let Some(scalar) = ty.scalar() else {
            return Err(Stop::internal("numbers of no type"));
        };
        let wanted = self.p.types.count(ty).0;
        let mut total = 0;
        let single = values.len() == 1;
        for value in &mut values {
            if value.ty.scalar().is_none() {
                if self.p.types.is_opaque(value.ty) && self.dialect.has("bindless") {
                    return Err(super::lacking("textures without bindings").at(value.span));
                }
                let have = self.p.types.name(value.ty);
                return invalid(
                    format!("{name} is not made of {have} (GLSL 4.60, 5.4)"),
                    value.span,
                );
            }
            if total >= wanted {
                return invalid(
                    format!("{name} is made of fewer values (GLSL 4.60, 5.4.2)"),
                    value.span,
                );
            }
            total += self.p.types.count(value.ty).0;
            let to = value.ty.with(scalar);
            if let (Ty::Matrix(..), true) = (to, scalar.kind != ScalarKind::Float) {
                // Of integers there are no matrices: the scalars in a row.
                let Ty::Matrix(from, columns, rows) = value.ty else {
                    continue;
                };
                let lanes = (usize::from(columns) * usize::from(rows)).min(wanted as usize);
                let flat = Expr::new(
                    Kind::Construct(vec![value.clone()]),
                    vector(from, lanes.min(4)),
                    value.span,
                );
                *value = self.converted(flat, vector(scalar, lanes.min(4)));
                continue;
            }
            let own =
                std::mem::replace(value, Expr::new(Kind::Construct(Vec::new()), Ty::Void, span));
            *value = self.converted(own, to);
        }
        if single && let Some(value) = values.pop() {
            match (ty, value.ty) {
                (to, from) if to == from => return Ok(Expr { span, ..value }),
                (Ty::Vector(..), Ty::Scalar(_)) => {
                    return Ok(self.folded(Kind::Splat(Box::new(value)), ty, span));
                }
                (Ty::Matrix(..), Ty::Scalar(_)) => {
                    return Ok(self.folded(Kind::Diagonal(Box::new(value)), ty, span));
                }
                (Ty::Matrix(..), Ty::Matrix(..)) => {
                    return Ok(self.folded(Kind::Resize(Box::new(value)), ty, span));
                }
                _ => values.push(value),
            }
        }
        if matches!(ty, Ty::Matrix(..))
            && values.iter().any(|value| matches!(value.ty, Ty::Matrix(..)))
        {
            return invalid(
                format!("{name} is made of a matrix and of nothing else (GLSL 4.60, 5.4.2)"),
                span,
            );
        }
        if total < wanted {
            return invalid(
                format!(
                    "{name} is made of {wanted} values, and {total} stand here (GLSL 4.60, 5.4.2)"
                ),
                span,
            );
        }
        Ok(self.folded(Kind::Construct(values), ty, span))
    }

    /// The cost of each argument for its parameter; none where they do not fit.
    fn costs(&self, values: &[Expr], wanted: &[(Ty, Direction)]) -> Option<Vec<u32>> {
        if values.len() != wanted.len() {
            return None;
        }
        let pairs = values.iter().zip(wanted);
        pairs
            .map(|(value, &(ty, direction))| match direction {
                Direction::In => self.cost(value.ty, ty),
                Direction::Out => self.cost(ty, value.ty),
                Direction::InOut => (value.ty == ty).then_some(0),
            })
            .collect()
    }

    /// The cost of arguments for parameters; none where they do not fit.
    fn fit(&self, values: &[Expr], wanted: &[(Ty, Direction)]) -> Option<u32> {
        Some(self.costs(values, wanted)?.iter().sum())
    }

    /// A function of the text; only one that takes the arguments as they are where `exact` says so.
    fn user_function(
        &mut self,
        name: &str,
        values: &mut Vec<Expr>,
        exact: bool,
        span: Span,
    ) -> Result<Option<Expr>> {
        let mut fitting: Vec<(Vec<u32>, u32)> = Vec::new();
        for &number in self.functions.get(name).into_iter().flatten() {
            let parameters = &self.p.functions[number as usize].parameters;
            let wanted: Vec<(Ty, Direction)> =
                parameters.iter().map(|parameter| (parameter.ty, parameter.direction)).collect();
            if let Some(costs) = self.costs(values, &wanted)
                && (costs.iter().all(|&cost| cost == 0) || !exact)
            {
                fitting.push((costs, number));
            }
        }
        let best = fitting.iter().min_by_key(|(costs, _)| costs.iter().sum::<u32>());
        let Some((costs, number)) = best else {
            return Ok(None);
        };
        let number = *number;
        if let Some((_, other)) =
            fitting.iter().find(|(other, own)| *own != number && !is_better(costs, other))
        {
            let called = |number: u32| {
                let parameters = self.p.functions[number as usize].parameters.iter();
                let types = parameters.map(|parameter| self.p.types.name(parameter.ty));
                format!("{name}({})", types.collect::<Vec<_>>().join(", "))
            };
            let (a, b) = (called(number.min(*other)), called(number.max(*other)));
            let message = format!(
                "`{a}` and `{b}` take these arguments, and neither better (GLSL 4.60, 6.1)"
            );
            return invalid(message, span);
        }
        let parameters = self.p.functions[number as usize].parameters.clone();
        let mut made = Vec::with_capacity(values.len());
        for (at, (value, parameter)) in
            (0..).zip(std::mem::take(values).into_iter().zip(&parameters))
        {
            if parameter.direction == Direction::In {
                if self.p.types.is_opaque(parameter.ty)
                    && let Some(root) = handle_root(&value, self.current.number)
                {
                    self.handed.push((root, Root::Parameter(number, at)));
                }
                made.push(self.converted(value, parameter.ty));
            } else {
                self.check_written(&value)?;
                made.push(value);
            }
        }
        self.current.calls.insert(number);
        self.current.callees.push(number);
        let ty = self.p.functions[number as usize].result;
        Ok(Some(Expr::new(Kind::Call(number, made), ty, span)))
    }

    fn is_special(&self, name: &str) -> bool {
        matches!(
            name,
            "transpose"
                | "inverse"
                | "determinant"
                | "matrixCompMult"
                | "outerProduct"
                | "nonuniformEXT"
        ) || name.starts_with("image")
            || name.starts_with("atomic")
            || matches!(name, "subpassLoad" | "fragmentFetchAMD" | "fragmentMaskFetchAMD")
            || super::textures::function(name).is_some()
            || super::textures::is_level_query(name)
    }

    fn builtin_function(
        &mut self,
        name: &str,
        values: &mut Vec<Expr>,
        at: Span,
        span: Span,
    ) -> Result<Option<Expr>> {
        if let Some(expr) = self.matrices(name, values, span)? {
            return Ok(Some(expr));
        }
        if let Some(expr) = self.texture(name, values, span)? {
            return Ok(Some(expr));
        }
        let texels = ["image", "atomic", "fragment"].iter().any(|start| name.starts_with(start));
        if texels || name == "subpassLoad" {
            if let Some(expr) = self.texels(name, values, span)? {
                return Ok(Some(expr));
            }
            if let Some(expr) = self.atomics(name, values, span)? {
                return Ok(Some(expr));
            }
        }
        if name == "nonuniformEXT" && values.len() == 1 {
            return Ok(values.pop());
        }
        let Some(&(own, patterns)) = row(name) else {
            return Ok(None);
        };
        // Programs call the same few functions again and again.
        let all = self.signatures.entry(own).or_insert_with(|| signatures(patterns).into());
        let all = Rc::clone(all);
        let mut best = None;
        for signature in all.iter() {
            let wanted: Vec<(Ty, Direction)> = signature
                .arguments
                .iter()
                .map(|&(ty, written)| (ty, if written { Direction::Out } else { Direction::In }))
                .collect();
            if let Some(cost) = self.fit(values, &wanted)
                && best.is_none_or(|(least, _)| cost < least)
            {
                best = Some((cost, signature));
            }
        }
        let Some((_, signature)) = best else {
            return Ok(None);
        };
        self.placed(own, at)?;
        if own.starts_with("interpolateAt") {
            self.check_interpolant(&values[0], signature.arguments[0].0)?;
        }
        let mut made = Vec::with_capacity(values.len());
        for (value, &(ty, written)) in std::mem::take(values).into_iter().zip(&signature.arguments)
        {
            if written {
                self.check_written(&value)?;
                if value.ty != ty {
                    return invalid(
                        format!("`{name}` writes a value of another type",),
                        value.span,
                    );
                }
                made.push(value);
            } else {
                made.push(self.converted(value, ty));
            }
        }
        if is_of_geometry(own)
            && let [stream] = &made[..]
        {
            match stream.known().map(|known| known[0].int()) {
                Some(0) => {}
                Some(_) => {
                    return Err(super::lacking("streams of vertices beyond the first").at(at));
                }
                None => return invalid("a stream is a constant (GLSL 4.60, 8.15)", stream.span),
            }
        }
        if own == "ftransform" {
            return self.ftransform(span).map(Some);
        }
        Ok(Some(self.folded(Kind::Builtin(own, made), signature.result, span)))
    }

    /// Requires an input of the interface, or a part of one, of the type that is interpolated: what is converted is no
    /// input any more (GLSL 4.60, 8.13.2).
    fn check_interpolant(&self, value: &Expr, ty: Ty) -> Result<()> {
        let is_input = root(value).is_some_and(|number| {
            let global = &self.p.globals[number as usize];
            let built_in = global.builtin.is_some_and(|variable| variable.what != What::Varying);
            global.class == Class::Input && !built_in
        });
        match is_input && value.ty == ty {
            true => Ok(()),
            false => invalid(
                "an input is interpolated, or a part of one (GLSL 4.60, 8.13.2)",
                value.span,
            ),
        }
    }

    /// Whether a function may stand in this stage, and what it needs.
    fn placed(&self, name: &str, at: Span) -> Result<()> {
        if name.starts_with("dFd") || name.starts_with("fwidth") {
            return match self.stage {
                Stage::Compute => Ok(()),
                _ => self.of_fragments("a derivative", at),
            };
        }
        let compute = matches!(name, "barrier" | "memoryBarrierShared" | "groupMemoryBarrier");
        if compute && self.stage != Stage::Compute {
            return invalid(
                format!("`{name}` stands outside of a compute shader (GLSL 4.60, 8.16)"),
                at,
            );
        }
        if name == "ftransform" && self.stage != Stage::Vertex {
            return invalid("`ftransform` stands outside of a vertex shader (GLSL 1.20, 8.4)", at);
        }
        if name.starts_with("interpolateAt") {
            return self.of_fragments("an interpolation", at);
        }
        if is_of_geometry(name) && self.stage != Stage::Geometry {
            let message = format!("`{name}` stands outside of a geometry shader (GLSL 4.60, 8.15)");
            return invalid(message, at);
        }
        if name == "helperInvocationEXT" {
            return self.of_fragments("helperInvocationEXT", at);
        }
        Ok(())
    }

    fn ftransform(&mut self, span: Span) -> Result<Expr> {
        let variable = |name| super::variables::find(name, Stage::Vertex);
        let (Some(matrix), Some(vertex)) =
            (variable("gl_ModelViewProjectionMatrix"), variable("gl_Vertex"))
        else {
            return Err(Stop::internal("the fixed pipeline has a matrix and a vertex"));
        };
        let (matrix, vertex) = (self.builtin(matrix, span)?, self.builtin(vertex, span)?);
        let (matrix, vertex) = (self.global(matrix, span), self.global(vertex, span));
        let ty = vertex.ty;
        Ok(Expr::new(Kind::Binary(Binary::Mul, Box::new(matrix), Box::new(vertex)), ty, span))
    }

    /// Functions of matrices (GLSL 4.60, 8.6).
    fn matrices(&mut self, name: &str, values: &mut Vec<Expr>, span: Span) -> Result<Option<Expr>> {
        let types: Vec<Ty> = values.iter().map(|value| value.ty).collect();
        let (own, ty) = match (name, &types[..]) {
            ("transpose", &[Ty::Matrix(scalar, columns, rows)]) => {
                ("transpose", Ty::Matrix(scalar, rows, columns))
            }
            ("inverse", &[ty @ Ty::Matrix(_, columns, rows)]) if columns == rows => ("inverse", ty),
            ("determinant", &[Ty::Matrix(scalar, columns, rows)]) if columns == rows => {
                ("determinant", Ty::Scalar(scalar))
            }
            ("matrixCompMult", &[a @ Ty::Matrix(..), b]) if a == b => ("matrixCompMult", a),
            ("outerProduct", [a, b]) => match (a.lanes(), b.lanes()) {
                (Some((_, rows @ 2..)), Some((_, columns @ 2..))) => {
                    let scalar = match (a.scalar(), b.scalar()) {
                        (Some(scalar), Some(other))
                            if scalar == other && scalar.kind == ScalarKind::Float =>
                        {
                            scalar
                        }
                        _ => Scalar::F32,
                    };
                    for value in values.iter_mut() {
                        let to = value.ty.with(scalar);
                        *value = self.coerce(value.clone(), to)?;
                    }
                    ("outerProduct", Ty::Matrix(scalar, columns as u8, rows as u8))
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(self.folded(Kind::Builtin(own, std::mem::take(values)), ty, span)))
    }
}

/// The variable outside of functions that an expression is a part of.
pub fn root(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        Kind::Global(number) => Some(*number),
        Kind::Member(base, _) | Kind::Index(base, _) | Kind::Swizzle(base, _) => root(base),
        _ => None,
    }
}

/// Whether one function takes some arguments better than another: one of them, and none worse (GLSL 4.60, 6.1). That an
/// integer becomes unsigned is neither better nor worse than that it becomes a float.
fn is_better(costs: &[u32], others: &[u32]) -> bool {
    const UNSIGNED: u32 = 2;
    let better = |own: u32, other: u32| own < other && own != UNSIGNED;
    let mut pairs = costs.iter().zip(others);
    let none_worse = pairs.clone().all(|(&own, &other)| !better(other, own));
    none_worse && pairs.any(|(&own, &other)| better(own, other))
}

/// Where a texture or sampler comes from.
fn handle_root(expr: &Expr, function: u32) -> Option<Root> {
    match &expr.kind {
        Kind::Global(number) => Some(Root::Global(*number)),
        Kind::Local(local) => Some(Root::Parameter(function, *local)),
        Kind::Member(base, _) | Kind::Index(base, _) | Kind::Combine(base, _) => {
            handle_root(base, function)
        }
        _ => None,
    }
}
