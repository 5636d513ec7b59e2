//! Inputs and outputs: variables of memory that are filled at the start and read at the end.

use super::module::Inst;
use super::plan::operands;
use super::program::{Function, Id, READING, op, span};
use super::types::{Decorations, Matrices, Ty};
use super::{Frame, OfSpirv, Operand, Pointer};
use crate::Needs;
use crate::growth::{MOST_LOCATIONS, too_many_locations};
use crate::lower::ballot::Mask;
use crate::lower::entry::Distances;
use crate::lower::frame::Base;
use crate::lower::interpolate::{At, Interpolant};
use crate::lower::located::{DISTANCES, Located, distances_at};
use crate::lower::types::reading;
use crate::lower::{Result, Values};
use crate::stop::Stop;
use gpucc_ir::ssa::{
    Builtin, InputKind, Interpolation, Mem, Op, OutputKind, Sampling, Scalar, Stage, Type,
};
use gpucc_ir::{Map, Set};
use naga::ScalarKind;
use rspirv::spirv::{BuiltIn, GlslStd450Op as GLOp, Op as Code, StorageClass};
use std::rc::Rc;

/// A part of a variable that is a built-in value.
#[derive(Clone)]
struct Built {
    what: BuiltIn,
    ty: Id,
    name: String,
    first: usize,
    count: usize,
}

/// What a variable of the interface is made of.
#[derive(Default)]
struct Parts {
    located: Vec<Located>,
    built: Vec<Built>,
}

/// Outputs with the members of each that are used; none: all.
pub(super) type Outputs = Rc<[(Id, Pointer, Option<Set<u32>>)]>;

