//! One wavefront: registers, masks, the stack, and the control-flow program. R700 ISA chapter 3.

mod flow;

use super::decode::{AluKind, Cf, CfBody};
use super::group::needs_loop;
use super::lanes::{Origin, Word, each, quads};
use super::memory::Memory;
use super::program::{Body, Program, Queue, Step};
use super::rule::{Rule, Trap};
use super::state::{Stage, State};
use flow::Frame;

/// Receives a line for every instruction that runs.
pub type Trace<'a> = &'a mut dyn FnMut(&str);

/// One export of a wavefront: the last value of each component.
#[derive(Clone, Debug)]
pub struct ExportValue {
    /// 0 pixel, 1 position, 2 parameter.
    pub kind: u32,
    /// Place.
    pub base: u32,
    /// Components.
    pub words: [Word; 4],
    /// Lanes that wrote each component.
    pub written: [u64; 4],
}

/// A wavefront.
pub(super) struct Wave<'a> {
    pub state: &'a State,
    pub program: &'a Program,
    fetch_program: Option<&'a Program>,
    /// Registers: four words each, clause temporaries at their own numbers.
    pub registers: Vec<Word>,
    pub gprs: u32,
    stack_size: u32,
    pub dx10_clamp: bool,
    /// Lanes of the machine.
    pub full: u64,
    /// First thread of the wavefront within the launch.
    pub first_thread: u32,
    /// Number of the wavefront within the launch, from 1.
    pub number: u32,
    pub active: u64,
    pub valid: u64,
    /// Some KILL was executed.
    pub killed: bool,
    continued: u64,
    broken: u64,
    stack: Vec<Frame>,
    depth: u32,
    in_fetch: bool,
    /// aL.
    pub loop_index: i32,
    pub exports: Vec<ExportValue>,
    done: [bool; 3],
    pub memory: &'a mut Memory,
    pub scratch: Vec<Word>,
    pub scratch_stamp: Vec<u32>,
    pub reduction: Vec<Word>,
    pub reduction_stamp: Vec<u32>,
    /// Of cubes: SET_CUBEMAP_INDEX.
    pub cubemap: Option<Word>,
    pub writes: u32,
    pub acknowledged: u32,
    pending: [(u128, u128); 5],
    /// The data share has group-relative writes that no BARRIER has followed.
    pub share_waits: bool,
    /// This clause wrote to the data share relative to the wavefront.
    pub share_passes: bool,
    pub gradients: [[Word; 3]; 2],
    pub steps_left: &'a mut u64,
    pub trace: Option<Trace<'a>>,
}

/// What a launch gives to each wavefront.
pub(super) struct Launch<'a> {
    pub state: &'a State,
    pub program: &'a Program,
    pub fetch_program: Option<&'a Program>,
    pub memory: &'a mut Memory,
    pub steps_left: &'a mut u64,
    pub trace: Option<Trace<'a>>,
}

