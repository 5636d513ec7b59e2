//! The instruction set of PowerVR Rogue: instruction groups as typed data, bytes and text.
//!
//! - [`fields`]: fields and formats of operations; [`ops`]: a row an operation, with its text; [`register`]: registers.
//! - [`group`]: a group; [`word`]: words of sources and destinations; [`encode`], [`decode`]: bytes.
//! - [`disasm`], `asm`: text and back; [`program`]: whole programs; [`doc`]: the tables as a document.

pub(crate) mod asm;
pub mod decode;
pub mod disasm;
pub mod doc;
pub mod encode;
pub mod fields;
pub mod group;
pub mod ops;
mod page;
pub mod program;
pub mod register;
pub mod word;

pub use decode::{GroupError, decode};
pub use encode::{EncodeError, encode};
pub use group::Group;
pub use program::{assemble, disassemble};
