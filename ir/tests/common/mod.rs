//! A world of buffers only, with textures that answer by arithmetic.

use gpucc_ir::ssa::{Resource, Sample, TexQuery, TexelAddress, World};

/// Words of each binding, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(pub Vec<Vec<u32>>);

impl World for Words {
    fn buffer_size(&self, buffer: Resource, _: u32) -> u32 {
        self.0[buffer.as_u32() as usize].len() as u32 * 4
    }
    fn load_word(&mut self, buffer: Resource, _: u32, address: u32) -> u32 {
        let words = &self.0[buffer.as_u32() as usize];
        words.get(address as usize / 4).copied().unwrap_or(0)
    }
    fn store_word(&mut self, buffer: Resource, _: u32, address: u32, word: u32, mask: u32) {
        let words = &mut self.0[buffer.as_u32() as usize];
        if let Some(to) = words.get_mut(address as usize / 4) {
            *to = *to & !mask | word & mask;
        }
    }
    fn sample(&mut self, sample: &Sample) -> [u32; 4] {
        let [x, y, z] = sample.coords;
        [x, y, z, x + y].map(|value| if value.is_nan() { 0 } else { value.to_bits() })
    }
    fn load_texel(&mut self, at: &TexelAddress) -> [u32; 4] {
        let [x, y, z] = at.coords.map(|c| c as f32 * 0.25);
        [x, y, z, 1.0].map(f32::to_bits)
    }
    fn store_texel(&mut self, _: &TexelAddress, _: [u32; 4]) {}
    fn query(&self, _: (Resource, u32), _: TexQuery, _: i32) -> [u32; 3] {
        [8, 4, 2]
    }
}
