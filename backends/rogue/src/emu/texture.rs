//! Texture operations. 2.9, 4.5.
//!
//! Filtering is that of every machine ([`gpucc_emu::sampler`]). Of memory the public driver says: the levels of a layer
//! follow each other, sizes are rounded up to powers of two, in three dimensions to multiples of four; the layers of a cube
//! are as far apart as a whole chain of levels, rounded up to 4096 bytes. Ours to assume [A]: within a level the bits of the
//! row and of the column alternate, the row's first, and what is left of the longer side follows; in three dimensions
//! those of the slice come third; a pixel's samples lie side by side.
//!
//! Coordinates are floats everywhere: the public compiler converts the numbers of texels too (`unpck.s32` before
//! `.nncoords`), where the page says integers. What is written is packed: it gathers the channels of a texel of up to 32
//! bits in the first data word, those of four channels of 16 bits in the first and third, and has a word for each channel
//! of 32 bits. So it is here [A].

mod layout;
pub(super) mod state;

use super::check::Stage;
use super::inst::{Lod, Register, Sample};
use super::machine::{Machine, Slot};
use super::register::{INSTANCES, Lanes, each, elsewhere};
use super::rule::{Refused, Rule};
use super::task::Task;
use gpucc_emu::image::{Image, Texel};
use gpucc_emu::sampler::{FacePoint, Filter, Level, Lookup, Position, gather, sample};
use gpucc_ir::ssa::Dim;
use state::{Description, Swizzle};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An image with the memory that it was read from: an address and its stamp.
type Kept = (Arc<Image>, Vec<(u64, u64)>);

/// Images that were read from memory, by their words, as long as memory stays.
#[derive(Clone, Debug, Default)]
pub struct Textures {
    images: BTreeMap<([u32; 4], u64, u32, bool), Kept>,
}

/// Images that are kept.
const MOST_IMAGES: usize = 64;

/// Data words that an operation has at most. 2.9.
const MOST_WORDS: usize = 18;

/// A texture operation of some instances, with the words that they gave.
#[derive(Clone, Debug)]
pub struct Request {
    op: Sample,
    lanes: Lanes,
    /// Instances whose data words are there.
    known: Lanes,
    /// Words of the texture's state.
    texture: Vec<[u32; 4]>,
    /// Words of the sampler's state.
    sampler: Vec<[u32; 4]>,
    data: Vec<[u32; MOST_WORDS]>,
    /// Registers that it reads.
    pub(super) reads: Vec<(Slot, usize)>,
    /// Registers of the results, by instance.
    pub(super) targets: Vec<(usize, Vec<Slot>)>,
}

/// Where the data words of an operation are. 2.9.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Form {
    projector: Option<usize>,
    array: Option<usize>,
    lod: Option<usize>,
    address: Option<usize>,
    lookup: Option<usize>,
    written: Option<usize>,
    count: usize,
}

impl Form {
    fn of(op: &Sample) -> Result<Form, Refused> {
        let mut count = usize::from(op.dimensions);
        let mut take = |is: bool, words: usize| {
            let at = count;
            if is {
                count += words;
            }
            is.then_some(at)
        };
        let projector = take(op.projected, 1);
        let array = take(op.extended.is_some_and(|extended| extended.array), 1);
        let lod = match op.lod {
            Lod::Normal => None,
            Lod::Bias | Lod::Replace => take(true, 1),
            Lod::Gradients => take(true, 2 * usize::from(op.dimensions)),
        };
        if op.address && op.lod == Lod::Normal {
            return Err((Rule::TextureData, "an address without a level's word".into()));
        }
        let address = take(op.address, 2);
        let lookup = take(op.sample || op.offsets, 1);
        let written = take(op.write, usize::from(op.channels));
        if count > MOST_WORDS {
            return Err((Rule::TextureData, format!("{count} words")));
        }
        Ok(Form { projector, array, lod, address, lookup, written, count })
    }
}

