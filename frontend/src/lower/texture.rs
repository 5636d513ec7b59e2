//! Textures: sampling, gathering, loads, stores, atomics, queries.

use super::frame::{Frame, Operand};
use super::memory::{Atomic, atomic_op};
use super::{Lower, OfNaga, Result, Values};
use crate::stop::{LOWERING, Stop};
use gpucc_ir::ssa::{
    AtomicOp, Dim, Imm, Op, Resource, ResourceKind, SampleType, Stage, TEXEL_OFFSETS, TexKind,
    TexOp, TexQuery, Type, Value,
};
use naga::{
    AtomicFunction, Expression, Handle, ImageQuery, SampleLevel, Scalar, SwizzleComponent,
    TypeInner,
};

/// The parts of naga's `ImageSample`.
pub struct Sampled {
    pub image: Handle<Expression>,
    pub sampler: Handle<Expression>,
    pub gather: Option<SwizzleComponent>,
    pub coordinate: Handle<Expression>,
    pub array_index: Option<Handle<Expression>>,
    pub offset: Option<Handle<Expression>>,
    pub level: SampleLevel,
    pub depth_ref: Option<Handle<Expression>>,
    pub clamp_to_edge: bool,
}

/// Which fragment each sample has (SPV_AMD_shader_fragment_mask), four bits each: here every sample has its own.
pub const FRAGMENTS: u32 = 0x7654_3210;

impl<'a> OfNaga<'a> {
    /// The binding behind an expression.
    pub fn handle(
        &mut self,
        frame: &mut Frame<'a>,
        handle: Handle<Expression>,
    ) -> Result<(Resource, Option<Value>)> {
        match self.operand(frame, handle)? {
            Operand::Handle(resource, element) => Ok((resource, element)),
            Operand::Values(_) | Operand::Place(_) => {
                Err(Stop::internal("a texture or sampler is expected"))
            }
        }
    }

    fn layer(
        &mut self,
        frame: &mut Frame<'a>,
        index: Option<Handle<Expression>>,
        args: &mut Values,
    ) -> Result<()> {
        if let Some(index) = index {
            let kind = self.kind(frame, index)?;
            let value = self.scalar(frame, index)?;
            let layer = self.layer_number(value, kind);
            args.push(layer);
        }
        Ok(())
    }

    /// A sample, comparison or gather.
    pub fn image_sample(&mut self, frame: &mut Frame<'a>, sampled: &Sampled) -> Result<Values> {
        let (texture, texture_element) = self.handle(frame, sampled.image)?;
        let (sampler, sampler_element) = self.handle(frame, sampled.sampler)?;
        let (dim, sample) = self.texture(texture)?;
        let mut args = Values::new();
        args.extend(texture_element);
        args.extend(sampler_element);
        let coordinate = self.values(frame, sampled.coordinate)?;
        args.extend_from_slice(&coordinate[..dim.coords().min(coordinate.len())]);
        self.layer(frame, sampled.array_index, &mut args)?;
        if let Some(reference) = sampled.depth_ref {
            args.push(self.scalar(frame, reference)?);
        }
        let kind = if sampled.gather.is_some() {
            TexKind::Gather
        } else if sampled.clamp_to_edge {
            TexKind::SampleBaseClampToEdge
        } else {
            match sampled.level {
                // Only fragments have derivatives; elsewhere the base level is taken.
                SampleLevel::Auto if self.stage == Stage::Fragment => TexKind::Sample,
                SampleLevel::Auto | SampleLevel::Zero => {
                    args.push(self.float(Type::B32, 0.0));
                    TexKind::SampleLevel
                }
                SampleLevel::Exact(level) => {
                    let from = self.scalar_of(frame, level)?;
                    let level = self.scalar(frame, level)?;
                    args.push(self.convert_scalar(level, from, Scalar::F32)?);
                    TexKind::SampleLevel
                }
                SampleLevel::Bias(bias) => {
                    args.push(self.scalar(frame, bias)?);
                    TexKind::SampleBias
                }
                SampleLevel::Gradient { x, y } => {
                    args.extend(self.values(frame, x)?);
                    args.extend(self.values(frame, y)?);
                    TexKind::SampleGrad
                }
            }
        };
        let compare = sampled.depth_ref.is_some();
        let tex = TexOp {
            kind,
            texture,
            sampler: Some(sampler).into(),
            compare,
            component: sampled.gather.map_or(0, |component| component.index() as u8),
            offset: self.offset(frame, sampled.offset)?,
            projected: false,
            texel: false,
        };
        let one = compare && kind != TexKind::Gather;
        let results = [Type::B32; 4];
        let results = if one { &results[..1] } else { &results[..] };
        let inst = self.b().inst(Op::Tex, Imm::Tex(tex), &args, &[], results);
        let values = Values::from_slice(&self.func.insts[inst].results);
        let scalar = sample == SampleType::Depth && kind != TexKind::Gather;
        Ok(if scalar { Values::from_slice(&values[..1]) } else { values })
    }

