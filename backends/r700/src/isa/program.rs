//! Whole programs: the control-flow list, its clauses, and every word between and after them.
//!
//! Addresses are in 64-bit words ("qwords") from the start of the program, as ADDR fields count. A program is accepted or
//! refused as a whole; what is accepted keeps every bit: instructions that control flow reaches must decode, and words
//! that it does not reach are kept as they are.
//!
//! R700 ISA 2.3 (layout), 3.3 (clauses).

use super::alu::{AluGroup, AluSlot, MAX_SLOTS};
use super::fields::f;
use super::ops::{CfOp, flag};
use super::{Inst, InstError, Isa, R700};
use smallvec::SmallVec;

/// Largest program in dwords: 16 MiB, within the reach of every ADDR. A short text may name a high address, and the
/// program takes memory up to there.
pub const MAX_DWORDS: u32 = 1 << 22;

/// Names a clause of a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClauseId(pub u32);

impl ClauseId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One fetch instruction: vertex, texture, memory or data share.
pub type Fetch = Inst;

/// One control-flow instruction in its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cf {
    /// Its address in qwords.
    pub at: u32,
    pub inst: Inst,
    /// The clause that it starts. Several instructions may start one clause.
    pub clause: Option<ClauseId>,
}

impl Cf {
    pub fn op(&self) -> CfOp {
        CfOp::of(self.inst.op().id)
    }
}

/// A run of instructions of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Clause {
    /// Its address in qwords.
    pub at: u32,
    pub body: Body,
}

/// What a clause holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Body {
    Alu(Vec<AluGroup>),
    Fetch(Vec<Fetch>),
}

impl Body {
    /// Size in qwords.
    pub fn qwords(&self) -> u32 {
        match self {
            Body::Alu(groups) => groups.iter().map(AluGroup::qwords).sum(),
            Body::Fetch(fetches) => 2 * fetches.len() as u32,
        }
    }

    /// Size as the COUNT field counts: ALU slots with literals, or fetch instructions.
    pub fn count(&self) -> u32 {
        match self {
            Body::Alu(_) => self.qwords(),
            Body::Fetch(fetches) => fetches.len() as u32,
        }
    }
}

/// Words that are no instruction: padding, data, code that nothing starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Raw {
    /// Address in dwords.
    pub at: u32,
    pub words: Vec<u32>,
}

/// A program with its layout.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Control flow in address order. A gap in the addresses is in `raw`.
    pub cf: Vec<Cf>,
    pub clauses: Vec<Clause>,
    /// Everything else that is not 0, in address order, and the last words of the program whatever they are.
    pub raw: Vec<Raw>,
    /// Size in dwords.
    pub dwords: u32,
}

/// Why words are no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at byte {offset:#x}: {reason}")]
pub struct DecodeError {
    /// In bytes from the start.
    pub offset: usize,
    pub reason: Reason,
}

/// See [`DecodeError`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Reason {
    #[error(transparent)]
    Inst(#[from] InstError),
    #[error("{0} dwords are too few for an instruction")]
    Truncated(usize),
    #[error("{0} bytes are no dword")]
    PartialWord(usize),
    #[error("the program has no instruction")]
    Empty,
    #[error("the program is larger than 16 MiB")]
    TooLarge,
    #[error("the clause at {at} with {qwords} qwords ends after the program")]
    ClauseOutside { at: u32, qwords: u32 },
    #[error("the clause at {at} lies over control flow or over another clause")]
    ClauseOverlaps { at: u32 },
    #[error("the fetch clause at {at} does not start on 16 bytes")]
    ClauseUnaligned { at: u32 },
    #[error("a group has no LAST within five instructions")]
    GroupTooLong,
    #[error("a group runs past the end of its clause")]
    GroupOutside,
    #[error("{0} dwords follow the unit")]
    Trailing(usize),
}

