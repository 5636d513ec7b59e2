//! What the Linux kernel asks of commands before it lets the machine have them, and what the machine asks beside it: packets,
//! ranges of registers, relocations, types of resources, targets. docs/errata.md 58, 63, 82, 83; register guide.

use crate::api::Family;
use std::collections::{BTreeMap, BTreeSet};

/// Why commands are not admitted: the dword, and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("dword {at}: {why}")]
pub struct Refused {
    /// Number of the packet's first dword.
    pub at: usize,
    /// What is wrong.
    pub why: String,
}

/// One draw with the registers that it runs under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draw {
    /// By byte address. VGT_EVENT_INITIATOR is among them where RESET_VTX_CNT was sent for this draw.
    pub registers: BTreeMap<u32, u32>,
    /// Vertices that the machine counts.
    pub vertices: u32,
    /// Instances.
    pub instances: u32,
}

/// A space of registers and the packet that writes it.
struct Space {
    opcode: u32,
    first: u32,
    end: u32,
    /// Words of an entry, which are written whole.
    entry: usize,
}

#[rustfmt::skip]
const SPACES: [Space; 8] = [
    Space { opcode: 0x68, first: 0x0_8000, end: 0x0_AC00, entry: 1 },
    Space { opcode: 0x69, first: 0x2_8000, end: 0x2_9000, entry: 1 },
    Space { opcode: 0x6A, first: 0x3_0000, end: 0x3_2000, entry: 1 },
    Space { opcode: 0x6B, first: 0x3_E380, end: 0x3_E38C, entry: 1 },
    Space { opcode: 0x6C, first: 0x3_E200, end: 0x3_E380, entry: 1 },
    Space { opcode: 0x6D, first: 0x3_8000, end: 0x3_C000, entry: 7 },
    Space { opcode: 0x6E, first: 0x3_C000, end: 0x3_CFF0, entry: 3 },
    Space { opcode: 0x6F, first: 0x3_CFF0, end: 0x3_E200, entry: 1 },
];

/// Fields of the first word of EVENT_WRITE: PS_PARTIAL_FLUSH and RESET_VTX_CNT.
const FLUSH_PIXELS: u32 = 0x10;
const RESET_COUNT: u32 = 0x21;
const VGT_EVENT_INITIATOR: u32 = 0x28A90;
const SX_MISC: u32 = 0x28350;
const PA_CL_CLIP_CNTL: u32 = 0x28810;
const SQ_CONFIG: u32 = 0x8C00;
const DB_DEPTH_BASE: u32 = 0x2800C;
const DB_DEPTH_INFO: u32 = 0x28010;
const CB_COLOR0_BASE: u32 = 0x28040;
const CB_COLOR0_INFO: u32 = 0x280A0;
const CB_COLOR0_TILE: u32 = 0x280C0;
const CB_COLOR0_FRAG: u32 = 0x280E0;
const CB_TARGET_MASK: u32 = 0x28238;
const DB_DEPTH_CONTROL: u32 = 0x28800;
const SQ_PGM_START_PS: u32 = 0x28840;
const SQ_PGM_START_VS: u32 = 0x28858;

/// What a relocation gives an address: bases of targets, programs, constant caches, rings, the scatter aperture.
fn is_address(register: u32) -> bool {
    let eight = |first: u32| (first..first + 32).contains(&register);
    eight(CB_COLOR0_BASE)
        || eight(CB_COLOR0_TILE)
        || eight(CB_COLOR0_FRAG)
        || (0x28940..0x28A00).contains(&register)
        || [0x9010, DB_DEPTH_BASE, SQ_PGM_START_PS, SQ_PGM_START_VS, 0x2886C, 0x28880, 0x28894]
            .contains(&register)
}

