//! Structured SSA becomes machine IR: one operation a group, with tests folded into what they decide.
//!
//! Control flow stays structured: marks ([`Inst::If`] and its like) stand among flat blocks whose logical edges say where an
//! instance goes, and whose physical edges say where the task goes. isa/rogue-pipeline.md 2.7.

mod alu;
mod array;
mod atomic;
mod control;
mod fragment;
mod memory;
mod scratch;
mod subgroup;
mod test;
mod texel;
mod texture;
mod tile;
mod vertex;
mod wide;
mod workgroup;

use crate::abi::Abi;
use crate::inst::{FILES, Inst, Src, Step, TEMP};
use crate::isa::ops::Main;
use crate::isa::register::{Register, constant};
pub use array::MOST_WORDS;
pub use atomic::in_turn;
use control::LoopFrame;
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{self, Block, Demand, Reg, VReg};
use gpucc_ir::ssa::{self, Builtin, Func, Imm, InputKind, Mem, Op, Span, Stage, Type, Value};
use gpucc_isa::Inst as Word;
pub use scratch::block_address;
use smallvec::SmallVec;
use std::collections::BTreeMap;
pub use vertex::iterated_half as iterated_output;

/// The result of lowering.
pub struct Lowered {
    /// The machine function.
    pub func: mach::Func<Inst>,
    /// Bytes of scratch memory that arrays take.
    pub scratch: u32,
}

struct Lower<'a> {
    ssa: &'a Func,
    abi: &'a Abi,
    m: mach::Func<Inst>,
    block: Block,
    values: SecondaryMap<Value, Option<Src>>,
    /// Values of 64 bits.
    pairs: BTreeMap<Value, wide::Pair>,
    /// Truth values that somebody reads as numbers.
    in_registers: SecondaryMap<Value, bool>,
    /// Truth values that two comparisons make for one choice or condition, which asks them one after the other.
    joined: SecondaryMap<Value, bool>,
    /// Values that somebody reads.
    read: SecondaryMap<Value, bool>,
    /// Registers with numbers, of this block.
    numbers: BTreeMap<u32, VReg>,
    loops: Vec<LoopFrame>,
    /// Conditions that are open within the innermost loop.
    open: u32,
    /// The registers of private arrays.
    arrays: SecondaryMap<Mem, Option<VReg>>,
    /// Stores of zeros to such arrays that hold them.
    zeros: EntitySet<ssa::Inst>,
    /// Private arrays in memory.
    scratch: scratch::Scratch,
    /// Atomic operations on buffers take turns under a mutex.
    in_turn: bool,
    /// What instances of a subgroup have in their cells.
    put: subgroup::Put,
    /// Fragment: what it has iterated, and whether pixels survive.
    fragment: fragment::State,
    span: Span,
}

/// Lowers a function that holds native operations only.
///
/// Where `spills` says so, registers may go to memory later.
///
/// # Errors
/// [`Failure::NotYet`] for what is not written, [`Failure::Limit`] where the machine ends.
pub fn lower(ssa: &Func, abi: &Abi, spills: bool) -> Result<Lowered, Failure> {
    let mut m = mach::Func::new(ssa.name.clone(), FILES);
    let block = m.push_block();
    let mut lower = Lower {
        ssa,
        abi,
        m,
        block,
        values: SecondaryMap::new(),
        pairs: BTreeMap::new(),
        in_registers: SecondaryMap::new(),
        joined: SecondaryMap::new(),
        read: texture::read(ssa),
        numbers: BTreeMap::new(),
        loops: Vec::new(),
        open: 0,
        arrays: SecondaryMap::new(),
        zeros: EntitySet::new(),
        scratch: scratch::Scratch::default(),
        in_turn: atomic::in_turn(ssa),
        put: None,
        fragment: fragment::State::default(),
        span: Span::NONE,
    };
    lower.find_truths();
    lower.place_arrays(spills)?;
    let covered = lower.begin_scratch()?;
    match ssa.stage {
        Stage::Geometry => return Err(lower.not_yet("geometry shaders")),
        Stage::Compute => lower.workgroup()?,
        Stage::Fragment => {
            lower.begin_fragment()?;
            lower.region(ssa.body, &[])?;
            lower.end_fragment()?;
        }
        Stage::Vertex => {
            lower.begin_vertex()?;
            lower.region(ssa.body, &[])?;
            lower.end_vertex()?;
        }
    }
    if let Some(head) = covered {
        lower.end_if(head);
    }
    lower.push(Inst::End);
    Ok(Lowered { func: lower.m, scratch: lower.scratch.bytes })
}

