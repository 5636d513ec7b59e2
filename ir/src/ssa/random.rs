//! Random structured programs: every op and every control form, for tests that compare two ways of
//! running the same function.
//!
//! A program reads a storage buffer and a uniform buffer, computes, and stores words of its own
//! invocation to an output buffer (or writes outputs, in a fragment program), so that it has no
//! races. Floats and integers are kept apart: a NaN's payload is no machine's promise, so float bits
//! reach integer ops only where they are no NaN.

use super::func::{Access, Func, Imm, Mem, MemData, MemSpace, Stage, Type, Value};
use super::op::{Op, Sig};
use super::resource::{
    AtomicOp, Builtin, Dim, ImageAccess, InputData, InputKind, Interpolation, OutputData,
    OutputKind, Resource, ResourceData, ResourceKind, SampleType, Sampling, Scalar, TexKind, TexOp,
    TexQuery, TexelFormat,
};
use super::{Builder, Inst};
use cranelift_entity::packed_option::PackedOption;

/// Words of each invocation in the output buffer.
pub const OUT_WORDS: u32 = 12;
/// Words of the private array.
const ARRAY_WORDS: u32 = 8;

/// A small generator of pseudo-random numbers (the splitmix64 sequence).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// Starts a sequence.
    pub const fn new(seed: u64) -> Rng {
        Rng(seed)
    }
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `bound` (0 when that is 0).
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() % (bound.max(1) as u64)) as usize
    }
    /// True once in `n`.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// One of a list, which is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// What programs are made of.
#[derive(Copy, Clone, Debug)]
pub struct Config {
    /// Compute or fragment.
    pub stage: Stage,
    /// Ops that may occur; control flow, constants and buffers always do.
    pub allow: fn(Op) -> bool,
    /// Instructions to aim at.
    pub size: usize,
    /// Deepest nesting of constructs.
    pub depth: u32,
    /// Workgroup variables and barriers (compute).
    pub workgroup: bool,
    /// Textures.
    pub textures: bool,
    /// Invocations per workgroup (compute).
    pub workgroup_size: u32,
}

impl Config {
    /// Everything, compute, about 100 instructions, nesting of 4, workgroups of 64.
    pub const COMPUTE: Config = Config {
        stage: Stage::Compute,
        allow: |_| true,
        size: 100,
        depth: 4,
        workgroup: true,
        textures: true,
        workgroup_size: 64,
    };
    /// Everything, fragment.
    pub const FRAGMENT: Config = Config {
        stage: Stage::Fragment,
        workgroup: false,
        ..Config::COMPUTE
    };
}

/// A verified program, the same for the same seed and configuration.
pub fn program(seed: u64, config: &Config) -> Func {
    let mut func = Func::new(format!("random_{seed}"), config.stage);
    let mut rng = Rng::new(seed);
    // Sizes spread around the aim so that small programs occur too.
    let size = config.size * 3 / 5 + rng.below(config.size * 4 / 5 + 1);
    let setup = Setup::new(&mut func, config);
    let mut b = Builder::at_body(&mut func);
    let mut generator = Generator::new(&mut b, rng, *config, setup);
    generator.statements(&mut b, size, 0);
    generator.finish(&mut b);
    func
}

/// What the program's text declares.
struct Setup {
    id: Option<super::Input>,
    varying: Option<super::Input>,
    source: Resource,
    uniform: Resource,
    sink: Option<Resource>,
    target: Option<super::Output>,
    texture: Option<Resource>,
    sampler: PackedOption<Resource>,
    image: Option<Resource>,
    tally: Option<Resource>,
    counters: Option<Resource>,
    array: Mem,
    shared: Option<Mem>,
}

