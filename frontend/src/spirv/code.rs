//! Instructions: values, memory, calls.

use super::lanes::{lanes_of, mismatch, without_nan};
use super::module::Inst;
use super::program::{Id, READING, op};
use super::types::Ty;
use super::{Frame, OfSpirv, Operand};
use crate::Needs;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Imm, Op, Stage, Type, Value};
use naga::ScalarKind;
use rspirv::spirv::{Op as Code, StorageClass};
use std::rc::Rc;

impl<'p> OfSpirv<'p> {
    /// An instruction of a block.
    pub(super) fn inst(&mut self, frame: &mut Frame<'p>, inst: &'p Inst) -> Result<()> {
        match op(inst) {
            Code::Nop | Code::Line | Code::NoLine | Code::SelectionMerge | Code::LoopMerge => {}
            Code::Variable => {
                let (_, ty) = self.source.program.pointee(inst.operand(0))?;
                if self.source.program.ty(ty)?.is_handle() {
                    let what = "variables that hold textures or samplers";
                    return Err(Stop::unsupported(what, READING));
                }
                let name = self.source.program.name(inst.operand(1));
                let name = if name.is_empty() { "local" } else { &name };
                let pointer = self.private(name, ty)?;
                self.initialise(&pointer, inst.rest(3).first().copied())?;
                self.set(frame, inst.operand(1), Operand::Pointer(pointer))?;
            }
            Code::Phi => {
                let pointer = self.phi(frame, inst.operand(1), inst.operand(0))?;
                let values = self.load(&pointer)?;
                self.set(frame, inst.operand(1), Operand::Values(values))?;
            }
            Code::Store => {
                let values = self.values(frame, inst.operand(1))?;
                self.give(frame, inst.operand(0), &values)?;
            }
            Code::CopyMemory => {
                let values = self.load_at(frame, inst.operand(1))?;
                self.give(frame, inst.operand(0), &values)?;
            }
            Code::AtomicStore => {
                let value = self.scalar(frame, inst.operand(3))?;
                self.atomic_write(frame, inst.operand(0), value)?;
            }
            Code::ImageWrite => self.image_write(frame, inst)?,
            Code::ControlBarrier => self.control_barrier(inst)?,
            // Orders the memory accesses of one invocation as others see them. Every machine here
            // keeps them in program order up to the next control barrier, so there is nothing to do.
            Code::MemoryBarrier => {}
            // What is assumed changes nothing.
            Code::AssumeTrueKHR => {
                let truth = self.scalar(frame, inst.operand(0))?;
                if self.ty(truth) != Type::B1 {
                    return Err(mismatch());
                }
            }
            Code::DemoteToHelperInvocation => {
                self.of_fragments("demote")?;
                self.b().inst(Op::Demote, Imm::None, &[], &[], &[]);
            }
            Code::EmitVertex | Code::EmitStreamVertex => {
                self.of_geometry(inst)?;
                let (at, outputs) = (self.span, Rc::clone(&self.source.outputs));
                self.outputs(&outputs)?;
                self.span = at;
                self.strip(Op::EmitVertex);
            }
            Code::EndPrimitive | Code::EndStreamPrimitive => {
                self.of_geometry(inst)?;
                self.strip(Op::EndPrimitive);
            }
            Code::FunctionCall => {
                if let Some(operand) = self.call(frame, inst)? {
                    self.set(frame, inst.operand(1), operand)?;
                }
            }
            Code::BeginInvocationInterlockEXT | Code::EndInvocationInterlockEXT => {
                let stop = Stop::unsupported("fragment shader interlock", READING);
                return Err(stop.needing(Needs::Interlock));
            }
            other => match self.evaluate(frame, inst)? {
                Some(operand) => self.set(frame, inst.operand(1), operand)?,
                None => return Err(lacking(other, inst)),
            },
        }
        Ok(())
    }

    fn call(&mut self, frame: &mut Frame<'p>, inst: &'p Inst) -> Result<Option<Operand>> {
        let program = self.source.program;
        let Some(callee) = program.function(inst.operand(2)) else {
            return Err(Stop::internal("a call of what is no function"));
        };
        let mut arguments = Vec::with_capacity(inst.rest(3).len());
        for (at, &argument) in inst.rest(3).iter().enumerate() {
            let wanted = callee.parameters.get(at).map(|&parameter| program.type_of(parameter));
            if wanted.transpose()? != Some(program.type_of(argument)?) {
                return Err(Stop::invalid("an argument does not have its parameter's type"));
            }
            arguments.push(self.operand(frame, argument)?);
        }
        let at = self.span;
        let mut slot = None;
        self.labelled(|lower, label| {
            slot = lower.inline(callee, arguments, label)?;
            Ok(true)
        })?;
        self.span = at;
        if self.ended() {
            return Ok(None);
        }
        match slot {
            Some(slot) => Ok(Some(Operand::Values(self.load(&slot)?))),
            None => Ok(None),
        }
    }

