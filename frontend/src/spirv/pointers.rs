//! Pointers as values (`VariablePointers`): three words, which of the variables, which element of its array of
//! bindings, and the byte within.
//!
//! What such a pointer may lead to is found beforehand, once for all: pointers that flow into one another are a class
//! (union-find), and the class's variables are what an access tells apart. The address meets the bounds where memory is
//! touched, since a pointer may leave its array on the way.
//!
//! A pointer to physical storage (`PhysicalStorageBufferAddresses`) is a number of 64 bits. The memory that such pointers
//! lead to is one storage buffer ([`crate::lower::addresses`]) of up to 4 GiB, whose address is a multiple of 4 GiB: the lower word of a
//! pointer is the byte within it, and meets its bounds as that of any other buffer.

use super::module::Inst;
use super::program::{Function, Id, Program, READING, op};
use super::types::{Matrices, Ty};
use super::{Frame, OfSpirv, Operand, Pointer};
use crate::lower::frame::{Base, Flow, Place};
use crate::lower::types::Layout;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, ResourceKind, Type, Value};
use gpucc_ir::{Map, Set};
use rspirv::spirv::{Op as Code, StorageClass};
use std::rc::Rc;

/// Words of a pointer: variable, element, byte.
pub(super) const WORDS: usize = 3;

/// A pointer that is a value.
#[derive(Clone, Debug)]
pub(super) struct Far {
    words: [Value; WORDS],
    ty: Id,
    matrices: Matrices,
    layout: Layout,
    /// Variables that it may lead to.
    roots: Rc<[Id]>,
    /// It may lead nowhere.
    may_be_null: bool,
    /// It leads to physical storage: the first word is the upper one of its number, the last one the lower.
    physical: bool,
    /// The same place in physical storage, brought into its bounds where the pointer was followed first.
    within: Option<Box<Pointer>>,
}

/// What pointers may lead to, by class.
#[derive(Debug, Default)]
pub(super) struct Roots {
    parents: Map<Id, Id>,
    variables: Map<Id, Vec<Id>>,
    nulls: Set<Id>,
}

impl Roots {
    fn class(&mut self, id: Id) -> Id {
        let mut top = id;
        while let Some(&up) = self.parents.get(&top) {
            top = up;
        }
        // The way becomes short.
        let mut at = id;
        while let Some(up) = self.parents.get_mut(&at) {
            at = std::mem::replace(up, top);
            if at == top {
                break;
            }
        }
        top
    }

    fn join(&mut self, a: Id, b: Id) {
        let (a, b) = (self.class(a), self.class(b));
        if a != b {
            self.parents.insert(a, b);
        }
    }

    /// Classes of the pointers of some functions.
    pub(super) fn find(program: &Program<'_>, order: &[&Function]) -> Roots {
        let mut roots = Roots::default();
        let mut named: Set<Id> = Set::default();
        for function in order {
            for block in &function.blocks {
                for inst in &program.insts[block.from..=block.end] {
                    roots.flow(program, function, inst);
                    named.extend(super::plan::operands(inst));
                }
            }
        }
        let mut named: Vec<Id> = named.into_iter().collect();
        named.sort_unstable();
        for id in named {
            match program.inst(id).map(op) {
                Some(Code::Variable) => {
                    let class = roots.class(id);
                    roots.variables.entry(class).or_default().push(id);
                }
                Some(Code::ConstantNull | Code::Undef) => {
                    let class = roots.class(id);
                    roots.nulls.insert(class);
                }
                _ => {}
            }
        }
        roots
    }

