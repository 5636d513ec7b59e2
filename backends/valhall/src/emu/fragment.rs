//! Pixels: varyings, discards, and what goes to depth, coverage and colour. isa 1.10, 1.11.

use super::effect::{Results, whole};
use super::float::compare;
use super::inst::{Cmp, Inst, Op, Place, RegFormat, Sampled, Source, Update, Varying, VaryingFrom};
use super::rule::{Rule, Trap};
use super::texel;
use super::value::{LANES, Mask, Why, Word, each};
use super::warp::{Env, Warp};
use gpucc_emu::format::Kind;
use gpucc_ir::ssa::numerics::f16_to_f64;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// Modes of a blend descriptor: a shader of the driver's, and nothing.
const SHADER: u64 = 0;
const OFF: u64 = 3;

/// One 16-byte place of the varying record, as the rasteriser has it for each lane.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its components: f32 bits or raw words, or f16 bits where `half`.
    pub words: [Word; 4],
    /// Holds f16.
    pub half: bool,
    /// Not interpolated.
    pub flat: bool,
    /// Where it was taken.
    pub sampled: Sampled,
}

/// What a warp of quads knows beside its registers.
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    /// Lanes that are there for their neighbours alone.
    pub helpers: Mask,
    /// Those of them that the program's state leaves out.
    pub absent: Mask,
    /// Varyings by byte offset within the record.
    pub records: BTreeMap<u32, Vec<Record>>,
    /// Depth and 1 / w.
    pub depth_w: Option<[Word; 2]>,
    /// Place within a point.
    pub point: Option<[Word; 2]>,
    /// Components of each colour target that must be defined.
    pub needed: [u8; 8],
    /// The second source of blending is read.
    pub dual: bool,
    /// Lanes that DISCARD ended.
    pub killed: Mask,
    /// The coverage last handed on, by lane.
    pub coverage: [Option<u32>; LANES],
    /// Lanes after ATEST.
    pub tested: Mask,
    /// The alpha that it tested, by lane.
    pub alpha: [u32; LANES],
    /// What names the pixel's own place to the interpolator: r61 at the start.
    pub place: Option<Word>,
    /// Depth that was emitted.
    pub depth: [Option<u32>; LANES],
    /// Stencil that was emitted.
    pub stencil: [Option<u32>; LANES],
    /// By target and source: the colour and the lanes that wrote it.
    pub colors: BTreeMap<(u8, u8), ([Word; 4], Mask)>,
    /// By lane: where the position that the interpolator keeps was taken.
    pub kept: [Option<Sampled>; LANES],
}

impl Warp {
    pub(super) fn fragment_mut(&mut self) -> &mut Fragment {
        self.fragment
            .as_mut()
            .expect("fragment instructions run in fragment programs alone: see program::check")
    }

    /// DISCARD.f32: lanes where the comparison holds end.
    pub fn discard(&mut self, env: &Env<'_, '_>, inst: &Inst, cmp: Cmp) -> Result<(), Trap> {
        let a = self.float_source(env, &inst.sources[0], inst)?;
        let b = self.float_source(env, &inst.sources[1], inst)?;
        self.kill_last(inst)?;
        self.observed(a.any(), a.why, "what DISCARD compares")?;
        self.observed(b.any(), b.why, "what DISCARD compares")?;
        let mut lanes = 0;
        for lane in each(self.active) {
            let [a, b] = [&a, &b].map(|w| f64::from(f32::from_bits(w.v[lane])));
            if compare(cmp, a, b) {
                lanes |= 1 << lane;
            }
        }
        self.fragment_mut().killed |= lanes;
        self.kill(lanes);
        Ok(())
    }

    fn float_source(
        &mut self,
        env: &Env<'_, '_>,
        source: &Source,
        inst: &Inst,
    ) -> Result<Word, Trap> {
        let mut word = self.read(env, source, inst)?;
        for v in &mut word.v {
            if source.abs {
                *v &= 0x7FFF_FFFF;
            }
            if source.neg {
                *v ^= 0x8000_0000;
            }
        }
        Ok(word)
    }

