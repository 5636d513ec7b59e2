//! Atomic operations on buffers that the memory has not: instances take turns under a mutex, each loads, computes and stores.
//! isa/rogue-pipeline.md 2.7, 2.8.
//!
//! What the memory does by itself would come between a load and its store, so that a program with one such operation does all of them
//! so. The mutex is the one that the public compiler takes for it.

use super::Lower;
use super::memory::code;
use super::test::{self, Asked};
use crate::inst::{Message, Src, Step, WORDS};
use crate::isa::fields::f;
use crate::isa::ops::{Control, Main};
use crate::isa::register::Register;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{Block, Reg, VReg};
use gpucc_ir::ssa::{AtomicOp, Func, Imm, Type, Value};
use gpucc_isa::Inst as Word;

/// The mutex that the public compiler takes for atomic operations. 2.7.
const MUTEX: u32 = 0;
/// The number of an instance in its task. 3.1.
const INSTANCE: Register = Register::Special(51);
/// Instances of a task.
const TASK: u32 = 32;

/// The loop in which instances take turns.
pub(super) struct Turns {
    turn: VReg,
    header: Block,
    exit: Block,
    head: Block,
}

/// Some operation of a program on buffers is none of the memory.
pub fn in_turn(ssa: &Func) -> bool {
    ssa.regions_in_order().iter().any(|&(region, ..)| {
        ssa.regions[region].insts.iter().any(|&inst| match ssa.insts[inst].imm {
            Imm::BufferAtomic(_, AtomicOp::Load | AtomicOp::Store)
            | Imm::ImageAtomic(_, AtomicOp::Load | AtomicOp::Store) => false,
            Imm::BufferAtomic(_, op) | Imm::ImageAtomic(_, op) => {
                let wide = |value: &Value| ssa.ty(*value) == Type::B64;
                let data = &ssa.insts[inst];
                code(op).is_none() || data.args.iter().chain(&data.results).any(wide)
            }
            _ => false,
        })
    })
}

/// An operation on the mutex of atomic operations.
pub(super) fn mutex(row: Control) -> Step {
    Step::control(Word::usual(row.op()).with(f::ID, MUTEX))
}

impl Lower<'_> {
    /// An atomic operation by turns; what was there goes to a register, which is 0 where nothing is done.
    pub(super) fn take_turns(
        &mut self,
        base: [Src; 2],
        args: &[Value],
        op: AtomicOp,
        dst: VReg,
    ) -> Result<(), Failure> {
        if args.iter().any(|&value| self.ssa.ty(value) != Type::B32) {
            return Err(self.not_yet("atomic operations of other than 32 bits"));
        }
        let address = self.address(base, args[0], 0);
        let operands: Vec<Src> = args[1..].iter().map(|&value| self.source(value)).collect();
        self.turns_at(&address, op, &operands, dst)
    }

    /// The same on a word of memory.
    pub(super) fn turns_at(
        &mut self,
        address: &[Reg; 2],
        op: AtomicOp,
        operands: &[Src],
        dst: VReg,
    ) -> Result<(), Failure> {
        self.push(Step::copy(dst, Src::ZERO));
        self.push(mutex(Control::MutexLock));
        let turns = self.first_turn();
        let old = self.fresh();
        self.push(Step::load(address, &[old.into()], Message::Loads));
        if op != AtomicOp::Load {
            let new = self.combined(op, Src::Reg(old.into()), operands)?;
            let data = self.own(new);
            self.push(Step::store(&[data], address, WORDS));
        }
        self.push(Step::copy(dst, Src::Reg(old.into())));
        self.last_turn(turns);
        self.push(mutex(Control::MutexRelease));
        Ok(())
    }

    /// Begins what instances do one after the other.
    pub(super) fn first_turn(&mut self) -> Turns {
        let own = Src::Reg(self.special(INSTANCE).into());
        let turn = self.fresh();
        self.push(Step::copy(turn, Src::ZERO));
        let (header, exit) = self.begin_turns();
        let mine = [own, Src::Reg(turn.into())];
        self.compare(Asked { test: test::EQUAL, ty: test::U32, operands: mine });
        let head = self.begin_if(true);
        Turns { turn, header, exit, head }
    }

    /// Ends it.
    pub(super) fn last_turn(&mut self, turns: Turns) {
        let Turns { turn, header, exit, head } = turns;
        self.end_if(head);
        let next = Step::p0(Word::usual(Main::Imadd32.op())).from(0, Src::Reg(turn.into()));
        self.push(next.from(1, Src::ONE).from(2, Src::ONE).to(0, turn));
        let more = [Src::Reg(turn.into()), self.number(TASK)];
        self.compare(Asked { test: test::LESS, ty: test::U32, operands: more });
        self.end_turns(header, exit);
    }

    /// What an operation leaves in memory.
    fn combined(&mut self, op: AtomicOp, old: Src, operands: &[Src]) -> Result<Src, Failure> {
        let a = operands.first().copied().unwrap_or(Src::ZERO);
        let plain = |row: Main| Word::usual(row.op());
        let reg = match op {
            AtomicOp::Store | AtomicOp::Exchange => return Ok(a),
            AtomicOp::Add => self.p0(plain(Main::Imadd32), &[old, Src::ONE, a]),
            AtomicOp::Sub => self.p0(plain(Main::Imadd32).with(f::NEG0, 1), &[a, Src::ONE, old]),
            AtomicOp::And => self.logical(super::alu::AND, old, a),
            AtomicOp::Or => self.logical(super::alu::OR, old, a),
            AtomicOp::Xor => self.logical(super::alu::XOR, old, a),
            AtomicOp::SMin => self.bound(test::LESS, test::S32, old, a),
            AtomicOp::SMax => self.bound(test::GREATER, test::S32, old, a),
            AtomicOp::UMin => self.bound(test::LESS, test::U32, old, a),
            AtomicOp::UMax => self.bound(test::GREATER, test::U32, old, a),
            AtomicOp::FAdd => self.p0(plain(Main::Fadd), &[old, a]),
            AtomicOp::FMin => self.bound(test::LESS, test::F32, old, a),
            AtomicOp::FMax => self.bound(test::GREATER_EQUAL, test::F32, old, a),
            AtomicOp::CompareExchange => {
                let Some(&value) = operands.get(1) else {
                    return Err(self.not_yet("this atomic operation"));
                };
                let same = Asked { test: test::EQUAL, ty: test::U32, operands: [old, a] };
                let same = Src::Reg(self.truth(same).into());
                self.choose(test::POSITIVE, test::U32, same, value, old)
            }
            AtomicOp::Load => return Err(self.not_yet("this atomic operation")),
        };
        Ok(Src::Reg(reg.into()))
    }

    /// An atomic operation of the memory, or one by turns.
    pub(super) fn buffer_atomic(
        &mut self,
        base: [Src; 2],
        args: &[Value],
        op: AtomicOp,
        dst: VReg,
    ) -> Result<(), Failure> {
        match code(op) {
            Some(code) if !self.in_turn => self.atomic(base, args, code, dst.into()),
            _ => self.take_turns(base, args, op, dst),
        }
    }
}
