//! The emulated machine with what it is bound to: a driver's tests run on it what they compiled.

use crate::abi::{self, Reply, gpucc_bytes, gpucc_text};
use crate::draw::{self, gpucc_draw};
use crate::entry::{entry, value};
use crate::handle::{change, give, look, take};
use crate::result::{Made, gpucc_result};
use crate::status::gpucc_status;
use crate::upload::Around;
use gpucc::execute::shade;
use gpucc::{Failure, Stage};
use gpucc_emu::format::{Format, Kind};
use gpucc_emu::image::{Extent, Image};
use gpucc_emu::sampler::{Compare, Filter, MipFilter, Sampler, Wrap};
use gpucc_emu::world::{Bindings, Bound};
use gpucc_ir::ssa::{Dim, Resource, ResourceKind, SampleType};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An emulated machine with one program, or with a vertex and a fragment program.
pub struct gpucc_device {
    pub(crate) first: Arc<Made>,
    pub(crate) fragment: Option<Arc<Made>>,
    /// Of `first`, then of the fragment program.
    pub(crate) bindings: [Bindings; 2],
    /// Bindings that both programs declare alike, by their numbers in each.
    pub(crate) alike: BTreeSet<[Resource; 2]>,
    /// Elements of them that a caller bound for one stage alone. The others that both have are one: between the calls both
    /// programs have equal copies of each.
    pub(crate) apart: BTreeSet<([Resource; 2], u32)>,
    pub(crate) buffers: Vec<Vec<u8>>,
    pub(crate) targets: BTreeMap<u32, Image>,
    pub(crate) depth: Option<Image>,
    pub(crate) steps: Option<u64>,
    /// Of bindings of which the program sees a range.
    pub(crate) around: BTreeMap<(usize, Resource, u32), Around>,
    /// The results that the device was made of: `first` and `fragment` may have other words of the state.
    pub(crate) own: [Option<Arc<Made>>; 2],
    /// Settings of a program to which the caller gave other words than the result's.
    pub(crate) words: BTreeSet<(usize, String)>,
}

/// The number of the depth target, beside the locations of colour targets.
pub const GPUCC_DEPTH_TARGET: u32 = 0xFFFF_FFFF;

/// One binding, or one element of an array of bindings.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_place {
    /// sizeof(gpucc_place).
    pub struct_size: u32,
    /// A gpucc_stage: the program whose binding it is. GPUCC_STAGE_ANY is each that has the element: what is bound is one
    /// buffer or image then, and what one stage stores the other one loads. What is bound for one stage is another buffer than
    /// the other stage's, whatever its bytes are, until the element is bound for both again.
    pub stage: u32,
    /// Bind group, descriptor set.
    pub group: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of bindings.
    pub element: u32,
    /// 1: the immediates (push constants), whatever group and binding say.
    pub is_immediate: u32,
}

/// An image's size and format. Its bytes lie level by level; within a level layer, slice, row, column, sample.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_image {
    /// sizeof(gpucc_image).
    pub struct_size: u32,
    /// Texels.
    pub width: u32,
    /// Texels; 1 of one dimension.
    pub height: u32,
    /// Texels; 1 but of three dimensions.
    pub depth: u32,
    /// Layers; a cube has six.
    pub layers: u32,
    /// Mip levels.
    pub levels: u32,
    /// Samples of a texel.
    pub samples: u32,
    /// Zero.
    pub reserved: u32,
    /// WebGPU's name of the format.
    pub format: gpucc_text,
}

/// What happens to texels outside of a level.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_wrap {
    /// The nearest texel inside.
    GPUCC_WRAP_CLAMP = 0,
    /// Start again.
    GPUCC_WRAP_REPEAT = 1,
    /// Go back and forth.
    GPUCC_WRAP_MIRROR = 2,
    /// Mirrored once at 0, then the nearest inside.
    GPUCC_WRAP_MIRROR_ONCE = 3,
    /// The border colour.
    GPUCC_WRAP_BORDER = 4,
    /// Mirrored once at 0, then the border colour.
    GPUCC_WRAP_MIRROR_ONCE_BORDER = 5,
}