/// Why a program has no words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EncodeError {
    #[error("two parts of the program want different words at dword {at}")]
    Overlap { at: u64 },
    #[error("a part at dword {at} ends after the program's {dwords} dwords")]
    Outside { at: u64, dwords: u64 },
    #[error("the group at dword {at} has {found} literal dwords, but its sources name {needed}")]
    Literals { at: u64, found: usize, needed: usize },
    #[error("the group at dword {at} must have LAST on its last instruction and on no other")]
    Last { at: u64 },
}

/// Decodes R700 machine code.
///
/// # Errors
/// The first instruction that control flow reaches and that is none, with its offset; never a wrong instruction.
pub fn decode_program(words: &[u32]) -> Result<Program, DecodeError> {
    decode_program_of(&R700, words)
}

/// Decodes machine code of `isa`.
///
/// # Errors
/// As [`decode_program`].
pub fn decode_program_of(isa: &'static Isa, words: &[u32]) -> Result<Program, DecodeError> {
    if words.is_empty() {
        return fail(0, Reason::Empty);
    }
    if words.len() > MAX_DWORDS as usize {
        return fail(0, Reason::TooLarge);
    }
    Reader::new(isa, words).read()
}

fn fail<T>(dword: usize, reason: impl Into<Reason>) -> Result<T, DecodeError> {
    Err(DecodeError { offset: 4 * dword, reason: reason.into() })
}

/// Decodes one control-flow instruction of two dwords.
///
/// # Errors
/// Offset and reason.
pub fn decode_cf(isa: &'static Isa, words: &[u32]) -> Result<Inst, DecodeError> {
    decode_unit(&isa.cf, words, 2)
}

/// Decodes one ALU instruction of two dwords.
///
/// # Errors
/// Offset and reason.
pub fn decode_alu_slot(isa: &'static Isa, words: &[u32]) -> Result<AluSlot, DecodeError> {
    decode_unit(&isa.alu, words, 2).map(AluSlot::from_inst)
}

/// Decodes one fetch instruction of four dwords.
///
/// # Errors
/// Offset and reason.
pub fn decode_fetch(isa: &'static Isa, words: &[u32]) -> Result<Fetch, DecodeError> {
    decode_unit(&isa.fetch, words, 4)
}

/// Decodes one group with its literals, padded to a pair.
///
/// # Errors
/// Offset and reason.
pub fn decode_group(isa: &'static Isa, words: &[u32]) -> Result<AluGroup, DecodeError> {
    let (group, used) = group_at(isa, words, 0)?;
    if used != words.len() {
        return fail(used, Reason::Trailing(words.len() - used));
    }
    Ok(group)
}

fn decode_unit(table: &gpucc_isa::Table, words: &[u32], size: usize) -> Result<Inst, DecodeError> {
    if words.len() < size {
        return fail(words.len(), Reason::Truncated(words.len()));
    }
    if words.len() > size {
        return fail(size, Reason::Trailing(words.len() - size));
    }
    table.decode(number(words)).or_else(|error| fail(0, error))
}

/// The words as one number, the first lowest.
fn number(words: &[u32]) -> u128 {
    words.iter().rev().fold(0, |bits, word| bits << 32 | u128::from(*word))
}

/// One group from the front of `words`, and how many dwords it takes. `base` is the dword address, for messages.
fn group_at(
    isa: &'static Isa,
    words: &[u32],
    base: usize,
) -> Result<(AluGroup, usize), DecodeError> {
    let mut group = AluGroup::default();
    let mut used = 0;
    loop {
        if group.slots.len() == MAX_SLOTS {
            return fail(base, Reason::GroupTooLong);
        }
        let Some(pair) = words.get(used..used + 2) else {
            return fail(base + used, Reason::GroupOutside);
        };
        let slot = match isa.alu.decode(number(pair)) {
            Ok(inst) => AluSlot::from_inst(inst),
            Err(error) => return fail(base + used, error),
        };
        group.slots.push(slot);
        used += 2;
        if slot.is_last() {
            break;
        }
    }
    let literals = AluGroup::literal_dwords(group.literal_mask());
    let Some(pool) = words.get(used..used + literals) else {
        return fail(base + used, Reason::GroupOutside);
    };
    group.literals = SmallVec::from_slice(pool);
    Ok((group, used + literals))
}

