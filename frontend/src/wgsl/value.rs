//! Values of WGSL's constant expressions, and how they are written.

use half::f16;
use std::fmt::Write;
use std::rc::Rc;

/// Why an expression has no value here.
#[derive(Debug)]
pub enum Fault {
    /// It is no constant, it is wrong in a way that naga tells of, or it is beyond this evaluator.
    Unknown,
    /// The language refuses it, and naga would not say so.
    Invalid(String),
}

/// A value, or why there is none.
pub type Found<T> = Result<T, Fault>;

/// The types of components. Abstract ones are `Int` and `Float`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    I32,
    U32,
    Float,
    F32,
    F16,
}

impl Kind {
    /// The type that a name stands for.
    pub fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "bool" => Kind::Bool,
            "i32" => Kind::I32,
            "u32" => Kind::U32,
            "f32" => Kind::F32,
            "f16" => Kind::F16,
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::I32 => "i32",
            Kind::U32 => "u32",
            Kind::F32 => "f32",
            Kind::F16 => "f16",
            Kind::Int | Kind::Float => "",
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Kind::Float | Kind::F32 | Kind::F16)
    }

    pub const fn is_integer(self) -> bool {
        matches!(self, Kind::Int | Kind::I32 | Kind::U32)
    }

    /// The type that both convert to by themselves.
    pub fn with(self, other: Kind) -> Found<Kind> {
        match (self, other) {
            _ if self == other => Ok(self),
            (Kind::Int, kind) | (kind, Kind::Int) if kind != Kind::Bool => Ok(kind),
            (Kind::Float, kind) | (kind, Kind::Float) if kind.is_float() => Ok(kind),
            _ => Err(Fault::Unknown),
        }
    }
}

/// One component: floats and integers, booleans as 0 and 1.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Number {
    I(i64),
    F(f64),
}

impl Number {
    pub const fn float(self) -> f64 {
        match self {
            Number::I(value) => value as f64,
            Number::F(value) => value,
        }
    }

    pub const fn int(self) -> i64 {
        match self {
            Number::I(value) => value,
            Number::F(value) => value as i64,
        }
    }
}

/// A result of floats in its type: it must be finite.
pub fn rounded(kind: Kind, value: f64) -> Found<Number> {
    let value = match kind {
        Kind::F32 => f64::from(value as f32),
        Kind::F16 => f16::from_f64(value).to_f64(),
        _ => value,
    };
    match value.is_finite() {
        true => Ok(Number::F(value)),
        false => Err(Fault::Invalid("a constant expression is no finite number".to_owned())),
    }
}

/// How many components there are. Matrices are columns one after the other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    Scalar,
    Vector(usize),
    Matrix(usize, usize),
}

impl Shape {
    pub const fn len(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Vector(length) => length,
            Shape::Matrix(columns, rows) => columns * rows,
        }
    }
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Numbers {
        kind: Kind,
        shape: Shape,
        parts: Vec<Number>,
    },
    Array(Rc<[Value]>),
    /// What `frexp` and `modf` give. The type has no name: the call that makes it stands for it.
    Split {
        call: Rc<str>,
        fract: Rc<Value>,
        name: &'static str,
        other: Rc<Value>,
    },
}

impl Value {
    pub fn scalar(kind: Kind, value: Number) -> Value {
        Value::Numbers { kind, shape: Shape::Scalar, parts: vec![value] }
    }

    pub fn vector(kind: Kind, parts: Vec<Number>) -> Value {
        Value::Numbers { kind, shape: Shape::Vector(parts.len()), parts }
    }

    pub fn truth(value: bool) -> Value {
        Value::scalar(Kind::Bool, Number::I(i64::from(value)))
    }

    pub fn numbers(&self) -> Found<(Kind, Shape, &[Number])> {
        match self {
            Value::Numbers { kind, shape, parts } => Ok((*kind, *shape, parts)),
            _ => Err(Fault::Unknown),
        }
    }

