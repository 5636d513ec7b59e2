//! Parts of the colouring by themselves.

use super::*;

fn stays(starts: &[u32]) -> Vec<Stay> {
    starts.iter().map(|&start| Stay { start, end: start + 2, class: 0 }).collect()
}

#[test]
fn stays_are_merged_in_the_order_of_their_beginnings() {
    let cases: [(&[u32], &[u32]); 6] = [
        (&[], &[]),
        (&[], &[4, 8]),
        (&[4, 8], &[]),
        (&[0, 8, 16], &[4, 12, 20]),
        (&[8, 12], &[0, 4]),
        (&[0, 4], &[8, 12]),
    ];
    for (old, added) in cases {
        let mut list = stays(old);
        merge(&mut list, stays(added).into_iter());
        let mut wanted = [old, added].concat();
        wanted.sort_unstable();
        let found: Vec<u32> = list.iter().map(|stay| stay.start).collect();
        assert_eq!(found, wanted);
        assert!(list.iter().all(|stay| stay.end == stay.start + 2 && stay.class == 0));
    }
}

#[test]
fn the_mask_of_cells_says_what_each_cell_says() {
    let busy = (0..100u32).map(|cell| cell * 37 % 11).collect();
    let cells = FileCells { busy, ..FileCells::default() };
    for (first, start, point) in [(0, 5, 5), (0, 5, 6), (64, 3, 1), (70, 0, 0), (130, 5, 5)] {
        let mask = cells.not_busy(first, start, point);
        for bit in 0..64 {
            let busy = cells.is_busy(first + bit, start, point);
            assert_eq!(mask >> bit & 1 == 0, busy, "cell {}", first + bit);
        }
    }
}
