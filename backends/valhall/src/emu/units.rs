//! Messages: what each asks of memory, descriptors and the fixed-function units.

use super::descriptor;
use super::effect::{Effect, What, load_results, whole};
use super::inst::{Inst, Op, RegFormat};
use super::rule::{Rule, Trap};
use super::state::State;
use super::texel;
use super::value::{LANES, Word, each};
use super::warp::{Env, Warp};
use gpucc_emu::format::Format;
use gpucc_emu::image::Texel;
use gpucc_ir::ssa::Dim;

/// The handle of table and index.
fn handle_of((table, index): (u8, u8)) -> u32 {
    u32::from(table) << 24 | u32::from(index)
}

/// Addresses of the texels of all lanes; the image's format and its pixel word.
type Texels = ([u64; LANES], Option<(Format, u32)>);

impl Warp {
    /// Executes a message; how many instructions a BLEND jumps over.
    pub fn message(&mut self, env: &mut Env<'_, '_>, inst: &Inst) -> Result<Option<i32>, Trap> {
        match inst.op {
            Op::Load { bytes, lane, signed, offset, .. } => {
                let at = self.addresses(env, inst, offset)?;
                let effect = Effect { what: What::Load { lane, signed }, at, bytes };
                let results = load_results(inst.write, bytes, lane);
                self.send(env, inst, results, Some(effect), false)?;
            }
            Op::Store { bytes, lane, offset, .. } => {
                let at = self.addresses(env, inst, offset)?;
                let mut data = self.staging(inst.read)?;
                if bytes <= 2 {
                    let first = if bytes == 2 { 2 * (lane & 1) } else { lane & 3 };
                    data[0] = data[0].permuted([first, (first + 1) & 3, 2, 3]);
                }
                self.stored(env, &data, bytes, &at)?;
                let effect = Effect { what: What::Store(data), at, bytes };
                self.send(env, inst, Vec::new(), Some(effect), false)?;
            }
            Op::Atomic { op, bytes, offset, .. } => {
                let mut at = self.addresses(env, inst, offset)?;
                // Texels outside of an image have the address 0. ABI: Textures.
                for at in &mut at {
                    *at = at.filter(|&address| address != 0);
                }
                let data = self.staging(inst.read)?;
                for word in &data {
                    self.observed(word.any(), word.why, "an operand of an atomic")?;
                }
                let effect = Effect { what: What::Atomic { op, data }, at, bytes };
                self.send(env, inst, whole(inst.write), Some(effect), false)?;
            }
            Op::LoadBuffer { bytes, lane, signed } => {
                let [offset, handle] = self.two(env, inst)?;
                let mut at = [None; LANES];
                for l in each(self.active) {
                    let buffer = self.described(descriptor::buffer(env.state, handle.v[l]), l)?;
                    if let Some(buffer) = buffer {
                        let end = u64::from(offset.v[l]) + u64::from(bytes);
                        if end <= u64::from(buffer.size) {
                            at[l] = Some(buffer.address + u64::from(offset.v[l]));
                        }
                    }
                }
                let effect = Effect { what: What::Load { lane, signed }, at, bytes };
                let results = load_results(inst.write, bytes, lane);
                self.send(env, inst, results, Some(effect), false)?;
            }
            Op::LeaBuffer => {
                let [offset, handle] = self.two(env, inst)?;
                let mut results = whole(inst.write);
                for l in each(self.active) {
                    let buffer = self.described(descriptor::buffer(env.state, handle.v[l]), l)?;
                    let address = buffer.map_or(0, |b| b.address + u64::from(offset.v[l]));
                    results[0].2.v[l] = address as u32;
                    results[1].2.v[l] = (address >> 32) as u32;
                }
                self.send(env, inst, results, None, false)?;
            }
            Op::LeaBuf { handle } => self.lea_buf(env, inst, handle)?,
            Op::LdAttr { format, count, handle } => {
                self.load_attribute(env, inst, (format, count), handle)?;
            }
            Op::LeaAttr { handle } => self.lea_attribute(env, inst, handle)?,
            Op::LdTex { format, count, handle } => {
                self.load_texel(env, inst, (format, count), handle)?;
            }
            Op::LeaTex { handle } => self.lea_texel(env, inst, handle)?,
            Op::LdCvt { format, count, offset } => {
                self.load_converted(env, inst, (format, count), offset)?;
            }
            Op::StCvt { format, count, offset } => {
                self.store_texel(env, inst, (format, count), offset)?;
            }
            Op::LdVar { format, count, how, from } => {
                self.load_varying(env, inst, (format, count), how, from)?;
            }
            Op::LdVarSpecial { what, count, sampled } => {
                self.load_special_varying(env, inst, (what, count), sampled)?;
            }
            Op::Tex(tex) => self.texture(env, inst, tex)?,
            Op::VarTex(tex, how) => self.varying_texture(env, inst, tex, how)?,
            Op::Clock { .. } => {
                // Nobody says where a clock starts; it goes on with what is executed.
                let mut results = whole(inst.write);
                results[0].2 = Word::splat(env.steps as u32);
                results[1].2 = Word::splat((env.steps >> 32) as u32);
                self.send(env, inst, results, None, false)?;
            }
            Op::Atest | Op::ZsEmit { .. } => self.coverage_test(env, inst)?,
            Op::Blend { format, count, target } => {
                return self.blend(env, inst, (format, count), target);
            }
            _ => return Err(self.missing(inst)),
        }
        Ok(None)
    }