    /// A constant offset in texels.
    pub fn offset(
        &mut self,
        frame: &mut Frame<'a>,
        offset: Option<Handle<Expression>>,
    ) -> Result<[i8; 3]> {
        let mut texels = [0; 3];
        let Some(offset) = offset else {
            return Ok(texels);
        };
        let values = self.values(frame, offset)?;
        for (texel, &value) in texels.iter_mut().zip(&values) {
            let Some(bits) = self.func.as_const(value) else {
                return Err(Stop::unsupported("a texel offset that is not constant", LOWERING));
            };
            let known = bits as u32 as i32;
            *texel =
                i8::try_from(known).ok().filter(|small| TEXEL_OFFSETS.contains(small)).ok_or_else(
                    || Stop::invalid(format!("the texel offset {known} is not between -8 and 7")),
                )?;
        }
        Ok(texels)
    }

    /// One texel. `level` is the level, or the sample of a multisampled texture.
    pub fn image_load(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
        level: Option<Handle<Expression>>,
    ) -> Result<Values> {
        let (texture, element) = self.handle(frame, image)?;
        let (_, sample) = self.texture(texture)?;
        let mut args = Values::new();
        args.extend(element);
        args.extend(self.values(frame, coordinate)?);
        self.layer(frame, array_index, &mut args)?;
        match (level, self.func.resources[texture].kind) {
            (Some(level), _) => args.push(self.scalar(frame, level)?),
            // External textures have one level and no operand for it.
            (None, ResourceKind::Texture { .. }) => args.push(self.u32(0)),
            (None, _) => {}
        }
        let texel = self.fetch_texel(texture, &args);
        Ok(match sample {
            SampleType::Depth => Values::from_slice(&texel[..1]),
            _ => texel,
        })
    }

    /// A query.
    pub fn image_query(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        query: ImageQuery,
    ) -> Result<Values> {
        let (texture, element) = self.handle(frame, image)?;
        let (dim, _) = self.texture(texture)?;
        let mut args = Values::new();
        args.extend(element);
        let (what, count) = match query {
            ImageQuery::Size { level } => {
                let mipmapped = matches!(
                    self.func.resources[texture].kind,
                    ResourceKind::Texture { multisampled: false, .. }
                );
                match level {
                    Some(level) => args.push(self.scalar(frame, level)?),
                    None if mipmapped => args.push(self.u32(0)),
                    None => {}
                }
                let count = match dim {
                    Dim::D1 => 1,
                    Dim::D2 | Dim::Cube => 2,
                    Dim::D3 => 3,
                };
                (TexQuery::Size, count)
            }
            ImageQuery::NumLevels => (TexQuery::Levels, 1),
            ImageQuery::NumLayers => (TexQuery::Layers, 1),
            ImageQuery::NumSamples => (TexQuery::Samples, 1),
        };
        let imm = Imm::Query(texture, what);
        let results = &[Type::B32; 3][..count];
        let inst = self.b().inst(Op::TexQuery, imm, &args, &[], results);
        Ok(Values::from_slice(&self.func.insts[inst].results))
    }

    fn texel_address(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
    ) -> Result<(Resource, Values)> {
        let (texture, element) = self.handle(frame, image)?;
        let mut args = Values::new();
        args.extend(element);
        args.extend(self.values(frame, coordinate)?);
        self.layer(frame, array_index, &mut args)?;
        Ok((texture, args))
    }

    /// Stores a texel.
    pub fn image_store(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
        value: Handle<Expression>,
    ) -> Result<()> {
        let (texture, mut args) = self.texel_address(frame, image, coordinate, array_index)?;
        let mut texel = self.values(frame, value)?;
        if self.has_wide_texels(texture) {
            let word = texel[0];
            let halves = [Op::Lo64, Op::Hi64].map(|half| self.op1(half, word));
            texel = Values::from_slice(&halves);
        }
        let zero = self.u32(0);
        texel.resize(4, zero);
        args.extend(texel);
        self.b().inst(Op::ImageStore, Imm::Resource(texture), &args, &[], &[]);
        Ok(())
    }

