//! Lowering of variables: places in memory, parts of them, what is written; textures and samplers.

use super::layout::Packing;
use super::lower::{Frame, Handle, OfGlsl, Pointer, Slot};
use super::tree::{Expr, Kind, Lanes};
use super::types::{Opaque, Ty};
use crate::lower::memory::FILL_STRAIGHT;
use crate::lower::narrow::is_byte;
use crate::lower::resource::UNSIZED;
use crate::lower::types::Length;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{Op, Type, Value};
use naga::ScalarKind;

/// What is written: memory, or some lanes of a vector there.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    pointer: Pointer,
    lanes: Option<Lanes>,
    /// An element of these lanes.
    element: Option<Value>,
}

impl<'p> OfGlsl<'p> {
    pub(super) fn local_pointer(&self, frame: &Frame, number: u32) -> Result<Pointer> {
        match frame.locals.get(number as usize).and_then(Option::as_ref) {
            Some(Slot::Memory(pointer)) => Ok(pointer.clone()),
            _ => Err(Stop::internal("a variable of a function has no memory")),
        }
    }

    /// True for what lies in memory.
    pub(super) fn is_place(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Local(_) | Kind::Global(_) | Kind::Deref(_) => true,
            Kind::Member(base, _) | Kind::Index(base, _) => self.is_place(base),
            _ => false,
        }
    }

    /// The memory that an expression names.
    pub(super) fn pointer(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Pointer> {
        match &expr.kind {
            Kind::Local(number) => self.local_pointer(frame, *number),
            Kind::Global(number) => {
                self.span = expr.span;
                self.global_pointer(*number)
            }
            Kind::Member(base, index) => {
                let base = self.pointer(frame, base)?;
                self.member_of(&base, *index)
            }
            Kind::Index(base, index) => {
                let base = self.pointer(frame, base)?;
                let index = self.index(frame, index)?;
                self.element_of(&base, index)
            }
            Kind::Deref(pointer) => self.deref(frame, pointer),
            Kind::Swizzle(base, lanes) if lanes.count == 1 => {
                let base = self.pointer(frame, base)?;
                let (stride, packing) = self.source.p.types.stride(base.ty, base.packing);
                let mut place = base.place.clone();
                place.offset = place.offset.wrapping_add(u32::from(lanes.lanes[0]) * stride);
                Ok(Pointer { place, ty: expr.ty, packing, bindings: false })
            }
            _ => Err(Stop::internal("a value is taken for a place in memory")),
        }
    }

    pub(super) fn member_of(&mut self, base: &Pointer, index: u32) -> Result<Pointer> {
        let types = &self.source.p.types;
        let Ty::Struct(id) = base.ty else {
            return Err(Stop::internal("a member of what is no structure"));
        };
        let (offset, packing) = types.member_at(id, index, base.packing);
        let Some(member) = types.structure(id).members.get(index as usize) else {
            return Err(Stop::internal("a structure has no such member"));
        };
        let mut place = base.place.clone();
        place.offset = place.offset.wrapping_add(offset);
        Ok(Pointer { place, ty: member.ty, packing, bindings: false })
    }

    /// The element at an index that may be out of range.
    pub(super) fn element_of(&mut self, base: &Pointer, index: Value) -> Result<Pointer> {
        let types = &self.source.p.types;
        let Some((of, length)) = types.elements(base.ty) else {
            return Err(Stop::internal("an element of what has none"));
        };
        if base.bindings {
            let mut place = base.place.clone();
            place.element = Some(self.binding_element(place.element, index, length));
            let bindings = matches!(of, Ty::Array(_));
            return Ok(Pointer { place, ty: of, packing: base.packing, bindings });
        }
        let (stride, packing) = types.stride(base.ty, base.packing);
        let length = length.map_or(Length::Runtime, Length::Known);
        let place = self.element(&base.place, stride, length, index)?;
        Ok(Pointer { place, ty: of, packing, bindings: false })
    }

    /// The element of an array of bindings at an index that may be out of range.
    fn binding_element(
        &mut self,
        outer: Option<Value>,
        index: Value,
        length: Option<u32>,
    ) -> Value {
        let length = length.unwrap_or(UNSIZED);
        let known = self.func.as_const(index).is_some_and(|bits| bits < u64::from(length));
        let own = match known {
            true => index,
            false => {
                let count = self.u32(length);
                self.op2(Op::Index, index, count)
            }
        };
        match outer {
            None => own,
            Some(outer) => {
                let first = self.mul_address(outer, length);
                match (self.func.as_const(first), self.func.as_const(own)) {
                    (Some(a), Some(b)) => self.u32((a + b) as u32),
                    _ => self.op2(Op::IAdd, first, own),
                }
            }
        }
    }

    /// An index as a word.
    pub(super) fn index(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Value> {
        let value = self.scalar(frame, expr)?;
        let signed = expr.ty.scalar().is_some_and(|scalar| scalar.kind == ScalarKind::Sint);
        Ok(match self.ty(value) {
            Type::B64 => self.op1(Op::Lo64, value),
            Type::B16 => {
                let op = if signed { Op::SConvert } else { Op::UConvert };
                self.convert(op, Type::B32, value)
            }
            Type::B1 | Type::B32 => value,
        })
    }

    /// Reads memory.
    pub(super) fn load(&mut self, pointer: &Pointer) -> Result<Values> {
        if pointer.bindings {
            return Err(Stop::unsupported("an array of blocks that is read whole", super::READING));
        }
        let leaves = self.source.p.types.flatten(pointer.ty, pointer.packing)?;
        self.keep(leaves.len())?;
        let bytes = self.bytes_within(pointer)?;
        Ok(self.load_scalars(&pointer.place, &leaves, bytes.as_deref()))
    }

    /// Reads lanes of a vector in memory, each once.
    pub(super) fn load_lanes(&mut self, pointer: &Pointer, lanes: &Lanes) -> Result<Values> {
        if self.bytes_within(pointer)?.is_some() {
            let all = self.load(pointer)?;
            return Ok(lanes.iter().map(|lane| all[lane]).collect());
        }
        let all = self.source.p.types.flatten(pointer.ty, pointer.packing)?;
        let (mut wanted, mut leaves) = ([usize::MAX; 4], Vec::with_capacity(4));
        for (lane, leaf) in all.iter().enumerate() {
            if lanes.iter().any(|own| own == lane) {
                wanted[lane] = leaves.len();
                leaves.push(*leaf);
            }
        }
        let values = self.load_scalars(&pointer.place, &leaves, None);
        Ok(lanes.iter().map(|lane| values[wanted[lane]]).collect())
    }

    /// Writes memory.
    pub(super) fn store(&mut self, pointer: &Pointer, values: &[Value]) -> Result<()> {
        if pointer.bindings {
            return Err(Stop::unsupported(
                "an array of blocks that is written whole",
                super::READING,
            ));
        }
        let leaves = self.source.p.types.flatten(pointer.ty, pointer.packing)?;
        if leaves.len() != values.len() {
            return Err(Stop::internal("a value does not fit the place it is stored in"));
        }
        let bytes = self.bytes_within(pointer)?;
        self.store_scalars(&pointer.place, &leaves, bytes.as_deref(), values)
    }

    /// Which scalars are bytes of a buffer, in order; none where there are none.
    fn bytes_within(&self, pointer: &Pointer) -> Result<Option<Vec<bool>>> {
        if !self.source.p.has_bytes || pointer.packing.rule == super::layout::Rule::Dense {
            return Ok(None);
        }
        let scalars = self.source.p.types.scalars(pointer.ty)?;
        let bytes: Vec<bool> = scalars.into_iter().map(is_byte).collect();
        Ok(bytes.contains(&true).then_some(bytes))
    }

    /// Zeroes memory; large arrays by a loop.
    pub(super) fn zero(&mut self, pointer: &Pointer) -> Result<()> {
        let types = &self.source.p.types;
        if types.count(pointer.ty).1 / 4 <= FILL_STRAIGHT as u64 {
            let zeros = self.zeros(pointer.ty)?;
            return self.store(pointer, &zeros);
        }
        if let Ty::Struct(id) = pointer.ty {
            for index in 0..types.structure(id).members.len() as u32 {
                let part = self.member_of(pointer, index)?;
                self.zero(&part)?;
            }
            return Ok(());
        }
        let Some((of, Some(length))) = types.elements(pointer.ty) else {
            return Err(Stop::internal("a large value is neither array nor structure"));
        };
        let (stride, packing) = types.stride(pointer.ty, pointer.packing);
        self.for_each(length, |lower, index| {
            let place = lower.dynamic_part(&pointer.place, stride, index, length);
            lower.zero(&Pointer { place, ty: of, packing, bindings: false })
        })
    }

    pub(super) fn zeros(&mut self, ty: Ty) -> Result<Values> {
        let widths = self.source.p.types.widths(ty)?;
        Ok(widths.into_iter().map(|ty| self.constant(ty, 0)).collect())
    }

    /// What an expression that is written stands for; its indices are evaluated.
    pub(super) fn target(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Goal> {
        match &expr.kind {
            Kind::Swizzle(base, lanes) => {
                let inner = self.target(frame, base)?;
                let lanes = match inner.lanes {
                    None => *lanes,
                    Some(outer) => {
                        let mut own = *lanes;
                        for lane in &mut own.lanes[..usize::from(own.count)] {
                            *lane = outer.lanes[usize::from(*lane)];
                        }
                        own
                    }
                };
                // A scalar has one lane.
                if matches!(inner.pointer.ty, Ty::Scalar(_)) {
                    return Ok(inner);
                }
                Ok(Goal { lanes: Some(lanes), ..inner })
            }
            Kind::Index(base, index) if matches!(base.kind, Kind::Swizzle(..)) => {
                let inner = self.target(frame, base)?;
                let index = self.index(frame, index)?;
                Ok(Goal { element: Some(index), ..inner })
            }
            _ => Ok(Goal { pointer: self.pointer(frame, expr)?, lanes: None, element: None }),
        }
    }

    /// The lanes of a vector in memory.
    fn lane_leaves(
        &self,
        pointer: &Pointer,
        lanes: &Lanes,
    ) -> Result<Vec<crate::lower::types::Leaf>> {
        let all = self.source.p.types.flatten(pointer.ty, pointer.packing)?;
        lanes
            .iter()
            .map(|lane| {
                all.get(lane).copied().ok_or_else(|| Stop::internal("a vector has no such lane"))
            })
            .collect()
    }

    pub(super) fn load_target(&mut self, target: &Goal) -> Result<Values> {
        let Some(lanes) = &target.lanes else {
            return self.load(&target.pointer);
        };
        let values = self.load_lanes(&target.pointer, lanes)?;
        match target.element {
            Some(index) => self.choose(&values, index, lanes.count.into()),
            None => Ok(values),
        }
    }

    pub(super) fn store_target(&mut self, target: &Goal, values: &Values) -> Result<()> {
        let Some(lanes) = &target.lanes else {
            return self.store(&target.pointer, values);
        };
        let leaves = self.lane_leaves(&target.pointer, lanes)?;
        // Components of a vector are all bytes, or none is.
        let bytes = self.bytes_within(&target.pointer)?.map(|_| vec![true; leaves.len()]);
        let (place, bytes) = (&target.pointer.place, bytes.as_deref());
        let mut values = values.clone();
        if let Some(index) = target.element {
            let own = values[0];
            let old = self.load_scalars(place, &leaves, bytes);
            values = self.lanes(old.len(), |lower, lane| {
                let number = lower.u32(lane as u32);
                let here = lower.op2(Op::IEq, index, number);
                Ok(lower.select(here, own, old[lane]))
            })?;
        }
        self.store_scalars(place, &leaves, bytes, &values)
    }

    /// The texture or sampler that an expression names.
    pub(super) fn handle(&mut self, frame: &mut Frame, expr: &'p Expr) -> Result<Handle> {
        match &expr.kind {
            Kind::Local(number) => {
                match frame.locals.get(*number as usize).and_then(Option::as_ref) {
                    Some(Slot::Handle(handle)) => Ok(handle.clone()),
                    _ => Err(Stop::internal("a parameter is no texture")),
                }
            }
            Kind::Global(number) => match self.source.globals.get(number) {
                Some(Slot::Handle(handle)) => Ok(handle.clone()),
                _ => Err(Stop::internal("a variable is no texture")),
            },
            Kind::Index(base, index) => {
                let base = self.handle(frame, base)?;
                let Some((of, length)) = self.source.p.types.elements(base.ty) else {
                    return Err(Stop::internal("an element of what has none"));
                };
                let index = self.index(frame, index)?;
                let outer = base.texture.or(base.sampler).and_then(|(_, element)| element);
                let element = self.binding_element(outer, index, length);
                let of_bound = |bound: Option<super::lower::Bound>| {
                    bound.map(|(resource, _)| (resource, Some(element)))
                };
                Ok(Handle {
                    texture: of_bound(base.texture),
                    sampler: of_bound(base.sampler),
                    ty: of,
                })
            }
            Kind::Combine(texture, sampler) => {
                let texture = self.handle(frame, texture)?;
                let sampler = self.handle(frame, sampler)?;
                Ok(Handle { texture: texture.texture, sampler: sampler.sampler, ty: expr.ty })
            }
            Kind::Comma(a, b) => {
                self.effect(frame, a)?;
                self.handle(frame, b)
            }
            _ => Err(Stop::unsupported(
                "a texture that is chosen while the program runs",
                super::READING,
            )),
        }
    }

    /// The memory of a variable outside of functions.
    pub(super) fn global_pointer(&mut self, number: u32) -> Result<Pointer> {
        use super::tree::Class;
        if let Some(Slot::Memory(pointer)) = self.source.globals.get(&number) {
            return Ok(pointer.clone());
        }
        let global = &self.source.p.globals[number as usize];
        match &global.class {
            Class::Loose(index) => {
                let (Some(resource), Some((ty, _))) = (self.source.loose, self.source.p.loose)
                else {
                    return Err(Stop::internal("a uniform without its block"));
                };
                let place = crate::lower::frame::Place::buffer(resource, None);
                let packing = Packing::of(super::finish::LOOSE, false);
                let block = Pointer { place, ty, packing, bindings: false };
                self.member_of(&block, *index)
            }
            Class::Parts => Err(Stop::unsupported("a texture that is a value", super::READING)),
            _ if matches!(self.source.p.types.innermost(global.ty), Ty::Opaque(opaque) if opaque != Opaque::Counter) => {
                Err(Stop::unsupported("a texture that is a value", super::READING))
            }
            _ => Err(Stop::internal(format!("the variable `{}` has no memory", global.name))),
        }
    }
}
