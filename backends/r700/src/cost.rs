//! What a program costs, and below what no schedule of its operations can go.
//!
//! An ALU group issues in 4 clocks, whatever it holds; a fetch and a row of an export or of a write to memory take 16 each
//! (isa/r700.md 6: four fetch units for 64 lanes). Every block counts once: a wavefront runs both arms
//! where its lanes part, and nobody knows how often a loop goes round.
//!
//! The bound of a run of ALU work between control flow is the most of what its resources and its
//! longest chain of results ask for. A run's groups are at least that many, so the sum over runs is at
//! most the program's.

use crate::api::{Chip, Stats};
use crate::group::Item;
use crate::isa::{AluOp, Isa};
use crate::op::{self, Units};
use crate::slot::Read;
use std::collections::BTreeSet;

/// Clocks of a group.
pub const GROUP: u32 = 4;
/// Clocks of a fetch and of an exported row.
pub const ROW: u32 = 16;

/// Groups that any schedule of these operations has.
pub fn least_groups(items: &[Item], isa: &'static Isa) -> u32 {
    let (mut slots, mut trans, mut vector, mut reductions) = (0u32, 0u32, 0u32, 0u32);
    let mut literals: BTreeSet<u32> = BTreeSet::new();
    let mut pairs: BTreeSet<(u8, u16, u8)> = BTreeSet::new();
    // The first group after the one that leaves each cell's value; then of AR.
    let mut ready = [0u32; 513];
    let mut chain = 0;
    for item in items {
        let op = item.slots()[0].op;
        slots += item.slots().len() as u32;
        match op::units(isa, op) {
            Units::Trans => trans += 1,
            Units::Vector => vector += 1,
            Units::Reduction | Units::Quad => reductions += 1,
            Units::Pair => vector += 2,
            Units::Any => {}
        }
        let mut start = 0;
        for source in item.slots().iter().flat_map(|slot| slot.sources()) {
            match source.read {
                Read::Literal(bits) => {
                    literals.insert(bits);
                }
                Read::Kcache { buffer, index, chan } => {
                    pairs.insert((buffer, index, chan / 2));
                }
                Read::Gpr { .. } | Read::Inline(_) | Read::Pv(_) | Read::Ps => {}
            }
            if let Some(cell) = source.read.cell() {
                start = start.max(ready[usize::from(cell)]);
            }
        }
        if item.range.is_some() {
            start = start.max(ready[512]);
        }
        chain = chain.max(start + 1);
        for cell in item.slots().iter().filter_map(|slot| slot.dst?.cell()) {
            ready[usize::from(cell)] = start + 1;
        }
        if op == AluOp::MOVA_INT {
            ready[512] = start + 1;
        }
    }
    [
        slots.div_ceil(5),
        trans,
        reductions + vector.div_ceil(4),
        (literals.len() as u32).div_ceil(4),
        (pairs.len() as u32).div_ceil(2),
        chain,
    ]
    .into_iter()
    .max()
    .unwrap_or(0)
}

/// Fills in clocks, bound and occupancy; `least` is the sum of [`least_groups`].
pub fn fill(stats: &mut Stats, least: u32, chip: Chip) {
    let rows = stats.tex_instructions + stats.vtx_instructions + out(stats);
    stats.cycles = f64::from(GROUP * stats.alu_groups + ROW * rows);
    stats.alu_groups_lower_bound = least;
    stats.cycles_lower_bound = f64::from(GROUP * least + ROW * rows);
    // Two sets of four rows are clause temporaries.
    let waves = ((chip.register_rows() - 8) / stats.gprs.max(1)).min(31);
    stats.occupancy = f64::from(waves) / 31.0;
}

/// Rows that leave the registers: to export buffers and to memory.
const fn out(stats: &Stats) -> u32 {
    stats.exports + stats.memory_rows
}

/// The unit with the most clocks.
pub fn bound_unit(stats: &Stats) -> &'static str {
    let fetch = ROW * (stats.tex_instructions + stats.vtx_instructions);
    let units = [(GROUP * stats.alu_groups, "alu"), (fetch, "fetch"), (ROW * out(stats), "export")];
    // The first of equals.
    let most = units.iter().map(|unit| unit.0).max().unwrap_or(0);
    units.iter().find(|unit| unit.0 == most).map_or("alu", |unit| unit.1)
}