impl Machine<'_> {
    /// Reads what an operation needs of its instances' registers.
    pub(super) fn request(
        &self,
        task: &Task,
        sources: &[Register; 6],
        op: &Sample,
        lanes: Lanes,
    ) -> Result<Request, Refused> {
        let not_built = |what: &str| Err((Rule::NotBuilt, what.to_string()));
        if op.half || op.raw > 1 {
            return not_built("results in halves, and the coefficients of a filter");
        }
        if op.extended.is_some_and(|e| e.direct || e.half_input || e.compares) {
            return Err((Rule::Undocumented, format!("{:?}", op.extended)));
        }
        if op.write && (!op.integers || op.raw != 0 || op.projected) {
            return Err((Rule::Undocumented, "a write of a place that is no texel".into()));
        }
        let form = Form::of(op)?;
        let mut request = Request {
            op: *op,
            lanes,
            known: lanes,
            texture: vec![[0; 4]; INSTANCES],
            sampler: vec![[0; 4]; INSTANCES],
            data: vec![[0; MOST_WORDS]; INSTANCES],
            reads: Vec::new(),
            targets: Vec::new(),
        };
        for lane in each(lanes) {
            let mut words = |register: Register, into: &mut [u32]| {
                for (at, word) in into.iter_mut().enumerate() {
                    let slot = self.range(task, register, lane, at)?;
                    *word = self.read(task, slot, lane)?;
                    request.reads.push((slot, lane));
                }
                Ok::<(), Refused>(())
            };
            words(sources[0], &mut request.texture[lane])?;
            words(sources[2], &mut request.sampler[lane])?;
            words(sources[1], &mut request.data[lane][..form.count])?;
            if !op.write {
                let count = usize::from(op.channels) * if op.raw == 1 { 4 } else { 1 };
                let slots = (0..count).map(|at| self.range(task, sources[4], lane, at));
                request.targets.push((lane, slots.collect::<Result<_, _>>()?));
            }
        }
        if matches!(op.lod, Lod::Normal | Lod::Bias) && !op.integers {
            self.neighbours(task, sources[1], form.count, &mut request)?;
        }
        Ok(request)
    }

    /// The data words of instances that do not execute the operation, for whose quad a level is computed.
    fn neighbours(
        &self,
        task: &Task,
        register: Register,
        count: usize,
        request: &mut Request,
    ) -> Result<(), Refused> {
        if task.stage != Stage::Fragment {
            return Err((Rule::Quad, format!("a level is computed of {:?}", task.stage)));
        }
        let quads = each(request.lanes).fold(0u32, |quads, lane| quads | 15 << (lane & !3));
        for lane in each(quads & task.valid & !request.lanes) {
            for at in 0..count {
                let slot = self.range(task, register, lane, at)?;
                request.data[lane][at] = match self.read(task, slot, lane) {
                    Err((Rule::Undefined, _)) => {
                        let running = (request.lanes & 15 << (lane & !3)).trailing_zeros();
                        elsewhere(request.data[running as usize][at])
                    }
                    word => word?,
                };
                request.reads.push((slot, lane));
            }
            request.known |= 1 << lane;
        }
        Ok(())
    }

    /// Executes a texture operation; gives the words of its results.
    pub(super) fn sampled(
        &mut self,
        request: &Request,
    ) -> Result<Vec<(Slot, usize, u32)>, Refused> {
        let form = Form::of(&request.op)?;
        let mut lanes: Vec<usize> = each(request.lanes).collect();
        self.order.shuffle(&mut lanes);
        let mut results = Vec::new();
        for lane in lanes {
            let mut description = Description::read(
                &request.texture[lane],
                request.op.normalise,
                request.op.dimensions,
            )?;
            let data = &request.data[lane];
            // Without a layer's word one layer alone can be meant, and behind an address the others are not this texture's.
            if form.array.is_none() && description.dim != Dim::D3 {
                description.depth = 1;
            }
            if let Some(at) = form.address {
                description.address = u64::from(data[at + 1]) << 32 | u64::from(data[at]);
            }
            if request.op.write {
                self.write_texel(request, &form, lane, &description)?;
                continue;
            }
            let words = self.one(request, &form, lane, &description)?;
            let Some((_, slots)) = request.targets.iter().find(|(target, _)| *target == lane)
            else {
                continue;
            };
            results.extend(slots.iter().zip(words).map(|(slot, word)| (*slot, lane, word)));
        }
        Ok(results)
    }

    /// The words that one instance gets.
    fn one(
        &mut self,
        request: &Request,
        form: &Form,
        lane: usize,
        description: &Description,
    ) -> Result<Vec<u32>, Refused> {
        let op = &request.op;
        let border = self.border_table;
        let sampler = state::sampler(&request.sampler[lane], |index| {
            let Some(table) = border else {
                return Err((Rule::TextureWords, "a border without a table of colours".into()));
            };
            let mut colour = [0; 4];
            for (at, word) in colour.iter_mut().enumerate() {
                *word =
                    self.memory.word(table.wrapping_add(32 * u64::from(index) + 4 * at as u64))?;
            }
            Ok(colour)
        })?;
        let data = &request.data[lane];
        let offsets =
            form.lookup.filter(|_| op.offsets).map_or([0; 3], |at| lookup_offsets(data[at]));
        let number = form.lookup.filter(|_| op.sample).map_or(0, |at| data[at] >> 16 & 7);
        let layer = form.array.map_or(0, |at| data[at] as i32);
        let image = self.image(&request.texture[lane], description, op.normalise)?;
        let components = |texel: [u32; 4]| description.swizzled(texel);
        if op.sample || image.extent().samples > 1 {
            if !op.integers {
                return Err((Rule::Undocumented, "a filter over samples".into()));
            }
            let numbers = [number_of(data[0]), number_of(data[1])];
            let texel = match numbers {
                [Some(x), Some(y)] => {
                    image.load(Texel { x, y, sample: number, ..Texel::default() })
                }
                _ => None,
            };
            let texel = components(texel.unwrap_or([0; 4]));
            return Ok(texel[..usize::from(op.channels)].to_vec());
        }
        let position = place(request, form, lane, description)?;
        if op.integers && (sampler.mag, sampler.min) != (Filter::Nearest, Filter::Nearest) {
            return Err((Rule::Undocumented, "a filter over texels by number".into()));
        }
        let level = level(request, form, lane, description)?;
        let lookup = Lookup { position, layer, level, reference: None, offset: offsets };
        if op.raw == 0 {
            let texel = sample(&image, &sampler, &lookup);
            return Ok(components(texel)[..usize::from(op.channels)].to_vec());
        }
        Ok(raw(&image, &sampler, &lookup, op, description))
    }

    /// The image of a description, read from memory.
    fn image(
        &mut self,
        words: &[u32; 4],
        description: &Description,
        normalise: bool,
    ) -> Result<Arc<Image>, Refused> {
        let key = (*words, description.address, description.depth, normalise);
        let memory = &*self.memory;
        let stands =
            |&(address, stamp): &(u64, u64)| memory.stamp(address).is_some_and(|s| s.0 == stamp);
        let images = &mut self.caches.textures.images;
        if let Some((image, from)) = images.get(&key)
            && from.iter().all(stands)
        {
            return Ok(Arc::clone(image));
        }
        if images.len() >= MOST_IMAGES {
            images.clear();
        }
        let (image, from) = layout::read(description, memory)?;
        let image = Arc::new(image);
        images.insert(key, (Arc::clone(&image), from));
        Ok(image)
    }

    /// Writes one texel.
    fn write_texel(
        &mut self,
        request: &Request,
        form: &Form,
        lane: usize,
        description: &Description,
    ) -> Result<(), Refused> {
        let data = &request.data[lane];
        let Some(written) = form.written else { return Ok(()) };
        let axis = |at: usize| match at < usize::from(request.op.dimensions) {
            true => number_of(data[at]),
            false => Some(0),
        };
        let (Some(x), Some(y), Some(z)) = (axis(0), axis(1), axis(2)) else { return Ok(()) };
        let Some(place) = layout::place(description, Texel { x, y, z, ..Texel::default() }) else {
            return Ok(());
        };
        let size = description.format.bytes() as usize;
        let channel = 8 * description.format.bytes() / description.format.components();
        let words = size.div_ceil(4);
        let step = if channel == 16 && words == 2 { 2 } else { 1 };
        if words.saturating_sub(1) * step >= usize::from(request.op.channels) {
            let what = format!("{} channels of {:?}", request.op.channels, description.format);
            return Err((Rule::TextureData, what));
        }
        let packed = (0..words).flat_map(|word| data[written + step * word].to_le_bytes());
        let bytes: Vec<u8> = packed.take(size).collect();
        self.memory.write(place, &bytes)
    }
}

