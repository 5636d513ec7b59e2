//! Textures: sampling, gathering, loads, stores, atomics, queries.

use super::module::Inst;
use super::program::{Id, READING, op};
use super::types::{Image, Ty};
use super::{Bound, Frame, OfSpirv, Operand};
use crate::lower::quads::Quads;
use crate::lower::texture::FRAGMENTS;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    AtomicOp, Builtin, Imm, InputKind, Op, ResourceKind, SampleType, Scalar, Stage, TEXEL_OFFSETS,
    TexKind, TexOp, TexQuery, Type, Value,
};
use naga::ScalarKind;
use rspirv::spirv::{Dim as Dims, Op as Code};

/// Further operands of an instruction on images (SPIR-V 3.14).
#[derive(Default)]
struct Extra {
    bias: Option<Id>,
    level: Option<Id>,
    gradients: Option<(Id, Id)>,
    offset: Option<Id>,
    offsets: Option<Id>,
    sample: Option<Id>,
}

fn extra(words: &[u32]) -> Result<Extra> {
    let mut found = Extra::default();
    let Some((&mask, mut rest)) = words.split_first() else {
        return Ok(found);
    };
    let mut next = || -> Result<Id> {
        let (&first, others) = rest
            .split_first()
            .ok_or_else(|| Stop::invalid("an operand of an instruction on images is missing"))?;
        rest = others;
        Ok(first)
    };
    for bit in (0..32).map(|at| 1u32 << at).filter(|bit| mask & bit != 0) {
        match bit {
            0x1 => found.bias = Some(next()?),
            0x2 => found.level = Some(next()?),
            0x4 => found.gradients = Some((next()?, next()?)),
            0x8 | 0x10 => found.offset = Some(next()?),
            0x20 => found.offsets = Some(next()?),
            0x40 => found.sample = Some(next()?),
            // Who sees a texel when: every machine here keeps program order.
            0x100 | 0x200 => {
                next()?;
            }
            0x400 | 0x800 | 0x1000 | 0x2000 | 0x4000 => {}
            0x80 => return Err(Stop::unsupported("a least level of detail (MinLod)", READING)),
            _ => return Err(Stop::unsupported("this image operand", READING)),
        }
    }
    Ok(found)
}

fn mismatch() -> Stop {
    Stop::invalid(
        "operands and result of this instruction on images do not have the types that it takes",
    )
}

impl<'p> OfSpirv<'p> {
    /// The image type of a value that is an image, or a sampled one.
    fn image_of(&self, id: Id) -> Result<Image> {
        let program = self.source.program;
        let mut ty = program.ty(program.type_of(id)?)?;
        if let Ty::Pointer(_, to) = ty {
            ty = program.ty(*to)?;
        }
        if let Ty::SampledImage(image) = ty {
            ty = program.ty(*image)?;
        }
        match ty {
            Ty::Image(image) => Ok(*image),
            _ => Err(mismatch()),
        }
    }

    /// Coordinates of an image that has `image.dim`.
    fn coords(image: &Image) -> usize {
        match image.dim {
            Dims::Dim1D | Dims::DimBuffer => 1,
            Dims::Dim3D | Dims::DimCube => 3,
            _ => 2,
        }
    }

    /// Words of floats or of integers of an operand.
    fn numbers(&mut self, frame: &mut Frame<'p>, id: Id, float: bool) -> Result<Values> {
        let program = self.source.program;
        let (scalar, _) = program.shape(program.type_of(id)?)?;
        let fits = match scalar.kind {
            ScalarKind::Float => float,
            ScalarKind::Sint | ScalarKind::Uint => !float,
            _ => false,
        };
        if !fits {
            return Err(mismatch());
        }
        let values = self.values(frame, id)?;
        let to = naga::Scalar { width: 4, ..scalar };
        self.lanes(values.len(), |lower, lane| lower.convert_scalar(values[lane], scalar, to))
    }

    fn one_number(&mut self, frame: &mut Frame<'p>, id: Id, float: bool) -> Result<Value> {
        match self.numbers(frame, id, float)?[..] {
            [value] => Ok(value),
            _ => Err(mismatch()),
        }
    }

