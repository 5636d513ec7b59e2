//! Registers as operands name them: banks, indices and their text.

use std::fmt;

/// A register. Pipeline page 1.2 and 3.1.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Register {
    /// Bank 0: constants, special registers, internal registers and pixel outputs by their numbers.
    Special(u16),
    /// A temporary, of the instance.
    Temp(u16),
    /// A vertex input, of the instance.
    Vtxin(u16),
    /// A coefficient.
    Coeff(u16),
    /// A shared register.
    Shared(u16),
    /// A coefficient in the second view.
    CoeffAlt(u16),
    /// An index register itself, 0 or 1.
    Index(u8),
    /// The register of a file whose number is an index register plus an offset.
    Relative {
        /// Which index register, 0 or 1.
        index: u8,
        /// The file.
        file: File,
        /// What is added.
        offset: u8,
    },
}

/// The files that an index register can lead to. 1.2.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the names are those of the registers")]
pub enum File {
    Temp,
    Vtxin,
    Coeff,
    Shared,
    CoeffAlt,
    Pixout,
}

/// Code and text of the files.
const FILES: [(u16, &str, File); 6] = [
    (0, "r", File::Temp),
    (1, "vi", File::Vtxin),
    (2, "cf", File::Coeff),
    (3, "sh", File::Shared),
    (6, "cfa", File::CoeffAlt),
    (7, "po", File::Pixout),
];

/// The field of an index-relative operand that stands for the index register itself.
const ITSELF: u16 = 5;

/// What a special number is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Special {
    /// A constant with these bits.
    Constant(u32),
    /// A pixel output.
    Pixout(u8),
    /// An internal register.
    Internal(u8),
    /// A register of the hardware, by its name.
    Named(&'static str),
    /// Nobody says what it is.
    Unknown,
}

/// Special registers by name, internal ones, pixel outputs and constants left out. 3.1.
pub const NAMED: &[(u16, &str)] = &[
    (44, "face_orient"),
    (45, "cluster_num"),
    (46, "output_part"),
    (47, "task_id"),
    (48, "slot_num"),
    (49, "tile_x_pix"),
    (50, "tile_y_pix"),
    (51, "inst_num"),
    (52, "dm_task_type"),
    (53, "samp_num"),
    (54, "tiled_ld_comp0"),
    (55, "tiled_ld_comp1"),
    (56, "tiled_ld_comp2"),
    (57, "tiled_ld_comp3"),
    (58, "tiled_st_comp0"),
    (59, "tiled_st_comp1"),
    (60, "tiled_st_comp2"),
    (61, "tiled_st_comp3"),
    (62, "batch_num"),
    (63, "inst_valid"),
    (96, "tile_xy"),
    (97, "x_p"),
    (98, "x_s"),
    (100, "y_p"),
    (101, "y_s"),
    (102, "wg_id"),
    (103, "sh_alloc_size"),
    (104, "global0"),
    (105, "global1"),
    (106, "global2"),
    (107, "global3"),
    (108, "global4"),
    (109, "global5"),
    (110, "global6"),
    (111, "global7"),
    (112, "local_addr_inst_num"),
    (114, "tile_x_p"),
    (115, "tile_x_s"),
    (116, "tile_y_p"),
    (117, "tile_y_s"),
    (118, "render_tgt_id"),
    (119, "tiled_ld_comp4"),
    (120, "tiled_ld_comp5"),
    (121, "tiled_ld_comp6"),
    (122, "tiled_ld_comp7"),
    (123, "tiled_st_comp4"),
    (124, "tiled_st_comp5"),
    (125, "tiled_st_comp6"),
    (126, "tiled_st_comp7"),
    (127, "gpu_offset"),
    (160, "timer_80ns"),
];

/// The bits of constants 64 to 95. 3.2; 0 marks numbers that nobody explains.
const LOW: [u32; 32] = {
    let mut bits = [0; 32];
    bits[0] = 0x3f80_0000;
    let mut power = 1;
    while power <= 10 {
        bits[power] = (127 + power as u32) << 23;
        power += 1;
    }
    let mut power = 1;
    while power <= 14 {
        bits[10 + power] = (127 - power as u32) << 23;
        power += 1;
    }
    // e, 1/e, sqrt 2, 1/sqrt 2, pi/4, pi/2, pi.
    bits[25] = 0x402d_f854;
    bits[26] = 0x3ebc_5ab2;
    bits[27] = 0x3fb5_04f3;
    bits[28] = 0x3f35_04f3;
    bits[29] = 0x3f49_0fdb;
    bits[30] = 0x3fc9_0fdb;
    bits[31] = 0x4049_0fdb;
    bits
};

