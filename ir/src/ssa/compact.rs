//! Copies of functions without what passes left behind.

use super::func::{Func, Imm, Inst, InstData, Region, RegionData, Value, ValueData, ValueDef};
use super::op::Op;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use smallvec::SmallVec;

/// A function on its way into another one.
struct Compaction {
    /// By value of the old function: that of the new one.
    values: Vec<PackedOption<Value>>,
    /// By block of the old function: that of the new one.
    blocks: SecondaryMap<Inst, PackedOption<Inst>>,
}

impl Compaction {
    fn value(&self, value: Value) -> Value {
        self.values[value.index()].expect("it is defined before it is used")
    }

    /// An empty region with the parameters of one.
    fn region(&mut self, from: &Func, region: Region, to: &mut Func) -> Region {
        let data = &from.regions[region];
        let copied = to.regions.push(RegionData {
            params: SmallVec::with_capacity(data.params.len()),
            insts: Vec::with_capacity(data.insts.len()),
        });
        for &param in &data.params {
            let value = to.add_param(copied, from.values[param].ty);
            self.values[param.index()] = value.into();
        }
        copied
    }

    fn inst(&mut self, from: &Func, inst: Inst, to: &mut Func) -> Inst {
        let data = &from.insts[inst];
        let imm = match data.imm {
            Imm::Label(block) => {
                Imm::Label(self.blocks[block].expect("an exit stands in the block that it leaves"))
            }
            imm => imm,
        };
        let mut new = InstData::new(data.op, imm, &[], data.span);
        new.bundle = data.bundle;
        new.args.extend(data.args.iter().map(|&arg| self.value(arg)));
        new.regions = data.regions.iter().map(|&region| self.region(from, region, to)).collect();
        let copied = to.insts.next_key();
        for (index, &result) in data.results.iter().enumerate() {
            let def = ValueDef::Result(copied, index as u16);
            let value = to.values.push(ValueData { ty: from.values[result].ty, def });
            self.values[result.index()] = value.into();
            new.results.push(value);
        }
        if data.op == Op::Block {
            self.blocks[inst] = copied.into();
        }
        to.insts.push(new)
    }
}

impl Func {
    /// The same function without what its body does not reach, in the order of the program: what passes left behind costs
    /// every later walk room in its caches. It has room for further instructions, as [`Func::with_room`] gives.
    ///
    /// # Panics
    /// On a function that [`crate::ssa::verify`] does not admit.
    pub fn compacted(&self) -> Func {
        let room = |count: usize| count + count / 2 + 16;
        let live = self.live_insts();
        let mut new = Func {
            name: self.name.clone(),
            values: PrimaryMap::with_capacity(room(live)),
            insts: PrimaryMap::with_capacity(room(live)),
            regions: PrimaryMap::with_capacity(self.regions.len()),
            mems: self.mems.clone(),
            resources: self.resources.clone(),
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            ..*self
        };
        let mut copy = Compaction {
            values: vec![None.into(); self.values.len()],
            blocks: SecondaryMap::new(),
        };
        new.body = copy.region(self, self.body, &mut new);
        // Regions that are not copied to their ends: which, its copy, and the place of the next instruction.
        let mut open = vec![(self.body, new.body, 0)];
        while let Some((from, to, place)) = open.pop() {
            for (at, &inst) in self.regions[from].insts.iter().enumerate().skip(place) {
                let copied = copy.inst(self, inst, &mut new);
                new.regions[to].insts.push(copied);
                let inner = &self.insts[inst].regions;
                if !inner.is_empty() {
                    open.push((from, to, at + 1));
                    let regions = inner.iter().zip(&new.insts[copied].regions).rev();
                    open.extend(regions.map(|(&from, &to)| (from, to, 0)));
                    break;
                }
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use crate::ssa::random::{self, Config};
    use crate::ssa::{Op, verify};

    #[test]
    fn a_compacted_function_says_the_same_without_what_is_dead() {
        let mut exits = 0;
        for seed in 0..300 {
            let config = if seed % 2 == 0 { &Config::COMPUTE } else { &Config::FRAGMENT };
            let mut func = random::program(seed, config);
            // What nobody reaches.
            let text = func.to_string();
            let dead = func.insts.values().next().expect("there is one").clone();
            func.new_inst(dead, &[]);
            func.new_region();
            let compacted = func.compacted();
            assert_eq!(compacted.to_string(), text, "seed {seed}");
            verify(&compacted).expect("it is sound");
            assert_eq!(compacted.insts.len(), func.live_insts());
            assert!(compacted.insts.len() < func.insts.len());
            assert!(compacted.regions.len() < func.regions.len());
            // In the order of the program.
            for data in compacted.regions.values() {
                assert!(data.insts.is_sorted());
            }
            exits += compacted.insts.values().filter(|data| data.op == Op::Exit).count();
        }
        assert!(exits > 20, "{exits}");
    }
}
