//! Random structured programs in machine form, on a mask-stack machine.

use super::{A, FILES, R, T};
use gpucc_ir::mach::plain::Plain;
use gpucc_ir::mach::{Block, Cell, Demand, Edges, Func, Operand, Phases, Reg, Relation, VReg};
use gpucc_ir::ssa::Span;

pub(crate) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// What to generate.
#[derive(Copy, Clone)]
pub(crate) struct Taste {
    pub size: u64,
    pub depth: u32,
    /// Without runs, rows and uniform registers: only what fits any budget.
    pub scalar_only: bool,
}

pub(crate) struct Generator {
    pub func: Func<Plain>,
    random: Random,
    block: Block,
    /// Values in scope, per file.
    lanes: Vec<VReg>,
    uniforms: Vec<VReg>,
    pairs: Vec<VReg>,
    arrays: Vec<VReg>,
    taste: Taste,
    /// Exit block of the loop around, with the results a break writes.
    exits: Vec<(Block, Vec<VReg>)>,
    budget: u64,
}

/// A random function.
pub(crate) fn generate(seed: u64, taste: Taste) -> Func<Plain> {
    let mut func = Func::new("random", FILES);
    let block = func.push_block();
    let mut generator = Generator {
        func,
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        block,
        lanes: Vec::new(),
        uniforms: Vec::new(),
        pairs: Vec::new(),
        arrays: Vec::new(),
        taste,
        exits: Vec::new(),
        budget: taste.size,
    };
    generator.inputs();
    generator.sequence(taste.depth);
    let live: Vec<VReg> = generator.lanes.iter().rev().take(6).copied().collect();
    for v in live {
        generator.push("sink", vec![Operand::use_of(v)]);
    }
    generator.push("end", vec![]);
    generator.func
}

impl Generator {
    fn push(&mut self, name: &str, operands: Vec<Operand>) {
        self.func.push(
            self.block,
            Plain { name: name.into(), operands, numbers: vec![] },
            Span::NONE,
        );
    }

    fn numbered(&mut self, name: &str, operands: Vec<Operand>, number: u32) {
        self.func.push(
            self.block,
            Plain { name: name.into(), operands, numbers: vec![number] },
            Span::NONE,
        );
    }

    fn scalar(&mut self) -> VReg {
        self.func.make_vreg(Demand::scalar(R), Span::NONE)
    }

    fn pick(&mut self) -> VReg {
        // Mostly recent values, sometimes old ones.
        let count = self.lanes.len() as u64;
        let back = if self.random.chance(70) {
            self.random.below(count.min(8))
        } else {
            self.random.below(count.min(48))
        };
        self.lanes[(count - 1 - back) as usize]
    }

    fn inputs(&mut self) {
        let mut operands = Vec::new();
        for k in 0..4u16 {
            let v = self.scalar();
            operands.push(Operand::def_of(v).with(Relation::Fixed(Cell { file: R, index: k })));
            self.lanes.push(v);
        }
        self.push("inputs", operands);
        if !self.taste.scalar_only {
            let v = self.func.make_vreg(Demand::scalar(A), Span::NONE);
            self.push("uniform", vec![Operand::def_of(v)]);
            self.uniforms.push(v);
        }
    }

    fn sequence(&mut self, depth: u32) {
        let (lanes, uniforms, pairs, arrays) =
            (self.lanes.len(), self.uniforms.len(), self.pairs.len(), self.arrays.len());
        let length = 2 + self.random.below(12);
        for _ in 0..length {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            let what = self.random.below(100);
            if depth > 0 && what < 10 {
                self.branch(depth - 1);
            } else if depth > 0 && what < 17 {
                self.repeat(depth - 1);
            } else if what < 20 && !self.exits.is_empty() {
                self.leave();
            } else if self.taste.scalar_only {
                self.plain_op();
            } else {
                self.op(what);
            }
        }
        if depth < self.taste.depth {
            self.lanes.truncate(lanes);
            self.uniforms.truncate(uniforms);
            self.pairs.truncate(pairs);
            self.arrays.truncate(arrays);
        } else if self.budget > 0 {
            self.sequence(depth);
        }
    }

    fn plain_op(&mut self) {
        if self.random.chance(15) {
            let to = self.scalar();
            let number = self.random.below(1000) as u32;
            self.numbered("const", vec![Operand::def_of(to)], number);
            self.lanes.push(to);
            return;
        }
        let mut operands: Vec<Operand> =
            (0..1 + self.random.below(3)).map(|_| Operand::use_of(self.pick())).collect();
        let to = self.scalar();
        operands.push(Operand::def_of(to));
        self.push("op", operands);
        self.lanes.push(to);
    }