impl<'a> Wave<'a> {
    /// A wavefront with these lanes, of which `valid` are covered; every register is undefined.
    pub fn new(
        launch: Launch<'a>,
        lanes: u64,
        valid: u64,
        first_thread: u32,
        number: u32,
    ) -> Result<Wave<'a>, Trap> {
        let state = launch.state;
        let (gprs, stack_size, dx10_clamp) = state.program_resources()?;
        let width = super::chip::facts(state.chip).wave;
        let full = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let vectors = state.scratch_vectors() as usize;
        let reductions = state.reduction_vectors() as usize;
        Ok(Wave {
            state,
            program: launch.program,
            fetch_program: launch.fetch_program,
            registers: vec![Word::UNDEFINED; 512],
            gprs,
            stack_size,
            dx10_clamp,
            full,
            first_thread,
            number,
            active: lanes,
            valid: valid & lanes,
            killed: false,
            continued: 0,
            broken: 0,
            stack: Vec::new(),
            depth: 0,
            in_fetch: false,
            loop_index: 0,
            exports: Vec::new(),
            done: [false; 3],
            memory: launch.memory,
            scratch: vec![Word::UNDEFINED; vectors * 4],
            scratch_stamp: vec![0; vectors],
            reduction: vec![Word::UNDEFINED; reductions * 4],
            reduction_stamp: vec![0; reductions],
            cubemap: None,
            writes: 0,
            acknowledged: 0,
            pending: [(0, 0); 5],
            share_waits: false,
            share_passes: false,
            gradients: [[Word::UNDEFINED; 3]; 2],
            steps_left: launch.steps_left,
            trace: launch.trace,
        })
    }

    /// Sets a register's channel in some lanes before the program starts.
    pub fn set(&mut self, gpr: u32, channel: u32, word: &Word) {
        let all = self.full;
        self.registers[(gpr * 4 + channel) as usize].write(word, all, all);
    }

    /// Counts a step against the limit.
    pub fn count(&mut self, offset: u32) -> Result<(), Trap> {
        if *self.steps_left == 0 {
            return Err(Trap::new(Rule::Steps, offset, "the limit is used up"));
        }
        *self.steps_left -= 1;
        Ok(())
    }

    /// The trap for poison that reaches something observable.
    pub fn observed(&self, word: &Word, lanes: u64, offset: u32, what: &str) -> Result<(), Trap> {
        let bad = word.poison & lanes;
        if bad == 0 {
            return Ok(());
        }
        let Origin { rule, offset: from } = word.origin;
        let detail = match rule {
            Rule::Uninitialised => format!("{what} is undefined"),
            _ => format!("{what} is undefined since byte {from:#x}"),
        };
        let lane = self.first_thread + bad.trailing_zeros();
        Err(Trap::new(rule, offset, detail).at_lane(lane))
    }

    /// Runs to the end of the program.
    pub fn run(&mut self) -> Result<(), Trap> {
        let mut at = 0u32;
        loop {
            let program = if self.in_fetch {
                self.fetch_program.expect("a call of it was checked")
            } else {
                self.program
            };
            let offset = at * 8;
            let Some(step) = program.steps.get(at as usize).and_then(Option::as_ref) else {
                return Err(Trap::new(Rule::FallsOff, offset, "nothing was decoded there"));
            };
            self.count(offset)?;
            self.order(step, offset)?;
            let in_fetch = self.in_fetch;
            let next = self.step(step, at, offset)?;
            #[cfg(test)]
            super::tests::executed::cf(self.state.chip, &step.cf.body);
            if step.cf.end {
                if in_fetch {
                    let detail = "a fetch program returns";
                    return Err(Trap::new(Rule::EndOfProgram, offset, detail));
                }
                return self.end(offset);
            }
            at = next;
        }
    }

    /// BARRIER: without it an instruction must not depend on those of other queues in flight.
    fn order(&mut self, step: &Step, offset: u32) -> Result<(), Trap> {
        if step.cf.barrier {
            self.pending = [(0, 0); 5];
            self.share_waits = false;
        } else {
            for (queue, (reads, writes)) in self.pending.iter().enumerate() {
                if queue == step.queue as usize {
                    continue;
                }
                let clash = (step.reads & writes) | (step.writes & (reads | writes));
                if clash != 0 {
                    let detail = format!("R{} is still in flight", clash.trailing_zeros());
                    return Err(Trap::new(Rule::Barrier, offset, detail));
                }
            }
        }
        let (reads, writes) = &mut self.pending[step.queue as usize];
        *reads |= step.reads;
        *writes |= step.writes;
        Ok(())
    }

    /// Lanes that an instruction acts on.
    fn lanes_of(&self, cf: &Cf) -> u64 {
        if cf.whole_quad {
            quads(self.active)
        } else if cf.valid_only {
            self.active & self.valid
        } else {
            self.active
        }
    }

    fn step(&mut self, step: &'a Step, at: u32, offset: u32) -> Result<u32, Trap> {
        if self.trace.is_some() {
            self.trace_step(step, offset);
        }
        match (&step.cf.body, &step.body) {
            (CfBody::Alu(alu), Body::Alu(groups)) => {
                let before = self.active;
                if needs_loop(alu.kind) {
                    self.innermost(offset)?;
                }
                if alu.kind == AluKind::PushBefore {
                    self.push(Frame::Branch { active: before }, offset)?;
                }
                let lanes = self.lanes_of(&step.cf);
                self.clause(groups, alu, lanes)?;
                let failed = before & !self.active;
                match alu.kind {
                    AluKind::Plain | AluKind::PushBefore => {}
                    AluKind::PopAfter => self.pop(1, offset)?,
                    AluKind::Pop2After => self.pop(2, offset)?,
                    AluKind::Continue => self.continued |= failed,
                    AluKind::Break => self.broken |= failed,
                    AluKind::ElseAfter => {
                        self.active = self.other_side(offset)?;
                    }
                }
                Ok(at + 1)
            }
            (CfBody::Export(export), _) => {
                let lanes = self.lanes_of(&step.cf);
                self.export(export, lanes, offset)?;
                Ok(at + 1)
            }
            (CfBody::Flow(flow), body) => {
                if let Body::Fetch(list) = body {
                    let lanes = self.lanes_of(&step.cf);
                    // What SET_CUBEMAP_INDEX sets does not outlive its clause.
                    self.cubemap = None;
                    for (fetch, offset) in list {
                        self.count(*offset)?;

                        self.fetch(fetch, lanes, *offset)?;
                        #[cfg(test)]
                        super::tests::executed::fetch(self.state.chip, fetch);
                    }
                    self.end_share_clause();
                    return Ok(at + 1);
                }
                self.flow(flow, &step.cf, at, offset)
            }
            (CfBody::Alu(_), _) => Ok(at + 1),
        }
    }

    /// What must hold when the program ends.
    fn end(&mut self, offset: u32) -> Result<(), Trap> {
        if !self.stack.is_empty() {
            let detail = format!("{} entries are still on the stack", self.stack.len());
            return Err(Trap::new(Rule::EndOfProgram, offset, detail));
        }
        let needed: &[usize] = match self.state.stage {
            Stage::Pixel => &[0],
            Stage::Vertex | Stage::Compute => &[1, 2],
            Stage::Export | Stage::Geometry => &[],
        };
        for &kind in needed {
            let name = ["pixel", "position", "parameter"][kind];
            if !self.exports.iter().any(|e| e.kind as usize == kind) {
                return Err(Trap::new(Rule::ExportMissing, offset, format!("no {name} export")));
            }
        }
        for (kind, name) in ["pixel", "position", "parameter"].iter().enumerate() {
            let exported = self.exports.iter().any(|e| e.kind as usize == kind);
            if exported && !self.done[kind] {
                let detail = format!("the last {name} export is not EXPORT_DONE");
                return Err(Trap::new(Rule::ExportDone, offset, detail));
            }
        }
        self.check_export_count(offset)
    }

    /// Marks an export type as done.
    pub fn finish(&mut self, kind: usize, done: bool, offset: u32) -> Result<(), Trap> {
        if self.done[kind] {
            let detail = "an export of a type follows its EXPORT_DONE";
            return Err(Trap::new(Rule::ExportDone, offset, detail));
        }
        self.done[kind] = done;
        Ok(())
    }

    fn trace_step(&mut self, step: &Step, offset: u32) {
        let what = match &step.cf.body {
            CfBody::Flow(flow) => format!("{:?} addr {} pop {}", flow.op, flow.addr, flow.pop),
            CfBody::Alu(alu) => format!("ALU {:?} addr {} slots {}", alu.kind, alu.addr, alu.count),
            CfBody::Export(export) => {
                format!("{:?} type {} base {} R{}", export.op, export.kind, export.base, export.gpr)
            }
        };
        let (number, active) = (self.number, self.active);
        let queue = if step.queue == Queue::Flow { "flow" } else { "clause" };
        if let Some(trace) = &mut self.trace {
            trace(&format!("wave {number} {offset:#06x} {queue} {what} active {active:016x}"));
        }
    }

    /// One traced value: the first four lanes that took part.
    pub fn trace_value(&mut self, offset: u32, name: &str, word: &Word, lanes: u64) {
        if let Some(trace) = &mut self.trace {
            let mut line = format!("        {offset:#06x} {name}");
            for lane in each(lanes).take(4) {
                if word.poison >> lane & 1 == 1 {
                    line.push_str(&format!(" {lane}:undefined"));
                } else {
                    let bits = word.v[lane];
                    line.push_str(&format!(" {lane}:{bits:08x}({:?})", f32::from_bits(bits)));
                }
            }
            trace(&line);
        }
    }
}
