//! What surrounds a program: memory with its descriptors, uniforms, and how hard to try to break it.

use super::memory::Memory;
use gpucc_ir::ssa::numerics::Perturbation;

/// Kind of program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Workgroups.
    Compute,
    /// Vertices.
    Vertex,
    /// Quads of pixels.
    Fragment,
}

/// Where thread-local storage starts for every thread.
pub const THREAD_BASE: u64 = 0x7E00_0001_0000;
/// Where the memory of the running workgroup starts.
pub const WORKGROUP_BASE: u64 = 0x7D00_0001_0000;

/// Everything outside of the program.
#[derive(Clone, Debug)]
pub struct State {
    /// Kind of program.
    pub stage: Stage,
    /// Registers of a thread: 32 (r0-r15 and r48-r63) or 64. isa 1.9.
    pub work_registers: u32,
    /// Uniform words.
    pub fau: Vec<u32>,
    /// Memory.
    pub memory: Memory,
    /// Where the code stands in it, by [`State::load`].
    pub code: u64,
    /// The special value `resource_table_pointer`: address and, in the low six bits, entries.
    pub tables: u64,
    /// Thread-local bytes.
    pub thread_bytes: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// The special values `blend_descriptor_n`; 0 where there is no target.
    pub blend: [u64; 8],
    /// The special value `sample`: where the places of samples lie; 0 where there are none.
    pub samples: u64,
    /// Chooses when messages act and in which order warps run.
    pub seed: u64,
    /// Makes approximated functions err.
    pub errors: Option<Perturbation>,
    /// Instructions that may still be executed; a launch takes its own away.
    pub steps: u64,
}

impl State {
    /// Nothing bound, 64 registers.
    pub fn new(stage: Stage) -> State {
        State {
            stage,
            work_registers: 64,
            fau: Vec::new(),
            memory: Memory::default(),
            code: 0,
            tables: 0,
            thread_bytes: 0,
            workgroup_bytes: 0,
            blend: [0; 8],
            samples: 0,
            seed: 0,
            errors: None,
            steps: 1 << 32,
        }
    }

    /// Maps the code at an address, with so many bytes of zeros behind it.
    pub fn load(&mut self, at: u64, code: &[u8], zeros: u32) {
        let mut bytes = code.to_vec();
        bytes.resize(code.len() + zeros as usize, 0);
        self.memory.map(at, bytes, false);
        self.code = at;
    }
}