    /// What a descriptor gave, or a trap that blames a lane.
    pub fn described<T>(
        &self,
        found: Result<T, super::memory::Refused>,
        lane: usize,
    ) -> Result<T, Trap> {
        found.map_err(|(rule, detail)| self.trap(rule, detail, Some(lane)))
    }

    /// Two sources whose value matters.
    fn two(&mut self, env: &Env<'_, '_>, inst: &Inst) -> Result<[Word; 2], Trap> {
        let a = self.read(env, &inst.sources[0], inst)?;
        let b = self.read(env, &inst.sources[1], inst)?;
        for word in [&a, &b] {
            self.observed(word.any(), word.why, &format!("a source of {}", inst.name))?;
        }
        Ok([a, b])
    }

    /// The address in the first source of each running lane, moved by `offset`.
    fn addresses(
        &mut self,
        env: &Env<'_, '_>,
        inst: &Inst,
        offset: i32,
    ) -> Result<[Option<u64>; LANES], Trap> {
        let base = self.read_wide(env, &inst.sources[0], inst)?;
        self.observed(base.low.any(), base.low.why, "an address")?;
        self.observed(base.high.any(), base.high.why, "an address")?;
        let mut at = [None; LANES];
        for lane in each(self.active) {
            at[lane] = Some(base.get(lane).wrapping_add_signed(offset.into()));
        }
        Ok(at)
    }

    /// A handle that every running lane must agree on.
    pub fn one_handle(&self, word: &Word, inst: &Inst) -> Result<u32, Trap> {
        self.observed(word.any(), word.why, "a handle")?;
        let mut lanes = each(self.active);
        let first = lanes.next().map_or(0, |lane| word.v[lane]);
        match lanes.find(|&lane| word.v[lane] != first) {
            Some(lane) => {
                let detail = format!("{} reads {first:#x} and {:#x}", inst.name, word.v[lane]);
                Err(self.trap(Rule::HandleUniform, detail, Some(lane)))
            }
            None => Ok(first),
        }
    }

    fn handle(
        &mut self,
        env: &Env<'_, '_>,
        inst: &Inst,
        handle: Option<(u8, u8)>,
    ) -> Result<u32, Trap> {
        match handle {
            Some(handle) => Ok(handle_of(handle)),
            None => {
                let last = inst.sources.last().expect("a handle is a source");
                let word = self.read(env, last, inst)?;
                self.one_handle(&word, inst)
            }
        }
    }

    /// LEA_BUF*: an element of a structured buffer.
    fn lea_buf(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        handle: Option<(u8, u8)>,
    ) -> Result<(), Trap> {
        let id = self.read(env, &inst.sources[0], inst)?;
        self.observed(id.any(), id.why, "a linear id")?;
        let handle = self.handle(env, inst, handle)?;
        let lane = self.active.trailing_zeros() as usize;
        let buffer = self.described(descriptor::buffer(env.state, handle), lane)?;
        let Some((buffer, stride)) = buffer.and_then(|b| Some((b, b.stride?))) else {
            let detail = format!("{handle:#010x} is no structured buffer");
            return Err(self.trap(Rule::Descriptor, detail, None));
        };
        let mut results = whole(inst.write);
        for lane in each(self.active) {
            let address = buffer.address + u64::from(id.v[lane]) * u64::from(stride);
            results[0].2.v[lane] = address as u32;
            results[1].2.v[lane] = (address >> 32) as u32;
        }
        self.send(env, inst, results, None, false)
    }

