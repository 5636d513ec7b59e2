//! Memory of 32-bit addresses: what is mapped, what was written, and what the render cache alone holds.
//! isa/gen4-pipeline.md 9.12.

use super::rule::Rule;
use std::collections::BTreeMap;

/// Why an access is refused.
pub type Refused = (Rule, String);

/// Nobody wrote the byte.
const UNWRITTEN: u8 = 1;
/// The byte was written through the render cache since the last flush.
const DIRTY: u8 = 2;
/// What a byte that nobody wrote reads as, by the low bits of its address.
const PATTERN: [u8; 4] = 0xdead_beef_u32.to_le_bytes();

/// Through what an access goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Through {
    /// The render cache: data port.
    Render,
    /// Any other: the processor, the sampler's cache, the vertex fetcher's, those of instructions, state and commands.
    Other,
}

#[derive(Clone, Debug)]
struct Segment {
    bytes: Vec<u8>,
    /// By byte.
    flags: Vec<u8>,
    /// Where bytes may be dirty.
    dirty: Option<(usize, usize)>,
}

/// Memory as the machine sees it.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    segments: BTreeMap<u32, Segment>,
}

/// Bytes that were read, and by byte whether they are undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bytes {
    /// The values.
    pub bytes: Vec<u8>,
    /// Non-zero where nobody wrote the byte.
    pub undefined: Vec<bool>,
}

impl Memory {
    /// Maps bytes that nobody has written.
    ///
    /// # Errors
    /// They do not fit 32 bits of address, or overlap what is mapped.
    pub fn map(&mut self, address: u32, len: u32) -> Result<(), Refused> {
        let refused = |what: &str| (Rule::Mapped, format!("{len} bytes at {address:#x} {what}"));
        let end = u64::from(address) + u64::from(len);
        if len == 0 || end > 1 << 32 {
            return Err(refused("cannot be mapped"));
        }
        let below = self.segments.range(..=address).next_back();
        let above = self.segments.range(address..).next();
        if below.is_some_and(|(base, s)| *base as usize + s.bytes.len() > address as usize)
            || above.is_some_and(|(base, _)| u64::from(*base) < end)
        {
            return Err(refused("overlap what is mapped"));
        }
        let bytes = (0..len).map(|at| PATTERN[(address.wrapping_add(at) & 3) as usize]).collect();
        let flags = vec![UNWRITTEN; len as usize];
        self.segments.insert(address, Segment { bytes, flags, dirty: None });
        Ok(())
    }

    /// Takes a mapping away that begins at an address.
    pub fn unmap(&mut self, address: u32) {
        self.segments.remove(&address);
    }

    fn find(&self, address: u32, len: usize) -> Result<(u32, usize), Refused> {
        let found = self.segments.range(..=address).next_back().and_then(|(&base, segment)| {
            let at = (address - base) as usize;
            (at.checked_add(len)? <= segment.bytes.len()).then_some((base, at))
        });
        found.ok_or_else(|| (Rule::Mapped, format!("{len} bytes at {address:#x} are not mapped")))
    }

    fn part(&self, address: u32, len: usize) -> Result<(&[u8], &[u8]), Refused> {
        let (base, at) = self.find(address, len)?;
        let segment = &self.segments[&base];
        Ok((&segment.bytes[at..at + len], &segment.flags[at..at + len]))
    }

    /// The 16 bytes of an instruction, behind which so many more are mapped: what is read most often is read without a copy.
    ///
    /// # Errors
    /// As [`Memory::load`], or nobody wrote it, or what is fetched ahead is not mapped.
    pub fn instruction(&self, address: u32, ahead: usize) -> Result<[u8; 16], Refused> {
        let found = self.segments.range(..=address).next_back().and_then(|(base, segment)| {
            let at = (address - base) as usize;
            Some((segment.bytes.get(at..)?, segment.flags.get(at..)?))
        });
        let word = found.and_then(|(bytes, flags)| {
            Some((bytes.len(), *bytes.first_chunk::<16>()?, flags.first_chunk::<16>()?))
        });
        let Some((left, word, flags)) = word else {
            return Err((Rule::Mapped, format!("16 bytes at {address:#x} are not mapped")));
        };
        let any = flags.iter().fold(0, |all, flag| all | flag);
        if any & DIRTY != 0 {
            return Err((Rule::Stale, format!("16 bytes at {address:#x} are in the render cache")));
        }
        if any & UNWRITTEN != 0 {
            let what = format!("the instruction at {address:#x} was never written");
            return Err((Rule::Undefined, what));
        }
        if left < 16 + ahead {
            let what = format!("{ahead} bytes behind the instruction at {address:#x}");
            return Err((Rule::Prefetch, what));
        }
        Ok(word)
    }