    /// What only fragment shaders may do.
    pub(super) fn of_fragments(&self, what: &str) -> Result<()> {
        match self.stage {
            Stage::Fragment => Ok(()),
            stage => Err(Stop::invalid(format!("{what} in a {} shader", stage.name()))),
        }
    }

    /// What only geometry shaders do. An instruction with an operand says which stream of vertices it is for.
    fn of_geometry(&mut self, inst: &Inst) -> Result<()> {
        if self.stage != Stage::Geometry {
            let stage = self.stage.name();
            return Err(Stop::invalid(format!("vertices are emitted in a {stage} shader")));
        }
        let Some(&stream) = inst.rest(0).first() else { return Ok(()) };
        let stream = self.constant_values(stream)?;
        match self.func.as_const(stream[0]) {
            Some(0) => Ok(()),
            _ => Err(Stop::unsupported("streams of vertices beyond the first", READING)),
        }
    }

    /// A clock as a value of the instruction's type: 64 bits, or two words of 32.
    pub(super) fn clock(&mut self, inst: &Inst, op: Op) -> Result<Values> {
        let made = self.b().inst(op, Imm::None, &[], &[], &[Type::B32; 2]);
        let words = Values::from_slice(&self.func.insts[made].results);
        Ok(match self.source.program.shape(inst.operand(0))?.1 {
            1 => Values::from_elem(self.op2(Op::Join64, words[0], words[1]), 1),
            _ => words,
        })
    }

    fn control_barrier(&mut self, inst: &Inst) -> Result<()> {
        let [scope, _, semantics] = [0, 1, 2].map(|at| self.constant_values(inst.operand(at)));
        let known = |values: Values| self.func.as_const(values[0]).unwrap_or(0);
        let (scope, semantics) = (known(scope?), known(semantics?));
        if scope == SUBGROUP {
            self.b().inst(Op::SubgroupBarrier, Imm::None, &[], &[], &[]);
            return Ok(());
        }
        let imm = Imm::Barrier {
            storage: semantics & 0x40 != 0,
            workgroup: semantics & 0x100 != 0,
            texture: semantics & 0x800 != 0,
        };
        self.b().inst(Op::Barrier, imm, &[], &[], &[]);
        Ok(())
    }

    /// What an instruction gives; none where it is not one that the reader knows.
    pub(super) fn evaluate(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &'p Inst,
    ) -> Result<Option<Operand>> {
        let program = self.source.program;
        let (ty, code) = (inst.operand(0), op(inst));
        let operand = match code {
            Code::AccessChain | Code::InBoundsAccessChain => {
                let base = self.operand(frame, inst.operand(2))?;
                return self.walk(frame, inst, base, inst.rest(3)).map(Some);
            }
            Code::PtrAccessChain | Code::InBoundsPtrAccessChain => {
                let (class, _) = program.pointee(ty)?;
                if !program.has_far && class != StorageClass::PhysicalStorageBuffer {
                    let what = "a pointer moves along an array, and the module does not declare VariablePointers";
                    return Err(Stop::invalid(what));
                }
                let base = self.far_beside(frame, inst)?;
                return self.walk(frame, inst, Operand::Far(base), inst.rest(4)).map(Some);
            }
            Code::Load if self.is_volatile_helper(inst) => Operand::Values(self.helper()),
            Code::Load => {
                let from = self.operand(frame, inst.operand(2))?;
                match from {
                    Operand::Binding(bound, to) if program.ty(to)?.is_opaque() => {
                        if to != ty {
                            return Err(mismatch());
                        }
                        match program.ty(ty)? {
                            Ty::SampledImage(_) => Operand::Sampled(bound, bound),
                            _ => Operand::Handle(bound),
                        }
                    }
                    from => Operand::Values(self.at(from, Some(ty), &mut |lower, pointer| {
                        if pointer.ty != ty {
                            return Err(mismatch());
                        }
                        lower.load(pointer)
                    })?),
                }
            }
            Code::CopyObject => {
                if program.type_of(inst.operand(2))? != ty {
                    return Err(mismatch());
                }
                self.operand(frame, inst.operand(2))?
            }
            Code::SampledImage => {
                let own = program.type_of(inst.operand(2))?;
                let Ty::SampledImage(of) = program.ty(ty)? else {
                    return Err(mismatch());
                };
                match (program.ty(*of)?, program.ty(own)?) {
                    (Ty::Image(wanted), Ty::Image(image)) if wanted == image => {}
                    _ => return Err(mismatch()),
                }
                let image = self.operand(frame, inst.operand(2))?;
                let sampler = self.operand(frame, inst.operand(3))?;
                match (image, sampler) {
                    (Operand::Handle(image), Operand::Handle(sampler)) => {
                        Operand::Sampled(image, sampler)
                    }
                    _ => return Err(mismatch()),
                }
            }
            Code::Image => match self.operand(frame, inst.operand(2))? {
                Operand::Sampled(image, _) => Operand::Handle(image),
                _ => return Err(mismatch()),
            },
            Code::ImageTexelPointer => self.texel_pointer(frame, inst)?,
            Code::Undef => Operand::Values(self.zeros(ty)?),
            _ => match self.computed(frame, inst)? {
                Some(values) => {
                    let widths = program.widths(ty)?;
                    let fits = values.len() == widths.len()
                        && values.iter().zip(&widths).all(|(&value, &ty)| self.ty(value) == ty);
                    if !fits {
                        return Err(mismatch());
                    }
                    Operand::Values(values)
                }
                None => return Ok(None),
            },
        };
        Ok(Some(operand))
    }

