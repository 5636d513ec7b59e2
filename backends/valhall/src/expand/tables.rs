//! Small tables of constants become words that are shifted: an element of 1, 2,
//! 4, 8 or 16 bits is cut out at the index, and a float is what is cut out times a step, plus the least.
//! That is a few instructions of the execution units in place of a memory access. Larger ones are read
//! from a buffer that the driver fills with them (`lower::memory`).

use gpucc_ir::ssa::{Builder, Func, Imm, Inst, InstData, MemSpace, Op, Region, Stage, Type, Value};
use smallvec::SmallVec;

/// Instructions that replace the two of an access, where the program has no other reason to wait for
/// memory.
const COST: u32 = 16;
/// Instructions of an access: the offset and the load.
const ACCESS: u32 = 2;

/// Replaces what fits; true when anything did.
pub(super) fn run(func: &mut Func) -> bool {
    if func.mems.values().all(|mem| mem.space != MemSpace::Constant) {
        return false;
    }
    // A vertex program waits for memory in any case: its outputs go there.
    let limit = match func.stage {
        Stage::Vertex => ACCESS,
        _ => COST,
    };
    let mut changed = false;
    for (region, ..) in func.regions_in_order() {
        let loads = |&inst: &Inst| func.insts[inst].op == Op::MemLoad;
        if !func.regions[region].insts.iter().any(loads) {
            continue;
        }
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let packed = packed(func, inst).filter(|packed| packed.cost() <= limit);
            if let Some(packed) = packed {
                changed = true;
                emit(func, region, inst, &packed);
            } else {
                func.regions[region].insts.push(inst);
            }
        }
    }
    changed
}

/// How one loaded word follows from the index.
#[derive(Clone, Debug, PartialEq)]
enum Column {
    /// The same everywhere.
    Same(u32),
    /// What is cut out.
    Bits(u32),
    /// What is cut out of the word, plus something.
    From(u32, u32),
    /// The index plus something.
    Count(u32),
    /// The index as a number, times the step, plus the first.
    Line(f32, f32),
    /// What is cut out of the word as a number, times the step, plus the least.
    Float(u32, f32, f32),
}

#[derive(Debug)]
struct Packed {
    index: Value,
    /// Bits of an element: a power of two.
    width: u32,
    columns: SmallVec<[Column; 4]>,
}

impl Packed {
    fn cost(&self) -> u32 {
        let columns = self.columns.iter().map(|column| match *column {
            Column::Same(_) => 0,
            Column::Bits(_) | Column::Count(_) => 1,
            Column::From(..) => 2,
            Column::Line(1.0, 0.0) => 1,
            Column::Line(..) => 2,
            Column::Float(_, 1.0, 0.0) => 2,
            Column::Float(..) => 3,
        });
        u32::from(self.width > 1) + columns.sum::<u32>()
    }
}

/// Index, bytes from one element to the next, and bytes before the first.
fn place(func: &Func, address: Value) -> Option<(Value, u32, u32)> {
    let constant = |value: Value| func.as_const(value).map(|bits| bits as u32);
    let data = func.def(address)?;
    match data.op {
        Op::IAdd => {
            let offset = constant(data.args[1])?;
            let (index, stride, before) = place(func, data.args[0])?;
            Some((index, stride, before.checked_add(offset)?))
        }
        Op::Shl => {
            let by = constant(data.args[1])?;
            (by < 12).then(|| (data.args[0], 1 << by, 0))
        }
        Op::IMul => Some((data.args[0], constant(data.args[1])?, 0)),
        _ => None,
    }
}

fn packed(func: &Func, inst: Inst) -> Option<Packed> {
    let data = &func.insts[inst];
    let Imm::Mem(access) = data.imm else {
        return None;
    };
    let words = &func.mems[access.mem].words;
    let constant = func.mems[access.mem].space == MemSpace::Constant;
    if !constant || !data.results.iter().all(|&result| func.ty(result) == Type::B32) {
        return None;
    }
    let (index, stride, before) = place(func, data.args[0])?;
    if stride < 4 || stride % 4 != 0 || before % 4 != 0 || before < access.lo {
        return None;
    }
    let len = 4 * data.results.len() as u32;
    let room = access.hi.checked_sub(before)?.checked_sub(len)?;
    let count = room / stride + 1;
    if !(2..=32).contains(&count) {
        return None;
    }
    let column = |k: u32| -> Option<SmallVec<[u32; 32]>> {
        let at = |i: u32| words.get(((before + stride * i) / 4 + k) as usize).copied();
        (0..count).map(at).collect()
    };
    let mut codes: SmallVec<[(Code, SmallVec<[u32; 32]>); 4]> = SmallVec::new();
    for k in 0..data.results.len() as u32 {
        codes.push(code(&column(k)?)?);
    }
    let most = codes.iter().flat_map(|(_, parts)| parts.iter().copied());
    let width = (32 - most.max().unwrap_or(0).leading_zeros()).max(1).next_power_of_two();
    if width * count > 32 {
        return None;
    }
    let columns = codes.iter().map(|(code, parts)| {
        let mut word = 0;
        for (i, part) in parts.iter().enumerate() {
            word |= part << (width * i as u32);
        }
        match *code {
            Code::Same(bits) => Column::Same(bits),
            Code::Count(first) => Column::Count(first),
            Code::Line(step, first) => Column::Line(step, first),
            Code::From(0) => Column::Bits(word),
            Code::From(least) => Column::From(word, least),
            Code::Float(step, least) => Column::Float(word, step, least),
        }
    });
    Some(Packed { index, width, columns: columns.collect() })
}

