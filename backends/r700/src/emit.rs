//! Turns an allocated machine function into a program: first a [`Draft`] of runs of ALU work, fetch clauses, marks of
//! control flow as CF instructions, and the stack size; when the runs are packed into clauses, addresses and words.
//!
//! R700 ISA 2.3 (layout), 3.3 to 3.7 (clauses, exports, control flow), 3.6.5 (stack).

mod alu;
mod control;
mod draft;
mod layout;
mod words;

use crate::api::{Chip, Failure, Family, STACK_ENTRY, Stats};
use crate::group::Item;
use crate::inst::{Inst, Lane, MemRead, Space, Texture};
use crate::isa::{self, CfOp, FetchOp, f};
use crate::live::{Cells, Live};
use crate::op;
use crate::slot::{Dst, Read, cell};
use control::Frame;
pub use draft::Draft;
use draft::{Jump, Run};
use gpucc_ir::mach::{Cell, Func, Inst as _, Reg};
use gpucc_ir::ssa::Span;
use smallvec::SmallVec;

/// The bytes of a program and what was counted on the way.
pub struct Emitted {
    /// Little-endian dwords.
    pub words: Vec<u32>,
    /// The program as the ISA layer has it.
    pub program: isa::Program,
    /// Byte offset to source position, ascending.
    pub lines: Vec<(u32, Span)>,
    /// One past the highest register that the program names.
    pub gprs: u32,
    /// Stack entries.
    pub stack: u32,
    /// Figures of the code alone.
    pub stats: Stats,
    /// Has KILL instructions.
    pub kills: bool,
    /// Writes memory other than scratch.
    pub writes_memory: bool,
    /// Groups that any schedule of each run has, summed.
    pub least_groups: u32,
}

/// What steers emission.
#[derive(Copy, Clone, Debug)]
pub struct Config {
    /// The chip: its instruction set, stack entries and caches.
    pub chip: Chip,
    /// Memory writes of helper pixels must be dropped.
    pub pixel: bool,
    /// Starts with CALL_FS.
    pub fetch_shader: bool,
    /// Spends time on schedules.
    pub search: bool,
}

impl Config {
    /// The instruction set.
    pub fn isa(&self) -> &'static isa::Isa {
        self.chip.family().isa()
    }
}

/// Most instructions of a fetch clause. Register guide 5, CF_WORD1.COUNT and COUNT_3; 4, CF_WORD1.COUNT.
const fn fetch_limit(family: Family) -> usize {
    match family {
        Family::R600 => 8,
        Family::R700 => 16,
    }
}

#[derive(Clone)]
enum Entry {
    /// An instruction without a clause.
    Plain(isa::Inst),
    /// A run of ALU work: index into the runs, and the instruction of its last clause.
    Run(usize, CfOp),
    /// The end of an `if`, which a clause before it may take over.
    Pop,
    /// A fetch clause: index into the fetch clauses, and its instruction.
    Fetch(usize, CfOp),
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum FetchKind {
    Vertex,
    Texture,
    Memory,
    ShareWrite,
    ShareRead,
}

/// An export that waits: its instruction, the cells that it reads, where it comes from.
type Waiting = (isa::Inst, SmallVec<[u16; 4]>, Span);

struct Emitter<'a> {
    config: &'a Config,
    entries: Vec<(Entry, Span)>,
    runs: Vec<Run>,
    jumps: Vec<Jump>,
    fetches: Vec<(Vec<isa::Inst>, Vec<Span>)>,
    pending: Vec<Item>,
    /// What the last MOVA among them read, and where it stands.
    address: Option<(Read, usize)>,
    /// Exports that wait for ALU work behind them which can as well come before them: the cells
    /// that each reads.
    exports: Vec<Waiting>,
    fetch: Vec<(isa::Inst, Span)>,
    fetch_kind: FetchKind,
    /// Registers that the open fetch clause has written.
    fetched: [bool; 128],
    frames: Vec<Frame>,
    /// Writes may be on their way.
    unacknowledged: bool,
    any_write: bool,
    /// R6xx: where scratch reads land, the register after all others.
    landing: u8,
    gprs: u32,
    /// What matters behind the ALU work that is added last.
    live: Cells,
    pushes: u32,
    loops: u32,
    stack: u32,
    stats: Stats,
    writes_memory: bool,
}

fn broken(message: impl Into<String>) -> Failure {
    Failure::Internal { pass: "clauses", message: message.into() }
}

const fn parts(cell: Cell) -> (u8, u8) {
    (cell.row(4) as u8, cell.phase(4))
}