    fn load_attribute(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (format, count): (RegFormat, u8),
        handle: Option<(u8, u8)>,
    ) -> Result<(), Trap> {
        let [vertex, instance] = self.two(env, inst)?;
        let handle = self.handle(env, inst, handle)?;
        let first = self.active.trailing_zeros() as usize;
        let attribute = self.described(descriptor::attribute(env.state, handle), first)?;
        let kind = attribute.format.kind();
        if !texel::agrees(format, kind) {
            let detail = format!("{kind:?} as {format:?}");
            return Err(self.trap(Rule::TexelFormat, detail, None));
        }
        let mut results = whole(inst.write);
        for lane in each(self.active) {
            let index = if attribute.per_instance { &instance } else { &vertex };
            let start = u64::from(index.v[lane]) * u64::from(attribute.stride)
                + u64::from(attribute.offset);
            let mut bytes = [0u8; 16];
            let size = attribute.format.bytes();
            if start + u64::from(size) <= u64::from(attribute.buffer.size) {
                let place = &mut bytes[..size as usize];
                let read = env.state.memory.read(attribute.buffer.address + start, place);
                self.described(read, lane)?;
            }
            // An element outside of its buffer is one of zeros.
            let texel = attribute.format.decode(&bytes);
            let words = texel::pack(texel, format, count);
            for (k, result) in results.iter_mut().enumerate() {
                result.2.v[lane] = words[k];
            }
        }
        self.send(env, inst, results, None, false)
    }

    fn lea_attribute(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        handle: Option<(u8, u8)>,
    ) -> Result<(), Trap> {
        let [vertex, instance] = self.two(env, inst)?;
        let handle = self.handle(env, inst, handle)?;
        let first = self.active.trailing_zeros() as usize;
        let attribute = self.described(descriptor::attribute(env.state, handle), first)?;
        let mut results = whole(inst.write);
        for lane in each(self.active) {
            let index = if attribute.per_instance { &instance } else { &vertex };
            let start = u64::from(index.v[lane]) * u64::from(attribute.stride)
                + u64::from(attribute.offset);
            let inside =
                start + u64::from(attribute.format.bytes()) <= attribute.buffer.size.into();
            let address = if inside { attribute.buffer.address + start } else { 0 };
            let words = [address as u32, (address >> 32) as u32, attribute.pixel];
            for (result, word) in results.iter_mut().zip(words) {
                result.2.v[lane] = word;
            }
        }
        self.send(env, inst, results, None, false)
    }

    /// The texel that the halves of two words name, within the image. isa 1.11.
    fn texel_of(image: &gpucc_emu::image::Image, xy: u32, zw: u32) -> Texel {
        let [x, y, z, w] = [xy & 0xFFFF, xy >> 16, zw & 0xFFFF, zw >> 16];
        let mut texel = Texel { x, sample: w, ..Texel::default() };
        match image.extent().dim {
            Dim::D1 => texel.layer = z,
            Dim::D2 | Dim::Cube => (texel.y, texel.layer) = (y, z),
            Dim::D3 => (texel.y, texel.z) = (y, z),
        }
        texel
    }

    /// Addresses of the texels of the running lanes, 0 outside; the image's format and its pixel word.
    fn texels(&self, state: &State, handle: u32, coords: &[Word; 2]) -> Result<Texels, Trap> {
        let first = self.active.trailing_zeros() as usize;
        let mut at = [0; LANES];
        let found = self.described(descriptor::texture(state, handle), first)?;
        let Some((base, image, pixel)) = found else {
            return Ok((at, None));
        };
        for lane in each(self.active) {
            let texel = Warp::texel_of(image, coords[0].v[lane], coords[1].v[lane]);
            at[lane] = image.offset(texel).map_or(0, |offset| base + offset as u64);
        }
        Ok((at, Some((image.format(), pixel))))
    }

