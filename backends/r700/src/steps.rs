//! What each instruction of a program does with registers, what it costs, and where a lane goes from it: read from the
//! words, for [`gpucc_machine::flow`]. Clocks are those of [`crate::cost`], whose units take turns.

use crate::cost::{GROUP, ROW};
use crate::isa::Inst;
use crate::isa::alu::{AluGroup, Operand};
use crate::isa::fields::{DST_SELS, SELS, SRC_SELS, f};
use crate::isa::ops::{CfOp, FetchOp, flag};
use crate::isa::program::{Body, Cf, Program};
use gpucc_machine::flow::{Step, Steps, UNITS};
use smallvec::SmallVec;

/// The first register that is a clause temporary. R700 ISA 4.7.1.
const TEMPORARIES: u32 = 124;
/// A select that keeps a component as it is.
const MASKED: u32 = 7;

/// The steps of a program: an instruction of control flow, then what its clause holds.
pub fn steps(program: &Program) -> Steps {
    let reach = 4 * (highest(program) + 1) as u16;
    let mut reader = Reader { list: Vec::new(), reach };
    // The first and the last step of each instruction of control flow.
    let mut places = Vec::with_capacity(program.cf.len());
    for cf in &program.cf {
        let first = reader.list.len();
        reader.control(cf);
        if let Some(clause) = cf.clause {
            let clause = &program.clauses[clause.index()];
            reader.clause(8 * clause.at, &clause.body);
        }
        places.push((first as u32, reader.list.len() - 1));
    }
    let mut list = reader.list;
    let next = Next::of(program);
    for (number, &(first, last)) in places.iter().enumerate() {
        for (step, next) in list[first as usize..last].iter_mut().zip(first + 1..) {
            step.next.push(next);
        }
        let to = next.behind(number);
        list[last].next = to.into_iter().filter_map(|to| Some(places.get(to)?.0)).collect();
    }
    Steps { list, cells: 4, prefix: "R" }
}

/// The highest register that the program names: an index reaches no further.
fn highest(program: &Program) -> u32 {
    let mut most = 0;
    let mut see =
        |register: u32| most = most.max(if register < TEMPORARIES { register } else { 0 });
    for clause in &program.clauses {
        match &clause.body {
            Body::Alu(groups) => {
                for slot in groups.iter().flat_map(|group| &group.slots) {
                    see(slot.dst().gpr.into());
                    for source in 0..slot.sources() {
                        if let Operand::Gpr(register) = slot.src(source).operand {
                            see(register.into());
                        }
                    }
                }
            }
            Body::Fetch(fetches) => {
                for fetch in fetches {
                    for field in [f::SRC_GPR, f::DST_GPR] {
                        if fetch.has_field(field) {
                            see(fetch.get(field));
                        }
                    }
                }
            }
        }
    }
    for cf in program.cf.iter().filter(|cf| cf.inst.has_field(f::RW_GPR)) {
        see(cf.inst.get(f::RW_GPR) + cf.inst.get(f::BURST_COUNT));
    }
    most
}

struct Reader {
    list: Vec<Step>,
    /// Cells below this may be reached by an index.
    reach: u16,
}

impl Reader {
    fn push(&mut self, offset: u32, clocks: u32) -> &mut Step {
        let mut all = [0.0; UNITS];
        all[0] = f64::from(clocks);
        self.list.push(Step { offset, clocks: all, ..Step::default() });
        self.list.last_mut().expect("it was pushed")
    }

    fn control(&mut self, cf: &Cf) {
        let inst = &cf.inst;
        if !inst.has_field(f::RW_GPR) {
            self.push(8 * cf.at, 0);
            return;
        }
        let burst = inst.get(f::BURST_COUNT);
        let step = self.push(8 * cf.at, ROW * (burst + 1));
        for row in 0..=burst {
            let first = inst.get(f::RW_GPR) + row;
            if inst.has_field(f::COMP_MASK) {
                let mask = inst.get(f::COMP_MASK);
                step.reads.extend(
                    (0..4)
                        .filter(|chan| mask >> chan & 1 != 0)
                        .filter_map(|chan| cell(first, chan)),
                );
            } else {
                step.reads.extend(selected(inst, &SELS, first));
            }
        }
        // An index that is added to the address. R700 ISA 10.1 CF_ALLOC_EXPORT_WORD0, TYPE.
        if inst.has_field(f::COMP_MASK) && inst.get(f::TYPE) & 1 != 0 {
            step.reads.extend((0..3).filter_map(|chan| cell(inst.get(f::INDEX_GPR), chan)));
        }
    }

