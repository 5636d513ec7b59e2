//! The instruction set as a document, printed from the table.

use super::ops::{OPS, Opcode, Unit, flag};
use super::shapes::{self, Operand, Staging};
use super::source::{CONSTANTS, Special};
use super::{TABLE, alias};
use gpucc_isa::Format;
use gpucc_isa::doc::{Legend, write_enums, write_formats, write_table};
use std::fmt::Write;

const LEGEND: Legend = Legend { units: Unit::NAMES, flags: flag::NAMES };

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// `docs/valhall.md`.
pub fn markdown() -> String {
    let mut out = format!("{HEAD}## Text\n\n```\n{EXAMPLE}```\n{TEXT}");
    let formats: Vec<&Format> = shapes::ALL.iter().map(|shape| &shape.format).collect();
    out.push_str("## Instructions\n\n");
    write_table(&mut out, &TABLE, LEGEND);
    write_operands(&mut out);
    write_sources(&mut out);
    write_aliases(&mut out);
    out.push_str("## Layouts\n\n");
    write_formats(&mut out, &formats);
    out.push_str("## Enumerations\n\n");
    write_enums(&mut out, &formats);
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn kind(operand: Operand) -> &'static str {
    match operand {
        Operand::F32 => "f32",
        Operand::V2F16 => "2 x f16",
        Operand::F16 => "f16",
        Operand::I32 => "32-bit integer",
        Operand::V2I16 => "2 x 16-bit integer",
        Operand::V4I8 => "4 x 8-bit integer",
        Operand::I64 => "64-bit integer",
        Operand::B32 => "32 bits",
        Operand::B64 => "64 bits",
    }
}

fn write_operands(out: &mut String) {
    out.push_str("## Operands by layout\n\n| Layout | Destination | Staging registers | Sources |\n|---|---|---|---|\n");
    for shape in shapes::ALL {
        let sources: Vec<String> = shape
            .sources
            .iter()
            .map(|source| format!("{} at byte {}", kind(source.kind), source.byte()))
            .collect();
        let staging = match shape.staging {
            Staging::None => "",
            Staging::Read => "sr_count read",
            Staging::Write => "sr_count written",
            Staging::WriteOnly => "sr_write_count written",
            Staging::ReadWrite => "sr_write_count written, sr_count read",
            Staging::Texture => "sr_write_count written, sr_count read (0 is 8)",
        };
        put!(
            out,
            "| {} | {} | {staging} | {} |\n",
            shape.format.name,
            shape.dst.map_or("", kind),
            sources.join(", ")
        );
    }
    out.push('\n');
}

fn write_sources(out: &mut String) {
    out.push_str(SOURCES);
    out.push_str("| Number | Constant |\n|---|---|\n");
    for (number, value) in CONSTANTS.iter().enumerate() {
        put!(out, "| {number} | {value:#010x} |\n");
    }
    out.push_str("\n| Special value | Page | Byte of word 0 |\n|---|---|---|\n");
    for what in Special::all() {
        let byte = super::SourceByte::Special { what, word: 0 }.encode();
        put!(out, "| {} | {} | {byte:#04x} |\n", what.name(), what.page());
    }
    out.push('\n');
}

fn write_aliases(out: &mut String) {
    out.push_str(ALIASES);
    out.push_str("| Name | Row | Fixed |\n|---|---|---|\n");
    for row in OPS.iter() {
        for name in row.aliases {
            put!(out, "| {name} | {} | |\n", row.name);
        }
    }
    for alias in alias::ALL {
        let op = alias.opcode.op();
        let fixed: Vec<String> = alias
            .fixed
            .iter()
            .map(|(id, value)| {
                let field = op.format.field(*id).expect("aliases fix fields of their row");
                format!("{} {value}", field.name)
            })
            .collect();
        put!(out, "| {} | {} | {} |\n", alias.name, op.name, fixed.join(", "));
    }
    out.push_str("\n| Modifier | Ours |\n|---|---|\n");
    for (theirs, ours) in alias::MODIFIERS {
        put!(out, "| .{theirs} | .{ours} |\n");
    }
    out.push('\n');
    let foreign: Vec<&str> = Opcode::ALL
        .iter()
        .filter(|opcode| opcode.op().has(flag::FOREIGN))
        .map(|opcode| opcode.name())
        .collect();
    put!(out, "Rows that Arm's v9 description lacks: {}.\n\n", foreign.join(", "));
}

/// A program in our text; a test assembles it.
pub const EXAMPLE: &str = "\
LD_VAR_BUF_IMM.f32.slot0.v4.src_f32.center.retrieve.wait0 @r0:r1:r2:r3, r61, index:0x0
FMA.f32.clamp_0_1 r0, ^r0, u0, 0x0.neg
FADD.f32.discard r1, ^r1.abs, ^r2.neg
ICMP_OR.s32.lt.m1 r4, r0.h0, 0x3020100.b2, 0x0
BRANCHZ.eq.reconverge ^r4.h0, offset:1
IADD_IMM.i32.reconverge r2, 0x0, #0x3F000000
MOV.i32.wait0126 r2, lane_id.w0
ATEST.wait @r60, ^r60, r3, atest_datum.w0
BLEND.slot0.v4.f32.end @r0:r1:r2:r3, blend_descriptor_0.w0, ^r60, target:0x0
";

const HEAD: &str = "# Valhall v9: instructions, layouts and text

Printed from the table in `backends/valhall/src/isa`; `BLESS=1 cargo test -p gpucc-valhall` rewrites it. The last column of
the instructions is the name in Arm's machine-readable description of v9, `-` where it has none. Names are those of the
public assembler (Mesa 25.0.7). Words have 64 bits, least significant byte first in memory.

";

const TEXT: &str = "
One instruction a line: mnemonic and modifiers, destination, staging registers that are written and then those that are
read, sources, constants. `^` marks the last use of a register, `@r0:r1` a group of staging registers. `.neg`, `.abs`,
`.not` and lane selections follow their source; the last modifier of the mnemonic is the flow: what the instruction waits
for when it is done, or that lanes reconverge, that helpers end, that the program ends. Modifiers with their usual value
are left out, but for those whose values all have a meaning of their own (slots, conditions, formats). Branches count
instructions from the next one. `.dword 0x...` is a word that is no instruction and that control flow does not reach, or zeros;
`//` starts a comment and `;` ends a line.

The pages of uniforms and special values need no text: `u64` is word 0 of page 1. Where no source says it, the modifier
`.fau_page1` does.

";

const SOURCES: &str = "## Source bytes

| Byte | Source |
|---|---|
| 0x00-0x3f | register |
| 0x40-0x7f | register, last use |
| 0x80-0xbf | uniform word of the page |
| 0xc0-0xdf | constant |
| 0xe0-0xff | word of a special value of the page |

Constants 0 and 21 are both 0; the text writes the second as `lut21`.

Rules of one instruction, refused by assembler and disassembler:

1. All uniforms and special values are on one page.
2. One 64-bit uniform slot; two in messages other than ATEST and BLEND.
3. Two different uniform words and constants in all; three in those messages.
4. One special value; with a uniform only in those messages; messages read neither warp_id nor page 3.
5. Special values take no neg and no abs.

64-bit sources are even register pairs unless they are widened; groups of two or more staging registers start at an even
register.

";

const ALIASES: &str = "## Other names

The assembler takes these too. Fixed operands are left out of the text, or all operands are written.

";
