//! Where bindings, inputs and outputs stand: the program ABI, worked out for one function.
//!
//! Uniform buffer i is constant buffer i and fetch resource i; storage buffer i is fetch resource
//! 16+i and aperture i; textures are resources 48 on, attributes 160 on; constant buffer 14 holds
//! immediates and 15 the driver's constants; fetch resource 15 is the program's own tables. Buffers' fetch resources have a stride of 4 bytes: an
//! index counts dwords.

use crate::api::{Chip, Failure, Fetch, Options, State, Step};
use crate::limits;
use crate::share::Shares;
use cranelift_entity::SecondaryMap;
use gpucc_ir::driver::StreamOutput;
use gpucc_ir::ssa::{
    Builtin, Dim, Func, Imm, Input, InputKind, Interpolation, MemSpace, Op, Output, OutputKind,
    Resource, ResourceKind, Stage, TexOp,
};
use gpucc_machine::described::{BindingName, Driven, DriverConstant, DriverWord, Export};
use gpucc_machine::place::Taken;

/// Constant buffer of immediates.
pub const IMMEDIATES: u8 = 14;
/// Constant buffer of the driver.
pub const DRIVER: u8 = 15;
/// Semantic of a place in a point: no vertex program exports it.
pub const POINT: u32 = 255;
/// The semantic of a location.
///
/// # Errors
/// [`Failure::Limit`] when it does not fit.
fn semantic(location: u32) -> Result<u32, Failure> {
    limits::HANDED_ON.admit(u64::from(location) + 1)?;
    Ok(location + 1)
}
/// First fetch resource of storage buffers.
const STORAGE: u32 = 16;
/// First fetch resource of textures.
const TEXTURES: u32 = 48;
/// First fetch resource of vertex attributes.
pub const ATTRIBUTES: u32 = 160;

/// What a sampler's state is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SamplerUse {
    /// Arrays of 1D and 2D textures, which filter no layers: TEX_ARRAY_OVERRIDE is set.
    pub layered: bool,
    /// Single texels of level 0, which gathers are made of.
    pub texels: bool,
}

impl SamplerUse {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// Every use with the report's key.
    pub const ALL: [(SamplerUse, &'static str); SamplerUse::COUNT] = [
        (SamplerUse { layered: false, texels: false }, "sampler"),
        (SamplerUse { layered: true, texels: false }, "array_sampler"),
        (SamplerUse { layered: false, texels: true }, "gather_sampler"),
        (SamplerUse { layered: true, texels: true }, "gather_array_sampler"),
    ];

    /// The use that an instruction makes of its sampler.
    pub fn of(func: &Func, tex: &TexOp) -> SamplerUse {
        let layered = is_layered(&func.resources[tex.texture].kind);
        SamplerUse { layered, texels: tex.texel }
    }

    /// Its place in [`SamplerUse::ALL`].
    pub fn index(self) -> usize {
        usize::from(self.layered) + 2 * usize::from(self.texels)
    }
}

/// Where a binding of the shader stands on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// Constant-cache buffer (uniform buffers by static address).
    pub kcache: Option<u32>,
    /// Fetch resource (dynamic uniforms, storage reads, textures), stage-relative.
    pub resource: Option<u32>,
    /// The sampler, for each [`SamplerUse`].
    pub samplers: [Option<u32>; SamplerUse::COUNT],
    /// Index into the scatter aperture's bases, `c(2+i)` of the driver constants.
    pub aperture_index: Option<u32>,
}

impl Slot {
    /// Its entries: the report's key, what the table holds in the plural, the entry.
    pub fn places(&self) -> impl Iterator<Item = (&'static str, &'static str, u32)> {
        let samplers = SamplerUse::ALL.iter().zip(self.samplers);
        [
            ("kcache", "constant buffers", self.kcache),
            ("resource", "fetch resources", self.resource),
        ]
        .into_iter()
        .chain(samplers.map(|(&(_, key), entry)| (key, "samplers", entry)))
        .chain([("aperture_index", "scatter apertures", self.aperture_index)])
        .filter_map(|(key, table, entry)| Some((key, table, entry?)))
    }
}