    fn clause(&mut self, mut offset: u32, body: &Body) {
        match body {
            Body::Alu(groups) => {
                for group in groups {
                    self.group(offset, group);
                    offset += 8 * group.qwords();
                }
            }
            Body::Fetch(fetches) => {
                for fetch in fetches {
                    self.fetch(offset, fetch);
                    offset += 16;
                }
            }
        }
    }

    fn group(&mut self, offset: u32, group: &AluGroup) {
        let reach = self.reach;
        let step = self.push(offset, GROUP);
        for slot in &group.slots {
            for source in (0..slot.sources()).map(|number| slot.src(number)) {
                let Operand::Gpr(register) = source.operand else { continue };
                let Some(first) = cell(register.into(), source.chan as u32) else { continue };
                let end = if source.rel { reach.max(first + 1) } else { first + 1 };
                step.reads.extend((first..end).step_by(4));
            }
            let to = slot.dst();
            let certain = to.write && !to.rel && slot.get(f::PRED_SEL) == 0;
            step.writes.extend(cell(to.gpr.into(), to.chan as u32).filter(|_| certain));
        }
    }

    fn fetch(&mut self, offset: u32, fetch: &Inst) {
        let reach = self.reach;
        let step = self.push(offset, ROW);
        let op = FetchOp::of(fetch.op().id);
        let selects = SRC_SELS.iter().filter(|&&select| fetch.has_field(select));
        let plain = fetch.op().has(flag::MEMORY) && fetch.get(f::INDEXED) == 0;
        let gradients = matches!(op, FetchOp::KEEP_GRADIENTS | FetchOp::PASS);
        if !plain && !gradients && fetch.has_field(f::SRC_GPR) {
            for &select in selects {
                let Some(first) = cell(fetch.get(f::SRC_GPR), fetch.get(select)) else { continue };
                if fetch.get(select) >= 4 {
                    continue;
                }
                let indexed = fetch.has_field(f::SRC_REL) && fetch.get(f::SRC_REL) != 0;
                let end = if indexed { reach.max(first + 1) } else { first + 1 };
                step.reads.extend((first..end).step_by(4));
            }
            if !fetch.has_field(f::SRC_SEL_X) {
                step.reads.extend((0..4).filter_map(|chan| cell(fetch.get(f::SRC_GPR), chan)));
            }
        }
        let relative = fetch.has_field(f::DST_REL) && fetch.get(f::DST_REL) != 0;
        if fetch.has_field(f::DST_GPR) && fetch.has_field(f::DST_SEL_X) && !relative {
            let written = (0..).zip(DST_SELS).filter(|&(_, select)| fetch.get(select) != MASKED);
            let register = fetch.get(f::DST_GPR);
            step.writes.extend(written.filter_map(|(chan, _)| cell(register, chan)));
        }
    }
}

/// A cell of a register; clause temporaries are none.
fn cell(register: u32, chan: u32) -> Option<u16> {
    (register < TEMPORARIES).then_some((4 * register + (chan & 3)) as u16)
}

/// The components of a register that selects name.
fn selected(inst: &Inst, selects: &[gpucc_isa::FieldId; 4], register: u32) -> SmallVec<[u16; 4]> {
    let named = selects.iter().map(|&select| inst.get(select)).filter(|&select| select < 4);
    named.filter_map(|select| cell(register, select)).collect()
}

/// Where lanes go behind each instruction of control flow, by number.
struct Next<'p> {
    cf: &'p [Cf],
    /// The end of the innermost loop around each instruction.
    ends: Vec<Option<usize>>,
    /// An ELSE to which a jump leads.
    chosen: Vec<bool>,
}

