//! Structured SSA becomes machine IR: one SSA operation, one ALU operation, fetch or mark of control
//! flow, with modifiers, products, clamps and tests folded where that changes no bit.
//!
//! Control flow stays structured: marks (`If`, `Else`, `EndIf`, `LoopStart`, `LoopEnd`, `Break`)
//! stand among flat blocks whose logical edges say where a lane goes and whose physical edges say
//! where the wavefront goes. R700 ISA 3.6, 3.7.

mod arrays;
mod compute;
mod image;
mod interface;
pub(crate) mod linear;
mod memory;
mod ops;
mod share;
mod tables;
mod texture;
mod uses;

pub use interface::vertex_format;

use crate::abi::Abi;
use crate::api::Failure;
use crate::inst::{Alu, FILES, GPR, Inst, Source, Src};
use crate::isa::AluOp;
use crate::op;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{self, Block, Demand, Edges, VReg};
use gpucc_ir::ssa::{self, Func, Imm, Mem, Op, Region, Resource, Span, Value};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use uses::Uses;

/// Where a value is.
#[derive(Copy, Clone, Debug)]
enum Place {
    /// In a register.
    Reg(VReg),
    /// Read where it is used: a constant or a dword of a constant buffer.
    Source(Src),
}

/// A loop around the code.
struct LoopFrame {
    /// Its parameters' registers, of the body.
    body: SmallVec<[VReg; 4]>,
    /// Of the continuing part.
    continuing: SmallVec<[VReg; 4]>,
    /// Its results.
    results: SmallVec<[VReg; 4]>,
    /// The block after it.
    exit: Block,
    /// A way to the continuing part was lowered.
    continued: bool,
    /// A way out was lowered.
    left: bool,
}

/// How a private variable is kept.
#[derive(Clone, Debug)]
enum Variable {
    /// In registers.
    Array(arrays::Array),
    /// Scratch memory from this vec4 on, one dword a vec4's x.
    Scratch(u32, u32),
    /// Rows of the tables.
    Table(tables::Table),
}

/// The result of lowering.
pub struct Lowered {
    /// The machine function.
    pub func: mach::Func<Inst>,
    /// vec4 numbers of the driver's constants that the code reads.
    pub driver: Vec<u16>,
    /// Scratch vec4 that variables take; spill slots come after.
    pub scratch: u32,
    /// The constant variables: rows of four dwords.
    pub tables: Vec<u32>,
}

struct Lower<'a> {
    ssa: &'a Func,
    abi: &'a Abi,
    uses: Uses,
    m: mach::Func<Inst>,
    block: Block,
    values: SecondaryMap<Value, Option<Place>>,
    loops: Vec<LoopFrame>,
    variables: SecondaryMap<Mem, Option<Variable>>,
    scratch: u32,
    tables: Vec<u32>,
    outputs: interface::Outputs,
    inputs: interface::Inputs,
    driver: Vec<u16>,
    span: Span,
    /// In the outermost region.
    at_top: bool,
    /// Bindings that the program stores to.
    stored: BTreeSet<Resource>,
    /// Directions whose faces were found in the regions around the code: t, s, 2 * major, face.
    cubes: Vec<([Value; 3], [VReg; 4])>,
    /// Rows of arrays that this block has computed.
    rows: arrays::Rows,
    /// Constants that this block has stored last, with their registers.
    constants: Vec<(u32, VReg)>,
}

