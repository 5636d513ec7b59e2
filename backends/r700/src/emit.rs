//! Turns an allocated machine function into a program: ALU runs into clauses, fetches into fetch
//! clauses, marks of control flow into CF instructions with their addresses, and the stack size.
//!
//! R700 ISA 2.3 (layout), 3.3 to 3.7 (clauses, exports, control flow), 3.6.5 (stack).

use crate::api::{Chip, Failure, Family, Stats};
use crate::group::{self, Clause, Item, Work};
use crate::inst::{
    Alu, Export, ExportType, Indexed, Inst, Lane, MemRead, MemWrite, ShareRead, ShareWrite, Source,
    Space, Src, Texture, Vertex,
};
use crate::isa::{self, AluOp, CfOp, FetchOp, f};
use crate::legal::Group;
use crate::live::{Cells, Live};
use crate::op;
use crate::slot::{Dst, Operand, Read, Slot};
use crate::{cost, retarget, temporaries};
use gpucc_ir::mach::{Cell, Func, Inst as _, Reg};
use gpucc_ir::ssa::Span;
use gpucc_isa::FieldId;
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

/// Most instructions of a fetch clause. Register guide 5, CF_WORD1.COUNT and COUNT_3; 4, CF_WORD1.COUNT.
const fn fetch_limit(family: Family) -> usize {
    match family {
        Family::R600 => 8,
        Family::R700 => 16,
    }
}

enum Entry {
    /// An instruction without a clause.
    Plain(isa::Inst),
    /// An ALU clause: index into the clauses, and its instruction.
    Alu(usize, CfOp),
    /// A fetch clause: index into the fetch clauses, and its instruction.
    Fetch(usize, CfOp),
}

enum Frame {
    If {
        jump: usize,
        otherwise: Option<usize>,
        /// Writes may be on their way where an arm is jumped over.
        unacknowledged: bool,
    },
    Loop {
        start: usize,
        breaks: Vec<usize>,
    },
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
type Waiting = (isa::Inst, SmallVec<[(u8, u8); 4]>, Span);

struct Emitter<'a> {
    config: &'a Config,
    entries: Vec<(Entry, Span)>,
    clauses: Vec<Clause>,
    fetches: Vec<(Vec<isa::Inst>, Vec<Span>)>,
    pending: Vec<Item>,
    /// The register that the last MOVA among them read, and where it stands.
    address: Option<((u8, u8), usize)>,
    /// Exports that wait for ALU work behind them which can as well come before them: the cells
    /// that each reads.
    exports: Vec<Waiting>,
    fetch: Vec<(isa::Inst, Span)>,
    fetch_kind: FetchKind,
    /// Registers that the open fetch clause has written.
    fetched: [bool; 128],
    frames: Vec<Frame>,
    /// A jump leads to the entry that comes next.
    targeted: bool,
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
    kills: bool,
    writes_memory: bool,
    least_groups: u32,
}

fn broken(message: impl Into<String>) -> Failure {
    Failure::Internal {
        pass: "emit",
        message: message.into(),
    }
}

const fn parts(cell: Cell) -> (u8, u8) {
    (cell.row(4) as u8, cell.phase(4))
}

/// Emits a function whose registers are all physical.
///
/// # Errors
/// [`Failure::Limit`] when the program is larger than addresses reach, [`Failure::Internal`] when
/// the function is not well formed.
pub fn emit(func: &Func<Inst>, config: &Config) -> Result<Emitted, Failure> {
    let any_write = func.layout.iter().any(|&block| {
        func.blocks[block].nodes.iter().any(
            |node| matches!(&node.inst, Inst::MemWrite(w) if !matches!(w.space, Space::Stream(_))),
        )
    });
    let mut e = Emitter {
        config,
        entries: Vec::new(),
        clauses: Vec::new(),
        fetches: Vec::new(),
        pending: Vec::new(),
        address: None,
        exports: Vec::new(),
        fetch: Vec::new(),
        fetch_kind: FetchKind::Vertex,
        fetched: [false; 128],
        frames: Vec::new(),
        targeted: false,
        unacknowledged: false,
        any_write: any_write && config.chip.family() == Family::R700,
        landing: rows(func),
        gprs: 1,
        live: Cells::ALL,
        pushes: 0,
        loops: 0,
        stack: 0,
        stats: Stats::default(),
        kills: false,
        writes_memory: false,
        least_groups: 0,
    };
    if config.fetch_shader {
        e.plain(isa::Inst::new(e.isa().cf_op(CfOp::CALL_FS)), Span::NONE);
        // The return address takes one subentry. R700 ISA 3.6.5.
        e.stack = config
            .chip
            .call_subentries()
            .div_ceil(config.chip.subentries());
    }
    let live = Live::of(func);
    for &block in &func.layout {
        for (number, node) in func.blocks[block].nodes.iter().enumerate() {
            e.live = live.at(block, number);
            e.node(&node.inst, node.span)?;
        }
        e.live = live.behind(block);
        e.flush_alu()?;
    }
    e.live = Cells::NONE;
    e.finish()
}

