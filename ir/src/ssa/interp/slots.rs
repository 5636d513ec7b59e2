//! Where a value stands in the interpreter's store: by scope, so that values which are never alive
//! together share a place.

use crate::ssa::func::{Func, Region, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The row of each value that the body reaches, and how many rows there are.
pub(super) struct Slots {
    rows: SecondaryMap<Value, u32>,
    /// Rows needed.
    pub(super) count: usize,
}

impl Slots {
    /// A value is alive within its region alone, so sibling regions begin at the same row. The
    /// parameters of a loop's regions are given their values while the other region is executing:
    /// they stand with the loop's own results.
    pub(super) fn new(func: &Func) -> Slots {
        let mut slots = Slots { rows: SecondaryMap::new(), count: 0 };
        // A region that has two owners is none of ours; it just must not hold us up.
        let mut seen = EntitySet::with_capacity(func.regions.len());
        let mut stack: Vec<(Region, usize, u32)> = vec![(func.body, 0, 0)];
        while let Some((region, index, mut next)) = stack.pop() {
            if index == 0 && !seen.insert(region) {
                continue;
            }
            for (index, &inst) in func.regions[region].insts.iter().enumerate().skip(index) {
                let data = &func.insts[inst];
                let params = data.regions.iter().flat_map(|&inner| &func.regions[inner].params);
                for &value in data.results.iter().chain(params) {
                    slots.rows[value] = next;
                    next += 1;
                }
                slots.count = slots.count.max(next as usize);
                if !data.regions.is_empty() {
                    stack.push((region, index + 1, next));
                    stack.extend(data.regions.iter().map(|&inner| (inner, 0, next)));
                    break;
                }
            }
        }
        slots
    }

    /// The row of a value.
    pub(super) fn row(&self, value: Value) -> usize {
        self.rows[value] as usize
    }
}
