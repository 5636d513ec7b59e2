//! Private arrays in temporaries, which an index register leads to. isa/rogue-pipeline.md 1.2.

use super::Lower;
use super::alu::RIGHT;
use crate::inst::{Src, Step, TEMP, W0};
use crate::isa::fields::f;
use crate::isa::group::Feed;
use crate::isa::ops::{Bitwise0, Bitwise2, Main};
use crate::isa::register::Register;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Demand, Phases, Role, VReg};
use gpucc_ir::ssa::{Imm, InstData, Mem, MemSpace, Op, Type};
use gpucc_isa::Inst as Word;

/// Temporaries that arrays may take together: what is left must do for everything else.
pub const MOST_WORDS: u32 = 96;

fn pass() -> Step {
    Step::p0(Word::usual(Main::Mbyp.op()))
}

impl Lower<'_> {
    /// Gives private arrays their registers, which hold zeros at first.
    pub(super) fn place_arrays(&mut self, spills: bool) -> Result<(), Failure> {
        self.scratch.spills = spills;
        let ssa = self.ssa;
        let mut used: SecondaryMap<Mem, bool> = SecondaryMap::new();
        for (region, ..) in ssa.regions_in_order() {
            for &inst in &ssa.regions[region].insts {
                if let Imm::Mem(access) | Imm::MemAtomic(access, _) = ssa.insts[inst].imm {
                    used[access.mem] = true;
                }
            }
        }
        let mut total = 0;
        for (mem, data) in ssa.mems.iter().filter(|(mem, _)| used[*mem]) {
            match data.space {
                MemSpace::Private => {}
                MemSpace::Workgroup => continue,
                MemSpace::Constant => return Err(self.not_yet("tables of constants")),
            }
            let words = data.size.div_ceil(4).max(1);
            if spills || words > MOST_WORDS - total {
                self.place_in_memory(mem, words)?;
                continue;
            }
            total += words;
            let demand = Demand { file: TEMP, count: words as u16, stride: 1, phases: Phases::ANY };
            let array = self.m.make_vreg(demand, self.span);
            self.clear(array, words as u8);
            self.arrays[mem] = Some(array);
        }
        self.find_zeros();
        Ok(())
    }

    /// Zeros in all words of an array: of each row the first and the fifth, then those behind them, so that the groups are one that
    /// repeats.
    fn clear(&mut self, array: VReg, words: u8) {
        const TURNS: u8 = 4;
        let zero = || pass().from(0, Src::ZERO);
        let rows = words / (2 * TURNS);
        for index in (0..rows).flat_map(|row| (0..TURNS).map(move |turn| 2 * TURNS * row + turn)) {
            let step = zero().select(5, Feed::Ft0).cell(W0, array, index, Role::Def);
            self.push(step.cell(W0 + 1, array, index + TURNS, Role::Def).effect());
        }
        for index in 2 * TURNS * rows..words {
            self.push(zero().cell(W0, array, index, Role::Def).effect());
        }
    }

    /// Notes the stores that put zeros where they are already: at constant addresses of a variable that nothing else has
    /// been stored to, in the body of the program.
    fn find_zeros(&mut self) {
        let ssa = self.ssa;
        let mut touched: SecondaryMap<Mem, bool> = SecondaryMap::new();
        for &inst in &ssa.regions[ssa.body].insts {
            let data = &ssa.insts[inst];
            let mut regions = data.regions.to_vec();
            while let Some(region) = regions.pop() {
                for &inner in &ssa.regions[region].insts {
                    let data = &ssa.insts[inner];
                    if let Imm::Mem(access) | Imm::MemAtomic(access, _) = data.imm {
                        touched[access.mem] = true;
                    }
                    regions.extend(data.regions.iter().copied());
                }
            }
            let (Imm::Mem(access) | Imm::MemAtomic(access, _)) = data.imm else { continue };
            let zeros = data.op == Op::MemStore
                && data.args.iter().all(|&value| ssa.as_const(value).is_some())
                && data.args[1..].iter().all(|&value| ssa.as_const(value) == Some(0));
            if zeros && !touched[access.mem] && self.arrays[access.mem].is_some() {
                self.zeros.insert(inst);
            }
            // Loads leave the words as they are.
            touched[access.mem] |= data.op != Op::MemLoad && !zeros;
        }
    }

    /// An access of a private array.
    pub(super) fn variable(&mut self, data: &InstData) -> Result<(), Failure> {
        let (Imm::Mem(access) | Imm::MemAtomic(access, _)) = data.imm else {
            return Err(self.not_yet("this access"));
        };
        if self.ssa.mems[access.mem].space == MemSpace::Workgroup {
            return self.shared_variable(data, access.mem);
        }
        if data.op == Op::MemAtomic {
            return Err(self.not_yet("atomic operations on private variables"));
        }
        if let Some(place) = self.scratch.places[access.mem] {
            return self.scratch_access(data, place);
        }
        let Some(array) = self.arrays[access.mem] else {
            return Err(self.not_yet("this variable"));
        };
        let values = if data.op == Op::MemStore { &data.args[1..] } else { &data.results[..] };
        if values.iter().any(|&value| self.ssa.ty(value) == Type::B64) {
            return Err(self.not_yet("variables of 64 bits"));
        }
        let first = self.ssa.as_const(data.args[0]).map(|bits| bits as u32 / 4);
        for (&value, at) in values.iter().zip(0u32..) {
            let index = first.map(|first| (first + at) as u8);
            if data.op == Op::MemStore {
                let source = self.source(value);
                let step = match index {
                    Some(index) => pass().from(0, source).cell(W0, array, index, Role::Def),
                    None => {
                        self.lead(data, at);
                        pass().from(0, source).led(array)
                    }
                };
                self.push(step.effect());
            } else {
                let step = match index {
                    Some(index) => pass().cell(0, array, index, Role::Use),
                    None => {
                        self.lead(data, at);
                        pass().indexed(0, array)
                    }
                };
                let dst = self.define(value);
                // The index register is nobody's but the access's before.
                self.push(step.to(0, dst));
            }
        }
        Ok(())
    }

    /// Puts the number of a word into the first index register. Nothing that changes it stands between this and the group that is
    /// led.
    pub(super) fn lead(&mut self, data: &InstData, more: u32) {
        let mut address = self.source(data.args[0]);
        if more > 0 {
            let (one, bytes) = (Src::ONE, self.number(4 * more));
            address = Src::Reg(self.multiply_add(address, one, bytes).into());
        }
        let two = self.number(2);
        let bypass = Word::usual(Bitwise0::Bbyp.op());
        let shift = Word::usual(Bitwise2::Shift.op()).with(f::SHIFT2, RIGHT);
        let step = Step::bits([Some(bypass), None, Some(shift)]).from(1, address).from(4, two);
        self.push(step.fixed(0, Register::Index(0)));
    }
}
