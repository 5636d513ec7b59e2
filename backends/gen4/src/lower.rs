//! Structured SSA becomes machine IR: one SSA operation, one step, with comparisons folded into what they decide.
//!
//! A workgroup is one thread. Its invocations run a step at a time, in a loop around the whole body. Control flow stays
//! structured: marks (`If`, `Else`, `EndIf`, `Do`, `While`, `Break`) stand among flat blocks whose logical edges say where a
//! lane goes and whose physical edges say where the thread goes. G45 vol. 4, 14.1.2.

mod alu;
mod atomic;
mod control;
mod depth;
mod elements;
mod fragment;
mod geometry;
mod image;
mod known;
mod memory;
mod outputs;
mod phases;
mod subgroup;
mod table;
pub mod texture;
mod truth;
mod vertex;

use crate::abi::{Abi, group};
use crate::inst::{GPR, Inst, Source, Src, Test};
use crate::isa::operand::Type as Ty;
use crate::isa::ops::Opcode;
use crate::regs::Places;
use control::LoopFrame;
use cranelift_entity::{EntitySet, SecondaryMap};
use depth::Depth;
pub use elements::MOST as MOST_ELEMENTS;
use gpucc_ir::driver::Failure;
use gpucc_ir::mach::{self, Block, Demand, VReg};
use gpucc_ir::ssa::verify::bounds::Facts;
use gpucc_ir::ssa::{self, Builtin, Func, Imm, InputKind, Mem, Span, Type, Value};
use phases::{PhasedLoop, Phases};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The surface of an access without one: the thread's scratch. G45 vol. 4, 5.10.1.
pub const STATELESS: u8 = 255;

/// The result of lowering.
pub struct Lowered {
    /// The machine function.
    pub func: mach::Func<Inst>,
    pub places: Places,
    /// Replies have components that nobody reads.
    pub unread: bool,
    /// Stacks of masks go to registers.
    pub deep: bool,
}

/// Where a value is.
#[derive(Copy, Clone, Debug)]
enum Place {
    Reg(VReg),
    /// Read where it is used.
    Source(Src),
}

struct Lower<'a> {
    ssa: &'a Func,
    abi: &'a Abi,
    m: mach::Func<Inst>,
    block: Block,
    values: SecondaryMap<Value, Option<Place>>,
    /// Truth values that somebody reads as values.
    in_registers: EntitySet<Value>,
    /// How often each value is read.
    reads: SecondaryMap<Value, u32>,
    /// Values that somebody reads for more than a load of a texel.
    counts: EntitySet<Value>,
    /// Registers with numbers, of this block.
    numbers: BTreeMap<u32, VReg>,
    /// The value of this block that stands where all lanes read it.
    spread: Option<Value>,
    /// The truth value that the flag holds, or its opposite.
    flag: Option<(Value, bool)>,
    /// First byte of each variable in scratch, for one lane or for all.
    variables: SecondaryMap<Mem, u32>,
    /// The first register of each variable in registers, and how many they take.
    arrays: SecondaryMap<Mem, Option<u8>>,
    elements: u8,
    /// What addresses of variables may be, where some may stand in registers.
    facts: Option<Facts>,
    loops: Vec<LoopFrame>,
    /// What barriers cut, and the loops around them.
    phases: Option<Phases>,
    phased_loops: Vec<PhasedLoop>,
    /// Cells of the masks of the code around barriers, inner ones last.
    masks: Vec<u32>,
    /// The end of what has a place in scratch.
    scratch: u32,
    /// The stacks of masks.
    depth: Depth,
    /// The invocation's number by axis.
    local: [Option<Src>; 3],
    /// Fragment: w.
    w: Option<VReg>,
    /// Fragment: the register of one where a pixel is covered, and 0 elsewhere.
    coverage: Option<VReg>,
    /// What outputs have.
    written: outputs::Written,
    /// Geometry: what is known of strips, and what is counted.
    strip: geometry::Strip,
    /// Replies have components that nobody reads.
    unread: bool,
    span: Span,
}

