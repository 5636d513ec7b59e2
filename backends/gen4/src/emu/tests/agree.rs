//! Two readings of a word, by two hands: they accept the same words and find the same in them.

use super::{Dice, machine};
use crate::emu::decode::{
    self, Compression, Condition, File, Form, Instruction, Operand, Place, Rows, is_compact,
};
use crate::emu::value::Type;
use crate::emu::{Model, Rule, check};
use crate::isa::fields::f;
use crate::isa::{self, Decoded, operand};
use crate::legal;
use std::collections::BTreeMap;

/// Where the other reading takes what the manual reserves: a word of foreign lists has it.
fn excused(bits: u128) -> Option<&'static str> {
    let get = |high: u32, low: u32| (bits >> low) as u32 & (u32::MAX >> (31 - (high - low)));
    let send = get(6, 0) == 0x31;
    let arf =
        |file: u32, at: u32| file == 0 && get(at + 12, at + 9) == 12 && get(at + 15, at + 15) == 0;
    if get(15, 14) == 1 {
        Some("E9: atomic")
    } else if get(23, 21) == 7 {
        Some("E10: reserved7")
    } else if send && get(95, 92) != 0 {
        Some("E11: words of Gen5")
    } else if arf(get(33, 32), 48) || arf(get(38, 37), 64) || arf(get(43, 42), 96) {
        Some("E12: tm0")
    } else {
        None
    }
}

/// What the other reading finds in a word, said in this one's types.
fn translated(decoded: &Decoded) -> Instruction {
    let inst = &decoded.inst;
    let get = |id| inst.get(id);
    let opcode = decode::Opcode::ALL
        .iter()
        .copied()
        .find(|opcode| *opcode as u32 == get(f::OPCODE))
        .expect("an opcode of both");
    let mut out = Instruction {
        opcode,
        compact: decoded.compact,
        debug: inst.flag(f::DEBUG_CTRL),
        ..Instruction::NOTHING
    };
    if opcode.form() == Form::Bare {
        return out;
    }
    out.align16 = inst.flag(f::ACCESS_MODE);
    out.no_mask = inst.flag(f::MASK_CTRL);
    out.no_clear = inst.flag(f::NO_DD_CLR);
    out.no_check = inst.flag(f::NO_DD_CHK);
    out.compression = match get(f::COMPR_CTRL) {
        0 => Compression::Normal,
        1 => Compression::SecondHalf,
        _ => Compression::Compressed,
    };
    out.switch = get(f::THREAD_CTRL) == 2;
    out.predicate = get(f::PRED_CTRL) as u8;
    out.inverse = inst.flag(f::PRED_INV);
    out.channels = 1 << get(f::EXEC_SIZE);
    out.saturate = inst.flag(f::SATURATE);
    out.flag = get(f::FLAG_SUBREG) as u8;
    if opcode.form() == Form::Message {
        out.message = get(f::MRF) as u8;
    } else {
        out.condition = match get(f::COND_MODIFIER) {
            0 => Condition::None,
            1 => Condition::Zero,
            2 => Condition::NotZero,
            3 => Condition::Greater,
            4 => Condition::GreaterEqual,
            5 => Condition::Less,
            6 => Condition::LessEqual,
            7 => Condition::Increment,
            8 => Condition::Overflow,
            _ => Condition::Unordered,
        };
    }
    let dst = decoded.operands.dst.expect("a destination");
    out.dst.file = file(dst.file);
    out.dst.ty = ty(dst.ty);
    out.dst.place = place(&dst);
    match dst.region {
        operand::Region::Stride(code) => out.dst.stride = [0, 1, 2, 4][code as usize],
        operand::Region::Masked { channels, .. } => out.dst.mask = channels as u8,
        _ => panic!("a source's region"),
    }
    let number = |ty, bits| Operand::Number { ty, bits };
    let typed = |code| Type::number(code).expect("a type of numbers");
    out.first = match &decoded.operands.src0 {
        Some(source) => register(source),
        None => number(typed(get(f::SRC0_TYPE)), get(f::SRC1)),
    };
    out.second = match (&decoded.operands.src1, opcode.form()) {
        (Some(source), _) => register(source),
        (None, Form::Two | Form::Message) => number(typed(get(f::SRC1_TYPE)), get(f::SRC1)),
        (None, Form::Branch) => {
            out.jump = get(f::JUMP_COUNT) as u16 as i16;
            out.pop = get(f::POP_COUNT) as u8;
            let bits = get(f::JUMP_COUNT) & 0xffff | get(f::POP_COUNT) << 16;
            number(typed(get(f::SRC1_TYPE)), bits)
        }
        _ => Operand::Absent,
    };
    out
}

fn file(file: operand::File) -> File {
    match file {
        operand::File::Arf => File::Architecture,
        operand::File::Grf => File::General,
        operand::File::Mrf => File::Message,
        operand::File::Imm => panic!("a number"),
    }
}

