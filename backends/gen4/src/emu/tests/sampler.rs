//! Sampler messages by themselves: what each form of payload is answered, from the words of G45 vol. 4, 4.2 to 4.8.

mod forms;
mod levels;
mod places;

use crate::emu::functions::{Context, Functions, Textures};
use crate::emu::memory::Memory;
use crate::emu::message::{Message, Register, Reply, Sender, SharedFunctions};
use crate::emu::state::Bases;
use crate::emu::surface::Kind;
use crate::emu::{Model, Rule};
use gpucc_ir::ssa::Numerics;

pub const BOTH: [Model; 2] = [Model::I965, Model::G45];

/// Places in memory; the binding table's first entry is the texture.
const TABLE: u32 = 0x1000;
const SURFACE: u32 = 0x1100;
const SAMPLER: u32 = 0x1200;
const BORDER: u32 = 0x1300;
pub const TEXELS: u32 = 0x1_0000;

/// Codes of filters, wrap modes and formats.
pub const NEAREST: u32 = 0;
pub const LINEAR: u32 = 1;
pub const REPEAT: u32 = 0;
pub const CLAMP: u32 = 2;
pub const CUBE: u32 = 3;
pub const R32F: u32 = 0xd8;
pub const R32U: u32 = 0xd7;
pub const R16: u32 = 0x10a;
pub const R8: u32 = 0x140;
pub const RGBA32F: u32 = 0;

/// A texture, a sampler and the caches in front of them.
pub struct Bench {
    pub model: Model,
    pub memory: Memory,
    pub textures: Textures,
    /// Words of SURFACE_STATE.
    pub surface: [u32; 6],
    /// Words of SAMPLER_STATE.
    pub sampler: [u32; 4],
    pub border: [f32; 4],
    /// Word 2 of the header.
    pub control: u32,
    pub enabled: u16,
    /// Bytes of each register behind the header that nobody wrote.
    pub undefined: u32,
}

/// The type of a surface.
pub fn kind(kind: Kind) -> u32 {
    match kind {
        Kind::Line => 0,
        Kind::Plane => 1,
        Kind::Volume => 2,
        Kind::Cube => 3,
        Kind::Buffer => 4,
        Kind::Null => 7,
    }
}

/// Filters within a level and between levels: 0 none, 1 nearest, 3 linear; the level is clamped first.
pub fn filters(mag: u32, min: u32, mip: u32) -> u32 {
    1 << 28 | mip << 20 | mag << 17 | min << 14
}

impl Bench {
    /// A linear texture of width, height, depth or layers, levels, whose rows are `pitch` bytes apart; all its bytes are 0.
    pub fn new(model: Model, of: Kind, code: u32, size: [u32; 4], pitch: u32) -> Bench {
        let [width, height, depth, levels] = size;
        let mut memory = Memory::default();
        memory.map(TABLE, 0x1000).unwrap();
        memory.map(TEXELS, 0x1_0000).unwrap();
        memory.write(TEXELS, &[0; 0x1_0000]).unwrap();
        let faces = if of == Kind::Cube { 63 } else { 0 };
        Bench {
            model,
            memory,
            textures: Textures::default(),
            surface: [
                kind(of) << 29 | code << 18 | faces,
                TEXELS,
                (height - 1) << 19 | (width - 1) << 6 | (levels - 1) << 2,
                (depth - 1) << 21 | (pitch - 1) << 3,
                0,
                0,
            ],
            // Nearest, level 0 to 13, clamped.
            sampler: [filters(NEAREST, NEAREST, 0), 832 << 12 | 0o222, BORDER, 0],
            border: [0.0; 4],
            control: 0,
            enabled: 0xffff,
            undefined: 0,
        }
    }

    /// Writes a texel's bytes at a column and row of the surface.
    pub fn texel(&mut self, [x, y]: [u32; 2], texel: &[u8]) {
        let pitch = (self.surface[3] >> 3 & 0x1_ffff) + 1;
        let at = TEXELS + y * pitch + x * texel.len() as u32;
        self.memory.write(at, texel).unwrap();
    }

