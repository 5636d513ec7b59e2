//! What a sampler does, by arithmetic on texels that are loaded, for lookups that no message of a machine makes: levels from
//! gradients, wrapping, comparing, filtering within and between levels. Samples of integers are not filtered. The program asks
//! for the sampler's words ([`TexQuery::Sampler`]). The steps are those of `gpucc_emu::sampler`, but for the logarithm, which is
//! the machine's, and for references, which are not clamped: a program does not know whether texels are fractions.

use super::Texture;
use gpucc_ir::ssa::{
    Builder, Dim, Imm, Op, TexKind, TexQuery, Type, Value, sampler_modes as modes,
};

/// Places within a texel that a linear filter tells apart: `gpucc_emu::sampler::STEPS`.
const STEPS: f32 = 256.0;

/// What a sampler does on one axis.
struct Axis {
    /// The coordinate, 0 to 1 across the texture, and the offset in texels.
    place: Value,
    offset: f32,
    /// Truths: it repeats or mirrors, it mirrors, it mirrors once, the border is outside.
    periodic: Value,
    mirrors: Value,
    once: Value,
    border: Value,
}

/// A texel's number on one axis, an integer; a truth: no border is there.
type Number = (Value, Value);

/// A lookup that is made of loads.
struct Loads<'t> {
    texture: &'t Texture,
    modes: Value,
    axes: Vec<Axis>,
    layer: Option<Value>,
    component: usize,
}

impl Texture {
    /// The one value of a query of the texture.
    fn ask(&self, b: &mut Builder<'_>, query: TexQuery) -> Value {
        let args = &self.elements[..self.texture_elements];
        let inst =
            b.inst(Op::TexQuery, Imm::Query(self.tex.texture, query), args, &[], &[Type::B32]);
        b.result(inst)
    }

    /// A word of the sampler.
    fn sampler_word(&self, b: &mut Builder<'_>, number: u32) -> Value {
        let sampler = self.tex.sampler.expand().expect("what is sampled has a sampler");
        let mut args = self.elements[self.texture_elements..].to_vec();
        args.push(b.u32(number));
        let imm = Imm::Query(sampler, TexQuery::Sampler);
        let inst = b.inst(Op::TexQuery, imm, &args, &[], &[Type::B32]);
        b.result(inst)
    }

    /// The level of gradients and bias, without the sampler's range.
    fn level(&self, b: &mut Builder<'_>) -> Value {
        let axes = if self.dim == Dim::Cube { 2 } else { self.coords.len() };
        let sizes = self.size(b);
        let given = self.tex.kind == TexKind::SampleGrad;
        let mut lengths = Vec::new();
        for (side, op) in [Op::DdxCoarse, Op::DdyCoarse].into_iter().enumerate() {
            let mut length = None;
            for (axis, size) in sizes.iter().enumerate().take(axes) {
                let slope = match given {
                    true => self.rest[side * self.coords.len() + axis],
                    false => b.op1(op, self.coords[axis]),
                };
                let texels = b.op2(Op::FMul, slope, size[0]);
                let square = b.op2(Op::FMul, texels, texels);
                length = Some(match length {
                    Some(before) => b.op2(Op::FAdd, before, square),
                    None => square,
                });
            }
            lengths.extend(length);
        }
        let longer = b.op2(Op::FMax, lengths[0], lengths[1]);
        let twice = b.op1(Op::FLog2, longer);
        let half = b.f32(0.5);
        let mut level = b.op2(Op::FMul, twice, half);
        if self.tex.kind == TexKind::SampleBias {
            level = b.op2(Op::FAdd, level, self.rest[0]);
        }
        level
    }

    /// Gradients become the level that they give.
    pub(super) fn make_level(&mut self, b: &mut Builder<'_>) {
        let direction = self.coords.clone();
        let cube = self.dim == Dim::Cube && !self.tex.projected;
        if cube {
            self.project(b);
        }
        self.rest = vec![self.level(b)];
        self.tex.kind = TexKind::SampleLevel;
        if cube {
            (self.coords, self.tex.projected) = (direction, false);
            self.scale(b);
        }
    }