    /// What an instruction on images gives; none where the reader lacks it.
    pub(super) fn image_value(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &Inst,
    ) -> Result<Option<Values>> {
        let program = self.source.program;
        let values = match op(inst) {
            Code::ImageSampleImplicitLod
            | Code::ImageSampleExplicitLod
            | Code::ImageSampleProjImplicitLod
            | Code::ImageSampleProjExplicitLod
            | Code::ImageSampleDrefImplicitLod
            | Code::ImageSampleDrefExplicitLod
            | Code::ImageSampleProjDrefImplicitLod
            | Code::ImageSampleProjDrefExplicitLod
            | Code::ImageGather
            | Code::ImageDrefGather => self.sample(frame, inst)?,
            Code::ImageFetch | Code::ImageRead | Code::FragmentFetchAMD => {
                self.fetch(frame, inst)?
            }
            Code::FragmentMaskFetchAMD => {
                if self.stage != Stage::Fragment || !self.image_of(inst.operand(2))?.multisampled {
                    return Err(mismatch());
                }
                Values::from_elem(self.u32(FRAGMENTS), 1)
            }
            Code::ImageQueryLod => self.level_of(frame, inst)?,
            Code::ImageQuerySizeLod
            | Code::ImageQuerySize
            | Code::ImageQueryLevels
            | Code::ImageQuerySamples => self.query(frame, inst)?,
            _ => return Ok(None),
        };
        let (_, lanes) = program.shape(inst.operand(0))?;
        if values.len() < lanes {
            return Err(mismatch());
        }
        Ok(Some(Values::from_slice(&values[..lanes])))
    }

    fn sample(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let code = op(inst);
        let image = self.image_of(inst.operand(2))?;
        let Operand::Sampled(texture, sampler) = self.operand(frame, inst.operand(2))? else {
            return Err(mismatch());
        };
        let (texture, texture_element) = self.resource(texture, false)?;
        let (sampler, sampler_element) = self.resource(sampler, true)?;
        let gather = matches!(code, Code::ImageGather | Code::ImageDrefGather);
        let projects = matches!(
            code,
            Code::ImageSampleProjImplicitLod
                | Code::ImageSampleProjExplicitLod
                | Code::ImageSampleProjDrefImplicitLod
                | Code::ImageSampleProjDrefExplicitLod
        );
        let compare = matches!(
            code,
            Code::ImageSampleDrefImplicitLod
                | Code::ImageSampleDrefExplicitLod
                | Code::ImageSampleProjDrefImplicitLod
                | Code::ImageSampleProjDrefExplicitLod
                | Code::ImageDrefGather
        );
        let extra = extra(inst.rest(if compare || gather { 5 } else { 4 }))?;
        let place = self.numbers(frame, inst.operand(3), true)?;
        let coords = Self::coords(&image);
        // SPIR-V 3.49.10: what is projected has no layers and no faces.
        if projects && (image.arrayed || image.dim == Dims::DimCube) {
            return Err(mismatch());
        }
        // SPIR-V 3.49.10: four texels around a point lie in a plane.
        if gather && !matches!(image.dim, Dims::Dim2D | Dims::DimCube | Dims::DimRect) {
            return Err(mismatch());
        }
        if place.len() < coords + usize::from(image.arrayed || projects) {
            return Err(mismatch());
        }
        let mut args = Values::new();
        args.extend(texture_element);
        args.extend(sampler_element);
        let mut own = Values::from_slice(&place[..coords]);
        let by = projects.then(|| Values::from_elem(place[coords], 1));
        if let Some(by) = &by {
            own = self.map(Op::FDiv, &[&own, by])?;
        }
        let first = args.len();
        args.extend(own);
        if image.arrayed {
            args.push(self.layer_number(place[coords], ScalarKind::Float));
        }
        if compare {
            let mut reference = self.one_number(frame, inst.operand(4), true)?;
            if let Some(by) = &by {
                reference = self.op2(Op::FDiv, reference, by[0]);
            }
            args.push(reference);
        }
        let explicit = matches!(
            code,
            Code::ImageSampleExplicitLod
                | Code::ImageSampleProjExplicitLod
                | Code::ImageSampleDrefExplicitLod
                | Code::ImageSampleProjDrefExplicitLod
        );
        let kind = if gather {
            TexKind::Gather
        } else if let (true, Some((x, y))) = (explicit, extra.gradients) {
            let (x, y) = (self.numbers(frame, x, true)?, self.numbers(frame, y, true)?);
            if x.len() != coords || y.len() != coords {
                return Err(mismatch());
            }
            args.extend(x);
            args.extend(y);
            TexKind::SampleGrad
        } else if explicit {
            let Some(level) = extra.level else {
                return Err(Stop::invalid("a sample of an explicit level has none"));
            };
            args.push(self.one_number(frame, level, true)?);
            TexKind::SampleLevel
        } else if self.quads != Quads::None {
            let bias = match extra.bias {
                Some(bias) => Some(self.one_number(frame, bias, true)?),
                None => None,
            };
            let place = Values::from_slice(&args[first..first + coords]);
            args.extend(self.group_gradients(&place, bias)?);
            TexKind::SampleGrad
        } else if self.stage != Stage::Fragment {
            // Without quads only fragments have derivatives; elsewhere the base level is taken.
            args.push(self.float(Type::B32, 0.0));
            TexKind::SampleLevel
        } else if let Some(bias) = extra.bias {
            args.push(self.one_number(frame, bias, true)?);
            TexKind::SampleBias
        } else {
            TexKind::Sample
        };
        let component = match code {
            Code::ImageGather => {
                let values = self.constant_values(inst.operand(4))?;
                match self.func.as_const(values[0]) {
                    Some(component @ 0..=3) => component as u8,
                    _ => return Err(Stop::invalid("a gather takes one of four components")),
                }
            }
            _ => 0,
        };
        let moved = match extra.offset {
            Some(offset) if gather && image.dim != Dims::DimCube => {
                let texels = self.numbers(frame, offset, false)?;
                let computed = texels.iter().any(|&texel| self.func.as_const(texel).is_none());
                computed.then_some(texels)
            }
            _ => None,
        };
        let offset = match moved {
            Some(texels) => {
                let place = &mut args[first..first + coords];
                self.move_gather(texture, texture_element, place, &texels)?;
                [0; 3]
            }
            None => self.offset(frame, extra.offset)?,
        };
        let tex = TexOp {
            kind,
            texture,
            sampler: Some(sampler).into(),
            compare,
            component,
            offset,
            projected: false,
            texel: false,
        };
        if let Some(offsets) = extra.offsets {
            return self.gather_each(tex, &args, offsets, coords);
        }
        let types = [Type::B32; 4];
        let types = if compare && !gather { &types[..1] } else { &types[..] };
        let made = self.b().inst(Op::Tex, Imm::Tex(tex), &args, &[], types);
        let values = Values::from_slice(&self.func.insts[made].results);
        let (_, sample) = self.texture(texture)?;
        // A texel of depths is one number.
        Ok(match sample {
            SampleType::Depth if !gather && !compare => Values::from_elem(values[0], 4),
            _ => values,
        })
    }

