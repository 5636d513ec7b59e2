//! A SPIR-V module as tables: what each id is.

use super::amd::Amd;
use super::default_block::DefaultBlock;
use super::module::{Inst, Module};
use super::sizes::Sizes;
use super::types::{Decorations, Image, Member, Ty};
use super::{string, string_words};
use crate::Needs;
use crate::lower::narrow::is_byte;
use crate::lower::primitives::Said;
use crate::lower::quads::Quads;
use crate::stop::Stop;
use gpucc_ir::ssa::{Corners, Emits, Span, Stage};
use gpucc_ir::{Map, Set};
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{Capability, Dim, ExecutionMode, ExecutionModel, Op, StorageClass};
use std::cell::RefCell;
use std::sync::OnceLock;

/// The stage of ours that reads SPIR-V.
pub const READING: &str = "SPIR-V's reader";

/// A number of a type, constant, variable, function or value.
pub type Id = u32;

/// Opcode of an instruction.
pub fn op(inst: &Inst) -> Op {
    inst.op
}

/// The bytes of an instruction in the module.
pub fn span(inst: &Inst) -> Span {
    Span { start: inst.at as u32, end: (inst.at + 4 * inst.words.len()) as u32 }
}

/// What merges behind a header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Selection(Id),
    Loop { merge: Id, next: Id },
}

/// Instructions between a label and a branch.
#[derive(Clone, Debug)]
pub struct Block {
    pub label: Id,
    /// First instruction behind the label.
    pub from: usize,
    /// The branch.
    pub end: usize,
    pub merge: Option<Merge>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    pub id: Id,
    pub result: Id,
    pub parameters: Vec<Id>,
    pub blocks: Vec<Block>,
    /// Block of a label.
    pub labels: Map<Id, usize>,
    /// Number of a value within the function.
    pub slots: Map<Id, usize>,
    /// Functions that it calls.
    pub calls: Vec<Id>,
    pub at: Span,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    pub function: Id,
    pub model: ExecutionModel,
    pub interface: Vec<Id>,
    pub at: Span,
    pub workgroup: Option<[u32; 3]>,
    pub early_tests: bool,
    pub lower_left: bool,
    pub quads: Quads,
    /// What a geometry shader takes and emits.
    pub primitives: Said,
}

impl Entry {
    /// The stage, when it is one that we compile.
    pub fn stage(&self) -> Result<Stage, Stop> {
        use ExecutionModel as M;
        let stop = match self.model {
            M::Vertex => return Ok(Stage::Vertex),
            M::Fragment => return Ok(Stage::Fragment),
            M::GLCompute => return Ok(Stage::Compute),
            M::Geometry => return Ok(Stage::Geometry),
            M::TaskEXT | M::MeshEXT | M::TaskNV | M::MeshNV => {
                Stop::unsupported("task and mesh shaders", READING).needing(Needs::MeshStages)
            }
            M::RayGenerationKHR
            | M::IntersectionKHR
            | M::AnyHitKHR
            | M::ClosestHitKHR
            | M::MissKHR
            | M::CallableKHR => {
                Stop::unsupported("ray tracing shaders", READING).needing(Needs::RayTracing)
            }
            M::TessellationControl | M::TessellationEvaluation => {
                Stop::unsupported("tessellation shaders", READING).needing(Needs::Tessellation)
            }
            other => Stop::unsupported(format!("shaders of the stage {other:?}"), READING),
        };
        Err(stop)
    }
}

/// What a mode says that a geometry shader takes.
fn takes(mode: ExecutionMode) -> Option<Corners> {
    Some(match mode {
        ExecutionMode::InputPoints => Corners::Points,
        ExecutionMode::InputLines => Corners::Lines,
        ExecutionMode::InputLinesAdjacency => Corners::LinesAdjacency,
        ExecutionMode::Triangles => Corners::Triangles,
        ExecutionMode::InputTrianglesAdjacency => Corners::TrianglesAdjacency,
        _ => return None,
    })
}

