//! The instruction set as a document, printed from the tables.

use super::fields::{FORMATS, cuts};
use super::ops::TABLES;
use super::register::{Special, special};
use super::word::{DESTINATION, DESTINATIONS, Form, LOWER, UPPER};
use crate::legal::Rule;
use gpucc_isa::doc::{Legend, write_enums, write_formats, write_table};
use std::fmt::Write;

const HEAD: &str = "# PowerVR Rogue instruction groups

Printed from the tables of `backends/rogue` by `BLESS=1 cargo test -p gpucc-rogue`; the tables encode and decode, so this page
cannot differ from them. Numbers are sections of the digest of public sources that the tables follow, \"page\" is the Main
Instruction Group page, [A] marks an assumption. `backends/rogue/ERRATA.md` says where sources are wrong or differ.

A program is a string of groups of 2 to 32 bytes: header, operations from the highest phase to the lowest, the words of S0 to
S2 and of S3 to S5, a byte of internal selectors (main groups), the word of destinations, padding.

";

const TEXT: &str = "
- A group is a line with its number, and lines that begin with a blank. `#` begins a comment.
- Behind the number: `if (p0)`, `if (!p0)`, `(ignorepe)` say who runs it. `repeat(N)`, `atom`, `olchk`, `end` are bits of the header.
- Sources come first (`s0 = r4`; a source that is not said is constant 0), then internal selectors (`is0 = s1` chooses the
  external feedthrough `fte`), then the operations in the order of phases, then destinations (`w0 = r0`).
- Registers: `r4` a temporary, `vi0` a vertex input, `cf8` a coefficient, `cfa8` the same in the second view, `sh3` a shared register,
  `i0` an internal register, `po0` a pixel output, `idx0` an index register, `cf3[idx0]` what it leads to, `sc64` a constant, `sr97` or
  its name (`x_p`) a special register.
- `s0.flr.abs.neg`: modifiers of a source, in the order in which they work. `.sat`, `.lp` and the like belong to the operation.
- `br @4` goes to group 4; `br +20` to 20 bytes behind the beginning of its group; `br.abs =128` to a byte of the program.
- What the assembler would encode shorter is told: `long` (a header of three bytes), `.long(1)` (an operation's longer form),
  `lower(...)`, `upper(...)`, `dest(...)` (the form of a word), `pad(N)` (words of padding). The last two groups of a program that ends
  have the padding that puts the last one into fetch lines of its own; it is not told.
- `.kept(N)` and `.b7` are reserved bits that foreign groups have.
- The example of the Main Instruction Group page multiplies in phase 2, which the page forbids. It is read and printed in the page's
  own words (`mul`, `mad`, `tstz.f32`, `uvsw w0`); the rules refuse it.

";

/// A program of every kind of group.
pub const EXAMPLE: &str = "\
0 : if (p0)
 s0 = r4, s1 = sc1, s3 = sh2
 is0 = s1, is1 = fte, is4 = ft0
 mbyp ft0, s0
 mbyp ft1, s3.neg
 tst.u32.z ftt, p0, is1, _
 movc w0, _, ftt, ft1, is4, _, _
 w0 = r0
1 :
 s0 = r0, s1 = sc8, s2 = r1, s3 = r2, s4 = sc4
 msk_lsl ft0, ft1, ft2, s0, s1, s2
 logical.or ft4, ft1, ft2, ~ft1, s3
 shift.shr ft5, ft4, s4, _
 w0 = r1
2 :
 br.allinst @4
3 :
 s0 = r2, s3 = r4
 ld s3, drc0, 4, s0
4 :
 wdf drc0
5 : end
 nop
";

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

fn write_registers(out: &mut String) {
    out.push_str(
        "## Special registers and constants\n\n| Number | Name | What it is |\n|---|---|---|\n",
    );
    for number in 0..2048 {
        match special(number) {
            Special::Constant(bits) if number < 32 => {
                put!(out, "| {number} | sc{number} | {bits} |\n");
            }
            Special::Constant(bits) => {
                put!(out, "| {number} | sc{number} | {bits:#010x}, {:e} |\n", f32::from_bits(bits));
            }
            Special::Pixout(at) => put!(out, "| {number} | po{at} | pixel output |\n"),
            Special::Internal(at) => put!(out, "| {number} | i{at} | internal register |\n"),
            Special::Named(name) => put!(out, "| {number} | sr{number} | `{name}` |\n"),
            Special::Unknown => {}
        }
    }
    out.push('\n');
}

fn write_words(out: &mut String) {
    out.push_str("## Words of sources and destinations\n\n");
    out.push_str("The first form that holds the registers is taken. A name says operands, and bank and index bits of each.\n\n");
    out.push_str("| Word | Forms and their bytes |\n|---|---|\n");
    let lists: [(&str, &[Form]); 4] = [
        ("S0 to S2", &LOWER),
        ("S3 to S5", &UPPER),
        ("one destination", &DESTINATION),
        ("two destinations", &DESTINATIONS),
    ];
    for (name, forms) in lists {
        let forms: Vec<String> =
            forms.iter().map(|form| format!("{} {}", form.name, form.bytes)).collect();
        put!(out, "| {name} | {} |\n", forms.join(", "));
    }
    out.push('\n');
}

/// `docs/rogue.md`.
pub fn markdown() -> String {
    let none = Legend { units: &[], flags: &[] };
    let mut out = format!("{HEAD}## Text\n\n```\n{EXAMPLE}```\n{TEXT}");
    for table in TABLES {
        put!(out, "## Operations: {}\n\n", table.name);
        write_table(&mut out, table, none);
    }
    write_words(&mut out);
    write_registers(&mut out);
    out.push_str(
        "## What is forbidden\n\nGroups that have bytes and that `legal` refuses, by subject.\n\n",
    );
    for rule in Rule::ALL {
        put!(out, "- {rule}\n");
    }
    out.push_str("\n## Formats of operations\n\nA word is a byte. Of formats with shorter forms, these leave bytes at the end out:\n\n");
    for format in FORMATS.iter().filter(|format| !cuts(format).is_empty()) {
        let cuts = cuts(format).iter();
        let bits: Vec<String> = cuts.map(|cut| format!("bit {} is 0", cut.bit)).collect();
        put!(out, "- {}: {}\n", format.name, bits.join(", "));
    }
    out.push('\n');
    write_formats(&mut out, FORMATS);
    out.push_str("## Enumerations\n\n");
    write_enums(&mut out, FORMATS);
    out
}
