//! Constructors, members and operators of WGSL on constants.

use super::builtins;
use super::value::{Fault, Found, Kind, Number, Shape, Value, convert, rounded};

/// A type that values are made of.
#[derive(Clone)]
pub enum Type {
    /// Without a kind it is that of the arguments.
    Numbers(Option<Kind>, Shape),
    Array(Option<Box<Type>>),
}

/// A value as the declared type has it.
pub fn as_type(value: &Value, ty: &Type) -> Found<Value> {
    match (ty, value) {
        (Type::Numbers(Some(kind), shape), Value::Numbers { shape: of, .. }) if of == shape => {
            value.converted(*kind)
        }
        (Type::Array(Some(element)), Value::Array(all)) => {
            Ok(Value::Array(all.iter().map(|value| as_type(value, element)).collect::<Found<_>>()?))
        }
        _ => Err(Fault::Unknown),
    }
}

/// The value of a constructor.
pub fn construct(ty: &Type, args: Vec<Value>) -> Found<Value> {
    let (kind, shape) = match ty {
        Type::Array(_) if args.is_empty() => return Err(Fault::Unknown),
        Type::Array(Some(element)) => {
            let all = args.iter().map(|arg| as_type(arg, element));
            return Ok(Value::Array(all.collect::<Found<_>>()?));
        }
        Type::Array(None) => {
            let (mut kind, shape, _) = args[0].numbers()?;
            for arg in &args {
                kind = kind.with(arg.numbers()?.0)?;
            }
            let all = args.iter().map(|arg| as_type(arg, &Type::Numbers(Some(kind), shape)));
            return Ok(Value::Array(all.collect::<Found<_>>()?));
        }
        Type::Numbers(kind, shape) => (*kind, *shape),
    };
    if args.is_empty() {
        let kind = kind.unwrap_or(Kind::Int);
        let zero = if kind.is_float() { Number::F(0.0) } else { Number::I(0) };
        return Ok(Value::Numbers { kind, shape, parts: vec![zero; shape.len()] });
    }
    // Without a type the arguments' common one; one value alone may be of any type.
    let mut common = None;
    let mut count = 0;
    for arg in &args {
        let (of, shape, _) = arg.numbers()?;
        common = Some(common.map_or(Ok(of), |common: Kind| common.with(of))?);
        count += shape.len();
    }
    let common = common.ok_or(Fault::Unknown)?;
    let kind = match (kind, shape) {
        (Some(kind), _) => kind,
        // Matrices are of floats.
        (None, Shape::Matrix(..)) if common == Kind::Int => Kind::Float,
        (None, _) => common,
    };
    let mut parts = Vec::with_capacity(shape.len());
    for arg in &args {
        let (from, _, all) = arg.numbers()?;
        if args.len() > 1 {
            from.with(kind)?;
        }
        for &part in all {
            parts.push(convert(part, from, kind)?);
        }
    }
    let same = args.len() > 1 || args[0].numbers()?.1 == shape;
    if args.len() == 1 && count == 1 && matches!(shape, Shape::Vector(_)) {
        parts = vec![parts[0]; shape.len()];
    } else if count != shape.len() || !same {
        return Err(Fault::Unknown);
    }
    Ok(Value::Numbers { kind, shape, parts })
}

/// An element of an array, a column of a matrix, or a component of a vector.
pub fn element(value: &Value, index: i64) -> Found<Value> {
    let index = usize::try_from(index).map_err(|_| Fault::Unknown)?;
    if let Value::Array(all) = value {
        return all.get(index).cloned().ok_or(Fault::Unknown);
    }
    let (kind, shape, parts) = value.numbers()?;
    match shape {
        Shape::Vector(length) if index < length => Ok(Value::scalar(kind, parts[index])),
        Shape::Matrix(columns, rows) if index < columns => {
            Ok(Value::vector(kind, parts[index * rows..(index + 1) * rows].to_vec()))
        }
        _ => Err(Fault::Unknown),
    }
}

/// A member or a swizzle.
pub fn member(value: &Value, name: &str) -> Found<Value> {
    if let Value::Split { fract, name: second, other, .. } = value {
        return match name {
            "fract" => Ok((**fract).clone()),
            name if name == *second => Ok((**other).clone()),
            _ => Err(Fault::Unknown),
        };
    }
    let (kind, Shape::Vector(_), parts) = value.numbers()? else {
        return Err(Fault::Unknown);
    };
    let set = if name.starts_with(['r', 'g', 'b', 'a']) { "rgba" } else { "xyzw" };
    let chosen: Option<Vec<Number>> =
        name.chars().map(|c| parts.get(set.find(c)?).copied()).collect();
    match chosen {
        Some(parts) if parts.len() == 1 => Ok(Value::scalar(kind, parts[0])),
        Some(parts) if (2..=4).contains(&parts.len()) => Ok(Value::vector(kind, parts)),
        _ => Err(Fault::Unknown),
    }
}