/// The draft of a function whose registers are all physical.
///
/// # Errors
/// [`Failure::Internal`] when the function is not well formed.
pub fn draft(func: &Func<Inst>, config: &Config) -> Result<Draft, Failure> {
    let any_write = func.layout.iter().any(|&block| {
        func.blocks[block].nodes.iter().any(
            |node| matches!(&node.inst, Inst::MemWrite(w) if !matches!(w.space, Space::Stream(_))),
        )
    });
    let mut e = Emitter {
        config,
        entries: Vec::new(),
        runs: Vec::new(),
        jumps: Vec::new(),
        fetches: Vec::new(),
        pending: Vec::new(),
        address: None,
        exports: Vec::new(),
        fetch: Vec::new(),
        fetch_kind: FetchKind::Vertex,
        fetched: [false; 128],
        frames: Vec::new(),
        unacknowledged: false,
        any_write: any_write && config.chip.family() == Family::R700,
        landing: rows(func),
        gprs: 1,
        live: Cells::ALL,
        pushes: 0,
        loops: 0,
        stack: 0,
        stats: Stats::default(),
        writes_memory: false,
    };
    if config.fetch_shader {
        e.plain(isa::Inst::new(e.isa().cf_op(CfOp::CALL_FS)), Span::NONE);
        e.stack = config.chip.call_elements().div_ceil(STACK_ENTRY);
    }
    let live = Live::of(func);
    for &block in &func.layout {
        for (number, node) in func.blocks[block].nodes.iter().enumerate() {
            e.live = live.at(block, number);
            e.node(&node.inst, node.span)?;
        }
        e.live = live.behind(block);
        e.flush_alu();
    }
    e.live = Cells::NONE;
    e.flush();
    if !e.frames.is_empty() {
        return Err(broken("control flow is open at the end"));
    }
    Ok(Draft {
        config: *config,
        entries: e.entries,
        runs: e.runs,
        jumps: e.jumps,
        fetches: e.fetches,
        landing: e.landing,
        gprs: e.gprs,
        stack: e.stack,
        stats: e.stats,
        writes_memory: e.writes_memory,
    })
}

