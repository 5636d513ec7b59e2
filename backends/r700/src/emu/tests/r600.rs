//! R6xx by the register guide's chapter 4: where it differs from R700, each word stated by hand.

use super::build::*;
use crate::Chip;
use crate::api::Family;
use crate::emu::AluOp::*;
use crate::emu::ops::{Effect, Unit};
use crate::emu::{AluOp, Rule, Stage, State, Trap, address, run_vertices};
use crate::numerics::numerics_of;

/// A vertex state of a chip: 8 registers, 4 stack entries, 4 vectors of scratch.
pub fn r600_state(chip: Chip) -> State {
    let mut state = State::new(chip, Stage::Vertex, numerics_of(chip.family()));
    state.registers.insert(address::SQ_PGM_RESOURCES_VS, 8 | 4 << 8 | 1 << 21);
    state.registers.insert(address::SQ_VSTMP_RING_ITEMSIZE, 16);
    state.steps = 10_000;
    state
}

/// An OP2 group of R700 with its second words as chapter 4 has them: OMOD and ALU_INST one bit higher.
pub fn op2(words: &[u32], slots: usize) -> Vec<u32> {
    let mut words = words.to_vec();
    for slot in 0..slots {
        let w1 = &mut words[2 * slot + 1];
        if *w1 >> 15 & 7 == 0 {
            *w1 = *w1 & 0x1F | (*w1 & 0x3FFE0) << 1 | *w1 & 0xFFFC_0000;
        }
    }
    words
}

/// A group's words as the chip's family has them.
pub fn of(chip: Chip, words: &[u32]) -> Vec<u32> {
    let slots = words.iter().step_by(2).position(|w0| w0 >> 31 == 1);
    match chip.family() {
        Family::R600 => op2(words, slots.expect("a group has LAST") + 1),
        Family::R700 => words.to_vec(),
    }
}

/// Runs control flow and exports R1 as position and parameter 0; what vertex 1 of 2 exported.
pub fn exported(list: &[Cf], state: &mut State) -> Result<[u32; 4], Trap> {
    let mut all = list.to_vec();
    all.push(export(true, 1, 60, 1, [0, 1, 2, 3], false));
    all.push(export(true, 2, 0, 1, [0, 1, 2, 3], true));
    let launched = run_vertices(&link(&all), state, &[(4, 0), (5, 0)], None)?;
    Ok(launched.export(2, 0).expect("it was exported").values[1])
}

/// `op literal` in channel x of R1, zeros in the others.
fn unary(chip: Chip, op: AluOp, operand: u32) -> Result<u32, Trap> {
    let list = [op2(&zeros(), 4), op2(&group(&[i(op, 1, 0, &[lit(0)])], &[operand]), 1)];
    exported(&[alu(&list)], &mut r600_state(chip)).map(|words| words[0])
}

pub fn zeros() -> Vec<u32> {
    group(&[0, 1, 2, 3].map(|c| i(MOV, 1, c, &[zero()])), &[])
}

#[test]
pub fn the_opcode_of_two_source_instructions_starts_at_bit_eight() -> Result<(), Trap> {
    // MOV R1.x, 1.0 as the guide's chapter 4 lays it out: ALU_INST 25 at 17:8, WRITE_MASK 4, DST_GPR 27:21.
    let words = vec![0x8000_00F9, 25 << 8 | 1 << 4 | 1 << 21];
    let run = |words| exported(&[alu(&[op2(&zeros(), 4), words])], &mut r600_state(Chip::Rv670));
    assert_eq!(run(words)?[0], 1f32.to_bits());
    // OMOD stands at 7:6: twice 1.0.
    assert_eq!(run(vec![0x8000_00F9, 25 << 8 | 1 << 6 | 1 << 4 | 1 << 21])?[0], 2f32.to_bits());
    // FOG_MERGE has no usable description.
    let fog = run(vec![0x8000_00F9, 25 << 8 | 1 << 5 | 1 << 4 | 1 << 21]);
    assert_eq!(fog.map_err(|trap| trap.rule), Err(Rule::Unsupported));
    Ok(())
}

