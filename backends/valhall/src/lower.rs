//! Structured SSA becomes machine IR: scalar instructions over virtual registers in blocks that branches
//! connect. What modifiers, widening, clamps and fused forms can take is folded on the way.

mod address;
mod alu;
mod atomic;
mod compare;
mod compute;
mod flow;
mod fragment;
mod graphics;
mod half;
mod image;
mod memory;
mod operand;
mod pack;
mod subgroup;
mod texture;
mod uses;
mod varying;
mod vertex;
mod wide;

use crate::abi::Abi;
use crate::api::{Failure, FauWord};
use crate::inst::{FILES, FauRef, GPR, Inst, Src, cell};
use crate::state::crosses_lanes;
use cranelift_entity::SecondaryMap;
use gpucc_ir::mach::{self, Block, Demand, Node, Reg, VReg};
use gpucc_ir::ssa::{self, Func, Imm, Mem, Op, Span, Stage, Type, Value};
use gpucc_passes::uniformity::Uniformity;
use indexmap::IndexSet;
use operand::Lane;
use smallvec::SmallVec;
use uses::Uses;

pub use vertex::{only, parts};

/// Which program of a function is made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// IDVS: position and point size.
    Position,
    /// IDVS: the rest.
    Varying,
}

/// Where a value is.
#[derive(Copy, Clone, Debug)]
enum Place {
    /// In a register.
    Reg(VReg),
    /// 16 bits, in a half of a register.
    Half(VReg, u8),
    /// 32 bits: a byte or half of a register, with zeros above.
    Part(VReg, Lane),
    /// 64 bits, in two places.
    Pair([Src; 2]),
    /// Read where it is used: a word of FAU or a special.
    Src(Src),
}

/// The result of lowering.
pub struct Lowered {
    /// The machine function.
    pub func: mach::Func<Inst>,
    /// What the words of fast access uniforms hold that the code reads, by [`FauRef`].
    pub fau: IndexSet<FauWord>,
    /// Thread-local bytes that variables take, a multiple of 16; spill slots come after.
    pub tls_bytes: u32,
}

pub(crate) struct Lower<'a> {
    ssa: &'a Func,
    abi: &'a Abi,
    part: Part,
    uses: Uses,
    uniformity: Uniformity,
    m: mach::Func<Inst>,
    block: Block,
    values: SecondaryMap<Value, Option<Place>>,
    constructs: Vec<flow::Construct>,
    fau: IndexSet<FauWord>,
    /// Registers that hold something at the start.
    preloads: Vec<(u8, VReg)>,
    /// Offsets of private variables from the thread-local pointer.
    private: SecondaryMap<Mem, Option<u32>>,
    tls_bytes: u32,
    /// Addresses within buffers that are at hand.
    addresses: address::Addresses,
    /// Angles whose table entries are at hand.
    angles: Vec<(Value, (operand::Opnd, operand::Opnd, operand::Opnd))>,
    /// What values are in the first lane of the quad, where that is at hand.
    corners: Vec<(Value, VReg)>,
    /// Values that wait, and those that are clamps of them.
    clamps: Vec<(Value, Value)>,
    /// Operations on f16 that wait for their neighbours, with their results.
    waiting: Vec<(ssa::Inst, Value)>,
    /// Fragment: the coverage mask, cleared by `demote`.
    coverage: Option<VReg>,
    /// What is loaded of the stage's inputs.
    inputs: varying::Inputs,
    /// What is left in the stage's outputs.
    outputs: vertex::Outputs,
    /// Quads work together somewhere.
    helpers: bool,
    divergent: bool,
    span: Span,
}

/// Lowers a function that holds native operations only.
///
/// # Errors
/// [`Failure::NotYet`] for what is not written, [`Failure::Limit`] where the machine ends.
pub fn lower(ssa: &Func, abi: &Abi, part: Part) -> Result<Lowered, Failure> {
    let mut m = mach::Func::new(ssa.name.clone(), FILES);
    let block = m.push_block();
    let mut lower = Lower {
        ssa,
        abi,
        part,
        uses: Uses::of(ssa),
        uniformity: Uniformity::of(ssa),
        m,
        block,
        values: SecondaryMap::new(),
        constructs: Vec::new(),
        fau: IndexSet::new(),
        preloads: Vec::new(),
        private: SecondaryMap::new(),
        tls_bytes: 0,
        addresses: address::Addresses::default(),
        angles: Vec::new(),
        corners: Vec::new(),
        clamps: Vec::new(),
        waiting: Vec::new(),
        coverage: None,
        inputs: varying::Inputs::of(ssa),
        outputs: vertex::Outputs::default(),
        helpers: needs_quads(ssa),
        divergent: false,
        span: Span::NONE,
    };
    lower.declare_variables();
    lower.region(ssa.body)?;
    let mut entry = SmallVec::new();
    for &(register, vreg) in &lower.preloads {
        entry.push((Reg::from(vreg), cell(register)));
    }
    if !entry.is_empty() {
        let first = lower.m.layout[0];
        lower.m.blocks[first].nodes.insert(0, Node { inst: Inst::Entry(entry), span: Span::NONE });
    }
    Ok(Lowered { func: lower.m, fau: lower.fau, tls_bytes: lower.tls_bytes })
}

/// Whether quads exchange values: helper invocations must run then.
fn needs_quads(ssa: &Func) -> bool {
    ssa.stage == Stage::Fragment
        && ssa.regions_in_order().iter().any(|&(region, ..)| {
            ssa.regions[region].insts.iter().any(|&inst| crosses_lanes(&ssa.insts[inst]))
        })
}