impl Next<'_> {
    fn of(program: &Program) -> Next<'_> {
        let cf = &program.cf[..];
        let mut next = Next { cf, ends: vec![None; cf.len()], chosen: vec![false; cf.len()] };
        // From the end on: what ends a loop is seen before what stands in it.
        let mut open = Vec::new();
        for (number, one) in cf.iter().enumerate().rev() {
            if one.op() == CfOp::LOOP_END {
                open.push(number);
            }
            next.ends[number] = open.last().copied();
            if is_start(one.op()) {
                open.pop();
            }
            if matches!(one.op(), CfOp::JUMP)
                && let Some(to) = next.target(number)
                && cf[to].op() == CfOp::ELSE
            {
                next.chosen[to] = true;
            }
        }
        next
    }

    /// The instruction that ADDR names.
    fn target(&self, number: usize) -> Option<usize> {
        let to = self.cf[number].inst.get(f::ADDR);
        self.cf.binary_search_by_key(&to, |cf| cf.at).ok()
    }

    fn behind(&self, number: usize) -> SmallVec<[usize; 2]> {
        let inst = &self.cf[number].inst;
        let next = number + 1;
        let mut to = SmallVec::new();
        if inst.has_field(f::END_OF_PROGRAM) && inst.flag(f::END_OF_PROGRAM) {
            return to;
        }
        let end = self.ends[number];
        match self.cf[number].op() {
            // Lanes for which nothing is left to do in a loop of DirectX 10 have left it by a break.
            CfOp::LOOP_END => {
                to.extend(self.target(number));
                let counted = |start: usize| self.cf[start - 1].op() == CfOp::LOOP_START;
                if self.target(number).is_none_or(|start| start == 0 || counted(start)) {
                    to.push(next);
                }
            }
            CfOp::LOOP_BREAK | CfOp::ALU_BREAK => {
                to.push(next);
                to.extend(end.map(|end| end + 1));
            }
            CfOp::LOOP_CONTINUE | CfOp::ALU_CONTINUE => {
                to.push(next);
                to.extend(end);
            }
            // Who comes from above has run the first arm.
            CfOp::ELSE if self.chosen[number] => to.extend(self.target(number)),
            CfOp::JUMP => {
                to.push(next);
                to.extend(self.target(number).map(|to| to + usize::from(self.chosen[to])));
            }
            // Nothing tells a loop of DirectX 10 how often it runs.
            CfOp::LOOP_START_DX10 | CfOp::LOOP_START_NO_AL => to.push(next),
            CfOp::RETURN | CfOp::POP => to.push(next),
            _ if self.cf[number].inst.op().has(flag::JUMPS) => {
                to.push(next);
                to.extend(self.target(number));
            }
            _ => to.push(next),
        }
        to
    }
}

const fn is_start(op: CfOp) -> bool {
    matches!(op, CfOp::LOOP_START | CfOp::LOOP_START_DX10 | CfOp::LOOP_START_NO_AL)
}

#[cfg(test)]
mod tests {
    use super::steps;
    use crate::isa::{asm, program};
    use gpucc_machine::Flow;

    fn flow(text: &str) -> Flow {
        let words = asm::assemble_of(&crate::isa::R700, text).expect("it is a program");
        Flow::of(&steps(&program::decode_program(&words).expect("it decodes")))
    }

    fn live(found: &Flow) -> Vec<u32> {
        found.instructions.iter().map(|one| one.live).collect()
    }

    #[test]
    fn groups_fetches_and_exports_have_their_clocks() {
        let found = flow(
            "00 ALU:
             0 x: ADD R1.x, R0.x, R0.y
               y: MOV R1.y, R2.z
             1 x: MUL R1.x, R1.x, R1.y
             01 TEX:
             2 SAMPLE R1.xyzw, R1.xyxx, t0, s0
             02 EXPORT_DONE: PIXEL[0], R1.xyzw END_OF_PROGRAM",
        );
        assert_eq!(found.paths.longest, 40.0);
        assert_eq!(live(&found), [2, 2, 1, 1, 1, 1]);
        assert_eq!(found.pressure.registers, ["R0", "R2"]);
    }

    #[test]
    fn lanes_of_one_arm_do_not_run_the_other() {
        // R1 is written in both arms; R3 is read in the second alone.
        let found = flow(
            "00 ALU_PUSH_BEFORE:
             0 x: PRED_SETE ____.x, R0.x, 0.0 UPDATE_EXECUTE_MASK UPDATE_PRED
             01 JUMP ADDR(3)
             02 ALU:
             1 x: MOV R1.x, R2.x
             03 ELSE ADDR(5) POP_COUNT(1)
             04 ALU_POP_AFTER:
             2 x: MOV R1.x, R3.x
             05 EXPORT_DONE: PIXEL[0], R1.xxxx END_OF_PROGRAM",
        );
        assert_eq!(live(&found), [3, 3, 2, 1, 1, 1, 1, 1, 1]);
        assert_eq!((found.paths.shortest, found.paths.longest), (24.0, 24.0));
    }

    #[test]
    fn a_loop_is_left_by_its_breaks() {
        let found = flow(
            "00 LOOP_START_DX10 ADDR(5)
             01 ALU_PUSH_BEFORE:
             0 x: PRED_SETE ____.x, R0.x, 0.0 UPDATE_EXECUTE_MASK UPDATE_PRED
             02 LOOP_BREAK ADDR(5)
             03 POP ADDR(4) POP_COUNT(1)
             04 ALU:
             1 x: ADD R0.x, R0.x, R1.x
             05 LOOP_END ADDR(1)
             06 EXPORT_DONE: PIXEL[0], R2.xxxx END_OF_PROGRAM",
        );
        assert_eq!(live(&found), [3, 3, 3, 3, 3, 3, 3, 3, 1]);
        assert_eq!((found.paths.shortest, found.paths.longest), (20.0, 20.0));
        let trips: Vec<f64> = found.paths.loops.iter().map(|trip| trip.cycles).collect();
        assert_eq!(trips, [8.0]);
    }
}
