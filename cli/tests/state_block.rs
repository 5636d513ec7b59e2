//! The state block of a vertex and fragment pair, written into a model of the machine's registers and memory: the model,
//! which knows nothing else, draws the picture that `gpucc render` draws.

use crate::common::{Folder, gpucc, pixels, shared, text};
use gpucc::{Choice, Compiler, Options, Source, Target};
use gpucc_emu::draw::{
    self, DepthState, Pixel, QuadBatch, Shade, Targets, Topology, Varying, Vertex, VertexId,
};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::raster::Viewport;
use gpucc_emu::sampler::{Compare, Sampler, Wrap};
use gpucc_ir::ssa::{Dim, Interpolation, ResourceKind, Sampling};
use gpucc_r700 as r700;
use gpucc_r700::driver::{self, Placement, Range, Texture};
use gpucc_r700::emu::commands::admitted;
use gpucc_r700::emu::model::Model;
use gpucc_r700::emu::{self, PixelBatch, Trap};
use std::collections::BTreeMap;

const SHADER: &str = "
struct Look { tint: vec4f, offset: vec2f, cut: f32, pad: f32 };
@group(0) @binding(0) var<uniform> look: Look;
@group(0) @binding(1) var picture: texture_2d<f32>;
@group(0) @binding(2) var nearby: sampler;
struct Out {
  @builtin(position) at: vec4f,
  @location(0) uv: vec2f,
  @location(1) @interpolate(linear) shade: vec4f,
  @location(4) @interpolate(flat) number: u32,
};
@vertex fn vs(@location(0) at: vec3f, @location(1) uv: vec2f, @location(2) shade: vec4f,
    @builtin(vertex_index) n: u32) -> Out {
  return Out(vec4f(at.xy + look.offset, at.z, 1.0 + at.z), uv, shade, n / 3u);
}
@fragment fn fs(@builtin(position) p: vec4f, @builtin(front_facing) front: bool,
    @location(0) uv: vec2f, @location(1) @interpolate(linear) shade: vec4f,
    @location(4) @interpolate(flat) number: u32) -> @location(0) vec4f {
  let texel = textureSample(picture, nearby, uv);
  if texel.r < look.cut { discard; }
  let face = select(0.25, 1.0, front);
  return vec4f(texel.rgb * shade.rgb * face + look.tint.rgb * f32(number) + vec3f(0.0, 0.0, p.z * 0.1), 1.0);
}";

const SIZE: u32 = 64;
const LOOK: [f32; 8] = [0.1, 0.02, 0.05, 0.0, 0.05, -0.1, 0.2, 0.0];

/// Two triangles, one of them facing away, in xyz, uv and four bytes of shade: 24 bytes a vertex.
fn vertices() -> Vec<u8> {
    let corners: [([f32; 3], [f32; 2], [u8; 4]); 6] = [
        ([-0.9, -0.9, 0.2], [0.0, 3.0], [255, 200, 10, 255]),
        ([0.9, -0.8, 0.6], [3.0, 3.0], [20, 250, 90, 255]),
        ([0.0, 0.9, 0.4], [1.5, 0.0], [200, 20, 255, 255]),
        ([-0.7, 0.8, 0.5], [0.0, 0.0], [255, 255, 255, 255]),
        ([0.8, 0.7, 0.1], [2.0, 0.0], [90, 90, 200, 255]),
        ([0.3, -0.7, 0.3], [1.0, 2.0], [10, 255, 10, 255]),
    ];
    let mut bytes = Vec::new();
    for (at, uv, shade) in corners {
        for value in at.into_iter().chain(uv) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(shade);
    }
    bytes
}

/// 12 by 8 texels and three smaller levels.
fn picture() -> Image {
    let extent = Extent { levels: 4, ..Extent::plane(12, 8) };
    let mut image = Image::new(Format::Rgba8UnormSrgb, extent).expect("fits");
    let mut state = 7u32;
    for byte in image.bytes_mut() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    image
}

