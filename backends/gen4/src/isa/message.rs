//! Descriptors of messages: 32 bits that name the shared function, the lengths and what it does. Tables of rows for each
//! function and machine, and the words in which the public disassembler describes them.
//!
//! The instruction holds the descriptor as a number, so any descriptor to a function that exists is an instruction;
//! [`decode`] says which descriptors the manual defines. G45 PRM vol. 4, 14.2.44 and chapters 4 to 8.

use super::Machine;
use super::fields::f;
use gpucc_isa::{
    DecodeError, Enum, Field, FieldId, Format, Inst, Kind, Member, Op, OpId, Piece, Table,
};
use std::fmt::Write;

const fn field(id: FieldId, name: &'static str, pieces: &'static [Piece], kind: Kind) -> Field {
    Field::new(id, name, pieces, kind)
}

macro_rules! enums {
    ($($(#[$doc:meta])* $id:ident $name:literal { $($value:literal $member:literal),* $(,)? })*) => {
        $($(#[$doc])* pub static $id: Enum =
            Enum::new($name, &[$(Member { value: $value, name: $member }),*]);)*
    };
}

enums! {
    /// 14.2.44.
    SFID_E "Shared function" {
        0 "null", 1 "math", 2 "sampler", 3 "gateway", 4 "read", 5 "write", 6 "urb", 7 "thread_spawner",
    }
    /// 6.1.1. 9 is reserved, and so are 0, 14 and 15.
    MATH_E "Math function" {
        1 "inv", 2 "log", 3 "exp", 4 "sqrt", 5 "rsq", 6 "sin", 7 "cos", 8 "sincos", 10 "pow",
        11 "intdivmod", 12 "intdiv", 13 "intmod",
    }
    /// 4.8.1, on the 965 alone.
    RETURN_E "Return format" { 0 "F", 2 "UD", 3 "D" }
    /// 4.8.1: which message it is depends on the length too.
    SAMPLER_E "Sampler message" { 0 "0", 1 "1", 2 "2", 3 "3" }
    /// 5.10.1.
    CACHE_E "Cache" { 0 "data", 1 "render", 2 "sampler" }
    /// 5.10.6.
    RT_E "Render target message" {
        0 "SIMD16", 1 "SIMD16/RepData", 2 "SIMD8/DualSrcLow", 3 "SIMD8/DualSrcHigh", 4 "SIMD8",
    }
    /// 5.10.2.
    OWORD_E "OWords" { 0 "1 low", 1 "1 high", 2 "2", 3 "4", 4 "8" }
    /// 5.10.3. Of the others, no encoder is known to make use (E14).
    DUAL_E "OWords of each half" { 0 "1", 2 "4", 3 "8" }
    /// 5.10.5.
    SCATTER_E "Dwords" { 2 "8", 3 "16" }
    /// 8.4.2.
    SWIZZLE_E "URB swizzle" { 0 "none", 1 "interleave", 2 "transpose" }
    /// 7.1.1; the public disassembler has a fourth, which the manual describes and does not number (E13).
    GATEWAY_E "Gateway message" { 0 "open", 1 "close", 2 "forward msg" }
    /// Volume 2.
    SPAWN_E "Thread spawner message" { 0 "release", 1 "spawn" }
    /// Volume 2.
    REQUESTER_E "Requester" { 0 "root", 1 "child" }
}

macro_rules! fields {
    ($($(#[$doc:meta])* $list:ident {
        $($id:ident $name:literal [$hi:literal : $lo:literal] $kind:expr;)*
    })*) => {
        $($(#[$doc])* const $list: &[Field] = &[$(
            field(f::$id, $name, &[Piece { hi: $hi, lo: $lo }], $kind)
        ),*];)*
    };
}

use Kind::{Flag, Unsigned};

fields! {
    LENGTHS {
        RLEN "ResponseLength" [19:16] Unsigned;
        MLEN "MessageLength" [23:20] Unsigned;
        SFID "Function" [27:24] Kind::Enum(&SFID_E);
        EOT "EOT" [31:31] Flag;
    }
    NOTHING_FIELDS {}
    MATH_FIELDS {
        FUNCTION "Function" [3:0] Kind::Enum(&MATH_E);
        SIGNED "signed" [4:4] Flag;
        PARTIAL "partial_precision" [5:5] Flag;
        SAT_RESULT "sat" [6:6] Flag;
        SCALAR "scalar" [7:7] Flag;
        SNAPSHOT "snapshot" [8:8] Flag;
    }
    SURFACE { BTI "Surface" [7:0] Unsigned; }
    SAMPLER_965 {
        SAMPLER "Sampler" [11:8] Unsigned;
        RETURN_FORMAT "ReturnFormat" [13:12] Kind::Enum(&RETURN_E);
        SAMPLER_TYPE "MessageType" [15:14] Kind::Enum(&SAMPLER_E);
    }
    SAMPLER_G45 {
        SAMPLER "Sampler" [11:8] Unsigned;
        SAMPLER_TYPE "MessageType" [15:12] Kind::Enum(&SAMPLER_E);
    }
    READ_965 {
        READ_TYPE "MessageType" [13:12] Unsigned;
        CACHE "Cache" [15:14] Kind::Enum(&CACHE_E);
    }
    READ_G45 {
        READ_TYPE "MessageType" [13:11] Unsigned;
        CACHE "Cache" [15:14] Kind::Enum(&CACHE_E);
    }
    WRITE_FIELDS {
        WRITE_TYPE "MessageType" [14:12] Unsigned;
        COMMIT "Commit" [15:15] Flag;
    }
    OWORD { MSG_CTRL "OWords" [10:8] Kind::Enum(&OWORD_E); }
    DUAL { MSG_CTRL "OWords" [9:8] Kind::Enum(&DUAL_E); }
    SCATTER { MSG_CTRL "Dwords" [9:8] Kind::Enum(&SCATTER_E); }
    LINES { MSG_CTRL "LineStrideOverride" [10:8] Unsigned; }
    ANY { MSG_CTRL "MsgCtrl" [10:8] Unsigned; }
    TARGET {
        RT_TYPE "RenderTargetType" [10:8] Kind::Enum(&RT_E);
        LAST_RT "LastRT" [11:11] Flag;
    }
    URB_965 {
        URB_OPCODE "Opcode" [3:0] Unsigned;
        URB_OFFSET "Offset" [9:4] Unsigned;
        SWIZZLE "Swizzle" [11:10] Kind::Enum(&SWIZZLE_E);
        ALLOCATE "allocate" [13:13] Flag;
        USED "used" [14:14] Flag;
        COMPLETE "complete" [15:15] Flag;
    }
    URB_G45 { FAST_COMPOSITE "fast_composite" [12:12] Flag; }
    GATEWAY_FIELDS {
        SUB_FUNCTION "SubFunction" [1:0] Kind::Enum(&GATEWAY_E);
        ACK "ack" [14:14] Flag;
        NOTIFY "notify" [15:15] Flag;
    }
    SPAWNER_FIELDS {
        TS_OPCODE "Opcode" [0:0] Kind::Enum(&SPAWN_E);
        REQUESTER "Requester" [1:1] Kind::Enum(&REQUESTER_E);
        RESOURCE "ResourceSelect" [4:4] Flag;
    }
}

macro_rules! formats {
    ($($id:ident $parts_id:ident $name:literal [$($part:expr),*] $cite:literal;)*) => {
        $(
            const $parts_id: &[&[Field]] = &[LENGTHS $(, $part)*];
            static $id: Format = Format::new($name, 32, 32, $parts_id, $cite);
        )*
        /// The formats of descriptors, for documents.
        pub static FORMATS: &[&Format] = &[$(&$id),*];
    };
}

formats! {
    MATH_F MATH_P "Math" [MATH_FIELDS] "G45 vol. 4, 6.1.1";
    SAMPLER_965_F SAMPLER_965_P "Sampler of the 965" [SURFACE, SAMPLER_965] "G45 vol. 4, 4.8.1";
    SAMPLER_G45_F SAMPLER_G45_P "Sampler of G45" [SURFACE, SAMPLER_G45] "G45 vol. 4, 4.8.1";
    READ_965_OWORD READ_965_OWORD_P "Read of the 965: OWord block" [SURFACE, OWORD, READ_965] "G45 vol. 4, 5.10.2";
    READ_965_DUAL READ_965_DUAL_P "Read of the 965: OWord dual block" [SURFACE, DUAL, READ_965] "G45 vol. 4, 5.10.3";
    READ_965_MEDIA READ_965_MEDIA_P "Read of the 965: media block" [SURFACE, READ_965] "G45 vol. 4, 5.10.4";
    READ_965_SCATTER READ_965_SCATTER_P "Read of the 965: DWord scattered" [SURFACE, SCATTER, READ_965] "G45 vol. 4, 5.10.5";
    READ_G45_OWORD READ_G45_OWORD_P "Read of G45: OWord block" [SURFACE, OWORD, READ_G45] "G45 vol. 4, 5.10.2";
    READ_G45_DUAL READ_G45_DUAL_P "Read of G45: OWord dual block" [SURFACE, DUAL, READ_G45] "G45 vol. 4, 5.10.3";
    READ_G45_MEDIA READ_G45_MEDIA_P "Read of G45: media block" [SURFACE, LINES, READ_G45] "G45 vol. 4, 5.10.4";
    READ_G45_SCATTER READ_G45_SCATTER_P "Read of G45: DWord scattered" [SURFACE, SCATTER, READ_G45] "G45 vol. 4, 5.10.5";
    READ_G45_ANY READ_G45_ANY_P "Read of G45: others" [SURFACE, ANY, READ_G45] "G45 vol. 4, 5.10.1";
    WRITE_OWORD WRITE_OWORD_P "Write: OWord block" [SURFACE, OWORD, WRITE_FIELDS] "G45 vol. 4, 5.10.2";
    WRITE_DUAL WRITE_DUAL_P "Write: OWord dual block" [SURFACE, DUAL, WRITE_FIELDS] "G45 vol. 4, 5.10.3";
    WRITE_MEDIA WRITE_MEDIA_P "Write: media block" [SURFACE, LINES, WRITE_FIELDS] "G45 vol. 4, 5.10.4";
    WRITE_SCATTER WRITE_SCATTER_P "Write: DWord scattered" [SURFACE, SCATTER, WRITE_FIELDS] "G45 vol. 4, 5.10.5";
    WRITE_TARGET WRITE_TARGET_P "Write: render target" [SURFACE, TARGET, WRITE_FIELDS] "G45 vol. 4, 5.10.6";
    WRITE_ANY WRITE_ANY_P "Write: others" [SURFACE, ANY, WRITE_FIELDS] "G45 vol. 4, 5.10.1";
    WRITE_FLUSH WRITE_FLUSH_P "Write: flush" [WRITE_FIELDS] "G45 vol. 4, 5.10.9";
    URB_965_F URB_965_P "URB of the 965" [URB_965] "G45 vol. 4, 8.4.2";
    URB_G45_F URB_G45_P "URB of G45" [URB_965, URB_G45] "G45 vol. 4, 8.4.2";
    GATEWAY_F GATEWAY_P "Gateway" [GATEWAY_FIELDS] "G45 vol. 4, 7.1.1";
    SPAWNER_F SPAWNER_P "Thread spawner" [SPAWNER_FIELDS] "G45 vol. 2";
    NULL_F NULL_P "Null" [NOTHING_FIELDS] "G45 vol. 4, 2.5";
}

/// The 965 lacks the row.
pub const NOT_965: u32 = 1 << 0;
/// G45 lacks the row.
pub const NOT_G45: u32 = 1 << 1;
/// Names of the rows' flags, for documents.
pub const FLAGS: &[(u32, &str)] = &[(NOT_965, "G45 alone"), (NOT_G45, "965 alone")];

macro_rules! rows {
    ($($number:literal $name:literal $format:ident $flags:tt {$($id:ident = $value:literal),*} $cite:literal;)*) => {
        static ROWS: &[Op] = &[$(Op {
            flags: $flags,
            cite: $cite,
            ..Op::new(OpId($number), $name, &$format, &[$((f::$id, $value)),*])
        }),*];
    };
}

rows! {
    0 "null" NULL_F 0 {SFID = 0} "2.5";
    1 "math" MATH_F 0 {SFID = 1} "6.1.1";
    2 "sampler of the 965" SAMPLER_965_F NOT_G45 {SFID = 2} "4.8.1";
    3 "sampler" SAMPLER_G45_F NOT_965 {SFID = 2} "4.8.1";
    4 "gateway" GATEWAY_F 0 {SFID = 3} "7.1.1";
    5 "OWord Block Read of the 965" READ_965_OWORD NOT_G45 {SFID = 4, READ_TYPE = 0} "5.10.2";
    6 "OWord Dual Block Read of the 965" READ_965_DUAL NOT_G45 {SFID = 4, READ_TYPE = 1} "5.10.3";
    7 "Media Block Read of the 965" READ_965_MEDIA NOT_G45 {SFID = 4, READ_TYPE = 2} "5.10.4";
    8 "DWord Scattered Read of the 965" READ_965_SCATTER NOT_G45 {SFID = 4, READ_TYPE = 3} "5.10.5";
    9 "OWord Block Read" READ_G45_OWORD NOT_965 {SFID = 4, READ_TYPE = 0} "5.10.2";
    10 "Render Target UNORM Read" READ_G45_ANY NOT_965 {SFID = 4, READ_TYPE = 1} "5.10.1";
    11 "OWord Dual Block Read" READ_G45_DUAL NOT_965 {SFID = 4, READ_TYPE = 2} "5.10.3";
    12 "AVC Loop Filter Read" READ_G45_ANY NOT_965 {SFID = 4, READ_TYPE = 3} "5.10.8";
    13 "Media Block Read" READ_G45_MEDIA NOT_965 {SFID = 4, READ_TYPE = 4} "5.10.4";
    14 "DWord Scattered Read" READ_G45_SCATTER NOT_965 {SFID = 4, READ_TYPE = 6} "5.10.5";
    15 "OWord block write" WRITE_OWORD 0 {SFID = 5, WRITE_TYPE = 0} "5.10.2";
    16 "OWord dual block write" WRITE_DUAL 0 {SFID = 5, WRITE_TYPE = 1} "5.10.3";
    17 "media block write" WRITE_MEDIA 0 {SFID = 5, WRITE_TYPE = 2} "5.10.4";
    18 "DWord scattered write" WRITE_SCATTER 0 {SFID = 5, WRITE_TYPE = 3} "5.10.5";
    19 "RT write" WRITE_TARGET 0 {SFID = 5, WRITE_TYPE = 4} "5.10.6";
    20 "streamed VB write" WRITE_ANY 0 {SFID = 5, WRITE_TYPE = 5} "5.10.7";
    21 "RT UNORM write" WRITE_ANY NOT_965 {SFID = 5, WRITE_TYPE = 6} "5.10.1";
    22 "flush render cache" WRITE_FLUSH 0 {SFID = 5, WRITE_TYPE = 7} "5.10.9";
    23 "urb_write of the 965" URB_965_F NOT_G45 {SFID = 6, URB_OPCODE = 0} "8.4.2";
    24 "urb_write" URB_G45_F NOT_965 {SFID = 6, URB_OPCODE = 0} "8.4.2";
    25 "thread_spawner" SPAWNER_F 0 {SFID = 7} "vol. 2";
}

/// The descriptors of the 965.
pub static GEN4: Table = Table::new("message of the 965", ROWS).without(NOT_965);
/// The descriptors of G45.
pub static G45: Table = Table::new("message", ROWS).without(NOT_G45);

/// The descriptors of both, for documents and coverage.
pub static ALL: Table = Table::new("message of either", ROWS);

/// The table of a machine.
pub fn table(machine: Machine) -> &'static Table {
    match machine {
        Machine::Gen4 => &GEN4,
        Machine::G45 => &G45,
    }
}

/// Whether the manual defines a descriptor, and as what.
///
/// # Errors
/// Reserved bits and values, with their names.
pub fn decode(machine: Machine, descriptor: u32) -> Result<Inst, DecodeError> {
    table(machine).decode(u128::from(descriptor))
}

/// Bits `hi:lo` of a descriptor.
pub const fn bits(descriptor: u32, hi: u32, lo: u32) -> u32 {
    descriptor >> lo & ((2 << (hi - lo)) - 1)
}

/// The shared function of a descriptor, in the public assembler's word; `None` for a reserved one.
pub fn function(descriptor: u32) -> Option<&'static str> {
    SFID_E.name_of(bits(descriptor, 27, 24))
}