impl Setup {
    fn new(func: &mut Func, config: &Config) -> Setup {
        let compute = config.stage == Stage::Compute;
        let mut binding = 0;
        let mut declare = |name: &str, kind: ResourceKind, func: &mut Func| {
            binding += 1;
            func.resources.push(ResourceData {
                group: 0,
                binding: binding - 1,
                name: name.into(),
                kind,
                count: None,
                scalar: Scalar::U32,
            })
        };
        let storage = |store: bool| ResourceKind::Storage {
            size: 0,
            stride: 4,
            access: ImageAccess {
                load: true,
                store,
                atomic: false,
            },
        };
        let source = declare("source", storage(false), func);
        let uniform = declare("uniforms", ResourceKind::Uniform { size: 256 }, func);
        let sink = compute.then(|| declare("sink", storage(true), func));
        let textured = config.textures && (config.allow)(Op::Tex);
        let texture = textured.then(|| {
            let kind = ResourceKind::Texture {
                dim: Dim::D2,
                arrayed: false,
                sample: SampleType::Float,
                multisampled: false,
            };
            declare("image", kind, func)
        });
        let sampler = textured
            .then(|| declare("filter", ResourceKind::Sampler { comparison: false }, func))
            .into();
        let image = (compute && config.textures && (config.allow)(Op::ImageStore)).then(|| {
            let kind = ResourceKind::StorageTexture {
                dim: Dim::D2,
                arrayed: false,
                format: TexelFormat("rgba32uint"),
                sample: SampleType::Uint,
                access: ImageAccess {
                    load: false,
                    store: true,
                    atomic: false,
                },
            };
            declare("canvas", kind, func)
        });
        let tally = (compute && config.textures && (config.allow)(Op::ImageAtomic)).then(|| {
            let kind = ResourceKind::StorageTexture {
                dim: Dim::D2,
                arrayed: false,
                format: TexelFormat("r32uint"),
                sample: SampleType::Uint,
                access: ImageAccess {
                    load: true,
                    store: true,
                    atomic: true,
                },
            };
            declare("tally", kind, func)
        });
        let counters = (compute && (config.allow)(Op::BufferAtomic)).then(|| {
            let kind = ResourceKind::Storage {
                size: 64,
                stride: 0,
                access: ImageAccess {
                    load: true,
                    store: true,
                    atomic: true,
                },
            };
            declare("counters", kind, func)
        });
        let variable = |name: &str, words: u32, space, func: &mut Func| {
            func.mems.push(MemData {
                name: name.into(),
                size: words * 4,
                space,
            })
        };
        let array = variable("array", ARRAY_WORDS, MemSpace::Private, func);
        let shared = (compute && config.workgroup && (config.allow)(Op::Barrier))
            .then(|| variable("shared", config.workgroup_size, MemSpace::Workgroup, func));
        let mut input = |name: &str, kind, components, scalar| {
            func.inputs.push(InputData {
                kind,
                components,
                scalar,
                name: name.into(),
            })
        };
        let (mut id, mut varying, mut target) = (None, None, None);
        if compute {
            let kind = InputKind::Builtin(Builtin::GlobalInvocationId);
            id = Some(input("id", kind, 3, Scalar::U32));
            func.workgroup_size = [config.workgroup_size, 1, 1];
        } else {
            let kind = InputKind::Location {
                location: 0,
                interpolation: Interpolation::Perspective,
                sampling: Sampling::Center,
            };
            varying = Some(input("varying", kind, 4, Scalar::F32));
            target = Some(func.outputs.push(OutputData {
                kind: OutputKind::Location {
                    location: 0,
                    blend_src: 0,
                    interpolation: Interpolation::Perspective,
                },
                components: 4,
                scalar: Scalar::U32,
                name: "color".into(),
            }));
        }
        Setup {
            id,
            varying,
            source,
            uniform,
            sink,
            target,
            texture,
            sampler,
            image,
            tally,
            counters,
            array,
            shared,
        }
    }
}

/// Which way the bits of a value are meant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Truth,
    Float,
    Int,
    Half,
    Short,
    Double,
    Long,
}

const KINDS: usize = 7;

impl Kind {
    const fn ty(self) -> Type {
        match self {
            Kind::Truth => Type::B1,
            Kind::Float | Kind::Int => Type::B32,
            Kind::Half | Kind::Short => Type::B16,
            Kind::Double | Kind::Long => Type::B64,
        }
    }
}

struct Generator {
    rng: Rng,
    config: Config,
    setup: Setup,
    /// Values in sight, by kind; the last ones are the newest.
    pools: [Vec<Value>; KINDS],
    /// Values that are the same in all invocations.
    uniform: Vec<Value>,
    /// The invocation's number (compute).
    id: Option<Value>,
    /// Ops that compute and that may occur.
    ops: Vec<Op>,
    /// Blocks that may be left from here, with the kinds of their results.
    labels: Vec<(Inst, usize)>,
    /// Inside of a loop's body, with the kinds that break and continue carry: one int.
    in_loop: bool,
    /// No divergent construct encloses this place.
    together: bool,
}

impl Generator {
    fn new(b: &mut Builder<'_>, rng: Rng, config: Config, setup: Setup) -> Generator {
        let ops = Op::ALL
            .iter()
            .copied()
            .filter(|&op| {
                let simple = !matches!(op.sig(), Sig::Const | Sig::Custom) || is_bit_mover(op);
                // Derivatives exchange values within a quad and are placed on their own.
                simple && !op.flags().has(super::Flags::QUAD) && (config.allow)(op)
            })
            .collect();
        let mut generator = Generator {
            rng,
            config,
            setup,
            pools: Default::default(),
            uniform: Vec::new(),
            id: None,
            ops,
            labels: Vec::new(),
            in_loop: false,
            together: true,
        };
        generator.prologue(b);
        generator
    }

    fn add(&mut self, kind: Kind, value: Value) {
        self.pools[kind as usize].push(value);
    }

    /// A value of a kind: one of the newest most of the time, a constant now and then.
    fn any(&mut self, b: &mut Builder<'_>, kind: Kind) -> Value {
        let count = self.pools[kind as usize].len();
        if count == 0 || self.rng.one_in(8) {
            return self.constant(b, kind);
        }
        let window = if self.rng.one_in(3) {
            count
        } else {
            count.min(8)
        };
        let index = count - 1 - self.rng.below(window);
        self.pools[kind as usize][index]
    }

