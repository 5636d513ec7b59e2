//! Sums of products: a product and MACs, which add to what the accumulator holds, in place of products and sums. G45 vol. 4,
//! 14.2.23. WGSL lets a product and a sum be one operation that rounds once, and lets sums be regrouped.

use super::uses::{Uses, uses};
use crate::abi::of_vertices;
use cranelift_entity::{EntitySet, SecondaryMap};
use gpucc_ir::ssa::{Builder, Func, InstData, Op, Region, Type, Value};
use smallvec::SmallVec;

/// Products of one sum.
const MOST: usize = 4;

/// The factors of products.
type Products = SmallVec<[[Value; 2]; MOST]>;
/// An operation and its operands.
type Made = (Op, SmallVec<[Value; 8]>);

/// Products beside something else: `rest + products`, each of both negative where that is said.
struct Split {
    rest: Value,
    minus: bool,
    products: Products,
    negative: bool,
}

/// The stretch of operations at hand, and the first of its region.
#[derive(Copy, Clone)]
struct Here {
    first: u32,
    place: u32,
}

/// What is known of values.
struct Sums {
    uses: Uses,
    /// Numbers of the stretches of operations without messages and branches in which values are made.
    places: SecondaryMap<Value, u32>,
    /// Sums of products that this pass has made.
    own: EntitySet<Value>,
}

impl Sums {
    /// Who makes a value for one reader.
    fn only<'a>(&self, func: &'a Func, value: Value) -> Option<&'a InstData> {
        func.def(value).filter(|_| self.uses[value] == 1)
    }

    /// The products whose sum a value is.
    fn products(&self, func: &Func, value: Value, here: Here) -> Option<Products> {
        let data = self.only(func, value)?;
        let (first, second) = data.args.split_at(data.args.len() / 2);
        let pairs = || first.iter().zip(second).map(|(&a, &b)| [a, b]).collect();
        let place = self.places[value];
        let fits = match data.op {
            // One register waits in place of another.
            Op::FMul if place < here.place => {
                let waits =
                    |&value: &Value| func.as_const(value).is_none() && self.uses[value] == 1;
                place >= here.first && !data.args.iter().all(waits)
            }
            Op::FMul => place == here.place,
            Op::FDot => place == here.place && self.own.contains(value),
            _ => false,
        };
        fits.then(pairs)
    }

    /// A sum of products and something else.
    fn split(&self, func: &Func, value: Value, here: Here) -> Option<Split> {
        let data = self.only(func, value).filter(|_| self.places[value] == here.place)?;
        let taken = match data.op {
            Op::FAdd => false,
            Op::FSub => true,
            _ => return None,
        };
        let [a, b] = [data.args[0], data.args[1]];
        if let Some(products) = self.products(func, b, here) {
            return Some(Split { rest: a, minus: false, products, negative: taken });
        }
        let products = self.products(func, a, here)?;
        Some(Split { rest: b, minus: taken, products, negative: false })
    }

    /// What a sum or difference becomes.
    fn sum(
        &mut self,
        func: &mut Func,
        at: (Region, Here),
        minus: bool,
        args: [Value; 2],
    ) -> Option<Made> {
        let (region, here) = at;
        let [a, b] = args;
        let sides = [a, b].map(|value| self.products(func, value, here));
        if let [Some(first), Some(second)] = &sides
            && first.len() + second.len() <= MOST
        {
            let second = signed(func, region, second, minus);
            return Some((Op::FDot, operands(first.iter().chain(&second))));
        }
        let [first, second] = sides;
        let (own, other, own_taken, other_taken) = match (first, second) {
            (Some(own), _) if self.split(func, b, here).is_some() => (own, b, false, minus),
            (_, Some(own)) => (own, a, minus, false),
            _ => return None,
        };
        let split = self.split(func, other, here)?;
        if own.len() + split.products.len() > MOST {
            return None;
        }
        let rest_taken = other_taken != split.minus;
        let taken = other_taken != split.negative;
        // Both are taken from the rest; from nothing each is negative.
        let both = own_taken && taken && !rest_taken;
        let own = signed(func, region, &own, own_taken && !both);
        let more = signed(func, region, &split.products, taken && !both);
        let mut b = Builder::at(func, region);
        let dot = b.op(Op::FDot, &operands(own.iter().chain(&more)));
        self.uses[dot] = 1;
        self.places[dot] = here.place;
        self.own.insert(dot);
        let args = if rest_taken { [dot, split.rest] } else { [split.rest, dot] };
        let op = if both || rest_taken { Op::FSub } else { Op::FAdd };
        Some((op, args.into_iter().collect()))
    }
}

/// Products, or their negatives.
fn signed(func: &mut Func, region: Region, products: &Products, negative: bool) -> Products {
    let mut b = Builder::at(func, region);
    let mut change = |&[first, second]: &[Value; 2]| match b.func.as_const(second) {
        _ if !negative => [first, second],
        Some(bits) => [first, b.f32(-f32::from_bits(bits as u32))],
        None => [b.op1(Op::FNeg, first), second],
    };
    products.iter().map(&mut change).collect()
}

