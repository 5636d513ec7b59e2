//! Groups in the encoder's form.

use super::Locks;
use crate::isa;
use crate::legal::{self, TRANS};
use crate::op;
use crate::slot::Read;

/// Where an operation of three sources writes what nobody wants: below the clause temporaries, above all others.
const BIT_BUCKET: u8 = 123;

/// A group as the encoder wants it: slots in order with their selects, LAST, and literals.
pub fn encode(group: &legal::Group, locks: &Locks, isa: &'static isa::Isa) -> isa::AluGroup {
    let literals = group.literals();
    let mut out = isa::AluGroup::default();
    let count = group.len();
    for (unit, slot) in group.slots.iter().enumerate() {
        let Some(slot) = slot else { continue };
        let mut word = isa::AluSlot::in_isa(isa, slot.op)
            .with(isa::f::BANK_SWIZZLE, u32::from(group.swizzle[unit]));
        for (index, s) in slot.sources().iter().enumerate() {
            let (operand, chan, rel) = match s.read {
                Read::Gpr { gpr, chan, rel } => (isa::Operand::Gpr(gpr), chan, rel),
                Read::Kcache { buffer, index, chan } => {
                    let line = index / 16;
                    let (set, first) = locks
                        .sets
                        .iter()
                        .enumerate()
                        .find_map(|(set, lock)| match *lock {
                            Some((b, first, lines))
                                if b == buffer
                                    && line >= first
                                    && line < first + u16::from(lines) =>
                            {
                                Some((set as u8, first))
                            }
                            _ => None,
                        })
                        .expect("the clause locks every constant that it reads");
                    let index = (index - first * 16) as u8;
                    (isa::Operand::Kcache { set, index }, chan, false)
                }
                Read::Literal(bits) => {
                    let chan = literals
                        .iter()
                        .position(|&literal| literal == bits)
                        .expect("the group holds every literal that it reads");
                    (isa::Operand::Literal, chan as u8, false)
                }
                Read::Inline(operand) => (operand, 0, false),
                Read::Pv(chan) => (isa::Operand::Pv, chan, false),
                Read::Ps => (isa::Operand::Ps, 0, false),
            };
            word = word.with_src(
                index,
                isa::Src { operand, chan: isa::Chan::of(chan.into()), rel, neg: s.neg, abs: s.abs },
            );
        }
        word = match slot.dst {
            Some(dst) => word.with_dst(isa::Dst {
                gpr: dst.gpr,
                chan: isa::Chan::of(dst.chan.into()),
                rel: dst.rel,
                write: true,
            }),
            // Without a write mask: a register beyond those of the program. R700 ISA 4.9.2.
            None if op::is_op3(slot.op) => word.with_dst(isa::Dst {
                gpr: BIT_BUCKET,
                chan: isa::Chan::of(unit as u32),
                rel: false,
                write: true,
            }),
            None => word.with_dst(isa::Dst::masked(isa::Chan::of(if unit == TRANS {
                0
            } else {
                unit as u32
            }))),
        };
        if slot.clamp {
            word = word.with(isa::f::CLAMP, 1);
        }
        if slot.omod != 0 {
            word = word.with(isa::f::OMOD, slot.omod.into());
        }
        if slot.narrows() {
            word = word.with(isa::f::UPDATE_EXECUTE_MASK, 1).with(isa::f::UPDATE_PRED, 1);
        }
        out.slots.push(word.with_last(out.slots.len() + 1 == count));
    }
    out.literals.extend_from_slice(literals);
    if out.literals.len() % 2 == 1 {
        out.literals.push(0);
    }
    out
}
