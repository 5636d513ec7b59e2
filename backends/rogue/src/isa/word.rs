//! Words of sources and of destinations: every form, the shortest one first. Pipeline page 1.2 and 1.4.

use super::register::Register;

/// Bits of a word that hold a number, as runs of neighbours.
#[derive(Copy, Clone, Debug)]
struct Bits {
    /// Width of the number.
    width: u8,
    /// All of them in the word.
    mask: u64,
    /// The lowest bit of a run in the word and in the number, and a mask of its width.
    runs: [(u8, u8, u64); 4],
}

impl Bits {
    /// The number's bits, lowest first, by their places in the word: four runs at most.
    const fn of(places: &[u8]) -> Bits {
        let mut bits = Bits { width: places.len() as u8, mask: 0, runs: [(0, 0, 0); 4] };
        let (mut at, mut run) = (0, 0);
        while at < places.len() {
            let first = at;
            while at < places.len() && places[at] as usize == places[first] as usize + at - first {
                bits.mask |= 1 << places[at];
                at += 1;
            }
            bits.runs[run] = (places[first], first as u8, (1 << (at - first)) - 1);
            run += 1;
        }
        bits
    }

    fn spread(&self, value: u16) -> u64 {
        let value = u64::from(value);
        self.runs.iter().fold(0, |word, (to, from, mask)| word | (value >> from & mask) << to)
    }

    fn gather(&self, word: u64) -> u16 {
        self.runs.iter().fold(0, |value, (from, to, mask)| value | (word >> from & mask) << to)
            as u16
    }
}

/// Bits of one operand within a word: of its bank, and of its index.
#[derive(Copy, Clone, Debug)]
struct Place {
    bank: Bits,
    index: Bits,
}

const fn place(bank: &[u8], index: &[u8]) -> Place {
    Place { bank: Bits::of(bank), index: Bits::of(index) }
}

const NOWHERE: Place = place(&[], &[]);

impl Place {
    /// Whether the operand's bank and index, of so many bits, have room.
    fn fits(&self, needed: (u8, u8)) -> bool {
        needed.0 <= self.bank.width && needed.1 <= self.index.width
    }

    fn put(&self, register: Register) -> u64 {
        let (bank, index) = register.code();
        self.bank.spread(bank.into()) | self.index.spread(index)
    }

    fn get(&self, bits: u64) -> (u8, u16) {
        (self.bank.gather(bits) as u8, self.index.gather(bits))
    }
}

/// A form of a word.
#[derive(Debug)]
pub struct Form {
    /// Its name: operands, bank bits, index bits.
    pub name: &'static str,
    /// Bytes.
    pub bytes: usize,
    /// The bits that are 1 in this form and tell it from others, and all bits that do.
    fixed: u64,
    told: u64,
    operands: [Place; 3],
    /// Bits of the multiplexer.
    mux: Bits,
    /// All bits that mean something.
    used: u64,
}

const SIX: &[u8] = &[0, 1, 2, 3, 4, 5];
const FIVE: &[u8] = &[8, 9, 10, 11, 12];
const A7: &[u8] = &[0, 1, 2, 3, 4, 5, 18];
const B7: &[u8] = &[8, 9, 10, 11, 12, 16, 17];
/// With a fourth byte of two operands.
const A11_2: &[u8] = &[0, 1, 2, 3, 4, 5, 18, 25, 29, 30, 31];
const B8_2: &[u8] = &[8, 9, 10, 11, 12, 16, 17, 24];
/// With a fifth byte of three operands.
const A8_3: &[u8] = &[0, 1, 2, 3, 4, 5, 18, 33];
const B8_3: &[u8] = &[8, 9, 10, 11, 12, 16, 17, 32];
const C6: &[u8] = &[24, 25, 26, 27, 28, 29];
const C8: &[u8] = &[24, 25, 26, 27, 28, 29, 37, 38];
const A11_3: &[u8] = &[0, 1, 2, 3, 4, 5, 18, 33, 40, 41, 42];
const C11: &[u8] = &[24, 25, 26, 27, 28, 29, 37, 38, 43, 44, 45];

const EXT0: u64 = 1 << 7;
const SEL: u64 = 1 << 15;
const EXT1: u64 = 1 << 14;
const EXT2: u64 = 1 << 23;
const EXT4: u64 = 1 << 34;

const ONE: [Place; 3] = [place(&[6], SIX), NOWHERE, NOWHERE];
const ONE_LONG: [Place; 3] =
    [place(&[6, 10, 11], &[0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 18]), NOWHERE, NOWHERE];