/// The picture that the command renders.
fn rendered(target: &str) -> Vec<u8> {
    let folder = Folder::new(target);
    let shader = folder.write("pair.wgsl", SHADER);
    let texels = folder.write("picture.bin", picture().bytes());
    let corners = folder.write("corners.bin", vertices());
    let look: Vec<String> = LOOK.iter().map(f32::to_string).collect();
    let look = format!("0.0=f32:{}", look.join(","));
    let texture = format!("0.1=texture:rgba8unorm-srgb:12x8:mip4:file:{texels}");
    let corners = format!("0=file:{corners}:24");
    let out = folder.path("out.png");
    let output = gpucc(
        &[
            &["render", &shader, "--target", target, "-o", &out][..],
            &["--size", "64x64", "--draw", "6", "--depth", "--clear", "0.2,0.3,0.4,1"],
            &["--vertex", &corners],
            &["--attribute", "0=0:0:float32x3", "--attribute", "1=0:12:float32x2"],
            &["--attribute", "2=0:20:unorm8x4"],
            &["--set", &look, "--set", &texture],
            &["--set", "0.2=sampler:linear,repeat"],
        ]
        .concat(),
    );
    assert!(output.status.success(), "{}", text(&output));
    pixels(&out)
}

/// Registers that are written together.
type Block = Vec<r700::StateRegister>;

/// Compiles both programs, puts everything into memory, and gives the registers that a driver would write.
fn described(target: Target, chip: r700::Chip, fetch: r700::Fetch) -> (Model, Vec<Block>) {
    let compiler = Compiler::new(target, Some(chip.name())).expect("the target is built");
    let options = Options::default();
    let parsed =
        compiler.parse(Source::Wgsl(SHADER), Choice::default(), &options).expect("it parses");
    let attribute = |location, format: &str, offset| r700::Attribute {
        location,
        format: format.into(),
        buffer: 0,
        offset,
    };
    let back = r700::Options {
        chip,
        pipeline: r700::State {
            vertex: r700::VertexState {
                attributes: vec![
                    attribute(0, "float32x3", 0),
                    attribute(1, "float32x2", 12),
                    attribute(2, "unorm8x4", 20),
                ],
                buffers: vec![r700::VertexBuffer { stride: 24, step: r700::Step::Vertex }],
                fetch,
                ..r700::VertexState::default()
            },
            ..r700::State::default()
        },
        ..r700::Options::default()
    };
    let mut model = Model::default();
    let corners = vertices();
    let vertex_buffer = Range { address: model.place(&corners), size: corners.len() as u32 };
    let look: Vec<u8> = LOOK.iter().flat_map(|v| v.to_le_bytes()).collect();
    let uniform = Range { address: model.place(&look), size: look.len() as u32 };
    // A line of constants is 256 bytes: what is behind the buffer must be memory.
    model.place(&[0; 256]);
    let constants = Range { address: model.place(&[0; 256]), size: 256 };
    let image = picture();
    let [base, mips] = driver::texture_bytes(&image);
    let texture = Texture {
        format: image.format(),
        extent: *image.extent(),
        arrayed: false,
        base: model.place(&base),
        mips: model.place(&mips),
    };
    let mut blocks = vec![
        driver::draw_block(Topology::TriangleList, SIZE, SIZE, Some(Compare::Less)),
        driver::color_block(0, 0, SIZE, SIZE).expect("small"),
        driver::depth_block(0, SIZE, SIZE).expect("small"),
    ];
    for entry in parsed.entries {
        let func = entry.func.expect("it lowers");
        let ssa = compiler.compile(&func, &options).expect("it compiles").ssa;
        let compiled = r700::compile(ssa, &back).expect("it compiles");
        let mut placement = Placement {
            code: model.place(&compiled.code),
            vertex_buffers: vec![vertex_buffer],
            driver_constants: constants,
            ..Placement::default()
        };
        let tables = compiled.described.tables.as_ref();
        let tables = tables.map_or(Vec::new(), |tables| tables.memory.to_bytes());
        placement.tables = Range { address: model.place(&tables), size: tables.len() as u32 };
        if let Some(code) = compiled.apart("fetch") {
            placement.fetch_code = model.place(code);
        }
        for binding in &compiled.described.resources {
            let resource = binding.resource.expect("compiled just now");
            match compiled.expanded.resources[resource].kind {
                ResourceKind::Texture { .. } => {
                    placement.textures.insert(resource, texture);
                }
                ResourceKind::Sampler { .. } => {
                    let sampler = Sampler::linear(Wrap::Repeat);
                    placement.samplers.insert(resource, sampler);
                }
                _ => {
                    placement.buffers.insert(resource, uniform);
                }
            }
        }
        blocks.push(driver::program_block(&compiled, &placement).expect("describable"));
    }
    model.place(&[0; 256]);
    (model, blocks)
}