    /// Walks from a pointer to a part of what it points to.
    fn walk(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &Inst,
        base: Operand,
        indices: &[Id],
    ) -> Result<Operand> {
        let program = self.source.program;
        let (_, wanted) = program.pointee(inst.operand(0))?;
        let mut at = base;
        for &index in indices {
            at = match at {
                Operand::Far(far) => Operand::Far(self.far_part(frame, far, index)?),
                Operand::Binding(bound, ty) if matches!(program.ty(ty)?, Ty::Array { .. }) => {
                    let (of, _) = program.elements(ty)?;
                    let index = self.index(frame, index)?;
                    Operand::Binding(self.bound_element(bound, ty, index)?, of)
                }
                at => {
                    let pointer = self.pointer(at)?;
                    Operand::Pointer(match program.ty(pointer.ty)? {
                        Ty::Struct(_) => {
                            let number = self.index(frame, index)?;
                            let Some(number) = self.func.as_const(number) else {
                                let message =
                                    "a member of a structure at an index that is no constant";
                                return Err(Stop::invalid(message));
                            };
                            self.member_of(&pointer, number as u32)?
                        }
                        _ => {
                            let index = self.index(frame, index)?;
                            self.element_of(&pointer, index)?
                        }
                    })
                }
            };
        }
        let reached = match &at {
            Operand::Pointer(pointer) => pointer.ty,
            Operand::Far(far) => Self::far_type(far),
            Operand::Binding(_, ty) => *ty,
            _ => return Err(mismatch()),
        };
        if reached != wanted {
            let message = format!("an access chain reaches the type %{reached}, not %{wanted}");
            return Err(Stop::invalid(message));
        }
        Ok(at)
    }

    /// An index as a word.
    pub(super) fn index(&mut self, frame: &mut Frame<'p>, id: Id) -> Result<Value> {
        let program = self.source.program;
        let (kind, _) = program.shape(program.type_of(id)?)?;
        let mut index = self.scalar(frame, id)?;
        if kind.kind == ScalarKind::Sint {
            index = self.extended_by_sign(kind, Values::from_elem(index, 1))[0];
        }
        Ok(match self.ty(index) {
            Type::B64 => self.op1(Op::Lo64, index),
            Type::B16 => self.convert(Op::UConvert, Type::B32, index),
            Type::B32 => index,
            Type::B1 => return Err(Stop::invalid("an index is an integer")),
        })
    }

