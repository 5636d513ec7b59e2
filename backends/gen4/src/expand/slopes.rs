//! Sums of a product with a number and another number: LINE takes both numbers from the constants and makes the sum in one word
//! (G45 vol. 4, 14.2.21). What other products the sum has, MAC adds to what LINE leaves in the accumulator.

use super::uses::{Uses, uses};
use crate::abi::of_vertices;
use crate::abi::{PUSHED, tabled};
use gpucc_ir::ssa::{
    Access, Builder, Func, Imm, Inst, InstData, Mem, MemData, MemSpace, Op, Region, Type, Value,
};
use smallvec::SmallVec;

/// Pairs of numbers of a program, four words each.
const MOST: usize = 16;
/// Steps back that a sum of products is looked for.
const NEAR: usize = 16;
/// Words of a pair: LINE reads the first and the last of four.
const WORDS: usize = 4;

/// A sum: the slope, what it is multiplied with, the number that is added, and other products.
struct Sum {
    slope: u32,
    of: Value,
    offset: u32,
    rest: SmallVec<[[Value; 2]; 4]>,
}

/// Whether a value is a number that no rounding of a zero or of a denormal would change.
fn number(func: &Func, value: Value) -> Option<f32> {
    let number =
        f32::from_bits(func.as_const(value).filter(|_| func.ty(value) == Type::B32)? as u32);
    number.is_normal().then_some(number)
}

/// Makes sums of LINE. Vertices do it on several components at once.
pub fn join(func: &mut Func) -> bool {
    let others = func.mems.values().filter(|data| data.space == MemSpace::Constant);
    let words: usize = others.map(|data| data.words.len().next_multiple_of(8)).sum();
    // No word of a buffer gives way to them.
    let room = tabled(func.stage).saturating_sub(PUSHED);
    let most = (room.saturating_sub(words) / WORDS).min(MOST);
    if of_vertices(func.stage) || most == 0 {
        return false;
    }
    let uses = uses(func);
    let mut saturated = cranelift_entity::EntitySet::new();
    func.each_inst(|data| {
        if data.op == Op::FSat {
            saturated.insert(data.args[0]);
        }
    });
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    let mut mem: Option<Mem> = None;
    for (region, ..) in func.regions_in_order() {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            // A saturation is free where a sum stands before it.
            if let Some(&result) = func.insts[inst].results.first()
                && !saturated.contains(result)
                && let Some(sum) = sum(func, inst, &uses, region)
                && let Some(pair) = pair(&mut pairs, [sum.slope, sum.offset], most)
            {
                let mem = *mem.get_or_insert_with(|| {
                    func.mems.push(MemData {
                        name: "numbers".into(),
                        size: 0,
                        space: MemSpace::Constant,
                        words: Vec::new(),
                    })
                });
                write(func, region, inst, &sum, (mem, pair));
            }
            func.regions[region].insts.push(inst);
        }
    }
    let Some(mem) = mem else { return false };
    let words = pairs.iter().flat_map(|&[slope, offset]| [slope, 0, 0, offset]).collect::<Vec<_>>();
    let data = &mut func.mems[mem];
    (data.size, data.words) = (4 * words.len() as u32, words);
    true
}

/// The place of a pair, if there is room.
fn pair(pairs: &mut Vec<[u32; 2]>, wanted: [u32; 2], most: usize) -> Option<usize> {
    if let Some(place) = pairs.iter().position(|pair| *pair == wanted) {
        return Some(place);
    }
    (pairs.len() < most).then(|| {
        pairs.push(wanted);
        pairs.len() - 1
    })
}

/// What an instruction adds, where LINE makes it.
fn sum(func: &Func, inst: Inst, uses: &Uses, region: Region) -> Option<Sum> {
    let data = &func.insts[inst];
    if data.results.len() != 1 || func.ty(data.results[0]) != Type::B32 {
        return None;
    }
    // The products, whether they are taken from the number, and the number.
    let (products, negative, offset) = match (data.op, &data.args[..]) {
        (Op::FMa, &[a, b, c]) => {
            return product(func, &[[a, b]], false, number(func, c)?);
        }
        (Op::FAdd, &[a, b]) => match (number(func, a), number(func, b)) {
            (None, Some(offset)) => (a, false, offset),
            (Some(offset), None) => (b, false, offset),
            _ => return None,
        },
        (Op::FSub, &[a, b]) => match (number(func, a), number(func, b)) {
            (None, Some(offset)) => (a, false, -offset),
            (Some(offset), None) => (b, true, offset),
            _ => return None,
        },
        _ => return None,
    };
    let made = func.def(products).filter(|_| uses[products] == 1)?;
    // Operands of several products wait across no message.
    if made.op != Op::FMul && (made.op != Op::FDot || !is_near(func, products, region)) {
        return None;
    }
    let (first, second) = made.args.split_at(made.args.len() / 2);
    let all: SmallVec<[[Value; 2]; 4]> = first.iter().zip(second).map(|(&a, &b)| [a, b]).collect();
    product(func, &all, negative, offset)
}

