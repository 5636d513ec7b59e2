//! Tests of the chip: batches that start threads, and what these write to memory.

mod chance;
mod draw;
mod geometry;
mod media;
mod pixel;
mod port;
mod primitive;
mod sampler;
mod vertex;

use super::machine;
use crate::emu::{Gpu, Model, Rule, Run, Trap};
use crate::isa::assemble;

pub const BOTH: [Model; 2] = [Model::I965, Model::G45];

/// Places in memory.
pub const PROGRAM: u32 = 0x1_0000;
pub const STATE: u32 = 0x2_0000;
pub const DESCRIPTORS: u32 = STATE + 0x40;
pub const SURFACES: u32 = STATE + 0x100;
pub const TABLE: u32 = STATE + 0x800;
pub const CONSTANTS: u32 = STATE + 0xc00;
pub const BATCH: u32 = 0x3_0000;
pub const BUFFER: u32 = 0x4_0000;
pub const SCRATCH: u32 = 0x10_0000;

/// What ends a media thread.
pub const LAST: &str = "send(8) 0 null<1>UW g0<8,8,1>UW 0x87100000 { align1 EOT };";

/// A chip whose parts a test may replace before it runs.
pub struct Chip {
    pub gpu: Gpu,
    /// Commands before the objects.
    pub commands: Vec<u32>,
    pub vfe: [u32; 3],
    pub descriptor: [u32; 4],
    /// Objects: their inline words.
    pub objects: Vec<Vec<u32>>,
    pub steps: u64,
}

impl Chip {
    /// A program of media threads, a buffer of 1024 bytes behind entry 0, and constants 100 to 115.
    pub fn new(model: Model, text: &str) -> Chip {
        let mut gpu = Gpu::new(model);
        let memory = gpu.memory();
        let code = assemble(machine(model), &format!("{text}\n{LAST}\n"))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        for (address, len) in [
            (PROGRAM, 0x1000),
            (STATE, 0x1000),
            (BATCH, 0x1000),
            (BUFFER, 1024),
            (SCRATCH, 0x2_0000),
        ] {
            memory.map(address, len).unwrap();
        }
        memory.write(PROGRAM, &code).unwrap();
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        memory.write(SURFACES, &words(&buffer(BUFFER, 64))).unwrap();
        memory.write(TABLE, &words(&[SURFACES])).unwrap();
        memory
            .write(CONSTANTS, &words(&std::array::from_fn::<u32, 16, _>(|n| 100 + n as u32)))
            .unwrap();
        memory.write(BUFFER, &words(&std::array::from_fn::<u32, 256, _>(|n| n as u32))).unwrap();
        let select = if model == Model::G45 { 0x6904_0001 } else { 0x6104_0001 };
        let mut commands = vec![0x0200_0000, select];
        commands.extend([0x6101_0004, 1, 1, 1, 0xffff_f001, 1]);
        // 8 units: VFE up to 128, constants up to 132.
        commands.extend([0x6000_3001, 0, 128 << 10 | 132 << 20]);
        commands.extend([0x6001_0000, 1 << 4 | 1]);
        commands.extend([0x6002_0100, CONSTANTS]);
        commands.extend([0x7000_0001, 0, STATE]);
        Chip {
            gpu,
            commands,
            // 16 entries of 2 units, 8 threads, 1024 bytes of scratch each.
            vfe: [SCRATCH, 7 << 25 | 1 << 16 | 16 << 9, DESCRIPTORS],
            // 64 registers, two rows of constants.
            descriptor: [PROGRAM | 7, 2 << 26, 0, TABLE | 1],
            objects: vec![vec![0; 8]],
            steps: 1_000_000,
        }
    }

    /// Writes the state and runs it.
    pub fn go(&mut self) -> Result<(), Trap> {
        let words = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        let mut commands = self.commands.clone();
        for object in &self.objects {
            commands.extend([0x7100_0002 + object.len() as u32, 0, 0, 0]);
            commands.extend(object);
        }
        commands.extend([0x0200_0000, 0x0500_0000]);
        let memory = self.gpu.memory();
        memory.write(STATE, &words(&self.vfe)).unwrap();
        memory.write(DESCRIPTORS, &words(&self.descriptor)).unwrap();
        memory.write(BATCH, &words(&commands)).unwrap();
        let mut run = Run { steps: &mut self.steps, trace: None };
        self.gpu.batch(BATCH, 4 * commands.len() as u32, &mut run)
    }

    /// Runs it to its end and gives the buffer.
    pub fn run(&mut self) -> Vec<u32> {
        self.go().unwrap_or_else(|trap| panic!("{trap}"));
        let bytes = self.gpu.memory().read(BUFFER, 1024).unwrap();
        bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect()
    }

    /// The rule that it breaks.
    pub fn breaks(&mut self) -> Rule {
        match self.go() {
            Ok(()) => panic!("it runs"),
            Err(trap) => trap.rule,
        }
    }
}

/// The state of a linear buffer of elements of 16 bytes, read and written.
pub fn buffer(base: u32, elements: u32) -> [u32; 6] {
    let last = elements - 1;
    [
        4 << 29 | 1 << 8,
        base,
        (last & 0x7f) << 6 | (last >> 7 & 0x1fff) << 19,
        (last >> 20) << 21 | 15 << 3,
        0,
        0,
    ]
}
