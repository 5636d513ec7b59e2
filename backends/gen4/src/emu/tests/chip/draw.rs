//! A chip with the states of the 3D pipeline, whose threads a test starts unit by unit.

use super::{BATCH, CONSTANTS, PROGRAM, STATE, SURFACES, TABLE};
use crate::emu::tests::machine;
use crate::emu::{Gpu, Model, Run, Trap};
use crate::isa::assemble;

/// States of units within general state.
pub const VERTEX: u32 = STATE + 0x200;
pub const SETUP: u32 = STATE + 0x240;
pub const PIXEL: u32 = STATE + 0x280;
pub const COLOR: u32 = STATE + 0x2c0;
/// A render target and a depth buffer.
pub const TARGET: u32 = 0x5_0000;
pub const DEPTH: u32 = 0x6_0000;

/// Bytes of words.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The chip and its states.
pub struct Draws {
    pub model: Model,
    pub gpu: Gpu,
    pub vertex: [u32; 7],
    pub setup: [u32; 8],
    pub pixel: [u32; 8],
    pub color: [u32; 8],
    pub target: [u32; 6],
    pub depth: [u32; 5],
}

impl Draws {
    /// A program for every unit. The target is a plane of 16 by 8 pixels of four floats.
    pub fn new(model: Model, text: &str) -> Draws {
        let mut gpu = Gpu::new(model);
        let code = assemble(machine(model), text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let memory = gpu.memory();
        for (address, len) in [(PROGRAM, 0x1000), (STATE, 0x1000), (BATCH, 0x1000), (DEPTH, 0x1000)]
        {
            memory.map(address, len).unwrap();
        }
        memory.map(TARGET, 16 * 16 * 8).unwrap();
        memory.write(PROGRAM, &code).unwrap();
        memory.write(TARGET, &[0; 16 * 16 * 8]).unwrap();
        memory.write(TABLE, &bytes(&[SURFACES])).unwrap();
        memory
            .write(CONSTANTS, &bytes(&std::array::from_fn::<u32, 16, _>(|n| 100 + n as u32)))
            .unwrap();
        Draws {
            model,
            gpu,
            // 64 registers; attributes from r2 on behind a row of constants.
            vertex: [PROGRAM | 6, 0, 0, 1 | 1 << 11 | 1 << 25, 15 << 25 | 1 << 19 | 32 << 11, 0, 1],
            setup: [PROGRAM | 6, 0, 0, 3 | 1 << 4 | 1 << 11, 3 << 19 | 8 << 11, 0, 0, 0],
            // Dispatch at r2, two slots of the setup entry, 8 channels.
            pixel: [PROGRAM | 6, 1 << 8, 0, 2 | 4 << 11, 0, 1 | 1 << 19, 0, 0],
            color: [0; 8],
            target: [1 << 29, TARGET, 15 << 6 | 7 << 19, 255 << 3, 0, 0],
            // A null surface.
            depth: [7 << 29, 0, 0, 0, 0],
        }
    }

    /// Sends the states.
    pub fn send(&mut self) -> Result<(), Trap> {
        let g45 = self.model == Model::G45;
        let mut commands = vec![0x0200_0000, if g45 { 0x6904_0000 } else { 0x6104_0000 }];
        commands.extend([0x6101_0004, 1, 1, 1, 0xffff_f001, 1]);
        commands.extend([0x6000_2f01, 64 | 64 << 10 | 64 << 20, 128 | 132 << 20]);
        commands.extend([0x6001_0000, 1 << 4 | 1, 0x6002_0100, CONSTANTS]);
        commands.extend([0x7800_0005, VERTEX, 0, 0, SETUP, PIXEL, COLOR]);
        commands.extend([0x7801_0004, TABLE, TABLE, TABLE, TABLE, TABLE]);
        commands.extend([0x7900_0002, 0, 15 | 7 << 16, 0]);
        commands.push(if g45 { 0x7905_0004 } else { 0x7905_0003 });
        commands.extend(&self.depth[..if g45 { 5 } else { 4 }]);
        commands.push(0x0500_0000);
        let memory = self.gpu.memory();
        memory.write(VERTEX, &bytes(&self.vertex)).unwrap();
        memory.write(SETUP, &bytes(&self.setup)).unwrap();
        memory.write(PIXEL, &bytes(&self.pixel)).unwrap();
        memory.write(COLOR, &bytes(&self.color)).unwrap();
        memory.write(SURFACES, &bytes(&self.target)).unwrap();
        memory.write(BATCH, &bytes(&commands)).unwrap();
        let mut steps = 1000;
        let mut run = Run { steps: &mut steps, trace: None };
        self.gpu.batch(BATCH, 4 * commands.len() as u32, &mut run)
    }

    /// A pixel of the target.
    pub fn texel(&mut self, x: u32, y: u32) -> [f32; 4] {
        self.gpu.memory().flush();
        let read = self.gpu.memory().read(TARGET + 16 * (16 * y + x), 16).unwrap();
        std::array::from_fn(|at| {
            f32::from_le_bytes(std::array::from_fn(|byte| read[4 * at + byte]))
        })
    }
}
