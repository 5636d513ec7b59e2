//! What a script says, done step by step.

use super::{
    Attached, Binding, Buffer, Check, Code, Pipeline, Relation, Script, Shader, Step, Texels,
    Values, formats, line,
};
use crate::cts::FileResult;
use gpucc::execute::Stop;
use gpucc::{Choice, Compiler, Failure, Func, Options, Source, SourceText};
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image, Texel};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Dim, Resource, ResourceKind};
use indexmap::IndexMap;
use rspirv::binary::Assemble;
use rspirv::spirv::{AddressingModel, Capability, ExecutionModel, FunctionControl, MemoryModel};
use std::io::Write;
use std::process::{Command, Stdio};

/// A shader of a pipeline as the machine runs it.
pub struct Compiled {
    pub func: Func,
    pub compiled: gpucc::Compiled,
    pub options: Options,
    pub source: SourceText,
}

/// The state of a script between its steps.
pub struct Running<'s> {
    pub compiler: &'s Compiler,
    pub script: &'s Script,
    /// What every name stands for: a buffer or an image.
    pub held: IndexMap<&'s str, Bound>,
    /// The shaders of the pipelines that ran, by name, and whether rectangles are drawn.
    pub compiled: IndexMap<(&'s str, bool), Vec<Compiled>>,
}

/// Does a script's steps in order, and counts what must hold. A step that cannot be done ends it.
pub fn run(compiler: &Compiler, script: &Script, result: &mut FileResult) {
    let checks = script.steps.iter().filter(|step| matches!(step, Step::Expect(_)));
    result.cases = checks.count();
    if let Err(failure) = steps(compiler, script, result) {
        result.refused = Some((failure.exit_code(), failure.summary().to_owned()));
    }
}

/// What the compiler says to a shader of another stage.
fn asked(compiler: &Compiler, stage: ExecutionModel) -> Result<(), Failure> {
    let mut module = rspirv::dr::Builder::new();
    module.set_version(1, 4);
    module.capability(Capability::Shader);
    module.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let unwritten = |error: rspirv::dr::Error| Failure::usage(error.to_string());
    let void = module.type_void();
    let ty = module.type_function(void, []);
    let main = module.begin_function(void, None, FunctionControl::NONE, ty).map_err(unwritten)?;
    module.begin_block(None).map_err(unwritten)?;
    module.ret().map_err(unwritten)?;
    module.end_function().map_err(unwritten)?;
    module.entry_point(stage, main, "main", []);
    let words = module.module().assemble();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let options = Options::default();
    let parsed = compiler.parse(Source::SpirV(&bytes), Choice::default(), &options)?;
    parsed.entries.into_iter().try_for_each(|entry| entry.func.map(drop))
}

fn steps(compiler: &Compiler, script: &Script, result: &mut FileResult) -> Result<(), Failure> {
    if let Some(stage) = script.other_stage {
        return asked(compiler, stage);
    }
    let held = held(script)?;
    let mut running = Running { compiler, script, held, compiled: IndexMap::new() };
    let mut clears: IndexMap<&str, ([f64; 4], f32)> = IndexMap::new();
    let cleared = ([0.0; 4], 1.0);
    for step in &script.steps {
        match step {
            Step::Dispatch { pipeline, groups } => running.dispatch(pipeline, *groups)?,
            Step::Draw { pipeline, shape } => running.draw(pipeline, *shape)?,
            Step::ClearColor { pipeline, color } => {
                clears.entry(pipeline).or_insert(cleared).0 = *color;
            }
            Step::ClearDepth { pipeline, depth } => {
                clears.entry(pipeline).or_insert(cleared).1 = *depth;
            }
            Step::Clear(pipeline) => {
                let values = clears.get(pipeline.as_str()).copied();
                running.clear(pipeline, values.unwrap_or(cleared))?;
            }
            Step::Store { buffer, at, bytes } => {
                if let Some(Bound::Buffer(held)) = running.held.get_mut(buffer.as_str()) {
                    held[*at..at + bytes.len()].copy_from_slice(bytes);
                }
            }
            Step::Expect(check) => match running.wrong(check)? {
                None => result.right += 1,
                Some(why) => {
                    result.first_wrong.get_or_insert(why);
                }
            },
        }
    }
    Ok(())
}