/// Where a stage input stands when the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSlot {
    /// The input in the function.
    pub input: Input,
    /// General-purpose register, where it has one at the start.
    pub register: Option<u32>,
    /// First channel, 0..=3.
    pub channel: u32,
    /// Semantic that links a vertex output to a fragment input (location + 1).
    pub semantic: Option<u32>,
    /// How it varies (fragment).
    pub interpolation: Option<Interpolation>,
    /// How an attribute comes in (vertex); its fetch resource is stage-relative.
    pub attribute: Option<AttributeFetch>,
}

/// How an attribute comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFetch {
    /// Fetch resource (160 + buffer).
    pub resource: u32,
    /// Byte offset within an element.
    pub offset: u32,
    /// WebGPU vertex format name.
    pub format: String,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Advances by instance.
    pub per_instance: bool,
}

/// Where a stage output leaves the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSlot {
    /// The output in the function.
    pub output: Output,
    /// Which export.
    pub export: Export,
    /// The export's index (ARRAY_BASE).
    pub index: u32,
    /// First component of the export.
    pub channel: u32,
    /// Components.
    pub components: u32,
    /// Semantic that links it to a fragment input (location + 1).
    pub semantic: Option<u32>,
}

/// How a dispatch of a compute program is laid out. abi-r700: Compute.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ComputeLayout {
    /// Threads that one workgroup takes: the wavefront's size when lanes cooperate, else the
    /// workgroup's size.
    pub threads_per_workgroup: u32,
    /// Dwords of workgroup memory within the scatter aperture, per workgroup.
    pub workgroup_dwords: u32,
    /// Dwords of the local data share that each thread owns.
    pub share_stride: u32,
}

/// The ABI of one function.
#[derive(Clone, Debug, Default)]
pub struct Abi {
    /// The chip.
    pub chip: Chip,
    /// Place of each binding that the code uses.
    pub slots: SecondaryMap<Resource, Slot>,
    /// The bindings with a place, in order.
    pub used: Vec<Resource>,
    /// Place of each input.
    pub inputs: Vec<InputSlot>,
    /// Place of each output.
    pub outputs: Vec<OutputSlot>,
    /// Attributes and buffers with everything inferred.
    pub pipeline: State,
    /// What was inferred.
    pub notes: Vec<String>,
    /// Fragment: register of position.
    pub position: Option<u32>,
    /// Fragment: register of the place in a point.
    pub point: Option<u32>,
    /// Fragment: register of the face.
    pub face: Option<u32>,
    /// Fragment: register with the sample number in w.
    pub sample: Option<u32>,
    /// Fragment: interpolated inputs in the order of their registers.
    pub varyings: Vec<Input>,
    /// Vertex: parameters exported.
    pub parameters: u32,
    /// Compute: the dispatch.
    pub compute: Option<ComputeLayout>,
    /// Storage buffers and stored textures that the code uses: bases in the driver's constants.
    pub apertures: u32,
    /// The vec4 of the driver's constants with an image's size, where the code may ask for it.
    pub image_constant: SecondaryMap<Resource, u32>,
    /// The images that have such a vec4, by the number of the first element's.
    images: Vec<(u32, Resource)>,
    /// The vec4 of the driver's constants that places workgroup memory.
    pub workgroup_constant: u32,
    /// Dword offset of each workgroup variable within the workgroup's region.
    pub workgroup_offset: SecondaryMap<gpucc_ir::ssa::Mem, u32>,
    /// Workgroup variables in the local data share.
    pub shares: Shares,
    /// Indices of private variables are in range by promise.
    pub trusts_indices: bool,
}

/// A texture whose layers the sampler must not filter.
fn is_layered(kind: &ResourceKind) -> bool {
    matches!(kind, ResourceKind::Texture { dim, arrayed: true, .. } if *dim != Dim::Cube)
}

/// What the code refers to.
#[derive(Default)]
struct Uses {
    resources: Vec<bool>,
    /// Samplers, by [`SamplerUse`].
    samples: Vec<[bool; SamplerUse::COUNT]>,
    inputs: Vec<bool>,
    mems: Vec<bool>,
    barrier: bool,
}

