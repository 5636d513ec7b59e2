//! Comparison of two runs word by word, and which words the reference wrote: those are owed.

use super::{Case, Difference, FragmentOut, Results, StageCase};
use gpucc_emu::image::Image;
use gpucc_emu::world::{Bindings, Bound, texel_at};
use gpucc_ir::Map;
use gpucc_ir::ssa::interp::{Emitted, Excluded, Word};
use gpucc_ir::ssa::{
    Builtin, Func, OutputKind, Resource, ResourceKind, Sample, Scalar, Span, TexQuery,
    TexelAddress, World,
};
use gpucc_machine::Kept;
use std::ops::Range;

/// Which bytes of each binding's element a run has stored to.
#[derive(Clone, Debug, Default)]
pub(super) struct Written(Map<(Resource, u32), Vec<bool>>);

impl Written {
    fn add(&mut self, place: (Resource, u32), from: usize, count: usize) {
        let bytes = self.0.entry(place).or_default();
        if bytes.len() < from + count {
            bytes.resize(from + count, false);
        }
        bytes[from..from + count].fill(true);
    }

    /// Whether a run has stored to each byte of an element, up to the last one that it stored to.
    fn of(&self, place: (Resource, u32)) -> &[bool] {
        self.0.get(&place).map_or(&[], Vec::as_slice)
    }
}

/// Whether a byte is one that was stored to.
fn is_written(written: &[bool], byte: usize) -> bool {
    written.get(byte).copied().unwrap_or(false)
}

/// Bindings that remember what was stored to them.
pub(super) struct Recorded {
    /// What is bound.
    pub bindings: Bindings,
    /// What was stored to.
    pub written: Written,
}

impl Recorded {
    /// Nothing is stored yet.
    pub fn new(bindings: &Bindings) -> Recorded {
        Recorded { bindings: bindings.clone(), written: Written::default() }
    }
}

impl World for Recorded {
    fn buffer_size(&self, buffer: Resource, element: u32) -> u32 {
        self.bindings.buffer_size(buffer, element)
    }
    fn load_word(&mut self, buffer: Resource, element: u32, address: u32) -> u32 {
        self.bindings.load_word(buffer, element, address)
    }
    fn store_word(&mut self, buffer: Resource, element: u32, address: u32, word: u32, mask: u32) {
        if address < self.buffer_size(buffer, element) {
            self.written.add((buffer, element), address as usize, 4);
        }
        self.bindings.store_word(buffer, element, address, word, mask);
    }
    fn sample(&mut self, sample: &Sample) -> [u32; 4] {
        self.bindings.sample(sample)
    }
    fn load_texel(&mut self, at: &TexelAddress) -> [u32; 4] {
        self.bindings.load_texel(at)
    }

    fn has_texel(&self, at: &TexelAddress) -> bool {
        self.bindings.has_texel(at)
    }
    fn store_texel(&mut self, at: &TexelAddress, texel: [u32; 4]) {
        if let Bound::Image(image) = self.bindings.get(at.texture.0, at.texture.1)
            && let Some(offset) = texel_at(image, at).and_then(|place| image.offset(place))
        {
            let bytes = image.format().bytes() as usize;
            self.written.add(at.texture, offset, bytes);
        }
        self.bindings.store_texel(at, texel);
    }
    fn query(&self, texture: (Resource, u32), what: TexQuery, level: i32) -> [u32; 3] {
        self.bindings.query(texture, what, level)
    }
}

/// Which word differed, for finding its source.
#[derive(Clone, Debug, Default)]
pub(super) enum WordId {
    #[default]
    None,
    Memory(Word),
    Output(usize, u8),
    Discard,
}