    /// An integer of any type.
    pub fn integer(&self) -> Found<i64> {
        match self.numbers()? {
            (kind, Shape::Scalar, &[Number::I(value)]) if kind.is_integer() => Ok(value),
            _ => Err(Fault::Unknown),
        }
    }

    /// The same in another type, as where the language converts by itself.
    pub fn converted(&self, to: Kind) -> Found<Value> {
        let (from, shape, parts) = self.numbers()?;
        if from.with(to)? != to {
            return Err(Fault::Unknown);
        }
        let parts = parts.iter().map(|&part| convert(part, from, to)).collect::<Found<_>>()?;
        Ok(Value::Numbers { kind: to, shape, parts })
    }

    /// Without abstract types.
    pub fn concrete(&self) -> Found<Value> {
        match self {
            Value::Numbers { kind: Kind::Int, .. } => self.converted(Kind::I32),
            Value::Numbers { kind: Kind::Float, .. } => self.converted(Kind::F32),
            Value::Array(all) => {
                Ok(Value::Array(all.iter().map(Value::concrete).collect::<Found<_>>()?))
            }
            _ => Ok(self.clone()),
        }
    }

    /// The text of an expression that is this value.
    pub fn text(&self) -> String {
        match self {
            Value::Numbers { kind, shape, parts } => text_of(*kind, *shape, parts),
            Value::Array(all) => {
                let all: Vec<String> = all.iter().map(Value::text).collect();
                format!("array({})", all.join(", "))
            }
            Value::Split { call, .. } => call.to_string(),
        }
    }
}

/// A component in another type, as a constructor converts it.
pub fn convert(part: Number, from: Kind, to: Kind) -> Found<Number> {
    let beyond = || Fault::Unknown;
    Ok(match to {
        _ if from == to => part,
        Kind::Bool => Number::I(i64::from(part.float() != 0.0)),
        Kind::Int | Kind::I32 | Kind::U32 => {
            let (least, most) = match to {
                Kind::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
                Kind::U32 => (0, i64::from(u32::MAX)),
                _ => (i64::MIN, i64::MAX),
            };
            match part {
                // The bits of the other 32-bit type.
                Number::I(value) if from != Kind::Int && to == Kind::I32 => {
                    Number::I(i64::from(value as i32))
                }
                Number::I(value) if from != Kind::Int && to == Kind::U32 => {
                    Number::I(i64::from(value as u32))
                }
                Number::I(value) if (least..=most).contains(&value) => part,
                Number::I(_) => return Err(beyond()),
                Number::F(value) => Number::I((value.trunc() as i64).clamp(least, most)),
            }
        }
        Kind::Float | Kind::F32 | Kind::F16 => {
            let value = match (part, to) {
                // One rounding, not two.
                (Number::I(value), Kind::F32) => f64::from(value as f32),
                _ => part.float(),
            };
            rounded(to, value).map_err(|_| beyond())?
        }
    })
}

fn text_of(kind: Kind, shape: Shape, parts: &[Number]) -> String {
    let mut text = String::new();
    let list = |text: &mut String, parts: &[Number]| {
        for (index, &part) in parts.iter().enumerate() {
            text.push_str(if index > 0 { ", " } else { "" });
            component(text, kind, part);
        }
    };
    let name = |text: &mut String, name: &str| {
        text.push_str(name);
        if !kind.name().is_empty() {
            let _ = write!(text, "<{}>", kind.name());
        }
        text.push('(');
    };
    match shape {
        Shape::Scalar => list(&mut text, parts),
        Shape::Vector(length) => {
            name(&mut text, &format!("vec{length}"));
            list(&mut text, parts);
            text.push(')');
        }
        Shape::Matrix(columns, rows) => {
            name(&mut text, &format!("mat{columns}x{rows}"));
            for (index, column) in parts.chunks(rows).enumerate() {
                text.push_str(if index > 0 { ", " } else { "" });
                name(&mut text, &format!("vec{rows}"));
                list(&mut text, column);
                text.push(')');
            }
            text.push(')');
        }
    }
    text
}