/// What a mode says that a geometry shader emits.
fn emits(mode: ExecutionMode) -> Option<Emits> {
    Some(match mode {
        ExecutionMode::OutputPoints => Emits::Points,
        ExecutionMode::OutputLineStrip => Emits::LineStrip,
        ExecutionMode::OutputTriangleStrip => Emits::TriangleStrip,
        _ => return None,
    })
}

/// The module's tables.
pub struct Program<'a> {
    pub insts: &'a [Inst],
    /// Declared types.
    types: Vec<Ty>,
    /// How deep each nests.
    depths: Vec<u32>,
    /// By instruction: the type that it declares.
    type_at: Vec<u32>,
    /// The instruction that gives an id.
    made: Vec<u32>,
    /// Ids and the instructions that name them, by id.
    names: Vec<(Id, u32)>,
    decorations: Map<Id, Decorations>,
    pub functions: Vec<Function>,
    function_of: Map<Id, usize>,
    pub entries: Vec<Entry>,
    /// Stages and names of the entry points.
    named: Set<(u32, String)>,
    /// The set of GLSL.std.450.
    pub glsl: Id,
    /// Numbers of AMD's sets of functions.
    pub amd: Map<Id, Amd>,
    /// Comparisons tell apart what is not a number.
    pub keeps_nan: bool,
    /// Pointers may be values.
    pub has_far: bool,
    /// Pointers to physical storage are numbers of 64 bits.
    pub has_addresses: bool,
    /// Variables of workgroup memory lie where the module says, over each other.
    pub shares_workgroup: bool,
    /// Types of pointers that are declared behind the structures that hold them.
    forward: Set<Id>,
    /// There is a type of integers of 8 bits.
    pub has_bytes: bool,
    /// Modes say how floats round, and what becomes of denormals.
    pub controls_floats: bool,
    /// Uniforms outside of blocks.
    pub default_block: DefaultBlock,
    /// Sizes of types, as far as they were asked for.
    pub(super) sizes: RefCell<Sizes>,
}

const NONE: u32 = u32::MAX;
/// How deep types may nest (SPIR-V 2.17, structure nesting depth).
const MOST_DEPTH: u32 = 255;
/// Decorations that no instruction has: of an id without any.
static PLAIN: Decorations = Decorations::PLAIN;

fn invalid(inst: &Inst, message: impl Into<String>) -> Stop {
    Stop::invalid(message).at(span(inst))
}

/// What an instruction begins with.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    has_type: bool,
    has_result: bool,
}

/// The shapes of all opcodes, by number, out of the grammar.
fn shapes() -> &'static [Shape] {
    static SHAPES: OnceLock<Vec<Shape>> = OnceLock::new();
    SHAPES.get_or_init(|| {
        let mut shapes = Vec::new();
        for inst in INSTRUCTION_TABLE.iter() {
            let number = inst.opcode as usize;
            if shapes.len() <= number {
                shapes.resize(number + 1, Shape::default());
            }
            let has = |kind| inst.operands.iter().take(2).any(|operand| operand.kind == kind);
            shapes[number] = Shape {
                has_type: has(OperandKind::IdResultType),
                has_result: has(OperandKind::IdResult),
            };
        }
        shapes
    })
}

/// True for instructions that begin with the type and the id of a result.
fn has_type_and_result(inst: &Inst) -> bool {
    let shape = shapes().get(inst.opcode() as usize).copied().unwrap_or_default();
    shape == Shape { has_type: true, has_result: true }
}

