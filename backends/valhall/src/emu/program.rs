//! A program: decoded where control flow can reach, and checked before it runs.

use super::decode::decode;
use super::inst::{Inst, Op, Place};
use super::memory::Memory;
use super::rule::{Rule, Trap};
use super::state::Stage;
use std::collections::BTreeMap;

/// Bytes of an instruction. isa 1.1.
pub const WORD: usize = 8;
/// Bytes that the machine may fetch behind the instruction that it executes. Errata 130.
const AHEAD: usize = 128;

/// Instructions by place; `None` where nothing leads.
#[derive(Clone, Debug)]
pub struct Program {
    insts: Vec<Option<Inst>>,
    /// Why places hold nothing to run, where a jump to an address of the program's own making may lead to them.
    refused: BTreeMap<u32, Trap>,
}

impl Program {
    /// Decodes what can be reached from byte `entry`.
    ///
    /// # Errors
    /// The first rule that reachable code breaks whatever its values.
    pub fn load(
        code: &[u8],
        entry: u32,
        stage: Stage,
        work_registers: u32,
    ) -> Result<Program, Trap> {
        if code.is_empty() || !code.len().is_multiple_of(WORD) || code.len() > 1 << 27 {
            let detail = format!("{} bytes", code.len());
            return Err(Trap::new(Rule::ProgramSize, 0, detail));
        }
        let count = code.len() / WORD;
        if !(entry as usize).is_multiple_of(WORD) || entry as usize >= code.len() {
            let detail = format!("the entry {entry:#x} is no instruction");
            return Err(Trap::new(Rule::Address, entry, detail));
        }
        let mut insts: Vec<Option<Inst>> = vec![None; count];
        let word = |at: u32| -> Result<Inst, Trap> {
            let offset = at * WORD as u32;
            let bytes = code.get(offset as usize..).and_then(<[u8]>::first_chunk);
            let bytes = bytes.ok_or_else(|| {
                let detail = format!("control flow leaves the {count} instructions");
                Trap::new(Rule::Address, offset, detail)
            })?;
            let inst = decode(u64::from_le_bytes(*bytes), offset)?;
            check(&inst, stage, work_registers, offset)?;
            Ok(inst)
        };
        let mut work = vec![entry / WORD as u32];
        while let Some(at) = work.pop() {
            let offset = at * WORD as u32;
            let Some(place) = insts.get_mut(at as usize) else {
                let detail = format!("control flow leaves the {count} instructions");
                return Err(Trap::new(Rule::Address, offset, detail));
            };
            if place.is_some() {
                continue;
            }
            let inst = word(at)?;
            let target = |by: i32| {
                let to = i64::from(at) + 1 + i64::from(by);
                u32::try_from(to).ok().filter(|&to| (to as usize) < count).ok_or_else(|| {
                    let detail = format!("a branch by {by} instructions");
                    Trap::new(Rule::Address, offset, detail)
                })
            };
            if !inst.flow.end {
                match inst.op {
                    Op::Branch { offset, .. } => {
                        work.push(target(offset)?);
                        if !always(&inst) {
                            work.push(at + 1);
                        }
                    }
                    Op::Jump { .. } if always(&inst) => {}
                    // Fixed-function blending: the call of a blend shader is jumped over.
                    Op::Blend { target: by, .. } => work.push(target(by)?),
                    _ => work.push(at + 1),
                }
            }
            if let Op::Blend { target: by, .. } = inst.op {
                let call = [1, 2].map(|k| word(at + k).ok());
                if !is_call(&inst, by, &call) {
                    return Err(Trap::new(Rule::BlendCall, offset, inst.name.to_owned()));
                }
            }
            *place = Some(inst);
        }
        let mut refused = BTreeMap::new();
        let jumps = |inst: &Inst| matches!(inst.op, Op::Jump { .. });
        if insts.iter().flatten().any(jumps) {
            for (at, place) in (0..).zip(&mut insts) {
                if place.is_none() {
                    match word(at) {
                        Ok(inst) => *place = Some(inst),
                        Err(trap) => drop(refused.insert(at, trap)),
                    }
                }
            }
        }
        Ok(Program { insts, refused })
    }

