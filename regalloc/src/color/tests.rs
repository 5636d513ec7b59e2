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

/// A cell is asked again and again while a sweep goes on and registers are placed there: what was noted of it says what a
/// look at all stays says.
#[test]
fn what_is_noted_of_a_cell_is_what_its_stays_say() {
    let mut seed = 1u32;
    let mut below = move |end: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % end
    };
    let (mut steps, mut placed, mut refused) = (0, 0, 0);
    for _ in 0..200 {
        let mut cells = FileCells { busy: vec![0], next_stay: vec![0], ..FileCells::default() };
        let mut point = 0;
        for _ in 0..60 {
            point += below(3);
            let start = point + below(4);
            let end = start + 1 + below(9);
            let behind = end + 1 + below(3);
            let both = [Segment { start, end }, Segment { start: behind, end: behind + 2 }];
            let segments = &both[..1 + below(2) as usize];
            let mut unknown = cells.clone();
            (unknown.busy, unknown.next_stay) = (vec![0], vec![0]);
            let wanted = unknown.cell_free_until(0, segments, point, &mut steps);
            let found = cells.cell_free_until(0, segments, point, &mut steps);
            assert_eq!(found, wanted, "{segments:?} at {point}: {:?}", cells.tracks[0]);
            if found.is_none() {
                refused += 1;
            } else if below(3) > 0 {
                placed += 1;
                cells.next_stay[0] = cells.next_stay[0].min(start);
                let list = &mut cells.tracks[0].stays[below(2) as usize];
                let added = segments.iter();
                merge(list, added.map(|&Segment { start, end }| Stay { start, end, class: 0 }));
            }
        }
    }
    assert!(placed > 500 && refused > 500, "{placed} and {refused}");
}
