//! What barriers cut: the phases of a program, what lives from one to another, and where invocations may part around barriers.

use crate::limits;
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::driver::Failure;
use gpucc_ir::ssa::{self, Func, Imm, MemSpace, Op, Region, Value};
use gpucc_passes::uniformity::Uniformity;

/// What is known of the phases of a program with barriers.
pub struct Phases {
    /// Instructions around barriers: barriers themselves, and what owns a region with one.
    pub around: EntitySet<ssa::Inst>,
    /// Those of them whose regions not all invocations may run together: each has a mask of its own.
    pub masked: EntitySet<ssa::Inst>,
    /// The phase of each other instruction; 0 for none.
    phase: SecondaryMap<ssa::Inst, u32>,
    /// Values that another phase reads than the one that makes them, by first byte in scratch.
    pub cells: SecondaryMap<Value, Option<u32>>,
}

impl Phases {
    /// The phases of a function; none without a barrier.
    pub fn of(func: &Func) -> Option<Phases> {
        let mut around = EntitySet::new();
        let regions: Vec<_> = func.regions_in_order().into_iter().collect();
        // Inner regions stand behind outer ones.
        for &(region, ..) in regions.iter().rev() {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                let inside = |&region: &Region| {
                    func.regions[region].insts.iter().any(|&inst| around.contains(inst))
                };
                if data.op == Op::Barrier || data.regions.iter().any(inside) {
                    around.insert(inst);
                }
            }
        }
        around.keys().next()?;
        mark_leavers(func, &regions, &mut around);
        let mut phases = Phases {
            around,
            masked: EntitySet::new(),
            phase: SecondaryMap::new(),
            cells: SecondaryMap::new(),
        };
        phases.number(func);
        phases.mask(func, &regions);
        Some(phases)
    }

    /// Numbers the phases; inner instructions are of the phase of what owns them.
    fn number(&mut self, func: &Func) {
        let mut count = 0;
        let mut of_region: SecondaryMap<Region, u32> = SecondaryMap::new();
        for (region, ..) in func.regions_in_order() {
            let inherited = of_region[region];
            let mut current = 0;
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                if inherited != 0 {
                    self.phase[inst] = inherited;
                } else if self.around.contains(inst) || data.op.is_terminator() {
                    current = 0;
                    continue;
                } else {
                    if current == 0 {
                        count += 1;
                        current = count;
                    }
                    self.phase[inst] = current;
                }
                for &inner in &data.regions {
                    of_region[inner] = self.phase[inst];
                }
            }
        }
    }

    /// Finds the constructs around barriers whose invocations may part. What a phase reads of workgroup memory is the same for
    /// all of them where the phase writes none, since no phase is begun before all have run the one before it.
    fn mask(&mut self, func: &Func, regions: &[(Region, Option<ssa::Inst>, u32)]) {
        let of_group = |inst: ssa::Inst| match func.insts[inst].imm {
            Imm::Mem(access) | Imm::MemAtomic(access, _) => {
                func.mems[access.mem].space == MemSpace::Workgroup
            }
            _ => false,
        };
        let mut written: Vec<u32> = Vec::new();
        for &(region, ..) in regions {
            for &inst in &func.regions[region].insts {
                if matches!(func.insts[inst].op, Op::MemStore | Op::MemAtomic) && of_group(inst) {
                    written.push(self.phase[inst]);
                }
            }
        }
        written.sort_unstable();
        let settled = |inst: ssa::Inst| {
            func.insts[inst].op == Op::MemLoad
                && of_group(inst)
                && written.binary_search(&self.phase[inst]).is_err()
        };
        let uniformity = Uniformity::of_group(func, settled);
        for inst in self.around.keys() {
            if func.insts[inst].regions.iter().any(|&region| uniformity.is_divergent(region)) {
                self.masked.insert(inst);
            }
        }
    }

    /// Gives a cell to each value that is read elsewhere than in the phase that makes it; the end of the cells.
    pub fn place(&mut self, func: &Func, first: u32, bytes: u32) -> Result<u32, Failure> {
        let mut made: SecondaryMap<Value, u32> = SecondaryMap::new();
        let mut end = u64::from(first);
        let mut take = |cells: &mut SecondaryMap<Value, Option<u32>>, value| {
            if cells[value].is_none() {
                cells[value] = Some(end as u32);
                end += u64::from(bytes);
                limits::MEMORY.admit(end)?;
            }
            Ok::<(), Failure>(())
        };
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                let data = &func.insts[inst];
                let phase = self.phase[inst];
                for &value in &data.results {
                    made[value] = phase;
                    if phase == 0 {
                        take(&mut self.cells, value)?;
                    }
                }
                for &inner in &data.regions {
                    for &value in &func.regions[inner].params {
                        made[value] = phase;
                        if phase == 0 {
                            take(&mut self.cells, value)?;
                        }
                    }
                }
            }
        }
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                for &value in &func.insts[inst].args {
                    let elsewhere = made[value] != self.phase[inst] || self.phase[inst] == 0;
                    if elsewhere && func.as_const(value).is_none() {
                        take(&mut self.cells, value)?;
                    }
                }
            }
        }
        Ok(end as u32)
    }
}