fn uses(func: &Func) -> Uses {
    let mut uses = Uses {
        resources: vec![false; func.resources.len()],
        samples: vec![[false; SamplerUse::COUNT]; func.resources.len()],
        inputs: vec![false; func.inputs.len()],
        mems: vec![false; func.mems.len()],
        barrier: false,
    };
    let index = |r: Resource| r.as_u32() as usize;
    for (region, ..) in func.regions_in_order() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            uses.barrier |= data.op == Op::Barrier;
            match data.imm {
                Imm::Resource(r)
                | Imm::BufferAtomic(r, _)
                | Imm::ImageAtomic(r, _)
                | Imm::Query(r, _) => uses.resources[index(r)] = true,
                Imm::Tex(tex) => {
                    uses.resources[index(tex.texture)] = true;
                    if let Some(sampler) = tex.sampler.expand() {
                        let of = SamplerUse::of(func, &tex).index();
                        uses.resources[index(sampler)] = true;
                        uses.samples[index(sampler)][of] = true;
                    }
                }
                Imm::Input(input, _) => uses.inputs[input.as_u32() as usize] = true,
                Imm::Mem(access) | Imm::MemAtomic(access, _) => {
                    uses.mems[access.mem.as_u32() as usize] = true;
                }
                _ => {}
            }
        }
    }
    uses
}

/// Arrays of bindings that fit nowhere, before an access becomes a choice among all their elements.
///
/// # Errors
/// [`Failure::Limit`].
pub fn check_arrays(func: &Func) -> Result<(), Failure> {
    let uses = uses(func);
    for (resource, data) in func.resources.iter() {
        let places = match data.kind {
            ResourceKind::Uniform { .. } => limits::UNIFORM_BUFFERS,
            ResourceKind::Storage { .. } => limits::STORAGE_BUFFERS,
            ResourceKind::Texture { .. } | ResourceKind::StorageTexture { .. } => limits::TEXTURES,
            ResourceKind::Sampler { .. } => limits::SAMPLERS,
            ResourceKind::Immediate { .. } => continue,
        };
        if uses.resources[resource.as_u32() as usize] {
            places.admit(data.count.unwrap_or(1))?;
        }
    }
    Ok(())
}

impl Abi {
    /// Gives everything that the code uses a place.
    ///
    /// # Errors
    /// [`Failure::Limit`] when a kind has more bindings than the machine has places.
    pub fn of(func: &Func, options: &Options) -> Result<Abi, Failure> {
        let uses = uses(func);
        let mut abi = Abi {
            chip: options.chip,
            pipeline: options.pipeline.clone(),
            trusts_indices: options.trusts_indices,
            ..Abi::default()
        };
        abi.bindings(func, options, &uses)?;
        if options.pipeline.local_data_share {
            abi.shares = Shares::of(func, options.chip.wave());
        }
        let slots = &mut abi.workgroup_offset;
        let mut dwords = 0;
        for (mem, data) in func.mems.iter() {
            if data.space == MemSpace::Workgroup
                && uses.mems[mem.as_u32() as usize]
                && abi.shares.get(mem).is_none()
            {
                slots[mem] = dwords;
                dwords += data.size / 4;
            }
        }
        abi.workgroup_constant = 2 + abi.apertures;
        abi.images(func);
        match func.stage {
            Stage::Vertex => {
                abi.vertex(func, &uses)?;
                abi.check_streams(func)?;
            }
            Stage::Fragment => abi.fragment(func, &uses)?,
            Stage::Geometry => {
                return Err(Failure::NotYet {
                    feature: "geometry shaders".to_owned(),
                    stage: "the calling convention",
                    span: gpucc_ir::ssa::Span::NONE,
                });
            }
            Stage::Compute => {
                let size: u32 = func.workgroup_size.iter().product();
                let wave = options.chip.wave();
                // More invocations than a wavefront cannot meet (`refuse`): several wavefronts need no padding between
                // workgroups.
                let together =
                    (uses.barrier || dwords > 0 || abi.shares.stride > 0) && size <= wave;
                abi.compute = Some(ComputeLayout {
                    threads_per_workgroup: if together { wave } else { size },
                    workgroup_dwords: dwords,
                    share_stride: abi.shares.stride,
                });
            }
        }
        Ok(abi)
    }

    /// Stream-out has four buffers of vertices with a stride of their own, and a write's base counts dwords in 13
    /// bits. R700 ISA 8.1, CF_ALLOC_IMP_EXP; registers VGT_STRMOUT_VTX_STRIDE.
    fn check_streams(&self, func: &Func) -> Result<(), Failure> {
        let stream = &self.pipeline.vertex.stream;
        stream.check(func)?;
        for output in &stream.outputs {
            limits::STREAMED.admit(output.offset.saturating_add(4))?;
        }
        Ok(())
    }