    fn op(&mut self, what: u64) {
        match what {
            0..60 => self.plain_op(),
            60..68 => {
                // A fetch: two sources in one row, four results in one row.
                let mut operands: Vec<Operand> = (0..2)
                    .map(|_| Operand::use_of(self.pick()).with(Relation::SameRow(0)))
                    .collect();
                for _ in 0..1 + self.random.below(4) {
                    let to = self.scalar();
                    operands.push(Operand::def_of(to).with(Relation::SameRow(1)));
                    self.lanes.push(to);
                }
                self.push("fetch", operands);
            }
            68..74 => {
                let count = 1 + self.random.below(4);
                let operands = (0..count)
                    .map(|_| Operand::use_of(self.pick()).with(Relation::SameRow(0)))
                    .collect();
                self.push("export", operands);
            }
            74..78 => {
                // A write without swizzle: component k from channel k.
                let mut operands: Vec<Operand> = (0..1 + self.random.below(4))
                    .map(|k| {
                        Operand::use_of(self.pick())
                            .with(Relation::SameRow(0))
                            .at(Phases::only(k as u8))
                    })
                    .collect();
                operands.push(Operand::use_of(self.pick()).at(Phases::only(0)));
                self.push("scatter", operands);
            }
            78..82 => {
                let (old, other, to) = (self.pick(), self.pick(), self.scalar());
                let def = Operand::def_of(to).with(Relation::Tied(0));
                self.push("modify", vec![Operand::use_of(old), Operand::use_of(other), def]);
                self.lanes.push(to);
            }
            82..85 => {
                let (from, to) = (self.pick(), self.scalar());
                let mut def = Operand::def_of(to);
                def.role = gpucc_ir::mach::Role::EarlyDef;
                self.push("early", vec![Operand::use_of(from), def]);
                self.lanes.push(to);
            }
            85..88 => {
                let v = self.func.make_vreg(Demand::scalar(A), Span::NONE);
                let from = self.uniforms[self.random.below(self.uniforms.len() as u64) as usize];
                self.push("uniform_op", vec![Operand::use_of(from), Operand::def_of(v)]);
                self.uniforms.push(v);
            }
            88..91 => {
                let from = self.uniforms[self.random.below(self.uniforms.len() as u64) as usize];
                let to = self.scalar();
                self.push("to_lanes", vec![Operand::use_of(from), Operand::def_of(to)]);
                self.lanes.push(to);
            }
            91..94 => self.run_op(),
            94..97 => self.array_op(),
            _ => {
                // Something wants a fixed place.
                let cell = Cell { file: R, index: 8 + self.random.below(4) as u16 };
                let from = self.pick();
                self.push("call", vec![Operand::use_of(from).with(Relation::Fixed(cell))]);
            }
        }
    }

    fn run_op(&mut self) {
        let pair = Demand { file: T, count: 2, stride: 1, phases: Phases::only(0) };
        let single = Demand::scalar(T);
        let count = 1 + self.random.below(3) as u8;
        let mut operands = Vec::new();
        let mut made = Vec::new();
        for k in 0..count {
            let v = self.func.make_vreg(if k == 0 { pair } else { single }, Span::NONE);
            let offset = if k == 0 { 0 } else { k + 1 };
            operands.push(Operand::def_of(v).with(Relation::Group { set: 0, offset }));
            made.push((v, offset));
        }
        self.push("staging_load", operands);
        if self.random.chance(60) {
            let operands = made
                .iter()
                .map(|&(v, offset)| Operand::use_of(v).with(Relation::Group { set: 0, offset }))
                .collect();
            self.push("staging_store", operands);
        }
        if self.random.chance(60) && !self.pairs.is_empty() {
            // Another order: copies become necessary.
            let recent = self.pairs.len().saturating_sub(4);
            let first =
                self.pairs[recent + self.random.below((self.pairs.len() - recent) as u64) as usize];
            let operands = vec![
                Operand::use_of(made[0].0).with(Relation::Group { set: 0, offset: 2 }),
                Operand::use_of(first).with(Relation::Group { set: 0, offset: 0 }),
            ];
            self.push("staging_store", operands);
        }
        self.pairs.push(made[0].0);
    }