    fn load_texel(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (format, count): (RegFormat, u8),
        handle: Option<(u8, u8)>,
    ) -> Result<(), Trap> {
        let coords = self.two(env, inst)?;
        let handle = self.handle(env, inst, handle)?;
        let (at, image) = self.texels(env.state, handle, &coords)?;
        let effect = match image {
            None => None,
            Some((pixel, _)) => {
                if !texel::agrees(format, pixel.kind()) {
                    let detail = format!("{} as {format:?}", pixel.name());
                    return Err(self.trap(Rule::TexelFormat, detail, None));
                }
                let at = at.map(|address| (address != 0).then_some(address));
                Some(texel_effect(pixel, (format, count), at))
            }
        };
        self.send(env, inst, whole(inst.write), effect, false)
    }

    fn lea_texel(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        handle: Option<(u8, u8)>,
    ) -> Result<(), Trap> {
        let coords = self.two(env, inst)?;
        let handle = self.handle(env, inst, handle)?;
        let (at, image) = self.texels(env.state, handle, &coords)?;
        let pixel = image.map_or(0, |(_, pixel)| pixel);
        let mut results = whole(inst.write);
        for lane in each(self.active) {
            let words = [at[lane] as u32, (at[lane] >> 32) as u32, pixel];
            for (result, word) in results.iter_mut().zip(words) {
                result.2.v[lane] = word;
            }
        }
        self.send(env, inst, results, None, false)
    }

    /// The addresses of a conversion and the format that its second source names; `None` where no lane has one.
    fn converted(
        &mut self,
        env: &Env<'_, '_>,
        inst: &Inst,
        format: RegFormat,
        offset: i32,
    ) -> Result<([Option<u64>; LANES], Option<Format>), Trap> {
        let mut at = self.addresses(env, inst, offset)?;
        let conversion = self.read(env, &inst.sources[1], inst)?;
        self.observed(conversion.any(), conversion.why, "a conversion word")?;
        let mut pixel = None;
        for lane in each(self.active) {
            at[lane] = at[lane].filter(|&address| address != 0);
            if at[lane].is_none() {
                continue;
            }
            let word = conversion.v[lane] & 0x3F_FFFF;
            if pixel.is_some_and(|(seen, _)| seen != word) {
                let detail = "lanes name two formats";
                return Err(self.trap(Rule::Unsupported, detail, Some(lane)));
            }
            let Some(found) = super::pixel::converted(word) else {
                let detail = format!("conversion word {word:#x}");
                return Err(self.trap(Rule::Descriptor, detail, Some(lane)));
            };
            pixel = Some((word, found));
        }
        let found = pixel.map(|(_, found)| found);
        if let Some(found) = found
            && !texel::agrees(format, found.kind())
        {
            let detail = format!("{format:?} as {}", found.name());
            return Err(self.trap(Rule::TexelFormat, detail, None));
        }
        Ok((at, found))
    }

    /// LD_CVT: a texel at an address.
    fn load_converted(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (format, count): (RegFormat, u8),
        offset: i32,
    ) -> Result<(), Trap> {
        let (at, found) = self.converted(env, inst, format, offset)?;
        let effect = found.map(|pixel| texel_effect(pixel, (format, count), at));
        self.send(env, inst, whole(inst.write), effect, false)
    }

    fn store_texel(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (format, count): (RegFormat, u8),
        offset: i32,
    ) -> Result<(), Trap> {
        let (at, found) = self.converted(env, inst, format, offset)?;
        let data = self.staging(inst.read)?;
        let Some(found) = found else {
            return self.send(env, inst, Vec::new(), None, false);
        };
        let mut stored = 0;
        for lane in each(self.active) {
            stored |= u16::from(at[lane].is_some()) << lane;
        }
        let used = found.components().min(count.into()) as u8;
        let registers = super::message::registers(format, used);
        for word in &data[..usize::from(registers)] {
            self.observed(word.any() & stored, word.why, "a stored texel")?;
        }
        let effect = Effect {
            what: What::StoreTexel { pixel: found, format, count, data },
            at,
            bytes: found.bytes() as u8,
        };
        self.send(env, inst, Vec::new(), Some(effect), false)
    }
}

/// Loads a texel at each lane's address.
fn texel_effect(
    pixel: Format,
    (format, count): (RegFormat, u8),
    at: [Option<u64>; LANES],
) -> Effect {
    Effect { what: What::Texel { pixel, format, count }, at, bytes: pixel.bytes() as u8 }
}