    /// Fetches what the machine may fetch behind the last instruction that control flow can reach: code that stands in
    /// memory at `base`, and what is mapped behind it.
    ///
    /// # Errors
    /// [`Rule::Prefetch`].
    pub fn prefetch(&self, code: &[u8], memory: &Memory, base: u64) -> Result<(), Trap> {
        let last = self.insts.iter().rposition(Option::is_some).unwrap_or_default();
        let refused = |detail| Err(Trap::new(Rule::Prefetch, (last * WORD) as u32, detail));
        let end = (last + 1) * WORD;
        let mut fetched = [0; AHEAD];
        if let Err((_, detail)) = memory.read(base + end as u64, &mut fetched) {
            return refused(detail);
        }
        let behind = &fetched[code.len().saturating_sub(end).min(AHEAD)..];
        match behind.iter().position(|&byte| byte != 0) {
            Some(at) => refused(format!("byte {at} behind the code is {:#04x}", behind[at])),
            None => Ok(()),
        }
    }

    /// The instruction at a place that was reached when the program was loaded, or that a jump may reach.
    ///
    /// # Errors
    /// What is wrong with the word there; `None` where control flow leaves the program.
    pub fn at(&self, at: u32) -> Result<&Inst, Option<&Trap>> {
        let inst = self.insts.get(at as usize).and_then(Option::as_ref);
        inst.ok_or_else(|| self.refused.get(&at))
    }
}

/// Whether a BLEND is followed by the call of its blend shader: r48 takes the address behind the call, or 0 where that
/// shader ends the program. isa 1.10.
fn is_call(blend: &Inst, skips: i32, call: &[Option<Inst>; 2]) -> bool {
    let Place::Special(0, descriptor, 0) = blend.sources[0].place else {
        return true;
    };
    let [Some(link), Some(jump)] = call else {
        return false;
    };
    let ends = blend.flow.end;
    let (from, bytes) = match ends {
        true => (Place::Constant(0), 0),
        false => (Place::Special(3, 15, 0), 8),
    };
    let links = link.op == Op::IAddImm(bytes)
        && link.sources[0].place == from
        && link.dest.is_some_and(|dest| dest.reg == 48);
    let jumps = matches!(jump.op, Op::Jump { .. })
        && always(jump)
        && jump.sources[1].place == Place::Special(0, descriptor, 1);
    links && jumps && (ends || skips == 2)
}

/// A branch on a constant zero, taken when zero.
fn always(inst: &Inst) -> bool {
    let constant = inst.sources.first().map(|source| source.place);
    let on_zero =
        matches!(inst.op, Op::Branch { on_zero: true, .. } | Op::Jump { on_zero: true, .. });
    on_zero && constant == Some(Place::Constant(0))
}

fn check(inst: &Inst, stage: Stage, work_registers: u32, offset: u32) -> Result<(), Trap> {
    let wrong = |what: &str| {
        let detail = format!("{} in a {what} program", inst.name);
        Trap::new(Rule::Stage, offset, detail)
    };
    let fragment = matches!(
        inst.op,
        Op::Discard(_)
            | Op::LdVar { .. }
            | Op::LdVarSpecial { .. }
            | Op::VarTex(..)
            | Op::Atest
            | Op::ZsEmit { .. }
            | Op::Blend { .. }
    );
    match stage {
        Stage::Fragment if inst.op == Op::Barrier => return Err(wrong("fragment")),
        Stage::Compute if fragment => return Err(wrong("compute")),
        Stage::Vertex if fragment || inst.op == Op::Barrier => return Err(wrong("vertex")),
        _ => {}
    }
    // The frame's size, the datum of ATEST, sample positions, blend descriptors: state of a draw. isa 1.2.
    let of_a_draw = |place| matches!(place, Place::Special(0, 4..=6 | 8..=15, _));
    if stage != Stage::Fragment && inst.sources.iter().any(|source| of_a_draw(source.place)) {
        return Err(wrong("program without pixels, with their special values,"));
    }
    if inst.flow.discard && stage != Stage::Fragment {
        return Err(wrong("program without helpers, with discard,"));
    }
    if work_registers == 64 {
        return Ok(());
    }
    let mut touched = Vec::new();
    for source in &inst.sources {
        if let Place::Reg(reg) = source.place {
            touched.push((reg, 1 + u8::from(source.wide)));
        }
    }
    touched.extend(inst.dest.map(|dest| (dest.reg, 1 + u8::from(dest.wide))));
    touched.extend([inst.read, inst.write].into_iter().flatten().map(|s| (s.reg, s.count)));
    for (reg, count) in touched {
        if let Some(missing) = (reg..reg + count).find(|reg| (16..48).contains(reg)) {
            let detail = format!("r{missing} with {work_registers} registers a thread");
            return Err(Trap::new(Rule::RegisterFile, offset, detail));
        }
    }
    Ok(())
}
