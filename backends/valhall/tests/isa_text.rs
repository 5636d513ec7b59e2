//! The table against itself: every row and every value of every field as text and back, and what must be refused.

use gpucc_isa::Field;
use gpucc_valhall::isa::ops::{OPS, Opcode};
use gpucc_valhall::isa::{
    Inst, TABLE, alias, assemble, assemble_line, decode_word, disassemble, disassemble_word, f,
};

/// The values of a field that are worth trying: all of a narrow one, the edges of a wide one.
fn values(field: &Field) -> Vec<u32> {
    let width = field.width();
    if width <= 9 {
        return (0..1 << width).collect();
    }
    let top = ((1u64 << width) - 1) as u32;
    let mut values = vec![0, 1, 2, 0x55, top, top - 1, top >> 1, (top >> 1) + 1];
    values.extend((0..width).map(|bit| 1 << bit));
    values
}

/// A legal instruction of the row: everything usual.
fn usual(row: Opcode) -> Inst {
    Inst::usual(row.op())
}

/// Text and back; false where the word is refused.
fn comes_back(word: u64) -> bool {
    let Ok(text) = disassemble_word(word) else {
        return false;
    };
    match assemble_line(&text) {
        Ok(back) => assert_eq!(back, word, "{text}: {back:#018x} for {word:#018x}"),
        Err(error) => panic!("{text}: {error} for {word:#018x}"),
    }
    true
}

#[test]
fn every_value_of_every_field_of_every_row_comes_back_from_its_text() {
    for &row in Opcode::ALL {
        let base = usual(row);
        assert!(comes_back(base.bits() as u64), "{}", row.name());
        for field in row.op().format.fields() {
            let mut accepted = 0;
            for value in values(field) {
                let word = field.put(base.bits(), value) as u64;
                accepted += u32::from(comes_back(word));
            }
            let fixed = row.op().is_fixed(field);
            assert!(fixed || accepted > 1, "{}: {}", row.name(), field.name);
        }
    }
}

#[test]
fn random_words_of_every_row_come_back_or_are_refused() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut accepted = 0;
    for &row in Opcode::ALL {
        for _ in 0..400 {
            let mut bits = usual(row).bits();
            for field in row.op().format.fields() {
                if next() % 3 == 0 {
                    bits = field.put(bits, next() as u32);
                }
            }
            accepted += u32::from(comes_back(bits as u64));
        }
    }
    assert!(accepted > 20_000, "{accepted}");
}

#[test]
fn random_words_never_panic_and_come_back_where_they_are_taken() {
    let mut state = 12345u64;
    for _ in 0..200_000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        comes_back(state ^ state >> 29);
    }
}

#[test]
fn reserved_bits_and_reserved_values_are_refused() {
    for &row in Opcode::ALL {
        let base = usual(row).bits();
        for bit in 0..64 {
            if row.op().format.used() >> bit & 1 == 0 {
                let word = (base | 1 << bit) as u64;
                let decoded = decode_word(word);
                assert!(decoded.is_err(), "{} bit {bit}: {decoded:?}", row.name());
            }
        }
        for field in row.op().format.fields() {
            for value in values(field) {
                if !field.accepts(value) && value >> field.width() == 0 {
                    let word = field.put(base, value) as u64;
                    let same = TABLE.find(u128::from(word)).is_some_and(|op| op.id == row.op().id);
                    assert!(!same || decode_word(word).is_err(), "{} {}", row.name(), field.name);
                }
            }
        }
    }
}

