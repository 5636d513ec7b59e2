//! What the bits of one instruction must obey beyond their layout: the rules of fast-access uniforms and of staging
//! registers. Assembler and disassembler ask here; the emulator has a reading of its own.

use super::fields::f;
use super::ops::Opcode;
use super::shapes::Staging;
use super::source::{SourceByte, Special};
use gpucc_isa::Inst;
use smallvec::SmallVec;

/// A rule that an instruction breaks. Digest 1.2, 1.3 and 1.8.
#[derive(Copy, Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Broken {
    #[error("FAU rule 1 (one page): the sources are on pages {0} and {1}")]
    TwoPages(u8, u8),
    #[error("FAU rule 1 (one page): small constants are on page 0, not on page {0}")]
    ConstantPage(u8),
    #[error(
        "FAU rule 2 (uniform slots): at most {allowed} 64-bit uniform slot{s} an instruction here, not {found}",
        s = if *.allowed == 1 { "" } else { "s" }
    )]
    UniformSlots { allowed: usize, found: usize },
    #[error(
        "FAU rule 3 (64 bits): at most {allowed} different uniforms and constants an instruction here, not {found}"
    )]
    FauWords { allowed: usize, found: usize },
    #[error("FAU rule 4 (specials): at most one special value an instruction")]
    TwoSpecials,
    #[error(
        "FAU rule 4 (specials): a special value and a uniform can stand together in message instructions only"
    )]
    SpecialWithUniform,
    #[error("FAU rule 4 (specials): message instructions cannot read {0}")]
    SpecialInMessage(&'static str),
    #[error("FAU rule 5 (modifiers): special values take no neg and no abs")]
    ModifiedSpecial,
    #[error("source rule: source {0}: byte {1:#04x} is reserved on page {2}")]
    ReservedSource(usize, u8, u8),
    #[error("pair rule: 64-bit sources are register pairs from an even one: source {0} is r{1}")]
    OddPair(usize, u8),
    #[error(
        "staging rule (alignment): groups of two or more staging registers start at an even register, not at r{0}"
    )]
    OddGroup(u32),
    #[error("staging rule (range): {count} staging registers from r{first} reach past r63")]
    PastEnd { first: u32, count: u32 },
    #[error("staging rule (count): a group has at least one staging register")]
    EmptyGroup,
}

/// First register and count of a group of staging registers.
pub type Group = (u32, u32);

/// The group that is read and the group that is written.
pub fn staging(inst: &Inst) -> (Option<Group>, Option<Group>) {
    let first = |count| (inst.get(f::SR), count);
    let read = || inst.get(f::SR_COUNT);
    let written = || inst.get(f::SR_WRITE_COUNT) + 1;
    match Opcode::of(inst.op()).staging() {
        Staging::None => (None, None),
        Staging::Read => (Some(first(read())), None),
        Staging::Write => (None, Some(first(read()))),
        Staging::WriteOnly => (None, Some(first(written()))),
        Staging::ReadWrite => (Some(first(read())), Some((inst.get(f::SR_WRITE), written()))),
        Staging::Texture => {
            let read = if read() == 0 { 8 } else { read() };
            (Some(first(read)), Some((inst.get(f::SR_WRITE), written())))
        }
    }
}

/// The sources of an instruction, in the order of the text.
///
/// # Errors
/// A byte that means nothing on the instruction's page.
pub fn sources(inst: &Inst) -> Result<SmallVec<[SourceByte; 4]>, Broken> {
    let page = inst.get(f::FAU_PAGE) as u8;
    let mut found = SmallVec::new();
    for (i, source) in Opcode::of(inst.op()).sources().iter().enumerate() {
        let byte = inst.get(source.field) as u8;
        let decoded =
            SourceByte::decode(byte, page).ok_or(Broken::ReservedSource(i, byte, page))?;
        found.push(decoded);
    }
    Ok(found)
}

/// The rules of fast-access uniforms for sources that are on one page.
///
/// # Errors
/// The first rule that is broken.
pub fn check_fau(opcode: Opcode, sources: &[SourceByte]) -> Result<(), Broken> {
    let mut page = None;
    let mut slots: SmallVec<[u8; 4]> = SmallVec::new();
    let mut words: SmallVec<[SourceByte; 4]> = SmallVec::new();
    let mut special = None;
    for &source in sources {
        if let Some(its) = source.page() {
            match page {
                Some(other) if other != its => return Err(Broken::TwoPages(other, its)),
                _ => page = Some(its),
            }
        }
        match source {
            SourceByte::Register { .. } => continue,
            SourceByte::Uniform(word) => {
                if !slots.contains(&(word >> 1)) {
                    slots.push(word >> 1);
                }
            }
            SourceByte::Constant(_) => {}
            SourceByte::Special { what, .. } => match special {
                Some(other) if other != what => return Err(Broken::TwoSpecials),
                _ => special = Some(what),
            },
        }
        if !words.contains(&source) {
            words.push(source);
        }
    }
    let wide = opcode.is_message() && !matches!(opcode, Opcode::Atest | Opcode::Blend);
    let allowed = if wide { 2 } else { 1 };
    if slots.len() > allowed {
        return Err(Broken::UniformSlots { allowed, found: slots.len() });
    }
    let allowed = if wide { 3 } else { 2 };
    if words.len() > allowed {
        return Err(Broken::FauWords { allowed, found: words.len() });
    }
    if let Some(special) = special {
        if !slots.is_empty() && !wide {
            return Err(Broken::SpecialWithUniform);
        }
        if opcode.is_message() && (special == Special::WarpId || special.page() == 3) {
            return Err(Broken::SpecialInMessage(special.name()));
        }
    }
    Ok(())
}

/// Every rule for one instruction.
///
/// # Errors
/// The first rule that is broken.
pub fn check(inst: &Inst) -> Result<(), Broken> {
    let opcode = Opcode::of(inst.op());
    let bytes = sources(inst)?;
    check_fau(opcode, &bytes)?;
    let page = inst.get(f::FAU_PAGE) as u8;
    let constant = |byte: &SourceByte| matches!(byte, SourceByte::Constant(_));
    if page != 0 && bytes.iter().any(constant) {
        return Err(Broken::ConstantPage(page));
    }
    for (i, (source, byte)) in opcode.sources().iter().zip(&bytes).enumerate() {
        match *byte {
            SourceByte::Special { .. } => {
                let modified = |field| inst.flag(field);
                if source.neg().is_some_and(modified) || source.abs().is_some_and(modified) {
                    return Err(Broken::ModifiedSpecial);
                }
            }
            SourceByte::Register { index, .. } if source.kind.is_pair() && index % 2 == 1 => {
                // A widened source is one register.
                let widened = source.swizzle().is_some_and(|field| inst.flag(field));
                if !widened {
                    return Err(Broken::OddPair(i, index));
                }
            }
            _ => {}
        }
    }
    let (read, written) = staging(inst);
    for (first, count) in read.into_iter().chain(written) {
        if count == 0 {
            return Err(Broken::EmptyGroup);
        }
        if count > 1 && first % 2 == 1 {
            return Err(Broken::OddGroup(first));
        }
        if first + count > 64 {
            return Err(Broken::PastEnd { first, count });
        }
    }
    Ok(())
}
