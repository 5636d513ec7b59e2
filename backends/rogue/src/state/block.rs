//! Words in memory with the bits that the program decides.

use gpucc_isa::{FieldId, Inst};
use gpucc_machine::Named;
use gpucc_machine::described::Setting;
use gpucc_machine::named::Name;

/// Words, the bits of each that the program decides, and their fields.
#[derive(Clone, Debug, Default)]
pub struct Block {
    words: Vec<u32>,
    mask: Vec<u32>,
    fields: Vec<(Name, u32)>,
}

/// The halves of a word.
fn halves(bits: u128) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

impl Block {
    /// How many words there are.
    pub fn len(&self) -> u32 {
        self.words.len() as u32
    }

    /// A word of 32 or of 64 bits. Some fields are the driver's, and hold 0; the others are told by their names behind a
    /// label, which no other word of the block has. Bits without a field are 0, and the program's.
    pub fn word(&mut self, label: &str, word: Inst, driver: &[FieldId]) {
        let format = word.op().format;
        let mut theirs = 0;
        for field in format.fields().filter(|field| !word.op().is_fixed(field)) {
            if driver.contains(&field.id) {
                theirs |= field.mask();
                debug_assert_eq!(word.get(field.id), 0, "{label} {}", field.name);
            } else {
                let value = word.get(field.id);
                // What is 0 the mask tells.
                if value != 0 {
                    self.tell(format!("{label} {}", field.name), value);
                }
            }
        }
        self.put(word, theirs);
    }

    fn put(&mut self, word: Inst, theirs: u128) {
        let count = if word.op().format.bits == 64 { 2 } else { 1 };
        self.words.extend(&halves(word.bits())[..count]);
        self.mask.extend(&halves(!theirs)[..count]);
    }

    /// An instruction, all of it the program's.
    pub fn instruction(&mut self, word: Inst) {
        self.put(word, 0);
    }

    /// A word of the program's that has no name.
    pub fn fixed(&mut self, word: u32) {
        self.words.push(word);
        self.mask.push(u32::MAX);
    }

    /// Words that the driver fills in.
    pub fn driver(&mut self, count: usize) {
        self.words.resize(self.words.len() + count, 0);
        self.mask.resize(self.words.len(), 0);
    }

    /// A field without a word of its own.
    pub fn tell(&mut self, name: impl Into<Name>, value: u32) {
        self.fields.push((name.into(), value));
    }

    /// Zeros up to a multiple of 16 bytes, the unit of the sequencer's segments.
    pub fn whole(&mut self) {
        while !self.words.len().is_multiple_of(4) {
            self.fixed(0);
        }
    }

    /// Another block's words behind these.
    pub fn append(&mut self, other: Block) {
        self.words.extend(other.words);
        self.mask.extend(other.mask);
        self.fields.extend(other.fields);
    }

    /// The setting that a report has.
    pub fn setting(self) -> Setting {
        Setting::Descriptor { words: self.words, mask: self.mask, fields: Named(self.fields) }
    }
}

/// Words of a report on their way to memory: a driver writes its own bits, and no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    words: Vec<u32>,
    mask: Vec<u32>,
}

impl Filled {
    /// The words of a setting; none of a setting that has no words.
    pub fn of(setting: &Setting) -> Option<Filled> {
        match setting {
            Setting::Descriptor { words, mask, .. } => {
                Some(Filled { words: words.clone(), mask: mask.clone() })
            }
            _ => None,
        }
    }

    /// Writes bits of a word; gives false where some of them are not the driver's.
    #[must_use]
    pub fn fill(&mut self, at: usize, bits: u32) -> bool {
        match (self.words.get_mut(at), self.mask.get(at)) {
            (Some(word), Some(mask)) if bits & mask == 0 => {
                *word |= bits;
                true
            }
            _ => false,
        }
    }

    /// Words of a driver with the bits of these that are the program's.
    pub fn merged(&self, theirs: &[u32]) -> Vec<u32> {
        let ours = self.words.iter().zip(&self.mask).map(Some).chain(std::iter::repeat(None));
        let merge = |(theirs, ours): (&u32, Option<(&u32, &u32)>)| match ours {
            Some((word, mask)) => word & mask | theirs & !mask,
            None => *theirs,
        };
        theirs.iter().zip(ours).map(merge).collect()
    }

    /// The words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::streams::cdm_kernel1;

    #[test]
    fn a_driver_writes_its_own_bits_alone() {
        let mut block = Block::default();
        let word = cdm_kernel1::word().with(cdm_kernel1::SD_TYPE, 2);
        block.word("kernel", word, &[cdm_kernel1::DATA_ADDR]);
        block.driver(1);
        let setting = block.setting();
        let Setting::Descriptor { words, mask, fields } = &setting else { panic!("{setting:?}") };
        assert_eq!((&words[..], &mask[..]), (&[8, 0][..], &[0xf, 0][..]));
        assert_eq!(fields.get("kernel SD_TYPE"), Some(&2));
        assert_eq!(fields.get("kernel DATA_ADDR"), None);
        let mut filled = Filled::of(&setting).expect("words");
        assert!(filled.fill(0, 0x40) && filled.fill(1, 7));
        assert!(!filled.fill(0, 1) && !filled.fill(2, 0));
        assert_eq!(filled.words(), [0x48, 7]);
        assert_eq!(filled.merged(&[0xff, 5, 6]), [0xf8, 5, 6]);
    }
}
