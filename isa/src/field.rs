//! What a bit field is: where its pieces lie, what its values mean, and how a format is made of fields.
//!
//! An instruction is one little-endian number of at most 128 bits: word 0 is its low end. A field may lie in several
//! pieces. Overlapping fields, pieces outside the format and doubled field ids are compile errors, because
//! [`Format::new`] is a `const fn` and every format is a `static`.

/// Names one field of one machine, whatever format it stands in. Variants of a machine share the ids, so that code that
/// asks for `SRC0_SEL` does not care where a variant keeps it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldId(pub u8);

/// How many different field ids one machine may have.
pub const MAX_FIELD_IDS: usize = 192;

/// An inclusive range of bits, `hi` first as manuals print it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub hi: u8,
    pub lo: u8,
}

impl Piece {
    #[inline]
    pub const fn width(self) -> u32 {
        (self.hi - self.lo) as u32 + 1
    }

    #[inline]
    pub const fn mask(self) -> u128 {
        low_bits(self.width()) << self.lo
    }
}

/// The number with the low `width` bits set; `width` is 0..=128.
#[inline]
pub const fn low_bits(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// One named value of an enumeration.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Member {
    pub value: u32,
    pub name: &'static str,
}

/// A closed set of named values. What it does not name is reserved, and is refused by encoder and decoder.
#[derive(Debug)]
pub struct Enum {
    pub name: &'static str,
    pub members: &'static [Member],
    /// Bit `v` is set where value `v < 64` is named: the quick answer for nearly every field.
    low: u64,
}

impl Enum {
    pub const fn new(name: &'static str, members: &'static [Member]) -> Enum {
        let mut low = 0;
        let mut i = 0;
        while i < members.len() {
            if members[i].value < 64 {
                assert!(
                    low & (1 << members[i].value) == 0,
                    "two members of one enum share a value"
                );
                low |= 1 << members[i].value;
            }
            i += 1;
        }
        Enum { name, members, low }
    }

    pub const fn has(&self, value: u32) -> bool {
        if value < 64 {
            return self.low >> value & 1 == 1;
        }
        let mut i = 0;
        while i < self.members.len() {
            if self.members[i].value == value {
                return true;
            }
            i += 1;
        }
        false
    }

    pub fn name_of(&self, value: u32) -> Option<&'static str> {
        self.members.iter().find(|member| member.value == value).map(|member| member.name)
    }

    pub fn value_of(&self, name: &str) -> Option<u32> {
        self.members
            .iter()
            .find(|member| member.name.eq_ignore_ascii_case(name))
            .map(|member| member.value)
    }
}

/// A range of selector values that mean one kind of thing, such as 0..=127 "general register".
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Span {
    pub first: u32,
    pub last: u32,
    pub name: &'static str,
}