impl Lower<'_> {
    fn not_yet(&self, feature: impl Into<String>) -> Failure {
        Failure::NotYet { feature: feature.into(), stage: "lower", span: self.span }
    }

    fn fresh(&mut self) -> VReg {
        self.m.make_vreg(Demand::scalar(GPR), self.span)
    }

    fn push_inst(&mut self, inst: Inst) {
        self.m.push(self.block, inst, self.span);
    }

    /// A word of fast access uniforms.
    fn fau(&mut self, word: FauWord) -> Src {
        let (index, _) = self.fau.insert_full(word);
        Src::Fau(FauRef(index as u16))
    }

    /// Two words of 32 bits that are one of 64: they are always asked for together, so the second follows the first.
    fn fau_pair(&mut self, words: [FauWord; 2]) -> Src {
        let [low, _] = words.map(|word| self.fau.insert_full(word).0);
        Src::FauPair(FauRef(low as u16))
    }

    /// What a register holds when the program starts.
    fn preload(&mut self, register: u8) -> VReg {
        if let Some(&(_, vreg)) = self.preloads.iter().find(|&&(r, _)| r == register) {
            return vreg;
        }
        let vreg = self.fresh();
        self.preloads.push((register, vreg));
        vreg
    }

    fn place(&self, value: Value) -> Option<Place> {
        self.values[value]
    }

    fn define(&mut self, value: Value, place: Place) {
        self.values[value] = Some(place);
        // Clamps of it that its instruction made.
        while let Some(at) = self.clamps.iter().position(|&(root, _)| root == value) {
            let (_, clamped) = self.clamps.remove(at);
            self.values[clamped] = Some(place);
        }
    }

    /// A result of 16 or 32 bits that is a whole register.
    fn define_reg(&mut self, value: Value, reg: VReg) {
        let place = match self.ssa.ty(value) {
            Type::B16 => Place::Half(reg, 0),
            _ => Place::Reg(reg),
        };
        self.define(value, place);
    }

    fn define_pair(&mut self, value: Value, pair: [VReg; 2]) {
        self.define(value, Place::Pair(pair.map(|v| Src::Reg(v.into()))));
    }

    /// Computes a value that has no register where it is needed, for this use alone.
    fn recompute(&mut self, value: Value) -> operand::Opnd {
        let ssa::ValueDef::Result(inst, _) = self.ssa.values[value].def else {
            unreachable!("only results of instructions are lazy");
        };
        self.compute(inst);
        let made = self.plain(value);
        self.values[value] = None;
        made
    }

    /// Lowers what is no control flow.
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
            (Op::BufferLoad, Imm::Resource(resource)) => {
                self.buffer_load(inst, *resource);
                Ok(())
            }
            (Op::BufferStore, Imm::Resource(resource)) => {
                self.buffer_store(inst, *resource);
                Ok(())
            }
            (Op::BufferSize, Imm::Resource(resource)) => {
                self.buffer_size(inst, *resource);
                Ok(())
            }
            (Op::BufferAtomic, Imm::BufferAtomic(resource, op)) => {
                self.buffer_atomic(inst, *resource, *op)
            }
            (Op::MemLoad, Imm::Mem(access)) => {
                self.mem_load(inst, *access);
                Ok(())
            }
            (Op::MemStore, Imm::Mem(access)) => {
                self.mem_store(inst, *access);
                Ok(())
            }
            (Op::MemAtomic, Imm::MemAtomic(access, op)) => self.mem_atomic(inst, *access, *op),
            (Op::Barrier, _) => {
                self.barrier();
                Ok(())
            }
            (Op::Ballot, _) => self.ballot(inst),
            (Op::Shuffle, Imm::Shuffle(which)) => self.shuffle(inst, *which),
            // A warp runs in step, and accesses to the same memory stay in order.
            (Op::SubgroupBarrier, _) => Ok(()),
            (Op::Clock | Op::DeviceClock, _) => {
                self.clock(inst);
                Ok(())
            }
            (Op::Demote, _) => {
                self.demote(None);
                Ok(())
            }
            (Op::IsHelper, _) => {
                self.is_helper(data.results[0]);
                Ok(())
            }
            (Op::Tex, Imm::Tex(tex)) => self.tex(inst, *tex),
            (Op::TexQuery, Imm::Query(resource, query)) => self.tex_query(inst, *resource, *query),
            (Op::ImageStore, Imm::Resource(resource)) => self.image_store(inst, *resource),
            (Op::ImageAtomic, Imm::ImageAtomic(resource, op)) => {
                self.image_atomic(inst, *resource, *op)
            }
            _ => {
                let lazy = data
                    .results
                    .first()
                    .is_some_and(|&r| self.uses.is_lazy(r) && uses::bits(data).is_none());
                if !lazy && !self.packed(inst) {
                    self.compute(inst);
                }
                Ok(())
            }
        }
    }

    /// Lowers a pure operation or a derivative into registers.
    fn compute(&mut self, inst: ssa::Inst) {
        let data = &self.ssa.insts[inst];
        let result = data.results[0];
        if let Some(root) = self.uses.clamped(result) {
            match self.values[root] {
                Some(place) => self.define(result, place),
                None => self.clamps.push((root, result)),
            }
            return;
        }
        let operands = data.args.first().map_or(self.ssa.ty(result), |&arg| self.ssa.ty(arg));
        match (data.op, operands) {
            (Op::Select, _) => self.select(data, result),
            (op, _) if op.is_comparison() => {
                let reg = self.comparison(result);
                self.define_reg(result, reg);
            }
            (_, Type::B1) => self.logic(data, result),
            (_, Type::B64) => self.wide_op(data, result),
            (_, Type::B16) => self.half_op(data, result),
            (_, Type::B32) => self.alu(data, result),
        }
    }
}

#[cfg(test)]
mod tests;