    /// An atomic on a texel.
    pub fn image_atomic(
        &mut self,
        frame: &mut Frame<'a>,
        image: Handle<Expression>,
        coordinate: Handle<Expression>,
        array_index: Option<Handle<Expression>>,
        fun: AtomicFunction,
        value: Handle<Expression>,
    ) -> Result<()> {
        let scalar = match *self.inner(frame, value) {
            TypeInner::Scalar(scalar) => scalar,
            _ => return Err(Stop::internal("an image atomic takes a scalar")),
        };
        let found = atomic_op(fun, scalar)?;
        let (texture, mut args) = self.texel_address(frame, image, coordinate, array_index)?;
        let ty = if scalar.width == 8 { Type::B64 } else { Type::B32 };
        if self.has_wide_texels(texture) != (ty == Type::B64) {
            return Err(Stop::internal("an atomic has its texel's width"));
        }
        if let AtomicFunction::Exchange { compare: Some(compare) } = fun {
            args.push(self.scalar(frame, compare)?);
        }
        let mut value = self.scalar(frame, value)?;
        let mut op = match found {
            Atomic::Native(op) => op,
            Atomic::Float(float) => {
                let (op, operand) = self.float_atomic(float, value)?;
                value = operand;
                op
            }
        };
        if let (AtomicOp::Sub, Type::B64) = (op, ty) {
            // Machines subtract 32 bits alone.
            (op, value) = (AtomicOp::Add, self.op1(Op::INeg, value));
        }
        args.push(value);
        let imm = Imm::ImageAtomic(texture, op);
        self.b().inst(Op::ImageAtomic, imm, &args, &[], &[ty]);
        Ok(())
    }
}

impl<S> Lower<'_, S> {
    /// Moves the place of a gather in a plane by texels that the program computes: to the middle between the four texels
    /// that are meant, so that no rounding takes others. `element` is that of an array of bindings.
    pub fn move_gather(
        &mut self,
        texture: Resource,
        element: Option<Value>,
        place: &mut [Value],
        texels: &[Value],
    ) -> Result<()> {
        let level = self.u32(0);
        let args: Values = element.into_iter().chain([level]).collect();
        let imm = Imm::Query(texture, TexQuery::Size);
        let query = self.b().inst(Op::TexQuery, imm, &args, &[], &[Type::B32; 2]);
        let sizes = Values::from_slice(&self.func.insts[query].results);
        // A unit takes places to the nearest 256th of a texel.
        let half = self.float(Type::B32, 0.5 - 1.0 / 512.0);
        let one = self.float(Type::B32, 1.0);
        for ((own, &size), &by) in place.iter_mut().zip(&sizes).zip(texels) {
            let size = self.convert(Op::UToF, Type::B32, size);
            let by = self.convert(Op::SToF, Type::B32, by);
            let scaled = self.op2(Op::FMul, *own, size);
            let low = self.op2(Op::FSub, scaled, half);
            let low = self.op1(Op::FFloor, low);
            let middle = self.op2(Op::FAdd, low, one);
            let moved = self.op2(Op::FAdd, middle, by);
            *own = self.op2(Op::FDiv, moved, size);
        }
        Ok(())
    }

    /// Dimension and whether texels are depth of a texture.
    pub fn texture(&self, resource: Resource) -> Result<(Dim, SampleType)> {
        match self.func.resources[resource].kind {
            ResourceKind::Texture { dim, sample, .. }
            | ResourceKind::StorageTexture { dim, sample, .. } => Ok((dim, sample)),
            _ => Err(Stop::internal("a texture is expected")),
        }
    }

    /// The four scalars of a texel; `args` end in the level or sample where the texture has some.
    pub fn fetch_texel(&mut self, texture: Resource, args: &Values) -> Values {
        let tex = TexOp {
            kind: TexKind::Load,
            texture,
            sampler: None.into(),
            compare: false,
            component: 0,
            offset: [0; 3],
            projected: false,
            texel: false,
        };
        let inst = self.b().inst(Op::Tex, Imm::Tex(tex), args, &[], &[Type::B32; 4]);
        let values = Values::from_slice(&self.func.insts[inst].results);
        if !self.has_wide_texels(texture) {
            return values;
        }
        let texel = self.op2(Op::Join64, values[0], values[1]);
        let (zero, one) = (self.constant(Type::B64, 0), self.constant(Type::B64, 1));
        Values::from_slice(&[texel, zero, zero, one])
    }

    /// Whether a texel is one word of 64 bits.
    pub fn has_wide_texels(&self, texture: Resource) -> bool {
        matches!(
            self.func.resources[texture].kind,
            ResourceKind::StorageTexture { format, .. } if format.is_wide()
        )
    }
}
