//! Operand constraints of fast-access uniforms.
//!
//! Which uniforms, constants and specials one instruction may read together: one predicate, used to validate and to
//! repair. Fast access uniforms (FAU) are 32-bit words in aligned slots of 64 bits (isa/valhall_rogue.md 1.2, 1.3).

use crate::isa::Opcode;

/// The table of small constants that every instruction can read. Arm's v9 description, `small_constant_t`.
#[rustfmt::skip]
pub const LUT: [u32; 32] = [
    0x0000_0000, 0xffff_ffff, 0x7fff_ffff, 0xfafc_fdfe, 0x0100_0000, 0x8000_2000, 0x7060_5030, 0xc0b0_a090,
    0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c, 0x1312_1110, 0x1716_1514, 0x1b1a_1918, 0x1f1e_1d1c,
    0x3f80_0000, 0x3dcc_cccd, 0x3ea2_f983, 0x3f31_7218, 0x4049_0fdb, 0x0000_0000, 0x477f_ff00, 0x5c00_5bf8,
    0x2e66_0000, 0x3400_0000, 0x3800_0000, 0x3c00_0000, 0x4000_0000, 0x4400_0000, 0x4800_0000, 0x4248_0000,
];

/// What a source byte of `0b1xxxxxxx` reads, with the page of its instruction.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Read {
    /// An entry, 0..=31, of the table of small constants.
    Lut(u8),
    /// A word, 0..=255, of the uniforms: 64 to a page.
    Uniform(u8),
    /// A word of a special.
    Special {
        /// Page, 0, 1 or 3.
        page: u8,
        /// Which 64 bits, 0..=15.
        slot: u8,
        /// Which half.
        word: u8,
    },
}

/// Specials that exist, one bit a slot, by page. Digest 1.2.
const SPECIALS: [u16; 4] = [0xff74, 0x008a, 0x0000, 0x800a];

/// The number of the warp, which message instructions cannot read either.
const WARP_ID: u8 = 2;

impl Read {
    /// The constant zero.
    pub const ZERO: Read = Read::Lut(0);

    /// What a source byte means; `None` for registers.
    ///
    /// # Errors
    /// The byte as it is, when it is reserved.
    pub fn of(byte: u8, page: u8) -> Result<Option<Read>, u8> {
        Ok(Some(match byte >> 5 {
            0..=3 => return Ok(None),
            4 | 5 => Read::Uniform(page << 6 | byte & 0x3f),
            6 => Read::Lut(byte & 0x1f),
            _ => {
                let (slot, word) = (byte >> 1 & 0xf, byte & 1);
                if SPECIALS[usize::from(page & 3)] >> slot & 1 == 0 {
                    return Err(byte);
                }
                Read::Special { page, slot, word }
            }
        }))
    }

    /// The source byte.
    pub const fn byte(self) -> u8 {
        match self {
            Read::Lut(entry) => 0xc0 | entry,
            Read::Uniform(word) => 0x80 | word & 0x3f,
            Read::Special { slot, word, .. } => 0xe0 | slot << 1 | word,
        }
    }

    /// The page that an instruction with this source names. Constants count as page 0.
    pub const fn page(self) -> u8 {
        match self {
            Read::Lut(_) => 0,
            Read::Uniform(word) => word >> 6,
            Read::Special { page, .. } => page,
        }
    }

    /// The high word, where this is the low one of 64 bits. Constants are extended with zeros.
    pub const fn high(self) -> Read {
        match self {
            Read::Lut(_) => Read::Lut(0),
            Read::Uniform(word) => Read::Uniform(word | 1),
            Read::Special { page, slot, .. } => Read::Special { page, slot, word: 1 },
        }
    }

    /// Whether 64 bits may begin here.
    const fn begins_pair(self) -> bool {
        match self {
            Read::Lut(_) => true,
            Read::Uniform(word) => word & 1 == 0,
            Read::Special { word, .. } => word == 0,
        }
    }
}

/// Who reads.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reader {
    /// An instruction of the execution engine.
    Execution,
    /// A message.
    Message,
    /// ATEST and BLEND: messages that read as the execution engine does.
    Output,
}

impl Reader {
    /// Who reads the sources of an instruction.
    pub fn of(opcode: Opcode) -> Reader {
        match opcode {
            Opcode::Atest | Opcode::Blend => Reader::Output,
            _ if opcode.is_message() => Reader::Message,
            _ => Reader::Execution,
        }
    }
}

