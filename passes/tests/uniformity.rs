//! What the analysis calls uniform is uniform whenever it is executed, in every random program.

use crate::common::Numbers;
use gpucc_ir::ssa::interp::{self, Lanes, Trace};
use gpucc_ir::ssa::random::{Config, program};
use gpucc_ir::ssa::{Flags, Func, Inst, Numerics, Region};
use gpucc_passes::uniformity::Uniformity;

struct Check {
    uniformity: Uniformity,
    regions: Vec<Option<Region>>,
    lanes: usize,
    uniform: usize,
    varying: usize,
    wrong: Option<String>,
}

impl Trace for Check {
    fn executed(
        &mut self,
        func: &Func,
        inst: Inst,
        lanes: &[usize],
        value: &dyn Fn(usize, usize) -> u64,
    ) {
        if lanes.is_empty() {
            return;
        }
        let data = &func.insts[inst];
        let region = self.regions[inst.as_u32() as usize].expect("a reached instruction");
        if !self.uniformity.is_divergent(region) && lanes.len() != self.lanes {
            self.wrong.get_or_insert(format!(
                "{inst} {} misses lanes: {} of {}",
                data.op.name(),
                lanes.len(),
                self.lanes
            ));
        }
        if data.flags().has(Flags::REGIONS) {
            return;
        }
        for (index, &result) in data.results.iter().enumerate() {
            if !self.uniformity.is_uniform(result) {
                self.varying += 1;
                continue;
            }
            self.uniform += 1;
            let first = value(lanes[0], index);
            if lanes.iter().any(|&lane| value(lane, index) != first) {
                self.wrong.get_or_insert(format!("{inst} ({}) varies", data.op.name()));
            }
        }
    }
}

#[test]
fn uniform_values_are_the_same_in_all_lanes() {
    let (mut uniform, mut varying) = (0, 0);
    for seed in 0..200 {
        let config = Config { depth: 5, size: 150, ..Config::COMPUTE };
        let func = program(seed, &config);
        let mut regions = vec![None; func.insts.len()];
        for (region, ..) in func.regions_in_order() {
            for &inst in &func.regions[region].insts {
                regions[inst.as_u32() as usize] = Some(region);
            }
        }
        let lanes = Lanes::compute(&func, [1, 1, 1], 0, 1);
        let mut check = Check {
            uniformity: Uniformity::of(&func),
            regions,
            lanes: lanes.count,
            uniform: 0,
            varying: 0,
            wrong: None,
        };
        let numerics = Numerics::REFERENCE;
        let options = interp::Options {
            steps: 100_000,
            trace: Some(&mut check),
            ..interp::Options::new(&numerics)
        };
        let _ = interp::run(&func, &lanes, &mut Numbers::new(seed), options);
        assert_eq!(check.wrong, None, "seed {seed}\n{func}");
        uniform += check.uniform;
        varying += check.varying;
    }
    // Neither everything nor nothing.
    assert!(uniform > 1000 && varying > 1000, "{uniform} uniform, {varying} varying");
}
