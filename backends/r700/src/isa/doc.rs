//! The instruction set as a document, printed from the table.

use super::ops::{self, flag};
use super::{Isa, R700};
use gpucc_isa::doc::{Legend, write_enums, write_formats, write_table};

const ALU: Legend = Legend {
    units: &[(ops::VECTOR, "xyzw"), (ops::TRANS, "t")],
    flags: flag::NAMES,
};
const OTHER: Legend = Legend {
    units: &[],
    flags: flag::NAMES,
};

/// `docs/r700.md`.
pub fn markdown() -> String {
    markdown_of(&R700)
}

fn markdown_of(isa: &'static Isa) -> String {
    let mut out = String::from(HEAD);
    let formats = isa.formats.all();
    out.push_str("## Control flow\n\n");
    write_table(&mut out, &isa.cf, OTHER);
    out.push_str("## ALU\n\n");
    write_table(&mut out, &isa.alu, ALU);
    out.push_str("## Fetch, memory read, data share\n\n");
    write_table(&mut out, &isa.fetch, OTHER);
    out.push_str("## Formats\n\n");
    write_formats(&mut out, &formats);
    out.push_str("## Enumerations\n\n");
    write_enums(&mut out, &formats);
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

const HEAD: &str = "# R700: instructions and formats

Printed from the table in `backends/r700/src/isa`; `BLESS=1 cargo test -p gpucc-r700` rewrites it. Sections are those of
the R700 ISA document, `E5` is a number in `backends/r700/ERRATA.md`, and `-` means that the document lists the opcode and
says nothing about it. The text of the assembler is described at the top of `backends/r700/src/isa/asm.rs`: what its syntax
does not say stands behind an instruction as `FIELD(value)`, fields with their usual value left out.

";
