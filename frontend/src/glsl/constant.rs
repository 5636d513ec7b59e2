//! Constant expressions (GLSL 4.60, 4.3.3): what the language lets one ask of the compiler.
//!
//! Floats are computed in double precision and rounded where they are used, as other compilers of GLSL do.

use super::constant_vectors;
use super::tree::{Binary, Expr, Kind, Num, Unary};
use super::types::{Ty, Types};
use naga::{Scalar, ScalarKind};
use std::rc::Rc;

/// Scalars of a constant that is kept as one.
const MOST: u64 = 4096;

impl Num {
    pub fn float(self) -> f64 {
        match self {
            Num::F(value) => value,
            Num::I(value) => value as f64,
            Num::U(value) => value as f64,
            Num::B(value) => f64::from(u8::from(value)),
        }
    }

    pub fn int(self) -> i64 {
        match self {
            Num::F(value) => value as i64,
            Num::I(value) => value,
            Num::U(value) => value as i64,
            Num::B(value) => value.into(),
        }
    }

    pub fn truth(self) -> bool {
        match self {
            Num::F(value) => value != 0.0,
            Num::I(value) => value != 0,
            Num::U(value) => value != 0,
            Num::B(value) => value,
        }
    }

    /// The bits of the scalar.
    pub fn bits(self, scalar: Scalar) -> u64 {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => self.truth().into(),
            (ScalarKind::Float, 2) => half::f16::from_f64(self.float()).to_bits().into(),
            (ScalarKind::Float, 8) => self.float().to_bits(),
            (ScalarKind::Float, _) => (self.float() as f32).to_bits().into(),
            _ => self.int() as u64,
        }
    }

    /// The same number of another type.
    pub fn convert(self, scalar: Scalar) -> Num {
        match scalar.kind {
            ScalarKind::Bool => Num::B(self.truth()),
            ScalarKind::Float => Num::F(self.float()),
            ScalarKind::Sint => {
                let value = match (self, scalar.width) {
                    (Num::F(value), 4) => i64::from(value as i32),
                    _ => self.int(),
                };
                wrap(Num::I(value), scalar)
            }
            _ => {
                let value = match self {
                    Num::F(value) if scalar.width == 8 => value as u64,
                    // As C does to what is negative.
                    Num::F(value) if value < 0.0 => value as i64 as u64,
                    Num::F(value) => u64::from(value as u32),
                    _ => self.int() as u64,
                };
                wrap(Num::U(value), scalar)
            }
        }
    }
}

/// Cuts an integer to its width.
fn wrap(num: Num, scalar: Scalar) -> Num {
    let bits = 64 - 8 * u32::from(scalar.width.min(8));
    match num {
        Num::I(value) => Num::I(value << bits >> bits),
        Num::U(value) => Num::U(value << bits >> bits),
        other => other,
    }
}

fn unary(op: Unary, a: Num, scalar: Scalar) -> Num {
    let value = match (op, a) {
        (Unary::Negate, Num::F(value)) => Num::F(-value),
        (Unary::Negate, Num::I(value)) => Num::I(value.wrapping_neg()),
        (Unary::Negate, Num::U(value)) => Num::U(value.wrapping_neg()),
        (Unary::BitNot, Num::I(value)) => Num::I(!value),
        (Unary::BitNot, Num::U(value)) => Num::U(!value),
        (_, other) => Num::B(!other.truth()),
    };
    wrap(value, scalar)
}