    /// What an instruction lets flow where.
    fn flow(&mut self, program: &Program<'_>, function: &Function, inst: &Inst) {
        let (result, rest) = (inst.operand(1), inst.rest(2));
        match op(inst) {
            Code::AccessChain
            | Code::InBoundsAccessChain
            | Code::PtrAccessChain
            | Code::InBoundsPtrAccessChain
            | Code::CopyObject
            | Code::Load
            | Code::CompositeExtract => self.join(result, inst.operand(2)),
            Code::CompositeConstruct => rest.iter().for_each(|&part| self.join(result, part)),
            Code::CompositeInsert => {
                self.join(result, inst.operand(2));
                self.join(result, inst.operand(3));
            }
            Code::Phi => rest.iter().step_by(2).for_each(|&value| self.join(result, value)),
            Code::Select => {
                self.join(result, inst.operand(3));
                self.join(result, inst.operand(4));
            }
            Code::Store | Code::CopyMemory => self.join(inst.operand(0), result),
            Code::ReturnValue => self.join(function.id, inst.operand(0)),
            Code::FunctionCall => {
                let callee = inst.operand(2);
                self.join(result, callee);
                let parameters = program.function(callee).map(|callee| &callee.parameters[..]);
                let pairs = parameters.unwrap_or_default().iter().zip(inst.rest(3));
                pairs.for_each(|(&parameter, &argument)| self.join(parameter, argument));
            }
            _ => {}
        }
    }
}

impl<'p> OfSpirv<'p> {
    /// Type and storage class of what an id points to; none where it is no pointer.
    fn pointee_of(&self, id: Id) -> Option<(StorageClass, Id)> {
        let program = self.source.program;
        program.type_of(id).and_then(|ty| program.pointee(ty)).ok()
    }

    /// The pointer that the words of an id are.
    pub(super) fn far(&mut self, id: Id, words: &Values) -> Result<Option<Far>> {
        let Some((class, ty)) = self.pointee_of(id) else {
            return Ok(None);
        };
        match words[..] {
            [number]
                if class == StorageClass::PhysicalStorageBuffer && self.ty(number) == Type::B64 =>
            {
                let [upper, lower] = [Op::Hi64, Op::Lo64].map(|half| self.op1(half, number));
                let none = self.u32(0);
                self.far_of(id, class, ty, [upper, none, lower]).map(Some)
            }
            [root, element, byte] => self.far_of(id, class, ty, [root, element, byte]).map(Some),
            _ => Ok(None),
        }
    }

    /// A variable is a block of workgroup memory.
    fn is_shared_block(&self, variable: Id) -> bool {
        let program = self.source.program;
        let ty = program.type_of(variable).and_then(|ty| program.pointee(ty));
        matches!(ty, Ok((StorageClass::Workgroup, ty)) if program.is_shared_block(ty))
    }

    fn far_of(
        &mut self,
        id: Id,
        class: StorageClass,
        ty: Id,
        words: [Value; WORDS],
    ) -> Result<Far> {
        let program = self.source.program;
        if class == StorageClass::PhysicalStorageBuffer {
            return Ok(Far {
                words,
                ty,
                matrices: Matrices::default(),
                layout: Layout::Host,
                roots: Rc::default(),
                may_be_null: false,
                physical: true,
                within: None,
            });
        }
        let group = self.source.roots.class(id);
        let known = self.source.roots.variables.get(&group).map(|all| &all[..]);
        let alike = |id: &Id| {
            let inst = program.inst(*id);
            inst.and_then(|inst| StorageClass::from_u32(inst.operand(2))) == Some(class)
        };
        let roots: Rc<[Id]> = known.unwrap_or_default().iter().copied().filter(alike).collect();
        let may_be_null = self.source.roots.nulls.contains(&group) || roots.is_empty();
        let layout = match class {
            StorageClass::StorageBuffer | StorageClass::Uniform => Layout::Host,
            // The variables of a class of pointers lie alike, as all of an entry point do.
            _ if roots.iter().any(|&root| self.is_shared_block(root)) => Layout::Host,
            _ => Layout::Dense,
        };
        let matrices = Matrices::default();
        Ok(Far { words, ty, matrices, layout, roots, may_be_null, physical: false, within: None })
    }