/// Lowers a function that holds native operations only.
///
/// # Errors
/// [`Failure::NotYet`] for what is not written, [`Failure::Limit`] where the machine ends.
pub fn lower(ssa: &Func, abi: &Abi) -> Result<Lowered, Failure> {
    let mut m = mach::Func::new(ssa.name.clone(), FILES);
    let block = m.push_block();
    let mut lower = Lower {
        ssa,
        abi,
        uses: Uses::of(ssa),
        m,
        block,
        values: SecondaryMap::new(),
        loops: Vec::new(),
        variables: SecondaryMap::new(),
        scratch: 0,
        tables: Vec::new(),
        outputs: interface::Outputs::default(),
        inputs: interface::Inputs::default(),
        driver: Vec::new(),
        span: Span::NONE,
        at_top: true,
        stored: stored(ssa),
        cubes: Vec::new(),
        rows: arrays::Rows::new(),
        constants: Vec::new(),
    };
    lower.prologue()?;
    let masked = lower.mask_surplus_lanes();
    lower.declare_variables();
    lower.region(ssa.body, &[])?;
    if let Some(head) = masked {
        lower.end_if(head);
    }
    lower.epilogue()?;
    lower.push(Inst::End);
    lower.driver.sort_unstable();
    lower.driver.dedup();
    Ok(Lowered {
        func: lower.m,
        driver: lower.driver,
        scratch: lower.scratch,
        tables: lower.tables,
    })
}

/// Bindings that the function stores to.
fn stored(ssa: &Func) -> BTreeSet<Resource> {
    let mut stored = BTreeSet::new();
    for (region, ..) in ssa.regions_in_order() {
        for &inst in &ssa.regions[region].insts {
            let data = &ssa.insts[inst];
            if let (Op::BufferStore | Op::ImageStore, Imm::Resource(resource)) =
                (data.op, &data.imm)
            {
                stored.insert(*resource);
            }
        }
    }
    stored
}