/// What a driver would send to draw the picture.
fn commands(chip: r700::Chip, blocks: &[Block]) -> Vec<u32> {
    let blocks: Vec<&[r700::StateRegister]> = blocks.iter().map(Vec::as_slice).collect();
    driver::draw_stream(chip.family(), &blocks, 6, 1)
}

/// The model with the registers of commands that the kernel admits.
fn programmed(target: Target, chip: r700::Chip, fetch: r700::Fetch) -> Model {
    let (mut model, blocks) = described(target, chip, fetch);
    let stream = commands(chip, &blocks);
    let draws = admitted(chip.family(), &stream).unwrap_or_else(|refused| panic!("{refused}"));
    let [draw] = &draws[..] else { panic!("{} draws", draws.len()) };
    assert_eq!((draw.vertices, draw.instances), (6, 1));
    for (&address, &value) in &draw.registers {
        model.write(address, value);
    }
    model
}

/// A draw by what the registers say.
struct Drawer {
    model: Model,
    vertex: emu::State,
    pixel: emu::State,
    codes: [Vec<u8>; 2],
    /// For each register of the pixel program that is interpolated: the parameter that feeds it.
    links: Vec<Option<u32>>,
}

impl Drawer {
    fn new(model: Model, chip: r700::Chip) -> Drawer {
        let outputs = (model.read(0x286C4) >> 1 & 31) + 1;
        let semantic = |n: u32| model.read(0x28614 + n / 4 * 4) >> (8 * (n % 4)) & 0xFF;
        let links = (0..model.read(0x286CC) & 63)
            .map(|n| {
                let wanted = model.read(0x28644 + 4 * n) & 0xFF;
                (0..outputs).find(|&output| wanted != 0 && semantic(output) == wanted)
            })
            .collect();
        Drawer {
            vertex: model.state(chip, emu::Stage::Vertex).expect("describes something"),
            pixel: model.state(chip, emu::Stage::Pixel).expect("describes something"),
            codes: [emu::Stage::Vertex, emu::Stage::Pixel]
                .map(|stage| model.code(stage).expect("in memory")),
            links,
            model,
        }
    }

    fn varyings(&self) -> Vec<Varying> {
        (0..self.links.len() as u32)
            .map(|n| {
                let control = self.model.read(0x28644 + 4 * n);
                let bit = |at: u32| control >> at & 1 == 1;
                Varying {
                    interpolation: match (bit(10), bit(12)) {
                        (true, _) => Interpolation::Flat,
                        (false, true) => Interpolation::Linear,
                        (false, false) => Interpolation::Perspective,
                    },
                    sampling: match (bit(11), bit(18)) {
                        (true, _) => Sampling::Centroid,
                        (false, true) => Sampling::Sample,
                        (false, false) => Sampling::Center,
                    },
                }
            })
            .collect()
    }
}

impl Shade for Drawer {
    type Error = Trap;

