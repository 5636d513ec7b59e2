use super::super::rule::Rule;
use super::Bench;

fn bench() -> Bench {
    Bench::new().reg(0, 1).reg(1, 0).uniforms(&[10, 11, 12, 13, 14, 15, 16, 17])
}

/// An instruction whose source bytes are put in by hand: the assembler refuses what is tested.
fn rule(text: &str, sources: &[u64], page: u64) -> Option<Rule> {
    let mut word = crate::isa::assemble_line(text).expect("assembles");
    for (k, byte) in sources.iter().enumerate() {
        word = (word & !(0xFF << (8 * k))) | byte << (8 * k);
    }
    word = (word & !(3 << 57)) | page << 57;
    super::super::decode::decode(word, 0).err().map(|trap| trap.rule)
}

const U: u64 = 0x80;
const ZERO: u64 = 0xC0;
const PI: u64 = 0xD4;
const SPECIAL: u64 = 0xE0;

#[test]
fn two_words_of_one_slot_stand_together_and_of_two_slots_do_not() {
    let add = "IADD.u32.end r2, r0, r1";
    assert_eq!(rule(add, &[U + 4, U + 5], 0), None);
    assert_eq!(rule(add, &[U + 4, U + 4], 0), None);
    for (a, b) in [(0, 4), (5, 3), (5, 6)] {
        assert_eq!(rule(add, &[U + a, U + b], 0), Some(Rule::FauSlots), "u{a}, u{b}");
    }
    assert_eq!(bench().result("IADD.u32.end r2, u4, u5", 2), 29);
}

#[test]
fn an_instruction_takes_64_bits_of_uniforms_and_constants() {
    let fma = "FMA.f32.end r2, r0, r1, r0";
    assert_eq!(rule(fma, &[U, U + 1, ZERO], 0), Some(Rule::FauBits));
    assert_eq!(rule(fma, &[U, ZERO, PI], 0), Some(Rule::FauBits));
    assert_eq!(rule(fma, &[U, ZERO, ZERO], 0), None);
    assert_eq!(rule(fma, &[U, U + 1, U], 0), None);
}

#[test]
fn one_page_serves_an_instruction_and_constants_stand_on_the_first() {
    let add = "IADD.u32.end r2, r0, r1";
    assert_eq!(rule(add, &[U, ZERO], 1), Some(Rule::FauPage));
    assert_eq!(rule(add, &[U, 1], 1), None);
    assert_eq!(rule(add, &[0, 1], 1), Some(Rule::FauPage));
}

#[test]
fn one_special_value_serves_an_instruction() {
    let add = "IADD.u32.end r2, r0, r1";
    // Thread and workgroup pointers; lane and core; the pointer's two words.
    assert_eq!(rule(add, &[SPECIAL + 2, SPECIAL + 6], 1), Some(Rule::FauSpecial));
    assert_eq!(rule(add, &[SPECIAL + 2, SPECIAL + 6], 3), Some(Rule::FauSpecial));
    assert_eq!(rule(add, &[SPECIAL + 2, SPECIAL + 3], 1), None);
    assert_eq!(rule(add, &[SPECIAL + 2, U], 1), Some(Rule::FauSpecial));
}

#[test]
fn special_values_that_do_not_exist_are_refused() {
    let mov = "MOV.i32.end r2, r0";
    assert_eq!(rule(mov, &[SPECIAL], 0), Some(Rule::FauReserved));
    assert_eq!(rule(mov, &[SPECIAL + 8], 1), Some(Rule::FauReserved));
    assert_eq!(rule(mov, &[SPECIAL + 2], 2), Some(Rule::FauReserved));
}

#[test]
fn messages_do_not_read_what_belongs_to_the_execution_engine() {
    let load = "LD_BUFFER.i32.unsigned.slot0.end @r2, r0, r1";
    assert_eq!(rule(load, &[SPECIAL + 2, 1], 3), Some(Rule::FauMessage));
    assert_eq!(rule(load, &[SPECIAL + 4, 1], 0), Some(Rule::FauMessage));
    // Two slots are a message's own right.
    assert_eq!(rule(load, &[U, U + 2], 0), None);
}

#[test]
fn special_values_take_no_float_modifiers() {
    let word = crate::isa::assemble_line("FADD.f32.end r2, r0.neg, r1").expect("assembles");
    let word = (word & !0xFF) | (SPECIAL + 8);
    let refused = super::super::decode::decode(word, 0).err().map(|trap| trap.rule);
    assert_eq!(refused, Some(Rule::FauModifier));
}

#[test]
fn uniform_words_beyond_those_pushed_are_refused() {
    assert_eq!(bench().result("MOV.i32.end r2, u7", 2), 17);
    assert_eq!(bench().refused("MOV.i32.end r2, u8"), Rule::FauRange);
}

#[test]
fn the_lane_id_is_the_lanes_number() {
    let warp = bench().run("MOV.i32.end r2, lane_id.w0").unwrap_or_else(|t| panic!("{t}"));
    assert_eq!(warp.regs[2].word.v[5], 5);
}
