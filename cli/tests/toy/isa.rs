//! The ten instructions: words of 64 bits, fields, text.

use gpucc::flow::{Step, Steps};
use gpucc::machine::{Assembler, AssemblyError};
use gpucc_ir::ssa::{Op as Ssa, Sig};
use gpucc_isa::lex::Cursor;
use gpucc_isa::{Field, FieldId, Format, Inst, Kind, Op, OpId, Piece, Table, text};

/// Registers of an invocation.
pub const REGISTERS: u32 = 4096;

pub const OPCODE: FieldId = FieldId(0);
pub const D: FieldId = FieldId(1);
pub const A: FieldId = FieldId(2);
pub const B: FieldId = FieldId(3);
pub const C: FieldId = FieldId(4);
/// Number of the operation in the table of SSA.
pub const FUNCTION: FieldId = FieldId(5);
/// Bit 0: the operands are truth values; bit 1: the result is one.
pub const TRUTH: FieldId = FieldId(6);
pub const NUMBER: FieldId = FieldId(7);
pub const BUFFER: FieldId = FieldId(8);
pub const OFFSET: FieldId = FieldId(9);

macro_rules! field {
    ($id:expr, $name:literal, $hi:literal : $lo:literal) => {
        Field::new($id, $name, &[Piece { hi: $hi, lo: $lo }], Kind::Unsigned)
    };
}

const CODE: Field = field!(OPCODE, "OPCODE", 5:0);
const TO: Field = field!(D, "D", 19:8);
const FIRST: Field = field!(A, "A", 31:20);
const IMMEDIATE: Field = field!(NUMBER, "NUMBER", 63:32);

const COMPUTE_FIELDS: &[&[Field]] = &[&[
    CODE,
    field!(TRUTH, "TRUTH", 7:6),
    TO,
    FIRST,
    field!(B, "B", 43:32),
    field!(C, "C", 55:44),
    field!(FUNCTION, "FUNCTION", 63:56),
]];
static COMPUTE: Format = Format::new("COMPUTE", 64, 32, COMPUTE_FIELDS, "the toy's book");
const SET_FIELDS: &[&[Field]] = &[&[CODE, TO, IMMEDIATE]];
static SET: Format = Format::new("SET", 64, 32, SET_FIELDS, "the toy's book");
const MOVE_FIELDS: &[&[Field]] = &[&[CODE, TO, FIRST]];
static MOVE: Format = Format::new("MOVE", 64, 32, MOVE_FIELDS, "the toy's book");
const GOTO_FIELDS: &[&[Field]] = &[&[CODE, FIRST, IMMEDIATE]];
static GOTO: Format = Format::new("GOTO", 64, 32, GOTO_FIELDS, "the toy's book");
const MEMORY_FIELDS: &[&[Field]] =
    &[&[CODE, TO, FIRST, field!(BUFFER, "BUFFER", 39:32), field!(OFFSET, "OFFSET", 63:40)]];
static MEMORY: Format = Format::new("MEMORY", 64, 32, MEMORY_FIELDS, "the toy's book");

const fn row(id: u16, name: &'static str, format: &'static Format) -> Op {
    let mut op = Op::new(OpId(id), name, format, &[(OPCODE, id as u32)]);
    op.cite = "the toy's book";
    op
}

macro_rules! rows {
    ($( $id:literal $name:ident $format:ident; )+) => {
        $( pub static $name: Op = row($id, stringify!($name), &$format); )+
        static ROWS: &[Op] = &[ $( row($id, stringify!($name), &$format), )+ ];
    };
}

rows! {
    0 END MOVE;
    1 CONSTANT SET;
    2 COPY MOVE;
    3 ALU COMPUTE;
    4 READ_ID SET;
    5 LOAD MEMORY;
    6 STORE MEMORY;
    7 SIZE MEMORY;
    8 JUMP GOTO;
    9 UNLESS GOTO;
}

pub static TABLE: Table = Table::new("toy", ROWS);

/// The number of an SSA operation.
pub fn function(op: Ssa) -> Option<u32> {
    let number = Ssa::ALL.iter().position(|&other| other == op)?;
    u32::try_from(number).ok().filter(|&number| number < 256)
}

/// Whether what an instruction does depends on a field.
pub fn is_read(inst: &Inst, field: FieldId) -> bool {
    match inst.op().name {
        "END" => field == OPCODE,
        "JUMP" => field != A,
        "SIZE" => field != A && field != OFFSET,
        "ALU" => {
            let op = Ssa::ALL.get(inst.get(FUNCTION) as usize);
            let operands = op.and_then(|op| super::lower::operands(*op)).unwrap_or(3);
            // Of 0 and 1 most operations make the same, whatever they are called.
            let typed = op.is_some_and(|op| matches!(op.sig(), Sig::UnaryBits | Sig::Convert));
            let unread = field == B && operands < 2 || field == C && operands < 3;
            !unread && (field != TRUTH || typed)
        }
        _ => true,
    }
}

/// The words of a program; what does not fill one is left out.
pub fn words(code: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = code.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word))
}

/// Assembler and disassembler.
pub struct Text;

impl Assembler for Text {
    fn token_bytes(&self) -> usize {
        8
    }
    fn units(&self) -> &'static [&'static str] {
        &["program"]
    }
    fn disassemble(&self, _: &str, code: &[u8]) -> Result<String, AssemblyError> {
        let wrong = |offset: usize, message: String| AssemblyError::Code { offset, message };
        let whole = code.len() / 8 * 8;
        if whole < code.len() {
            return Err(wrong(whole, "half a word".into()));
        }
        let mut out = String::new();
        for (number, word) in words(code).enumerate() {
            let inst = TABLE.decode(word.into());
            let inst = inst.map_err(|error| wrong(8 * number, error.to_string()))?;
            out.push_str(inst.op().name);
            text::write_fields(&mut out, &inst, &[]);
            out.push('\n');
        }
        Ok(out)
    }
    fn steps(&self, code: &[u8]) -> Result<Steps, AssemblyError> {
        // No registers: a word after the other.
        let count = (code.len() / 8) as u32;
        let step = |at: u32| Step {
            offset: 8 * at,
            next: (at + 1..count).take(1).collect(),
            ..Step::default()
        };
        Ok(Steps { list: (0..count).map(step).collect(), cells: 1, prefix: "r" })
    }
    fn assemble(&self, _: &str, text: &str) -> Result<Vec<u8>, AssemblyError> {
        parse(text).map_err(|error| AssemblyError::Text {
            line: error.line,
            column: error.column,
            message: error.message,
        })
    }
}

fn parse(text: &str) -> Result<Vec<u8>, gpucc_isa::Diagnostic> {
    let mut cursor = Cursor::new(text);
    let mut code = Vec::new();
    loop {
        cursor.skip_empty_lines();
        if cursor.at_end() {
            return Ok(code);
        }
        let name = cursor.word("an instruction")?;
        let row = TABLE.named(name.text);
        let unknown = || gpucc_isa::lex::error_at(name, "no such instruction");
        let mut inst = Inst::usual(row.ok_or_else(unknown)?);
        while !cursor.at_line_end() {
            let field = cursor.word("a field")?;
            text::read_field(&mut cursor, field, &mut inst)?;
        }
        cursor.expect_line_end()?;
        code.extend(inst.bytes());
    }
}
