//! Chains of one associative operation become trees in which what is late joins last, so that less
//! stands between the last operand and the result. WGSL 15.7.3 lets sums and products of floats be
//! regrouped; those of integers are exact. Before the reference is taken.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builder, Func, Inst, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Regroups what gets shorter.
pub fn run(func: &mut Func) {
    let mut pass = Pass {
        uses: SecondaryMap::new(),
        home: SecondaryMap::new(),
        depth: SecondaryMap::new(),
    };
    let regions = func.regions_in_order();
    for &(region, ..) in &regions {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                pass.uses[arg] += 1;
            }
            for &result in &func.insts[inst].results {
                pass.home[result] = Some(region);
            }
        }
    }
    for &(region, ..) in &regions {
        let list = std::mem::take(&mut func.regions[region].insts);
        for inst in list {
            pass.visit(func, region, inst);
            func.regions[region].insts.push(inst);
        }
    }
}

struct Pass {
    uses: SecondaryMap<Value, u32>,
    home: SecondaryMap<Value, Option<Region>>,
    /// Operations between what the program is given and a value.
    depth: SecondaryMap<Value, u32>,
}

const fn associative(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FMul
            | Op::IAdd
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::SMin
            | Op::SMax
            | Op::UMin
            | Op::UMax
    )
}

/// How long an operation takes, in groups; sources' modifiers take no time.
const fn length(op: Op) -> u32 {
    match op {
        Op::Const | Op::Input | Op::FNeg | Op::FAbs | Op::Index | Op::BufferLoad => 0,
        Op::Tex | Op::MemLoad => 8,
        _ => 1,
    }
}

impl Pass {
    fn visit(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = &func.insts[inst];
        if let [result] = data.results[..]
            && matches!(func.ty(result), Type::B32 | Type::B1)
        {
            if associative(data.op) {
                self.chain(func, region, inst);
            } else if data.op == Op::FMa {
                self.product(func, region, inst);
            }
        }
        let data = &func.insts[inst];
        let latest = data.args.iter().map(|&arg| self.depth[arg]).max();
        let depth = latest.unwrap_or(0) + length(data.op);
        for &result in &data.results {
            self.depth[result] = depth;
        }
    }

    /// The operands of a chain that ends in a value; the value itself when it is no link.
    fn leaves(
        &self,
        func: &Func,
        region: Region,
        op: Op,
        value: Value,
        out: &mut SmallVec<[Value; 8]>,
    ) {
        let link = self.uses[value] == 1
            && self.home[value] == Some(region)
            && out.len() < 16
            && func.def(value).is_some_and(|data| data.op == op);
        if !link {
            out.push(value);
            return;
        }
        for index in 0..2 {
            let Some(data) = func.def(value) else { return };
            self.leaves(func, region, op, data.args[index], out);
        }
    }

    /// The depth of a product of these, the earliest first.
    fn combined(&self, leaves: &[Value]) -> u32 {
        let mut depths: SmallVec<[u32; 8]> = leaves.iter().map(|&v| self.depth[v]).collect();
        while depths.len() > 1 {
            depths.sort_unstable_by(|a, b| b.cmp(a));
            let a = depths.pop().unwrap_or(0);
            let b = depths.pop().unwrap_or(0);
            depths.push(a.max(b) + 1);
        }
        depths.first().copied().unwrap_or(0)
    }

    /// Joins leaves, the earliest first, until `left` are left; the latest comes last.
    fn join(
        &mut self,
        func: &mut Func,
        region: Region,
        inst: Inst,
        op: Op,
        mut leaves: SmallVec<[Value; 8]>,
        left: usize,
    ) -> SmallVec<[Value; 8]> {
        let span = func.insts[inst].span;
        while leaves.len() > left {
            // Stable, so that equals stay in the order of the source.
            leaves.sort_by_key(|&v| std::cmp::Reverse(self.depth[v]));
            let (Some(b), Some(a)) = (leaves.pop(), leaves.pop()) else {
                break;
            };
            let mut builder = Builder::at(func, region);
            builder.span = span;
            let joined = builder.op2(op, a, b);
            self.depth[joined] = self.depth[a].max(self.depth[b]) + 1;
            self.home[joined] = Some(region);
            self.uses[joined] = 1;
            leaves.push(joined);
        }
        leaves.sort_by_key(|&v| self.depth[v]);
        leaves
    }

    fn chain(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = &func.insts[inst];
        let op = data.op;
        let (a, b) = (data.args[0], data.args[1]);
        let mut leaves = SmallVec::new();
        self.leaves(func, region, op, a, &mut leaves);
        self.leaves(func, region, op, b, &mut leaves);
        let now = self.depth[a].max(self.depth[b]) + 1;
        if leaves.len() < 3 || self.combined(&leaves) >= now {
            return;
        }
        let pair = self.join(func, region, inst, op, leaves, 2);
        func.insts[inst].args = SmallVec::from_slice(&pair);
    }

    /// (a b) k + c, where a b waits for b: a k first.
    fn product(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = &func.insts[inst];
        let (a, b, c) = (data.args[0], data.args[1], data.args[2]);
        let mut leaves = SmallVec::new();
        self.leaves(func, region, Op::FMul, a, &mut leaves);
        self.leaves(func, region, Op::FMul, b, &mut leaves);
        let now = self.depth[a].max(self.depth[b]);
        if leaves.len() < 3 || self.combined(&leaves) > now {
            return;
        }
        let pair = self.join(func, region, inst, Op::FMul, leaves, 2);
        if self.depth[pair[0]].max(self.depth[pair[1]]) < now {
            func.insts[inst].args = SmallVec::from_slice(&[pair[0], pair[1], c]);
        }
    }
}
