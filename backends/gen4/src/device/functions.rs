//! What answers the messages of a thread: extended math, scattered doublewords, target writes, the thread spawner. G45 vol. 4, 5.10.5
//! and chapter 6; isa/gen4-pipeline.md 5.

use crate::emu::{Message, Register, Reply, Rule, SharedFunctions, Trap};
use gpucc_emu::draw::Quad;
use gpucc_ir::ssa::Numerics;

/// Where programs begin, from General State Base.
pub const PROGRAM: u32 = 0x1_0000;
/// Where the scratch of a thread begins.
const SCRATCH: u32 = 0x10_0000;
/// The surface of memory without one.
const STATELESS: u8 = 255;

/// Memory and units.
pub struct Functions {
    pub code: Vec<u8>,
    numerics: Numerics,
    surfaces: Vec<Option<Vec<u8>>>,
    /// Bytes of the thread's scratch, and which of them were written.
    scratch: Vec<(u8, bool)>,
    /// What the thread wrote to targets.
    pub written: Vec<Written>,
}

/// Colours of the pixels of a thread.
pub struct Written {
    pub target: u32,
    /// By component and pixel.
    pub values: [[u32; 8]; 4],
    /// The pixels that live.
    pub living: u16,
}

impl Functions {
    pub fn new(numerics: Numerics, scratch: u32) -> Functions {
        Functions {
            code: Vec::new(),
            numerics,
            surfaces: vec![None; 255],
            scratch: vec![(0, false); scratch as usize],
            written: Vec::new(),
        }
    }

    /// Puts a buffer behind an entry of the binding table.
    pub fn bind(&mut self, entry: u8, bytes: &[u8]) {
        if let Some(surface) = self.surfaces.get_mut(usize::from(entry)) {
            *surface = Some(bytes.to_vec());
        }
    }

    /// What is behind an entry.
    pub fn memory(&self, entry: u8) -> Option<&[u8]> {
        self.surfaces.get(usize::from(entry))?.as_deref()
    }

    /// A thread finds its scratch unwritten.
    pub fn begin_thread(&mut self) {
        self.scratch.fill((0xef, false));
    }

    /// r0 of a root thread: only the doublewords whose meaning is known are defined.
    pub fn header(&self, thread: u32) -> Register {
        let mut register = Register::UNDEFINED;
        register.words[5] = SCRATCH | thread & 0xff;
        register.undefined &= !(0xf << 20);
        register
    }

    /// r0 of a thread of pixels: the pixels of the quad, and those that are covered.
    pub fn pixels(&self, thread: u32, quad: &Quad) -> Register {
        let mut register = self.header(thread);
        register.words[0] = 0xf << 16 | u32::from(quad.covered);
        register.undefined &= !15;
        register
    }

    /// A write of a target by eight pixels. 5.10.6.
    fn target(&mut self, message: &Message<'_>) -> Result<Reply, Trap> {
        let trap = |detail: &str| Trap::new(Rule::Mapped, message.offset, detail);
        let [header, second, colors @ ..] = message.payload else {
            return Err(trap("a target write has a header of two registers"));
        };
        if colors.len() != 4 || message.descriptor & 0x7700 != 0x4400 {
            return Err(trap("no such target write"));
        }
        let last = message.descriptor >> 11 & 1 == 1;
        if last != message.end_of_thread {
            return Err(trap("the last target write ends the thread"));
        }
        let dispatched = u32::from(message.sender.dispatched);
        if header.undefined & 15 != 0 || header.words[0] >> 16 != dispatched {
            return Err(trap("the header is not r0"));
        }
        if second.undefined >> 24 & 15 != 0 || second.words[6] & 0x7fff_ffff != 0 {
            return Err(trap("the second register is not r1"));
        }
        let living = header.words[0] as u16;
        for (pixel, color) in
            (0..8).flat_map(|pixel| colors.iter().map(move |color| (pixel, color)))
        {
            if living >> pixel & 1 == 1 && color.undefined >> (4 * pixel) & 15 != 0 {
                return Err(trap("a colour of a pixel that lives is undefined"));
            }
        }
        self.written.push(Written {
            target: message.descriptor & 0xff,
            values: std::array::from_fn(|component| colors[component].words),
            living,
        });
        Ok(Reply::default())
    }

