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
    put!(out, "Arm's v9 description lacks these rows:\n\n- {}\n\n", foreign.join("\n- "));
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

This page is printed from the table in `backends/valhall/src/isa`.
`BLESS=1 cargo test -p gpucc-valhall` prints it again. Names are those of the public assembler (Mesa
25.0.7). The last column of the instructions is the name in Arm's machine-readable description of
v9, or `-` where Arm has none. Words have 64 bits. Their least significant byte is first in memory.

";

const TEXT: &str = "
A line has one instruction. Its parts follow in this order:

1. mnemonic and modifiers,
2. destination,
3. staging registers that are written,
4. staging registers that are read,
5. sources,
6. constants.

- `^` marks the last use of a register.
- `@r0:r1` is a group of staging registers.
- `.neg`, `.abs`, `.not` and lane selections follow their source.
- The last modifier of the mnemonic is the flow. It names the slots that the instruction waits for
  when it is done. Other values say that lanes reconverge, helpers end or the program ends.
- Modifiers with their usual value are left out, except slots, conditions and formats. Each value of
  those has a meaning of its own.
- Branches count instructions from the next one.
- `.dword 0x...` is a word of zeros, or a word that is no instruction and that control flow does not
  reach.
- `//` starts a comment, `;` ends a line.
- The page of uniforms and special values follows from the sources: `u64` is word 0 of page 1. The
  modifier `.fau_page1` gives the page where no source has one.

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

Assembler and disassembler refuse an instruction that breaks one of these rules. A data message is
any message except ATEST and BLEND.

1. All uniforms and special values are on one page.
2. An instruction reads at most one 64-bit uniform slot. A data message may read two.
3. It reads at most two different uniform words and constants in all. A data message may read three.
4. It reads at most one special value. Only a data message may read a uniform beside it. No message
   may read warp_id or page 3.
5. Special values take no neg and no abs.

- A 64-bit source is a register pair that starts at an even register, unless it is widened.
- A group of two or more staging registers starts at an even register.

";

const ALIASES: &str = "## Other names

The assembler takes these too. Fixed operands are left out of the text, or all operands are written.

";
