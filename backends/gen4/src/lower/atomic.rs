//! Atomic operations of workgroup memory: a workgroup is one thread, so lanes that take turns are enough. Loads and stores of
//! whole doublewords are messages as others. isa/gen4.md 3, atomics.

use super::{Lower, STATELESS};
use crate::inst::{Condition, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{AtomicOp, Imm, InstData, Op};

impl Lower<'_> {
    /// An atomic operation of a buffer or of workgroup memory.
    pub(super) fn atomic(&mut self, data: &InstData) -> Result<(), Failure> {
        let (load, store, imm, op) = match data.imm {
            Imm::BufferAtomic(buffer, op) => {
                (Op::BufferLoad, Op::BufferStore, Imm::Resource(buffer), op)
            }
            Imm::MemAtomic(access, op) => (Op::MemLoad, Op::MemStore, Imm::Mem(access), op),
            _ => return Err(self.not_yet("this atomic operation")),
        };
        match (op, imm) {
            (AtomicOp::Load, _) => self.memory(&InstData { op: load, imm, ..data.clone() }),
            (AtomicOp::Store, _) => self.memory(&InstData { op: store, imm, ..data.clone() }),
            (AtomicOp::FMin | AtomicOp::FMax, _) => {
                Err(self.not_yet("an atomic minimum of floats"))
            }
            (_, Imm::Mem(access)) => {
                let offset = self.variables[access.mem];
                self.turns(op, data, offset)
            }
            _ => Err(self.not_yet("an atomic operation of a buffer")),
        }
    }

    /// Each active lane reads, computes and writes before the next one reads.
    fn turns(&mut self, op: AtomicOp, data: &InstData, offset: u32) -> Result<(), Failure> {
        let operands: Vec<Source> = data.args.iter().map(|&value| self.source(value)).collect();
        let old = match data.results.first() {
            Some(&result) => self.define(result),
            None => self.fresh(),
        };
        if self.invocations() == 1 {
            self.exchange(op, &operands, offset, old);
            return Ok(());
        }
        // Lanes that are off when it is their turn keep this.
        self.alu(Opcode::Mov, Ty::Ud, old, &[Src::Bits(0).into()]);
        let lane = Source::from(Src::Fixed(self.abi.lane()));
        let first = Src::Scalar { register: self.abi.lane(), dword: 0 };
        let (turn, end) = (self.fresh(), self.fresh());
        self.alu(Opcode::Mov, Ty::D, turn, &[first.into()]);
        self.alu(Opcode::Add, Ty::D, end, &[first.into(), Src::Bits(self.abi.lanes).into()]);
        let [turns, ends] = [turn, end].map(|reg| Source::from(Src::Reg(reg.into())));
        let test =
            |condition, first, second| Test { condition, ty: Ty::D, first, second, join: None };
        let header = self.begin_loop(0)?;
        self.push(Inst::Compare(test(Condition::Equal, lane, turns)));
        let head = self.begin_if(false, false)?;
        self.exchange(op, &operands, offset, old);
        self.end_if(head);
        self.alu(Opcode::Add, Ty::D, turn, &[turns, Src::Bits(1).into()]);
        self.repeat(header, test(Condition::Less, turns, ends));
        Ok(())
    }

    /// Reads, computes and writes one doubleword.
    fn exchange(&mut self, op: AtomicOp, operands: &[Source], offset: u32, old: VReg) {
        let (address, surface) = (operands[0], STATELESS);
        self.push(Inst::Read { dst: old.into(), address, offset, surface, slot: None });
        let was = Source::from(Src::Reg(old.into()));
        let given = operands[1];
        let new = self.fresh();
        let mut select = |condition, ty, second, no| {
            self.push(Inst::Compare(Test { condition, ty, first: was, second, join: None }));
            self.push(Inst::Select { dst: new.into(), inverse: false, yes: was, no });
        };
        let value = match op {
            AtomicOp::Add => self.computed(Opcode::Add, Ty::D, new, was, given),
            AtomicOp::Sub => {
                let given = self.no_number(given);
                self.computed(Opcode::Add, Ty::D, new, was, Source { negate: true, ..given })
            }
            AtomicOp::FAdd => self.computed(Opcode::Add, Ty::F, new, was, given),
            AtomicOp::And => self.computed(Opcode::And, Ty::Ud, new, was, given),
            AtomicOp::Or => self.computed(Opcode::Or, Ty::Ud, new, was, given),
            AtomicOp::Xor => self.computed(Opcode::Xor, Ty::Ud, new, was, given),
            AtomicOp::SMin | AtomicOp::SMax | AtomicOp::UMin | AtomicOp::UMax => {
                let (condition, ty) = match op {
                    AtomicOp::SMin => (Condition::Less, Ty::D),
                    AtomicOp::SMax => (Condition::GreaterEqual, Ty::D),
                    AtomicOp::UMin => (Condition::Less, Ty::Ud),
                    _ => (Condition::GreaterEqual, Ty::Ud),
                };
                select(condition, ty, given, given);
                Src::Reg(new.into()).into()
            }
            AtomicOp::CompareExchange => {
                // The old value where it is another one.
                let (condition, value) = (Condition::NotEqual, operands[2]);
                select(condition, Ty::D, given, value);
                Src::Reg(new.into()).into()
            }
            AtomicOp::Exchange
            | AtomicOp::Load
            | AtomicOp::Store
            | AtomicOp::FMin
            | AtomicOp::FMax => given,
        };
        self.push(Inst::Write { address, value, offset, surface, slot: None });
    }

    fn computed(
        &mut self,
        opcode: Opcode,
        ty: Ty,
        dst: VReg,
        first: Source,
        second: Source,
    ) -> Source {
        self.alu(opcode, ty, dst, &[first, second]);
        Src::Reg(dst.into()).into()
    }
}
