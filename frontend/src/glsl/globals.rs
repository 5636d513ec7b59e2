//! Semantic analysis of variables.

use super::ast;
use super::check::{Check, Symbol, invalid};
use super::qualifiers::{Layout, varying};
use super::tree::{Class, Expr, Global, Num, Stmt, StmtKind};
use super::types::{Form, Opaque, StructId, Ty, Varying};
use super::variables;
use crate::lower::Result;
use crate::special::Kind;
use gpucc_ir::Set;
use gpucc_ir::ssa::{Span, Stage};
use naga::{Scalar, ScalarKind};

impl<'a> Check<'a, '_> {
    /// A declaration within a function.
    pub fn local_declaration(
        &mut self,
        declaration: &ast::Declaration<'a>,
        made: &mut Vec<Stmt>,
    ) -> Result<()> {
        let base = self.type_of(&declaration.ty)?;
        // Pointers say how their memory is used (GL_EXT_buffer_reference).
        let is_pointer = matches!(self.p.types.innermost(base), Ty::Reference(_));
        if let Some(item) = declaration.qualifiers.layout.first() {
            let message = "a variable of a function has no layout (GLSL 4.60, 4.4)";
            return invalid(message, item.span);
        }
        for (word, span) in &declaration.qualifiers.words {
            let plain = matches!(
                *word,
                "const" | "highp" | "mediump" | "lowp" | "precise" | "nonuniformEXT"
            );
            if !(plain || is_pointer && of_memory(word)) {
                return invalid(
                    format!("a variable of a function is not `{word}` (GLSL 4.60, 4.3)"),
                    *span,
                );
            }
        }
        let is_const = declaration.qualifiers.has("const");
        for declared in &declaration.declared {
            self.current.size += 1;
            self.check_name(declared.name, declared.span)?;
            let ty = self.array(base, &declared.lengths, declared.span)?;
            let (ty, init) = self.initial(ty, declared)?;
            if self.p.types.is_opaque(ty) {
                let message = "a texture or sampler is a uniform or a parameter (GLSL 4.60, 4.1.7)";
                return invalid(message, declared.span);
            }
            if is_const {
                let Some(init) = &init else {
                    return invalid(
                        format!("the constant `{}` has no value", declared.name),
                        declared.span,
                    );
                };
                if init.known().is_some() {
                    self.declare(declared.name, Symbol::Const(init.clone()), declared.span)?;
                    continue;
                }
            }
            let number = match self.lengthened(declared, ty)? {
                Some(known) => known,
                None => {
                    let number = self.local(declared.name, ty, is_const);
                    self.current.locals[number as usize].grows = self.p.types.is_unsized(ty);
                    self.declare(declared.name, Symbol::Local(number), declared.span)?;
                    number
                }
            };
            if let Some(init) = init {
                made.push(Stmt { kind: StmtKind::Local(number, init), span: declared.span });
            }
        }
        Ok(())
    }

    /// The array without a length that a declaration in the same scope gives one (GLSL 4.60, 4.1.9).
    fn lengthened(&mut self, declared: &ast::Declarator<'a>, ty: Ty) -> Result<Option<u32>> {
        let known = self.scopes.last().and_then(|scope| scope.get(declared.name));
        let Some(&Symbol::Local(number)) = known else {
            return Ok(None);
        };
        let old = &self.current.locals[number as usize];
        if !old.grows || !(ty == old.ty || self.fits_unsized(ty, old.ty)) {
            return Ok(None);
        }
        if let Some((_, Some(length))) = self.p.types.elements(ty) {
            if length < old.reached {
                let message = format!(
                    "`{}` is declared with {length} elements, and element {} is used (GLSL 4.60, 4.1.9)",
                    declared.name,
                    old.reached - 1
                );
                return invalid(message, declared.span);
            }
            let old = &mut self.current.locals[number as usize];
            (old.ty, old.grows) = (ty, false);
        }
        Ok(Some(number))
    }

    /// A declaration outside of functions.
    pub fn global_declaration(&mut self, declaration: &ast::Declaration<'a>) -> Result<()> {
        let qualifiers = &declaration.qualifiers;
        let layout = self.layout(qualifiers)?;
        if let Some(what) = layout.lacking {
            return Err(super::lacking(what).at(declaration.ty.span));
        }
        let base = self.type_of(&declaration.ty)?;
        let storage = self.storage(qualifiers, declaration.ty.span)?;
        for declared in &declaration.declared {
            let ty = self.array(base, &declared.lengths, declared.span)?;
            if declared.name.starts_with("gl_") {
                self.redeclare(declared, ty, qualifiers)?;
                continue;
            }
            let (ty, init) = match storage {
                "const" => self.constant_value(ty, declared)?,
                _ => self.initial(ty, declared)?,
            };
            self.variable(declared, ty, init, qualifiers, &layout, storage)?;
        }
        Ok(())
    }

    /// The value of a constant, which reads constants alone.
    fn constant_value(
        &mut self,
        ty: Ty,
        declared: &ast::Declarator<'a>,
    ) -> Result<(Ty, Option<Expr>)> {
        let before = std::mem::take(&mut self.current.globals);
        let (ty, init) = self.initial(ty, declared)?;
        let read = std::mem::replace(&mut self.current.globals, before);
        let varies = |&number: &u32| self.p.globals[number as usize].class != Class::Const;
        if let Some(init) = init.as_ref().filter(|init| init.known().is_none())
            && read.iter().any(varies)
        {
            let message = format!(
                "the value of the constant `{}` is no constant (GLSL 4.60, 4.3.3)",
                declared.name
            );
            return invalid(message, init.span);
        }
        self.current.globals.extend(read);
        Ok((ty, init))
    }

    /// A built-in variable is declared again: its length, its interpolation.
    pub fn redeclare(
        &mut self,
        declared: &ast::Declarator<'a>,
        ty: Ty,
        qualifiers: &ast::Qualifiers<'a>,
    ) -> Result<()> {
        let (name, span) = (declared.name, declared.span);
        let Some(variable) = variables::find(name, self.stage) else {
            return self.check_name(name, span);
        };
        if let variables::What::Number(_) | variables::What::WorkgroupSize = variable.what {
            return Ok(());
        }
        let number = self.builtin(variable, span)?;
        let own = self.p.globals[number as usize].ty;
        let fits = match (own, ty) {
            (Ty::Array(a), Ty::Array(b)) => {
                let ((a, _), (b, length)) = (self.p.types.array(a), self.p.types.array(b));
                if a == b
                    && let Some(length) = length
                {
                    check_elements(length, span)?;
                    let global = &mut self.p.globals[number as usize];
                    (global.ty, global.grows) = (ty, false);
                }
                a == b
            }
            (a, b) => a == b,
        };
        if !fits {
            let message = format!(
                "`{name}` is declared with another type: it is {} (GLSL 4.60, 7.1)",
                self.p.types.name(own)
            );
            return invalid(message, span);
        }
        let global = &mut self.p.globals[number as usize];
        global.invariant |= qualifiers.has("invariant");
        let varying = varying(qualifiers);
        if varying != Varying::default() {
            global.located.varying = varying;
        }
        Ok(())
    }

    fn variable(
        &mut self,
        declared: &ast::Declarator<'a>,
        ty: Ty,
        init: Option<Expr>,
        qualifiers: &ast::Qualifiers<'a>,
        layout: &Layout<'a>,
        storage: &'static str,
    ) -> Result<()> {
        let (name, span) = (declared.name, declared.span);
        let ty = match storage {
            "in" => self.of_vertices(ty, name, span)?,
            _ => ty,
        };
        let opaque = match self.p.types.innermost(ty) {
            Ty::Opaque(opaque) => Some(opaque),
            _ => None,
        };
        let splits = opaque.is_none() && self.p.types.is_opaque(ty);
        if (opaque.is_some() || splits) && storage != "uniform" {
            let message =
                format!("`{name}` is a texture or sampler, which is a uniform (GLSL 4.60, 4.1.7)");
            return invalid(message, span);
        }
        if let Some(Opaque::Image(image)) = opaque
            && image.form != Form::Storage
            && let Some((word, at)) = qualifiers.words.iter().find(|(word, _)| of_memory(word))
        {
            let message =
                format!("`{word}` qualifies images and buffers, not `{name}` (GLSL 4.60, 4.10)");
            return invalid(message, *at);
        }
        let class = match storage {
            "const" => {
                let Some(init) = init else {
                    return invalid(format!("the constant `{name}` has no value"), span);
                };
                return self.constant_variable(declared, ty, init, layout);
            }
            "in" => Class::Input,
            "out" => Class::Output,
            "shared" => Class::Shared,
            "uniform" => match opaque {
                Some(Opaque::Counter) => Class::Counter,
                Some(_) => Class::Handle,
                None if splits => self.split(self.p.globals.len() as u32, name, ty, span)?,
                None => Class::Loose(0),
            },
            "buffer" => return invalid("a buffer is a block (GLSL 4.60, 4.3.9)", span),
            _ => Class::Private,
        };
        // An array without a length may be declared again with one.
        if let Some(&Symbol::Global(known)) = self.scopes.last().and_then(|scope| scope.get(name)) {
            let old = &self.p.globals[known as usize];
            let unsized_one = self.p.types.is_unsized(ty) || self.p.types.is_unsized(old.ty);
            let fits = old.class == class
                && unsized_one
                && (self.fits_unsized(ty, old.ty) || self.fits_unsized(old.ty, ty));
            if fits && self.scopes.len() == 1 {
                if self.p.types.is_unsized(old.ty) {
                    let global = &mut self.p.globals[known as usize];
                    (global.ty, global.grows) = (ty, false);
                }
                return Ok(());
            }
        }
        if let (Some(component), Some(lanes)) =
            (layout.component, self.p.types.innermost(ty).lanes())
        {
            let words = lanes.1 as u32 * u32::from(lanes.0.width / 4).max(1);
            if layout.location.is_none() {
                let message =
                    format!("`{name}` has a component and no location (GLSL 4.60, 4.4.1)");
                return invalid(message, span);
            }
            if component + words > 4 && words <= 4 {
                let message = "components behind the fourth of a location (GLSL 4.60, 4.4.1)";
                return invalid(message, span);
            }
        }
        if matches!(class, Class::Input | Class::Output) {
            self.check_interface(ty, &class, qualifiers, name, span)?;
        }
        let mut global = Global::new(name, ty, class.clone(), span);
        global.grows = self.p.types.is_unsized(ty);
        global.located.location = layout.location;
        global.located.component = layout.component;
        global.located.index = layout.index.unwrap_or(0);
        global.located.varying = varying(qualifiers);
        global.row_major = layout.row_major.unwrap_or(self.defaults[0].1);
        global.read_only = qualifiers.has("readonly");
        global.write_only = qualifiers.has("writeonly");
        global.format = layout.format;
        global.invariant = qualifiers.has("invariant");
        let number = self.p.globals.len() as u32;
        match class {
            Class::Loose(_) | Class::Parts if init.is_none() => {}
            Class::Loose(_) if self.dialect.stated && !self.dialect.since(120, u32::MAX, &[]) => {
                let message = "first values of uniforms need version 120, and ES has none";
                return invalid(format!("{message} (GLSL 1.20, 4.3.5)"), span);
            }
            Class::Loose(_) => {
                let message =
                    format!("the initial value of the uniform `{name}` is for the driver to set");
                self.infer("uniforms", message);
            }
            Class::Handle => {
                if let (Some(Opaque::Image(image)), Some(format)) = (opaque, layout.format)
                    && image.form == Form::Storage
                    && !super::finish::holds(format, image.texel.kind)
                {
                    let message = format!(
                        "the format of `{name}` holds texels of another type (GLSL 4.60, 4.4.6.2)"
                    );
                    return invalid(message, span);
                }
                if let (Some(Opaque::Image(image)), Some("")) = (opaque, layout.format)
                    && image.form == Form::Storage
                {
                    return Err(super::lacking("storage images of the format R64i").at(span));
                }
                if let (Some(Opaque::Image(image)), None, false) =
                    (opaque, layout.format, global.write_only)
                    && image.form == Form::Storage
                    && self.dialect.stated
                    && !self.dialect.has("image_load_formatted")
                {
                    let message = format!(
                        "`{name}` has no format, so it is `writeonly`, or GL_EXT_shader_image_load_formatted is on (GLSL 4.60, 4.4.7)"
                    );
                    return invalid(message, span);
                }
                self.bind(number, &mut global, layout);
            }
            Class::Counter => {
                // Each is a buffer of its own.
                self.bind(number, &mut global, &Layout::default());
            }
            Class::Private | Class::Output => {
                if let (Some(init), true) = (&init, self.dialect.es && self.dialect.version >= 300)
                    && init.known().is_none()
                    && !self.dialect.has("non_constant_global_initializers")
                {
                    let message =
                        format!("the first value of `{name}` is no constant (GLSL ES 3.20, 4.3)");
                    return invalid(message, init.span);
                }
                global.init = init;
            }
            // All of it is zero anyway.
            Class::Shared if init.as_ref().is_some_and(is_zero) => {}
            _ if init.is_some() => {
                return invalid(format!("`{name}` takes no initial value (GLSL 4.60, 4.3)"), span);
            }
            _ => {}
        }
        self.p.globals.push(global);
        self.p.globals.append(&mut self.waiting);
        self.order.push(number);
        self.declare(name, Symbol::Global(number), span)
    }

    /// The type of an input, which a geometry shader has for each vertex of the primitive (GLSL 4.60, 4.3.4). Its length is that of
    /// the primitive, once the text has said which it takes.
    pub fn of_vertices(&mut self, ty: Ty, name: &str, span: Span) -> Result<Ty> {
        if self.stage != Stage::Geometry {
            return Ok(ty);
        }
        let Ty::Array(id) = ty else {
            let message = format!(
                "`{name}` is an input of a geometry shader, which is an array of vertices (GLSL 4.60, 4.3.4)"
            );
            return invalid(message, span);
        };
        let Some(takes) = self.p.primitives.takes else { return Ok(ty) };
        let count = u32::from(takes.count());
        match self.p.types.array(id) {
            (of, None) => self.p.types.array_of(of, Some(count)),
            (_, Some(length)) if length == count => Ok(ty),
            (_, Some(length)) => {
                let message = format!(
                    "`{name}` has {length} vertices, and the primitive has {count} (GLSL 4.60, 4.4.1.2)"
                );
                invalid(message, span)
            }
        }
    }

    /// The vertices of the primitive.
    pub fn vertices(&mut self, span: Span) -> Result<Ty> {
        let Some(takes) = self.p.primitives.takes else {
            let message = "`gl_in` stands before the layout that says what the shader takes (GLSL 4.60, 4.4.1.2)";
            return invalid(message, span);
        };
        variables::vertices(&mut self.p.types, takes.count().into())
    }

    /// Group and binding, or the next free one later.
    pub fn bind(&mut self, number: u32, global: &mut Global, layout: &Layout<'_>) {
        global.bound.set = layout.set.unwrap_or(0);
        match layout.binding {
            Some(binding) => {
                global.bound.binding = binding;
                self.taken.insert(binding);
            }
            None => self.unbound.push(number),
        }
    }

    /// Rules of inputs and outputs (GLSL 4.60, 4.3.4 and 4.3.6).
    fn check_interface(
        &self,
        ty: Ty,
        class: &Class,
        qualifiers: &ast::Qualifiers<'a>,
        name: &str,
        span: Span,
    ) -> Result<()> {
        if self.stage == Stage::Compute {
            return invalid(
                format!(
                    "`{name}`: a compute shader has no inputs and outputs of its own (GLSL 4.60, 4.3.4)"
                ),
                span,
            );
        }
        let inner = self.p.types.innermost(ty);
        let scalar = inner.scalar();
        if scalar.is_some_and(|scalar| scalar.kind == ScalarKind::Bool) {
            return invalid(
                format!(
                    "`{name}` is a truth value, which no input or output is (GLSL 4.60, 4.3.4)"
                ),
                span,
            );
        }
        if *class == Class::Input && !qualifiers.has("flat") {
            self.check_flat(ty, name, span)?;
        }
        if *class == Class::Output
            && self.stage == Stage::Fragment
            && matches!(inner, Ty::Matrix(..) | Ty::Struct(_))
        {
            let message = format!(
                "`{name}`: an output of a fragment shader is no matrix and no structure (GLSL 4.60, 4.3.6)"
            );
            return invalid(message, span);
        }
        if *class == Class::Input && self.stage == Stage::Vertex && matches!(inner, Ty::Struct(_)) {
            return invalid(
                format!("`{name}`: an input of a vertex shader is no structure (GLSL 4.60, 4.3.4)"),
                span,
            );
        }
        Ok(())
    }

    /// Inputs of fragment shaders that are or contain integers or doubles are flat (GLSL 4.60, 4.3.4).
    pub fn check_flat(&self, ty: Ty, name: &str, span: Span) -> Result<()> {
        let known = self.stage == Stage::Fragment && self.dialect.stated;
        if !known || self.dialect.version < 130 || !self.varies(ty, &mut Set::default()) {
            return Ok(());
        }
        let message =
            format!("`{name}` holds integers or doubles, which are `flat` (GLSL 4.60, 4.3.4)");
        invalid(message, span)
    }

    /// Holds integers or doubles that no member declares flat. Structures that were seen are not looked at again.
    fn varies(&self, ty: Ty, seen: &mut Set<StructId>) -> bool {
        match self.p.types.innermost(ty) {
            Ty::Struct(id) => {
                let members = self.p.types.structure(id).members.iter();
                seen.insert(id)
                    && members.filter(|one| !one.varying.flat).any(|one| self.varies(one.ty, seen))
            }
            inner => inner.scalar().is_some_and(|scalar| {
                scalar.width == 8 || matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint)
            }),
        }
    }

    /// A constant, which the options may give another value.
    fn constant_variable(
        &mut self,
        declared: &ast::Declarator<'a>,
        ty: Ty,
        init: Expr,
        layout: &Layout<'_>,
    ) -> Result<()> {
        let (name, span) = (declared.name, declared.span);
        let mut init = init;
        if let Some(id) = layout.constant_id {
            let Ty::Scalar(scalar) = ty else {
                return invalid("a specialization constant is a scalar (GLSL 4.60, 4.4.9)", span);
            };
            self.specials.push((id, name.to_owned()));
            let number = id.to_string();
            let given =
                self.options.overrides.iter().find(|(own, _)| *own == number || own == name);
            if let Some((given, value)) = given {
                init = self.number(special_number(given, *value, scalar, span)?, ty, span);
            }
        }
        if init.known().is_some() {
            return self.declare(name, Symbol::Const(init), span);
        }
        let mut global = Global::new(name, ty, Class::Const, span);
        global.init = Some(init);
        self.p.globals.push(global);
        let number = self.p.globals.len() as u32 - 1;
        self.declare(name, Symbol::Global(number), span)
    }
}