impl<'a> Program<'a> {
    /// Reads the tables of a module whose specialization constants are constants.
    ///
    /// # Errors
    /// What breaks the rules that the tables need, and what the reader does not know.
    pub fn new(module: &'a Module) -> Result<Program<'a>, Stop> {
        let bound = module.header[3] as usize;
        let mut program = Program {
            insts: &module.insts,
            types: Vec::new(),
            depths: Vec::new(),
            type_at: Vec::new(),
            made: vec![NONE; bound],
            names: Vec::new(),
            decorations: Map::default(),
            functions: Vec::new(),
            function_of: Map::default(),
            entries: Vec::new(),
            named: Set::default(),
            glsl: 0,
            amd: Map::default(),
            keeps_nan: false,
            has_bytes: false,
            has_far: false,
            has_addresses: false,
            shares_workgroup: false,
            forward: Set::default(),
            controls_floats: false,
            default_block: DefaultBlock::default(),
            sizes: RefCell::default(),
        };
        program.declarations()?;
        program.lay_out_default_block()?;
        program.bodies()?;
        program.modes()?;
        Ok(program)
    }

    fn define(&mut self, id: Id, inst: usize) -> Result<(), Stop> {
        let Some(made) = self.made.get_mut(id as usize) else {
            let message = format!("the id %{id} is not below the module's bound");
            return Err(invalid(&self.insts[inst], message));
        };
        if *made != NONE {
            return Err(invalid(&self.insts[inst], format!("the id %{id} has two definitions")));
        }
        *made = inst as u32;
        Ok(())
    }

    /// The number of a type that was declared.
    fn declared(&self, id: Id) -> Option<usize> {
        let made = *self.made.get(id as usize)?;
        let at = *self.type_at.get(made as usize)?;
        (at != NONE).then_some(at as usize)
    }

    /// Replaces a declared type.
    pub(super) fn set_type(&mut self, id: Id, ty: Ty) {
        if let Some(at) = self.declared(id) {
            self.types[at] = ty;
        }
    }

    /// The instruction that gives an id.
    pub fn inst(&self, id: Id) -> Option<&'a Inst> {
        let made = *self.made.get(id as usize)?;
        self.insts.get(made as usize)
    }

    /// Which instruction of the module gives an id.
    pub fn order(&self, id: Id) -> Option<u32> {
        self.made.get(id as usize).copied().filter(|made| *made != NONE)
    }

    /// Names, decorations, types, constants, variables.
    fn declarations(&mut self) -> Result<(), Stop> {
        let mut members: Map<(Id, u32), Decorations> = Map::default();
        let mut member_names: Map<(Id, u32), String> = Map::default();
        let insts = self.insts;
        for (number, inst) in insts.iter().enumerate() {
            let first = inst.operand(0);
            match op(inst) {
                Op::Function => break,
                Op::Capability => {
                    let capability = Capability::from_u32(first);
                    self.has_far |= matches!(
                        capability,
                        Some(
                            Capability::VariablePointers
                                | Capability::VariablePointersStorageBuffer
                        )
                    );
                    self.has_addresses |=
                        capability == Some(Capability::PhysicalStorageBufferAddresses);
                    self.shares_workgroup |=
                        capability == Some(Capability::WorkgroupMemoryExplicitLayoutKHR);
                }
                Op::Name => {
                    self.names.push((first, number as u32));
                }
                Op::MemberName => {
                    member_names.insert((first, inst.operand(1)), string(inst.rest(2)));
                }
                Op::ExtInstImport => {
                    self.define(first, number)?;
                    let name = string(inst.rest(1));
                    if name == "GLSL.std.450" {
                        self.glsl = first;
                    } else if let Some(set) = Amd::of(&name) {
                        self.amd.insert(first, set);
                    }
                }
                Op::Decorate | Op::DecorateId => {
                    self.decorations.entry(first).or_default().add(inst.rest(1));
                }
                Op::MemberDecorate => {
                    let key = (first, inst.operand(1));
                    members.entry(key).or_default().add(inst.rest(2));
                }
                Op::TypeForwardPointer => {
                    let class = StorageClass::from_u32(inst.operand(1));
                    if class != Some(StorageClass::PhysicalStorageBuffer) || !self.has_addresses {
                        return Err(invalid(
                            inst,
                            "only pointers to physical storage are declared behind their uses",
                        ));
                    }
                    self.forward.insert(first);
                }
                _ if (19..=39).contains(&inst.opcode())
                    || op(inst) == Op::TypeAccelerationStructureKHR
                    || op(inst) == Op::TypeRayQueryKHR =>
                {
                    self.define(first, number)?;
                    let ty = self.ty_of(inst, &members, &member_names)?;
                    // Nothing else may be declared behind its uses: a structure could hold itself.
                    if self.forward.contains(&first)
                        && !matches!(ty, Ty::Pointer(StorageClass::PhysicalStorageBuffer, _))
                    {
                        return Err(invalid(
                            inst,
                            "only a pointer was announced by OpTypeForwardPointer",
                        ));
                    }
                    self.has_bytes |= matches!(ty, Ty::Scalar(scalar) if is_byte(scalar));
                    let depth = self.depth(&ty) + 1;
                    if depth > MOST_DEPTH {
                        let (what, hint) = ("depth of nested types", "nest types less");
                        let stop = Stop::limit(what, depth.into(), MOST_DEPTH.into(), hint);
                        return Err(stop.at(span(inst)));
                    }
                    self.type_at.resize(number, NONE);
                    self.type_at.push(self.types.len() as u32);
                    self.depths.push(depth);
                    self.types.push(ty);
                }
                _ if has_type_and_result(inst) && inst.words.len() >= 3 => {
                    self.define(inst.operand(1), number)?;
                }
                _ => {}
            }
        }
        self.names.sort_unstable();
        Ok(())
    }

