//! Finished code, decoded from scratch, against the rules of groups and clauses.

use super::{Group, TRANS, Violation};
use crate::isa::{self, AluOp};
use crate::op::{self, Units};
use crate::slot::{Dst, Operand, Read, Slot};

/// One finished group and its place, for [`legal`].
#[derive(Clone, Debug)]
pub struct Finished {
    /// Address in quadwords.
    pub at: u32,
    /// The rule.
    pub violation: Violation,
}

/// Checks every group of finished code, decoded from scratch, against the rules of groups and
/// clauses. `gprs` is NUM_GPRS.
///
/// # Errors
/// The first violation and where.
pub fn legal(isa: &'static isa::Isa, program: &isa::Program, gprs: u32) -> Result<(), Finished> {
    let locked = locked(program);
    for (number, clause) in program.clauses.iter().enumerate() {
        let isa::Body::Alu(groups) = &clause.body else {
            continue;
        };
        let fail = |violation| Finished { at: clause.at, violation };
        if clause.body.qwords() > 128 {
            return Err(fail(Violation::ClauseLength));
        }
        let locked = locked[number];
        let mut at = clause.at;
        // Which of PV.x..PV.w, PS the previous group left; whether it was a reduction.
        let mut left = [false; 5];
        let mut reduced = false;
        let mut address = false;
        for (number, group) in groups.iter().enumerate() {
            let fail = |violation| Finished { at, violation };
            let (state, swizzle) = read_group(isa, group).map_err(fail)?;
            if !state.swizzles_fit(&swizzle) {
                return Err(fail(Violation::Ports));
            }
            if state.has_kill() && number + 1 != groups.len() {
                return Err(fail(Violation::KillNotLast));
            }
            for slot in state.slots.iter().flatten() {
                for s in slot.sources() {
                    match s.read {
                        Read::Pv(chan) if !left[usize::from(chan)] => {
                            return Err(fail(Violation::Stale));
                        }
                        Read::Ps if !left[TRANS] => return Err(fail(Violation::Stale)),
                        Read::Pv(chan) if reduced && chan != 0 => {
                            return Err(fail(Violation::ReductionChannel));
                        }
                        // Clause temporaries stand at the top.
                        Read::Gpr { gpr, .. } if u32::from(gpr) >= gprs && gpr < 124 => {
                            return Err(fail(Violation::Register));
                        }
                        Read::Gpr { rel: true, .. } if !address => {
                            return Err(fail(Violation::NoAddress));
                        }
                        // Sets as `read_slot` numbers them; 16 is the constant file.
                        Read::Kcache { buffer, index, .. }
                            if buffer < 2 && index >= locked[usize::from(buffer)] =>
                        {
                            return Err(fail(Violation::Unlocked));
                        }
                        _ => {}
                    }
                }
                if slot.dst.is_some_and(|dst| dst.rel) && !address {
                    return Err(fail(Violation::NoAddress));
                }
            }
            for (unit, slot) in state.slots.iter().enumerate() {
                left[unit] = slot
                    .as_ref()
                    .is_some_and(|slot| slot.op != AluOp::NOP && slot.op != AluOp::MOVA_INT);
            }
            reduced =
                state.is_reduction() && state.slots[0].is_some_and(|slot| slot.op != AluOp::CUBE);
            // Slot x loads AR.x, which alone indexes registers (table 4.2).
            address |= state.slots[0].is_some_and(|slot| slot.op == AluOp::MOVA_INT);
            at += group.qwords();
        }
    }
    Ok(())
}

