use super::*;
use crate::isa::R700;
use crate::slot::cell;
use gpucc_ir::ssa::Span;

fn item(op: AluOp, (gpr, chan): (u8, u8), sources: &[(u8, u8)]) -> Item {
    let sources: Vec<Operand> = sources.iter().map(|&(g, c)| Operand::gpr(g, c)).collect();
    Item::one(Slot::new(op, Some(Dst::gpr(gpr, chan)), &sources), Span::NONE)
}

fn mov(dst: (u8, u8), source: (u8, u8)) -> Item {
    item(AluOp::MOV, dst, &[source])
}

fn add(dst: (u8, u8), a: (u8, u8), b: (u8, u8)) -> Item {
    item(AluOp::ADD, dst, &[a, b])
}

fn live(cells: &[(u8, u8)]) -> Cells {
    let mut live = Cells::NONE;
    for &(gpr, chan) in cells {
        live.insert(cell(gpr, chan));
    }
    live
}

/// What is left: operation, destination, registers read.
type Left = (AluOp, (u8, u8), Vec<(u8, u8)>);

fn after(mut items: Vec<Item>, matters: &[(u8, u8)]) -> Vec<Left> {
    run(&mut items, &live(matters), &R700);
    let left = |item: &Item| {
        let slot = item.slots()[0];
        let read = |source: &Operand| match source.read {
            Read::Gpr { gpr, chan, .. } => (gpr, chan),
            other => panic!("{other:?} is no register"),
        };
        let dst = slot.dst.expect("it writes");
        let sources = slot.sources().iter().map(read).collect();
        (slot.op, (dst.gpr, dst.chan), sources)
    };
    items.iter().map(left).collect()
}

const A: (u8, u8) = (1, 0);
const B: (u8, u8) = (2, 1);
const C: (u8, u8) = (3, 2);
const D: (u8, u8) = (4, 3);

#[test]
fn who_made_a_value_that_is_only_moved_writes_where_it_was_moved_to() {
    let left = after(vec![add(C, A, B), mov(D, C)], &[D]);
    assert_eq!(left, [(AluOp::ADD, D, vec![A, B])]);
}

#[test]
fn who_reads_a_move_reads_its_source_and_the_move_goes() {
    let left = after(vec![mov(C, A), add(D, C, B)], &[A, D]);
    assert_eq!(left, [(AluOp::ADD, D, vec![A, B])]);
}

#[test]
fn a_move_whose_result_matters_behind_stays() {
    let left = after(vec![mov(C, A), add(D, C, B)], &[A, C, D]);
    assert_eq!(left, [(AluOp::MOV, C, vec![A]), (AluOp::ADD, D, vec![A, B])]);
}

#[test]
fn what_was_overwritten_since_is_not_read_in_place_of_its_copy() {
    let left = after(vec![mov(C, A), add(A, B, B), add(D, C, A)], &[A, D]);
    assert_eq!(left[0], (AluOp::MOV, C, vec![A]));
    assert_eq!(left[2], (AluOp::ADD, D, vec![C, A]));
}

#[test]
fn an_element_that_a_store_by_index_may_have_changed_is_not_read_in_place_of_its_copy() {
    let mut store = mov((A.0, A.1), B);
    let crate::group::Work::One(slot) = &mut store.work else {
        panic!("a move is one slot");
    };
    slot.dst = slot.dst.map(|dst| Dst { rel: true, ..dst });
    store.range = Some(crate::group::Range { gpr: A.0, chan: A.1, count: 2 });
    let left = after(vec![mov(C, A), store, add(D, C, B)], &[D]);
    assert_eq!(left[2], (AluOp::ADD, D, vec![C, B]));
}
