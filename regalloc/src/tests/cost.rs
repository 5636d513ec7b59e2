//! What allocation costs: rows, spills and copies of many random programs, which no change may raise unnoticed.

use super::generate::{Taste, generate};
use super::{Plainly, options};
use crate::{Policy, allocate};

/// Totals over programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    /// Programs that fit.
    fit: u32,
    /// Rows used of all files.
    rows: u32,
    /// Registers spilled, and recomputed.
    spilled: u32,
    recomputed: u32,
    /// Copies that the allocator inserted.
    inserted: u32,
    /// Copies of the program that are left.
    removed: u32,
}

fn totals(taste: Taste, rows: [u16; 3], policy: Policy) -> Totals {
    let mut totals = Totals::default();
    for seed in 0..120 {
        let mut func = generate(1000 + seed, taste);
        let mut target = Plainly { can_swap: seed % 2 == 0 };
        let Ok(result) = allocate(&mut func, &mut target, &options(rows, policy)) else {
            continue;
        };
        totals.fit += 1;
        totals.rows += result.rows_used.iter().map(|&rows| u32::from(rows)).sum::<u32>();
        totals.spilled += result.spilled;
        totals.recomputed += result.recomputed;
        totals.inserted += result.copies_inserted;
        totals.removed += result.copies_removed;
    }
    totals
}

/// A taste, rows, a policy, and what was reached before: fewer (or more that fit and vanish) are welcome, and are then
/// noted here.
type Row = (Taste, [u16; 3], Policy, [u32; 6]);

fn no_dearer(rows: &[Row]) {
    let mut wrong = Vec::new();
    for &(taste, available, policy, noted) in rows {
        let now = totals(taste, available, policy);
        let [fit, rows, spilled, recomputed, inserted, removed] = noted;
        let holds = now.fit >= fit
            && now.rows <= rows
            && now.spilled <= spilled
            && now.recomputed <= recomputed
            && now.inserted <= inserted
            && now.removed >= removed;
        if !holds {
            wrong.push(format!("{available:?} {policy:?}: {now:?}, but {noted:?} was noted"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const RICH: Taste = Taste { size: 100, depth: 3, scalar_only: false };
const SCALAR: Taste = Taste { scalar_only: true, ..RICH };
const COMPACT: Policy = Policy::Compact { free_rows: 1 };

#[test]
fn with_room_programs_take_no_more_rows_and_copies_than_was_noted() {
    no_dearer(&[
        (RICH, [128, 64, 32], COMPACT, [120, 1676, 6, 0, 2041, 797]),
        (RICH, [128, 64, 32], Policy::Tight, [120, 2457, 6, 0, 2041, 797]),
        (SCALAR, [128, 64, 32], Policy::Tight, [120, 729, 0, 0, 0, 891]),
    ]);
}

#[test]
fn without_room_programs_spill_no_more_than_was_noted() {
    no_dearer(&[
        (SCALAR, [3, 8, 8], COMPACT, [118, 354, 1807, 182, 0, 4131]),
        (SCALAR, [5, 8, 8], Policy::Tight, [120, 585, 677, 77, 0, 1828]),
        (RICH, [10, 4, 5], COMPACT, [120, 1542, 308, 14, 1837, 1326]),
        (RICH, [14, 5, 6], Policy::Tight, [120, 2142, 68, 5, 1987, 934]),
    ]);
}
