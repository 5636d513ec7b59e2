//! One legal and one illegal case for each rule of ALU groups and clauses, as text: each clause is
//! assembled into a small program and asked of `legal`.

use gpucc_r700::isa;
use gpucc_r700::legal::{Group, Violation, legal};
use gpucc_r700::slot::{Dst, Operand, Read, Slot};

fn gpr(gpr: u8, chan: u8) -> Operand {
    Operand::gpr(gpr, chan)
}

fn constant(buffer: u8, index: u16, chan: u8) -> Operand {
    Operand::plain(Read::Kcache { buffer, index, chan })
}

fn literal(bits: u32) -> Operand {
    Operand::plain(Read::Literal(bits))
}

fn slot(op: isa::AluOp, chan: u8, src: &[Operand]) -> Slot {
    Slot::new(op, Some(Dst::gpr(9, chan)), src)
}

/// Admits slots one after the other; the first refusal.
fn admit(slots: &[(usize, Slot)]) -> Result<Group, Violation> {
    slots.iter().try_fold(Group::default(), |group, (unit, slot)| group.admit(*unit, slot))
}

use isa::AluOp::{
    ADD, CNDE_INT, KILLE, MOV, MOVA_INT, MUL_IEEE, MULADD_IEEE, PRED_SETE, RECIP_IEEE,
};

#[test]
fn a_slot_takes_one_operation() {
    let a = slot(MOV, 0, &[gpr(1, 0)]);
    assert!(admit(&[(0, a)]).is_ok());
    assert_eq!(admit(&[(0, a), (0, a)]).unwrap_err(), Violation::Taken);
}

#[test]
fn the_trans_slot_alone_has_the_reciprocal() {
    let a = slot(RECIP_IEEE, 0, &[gpr(1, 0)]);
    assert!(admit(&[(4, a)]).is_ok());
    assert_eq!(admit(&[(0, a)]).unwrap_err(), Violation::Unit);
}

#[test]
fn a_vector_slot_writes_its_own_channel() {
    let a = slot(MOV, 1, &[gpr(1, 0)]);
    assert!(admit(&[(1, a)]).is_ok());
    assert_eq!(admit(&[(2, a)]).unwrap_err(), Violation::Channel);
}

#[test]
fn a_group_has_four_literals() {
    let a =
        |unit: usize, base: u32| (unit, slot(ADD, unit as u8, &[literal(base), literal(base + 1)]));
    assert!(admit(&[a(0, 10), a(1, 12), a(2, 10)]).is_ok());
    assert_eq!(admit(&[a(0, 10), a(1, 12), a(2, 14)]).unwrap_err(), Violation::Literals);
}

#[test]
fn a_group_reads_two_pairs_of_constants() {
    let a = |unit: usize, index: u16, chan: u8| {
        (unit, slot(MOV, unit as u8, &[constant(0, index, chan)]))
    };
    // x and y of a vector are one pair, z and w the other.
    assert!(admit(&[a(0, 5, 0), a(1, 5, 1), a(2, 5, 2), a(3, 5, 3)]).is_ok());
    assert_eq!(admit(&[a(0, 5, 0), a(1, 6, 0), a(2, 7, 0)]).unwrap_err(), Violation::Constants);
}

#[test]
fn the_trans_slot_reads_two_constants_of_any_kind() {
    let x = slot(MOV, 0, &[gpr(1, 0)]);
    let two = slot(MULADD_IEEE, 0, &[constant(0, 1, 0), literal(7), gpr(1, 0)]);
    let mut two_elsewhere = two;
    two_elsewhere.dst = Some(Dst::gpr(8, 0));
    assert!(admit(&[(0, x), (4, two_elsewhere)]).is_ok());
    let three = slot(CNDE_INT, 0, &[constant(0, 1, 0), literal(7), Operand::UNUSED]);
    assert_eq!(admit(&[(4, three)]).unwrap_err(), Violation::TransConstants);
}

#[test]
fn three_registers_of_a_channel_are_read_in_three_cycles_and_a_fourth_is_not() {
    let a = slot(ADD, 0, &[gpr(1, 0), gpr(2, 0)]);
    let b = slot(MOV, 1, &[gpr(3, 0)]);
    let c = slot(MOV, 2, &[gpr(4, 0)]);
    assert!(admit(&[(0, a), (1, b)]).is_ok());
    assert_eq!(admit(&[(0, a), (1, b), (2, c)]).unwrap_err(), Violation::Ports);
}

#[test]
fn equal_first_and_second_sources_share_a_read_and_the_third_does_not() {
    let square = slot(MUL_IEEE, 0, &[gpr(1, 0), gpr(1, 0)]);
    let b = slot(ADD, 1, &[gpr(2, 0), gpr(3, 0)]);
    assert!(admit(&[(0, square), (1, b)]).is_ok());
}