/// How texels of one level are combined.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_filter {
    /// The nearest.
    GPUCC_FILTER_NEAREST = 0,
    /// The surrounding ones.
    GPUCC_FILTER_LINEAR = 1,
}

/// How levels are combined.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_mip_filter {
    /// The nearest.
    GPUCC_MIP_FILTER_NEAREST = 0,
    /// The two around.
    GPUCC_MIP_FILTER_LINEAR = 1,
    /// Level 0 alone.
    GPUCC_MIP_FILTER_NONE = 2,
}

/// A comparison.
#[repr(u32)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum gpucc_compare {
    /// None: nothing is compared.
    GPUCC_COMPARE_NONE = 0,
    /// False.
    GPUCC_COMPARE_NEVER = 1,
    /// <
    GPUCC_COMPARE_LESS = 2,
    /// ==
    GPUCC_COMPARE_EQUAL = 3,
    /// <=
    GPUCC_COMPARE_LESS_EQUAL = 4,
    /// >
    GPUCC_COMPARE_GREATER = 5,
    /// !=
    GPUCC_COMPARE_NOT_EQUAL = 6,
    /// >=
    GPUCC_COMPARE_GREATER_EQUAL = 7,
    /// True.
    GPUCC_COMPARE_ALWAYS = 8,
}

/// A sampler. Zeros clamp and take the nearest texel of level 0.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_sampler {
    /// sizeof(gpucc_sampler).
    pub struct_size: u32,
    /// A gpucc_wrap of each axis.
    pub wrap: [u32; 3],
    /// A gpucc_filter.
    pub magnification: u32,
    /// A gpucc_filter.
    pub minification: u32,
    /// A gpucc_mip_filter.
    pub mip: u32,
    /// A gpucc_compare.
    pub compare: u32,
    /// Smallest level.
    pub lod_min: f32,
    /// Largest level.
    pub lod_max: f32,
    /// Added to levels that come from gradients.
    pub lod_bias: f32,
    /// Zero.
    pub reserved: u32,
    /// Words of the border colour: floats or integers, by the texture's format.
    pub border: [u32; 4],
}

/// What gpucc_verify found.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct gpucc_verification {
    /// Invocations of one run.
    pub invocations: u64,
    /// Words compared.
    pub words: u64,
    /// Inputs that were compared to their end.
    pub inputs: u32,
    /// Inputs on which a word differed.
    pub mismatches: u32,
}

/// The comparison by its number.
pub(crate) fn compare(number: u32, what: &str) -> Reply<Option<Compare>> {
    let all = [
        None,
        Some(Compare::Never),
        Some(Compare::Less),
        Some(Compare::Equal),
        Some(Compare::LessEqual),
        Some(Compare::Greater),
        Some(Compare::NotEqual),
        Some(Compare::GreaterEqual),
        Some(Compare::Always),
    ];
    abi::choice(number, &all, what)
}

/// What can be bound.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Sort {
    Buffer,
    Image,
    Sampler,
}

fn sort(kind: ResourceKind) -> Sort {
    match kind {
        ResourceKind::Uniform { .. }
        | ResourceKind::Storage { .. }
        | ResourceKind::Immediate { .. } => Sort::Buffer,
        ResourceKind::Texture { .. } | ResourceKind::StorageTexture { .. } => Sort::Image,
        ResourceKind::Sampler { .. } => Sort::Sampler,
    }
}

impl gpucc_device {
    pub(crate) fn made(&self, program: usize) -> Option<&Arc<Made>> {
        [Some(&self.first), self.fragment.as_ref()][program]
    }

    /// What is declared at a binding.
    pub(crate) fn kind(&self, program: usize, resource: Resource) -> ResourceKind {
        let made = self.made(program).unwrap_or(&self.first);
        made.compiled.ssa.resources[resource].kind
    }

