//! Functions, regions, instructions and values: the arena that holds a shader.

use super::op::{Flags, Op};
use super::resource::{
    AtomicOp, Builtin, Input, InputData, InputKind, Output, OutputData, Resource, ResourceData,
    Sampling, Scan, Shuffle, TexOp, TexQuery,
};
use arrayvec::ArrayVec;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use smallvec::SmallVec;
use std::num::NonZeroU32;

/// A scalar SSA value.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(u32);
entity_impl!(Value, "%");

/// An instruction; a `block` is named by its instruction, so this is also a label.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inst(u32);
entity_impl!(Inst, "^");

/// A list of instructions that ends in a terminator.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(u32);
entity_impl!(Region, "region");

/// An addressable private or workgroup variable.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mem(u32);
entity_impl!(Mem, "mem");

/// The width of a value. Interpretation belongs to the ops.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// A truth value: 0 or 1.
    B1,
    /// 16 bits: f16, i16, u16.
    B16,
    /// 32 bits: f32, i32, u32.
    B32,
    /// 64 bits, where a machine has them.
    B64,
}

impl Type {
    /// Width in bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Type::B1 => 1,
            Type::B16 => 16,
            Type::B32 => 32,
            Type::B64 => 64,
        }
    }
    /// Size in memory in bytes; a truth value takes a whole word.
    #[inline]
    pub const fn bytes(self) -> u32 {
        match self {
            Type::B1 | Type::B32 => 4,
            Type::B16 => 2,
            Type::B64 => 8,
        }
    }
    /// All bits of the width set.
    #[inline]
    pub const fn mask(self) -> u64 {
        match self {
            Type::B64 => u64::MAX,
            _ => (1 << self.bits()) - 1,
        }
    }
}

/// A byte range of the source text (SPIR-V: of the module's words times four); empty when unknown.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// No position known.
    pub const NONE: Span = Span { start: 0, end: 0 };
    /// True when no position is known.
    pub fn is_none(self) -> bool {
        self.start == self.end
    }
}

/// The source vector operation that a scalar instruction is one lane of. Back ends that pack
/// (R700 rows, f16x2, SIMD4x2) start from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bundle(
    /// The number of the operation and 1, then 8 bits of the lane: no bundle takes no room in an instruction.
    NonZeroU32,
);

impl Bundle {
    /// `None` where there are more operations than are told apart (2^24 - 1).
    pub fn new(id: u32, lane: u8) -> Option<Bundle> {
        let number = id.checked_add(1).filter(|&number| number < 1 << 24)?;
        NonZeroU32::new(number << 8 | u32::from(lane)).map(Bundle)
    }
    /// Equal for all lanes of one source operation.
    pub fn id(self) -> u32 {
        (self.0.get() >> 8) - 1
    }
    /// Lane within the operation, 0..=3 (columns of a matrix are operations of their own).
    pub fn lane(self) -> u8 {
        self.0.get() as u8
    }
}

/// Where a value comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueDef {
    /// Result `.1` of an instruction.
    Result(Inst, u16),
    /// Parameter `.1` of a region (a loop's body or continuing).
    Param(Region, u16),
}

/// Type and definition of a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ValueData {
    /// Width.
    pub ty: Type,
    /// Definition.
    pub def: ValueDef,
}

/// The bytes of a [`Mem`] that one access may touch: an access with a constant address touches
/// exactly `lo..hi`; a dynamic one stays within them once its indices are in range.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The variable.
    pub mem: Mem,
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

