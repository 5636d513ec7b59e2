//! Any bits and any text: decoder, encoder, assembler and disassembler never panic, and agree where they accept.

use gpucc_ir::ssa::random::Rng;
use gpucc_isa::{Kind, Table};
use gpucc_r700::isa::{
    AluOp, CfOp, FetchOp, R700, UnitKind, assemble, assemble_unit, decode_program, disassemble,
    disassemble_unit, encode_program, f,
};

/// Bits of a row with random field values, most of them such as the field accepts.
fn random_inst(random: &mut Rng, table: &Table, row: usize) -> u128 {
    let op = &table.ops[row];
    let mut bits = op.bits;
    for field in op.format.fields().filter(|field| !op.is_fixed(field)) {
        let any = random.bits() as u32 & gpucc_isa::field::low_bits(field.width()) as u32;
        let value = match (field.kind, random.below(4)) {
            (_, 0 | 1) => field.default,
            (Kind::Enum(set), _) => set.members[random.below(set.members.len())].value,
            (Kind::Select(spans), _) => {
                let span = spans[random.below(spans.len())];
                span.first + random.below((span.last - span.first + 1) as usize) as u32
            }
            _ => any,
        };
        bits = field.put(bits, value);
    }
    bits
}

fn words(bits: u128, count: usize) -> Vec<u32> {
    (0..count).map(|i| (bits >> (32 * i)) as u32).collect()
}

