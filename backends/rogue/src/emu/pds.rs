//! Programs of the data sequencer: they move words to register files, and start programs of the shader core. 5.1.
//!
//! The public compiler's programs say what the page leaves open: a branch counts words from itself, and a condition of an
//! instruction is the predicate that the last branch set, at first IF0. IF1 is a coefficient task, IF0 the last instance of
//! a task [A].

mod word;

use super::memory::Memory;
use super::rule::{Refused, Rule};
use word::{Field, Word};

/// Words that one program may execute: they have no loops worth more.
const MOST_STEPS: usize = 4096;

/// What a program does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Words go to registers.
    Words {
        /// Of the common store, rather than of the instance.
        common: bool,
        /// The first register.
        register: u32,
        /// The words.
        words: Vec<u32>,
        /// It is the last transfer.
        last: bool,
    },
    /// A program of the shader core starts.
    Start {
        /// Its first byte, from the code's base.
        entry: u32,
        /// Temporaries an instance.
        temps: u32,
        /// 0 by instance, 1 by chosen samples, 2 by sample.
        rate: u32,
    },
    /// Coefficients of a varying are computed.
    Iterate {
        /// What of the vertices, and how.
        source: u32,
        /// Which set of coefficients.
        set: u32,
        /// It is the last one.
        last: bool,
    },
    /// Everything before it is done.
    Fence,
}

/// The predicates. 5.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Predicate {
    P0,
    If0,
    If1,
}

/// A program with its inputs.
#[derive(Clone, Debug)]
pub struct Pds<'a> {
    /// Memory.
    pub memory: &'a Memory,
    /// The data segment.
    pub data: u64,
    /// Its words.
    pub constants: u32,
    /// The code segment.
    pub code: u64,
    /// Temporaries that were given.
    pub temps: [Option<u32>; 32],
    /// Persistent temporaries.
    pub persistent: [Option<u32>; 32],
    /// How many temporaries there are.
    pub count: u32,
    /// The last instance of a task.
    pub if0: bool,
    /// A coefficient task.
    pub if1: bool,
}

fn undocumented<T>(what: impl Into<String>) -> Result<T, Refused> {
    Err((Rule::Undocumented, what.into()))
}

/// A register of 32 bits.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place {
    Constant(u32),
    Temp(u32),
    Persistent(u32),
}

/// By the number of a register of 32 bits.
fn place(number: u32) -> Result<Place, Refused> {
    Ok(match number {
        0..=127 => Place::Constant(number),
        128..=159 => Place::Temp(number - 128),
        192..=223 => Place::Persistent(number - 192),
        _ => return Err((Rule::PdsRegister, format!("register {number}"))),
    })
}

/// By the number of a register of 64 bits: its low half.
fn pair(number: u32) -> Result<Place, Refused> {
    Ok(match number {
        0..=63 => Place::Constant(2 * number),
        64..=79 => Place::Temp(2 * (number - 64)),
        96..=111 => Place::Persistent(2 * (number - 96)),
        _ => return Err((Rule::PdsRegister, format!("register pair {number}"))),
    })
}

/// A destination among temporaries, of so many each: the persistent ones follow.
const fn temporary(number: u32, each: u32) -> Place {
    if number < each { Place::Temp(number) } else { Place::Persistent(number - each) }
}

impl Place {
    const fn next(self) -> Place {
        match self {
            Place::Constant(at) => Place::Constant(at + 1),
            Place::Temp(at) => Place::Temp(at + 1),
            Place::Persistent(at) => Place::Persistent(at + 1),
        }
    }
}

