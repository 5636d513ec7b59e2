//! Where a value stands in the interpreter's store: by scope, so that values which are never alive
//! together share a place.

use crate::Set;
use crate::ssa::func::{Func, Imm, Region, Value};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The row of each value that the body reaches, and how many rows there are.
pub(super) struct Slots {
    rows: SecondaryMap<Value, u32>,
    /// Rows needed.
    pub(super) count: usize,
    /// The bits of the last rows, which constants share.
    pub(super) constants: Set<u64>,
}

/// Distinct constants that have rows of their own, filled once. Further ones are computed where they stand, which
/// bounds the store.
const MOST_CONSTANTS: usize = 1024;

impl Slots {
    /// A value is alive within its region alone, so sibling regions begin at the same row. The
    /// parameters of a loop's regions are given their values while the other region is executing:
    /// they stand with the loop's own results.
    pub(super) fn new(func: &Func) -> Slots {
        let mut slots = Slots { rows: SecondaryMap::new(), count: 0, constants: Set::default() };
        let mut shared: Vec<(Value, u32)> = Vec::new();
        // A region that has two owners is none of ours; it just must not hold us up.
        let mut seen = EntitySet::with_capacity(func.regions.len());
        let mut stack: Vec<(Region, usize, u32)> = vec![(func.body, 0, 0)];
        while let Some((region, index, mut next)) = stack.pop() {
            if index == 0 && !seen.insert(region) {
                continue;
            }
            for (index, &inst) in func.regions[region].insts.iter().enumerate().skip(index) {
                let data = &func.insts[inst];
                if let (Imm::Bits(bits), &[value]) = (&data.imm, data.results.as_slice()) {
                    let constants = &mut slots.constants;
                    let number = match constants.len() < MOST_CONSTANTS {
                        true => Some(constants.insert_full(*bits).0),
                        false => constants.get_index_of(bits),
                    };
                    if let Some(number) = number {
                        shared.push((value, number as u32));
                        continue;
                    }
                }
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
        for (value, number) in shared {
            slots.rows[value] = slots.count as u32 + number;
        }
        slots.count += slots.constants.len();
        slots
    }

    /// The first of the rows that constants share.
    pub(super) fn first_constant(&self) -> usize {
        self.count - self.constants.len()
    }

    /// The row of a value.
    pub(super) fn row(&self, value: Value) -> usize {
        self.rows[value] as usize
    }
}
