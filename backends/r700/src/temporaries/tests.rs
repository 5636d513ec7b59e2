use super::*;
use crate::api::Chip;
use crate::group::{Item, pack};
use crate::isa::AluOp;
use crate::slot::{Dst, Operand, Slot, cell};
use gpucc_ir::ssa::Span;

fn add(dst: u8, a: u8, b: u8) -> Item {
    let sources = [Operand::gpr(a, 0), Operand::gpr(b, 0)];
    let slot = Slot::new(AluOp::ADD, Some(Dst::gpr(dst, 0)), &sources);
    Item::one(slot, Span::NONE)
}

/// Destinations of a chain of sums after the pass, in order; `matters` are registers read behind.
fn after(items: &[Item], matters: &[u8], ranges: &[Range]) -> Vec<u8> {
    let mut clauses = pack(items, Chip::Rv770, 0, false).expect("sums fit");
    let mut live = Cells::NONE;
    for &gpr in matters {
        live.insert(cell(gpr, 0));
    }
    run(&mut clauses, live, ranges, 100);
    let groups = clauses.iter().flat_map(|clause| &clause.groups);
    groups
        .flat_map(|packed| packed.group.slots.iter().flatten())
        .filter_map(|slot| slot.dst)
        .map(|dst| dst.gpr)
        .collect()
}

#[test]
fn a_value_of_one_clause_moves_to_a_clause_temporary() {
    let items = [add(3, 0, 1), add(4, 3, 1)];
    assert_eq!(after(&items, &[4], &[]), [FIRST, 4]);
}

#[test]
fn what_matters_behind_the_clause_stays() {
    let items = [add(3, 0, 1), add(4, 3, 1)];
    assert_eq!(after(&items, &[3, 4], &[]), [3, 4]);
}

#[test]
fn an_element_that_may_be_read_by_index_stays() {
    let items = [add(3, 0, 1), add(4, 3, 1)];
    let array = Range { gpr: 2, chan: 0, count: 2 };
    assert_eq!(after(&items, &[4], &[array]), [3, 4]);
}

#[test]
fn values_whose_lives_overlap_get_different_temporaries_and_later_ones_get_them_again() {
    let items = [add(3, 0, 1), add(4, 3, 1), add(5, 3, 4), add(6, 5, 1), add(7, 6, 1)];
    let given = after(&items, &[7], &[]);
    assert_ne!(given[0], given[1]);
    assert!(given[..4].iter().all(|&gpr| gpr >= FIRST), "{given:?}");
    assert_eq!(given[4], 7);
}
