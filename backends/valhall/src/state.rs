//! What a driver programs: the descriptors around a program, and builders for those that it writes
//! itself. docs/abi-valhall.md says where each field stands.

pub mod targets;

use crate::abi::Abi;
use crate::api::VertexForm;
use gpucc_emu::format::{Format, Kind, VertexFormat};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_ir::ssa::{Builtin, Dim, Flags, Func, Imm, InputKind, InstData, Op, Sampling, Stage};
use gpucc_machine::Named;
use gpucc_machine::described::{Memory, OutputPlace, ProgramState, Setting};

/// A field of a descriptor: name, word, lowest bit, value.
type Field = (&'static str, usize, u32, u32);

/// A descriptor and its name.
type Descriptor = (&'static str, Setting);

fn descriptor(name: &'static str, words: usize, fields: &[Field]) -> Descriptor {
    let mut packed = vec![0; words];
    let mut mask = vec![0; words];
    for &(field, word, low, value) in fields {
        packed[word] |= value << low;
        mask[word] |= u32::MAX >> (32 - width(field)) << low;
    }
    debug_assert!(packed.iter().zip(&mask).all(|(word, mask)| word & !mask == 0));
    let fields = fields.iter().map(|&(name, .., value)| (name, value)).collect();
    (name, Setting::Descriptor { words: packed, mask, fields })
}

/// Bits of a field.
fn width(field: &str) -> u32 {
    match field {
        "Binary" => 32,
        "Preload" | "Vertex attribute stride" => 16,
        "Workgroup size X" | "Workgroup size Y" | "Workgroup size Z" => 10,
        "FAU count" | "Render target mask" => 8,
        "TLS Size" | "WLS Instances" | "WLS Size Scale" => 5,
        "Memory Format" => 22,
        "RGB" | "Alpha" => 12,
        "Type" | "Stage" | "Color Mask" | "RT" => 4,
        "Mode" | "Num Comps" => 2,
        "Flush to zero mode" | "Register allocation" | "Pixel kill operation" => 2,
        "ZS update operation" | "Depth source" => 2,
        _ => 1,
    }
}

/// What the program does that fixed function must know of.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Values go across the quad.
    pub quads: bool,
    /// What it does depends on which invocations are in one warp.
    pub grouped: bool,
    /// Stores and atomics of memory that others see.
    pub effects: bool,
    /// Discards.
    pub kills: bool,
    /// Writes depth.
    pub depth: bool,
    /// Writes what the stencil test refers to.
    pub stencil: bool,
    /// Writes the sample mask.
    pub coverage: bool,
    /// Runs once a sample.
    pub per_sample: bool,
    /// Has barriers.
    pub barrier: bool,
    /// Takes the number of its workgroup, or of a subgroup in it, as one for the warp.
    pub numbered: bool,
}

/// Whether an instruction takes something from other lanes, so that helpers run it too: across a quad, or across the warp.
pub fn crosses_lanes(data: &InstData) -> bool {
    data.flags().has(Flags::QUAD) || matches!(data.op, Op::Ballot | Op::Shuffle | Op::Reduce)
}

impl Facts {
    /// Looks a function through.
    pub fn of(func: &Func) -> Facts {
        let mut facts = Facts::default();
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                facts.quads |= crosses_lanes(data);
                facts.grouped |= crosses_lanes(data);
                match data.op {
                    Op::BufferStore | Op::BufferAtomic | Op::ImageStore | Op::ImageAtomic => {
                        facts.effects = true;
                    }
                    Op::Demote => facts.kills = true,
                    Op::Barrier => facts.barrier = true,
                    Op::Input => {
                        let Imm::Input(input, _) = data.imm else {
                            continue;
                        };
                        let kind = &func.inputs[input].kind;
                        facts.grouped |=
                            matches!(kind, InputKind::Builtin(Builtin::SubgroupInvocationId));
                        facts.numbered |= matches!(
                            kind,
                            InputKind::Builtin(
                                Builtin::WorkgroupId | Builtin::SubgroupId | Builtin::NumSubgroups
                            )
                        );
                        facts.per_sample |= matches!(
                            func.inputs[input].kind,
                            InputKind::Builtin(Builtin::SampleIndex | Builtin::SamplePosition)
                                | InputKind::Location { sampling: Sampling::Sample, .. }
                        );
                    }
                    _ => {}
                }
            }
        }
        facts
    }
}

