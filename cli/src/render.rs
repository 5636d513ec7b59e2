//! `gpucc render`: a vertex and a fragment entry point, and a geometry entry point between them where one is named, to a
//! picture.

use super::args::{RenderArgs, TopologyArg};
use super::bundle;
use super::console::Console;
use super::data::{self, Setting, Source};
use super::files::Outputs;
use super::input::{self, Choice, Input};
use gpucc::execute::MOST_INVOCATIONS;
use gpucc::execute::shade::{self, Draw, Program};
use gpucc::pipeline::{Attribute, ColorTarget, FragmentState, Step, VertexBuffer, VertexState};
use gpucc::{Compiler, Failure, Func, Options, Stage};
use gpucc_emu::draw::{self, DepthState, TargetState, Targets, Topology};
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::Compare;
use std::path::Path;

/// Draws.
pub fn run(args: &RenderArgs, console: &mut Console) -> Result<(), Failure> {
    let mut options = input::options(&args.source, &args.code)?;
    let vertices = u64::from(args.draw.vertices) * u64::from(args.draw.instances);
    if vertices > MOST_INVOCATIONS {
        return Err(Failure::usage(format!(
            "--draw: {vertices} vertices are too many to be emulated: at most {MOST_INVOCATIONS}"
        )));
    }
    let (target, chip) = super::target(&args.target)?;
    let settings =
        args.set.iter().map(|text| Setting::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let buffers = vertex_state(args, &mut options)?;
    let compiler = Compiler::new(target, chip)?;
    let input = Input::read(&args.file, args.source.lang)?;
    let parsed = input::parse(&compiler, &input, Choice::default(), &options, console)?;
    let [vs, fs] = [(&args.vs, Stage::Vertex), (&args.fs, Stage::Fragment)]
        .map(|(name, stage)| input::one(&parsed, name.as_deref(), stage));
    let gs = args.gs.as_deref().map(|name| input::one(&parsed, Some(name), Stage::Geometry));
    let programs = vs.and_then(|vs| Ok((vs, gs.transpose()?, fs?)));
    let (vs, gs, fs) = programs.map_err(|failure| reported(failure, &input))?;
    let programs = (&vs, gs.as_ref(), &fs);
    let dumps = args.dump.iter().map(|text| dump(text)).collect::<Result<Vec<_>, _>>()?;
    let colors = render(args, &compiler, programs, &settings, &buffers, &options, &input)
        .map_err(|failure| reported(failure, &input))?;
    let mut outputs = Outputs::default();
    outputs.keep(&args.file);
    for (target, path) in dumps {
        let image = colors.get(target).ok_or_else(|| {
            let most = colors.len() - 1;
            Failure::usage(format!("--dump {target}: the targets are 0 to {most}"))
        })?;
        outputs.put(Some(Path::new(path)), image.bytes().to_vec(), true);
    }
    let picture = picture(&colors[0]);
    outputs.put(Some(&args.output), png_bytes(args.size.width, args.size.height, &picture)?, true);
    outputs.commit()
}

/// A target and the file that its texels go to.
fn dump(text: &str) -> Result<(usize, &str), Failure> {
    text.split_once('=')
        .and_then(|(target, path)| Some((target.parse().ok()?, path)))
        .filter(|&(_, path)| !path.is_empty())
        .ok_or_else(|| Failure::usage(format!("--dump {text}: write TARGET=PATH, as in 0=out.bin")))
}

/// RGBA bytes to look at: floats clamped to 0 to 1, integers to 0 to 255; what is stored in sRGB stays so.
fn picture(image: &Image) -> Vec<u8> {
    let format = image.format();
    let shown = match format.kind() {
        Kind::Uint | Kind::Sint => Format::Rgba8Uint,
        Kind::Srgb => Format::Rgba8UnormSrgb,
        _ => Format::Rgba8Unorm,
    };
    let texels = image.bytes().chunks_exact(format.bytes() as usize);
    let mut bytes = vec![0; texels.len() * 4];
    for (texel, out) in texels.zip(bytes.chunks_exact_mut(4)) {
        let mut components = format.decode(texel);
        if format.kind() == Kind::Sint {
            components = components.map(|component| (component as i32).max(0) as u32);
        }
        if format.kind().is_integer() && format.components() < 4 {
            components[3] = 255;
        }
        shown.encode(components, out);
    }
    bytes
}

/// For our own bugs: with the file to report.
fn reported(mut failure: Failure, input: &Input) -> Failure {
    bundle::attach(&mut failure, &input.text);
    failure
}

/// `--vertex` and `--attribute` go into the pipeline; the bytes of the buffers come back.
fn vertex_state(args: &RenderArgs, options: &mut Options) -> Result<Vec<Vec<u8>>, Failure> {
    let mut buffers: Vec<Vec<u8>> = Vec::new();
    let mut state = options.pipeline.vertex.clone().unwrap_or_default();
    for text in &args.vertex {
        let bad = || {
            Failure::usage(format!(
                "--vertex {text}: write SLOT=SOURCE:STRIDE or SLOT=SOURCE:STRIDE:instance"
            ))
        };
        let (slot, rest) = text.split_once('=').ok_or_else(bad)?;
        let slot: usize = slot.parse().ok().filter(|&slot| slot < 32).ok_or_else(bad)?;
        // A source holds colons of its own, so the stride is found from the right.
        let (rest, step) = match rest.strip_suffix(":instance") {
            Some(rest) => (rest, Step::Instance),
            None => (rest.strip_suffix(":vertex").unwrap_or(rest), Step::Vertex),
        };
        let (source, stride) = rest.rsplit_once(':').ok_or_else(bad)?;
        let stride: u32 = stride.parse().ok().filter(|&stride| stride <= 2048).ok_or_else(bad)?;
        let Source::Bytes { bytes, .. } = Source::parse(source)? else {
            return Err(Failure::usage(format!("--vertex {text}: a vertex buffer holds numbers")));
        };
        while buffers.len() <= slot {
            buffers.push(Vec::new());
        }
        while state.buffers.len() <= slot {
            state.buffers.push(VertexBuffer { stride: 0, step: Step::Vertex });
        }
        buffers[slot] = bytes;
        state.buffers[slot] = VertexBuffer { stride, step };
    }
    for text in &args.attribute {
        let bad = || {
            Failure::usage(format!(
                "--attribute {text}: write LOCATION=SLOT:OFFSET:FORMAT, as in 0=0:12:float32x3"
            ))
        };
        let (location, rest) = text.split_once('=').ok_or_else(bad)?;
        let mut parts = rest.splitn(3, ':');
        let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok());
        let (slot, offset) = (number().ok_or_else(bad)?, number().ok_or_else(bad)?);
        let format = parts.next().ok_or_else(bad)?;
        if gpucc_emu::format::VertexFormat::from_name(format).is_none() {
            return Err(Failure::usage(format!("`{format}` is not a WebGPU vertex format")));
        }
        if slot as usize >= state.buffers.len() {
            return Err(Failure::usage(format!(
                "--attribute {text}: there is no --vertex {slot}=..."
            )));
        }
        let location = location.parse().map_err(|_| bad())?;
        state.attributes.retain(|attribute| attribute.location != location);
        state.attributes.push(Attribute {
            location,
            format: format.to_owned(),
            buffer: slot,
            offset,
        });
    }
    options.pipeline.vertex = Some(state).filter(|state| *state != VertexState::default());
    Ok(buffers)
}