    /// The output that the pipeline streams there, if the program has it.
    pub fn streamed(&self, func: &Func, stream: &StreamOutput) -> Option<&OutputSlot> {
        let wanted = stream.of(func)?;
        self.outputs.iter().find(|slot| slot.output == wanted)
    }

    fn bindings(&mut self, func: &Func, options: &Options, uses: &Uses) -> Result<(), Failure> {
        let (mut uniforms, mut storages, mut textures, mut samplers) = (0, 0, 0, 0);
        let stored = gpucc_passes::expand::image::stored(func);
        for (resource, data) in func.resources.iter() {
            if !uses.resources[resource.as_u32() as usize] {
                continue;
            }
            let wanted = options
                .pipeline
                .bindings
                .iter()
                .find(|slot| (slot.group, slot.binding) == (data.group, data.binding))
                .map(|slot| slot.slot);
            // The elements of an array of bindings stand one after the other.
            let take = |next: &mut u32| {
                let slot = wanted.unwrap_or(*next);
                let elements = data.count.unwrap_or(1).max(1);
                *next = (*next).max(slot.saturating_add(elements));
                slot
            };
            let slot = match data.kind {
                ResourceKind::Uniform { .. } => {
                    let i = take(&mut uniforms);
                    Slot { kcache: Some(i), resource: Some(i), ..Slot::default() }
                }
                ResourceKind::Immediate { .. } => Slot {
                    kcache: Some(IMMEDIATES.into()),
                    resource: Some(IMMEDIATES.into()),
                    ..Slot::default()
                },
                ResourceKind::Storage { .. } => {
                    let i = take(&mut storages);
                    Slot {
                        resource: Some(STORAGE.saturating_add(i)),
                        aperture_index: Some(i),
                        ..Slot::default()
                    }
                }
                ResourceKind::StorageTexture { .. } if stored[resource] => Slot::default(),
                ResourceKind::Texture { .. } | ResourceKind::StorageTexture { .. } => Slot {
                    resource: Some(TEXTURES.saturating_add(take(&mut textures))),
                    ..Slot::default()
                },
                ResourceKind::Sampler { .. } => {
                    let used = uses.samples[resource.as_u32() as usize];
                    let first = used.iter().position(|&used| used).unwrap_or(0);
                    let mut slot = Slot::default();
                    slot.samplers[first] = Some(take(&mut samplers));
                    slot
                }
            };
            self.slots[resource] = slot;
            self.used.push(resource);
        }
        // Copies of samplers for other uses follow the samplers.
        for (resource, data) in func.resources.iter() {
            let used = uses.samples[resource.as_u32() as usize];
            for (place, _) in used.iter().enumerate().filter(|&(_, &used)| used).skip(1) {
                self.slots[resource].samplers[place] = Some(samplers);
                samplers = samplers.saturating_add(data.count.unwrap_or(1).max(1));
            }
        }
        // Stored textures follow the storage buffers.
        self.apertures = storages;
        for (resource, data) in func.resources.iter() {
            let used = uses.resources[resource.as_u32() as usize];
            let image = matches!(data.kind, ResourceKind::StorageTexture { .. });
            if used && image && stored[resource] {
                self.slots[resource].aperture_index = Some(self.apertures);
                self.apertures = self.apertures.saturating_add(data.count.unwrap_or(1).max(1));
            }
        }
        limits::UNIFORM_BUFFERS.admit(uniforms)?;
        limits::STORAGE_BUFFERS.admit(self.apertures)?;
        limits::TEXTURES.admit(textures)?;
        limits::SAMPLERS.admit(samplers)
    }

    /// A vec4 of the driver's constants for every image whose size the code may ask for: storage
    /// textures, and cube arrays, of which GET_TEXTURE_RESINFO counts faces.
    fn images(&mut self, func: &Func) {
        let mut next = self.workgroup_constant + 1;
        for &resource in &self.used {
            let data = &func.resources[resource];
            let asks = match data.kind {
                ResourceKind::StorageTexture { .. } => true,
                ResourceKind::Texture { dim, arrayed, .. } => dim == Dim::Cube && arrayed,
                _ => false,
            };
            if asks {
                let elements = data.count.unwrap_or(1).max(1);
                self.image_constant[resource] = next;
                self.images.push((next, resource));
                next += elements;
            }
        }
    }

