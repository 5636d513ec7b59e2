//! The machine instruction: one scalar ALU operation, one fetch, one export or one mark of control
//! flow, over virtual registers before allocation and cells of R0..=R127 after it.

mod operands;

use crate::isa::{AluOp, FetchOp};
use gpucc_ir::mach::{self, Cell, File, FileId, Files, Reg, Scope};
use smallvec::SmallVec;

/// General-purpose registers: 128 rows of x, y, z, w. R700 ISA 2.2.
pub const GPR: FileId = FileId(0);
/// The register files of the machine. Of 127 rows two sets of four clause temporaries take eight
/// (R700 ISA 2.2); what is left is what NUM_GPRS may say.
pub const FILES: Files =
    Files(&[File { name: "R", cells: 4 * 119, row: 4, per_lane: true, scope: Scope::Function }]);

/// A place that an ALU source reads.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Src {
    /// A register.
    Reg(Reg),
    /// Dword `chan` of vec4 `index` of constant-cache buffer `buffer`.
    Const {
        /// Buffer, 0..=15.
        buffer: u8,
        /// vec4 within the buffer.
        index: u16,
        /// Dword within the vec4.
        chan: u8,
    },
    /// These bits: an inline constant or a literal, whichever fits.
    Bits(u32),
}

/// An ALU source with its modifiers; ABS acts before NEG (R700 ISA 4.7.2).
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Source {
    /// What is read.
    pub src: Src,
    /// The sign bit is flipped.
    pub neg: bool,
    /// The sign bit is cleared first.
    pub abs: bool,
}

impl Source {
    /// These bits.
    pub const fn bits(bits: u32) -> Source {
        Source { src: Src::Bits(bits), neg: false, abs: false }
    }
    /// A register.
    pub fn reg(reg: impl Into<Reg>) -> Source {
        Source { src: Src::Reg(reg.into()), neg: false, abs: false }
    }
    /// Without modifiers.
    pub const fn plain(src: Src) -> Source {
        Source { src, neg: false, abs: false }
    }
}

/// OMOD: the result times a power of two. R700 ISA 4.9.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Omod {
    /// As it is.
    #[default]
    Off,
    /// Times 2.
    Mul2,
    /// Times 4.
    Mul4,
    /// Halved.
    Div2,
}

impl Omod {
    /// The field.
    pub const fn code(self) -> u8 {
        match self {
            Omod::Off => 0,
            Omod::Mul2 => 1,
            Omod::Mul4 => 2,
            Omod::Div2 => 3,
        }
    }
}

/// One scalar ALU operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Alu {
    /// What it does.
    pub op: AluOp,
    /// Where the result goes; `None` for KILL and PRED_SET.
    pub dst: Option<Reg>,
    /// As many sources as the operation has.
    pub src: SmallVec<[Source; 3]>,
    /// The result is clamped to 0..=1.
    pub clamp: bool,
    /// The result is scaled.
    pub omod: Omod,
}

impl Alu {
    /// An operation without output modifiers.
    pub fn new(op: AluOp, dst: Option<Reg>, src: &[Source]) -> Alu {
        debug_assert_eq!(src.len(), crate::op::sources(op));
        Alu { op, dst, src: SmallVec::from_slice(src), clamp: false, omod: Omod::Off }
    }
}

/// A double-precision operation: two slots, or four for products. R700 ISA 4.12.
#[derive(Clone, Debug, PartialEq)]
pub struct Double {
    /// What it does.
    pub op: AluOp,
    /// Low dword (channel x) and high dword (channel y) of the result; one word stands in the first.
    pub dst: [Option<Reg>; 2],
    /// High and low dword of each operand; operands of one word stand in the first.
    pub src: SmallVec<[[Source; 2]; 3]>,
}

/// What one channel of a fetched or exported row carries.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lane {
    /// This register (of the row that all lanes share).
    Reg(Reg),
    /// 0.0.
    Zero,
    /// 1.0.
    One,
    /// Nothing.
    Masked,
}