/// A rule that a source would break.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// Two pages.
    #[error(
        "an instruction reads one page of uniforms, and constants stand in page 0 (digest 1.3, 1)"
    )]
    Page,
    /// Too many slots.
    #[error("an instruction reads one 64-bit uniform slot, a message two (digest 1.3, 2)")]
    Slots,
    /// Too many words.
    #[error(
        "an instruction reads two words of uniforms and constants, a message three (digest 1.3, 2 and 3)"
    )]
    Words,
    /// Two specials.
    #[error("an instruction reads one special (digest 1.3, 4)")]
    Specials,
    /// A special and a uniform.
    #[error("a special and a uniform stand together in messages only (digest 1.3, 4)")]
    SpecialBesideUniform,
    /// A special that messages cannot read.
    #[error(
        "a message does not read the number of the warp nor specials of page 3 (digest 1.3, 4)"
    )]
    MessageSpecial,
    /// An odd word as 64 bits.
    #[error("64 bits begin at an even word (digest 1.2)")]
    Odd,
}

/// The sources of one instruction so far.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Sources {
    reader: Reader,
    page: Option<u8>,
    words: [Option<Read>; 3],
}

impl Sources {
    /// No source yet.
    pub const fn new(reader: Reader) -> Sources {
        Sources { reader, page: None, words: [None; 3] }
    }

    /// The page that the instruction names.
    pub fn page(&self) -> u8 {
        self.page.unwrap_or(0)
    }

    /// The sources with one more, of 32 bits or of 64.
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn admit(self, read: Read, wide: bool) -> Result<Sources, Violation> {
        let mut next = self;
        if *next.page.get_or_insert(read.page()) != read.page() {
            return Err(Violation::Page);
        }
        if wide && !read.begins_pair() {
            return Err(Violation::Odd);
        }
        next.word(read)?;
        if wide {
            next.word(read.high())?;
        }
        Ok(next)
    }

    fn word(&mut self, read: Read) -> Result<(), Violation> {
        if self.words.contains(&Some(read)) {
            return Ok(());
        }
        let message = self.reader == Reader::Message;
        let held = || self.words.iter().flatten();
        match read {
            Read::Lut(_) => {}
            Read::Uniform(word) => {
                let mut slots = [None; 2];
                let mut count = 0;
                let all = held().filter_map(|read| match read {
                    Read::Uniform(word) => Some(word >> 1),
                    _ => None,
                });
                for slot in all.chain([word >> 1]) {
                    if !slots.contains(&Some(slot)) {
                        if count == 1 + usize::from(message) {
                            return Err(Violation::Slots);
                        }
                        slots[count] = Some(slot);
                        count += 1;
                    }
                }
                if !message && held().any(|read| matches!(read, Read::Special { .. })) {
                    return Err(Violation::SpecialBesideUniform);
                }
            }
            Read::Special { page, slot, .. } => {
                if self.reader != Reader::Execution && (page == 3 || (page, slot) == (0, WARP_ID)) {
                    return Err(Violation::MessageSpecial);
                }
                for read in held() {
                    match *read {
                        Read::Special { slot: other, .. } if other != slot => {
                            return Err(Violation::Specials);
                        }
                        Read::Uniform(_) if !message => {
                            return Err(Violation::SpecialBesideUniform);
                        }
                        _ => {}
                    }
                }
            }
        }
        let room = if message { 3 } else { 2 };
        match self.words[..room].iter_mut().find(|word| word.is_none()) {
            Some(free) => {
                *free = Some(read);
                Ok(())
            }
            None => Err(Violation::Words),
        }
    }
}