    /// As [`Bench::texel`], a float.
    pub fn float(&mut self, at: [u32; 2], value: f32) {
        self.texel(at, &value.to_le_bytes());
    }

    /// Sends registers behind a header.
    pub fn send(&mut self, kind: u32, payload: &[[u32; 8]], response: u32) -> Result<Reply, Rule> {
        let told = match (self.model, self.surface[0] >> 18 & 0x1ff) {
            (_, R32U | 0xcb) => 2,
            (_, 0xd6) => 3,
            _ => 0,
        };
        let kind = if self.model == Model::G45 { kind << 12 } else { kind << 14 | told << 12 };
        self.words(kind, payload, response)
    }

    /// As [`Bench::send`], with bits 15 to 8 of the descriptor.
    pub fn words(&mut self, bits: u32, payload: &[[u32; 8]], response: u32) -> Result<Reply, Rule> {
        let model = self.model;
        let words = if model == Model::G45 { 6 } else { 5 };
        self.memory.write(TABLE, &bytes(&[SURFACE])).unwrap();
        self.memory.write(SURFACE, &bytes(&self.surface[..words])).unwrap();
        self.memory.write(SAMPLER, &bytes(&self.sampler)).unwrap();
        self.memory.write(BORDER, &bytes(&self.border.map(f32::to_bits))).unwrap();
        let header = Register::new([0, 0, self.control, SAMPLER, 0, 0, 0, 0]);
        let mut registers = vec![header];
        let undefined = self.undefined;
        registers.extend(payload.iter().map(|&words| Register { words, undefined }));
        let bases = Bases::default();
        let numerics = Numerics::REFERENCE;
        let memory = (&mut self.memory, &mut self.textures);
        let mut functions = Functions::new(model, memory, &bases, numerics);
        let mut context = Context::new(header);
        context.table = TABLE;
        functions.contexts.insert(0, context);
        let length = registers.len() as u32;
        let message = Message {
            function: 2,
            descriptor: 2 << 24 | length << 20 | response << 16 | bits,
            end_of_thread: false,
            channels: 16,
            second_half: false,
            enabled: self.enabled,
            saturate: false,
            signed: false,
            payload: &registers,
            response,
            sender: &Sender::default(),
            offset: 0,
        };
        functions.send(&message).map_err(|trap| trap.rule)
    }

    /// Four components of one channel for one set of parameters, by eight channels (SIMD8).
    pub fn eight(&mut self, kind: u32, parameters: &[f32]) -> Result<[f32; 4], Rule> {
        let payload: Vec<[u32; 8]> = parameters.iter().map(|p| [p.to_bits(); 8]).collect();
        self.enabled = 0xff;
        Ok(components(&self.send(kind, &payload, 4)?, 1))
    }

    /// As [`Bench::eight`], by sixteen channels.
    pub fn sixteen(&mut self, kind: u32, parameters: &[f32]) -> Result<[f32; 4], Rule> {
        let payload: Vec<[u32; 8]> =
            parameters.iter().flat_map(|p| [[p.to_bits(); 8]; 2]).collect();
        self.enabled = 0xffff;
        Ok(components(&self.send(kind, &payload, 8)?, 2))
    }

    /// The first component of `sample_l` by sixteen channels.
    pub fn at(&mut self, [u, v, r]: [f32; 3], level: f32) -> f32 {
        self.sixteen(1, &[u, v, r, level]).unwrap()[0]
    }

    /// Texels by number: the message of sixteen channels with a level.
    pub fn load(&mut self, at: [u32; 4]) -> Result<[u32; 4], Rule> {
        let payload: Vec<[u32; 8]> = at.iter().flat_map(|p| [[*p; 8]; 2]).collect();
        self.enabled = 0xffff;
        Ok(components(&self.send(3, &payload, 8)?, 2).map(f32::to_bits))
    }
}

/// The components of the first channel, so many registers apart.
pub fn components(reply: &Reply, apart: usize) -> [f32; 4] {
    std::array::from_fn(|component| {
        let (register, written) = &reply.registers[apart * component];
        assert!(*written & 1 == 1 && register.undefined & 15 == 0);
        f32::from_bits(register.words[0])
    })
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
