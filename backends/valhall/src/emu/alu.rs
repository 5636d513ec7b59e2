//! Arithmetic: what each instruction of the execution engine leaves in its destination.

use super::float::{add_odd, clamp16, clamp32, compare, extreme, fma_odd, to_f16, to_f32, whole};
use super::inst::{Cmp, Combine, Inst, Op, Round, Source, Truth, Ty};
use super::integer;
use super::rule::{Rule, Trap};
use super::value::{ALL, LANES, Mask, Why, Wide, Word, each, join};
use super::warp::{Env, Warp, half_to_float};
use gpucc_ir::ssa::numerics::{Perturbation, f16_to_f64, tabled};

/// Sign modifiers of a float of 32 bits.
fn signs32(word: &mut Word, source: &Source) {
    for v in &mut word.v {
        if source.abs {
            *v &= 0x7FFF_FFFF;
        }
        if source.neg {
            *v ^= 0x8000_0000;
        }
    }
}

/// Sign modifiers of both halves.
fn signs16(word: &mut Word, source: &Source) {
    for v in &mut word.v {
        if source.abs {
            *v &= 0x7FFF_7FFF;
        }
        if source.neg {
            *v ^= 0x8000_8000;
        }
    }
}

fn f(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// By lane and half.
fn by_half(f: impl Fn(usize, usize) -> u16) -> Word {
    Word::from_fn(|lane| join([f(lane, 0), f(lane, 1)]))
}

impl Warp {
    /// Executes an arithmetic instruction.
    pub fn alu(&mut self, env: &mut Env<'_, '_>, inst: &Inst) -> Result<(), Trap> {
        if let Some(wide) = self.wide(env, inst)? {
            return self.retire_wide(env, inst, wide);
        }
        let mut words = Vec::with_capacity(4);
        for source in &inst.sources {
            let mut word = self.read(env, source, inst)?;
            let halves = matches!(inst.ty, Ty::V2F16 | Ty::F16)
                || matches!(inst.op, Op::ToInt { half: true, .. } | Op::HalfToFloat);
            if source.neg || source.abs {
                if halves {
                    signs16(&mut word, source);
                } else {
                    signs32(&mut word, source);
                }
            }
            words.push(word);
        }
        if matches!(inst.op, Op::Clper { .. } | Op::Wmask { .. }) {
            self.neighbours(inst)?;
        }
        let result = self.compute(env.state.errors.as_ref(), inst, &words)?;
        self.kill_last(inst)?;
        let dest = inst.dest.expect("arithmetic has a destination");
        let mut bytes = dest.bytes;
        let mut result = result;
        if inst.ty == Ty::F16 {
            // One result: where all of the register is written its other half is left open.
            if bytes == 15 {
                result.poison[2] = ALL;
                result.poison[3] = ALL;
                result.why = Why::Open;
            }
            bytes = dest.bytes;
        }
        self.trace_value(env, &format!("r{}", dest.reg), &result);
        self.write(dest.reg, bytes, &result)
    }

    fn retire_wide(&mut self, env: &mut Env<'_, '_>, inst: &Inst, wide: Wide) -> Result<(), Trap> {
        self.kill_last(inst)?;
        let dest = inst.dest.expect("arithmetic has a destination");
        self.trace_value(env, &format!("r{}", dest.reg), &wide.low);
        self.trace_value(env, &format!("r{}", dest.reg + 1), &wide.high);
        self.write(dest.reg, 15, &wide.low)?;
        self.write(dest.reg + 1, 15, &wide.high)
    }

    fn compute(
        &self,
        errors: Option<&Perturbation>,
        inst: &Inst,
        s: &[Word],
    ) -> Result<Word, Trap> {
        let unit = tabled::Unit(errors);
        let a = |lane: usize| s[0].v[lane];
        let b = |lane: usize| s[1].v[lane];
        let c = |lane: usize| s[2].v[lane];
        let all: Vec<&Word> = s.iter().collect();
        let whole_of = |word: Word| word.poisoned_by_whole(&all);
        let halves_of = |word: Word| word.poisoned_by_halves(&all);
        let h = |k: usize, lane: usize, half: usize| f16_to_f64(s[k].halves(lane)[half]);
        let half = matches!(inst.ty, Ty::V2F16 | Ty::F16);
        Ok(match inst.op {
            Op::FAdd { round, clamp } if half => halves_of(by_half(|l, k| {
                clamp16(to_f16(add_odd(h(0, l, k), h(1, l, k), round), round), clamp)
            })),
            Op::FAdd { round, clamp } => whole_of(Word::from_fn(|l| {
                clamp32(to_f32(add_odd(f(a(l)), f(b(l)), round), round), clamp)
            })),
            Op::FAddImm(constant) if half => {
                let k = [constant as u16, (constant >> 16) as u16];
                halves_of(by_half(|l, i| {
                    to_f16(add_odd(h(0, l, i), f16_to_f64(k[i]), Round::Even), Round::Even)
                }))
            }
            Op::FAddImm(constant) => whole_of(Word::from_fn(|l| {
                to_f32(add_odd(f(a(l)), f(constant), Round::Even), Round::Even)
            })),
            Op::FMin { max, propagate, clamp } if half => halves_of(by_half(|l, k| {
                let value = extreme(h(0, l, k), h(1, l, k), max, propagate);
                clamp16(to_f16(value, Round::Even), clamp)
            })),
            Op::FMin { max, propagate, clamp } => whole_of(Word::from_fn(|l| {
                let value = extreme(f(a(l)), f(b(l)), max, propagate);
                clamp32(to_f32(value, Round::Even), clamp)
            })),
            Op::Fma { round, clamp } if half => halves_of(by_half(|l, k| {
                let value = fma_odd(h(0, l, k), h(1, l, k), h(2, l, k), round);
                clamp16(to_f16(value, round), clamp)
            })),
            Op::Fma { round, clamp } => whole_of(Word::from_fn(|l| {
                clamp32(to_f32(fma_odd(f(a(l)), f(b(l)), f(c(l)), round), round), clamp)
            })),
            Op::FmaRscale { special, round, clamp } => {
                let d = |lane: usize| s[3].v[lane] as i32;
                whole_of(Word::from_fn(|l| {
                    let (x, y) = (f(a(l)), f(b(l)));
                    let zero = x == 0.0 || y == 0.0;
                    // N: a product with zero is zero; LEFT: it is the first factor. isa 4.10.
                    let (x, y) = match special {
                        1 if zero => (0.0, 0.0),
                        2 if zero => (x, 1.0),
                        _ => (x, y),
                    };
                    // Rounded to odd, and once more where it is kept: beyond +-600 nothing finite is left.
                    let sum = fma_odd(x, y, f(c(l)), round);
                    let scaled = libm::scalbn(sum, d(l).clamp(-600, 600));
                    clamp32(to_f32(scaled, round), clamp)
                }))
            }
            Op::FAddLscale { round, clamp } => whole_of(Word::from_fn(|l| {
                let mantissa = f64::from(tabled::frexpm_log(f32::from_bits(b(l))));
                clamp32(to_f32(add_odd(f(a(l)), mantissa, round), round), clamp)
            })),
            // Where the float is too large for fixed point, it alone decides. isa 1.7.
            Op::FExp => {
                let counts = |l: usize| f32::from_bits(b(l)).abs() < 2_147_483_648.0;
                let fixed = (0..LANES).filter(|&l| counts(l)).fold(0, |m, l| m | 1 << l);
                Word::from_fn(|l| {
                    let y = f32::from_bits(b(l));
                    canonical(unit.fexp(a(l) as i32, y))
                })
                .poisoned_by_whole(&all[1..])
                .spoiled(fixed & all[0].any(), all[0].why)
            }
            Op::Ldexp { round } if half => halves_of(by_half(|l, k| {
                let by = i32::from(s[1].halves(l)[k] as i16);
                to_f16(libm::scalbn(h(0, l, k), by), round)
            })),
            Op::Ldexp { round } => whole_of(Word::from_fn(|l| {
                let by = (b(l) as i32).clamp(-450, 450);
                to_f32(libm::scalbn(f(a(l)), by), round)
            })),
            Op::Frexpm { special } => {
                let of = match special {
                    0 => tabled::frexpm,
                    1 => tabled::frexpm_sqrt,
                    _ => tabled::frexpm_log,
                };
                if half {
                    // f16 is exact in f32, and so are its fraction and exponent.
                    return Ok(halves_of(by_half(|l, k| {
                        to_f16(f64::from(of(h(0, l, k) as f32)), Round::Even)
                    })));
                }
                whole_of(Word::from_fn(|l| canonical(of(f32::from_bits(a(l))))))
            }
            Op::Frexpe { special, neg } => {
                let of = match special {
                    0 => tabled::frexpe,
                    1 => tabled::frexpe_sqrt,
                    _ => tabled::frexpe_log,
                };
                let signed = |exponent: i32| if neg { -exponent } else { exponent };
                if half {
                    return Ok(halves_of(by_half(|l, k| signed(of(h(0, l, k) as f32)) as u16)));
                }
                whole_of(Word::from_fn(|l| signed(of(f32::from_bits(a(l)))) as u32))
            }
            Op::Flush { nan, ftz, inf } => self.flush(inst, s, nan, ftz, inf),
            Op::FRound(round) if half => {
                halves_of(by_half(|l, k| to_f16(whole(h(0, l, k), round), Round::Even)))
            }
            Op::FRound(round) => {
                whole_of(Word::from_fn(|l| to_f32(whole(f(a(l)), round), Round::Even)))
            }
            Op::Frcp if half => halves_of(by_half(|l, k| to_f16(1.0 / h(0, l, k), Round::Even))),
            Op::Frsq if half => {
                halves_of(by_half(|l, k| to_f16(1.0 / h(0, l, k).sqrt(), Round::Even)))
            }
            Op::Frcp => whole_of(Word::from_fn(|l| canonical(unit.frcp(f32::from_bits(a(l)))))),
            Op::Frsq => whole_of(Word::from_fn(|l| canonical(unit.frsq(f32::from_bits(a(l)))))),
            Op::FSinTable => whole_of(Word::from_fn(|l| canonical(unit.fsin_table(a(l))))),
            Op::FCosTable => whole_of(Word::from_fn(|l| canonical(unit.fcos_table(a(l))))),
            Op::Flogd => whole_of(Word::from_fn(|l| canonical(unit.flogd(f32::from_bits(a(l)))))),
            Op::HalfToFloat => {
                let value = |l| f32::from_bits(half_to_float(a(l) as u16));
                whole_of(Word::from_fn(|l| canonical(value(l)))).only_low(&s[0])
            }
            Op::FloatsToHalves { round, clamp } => {
                let mut word = by_half(|l, k| clamp16(to_f16(f(s[k].v[l]), round), clamp));
                let (low, high) = (s[0].any(), s[1].any());
                word.poison = [low, low, high, high];
                word.why = if low != 0 { s[0].why } else { s[1].why };
                word
            }
            Op::ToInt { half: from, bits, signed, round } => {
                to_int(&s[0], from, bits, signed, round)
            }
            Op::ToFloat { half: into, signed, round } => {
                let number = |v: u32, bits: u32| -> f64 {
                    let left = 32 - bits;
                    if signed {
                        f64::from(((v << left) as i32) >> left)
                    } else {
                        f64::from(v << left >> left)
                    }
                };
                if into {
                    halves_of(by_half(|l, k| to_f16(number(s[0].halves(l)[k].into(), 16), round)))
                } else {
                    whole_of(Word::from_fn(|l| to_f32(number(a(l), 32), round)))
                }
            }
            Op::CubeMajor => whole_of(Word::from_fn(|l| {
                // The magnitude on the face that CUBEFACE2 names, for what is no number too.
                let v = [a(l), b(l), c(l)].map(f32::from_bits);
                canonical(gpucc_ir::ssa::cube::axes(v, v).2.abs())
            })),
            Op::CubeFace => whole_of(Word::from_fn(|l| {
                let v = [a(l), b(l), c(l)].map(f32::from_bits);
                let face = gpucc_ir::ssa::cube::face(v);
                face << 29
            })),
            Op::CubeSelect { t } => whole_of(Word::from_fn(|l| cube(t, a(l), b(l), c(l) >> 29))),
            Op::Clper { xor, size, inactive } => self.clper(&s[0], &s[1], xor, size, inactive),
            Op::Wmask { size } => self.wmask(&s[0], size),
            Op::Compare { cmp, truth, combine } => comparison(inst.ty, s, cmp, truth, combine),
            Op::Select(cmp) => select(inst.ty, s, cmp),
            _ => match integer::compute(inst, s) {
                Some(word) => word,
                None => return Err(self.missing(inst)),
            },
        })
    }

    /// What is not modelled.
    pub fn missing(&self, inst: &Inst) -> Trap {
        let detail = format!("{} is not emulated", inst.name);
        self.trap(Rule::Unsupported, detail, None)
    }

    fn flush(&self, inst: &Inst, s: &[Word], nan: u8, ftz: bool, inf: bool) -> Word {
        let one = |bits: u32, fraction: u32, top: u32| {
            let exponent = top << fraction;
            let sign = bits & (top + 1) << fraction;
            let magnitude = bits & !((top + 1) << fraction);
            if magnitude > exponent {
                return match nan {
                    1 => sign,
                    2 => bits | 1 << (fraction - 1),
                    _ => bits,
                };
            }
            if magnitude == exponent && inf {
                return sign | (exponent - 1);
            }
            if magnitude < 1 << fraction && ftz {
                return sign;
            }
            bits
        };
        if inst.ty == Ty::V2F16 {
            let f = |v: u16| one(v.into(), 10, 31) as u16;
            by_half(|l, k| f(s[0].halves(l)[k])).poisoned_by_halves(&[&s[0]])
        } else {
            Word::from_fn(|l| one(s[0].v[l], 23, 255)).poisoned_by_whole(&[&s[0]])
        }
    }

    /// Another lane's value. isa 4.9; lanes that do not run give the instruction's own answer.
    fn clper(&self, a: &Word, b: &Word, xor: bool, size: u8, inactive: u32) -> Word {
        let mut out = Word::splat(0);
        let size = usize::from(size);
        for lane in 0..LANES {
            let index = (b.v[lane] & 0xFF) as usize;
            let (base, within) = (lane & !(size - 1), lane & (size - 1));
            let from = base | if xor { within ^ index } else { index } & (size - 1);
            if self.active >> from & 1 == 1 {
                out.v[lane] = a.v[from];
                for byte in 0..4 {
                    out.poison[byte] |= (a.poison[byte] >> from & 1) << lane;
                }
                out.why = a.why;
            } else {
                out.v[lane] = inactive;
            }
        }
        out.poisoned_by_whole(&[b])
    }

    /// Which of the running lanes of the subgroup hold something else than 0.
    fn wmask(&self, a: &Word, size: u8) -> Word {
        let mut set: Mask = 0;
        for lane in each(self.active) {
            if a.v[lane] != 0 {
                set |= 1 << lane;
            }
        }
        let size = usize::from(size);
        let one = (1u32 << size) - 1;
        let out = Word::from_fn(|lane| u32::from(set) >> (lane & !(size - 1)) & one);
        // A lane's answer hangs on all of them.
        let spoiled = if a.any() & self.active != 0 { ALL } else { 0 };
        out.spoiled(spoiled, a.why)
    }

    /// The forms with 64-bit operands.
    fn wide(&mut self, env: &Env<'_, '_>, inst: &Inst) -> Result<Option<Wide>, Trap> {
        if !matches!(inst.ty, Ty::Int { bits: 64, .. }) {
            return Ok(None);
        }
        let mut s = Vec::with_capacity(3);
        for source in &inst.sources {
            s.push(self.read_wide(env, source, inst)?);
        }
        let words: Vec<&Word> = s.iter().flat_map(|w| [&w.low, &w.high]).collect();
        let Some(wide) = integer::compute_wide(inst, &s) else {
            return Err(self.missing(inst));
        };
        Ok(Some(wide.poisoned_by_whole(&words)))
    }
}

impl Word {
    /// Undefined only where the low half of `source` is.
    fn only_low(mut self, source: &Word) -> Word {
        self.poison = [source.poison[0] | source.poison[1]; 4];
        self
    }
}

fn canonical(value: f32) -> u32 {
    to_f32(f64::from(value), Round::Even)
}

/// Out of range and NaN are nowhere defined. isa 4.5.
fn to_int(source: &Word, half: bool, bits: u8, signed: bool, round: Round) -> Word {
    let (low, high) = match (bits, signed) {
        (16, true) => (-32768.0, 32767.0),
        (16, false) => (0.0, 65535.0),
        (_, true) => (-2_147_483_648.0, 2_147_483_647.0),
        (_, false) => (0.0, 4_294_967_295.0),
    };
    let convert = |x: f64| -> Option<u32> {
        let x = whole(x, round);
        (x >= low && x <= high).then_some(if signed { x as i32 as u32 } else { x as u32 })
    };
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        if bits == 16 {
            for k in 0..2 {
                match convert(f16_to_f64(source.halves(lane)[k])) {
                    Some(v) => out.v[lane] |= (v & 0xFFFF) << (16 * k),
                    None => {
                        out.poison[2 * k] |= 1 << lane;
                        out.poison[2 * k + 1] |= 1 << lane;
                        out.why = Why::OutOfRange;
                    }
                }
            }
            continue;
        }
        let x = if half { f16_to_f64(source.v[lane] as u16) } else { f(source.v[lane]) };
        match convert(x) {
            Some(v) => out.v[lane] = v,
            None => out = out.spoiled(1 << lane, Why::OutOfRange),
        }
    }
    match (bits, half) {
        (16, _) => out.poisoned_by_halves(&[source]),
        (_, true) => {
            let low = source.poison[0] | source.poison[1];
            out.spoiled(low, source.why)
        }
        _ => out.poisoned_by_whole(&[source]),
    }
}

