//! The built-in functions of WGSL on constants.

use super::value::{Fault, Found, Kind, Number, Shape, Value, convert, rounded};
use half::f16;
use std::rc::Rc;

/// What naga does not evaluate (or evaluates wrongly: `atanh`), so that the value stands in the text that it reads.
pub const REPLACED: [&str; 31] = [
    "atanh",
    "bitcast",
    "determinant",
    "extractBits",
    "faceForward",
    "frexp",
    "insertBits",
    "ldexp",
    "mix",
    "modf",
    "pack2x16float",
    "pack2x16snorm",
    "pack2x16unorm",
    "pack4x8snorm",
    "pack4x8unorm",
    "pack4xI8",
    "pack4xI8Clamp",
    "pack4xU8",
    "pack4xU8Clamp",
    "quantizeToF16",
    "reflect",
    "refract",
    "smoothstep",
    "transpose",
    "unpack2x16float",
    "unpack2x16snorm",
    "unpack2x16unorm",
    "unpack4x8snorm",
    "unpack4x8unorm",
    "unpack4xI8",
    "unpack4xU8",
];

fn invalid<T>(why: impl Into<String>) -> Found<T> {
    Err(Fault::Invalid(why.into()))
}

/// Arguments of one type, and scalars beside vectors where `scalars` lets them.
struct Same {
    kind: Kind,
    shape: Shape,
    parts: Vec<Vec<Number>>,
}

impl Same {
    fn new(args: &[Value], scalars: bool) -> Found<Same> {
        let mut kind = Kind::Int;
        let mut shape = Shape::Scalar;
        for (index, arg) in args.iter().enumerate() {
            let (next, of, _) = arg.numbers()?;
            kind = if index == 0 { next } else { kind.with(next)? };
            shape = if of.len() > shape.len() { of } else { shape };
        }
        let mut parts = Vec::with_capacity(args.len());
        for arg in args {
            let arg = arg.converted(kind)?;
            let (_, of, all) = arg.numbers()?;
            parts.push(match of {
                _ if of == shape => all.to_vec(),
                Shape::Scalar if scalars => vec![all[0]; shape.len()],
                _ => return Err(Fault::Unknown),
            });
        }
        Ok(Same { kind, shape, parts })
    }

    /// Integers as floats, where only floats will do.
    fn floats(args: &[Value], scalars: bool) -> Found<Same> {
        let same = Same::new(args, scalars)?;
        match same.kind {
            Kind::Int => {
                let parts = same
                    .parts
                    .into_iter()
                    .map(|all| all.into_iter().map(|part| Number::F(part.float())).collect());
                Ok(Same { kind: Kind::Float, shape: same.shape, parts: parts.collect() })
            }
            kind if kind.is_float() => Ok(same),
            _ => Err(Fault::Unknown),
        }
    }

    /// The arguments of one component.
    fn row(&self, index: usize) -> Vec<f64> {
        self.parts.iter().map(|parts| parts[index].float()).collect()
    }

    fn map(&self, f: impl Fn(&[f64]) -> Found<f64>) -> Found<Value> {
        let parts = (0..self.shape.len())
            .map(|index| rounded(self.kind, f(&self.row(index))?))
            .collect::<Found<_>>()?;
        Ok(Value::Numbers { kind: self.kind, shape: self.shape, parts })
    }

    fn value(&self) -> Value {
        Value::Numbers { kind: self.kind, shape: self.shape, parts: self.parts[0].clone() }
    }

    fn floats_of(&self, argument: usize) -> Vec<f64> {
        self.parts[argument].iter().map(|part| part.float()).collect()
    }

    fn made(&self, values: impl IntoIterator<Item = f64>) -> Found<Value> {
        let parts =
            values.into_iter().map(|value| rounded(self.kind, value)).collect::<Found<_>>()?;
        Ok(Value::Numbers { kind: self.kind, shape: self.shape, parts })
    }