    /// The words of a pointer.
    pub(super) fn pointer_words(&mut self, operand: Operand) -> Result<Values> {
        let pointer = match operand {
            Operand::Far(far) => {
                self.check_plain(far.ty, far.matrices)?;
                if far.physical {
                    let number = self.op2(Op::Join64, far.words[2], far.words[0]);
                    return Ok(Values::from_elem(number, 1));
                }
                return Ok(Values::from_slice(&far.words));
            }
            operand => self.pointer(operand)?,
        };
        self.check_plain(pointer.ty, pointer.matrices)?;
        let place = pointer.place;
        let root = match place.base {
            Base::Buffer(resource) => resource.as_u32(),
            Base::Mem(mem) => mem.as_u32(),
        };
        let root = self.u32(root + 1);
        let byte = self.address(&place, 0);
        let element = match place.element {
            Some(element) => element,
            None => self.u32(0),
        };
        Ok(Values::from_slice(&[root, element, byte]))
    }

    /// Refuses pointers whose words do not say how the matrices behind them lie.
    fn check_plain(&self, ty: Id, matrices: Matrices) -> Result<()> {
        let program = self.source.program;
        let mut ty = ty;
        while let Ty::Array { of, .. } = *program.ty(ty)? {
            ty = of;
        }
        let depends = match program.ty(ty)? {
            Ty::Matrix(..) => matrices != Matrices::default(),
            Ty::Vector(..) => matrices.column.is_some(),
            _ => false,
        };
        if depends {
            let what = "pointers to matrices as values";
            return Err(Stop::unsupported(what, READING));
        }
        Ok(())
    }

    /// A part of what such a pointer leads to.
    pub(super) fn far_part(&mut self, frame: &mut Frame<'p>, far: Far, index: Id) -> Result<Far> {
        let program = self.source.program;
        let followed = match far.physical {
            true => Some(self.followed_far(&far)?),
            false => None,
        };
        if let Ty::Struct(_) = program.ty(far.ty)? {
            let number = self.index(frame, index)?;
            let Some(number) = self.func.as_const(number) else {
                let message = "a member of a structure at an index that is no constant";
                return Err(Stop::invalid(message));
            };
            let within = match &followed {
                Some(pointer) => Some(Box::new(self.member_of(pointer, number as u32)?)),
                None => None,
            };
            let part = program.member(far.ty, number as u32, far.layout)?;
            let by = self.u32(part.offset);
            let byte = self.op2(Op::IAdd, far.words[2], by);
            let words = [far.words[0], far.words[1], byte];
            return Ok(Far { words, ty: part.ty, matrices: part.matrices, within, ..far });
        }
        let (of, length) = program.elements(far.ty)?;
        let (stride, matrices) = program.stride(far.ty, far.layout, far.matrices)?;
        let mut number = self.index(frame, index)?;
        let within = match &followed {
            Some(pointer) => Some(Box::new(self.element_of(pointer, number)?)),
            None => None,
        };
        if let Some(length) = length {
            let count = self.u32(length);
            number = self.op2(Op::Index, number, count);
        }
        let scaled = self.mul_address(number, stride);
        let byte = self.op2(Op::IAdd, far.words[2], scaled);
        let words = [far.words[0], far.words[1], byte];
        Ok(Far { words, ty: of, matrices, within, ..far })
    }

    /// `OpPtrAccessChain` up to its first index: the element beside the one that is pointed to.
    pub(super) fn far_beside(&mut self, frame: &mut Frame<'p>, inst: &Inst) -> Result<Far> {
        let base = inst.operand(2);
        let Some((class, ty)) = self.pointee_of(base) else {
            return Err(Stop::invalid("a pointer is expected"));
        };
        let operand = self.operand(frame, base)?;
        let words = match &operand {
            Operand::Far(far) => far.words,
            _ => match self.pointer_words(operand)?[..] {
                [root, element, byte] => [root, element, byte],
                _ => return Err(Stop::internal("a pointer has three words")),
            },
        };
        let far = self.far_of(base, class, ty, words)?;
        let step = self.step_of(base, &far)?;
        let by = self.index(frame, inst.operand(3))?;
        let scaled = self.mul_address(by, step);
        let byte = self.op2(Op::IAdd, words[2], scaled);
        Ok(Far { words: [words[0], words[1], byte], within: None, ..far })
    }

