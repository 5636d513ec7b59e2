//! Whole programs: groups in memory order. The last group is a multiple of 8 bytes long and begins at one; the group before
//! it is made longer for that. Pipeline page 1.1.

use super::asm::{Draft, drafts};
use super::decode::{GroupError, decode};
use super::disasm::{Around, write_group};
use super::encode::encode;
use super::fields::f;
use super::group::{Group, Ops};
use gpucc_isa::Diagnostic;

/// Bytes of a fetch line.
pub const LINE: usize = 8;

/// Why bytes are no program, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("offset {offset:#x}: {reason}")]
pub struct ProgramError {
    /// In bytes from the start.
    pub offset: usize,
    /// What is wrong there.
    pub reason: GroupError,
}

/// The groups of a program with their byte offsets.
///
/// # Errors
/// The first bytes that are no group.
pub fn decode_program(bytes: &[u8]) -> Result<Vec<(usize, Group)>, ProgramError> {
    let (mut groups, mut offset) = (Vec::new(), 0);
    while offset < bytes.len() {
        let (group, taken) =
            decode(&bytes[offset..]).map_err(|reason| ProgramError { offset, reason })?;
        groups.push((offset, group));
        offset += taken;
    }
    Ok(groups)
}

/// Words of padding of the last two groups of a program that ends with its last group; `sizes` are bytes without padding.
fn usual_pads(sizes: &[usize]) -> (u8, u8) {
    let Some((last, before)) = sizes.split_last() else { return (0, 0) };
    let words = |bytes: usize| (bytes.next_multiple_of(LINE) - bytes) as u8 / 2;
    // Where the only group begins, the program does.
    (words(before.iter().sum()), words(*last))
}

/// What the text says of padding: nothing where it is what [`usual_pads`] makes.
fn pads(groups: &[(usize, Group)], end: usize) -> Vec<Option<u8>> {
    let count = groups.len();
    let mut said: Vec<Option<u8>> =
        groups.iter().map(|(_, group)| Some(group.layout.pad).filter(|pad| *pad > 0)).collect();
    let Some((_, last)) = groups.last() else { return said };
    if !last.end {
        return said;
    }
    let ends = groups.iter().skip(1).map(|(offset, _)| *offset).chain([end]);
    let sizes: Vec<usize> = groups
        .iter()
        .zip(ends)
        .map(|((offset, group), end)| end - offset - 2 * usize::from(group.layout.pad))
        .enumerate()
        // Padding of the groups before belongs to where the last one begins.
        .map(|(at, size)| {
            size + if at + 2 < count { 2 * usize::from(groups[at].1.layout.pad) } else { 0 }
        })
        .collect();
    let (before, behind) = usual_pads(&sizes);
    let is_before = count < 2 || groups[count - 2].1.layout.pad == before;
    if is_before && last.layout.pad == behind {
        said[count - 1] = None;
        if count > 1 {
            said[count - 2] = None;
        }
    } else {
        said[count - 1] = Some(last.layout.pad);
    }
    said
}

/// The text of each group of a program with its byte offset.
///
/// # Errors
/// The first bytes that are no group.
pub fn listing(bytes: &[u8]) -> Result<Vec<(usize, String)>, ProgramError> {
    let groups = decode_program(bytes)?;
    let mut starts: Vec<i64> = groups.iter().map(|(offset, _)| *offset as i64).collect();
    starts.push(bytes.len() as i64);
    let pads = pads(&groups, bytes.len());
    let text = |(number, ((offset, group), pad)): (usize, (&(usize, Group), Option<u8>))| {
        let mut text = String::new();
        let around = Around { number, offset: *offset as i64, starts: &starts, pad };
        write_group(&mut text, group, &around);
        (*offset, text)
    };
    Ok(groups.iter().zip(pads).enumerate().map(text).collect())
}

/// Text of a program.
///
/// # Errors
/// The first bytes that are no group.
pub fn disassemble(bytes: &[u8]) -> Result<String, ProgramError> {
    Ok(listing(bytes)?.into_iter().map(|(_, text)| text).collect())
}

fn wrong(line: u32, message: impl Into<String>) -> Diagnostic {
    Diagnostic { line, column: 1, message: message.into() }
}

/// Puts a branch's way into its group. 0.1: relative to the start of the branch's group.
fn aim(draft: &mut Draft, offset: usize, starts: &[usize]) -> Result<(), Diagnostic> {
    let (Some(target), Ops::Control(inst)) = (draft.target, &mut draft.group.ops) else {
        return Ok(());
    };
    let Some(start) = starts.get(target) else {
        return Err(wrong(draft.line, format!("there is no group {target}")));
    };
    let from = if inst.flag(f::ABSOLUTE) { 0 } else { offset as i64 };
    let words = (*start as i64 - from) / 2;
    *inst = inst.with(f::OFFSET, words as u32 & 0x7fff_ffff);
    Ok(())
}

/// The groups of a text, whether they have bytes or not; branches that name groups, and padding, are left open.
///
/// # Errors
/// The first line that is wrong.
pub fn parse(text: &str) -> Result<Vec<Group>, Diagnostic> {
    Ok(drafts(text)?.into_iter().map(|draft| draft.group).collect())
}

/// Bytes of a program's text.
///
/// # Errors
/// The first line that is wrong.
pub fn assemble(text: &str) -> Result<Vec<u8>, Diagnostic> {
    let mut drafts = drafts(text)?;
    let bytes =
        |draft: &Draft| encode(&draft.group).map_err(|error| wrong(draft.line, error.to_string()));
    let mut sizes =
        drafts.iter().map(|draft| Ok(bytes(draft)?.len())).collect::<Result<Vec<_>, _>>()?;
    let count = drafts.len();
    let usual = drafts.last().is_some_and(|last| last.group.end)
        && drafts[count.saturating_sub(2)..].iter().all(|draft| !draft.padded);
    if usual {
        let (before, behind) = usual_pads(&sizes);
        for (back, pad) in [(1, behind), (2, before)] {
            if let Some(at) = count.checked_sub(back) {
                drafts[at].group.layout.pad = pad;
                sizes[at] += 2 * usize::from(pad);
            }
        }
    }
    let mut starts = vec![0];
    for size in &sizes {
        starts.push(starts[starts.len() - 1] + size);
    }
    let mut out = Vec::with_capacity(starts[count]);
    for (draft, start) in drafts.iter_mut().zip(&starts) {
        aim(draft, *start, &starts)?;
        out.extend(encode(&draft.group).map_err(|error| wrong(draft.line, error.to_string()))?);
    }
    Ok(out)
}