/// First byte of the varying program, a multiple of 16; absent when there are no varyings.
pub(crate) const SECONDARY: &str = "secondary_offset";
/// Entry of table 0 that holds the info buffer, when the program reads it.
pub(crate) const INFO: &str = "info_buffer";
/// Tables of constants that the program reads.
pub(crate) const CONSTANTS: &str = "constant_buffers";
/// Bytes of a varying record, a multiple of 16.
pub(crate) const STRIDE: &str = "varying_stride";
/// Thread-local bytes of one invocation.
pub(crate) const THREAD: &str = "tls_bytes";
/// Bytes of zeros that are mapped behind the code, since the machine fetches ahead. Errata 130.
pub(crate) const PADDING: &str = "code_padding";
/// What [`PADDING`] says.
const FETCHED_AHEAD: u32 = 128;
/// Bytes of workgroup memory.
pub(crate) const WORKGROUP: &str = "wls_bytes";

/// Everything that a driver programs: descriptors by name, and where programs and tables are.
pub fn state(
    func: &Func,
    abi: &Abi,
    programs: Vec<ProgramState>,
    fau_words: u32,
    tls_bytes: u32,
) -> Named<Setting> {
    let mut state: Named<Setting> =
        descriptors(func, abi, &programs, fau_words, tls_bytes).into_iter().collect();
    let secondary = programs.get(1).map(|program| program.offset);
    state.set("programs", Setting::Programs(programs));
    state.set("tables", Setting::Tables(abi.tables()));
    for (name, value) in [(SECONDARY, secondary), (INFO, abi.info_buffer)] {
        if let Some(value) = value {
            state.set(name, Setting::Number(value));
        }
    }
    if !abi.constants.is_empty() {
        let constants = abi.constants.values().cloned().collect();
        state.set(CONSTANTS, Setting::ConstantBuffers(constants));
    }
    for (name, value) in [
        (STRIDE, abi.varying_stride),
        (THREAD, tls_bytes),
        (WORKGROUP, abi.wls_bytes),
        (PADDING, FETCHED_AHEAD),
    ] {
        state.set(name, Setting::Number(value));
    }
    state
}

fn descriptors(
    func: &Func,
    abi: &Abi,
    programs: &[ProgramState],
    fau_words: u32,
    tls_bytes: u32,
) -> Vec<Descriptor> {
    let mut facts = Facts::of(func);
    for output in &abi.outputs {
        facts.depth |= output.place == OutputPlace::Single { place: Memory::Depth };
        facts.stencil |= output.place == OutputPlace::Single { place: Memory::Stencil };
        facts.coverage |= output.place == OutputPlace::Single { place: Memory::Coverage };
    }
    let idvs = abi.pipeline.vertex.form == VertexForm::Idvs;
    let work = programs.iter().map(|p| p.work_registers).max();
    let mut list = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        list.push(shader_program(
            func.stage,
            program,
            work.unwrap_or(32),
            index,
            programs.len(),
            idvs,
            facts,
        ));
    }
    list.push(descriptor("Shader Environment", 16, &[("FAU count", 1, 0, fau_words.div_ceil(2))]));
    if tls_bytes > 0 || abi.wls_bytes > 0 {
        list.push(local_storage(tls_bytes, abi.wls_bytes));
    }
    match func.stage {
        Stage::Compute => {
            let [x, y, z] = func.workgroup_size;
            // A warp then holds threads of several workgroups. errata 139.
            let alone = facts.barrier || facts.grouped || facts.numbered;
            let merge = !alone && abi.wls_bytes == 0;
            list.push(descriptor(
                "Compute Payload",
                1,
                &[
                    ("Workgroup size X", 0, 0, x - 1),
                    ("Workgroup size Y", 0, 10, y - 1),
                    ("Workgroup size Z", 0, 20, z - 1),
                    ("Allow merging workgroups", 0, 31, merge.into()),
                ],
            ));
        }
        Stage::Fragment => fragment(func, abi, facts, &mut list),
        // The machine has no such programs (`refuse`).
        Stage::Geometry => {}
        Stage::Vertex => list.push(descriptor(
            "Allocation",
            1,
            &[("Vertex attribute stride", 0, 16, abi.varying_stride)],
        )),
    }
    list
}

