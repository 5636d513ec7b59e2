//! Workgroup variables: coefficients that an index register leads to, and atomic groups on them.
//! isa/rogue-pipeline.md 1.1, 2.8, 4.3.

use super::Lower;
use super::alu::{AND, OR, XOR};
use super::test::{self, EQUAL, GREATER, GREATER_EQUAL, LESS};
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Feed, MainOps};
use crate::isa::ops::{Bitwise0, Bitwise1, Main, Move, Test};
use crate::isa::register::{File, Register};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{AtomicOp, Imm, InstData, Mem, Op};
use gpucc_isa::{FieldId, Inst as Word};

fn word(row: Main, flags: &[FieldId]) -> Word {
    flags.iter().fold(Word::usual(row.op()), |word, &flag| word.with(flag, 1))
}

impl Lower<'_> {
    /// The coefficient of a word of an access, for which the index register is made where it must be.
    pub(super) fn cell_of(&mut self, data: &InstData, first: u16, at: u32) -> Register {
        if let Some(bits) = self.ssa.as_const(data.args[0]) {
            return Register::Coeff(first + (bits as u32 / 4 + at) as u16);
        }
        // An offset has eight bits.
        let offset = first.min(255);
        self.lead(data, at + u32::from(first - offset));
        Register::Relative { index: 0, file: File::Coeff, offset: offset as u8 }
    }

    /// An access of a workgroup variable.
    pub(super) fn shared_variable(&mut self, data: &InstData, mem: Mem) -> Result<(), Failure> {
        let Some(first) = self.abi.variables[mem] else {
            return Err(self.not_yet("this variable"));
        };
        if self.is_wide(data) {
            return self.wide_shared(data, first);
        }
        if let Imm::MemAtomic(_, op) = data.imm
            && !matches!(op, AtomicOp::Load | AtomicOp::Store)
        {
            return self.shared_atomic(data, first, op);
        }
        let stores = data.op == Op::MemStore || data.results.is_empty();
        let values = if stores { &data.args[1..] } else { &data.results[..] };
        for (&value, at) in values.iter().zip(0u32..) {
            let pass = Step::p0(word(Main::Mbyp, &[]));
            if stores {
                let source = self.source(value);
                let cell = self.cell_of(data, first, at);
                self.push(pass.from(0, source).fixed(0, cell));
            } else {
                let cell = self.cell_of(data, first, at);
                let dst = self.define(value);
                // Others write it, so that it is read where it stands.
                self.push(pass.from(0, Src::Fixed(cell)).to(0, dst).effect());
            }
        }
        Ok(())
    }

    /// A group that reads, computes and writes one instance after the other: what was there goes to W0, what is to be there to W1.
    fn shared_atomic(&mut self, data: &InstData, first: u16, op: AtomicOp) -> Result<(), Failure> {
        let operand = self.source(data.args[1]);
        let second = data.args.get(2).map(|&value| self.source(value));
        let cell = self.cell_of(data, first, 0);
        let old = match data.results.first() {
            Some(&value) => self.define(value),
            None => self.fresh(),
        };
        let mut step = match op {
            AtomicOp::Add => summed(word(Main::Imadd32, &[]), cell, operand, old),
            AtomicOp::Sub => summed(word(Main::Imadd32, &[f::NEG2]), cell, operand, old),
            AtomicOp::SMin => chosen(LESS, test::S32, cell, operand, old),
            AtomicOp::SMax => chosen(GREATER, test::S32, cell, operand, old),
            AtomicOp::UMin => chosen(LESS, test::U32, cell, operand, old),
            AtomicOp::UMax => chosen(GREATER, test::U32, cell, operand, old),
            AtomicOp::And => logical(AND, cell, operand, old),
            AtomicOp::Or => logical(OR, cell, operand, old),
            AtomicOp::Xor => logical(XOR, cell, operand, old),
            AtomicOp::Exchange => exchanged(cell, operand, old),
            AtomicOp::CompareExchange => match second {
                Some(value) => compared(cell, operand, value, old),
                None => return Err(self.not_yet("this atomic operation")),
            },
            AtomicOp::FAdd => added(cell, operand, old),
            AtomicOp::FMin => chosen(LESS, test::F32, cell, operand, old),
            AtomicOp::FMax => chosen(GREATER_EQUAL, test::F32, cell, operand, old),
            _ => return Err(self.not_yet("this atomic operation on workgroup variables")),
        };
        step.group.atom = true;
        self.push(step);
        Ok(())
    }
}

