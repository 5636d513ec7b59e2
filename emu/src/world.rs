//! Bound resources, and how the interpreter reaches them: the `World` of buffers, images and samplers.

use crate::image::{Image, Texel};
use crate::sampler::{
    FacePoint, Level, Lookup, Position, Sampler, clamp_to_edge, gather, queried_level,
    sample as sample_image,
};
use cranelift_entity::PrimaryMap;
use gpucc_ir::ssa::{Dim, Func, Lod, Resource, Sample, TexQuery, TexelAddress, World};

/// What stands behind one binding (or one element of an array of bindings).
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// Nothing: reads give 0, writes are dropped.
    Nothing,
    /// Bytes of a uniform or storage buffer or of the immediates; a multiple of 4 is best.
    Buffer(Vec<u8>),
    /// A texture or storage texture.
    Image(Image),
    /// A sampler.
    Sampler(Sampler),
}

impl Bound {
    /// The bytes of a buffer, empty for anything else.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Bound::Buffer(bytes) => bytes,
            Bound::Nothing | Bound::Image(_) | Bound::Sampler(_) => &[],
        }
    }
}

/// Bytes of all bindings of one entry point, as they are declared: more are not made.
pub const MOST_BYTES: u64 = 1 << 30;

/// The bindings of one entry point, by its [`Resource`] ids; each has one element or, for arrays of
/// bindings, several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bindings {
    bound: PrimaryMap<Resource, Vec<Bound>>,
}

impl Bindings {
    /// Bindings for every resource of a function: buffers zeroed at their declared size (with no
    /// elements of a runtime array), textures and samplers bound to nothing.
    pub fn new(func: &Func) -> Bindings {
        let mut bindings = Bindings::default();
        for data in func.resources.values() {
            let buffer = |bytes: u32| Bound::Buffer(vec![0; bytes as usize]);
            let one = data.kind.bytes().map_or(Bound::Nothing, buffer);
            bindings.bound.push(vec![one; data.count.unwrap_or(1) as usize]);
        }
        bindings
    }

    /// [`Bindings::new`], where that takes at most [`MOST_BYTES`].
    ///
    /// # Errors
    /// The bytes that it takes.
    pub fn bounded(func: &Func) -> Result<Bindings, u64> {
        let bytes = func.resources.values().map(|data| {
            let size = data.kind.bytes().unwrap_or(0);
            let one = u64::from(size) + size_of::<Bound>() as u64;
            one.saturating_mul(data.count.unwrap_or(1).into())
        });
        match bytes.fold(0, u64::saturating_add) {
            0..=MOST_BYTES => Ok(Bindings::new(func)),
            bytes => Err(bytes),
        }
    }

    /// Binds element 0.
    pub fn set(&mut self, resource: Resource, bound: Bound) {
        self.set_element(resource, 0, bound);
    }

    /// Binds an element; those between that were never bound are [`Bound::Nothing`].
    pub fn set_element(&mut self, resource: Resource, element: u32, bound: Bound) {
        while self.bound.len() <= cranelift_entity::EntityRef::index(resource) {
            self.bound.push(Vec::new());
        }
        let elements = &mut self.bound[resource];
        if elements.len() <= element as usize {
            elements.resize(element as usize + 1, Bound::Nothing);
        }
        elements[element as usize] = bound;
    }

    /// What is bound to an element.
    pub fn get(&self, resource: Resource, element: u32) -> &Bound {
        self.bound
            .get(resource)
            .and_then(|elements| elements.get(element as usize))
            .unwrap_or(&Bound::Nothing)
    }

    /// What is bound to the elements of a binding.
    pub fn elements(&self, resource: Resource) -> &[Bound] {
        self.bound.get(resource).map_or(&[], Vec::as_slice)
    }

    /// What is bound to an element, to change it.
    pub fn get_mut(&mut self, resource: Resource, element: u32) -> Option<&mut Bound> {
        self.bound.get_mut(resource)?.get_mut(element as usize)
    }

    /// Exchanges an element with one of other bindings.
    pub fn exchange(
        &mut self,
        own: (Resource, u32),
        other: &mut Bindings,
        theirs: (Resource, u32),
    ) {
        let both = (self.get_mut(own.0, own.1), other.get_mut(theirs.0, theirs.1));
        if let (Some(one), Some(two)) = both {
            std::mem::swap(one, two);
        }
    }

    /// Copies an element of other bindings.
    pub fn copy(&mut self, own: (Resource, u32), other: &Bindings, theirs: (Resource, u32)) {
        if let Some(one) = self.get_mut(own.0, own.1) {
            one.clone_from(other.get(theirs.0, theirs.1));
        }
    }

    /// Makes an element and one of other bindings equal. What is bound here stays, whatever it is, but for a buffer that is
    /// shorter than the other one; where nothing is bound here, the other one stays.
    pub fn merge(&mut self, own: (Resource, u32), other: &mut Bindings, theirs: (Resource, u32)) {
        let takes = match (self.get(own.0, own.1), other.get(theirs.0, theirs.1)) {
            (Bound::Nothing, Bound::Nothing) => return,
            (Bound::Nothing, _) => true,
            (Bound::Buffer(kept), Bound::Buffer(given)) => kept.len() < given.len(),
            _ => false,
        };
        if takes {
            self.set_element(own.0, own.1, other.get(theirs.0, theirs.1).clone());
        } else {
            other.set_element(theirs.0, theirs.1, self.get(own.0, own.1).clone());
        }
    }

