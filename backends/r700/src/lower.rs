//! Structured SSA becomes machine IR: one SSA operation, one ALU operation, fetch or mark of control
//! flow, with modifiers, products, clamps and tests folded where that changes no bit.
//!
//! Control flow stays structured: marks (`If`, `Else`, `EndIf`, `LoopStart`, `LoopEnd`, `Break`)
//! stand among flat blocks whose logical edges say where a lane goes and whose physical edges say
//! where the wavefront goes. R700 ISA 3.6, 3.7.

mod arrays;
mod compute;
mod control;
mod double;
mod image;
mod interface;
pub(crate) mod linear;
mod memory;
mod ops;
mod share;
mod tables;
mod texture;
mod uses;

pub use arrays::{scratch_of, within_scratch};
pub use interface::vertex_format;

use crate::abi::Abi;
use crate::api::Failure;
use crate::inst::{Alu, FILES, GPR, Inst, Source, Src};
use crate::isa::AluOp;
use crate::op;
use control::LoopFrame;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{self, Block, Demand, VReg};
use gpucc_ir::ssa::{self, Func, Imm, Mem, Op, Resource, Span, Value};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use uses::Uses;

/// A number as narrow as the field that it goes to: never one that has lost its upper bits.
///
/// # Panics
/// When it does not fit. The limits of the calling convention keep such numbers from here.
#[track_caller]
fn narrow<T: TryFrom<u32>>(number: u32) -> T
where
    T::Error: std::fmt::Debug,
{
    T::try_from(number).expect("the calling convention's limits keep numbers within their fields")
}

/// Where a value is.
#[derive(Copy, Clone, Debug)]
enum Place {
    /// In a register.
    Reg(VReg),
    /// Read where it is used: a constant or a dword of a constant buffer.
    Source(Src),
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
    /// Values of 64 bits: low and high dword.
    doubles: SecondaryMap<Value, Option<[Source; 2]>>,
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
        doubles: SecondaryMap::new(),
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
    lower.declare_variables()?;
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
        Failure::NotYet { feature: feature.into(), stage: "lower", span: self.span }
    }

    fn fresh(&mut self) -> VReg {
        self.m.make_vreg(Demand::scalar(GPR), self.span)
    }

    fn push(&mut self, mut inst: Inst) {
        match &mut inst {
            Inst::Alu(alu) | Inst::If(alu) => self.limit_constants(alu.src.iter_mut()),
            Inst::Dot { src, .. } => self.limit_constants(src.iter_mut().flatten()),
            Inst::Double(double) => {
                self.limit_constants(double.src.iter_mut().flatten());
                self.limit_literals(double);
            }
            _ => {}
        }
        self.m.push(self.block, inst, self.span);
    }

    /// A group reads at most two pairs of constants (R700 ISA 4.7.4): one instruction that reads
    /// more gets the rest from registers.
    fn limit_constants<'s>(&mut self, sources: impl Iterator<Item = &'s mut Source>) {
        let mut pairs: SmallVec<[(u8, u16, u8); 2]> = SmallVec::new();
        for source in sources {
            let Src::Const { buffer, index, chan } = source.src else {
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
        Source::plain(Src::Const { buffer: crate::abi::DRIVER, index, chan })
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
            Source { src: Src::Reg(reg), .. } if reg.as_virt().is_some() => {
                reg.as_virt().expect("checked by the guard")
            }
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
                Source { src: Src::Reg(reg), .. } => {
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

    /// A comparison as an operation that the machine has: only E, GT, GE and NE exist, so less-than
    /// swaps its operands.
    fn comparison(&self, value: Value) -> Option<(AluOp, Value, Value)> {
        let data = self.ssa.def(value)?;
        ops::comparison(self.ssa, data)
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
