//! Memory as a driver lays it out: heaps of programs, streams, descriptors and bindings; words of the data sequencer.
//! isa/rogue-pipeline.md 4.4, 5.1.

use super::Machine;
use super::texture::Texels;
use crate::abi::{BUFFER_WORDS, FRAGMENT_SHARED, SCRATCH_WORDS};
use crate::describe::SHARED;
use crate::emu::{Bases, Gpu, Refused, Trap};
use gpucc_emu::device::{Stop, memory_of, memory_of_mut};
use gpucc_emu::world::Bindings;
use gpucc_ir::ssa::{Func, Resource, ResourceKind, Span};
use gpucc_machine::described::{Driven, DriverWord};

/// Where the code of the core, programs of the sequencer, streams and everything else begin.
const CODE: u64 = 0x10_0000;
const PDS: u64 = 0x200_0000;
const STREAM: u64 = 0x300_0000;
const DATA: u64 = 0x1000_0000;
const PDS_BYTES: usize = 0x1_0000;
const STREAM_BYTES: usize = 0x1_0000;
/// Instances that run together: those whose blocks of scratch memory there must be.
const MOST_INSTANCES: u32 = 2048;
/// Bytes of a tile buffer: 32 by 32 pixels of eight words. 3.1.
pub const TILE_BYTES: usize = 32 * 32 * 8 * 4;
/// Between two bindings nothing is mapped.
const GAP: u64 = 0x1_0000;

/// HALT, and DOUTC with an end. 5.1.
pub const HALT: u32 = 0xd300_0000;
pub const DOUTC_END: u32 = 0xf400_0005;
/// Destinations of DOUT. 5.1.
pub const DOUTD: u32 = 0;
pub const DOUTW: u32 = 1;
pub const DOUTU: u32 = 2;
pub const DOUTI: u32 = 4;
/// Numbers of the first temporary pair and of the persistent pairs among registers of 64 bits. 5.1.
pub const TEMP_PAIR: u32 = 64;
pub const PERSISTENT_PAIR: u32 = 96;

/// DOUT by its fields: condition, end, control word, source pair, destination. 5.1.
pub const fn dout(cc: u32, end: u32, control: u32, source: u32, to: u32) -> u32 {
    0xf000_0000 | cc << 27 | end << 26 | control << 16 | source << 8 | to
}

/// The control word of a transfer: words, the first register, whether it is of the common store, whether it is the last.
pub const fn transfer(words: u32, register: u32, common: bool, last: bool) -> u32 {
    words | register << 13 | (common as u32) << 28 | (last as u32) << 31
}

/// Which half of a pair DOUTW sends. 5.1.
pub const LOW: u32 = 0;
pub const HIGH: u32 = 1;
pub const BOTH: u32 = 2;

/// The two words that start a program: its place, and temporaries in units of four. 5.1.
pub const fn start(entry: u32, temps: u32) -> [u32; 2] {
    [entry, temps.div_ceil(4) << 3]
}

/// What cannot be put into the emulated memory.
pub(super) fn refused((rule, detail): Refused) -> Stop {
    Stop::Illegal {
        rule: "the emulated machine".into(),
        message: Trap::new(rule, 0, detail).to_string(),
        span: Span::NONE,
    }
}

/// A chip with its heaps.
pub struct Heap {
    pub gpu: Gpu,
    pds: u64,
    stream: u64,
    data: u64,
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
        let code = &machine.compiled.code;
        gpu.memory().map(CODE, code.len()).map_err(refused)?;
        gpu.memory().write(CODE, code).map_err(refused)?;
        gpu.memory().map(PDS, PDS_BYTES).map_err(refused)?;
        gpu.memory().map(STREAM, STREAM_BYTES).map_err(refused)?;
        Ok(Heap {
            gpu,
            pds: PDS,
            stream: STREAM,
            data: DATA,
            places: Vec::new(),
            textures: Vec::new(),
            borders: vec![[0; 4]],
            tiles: Vec::new(),
        })
    }

    fn write(&mut self, at: u64, words: &[u32]) -> Result<(), Stop> {
        self.gpu.memory().write(at, &gpucc_emu::device::bytes_of(words)).map_err(refused)
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
                let at = self.put(&bytes)?;
                self.places.push((resource, element, at, size));
                let words = [at as u32, (at >> 32) as u32, size as u32, 0];
                let first = first as usize + usize::from(BUFFER_WORDS) * element as usize;
                for (place, word) in shared.iter_mut().skip(first).zip(words) {
                    *place = word;
                }
            }
        }
        if let Some(first) = machine.place(crate::describe::TEXEL_SAMPLER) {
            let words = self.texel_sampler()?;
            for (place, word) in shared.iter_mut().skip(first as usize).zip(words) {
                *place = word;
            }
        }
        self.put_borders()?;
        for tile in 0..machine.number(crate::describe::TILES) as usize {
            let at = self.put(&vec![0; TILE_BYTES])?;
            let first = usize::from(FRAGMENT_SHARED) + 2 * tile;
            shared[first..first + 2].copy_from_slice(&[at as u32, (at >> 32) as u32]);
            self.tiles.push(at);
        }
        let block = machine.number(crate::describe::SCRATCH);
        if block > 0 {
            let at = self.data;
            let len = (block * MOST_INSTANCES) as usize;
            self.gpu.memory().map(at, len).map_err(refused)?;
            self.data = (at + len as u64 + GAP).next_multiple_of(GAP);
            let constants = machine.compiled.described.driver_constants.len();
            let first = shared.len() - constants - usize::from(SCRATCH_WORDS);
            shared[first..][..3].copy_from_slice(&[at as u32, (at >> 32) as u32, block]);
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

    /// The program that fills shared registers: places of its data and code, and how many constants it has. 5.1.
    pub fn upload(&mut self, shared: &[u32]) -> Result<[u32; 3], Stop> {
        let at = self.put(&gpucc_emu::device::bytes_of(shared))?;
        let control = transfer(shared.len() as u32, 0, true, true);
        let data = self.put_pds(&[at as u32, (at >> 32) as u32, control, 0])?;
        let code = self.put_pds(&[dout(0, 0, 2, 0, DOUTD), DOUTC_END])?;
        Ok([data, code, 4])
    }
}
