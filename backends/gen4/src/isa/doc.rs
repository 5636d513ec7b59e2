//! The instruction set as a document, printed from the tables.

use super::disasm::{PREDICATES, PREDICATES16};
use super::message;
use super::operand::{ARCHITECTURE, GRF_REGISTERS, MRF_REGISTERS};
use super::ops::{self, flag};
use super::{compact, fields};
use crate::legal::Rule;
use gpucc_isa::Format;
use gpucc_isa::doc::{Legend, write_enums, write_formats, write_item, write_table};

const HEAD: &str = "# Gen4 and G45 instructions

This page is printed from the tables of `backends/gen4/src/isa`, which encode and decode.
`BLESS=1 cargo test -p gpucc-gen4` prints it again. Where something is defined:

- a section: of the G45 manual, volume 4;
- `E4`: a number in `backends/gen4/ERRATA.md`, which says where the manual is wrong.

An instruction is four doublewords. On G45 some have a compact form of two.

";

const TEXT: &str = "
- An instruction ends with `;` or with its line. Comments begin with `//`. `/*` and `*/` stand
  around a comment within a line.
- `Jump:` counts instructions from this one, and `jmpi` counts from the next. `Pop:` counts levels
  of the mask stack.
- `.dword 0x3f800000` is a doubleword that is part of no instruction, where control flow does not
  reach it.

| Before the operands | What it is |
|---|---|
| `(+f0.0)`, `(-f0.1.any4h)` | predicate |
| `.sat` | the result is saturated |
| `.nz.f0.0` | condition, and the flag that it sets; predicate and condition share the flag register |
| `(8)` | execution size |

| Operand | What it is |
|---|---|
| `g4.2<8,8,1>F` | register, element at which it begins, vertical stride, width, horizontal stride, type |
| `g[a0.2 16]<1>F` | the address is a sub-register of a0 and an offset in bytes |
| `<VxH,4,1>` | one sub-register of a0 for each row |
| `-`, `(abs)` | modifier of a source |
| `m3` | message register |
| `null`, `acc0`, `f0.1`, `a0`, `mask0`, `ms0`, `msd0`, `sr0`, `cr0`, `n0`, `ip` | architecture register |
| `0x3f800000F` | number by its bits |
| `1.5F`, `-1D`, `0x0040UW` | number |
| `0x10101010V` | 8 x 4 bits |
| `0x30VF` | 4 x 8 bits |

- A destination has the horizontal stride alone.
- In `align16` a source has the vertical stride and a swizzle. One letter stands for four.
- In `align16` a destination has the channels that are written. `.none` is no channel.
- `ip` alone is `ip<1>UD` or `ip<0,1,0>UD`.

A message such as `send(8) 2 g12<1>F g10<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1` has
these parts:

1. message register,
2. reply,
3. source of the implied move,
4. descriptor,
5. what the descriptor says, for the reader. Function and lengths are checked.

| Option | What it is |
|---|---|
| `nomask`, `NoDDClr`, `NoDDChk`, `sechalf`, `compr`, `compr4`, `compacted`, `switch`, `atomic`, `EOT`, `breakpoint` | fields of the instruction |

These options are for words that no public text can say:

| Option | What it is |
|---|---|
| `predinv`, `flag(1)` | bits without an effect |
| `src1_type(0)` | the type of a source that is not there |
| `dst(ip<1>UD)`, `src0(...)`, `src1(...)` | operands that are implied |
| `gfx5_sfid(4)` | E11 |

";

/// A program that shows the text.
pub const EXAMPLE: &str = "add(16) g2<1>UW g1.4<2,4,0>UW 0x10101010V { align1 };
add(16) g6<1>F g2<8,8,1>UW -g1<0,1,0>F { align1 compr };
line(16) null<1>F g3.4<0,1,0>F g6<8,8,1>F { align1 compr };
mac(16) g10<1>F g3.5<0,1,0>F g8<8,8,1>F { align1 compr };
cmp.l.f0.0(16) null<1>F g10<8,8,1>F 0x0F { align1 compr };
(+f0.0) if(16) Jump: 3 { align1 switch };
mov.sat(16) g10<1>F -g10<8,8,1>F { align1 compr };
else(16) Jump: 3 Pop: 1 { align1 switch };
dp4(8) g4<1>.xF g5<4>F g1<0>F { align16 NoDDClr };
endif(16) Pop: 1 { align1 switch };
mov(8) g11<1>F g[a0.2 32]<VxH,1,0>F { align1 };
send(8) 2 g12<1>F g10<8,8,1>F 0x01110001 math MsgDesc: inv mlen 1 rlen 1 { align1 };
send(16) 1 null<1>UW g0<8,8,1>UW 0x85a04800 write MsgDesc: RT write SIMD16 LastRT Surface = 0 mlen 10 rlen 0 { align1 EOT };
";