    /// LD_VAR*: interpolated or flat components.
    pub fn load_varying(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (format, count): (RegFormat, u8),
        how: Varying,
        from: VaryingFrom,
    ) -> Result<(), Trap> {
        let mut sources = Vec::new();
        for source in &inst.sources {
            sources.push(self.read(env, source, inst)?);
        }
        let offsets = match from {
            VaryingFrom::Offset(offset) => Word::splat(offset.into()),
            VaryingFrom::Source => sources[1],
        };
        if !how.flat {
            if how.sampled == Sampled::Explicit {
                let detail = format!("{} at an explicit offset", inst.name);
                return Err(self.trap(Rule::Unsupported, detail, None));
            }
            self.own_place(&sources[0], how.sampled)?;
        }
        let words = self.components_of(inst, &offsets, count, how)?;
        let mut results = whole(inst.write);
        let undefined = words.iter().find(|word| word.any() != 0).map(|word| word.why);
        for lane in each(self.active) {
            let texel = convert(words.map(|word| word.v[lane]), format, count, how);
            for (result, word) in results.iter_mut().zip(texel) {
                result.2.v[lane] = word;
            }
        }
        if let Some(why) = undefined {
            let lanes = words.iter().fold(0, |mask, word| mask | word.any());
            for result in &mut results {
                result.2 = result.2.spoiled(lanes & self.active, why);
            }
        }
        self.send(env, inst, results, None, how.update != Update::None)
    }

    /// Components of the varyings at these byte offsets, which are one for the warp, as the record has them; updates what is
    /// kept.
    pub(super) fn components_of(
        &mut self,
        inst: &Inst,
        offsets: &Word,
        count: u8,
        how: Varying,
    ) -> Result<[Word; 4], Trap> {
        self.one_handle(offsets, inst)?;
        self.interpolate(how.update, how.sampled)?;
        let mut words = [Word::splat(0); 4];
        for lane in each(self.active) {
            let offset = offsets.v[lane];
            let fragment = self.fragment.as_ref().expect("see fragment_mut");
            let kept = fragment.kept[lane];
            let at = if how.update == Update::Retrieve { kept } else { Some(how.sampled) };
            let records = fragment.records.get(&(offset & !15)).map_or(&[][..], Vec::as_slice);
            let own = records.iter().find(|record| Some(record.sampled) == at);
            let Some(record) = own.or(records.first()) else {
                let detail = format!("no varying stands at byte {offset}");
                return Err(self.trap(Rule::Interpolation, detail, Some(lane)));
            };
            let wrong = |what: &str| {
                let detail = format!("the varying at byte {offset} {what}");
                self.trap(Rule::Interpolation, detail, Some(lane))
            };
            if record.flat != how.flat {
                return Err(wrong(if record.flat { "is flat" } else { "is not flat" }));
            }
            if record.half != how.half {
                return Err(wrong("has components of the other width"));
            }
            if !how.flat {
                match at {
                    None => return Err(wrong("is read where no position is kept")),
                    Some(at) if at != record.sampled => {
                        return Err(wrong(&format!("is taken at {:?}", record.sampled)));
                    }
                    Some(_) => {}
                }
            }
            let size = if how.half { 2 } else { 4 };
            let first = (offset & 15) / size;
            if !offset.is_multiple_of(size) || first + u32::from(count) > 4 {
                return Err(wrong("has no such components"));
            }
            for (k, word) in words.iter_mut().enumerate().take(count.into()) {
                super::warp::merge(word, &record.words[first as usize + k], 1 << lane, 15);
            }
        }
        Ok(words)
    }

    /// Refuses another place than the pixel's own where an instruction samples at the centre or the centroid.
    fn own_place(&self, word: &Word, sampled: Sampled) -> Result<(), Trap> {
        self.observed(word.any(), word.why, "a position to interpolate at")?;
        let own = self.fragment.as_ref().and_then(|fragment| fragment.place);
        let own = own.filter(|_| matches!(sampled, Sampled::Center | Sampled::Centroid));
        let other = |lane: &usize| own.is_some_and(|own| own.v[*lane] != word.v[*lane]);
        match each(self.active).find(other) {
            Some(lane) => {
                let detail = format!("the position {:#x} is not that of r61", word.v[lane]);
                Err(self.trap(Rule::Interpolation, detail, Some(lane)))
            }
            None => Ok(()),
        }
    }

