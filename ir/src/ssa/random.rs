//! Random structured programs: every op and every control form, for tests that compare two ways of
//! running the same function.
//!
//! A program reads a storage buffer and a uniform buffer, computes, and stores words of its own
//! invocation to an output buffer (or writes outputs, in a fragment program), so that it has no
//! races. Floats and integers are kept apart: a NaN's payload is no machine's promise, so float bits
//! reach integer ops only where they are no NaN.

mod compute;
mod control;
mod effects;

use super::func::{
    Access, Corners, Emits, Func, Geometry, Imm, Mem, MemData, MemSpace, Stage, Type, Value,
};
use super::op::{Op, Sig};
use super::resource::{
    Builtin, Dim, ImageAccess, InputData, InputKind, Interpolation, OutputData, OutputKind, Part,
    Resource, ResourceData, ResourceKind, SampleType, Sampling, Scalar, TexelFormat,
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
    /// Compute, fragment or geometry.
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
    /// Floats of 16 bits, where integers of 16 bits occur (`allow` of `join16`).
    pub halves: bool,
    /// Floats of 64 bits, where integers of 64 bits occur (`allow` of `join64`).
    pub doubles: bool,
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
        halves: true,
        doubles: true,
        workgroup_size: 64,
    };
    /// Everything, fragment.
    pub const FRAGMENT: Config =
        Config { stage: Stage::Fragment, workgroup: false, ..Config::COMPUTE };
    /// Everything, geometry.
    pub const GEOMETRY: Config = Config { stage: Stage::Geometry, ..Config::FRAGMENT };
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
    cube: Option<Resource>,
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
                mixed: false,
            })
        };
        let storage = |store: bool| ResourceKind::Storage {
            size: 0,
            // An element of what is written holds the words of one invocation.
            stride: if store { OUT_WORDS * 4 } else { 4 },
            access: ImageAccess { load: true, store, atomic: false },
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
        let cube = textured.then(|| {
            let kind = ResourceKind::Texture {
                dim: Dim::Cube,
                arrayed: false,
                sample: SampleType::Float,
                multisampled: false,
            };
            declare("sky", kind, func)
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
                access: ImageAccess { load: false, store: true, atomic: false },
            };
            declare("canvas", kind, func)
        });
        let tally = (compute && config.textures && (config.allow)(Op::ImageAtomic)).then(|| {
            let kind = ResourceKind::StorageTexture {
                dim: Dim::D2,
                arrayed: false,
                format: TexelFormat("r32uint"),
                sample: SampleType::Uint,
                access: ImageAccess { load: true, store: true, atomic: true },
            };
            declare("tally", kind, func)
        });
        let counters = (compute && (config.allow)(Op::BufferAtomic)).then(|| {
            let kind = ResourceKind::Storage {
                size: 64,
                stride: 0,
                access: ImageAccess { load: true, store: true, atomic: true },
            };
            declare("counters", kind, func)
        });
        let variable = |name: &str, words: u32, space, func: &mut Func| {
            func.mems.push(MemData { name: name.into(), size: words * 4, space, words: Vec::new() })
        };
        let array = variable("array", ARRAY_WORDS, MemSpace::Private, func);
        let shared = (compute && config.workgroup && (config.allow)(Op::Barrier))
            .then(|| variable("shared", config.workgroup_size, MemSpace::Workgroup, func));
        let mut input = |name: &str, kind, components, scalar| {
            func.inputs.push(InputData { kind, components, scalar, name: name.into() })
        };
        let (mut id, mut varying, mut target) = (None, None, None);
        if compute {
            let kind = InputKind::Builtin(Builtin::GlobalInvocationId);
            id = Some(input("id", kind, 3, Scalar::U32));
            func.workgroup_size = [config.workgroup_size, 1, 1];
        } else {
            let geometry = config.stage == Stage::Geometry;
            let kind = match geometry {
                true => InputKind::Corner { vertex: 1, part: Part::Location(0) },
                false => InputKind::Location {
                    location: 0,
                    interpolation: Interpolation::Perspective,
                    sampling: Sampling::Center,
                },
            };
            func.geometry = geometry.then_some(Geometry {
                takes: Corners::Triangles,
                emits: Emits::TriangleStrip,
                most: 6,
                invocations: 1,
            });
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
            cube,
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
    /// Blocks that may be left from here, with the kind of their result.
    labels: Vec<(Inst, Kind)>,
    /// Inside of a loop's body whose break and continue carry a value of this kind.
    in_loop: Option<Kind>,
    /// A variable of each loop around the statement, which its body loads before anything else.
    rounds: Vec<Mem>,
    /// No divergent construct encloses this place.
    together: bool,
}