/// Both phases pass on what they read.
fn two() -> MainOps {
    let pass = Some(word(Main::Mbyp, &[]));
    MainOps { p0: pass, p1: pass, ..MainOps::default() }
}

/// What was there through phase 1, a sum from phase 0.
fn summed(sum: Word, cell: Register, operand: Src, old: VReg) -> Step {
    let cell_source = Src::Fixed(cell);
    let step = Step::main(MainOps { p0: Some(sum), ..two() });
    let step = step.from(0, cell_source).from(1, Src::ONE);
    let step = step.from(2, operand).from(3, cell_source);
    step.select(4, Feed::Ft1).select(5, Feed::Ft0).to(0, old).fixed(1, cell)
}

/// What was there through phase 1, a sum of floats from phase 0.
fn added(cell: Register, operand: Src, old: VReg) -> Step {
    let cell_source = Src::Fixed(cell);
    let step = Step::main(MainOps { p0: Some(word(Main::Fadd, &[])), ..two() });
    let step = step.from(0, cell_source).from(1, operand).from(3, cell_source);
    step.select(4, Feed::Ft1).select(5, Feed::Ft0).to(0, old).fixed(1, cell)
}

/// What was there, where a test of it and the operand holds; else the operand.
fn chosen(test: u32, ty: u32, cell: Register, operand: Src, old: VReg) -> Step {
    let test = Word::usual(Test::Tst.op()).with(f::TEST, test).with(f::TYPE, ty);
    let feed = Feed::Ft0 as u32;
    let mov = Word::usual(Move::Movc.op()).with(f::MOV_W0, feed).with(f::MOV_W1, feed);
    let step = Step::main(MainOps { test: Some(test), mov: Some(mov), ..two() });
    let step = step.from(0, Src::Fixed(cell)).from(3, operand).select(2, Feed::Ft1);
    step.select(4, Feed::Ft0).select(5, Feed::Ft1).to(0, old).fixed(1, cell)
}

/// The value where what was there is the operand.
fn compared(cell: Register, operand: Src, value: Src, old: VReg) -> Step {
    let test = Word::usual(Test::Tst.op()).with(f::TEST, EQUAL).with(f::TYPE, test::U32);
    let mov = Word::usual(Move::Movc.op())
        .with(f::MOV_W0, Feed::Ft0 as u32)
        .with(f::MOV_W1, Feed::Ft1 as u32);
    let step = Step::main(MainOps { test: Some(test), mov: Some(mov), ..two() });
    let step = step.from(0, Src::Fixed(cell)).from(3, value).from(1, operand).external(1);
    let step = step.select(2, Feed::Fte).select(4, Feed::Ft0).select(5, Feed::Ft0);
    step.to(0, old).fixed(1, cell)
}

/// The operand.
fn exchanged(cell: Register, operand: Src, old: VReg) -> Step {
    let step = Step::main(two()).from(0, Src::Fixed(cell)).from(3, operand);
    step.select(5, Feed::Ft1).to(0, old).fixed(1, cell)
}

/// Of the bitwise ALU W0 has the result, and W1 what was there.
fn logical(code: u32, cell: Register, operand: Src, old: VReg) -> Step {
    let pass = Word::usual(Bitwise0::Bbyp.op());
    let logical = Word::usual(Bitwise1::Logical.op()).with(f::LOGIC, code);
    let step = Step::bits([Some(pass), Some(logical), None]);
    step.from(2, Src::Fixed(cell)).from(3, operand).to(1, old).fixed(0, cell)
}