/// Compares results word by word.
pub(super) struct Comparison<'f> {
    func: &'f Func,
    input: u32,
    who: String,
    /// Outputs of which the program that ran against the reference leaves less than their words.
    pub kept: Vec<Kept>,
    /// Samples of a pixel, a bit each: others in a mask mean nothing.
    pub samples: u32,
    /// Words compared.
    pub compared: u64,
    /// Words that the reference wrote, and of these the compared ones.
    pub owed: u64,
    pub proved: u64,
    pub first: Option<Difference>,
    pub word: WordId,
}

impl<'f> Comparison<'f> {
    pub fn new(func: &'f Func, input: u32, who: String) -> Self {
        Comparison {
            func,
            input,
            who,
            kept: Vec::new(),
            samples: u32::MAX,
            compared: 0,
            owed: 0,
            proved: 0,
            first: None,
            word: WordId::None,
        }
    }

    /// A word; `owed` when the reference wrote it, `left_out` when it must not be compared.
    fn word(
        &mut self,
        [owed, left_out]: [bool; 2],
        scalar: Scalar,
        [expected, got]: [u32; 2],
        place: impl FnOnce() -> (String, WordId),
    ) {
        self.owed += u64::from(owed);
        if left_out {
            return;
        }
        self.proved += u64::from(owed);
        self.compared += 1;
        if self.first.is_some() || equal(scalar, expected, got) {
            return;
        }
        let (place, word) = place();
        self.word = word;
        self.first = Some(Difference {
            input: self.input,
            place,
            expected: show(scalar, expected),
            who: self.who.clone(),
            got: show(scalar, got),
            span: Span::NONE,
        });
    }