    /// The level that a sample would take, and the same before its clamps (SPIR-V 3.49.10, OpImageQueryLod).
    fn level_of(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let image = self.image_of(inst.operand(2))?;
        let Operand::Sampled(texture, sampler) = self.operand(frame, inst.operand(2))? else {
            return Err(mismatch());
        };
        let (texture, texture_element) = self.resource(texture, false)?;
        let (sampler, sampler_element) = self.resource(sampler, true)?;
        let place = self.numbers(frame, inst.operand(3), true)?;
        let coords = Self::coords(&image);
        let mipmapped =
            matches!(image.dim, Dims::Dim1D | Dims::Dim2D | Dims::Dim3D | Dims::DimCube);
        if !mipmapped || image.multisampled || place.len() < coords {
            return Err(mismatch());
        }
        let elements = texture_element.into_iter().chain(sampler_element).collect();
        self.queried_level(texture, sampler, elements, &place[..coords], image.arrayed)
    }

    /// A gather with an offset for each texel: the last of each of four gathers.
    fn gather_each(
        &mut self,
        tex: TexOp,
        args: &Values,
        offsets: Id,
        coords: usize,
    ) -> Result<Values> {
        let all = self.constant_values(offsets)?;
        if all.len() != 4 * coords {
            return Err(mismatch());
        }
        let mut found = Values::new();
        for own in all.chunks(coords) {
            let tex = TexOp { offset: self.texels(own)?, ..tex };
            let types = [Type::B32; 4];
            let made = self.b().inst(Op::Tex, Imm::Tex(tex), args, &[], &types);
            found.push(self.func.insts[made].results[3]);
        }
        Ok(found)
    }

    /// A constant offset in texels.
    fn offset(&mut self, frame: &mut Frame<'p>, offset: Option<Id>) -> Result<[i8; 3]> {
        match offset {
            Some(offset) => {
                let values = self.numbers(frame, offset, false)?;
                self.texels(&values)
            }
            None => Ok([0; 3]),
        }
    }