impl Emitter<'_> {
    fn isa(&self) -> &'static isa::Isa {
        self.config.chip.family().isa()
    }

    fn reg(&mut self, reg: Reg) -> (u8, u8) {
        let (gpr, chan) = parts(reg.cell());
        self.gprs = self.gprs.max(u32::from(gpr) + 1);
        (gpr, chan)
    }

    fn operand(&mut self, source: &Source, op: AluOp, index: usize) -> Operand {
        match source.src {
            Src::Reg(reg) => {
                let (gpr, chan) = parts(reg.cell());
                Operand {
                    read: Read::Gpr {
                        gpr,
                        chan,
                        rel: false,
                    },
                    neg: source.neg,
                    abs: source.abs,
                }
            }
            Src::Const {
                buffer,
                index,
                chan,
            } => Operand {
                read: Read::Kcache {
                    buffer,
                    index,
                    chan,
                },
                neg: source.neg,
                abs: source.abs,
            },
            Src::Bits(mut bits) => {
                if source.abs {
                    bits &= 0x7fff_ffff;
                }
                if source.neg {
                    bits ^= 0x8000_0000;
                }
                Operand::constant(bits, op::may_negate(op, index))
            }
        }
    }

    fn slot(&mut self, alu: &Alu) -> Slot {
        let mut src = [Operand::UNUSED; 3];
        for (index, source) in alu.src.iter().enumerate() {
            src[index] = self.operand(source, alu.op, index);
        }
        let dst = alu.dst.map(|reg| {
            let (gpr, chan) = parts(reg.cell());
            Dst {
                gpr,
                chan,
                rel: false,
            }
        });
        Slot {
            op: alu.op,
            dst,
            src,
            sources: alu.src.len() as u8,
            clamp: alu.clamp,
            omod: alu.omod.code(),
        }
    }

    fn alu(&mut self, alu: &Alu, span: Span) {
        self.flush_fetch();
        let slot = self.slot(alu);
        self.pending.push(Item::one(slot, span));
    }

    /// The instruction overwrites what an export that waits reads, or is no ALU work.
    fn ends_exports(&self, inst: &Inst) -> bool {
        let alu = match inst {
            Inst::Alu(alu) => !op::is_kill(alu.op),
            Inst::Dot { .. } | Inst::Cube { .. } | Inst::Copy { .. } => true,
            _ => false,
        };
        let mut clobbers = false;
        inst.operands(&mut |operand| {
            let cell = parts(operand.reg.cell());
            let mut reads = self.exports.iter().flat_map(|(_, cells, _)| cells);
            clobbers |= operand.role.is_def() && reads.any(|&read| read == cell);
        });
        !matches!(inst, Inst::Export(_)) && (!alu || clobbers)
    }

    fn last_item(&mut self) -> &mut Item {
        self.pending
            .last_mut()
            .expect("an operation was just added")
    }

    fn mov(&mut self, dst: Dst, src: Read, span: Span) {
        let slot = Slot {
            op: AluOp::MOV,
            dst: Some(dst),
            src: [
                Operand {
                    read: src,
                    neg: false,
                    abs: false,
                },
                Operand::UNUSED,
                Operand::UNUSED,
            ],
            sources: 1,
            clamp: false,
            omod: 0,
        };
        self.pending.push(Item::one(slot, span));
    }

    /// A parallel copy as moves in an order that keeps its meaning; cycles are exchanged by XOR.
    fn copy(&mut self, dst: &[Reg], src: &[Reg], span: Span) {
        self.flush_fetch();
        let mut moves: Vec<((u8, u8), (u8, u8))> = dst
            .iter()
            .zip(src)
            .map(|(&d, &s)| (parts(d.cell()), parts(s.cell())))
            .filter(|(d, s)| d != s)
            .collect();
        while !moves.is_empty() {
            let free = moves
                .iter()
                .position(|&(d, _)| moves.iter().all(|&(_, s)| s != d));
            match free {
                Some(at) => {
                    let ((gpr, chan), (from, from_chan)) = moves.swap_remove(at);
                    let read = Read::Gpr {
                        gpr: from,
                        chan: from_chan,
                        rel: false,
                    };
                    self.mov(
                        Dst {
                            gpr,
                            chan,
                            rel: false,
                        },
                        read,
                        span,
                    );
                }
                None => {
                    // Every destination is still read: a cycle. Exchange one pair; the one that
                    // wanted our old value finds it in the other place.
                    let (d, s) = moves.swap_remove(0);
                    for (dst, a, b) in [(d, d, s), (s, d, s), (d, d, s)] {
                        let read = |(gpr, chan)| Operand {
                            read: Read::Gpr {
                                gpr,
                                chan,
                                rel: false,
                            },
                            neg: false,
                            abs: false,
                        };
                        let slot = Slot {
                            op: AluOp::XOR_INT,
                            dst: Some(Dst {
                                gpr: dst.0,
                                chan: dst.1,
                                rel: false,
                            }),
                            src: [read(a), read(b), Operand::UNUSED],
                            sources: 2,
                            clamp: false,
                            omod: 0,
                        };
                        self.pending.push(Item::one(slot, span));
                    }
                    for (_, source) in &mut moves {
                        if *source == d {
                            *source = s;
                        }
                    }
                    moves.retain(|(d, s)| d != s);
                }
            }
        }
    }

    /// DOT4_IEEE whose registers crowd one channel, as the same sum in the same order: w first.
    fn dot_by_chain(&mut self, slots: &[Slot; 4], dst: Dst, span: Span) {
        let mut sum = Operand::UNUSED;
        for (number, slot) in slots.iter().rev().enumerate() {
            let chain = Slot {
                op: if number == 0 {
                    AluOp::MUL_IEEE
                } else {
                    AluOp::MULADD_IEEE
                },
                dst: Some(dst),
                src: [slot.src[0], slot.src[1], sum],
                sources: if number == 0 { 2 } else { 3 },
                clamp: slot.clamp && number == 3,
                omod: 0,
            };
            self.pending.push(Item::one(chain, span));
            sum.read = Read::Gpr {
                gpr: dst.gpr,
                chan: dst.chan,
                rel: false,
            };
        }
    }

    /// The register of an element: at a known place itself, else the range and the element that AR
    /// counts from.
    fn element(&mut self, indexed: &Indexed, span: Span) -> (u8, u8, Option<group::Range>) {
        let (gpr, chan) = self.reg(indexed.array);
        self.gprs = self.gprs.max(u32::from(gpr) + u32::from(indexed.count));
        if let Src::Bits(row) = indexed.index.src {
            return (gpr + row as u8 + indexed.offset as u8, chan, None);
        }
        let range = self.mova(indexed, span);
        (gpr + indexed.offset as u8, chan, Some(range))
    }

    fn mova(&mut self, indexed: &Indexed, span: Span) -> group::Range {
        let index = self.operand(&indexed.index, AluOp::MOVA_INT, 0);
        let (gpr, chan) = self.reg(indexed.array);
        let source = match index.read {
            Read::Gpr { gpr, chan, .. } => Some((gpr, chan)),
            _ => None,
        };
        let range = group::Range {
            gpr,
            chan,
            count: indexed.count,
        };
        if self.shares_address(source) {
            return range;
        }
        let slot = Slot {
            op: AluOp::MOVA_INT,
            dst: None,
            src: [index, Operand::UNUSED, Operand::UNUSED],
            sources: 1,
            clamp: false,
            omod: 0,
        };
        self.address = source.map(|cell| (cell, self.pending.len()));
        self.pending.push(Item::one(slot, span));
        range
    }

    /// AR holds this register's value already: the last MOVA read it, not long ago, and nothing has
    /// been written since but by plain reads of arrays.
    fn shares_address(&self, source: Option<(u8, u8)>) -> bool {
        let (Some(source), Some((cell, at))) = (source, self.address) else {
            return false;
        };
        cell == source
            && at + group::SHARING > self.pending.len()
            && self.pending[at + 1..]
                .iter()
                .all(|item| item.may_stand_behind_mova(cell))
    }

    fn node(&mut self, inst: &Inst, span: Span) -> Result<(), Failure> {
        if !self.exports.is_empty() && self.ends_exports(inst) {
            self.flush()?;
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
            Inst::Dot { dst, src, clamp } => {
                self.flush_fetch();
                let (gpr, chan) = parts(dst.cell());
                let slots: [Slot; 4] = std::array::from_fn(|unit| {
                    let a = self.operand(&src[unit][0], AluOp::DOT4_IEEE, 0);
                    let b = self.operand(&src[unit][1], AluOp::DOT4_IEEE, 1);
                    Slot {
                        op: AluOp::DOT4_IEEE,
                        dst: (unit == usize::from(chan)).then_some(Dst {
                            gpr,
                            chan,
                            rel: false,
                        }),
                        src: [a, b, Operand::UNUSED],
                        sources: 2,
                        clamp: *clamp,
                        omod: 0,
                    }
                });
                if Group::of(self.isa()).admit_reduction(&slots).is_err() {
                    let dst = Dst {
                        gpr,
                        chan,
                        rel: false,
                    };
                    self.dot_by_chain(&slots, dst, span);
                    return Ok(());
                }
                self.pending.push(Item {
                    work: Work::Four(slots),
                    range: None,
                    span,
                });
            }
            Inst::Cube { dst, src } => {
                self.flush_fetch();
                let [x, y, z] = src.map(|reg| self.operand(&Source::reg(reg), AluOp::CUBE, 0));
                // R700 ISA 9, CUBE: src0 = zzxy, src1 = yxzz.
                let pairs = [[z, y], [z, x], [x, z], [y, z]];
                let dst = dst.map(|reg| parts(reg.cell()));
                let slots = std::array::from_fn(|unit| Slot {
                    op: AluOp::CUBE,
                    dst: Some(Dst {
                        gpr: dst[unit].0,
                        chan: dst[unit].1,
                        rel: false,
                    }),
                    src: [pairs[unit][0], pairs[unit][1], Operand::UNUSED],
                    sources: 2,
                    clamp: false,
                    omod: 0,
                });
                self.pending.push(Item {
                    work: Work::Four(slots),
                    range: None,
                    span,
                });
            }
            Inst::Copy { dst, src } => self.copy(dst, src, span),
            Inst::ArrayRead { dst, from } => {
                self.flush_fetch();
                let (gpr, chan, range) = self.element(from, span);
                let (to, to_chan) = parts(dst.cell());
                let dst = Dst {
                    gpr: to,
                    chan: to_chan,
                    rel: false,
                };
                let rel = range.is_some();
                self.mov(dst, Read::Gpr { gpr, chan, rel }, span);
                self.last_item().range = range;
            }
            Inst::ArrayWrite { to, value, .. } => {
                self.flush_fetch();
                let (gpr, chan, range) = self.element(to, span);
                let value = self.operand(value, AluOp::MOV, 0);
                let rel = range.is_some();
                let dst = Dst { gpr, chan, rel };
                self.mov(dst, value.read, span);
                self.last_item().range = range;
            }
            Inst::Vertex(fetch) => {
                let inst = self.vertex(fetch);
                let index = parts(fetch.index.cell()).0;
                let row = row_of(&fetch.dst);
                self.push_fetch(FetchKind::Vertex, [inst], &[index], row, span)?;
            }
            Inst::Texture(fetch) => {
                let mut insts = Vec::with_capacity(3);
                let mut sources = Vec::with_capacity(3);
                let mut reads = |src: &[Lane; 4]| {
                    sources.extend(src.iter().find_map(|lane| match lane {
                        Lane::Reg(reg) => Some(parts(reg.cell()).0),
                        Lane::Zero | Lane::One | Lane::Masked => None,
                    }));
                };
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
                self.push_fetch(
                    FetchKind::Texture,
                    insts,
                    &sources,
                    row_of(&fetch.dst),
                    span,
                )?;
            }
            Inst::MemRead(read) => {
                if self.any_write {
                    self.wait(span)?;
                }
                if self.config.chip.family() == Family::R600 {
                    return self.scratch_read_by_cf(read, span);
                }
                let inst = self.mem_read(read);
                let index = read.index.map(|reg| parts(reg.cell()).0);
                self.push_fetch(
                    FetchKind::Memory,
                    [inst],
                    index.as_slice(),
                    row_of(&read.dst),
                    span,
                )?;
                if read.slot.is_some() {
                    self.stats.fills += 1;
                }
            }
            Inst::MemWrite(write) => {
                let inst = self.mem_write(write);
                self.flush()?;
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
                let source = write.src.iter().find_map(|lane| match lane {
                    Lane::Reg(reg) => Some(parts(reg.cell()).0),
                    Lane::Zero | Lane::One | Lane::Masked => None,
                });
                self.push_fetch(FetchKind::ShareWrite, [inst], source.as_slice(), None, span)?;
            }
            // What the group wrote is there in the next clause: R700 ISA 2.6.2 asks for a barrier between.
            Inst::ShareRead(read) => {
                let inst = self.share_read(read);
                let index = parts(read.bank.cell()).0;
                let row = row_of(&read.dst);
                self.push_fetch(FetchKind::ShareRead, [inst], &[index], row, span)?;
            }
            Inst::WaitAck => self.wait(span)?,
            Inst::Export(export) => {
                self.stats.exports += 1;
                let inst = self.export(export);
                self.flush_fetch();
                let cells = export.src.iter().filter_map(|lane| match lane {
                    Lane::Reg(reg) => Some(parts(reg.cell())),
                    Lane::Zero | Lane::One | Lane::Masked => None,
                });
                self.exports.push((inst, cells.collect(), span));
            }
            Inst::If(alu) => {
                self.alu(alu, span);
                self.flush()?;
                match self.entries.last_mut() {
                    Some((Entry::Alu(_, op), _)) => *op = CfOp::ALU_PUSH_BEFORE,
                    _ => return Err(broken("an `if` ends in an ALU clause")),
                }
                self.pushes += 1;
                self.measure_stack();
                let jump = self.entries.len();
                self.plain(isa::Inst::new(self.isa().cf_op(CfOp::JUMP)), span);
                self.frames.push(Frame::If {
                    jump,
                    otherwise: None,
                    unacknowledged: self.unacknowledged,
                });
                self.stats.branches += 1;
            }
            Inst::Else => {
                self.flush()?;
                let here = self.entries.len();
                let Some(Frame::If {
                    jump,
                    otherwise,
                    unacknowledged,
                }) = self.frames.last_mut()
                else {
                    return Err(broken("`else` without `if`"));
                };
                // The wavefront may jump over a wait that stands in an arm.
                self.unacknowledged |= *unacknowledged;
                *unacknowledged = self.unacknowledged;
                if otherwise.replace(here).is_some() {
                    return Err(broken("two `else` of one `if`"));
                }
                let jump = *jump;
                self.patch(jump, here, 0);
                self.plain(isa::Inst::new(self.isa().cf_op(CfOp::ELSE)), span);
            }
            Inst::EndIf => {
                self.flush()?;
                let Some(Frame::If {
                    jump,
                    otherwise,
                    unacknowledged,
                }) = self.frames.pop()
                else {
                    return Err(broken("`endif` without `if`"));
                };
                self.unacknowledged |= unacknowledged;
                match self.entries.last_mut() {
                    Some((Entry::Alu(_, op @ CfOp::ALU), _)) if !self.targeted => {
                        *op = CfOp::ALU_POP_AFTER;
                    }
                    _ => {
                        let next = self.entries.len() as u32 + 1;
                        let pop = isa::Inst::new(self.isa().cf_op(CfOp::POP))
                            .with(f::POP_COUNT, 1)
                            .with(f::ADDR, next);
                        self.plain(pop, span);
                    }
                }
                let after = self.entries.len();
                self.patch(otherwise.unwrap_or(jump), after, 1);
                self.targeted = true;
                self.pushes -= 1;
            }
            Inst::LoopStart => {
                self.flush()?;
                self.loops += 1;
                self.measure_stack();
                let start = self.entries.len();
                self.plain(
                    isa::Inst::new(self.isa().cf_op(CfOp::LOOP_START_DX10)),
                    span,
                );
                self.frames.push(Frame::Loop {
                    start,
                    breaks: Vec::new(),
                });
                self.stats.loops += 1;
                self.unacknowledged |= self.any_write;
            }
            Inst::LoopEnd => {
                self.flush()?;
                let Some(Frame::Loop { start, breaks }) = self.frames.pop() else {
                    return Err(broken("`endloop` without `loop`"));
                };
                let end = self.entries.len();
                let inst = isa::Inst::new(self.isa().cf_op(CfOp::LOOP_END))
                    .with(f::ADDR, start as u32 + 1);
                self.plain(inst, span);
                self.patch(start, end + 1, 0);
                for at in breaks {
                    self.patch(at, end, 0);
                }
                self.targeted = true;
                self.unacknowledged |= self.any_write;
                self.loops -= 1;
            }
            Inst::Break => {
                self.flush()?;
                let here = self.entries.len();
                let frame = self.frames.iter_mut().rev().find_map(|frame| match frame {
                    Frame::Loop { breaks, .. } => Some(breaks),
                    Frame::If { .. } => None,
                });
                frame
                    .ok_or_else(|| broken("`break` outside a loop"))?
                    .push(here);
                self.plain(isa::Inst::new(self.isa().cf_op(CfOp::LOOP_BREAK)), span);
            }
            Inst::End => self.flush()?,
        }
        Ok(())
    }

    /// R700 ISA 3.6.5: a loop takes an entry, a push a subentry, and two more while any push lives.
    fn measure_stack(&mut self) {
        let reserve = if self.pushes > 0 { 2 } else { 0 };
        let elements = self.loops * self.config.chip.subentries() + self.pushes + reserve;
        self.stack = self
            .stack
            .max(elements.div_ceil(self.config.chip.subentries()));
    }

    fn patch(&mut self, at: usize, target: usize, pops: u32) {
        if let (Entry::Plain(inst), _) = &mut self.entries[at] {
            *inst = inst.with(f::ADDR, target as u32).with(f::POP_COUNT, pops);
        }
    }

    fn plain(&mut self, inst: isa::Inst, span: Span) {
        self.entries
            .push((Entry::Plain(inst.with(f::BARRIER, 1)), span));
        self.targeted = false;
    }

    fn wait(&mut self, span: Span) -> Result<(), Failure> {
        if self.unacknowledged {
            self.flush()?;
            // ADDR is the number of writes that may still be on their way.
            self.plain(isa::Inst::new(self.isa().cf_op(CfOp::WAIT_ACK)), span);
            self.unacknowledged = false;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.flush_fetch();
        self.flush_alu()?;
        for (inst, _, span) in std::mem::take(&mut self.exports) {
            self.plain(inst, span);
        }
        Ok(())
    }

    fn flush_alu(&mut self) -> Result<(), Failure> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut items = std::mem::take(&mut self.pending);
        self.address = None;
        let mut live = self.live;
        for (_, cells, _) in &self.exports {
            for &(gpr, chan) in cells {
                live.insert(u16::from(gpr) * 4 + u16::from(chan));
            }
        }
        // The index of a scratch read may stand there: see `scratch_read_by_cf`.
        if self.config.chip.family() == Family::R600 {
            live.insert(u16::from(self.landing) * 4);
        }
        if live != Cells::ALL {
            retarget::run(&mut items, &live, self.isa());
        }
        let least = cost::least_groups(&items, self.isa());
        self.least_groups += least;
        let mut clauses =
            group::pack(&items, self.isa(), least, self.config.search).map_err(broken)?;
        let ranges: Vec<group::Range> = items.iter().filter_map(|item| item.range).collect();
        temporaries::run(&mut clauses, live, &ranges, self.landing);
        for clause in clauses {
            for slot in clause
                .groups
                .iter()
                .flat_map(|p| p.group.slots.iter().flatten())
            {
                let reads = slot
                    .sources()
                    .iter()
                    .filter_map(|source| match source.read {
                        Read::Gpr { gpr, .. } => Some(gpr),
                        _ => None,
                    });
                let named = reads.chain(slot.dst.map(|dst| dst.gpr));
                let most = named.filter(|&gpr| gpr < temporaries::FIRST).max();
                self.gprs = self.gprs.max(most.map_or(0, |gpr| u32::from(gpr) + 1));
            }
            let span = clause
                .groups
                .first()
                .map_or(Span::NONE, |packed| packed.span);
            self.kills |= clause
                .groups
                .last()
                .is_some_and(|packed| packed.group.has_kill());
            for packed in &clause.groups {
                self.stats.alu_groups += 1;
                self.stats.alu_slots += packed.group.len() as u32;
                self.stats.literals += packed.group.literals().len() as u32;
            }
            self.entries
                .push((Entry::Alu(self.clauses.len(), CfOp::ALU), span));
            self.targeted = false;
            self.clauses.push(clause);
        }
        Ok(())
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
                if self.config.chip.has_vertex_cache() {
                    CfOp::VTX
                } else {
                    CfOp::VTX_TC
                }
            }
        };
        let span = spans[0];
        self.entries
            .push((Entry::Fetch(self.fetches.len(), op), span));
        self.targeted = false;
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
    ) -> Result<(), Failure> {
        self.flush_alu()?;
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
        Ok(())
    }

    fn results(
        &mut self,
        mut inst: isa::Inst,
        dst: &[Option<Reg>; 4],
        select: &[u8; 4],
    ) -> isa::Inst {
        let mut sel = [7; 4];
        let mut row = 0;
        for (reg, &component) in dst.iter().zip(select) {
            if let Some(reg) = reg {
                let (gpr, chan) = self.reg(*reg);
                row = gpr;
                sel[usize::from(chan)] = u32::from(component);
            }
        }
        inst = inst.with(f::DST_GPR, row.into());
        for (field, value) in isa::fields::DST_SELS.into_iter().zip(sel) {
            inst = inst.with(field, value);
        }
        inst
    }

    fn vertex(&mut self, fetch: &Vertex) -> isa::Inst {
        let (gpr, chan) = self.reg(fetch.index);
        let inst = isa::Inst::new(self.isa().fetch_op(FetchOp::VFETCH))
            .with(f::FETCH_TYPE, fetch.fetch_type.into())
            .with(f::BUFFER_ID, fetch.resource.into())
            .with(f::SRC_GPR, gpr.into())
            .with(f::SRC_SEL_X, chan.into())
            .with(f::MEGA_FETCH_COUNT, u32::from(fetch.bytes) - 1)
            .with(f::MEGA_FETCH, 1)
            .with(f::DATA_FORMAT, fetch.data_format.into())
            .with(f::NUM_FORMAT_ALL, fetch.num_format.into())
            .with(f::FORMAT_COMP_ALL, fetch.signed.into())
            .with(f::OFFSET, fetch.offset.into());
        self.results(inst, &fetch.dst, &fetch.select)
    }

    fn texture(&mut self, fetch: &Texture) -> isa::Inst {
        let mut inst = isa::Inst::new(self.isa().fetch_op(fetch.op))
            .with(f::RESOURCE_ID, fetch.resource.into())
            .with(f::SAMPLER_ID, fetch.sampler.into());
        inst = self.lanes(inst, &fetch.src, f::SRC_GPR, isa::fields::SRC_SELS, 4);
        for (&normalized, field) in fetch.normalized.iter().zip(isa::fields::COORD_TYPES) {
            inst = inst.with(field, normalized.into());
        }
        // Offsets are S3.1: half texels. Register guide, TEX_WORD2.
        for (&offset, field) in fetch
            .offset
            .iter()
            .zip([f::OFFSET_X, f::OFFSET_Y, f::OFFSET_Z])
        {
            inst = inst.with(field, (i32::from(offset) * 2) as u32 & 31);
        }
        self.results(inst, &fetch.dst, &fetch.select)
    }

    fn mem_read(&mut self, read: &MemRead) -> isa::Inst {
        let op = match read.space {
            Space::Scratch => FetchOp::READ_SCRATCH,
            Space::Scatter => FetchOp::READ_MEM,
            Space::Stream(_) => unreachable!("streams are written only"),
        };
        let mut inst = isa::Inst::new(self.isa().fetch_op(op))
            .with(f::ELEM_SIZE, u32::from(read.elements) - 1)
            .with(f::UNCACHED, 1)
            .with(f::MEGA_FETCH, 1)
            .with(f::ARRAY_BASE, read.base.into())
            .with(f::ARRAY_SIZE, read.size.into())
            .with(f::DATA_FORMAT, if read.elements == 1 { 13 } else { 34 })
            .with(f::NUM_FORMAT_ALL, 1);
        if let Some(index) = read.index {
            let (gpr, chan) = self.reg(index);
            inst = inst
                .with(f::INDEXED, 1)
                .with(f::SRC_GPR, gpr.into())
                .with(f::SRC_SEL_X, chan.into());
        }
        self.results(inst, &read.dst, &read.select)
    }

    /// SIMD_WAVE_REL counts threads from the group's first and keeps what they wrote: without it the places are the same
    /// for all wavefronts, and data does not outlive a clause. R700 ISA 2.6.2.
    fn share_write(&mut self, write: &ShareWrite) -> isa::Inst {
        let inst = isa::Inst::new(self.isa().fetch_op(FetchOp::DS_LOCAL_WRITE))
            .with(f::DST_INDEX, write.index.into())
            .with(f::DST_STRIDE, write.stride.into())
            .with(f::SIMD_WAVE_REL, 1);
        self.lanes(inst, &write.src, f::SRC_GPR, isa::fields::SRC_SELS, 7)
    }

    /// WATERFALL: threads of a quad may read one bank. R700 ISA 10.6.
    fn share_read(&mut self, read: &ShareRead) -> isa::Inst {
        let (gpr, bank) = self.reg(read.bank);
        let (_, address) = self.reg(read.address);
        let mut inst = isa::Inst::new(self.isa().fetch_op(FetchOp::DS_LOCAL_READ))
            .with(f::SRC_GPR, gpr.into())
            .with(f::SRC_SEL_X, bank.into())
            .with(f::SRC_SEL_Y, address.into())
            .with(f::RD_OFFSET, read.offset.into())
            .with(f::WATERFALL, 1);
        for (reg, field) in read.dst.iter().zip(isa::fields::DST_WRS) {
            if let Some(reg) = reg {
                let (gpr, _) = self.reg(*reg);
                inst = inst.with(f::DST_GPR, gpr.into()).with(field, 1);
            }
        }
        inst
    }

    /// Sources of one register by components, and `masked` for those that take nothing.
    fn lanes(
        &mut self,
        mut inst: isa::Inst,
        src: &[Lane; 4],
        gpr_field: FieldId,
        fields: [FieldId; 4],
        masked: u32,
    ) -> isa::Inst {
        for (lane, field) in src.iter().zip(fields) {
            let sel = match lane {
                Lane::Reg(reg) => {
                    let (gpr, chan) = self.reg(*reg);
                    inst = inst.with(gpr_field, gpr.into());
                    u32::from(chan)
                }
                Lane::Zero => 4,
                Lane::One => 5,
                Lane::Masked => masked,
            };
            inst = inst.with(field, sel);
        }
        inst
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
                let dst = Dst {
                    gpr: landing,
                    chan: 0,
                    rel: false,
                };
                let from = Read::Gpr {
                    gpr,
                    chan,
                    rel: false,
                };
                self.mov(dst, from, span);
                gpr = landing;
            }
            inst = inst.with(f::INDEX_GPR, gpr.into());
        }
        self.flush()?;
        self.plain(inst, span);
        for (reg, &chan) in read.dst.iter().zip(&read.select) {
            let Some(reg) = reg else { continue };
            let (gpr, to) = self.reg(*reg);
            let dst = Dst {
                gpr,
                chan: to,
                rel: false,
            };
            let from = Read::Gpr {
                gpr: landing,
                chan,
                rel: false,
            };
            self.mov(dst, from, span);
        }
        if read.slot.is_some() {
            self.stats.fills += 1;
        }
        Ok(())
    }

    fn mem_write(&mut self, write: &MemWrite) -> isa::Inst {
        let op = match write.space {
            Space::Scratch => CfOp::MEM_SCRATCH,
            Space::Scatter => CfOp::MEM_EXPORT,
            Space::Stream(0) => CfOp::MEM_STREAM0,
            Space::Stream(1) => CfOp::MEM_STREAM1,
            Space::Stream(2) => CfOp::MEM_STREAM2,
            Space::Stream(_) => CfOp::MEM_STREAM3,
        };
        let mut mask = 0;
        let mut row = 0;
        for reg in write.src.iter().flatten() {
            let (gpr, chan) = self.reg(*reg);
            row = gpr;
            mask |= 1 << chan;
        }
        let mut inst = isa::Inst::new(self.isa().cf_op(op))
            // WRITE_ACK, or WRITE_IND_ACK with an index; R6xx has neither acknowledgement.
            .with(
                f::TYPE,
                match (self.config.chip.family(), write.space) {
                    (Family::R600, _) | (_, Space::Stream(_)) => 0,
                    (Family::R700, Space::Scratch | Space::Scatter) => 2,
                } + u32::from(write.index.is_some()),
            )
            .with(f::ARRAY_BASE, write.base.into())
            .with(f::ARRAY_SIZE, write.size.into())
            .with(f::ELEM_SIZE, u32::from(write.elements) - 1)
            .with(f::RW_GPR, row.into())
            .with(f::COMP_MASK, mask);
        if let Some(index) = write.index {
            let (gpr, _) = self.reg(index);
            inst = inst.with(f::INDEX_GPR, gpr.into());
        }
        let scatter = write.space == Space::Scatter;
        self.writes_memory |= scatter;
        if self.config.pixel && (scatter || write.valid) {
            inst = inst.with(f::VALID_PIXEL_MODE, 1);
        }
        inst
    }

    fn export(&mut self, export: &Export) -> isa::Inst {
        let op = if export.done {
            CfOp::EXPORT_DONE
        } else {
            CfOp::EXPORT
        };
        let inst = isa::Inst::new(self.isa().cf_op(op))
            .with(
                f::TYPE,
                match export.ty {
                    ExportType::Pixel => 0,
                    ExportType::Position => 1,
                    ExportType::Parameter => 2,
                },
            )
            .with(f::ARRAY_BASE, export.base.into())
            .with(f::ELEM_SIZE, 3);
        self.lanes(inst, &export.src, f::RW_GPR, isa::fields::SELS, 7)
    }

    fn finish(mut self) -> Result<Emitted, Failure> {
        self.flush()?;
        if !self.frames.is_empty() {
            return Err(broken("control flow is open at the end"));
        }
        // Something must carry END_OF_PROGRAM: not ALU, not a jump or a pop. R700 ISA 3.2.
        let carries = match self.entries.last() {
            Some((Entry::Plain(inst), _)) => {
                let op = CfOp::of(inst.op().id);
                matches!(
                    op,
                    CfOp::EXPORT | CfOp::EXPORT_DONE | CfOp::MEM_EXPORT | CfOp::NOP
                ) && !self.targeted
            }
            _ => false,
        };
        if !carries {
            self.plain(isa::Inst::new(self.isa().cf_op(CfOp::NOP)), Span::NONE);
        }
        if let Some((Entry::Plain(inst), _)) = self.entries.last_mut() {
            *inst = inst.with(f::END_OF_PROGRAM, 1);
        }
        self.layout()
    }

    fn layout(self) -> Result<Emitted, Failure> {
        let mut program = isa::Program::default();
        let mut lines: Vec<(u32, Span)> = Vec::new();
        let mut at = self.entries.len() as u32;
        let mut stats = self.stats;
        stats.cf_instructions = self.entries.len() as u32;
        stats.alu_clauses = self.clauses.len() as u32;
        for (number, (_, span)) in self.entries.iter().enumerate() {
            lines.push((number as u32 * 8, *span));
        }
        let mut alu_at = Vec::with_capacity(self.clauses.len());
        for clause in &self.clauses {
            alu_at.push(at);
            let mut groups = Vec::with_capacity(clause.groups.len());
            for packed in &clause.groups {
                lines.push((at * 8, packed.span));
                let group = group::encode(&packed.group, &clause.locks, self.isa());
                at += group.qwords();
                groups.push(group);
            }
            program.clauses.push(isa::Clause {
                at: alu_at[alu_at.len() - 1],
                body: isa::Body::Alu(groups),
            });
        }
        let mut fetch_at = Vec::with_capacity(self.fetches.len());
        for (insts, spans) in &self.fetches {
            // Fetch clauses start on 16 bytes. R700 ISA 3.3.
            at += at % 2;
            fetch_at.push(at);
            for (number, span) in spans.iter().enumerate() {
                lines.push(((at + 2 * number as u32) * 8, *span));
            }
            program.clauses.push(isa::Clause {
                at,
                body: isa::Body::Fetch(insts.clone()),
            });
            at += 2 * insts.len() as u32;
        }
        if at >= 1 << 22 {
            return Err(Failure::Limit {
                what: "64-bit words of code",
                needed: at.into(),
                available: 1 << 22,
                hint: "split the shader or unroll less",
                span: Span::NONE,
            });
        }
        for (number, (entry, _)) in self.entries.iter().enumerate() {
            let (inst, clause) = match entry {
                Entry::Plain(inst) => (*inst, None),
                Entry::Alu(index, op) => {
                    let clause = &self.clauses[*index];
                    let mut inst = isa::Inst::new(self.isa().cf_op(*op))
                        .with(f::ADDR, alu_at[*index])
                        .with(f::COUNT, clause.qwords - 1)
                        .with(f::BARRIER, 1);
                    if self.config.chip.family() == Family::R600 && clause.loads_address() {
                        inst = inst.with(f::USES_WATERFALL, 1);
                    }
                    let fields = [
                        (f::KCACHE_BANK0, f::KCACHE_MODE0, f::KCACHE_ADDR0),
                        (f::KCACHE_BANK1, f::KCACHE_MODE1, f::KCACHE_ADDR1),
                    ];
                    for (lock, (bank, mode, addr)) in clause.locks.sets.iter().zip(fields) {
                        if let Some((buffer, line, lines)) = *lock {
                            inst = inst
                                .with(bank, buffer.into())
                                .with(mode, lines.into())
                                .with(addr, line.into());
                        }
                    }
                    (inst, Some(isa::ClauseId(*index as u32)))
                }
                Entry::Fetch(index, op) => {
                    let inst = isa::Inst::new(self.isa().cf_op(*op))
                        .with(f::ADDR, fetch_at[*index])
                        .with(f::COUNT, self.fetches[*index].0.len() as u32 - 1)
                        .with(f::BARRIER, 1);
                    (
                        inst,
                        Some(isa::ClauseId((self.clauses.len() + index) as u32)),
                    )
                }
            };
            program.cf.push(isa::Cf {
                at: number as u32,
                inst,
                clause,
            });
        }
        program.dwords = at * 2;
        let words = isa::encode_program(&program).map_err(|error| broken(error.to_string()))?;
        lines.dedup_by_key(|(_, span)| *span);
        stats.instructions = stats.alu_slots
            + stats.cf_instructions
            + stats.tex_instructions
            + stats.vtx_instructions;
        stats.gprs = self.gprs;
        stats.stack_entries = self.stack;
        Ok(Emitted {
            words,
            program,
            lines,
            gprs: self.gprs,
            stack: self.stack,
            stats,
            kills: self.kills,
            writes_memory: self.writes_memory,
            least_groups: self.least_groups,
        })
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

/// The row that a fetch writes.
fn row_of(dst: &[Option<Reg>; 4]) -> Option<u8> {
    dst.iter().flatten().next().map(|reg| parts(reg.cell()).0)
}