fn ty(ty: operand::Type) -> Type {
    match ty {
        operand::Type::Ud => Type::Ud,
        operand::Type::D => Type::D,
        operand::Type::Uw => Type::Uw,
        operand::Type::W => Type::W,
        operand::Type::Ub => Type::Ub,
        operand::Type::B => Type::B,
        operand::Type::F => Type::F,
        operand::Type::V => Type::V,
        operand::Type::Vf => Type::Vf,
    }
}

fn place(operand: &operand::Operand) -> Place {
    match operand.place {
        operand::Place::Direct { register, byte } => {
            Place::Direct { register: register as u8, byte: byte as u8 }
        }
        operand::Place::Indirect { index, offset } => {
            Place::Indirect { index: index as u8, offset: offset as i16 }
        }
    }
}

fn register(source: &operand::Operand) -> Operand {
    let rows = match source.region {
        operand::Region::Rows { vertical, width, horizontal } => Rows::Plain {
            vertical: match vertical {
                15 => None,
                0 => Some(0),
                code => Some(1 << (code - 1)),
            },
            width: 1 << width,
            horizontal: [0, 1, 2, 4][horizontal as usize],
        },
        operand::Region::Swizzled { vertical, select } => Rows::Swizzled {
            vertical: if vertical == 0 { 0 } else { 4 },
            select: [0, 2, 4, 6].map(|shift| (select >> shift & 3) as u8),
        },
        _ => panic!("a destination's region"),
    };
    Operand::Register(decode::Source {
        file: file(source.file),
        ty: ty(source.ty),
        place: place(source),
        rows,
        absolute: source.modifier & 1 != 0,
        negate: source.modifier & 2 != 0,
    })
}

/// Words that assemble, around which chance looks.
const LINES: &[&str] = &[
    "mov(8) m3<1>F g16<8,8,1>F { align1 };",
    "(+f0.0) sel(8) g7<1>UD g9<8,8,1>UD g8<8,8,1>UD { align1 };",
    "add(16) g6<1>F g10<8,8,1>UW -g1<0,1,0>F { align1 compr };",
    "mul(8) g8<1>F (abs)g6<4,4,1>F g8<0,1,0>F { align1 };",
    "and.nz.f0.1(8) null<1>UD g4<8,8,1>UD 1UD { align1 };",
    "cmp.l.f0.0(8) g4<1>F g5<8,8,1>F g6<8,8,1>F { align1 };",
    "dp4(8) g4<1>.xF g5<4>.xyzzF g1<0>F { align16 };",
    "line(8) null<1>F g3.4<0,1,0>F g6<8,8,1>F { align1 };",
    "mac(8) g10<1>F g3.5<0,1,0>F g8<8,8,1>F { align1 };",
    "(+f0.0) if(8) Jump: 15;",
    "else(8) Jump: 7 Pop: 1;",
    "endif(8) Pop: 1;",
    "do(8);",
    "while(8) Jump: -10;",
    "break(8) Jump: 6 Pop: 2;",
    "(+f0.0) jmpi(1) 2D;",
    "send(8) 2 g12<1>F g10<8,8,1>F 0x01110001 { align1 };",
    "mov(8) g4<1>F 0x30484050VF { align1 };",
    "add(8) g10<1>UW g1.4<2,4,0>UW 0x10101010V { align1 };",
    "shr(8) g10<1>UD g4<8,8,1>UD 3UD { align1 };",
    "mov(1) g4<1>UD a0<0,1,0>UD { align1 nomask };",
];

/// A compact word of an opcode that exists, of general registers mostly and without what is reserved.
fn compacted(dice: &mut Dice) -> u128 {
    let opcodes = decode::Opcode::ALL;
    let opcode = u64::from(opcodes[dice.below(opcodes.len() as u64) as usize] as u32);
    let reserved = 0x7f | 1 << 7 | 1 << 23 | 1 << 27 | 1 << 47 | 1 << 55 | 1 << 63;
    u128::from(dice.next() & !reserved | opcode | 1 << 29)
}