/// The number of a texel, from a float; none where it is negative, too large or no number.
fn number_of(bits: u32) -> Option<u32> {
    let value = f32::from_bits(bits);
    (0.0..65536.0).contains(&value).then_some(value as u32)
}

/// Offsets of u, v and w. 2.9.
fn lookup_offsets(word: u32) -> [i32; 3] {
    let signed = |at: u32, bits: u32| ((word >> at) << (32 - bits)) as i32 >> (32 - bits);
    [signed(0, 6), signed(6, 6), signed(12, 4)]
}

/// The coordinates of an instance, divided by their projector.
fn coordinates(request: &Request, form: &Form, lane: usize) -> [f32; 3] {
    let data = &request.data[lane];
    let mut coordinates = [0.0; 3];
    for (at, value) in coordinates.iter_mut().enumerate().take(request.op.dimensions.into()) {
        *value = f32::from_bits(data[at]);
        if let Some(projector) = form.projector {
            *value /= f32::from_bits(data[projector]);
        }
    }
    coordinates
}

/// Where an instance looks.
fn place(
    request: &Request,
    form: &Form,
    lane: usize,
    description: &Description,
) -> Result<Position, Refused> {
    let data = &request.data[lane];
    if request.op.integers {
        if description.dim == Dim::Cube || form.projector.is_some() {
            return Err((Rule::Undocumented, "texels of a cube by number, or projected".into()));
        }
        let axis = |at: usize| match at < usize::from(request.op.dimensions) {
            true => f32::from_bits(data[at]),
            false => 0.0,
        };
        return Ok(Position::Texels([axis(0), axis(1), axis(2)]));
    }
    let coordinates = coordinates(request, form, lane);
    let explicit = matches!(request.op.lod, Lod::Gradients);
    Ok(match description.dim {
        Dim::Cube if !explicit => FacePoint::of(coordinates).position(),
        _ => Position::Normalized(coordinates),
    })
}