    /// What an interpolation does to the position that is kept. isa 1.8.
    fn interpolate(&mut self, update: Update, sampled: Sampled) -> Result<(), Trap> {
        let lanes = self.active;
        if matches!(update, Update::Store | Update::Clobber)
            && let Some(message) = self.messages.iter().find(|m| m.varying && m.lanes & lanes != 0)
        {
            let detail = format!("a varying in slot {} is on its way", message.slot);
            return Err(self.trap(Rule::VaryingOrder, detail, None));
        }
        let fragment = self.fragment_mut();
        for lane in each(lanes) {
            match update {
                Update::Store => fragment.kept[lane] = Some(sampled),
                Update::Clobber => fragment.kept[lane] = None,
                Update::Retrieve | Update::None => {}
            }
        }
        Ok(())
    }

    /// LD_VAR_SPECIAL.
    pub fn load_special_varying(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (what, count): (u8, u8),
        sampled: Sampled,
    ) -> Result<(), Trap> {
        let at = self.read(env, &inst.sources[0], inst)?;
        self.own_place(&at, sampled)?;
        let fragment = self.fragment.as_ref();
        let point = fragment.and_then(|f| f.point);
        let depth_w = fragment.and_then(|f| f.depth_w);
        // isa 1.11: 0 the place in a point (two words), 2 1 / w, 3 depth.
        let values: SmallVec<[Word; 2]> = match (what, count, point, depth_w) {
            (0, 1 | 2, Some(point), _) => SmallVec::from(point),
            (2, 1, _, Some([_, w])) => smallvec![w],
            (3, 1, _, Some([z, _])) => smallvec![z],
            _ => return Err(self.missing(inst)),
        };
        let clobbers = what != 3;
        if clobbers {
            self.interpolate(Update::Clobber, sampled)?;
        }
        let mut results = whole(inst.write);
        for (result, value) in results.iter_mut().zip(values) {
            result.2 = value;
        }
        self.send(env, inst, results, None, clobbers)
    }

    /// ATEST and ZS_EMIT: coverage goes in and comes out.
    pub fn coverage_test(&mut self, env: &mut Env<'_, '_>, inst: &Inst) -> Result<(), Trap> {
        let lanes = self.active;
        self.fence(inst, 0)?;
        let source = match inst.op {
            Op::Atest => &inst.sources[0],
            _ => &inst.sources[2],
        };
        if inst.op == Op::Atest && inst.sources[2].place != Place::Special(0, 5, 0) {
            return Err(self.trap(Rule::AtestDatum, inst.name, None));
        }
        let out = inst.write.expect("coverage comes out");
        let uniform = inst.op == Op::Atest && !matches!(source.place, Place::Reg(_));
        if out.reg != 60 || source.place != Place::Reg(60) && !uniform {
            return Err(self.trap(Rule::Coverage, inst.name, None));
        }
        let mut words = Vec::new();
        for source in &inst.sources {
            words.push(self.read(env, source, inst)?);
        }
        let coverage = match inst.op {
            Op::Atest => {
                // What is not covered has no alpha to test.
                let covered = self.covered(&words[0]);
                self.observed(words[1].any() & covered, words[1].why, "the alpha of ATEST")?;
                let fragment = self.fragment_mut();
                fragment.tested |= lanes;
                for lane in each(lanes) {
                    fragment.alpha[lane] = words[1].v[lane];
                }
                words[0]
            }
            Op::ZsEmit { z, stencil } => {
                if lanes & !self.fragment_mut().tested != 0 {
                    return Err(self.trap(Rule::Atest, inst.name, None));
                }
                for (on, word, name) in [(z, words[0], "depth"), (stencil, words[1], "stencil")] {
                    if !on {
                        continue;
                    }
                    let covered = self.covered(&words[2]);
                    self.observed(word.any() & covered, word.why, name)?;
                    let fragment = self.fragment_mut();
                    let place =
                        if name == "depth" { &mut fragment.depth } else { &mut fragment.stencil };
                    for lane in each(lanes) {
                        place[lane] = Some(word.v[lane]);
                    }
                }
                words[2]
            }
            _ => unreachable!("called for these two"),
        };
        self.observed(coverage.any(), coverage.why, "coverage")?;
        let fragment = self.fragment_mut();
        for lane in each(lanes) {
            fragment.coverage[lane] = Some(coverage.v[lane]);
        }
        let mut results: Results = whole(inst.write);
        results[0].2 = coverage;
        self.send(env, inst, results, None, false)
    }