impl Emitter<'_> {
    fn isa(&self) -> &'static isa::Isa {
        self.config.isa()
    }

    fn reg(&mut self, reg: Reg) -> (u8, u8) {
        let (gpr, chan) = parts(reg.cell());
        self.gprs = self.gprs.max(u32::from(gpr) + 1);
        (gpr, chan)
    }

    /// The instruction overwrites what an export that waits reads, or is no ALU work.
    fn ends_exports(&self, inst: &Inst) -> bool {
        let alu = match inst {
            Inst::Alu(alu) => !op::is_kill(alu.op),
            Inst::Dot { .. } | Inst::Cube { .. } | Inst::Double(_) | Inst::Copy { .. } => true,
            _ => false,
        };
        let mut clobbers = false;
        inst.operands(&mut |operand| {
            let cell = operand.reg.cell().index;
            let mut reads = self.exports.iter().flat_map(|(_, cells, _)| cells);
            clobbers |= operand.role.is_def() && reads.any(|&read| read == cell);
        });
        !matches!(inst, Inst::Export(_)) && (!alu || clobbers)
    }

    fn node(&mut self, inst: &Inst, span: Span) -> Result<(), Failure> {
        if !self.exports.is_empty() && self.ends_exports(inst) {
            self.flush();
        }
        match inst {
            Inst::Entry(list) => {
                for (reg, _) in list {
                    self.reg(*reg);
                }
            }
            Inst::ArrayNew { array } => {
                self.reg(*array);
            }
            Inst::Alu(alu) => self.alu(alu, span),
            Inst::Dot { dst, src, clamp } => self.dot(*dst, src, *clamp, span),
            Inst::Cube { dst, src } => self.cube(*dst, *src, span),
            Inst::Double(double) => self.double(double, span),
            Inst::Copy { dst, src } => self.copy(dst, src, span),
            Inst::ArrayRead { dst, from } => self.array_read(*dst, from, span),
            Inst::ArrayWrite { to, value, .. } => self.array_write(to, value, span),
            Inst::Vertex(fetch) => {
                let inst = self.vertex(fetch);
                let index = row_of(fetch.index);
                let row = first_row(&fetch.dst);
                self.push_fetch(FetchKind::Vertex, [inst], &[index], row, span);
            }
            Inst::Texture(fetch) => self.texture_fetch(fetch, span),
            Inst::MemRead(read) => {
                if self.any_write {
                    self.wait(span);
                }
                if self.config.chip.family() == Family::R600 {
                    return self.scratch_read_by_cf(read, span);
                }
                let inst = self.mem_read(read);
                let index = read.index.map(row_of);
                self.push_fetch(
                    FetchKind::Memory,
                    [inst],
                    index.as_slice(),
                    first_row(&read.dst),
                    span,
                );
                if read.slot.is_some() {
                    self.stats.fills += 1;
                }
            }
            Inst::MemWrite(write) => {
                let inst = self.mem_write(write);
                self.flush();
                self.plain(inst, span);
                // R6xx has no acknowledgements: BARRIER waits for what came before.
                self.unacknowledged |= self.config.chip.family() == Family::R700
                    && !matches!(write.space, Space::Stream(_));
                if write.slot.is_some() {
                    self.stats.spills += 1;
                }
            }
            Inst::ShareWrite(write) => {
                let inst = self.share_write(write);
                let source = registers(&write.src).next().map(row_of);
                self.push_fetch(FetchKind::ShareWrite, [inst], source.as_slice(), None, span);
            }
            // What the group wrote is there in the next clause: R700 ISA 2.6.2 asks for a barrier between.
            Inst::ShareRead(read) => {
                let inst = self.share_read(read);
                let index = row_of(read.bank);
                let row = first_row(&read.dst);
                self.push_fetch(FetchKind::ShareRead, [inst], &[index], row, span);
            }
            Inst::WaitAck => self.wait(span),
            Inst::Export(export) => {
                self.stats.exports += 1;
                let inst = self.export(export);
                self.flush_fetch();
                let cells = registers(&export.src).map(|reg| reg.cell().index);
                self.exports.push((inst, cells.collect(), span));
            }
            Inst::If(alu) => self.if_start(alu, span)?,
            Inst::Else => self.if_else(span)?,
            Inst::EndIf => self.if_end(span)?,
            Inst::LoopStart => self.loop_start(span)?,
            Inst::LoopEnd => self.loop_end(span)?,
            Inst::Break => self.loop_break(span)?,
            Inst::End => self.flush(),
        }
        Ok(())
    }

    /// A texture instruction, behind the gradients that it takes.
    fn texture_fetch(&mut self, fetch: &Texture, span: Span) {
        let mut insts = Vec::with_capacity(3);
        let mut sources = Vec::with_capacity(3);
        let mut reads = |src: &[Lane; 4]| sources.extend(registers(src).next().map(row_of));
        if let Some(gradients) = &fetch.gradients {
            let ops = [FetchOp::SET_GRADIENTS_H, FetchOp::SET_GRADIENTS_V];
            for (op, src) in ops.into_iter().zip(**gradients) {
                reads(&src);
                insts.push(self.texture(&Texture {
                    op,
                    src,
                    dst: [None; 4],
                    offset: [0; 3],
                    gradients: None,
                    ..*fetch
                }));
            }
        }
        reads(&fetch.src);
        insts.push(self.texture(fetch));
        let row = first_row(&fetch.dst);
        self.push_fetch(FetchKind::Texture, insts, &sources, row, span);
    }

    fn plain(&mut self, inst: isa::Inst, span: Span) {
        if inst.op().has(isa::ops::flag::WRITES_MEMORY) {
            self.stats.memory_rows += inst.get(f::BURST_COUNT) + 1;
        }
        self.entries.push((Entry::Plain(inst.with(f::BARRIER, 1)), span));
    }

    fn wait(&mut self, span: Span) {
        if self.unacknowledged {
            self.flush();
            // ADDR is the number of writes that may still be on their way.
            self.plain(isa::Inst::new(self.isa().cf_op(CfOp::WAIT_ACK)), span);
            self.unacknowledged = false;
        }
    }

    fn flush(&mut self) {
        self.flush_fetch();
        self.flush_alu();
        for (inst, _, span) in std::mem::take(&mut self.exports) {
            self.plain(inst, span);
        }
    }

    fn flush_alu(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let items = std::mem::take(&mut self.pending);
        self.address = None;
        let mut live = self.live;
        for (_, cells, _) in &self.exports {
            for &cell in cells {
                live.insert(cell);
            }
        }
        // The index of a scratch read may stand there: see `scratch_read_by_cf`.
        if self.config.chip.family() == Family::R600 {
            live.insert(cell(self.landing, 0));
        }
        let span = items[0].span;
        self.entries.push((Entry::Run(self.runs.len(), CfOp::ALU), span));
        self.runs.push(Run { items, live, clauses: None, least: 0 });
    }

    fn flush_fetch(&mut self) {
        if self.fetch.is_empty() {
            return;
        }
        let (insts, spans): (Vec<_>, Vec<_>) = std::mem::take(&mut self.fetch).into_iter().unzip();
        let op = match self.fetch_kind {
            FetchKind::Texture | FetchKind::ShareWrite | FetchKind::ShareRead => {
                self.stats.tex_clauses += 1;
                self.stats.tex_instructions += insts.len() as u32;
                CfOp::TEX
            }
            FetchKind::Vertex | FetchKind::Memory => {
                self.stats.vtx_clauses += 1;
                self.stats.vtx_instructions += insts.len() as u32;
                if self.config.chip.has_vertex_cache() { CfOp::VTX } else { CfOp::VTX_TC }
            }
        };
        let span = spans[0];
        self.entries.push((Entry::Fetch(self.fetches.len(), op), span));
        self.fetches.push((insts, spans));
        self.fetched = [false; 128];
    }

    /// Adds instructions that stay together in one clause.
    fn push_fetch(
        &mut self,
        kind: FetchKind,
        insts: impl IntoIterator<Item = isa::Inst, IntoIter: ExactSizeIterator>,
        sources: &[u8],
        row: Option<u8>,
        span: Span,
    ) {
        self.flush_alu();
        // An address that an earlier fetch of the clause brings is not there yet. R700 ISA 3.3.
        let depends = sources.iter().any(|&gpr| self.fetched[usize::from(gpr)]);
        let insts = insts.into_iter();
        let full = self.fetch.len() + insts.len() > fetch_limit(self.config.chip.family());
        if self.fetch_kind != kind || depends || full {
            self.flush_fetch();
        }
        self.fetch_kind = kind;
        if let Some(row) = row {
            self.fetched[usize::from(row)] = true;
        }
        self.fetch.extend(insts.map(|inst| (inst, span)));
    }

    /// Scratch is read by the instruction that writes it, a whole register at a time (guide 4, CF_ALLOC_EXPORT_WORD0): into
    /// a register of its own, from which moves take what is wanted. The index stands in channel x.
    fn scratch_read_by_cf(&mut self, read: &MemRead, span: Span) -> Result<(), Failure> {
        if read.space != Space::Scratch {
            return Err(broken("R6xx has no memory but scratch"));
        }
        let landing = self.landing;
        self.gprs = self.gprs.max(u32::from(landing) + 1);
        let mut inst = isa::Inst::new(self.isa().cf_op(CfOp::MEM_SCRATCH))
            .with(f::TYPE, 2 + u32::from(read.index.is_some()))
            .with(f::ARRAY_BASE, read.base.into())
            .with(f::ARRAY_SIZE, read.size.into())
            .with(f::ELEM_SIZE, 3)
            .with(f::RW_GPR, landing.into());
        if let Some(index) = read.index {
            let (mut gpr, chan) = self.reg(index);
            if chan != 0 {
                self.flush_fetch();
                self.mov(Dst::gpr(landing, 0), Read::gpr(gpr, chan), span);
                gpr = landing;
            }
            inst = inst.with(f::INDEX_GPR, gpr.into());
        }
        self.flush();
        self.plain(inst, span);
        for (reg, &chan) in read.dst.iter().zip(&read.select) {
            let Some(reg) = reg else { continue };
            let (gpr, to) = self.reg(*reg);
            self.mov(Dst::gpr(gpr, to), Read::gpr(landing, chan), span);
        }
        if read.slot.is_some() {
            self.stats.fills += 1;
        }
        Ok(())
    }
}

/// One past the highest row that the function names.
fn rows(func: &Func<Inst>) -> u8 {
    let mut rows = 0;
    for &block in &func.layout {
        for node in &func.blocks[block].nodes {
            node.inst.operands(&mut |operand| {
                let cell = operand.reg.cell();
                rows = rows.max(parts(cell).0 + 1);
            });
            if let Inst::ArrayRead { from: indexed, .. } | Inst::ArrayWrite { to: indexed, .. } =
                &node.inst
            {
                let (gpr, _) = parts(indexed.array.cell());
                rows = rows.max(gpr + indexed.count as u8);
            }
        }
    }
    rows
}

/// The row of a register.
fn row_of(reg: Reg) -> u8 {
    parts(reg.cell()).0
}

/// The row that a fetch writes.
fn first_row(dst: &[Option<Reg>; 4]) -> Option<u8> {
    dst.iter().flatten().next().map(|&reg| row_of(reg))
}

/// The registers among lanes.
fn registers(lanes: &[Lane; 4]) -> impl Iterator<Item = Reg> {
    lanes.iter().filter_map(|lane| match lane {
        Lane::Reg(reg) => Some(*reg),
        Lane::Zero | Lane::One | Lane::Masked => None,
    })
}