macro_rules! put {
    ($out:expr, $($arg:tt)*) => { write!($out, $($arg)*).expect("writing to a string") };
}

/// What the public disassembler says of a descriptor behind `MsgDesc:`, lengths included. Its number of a control word is
/// decimal behind `0x`, and so is ours.
pub fn describe(machine: Machine, descriptor: u32) -> String {
    let mut out = String::new();
    let get = |hi, lo| bits(descriptor, hi, lo);
    let flags = |out: &mut String, names: &[(u32, &str)]| {
        for (bit, name) in names {
            if descriptor >> bit & 1 == 1 {
                put!(out, " {name}");
            }
        }
    };
    let named = |out: &mut String, set: &Enum, what: &str, value: u32| match set.name_of(value) {
        Some(name) => put!(out, " {name}"),
        None => put!(out, "*** invalid {what} value {value}"),
    };
    match get(27, 24) {
        1 => {
            match get(3, 0) {
                // Names that later machines gave to what is reserved here.
                9 => out.push_str(" fdiv"),
                14 => out.push_str(" invm"),
                15 => out.push_str(" rsqrtm"),
                value => named(&mut out, &MATH_E, "math function", value),
            }
            flags(&mut out, &[(6, "sat"), (4, "signed"), (7, "scalar"), (5, "partial_precision")]);
        }
        2 => {
            put!(out, " (bti {}, sampler {}, msg_type ", get(7, 0), get(11, 8));
            match machine {
                Machine::Gen4 => {
                    put!(out, "{}, ", get(15, 14));
                    match RETURN_E.name_of(get(13, 12)) {
                        Some(name) => put!(out, "{name})"),
                        None => {
                            put!(out, "*** invalid sampler target format value {} )", get(13, 12))
                        }
                    }
                }
                Machine::G45 => put!(out, "{}, )", get(15, 12)),
            }
        }
        3 => match GATEWAY_E.name_of(get(1, 0)) {
            Some(name) => put!(out, " ({name})"),
            None => out.push_str(" (get timestamp)"),
        },
        4 => {
            const TYPES: [Option<&str>; 8] = [
                Some("OWord Block Read"),
                Some("Render Target UNORM Read"),
                Some("OWord Dual Block Read"),
                Some("AVC Loop Filter Read"),
                Some("Media Block Read"),
                None,
                Some("DWord Scattered Read"),
                None,
            ];
            let (code, control) = match machine {
                Machine::Gen4 => (2 * get(13, 12), get(11, 8)),
                Machine::G45 => (get(13, 11), get(10, 8)),
            };
            match TYPES[code as usize] {
                Some(name) => put!(out, " {name}"),
                None => put!(out, "*** invalid DP read message type value {code}"),
            }
            put!(out, " MsgCtrl = 0x{control} Surface = {}", get(7, 0));
        }
        5 => {
            const TYPES: [&str; 8] = [
                "OWord block write",
                "OWord dual block write",
                "media block write",
                "DWord scattered write",
                "RT write",
                "streamed VB write",
                "RT UNORM write",
                "flush render cache",
            ];
            put!(out, " {}", TYPES[get(14, 12) as usize]);
            if get(14, 12) == 4 {
                match (get(10, 8), RT_E.name_of(get(10, 8))) {
                    (7, _) => out.push_str(" SIMD16/RepData-111"),
                    (_, Some(name)) => put!(out, " {name}"),
                    (code, None) => put!(out, "*** invalid RT write message type value {code}"),
                }
                flags(&mut out, &[(11, "LastRT")]);
            } else {
                put!(out, " MsgCtrl = 0x{}", get(11, 8));
            }
            put!(out, " Surface = {}", get(7, 0));
        }
        6 => {
            put!(out, " offset {}", get(9, 4));
            match get(3, 0) {
                0 => out.push_str(" urb_write"),
                code => put!(out, "*** invalid urb opcode value {code}"),
            }
            match get(11, 10) {
                0 => {}
                code => named(&mut out, &SWIZZLE_E, "urb swizzle", code),
            }
            flags(&mut out, &[(13, "allocate"), (14, "used"), (15, "complete")]);
        }
        _ => {}
    }
    put!(out, " mlen {} rlen {}", get(23, 20), get(19, 16));
    out
}

/// Checks a description that stands behind a descriptor in text: the lengths that it gives must be the descriptor's.
///
/// # Errors
/// What does not agree.
pub fn agrees(descriptor: u32, description: &str) -> Result<(), String> {
    let mut words = description.split_whitespace();
    while let Some(word) = words.next() {
        let (hi, lo) = match word {
            "mlen" => (23, 20),
            "rlen" => (19, 16),
            _ => continue,
        };
        let said = words.next().and_then(|number| number.parse::<u32>().ok());
        let given = bits(descriptor, hi, lo);
        if said != Some(given) {
            return Err(format!("the descriptor {descriptor:#010x} has {word} {given}"));
        }
    }
    Ok(())
}
