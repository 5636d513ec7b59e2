//! Private arrays in memory: each instance has a block of its own. isa/rogue-pipeline.md 3.3, 4.4.

use super::Lower;
use super::test::{self, Asked};
use crate::inst::{Message, Src, Step, WORDS};
use crate::isa::ops::{Backend, Main};
use crate::isa::register::Register;
use crate::limits;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Reg, VReg};
use gpucc_ir::ssa::{Imm, InstData, Mem, Op, Stage, TexKind, Type};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// The number of an instance among those that run, which places its block. 3.1.
pub const PLACE: Register = Register::Special(112);
/// Zeros that one store writes.
const ZEROS: u16 = 16;

/// What is in memory.
#[derive(Default)]
pub(super) struct Scratch {
    /// The first byte of each array within the block.
    pub places: SecondaryMap<Mem, Option<u32>>,
    /// Bytes that arrays take.
    pub bytes: u32,
    /// Registers may go to memory, too.
    pub spills: bool,
    /// The address of the block.
    base: Option<[VReg; 2]>,
}

/// The group that makes the address of the instance's block, but for its destinations: base and bytes of a block are shared
/// registers from this one on.
pub fn block_address(first: u16) -> Step {
    Step::behind(Src::Fixed(Register::Shared(first + 2)), Src::Fixed(PLACE), Src::shared(first))
}

impl Lower<'_> {
    /// Gives an array its place in memory.
    pub(super) fn place_in_memory(&mut self, mem: Mem, words: u32) -> Result<(), Failure> {
        self.scratch.places[mem] = Some(self.scratch.bytes);
        let bytes = u64::from(self.scratch.bytes) + 4 * u64::from(words);
        limits::PRIVATE.admit(bytes)?;
        self.scratch.bytes = bytes as u32;
        Ok(())
    }

    /// Makes the address of the block, and zeros of the arrays. Pixels that are not covered store nothing, so that they stand aside
    /// where something is in memory: the condition is to be closed at the end.
    ///
    /// # Errors
    /// [`Failure::NotYet`] where they are needed for what neighbours do.
    pub(super) fn begin_scratch(&mut self) -> Result<Option<Block>, Failure> {
        if self.scratch.bytes == 0 && !self.scratch.spills {
            return Ok(None);
        }
        let mut covered = None;
        if self.ssa.stage == Stage::Fragment {
            if self.needs_neighbours() {
                return Err(self.not_yet("memory of fragments that ask their neighbours"));
            }
            let mask = self.fresh();
            self.push(Step::backend(Word::usual(Backend::Savmsk.op())).to(0, mask));
            let operands = [Src::Reg(mask.into()), Src::ZERO];
            self.compare(Asked { test: test::NOT_EQUAL, ty: test::U32, operands });
            covered = Some(self.begin_if(true));
        }
        if self.scratch.bytes > 0 {
            let (low, high) = (self.fresh(), self.fresh());
            self.push(block_address(self.abi.shareds).to(0, low).to(1, high));
            self.scratch.base = Some([low, high]);
            self.clear_scratch();
        }
        Ok(covered)
    }

    /// Something is computed of what other pixels of the quad, or other instances, have.
    fn needs_neighbours(&self) -> bool {
        use Op::{Ddx, DdxCoarse, DdxFine, Ddy, DdyCoarse, DdyFine};
        let ssa = self.ssa;
        let asks = |data: &InstData| match (data.op, &data.imm) {
            (Ddx | DdxCoarse | DdxFine | Ddy | DdyCoarse | DdyFine, _) => true,
            (Op::IsHelper | Op::Ballot | Op::Shuffle | Op::Reduce, _) => true,
            // Levels come of the differences between pixels.
            (Op::Tex, Imm::Tex(tex)) => {
                matches!(tex.kind, TexKind::Sample | TexKind::SampleBias | TexKind::QueryLevel)
            }
            _ => false,
        };
        ssa.regions_in_order()
            .iter()
            .any(|&(region, ..)| ssa.regions[region].insts.iter().any(|&at| asks(&ssa.insts[at])))
    }

    /// Arrays are zeros at first.
    fn clear_scratch(&mut self) {
        let words = self.scratch.bytes / 4;
        let zeros: SmallVec<[Reg; 4]> = (0..words.min(ZEROS.into()))
            .map(|_| {
                let reg = self.fresh();
                self.push(Step::copy(reg, Src::ZERO));
                reg.into()
            })
            .collect();
        let bursts = words / u32::from(ZEROS);
        if bursts > 1 {
            // The offset goes from burst to burst.
            let at = self.fresh();
            self.push(Step::copy(at, Src::ZERO));
            let (header, exit) = self.begin_turns();
            self.store_at(Src::Reg(at.into()), &zeros);
            let (step, end) =
                (self.number(4 * u32::from(ZEROS)), self.number(4 * u32::from(ZEROS) * bursts));
            let next = Step::p0(Word::usual(Main::Imadd32.op())).from(0, Src::Reg(at.into()));
            self.push(next.from(1, Src::ONE).from(2, step).to(0, at));
            let operands = [Src::Reg(at.into()), end];
            self.compare(Asked { test: test::LESS, ty: test::U32, operands });
            self.end_turns(header, exit);
        } else if bursts == 1 {
            self.store_at(Src::ZERO, &zeros);
        }
        let rest = words % u32::from(ZEROS);
        if rest > 0 {
            let at = self.number(4 * (words - rest));
            self.store_at(at, &zeros[..rest as usize]);
        }
    }

    /// The address of a byte of the block.
    fn scratch_address(&mut self, offset: Src) -> [Reg; 2] {
        let (low, high) = (self.fresh(), self.fresh());
        let block = match self.scratch.base {
            Some(base) => base.map(|reg| Src::Reg(reg.into())),
            None => [Src::ZERO; 2],
        };
        self.push(Step::behind(offset, Src::ONE, block).to(0, low).to(1, high));
        [low.into(), high.into()]
    }

    fn store_at(&mut self, offset: Src, words: &[Reg]) {
        let address = self.scratch_address(offset);
        self.push(Step::store(words, &address, WORDS));
    }

    /// An access of a private array in memory.
    pub(super) fn scratch_access(&mut self, data: &InstData, place: u32) -> Result<(), Failure> {
        let stores = data.op == Op::MemStore;
        let values = if stores { &data.args[1..] } else { &data.results[..] };
        if values.iter().any(|&value| self.ssa.ty(value) != Type::B32) {
            return Err(self.not_yet("variables of other than 32 bits"));
        }
        let offset = match self.ssa.as_const(data.args[0]) {
            Some(bits) => self.number((bits as u32).wrapping_add(place)),
            None if place == 0 => self.source(data.args[0]),
            None => {
                let (offset, place) = (self.source(data.args[0]), self.number(place));
                Src::Reg(self.multiply_add(offset, Src::ONE, place).into())
            }
        };
        if stores {
            let sources: SmallVec<[Src; 4]> =
                values.iter().map(|&value| self.source(value)).collect();
            let words: SmallVec<[Reg; 4]> =
                sources.into_iter().map(|source| self.own(source)).collect();
            self.store_at(offset, &words);
            return Ok(());
        }
        let address = self.scratch_address(offset);
        let to: SmallVec<[Reg; 4]> =
            values.iter().map(|&value| self.define(value).into()).collect();
        self.push(Step::load(&address, &to, Message::Loads));
        Ok(())
    }
}
