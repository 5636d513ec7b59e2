//! Memory and resource tables as a driver lays them out.

use crate::emu::State;
use crate::state as descriptors;
use gpucc_emu::device::bytes_of;
use gpucc_emu::image::Image;
use gpucc_emu::world::Bound;
use gpucc_ir::ssa::{Dim, Resource};
use gpucc_machine::described;
use std::collections::BTreeMap;

/// The first address that is given away.
pub(super) const FIRST: u64 = 0x2_0000_0000;
/// Resource tables: up to number 61. abi-valhall: Resource tables.
const TABLES: usize = 62;
/// Bytes of a descriptor.
const DESCRIPTOR: u32 = 32;

/// Memory while it is filled.
pub(super) struct Filler {
    pub state: State,
    pub next: u64,
    /// Descriptors by table and entry.
    pub tables: BTreeMap<u32, BTreeMap<u32, [u32; 8]>>,
    /// Where each binding's element lies, when the program may change it.
    pub places: Vec<(Resource, u32, u64)>,
}

impl Filler {
    /// An address for `size` bytes, with unmapped ones behind them.
    pub fn place(&mut self, size: usize) -> u64 {
        let at = self.next;
        self.next = (at + size as u64 + 256).next_multiple_of(256);
        at
    }

    pub fn map(&mut self, bytes: Vec<u8>, writable: bool) -> u64 {
        let at = self.place(bytes.len());
        self.state.memory.map(at, bytes, writable);
        at
    }

    /// Maps a program's code and the zeros that the driver owes behind it.
    pub fn code(&mut self, code: &[u8], zeros: u32) {
        let at = self.place(code.len() + zeros as usize);
        self.state.load(at, code, zeros);
    }

    pub fn set(&mut self, table: u32, index: u32, descriptor: [u32; 8]) {
        self.tables.entry(table).or_default().insert(index, descriptor);
    }

    pub fn image(&mut self, image: &Image, writable: bool) -> ([u32; 8], u64) {
        let extent = *image.extent();
        let base = self.place(image.bytes().len());
        self.state.memory.map_image(base, image.clone(), writable);
        let texel = image.format().bytes() * extent.samples;
        let mut planes = Vec::new();
        for layer in 0..extent.layers {
            for level in 0..extent.levels {
                let [w, h, d] = image.size(level);
                for sample in 0..extent.samples {
                    let at = gpucc_emu::image::Texel { layer, level, sample, ..Default::default() };
                    let offset = image.offset(at).expect("a surface has a first texel");
                    let (row, slice) = (w * texel, w * h * texel);
                    planes.extend(descriptors::plane(
                        base + offset as u64,
                        image.format(),
                        slice * d,
                        row,
                        slice,
                    ));
                }
            }
        }
        let surfaces = self.map(bytes_of(&planes), false);
        let cubes = if extent.dim == Dim::Cube { 6 } else { 1 };
        let descriptor = descriptors::texture(&descriptors::Texture {
            dim: extent.dim,
            format: image.format(),
            size: [extent.width, extent.height, extent.depth],
            layers: extent.layers / cubes,
            levels: extent.levels,
            samples: extent.samples,
            surfaces,
        });
        (descriptor, base)
    }

    /// Lays the tables out and points the machine at them.
    pub fn finish(mut self) -> (State, Vec<(Resource, u32, u64)>) {
        let mut entries = [[0; 4]; TABLES];
        for (table, descriptors) in std::mem::take(&mut self.tables) {
            let count = descriptors.last_key_value().map_or(0, |(&index, _)| index + 1);
            let mut words = vec![0; (count * DESCRIPTOR / 4) as usize];
            for (index, descriptor) in descriptors {
                let at = (index * DESCRIPTOR / 4) as usize;
                words[at..at + 8].copy_from_slice(&descriptor);
            }
            let address = self.map(bytes_of(&words), false);
            entries[table as usize] = descriptors::resource_table(address, count);
        }
        let tables = self.map(bytes_of(entries.as_flattened()), false);
        self.state.tables = tables | TABLES as u64;
        (self.state, self.places)
    }
}

/// One number about an image. abi-valhall: System values.
pub(super) fn about_image(bound: &Bound, word: described::ImageWord) -> u32 {
    use described::ImageWord;
    let Bound::Image(image) = bound else {
        return 0;
    };
    let extent = image.extent();
    let low = |size: u32| 0.5 / size as f32;
    match word {
        ImageWord::Width => extent.width,
        ImageWord::Height => extent.height,
        ImageWord::Depth => extent.depth,
        ImageWord::Layers if extent.dim == Dim::Cube => extent.layers / 6,
        ImageWord::Layers => extent.layers,
        ImageWord::Levels => extent.levels,
        ImageWord::Samples => extent.samples,
        ImageWord::EdgeLowX => low(extent.width).to_bits(),
        ImageWord::EdgeLowY => low(extent.height).to_bits(),
        ImageWord::EdgeHighX => (1.0 - low(extent.width)).to_bits(),
        ImageWord::EdgeHighY => (1.0 - low(extent.height)).to_bits(),
    }
}