/// The coordinates of a face: (z, x) give s, (y, z) give t. isa 4.12, the usual signs; what is no number
/// is the canonical NaN, as with all arithmetic.
fn cube(t: bool, first: u32, second: u32, face: u32) -> u32 {
    let minus = |v: u32| v ^ 0x8000_0000;
    let chosen = if t {
        let (y, z) = (first, second);
        match face {
            2 => z,
            3 => minus(z),
            _ => minus(y),
        }
    } else {
        let (z, x) = (first, second);
        match face {
            0 => minus(z),
            1 => z,
            5 => minus(x),
            _ => x,
        }
    };
    canonical(f32::from_bits(chosen))
}

/// What is true in an element of a result.
fn truth_value(truth: Truth, ty: Ty) -> u32 {
    match (truth, ty) {
        (Truth::One | Truth::Low, _) => 1,
        (Truth::Minus, Ty::V2F16 | Ty::Int { bits: 16, .. }) => 0xFFFF,
        (Truth::Minus, Ty::Int { bits: 8, .. }) => 0xFF,
        (Truth::Minus, _) => u32::MAX,
        (Truth::Float, Ty::V2F16 | Ty::Int { bits: 16, .. }) => 0x3C00,
        (Truth::Float, _) => 1f32.to_bits(),
    }
}