    fn vertices(&mut self, ids: &[VertexId]) -> Result<Vec<Vertex>, Trap> {
        let ids: Vec<(u32, u32)> = ids.iter().map(|id| (id.vertex, id.instance)).collect();
        let left = emu::run_vertices(&self.codes[0], &mut self.vertex, &ids, None)?;
        let position = left.export(1, 60).expect("every vertex has a position");
        Ok((0..ids.len())
            .map(|thread| Vertex {
                position: position.values[thread].map(f32::from_bits),
                varyings: self
                    .links
                    .iter()
                    .map(|link| {
                        let export = link.and_then(|parameter| left.export(2, parameter));
                        export.map_or([0; 4], |export| export.values[thread])
                    })
                    .collect(),
                ..Vertex::default()
            })
            .collect())
    }

    fn quads(&mut self, batch: &QuadBatch) -> Result<Vec<Pixel>, Trap> {
        let mut pixels =
            PixelBatch { components: vec![4; self.links.len()], ..PixelBatch::default() };
        for (index, quad) in batch.quads.iter().enumerate() {
            pixels.covered.push(quad.covered);
            pixels.front.push(quad.front);
            for pixel in 0..4 {
                let [x, y, z, reciprocal] = quad.position[pixel];
                pixels.position.push([x, y, z, 1.0 / reciprocal]);
                for varying in 0..self.links.len() {
                    pixels.parameters.push(batch.varying(index, pixel, varying));
                }
            }
        }
        let left = emu::run_pixels(&self.codes[1], &mut self.pixel, &pixels, None)?;
        let mask = self.model.read(0x2823C) & self.model.read(0x28238);
        Ok((0..batch.quads.len() * 4)
            .map(|thread| {
                let color = left.export(0, 0).filter(|_| mask & 15 != 0);
                Pixel {
                    discarded: !left.valid[thread],
                    colors: vec![color.map(|export| export.values[thread])],
                    ..Pixel::default()
                }
            })
            .collect())
    }
}

/// The model's picture.
fn modelled(model: Model, chip: r700::Chip) -> Vec<u8> {
    let mut drawer = Drawer::new(model, chip);
    let float = |at: u32| f32::from_bits(drawer.model.read(at));
    let (scale, offset) = ([0x2843C, 0x28444].map(float), [0x28440, 0x28448].map(float));
    let mut state = draw::Draw::new(6, 1, SIZE, SIZE);
    assert_eq!(drawer.model.read(0x8958), 4, "a triangle list");
    assert_eq!(drawer.model.read(0x28810) >> 19 & 1, 1, "z from 0 to w");
    state.viewport = Viewport {
        x: offset[0] - scale[0],
        y: offset[1] + scale[1],
        width: 2.0 * scale[0],
        height: -2.0 * scale[1],
        near: float(0x28450),
        far: float(0x28450) + float(0x2844C),
    };
    state.varyings = drawer.varyings();
    let control = drawer.model.read(0x28800);
    assert_eq!(control >> 4 & 7, 1, "less");
    state.depth = (control >> 1 & 1 == 1)
        .then_some(DepthState { compare: Compare::Less, write: control >> 2 & 1 == 1 });
    let plane = |format| Image::new(format, Extent::plane(SIZE, SIZE)).expect("fits");
    let mut targets = Targets {
        colors: vec![plane(Format::Rgba8Unorm)],
        depth: Some(plane(Format::Depth32Float)),
    };
    targets.colors[0].fill([0.2f32, 0.3, 0.4, 1.0].map(f32::to_bits));
    if let Some(depth) = &mut targets.depth {
        depth.fill([1f32.to_bits(); 4]);
    }
    draw::draw(&state, &mut drawer, &mut targets).unwrap_or_else(|trap| panic!("{trap}"));
    targets.colors[0].bytes().to_vec()
}