    fn texels(&self, values: &[Value]) -> Result<[i8; 3]> {
        let mut texels = [0; 3];
        for (texel, &value) in texels.iter_mut().zip(values) {
            let Some(bits) = self.func.as_const(value) else {
                return Err(Stop::invalid(
                    "the offset in texels of what is no gather is not constant (Vulkan, VUID-StandaloneSpirv-Offset-04663)",
                ));
            };
            let known = bits as u32 as i32;
            let small = i8::try_from(known).ok().filter(|small| TEXEL_OFFSETS.contains(small));
            *texel = small.ok_or_else(|| {
                Stop::invalid(format!("the texel offset {known} is not between -8 and 7"))
            })?;
        }
        Ok(texels)
    }

    /// Coordinates of a texel, and its layer.
    fn place_of_texel(&mut self, frame: &mut Frame<'p>, image: &Image, id: Id) -> Result<Values> {
        let place = self.numbers(frame, id, false)?;
        let count = Self::coords(image) + usize::from(image.arrayed);
        if place.len() < count || image.dim == Dims::DimCube {
            return Err(mismatch());
        }
        Ok(Values::from_slice(&place[..count]))
    }

    fn fetch(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let image = self.image_of(inst.operand(2))?;
        let Operand::Handle(bound) = self.operand(frame, inst.operand(2))? else {
            return Err(mismatch());
        };
        let extra = match op(inst) {
            Code::FragmentFetchAMD => {
                if self.stage != Stage::Fragment || !image.multisampled {
                    return Err(mismatch());
                }
                Extra { sample: Some(inst.operand(4)), ..Extra::default() }
            }
            _ => extra(inst.rest(4))?,
        };
        let mut place = self.place_of_texel(frame, &image, inst.operand(3))?;
        if let Some(offset) = extra.offset {
            let offset = self.numbers(frame, offset, false)?;
            for (own, &by) in place.iter_mut().take(Self::coords(&image)).zip(&offset) {
                *own = self.op2(Op::IAdd, *own, by);
            }
        }
        if image.dim == Dims::DimSubpassData {
            let pixel = self.pixel()?;
            for (own, by) in place.iter_mut().zip(pixel) {
                *own = self.op2(Op::IAdd, *own, by);
            }
        }
        let (texture, _) = self.resource(bound, false)?;
        if let ResourceKind::Texture { multisampled, .. } = self.func.resources[texture].kind {
            let level = match (multisampled, extra.sample, extra.level) {
                (true, Some(level), _) | (false, _, Some(level)) => {
                    self.one_number(frame, level, false)?
                }
                _ => self.u32(0),
            };
            place.push(level);
        }
        let (result, _) = self.source.program.shape(inst.operand(0))?;
        self.texel(bound, &place, crate::lower::types::width(result))
    }

    /// One texel; `place` ends in the level or sample where the texture has some.
    fn texel(&mut self, bound: Bound, place: &Values, ty: Type) -> Result<Values> {
        let (texture, element) = self.resource(bound, false)?;
        let (_, sample) = self.texture(texture)?;
        if ty != Type::B32 && !self.has_wide_texels(texture) {
            return Err(mismatch());
        }
        let args: Values = element.into_iter().chain(place.iter().copied()).collect();
        let values = self.fetch_texel(texture, &args);
        Ok(match sample {
            SampleType::Depth => Values::from_elem(values[0], 4),
            _ => values,
        })
    }

    /// An atomic load of a texel.
    pub(super) fn texel_load(&mut self, bound: Bound, place: &Values, ty: Type) -> Result<Value> {
        Ok(self.texel(bound, place, ty)?[0])
    }

    /// The pixel that a fragment covers.
    fn pixel(&mut self) -> Result<[Value; 2]> {
        let kind = InputKind::Builtin(Builtin::Position);
        let input = self.input_once(kind, 4, Scalar::F32, "gl_FragCoord");
        let prologue = self.prologue;
        Ok([0, 1].map(|lane| {
            let value = self.within(prologue, |lower| lower.b().input(input, lane));
            self.convert(Op::FToS, Type::B32, value)
        }))
    }