/// The operands of a sum of products: the first factors, then the second.
fn operands<'a>(products: impl Iterator<Item = &'a [Value; 2]> + Clone) -> SmallVec<[Value; 8]> {
    let side = |side: usize| products.clone().map(move |pair| pair[side]);
    side(0).chain(side(1)).collect()
}

/// Makes sums of products. Vertices have words for dot products, and vectors of products and sums.
pub fn join(func: &mut Func) -> bool {
    let mut changed = false;
    if of_vertices(func.stage) {
        return changed;
    }
    let (places, own) = (SecondaryMap::new(), EntitySet::new());
    let mut sums = Sums { uses: uses(func), places, own };
    let mut place = 0;
    for (region, ..) in func.regions_in_order() {
        place += 1;
        let first = place;
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            place += u32::from(!data.op.is_pure());
            let sum = matches!(data.op, Op::FAdd | Op::FSub)
                && data.results.iter().all(|&value| func.ty(value) == Type::B32);
            if sum {
                let (minus, args) = (data.op == Op::FSub, [data.args[0], data.args[1]]);
                if let Some((op, args)) =
                    sums.sum(func, (region, Here { first, place }), minus, args)
                {
                    let data = &mut func.insts[inst];
                    (data.op, data.args) = (op, args.into_iter().collect());
                    if op == Op::FDot {
                        sums.own.insert(data.results[0]);
                    }
                    changed = true;
                }
            }
            for &result in &func.insts[inst].results {
                sums.places[result] = place;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::join;
    use gpucc_ir::ssa::Op;

    /// Operations that are read behind the pass, of a body that has values %1 to %4 and the result %9.
    fn left(body: &str) -> Vec<Op> {
        let text = format!(
            "func \"one\" fragment {{
              in0 = \"v\" f32 x 4 location 0 flat center
              out0 = \"\" f32 x 4 location 0 perspective
            }} body {{
              %1: b32 = input in0.0 %2: b32 = input in0.1
              %3: b32 = input in0.2 %4: b32 = input in0.3
              {body}
              output out0.0, %9
              yield
            }}"
        );
        let mut func = parsed(&text);
        join(&mut func);
        let mut wanted =
            vec![*func.regions[func.body].insts.iter().rev().nth(1).expect("an output")];
        let mut ops = Vec::new();
        while let Some(inst) = wanted.pop() {
            let data = &func.insts[inst];
            if matches!(data.op, Op::FAdd | Op::FSub | Op::FMul | Op::FNeg | Op::FDot) {
                ops.push(data.op);
            }
            for &arg in &data.args {
                if let gpucc_ir::ssa::ValueDef::Result(inst, _) = func.values[arg].def {
                    wanted.push(inst);
                }
            }
        }
        ops
    }

    const TWO: &str = "%5: b32 = fmul %1, %2 %6: b32 = fmul %3, %4";

    #[test]
    fn products_of_a_sum_become_one_operation() {
        assert_eq!(left(&format!("{TWO} %9: b32 = fadd %5, %6")), [Op::FDot]);
        // One factor is negative.
        assert_eq!(left(&format!("{TWO} %9: b32 = fsub %5, %6")), [Op::FDot, Op::FNeg]);
        let third = "%7: b32 = fadd %5, %6 %8: b32 = fmul %1, %1 %9: b32 = fadd %7, %8";
        assert_eq!(left(&format!("{TWO} {third}")), [Op::FDot]);
    }

    #[test]
    fn what_stands_between_is_added_to_the_sum() {
        let rest = "%7: b32 = fadd %3, %5 %9: b32 = fadd %7, %6";
        assert_eq!(left(&format!("{TWO} {rest}")), [Op::FAdd, Op::FDot]);
        let taken = "%7: b32 = fsub %3, %5 %9: b32 = fsub %7, %6";
        assert_eq!(left(&format!("{TWO} {taken}")), [Op::FSub, Op::FDot]);
        let from = "%7: b32 = fsub %5, %3 %9: b32 = fsub %6, %7";
        assert_eq!(left(&format!("{TWO} {from}")), [Op::FAdd, Op::FDot, Op::FNeg]);
    }

    #[test]
    fn products_with_other_readers_stay() {
        let other = "%7: b32 = fadd %5, %6 %9: b32 = fmul %7, %5";
        let found = left(&format!("{TWO} {other}"));
        assert!(found.contains(&Op::FAdd) && !found.contains(&Op::FDot), "{found:?}");
        // A single product is no sum.
        assert_eq!(left("%5: b32 = fmul %1, %2 %9: b32 = fadd %5, %3"), [Op::FAdd, Op::FMul]);
    }
}
