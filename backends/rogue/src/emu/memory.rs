//! Memory of 40-bit addresses.

use super::rule::{Refused, Rule};
use std::collections::BTreeMap;

/// What bytes hold that nobody wrote, by the low bits of their address.
const PATTERN: [u8; 4] = gpucc_emu::device::GARBAGE.to_le_bytes();

/// Bytes that were mapped together.
#[derive(Clone, Debug)]
struct Segment {
    bytes: Vec<u8>,
    /// The number of the last write to it, or of its mapping.
    stamp: u64,
}

/// Mapped bytes by their first address.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    segments: BTreeMap<u64, Segment>,
    /// Mappings and writes so far.
    changes: u64,
}

impl Memory {
    /// Maps bytes that nobody has written.
    ///
    /// # Errors
    /// They do not fit 40 bits of address, or overlap what is mapped.
    pub fn map(&mut self, address: u64, len: usize) -> Result<(), Refused> {
        let refused = |what: &str| (Rule::Mapped, format!("{len} bytes at {address:#x} {what}"));
        let end = address.checked_add(len as u64).filter(|end| *end <= 1 << 40 && len != 0);
        let end = end.ok_or_else(|| refused("cannot be mapped"))?;
        let below = self.segments.range(..=address).next_back();
        let above = self.segments.range(address..).next();
        if below.is_some_and(|(base, segment)| base + segment.bytes.len() as u64 > address)
            || above.is_some_and(|(base, _)| *base < end)
        {
            return Err(refused("overlap what is mapped"));
        }
        let bytes = (0..len).map(|at| PATTERN[(address as usize + at) & 3]).collect();
        self.changes += 1;
        self.segments.insert(address, Segment { bytes, stamp: self.changes });
        Ok(())
    }

    /// Takes every mapping away.
    pub fn clear(&mut self) {
        self.segments.clear();
    }

    fn find(&self, address: u64) -> Option<(u64, &Segment)> {
        let (base, segment) = self.segments.range(..=address).next_back()?;
        (address - base < segment.bytes.len() as u64).then_some((*base, segment))
    }

    /// A number that changes when bytes change that were mapped with this one: what was made of them is good as long as it
    /// stays. With it the first address behind them.
    pub fn stamp(&self, address: u64) -> Option<(u64, u64)> {
        let (base, segment) = self.find(address)?;
        Some((segment.stamp, base + segment.bytes.len() as u64))
    }

    /// Bytes.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn read(&self, address: u64, len: usize) -> Result<&[u8], Refused> {
        let found = self.find(address).and_then(|(base, segment)| {
            let at = (address - base) as usize;
            segment.bytes.get(at..at.checked_add(len)?)
        });
        found.ok_or_else(|| (Rule::Mapped, format!("{len} bytes at {address:#x} are not mapped")))
    }

    /// Bytes from an address on, at most so many: fewer where the mapping ends.
    ///
    /// # Errors
    /// Not one is mapped.
    pub fn up_to(&self, address: u64, len: usize) -> Result<&[u8], Refused> {
        let found = self.find(address).and_then(|(base, segment)| {
            let rest = segment.bytes.get((address - base) as usize..)?;
            rest.get(..len.min(rest.len())).filter(|rest| !rest.is_empty())
        });
        found.ok_or_else(|| (Rule::Mapped, format!("nothing is mapped at {address:#x}")))
    }

    /// A double word.
    ///
    /// # Errors
    /// It is not mapped, or not aligned.
    pub fn word(&self, address: u64) -> Result<u32, Refused> {
        if address & 3 != 0 {
            return Err((Rule::Aligned, format!("a word at {address:#x}")));
        }
        self.word_anywhere(address)
    }

    /// Four bytes from any address on.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn word_anywhere(&self, address: u64) -> Result<u32, Refused> {
        let bytes = self.read(address, 4)?;
        Ok(bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Refused> {
        self.changes += 1;
        let stamp = self.changes;
        let found = self.segments.range_mut(..=address).next_back().and_then(|(base, segment)| {
            let at = usize::try_from(address - base).ok()?;
            let place = segment.bytes.get_mut(at..at.checked_add(data.len())?)?;
            segment.stamp = stamp;
            Some(place)
        });
        match found {
            Some(place) => {
                place.copy_from_slice(data);
                Ok(())
            }
            None => {
                Err((Rule::Mapped, format!("{} bytes at {address:#x} are not mapped", data.len())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_read_and_nothing_else() {
        let mut memory = Memory::default();
        assert!(memory.map(0x1000, 16).is_ok());
        assert!(memory.map(0x100f, 1).is_err());
        assert!(memory.map(0xfff, 2).is_err());
        assert!(memory.map(1 << 40, 4).is_err());
        assert_eq!(memory.word(0x1004), Ok(0xdead_beef));
        assert!(memory.write(0x1006, &[1, 2]).is_ok());
        assert_eq!(memory.word(0x1004), Ok(0x0201_beef));
        assert!(memory.word(0x1002).is_err_and(|refused| refused.0 == Rule::Aligned));
        assert!(memory.word(0x1010).is_err_and(|refused| refused.0 == Rule::Mapped));
        assert!(memory.write(0x100f, &[1, 2]).is_err());
        assert_eq!(memory.up_to(0x100e, 32).map(<[u8]>::len), Ok(2));
        // A write changes the stamp of what was mapped with it, and no other.
        assert!(memory.map(0x2000, 4).is_ok());
        let (first, other) = (memory.stamp(0x1000), memory.stamp(0x2000));
        assert!(memory.write(0x1008, &[1]).is_ok());
        assert!(memory.stamp(0x100f) > first && memory.stamp(0x2000) == other);
        assert_eq!(memory.stamp(0x1010), None);
    }
}