#[test]
fn the_rules_of_uniforms_and_staging_registers_are_named() {
    for (text, rule) in [
        ("FADD.f32 r0, u0, u4", "FAU rule 2"),
        ("FADD.f32 r0, u5, u3", "FAU rule 2"),
        ("FADD.f32 r0, u5, u6", "FAU rule 2"),
        ("FADD.f32 r0, u0, u64", "FAU rule 1"),
        ("FMA.f32 r0, u0, u1, 0x0", "FAU rule 3"),
        ("FMA.f32 r0, u0, 0x40490FDB, 0x0", "FAU rule 3"),
        ("IADD.u32 r0, lane_id.w0, core_id.w0", "FAU rule 4"),
        ("IADD.u32 r0, tls_ptr, wls_ptr", "FAU rule 4"),
        ("IADD.u32 r0, u192, lane_id.w0", "FAU rule 4"),
        ("LEA_BUFFER.slot0 @r0:r1, lane_id.w0, r2", "FAU rule 4"),
        ("FADD.f32 r0, framebuffer_size.w0.neg, r2", "FAU rule 5"),
        ("LOAD.i64.unsigned.slot0 @r1:r2, r4, offset:0", "staging rule (alignment)"),
        ("LOAD.i64.unsigned.slot0 @r0:r1, r5, offset:0", "pair rule"),
        ("MOV.i32 r0, 0x12345678", "constant rule"),
        ("IADD.u32 r0, r64, r1", "register rule"),
        ("IADD.u32 r0, ^u1, r1", "last-use rule"),
        ("LOAD.i32.unsigned.slot0 @r0, r4, offset:40000", "range rule"),
        ("MOV.i32.wait0.end r0, r1", "flow rule"),
        ("LOAD.i64.unsigned.slot0 @r0:r2, r4, offset:0", "staging rule"),
        ("NOPE r0", "mnemonic rule"),
        ("FADD.f32 r0, r1", "operand rule"),
        ("FADD.f32 r0, r1, r2, r3", "operand rule"),
        ("BRANCHZ #0, offset:1", "source rule"),
        ("IADD_IMM.i32 r0, r1, 5", "constant rule"),
        ("MOV.i32 r0, u256", "uniform rule"),
        ("FROUND.f32.rtn.clamp_0_1 r0, r1", "modifier rule"),
        ("FADD.v2f16 r0, r1, r0.h0", "modifier rule"),
        ("FADD.f32.clamp_0_1.clamp_0_1 r0, r1, r2", "modifier rule"),
        ("FADD.f32 r0.w1, r1, r2", "destination rule"),
        ("IADD.u32 r0, atest_datum, r1", "special value rule"),
        ("CSEL.s32 r0, r1, r2, r3, r4", "modifier rule"),
        ("ICMP_OR.s32.gt r0, r1, r2, r3", "modifier rule"),
        ("STORE.i32 @r0, r2, offset:0", "modifier rule"),
        ("BARRIER.wait", "modifier rule"),
        ("ATOM.i32.slot0 @r0, r2, offset:0x0", "modifier rule"),
    ] {
        let error = assemble_line(text).expect_err(text).to_string();
        assert!(error.contains(rule), "{text}: {error}");
    }
    // Words with the same faults.
    for (word, rule) in [
        (0x00a4_c000_0000_8480u64, "FAU rule 2"),
        (0x00b2_c000_00c0_8180, "FAU rule 3"),
        (0x06a0_c000_0000_e6e2, "FAU rule 4"),
        (0x0060_81f4_a800_0004, "even register"),
        (0x0091_c000_0000_00e0, "reserved"),
    ] {
        let error = decode_word(word).expect_err("refused").to_string();
        assert!(error.contains(rule), "{word:#018x}: {error}");
    }
}