#[test]
fn the_registers_alone_draw_the_picture_that_render_draws() {
    use r700::Fetch::{Inline, Separate};
    for (target, name, chip) in
        [(Target::R700, "r700", r700::Chip::Rv770), (Target::R600, "r600", r700::Chip::Rv670)]
    {
        let expected = rendered(name);
        let background = expected[..4].to_vec();
        let drawn = expected.chunks(4).filter(|pixel| *pixel != background).count();
        assert!(drawn > 500, "{drawn} pixels are drawn");
        for fetch in [Inline, Separate] {
            let model = programmed(target, chip, fetch);
            assert!(modelled(model, chip) == expected, "{name} {fetch:?}");
        }
    }
}

#[test]
fn a_wrong_register_draws_another_picture() {
    let chip = r700::Chip::Rv770;
    let right = programmed(Target::R700, chip, r700::Fetch::Inline);
    let expected = modelled(right.clone(), chip);
    // The semantic of the first input, its flat shading, the texture's width, the sampler's wrap, the constants' address.
    for (address, flip) in
        [(0x28644, 3), (0x28644, 1 << 10), (0x38000 + 28 * 48, 1 << 19), (0x3C000, 2), (0x28940, 1)]
    {
        let mut wrong = right.clone();
        wrong.write(address, wrong.read(address) ^ flip);
        assert!(modelled(wrong, chip) != expected, "{address:#x} ^ {flip:#x}");
    }
}

#[test]
fn commands_that_the_kernel_refuses_or_chips_hang_on_are_not_admitted() {
    let r600 = r700::Chip::Rv670;
    let refused = |chip: r700::Chip, stream: &[u32]| {
        admitted(chip.family(), stream).expect_err("must be refused").why
    };
    let (_, blocks) = described(Target::R600, r600, r700::Fetch::Inline);
    let stream = commands(r600, &blocks);
    let says = |stream: &[u32], part: &str| {
        let why = refused(r600, stream);
        assert!(why.contains(part), "{why} for {part}");
    };
    // Each removes packets of an opcode: the start, the update of bases, the flush.
    for (opcode, part) in
        [(0x24, "START_3D_CMDBUF"), (0x73, "SURFACE_BASE_UPDATE"), (0x46, "flush of pixels")]
    {
        says(&without(&stream, opcode), part);
    }
    // The commands twice are two draws, each with its flush.
    assert_eq!(admitted(r600.family(), &[&stream[..], &stream].concat()).map(|d| d.len()), Ok(2));
    says(&without(&stream, 0x10), "no relocation");
    assert!(refused(r700::Chip::Rv770, &stream).contains("has none"));
    says(&stream[..stream.len() - 1], "more than are left");
    // A block is left out: the colours' memory, the depth's, the pixel program's.
    for (block, part) in [(1, "target 0"), (2, "depth is tested"), (4, "has no place")] {
        let mut fewer = blocks.clone();
        fewer.remove(block);
        says(&commands(r600, &fewer), part);
    }
    // A register is changed, or added.
    let with = |address: u32, value: u32| {
        let mut changed = blocks.clone();
        let mask = u32::MAX;
        let register =
            r700::StateRegister { name: "".into(), address, value, mask, fields: Vec::new() };
        changed.push(vec![register]);
        commands(r600, &changed)
    };
    // The texture's type, the colours' format, depth in rows, tiling of all memory.
    let texture = 0x38000 + 28 * 48 + 24;
    says(&with(texture, 1 << 30), "type 1");
    says(&with(0x280A0, 1 << 8), "no format");
    says(&with(0x28010, 6 | 1 << 15), "lies in rows");
    says(&with(0x98F0, 0), "is the kernel's");
    // Part of a resource, and constants that no program reads from registers.
    says(&[3 << 30 | 1 << 16 | 0x6D << 8, 0, 0], "registers 0x38000");
    says(&[3 << 30 | 1 << 16 | 0x6A << 8, 0, 0], "come from caches");
    says(&[3 << 30 | 0x2B << 8, 0], "none of a draw's");
    says(&[0], "type 0");
}