/// What an instruction needs beside its operands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Imm {
    /// Nothing.
    None,
    /// `const`: the bits, zero-extended.
    Bits(u64),
    /// Buffer ops: which binding.
    Resource(Resource),
    /// Variable ops: which bytes.
    Mem(Access),
    /// `buffer_atomic`.
    BufferAtomic(Resource, AtomicOp),
    /// `mem_atomic`.
    MemAtomic(Access, AtomicOp),
    /// `image_atomic`.
    ImageAtomic(Resource, AtomicOp),
    /// `input`: which input, which component (0..=3).
    Input(Input, u8),
    /// `output`: which output, which component (0..=3).
    Output(Output, u8),
    /// `tex`.
    Tex(TexOp),
    /// `tex_query`.
    Query(Resource, TexQuery),
    /// `exit`: the `block` that is left.
    Label(Inst),
    /// `shuffle`: from which lane.
    Shuffle(Shuffle),
    /// `reduce`: how much of the lanes, and the operation of two operands that combines them.
    Reduce(Scan, Op),
    /// `barrier`: which memories it orders.
    Barrier {
        /// Storage buffers.
        storage: bool,
        /// Workgroup variables.
        workgroup: bool,
        /// Storage textures.
        texture: bool,
    },
}

/// One instruction.
#[derive(Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[Value; 4]>,
    /// What it needs beside operands.
    pub imm: Imm,
    /// Owned regions: two for `if` (then, else) and `loop` (body, continuing), one for `block`.
    pub regions: ArrayVec<Region, 2>,
    /// Results.
    pub results: SmallVec<[Value; 2]>,
    /// Source position.
    pub span: Span,
    /// Source vector operation.
    pub bundle: Option<Bundle>,
}

impl InstData {
    /// An instruction without regions, results or a place in a vector operation.
    pub fn new(op: Op, imm: Imm, args: &[Value], span: Span) -> InstData {
        InstData {
            op,
            args: SmallVec::from_slice(args),
            imm,
            regions: ArrayVec::new(),
            results: SmallVec::new(),
            span,
            bundle: None,
        }
    }
}

/// As derived, but lists are copied in one piece: whole functions are cloned.
impl Clone for InstData {
    fn clone(&self) -> InstData {
        fn copy<A: smallvec::Array<Item: Copy>>(list: &SmallVec<A>) -> SmallVec<A> {
            if list.is_empty() { SmallVec::new() } else { SmallVec::from_slice(list) }
        }
        InstData {
            args: copy(&self.args),
            regions: self.regions.clone(),
            results: copy(&self.results),
            ..*self
        }
    }
}

/// Parameters and instructions of a region.
#[derive(Clone, Debug, Default)]
pub struct RegionData {
    /// Parameters (loop body and continuing only).
    pub params: SmallVec<[Value; 4]>,
    /// Instructions in order; the last is a terminator.
    pub insts: Vec<Inst>,
}

/// Who sees a variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemSpace {
    /// One invocation.
    Private,
    /// All invocations of a workgroup.
    Workgroup,
    /// Everybody, and nobody writes it: a table that stands in the program.
    Constant,
}

/// An addressable variable. Private ones hold undefined bytes until stored: the front end stores
/// the initial value explicitly. Workgroup ones are zeroed by a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemData {
    /// Source name.
    pub name: String,
    /// Size in bytes, a multiple of 4.
    pub size: u32,
    /// Who sees it.
    pub space: MemSpace,
    /// What a constant variable holds, all of it; empty for others.
    pub words: Vec<u32>,
}

/// Shader stage.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    /// Vertex.
    Vertex,
    /// Fragment.
    Fragment,
    /// Compute.
    Compute,
    /// Geometry: one invocation or several for each primitive, behind the vertex stage.
    Geometry,
}

impl Stage {
    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
            Stage::Geometry => "geometry",
        }
    }
}

/// What a geometry program takes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Corners {
    /// One.
    Points,
    /// Two.
    Lines,
    /// A line between the vertex before it and the one behind it.
    LinesAdjacency,
    /// Three.
    Triangles,
    /// Corners of a triangle, each before the vertex beyond the edge that begins there.
    TrianglesAdjacency,
}

impl Corners {
    /// How many vertices a primitive has.
    pub const fn count(self) -> u8 {
        match self {
            Corners::Points => 1,
            Corners::Lines => 2,
            Corners::Triangles => 3,
            Corners::LinesAdjacency => 4,
            Corners::TrianglesAdjacency => 6,
        }
    }
}

