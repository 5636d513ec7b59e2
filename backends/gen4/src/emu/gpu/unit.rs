//! What the states of all units of the 3D pipeline have in common. isa/gen4-pipeline.md 1.1.

use super::super::dispatch::Job;
use super::super::functions::Context;
use super::super::memory::Refused;
use super::super::message::{Register, Unit};
use super::super::rule::Rule;
use super::Gpu;

/// The first words of a unit's state.
#[derive(Clone, Debug)]
pub struct UnitState {
    /// All words that were asked for.
    pub words: Vec<u32>,
    pub program: u32,
    pub registers: u32,
    pub alternate: bool,
    pub single_program_flow: bool,
    /// Base, and bytes a thread.
    pub scratch: (u32, u32),
    /// Register where constants begin.
    pub start: usize,
    /// Rows of the URB entry: from, count.
    pub urb: (usize, usize),
    /// Rows of constants: from, count.
    pub constants: (u32, u32),
}

impl UnitState {
    /// The state of a unit, of so many words.
    ///
    /// # Errors
    /// It is not mapped or written, or has what is reserved.
    pub fn read(gpu: &Gpu, unit: Unit, pointer: u32, count: u32) -> Result<UnitState, Refused> {
        let at = gpu.bases()?.general.wrapping_add(pointer);
        let words = (0..count).map(|word| gpu.memory.state(at.wrapping_add(4 * word)));
        let words: Vec<u32> = words.collect::<Result<_, _>>()?;
        let [d0, d1, d2, d3] = std::array::from_fn(|at| words.get(at).copied().unwrap_or(0));
        let d4 = words.get(4).copied().unwrap_or(0);
        // Exceptions are among these bits: they are not raised here. WM has them elsewhere, beside the row of depth coefficients,
        // and its samplers in place of entries. SF and GS count on G45 alone, and GS has no priority. That GS may be kept from
        // rendering on G45 (bit 8 of word 4) is of an open question and not built.
        let (d1_reserved, d4_reserved) = match unit {
            Unit::Pixel => (0x7c00_c0ff, 2),
            Unit::Geometry if gpu.model.is_early() => (0x7c02_ffff, 0x8100_07ff),
            Unit::Geometry => (0x7c02_ffff, 0x8100_03ff),
            Unit::Setup if gpu.model.is_early() => (0x7c00_ffff, 0x8100_07ff),
            _ => (0x7c00_ffff, 0x8100_03ff),
        };
        if d1 & d1_reserved != 0 || d4 & d4_reserved != 0 {
            let what = format!("{unit:?} state with words 1 and 4 {d1:#x} and {d4:#x}");
            return Err((Rule::ThreadState, what));
        }
        if d0 & 0x31 != 0 || d2 & 0x3f0 != 0 || d2 & 15 > 11 || d3 & 0x8102_0400 != 0 {
            return Err((Rule::ThreadState, format!("reserved bits of the state at {at:#x}")));
        }
        Ok(UnitState {
            program: d0 & !63,
            registers: 16 * ((d0 >> 1 & 7) + 1),
            alternate: d1 >> 16 & 1 == 1,
            single_program_flow: d1 >> 31 == 1,
            scratch: (d2 & !0x3ff, 1024 << (d2 & 15)),
            start: (d3 & 15) as usize,
            urb: ((d3 >> 4 & 63) as usize, (d3 >> 11 & 63) as usize),
            constants: (d3 >> 18 & 63, d3 >> 25 & 63),
            words,
        })
    }

    /// A payload fits the registers.
    ///
    /// # Errors
    /// It does not.
    fn fits(&self, payload: usize) -> Result<(), Refused> {
        if payload > self.registers as usize {
            let what = format!("a payload of {payload} registers of {}", self.registers);
            return Err((Rule::Payload, what));
        }
        Ok(())
    }

    /// What shared functions know of a thread of the unit that has this r0 and a binding table.
    pub fn context(&self, header: Register, table: u32) -> Context {
        let mut context = Context::new(header);
        context.alternate = self.alternate;
        context.table = table;
        context
    }

    /// A thread of the unit with its payload and mask of channels.
    ///
    /// # Errors
    /// The payload does not fit the registers.
    pub fn job(
        &self,
        unit: Unit,
        payload: Vec<Register>,
        dispatched: u16,
        context: Context,
    ) -> Result<Job, Refused> {
        self.fits(payload.len())?;
        Ok(Job {
            unit,
            payload,
            program: self.program,
            dispatched,
            single_program_flow: self.single_program_flow,
            registers: self.registers,
            scratch: self.scratch,
            context,
        })
    }
}
