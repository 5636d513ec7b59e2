//! DATA_FORMAT of fetches: which bits are which component. Register guide chapter 5.

use gpucc_emu::format::{Kind, decode_channel};

/// The components of a data format: lowest bit and width of each.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DataFormat {
    fields: &'static [(u32, u32)],
    float: bool,
}

macro_rules! formats {
    ($($code:literal $float:literal [$($field:expr),*];)*) => {
        /// The layout of a DATA_FORMAT number, or `None` for those that vertex fetches cannot read.
        pub fn data_format(code: u32) -> Option<DataFormat> {
            match code {
                $($code => Some(DataFormat { fields: &[$($field),*], float: $float }),)*
                _ => None,
            }
        }
    };
}

#[rustfmt::skip]
formats! {
     1 false [(0, 8)];
     5 false [(0, 16)];
     6 true  [(0, 16)];
     7 false [(0, 8), (8, 8)];
    13 false [(0, 32)];
    14 true  [(0, 32)];
    15 false [(0, 16), (16, 16)];
    16 true  [(0, 16), (16, 16)];
    25 false [(0, 10), (10, 10), (20, 10), (30, 2)];
    26 false [(0, 8), (8, 8), (16, 8), (24, 8)];
    29 false [(0, 32), (32, 32)];
    30 true  [(0, 32), (32, 32)];
    31 false [(0, 16), (16, 16), (32, 16), (48, 16)];
    32 true  [(0, 16), (16, 16), (32, 16), (48, 16)];
    34 false [(0, 32), (32, 32), (64, 32), (96, 32)];
    35 true  [(0, 32), (32, 32), (64, 32), (96, 32)];
    44 false [(0, 8), (8, 8), (16, 8)];
    45 false [(0, 16), (16, 16), (32, 16)];
    46 true  [(0, 16), (16, 16), (32, 16)];
    47 false [(0, 32), (32, 32), (64, 32)];
    48 true  [(0, 32), (32, 32), (64, 32)];
}

impl DataFormat {
    /// Components present.
    pub fn components(&self) -> usize {
        self.fields.len()
    }

    /// Bytes of an element.
    pub fn bytes(&self) -> u32 {
        self.fields.iter().map(|&(shift, width)| shift + width).max().unwrap_or(0).div_ceil(8)
    }

    /// True when every component is a dword of its own that NUM_FORMAT leaves as it is.
    pub fn keeps_words(&self, number: u32) -> bool {
        self.fields.iter().all(|&(_, width)| width == 32) && (self.float || number == 1)
    }
}

/// Reads an element of up to 16 bytes: f32 bits or integers; missing components are 0.
pub fn convert(
    format: &DataFormat,
    number: u32,
    signed: bool,
    no_zero: bool,
    endian: u32,
    bytes: &[u8; 16],
) -> [u32; 4] {
    let mut swapped = *bytes;
    let flip = match endian {
        1 => 1,
        2 => 3,
        _ => 0,
    };
    for (n, byte) in swapped.iter_mut().enumerate() {
        *byte = bytes[n ^ flip];
    }
    let all = u128::from_le_bytes(swapped);
    let mut out = [0; 4];
    for (out, &(shift, width)) in out.iter_mut().zip(format.fields) {
        let raw = (all >> shift) as u32 & (u32::MAX >> (32 - width));
        let kind = match (format.float, number, signed) {
            (true, ..) => Kind::Float,
            (false, 0, false) => Kind::Unorm,
            (false, 0, true) => Kind::Snorm,
            (false, 1, false) => Kind::Uint,
            (false, 1, true) => Kind::Sint,
            (false, _, false) => Kind::Uscaled,
            (false, _, true) => Kind::Sscaled,
        };
        *out = if kind == Kind::Snorm && no_zero {
            // SRF_MODE_NO_ZERO: (2v + 1) / (2^n - 1).
            let v = ((raw << (32 - width)) as i32) >> (32 - width);
            let top = f64::from(u32::MAX >> (32 - width));
            (((2.0 * f64::from(v) + 1.0) / top) as f32).to_bits()
        } else {
            decode_channel(raw, width as u8, kind)
        };
    }
    out
}
