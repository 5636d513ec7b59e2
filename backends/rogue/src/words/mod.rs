//! Words that launch programs and describe memory: instructions and operands of PDS, the streams of CDM and VDM, PPP state,
//! texture and sampler state, PBE state. Each is a layout with names; [`gpucc_isa::Inst`] holds one word, refuses reserved
//! bits and values, and reads and writes fields. Pipeline page, sections 4.5 to 5.4.
//!
//! Numbers wider than 32 bits stand in two fields, `..._LO` and `..._HI`.

/// Words as modules: a constant for each field, and the word.
macro_rules! words {
    ($($(#[$doc:meta])* $module:ident $title:literal $bits:literal $cite:literal {
        $($field:ident [$($hi:literal : $lo:literal),+] $kind:expr $(, is $fixed:literal)? $(, plus $plus:literal)? ;)*
    })*) => {
        $($(#[$doc])*
        #[allow(missing_docs, reason = "the names are those of the public definitions")]
        pub mod $module {
            #[allow(unused_imports, reason = "not every word has all of these")]
            use gpucc_isa::Kind::{Enum, Flag, Signed, Unsigned};
            #[allow(unused_imports, reason = "not every word has names")]
            use super::e;
            use gpucc_isa::{Field, FieldId, Format, Inst, Op, OpId, Piece};

            #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names of the constants")]
            enum Number { $($field),* }
            $(pub const $field: FieldId = FieldId(Number::$field as u8);)*
            const FIELDS: &[Field] = &[$({
                #[allow(unused_mut, reason = "not every field is biased")]
                let mut field = Field::new($field, stringify!($field), &[$(Piece { hi: $hi, lo: $lo }),+], $kind);
                $(field.bias = $plus;)?
                field
            }),*];
            static LAYOUT: Format = Format::new($title, $bits, 32, &[FIELDS], $cite);
            /// The word's layout.
            pub static WORD: Op = Op {
                cite: $cite,
                ..Op::new(OpId(0), $title, &LAYOUT, &[$($(($field, $fixed),)?)*])
            };
            /// The word with every field 0 that may be.
            pub fn word() -> Inst {
                Inst::new(&WORD)
            }
            /// Reads a word.
            ///
            /// # Errors
            /// Bits of another word, reserved bits, reserved values.
            pub fn decode(bits: u128) -> Result<Inst, gpucc_isa::DecodeError> {
                crate::words::decode(&WORD, bits)
            }
        })*

        /// The layouts of this module.
        pub static ALL: &[&gpucc_isa::Op] = &[$(&$module::WORD),*];
    };
}

macro_rules! enums {
    ($($id:ident $name:literal { $($value:literal $member:literal),* $(,)? })*) => {
        /// Values with names.
        #[allow(missing_docs, reason = "the names are those of the fields")]
        pub mod e {
            #[allow(unused_imports, reason = "not every module has names")]
            use gpucc_isa::{Enum, Member};
            $(pub static $id: Enum = Enum::new($name, &[$(Member { value: $value, name: $member }),*]);)*
        }
    };
}

pub mod pds;
pub mod pixel;
pub mod ppp;
pub mod program;
pub mod streams;
pub mod texture;

use gpucc_isa::{DecodeError, Inst, Op};

/// Reads a word of a layout.
///
/// # Errors
/// Bits of another word, reserved bits, reserved values.
pub fn decode(word: &'static Op, bits: u128) -> Result<Inst, DecodeError> {
    if !word.matches(bits) {
        let words = gpucc_isa::table::hex_words(bits);
        return Err(DecodeError::UnknownOpcode { table: word.name, words });
    }
    Inst::decode(word, bits)
}

/// Every layout.
pub fn all() -> impl Iterator<Item = &'static Op> {
    let lists = [pds::ALL, streams::ALL, ppp::ALL, texture::ALL, pixel::ALL, program::ALL];
    lists.into_iter().flatten().copied()
}