impl Generator {
    fn new(b: &mut Builder<'_>, rng: Rng, config: Config, setup: Setup) -> Generator {
        let ops = Op::ALL
            .iter()
            .copied()
            .filter(|&op| {
                let simple = !matches!(op.sig(), Sig::Const | Sig::Custom);
                // Derivatives exchange values within a quad and are placed on their own.
                simple && op.is_pure() && (config.allow)(op)
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
            in_loop: None,
            rounds: Vec::new(),
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
        let window = if self.rng.one_in(3) { count } else { count.min(8) };
        let index = count - 1 - self.rng.below(window);
        self.pools[kind as usize][index]
    }

    fn constant(&mut self, b: &mut Builder<'_>, kind: Kind) -> Value {
        const FLOATS: [f32; 16] = [
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
            f32::NEG_INFINITY,
            f32::NAN,
        ];
        const INTS: [u32; 12] =
            [0, 1, 2, 3, 7, 31, 32, 255, 0x8000_0000, 0x7fff_ffff, u32::MAX, 0x1234_5678];
        const LONGS: [u64; 10] = [
            0,
            1,
            10,
            u32::MAX as u64,
            1 << 32,
            1 << 53,
            u64::MAX,
            1 << 63,
            (1 << 63) - 1,
            0x1234_5678_9abc_def0,
        ];
        let bits = match kind {
            Kind::Truth => self.rng.bits() & 1,
            Kind::Float => self.rng.pick(&FLOATS).to_bits().into(),
            Kind::Int => self.rng.pick(&INTS).into(),
            Kind::Half => self.rng.pick(&[0u64, 0x3c00, 0xbc00, 0x3800, 0x4500]),
            Kind::Short => self.rng.bits() & 0xffff,
            Kind::Double => self.rng.pick(&[0.0f64, 1.0, -2.5, 1e10]).to_bits(),
            Kind::Long if self.rng.one_in(2) => self.rng.pick(&LONGS),
            Kind::Long => self.rng.bits() >> self.rng.below(64),
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
        let size = b.inst(Op::BufferSize, Imm::Resource(self.setup.source), &[], &[], &[Type::B32]);
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
            let access = Access { mem: array, lo: word * 4, hi: word * 4 + 4 };
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
            if self.config.stage == Stage::Geometry && self.rng.one_in(12) {
                self.emit(b);
            } else if depth < self.config.depth && left > 8 && self.rng.one_in(6) {
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
        let long = self.pools[Kind::Long as usize].last().copied();
        if let Some(long) = long {
            words[0] = b.op1(Op::Hi64, long);
            words[3] = b.op1(Op::Lo64, long);
        }
        if let (Some(sink), Some(id)) = (self.setup.sink, self.id) {
            let stride = b.u32(OUT_WORDS * 4);
            let size = b.inst(Op::BufferSize, Imm::Resource(sink), &[], &[], &[Type::B32]);
            let size = b.result(size);
            let length = b.op2(Op::UDiv, size, stride);
            let mixed = long.map(|long| {
                let other = self.any(b, Kind::Long);
                b.op2(Op::IAdd, long, other)
            });
            let store = |b: &mut Builder<'_>| {
                let own = b.op2(Op::Index, id, length);
                let base = b.op2(Op::IMul, own, stride);
                for (index, chunk) in words.chunks(4).enumerate() {
                    let offset = b.u32(index as u32 * 16);
                    let address = b.op2(Op::IAdd, base, offset);
                    b.buffer_store(sink, None, address, chunk);
                }
                if let Some(mixed) = mixed {
                    let offset = b.u32((OUT_WORDS - 2) * 4);
                    let address = b.op2(Op::IAdd, base, offset);
                    b.buffer_store(sink, None, address, &[mixed]);
                }
                vec![]
            };
            if self.rng.one_in(2) {
                // As careful shaders do: where elements are missing, those of the others are still compared.
                let inside = b.op2(Op::ULt, id, length);
                b.if_else(inside, &[], store, |_| vec![]);
            } else {
                store(b);
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

#[cfg(test)]
mod tests {
    use super::super::verify::verify;
    use super::*;

    #[test]
    fn programs_are_verified_and_the_same_for_the_same_seed() {
        for config in [Config::COMPUTE, Config::FRAGMENT, Config::GEOMETRY] {
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
            let config = match seed % 6 {
                0 | 3 => Config::FRAGMENT,
                1 => Config::GEOMETRY,
                _ => Config::COMPUTE,
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
        assert!(sizes[sizes.len() / 2] >= 60, "median {}", sizes[sizes.len() / 2]);
        for (index, &op) in Op::ALL.iter().enumerate() {
            // Nothing that follows from a clock can be compared.
            if matches!(op, Op::Clock | Op::DeviceClock) {
                continue;
            }
            assert!(seen[index] >= 10, "{} occurs {} times", op.name(), seen[index]);
        }
    }
}