/// What the values of a field mean.
#[derive(Copy, Clone, Debug)]
pub enum Kind {
    Unsigned,
    /// Two's complement.
    Signed,
    /// Two's complement with this many binary places.
    Fixed(u8),
    /// One bit.
    Flag,
    Enum(&'static Enum),
    /// Operand selectors: only values within one of the spans exist.
    Select(&'static [Span]),
}

/// One field of a format.
#[derive(Copy, Clone, Debug)]
pub struct Field {
    pub id: FieldId,
    /// The manual's name.
    pub name: &'static str,
    /// From the most significant piece to the least significant one.
    pub pieces: &'static [Piece],
    pub kind: Kind,
    /// What the assembler's number exceeds the stored value by: 1 where the manual says "minus one".
    pub bias: u8,
    /// The stored value that the text leaves out.
    pub default: u32,
    /// Bits of all pieces together, and which they are: asked whenever an instruction is made.
    width: u32,
    mask: u128,
}

impl Field {
    pub const fn new(
        id: FieldId,
        name: &'static str,
        pieces: &'static [Piece],
        kind: Kind,
    ) -> Field {
        let (mut width, mut mask) = (0, 0);
        let mut i = 0;
        while i < pieces.len() {
            width += pieces[i].width();
            mask |= pieces[i].mask();
            i += 1;
        }
        Field { id, name, pieces, kind, bias: 0, default: 0, width, mask }
    }

    pub const fn minus_one(mut self) -> Field {
        self.bias = 1;
        self
    }

    pub const fn usually(mut self, value: u32) -> Field {
        self.default = value;
        self
    }

    #[inline]
    pub const fn width(&self) -> u32 {
        self.width
    }

    #[inline]
    pub const fn mask(&self) -> u128 {
        self.mask
    }

    /// The stored value, not sign-extended.
    #[inline]
    pub const fn get(&self, bits: u128) -> u32 {
        if let [piece] = self.pieces {
            return ((bits & self.mask) >> piece.lo) as u32;
        }
        self.gather(bits)
    }

    /// The value of a field of several pieces. Few are, and the others are asked for all the time: this stands apart.
    #[inline(never)]
    const fn gather(&self, bits: u128) -> u32 {
        let mut value = 0;
        let mut i = 0;
        while i < self.pieces.len() {
            let piece = self.pieces[i];
            value = (value << piece.width()) | (bits >> piece.lo & low_bits(piece.width()));
            i += 1;
        }
        value as u32
    }

    /// `bits` with this field replaced. Bits of `value` beyond the field's width are dropped: check first.
    #[inline]
    pub const fn put(&self, bits: u128, value: u32) -> u128 {
        if let [piece] = self.pieces {
            return (bits & !self.mask) | (((value as u128) << piece.lo) & self.mask);
        }
        self.scatter(bits, value)
    }

    /// As [`Field::put`], for a field of several pieces.
    #[inline(never)]
    const fn scatter(&self, bits: u128, value: u32) -> u128 {
        let mut rest = value as u128;
        let mut out = bits;
        let mut i = self.pieces.len();
        while i > 0 {
            i -= 1;
            let piece = self.pieces[i];
            out = (out & !piece.mask()) | ((rest & low_bits(piece.width())) << piece.lo);
            rest >>= piece.width() % 128;
        }
        out
    }

    /// Whether the stored value fits the field and means something.
    #[inline]
    pub const fn accepts(&self, value: u32) -> bool {
        if self.width < 32 && value >> self.width != 0 {
            return false;
        }
        self.names(value)
    }

    /// Whether every value that fits is a value: nothing to check when bits are decoded.
    pub const fn is_total(&self) -> bool {
        match self.kind {
            Kind::Unsigned | Kind::Signed | Kind::Fixed(_) | Kind::Flag => true,
            Kind::Enum(set) => set.members.len() as u128 == low_bits(self.width()) + 1,
            Kind::Select(_) => false,
        }
    }

    const fn names(&self, value: u32) -> bool {
        match self.kind {
            Kind::Unsigned | Kind::Signed | Kind::Fixed(_) | Kind::Flag => true,
            Kind::Enum(set) => set.has(value),
            Kind::Select(spans) => {
                let mut i = 0;
                while i < spans.len() {
                    if spans[i].first <= value && value <= spans[i].last {
                        return true;
                    }
                    i += 1;
                }
                false
            }
        }
    }

    /// The stored value as a signed number, for the signed kinds.
    pub fn signed(&self, value: u32) -> i64 {
        let width = self.width();
        let value = i64::from(value);
        if value >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
    }

    /// `19, 12:10` as the documents print it, each piece relative to the word it lies in.
    pub fn place(&self, word_bits: u8) -> String {
        let mut text = String::new();
        for (i, piece) in self.pieces.iter().enumerate() {
            if i > 0 {
                text.push_str(", ");
            }
            let (hi, lo) = (piece.hi % word_bits, piece.lo % word_bits);
            if hi == lo {
                text.push_str(&lo.to_string())
            } else {
                text.push_str(&format!("{hi}:{lo}"))
            }
        }
        text
    }
}

const ABSENT: u8 = u8::MAX;

/// The layout that several ops share.
#[derive(Debug)]
pub struct Format {
    /// The manual's name.
    pub name: &'static str,
    /// Width in bits, at most 128.
    pub bits: u16,
    /// Width of one machine word, for messages and documents.
    pub word_bits: u8,
    /// Field lists; a format is their union, as the manual builds words from common and special halves.
    pub parts: &'static [&'static [Field]],
    pub cite: &'static str,
    used: u128,
    /// Part and place of each field id.
    at: [(u8, u8); MAX_FIELD_IDS],
    /// Part and place of the fields that have reserved values; `checks` of them.
    checked: [(u8, u8); MAX_CHECKED],
    checks: u8,
}

const MAX_CHECKED: usize = 24;

impl Format {
    /// Builds a format. Evaluated at compile time, a table error does not compile.
    pub const fn new(
        name: &'static str,
        bits: u16,
        word_bits: u8,
        parts: &'static [&'static [Field]],
        cite: &'static str,
    ) -> Format {
        assert!(bits <= 128);
        let mut at = [(ABSENT, ABSENT); MAX_FIELD_IDS];
        let mut used: u128 = 0;
        let mut checked = [(0, 0); MAX_CHECKED];
        let mut checks = 0;
        let mut p = 0;
        while p < parts.len() {
            let mut i = 0;
            while i < parts[p].len() {
                let field = &parts[p][i];
                let mut k = 0;
                while k < field.pieces.len() {
                    assert!(field.pieces[k].lo <= field.pieces[k].hi, "a piece is written hi:lo");
                    assert!((field.pieces[k].hi as u16) < bits, "a piece lies outside its format");
                    assert!(used & field.pieces[k].mask() == 0, "two fields of one format overlap");
                    used |= field.pieces[k].mask();
                    k += 1;
                }
                assert!(field.width() <= 32, "a field is at most 32 bits wide");
                assert!(
                    at[field.id.0 as usize].0 == ABSENT,
                    "a field id stands twice in one format"
                );
                at[field.id.0 as usize] = (p as u8, i as u8);
                if !field.is_total() {
                    checked[checks] = (p as u8, i as u8);
                    checks += 1;
                }
                i += 1;
            }
            p += 1;
        }
        Format { name, bits, word_bits, parts, cite, used, at, checked, checks: checks as u8 }
    }

