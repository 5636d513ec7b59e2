//! Machine IR over physical registers becomes words, with the distances of branches. G45 vol. 4, chapters 13 and 14.

mod fragment;
pub mod geometry;
mod lanes;
mod math;
mod sampler;
mod table;
pub mod vertex;

use crate::abi::Abi;
use crate::inst::{
    Condition, Difference, Inst, MESSAGE, Masks, Source, Src, Stack, Test, UPPER, is_line,
};
use crate::isa::Machine;
use crate::isa::fields::f;
use crate::isa::implied::{Raw, implied};
use crate::isa::operand::{COMPR4, File, Operand, Place, Region, Type};
use crate::isa::ops::{OPS, Opcode, Shape};
use crate::limits;
use crate::lower::STATELESS;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Func, Reg};
use gpucc_ir::ssa::Span;
use gpucc_isa::{FieldId, Inst as Word};
use smallvec::SmallVec;

/// The message register of headers; m0 is the system routine's (isa/gen4.md 0.19).
const HEADER: u8 = 1;
/// The first of two of extended math's, which has no header.
const MATH: u8 = 14;
/// Codes of 16 channels, of eight, and of one. G45 vol. 4, 13.2.2, ExecSize.
const SIXTEEN: u32 = 4;
const EIGHT: u32 = 3;
const FOUR: u32 = 2;
const ONE: u32 = 0;
/// The code of an instruction that the machine splits in two. 13.2.2, ComprCtrl; 1 is the second half of one.
const COMPRESSED: u32 = 2;
/// Architecture registers by their numbers. G45 vol. 4, table 11-5.
const NULL: u32 = 0;
const ADDRESS: u32 = 0x10;
const FLAG: u32 = 0x30;
const MASK: u32 = 0x40;
const STACK: u32 = 0x50;
const DEPTH: u32 = 0x60;
/// The end of a root thread of the media pipeline. isa/gen4-pipeline.md 5.7.
const END: u32 = 0x8710_0000;
/// 0 to 7 as eight numbers of 4 bits.
const COUNTING: u32 = 0x7654_3210;

/// The words with what is told of them.
pub struct Emitted {
    pub code: Vec<u8>,
    /// The same words, each of 16 bytes.
    pub words: Vec<Word>,
    /// Source position from this byte offset on.
    pub lines: Vec<(u32, Span)>,
    pub loops: u64,
    pub branches: u64,
    /// Messages.
    pub sends: u64,
}

/// What is open while words are laid out.
enum Open {
    /// The word of `if` or `iff`, then that of `else`.
    If {
        start: usize,
        middle: Option<usize>,
        /// Replies under way where it begins, and where its arm ends.
        before: u128,
        after: u128,
    },
    /// The first word of the body, and the words of `break`.
    Loop { start: usize, breaks: Vec<usize> },
}

struct Emit<'a> {
    machine: Machine,
    abi: &'a Abi,
    words: Vec<Word>,
    open: Vec<Open>,
    /// A bit for each register with a reply that may be under way: another must not be sent to it (14.2.44).
    under_way: u128,
    /// A bit for each register that a word reads, and whether one names the pixels that live: what `begin` makes.
    read: u128,
    lives: bool,
    /// The lanes of the flag alone, or those that it has not.
    guard: Option<bool>,
    /// A write with commit may still be under way: it replies to the header that messages share.
    commits: bool,
    out: Emitted,
}

/// Lays out a function.
///
/// # Errors
/// [`Failure::Internal`] where a field does not hold what it is given, [`Failure::Limit`] for a branch that reaches too far.
pub fn emit(func: &Func<Inst>, abi: &Abi, machine: Machine) -> Result<Emitted, Failure> {
    let out = Emitted {
        code: Vec::new(),
        words: Vec::new(),
        lines: Vec::new(),
        loops: 0,
        branches: 0,
        sends: 0,
    };
    let mut emit = Emit {
        machine,
        abi,
        words: Vec::new(),
        open: Vec::new(),
        under_way: 0,
        read: 0,
        lives: false,
        guard: None,
        commits: false,
        out,
    };
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            let offset = 16 * emit.words.len() as u32;
            let lines = &mut emit.out.lines;
            if !node.span.is_none() && lines.last().is_none_or(|(_, span)| *span != node.span) {
                lines.push((offset, node.span));
            }
            emit.inst(&node.inst)?;
        }
    }
    emit.begin()?;
    let mut out = emit.out;
    out.code.reserve_exact(16 * emit.words.len());
    for word in &emit.words {
        out.code.extend_from_slice(&word.bits().to_le_bytes());
    }
    out.words = emit.words;
    Ok(out)
}

fn internal(message: impl ToString) -> Failure {
    Failure::Internal { pass: "emit", message: message.to_string() }
}

/// A register of lanes as a destination.
fn into(file: File, register: u32, ty: Type) -> Operand {
    let place = Place::Direct { register, byte: 0 };
    Operand { file, ty, place, region: Region::Stride(1), modifier: 0 }
}

/// Message registers that a message takes sources from, by the numbers of the sources. Above bit 8 stand the components that are
/// written of a register of two vertices.
pub fn payload(inst: &Inst, abi: &Abi) -> SmallVec<[(usize, u16); 9]> {
    let (rows, first) = (u16::from(abi.rows()), u16::from(HEADER) + 1);
    match inst {
        Inst::Read { offset: 0, .. } | Inst::ReadRow { offset: 0, .. } => {
            [(0, first)].into_iter().collect()
        }
        Inst::Write { offset: 0, .. } => [(0, first), (1, first + rows)].into_iter().collect(),
        Inst::Write { .. } => [(1, first + rows)].into_iter().collect(),
        Inst::Sample { lookup, parameters, .. } => {
            let step = if lookup.wide { 2 } else { 1 };
            (0..parameters.len()).map(|at| (at, first + step * at as u16)).collect()
        }
        Inst::Slot { values, message } => {
            let channel = |at: usize| u16::from(*message) | 1 << (at + 8);
            (0..values.len()).map(|at| (at, channel(at))).collect()
        }
        Inst::Target { values, .. } => {
            (0..values.len()).filter_map(|at| Some((at, color(at as u8, abi)?.into()))).collect()
        }
        _ => SmallVec::new(),
    }
}