    fn constant(&mut self, b: &mut Builder<'_>, kind: Kind) -> Value {
        const FLOATS: [f32; 14] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            2.0,
            3.25,
            -7.5,
            1e-3,
            1e9,
            0.333_333_34,
            f32::MAX,
            f32::MIN_POSITIVE,
            f32::INFINITY,
        ];
        const INTS: [u32; 12] = [
            0,
            1,
            2,
            3,
            7,
            31,
            32,
            255,
            0x8000_0000,
            0x7fff_ffff,
            u32::MAX,
            0x1234_5678,
        ];
        let bits = match kind {
            Kind::Truth => self.rng.bits() & 1,
            Kind::Float => self.rng.pick(&FLOATS).to_bits().into(),
            Kind::Int => self.rng.pick(&INTS).into(),
            Kind::Half => self.rng.pick(&[0u64, 0x3c00, 0xbc00, 0x3800, 0x4500]),
            Kind::Short => self.rng.bits() & 0xffff,
            Kind::Double => self.rng.pick(&[0.0f64, 1.0, -2.5, 1e10]).to_bits(),
            Kind::Long => self.rng.bits(),
        };
        b.constant(kind.ty(), bits)
    }

    fn prologue(&mut self, b: &mut Builder<'_>) {
        let four = b.u32(4);
        let index = match self.setup.id {
            Some(id) => {
                let id = b.input(id, 0);
                self.id = Some(id);
                self.add(Kind::Int, id);
                id
            }
            None => b.u32(0),
        };
        if let Some(varying) = self.setup.varying {
            for component in 0..4 {
                let value = b.input(varying, component);
                self.add(Kind::Float, value);
            }
        }
        let size = b.inst(
            Op::BufferSize,
            Imm::Resource(self.setup.source),
            &[],
            &[],
            &[Type::B32],
        );
        let size = b.result(size);
        let two = b.u32(2);
        let length = b.op2(Op::LShr, size, two);
        for offset in 0..3 {
            let offset = b.u32(offset * 17);
            let at = b.op2(Op::IAdd, index, offset);
            let at = b.op2(Op::Index, at, length);
            let address = b.op2(Op::IMul, at, four);
            let word = b.buffer_load(self.setup.source, None, address, &[Type::B32])[0];
            let small = self.small_float(b, word);
            self.add(Kind::Int, word);
            self.add(Kind::Float, small);
        }
        let zero = b.u32(0);
        let words = b.buffer_load(self.setup.uniform, None, zero, &[Type::B32; 4]);
        for &word in &words {
            self.uniform.push(word);
            self.add(Kind::Int, word);
        }
        let low = b.op2(Op::ULt, words[0], words[1]);
        self.add(Kind::Truth, low);
        let array = self.setup.array;
        for word in 0..ARRAY_WORDS {
            let address = b.u32(word * 4);
            let value = self.any(b, Kind::Int);
            let access = Access {
                mem: array,
                lo: word * 4,
                hi: word * 4 + 4,
            };
            b.mem_store(access, address, &[value]);
        }
    }

    /// A float of moderate size made of a word's bits.
    fn small_float(&mut self, b: &mut Builder<'_>, word: Value) -> Value {
        let twelve = b.u32(12);
        let bits = b.op2(Op::AShr, word, twelve);
        let float = b.convert(Op::SToF, Type::B32, bits);
        let scale = b.f32(1.0 / 1024.0);
        b.op2(Op::FMul, float, scale)
    }

    fn statements(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let end = b.func.insts.len() + budget;
        while b.func.insts.len() < end && !b.ended() {
            let left = end - b.func.insts.len();
            if depth < self.config.depth && left > 8 && self.rng.one_in(6) {
                self.construct(b, left / 2, depth);
            } else if self.rng.one_in(10) {
                self.memory(b);
            } else if self.together && self.rng.one_in(14) {
                self.together_only(b);
            } else {
                self.compute(b);
            }
        }
    }

    /// One computing op on values in sight.
    fn compute(&mut self, b: &mut Builder<'_>) {
        if self.ops.is_empty() {
            return;
        }
        let ops = std::mem::take(&mut self.ops);
        let op = self.rng.pick(&ops);
        self.ops = ops;
        let wide = |g: &mut Generator, is_float: bool| match (is_float, g.rng.below(24)) {
            (true, 0) if (g.config.allow)(Op::Join16) => Kind::Half,
            (true, 1) if (g.config.allow)(Op::Join64) => Kind::Double,
            (true, _) => Kind::Float,
            (false, 0) if (g.config.allow)(Op::Join16) => Kind::Short,
            (false, 1) if (g.config.allow)(Op::Join64) => Kind::Long,
            (false, _) => Kind::Int,
        };
        let float = is_float(op);
        match op.sig() {
            Sig::Unary | Sig::UnaryBits => {
                let kind = if float && is_f32_only(op) {
                    Kind::Float
                } else {
                    wide(self, float)
                };
                let kind = if op.sig() == Sig::UnaryBits && self.rng.one_in(3) {
                    Kind::Truth
                } else {
                    kind
                };
                let a = self.any(b, kind);
                let a = match op {
                    // The unit takes turns within half a turn.
                    Op::FSinTurns | Op::FCosTurns => self.half_turn(b, a),
                    _ => a,
                };
                let value = b.op1(op, a);
                self.add(kind, value);
            }
            Sig::Binary | Sig::BinaryBits => {
                let kind = if float && is_f32_only(op) {
                    Kind::Float
                } else {
                    wide(self, float)
                };
                let kind = if op.sig() == Sig::BinaryBits && self.rng.one_in(2) {
                    Kind::Truth
                } else {
                    kind
                };
                let (a, c) = (self.any(b, kind), self.any(b, kind));
                let value = b.op2(op, a, c);
                self.add(kind, value);
            }
            Sig::Ternary => {
                let kind = wide(self, float);
                let (x, y, z) = (self.any(b, kind), self.any(b, kind), self.any(b, kind));
                let value = b.op3(op, x, y, z);
                self.add(kind, value);
            }
            Sig::Shift => {
                let kind = if float {
                    Kind::Float
                } else {
                    wide(self, false)
                };
                let (a, amount) = (self.any(b, kind), self.any(b, Kind::Int));
                let value = b.op2(op, a, amount);
                self.add(kind, value);
            }
            Sig::Compare | Sig::CompareBits => {
                let kind = wide(self, float);
                let (a, c) = (self.any(b, kind), self.any(b, kind));
                let value = b.op2(op, a, c);
                self.add(Kind::Truth, value);
            }
            Sig::Select => {
                let is_float = self.rng.one_in(2);
                let kind = wide(self, is_float);
                let c = self.any(b, Kind::Truth);
                let (x, y) = (self.any(b, kind), self.any(b, kind));
                let value = b.select(c, x, y);
                self.add(kind, value);
            }
            Sig::ExtractBits | Sig::InsertBits => {
                let mut args = vec![self.any(b, Kind::Int)];
                let more = if op.sig() == Sig::InsertBits { 3 } else { 2 };
                for _ in 0..more {
                    args.push(self.any(b, Kind::Int));
                }
                let value = b.op(op, &args);
                self.add(Kind::Int, value);
            }
            Sig::Dot => {
                let count = 2 * (2 + self.rng.below(3));
                let args: Vec<Value> = (0..count).map(|_| self.any(b, Kind::Float)).collect();
                let value = b.op(op, &args);
                self.add(Kind::Float, value);
            }
            Sig::Convert => self.convert(b, op),
            Sig::Const | Sig::Custom => self.move_bits(b, op),
        }
        if self.rng.one_in(12) {
            self.reinterpret(b);
        }
    }

    fn half_turn(&mut self, b: &mut Builder<'_>, a: Value) -> Value {
        // NaN and infinities become 0 first, then fract(x) - 0.5 is within half a turn.
        let clean = b.op1(Op::FSat, a);
        let half = b.f32(0.5);
        b.op2(Op::FSub, clean, half)
    }

    fn convert(&mut self, b: &mut Builder<'_>, op: Op) {
        let (from, to) = match op {
            Op::SToF | Op::UToF => (Kind::Int, Kind::Float),
            Op::FToS | Op::FToU | Op::FrexpExp => (Kind::Float, Kind::Int),
            Op::FConvert if (self.config.allow)(Op::Join16) => self
                .rng
                .pick(&[(Kind::Float, Kind::Half), (Kind::Half, Kind::Float)]),
            Op::SConvert | Op::UConvert if (self.config.allow)(Op::Join16) => self
                .rng
                .pick(&[(Kind::Int, Kind::Short), (Kind::Short, Kind::Int)]),
            Op::UConvert => (Kind::Truth, Kind::Int),
            _ => return,
        };
        let a = self.any(b, from);
        let value = b.convert(op, to.ty(), a);
        self.add(to, value);
    }

    fn move_bits(&mut self, b: &mut Builder<'_>, op: Op) {
        let (from, count, to) = match op {
            Op::PackHalf => (Kind::Float, 2, Kind::Int),
            Op::UnpackHalfLo | Op::UnpackHalfHi => (Kind::Int, 1, Kind::Float),
            Op::Join16 => (Kind::Short, 2, Kind::Int),
            Op::Lo16 | Op::Hi16 => (Kind::Int, 1, Kind::Short),
            Op::Join64 => (Kind::Int, 2, Kind::Long),
            Op::Lo64 | Op::Hi64 => (Kind::Long, 1, Kind::Int),
            Op::Index => (Kind::Int, 2, Kind::Int),
            _ => return,
        };
        let mut args: Vec<Value> = (0..count).map(|_| self.any(b, from)).collect();
        if op == Op::PackHalf {
            for arg in &mut args {
                *arg = self.number(b, *arg);
            }
        }
        if op == Op::Index {
            args[1] = b.u32(1 + self.rng.below(20) as u32);
        }
        let value = b.op(op, &args);
        self.add(to, value);
    }

    /// The float, or 0 when it is a NaN.
    fn number(&mut self, b: &mut Builder<'_>, float: Value) -> Value {
        let is = b.op2(Op::FEq, float, float);
        let zero = b.f32(0.0);
        b.select(is, float, zero)
    }

    /// Float bits as an integer, or integer bits as a float that is finite.
    fn reinterpret(&mut self, b: &mut Builder<'_>) {
        if self.rng.one_in(2) {
            let float = self.any(b, Kind::Float);
            let bits = self.number(b, float);
            self.add(Kind::Int, bits);
        } else {
            let word = self.any(b, Kind::Int);
            let mask = b.u32(0xbfff_ffff);
            let bits = b.op2(Op::And, word, mask);
            self.add(Kind::Float, bits);
        }
    }

    /// Loads and stores of the array, loads of the buffers, texels.
    fn memory(&mut self, b: &mut Builder<'_>) {
        let four = b.u32(4);
        let index = self.any(b, Kind::Int);
        match self.rng.below(6) {
            0 | 1 => {
                let length = b.u32(ARRAY_WORDS);
                let at = b.op2(Op::Index, index, length);
                let address = b.op2(Op::IMul, at, four);
                let access = Access {
                    mem: self.setup.array,
                    lo: 0,
                    hi: ARRAY_WORDS * 4,
                };
                if self.rng.one_in(2) {
                    let value = self.any(b, Kind::Int);
                    b.mem_store(access, address, &[value]);
                } else {
                    let value = b.mem_load(access, address, &[Type::B32])[0];
                    self.add(Kind::Int, value);
                }
            }
            2 => {
                let length = b.u32(64);
                let at = b.op2(Op::Index, index, length);
                let address = b.op2(Op::IMul, at, four);
                let value = b.buffer_load(self.setup.uniform, None, address, &[Type::B32])[0];
                self.add(Kind::Int, value);
            }
            3 => self.texel(b, index),
            4 => self.shared_effect(b, index),
            _ => {
                let length = b.u32(60);
                let at = b.op2(Op::Index, index, length);
                let address = b.op2(Op::IMul, at, four);
                let count = 1 + self.rng.below(4);
                let types = vec![Type::B32; count];
                for value in b.buffer_load(self.setup.source, None, address, &types) {
                    self.add(Kind::Int, value);
                }
            }
        }
    }

    /// A texture instruction that takes its level from nowhere but its operands.
    fn texel(&mut self, b: &mut Builder<'_>, index: Value) {
        let Some(texture) = self.setup.texture else {
            return;
        };
        let mut tex = TexOp {
            kind: TexKind::Load,
            texture,
            sampler: None.into(),
            compare: false,
            component: 0,
            offset: [0; 3],
        };
        if self.rng.one_in(8) && (self.config.allow)(Op::TexQuery) {
            let zero = b.u32(0);
            let imm = Imm::Query(texture, TexQuery::Size);
            let inst = b.inst(Op::TexQuery, imm, &[zero], &[], &[Type::B32; 2]);
            let size = b.result(inst);
            self.add(Kind::Int, size);
            return;
        }
        let args = if self.rng.one_in(2) {
            let (seven, zero) = (b.u32(7), b.u32(0));
            let other = self.any(b, Kind::Int);
            let (x, y) = (b.op2(Op::And, index, seven), b.op2(Op::And, other, seven));
            [x, y, zero]
        } else {
            tex.kind = TexKind::SampleLevel;
            tex.sampler = self.setup.sampler;
            let place = [self.any(b, Kind::Float), self.any(b, Kind::Float)];
            let [u, v] = place.map(|p| b.op1(Op::FSat, p));
            let level = b.f32([0.0, 1.0, 0.5][self.rng.below(3)]);
            [u, v, level]
        };
        let inst = b.inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
        let texel = b.func.insts[inst].results.clone();
        for value in texel {
            self.add(Kind::Float, value);
        }
    }

    /// Atomics whose final value does not depend on order, and stores to the own texel.
    fn shared_effect(&mut self, b: &mut Builder<'_>, index: Value) {
        let (op, word) = self.rng.pick(&COMMUTING);
        if let Some(counters) = self.setup.counters
            && self.rng.one_in(2)
        {
            let address = b.u32(word * 4);
            let imm = Imm::BufferAtomic(counters, op);
            b.inst(Op::BufferAtomic, imm, &[address, index], &[], &[]);
        } else if let Some(tally) = self.setup.tally
            && self.rng.one_in(3)
        {
            // A texel for each operation, so that the order never shows.
            let (x, y) = (b.u32(word), b.u32(word / 2));
            let imm = Imm::ImageAtomic(tally, op);
            b.inst(Op::ImageAtomic, imm, &[x, y, index], &[], &[]);
        } else if let (Some(image), Some(id)) = (self.setup.image, self.id) {
            let (seven, three) = (b.u32(7), b.u32(3));
            let (x, y) = (b.op2(Op::And, id, seven), b.op2(Op::LShr, id, three));
            let mut args = vec![x, y];
            for _ in 0..4 {
                args.push(self.any(b, Kind::Int));
            }
            b.inst(Op::ImageStore, Imm::Resource(image), &args, &[], &[]);
        }
    }

    /// What needs all invocations (or all of a quad) at once.
    fn together_only(&mut self, b: &mut Builder<'_>) {
        match (self.setup.shared, self.config.stage) {
            (Some(shared), _) if (self.config.allow)(Op::MemAtomic) && self.rng.one_in(4) => {
                self.count(b, shared);
            }
            (Some(shared), _) => self.exchange(b, shared),
            (None, Stage::Fragment) => self.quad(b),
            (None, _) => {}
        }
    }

    /// Every lane writes its word, then reads another's.
    fn exchange(&mut self, b: &mut Builder<'_>, shared: Mem) {
        let Some(own) = self.own_word(b) else { return };
        let access = self.whole(shared);
        let value = self.any(b, Kind::Int);
        b.mem_store(access, own, &[value]);
        barrier(b);
        let other = self.some_word(b);
        let got = b.mem_load(access, other, &[Type::B32])[0];
        barrier(b);
        self.add(Kind::Int, got);
    }

    /// Every lane clears its word, changes another's atomically, then reads its own.
    fn count(&mut self, b: &mut Builder<'_>, shared: Mem) {
        let Some(own) = self.own_word(b) else { return };
        let access = self.whole(shared);
        let value = self.any(b, Kind::Int);
        b.mem_store(access, own, &[value]);
        barrier(b);
        let (op, _) = self.rng.pick(&COMMUTING);
        let (other, operand) = (self.some_word(b), self.any(b, Kind::Int));
        let imm = Imm::MemAtomic(access, op);
        b.inst(Op::MemAtomic, imm, &[other, operand], &[], &[]);
        barrier(b);
        let got = b.mem_load(access, own, &[Type::B32])[0];
        barrier(b);
        self.add(Kind::Int, got);
    }

    /// All words of the workgroup's array.
    fn whole(&self, shared: Mem) -> Access {
        Access {
            mem: shared,
            lo: 0,
            hi: self.config.workgroup_size * 4,
        }
    }

    /// Address of the invocation's own word in the workgroup's array.
    fn own_word(&mut self, b: &mut Builder<'_>) -> Option<Value> {
        let (four, length) = (b.u32(4), b.u32(self.config.workgroup_size));
        let own = b.op2(Op::URem, self.id?, length);
        Some(b.op2(Op::IMul, own, four))
    }

    /// Address of any word in the workgroup's array.
    fn some_word(&mut self, b: &mut Builder<'_>) -> Value {
        let (four, length) = (b.u32(4), b.u32(self.config.workgroup_size));
        let other = self.any(b, Kind::Int);
        let other = b.op2(Op::Index, other, length);
        b.op2(Op::IMul, other, four)
    }

    /// Derivatives and samples by them.
    fn quad(&mut self, b: &mut Builder<'_>) {
        const OPS: [Op; 6] = [
            Op::Ddx,
            Op::Ddy,
            Op::DdxFine,
            Op::DdyFine,
            Op::DdxCoarse,
            Op::DdyCoarse,
        ];
        let op = self.rng.pick(&OPS);
        let a = self.any(b, Kind::Float);
        if let (Some(texture), true) = (self.setup.texture, self.rng.one_in(3)) {
            let kind = self
                .rng
                .pick(&[TexKind::Sample, TexKind::SampleBias, TexKind::SampleGrad]);
            let place = [a, self.any(b, Kind::Float)];
            let mut args: Vec<Value> = place.iter().map(|&p| b.op1(Op::FSat, p)).collect();
            let more = match kind {
                TexKind::SampleBias => 1,
                TexKind::SampleGrad => 4,
                _ => 0,
            };
            for _ in 0..more {
                args.push(b.f32([0.0, 0.125, 0.25, 1.0][self.rng.below(4)]));
            }
            let tex = TexOp {
                kind,
                texture,
                sampler: self.setup.sampler,
                compare: false,
                component: 0,
                offset: [0; 3],
            };
            let inst = b.inst(Op::Tex, Imm::Tex(tex), &args, &[], &[Type::B32; 4]);
            for value in b.func.insts[inst].results.clone() {
                self.add(Kind::Float, value);
            }
        } else if self.rng.one_in(8) && (self.config.allow)(Op::IsHelper) {
            let inst = b.inst(Op::IsHelper, Imm::None, &[], &[], &[Type::B1]);
            let value = b.result(inst);
            self.add(Kind::Truth, value);
        } else if self.rng.one_in(6) && (self.config.allow)(Op::Demote) {
            let c = self.any(b, Kind::Truth);
            b.if_else(
                c,
                &[],
                |b| {
                    b.inst(Op::Demote, Imm::None, &[], &[], &[]);
                    vec![]
                },
                |_| vec![],
            );
        } else if (self.config.allow)(op) {
            let value = b.op1(op, a);
            self.add(Kind::Float, value);
        }
    }

    /// A condition; one in three depends on the invocation.
    fn condition(&mut self, b: &mut Builder<'_>) -> (Value, bool) {
        if self.rng.one_in(3) || self.uniform.is_empty() {
            let value = match (self.id, self.rng.one_in(2)) {
                (Some(id), true) => {
                    let bit = b.u32(1 << self.rng.below(6));
                    let (masked, zero) = (b.op2(Op::And, id, bit), b.u32(0));
                    b.op2(Op::INe, masked, zero)
                }
                _ => self.any(b, Kind::Truth),
            };
            (value, true)
        } else {
            let (x, y) = (self.rng.pick(&self.uniform), self.rng.pick(&self.uniform));
            let op = self.rng.pick(&[Op::ULt, Op::SLe, Op::IEq, Op::INe]);
            (b.op2(op, x, y), false)
        }
    }

    /// Fills a region of its own: values made inside are out of sight afterwards.
    fn region(
        &mut self,
        b: &mut Builder<'_>,
        divergent: bool,
        fill: impl FnOnce(&mut Self, &mut Builder<'_>),
    ) -> super::Region {
        let sizes: Vec<usize> = self.pools.iter().map(Vec::len).collect();
        let together = self.together;
        self.together = together && !divergent;
        let region = b.in_new_region(|b| fill(self, b));
        self.together = together;
        for (pool, size) in self.pools.iter_mut().zip(sizes) {
            pool.truncate(size);
        }
        region
    }

    fn construct(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        match self.rng.below(6) {
            0..=2 => self.if_(b, budget, depth),
            3 | 4 if self.rng.one_in(8) => self.endless(b, budget, depth),
            3 | 4 => self.loop_(b, budget, depth),
            _ => self.block(b, budget, depth),
        }
    }

    fn if_(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let (condition, divergent) = self.condition(b);
        let kinds = [Kind::Int, Kind::Float];
        let mut regions = Vec::new();
        for _ in 0..2 {
            let region = self.region(b, divergent, |g, b| {
                g.statements(b, budget / 2, depth + 1);
                g.leave_or(b, |g, b| {
                    let values = kinds.map(|kind| g.any(b, kind));
                    b.end(Op::Yield, &values);
                });
            });
            regions.push(region);
        }
        let types = kinds.map(Kind::ty);
        let inst = b.inst(Op::If, Imm::None, &[condition], &regions, &types);
        for (index, kind) in kinds.into_iter().enumerate() {
            let value = b.func.insts[inst].results[index];
            self.add(kind, value);
        }
    }

    /// Ends a region by a jump now and then, where one is possible, else as told. In divergent code
    /// a jump makes what follows the construct divergent too, so it is only taken where nothing
    /// below needs all invocations together.
    fn leave_or(&mut self, b: &mut Builder<'_>, end: impl FnOnce(&mut Self, &mut Builder<'_>)) {
        if !self.together && self.rng.one_in(5) {
            let label = self.labels.last().copied();
            match label {
                Some((label, _)) if self.rng.one_in(2) => {
                    let value = self.any(b, Kind::Int);
                    b.exit(label, &[value]);
                    return;
                }
                _ if self.in_loop => {
                    let value = self.any(b, Kind::Int);
                    let op = self.rng.pick(&[Op::Break, Op::Continue]);
                    b.end(op, &[value]);
                    return;
                }
                _ => {}
            }
        }
        end(self, b);
    }

    /// A loop of at most four trips: the counter is a variable of the loop that nothing else sees.
    fn loop_(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let (limit, divergent) = match self.rng.below(3) {
            0 => {
                let any = self.any(b, Kind::Int);
                let (three, one) = (b.u32(3), b.u32(1));
                let few = b.op2(Op::And, any, three);
                (b.op2(Op::IAdd, few, one), true)
            }
            _ => (b.u32(1 + self.rng.below(4) as u32), false),
        };
        let counter = b.func.mems.push(MemData {
            name: "counter".into(),
            size: 4,
            space: MemSpace::Private,
        });
        let access = Access {
            mem: counter,
            lo: 0,
            hi: 4,
        };
        let zero = b.u32(0);
        b.mem_store(access, zero, &[zero]);
        let init = self.any(b, Kind::Int);
        // A jump out of the body under a divergent condition makes the loop divergent as a whole.
        let jumps = self.rng.one_in(2);
        let inst = b.inst(Op::Loop, Imm::None, &[init], &[], &[Type::B32]);
        let outer = std::mem::replace(&mut self.in_loop, jumps);
        let labels = std::mem::take(&mut self.labels);
        if jumps {
            self.labels.clone_from(&labels);
        }
        let body = self.region(b, divergent || jumps, |g, b| {
            let region = b.region;
            let param = b.func.add_param(region, Type::B32);
            g.add(Kind::Int, param);
            g.statements(b, budget, depth + 1);
            if !b.ended() {
                let value = g.any(b, Kind::Int);
                b.end(Op::Continue, &[value]);
            }
        });
        self.in_loop = outer;
        self.labels.clear();
        let with_break_if = self.rng.one_in(2);
        let in_continuing = std::mem::replace(&mut self.in_loop, false);
        let continuing = self.region(b, divergent || jumps, |g, b| {
            let region = b.region;
            let param = b.func.add_param(region, Type::B32);
            g.add(Kind::Int, param);
            for _ in 0..g.rng.below(3) {
                g.compute(b);
            }
            let (zero, one) = (b.u32(0), b.u32(1));
            let count = b.mem_load(access, zero, &[Type::B32])[0];
            let next = b.op2(Op::IAdd, count, one);
            b.mem_store(access, zero, &[next]);
            let done = b.op2(Op::ULe, limit, next);
            let value = g.any(b, Kind::Int);
            if with_break_if {
                b.end(Op::BreakIf, &[done, param, value]);
            } else {
                b.end(Op::Next, &[value]);
            }
        });
        self.in_loop = in_continuing;
        self.labels = labels;
        b.func.insts[inst].regions.extend([body, continuing]);
        if !with_break_if {
            self.guard_head(b, body, access, limit);
        }
        let value = b.func.insts[inst].results[0];
        self.add(Kind::Int, value);
    }

    /// Puts `if counter >= limit { break }` at the head of a loop's body.
    fn guard_head(
        &mut self,
        b: &mut Builder<'_>,
        body: super::Region,
        access: Access,
        limit: Value,
    ) {
        let rest = std::mem::take(&mut b.func.regions[body].insts);
        let outer = std::mem::replace(&mut b.region, body);
        let param = b.func.regions[body].params[0];
        let zero = b.u32(0);
        let count = b.mem_load(access, zero, &[Type::B32])[0];
        let done = b.op2(Op::ULe, limit, count);
        b.if_else(
            done,
            &[],
            |b| {
                b.end(Op::Break, &[param]);
                vec![]
            },
            |_| vec![],
        );
        b.func.regions[body].insts.extend(rest);
        b.region = outer;
    }

    /// A block around a loop that only `exit` leaves, so that nothing behind it is reached.
    fn endless(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let any = self.any(b, Kind::Int);
        let (three, zero, one) = (b.u32(3), b.u32(0), b.u32(1));
        let limit = b.op2(Op::And, any, three);
        let block = b.inst(Op::Block, Imm::None, &[], &[], &[Type::B32]);
        let (in_loop, labels) = (
            std::mem::replace(&mut self.in_loop, false),
            std::mem::take(&mut self.labels),
        );
        let region = self.region(b, true, |g, b| {
            let inst = b.inst(Op::Loop, Imm::None, &[zero], &[], &[]);
            let body = g.region(b, true, |g, b| {
                let region = b.region;
                let trip = b.func.add_param(region, Type::B32);
                g.add(Kind::Int, trip);
                g.statements(b, budget, depth + 2);
                let done = b.op2(Op::ULe, limit, trip);
                b.if_else(
                    done,
                    &[],
                    |b| {
                        let value = g.any(b, Kind::Int);
                        b.exit(block, &[value]);
                        vec![]
                    },
                    |_| vec![],
                );
                b.end(Op::Continue, &[trip]);
            });
            let continuing = g.region(b, true, |_, b| {
                let region = b.region;
                let trip = b.func.add_param(region, Type::B32);
                let next = b.op2(Op::IAdd, trip, one);
                b.end(Op::Next, &[next]);
            });
            b.func.insts[inst].regions.extend([body, continuing]);
            b.end(Op::Unreachable, &[]);
        });
        (self.in_loop, self.labels) = (in_loop, labels);
        b.func.insts[block].regions.push(region);
        let value = b.func.insts[block].results[0];
        self.add(Kind::Int, value);
    }

    fn block(&mut self, b: &mut Builder<'_>, budget: usize, depth: u32) {
        let inst = b.inst(Op::Block, Imm::None, &[], &[], &[Type::B32]);
        self.labels.push((inst, 1));
        // Exits may be divergent, so nothing inside may need all invocations.
        let region = self.region(b, true, |g, b| {
            g.statements(b, budget, depth + 1);
            if !b.ended() {
                let value = g.any(b, Kind::Int);
                b.end(Op::Yield, &[value]);
            }
        });
        self.labels.pop();
        b.func.insts[inst].regions.push(region);
        let value = b.func.insts[inst].results[0];
        self.add(Kind::Int, value);
    }

    /// Stores the newest values.
    fn finish(&mut self, b: &mut Builder<'_>) {
        let mut words = Vec::new();
        for _ in 0..OUT_WORDS / 3 {
            words.push(self.any(b, Kind::Int));
            let float = self.any(b, Kind::Float);
            words.push(self.number(b, float));
            let truth = self.any(b, Kind::Truth);
            let (one, zero) = (b.u32(1), b.u32(0));
            words.push(b.select(truth, one, zero));
        }
        for (kind, low) in [(Kind::Half, Op::FConvert), (Kind::Short, Op::UConvert)] {
            if let Some(&value) = self.pools[kind as usize].last()
                && (self.config.allow)(low)
            {
                words[kind as usize] = b.convert(low, Type::B32, value);
            }
        }
        if let Some(&long) = self.pools[Kind::Long as usize].last() {
            words[0] = b.op1(Op::Lo64, long);
        }
        if let (Some(sink), Some(id)) = (self.setup.sink, self.id) {
            let stride = b.u32(OUT_WORDS * 4);
            let base = b.op2(Op::IMul, id, stride);
            for (index, chunk) in words.chunks(4).enumerate() {
                let offset = b.u32(index as u32 * 16);
                let address = b.op2(Op::IAdd, base, offset);
                b.buffer_store(sink, None, address, chunk);
            }
        }
        if let Some(target) = self.setup.target {
            for component in 0..4u8 {
                let words = &words[usize::from(component) * 3..][..3];
                let mixed = b.op2(Op::Xor, words[0], words[1]);
                let mixed = b.op2(Op::IAdd, mixed, words[2]);
                b.output(target, component, mixed);
            }
        }
        b.end(Op::Yield, &[]);
    }
}

