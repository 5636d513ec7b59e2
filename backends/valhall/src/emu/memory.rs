//! Emulated memory: segments at 64-bit addresses, with nothing between them.

use super::rule::Rule;
use gpucc_emu::image::Image;
use std::collections::BTreeMap;

/// What a segment holds.
#[derive(Clone, Debug)]
enum Backing {
    Bytes(Vec<u8>),
    Image(Box<Image>),
}

/// One mapped range.
#[derive(Clone, Debug)]
struct Segment {
    backing: Backing,
    writable: bool,
    /// By byte, non-zero where nobody wrote it; empty where that is of no interest.
    undefined: Vec<u8>,
}

impl Segment {
    fn bytes(&self) -> &[u8] {
        match &self.backing {
            Backing::Bytes(bytes) => bytes,
            Backing::Image(image) => image.bytes(),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.backing {
            Backing::Bytes(bytes) => bytes,
            Backing::Image(image) => image.bytes_mut(),
        }
    }
}

/// Memory as the machine sees it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    segments: BTreeMap<u64, Segment>,
}

/// Why an access is refused.
pub type Refused = (Rule, String);

impl Memory {
    /// Maps bytes; what was mapped at `base` is gone.
    pub fn map(&mut self, base: u64, bytes: Vec<u8>, writable: bool) {
        self.segments.insert(
            base,
            Segment { backing: Backing::Bytes(bytes), writable, undefined: Vec::new() },
        );
    }

    /// Maps `size` bytes that nobody has written.
    pub fn map_undefined(&mut self, base: u64, size: usize) {
        self.segments.insert(
            base,
            Segment {
                backing: Backing::Bytes(vec![0xDB; size]),
                writable: true,
                undefined: vec![1; size],
            },
        );
    }

    /// Maps an image: its bytes level by level, as [`Image::bytes`] has them.
    pub fn map_image(&mut self, base: u64, image: Image, writable: bool) {
        self.segments.insert(
            base,
            Segment { backing: Backing::Image(Box::new(image)), writable, undefined: Vec::new() },
        );
    }

    /// Takes a mapping away.
    pub fn unmap(&mut self, base: u64) {
        self.segments.remove(&base);
    }

    /// The image mapped at exactly `base`.
    pub fn image(&self, base: u64) -> Option<&Image> {
        match &self.segments.get(&base)?.backing {
            Backing::Image(image) => Some(image),
            Backing::Bytes(_) => None,
        }
    }

    /// The bytes mapped at exactly `base`.
    pub fn segment(&self, base: u64) -> Option<&[u8]> {
        Some(self.segments.get(&base)?.bytes())
    }

    /// True when the byte at `address` is mapped and was written.
    pub fn is_defined(&self, address: u64) -> bool {
        match self.segments.range(..=address).next_back() {
            Some((base, segment)) => {
                let at = (address - base) as usize;
                at < segment.bytes().len() && segment.undefined.get(at).is_none_or(|&u| u == 0)
            }
            None => false,
        }
    }

    fn find(&self, address: u64, size: usize) -> Result<(u64, usize), Refused> {
        let refused = || {
            let detail = format!("{size} bytes at {address:#x} are not mapped");
            (Rule::MemoryMap, detail)
        };
        let (&base, segment) = self.segments.range(..=address).next_back().ok_or_else(refused)?;
        let at = usize::try_from(address - base).map_err(|_| refused())?;
        if at.checked_add(size).is_none_or(|end| end > segment.bytes().len()) {
            return Err(refused());
        }
        Ok((base, at))
    }

    /// Refuses an access that could not be made.
    pub fn probe(&self, address: u64, size: usize, write: bool) -> Result<(), Refused> {
        let (base, _) = self.find(address, size)?;
        if write && !self.segments[&base].writable {
            let detail = format!("{size} bytes at {address:#x} are read-only");
            return Err((Rule::MemoryWrite, detail));
        }
        Ok(())
    }

    /// Reads; the second result has bit k set where byte k was never written.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<u32, Refused> {
        let (base, at) = self.find(address, out.len())?;
        let segment = &self.segments[&base];
        out.copy_from_slice(&segment.bytes()[at..at + out.len()]);
        let mut undefined = 0;
        if !segment.undefined.is_empty() {
            for k in 0..out.len() {
                undefined |= u32::from(segment.undefined[at + k]) << k;
            }
        }
        Ok(undefined)
    }

    /// A word of a descriptor.
    pub fn word(&self, address: u64) -> Result<u32, Refused> {
        let mut bytes = [0; 4];
        if self.read(address, &mut bytes)? != 0 {
            let detail = format!("the word at {address:#x} was never written");
            return Err((Rule::Undefined, detail));
        }
        Ok(u32::from_le_bytes(bytes))
    }

    /// Writes; bit k of `undefined` says that byte k of `data` has no value.
    pub fn write(&mut self, address: u64, data: &[u8], undefined: u32) -> Result<(), Refused> {
        let (base, at) = self.find(address, data.len())?;
        let segment = self.segments.get_mut(&base).expect("find gave its base");
        if !segment.writable {
            let detail = format!("{} bytes at {address:#x} are read-only", data.len());
            return Err((Rule::MemoryWrite, detail));
        }
        if undefined != 0 && segment.undefined.is_empty() {
            let detail = format!("an undefined value is stored at {address:#x}");
            return Err((Rule::Undefined, detail));
        }
        for k in 0..data.len() {
            if let Some(place) = segment.undefined.get_mut(at + k) {
                *place = (undefined >> k & 1) as u8;
            }
        }
        segment.bytes_mut()[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_that_leaves_its_segment_is_refused() {
        let mut memory = Memory::default();
        memory.map(0x1000, vec![1, 2, 3, 4], false);
        let mut out = [0; 4];
        assert_eq!(memory.read(0x1000, &mut out), Ok(0));
        assert_eq!(out, [1, 2, 3, 4]);
        for address in [0xFFF, 0x1001, 0x2000] {
            let refused = memory.read(address, &mut out).map_err(|(rule, _)| rule);
            assert_eq!(refused, Err(Rule::MemoryMap));
        }
        let refused = memory.write(0x1000, &[0], 0).map_err(|(rule, _)| rule);
        assert_eq!(refused, Err(Rule::MemoryWrite));
    }

    #[test]
    fn bytes_that_nobody_wrote_stay_undefined() {
        let mut memory = Memory::default();
        memory.map_undefined(16, 4);
        memory.write(17, &[5], 0).expect("mapped");
        let mut out = [0; 4];
        assert_eq!(memory.read(16, &mut out), Ok(0b1101));
        assert_eq!(out[1], 5);
    }
}