    fn scalar(&self, value: f64) -> Found<Value> {
        Ok(Value::scalar(self.kind, rounded(self.kind, value)?))
    }
}

/// The value of a call.
pub fn call(name: &str, args: &[Value]) -> Found<Value> {
    let arity = |wanted: usize| if args.len() == wanted { Ok(()) } else { Err(Fault::Unknown) };
    if let Some(f) = of_one_float(name) {
        arity(1)?;
        return Same::floats(args, false)?.map(|x| f(x[0]));
    }
    match name {
        "abs" | "sign" | "min" | "max" | "clamp" => {
            arity(match name {
                "abs" | "sign" => 1,
                "clamp" => 3,
                _ => 2,
            })?;
            ordered(name, &Same::new(args, false)?)
        }
        "atan2" | "pow" | "step" => {
            arity(2)?;
            Same::floats(args, false)?.map(|x| {
                Ok(match name {
                    "atan2" => x[0].atan2(x[1]),
                    "pow" => x[0].powf(x[1]),
                    _ => f64::from(u8::from(x[0] <= x[1])),
                })
            })
        }
        "fma" => {
            arity(3)?;
            Same::floats(args, false)?.map(|x| Ok(x[0].mul_add(x[1], x[2])))
        }
        "mix" => {
            arity(3)?;
            let [_, second, weight] = args else { return Err(Fault::Unknown) };
            // Only the weight may be a scalar beside vectors.
            if second.numbers()?.1 != args[0].numbers()?.1
                || weight.numbers()?.1.len() > second.numbers()?.1.len()
            {
                return Err(Fault::Unknown);
            }
            Same::floats(args, true)?.map(|x| Ok(x[0] * (1.0 - x[2]) + x[1] * x[2]))
        }
        "smoothstep" => {
            arity(3)?;
            Same::floats(args, false)?.map(|x| {
                if x[0] == x[1] {
                    return invalid("the edges of `smoothstep` are equal");
                }
                let t = ((x[2] - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0);
                Ok(t * t * (3.0 - 2.0 * t))
            })
        }
        "ldexp" => {
            arity(2)?;
            ldexp(args)
        }
        "frexp" | "modf" => {
            arity(1)?;
            split(name, &args[0])
        }
        "dot" | "cross" | "length" | "distance" | "normalize" | "reflect" | "refract"
        | "faceForward" => geometric(name, args),
        "transpose" | "determinant" => {
            arity(1)?;
            matrix(name, &args[0])
        }
        "quantizeToF16" => {
            arity(1)?;
            let same = Same::floats(&[args[0].converted(Kind::F32)?], false)?;
            same.map(|x| match f16::from_f64(x[0]).to_f64() {
                value if value.is_finite() => Ok(value),
                _ => invalid(format!("`quantizeToF16` of {:?}, which no f16 holds", x[0])),
            })
        }
        "extractBits" | "insertBits" => bit_field(name, args),
        "countLeadingZeros" | "countTrailingZeros" | "countOneBits" | "firstLeadingBit"
        | "firstTrailingBit" | "reverseBits" => {
            arity(1)?;
            bits(name, &args[0].concrete()?)
        }
        "dot4I8Packed" | "dot4U8Packed" => {
            arity(2)?;
            let bytes = |arg: &Value| Ok(word(arg)?.to_le_bytes());
            let (a, b) = (bytes(&args[0])?, bytes(&args[1])?);
            let signed = name == "dot4I8Packed";
            let value = |byte: u8| if signed { i64::from(byte as i8) } else { i64::from(byte) };
            let sum = a.iter().zip(b).map(|(&a, b)| value(a) * value(b)).sum();
            let kind = if signed { Kind::I32 } else { Kind::U32 };
            Ok(Value::scalar(kind, Number::I(sum)))
        }
        "all" | "any" => {
            arity(1)?;
            let (kind, _, parts) = args[0].numbers()?;
            let mut truths = parts.iter().map(|part| part.int() != 0);
            match kind {
                Kind::Bool if name == "all" => Ok(Value::truth(truths.all(|truth| truth))),
                Kind::Bool => Ok(Value::truth(truths.any(|truth| truth))),
                _ => Err(Fault::Unknown),
            }
        }
        "select" => {
            arity(3)?;
            let same = Same::new(&args[..2], false)?;
            let (kind, shape, truths) = args[2].numbers()?;
            if kind != Kind::Bool || shape != Shape::Scalar && shape != same.shape {
                return Err(Fault::Unknown);
            }
            let truth = |index: usize| truths[index.min(truths.len() - 1)].int() as usize;
            let parts = (0..same.shape.len()).map(|at| same.parts[truth(at)][at]).collect();
            Ok(Value::Numbers { kind: same.kind, shape: same.shape, parts })
        }
        _ if name.starts_with("pack") => {
            arity(1)?;
            pack(name, &args[0])
        }
        _ if name.starts_with("unpack") => {
            arity(1)?;
            unpack(name, word(&args[0])?)
        }
        _ => Err(Fault::Unknown),
    }
}

/// Functions of a float. naga tells of arguments out of their range, except of those that are replaced.
fn of_one_float(name: &str) -> Option<fn(f64) -> Found<f64>> {
    Some(match name {
        "acos" => |x| Ok(x.acos()),
        "acosh" => |x| Ok(x.acosh()),
        "asin" => |x| Ok(x.asin()),
        "asinh" => |x| Ok(x.asinh()),
        "atan" => |x| Ok(x.atan()),
        // (ln(1 + x) - ln(1 - x)) / 2 loses nothing near 0, nor near 1.
        "atanh" => |x| match x.abs() < 1.0 {
            true => Ok(0.5 * (x.ln_1p() - (-x).ln_1p())),
            false => invalid(format!("`atanh` of {x:?}, which is not between -1 and 1")),
        },
        "ceil" => |x| Ok(x.ceil()),
        "cos" => |x| Ok(x.cos()),
        "cosh" => |x| Ok(x.cosh()),
        "degrees" => |x| Ok(x.to_degrees()),
        "exp" => |x| Ok(x.exp()),
        "exp2" => |x| Ok(x.exp2()),
        "floor" => |x| Ok(x.floor()),
        "fract" => |x| Ok(x - x.floor()),
        "inverseSqrt" => |x| Ok(1.0 / x.sqrt()),
        "log" => |x| Ok(x.ln()),
        "log2" => |x| Ok(x.log2()),
        "radians" => |x| Ok(x.to_radians()),
        "round" => |x| Ok(x.round_ties_even()),
        "saturate" => |x| Ok(x.clamp(0.0, 1.0)),
        "sin" => |x| Ok(x.sin()),
        "sinh" => |x| Ok(x.sinh()),
        "sqrt" => |x| Ok(x.sqrt()),
        "tan" => |x| Ok(x.tan()),
        "tanh" => |x| Ok(x.tanh()),
        "trunc" => |x| Ok(x.trunc()),
        _ => return None,
    })
}

fn ordered(name: &str, same: &Same) -> Found<Value> {
    if same.kind.is_float() {
        return same.map(|x| {
            Ok(match name {
                "abs" => x[0].abs(),
                "sign" if x[0] == 0.0 => 0.0,
                "sign" => x[0].signum(),
                "min" => x[0].min(x[1]),
                "max" => x[0].max(x[1]),
                _ => x[0].max(x[1]).min(x[2]),
            })
        });
    }
    if same.kind == Kind::Bool {
        return Err(Fault::Unknown);
    }
    let parts = (0..same.shape.len()).map(|at| {
        let x: Vec<i64> = same.parts.iter().map(|parts| parts[at].int()).collect();
        let value = match name {
            "abs" if same.kind == Kind::I32 => i64::from((x[0] as i32).wrapping_abs()),
            "abs" => x[0].checked_abs().ok_or(Fault::Unknown)?,
            "sign" => x[0].signum(),
            "min" => x[0].min(x[1]),
            "max" => x[0].max(x[1]),
            _ => x[0].max(x[1]).min(x[2]),
        };
        Ok(Number::I(value))
    });
    let parts = parts.collect::<Found<_>>()?;
    Ok(Value::Numbers { kind: same.kind, shape: same.shape, parts })
}

/// The exponents of a type: the least of a normal number and the largest, as `frexp` counts them, less one.
const fn bias(kind: Kind) -> i64 {
    match kind {
        Kind::F16 => 15,
        Kind::F32 => 127,
        _ => 1023,
    }
}

fn ldexp(args: &[Value]) -> Found<Value> {
    let (exponent_kind, exponent_shape, exponents) = args[1].numbers()?;
    // An exponent that is an i32 asks for a float that is no abstract one.
    let first = match exponent_kind {
        Kind::Int => args[0].clone(),
        Kind::I32 => Value::concrete(&Same::floats(&args[..1], false)?.value())?,
        _ => return Err(Fault::Unknown),
    };
    let same = Same::floats(&[first], false)?;
    if exponent_shape != same.shape {
        return Err(Fault::Unknown);
    }
    let most = bias(same.kind) + 1;
    let values = same.floats_of(0).into_iter().zip(exponents).map(|(x, by)| {
        let by = by.int();
        if by > most {
            return invalid(format!("the exponent of `ldexp` is {by}, the largest is {most}"));
        }
        // In two steps, each of which a double holds.
        let by = by.max(-4000) as i32;
        Ok(x * 2f64.powi(by / 2) * 2f64.powi(by - by / 2))
    });
    let values = values.collect::<Found<Vec<f64>>>()?;
    same.made(values)
}

/// Fraction of at least a half and exponent of two.
fn fraction(x: f64) -> (f64, i64) {
    if x == 0.0 {
        return (x, 0);
    }
    let (x, below) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(64), 64) } else { (x, 0) };
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i64 - 1022;
    let fraction = f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1022 << 52);
    (fraction, exponent - below)
}

