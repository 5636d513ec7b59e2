//! Subgroups are warps: ballots by WMASK, values of other lanes by CLPER, which gives zeros for lanes
//! that do not run. isa/valhall_rogue.md 1.5, 4.9.

use super::operand::{Lane, Opnd};
use super::{Lower, Place};
use crate::api::Failure;
use crate::inst::{Special, Src};
use crate::isa::{Opcode, f};
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{self, Shuffle, Type, Value};

/// Values of the subgroup field.
mod size {
    pub const QUAD: u32 = 1;
    pub const WARP: u32 = 3;
}

impl Lower<'_> {
    /// One bit for each lane that holds true: all of them fit into the first word.
    pub(super) fn ballot(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let truth = self.whole(data.args[0]);
        let mask = self.mask_of(truth);
        self.define(data.results[0], Place::Reg(mask));
        for &word in &data.results[1..] {
            self.define(word, Place::Src(Src::Bits(0)));
        }
        Ok(())
    }

    /// The value that another lane holds.
    pub(super) fn shuffle(&mut self, inst: ssa::Inst, which: Shuffle) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (value, result) = (data.args[0], data.results[0]);
        let number = data.args.get(1).map(|&number| self.whole(number));
        // Only the low bits of a lane's number count, of constants as of others.
        let number = number.map_or(Opnd::bits(0), |number| match number.src {
            Src::Bits(bits) => Opnd::bits(bits & 15),
            _ => number,
        });
        let lane = match which {
            Shuffle::First => {
                let mask = self.mask_of(Opnd::bits(u32::MAX));
                let reversed = self.emit(Opcode::BitrevI32, &[Opnd::reg(mask)]);
                Opnd::reg(self.emit(Opcode::ClzU32, &[Opnd::reg(reversed)]))
            }
            Shuffle::Up | Shuffle::Down => {
                let opcode = match which {
                    Shuffle::Up => Opcode::IsubU32,
                    _ => Opcode::IaddU32,
                };
                let own = self.mov(Src::Special(Special::LaneId, 0));
                Opnd::reg(self.emit(opcode, &[Opnd::reg(own), number]))
            }
            Shuffle::Quad => match number.src {
                Src::Bits(bits) => Opnd::bits(bits & 3),
                _ => number,
            },
            Shuffle::Lane | Shuffle::OrZero | Shuffle::Xor => number,
        };
        let subgroup = match which {
            Shuffle::Quad => size::QUAD,
            _ => size::WARP,
        };
        let fields = [(f::SUBGROUP, subgroup), (f::LANE_OP, u32::from(which == Shuffle::Xor))];
        let read = |lower: &mut Self, reg: VReg| {
            lower.emit_with(Opcode::ClperI32, &[Opnd::reg(reg), lane], &fields)
        };
        match self.ssa.ty(value) {
            Type::B64 => {
                let pair = self.pair(value).map(|reg| read(self, reg));
                self.define_pair(result, pair);
            }
            ty => {
                let reg = match ty {
                    Type::B16 => self.low_half(value),
                    _ => self.reg(value),
                };
                let reg = read(self, reg);
                self.define_reg(result, reg);
            }
        }
        Ok(())
    }

    fn mask_of(&mut self, truth: Opnd) -> VReg {
        self.emit_with(Opcode::Wmask, &[truth], &[(f::SUBGROUP, size::WARP)])
    }

    /// 32 bits as a source without modifiers.
    fn whole(&mut self, value: Value) -> Opnd {
        let operand = self.plain(value);
        match operand.lane {
            Lane::All => operand,
            _ => Opnd::reg(self.in_register(operand)),
        }
    }
}