fn shader_program(
    stage: Stage,
    program: &ProgramState,
    work_registers: u32,
    index: usize,
    programs: usize,
    idvs: bool,
    facts: Facts,
) -> Descriptor {
    let number = match stage {
        Stage::Compute => 1,
        Stage::Fragment => 2,
        Stage::Vertex => 3,
        Stage::Geometry => 0,
    };
    let name = match (stage, index, programs) {
        (Stage::Vertex, 0, 2) => "Shader Program (position)",
        (Stage::Vertex, 1, _) => "Shader Program (varying)",
        _ => "Shader Program",
    };
    let mut fields: Vec<Field> = vec![("Type", 0, 0, 8), ("Stage", 0, 4, number)];
    match stage {
        Stage::Fragment => fields.push(("Fragment coverage bitmask type", 0, 8, 1)),
        // Position programs run in warps of half the width: the tiler takes them in fours.
        Stage::Vertex => {
            let half = idvs && index == 0;
            fields.push(("Vertex warp limit", 0, 8, half.into()));
        }
        Stage::Compute | Stage::Geometry => {}
    }
    fields.push(("Suppress NaN", 0, 16, 0));
    fields.push(("Flush to zero mode", 0, 17, 0));
    fields.push(("Suppress Inf", 0, 19, 0));
    fields.push(("Shader contains JUMP_EX", 0, 29, 0));
    if stage == Stage::Fragment {
        fields.push(("Requires helper threads", 0, 28, facts.quads.into()));
    }
    let registers = if work_registers <= 32 { 2 } else { 0 };
    fields.push(("Register allocation", 0, 30, registers));
    fields.push(("Preload", 1, 0, program.preload.into()));
    fields.push(("Binary", 2, 0, program.offset));
    descriptor(name, 8, &fields)
}

/// WLS Instances holds the logarithm of a number of instances; 2^31 stands for no memory of workgroups.
const NO_WORKGROUP_MEMORY: u32 = 31;

fn local_storage(tls: u32, wls: u32) -> Descriptor {
    let shift = tls.div_ceil(16).max(1).next_power_of_two().ilog2();
    let workgroup = match wls {
        0 => ("WLS Instances", 1, 0, NO_WORKGROUP_MEMORY),
        n => ("WLS Size Scale", 1, 8, n.next_power_of_two().max(128).ilog2() + 1),
    };
    descriptor("Local Storage", 8, &[("TLS Size", 0, 0, shift), workgroup])
}

fn fragment(func: &Func, abi: &Abi, facts: Facts, list: &mut Vec<Descriptor>) {
    let pipeline = abi.pipeline.fragment.as_ref();
    // Alpha to coverage counts as a program that modifies coverage. errata 135.
    let covers = pipeline.is_some_and(|pipeline| pipeline.alpha_to_coverage);
    let late = facts.depth || facts.stencil || facts.coverage || facts.kills || covers;
    let early = func.early_fragment_tests;
    let order = |late: bool| match (early, late) {
        (true, _) => 0,
        (false, true) => 3,
        (false, false) => 2,
    };
    let mut written = 0;
    for output in &abi.outputs {
        if let OutputPlace::Blend { index, .. } = output.place {
            written |= 1 << index;
        }
    }
    let replaces = pipeline.is_none_or(|pipeline| targets::replaces_all(pipeline, written));
    list.push(descriptor(
        "Draw",
        2,
        &[
            // What writes no colour hides none.
            ("Allow forward pixel to kill", 0, 0, (!late && written != 0 && replaces).into()),
            ("Allow forward pixel to be killed", 0, 1, (!facts.effects).into()),
            ("Pixel kill operation", 0, 2, order(facts.depth || facts.stencil || facts.effects)),
            ("ZS update operation", 0, 4, order(late)),
            ("Evaluate per-sample", 0, 11, facts.per_sample.into()),
            ("Shader modifies coverage", 0, 20, (facts.kills || facts.coverage || covers).into()),
            ("Render target mask", 1, 16, written),
        ],
    ));
    list.push(descriptor(
        "Depth/stencil",
        8,
        &[
            ("Stencil from shader", 0, 30, facts.stencil.into()),
            ("Depth source", 4, 25, if facts.depth { 3 } else { 2 }),
        ],
    ));
    for (number, target, format) in pipeline.into_iter().flat_map(gpucc_emu::blend::bound) {
        list.push(targets::descriptor(number, target, format));
    }
}