fn component(text: &mut String, kind: Kind, part: Number) {
    let _ = match (kind, part) {
        (Kind::Bool, part) => write!(text, "{}", part.int() != 0),
        (Kind::U32, part) => write!(text, "{}u", part.int()),
        (Kind::I32, Number::I(value)) if value == i64::from(i32::MIN) => {
            write!(text, "i32({value})")
        }
        (Kind::I32, Number::I(value)) if value < 0 => write!(text, "({value}i)"),
        (Kind::I32, part) => write!(text, "{}i", part.int()),
        (Kind::Int, Number::I(i64::MIN)) => write!(text, "({} - 1)", i64::MIN + 1),
        (Kind::Int, part) if part.int() < 0 => write!(text, "({})", part.int()),
        (Kind::Int, part) => write!(text, "{}", part.int()),
        (_, part) => {
            let value = part.float();
            // The shortest digits that read back as the value: those of its own type are enough.
            let (digits, suffix) = match kind {
                Kind::F32 => (format!("{:?}", value as f32), "f"),
                Kind::F16 => (format!("{:?}", value as f32), "h"),
                _ => (format!("{value:?}"), ""),
            };
            match value.is_sign_negative() {
                true => write!(text, "({digits}{suffix})"),
                false => write!(text, "{digits}{suffix}"),
            }
        }
    };
}

/// The value of a literal.
pub fn literal(word: &str) -> Option<Value> {
    let (digits, kind) =
        if let Some(hexadecimal) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            if hexadecimal.contains(['.', 'p', 'P']) {
                return hexadecimal_float(hexadecimal);
            }
            let (digits, kind) = suffixed(hexadecimal, &[('u', Kind::U32), ('i', Kind::I32)]);
            let value = i64::from_str_radix(digits, 16).ok()?;
            return in_range(value, kind.unwrap_or(Kind::Int));
        } else {
            let all = [('u', Kind::U32), ('i', Kind::I32), ('f', Kind::F32), ('h', Kind::F16)];
            suffixed(word, &all)
        };
    let float = digits.contains(['.', 'e', 'E']) || kind.is_some_and(Kind::is_float);
    if !float {
        return in_range(digits.parse().ok()?, kind.unwrap_or(Kind::Int));
    }
    let kind = kind.unwrap_or(Kind::Float);
    let value = match kind {
        Kind::F32 => f64::from(digits.parse::<f32>().ok()?),
        _ => digits.parse().ok()?,
    };
    Some(Value::scalar(kind, rounded(kind, value).ok()?))
}

fn suffixed<'a>(word: &'a str, suffixes: &[(char, Kind)]) -> (&'a str, Option<Kind>) {
    let found =
        suffixes.iter().find_map(|&(suffix, kind)| Some((word.strip_suffix(suffix)?, kind)));
    found.map_or((word, None), |(digits, kind)| (digits, Some(kind)))
}

fn in_range(value: i64, kind: Kind) -> Option<Value> {
    let part = convert(Number::I(value), Kind::Int, kind).ok()?;
    Some(Value::scalar(kind, part))
}

fn hexadecimal_float(text: &str) -> Option<Value> {
    let (text, kind) = match text.contains(['p', 'P']) {
        true => suffixed(text, &[('f', Kind::F32), ('h', Kind::F16)]),
        false => (text, None),
    };
    let kind = kind.unwrap_or(Kind::Float);
    let (digits, exponent) = text.split_once(['p', 'P']).unwrap_or((text, "0"));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mantissa = u64::from_str_radix(&format!("{whole}{part}"), 16).ok()?;
    // More digits than a float has: left to naga.
    if mantissa >= 1 << 53 {
        return None;
    }
    let exponent: i32 = exponent.parse().ok()?;
    let value = mantissa as f64 * 2f64.powi(exponent.checked_sub(4 * part.len() as i32)?);
    Some(Value::scalar(kind, rounded(kind, value).ok()?))
}