    /// Elements of a binding.
    fn count(&self, program: usize, resource: Resource) -> u32 {
        let made = self.made(program).unwrap_or(&self.first);
        made.compiled.ssa.resources[resource].count.unwrap_or(1)
    }

    /// An element of a binding is one with that of the other program.
    pub(crate) fn is_one(&self, program: usize, resource: Resource, element: u32) -> bool {
        self.alike.iter().any(|&pair| {
            pair[program] == resource
                && (0..2).all(|program| element < self.count(program, pair[program]))
                && !self.apart.contains(&(pair, element))
        })
    }

    /// The programs that have an element of a binding, and the binding's number in each.
    pub(crate) fn find(
        &self,
        place: &gpucc_place,
        sorts: &[Sort],
    ) -> Reply<Vec<(usize, Resource)>> {
        let stage = crate::input::stage(place.stage, "gpucc_place.stage")?;
        let is_immediate = abi::truth(place.is_immediate, "gpucc_place.is_immediate")?;
        let mut found = Vec::new();
        let mut most = 0;
        for program in 0..2 {
            let Some(made) = self.made(program) else {
                continue;
            };
            if stage.is_some_and(|stage| stage != made.compiled.stage) {
                continue;
            }
            let mut resources = made.compiled.ssa.resources.iter();
            let is_it = resources.find(|(_, data)| {
                let immediate = matches!(data.kind, ResourceKind::Immediate { .. });
                let here = (data.group, data.binding) == (place.group, place.binding);
                let it = if is_immediate { immediate } else { !immediate && here };
                it && sorts.contains(&sort(data.kind))
            });
            if let Some((resource, data)) = is_it {
                let count = data.count.unwrap_or(1);
                most = most.max(count);
                if place.element < count {
                    found.push((program, resource));
                }
            }
        }
        if found.is_empty() && most > 0 {
            let message = format!("gpucc_place.element: there are {most} elements");
            return Err(Failure::usage(message));
        }
        if found.is_empty() {
            let gpucc_place { group, binding, .. } = place;
            let message = format!("no program has such a binding {group}.{binding}");
            return Err(Failure::usage(message));
        }
        Ok(found)
    }

    fn bind(
        &mut self,
        place: &gpucc_place,
        sort: Sort,
        make: impl Fn(ResourceKind) -> Reply<Bound>,
    ) -> Reply<()> {
        let found = self.find(place, &[sort])?;
        let made = found.iter().map(|&(program, resource)| make(self.kind(program, resource)));
        // Where one program does not take it, the other one does not get it either.
        let made = made.collect::<Reply<Vec<Bound>>>()?;
        for (&(program, resource), bound) in found.iter().zip(made) {
            self.around.remove(&(program, resource, place.element));
            self.bindings[program].set_element(resource, place.element, bound);
        }
        match found[..] {
            [(program, resource)] => {
                let pairs = self.alike.iter().filter(|pair| pair[program] == resource);
                self.apart.extend(pairs.map(|&pair| (pair, place.element)));
            }
            [(_, vertex), (_, fragment)] => {
                self.apart.remove(&([vertex, fragment], place.element));
            }
            _ => {}
        }
        Ok(())
    }
}

/// Bytes that must be bound: those before a runtime array.
pub(crate) fn least(kind: ResourceKind) -> usize {
    kind.bytes().unwrap_or(0) as usize
}

/// A buffer of a binding.
fn buffer(kind: ResourceKind, bytes: &[u8]) -> Reply<Bound> {
    let least = least(kind);
    if bytes.len() < least || bytes.len() > 1 << 30 {
        let given = bytes.len();
        let message = format!("the binding takes at least {least} bytes, and {given} were given");
        return Err(Failure::usage(message));
    }
    Ok(Bound::Buffer(bytes.to_vec()))
}

/// A format by its name.
fn format(image: &gpucc_image) -> Reply<Format> {
    // SAFETY: the caller's, as the entry point has it.
    let name = unsafe { abi::text(image.format, "gpucc_image.format") }?;
    let name_shown = gpucc::printable(&name);
    Format::from_name(&name)
        .ok_or_else(|| Failure::usage(format!("gpucc_image.format: there is no '{name_shown}'")))
}