/// What is done with the part that is cut out.
#[derive(Copy, Clone)]
enum Code {
    Same(u32),
    Count(u32),
    Line(f32, f32),
    From(u32),
    Float(f32, f32),
}

/// The parts of a column, and what makes words of them.
fn code(column: &[u32]) -> Option<(Code, SmallVec<[u32; 32]>)> {
    let first = column[0];
    if column.iter().all(|&word| word == first) {
        return Some((Code::Same(first), SmallVec::new()));
    }
    let counted = |(i, &word): (usize, &u32)| word == first.wrapping_add(i as u32);
    if column.iter().enumerate().all(counted) {
        return Some((Code::Count(first), SmallVec::new()));
    }
    if let Some(line) = line(column) {
        return Some((line, SmallVec::new()));
    }
    let most = *column.iter().max()?;
    if most <= 0xffff {
        return Some((Code::From(0), column.iter().copied().collect()));
    }
    let least = column.iter().map(|&word| word as i32).min()?;
    let above = |&word: &u32| (word as i32).checked_sub(least).map(|part| part as u32);
    let parts: Option<SmallVec<[u32; 32]>> = column.iter().map(above).collect();
    if let Some(parts) = parts
        && parts.iter().all(|&part| part <= 0xffff)
    {
        return Some((Code::From(least as u32), parts));
    }
    floats(column)
}

/// Numbers that follow each other at one step, exactly.
fn line(column: &[u32]) -> Option<Code> {
    let number = |word: u32| f32::from_bits(word);
    let (first, second) = (number(column[0]), number(column[1]));
    let step = second - first;
    let on = |(i, &word): (usize, &u32)| {
        let exact = f64::from(first) + i as f64 * f64::from(step);
        f64::from(number(word)) == exact && (exact != 0.0 || word == 0)
    };
    // Small integers read as numbers are denormal, and so are their steps: they are integers.
    let straight = step.is_normal() && column.iter().enumerate().all(on);
    straight.then_some(Code::Line(step, first))
}

/// Numbers at equal steps, give or take the missing ones.
fn floats(column: &[u32]) -> Option<(Code, SmallVec<[u32; 32]>)> {
    let numbers: SmallVec<[f32; 32]> = column.iter().map(|&word| f32::from_bits(word)).collect();
    if !numbers.iter().all(|number| number.is_finite()) {
        return None;
    }
    let least = numbers.iter().copied().fold(f32::INFINITY, f32::min);
    let step = numbers
        .iter()
        .map(|number| number - least)
        .filter(|&difference| difference > 0.0)
        .fold(f32::INFINITY, f32::min);
    // From zero on where that takes no more bits: a product alone is left then.
    let least = if least > 0.0 && least <= step { 0.0 } else { least };
    let step = if least == 0.0 {
        let positive = numbers.iter().copied().filter(|&number| number > 0.0);
        positive.fold(f32::INFINITY, f32::min)
    } else {
        step
    };
    let part = |(number, &bits): (&f32, &u32)| {
        let part = ((f64::from(*number) - f64::from(least)) / f64::from(step)).round();
        let exact = (0.0..=65535.0).contains(&part)
            && (part * f64::from(step) + f64::from(least)) as f32 == *number
            && (*number != 0.0 || bits == 0);
        exact.then_some(part as u32)
    };
    let parts: Option<SmallVec<[u32; 32]>> = numbers.iter().zip(column).map(part).collect();
    Some((Code::Float(step, least), parts?))
}