// Descriptors that a driver writes, by what they describe.

/// One entry of the array of resource tables: an array of `entries` descriptors.
pub fn resource_table(address: u64, entries: u32) -> [u32; 4] {
    [address as u32, (address >> 32) as u32 & 0x00ff_ffff | 1 << 24, 32 * entries, 0]
}

/// Bytes in memory, without a stride.
pub fn buffer(address: u64, size: u32) -> [u32; 8] {
    let [low, high] = halves(address);
    [9 | 1 << 4, size, low, high, 0, 0, 0, 0]
}

/// Elements in memory, `stride` bytes from one to the next.
pub fn structured_buffer(address: u64, size: u32, stride: u32) -> [u32; 8] {
    let [low, high] = halves(address);
    [9 | 3 << 4, size, low, high, stride, 0, 0, 0]
}

/// An attribute of a vertex buffer; `format` is a pixel format.
pub fn attribute(
    format: u32,
    per_instance: bool,
    offset: u32,
    buffer: u32,
    stride: u32,
) -> [u32; 8] {
    let table = crate::abi::table::VERTEX_BUFFER;
    [
        5 | 1 << 4 | 1 << 8 | format << 10,
        table | u32::from(per_instance) << 6,
        offset,
        buffer,
        stride,
        0,
        0,
        0,
    ]
}

/// A texture or an image.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Dimension.
    pub dim: Dim,
    /// Texel format.
    pub format: Format,
    /// Texels of level 0, each 1 to 65536.
    pub size: [u32; 3],
    /// Layers; cubes of a cube array.
    pub layers: u32,
    /// Mip levels.
    pub levels: u32,
    /// Samples of a texel, a power of two.
    pub samples: u32,
    /// Address of the surfaces' planes.
    pub surfaces: u64,
}

/// Its descriptor.
pub fn texture(t: &Texture) -> [u32; 8] {
    let dim = match t.dim {
        Dim::Cube => 0,
        Dim::D1 => 1,
        Dim::D2 => 2,
        Dim::D3 => 3,
    };
    let identity = 1 << 3 | 2 << 6 | 3 << 9;
    let [low, high] = halves(t.surfaces);
    [
        2 | dim << 4 | pixel_format(t.format).0 << 10,
        (t.size[0] - 1) | (t.size[1] - 1) << 16,
        identity | (t.levels - 1) << 16,
        t.samples.ilog2() << 13 | ((t.levels - 1) << 8) << 16,
        low,
        high,
        t.layers - 1,
        t.size[2] - 1,
    ]
}

/// One surface of a texture, rows one after the other.
pub fn plane(address: u64, format: Format, size: u32, row: u32, slice: u32) -> [u32; 8] {
    let [low, high] = halves(address);
    [10 | 1 << 4 | 2 << 8 | pixel_format(format).1 << 24, size, low, high, row, 0, slice, 0]
}