#[test]
pub fn sine_and_cosine_take_radians() {
    let half_pi = std::f32::consts::FRAC_PI_2.to_bits();
    assert_eq!(unary(Chip::Rv670, SIN, half_pi), Ok(1f32.to_bits()));
    assert_eq!(unary(Chip::Rv670, COS, 0), Ok(1f32.to_bits()));
    let pi = std::f32::consts::PI;
    let sine = f64::from(pi).sin() as f32;
    assert_eq!(unary(Chip::Rv670, SIN, pi.to_bits()), Ok(sine.to_bits()));
    let outside = unary(Chip::Rv670, SIN, 3.2f32.to_bits());
    assert_eq!(outside.map_err(|trap| trap.rule), Err(Rule::Turns));
}

#[test]
pub fn shifts_execute_in_trans_alone() {
    let shift = |chan| i(LSHL_INT, 1, chan, &[lit(0), lit(1)]);
    let run = |insts: &[I]| {
        let words = op2(&group(insts, &[3, 2]), insts.len());
        exported(&[alu(&[op2(&zeros(), 4), words])], &mut r600_state(Chip::Rv670))
            .map_err(|trap| trap.rule)
    };
    assert_eq!(run(&[shift(0)]), Ok([12, 0, 0, 0]));
    assert_eq!(run(&[shift(0), shift(1)]), Err(Rule::SlotOrder));
}

#[test]
pub fn scratch_is_read_by_the_instruction_that_writes_it() {
    let value = op2(&group(&[0, 1, 2, 3].map(|c| i(MOV, 2, c, &[lit(c)])), &[5, 6, 7, 8]), 4);
    let index = op2(&group(&[i(MOV, 3, 0, &[r(250, 0)])], &[]), 1);
    // MEM_SCRATCH (36), ELEM_SIZE 3: WRITE R2 to vector 1; READ it to R1; READ_IND from 0 + R3.x.
    let access = |kind: u32, gpr: u32, base: u32, size: u32, mask: u32| {
        Cf::Raw(
            base | kind << 13 | gpr << 15 | 3 << 23 | 3 << 30,
            size | mask << 12 | 36 << 23 | 1 << 31,
        )
    };
    let write = access(0, 2, 1, 0, 15);
    for read in [access(2, 1, 1, 0, 0), access(3, 1, 0, 4, 0)] {
        let list = [alu(&[value.clone(), index.clone()]), write.clone(), read];
        let mut state = r600_state(Chip::Rv670);
        assert_eq!(exported(&list, &mut state), Ok([5, 6, 7, 8]));
    }
}

#[test]
pub fn a_fetch_clause_has_eight_instructions_and_no_more_bits_to_count_them() {
    // PASS R1.xyzw, R0.xxxx.
    let pass = [13, 1 | 1 << 12 | 2 << 15 | 3 << 18, 0, 0];
    let list = |count: usize| Cf::Fetch(1, vec![pass; count]);
    let clear = op2(&group(&[0, 1, 2, 3].map(|c| i(MOV, 0, c, &[zero()])), &[]), 4);
    let run = |count| {
        exported(&[alu(std::slice::from_ref(&clear)), list(count)], &mut r600_state(Chip::Rv670))
            .map_err(|trap| trap.rule)
    };
    assert_eq!(run(8), Ok([0; 4]));
    assert_eq!(run(9), Err(Rule::Reserved));
}

#[test]
pub fn what_came_with_r700_is_no_instruction() {
    let run = |cf: Cf| {
        exported(&[alu(&[op2(&zeros(), 4)]), cf], &mut r600_state(Chip::Rv670))
            .map_err(|trap| trap.rule)
    };
    assert_eq!(run(Cf::Flow(CF_NOP, 0, 0)), Ok([0; 4]));
    assert_eq!(run(Cf::Flow(WAIT_ACK, 0, 0)), Err(Rule::Opcode));
    assert_eq!(run(scatter(1, 1, 1)), Err(Rule::Opcode));
    let mut read = [0; 4];
    read[0] = 2;
    assert_eq!(run(Cf::Fetch(2, vec![read])), Err(Rule::Opcode));
    let doubles = group(&[i(ADD_64, 1, 0, &[zero(), zero()])], &[]);
    assert_eq!(run(alu(&[op2(&doubles, 1)])), Err(Rule::Opcode));
}