/// The bits of constants 128 to 159. 3.2.
const HIGH: [u32; 32] = [
    0x3ea2_f983,
    0x3f22_f983,
    0x3fa2_f983,
    0x40c9_0fdb,
    0x4149_0fdb,
    0x41c9_0fdb,
    0x3780_0000,
    0x3800_0000,
    0x3b4d_2e1c,
    0x414e_b852,
    0x3ed5_5555,
    0x3f87_0a3d,
    0x3d61_47ae,
    0x8000_0000,
    0x7f80_0000,
    0xffff_ffff,
    0x7fff_7fff,
    0x3e9a_209b,
    0x3f31_7218,
    0x0000_007f,
    0x7f7f_ffff,
    0x4b00_0000,
    0x4b80_0000,
    0x3f86_0a92,
    0x3eaa_aaab,
    0x3e2a_aaab,
    0x4054_9a78,
    0x3fb8_aa3b,
    0x3d25_aee6,
    0x3d9e_8391,
    0x3f72_a76f,
    0x4019_999a,
];

/// What a number of the special bank means. 3.1 and 3.2.
pub fn special(number: u16) -> Special {
    match number {
        0..=31 => Special::Constant(number.into()),
        32..=35 => Special::Pixout((number - 32) as u8),
        36..=43 => Special::Internal((number - 36) as u8),
        64..=95 => Special::Constant(LOW[usize::from(number - 64)]),
        128..=159 => Special::Constant(HIGH[usize::from(number - 128)]),
        164..=167 => Special::Pixout((number - 160) as u8),
        _ => match NAMED.iter().find(|(known, _)| *known == number) {
            Some((_, name)) => Special::Named(name),
            None => Special::Unknown,
        },
    }
}

/// The number of the constant with these bits.
pub fn constant(bits: u32) -> Option<u16> {
    if bits < 32 {
        return Some(bits as u16);
    }
    let within = |table: &[u32; 32]| table.iter().position(|&known| known == bits);
    let low = within(&LOW).map(|at| 64 + at as u16);
    low.or_else(|| within(&HIGH).map(|at| 128 + at as u16))
}

impl Register {
    /// Constant 0: the register of a source that is not there.
    pub const ZERO: Register = Register::Special(0);

    /// A pixel output, 0 to 7.
    pub const fn pixout(number: u8) -> Register {
        let number = number as u16;
        Register::Special(if number < 4 { 32 + number } else { 160 + number })
    }

    /// An internal register, 0 to 7.
    pub const fn internal(number: u8) -> Register {
        Register::Special(36 + number as u16)
    }

    /// Bank (three bits) and index (eleven).
    pub fn code(self) -> (u8, u16) {
        match self {
            Register::Special(index) => (0, index),
            Register::Temp(index) => (1, index),
            Register::Vtxin(index) => (2, index),
            Register::Coeff(index) => (3, index),
            Register::Shared(index) => (4, index),
            Register::CoeffAlt(index) => (5, index),
            Register::Index(index) => (6 + index, ITSELF),
            Register::Relative { index, file, offset } => {
                let code = FILES.iter().find(|(_, _, known)| *known == file);
                (6 + index, code.map_or(0, |(code, _, _)| *code) | u16::from(offset) << 3)
            }
        }
    }

    /// The register of a bank (three bits) and an index (eleven); `None` where the index-relative form means nothing.
    pub fn of(bank: u8, index: u16) -> Option<Register> {
        Some(match bank {
            0 => Register::Special(index),
            1 => Register::Temp(index),
            2 => Register::Vtxin(index),
            3 => Register::Coeff(index),
            4 => Register::Shared(index),
            5 => Register::CoeffAlt(index),
            _ => {
                let (which, code, offset) = (bank & 1, index & 7, (index >> 3) as u8);
                if code == ITSELF {
                    return (offset == 0).then_some(Register::Index(which));
                }
                let (_, _, file) = FILES.iter().find(|(known, _, _)| *known == code)?;
                Register::Relative { index: which, file: *file, offset }
            }
        })
    }