    fn math(&self, message: &Message<'_>) -> Result<Reply, Trap> {
        let trap = |detail: &str| Err(Trap::new(Rule::Mapped, message.offset, detail));
        let function = message.descriptor & 15;
        let of = |bits: u32| match function {
            1 => Some(self.numerics.rcp(bits)),
            2 => Some(self.numerics.log2(bits)),
            3 => Some(self.numerics.exp2(bits)),
            4 => Some(self.numerics.sqrt(bits)),
            5 => Some(self.numerics.rsq(bits)),
            _ => None,
        };
        let [operand] = message.payload else {
            return trap("extended math takes one register here");
        };
        if of(0).is_none() || message.descriptor & 0xfff0 != 0 {
            return trap("this function of extended math is not emulated");
        }
        let mut reply = Register::UNDEFINED;
        let mut written = 0u8;
        for lane in (0..8).filter(|lane| message.enabled >> lane & 1 == 1) {
            written |= 1 << lane;
            if operand.undefined >> (4 * lane) & 15 == 0 {
                reply.words[lane] = of(operand.words[lane]).unwrap_or(0);
                reply.undefined &= !(15 << (4 * lane));
            }
        }
        Ok(Reply { registers: vec![(reply, written)] })
    }

    /// A scattered message of eight doublewords.
    fn scattered(&mut self, message: &Message<'_>, writes: bool) -> Result<Reply, Trap> {
        let trap = |detail: String| Trap::new(Rule::Mapped, message.offset, detail);
        let length = if writes { 3 } else { 2 };
        let kind = if writes { 0x3200 } else { 0x7200 };
        if message.payload.len() != length || message.descriptor & 0x7f00 != kind {
            return Err(trap(format!("no such message: {:#010x}", message.descriptor)));
        }
        let entry = (message.descriptor & 0xff) as u8;
        if entry == STATELESS {
            let header = &message.payload[0];
            if header.undefined & 0xf << 20 != 0 || header.words[5] & !0x3ff != SCRATCH {
                return Err(trap("the header is not r0".into()));
            }
        }
        let mut reply = (Register::UNDEFINED, 0u8);
        for lane in (0..8).filter(|lane| message.enabled >> lane & 1 == 1) {
            let offsets = &message.payload[1];
            if offsets.undefined >> (4 * lane) & 15 != 0 {
                return Err(trap(format!("the offset of lane {lane} is undefined")));
            }
            let offset = offsets.words[lane] as usize;
            if !offset.is_multiple_of(4) {
                return Err(trap(format!("offset {offset:#x} is no multiple of 4")));
            }
            let data = writes.then(|| message.payload[2]);
            let value = match data {
                None => None,
                Some(data) if data.undefined >> (4 * lane) & 15 == 0 => Some(data.words[lane]),
                Some(_) => return Err(trap(format!("the value of lane {lane} is undefined"))),
            };
            let outside = || trap(format!("byte {offset:#x} of surface {entry} does not exist"));
            let end = offset.checked_add(4).ok_or_else(outside)?;
            if entry == STATELESS {
                let bytes = self.scratch.get_mut(offset..end).ok_or_else(outside)?;
                match value {
                    Some(value) => {
                        for (byte, new) in bytes.iter_mut().zip(value.to_le_bytes()) {
                            *byte = (new, true);
                        }
                    }
                    None => {
                        let word: [u8; 4] = std::array::from_fn(|at| bytes[at].0);
                        reply.1 |= 1 << lane;
                        reply.0.words[lane] = u32::from_le_bytes(word);
                        if bytes.iter().all(|byte| byte.1) {
                            reply.0.undefined &= !(15 << (4 * lane));
                        }
                    }
                }
                continue;
            }
            let surface = self.surfaces.get_mut(usize::from(entry)).and_then(Option::as_mut);
            let surface = surface.ok_or_else(|| trap(format!("nothing is bound to {entry}")))?;
            let bytes = surface.get_mut(offset..end).ok_or_else(outside)?;
            match value {
                Some(value) => bytes.copy_from_slice(&value.to_le_bytes()),
                None => {
                    let word: [u8; 4] = std::array::from_fn(|at| bytes[at]);
                    reply.1 |= 1 << lane;
                    reply.0.words[lane] = u32::from_le_bytes(word);
                    reply.0.undefined &= !(15 << (4 * lane));
                }
            }
        }
        let registers = if message.response == 0 { Vec::new() } else { vec![reply] };
        Ok(Reply { registers })
    }
}

impl SharedFunctions for Functions {
    fn send(&mut self, message: &Message<'_>) -> Result<Reply, Trap> {
        match message.function {
            1 => self.math(message),
            4 => self.scattered(message, false),
            5 if message.descriptor >> 12 & 7 == 4 => self.target(message),
            5 => self.scattered(message, true),
            7 if message.end_of_thread => Ok(Reply::default()),
            other => {
                let detail = format!("shared function {other} is not emulated");
                Err(Trap::new(Rule::Mapped, message.offset, detail))
            }
        }
    }

    /// Behind the program the memory is mapped, and no instruction: it is fetched ahead.
    fn fetch(&mut self, address: u32) -> Result<[u8; 16], Trap> {
        let at = address.wrapping_sub(PROGRAM) as usize;
        match self.code.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(word) => Ok(*word),
            None => {
                let detail = "the program ends before the thread does";
                Err(Trap::new(Rule::Mapped, address.wrapping_sub(PROGRAM), detail))
            }
        }
    }
}
