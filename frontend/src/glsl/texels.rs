//! Semantic analysis of functions of texels and of words that others change too.

use super::calls::root;
use super::check::{Check, invalid};
use super::tree::{Class, Expr, Kind, Num};
use super::types::{self, Form, Opaque, Ty, is_integer, vector};
use crate::lower::Result;
use crate::lower::texture::FRAGMENTS;
use crate::stop::Stop;
use gpucc_ir::ssa::Span;
use naga::{Scalar, ScalarKind};

impl Check<'_, '_> {
    /// Functions of storage images and of what passes left.
    pub fn texels(
        &mut self,
        name: &str,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Result<Option<Expr>> {
        let Some(&Ty::Opaque(Opaque::Image(image))) = values.first().map(|value| &value.ty) else {
            return Ok(None);
        };
        let storage = image.form == Form::Storage;
        if name == "subpassLoad" {
            if image.form != Form::Subpass || values.len() != 1 + usize::from(image.multisampled) {
                return Ok(None);
            }
            self.of_fragments("`subpassLoad`", span)?;
            if image.multisampled {
                let sample = self.coerce(values[1].clone(), types::INT)?;
                values[1] = sample;
            }
            let ty = Ty::Vector(image.texel, 4);
            return Ok(Some(Expr::new(
                Kind::Builtin("subpassLoad", std::mem::take(values)),
                ty,
                span,
            )));
        }
        if name.starts_with("fragment") {
            return self.fragments(name, image, values, span);
        }
        if !storage {
            return Ok(None);
        }
        let lanes =
            image.shape.coords() + usize::from(image.arrayed && image.shape != types::Shape::Cube);
        let size_lanes = match (image.shape, image.arrayed) {
            (types::Shape::Cube, arrayed) => 2 + usize::from(arrayed),
            (shape, arrayed) => shape.coords() + usize::from(arrayed),
        };
        if name == "imageSize" && values.len() == 1 {
            let ty = vector(Scalar::I32, size_lanes);
            return Ok(Some(Expr::new(
                Kind::Builtin("imageSize", std::mem::take(values)),
                ty,
                span,
            )));
        }
        if name == "imageSamples" && values.len() == 1 {
            return Ok(Some(Expr::new(
                Kind::Builtin("imageSamples", std::mem::take(values)),
                types::INT,
                span,
            )));
        }
        let first = 2 + usize::from(image.multisampled);
        if values.len() < first {
            return Ok(None);
        }
        values[1] = self.coerce(values[1].clone(), vector(Scalar::I32, lanes))?;
        if image.multisampled {
            // Loads alone are nothing that a machine lacks.
            let stop = match name {
                "imageLoad" | "imageAtomicLoad" => {
                    Stop::unsupported("multisampled storage images", super::READING)
                }
                _ => super::lacking("multisampled storage images"),
            };
            return Err(stop.at(span));
        }
        if image.shape == types::Shape::Cube {
            return Err(super::lacking("storage images of cubes").at(span));
        }
        let texel = Ty::Vector(image.texel, 4);
        let scalar = Ty::Scalar(image.texel);
        let own = match (name, values.len() - first) {
            ("imageLoad", 0) => {
                self.access(&values[0], false)?;
                return Ok(Some(Expr::new(
                    Kind::Builtin("imageLoad", std::mem::take(values)),
                    texel,
                    span,
                )));
            }
            ("imageStore", 1) => {
                self.access(&values[0], true)?;
                values[first] = self.coerce(values[first].clone(), texel)?;
                return Ok(Some(Expr::new(
                    Kind::Builtin("imageStore", std::mem::take(values)),
                    Ty::Void,
                    span,
                )));
            }
            ("imageAtomicAdd", 1..) => "imageAtomicAdd",
            ("imageAtomicMin", 1..) => "imageAtomicMin",
            ("imageAtomicMax", 1..) => "imageAtomicMax",
            ("imageAtomicAnd", 1..) => "imageAtomicAnd",
            ("imageAtomicOr", 1..) => "imageAtomicOr",
            ("imageAtomicXor", 1..) => "imageAtomicXor",
            ("imageAtomicExchange", 1..) => "imageAtomicExchange",
            ("imageAtomicCompSwap", 2..) => "imageAtomicCompSwap",
            ("imageAtomicLoad", _) => "imageAtomicLoad",
            ("imageAtomicStore", 1..) => "imageAtomicStore",
            _ => return Ok(None),
        };
        let operands = match own {
            "imageAtomicLoad" => 0,
            "imageAtomicCompSwap" => 2,
            _ => 1,
        };
        values.truncate(first + operands);
        for value in &mut values[first..] {
            *value = self.coerce(value.clone(), scalar)?;
        }
        let bits = matches!(
            own,
            "imageAtomicAnd" | "imageAtomicOr" | "imageAtomicXor" | "imageAtomicCompSwap"
        );
        let float = image.texel.kind == ScalarKind::Float;
        let newer = ["imageAtomicAdd", "imageAtomicMin", "imageAtomicMax"].contains(&own);
        if float && (bits || newer && !self.dialect.has("shader_atomic_float")) {
            return Ok(None);
        }
        if own != "imageAtomicStore" {
            self.access(&values[0], false)?;
        }
        if own != "imageAtomicLoad" {
            self.access(&values[0], true)?;
        }
        self.changed(&values[0]);
        let ty = if own == "imageAtomicStore" { Ty::Void } else { scalar };
        Ok(Some(Expr::new(Kind::Builtin(own, std::mem::take(values)), ty, span)))
    }

    /// Samples by AMD_shader_fragment_mask. Each sample has a fragment of its own here, so the mask tells their numbers in
    /// order, four bits each.
    fn fragments(
        &mut self,
        name: &str,
        image: types::Image,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Result<Option<Expr>> {
        let places = usize::from(image.form != Form::Subpass);
        let numbers = usize::from(name == "fragmentFetchAMD");
        let known = matches!(name, "fragmentFetchAMD" | "fragmentMaskFetchAMD");
        let fits = known && image.multisampled && values.len() == 1 + places + numbers;
        if !fits || !matches!(image.form, Form::Combined | Form::Texture | Form::Subpass) {
            return Ok(None);
        }
        self.of_fragments("a fetch of fragments", span)?;
        if let Some(number) = values.get_mut(1 + places) {
            let whole = self.coerce(number.clone(), types::UINT)?;
            *number = self.converted(whole, types::INT);
        }
        if name == "fragmentFetchAMD" {
            let own = if places == 0 { "subpassLoad" } else { "texelFetch" };
            return match own {
                "texelFetch" => self.texture(own, values, span),
                _ => self.texels(own, values, span),
            };
        }
        let mask = self.number(Num::U(FRAGMENTS.into()), types::UINT, span);
        Ok(Some(match values.pop().filter(|_| places == 1) {
            Some(place) => {
                let ty = vector(Scalar::I32, image.shape.coords() + usize::from(image.arrayed));
                let place = self.coerce(place, ty)?;
                Expr::new(Kind::Comma(Box::new(place), Box::new(mask)), types::UINT, span)
            }
            None => mask,
        }))
    }

    /// Refuses loads of what is only written, and stores to what is only read.
    fn access(&self, image: &Expr, stores: bool) -> Result<()> {
        let Some(number) = root(image) else {
            return Ok(());
        };
        let global = &self.p.globals[number as usize];
        let wrong = if stores { global.read_only } else { global.write_only };
        if wrong {
            let word = if stores { "readonly" } else { "writeonly" };
            return invalid(format!("`{}` is {word} (GLSL 4.60, 4.10)", global.name), image.span);
        }
        Ok(())
    }

    /// Marks an image as changed by atomics.
    fn changed(&mut self, image: &Expr) {
        self.compare(image);
    }

    /// Functions on words of memory that others change too (GLSL 4.60, 8.11), and counters.
    pub fn atomics(
        &mut self,
        name: &str,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Result<Option<Expr>> {
        if let Some(rest) = name.strip_prefix("atomicCounter") {
            let rest = rest.trim_end_matches("ARB");
            let (own, operands) = match rest {
                "" => ("atomicCounter", 0),
                "Increment" => ("atomicCounterIncrement", 0),
                "Decrement" => ("atomicCounterDecrement", 0),
                "Add" => ("atomicAdd", 1),
                "Subtract" => ("atomicCounterSubtract", 1),
                "Min" => ("atomicMin", 1),
                "Max" => ("atomicMax", 1),
                "And" => ("atomicAnd", 1),
                "Or" => ("atomicOr", 1),
                "Xor" => ("atomicXor", 1),
                "Exchange" => ("atomicExchange", 1),
                "CompSwap" => ("atomicCompSwap", 2),
                _ => return Ok(None),
            };
            let counter =
                values.first().is_some_and(|value| value.ty == Ty::Opaque(Opaque::Counter));
            if !counter || values.len() != 1 + operands {
                return Ok(None);
            }
            for value in &mut values[1..] {
                *value = self.coerce(value.clone(), types::UINT)?;
            }
            return Ok(Some(Expr::new(
                Kind::Builtin(own, std::mem::take(values)),
                types::UINT,
                span,
            )));
        }
        let (own, operands) = match name {
            "atomicAdd" => ("atomicAdd", 1),
            "atomicMin" => ("atomicMin", 1),
            "atomicMax" => ("atomicMax", 1),
            "atomicAnd" => ("atomicAnd", 1),
            "atomicOr" => ("atomicOr", 1),
            "atomicXor" => ("atomicXor", 1),
            "atomicExchange" => ("atomicExchange", 1),
            "atomicCompSwap" => ("atomicCompSwap", 2),
            "atomicLoad" => ("atomicLoad", 0),
            "atomicStore" => ("atomicStore", 1),
            _ => return Ok(None),
        };
        let Some(first) = values.first() else {
            return Ok(None);
        };
        let (Ty::Scalar(scalar), true) = (first.ty, values.len() > operands) else {
            return Ok(None);
        };
        if !is_integer(scalar) && scalar.kind != ScalarKind::Float {
            return Ok(None);
        }
        let shared = super::addresses::is_followed(first)
            || root(first).is_some_and(|number| {
                let class = &self.p.globals[number as usize].class;
                matches!(class, Class::Storage(_) | Class::Shared | Class::SharedBlock(_))
            });
        if !shared {
            let message = "an atomic function changes a word of a buffer or of shared memory (GLSL 4.60, 8.11)";
            return invalid(message, span);
        }
        if own != "atomicLoad" {
            self.check_written(first)?;
        }
        if scalar.kind == ScalarKind::Float
            && !self.dialect.has("atomic_float")
            && self.dialect.stated
        {
            let message = format!("`{name}` of a float needs GL_EXT_shader_atomic_float");
            return invalid(message, span);
        }
        // Scope and semantics may follow.
        values.truncate(1 + operands);
        for value in &mut values[1..] {
            *value = self.coerce(value.clone(), Ty::Scalar(scalar))?;
        }
        let ty = if own == "atomicStore" { Ty::Void } else { Ty::Scalar(scalar) };
        Ok(Some(Expr::new(Kind::Builtin(own, std::mem::take(values)), ty, span)))
    }
}