    /// Reads a register's name.
    pub fn parse(text: &str) -> Option<Register> {
        if let Some((base, index)) = text.split_once('[') {
            let which = match index.strip_suffix(']')? {
                "idx0" => 0,
                "idx1" => 1,
                _ => return None,
            };
            let (name, number) = split(base)?;
            let (_, _, file) = FILES.iter().find(|(_, known, _)| *known == name)?;
            let offset = u8::try_from(number).ok()?;
            return Some(Register::Relative { index: which, file: *file, offset });
        }
        if let Some((number, _)) = NAMED.iter().find(|(_, name)| *name == text) {
            return Some(Register::Special(*number));
        }
        let (name, number) = split(text)?;
        let within = |limit: u16| (number < limit).then_some(number);
        Some(match name {
            "r" => Register::Temp(within(2048)?),
            "vi" => Register::Vtxin(within(2048)?),
            "cf" => Register::Coeff(within(2048)?),
            "sh" => Register::Shared(within(2048)?),
            "cfa" => Register::CoeffAlt(within(2048)?),
            "idx" => Register::Index(within(2)? as u8),
            "sc" | "sr" => Register::Special(within(2048)?),
            "i" => Register::internal(within(8)? as u8),
            "po" => Register::pixout(within(8)? as u8),
            _ => return None,
        })
    }
}

/// A name's letters and its number, which has no zeros before it.
fn split(text: &str) -> Option<(&str, u16)> {
    let at = text.find(|c: char| c.is_ascii_digit())?;
    let (name, digits) = text.split_at(at);
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    let canonical = digits.len() == 1 || !digits.starts_with('0');
    (plain && canonical).then(|| Some((name, digits.parse().ok()?)))?
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Register::Special(number) => match special(number) {
                Special::Constant(_) => write!(f, "sc{number}"),
                Special::Pixout(number) => write!(f, "po{number}"),
                Special::Internal(number) => write!(f, "i{number}"),
                Special::Named(_) | Special::Unknown => write!(f, "sr{number}"),
            },
            Register::Temp(number) => write!(f, "r{number}"),
            Register::Vtxin(number) => write!(f, "vi{number}"),
            Register::Coeff(number) => write!(f, "cf{number}"),
            Register::Shared(number) => write!(f, "sh{number}"),
            Register::CoeffAlt(number) => write!(f, "cfa{number}"),
            Register::Index(number) => write!(f, "idx{number}"),
            Register::Relative { index, file, offset } => {
                let name =
                    FILES.iter().find(|(_, _, known)| *known == file).map_or("", |row| row.1);
                write!(f, "{name}{offset}[idx{index}]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_means_a_register_comes_back_from_its_text() {
        let mut known = 0;
        for bank in 0..8 {
            for index in 0..2048 {
                let Some(register) = Register::of(bank, index) else { continue };
                known += 1;
                assert_eq!(register.code(), (bank, index));
                assert_eq!(Register::parse(&register.to_string()), Some(register));
            }
        }
        // Of the index-relative ones, six files of 256 and the register itself.
        assert_eq!(known, 6 * 2048 + 2 * (6 * 256 + 1));
    }

    #[test]
    fn names_that_are_none_are_refused() {
        for text in [
            "",
            "r",
            "r01",
            "r2048",
            "i8",
            "po8",
            "idx2",
            "cf3[idx2]",
            "sc5[idx0]",
            "r1[idx0",
            "q3",
            "r+1",
            "r256[idx0]",
        ] {
            assert_eq!(Register::parse(text), None, "{text}");
        }
        assert_eq!(Register::parse("global2"), Some(Register::Special(106)));
    }

    #[test]
    fn constants_have_the_bits_that_the_table_prints() {
        assert_eq!(special(65), Special::Constant(2f32.to_bits()));
        assert_eq!(special(74), Special::Constant(1024f32.to_bits()));
        assert_eq!(special(88), Special::Constant((0.5f32).powi(14).to_bits()));
        assert_eq!(special(91), Special::Constant(std::f32::consts::SQRT_2.to_bits()));
        assert_eq!(special(146), Special::Constant(std::f32::consts::LN_2.to_bits()));
        assert_eq!(special(153), Special::Constant((1f32 / 6.0).to_bits()));
        assert_eq!(special(155), Special::Constant(std::f32::consts::LOG2_E.to_bits()));
        assert_eq!(constant(u32::MAX), Some(143));
        assert_eq!(constant(0x1234_5678), None);
    }
}