fn emit(func: &mut Func, region: Region, inst: Inst, packed: &Packed) {
    let results = std::mem::take(&mut func.insts[inst].results);
    let span = func.insts[inst].span;
    let mut b = Builder::at(func, region);
    b.span = span;
    let by = match packed.width {
        1 => packed.index,
        width => {
            let log2 = b.u32(width.trailing_zeros());
            b.op2(Op::Shl, packed.index, log2)
        }
    };
    let mask = ((1u64 << packed.width) - 1) as u32;
    for (&result, column) in results.iter().zip(&packed.columns) {
        let cut = |b: &mut Builder, word: u32| {
            let (word, mask) = (b.u32(word), b.u32(mask));
            let shifted = b.op2(Op::LShr, word, by);
            (shifted, mask)
        };
        let (op, args): (Op, SmallVec<[Value; 4]>) = match *column {
            Column::Same(bits) => {
                define_constant(b.func, region, result, bits);
                continue;
            }
            Column::Bits(word) => {
                let (shifted, mask) = cut(&mut b, word);
                (Op::And, SmallVec::from_slice(&[shifted, mask]))
            }
            Column::From(word, least) => {
                let (shifted, mask) = cut(&mut b, word);
                let (part, least) = (b.op2(Op::And, shifted, mask), b.u32(least));
                (Op::IAdd, SmallVec::from_slice(&[part, least]))
            }
            Column::Count(first) => {
                let first = b.u32(first);
                (Op::IAdd, SmallVec::from_slice(&[packed.index, first]))
            }
            Column::Line(step, first) => scaled(&mut b, packed.index, step, first),
            Column::Float(word, step, least) => {
                let (shifted, mask) = cut(&mut b, word);
                let part = b.op2(Op::And, shifted, mask);
                scaled(&mut b, part, step, least)
            }
        };
        define(b.func, region, result, op, Imm::None, args);
    }
}

/// The last operation of an integer as a number, times the step, plus the least.
fn scaled(b: &mut Builder, part: Value, step: f32, least: f32) -> (Op, SmallVec<[Value; 4]>) {
    if step == 1.0 && least == 0.0 {
        return (Op::UToF, SmallVec::from_slice(&[part]));
    }
    let number = b.convert(Op::UToF, Type::B32, part);
    let step = b.f32(step);
    if least == 0.0 {
        (Op::FMul, SmallVec::from_slice(&[number, step]))
    } else {
        let least = b.f32(least);
        (Op::FMa, SmallVec::from_slice(&[number, step, least]))
    }
}

/// The result keeps its name: this is its new definition.
fn define(
    func: &mut Func,
    region: Region,
    result: Value,
    op: Op,
    imm: Imm,
    args: SmallVec<[Value; 4]>,
) {
    let inst = func.insts.push(InstData {
        results: SmallVec::from_slice(&[result]),
        ..InstData::new(op, imm, &args, gpucc_ir::ssa::Span::NONE)
    });
    func.values[result].def = gpucc_ir::ssa::ValueDef::Result(inst, 0);
    func.regions[region].insts.push(inst);
}

fn define_constant(func: &mut Func, region: Region, result: Value, bits: u32) {
    let imm = Imm::Bits(bits.into());
    define(func, region, result, Op::Const, imm, SmallVec::new());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(numbers: &[f32]) -> Vec<u32> {
        numbers.iter().map(|number| number.to_bits()).collect()
    }

    #[test]
    fn halves_are_counted_in_halves_and_from_the_least() {
        let (code, parts) = code(&words(&[0.0, 0.5, 1.0, 0.5])).expect("a pattern");
        assert!(matches!(code, Code::Float(0.5, 0.0)));
        assert_eq!(parts[..], [0, 1, 2, 1]);
        let (code, parts) = super::code(&words(&[-1.0, 3.0, -1.0, 1.0])).expect("a pattern");
        assert!(matches!(code, Code::Float(2.0, -1.0)));
        assert_eq!(parts[..], [0, 2, 0, 1]);
    }

    #[test]
    fn what_follows_at_one_step_needs_no_word() {
        let (counted, _) = code(&[3, 4, 5]).expect("a pattern");
        assert!(matches!(counted, Code::Count(3)));
        let (numbers, parts) = code(&words(&[-1.0, 0.5, 2.0])).expect("a pattern");
        assert!(matches!(numbers, Code::Line(1.5, -1.0)));
        assert!(parts.is_empty());
        let (integers, _) = code(&[0, 2, 4]).expect("a pattern");
        assert!(matches!(integers, Code::From(0)), "integers are no numbers");
    }

    #[test]
    fn numbers_without_a_common_step_are_no_pattern() {
        assert!(code(&words(&[0.1, 0.37, 1.0e9])).is_none());
        assert!(code(&words(&[0.0, -0.0, 1.0])).is_none(), "a zero has a sign");
    }

    #[test]
    fn integers_count_from_the_least_where_they_are_large_or_negative() {
        let (code, parts) = code(&[u32::MAX, 1, 0]).expect("a pattern");
        assert!(matches!(code, Code::From(u32::MAX)));
        assert_eq!(parts[..], [0, 2, 1]);
    }
}