    /// See [`super::Form::Arithmetic`].
    pub(super) fn by_arithmetic(&mut self, b: &mut Builder<'_>) -> Vec<Value> {
        let modes = self.sampler_word(b, 0);
        let level = match self.tex.kind {
            TexKind::Gather => None,
            TexKind::SampleLevel => Some(self.rest[0]),
            _ => {
                let (level, bias) = (self.level(b), self.sampler_word(b, 3));
                Some(b.op2(Op::FAdd, level, bias))
            }
        };
        let layer = self.layer.map(|layer| {
            let (layers, one, zero) = (self.ask(b, TexQuery::Layers), b.u32(1), b.u32(0));
            let last = b.op2(Op::ISub, layers, one);
            let from_first = b.op2(Op::SMax, layer, zero);
            b.op2(Op::SMin, from_first, last)
        });
        let axes = (0..self.dim.coords()).map(|axis| self.axis(b, modes, axis)).collect();
        let component = if self.tex.compare { 0 } else { usize::from(self.tex.component & 3) };
        let loads = Loads { texture: self, modes, axes, layer, component };
        match level {
            None => loads.gather(b),
            Some(level) if self.tex.compare => vec![loads.mixed(b, level)],
            Some(level) => loads.nearest(b, level),
        }
    }

    fn axis(&self, b: &mut Builder<'_>, modes: Value, axis: usize) -> Axis {
        let first = modes::WRAP + modes::WRAP_BITS * axis as u32;
        let (border, three) = (is_set(b, modes, modes::BORDER << first), b.u32(3 << first));
        let own = b.op2(Op::And, modes, three);
        let mut is = |mode: u32| {
            let mode = b.u32(mode << first);
            b.op2(Op::IEq, own, mode)
        };
        let [repeats, mirrors, once] =
            [modes::REPEATS, modes::MIRRORS, modes::MIRRORS_ONCE].map(&mut is);
        let periodic = b.op2(Op::Or, repeats, mirrors);
        let offset = f32::from(self.tex.offset[axis]);
        Axis { place: self.coords[axis], offset, periodic, mirrors, once, border }
    }
}

/// Whether one of some bits is set.
fn is_set(b: &mut Builder<'_>, word: Value, bits: u32) -> Value {
    let (mask, zero) = (b.u32(bits), b.u32(0));
    let set = b.op2(Op::And, word, mask);
    b.op2(Op::INe, set, zero)
}

fn between(b: &mut Builder<'_>, value: Value, low: Value, high: Value) -> Value {
    let above = b.op2(Op::FMax, value, low);
    b.op2(Op::FMin, above, high)
}

/// `first` where the share is 0, else that much of the way to `second`.
fn mix(b: &mut Builder<'_>, first: Value, second: Value, share: Value) -> Value {
    let way = b.op2(Op::FSub, second, first);
    let part = b.op2(Op::FMul, way, share);
    b.op2(Op::FAdd, first, part)
}

impl Axis {
    /// The place in texels of a level that has so many.
    fn texels(&self, b: &mut Builder<'_>, count: Value) -> Value {
        let (texels, offset) = (b.op2(Op::FMul, self.place, count), b.f32(self.offset));
        b.op2(Op::FAdd, texels, offset)
    }

    /// The texel of a number, both a float.
    fn wrapped(&self, b: &mut Builder<'_>, number: Value, count: Value) -> Number {
        let (zero, one) = (b.f32(0.0), b.f32(1.0));
        let last = b.op2(Op::FSub, count, one);
        // Within a period; the reciprocal errs, so the quotient may be off by one.
        let twice = b.op2(Op::FAdd, count, count);
        let period = b.select(self.mirrors, twice, count);
        let reciprocal = b.op1(Op::FRcp, period);
        let periods = b.op2(Op::FMul, number, reciprocal);
        let periods = b.op1(Op::FFloor, periods);
        let before = b.op2(Op::FMul, periods, period);
        let mut within = b.op2(Op::FSub, number, before);
        let (below, more) = (b.op2(Op::FLt, within, zero), b.op2(Op::FAdd, within, period));
        within = b.select(below, more, within);
        let (above, less) = (b.op2(Op::FLe, period, within), b.op2(Op::FSub, within, period));
        within = b.select(above, less, within);
        // The second half of a mirrored period goes back.
        let (end, behind) = (b.op2(Op::FSub, period, one), b.op2(Op::FLe, count, within));
        let back = b.op2(Op::FSub, end, within);
        within = b.select(behind, back, within);
        // Mirrored once: -1 is 0.
        let (negative, flipped) = (b.op2(Op::FLt, number, zero), b.op1(Op::FNeg, number));
        let flipped = b.op2(Op::FSub, flipped, one);
        let flips = b.op2(Op::And, negative, self.once);
        let alone = b.select(flips, flipped, number);
        let chosen = b.select(self.periodic, within, alone);
        let inside = between(b, chosen, zero, last);
        let (is_inside, no_border) = (b.op2(Op::FEq, inside, chosen), b.op1(Op::Not, self.border));
        let counts = b.op2(Op::Or, is_inside, no_border);
        (b.convert(Op::FToS, Type::B32, inside), counts)
    }
}