/// Steps that a dispatch may take: some have many thousand work-groups.
const STEPS: u64 = 1 << 28;

/// The size of a framebuffer for which a script has none.
pub const USUAL_SIZE: [u32; 2] = [250, 250];

/// What every name of a script stands for in the beginning.
fn held(script: &Script) -> Result<IndexMap<&str, Bound>, Failure> {
    let mut held = IndexMap::new();
    for (name, buffer) in &script.buffers {
        let bound = match buffer {
            Buffer::Values { bytes, .. } => Bound::Buffer(bytes.clone()),
            Buffer::Image { format, size, levels, samples, bytes, .. } => {
                let of_pipeline = || script.pipelines.values().find_map(|all| all.size_of(name));
                let extent = size.unwrap_or_else(|| {
                    let [width, height] = of_pipeline().unwrap_or(USUAL_SIZE);
                    Extent::plane(width, height)
                });
                let extent = Extent { levels: *levels, samples: *samples, ..extent };
                if *samples > 16 {
                    return Err(Failure::not_yet("pixels of more than 16 samples", "scripts"));
                }
                let image = Image::new(*format, extent);
                let mut image = image.map_err(|error| Failure::usage(error.to_string()))?;
                if let Some(bytes) = bytes {
                    of_one_sample(&image)?;
                    overwrite(image.level_bytes_mut(0), bytes);
                }
                Bound::Image(image)
            }
        };
        held.insert(name.as_str(), bound);
    }
    Ok(held)
}

impl Pipeline {
    /// The size that an image needs of which this pipeline draws to a level.
    fn size_of(&self, image: &str) -> Option<[u32; 2]> {
        let level = self.colors.iter().find(|color| color.image == image).map(|color| color.level);
        let own = |name: &String| name == image;
        let whole = self.depth_stencil.iter().chain(&self.resolves).any(own);
        let level = level.or(whole.then_some(0))?;
        let scale = 1u32.checked_shl(level)?;
        Some(self.size.unwrap_or(USUAL_SIZE).map(|size| size.saturating_mul(scale)))
    }
}

