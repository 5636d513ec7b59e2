//! Source bytes: registers, uniforms, constants of the table and special values. Digest 1.2.

/// The constants that the hardware has, by their number in a source byte.
pub static CONSTANTS: [u32; 32] = [
    0x0000_0000,
    0xffff_ffff,
    0x7fff_ffff,
    0xfafc_fdfe,
    0x0100_0000,
    0x8000_2000,
    0x7060_5030,
    0xc0b0_a090,
    0x0302_0100,
    0x0706_0504,
    0x0b0a_0908,
    0x0f0e_0d0c,
    0x1312_1110,
    0x1716_1514,
    0x1b1a_1918,
    0x1f1e_1d1c,
    0x3f80_0000,
    0x3dcc_cccd,
    0x3ea2_f983,
    0x3f31_7218,
    0x4049_0fdb,
    0x0000_0000,
    0x477f_ff00,
    0x5c00_5bf8,
    0x2e66_0000,
    0x3400_0000,
    0x3800_0000,
    0x3c00_0000,
    0x4000_0000,
    0x4400_0000,
    0x4800_0000,
    0x4248_0000,
];

/// A value that is neither in a register nor in a uniform.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Special {
    WarpId,
    FramebufferSize,
    AtestDatum,
    /// Sample positions.
    Sample,
    /// Descriptor of a render target, 0..=7.
    BlendDescriptor(u8),
    /// Base of thread storage.
    ThreadLocalPointer,
    /// Base of workgroup storage.
    WorkgroupLocalPointer,
    ResourceTablePointer,
    LaneId,
    CoreId,
    /// Address of the next instruction.
    ProgramCounter,
}

const NAMED: &[(&str, Special, u8, u8)] = &[
    ("warp_id", Special::WarpId, 0, 2),
    ("framebuffer_size", Special::FramebufferSize, 0, 4),
    ("atest_datum", Special::AtestDatum, 0, 5),
    ("sample", Special::Sample, 0, 6),
    ("blend_descriptor_0", Special::BlendDescriptor(0), 0, 8),
    ("blend_descriptor_1", Special::BlendDescriptor(1), 0, 9),
    ("blend_descriptor_2", Special::BlendDescriptor(2), 0, 10),
    ("blend_descriptor_3", Special::BlendDescriptor(3), 0, 11),
    ("blend_descriptor_4", Special::BlendDescriptor(4), 0, 12),
    ("blend_descriptor_5", Special::BlendDescriptor(5), 0, 13),
    ("blend_descriptor_6", Special::BlendDescriptor(6), 0, 14),
    ("blend_descriptor_7", Special::BlendDescriptor(7), 0, 15),
    ("thread_local_pointer", Special::ThreadLocalPointer, 1, 1),
    ("workgroup_local_pointer", Special::WorkgroupLocalPointer, 1, 3),
    ("resource_table_pointer", Special::ResourceTablePointer, 1, 7),
    ("lane_id", Special::LaneId, 3, 1),
    ("core_id", Special::CoreId, 3, 3),
    ("program_counter", Special::ProgramCounter, 3, 15),
];

/// Names that older tools gave to special values, with the word they mean.
pub(super) const OLD_NAMES: &[(&str, Special, u8)] = &[
    ("tls_ptr", Special::ThreadLocalPointer, 0),
    ("tls_ptr_hi", Special::ThreadLocalPointer, 1),
    ("wls_ptr", Special::WorkgroupLocalPointer, 0),
    ("wls_ptr_hi", Special::WorkgroupLocalPointer, 1),
];

impl Special {
    /// Every special value.
    pub fn all() -> impl Iterator<Item = Special> {
        NAMED.iter().map(|row| row.1)
    }

    fn row(self) -> &'static (&'static str, Special, u8, u8) {
        NAMED.iter().find(|row| row.1 == self).expect("every special value that exists has a row")
    }

    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// The page that an instruction must name to read it.
    pub fn page(self) -> u8 {
        self.row().2
    }

    pub fn named(name: &str) -> Option<Special> {
        NAMED.iter().find(|row| row.0 == name).map(|row| row.1)
    }
}

/// What a source byte means on a page.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum SourceByte {
    /// Register 0..=63; `last` marks that nobody reads it afterwards.
    Register { index: u8, last: bool },
    /// 32-bit word of the fast-access uniforms, 0..=255: the page is its quarter.
    Uniform(u8),
    /// Number in [`CONSTANTS`].
    Constant(u8),
    /// A word of a special value.
    Special { what: Special, word: u8 },
}

impl SourceByte {
    /// Reads a byte; `None` where the page has no such special value.
    #[inline]
    pub fn decode(byte: u8, page: u8) -> Option<SourceByte> {
        Some(match byte >> 6 {
            0 | 1 => SourceByte::Register { index: byte & 63, last: byte >> 6 == 1 },
            2 => SourceByte::Uniform(page << 6 | byte & 63),
            _ if byte < 0xe0 => SourceByte::Constant(byte & 31),
            _ => {
                let (number, word) = (byte >> 1 & 15, byte & 1);
                let row = NAMED.iter().find(|row| row.2 == page && row.3 == number)?;
                SourceByte::Special { what: row.1, word }
            }
        })
    }

    /// The byte; its page is [`SourceByte::page`].
    pub fn encode(self) -> u8 {
        match self {
            SourceByte::Register { index, last } => index & 63 | u8::from(last) << 6,
            SourceByte::Uniform(word) => 0x80 | word & 63,
            SourceByte::Constant(number) => 0xc0 | number & 31,
            SourceByte::Special { what, word } => 0xe0 | what.row().3 << 1 | word & 1,
        }
    }

    /// The page that the instruction must name, if it matters.
    pub fn page(self) -> Option<u8> {
        match self {
            SourceByte::Register { .. } | SourceByte::Constant(_) => None,
            SourceByte::Uniform(word) => Some(word >> 6),
            SourceByte::Special { what, .. } => Some(what.page()),
        }
    }

    /// The constant of this value, the first where two are alike.
    pub fn constant(value: u32) -> Option<SourceByte> {
        let at = CONSTANTS.iter().position(|known| *known == value)?;
        Some(SourceByte::Constant(at as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_that_means_something_comes_back() {
        for page in 0..4 {
            for byte in 0..=255u8 {
                if let Some(source) = SourceByte::decode(byte, page) {
                    assert_eq!(source.encode(), byte);
                    assert!(source.page().is_none_or(|its| its == page));
                } else {
                    assert!(byte >= 0xe0);
                }
            }
        }
        assert_eq!(
            SourceByte::decode(0xe2, 3),
            Some(SourceByte::Special { what: Special::LaneId, word: 0 })
        );
        assert_eq!(SourceByte::decode(0xe2, 0), None);
    }
}