/// Walks a program once. Linear: every word is decoded at most once as control flow and at most once in a clause.
struct Reader<'a> {
    isa: &'static Isa,
    words: &'a [u32],
    program: Program,
    /// Owner of each qword: nobody, control flow, or a clause.
    owner: Vec<Owner>,
    /// Lowest address of a clause so far: control flow ends there.
    lowest: u32,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Owner {
    Nobody,
    Cf,
    Clause(ClauseId),
}

impl<'a> Reader<'a> {
    fn new(isa: &'static Isa, words: &'a [u32]) -> Reader<'a> {
        let qwords = (words.len() / 2) as u32;
        Reader {
            isa,
            words,
            program: Program { dwords: words.len() as u32, ..Program::default() },
            owner: vec![Owner::Nobody; qwords as usize],
            lowest: qwords,
        }
    }

    fn read(mut self) -> Result<Program, DecodeError> {
        let mut at = 0;
        let mut ended = false;
        while at < self.lowest {
            match self.cf(at, ended) {
                Ok(ends) => ended |= ends,
                // After the end nothing is promised: what is no instruction is data.
                Err(_) if ended => {}
                Err(error) => return Err(error),
            }
            at += 1;
        }
        if self.program.cf.is_empty() {
            return fail(0, Reason::Truncated(self.words.len()));
        }
        self.keep_the_rest();
        Ok(self.program)
    }

    /// Reads the control-flow instruction at `at` and its clause; says whether control flow may end there.
    fn cf(&mut self, at: u32, ended: bool) -> Result<bool, DecodeError> {
        let dword = 2 * at as usize;
        let inst = decode_cf(self.isa, &self.words[dword..dword + 2])?;
        self.owner[at as usize] = Owner::Cf;
        let clause = match self.clause(&inst, dword) {
            Ok(clause) => clause,
            Err(_) if ended => None,
            Err(error) => return Err(error),
        };
        let cf = Cf { at, inst, clause };
        let ends =
            inst.flag(f::END_OF_PROGRAM) || matches!(cf.op(), CfOp::RETURN | CfOp::END_PROGRAM);
        self.program.cf.push(cf);
        Ok(ends)
    }

    /// The clause that a control-flow instruction at `dword` starts.
    fn clause(&mut self, inst: &Inst, dword: usize) -> Result<Option<ClauseId>, DecodeError> {
        let alu = inst.op().has(flag::ALU_CLAUSE);
        if !alu && !inst.op().has(flag::FETCH_CLAUSE) {
            return Ok(None);
        }
        let at = inst.get(f::ADDR);
        let qwords = (inst.get(f::COUNT) + 1) * if alu { 1 } else { 2 };
        let end = u64::from(at) + u64::from(qwords);
        if end > self.owner.len() as u64 {
            return fail(dword, Reason::ClauseOutside { at, qwords });
        }
        if !alu && !at.is_multiple_of(2) {
            return fail(dword, Reason::ClauseUnaligned { at });
        }
        let span = at as usize..end as usize;
        if let Owner::Clause(id) = self.owner[at as usize] {
            let known = &self.program.clauses[id.index()];
            let same_kind = matches!(known.body, Body::Alu(_)) == alu;
            if known.at == at && same_kind && known.body.qwords() == qwords {
                return Ok(Some(id));
            }
        }
        if self.owner[span.clone()].iter().any(|owner| *owner != Owner::Nobody) {
            return fail(dword, Reason::ClauseOverlaps { at });
        }
        let body = if alu { self.alu_body(&span)? } else { self.fetch_body(&span)? };
        let id = ClauseId(self.program.clauses.len() as u32);
        self.owner[span].fill(Owner::Clause(id));
        self.lowest = self.lowest.min(at);
        self.program.clauses.push(Clause { at, body });
        Ok(Some(id))
    }

    fn alu_body(&self, span: &std::ops::Range<usize>) -> Result<Body, DecodeError> {
        let (mut at, end) = (2 * span.start, 2 * span.end);
        let mut groups = Vec::new();
        while at < end {
            let (group, used) = group_at(self.isa, &self.words[at..end], at)?;
            groups.push(group);
            at += used;
        }
        Ok(Body::Alu(groups))
    }

    fn fetch_body(&self, span: &std::ops::Range<usize>) -> Result<Body, DecodeError> {
        let mut fetches = Vec::with_capacity(span.len() / 2);
        for at in (2 * span.start..2 * span.end).step_by(4) {
            match self.isa.fetch.decode(number(&self.words[at..at + 4])) {
                Ok(fetch) => fetches.push(fetch),
                Err(error) => return fail(at, error),
            }
        }
        Ok(Body::Fetch(fetches))
    }

    /// Keeps what nobody owns: runs with a word that is not 0, and the run that ends the program.
    fn keep_the_rest(&mut self) {
        let owned =
            |dword: usize| self.owner.get(dword / 2).is_some_and(|owner| *owner != Owner::Nobody);
        let mut at = 0;
        while at < self.words.len() {
            if owned(at) {
                at += 1;
                continue;
            }
            let start = at;
            while at < self.words.len() && !owned(at) {
                at += 1;
            }
            let words = &self.words[start..at];
            if at == self.words.len() || words.iter().any(|word| *word != 0) {
                self.program.raw.push(Raw { at: start as u32, words: words.to_vec() });
            }
        }
    }
}