/// An image; without bytes it is full of zeros.
fn image(image: &gpucc_image, dim: Dim, bytes: &[u8]) -> Reply<Image> {
    let format = format(image)?;
    let gpucc_image { width, height, depth, layers, levels, samples, .. } = *image;
    if dim == Dim::D1 && height != 1 || dim != Dim::D3 && depth != 1 {
        return Err(Failure::usage("gpucc_image: height and depth must be 1 where there is none"));
    }
    if !samples.is_power_of_two() || samples > 16 {
        return Err(Failure::usage("gpucc_image.samples: 1, 2, 4, 8 or 16"));
    }
    let extent = Extent { dim, width, height, depth, layers, levels, samples };
    let mut made = Image::new(format, extent)
        .map_err(|error| Failure::usage(format!("gpucc_image: {error}")))?;
    let size = made.bytes().len();
    if !bytes.is_empty() {
        if bytes.len() != size {
            let given = bytes.len();
            let message = format!("the image takes {size} bytes, and {given} were given");
            return Err(Failure::usage(message));
        }
        made.bytes_mut().copy_from_slice(bytes);
    }
    Ok(made)
}

/// An image as a binding asks for it.
fn texture(kind: ResourceKind, given: &gpucc_image, bytes: &[u8]) -> Reply<Bound> {
    let (dim, arrayed, multisampled) = match kind {
        ResourceKind::Texture { dim, arrayed, multisampled, .. } => (dim, arrayed, multisampled),
        ResourceKind::StorageTexture { dim, arrayed, .. } => (dim, arrayed, false),
        _ => return Ok(Bound::Nothing),
    };
    if !arrayed && dim != Dim::Cube && given.layers != 1
        || !arrayed && dim == Dim::Cube && given.layers != 6
        || !multisampled && given.samples != 1
    {
        return Err(Failure::usage(
            "gpucc_image: layers or samples that the binding does not have",
        ));
    }
    let made = image(given, dim, bytes)?;
    let format = made.format();
    let fits = match kind {
        ResourceKind::Texture { sample, .. } => match sample {
            SampleType::Uint => format.kind() == Kind::Uint,
            SampleType::Sint => format.kind() == Kind::Sint,
            SampleType::Depth => format.is_depth(),
            SampleType::Float => !format.kind().is_integer(),
        },
        ResourceKind::StorageTexture { format: declared, .. } => {
            Format::from_name(declared.0).is_none_or(|declared| declared == format)
        }
        _ => true,
    };
    if !fits {
        let name = format.name();
        let message = format!("gpucc_image.format: the binding does not take '{name}'");
        return Err(Failure::usage(message));
    }
    Ok(Bound::Image(made))
}

fn sampler(given: &gpucc_sampler) -> Reply<Sampler> {
    let wraps = [
        Wrap::Clamp,
        Wrap::Repeat,
        Wrap::Mirror,
        Wrap::MirrorOnce,
        Wrap::Border,
        Wrap::MirrorOnceBorder,
    ];
    let filters = [Filter::Nearest, Filter::Linear];
    let mips = [MipFilter::Nearest, MipFilter::Linear, MipFilter::None];
    let [x, y, z] = given.wrap.map(|wrap| abi::choice(wrap, &wraps, "gpucc_sampler.wrap"));
    let levels = [given.lod_min, given.lod_max, given.lod_bias];
    if !levels.into_iter().all(f32::is_finite) || given.lod_min > given.lod_max {
        return Err(Failure::usage("gpucc_sampler: levels that are no range"));
    }
    Ok(Sampler {
        wrap: [x?, y?, z?],
        mag: abi::choice(given.magnification, &filters, "gpucc_sampler.magnification")?,
        min: abi::choice(given.minification, &filters, "gpucc_sampler.minification")?,
        mip: abi::choice(given.mip, &mips, "gpucc_sampler.mip")?,
        lod_min: given.lod_min,
        lod_max: given.lod_max,
        lod_bias: given.lod_bias,
        compare: compare(given.compare, "gpucc_sampler.compare")?,
        border: given.border,
    })
}