/// A word: chance, chance with what is reserved left out, or one that assembles with some bits turned over.
pub fn word(dice: &mut Dice, model: Model, seeds: &[u128]) -> u128 {
    match dice.below(5) {
        0 => dice.wide(),
        4 if model == Model::G45 => compacted(dice),
        1 => {
            let opcodes = decode::Opcode::ALL;
            let opcode = opcodes[dice.below(opcodes.len() as u64) as usize] as u128;
            let mut bits = dice.wide() & !0x7f | opcode;
            bits &= !(1 << 7 | 1 << 28 | 1 << 29 | 1 << 47 | 0x3f << 90);
            bits &=
                !(1 << 13 | 1 << 14 | 1 << 19 | 1 << 27 | 1 << 33 | 1 << 38 | 1 << 88 | 1 << 120);
            bits &= !(0b11 << 48 | 0b11 << 64 | 0b11 << 96 | 0x7f << 121);
            if dice.below(2) == 0 {
                bits &= !(1 << 8);
                bits = bits & !(1 << 84 | 1 << 116) | 1 << 32;
            }
            bits
        }
        _ => {
            let mut bits = seeds[dice.below(seeds.len() as u64) as usize];
            for _ in 0..dice.below(6) {
                bits ^= 1 << dice.below(128);
            }
            if model == Model::I965 && dice.below(2) == 0 { bits & !(1 << 29) } else { bits }
        }
    }
}

/// The words of [`LINES`].
pub fn seeds(model: Model) -> Vec<u128> {
    let read = |line: &&str| {
        let bytes =
            isa::assemble(machine(model), line).unwrap_or_else(|error| panic!("{line}: {error}"));
        u128::from_le_bytes(bytes.try_into().expect("one native word"))
    };
    LINES.iter().map(read).collect()
}

#[test]
fn both_readings_agree_on_200_000_words() {
    let mut dice = Dice(4);
    let (mut accepted, mut compact) = (0, 0);
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    for model in [Model::I965, Model::G45] {
        let table = machine(model);
        let seeds = seeds(model);
        for _ in 0..100_000 {
            let bits = word(&mut dice, model, &seeds);
            let (mine, other, native) = if is_compact(bits as u32) {
                let word = bits as u64;
                let native = crate::emu::compact::expand(word);
                (decode::compact(model, word), isa::decode_compact(table, word), native)
            } else {
                (decode::native(model, bits), isa::decode(table, bits), bits)
            };
            match (mine, other) {
                (Ok(mine), Ok(other)) => {
                    accepted += 1;
                    compact += u32::from(mine.compact);
                    assert_eq!(mine, translated(&other), "{model:?} {bits:#034x}");
                }
                (Err(_), Err(_)) => {}
                (Err(why), Ok(other)) => {
                    let Some(reason) = excused(native) else {
                        panic!("{model:?} {bits:#034x}: {why:?} alone refuses\n{other:?}");
                    };
                    *reasons.entry(reason).or_default() += 1;
                }
                (Ok(mine), Err(why)) => {
                    panic!("{model:?} {bits:#034x}: {why:?} of the other reading alone\n{mine:?}");
                }
            }
        }
    }
    assert!(accepted > 20_000, "{accepted} words are accepted");
    assert!(compact > 1_000, "{compact} compact words are accepted");
    assert_eq!(reasons.len(), 4, "every reason is met: {reasons:?}");
}

/// Rules of this reading that the other one leaves to a run, or does not have.
const MINE: &[Rule] = &[
    Rule::Condition,
    Rule::BranchOperands,
    Rule::BranchMode,
    Rule::Reserved,
    Rule::Saturation,
    Rule::Predicate,
    Rule::Granularity,
    Rule::Crosses,
    Rule::DestinationStride,
    Rule::Operand,
    Rule::Types,
    Rule::MessageOperand,
    Rule::MessageType,
    Rule::IndexRows,
    Rule::AccumulatorRegion,
    Rule::CompressedOperand,
    Rule::Function,
];

/// Rules of the other reading that are the shared functions' matter here, and one of words whose rows repeat.
const OTHERS: &[legal::Rule] = &[
    legal::Rule::Descriptor,
    legal::Rule::MathLength,
    legal::Rule::SamplerLength,
    legal::Rule::DataLength,
    legal::Rule::UrbLength,
    legal::Rule::CompressedByte,
];

#[test]
fn both_legalities_agree_but_for_named_rules() {
    let mut dice = Dice(77);
    let mut both = 0;
    for (model, chip) in [(Model::I965, legal::Chip::I965), (Model::G45, legal::Chip::G45)] {
        let table = machine(model);
        let seeds = seeds(model);
        for _ in 0..100_000 {
            let bits = word(&mut dice, model, &seeds);
            if is_compact(bits as u32) {
                continue;
            }
            let (Ok(mine), Ok(other)) = (decode::native(model, bits), isa::decode(table, bits))
            else {
                continue;
            };
            match (check::instruction(model, &mine), legal::admit(chip, &other)) {
                (Ok(()), Ok(())) => both += 1,
                (Err(_), Err(_)) => {}
                (Err((rule, what)), Ok(())) => {
                    assert!(MINE.contains(&rule), "{model:?} {bits:#034x} {rule:?} {what}");
                }
                (Ok(()), Err(rule)) => {
                    assert!(OTHERS.contains(&rule), "{model:?} {bits:#034x} {rule}");
                }
            }
        }
    }
    assert!(both > 20_000, "{both} words are legal");
}