fn round_trip(kind: UnitKind, words: &[u32]) -> Result<String, String> {
    let text = disassemble_unit(&R700, kind, words).map_err(|error| error.to_string())?;
    let back = assemble_unit(&R700, kind, &text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert_eq!(back, words, "{text}");
    Ok(text)
}

#[test]
fn every_instruction_with_any_legal_fields_comes_back_from_its_text() {
    let mut random = Rng::new(1);
    let tables = [
        (&R700.cf, UnitKind::Cf, 2),
        (&R700.alu, UnitKind::AluSlot, 2),
        (&R700.fetch, UnitKind::Fetch, 4),
    ];
    for (table, kind, count) in tables {
        for row in 0..table.ops.len() {
            for _ in 0..60 {
                let bits = random_inst(&mut random, table, row);
                let text = round_trip(kind, &words(bits, count)).expect("all fields are legal");
                assert!(text.starts_with(table.ops[row].name), "{text}");
            }
        }
    }
}

#[test]
fn every_group_with_any_legal_fields_comes_back_from_its_text() {
    let mut random = Rng::new(2);
    for _ in 0..20_000 {
        let mut group = Vec::new();
        let mut literals = 0;
        let slots = 1 + random.below(5);
        for i in 0..slots {
            let row = random.below(R700.alu.ops.len());
            let mut bits = random_inst(&mut random, &R700.alu, row) & !(1 << 31);
            if i + 1 == slots {
                bits |= 1 << 31;
            }
            literals |= gpucc_r700::isa::AluSlot::from_inst(R700.alu.decode(bits).expect("legal"))
                .literals();
            group.extend(words(bits, 2));
        }
        for _ in 0..gpucc_r700::isa::AluGroup::literal_dwords(literals) {
            group.push(if random.below(2) == 0 { random.bits() as u32 } else { 0 });
        }
        round_trip(UnitKind::Alu, &group).expect("all fields are legal");
    }
}

#[test]
fn random_words_never_panic_and_what_decodes_encodes_the_same() {
    let mut random = Rng::new(3);
    let mut accepted = 0;
    for _ in 0..200_000 {
        let words: Vec<u32> = (0..4).map(|_| random.bits() as u32).collect();
        let short = &words[..2 + random.below(3)];
        for kind in UnitKind::ALL {
            accepted += usize::from(round_trip(kind, short).is_ok());
        }
    }
    assert!(accepted > 1000, "only {accepted} were accepted");
}

#[test]
fn flipped_bits_of_programs_never_panic_and_what_decodes_encodes_the_same() {
    let mut random = Rng::new(4);
    let text = "ALU_PUSH_BEFORE:\n 0 x: PRED_SETNE_INT ____.x, R0.x, 0.0 UPDATE_PRED UPDATE_EXECUTE_MASK\n\
        JUMP ADDR(4) POP_COUNT(1)\nTEX:\n 1 SAMPLE R1.xyzw, R1.xyzw, t0, s0\nPOP ADDR(4) POP_COUNT(1)\n\
        ALU:\n 2 x: MUL R1.x, R1.x, (2.5).x\n   t: SIN R1.y, R1.y\n\
        EXPORT_DONE: PIXEL[0], R1.xyzw END_OF_PROGRAM";
    let bytes = assemble(text).expect("a sound program");
    let mut accepted = 0;
    for _ in 0..50_000 {
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let bit = random.below(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        if random.below(8) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        if let Ok(text) = disassemble(&bytes) {
            assert_eq!(assemble(&text).as_ref(), Ok(&bytes), "{text}");
            accepted += 1;
        }
    }
    assert!(accepted > 10_000, "only {accepted} were accepted");
}

#[test]
fn random_text_never_panics() {
    let mut random = Rng::new(5);
    let pieces = [
        "ALU",
        ":",
        "x",
        "t",
        "R1",
        ".",
        ",",
        "MOV",
        "SAMPLE",
        "TEX",
        "(",
        ")",
        "[",
        "]",
        "0x1",
        "-",
        "|",
        "PV",
        "KC0",
        "____",
        "EXPORT",
        "PIXEL",
        "ADDR",
        "COUNT",
        "\n",
        ";",
        "@",
        "dword",
        "literal",
        "99999999999",
        "é",
        "//",
        "0",
        "LAST",
        "MEM_RING",
        "WRITE_IND",
        "CB1",
        "aL",
        "AR",
        "b1",
        "xyzw",
        "OFFSET_X",
        "1.5",
        "4294967295",
        "KCACHE0",
    ];
    for _ in 0..100_000 {
        let mut text = String::new();
        for _ in 0..random.below(24) {
            text.push_str(pieces[random.below(pieces.len())]);
            if random.below(2) == 0 {
                text.push(' ');
            }
        }
        for kind in UnitKind::ALL {
            let _ = assemble_unit(&R700, kind, &text);
        }
    }
}

#[test]
fn the_table_is_sound() {
    for table in [&R700.cf, &R700.alu, &R700.fetch] {
        assert_eq!(table.problems(), Vec::<String>::new());
    }
    assert_eq!((CfOp::ALL.len(), AluOp::ALL.len(), FetchOp::ALL.len()), (47, 137, 38));
}

#[test]
fn a_word_belongs_to_one_row_whatever_its_other_bits() {
    for table in [&R700.cf, &R700.alu, &R700.fetch] {
        for op in table.ops {
            assert!(std::ptr::eq(table.find(op.bits).expect("found"), op), "{}", op.name);
            assert!(
                std::ptr::eq(table.find(op.bits | !op.mask).expect("found"), op),
                "{}",
                op.name
            );
        }
    }
}

#[test]
fn reserved_bits_and_values_are_refused_by_name() {
    let refused = |kind, words: &[u32]| {
        disassemble_unit(&R700, kind, words).expect_err("refused").to_string()
    };
    assert_eq!(
        refused(UnitKind::Cf, &[0, 1 << 20]),
        "at byte 0x0: NOP: reserved bits word 1 [20] of CF_WORD must be 0"
    );
    assert_eq!(
        refused(UnitKind::Fetch, &[0x10, 6 << 9, 0, 0]),
        "at byte 0x0: SAMPLE: DST_SEL_X = 6 is reserved"
    );
    assert_eq!(
        refused(UnitKind::AluSlot, &[200, 0x10]),
        "at byte 0x0: ADD: SRC0_SEL = 200 is reserved"
    );
    assert_eq!(
        refused(UnitKind::AluSlot, &[0, 12 << 26 | 0x7f << 7]),
        "at byte 0x0: ALU has no instruction with this opcode (0x00000000 0x30003f80)"
    );
    assert_eq!(
        refused(UnitKind::Fetch, &[0, 0, 0, 1]),
        "at byte 0x0: VFETCH: reserved bits word 3 [0] of VTX_WORD_GPR must be 0"
    );
    assert_eq!(refused(UnitKind::Cf, &[0]), "at byte 0x4: 1 dwords are too few for an instruction");
    assert_eq!(
        refused(UnitKind::Alu, &[0, 0x10]),
        "at byte 0x8: a group runs past the end of its clause"
    );
}

#[test]
fn errors_in_text_say_line_column_and_what_was_expected() {
    let refused = |text: &str| assemble(text).expect_err("refused").to_string();
    assert_eq!(
        refused("ALU:\n  0 x: MOVE R0.x, R1.x"),
        "line 2, column 8: there is no ALU instruction `MOVE`"
    );
    assert_eq!(
        refused("ALU:\n  0 x: ADD R0.x, R1.x"),
        "line 2, column 22: expected `,`, found the end of the text"
    );
    assert_eq!(
        refused("ALU:\n 0 x: MULADD R0.x, R1.x, |R2.x|, 0.0"),
        "line 2, column 26: MULADD has no absolute values"
    );
    assert_eq!(
        refused("ALU:\n 0 t: DOT4 R0.x, R1.x, R2.x"),
        "line 2, column 4: the hardware executes this instruction in slot x, not `t`"
    );
    assert_eq!(
        refused("ALU: COUNT(3)\n 0 x: MOV R0.x, R1.x"),
        "line 1, column 1: COUNT is 3, but the clause has 1"
    );
    assert_eq!(
        refused("x: MOV R0.x, R1.x"),
        "line 1, column 1: a slot stands in a clause, below ALU"
    );
    assert_eq!(
        refused("SAMPLE R0.xyzw, R0.xyzw, t0, s0"),
        "line 1, column 1: `SAMPLE` is a fetch instruction: it stands in a clause, below TEX or VTX"
    );
    assert_eq!(
        refused("EXPORT: COLOR[0], R0.xyzw"),
        "line 1, column 9: expected PIXEL, POS, PARAM, found `COLOR`"
    );
    assert_eq!(
        refused("JUMP ADDR(1) POP_COUNT(8)"),
        "line 1, column 24: POP_COUNT cannot be 8: it has 3 bits"
    );
    assert_eq!(
        refused("@0 .dword 1 2\nNOP NO_BARRIER"),
        "line 1, column 1: two parts of the program want different words at dword 0"
    );
    assert_eq!(
        refused(
            "TEX: ADDR(4294967295)\n 0 LD R1.xyzw, R0.xyzw, t1, s0\nTEX:\n 1 LD R1.xyzw, R0.xyzw, t1, s0"
        ),
        "line 1, column 1: the program would have 8589934594 dwords, at most 4194304"
    );
    assert_eq!(
        refused("@4294967295 .dword 1"),
        "line 1, column 1: dword 4294967295 is beyond the largest program"
    );
    assert_eq!(
        refused("16777216 NOP"),
        "line 1, column 1: expected an address from 0 to 2097151, found `16777216`"
    );
    assert_eq!(
        refused("ALU:\n 0 x: MOV R0.x, (0x3f800000, 2.0).x"),
        "line 2, column 30: 0x3f800000 is 1.0"
    );
}

#[test]
fn a_clause_without_address_and_count_is_placed_and_counted() {
    let text = "ALU:\n 0 x: MOV R0.x, (1.5).x\n   y: MOV R0.y, (-2.0).y\nTEX:\n 1 LD R1.xyzw, R0.xyzw, t1, s0\n\
        EXPORT_DONE: PIXEL[0], R1.xyzw END_OF_PROGRAM\n";
    let bytes = assemble(text).expect("sound");
    let whole = disassemble(&bytes).expect("sound");
    assert_eq!(
        whole,
        "00 ALU: ADDR(3) COUNT(3)\n\
        \x20      0  x: MOV R0.x, (0x3fc00000, 1.5).x\n\
        \x20         y: MOV R0.y, (0xc0000000, -2.0).y\n\
        01 TEX: ADDR(6) COUNT(1)\n\
        \x20      1  LD R1.xyzw, R0.xyzw, t1, s0\n\
        02 EXPORT_DONE: PIXEL[0], R1.xyzw END_OF_PROGRAM\n"
    );
    assert_eq!(assemble(&whole), Ok(bytes));
}

#[test]
fn padding_gaps_and_unreachable_words_come_back() {
    // Control flow with a second routine after the end, a gap that is not 0, a clause that nothing starts, odd length.
    let mut words = vec![0x0000_0006, 0x8080_0000, 0, 0x9420_0688];
    words.extend([8, 0xa000_0000, 0, 0x8a00_0000, 0xdead_beef, 0x0fad_f00d, 0, 0]);
    words.extend([0x10, 0xf00d_1000, 0x6880_0000, 0]);
    words.extend([0x8000_0001, 0x0000_0c90, 0x1234_5678, 0, 0]);
    let program = decode_program(&words).expect("accepted");
    assert_eq!(encode_program(&program).as_ref(), Ok(&words));
    let text = program.to_string();
    assert!(text.contains("03 RETURN"), "{text}");
    assert!(text.contains("@8 .dword 0xdeadbeef 0x0fadf00d"), "{text}");
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(assemble(&text), Ok(bytes));
}

#[test]
fn clauses_that_overlap_reached_code_are_refused_and_shared_clauses_are_not() {
    let slot = [0x8000_0001, 0x0000_0c90];
    let alu = |at: u32, count: u32| [at, 0xa000_0000 | (count - 1) << 18];
    let end = [0, 0x8020_0000];
    let program = |cf: &[[u32; 2]], slots: usize| {
        let mut words: Vec<u32> = cf.iter().flatten().copied().collect();
        words.extend((0..slots).flat_map(|_| slot));
        words
    };
    let shared = program(&[alu(3, 2), alu(3, 2), end], 2);
    let decoded = decode_program(&shared).expect("shared clauses are fine");
    assert_eq!((decoded.clauses.len(), decoded.cf[0].clause), (1, decoded.cf[1].clause));
    round_trip(UnitKind::Program, &shared).expect("shared clauses are fine");
    let refused = |words: Vec<u32>| decode_program(&words).expect_err("refused").to_string();
    let message = refused(program(&[alu(3, 2), alu(4, 1), end], 2));
    assert_eq!(
        message,
        "at byte 0x8: the clause at 4 lies over control flow or over another clause"
    );
    let message = refused(program(&[alu(0, 1), end], 2));
    assert_eq!(
        message,
        "at byte 0x0: the clause at 0 lies over control flow or over another clause"
    );
    let message = refused(program(&[alu(3, 9), end], 2));
    assert_eq!(message, "at byte 0x0: the clause at 3 with 9 qwords ends after the program");
}

#[test]
fn the_same_clause_named_by_every_control_flow_word_is_written_once() {
    let mut words = Vec::new();
    let count = 50_000u32;
    for _ in 0..count {
        words.extend([count, 0xa000_0000 | 127 << 18]);
    }
    words.extend((0..128).flat_map(|_| [0x8000_0001, 0x0000_0c90]));
    let text = round_trip(UnitKind::Program, &words).expect("accepted");
    assert!(text.len() < 100 * words.len(), "{} characters for {} words", text.len(), words.len());
}

#[test]
fn fields_that_a_format_lacks_read_as_zero() {
    let inst = R700.alu.decode(u128::from(0x0002_8000u32) << 32).expect("MULADD_IEEE");
    assert_eq!((inst.op().name, inst.get(f::OMOD), inst.get(f::ALU_INST)), ("MULADD_IEEE", 0, 20));
}
