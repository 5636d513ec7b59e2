//! Latency model of one warp.
//!
//! Cycles that one warp takes when nothing else runs beside it, block by block, and a bound that no order of the same
//! operations passes.
//!
//! The model (isa/valhall_rogue.md 1.6, 5): a warp of 16 lanes issues one instruction a cycle, in order. The multiply and
//! convert units take 16 lanes a cycle, the special-function unit 4, the texture unit 4 texels, the varying unit one
//! component of 32 bits a lane, the load-store unit one access; 64 bits take a unit twice. A result of the execution units
//! is there when the unit is done; one of a message after the latency that [`crate::schedule`] assumes, and whoever waits
//! for its slot waits for that.
//!
//! Every block counts once. The bound of a block is the most of three: instructions that must issue, what the busiest unit
//! takes, and the longest chain of results. What moves values about or waits is in none of them, and a chain goes through it
//! at no cost. Moves are counted that bring to registers what a message takes from there ([`mod@brought`]).

mod brought;

use crate::isa::{self, Opcode, Operand, Unit, f};
use crate::legal;
use crate::schedule;
use brought::Brought;

/// Cycles of one warp, and their bound.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Warp {
    /// What the code takes.
    pub cycles: u32,
    /// What any order of its operations takes at least.
    pub least: u32,
    /// Moves that bring constants and uniform words to messages, at least.
    pub brought: u32,
}

const UNITS: usize = 6;
/// The convert unit, which moves values.
const CVT: usize = 1;

/// A unit that an instruction keeps and for how long.
fn takes(inst: &isa::Inst) -> Option<(usize, u32)> {
    let opcode = Opcode::of(inst.op());
    let is_wide = |kind: Option<Operand>| kind.is_some_and(Operand::is_pair);
    let wide = is_wide(opcode.dst()) || opcode.sources().iter().any(|s| s.kind.is_pair());
    let passes = if wide { 2 } else { 1 };
    Some(match opcode.unit() {
        Unit::Fma => (0, passes),
        Unit::Cvt => (CVT, passes),
        Unit::Sfu => (2, 4 * passes),
        Unit::V => (3, (crate::cost::halves(inst) / 2.0).ceil() as u32),
        Unit::Ls => (4, 1),
        Unit::T | Unit::Vt => (5, 4),
        Unit::None => return None,
    })
}

/// Slots that a flow value waits for at the end of its instruction.
fn waits(flow: u32) -> u32 {
    match flow {
        0..=7 => flow,
        8 | 9 => 7,
        _ => 0,
    }
}

/// Whether an instruction computes nothing: it moves a value, brings a constant, or does nothing at all.
pub fn is_idle(inst: &isa::Inst) -> bool {
    let opcode = Opcode::of(inst.op());
    match opcode {
        Opcode::Nop | Opcode::MovI32 => true,
        Opcode::IaddImmI32 => inst.get(opcode.sources()[0].field) >= 0x80,
        _ => false,
    }
}

/// Both figures of a program.
pub fn warp(insts: &[isa::Inst]) -> Warp {
    let mut leads = vec![false; insts.len() + 1];
    for (at, inst) in insts.iter().enumerate() {
        if Opcode::of(inst.op()) == Opcode::Branchz {
            leads[at + 1] = true;
            // 27 bits with a sign, from the instruction behind.
            let offset = (inst.get(f::OFFSET) << 5) as i32 >> 5;
            let target = at as i64 + 1 + i64::from(offset);
            if let Some(lead) = usize::try_from(target).ok().and_then(|at| leads.get_mut(at)) {
                *lead = true;
            }
        }
    }
    let mut all = Warp::default();
    let mut brought = Brought::default();
    let mut first = 0;
    for end in 1..=insts.len() {
        if end == insts.len() || leads[end] {
            let piece = block(&insts[first..end], &mut brought);
            all.cycles += piece.cycles;
            all.least += piece.least;
            first = end;
        }
    }
    all.brought = brought.moves();
    all
}

