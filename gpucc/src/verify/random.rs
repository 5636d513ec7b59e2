//! Seeded numbers: the same seed gives the same inputs on every machine.

use gpucc_ir::ssa::Scalar;
use gpucc_ir::ssa::random::Rng;

/// Numbers for inputs.
#[derive(Clone, Debug)]
pub struct Random(Rng);

impl Random {
    /// A stream for a seed and the number of an input.
    pub fn new(seed: u64, input: u32) -> Random {
        let start = seed ^ (u64::from(input) << 32) ^ 0x6770_7563_6300_0000;
        let mut random = Random(Rng::new(start));
        random.draw();
        random
    }
    /// 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.0.bits()
    }
    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        (self.draw() >> 32) as u32
    }
    /// A number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(end)) >> 32) as u32
    }
    /// True in `part` of 100 cases.
    pub fn percent(&mut self, part: u32) -> bool {
        self.below(100) < part
    }
    /// Between two numbers.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.bits() >> 8) as f32 / (1u32 << 24) as f32
    }
}

/// Where rules of everyday arithmetic end: `x - x` is no 0, `0 * x` is no 0, `x + 0` is no `x`.
const SPECIAL: [u32; 4] = [
    0x7FC0_0000, // NaN
    0x7F80_0000, // infinity
    0xFF80_0000, // -infinity
    0x8000_0000, // -0
];

const FLOATS: [u32; 20] = [
    0x0000_0000, // 0
    0x8000_0000, // -0
    0x3F80_0000, // 1
    0xBF80_0000, // -1
    0x3F00_0000, // 0.5
    0x4000_0000, // 2
    0x0000_0001, // the least subnormal
    0x807F_FFFF, // the largest subnormal, negative
    0x0080_0000, // the least normal
    0x7F7F_FFFF, // the largest
    0xFF7F_FFFF, // the least
    0x7F80_0000, // infinity
    0xFF80_0000, // -infinity
    0x7FC0_0000, // NaN
    0x4B80_0000, // 2^24
    0x4F00_0000, // 2^31
    0x4F80_0000, // 2^32
    0x3F7F_FFFF, // just below 1
    0x4049_0FDB, // pi
    0x3A80_0000, // 2^-10
];

const INTEGERS: [u32; 16] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    255,
    256,
    0xFFFF,
    0x1_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFE,
    0xFFFF_FFFF,
];

/// How far from everyday values an input strays: the first inputs are tame, so that a shader shows
/// what it is made for; later ones hold boundary values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Everyday values.
    Tame,
    /// Everyday values and some boundaries.
    Mixed,
    /// Boundaries and raw bits in plenty.
    Wild,
    /// Floats are small multiples of a quarter, so that their sums do not depend on their order.
    Whole,
}

impl Mood {
    /// The mood of an input by its number.
    pub const fn of(input: u32) -> Mood {
        match input % 4 {
            0 => Mood::Tame,
            1 | 2 => Mood::Mixed,
            _ => Mood::Wild,
        }
    }
    fn boundaries(self) -> u32 {
        match self {
            Mood::Tame | Mood::Whole => 0,
            Mood::Mixed => 6,
            Mood::Wild => 30,
        }
    }
    fn raw(self) -> u32 {
        match self {
            Mood::Tame | Mood::Whole => 0,
            Mood::Mixed => 2,
            Mood::Wild => 10,
        }
    }
}

/// What values of an input are drawn from.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Numbers.
    pub random: Random,
    /// How far values stray.
    pub mood: Mood,
    /// Integers at which this shader's indices meet their lengths.
    pub edges: Vec<u32>,
}

impl Draw {
    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len() as u32) as usize]
    }

    /// A float's bits; of boundary values half are [`SPECIAL`].
    pub fn float(&mut self) -> u32 {
        if self.random.percent(self.mood.boundaries()) {
            return match self.random.percent(50) {
                true => self.pick(&SPECIAL),
                false => self.pick(&FLOATS),
            };
        }
        let random = &mut self.random;
        if random.percent(self.mood.raw()) {
            return random.bits();
        }
        if self.mood == Mood::Whole {
            return (0.25 * (random.below(129) as f32 - 64.0)).to_bits();
        }
        match random.below(4) {
            0 => random.between(0.0, 1.0).to_bits(),
            1 => (random.below(17) as f32 - 8.0).to_bits(),
            2 => random.between(-1.0, 1.0).to_bits(),
            _ => random.between(-16.0, 16.0).to_bits(),
        }
    }

    /// The bits of a float of 16 bits.
    pub fn half(&mut self) -> u16 {
        if self.random.percent(self.mood.boundaries()) {
            return half::f16::from_f32(f32::from_bits(self.pick(&SPECIAL))).to_bits();
        }
        half::f16::from_f32(self.random.between(-8.0, 8.0)).to_bits()
    }

    /// An integer's bits; of boundary values half lie where the shader's indices end.
    pub fn integer(&mut self) -> u32 {
        if self.random.percent(self.mood.boundaries()) {
            return match self.random.percent(50) && !self.edges.is_empty() {
                true => self.edges[self.random.below(self.edges.len() as u32) as usize],
                false => self.pick(&INTEGERS),
            };
        }
        let random = &mut self.random;
        match random.below(4) {
            0 => random.below(4),
            1 => random.below(64),
            2 => random.below(2048),
            _ if self.mood == Mood::Tame => random.below(256).wrapping_sub(64),
            _ => random.bits(),
        }
    }

    /// A word that is read as this; two of 16 bits.
    pub fn word(&mut self, scalar: Scalar) -> u32 {
        match scalar {
            Scalar::F32 => self.float(),
            Scalar::F16 => u32::from(self.half()) | u32::from(self.half()) << 16,
            Scalar::I32 | Scalar::U32 => self.integer(),
            Scalar::Bool => self.random.below(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(mood: Mood) -> Draw {
        Draw { random: Random::new(0, 0), mood, edges: vec![77, 78] }
    }

    #[test]
    fn streams_repeat_and_differ_by_seed_and_input() {
        let first = |seed, input| Random::new(seed, input).draw();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }

    #[test]
    fn tame_floats_are_everyday_numbers() {
        let mut draw = draw(Mood::Tame);
        for _ in 0..1000 {
            let value = f32::from_bits(draw.float());
            assert!(value.abs() <= 16.0);
        }
    }

    #[test]
    fn wild_values_hold_what_everyday_rules_leave_out() {
        let mut draw = draw(Mood::Wild);
        let floats: Vec<u32> = (0..1000).map(|_| draw.float()).collect();
        for special in SPECIAL {
            let count = floats.iter().filter(|&&bits| bits == special).count();
            assert!(count > 20, "{special:#010x}: {count}");
        }
        let halves: Vec<u16> = (0..1000).map(|_| draw.half()).collect();
        for special in [0x7E00, 0x7C00, 0xFC00, 0x8000] {
            assert!(halves.contains(&special), "{special:#06x}");
        }
        let integers: Vec<u32> = (0..1000).map(|_| draw.integer()).collect();
        for edge in [77, 78, 0x8000_0000, u32::MAX - 1, u32::MAX] {
            assert!(integers.contains(&edge), "{edge:#010x}");
        }
    }
}