    /// The scalars that an instruction computes.
    fn computed(&mut self, frame: &mut Frame<'p>, inst: &'p Inst) -> Result<Option<Values>> {
        let program = self.source.program;
        let ty = inst.operand(0);
        let mut code = op(inst);
        let mut negated = false;
        if let Some((plain, opposite)) = without_nan(code) {
            match opposite {
                Some(opposite) if program.keeps_nan => (code, negated) = (opposite, true),
                _ => code = plain,
            }
        }
        if let Some(by) = lanes_of(code) {
            let values = self.lane_by_lane(frame, inst, &by)?;
            return Ok(Some(if negated { self.map(Op::Not, &[&values])? } else { values }));
        }
        for part in [Self::beyond_lanes, Self::derivatives, Self::products, Self::composite] {
            if let Some(values) = part(self, frame, inst, code)? {
                return Ok(Some(values));
            }
        }
        let [a, b] = [2, 3].map(|at| inst.operand(at));
        Ok(Some(match code {
            Code::ArrayLength => {
                let pointer = self.operand(frame, a)?;
                self.at(pointer, Some(ty), &mut |lower, pointer| {
                    let array = lower.member_of(pointer, b)?;
                    let Ty::Array { length: None, stride, .. } = *program.ty(array.ty)? else {
                        return Err(mismatch());
                    };
                    Ok(Values::from_elem(lower.runtime_length(&array.place, stride)?, 1))
                })?
            }
            Code::AtomicLoad
            | Code::AtomicExchange
            | Code::AtomicCompareExchange
            | Code::AtomicIIncrement
            | Code::AtomicIDecrement
            | Code::AtomicIAdd
            | Code::AtomicISub
            | Code::AtomicSMin
            | Code::AtomicUMin
            | Code::AtomicSMax
            | Code::AtomicUMax
            | Code::AtomicAnd
            | Code::AtomicOr
            | Code::AtomicXor
            | Code::AtomicFAddEXT
            | Code::AtomicFMinEXT
            | Code::AtomicFMaxEXT => Values::from_elem(self.atomic_read(frame, inst)?, 1),
            Code::PtrEqual | Code::PtrNotEqual | Code::PtrDiff if program.has_far => {
                Values::from_elem(self.compared_pointers(frame, inst)?, 1)
            }
            Code::IsHelperInvocationEXT => self.helper(),
            Code::ReadClockKHR => {
                let scope = self.constant_values(inst.operand(2))?;
                match self.func.as_const(scope[0]) {
                    Some(DEVICE) => self.clock(inst, Op::DeviceClock)?,
                    Some(SUBGROUP) => self.clock(inst, Op::Clock)?,
                    _ => {
                        return Err(Stop::invalid(
                            "a clock is the device's or the subgroup's (SPV_KHR_shader_clock)",
                        ));
                    }
                }
            }
            Code::ExtInst if inst.operand(2) == program.glsl => self.function(frame, inst)?,
            Code::ExtInst => match program.amd.get(&inst.operand(2)) {
                Some(&set) => self.function_of_amd(frame, set, inst)?,
                None => return Ok(None),
            },
            _ if matches!(inst.opcode(), 86..=107 | FRAGMENT_MASK | FRAGMENT) => {
                match self.image_value(frame, inst)? {
                    Some(values) => values,
                    None => return Ok(None),
                }
            }
            _ if matches!(inst.opcode(), DOT..=DOT_LAST) => match self.integer_dot(frame, inst)? {
                Some(values) => values,
                None => return Ok(None),
            },
            // What is expected changes nothing.
            Code::ExpectKHR => self.values(frame, a)?,
            _ if matches!(inst.opcode(), 333..=366 | BALLOT..=READ | QUAD_ALL | QUAD_ANY | AMD..=AMD_LAST) => {
                match self.group(frame, inst)? {
                    Some(values) => values,
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        }))
    }
}

/// Scopes (SPIR-V 3.27).
const DEVICE: u64 = 1;
const SUBGROUP: u64 = 3;
/// Dot products of integers.
const DOT: u32 = Code::SDot as u32;
const DOT_LAST: u32 = Code::SUDotAccSat as u32;
/// Operations of subgroups by extensions.
const BALLOT: u32 = Code::SubgroupBallotKHR as u32;
const READ: u32 = Code::SubgroupReadInvocationKHR as u32;
const QUAD_ALL: u32 = Code::GroupNonUniformQuadAllKHR as u32;
const QUAD_ANY: u32 = Code::GroupNonUniformQuadAnyKHR as u32;
const AMD: u32 = Code::GroupIAddNonUniformAMD as u32;
const AMD_LAST: u32 = Code::GroupSMaxNonUniformAMD as u32;
/// SPV_AMD_shader_fragment_mask.
const FRAGMENT_MASK: u32 = Code::FragmentMaskFetchAMD as u32;
const FRAGMENT: u32 = Code::FragmentFetchAMD as u32;

/// What the reader lacks, in the words of every language where a machine may lack it too.
fn lacking(code: Code, inst: &Inst) -> Stop {
    let name = match op(inst) {
        Code::Nop => format!("the instruction {}", inst.opcode()),
        _ => format!("Op{code:?}"),
    };
    let stop = Stop::unsupported(name.clone(), READING);
    if name.contains("RayQuery") || name.contains("TraceRay") {
        return Stop::unsupported("ray queries", READING).needing(Needs::RayTracing);
    }
    if name.contains("CooperativeMatrix") {
        return Stop::unsupported("cooperative matrices", READING)
            .needing(Needs::CooperativeMatrices);
    }
    if name.contains("ImageSparse") {
        return Stop::unsupported("sparse residency", READING).needing(Needs::Residency);
    }
    stop
}