fn split(name: &str, arg: &Value) -> Found<Value> {
    let same = Same::floats(std::slice::from_ref(arg), false)?;
    let parts = same.floats_of(0);
    let (fract, name_of_other, other) = if name == "modf" {
        let whole = same.made(parts.iter().map(|x| x.trunc()))?;
        (same.made(parts.iter().map(|x| x - x.trunc()))?, "whole", whole)
    } else {
        let kind = if same.kind == Kind::Float { Kind::Int } else { Kind::I32 };
        let exponents = parts.iter().map(|&x| Number::I(fraction(x).1)).collect();
        let exponents = Value::Numbers { kind, shape: same.shape, parts: exponents };
        (same.made(parts.iter().map(|&x| fraction(x).0))?, "exp", exponents)
    };
    let argument = same.made(parts.iter().copied())?.text();
    Ok(Value::Split {
        call: Rc::from(format!("{name}({argument})")),
        fract: Rc::new(fract),
        name: name_of_other,
        other: Rc::new(other),
    })
}

fn geometric(name: &str, args: &[Value]) -> Found<Value> {
    let count = match name {
        "length" | "normalize" => 1,
        "refract" | "faceForward" => 3,
        _ => 2,
    };
    if args.len() != count {
        return Err(Fault::Unknown);
    }
    if name == "dot" {
        let same = Same::new(args, false)?;
        if same.kind.is_integer() {
            let sum = same.parts[0].iter().zip(&same.parts[1]).try_fold(0i128, |sum, (a, b)| {
                sum.checked_add(i128::from(a.int()) * i128::from(b.int()))
            });
            return integer(same.kind, sum.ok_or(Fault::Unknown)?);
        }
    }
    let vectors = if name == "refract" { 2 } else { count };
    let mut same = Same::floats(&args[..vectors], false)?;
    let scalars = matches!(name, "length" | "distance");
    if !scalars && !matches!(same.shape, Shape::Vector(_)) {
        return Err(Fault::Unknown);
    }
    let ratio = match args.get(vectors) {
        Some(ratio) => {
            // The scalar is of the vectors' component type.
            let (kind, shape, parts) = ratio.numbers()?;
            same.kind = same.kind.with(kind)?;
            if shape != Shape::Scalar || !same.kind.is_float() {
                return Err(Fault::Unknown);
            }
            parts[0].float()
        }
        None => 0.0,
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let a = same.floats_of(0);
    let b = if vectors > 1 { same.floats_of(1) } else { Vec::new() };
    match name {
        "dot" => same.scalar(dot(&a, &b)),
        "length" => same.scalar(dot(&a, &a).sqrt()),
        "distance" => {
            let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            same.scalar(dot(&apart, &apart).sqrt())
        }
        "normalize" => {
            let length = dot(&a, &a).sqrt();
            same.made(a.iter().map(|a| a / length))
        }
        "cross" if a.len() == 3 => same.made((0..3).map(|at| {
            let (y, z) = ((at + 1) % 3, (at + 2) % 3);
            a[y] * b[z] - a[z] * b[y]
        })),
        "reflect" => {
            let twice = 2.0 * dot(&b, &a);
            same.made(a.iter().zip(&b).map(|(a, b)| a - twice * b))
        }
        "refract" => {
            let cosine = dot(&b, &a);
            let k = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
            let along = ratio * cosine + k.max(0.0).sqrt();
            same.made(a.iter().zip(&b).map(|(a, b)| match k < 0.0 {
                true => 0.0,
                false => ratio * a - along * b,
            }))
        }
        "faceForward" => {
            let sign = if dot(&b, &same.floats_of(2)) < 0.0 { 1.0 } else { -1.0 };
            same.made(a.iter().map(|a| sign * a))
        }
        _ => Err(Fault::Unknown),
    }
}

fn matrix(name: &str, arg: &Value) -> Found<Value> {
    let (kind, Shape::Matrix(columns, rows), parts) = arg.numbers()? else {
        return Err(Fault::Unknown);
    };
    if name == "transpose" {
        let rows_of = |row: usize| (0..columns).map(move |column| parts[column * rows + row]);
        let parts = (0..rows).flat_map(rows_of).collect();
        return Ok(Value::Numbers { kind, shape: Shape::Matrix(rows, columns), parts });
    }
    if columns != rows {
        return Err(Fault::Unknown);
    }
    let parts: Vec<f64> = parts.iter().map(|part| part.float()).collect();
    Ok(Value::scalar(kind, rounded(kind, determinant(&parts, columns))?))
}

/// By Laplace along the first row.
fn determinant(parts: &[f64], size: usize) -> f64 {
    if size == 1 {
        return parts[0];
    }
    let without = |column: usize| -> Vec<f64> {
        let columns = (0..size).filter(|&other| other != column);
        columns
            .flat_map(|other| parts[other * size + 1..(other + 1) * size].iter().copied())
            .collect()
    };
    let signed = |column: usize| if column.is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..size).map(|at| signed(at) * parts[at * size] * determinant(&without(at), size - 1)).sum()
}