/// Of the registers of the configuration, those that a program's commands may write: the type of primitives, shares of
/// registers and threads, the scatter aperture, borders of samplers, and switches of fetches and depth. The wavefronts of a
/// dispatch too: VGT_VTX_VECT_EJECT_REG.
fn may_configure(register: u32) -> bool {
    matches!(register,
        0x88B0 | 0x8958 | 0x8C00..=0x8C14 | 0x8D8C | 0x9010 | 0x9014 | 0x9508 | 0x9714 | 0x9830 | 0x9838
        | 0xA400..=0xABFC)
}

/// Of the registers of a context, those that the kernel lets commands write. The ranges are shorter than the space: events,
/// reuse of vertices and what nobody has asked for lie between them.
#[rustfmt::skip]
fn may_set(register: u32) -> bool {
    // Size, stride and base of the four stream-out buffers; their offsets are not among them.
    let streamed = matches!(register, 0x2_8AD0..0x2_8B10) && register & 15 != 12;
    streamed || matches!(register,
        // Depth, its clears, the screen's scissors; colour targets and what is cleared to.
        0x2_8000 | 0x2_8004 | 0x2_800C | 0x2_8010 | 0x2_8028..=0x2_8034
        | 0x2_8040..0x2_8130
        // Sizes of constant buffers.
        | 0x2_8140..0x2_8200
        // Windows, scissors, masks of targets.
        | 0x2_8200..=0x2_8230 | 0x2_8238..=0x2_8244 | 0x2_8250..=0x2_8354
        // Semantics of fetches; vertex numbers, alpha, blending, stencil, viewports.
        | 0x2_8380..0x2_8400 | 0x2_8400..=0x2_85B8
        // What passes from vertices to pixels.
        | 0x2_8614..=0x2_8638 | 0x2_8644..=0x2_86E4
        // Blending of targets, fixed function.
        | 0x2_8780..=0x2_87A0 | 0x2_8800..=0x2_8820
        // Programs of each stage, rings.
        | 0x2_8840 | 0x2_8850..=0x2_8858 | 0x2_8868..=0x2_886C | 0x2_887C..=0x2_8880
        | 0x2_8890..=0x2_8894 | 0x2_88A4..=0x2_88E0
        // Constant buffers.
        | 0x2_8940..0x2_8A00
        // Points and lines, paths of vertices.
        | 0x2_8A00..=0x2_8A40 | 0x2_8A48..=0x2_8A50 | 0x2_8A6C | 0x2_8A84 | 0x2_8A94
        | 0x2_8AA0..=0x2_8AA4 | 0x2_8AB0..=0x2_8AB8 | 0x2_8B20 | 0x2_8B28
        // Samples, guard bands, compares of colours.
        | 0x2_8C00..=0x2_8C20 | 0x2_8C30..=0x2_8C3C | 0x2_8C48
        // Depth's modes and hierarchy, alpha to coverage.
        | 0x2_8D0C..=0x2_8D14 | 0x2_8D24..=0x2_8D34 | 0x2_8D44
        // Offsets of polygons, sizes of points, user's planes.
        | 0x2_8DF8..=0x2_8E7C)
}

/// Reads a stream of commands.
///
/// # Errors
/// The first packet that the kernel would refuse, or that the family's chips hang on.
pub fn admitted(family: Family, stream: &[u32]) -> Result<Vec<Draw>, Refused> {
    let mut reader = Reader {
        family,
        stream,
        at: 0,
        next: 0,
        now: Draw::default(),
        draws: Vec::new(),
        relocated: BTreeSet::new(),
        started: false,
        moved: false,
        flushed: false,
    };
    while reader.next < stream.len() {
        reader.packet()?;
    }
    Ok(reader.draws)
}

struct Reader<'a> {
    family: Family,
    stream: &'a [u32],
    /// The packet's first dword, and the one behind it.
    at: usize,
    next: usize,
    now: Draw,
    draws: Vec<Draw>,
    /// Registers whose last value had a relocation.
    relocated: BTreeSet<u32>,
    /// START_3D_CMDBUF was there.
    started: bool,
    /// The base of a target was written, and SURFACE_BASE_UPDATE did not follow.
    moved: bool,
    /// Pixels of earlier draws are done.
    flushed: bool,
}