    /// What touches the tile is issued behind a whole wait of its own: for slot 6 (`kind` 0) or for slot 7 too (1), with no
    /// message on its way. Errata 101, 102, 104.
    fn fence(&mut self, inst: &Inst, kind: usize) -> Result<(), Trap> {
        let lanes = self.active;
        let on_the_way = self.messages.iter().any(|m| m.lanes & lanes != 0);
        if lanes & !self.tile[kind] != 0 || on_the_way {
            return Err(self.trap(Rule::TileWait, inst.name, None));
        }
        for waited in &mut self.tile {
            *waited &= !lanes;
        }
        Ok(())
    }

    fn covered(&self, coverage: &Word) -> Mask {
        let mut covered = 0;
        for lane in each(self.active) {
            if coverage.v[lane] != 0 {
                covered |= 1 << lane;
            }
        }
        covered
    }

    /// BLEND: gives a colour to a target. The instructions that it jumps over, where it does.
    pub fn blend(
        &mut self,
        env: &mut Env<'_, '_>,
        inst: &Inst,
        (format, count): (RegFormat, u8),
        target: i32,
    ) -> Result<Option<i32>, Trap> {
        let lanes = self.active;
        self.fence(inst, 1)?;
        if lanes & !self.fragment_mut().tested != 0 {
            return Err(self.trap(Rule::Atest, inst.name, None));
        }
        let Place::Special(0, number @ 8..=15, 0) = inst.sources[0].place else {
            let detail = "the descriptor is none of the render targets";
            return Err(self.trap(Rule::BlendTarget, detail, None));
        };
        let slot = number - 8;
        let descriptor = env.state.blend[usize::from(slot)];
        let mode = descriptor & 3;
        if descriptor == 0 || mode == SHADER {
            let detail = format!("target {slot} has descriptor {descriptor:#x}");
            let rule = if descriptor == 0 { Rule::BlendTarget } else { Rule::Unsupported };
            return Err(self.trap(rule, detail, None));
        }
        if mode != OFF {
            let (components, word) = ((descriptor >> 3 & 3) + 1, (descriptor >> 32) as u32);
            let kind = super::pixel::blended(word);
            let fits = match format {
                RegFormat::S32 | RegFormat::S16 => kind == Some(Kind::Sint),
                RegFormat::U32 | RegFormat::U16 => kind == Some(Kind::Uint),
                RegFormat::F32 | RegFormat::F16 | RegFormat::Auto => {
                    kind.is_some_and(|kind| !kind.is_integer())
                }
            };
            if components != 4 || !fits {
                let detail = format!(
                    "target {slot} converts {components} components of {format:?} by {word:#x}"
                );
                return Err(self.trap(Rule::Conversion, detail, None));
            }
        }
        if inst.sources[1].place != Place::Reg(60) {
            return Err(self.trap(Rule::Coverage, inst.name, None));
        }
        if inst.read.is_none_or(|read| read.reg != 0) {
            let detail = "a colour that does not stand in r0";
            return Err(self.trap(Rule::BlendTarget, detail, None));
        }
        let coverage = self.read(env, &inst.sources[1], inst)?;
        self.observed(coverage.any(), coverage.why, "coverage")?;
        let covered = self.covered(&coverage);
        let colour = self.staging(inst.read)?;
        let mut sources = vec![self.components(&colour, format, count)];
        if self.fragment_mut().dual {
            let second: Result<Vec<Word>, Trap> = (4..4 + colour.len() as u8)
                .map(|reg| self.fetch_register(reg, 15, lanes))
                .collect();
            sources.push(self.components(&second?, format, count));
        }
        let target_number = (descriptor >> 16 & 15) as u8;
        let needed = self.fragment_mut().needed[usize::from(target_number & 7)];
        if target_number == 0 && matches!(format, RegFormat::F32 | RegFormat::F16) && needed > 0 {
            self.same_alpha(&sources[0][3], needed, covered)?;
        }
        for (n, words) in sources.into_iter().enumerate() {
            for word in &words[..usize::from(needed.min(4))] {
                self.observed(word.any() & covered, word.why, "a colour")?;
            }
            let fragment = self.fragment_mut();
            let place =
                fragment.colors.entry((target_number, n as u8)).or_insert(([Word::splat(0); 4], 0));
            if place.1 & lanes != 0 {
                let detail = format!("target {target_number} is blended twice");
                return Err(self.trap(Rule::BlendTarget, detail, None));
            }
            place.1 |= lanes;
            for (k, word) in words.iter().enumerate() {
                super::warp::merge(&mut place.0[k], word, lanes, 15);
            }
        }
        let fragment = self.fragment_mut();
        for lane in each(lanes) {
            fragment.coverage[lane] = Some(coverage.v[lane]);
        }
        self.send(env, inst, Vec::new(), None, false)?;
        if inst.flow.end {
            return Ok(None);
        }
        // isa 1.10: colour, second source and link are a blend shader's own.
        let lost = Word::undefined(Why::BlendShader);
        for reg in (0..16).chain([48]) {
            super::warp::merge(&mut self.regs[reg].word, &lost, lanes, 15);
        }
        Ok(Some(target))
    }