    /// Every binding with its elements.
    pub fn iter(&self) -> impl Iterator<Item = (Resource, &[Bound])> {
        self.bound.iter().map(|(resource, elements)| (resource, elements.as_slice()))
    }

    fn image(&self, texture: (Resource, u32)) -> Option<&Image> {
        match self.get(texture.0, texture.1) {
            Bound::Image(image) => Some(image),
            Bound::Nothing | Bound::Buffer(_) | Bound::Sampler(_) => None,
        }
    }

    fn sampler(&self, sampler: (Resource, u32)) -> Option<&Sampler> {
        match self.get(sampler.0, sampler.1) {
            Bound::Sampler(sampler) => Some(sampler),
            Bound::Nothing | Bound::Buffer(_) | Bound::Image(_) => None,
        }
    }
}

/// The bytes of the word at a byte address: fewer than four at the end, none beyond it.
fn word_at(bytes: &[u8], address: u32) -> std::ops::Range<usize> {
    let at = (address as usize).min(bytes.len());
    at..bytes.len().min(at.saturating_add(4))
}

/// The word at a byte address that is a multiple of 4; 0 for bytes that do not exist.
pub fn load_word(bytes: &[u8], address: u32) -> u32 {
    let word = bytes[word_at(bytes, address)].iter().rev();
    word.fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// Replaces the bits of `mask` at a byte address, as far as there are bytes.
pub fn store_word(bytes: &mut [u8], address: u32, word: u32, mask: u32) {
    let old = load_word(bytes, address);
    let new = ((old & !mask) | (word & mask)).to_le_bytes();
    let place = word_at(bytes, address);
    let len = place.len();
    bytes[place].copy_from_slice(&new[..len]);
}

/// Where a texel address points, or `None` outside of the image.
pub fn texel_at(image: &Image, at: &TexelAddress) -> Option<Texel> {
    let natural = |v: i32| u32::try_from(v).ok();
    let mut texel = Texel {
        x: natural(at.coords[0])?,
        level: natural(at.level)?,
        layer: natural(at.layer)?,
        sample: natural(at.sample)?,
        ..Texel::default()
    };
    match image.extent().dim {
        Dim::D1 => {}
        Dim::D2 | Dim::Cube => texel.y = natural(at.coords[1])?,
        Dim::D3 => {
            texel.y = natural(at.coords[1])?;
            texel.z = natural(at.coords[2])?;
        }
    }
    Some(texel)
}

impl World for Bindings {
    fn buffer_size(&self, buffer: Resource, element: u32) -> u32 {
        u32::try_from(self.get(buffer, element).bytes().len()).unwrap_or(u32::MAX)
    }

    fn load_word(&mut self, buffer: Resource, element: u32, address: u32) -> u32 {
        load_word(self.get(buffer, element).bytes(), address)
    }

    fn store_word(&mut self, buffer: Resource, element: u32, address: u32, word: u32, mask: u32) {
        if let Some(Bound::Buffer(bytes)) = self.get_mut(buffer, element) {
            store_word(bytes, address, word, mask);
        }
    }

    fn sample(&mut self, sample: &Sample) -> [u32; 4] {
        let (Some(image), Some(sampler)) =
            (self.image(sample.texture), self.sampler(sample.sampler))
        else {
            return [0; 4];
        };
        let on_face = |coords: [f32; 3]| {
            if sample.projected { FacePoint::from_numbers(coords) } else { FacePoint::of(coords) }
        };
        let position = |coords: [f32; 3]| {
            if sample.projected { on_face(coords).position() } else { Position::Normalized(coords) }
        };
        let (position, level) = match sample.lod {
            Lod::Gradient { ddx, ddy, bias } => {
                let level = Level::Gradient { ddx, ddy, bias };
                (position(sample.coords), level)
            }
            Lod::Quad { from, x, y, bias } => {
                let first = on_face(from);
                let [ddx, ddy] = [x, y].map(|other| first.gradient(&on_face(other)));
                (on_face(sample.coords).position(), Level::Gradient { ddx, ddy, bias })
            }
            Lod::Level(level) => (position(sample.coords), Level::Given(level)),
            Lod::BaseClampToEdge => {
                let clamped = clamp_to_edge(image, sample.coords);
                (position(clamped), Level::Given(0.0))
            }
        };
        let lookup = Lookup {
            position,
            layer: sample.layer,
            level,
            reference: sample.compare,
            offset: sample.offset.map(i32::from),
        };
        if sample.level_only {
            let found = queried_level(image, sampler, &lookup);
            return [found.taken.to_bits(), found.computed.to_bits(), found.rounded.into(), 0];
        }
        match sample.gather {
            Some(component) => gather(image, sampler, &lookup, component),
            None if sample.texel => sample_image(image, &sampler.of_texels(), &lookup),
            None => sample_image(image, sampler, &lookup),
        }
    }

    fn load_texel(&mut self, at: &TexelAddress) -> [u32; 4] {
        self.image(at.texture).and_then(|image| image.load(texel_at(image, at)?)).unwrap_or([0; 4])
    }

    fn has_texel(&self, at: &TexelAddress) -> bool {
        self.image(at.texture).is_some_and(|image| {
            texel_at(image, at).is_some_and(|texel| image.offset(texel).is_some())
        })
    }

    fn store_texel(&mut self, at: &TexelAddress, texel: [u32; 4]) {
        if let Some(Bound::Image(image)) = self.get_mut(at.texture.0, at.texture.1)
            && let Some(place) = texel_at(image, at)
        {
            image.store(place, texel);
        }
    }

    fn query(&self, texture: (Resource, u32), what: TexQuery, level: i32) -> [u32; 3] {
        if what == TexQuery::Sampler {
            return match self.get(texture.0, texture.1) {
                Bound::Sampler(sampler) => [sampler.word(level as u32), 0, 0],
                _ => [0; 3],
            };
        }
        let Some(image) = self.image(texture) else {
            return [0; 3];
        };
        let extent = image.extent();
        match what {
            TexQuery::Size => match u32::try_from(level) {
                Ok(level) if level < extent.levels => image.size(level),
                _ => [0; 3],
            },
            TexQuery::Levels => [extent.levels, 0, 0],
            TexQuery::Layers if extent.dim == Dim::Cube => [extent.layers / 6, 0, 0],
            TexQuery::Layers => [extent.layers, 0, 0],
            TexQuery::Samples => [extent.samples, 0, 0],
            TexQuery::Sampler => [0; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::image::Extent;

    #[test]
    fn words_outside_of_a_buffer_read_zero_and_drop_writes() {
        let r = Resource::from_u32(0);
        let mut b = Bindings::default();
        b.set(r, Bound::Buffer(vec![1, 2, 3, 4, 5]));
        assert_eq!(b.load_word(r, 0, 0), 0x0403_0201);
        assert_eq!(b.load_word(r, 0, 4), 5);
        assert_eq!(b.load_word(r, 0, 8), 0);
        assert_eq!(b.load_word(r, 1, 0), 0);
        b.store_word(r, 0, 0, u32::MAX, 0xFF00);
        b.store_word(r, 0, 4, 0x0807_0605, 0xFFFF);
        b.store_word(r, 0, 8, 7, u32::MAX);
        b.store_word(r, 0, u32::MAX - 3, 7, u32::MAX);
        assert_eq!(b.get(r, 0).bytes(), [1, 255, 3, 4, 5]);
        assert_eq!(b.buffer_size(r, 0), 5);
    }

    #[test]
    fn what_is_merged_is_one_thing_of_the_same_side() {
        let r = Resource::from_u32(0);
        let image = |width| {
            Bound::Image(Image::new(Format::R32Uint, Extent::plane(width, 1)).expect("fits"))
        };
        let sampler = |lod_min| Bound::Sampler(Sampler { lod_min, ..Sampler::default() });
        let bytes = |len| Bound::Buffer(vec![len as u8; len]);
        for (own, other, left) in [
            (bytes(8), bytes(4), bytes(8)),
            (bytes(4), bytes(8), bytes(8)),
            (image(1), image(2), image(1)),
            (sampler(1.0), sampler(2.0), sampler(1.0)),
            (Bound::Nothing, image(2), image(2)),
            (image(1), Bound::Nothing, image(1)),
        ] {
            // Element 1 of the one is element 1 of the other; element 0 is not touched.
            let (mut one, mut two) = (Bindings::default(), Bindings::default());
            one.set_element(r, 1, own);
            two.set_element(r, 1, other);
            one.merge((r, 1), &mut two, (r, 1));
            assert_eq!([one.get(r, 1), two.get(r, 1)], [&left; 2]);
            assert_eq!([one.get(r, 0), two.get(r, 0)], [&Bound::Nothing; 2]);
        }
    }

    #[test]
    fn texels_outside_of_an_image_read_zero() {
        let r = Resource::from_u32(3);
        let mut b = Bindings::default();
        b.set(r, Bound::Image(Image::new(Format::R32Uint, Extent::plane(2, 2)).expect("fits")));
        let at = |x, level| TexelAddress {
            texture: (r, 0),
            coords: [x, 1, 0],
            layer: 0,
            level,
            sample: 0,
        };
        b.store_texel(&at(1, 0), [9, 0, 0, 0]);
        b.store_texel(&at(-1, 0), [8, 0, 0, 0]);
        assert_eq!(b.load_texel(&at(1, 0)), [9, 0, 0, 1]);
        assert_eq!(b.load_texel(&at(2, 0)), [0; 4]);
        assert!(b.has_texel(&at(1, 0)) && !b.has_texel(&at(2, 0)) && !b.has_texel(&at(1, 1)));
        assert_eq!(b.load_texel(&at(1, 1)), [0; 4]);
        assert_eq!(b.query((r, 0), TexQuery::Size, 0), [2, 2, 1]);
    }
}