/// Lowers a function that holds native operations only.
///
/// # Errors
/// [`Failure::NotYet`] for what is not written, [`Failure::Limit`] where the machine ends.
pub fn lower(ssa: &Func, abi: &Abi) -> Result<Lowered, Failure> {
    let mut m = mach::Func::new(ssa.name.clone(), crate::inst::files(abi.lanes));
    let block = m.push_block();
    let mut lower = Lower {
        ssa,
        abi,
        m,
        block,
        values: SecondaryMap::new(),
        in_registers: EntitySet::new(),
        reads: SecondaryMap::new(),
        counts: EntitySet::new(),
        spread: None,
        flag: None,
        numbers: BTreeMap::new(),
        variables: SecondaryMap::new(),
        arrays: SecondaryMap::new(),
        elements: 0,
        facts: None,
        loops: Vec::new(),
        phases: None,
        phased_loops: Vec::new(),
        masks: Vec::new(),
        scratch: 0,
        depth: Depth::default(),
        local: [None; 3],
        w: None,
        coverage: None,
        written: outputs::Written::default(),
        strip: geometry::Strip::default(),
        unread: false,
        span: Span::NONE,
    };
    if lower.invocations() > abi.lanes {
        lower.phases = Phases::of(ssa);
    }
    lower.find_values();
    let scratch = lower.place_variables()?;
    lower.scratch = lower.place_cells(scratch)?;
    if !abi.is_geometry() {
        lower.begin_outputs();
    }
    if abi.is_geometry() {
        lower.geometry()?;
    } else if abi.is_fragment() {
        lower.begin_fragment();
        lower.region(ssa.body, &[])?;
        lower.end_fragment()?;
    } else if abi.is_vertex() {
        lower.region(ssa.body, &[])?;
        lower.end_vertex();
    } else if lower.phases.is_some() {
        lower.phased(ssa.body, &[])?;
        lower.push(Inst::End);
    } else {
        lower.group()?;
        lower.push(Inst::End);
    }
    let slot_bytes = lower.private_step();
    let taken = lower.elements + lower.depth.registers;
    let places = Places { scratch: lower.scratch, slot_bytes, taken };
    Ok(Lowered { func: lower.m, places, unread: lower.unread, deep: lower.depth.registers > 0 })
}

