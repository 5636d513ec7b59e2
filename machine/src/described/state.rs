//! What a driver programs: registers, descriptors, programs and tables.

use crate::named::Named;
use serde::{Deserialize, Serialize};

/// Something that a driver programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Setting {
    /// A register.
    Register {
        /// Byte address.
        address: u32,
        /// Packed value.
        value: u32,
        /// The bits that the program decides; the others are the driver's.
        mask: u32,
        /// The fields that make it, by the manual's names.
        fields: Named<u32>,
    },
    /// A descriptor in memory.
    Descriptor {
        /// Its words.
        words: Vec<u32>,
        /// The bits of each word that the program decides; the others are the driver's.
        mask: Vec<u32>,
        /// The fields that make it, by the manual's names.
        fields: Named<u32>,
    },
    /// The programs in the code.
    Programs(Vec<ProgramState>),
    /// The tables of descriptors that the program refers to.
    Tables(Vec<TableUse>),
    /// Constants that the driver puts into uniform buffers.
    ConstantBuffers(Vec<ConstantBuffer>),
    /// A number.
    Number(u32),
}

/// One of the programs in the code.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramState {
    /// First byte.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// Bit k: the k-th register that may be filled before the start is.
    pub preload: u16,
    /// Registers in use.
    pub registers: u32,
    /// Registers that an invocation is given.
    pub work_registers: u32,
}

/// A table of descriptors.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableUse {
    /// Number.
    pub table: u32,
    /// Entries that it needs.
    pub entries: u32,
}

/// Constants in a uniform buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantBuffer {
    /// Entry of the uniform buffers' table.
    pub index: u32,
    /// Its words.
    pub words: Vec<u32>,
}