#[test]
fn other_names_mean_the_same_words() {
    for (other, ours) in [
        ("BRANCH.not.reconverge r0, offset:3", "BRANCHZ.eq.reconverge r0, offset:3"),
        ("FMUL.f32 r0, r1, r2", "FMA.f32 r0, r1, r2, 0x0.neg"),
        ("MOV_IMM.i32 r0, #0x12345678", "IADD_IMM.i32 r0, 0x0, #0x12345678"),
        ("AND.i32 r0, r1, r2", "LSHIFT_AND.i32 r0, r1, 0x0.b00, r2"),
        ("AND.v2i16 r0, r1, r2", "LSHIFT_AND.v2i16 r0, r1, 0x0.b02, r2"),
        ("NOT.i32 r0, r1", "LSHIFT_XOR.i32 r0, r1, 0x0.b00, 0x0.not"),
        ("ARSHIFT.i32 r0, r1, r2.b00", "RSHIFT_OR.i32.signed r0, r1, r2.b00, 0x0"),
        ("ICMP.s32.lt.m1 r0, r1, r2", "ICMP_OR.s32.lt.m1 r0, r1, r2, 0x0"),
        ("ICMP.s32.and.lt.m1 r0, r1, r2, r3", "ICMP_AND.s32.lt.m1 r0, r1, r2, r3"),
        ("SEG_SUB.u64 r0, r2, r4", "SEG_ADD.u64.neg r0, r2, r4"),
        ("FATAN_TABLE.f32 r0, r2, r4", "FATAN_ASSIST.f32.second r0, r2, r4"),
        (
            "ACMPXCHG.i32.slot0 @r0, @r2:r3, r4, offset:0x4",
            "ATOM_RETURN.i32.slot0.compare.axchg @r0, @r2:r3, r4, offset:0x4",
        ),
        ("LD_PKA.i32.unsigned.slot0 @r0, r1, r2", "LD_BUFFER.i32.unsigned.slot0 @r0, r1, r2"),
        ("FROUND.f32.round_down r0, r1", "FROUND.f32.rtn r0, r1"),
        ("IADD.s32.sat r0, r1, r2", "IADD.s32.saturate r0, r1, r2"),
        (
            "STORE.i32.vary.slot0.return @r0, r2, offset:0",
            "STORE.i32.estream.slot0.end @r0, r2, offset:0",
        ),
        ("MOV.i32 r0, lane_id", "MOV.i32 r0, lane_id.w0"),
        ("ADR r0, #0x10", "IADD_IMM.i32 r0, program_counter.w0, #0x10"),
    ] {
        let word = assemble_line(other).expect(other);
        assert_eq!(disassemble_word(word).as_deref(), Ok(ours), "{other}");
    }
    for known in alias::ALL {
        assert!(TABLE.named(known.name).is_none(), "{} stands twice", known.name);
        for &(field, value) in known.fixed {
            assert!(Inst::usual(known.opcode.op()).set(field, value).is_ok(), "{}", known.name);
        }
    }
}

#[test]
fn words_that_nothing_reaches_may_be_anything() {
    let text =
        "BRANCHZ.eq 0x0, offset:1\n.dword 0xffffffffffffffff\nNOP.end\n.dword 0x0000000000000000\n";
    let bytes = assemble(text).expect("assembles");
    assert_eq!(disassemble(&bytes).as_deref(), Ok(text));
    let error = disassemble(&bytes[8..]).expect_err("reached").to_string();
    assert!(error.starts_with("offset 0x0: "), "{error}");
    let error = disassemble(&bytes[..11]).expect_err("cut").to_string();
    assert!(error.contains("3 bytes"), "{error}");
}

/// The public disassembler reads zeros as NOP; public drivers fill what lies behind a program with them.
#[test]
fn zeros_that_control_flow_reaches_are_read_and_come_back() {
    let text = disassemble(&[0; 8]).expect("it reads");
    assert_eq!(text, ".dword 0x0000000000000000 // NOP\n");
    assert_eq!(assemble(&text).as_deref(), Ok(&[0; 8][..]));
}

/// The public compiler encodes an atomic that gives nothing back so, and its disassembler names it so.
#[test]
fn an_atomic_with_1_that_returns_into_no_registers_is_the_one_that_returns_nothing() {
    for size in ["i32", "i64"] {
        let theirs = format!("ATOM1_RETURN.{size}.slot0.ainc.wait0 @, r0, offset:0x4");
        let ours = format!("ATOM1.{size}.slot0.ainc.wait0 r0, offset:0x4");
        let word = assemble_line(&theirs).expect("assembles");
        assert_eq!(word >> 40 & 0xff, 0x40, "no register, read");
        assert_eq!(Ok(word), assemble_line(&ours));
        assert_eq!(disassemble_word(word), Ok(ours));
    }
    assert!(assemble_line("ATOM1_RETURN.i32.slot0.ainc.wait0 r0, offset:0x4").is_err());
    assert!(assemble_line("ATOM_RETURN.i32.slot0.aadd.wait0 @, @r1, r0, offset:0x4").is_err());
}

#[test]
fn the_unit_and_the_shape_of_every_row_fit_together() {
    for &row in Opcode::ALL {
        assert_eq!(OPS[row as usize].sources as usize, row.sources().len());
        assert_eq!(Opcode::of(row.op()), row);
        let written = row.dst().is_some();
        assert_eq!(written, row.op().format.field(f::DST).is_some(), "{}", row.name());
        for modifier in row.shape().modifiers.iter().chain(row.shape().immediates) {
            assert!(row.op().format.field(*modifier).is_some(), "{}", row.name());
        }
    }
}