impl Loads<'_> {
    /// A texel's component, compared where there is a reference.
    fn tap(&self, b: &mut Builder<'_>, numbers: &[Number], level: Value) -> Value {
        let texel = self.components(b, numbers, level, self.component..self.component + 1)[0];
        match self.texture.reference {
            Some(reference) => self.compared(b, reference, texel),
            None => texel,
        }
    }

    /// Some components of a texel, or of the border.
    fn components(
        &self,
        b: &mut Builder<'_>,
        numbers: &[Number],
        level: Value,
        wanted: std::ops::Range<usize>,
    ) -> Vec<Value> {
        let texture = self.texture;
        let mut args = texture.elements[..texture.texture_elements].to_vec();
        args.extend(numbers.iter().map(|&(number, _)| number));
        args.extend(self.layer);
        args.push(level);
        let mut tex = texture.tex;
        (tex.kind, tex.sampler, tex.compare) = (TexKind::Load, None.into(), false);
        (tex.component, tex.offset) = (0, [0; 3]);
        let inst = b.inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
        let texel = b.func.insts[inst].results.clone();
        let inside = numbers.iter().map(|&(_, inside)| inside);
        let inside = inside.reduce(|all, one| b.op2(Op::And, all, one));
        let component = |component: usize| match inside {
            Some(inside) => {
                let border = texture.sampler_word(b, 4 + component as u32);
                b.select(inside, texel[component], border)
            }
            None => texel[component],
        };
        wanted.map(component).collect()
    }

    /// 1 where the sampler's comparison holds, else 0.
    fn compared(&self, b: &mut Builder<'_>, reference: Value, texel: Value) -> Value {
        let bit = |b: &mut Builder<'_>, number: u32| b.u32(modes::LESS << number);
        let mut held = bit(b, 3);
        for (number, op, left, right) in [
            (2, Op::FLt, texel, reference),
            (1, Op::FEq, reference, texel),
            (0, Op::FLt, reference, texel),
        ] {
            let (holds, own) = (b.op2(op, left, right), bit(b, number));
            held = b.select(holds, own, held);
        }
        let (asked, zero) = (b.op2(Op::And, held, self.modes), b.u32(0));
        let holds = b.op2(Op::INe, asked, zero);
        let (yes, no) = (b.f32(1.0), b.f32(0.0));
        b.select(holds, yes, no)
    }

    /// Texels of a level on each axis, as floats.
    fn sizes(&self, b: &mut Builder<'_>, level: Value) -> Vec<Value> {
        let texture = self.texture;
        let mut args = texture.elements[..texture.texture_elements].to_vec();
        args.push(level);
        let imm = Imm::Query(texture.tex.texture, TexQuery::Size);
        let inst = b.inst(Op::TexQuery, imm, &args, &[], &[Type::B32; 3][..self.axes.len()]);
        let sizes = b.func.insts[inst].results.clone();
        sizes.into_iter().map(|size| b.convert(Op::UToF, Type::B32, size)).collect()
    }

    /// The two texels around a place on each axis from their first numbers.
    fn pairs(&self, b: &mut Builder<'_>, firsts: &[Value], sizes: &[Value]) -> Vec<[Number; 2]> {
        let one = b.f32(1.0);
        let mut pairs = Vec::new();
        for ((axis, &first), &size) in self.axes.iter().zip(firsts).zip(sizes) {
            let second = b.op2(Op::FAdd, first, one);
            pairs.push([first, second].map(|number| axis.wrapped(b, number, size)));
        }
        pairs
    }

    /// Four texels of level 0: (0,1) (1,1) (1,0) (0,0).
    fn gather(&self, b: &mut Builder<'_>) -> Vec<Value> {
        let (level, half) = (b.u32(0), b.f32(0.5));
        let sizes = self.sizes(b, level);
        let mut firsts = Vec::new();
        for (axis, &size) in self.axes.iter().zip(&sizes) {
            let texels = axis.texels(b, size);
            let shifted = b.op2(Op::FSub, texels, half);
            firsts.push(b.op1(Op::FFloor, shifted));
        }
        let pairs = self.pairs(b, &firsts, &sizes);
        let corners = [[0, 1], [1, 1], [1, 0], [0, 0]];
        corners
            .into_iter()
            .map(|corner| {
                let numbers: Vec<Number> =
                    pairs.iter().zip(corner).map(|(pair, which)| pair[which]).collect();
                self.tap(b, &numbers, level)
            })
            .collect()
    }

    /// The texels around the place in one level, an integer; `linear`: they are mixed.
    fn of_level(&self, b: &mut Builder<'_>, level: Value, linear: Value) -> Value {
        let sizes = self.sizes(b, level);
        let (half, steps, step) = (b.f32(0.5), b.f32(STEPS), b.f32(1.0 / STEPS));
        let (mut firsts, mut shares) = (Vec::new(), Vec::new());
        for (axis, &size) in self.axes.iter().zip(&sizes) {
            let texels = axis.texels(b, size);
            let shifted = b.op2(Op::FSub, texels, half);
            let fine = b.op2(Op::FMul, shifted, steps);
            let fine = b.op2(Op::FAdd, fine, half);
            let fine = b.op1(Op::FFloor, fine);
            let snapped = b.op2(Op::FMul, fine, step);
            let nearest = b.op1(Op::FFloor, texels);
            let place = b.select(linear, snapped, nearest);
            let first = b.op1(Op::FFloor, place);
            shares.push(b.op2(Op::FSub, place, first));
            firsts.push(first);
        }
        let pairs = self.pairs(b, &firsts, &sizes);
        let [x, rest @ ..] = &pairs[..] else {
            return half;
        };
        let row = |b: &mut Builder<'_>, y: Option<Number>| {
            let numbers = |x: Number| -> Vec<Number> { [x].into_iter().chain(y).collect() };
            let [first, second] = x.map(|x| self.tap(b, &numbers(x), level));
            mix(b, first, second, shares[0])
        };
        match rest.first() {
            Some(&[above, below]) => {
                let (first, second) = (row(b, Some(above)), row(b, Some(below)));
                mix(b, first, second, shares[1])
            }
            None => row(b, None),
        }
    }

    /// All components of the nearest texel, of the level that the sampler takes for a level.
    fn nearest(&self, b: &mut Builder<'_>, level: Value) -> Vec<Value> {
        let (_, _, level) = self.taken(b, level);
        let sizes = self.sizes(b, level);
        let mut numbers = Vec::new();
        for (axis, &size) in self.axes.iter().zip(&sizes) {
            let texels = axis.texels(b, size);
            let number = b.op1(Op::FFloor, texels);
            numbers.push(axis.wrapped(b, number, size));
        }
        self.components(b, &numbers, level, 0..4)
    }

    /// What a sampler takes for a level: whether texels are mixed, the share of the next level, and the level, an integer. Of
    /// integers it takes the nearest level, whatever the sampler mixes.
    fn taken(&self, b: &mut Builder<'_>, level: Value) -> (Value, Value, Value) {
        let texture = self.texture;
        let (zero, one, half) = (b.f32(0.0), b.f32(1.0), b.f32(0.5));
        let (least, most) = (texture.sampler_word(b, 1), texture.sampler_word(b, 2));
        let level = between(b, level, least, most);
        let magnified = b.op2(Op::FLe, level, zero);
        let (mag, min) =
            (is_set(b, self.modes, modes::MAG_LINEAR), is_set(b, self.modes, modes::MIN_LINEAR));
        let linear = b.select(magnified, mag, min);
        let levels = texture.ask(b, TexQuery::Levels);
        let levels = b.convert(Op::UToF, Type::B32, levels);
        let top = b.op2(Op::FSub, levels, one);
        let level = between(b, level, zero, top);
        let (mips, none) =
            (is_set(b, self.modes, modes::MIP_LINEAR), is_set(b, self.modes, modes::MIP_NONE));
        let middle = b.op2(Op::FAdd, level, half);
        let sum = if texture.tex.compare { b.select(mips, level, middle) } else { middle };
        let whole = b.op1(Op::FFloor, sum);
        let whole = b.op2(Op::FMin, whole, top);
        let whole = b.select(none, zero, whole);
        let share = b.op2(Op::FSub, level, whole);
        let share = b.select(mips, share, zero);
        (linear, share, b.convert(Op::FToS, Type::B32, whole))
    }

    /// The texels around the place, of the levels that the sampler takes for a level.
    fn mixed(&self, b: &mut Builder<'_>, level: Value) -> Value {
        let (linear, share, number) = self.taken(b, level);
        let zero = b.f32(0.0);
        // One turn a level: what was mixed before, the level, and whether it is the second one's.
        let (nothing, first) = (b.f32(0.0), b.bool(false));
        let all = b.loop_(
            &[nothing, number, first],
            &[Type::B32, Type::B1],
            &[Type::B32],
            |b, params| {
                let [before, level, again] = [params[0], params[1], params[2]];
                let own = self.of_level(b, level, linear);
                let mixed = mix(b, before, own, share);
                let value = b.select(again, mixed, own);
                let once = b.op2(Op::FEq, share, zero);
                let done = b.op2(Op::Or, again, once);
                b.end(Op::Continue, &[value, done]);
            },
            |b, params| {
                let (one, again) = (b.u32(1), b.bool(true));
                let next = b.op2(Op::IAdd, number, one);
                let [value, done] = [params[0], params[1]];
                b.end(Op::BreakIf, &[done, value, value, next, again]);
            },
        );
        all[0]
    }
}