#[test]
fn a_group_has_one_predicate_or_kill() {
    let mut a = slot(PRED_SETE, 0, &[gpr(1, 0), gpr(1, 1)]);
    let mut b = slot(KILLE, 1, &[gpr(1, 0), gpr(1, 1)]);
    (a.dst, b.dst) = (None, None);
    assert!(admit(&[(0, a)]).is_ok());
    assert_eq!(admit(&[(0, a), (1, b)]).unwrap_err(), Violation::Predicate);
}

#[test]
fn an_index_is_not_used_beside_its_mova() {
    let mut a = slot(MOVA_INT, 0, &[gpr(1, 0)]);
    a.dst = None;
    let mut b = slot(MOV, 1, &[gpr(2, 0)]);
    assert!(admit(&[(0, a), (1, b)]).is_ok());
    b.src[0].read = Read::Gpr { gpr: 2, chan: 0, rel: true };
    assert_eq!(admit(&[(0, a), (1, b)]).unwrap_err(), Violation::Address);
}

#[test]
fn integers_take_no_modifiers() {
    let mut a = slot(ADD, 0, &[gpr(1, 0), gpr(2, 0)]);
    a.src[1].neg = true;
    assert!(admit(&[(0, a)]).is_ok());
    let mut b = slot(isa::AluOp::ADD_INT, 0, &[gpr(1, 0), gpr(2, 0)]);
    b.src[1].neg = true;
    assert_eq!(admit(&[(0, b)]).unwrap_err(), Violation::Modifier);
}

#[test]
fn a_reduction_is_the_same_in_all_four_slots() {
    let part = |chan: u8| {
        let mut s = slot(isa::AluOp::DOT4_IEEE, chan, &[gpr(1, chan), gpr(2, chan)]);
        s.dst = s.dst.filter(|_| chan == 0);
        s
    };
    let whole = [part(0), part(1), part(2), part(3)];
    assert!(Group::default().admit_reduction(&whole).is_ok());
    let mut mixed = whole;
    mixed[3].clamp = true;
    assert_eq!(Group::default().admit_reduction(&mixed).unwrap_err(), Violation::Reduction);
}

/// A program of one ALU clause that ends after it.
fn clause(groups: Vec<isa::AluGroup>) -> isa::Program {
    let body = isa::Body::Alu(groups);
    let mut program = isa::Program { dwords: 4 + 2 * body.qwords(), ..isa::Program::default() };
    program.clauses.push(isa::Clause { at: 2, body });
    program
}

fn group(slots: Vec<isa::AluSlot>) -> isa::AluGroup {
    let count = slots.len();
    let mut group = isa::AluGroup::default();
    for (at, slot) in slots.into_iter().enumerate() {
        group.slots.push(slot.with_last(at + 1 == count));
    }
    group
}

fn mov(from: isa::Src, to: u8) -> isa::AluSlot {
    isa::AluSlot::new(MOV).with_src(0, from).with_dst(isa::Dst::gpr(to, isa::Chan::X))
}

#[test]
fn pv_holds_what_the_group_before_left_and_nothing_else() {
    let first = group(vec![mov(isa::Src::gpr(1, isa::Chan::X), 0)]);
    let reads = |chan| group(vec![mov(isa::Src::plain(isa::Operand::Pv, chan), 0)]);
    assert!(legal(&isa::R700, &clause(vec![first.clone(), reads(isa::Chan::X)]), 2).is_ok());
    let stale = legal(&isa::R700, &clause(vec![first, reads(isa::Chan::Y)]), 2).unwrap_err();
    assert_eq!(stale.violation, Violation::Stale);
}

#[test]
fn registers_stay_below_the_declared_number() {
    let program = clause(vec![group(vec![mov(isa::Src::gpr(4, isa::Chan::X), 0)])]);
    assert!(legal(&isa::R700, &program, 5).is_ok());
    assert_eq!(legal(&isa::R700, &program, 4).unwrap_err().violation, Violation::Register);
}

#[test]
fn a_clause_has_128_slots() {
    let one = || group(vec![mov(isa::Src::gpr(1, isa::Chan::X), 0)]);
    let program = |n: usize| clause((0..n).map(|_| one()).collect());
    assert!(legal(&isa::R700, &program(128), 2).is_ok());
    assert_eq!(legal(&isa::R700, &program(129), 2).unwrap_err().violation, Violation::ClauseLength);
}

#[test]
fn two_slots_write_two_places() {
    let x = slot(MOV, 0, &[gpr(1, 0)]);
    let elsewhere = Slot { dst: Some(Dst::gpr(8, 0)), ..x };
    assert!(admit(&[(0, x), (4, elsewhere)]).is_ok());
    assert_eq!(admit(&[(0, x), (4, x)]).unwrap_err(), Violation::SamePlace);
}

