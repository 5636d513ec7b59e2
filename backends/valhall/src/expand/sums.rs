//! Sums and products in the order in which FMA takes them, as WGSL lets one regroup them (15.7.3).
//!
//! A sum of products and other terms begins with one that is no product: each product is then one FMA, and
//! the last addition is saved (a matrix times a point: `(a x + b y) + d` is `b y + (a x + d)`).
//! A product with `1 - t` is a difference, `c - c t`: rounded once where the source rounds twice, and
//! `mix` becomes two FMA. The square of a product with a root needs no root.

use cranelift_entity::SecondaryMap;
use gpucc_ir::ssa::{Func, Imm, Inst, InstData, Op, Region, Type, Value, ValueDef};
use smallvec::SmallVec;

/// Regroups; true when anything changed. A position that is the same in every program keeps its order.
pub(super) fn run(func: &mut Func) -> bool {
    if func.invariant {
        return false;
    }
    let regions: Vec<Region> = func.regions_in_order().iter().map(|at| at.0).collect();
    let mut uses = Uses::find(func, &regions);
    let mut changed = distribute(func, &uses, &regions);
    changed |= square(func, &uses, &regions);
    if changed {
        uses = Uses::find(func, &regions);
    }
    for &region in &regions {
        changed |= regroup(func, &uses, region);
    }
    changed
}

/// Who uses what.
struct Uses {
    count: SecondaryMap<Value, u32>,
    /// The last user.
    user: SecondaryMap<Value, Option<Inst>>,
    region: SecondaryMap<Inst, Option<Region>>,
}

impl Uses {
    fn find(func: &Func, regions: &[Region]) -> Uses {
        let mut uses =
            Uses { count: func.by_value(), user: func.by_value(), region: func.by_inst() };
        for &region in regions {
            for &inst in &func.regions[region].insts {
                uses.region[inst] = Some(region);
                for &arg in &func.insts[inst].args {
                    uses.count[arg] += 1;
                    uses.user[arg] = Some(inst);
                }
            }
        }
        uses
    }

    /// The user that a value is for alone.
    fn only(&self, value: Value) -> Option<Inst> {
        self.user[value].filter(|_| self.count[value] == 1)
    }
}

/// Appends an instruction and gives its result, which has the type of the first operand.
fn push(func: &mut Func, out: &mut Vec<Inst>, like: Inst, op: Op, args: &[Value]) -> Value {
    let ty = func.ty(args[0]);
    let (span, bundle) = (func.insts[like].span, func.insts[like].bundle);
    let data = InstData { bundle, ..InstData::new(op, Imm::None, args, span) };
    let inst = func.new_inst(data, &[ty]);
    out.push(inst);
    func.insts[inst].results[0]
}

/// Appends an f32 constant.
fn constant(func: &mut Func, out: &mut Vec<Inst>, like: Inst, number: f32) -> Value {
    let inst = func.new_constant(Type::B32, number.to_bits().into(), func.insts[like].span);
    out.push(inst);
    func.insts[inst].results[0]
}

/// An f32 constant.
fn number(func: &Func, value: Value) -> Option<f32> {
    let bits = func.as_const(value)?;
    (func.ty(value) == Type::B32).then(|| f32::from_bits(bits as u32))
}

/// `k - t` or `k + t` of a constant `k`.
struct Offset {
    k: f32,
    t: Value,
    subtracts: bool,
}

fn offset(func: &Func, value: Value) -> Option<Offset> {
    let data = func.def(value)?;
    let (k, t, subtracts) = match (data.op, &data.args[..]) {
        (Op::FSub, &[a, b]) => (number(func, a)?, b, true),
        (Op::FAdd, &[a, b]) => match number(func, b) {
            Some(k) => (k, a, false),
            None => (number(func, a)?, b, false),
        },
        _ => return None,
    };
    let open = number(func, t).is_none();
    open.then_some(Offset { k, t, subtracts })
}

/// `c k` of a factor `c`: nothing where that is `c` itself, else a constant that is exact.
fn scaled(func: &Func, c: Value, k: f32) -> Option<Option<f32>> {
    if k == 1.0 {
        return Some(None);
    }
    let product = f64::from(number(func, c)?) * f64::from(k);
    let rounded = product as f32;
    let exact = f64::from(rounded) == product && (rounded.is_normal() || rounded == 0.0);
    exact.then_some(Some(rounded))
}

