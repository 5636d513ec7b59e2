//! Tree-height reduction by reassociation.
//!
//! Chains of one associative operation become trees in which what is late joins last, so that less
//! stands between the last operand and the result. WGSL (reassociation and fusion) lets sums and products of floats be
//! regrouped; those of integers are exact. Before the reference is taken.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Builder, Func, Inst, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Regroups what gets shorter; true when anything did.
pub fn run(func: &mut Func) -> bool {
    let mut pass = Pass {
        uses: func.by_value(),
        home: func.by_value(),
        depth: func.by_value(),
        changed: false,
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
    pass.changed
}

struct Pass {
    uses: SecondaryMap<Value, u32>,
    home: SecondaryMap<Value, Option<Region>>,
    /// Operations between what the program is given and a value.
    depth: SecondaryMap<Value, u32>,
    changed: bool,
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

/// Terms of a sum: values, or products of two.
type Terms = SmallVec<[(Value, Option<Value>); 8]>;

impl Pass {
    fn visit(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = &func.insts[inst];
        if let [result] = data.results[..]
            && matches!(func.ty(result), Type::B32 | Type::B1)
        {
            if matches!(data.op, Op::FAdd | Op::FMa) {
                self.sum(func, region, inst);
            }
            match func.insts[inst].op {
                op if associative(op) => self.chain(func, region, inst),
                Op::FMa => self.product(func, region, inst),
                Op::Select => self.choice(func, region, inst),
                _ => {}
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

    /// The terms of a sum with products in it, the outermost first. What is subtracted is left
    /// alone: there a program may count on an exact difference.
    fn terms(&self, func: &Func, region: Region, value: Value, root: bool, out: &mut Terms) {
        let link =
            root || self.uses[value] == 1 && self.home[value] == Some(region) && out.len() < 12;
        let plain = |value: Value| func.def(value).is_none_or(|data| data.op != Op::FNeg);
        match func.def(value).filter(|_| link) {
            Some(data) if data.op == Op::FAdd => {
                for &arg in &data.args {
                    self.terms(func, region, arg, false, out);
                }
            }
            Some(data) if data.op == Op::FMa && data.args[..2].iter().all(|&v| plain(v)) => {
                // The outermost product first: measured, chains of matrices pack better.
                out.push((data.args[0], Some(data.args[1])));
                self.terms(func, region, data.args[2], false, out);
            }
            Some(data) if data.op == Op::FMul && data.args.iter().all(|&v| plain(v)) => {
                out.push((data.args[0], Some(data.args[1])));
            }
            _ => out.push((value, None)),
        }
    }

    /// When a term can be added.
    fn ready(&self, term: &(Value, Option<Value>)) -> u32 {
        self.depth[term.0].max(term.1.map_or(0, |b| self.depth[b]))
    }

    /// A sum of products as a chain in which the latest term comes last.
    fn sum(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let result = func.insts[inst].results[0];
        let mut terms = Terms::new();
        self.terms(func, region, result, true, &mut terms);
        if terms.len() < 3 || terms.iter().all(|term| term.1.is_none()) {
            return;
        }
        let latest = func.insts[inst].args.iter().map(|&arg| self.depth[arg]).max();
        let now = latest.unwrap_or(0) + 1;
        let muls = terms.iter().all(|term| term.1.is_some());
        // Stable, so that the outcome is one; what is no product begins.
        terms.sort_by_key(|term| (self.ready(term), term.1.is_some()));
        if let Some(first) = terms.iter().position(|term| term.1.is_none())
            && self.ready(&terms[first]) <= self.ready(&terms[0]) + 1
        {
            let first = terms.remove(first);
            terms.insert(0, first);
        } else if !muls {
            // A product more than before.
            return;
        }
        let mut depth = self.ready(&terms[0]) + u32::from(terms[0].1.is_some());
        for term in &terms[1..] {
            depth = depth.max(self.ready(term)) + 1;
        }
        if depth >= now {
            return;
        }
        self.changed = true;
        let span = func.insts[inst].span;
        let mut sum = match terms[0] {
            (value, None) => value,
            (a, Some(b)) => self.put(func, region, span, Op::FMul, &[a, b]),
        };
        let last = terms.len() - 1;
        for &(a, b) in &terms[1..last] {
            sum = match b {
                Some(b) => self.put(func, region, span, Op::FMa, &[a, b, sum]),
                None => self.put(func, region, span, Op::FAdd, &[a, sum]),
            };
        }
        let data = &mut func.insts[inst];
        match terms[last] {
            (a, Some(b)) => {
                data.op = Op::FMa;
                data.args = SmallVec::from_slice(&[a, b, sum]);
            }
            (a, None) => {
                data.op = Op::FAdd;
                data.args = SmallVec::from_slice(&[a, sum]);
            }
        }
    }

    /// Writes an operation for one user.
    fn put(
        &mut self,
        func: &mut Func,
        region: Region,
        span: gpucc_ir::ssa::Span,
        op: Op,
        args: &[Value],
    ) -> Value {
        let mut builder = Builder::at(func, region);
        builder.span = span;
        let value = match *args {
            [a, b, c] => builder.op3(op, a, b, c),
            _ => builder.op2(op, args[0], args[1]),
        };
        let latest = args.iter().map(|&arg| self.depth[arg]).max();
        self.depth[value] = latest.unwrap_or(0) + 1;
        self.home[value] = Some(region);
        self.uses[value] = 1;
        value
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
        self.changed |= leaves.len() > left;
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

    /// `early && late ? x : y` is `late ? (early ? x : y) : y`, and `early || late ? x : y` likewise: as many operations,
    /// and one fewer waits for what is late.
    fn choice(&mut self, func: &mut Func, region: Region, inst: Inst) {
        let data = &func.insts[inst];
        let (condition, yes, no) = (data.args[0], data.args[1], data.args[2]);
        let link = |value| self.uses[value] == 1 && self.home[value] == Some(region);
        let Some(op @ (Op::And | Op::Or)) =
            func.def(condition).filter(|_| link(condition)).map(|data| data.op)
        else {
            return;
        };
        let mut leaves = SmallVec::new();
        self.leaves(func, region, op, condition, &mut leaves);
        leaves.sort_by_key(|&leaf| self.depth[leaf]);
        let Some(late) = leaves.pop() else { return };
        let arms = self.depth[yes].max(self.depth[no]);
        let within = self.combined(&leaves).max(arms) + 1;
        if within.max(self.depth[late]) >= self.depth[condition].max(arms) {
            return;
        }
        let early = self.join(func, region, inst, op, leaves, 1)[0];
        let span = func.insts[inst].span;
        let within = self.put(func, region, span, Op::Select, &[early, yes, no]);
        let args = if op == Op::And { [late, within, no] } else { [late, yes, within] };
        func.insts[inst].args = SmallVec::from_slice(&args);
        self.changed = true;
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

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builtin, InputData, InputKind, Scalar, Stage, verify};

    /// Four inputs, and what is made of them.
    fn program(make: impl FnOnce(&mut Builder<'_>, [Value; 4]) -> Value) -> Func {
        let mut func = Func::new("sums", Stage::Fragment);
        let input = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::Position),
            components: 4,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let output = func.outputs.push(gpucc_ir::ssa::OutputData {
            kind: gpucc_ir::ssa::OutputKind::Builtin(Builtin::FragDepth),
            components: 1,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let mut b = Builder::at_body(&mut func);
        let values = std::array::from_fn(|k| b.input(input, k as u8));
        let value = make(&mut b, values);
        b.output(output, 0, value);
        b.end(Op::Yield, &[]);
        verify(&func).expect("sound");
        func
    }

    fn ops(func: &Func) -> Vec<Op> {
        let live = func.regions[func.body].insts.iter();
        let ops = live.map(|&inst| func.insts[inst].op);
        ops.filter(|op| !matches!(op, Op::Input | Op::Output | Op::Yield)).collect()
    }

    #[test]
    fn what_is_late_is_added_last_and_nothing_is_added_twice() {
        let mut func = program(|b, [x, y, z, w]| {
            let late = b.op1(Op::FRound, x);
            let late = b.op1(Op::FSqrt, late);
            let product = b.op2(Op::FMul, late, y);
            let sum = b.op3(Op::FMa, z, w, product);
            b.op2(Op::FAdd, sum, w)
        });
        run(&mut func);
        verify(&func).expect("still sound");
        let last = func.regions[func.body].insts.len() - 3;
        let last = func.regions[func.body].insts[last];
        let args = &func.insts[last].args;
        assert_eq!(func.insts[last].op, Op::FMa);
        assert_eq!(func.def(args[0]).expect("computed").op, Op::FSqrt);
        // The old product and sum are left for the sweep of dead code.
        assert_eq!(ops(&func).iter().filter(|&&op| op == Op::FMa).count(), 3);
    }

    #[test]
    fn what_is_late_chooses_last() {
        for (op, late) in [(Op::And, 1), (Op::Or, 2)] {
            let mut func = program(|b, [x, y, z, w]| {
                let root = b.op1(Op::FSqrt, x);
                let late = b.op2(Op::FLt, root, y);
                let early = b.op2(Op::FLt, z, y);
                let both = b.op2(op, late, early);
                b.op3(Op::Select, both, z, w)
            });
            assert!(run(&mut func));
            verify(&func).expect("still sound");
            let insts = &func.regions[func.body].insts;
            let chosen = &func.insts[insts[insts.len() - 3]];
            assert_eq!(chosen.op, Op::Select);
            let test = func.def(chosen.args[0]).expect("computed");
            assert_eq!(func.def(test.args[0]).expect("computed").op, Op::FSqrt);
            // The arm in which the early condition decides.
            assert_eq!(func.def(chosen.args[late]).expect("computed").op, Op::Select);
        }
    }

    #[test]
    fn an_exact_difference_is_left_alone() {
        let mut func = program(|b, [x, y, z, _]| {
            let whole = b.op1(Op::FFloor, x);
            let fraction = b.op2(Op::FSub, x, whole);
            let sum = b.op3(Op::FMa, y, z, fraction);
            b.op2(Op::FAdd, sum, y)
        });
        let before = ops(&func).iter().filter(|&&op| op == Op::FSub).count();
        run(&mut func);
        let after = ops(&func).iter().filter(|&&op| op == Op::FSub).count();
        assert_eq!(before, after);
    }
}
