//! Texture functions of every generation (GLSL 4.60, 8.9; GLSL 1.20, 8.7).

use super::check::{Check, invalid};
use super::tree::{Expr, Kind, Sampling, Texture};
use super::types::{self, Form, Image, Opaque, Shape, Ty, vector};
use crate::lower::Result;
use gpucc_ir::ssa::{Span, Stage};
use naga::{Scalar, ScalarKind};

/// What the name of a texture function says.
#[derive(Copy, Clone, Debug, Default)]
pub struct Function {
    projects: bool,
    level: bool,
    gradients: bool,
    offset: bool,
    offsets: bool,
    gathers: bool,
    fetches: bool,
    /// `shadow2D` and others of old.
    shadow: bool,
    /// A name of old: it says the shape.
    old: bool,
}

/// The parts of a function's name; none where it is no texture function.
pub fn function(name: &str) -> Option<Function> {
    let mut found = Function::default();
    let mut rest = if let Some(rest) = name.strip_prefix("texelFetch") {
        found.fetches = true;
        // `texelFetch2D` of EXT_gpu_shader4.
        rest
    } else if let Some(rest) = name.strip_prefix("textureGather") {
        found.gathers = true;
        rest
    } else if let Some(rest) = name.strip_prefix("shadow") {
        found.shadow = true;
        rest
    } else {
        name.strip_prefix("texture")?
    };
    let shapes = ["1DArray", "2DArray", "CubeArray", "2DRect", "1D", "2D", "3D", "Cube", "Buffer"];
    if !found.gathers
        && let Some(shape) = shapes.iter().find_map(|shape| rest.strip_prefix(shape))
    {
        (rest, found.old) = (shape, true);
    }
    if found.shadow && !found.old {
        return None;
    }
    let mut cut = |word: &str| match rest.strip_prefix(word) {
        Some(shorter) => {
            rest = shorter;
            true
        }
        None => false,
    };
    found.projects = cut("Proj");
    found.level = cut("Lod");
    found.gradients = !found.level && cut("Grad");
    found.offsets = cut("Offsets");
    found.offset = !found.offsets && cut("Offset");
    let plain = !found.gathers || !(found.projects || found.level || found.gradients);
    let plain = plain
        && (!found.fetches || !(found.projects || found.level || found.gradients || found.offsets));
    let suffix = matches!(rest, "" | "ARB" | "EXT" | "NV" | "OES");
    (plain && suffix && (found.gathers || !found.offsets)).then_some(found)
}