/// The factor beside an offset in a product that may be distributed: not in one that is the only product
/// of a sum, which takes it in as it is.
fn factor(func: &Func, uses: &Uses, inst: Inst, over: Value) -> Option<Value> {
    let data = &func.insts[inst];
    let &[a, b] = &data.args[..] else { return None };
    if data.op != Op::FMul || (a == over) == (b == over) {
        return None;
    }
    let c = if a == over { b } else { a };
    scaled(func, c, offset(func, over)?.k)?;
    let result = data.results[0];
    if let Some(user) = uses.only(result)
        && let (Op::FAdd | Op::FSub, args) = (func.insts[user].op, &func.insts[user].args)
    {
        let other = args[usize::from(args[0] == result)];
        let product = func.def(other).is_some_and(|data| data.op == Op::FMul);
        if !product || uses.count[other] != 1 {
            return None;
        }
    }
    Some(c)
}

/// `c (k - t)` becomes `c k - c t`, where every use of the difference can be so rewritten.
fn distribute(func: &mut Func, uses: &Uses, regions: &[Region]) -> bool {
    // The products of each offset; none where it is needed for something else too.
    let mut found: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut any = false;
    for &region in regions {
        for &inst in &func.regions[region].insts {
            if matches!(func.insts[inst].op, Op::FAdd | Op::FSub) {
                let result = func.insts[inst].results[0];
                found[result] = offset(func, result).is_some();
                any |= found[result];
            }
        }
    }
    if !any {
        return false;
    }
    for &region in regions {
        for &inst in &func.regions[region].insts {
            for &arg in &func.insts[inst].args {
                found[arg] = found[arg] && factor(func, uses, inst, arg).is_some();
            }
        }
    }
    let mut changed = false;
    for &region in regions {
        let list = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(list.len());
        for inst in list {
            let over = func.insts[inst].args.iter().copied().find(|&arg| found[arg]);
            if func.insts[inst].op == Op::FMul
                && let Some(over) = over
                && let Some(Offset { k, t, subtracts }) = offset(func, over)
                && let Some(c) = factor(func, uses, inst, over)
                && let Some(product) = scaled(func, c, k)
            {
                let first = match (subtracts, number(func, c)) {
                    (false, _) => c,
                    (true, Some(c)) => constant(func, &mut out, inst, -c),
                    (true, None) => push(func, &mut out, inst, Op::FNeg, &[c]),
                };
                let last = match product {
                    Some(number) => constant(func, &mut out, inst, number),
                    None => c,
                };
                let data = &mut func.insts[inst];
                data.op = Op::FMa;
                data.args = SmallVec::from_slice(&[first, t, last]);
                changed = true;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    changed
}

/// `(a sqrt b)^2` becomes `a^2 b`, also as a product in a sum.
fn square(func: &mut Func, uses: &Uses, regions: &[Region]) -> bool {
    let mut changed = false;
    for &region in regions {
        let roots = |&inst: &Inst| squared(func, uses, inst).is_some();
        if !func.regions[region].insts.iter().any(roots) {
            continue;
        }
        let list = std::mem::take(&mut func.regions[region].insts);
        let mut out = Vec::with_capacity(list.len() + 1);
        for inst in list {
            if let Some((a, b)) = squared(func, uses, inst) {
                let square = push(func, &mut out, inst, Op::FMul, &[a, a]);
                func.insts[inst].args[0] = square;
                func.insts[inst].args[1] = b;
                changed = true;
            }
            out.push(inst);
        }
        func.regions[region].insts = out;
    }
    changed
}

/// The factor and what is under the root, of a square that nothing else needs.
fn squared(func: &Func, uses: &Uses, inst: Inst) -> Option<(Value, Value)> {
    let data = &func.insts[inst];
    let square = matches!(data.op, Op::FMul | Op::FMa) && data.args[0] == data.args[1];
    let x = *data.args.first().filter(|_| square)?;
    let product = func.def(x).filter(|data| data.op == Op::FMul)?;
    let &[p, q] = &product.args[..] else {
        return None;
    };
    let under = |root: Value| {
        let data = func.def(root).filter(|data| data.op == Op::FSqrt)?;
        (uses.count[root] == 1).then(|| data.args[0])
    };
    let (a, b) = under(q).map(|b| (p, b)).or_else(|| under(p).map(|b| (q, b)))?;
    let addend = data.args.get(2) == Some(&x);
    (uses.count[x] == 2 && !addend).then_some((a, b))
}

/// A term of a sum, and whether it is subtracted.
#[derive(Copy, Clone)]
enum Term {
    Product(bool, Value, Value),
    Other(bool, Value),
}

/// Terms that a sum is taken apart into.
const TERMS: usize = 24;

/// A sum with the sums in it that are for it alone.
struct Sum<'a> {
    func: &'a Func,
    uses: &'a Uses,
    region: Region,
    terms: SmallVec<[Term; 8]>,
    /// Instructions that it takes as it stands, products taken in.
    cost: usize,
    /// What would not be needed any more.
    gone: SmallVec<[Inst; 8]>,
}

impl Sum<'_> {
    fn is_product(&self, value: Value) -> bool {
        let data = self.func.def(value);
        self.uses.count[value] == 1 && data.is_some_and(|data| data.op == Op::FMul)
    }

    /// Takes a term apart that is for this sum alone.
    fn term(&mut self, value: Value, minus: bool) {
        let alone = self.uses.count[value] == 1 && self.terms.len() < TERMS;
        let func = self.func;
        let inst = match func.values[value].def {
            ValueDef::Result(inst, _) if alone => inst,
            _ => return self.terms.push(Term::Other(minus, value)),
        };
        let data = &func.insts[inst];
        match data.op {
            Op::FMul => {
                self.terms.push(Term::Product(minus, data.args[0], data.args[1]));
                self.cost += 1;
                self.gone.push(inst);
            }
            Op::FAdd | Op::FSub | Op::FMa | Op::FDot
                if self.uses.region[inst] == Some(self.region) =>
            {
                self.gone.push(inst);
                self.node(inst, minus);
            }
            _ => self.terms.push(Term::Other(minus, value)),
        }
    }

    /// The terms of a sum.
    fn node(&mut self, inst: Inst, minus: bool) {
        let func = self.func;
        let data = &func.insts[inst];
        match (data.op, &data.args[..]) {
            (Op::FMa, &[a, b, c]) => {
                self.cost += 1;
                self.terms.push(Term::Product(minus, a, b));
                self.term(c, minus);
            }
            (Op::FDot, args) => {
                let (left, right) = args.split_at(args.len() / 2);
                self.cost += left.len();
                for (&a, &b) in left.iter().zip(right) {
                    self.terms.push(Term::Product(minus, a, b));
                }
            }
            (op, &[a, b]) => {
                // The sum itself, which may take in one product.
                self.cost += usize::from(!self.is_product(a) && !self.is_product(b));
                self.term(a, minus);
                self.term(b, minus != (op == Op::FSub));
            }
            _ => {}
        }
    }
}

/// True for a sum that another one of the region takes apart.
fn inner(func: &Func, uses: &Uses, region: Region, inst: Inst) -> bool {
    let result = func.insts[inst].results[0];
    let Some(user) = uses.only(result).filter(|&user| uses.region[user] == Some(region)) else {
        return false;
    };
    let user = &func.insts[user];
    match user.op {
        Op::FAdd | Op::FSub => true,
        Op::FMa => user.args[2] == result,
        _ => false,
    }
}

/// Sums of a region that become cheaper when they begin with what is no product.
fn regroup(func: &mut Func, uses: &Uses, region: Region) -> bool {
    let is_sum = |func: &Func, inst: Inst| {
        matches!(func.insts[inst].op, Op::FAdd | Op::FSub | Op::FMa)
            && func.ty(func.insts[inst].results[0]) != Type::B64
    };
    let list = &func.regions[region].insts;
    if !list.iter().any(|&inst| is_sum(func, inst)) {
        return false;
    }
    let mut gone: SecondaryMap<Inst, bool> = SecondaryMap::new();
    let mut changed = false;
    let list = std::mem::take(&mut func.regions[region].insts);
    let mut out = Vec::with_capacity(list.len());
    for inst in list {
        if is_sum(func, inst) && !inner(func, uses, region, inst) {
            let mut sum =
                Sum { func, uses, region, terms: SmallVec::new(), cost: 0, gone: SmallVec::new() };
            sum.node(inst, false);
            let others = sum.terms.iter();
            let others = others.filter(|term| matches!(term, Term::Other(..))).count();
            let products = sum.terms.len() - others;
            if products > 0 && products + others.saturating_sub(1) < sum.cost {
                let (terms, dead) = (sum.terms, sum.gone);
                for dead in dead {
                    gone[dead] = true;
                }
                chain(func, &mut out, inst, &terms);
                changed = true;
            }
        }
        out.push(inst);
    }
    if changed {
        out.retain(|&inst| !gone[inst]);
    }
    func.regions[region].insts = out;
    changed
}

/// The instruction becomes the last of a chain that begins with what is no product.
fn chain(func: &mut Func, out: &mut Vec<Inst>, inst: Inst, terms: &[Term]) {
    let mut others: SmallVec<[(bool, Value); 4]> = SmallVec::new();
    let mut products: SmallVec<[(bool, Value, Value); 8]> = SmallVec::new();
    for &term in terms {
        match term {
            Term::Product(minus, a, b) => products.push((minus, a, b)),
            Term::Other(minus, value) => others.push((minus, value)),
        }
    }
    // One that is added first: nothing has to be negated.
    if let Some(at) = others.iter().position(|&(minus, _)| !minus) {
        others.swap(0, at);
    }
    let (&(last_minus, last_a, last_b), before) =
        products.split_last().expect("a sum is only regrouped for its products");
    let mut sum = None;
    for (minus, value) in others {
        sum = Some(match sum {
            None if minus => push(func, out, inst, Op::FNeg, &[value]),
            None => value,
            Some(sum) => {
                let op = if minus { Op::FSub } else { Op::FAdd };
                push(func, out, inst, op, &[sum, value])
            }
        });
    }
    let signed = |func: &mut Func, out: &mut Vec<Inst>, minus: bool, a: Value| match minus {
        true => push(func, out, inst, Op::FNeg, &[a]),
        false => a,
    };
    for &(minus, a, b) in before {
        let a = signed(func, out, minus, a);
        sum = Some(match sum {
            None => push(func, out, inst, Op::FMul, &[a, b]),
            Some(sum) => push(func, out, inst, Op::FMa, &[a, b, sum]),
        });
    }
    let a = signed(func, out, last_minus, last_a);
    let data = &mut func.insts[inst];
    (data.op, data.args) = match sum {
        Some(sum) => (Op::FMa, SmallVec::from_slice(&[a, last_b, sum])),
        None => (Op::FMul, SmallVec::from_slice(&[a, last_b])),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpucc_ir::ssa::{Builder, InputData, InputKind, OutputData, OutputKind, Scalar, Stage};
    use gpucc_ir::ssa::{Builtin, verify};

    /// The operations that regrouping and contraction leave of a value of four inputs.
    fn ops(invariant: bool, make: impl FnOnce(&mut Builder<'_>, [Value; 4]) -> Value) -> Vec<Op> {
        let mut func = Func::new("sums", Stage::Fragment);
        func.invariant = invariant;
        let input = func.inputs.push(InputData {
            kind: InputKind::Builtin(Builtin::Position),
            components: 4,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let output = func.outputs.push(OutputData {
            kind: OutputKind::Builtin(Builtin::FragDepth),
            components: 1,
            scalar: Scalar::F32,
            name: String::new(),
        });
        let mut b = Builder::at_body(&mut func);
        let inputs = std::array::from_fn(|k| b.input(input, k as u8));
        let value = make(&mut b, inputs);
        b.output(output, 0, value);
        b.end(Op::Yield, &[]);
        run(&mut func);
        let target = crate::target::Contracting { pushed: false };
        let mut ctx =
            gpucc_passes::Ctx::new(gpucc_passes::Options::default(), crate::numerics(), &target);
        gpucc_passes::algebra::run(&mut func, &mut ctx);
        gpucc_passes::dce::run(&mut func, &mut ctx);
        verify(&func).expect("sound");
        let list = func.regions[func.body].insts.iter();
        list.map(|&inst| func.insts[inst].op)
            .filter(|op| !matches!(op, Op::Input | Op::Const | Op::Output | Op::Yield))
            .collect()
    }

    fn sum_of_products(b: &mut Builder<'_>, [x, y, z, w]: [Value; 4]) -> Value {
        let (a, c) = (b.op2(Op::FMul, x, y), b.op2(Op::FMul, y, z));
        let sum = b.op2(Op::FAdd, a, c);
        b.op2(Op::FAdd, sum, w)
    }

    #[test]
    fn a_sum_of_products_begins_with_what_is_none() {
        assert_eq!(ops(false, sum_of_products), [Op::FMa, Op::FMa]);
    }

    #[test]
    fn an_invariant_position_keeps_the_order_of_the_source() {
        assert!(ops(true, sum_of_products).ends_with(&[Op::FAdd]));
    }

    #[test]
    fn a_mix_is_two_products_taken_in() {
        let mix = |b: &mut Builder<'_>, [x, y, t, _]: [Value; 4]| {
            let one = b.f32(1.0);
            let rest = b.op2(Op::FSub, one, t);
            let (a, c) = (b.op2(Op::FMul, x, rest), b.op2(Op::FMul, y, t));
            b.op2(Op::FAdd, a, c)
        };
        assert_eq!(ops(false, mix), [Op::FNeg, Op::FMa, Op::FMa]);
    }

    #[test]
    fn a_difference_that_something_else_needs_stays() {
        let shared = |b: &mut Builder<'_>, [x, y, t, _]: [Value; 4]| {
            let one = b.f32(1.0);
            let rest = b.op2(Op::FSub, one, t);
            let (a, c) = (b.op2(Op::FMul, x, rest), b.op2(Op::FMax, rest, y));
            b.op2(Op::FMul, a, c)
        };
        assert_eq!(ops(false, shared), [Op::FSub, Op::FMul, Op::FMax, Op::FMul]);
    }
}