/// The message register of a colour's component that one word writes: the upper half of 16 lanes goes four registers further
/// on, which G45 alone can say. 11.5.3.
fn color(component: u8, abi: &Abi) -> Option<u8> {
    let register = HEADER + 2 + component;
    match (abi.rows(), abi.chip.machine()) {
        (1, _) => Some(register),
        (_, Machine::G45) => Some(register | COMPR4 as u8),
        (_, Machine::Gen4) => None,
    }
}

/// The registers that a word writes which names a message register; components are of a half of it, and what is whole covers
/// both halves where halves are told apart.
pub fn covered(register: u16, abi: &Abi) -> SmallVec<[u8; 2]> {
    let first = register as u8 & 15;
    match (abi.rows(), register & COMPR4 as u16) {
        (1, _) if register >> 8 != 0 => [register as u8 & (UPPER | 15)].into_iter().collect(),
        (1, _) => [first, first | UPPER].into_iter().collect(),
        (_, 0) => [first, (first + 1) & 15].into_iter().collect(),
        _ => [first, (first + 4) & 15].into_iter().collect(),
    }
}

/// Message registers that a step writes.
pub fn messages(inst: &Inst, abi: &Abi) -> std::ops::Range<u8> {
    let rows = abi.rows();
    match inst {
        Inst::Math { .. } | Inst::MathVector { .. } | Inst::Divide { .. } => MATH..MATH + 2,
        Inst::Read { .. } | Inst::ReadRow { .. } => HEADER..HEADER + 1 + rows,
        Inst::Write { .. } => HEADER..HEADER + 1 + 2 * rows,
        Inst::Sample { lookup, parameters, .. } => {
            let step = if lookup.wide { 2 } else { 1 };
            HEADER..HEADER + 1 + step * parameters.len() as u8
        }
        Inst::Target { .. } => HEADER..HEADER + 2 + 6 * rows,
        Inst::Slot { message, .. } => *message..*message + 1,
        Inst::Entry { .. } | Inst::Leave { .. } | Inst::Close => vertex::HEADER..vertex::HEADER + 1,
        _ => 0..0,
    }
}

/// A word of an architecture register as a destination, and as a source of all lanes.
fn architecture(register: u32, byte: u32) -> (Operand, From) {
    let place = Place::Direct { register, byte };
    let word = Operand { place, ..into(File::Arf, register, Type::Uw) };
    (word, From::Operand(Operand { region: SCALAR, ..word }))
}

/// Where a result goes.
fn result(reg: Reg, ty: Type) -> Operand {
    let cell = reg.cell();
    let operand = match cell.file {
        MESSAGE => half_of_message(cell.index as u8, ty),
        _ => into(File::Grf, (cell.index & 0xff).into(), ty),
    };
    match u32::from(cell.index >> 8) {
        0 => operand,
        channels => Operand { region: Region::Masked { stride: 1, channels }, ..operand },
    }
}

/// A message register as a destination, or the upper half of one.
fn half_of_message(register: u8, ty: Type) -> Operand {
    let byte = u32::from(register & UPPER);
    let place = Place::Direct { register: (register & !UPPER).into(), byte };
    Operand { place, ..into(File::Mrf, 0, ty) }
}

/// A source for components of two vertices, whose four lanes each have the same. G45 vol. 4, 11.3.7.
fn swizzled(of: Source, ty: Type) -> From {
    let rows = |register: u8, byte: u32, vertical: u32, component: u8| {
        let region = Region::Swizzled { vertical, select: 0x55 * u32::from(component) };
        let modifier = u32::from(of.absolute) | u32::from(of.negate) << 1;
        From::Operand(Operand { modifier, ..grf(register.into(), byte, ty, region) })
    };
    match of.src {
        Src::Pair { register, dword } => rows(register, 0, 3, dword),
        Src::Scalar { register, dword } => rows(register, 16 * u32::from(dword / 4), 0, dword % 4),
        Src::Fixed(register) => rows(register, 0, 3, 0),
        Src::Reg(reg) => rows(general(reg) as u8, 0, 3, 0),
        Src::Part { reg, component } => rows(general(reg) as u8, 0, 3, component),
        Src::Bits(_) | Src::Floats(_) | Src::There | Src::Free => source(of, ty),
    }
}

fn general(reg: Reg) -> u32 {
    reg.cell().index.into()
}

/// Eight elements side by side.
const LANES: Region = Region::Rows { vertical: 4, width: 3, horizontal: 1 };
/// Eight words, one of each doubleword.
const HALVES: Region = Region::Rows { vertical: 5, width: 3, horizontal: 2 };
/// One element for each four.
const PAIR: Region = Region::Rows { vertical: 3, width: 2, horizontal: 0 };
/// One word for each four, of registers of doublewords.
const PAIR_HALVES: Region = Region::Rows { vertical: 4, width: 2, horizontal: 0 };
/// One element for all.
const SCALAR: Region = Region::Rows { vertical: 0, width: 0, horizontal: 0 };