    fn query(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Values> {
        let image = self.image_of(inst.operand(2))?;
        let bound = match self.operand(frame, inst.operand(2))? {
            Operand::Handle(bound) | Operand::Sampled(bound, _) => bound,
            _ => return Err(mismatch()),
        };
        let (texture, element) = self.resource(bound, false)?;
        let args: Values = element.into_iter().collect();
        let ask = |lower: &mut Self, what, args: &Values, count: usize| -> Values {
            let imm = Imm::Query(texture, what);
            let made = lower.b().inst(Op::TexQuery, imm, args, &[], &[Type::B32; 3][..count]);
            Values::from_slice(&lower.func.insts[made].results)
        };
        Ok(match op(inst) {
            Code::ImageQueryLevels => ask(self, TexQuery::Levels, &args, 1),
            Code::ImageQuerySamples => ask(self, TexQuery::Samples, &args, 1),
            code => {
                let mipmapped = matches!(
                    self.func.resources[texture].kind,
                    ResourceKind::Texture { multisampled: false, .. }
                );
                let mut sized = args.clone();
                if mipmapped {
                    sized.push(match code {
                        Code::ImageQuerySizeLod => {
                            self.one_number(frame, inst.operand(3), false)?
                        }
                        _ => self.u32(0),
                    });
                }
                let count = match image.dim {
                    Dims::DimCube => 2,
                    _ => Self::coords(&image),
                };
                let mut size = ask(self, TexQuery::Size, &sized, count);
                if image.arrayed {
                    size.extend(ask(self, TexQuery::Layers, &args, 1));
                }
                size
            }
        })
    }

    /// Stores a texel.
    pub(super) fn image_write(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<()> {
        let image = self.image_of(inst.operand(0))?;
        let Operand::Handle(bound) = self.operand(frame, inst.operand(0))? else {
            return Err(mismatch());
        };
        let place = self.place_of_texel(frame, &image, inst.operand(1))?;
        let (texture, element) = self.resource(bound, false)?;
        if !matches!(self.func.resources[texture].kind, ResourceKind::StorageTexture { .. }) {
            return Err(Stop::invalid("a texel is stored to an image that is sampled"));
        }
        let mut texel = self.values(frame, inst.operand(2))?;
        if self.has_wide_texels(texture) {
            let word = texel[0];
            if self.ty(word) != Type::B64 {
                return Err(mismatch());
            }
            let halves = [Op::Lo64, Op::Hi64].map(|half| self.op1(half, word));
            texel = Values::from_slice(&halves);
        }
        let zero = self.u32(0);
        texel.resize(4, zero);
        if texel.iter().any(|&value| self.ty(value) != Type::B32) {
            return Err(mismatch());
        }
        let args: Values = element.into_iter().chain(place).chain(texel).collect();
        self.b().inst(Op::ImageStore, Imm::Resource(texture), &args, &[], &[]);
        Ok(())
    }

    /// A pointer to a texel.
    pub(super) fn texel_pointer(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Operand> {
        let image = self.image_of(inst.operand(2))?;
        let Operand::Binding(bound, _) = self.operand(frame, inst.operand(2))? else {
            return Err(mismatch());
        };
        let place = self.place_of_texel(frame, &image, inst.operand(3))?;
        Ok(Operand::Texel(bound, place))
    }

    /// An atomic on a texel; gives the old one.
    pub(super) fn texel_atomic(
        &mut self,
        frame: &mut Frame<'p>,
        pointer: Id,
        op: AtomicOp,
        operands: &[Value],
    ) -> Result<Value> {
        let Operand::Texel(bound, place) = self.operand(frame, pointer)? else {
            return Err(mismatch());
        };
        let (texture, element) = self.resource(bound, false)?;
        if !matches!(self.func.resources[texture].kind, ResourceKind::StorageTexture { .. }) {
            return Err(Stop::invalid("an atomic changes a texel of an image that is sampled"));
        }
        let ty = self.ty(operands[0]);
        if self.has_wide_texels(texture) != (ty == Type::B64) {
            return Err(mismatch());
        }
        let mut args: Values = element.into_iter().chain(place).collect();
        let mut op = op;
        if let (AtomicOp::Sub, Type::B64) = (op, ty) {
            // Machines subtract 32 bits alone.
            op = AtomicOp::Add;
            args.push(self.op1(Op::INeg, operands[0]));
        } else {
            args.extend_from_slice(operands);
        }
        let made = self.b().inst(Op::ImageAtomic, Imm::ImageAtomic(texture, op), &args, &[], &[ty]);
        Ok(self.func.insts[made].results[0])
    }
}
