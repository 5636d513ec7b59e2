//! Memory as a driver lays it out: heaps of programs, streams, descriptors and bindings; words of the data sequencer.
//! isa/rogue-pipeline.md 4.4, 5.1.

use super::texture::Texels;
use super::{Machine, fill, untold};
use crate::abi::{BUFFER_WORDS, FRAGMENT_SHARED, SCRATCH_WORDS, unrestricted};
use crate::describe::SHARED;
use crate::emu::{Bases, Gpu, Refused, Trap};
use crate::state::{SAMPLER, TEXEL_SAMPLER_STATE, TEXTURE, UPLOAD_CODE, UPLOAD_DATA};
use gpucc_emu::device::{Stop, memory_of, memory_of_mut};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{Func, Resource, ResourceKind, Span};
use gpucc_machine::described::{Driven, DriverWord};

/// Where the code of the core, programs of the sequencer, streams and everything else begin. Addresses have 40 bits, and those of
/// data more than 32 of them.
const CODE: u64 = 0x10_0000;
const PDS: u64 = 0x200_0000;
const STREAM: u64 = 0x300_0000;
const DATA: u64 = 0xf0_1000_0000;
const PDS_BYTES: usize = 0x1_0000;
const STREAM_BYTES: usize = 0x1_0000;
/// Bytes of a line of the instruction cache: programs begin at one. 1.1.
const LINE: u64 = 8;
/// Instances that run together: those whose blocks of scratch memory there must be.
const MOST_INSTANCES: u32 = 2048;
/// Bytes of a tile buffer for a sample of each pixel: 32 by 32 of eight words. 3.1.
pub const TILE_BYTES: usize = 32 * 32 * 8 * 4;
/// Bytes of a buffer below a multiple of 4 GiB.
const ACROSS: u64 = 16;
/// Between two bindings nothing is mapped.
const GAP: u64 = 0x1_0000;

/// What cannot be put into the emulated memory.
pub(super) fn refused((rule, detail): Refused) -> Stop {
    Stop::Illegal {
        rule: "the emulated machine".into(),
        message: Trap::new(rule, 0, detail).to_string(),
        span: Span::NONE,
    }
}

/// Writes words of a driver to shared registers.
///
/// # Errors
/// [`Stop::Illegal`] where the program has no such registers.
pub(super) fn place(shared: &mut [u32], first: Option<usize>, words: &[u32]) -> Result<(), Stop> {
    let places = first.and_then(|first| shared.get_mut(first..)?.get_mut(..words.len()));
    let places = places.ok_or_else(|| untold("the program has too few shared registers".into()))?;
    places.copy_from_slice(words);
    Ok(())
}

/// The words of a descriptor with the bits that the program decides.
fn merged(
    machine: &Machine,
    kind: ResourceKind,
    first: u32,
    theirs: &[u32],
) -> Result<Vec<u32>, Stop> {
    let name = match kind {
        ResourceKind::Sampler { .. } => SAMPLER,
        _ => TEXTURE,
    };
    Ok(machine.words(&format!("{name} {first}"))?.merged(theirs))
}

/// A chip with its heaps.
pub struct Heap {
    pub gpu: Gpu,
    code: u64,
    pds: u64,
    stream: u64,
    data: u64,
    /// The next multiple of 4 GiB that nothing lies at.
    across: u64,
    /// Where the memory of bindings is, with its length.
    places: Vec<(Resource, u32, u64, usize)>,
    /// Textures that a program may write.
    pub(super) textures: Vec<(Resource, u32, Texels)>,
    /// Colours of borders, by their numbers.
    pub(super) borders: Vec<[u32; 4]>,
    /// Where tile buffers begin.
    pub tiles: Vec<u64>,
}