/// Makes a device of a compute program, or of a vertex and a fragment program; `fragment` is null for a compute program.
/// Buffers are bound to zeros of their declared size, the larger one where the stages declare two; textures are bound to
/// nothing, samplers to zeros.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_create(
    program: *const gpucc_result,
    fragment: *const gpucc_result,
    device: *mut *mut gpucc_device,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        let first = unsafe {
            abi::write(device, std::ptr::null_mut(), "the place of the device")?;
            look(program, "result")?
        };
        let fragment = match fragment.is_null() {
            true => None,
            // SAFETY: the same.
            false => Some(unsafe { look(fragment, "fragment result") }?.made(Stage::Fragment)?),
        };
        let stage = if fragment.is_some() { Stage::Vertex } else { Stage::Compute };
        let first = first.made(stage)?;
        let machine = |made: &Made| (made.compiler.target(), made.compiler.chip());
        if fragment.is_some_and(|fragment| machine(fragment) != machine(first)) {
            return Err(Failure::usage("the two programs are of different targets or chips"));
        }
        let bindings = |made: &Made| -> Reply<Bindings> {
            let func = &made.compiled.ssa;
            let mut bindings = gpucc::execute::bindings(func)?;
            for (resource, data) in &func.resources {
                if sort(data.kind) == Sort::Sampler {
                    for element in 0..data.count.unwrap_or(1) {
                        bindings.set_element(resource, element, Bound::Sampler(Sampler::default()));
                    }
                }
            }
            Ok(bindings)
        };
        let [mut vs, mut fs] = [
            bindings(first)?,
            fragment.map_or_else(|| Ok(Bindings::default()), |fragment| bindings(fragment))?,
        ];
        let shared = fragment.map_or_else(Vec::new, |fragment| {
            shade::shared(&first.compiled.ssa, &fragment.compiled.ssa)
        });
        // The stages may declare other sizes.
        shade::share([&mut vs, &mut fs], &shared);
        let made = gpucc_device {
            alike: shared.iter().map(|&(pair, _)| pair).collect(),
            apart: BTreeSet::new(),
            bindings: [vs, fs],
            own: [Some(Arc::clone(first)), fragment.map(Arc::clone)],
            words: BTreeSet::new(),
            first: Arc::clone(first),
            fragment: fragment.map(Arc::clone),
            buffers: Vec::new(),
            targets: BTreeMap::new(),
            depth: None,
            steps: None,
            around: BTreeMap::new(),
        };
        // SAFETY: the same.
        unsafe { abi::write(device, give(made), "") }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Ends a device.
///
/// # Safety
/// It is null or nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_destroy(device: *mut gpucc_device) {
    value((), || {
        // SAFETY: the caller's.
        unsafe { take(device) };
        Ok(())
    });
}