impl Lower<'_> {
    fn not_yet(&self, feature: impl Into<String>) -> Failure {
        Failure::NotYet {
            feature: feature.into(),
            stage: "lower",
            span: self.span,
        }
    }

    fn fresh(&mut self) -> VReg {
        self.m.make_vreg(Demand::scalar(GPR), self.span)
    }

    fn push(&mut self, mut inst: Inst) {
        match &mut inst {
            Inst::Alu(alu) | Inst::If(alu) => self.limit_constants(alu.src.iter_mut()),
            Inst::Dot { src, .. } => self.limit_constants(src.iter_mut().flatten()),
            _ => {}
        }
        self.m.push(self.block, inst, self.span);
    }

    /// A group reads at most two pairs of constants (R700 ISA 4.7.4): one instruction that reads
    /// more gets the rest from registers.
    fn limit_constants<'s>(&mut self, sources: impl Iterator<Item = &'s mut Source>) {
        let mut pairs: SmallVec<[(u8, u16, u8); 2]> = SmallVec::new();
        for source in sources {
            let Src::Const {
                buffer,
                index,
                chan,
            } = source.src
            else {
                continue;
            };
            let pair = (buffer, index, chan / 2);
            if pairs.contains(&pair) {
                continue;
            }
            if pairs.len() < 2 {
                pairs.push(pair);
                continue;
            }
            let moved = self.fresh();
            let mov = Alu::new(AluOp::MOV, Some(moved.into()), &[Source::plain(source.src)]);
            self.m.push(self.block, Inst::Alu(mov), self.span);
            source.src = Src::Reg(moved.into());
        }
    }

    fn alu(&mut self, op: AluOp, src: &[Source]) -> VReg {
        let dst = self.fresh();
        self.push(Inst::Alu(Alu::new(op, Some(dst.into()), src)));
        dst
    }

    fn alu_to(&mut self, dst: VReg, op: AluOp, src: &[Source]) {
        self.push(Inst::Alu(Alu::new(op, Some(dst.into()), src)));
    }

    /// A dword of the driver's constants.
    fn driver_constant(&mut self, index: u16, chan: u8) -> Source {
        self.driver.push(index);
        Source::plain(Src::Const {
            buffer: crate::abi::DRIVER,
            index,
            chan,
        })
    }

    fn define(&mut self, value: Value, reg: VReg) {
        self.values[value] = Some(Place::Reg(reg));
    }

    /// The value where it is, without modifiers.
    fn plain(&self, value: Value) -> Source {
        if let Some(bits) = self.const_bits(value) {
            return Source::bits(bits);
        }
        match self.values[value].expect("a value is lowered before its uses") {
            Place::Reg(reg) => Source::reg(reg),
            Place::Source(src) => Source::plain(src),
        }
    }

    /// The bits of a constant in a register: truth values are 0 and all ones.
    fn const_bits(&self, value: Value) -> Option<u32> {
        let bits = self.ssa.as_const(value)?;
        Some(match self.ssa.ty(value) {
            ssa::Type::B1 => (bits as u32 & 1).wrapping_neg(),
            _ => bits as u32,
        })
    }

    /// The value as source `index` of `op`, through `fneg` and `fabs` that were left to their users.
    fn source(&self, value: Value, op: AluOp, index: usize) -> Source {
        if !self.uses.in_register(value)
            && let Some(data) = self.ssa.def(value)
        {
            match data.op {
                Op::FNeg if op::may_negate(op, index) => {
                    let mut inner = self.source(data.args[0], op, index);
                    inner.neg = !inner.neg;
                    return inner;
                }
                Op::CubeMajor if op::may_absolute(op) => {
                    let mut inner = self.plain(value);
                    inner.abs = true;
                    return inner;
                }
                Op::FAbs if op::may_absolute(op) => {
                    let mut inner = self.source(data.args[0], op, index);
                    inner.neg = false;
                    inner.abs = true;
                    return inner;
                }
                _ => {}
            }
        }
        self.plain(value)
    }

    /// The value in a register, moved there if need be.
    fn reg(&mut self, value: Value) -> VReg {
        match self.plain(value) {
            Source {
                src: Src::Reg(reg), ..
            } if reg.as_virt().is_some() => reg.as_virt().expect("checked by the guard"),
            source => self.alu(AluOp::MOV, &[source]),
        }
    }

    /// Gives registers new values, all at once.
    fn assign(&mut self, dst: &[VReg], values: &[Value]) {
        let mut to = SmallVec::new();
        let mut from = SmallVec::new();
        let mut rest: SmallVec<[(VReg, Source); 4]> = SmallVec::new();
        for (&dst, &value) in dst.iter().zip(values) {
            match self.plain(value) {
                Source {
                    src: Src::Reg(reg), ..
                } => {
                    to.push(dst.into());
                    from.push(reg);
                }
                source => rest.push((dst, source)),
            }
        }
        if !to.is_empty() {
            self.push(Inst::Copy { dst: to, src: from });
        }
        // These read no registers, so they may come after the copies.
        for (dst, source) in rest {
            self.alu_to(dst, AluOp::MOV, &[source]);
        }
    }

    fn start_block(&mut self) {
        self.rows.clear();
        self.constants.clear();
        self.block = self.m.push_block();
    }

    fn place_block(&mut self, block: Block) {
        self.m.place(block);
        self.rows.clear();
        self.constants.clear();
        self.block = block;
    }

    /// Lowers a region; its `yield` assigns `results`. True when control reaches its end.
    fn region(&mut self, region: Region, results: &[VReg]) -> Result<bool, Failure> {
        let known = self.cubes.len();
        let falls = self.region_body(region, results);
        self.cubes.truncate(known);
        falls
    }

    fn region_body(&mut self, region: Region, results: &[VReg]) -> Result<bool, Failure> {
        let list = &self.ssa.regions[region].insts;
        for &inst in list {
            self.at_top = region == self.ssa.body;
            let data = &self.ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Yield => {
                    self.assign(results, &data.args);
                    return Ok(true);
                }
                Op::Break => {
                    let frame = self
                        .loops
                        .last_mut()
                        .expect("verified: `break` is in a loop");
                    frame.left = true;
                    let (to, exit) = (frame.results.clone(), frame.exit);
                    self.assign(&to, &data.args);
                    self.leave(exit);
                    return Ok(false);
                }
                Op::Continue => {
                    let frame = self
                        .loops
                        .last_mut()
                        .expect("verified: `continue` is in a loop");
                    frame.continued = true;
                    let to = frame.continuing.clone();
                    self.assign(&to, &data.args);
                    return Ok(true);
                }
                Op::Next | Op::BreakIf => {
                    return Err(Failure::Internal {
                        pass: "lower",
                        message: "`next` outside `continuing`".into(),
                    });
                }
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => return Ok(false),
                Op::If => self.if_else(inst)?,
                Op::Loop => self.loop_(inst)?,
                Op::Block => self.block_(inst)?,
                _ => self.instruction(inst)?,
            }
        }
        Ok(true)
    }

    /// A block that nobody leaves but at its end.
    fn block_(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let to: SmallVec<[VReg; 4]> = data.results.iter().map(|_| self.fresh()).collect();
        for (&value, &reg) in data.results.iter().zip(&to) {
            self.define(value, reg);
        }
        if !self.region(data.regions[0], &to)? {
            self.define_unreached(&to);
        }
        Ok(())
    }

    /// Gives registers that no path assigns a value, for code that no lane reaches but that the
    /// machine function still holds.
    fn define_unreached(&mut self, registers: &[VReg]) {
        for &register in registers {
            self.alu_to(register, AluOp::MOV, &[Source::bits(0)]);
        }
    }

    /// Ends the block with `Break`; what follows is reached by the wavefront alone.
    fn leave(&mut self, exit: Block) {
        self.push(Inst::Break);
        let from = self.block;
        self.m.add_both_edges(from, exit);
        self.start_block();
        self.m.add_edge(Edges::Physical, from, self.block);
    }

    /// What a condition that is not in a register is the opposite of; or itself.
    fn opposite(&self, cond: Value) -> (Value, bool) {
        match self.ssa.def(cond) {
            Some(data) if data.op == Op::Not && !self.uses.in_register(cond) => {
                (data.args[0], false)
            }
            _ => (cond, true),
        }
    }

    /// The test that an `if` makes.
    fn test(&self, cond: Value) -> Alu {
        let (cond, holds) = self.opposite(cond);
        if !holds {
            let src = [self.plain(cond), Source::bits(0)];
            return Alu::new(AluOp::PRED_SETE_INT, None, &src);
        }
        if !self.uses.in_register(cond)
            && let Some((op, a, b)) = self.comparison(cond)
            && let Some(pred) = op::as_pred_set(op)
        {
            return Alu::new(
                pred,
                None,
                &[self.source(a, pred, 0), self.source(b, pred, 1)],
            );
        }
        Alu::new(
            AluOp::PRED_SETNE_INT,
            None,
            &[self.plain(cond), Source::bits(0)],
        )
    }

    /// Opens an `if`: the block that follows runs for lanes that pass.
    fn begin_if(&mut self, test: Alu) -> Block {
        self.push(Inst::If(test));
        let head = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        head
    }

    fn if_else(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (then, otherwise) = (data.regions[0], data.regions[1]);
        if let Some(kill) = self.as_kill(inst) {
            self.push(Inst::Alu(kill));
            return Ok(());
        }
        let to: SmallVec<[VReg; 4]> = data.results.iter().map(|_| self.fresh()).collect();
        for (&value, &reg) in data.results.iter().zip(&to) {
            self.define(value, reg);
        }
        let test = self.test(data.args[0]);
        let head = self.begin_if(test);
        let then_falls = self.region(then, &to)?;
        let then_end = self.block;
        let trivial = self.ssa.regions[otherwise].insts.len() == 1
            && to.is_empty()
            && self
                .ssa
                .terminator(otherwise)
                .is_some_and(|t| self.ssa.insts[t].op == Op::Yield);
        let mut ends: SmallVec<[(Block, bool); 2]> = SmallVec::new();
        ends.push((then_end, then_falls));
        if !trivial {
            self.start_block();
            let start = self.block;
            self.m.add_both_edges(head, start);
            self.m.add_edge(Edges::Physical, then_end, start);
            self.push(Inst::Else);
            let falls = self.region(otherwise, &to)?;
            ends.push((self.block, falls));
        }
        self.start_block();
        let join = self.block;
        if trivial {
            self.m.add_both_edges(head, join);
        }
        let last = ends.len() - 1;
        for (number, &(end, falls)) in ends.iter().enumerate() {
            if falls {
                self.m.add_edge(Edges::Logical, end, join);
            }
            if number == last {
                self.m.add_edge(Edges::Physical, end, join);
            }
        }
        // ELSE jumps over its arm when no lane is left for it.
        self.m.add_edge(Edges::Physical, then_end, join);
        self.push(Inst::EndIf);
        if !trivial && ends.iter().all(|&(_, falls)| !falls) {
            self.define_unreached(&to);
        }
        Ok(())
    }

    /// `if c { demote }` with nothing else is one KILL.
    fn as_kill(&self, inst: ssa::Inst) -> Option<Alu> {
        let data = &self.ssa.insts[inst];
        let ops = |region: Region| -> SmallVec<[Op; 4]> {
            self.ssa.regions[region]
                .insts
                .iter()
                .take(3)
                .map(|&i| self.ssa.insts[i].op)
                .collect()
        };
        if !data.results.is_empty()
            || ops(data.regions[0]).as_slice() != [Op::Demote, Op::Yield]
            || ops(data.regions[1]).as_slice() != [Op::Yield]
        {
            return None;
        }
        let (cond, holds) = self.opposite(data.args[0]);
        if !holds {
            let src = [self.plain(cond), Source::bits(0)];
            return Some(Alu::new(AluOp::KILLE_INT, None, &src));
        }
        if !self.uses.in_register(cond)
            && let Some((op, a, b)) = self.comparison(cond)
            && let Some(kill) = op::as_kill(op)
        {
            return Some(Alu::new(
                kill,
                None,
                &[self.source(a, kill, 0), self.source(b, kill, 1)],
            ));
        }
        Some(Alu::new(
            AluOp::KILLNE_INT,
            None,
            &[self.plain(cond), Source::bits(0)],
        ))
    }

    /// Closes an `if` without an else arm that [`Self::begin_if`] opened at the end of `head`.
    fn end_if(&mut self, head: Block) {
        let end = self.block;
        self.start_block();
        self.m.add_both_edges(head, self.block);
        self.m.add_both_edges(end, self.block);
        self.push(Inst::EndIf);
    }

    fn loop_(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        let (body, continuing) = (data.regions[0], data.regions[1]);
        let params = |region: Region| self.ssa.regions[region].params.clone();
        let (body_params, continuing_params) = (params(body), params(continuing));
        let mut regs = |values: &[Value]| -> SmallVec<[VReg; 4]> {
            values
                .iter()
                .map(|&value| {
                    let reg = self.m.make_vreg(Demand::scalar(GPR), self.span);
                    self.values[value] = Some(Place::Reg(reg));
                    reg
                })
                .collect()
        };
        let frame = LoopFrame {
            body: regs(&body_params),
            continuing: regs(&continuing_params),
            results: regs(&data.results),
            exit: self.m.make_block(),
            continued: false,
            left: false,
        };
        let (exit, body_regs, results) = (frame.exit, frame.body.clone(), frame.results.clone());
        self.assign(&body_regs, &data.args);
        self.push(Inst::LoopStart);
        let before = self.block;
        self.start_block();
        let header = self.block;
        self.m.add_both_edges(before, header);
        self.m.add_edge(Edges::Physical, before, exit);
        self.loops.push(frame);
        self.region(body, &[])?;
        let frame = self.loops.last().expect("pushed above");
        if !frame.continued {
            let unreached = frame.continuing.clone();
            self.define_unreached(&unreached);
        }
        let known = self.cubes.len();
        for &inst in &self.ssa.regions[continuing].insts {
            let data = &self.ssa.insts[inst];
            self.span = data.span;
            match data.op {
                Op::Next => self.assign(&body_regs, &data.args),
                Op::BreakIf => {
                    self.loops.last_mut().expect("pushed above").left = true;
                    let count = results.len();
                    let test = self.test(data.args[0]);
                    let head = self.begin_if(test);
                    self.assign(&results, &data.args[1..=count]);
                    self.leave(exit);
                    let end = self.block;
                    self.start_block();
                    self.m.add_both_edges(head, self.block);
                    self.m.add_edge(Edges::Physical, end, self.block);
                    self.push(Inst::EndIf);
                    self.assign(&body_regs, &data.args[count + 1..]);
                }
                Op::If => self.if_else(inst)?,
                Op::Loop => self.loop_(inst)?,
                Op::Block => self.block_(inst)?,
                Op::Exit => return Err(self.not_yet("leaving a labelled block by a jump")),
                Op::Unreachable => {}
                _ => self.instruction(inst)?,
            }
        }
        self.cubes.truncate(known);
        let left = self.loops.pop().expect("pushed above").left;
        self.push(Inst::LoopEnd);
        let latch = self.block;
        self.m.add_both_edges(latch, header);
        self.m.add_edge(Edges::Physical, latch, exit);
        self.place_block(exit);
        if !left {
            self.define_unreached(&results);
        }
        Ok(())
    }

    /// A comparison as an operation that the machine has: only E, GT, GE and NE exist, so less-than
    /// swaps its operands.
    fn comparison(&self, value: Value) -> Option<(AluOp, Value, Value)> {
        let data = self.ssa.def(value)?;
        ops::comparison(data)
    }

    fn instruction(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let data = &self.ssa.insts[inst];
        match (data.op, &data.imm) {
            (Op::Const, _) => Ok(()),
            (Op::Input, Imm::Input(input, component)) => {
                self.input(data.results[0], *input, *component)
            }
            (Op::Output, Imm::Output(output, component)) => {
                self.output(*output, *component, data.args[0])
            }
            (Op::BufferLoad, Imm::Resource(resource)) => self.buffer_load(inst, *resource),
            (Op::BufferStore, Imm::Resource(resource)) => self.buffer_store(inst, *resource),
            (Op::BufferSize, Imm::Resource(resource)) => self.buffer_size(inst, *resource),
            (Op::MemLoad, Imm::Mem(access)) => self.mem_load(inst, *access),
            (Op::MemStore, Imm::Mem(access)) => self.mem_store(inst, *access),
            // A subgroup is a wavefront, which runs in lock step.
            (Op::Barrier | Op::SubgroupBarrier, _) => {
                self.push(Inst::WaitAck);
                Ok(())
            }
            (Op::Demote, _) => {
                let kill = Alu::new(AluOp::KILLE_INT, None, &[Source::bits(0), Source::bits(0)]);
                self.push(Inst::Alu(kill));
                Ok(())
            }
            (Op::CubeS | Op::CubeT | Op::CubeMajor | Op::CubeFace, _) => {
                self.cube(inst);
                Ok(())
            }
            (Op::IsHelper, _) => {
                self.is_helper(data.results[0]);
                Ok(())
            }
            (Op::Tex, Imm::Tex(tex)) if self.is_linear_image(tex.texture) => {
                self.image_load(inst, tex.texture)
            }
            (Op::Tex, Imm::Tex(tex)) => self.tex(inst, *tex),
            (Op::ImageStore, Imm::Resource(resource)) => self.image_store(inst, *resource),
            (Op::TexQuery, Imm::Query(resource, query)) => self.query(inst, *resource, *query),
            (Op::Ddx | Op::DdxFine | Op::DdxCoarse | Op::Ddy | Op::DdyFine | Op::DdyCoarse, _) => {
                self.derivative(inst)
            }
            _ => self.compute(inst),
        }
    }
}
