//! Lowering of textures and images: sampling, gathering, loads, stores, atomics, queries.

use super::lower::{Bound, Frame, Handle, OfGlsl};
use super::tree::{Expr, Sampling, Texture};
use super::types::{Form, Image, Opaque, Shape, Ty};
use crate::Needs;
use crate::lower::quads::Quads;
use crate::lower::types::width;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    AtomicOp, Imm, Op, ResourceKind, SampleType, Stage, TEXEL_OFFSETS, TexKind, TexOp, TexQuery,
    Type, Value,
};
use naga::{Scalar, ScalarKind};

impl<'p> OfGlsl<'p> {
    fn texture_of(&self, handle: &Handle) -> Result<Bound> {
        handle.texture.ok_or_else(|| Stop::internal("a texture is expected"))
    }

    /// Floats of 32 bits.
    fn floats(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Values> {
        let values = self.values(frame, expr)?;
        let from = expr.ty.scalar().unwrap_or(Scalar::F32);
        self.lanes(values.len(), |lower, lane| {
            lower.convert_scalar(values[lane], from, Scalar::F32)
        })
    }

    /// Texels of a texture as values of its type.
    fn texels_of(&mut self, values: Values, texel: Scalar) -> Result<Values> {
        if texel != Scalar::F16 {
            return Ok(values);
        }
        self.lanes(values.len(), |lower, lane| {
            lower.convert_scalar(values[lane], Scalar::F32, texel)
        })
    }

    /// A call of a texture function.
    pub(super) fn sample(&mut self, frame: &mut Frame, call: &'p Texture) -> Result<Values> {
        if call.what == Sampling::Fetch {
            return self.fetch(frame, call);
        }
        if call.what == Sampling::Level {
            return self.level_of(frame, call);
        }
        let image = &call.image;
        let handle = self.handle(frame, &call.texture)?;
        let (texture, texture_element) = self.texture_of(&handle)?;
        let Some((sampler, sampler_element)) = handle.sampler else {
            return Err(Stop::internal("a sampler is expected"));
        };
        let place = self.floats(frame, &call.place)?;
        let coords = image.shape.coords();
        let mut args = Values::new();
        args.extend(texture_element);
        args.extend(sampler_element);
        let mut own = Values::from_slice(&place[..coords]);
        let by = place.last().copied().filter(|_| call.projects).map(|by| Values::from_elem(by, 1));
        if let Some(by) = &by {
            own = self.map(Op::FDiv, &[&own, by])?;
        }
        let mut size = None;
        if image.shape == Shape::Rect {
            // Places of texels, and no fractions of the texture.
            let texels = self.size_of((texture, texture_element), 2, None);
            let texels =
                self.lanes(2, |lower, lane| Ok(lower.convert(Op::UToF, Type::B32, texels[lane])))?;
            own = self.map(Op::FDiv, &[&own, &texels])?;
            size = Some(texels);
        }
        let first = args.len();
        args.extend(own);
        if image.arrayed {
            args.push(self.layer_number(place[coords], ScalarKind::Float));
        }
        let compare = image.shadow;
        if compare {
            let mut reference = match &call.reference {
                Some(reference) => self.floats(frame, reference)?[0],
                // The second component of a place in one dimension is not used.
                None if image.shape == Shape::D1 && !image.arrayed => place[2],
                None => place[coords + usize::from(image.arrayed)],
            };
            if let Some(by) = &by {
                reference = self.op2(Op::FDiv, reference, by[0]);
            }
            args.push(reference);
        }
        let gather = call.what == Sampling::Gather;
        let kind = if gather {
            TexKind::Gather
        } else if let Some((x, y)) = &call.gradients {
            let mut both = Vec::with_capacity(2);
            for gradient in [x, y] {
                let values = self.floats(frame, gradient)?;
                both.push(match &size {
                    Some(size) => self.map(Op::FDiv, &[&values, size])?,
                    None => values,
                });
            }
            args.extend(both.into_iter().flatten());
            TexKind::SampleGrad
        } else if let Some(level) = &call.level {
            args.push(self.floats(frame, level)?[0]);
            TexKind::SampleLevel
        } else {
            let bias = match &call.bias {
                Some(bias) => Some(self.floats(frame, bias)?[0]),
                None => None,
            };
            match bias {
                _ if self.quads != Quads::None => {
                    let place = Values::from_slice(&args[first..first + coords]);
                    args.extend(self.group_gradients(&place, bias)?);
                    TexKind::SampleGrad
                }
                // Without quads there are no derivatives, and the base level is taken.
                _ if self.stage != Stage::Fragment => {
                    args.push(self.float(Type::B32, 0.0));
                    TexKind::SampleLevel
                }
                Some(bias) => {
                    args.push(bias);
                    TexKind::SampleBias
                }
                None => TexKind::Sample,
            }
        };
        let offset = match &call.offset {
            Some(offset) => {
                let values = self.values(frame, offset)?;
                if gather && values.iter().any(|&value| self.func.as_const(value).is_none()) {
                    let place = &mut args[first..first + coords];
                    self.move_gather(texture, texture_element, place, &values)?;
                    [0; 3]
                } else {
                    self.offset_texels(&values)?
                }
            }
            None => [0; 3],
        };
        let tex = TexOp {
            kind,
            texture,
            sampler: Some(sampler).into(),
            compare,
            component: call.component,
            offset,
            projected: false,
            texel: false,
        };
        if let Some(offsets) = &call.offsets {
            // A gather with an offset for each texel: the last of each of four gathers.
            let all = self.values(frame, offsets)?;
            let mut found = Values::new();
            for own in all.chunks(coords) {
                let tex = TexOp { offset: self.offset_texels(own)?, ..tex };
                let made = self.b().inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
                found.push(self.func.insts[made].results[3]);
            }
            return self.texels_of(found, image.texel);
        }
        let types = [Type::B32; 4];
        let types = if compare && !gather { &types[..1] } else { &types[..] };
        let made = self.b().inst(Op::Tex, Imm::Tex(tex), &args, &[], types);
        let values = Values::from_slice(&self.func.insts[made].results);
        if call.spreads {
            let one = self.float(Type::B32, 1.0);
            return Ok(Values::from_slice(&[values[0], values[0], values[0], one]));
        }
        let (_, sample) = self.texture(texture)?;
        // A texel of depths is one number.
        let values = match sample {
            SampleType::Depth if !gather && !compare => Values::from_elem(values[0], 4),
            _ => values,
        };
        self.texels_of(values, image.texel)
    }

    /// The level that a sample would take, and the same before its clamps.
    fn level_of(&mut self, frame: &mut Frame, call: &'p Texture) -> Result<Values> {
        let handle = self.handle(frame, &call.texture)?;
        let (texture, texture_element) = self.texture_of(&handle)?;
        let Some((sampler, sampler_element)) = handle.sampler else {
            return Err(Stop::internal("a sampler is expected"));
        };
        let place = self.floats(frame, &call.place)?;
        let elements = texture_element.into_iter().chain(sampler_element).collect();
        self.queried_level(texture, sampler, elements, &place, call.image.arrayed)
    }

    fn offset_texels(&self, values: &[Value]) -> Result<[i8; 3]> {
        let mut texels = [0; 3];
        for (texel, &value) in texels.iter_mut().zip(values) {
            let Some(bits) = self.func.as_const(value) else {
                return Err(Stop::invalid("an offset in texels is not constant (GLSL 4.60, 8.9)"));
            };
            let known = bits as u32 as i32;
            let small = i8::try_from(known).ok().filter(|small| TEXEL_OFFSETS.contains(small));
            *texel = small.ok_or_else(|| {
                Stop::invalid(format!("the texel offset {known} is not between -8 and 7"))
            })?;
        }
        Ok(texels)
    }

    fn fetch(&mut self, frame: &mut Frame, call: &'p Texture) -> Result<Values> {
        let image = &call.image;
        let handle = self.handle(frame, &call.texture)?;
        let bound = self.texture_of(&handle)?;
        let mut place = self.values(frame, &call.place)?;
        let level = match &call.level {
            Some(level) => self.scalar(frame, level)?,
            None => self.u32(0),
        };
        if let Some(offset) = &call.offset {
            let offset = self.values(frame, offset)?;
            for (own, &by) in place.iter_mut().take(image.shape.coords()).zip(&offset) {
                *own = self.op2(Op::IAdd, *own, by);
            }
        }
        place.push(level);
        self.texel(bound, &place, image.texel)
    }

    /// One texel; `place` ends in the level or sample where the texture has some.
    fn texel(&mut self, bound: Bound, place: &Values, texel: Scalar) -> Result<Values> {
        let (texture, element) = bound;
        let (_, sample) = self.texture(texture)?;
        let args: Values = element.into_iter().chain(place.iter().copied()).collect();
        let values = self.fetch_texel(texture, &args);
        let values = match sample {
            SampleType::Depth => Values::from_elem(values[0], 4),
            _ => values,
        };
        self.texels_of(values, texel)
    }

    fn ask(&mut self, bound: Bound, what: TexQuery, level: Option<Value>, count: usize) -> Values {
        let (texture, element) = bound;
        let args: Values = element.into_iter().chain(level).collect();
        let imm = Imm::Query(texture, what);
        let made = self.b().inst(Op::TexQuery, imm, &args, &[], &[Type::B32; 3][..count]);
        Values::from_slice(&self.func.insts[made].results)
    }

    /// The size of a level, layers apart.
    fn size_of(&mut self, bound: Bound, count: usize, level: Option<Value>) -> Values {
        let mipmapped = matches!(
            self.func.resources[bound.0].kind,
            ResourceKind::Texture { multisampled: false, .. }
        );
        let level = match (mipmapped, level) {
            (true, Some(level)) => Some(level),
            (true, None) => Some(self.u32(0)),
            (false, _) => None,
        };
        self.ask(bound, TexQuery::Size, level, count)
    }

    /// Functions of texels, and queries.
    pub(super) fn texel_function(
        &mut self,
        frame: &mut Frame,
        name: &str,
        arguments: &'p [Expr],
        ty: Ty,
    ) -> Result<Values> {
        let Some((first, rest)) = arguments.split_first() else {
            return Err(Stop::internal("a function of texels without its image"));
        };
        let handle = self.handle(frame, first)?;
        let bound = self.texture_of(&handle)?;
        let Ty::Opaque(Opaque::Image(image)) = first.ty else {
            return Err(Stop::internal("an image is expected"));
        };
        let (texture, element) = bound;
        match name {
            "textureSize" | "imageSize" => {
                let level = match rest {
                    [level, ..] => Some(self.scalar(frame, level)?),
                    [] => None,
                };
                let count = match image.shape {
                    Shape::Cube => 2,
                    shape => shape.coords(),
                };
                let mut size = self.size_of(bound, count, level);
                if image.arrayed {
                    let mut layers = self.ask(bound, TexQuery::Layers, None, 1);
                    if image.shape == Shape::Cube && image.form == Form::Storage {
                        layers.truncate(1);
                    }
                    size.extend(layers);
                }
                return Ok(size);
            }
            "textureQueryLevels" => return Ok(self.ask(bound, TexQuery::Levels, None, 1)),
            "textureSamples" | "imageSamples" => {
                return Ok(self.ask(bound, TexQuery::Samples, None, 1));
            }
            "subpassLoad" => return self.subpass(frame, bound, image, rest),
            _ => {}
        }
        let mut values = Vec::with_capacity(rest.len());
        for argument in rest {
            values.push(self.values(frame, argument)?);
        }
        let mut values = values.into_iter();
        let Some(place) = values.next() else {
            return Err(Stop::internal("a texel without its place"));
        };
        let args: Values = element.into_iter().chain(place.iter().copied()).collect();
        let lane = |values: Values| Values::from_slice(&values[..1]);
        let op = match name {
            "imageLoad" => {
                let texel = self.texel(bound, &place, image.texel)?;
                return Ok(texel);
            }
            "imageAtomicLoad" => return Ok(lane(self.texel(bound, &place, image.texel)?)),
            "imageStore" => {
                let mut texel = values.next().unwrap_or_default();
                if self.has_wide_texels(texture) {
                    let word = texel[0];
                    texel =
                        Values::from_slice(&[Op::Lo64, Op::Hi64].map(|half| self.op1(half, word)));
                }
                let from = image.texel;
                if from == Scalar::F16 {
                    texel = self.lanes(texel.len(), |lower, lane| {
                        lower.convert_scalar(texel[lane], from, Scalar::F32)
                    })?;
                }
                let zero = self.u32(0);
                texel.resize(4, zero);
                let args: Values = args.into_iter().chain(texel).collect();
                self.b().inst(Op::ImageStore, Imm::Resource(texture), &args, &[], &[]);
                return Ok(Values::new());
            }
            "imageAtomicAdd" if image.texel.kind == ScalarKind::Float => AtomicOp::FAdd,
            "imageAtomicMin" if image.texel.kind == ScalarKind::Float => AtomicOp::FMin,
            "imageAtomicMax" if image.texel.kind == ScalarKind::Float => AtomicOp::FMax,
            "imageAtomicAdd" => AtomicOp::Add,
            "imageAtomicMin" if image.texel.kind == ScalarKind::Sint => AtomicOp::SMin,
            "imageAtomicMin" => AtomicOp::UMin,
            "imageAtomicMax" if image.texel.kind == ScalarKind::Sint => AtomicOp::SMax,
            "imageAtomicMax" => AtomicOp::UMax,
            "imageAtomicAnd" => AtomicOp::And,
            "imageAtomicOr" => AtomicOp::Or,
            "imageAtomicXor" => AtomicOp::Xor,
            "imageAtomicCompSwap" => AtomicOp::CompareExchange,
            _ => AtomicOp::Exchange,
        };
        let word = width(image.texel);
        let fits = matches!(word, Type::B32 | Type::B64);
        if !fits || self.has_wide_texels(texture) != (word == Type::B64) {
            let what = "an atomic on texels of another width than their format has";
            return Err(Stop::unsupported(what, super::READING).needing(Needs::Atomics));
        }
        let args: Values = args.into_iter().chain(values.flatten()).collect();
        let made =
            self.b().inst(Op::ImageAtomic, Imm::ImageAtomic(texture, op), &args, &[], &[word]);
        if ty == Ty::Void {
            return Ok(Values::new());
        }
        Ok(Values::from_slice(&self.func.insts[made].results))
    }

    /// What a pass before left at the pixel.
    fn subpass(
        &mut self,
        frame: &mut Frame,
        bound: Bound,
        image: Image,
        rest: &'p [Expr],
    ) -> Result<Values> {
        let sample = match rest {
            [sample, ..] => self.scalar(frame, sample)?,
            [] => self.u32(0),
        };
        let mut place = self.pixel();
        place.push(sample);
        self.texel(bound, &place, image.texel)
    }
}
