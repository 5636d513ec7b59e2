//! The table engine: fields, formats and ops as data, and everything that follows from them: encoding, decoding, text,
//! documentation, coverage. It knows no machine; a machine is a set of `static` tables in its back end.
//!
//! - [`field`]: fields in pieces, enums, formats. Overlaps do not compile.
//! - [`op`]: rows, and [`Inst`], one instruction that carries every bit and knows its layout.
//! - [`table`]: rows by bits and by name, and the checks that a table must pass.
//! - [`lex`], [`text`]: assembler text as tokens with positions, and fields as `NAME(value)`.
//! - [`doc`], [`coverage`]: the table as Markdown, and what of it foreign words have proved.
#![forbid(unsafe_code)]

pub mod coverage;
pub mod doc;
pub mod field;
pub mod lex;
pub mod op;
pub mod table;
pub mod text;

pub use field::{Enum, Field, FieldId, Format, Kind, Member, Piece, Span};
pub use lex::Diagnostic;
pub use op::{DecodeError, FieldError, Inst, Op, OpId};
pub use table::Table;