const TWO: [Place; 3] = [place(&[6], SIX), place(&[13], FIVE), NOWHERE];
const TWO_MORE: [Place; 3] = [place(&[6, 20], A7), place(&[13, 19], B7), NOWHERE];
const TWO_LONG: [Place; 3] = [place(&[6, 20, 27], A11_2), place(&[13, 19], B8_2), NOWHERE];
const THREE: [Place; 3] = [place(&[6, 20], A7), place(&[13, 19], B7), place(&[30, 31], C6)];
const A_MORE: Place = place(&[6, 20, 35], A8_3);
const A_LONG: Place = place(&[6, 20, 35], A11_3);
const B_MORE: Place = place(&[13, 19], B8_3);

const fn form(
    name: &'static str,
    bytes: usize,
    fixed: u64,
    told: u64,
    operands: [Place; 3],
    mux: &[u8],
) -> Form {
    let mux = Bits::of(mux);
    let mut used = told | mux.mask;
    let mut at = 0;
    while at < operands.len() {
        used |= operands[at].bank.mask | operands[at].index.mask;
        at += 1;
    }
    Form { name, bytes, fixed, told, operands, mux, used }
}

const TOLD1: u64 = EXT0;
const TOLD2: u64 = EXT0 | SEL | EXT1;
const TOLD3: u64 = TOLD2 | EXT2;
const TOLD5: u64 = TOLD3 | EXT4;

/// Forms of the word of S0 to S2, in the order in which the encoder tries them.
pub static LOWER: [Form; 8] = [
    form("1lo_1b6i", 1, 0, TOLD1, ONE, &[]),
    form("2lo_1b6i_1b5i", 2, EXT0 | SEL, TOLD2, TWO, &[]),
    form("1lo_3b11i_2m", 3, EXT0, TOLD2, ONE_LONG, &[12, 13]),
    form("2lo_2b7i_2b7i_2m", 3, EXT0 | SEL | EXT1, TOLD3, TWO_MORE, &[21, 22]),
    form("2lo_3b11i_2b8i_3m", 4, EXT0 | SEL | EXT1 | EXT2, TOLD3, TWO_LONG, &[21, 22, 28]),
    form("3lo_2b7i_2b7i_2b6i_2m", 4, EXT0 | EXT1, TOLD3, THREE, &[21, 22]),
    form(
        "3lo_3b8i_2b8i_3b8i_3m",
        5,
        EXT0 | EXT1 | EXT2,
        TOLD5,
        [A_MORE, B_MORE, place(&[30, 31, 39], C8)],
        &[21, 22, 36],
    ),
    form(
        "3lo_3b11i_2b8i_3b11i_3m",
        6,
        EXT0 | EXT1 | EXT2 | EXT4,
        TOLD5,
        [A_LONG, B_MORE, place(&[30, 31, 39], C11)],
        &[21, 22, 36],
    ),
];

/// Forms of the word of S3 to S5. No multiplexer stands in them.
pub static UPPER: [Form; 8] = [
    form("1up_1b6i", 1, 0, TOLD1, ONE, &[]),
    form("2up_1b6i_1b5i", 2, EXT0 | SEL, TOLD2, TWO, &[]),
    form("1up_3b11i", 3, EXT0, TOLD2, ONE_LONG, &[]),
    form("2up_2b7i_2b7i", 3, EXT0 | SEL | EXT1, TOLD3, TWO_MORE, &[]),
    form("2up_3b11i_2b8i", 4, EXT0 | SEL | EXT1 | EXT2, TOLD3, TWO_LONG, &[]),
    form("3up_2b7i_2b7i_2b6i", 4, EXT0 | EXT1, TOLD3, THREE, &[]),
    form(
        "3up_3b8i_2b8i_2b8i",
        5,
        EXT0 | EXT1 | EXT2,
        TOLD5,
        [A_MORE, B_MORE, place(&[30, 31], C8)],
        &[],
    ),
    form(
        "3up_3b11i_2b8i_2b8i",
        6,
        EXT0 | EXT1 | EXT2 | EXT4,
        TOLD5,
        [A_LONG, B_MORE, place(&[30, 31], C8)],
        &[],
    ),
];

/// Forms of the word of one destination.
pub static DESTINATION: [Form; 2] = [
    form("1_1b6i", 1, 0, EXT0, ONE, &[]),
    form(
        "1_3b11i",
        2,
        EXT0,
        EXT0,
        [place(&[6, 10, 11], &[0, 1, 2, 3, 4, 5, 8, 9, 12, 13, 14]), NOWHERE, NOWHERE],
        &[],
    ),
];

