//! The instruction set as a document, printed from the tables.

use super::disasm::syntax;
use super::fields::{FORMATS, cuts};
use super::group::Place;
use super::ops::{self, Arg, Mod, Syntax};
use super::register::{Special, special};
use super::word::{DESTINATION, DESTINATIONS, Form, LOWER, UPPER};
use crate::legal::Rule;
use gpucc_isa::doc::{write_enums, write_formats, write_item};
use gpucc_isa::{FieldId, Inst, Op, Table};
use std::fmt::Write;

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

const HEAD: &str = "# PowerVR Rogue instruction groups

This page is printed from the tables of `backends/rogue/src/isa`, which encode and decode.
`BLESS=1 cargo test -p gpucc-rogue` prints it again. The sources are the Main Instruction Group page
(\"the page\" below) and the public compiler. `backends/rogue/ERRATA.md` says where they are wrong or
differ. `[A]` marks an assumption. A number names the subject by which the sources are sorted:

| Number | Subject |
|---|---|
| 0 | where tables of the sources differ |
| 1.1 | headers of groups |
| 1.2 | words of sources |
| 1.3 | internal selectors |
| 1.4 | words of destinations |
| 1.5 | paths of data |
| 2.1 | operations of the main ALU |
| 2.2 | floats |
| 2.3 | formats of packs |
| 2.4 | tests and moves |
| 2.5 | integers |
| 2.6 | bitwise operations |
| 2.7 | control |
| 2.8 | backend |
| 2.9 | lookups in textures |
| 3.1 | banks of registers |
| 3.2 | special constants |
| 4.1, 4.2 | how vertex and fragment programs begin |
| 5.6 | waits for messages |
| 8 | conflicts of the sources |
| 9.2 | what no collected program shows |
| 10 | what is open |

A program is a string of groups of 2 to 32 bytes. The parts of a group follow in this order:

1. header,
2. operations, from the highest phase to the lowest,
3. word of S0 to S2,
4. word of S3 to S5,
5. byte of internal selectors, in main groups,
6. word of destinations,
7. padding.

";

const TEXT: &str = "
A group is a line with its number, and lines that begin with a blank. These lines follow in this
order:

1. Sources: `s0 = r4`. A source that is not said is constant 0.
2. Internal selectors: `is0 = s1` chooses the external feedthrough `fte`. `is4` drives w0 and `is5`
   w1. By default these are the last phase that is there and the one before it.
3. Operations, in the order of phases.
4. Destinations: `w0 = r0`.

| Register | What it is |
|---|---|
| `r4` | temporary |
| `vi0` | vertex input |
| `cf8` | coefficient |
| `cfa8` | coefficient in the second view |
| `sh3` | shared register |
| `i0` | internal register |
| `po0` | pixel output |
| `idx0` | index register |
| `cf3[idx0]` | what an index register leads to |
| `sc64` | constant |
| `sr97`, `x_p` | special register by its number, by its name |

- `#` begins a comment.
- Behind the number, `if (p0)`, `if (!p0)` and `(ignorepe)` say who runs the group. `repeat(N)`,
  `atom`, `olchk` and `end` are bits of the header.
- `movc w0, w1, ftt, X, is4, Y, is5`: w0 is X where the test holds, else is4. w1 is Y, else is5. `_`
  stands for what is not written.
- `movwm w0, X, is4` asks no test. `.e0.e2` are the bytes that come from X.
- `s0.flr.abs.neg`: modifiers of a source, in the order in which they work. `.sat`, `.lp` and the
  like belong to the operation.
- `br @4` goes to group 4. `br +20` goes to 20 bytes behind the beginning of its group.
  `br.abs =128` goes to a byte of the program.
- `.kept(N)` and `.b7` are reserved bits that foreign groups have.

The text says what the assembler would encode shorter:

| Text | What it is |
|---|---|
| `long` | a header of three bytes |
| `.long(1)` | an operation's longer form |
| `lower(...)`, `upper(...)`, `dest(...)` | the form of a word |
| `pad(N)` | words of padding |

The last two groups of a program that ends have padding that the text does not say. It puts the last
group into fetch lines of its own.

The example of the Main Instruction Group page multiplies in phase 2, which the page forbids. It is
read and printed in the page's own words (`mul`, `mad`, `tstz.f32`, `uvsw w0`). The rules refuse it.

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

/// The tables with a place of their operations.
const PLACES: [(&Table, Place); 9] = [
    (&ops::MAIN, Place::P0),
    (&ops::PACK, Place::Pack),
    (&ops::TEST, Place::Test),
    (&ops::MOVE, Place::Move),
    (&ops::BACKEND, Place::Backend),
    (&ops::BITWISE0, Place::Bitwise0),
    (&ops::BITWISE1, Place::Bitwise1),
    (&ops::BITWISE2, Place::Bitwise2),
    (&ops::CONTROL, Place::Control),
];

/// How a modifier reads; what may be left out stands in brackets, fields in capitals.
fn modifier(op: &Op, one: Mod) -> String {
    let name = |id: FieldId| op.format.field(id).map_or("", |field| field.name);
    match one {
        Mod::Flag(_, word) => format!("[.{word}]"),
        Mod::Name(id) => format!(".{}", name(id)),
        Mod::Unless(id, _) => format!("[.{}]", name(id)),
        Mod::Bytes(_) => "[.e0...]".into(),
        Mod::Kept(_) => "[.kept(N)]".into(),
        Mod::Index(_, word) => format!("[.{word}(idxN)]"),
    }
}

fn operand(op: &Op, arg: Arg) -> String {
    let name = |id: FieldId| op.format.field(id).map_or("", |field| field.name);
    match arg {
        Arg::Text(word) => word.into(),
        Arg::Ft => "ft0".into(),
        Arg::Src(n, modifiers) => {
            let mut text = format!("s{n}");
            let some = [
                (modifiers.lane, "LANE"),
                (modifiers.flr, "flr"),
                (modifiers.abs, "abs"),
                (modifiers.neg, "neg"),
            ];
            for (_, word) in some.into_iter().filter(|(id, _)| id.is_some()) {
                put!(text, "[.{word}]");
            }
            text
        }
        Arg::Port(n) => format!("s{n}"),
        Arg::If(_, yes, no) => format!("{yes} or {no}"),
        Arg::Second => "is2 or _".into(),
        Arg::Packed => "is3 or _".into(),
        Arg::Moved => "see the text".into(),
        Arg::PortOf(id)
        | Arg::Number(id)
        | Arg::Count(id)
        | Arg::Plus(id)
        | Arg::Drc(id)
        | Arg::Hex(id) => name(id).into(),
        Arg::Register(prefix, _, id) => format!("{prefix} {}", name(id)),
        Arg::Target => "TARGET".into(),
    }
}

/// A row an operation: how it reads, where its bits are, which of them are its own.
fn write_operations(out: &mut String, table: &Table, place: Place) {
    out.push_str("| Operation | Modifiers | Operands | Also called | Format | Bits | Defined |\n");
    out.push_str("|---|---|---|---|---|---|---|\n");
    for op in table.rows() {
        let Syntax { mods, args } = syntax(place, &Inst::usual(op));
        let mods: Vec<String> = mods.iter().map(|one| modifier(op, *one)).collect();
        let args: Vec<String> = args.iter().map(|arg| operand(op, *arg)).collect();
        let fixed = op.format.fields().filter(|field| op.is_fixed(field));
        let fixed: Vec<String> =
            fixed.map(|field| format!("{} {}", field.name, field.get(op.bits))).collect();
        put!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            op.name,
            mods.concat(),
            args.join(", "),
            op.aliases.join(", "),
            op.format.name,
            fixed.join(", "),
            op.cite
        );
    }
    out.push('\n');
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
    out.push_str("The first form that holds the registers is taken. A name says operands, and the bits of bank\n");
    out.push_str("and index of each.\n\n");
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
    let mut out = format!("{HEAD}## Text\n\n```\n{EXAMPLE}```\n{TEXT}");
    for (table, place) in PLACES {
        put!(out, "## Operations: {}\n\n", table.name);
        write_operations(&mut out, table, place);
    }
    write_words(&mut out);
    write_registers(&mut out);
    out.push_str(
        "## What is forbidden\n\nGroups that have bytes and that `legal` refuses, by subject.\n\n",
    );
    for rule in Rule::ALL {
        write_item(&mut out, &rule.to_string());
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
