//! Integer arithmetic, shifts, and moves of bits. isa 1.7, 4.7, 4.8.

use super::inst::{Inst, Logic, Op, Shift, Ty};
use super::value::{LANES, Wide, Word};

/// Elements of a word, each as wide as the type says.
struct Elements {
    bits: u32,
    signed: bool,
}

impl Elements {
    fn of(ty: Ty) -> Elements {
        match ty {
            Ty::Int { bits, signed } => Elements { bits: u32::from(bits).min(32), signed },
            _ => Elements { bits: 32, signed: false },
        }
    }

    fn mask(&self) -> i64 {
        (1 << self.bits) - 1
    }

    /// As a number, by the sign of the type.
    fn number(&self, word: u32, k: u32) -> i64 {
        let raw = i64::from(word) >> (k * self.bits) & self.mask();
        if self.signed && raw >> (self.bits - 1) & 1 == 1 { raw - (1 << self.bits) } else { raw }
    }

    fn saturated(&self, v: i64) -> i64 {
        if self.signed {
            let top = 1i64 << (self.bits - 1);
            v.clamp(-top, top - 1)
        } else {
            v.clamp(0, self.mask())
        }
    }

    /// The same for every element of every lane.
    fn map(&self, sources: &[Word], f: impl Fn(&[i64]) -> i64) -> Word {
        let mut out = Word::splat(0);
        let mut numbers = [0i64; 4];
        for lane in 0..LANES {
            for k in 0..32 / self.bits {
                for (number, source) in numbers.iter_mut().zip(sources) {
                    *number = self.number(source.v[lane], k);
                }
                let v = f(&numbers[..sources.len()]) & self.mask();
                out.v[lane] |= (v << (k * self.bits)) as u32;
            }
        }
        let all: Vec<&Word> = sources.iter().collect();
        match self.bits {
            8 => out.poisoned_by_bytes(&all),
            16 => out.poisoned_by_halves(&all),
            _ => out.poisoned_by_whole(&all),
        }
    }
}

