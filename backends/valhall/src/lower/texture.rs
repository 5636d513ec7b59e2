//! Sampling, gathers, texel loads and size queries. isa/valhall_rogue.md 1.11; docs/abi-valhall.md:
//! Textures.

use super::operand::{Lane, Opnd, build};
use super::{Lower, Place};
use crate::abi::{Slot, info_offset, table};
use crate::api::{Failure, FauWord};
use crate::inst::Src;
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{self, Dim, Inst, Op, Resource, ResourceKind, TexKind, TexOp, TexQuery, Value};
use gpucc_machine::described::ImageWord;
use gpucc_passes::mach::Effects;
use smallvec::SmallVec;

/// Largest index of a narrow handle: 11 bits.
const NARROW: u32 = 1 << 11;
/// How the level is found.
const LOD_ZERO: u32 = 0;
const LOD_COMPUTED: u32 = 1;
const LOD_EXPLICIT: u32 = 4;
const LOD_BIAS: u32 = 5;
const LOD_GRADIENT: u32 = 6;
/// Sizes of level 0 by axis.
const AXES: [ImageWord; 3] = [ImageWord::Width, ImageWord::Height, ImageWord::Depth];

/// Operands of a texture instruction.
struct Operands {
    /// Elements of arrays of bindings.
    texture: Option<Value>,
    sampler: Option<Value>,
    coords: SmallVec<[Value; 3]>,
    layer: Option<Value>,
    reference: Option<Value>,
    /// Bias, level, sample or gradients.
    rest: SmallVec<[Value; 6]>,
}