fn binary(op: Binary, a: Num, b: Num, scalar: Scalar) -> Option<Num> {
    let shift = || u32::try_from(b.int()).ok().filter(|by| *by < 8 * u32::from(scalar.width));
    let compare = |holds: fn(std::cmp::Ordering) -> bool| {
        let order = match (a, b) {
            (Num::F(a), Num::F(b)) => a.partial_cmp(&b),
            (Num::U(a), Num::U(b)) => Some(a.cmp(&b)),
            _ => Some(a.int().cmp(&b.int())),
        };
        Some(Num::B(order.is_some_and(holds)))
    };
    let found = match (op, a, b) {
        (Binary::Less, ..) => return compare(std::cmp::Ordering::is_lt),
        (Binary::LessEqual, ..) => return compare(std::cmp::Ordering::is_le),
        (Binary::Greater, ..) => return compare(std::cmp::Ordering::is_gt),
        (Binary::GreaterEqual, ..) => return compare(std::cmp::Ordering::is_ge),
        (Binary::Add, Num::F(a), Num::F(b)) => Num::F(a + b),
        (Binary::Sub, Num::F(a), Num::F(b)) => Num::F(a - b),
        (Binary::Mul, Num::F(a), Num::F(b)) => Num::F(a * b),
        (Binary::Div, Num::F(a), Num::F(b)) if b != 0.0 => Num::F(a / b),
        (Binary::Add, Num::I(a), Num::I(b)) => Num::I(a.wrapping_add(b)),
        (Binary::Sub, Num::I(a), Num::I(b)) => Num::I(a.wrapping_sub(b)),
        (Binary::Mul, Num::I(a), Num::I(b)) => Num::I(a.wrapping_mul(b)),
        (Binary::Div, Num::I(a), Num::I(b)) => Num::I(a.checked_div(b)?),
        (Binary::Rem, Num::I(a), Num::I(b)) => Num::I(a.checked_rem(b)?),
        (Binary::Shl, Num::I(a), _) => Num::I(a << shift()?),
        (Binary::Shr, Num::I(a), _) => Num::I(a >> shift()?),
        (Binary::And, Num::I(a), Num::I(b)) => Num::I(a & b),
        (Binary::Or, Num::I(a), Num::I(b)) => Num::I(a | b),
        (Binary::Xor, Num::I(a), Num::I(b)) => Num::I(a ^ b),
        (Binary::Add, Num::U(a), Num::U(b)) => Num::U(a.wrapping_add(b)),
        (Binary::Sub, Num::U(a), Num::U(b)) => Num::U(a.wrapping_sub(b)),
        (Binary::Mul, Num::U(a), Num::U(b)) => Num::U(a.wrapping_mul(b)),
        (Binary::Div, Num::U(a), Num::U(b)) => Num::U(a.checked_div(b)?),
        (Binary::Rem, Num::U(a), Num::U(b)) => Num::U(a.checked_rem(b)?),
        (Binary::Shl, Num::U(a), _) => Num::U(a << shift()?),
        (Binary::Shr, Num::U(a), _) => Num::U(a >> shift()?),
        (Binary::And, Num::U(a), Num::U(b)) => Num::U(a & b),
        (Binary::Or, Num::U(a), Num::U(b)) => Num::U(a | b),
        (Binary::Xor, Num::U(a), Num::U(b)) => Num::U(a ^ b),
        _ => return None,
    };
    Some(wrap(found, scalar))
}

/// The scalars before an element of a type, and its own.
pub fn part(types: &Types, ty: Ty, index: u32) -> Option<(usize, usize)> {
    match ty {
        Ty::Struct(id) => {
            let members = &types.structure(id).members;
            let before: u64 =
                members.iter().take(index as usize).map(|one| types.count(one.ty).0).sum();
            let own = types.count(members.get(index as usize)?.ty).0;
            Some((before as usize, own as usize))
        }
        _ => {
            let (of, length) = types.elements(ty)?;
            let own = types.count(of).0 as usize;
            (index < length?).then_some((index as usize * own, own))
        }
    }
}

/// A scalar on the diagonal of a matrix; the others are zero.
pub fn diagonal<T: Copy>(columns: u8, rows: u8, value: T, zero: T) -> Vec<T> {
    let each =
        |at: usize| if at / usize::from(rows) == at % usize::from(rows) { value } else { zero };
    (0..usize::from(columns) * usize::from(rows)).map(each).collect()
}

/// A part of a matrix, within the unit matrix where it is larger.
pub fn resized<T: Copy>(from: (u8, u8), to: (u8, u8), values: &[T], zero: T, one: T) -> Vec<T> {
    let mut all = Vec::new();
    for column in 0..to.0 {
        for row in 0..to.1 {
            all.push(if column < from.0 && row < from.1 {
                values[usize::from(column) * usize::from(from.1) + usize::from(row)]
            } else if column == row {
                one
            } else {
                zero
            });
        }
    }
    all
}

