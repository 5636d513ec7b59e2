//! Buffers: addresses of 64 bits, bursts, atomics. isa/rogue-pipeline.md 2.5, 2.8, 4.4.

use super::Lower;
use super::test;
use crate::abi::BUFFER_WORDS;
use crate::inst::{HALVES, Message, Src, Step, WORDS};
use crate::isa::fields::f;
use crate::isa::ops::{Backend, Main};
use crate::isa::register::{File, Register};
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

/// The words of a buffer's descriptor.
struct Buffer {
    address: [Src; 2],
    size: Src,
}

impl Buffer {
    /// By the first of its shared registers.
    fn at(base: u16) -> Buffer {
        Buffer { address: Src::shared(base), size: Src::Fixed(Register::Shared(base + 2)) }
    }
}

impl Lower<'_> {
    /// An access of a buffer.
    pub(super) fn buffer(&mut self, data: &InstData) -> Result<(), Failure> {
        let (Imm::Resource(resource) | Imm::BufferAtomic(resource, _)) = data.imm else {
            return Err(self.not_yet("this access"));
        };
        let Some(base) = self.abi.descriptors[resource] else {
            return Err(self.not_yet("this binding"));
        };
        let mut args = &data.args[..];
        let mut buffer = Buffer::at(base);
        if let Some(count) = self.ssa.resources[resource].count {
            let (element, rest) = args.split_first().ok_or_else(|| self.not_yet("this access"))?;
            buffer = self.element(base, *element, count);
            args = rest;
        }
        let base = buffer.address;
        match (data.op, &data.imm) {
            (Op::BufferAtomic, &Imm::BufferAtomic(_, op)) if self.is_wide(data) => {
                self.wide_atomic(base, data, args, op)
            }
            (Op::BufferSize, _) => {
                let reg = self.define(data.results[0]);
                self.push(Step::copy(reg, buffer.size));
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

    /// The descriptor of an element of bindings.
    fn element(&mut self, base: u16, element: Value, count: u32) -> Buffer {
        let last = count.saturating_sub(1);
        if let Some(element) = self.ssa.as_const(element) {
            return Buffer::at(base + BUFFER_WORDS * element.min(u64::from(last)) as u16);
        }
        let (element, last) = (self.source(element), self.number(last));
        let element = self.bound(test::LESS, test::U32, element, last);
        // An offset has eight bits.
        let offset = base.min(u16::from(u8::MAX) - 2);
        let (words, rest) =
            (self.number(BUFFER_WORDS.into()), self.number(u32::from(base - offset)));
        let number = self.multiply_add(Src::Reg(element.into()), words, rest);
        let pass = || Step::p0(Word::usual(Main::Mbyp.op()));
        self.push(pass().from(0, Src::Reg(number.into())).fixed(0, Register::Index(0)));
        let [low, high, size] = [0, 1, 2].map(|at| {
            let offset = (offset + at) as u8;
            let word = Register::Relative { index: 0, file: File::Shared, offset };
            let dst = self.fresh();
            self.push(pass().from(0, Src::Fixed(word)).to(0, dst));
            Src::Reg(dst.into())
        });
        Buffer { address: [low, high], size }
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
    pub(super) fn address(&mut self, base: [Src; 2], offset: Value, more: u32) -> [Reg; 2] {
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
        self.push(Step::behind(offset, Src::ONE, base).to(0, low).to(1, high));
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

    fn stores(&mut self, base: [Src; 2], args: &[Value]) -> Result<(), Failure> {
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
        base: [Src; 2],
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