impl<'a> Reader<'a> {
    fn refused<T>(&self, why: impl Into<String>) -> Result<T, Refused> {
        Err(Refused { at: self.at, why: why.into() })
    }

    /// The opcode and the words of the next packet.
    fn header(&mut self) -> Result<(u32, &'a [u32]), Refused> {
        self.at = self.next;
        let header = self.stream[self.at];
        let count = (header >> 16 & 0x3FFF) as usize + 1;
        match header >> 30 {
            3 => {}
            2 => {
                self.next += 1;
                return Ok((0x10, &[]));
            }
            other => return self.refused(format!("a packet of type {other}")),
        }
        if header & 1 != 0 {
            return self.refused("a predicated packet");
        }
        let words = self.stream.get(self.at + 1..self.at + 1 + count);
        let Some(words) = words else {
            return self.refused(format!("{count} words are more than are left"));
        };
        self.next = self.at + 1 + count;
        Ok((header >> 8 & 0xFF, words))
    }

    /// The relocation that must come next.
    fn relocation(&mut self, of: u32) -> Result<(), Refused> {
        let (packet, at) = (self.at, self.next);
        let is_one = self.stream.get(at).is_some_and(|&word| word == 3 << 30 | 0x10 << 8);
        if !is_one || self.stream.len() < at + 2 {
            return self.refused(format!("no relocation for {of:#x}"));
        }
        let buffer = self.stream[at + 1];
        if !buffer.is_multiple_of(4) {
            return self.refused(format!("relocation {buffer} is no entry of the list"));
        }
        self.next = at + 2;
        self.at = packet;
        Ok(())
    }

    fn packet(&mut self) -> Result<(), Refused> {
        let (opcode, words) = self.header()?;
        let counted = |n: usize| match words.len() == n {
            true => Ok(()),
            false => self.refused(format!("packet {opcode:#x} with {} words", words.len())),
        };
        match opcode {
            0x10 => Ok(()),
            0x24 => {
                counted(1)?;
                if self.family == Family::R700 {
                    return self.refused("START_3D_CMDBUF on a chip that has none");
                }
                self.started = true;
                Ok(())
            }
            0x28 => counted(2),
            0x2A => counted(1),
            0x2F => {
                counted(1)?;
                self.now.instances = words[0];
                Ok(())
            }
            0x2D => {
                counted(2)?;
                if words[1] & 3 != 2 {
                    return self.refused("indices from memory in a packet without any");
                }
                self.now.vertices = words[0];
                self.draw()
            }
            0x43 => {
                counted(4)?;
                self.relocation(0)
            }
            0x46 => {
                counted(1)?;
                match words[0] & 0x3F {
                    FLUSH_PIXELS => self.flushed = true,
                    RESET_COUNT => {
                        self.now.registers.insert(VGT_EVENT_INITIATOR, words[0]);
                    }
                    _ => {}
                }
                Ok(())
            }
            0x73 => {
                counted(1)?;
                self.moved = false;
                Ok(())
            }
            0x68..=0x6F => self.registers(opcode, words),
            _ => self.refused(format!("packet {opcode:#x} is none of a draw's")),
        }
    }

