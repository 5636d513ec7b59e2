//! A program: decoded where control flow can reach, and checked before it runs.

use super::decode::decode;
use super::inst::{Inst, Op, Place};
use super::rule::{Rule, Trap};
use super::state::Stage;

/// Bytes of an instruction. isa 1.1.
pub const WORD: usize = 8;

/// Instructions by place; `None` where nothing leads.
#[derive(Clone, Debug)]
pub struct Program {
    insts: Vec<Option<Inst>>,
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
            let mut bytes = [0; WORD];
            bytes.copy_from_slice(&code[offset as usize..offset as usize + WORD]);
            let inst = decode(u64::from_le_bytes(bytes), offset)?;
            check(&inst, stage, work_registers, offset)?;
            let target = |by: i32| {
                let to = i64::from(at) + 1 + i64::from(by);
                u32::try_from(to)
                    .ok()
                    .filter(|&to| (to as usize) < count)
                    .ok_or_else(|| {
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
                    // Fixed-function blending: the call of a blend shader is jumped over.
                    Op::Blend { target: by, .. } => work.push(target(by)?),
                    _ => work.push(at + 1),
                }
            }
            *place = Some(inst);
        }
        Ok(Program { insts })
    }

    /// The instruction at a place that was reached when the program was loaded.
    pub fn at(&self, at: u32) -> Option<&Inst> {
        self.insts.get(at as usize)?.as_ref()
    }
}

/// A branch on a constant zero, taken when zero.
fn always(inst: &Inst) -> bool {
    let constant = inst.sources.first().map(|source| source.place);
    matches!(inst.op, Op::Branch { on_zero: true, .. }) && constant == Some(Place::Constant(0))
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
            | Op::LdTile { .. }
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
    touched.extend(
        [inst.read, inst.write]
            .into_iter()
            .flatten()
            .map(|s| (s.reg, s.count)),
    );
    for (reg, count) in touched {
        if let Some(missing) = (reg..reg + count).find(|reg| (16..48).contains(reg)) {
            let detail = format!("r{missing} with {work_registers} registers a thread");
            return Err(Trap::new(Rule::RegisterFile, offset, detail));
        }
    }
    Ok(())
}