/// Whether a value is made a few pure steps before the end of a region so far.
fn is_near(func: &Func, value: Value, region: Region) -> bool {
    let before = func.regions[region].insts.iter().rev().take(NEAR);
    let mut pure = before.take_while(|&&inst| func.insts[inst].op.is_pure());
    pure.any(|&inst| func.insts[inst].results.contains(&value))
}

/// Products of which one is with a number. What is taken from a number is one product alone.
fn product(func: &Func, all: &[[Value; 2]], negative: bool, offset: f32) -> Option<Sum> {
    // A sum of products has four of them at most, the number is one.
    if negative && all.len() > 1 || all.len() > 3 {
        return None;
    }
    let (at, slope, of) = all.iter().enumerate().find_map(|(at, &[a, b])| {
        match (number(func, a), number(func, b)) {
            (None, Some(slope)) => Some((at, slope, a)),
            (Some(slope), None) => Some((at, slope, b)),
            _ => None,
        }
    })?;
    let slope = if negative { -slope } else { slope };
    let others = all.iter().enumerate().filter(|&(other, _)| other != at);
    let rest = others.map(|(_, &product)| product).collect();
    Some(Sum { slope: slope.to_bits(), of, offset: offset.to_bits(), rest })
}

/// The instruction becomes the sum of products, with the numbers as loads of a table.
fn write(func: &mut Func, region: Region, inst: Inst, sum: &Sum, (mem, pair): (Mem, usize)) {
    let mut b = Builder::at(func, region);
    b.span = b.func.insts[inst].span;
    let mut load = |word: usize| {
        let lo = 4 * word as u32;
        let at = b.u32(lo);
        b.mem_load(Access { mem, lo, hi: lo + 4 }, at, &[Type::B32])[0]
    };
    let (slope, offset) = (load(WORDS * pair), load(WORDS * pair + 3));
    let one = b.f32(1.0);
    let first = [slope, offset].into_iter().chain(sum.rest.iter().map(|product| product[0]));
    let second = [sum.of, one].into_iter().chain(sum.rest.iter().map(|product| product[1]));
    let args: SmallVec<[Value; 4]> = first.chain(second).collect();
    let span = func.insts[inst].span;
    let results = func.insts[inst].results.clone();
    func.insts[inst] = InstData { results, ..InstData::new(Op::FDot, Imm::None, &args, span) };
}

#[cfg(test)]
mod tests {
    use super::super::parsed;
    use super::join;
    use gpucc_ir::ssa::verify;

    /// The text of a body, behind two numbers of a pixel, once sums are joined.
    fn joined(stage: &str, body: &str) -> String {
        let text = format!(
            "func \"one\" {stage} {{
              in0 = \"v\" f32 x 4 location 0 perspective center
              out0 = \"\" f32 x 4 location 0 perspective
            }} body {{
              %0: b32 = input in0.0
              %1: b32 = input in0.1
              %2: b32 = const 0x40000000
              %3: b32 = const 0x3f000000
              {body}
              yield
            }}"
        );
        let mut func = parsed(&text);
        join(&mut func);
        verify(&func).expect("still sound");
        func.to_string()
    }

    const LINE: &str = "%4: b32 = fmul %0, %2
                        %5: b32 = fadd %4, %3
                        output out0.0, %5";

    #[test]
    fn both_numbers_of_a_line_are_read_from_the_constants() {
        let text = joined("fragment", LINE);
        assert!(text.contains("= fdot "), "{text}");
        assert!(text.contains("constant 16"), "one pair of four words: {text}");
        // Others take the same pair.
        let twice = format!("{LINE} %6: b32 = fma %1, %2, %3 output out0.1, %6");
        let text = joined("fragment", &twice);
        assert_eq!(text.matches("= fdot ").count(), 2, "{text}");
        assert!(text.contains("constant 16"), "{text}");
    }

    #[test]
    fn what_line_does_not_make_stays() {
        for (stage, body) in [
            ("vertex", LINE.to_owned()),
            ("fragment", LINE.replace("output out0.0, %5", "%6: b32 = fsat %5 output out0.0, %6")),
            ("fragment", format!("{LINE} output out0.1, %4")),
            ("fragment", LINE.replace("fadd %4, %3", "fadd %4, %1")),
        ] {
            let text = joined(stage, &body);
            assert!(!text.contains("fdot"), "{text}");
        }
    }

    #[test]
    fn other_products_are_added_behind_it() {
        let text = joined(
            "fragment",
            "%4: b32 = fdot %0, %1, %0, %2
             %5: b32 = fsub %4, %3
             %6: b32 = fsub %3, %5
             output out0.0, %6",
        );
        assert!(text.contains("= fdot %6, %8, %0, %1, %9, %0"), "{text}");
        assert!(text.contains("= fsub %3, %10"), "a sum of products is taken from nothing: {text}");
    }
}