/// MOVA_INT 1, then R1.x = R[1 + AR.x].x where R2.x is 9.
pub fn indexed(chip: Chip, waterfall: bool) -> Result<u32, Trap> {
    let list = [
        op2(&zeros(), 4),
        op2(&group(&[i(MOV, 2, 0, &[lit(0)])], &[9]), 1),
        op2(&group(&[i(MOVA_INT, 0, 0, &[r(250, 0)]).mask()], &[]), 1),
        op2(&group(&[i(MOV, 1, 0, &[r(1, 0).rel()])], &[]), 1),
    ];
    // The third of the tuple starts at bit 2: USES_WATERFALL is bit 25.
    let clause = Cf::Alu(ALU, list.concat(), (0, 0, u32::from(waterfall) << 23));
    exported(&[clause], &mut r600_state(chip)).map(|words| words[0])
}

#[test]
pub fn registers_are_indexed_by_ar_on_rv670_and_by_something_undescribed_elsewhere() {
    assert_eq!(indexed(Chip::Rv670, true), Ok(9));
    let rule = |chip| indexed(chip, true).map_err(|trap| trap.rule);
    assert_eq!(rule(Chip::Rv630), Err(Rule::Unsupported));
}

#[test]
pub fn r600_itself_has_its_clamp_of_nan_in_sq_config() {
    let nan = group(&[I { clamp: true, ..i(MOV, 1, 0, &[lit(0)]) }], &[f32::NAN.to_bits()]);
    let run = |config: u32| {
        let mut state = r600_state(Chip::R600);
        state.registers.insert(address::SQ_CONFIG, 8 | config);
        exported(&[alu(&[op2(&zeros(), 4), op2(&nan, 1)])], &mut state).map(|words| words[0])
    };
    assert_eq!(run(1 << 4), Ok(0));
    assert!(run(0).is_ok_and(|bits| f32::from_bits(bits).is_nan()));
}

#[test]
pub fn instructions_of_one_slot_give_what_they_give_on_r700() {
    for &(op, operands, expected) in super::alu::ONE_SLOT {
        if matches!(op, SIN | COS) || matches!(op.unit(), Unit::Pair | Unit::Quad) {
            continue;
        }
        if matches!(op.effect(), Effect::Kill | Effect::Mova) {
            continue;
        }
        let sources: Vec<Src> = (0..op.sources() as u32).map(lit).collect();
        let mut inst = i(op, 1, 0, &sources);
        let mut groups = vec![op2(&zeros(), 4)];
        if op.sources() == 3 {
            inst.src[2] = r(2, 0);
            inst.bank = 1;
            groups.push(op2(&group(&[i(MOV, 2, 0, &[lit(0)])], &[operands[2]]), 1));
        }
        let literals = &operands[..operands.len().min(2)];
        groups.push(op2(&group(&[inst], literals), 1));
        let found = exported(&[alu(&groups)], &mut r600_state(Chip::Rv670));
        assert_eq!(found.map(|words| words[0]), Ok(expected), "{}", op.name());
    }
    // The reductions: 1 + 4 + 9 + 16, and the greatest.
    let fill = group(
        &[0, 1, 2, 3].map(|c| i(MOV, 2, c, &[lit(c)])),
        &[1.0f32, 2.0, 3.0, 4.0].map(f32::to_bits),
    );
    for (op, expected) in [(DOT4, 30f32), (DOT4_IEEE, 30.0), (MAX4, 4.0)] {
        let insts = [0, 1, 2, 3].map(|c| i(op, 1, c, &[r(2, c), r(2, c)][..op.sources()]));
        let list = [op2(&fill, 4), op2(&group(&insts, &[]), 4)];
        let found = exported(&[alu(&list)], &mut r600_state(Chip::Rv670));
        assert_eq!(found, Ok([expected.to_bits(); 4]), "{}", op.name());
    }
    let cube = [[2, 1], [2, 0], [0, 2], [1, 2]];
    let insts = [0, 1, 2, 3].map(|c: u32| {
        let [a, b] = cube[c as usize];
        let inst = i(CUBE, 1, c, &[r(2, a), r(2, b)]);
        if c == 1 { inst.bank(3) } else { inst }
    });
    let fill = group(
        &[0, 1, 2].map(|c| i(MOV, 2, c, &[lit(c)])),
        &[2.0f32.to_bits(), 1f32.to_bits(), 0.5f32.to_bits(), 0],
    );
    let list = [op2(&fill, 3), op2(&group(&insts, &[]), 4)];
    let found = exported(&[alu(&list)], &mut r600_state(Chip::Rv670));
    assert_eq!(found, Ok([-1.0f32, -0.5, 4.0, 0.0].map(f32::to_bits)));
}
