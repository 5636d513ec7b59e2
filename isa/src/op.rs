//! Rows of a table: what an instruction is called, how its bits are told from others, and one instruction's value.

use crate::field::{Field, FieldId, Format};
use std::fmt;

/// A row's number within its table; machines wrap it in an enum of their own with one variant a row.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OpId(pub u16);

/// One instruction of the manual.
#[derive(Copy, Clone, Debug)]
pub struct Op {
    pub id: OpId,
    /// The manual's mnemonic, which is also what the text says.
    pub name: &'static str,
    /// Other names that the assembler takes.
    pub aliases: &'static [&'static str],
    pub format: &'static Format,
    /// Source operands, destination not counted.
    pub sources: u8,
    /// Units that can execute it; the bits are the machine's own.
    pub units: u16,
    /// Properties; the bits are the machine's own.
    pub flags: u32,
    /// Latency class; the numbers are the machine's own.
    pub latency: u8,
    /// Where the documents define it.
    pub cite: &'static str,
    /// Which bits tell this op from others, and their values.
    pub mask: u128,
    pub bits: u128,
    /// The bits with every free field at its usual value.
    pub usual: u128,
}

impl Op {
    /// A row whose `fixed` fields have these values. Rows are built at compile time: a fixed field that the format lacks,
    /// or that cannot hold its value, does not compile.
    pub const fn new(
        id: OpId,
        name: &'static str,
        format: &'static Format,
        fixed: &[(FieldId, u32)],
    ) -> Op {
        let mut mask = 0;
        let mut bits = 0;
        let mut i = 0;
        while i < fixed.len() {
            let (id, value) = fixed[i];
            match format.field(id) {
                Some(field) => {
                    assert!(field.accepts(value), "a fixed field cannot hold its value");
                    mask |= field.mask();
                    bits = field.put(bits, value);
                }
                None => panic!("a fixed field is not in the format"),
            }
            i += 1;
        }
        let mut usual = bits;
        let mut part = 0;
        while part < format.parts.len() {
            let fields = format.parts[part];
            let mut i = 0;
            while i < fields.len() {
                if mask & fields[i].mask() == 0 {
                    usual = fields[i].put(usual, fields[i].default);
                }
                i += 1;
            }
            part += 1;
        }
        Op {
            id,
            name,
            aliases: &[],
            format,
            sources: 0,
            units: 0,
            flags: 0,
            latency: 0,
            cite: "",
            mask,
            bits,
            usual,
        }
    }

    #[inline]
    pub fn matches(&self, bits: u128) -> bool {
        bits & self.mask == self.bits
    }

    #[inline]
    pub fn is_fixed(&self, field: &Field) -> bool {
        self.mask & field.mask() != 0
    }

    pub const fn has(&self, flag: u32) -> bool {
        self.flags & flag == flag
    }
}

