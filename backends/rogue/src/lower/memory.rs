//! Buffers: addresses of 64 bits, bursts, atomics. isa/rogue-pipeline.md 2.5, 2.8, 4.4.

use super::Lower;
use crate::abi::BUFFER_WORDS;
use crate::inst::{HALVES, Message, Src, Step, WORDS};
use crate::isa::fields::f;
use crate::isa::ops::Backend;
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Reg, Role};
use gpucc_ir::ssa::{AtomicOp, Imm, InstData, Op, Resource, ResourceKind, Stage, Type, Value};
use gpucc_isa::Inst as Word;
use smallvec::SmallVec;

/// The code of an operation on memory. 2.8.
pub(super) fn code(op: AtomicOp) -> Option<u32> {
    Some(match op {
        AtomicOp::Add => 0,
        AtomicOp::Sub => 1,
        AtomicOp::Exchange => 2,
        AtomicOp::UMin => 4,
        AtomicOp::SMin => 5,
        AtomicOp::UMax => 6,
        AtomicOp::SMax => 7,
        AtomicOp::And => 8,
        AtomicOp::Or => 9,
        AtomicOp::Xor => 10,
        _ => return None,
    })
}

impl Lower<'_> {
    /// An access of a buffer.
    pub(super) fn buffer(&mut self, data: &InstData) -> Result<(), Failure> {
        let (Imm::Resource(resource) | Imm::BufferAtomic(resource, _)) = data.imm else {
            return Err(self.not_yet("this access"));
        };
        let Some(mut base) = self.abi.descriptors[resource] else {
            return Err(self.not_yet("this binding"));
        };
        let mut args = &data.args[..];
        if let Some(count) = self.ssa.resources[resource].count {
            let element = args.first().and_then(|&value| self.ssa.as_const(value));
            let Some(element) = element else {
                return Err(self.not_yet("an element of bindings that is known at run time alone"));
            };
            base += BUFFER_WORDS * element.min(u64::from(count.saturating_sub(1))) as u16;
            args = &args[1..];
        }
        match (data.op, &data.imm) {
            (Op::BufferAtomic, &Imm::BufferAtomic(_, op)) if self.is_wide(data) => {
                self.wide_atomic(base, data, args, op)
            }
            (Op::BufferSize, _) => {
                let reg = self.define(data.results[0]);
                self.push(Step::copy(reg, Src::Fixed(Register::Shared(base + 2))));
                Ok(())
            }
            (Op::BufferLoad, _) => {
                let address = self.address(base, args[0], 0);
                self.load(address, &data.results, self.kind(resource))
            }
            (Op::BufferStore, _) => self.living(|lower| lower.stores(base, args)),
            (_, Imm::BufferAtomic(_, AtomicOp::Load)) => {
                let address = self.address(base, args[0], 0);
                self.load(address, &data.results, Message::Loads)
            }
            (_, Imm::BufferAtomic(_, AtomicOp::Store)) if !self.in_turn => {
                self.living(|lower| lower.stores(base, args))
            }
            (_, &Imm::BufferAtomic(_, op)) => {
                let dst = data.results.first().map(|&value| self.define(value));
                let dst = dst.unwrap_or_else(|| self.fresh());
                if self.fragment.killed.is_some() {
                    // Who does nothing has a result all the same.
                    self.push(Step::copy(dst, Src::ZERO));
                }
                self.living(|lower| lower.buffer_atomic(base, args, op, dst))
            }
            _ => Err(self.not_yet("this access")),
        }
    }

    /// What kind of load a binding asks for.
    fn kind(&self, resource: Resource) -> Message {
        match self.ssa.resources[resource].kind {
            // Another binding may be the same memory.
            ResourceKind::Storage { .. } => Message::Loads,
            _ => Message::Reads,
        }
    }

    /// The address of a byte of a binding: two registers in a row. One operation of 64 bits makes both. 2.5.
    pub(super) fn address(&mut self, base: u16, offset: Value, more: u32) -> [Reg; 2] {
        let offset = match self.ssa.as_const(offset) {
            Some(bits) => self.number((bits as u32).wrapping_add(more)),
            None if more == 0 => self.source(offset),
            None => {
                let (offset, more) = (self.source(offset), self.number(more));
                let one = Src::ONE;
                Src::Reg(self.multiply_add(offset, one, more).into())
            }
        };
        let (low, high) = (self.fresh(), self.fresh());
        self.push(Step::address(base, offset, low, high));
        [low.into(), high.into()]
    }

    fn load(&mut self, address: [Reg; 2], results: &[Value], kind: Message) -> Result<(), Failure> {
        if results.iter().any(|&value| self.ssa.ty(value) != Type::B32) {
            return Err(self.not_yet("loads of other than words"));
        }
        let to: SmallVec<[Reg; 4]> =
            results.iter().map(|&value| self.define(value).into()).collect();
        self.push(Step::load(&address, &to, kind));
        Ok(())
    }

    fn stores(&mut self, base: u16, args: &[Value]) -> Result<(), Failure> {
        let (offset, values) = (args[0], &args[1..]);
        let mut at = 0;
        // Words in a row are one message, and each half is one.
        let alike = |a: &Value, b: &Value| [a, b].map(|&v| self.ssa.ty(v)) == [Type::B32; 2];
        let parts: SmallVec<[&[Value]; 4]> = values.chunk_by(alike).collect();
        for part in parts {
            let halves = self.ssa.ty(part[0]) == Type::B16;
            let address = self.address(base, offset, at);
            at += if halves { 2 } else { 4 * part.len() as u32 };
            let mut words: SmallVec<[Reg; 4]> = SmallVec::new();
            for &value in part {
                let source = self.source(value);
                words.push(self.own(source));
            }
            self.push(Step::store(&words, &address, if halves { HALVES } else { WORDS }));
        }
        Ok(())
    }

    pub(super) fn atomic(
        &mut self,
        base: u16,
        args: &[Value],
        code: u32,
        dst: Reg,
    ) -> Result<(), Failure> {
        let address = self.address(base, args[0], 0);
        let operand = self.source(args[1]);
        self.atomic_at(address, operand, code, dst);
        Ok(())
    }

    /// An atomic operation of the memory at an address. 2.8.
    pub(super) fn atomic_at(&mut self, [low, high]: [Reg; 2], operand: Src, code: u32, dst: Reg) {
        let operand = self.own(operand);
        let word = Word::usual(Backend::Atomic.op())
            .with(f::ATOMIC, code)
            .with(f::SRC, 0)
            .with(f::DST_SRC, 3);
        let step = Step::backend(word).range(0, &[low, high, operand], Role::Use);
        self.push(step.range(3, &[dst], Role::EarlyDef).message(Message::Stores));
    }

    /// Does something in those invocations alone that were not demoted.
    pub(super) fn living(
        &mut self,
        effect: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(killed) = self.fragment.killed.filter(|_| self.ssa.stage == Stage::Fragment)
        else {
            return effect(self);
        };
        self.alive(killed);
        let head = self.begin_if(true);
        effect(self)?;
        self.end_if(head);
        Ok(())
    }
}