/// A sampler.
pub fn sampler(s: &Sampler) -> [u32; 8] {
    let wrap = s.wrap.map(|wrap| match wrap {
        Wrap::Repeat => 8,
        Wrap::Clamp => 9,
        Wrap::Border => 11,
        Wrap::Mirror => 12,
        Wrap::MirrorOnce => 13,
        Wrap::MirrorOnceBorder => 15,
    });
    let mip = match s.mip {
        MipFilter::Nearest => 0,
        MipFilter::None => 1,
        MipFilter::Linear => 3,
    };
    let compare = match s.compare.unwrap_or(Compare::Never) {
        Compare::Never => 0,
        Compare::Less => 1,
        Compare::Equal => 2,
        Compare::LessEqual => 3,
        Compare::Greater => 4,
        Compare::NotEqual => 5,
        Compare::GreaterEqual => 6,
        Compare::Always => 7,
    };
    let lod = |level: f32| (level * 256.0).round_ties_even().clamp(0.0, 8191.0) as u32;
    let bias = (s.lod_bias * 256.0).round_ties_even().clamp(-32768.0, 32767.0) as i16;
    let nearest = |filter| u32::from(filter == Filter::Nearest);
    [
        1 | wrap[2] << 8
            | wrap[1] << 12
            | wrap[0] << 16
            | 1 << 21
            | 1 << 23
            | 1 << 25
            | 1 << 26
            | nearest(s.min) << 27
            | nearest(s.mag) << 28
            | mip << 30,
        lod(s.lod_min) | compare << 13 | lod(s.lod_max) << 16,
        u32::from(bias as u16),
        0,
        s.border[0],
        s.border[1],
        s.border[2],
        s.border[3],
    ]
}