/// Sets how many steps each dispatch, or each batch of a draw, may take. A step is one instruction of a wavefront or a warp.
///
/// # Safety
/// The device is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_set_steps(
    device: *mut gpucc_device,
    steps: u64,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        unsafe { change(device, "device") }?.steps = Some(steps);
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Binds a copy of these bytes to a buffer or to the immediates.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_bind_buffer(
    device: *mut gpucc_device,
    place: *const gpucc_place,
    data: gpucc_bytes,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, place, data) =
            unsafe { (change(device, "device")?, abi::read(place)?, abi::bytes(data, "data")?) };
        device.bind(&place, Sort::Buffer, |kind| buffer(kind, data))?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Binds an image to a texture or storage texture; without bytes it holds zeros.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_bind_image(
    device: *mut gpucc_device,
    place: *const gpucc_place,
    image: *const gpucc_image,
    data: gpucc_bytes,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, place, image, data) = unsafe {
            let device = change(device, "device")?;
            (device, abi::read(place)?, abi::read(image)?, abi::bytes(data, "data")?)
        };
        device.bind(&place, Sort::Image, |kind| texture(kind, &image, data))?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Binds a sampler.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_bind_sampler(
    device: *mut gpucc_device,
    place: *const gpucc_place,
    sampler: *const gpucc_sampler,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, place, sampler) =
            unsafe { (change(device, "device")?, abi::read(place)?, abi::read(sampler)?) };
        let made = self::sampler(&sampler)?;
        device.bind(&place, Sort::Sampler, |kind| {
            let compares = matches!(kind, ResourceKind::Sampler { comparison: true });
            if compares != made.compare.is_some() {
                let message = "gpucc_sampler.compare: the binding compares, or it does not";
                return Err(Failure::usage(message));
            }
            Ok(Bound::Sampler(made))
        })?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Gives a vertex buffer, by its number in the pipeline, a copy of these bytes.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_vertex_buffer(
    device: *mut gpucc_device,
    number: u32,
    data: gpucc_bytes,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, data) = unsafe { (change(device, "device")?, abi::bytes(data, "data")?) };
        if number >= 32 || data.len() > 1 << 30 {
            return Err(Failure::usage("there are 32 vertex buffers of at most 1 GiB"));
        }
        if device.buffers.len() <= number as usize {
            device.buffers.resize(number as usize + 1, Vec::new());
        }
        device.buffers[number as usize] = data.to_vec();
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Binds what a draw writes to at a location, or at GPUCC_DEPTH_TARGET; without bytes it holds zeros.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_set_target(
    device: *mut gpucc_device,
    location: u32,
    image: *const gpucc_image,
    data: gpucc_bytes,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, image, data) =
            unsafe { (change(device, "device")?, abi::read(image)?, abi::bytes(data, "data")?) };
        let made = self::image(&image, Dim::D2, data)?;
        if image.samples != 1 || image.layers != 1 {
            let message = "gpucc_image: the emulator draws to one layer and one sample a pixel";
            return Err(Failure::usage(message));
        }
        if location == GPUCC_DEPTH_TARGET {
            if !made.format().is_depth() {
                return Err(Failure::usage("gpucc_image.format: it holds no depth"));
            }
            device.depth = Some(made);
        } else if location < 8 && made.format().renders() {
            device.targets.insert(location, made);
        } else {
            return Err(Failure::usage(
                "there are 8 colour targets, of formats that are rendered to",
            ));
        }
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Copies out what the device holds, piece behind piece. `*size` is how many bytes there are; where `room` is less, nothing is
/// copied.
///
/// # Safety
/// `to` has `room` bytes, and `size` can be written.
unsafe fn copy_out(pieces: &[&[u8]], to: *mut u8, room: usize, size: *mut usize) -> Reply<()> {
    let whole: usize = pieces.iter().map(|piece| piece.len()).sum();
    // SAFETY: the caller's.
    unsafe { abi::write(size, whole, "the place of the size") }?;
    if to.is_null() || room < whole {
        return Ok(());
    }
    let mut at = to;
    for piece in pieces {
        // SAFETY: the same: all pieces fit; nobody else has the caller's memory, and ours is another.
        unsafe {
            std::ptr::copy_nonoverlapping(piece.as_ptr(), at, piece.len());
            at = at.add(piece.len());
        }
    }
    Ok(())
}

/// Reads a buffer or an image back. Where each stage has bytes of its own, `place` names the stage. `*size` is how many bytes
/// it has; where `room` is less or `to` is null, nothing is copied.
///
/// # Safety
/// The pointers lead to what their types say; `to` has `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_read(
    device: *const gpucc_device,
    place: *const gpucc_place,
    to: *mut u8,
    room: usize,
    size: *mut usize,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        let (device, place) = unsafe { (look(device, "device")?, abi::read(place)?) };
        let found = device.find(&place, &[Sort::Buffer, Sort::Image])?;
        let pieces = |&(program, resource): &(usize, Resource)| {
            device.pieces(program, resource, place.element)
        };
        let mut each = found.iter().map(pieces);
        let bytes = each.next().unwrap_or_default();
        if each.any(|other| other != bytes && other.concat() != bytes.concat()) {
            let message = "gpucc_place.stage: each stage has bytes of its own there: name one";
            return Err(Failure::usage(message));
        }
        // SAFETY: the same.
        unsafe { copy_out(&bytes, to, room, size) }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Reads a target back, as gpucc_device_read does.