fn block(insts: &[isa::Inst], brought: &mut Brought) -> Warp {
    // As it stands: when registers, units and slots are there.
    let (mut ready, mut unit_free, mut slot_done) = ([0u32; 64], [0u32; UNITS], [0u32; 3]);
    let mut cycle = 0;
    // The bound: the end of the longest chain to each register, and what units and issue take in all.
    let (mut chain, mut longest) = ([0u32; 64], 0);
    let (mut unit_sum, mut count) = ([0u32; UNITS], 0);
    for inst in insts {
        let opcode = Opcode::of(inst.op());
        let registers = legal::registers(inst);
        brought.meet(inst, &registers);
        let reads = registers.sources | registers.read;
        let direct = registers.written & !registers.written_later;
        let taken = takes(inst);
        let idle = is_idle(inst);
        let mut issue = latest(reads, &ready).max(cycle);
        if let Some((unit, cycles)) = taken {
            issue = issue.max(unit_free[unit]);
            unit_free[unit] = issue + cycles;
        }
        cycle = issue + 1;
        let busy = taken.map_or(1, |(_, cycles)| cycles);
        put(direct, issue + busy, &mut ready);
        // What a message writes is there when its slot says so.
        put(registers.written_later, 0, &mut ready);
        // A test has no slot of its own to be waited for.
        let mut latency = 1;
        if opcode.has_slot() && registers.written_later != 0 {
            latency = schedule::latency(opcode).max(busy);
            if let Some(done) = slot_done.get_mut(inst.get(f::SLOT) as usize) {
                *done = (*done).max(issue + latency);
            }
        }
        let waited = waits(inst.get(f::FLOW));
        for (slot, done) in slot_done.iter().enumerate() {
            if waited >> slot & 1 != 0 {
                cycle = cycle.max(*done);
            }
        }
        let start = latest(reads, &chain);
        if idle {
            put(registers.written, start, &mut chain);
            continue;
        }
        count += 1;
        if let Some((unit, cycles)) = taken {
            unit_sum[unit] += cycles;
        }
        longest = longest.max(start + 1);
        put(direct, start + busy, &mut chain);
        put(registers.written_later, start + latency, &mut chain);
    }
    let brought = brought.end_block();
    count += brought;
    unit_sum[CVT] += brought;
    // A unit takes its last instruction when that issues, and is done with it later.
    let units = insts.iter().filter_map(takes).fold([0u32; UNITS], |mut most, (unit, cycles)| {
        most[unit] = most[unit].max(cycles);
        most
    });
    let units = unit_sum.iter().zip(units).map(|(sum, last)| (sum + 1).saturating_sub(last));
    let least = units.max().unwrap_or(0).max(count).max(longest);
    Warp { cycles: cycle, least, brought }
}

/// The registers of a set.
fn each(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let register = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(register)
    })
}

fn latest(set: u64, at: &[u32; 64]) -> u32 {
    each(set).map(|register| at[register]).max().unwrap_or(0)
}

fn put(set: u64, value: u32, at: &mut [u32; 64]) {
    each(set).for_each(|register| at[register] = value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(dst: u32, a: u32, b: u32) -> isa::Inst {
        let (x, y) = (Opcode::IaddU32.sources()[0].field, Opcode::IaddU32.sources()[1].field);
        isa::Inst::usual(Opcode::IaddU32.op()).with(f::DST, dst).with(x, a).with(y, b)
    }

    fn reciprocal(dst: u32, from: u32) -> isa::Inst {
        let source = Opcode::FrcpF32.sources()[0].field;
        isa::Inst::usual(Opcode::FrcpF32.op()).with(f::DST, dst).with(source, from)
    }

    #[test]
    fn a_chain_through_the_slow_unit_bounds_a_block_and_two_chains_take_turns() {
        // Each reciprocal takes its unit four cycles.
        let chain = [reciprocal(1, 0), reciprocal(2, 1), add(3, 2, 2)];
        assert_eq!(warp(&chain), Warp { cycles: 9, least: 9, brought: 0 });
        // Both chains wait here where the second could begin before the first goes on.
        let twice = [reciprocal(1, 0), add(3, 1, 1), reciprocal(2, 0), add(4, 2, 2)];
        assert_eq!(warp(&twice), Warp { cycles: 10, least: 5, brought: 0 });
    }

    #[test]
    fn a_result_is_waited_for_at_the_wait_and_moves_lengthen_no_chain() {
        let load = isa::Inst::usual(Opcode::LdBufferI32.op())
            .with(f::SR, 0)
            .with(f::SR_COUNT, 1)
            .with(Opcode::LdBufferI32.sources()[0].field, 0xc0)
            .with(Opcode::LdBufferI32.sources()[1].field, 0xc0);
        let wait = add(9, 8, 8).with(f::FLOW, 1);
        let moved = isa::Inst::usual(Opcode::MovI32.op())
            .with(f::DST, 1)
            .with(Opcode::MovI32.sources()[0].field, 0);
        let latency = schedule::latency(Opcode::LdBufferI32);
        let found = warp(&[load, wait, moved, add(2, 1, 1)]);
        assert_eq!(found, Warp { cycles: latency + 2, least: latency + 1, brought: 0 });
    }

    #[test]
    fn blocks_end_at_branches_and_begin_where_they_lead() {
        let back = isa::Inst::usual(Opcode::Branchz.op()).with(f::OFFSET, 0x07ff_fffe);
        // The branch leads to the second instruction: three blocks of 1, 2 and 1.
        let code = [add(1, 0, 0), add(2, 1, 1), back, add(3, 2, 2)];
        assert_eq!(warp(&code), Warp { cycles: 4, least: 4, brought: 0 });
    }
}