/// Commands without the packets of an opcode.
fn without(stream: &[u32], opcode: u32) -> Vec<u32> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(&header) = stream.get(at) {
        let end = at + 2 + (header >> 16 & 0x3FFF) as usize;
        if header >> 8 & 0xFF != opcode {
            out.extend_from_slice(&stream[at..end]);
        }
        at = end;
    }
    out
}

#[test]
fn the_kernel_admits_every_register_that_a_public_driver_writes() {
    let Some(rows) = shared::text_or_skip("peers/state-r700.jsonl") else { return };
    let mut checked = 0;
    for row in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(row).expect("JSON");
        for (name, register) in row["registers"].as_object().expect("registers") {
            let hex = |field: &str| {
                let text = register[field].as_str().expect("a number");
                u32::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal")
            };
            let register = r700::StateRegister {
                name: name.clone().into(),
                address: hex("addr"),
                value: hex("value"),
                mask: u32::MAX,
                fields: Vec::new(),
            };
            let stream = driver::draw_stream(r700::Family::R700, &[&[register]], 0, 1);
            let why = admitted(r700::Family::R700, &stream).expect_err("there is no program").why;
            assert!(why.contains("has no place"), "{name}: {why}");
            checked += 1;
        }
    }
    assert!(checked > 10_000, "{checked} registers");
}

#[test]
fn descriptors_read_back_as_what_they_describe() {
    let mut formats = 0;
    for &format in Format::ALL {
        for (dim, arrayed, extent) in [
            (Dim::D1, false, Extent { height: 1, ..Extent::plane(10, 1) }),
            (Dim::D2, false, Extent { levels: 3, ..Extent::plane(10, 6) }),
            (Dim::D2, true, Extent { layers: 3, levels: 2, ..Extent::plane(5, 4) }),
            (Dim::D3, false, Extent { depth: 4, levels: 3, ..Extent::plane(5, 4) }),
            (Dim::Cube, false, Extent { layers: 12, ..Extent::plane(4, 4) }),
        ] {
            let extent = Extent { dim, ..extent };
            let mut image = Image::new(format, extent).expect("fits");
            for (n, byte) in image.bytes_mut().iter_mut().enumerate() {
                *byte = (n * 7 + 3) as u8;
            }
            let mut model = Model::default();
            model.place(&[0; 256]);
            let [base, mips] = driver::texture_bytes(&image);
            let texture = Texture {
                format,
                extent,
                arrayed,
                base: model.place(&base),
                mips: model.place(&mips),
            };
            let Ok(words) = driver::texture_words(&texture, 5) else {
                assert!(format.name().starts_with("depth"), "{}", format.name());
                continue;
            };
            formats += 1;
            for register in words {
                model.write(register.address, register.value);
            }
            let state =
                model.state(r700::Chip::Rv770, emu::Stage::Pixel).expect("describes something");
            let Some(emu::FetchResource::Texture(found)) = state.resources.get(&5) else {
                panic!("{} {dim:?}", format.name());
            };
            assert_eq!(found.extent(), image.extent());
            assert!(found.bytes() == image.bytes(), "{} {dim:?}", format.name());
            // Formats of the same bits and one reading share their words: depth and stencil are colours here.
            assert_eq!(found.format().kind(), format.kind());
        }
    }
    assert!(formats > 150);
    let sampler = Sampler {
        wrap: [Wrap::Mirror, Wrap::Border, Wrap::MirrorOnce],
        lod_min: 0.5,
        lod_max: 9.0,
        lod_bias: -1.25,
        compare: Some(Compare::GreaterEqual),
        border: [1, 2, 3, 4],
        ..Sampler::linear(Wrap::Clamp)
    };
    for (of, _) in driver::SamplerUse::ALL {
        let mut model = Model::default();
        let words = driver::sampler_words(&sampler, 18 + 3, 0xA600, of);
        for register in words.expect("describable") {
            model.write(register.address, register.value);
        }
        let state =
            model.state(r700::Chip::Rv770, emu::Stage::Vertex).expect("describes something");
        let expected = if of.texels { sampler.of_texels() } else { sampler };
        assert_eq!(state.samplers.get(&3), Some(&expected));
        assert_eq!(state.array_samplers.contains(&3), of.layered);
    }
}