/// Encodes a program: every part at its address, 0 between them.
///
/// # Errors
/// Parts that lie over one another with different words, or beyond the end; groups whose LAST or literals do not fit
/// their slots.
pub fn encode_program(program: &Program) -> Result<Vec<u32>, EncodeError> {
    let mut out = Writer {
        words: vec![0; program.dwords as usize],
        written: vec![false; program.dwords as usize],
    };
    let mut buffer = Vec::new();
    for cf in &program.cf {
        buffer.clear();
        buffer.extend(cf.inst.words());
        out.put(2 * u64::from(cf.at), &buffer)?;
    }
    for clause in &program.clauses {
        buffer.clear();
        match &clause.body {
            Body::Alu(groups) => {
                for group in groups {
                    check_group(group, 2 * u64::from(clause.at) + buffer.len() as u64)?;
                    group.encode(&mut buffer);
                }
            }
            Body::Fetch(fetches) => buffer.extend(fetches.iter().flat_map(Inst::words)),
        }
        out.put(2 * u64::from(clause.at), &buffer)?;
    }
    for raw in &program.raw {
        out.put(raw.at.into(), &raw.words)?;
    }
    Ok(out.words)
}

fn check_group(group: &AluGroup, at: u64) -> Result<(), EncodeError> {
    let needed = AluGroup::literal_dwords(group.literal_mask());
    if group.literals.len() != needed {
        return Err(EncodeError::Literals { at, found: group.literals.len(), needed });
    }
    let last = group.slots.iter().position(AluSlot::is_last);
    if last != group.slots.len().checked_sub(1) {
        return Err(EncodeError::Last { at });
    }
    Ok(())
}

struct Writer {
    words: Vec<u32>,
    written: Vec<bool>,
}

impl Writer {
    fn put(&mut self, at: u64, words: &[u32]) -> Result<(), EncodeError> {
        let dwords = self.words.len() as u64;
        if at + words.len() as u64 > dwords {
            return Err(EncodeError::Outside { at, dwords });
        }
        for (at, word) in (at..).zip(words) {
            let i = at as usize;
            if self.written[i] && self.words[i] != *word {
                return Err(EncodeError::Overlap { at });
            }
            self.words[i] = *word;
            self.written[i] = true;
        }
        Ok(())
    }
}