/// What the vertices that a geometry program emits make.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Emits {
    /// One point each.
    Points,
    /// Every one with the one before it makes a line.
    LineStrip,
    /// Every one with the two before it makes a triangle.
    TriangleStrip,
}

/// How a geometry program stands between the stages.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    /// What it takes.
    pub takes: Corners,
    /// What it emits.
    pub emits: Emits,
    /// Vertices that an invocation emits at most: what it emits beyond them is dropped.
    pub most: u32,
    /// Invocations for each primitive. What they emit is drawn in their order.
    pub invocations: u32,
}

impl Geometry {
    /// Vertices that a primitive becomes at most.
    pub const fn most_of_primitive(&self) -> u32 {
        self.most.saturating_mul(self.invocations)
    }
}

/// Why no access of a function leaves the memory that it names.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// Each address is proved in range, or made of `index` results whose lengths keep it in range. The verifier
    /// checks this ([`super::verify::bounds`]).
    #[default]
    Marked,
    /// The addresses are in range as they are: the pass `robust` made them so, or the author of the text says so.
    Trusted,
}

/// One entry point, with its calls inlined, and all that it refers to.
#[derive(Clone, Debug)]
pub struct Func {
    /// Entry point name.
    pub name: String,
    /// Where the source declares the entry point, for messages; the text form leaves it out.
    pub place: Span,
    /// Stage.
    pub stage: Stage,
    /// Invocations per workgroup; 1,1,1 outside compute.
    pub workgroup_size: [u32; 3],
    /// Fragment: depth and stencil tests run before the shader whatever it does.
    pub early_fragment_tests: bool,
    /// Vertex: the position is the same in every program that computes it alike (`@invariant`), so
    /// nothing that depends on what else the program does may change its rounding.
    pub invariant: bool,
    /// Of geometry programs alone.
    pub geometry: Option<Geometry>,
    /// What keeps accesses in range.
    pub bounds: Bounds,
    /// The outermost region; ends in `yield ()` (or `unreachable`).
    pub body: Region,
    /// Values.
    pub values: PrimaryMap<Value, ValueData>,
    /// Instructions.
    pub insts: PrimaryMap<Inst, InstData>,
    /// Regions.
    pub regions: PrimaryMap<Region, RegionData>,
    /// Variables.
    pub mems: PrimaryMap<Mem, MemData>,
    /// Bindings that the entry point uses, sorted by (group, binding).
    pub resources: PrimaryMap<Resource, ResourceData>,
    /// Stage inputs.
    pub inputs: PrimaryMap<Input, InputData>,
    /// Stage outputs.
    pub outputs: PrimaryMap<Output, OutputData>,
}

/// What a region costs a machine beside its instructions, in parts: measured where 4,096 loops are written out.
const REGION_PARTS: usize = 8;

impl Func {
    /// An empty function whose body region has no instructions yet.
    pub fn new(name: impl Into<String>, stage: Stage) -> Self {
        let mut regions = PrimaryMap::new();
        let body = regions.push(RegionData::default());
        Func {
            name: name.into(),
            place: Span::NONE,
            stage,
            workgroup_size: [1; 3],
            early_fragment_tests: false,
            invariant: false,
            geometry: None,
            bounds: Bounds::Marked,
            body,
            values: PrimaryMap::new(),
            insts: PrimaryMap::new(),
            regions,
            mems: PrimaryMap::new(),
            resources: PrimaryMap::new(),
            inputs: PrimaryMap::new(),
            outputs: PrimaryMap::new(),
        }
    }

    /// The same interface, variables and bindings by the same numbers, without code.
    pub fn declarations(&self) -> Func {
        let mut bare = Func {
            place: self.place,
            workgroup_size: self.workgroup_size,
            early_fragment_tests: self.early_fragment_tests,
            invariant: self.invariant,
            geometry: self.geometry,
            bounds: self.bounds,
            mems: self.mems.clone(),
            resources: self.resources.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            ..Func::new(self.name.clone(), self.stage)
        };
        let end = bare.new_inst(InstData::new(Op::Yield, Imm::None, &[], Span::NONE), &[]);
        bare.regions[bare.body].insts.push(end);
        bare
    }