    fn vertex(&mut self, func: &Func, uses: &Uses) -> Result<(), Failure> {
        self.notes.extend(self.pipeline.vertex.infer(func));
        for (input, data) in func.inputs.iter() {
            if !uses.inputs[input.as_u32() as usize] {
                continue;
            }
            let mut slot = InputSlot {
                input,
                register: None,
                channel: 0,
                semantic: None,
                interpolation: None,
                attribute: None,
            };
            match data.kind {
                InputKind::Builtin(Builtin::VertexIndex) => slot.register = Some(0),
                InputKind::Builtin(Builtin::InstanceIndex) => {
                    slot.register = Some(0);
                    slot.channel = 3;
                }
                InputKind::Builtin(_) | InputKind::Corner { .. } => {}
                InputKind::Location { location, .. } => {
                    let vertex = &self.pipeline.vertex;
                    let attribute = vertex
                        .attribute(location)
                        .expect("inferred above, whether the code reads it or not")
                        .clone();
                    let buffer = vertex.buffer(&attribute);
                    limits::VERTEX_BUFFERS.admit(attribute.buffer.saturating_add(1))?;
                    limits::STRIDE.admit(buffer.stride)?;
                    if self.pipeline.vertex.fetch == Fetch::Separate {
                        limits::fetched(self.chip).admit(location.saturating_add(1))?;
                        slot.register = Some(1 + location);
                    }
                    slot.attribute = Some(AttributeFetch {
                        resource: ATTRIBUTES + attribute.buffer,
                        offset: attribute.offset,
                        format: attribute.format,
                        stride: buffer.stride,
                        per_instance: buffer.step == Step::Instance,
                    });
                }
            }
            self.inputs.push(slot);
        }
        // Parameters in ascending order of location; a location's scalars share one parameter.
        let mut locations: Vec<(u32, Output)> = func
            .outputs
            .iter()
            .filter_map(|(output, data)| match data.kind {
                OutputKind::Location { location, .. } => Some((location, output)),
                OutputKind::Builtin(_) => None,
            })
            .collect();
        locations.sort_unstable();
        for (output, data) in func.outputs.iter() {
            let (export, index, channel, semantic) = match data.kind {
                OutputKind::Builtin(Builtin::Position) => (Export::Position, 60, 0, None),
                OutputKind::Builtin(Builtin::PointSize) => (Export::Position, 61, 0, None),
                OutputKind::Builtin(
                    Builtin::ClipDistance(first) | Builtin::CullDistance(first),
                ) => {
                    let misc = func
                        .outputs
                        .values()
                        .any(|o| matches!(o.kind, OutputKind::Builtin(Builtin::PointSize)));
                    let index = 61 + u32::from(misc) + u32::from(first / 4);
                    (Export::Position, index, u32::from(first % 4), None)
                }
                OutputKind::Builtin(_) => continue,
                OutputKind::Location { location, .. } => {
                    let rank = locations.iter().position(|&(l, _)| l == location);
                    let rank = rank.expect("every location is in the list") as u32;
                    (Export::Parameter, rank, 0, Some(semantic(location)?))
                }
            };
            self.outputs.push(OutputSlot {
                output,
                export,
                index,
                channel,
                components: data.components.into(),
                semantic,
            });
        }
        self.parameters = locations.len() as u32;
        limits::VERTEX_OUTPUTS.admit(self.parameters)?;
        Ok(())
    }

