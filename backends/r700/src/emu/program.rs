//! A program's bytes, decoded once: every control-flow instruction that can be reached, its clauses
//! gathered and checked, and which registers each clause reads and writes.

use super::decode::{
    AluInst, Cf, CfBody, Condition, ExportInst, ExportOp, Fetch, Flow, FlowInst, Goes, cf, fetch,
};
use super::group::{Group, Limits, clause, sel};
use super::ops::{AluOp, Effect};
use super::rule::{Rule, Trap};
use super::state::{Stage, State};
use crate::api::{Chip, Family};

/// Registers as a set of 128.
pub type Registers = u128;

/// What a clause does when it runs.
#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing beside control flow.
    None,
    /// Groups.
    Alu(Vec<Group>),
    /// Fetches with their byte offsets.
    Fetch(Vec<(Fetch, u32)>),
}

/// Which queue an instruction goes to: instructions of one queue stay in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Queue {
    Flow = 0,
    Alu = 1,
    Tex = 2,
    Vtx = 3,
    Export = 4,
}

/// A reachable control-flow instruction.
#[derive(Clone, Debug)]
pub struct Step {
    /// The instruction.
    pub cf: Cf,
    /// Its clause.
    pub body: Body,
    /// Registers read, for the check of BARRIER.
    pub reads: Registers,
    /// Registers written.
    pub writes: Registers,
    /// Its queue.
    pub queue: Queue,
}

/// A decoded program.
#[derive(Clone, Debug)]
pub struct Program {
    /// By quadword; `None` where control flow never comes.
    pub steps: Vec<Option<Step>>,
    /// What the state says of registers.
    pub limits: Limits,
}

/// Registers from `first` on, `count` of them.
fn range(first: u32, count: u32) -> Registers {
    (first..(first + count).min(128)).fold(0, |set, r| set | 1 << r)
}

impl Program {
    /// Decodes and checks a program for a state. `fetch_program` marks the one that CALL_FS runs.
    ///
    /// # Errors
    /// The first rule that the reachable code breaks.
    pub fn load(code: &[u8], state: &State, fetch_program: bool) -> Result<Program, Trap> {
        let words: Vec<u32> = code
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes(b.try_into().expect("chunks of four")))
            .collect();
        if code.is_empty() || !code.len().is_multiple_of(8) {
            let detail = format!("it has {} bytes", code.len());
            return Err(Trap::new(Rule::ProgramSize, 0, detail));
        }
        let (gprs, ..) = state.program_resources()?;
        let limits = Limits {
            gprs,
            first_temp: 128 - state.clause_temps(),
            prefer_vector: state.prefer_vector(),
            pixel: state.stage == Stage::Pixel,
            chip: state.chip,
        };
        let count = words.len() / 2;
        let loader = Loader { words: &words, limits, state, fetch_program };
        let mut steps: Vec<Option<Step>> = vec![None; count];
        let mut work = vec![0u32];
        while let Some(at) = work.pop() {
            let Some(place) = steps.get(at as usize) else {
                let detail = format!("quadword {at} of {count}");
                return Err(Trap::new(Rule::FallsOff, at.saturating_mul(8), detail));
            };
            if place.is_some() {
                continue;
            }
            let step = loader.step(at)?;
            let offset = at * 8;
            if let CfBody::Flow(flow) = step.cf.body {
                let tests_constant = matches!(flow.condition, Condition::Bool | Condition::NotBool);
                if tests_constant && state.bool_constants.is_none() {
                    let detail = "SQ_BOOL_CONST is not programmed";
                    return Err(Trap::new(Rule::State, offset, detail));
                }
                if let Some(target) = jump_target(&flow) {
                    if target as usize >= count {
                        let detail = format!("quadword {target} of {count}");
                        return Err(Trap::new(Rule::Address, offset, detail));
                    }
                    work.push(target);
                }
                // RETURN on the active mask alone always returns.
                let returns = flow.op == Flow::Return && flow.condition == Condition::Active;
                let ends = step.cf.end || (returns && !step.cf.valid_only);
                if !ends {
                    work.push(at + 1);
                }
            } else if !step.cf.end {
                work.push(at + 1);
            }
            steps[at as usize] = Some(step);
        }
        check_loop_index(&steps)?;
        Ok(Program { steps, limits })
    }
}

