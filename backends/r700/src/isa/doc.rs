//! The instruction set as a document, printed from the table.

use super::ops::{self, flag};
use super::{Isa, R600, R700};
use gpucc_isa::Format;
use gpucc_isa::doc::{Legend, write_enums, write_formats, write_table};

const ALU: Legend =
    Legend { units: &[(ops::VECTOR, "xyzw"), (ops::TRANS, "t")], flags: flag::NAMES };
const OTHER: Legend = Legend { units: &[], flags: flag::NAMES };

/// `docs/r700.md`.
pub fn markdown() -> String {
    markdown_of(&R700, HEAD, &R700.formats.all())
}

/// `docs/r600.md`.
pub fn markdown_r600() -> String {
    // The memory formats at the end of the list stand for rows that R6xx lacks.
    markdown_of(&R600, HEAD_R600, &R600.formats.all()[..9])
}

fn markdown_of(isa: &'static Isa, head: &str, formats: &[&'static Format]) -> String {
    let mut out = format!("{head}## Text\n\n```\n{EXAMPLE}```\n{TEXT}");
    out.push_str("## Control flow\n\n");
    write_table(&mut out, &isa.cf, OTHER);
    out.push_str("## ALU\n\n");
    write_table(&mut out, &isa.alu, ALU);
    out.push_str("## Fetch, memory read, data share\n\n");
    write_table(&mut out, &isa.fetch, OTHER);
    out.push_str("## Formats\n\n");
    write_formats(&mut out, formats);
    out.push_str("## Enumerations\n\n");
    write_enums(&mut out, formats);
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

/// A program in our text; a test assembles it.
pub const EXAMPLE: &str = "\
00 ALU_PUSH_BEFORE: ADDR(6) COUNT(2) KCACHE0(CB0:0-15)
       0  x: PRED_SETGT ____.x, KC0[2].x, R0.x UPDATE_EXECUTE_MASK UPDATE_PRED
          t: SIN R1.y, |R0.y|
01 JUMP ADDR(4) POP_COUNT(1)
02 TEX: ADDR(8) COUNT(1)
       1  SAMPLE R1.xyz1, R0.xy0_, t0, s0
03 POP ADDR(4) POP_COUNT(1)
04 ALU: ADDR(10) COUNT(4)
       2  x: MULADD_IEEE R1.x, -R1.x, (0x40490fdb, 3.1415927).x, 1.0
          y: MUL R1.y, R1.y, (0x40490fdb, 3.1415927).x VEC_021
          t: RECIP_IEEE R1.z, R0.z CLAMP SCL_122
05 EXPORT_DONE: PIXEL[0], R1.xyz1 END_OF_PROGRAM
";

const HEAD: &str = "# R700: instructions, formats and text

This page is printed from the table in `backends/r700/src/isa`. `BLESS=1 cargo test -p gpucc-r700`
prints it again. Where an instruction is defined:

- a section: of the R700 ISA document;
- `E5`: a number in `backends/r700/ERRATA.md`;
- `-`: the document lists the opcode and says nothing about it.

";

const HEAD_R600: &str = "# R6xx: instructions, formats and text

This page is printed from the table in `backends/r700/src/isa/r600.rs`.
`BLESS=1 cargo test -p gpucc-r700` prints it again. Everything is from chapter 4 of the register
guide. `-` marks numbers that the guide leaves out and that foreign programs may hold.

What differs from R700:

- The second word of two-source ALU instructions has FOG_MERGE at bit 5, OMOD at 7:6 and ALU_INST at
  17:8.
- ASHR_INT, LSHR_INT and LSHL_INT execute in trans only.
- MOVA_GPR_INT exists, but no document describes the index that it loads.
- SIN and COS take radians, -pi to pi.
- Fetch clauses have at most 8 instructions: COUNT is three bits.
- ALU clauses that load AR set USES_WATERFALL, where R700 has ALT_CONST.
- Writes are not acknowledged: WAIT_ACK does not exist.
- MEM_SCRATCH and MEM_REDUCTION read with TYPE READ and READ_IND into whole registers.
- Fetch clauses have no memory reads. There is no data share and no MEM_EXPORT.
- KEEP_GRADIENTS and ALT_CONST do not exist.
- Wavefronts have 64 lanes on RV670 and R600, 32 on RV630 and RV635, and 16 on RV610 and RV620.
  RV610 and RV620 also lack the vertex cache.
- R600 itself has DX10_CLAMP in SQ_CONFIG and needs UNCACHED_FIRST_INST in SQ_PGM_RESOURCES.

";

const TEXT: &str = "
- The number of a control-flow instruction is its address. Groups and fetches are numbered through
  the whole program, and a group's number stands at its first slot.
- A letter says which unit executes a slot.
- `____` is a destination that is not written.
- `[aL]` and `[AR.x]` make an operand relative.
- A literal is written with its bits and its value. The assembler takes either of them alone.
- Other fields follow as `FIELD(value)`, and flags as their bare names. Fields with their usual
  value are left out. The usual barrier is not written: `NO_BARRIER` says that it is absent.
- The assembler places a clause without ADDR and COUNT behind the control flow and counts it.
- `@dword .dword 0x...` is a word that control flow does not reach.
- `;` ends a line, `//` starts a comment.

";