/// The number of a specialization constant whose value is given.
///
/// # Errors
/// A value that the type does not have.
fn special_number(name: &str, value: f64, scalar: Scalar, at: Span) -> Result<Num> {
    let bits = 8 * u32::from(scalar.width);
    let kind = match scalar.kind {
        ScalarKind::Bool => Kind::Bool,
        ScalarKind::Float => Kind::Float(bits),
        _ => Kind::Int(bits),
    };
    if !kind.admits(value) {
        return Err(kind.wrong(name, value).at(at));
    }
    let number = match kind {
        Kind::Int(_) if value < 0.0 => Num::I(value as i64),
        // A value of 64 bits without a sign is its bits.
        Kind::Int(_) => Num::I(value as u64 as i64),
        _ => Num::F(value),
    };
    Ok(number.convert(scalar))
}

/// A word about how memory is used.
fn of_memory(word: &str) -> bool {
    matches!(word, "restrict" | "coherent" | "volatile" | "readonly" | "writeonly")
}

/// Refuses built-in arrays of more elements than there are locations.
fn check_elements(length: u32, span: Span) -> Result<()> {
    if length > crate::growth::MOST_LOCATIONS {
        return Err(crate::growth::too_many_locations(length.into()).at(span));
    }
    Ok(())
}

/// A constant of zeros.
fn is_zero(expr: &Expr) -> bool {
    expr.known().is_some_and(|known| known.iter().all(|num| !num.truth()))
}