/// An integer result: those of 32 bits wrap, abstract ones must fit.
pub fn integer(kind: Kind, value: i128) -> Found<Value> {
    let value = match kind {
        Kind::I32 => i64::from(value as i32),
        Kind::U32 => i64::from(value as u32),
        _ => i64::try_from(value).map_err(|_| Fault::Unknown)?,
    };
    Ok(Value::scalar(kind, Number::I(value)))
}

fn each_word(value: &Value, f: impl Fn(u32, bool) -> u32) -> Found<Value> {
    let (kind, shape, parts) = value.numbers()?;
    let parts = parts.iter().map(|part| {
        let made = f(part.int() as u32, kind == Kind::I32);
        convert(Number::I(i64::from(made)), Kind::U32, kind)
    });
    match kind {
        Kind::I32 | Kind::U32 => {
            Ok(Value::Numbers { kind, shape, parts: parts.collect::<Found<_>>()? })
        }
        _ => Err(Fault::Unknown),
    }
}

fn bits(name: &str, value: &Value) -> Found<Value> {
    each_word(value, |word, signed| match name {
        "countLeadingZeros" => word.leading_zeros(),
        "countTrailingZeros" => word.trailing_zeros(),
        "countOneBits" => word.count_ones(),
        "reverseBits" => word.reverse_bits(),
        "firstTrailingBit" if word == 0 => u32::MAX,
        "firstTrailingBit" => word.trailing_zeros(),
        // The highest bit that is not the sign.
        _ => {
            let word = if signed && word >> 31 == 1 { !word } else { word };
            31u32.wrapping_sub(word.leading_zeros())
        }
    })
}