    /// Bytes between the elements of the array that an element's pointer belongs to.
    fn step_of(&self, id: Id, far: &Far) -> Result<u32> {
        let program = self.source.program;
        if far.layout == Layout::Dense {
            return Ok(program.dense_size(far.ty)?.min(u32::MAX.into()) as u32);
        }
        if let Some(stride) = program.decorations(program.type_of(id)?).array_stride {
            return Ok(stride);
        }
        let bytes = program.extent(far.ty, far.matrices)?.0;
        let bytes = bytes.next_multiple_of(self.source.program.alignment(far.ty)?.max(1));
        Ok(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// Whether two pointers are the same, or how many elements lie between them.
    pub(super) fn compared_pointers(
        &mut self,
        frame: &mut Frame<'p>,
        inst: &Inst,
    ) -> Result<Value> {
        let mut both = Vec::with_capacity(2);
        for id in [inst.operand(2), inst.operand(3)] {
            match self.pointee_of(id) {
                None => return Err(Stop::invalid("a pointer is expected")),
                // SPIR-V 3.49.7, OpPtrEqual.
                Some((StorageClass::PhysicalStorageBuffer, _)) => {
                    return Err(Stop::invalid("pointers to physical storage are compared"));
                }
                Some(_) => {}
            }
            both.push(self.values(frame, id)?);
        }
        if op(inst) == Code::PtrDiff {
            let far = self.far(inst.operand(2), &both[0])?;
            let Some(far) = far else {
                return Err(Stop::invalid("a pointer is expected"));
            };
            let step = self.step_of(inst.operand(2), &far)?.max(1);
            let (result, _) = self.source.program.shape(inst.operand(0))?;
            let apart = self.op2(Op::ISub, both[0][2], both[1][2]);
            let step = self.u32(step);
            let elements = self.op2(Op::SDiv, apart, step);
            return Ok(match crate::lower::types::width(result) {
                Type::B32 => elements,
                to => self.convert(Op::SConvert, to, elements),
            });
        }
        let mut same = self.bool(true);
        for (&a, &b) in both[0].iter().zip(&both[1]) {
            let equal = self.op2(Op::IEq, a, b);
            same = self.op2(Op::And, same, equal);
        }
        Ok(match op(inst) {
            Code::PtrNotEqual => self.op1(Op::Not, same),
            _ => same,
        })
    }

    /// Physical storage behind a pointer, brought into its bounds.
    fn followed_far(&mut self, far: &Far) -> Result<Pointer> {
        if let Some(known) = &far.within {
            return Ok((**known).clone());
        }
        let bytes = self.source.program.extent(far.ty, far.matrices)?.0;
        // Not more than the operand Aligned of any access must be: the largest scalar (Vulkan's rules for OpLoad and OpStore).
        let align = self.source.program.widest(far.ty)?;
        let place = self.followed(far.words[2], bytes, align);
        Ok(Pointer { place, ty: far.ty, matrices: far.matrices })
    }

    /// The memory that a pointer leads to where it leads to one of its variables, the byte brought into its bounds.
    fn reached(&mut self, far: &Far, root: Id) -> Result<(u32, Pointer)> {
        let program = self.source.program;
        self.declare(root)?;
        let bytes = match far.layout {
            Layout::Host => program.extent(far.ty, far.matrices)?.0,
            Layout::Dense => program.dense_size(far.ty)?,
        };
        let bytes = bytes.clamp(1, i32::MAX as u64) as u32;
        let unit = [4, 2, 1].into_iter().find(|unit| bytes.is_multiple_of(*unit)).unwrap_or(1);
        let by = self.u32(unit.trailing_zeros());
        let index = self.op2(Op::LShr, far.words[2], by);
        // Places where all bytes that are pointed to are within.
        let (number, mut place, count) = match self.source.variables.get(&root) {
            Some(pointer) => {
                let Base::Mem(mem) = pointer.place.base else {
                    return Err(Stop::internal("a variable is no memory"));
                };
                let size = self.func.mems[mem].size;
                let place = Place { lo: 0, hi: size, ..pointer.place.clone() };
                let Some(room) = size.checked_sub(bytes) else {
                    return Err(Stop::invalid("a pointer to more than its variable has"));
                };
                (mem.as_u32(), place, self.u32(room / unit + 1))
            }
            None => {
                let Some(&(resource, _)) = self.source.bindings.get(&root) else {
                    return Err(Stop::invalid(format!("%{root} is not a binding")));
                };
                let data = &self.func.resources[resource];
                let is_buffer = matches!(
                    data.kind,
                    ResourceKind::Storage { .. } | ResourceKind::Uniform { .. }
                );
                if !is_buffer {
                    return Err(Stop::invalid("a pointer to memory is expected"));
                }
                let element = data.count.map(|count| {
                    let count = self.u32(count);
                    self.op2(Op::Index, far.words[1], count)
                });
                let count = self.length_code(resource, element, bytes - unit, unit);
                (resource.as_u32(), Place::buffer(resource, element), count)
            }
        };
        let index = self.op2(Op::Index, index, count);
        place.dynamic = Some(self.op2(Op::Shl, index, by));
        place.offset = 0;
        Ok((number + 1, Pointer { place, ty: far.ty, matrices: far.matrices }))
    }

    /// Does something with the memory behind a pointer; `result` is the type of what it gives.
    pub(super) fn at(
        &mut self,
        operand: Operand,
        result: Option<Id>,
        each: &mut dyn FnMut(&mut Self, &Pointer) -> Result<Values>,
    ) -> Result<Values> {
        let far = match operand {
            Operand::Far(far) => far,
            operand => {
                let pointer = self.pointer(operand)?;
                return each(self, &pointer);
            }
        };
        if far.physical {
            let pointer = self.followed_far(&far)?;
            return each(self, &pointer);
        }
        if let ([root], false) = (&far.roots[..], far.may_be_null) {
            let (_, pointer) = self.reached(&far, *root)?;
            return each(self, &pointer);
        }
        let slot = match result {
            Some(ty) => {
                let slot = self.private("behind", ty)?;
                let zeros = self.zeros(ty)?;
                self.store(&slot, &zeros)?;
                Some(slot)
            }
            None => None,
        };
        // Blocks of workgroup memory are one memory, which is reached once.
        let mut shared = false;
        for &root in far.roots.iter() {
            self.step()?;
            if self.is_shared_block(root) && std::mem::replace(&mut shared, true) {
                continue;
            }
            self.declare(root)?;
            let number = match self.source.variables.get(&root).map(|pointer| pointer.place.base) {
                Some(Base::Mem(mem)) => mem.as_u32(),
                _ => match self.source.bindings.get(&root) {
                    Some(&(resource, _)) => resource.as_u32(),
                    None => return Err(Stop::invalid(format!("%{root} is not a binding"))),
                },
            };
            let number = self.u32(number + 1);
            let here = self.op2(Op::IEq, far.words[0], number);
            self.fork(here, &mut |lower, holds| {
                if holds {
                    let (_, pointer) = lower.reached(&far, root)?;
                    let values = each(lower, &pointer)?;
                    if let Some(slot) = &slot {
                        lower.store(slot, &values)?;
                    }
                }
                Ok(Flow::Open)
            })?;
        }
        match slot {
            Some(slot) => self.load(&slot),
            None => Ok(Values::new()),
        }
    }

    /// What such a pointer points to.
    pub(super) fn far_type(far: &Far) -> Id {
        far.ty
    }
}