/// What leaves a loop around a barrier, or goes on with it, runs once for the group: a condition around such a leaver is
/// around barriers too. `regions`: outer ones first.
fn mark_leavers(
    func: &Func,
    regions: &[(Region, Option<ssa::Inst>, u32)],
    around: &mut EntitySet<ssa::Inst>,
) {
    let owns = |op: Op| matches!(op, Op::If | Op::Block);
    let mut leaves: EntitySet<Region> = EntitySet::new();
    for &(region, ..) in regions.iter().rev() {
        let left = func.regions[region].insts.iter().any(|&inst| {
            let data = &func.insts[inst];
            let inner = || data.regions.iter().any(|&inner| leaves.contains(inner));
            matches!(data.op, Op::Break | Op::Continue) || owns(data.op) && inner()
        });
        if left {
            leaves.insert(region);
        }
    }
    let loops = around.keys().filter(|&inst| func.insts[inst].op == Op::Loop);
    let mut todo: Vec<Region> = loops.flat_map(|inst| func.insts[inst].regions.clone()).collect();
    while let Some(region) = todo.pop() {
        for &inst in &func.regions[region].insts {
            let data = &func.insts[inst];
            let inner = data.regions.iter().any(|&inner| leaves.contains(inner));
            if owns(data.op) && (inner || around.contains(inst)) {
                around.insert(inst);
                todo.extend(&data.regions);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Phases;
    use gpucc_ir::ssa::{Op, parse};

    /// How many conditions around barriers have masks, where `%4` decides one.
    fn masked(condition: &str) -> usize {
        let text = format!(
            "func \"main\" compute workgroup 64 1 1 {{
              res0 = \"words\" group 0 binding 0 storage 0 stride 4 load store as u32
              res1 = \"told\" group 0 binding 1 storage 0 stride 4 load as u32
              in0 = \"own\" u32 x 1 builtin local_invocation_index
              in1 = \"group\" u32 x 3 builtin workgroup_id
              mem0 = \"shared\" workgroup 256
            }} body {{
              %0: b32 = const 0
              %1: b32 = input in0.0
              %2: b32 = input in1.0
              {condition}
              %4: b1 = ieq %3, %0
              if %4 {{
                barrier workgroup
                yield
              }} else {{ yield }}
              yield
            }}"
        );
        let func = parse(&text).expect("text of the IR").funcs.remove(0);
        let phases = Phases::of(&func).expect("a barrier");
        let ifs = |&inst: &_| func.insts[inst].op == Op::If;
        phases.masked.keys().filter(ifs).count()
    }

    #[test]
    fn conditions_are_masked_that_may_differ_in_the_group() {
        assert_eq!(masked("%3: b32 = iadd %2, %2"), 0);
        assert_eq!(masked("%3: b32 = iadd %2, %1"), 1);
        assert_eq!(masked("%3: b32 = buffer_load res1, %2"), 0);
        assert_eq!(masked("%3: b32 = buffer_load res0, %2"), 1);
    }

    /// A load of workgroup memory between two barriers is the same for all; one beside a store, or at addresses that differ,
    /// may not be.
    #[test]
    fn what_a_phase_reads_and_does_not_write_is_settled() {
        let load = "%3: b32 = mem_load mem0[0..256], %2";
        let store = "mem_store mem0[0..256], %1, %1";
        assert_eq!(masked(&format!("{store}\nbarrier workgroup\n{load}")), 0);
        assert_eq!(masked(&format!("{store}\n{load}")), 1);
        assert_eq!(masked("barrier workgroup\n%3: b32 = mem_load mem0[0..256], %1"), 1);
    }
}