/// Atomics whose final value does not depend on order, each with a word of its own: two different
/// ones on one word would.
const COMMUTING: [(AtomicOp, u32); 8] = [
    (AtomicOp::Add, 0),
    (AtomicOp::UMax, 1),
    (AtomicOp::UMin, 2),
    (AtomicOp::SMax, 3),
    (AtomicOp::SMin, 4),
    (AtomicOp::And, 5),
    (AtomicOp::Or, 6),
    (AtomicOp::Xor, 7),
];

fn barrier(b: &mut Builder<'_>) {
    let imm = Imm::Barrier {
        storage: false,
        workgroup: true,
        texture: false,
    };
    b.inst(Op::Barrier, imm, &[], &[], &[]);
}

/// Ops of the Custom shape that only move bits.
const fn is_bit_mover(op: Op) -> bool {
    matches!(
        op,
        Op::PackHalf
            | Op::UnpackHalfLo
            | Op::UnpackHalfHi
            | Op::Join16
            | Op::Lo16
            | Op::Hi16
            | Op::Join64
            | Op::Lo64
            | Op::Hi64
            | Op::Index
    )
}

/// Ops that read their operands as floats.
fn is_float(op: Op) -> bool {
    op.name().starts_with('f') || op == Op::FrexpFract
}

/// Float ops that are defined on f32 alone here.
const fn is_f32_only(op: Op) -> bool {
    matches!(op, Op::FQuantize | Op::FSinTurns | Op::FCosTurns)
}

