//! Sixteen lanes of 32 bits, and which of their bytes nobody defined.

/// Lanes of a warp. isa 1.1.
pub const LANES: usize = 16;
/// One bit a lane.
pub type Mask = u16;
/// Every lane.
pub const ALL: Mask = 0xFFFF;

/// The set lanes, lowest first.
pub fn each(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

/// Why bytes are undefined: the last reason that came by.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Why {
    /// Nobody wrote them.
    #[default]
    Unwritten,
    /// A float did not fit the integer that it was converted to.
    OutOfRange,
    /// The instruction leaves them open.
    Open,
    /// A neighbour that gradients need does not run.
    Neighbour,
    /// Memory that nobody wrote.
    Memory,
    /// A register that a blend shader may use.
    BlendShader,
}

impl Why {
    /// In a sentence.
    pub const fn text(self) -> &'static str {
        match self {
            Why::Unwritten => "nobody wrote it",
            Why::OutOfRange => "a float outside of the integer's range was converted",
            Why::Open => "the instruction leaves it open",
            Why::Neighbour => "a lane that it needs does not run",
            Why::Memory => "the memory was never written",
            Why::BlendShader => "a blend shader may have changed it",
        }
    }
}

/// A value of 32 bits in each lane.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// By lane.
    pub v: [u32; LANES],
    /// By byte: lanes where it is undefined.
    pub poison: [Mask; 4],
    /// Why, where it is.
    pub why: Why,
}

impl Word {
    /// The same in every lane.
    pub const fn splat(value: u32) -> Word {
        Word { v: [value; LANES], poison: [0; 4], why: Why::Unwritten }
    }

    /// Undefined in every lane.
    pub const fn undefined(why: Why) -> Word {
        Word { v: [0xDEAD_BEEF; LANES], poison: [ALL; 4], why }
    }

    /// By lane.
    pub fn from_fn(f: impl FnMut(usize) -> u32) -> Word {
        Word { v: std::array::from_fn(f), ..Word::splat(0) }
    }

    /// Lanes where any byte is undefined.
    pub const fn any(&self) -> Mask {
        self.poison[0] | self.poison[1] | self.poison[2] | self.poison[3]
    }

    /// Undefined as a whole where any of `sources` is anywhere.
    #[must_use]
    pub fn poisoned_by_whole(mut self, sources: &[&Word]) -> Word {
        for source in sources {
            let any = source.any();
            if any != 0 {
                self.why = source.why;
                for byte in &mut self.poison {
                    *byte |= any;
                }
            }
        }
        self
    }

    /// Undefined by half where that half of any of `sources` is.
    #[must_use]
    pub fn poisoned_by_halves(mut self, sources: &[&Word]) -> Word {
        for source in sources {
            let p = source.poison;
            let halves = [p[0] | p[1], p[2] | p[3]];
            if halves != [0, 0] {
                self.why = source.why;
                for (k, byte) in self.poison.iter_mut().enumerate() {
                    *byte |= halves[k / 2];
                }
            }
        }
        self
    }

    /// Undefined by byte where that byte of any of `sources` is.
    #[must_use]
    pub fn poisoned_by_bytes(mut self, sources: &[&Word]) -> Word {
        for source in sources {
            if source.any() != 0 {
                self.why = source.why;
                for (k, byte) in self.poison.iter_mut().enumerate() {
                    *byte |= source.poison[k];
                }
            }
        }
        self
    }

    /// Undefined as a whole in these lanes too.
    #[must_use]
    pub fn spoiled(mut self, lanes: Mask, why: Why) -> Word {
        if lanes != 0 {
            self.why = why;
            for byte in &mut self.poison {
                *byte |= lanes;
            }
        }
        self
    }

    /// The bytes in this order.
    #[must_use]
    pub fn permuted(&self, order: [u8; 4]) -> Word {
        if order == [0, 1, 2, 3] {
            return *self;
        }
        let mut out = *self;
        for lane in 0..LANES {
            let bytes = self.v[lane].to_le_bytes();
            out.v[lane] = u32::from_le_bytes(order.map(|k| bytes[usize::from(k)]));
        }
        out.poison = order.map(|k| self.poison[usize::from(k)]);
        out
    }

    /// `width` bytes from byte `first` as an integer of 32 bits.
    #[must_use]
    pub fn extended(&self, first: u8, width: u8, signed: bool) -> Word {
        let (low, left) = (8 * u32::from(first), 32 - 8 * u32::from(width));
        let mut out = *self;
        for v in &mut out.v {
            let top = (*v >> low) << left;
            *v = if signed { ((top as i32) >> left) as u32 } else { top >> left };
        }
        let mut poison = 0;
        for k in first..first + width {
            poison |= self.poison[usize::from(k)];
        }
        out.poison = [poison; 4];
        out
    }

    /// Both halves of each lane.
    pub fn halves(&self, lane: usize) -> [u16; 2] {
        [self.v[lane] as u16, (self.v[lane] >> 16) as u16]
    }
}

/// Two halves as one word, the first low.
pub const fn join([low, high]: [u16; 2]) -> u32 {
    low as u32 | (high as u32) << 16
}

/// A value of 64 bits in each lane: low, high.
#[derive(Copy, Clone, Debug)]
pub struct Wide {
    /// Low 32 bits.
    pub low: Word,
    /// High 32 bits.
    pub high: Word,
}

impl Wide {
    /// The number of a lane.
    pub fn get(&self, lane: usize) -> u64 {
        u64::from(self.low.v[lane]) | u64::from(self.high.v[lane]) << 32
    }

    /// By lane.
    pub fn from_fn(mut f: impl FnMut(usize) -> u64) -> Wide {
        let all: [u64; LANES] = std::array::from_fn(&mut f);
        Wide {
            low: Word::from_fn(|lane| all[lane] as u32),
            high: Word::from_fn(|lane| (all[lane] >> 32) as u32),
        }
    }

    /// Undefined as a whole where any of `sources` is anywhere.
    #[must_use]
    pub fn poisoned_by_whole(self, sources: &[&Word]) -> Wide {
        Wide {
            low: self.low.poisoned_by_whole(sources),
            high: self.high.poisoned_by_whole(sources),
        }
    }
}

/// A stream of numbers from a seed (splitmix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// A stream.
    pub const fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Either.
    pub fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }
}
