//! Sums of two lines in one value: `c (1 - t) + d t` of numbers c and d becomes `c + (d - c) t`, one product and one sum.

use super::uses::{Uses, uses};
use gpucc_ir::ssa::{Builder, Func, Op, Type, Value};

/// Operations that a line is followed through.
const DEPTH: u32 = 3;

/// `slope * of + first`.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Line {
    of: Value,
    slope: f64,
    first: f64,
}

/// The lines of sums.
struct Lines<'a> {
    func: &'a Func,
    uses: &'a Uses,
}

impl Lines<'_> {
    fn number(&self, value: Value) -> Option<f64> {
        let bits = self.func.as_const(value)?;
        let number = f64::from(f32::from_bits(bits as u32));
        number.is_finite().then_some(number)
    }

    /// The line that a value is; the first operation is for its reader alone.
    fn line(&self, value: Value, depth: u32) -> Line {
        let alone = Line { of: value, slope: 1.0, first: 0.0 };
        let Some(data) = self.func.def(value).filter(|_| depth > 0) else { return alone };
        let shared = depth == DEPTH && self.uses[value] != 1;
        if shared || self.func.ty(value) != Type::B32 {
            return alone;
        }
        let of = |at: usize| self.line(data.args[at], depth - 1);
        let scaled =
            |line: Line, by: f64| Line { slope: line.slope * by, first: line.first * by, ..line };
        let moved = |line: Line, by: f64| Line { first: line.first + by, ..line };
        let number = |at: usize| data.args.get(at).and_then(|&value| self.number(value));
        match (data.op, number(0), number(1)) {
            (Op::FNeg, None, _) => scaled(of(0), -1.0),
            (Op::FMul, None, Some(by)) => scaled(of(0), by),
            (Op::FMul, Some(by), None) => scaled(of(1), by),
            (Op::FAdd, None, Some(by)) => moved(of(0), by),
            (Op::FAdd, Some(by), None) => moved(of(1), by),
            (Op::FSub, None, Some(by)) => moved(of(0), -by),
            (Op::FSub, Some(by), None) => moved(scaled(of(1), -1.0), by),
            _ => alone,
        }
    }

    /// The line of a sum or a difference of two lines in one value, of which one takes an operation at least, or two where the other
    /// takes none.
    fn sum(&self, op: Op, args: &[Value]) -> Option<Line> {
        let sign = match op {
            Op::FAdd => 1.0,
            Op::FSub => -1.0,
            _ => return None,
        };
        let (a, b) = (self.line(args[0], DEPTH), self.line(args[1], DEPTH));
        let plain = |line: &Line, value: Value| line.of == value;
        let long = |line: &Line| line.slope != 1.0 && line.first != 0.0;
        let apart = match (plain(&a, args[0]), plain(&b, args[1])) {
            (false, false) => true,
            (true, false) => long(&b),
            (false, true) => long(&a),
            (true, true) => false,
        };
        if a.of != b.of || !apart {
            return None;
        }
        let line =
            Line { of: a.of, slope: a.slope + sign * b.slope, first: a.first + sign * b.first };
        let fits = |number: f64| number == 0.0 || (1e-30..=1e30).contains(&number.abs());
        // What nearly cancels keeps what its terms have of digits.
        let size = a.slope.abs().max(b.slope.abs());
        let whole = line.slope.abs() > size * 1e-3 && line.slope != 0.0;
        (whole && fits(line.slope) && fits(line.first)).then_some(line)
    }
}

/// Rewrites such sums. Who else reads a product depends on the rest of the program: a position that is the same in every program
/// keeps its sums.
pub fn join(func: &mut Func) -> bool {
    if func.invariant {
        return false;
    }
    let regions = func.regions_in_order();
    let uses = uses(func);
    let mut changed = false;
    for (region, ..) in regions {
        for inst in std::mem::take(&mut func.regions[region].insts) {
            let data = &func.insts[inst];
            let floats =
                matches!(data.op, Op::FAdd | Op::FSub) && func.ty(data.results[0]) == Type::B32;
            let lines = Lines { func, uses: &uses };
            let line = floats.then(|| lines.sum(data.op, &data.args)).flatten();
            if let Some(line) = line {
                let mut b = Builder::at(func, region);
                b.span = b.func.insts[inst].span;
                let slope = b.f32(line.slope as f32);
                let (op, other) = if line.first == 0.0 {
                    (Op::FMul, (line.of, slope))
                } else {
                    let product = b.op2(Op::FMul, line.of, slope);
                    (Op::FAdd, (product, b.f32(line.first as f32)))
                };
                let data = &mut func.insts[inst];
                data.op = op;
                (data.args[0], data.args[1]) = other;
                changed = true;
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

    /// Operations of floats in a body that has a value %1 and the result %9.
    fn joined(body: &str) -> (usize, bool) {
        joined_in("fragment", body)
    }

    fn joined_in(stage: &str, body: &str) -> (usize, bool) {
        let text = format!(
            "func \"one\" {stage} {{
              in0 = \"v\" f32 x 4 location 0 flat center
              out0 = \"\" f32 x 4 location 0 perspective
            }} body {{
              %1: b32 = input in0.0
              {body}
              output out0.0, %9
              yield
            }}"
        );
        let mut func = parsed(&text);
        let changed = join(&mut func);
        let used = func.regions[func.body].insts.iter();
        let line = used.filter(|&&inst| {
            let data = &func.insts[inst];
            data.args.contains(&func.insts[func.regions[func.body].insts[0]].results[0])
        });
        (line.count(), changed)
    }

    #[test]
    fn mixtures_of_numbers_are_one_line() {
        let mixture = "%2: b32 = const 0x3f800000 %3: b32 = fsub %2, %1 %4: b32 = const 0x40000000
          %5: b32 = fmul %3, %4 %6: b32 = const 0x40a00000 %7: b32 = fmul %1, %6 %9: b32 = fadd %5, %7";
        assert_eq!(joined(mixture), (3, true));
        assert!(joined_in("vertex", mixture).1);
        assert!(!joined_in("vertex invariant", mixture).1, "the same in every program");
        // The sum itself reads the line's product now; the value has a reader more until the dead go.
        let apart = "%2: b32 = const 0x3f800000 %3: b32 = fsub %2, %1 %9: b32 = fmul %3, %3";
        assert!(!joined(apart).1);
        let cancels = "%2: b32 = const 0x40000000 %3: b32 = fmul %1, %2 %4: b32 = fmul %1, %2
          %5: b32 = fneg %3 %9: b32 = fadd %5, %4";
        assert!(!joined(cancels).1, "what cancels stays");
    }
}