#[cfg(test)]
mod tests {
    use super::super::verify::verify;
    use super::*;

    #[test]
    fn programs_are_verified_and_the_same_for_the_same_seed() {
        for config in [Config::COMPUTE, Config::FRAGMENT] {
            for seed in 0..300 {
                let func = program(seed, &config);
                if let Err(broken) = verify(&func) {
                    panic!("seed {seed}: {broken}");
                }
                assert_eq!(func.insts.len(), program(seed, &config).insts.len());
            }
        }
    }

    #[test]
    fn every_op_occurs_and_programs_are_of_the_size_asked_for() {
        let mut seen = vec![0usize; Op::ALL.len()];
        let mut sizes = Vec::new();
        for seed in 0..2000 {
            let config = if seed % 3 == 0 {
                Config::FRAGMENT
            } else {
                Config::COMPUTE
            };
            let func = program(seed, &config);
            sizes.push(func.live_insts());
            for (region, ..) in func.regions_in_order() {
                for &inst in &func.regions[region].insts {
                    seen[func.insts[inst].op as usize] += 1;
                }
            }
        }
        sizes.sort_unstable();
        assert!(
            sizes[sizes.len() / 2] >= 60,
            "median {}",
            sizes[sizes.len() / 2]
        );
        for (index, &op) in Op::ALL.iter().enumerate() {
            assert!(
                seen[index] >= 10,
                "{} occurs {} times",
                op.name(),
                seen[index]
            );
        }
    }
}