///
/// # Safety
/// The pointers lead to what their types say; `to` has `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_read_target(
    device: *const gpucc_device,
    location: u32,
    to: *mut u8,
    room: usize,
    size: *mut usize,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        let device = unsafe { look(device, "device") }?;
        let image = match location {
            GPUCC_DEPTH_TARGET => device.depth.as_ref(),
            _ => device.targets.get(&location),
        };
        let image = image.ok_or_else(|| Failure::usage("no such target is bound"))?;
        // SAFETY: the same.
        unsafe { copy_out(&[image.bytes()], to, room, size) }?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Runs workgroups of a compute program on the emulated machine, set up from the result alone.
///
/// # Safety
/// The device is null or one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_dispatch(
    device: *mut gpucc_device,
    x: u32,
    y: u32,
    z: u32,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let device = unsafe { change(device, "device") }?;
        if device.fragment.is_some() {
            return Err(Failure::usage("the device has a vertex and a fragment program"));
        }
        let made = Arc::clone(&device.first);
        let mut executor = made.compiler.executor(&made.compiled, &made.options, &made.source);
        if let Some(steps) = device.steps {
            executor.set_steps(steps);
        }
        let run = executor.dispatch(&mut device.bindings[0], [x, y, z]);
        run.map_err(|stop| device.blame(stop.into_failure()))?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Draws to the targets on the emulated machine. Where a stage stores to a buffer or image of both, vertices run in batches of
/// 64, and pixels when 16 quads are collected or the draw ends, in the order of primitives. Silicon promises less: a pixel
/// runs after the vertices of its primitive.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_device_draw(
    device: *mut gpucc_device,
    draw: *const gpucc_draw,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's.
        let (device, draw, indices) = unsafe {
            let device = change(device, "device")?;
            let draw = abi::read(draw)?;
            let indices = abi::numbers(
                draw.indices,
                draw.index_count,
                draw::MOST as usize,
                "gpucc_draw.indices",
            )?;
            (device, draw, indices)
        };
        draw::draw(device, &draw, indices).map_err(|failure| device.blame(failure))?;
        Ok(gpucc_status::GPUCC_OK)
    })
}

/// Compares the emulated machine with the interpreter on so many inputs, bit for bit. GPUCC_MISMATCH is a word that differs,
/// or too little that could be compared; gpucc_last_message says which.
///
/// # Safety
/// The pointers lead to what their types say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gpucc_verify(
    result: *const gpucc_result,
    inputs: u32,
    seed: u64,
    verification: *mut gpucc_verification,
) -> gpucc_status {
    entry(|| {
        // SAFETY: the caller's, here and below.
        let made = unsafe { look(result, "result") }?.shader()?;
        if made.properties.is_some() {
            return Err(Failure::usage("a result that was loaded has no SSA to compare with")
                .note("compile it to verify it"));
        }
        if inputs == 0 || inputs > 1 << 16 {
            return Err(Failure::usage("a verification takes 1 to 65536 inputs"));
        }
        let summary = gpucc::verify::verify(
            &made.compiler,
            &made.compiled,
            &made.source,
            &made.options,
            inputs,
            seed,
        )?;
        let found = gpucc_verification {
            invocations: summary.invocations,
            words: summary.words,
            inputs: summary.counted,
            mismatches: summary.mismatches,
        };
        // SAFETY: the same.
        unsafe { abi::write(verification, found, "the place of the verification") }?;
        match summary.failure(made.compiler.target().name()) {
            Some(failure) => Err(failure),
            None => Ok(gpucc_status::GPUCC_OK),
        }
    })
}