impl Lower<'_> {
    fn not_yet(&self, feature: impl Into<String>) -> Failure {
        Failure::NotYet { feature: feature.into(), stage: "lower", span: self.span }
    }

    fn fresh(&mut self) -> VReg {
        self.m.make_vreg(Demand::scalar(TEMP), self.span)
    }

    fn push(&mut self, inst: impl Into<Inst>) {
        self.m.push(self.block, inst.into(), self.span);
    }

    /// The body of a workgroup's instances. A task has 32 of them, and those beyond the workgroup do nothing. 4.3.
    fn workgroup(&mut self) -> Result<(), Failure> {
        let count = self.ssa.workgroup_size.iter().product::<u32>();
        let nothing = self.ssa.regions[self.ssa.body].insts.len() < 2;
        if nothing || count.is_multiple_of(32) {
            self.region(self.ssa.body, &[])?;
            return Ok(());
        }
        let (index, count) = (Src::Fixed(Register::Vtxin(0)), self.number(count));
        self.compare(test::Asked { test: test::LESS, ty: test::U32, operands: [index, count] });
        // Every task has an instance of the workgroup, so that nobody jumps, and behind the body is the end.
        self.push(Inst::Guard);
        self.region(self.ssa.body, &[])?;
        Ok(())
    }

    /// A number as a source: a constant of the machine, or a register.
    fn number(&mut self, bits: u32) -> Src {
        if let Some(number) = constant(bits) {
            return Src::Fixed(Register::Special(number));
        }
        if let Some(&reg) = self.numbers.get(&bits) {
            return Src::Reg(reg.into());
        }
        let reg = self.fresh();
        self.push(Step::number(reg, bits));
        self.numbers.insert(bits, reg);
        Src::Reg(reg.into())
    }

    /// Where a value is. Every port takes it.
    fn source(&mut self, value: Value) -> Src {
        if let Some(bits) = self.ssa.as_const(value) {
            let bits = match self.ssa.ty(value) {
                Type::B1 => u32::from(bits != 0),
                _ => bits as u32,
            };
            return self.number(bits);
        }
        // Code that nobody reaches reads what nobody defines.
        self.values[value].unwrap_or(Src::ZERO)
    }

    /// A register with a value that nothing else is in, for a range.
    fn own(&mut self, src: Src) -> Reg {
        let reg = self.fresh();
        match src {
            Src::Reg(from) => self.push(Inst::Copy {
                dst: SmallVec::from_slice(&[reg.into()]),
                src: SmallVec::from_slice(&[from]),
                count: 1,
            }),
            src => self.push(Step::copy(reg, src)),
        }
        reg.into()
    }

    /// A new register for a value.
    fn define(&mut self, value: Value) -> VReg {
        let reg = self.fresh();
        self.values[value] = Some(Src::Reg(reg.into()));
        reg
    }

    /// The result of one operation of phase 0 in a new register.
    fn p0(&mut self, word: Word, sources: &[Src]) -> VReg {
        let dst = self.fresh();
        let mut step = Step::p0(word).to(0, dst);
        for (&src, place) in sources.iter().zip(0..) {
            step = step.from(place, src);
        }
        self.push(step);
        dst
    }

    /// a * b + c of words.
    fn multiply_add(&mut self, a: Src, b: Src, c: Src) -> VReg {
        self.p0(Word::usual(Main::Imadd32.op()), &[a, b, c])
    }

    /// Values to registers, all read before one is written.
    fn assign(&mut self, to: &[VReg], values: &[Value]) {
        let (mut dst, mut src) = (SmallVec::new(), SmallVec::new());
        let mut fixed: SmallVec<[(VReg, Value); 4]> = SmallVec::new();
        for (&to, &value) in to.iter().zip(values) {
            match self.values[value] {
                Some(Src::Reg(reg)) if self.ssa.as_const(value).is_none() => {
                    if reg != to.into() {
                        dst.push(to.into());
                        src.push(reg);
                    }
                }
                _ => fixed.push((to, value)),
            }
        }
        if !dst.is_empty() {
            self.push(Inst::Copy { dst, src, count: 1 });
        }
        for (to, value) in fixed {
            match self.ssa.as_const(value) {
                Some(bits) if constant(bits as u32).is_none() => {
                    self.push(Step::number(to, bits as u32));
                }
                _ => {
                    let source = self.source(value);
                    self.push(Step::copy(to, source));
                }
            }
        }
    }

    /// What ends no region and opens none.
    fn instruction(&mut self, inst: ssa::Inst) -> Result<(), Failure> {
        let ssa = self.ssa;
        let data = &ssa.insts[inst];
        match data.op {
            Op::Const => Ok(()),
            Op::Input => self.input(data),
            Op::Output if ssa.stage == Stage::Vertex => self.vertex_output(data),
            Op::Output => self.fragment_output(data),
            Op::BufferLoad | Op::BufferStore | Op::BufferSize | Op::BufferAtomic => {
                self.buffer(data)
            }
            Op::Demote => self.demote(),
            Op::IsHelper => self.helps(data),
            // Instances of a task are in step, and what one stores is waited for where something is loaded. 4.3.
            Op::Barrier => {
                let tasks = ssa.workgroup_size.iter().product::<u32>().div_ceil(32);
                if tasks > 1 {
                    self.push(Inst::Meet(tasks));
                }
                Ok(())
            }
            Op::MemStore if self.zeros.contains(inst) => Ok(()),
            Op::MemLoad | Op::MemStore | Op::MemAtomic => self.variable(data),
            Op::Tex => self.tex(data),
            Op::TexQuery => self.texture_query(data),
            Op::ImageStore => self.image_store(data),
            Op::ImageAtomic => self.image_atomic(data),
            Op::Ballot => self.ballot(data),
            Op::Shuffle => self.shuffle(data),
            // Half of a task is in step, too.
            Op::SubgroupBarrier => Ok(()),
            Op::Clock | Op::DeviceClock => {
                // One word counts units of 80 ns. 3.1.
                let low = self.timer();
                self.values[data.results[0]] = Some(Src::Reg(low.into()));
                self.values[data.results[1]] = Some(Src::ZERO);
                Ok(())
            }
            _ if self.pairs(data)? => Ok(()),
            _ => self.compute(data),
        }
    }

    /// One component of an input.
    fn input(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let Imm::Input(input, component) = data.imm else {
            return Err(self.not_yet("this input"));
        };
        let half = self.ssa.ty(data.results[0]) == Type::B16;
        if !half && self.ssa.ty(data.results[0]) != Type::B32 {
            return Err(self.not_yet("inputs of other than 32 bits"));
        }
        let kind = self.ssa.inputs[input].kind;
        let src = match (self.ssa.stage, kind) {
            (Stage::Compute, InputKind::Builtin(which)) => self.group_input(which, component)?,
            (Stage::Fragment, _) => self.fragment_input(input, component)?,
            (Stage::Vertex, _) => self.vertex_input(input, component)?,
            _ => return Err(self.not_yet("this input")),
        };
        let src = match half && iterated_half(self.ssa, input) {
            true => Src::Reg(self.halves(src, Src::ZERO).into()),
            false => src,
        };
        self.values[data.results[0]] = Some(src);
        Ok(())
    }

    /// A coefficient in a register that every port takes.
    fn coefficient(&mut self, number: u16) -> Src {
        let reg = self.fresh();
        self.push(Step::copy(reg, Src::Fixed(Register::Coeff(number))));
        Src::Reg(reg.into())
    }

    fn group_input(&mut self, which: Builtin, component: u8) -> Result<Src, Failure> {
        let axis = usize::from(component.min(2));
        let number = u16::from(component);
        Ok(match which {
            Builtin::LocalInvocationIndex => Src::Fixed(Register::Vtxin(0)),
            Builtin::LocalInvocationId => self.local(axis),
            Builtin::WorkgroupId => self.coefficient(crate::abi::GROUP_ID + number),
            Builtin::NumWorkgroups => self.coefficient(crate::abi::GROUP_COUNT + number),
            Builtin::GlobalInvocationId => {
                let group = self.coefficient(crate::abi::GROUP_ID + number);
                let local = self.local(axis);
                let size = self.number(self.ssa.workgroup_size[axis]);
                Src::Reg(self.multiply_add(group, size, local).into())
            }
            _ => match self.subgroup_input(which) {
                Some(src) => src,
                None => return Err(self.not_yet("this input")),
            },
        })
    }

    /// The invocation's number on an axis. Its number within the workgroup is below 512 and so is a size, so that a product with
    /// 2^20 / size, rounded up, has the quotient in its upper bits.
    fn local(&mut self, axis: usize) -> Src {
        let size = self.ssa.workgroup_size;
        let zero = Src::ZERO;
        let below: u32 = size[..axis].iter().product();
        let above: u32 = size[axis + 1..].iter().product();
        if size[axis] == 1 {
            return zero;
        }
        let mut rest = Src::Fixed(Register::Vtxin(0));
        if below > 1 {
            rest = self.divided(rest, below);
        }
        if above > 1 {
            let quotient = self.divided(rest, size[axis]);
            let size = self.number(size[axis].wrapping_neg());
            rest = Src::Reg(self.multiply_add(quotient, size, rest).into());
        }
        rest
    }

    fn divided(&mut self, value: Src, by: u32) -> Src {
        let ratio = self.number((1u32 << 20).div_ceil(by));
        let product = self.multiply_add(value, ratio, Src::ZERO);
        let twenty = self.number(20);
        Src::Reg(self.shift(alu::RIGHT, Src::Reg(product.into()), twenty).into())
    }
}

/// A varying of halves that is iterated: its words in the vertex buffer are floats of 32 bits. 4.1.
fn iterated_half(ssa: &Func, input: ssa::Input) -> bool {
    let data = &ssa.inputs[input];
    matches!(data.kind, InputKind::Location { interpolation, .. }
        if ssa.stage == Stage::Fragment && interpolation != ssa::Interpolation::Flat)
}