/// An instruction of 32, 16 or 8 bits; `None` where it has no such form.
pub fn compute(inst: &Inst, s: &[Word]) -> Option<Word> {
    let e = Elements::of(inst.ty);
    let all: Vec<&Word> = s.iter().collect();
    Some(match inst.op {
        Op::Move => s[0],
        Op::IAdd { sub, saturate } => e.map(s, |n| {
            let v = if sub { n[0] - n[1] } else { n[0] + n[1] };
            if saturate { e.saturated(v) } else { v }
        }),
        Op::IAddImm(constant) => e.map(&[s[0], Word::splat(constant)], |n| n[0] + n[1]),
        Op::IAddCarry { sub, carry } => e.map(s, |n| {
            // The third source is the carry that comes in; with `.c` the one that goes out is the result.
            let (a, b, c) = (n[0] & 0xFFFF_FFFF, n[1] & 0xFFFF_FFFF, n[2] & 1);
            let v = if sub { a - b - c } else { a + b + c };
            if carry { v >> 32 & 1 } else { v }
        }),
        Op::IMul { saturate } => e.map(s, |n| {
            if saturate {
                let v = i128::from(n[0]) * i128::from(n[1]);
                e.saturated(v.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
            } else {
                n[0].wrapping_mul(n[1])
            }
        }),
        Op::HAdd { up } => e.map(s, |n| (n[0] + n[1] + i64::from(up)) >> 1),
        Op::IAbs => e.map(s, |n| n[0].abs()),
        Op::Clz => e.map(s, |n| {
            let used = 64 - (n[0] & e.mask()).leading_zeros();
            i64::from(e.bits - used)
        }),
        Op::Popcount => Word::from_fn(|l| s[0].v[l].count_ones()).poisoned_by_whole(&all),
        Op::BitRev => Word::from_fn(|l| s[0].v[l].reverse_bits()).poisoned_by_whole(&all),
        Op::MakeHalves => {
            let mut out = Word::from_fn(|l| s[0].v[l] & 0xFFFF | s[1].v[l] << 16);
            let (low, high) = (s[0].poison[0], s[1].poison[0]);
            out.poison = [low, low, high, high];
            out.why = if low != 0 { s[0].why } else { s[1].why };
            out
        }
        Op::MakeBytes => {
            let mut out =
                Word::from_fn(|l| s[0].v[l] & 0xFF | (s[1].v[l] & 0xFF) << 8 | s[2].v[l] << 16);
            out.poison = [s[0].poison[0], s[1].poison[0], s[2].poison[0], s[2].poison[0]];
            out.why = s.iter().find(|w| w.any() != 0).map_or(out.why, |w| w.why);
            out
        }
        Op::ShiftLogic { shift, logic, not_result } => {
            let not = inst.sources[2].not;
            let mut operands = [s[0], s[1], s[2]];
            if not {
                for v in &mut operands[2].v {
                    *v = !*v;
                }
            }
            let wide = e.bits;
            let mut out = Word::splat(0);
            for lane in 0..LANES {
                for k in 0..32 / wide {
                    let a = operands[0].v[lane] >> ((k * wide) % 32);
                    let a = u64::from(a) & e.mask() as u64;
                    let count = operands[1].v[lane] >> ((k * wide) % 32) & (wide - 1);
                    let b = u64::from(operands[2].v[lane] >> ((k * wide) % 32)) & e.mask() as u64;
                    let moved = shifted(shift, a, count, wide);
                    let v = joined(logic, moved, b) ^ if not_result { u64::MAX } else { 0 };
                    out.v[lane] |= ((v & e.mask() as u64) as u32) << ((k * wide) % 32);
                }
            }
            let all: Vec<&Word> = operands.iter().collect();
            // A count that shifts nothing moves no byte, so each byte hangs on its own alone.
            let still = operands[1].v.iter().all(|&count| count == 0)
                && inst.sources[1].place == super::inst::Place::Constant(0);
            match (wide, still) {
                (8, _) | (_, true) => {
                    out.poisoned_by_bytes(&[all[0], all[2]]).poisoned_by_whole(&[all[1]])
                }
                (16, _) => out.poisoned_by_halves(&all),
                _ => out.poisoned_by_whole(&all),
            }
        }
        Op::Mux(mode) => mux(inst.ty, s, mode)?,
        Op::Dot { saturate } => {
            let Ty::Int { signed, .. } = inst.ty else {
                return None;
            };
            let bytes = Elements { bits: 8, signed };
            let word = Elements { bits: 32, signed };
            Word::from_fn(|l| {
                let mut sum = word.number(s[2].v[l], 0);
                for k in 0..4 {
                    sum += bytes.number(s[0].v[l], k) * bytes.number(s[1].v[l], k);
                }
                (if saturate { word.saturated(sum) } else { sum }) as u32
            })
            .poisoned_by_whole(&all)
        }
        _ => return None,
    })
}

/// A shift other than the arithmetic one of `bits` bits; `count` is below them.
fn shifted(shift: Shift, a: u64, count: u32, bits: u32) -> u64 {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let rotate = |right: u32| {
        if right == 0 { a } else { (a >> right | a << (bits - right)) & mask }
    };
    match shift {
        Shift::Right => a >> count,
        Shift::Left => a << count & mask,
        Shift::RotateRight => rotate(count),
        Shift::RotateLeft => rotate((bits - count) % bits),
        Shift::Arithmetic => {
            let left = 64 - bits;
            (((a << left) as i64) >> left >> count) as u64
        }
    }
}

const fn joined(logic: Logic, a: u64, b: u64) -> u64 {
    match logic {
        Logic::And => a & b,
        Logic::Or => a | b,
        Logic::Xor => a ^ b,
    }
}

/// The first where the condition on the third holds, else the second. isa 1.5.
fn mux(ty: Ty, s: &[Word], mode: u8) -> Option<Word> {
    let Ty::Int { bits, .. } = ty else {
        return None;
    };
    let bits = u32::from(bits);
    let mask = ((1u64 << bits) - 1) as u32;
    let mut out = Word::splat(0);
    for lane in 0..LANES {
        if mode == 3 {
            let m = s[2].v[lane];
            out.v[lane] = s[0].v[lane] & m | s[1].v[lane] & !m;
            continue;
        }
        for k in 0..32 / bits {
            let m = s[2].v[lane] >> ((k * bits) % 32) & mask;
            let first = match mode {
                0 => m >> (bits - 1) & 1 == 1,
                1 => m == 0,
                // Zero of either sign.
                _ => m & (mask >> 1) == 0,
            };
            let from = if first { &s[0] } else { &s[1] };
            out.v[lane] |= from.v[lane] & mask << ((k * bits) % 32);
            for byte in (k * bits / 8) as usize..((k + 1) * bits / 8) as usize {
                out.poison[byte] |= from.poison[byte] & 1 << lane;
            }
            if from.any() >> lane & 1 == 1 {
                out.why = from.why;
            }
        }
    }
    if mode == 3 {
        // Bytes that the mask takes whole from one side hang on that side alone.
        for lane in 0..LANES {
            for byte in 0..4 {
                let m = s[2].v[lane] >> (8 * byte) as u32 & 0xFF;
                let takes = [m != 0, m != 0xFF];
                for (from, takes) in s[..2].iter().zip(takes) {
                    if takes && from.poison[byte] >> lane & 1 == 1 {
                        out.poison[byte] |= 1 << lane;
                        out.why = from.why;
                    }
                }
            }
        }
    }
    Some(match bits {
        8 => out.poisoned_by_bytes(&[&s[2]]),
        16 => out.poisoned_by_halves(&[&s[2]]),
        _ => out.poisoned_by_whole(&[&s[2]]),
    })
}

/// An instruction of 64 bits; `None` where it has no such form. Poison is the caller's.
pub fn compute_wide(inst: &Inst, s: &[Wide]) -> Option<Wide> {
    let signed = matches!(inst.ty, Ty::Int { signed: true, .. });
    Some(match inst.op {
        Op::IAdd { sub, saturate } => Wide::from_fn(|l| {
            let (a, b) = (s[0].get(l), s[1].get(l));
            let exact = |a: i128, b: i128| if sub { a - b } else { a + b };
            match (saturate, signed) {
                (false, _) if sub => a.wrapping_sub(b),
                (false, _) => a.wrapping_add(b),
                (true, false) => exact(a.into(), b.into()).clamp(0, u64::MAX.into()) as u64,
                (true, true) => {
                    let v = exact((a as i64).into(), (b as i64).into());
                    v.clamp(i64::MIN.into(), i64::MAX.into()) as i64 as u64
                }
            }
        }),
        // Two numbers of 32 bits and their whole product.
        Op::IMul { .. } => Wide::from_fn(|l| {
            let (a, b) = (s[0].get(l), s[1].get(l));
            if signed {
                (i64::from(a as u32 as i32) * i64::from(b as u32 as i32)) as u64
            } else {
                u64::from(a as u32) * u64::from(b as u32)
            }
        }),
        Op::ShiftAdd { shift } => Wide::from_fn(|l| s[0].get(l).wrapping_add(s[1].get(l) << shift)),
        Op::ShiftLogic { shift, logic, not_result } => {
            let not = inst.sources[2].not;
            Wide::from_fn(|l| {
                let count = s[1].low.v[l] & 63;
                let moved = shifted(shift, s[0].get(l), count, 64);
                let b = if not { !s[2].get(l) } else { s[2].get(l) };
                joined(logic, moved, b) ^ if not_result { u64::MAX } else { 0 }
            })
        }
        _ => return None,
    })
}