impl Lower<'_> {
    /// The element of a binding when it is known: 0 where there is no array.
    pub(super) fn known_element(&self, element: Option<Value>) -> Option<u32> {
        match element {
            None => Some(0),
            Some(element) => self.ssa.as_const(element).map(|bits| bits as u32),
        }
    }

    fn operands(&self, inst: Inst, tex: &TexOp) -> Operands {
        let mut args = self.ssa.insts[inst].args.iter().copied();
        let arrays = |resource: Resource| self.ssa.resources[resource].count.is_some();
        let texture = args.by_ref().take(arrays(tex.texture).into()).next();
        let sampler = tex.sampler.expand().is_some_and(arrays);
        let sampler = args.by_ref().take(sampler.into()).next();
        let (dim, arrayed) = shape(self.ssa.resources[tex.texture].kind);
        let coords = args.by_ref().take(dim.coords()).collect();
        let layer = args.by_ref().take(arrayed.into()).next();
        let reference = args.by_ref().take(tex.compare.into()).next();
        Operands { texture, sampler, coords, layer, reference, rest: args.collect() }
    }

    /// The 64-bit handle of a texture with its sampler; true for the wide form.
    fn texture_handle(&mut self, tex: &TexOp, operands: &Operands) -> (Src, bool) {
        let texture = self.abi.slots[tex.texture];
        let sampler = match tex.sampler.expand() {
            Some(sampler) => self.abi.slots[sampler],
            None => Slot { table: table::SAMPLER, index: 0, count: 1 },
        };
        let known = [operands.texture, operands.sampler].map(|e| self.known_element(e));
        if let [Some(t), Some(s)] = known {
            let (t, s) = (texture.index + t, sampler.index + s);
            if t < NARROW && s < NARROW {
                let word = texture.table << 27 | t << 16 | sampler.table << 11 | s;
                return (Src::Bits(word), false);
            }
        }
        let sampler = match tex.sampler.expand() {
            Some(resource) => self.handle(resource, operands.sampler),
            None => Opnd::bits(sampler.handle()),
        };
        let texture = self.handle(tex.texture, operands.texture);
        let words = [sampler, texture].map(|word| Reg::from(self.in_register(word)));
        (Src::Pair(words), true)
    }

    /// A texture instruction, on a sampled or a storage texture.
    pub(super) fn tex(&mut self, inst: Inst, tex: TexOp) -> Result<(), Failure> {
        let results = self.ssa.insts[inst].results.clone();
        if results.iter().all(|&result| self.uses.count(result) == 0) {
            return Ok(());
        }
        let ResourceKind::Texture { dim, multisampled, .. } = self.ssa.resources[tex.texture].kind
        else {
            self.image_load(inst, tex);
            return Ok(());
        };
        if tex.kind == TexKind::QueryLevel {
            let message = "a level is queried behind the refusals".to_owned();
            return Err(Failure::Internal { pass: "lower", message });
        }
        let operands = self.operands(inst, &tex);
        let (handle, wide) = self.texture_handle(&tex, &operands);
        let mut staging: SmallVec<[Reg; 8]> = SmallVec::new();
        self.coordinates(&tex, dim, &operands, &mut staging);
        if let Some(layer) = operands.layer {
            let layer = self.layer(layer, tex.kind == TexKind::Load);
            staging.push(self.in_register(layer).into());
        }
        if let Some(reference) = operands.reference {
            let reference = self.plain(reference);
            staging.push(self.in_register(reference).into());
        }
        let offset = self.offset_word(&tex, multisampled, &operands);
        let has_offset = offset.is_some();
        if let Some(offset) = offset {
            staging.push(self.in_register(offset).into());
        }
        let opcode = match tex.kind {
            TexKind::Load => Opcode::TexFetch,
            TexKind::Gather => Opcode::TexGather,
            _ => Opcode::TexSingle,
        };
        let mut mode = None;
        match tex.kind {
            TexKind::Load | TexKind::Gather | TexKind::QueryLevel => {}
            TexKind::Sample => mode = Some(LOD_COMPUTED),
            TexKind::SampleBaseClampToEdge => mode = Some(LOD_ZERO),
            TexKind::SampleBias | TexKind::SampleLevel => {
                let level = operands.rest[0];
                let zero = self.ssa.as_const(level).is_some_and(|b| (b as u32) << 1 == 0);
                mode = Some(match (tex.kind, zero) {
                    (TexKind::SampleBias, true) => LOD_COMPUTED,
                    (TexKind::SampleBias, false) => LOD_BIAS,
                    (_, true) => LOD_ZERO,
                    (_, false) => LOD_EXPLICIT,
                });
                if !zero {
                    let level = self.fixed_level(level);
                    staging.push(self.in_register(level).into());
                }
            }
            TexKind::SampleGrad => {
                mode = Some(LOD_GRADIENT);
                let made = self.gradient(handle, wide, dim, &operands);
                staging.extend(made.iter().map(|&v| Reg::from(v)));
            }
        }
        let mut op = build(opcode, &[Opnd::plain(handle)])
            .with(f::DIMENSION, dimension(dim))
            .with(f::WIDE_INDICES, wide.into())
            .with(f::ARRAY, operands.layer.is_some().into())
            .with(f::TEXEL_OFFSET, has_offset.into())
            .with(f::REGISTER_WIDTH, 1)
            .reading(&staging);
        if tex.kind != TexKind::Load {
            op = op.with(f::SHADOW, tex.compare.into());
        }
        if let Some(mode) = mode {
            op = op.with(f::LOD_MODE, mode);
        }
        if tex.kind == TexKind::Gather {
            op = op.with(f::FETCH_COMPONENT, tex.component.into());
        }
        let mut mask = 0;
        for (component, &result) in results.iter().enumerate() {
            if self.uses.count(result) > 0 {
                let reg = self.fresh();
                self.define_reg(result, reg);
                op.write.push(reg.into());
                mask |= 1 << component;
            }
        }
        // No texture is written by the program that samples it.
        op.effects = Some(Effects::default());
        self.push(op.with(f::WRITE_MASK, mask));
        Ok(())
    }

    /// X, Y and Z, or a face and the place on it.
    fn coordinates(
        &mut self,
        tex: &TexOp,
        dim: Dim,
        operands: &Operands,
        staging: &mut SmallVec<[Reg; 8]>,
    ) {
        if tex.projected {
            let place = [0, 1].map(|k| {
                // The expansion clamps what lies in 0..=1 and adds 1.
                let added = self.ssa.def(operands.coords[k]).filter(|data| {
                    data.op == Op::FAdd
                        && self.ssa.as_const(data.args[1]) == Some(u64::from(1.0f32.to_bits()))
                        && (self.ssa.def(data.args[0])).is_some_and(|from| from.op == Op::FSat)
                });
                if let Some(data) = added {
                    let clamped = self.plain(data.args[0]);
                    return self.in_register(clamped);
                }
                // s and t lie in 1..=2, so the difference is exact.
                let place = self.arg(Opcode::FaddF32, 0, operands.coords[k]);
                let fields = [(f::CLAMP, 3)];
                self.emit_with(Opcode::FaddF32, &[place, Opnd::f32(-1.0)], &fields)
            });
            let face = self.face_bits(operands.coords[2]);
            let sources = [Opnd::reg(place[0]), Opnd::reg(face), Opnd::bits(0x1fff_ffff)];
            let packed = self.emit_with(Opcode::MuxI32, &sources, &[(f::MUX, 3)]);
            staging.push(packed.into());
            staging.push(place[1].into());
            return;
        }
        for (axis, &coord) in operands.coords.iter().enumerate() {
            let clamped = tex.kind == TexKind::SampleBaseClampToEdge && axis < 2;
            let operand = if clamped {
                let edges = match axis {
                    0 => [ImageWord::EdgeLowX, ImageWord::EdgeHighX],
                    _ => [ImageWord::EdgeLowY, ImageWord::EdgeHighY],
                };
                let [low, high] =
                    edges.map(|edge| self.image_word(tex.texture, operands.texture, edge));
                let coord = self.arg(Opcode::FmaxF32, 0, coord);
                let above = self.emit(Opcode::FmaxF32, &[coord, low]);
                Opnd::reg(self.emit(Opcode::FminF32, &[Opnd::reg(above), high]))
            } else if dim == Dim::Cube {
                unreachable!("cubes are projected in the expanded function")
            } else {
                self.plain(coord)
            };
            staging.push(self.in_register(operand).into());
        }
    }

    /// The number of a face in bits 31 to 29.
    fn face_bits(&mut self, face: Value) -> VReg {
        if let Some(data) = self.ssa.def(face)
            && data.op == Op::CubeFace
        {
            let args = data.args.clone();
            let sources = self.args(Opcode::Cubeface2V9, &args);
            return self.emit(Opcode::Cubeface2V9, &sources);
        }
        let face = self.arg(Opcode::F32ToU32, 0, face);
        let number = self.emit(Opcode::F32ToU32, &[face]);
        let sources = [Opnd::reg(number), Opnd::bits(29), Opnd::bits(0)];
        self.emit(Opcode::LshiftOrI32, &sources)
    }

    /// An array layer. The unit clamps samples to the layers that exist as unsigned numbers, so the
    /// negative ones are clamped before; loads outside of them give 0 either way.
    fn layer(&mut self, layer: Value, load: bool) -> Opnd {
        let natural = |bits: u64| bits as u32 >> 31 == 0;
        let known = match self.ssa.as_const(layer) {
            Some(bits) => natural(bits),
            None => self.ssa.def(layer).is_some_and(|data| match data.op {
                Op::FToU | Op::UConvert => true,
                Op::UMin | Op::And => {
                    data.args.iter().any(|&arg| self.ssa.as_const(arg).is_some_and(natural))
                }
                Op::LShr => self.ssa.as_const(data.args[1]).is_some_and(|by| by & 31 > 0),
                Op::SMax => {
                    data.args.iter().any(|&arg| self.ssa.as_const(arg).is_some_and(natural))
                }
                _ => false,
            }),
        };
        let operand = self.plain(layer);
        if load || known {
            return operand;
        }
        if let Src::Bits(_) = operand.src {
            return Opnd::bits(0);
        }
        let zero = Opnd::bits(0);
        let sources = [operand, zero, operand, zero];
        Opnd::reg(self.emit_with(Opcode::CselS32, &sources, &[(f::CMP, 1)]))
    }

    /// Offsets in bytes 0 to 2, a sample in byte 2, a level of a load in byte 3; none when all are 0.
    fn offset_word(
        &mut self,
        tex: &TexOp,
        multisampled: bool,
        operands: &Operands,
    ) -> Option<Opnd> {
        let [x, y, z] = tex.offset.map(|o| u32::from(o as u8));
        let mut known = x | y << 8 | z << 16;
        let last = match tex.kind {
            TexKind::Load => operands.rest.first().copied(),
            _ => None,
        };
        let shift = if multisampled { 16 } else { 24 };
        if let Some(last) = last {
            match self.ssa.as_const(last) {
                Some(bits) => known |= (bits as u32) << shift,
                None => {
                    let value = self.plain(last);
                    let sources = [value, Opnd::bits(shift), Opnd::bits(known)];
                    return Some(Opnd::reg(self.emit(Opcode::LshiftOrI32, &sources)));
                }
            }
        }
        (known != 0).then(|| Opnd::bits(known))
    }

    /// A level or bias in signed 8.8 bits, zeros above: see `Functions::level`.
    fn fixed_level(&mut self, level: Value) -> Opnd {
        if let Some(bits) = self.ssa.as_const(level) {
            let rounded = (crate::numerics().functions.level)(f32::from_bits(bits as u32));
            return Opnd::bits(u32::from((rounded * 256.0) as i16 as u16));
        }
        let level = self.arg(Opcode::FmaF32, 0, level);
        let within = self.emit_with(
            Opcode::FmaF32,
            &[level, Opnd::f32(1.0 / 16.0), Opnd::minus_zero()],
            &[(f::CLAMP, 2)],
        );
        // 1.5 * 2^23: the sum's low bits are the rounded integer.
        let sources = [Opnd::reg(within), Opnd::f32(4096.0), Opnd::f32(12_582_912.0)];
        let shifted = self.emit(Opcode::FmaF32, &sources);
        let low = Opnd::reg(shifted).lane(Lane::Half(0));
        Opnd::reg(self.emit(Opcode::U16ToU32, &[low]))
    }

    /// TEX_GRADIENT: two words that say the level.
    fn gradient(
        &mut self,
        handle: Src,
        wide: bool,
        dim: Dim,
        operands: &Operands,
    ) -> SmallVec<[VReg; 4]> {
        let all = dim.coords();
        let axes = if dim == Dim::Cube { 2 } else { all };
        let mut staging: SmallVec<[Reg; 8]> = SmallVec::new();
        for axis in 0..axes {
            for from in [axis, all + axis] {
                let operand = self.plain(operands.rest[from]);
                staging.push(self.in_register(operand).into());
            }
        }
        let made: SmallVec<[VReg; 4]> = (0..2).map(|_| self.fresh()).collect();
        let mut op = build(Opcode::TexGradient, &[Opnd::plain(handle)])
            .with(f::DIMENSION, dimension(dim))
            .with(f::WIDE_INDICES, wide.into())
            .with(f::REGISTER_WIDTH, 1)
            .with(f::DERIVATIVE, 1)
            // The sample that takes the level adds the sampler's bias and clamps. errata 121b.
            .with(f::LOD_BIAS_DISABLE, 1)
            .with(f::LOD_CLAMP_DISABLE, 1)
            .with(f::WRITE_MASK, 3)
            .reading(&staging);
        op.write.extend(made.iter().map(|&v| Reg::from(v)));
        op.effects = Some(Effects::default());
        self.push(op);
        made
    }

    /// A word about an image: of FAU, or of the info buffer where the element is not known.
    pub(super) fn image_word(
        &mut self,
        resource: Resource,
        element: Option<Value>,
        word: ImageWord,
    ) -> Opnd {
        match (self.known_element(element), element) {
            (None, Some(element)) => {
                Opnd::reg(self.info_word(resource, element, info_offset(word)))
            }
            (known, _) => {
                let element = known.unwrap_or(0);
                let word = FauWord::Image { resource, element, word };
                Opnd::plain(self.fau(word))
            }
        }
    }

    /// What is known of an image. docs/abi-valhall.md: System values.
    pub(super) fn tex_query(
        &mut self,
        inst: Inst,
        resource: Resource,
        query: TexQuery,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let results = data.results.clone();
        let mut args = data.args.iter().copied();
        let arrays = self.ssa.resources[resource].count.is_some();
        let element = args.by_ref().take(arrays.into()).next();
        let level = args.next();
        for (&axis, &result) in AXES.iter().zip(&results) {
            if self.uses.count(result) == 0 {
                continue;
            }
            let word = match query {
                TexQuery::Size => axis,
                TexQuery::Levels => ImageWord::Levels,
                TexQuery::Layers => ImageWord::Layers,
                TexQuery::Samples => ImageWord::Samples,
                // Nothing of this machine's plan asks for it.
                TexQuery::Sampler => {
                    return Err(Failure::Internal {
                        pass: "lower",
                        message: "words of a sampler are asked for".into(),
                    });
                }
            };
            let word = self.image_word(resource, element, word);
            let place = match (query, level) {
                (TexQuery::Size, Some(level)) if self.ssa.as_const(level) != Some(0) => {
                    Place::Reg(self.size_of_level(resource, element, word, level))
                }
                _ => match word.src {
                    Src::Reg(reg) => Place::Reg(reg.as_virt().expect("nothing is allocated yet")),
                    src => Place::Src(src),
                },
            };
            self.define(result, place);
        }
        Ok(())
    }

    /// `max(size >> level, 1)`, and 0 for levels that do not exist.
    fn size_of_level(
        &mut self,
        resource: Resource,
        element: Option<Value>,
        size: Opnd,
        level: Value,
    ) -> VReg {
        let level = self.plain(level);
        let level = Opnd::reg(self.in_register(level));
        let sources = [size, level, Opnd::bits(0)];
        let half = Opnd::reg(self.emit(Opcode::RshiftOrI32, &sources));
        let one = Opnd::bits(1);
        let bounded = self.emit_with(Opcode::CselU32, &[half, one, half, one], &[(f::CMP, 1)]);
        let levels = self.image_word(resource, element, ImageWord::Levels);
        let sources = [level, levels, Opnd::reg(bounded), Opnd::bits(0)];
        self.emit_with(Opcode::CselU32, &sources, &[(f::CMP, 4)])
    }

    /// A component of the cube operations of the expanded function.
    pub(super) fn cube(&mut self, data: &ssa::InstData) -> VReg {
        match data.op {
            Op::CubeMajor => {
                let sources = self.args(Opcode::Cubeface1, &data.args);
                let major = Opnd::reg(self.emit(Opcode::Cubeface1, &sources));
                self.emit(Opcode::FaddF32, &[major, major])
            }
            Op::CubeFace => {
                let sources = self.args(Opcode::Cubeface2V9, &data.args);
                let bits = self.emit(Opcode::Cubeface2V9, &sources);
                let sources = [Opnd::reg(bits), Opnd::bits(29), Opnd::bits(0)];
                let number = self.emit(Opcode::RshiftOrI32, &sources);
                self.emit(Opcode::U32ToF32, &[Opnd::reg(number)])
            }
            _ => {
                let sources = self.args(Opcode::Cubeface2V9, &data.args);
                let face = Opnd::reg(self.emit(Opcode::Cubeface2V9, &sources));
                let [x, y, z] = [data.args[0], data.args[1], data.args[2]];
                let (opcode, first, second) = if data.op == Op::CubeS {
                    (Opcode::CubeSsel, z, x)
                } else {
                    (Opcode::CubeTsel, y, z)
                };
                let first = self.arg(opcode, 0, first);
                let second = self.arg(opcode, 1, second);
                self.emit(opcode, &[first, second, face])
            }
        }
    }
}

/// Dimension and layers of a texture or storage texture.
pub(super) fn shape(kind: ResourceKind) -> (Dim, bool) {
    match kind {
        ResourceKind::Texture { dim, arrayed, .. }
        | ResourceKind::StorageTexture { dim, arrayed, .. } => (dim, arrayed),
        _ => unreachable!("only textures are sampled"),
    }
}

fn dimension(dim: Dim) -> u32 {
    match dim {
        Dim::D1 => 0,
        Dim::D2 => 1,
        Dim::D3 => 2,
        Dim::Cube => 3,
    }
}
