//! Textures and samplers within structures of uniforms (GLSL 4.60, 4.1.7): each is a variable of its own, whose arrays are
//! those on the way to it. What else the structure has stays a uniform.

use super::check::{Check, invalid};
use super::qualifiers::Layout;
use super::tree::{Class, Expr, Global, Kind};
use super::types::{Form, Opaque, Ty};
use crate::lower::Result;
use crate::stop::Stop;
use gpucc_ir::ssa::Span;

/// Textures and samplers of one variable.
const MOST_PARTS: usize = 1024;

/// What is on the way to a texture: a structure or array within a variable.
struct Way {
    name: String,
    ty: Ty,
    /// Lengths of the arrays before, outermost first.
    lengths: Vec<Option<u32>>,
    /// Numbers of the members.
    path: Vec<u32>,
}

impl Check<'_, '_> {
    /// Declares the textures and samplers of a variable, in the order of its members. Gives the class of the rest.
    pub fn split(&mut self, number: u32, name: &str, ty: Ty, span: Span) -> Result<Class> {
        if self.p.types.is_unsized(ty) {
            let stop = super::lacking("an array without a length of structures with textures");
            return Err(stop.at(span));
        }
        let first = Way { name: name.to_owned(), ty, lengths: Vec::new(), path: Vec::new() };
        let mut open = vec![first];
        let mut found = 0;
        while let Some(mut way) = open.pop() {
            while let Some((of, length)) = self.array_elements(way.ty) {
                way.lengths.push(length);
                way.ty = of;
            }
            match way.ty {
                Ty::Struct(id) => {
                    let members = (0..).zip(&self.p.types.structure(id).members);
                    let opaque = members.filter(|(_, member)| self.p.types.is_opaque(member.ty));
                    let inner = opaque.map(|(index, member)| Way {
                        name: format!("{}.{}", way.name, member.name),
                        ty: member.ty,
                        lengths: way.lengths.clone(),
                        path: way.path.iter().copied().chain([index]).collect(),
                    });
                    let inner: Vec<Way> = inner.collect();
                    open.extend(inner.into_iter().rev());
                }
                Ty::Opaque(opaque) => {
                    found += 1;
                    if found > MOST_PARTS {
                        let (what, hint) = ("textures within a structure", "use fewer of them");
                        let (needed, most) = (found as u64, MOST_PARTS as u64);
                        return Err(Stop::limit(what, needed, most, hint).at(span));
                    }
                    self.add_part(number, way, opaque, span)?;
                }
                _ => {}
            }
        }
        Ok(if self.p.types.count(ty).0 == 0 { Class::Parts } else { Class::Loose(0) })
    }

    /// Elements of an array, and of nothing else.
    fn array_elements(&self, ty: Ty) -> Option<(Ty, Option<u32>)> {
        match ty {
            Ty::Array(id) => Some(self.p.types.array(id)),
            _ => None,
        }
    }

    fn add_part(&mut self, variable: u32, way: Way, opaque: Opaque, span: Span) -> Result<()> {
        let bound = match opaque {
            Opaque::Image(image) => matches!(image.form, Form::Combined | Form::Storage),
            Opaque::Lacking(what) => return Err(super::lacking(what).at(span)),
            Opaque::Sampler { .. } | Opaque::Counter => false,
        };
        if !bound {
            let message = format!(
                "`{}` stands in a structure, where samplers with textures and images alone may (GLSL 4.60, 4.1.7)",
                way.name
            );
            return invalid(message, span);
        }
        let mut ty = way.ty;
        for &length in way.lengths.iter().rev() {
            ty = self.p.types.array_of(ty, length)?;
        }
        // The variable itself comes before its parts.
        let number = self.p.globals.len() as u32 + 1;
        let number = number + self.waiting.len() as u32;
        let mut global = Global::new(&way.name, ty, Class::Handle, span);
        self.bind(number, &mut global, &Layout::default());
        self.waiting.push(global);
        self.parts.insert((variable, way.path), number);
        Ok(())
    }

    /// The variable that a texture or sampler within a structure is, with the same indices.
    pub fn part(&mut self, expr: Expr) -> Expr {
        let (mut path, mut indices) = (Vec::new(), Vec::new());
        let mut at = &expr;
        let variable = loop {
            match &at.kind {
                Kind::Global(number) => break *number,
                Kind::Member(base, index) => {
                    path.push(*index);
                    at = base;
                }
                Kind::Index(base, index) => {
                    indices.push((**index).clone());
                    at = base;
                }
                _ => return expr,
            }
        };
        path.reverse();
        let Some(&number) = self.parts.get(&(variable, path)) else {
            return expr;
        };
        let mut made = self.global(number, expr.span);
        for index in indices.into_iter().rev() {
            let Some((of, _)) = self.array_elements(made.ty) else {
                return expr;
            };
            made = Expr::new(Kind::Index(Box::new(made), Box::new(index)), of, expr.span);
        }
        made
    }
}