const D0_7: &[u8] = &[0, 1, 2, 3, 4, 5, 6];
const D0_8: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 16];
const D1_6: &[u8] = &[8, 9, 10, 11, 12, 13];
const D1_8: &[u8] = &[8, 9, 10, 11, 12, 13, 19, 20];
/// More bytes follow in the words of two destinations.
const MORE1: u64 = 1 << 15;
const MORE2: u64 = 1 << 23;

/// Forms of the word of two destinations.
pub static DESTINATIONS: [Form; 3] = [
    form("2_1b7i_1b6i", 2, 0, MORE1, [place(&[7], D0_7), place(&[14], D1_6), NOWHERE], &[]),
    form(
        "2_3b8i_3b8i",
        3,
        MORE1,
        MORE1 | MORE2,
        [place(&[7, 17, 18], D0_8), place(&[14, 21, 22], D1_8), NOWHERE],
        &[],
    ),
    form(
        "2_3b11i_3b11i",
        4,
        MORE1 | MORE2,
        MORE1 | MORE2,
        [
            place(&[7, 17, 18], &[0, 1, 2, 3, 4, 5, 6, 16, 24, 25, 26]),
            place(&[14, 21, 22], &[8, 9, 10, 11, 12, 13, 19, 20, 27, 28, 29]),
            NOWHERE,
        ],
        &[],
    ),
];

/// Why bytes are no word.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WordError {
    #[error("the word goes beyond the group")]
    Short,
    #[error("reserved bits of the form {0} must be 0")]
    Reserved(&'static str),
    #[error("bank {bank} has no register {index}")]
    Register { bank: u8, index: u16 },
    #[error("the multiplexer has no source {0}")]
    Mux(u8),
}

/// A word as it was read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Operands that the form lacks are constant 0.
    pub operands: [Register; 3],
    pub mux: u8,
    /// The form's place in its list.
    pub form: u8,
    pub bytes: usize,
}

impl Form {
    /// Whether the form can say this.
    pub fn fits(&self, operands: [Register; 3], mux: u8) -> bool {
        self.has_room(operands.map(needed), mux)
    }

    fn has_room(&self, needed: [(u8, u8); 3], mux: u8) -> bool {
        mux >> self.mux.width == 0
            && self.operands.iter().zip(needed).all(|(place, needed)| place.fits(needed))
    }

    /// The bytes of a word of this form, which [`Form::fits`] has allowed.
    pub fn put(&self, operands: [Register; 3], mux: u8, out: &mut Vec<u8>) {
        let places = self.operands.iter().zip(operands);
        let bits = places.fold(self.fixed, |bits, (place, register)| bits | place.put(register));
        let bits = bits | self.mux.spread(mux.into());
        out.extend_from_slice(&bits.to_le_bytes()[..self.bytes]);
    }
}

/// Bits that bank and index of a register need.
fn needed(register: Register) -> (u8, u8) {
    let (bank, index) = register.code();
    ((u8::BITS - bank.leading_zeros()) as u8, (u16::BITS - index.leading_zeros()) as u8)
}

/// The first form that can say this.
pub fn shortest(forms: &[Form], operands: [Register; 3], mux: u8) -> Option<u8> {
    let needed = operands.map(needed);
    let at = forms.iter().position(|form| form.has_room(needed, mux))?;
    Some(at as u8)
}

/// Reads a word at the beginning of `bytes`.
///
/// # Errors
/// What is wrong with it.
pub fn read(forms: &[Form], bytes: &[u8]) -> Result<Word, WordError> {
    let mut eight = [0; 8];
    let given = bytes.len().min(8);
    eight[..given].copy_from_slice(&bytes[..given]);
    let bits = u64::from_le_bytes(eight);
    // The bits that tell forms apart lie in bytes that every form with such bits has.
    let told = forms.iter().position(|form| bits & form.told == form.fixed);
    let at = told.ok_or(WordError::Short)?;
    let form = &forms[at];
    if given < form.bytes {
        return Err(WordError::Short);
    }
    let own = bits & (u64::MAX >> (64 - 8 * form.bytes));
    if own & !form.used != 0 {
        return Err(WordError::Reserved(form.name));
    }
    let mut operands = [Register::ZERO; 3];
    for (operand, place) in operands.iter_mut().zip(&form.operands) {
        let (bank, index) = place.get(own);
        *operand = Register::of(bank, index).ok_or(WordError::Register { bank, index })?;
    }
    let mux = form.mux.gather(own) as u8;
    if mux > 5 {
        return Err(WordError::Mux(mux));
    }
    Ok(Word { operands, mux, form: at as u8, bytes: form.bytes })
}
