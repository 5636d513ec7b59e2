//! Decoding of instruction words. G45 vol. 4, 13.2, 13.3; isa/gen4.md 1.1 where print is wrong.

use super::Model;
use super::compact::expand;
use super::rule::Rule;
use super::value::Type;

macro_rules! opcodes {
    ($($name:ident $code:literal)*) => {
        /// An instruction of either chip. 13.3.
        #[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Opcode { $($name = $code),* }

        impl Opcode {
            /// Every opcode.
            #[cfg(test)]
            pub const ALL: &'static [Opcode] = &[$(Opcode::$name),*];

            /// The opcode of 7 bits.
            const fn of(code: u32) -> Option<Opcode> {
                match code {
                    $($code => Some(Opcode::$name),)*
                    _ => None,
                }
            }
        }
    };
}

opcodes! {
    Illegal 0x00 Mov 0x01 Sel 0x02 Movi 0x03 Not 0x04 And 0x05 Or 0x06 Xor 0x07 Shr 0x08 Shl 0x09 Asr 0x0c Cmp 0x10
    Cmpn 0x11 Jmpi 0x20 If 0x22 Iff 0x23 Else 0x24 Endif 0x25 Do 0x26 While 0x27 Break 0x28 Cont 0x29 Halt 0x2a
    Msave 0x2c Mrest 0x2d Push 0x2e Pop 0x2f Wait 0x30 Send 0x31 Add 0x40 Mul 0x41 Avg 0x42 Frc 0x43 Rndu 0x44
    Rndd 0x45 Rnde 0x46 Rndz 0x47 Mac 0x48 Mach 0x49 Lzd 0x4a Sad2 0x50 Sada2 0x51 Dp4 0x54 Dph 0x55 Dp3 0x56
    Dp2 0x57 Line 0x59 Pln 0x5a Nenop 0x7d Nop 0x7e
}

/// What an instruction's word has beside its control.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Nothing at all.
    Bare,
    /// A destination and one source.
    One,
    /// A destination and two sources.
    Two,
    /// Two operands, a distance and a number of levels.
    Branch,
    /// A destination, a source, a descriptor.
    Message,
}

impl Opcode {
    pub const fn form(self) -> Form {
        use Opcode::*;
        match self {
            Illegal | Nenop | Nop => Form::Bare,
            Mov | Movi | Not | Frc | Rndu | Rndd | Rnde | Rndz | Lzd | Msave | Mrest | Push
            | Wait => Form::One,
            If | Iff | Else | Endif | While | Break | Cont | Halt => Form::Branch,
            Send => Form::Message,
            _ => Form::Two,
        }
    }

    /// G45 alone has it.
    const fn late(self) -> bool {
        matches!(self, Opcode::Movi | Opcode::Pln | Opcode::Nenop)
    }

    /// The arithmetic groups, which write the accumulator by themselves. 13.3.3, 13.3.4.
    pub const fn accumulates(self) -> bool {
        let code = self as u32;
        code >= 0x40 && code < 0x60
    }
}

/// A register file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum File {
    Architecture,
    General,
    Message,
}

/// Where a region begins.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A register's number, with bit 7 of a message register for COMPR4, and a byte within it.
    Direct { register: u8, byte: u8 },
    /// The sub-register of a0 and bytes to add.
    Indirect { index: u8, offset: i16 },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub file: File,
    pub ty: Type,
    pub place: Place,
    /// Elements from one channel's to the next.
    pub stride: u8,
    /// Of each four channels, those that are written: all in Align1.
    pub mask: u8,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Align1, in elements; `vertical` is `None` where each row has an index.
    Plain { vertical: Option<u8>, width: u8, horizontal: u8 },
    /// Align16: elements from four channels to the next four, and which of four each channel reads.
    Swizzled { vertical: u8, select: [u8; 4] },
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub file: File,
    pub ty: Type,
    pub place: Place,
    pub rows: Rows,
    pub absolute: bool,
    pub negate: bool,
}