/// Why a value cannot stand in an instruction.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FieldError {
    #[error("{op} has no field {field}")]
    Absent { op: &'static str, field: String },
    #[error("{field} cannot be {value}: it has {width} bits")]
    TooWide { field: &'static str, value: u32, width: u32 },
    #[error("{field} cannot be {value}: the value is reserved")]
    Reserved { field: &'static str, value: u32 },
}

/// Why bits are no instruction of a table.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("{table} has no instruction with this opcode ({words})")]
    UnknownOpcode { table: &'static str, words: String },
    #[error("{op}: reserved bits {place} of {format} must be 0")]
    ReservedBits { op: &'static str, format: &'static str, place: String },
    #[error("{op}: {field} = {value} is reserved")]
    ReservedValue { op: &'static str, field: &'static str, value: u32 },
}

/// One instruction: a row and its bits. It carries every bit and knows its own layout, so that reading and writing a
/// field needs no table.
#[derive(Copy, Clone)]
pub struct Inst {
    op: &'static Op,
    bits: u128,
}

impl Inst {
    /// The op with every free field 0.
    pub fn new(op: &'static Op) -> Inst {
        Inst { op, bits: op.bits }
    }

    /// The op with every free field at its usual value, which is what text leaves out.
    pub fn usual(op: &'static Op) -> Inst {
        Inst { op, bits: op.usual }
    }

    /// Checks `bits` against a row already chosen.
    pub fn decode(op: &'static Op, bits: u128) -> Result<Inst, DecodeError> {
        let reserved = bits & !op.format.used();
        if reserved != 0 {
            return Err(DecodeError::ReservedBits {
                op: op.name,
                format: op.format.name,
                place: places(reserved, op.format.word_bits),
            });
        }
        for field in op.format.checked() {
            let value = field.get(bits);
            if !field.accepts(value) {
                return Err(DecodeError::ReservedValue { op: op.name, field: field.name, value });
            }
        }
        Ok(Inst { op, bits })
    }

    #[inline]
    pub fn op(&self) -> &'static Op {
        self.op
    }

    /// The encoded instruction; word 0 is the low end.
    #[inline]
    pub fn bits(&self) -> u128 {
        self.bits
    }

    /// The encoded instruction as 32-bit words in memory order.
    pub fn words(&self) -> impl Iterator<Item = u32> + use<> {
        let bits = self.bits;
        (0..self.op.format.bits / 32).map(move |i| (bits >> (32 * i)) as u32)
    }

    /// The encoded instruction as bytes in memory order, for machines whose words are bytes.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + use<> {
        let bits = self.bits;
        (0..self.op.format.bits / 8).map(move |i| (bits >> (8 * i)) as u8)
    }

    /// The stored value; a field that the format lacks reads as 0.
    #[inline]
    pub fn get(&self, id: FieldId) -> u32 {
        match self.op.format.field(id) {
            Some(field) => field.get(self.bits),
            None => 0,
        }
    }

    #[inline]
    pub fn flag(&self, id: FieldId) -> bool {
        self.get(id) != 0
    }

    #[inline]
    pub fn has_field(&self, id: FieldId) -> bool {
        self.op.format.field(id).is_some()
    }

    /// Stores a value, or says why it cannot stand there. A fixed field takes no other value than its own.
    pub fn set(&mut self, id: FieldId, value: u32) -> Result<(), FieldError> {
        let Some(field) = self.op.format.field(id) else {
            return Err(FieldError::Absent { op: self.op.name, field: format!("#{}", id.0) });
        };
        self.set_field(field, value)
    }

    /// As [`Inst::set`], for a field at hand.
    pub fn set_field(&mut self, field: &'static Field, value: u32) -> Result<(), FieldError> {
        match self.stored(field, value) {
            Some(bits) => self.bits = bits,
            None => {
                let (field, width) = (field.name, field.width());
                return Err(match width < 32 && value >> width != 0 {
                    true => FieldError::TooWide { field, value, width },
                    false => FieldError::Reserved { field, value },
                });
            }
        }
        Ok(())
    }

    /// The bits with a value in a field; `None` where it cannot stand there.
    #[inline]
    fn stored(&self, field: &Field, value: u32) -> Option<u128> {
        let bits = field.put(self.bits, value);
        (field.accepts(value) && self.op.matches(bits)).then_some(bits)
    }

    /// Stores a value that the caller knows to fit.
    ///
    /// # Panics
    /// Where [`Inst::set`] is an error: the caller's invariant is broken.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, id: FieldId, value: u32) -> Inst {
        // Instructions are made field by field, so what fits takes no way through [`FieldError`].
        if let Some(bits) = self.op.format.field(id).and_then(|field| self.stored(field, value)) {
            self.bits = bits;
        } else if let Err(error) = self.set(id, value) {
            panic!("{}: {error}", self.op.name);
        }
        self
    }
}

impl PartialEq for Inst {
    fn eq(&self, other: &Inst) -> bool {
        self.bits == other.bits && std::ptr::eq(self.op, other.op)
    }
}

impl Eq for Inst {}

impl fmt::Debug for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.op.name)?;
        for field in self.op.format.fields() {
            let value = field.get(self.bits);
            if value != 0 && !self.op.is_fixed(field) {
                write!(f, " {}={value}", field.name)?;
            }
        }
        Ok(())
    }
}

/// `word 1 [20]`: where the set bits lie.
fn places(mut bits: u128, word_bits: u8) -> String {
    let mut text = String::new();
    while bits != 0 {
        let lo = bits.trailing_zeros();
        let run = (!(bits >> lo)).trailing_zeros();
        let word = lo / u32::from(word_bits);
        let hi = (lo + run - 1).min((word + 1) * u32::from(word_bits) - 1);
        if !text.is_empty() {
            text.push_str(", ");
        }
        let (in_hi, in_lo) = (hi % u32::from(word_bits), lo % u32::from(word_bits));
        if in_hi == in_lo {
            text.push_str(&format!("word {word} [{in_lo}]"));
        } else {
            text.push_str(&format!("word {word} [{in_hi}:{in_lo}]"));
        }
        bits &= !(crate::field::low_bits(hi - lo + 1) << lo);
    }
    text
}