#[test]
fn resources_have_the_types_that_kernels_let_through() {
    let write = |words: Vec<r700::StateRegister>| {
        let mut model = Model::default();
        model.place(&[0; 256]);
        for register in words {
            model.write(register.address, register.value);
        }
        model
    };
    // A buffer without bytes shows a dword.
    for (size, shown) in [(0, 4), (1, 4), (16, 16)] {
        let words = driver::buffer_words(Range { address: 0, size }, 4, 7).expect("describable");
        let model = write(words);
        let state = model.state(r700::Chip::Rv770, emu::Stage::Pixel).expect("admitted");
        let Some(emu::FetchResource::Buffer(buffer)) = state.resources.get(&7) else {
            panic!("no buffer of {size} bytes");
        };
        assert_eq!(buffer.source, emu::FetchSource::Bytes(vec![0; shown]));
        // SQ_VTX_CONSTANT_WORD6: TYPE.
        for wrong in [0, 1] {
            let mut model = model.clone();
            model.write(0x38000 + 28 * 7 + 24, wrong << 30);
            let refused = model.state(r700::Chip::Rv770, emu::Stage::Pixel);
            assert_eq!(refused.err(), Some(format!("resource 7 has TYPE {wrong}")));
        }
    }
}

/// The guide's registers by their names without numbers: address, and the low bit of each field.
type Guide = BTreeMap<String, (u32, BTreeMap<String, u32>)>;

fn stem(name: &str) -> String {
    // The guide misprints word 5. Digest 3.71.
    let name = name.replace("RESOURCE_WORDS_0", "RESOURCE_WORD5_0").replace(' ', "_");
    let name = match (name.find('['), name.find(']')) {
        (Some(from), Some(to)) => name[..from].trim_end_matches('_').to_owned() + &name[to + 1..],
        _ => name,
    };
    let parts: Vec<&str> =
        name.split('_').filter(|part| !part.bytes().all(|b| b.is_ascii_digit())).collect();
    // TD_PS_SAMPLER3_BORDER_RED
    parts
        .iter()
        .map(|part| match part.strip_prefix("SAMPLER") {
            Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => "SAMPLER",
            _ => part,
        })
        .collect::<Vec<_>>()
        .join("_")
}

/// The text of the document of the 3D registers; where it is absent, the test says that it skips.
fn registers() -> Option<String> {
    let text = shared::shared().and_then(|root| {
        let seeds = std::fs::read_dir(root.join("seeds")).ok()?;
        let paths = seeds.filter_map(|entry| Some(entry.ok()?.path()));
        let path = paths.into_iter().find(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with("003_")
        })?;
        std::fs::read_to_string(path).ok()
    });
    if text.is_none() {
        shared::skip("seeds/003_*");
    }
    text
}

fn guide() -> Option<Guide> {
    let text = registers()?.replace('\\', "").replace('•', "·");
    let mut guide = Guide::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        if let Some((head, tail)) = line.split_once(" · ") {
            let head = head.trim_end_matches("</b>");
            let name = head.rsplit([':', '>', '*']).next().unwrap_or_default();
            if let Some((_, address)) = tail.split_once("GpuF0MMReg:0x") {
                let digits: String = address.chars().take_while(char::is_ascii_hexdigit).collect();
                let address = u32::from_str_radix(&digits, 16).expect("hexadecimal");
                let exact = !name.contains('[') && !name.ends_with("_0");
                let name = if exact { name.to_owned() } else { stem(name) };
                guide.entry(name.clone()).or_insert((address, BTreeMap::new()));
                current = Some(name);
                continue;
            }
        }
        let mut columns = line.split('\t');
        let (Some(field), Some(bits), Some(name)) = (columns.next(), columns.next(), &current)
        else {
            continue;
        };
        let low = bits.rsplit(':').next().and_then(|low| low.parse().ok());
        let named =
            field.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        if let (Some(low), true, Some(register)) = (low, named, guide.get_mut(name)) {
            register.1.entry(field.to_owned()).or_insert(low);
        }
    }
    Some(guide)
}

