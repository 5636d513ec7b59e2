//! Barriers of several tasks: a counter among the coefficients under a mutex. isa/rogue-pipeline.md 2.7, 4.3.
//!
//! Who comes last lets the others go; these sleep until the number of barriers that are behind the workgroup has changed, for another
//! workgroup's tasks may sleep on the same mutex. All instances of a task come together, so that a branch is the same for all.

use super::{Emitter, Target};
use crate::abi::{ARRIVED, MET};
use crate::inst::{Src, Step};
use crate::isa::fields::f;
use crate::isa::group::{Condition, Feed, Group, MainOps, Ops};
use crate::isa::ops::{Control, Main, Test};
use crate::isa::register::Register;
use gpucc_isa::Inst as Word;

/// The mutex that the public compiler takes for barriers. 2.7.
const MUTEX: u32 = 1;
/// Code and type of the test for equal words. 2.4.
const EQUAL: u32 = 4;
const U32: u32 = 5;

const ONE: Src = Src::ONE;
const COUNT: Register = Register::internal(1);
const BEFORE: Register = Register::internal(2);

fn mutex(row: Control) -> Group {
    Group::new(Ops::Control(Word::usual(row.op()).with(f::ID, MUTEX)))
}

fn copy(to: Register, from: Register) -> Group {
    let step = Step::p0(Word::usual(Main::Mbyp.op())).from(0, Src::Fixed(from));
    step.fixed(0, to).group
}

/// One more than a register.
fn more(to: Register, from: Register) -> Group {
    let step = Step::p0(Word::usual(Main::Imadd32.op())).from(0, Src::Fixed(from));
    step.from(1, ONE).from(2, ONE).fixed(0, to).group
}

/// p0 where two registers are equal.
fn equal(a: Register, b: Register) -> Group {
    let pass = Some(Word::usual(Main::Mbyp.op()));
    let test = Word::usual(Test::Tst.op()).with(f::TEST, EQUAL).with(f::TYPE, U32);
    let test = Some(test.with(f::PWEN, 1));
    let step = Step::main(MainOps { p0: pass, p1: pass, test, ..MainOps::default() });
    step.from(0, Src::Fixed(a)).from(3, Src::Fixed(b)).select(2, Feed::Ft1).group
}

/// Lets so many tasks meet; at most 16, which is a constant of the machine.
pub(super) fn meet(emitter: &mut Emitter<'_>, tasks: u32) {
    let (arrived, met) = (Register::Coeff(ARRIVED), Register::Coeff(MET));
    emitter.push(mutex(Control::MutexLock));
    emitter.push(more(COUNT, arrived));
    emitter.push(copy(BEFORE, met));
    emitter.push(equal(COUNT, Register::Special(tasks as u16)));
    let last = emitter.push_forward(Condition::IfP0);
    emitter.push(copy(arrived, COUNT));
    let asleep = emitter.groups.len();
    emitter.push(mutex(Control::MutexReleaseSleep));
    emitter.push(mutex(Control::MutexLock));
    emitter.push(equal(BEFORE, met));
    let again = emitter.push_forward(Condition::IfP0);
    emitter.groups[again].1 = Some(Target::Group(asleep));
    emitter.push(mutex(Control::MutexRelease));
    let done = emitter.push_forward(Condition::Runs);
    emitter.land(last);
    emitter.push(copy(arrived, Register::ZERO));
    emitter.push(more(met, BEFORE));
    emitter.push(mutex(Control::MutexReleaseWakeup));
    emitter.land(done);
}