impl Lower<'_> {
    fn not_yet(&self, feature: impl Into<String>) -> Failure {
        Failure::NotYet { feature: feature.into(), stage: "lower", span: self.span }
    }

    fn fresh(&mut self) -> VReg {
        self.m.make_vreg(Demand::scalar(GPR), self.span)
    }

    fn push(&mut self, inst: Inst) {
        if inst.sets_flag() {
            self.flag = None;
        }
        self.m.push(self.block, inst, self.span);
    }

    /// The invocations of a workgroup.
    fn invocations(&self) -> u32 {
        self.ssa.workgroup_size.iter().fold(1, |all, &n| all.saturating_mul(n))
    }

    /// The loop over the group's invocations, a step at a time.
    fn group(&mut self) -> Result<(), Failure> {
        let count = self.invocations();
        let lane = Source::from(Src::Fixed(self.abi.lane()));
        let below = |first: Source, count: u32| Test {
            condition: crate::inst::Condition::Less,
            ty: Ty::Ud,
            first,
            second: Src::Bits(count).into(),
            join: None,
        };
        let repeats = count > self.abi.lanes;
        let header = repeats.then(|| self.begin_loop(0)).transpose()?;
        let head = (!count.is_multiple_of(self.abi.lanes))
            .then(|| {
                self.push(Inst::Compare(below(lane, count)));
                self.begin_if(false, false)
            })
            .transpose()?;
        self.number_invocations();
        self.region(self.ssa.body, &[])?;
        if let Some(head) = head {
            self.end_if(head);
        }
        if let Some(header) = header {
            self.push(Inst::Advance { steps: 1, bytes: false });
            let first = Src::Scalar { register: self.abi.lane(), dword: 0 };
            self.repeat(header, below(first.into(), count));
        }
        Ok(())
    }

    /// The axes of the invocation's number, where the program asks for them. The number is below 1024 and so is a size of an
    /// axis, so that a product with 2^20 / size, rounded up, has the quotient in its upper bits.
    fn number_invocations(&mut self) {
        let asks = |which: Builtin| {
            self.ssa.inputs.values().any(|input| input.kind == InputKind::Builtin(which))
        };
        if !asks(Builtin::GlobalInvocationId) && !asks(Builtin::LocalInvocationId) {
            return;
        }
        let mut rest = Src::Fixed(self.abi.lane());
        let size = self.ssa.workgroup_size;
        for axis in 0..3 {
            let above: u32 = size[axis + 1..].iter().product();
            let of_axis = match (size[axis], above) {
                (1, _) => Src::Bits(0),
                (_, 1) => rest,
                (size, _) => {
                    let quotient = self.fresh();
                    let ratio = (1u32 << 20).div_ceil(size);
                    // Both factors together have less than 32 bits: the low half of the number is all of it.
                    let product = self.product(rest.into(), Src::Bits(ratio).into());
                    let by = Src::Bits(20).into();
                    let shifted = [Src::Reg(product.into()).into(), by];
                    self.alu(Opcode::Shr, Ty::Ud, quotient, &shifted);
                    let quotient = Src::Reg(quotient.into());
                    let back = self.product(quotient.into(), Src::Bits(size).into());
                    let remainder = self.fresh();
                    let less = Source { negate: true, ..Src::Reg(back.into()).into() };
                    self.alu(Opcode::Add, Ty::D, remainder, &[rest.into(), less]);
                    rest = quotient;
                    Src::Reg(remainder.into())
                }
            };
            if above == 1 && size[axis] != 1 {
                rest = Src::Bits(0);
            }
            self.local[axis] = Some(of_axis);
        }
    }

    /// One component of an input.
    fn input(&mut self, data: &ssa::InstData) -> Result<(), Failure> {
        let Imm::Input(input, component) = data.imm else {
            return Err(self.not_yet("this input"));
        };
        let axis = usize::from(component.min(2));
        let inline = |dword: u8| Src::Scalar { register: self.abi.inline(), dword };
        let local = self.local[axis].unwrap_or(Src::Bits(0));
        let src = match self.ssa.inputs[input].kind {
            InputKind::Builtin(Builtin::LocalInvocationIndex) => Src::Fixed(self.abi.lane()),
            InputKind::Builtin(Builtin::LocalInvocationId) => local,
            InputKind::Builtin(Builtin::WorkgroupId) => inline(group::ID + component),
            InputKind::Builtin(Builtin::NumWorkgroups) => inline(group::COUNT + component),
            InputKind::Builtin(Builtin::GlobalInvocationId) => {
                let size = self.ssa.workgroup_size[axis];
                let group = inline(group::ID + component);
                let first = match size {
                    1 => group,
                    size => {
                        let product = self.product(group.into(), Src::Bits(size).into());
                        Src::Reg(product.into())
                    }
                };
                let sum = self.fresh();
                self.alu(Opcode::Add, Ty::D, sum, &[first.into(), local.into()]);
                Src::Reg(sum.into())
            }
            InputKind::Builtin(which) if let Some(place) = self.subgroup_input(which) => {
                self.values[data.results[0]] = Some(place);
                return Ok(());
            }
            _ if self.abi.is_geometry() => return self.geometry_input(data),
            _ if self.abi.is_vertex() => return self.vertex_input(data),
            _ => return self.fragment_input(data),
        };
        self.values[data.results[0]] = Some(match src.as_vreg() {
            Some(reg) => Place::Reg(reg),
            None => Place::Source(src),
        });
        Ok(())
    }

    /// A constant, or where a value is.
    fn source(&self, value: Value) -> Source {
        if let Some(bits) = self.ssa.as_const(value) {
            let bits = match self.ssa.ty(value) {
                Type::B1 => u32::from(bits != 0),
                _ => bits as u32,
            };
            return Src::Bits(bits).into();
        }
        match self.values[value] {
            Some(Place::Reg(reg)) => Src::Reg(reg.into()).into(),
            Some(Place::Source(src)) => src.into(),
            // Code that no lane reaches reads what nobody defines.
            None => Src::Bits(0).into(),
        }
    }

    /// As [`Self::source`], and no number.
    fn no_number(&mut self, source: Source) -> Source {
        let Src::Bits(bits) = source.src else { return source };
        if let Some(&reg) = self.numbers.get(&bits) {
            return Source { src: Src::Reg(reg.into()), ..source };
        }
        let reg = self.fresh();
        self.alu(Opcode::Mov, Ty::Ud, reg, &[source.src.into()]);
        self.numbers.insert(bits, reg);
        Source { src: Src::Reg(reg.into()), ..source }
    }

    /// A register of lanes with a value.
    fn register(&mut self, value: Value) -> VReg {
        let source = self.source(value);
        match source.src.as_vreg() {
            Some(reg) => reg,
            None => {
                let reg = self.fresh();
                self.alu(Opcode::Mov, Ty::Ud, reg, &[source]);
                reg
            }
        }
    }

    /// One operation on one type.
    fn alu(&mut self, opcode: Opcode, ty: Ty, dst: VReg, sources: &[Source]) {
        self.convert(opcode, ty, dst, ty, sources);
    }

    fn convert(&mut self, opcode: Opcode, to: Ty, dst: VReg, from: Ty, sources: &[Source]) {
        let sources: SmallVec<[Source; 2]> = match sources {
            [first, second] => {
                let first = self.no_number(*first);
                SmallVec::from_slice(&[first, *second])
            }
            _ => SmallVec::from_slice(sources),
        };
        self.push(Inst::Alu { opcode, to, dst: dst.into(), from, saturate: false, sources });
    }

    /// The low half of a product in a register.
    fn product(&mut self, first: Source, second: Source) -> VReg {
        let first = self.no_number(first);
        let (dst, high) = (self.fresh(), self.fresh());
        self.push(Inst::Product { dst: dst.into(), high: high.into(), first, second });
        dst
    }

    /// Values to registers, all read before one is written.
    fn assign(&mut self, to: &[VReg], values: &[Value]) {
        let (mut dst, mut src) = (SmallVec::new(), SmallVec::new());
        let mut numbers: SmallVec<[(VReg, Source); 4]> = SmallVec::new();
        for (&to, &value) in to.iter().zip(values) {
            let source = self.source(value);
            match source.src {
                Src::Reg(reg) if reg == to.into() => {}
                Src::Reg(reg) => {
                    dst.push(to.into());
                    src.push(reg);
                }
                _ => numbers.push((to, source)),
            }
        }
        if !dst.is_empty() {
            self.push(Inst::Copy { dst, src });
        }
        for (to, source) in numbers {
            self.alu(Opcode::Mov, Ty::Ud, to, &[source]);
        }
    }
}

impl Src {
    /// The virtual register, if it is one.
    fn as_vreg(self) -> Option<VReg> {
        match self {
            Src::Reg(reg) => reg.as_virt(),
            _ => None,
        }
    }
}
