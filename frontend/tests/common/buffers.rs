//! A world of buffers for the interpreter.

use gpucc_ir::ssa::interp::{self, Lanes};
use gpucc_ir::ssa::{Func, Numerics, Resource, Sample, TexQuery, TexelAddress, World};
use std::collections::BTreeMap;

/// Buffers by binding.
#[derive(Default)]
pub struct Buffers {
    pub bytes: BTreeMap<Resource, Vec<u8>>,
}

impl Buffers {
    /// Zeros of the declared size for every buffer; `runtime` bytes for runtime arrays.
    pub fn new(func: &Func, runtime: u32) -> Self {
        use gpucc_ir::ssa::ResourceKind as K;
        let mut bytes = BTreeMap::new();
        for (resource, data) in func.resources.iter() {
            let size = match data.kind {
                K::Uniform { size } | K::Immediate { size } => size,
                K::Storage { size, stride: 0, .. } => size,
                K::Storage { size, .. } => size + runtime,
                _ => continue,
            };
            bytes.insert(resource, vec![0; size as usize]);
        }
        Buffers { bytes }
    }

    pub fn find(func: &Func, group: u64, binding: u64) -> Option<Resource> {
        let mut all = func.resources.iter();
        all.find(|(_, data)| u64::from(data.group) == group && u64::from(data.binding) == binding)
            .map(|(resource, _)| resource)
    }

    /// Dispatches workgroups under the exact model.
    pub fn dispatch(&mut self, func: &Func, groups: [u32; 3]) -> Result<(), String> {
        let numerics = Numerics::REFERENCE;
        let total = groups.iter().product();
        let lanes = Lanes::compute(func, groups, 0, total);
        let mut options = interp::Options::new(&numerics);
        options.steps = 20_000_000;
        interp::run(func, &lanes, self, options).map(|_| ()).map_err(|stop| stop.to_string())
    }
}

impl World for Buffers {
    fn buffer_size(&self, buffer: Resource, _element: u32) -> u32 {
        self.bytes.get(&buffer).map_or(0, |bytes| bytes.len() as u32)
    }
    fn load_word(&mut self, buffer: Resource, _: u32, address: u32) -> u32 {
        let bytes = self.bytes.get(&buffer).map_or(&[][..], |bytes| bytes);
        let word = bytes.get(address as usize..).unwrap_or(&[]);
        let mut padded = [0; 4];
        for (to, from) in padded.iter_mut().zip(word) {
            *to = *from;
        }
        u32::from_le_bytes(padded)
    }
    fn store_word(&mut self, buffer: Resource, element: u32, address: u32, word: u32, mask: u32) {
        let old = self.load_word(buffer, element, address);
        let new = (old & !mask | word & mask).to_le_bytes();
        let Some(bytes) = self.bytes.get_mut(&buffer) else {
            return;
        };
        for (to, from) in bytes.iter_mut().skip(address as usize).zip(new) {
            *to = from;
        }
    }
    fn sample(&mut self, _: &Sample) -> [u32; 4] {
        [0; 4]
    }
    fn load_texel(&mut self, _: &TexelAddress) -> [u32; 4] {
        [0; 4]
    }
    fn store_texel(&mut self, _: &TexelAddress, _: [u32; 4]) {}
    fn query(&self, _: (Resource, u32), _: TexQuery, _: i32) -> [u32; 3] {
        [0; 3]
    }
}