    /// Counts words that are equal; `written` says of each whether the reference wrote it, and ends with the last one that it did.
    fn same<'a>(&mut self, count: usize, written: impl Iterator<Item = &'a bool>, left_out: bool) {
        let owed = written.take(count).filter(|&&written| written).count() as u64;
        self.owed += owed;
        if !left_out {
            self.proved += owed;
            self.compared += count as u64;
        }
    }

    /// Everything that two runs left; `expected` knows what was written.
    pub fn results(&mut self, expected: &Results, got: &Results, excluded: &Excluded, case: &Case) {
        for (resource, data) in &self.func.resources {
            for element in 0..data.count.unwrap_or(1) {
                match (
                    data.kind,
                    expected.bindings.get(resource, element),
                    got.bindings.get(resource, element),
                ) {
                    (ResourceKind::Storage { .. }, Bound::Buffer(a), Bound::Buffer(b)) => {
                        self.buffer((resource, element), [a, b], &expected.written, excluded);
                    }
                    (ResourceKind::StorageTexture { .. }, Bound::Image(a), Bound::Image(b)) => {
                        self.image((resource, element), [a, b], &expected.written, excluded);
                    }
                    _ => {}
                }
            }
        }
        for (lane, (a, b)) in expected.vertices.iter().zip(&got.vertices).enumerate() {
            self.outputs(a, b, lane..lane + 1, excluded, || format!("vertex invocation {lane}"));
        }
        for (number, (a, b)) in expected.primitives.iter().zip(&got.primitives).enumerate() {
            self.primitive(number, a, b, excluded);
        }
        let StageCase::Fragment(batch) = &case.stage else {
            return;
        };
        for (lane, (a, b)) in expected.pixels.iter().zip(&got.pixels).enumerate() {
            let quad = &batch.quads[lane / 4];
            if quad.covered >> (lane % 4) & 1 == 0 {
                continue;
            }
            let (x, y) = (quad.x + lane as u32 % 2, quad.y + lane as u32 % 4 / 2);
            let pixel = || format!("pixel ({x}, {y})");
            let [gone, missing] = [a, b].map(|pixel| self.gone(pixel));
            let how = [true, excluded.all];
            self.word(how, Scalar::Bool, [gone.into(), missing.into()], || {
                (format!("the discard bit of {}", pixel()), WordId::Discard)
            });
            if !gone && !missing {
                self.outputs(&a.outputs, &b.outputs, lane..lane + 1, excluded, pixel);
            }
        }
    }

    /// What a geometry program emitted for a primitive: how many vertices, where strips begin, and the outputs of each. What is
    /// left out of one of its invocations is left out of all its vertices.
    fn primitive(
        &mut self,
        number: usize,
        expected: &[Emitted],
        got: &[Emitted],
        excluded: &Excluded,
    ) {
        let how = [true, excluded.all];
        let counts = [expected, got].map(|emitted| emitted.len() as u32);
        self.word(how, Scalar::U32, counts, || {
            (format!("the vertices of primitive {number}"), WordId::None)
        });
        let invocations = self.func.geometry.map_or(1, |geometry| geometry.invocations as usize);
        let lanes = number * invocations..(number + 1) * invocations;
        for (at, (a, b)) in expected.iter().zip(got).enumerate() {
            let what = || format!("vertex {at} of primitive {number}");
            self.word(how, Scalar::Bool, [a, b].map(|one| one.begins.into()), || {
                (format!("the begin of a strip at {}", what()), WordId::None)
            });
            self.outputs(&a.outputs, &b.outputs, lanes.clone(), excluded, what);
        }
    }

    /// Nothing of the pixel reaches a target: it was discarded, or its sample mask is empty. A
    /// machine may know the two as one coverage. Where tests are early, what a program gives back changes no depth: without
    /// colours nobody is told who was discarded.
    fn gone(&self, pixel: &FragmentOut) -> bool {
        let colors = |kind| matches!(kind, OutputKind::Location { .. });
        if self.func.early_fragment_tests
            && !self.func.outputs.values().any(|data| colors(data.kind))
        {
            return true;
        }
        let mask = self
            .func
            .outputs
            .values()
            .position(|data| data.kind == OutputKind::Builtin(Builtin::SampleMask));
        pixel.discarded || mask.is_some_and(|index| pixel.outputs[index][0] & self.samples == 0)
    }

    fn outputs(
        &mut self,
        expected: &[[u32; 4]],
        got: &[[u32; 4]],
        lanes: Range<usize>,
        excluded: &Excluded,
        what: impl Fn() -> String,
    ) {
        for (index, (output, data)) in self.func.outputs.iter().enumerate() {
            let (Some(a), Some(b)) = (expected.get(index), got.get(index)) else {
                continue;
            };
            let kept = self.kept.iter().find(|kept| kept.output == output);
            let (a, components) = match kept {
                Some(kept) => ((kept.words)(*a), data.components.min(kept.components as u8)),
                None => (*a, data.components),
            };
            for component in 0..usize::from(components) {
                let out = excluded.outputs.get(index * 4 + component);
                let left_out = out
                    .and_then(|out| out.get(lanes.clone()))
                    .is_some_and(|out| out.contains(&true));
                let how = [true, excluded.all || left_out];
                let name = || match data.kind {
                    OutputKind::Location { location, .. } => format!("location {location}"),
                    OutputKind::Builtin(builtin) => format!("{builtin:?}").to_lowercase(),
                };
                let letter = ["x", "y", "z", "w"][component];
                let bits = match data.kind {
                    OutputKind::Builtin(Builtin::SampleMask) => self.samples,
                    _ => u32::MAX,
                };
                self.word(how, data.scalar, [a, *b].map(|words| words[component] & bits), || {
                    (
                        format!("{}.{letter} of {}", name(), what()),
                        WordId::Output(output.as_u32() as usize, component as u8),
                    )
                });
            }
        }
    }

    fn buffer(
        &mut self,
        place: (Resource, u32),
        [expected, got]: [&[u8]; 2],
        written: &Written,
        excluded: &Excluded,
    ) {
        let data = &self.func.resources[place.0];
        let (group, binding, name, scalar) =
            (data.group, data.binding, data.name.clone(), data.scalar);
        let whole = excluded.all || excluded.resources.contains(&place.0);
        // The last word may be less than one.
        let word = |bytes: &[u8]| {
            let bytes = bytes.iter().rev();
            bytes.fold(0, |word, &byte| word << 8 | u32::from(byte))
        };
        let written = written.of(place);
        if expected == got && (whole || excluded.words.is_empty()) {
            return self.same(expected.len().div_ceil(4), written.iter().step_by(4), whole);
        }
        for (index, (a, b)) in expected.chunks(4).zip(got.chunks(4)).enumerate() {
            let address = index as u32 * 4;
            let id = Word::Buffer(place.0, place.1, address);
            let left_out = whole || excluded.words.contains(&id);
            let how = [is_written(written, 4 * index), left_out];
            self.word(how, scalar, [word(a), word(b)], || {
                (format!("word {index} of {group}.{binding} ({name})"), WordId::Memory(id))
            });
        }
    }

    fn image(
        &mut self,
        place: (Resource, u32),
        [expected, got]: [&Image; 2],
        written: &Written,
        excluded: &Excluded,
    ) {
        let resource = place.0;
        let data = &self.func.resources[resource];
        let (group, binding, name) = (data.group, data.binding, data.name.clone());
        // Texels that depend on the order of invocations are named by coordinates: leave the image
        // out when there is one.
        let racy =
            excluded.words.iter().any(|word| matches!(word, Word::Texel(r, ..) if *r == resource));
        let left_out = racy || excluded.all || excluded.resources.contains(&resource);
        let floats = matches!(data.kind, ResourceKind::StorageTexture { format, .. }
            if format.0.ends_with("32float"));
        // Words of floats, so that every NaN is equal to every other, or bytes.
        let (size, scalar) = match floats {
            true => (4, Scalar::F32),
            false => (1, Scalar::U32),
        };
        let written = written.of(place);
        if expected.bytes() == got.bytes() {
            let count = expected.bytes().len().div_ceil(size);
            return self.same(count, written.iter().step_by(size), left_out);
        }
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, &b| all << 8 | u32::from(b));
        let words = expected.bytes().chunks(size).zip(got.bytes().chunks(size));
        for (index, (a, b)) in words.enumerate() {
            let how = [is_written(written, index * size), left_out];
            self.word(how, scalar, [word(a), word(b)], || {
                (
                    format!("byte {} of {group}.{binding} ({name})", index * size),
                    WordId::Memory(Word::Texel(resource, 0, 0)),
                )
            });
        }
    }
}

