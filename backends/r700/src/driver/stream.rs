//! The commands of a draw: its registers as packets of the command processor, in the form that the Linux kernel admits.
//!
//! Addresses are relative to one buffer that holds everything; each is followed by its relocation, which names that buffer
//! (docs/errata.md 63).

use crate::api::{Family, StateRegister};
use std::collections::BTreeMap;

/// Spaces of registers: first byte, one past the last, opcode of the packet that writes them, registers of one entry.
const SPACES: &[(u32, u32, u32, usize)] = &[
    (0x08000, 0x0AC00, 0x68, 1),
    (0x28000, 0x29000, 0x69, 1),
    (0x38000, 0x3C000, 0x6D, 7),
    (0x3C000, 0x3CFF0, 0x6E, 3),
    (0x3CFF0, 0x3E200, 0x6F, 1),
    (0x3E200, 0x3E380, 0x6C, 1),
];

const NOP: u32 = 0x10;
const START_3D_CMDBUF: u32 = 0x24;
const CONTEXT_CONTROL: u32 = 0x28;
const DRAW_INDEX_AUTO: u32 = 0x2D;
const NUM_INSTANCES: u32 = 0x2F;
const EVENT_WRITE: u32 = 0x46;
const SURFACE_BASE_UPDATE: u32 = 0x73;
/// Event: pixels before are done.
const PS_PARTIAL_FLUSH: u32 = 0x10;
/// VGT_EVENT_INITIATOR. The kernel forbids it and admits the packet EVENT_WRITE with the same word.
const EVENT: u32 = 0x28A90;
/// Source of indices: the machine counts them.
const COUNTED: u32 = 2;

/// A packet of type 3 with its words.
fn packet(out: &mut Vec<u32>, opcode: u32, words: &[u32]) {
    out.push(3 << 30 | (words.len() as u32 - 1) << 16 | opcode << 8);
    out.extend_from_slice(words);
}

/// Registers that hold an address: programs, constant buffers, targets, the scatter aperture.
fn holds_address(register: u32) -> bool {
    matches!(register,
        0x09010 | 0x2800C
        | 0x28040..0x28060 | 0x280C0..0x28100
        | 0x28840 | 0x28858 | 0x2886C | 0x28880 | 0x28894
        | 0x28940..0x28A00)
}

/// Relocations of an entry of a space: a texture has two addresses, a buffer one.
fn relocations(at: u32, entry: &[u32]) -> usize {
    match entry {
        [.., word] if entry.len() == 7 => match word >> 30 {
            2 => 2,
            3 => 1,
            _ => 0,
        },
        [_] => usize::from(holds_address(at)),
        _ => 0,
    }
}

/// The words of a draw of counted vertices with these registers; where two blocks write a register each writes the bits of
/// its mask. An event is sent as a packet behind the registers.
pub fn draw_stream(
    family: Family,
    blocks: &[&[StateRegister]],
    vertices: u32,
    instances: u32,
) -> Vec<u32> {
    let mut values: BTreeMap<u32, u32> = BTreeMap::new();
    for register in blocks.iter().copied().flatten() {
        let value = values.entry(register.address).or_default();
        *value = *value & !register.mask | register.value & register.mask;
    }
    let event = values.remove(&EVENT);
    let mut out = Vec::new();
    if family == Family::R600 {
        packet(&mut out, START_3D_CMDBUF, &[0]);
    }
    packet(&mut out, CONTEXT_CONTROL, &[1 << 31, 1 << 31]);
    // An entry is written whole; what nobody decides of it is 0.
    for &(first, end, _, size) in SPACES.iter().filter(|space| space.3 > 1) {
        let bytes = 4 * size as u32;
        let entry = |at: &u32| first + (at - first) / bytes * bytes;
        let entries: Vec<u32> = values.range(first..end).map(|(at, _)| entry(at)).collect();
        for at in entries.into_iter().flat_map(|entry| (entry..entry + bytes).step_by(4)) {
            values.entry(at).or_default();
        }
    }
    for &(first, end, opcode, size) in SPACES {
        let mut registers = values.range(first..end).map(|(&at, &value)| (at, value)).peekable();
        while let Some((start, value)) = registers.next() {
            let mut run = vec![value];
            let next = |run: &[u32]| start + 4 * run.len() as u32;
            while let Some((_, value)) = registers.next_if(|&(at, _)| at == next(&run)) {
                run.push(value);
            }
            packet(&mut out, opcode, &[&[(start - first) / 4], &run[..]].concat());
            for (n, entry) in run.chunks(size).enumerate() {
                let at = start + 4 * (n * size) as u32;
                for _ in 0..relocations(at, entry) {
                    packet(&mut out, NOP, &[0]);
                }
            }
        }
    }
    if family == Family::R600 {
        // A bit for the depth target, one for each colour target.
        let colors = values.range(0x28040..0x28060);
        let written = colors.fold(0, |mask, (at, _)| mask | 2 << ((at - 0x28040) / 4));
        packet(&mut out, SURFACE_BASE_UPDATE, &[written]);
        packet(&mut out, EVENT_WRITE, &[PS_PARTIAL_FLUSH]);
    }
    if let Some(event) = event {
        packet(&mut out, EVENT_WRITE, &[event]);
    }
    packet(&mut out, NUM_INSTANCES, &[instances]);
    packet(&mut out, DRAW_INDEX_AUTO, &[vertices, COUNTED]);
    out
}