fn bit_field(name: &str, args: &[Value]) -> Found<Value> {
    let fields = if name == "insertBits" { 2 } else { 1 };
    if args.len() != fields + 2 {
        return Err(Fault::Unknown);
    }
    let (offset, count) = (word(&args[fields])?, word(&args[fields + 1])?);
    if u64::from(offset) + u64::from(count) > 32 {
        return invalid(format!(
            "`{name}` takes {count} bits from bit {offset} on, which are more than 32"
        ));
    }
    let mask = if count == 32 { u32::MAX } else { (1 << count) - 1 };
    let value = args[0].concrete()?;
    if fields == 1 {
        return each_word(&value, |word, signed| {
            let taken = word.checked_shr(offset).unwrap_or(0) & mask;
            let negative = signed && count > 0 && taken >> (count - 1) & 1 == 1;
            if negative { taken | !mask } else { taken }
        });
    }
    let same = Same::new(&args[..2], false)?;
    let (old, new) = (&same.parts[0], &same.parts[1]);
    let kind = if same.kind == Kind::Int { Kind::I32 } else { same.kind };
    let merged = old.iter().zip(new).map(|(old, new)| {
        let (old, new) = (old.int() as u32, new.int() as u32);
        let there = mask.checked_shl(offset).unwrap_or(0);
        Number::I(i64::from(old & !there | new.checked_shl(offset).unwrap_or(0) & there))
    });
    let words = Value::Numbers { kind: Kind::U32, shape: same.shape, parts: merged.collect() };
    match kind {
        Kind::I32 | Kind::U32 => reinterpreted(&words, kind, same.shape),
        _ => Err(Fault::Unknown),
    }
}

