//! The chip: memory, and control streams that start programs. 5.2, 5.3.
//!
//! A run starts from words in memory alone; besides them the chip has what a driver writes to registers: the bases of the two
//! heaps of programs ([`Bases`]), the table of border colours, and the registers of render targets ([`TargetState`]).
//!
//! - [`Gpu::compute`]: CDM blocks. A kernel with `usc_common_shared` runs its program of the data sequencer once and fills
//!   shared registers, which stay for the kernels behind it. Another kernel runs it with IF1 for each workgroup (number in
//!   temporaries 0, 1 and 3; words of the common store become coefficients), then for each instance (number in temporaries
//!   0 and 1; words of the unified store become vertex inputs). The last instance of a task has IF0, and starts it.
//! - [`Gpu::vertices`]: VDM blocks. PDS_STATE fills shared registers, PPP_STATE updates the state of pixels, VDM_STATE names
//!   the vertex program, INDEX_LIST draws: the program of the data sequencer runs for each vertex (index in temporary 0,
//!   instance in 1, base vertex and base instance in persistent temporaries 0 and 1).
//! - [`Gpu::draw`]: the same, and pixels. SHADERBASE holds eight words of data and then the code that starts the fragment
//!   program; UNIFORMDATABASE and TEXUNICODEBASE are data and code that fill its shared registers; VARYINGBASE holds data and
//!   then code that sets up coefficients. Pixels' output registers and depths are a [`Render`].
//! - [`Gpu::quads`]: the same programs on quads that somebody else has interpolated.
//! - [`Gpu::end`]: the program that ends tiles emits the state words of each target, and pixels go to memory.
//!
//! At most 64 tasks are under way together, so that special register 112, which places an instance's scratch memory, stays
//! below 2048.
//!
//! What the API asks of the tests of pixels stands in no word: [`Gpu::set_early`] tells it, so that a program that stores is refused
//! in a pass whose tests hide pixels from it. [`Gpu::set_unrestricted`] tells whether depths may lie beyond 0 and 1.
//!
//! The offset of a trap is a group's byte from the base of code, or 0 where a word of a stream is to blame.

pub(super) mod compute;
mod pass;
pub(super) mod pbe;
pub(super) mod pixels;
mod ppp;
pub(super) mod vertices;

pub use pass::Pass;
pub use pbe::{Target, TargetState};
pub use pixels::{Pixel, Quad, Render, Sampled, Shaded};
pub use ppp::State as PixelState;
pub use vertices::Drawn;

use super::core::Core;
use super::machine::{Caches, Machine, Run};
use super::memory::Memory;
use super::register::Common;
use super::rule::{Refused, Rule, Trap};
use gpucc_ir::ssa::Numerics;
use std::ops::Range;

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
    private: Range<u64>,
    early: bool,
    unrestricted: bool,
    caches: Caches,
}

impl Gpu {
    /// A chip with nothing mapped.
    pub fn new(core: Core, numerics: Numerics, bases: Bases) -> Gpu {
        Gpu {
            core,
            numerics,
            bases,
            memory: Memory::default(),
            seed: 0,
            border_table: None,
            private: 0..0,
            early: false,
            unrestricted: false,
            caches: Caches::default(),
        }
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

    /// Says where the memory of instances alone is. What pixels store there is not seen by others.
    pub fn set_private(&mut self, private: Range<u64>) {
        self.private = private;
    }

    /// Says that pixels are tested before their programs run, whatever these store.
    pub fn set_early(&mut self, early: bool) {
        self.early = early;
    }

    /// Says that depths which go back may lie beyond 0 and 1. That the chip keeps them so is an assumption [A]: the public driver clamps
    /// them (4.2), and depths in memory are floats of 32 bits.
    pub fn set_unrestricted(&mut self, unrestricted: bool) {
        self.unrestricted = unrestricted;
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

impl Gpu {
    /// Lets the core run tasks with shared registers, which it gives back, and coefficients.
    fn core<T>(
        &mut self,
        shared: &mut Common,
        coefficients: Vec<Common>,
        work: impl FnOnce(&mut Machine<'_>) -> T,
    ) -> T {
        let (numerics, code) = (self.numerics, self.bases.code);
        let mut machine = Machine::new(&self.core, numerics, &mut self.memory, code, self.seed);
        machine.border_table = self.border_table;
        machine.private = self.private.clone();
        machine.unrestricted = self.unrestricted;
        machine.caches = std::mem::take(&mut self.caches);
        machine.shared = std::mem::take(shared);
        machine.coefficients = coefficients;
        let result = work(&mut machine);
        *shared = std::mem::take(&mut machine.shared);
        self.caches = std::mem::take(&mut machine.caches);
        self.seed = self.seed.wrapping_add(1);
        result
    }
}

/// Words of a control stream, one after the other.
pub(super) struct Words<'a> {
    pub(super) memory: &'a Memory,
    pub(super) at: u64,
}

/// Refuses a word with bits that must be 0.
fn reserved(word: u32, bits: u32, what: &str) -> Result<(), Refused> {
    match word & bits {
        0 => Ok(()),
        set => Err((Rule::StreamReserved, format!("bits {set:#x} of {what}"))),
    }
}

impl Words<'_> {
    pub(super) fn next(&mut self) -> Result<u32, Refused> {
        let word = self.memory.word(self.at)?;
        self.at += 4;
        Ok(word)
    }

    /// A word some of whose bits must be 0.
    fn masked(&mut self, bits: u32, what: &str) -> Result<u32, Refused> {
        let word = self.next()?;
        reserved(word, bits, what)?;
        Ok(word)
    }
}
