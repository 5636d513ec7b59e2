//! Atomics of buffers and workgroup memory.

use super::Lower;
use super::address::{Address, Reach};
use super::memory::{WORKGROUP, both, reading, writing};
use super::operand::{Opnd, build};
use crate::api::Failure;
use crate::inst::Src;
use crate::isa::{Opcode, f};
use gpucc_ir::mach::{Reg, VReg};
use gpucc_ir::ssa::{self, AtomicOp, InstData, Resource, Value};
use smallvec::SmallVec;

impl Lower<'_> {
    pub(super) fn buffer_atomic(
        &mut self,
        inst: ssa::Inst,
        resource: Resource,
        op: AtomicOp,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (element, rest) = self.element(data, resource);
        if op == AtomicOp::Load {
            let class = self.buffer_class(resource);
            self.words_of_buffer(rest[0], &data.results, class, |lower| {
                lower.handle(resource, element)
            });
            return Ok(());
        }
        let base = self.buffer_address(resource, element, rest[0], Reach::Unsigned8, 0);
        // Helpers jump over it: their result is 0.
        let old = self.staging(self.ssa.ty(rest[1]).bytes());
        if self.effects_are_guarded() {
            for &old in &old {
                self.emit_to(old, Opcode::MovI32, &[Opnd::bits(0)], &[]);
            }
        }
        let guard = self.begin_effect();
        let class = self.buffer_class(resource);
        self.atomic(base, op, data, &rest[1..], &old, class);
        self.end_effect(guard);
        Ok(())
    }

    pub(super) fn mem_atomic(
        &mut self,
        inst: ssa::Inst,
        access: ssa::Access,
        op: AtomicOp,
    ) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let base = self.variable_address(access.mem, data.args[0], Reach::Unsigned8, 0);
        if op == AtomicOp::Load {
            let row = match self.ssa.ty(data.results[0]).bytes() {
                8 => Opcode::LoadI64,
                _ => Opcode::LoadI32,
            };
            let load = build(row, &[Opnd::plain(base.base)]).with(f::OFFSET, base.offset as u32);
            self.load_values(load, &data.results, WORKGROUP);
            return Ok(());
        }
        let old = self.staging(self.ssa.ty(data.args[1]).bytes());
        self.atomic(base, op, data, &data.args[1..], &old, WORKGROUP);
        Ok(())
    }

    /// One atomic, whose result goes to `old`.
    pub(super) fn atomic(
        &mut self,
        base: Address,
        op: AtomicOp,
        data: &InstData,
        operands: &[Value],
        old: &[VReg],
        class: u32,
    ) {
        let wide = old.len() == 2;
        let result = data.results.first().copied().filter(|&result| self.uses.count(result) > 0);
        let address = Opnd::plain(base.base);
        let offset = base.offset as u32;
        let code = match op {
            AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => {
                self.float_atomic(base, op, operands[0], old[0], class);
                if let Some(result) = result {
                    self.define_loaded(&[result], old);
                }
                return;
            }
            AtomicOp::Load | AtomicOp::Add | AtomicOp::Sub => 2,
            AtomicOp::And => 12,
            AtomicOp::Or => 13,
            AtomicOp::Xor => 14,
            AtomicOp::SMin => 8,
            AtomicOp::SMax => 9,
            AtomicOp::UMin => 10,
            AtomicOp::UMax => 11,
            AtomicOp::Store | AtomicOp::Exchange | AtomicOp::CompareExchange => 15,
        };
        let mut read = match (op, operands) {
            // The memory takes the new value first, the comparator second. docs/errata.md 121.
            (AtomicOp::CompareExchange, &[comparator, new]) => self.gather(&[new, comparator]),
            _ => self.gather(operands),
        };
        if op == AtomicOp::Sub {
            let value = Opnd::plain(Src::Reg(read[0]));
            read[0] = self.emit(Opcode::IsubU32, &[Opnd::bits(0), value]).into();
        }
        if op == AtomicOp::Store || op == AtomicOp::Exchange && result.is_none() {
            let row = [Opcode::StoreI32, Opcode::StoreI64][usize::from(wide)];
            let mut store = build(row, &[address]).with(f::OFFSET, offset).reading(&read);
            store.effects = writing(class);
            return self.push(store);
        }
        if result.is_none() && op != AtomicOp::CompareExchange {
            let row = [Opcode::AtomI32, Opcode::AtomI64][usize::from(wide)];
            let mut atom = build(row, &[address])
                .with(f::ATOM_OP, code)
                .with(f::OFFSET, offset)
                .reading(&read);
            atom.effects = both(class);
            return self.push(atom);
        }
        let compare = u32::from(op == AtomicOp::CompareExchange);
        let row = [Opcode::AtomReturnI32, Opcode::AtomReturnI64][usize::from(wide)];
        let staging: SmallVec<[Reg; 4]> = old.iter().map(|&v| v.into()).collect();
        let mut atom = build(row, &[address])
            .with(f::ATOM_OP, code)
            .with(f::COMPARE, compare)
            .with(f::OFFSET, offset)
            .reading(&read)
            .writing(&staging);
        atom.effects = both(class);
        self.push(atom);
        if let Some(result) = result {
            self.define_loaded(&[result], old);
        }
    }

    /// Arithmetic on a float, which the memory has none of: its bits are exchanged until nobody came in between. The old
    /// value is left in `old`. isa/valhall_rogue.md 1.11.
    fn float_atomic(&mut self, base: Address, op: AtomicOp, operand: Value, old: VReg, class: u32) {
        let row = match op {
            AtomicOp::FMin => Opcode::FminF32,
            AtomicOp::FMax => Opcode::FmaxF32,
            _ => Opcode::FaddF32,
        };
        let operand = Opnd::reg(self.reg(operand));
        let address = Opnd::plain(base.base);
        let mut load = build(Opcode::LoadI32, &[address])
            .with(f::OFFSET, base.offset as u32)
            .with(f::UNSIGNED, 1)
            .writing(&[old.into()]);
        load.effects = reading(class);
        self.push(load);
        let (again, done) = (self.m.make_block(), self.m.make_block());
        self.m.add_both_edges(self.block, again);
        self.place_block(again);
        let new = self.emit(row, &[Opnd::reg(old), operand]);
        let found = self.fresh();
        let mut exchange = build(Opcode::AtomReturnI32, &[address])
            .with(f::ATOM_OP, 15)
            .with(f::COMPARE, 1)
            .with(f::OFFSET, base.offset as u32)
            .reading(&[new.into(), old.into()])
            .writing(&[found.into()]);
        exchange.effects = both(class);
        self.push(exchange);
        let differs = self.emit(Opcode::IsubU32, &[Opnd::reg(found), Opnd::reg(old)]);
        self.copy(old, found.into());
        self.branch(Opnd::reg(differs), false, again, true);
        self.m.add_both_edges(self.block, done);
        self.place_block(done);
    }
}