    fn registers(&mut self, opcode: u32, words: &[u32]) -> Result<(), Refused> {
        let Some(space) = SPACES.iter().find(|space| space.opcode == opcode) else {
            return self.refused(format!("packet {opcode:#x} writes nothing known"));
        };
        let (offset, values) = (words[0] & 0xFFFF, &words[1..]);
        let first = space.first + 4 * offset;
        let end = first + 4 * values.len() as u32;
        let whole = values.len().is_multiple_of(space.entry)
            && (offset as usize).is_multiple_of(space.entry);
        if values.is_empty() || end > space.end || !whole {
            return self.refused(format!("registers {first:#x} to {end:#x} by packet {opcode:#x}"));
        }
        // DX9_CONSTS chooses constants of registers in place of caches.
        if opcode == 0x6A && self.now.registers.get(&SQ_CONFIG).is_none_or(|word| word & 4 == 0) {
            return self.refused("constants in registers while they come from caches");
        }
        for (n, entry) in values.chunks(space.entry).enumerate() {
            let at = first + 4 * (n * space.entry) as u32;
            if opcode == 0x68 && !may_configure(at) {
                return self.refused(format!("register {at:#x} is the kernel's"));
            }
            if opcode == 0x69 && !may_set(at) {
                return self.refused(format!("register {at:#x} is forbidden"));
            }
            let relocations = match entry {
                [.., word] if opcode == 0x6D => match word >> 30 {
                    2 => 2,
                    3 => 1,
                    kind => return self.refused(format!("resource {at:#x} of type {kind}")),
                },
                _ => usize::from(is_address(at)),
            };
            for _ in 0..relocations {
                self.relocation(at)?;
                self.relocated.insert(at);
            }
            let base = at == DB_DEPTH_BASE || (CB_COLOR0_BASE..CB_COLOR0_BASE + 32).contains(&at);
            self.moved |= base;
            for (k, &value) in (0u32..).zip(entry) {
                self.now.registers.insert(at + 4 * k, value);
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), Refused> {
        let read = |at: u32| self.now.registers.get(&at).copied().unwrap_or_default();
        if self.family == Family::R600 {
            if !self.started {
                return self.refused("R6xx draws behind START_3D_CMDBUF");
            }
            if self.moved {
                return self.refused("R6xx wants SURFACE_BASE_UPDATE behind the base of a target");
            }
            if !self.flushed {
                return self
                    .refused("R6xx hangs on a draw behind another without a flush of pixels");
            }
        }
        // Which bit kills all primitives is the chip's. The kernel looks at one of them, whatever the chip.
        let killed = match self.family {
            Family::R700 => read(PA_CL_CLIP_CNTL) >> 22 & 1 == 1,
            Family::R600 => read(SX_MISC) & 1 == 1,
        };
        let unseen = read(SX_MISC) & 1 == 1;
        let pixels = if killed { None } else { Some(SQ_PGM_START_PS) };
        for start in pixels.into_iter().chain([SQ_PGM_START_VS]) {
            if !self.relocated.contains(&start) {
                return self.refused(format!("program {start:#x} has no place"));
            }
        }
        if !unseen {
            self.targets()?;
        }
        self.flushed = false;
        self.draws.push(self.now.clone());
        // An event is past with the draw behind it.
        self.now.registers.remove(&VGT_EVENT_INITIATOR);
        Ok(())
    }

    /// Targets that a draw writes and depth that it tests have memory and a format. What nobody wrote the kernel takes for
    /// the worst: every target, every test.
    fn targets(&self) -> Result<(), Refused> {
        let or = |at: u32, worst: u32| self.now.registers.get(&at).copied().unwrap_or(worst);
        let written = or(CB_TARGET_MASK, u32::MAX);
        for target in (0..8).filter(|target| written >> (4 * target) & 15 != 0) {
            let base = CB_COLOR0_BASE + 4 * target;
            if !self.relocated.contains(&base) {
                return self.refused(format!("target {target} is written and has no memory"));
            }
            if or(CB_COLOR0_INFO + 4 * target, 0) >> 2 & 63 == 0 {
                return self.refused(format!("target {target} has no format"));
            }
        }
        // STENCIL_ENABLE and Z_ENABLE.
        if or(DB_DEPTH_CONTROL, u32::MAX) & 3 != 0 {
            if !self.relocated.contains(&DB_DEPTH_BASE) {
                return self.refused("depth is tested and has no memory");
            }
            // The depth unit has tiles of two kinds. Guide 10, DB_DEPTH_INFO.
            let info = or(DB_DEPTH_INFO, 0);
            if info & 7 == 0 || ![2, 4].contains(&(info >> 15 & 15)) {
                return self.refused("depth is tested and has no format, or lies in rows");
            }
        }
        Ok(())
    }
}