    #[inline]
    pub const fn field(&self, id: FieldId) -> Option<&'static Field> {
        let (part, place) = self.at[id.0 as usize];
        if part == ABSENT { None } else { Some(&self.parts[part as usize][place as usize]) }
    }

    pub fn fields(&self) -> impl Iterator<Item = &'static Field> + use<> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    pub fn field_named(&self, name: &str) -> Option<&'static Field> {
        self.fields().find(|field| field.name.eq_ignore_ascii_case(name))
    }

    /// The fields that have reserved values.
    pub fn checked(&self) -> impl Iterator<Item = &'static Field> + use<> {
        let parts = self.parts;
        let (checked, checks) = (self.checked, usize::from(self.checks));
        (0..checks).map(move |i| &parts[usize::from(checked[i].0)][usize::from(checked[i].1)])
    }

    /// The bits that some field owns; all others are reserved and must be 0.
    pub const fn used(&self) -> u128 {
        self.used
    }

    /// Width in machine words.
    pub const fn words(&self) -> usize {
        self.bits as usize / self.word_bits as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Field = Field::new(
        FieldId(0),
        "COUNT",
        &[Piece { hi: 19, lo: 19 }, Piece { hi: 12, lo: 10 }],
        Kind::Unsigned,
    );

    #[test]
    fn a_field_in_two_pieces_is_one_number() {
        assert_eq!(COUNT.width(), 4);
        for value in 0..16 {
            let bits = COUNT.put(u128::MAX, value);
            assert_eq!(COUNT.get(bits), value);
            assert_eq!(bits | COUNT.mask(), u128::MAX);
        }
        assert_eq!(COUNT.put(0, 8), 1 << 19);
        assert_eq!(COUNT.put(0, 7), 7 << 10);
        assert_eq!(COUNT.place(32), "19, 12:10");
    }

    #[test]
    fn signed_fields_extend_their_sign() {
        let offset = Field::new(FieldId(1), "OFFSET", &[Piece { hi: 4, lo: 0 }], Kind::Fixed(1));
        assert_eq!(offset.signed(28), -4);
        assert_eq!(offset.signed(15), 15);
    }

    #[test]
    fn an_enum_refuses_what_it_does_not_name() {
        static SEL: Enum =
            Enum::new("SEL", &[Member { value: 0, name: "X" }, Member { value: 7, name: "MASK" }]);
        let field = Field::new(FieldId(2), "SEL_X", &[Piece { hi: 2, lo: 0 }], Kind::Enum(&SEL));
        assert!(field.accepts(0) && field.accepts(7));
        assert!(!field.accepts(6) && !field.accepts(8));
        assert_eq!(SEL.value_of("mask"), Some(7));
    }
}