/// The sources to move away so that the others may stand together: a bit for each of `sources`, registers are `None`.
/// As few as possible, and among those the earliest in the order of bits.
pub fn repair(reader: Reader, sources: &[Option<(Read, bool)>]) -> u32 {
    let candidates: u32 = sources
        .iter()
        .enumerate()
        .filter(|(_, source)| source.is_some())
        .fold(0, |mask, (k, _)| mask | 1 << k);
    let legal = |moved: u32| {
        let stay = sources
            .iter()
            .enumerate()
            .filter(|(k, _)| moved >> k & 1 == 0)
            .filter_map(|(_, source)| *source);
        stay.into_iter()
            .try_fold(Sources::new(reader), |state, (read, wide)| state.admit(read, wide))
            .is_ok()
    };
    // A moved pair costs two moves.
    let cost = |moved: u32| -> u32 {
        (0..sources.len())
            .filter(|k| moved >> k & 1 != 0)
            .map(|k| 1 + u32::from(sources[k].is_some_and(|(_, wide)| wide)))
            .sum()
    };
    (0..1u32 << sources.len())
        .filter(|moved| moved & !candidates == 0 && legal(*moved))
        .min_by_key(|&moved| (cost(moved), moved))
        .unwrap_or(candidates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Read::{Lut, Uniform};

    const LANE: Read = Read::Special { page: 3, slot: 1, word: 0 };
    const CORE: Read = Read::Special { page: 3, slot: 3, word: 0 };
    const TLS: Read = Read::Special { page: 1, slot: 1, word: 0 };
    const WLS: Read = Read::Special { page: 1, slot: 3, word: 0 };
    const DATUM: Read = Read::Special { page: 0, slot: 5, word: 0 };

    fn together(reader: Reader, reads: &[(Read, bool)]) -> Result<(), Violation> {
        reads
            .iter()
            .try_fold(Sources::new(reader), |state, &(read, wide)| state.admit(read, wide))
            .map(|_| ())
    }

    fn words(reader: Reader, reads: &[Read]) -> Result<(), Violation> {
        let reads: Vec<(Read, bool)> = reads.iter().map(|&read| (read, false)).collect();
        together(reader, &reads)
    }

    #[test]
    fn one_slot_two_words_and_the_same_word_any_number_of_times() {
        use Reader::Execution;
        assert_eq!(words(Execution, &[Uniform(4), Uniform(5), Uniform(4)]), Ok(()));
        assert_eq!(words(Execution, &[Uniform(0), Uniform(4)]), Err(Violation::Slots));
        assert_eq!(words(Execution, &[Uniform(5), Uniform(3)]), Err(Violation::Slots));
        assert_eq!(words(Execution, &[Uniform(5), Uniform(6)]), Err(Violation::Slots));
        assert_eq!(words(Execution, &[Uniform(0), Uniform(1), Lut(0)]), Err(Violation::Words));
        assert_eq!(words(Execution, &[Uniform(0), Lut(3), Lut(3)]), Ok(()));
        assert_eq!(words(Execution, &[Lut(1), Lut(2), Lut(3)]), Err(Violation::Words));
    }

    #[test]
    fn one_page_and_constants_are_of_page_0() {
        use Reader::Execution;
        assert_eq!(words(Execution, &[Uniform(64), Uniform(65)]), Ok(()));
        assert_eq!(words(Execution, &[Uniform(64), Lut(0)]), Err(Violation::Page));
        assert_eq!(words(Execution, &[Lut(0), LANE]), Err(Violation::Page));
        assert_eq!(words(Execution, &[Lut(0), Lut(1)]), Ok(()));
    }

    #[test]
    fn specials_stand_alone_but_for_messages() {
        use Reader::{Execution, Message, Output};
        assert_eq!(words(Execution, &[LANE, CORE]), Err(Violation::Specials));
        assert_eq!(words(Execution, &[TLS, WLS]), Err(Violation::Specials));
        assert_eq!(words(Execution, &[DATUM, Uniform(1)]), Err(Violation::SpecialBesideUniform));
        assert_eq!(words(Output, &[Uniform(1), DATUM]), Err(Violation::SpecialBesideUniform));
        assert_eq!(words(Message, &[DATUM, Uniform(1)]), Ok(()));
        assert_eq!(words(Message, &[LANE]), Err(Violation::MessageSpecial));
        assert_eq!(words(Execution, &[LANE]), Ok(()));
    }

    #[test]
    fn messages_read_two_slots_and_three_words() {
        use Reader::{Message, Output};
        assert_eq!(together(Message, &[(Uniform(0), true), (Uniform(2), false)]), Ok(()));
        assert_eq!(
            together(Message, &[(Uniform(0), true), (Uniform(2), true)]),
            Err(Violation::Words)
        );
        assert_eq!(words(Message, &[Uniform(0), Uniform(2), Uniform(4)]), Err(Violation::Slots));
        assert_eq!(words(Output, &[Uniform(0), Uniform(2)]), Err(Violation::Slots));
    }

    #[test]
    fn sixty_four_bits_are_two_words_from_an_even_one() {
        use Reader::Execution;
        assert_eq!(together(Execution, &[(Uniform(1), true)]), Err(Violation::Odd));
        assert_eq!(together(Execution, &[(Uniform(2), true), (Uniform(3), false)]), Ok(()));
        assert_eq!(
            together(Execution, &[(Lut(1), true), (Uniform(3), false)]),
            Err(Violation::Words)
        );
    }

    #[test]
    fn repair_moves_as_little_as_possible() {
        use Reader::Execution;
        let one = |reads: &[Read]| {
            let list: Vec<_> = reads.iter().map(|&read| Some((read, false))).collect();
            repair(Execution, &list)
        };
        assert_eq!(one(&[Uniform(0), Uniform(4), Uniform(5)]), 0b001);
        assert_eq!(one(&[Uniform(0), Uniform(1), Lut(0)]), 0b001);
        assert_eq!(one(&[Uniform(64), Lut(0)]), 0b01);
        assert_eq!(one(&[Uniform(3), Uniform(3), Uniform(3)]), 0);
        assert_eq!(
            repair(Execution, &[Some((Uniform(0), true)), None, Some((Uniform(8), false))]),
            0b100
        );
    }

    #[test]
    fn bytes_read_back_and_reserved_ones_do_not() {
        for page in 0..4 {
            for byte in 0..=255u8 {
                match Read::of(byte, page) {
                    Ok(Some(read)) => {
                        assert_eq!(read.byte(), byte);
                        assert!(read.page() == page || matches!(read, Lut(_)));
                    }
                    Ok(None) => assert!(byte < 0x80),
                    Err(same) => assert!(same == byte && byte >= 0xe0),
                }
            }
        }
        assert_eq!(Read::of(0xe2, 3), Ok(Some(LANE)));
        assert_eq!(Read::of(0xe0, 3), Err(0xe0));
    }

    #[test]
    fn what_is_admitted_here_the_assembler_takes_and_hardly_more() {
        use crate::isa::{SourceByte, rules};
        let opcodes = [
            Opcode::FmaF32,
            Opcode::CselS32,
            Opcode::IaddU64,
            Opcode::LoadI32,
            Opcode::StCvt,
            Opcode::LdTex,
            Opcode::Atest,
            Opcode::Blend,
        ];
        let mut seed = 1u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let (mut both, mut ours, mut total) = (0, 0, 0);
        while total < 20000 {
            let opcode = opcodes[random(8) as usize];
            let page = random(4) as u8;
            // Few words, so that sources often agree.
            let bytes: Vec<u8> = opcode
                .sources()
                .iter()
                .map(|_| match random(4) {
                    0 => random(64) as u8,
                    1 => 0x80 | random(6) as u8,
                    2 => 0xc0 | random(3) as u8,
                    _ => 0xe0 | random(32) as u8,
                })
                .collect();
            let theirs: Option<Vec<SourceByte>> =
                bytes.iter().map(|&byte| SourceByte::decode(byte, page)).collect();
            let here: Result<Vec<Option<Read>>, u8> =
                bytes.iter().map(|&byte| Read::of(byte, page)).collect();
            assert_eq!(theirs.is_some(), here.is_ok(), "{bytes:x?} on page {page}");
            let (Some(theirs), Ok(here)) = (theirs, here) else {
                continue;
            };
            total += 1;
            let pairs = opcode.sources().iter().zip(&here);
            let admitted = pairs
                .filter_map(|(source, read)| read.map(|read| (read, source.kind.is_pair())))
                .try_fold(Sources::new(Reader::of(opcode)), |state, (read, wide)| {
                    state.admit(read, wide)
                });
            let taken = rules::check_fau(opcode, &theirs);
            if admitted.is_ok() {
                ours += 1;
                assert!(taken.is_ok(), "{opcode:?} {here:?}: {taken:?}");
            }
            both += u32::from(taken.is_ok());
        }
        // The high words of pairs count here: a little less is admitted, not much.
        assert!(ours > 1000 && ours <= both && both < 2 * ours, "{ours} of {both}");
    }
}