impl Source {
    /// One element for all channels.
    pub const fn is_scalar(&self) -> bool {
        matches!(self.rows, Rows::Plain { vertical: Some(0), horizontal: 0, .. })
    }

    pub const fn is_null(&self) -> bool {
        matches!(
            (self.file, self.place),
            (File::Architecture, Place::Direct { register: NULL, .. })
        )
    }
}

impl Destination {
    pub const fn is_null(&self) -> bool {
        matches!(
            (self.file, self.place),
            (File::Architecture, Place::Direct { register: NULL, .. })
        )
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// There is none.
    Absent,
    Register(Source),
    Number {
        ty: Type,
        bits: u32,
    },
}

/// Numbers of architecture registers: the type in bits 7:4. 11.3.4.
pub const NULL: u8 = 0x00;
pub const ADDRESS: u8 = 0x10;
pub const ACCUMULATOR: u8 = 0x20;
pub const FLAG: u8 = 0x30;
pub const MASK: u8 = 0x40;
pub const STACK: u8 = 0x50;
pub const DEPTH: u8 = 0x60;
pub const STATE: u8 = 0x70;
pub const CONTROL: u8 = 0x80;
pub const NOTIFICATION: u8 = 0x90;
pub const IP: u8 = 0xa0;
/// Bit of a message register's number in a compressed instruction: its second half lies 4 registers further.
pub const COMPR4: u8 = 0x80;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Compression {
    Normal,
    SecondHalf,
    Compressed,
}

/// Conditional modifiers. 13.2.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    None,
    Zero,
    NotZero,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Increment,
    Overflow,
    Unordered,
}

/// An instruction, read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub opcode: Opcode,
    pub compact: bool,
    pub align16: bool,
    pub no_mask: bool,
    pub no_clear: bool,
    pub no_check: bool,
    pub compression: Compression,
    pub switch: bool,
    /// PredCtrl of 4 bits, which the access mode reads.
    pub predicate: u8,
    pub inverse: bool,
    /// Channels: 1 to 32.
    pub channels: u32,
    pub condition: Condition,
    /// The message register of SEND.
    pub message: u8,
    pub debug: bool,
    pub saturate: bool,
    /// Which half of the flag register.
    pub flag: u8,
    pub dst: Destination,
    pub first: Operand,
    pub second: Operand,
    /// Of a branch: instructions to go.
    pub jump: i16,
    /// Of a branch: levels to pop.
    pub pop: u8,
}