#[test]
fn a_kill_stands_in_the_last_group_of_its_clause() {
    let kill = || {
        group(vec![
            isa::AluSlot::new(isa::AluOp::KILLE_INT)
                .with_src(0, isa::Src::gpr(1, isa::Chan::X))
                .with_src(1, isa::Src::gpr(1, isa::Chan::X))
                .with_dst(isa::Dst::masked(isa::Chan::X)),
        ])
    };
    let one = || group(vec![mov(isa::Src::gpr(1, isa::Chan::X), 0)]);
    assert!(legal(&isa::R700, &clause(vec![one(), kill()]), 2).is_ok());
    assert_eq!(
        legal(&isa::R700, &clause(vec![kill(), one()]), 2).unwrap_err().violation,
        Violation::KillNotLast
    );
}

#[test]
fn an_index_is_loaded_in_an_earlier_group() {
    let load = || {
        group(vec![
            isa::AluSlot::new(isa::AluOp::MOVA_INT)
                .with_src(0, isa::Src::gpr(1, isa::Chan::X))
                .with_dst(isa::Dst::masked(isa::Chan::X)),
        ])
    };
    let indexed = || {
        let source = isa::Src { rel: true, ..isa::Src::gpr(1, isa::Chan::X) };
        group(vec![mov(source, 0)])
    };
    assert!(legal(&isa::R700, &clause(vec![load(), indexed()]), 2).is_ok());
    assert_eq!(
        legal(&isa::R700, &clause(vec![indexed(), load()]), 2).unwrap_err().violation,
        Violation::NoAddress
    );
}

#[test]
fn constants_are_locked_by_the_instruction_that_starts_the_clause() {
    let read = |index| {
        let source = isa::Src::plain(isa::Operand::Kcache { set: 0, index }, isa::Chan::X);
        group(vec![mov(source, 0)])
    };
    let program = |index: u8, mode: u32| {
        let mut program = clause(vec![read(index)]);
        program.cf.push(isa::Cf {
            at: 0,
            inst: isa::Inst::new(isa::R700.cf_op(isa::CfOp::ALU))
                .with(isa::f::ADDR, 2)
                .with(isa::f::KCACHE_MODE0, mode),
            clause: Some(isa::ClauseId(0)),
        });
        program
    };
    assert!(legal(&isa::R700, &program(15, 1), 2).is_ok());
    assert!(legal(&isa::R700, &program(16, 2), 2).is_ok());
    for wrong in [program(0, 0), program(16, 1)] {
        assert_eq!(legal(&isa::R700, &wrong, 2).unwrap_err().violation, Violation::Unlocked);
    }
}

/// A double's slots from x on: each with its sources, writing its own channel.
fn double(op: isa::AluOp, sources: &[&[Operand]]) -> Vec<Slot> {
    let slots = sources.iter().zip(0..);
    slots.map(|(src, chan)| slot(op, chan, src)).collect()
}

#[test]
fn a_double_takes_two_slots_or_four_with_signs_and_scales_where_its_high_dwords_are() {
    let (high, low) = ([gpr(1, 1), gpr(2, 1)], [gpr(1, 0), gpr(2, 0)]);
    let place = |unit: usize, slots: &[Slot]| Group::default().admit_double(unit, slots);
    let sum = double(isa::AluOp::ADD_64, &[&high, &low]);
    assert!(place(0, &sum).is_ok());
    // A pair stands in x and y, or in z and w, and never alone.
    assert_eq!(place(1, &sum).unwrap_err(), Violation::Double);
    assert_eq!(place(0, &sum[..1]).unwrap_err(), Violation::Double);
    assert_eq!(Group::default().admit(0, &sum[0]).unwrap_err(), Violation::Double);
    // The other slots are free for others.
    let beside = place(0, &sum).unwrap().admit(2, &slot(MOV, 2, &[gpr(3, 2)]));
    assert!(beside.unwrap().admit_double(0, &sum).is_err());
    let negative = |operand: Operand| Operand { neg: true, ..operand };
    let minus_high = [gpr(1, 1), negative(gpr(2, 1))];
    let minus_low = [gpr(1, 0), negative(gpr(2, 0))];
    assert!(place(0, &double(isa::AluOp::ADD_64, &[&minus_high, &low])).is_ok());
    assert_eq!(
        place(0, &double(isa::AluOp::ADD_64, &[&high, &minus_low])).unwrap_err(),
        Violation::Double
    );
    let product = |third: &[Operand]| double(isa::AluOp::MUL_64, &[&high, &high, third, &low]);
    assert!(place(0, &product(&high)).is_ok());
    assert_eq!(place(0, &product(&low)).unwrap_err(), Violation::Double);
    let mut scaled = sum.clone();
    scaled[0].omod = 1;
    assert!(place(0, &scaled).is_ok());
    scaled[1].omod = 1;
    assert_eq!(place(0, &scaled).unwrap_err(), Violation::Double);
    // The two slots of a test are one test.
    let test = double(isa::AluOp::PRED_SETGT_64, &[&high, &low]);
    let group = place(0, &test).unwrap();
    let other = slot(PRED_SETE, 2, &[gpr(3, 2), gpr(3, 2)]);
    assert_eq!(group.admit(2, &other).unwrap_err(), Violation::Predicate);
}
