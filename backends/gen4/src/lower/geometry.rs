//! Geometry programs: a thread has one primitive, and runs its invocations one after the other. A vertex that is emitted goes to the
//! open entry of the URB at once. It is complete once it is known whether it is the last one of its strip.
//! isa/gen4-pipeline.md 3.2, 4.4.

use super::outputs::ZERO;
use super::{Lower, Place};
use crate::emit::geometry::{END, first, inner};
use crate::emit::vertex::SLOTS;
use crate::inst::{Condition, Inst, Source, Src, Test, UPPER};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use crate::strips::{Next, Strips};
use crate::vue::{WIDTH_BITS, WIDTH_STEP, WIDTH_WORD};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::VReg;
use gpucc_ir::ssa::{self, Builtin, Emits, Imm, InputKind, InstData, Part};

/// What a program knows of its strips, and what it counts.
#[derive(Default)]
pub(super) struct Strip {
    strips: Strips,
    /// Vertices of the invocation so far, where there may be too many.
    count: Option<VReg>,
    /// Not 0 where the open entry has a vertex already.
    pending: Option<VReg>,
    /// The invocation's number, where there are several.
    invocation: Option<VReg>,
}

impl Lower<'_> {
    /// All of the program.
    pub(super) fn geometry(&mut self) -> Result<(), Failure> {
        let invocations = self.ssa.geometry.map_or(1, |geometry| geometry.invocations);
        let strips = Strips::of(self.ssa);
        self.strip.pending = strips.deferred.then(|| self.number(0));
        let counted = strips.counted;
        self.strip.strips = strips;
        let repeats = invocations > 1;
        self.strip.invocation = repeats.then(|| self.number(0));
        let count = counted.then(|| self.fresh());
        self.strip.count = count;
        let header = repeats.then(|| self.begin_loop(0)).transpose()?;
        if let Some(count) = count {
            self.alu(Opcode::Mov, Ty::Ud, count, &[Src::Bits(0).into()]);
        }
        self.begin_outputs();
        self.region(self.ssa.body, &[])?;
        self.complete_pending(true)?;
        if let (Some(header), Some(invocation)) = (header, self.strip.invocation) {
            self.step_number(invocation);
            let below = test(invocation, Condition::Less, invocations);
            self.repeat(header, below);
        }
        self.push(Inst::Close);
        Ok(())
    }

    fn number(&mut self, number: u32) -> VReg {
        let reg = self.fresh();
        self.alu(Opcode::Mov, Ty::Ud, reg, &[Src::Bits(number).into()]);
        reg
    }

    fn step_number(&mut self, reg: VReg) {
        let own = Source::from(Src::Reg(reg.into()));
        self.alu(Opcode::Add, Ty::D, reg, &[own, Src::Bits(1).into()]);
    }

    /// A component of a vertex of the primitive, or the number of the invocation.
    pub(super) fn geometry_input(&mut self, data: &InstData) -> Result<(), Failure> {
        let Imm::Input(input, component) = data.imm else {
            return Err(self.not_yet("this input"));
        };
        let place = match self.ssa.inputs[input].kind {
            InputKind::Builtin(Builtin::InvocationIndex) => match self.strip.invocation {
                // The number changes: who reads it later reads this one.
                Some(reg) => {
                    let own = self.fresh();
                    self.alu(Opcode::Mov, Ty::Ud, own, &[Src::Reg(reg.into()).into()]);
                    Place::Reg(own)
                }
                None => Place::Source(Src::Bits(0)),
            },
            InputKind::Corner { vertex, part } => {
                let Some((register, dword)) = self.abi.corner(vertex, part) else {
                    return Err(self.not_yet("this input"));
                };
                if part == Part::Builtin(Builtin::PointSize) {
                    let word = dword + WIDTH_WORD as u8;
                    Place::Reg(self.width(Src::Scalar { register, dword: word }))
                } else {
                    Place::Source(Src::Scalar { register, dword: dword + component.min(3) })
                }
            }
            InputKind::Builtin(_) | InputKind::Location { .. } => {
                return Err(self.not_yet("this input"));
            }
        };
        self.values[data.results[0]] = Some(place);
        Ok(())
    }

    /// The width of a point, of the header's doubleword that has it among flags.
    fn width(&mut self, word: Src) -> VReg {
        let [field, float, width] = [(); 3].map(|()| self.fresh());
        self.alu(Opcode::And, Ty::Ud, field, &[word.into(), Src::Bits(WIDTH_BITS).into()]);
        self.convert(Opcode::Mov, Ty::F, float, Ty::Ud, &[Src::Reg(field.into()).into()]);
        let step = Src::Bits(WIDTH_STEP.to_bits()).into();
        self.alu(Opcode::Mul, Ty::F, width, &[Src::Reg(float.into()).into(), step]);
        width
    }

    /// A vertex of what the outputs hold.
    pub(super) fn emit_vertex(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let abi = self.abi;
        let Some(taken) = &abi.taken else {
            return Err(self.not_yet("vertices of this stage"));
        };
        let guard = match self.strip.count {
            Some(count) => {
                self.push(Inst::Compare(test(count, Condition::Less, taken.geometry.most)));
                let head = self.begin_if(false, false)?;
                self.step_number(count);
                Some(head)
            }
            None => None,
        };
        self.complete_pending(false)?;
        let next = self.strip.strips.next(inst);
        let points = taken.geometry.emits == Emits::Points;
        if next == Next::End && !points {
            self.push(Inst::Mark { bits: END, joins: true });
        }
        let slots = self.entry_slots();
        // A message has all of them: an entry is shorter than a message.
        let rows = slots.chunks(2).len() as u8;
        for (message, pair) in (SLOTS..).zip(slots.chunks(2)) {
            self.row(pair, message);
        }
        self.push(Inst::Leave { row: 0, count: rows, complete: next != Next::Unknown });
        match (next, self.strip.pending) {
            (Next::End, _) if !points => self.push(Inst::Mark { bits: first(taken), joins: false }),
            (Next::Vertex, _) => self.push(Inst::Mark { bits: inner(taken), joins: false }),
            (Next::Unknown, Some(pending)) => {
                self.alu(Opcode::Mov, Ty::Ud, pending, &[Src::Bits(1).into()]);
            }
            _ => {}
        }
        if let Some(head) = guard {
            self.end_if(head);
        }
        Ok(())
    }

    /// Two slots to the halves of a message register.
    fn row(&mut self, pair: &[[Source; 4]], message: u8) {
        for (half, &values) in [0, UPPER].into_iter().zip(pair) {
            self.push(Inst::Slot { values, message: message | half });
        }
    }

    /// The strip ends.
    pub(super) fn end_primitive(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        if self.strip.strips.is_told(inst) {
            return Ok(());
        }
        self.complete_pending(true)
    }

    /// Completes the open entry, where it has a vertex: it is the last one of its strip, or another one follows.
    fn complete_pending(&mut self, ends: bool) -> Result<(), Failure> {
        let abi = self.abi;
        let (Some(pending), Some(taken)) = (self.strip.pending, &abi.taken) else {
            return Ok(());
        };
        self.push(Inst::Compare(test(pending, Condition::NotEqual, 0)));
        let head = self.begin_if(false, false)?;
        if ends {
            self.push(Inst::Mark { bits: END, joins: true });
        }
        // What public drivers send of an entry of use has data: those of a row that nobody reads.
        self.row(&[[ZERO; 4]; 2], SLOTS);
        self.push(Inst::Leave { row: abi.completing_row(), count: 1, complete: true });
        let bits = if ends { first(taken) } else { inner(taken) };
        self.push(Inst::Mark { bits, joins: false });
        self.alu(Opcode::Mov, Ty::Ud, pending, &[Src::Bits(0).into()]);
        self.end_if(head);
        Ok(())
    }
}

/// A number that the program counts, and one that it knows.
fn test(reg: VReg, condition: Condition, number: u32) -> Test {
    Test {
        condition,
        ty: Ty::Ud,
        first: Src::Reg(reg.into()).into(),
        second: Src::Bits(number).into(),
        join: None,
    }
}
