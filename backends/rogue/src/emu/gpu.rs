//! The chip: memory, and control streams that start programs. 5.2, 5.3.

mod compute;
mod pbe;
mod pixels;
mod ppp;
mod vertices;

pub use pbe::{Target, TargetState};
pub use pixels::{Pixel, Quad, Render, Shaded};
pub use ppp::State as PixelState;
pub use vertices::Drawn;

use super::core::Core;
use super::machine::Run;
use super::memory::Memory;
use super::rule::{Refused, Rule, Trap};
use gpucc_ir::ssa::Numerics;

/// Where the heaps of programs begin, which a driver tells the chip by registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Bases {
    /// Programs of the shader core.
    pub code: u64,
    /// Programs of the data sequencer.
    pub pds: u64,
}

/// One emulated chip.
#[derive(Clone, Debug)]
pub struct Gpu {
    core: Core,
    numerics: Numerics,
    bases: Bases,
    memory: Memory,
    seed: u64,
    border_table: Option<u64>,
}

impl Gpu {
    /// A chip with nothing mapped.
    pub fn new(core: Core, numerics: Numerics, bases: Bases) -> Gpu {
        Gpu { core, numerics, bases, memory: Memory::default(), seed: 0, border_table: None }
    }

    /// Its memory, as the processor sees it.
    pub fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    /// Selects what the documents leave open.
    pub fn set_order(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Sets the model of approximated functions, with their errors.
    pub fn set_numerics(&mut self, numerics: Numerics) {
        self.numerics = numerics;
    }

    /// Where the table of border colours is. 4.5.
    pub fn set_border_table(&mut self, address: u64) {
        self.border_table = Some(address);
    }

    /// Executes a control stream of compute kernels.
    ///
    /// # Errors
    /// The rule that a word of it or a program breaks; the offset of a program's trap is its byte from the code's base.
    pub fn compute(&mut self, stream: u64, run: &mut Run<'_>) -> Result<(), Trap> {
        compute::stream(self, stream, run)
    }
}

impl Gpu {
    /// Executes a control stream of draws as far as its vertices.
    ///
    /// # Errors
    /// As [`Gpu::compute`].
    pub fn vertices(&mut self, stream: u64, run: &mut Run<'_>) -> Result<Vec<Drawn>, Trap> {
        vertices::stream(self, stream, run)
    }
}

impl Gpu {
    /// Executes a control stream of draws onto the output registers of a render's pixels.
    ///
    /// # Errors
    /// As [`Gpu::compute`].
    pub fn draw(
        &mut self,
        stream: u64,
        render: &mut Render,
        run: &mut Run<'_>,
    ) -> Result<(), Trap> {
        for drawn in vertices::stream(self, stream, run)? {
            pixels::draw(self, &drawn, render, run)?;
        }
        Ok(())
    }

    /// Reads a state update, as a control stream would send it.
    ///
    /// # Errors
    /// Its words are not as many as its header says, or something that is not built.
    pub fn pixel_state(&self, address: u64, count: u32) -> Result<PixelState, Refused> {
        let mut state = PixelState::default();
        state.update(&self.memory, address, count)?;
        Ok(state)
    }

    /// Runs the fragment programs of a state on quads that somebody else has found and interpolated; gives four pixels a
    /// quad. No test of depth happens.
    ///
    /// # Errors
    /// As [`Gpu::compute`].
    pub fn quads(
        &mut self,
        state: &PixelState,
        quads: &[Quad],
        run: &mut Run<'_>,
    ) -> Result<Vec<[Shaded; 4]>, Trap> {
        pixels::quads(self, state, quads, run)
    }

    /// Runs the program that ends tiles, and writes the outputs of a render's pixels where it says.
    ///
    /// # Errors
    /// As [`Gpu::compute`].
    pub fn end(
        &mut self,
        target: &TargetState,
        render: &Render,
        run: &mut Run<'_>,
    ) -> Result<(), Trap> {
        pbe::end(self, target, render, run)
    }
}

/// Words of a control stream, one after the other.
struct Words<'a> {
    memory: &'a Memory,
    at: u64,
}

impl Words<'_> {
    fn next(&mut self) -> Result<u32, Refused> {
        let word = self.memory.word(self.at)?;
        self.at += 4;
        Ok(word)
    }

    /// A word some of whose bits must be 0.
    fn masked(&mut self, reserved: u32, what: &str) -> Result<u32, Refused> {
        let word = self.next()?;
        match word & reserved {
            0 => Ok(word),
            bits => Err((Rule::StreamReserved, format!("bits {bits:#x} of {what}"))),
        }
    }
}
