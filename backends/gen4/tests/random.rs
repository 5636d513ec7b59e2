//! Words of chance: what is read has a text, and the text has the same words; everything else is refused with a reason.

use gpucc_gen4::isa::program::decode_program;
use gpucc_gen4::isa::{Machine, assemble, disassemble, ops};
use gpucc_gen4::legal::{Chip, Rule, admit};
use std::collections::{BTreeMap, BTreeSet};

/// A row of numbers that a seed fixes (Steele, Lea and Flood's SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn wide(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// Bits that are reserved in every native word: 7, 28, 29, 47.
const RESERVED: u128 = 1 << 7 | 1 << 28 | 1 << 29 | 1 << 47;

/// A native word: an opcode that exists, and otherwise chance, tamed so that a good part is accepted.
fn native(chance: &mut Chance, machine: Machine) -> u128 {
    let rows: Vec<_> = machine.table().rows().collect();
    let op = rows[chance.below(rows.len() as u64) as usize];
    let mut bits = chance.wide();
    if chance.below(8) != 0 {
        bits &= !RESERVED & !(0x3f << 90);
        // Sources are registers mostly, and the second operand's upper bits are none of it then.
        if chance.below(3) != 0 {
            bits =
                bits & !(0x3f << 37 | 0x3f << 42) | 1 << 37 | 1 << 42 | (bits >> 39 & 0b011) << 39;
            bits &= !(0x7f << 121);
        }
        // Small predicates, conditions, sizes, strides and sub-registers.
        bits &= !(1 << 19 | 1 << 27 | 1 << 23 | 1 << 13 | 1 << 15 | 1 << 36);
        bits &= !(1 << 20 | 1 << 32 | 0b11 << 33 | 1 << 84 | 1 << 88 | 1 << 116 | 1 << 120);
        for low in [48, 64, 96] {
            bits &= !(0b11 << low);
        }
        if bits >> 8 & 1 == 1 {
            // Align16 has but two vertical strides, and reserves a bit of the width.
            bits = bits & !(0x1f << 84 | 0x1f << 116 | 1 << 62) | 3 << 85 | 3 << 117;
        }
        bits |= 1 << 32;
        // What a form has less than two sources.
        match op.format.name {
            "Unary" if chance.below(2) == 0 => bits &= !(3 << 42 | 0xffff_ffff << 96),
            "Unary" => {
                // A number of the type UD in the place of the source.
                bits &= !(3 << 42 | 7 << 39 | 0x1ff_ffff << 64);
                bits |= 3 << 37;
            }
            "Branch" => bits = bits & !(0xfff << 116) | 3 << 42,
            "Special" => bits &= 1 << 30,
            _ => {}
        }
    }
    bits & !0x7f | op.bits
}

/// Comes back, or is refused; true where it came back.
fn back(machine: Machine, code: &[u8]) -> bool {
    let Ok(text) = disassemble(machine, code) else {
        return false;
    };
    match assemble(machine, &text) {
        Ok(again) => assert_eq!(again, code, "{machine:?} {code:02x?}\n{text}"),
        Err(error) => panic!("{machine:?} {code:02x?}: {error}\n{text}"),
    }
    true
}

#[test]
fn two_hundred_thousand_words_of_chance_come_back_or_are_refused() {
    let mut chance = Chance(20);
    let mut came_back = BTreeMap::new();
    let mut broken: BTreeSet<Rule> = BTreeSet::new();
    let mut legal = 0;
    for number in 0..200_000 {
        let machine = if number % 2 == 0 { Machine::Gen4 } else { Machine::G45 };
        let bits = match number % 10 {
            0 => chance.wide(),
            _ => native(&mut chance, machine),
        };
        if back(machine, &bits.to_le_bytes()) {
            let op = ops::G45.find(bits & !(1 << 29)).expect("it was read");
            *came_back.entry(op.name).or_insert(0u32) += 1;
            let chips: &[Chip] = match machine {
                Machine::Gen4 => &[Chip::I965, Chip::Gm965],
                Machine::G45 => &[Chip::G45],
            };
            for (_, decoded) in decode_program(machine, &bits.to_le_bytes()).expect("it was read") {
                for &chip in chips {
                    match admit(chip, &decoded) {
                        Ok(()) => legal += 1,
                        Err(rule) => _ = broken.insert(rule),
                    }
                }
            }
        }
    }
    let all: u32 = came_back.values().sum();
    assert!(all > 20_000, "only {all} were instructions");
    assert!(broken.len() > 40 && legal > 300, "{legal} legal, {broken:?}");
    let missing: Vec<&str> =
        ops::OPS.iter().map(|op| op.name).filter(|name| !came_back.contains_key(name)).collect();
    assert_eq!(missing, ["nenop"], "the filler has no native form, and all others came back");
}

#[test]
fn compact_words_of_chance_come_back_or_are_refused() {
    let mut chance = Chance(21);
    let mut came_back = 0;
    let rows: Vec<_> = ops::G45.rows().collect();
    for _ in 0..100_000 {
        let op = rows[chance.below(rows.len() as u64) as usize];
        let mut word = chance.next() & !0x7f & !(1 << 23 | 1 << 27) | 1 << 29 | op.bits as u64;
        // Registers that exist.
        word &= !(1 << 47 | 1 << 55 | 1 << 63);
        came_back += u32::from(back(Machine::G45, &word.to_le_bytes()));
    }
    assert!(came_back > 2_000, "only {came_back} were instructions");
}

#[test]
fn no_text_and_no_bytes_are_a_panic() {
    let mut chance = Chance(22);
    const PARTS: &[&str] = &[
        "mov(8)",
        " ",
        "g4<1>F",
        "g2<8,8,1>F",
        "{ align1 };",
        "{ align16",
        "-",
        "(abs)",
        "0x",
        "F",
        "send(8)",
        "2",
        "0x01110001",
        "math",
        "MsgDesc:",
        "mlen",
        "9",
        "<",
        ">",
        ".",
        "xyzw",
        "g[a0.",
        "]",
        "-512",
        "99999999999",
        "D",
        "ip",
        "null",
        "(+f0.",
        "1)",
        ".sat",
        ".nz.f0.1",
        "(32)",
        "compr4",
        "compacted",
        "EOT",
        "src0(",
        ")",
        "dst(",
        "flag(",
        "Jump:",
        "Pop:",
        "if(8)",
        "nop",
        ";",
        "\n",
        "/*",
        "*/",
        "//",
        "é",
        "\u{0}",
        "while(1)",
        "do(1)",
        "jmpi(1)",
        "wait(1)",
        "n0<1>UD",
        "m4<1>",
        "VF",
        "1e9F",
        "nanF",
        "0xffffffffW",
        "-1UD",
        "src1_type(9)",
        "gfx5_sfid(16)",
    ];
    for _ in 0..60_000 {
        let count = 1 + chance.below(12);
        let text: String =
            (0..count).map(|_| PARTS[chance.below(PARTS.len() as u64) as usize]).collect();
        for machine in [Machine::Gen4, Machine::G45] {
            if let Ok(code) = assemble(machine, &text) {
                assert!(back(machine, &code), "{text:?} has no text");
            }
        }
    }
    for length in 0..40 {
        let bytes: Vec<u8> = (0..length).map(|_| chance.next() as u8).collect();
        back(Machine::G45, &bytes);
    }
}