    fn array_op(&mut self) {
        if self.arrays.is_empty() || self.random.chance(30) {
            let count = 2 + self.random.below(6) as u16;
            let demand = Demand { file: R, count, stride: 4, phases: Phases::ANY };
            let v = self.func.make_vreg(demand, Span::NONE);
            self.push("clear", vec![Operand::def_of(v)]);
            self.arrays.push(v);
        }
        let recent = self.arrays.len().saturating_sub(4);
        let array =
            self.arrays[recent + self.random.below((self.arrays.len() - recent) as u64) as usize];
        let value = self.pick();
        let def = Operand::def_of(array).with(Relation::Tied(0));
        self.push("put", vec![Operand::use_of(array), Operand::use_of(value), def]);
        let to = self.scalar();
        self.push("get", vec![Operand::use_of(array), Operand::use_of(value), Operand::def_of(to)]);
        self.lanes.push(to);
    }

    fn copies(&mut self, to: &[VReg], from: &[VReg]) {
        let mut operands: Vec<Operand> = from.iter().map(|&v| Operand::use_of(v)).collect();
        operands.extend(to.iter().map(|&v| Operand::def_of(v)));
        self.push("copy", operands);
    }

    /// A divergent if with results written in both arms.
    fn branch(&mut self, depth: u32) {
        let condition = self.pick();
        self.push("branch", vec![Operand::use_of(condition)]);
        let results: Vec<VReg> = (0..self.random.below(4)).map(|_| self.scalar()).collect();
        let head = self.block;
        let mut ends = Vec::new();
        let mut begins = Vec::new();
        for _ in 0..2 {
            self.block = self.func.push_block();
            begins.push(self.block);
            let (lanes, uniforms) = (self.lanes.len(), self.uniforms.len());
            self.sequence(depth);
            for &result in &results {
                let from = self.pick();
                self.copies(&[result], &[from]);
            }
            self.lanes.truncate(lanes);
            self.uniforms.truncate(uniforms);
            ends.push(self.block);
        }
        let merge = self.func.push_block();
        for edges in [Edges::Logical, Edges::Physical] {
            self.func.add_edge(edges, head, begins[0]);
            self.func.add_edge(edges, head, begins[1]);
            self.func.add_edge(edges, ends[1], merge);
        }
        self.func.add_edge(Edges::Logical, ends[0], merge);
        self.func.add_edge(Edges::Physical, ends[0], begins[1]);
        self.block = merge;
        self.lanes.extend(results);
    }

    /// A loop with parameters and results; lanes leave it at breaks and at its end.
    fn repeat(&mut self, depth: u32) {
        let count = 1 + self.random.below(4) as usize;
        let params: Vec<VReg> = (0..count).map(|_| self.scalar()).collect();
        let results: Vec<VReg> = (0..self.random.below(3)).map(|_| self.scalar()).collect();
        let initial: Vec<VReg> = (0..count).map(|_| self.pick()).collect();
        self.copies(&params, &initial);
        let before = self.block;
        let header = self.func.push_block();
        self.func.add_both_edges(before, header);
        self.block = header;
        let exit = self.func.make_block();
        let lanes = self.lanes.len();
        self.lanes.extend(&params);
        self.exits.push((exit, results.clone()));
        self.sequence(depth);
        // The latch: lanes leave, or carry values to the next turn - often the parameters permuted.
        self.write_results(&results);
        let next: Vec<VReg> = (0..count)
            .map(|k| if self.random.chance(50) { params[(k + 1) % count] } else { self.pick() })
            .collect();
        self.copies(&params, &next);
        let latch = self.block;
        self.func.add_both_edges(latch, header);
        self.func.add_both_edges(latch, exit);
        self.exits.pop();
        self.func.place(exit);
        self.block = exit;
        self.lanes.truncate(lanes);
        self.lanes.extend(results);
    }

    fn write_results(&mut self, results: &[VReg]) {
        for &result in results {
            let from = self.pick();
            self.copies(&[result], &[from]);
        }
    }

    /// Some lanes leave the innermost loop; the thread goes on.
    fn leave(&mut self) {
        let (exit, results) = self.exits.last().expect("asked within a loop").clone();
        let condition = self.pick();
        self.write_results(&results);
        self.push("branch", vec![Operand::use_of(condition)]);
        let next = self.func.push_block();
        let from = self.block;
        self.func.add_both_edges(from, next);
        self.func.add_both_edges(from, exit);
        self.block = next;
    }
}

/// All registers of an operand list, for tests that look at them.
#[allow(dead_code)]
pub(crate) fn regs(operands: &[Operand]) -> Vec<Reg> {
    operands.iter().map(|operand| operand.reg).collect()
}