impl Heap {
    /// A chip with a program.
    pub fn new(machine: &Machine) -> Result<Heap, Stop> {
        let bases = Bases { code: CODE, pds: PDS };
        let mut gpu = Gpu::new(machine.chip.core(), machine.model(), bases);
        gpu.set_order(machine.order);
        gpu.set_early(machine.compiled.expanded.early_fragment_tests);
        gpu.set_unrestricted(unrestricted(&machine.compiled.pipeline));
        let code = &machine.compiled.code;
        gpu.memory().map(CODE, code.len()).map_err(refused)?;
        gpu.memory().write(CODE, code).map_err(refused)?;
        gpu.memory().map(PDS, PDS_BYTES).map_err(refused)?;
        gpu.memory().map(STREAM, STREAM_BYTES).map_err(refused)?;
        Ok(Heap {
            gpu,
            code: CODE + code.len() as u64,
            pds: PDS,
            stream: STREAM,
            data: DATA,
            across: 1 << 32,
            places: Vec::new(),
            textures: Vec::new(),
            borders: vec![[0; 4]],
            tiles: Vec::new(),
        })
    }

    fn write(&mut self, at: u64, words: &[u32]) -> Result<(), Stop> {
        self.gpu.memory().write(at, &gpucc_emu::device::bytes_of(words)).map_err(refused)
    }

    /// Words of another program of the core: its place in the heap of code.
    pub fn put_code(&mut self, words: &[u32]) -> Result<u32, Stop> {
        let at = self.code.next_multiple_of(LINE);
        self.gpu.memory().map(at, 4 * words.len()).map_err(refused)?;
        self.write(at, words)?;
        self.code = at + 4 * words.len() as u64;
        Ok((at - CODE) as u32)
    }

    /// Words in the sequencer's heap, aligned to 16 bytes: their place in it.
    pub fn put_pds(&mut self, words: &[u32]) -> Result<u32, Stop> {
        let at = self.pds;
        self.write(at, words)?;
        self.pds = (at + 4 * words.len() as u64).next_multiple_of(16);
        Ok((at - PDS) as u32)
    }

    /// Words of a stream or of state: their address.
    pub fn put_stream(&mut self, words: &[u32]) -> Result<u64, Stop> {
        let at = self.stream;
        self.write(at, words)?;
        self.stream = (at + 4 * words.len() as u64).next_multiple_of(16);
        Ok(at)
    }

    /// Bytes in memory of their own, filled up with zeros to whole words: their address.
    pub fn put(&mut self, bytes: &[u8]) -> Result<u64, Stop> {
        let at = self.data;
        let len = bytes.len().next_multiple_of(4);
        if len > 0 {
            self.gpu.memory().map(at, len).map_err(refused)?;
            let mut whole = bytes.to_vec();
            whole.resize(len, 0);
            self.gpu.memory().write(at, &whole).map_err(refused)?;
        }
        self.data = (at + len as u64 + GAP).next_multiple_of(GAP);
        Ok(at)
    }

    /// Bytes that lie on both sides of a multiple of 4 GiB, as far as addresses of 40 bits have such places: the high word of an
    /// address matters.
    fn put_across(&mut self, bytes: &[u8]) -> Result<u64, Stop> {
        if self.across >= 1 << 40 || bytes.is_empty() {
            return self.put(bytes);
        }
        let after = std::mem::replace(&mut self.data, self.across - ACROSS);
        self.across += 1 << 32;
        let at = self.put(bytes);
        self.data = after;
        at
    }