/// What PredCtrl means in each access mode.
fn write_predicates(out: &mut String) {
    out.push_str("### PredCtrl\n\n| Value | align1 | align16 |\n|---|---|---|\n");
    for (value, wide) in PREDICATES.iter().enumerate() {
        let name = |name: Option<&&str>| match (value, name) {
            (0, _) => "none".to_owned(),
            (1, _) => "the flag's bits".to_owned(),
            (_, Some(name)) => format!("`{name}`"),
            (_, None) => "reserved".to_owned(),
        };
        let narrow = name(PREDICATES16.get(value));
        out.push_str(&format!("| {value} | {} | {narrow} |\n", name(Some(wide))));
    }
    out.push('\n');
}

/// The files and the architecture registers.
fn write_registers(out: &mut String) {
    out.push_str("### Registers\n\n| Text | RegFile | RegNum |\n|---|---|---|\n");
    out.push_str(&format!("| g0 to g{} | GRF | its number |\n", GRF_REGISTERS - 1));
    out.push_str(&format!("| m0 to m{} | MRF | its number |\n", MRF_REGISTERS - 1));
    for (code, name, count) in ARCHITECTURE {
        for number in 0..count {
            let text = match name {
                "null" | "ip" => name.to_owned(),
                _ => format!("{name}{number}"),
            };
            out.push_str(&format!("| {text} | ARF | {:#04x} |\n", code << 4 | number));
        }
    }
    out.push('\n');
}

/// `docs/gen4.md`.
pub fn markdown() -> String {
    let rows = Legend { units: &[], flags: flag::NAMES };
    let messages = Legend { units: &[], flags: message::FLAGS };
    let none = Legend { units: &[], flags: &[] };
    let mut out = format!("{HEAD}## Text\n\n```\n{EXAMPLE}```\n{TEXT}");
    out.push_str("## Instructions\n\n");
    write_table(&mut out, &ops::G45, rows);
    out.push_str("## Words\n\n");
    write_formats(&mut out, &fields::WORDS);
    write_predicates(&mut out);
    out.push_str("## Operands\n\n");
    write_registers(&mut out);
    for table in ops::OPERAND_TABLES {
        write_table(&mut out, table, none);
    }
    write_formats(&mut out, &fields::OPERAND_FORMATS);
    out.push_str("## The compact form\n\n");
    out.push_str("| Index | Control: 31, 23:8 | Types: 63:61, 46:32 | Sub-registers: 100:96, 68:64, 52:48 | Source: 88:77 or 120:109 |\n|---|---|---|---|---|\n");
    for index in 0..32 {
        out.push_str(&format!(
            "| {index} | {:#07x} | {:#07x} | {:#06x} | {:#05x} |\n",
            compact::CONTROL[index],
            compact::DATATYPE[index],
            compact::SUBREG[index],
            compact::SOURCE[index]
        ));
    }
    out.push_str("\n## Descriptors of messages\n\n");
    write_table(&mut out, &message::ALL, messages);
    write_formats(&mut out, message::FORMATS);
    out.push_str("## What is forbidden\n\nEncodings that are right and that `legal` refuses, by subject.\n\n");
    for rule in Rule::ALL {
        write_item(&mut out, &rule.to_string());
    }
    out.push_str("\n## Enumerations\n\n");
    let all: Vec<&Format> = fields::WORDS
        .into_iter()
        .chain(fields::OPERAND_FORMATS)
        .chain(message::FORMATS.iter().copied())
        .collect();
    write_enums(&mut out, &all);
    out
}