impl<'a> Check<'a, '_> {
    /// A call of a texture function; none where the name or the arguments are not one's.
    pub fn texture(
        &mut self,
        name: &str,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Result<Option<Expr>> {
        let Some(&Ty::Opaque(Opaque::Image(image))) = values.first().map(|value| &value.ty) else {
            return Ok(None);
        };
        if !matches!(image.form, Form::Combined | Form::Texture) {
            return Ok(None);
        }
        if let Some(expr) = self.texture_query(name, image, values, span)? {
            return Ok(Some(expr));
        }
        if let Some(expr) = self.level_query(name, image, values, span)? {
            return Ok(Some(expr));
        }
        let Some(function) = function(name) else {
            return Ok(None);
        };
        if image.form == Form::Texture && !function.fetches {
            return Ok(None);
        }
        let mut rest = std::mem::take(values);
        match self.arguments(function, image, &rest, span)? {
            Some(expr) => Ok(Some(expr)),
            None => {
                std::mem::swap(values, &mut rest);
                Ok(None)
            }
        }
    }

    /// Sizes, levels and samples.
    fn texture_query(
        &mut self,
        name: &str,
        image: Image,
        values: &mut Vec<Expr>,
        span: Span,
    ) -> Result<Option<Expr>> {
        let leveled = !image.multisampled && !matches!(image.shape, Shape::Rect | Shape::Buffer);
        let own = match (name, values.len()) {
            ("textureSize", n) if n == 1 + usize::from(leveled) => "textureSize",
            ("textureQueryLevels", 1) => "textureQueryLevels",
            ("textureSamples", 1) if image.multisampled => "textureSamples",
            (_, n) if (1 + usize::from(leveled)..=2).contains(&n) && function_shape(name) => {
                "textureSize"
            }
            _ => return Ok(None),
        };
        if let Some(level) = values.get_mut(1) {
            *level = self.coerce(level.clone(), types::INT)?;
        }
        let lanes = match image.shape {
            Shape::Cube => 2,
            shape => shape.coords(),
        };
        let ty = match own {
            "textureSize" => vector(Scalar::I32, lanes + usize::from(image.arrayed)),
            _ => types::INT,
        };
        Ok(Some(Expr::new(Kind::Builtin(own, std::mem::take(values)), ty, span)))
    }

    /// The level that a sample would take: its place has no layer and no reference (GLSL 4.60, 8.9.1).
    fn level_query(
        &mut self,
        name: &str,
        image: Image,
        values: &[Expr],
        span: Span,
    ) -> Result<Option<Expr>> {
        let mipmapped = !image.multisampled && !matches!(image.shape, Shape::Rect | Shape::Buffer);
        let [texture, place] = values else {
            return Ok(None);
        };
        if !is_level_query(name) || image.form != Form::Combined || !mipmapped {
            return Ok(None);
        }
        if self.stage != Stage::Compute {
            self.of_fragments("the level that a sampler would take", span)?;
        }
        let to = vector(Scalar::F32, image.shape.coords());
        if self.cost(place.ty, to).is_none() {
            return Ok(None);
        }
        let made = Texture {
            what: Sampling::Level,
            image,
            texture: texture.clone(),
            place: self.converted(place.clone(), to),
            projects: false,
            reference: None,
            bias: None,
            level: None,
            gradients: None,
            offset: None,
            offsets: None,
            component: 0,
            spreads: false,
        };
        let result = Ty::Vector(Scalar::F32, 2);
        Ok(Some(Expr::new(Kind::Texture(Box::new(made)), result, span)))
    }

    fn arguments(
        &mut self,
        function: Function,
        image: Image,
        values: &[Expr],
        span: Span,
    ) -> Result<Option<Expr>> {
        let mut rest = values.iter().cloned().peekable();
        let (Some(texture), Some(place)) = (rest.next(), rest.next()) else {
            return Ok(None);
        };
        if function.shadow && !image.shadow {
            return Ok(None);
        }
        let coords = image.shape.coords();
        let layers = usize::from(image.arrayed);
        let what = if function.fetches {
            Sampling::Fetch
        } else if function.gathers {
            Sampling::Gather
        } else {
            Sampling::Sample
        };
        // Components of the place.
        let plain = coords + layers;
        let wanted: Vec<usize> = match what {
            Sampling::Fetch | Sampling::Gather | Sampling::Level => vec![plain],
            Sampling::Sample => {
                let compared = match (image.shadow, image.shape, image.arrayed) {
                    (false, ..) => plain,
                    // The second component is not used.
                    (true, Shape::D1, false) => 3,
                    (true, Shape::Cube, true) => 4,
                    (true, ..) => plain + 1,
                };
                match function.projects {
                    false => vec![compared],
                    true if image.arrayed || image.shape == Shape::Cube => return Ok(None),
                    true if image.shadow => vec![4],
                    true => vec![coords + 1, 4],
                }
            }
        };
        let Some((scalar, lanes)) = place.ty.lanes() else {
            return Ok(None);
        };
        if !wanted.contains(&lanes) || scalar.kind == ScalarKind::Bool {
            return Ok(None);
        }
        let of = match (what, scalar) {
            (Sampling::Fetch, _) => Scalar::I32,
            (_, Scalar::F16) => Scalar::F16,
            _ => Scalar::F32,
        };
        let to = vector(of, lanes);
        if self.cost(place.ty, to).is_none() {
            return Ok(None);
        }
        let place = self.converted(place, to);
        let mut made = Texture {
            what,
            image,
            texture,
            place,
            projects: function.projects,
            reference: None,
            bias: None,
            level: None,
            gradients: None,
            offset: None,
            offsets: None,
            component: 0,
            spreads: function.shadow,
        };
        let separate = image.shadow
            && (what == Sampling::Gather
                || what == Sampling::Sample && image.shape == Shape::Cube && image.arrayed);
        if separate {
            let Some(reference) = rest.next() else {
                return Ok(None);
            };
            made.reference = Some(self.coerce(reference, types::FLOAT)?);
        }
        if function.level {
            let Some(level) = rest.next() else {
                return Ok(None);
            };
            made.level = Some(self.coerce(level, types::FLOAT)?);
        }
        if function.gradients {
            let (Some(x), Some(y)) = (rest.next(), rest.next()) else {
                return Ok(None);
            };
            let ty = vector(Scalar::F32, coords);
            made.gradients = Some((self.coerce(x, ty)?, self.coerce(y, ty)?));
        }
        if what == Sampling::Fetch && !matches!(image.shape, Shape::Rect | Shape::Buffer) {
            let Some(level) = rest.next() else {
                return Ok(None);
            };
            made.level = Some(self.coerce(level, types::INT)?);
        }
        if function.offset {
            let Some(offset) = rest.next() else {
                return Ok(None);
            };
            made.offset = Some(self.coerce(offset, vector(Scalar::I32, coords))?);
        }
        if function.offsets {
            let Some(offsets) = rest.next() else {
                return Ok(None);
            };
            let ty = self.p.types.array_of(vector(Scalar::I32, coords), Some(4))?;
            made.offsets = Some(self.coerce(offsets, ty)?);
        }
        if let (Sampling::Gather, false, Some(component)) = (what, image.shadow, rest.peek()) {
            let known = component.known().map(|known| known[0].int());
            let Some(known @ 0..=3) = known else {
                return invalid(
                    "a gather takes one of four components, a constant (GLSL 4.60, 8.9)",
                    component.span,
                );
            };
            made.component = known as u8;
            rest.next();
        }
        // A vertex has no level of its own (GLSL 4.60, 8.9).
        if what == Sampling::Sample
            && self.stage != Stage::Vertex
            && !function.level
            && !function.gradients
            && let Some(bias) = rest.next()
        {
            made.bias = Some(self.coerce(bias, types::FLOAT)?);
        }
        if rest.next().is_some() {
            return Ok(None);
        }
        let result = match (image.shadow, what) {
            (true, Sampling::Sample) if !function.shadow => types::FLOAT,
            (true, Sampling::Fetch) => return Ok(None),
            (true, _) => Ty::Vector(Scalar::F32, 4),
            (false, _) => Ty::Vector(image.texel, 4),
        };
        if what == Sampling::Gather && !matches!(image.shape, Shape::D2 | Shape::Cube | Shape::Rect)
        {
            return Ok(None);
        }
        if what != Sampling::Fetch && (image.multisampled || image.shape == Shape::Buffer) {
            return Ok(None);
        }
        self.current.size += 2;
        Ok(Some(Expr::new(Kind::Texture(Box::new(made)), result, span)))
    }
}

/// GLSL 4.00 and `ARB_texture_query_lod`, which spell it in two ways.
pub fn is_level_query(name: &str) -> bool {
    matches!(name, "textureQueryLod" | "textureQueryLOD")
}

/// `textureSize2D` of EXT_gpu_shader4.
fn function_shape(name: &str) -> bool {
    let shapes = ["1D", "2D", "3D", "Cube", "1DArray", "2DArray", "2DRect", "Buffer"];
    name.strip_prefix("textureSize").is_some_and(|rest| shapes.contains(&rest))
}