impl<'s> Running<'s> {
    pub fn pipeline(&self, name: &str) -> Result<&'s Pipeline, Failure> {
        self.script.pipelines.get(name).ok_or_else(|| missing("pipeline", name))
    }

    fn dispatch(&mut self, name: &'s str, groups: [u32; 3]) -> Result<(), Failure> {
        let pipeline = self.pipeline(name)?;
        self.ready(name, false, &Options::default())?;
        let one = self.compiled[&(name, false)].first();
        let one = one.ok_or_else(|| missing("shader of the pipeline", name))?;
        let mut bindings = self.bindings(&one.func, pipeline)?;
        let mut executor = self.compiler.executor(&one.compiled, &one.options, &one.source);
        executor.set_steps(STEPS);
        executor.dispatch(&mut bindings, groups).map_err(Stop::into_failure)?;
        keep(&mut self.held, &one.func, pipeline, &bindings);
        Ok(())
    }

    /// Compiles the shaders of a pipeline that did not run yet.
    pub fn ready(
        &mut self,
        name: &'s str,
        rectangle: bool,
        options: &Options,
    ) -> Result<(), Failure> {
        if !self.compiled.contains_key(&(name, rectangle)) {
            let shaders = self.pipeline(name)?.shaders.iter();
            let all = shaders.map(|one| self.compile(one, options)).collect::<Result<_, _>>()?;
            self.compiled.insert((name, rectangle), all);
        }
        Ok(())
    }

    fn compile(&self, attached: &Attached, options: &Options) -> Result<Compiled, Failure> {
        let shader = self.script.shaders.get(&attached.shader);
        let Shader { stage, code } = shader.ok_or_else(|| missing("shader", &attached.shader))?;
        let mut options = options.clone();
        options.robust = self.script.robust;
        options.overrides = attached.constants.clone();
        let choice = Choice { entry: attached.entry.as_deref(), stage: Some(*stage) };
        let words;
        let (source, text) = match code {
            Code::Glsl(text) => (Source::Glsl(text, *stage), Some(text.clone())),
            Code::SpirV { text, environment } => {
                words = assembled(text, environment.as_deref())?;
                (Source::SpirV(&words), None)
            }
        };
        let mut parsed = self.compiler.parse(source, choice, &options)?;
        let entry = parsed.entries.pop().ok_or_else(|| Failure::usage("no entry point"))?;
        let func = entry.func?;
        let compiled = self.compiler.compile(&func, &options)?;
        Ok(Compiled { func, compiled, options, source: SourceText::new("shader", text) })
    }

    /// What a function of a pipeline finds at its bindings.
    pub fn bindings(&self, func: &Func, pipeline: &Pipeline) -> Result<Bindings, Failure> {
        let mut bindings = Bindings::new(func);
        for binding in &pipeline.bindings {
            for resource in resources(func, binding) {
                if matches!(func.resources[resource].kind, ResourceKind::Sampler { .. }) {
                    // A texel buffer has none: what declares it as one with a texture does not look through it.
                    if let Some(name) = binding.sampler.as_deref() {
                        let sampler = self.script.samplers.get(name);
                        let sampler = sampler.ok_or_else(|| missing("sampler", name))?;
                        bindings.set(resource, Bound::Sampler(*sampler));
                    }
                    continue;
                }
                let is_buffer = func.resources[resource].kind.bytes().is_some();
                for (element, buffer) in (0..).zip(&binding.buffers) {
                    let held = self.held.get(buffer.as_str());
                    let bound = match held.ok_or_else(|| missing("buffer", buffer))? {
                        Bound::Buffer(bytes) => {
                            let bytes = bytes.get(binding.offset..).unwrap_or_default();
                            match is_buffer {
                                true => Bound::Buffer(bytes.to_vec()),
                                false => Bound::Image(self.texel_buffer(buffer, bytes)?),
                            }
                        }
                        Bound::Image(image) if is_line(func.resources[resource].kind) => {
                            Bound::Image(line_of(image.format(), image.level_bytes(0))?)
                        }
                        other => other.clone(),
                    };
                    bindings.set_element(resource, element, bound);
                }
            }
        }
        Ok(bindings)
    }

    /// A buffer as a line of texels.
    fn texel_buffer(&self, name: &str, bytes: &[u8]) -> Result<Image, Failure> {
        let format = match self.script.buffers.get(name) {
            Some(Buffer::Values { format: Some(format), .. }) => formats::texels(format),
            Some(Buffer::Values { ty, .. }) => formats::texels_of(*ty),
            _ => None,
        };
        let format = format.ok_or_else(|| missing("format of the texels in", name))?;
        line_of(format, bytes)
    }

    fn clear(&mut self, name: &str, (color, depth): ([f64; 4], f32)) -> Result<(), Failure> {
        let pipeline = self.pipeline(name)?;
        for attachment in &pipeline.colors {
            let mut plane = self.plane(&attachment.image, attachment.level)?;
            let kind = plane.format().kind();
            plane.fill(color.map(|value| match kind {
                Kind::Uint => value as u32,
                Kind::Sint => value as i32 as u32,
                _ => (value as f32).to_bits(),
            }));
            self.put_back(&attachment.image, attachment.level, &plane);
        }
        if let Some(image) = &pipeline.depth_stencil {
            let mut plane = self.plane(image, 0)?;
            plane.fill([depth.to_bits(); 4]);
            self.put_back(image, 0, &plane);
        }
        Ok(())
    }

    /// A level of an image, as an image of its own.
    pub fn plane(&self, name: &str, level: u32) -> Result<Image, Failure> {
        let Some(Bound::Image(image)) = self.held.get(name) else {
            return Err(missing("image", name));
        };
        let [width, height, _] = image.size(level);
        let extent = Extent { samples: image.extent().samples, ..Extent::plane(width, height) };
        let plane = Image::new(image.format(), extent);
        let mut plane = plane.map_err(|error| Failure::usage(error.to_string()))?;
        plane.bytes_mut().copy_from_slice(image.level_bytes(level));
        Ok(plane)
    }

    /// Makes the first level of an image the means of a plane's samples.
    pub fn resolve(&mut self, name: &str, plane: &Image) -> Result<(), Failure> {
        let size = |image: &Image| image.size(0);
        match self.held.get_mut(name) {
            Some(Bound::Image(image)) if size(image) == size(plane) => image.resolve(plane),
            _ => return Err(missing("image of this size", name)),
        }
        Ok(())
    }

    /// Replaces a level of an image.
    pub fn put_back(&mut self, name: &str, level: u32, plane: &Image) {
        if let Some(Bound::Image(image)) = self.held.get_mut(name) {
            image.level_bytes_mut(level).copy_from_slice(plane.bytes());
        }
    }

    /// Bytes of a buffer, or of an image's first level.
    pub fn bytes(&self, name: &str) -> Result<&[u8], Failure> {
        match self.held.get(name) {
            Some(Bound::Buffer(bytes)) => Ok(bytes),
            Some(Bound::Image(image)) => {
                of_one_sample(image)?;
                Ok(image.level_bytes(0))
            }
            _ => Err(missing("buffer", name)),
        }
    }

    /// Why a check does not hold.
    ///
    /// # Errors
    /// It asks for nothing, or of what is not there.
    fn wrong(&self, check: &Check) -> Result<Option<String>, Failure> {
        Ok(match check {
            Check::Same(first, second) => {
                let (a, b) = (self.bytes(first)?, self.bytes(second)?);
                let place = a.iter().zip(b).position(|(a, b)| a != b);
                let place = place.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())));
                place.map(|place| format!("`{first}` and `{second}` differ at byte {place}"))
            }
            Check::Values(values) if values.values.is_empty() => {
                return Err(missing("values to expect in", &values.buffer));
            }
            Check::Values(values) => wrong_value(values, self.bytes(&values.buffer)?),
            Check::Texels(texels) => match self.held.get(texels.image.as_str()) {
                Some(Bound::Image(image)) => wrong_texel(texels, image)?,
                _ => return Err(missing("image", &texels.image)),
            },
            Check::Spread { images: [first, second], most } => {
                let distance = distance(self.bytes(first)?, self.bytes(second)?);
                let far = format!("`{first}` and `{second}` are {distance} apart");
                (distance > *most).then_some(far)
            }
        })
    }
}