    /// Writes bytes as the processor does: every cache sees them.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), Refused> {
        self.put(address, bytes, 0)
    }

    /// Writes bytes through the render cache.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn render(&mut self, address: u32, bytes: &[u8]) -> Result<(), Refused> {
        self.put(address, bytes, DIRTY)
    }

    fn put(&mut self, address: u32, bytes: &[u8], flag: u8) -> Result<(), Refused> {
        let (base, at) = self.find(address, bytes.len())?;
        let Some(segment) = self.segments.get_mut(&base) else { return Ok(()) };
        let end = at + bytes.len();
        segment.bytes[at..end].copy_from_slice(bytes);
        segment.flags[at..end].fill(flag);
        if flag == DIRTY {
            let (low, high) = segment.dirty.unwrap_or((at, end));
            segment.dirty = Some((low.min(at), high.max(end)));
        }
        Ok(())
    }

    /// The bytes, as the processor reads them.
    ///
    /// # Errors
    /// They are not mapped, or the render cache holds what was written.
    pub fn read(&self, address: u32, len: usize) -> Result<Vec<u8>, Refused> {
        Ok(self.load(address, len, Through::Other)?.bytes)
    }

    /// Whether every byte was written.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn is_defined(&self, address: u32, len: usize) -> Result<bool, Refused> {
        Ok(self.part(address, len)?.1.iter().all(|flag| flag & UNWRITTEN == 0))
    }

    /// Whether a byte was written through the render cache since the last flush.
    ///
    /// # Errors
    /// They are not mapped.
    pub fn is_dirty(&self, address: u32, len: usize) -> Result<bool, Refused> {
        let (base, at) = self.find(address, len)?;
        let segment = &self.segments[&base];
        let (low, high) = segment.dirty.unwrap_or((0, 0));
        let (low, high) = (low.max(at), high.min(at + len));
        Ok(low < high && segment.flags[low..high].iter().any(|flag| flag & DIRTY != 0))
    }

    /// The bytes as a unit reads them, with what is undefined of them.
    ///
    /// # Errors
    /// They are not mapped, or another cache holds what was written.
    pub fn load(&self, address: u32, len: usize, through: Through) -> Result<Bytes, Refused> {
        let (bytes, flags) = self.part(address, len)?;
        if through == Through::Other && flags.iter().any(|flag| flag & DIRTY != 0) {
            let what = format!("{len} bytes at {address:#x} are in the render cache");
            return Err((Rule::Stale, what));
        }
        let undefined = flags.iter().map(|flag| flag & UNWRITTEN != 0).collect();
        Ok(Bytes { bytes: bytes.to_vec(), undefined })
    }

    /// A double word through the render cache, with what is undefined of it by byte.
    ///
    /// # Errors
    /// As [`Memory::load`].
    pub fn word(&self, address: u32, through: Through) -> Result<(u32, u8), Refused> {
        let (bytes, flags) = self.part(address, 4)?;
        if through == Through::Other && flags.iter().any(|flag| flag & DIRTY != 0) {
            return Err((Rule::Stale, format!("the word at {address:#x} is in the render cache")));
        }
        let word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let flags = flags.iter().rev().fold(0, |all, flag| all << 1 | flag & UNWRITTEN);
        Ok((word, flags))
    }

    /// A double word of commands or state.
    ///
    /// # Errors
    /// As [`Memory::load`], or nobody wrote it.
    pub fn state(&self, address: u32) -> Result<u32, Refused> {
        match self.word(address, Through::Other)? {
            (word, 0) => Ok(word),
            _ => Err((Rule::Undefined, format!("the word at {address:#x}, read as state"))),
        }
    }

    /// MI_FLUSH: what the render cache holds is written back.
    pub fn flush(&mut self) {
        for segment in self.segments.values_mut() {
            if let Some((low, high)) = segment.dirty.take() {
                segment.flags[low..high].iter_mut().for_each(|flag| *flag &= !DIRTY);
            }
        }
    }
}
