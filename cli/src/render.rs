//! `gpucc render`: a vertex and a fragment entry point, to a picture.

use super::args::{RenderArgs, TopologyArg};
use super::bundle;
use super::console::Console;
use super::data::{self, Setting, Source};
use super::files::Outputs;
use super::input::{self, Choice, Input};
use gpucc::execute::MOST_INVOCATIONS;
use gpucc::execute::shade::{self, Draw, Program};
use gpucc::pipeline::{Attribute, Step, VertexBuffer, VertexState};
use gpucc::{Compiler, Failure, Func, Options, Stage};
use gpucc_emu::draw::{self, DepthState, Targets, Topology};
use gpucc_emu::format::Format;
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::Compare;

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
    let (vs, fs) = vs.and_then(|vs| Ok((vs, fs?))).map_err(|failure| reported(failure, &input))?;
    let picture = render(args, &compiler, [&vs, &fs], &settings, &buffers, &options, &input)
        .map_err(|failure| reported(failure, &input))?;
    let mut outputs = Outputs::default();
    outputs.keep(&args.file);
    outputs.put(Some(&args.output), picture, true);
    outputs.commit()
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
        let Source::Bytes(bytes) = Source::parse(source)? else {
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
    [vs, fs]: [&Func; 2],
    settings: &[Setting],
    buffers: &[Vec<u8>],
    options: &Options,
    input: &Input,
) -> Result<Vec<u8>, Failure> {
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
    let mut vertex = compiler.executor(&vs_code, options, &input.text);
    let mut fragment = compiler.executor(&fs_code, options, &input.text);
    let mut pair = Draw::new(
        Program {
            func: &vs_code.ssa,
            executor: &mut vertex,
            bindings: data::bind(vs, &of(settings, vs))?,
            divided: vs_code.program.as_ref().is_some_and(|p| p.divides_positions()),
        },
        Program {
            func: &fs_code.ssa,
            executor: &mut fragment,
            bindings: data::bind(fs, &of(settings, fs))?,
            divided: false,
        },
        buffers,
    )?;
    if let Some(steps) = args.max_steps {
        pair.steps = [steps; 2];
    }
    for setting in settings {
        if setting.place.find(vs).is_err() {
            setting.place.find(fs)?;
        }
    }
    let (width, height) = (args.size.width, args.size.height);
    let count = pair.color_targets().max(1);
    let plane = |format| {
        Image::new(format, Extent::plane(width, height))
            .map_err(|error| Failure::usage(error.to_string()))
    };
    let mut targets = Targets {
        colors: (0..count).map(|_| plane(Format::Rgba8Unorm)).collect::<Result<_, _>>()?,
        depth: None,
    };
    targets.colors[0].fill(args.clear.0.map(f32::to_bits));
    let mut state = draw::Draw::new(args.draw.vertices, args.draw.instances, width, height);
    state.topology = match args.topology {
        TopologyArg::TriangleList => Topology::TriangleList,
        TopologyArg::TriangleStrip => Topology::TriangleStrip,
        TopologyArg::LineList => Topology::LineList,
        TopologyArg::PointList => Topology::PointList,
    };
    state.varyings = pair.varyings();
    if args.depth {
        let mut depth = plane(Format::Depth32Float)?;
        depth.fill([1f32.to_bits(); 4]);
        targets.depth = Some(depth);
        state.depth = Some(DepthState { compare: Compare::Less, write: true });
    }
    draw::draw(&state, &mut pair, &mut targets).map_err(gpucc::execute::Stop::into_failure)?;
    debug_assert!(shade::color_targets(&fs_code.ssa) <= targets.colors.len());
    png_bytes(width, height, targets.colors[0].bytes())
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
