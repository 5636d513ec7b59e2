//! Semantic analysis of types: names, lengths, structures, and first values in braces.

use super::ast::{self, Base};
use super::check::{Check, Symbol, invalid};
use super::qualifiers::varying;
use super::tree::{Expr, Kind};
use super::types::{self, Member, Opaque, Ty};
use super::variables;
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::Set;
use gpucc_ir::ssa::Span;

impl<'a> Check<'a, '_> {
    /// A type by its name and lengths.
    pub fn type_of(&mut self, spec: &ast::TypeSpec<'a>) -> Result<Ty> {
        let base = match &spec.base {
            Base::Name(name) => self.type_named(name, spec.span)?,
            Base::Struct(name, members) => self.structure(*name, members, spec.span)?,
        };
        self.array(base, &spec.lengths, spec.span)
    }

    /// Whether a type of this width and kind exists in the text's dialect.
    fn has_type(&self, name: &str) -> bool {
        let explicit =
            |what: &str| self.dialect.has("explicit_arithmetic_types") || self.dialect.has(what);
        let numbered = |bits: &str| {
            name.contains(bits) && !name.starts_with("mat") && !name.starts_with("vec")
        };
        if numbered("16") {
            return explicit("half_float")
                || explicit("int16")
                || explicit("16bit")
                || explicit("float16");
        }
        if numbered("8") {
            return explicit("int8") || explicit("8bit") || self.dialect.has("float_e");
        }
        if numbered("64") {
            return explicit("64") || !self.dialect.stated;
        }
        if name == "double" || name.starts_with("dvec") || name.starts_with("dmat") {
            return self.dialect.since(400, u32::MAX, &["gpu_shader_fp64", "vertex_attrib_64bit"]);
        }
        true
    }

    fn type_named(&mut self, name: &'a str, span: Span) -> Result<Ty> {
        match self.symbol(name) {
            Some(Symbol::Type(ty)) => return Ok(*ty),
            Some(_) => return invalid(format!("`{name}` is no type"), span),
            None => {}
        }
        if let Some(ty) = types::named(name) {
            if !self.has_type(name) {
                let message = format!(
                    "the type `{name}` needs an extension that the text does not switch on"
                );
                return invalid(message, span);
            }
            self.p.has_bytes |= ty.scalar().is_some_and(crate::lower::narrow::is_byte);
            if let Ty::Opaque(Opaque::Lacking(what)) = ty {
                return Err(super::lacking(what).at(span));
            }
            return Ok(ty);
        }
        if let Some(ty) = variables::structure(name, &mut self.p.types)? {
            return Ok(ty);
        }
        invalid(format!("there is no type `{name}`"), span)
    }

    /// The type that an expression names, brackets included.
    pub fn type_in(&mut self, expr: &ast::Expr<'a>) -> Result<Option<Ty>> {
        let mut lengths = Vec::new();
        let mut at = expr;
        while let ast::ExprKind::Index(base, index) = &at.kind {
            lengths.push(index);
            at = base;
        }
        let ast::ExprKind::Name(name) = at.kind else {
            return Ok(None);
        };
        let ty = match self.symbol(name) {
            Some(Symbol::Type(ty)) => *ty,
            Some(_) => return Ok(None),
            None if types::named(name).is_some() => self.type_named(name, at.span)?,
            None => match variables::structure(name, &mut self.p.types)? {
                Some(ty) => ty,
                None => return Ok(None),
            },
        };
        let mut ty = ty;
        for length in lengths {
            let length = match length {
                Some(length) => Some(self.length_of(length)?),
                None => None,
            };
            ty = self.p.types.array_of(ty, length).map_err(|stop| stop.at(expr.span))?;
        }
        Ok(Some(ty))
    }

    fn length_of(&mut self, length: &ast::Expr<'a>) -> Result<u32> {
        match self.constant(length)? {
            known @ 1..=0x7fff_ffff => Ok(known as u32),
            0x8000_0000.. => {
                let hint = "declare shorter arrays";
                let stop = Stop::limit("elements of an array", 1 << 31, i32::MAX as u64, hint);
                Err(stop.at(length.span))
            }
            _ => invalid("an array has at least one element (GLSL 4.60, 4.1.9)", length.span),
        }
    }

    /// The array of a type with lengths, outermost first.
    pub fn array(&mut self, base: Ty, lengths: &ast::Lengths<'a>, span: Span) -> Result<Ty> {
        let mut ty = base;
        let depth = lengths.len() + usize::from(matches!(base, Ty::Array(_)));
        let newer = !self.dialect.since(430, 310, &["arrays_of_arrays"]);
        if depth > 1 && !lengths.is_empty() && newer && self.dialect.stated {
            return invalid(
                "arrays of arrays need version 430, or 310 es (GLSL 4.60, 4.1.9)",
                span,
            );
        }
        for length in lengths.iter().rev() {
            if base == Ty::Void {
                return invalid("there are no arrays of void", span);
            }
            let length = match length {
                Some(length) => Some(self.length_of(length)?),
                None => None,
            };
            ty = self.p.types.array_of(ty, length).map_err(|stop| stop.at(span))?;
        }
        Ok(ty)
    }

    /// Refuses types of more bytes than anything has.
    pub fn check_size(&self, ty: Ty, span: Span) -> Result<()> {
        let bytes = self.p.types.count(ty).1;
        let most = i32::MAX as u64;
        if bytes > most {
            let stop = Stop::limit("bytes of one type", bytes, most, "declare shorter arrays");
            return Err(stop.at(span));
        }
        Ok(())
    }

    fn structure(
        &mut self,
        name: Option<&'a str>,
        members: &[ast::Member<'a>],
        span: Span,
    ) -> Result<Ty> {
        let made = self.members(members, false)?;
        if let Some(member) = made.iter().find(|member| self.p.types.is_unsized(member.ty)) {
            let name = &member.name;
            let message = format!(
                "`{name}`: a member of a structure is an array without a length (GLSL 4.60, 4.1.9)"
            );
            return invalid(message, span);
        }
        if made.is_empty() {
            return invalid("a structure has at least one member", span);
        }
        let ty = self.p.types.add(name.unwrap_or_default(), made).map_err(|stop| stop.at(span))?;
        if let Some(name) = name {
            self.check_name(name, span)?;
            self.declare(name, Symbol::Type(ty), span)?;
        }
        Ok(ty)
    }

    pub fn members(&mut self, members: &[ast::Member<'a>], is_block: bool) -> Result<Vec<Member>> {
        let mut made: Vec<Member> = Vec::new();
        let mut names: Set<&str> = Set::default();
        for member in members {
            let base = self.type_of(&member.ty)?;
            let of_storage = |word: &str| {
                matches!(word, "const" | "in" | "out" | "uniform" | "attribute" | "varying")
            };
            let of_values = |word: &str| {
                matches!(word, "invariant" | "flat" | "smooth" | "noperspective")
                    || matches!(word, "centroid" | "sample")
            };
            let wrong = |word: &str| !is_block && (of_storage(word) || of_values(word));
            let words = &member.qualifiers.words;
            if let Some(&(word, at)) = words.iter().find(|(word, _)| wrong(word)) {
                let message =
                    format!("`{word}` qualifies no member of a structure (GLSL 4.60, 4.1.8)");
                return invalid(message, at);
            }
            let layout = self.layout(&member.qualifiers)?;
            for declared in &member.declared {
                let ty = self.array(base, &declared.lengths, declared.span)?;
                if ty == Ty::Void {
                    return invalid("a member is not void", declared.span);
                }
                self.check_size(ty, declared.span)?;
                if !names.insert(declared.name) {
                    return invalid(
                        format!("two members are called `{}`", declared.name),
                        declared.span,
                    );
                }
                let mut own = Member::new(declared.name, ty);
                own.varying = varying(&member.qualifiers);
                if is_block {
                    own.offset = layout.offset;
                    own.align = layout.align;
                    own.row_major = layout.row_major;
                    own.location = layout.location;
                    own.component = layout.component;
                    own.read_only = member.qualifiers.has("readonly");
                    own.write_only = member.qualifiers.has("writeonly");
                    own.builtin = declared.name.starts_with("gl_");
                }
                made.push(own);
            }
        }
        Ok(made)
    }

    /// The type and the first value of what is declared.
    pub fn initial(
        &mut self,
        ty: Ty,
        declared: &ast::Declarator<'a>,
    ) -> Result<(Ty, Option<Expr>)> {
        if ty == Ty::Void {
            return invalid(format!("the variable `{}` is void", declared.name), declared.span);
        }
        let Some(init) = &declared.init else {
            self.check_size(ty, declared.span)?;
            return Ok((ty, None));
        };
        let init = self.initializer(init, ty)?;
        let ty = if self.p.types.is_unsized(ty) { init.ty } else { ty };
        self.check_size(ty, declared.span)?;
        Ok((ty, Some(self.coerce(init, ty)?)))
    }

    /// A value of a type, which may stand in braces.
    fn initializer(&mut self, init: &ast::Expr<'a>, ty: Ty) -> Result<Expr> {
        let ast::ExprKind::List(parts) = &init.kind else {
            let value = self.operand(init)?;
            let is_array = matches!((value.ty, ty), (Ty::Array(_), Ty::Array(_)));
            if is_array && self.p.types.is_unsized(ty) && self.fits_unsized(value.ty, ty) {
                return Ok(value);
            }
            return self.coerce(value, ty);
        };
        let count = parts.len() as u32;
        let mut made = Vec::with_capacity(parts.len());
        let wrong = |wanted: u32| {
            let message =
                format!("{wanted} values are expected in these braces, and {count} stand here");
            invalid(message, init.span)
        };
        let ty = match ty {
            Ty::Struct(id) => {
                let members: Vec<Ty> =
                    self.p.types.structure(id).members.iter().map(|member| member.ty).collect();
                // `{}` is zero.
                if parts.is_empty() {
                    return self.zero(ty, init.span);
                }
                if members.len() != parts.len() {
                    return wrong(members.len() as u32);
                }
                for (part, ty) in parts.iter().zip(members) {
                    let value = self.initializer(part, ty)?;
                    made.push(self.coerce(value, ty)?);
                }
                ty
            }
            _ => {
                let Some((of, length)) = self.p.types.elements(ty) else {
                    let value = match &parts[..] {
                        [one] => self.expr(one)?,
                        [] => return self.zero(ty, init.span),
                        _ => return wrong(1),
                    };
                    return self.coerce(value, ty);
                };
                if parts.is_empty() && !self.p.types.is_unsized(ty) {
                    return self.zero(ty, init.span);
                }
                if length.is_some_and(|length| length != count) {
                    return wrong(length.unwrap_or(0));
                }
                if parts.is_empty() {
                    return wrong(1);
                }
                let mut of = of;
                for part in parts {
                    let value = self.initializer(part, of)?;
                    if self.p.types.is_unsized(of) {
                        of = value.ty;
                    }
                    made.push(self.coerce(value, of)?);
                }
                match ty {
                    Ty::Array(_) => self.p.types.array_of(of, Some(count))?,
                    _ => ty,
                }
            }
        };
        Ok(self.folded(Kind::Construct(made), ty, init.span))
    }

    pub fn fits_unsized(&self, have: Ty, want: Ty) -> bool {
        match (have, want) {
            (Ty::Array(a), Ty::Array(b)) => {
                let ((a, n), (b, m)) = (self.p.types.array(a), self.p.types.array(b));
                (m.is_none() || n == m) && self.fits_unsized(a, b)
            }
            (have, want) => have == want,
        }
    }

    fn zero(&mut self, ty: Ty, span: Span) -> Result<Expr> {
        let scalars = self.p.types.scalars(ty)?;
        let zeros: Vec<_> =
            scalars.iter().map(|&scalar| super::tree::Num::I(0).convert(scalar)).collect();
        Ok(Expr::new(Kind::Const(zeros.into()), ty, span))
    }
}