fn render(
    args: &RenderArgs,
    compiler: &Compiler,
    (vs, gs, fs): (&Func, Option<&Func>, &Func),
    settings: &[Setting],
    buffers: &[Vec<u8>],
    options: &Options,
    input: &Input,
) -> Result<Vec<Image>, Failure> {
    for data in vs.inputs.values() {
        if let gpucc_ir::ssa::InputKind::Location { location, .. } = data.kind {
            let known = options.pipeline.vertex.as_ref().is_some_and(|state| {
                state.attributes.iter().any(|attribute| attribute.location == location)
            });
            if !known {
                return Err(Failure::usage(format!(
                    "vertex entry point '{}' reads location {location} ({}): give it with --vertex \
                     and --attribute",
                    vs.name, data.name
                )));
            }
        }
    }
    let (vs_code, fs_code) = (compiler.compile(vs, options)?, compiler.compile(fs, options)?);
    let gs_code = gs.map(|gs| compiler.compile(gs, options)).transpose()?;
    let mut vertex = compiler.executor(&vs_code, options, &input.text);
    let mut geometry = gs_code.as_ref().map(|code| compiler.executor(code, options, &input.text));
    let mut fragment = compiler.executor(&fs_code, options, &input.text);
    let between = match (gs, &gs_code, &mut geometry) {
        (Some(gs), Some(code), Some(geometry)) => {
            Some(Program::new(code, geometry, data::bind(gs, &of(settings, gs))?))
        }
        _ => None,
    };
    let mut linked = Draw::through(
        Program::new(&vs_code, &mut vertex, data::bind(vs, &of(settings, vs))?),
        between,
        Program::new(&fs_code, &mut fragment, data::bind(fs, &of(settings, fs))?),
        buffers,
    )?;
    if let Some(steps) = args.max_steps {
        linked.steps = [steps; 2];
        linked.geometry_steps = steps;
    }
    for setting in settings {
        // The fragment program's word counts where no program has the binding.
        let mut front = std::iter::once(vs).chain(gs);
        if front.all(|func| setting.place.find(func).is_err()) {
            setting.place.find(fs)?;
        }
    }
    let (width, height) = (args.size.width, args.size.height);
    let of_samples = |format, samples| {
        Image::new(format, Extent { samples, ..Extent::plane(width, height) })
            .map_err(|error| Failure::usage(error.to_string()))
    };
    let fragment = options.pipeline.fragment.clone().unwrap_or_else(|| FragmentState {
        targets: vec![Some(plain_target()); linked.color_targets().max(1)],
        ..FragmentState::default()
    });
    if fragment.alpha_to_coverage {
        return Err(Failure::not_yet("samples that alpha covers", "render"));
    }
    let samples = fragment.samples.unwrap_or(1);
    let plane = |format| of_samples(format, samples);
    let mut targets = Targets::default();
    let mut state = draw::Draw::new(args.draw.vertices, args.draw.instances, width, height);
    let count = fragment.targets.len().max(linked.color_targets()).max(1);
    for number in 0..count {
        let target = fragment.targets.get(number).and_then(Option::as_ref);
        let format = target.and_then(|target| Format::from_name(&target.format));
        targets.colors.push(plane(format.unwrap_or(Format::Rgba8Unorm))?);
        state.targets.push(TargetState::of(target));
    }
    let first = &mut targets.colors[0];
    first.fill(args.clear.0.map(|value| match first.format().kind() {
        Kind::Uint => value as u32,
        Kind::Sint => value as i32 as u32,
        _ => value.to_bits(),
    }));
    state.topology = match args.topology {
        TopologyArg::TriangleList => Topology::TriangleList,
        TopologyArg::TriangleStrip => Topology::TriangleStrip,
        TopologyArg::LineList => Topology::LineList,
        TopologyArg::LineStrip => Topology::LineStrip,
        TopologyArg::PointList => Topology::PointList,
        TopologyArg::LineListAdjacency => Topology::LineListAdjacency,
        TopologyArg::LineStripAdjacency => Topology::LineStripAdjacency,
        TopologyArg::TriangleListAdjacency => Topology::TriangleListAdjacency,
        TopologyArg::TriangleStripAdjacency => Topology::TriangleStripAdjacency,
    };
    state.varyings = linked.varyings();
    state.unrestricted_depth = fragment.unrestricted_depth;
    if args.depth {
        let name = fragment.depth_stencil.as_deref().unwrap_or("depth32float");
        let format =
            Format::from_name(name).filter(|format| format.is_depth()).ok_or_else(|| {
                Failure::usage(format!("--depth: the pipeline's `{name}` holds no depth"))
            })?;
        let mut depth = plane(format)?;
        depth.fill([1f32.to_bits(); 4]);
        targets.depth = Some(depth);
        state.depth = Some(DepthState { compare: Compare::Less, write: true });
    }
    let drawer = match (&vs_code.program, &fs_code.program) {
        (Some(vs), Some(fs)) => {
            let gs = gs_code.as_ref().and_then(|code| code.program.as_ref());
            compiler.drawer(vs, gs, fs, options)?
        }
        _ => None,
    };
    linked.run(drawer, &state, &mut targets, args.max_steps)?;
    debug_assert!(shade::color_targets(&fs_code.ssa) <= targets.colors.len());
    if samples > 1 {
        for image in &mut targets.colors {
            let mut means = of_samples(image.format(), 1)?;
            means.resolve(image);
            *image = means;
        }
    }
    Ok(targets.colors)
}

/// The target of a location where no pipeline says another.
fn plain_target() -> ColorTarget {
    ColorTarget {
        format: Format::Rgba8Unorm.name().to_owned(),
        write_mask: ColorTarget::ALL,
        blend: None,
    }
}

/// Settings that an entry point uses.
fn of(settings: &[Setting], func: &Func) -> Vec<Setting> {
    settings.iter().filter(|setting| setting.place.find(func).is_ok()).cloned().collect()
}

/// An RGBA picture as PNG.
fn png_bytes(width: u32, height: u32, rgba: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(rgba))
        .map_err(|error| Failure::usage(format!("cannot make a picture: {error}")))?;
    Ok(bytes)
}