/// Makes a constant of an expression whose operands are constants, where the operation is known here.
pub fn fold(types: &Types, mut expr: Expr) -> Expr {
    if matches!(expr.kind, Kind::Const(_)) || types.count(expr.ty).0 > MOST {
        return expr;
    }
    if let Some(known) = folded(types, &expr)
        && known.len() as u64 == types.count(expr.ty).0
        && !known.is_empty()
    {
        expr.kind = Kind::Const(known);
    }
    expr
}

fn folded(types: &Types, expr: &Expr) -> Option<Rc<[Num]>> {
    let scalar = expr.ty.scalar();
    let each = |count: usize, lane: &dyn Fn(usize) -> Option<Num>| {
        (0..count).map(lane).collect::<Option<Vec<Num>>>().map(Rc::from)
    };
    let pick = |values: &[Num], at: usize| if values.len() == 1 { values[0] } else { values[at] };
    let lanes = types.count(expr.ty).0 as usize;
    match &expr.kind {
        Kind::Member(base, index) => {
            let (start, count) = part(types, base.ty, *index)?;
            Some(Rc::from(base.known()?.get(start..start + count)?))
        }
        Kind::Index(base, index) => {
            let index = u32::try_from(index.known()?.first()?.int()).ok()?;
            let (start, count) = part(types, base.ty, index)?;
            Some(Rc::from(base.known()?.get(start..start + count)?))
        }
        Kind::Swizzle(base, chosen) => {
            let base = base.known()?;
            chosen
                .iter()
                .map(|lane| base.get(lane).copied())
                .collect::<Option<Vec<_>>>()
                .map(Rc::from)
        }
        Kind::Convert(inner) => {
            let (inner, scalar) = (inner.known()?, scalar?);
            Some(inner.iter().map(|num| num.convert(scalar)).collect())
        }
        Kind::Construct(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend_from_slice(part.known()?);
            }
            all.truncate(lanes);
            Some(all.into())
        }
        Kind::Splat(inner) => {
            let value = *inner.known()?.first()?;
            Some(vec![value; lanes].into())
        }
        Kind::Diagonal(inner) => match expr.ty {
            Ty::Matrix(_, columns, rows) => {
                Some(diagonal(columns, rows, *inner.known()?.first()?, Num::F(0.0)).into())
            }
            _ => None,
        },
        Kind::Resize(inner) => match (inner.ty, expr.ty) {
            (Ty::Matrix(_, ca, ra), Ty::Matrix(_, cb, rb)) => {
                let values = inner.known()?;
                Some(resized((ca, ra), (cb, rb), values, Num::F(0.0), Num::F(1.0)).into())
            }
            _ => None,
        },
        Kind::Unary(op, a) => {
            let a = a.known()?;
            each(a.len(), &|at| Some(unary(*op, a[at], scalar?)))
        }
        Kind::Binary(op, a, b) => {
            let matrices = matches!(a.ty, Ty::Matrix(..)) || matches!(b.ty, Ty::Matrix(..));
            let is_scalar = matches!(a.ty, Ty::Scalar(_)) || matches!(b.ty, Ty::Scalar(_));
            if *op == Binary::Mul && matrices && !is_scalar {
                return constant_vectors::product((a.known()?, a.ty), (b.known()?, b.ty));
            }
            let of = a.ty.scalar()?;
            let (a, b) = (a.known()?, b.known()?);
            each(a.len().max(b.len()), &|at| binary(*op, pick(a, at), pick(b, at), of))
        }
        Kind::Equal(equal, a, b) => {
            let (a, b) = (a.known()?, b.known()?);
            Some(vec![Num::B((a == b) == *equal)].into())
        }
        Kind::AndAlso(a, b) => {
            let (a, b) = (a.known()?[0].truth(), b.known()?[0].truth());
            Some(vec![Num::B(a && b)].into())
        }
        Kind::OrElse(a, b) => {
            let (a, b) = (a.known()?[0].truth(), b.known()?[0].truth());
            Some(vec![Num::B(a || b)].into())
        }
        Kind::Choose(condition, a, b) => {
            let (a, b) = (a.known()?, b.known()?);
            Some(if condition.known()?[0].truth() { a.clone() } else { b.clone() })
        }
        Kind::Builtin(name, arguments) => {
            let known: Option<Vec<&Rc<[Num]>>> = arguments.iter().map(Expr::known).collect();
            let known = known?;
            let types = known.iter().zip(arguments).map(|(values, own)| (&values[..], own.ty));
            let whole = constant_vectors::function(name, &types.collect::<Vec<_>>());
            if whole.is_some() {
                return whole;
            }
            let count = known.iter().map(|values| values.len()).max()?;
            if count != lanes {
                return None;
            }
            each(count, &|at| {
                let args: Vec<Num> = known.iter().map(|values| pick(values, at)).collect();
                function(name, &args, scalar?)
            })
        }
        _ => None,
    }
}

