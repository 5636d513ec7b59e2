//! Subgroups: the 16 lanes of a step. Ballots are flags, and what other lanes have is read by regions and addresses out of
//! registers that are no lane's, in which lanes that are not there have 0. isa/gen4.md 3.

use super::{Lower, Place};
use crate::inst::{Inst, Source, Src};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{Builtin, Imm, InstData, Shuffle, Value};

/// Lanes of a subgroup.
const SUBGROUP: u32 = 16;

impl Lower<'_> {
    /// What a lane is told of its subgroup.
    pub(super) fn subgroup_input(&mut self, which: Builtin) -> Option<Place> {
        let number = Source::from(Src::Fixed(self.abi.lane()));
        Some(match which {
            Builtin::SubgroupSize => Place::Source(Src::Bits(SUBGROUP)),
            Builtin::NumSubgroups => Place::Source(Src::Bits(self.steps())),
            Builtin::SubgroupInvocationId => Place::Reg(self.own_lane()),
            Builtin::SubgroupId => {
                let by = Src::Bits(SUBGROUP.ilog2()).into();
                Place::Reg(self.made(Opcode::Shr, &[number, by]))
            }
            _ => return None,
        })
    }

    fn made(&mut self, opcode: Opcode, sources: &[Source]) -> VReg {
        let dst = self.fresh();
        self.alu(opcode, Ty::Ud, dst, sources);
        dst
    }

    fn own_lane(&mut self) -> VReg {
        let number = Src::Fixed(self.abi.lane()).into();
        self.made(Opcode::And, &[number, Src::Bits(SUBGROUP - 1).into()])
    }

    fn mask_of(&mut self, truth: Source) -> VReg {
        let source = self.no_number(truth);
        let dst = self.fresh();
        self.push(Inst::Ballot { dst: dst.into(), source });
        dst
    }

    /// A bit for each lane, all of them in the first word.
    pub(super) fn ballot(&mut self, data: &InstData) -> Result<(), Failure> {
        let truth = self.source(data.args[0]);
        let mask = self.mask_of(truth);
        for (at, &word) in data.results.iter().enumerate() {
            self.values[word] = Some(match at {
                0 => Place::Reg(mask),
                _ => Place::Source(Src::Bits(0)),
            });
        }
        Ok(())
    }

    /// Puts a value where all lanes read it, unless it is there.
    fn put_there(&mut self, value: Value) {
        if self.spread != Some(value) {
            let source = self.source(value);
            self.push(Inst::Spread { source });
            self.spread = Some(value);
        }
    }

    /// The value that another lane has.
    pub(super) fn shuffle(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Shuffle(which) = data.imm else {
            return Err(self.not_yet("this exchange of lanes"));
        };
        let number = match data.args.get(1) {
            Some(&number) => self.source(number),
            None => Src::Bits(0).into(),
        };
        let lane: Source = match which {
            Shuffle::First => {
                let yes = self.mask_of(Src::Bits(1).into());
                self.lowest(yes)
            }
            Shuffle::Lane | Shuffle::OrZero => number,
            Shuffle::Up | Shuffle::Down => {
                let own = Src::Reg(self.own_lane().into()).into();
                let less = self.no_number(number);
                let less = Source { negate: which == Shuffle::Up, ..less };
                let dst = self.fresh();
                self.alu(Opcode::Add, Ty::D, dst, &[own, less]);
                Src::Reg(dst.into()).into()
            }
            Shuffle::Xor => {
                let own = Src::Reg(self.own_lane().into()).into();
                Src::Reg(self.made(Opcode::Xor, &[own, number]).into()).into()
            }
            Shuffle::Quad => {
                let own = Src::Reg(self.own_lane().into()).into();
                let first = self.made(Opcode::And, &[own, Src::Bits(SUBGROUP - 4).into()]);
                let within = self.made(Opcode::And, &[number, Src::Bits(3).into()]);
                let both = [first, within].map(|reg| Src::Reg(reg.into()).into());
                Src::Reg(self.made(Opcode::Or, &both).into()).into()
            }
        };
        self.put_there(data.args[0]);
        // Only the low bits of a lane's number count.
        if let Src::Bits(bits) = lane.src {
            let dst = self.define(data.results[0]).into();
            self.push(Inst::Lane { dst, lane: (bits % SUBGROUP) as u8 });
            return Ok(());
        }
        let lane = self.made(Opcode::And, &[lane, Src::Bits(SUBGROUP - 1).into()]);
        let bytes = self.made(Opcode::Shl, &[Src::Reg(lane.into()).into(), Src::Bits(2).into()]);
        let dst = self.define(data.results[0]).into();
        self.push(Inst::Gather { dst, bytes: bytes.into() });
        Ok(())
    }

    /// The number of the lowest bit that is set: 31 less the zeros above it.
    fn lowest(&mut self, bits: VReg) -> Source {
        let of = Source::from(Src::Reg(bits.into()));
        let opposite = self.fresh();
        self.alu(Opcode::Mov, Ty::D, opposite, &[Source { negate: true, ..of }]);
        let alone = self.made(Opcode::And, &[of, Src::Reg(opposite.into()).into()]);
        let above = self.made(Opcode::Lzd, &[Src::Reg(alone.into()).into()]);
        let above = Source { negate: true, ..Src::Reg(above.into()).into() };
        let dst = self.fresh();
        self.alu(Opcode::Add, Ty::D, dst, &[above, Src::Bits(31).into()]);
        Src::Reg(dst.into()).into()
    }
}