/// A vertex fetch: one index in, up to four dwords out. R700 ISA 5.2.
#[derive(Clone, Debug, PartialEq)]
pub struct Vertex {
    /// Resource, stage-relative.
    pub resource: u8,
    /// The index.
    pub index: Reg,
    /// What goes to which register: `dst[k]` receives component `k`.
    pub dst: [Option<Reg>; 4],
    /// Byte offset.
    pub offset: u16,
    /// DATA_FORMAT.
    pub data_format: u8,
    /// NUM_FORMAT_ALL.
    pub num_format: u8,
    /// FORMAT_COMP_ALL.
    pub signed: bool,
    /// Bytes of one element.
    pub bytes: u8,
    /// FETCH_TYPE: 0 vertex, 1 instance, 2 no index offset.
    pub fetch_type: u8,
    /// Components by DST_SEL: which component of the fetched element `dst[k]` receives.
    pub select: [u8; 4],
}

impl Vertex {
    /// Reads `count` dwords, at most four, as they are, `offset` bytes behind the element that `index` says.
    pub fn words(
        resource: u32,
        index: Reg,
        offset: u32,
        dst: [Option<Reg>; 4],
        count: usize,
    ) -> Vertex {
        Vertex {
            resource: resource as u8,
            index,
            dst,
            offset: offset as u16,
            // 32, 32_32, 32_32_32, 32_32_32_32 as unsigned integers.
            data_format: [13, 29, 47, 34][count - 1],
            num_format: 1,
            signed: false,
            bytes: 4 * count as u8,
            fetch_type: 2,
            select: [0, 1, 2, 3],
        }
    }
}

/// A texture instruction. R700 ISA 5.4.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Which instruction.
    pub op: FetchOp,
    /// Resource, stage-relative.
    pub resource: u8,
    /// Sampler.
    pub sampler: u8,
    /// Sources in the order x, y, z, w of the unit.
    pub src: [Lane; 4],
    /// `dst[k]` receives component `select[k]`.
    pub dst: [Option<Reg>; 4],
    /// Components.
    pub select: [u8; 4],
    /// COORD_TYPE: true for normalised coordinates.
    pub normalized: [bool; 4],
    /// Texel offsets.
    pub offset: [i8; 3],
    /// Sources of SET_GRADIENTS_H and SET_GRADIENTS_V, which stand right before a SAMPLE_G in its
    /// clause: one instruction until emission, so that nothing comes between.
    pub gradients: Option<Box<[[Lane; 4]; 2]>>,
}

/// Which memory a memory instruction reaches.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Space {
    /// Per-lane scratch; array bases in vec4.
    Scratch,
    /// The scatter aperture; addresses in dwords.
    Scatter,
    /// A stream-out buffer; addresses in dwords of the vertex.
    Stream(u8),
}

/// A read of memory. R700 ISA 5.3.
#[derive(Clone, Debug, PartialEq)]
pub struct MemRead {
    /// Which memory.
    pub space: Space,
    /// Dword address (scatter) or vec4 index (scratch); none reads ARRAY_BASE alone.
    pub index: Option<Reg>,
    /// ARRAY_BASE.
    pub base: u16,
    /// ARRAY_SIZE (scratch arrays).
    pub size: u16,
    /// `dst[k]` receives component `select[k]`.
    pub dst: [Option<Reg>; 4],
    /// Components.
    pub select: [u8; 4],
    /// Dwords of an element: 1, 2 or 4.
    pub elements: u8,
    /// This is the allocator's reload of a register.
    pub slot: Option<mach::Slot>,
}

impl MemRead {
    /// Reads `count` dwords, at most four, of the scatter aperture.
    pub fn scatter(index: Reg, dst: [Option<Reg>; 4], count: usize) -> MemRead {
        MemRead {
            space: Space::Scatter,
            index: Some(index),
            base: 0,
            size: 0,
            dst,
            select: [0, 1, 2, 3],
            elements: [1, 2, 4, 4][count - 1],
            slot: None,
        }
    }

    /// Reads one dword per lane of scratch, at a place within the array of `size` from `base` on.
    pub fn scratch(index: Option<Reg>, base: u32, size: u32, dst: Reg) -> MemRead {
        MemRead {
            space: Space::Scratch,
            index,
            base: base as u16,
            size: size as u16,
            dst: [Some(dst), None, None, None],
            select: [0, 1, 2, 3],
            elements: 4,
            slot: None,
        }
    }
}

/// A write of memory. R700 ISA 3.5.
#[derive(Clone, Debug, PartialEq)]
pub struct MemWrite {
    /// Which memory.
    pub space: Space,
    /// Dword address (scatter) or vec4 index (scratch); channel x of the index register.
    pub index: Option<Reg>,
    /// ARRAY_BASE.
    pub base: u16,
    /// ARRAY_SIZE.
    pub size: u16,
    /// Values by channel.
    pub src: [Option<Reg>; 4],
    /// Dwords of an element: 1, 2 or 4.
    pub elements: u8,
    /// Helper pixels do not write (VALID_PIXEL_MODE); they never do to the scatter aperture.
    pub valid: bool,
    /// This is the allocator's spill of a register.
    pub slot: Option<mach::Slot>,
}