    /// Refuses a colour whose alpha is not what ATEST tested.
    fn same_alpha(&self, blended: &Word, needed: u8, covered: Mask) -> Result<(), Trap> {
        let fragment = self.fragment.as_ref().expect("see fragment_mut");
        for lane in each(covered & !blended.any()) {
            let tested = f32::from_bits(fragment.alpha[lane]);
            let alpha = if needed < 4 { 1.0 } else { f32::from_bits(blended.v[lane]) };
            if tested.to_bits() != alpha.to_bits() && !(tested.is_nan() && alpha.is_nan()) {
                let detail = format!("ATEST tested {tested}, BLEND takes {alpha}");
                return Err(self.trap(Rule::Alpha, detail, Some(lane)));
            }
        }
        Ok(())
    }

    /// Four components of staging registers; halves as f32 or extended integers.
    fn components(&self, words: &[Word], format: RegFormat, count: u8) -> [Word; 4] {
        let mut out = [Word::splat(0); 4];
        for (k, place) in out.iter_mut().enumerate().take(count.into()) {
            if !format.is_half() {
                *place = words[k];
                continue;
            }
            let word = words[k / 2];
            let poison = word.poison[2 * (k % 2)] | word.poison[2 * (k % 2) + 1];
            *place = Word::from_fn(|lane| {
                let lanes: Vec<u32> = words.iter().map(|w| w.v[lane]).collect();
                texel::unpack(&lanes, format, count)[k]
            })
            .spoiled(poison, word.why);
        }
        out
    }
}

/// Components of a record as registers hold them.
fn convert(texel: [u32; 4], format: RegFormat, count: u8, how: Varying) -> [u32; 4] {
    if how.flat || how.half && format == RegFormat::F16 {
        // As they are.
        let raw = if format == RegFormat::F16 { RegFormat::U16 } else { RegFormat::U32 };
        return texel::pack(texel, raw, count);
    }
    let wide = texel.map(|v| if how.half { (f16_to_f64(v as u16) as f32).to_bits() } else { v });
    texel::pack(wide, format, count)
}
