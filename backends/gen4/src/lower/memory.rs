//! Buffers and variables: doublewords by scattered messages. G45 vol. 4, 5.10.5.

use super::{Lower, STATELESS};
use crate::abi::{self, Told};
use crate::inst::{Inst, Source, Src};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use crate::limits;
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Imm, InstData, MemSpace, Op, Type, Value};
use smallvec::SmallVec;

impl Lower<'_> {
    /// Gives each variable its place in the thread's scratch: private ones have a doubleword for each lane.
    pub(super) fn place_variables(&mut self) -> Result<u32, Failure> {
        self.place_elements();
        let mut end: u64 = 0;
        for (mem, data) in &self.ssa.mems {
            if data.space == MemSpace::Constant || self.arrays[mem].is_some() {
                continue;
            }
            self.variables[mem] = end as u32;
            let lanes = match data.space {
                MemSpace::Private => u64::from(self.private_step() / 4),
                MemSpace::Workgroup | MemSpace::Constant => 1,
            };
            end += (u64::from(data.size) * lanes).next_multiple_of(self.abi.lane_bytes().into());
            limits::MEMORY.admit(end)?;
        }
        Ok(end as u32)
    }

    /// Lanes of one step meet by themselves; of more of them barriers make phases.
    pub(super) fn barrier(&mut self) -> Result<(), Failure> {
        match self.invocations() > self.abi.lanes {
            true => Err(self.not_yet("a barrier in control flow that has none around it")),
            false => Ok(()),
        }
    }

    /// Bytes from one doubleword of a private variable to the next: those of all lanes that have it at once.
    pub(super) fn private_step(&self) -> u32 {
        let steps = if self.phases.is_some() { self.steps() } else { 1 };
        self.abi.lane_bytes() * steps
    }

    pub(super) fn memory(&mut self, data: &InstData) -> Result<(), Failure> {
        let mut args = &data.args[..];
        let (surface, address, first) = match data.imm {
            Imm::Resource(resource) => {
                if data.op == Op::BufferSize {
                    let element = abi::element(self.ssa, resource, args);
                    let Some((register, dword)) = self.abi.told(resource, element, Told::Bytes)
                    else {
                        return Err(self.not_yet("the size of this binding"));
                    };
                    let src = Src::Scalar { register, dword };
                    self.values[data.results[0]] = Some(super::Place::Source(src));
                    return Ok(());
                }
                let surface = self.entry(self.abi.surface(resource), resource, &mut args)?;
                (surface, self.source(args[0]), 0)
            }
            Imm::Mem(access) if self.ssa.mems[access.mem].space == MemSpace::Constant => {
                return self.table(data, access.mem);
            }
            Imm::Mem(access) if self.arrays[access.mem].is_some() => {
                self.elements(data, access.mem);
                return Ok(());
            }
            Imm::Mem(access) => {
                let first = self.variables[access.mem];
                let address = self.source(args[0]);
                match self.ssa.mems[access.mem].space {
                    MemSpace::Private => (STATELESS, self.of_lane(address), first),
                    MemSpace::Workgroup | MemSpace::Constant => (STATELESS, address, first),
                }
            }
            _ => return Err(self.not_yet("this access")),
        };
        // The distance between words that follow each other.
        let step = match data.imm {
            Imm::Mem(access) if self.ssa.mems[access.mem].space == MemSpace::Private => {
                self.private_step()
            }
            _ => 4,
        };
        match data.op {
            Op::BufferStore | Op::MemStore => {
                for (number, value) in (0u32..).zip(self.words(&args[1..])) {
                    let offset = first + number * step;
                    self.push(Inst::Write { address, value, offset, surface, slot: None });
                }
            }
            _ => {
                // A result may take the address's register while the address is still needed: it does not, for each reads it.
                for (number, &value) in (0u32..).zip(&data.results) {
                    if let Some(place) = self.constant(data, number) {
                        self.values[value] = Some(super::Place::Source(place));
                        continue;
                    }
                    let dst = self.define(value).into();
                    let offset = first + number * step;
                    self.push(Inst::Read { dst, address, offset, surface, slot: None });
                }
            }
        }
        Ok(())
    }

    /// The constant that a word of a load stands in.
    fn constant(&self, data: &InstData, number: u32) -> Option<Src> {
        let (Op::BufferLoad, Imm::Resource(resource)) = (data.op, &data.imm) else { return None };
        let address = self.ssa.as_const(*data.args.first()?)?;
        let offset = u32::try_from(address + 4 * u64::from(number)).ok()?;
        let (register, dword) = self.abi.pushed(*resource, offset)?;
        Some(Src::Scalar { register, dword })
    }

    /// Values as doublewords: halves in pairs, the first of which is below.
    fn words(&mut self, values: &[Value]) -> SmallVec<[Source; 4]> {
        let mut words = SmallVec::new();
        let mut rest = values.iter().copied().peekable();
        while let Some(value) = rest.next() {
            let low = self.source(value);
            let is_half = |value: Value| self.ssa.ty(value) == Type::B16;
            if !is_half(value) {
                words.push(low);
                continue;
            }
            let high = rest.next_if(|&next| is_half(next));
            let high = high.map_or_else(|| Src::Bits(0).into(), |high| self.source(high));
            words.push(self.joined(low, high));
        }
        words
    }

    /// The low halves of two doublewords as one.
    fn joined(&mut self, low: Source, high: Source) -> Source {
        if let (Src::Bits(low), Src::Bits(high)) = (low.src, high.src) {
            return Src::Bits(low & 0xffff | high << 16).into();
        }
        let [below, above, joined] = [self.fresh(), self.fresh(), self.fresh()];
        self.alu(Opcode::And, Ty::Ud, below, &[low, Src::Bits(0xffff).into()]);
        self.alu(Opcode::Shl, Ty::Ud, above, &[high, Src::Bits(16).into()]);
        let halves = [below, above].map(|half| Src::Reg(half.into()).into());
        self.alu(Opcode::Or, Ty::Ud, joined, &halves);
        Src::Reg(joined.into()).into()
    }

    /// The place of a byte of each lane's own memory: doublewords of the lanes lie side by side.
    fn of_lane(&mut self, address: Source) -> Source {
        let lanes = Source::from(Src::Fixed(self.abi.lane_offsets()));
        let scaled = match address.src {
            Src::Bits(bits) => Source::from(Src::Bits(bits.wrapping_mul(self.private_step() / 4))),
            _ if self.phases.is_some() => {
                let scaled = self.product(address, Src::Bits(self.private_step() / 4).into());
                Src::Reg(scaled.into()).into()
            }
            _ => {
                let scaled = self.fresh();
                self.alu(
                    Opcode::Shl,
                    Ty::Ud,
                    scaled,
                    &[address, Src::Bits(self.abi.lanes.ilog2()).into()],
                );
                Src::Reg(scaled.into()).into()
            }
        };
        let place = self.fresh();
        self.alu(Opcode::Add, Ty::D, place, &[lanes, scaled]);
        Src::Reg(place.into()).into()
    }
}