/// A write to the thread's own part of the local data share. R700 ISA 2.6.2, 10.6.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareWrite {
    /// DST_INDEX: where the four dwords start within the thread's part.
    pub index: u8,
    /// DST_STRIDE: dwords from one thread's part to the next.
    pub stride: u8,
    /// What each dword gets.
    pub src: [Lane; 4],
}

/// A read of four dwords of the local data share.
#[derive(Clone, Debug, PartialEq)]
pub struct ShareRead {
    /// Bank: the owner's number modulo 4.
    pub bank: Reg,
    /// Dword within the bank.
    pub address: Reg,
    /// RD_OFFSET, added to the address.
    pub offset: u8,
    /// `dst[k]` receives component `k`, in channel `k`: there is no swizzle.
    pub dst: [Option<Reg>; 4],
}

/// What an export feeds. R700 ISA 3.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportType {
    /// TYPE 0.
    Pixel,
    /// TYPE 1.
    Position,
    /// TYPE 2.
    Parameter,
}

/// One export of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Export {
    /// To what.
    pub ty: ExportType,
    /// ARRAY_BASE.
    pub base: u8,
    /// Values by channel.
    pub src: [Lane; 4],
    /// The last of its type.
    pub done: bool,
}

/// An indexed read or write of a small array in registers: MOVA_INT, then relative addressing.
#[derive(Clone, Debug, PartialEq)]
pub struct Indexed {
    /// The array: cells 4 apart.
    pub array: Reg,
    /// Elements.
    pub count: u16,
    /// Element number, in range together with the offset; bits name a register like any other.
    pub index: Source,
    /// Elements after the one with that number.
    pub offset: u16,
}

/// One machine instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Inst {
    /// These registers hold their values when the program starts.
    Entry(SmallVec<[(Reg, Cell); 4]>),
    /// Scalar ALU operation.
    Alu(Alu),
    /// DOT4_IEEE: the sum of the four products in order.
    Dot {
        /// The sum.
        dst: Reg,
        /// Pairs for slots x, y, z, w.
        src: [[Source; 2]; 4],
        /// Clamped to 0..=1.
        clamp: bool,
    },
    /// CUBE: direction in, t, s, 2 * major axis, face out (in x, y, z, w). R700 ISA 9, CUBE.
    Cube {
        /// Results; channels x, y, z, w in this order.
        dst: [Reg; 4],
        /// Direction x, y, z.
        src: [Reg; 3],
    },
    /// Double precision.
    Double(Double),
    /// A parallel copy.
    Copy {
        /// Destinations.
        dst: SmallVec<[Reg; 2]>,
        /// Sources.
        src: SmallVec<[Reg; 2]>,
    },
    /// Reads an element.
    ArrayRead {
        /// The element's value.
        dst: Reg,
        /// Which element.
        from: Indexed,
    },
    /// Writes an element; the rest of the array stays.
    ArrayWrite {
        /// Which element.
        to: Indexed,
        /// The new array, in the same cells.
        result: Reg,
        /// The new value.
        value: Source,
    },
    /// An array with undefined elements comes to life.
    ArrayNew {
        /// The array.
        array: Reg,
    },
    /// Vertex fetch.
    Vertex(Vertex),
    /// Texture instruction.
    Texture(Texture),
    /// Memory read.
    MemRead(MemRead),
    /// Memory write.
    MemWrite(MemWrite),
    /// Write to the local data share.
    ShareWrite(ShareWrite),
    /// Read of the local data share.
    ShareRead(ShareRead),
    /// Waits until writes are acknowledged.
    WaitAck,
    /// Export.
    Export(Export),
    /// Pushes the mask and narrows it to lanes that pass the test; jumps over the arm when none do.
    If(Alu),
    /// Turns to the lanes that failed.
    Else,
    /// Back to the mask before the `If`.
    EndIf,
    /// Opens a loop.
    LoopStart,
    /// Closes a loop.
    LoopEnd,
    /// Active lanes leave the loop.
    Break,
    /// The program ends.
    End,
}
