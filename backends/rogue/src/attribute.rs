//! Formats of vertex attributes: the sequencer brings the words as they lie in memory, and the program takes them apart.
//! isa/rogue-pipeline.md 2.3, 4.1.

/// What a component is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A word of its own.
    Word,
    /// A float of 16 bits.
    Half,
    /// An integer that stands for -1 or 0 to 1.
    Normalised { signed: bool },
    /// An integer.
    Integer { signed: bool },
}

/// How the components of an attribute lie in its words, from the lowest bit on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Packing {
    pub kind: Kind,
    /// Bits of a component; 10 says that the fourth one has two.
    pub bits: u32,
    pub components: u32,
    /// The first and the third component have changed places.
    pub swapped: bool,
    /// Bits of the first word before the first component.
    pub shift: u32,
    /// Elements do not begin at words.
    pub unaligned: bool,
}

/// The byte of an element at which the sequencer's words begin.
pub const fn start(offset: u32, stride: u32) -> u32 {
    if stride.is_multiple_of(4) { offset & !3 } else { offset }
}

impl Packing {
    /// By the name of a format; none for a format that is not known.
    pub fn of(format: &str) -> Option<Packing> {
        let signed = format.starts_with('s');
        let packing = |kind, bits, components| Packing {
            kind,
            bits,
            components,
            swapped: false,
            shift: 0,
            unaligned: false,
        };
        match format {
            "unorm10-10-10-2" => {
                return Some(packing(Kind::Normalised { signed: false }, 10, 4));
            }
            "unorm8x4-bgra" => {
                let kind = Kind::Normalised { signed: false };
                return Some(Packing { swapped: true, ..packing(kind, 8, 4) });
            }
            _ => {}
        }
        let (element, count) = format.split_once('x').unwrap_or((format, "1"));
        let components = count.parse().ok().filter(|count| (1..=4).contains(count))?;
        Some(match element {
            "float32" | "sint32" | "uint32" => packing(Kind::Word, 32, components),
            "float16" => packing(Kind::Half, 16, components),
            "unorm8" | "snorm8" => packing(Kind::Normalised { signed }, 8, components),
            "unorm16" | "snorm16" => packing(Kind::Normalised { signed }, 16, components),
            "uint8" | "sint8" => packing(Kind::Integer { signed }, 8, components),
            "uint16" | "sint16" => packing(Kind::Integer { signed }, 16, components),
            _ => return None,
        })
    }

    /// The same where the attribute begins at a byte of an element; none where a component does not begin at a multiple of its
    /// size, which may lie across words. The sequencer brings whole words. Where elements do not begin at words, the first of
    /// them begins at the attribute.
    pub fn at(self, offset: u32, stride: u32) -> Option<Packing> {
        let whole = match self.bits {
            10 => 4,
            bits => bits / 8,
        };
        let shift = (offset - start(offset, stride)) * 8;
        let unaligned = !stride.is_multiple_of(4);
        let placed = offset.is_multiple_of(whole) && (!unaligned || stride.is_multiple_of(whole));
        placed.then_some(Packing { shift, unaligned, ..self })
    }

    /// Words that hold so many components, at most all of them.
    pub fn words(self, components: u32) -> u32 {
        match self.bits {
            10 => 1,
            bits => (self.shift + bits * components.min(self.components)).div_ceil(32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_their_names_and_say_how_many_words_they_take() {
        let words = |format: &str, count| Packing::of(format).map(|packing| packing.words(count));
        assert_eq!(words("float32x3", 4), Some(3));
        assert_eq!(words("float32x3", 2), Some(2));
        assert_eq!(words("float16x4", 3), Some(2));
        assert_eq!(words("snorm8x2", 4), Some(1));
        assert_eq!(words("unorm10-10-10-2", 4), Some(1));
        assert_eq!(words("uint64", 1), None);
        assert_eq!(
            Packing::of("sint16x2").map(|packing| packing.kind),
            Some(Kind::Integer { signed: true })
        );
        let placed = |format: &str, offset, stride| {
            let packing = Packing::of(format).and_then(|packing| packing.at(offset, stride));
            packing.map(|packing| (packing.shift, packing.words(4)))
        };
        assert_eq!(placed("uint8x2", 7, 8), Some((24, 2)));
        assert_eq!(placed("float16x2", 2, 4), Some((16, 2)));
        assert_eq!(placed("float16x2", 1, 4), None);
        assert_eq!(placed("float32", 2, 4), None);
        // Elements that do not begin at words: the words begin at the attribute.
        assert_eq!(placed("uint8x2", 0, 2), Some((0, 1)));
        assert_eq!(placed("uint8x4", 3, 7), Some((0, 1)));
        assert_eq!(placed("float16x4", 2, 10), Some((0, 2)));
        assert_eq!(placed("float16", 1, 3), None);
        assert_eq!(placed("float16", 0, 3), None);
        assert_eq!(placed("float32", 0, 6), None);
        assert_eq!(placed("unorm10-10-10-2", 0, 6), None);
        assert!(Packing::of("unorm8x4-bgra").is_some_and(|packing| packing.swapped));
    }
}
