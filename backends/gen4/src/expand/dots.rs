//! Dot products of vertices: one word where the components of an operand stand side by side, else products and sums, which become
//! vectors with those of other dot products.

use crate::abi::of_vertices;
use gpucc_ir::ssa::{Builder, Func, Imm, Op, Type, Value, ValueDef};

/// Bytes of a vector.
const ROW: u64 = 16;

/// Makes products and sums of the dot products whose operands both lie apart. Where operands lie depends on the rest of the program:
/// a position that is the same in every program has words alone.
pub fn scatter(func: &mut Func) -> bool {
    let mut changed = false;
    if !of_vertices(func.stage) || func.invariant {
        return changed;
    }
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            let single = data.op == Op::FDot && func.ty(data.results[0]) == Type::B32;
            if single && !data.args.chunks(data.args.len() / 2).any(|side| is_beside(func, side)) {
                let args = data.args.clone();
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let pairs = args.len() / 2;
                let mut product = |at: usize| b.op2(Op::FMul, args[at], args[pairs + at]);
                let products: Vec<Value> = (0..pairs).map(&mut product).collect();
                let mut sum = products[0];
                for &product in &products[1..pairs - 1] {
                    sum = b.op2(Op::FAdd, sum, product);
                }
                let data = &mut func.insts[inst];
                data.op = Op::FAdd;
                data.args = [sum, products[pairs - 1]].into_iter().collect();
                changed = true;
            }
            func.regions[region].insts.push(inst);
        }
    }
    changed
}

/// What the values are components of: an attribute, or a row of memory at a known place.
#[derive(PartialEq, Eq)]
enum Row {
    Attribute(gpucc_ir::ssa::Input),
    Memory(gpucc_ir::ssa::Resource, u64),
}

/// The values are components of one row.
fn is_beside(func: &Func, values: &[Value]) -> bool {
    let first = row(func, values[0]);
    first.is_some() && values[1..].iter().all(|&value| row(func, value) == first)
}

fn row(func: &Func, value: Value) -> Option<Row> {
    let ValueDef::Result(inst, number) = func.values[value].def else { return None };
    let data = &func.insts[inst];
    match (data.op, &data.imm) {
        (Op::Input, Imm::Input(input, _)) => Some(Row::Attribute(*input)),
        (Op::BufferLoad, Imm::Resource(resource)) => {
            let address = func.as_const(*data.args.first()?)? + 4 * u64::from(number);
            Some(Row::Memory(*resource, address / ROW))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::scatter;
    use gpucc_ir::ssa::{Op, parse};

    /// What is left of a dot product of an attribute's components with others.
    fn ops(head: &str, others: &str) -> Vec<Op> {
        let text = format!(
            "func \"one\" vertex {head} {{
              in0 = \"a\" f32 x 2 location 0 perspective center
              out0 = \"\" f32 x 4 builtin position
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = input in0.1
              %2: b32 = fadd %0, %0
              %3: b32 = fadd %1, %1
              %4: b32 = fdot {others}, %3, %2
              output out0.0, %4
              yield
            }}"
        );
        let mut func = parse(&text).expect("the text is right").funcs.remove(0);
        scatter(&mut func);
        let insts = func.regions_in_order()[0].0;
        func.regions[insts].insts.iter().map(|&inst| func.insts[inst].op).skip(4).take(3).collect()
    }

    #[test]
    fn a_dot_product_stays_where_an_operand_stands_side_by_side() {
        assert_eq!(ops("", "%0, %1")[0], Op::FDot);
        assert_eq!(ops("", "%2, %3"), [Op::FMul, Op::FMul, Op::FAdd]);
    }

    #[test]
    fn positions_that_are_the_same_in_every_program_have_one_kind_of_dot_product() {
        for operands in ["%0, %1", "%2, %3"] {
            assert_eq!(ops("invariant", operands)[0], Op::FDot);
        }
    }
}