/// A source of a word.
#[derive(Copy, Clone)]
enum From {
    Operand(Operand),
    Number(u32, Type),
}

fn grf(register: u32, byte: u32, ty: Type, region: Region) -> Operand {
    Operand { file: File::Grf, ty, place: Place::Direct { register, byte }, region, modifier: 0 }
}

/// How many registers an operand has, of a word that the machine splits in two or not: words side by side fill one.
fn registers(operand: &Operand, twice: bool) -> u32 {
    let one = operand.region == SCALAR || operand.region == LANES && operand.ty.bytes() == 2;
    if twice && !one { 2 } else { 1 }
}

/// A source in a type.
fn source(source: Source, ty: Type) -> From {
    let operand = match source.src {
        Src::Reg(reg) => grf(general(reg), 0, ty, LANES),
        Src::Fixed(register) => grf(register.into(), 0, ty, LANES),
        Src::Scalar { register, dword } => grf(register.into(), 4 * u32::from(dword), ty, SCALAR),
        Src::Pair { register, dword } => grf(register.into(), 4 * u32::from(dword), ty, PAIR),
        Src::Part { reg, component } => grf(general(reg), 4 * u32::from(component), ty, PAIR),
        Src::Bits(bits) => return From::Number(bits, ty),
        Src::Floats(floats) => return From::Number(floats, Type::Vf),
        Src::There | Src::Free => into(File::Arf, NULL, ty),
    };
    let modifier = u32::from(source.absolute) | u32::from(source.negate) << 1;
    From::Operand(Operand { modifier, ..operand })
}

/// A source's lanes of a part.
fn within(from: From, part: u32) -> From {
    match from {
        From::Operand(operand) if operand.region == LANES => match operand.place {
            Place::Direct { register, byte } => {
                let place = Place::Direct { register: register + part, byte };
                From::Operand(Operand { place, ..operand })
            }
            Place::Indirect { .. } => from,
        },
        _ => from,
    }
}

/// The words of a source's doublewords: the low ones, or the high ones.
fn half(of: Source, high: bool) -> From {
    let byte = if high { 2 } else { 0 };
    From::Operand(match of.src {
        Src::Reg(reg) => grf(general(reg), byte, Type::Uw, HALVES),
        Src::Fixed(register) => grf(register.into(), byte, Type::Uw, HALVES),
        Src::Scalar { register, dword } => {
            grf(register.into(), 4 * u32::from(dword) + byte, Type::Uw, SCALAR)
        }
        Src::Pair { register, dword } => {
            grf(register.into(), 4 * u32::from(dword) + byte, Type::Uw, PAIR_HALVES)
        }
        Src::Part { reg, component } => {
            grf(general(reg), 4 * u32::from(component) + byte, Type::Uw, PAIR_HALVES)
        }
        Src::Bits(bits) | Src::Floats(bits) => {
            return From::Number(if high { bits >> 16 } else { bits & 0xffff }, Type::Uw);
        }
        Src::There | Src::Free => into(File::Arf, NULL, Type::Uw),
    })
}

/// How an instruction is executed.
#[derive(Copy, Clone, Default)]
struct How {
    /// Code of its size; all lanes without one, by a compressed instruction where they are 16. G45 vol. 4, 11.5.
    size: Option<u32>,
    /// These eight lanes alone, by their number.
    part: Option<u32>,
    /// A message of all 16 lanes that the machine sends in halves.
    halves: bool,
    no_mask: bool,
    condition: u32,
    /// Predicated by the flag, or by its opposite.
    predicate: Option<bool>,
    /// The result is brought between 0 and 1.
    saturate: bool,
    /// The flag is f0.1, which holds the pixels that live no longer.
    living: bool,
    /// The flag is f0.1, in a vertex program.
    other: bool,
    /// The thread may be switched behind it.
    switch: bool,
    /// Operands are components of two vertices: Align16.
    components: bool,
}