impl<'p> OfSpirv<'p> {
    /// Declares what the functions use: bindings in order, then variables, inputs and outputs.
    pub(super) fn interface(&mut self, order: &[&'p Function]) -> Result<Outputs> {
        let program = self.source.program;
        let mut used: Set<Id> = Set::default();
        // Members of structures that are reached by constants; none: the whole variable.
        let mut members: Map<Id, Option<Set<u32>>> = Map::default();
        for function in order {
            for block in &function.blocks {
                for inst in &program.insts[block.from..=block.end] {
                    for id in operands(inst) {
                        let variable = program.inst(id).filter(|made| op(made) == Code::Variable);
                        if variable.is_none() || function.slots.contains_key(&id) {
                            continue;
                        }
                        used.insert(id);
                        let member = match op(inst) {
                            Code::AccessChain | Code::InBoundsAccessChain
                                if id == inst.operand(2) =>
                            {
                                // Inputs of a geometry shader are arrays of vertices.
                                let behind = usize::from(self.is_of_vertices(id));
                                let index =
                                    inst.rest(3 + behind).first().and_then(|&id| program.inst(id));
                                index
                                    .filter(|made| op(made) == Code::Constant)
                                    .map(|made| made.operand(2))
                            }
                            _ => None,
                        };
                        let known = members.entry(id).or_insert_with(|| Some(Set::default()));
                        match (known.as_mut(), member) {
                            (Some(known), Some(member)) => {
                                known.insert(member);
                            }
                            _ => *known = None,
                        }
                    }
                }
            }
        }
        self.find_uses(order);
        let mut bindings = Vec::new();
        let (mut inputs, mut outputs, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for &id in &used {
            let inst = program.inst(id).expect("it is a variable");
            match StorageClass::from_u32(inst.operand(2)) {
                Some(StorageClass::Input) => inputs.push(id),
                Some(StorageClass::Output) => {}
                Some(StorageClass::Private | StorageClass::Workgroup) => others.push(id),
                _ => bindings.push((self.place_of_binding(id), id)),
            }
        }
        let mut seen: Set<Id> = Set::default();
        for &id in &self.source.entry.interface {
            let inst = program.inst(id).filter(|inst| op(inst) == Code::Variable);
            let class = inst.and_then(|inst| StorageClass::from_u32(inst.operand(2)));
            // An entry point may name what it does not touch and only others have.
            let alien = !used.contains(&id)
                && program
                    .decorations(id)
                    .built_in()
                    .is_some_and(|what| self.check_stage(what, StorageClass::Output).is_err());
            if class == Some(StorageClass::Output) && seen.insert(id) && !alien {
                outputs.push(id);
            }
        }
        if let Some(&id) = used.iter().find(|&&id| {
            let inst = program.inst(id).expect("it is a variable");
            StorageClass::from_u32(inst.operand(2)) == Some(StorageClass::Output)
                && !seen.contains(&id)
        }) {
            let message = format!("the output %{id} is not in the entry point's interface");
            return Err(Stop::invalid(message).at(self.source.entry.at));
        }
        bindings.sort_unstable();
        for (_, id) in bindings {
            self.declare(id)?;
        }
        others.sort_unstable();
        for id in others {
            self.declare(id)?;
        }
        let order: Map<Id, usize> =
            self.source.entry.interface.iter().enumerate().map(|(at, &id)| (id, at)).collect();
        inputs.sort_by_key(|id| (order.get(id).copied().unwrap_or(usize::MAX), *id));
        self.inputs(&inputs, &members)?;
        let mut declared = Vec::new();
        for id in outputs {
            let inst = program.inst(id).expect("it is a variable");
            self.span = span(inst);
            let pointer = self.memory(id)?;
            let used = members.get(&id).cloned().unwrap_or_else(|| Some(Set::default()));
            declared.push((id, pointer, used));
        }
        Ok(declared.into())
    }

    /// Splits a type of the interface into what has a location and what is built in.
    fn parts(&self, variable: usize, id: Id, wanted: impl Fn(u32) -> bool) -> Result<Parts> {
        let program = self.source.program;
        let inst = program.inst(id).expect("it is a variable");
        let (_, ty) = program.pointee(inst.operand(0))?;
        self.parts_of(variable, id, ty, wanted)
    }

    /// [`OfSpirv::parts`] of a variable of this type, or of an element of it.
    fn parts_of(
        &self,
        variable: usize,
        id: Id,
        ty: Id,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Parts> {
        let program = self.source.program;
        let own = program.decorations(id);
        let mut parts = Parts::default();
        let name = program.name(id);
        program.leaf_count(ty)?;
        let by_members = own.builtin.is_none()
            && matches!(program.ty(ty)?, Ty::Struct(_))
            && match program.ty(ty)? {
                Ty::Struct(members) => {
                    own.location.is_none()
                        || members.iter().any(|member| member.decorations.builtin.is_some())
                }
                _ => false,
            };
        if !by_members {
            self.part(&mut parts, variable, ty, own, own.location, &name, 0)?;
            return Ok(parts);
        }
        let Ty::Struct(members) = program.ty(ty)? else {
            return Ok(parts);
        };
        let mut first = 0;
        // Members of a block whose variable has a location follow one another.
        let mut next = own.location;
        for (index, member) in (0..).zip(members) {
            let mut all = member.decorations.clone();
            all.flat |= own.flat;
            all.linear |= own.linear;
            all.centroid |= own.centroid;
            all.sample |= own.sample;
            let location = all.location.or(next);
            let built = all.builtin.is_some();
            if !built || wanted(index) {
                self.part(&mut parts, variable, member.ty, &all, location, &member.name, first)?;
            }
            if let (Some(at), false) = (location, built) {
                next = Some(at.saturating_add(self.source.program.locations(member.ty)?));
            }
            first += program.leaf_count(member.ty)?;
        }
        Ok(parts)
    }

    #[expect(clippy::too_many_arguments)]
    fn part(
        &self,
        parts: &mut Parts,
        variable: usize,
        ty: Id,
        decorations: &Decorations,
        location: Option<u32>,
        name: &str,
        first: usize,
    ) -> Result<()> {
        let program = self.source.program;
        if decorations.builtin.is_some() {
            let Some(what) = decorations.built_in() else {
                return Err(Stop::invalid("there is no such built-in value"));
            };
            let count = program.leaf_count(ty)?;
            let distances = match (self.stage, what) {
                (Stage::Fragment, BuiltIn::ClipDistance) => Some(DISTANCES[0]),
                (Stage::Fragment, BuiltIn::CullDistance) => Some(DISTANCES[1]),
                _ => None,
            };
            let built = Built { what, ty, name: name.to_owned(), first, count };
            match distances {
                Some(at) => self.locate_distances(parts, variable, decorations, at, &built)?,
                None => parts.built.push(built),
            }
            return Ok(());
        }
        let Some(location) = location else {
            let what = if name.is_empty() { "a variable".to_owned() } else { format!("`{name}`") };
            return Err(Stop::invalid(format!("{what} has neither a location nor is it built in")));
        };
        if decorations.per_vertex {
            return Err(Stop::unsupported("per-vertex inputs", READING).needing(Needs::Corners));
        }
        let needed = self.source.program.locations(ty)?;
        if needed > MOST_LOCATIONS || location.saturating_add(needed) > MOST_LOCATIONS {
            return Err(too_many_locations(u64::from(location) + u64::from(needed)));
        }
        self.locate(parts, variable, ty, decorations, location, name, first)?;
        Ok(())
    }

    /// Distances of vertices as what varies, from a location on.
    fn locate_distances(
        &self,
        parts: &mut Parts,
        variable: usize,
        decorations: &Decorations,
        at: u32,
        built: &Built,
    ) -> Result<()> {
        let Ty::Array { of, length: Some(_), .. } = *self.source.program.ty(built.ty)? else {
            return Err(Stop::invalid("distances are an array of floats"));
        };
        let from = parts.located.len();
        self.locate(parts, variable, of, decorations, at, &built.name, built.first)?;
        let one = parts.located.split_off(from);
        let [like] = &one[..] else {
            return Err(Stop::invalid("distances are an array of floats"));
        };
        if like.scalar != naga::Scalar::F32 || like.count != 1 {
            return Err(Stop::invalid("distances are an array of floats"));
        }
        parts.located.extend(distances_at(at, built.count, like)?);
        Ok(())
    }

    #[expect(clippy::too_many_arguments)]
    fn locate(
        &self,
        parts: &mut Parts,
        variable: usize,
        ty: Id,
        decorations: &Decorations,
        location: u32,
        name: &str,
        first: usize,
    ) -> Result<u32> {
        let program = self.source.program;
        if program.locations(ty)? == 0 {
            return Ok(location);
        }
        match program.ty(ty)? {
            Ty::Scalar(scalar) | Ty::Vector(scalar, ..) => {
                let mut scalar = *scalar;
                let (_, mut count) = program.shape(ty)?;
                let component = decorations.component.unwrap_or(0);
                let is_wide = scalar.width == 8;
                if is_wide {
                    (scalar, count) = (naga::Scalar::U32, 2 * count);
                }
                // Two words of a location make one scalar of 64 bits, and what has more than two goes on in the next.
                if is_wide && count > 4 && component == 0 {
                    let (mut at, mut first) = (location, first);
                    for count in [4, count - 4] {
                        parts.located.push(Located {
                            location: at,
                            component,
                            scalar,
                            count,
                            is_wide,
                            interpolation: Interpolation::Flat,
                            sampling: Sampling::Center,
                            index: decorations.index.unwrap_or(0),
                            name: name.to_owned(),
                            variable,
                            first,
                            vertex: None,
                        });
                        (at, first) = (at + 1, first + count / 2);
                    }
                    return Ok(at);
                }
                if component as usize + count > 4 || is_wide && component % 2 == 1 {
                    let message = "components behind the fourth of a location";
                    return Err(Stop::invalid(message));
                }
                let float = scalar.kind == ScalarKind::Float;
                parts.located.push(Located {
                    location,
                    component,
                    scalar,
                    count,
                    is_wide,
                    interpolation: match (decorations.flat || is_wide, decorations.linear) {
                        (true, _) => Interpolation::Flat,
                        (_, true) => Interpolation::Linear,
                        _ if float => Interpolation::Perspective,
                        _ => Interpolation::Flat,
                    },
                    sampling: match (decorations.sample, decorations.centroid) {
                        (true, _) => Sampling::Sample,
                        (_, true) => Sampling::Centroid,
                        _ => Sampling::Center,
                    },
                    index: decorations.index.unwrap_or(0),
                    name: name.to_owned(),
                    variable,
                    first,
                    vertex: None,
                });
                Ok(location + 1)
            }
            Ty::Struct(members) => {
                let (mut at, mut first) = (location, first);
                for member in members {
                    let own = &member.decorations;
                    let mut all = decorations.clone();
                    all.flat |= own.flat;
                    all.linear |= own.linear;
                    all.centroid |= own.centroid;
                    all.sample |= own.sample;
                    all.component = own.component;
                    at = own.location.unwrap_or(at);
                    at = self.locate(parts, variable, member.ty, &all, at, name, first)?;
                    first += program.leaf_count(member.ty)?;
                }
                Ok(at)
            }
            _ => {
                let (of, length) = program.elements(ty)?;
                let Some(length) = length else {
                    return Err(Stop::invalid("a runtime array is an input or output"));
                };
                let count = program.leaf_count(of)?;
                let (mut at, mut first) = (location, first);
                for _ in 0..length {
                    at = self.locate(parts, variable, of, decorations, at, name, first)?;
                    first += count;
                }
                Ok(at)
            }
        }
    }

    /// Declares and reads inputs, and puts them into their variables.
    fn inputs(&mut self, ids: &[Id], members: &Map<Id, Option<Set<u32>>>) -> Result<()> {
        let program = self.source.program;
        let mut located: Vec<Located> = Vec::new();
        let mut variables: Vec<(Pointer, Values)> = Vec::new();
        for (number, &id) in ids.iter().enumerate() {
            let inst = program.inst(id).expect("it is a variable");
            self.span = span(inst);
            let pointer = self.uninitialised(id)?;
            let mut values = self.zeros(pointer.ty)?;
            if self.is_of_vertices(id) {
                let wanted = members.get(&id).and_then(Option::as_ref);
                located.extend(self.of_vertices(number, id, wanted, &mut values)?);
                variables.push((pointer, values));
                continue;
            }
            let parts = self.parts(number, id, |_| true)?;
            for built in &parts.built {
                let found = self.built_input(built)?;
                // Words of a mask beyond the first are of samples that no machine has.
                let masks = built.what == BuiltIn::SampleMask && built.count > 0;
                if found.len() != built.count && !masks {
                    return Err(wrong(built));
                }
                values[built.first..built.first + found.len()].copy_from_slice(&found);
            }
            located.extend(parts.located);
            variables.push((pointer, values));
        }
        let (pointers, mut variables): (Vec<_>, Vec<_>) = variables.into_iter().unzip();
        self.read_located(&located, &mut variables, READING)?;
        let initial = self.initial;
        for (pointer, values) in pointers.iter().zip(&variables) {
            self.within(initial, |lower| lower.store(pointer, values))?;
        }
        Ok(())
    }

    /// Whether an id is an input of a geometry shader that has a value for each vertex of the primitive.
    fn is_of_vertices(&self, id: Id) -> bool {
        let program = self.source.program;
        let input = Some(StorageClass::Input as u32);
        self.stage == Stage::Geometry
            && program.inst(id).map(|inst| inst.operand(2)) == input
            && !matches!(
                program.decorations(id).built_in(),
                Some(
                    BuiltIn::PrimitiveId
                        | BuiltIn::InvocationId
                        | BuiltIn::SubgroupSize
                        | BuiltIn::SubgroupLocalInvocationId
                        | BuiltIn::SubgroupEqMask
                        | BuiltIn::SubgroupGeMask
                        | BuiltIn::SubgroupGtMask
                        | BuiltIn::SubgroupLeMask
                        | BuiltIn::SubgroupLtMask
                        | BuiltIn::DeviceIndex
                        | BuiltIn::ViewIndex
                )
            )
    }

    /// What an input of vertices has at locations; built-in values are read. `wanted`: members that are used; none: all.
    fn of_vertices(
        &mut self,
        number: usize,
        id: Id,
        wanted: Option<&Set<u32>>,
        values: &mut Values,
    ) -> Result<Vec<Located>> {
        let program = self.source.program;
        let (_, ty) = program.pointee(program.type_of(id)?)?;
        let corners = self.func.geometry.map_or(0, |geometry| geometry.takes.count());
        let Ty::Array { of, length, .. } = *program.ty(ty)? else {
            return Err(Stop::invalid("an input of a geometry shader is an array of vertices"));
        };
        if length != Some(corners.into()) {
            let message = format!(
                "the primitive of a geometry shader has {corners} vertices, and an input another number"
            );
            return Err(Stop::invalid(message));
        }
        let wanted = |member| wanted.is_none_or(|known| known.contains(&member));
        let mut parts = self.parts_of(number, id, of, wanted)?;
        // The vertex stage gives distances a second time as what varies.
        for built in std::mem::take(&mut parts.built) {
            let at = match built.what {
                BuiltIn::ClipDistance => DISTANCES[0],
                BuiltIn::CullDistance => DISTANCES[1],
                _ => {
                    parts.built.push(built);
                    continue;
                }
            };
            self.locate_distances(&mut parts, number, &Decorations::PLAIN, at, &built)?;
        }
        let scalars = program.leaf_count(of)?;
        let mut located = Vec::new();
        for vertex in 0..corners {
            located.extend(parts.located.iter().map(|part| part.of_vertex(vertex, scalars)));
            for built in &parts.built {
                self.check_stage(built.what, StorageClass::Input)?;
                let what = builtin_of(built.what)?;
                self.check_builtin(built, what)?;
                let found = self.of_vertex(vertex, what, &built.name)?;
                let first = built.first + usize::from(vertex) * scalars;
                values[first..first + found.len()].copy_from_slice(&found);
            }
        }
        Ok(located)
    }

    /// The input whose memory this is.
    fn input_in(&mut self, mem: Mem) -> Option<Id> {
        let program = self.source.program;
        let variables = &self.source.variables;
        let inputs = self.source.inputs.get_or_insert_with(|| {
            let class = |id| program.inst(id).map(|inst: &Inst| inst.operand(2));
            let input = |id| class(id) == Some(StorageClass::Input as u32);
            let inputs = variables.iter().filter(|(id, _)| input(**id));
            inputs
                .filter_map(|(&id, own)| match own.place.base {
                    Base::Mem(mem) => Some((mem, id)),
                    Base::Buffer(_) => None,
                })
                .collect()
        });
        inputs.get(&mem).copied()
    }

    /// A part of an input at another place of the pixel.
    pub(super) fn interpolation(
        &mut self,
        frame: &mut Frame<'p>,
        code: GLOp,
        inst: &Inst,
    ) -> Result<Values> {
        let program = self.source.program;
        let (input, rest) = (inst.operand(4), inst.operand(5));
        let at = match code {
            GLOp::InterpolateAtCentroid => At::Spot(Sampling::Centroid),
            GLOp::InterpolateAtOffset => match self.values(frame, rest)?[..] {
                [x, y] if matches!(self.ty(x), Type::B16 | Type::B32) => At::Offset(x, y),
                _ => return Err(Stop::invalid("an offset in a pixel is two floats")),
            },
            _ if self.is_own_sample(rest) => At::Spot(Sampling::Sample),
            _ => {
                let what = "interpolation at another sample than the own";
                return Err(Stop::unsupported(what, READING));
            }
        };
        let Operand::Pointer(pointer) = self.operand(frame, input)? else {
            return Err(Stop::invalid("an input is interpolated, or a part of one"));
        };
        let (_, ty) = program.pointee(program.type_of(input)?)?;
        if ty != inst.operand(0) || program.shape(ty)?.0.kind != ScalarKind::Float {
            return Err(Stop::invalid("what is interpolated has another type than the result"));
        }
        let variable = match pointer.place.base {
            Base::Mem(mem) if self.stage == Stage::Fragment => self.input_in(mem),
            _ => None,
        };
        let Some(variable) = variable else {
            return Err(Stop::invalid(
                "an input of a fragment shader is interpolated, or a part of one",
            ));
        };
        let wanted = program.flatten(pointer.ty, pointer.place.layout, pointer.matrices)?;
        let whole = |lower: &Self| {
            let own = &lower.source.variables[&variable];
            let leaves = program.flatten(own.ty, own.place.layout, own.matrices)?;
            let parts = lower.parts(0, variable, |_| true)?;
            Ok(Interpolant { located: parts.located, leaves })
        };
        self.interpolated(&pointer.place, &wanted, at, whole, READING)
    }

    /// Whether a load asks if the invocation is a helper by now. A volatile one does (SPIR-V 1.6, HelperInvocation).
    pub(super) fn is_volatile_helper(&self, inst: &Inst) -> bool {
        const VOLATILE: u32 = 1;
        let decorations = self.source.program.decorations(inst.operand(2));
        let volatile = decorations.volatile
            || inst.rest(3).first().is_some_and(|access| access & VOLATILE != 0);
        volatile
            && self.stage == Stage::Fragment
            && decorations.built_in() == Some(BuiltIn::HelperInvocation)
    }

    /// Whether a value is the number of the sample that the invocation runs for.
    fn is_own_sample(&self, id: Id) -> bool {
        let program = self.source.program;
        let loaded = program.inst(id).filter(|inst| op(inst) == Code::Load);
        loaded.is_some_and(|inst| {
            program.decorations(inst.operand(2)).built_in() == Some(BuiltIn::SampleId)
        })
    }

    fn built_input(&mut self, built: &Built) -> Result<Values> {
        let program = self.source.program;
        if built.what == BuiltIn::WorkgroupSize {
            let size = self.source.entry.workgroup.unwrap_or([1; 3]);
            return Ok(size.iter().map(|&n| self.u32(n)).take(built.count).collect());
        }
        let prologue = self.prologue;
        if built.what == BuiltIn::HelperInvocation && self.stage == Stage::Fragment {
            let types = program.widths(built.ty)?;
            if types != [Type::B1] {
                return Err(wrong(built));
            }
            return Ok(self.within(prologue, Self::helper));
        }
        self.check_stage(built.what, StorageClass::Input)?;
        if built.what == BuiltIn::InstanceId {
            // OpenGL counts from 0, whatever the first instance is.
            let [index, first] = [BuiltIn::InstanceIndex, BuiltIn::BaseInstance]
                .map(|what| self.built_input(&Built { what, ..built.clone() }));
            let (index, first) = (index?, first?);
            return Ok(self.within(prologue, |lower| {
                Values::from_slice(&[lower.op2(Op::ISub, index[0], first[0])])
            }));
        }
        let mask = match built.what {
            BuiltIn::SubgroupEqMask => Some(Mask::Equal),
            BuiltIn::SubgroupGeMask => Some(Mask::GreaterEqual),
            BuiltIn::SubgroupGtMask => Some(Mask::Greater),
            BuiltIn::SubgroupLeMask => Some(Mask::LessEqual),
            BuiltIn::SubgroupLtMask => Some(Mask::Less),
            _ => None,
        };
        if let Some(mask) = mask {
            return match program.widths(built.ty)?[..] {
                [Type::B32, Type::B32, Type::B32, Type::B32] => {
                    self.within(prologue, |lower| lower.lane_mask(mask))
                }
                _ => Err(wrong(built)),
            };
        }
        if built.what == BuiltIn::DeviceIndex {
            // There is one device.
            return Ok(Values::from_elem(self.u32(0), 1));
        }
        let what = builtin_of(built.what)?;
        let (scalar, count) = self.check_builtin(built, what)?;
        let is_bool = scalar.kind == ScalarKind::Bool;
        if let Some(values) = self.number_in_squares(what) {
            return Ok(values);
        }
        let kind = InputKind::Builtin(what);
        let scalar = if is_bool { Scalar::U32 } else { reading(scalar) };
        let input = self.input_once(kind, count as u8, scalar, &built.name);
        self.within(prologue, |lower| {
            lower.lanes(count, |lower, lane| {
                let value = lower.b().input(input, lane as u8);
                Ok(if is_bool { lower.truth(value) } else { value })
            })
        })
    }

    /// Refuses a built-in value that this stage does not have as an input or as an output.
    fn check_stage(&self, what: BuiltIn, class: StorageClass) -> Result<()> {
        if places(what).is_none_or(|places| places.contains(&(self.stage, class))) {
            return Ok(());
        }
        let stage = self.stage.name();
        let side = match class {
            StorageClass::Output => "output",
            _ => "input",
        };
        Err(Stop::invalid(format!(
            "the built-in value {what:?} is not an {side} of a {stage} shader (Vulkan, built-in variables)"
        )))
    }

    /// The scalars of a built-in value: the type that the language gives it.
    fn check_builtin(&self, built: &Built, what: Builtin) -> Result<(naga::Scalar, usize)> {
        let program = self.source.program;
        let mut ty = built.ty;
        if let (Ty::Array { of, .. }, Builtin::SampleMask) = (program.ty(ty)?, what) {
            ty = *of;
        }
        let (Ty::Scalar(scalar) | Ty::Vector(scalar, ..)) = program.ty(ty)? else {
            return Err(wrong(built));
        };
        let (_, count) = program.shape(ty)?;
        let kind = scalar.kind;
        let fits = match what {
            Builtin::Position
            | Builtin::PointSize
            | Builtin::PointCoord
            | Builtin::SamplePosition
            | Builtin::FragDepth => kind == ScalarKind::Float,
            Builtin::FrontFacing => kind == ScalarKind::Bool,
            _ => matches!(kind, ScalarKind::Sint | ScalarKind::Uint),
        };
        let wide = scalar.width == 4 || kind == ScalarKind::Bool;
        if !fits || !wide || count != usize::from(what.components()) {
            return Err(wrong(built));
        }
        Ok((*scalar, count))
    }

    /// Whether an output is a position that is the same in every program that computes it alike.
    pub(super) fn is_invariant(&self, all: &Outputs) -> Result<bool> {
        let program = self.source.program;
        let position =
            |decorations: &Decorations| decorations.built_in() == Some(BuiltIn::Position);
        for (id, ..) in all.iter() {
            let own = program.decorations(*id);
            let found = match program.ty(program.pointee(program.type_of(*id)?)?.1)? {
                Ty::Struct(members) => members
                    .iter()
                    .map(|member| &member.decorations)
                    .any(|member| position(member) && (member.invariant || own.invariant)),
                _ => position(own) && own.invariant,
            };
            if found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads output variables and writes the outputs.
    pub(super) fn outputs(&mut self, all: &Outputs) -> Result<()> {
        let program = self.source.program;
        let mut distances = Distances::default();
        let mut located: Vec<Located> = Vec::new();
        let mut variables: Vec<Values> = Vec::new();
        let mut builts = Vec::new();
        for (number, (id, pointer, members)) in all.iter().enumerate() {
            let inst = program.inst(*id).expect("it is a variable");
            self.span = span(inst);
            let wanted = |index| members.as_ref().is_none_or(|known| known.contains(&index));
            let parts = self.parts(number, *id, wanted)?;
            // Parts that nobody writes are not read.
            let whole = parts.built.is_empty();
            let values = match whole {
                true => self.load(pointer)?,
                false => Values::new(),
            };
            for built in parts.built {
                let place = pointer.place.clone();
                let leaves = program.flatten(pointer.ty, place.layout, Matrices::default())?;
                let own = &leaves[built.first..built.first + built.count];
                let values = self.load_leaves(&place, own);
                builts.push((built, values));
            }
            if !whole && !parts.located.is_empty() {
                return Err(Stop::unsupported("a block of built-in and other values", READING));
            }
            located.extend(parts.located);
            variables.push(values);
        }
        for (built, values) in builts {
            self.built_output(&built, &values, &mut distances)?;
        }
        if self.stage == Stage::Fragment && located.iter().any(|part| part.is_wide) {
            let message = "an output of a fragment shader has 64 bits (GLSL 4.60, 4.3.6)";
            return Err(Stop::invalid(message));
        }
        self.write_located(&located, &variables, READING)?;
        self.distances(&distances)?;
        self.varying_distances(&distances);
        Ok(())
    }

    fn built_output(
        &mut self,
        built: &Built,
        values: &Values,
        distances: &mut Distances,
    ) -> Result<()> {
        let program = self.source.program;
        let list = match built.what {
            BuiltIn::ClipDistance => Some(&mut distances.clip),
            BuiltIn::CullDistance => Some(&mut distances.cull),
            _ => None,
        };
        if let (Some((name, list)), Stage::Vertex | Stage::Geometry) = (list, self.stage) {
            let floats = match program.ty(built.ty)? {
                Ty::Array { of, .. } => program.shape(*of)?.0 == naga::Scalar::F32,
                _ => false,
            };
            if !floats {
                return Err(wrong(built));
            }
            built.name.clone_into(name);
            list.extend_from_slice(values);
            return Ok(());
        }
        self.check_stage(built.what, StorageClass::Output)?;
        let what = builtin_of(built.what)?;
        let is_output = match self.stage {
            Stage::Vertex => {
                matches!(what, Builtin::Position | Builtin::PointSize | Builtin::Layer)
            }
            Stage::Fragment => {
                matches!(what, Builtin::FragDepth | Builtin::StencilRef | Builtin::SampleMask)
            }
            Stage::Geometry => {
                matches!(what, Builtin::Position | Builtin::PointSize | Builtin::PrimitiveIndex)
            }
            Stage::Compute => false,
        };
        if !is_output {
            let stage = self.stage.name();
            let feature = format!("{:?} as an output of a {stage} shader", built.what);
            return Err(Stop::unsupported(feature, READING));
        }
        let (scalar, count) = self.check_builtin(built, what)?;
        self.output(OutputKind::Builtin(what), reading(scalar), &built.name, &values[..count]);
        Ok(())
    }
}

/// True for vectors of 64 bits that take two locations (Vulkan, location assignment).
pub(super) fn is_long(scalar: naga::Scalar, count: u32) -> bool {
    scalar.width == 8 && count > 2
}

/// Stages that have a built-in value, and on which side (Vulkan, built-in variables; OpenGL's beside them); none where
/// no stage here is known for it.
fn places(what: BuiltIn) -> Option<&'static [(Stage, StorageClass)]> {
    use BuiltIn as B;
    use Stage::{Compute, Fragment, Geometry, Vertex};
    use StorageClass::{Input, Output};
    Some(match what {
        B::Position | B::PointSize => &[(Vertex, Output), (Geometry, Input), (Geometry, Output)],
        B::ClipDistance | B::CullDistance => {
            &[(Vertex, Output), (Geometry, Input), (Geometry, Output), (Fragment, Input)]
        }
        B::Layer | B::ViewportIndex => &[(Vertex, Output), (Geometry, Output), (Fragment, Input)],
        B::InvocationId => &[(Geometry, Input)],
        B::PrimitiveId => &[(Geometry, Input), (Geometry, Output), (Fragment, Input)],
        B::VertexIndex
        | B::VertexId
        | B::InstanceIndex
        | B::InstanceId
        | B::BaseVertex
        | B::BaseInstance
        | B::DrawIndex => &[(Vertex, Input)],
        B::PrimitiveShadingRateKHR => &[(Vertex, Output)],
        B::FragDepth | B::FragStencilRefEXT => &[(Fragment, Output)],
        B::SampleMask => &[(Fragment, Input), (Fragment, Output)],
        B::FragCoord
        | B::PointCoord
        | B::FrontFacing
        | B::SampleId
        | B::SamplePosition
        | B::HelperInvocation
        | B::ShadingRateKHR
        | B::BaryCoordKHR
        | B::BaryCoordNoPerspKHR
        | B::FragSizeEXT
        | B::FragInvocationCountEXT
        | B::FullyCoveredEXT => &[(Fragment, Input)],
        B::ViewIndex => &[(Vertex, Input), (Geometry, Input), (Fragment, Input)],
        B::WorkgroupId
        | B::NumWorkgroups
        | B::LocalInvocationId
        | B::LocalInvocationIndex
        | B::GlobalInvocationId
        | B::NumSubgroups
        | B::SubgroupId => &[(Compute, Input)],
        B::SubgroupSize
        | B::SubgroupLocalInvocationId
        | B::SubgroupEqMask
        | B::SubgroupGeMask
        | B::SubgroupGtMask
        | B::SubgroupLeMask
        | B::SubgroupLtMask
        | B::DeviceIndex => {
            &[(Vertex, Input), (Geometry, Input), (Fragment, Input), (Compute, Input)]
        }
        B::TessLevelOuter | B::TessLevelInner | B::TessCoord | B::PatchVertices => &[],
        _ => return None,
    })
}

fn wrong(built: &Built) -> Stop {
    let what = built.what;
    Stop::invalid(format!("the built-in value {what:?} is declared with another type than it has"))
}

/// The built-in value that one of SPIR-V's is.
fn builtin_of(builtin: BuiltIn) -> Result<Builtin> {
    use BuiltIn as B;
    Ok(match builtin {
        B::Position | B::FragCoord => Builtin::Position,
        B::PointSize => Builtin::PointSize,
        B::ClipDistance => Builtin::ClipDistance(0),
        B::CullDistance => Builtin::CullDistance(0),
        B::VertexIndex | B::VertexId => Builtin::VertexIndex,
        B::InstanceIndex => Builtin::InstanceIndex,
        B::BaseVertex => Builtin::BaseVertex,
        B::BaseInstance => Builtin::BaseInstance,
        B::DrawIndex => Builtin::DrawIndex,
        B::ViewIndex => Builtin::ViewIndex,
        B::Layer => Builtin::Layer,
        B::FragDepth => Builtin::FragDepth,
        B::FragStencilRefEXT => Builtin::StencilRef,
        B::PointCoord => Builtin::PointCoord,
        B::FrontFacing => Builtin::FrontFacing,
        B::PrimitiveId => Builtin::PrimitiveIndex,
        B::InvocationId => Builtin::InvocationIndex,
        B::SampleId => Builtin::SampleIndex,
        B::SamplePosition => Builtin::SamplePosition,
        B::SampleMask => Builtin::SampleMask,
        B::GlobalInvocationId => Builtin::GlobalInvocationId,
        B::LocalInvocationId => Builtin::LocalInvocationId,
        B::LocalInvocationIndex => Builtin::LocalInvocationIndex,
        B::WorkgroupId => Builtin::WorkgroupId,
        B::NumWorkgroups => Builtin::NumWorkgroups,
        B::NumSubgroups => Builtin::NumSubgroups,
        B::SubgroupId => Builtin::SubgroupId,
        B::SubgroupSize => Builtin::SubgroupSize,
        B::SubgroupLocalInvocationId => Builtin::SubgroupInvocationId,
        other => {
            let name = format!("the built-in value {other:?}");
            let stop = Stop::unsupported(name, READING);
            return Err(match other {
                B::ShadingRateKHR | B::PrimitiveShadingRateKHR => stop.needing(Needs::ShadingRate),
                B::ViewportIndex => stop.needing(Needs::Viewports),
                B::BaryCoordKHR | B::BaryCoordNoPerspKHR => stop.needing(Needs::Corners),
                B::FullyCoveredEXT => stop.needing(Needs::WholePixels),
                B::FragSizeEXT | B::FragInvocationCountEXT => stop.needing(Needs::ShadingRate),
                _ => stop,
            });
        }
    })
}