/// A scalar that is a u32, or becomes one by itself.
fn word(value: &Value) -> Found<u32> {
    match value.converted(Kind::U32)?.numbers()? {
        (_, Shape::Scalar, &[Number::I(value)]) => Ok(value as u32),
        _ => Err(Fault::Unknown),
    }
}

fn pack(name: &str, arg: &Value) -> Found<Value> {
    let lanes = if name.starts_with("pack2") { 2 } else { 4 };
    let integers = match name {
        "pack4xI8" | "pack4xI8Clamp" => Some(Kind::I32),
        "pack4xU8" | "pack4xU8Clamp" => Some(Kind::U32),
        _ => None,
    };
    let arg = arg.converted(integers.unwrap_or(Kind::F32))?;
    let (_, shape, parts) = arg.numbers()?;
    if shape != Shape::Vector(lanes) {
        return Err(Fault::Unknown);
    }
    let scaled =
        |x: f64, least: f64, scale: f64| (0.5 + scale * x.clamp(least, 1.0)).floor() as i64 as u32;
    let width = 32 / lanes as u32;
    let mut packed = 0u32;
    for (lane, part) in parts.iter().enumerate() {
        let x = part.float();
        let bits = match name {
            "pack4x8snorm" => scaled(x, -1.0, 127.0),
            "pack4x8unorm" => scaled(x, 0.0, 255.0),
            "pack2x16snorm" => scaled(x, -1.0, 32767.0),
            "pack2x16unorm" => scaled(x, 0.0, 65535.0),
            "pack2x16float" => match f16::from_f64(x) {
                half if half.is_finite() => u32::from(half.to_bits()),
                _ => return invalid(format!("`pack2x16float` of {x:?}, which no f16 holds")),
            },
            "pack4xI8" | "pack4xU8" => part.int() as u32,
            "pack4xI8Clamp" => part.int().clamp(-128, 127) as u32,
            "pack4xU8Clamp" => part.int().clamp(0, 255) as u32,
            _ => return Err(Fault::Unknown),
        };
        packed |= (bits & (u32::MAX >> (32 - width))) << (width * lane as u32);
    }
    Ok(Value::scalar(Kind::U32, Number::I(i64::from(packed))))
}