fn halves(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

/// Code of a format whose components are equal: kind, bits, number.
fn equal(kind: Kind, bits: u32, components: u32) -> u32 {
    let size = match bits {
        8 => 3,
        16 => 4,
        _ => 5,
    };
    let code = match (kind, bits) {
        (Kind::Snorm, _) => 96 + size,
        // No attribute of ours is scaled; the descriptor's integers are what a program would convert.
        (Kind::Uint | Kind::Uscaled, _) => 128 + size,
        (Kind::Unorm | Kind::Srgb, _) => 160 + size,
        (Kind::Sint | Kind::Sscaled, _) => 192 + size,
        (Kind::Float, 16) => 199,
        (Kind::Float | Kind::UFloat, _) => 167,
    };
    code + 8 * (components - 1)
}

const BGRA: u32 = 4;

fn packed(code: u32, order: u32, srgb: bool) -> u32 {
    order | code << 12 | u32::from(srgb) << 20
}

/// The pixel format (22 bits) and the clump format of a plane (8 bits) of a texel format. Together
/// they tell all texel formats apart.
pub fn pixel_format(format: Format) -> (u32, u32) {
    let clump = match format.bytes() {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        _ => 4,
    };
    let srgb = format.kind() == Kind::Srgb;
    let code = match format {
        Format::Bgra8Unorm | Format::Bgra8UnormSrgb => {
            return (packed(equal(Kind::Unorm, 8, 4), BGRA, srgb), clump);
        }
        Format::Rgb9e5Ufloat => 91,
        Format::Rgb10a2Uint => 71,
        Format::Rgb10a2Unorm => 67,
        Format::Rg11b10Ufloat => 89,
        Format::Stencil8 => return (packed(93, 0, false), 22),
        Format::Depth16Unorm => 75,
        Format::Depth24Plus => 77,
        Format::Depth24PlusStencil8 => return (packed(77, 0, false), 20),
        Format::Depth32Float => 76,
        Format::Depth32FloatStencil8 => return (packed(76, 0, false), 19),
        _ => {
            let components = format.components();
            equal(format.kind(), 8 * format.bytes() / components, components)
        }
    };
    (packed(code, 0, srgb), clump)
}

/// The pixel format of a vertex format.
pub fn vertex_format(format: VertexFormat) -> u32 {
    match format.name() {
        "unorm10-10-10-2" => packed(67, 0, false),
        "unorm8x4-bgra" => packed(equal(Kind::Unorm, 8, 4), BGRA, false),
        _ => packed(equal(format.kind(), format.bits(), format.components()), 0, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn words((_, setting): &Descriptor) -> &[u32] {
        match setting {
            Setting::Descriptor { words, .. } => words,
            _ => panic!("a descriptor"),
        }
    }

    #[test]
    fn a_fragment_program_says_its_registers_helpers_and_preloads() {
        let program = ProgramState {
            offset: 0x80,
            bytes: 8,
            preload: 0x3000,
            registers: 1,
            work_registers: 32,
        };
        let facts = Facts { quads: true, ..Facts::default() };
        let d = shader_program(Stage::Fragment, &program, 32, 0, 1, false, facts);
        // Type 8, stage 2, GL coverage, helper threads, 32 registers.
        assert_eq!(words(&d)[..3], [0x9000_0128, 0x3000, 0x80]);
        let d = shader_program(Stage::Vertex, &program, 64, 0, 2, true, Facts::default());
        // Type 8, stage 3, half warps, 64 registers.
        assert_eq!(words(&d)[0], 0x138);
        assert_eq!(d.0, "Shader Program (position)");
        // The plain form has whole warps.
        let d = shader_program(Stage::Vertex, &program, 64, 0, 1, false, Facts::default());
        assert_eq!(words(&d)[0], 0x38);
    }

    #[test]
    fn buffers_worked_out_by_hand() {
        assert_eq!(buffer(0x12_3456_7840, 256), [0x19, 256, 0x3456_7840, 0x12, 0, 0, 0, 0]);
        assert_eq!(structured_buffer(0x40, 640, 16), [0x39, 640, 0x40, 0, 16, 0, 0, 0]);
        assert_eq!(resource_table(0xab_0000_0040, 3), [0x40, 0x0100_00ab, 96, 0]);
    }

    #[test]
    fn a_texture_worked_out_by_hand() {
        let t = Texture {
            dim: Dim::D2,
            format: Format::Rgba8Unorm,
            size: [8, 4, 1],
            layers: 6,
            levels: 3,
            samples: 1,
            surfaces: 0x1000,
        };
        // RGBA8 unorm is 187: 187 << 12 << 10, 2D, texture.
        assert_eq!(
            texture(&t),
            [0xbb << 22 | 0x22, 0x0003_0007, 0x0002_0688, 0x0200_0000, 0x1000, 0, 5, 0]
        );
    }

    #[test]
    fn a_sampler_worked_out_by_hand() {
        let mut s = Sampler::linear(Wrap::Repeat);
        s.compare = Some(Compare::LessEqual);
        s.lod_max = 2.5;
        s.lod_bias = -0.5;
        assert_eq!(sampler(&s), [0xc6a8_8801, 0x0280_6000, 0xff80, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn an_attribute_worked_out_by_hand() {
        // RGB32F is 183.
        let format = vertex_format(VertexFormat::from_name("float32x3").expect("a name"));
        assert_eq!(format, 183 << 12);
        assert_eq!(
            attribute(format, true, 12, 1, 32),
            [0xb7 << 22 | 0x115, 0x42, 12, 1, 32, 0, 0, 0]
        );
    }

    #[test]
    fn every_format_is_told_apart() {
        let texels: BTreeSet<_> = Format::ALL.iter().map(|&f| pixel_format(f)).collect();
        assert_eq!(texels.len(), Format::ALL.len());
        assert!(texels.iter().all(|(pixel, _)| *pixel < 1 << 22));
        let vertices = VertexFormat::ALL.iter().map(|&f| vertex_format(f));
        let vertices: BTreeSet<_> = vertices.collect();
        assert_eq!(vertices.len(), VertexFormat::ALL.len());
    }

    #[test]
    fn local_storage_counts_in_powers_of_two() {
        // 33 bytes are three 16-byte lines: four; 200 bytes of workgroup memory are 256 = 2^8.
        let d = local_storage(33, 200);
        assert_eq!(words(&d)[..2], [2, 9 << 8]);
        assert_eq!(words(&local_storage(16, 0))[..2], [0, NO_WORKGROUP_MEMORY]);
    }
}