/// Constants that each set locks, by clause: what every instruction that starts it locks. Guide 5, CF_ALU_WORD.
fn locked(program: &isa::Program) -> Vec<[u16; 2]> {
    let constants = |mode: u32| match mode {
        0 => 0,
        1 => 16,
        _ => 32,
    };
    let mut locked: Vec<Option<[u16; 2]>> = vec![None; program.clauses.len()];
    for cf in &program.cf {
        if let Some(place) = cf.clause.and_then(|id| locked.get_mut(id.index())) {
            let sets = [isa::f::KCACHE_MODE0, isa::f::KCACHE_MODE1];
            let [a, b] = sets.map(|mode| constants(cf.inst.get(mode)));
            *place = Some(place.map_or([a, b], |[c, d]| [a.min(c), b.min(d)]));
        }
    }
    locked.into_iter().map(Option::unwrap_or_default).collect()
}

/// An encoded group as a state, built slot by slot through the rules, and its swizzles.
fn read_group(
    isa: &'static isa::Isa,
    group: &isa::AluGroup,
) -> Result<(Group, [u8; 5]), Violation> {
    let mut state = Group::of(isa);
    let mut swizzle = [0; 5];
    let units = group.units(true);
    let mut reduction: Vec<(usize, Slot)> = Vec::new();
    let mut doubles: Vec<(usize, Slot)> = Vec::new();
    for (slot, unit) in group.slots.iter().zip(&units) {
        let unit = match unit {
            Some(isa::Unit::Vector(chan)) => chan.index(),
            Some(isa::Unit::Trans) => TRANS,
            None => return Err(Violation::Taken),
        };
        swizzle[unit] = slot.get(isa::f::BANK_SWIZZLE) as u8;
        let read = read_slot(slot, group);
        match op::units(isa, read.op) {
            Units::Reduction => reduction.push((unit, read)),
            Units::Pair | Units::Quad => doubles.push((unit, read)),
            Units::Any | Units::Trans | Units::Vector => state = state.admit(unit, &read)?,
        }
    }
    let mut rest = doubles.as_slice();
    while let Some((unit, slot)) = rest.first() {
        let count = op::units(isa, slot.op).together().min(rest.len());
        let (together, after) = rest.split_at(count);
        if together.iter().zip(*unit..).any(|(slot, at)| slot.0 != at) {
            return Err(Violation::Double);
        }
        let slots: Vec<Slot> = together.iter().map(|(_, slot)| *slot).collect();
        state = state.admit_double(*unit, &slots)?;
        rest = after;
    }
    if !reduction.is_empty() {
        let slots: Vec<Slot> = reduction.iter().map(|(_, slot)| *slot).collect();
        let four: [Slot; 4] = slots.try_into().map_err(|_| Violation::Reduction)?;
        state = state.admit_reduction(&four)?;
    }
    Ok((state, swizzle))
}

fn read_slot(slot: &isa::AluSlot, group: &isa::AluGroup) -> Slot {
    let mut src = [Operand::UNUSED; 3];
    for (index, place) in src.iter_mut().enumerate().take(slot.sources()) {
        let s = slot.src(index);
        let chan = s.chan as u8;
        place.neg = s.neg;
        place.abs = s.abs;
        place.read = match s.operand {
            isa::Operand::Gpr(gpr) => Read::Gpr { gpr, chan, rel: s.rel },
            isa::Operand::Kcache { set, index } => {
                Read::Kcache { buffer: set, index: index.into(), chan }
            }
            isa::Operand::Literal => {
                Read::Literal(group.literals.get(usize::from(chan)).copied().unwrap_or(0))
            }
            isa::Operand::Pv => Read::Pv(chan),
            isa::Operand::Ps => Read::Ps,
            isa::Operand::Cfile(index) => Read::Kcache { buffer: 16, index: index.into(), chan },
            inline => Read::Inline(inline),
        };
    }
    let dst = slot.dst();
    Slot {
        op: slot.op(),
        dst: dst.write.then_some(Dst { gpr: dst.gpr, chan: dst.chan as u8, rel: dst.rel }),
        src,
        sources: slot.sources() as u8,
        clamp: slot.flag(isa::f::CLAMP),
        omod: if slot.is_op3() { 0 } else { slot.get(isa::f::OMOD) as u8 },
    }
}