impl Pds<'_> {
    fn read(&self, place: Place) -> Result<u32, Refused> {
        let missing = || (Rule::PdsRegister, format!("{place:?} was never written"));
        match place {
            Place::Constant(at) if at < self.constants => {
                self.memory.word(self.data + 4 * u64::from(at))
            }
            Place::Constant(at) => {
                Err((Rule::PdsRegister, format!("constant {at} of {}", self.constants)))
            }
            Place::Temp(at) if at < self.count => self.temps[at as usize & 31].ok_or_else(missing),
            Place::Temp(at) => {
                Err((Rule::PdsRegister, format!("temporary {at} of {}", self.count)))
            }
            Place::Persistent(at) => self.persistent[at as usize & 31].ok_or_else(missing),
        }
    }

    fn wide(&self, low: Place) -> Result<u64, Refused> {
        Ok(u64::from(self.read(low)?) | u64::from(self.read(low.next())?) << 32)
    }

    fn write(&mut self, place: Place, word: u32) -> Result<(), Refused> {
        match place {
            Place::Temp(at) if at < self.count => self.temps[at as usize & 31] = Some(word),
            Place::Persistent(at) => self.persistent[at as usize & 31] = Some(word),
            other => return Err((Rule::PdsRegister, format!("{other:?} is written"))),
        }
        Ok(())
    }

    fn write_wide(&mut self, low: Place, word: u64) -> Result<(), Refused> {
        self.write(low, word as u32)?;
        self.write(low.next(), (word >> 32) as u32)
    }

    /// Runs the program; each instruction and each word that it moves is a step.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn run(&mut self, steps: &mut u64) -> Result<Vec<Action>, Refused> {
        for address in [self.data, self.code] {
            if !address.is_multiple_of(16) {
                return Err((Rule::PdsAligned, format!("{address:#x}")));
            }
        }
        let mut actions = Vec::new();
        let (mut at, mut p0, mut chosen) = (0i64, None, Predicate::If0);
        for _ in 0..MOST_STEPS {
            let moved = match actions.last() {
                Some(Action::Words { words, .. }) => words.len() as u64,
                _ => 0,
            };
            let Some(left) = steps.checked_sub(1 + moved) else {
                return Err((Rule::Steps, "no steps are left".into()));
            };
            *steps = left;
            let address = self.code.wrapping_add_signed(4 * at);
            let word = Word(self.memory.word(address)?);
            let holds = |predicate: Predicate, p0: Option<bool>| match predicate {
                Predicate::If0 => Ok(self.if0),
                Predicate::If1 => Ok(self.if1),
                Predicate::P0 => p0.ok_or((Rule::PdsRegister, "P0 was never written".to_string())),
            };
            let opcode = word.get(Field(31, 28));
            if word.0 & reserved(word, opcode) != 0 {
                return Err((Rule::PdsCode, format!("reserved bits of {:#010x}", word.0)));
            }
            if opcode == 12 {
                let source = predicate(word.get(Field(27, 24)))?;
                let Some(source) = source else {
                    return undocumented("a branch that keeps its condition");
                };
                let next = predicate(word.get(Field(22, 19)))?;
                let taken = holds(source, p0)? != word.bit(23);
                chosen = next.unwrap_or(chosen);
                let offset = (word.get(Field(18, 0)) << 13) as i32 >> 13;
                at += if taken { i64::from(offset) } else { 1 };
                continue;
            }
            let conditional = opcode != 11 && word.bit(27);
            let executes = !conditional || holds(chosen, p0)?;
            if executes {
                if let Some(value) = self.execute(word, opcode, &mut actions)? {
                    p0 = Some(value);
                }
                // DOUT and DDMAD have an end bit; HALT ends too.
                let ends = matches!(opcode, 14 | 15) && word.bit(26)
                    || opcode == 13 && word.get(Field(26, 23)) == 6;
                if ends {
                    return Ok(actions);
                }
            }
            at += 1;
        }
        Err((Rule::PdsEnd, "the program does not end".into()))
    }

    /// Executes one instruction; gives P0 where it is written.
    fn execute(
        &mut self,
        word: Word,
        opcode: u32,
        actions: &mut Vec<Action>,
    ) -> Result<Option<bool>, Refused> {
        match opcode {
            0..=3 => self.mad(word)?,
            4 | 5 => self.logic(word)?,
            8 => {
                let a = self.wide(pair(word.get(Field(18, 12)))?)?;
                let b = self.wide(pair(word.get(Field(11, 5)))?)?;
                let to = word.get(Field(4, 0));
                let to =
                    if to < 16 { Place::Temp(2 * to) } else { Place::Persistent(2 * (to - 16)) };
                self.write_wide(to, a.wrapping_add(b))?;
            }
            9 => {
                let a = self.read(place(word.get(Field(21, 14)))?)?;
                let b = self.read(place(word.get(Field(13, 6)))?)?;
                let to = temporary(word.get(Field(5, 0)), 32);
                self.write(to, summed(a, b, word.bit(24)))?;
            }
            11 => return self.compare(word).map(Some),
            13 => self.special(word, actions)?,
            14 => self.dma_of_index(word, actions)?,
            15 => self.out(word, actions)?,
            other => return undocumented(format!("PDS instruction {other:#x}")),
        }
        Ok(None)
    }

    fn mad(&mut self, word: Word) -> Result<(), Refused> {
        let a = self.read(place(word.get(Field(26, 19)))?)?;
        let b = self.read(place(word.get(Field(18, 11)))?)?;
        let c = self.wide(pair(word.get(Field(10, 4)))?)?;
        let product = if word.bit(28) {
            (i64::from(a as i32) * i64::from(b as i32)) as u64
        } else {
            u64::from(a) * u64::from(b)
        };
        let total = if word.bit(29) { c.wrapping_sub(product) } else { c.wrapping_add(product) };
        self.write_wide(Place::Temp(2 * word.get(Field(3, 0))), total)
    }

    fn logic(&mut self, word: Word) -> Result<(), Refused> {
        let a = self.read(Place::Temp(word.get(Field(23, 19))))?;
        let b = self.read(place(word.get(Field(18, 11)))?)?;
        let result = match word.get(Field(26, 24)) {
            0 => a,
            1 => !a,
            2 => a & b,
            3 => a | b,
            4 => a ^ b,
            5 => !(a ^ b),
            6 => !(a & b),
            _ => !(a | b),
        };
        let shift = if word.bit(28) {
            (word.get(Field(10, 5)) << 26) as i32 >> 26
        } else {
            self.read(temporary(word.get(Field(10, 5)), 32))? as i32
        };
        let result = match shift {
            -31..=-1 => result >> -shift,
            0..=31 => result << shift,
            _ => 0,
        };
        self.write(Place::Temp(word.get(Field(4, 0))), result)
    }

    fn compare(&mut self, word: Word) -> Result<bool, Refused> {
        if !word.bit(24) {
            return Err((Rule::PdsCode, format!("{:#010x}", word.0)));
        }
        let number = word.get(Field(22, 18));
        let from = if number < 16 {
            Place::Temp(2 * number)
        } else {
            Place::Persistent(2 * (number - 16))
        };
        let a = self.wide(from)?;
        let b = if word.bit(23) {
            u64::from(word.get(Field(17, 2)))
        } else {
            self.wide(pair(word.get(Field(8, 2)))?)?
        };
        Ok(match word.get(Field(26, 25)) {
            0 => a == b,
            1 => a > b,
            2 => a < b,
            _ => a != b,
        })
    }

    fn special(&mut self, word: Word, _actions: &mut Vec<Action>) -> Result<(), Refused> {
        match word.get(Field(26, 23)) {
            // Waits, locks and fences order what is done in order here; HALT ends above.
            2 | 4 | 5 | 6 | 15 => Ok(()),
            3 => {
                if word.bit(1) {
                    return undocumented("an immediate of the global register");
                }
                self.write(Place::Temp(word.get(Field(22, 18))), word.get(Field(17, 2)))
            }
            other => undocumented(format!("PDS special operation {other}")),
        }
    }

    /// A transfer whose address is a product and a sum: how attributes are fetched.
    fn dma_of_index(&mut self, word: Word, actions: &mut Vec<Action>) -> Result<(), Refused> {
        let factor = self.read(place(word.get(Field(25, 18)))?)?;
        let index = self.read(Place::Temp(word.get(Field(17, 13))))?;
        let base = self.wide(pair(word.get(Field(12, 6)))?)?;
        let control = self.wide(Place::Constant(2 * word.get(Field(5, 0))))?;
        if control >> 32 & 1 == 1 {
            return undocumented("the test of bounds of a transfer");
        }
        let offset = u64::from(factor).wrapping_mul(index.into());
        let words =
            self.transfer(base.wrapping_add(offset), control as u32, Memory::word_anywhere)?;
        actions.push(words);
        Ok(())
    }

    /// The words of a transfer with its control word, and how each is read. That attributes begin anywhere is an assumption:
    /// evidence.rs.
    fn transfer(
        &self,
        address: u64,
        control: u32,
        read: fn(&Memory, u64) -> Result<u32, Refused>,
    ) -> Result<Action, Refused> {
        let word = Word(control);
        if word.get(Field(27, 26)) == 3 {
            return Err((Rule::PdsCode, format!("the cache mode of {control:#x}")));
        }
        if word.bit(12) || word.get(Field(30, 29)) != 0 {
            return undocumented(format!("a transfer's control word {control:#x}"));
        }
        let count = word.get(Field(11, 0));
        let words = (0..u64::from(count)).map(|at| read(self.memory, address.wrapping_add(4 * at)));
        Ok(Action::Words {
            common: word.bit(28),
            register: word.get(Field(25, 13)),
            words: words.collect::<Result<_, _>>()?,
            last: word.bit(31),
        })
    }

    fn out(&mut self, word: Word, actions: &mut Vec<Action>) -> Result<(), Refused> {
        let source = word.get(Field(14, 8));
        let control = |pds: &Self| pds.read(place(word.get(Field(23, 16)))?);
        let action = match word.get(Field(2, 0)) {
            0 => {
                let value = self.wide(pair(source)?)?;
                if value >> 53 & 0x1ff != 0 {
                    return Err((Rule::PdsCode, format!("reserved bits of {value:#x}")));
                }
                if value >> 40 & 0x1fff != 0 {
                    return undocumented("an offset of a transfer's destination");
                }
                self.transfer(value & 0xff_ffff_ffff, control(self)?, Memory::word)?
            }
            1 => {
                let control = Word(control(self)?);
                if control.0 & 0x6c00_1ffc != 0 {
                    return Err((Rule::PdsCode, format!("reserved bits of {:#x}", control.0)));
                }
                let low = pair(source)?;
                let words = match control.get(Field(1, 0)) {
                    0 => vec![self.read(low)?],
                    1 => vec![self.read(low.next())?],
                    2 => vec![self.read(low)?, self.read(low.next())?],
                    _ => Vec::new(),
                };
                let register = control.get(Field(25, 13));
                if words.len() == 2 && register % 2 == 1 {
                    let what = format!("64 bits to register {register}");
                    return Err((Rule::PdsTarget, what));
                }
                Action::Words { common: control.bit(28), register, words, last: control.bit(31) }
            }
            2 => {
                let value = self.wide(pair(source)?)?;
                if value & (1 << 32 | 3) != 0 || value >> 42 != 0 || value >> 33 & 3 == 3 {
                    return Err((Rule::PdsCode, format!("a start by {value:#x}")));
                }
                if value >> 41 != 0 {
                    return undocumented("a program of two phases");
                }
                Action::Start {
                    entry: value as u32,
                    temps: 4 * (value >> 35 & 0x3f) as u32,
                    rate: (value >> 33 & 3) as u32,
                }
            }
            4 => {
                let value = self.wide(pair(source)?)?;
                if value >> 28 & 0x3ff_ffff != 0 || value >> 62 & 1 != 0 {
                    return Err((Rule::PdsCode, format!("reserved bits of {value:#x}")));
                }
                Action::Iterate {
                    source: value as u32,
                    set: (value >> 54 & 0xff) as u32,
                    last: value >> 63 == 1,
                }
            }
            5 => Action::Fence,
            other => return undocumented(format!("an output to {other}")),
        };
        actions.push(action);
        Ok(())
    }
}

/// The bits of an instruction that are 0: no field has them. 5.1.
fn reserved(word: Word, opcode: u32) -> u32 {
    match opcode {
        8 => 0x0ff8_0000,
        9 => 0x02c0_0000,
        11 => 0x0800_0003,
        13 if word.get(Field(26, 23)) == 3 => 1,
        13 => 0x007f_ffff,
        15 => 0x0300_80f8,
        _ => 0,
    }
}

const fn summed(a: u32, b: u32, subtract: bool) -> u32 {
    if subtract { a.wrapping_sub(b) } else { a.wrapping_add(b) }
}

/// A predicate by its number; none where it is kept.
fn predicate(number: u32) -> Result<Option<Predicate>, Refused> {
    Ok(match number {
        0 => Some(Predicate::P0),
        1 => Some(Predicate::If0),
        2 => Some(Predicate::If1),
        8 => None,
        other => return undocumented(format!("predicate {other}")),
    })
}