    /// How deep the parts of a type nest.
    fn depth(&self, ty: &Ty) -> u32 {
        let of = |id: &Id| self.declared(*id).map_or(0, |at| self.depths[at]);
        match ty {
            Ty::Array { of: element, .. } => of(element),
            Ty::Struct(members) => members.iter().map(|member| of(&member.ty)).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn known(&self, id: Id, inst: &Inst) -> Result<&Ty, Stop> {
        // A pointer that is declared behind its uses is a number like any other.
        const LATER: Ty = Ty::Pointer(StorageClass::PhysicalStorageBuffer, 0);
        match self.declared(id) {
            Some(at) => Ok(&self.types[at]),
            None if self.forward.contains(&id) => Ok(&LATER),
            None => Err(invalid(inst, format!("%{id} is not a type declared before"))),
        }
    }

    fn ty_of(
        &self,
        inst: &Inst,
        members: &Map<(Id, u32), Decorations>,
        member_names: &Map<(Id, u32), String>,
    ) -> Result<Ty, Stop> {
        let (id, first, second) = (inst.operand(0), inst.operand(1), inst.operand(2));
        let few = || invalid(inst, "the declaration of a type is cut short");
        let need = |count: usize| if inst.operands().len() > count { Ok(()) } else { Err(few()) };
        let lacking = |what: &'static str, needs| Ok(Ty::Lacking(what, needs));
        match op(inst) {
            Op::TypeVoid => Ok(Ty::Void),
            Op::TypeBool => Ok(Ty::Scalar(naga::Scalar::BOOL)),
            Op::TypeInt => {
                need(2)?;
                let kind = match second {
                    0 => naga::ScalarKind::Uint,
                    _ => naga::ScalarKind::Sint,
                };
                match first {
                    8 | 16 | 32 | 64 => {
                        Ok(Ty::Scalar(naga::Scalar { kind, width: (first / 8) as u8 }))
                    }
                    _ => Err(invalid(inst, format!("there are no integers of {first} bits"))),
                }
            }
            Op::TypeFloat => match first {
                _ if inst.operands().len() > 2 => {
                    lacking("floats of other formats than IEEE's", None)
                }
                16 | 32 | 64 => {
                    let kind = naga::ScalarKind::Float;
                    Ok(Ty::Scalar(naga::Scalar { kind, width: (first / 8) as u8 }))
                }
                _ => Err(invalid(inst, format!("there are no floats of {first} bits"))),
            },
            Op::TypeVector => match (self.known(first, inst)?, second) {
                (Ty::Scalar(scalar), 2..=4) => Ok(Ty::Vector(*scalar, second, first)),
                (Ty::Lacking(what, needs), _) => lacking(what, *needs),
                _ => Err(invalid(inst, "a vector has 2 to 4 components")),
            },
            Op::TypeMatrix => match (self.known(first, inst)?, second) {
                (Ty::Vector(scalar, rows, _), 2..=4) if scalar.kind == naga::ScalarKind::Float => {
                    Ok(Ty::Matrix(*scalar, *rows, second, first))
                }
                _ => Err(invalid(inst, "a matrix has two to four columns of floats")),
            },
            Op::TypeImage => {
                need(6)?;
                self.known(first, inst)?;
                let Some(dim) = Dim::from_u32(second) else {
                    return Err(invalid(inst, "there is no such dimension of an image"));
                };
                Ok(Ty::Image(Image {
                    texel: first,
                    dim,
                    arrayed: inst.operand(4) == 1,
                    multisampled: inst.operand(5) == 1,
                    storage: inst.operand(6) == 2,
                    format: inst.operand(7),
                }))
            }
            Op::TypeSampler => Ok(Ty::Sampler),
            Op::TypeSampledImage => match self.known(first, inst)? {
                Ty::Image(image) if image.storage => {
                    Err(invalid(inst, "a storage image is not sampled"))
                }
                Ty::Image(_) => Ok(Ty::SampledImage(first)),
                Ty::Lacking(what, needs) => lacking(what, *needs),
                _ => Err(invalid(inst, "a sampled image has an image")),
            },
            Op::TypeArray => {
                let length = self.constant_word(second, inst)?;
                if let Ty::Lacking(what, needs) = self.known(first, inst)? {
                    return lacking(what, *needs);
                }
                let stride = self.decorations(id).array_stride.unwrap_or(0);
                if length == 0 {
                    return Err(invalid(inst, "an array has at least one element"));
                }
                Ok(Ty::Array { of: first, length: Some(length), stride })
            }
            Op::TypeRuntimeArray => {
                if let Ty::Lacking(what, needs) = self.known(first, inst)? {
                    return lacking(what, *needs);
                }
                let stride = self.decorations(id).array_stride.unwrap_or(0);
                Ok(Ty::Array { of: first, length: None, stride })
            }
            Op::TypeStruct => {
                let mut all = Vec::new();
                for (number, &ty) in (0..).zip(inst.rest(1)) {
                    if let Ty::Lacking(what, needs) = self.known(ty, inst)? {
                        return lacking(what, *needs);
                    }
                    all.push(Member {
                        ty,
                        name: member_names.get(&(id, number)).cloned().unwrap_or_default(),
                        decorations: members.get(&(id, number)).cloned().unwrap_or_default(),
                    });
                }
                Ok(Ty::Struct(all))
            }
            Op::TypePointer => {
                if let Ty::Lacking(what, needs) = self.known(second, inst)? {
                    return lacking(what, *needs);
                }
                match StorageClass::from_u32(first) {
                    Some(StorageClass::PhysicalStorageBuffer) if !self.has_addresses => {
                        let what = "a pointer to physical storage, and the module does not declare PhysicalStorageBufferAddresses";
                        Err(invalid(inst, what))
                    }
                    Some(class) => Ok(Ty::Pointer(class, second)),
                    None => Err(invalid(inst, "there is no such storage class")),
                }
            }
            Op::TypeFunction => Ok(Ty::Function),
            Op::TypeAccelerationStructureKHR => {
                lacking("acceleration structures", Some(Needs::RayTracing))
            }
            Op::TypeRayQueryKHR => lacking("ray queries", Some(Needs::RayTracing)),
            _ => lacking("a type of another kind", None),
        }
    }

    /// The value of a constant that is one word.
    fn constant_word(&self, id: Id, inst: &Inst) -> Result<u32, Stop> {
        match self.inst(id).map(|inst| (op(inst), inst.operand(2), inst.operand(3))) {
            Some((Op::Constant, word, 0)) => Ok(word),
            Some((Op::Constant, ..)) => Err(Stop::limit(
                "elements of an array",
                1 << 32,
                u32::MAX.into(),
                "declare shorter arrays",
            )
            .at(span(inst))),
            Some((Op::SpecConstantOp | Op::SpecConstant, ..)) => {
                let what = "an array length that this specialization constant gives";
                Err(Stop::unsupported(what, READING).at(span(inst)))
            }
            _ => Err(invalid(inst, format!("the length %{id} of an array is no constant"))),
        }
    }

    /// Functions, their blocks and their values.
    fn bodies(&mut self) -> Result<(), Stop> {
        let insts = self.insts;
        let mut function: Option<Function> = None;
        let mut block: Option<Block> = None;
        for (number, inst) in insts.iter().enumerate() {
            let opcode = op(inst);
            let Some(current) = &mut function else {
                if opcode == Op::Function {
                    self.define(inst.operand(1), number)?;
                    function = Some(Function {
                        id: inst.operand(1),
                        result: inst.operand(0),
                        parameters: Vec::new(),
                        blocks: Vec::new(),
                        labels: Map::default(),
                        slots: Map::default(),
                        calls: Vec::new(),
                        at: span(inst),
                    });
                }
                continue;
            };
            let outside = block.is_none()
                && !matches!(
                    opcode,
                    Op::Label | Op::FunctionEnd | Op::FunctionParameter | Op::Line | Op::NoLine
                );
            if outside {
                return Err(invalid(inst, "an instruction between blocks"));
            }
            match opcode {
                Op::Function => return Err(invalid(inst, "a function within a function")),
                Op::FunctionEnd => {
                    if block.is_some() {
                        return Err(invalid(inst, "a block without a branch at its end"));
                    }
                    let done = function.take().expect("it is there");
                    self.function_of.insert(done.id, self.functions.len());
                    self.functions.push(done);
                    continue;
                }
                Op::FunctionParameter => {
                    current.parameters.push(inst.operand(1));
                    let slot = current.slots.len();
                    current.slots.insert(inst.operand(1), slot);
                    self.define(inst.operand(1), number)?;
                    continue;
                }
                Op::Label => {
                    if block.is_some() {
                        return Err(invalid(inst, "a block without a branch at its end"));
                    }
                    let label = inst.operand(0);
                    current.labels.insert(label, current.blocks.len());
                    block = Some(Block { label, from: number + 1, end: 0, merge: None });
                    self.define(label, number)?;
                    continue;
                }
                Op::SelectionMerge | Op::LoopMerge => {
                    let open = block.as_mut().expect("it is inside");
                    open.merge = Some(match opcode {
                        Op::SelectionMerge => Merge::Selection(inst.operand(0)),
                        _ => Merge::Loop { merge: inst.operand(0), next: inst.operand(1) },
                    });
                    continue;
                }
                Op::FunctionCall => current.calls.push(inst.operand(2)),
                _ => {}
            }
            let ends = matches!(inst.opcode(), 249..=255 | 4416)
                || matches!(
                    opcode,
                    Op::IgnoreIntersectionKHR | Op::TerminateRayKHR | Op::EmitMeshTasksEXT
                );
            if ends {
                let mut done = block.take().expect("it is inside");
                done.end = number;
                current.blocks.push(done);
            } else if has_type_and_result(inst) && inst.words.len() >= 3 {
                let id = inst.operand(1);
                let slot = current.slots.len();
                current.slots.insert(id, slot);
                self.define(id, number)?;
            }
        }
        match function {
            Some(open) => Err(Stop::invalid("a function without an end").at(open.at)),
            None => Ok(()),
        }
    }

    /// Entry points with their modes.
    fn modes(&mut self) -> Result<(), Stop> {
        for inst in self.insts {
            match op(inst) {
                Op::Function => break,
                Op::EntryPoint => {
                    let name = string(inst.rest(2));
                    let Some(model) = ExecutionModel::from_u32(inst.operand(0)) else {
                        return Err(invalid(inst, "there is no such stage"));
                    };
                    if !self.named.insert((inst.operand(0), name.clone())) {
                        let message = format!("two entry points of a stage are called `{name}`");
                        return Err(invalid(inst, message));
                    }
                    self.entries.push(Entry {
                        name,
                        function: inst.operand(1),
                        model,
                        interface: inst.rest(2 + string_words(inst.rest(2))).to_vec(),
                        at: span(inst),
                        workgroup: None,
                        early_tests: false,
                        lower_left: false,
                        quads: Quads::None,
                        primitives: Said::default(),
                    });
                }
                Op::ExecutionMode => {
                    let mode = ExecutionMode::from_u32(inst.operand(1));
                    let of = |entry: &&mut Entry| entry.function == inst.operand(0);
                    for entry in self.entries.iter_mut().filter(of) {
                        match mode {
                            Some(ExecutionMode::LocalSize) => {
                                entry.workgroup = Some([2, 3, 4].map(|at| inst.operand(at)));
                            }
                            Some(ExecutionMode::EarlyFragmentTests) => entry.early_tests = true,
                            Some(ExecutionMode::OriginLowerLeft) => entry.lower_left = true,
                            Some(ExecutionMode::DerivativeGroupLinearKHR) => {
                                entry.quads = Quads::Linear;
                            }
                            Some(ExecutionMode::DerivativeGroupQuadsKHR) => {
                                entry.quads = Quads::Squares;
                            }
                            Some(mode) => {
                                let said = &mut entry.primitives;
                                said.takes = takes(mode).or(said.takes);
                                said.emits = emits(mode).or(said.emits);
                                match mode {
                                    ExecutionMode::OutputVertices => {
                                        said.most = Some(inst.operand(2));
                                    }
                                    ExecutionMode::Invocations => {
                                        said.invocations = Some(inst.operand(2));
                                    }
                                    _ => {}
                                }
                            }
                            None => {}
                        }
                    }
                    // DenormPreserve to RoundingModeRTZ.
                    self.controls_floats |= (4459..=4463).contains(&inst.operand(1));
                    if mode == Some(ExecutionMode::SignedZeroInfNanPreserve) {
                        self.keeps_nan = true;
                    }
                }
                Op::ExecutionModeId => {
                    let what = "an execution mode whose operands are not known";
                    return Err(Stop::unsupported(what, READING).at(span(inst)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Decorations of an id.
    pub fn decorations(&self, id: Id) -> &Decorations {
        self.decorations.get(&id).unwrap_or(&PLAIN)
    }

    /// Whether the module can only be OpenGL's (`ARB_gl_spirv`): Vulkan has neither uniforms outside of blocks nor fragments
    /// that count from the lower left.
    pub fn is_opengl(&self) -> bool {
        !self.default_block.offsets.is_empty() || self.entries.iter().any(|entry| entry.lower_left)
    }

    /// A function.
    pub fn function(&self, id: Id) -> Option<&Function> {
        self.functions.get(*self.function_of.get(&id)?)
    }

    /// A declared type.
    pub fn ty(&self, id: Id) -> Result<&Ty, Stop> {
        match self.declared(id).map(|at| &self.types[at]) {
            Some(Ty::Lacking(what, needs)) => {
                let stop = Stop::unsupported(*what, READING);
                Err(match needs {
                    Some(needs) => stop.needing(*needs),
                    None => stop,
                })
            }
            Some(ty) => Ok(ty),
            None => Err(Stop::invalid(format!("%{id} is not a type"))),
        }
    }

    /// The type of a value, constant or variable.
    pub fn type_of(&self, id: Id) -> Result<Id, Stop> {
        match self.inst(id) {
            Some(inst) if has_type_and_result(inst) => Ok(inst.operand(0)),
            _ => Err(Stop::invalid(format!("%{id} is not a value"))),
        }
    }

    /// What a pointer type points to.
    pub fn pointee(&self, pointer: Id) -> Result<(StorageClass, Id), Stop> {
        match *self.ty(pointer)? {
            Ty::Pointer(class, to) => Ok((class, to)),
            _ => Err(Stop::invalid(format!("%{pointer} is not a pointer type"))),
        }
    }

    /// The name that a source gave an id.
    pub fn name(&self, id: Id) -> String {
        // Of several names the last one counts.
        let behind = self.names.partition_point(|&(named, _)| named <= id);
        match self.names[..behind].last() {
            Some(&(named, at)) if named == id => string(self.insts[at as usize].rest(1)),
            _ => String::new(),
        }
    }
}