/// A binary operator.
pub fn apply(operator: &str, left: &Value, right: &Value) -> Found<Value> {
    let ((left_kind, left_shape, _), (right_kind, right_shape, _)) =
        (left.numbers()?, right.numbers()?);
    if matches!(operator, "<<" | ">>") {
        return shift(operator, left, right);
    }
    let kind = left_kind.with(right_kind)?;
    let (left, right) = (left.converted(kind)?, right.converted(kind)?);
    let (a, b) = (left.numbers()?.2, right.numbers()?.2);
    if operator == "*" && kind.is_float() {
        match (left_shape, right_shape) {
            (Shape::Matrix(inner, rows), Shape::Matrix(columns, of)) if of == inner => {
                return product(kind, a, b, (rows, inner, columns), Shape::Matrix(columns, rows));
            }
            (Shape::Matrix(inner, rows), Shape::Vector(of)) if of == inner => {
                return product(kind, a, b, (rows, inner, 1), Shape::Vector(rows));
            }
            (Shape::Vector(of), Shape::Matrix(columns, inner)) if of == inner => {
                return product(kind, a, b, (1, inner, columns), Shape::Vector(columns));
            }
            _ => {}
        }
    }
    let matrix = |shape| matches!(shape, Shape::Matrix(..));
    let shape = match (left_shape, right_shape) {
        (a, b) if a == b && (!matrix(a) || matches!(operator, "+" | "-")) => a,
        (Shape::Scalar, shape) | (shape, Shape::Scalar)
            if matches!(operator, "+" | "-" | "*" | "/" | "%")
                && !(matrix(shape) && operator != "*") =>
        {
            shape
        }
        _ => return Err(Fault::Unknown),
    };
    let comparison = matches!(operator, "<" | ">" | "<=" | ">=" | "==" | "!=");
    let parts = (0..shape.len()).map(|at| {
        let (a, b) = (a[at.min(a.len() - 1)], b[at.min(b.len() - 1)]);
        if comparison {
            return compare(operator, a, b);
        }
        match (a, b) {
            (Number::F(a), Number::F(b)) => float(operator, kind, a, b),
            _ => whole(operator, kind, a.int(), b.int()),
        }
    });
    let parts = parts.collect::<Found<_>>()?;
    Ok(Value::Numbers { kind: if comparison { Kind::Bool } else { kind }, shape, parts })
}

/// Columns of a matrix of `rows` times those of one of `inner` rows; each step rounds.
fn product(
    kind: Kind,
    a: &[Number],
    b: &[Number],
    (rows, inner, columns): (usize, usize, usize),
    shape: Shape,
) -> Found<Value> {
    let mut parts = Vec::with_capacity(shape.len());
    for column in 0..columns {
        for row in 0..rows {
            let mut sum = Number::F(0.0);
            for at in 0..inner {
                let term = a[at * rows + row].float() * b[column * inner + at].float();
                sum = rounded(kind, sum.float() + rounded(kind, term)?.float())?;
            }
            parts.push(sum);
        }
    }
    Ok(Value::Numbers { kind, shape, parts })
}

fn compare(operator: &str, a: Number, b: Number) -> Found<Number> {
    let order = match (a, b) {
        (Number::F(a), Number::F(b)) => a.partial_cmp(&b).ok_or(Fault::Unknown)?,
        _ => a.int().cmp(&b.int()),
    };
    Ok(Number::I(i64::from(match operator {
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        ">=" => order.is_ge(),
        "==" => order.is_eq(),
        _ => order.is_ne(),
    })))
}

fn float(operator: &str, kind: Kind, a: f64, b: f64) -> Found<Number> {
    rounded(
        kind,
        match operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            "%" => a % b,
            _ => return Err(Fault::Unknown),
        },
    )
}

fn whole(operator: &str, kind: Kind, a: i64, b: i64) -> Found<Number> {
    if kind == Kind::Bool {
        return Ok(Number::I(match operator {
            "&&" | "&" => a & b,
            "||" | "|" => a | b,
            _ => return Err(Fault::Unknown),
        }));
    }
    let (a, b) = (i128::from(a), i128::from(b));
    let value = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" if b != 0 => a / b,
        "%" if b != 0 => a % b,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        _ => return Err(Fault::Unknown),
    };
    // A quotient that does not fit is an error, which naga tells of.
    if matches!(operator, "/" | "%") && value > i128::from(i32::MAX) && kind == Kind::I32 {
        return Err(Fault::Unknown);
    }
    Ok(builtins::integer(kind, value)?.numbers()?.2[0])
}

fn shift(operator: &str, left: &Value, right: &Value) -> Found<Value> {
    let (kind, shape, parts) = left.numbers()?;
    let right = right.converted(Kind::U32)?;
    let (_, right_shape, by) = right.numbers()?;
    if !kind.is_integer() || shape != right_shape {
        return Err(Fault::Unknown);
    }
    let parts = parts.iter().zip(by).map(|(part, by)| {
        let (value, by) = (i128::from(part.int()), by.int() as u32);
        if kind != Kind::Int && by >= 32 {
            return Err(Fault::Unknown);
        }
        // An abstract integer has its sign in every bit further up.
        let value = match operator {
            ">>" => value >> by.min(64),
            _ if value == 0 => 0,
            _ => value.checked_shl(by).filter(|_| by < 64).ok_or(Fault::Unknown)?,
        };
        let fits = match kind {
            Kind::I32 => i32::try_from(value).is_ok(),
            Kind::U32 => u32::try_from(value).is_ok(),
            _ => true,
        };
        // Bits that are lost are an error, which naga tells of.
        if !fits {
            return Err(Fault::Unknown);
        }
        Ok(builtins::integer(kind, value)?.numbers()?.2[0])
    });
    Ok(Value::Numbers { kind, shape, parts: parts.collect::<Found<_>>()? })
}