    fn fragment(&mut self, func: &Func, uses: &Uses) -> Result<(), Failure> {
        let used = |input: Input| uses.inputs[input.as_u32() as usize];
        // What is read at several places of the pixel has a register for each.
        let mut locations: Vec<(u32, Input)> = func
            .inputs
            .iter()
            .filter(|&(input, _)| used(input))
            .filter_map(|(input, data)| match data.kind {
                InputKind::Location { location, .. } => Some((location, input)),
                InputKind::Builtin(_) | InputKind::Corner { .. } => None,
            })
            .collect();
        locations.sort_unstable();
        let mut register = 0;
        for &(location, input) in &locations {
            let InputKind::Location { interpolation, .. } = func.inputs[input].kind else {
                continue;
            };
            self.varyings.push(input);
            self.inputs.push(InputSlot {
                input,
                register: Some(register),
                channel: 0,
                semantic: Some(semantic(location)?),
                interpolation: Some(interpolation),
                attribute: None,
            });
            register += 1;
        }
        for wanted in
            [Builtin::PointCoord, Builtin::Position, Builtin::FrontFacing, Builtin::SampleIndex]
        {
            let found = func
                .inputs
                .iter()
                .find(|(input, data)| used(*input) && data.kind == InputKind::Builtin(wanted));
            let Some((input, _)) = found else { continue };
            let mut channel = 0;
            let mut semantic = None;
            match wanted {
                Builtin::PointCoord => {
                    self.point = Some(register);
                    semantic = Some(POINT);
                }
                Builtin::Position => self.position = Some(register),
                Builtin::FrontFacing => self.face = Some(register),
                _ => {
                    self.sample = Some(register);
                    channel = 3;
                }
            }
            self.inputs.push(InputSlot {
                input,
                register: Some(register),
                channel,
                semantic,
                interpolation: None,
                attribute: None,
            });
            register += 1;
        }
        // SPI_PS_INPUT_CNTL has 32 entries, and addresses of position and face have five bits.
        limits::FRAGMENT_INPUTS.admit(register)?;
        for (output, data) in func.outputs.iter() {
            let (export, index, channel) = match data.kind {
                OutputKind::Location { location, blend_src, .. } => {
                    let target = location.saturating_add(u32::from(blend_src));
                    (Export::Pixel, target, 0)
                }
                OutputKind::Builtin(Builtin::FragDepth) => (Export::Depth, 61, 0),
                OutputKind::Builtin(Builtin::StencilRef) => (Export::Depth, 61, 1),
                OutputKind::Builtin(Builtin::SampleMask) => (Export::Depth, 61, 2),
                OutputKind::Builtin(_) => continue,
            };
            if export == Export::Pixel {
                limits::COLOR_TARGETS.admit(u64::from(index) + 1)?;
            }
            self.outputs.push(OutputSlot {
                output,
                export,
                index,
                channel,
                components: data.components.into(),
                semantic: None,
            });
        }
        Ok(())
    }

    /// The place of an input.
    pub fn input(&self, input: Input) -> Option<&InputSlot> {
        self.inputs.iter().find(|slot| slot.input == input)
    }

    /// The entries of the machine's tables that the bindings take.
    pub fn taken(&self, func: &Func) -> Vec<Taken> {
        let mut taken = Vec::new();
        for &resource in &self.used {
            let count = func.resources[resource].count.unwrap_or(1);
            taken.extend(self.slots[resource].places().map(|(_, table, first)| Taken {
                resource,
                table,
                first,
                count,
            }));
        }
        taken
    }

    /// General-purpose registers: those of the code, and those that are filled before it starts.
    pub fn registers(&self, code: u32) -> u32 {
        let filled = self.inputs.iter().filter_map(|slot| slot.register);
        filled.fold(code, |most, register| most.max(register + 1))
    }

    /// Driver constants by the vec4 numbers that the code reads. Their places are fixed by the ABI: c0 the workgroups,
    /// c1 the draw, from c2 on storage buffers and stored textures, then workgroup memory and images.
    pub fn driver_constants(&self, func: &Func, read: &[u16]) -> Vec<DriverConstant> {
        let mut read = read.to_vec();
        read.sort_unstable();
        read.dedup();
        let constants = read.into_iter().map(|constant| {
            let constant = u32::from(constant);
            let word = match constant {
                0 => Driven::NumWorkgroups { axis: None },
                1 => Driven::Draw,
                c if c == self.workgroup_constant => Driven::WorkgroupMemory,
                c if c > self.workgroup_constant => {
                    let after = self.images.partition_point(|&(first, _)| first <= c);
                    let (first, resource) = self.images[after - 1];
                    let arrayed = func.resources[resource].count.is_some();
                    Driven::Image {
                        binding: BindingName {
                            element: arrayed.then_some(c - first),
                            ..BindingName::of(func, resource)
                        },
                    }
                }
                c => Driven::StorageBuffer { aperture_index: c - 2 },
            };
            DriverConstant { constant: Some(constant), word: DriverWord::Other(word) }
        });
        constants.collect()
    }
}