/// Equal bits; NaN equals NaN in words that are read as floats.
fn equal(scalar: Scalar, a: u32, b: u32) -> bool {
    let nan = |bits: u32| f32::from_bits(bits).is_nan();
    a == b || (scalar == Scalar::F32 && nan(a) && nan(b))
}

fn show(scalar: Scalar, bits: u32) -> String {
    match scalar {
        Scalar::F32 => format!("{:?} ({bits:#010x})", f32::from_bits(bits)),
        Scalar::I32 => format!("{} ({bits:#010x})", bits as i32),
        Scalar::U32 | Scalar::F16 | Scalar::Bool => format!("{bits} ({bits:#010x})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nan_is_equal_to_every_other_but_only_as_a_float() {
        assert!(equal(Scalar::F32, 0x7FC0_0000, 0xFFC0_0001));
        assert!(!equal(Scalar::U32, 0x7FC0_0000, 0xFFC0_0001));
        assert!(!equal(Scalar::F32, 0, 0x8000_0000));
    }

    #[test]
    fn what_is_stored_beyond_the_end_is_not_owed() {
        let buffer = Resource::from_u32(0);
        let mut bindings = Bindings::default();
        bindings.set(buffer, Bound::Buffer(vec![0; 8]));
        let mut recorded = Recorded::new(&bindings);
        recorded.store_word(buffer, 0, 4, 7, u32::MAX);
        recorded.store_word(buffer, 0, 8, 7, u32::MAX);
        let written = |byte| is_written(recorded.written.of((buffer, 0)), byte);
        assert_eq!([0, 4, 8].map(written), [false, true, false]);
    }
}