fn wrong_value(check: &Values, got: &[u8]) -> Option<String> {
    let component = check.ty.component;
    for (number, (want, place)) in check.values.iter().zip(check.ty.places()).enumerate() {
        let place = check.at + place;
        let found = got.get(place..).unwrap_or_default();
        let order = component.order(want, found);
        let holds = match &check.relation {
            Relation::Equal => component.holds(want, None, found),
            Relation::Unequal => !component.holds(want, None, found),
            Relation::Near(all) => {
                let tolerance = all.get(number % all.len().max(1)).copied();
                component.holds(want, tolerance, found)
            }
            Relation::Less => order.is_some_and(|order| order.is_lt()),
            Relation::LessEqual => order.is_some_and(|order| order.is_le()),
            Relation::Greater => order.is_some_and(|order| order.is_gt()),
            Relation::GreaterEqual => order.is_some_and(|order| order.is_ge()),
        };
        if !holds {
            let found = found.get(..component.bytes()).unwrap_or(found);
            let (name, found) = (&check.buffer, gpucc::hex(found));
            return Some(format!("`{name}` at byte {place}: {want}, got {found}"));
        }
    }
    None
}

/// Values of several samples are not compared: nothing says how they lie.
fn of_one_sample(image: &Image) -> Result<(), Failure> {
    match image.extent().samples {
        1 => Ok(()),
        _ => Err(Failure::not_yet("values of several samples", "scripts")),
    }
}

/// # Errors
/// The area is none of the image's.
fn wrong_texel(check: &Texels, image: &Image) -> Result<Option<String>, Failure> {
    let name = &check.image;
    of_one_sample(image)?;
    let [left, top, width, height] = check.area;
    let [columns, rows, _] = image.size(0);
    let ends = [left.checked_add(width), top.checked_add(height)];
    let (Some(right), Some(bottom)) = (ends[0], ends[1]) else {
        return Err(missing("such area in", name));
    };
    if width == 0 || height == 0 || right > columns || bottom > rows {
        return Err(missing("such area in", name));
    }
    let kind = image.format().kind();
    for (y, x) in (top..bottom).flat_map(|y| (left..right).map(move |x| (y, x))) {
        let texel = image.load(Texel { x, y, ..Texel::default() }).unwrap_or_default();
        let found = texel.map(|word| match kind {
            Kind::Uint => f64::from(word),
            Kind::Sint => f64::from(word as i32),
            _ => f64::from(f32::from_bits(word)),
        });
        let near = check.tolerances.iter().zip(check.color.iter().zip(&found));
        let mut near = near.take(check.components);
        if !near.all(|(tolerance, (&wanted, &found))| tolerance.allows(wanted, found)) {
            let wanted = check.color;
            return Ok(Some(format!("`{name}` at {x}, {y}: {wanted:?}, got {found:?}")));
        }
    }
    Ok(None)
}