/// Behind a write by index some chips want a group that does nothing in any slot from x to w.
fn check_rests(groups: &[Group], chip: Chip) -> Result<(), Trap> {
    let hurried = groups.windows(2).find(|pair| {
        let [vector @ .., trans] = &pair[1].slots;
        let idle = |slot: &Option<AluInst>| slot.as_ref().is_some_and(|inst| inst.op == AluOp::NOP);
        pair[0].slots.iter().flatten().any(|inst| inst.dst_rel)
            && !(vector.iter().all(idle) && (trans.is_none() || idle(trans)))
    });
    match hurried.filter(|_| super::chip::facts(chip).rests) {
        Some(pair) => {
            Err(Trap::new(Rule::IndexRest, pair[1].offset, "the group before writes by index"))
        }
        None => Ok(()),
    }
}

/// Only LOOP_START gives the loop index a value: without one, no fetch and no export adds it.
fn check_loop_index(steps: &[Option<Step>]) -> Result<(), Trap> {
    let counts =
        |step: &Step| matches!(&step.cf.body, CfBody::Flow(flow) if flow.op == Flow::LoopStart);
    if steps.iter().flatten().any(counts) {
        return Ok(());
    }
    let trap = |offset: u32| {
        let detail = "the loop index is added to a register, but nothing gives it a value";
        Err(Trap::new(Rule::IndexLoaded, offset, detail))
    };
    for (at, step) in steps.iter().enumerate() {
        let Some(step) = step else { continue };
        if matches!(&step.cf.body, CfBody::Export(export) if export.rel) {
            return trap(at as u32 * 8);
        }
        let Body::Fetch(fetches) = &step.body else {
            continue;
        };
        for (fetch, offset) in fetches {
            let adds = match fetch {
                Fetch::Vertex(v) => v.src_rel || v.dst_rel,
                Fetch::Texture(t) => t.src_rel || t.dst_rel,
                Fetch::Memory(m) => m.src_rel || m.dst_rel,
                Fetch::ShareWrite(s) => s.rel == 1,
                Fetch::ShareRead(s) => s.rel == 1 || s.dst_rel == 1,
            };
            if adds {
                return trap(*offset);
            }
        }
    }
    Ok(())
}

/// Where a control-flow instruction may go beside the next one.
fn jump_target(flow: &FlowInst) -> Option<u32> {
    (flow.op.goes() == Goes::To).then_some(flow.addr)
}

struct Loader<'a> {
    words: &'a [u32],
    limits: Limits,
    state: &'a State,
    fetch_program: bool,
}

