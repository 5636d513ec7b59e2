//! Variables of vertex programs in registers: a register for each word, which an index names. G45 vol. 4, 11.3.9.

use super::{Lower, Place};
use crate::inst::{Inst, Source, Src};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use cranelift_entity::EntitySet;
use gpucc_ir::ssa::verify::bounds::Facts;
use gpucc_ir::ssa::{Imm, InstData, Mem, MemData, MemSpace, Op, Type, Value};

/// Registers that variables take, at most.
pub const MOST: u32 = 32;
/// Registers of a thread with which each one of an execution unit has room (isa/gen4.md 6): variables and payload take no more.
const ROOM: u32 = 64;
/// Log2 of a register's bytes over those of a word.
const SPREAD: u32 = 3;
/// Words that an access moves.
fn count(data: &InstData) -> usize {
    match data.op {
        Op::MemStore => data.args.len() - 1,
        _ => data.results.len(),
    }
}

/// Registers of a variable. An index that may be out of range is cut to so many bits: a register of something else is never
/// written.
fn extent(bytes: u32, uncertain: bool) -> u32 {
    match uncertain {
        true => bytes.div_ceil(4).next_power_of_two(),
        false => bytes.div_ceil(4),
    }
}

impl Lower<'_> {
    /// Gives variables registers, in the order of the function, as long as there are some. All of their accesses are of words.
    pub(super) fn place_elements(&mut self) {
        let private = |data: &MemData| data.space == MemSpace::Private;
        if !self.abi.is_vertex() || !self.ssa.mems.values().any(private) {
            return;
        }
        self.facts = Some(Facts::new(self.ssa));
        let room = MOST.min(ROOM.saturating_sub(self.abi.payload().into()));
        let (mut others, mut uncertain) = (EntitySet::<Mem>::new(), EntitySet::<Mem>::new());
        for (region, ..) in self.ssa.regions_in_order() {
            for &inst in &self.ssa.regions[region].insts {
                let data = &self.ssa.insts[inst];
                match data.imm {
                    Imm::Mem(access) => {
                        let words = |&value: &Value| self.ssa.ty(value) == Type::B32;
                        let moved = data.results.iter().chain(data.args.iter().skip(1));
                        if !moved.into_iter().all(words) || access.lo % 4 != 0 {
                            others.insert(access.mem);
                        }
                        if !self.is_within(data, access.mem) {
                            uncertain.insert(access.mem);
                        }
                    }
                    Imm::MemAtomic(access, _) => {
                        others.insert(access.mem);
                    }
                    _ => {}
                }
            }
        }
        for (mem, data) in &self.ssa.mems {
            let words = extent(data.size, uncertain.contains(mem));
            if private(data) && !others.contains(mem) && u32::from(self.elements) + words <= room {
                self.arrays[mem] = Some(self.abi.payload() + self.elements);
                self.elements += words as u8;
            }
        }
    }

    /// The words of an access are certainly within the variable.
    fn is_within(&self, data: &InstData, mem: Mem) -> bool {
        let first = self.facts.as_ref().and_then(|facts| facts.most(data.args[0]));
        let end = first.and_then(|first| first.checked_add(4 * count(data) as u32));
        end.is_some_and(|end| end <= self.ssa.mems[mem].size)
    }

    /// Loads or stores words of a variable in registers.
    pub(super) fn elements(&mut self, data: &InstData, mem: Mem) {
        let Some(first) = self.arrays[mem] else { return };
        let bytes = self.ssa.mems[mem].size;
        let known = self.ssa.as_const(data.args[0]).map(|bits| bits as u32);
        let within = self.is_within(data, mem);
        let mut dynamic = None;
        for number in 0..count(data) as u32 {
            let offset = match known {
                // No trip comes here.
                Some(at) if u64::from(at) + 4 * u64::from(number) + 4 > bytes.into() => None,
                Some(at) => Some(Source::from(Src::Bits((at + 4 * number) << SPREAD))),
                None => {
                    let base = *dynamic.get_or_insert_with(|| self.spread_offset(data.args[0]));
                    Some(self.moved(base, number, (!within).then(|| extent(bytes, true))))
                }
            };
            match data.op {
                Op::MemStore => {
                    let value = self.source(data.args[1 + number as usize]);
                    if let Some(offset) = offset {
                        self.push(Inst::SetElement { offset, first, value });
                    }
                }
                _ => {
                    let result = data.results[number as usize];
                    match offset {
                        Some(offset) => {
                            let dst = self.define(result).into();
                            self.push(Inst::Element { dst, offset, first });
                        }
                        None => self.values[result] = Some(Place::Source(Src::Bits(0))),
                    }
                }
            }
        }
    }

    /// An address of words as one of registers.
    fn spread_offset(&mut self, address: Value) -> Source {
        let (mut value, mut by) = (address, SPREAD);
        if let Some(data) = self.ssa.def(address)
            && data.op == Op::Shl
            && self.is_near(address)
            && let Some(more) = self.ssa.as_const(data.args[1])
            // A shift takes five bits of its count.
            && (more as u32 & 31) + SPREAD < 32
        {
            (value, by) = (data.args[0], by + (more as u32 & 31));
        }
        let source = self.source(value);
        let spread = self.fresh();
        self.alu(Opcode::Shl, Ty::Ud, spread, &[source, Src::Bits(by).into()]);
        Src::Reg(spread.into()).into()
    }

    /// The offset of a word behind the first one, cut to a variable of so many registers.
    fn moved(&mut self, base: Source, number: u32, registers: Option<u32>) -> Source {
        let mut offset = base;
        if number > 0 {
            let sum = self.fresh();
            self.alu(Opcode::Add, Ty::Ud, sum, &[offset, Src::Bits(32 * number).into()]);
            offset = Src::Reg(sum.into()).into();
        }
        if let Some(registers) = registers {
            let cut = self.fresh();
            self.alu(Opcode::And, Ty::Ud, cut, &[offset, Src::Bits(32 * (registers - 1)).into()]);
            offset = Src::Reg(cut.into()).into();
        }
        offset
    }
}