/// The one of three that is neither the least nor the greatest.
fn middle<T: Copy>([a, b, c]: [T; 3], less: impl Fn(T, T) -> bool) -> T {
    let (low, high) = if less(b, a) { (b, a) } else { (a, b) };
    match (less(c, low), less(high, c)) {
        (true, _) => low,
        (_, true) => high,
        _ => c,
    }
}

/// Functions lane by lane.
fn function(name: &str, args: &[Num], scalar: Scalar) -> Option<Num> {
    let float = |at: usize| match args.get(at) {
        Some(Num::F(value)) => Some(*value),
        _ => None,
    };
    if let Some(a) = float(0) {
        let value = match (name, args.len()) {
            ("radians", 1) => a.to_radians(),
            ("degrees", 1) => a.to_degrees(),
            ("sin", 1) => a.sin(),
            ("cos", 1) => a.cos(),
            ("tan", 1) => a.tan(),
            ("asin", 1) if a.abs() <= 1.0 => a.asin(),
            ("acos", 1) if a.abs() <= 1.0 => a.acos(),
            ("atan", 1) => a.atan(),
            ("atan", 2) => a.atan2(float(1)?),
            ("pow", 2) => a.powf(float(1)?),
            ("exp", 1) => a.exp(),
            ("log", 1) if a > 0.0 => a.ln(),
            ("exp2", 1) => a.exp2(),
            ("log2", 1) if a > 0.0 => a.log2(),
            ("sqrt", 1) if a >= 0.0 => a.sqrt(),
            ("inversesqrt", 1) if a > 0.0 => 1.0 / a.sqrt(),
            ("abs", 1) => a.abs(),
            ("floor", 1) => a.floor(),
            ("ceil", 1) => a.ceil(),
            ("trunc" | "truncate", 1) => a.trunc(),
            ("fract", 1) => a - a.floor(),
            ("round" | "roundEven", 1) => a.round_ties_even(),
            ("mod", 2) if float(1)? != 0.0 => a - float(1)? * (a / float(1)?).floor(),
            ("min", 2) => a.min(float(1)?),
            ("max", 2) => a.max(float(1)?),
            ("min3", 3) => a.min(float(1)?).min(float(2)?),
            ("max3", 3) => a.max(float(1)?).max(float(2)?),
            ("mid3", 3) => middle([a, float(1)?, float(2)?], |a, b| a < b),
            ("clamp", 3) => a.max(float(1)?).min(float(2)?),
            ("mix", 3) => match args[2] {
                Num::F(by) => a * (1.0 - by) + float(1)? * by,
                Num::B(second) => {
                    if second {
                        float(1)?
                    } else {
                        a
                    }
                }
                _ => return None,
            },
            ("step", 2) => f64::from(u8::from(float(1)? >= a)),
            ("sign", 1) => {
                if a == 0.0 {
                    0.0
                } else {
                    a.signum()
                }
            }
            ("fma", 3) => a * float(1)? + float(2)?,
            ("ldexp", 2) => a * f64::from(i32::try_from(args[1].int()).ok()?).exp2(),
            ("smoothstep", 3) => {
                let (high, at) = (float(1)?, float(2)?);
                let t = ((at - a) / (high - a)).clamp(0.0, 1.0);
                t * t * (3.0 - 2.0 * t)
            }
            ("sinh", 1) => a.sinh(),
            ("cosh", 1) => a.cosh(),
            ("tanh", 1) => a.tanh(),
            ("asinh", 1) => a.asinh(),
            ("acosh", 1) if a >= 1.0 => a.acosh(),
            ("atanh", 1) if a.abs() < 1.0 => a.atanh(),
            ("isnan", 1) => return Some(Num::B(a.is_nan())),
            ("isinf", 1) => return Some(Num::B(a.is_infinite())),
            ("floatBitsToInt", 1) => return Some(Num::I(((a as f32).to_bits() as i32).into())),
            ("floatBitsToUint", 1) => return Some(Num::U((a as f32).to_bits().into())),
            ("lessThan", 2) => return Some(Num::B(a < float(1)?)),
            ("lessThanEqual", 2) => return Some(Num::B(a <= float(1)?)),
            ("greaterThan", 2) => return Some(Num::B(a > float(1)?)),
            ("greaterThanEqual", 2) => return Some(Num::B(a >= float(1)?)),
            ("equal", 2) => return Some(Num::B(a == float(1)?)),
            ("notEqual", 2) => return Some(Num::B(a != float(1)?)),
            _ => return None,
        };
        return value.is_finite().then_some(Num::F(value));
    }
    let pair = || args.get(1).copied();
    let less = |a: Num, b: Num| match (a, b) {
        (Num::U(a), Num::U(b)) => a < b,
        _ => a.int() < b.int(),
    };
    let a = *args.first()?;
    let lesser = |a: Num, b: Num| if less(b, a) { b } else { a };
    let greater = |a: Num, b: Num| if less(a, b) { b } else { a };
    Some(match (name, args.len()) {
        ("min", 2) => lesser(a, pair()?),
        ("max", 2) => greater(a, pair()?),
        ("min3", 3) => lesser(lesser(a, args[1]), args[2]),
        ("max3", 3) => greater(greater(a, args[1]), args[2]),
        ("mid3", 3) => middle([a, args[1], args[2]], less),
        ("mix", 3) => args[usize::from(args[2].truth())],
        ("clamp", 3) => {
            let low = if less(a, args[1]) { args[1] } else { a };
            if less(args[2], low) { args[2] } else { low }
        }
        ("abs", 1) => wrap(Num::I(a.int().wrapping_abs()), scalar),
        ("sign", 1) => Num::I(a.int().signum()),
        ("findMSB", 1) => {
            let word = a.int() as u32;
            let word = if matches!(a, Num::I(value) if value < 0) { !word } else { word };
            Num::I(31 - i64::from(word.leading_zeros()))
        }
        ("findLSB", 1) => match a.int() as u32 {
            0 => Num::I(-1),
            word => Num::I(word.trailing_zeros().into()),
        },
        ("bitCount", 1) => Num::I((a.int() as u32).count_ones().into()),
        ("bitfieldReverse", 1) => {
            let word = (a.int() as u32).reverse_bits();
            wrap(
                if matches!(a, Num::I(_)) { Num::I(word.into()) } else { Num::U(word.into()) },
                scalar,
            )
        }
        ("bitfieldExtract", 3) | ("bitfieldInsert", 4) => {
            let last = args.len();
            let offset = u32::try_from(args[last - 2].int()).ok().filter(|at| *at <= 32)?;
            let bits =
                u32::try_from(args[last - 1].int()).ok().filter(|bits| *bits <= 32 - offset)?;
            let mask = (1u64 << bits) - 1;
            let word = u64::from(a.int() as u32);
            if last == 4 {
                let own = u64::from(args[1].int() as u32) & mask;
                let word = (word & !(mask << offset) | own << offset) as i64;
                wrap(
                    if matches!(a, Num::I(_)) { Num::I(word) } else { Num::U(word as u64) },
                    scalar,
                )
            } else {
                let own = word >> offset & mask;
                match a {
                    Num::I(_) if bits > 0 => Num::I((own << (64 - bits)) as i64 >> (64 - bits)),
                    Num::I(_) => Num::I(0),
                    _ => Num::U(own),
                }
            }
        }
        ("intBitsToFloat", 1) => Num::F(f32::from_bits(a.int() as u32).into()),
        ("uintBitsToFloat", 1) => Num::F(f32::from_bits(a.int() as u32).into()),
        ("lessThan", 2) => Num::B(less(a, pair()?)),
        ("lessThanEqual", 2) => Num::B(!less(pair()?, a)),
        ("greaterThan", 2) => Num::B(less(pair()?, a)),
        ("greaterThanEqual", 2) => Num::B(!less(a, pair()?)),
        ("equal", 2) => Num::B(a == pair()?),
        ("notEqual", 2) => Num::B(a != pair()?),
        ("not", 1) => Num::B(!a.truth()),
        _ => return None,
    })
}