impl Loader<'_> {
    fn step(&self, at: u32) -> Result<Step, Trap> {
        let offset = at * 8;
        let i = at as usize * 2;
        let cf = cf(self.words[i], self.words[i + 1], offset, self.family())?;
        let mut step = Step { cf, body: Body::None, reads: 0, writes: 0, queue: Queue::Flow };
        match &cf.body {
            CfBody::Alu(alu) => {
                self.inside(alu.addr, alu.count, offset)?;
                let groups = clause(self.words, alu, &self.limits)?;
                check_rests(&groups, self.limits.chip)?;
                (step.reads, step.writes) = alu_registers(&groups, self.limits.gprs);
                step.queue = Queue::Alu;
                step.body = Body::Alu(groups);
            }
            CfBody::Flow(flow) => self.flow(flow, &mut step, offset)?,
            CfBody::Export(export) => {
                self.export(export, offset)?;
                let mut data = range(export.gpr, export.burst);
                if export.rel {
                    data = range(0, self.limits.gprs);
                }
                if self.reads_memory(export) {
                    step.writes = data;
                } else {
                    step.reads = data;
                }
                if memory_indexed(export) {
                    step.reads |= 1 << export.index_gpr;
                }
                step.queue = Queue::Export;
            }
        }
        Ok(step)
    }

    fn family(&self) -> Family {
        self.state.chip.family()
    }

    /// R6xx reads scratch and reduction buffers by TYPE 2 and 3. Guide 4, CF_ALLOC_EXPORT_WORD0.
    fn reads_memory(&self, export: &ExportInst) -> bool {
        self.family() == Family::R600
            && export.kind > 1
            && !matches!(export.op, ExportOp::Export | ExportOp::ExportDone)
    }

    fn inside(&self, addr: u32, quadwords: u32, offset: u32) -> Result<(), Trap> {
        let end = u64::from(addr) + u64::from(quadwords);
        if end > self.words.len() as u64 / 2 {
            let detail = format!("a clause from quadword {addr} to {end}");
            return Err(Trap::new(Rule::Address, offset, detail));
        }
        Ok(())
    }

    fn flow(&self, flow: &FlowInst, step: &mut Step, offset: u32) -> Result<(), Trap> {
        let trap = |rule: Rule, detail: &str| Err(Trap::new(rule, offset, detail));
        // Errata 5: on POP it is not valid either.
        if step.cf.end && (flow.op.goes() != Goes::On || flow.op == Flow::Pop) {
            return trap(Rule::EndOfProgram, "on an instruction that cannot be the last");
        }
        match flow.op {
            Flow::Tex | Flow::Vtx | Flow::VtxTc => {
                if flow.condition != Condition::Active {
                    return trap(Rule::Condition, "COND is not ACTIVE");
                }
                if flow.op == Flow::Vtx && !super::chip::facts(self.state.chip).vertex_cache {
                    return trap(Rule::Stage, "this chip has no vertex cache: VTX_TC fetches");
                }
                self.fetches(flow, step, offset)?;
            }
            Flow::EmitVertex | Flow::EmitCutVertex | Flow::CutVertex => {
                if self.state.stage != Stage::Geometry {
                    return trap(Rule::Stage, "geometry programs emit vertices");
                }
                if flow.condition != Condition::Active {
                    return trap(Rule::Condition, "COND is not ACTIVE");
                }
            }
            Flow::Kill => {
                if self.state.stage != Stage::Pixel {
                    return trap(Rule::Stage, "KILL kills pixels");
                }
                if flow.condition != Condition::Active {
                    return trap(Rule::Condition, "COND is not ACTIVE");
                }
            }
            Flow::Call | Flow::CallFs => {
                if flow.pop != 0 {
                    return trap(Rule::CallPop, "POP_COUNT is set");
                }
                if flow.op == Flow::CallFs
                    && (!matches!(self.state.stage, Stage::Vertex | Stage::Export)
                        || self.fetch_program)
                {
                    return trap(Rule::Stage, "vertex programs call a fetch program");
                }
            }
            Flow::Nop
            | Flow::LoopStart
            | Flow::LoopEnd
            | Flow::LoopStartDx10
            | Flow::LoopStartNoAl
            | Flow::LoopContinue
            | Flow::LoopBreak
            | Flow::Jump
            | Flow::Push
            | Flow::PushElse
            | Flow::PopPushElse
            | Flow::Else
            | Flow::Pop
            | Flow::PopJump
            | Flow::PopPush
            | Flow::Return
            | Flow::WaitAck => {}
        }
        Ok(())
    }

    fn fetches(&self, flow: &FlowInst, step: &mut Step, offset: u32) -> Result<(), Trap> {
        if !flow.addr.is_multiple_of(2) {
            let detail = format!("a fetch clause at quadword {}", flow.addr);
            return Err(Trap::new(Rule::Alignment, offset, detail));
        }
        // RG 5: COUNT and COUNT_3 together give 16; RG 4 has no COUNT_3.
        let limit = match self.family() {
            Family::R600 => 8,
            Family::R700 => 16,
        };
        if flow.count > limit {
            return Err(Trap::new(Rule::ClauseLimit, offset, format!("{} fetches", flow.count)));
        }
        self.inside(flow.addr, flow.count * 2, offset)?;
        let texture = flow.op == Flow::Tex;
        step.queue = if texture { Queue::Tex } else { Queue::Vtx };
        let mut list = Vec::with_capacity(flow.count as usize);
        let mut loaded: Registers = 0;
        let mut mega = 0u32;
        let mut gradients: [Option<(u32, u32)>; 2] = [None; 2];
        let mut first: Option<u32> = None;
        for n in 0..flow.count {
            let at = flow.addr + 2 * n;
            let i = at as usize * 2;
            let here = at * 8;
            let words = [self.words[i], self.words[i + 1], self.words[i + 2], self.words[i + 3]];
            let mut inst = fetch(words, texture, here, self.family())?;
            if let Fetch::Vertex(v) = &mut inst
                && let Some(id) = v.semantic
            {
                v.dst = self.state.semantic_register(id).ok_or_else(|| {
                    let detail = format!("no SQ_VTX_SEMANTIC_n has {id}");
                    Trap::new(Rule::State, here, detail)
                })?;
            }
            let kind = match inst {
                Fetch::Vertex(_) => 0,
                Fetch::Texture(_) => 1,
                Fetch::Memory(_) => 2,
                Fetch::ShareWrite(_) | Fetch::ShareRead(_) => 3,
            };
            let starts = if texture { kind == 1 || kind == 3 } else { kind == 0 || kind == 2 };
            if !starts || first.is_some_and(|first| first != kind) {
                return Err(Trap::new(Rule::MixedClause, here, "another kind of fetch"));
            }
            first = Some(kind);
            let (reads, writes) = self.fetch_registers(&inst, here)?;
            let chained = reads & loaded != 0 && kind < 2;
            if chained {
                let register = (reads & loaded).trailing_zeros();
                return Err(Trap::new(Rule::FetchChain, here, format!("R{register}")));
            }
            loaded |= writes;
            step.reads |= reads;
            step.writes |= writes;
            match &inst {
                Fetch::Vertex(v) => {
                    if v.mega {
                        mega = v.mega_bytes;
                    } else if mega == 0 {
                        let detail = "no mega-fetch before it in the clause";
                        return Err(Trap::new(Rule::MegaFetch, here, detail));
                    }
                }
                Fetch::Texture(t) => {
                    let key = Some((t.resource, t.sampler));
                    match t.op {
                        11 => gradients[0] = key,
                        12 => gradients[1] = key,
                        10 => gradients = [key; 2],
                        20 | 28 if gradients != [key; 2] => {
                            let detail = "SET_GRADIENTS_H and _V do not precede it";
                            return Err(Trap::new(Rule::Gradients, here, detail));
                        }
                        _ => {}
                    }
                }
                Fetch::Memory(m) => {
                    let bursts = !matches!(self.state.chip, Chip::Rv770 | Chip::Rv790);
                    if m.burst > 1 && !bursts {
                        let detail = "this chip reads one element at a time";
                        return Err(Trap::new(Rule::MemoryBurst, here, detail));
                    }
                }
                Fetch::ShareWrite(_) | Fetch::ShareRead(_) => {}
            }
            list.push((inst, here));
        }
        step.body = Body::Fetch(list);
        Ok(())
    }

    /// Declared registers that a fetch reads and writes; an error for others.
    fn fetch_registers(&self, inst: &Fetch, offset: u32) -> Result<(Registers, Registers), Trap> {
        let all = range(0, self.limits.gprs);
        let check = |first: u32, count: u32, what: &str| {
            let last = first + count - 1;
            if last >= self.limits.gprs {
                let rule =
                    if self.limits.is_temp(first) { Rule::ClauseTemp } else { Rule::UndeclaredGpr };
                return Err(Trap::new(rule, offset, format!("a fetch {what} R{last}")));
            }
            Ok(range(first, count))
        };
        let src = |first: u32, count: u32, rel: bool| {
            let set = check(first, count, "reads")?;
            Ok(if rel { all } else { set })
        };
        let dst = |first: u32, count: u32, rel: bool, swizzle: &[u32; 4]| {
            if swizzle == &[7; 4] {
                return Ok(0);
            }
            let set = check(first, count, "writes")?;
            Ok(if rel { all } else { set })
        };
        Ok(match inst {
            Fetch::Vertex(v) => {
                (src(v.src.0, 1, v.src_rel)?, dst(v.dst, 1, v.dst_rel, &v.swizzle)?)
            }
            Fetch::Texture(t) => {
                let reads = if t.src_swizzle.iter().all(|&s| s > 3) {
                    0
                } else {
                    src(t.src, 1, t.src_rel)?
                };
                let writes = match t.op {
                    11 | 12 | 14 => 0,
                    _ => dst(t.dst, 1, t.dst_rel, &t.swizzle)?,
                };
                (reads, writes)
            }
            Fetch::Memory(m) => {
                let reads = if m.indexed { src(m.src.0, 1, m.src_rel)? } else { 0 };
                (reads, dst(m.dst, m.burst, m.dst_rel, &m.swizzle)?)
            }
            Fetch::ShareWrite(s) => (src(s.src, s.burst, s.rel == 1)?, 0),
            Fetch::ShareRead(s) => {
                let masked = if s.mask == 0 { [7; 4] } else { [0; 4] };
                let reads =
                    if s.swizzle.iter().all(|&x| x > 3) { 0 } else { src(s.src, 1, s.rel == 1)? };
                (reads, dst(s.dst, s.burst, s.dst_rel == 1, &masked)?)
            }
        })
    }

    fn export(&self, export: &ExportInst, offset: u32) -> Result<(), Trap> {
        let trap = |rule: Rule, detail: String| Err(Trap::new(rule, offset, detail));
        let last = export.gpr + export.burst - 1;
        let reads_data = match export.op {
            ExportOp::Export | ExportOp::ExportDone => export.swizzle.iter().any(|&s| s < 4),
            _ => true,
        };
        if reads_data && last >= self.limits.gprs {
            let rule = if self.limits.is_temp(export.gpr) {
                Rule::ClauseTemp
            } else {
                Rule::UndeclaredGpr
            };
            return trap(rule, format!("an export reads R{last}"));
        }
        if memory_indexed(export) && export.index_gpr >= self.limits.gprs {
            let detail = format!("an export's address is R{}", export.index_gpr);
            return trap(Rule::UndeclaredGpr, detail);
        }
        if self.fetch_program {
            return trap(Rule::Stage, "a fetch program exports nothing".into());
        }
        match export.op {
            ExportOp::Export | ExportOp::ExportDone => {
                let last = export.base + export.burst - 1;
                let (first_legal, last_legal) = match (export.kind, self.state.stage) {
                    (0, Stage::Pixel) if export.base == 61 => (61, 61),
                    (0, Stage::Pixel) => (0, 7),
                    (1, Stage::Vertex | Stage::Compute) => (60, 63),
                    (2, Stage::Vertex | Stage::Compute) => (0, 31),
                    (kind, _) => {
                        let detail = format!("export type {kind}");
                        return trap(Rule::ExportBase, detail);
                    }
                };
                if export.base < first_legal || last > last_legal {
                    let detail = format!("places {} to {last}", export.base);
                    return trap(Rule::ExportBase, detail);
                }
            }
            ExportOp::Stream(_) | ExportOp::Ring if self.reads_memory(export) => {
                return trap(Rule::Opcode, "streams and rings are written".into());
            }
            ExportOp::Scratch => {
                if export.elem_size != 3 {
                    let detail = format!("scratch elements of {} dwords", export.elem_size + 1);
                    return trap(Rule::ElementSize, detail);
                }
            }
            ExportOp::MemExport => {
                if export.elem_size == 2 {
                    return trap(Rule::ElementSize, "elements of three dwords".into());
                }
                if export.array_size != 0 {
                    let detail = format!("ARRAY_SIZE is {}", export.array_size);
                    return trap(Rule::ElementSize, detail);
                }
                if export.kind & 1 == 0 {
                    let detail = "a scatter write without an address".to_string();
                    return trap(Rule::Unsupported, detail);
                }
            }
            ExportOp::Reduction => {
                if export.elem_size != 3 {
                    let detail = format!("reduction elements of {} dwords", export.elem_size + 1);
                    return trap(Rule::ElementSize, detail);
                }
            }
            ExportOp::Stream(_) | ExportOp::Ring => {
                let stream = matches!(export.op, ExportOp::Stream(_));
                let legal = match self.state.stage {
                    Stage::Vertex => stream,
                    Stage::Export | Stage::Geometry => !stream,
                    Stage::Pixel | Stage::Compute => false,
                };
                if !legal {
                    let detail = "vertex programs stream, those around geometry write rings";
                    return trap(Rule::Stage, detail.into());
                }
                let elements = export.elem_size + 1;
                if elements == 3 || export.mask >> elements != 0 || export.mask == 0 {
                    let detail = format!("mask {:#x} for {elements} dwords", export.mask);
                    return trap(Rule::ElementSize, detail);
                }
            }
        }
        Ok(())
    }
}

/// True for memory writes that add a register to the address.
pub fn memory_indexed(export: &ExportInst) -> bool {
    match export.op {
        ExportOp::Export | ExportOp::ExportDone => false,
        ExportOp::Stream(_)
        | ExportOp::Scratch
        | ExportOp::Reduction
        | ExportOp::Ring
        | ExportOp::MemExport => export.kind & 1 == 1,
    }
}

/// Registers below NUM_GPRS that a clause reads and writes.
fn alu_registers(groups: &[Group], gprs: u32) -> (Registers, Registers) {
    let all = range(0, gprs);
    let (mut reads, mut writes) = (0, 0);
    for inst in groups.iter().flat_map(|g| g.slots.iter().flatten()) {
        for source in &inst.src[..inst.op.sources()] {
            if source.sel < sel::KCACHE0 {
                reads |= if source.rel { all } else { 1 << source.sel };
            }
        }
        let lands = inst.write && inst.op != AluOp::NOP && inst.op.effect() != Effect::Mova;
        if lands {
            writes |= if inst.dst_rel { all } else { 1 << inst.dst };
        }
    }
    (reads & all, writes & all)
}