/// Which level an instance takes.
fn level(
    request: &Request,
    form: &Form,
    lane: usize,
    description: &Description,
) -> Result<Level, Refused> {
    let data = &request.data[lane];
    let word = form.lod.map_or(0.0, |at| f32::from_bits(data[at]));
    let dimensions = usize::from(request.op.dimensions);
    match request.op.lod {
        Lod::Replace => Ok(Level::Given(word)),
        Lod::Gradients => {
            let at = form.lod.unwrap_or(0);
            let (mut ddx, mut ddy) = ([0.0; 3], [0.0; 3]);
            for axis in 0..dimensions {
                ddx[axis] = f32::from_bits(data[at + 2 * axis]);
                ddy[axis] = f32::from_bits(data[at + 2 * axis + 1]);
            }
            Ok(Level::Gradient { ddx, ddy, bias: 0.0 })
        }
        Lod::Normal | Lod::Bias => {
            if request.op.integers {
                return Err((Rule::Undocumented, "a computed level of texels by number".into()));
            }
            let quad = lane & !3;
            // The quad's level is that of its first pixel, else each pixel has its own.
            let (from, right, below) = match request.op.per_pixel {
                false => (quad, quad + 1, quad + 2),
                true => (lane, lane ^ 1, lane ^ 2),
            };
            if [from, right, below].iter().any(|lane| request.known >> lane & 1 == 0) {
                return Err((Rule::Quad, format!("a neighbour of instance {lane} is missing")));
            }
            let at = |lane| coordinates(request, form, lane);
            let step = |to: usize| difference(description.dim, at(from), at(to));
            let (ddx, ddy) = (step(right), step(below));
            let bias = if request.op.lod == Lod::Bias { word } else { 0.0 };
            Ok(Level::Gradient { ddx, ddy, bias })
        }
    }
}

/// From one pixel's coordinates to another's. The sign does not count.
fn difference(dim: Dim, from: [f32; 3], to: [f32; 3]) -> [f32; 3] {
    if dim == Dim::Cube {
        return FacePoint::of(from).gradient(&FacePoint::of(to));
    }
    [to[0] - from[0], to[1] - from[1], to[2] - from[2]]
}

/// The four texels of a filter, before it: channel by channel of (0,0), (1,0), (0,1) and (1,1). 2.9.
fn raw(
    image: &Image,
    sampler: &gpucc_emu::sampler::Sampler,
    lookup: &Lookup,
    op: &Sample,
    description: &Description,
) -> Vec<u32> {
    let mut words = vec![0; 4 * usize::from(op.channels)];
    // Gathering gives (0,1), (1,1), (1,0) and (0,0) of one component.
    let by_component = [0, 1, 2, 3].map(|component| gather(image, sampler, lookup, component));
    for (texel, place) in [3usize, 2, 0, 1].into_iter().enumerate() {
        let components = by_component.map(|texels| texels[place]);
        let swizzled = description.swizzled(components);
        for channel in 0..usize::from(op.channels) {
            words[texel * usize::from(op.channels) + channel] = swizzled[channel];
        }
    }
    words
}

impl Description {
    /// Components as the state words order them.
    fn swizzled(&self, texel: [u32; 4]) -> [u32; 4] {
        self.swizzle.map(|source| match source {
            Swizzle::Component(at) => texel[usize::from(at)],
            Swizzle::One if self.format.kind().is_integer() => 1,
            Swizzle::One => 1f32.to_bits(),
            Swizzle::Zero => 0,
        })
    }
}