fn is_line(kind: ResourceKind) -> bool {
    matches!(
        kind,
        ResourceKind::Texture { dim: Dim::D1, .. }
            | ResourceKind::StorageTexture { dim: Dim::D1, .. }
    )
}

/// Texels as a line.
fn line_of(format: Format, bytes: &[u8]) -> Result<Image, Failure> {
    let image = Image::new(format, line(bytes.len() as u32 / format.bytes()));
    let mut image = image.map_err(|error| Failure::usage(error.to_string()))?;
    overwrite(image.bytes_mut(), bytes);
    Ok(image)
}

/// Replaces bytes from the first one on, as far as there are both.
fn overwrite(place: &mut [u8], bytes: &[u8]) {
    let count = place.len().min(bytes.len());
    place[..count].copy_from_slice(&bytes[..count]);
}

/// How far bytes must be moved over the scale from 0 to 1, on average of all texels and in the worst of four channels, until
/// both are spread alike.
fn distance(first: &[u8], second: &[u8]) -> f64 {
    let worst = (0..4).map(|channel| {
        let mut counts = [0i64; 256];
        for (bytes, sign) in [(first, 1), (second, -1)] {
            for &byte in bytes.iter().skip(channel).step_by(4) {
                counts[usize::from(byte)] += sign;
            }
        }
        let mut moved = 0;
        let mut held: i64 = 0;
        for count in counts {
            held += count;
            moved += held.abs();
        }
        moved as f64 / (first.len().div_ceil(4).max(1) * 255) as f64
    });
    worst.fold(0.0, f64::max)
}

/// Writes what a function stored back to where it came from.
pub fn keep(
    held: &mut IndexMap<&str, Bound>,
    func: &Func,
    pipeline: &Pipeline,
    bindings: &Bindings,
) {
    for binding in &pipeline.bindings {
        let stored = resources(func, binding);
        for resource in stored.filter(|resource| func.resources[*resource].kind.is_stored()) {
            for (element, buffer) in (0..).zip(&binding.buffers) {
                match (held.get_mut(buffer.as_str()), bindings.get(resource, element)) {
                    (Some(Bound::Buffer(bytes)), Bound::Buffer(written)) => {
                        if let Some(place) = bytes.get_mut(binding.offset..) {
                            overwrite(place, written);
                        }
                    }
                    (Some(Bound::Image(image)), Bound::Image(written)) => {
                        image.clone_from(written);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The resources of a binding: by descriptor set and number, or the immediates. A texture and a sampler may be one binding.
fn resources<'f>(func: &'f Func, binding: &'f Binding) -> impl Iterator<Item = Resource> + 'f {
    let all = func.resources.iter().filter(move |(_, data)| {
        let immediate = matches!(data.kind, ResourceKind::Immediate { .. });
        match binding.place {
            None => immediate,
            Some(place) => !immediate && (data.group, data.binding) == place,
        }
    });
    all.map(|(resource, _)| resource)
}

pub fn missing(what: &str, name: &str) -> Failure {
    Failure::usage(format!("no {what} `{name}`"))
}

/// True where the text of SPIR-V can be assembled.
pub fn can_assemble() -> bool {
    let version = Command::new("spirv-as").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// What `spirv-as` makes of a text.
fn assembled(text: &str, environment: Option<&str>) -> Result<Vec<u8>, Failure> {
    let wrong = |error: std::io::Error| Failure::usage(format!("spirv-as: {error}"));
    let mut command = Command::new("spirv-as");
    // The text names its version; a later environment takes all of an earlier one.
    let environment = environment.unwrap_or("spv1.0");
    command.args(["--target-env", environment, "--preserve-numeric-ids", "-o", "-", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(wrong)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(wrong)?;
    }
    let output = child.wait_with_output().map_err(wrong)?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let message = String::from_utf8_lossy(&output.stderr);
            Err(Failure::usage(format!("spirv-as: {}", message.trim())))
        }
    }
}
