//! Whether two bindings would share an entry of a table: the pipeline may name the place of one that another one has.

use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{Func, Resource};

/// The entries that a binding takes in one of the machine's tables.
pub struct Taken {
    /// The binding.
    pub resource: Resource,
    /// What the table holds, in the plural.
    pub table: &'static str,
    /// Its first entry.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// That no two bindings share an entry.
///
/// # Errors
/// [`Failure::Shared`], with both bindings and the entry.
pub fn apart(func: &Func, taken: impl IntoIterator<Item = Taken>) -> Result<(), Failure> {
    let binding = |resource| {
        let data = &func.resources[resource];
        (data.group, data.binding)
    };
    let mut taken: Vec<_> = taken
        .into_iter()
        .map(|place| (place.table, place.first, binding(place.resource), place.count))
        .collect();
    taken.sort();
    for pair in taken.windows(2) {
        let [(table, first, one, count), (other_table, entry, other, _)] = *pair else {
            continue;
        };
        if table == other_table && entry < first.saturating_add(count.max(1)) {
            return Err(Failure::Shared { bindings: [one, other], entry, table });
        }
    }
    Ok(())
}