/// Bits of an element.
fn element_bits(ty: Ty) -> u32 {
    match ty {
        Ty::F32 => 32,
        Ty::V2F16 | Ty::F16 => 16,
        Ty::Int { bits, .. } => bits.into(),
    }
}

fn element(v: u32, k: u32, bits: u32) -> u32 {
    if bits == 32 { v } else { v >> (k * bits) & ((1 << bits) - 1) }
}

/// `a cmp b` of elements.
fn holds(ty: Ty, cmp: Cmp, a: u32, b: u32) -> bool {
    match ty {
        Ty::F32 => compare(cmp, f(a), f(b)),
        Ty::V2F16 | Ty::F16 => compare(cmp, f16_to_f64(a as u16), f16_to_f64(b as u16)),
        Ty::Int { bits, signed } => {
            let left = 32 - u32::from(bits);
            let number = |v: u32| {
                if signed { f64::from(((v << left) as i32) >> left) } else { f64::from(v) }
            };
            compare(cmp, number(a), number(b))
        }
    }
}

fn comparison(ty: Ty, s: &[Word], cmp: Cmp, truth: Truth, combine: Combine) -> Word {
    let bits = element_bits(ty);
    let yes = truth_value(truth, ty);
    let low = truth_value(Truth::Low, ty);
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        for k in 0..32 / bits {
            let [a, b, c] = [0, 1, 2].map(|n: usize| element(s[n].v[lane], k, bits));
            let mut result = holds(ty, cmp, a, b);
            // The third source says true as this instruction does, or as the low half did.
            let known = match combine {
                Combine::Multi if truth == Truth::Low => c == 0,
                Combine::Multi => c == 0 || c == low,
                Combine::Or | Combine::And => c == 0 || c == yes,
            };
            match combine {
                Combine::Or => result |= c != 0,
                Combine::And => result &= c != 0,
                Combine::Multi if truth == Truth::Low => {}
                Combine::Multi => {
                    if a == b {
                        result = c != 0;
                    }
                }
            }
            if result {
                out.v[lane] |= yes << ((k * bits) % 32);
            }
            if !known {
                out = out.spoiled(1 << lane, Why::Open);
            }
        }
    }
    spread(out, ty, &[&s[0], &s[1], &s[2]])
}

/// The third where the comparison of the first two holds, else the fourth.
fn select(ty: Ty, s: &[Word], cmp: Cmp) -> Word {
    let bits = element_bits(ty);
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        for k in 0..32 / bits {
            let [a, b, c, d] = [0, 1, 2, 3].map(|n: usize| element(s[n].v[lane], k, bits));
            let first = holds(ty, cmp, a, b);
            out.v[lane] |= if first { c } else { d } << ((k * bits) % 32);
            let from = if first { &s[2] } else { &s[3] };
            let bytes = (k * bits / 8) as usize..((k + 1) * bits / 8) as usize;
            for byte in bytes {
                out.poison[byte] |= from.poison[byte] & 1 << lane;
            }
            if from.any() >> lane & 1 == 1 {
                out.why = from.why;
            }
        }
    }
    spread(out, ty, &[&s[0], &s[1]])
}

/// Poison of sources by the elements of the type.
fn spread(out: Word, ty: Ty, sources: &[&Word]) -> Word {
    match element_bits(ty) {
        32 => out.poisoned_by_whole(sources),
        16 => out.poisoned_by_halves(sources),
        _ => out.poisoned_by_bytes(sources),
    }
}