    /// Binds everything; gives the words of the shared registers. 4.4.
    pub fn bind(&mut self, machine: &Machine, bindings: &Bindings) -> Result<Vec<u32>, Stop> {
        let mut shared = vec![0; machine.number(crate::describe::SHAREDS) as usize];
        let func: &Func = &machine.compiled.expanded;
        for told in &machine.compiled.described.resources {
            let (Some(resource), Some(first)) = (told.resource, told.place(SHARED)) else {
                continue;
            };
            let count = func.resources[resource].count.unwrap_or(1);
            for element in 0..count {
                let kind = func.resources[resource].kind;
                let bound = bindings.get(resource, element);
                if let Some(words) = self.describe((resource, element), kind, bound)? {
                    let words = merged(machine, kind, first, &words)?;
                    let first = first as usize + words.len() * element as usize;
                    for (place, word) in shared.iter_mut().skip(first).zip(words) {
                        *place = word;
                    }
                    continue;
                }
                let mut bytes = memory_of(bindings.get(resource, element)).to_vec();
                let size = bytes.len();
                if let ResourceKind::Uniform { size } | ResourceKind::Immediate { size } =
                    func.resources[resource].kind
                    && bytes.len() < size as usize
                {
                    bytes.resize(size as usize, 0);
                }
                let at = self.put_across(&bytes)?;
                self.places.push((resource, element, at, size));
                let words = [at as u32, (at >> 32) as u32, size as u32, 0];
                let first = first as usize + usize::from(BUFFER_WORDS) * element as usize;
                for (place, word) in shared.iter_mut().skip(first).zip(words) {
                    *place = word;
                }
            }
        }
        if let Some(first) = machine.place(crate::describe::TEXEL_SAMPLER) {
            let words = machine.words(TEXEL_SAMPLER_STATE)?.words().to_vec();
            for (place, word) in shared.iter_mut().skip(first as usize).zip(words) {
                *place = word;
            }
        }
        self.put_borders()?;
        for tile in 0..machine.number(crate::describe::TILES) as usize {
            let at = self.put(&vec![0; TILE_BYTES * machine.samples() as usize])?;
            let first = usize::from(FRAGMENT_SHARED) + 2 * tile;
            place(&mut shared, Some(first), &[at as u32, (at >> 32) as u32])?;
            self.tiles.push(at);
        }
        let block = machine.number(crate::describe::SCRATCH);
        if block > 0 {
            let at = self.data;
            let len = block as usize * MOST_INSTANCES as usize;
            self.gpu.memory().map(at, len).map_err(refused)?;
            self.gpu.set_private(at..at + len as u64);
            self.data = (at + len as u64 + GAP).next_multiple_of(GAP);
            let constants = machine.compiled.described.driver_constants.len();
            let first = shared.len().checked_sub(constants + usize::from(SCRATCH_WORDS));
            place(&mut shared, first, &[at as u32, (at >> 32) as u32, block])?;
        }
        for told in &machine.compiled.described.driver_constants {
            if let (Some(register), DriverWord::Other(Driven::Constant { bits })) =
                (told.constant, told.word)
                && let Some(place) = shared.get_mut(register as usize)
            {
                *place = bits;
            }
        }
        Ok(shared)
    }

    /// What the program stored.
    pub fn read_back(&mut self, bindings: &mut Bindings) -> Result<(), Stop> {
        self.read_textures(bindings)?;
        for (resource, element, at, len) in &self.places {
            if *len == 0 {
                continue;
            }
            let bytes = self.gpu.memory().read(*at, *len).map_err(refused)?.to_vec();
            if let Some(memory) = bindings.get_mut(*resource, *element).and_then(memory_of_mut) {
                memory.copy_from_slice(&bytes);
            }
        }
        Ok(())
    }

    /// Fills shared registers by the described program: the places of its data and code. 5.1.
    pub fn upload(&mut self, machine: &Machine, shared: &[u32]) -> Result<[u32; 2], Stop> {
        let at = self.put(&gpucc_emu::device::bytes_of(shared))?;
        let mut data = machine.words(UPLOAD_DATA)?;
        fill(&mut data, 0, at as u32)?;
        fill(&mut data, 1, (at >> 32) as u32)?;
        let data = self.put_pds(data.words())?;
        let code = self.put_pds(machine.words(UPLOAD_CODE)?.words())?;
        Ok([data, code])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_driver_have_shared_registers_or_are_refused() {
        let mut shared = [0; 4];
        place(&mut shared, Some(2), &[5, 6]).expect("they fit");
        assert_eq!(shared, [0, 0, 5, 6]);
        for first in [None, Some(3), Some(4), Some(5), Some(usize::MAX)] {
            place(&mut shared, first, &[1, 2]).expect_err("there are too few");
        }
        assert_eq!(shared, [0, 0, 5, 6]);
    }
}