fn unpack(name: &str, word: u32) -> Found<Value> {
    let halves = [word as u16, (word >> 16) as u16];
    let bytes = word.to_le_bytes();
    let floats = |parts: Vec<f64>| {
        let parts =
            parts.into_iter().map(|value| rounded(Kind::F32, value)).collect::<Found<_>>()?;
        Ok(Value::vector(Kind::F32, parts))
    };
    let integers =
        |kind, parts: Vec<i64>| Ok(Value::vector(kind, parts.into_iter().map(Number::I).collect()));
    let signed = |x: f64, scale: f64| (x / scale).max(-1.0);
    match name {
        "unpack4x8snorm" => floats(bytes.map(|x| signed(f64::from(x as i8), 127.0)).to_vec()),
        "unpack4x8unorm" => floats(bytes.map(|x| f64::from(x) / 255.0).to_vec()),
        "unpack2x16snorm" => floats(halves.map(|x| signed(f64::from(x as i16), 32767.0)).to_vec()),
        "unpack2x16unorm" => floats(halves.map(|x| f64::from(x) / 65535.0).to_vec()),
        "unpack2x16float" => floats(halves.map(|x| f16::from_bits(x).to_f64()).to_vec()),
        "unpack4xI8" => integers(Kind::I32, bytes.map(|x| i64::from(x as i8)).to_vec()),
        "unpack4xU8" => integers(Kind::U32, bytes.map(i64::from).to_vec()),
        _ => Err(Fault::Unknown),
    }
}

/// `bitcast`: the same bits in another type.
pub fn reinterpreted(value: &Value, kind: Kind, shape: Shape) -> Found<Value> {
    let value = value.concrete()?;
    let (from, _, parts) = value.numbers()?;
    let mut bits: Vec<u16> = Vec::new();
    for part in parts {
        let word = match from {
            Kind::I32 | Kind::U32 => part.int() as u32,
            Kind::F32 => (part.float() as f32).to_bits(),
            Kind::F16 => {
                bits.push(f16::from_f64(part.float()).to_bits());
                continue;
            }
            _ => return Err(Fault::Unknown),
        };
        bits.extend([word as u16, (word >> 16) as u16]);
    }
    let word = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair[1]) << 16;
    let width = if kind == Kind::F16 { 1 } else { 2 };
    if bits.len() != width * shape.len() {
        return Err(Fault::Unknown);
    }
    let parts = bits.chunks(width).map(|bits| {
        Ok(match kind {
            Kind::I32 => Number::I(i64::from(word(bits) as i32)),
            Kind::U32 => Number::I(i64::from(word(bits))),
            Kind::F32 => rounded(kind, f64::from(f32::from_bits(word(bits))))?,
            Kind::F16 => rounded(kind, f16::from_bits(bits[0]).to_f64())?,
            _ => return Err(Fault::Unknown),
        })
    });
    Ok(Value::Numbers { kind, shape, parts: parts.collect::<Found<_>>()? })
}