    /// The same function with room for further instructions: passes make some, and whoever has no room moves all that is
    /// there.
    pub fn with_room(&self) -> Func {
        fn copy<K: EntityRef, V: Clone>(map: &PrimaryMap<K, V>) -> PrimaryMap<K, V> {
            let mut roomy = PrimaryMap::with_capacity(map.len() + map.len() / 2 + 16);
            roomy.extend(map.values().cloned());
            roomy
        }
        Func {
            name: self.name.clone(),
            place: self.place,
            stage: self.stage,
            workgroup_size: self.workgroup_size,
            early_fragment_tests: self.early_fragment_tests,
            invariant: self.invariant,
            geometry: self.geometry,
            bounds: self.bounds,
            body: self.body,
            values: copy(&self.values),
            insts: copy(&self.insts),
            regions: self.regions.clone(),
            mems: self.mems.clone(),
            resources: self.resources.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
        }
    }

    /// Makes room for so many further instructions and values.
    pub fn reserve(&mut self, insts: usize) {
        self.insts.reserve(insts);
        self.values.reserve(insts);
    }

    /// The width of a value.
    #[inline]
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// The instruction that defines a value, or `None` for a region parameter.
    #[inline]
    pub fn def(&self, value: Value) -> Option<&InstData> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(&self.insts[inst]),
            ValueDef::Param(..) => None,
        }
    }

    /// The bits of a constant, or `None` for anything else.
    #[inline]
    pub fn as_const(&self, value: Value) -> Option<u64> {
        match self.def(value) {
            Some(InstData { op: Op::Const, imm: Imm::Bits(bits), .. }) => Some(*bits),
            _ => None,
        }
    }

    /// The terminator of a finished region.
    #[inline]
    pub fn terminator(&self, region: Region) -> Option<Inst> {
        let last = *self.regions[region].insts.last()?;
        self.insts[last].op.is_terminator().then_some(last)
    }

    /// Adds an empty region.
    pub fn new_region(&mut self) -> Region {
        self.regions.push(RegionData::default())
    }

    /// Adds a parameter to a region.
    pub fn add_param(&mut self, region: Region, ty: Type) -> Value {
        let index = self.regions[region].params.len() as u16;
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(region, index) });
        self.regions[region].params.push(value);
        value
    }

    /// Adds an instruction without putting it in a region; `results` are created with these types.
    pub fn new_inst(&mut self, mut data: InstData, results: &[Type]) -> Inst {
        let inst = self.insts.next_key();
        data.results.clear();
        for (index, &ty) in results.iter().enumerate() {
            data.results.push(
                self.values.push(ValueData { ty, def: ValueDef::Result(inst, index as u16) }),
            );
        }
        self.insts.push(data)
    }

    /// A constant that stands in no region yet.
    pub fn new_constant(&mut self, ty: Type, bits: u64, span: Span) -> Inst {
        self.new_inst(InstData::new(Op::Const, Imm::Bits(bits), &[], span), &[ty])
    }

    /// Adds one more result to an instruction.
    pub fn add_result(&mut self, inst: Inst, ty: Type) -> Value {
        let index = self.insts[inst].results.len() as u16;
        let value = self.values.push(ValueData { ty, def: ValueDef::Result(inst, index) });
        self.insts[inst].results.push(value);
        value
    }

    /// A map in which every value has its place: filled in any order, it does not grow step by step.
    pub fn by_value<T: Clone + Default>(&self) -> SecondaryMap<Value, T> {
        let mut map = SecondaryMap::new();
        map.resize(self.values.len());
        map
    }

    /// The same for instructions.
    pub fn by_inst<T: Clone + Default>(&self) -> SecondaryMap<Inst, T> {
        let mut map = SecondaryMap::new();
        map.resize(self.insts.len());
        map
    }

    /// The body has no control flow: it holds no construct.
    pub fn is_straight(&self) -> bool {
        let mut body = self.regions[self.body].insts.iter();
        // Where no region but the body was made, nothing can own one.
        self.regions.len() == 1 || body.all(|&inst| self.insts[inst].regions.is_empty())
    }

    /// Every region in program order, outermost first, with its owner and nesting depth.
    pub fn regions_in_order(&self) -> Vec<(Region, Option<Inst>, u32)> {
        let mut order = Vec::with_capacity(self.regions.len());
        let mut left = self.regions.len() - 1;
        // Most functions nest a few levels at most.
        let mut stack: SmallVec<[(Region, Option<Inst>, u32); 8]> = SmallVec::new();
        let mut next = Some((self.body, None, 0));
        while let Some((region, owner, depth)) = next {
            order.push((region, owner, depth));
            for &inst in self.regions[region].insts.iter().rev() {
                // Where every region is found, no instruction is asked for more.
                if left == 0 {
                    break;
                }
                let data = &self.insts[inst];
                if !matches!(data.op, Op::If | Op::Loop | Op::Block) {
                    continue;
                }
                for &inner in data.regions.iter().rev() {
                    left = left.saturating_sub(1);
                    stack.push((inner, Some(inst), depth + 1));
                }
            }
            next = stack.pop();
        }
        order
    }

    /// Whether the language has a fragment program run for each sample of a pixel: it asks for its sample, or takes an input there.
    pub fn runs_by_sample(&self) -> bool {
        self.inputs.values().any(|data| {
            matches!(
                data.kind,
                InputKind::Location { sampling: Sampling::Sample, .. }
                    | InputKind::Builtin(Builtin::SampleIndex | Builtin::SamplePosition)
            )
        })
    }

    /// Visits every instruction that the body reaches, region by region in any order: cheaper than
    /// [`Func::regions_in_order`] for what does not depend on the order.
    #[inline]
    pub fn each_inst(&self, mut see: impl FnMut(&InstData)) {
        self.any_inst(|data| {
            see(data);
            false
        });
    }

    /// Whether the body reaches an instruction of some kind; asked in any order, as [`Func::each_inst`].
    #[inline]
    pub fn any_inst(&self, mut is: impl FnMut(&InstData) -> bool) -> bool {
        let mut todo: Vec<Region> = Vec::new();
        let mut next = Some(self.body);
        while let Some(region) = next {
            for &inst in &self.regions[region].insts {
                let data = &self.insts[inst];
                if is(data) {
                    return true;
                }
                if data.op.flags().has(Flags::REGIONS) {
                    todo.extend_from_slice(&data.regions);
                }
            }
            next = todo.pop();
        }
        false
    }

    /// The number of instructions that the body reaches (constants and terminators included).
    pub fn live_insts(&self) -> usize {
        self.regions_in_order().iter().map(|&(region, ..)| self.regions[region].insts.len()).sum()
    }

    /// The same with an instruction counted once for each value that it takes or gives, and twice for each that it
    /// stores: a machine fetches a table word by word, and stores it word by word. A region counts as
    /// [`REGION_PARTS`]: blocks, jumps, masks and what lives across them.
    pub fn live_parts(&self) -> usize {
        let parts = |inst: &Inst| {
            let data = &self.insts[*inst];
            let stores = matches!(data.op, Op::MemStore | Op::BufferStore);
            let args = data.args.len() * if stores { 2 } else { 1 };
            args.max(data.results.len()).max(1)
        };
        let regions = self.regions_in_order();
        let insts = regions.iter().flat_map(|&(region, ..)| &self.regions[region].insts);
        regions.len() * REGION_PARTS + insts.map(parts).sum::<usize>()
    }
}

/// The entry points of one source file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// In source order.
    pub funcs: Vec<Func>,
}