/// Why bits are no instruction: the rule, and more in words.
pub type Broken = (Rule, &'static str);

/// A word and the bits of its fields.
#[derive(Copy, Clone)]
struct Word(u128);

impl Word {
    fn get(self, high: u32, low: u32) -> u32 {
        (self.0 >> low) as u32 & (u32::MAX >> (31 - (high - low)))
    }

    fn flag(self, at: u32) -> bool {
        self.0 >> at & 1 == 1
    }
}

/// A rule that holds or not.
pub fn hold(holds: bool, rule: Rule, what: &'static str) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err((rule, what)) }
}

/// Whether the first double word begins a compact instruction: bit 29, CompactCtrl.
pub const fn is_compact(first: u32) -> bool {
    first >> 29 & 1 == 1
}

/// Reads a native instruction of 128 bits.
///
/// # Errors
/// The rule that the bits break.
pub fn native(model: Model, bits: u128) -> Result<Instruction, Broken> {
    hold(bits >> 29 & 1 == 0, Rule::Reserved, "bit 29 names the compact form")?;
    let inst = read(model, bits)?;
    hold(inst.opcode != Opcode::Nenop, Rule::CompactForm, "nenop has the compact form alone")?;
    Ok(inst)
}

/// Reads a compact instruction of 64 bits.
///
/// # Errors
/// As [`native`].
pub fn compact(model: Model, bits: u64) -> Result<Instruction, Broken> {
    hold(model == Model::G45, Rule::CompactForm, "this chip has no compact instructions")?;
    let word = Word(u128::from(bits));
    let code = word.get(6, 0);
    if code == Opcode::Nenop as u32 {
        let rest = bits & !(0x7f | 1 << 7 | 1 << 29);
        hold(rest == 0, Rule::Reserved, "nenop has no operands")?;
        return read(model, u128::from(bits & 0x7f) | u128::from(bits >> 7 & 1) << 30)
            .map(|inst| Instruction { compact: true, ..inst });
    }
    let inst = read(model, expand(bits))?;
    let numbers = [inst.first, inst.second].iter().any(|x| matches!(x, Operand::Number { .. }));
    let branch = inst.opcode.form() == Form::Branch;
    hold(!numbers && !branch, Rule::CompactForm, "a number does not fit the compact form")?;
    Ok(Instruction { compact: true, ..inst })
}

fn read(model: Model, bits: u128) -> Result<Instruction, Broken> {
    let word = Word(bits);
    let opcode = Opcode::of(word.get(6, 0)).ok_or((Rule::Opcode, "the code is reserved"))?;
    hold(model == Model::G45 || !opcode.late(), Rule::Opcode, "G45 alone has it")?;
    let mut inst = Instruction { opcode, ..Instruction::NOTHING };
    inst.debug = word.flag(30);
    let form = opcode.form();
    if form == Form::Bare {
        let rest = bits & !(0x7f | 1 << 30);
        hold(rest == 0, Rule::Reserved, "the instruction has an opcode alone")?;
        return Ok(inst);
    }
    let reserved = [(7, 7), (28, 28), (47, 47), (95, 90)];
    for (high, low) in reserved {
        hold(word.get(high, low) == 0, Rule::Reserved, "a reserved bit is set")?;
    }
    controls(word, form, &mut inst)?;
    inst.dst = destination(word, inst.align16)?;
    let compressed = inst.compression == Compression::Compressed;
    if let (File::Message, Place::Direct { register, .. }) = (inst.dst.file, inst.dst.place) {
        let base = if compressed { register & !COMPR4 } else { register };
        hold(base < 16, Rule::Register, "message registers end at m15")?;
    }
    operands(word, form, &mut inst)?;
    Ok(inst)
}

impl Instruction {
    /// An instruction without operands.
    pub const NOTHING: Instruction = Instruction {
        opcode: Opcode::Nop,
        compact: false,
        align16: false,
        no_mask: false,
        no_clear: false,
        no_check: false,
        compression: Compression::Normal,
        switch: false,
        predicate: 0,
        inverse: false,
        channels: 1,
        condition: Condition::None,
        message: 0,
        debug: false,
        saturate: false,
        flag: 0,
        dst: Destination {
            file: File::Architecture,
            ty: Type::Ud,
            place: Place::Direct { register: NULL, byte: 0 },
            stride: 1,
            mask: 15,
        },
        first: Operand::Absent,
        second: Operand::Absent,
        jump: 0,
        pop: 0,
    };
}

/// Double word 0. 13.2.2.
fn controls(word: Word, form: Form, inst: &mut Instruction) -> Result<(), Broken> {
    inst.align16 = word.flag(8);
    inst.no_mask = word.flag(9);
    inst.no_clear = word.flag(10);
    inst.no_check = word.flag(11);
    inst.compression = match word.get(13, 12) {
        0 => Compression::Normal,
        1 => Compression::SecondHalf,
        2 => Compression::Compressed,
        _ => return Err((Rule::Code, "ComprCtrl 3")),
    };
    inst.switch = match word.get(15, 14) {
        0 => false,
        2 => true,
        _ => return Err((Rule::Code, "ThreadCtrl 1 or 3")),
    };
    inst.predicate = word.get(19, 16) as u8;
    let most = if inst.align16 { 7 } else { 11 };
    hold(inst.predicate <= most, Rule::Code, "PredCtrl of this access mode")?;
    inst.inverse = word.flag(20);
    let size = word.get(23, 21);
    hold(size <= 5, Rule::Code, "ExecSize 6 or 7")?;
    inst.channels = 1 << size;
    if form == Form::Message {
        inst.message = word.get(27, 24) as u8;
    } else {
        inst.condition = match word.get(27, 24) {
            0 => Condition::None,
            1 => Condition::Zero,
            2 => Condition::NotZero,
            3 => Condition::Greater,
            4 => Condition::GreaterEqual,
            5 => Condition::Less,
            6 => Condition::LessEqual,
            7 => Condition::Increment,
            8 => Condition::Overflow,
            9 => Condition::Unordered,
            _ => return Err((Rule::Code, "CondModifier 10 to 15")),
        };
    }
    inst.saturate = word.flag(31);
    inst.flag = word.get(89, 89) as u8;
    Ok(())
}

/// Double word 1. 13.2.3.
fn destination(word: Word, align16: bool) -> Result<Destination, Broken> {
    let file = match word.get(33, 32) {
        0 => File::Architecture,
        1 => File::General,
        2 => File::Message,
        _ => return Err((Rule::Code, "a number as the destination")),
    };
    let ty = Type::register(word.get(36, 34)).ok_or((Rule::Code, "type 6 of the destination"))?;
    let code = word.get(62, 61);
    hold(!align16 || code <= 1, Rule::Reserved, "a stride of Align16")?;
    // What stands there in Align16 says nothing: four elements always stand side by side.
    let stride = if align16 { 1 } else { [0, 1, 2, 4][code as usize] };
    let mask = if align16 { word.get(51, 48) as u8 } else { 15 };
    let place = place(word, 48, align16, file, ty)?;
    Ok(Destination { file, ty, place, stride, mask })
}

/// Registers and bytes, or an index: the 16 bits from `low` on. 13.2.1.
fn place(word: Word, low: u32, align16: bool, file: File, ty: Type) -> Result<Place, Broken> {
    if word.flag(low + 15) {
        hold(file != File::Architecture, Rule::Register, "an architecture register has no index")?;
        let index = word.get(low + 12, low + 10) as u8;
        let bits = word.get(low + 9, low) as i16;
        let bits = if align16 { bits & !15 } else { bits };
        return Ok(Place::Indirect { index, offset: bits << 6 >> 6 });
    }
    let register = word.get(low + 12, low + 5) as u8;
    let byte = word.get(low + 4, low) as u8;
    let byte = if align16 { byte & 16 } else { byte };
    match file {
        File::General => hold(register < 128, Rule::Register, "general registers end at r127")?,
        File::Architecture => {
            let known = matches!(register, 0x00 | 0x10 | 0x20 | 0x21 | 0x30 | 0x40 | 0x50 | 0x60)
                || matches!(register, 0x70 | 0x80 | 0x90 | 0x91 | 0xa0);
            hold(known, Rule::Register, "a reserved architecture register")?;
        }
        File::Message => {}
    }
    let aligned = u32::from(byte).is_multiple_of(ty.bytes());
    hold(aligned, Rule::Alignment, "an element lies across its size")?;
    Ok(Place::Direct { register, byte })
}

/// Double words 2 and 3. 13.2.4, 13.2.5.
fn operands(word: Word, form: Form, inst: &mut Instruction) -> Result<(), Broken> {
    const NUMBER: u32 = 3;
    let (first, second) = (word.get(38, 37), word.get(43, 42));
    let (first_type, second_type) = (word.get(41, 39), word.get(46, 44));
    let bits = word.get(127, 96);
    if first == NUMBER {
        hold(form == Form::One && inst.opcode != Opcode::Wait, Rule::Number, "the first of two")?;
        hold(second == 0, Rule::Number, "a second source beside the first as a number")?;
        hold(word.get(88, 64) == 0, Rule::Reserved, "a register beside a number")?;
        inst.first = number(first_type, bits)?;
        return Ok(());
    }
    inst.first = Operand::Register(source(word, 64, inst.align16, first, first_type)?);
    match form {
        Form::Bare => {}
        Form::One => {
            hold(second == 0, Rule::Number, "the instruction has one source")?;
            hold(bits == 0, Rule::Reserved, "the second source is not there")?;
        }
        Form::Branch => {
            hold(second == NUMBER, Rule::Number, "a branch has its distance as a number")?;
            hold(bits >> 20 == 0, Rule::Reserved, "bits 31:20 of a branch's number")?;
            Type::number(second_type).ok_or((Rule::Code, "the type of a number"))?;
            inst.second = Operand::Number {
                ty: Type::number(second_type).ok_or((Rule::Code, "the type of a number"))?,
                bits,
            };
            inst.jump = bits as u16 as i16;
            inst.pop = (bits >> 16 & 15) as u8;
        }
        Form::Two | Form::Message if second == NUMBER => {
            hold(inst.opcode != Opcode::Do, Rule::Number, "do has no number")?;
            if form == Form::Message {
                hold(bits >> 24 & 15 <= 7, Rule::Function, "target function 8 to 15")?;
                let ty = Type::number(second_type).ok_or((Rule::Code, "the type of a number"))?;
                inst.second = Operand::Number { ty, bits };
            } else {
                inst.second = number(second_type, bits)?;
            }
        }
        Form::Two | Form::Message => {
            hold(bits >> 25 == 0, Rule::Reserved, "bits 31:25 of the second source")?;
            let source = source(word, 96, inst.align16, second, second_type)?;
            let address = source.file == File::Architecture
                && source.place == Place::Direct { register: ADDRESS, byte: 0 };
            let fits = form == Form::Two || address;
            hold(fits, Rule::Descriptor, "a descriptor is a number or a0.0")?;
            inst.second = Operand::Register(source);
        }
    }
    Ok(())
}

/// A number of 32 bits; one of 16 bits stands twice. 13.2.1, Imm32.
fn number(code: u32, bits: u32) -> Result<Operand, Broken> {
    let ty = Type::number(code).ok_or((Rule::Code, "the type of a number"))?;
    let twice = !matches!(ty, Type::Uw | Type::W) || bits >> 16 == bits & 0xffff;
    hold(twice, Rule::Number, "a number of 16 bits stands in both halves")?;
    Ok(Operand::Number { ty, bits })
}

/// A register source whose double word begins at `low`.
fn source(word: Word, low: u32, align16: bool, file: u32, code: u32) -> Result<Source, Broken> {
    let file = match file {
        0 => File::Architecture,
        1 => File::General,
        _ => return Err((Rule::Code, "a message register cannot be read")),
    };
    let ty = Type::register(code).ok_or((Rule::Code, "type 6 of a source"))?;
    let vertical = word.get(low + 24, low + 21);
    let rows = if align16 {
        hold(!word.flag(low + 20), Rule::Reserved, "a bit of an Align16 source")?;
        let vertical = match vertical {
            0 => 0,
            3 => 4,
            _ => return Err((Rule::Code, "a vertical stride of Align16")),
        };
        let select = [
            word.get(low + 1, low) as u8,
            word.get(low + 3, low + 2) as u8,
            word.get(low + 17, low + 16) as u8,
            word.get(low + 19, low + 18) as u8,
        ];
        Rows::Swizzled { vertical, select }
    } else {
        let vertical = match vertical {
            15 if word.flag(low + 15) => None,
            0 => Some(0),
            1..=6 => Some(1 << (vertical - 1)),
            _ => return Err((Rule::Code, "a vertical stride")),
        };
        let width = word.get(low + 20, low + 18);
        hold(width <= 4, Rule::Code, "a width")?;
        let horizontal = [0, 1, 2, 4][word.get(low + 17, low + 16) as usize];
        Rows::Plain { vertical, width: 1 << width, horizontal }
    };
    let place = place(word, low, align16, file, ty)?;
    let (absolute, negate) = (word.flag(low + 13), word.flag(low + 14));
    Ok(Source { file, ty, place, rows, absolute, negate })
}