impl Emit<'_> {
    /// Code of all lanes.
    fn all(&self) -> u32 {
        if self.abi.lanes == 16 { SIXTEEN } else { EIGHT }
    }

    fn new_word(&mut self, opcode: Opcode, how: How) -> Result<Word, Failure> {
        let mut word = Word::usual(&OPS[opcode as usize]);
        let mut set = |id: FieldId, value: u32| word.set(id, value).map_err(internal);
        let (size, compression) = match (how.size, how.part) {
            _ if how.halves => (SIXTEEN, COMPRESSED),
            (Some(size), _) => (size, 0),
            (None, Some(part)) => (EIGHT, part),
            (None, None) => {
                let splits = matches!(opcode.shape(), Shape::Unary | Shape::Binary);
                (self.all(), if self.abi.lanes == 16 && splits { COMPRESSED } else { 0 })
            }
        };
        set(f::EXEC_SIZE, size)?;
        set(f::COMPR_CTRL, compression)?;
        self.lives |= how.living;
        set(f::MASK_CTRL, how.no_mask.into())?;
        if how.condition != 0 {
            set(f::COND_MODIFIER, how.condition)?;
        }
        if let Some(inverse) = how.predicate.or(self.guard.filter(|_| !how.no_mask)) {
            set(f::PRED_CTRL, 1)?;
            set(f::PRED_INV, inverse.into())?;
        }
        if how.living || how.other {
            set(f::FLAG_SUBREG, 1)?;
        }
        set(f::SATURATE, how.saturate.into())?;
        set(f::ACCESS_MODE, how.components.into())?;
        if how.switch {
            set(f::THREAD_CTRL, 2)?;
        }
        Ok(word)
    }

    /// One word with a destination and one or two sources.
    fn word(
        &mut self,
        opcode: Opcode,
        how: How,
        dst: Operand,
        from: &[From],
    ) -> Result<(), Failure> {
        // Components of the upper half are those of the first vertex's channels.
        let upper = dst.file == File::Mrf
            && matches!(dst.region, Region::Masked { .. })
            && matches!(dst.place, Place::Direct { byte: 16, .. });
        let size = if upper { Some(FOUR) } else { how.size };
        let mut word = self.new_word(opcode, How { size, ..how })?;
        let mut set = |id: FieldId, value: u32| word.set(id, value).map_err(internal);
        let none = || internal("an operand has no code");
        set(f::DST_FILE, dst.file.code())?;
        set(f::DST_TYPE, dst.ty.code(dst.file).ok_or_else(none)?)?;
        set(f::DST, dst.encode().ok_or_else(none)?)?;
        let fields = [(f::SRC0_FILE, f::SRC0_TYPE, f::SRC0), (f::SRC1_FILE, f::SRC1_TYPE, f::SRC1)];
        for (source, (file, ty, bits)) in from.iter().zip(fields) {
            match source {
                From::Operand(operand) => {
                    set(file, operand.file.code())?;
                    set(ty, operand.ty.code(operand.file).ok_or_else(none)?)?;
                    set(bits, operand.encode().ok_or_else(none)?)?;
                }
                From::Number(number, of) => {
                    let code = of.code(File::Imm).ok_or_else(none)?;
                    let number = match of.bytes() {
                        2 if *of != Type::V => number & 0xffff | number << 16,
                        _ => *number,
                    };
                    set(file, File::Imm.code())?;
                    set(ty, code)?;
                    // A number is the last source: alone it has its type in both places. G45 vol. 4, 13.2.4.
                    if from.len() == 1 {
                        set(f::SRC1_TYPE, code)?;
                    }
                    set(f::SRC1, number)?;
                }
            }
        }
        // Who names a register waits for its reply.
        let twice = word.get(f::COMPR_CTRL) == COMPRESSED;
        let bits = |operand: &Operand| match (operand.file, operand.place) {
            (File::Grf, Place::Direct { register, .. }) => {
                ((1u128 << registers(operand, twice)) - 1) << (register & 127)
            }
            _ => 0,
        };
        let read = from.iter().map(|source| match source {
            From::Operand(operand) => bits(operand),
            From::Number(..) => 0,
        });
        let read = read.fold(0, |all, bits| all | bits);
        self.read |= read;
        // A word that no lane executes waits for nothing; `sel` has a predicate and is one of all lanes.
        let predicated = word.get(f::PRED_CTRL) != 0 && opcode != Opcode::Sel;
        if !predicated {
            self.under_way &= !(read | bits(&dst));
        }
        self.words.push(word);
        Ok(())
    }

    /// Waits for all replies, where what runs next does not follow in the text.
    fn settle(&mut self) -> Result<(), Failure> {
        while self.under_way != 0 {
            let first = self.under_way.trailing_zeros();
            let pair = first.is_multiple_of(2) && self.under_way >> first & 2 != 0;
            self.wait_for(first, self.abi.lanes == 16 && pair)?;
        }
        Ok(())
    }

    /// Waits for the reply to a register.
    fn wait(&mut self, register: u32) -> Result<(), Failure> {
        self.wait_for(register, false)
    }

    /// The same for a register, or for all of its value: two in steps of 16 lanes.
    fn wait_for(&mut self, register: u32, whole: bool) -> Result<(), Failure> {
        let part = (!whole).then_some(0);
        let how = How { no_mask: true, part, ..How::default() };
        let read = From::Operand(grf(register, 0, Type::Ud, LANES));
        self.word(Opcode::Mov, how, into(File::Arf, NULL, Type::Ud), &[read])
    }

    /// Sets the flag.
    fn compare(&mut self, test: &Test, dst: Operand) -> Result<(), Failure> {
        let (opcode, condition, ty) = math::sets(test.condition, test.ty);
        let how = How { condition, predicate: test.join, ..How::default() };
        let from = [source(test.first, test.ty), source(test.second, test.ty)];
        self.word(opcode, how, Operand { ty, ..dst }, &from)
    }

    /// A word of control flow; where it goes is filled in later.
    fn branch(&mut self, opcode: Opcode, how: How, pop: u8) -> Result<usize, Failure> {
        let mut word = self.new_word(opcode, how)?;
        let operands = implied(opcode, false, self.all());
        let fields = [
            (operands.dst, [f::DST_FILE, f::DST_TYPE, f::DST]),
            (operands.src0, [f::SRC0_FILE, f::SRC0_TYPE, f::SRC0]),
            (operands.src1, [f::SRC1_FILE, f::SRC1_TYPE, f::SRC1]),
        ];
        for (raw, ids) in fields {
            let Some(Raw { file, ty, bits }) = raw else { continue };
            for (id, value) in ids.into_iter().zip([file, ty, bits]) {
                word.set(id, value).map_err(internal)?;
            }
        }
        if pop > 0 {
            word.set(f::POP_COUNT, pop.into()).map_err(internal)?;
        }
        self.words.push(word);
        Ok(self.words.len() - 1)
    }

    /// Makes a branch go to a word.
    fn land(&mut self, branch: usize, target: usize) -> Result<(), Failure> {
        let distance = target as i64 - branch as i64;
        let Ok(count) = i16::try_from(distance) else {
            return limits::JUMP.admit(distance.unsigned_abs());
        };
        let count = u32::from(count as u16);
        self.words[branch].set(f::JUMP_COUNT, count).map_err(internal)
    }

    /// A message: register, source that moves to it, descriptor; the reply goes to `dst`.
    fn send(
        &mut self,
        (register, sending): (u8, How),
        dst: Operand,
        from: Operand,
        descriptor: u32,
    ) -> Result<(), Failure> {
        self.out.sends += 1;
        // Words as the destination: the channels of all 16 lanes are enabled as theirs are. 14.2.44.
        let whole = sending.size.is_none() && sending.part.is_none() && !sending.halves;
        let all = self.abi.lanes == 16 && whole;
        let [dst, from] = match all {
            true => [dst, from].map(|operand| Operand { ty: Type::Uw, ..operand }),
            false => [dst, from],
        };
        let replies = dst.file == File::Grf;
        let number = match dst.place {
            Place::Direct { register, .. } => register,
            Place::Indirect { .. } => 0,
        };
        // The header of a write stays as it is, and the next message reads it.
        let shared = u32::from(self.abi.header());
        let lands = replies && number != shared;
        self.commits |= replies && !lands;
        // A thread must not end with a reply under way. 8.4.
        if descriptor >> 31 == 1 {
            self.settle()?;
            let reads = matches!(from.place, Place::Direct { register, .. } if register == shared);
            if self.commits && !reads {
                self.wait(shared)?;
            }
        }
        let resolves = lands && self.machine == Machine::Gen4;
        let replies = (descriptor >> 16 & 15) << u32::from(sending.halves);
        let reply = if lands { number..number + replies } else { 0..0 };
        // The 965 does not check the destination of a message: it is read before and behind. 14.2.44, errata.
        for register in reply.clone() {
            if resolves || self.under_way >> (register & 127) & 1 == 1 {
                self.wait(register)?;
            }
        }
        self.word(
            Opcode::Send,
            sending,
            dst,
            &[From::Operand(from), From::Number(descriptor, Type::Ud)],
        )?;
        if let Some(word) = self.words.last_mut() {
            word.set(f::MRF, register.into()).map_err(internal)?;
        }
        for register in reply {
            match resolves {
                true => self.wait(register)?,
                false => self.under_way |= 1 << (register & 127),
            }
        }
        Ok(())
    }

    /// A source moves to a message register, where it is not there already.
    fn move_to(&mut self, register: u8, of: Source, how: How) -> Result<(), Failure> {
        match of.src {
            Src::There => Ok(()),
            _ => {
                let to = into(File::Mrf, register.into(), Type::Ud);
                self.word(Opcode::Mov, how, to, &[source(of, Type::Ud)])
            }
        }
    }

    /// The second register of a scattered message: byte offsets.
    fn offsets(&mut self, address: Source, offset: u32) -> Result<(), Failure> {
        let to = into(File::Mrf, u32::from(HEADER) + 1, Type::Ud);
        match (address.src, offset) {
            (Src::Bits(bits), _) => {
                let number = From::Number(bits.wrapping_add(offset), Type::Ud);
                self.word(Opcode::Mov, How::default(), to, &[number])
            }
            (_, 0) => self.move_to(HEADER + 1, address, How::default()),
            _ => {
                let from = [source(address, Type::Ud), From::Number(offset, Type::Ud)];
                self.word(Opcode::Add, How::default(), to, &from)
            }
        }
    }

    fn inst(&mut self, inst: &Inst) -> Result<(), Failure> {
        let usual = How::default();
        let by = |inverse: bool| How { predicate: Some(inverse), ..usual };
        let header = grf(0, 0, Type::Ud, LANES);
        let shared = grf(self.abi.header().into(), 0, Type::Ud, LANES);
        match inst {
            Inst::Alu { opcode, to, dst, from, saturate, sources } => {
                let dst = result(*dst, *to);
                let usual = How { saturate: *saturate, ..usual };
                let masked = matches!(dst.region, Region::Masked { .. });
                let form = if masked { swizzled } else { source };
                let sources: SmallVec<[From; 2]> =
                    sources.iter().map(|&of| form(of, *from)).collect();
                self.word(*opcode, usual, dst, &sources)?;
                if masked { self.align16() } else { Ok(()) }
            }
            Inst::When { inverse, opcode, to, dst, from, sources, .. } => {
                let sources: SmallVec<[From; 2]> =
                    sources.iter().map(|&of| source(of, *from)).collect();
                self.word(*opcode, by(*inverse), result(*dst, *to), &sources)
            }
            Inst::Vector { .. } => self.vector(inst),
            Inst::Choose { .. } => self.choose(inst),
            Inst::Apply { .. } => self.apply(inst),
            Inst::Copy { .. } => Err(internal("a copy is left")),
            Inst::Dot { .. } if self.abi.is_vertex() => Err(internal("a dot product is left")),
            Inst::Dot { dst, sources, .. } => self.products(*dst, sources),
            Inst::Compare(test) => self.compare(test, into(File::Arf, NULL, test.ty)),
            Inst::Truth { dst, test } => {
                let general = general(*dst);
                self.compare(test, into(File::Grf, general, test.ty))?;
                // The comparison makes bit 0 alone. 14.2.6.
                let bits = From::Operand(grf(general, 0, Type::Ud, LANES));
                let one = From::Number(1, Type::Ud);
                self.word(Opcode::And, usual, into(File::Grf, general, Type::Ud), &[bits, one])
            }
            Inst::Flagged { dst, inverse } => {
                let dst = into(File::Grf, general(*dst), Type::D);
                self.word(Opcode::Mov, usual, dst, &[From::Number(0, Type::D)])?;
                self.word(Opcode::Mov, by(*inverse), dst, &[From::Number(1, Type::D)])
            }
            Inst::Select { dst, inverse, yes, no } => {
                let dst = result(*dst, Type::Ud);
                let masked = matches!(dst.region, Region::Masked { .. });
                let form = if masked { swizzled } else { source };
                let from = [*yes, *no].map(|of| form(of, Type::Ud));
                self.word(Opcode::Sel, by(*inverse), dst, &from)?;
                if masked { self.align16() } else { Ok(()) }
            }
            Inst::Round { dst, source: of } => {
                // The floor, and whether the nearest is one more. 14.2.39.
                const INCREMENT: u32 = 7;
                let register = general(*dst);
                let dst = into(File::Grf, register, Type::F);
                let how = How { condition: INCREMENT, ..usual };
                self.word(Opcode::Rnde, how, dst, &[source(*of, Type::F)])?;
                let floor = From::Operand(grf(register, 0, Type::F, LANES));
                let one = From::Number(1f32.to_bits(), Type::F);
                self.word(Opcode::Add, by(false), dst, &[floor, one])
            }
            Inst::Piece { .. } => self.piece(inst),
            Inst::Product { dst, high, first, second } => {
                let [low, upper] = [*dst, *high].map(general);
                let factor = source(*second, Type::Ud);
                let from = [half(*first, false), factor];
                self.word(Opcode::Mul, usual, into(File::Grf, low, Type::Ud), &from)?;
                let from = [half(*first, true), factor];
                self.word(Opcode::Mul, usual, into(File::Grf, upper, Type::Ud), &from)?;
                // The low word of the second product is added to the high word of the first.
                let place = Place::Direct { register: low, byte: 2 };
                let dst =
                    Operand { place, region: Region::Stride(2), ..into(File::Grf, low, Type::Uw) };
                let from = [
                    From::Operand(grf(low, 2, Type::Uw, HALVES)),
                    From::Operand(grf(upper, 0, Type::Uw, HALVES)),
                ];
                self.word(Opcode::Add, usual, dst, &from)
            }
            Inst::ProductHigh { dst, ty, first, second } => {
                let from = [source(*first, *ty), source(*second, *ty)];
                let accumulator = into(File::Arf, 0x20, *ty);
                self.word(Opcode::Mul, usual, accumulator, &from)?;
                self.word(Opcode::Mach, usual, into(File::Grf, general(*dst), *ty), &from)
            }
            Inst::Math { dst, function, source } => self.math(*dst, *function, *source),
            Inst::MathVector { .. } => self.math_vector(inst),
            Inst::Divide { dst, remainder, signed, numerator, denominator } => {
                self.divide((*dst, *remainder, *signed), *numerator, *denominator)
            }
            Inst::Sample { dst, lookup, parameters } => self.sample(dst, lookup, parameters),
            Inst::Read { dst, address, offset, surface, .. } => {
                self.offsets(*address, *offset)?;
                let dst = into(File::Grf, general(*dst), Type::Ud);
                // Header and offsets, a doubleword of each lane back; scattered, through the cache that writes go to. 5.10.5.
                let form = if self.abi.lanes == 16 { 0x0432_7300 } else { 0x0421_7200 };
                self.send((HEADER, usual), dst, shared, form | u32::from(*surface))
            }
            Inst::ReadRow { dst, address, offset, surface } => {
                self.offsets(*address, *offset)?;
                let dst = into(File::Grf, general(*dst), Type::Ud);
                // Header and the offset of each vertex, a row of four doublewords for each back. 5.10.3.
                self.send((HEADER, usual), dst, shared, 0x0421_5000 | u32::from(*surface))
            }
            Inst::Table { dst, offset, first, side } => self.table(dst, *offset, *first, *side),
            Inst::Element { dst, offset, first } => self.element(*dst, *offset, *first),
            Inst::SetElement { offset, first, value } => self.set_element(*offset, *first, *value),
            Inst::Write { address, value, offset, surface, .. } => {
                self.offsets(*address, *offset)?;
                self.move_to(HEADER + 1 + self.abi.rows(), *value, usual)?;
                // With commit: nothing is written to the header, and who reads it next, each message, waits. 5.10.1.
                let dst = into(File::Grf, self.abi.header().into(), Type::Ud);
                // Helpers store nothing that others see.
                let lives = self.abi.is_fragment() && *surface != STATELESS;
                let how = How { predicate: lives.then_some(true), living: lives, ..usual };
                let form = if self.abi.lanes == 16 { 0x0551_b300 } else { 0x0531_b200 };
                self.send((HEADER, how), dst, shared, form | u32::from(*surface))
            }
            Inst::If { inverse, otherwise } => {
                self.out.branches += 1;
                let opcode = if *otherwise { Opcode::If } else { Opcode::Iff };
                let how = How { switch: true, ..by(*inverse) };
                let start = self.branch(opcode, how, 0)?;
                let before = self.under_way;
                self.open.push(Open::If { start, middle: None, before, after: 0 });
                Ok(())
            }
            Inst::Else => {
                let at = self.branch(Opcode::Else, How { switch: true, ..usual }, 1)?;
                let Some(Open::If { start, middle, before, after }) = self.open.last_mut() else {
                    return Err(internal("`else` without `if`"));
                };
                *middle = Some(at);
                // Where lanes take both arms, the second one follows the first; where all take it, the first is jumped over.
                *after = self.under_way;
                self.under_way |= *before;
                let start = *start;
                self.land(start, at)
            }
            Inst::EndIf => {
                let at = self.branch(Opcode::Endif, How { switch: true, ..usual }, 1)?;
                let Some(Open::If { start, middle, before, after }) = self.open.pop() else {
                    return Err(internal("`endif` without `if`"));
                };
                // An arm that no lane takes is jumped over.
                self.under_way |= if middle.is_some() { after } else { before };
                self.land(middle.unwrap_or(start), at + 1)
            }
            Inst::Do => {
                self.out.loops += 1;
                self.settle()?;
                self.branch(Opcode::Do, usual, 0)?;
                let start = self.words.len();
                self.open.push(Open::Loop { start, breaks: Vec::new() });
                Ok(())
            }
            Inst::While { flag } => {
                self.settle()?;
                let how = How { predicate: *flag, ..usual };
                let at = self.branch(Opcode::While, how, 0)?;
                let Some(Open::Loop { start, breaks }) = self.open.pop() else {
                    return Err(internal("`while` without `do`"));
                };
                self.land(at, start)?;
                breaks.into_iter().try_for_each(|branch| self.land(branch, at + 1))
            }
            Inst::Break(conditions) => {
                self.settle()?;
                let at = self.branch(Opcode::Break, usual, *conditions)?;
                let innermost = self.open.iter_mut().rev().find_map(|open| match open {
                    Open::Loop { breaks, .. } => Some(breaks),
                    Open::If { .. } => None,
                });
                innermost.ok_or_else(|| internal("`break` without `do`"))?.push(at);
                Ok(())
            }
            Inst::Masks { stack, register, step } => self.stack(*stack, (*register).into(), *step),
            Inst::Guard(guard) => {
                self.guard = *guard;
                Ok(())
            }
            Inst::Advance { steps, bytes } => {
                let how = How { no_mask: true, ..usual };
                let [lane, offsets] = [self.abi.lane(), self.abi.lane_offsets()].map(u32::from);
                let (lanes, bytes_of_all) = (self.abi.lanes as i32, self.abi.lane_bytes() as i32);
                let add = |emit: &mut Self, register: u32, by: i32| {
                    let of = From::Operand(grf(register, 0, Type::D, LANES));
                    let from = [of, From::Number(by as u32, Type::D)];
                    emit.word(Opcode::Add, how, into(File::Grf, register, Type::D), &from)
                };
                add(self, lane, lanes * steps)?;
                match bytes {
                    true => add(self, offsets, bytes_of_all * steps),
                    false => Ok(()),
                }
            }
            Inst::End => {
                let dst = into(File::Arf, NULL, Type::Ud);
                self.send((HEADER, usual), dst, header, END)
            }
            Inst::Plane { dst, register, dword } => {
                self.plane(*dst, (*register).into(), (*dword).into())
            }
            Inst::Center { dst, axis } => {
                let words = self.abi.pixels()[usize::from(*axis & 1)].into();
                let from = [
                    From::Operand(grf(words, 0, Type::Uw, LANES)),
                    From::Number(0.5f32.to_bits(), Type::F),
                ];
                self.word(Opcode::Add, usual, into(File::Grf, general(*dst), Type::F), &from)
            }
            Inst::Ballot { dst, source } => self.ballot(*dst, *source),
            Inst::Spread { source } => self.spread(*source),
            Inst::Lane { dst, lane } => self.lane(*dst, *lane),
            Inst::Gather { dst, bytes } => self.gather(*dst, *bytes),
            Inst::Difference { dst, source, which } => self.difference(*dst, *source, *which),
            Inst::Demote => {
                // A number is itself everywhere: the lanes that come here live no longer.
                let number = From::Operand(grf(0, 0, Type::Ud, SCALAR));
                let from = [number, number];
                let how = How { condition: Condition::Equal as u32, living: true, ..usual };
                self.word(Opcode::Cmp, how, into(File::Arf, NULL, Type::Ud), &from)
            }
            Inst::DemoteWhere(test) => {
                // Who lives no longer stays so.
                let (opcode, condition, ty) = math::sets(test.condition, test.ty);
                let how = How { condition, predicate: Some(true), living: true, ..usual };
                let from = [source(test.first, test.ty), source(test.second, test.ty)];
                self.word(opcode, how, into(File::Arf, NULL, ty), &from)
            }
            Inst::DemoteBy(inverse) => self.demote_by(*inverse),
            Inst::Helper { dst } => {
                let dst = into(File::Grf, general(*dst), Type::D);
                self.word(Opcode::Mov, usual, dst, &[From::Number(1, Type::D)])?;
                let how = How { predicate: Some(true), living: true, ..usual };
                self.word(Opcode::Mov, how, dst, &[From::Number(0, Type::D)])
            }
            Inst::Target { values, depth, target, last } => {
                self.target(values, *depth, *target, *last)
            }
            Inst::Slot { values, message } => self.slot(values, *message),
            Inst::Entry { row, count, last } => self.entry(*row, *count, *last),
            Inst::Leave { row, count, complete } => self.leave(*row, *count, *complete),
            Inst::Mark { bits, joins } => self.mark(*bits, *joins),
            Inst::Close => self.close(),
        }
    }

    /// A sum of products: all but the last word leave it in the accumulator, which nothing else does between them. 14.2.23.
    fn products(&mut self, dst: Reg, sources: &[Source]) -> Result<(), Failure> {
        let (first, second) = sources.split_at(sources.len() / 2);
        let mut pairs: SmallVec<[(Source, Source); 4]> =
            first.iter().copied().zip(second.iter().copied()).collect();
        let mut opcode = Opcode::Mul;
        if is_line(sources) {
            // LINE adds the number behind its own.
            pairs.remove(1);
            opcode = Opcode::Line;
        }
        let last = pairs.len() - 1;
        for (number, (a, b)) in pairs.into_iter().enumerate() {
            let to = match number == last {
                true => result(dst, Type::F),
                false => into(File::Arf, NULL, Type::F),
            };
            let from = [source(a, Type::F), source(b, Type::F)];
            self.word(opcode, How::default(), to, &from)?;
            opcode = Opcode::Mac;
        }
        Ok(())
    }

    /// A stack is named as a whole, 16 bytes of one count a channel, and its depth is a word. G45 switches threads behind what
    /// names them, and the 965 need not. G45 vol. 4, 11.3.4.8, 11.3.4.9.
    fn stack(&mut self, stack: Stack, register: u32, step: Masks) -> Result<(), Failure> {
        let (byte, word) = match stack {
            Stack::Conditions => (0, 0),
            Stack::Loops => (16, 2),
        };
        let place = |register: u32| Place::Direct { register, byte };
        let kept = Operand { place: place(register), ..into(File::Grf, register, Type::Uw) };
        let masks = Operand { place: place(STACK), ..into(File::Arf, STACK, Type::Uw) };
        let whole = |operand: Operand| From::Operand(Operand { region: LANES, ..operand });
        let all = How { part: Some(0), no_mask: true, switch: true, ..How::default() };
        let once = How { part: None, size: Some(ONE), ..all };
        let (depth, _) = architecture(DEPTH, word);
        let number = |number: u8| [From::Number(number.into(), Type::Uw)];
        match step {
            Masks::Keep => self.word(Opcode::Mov, all, kept, &[whole(masks)]),
            Masks::Begin => {
                self.word(Opcode::Mov, all, kept, &[whole(masks)])?;
                self.word(Opcode::Mov, all, masks, &number(0))?;
                self.word(Opcode::Mov, once, depth, &number(0))
            }
            Masks::Restore { depth: count } => {
                self.word(Opcode::Mov, all, masks, &[whole(kept)])?;
                self.word(Opcode::Mov, once, depth, &number(count))
            }
        }
    }

    /// Each eight lanes in turn, for what the machine does to eight channels alone: `each` has the number of the part, which is
    /// that of the register within a value, and how its words are executed. isa/gen4.md 0.17, 4.2.9.
    fn parts(
        &mut self,
        each: impl Fn(&mut Self, u32, How) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        (0..u32::from(self.abi.rows())).try_for_each(|part| {
            let how = How { part: Some(part), ..How::default() };
            each(self, part, how)
        })
    }

    /// What stands before all else: of the registers behind the payload those that somebody reads. In steps of eight lanes the
    /// upper eight channels of a media thread leave: no step has them, and a loop would wait for them.
    fn begin(&mut self) -> Result<(), Failure> {
        let body = std::mem::take(&mut self.words);
        let read = self.read;
        let is_read = |register: u8| read >> (register & 127) & 1 == 1;
        let alone = How { no_mask: true, ..How::default() };
        let part = How { part: Some(0), ..alone };
        let once = How { size: Some(ONE), ..alone };
        let compute = !self.abi.is_fragment() && !self.abi.is_vertex();
        if compute && self.abi.lanes == 8 {
            let mask = into(File::Arf, MASK, Type::Uw);
            let how = How { switch: true, ..once };
            self.word(Opcode::Mov, how, mask, &[From::Number(0xff, Type::Uw)])?;
        }
        if self.lives {
            let (flag, _) = architecture(FLAG, 2);
            let living = From::Operand(grf(0, 0, Type::Uw, SCALAR));
            self.word(Opcode::Not, once, flag, &[living])?;
        }
        let [lane, offsets] = [self.abi.lane(), self.abi.lane_offsets()];
        if is_read(lane) || is_read(offsets) {
            let [lane, offsets] = [lane, offsets].map(u32::from);
            let words = into(File::Grf, offsets, Type::W);
            self.word(Opcode::Mov, part, words, &[From::Number(COUNTING, Type::V)])?;
            if self.abi.lanes == 16 {
                let upper =
                    Operand { place: Place::Direct { register: offsets, byte: 16 }, ..words };
                let lower = From::Operand(grf(offsets, 0, Type::W, LANES));
                self.word(Opcode::Add, part, upper, &[lower, From::Number(8, Type::W)])?;
            }
            let words = From::Operand(grf(offsets, 0, Type::W, LANES));
            self.word(Opcode::Mov, alone, into(File::Grf, lane, Type::D), &[words])?;
            let from = [From::Operand(grf(lane, 0, Type::Ud, LANES)), From::Number(2, Type::Ud)];
            self.word(Opcode::Shl, alone, into(File::Grf, offsets, Type::Ud), &from)?;
        }
        // r0.2 is the interface descriptor's place in a media thread; in a message it would count. 5.10.5.
        let header = self.abi.header();
        if compute && is_read(header) {
            let header = u32::from(header);
            let r0 = From::Operand(grf(0, 0, Type::Ud, LANES));
            self.word(Opcode::Mov, part, into(File::Grf, header, Type::Ud), &[r0])?;
            let offset = Operand {
                place: Place::Direct { register: header, byte: 8 },
                ..into(File::Grf, header, Type::Ud)
            };
            self.word(Opcode::Mov, once, offset, &[From::Number(0, Type::Ud)])?;
            if self.machine == Machine::Gen4 {
                self.wait(header)?;
            }
        }
        if self.abi.is_geometry() {
            self.begin_geometry(is_read(header))?;
        }
        if self.abi.is_fragment() {
            let deltas = self.abi.deltas().map(is_read);
            let pixels = self.abi.pixels().map(is_read);
            self.pixels(pixels, deltas[0] || deltas[1])?;
        }
        let front = 16 * self.words.len() as u32;
        self.out.lines.iter_mut().for_each(|(offset, _)| *offset += front);
        self.words.extend(body);
        Ok(())
    }
}