#[test]
fn every_register_stands_where_the_guide_says() {
    let Some(guide) = guide() else { return };
    let mut checked = std::collections::BTreeSet::new();
    let mut check = |register: &r700::StateRegister| {
        // Digest 4.4: the guide lacks it.
        if register.name == "CB_SHADER_CONTROL" {
            return;
        }
        let exact = guide.contains_key(&*register.name);
        let name = if exact { register.name.clone().into_owned() } else { stem(&register.name) };
        let Some((address, fields)) = guide.get(&name) else {
            panic!("the guide has no {name} ({})", register.name);
        };
        let stride = match name.as_str() {
            _ if name.starts_with("SQ_TEX_RESOURCE") || name.starts_with("SQ_VTX_CONSTANT") => 28,
            _ if name.starts_with("SQ_TEX_SAMPLER") => 12,
            _ if name.starts_with("TD_") => 16,
            _ => 4,
        };
        let number = register
            .name
            .split('_')
            .rev()
            .find_map(|part| part.trim_start_matches("SAMPLER").parse::<u32>().ok());
        let numbered = register.name.len() != name.len();
        let expected = address + if numbered { stride * number.unwrap_or(0) } else { 0 };
        assert_eq!(register.address, expected, "{}", register.name);
        let mut value = 0;
        for (field, part) in &register.fields {
            // ERRATA.md, E88: the guide lacks it.
            if field == "DX_RASTERIZATION_KILL" {
                value |= part << 22;
                continue;
            }
            let Some(low) = fields.get(field.as_ref()) else {
                panic!("{} has no {field}: {fields:?}", register.name);
            };
            value |= part << low;
        }
        assert_eq!(value, register.value, "{}", register.name);
        checked.insert(name);
    };
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples");
    for (target, chip) in [(Target::R700, r700::Chip::Rv770), (Target::R600, r700::Chip::R600)] {
        let compiler = Compiler::new(target, Some(chip.name())).expect("the target is built");
        let options = Options::default();
        for file in std::fs::read_dir(samples).expect("samples") {
            let path = file.expect("readable").path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let parsed = compiler.parse(Source::Wgsl(&text), Choice::default(), &options);
            for entry in parsed.into_iter().flat_map(|parsed| parsed.entries) {
                let Ok(func) = entry.func else { continue };
                let Ok(compiled) = compiler.compile(&func, &options) else {
                    continue;
                };
                let back = r700::Options { chip, ..r700::Options::default() };
                let code = r700::compile(compiled.ssa, &back).expect("it compiled before");
                let block = driver::program_block(&code, &Placement::default());
                block.expect("describable").iter().for_each(&mut check);
            }
        }
    }
    let range = Range { address: 0x12_3456_7800, size: 100 };
    let texture = Texture {
        format: Format::Rgba16Snorm,
        extent: Extent { layers: 3, ..Extent::plane(30, 20) },
        arrayed: true,
        base: 0x4500,
        mips: 0x8900,
    };
    let sampler = Sampler { border: [1, 2, 3, 4], ..Sampler::linear(Wrap::Mirror) };
    driver::buffer_words(range, 12, 7).expect("fits").iter().for_each(&mut check);
    driver::texture_words(&texture, 9).expect("fits").iter().for_each(&mut check);
    let arrays = driver::SamplerUse { layered: true, texels: false };
    driver::sampler_words(&sampler, 4, 0xA400, arrays).expect("fits").iter().for_each(&mut check);
    driver::draw_block(Topology::PointList, 8, 8, None).iter().for_each(&mut check);
    assert!(checked.len() > 50, "{checked:?}");
}
